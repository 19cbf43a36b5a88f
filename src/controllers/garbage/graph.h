/* graph.h - who owns whom: the objects of all resources, as far as they were seen, by uid.
 *
 * An owner that was only heard of, from a reference, is virtual until it is seen or known to be
 * absent. References can be wrong: they may name another kind, name or namespace than the object of
 * that uid has. The graph says which objects have to be looked at again; whoever looks asks the
 * server before anything is deleted, so a graph that is a moment old does no harm.
 *
 * Rules only: no I/O. One thread at a time; the collector has a lock around it. */
#pragma once

#include <sampan/base.h>

struct graph;

/* Which object. The namespace is empty if it has none; of a virtual one it is a guess. */
struct graph_id {
    struct spn_text api_version, kind, ns, name, uid;
};

struct graph_owner {
    struct spn_text api_version, kind, name, uid;
    bool blocks; /* it waits for us if it is deleted in the foreground */
};

/* What was seen of an object. */
struct graph_seen {
    struct graph_id id;
    const struct graph_owner *owners;
    size_t n_owners;
    bool is_deleting;
    bool has_foreground, has_orphan; /* finalizers */
};

/* Who is told what is to be done. Texts are lent during the call. */
struct graph_listener {
    void *arg;
    void (*look)(void *arg, struct spn_text uid);   /* perhaps it has to be deleted */
    void (*orphan)(void *arg, struct spn_text uid); /* its dependents are to stay */
    /* A reference to an owner in another namespace. */
    void (*misplaced)(void *arg, const struct graph_id *dependent, const struct graph_owner *owner);
};

struct graph *graph_new(const struct graph_listener *l);
struct graph *graph_free(struct graph *g);

void graph_put(struct graph *g, const struct graph_seen *seen);
void graph_remove(struct graph *g, struct spn_text uid);
/* The server says that there is no such object. True: others name the same uid differently, so the
 * node stays, under another of its names; it is to be looked at again later. */
bool graph_is_absent(struct graph *g, const struct graph_id *id);

/* Whether an owner is known to be absent, for a dependent in that namespace; and saying so. */
bool graph_knows_absent(struct graph *g, const struct graph_owner *owner, struct spn_text ns);
void graph_note_absent(struct graph *g, const struct graph_owner *owner, struct spn_text ns);

struct graph_ids {
    const struct graph_id *items;
    size_t n;
};

/* All that is known of one object, in the arena. */
struct graph_view {
    struct graph_id id;
    bool is_virtual;
    bool is_deleting;
    bool is_waiting;            /* deleted in the foreground: dependents go first */
    bool has_waiting_dependent; /* one of them is, too: perhaps a cycle */
    struct graph_ids dependents;
    struct graph_ids blocking;  /* those that it waits for */
    const bool *blocking_waits; /* of each of these: whether it waits itself */
};
/* False: it is not in the graph. */
bool graph_view(struct graph *g, struct spn_text uid, struct spn_arena *a, struct graph_view *ret);
size_t graph_count(const struct graph *g);
