/* node_graph.h - which node may see which object, because of what runs there.
 *
 *     secret, config map, claim, account, resource claim ─► pod ─► node
 *     secret ─► volume ─► claim ─► pod ─► node
 *     attachment, slice, certificate request ─► node
 *
 * A pod is bound to one node, so what it refers to leads to that node directly: for each thing and
 * node there is one link, which counts the pods that want it. A question about anything but secrets
 * of volumes is a lookup or two; a secret of volumes is looked for through all volumes that name
 * it. A link takes less than 200 bytes, with its thing and its place in the list that each object
 * keeps of its links (100000 pods with six references each: 53 MB).
 *
 * Not for several threads: the owner has a lock over changes and questions. Nodes are few among
 * those who ask, so this lock is not in the way of others. */
#pragma once

#include "auth/node_refs.h"

struct node_graph;

struct node_graph *node_graph_new(void);
struct node_graph *node_graph_free(struct node_graph *g);

/* An object as it is now; NULL: it is gone. Pods, volumes, attachments, slices and certificate
 * requests; `thing` says which. `ns` is empty for what has none. */
void node_graph_set(struct node_graph *g, enum node_thing thing, struct str ns, struct str name,
                    const struct value *obj);

/* Whether a way leads from the object to the node. */
bool node_graph_leads(const struct node_graph *g, enum node_thing thing, struct str ns,
                      struct str name, struct str node);

/* How much it holds, for tests: links between things and nodes, and things of all kinds. */
struct node_graph_size {
    size_t links, things;
};
struct node_graph_size node_graph_size(const struct node_graph *g);
