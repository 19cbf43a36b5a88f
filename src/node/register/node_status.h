/* node_status.h - what the agent writes into its Node: labels, taints, status. Rules only; trees
 * are Nodes of the API.
 *
 * The status is made from the Node as it is: what others have written there stays, and times of
 * transitions stay while the state does. */
#pragma once

#include "node/pod/node_facts.h"
#include "node/register/machine.h"
#include "node/register/register.h"

/* What is known at one moment. */
struct node_state {
    const struct register_options *opt;
    const struct node_facts *facts;
    const struct machine *machine;
    int64_t now_ns; /* wall */
    unsigned pressures;
    /* Why it is not ready, in upstream's words and order; none: it is ready. */
    const struct str *faults;
    size_t n_faults;
    const struct value *runtime_version; /* CRI's VersionResponse, StatusResponse; NULL: unknown */
    const struct value *runtime_status;
    const struct value *images;         /* of CRI's ListImagesResponse; NULL: unknown */
    const struct value *volumes_in_use; /* an array; NULL: unknown */
};

/* An event of the Node that a change is worth. */
enum { NODE_EVENTS_MAX = 8 };
struct node_events {
    struct {
        const char *reason;
        struct str message;
        bool is_warning;
    } list[NODE_EVENTS_MAX];
    size_t n;
};

/* The Node to be made. */
struct value node_status_first(struct arena *a, const struct node_state *s,
                               struct node_events *events);
/* Labels and annotations that an existing Node of this name must have. True: something changed. */
bool node_status_adopt(struct arena *a, const struct node_state *s, struct value *node);
/* Brings the status of the Node up to date. */
void node_status_update(struct arena *a, const struct node_state *s, struct value *node,
                        struct node_events *events);
/* Whether the two differ in more than the times of heartbeats. */
bool node_status_differs(struct arena *a, const struct value *old_node,
                         const struct value *new_node);
/* The strategic patch that makes one of the other; addresses are replaced as a whole, because two
 * of one type are nothing that the strategy knows. */
int node_status_patch(struct arena *a, const struct value *old_node, const struct value *new_node,
                      struct str *ret, struct err *err);

/* "a", or "[a, b]": how upstream prints several errors. */
struct str node_status_faults(struct arena *a, const struct str *faults, size_t n);
/* "key=value:Effect" or "key:Effect". ERR_INVALID: it is no taint. */
int node_status_taint(struct arena *a, struct str text, struct value *ret, struct err *err);
