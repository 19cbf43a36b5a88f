#include "controllers/garbage/graph.h"

#include <sampan/typed.h>
#include <stdlib.h>

#include "base/idiom.h"
#include "base/lru.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/banned.h"

/* So many absent owners are remembered. */
enum { ABSENT_MAX = 500 };

struct node {
    struct graph_id id; /* texts are owned */
    struct graph_owner *owners;
    size_t n_owners;
    struct keyed dependents; /* nodes */
    bool is_virtual, is_deleting, has_foreground, has_orphan;
};

struct absent {
    struct lru_thing thing;
    bool is_absent;
};

struct graph {
    struct graph_listener listener;
    struct keyed nodes;
    struct lru absent;
};

/* ---- Texts and identities ---- */

static struct str str_in(struct spn_text t)
{
    return (struct str){ t.p, t.n };
}

static struct spn_text keep(struct spn_text t)
{
    char *p = mem_alloc(t.n + 1);
    if (t.n)
        memcpy(p, t.p, t.n);
    p[t.n] = '\0';
    return (struct spn_text){ p, t.n };
}

static void drop(struct spn_text t)
{
    free((void *)(uintptr_t)t.p);
}

static void drop_id(struct graph_id *id)
{
    drop(id->api_version);
    drop(id->kind);
    drop(id->ns);
    drop(id->name);
    drop(id->uid);
}

static struct graph_id keep_id(const struct graph_id *id)
{
    return (struct graph_id){ keep(id->api_version), keep(id->kind), keep(id->ns), keep(id->name),
                              keep(id->uid) };
}

static bool same_id(const struct graph_id *a, const struct graph_id *b)
{
    return spn_text_eq(a->uid, b->uid) && spn_text_eq(a->name, b->name) &&
           spn_text_eq(a->ns, b->ns) && spn_text_eq(a->kind, b->kind) &&
           spn_text_eq(a->api_version, b->api_version);
}

/* Whether a reference names this object, its namespace apart. */
static bool names(const struct graph_owner *o, const struct graph_id *id)
{
    return spn_text_eq(o->uid, id->uid) && spn_text_eq(o->name, id->name) &&
           spn_text_eq(o->kind, id->kind) && spn_text_eq(o->api_version, id->api_version);
}

static struct str uid_of(const void *thing)
{
    return str_in(((const struct node *)thing)->id.uid);
}

/* ---- Nodes ---- */

static struct node *node_of(const struct graph *g, struct spn_text uid)
{
    return keyed_get(&g->nodes, str_in(uid));
}

static struct node *node_add(struct graph *g, const struct graph_id *id)
{
    struct node *n = mem_new(struct node);
    n->id = keep_id(id);
    n->dependents.key_of = uid_of;
    (void)keyed_put(&g->nodes, n);
    return n;
}

static void drop_owners(struct graph_owner *owners, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        drop(owners[i].api_version);
        drop(owners[i].kind);
        drop(owners[i].name);
        drop(owners[i].uid);
    }
    free(owners);
}

static void node_free(struct node *n)
{
    drop_owners(n->owners, n->n_owners);
    keyed_done(&n->dependents);
    drop_id(&n->id);
    free(n);
}

static void keep_owners(struct node *n, const struct graph_seen *s)
{
    struct graph_owner *kept = mem_array(s->n_owners + 1, sizeof(*kept));
    for (size_t i = 0; i < s->n_owners; i++) {
        const struct graph_owner *o = &s->owners[i];
        kept[i] = (struct graph_owner){ keep(o->api_version), keep(o->kind), keep(o->name),
                                        keep(o->uid), o->blocks };
    }
    n->owners = kept;
    n->n_owners = s->n_owners;
}

static void look(struct graph *g, const struct node *n)
{
    g->listener.look(g->listener.arg, n->id.uid);
}

static void look_at_dependents(struct graph *g, const struct node *n)
{
    size_t pos = 0;
    for (struct node *dep; (dep = keyed_next(&n->dependents, &pos));)
        look(g, dep);
}

static const struct graph_owner *owner_with(const struct graph_owner *owners, size_t n,
                                            struct spn_text uid)
{
    for (size_t i = 0; i < n; i++)
        if (spn_text_eq(owners[i].uid, uid))
            return &owners[i];
    return NULL;
}

/* ---- Owners that are known to be absent ---- */

static struct absent *absent_of(struct graph *g, const struct graph_owner *o, struct spn_text ns)
{
    struct spn_arena *a = spn_arena_new();
    struct spn_text key = spn_arena_printf(
        a, SPN_FMT "\n" SPN_FMT "\n" SPN_FMT "\n" SPN_FMT "\n" SPN_FMT, SPN_ARG(o->api_version),
        SPN_ARG(o->kind), SPN_ARG(ns), SPN_ARG(o->name), SPN_ARG(o->uid));
    struct absent *found = lru_get(&g->absent, str_in(key));
    spn_arena_free(a);
    return found;
}

bool graph_knows_absent(struct graph *g, const struct graph_owner *owner, struct spn_text ns)
{
    return absent_of(g, owner, SPN_TEXT(""))->is_absent || absent_of(g, owner, ns)->is_absent;
}

void graph_note_absent(struct graph *g, const struct graph_owner *owner, struct spn_text ns)
{
    absent_of(g, owner, ns)->is_absent = true;
}

static void note_absent_id(struct graph *g, const struct graph_id *id)
{
    const struct graph_owner o = { id->api_version, id->kind, id->name, id->uid, false };
    graph_note_absent(g, &o, id->ns);
}

/* ---- References ---- */

/* What a reference to a node that is there already may be wrong about. */
static bool is_doubtful(struct graph *g, const struct node *n, const struct graph_owner *o,
                        const struct node *owner)
{
    bool same_ns = spn_text_eq(owner->id.ns, n->id.ns);
    if (owner->id.ns.n && !same_ns) {
        if (!owner->is_virtual)
            g->listener.misplaced(g->listener.arg, &n->id, o);
        return true;
    }
    if (!names(o, &owner->id))
        return true;
    return !owner->id.ns.n && !same_ns && owner->is_virtual;
}

/* Makes `n` a dependent of an owner. True: it has to be looked at. */
static bool link_owner(struct graph *g, struct node *n, const struct graph_owner *o,
                       bool doubts_already)
{
    struct node *owner = node_of(g, o->uid);
    bool is_new = !owner;
    if (is_new) {
        const struct graph_id id = { o->api_version, o->kind, n->id.ns, o->name, o->uid };
        owner = node_add(g, &id);
        owner->is_virtual = true;
    }
    (void)keyed_put(&owner->dependents, n);
    if (is_new)
        look(g, owner);
    return !is_new && !doubts_already && is_doubtful(g, n, o, owner);
}

static void link_owners(struct graph *g, struct node *n, const struct graph_owner *before,
                        size_t n_before)
{
    bool is_doubted = false;
    for (size_t i = 0; i < n->n_owners; i++)
        if (!owner_with(before, n_before, n->owners[i].uid))
            is_doubted |= link_owner(g, n, &n->owners[i], is_doubted);
    if (is_doubted)
        look(g, n);
}

/* Owners that it does not name any more, or does not block any more, may be free to go. */
static void unlink_owners(struct graph *g, struct node *n, const struct graph_owner *before,
                          size_t n_before)
{
    for (size_t i = 0; i < n_before; i++) {
        const struct graph_owner *now = owner_with(n->owners, n->n_owners, before[i].uid);
        struct node *owner = node_of(g, before[i].uid);
        if (owner && before[i].blocks && (!now || !now->blocks))
            look(g, owner);
        if (owner && !now)
            (void)keyed_remove(&owner->dependents, str_in(n->id.uid));
    }
}

static void set_owners(struct graph *g, struct node *n, const struct graph_seen *s)
{
    struct graph_owner *before = n->owners;
    size_t n_before = n->n_owners;
    keep_owners(n, s);
    unlink_owners(g, n, before, n_before);
    link_owners(g, n, before, n_before);
    drop_owners(before, n_before);
}

/* ---- Dependents that name an owner rightly or not ---- */

struct match {
    bool matches, differs;
};

static struct match match_dependent(const struct node *dep, const struct graph_id *owner)
{
    struct match m = { 0 };
    if (owner->ns.n && !spn_text_eq(owner->ns, dep->id.ns))
        return (struct match){ .differs = true };
    for (size_t i = 0; i < dep->n_owners; i++) {
        if (!spn_text_eq(dep->owners[i].uid, owner->uid))
            continue;
        bool is_right = names(&dep->owners[i], owner);
        m.matches |= is_right;
        m.differs |= !is_right;
    }
    return m;
}

/* A virtual node turns out to be something else than its dependents said. */
static void doubt_dependents(struct graph *g, const struct node *n, const struct graph_id *is)
{
    size_t pos = 0;
    for (struct node *dep; (dep = keyed_next(&n->dependents, &pos));) {
        if (!match_dependent(dep, is).differs)
            continue;
        const struct graph_owner *o = owner_with(dep->owners, dep->n_owners, is->uid);
        if (o && is->ns.n && !spn_text_eq(dep->id.ns, is->ns))
            g->listener.misplaced(g->listener.arg, &dep->id, o);
        look(g, dep);
    }
}

/* ---- Changes ---- */

/* The key of a node is its uid, which stays the same text. */
static void rename_node(struct node *n, const struct graph_id *id)
{
    struct graph_id before = n->id;
    n->id = keep_id(id);
    drop(n->id.uid);
    n->id.uid = before.uid;
    before.uid = (struct spn_text){ 0 };
    drop_id(&before);
}

static void begin_transitions(struct graph *g, struct node *n, const struct graph_seen *s)
{
    bool was_orphaning = n->is_deleting && n->has_orphan;
    bool was_waiting = n->is_deleting && n->has_foreground;
    n->is_deleting = s->is_deleting;
    n->has_foreground = s->has_foreground;
    n->has_orphan = s->has_orphan;
    if (s->is_deleting && s->has_orphan && !was_orphaning) {
        g->listener.orphan(g->listener.arg, n->id.uid);
    } else if (s->is_deleting && s->has_foreground && !was_waiting) {
        look_at_dependents(g, n);
        look(g, n);
    }
}

void graph_put(struct graph *g, const struct graph_seen *seen)
{
    struct node *n = node_of(g, seen->id.uid);
    if (!n)
        n = node_add(g, &seen->id);
    else if (n->is_virtual && !same_id(&n->id, &seen->id))
        doubt_dependents(g, n, &seen->id);
    if (!same_id(&n->id, &seen->id))
        rename_node(n, &seen->id);
    n->is_virtual = false;
    set_owners(g, n, seen);
    begin_transitions(g, n, seen);
}

static bool is_waiting(const struct node *n)
{
    return n->is_deleting && n->has_foreground;
}

static void remove_node(struct graph *g, struct node *n)
{
    (void)keyed_remove(&g->nodes, str_in(n->id.uid));
    for (size_t i = 0; i < n->n_owners; i++) {
        struct node *owner = node_of(g, n->owners[i].uid);
        if (owner)
            (void)keyed_remove(&owner->dependents, str_in(n->id.uid));
        if (owner && is_waiting(owner))
            look(g, owner);
    }
    if (n->dependents.n)
        note_absent_id(g, &n->id);
    look_at_dependents(g, n);
    node_free(n);
}

void graph_remove(struct graph *g, struct spn_text uid)
{
    struct node *n = node_of(g, uid);
    if (n)
        remove_node(g, n);
}

/* ---- Absent under one name ---- */

static int compare_ids(const struct graph_id *a, const struct graph_id *b)
{
    int c = str_cmp(str_in(a->kind), str_in(b->kind));
    c = c ? c : str_cmp(str_in(a->api_version), str_in(b->api_version));
    c = c ? c : str_cmp(str_in(a->ns), str_in(b->ns));
    return c ? c : str_cmp(str_in(a->name), str_in(b->name));
}

/* The name by which a dependent knows the owner, if it is another one than `id`. */
static bool other_name(const struct node *dep, const struct graph_owner *o,
                       const struct graph_id *id, struct graph_id *ret)
{
    if (!spn_text_eq(o->uid, id->uid) ||
        (names(o, id) && (!id->ns.n || spn_text_eq(id->ns, dep->id.ns))))
        return false;
    *ret = (struct graph_id){ o->api_version, o->kind, dep->id.ns, o->name, o->uid };
    if (!id->ns.n && spn_text_eq(o->kind, id->kind) && spn_text_eq(o->api_version, id->api_version))
        ret->ns = SPN_TEXT("");
    return !same_id(ret, id);
}

/* Of all names the next one after `id`, or the first. */
static bool next_name(const struct node *n, const struct graph_id *id, struct graph_id *ret)
{
    struct graph_id first = { 0 }, following = { 0 }, is;
    size_t pos = 0;
    for (struct node *dep; (dep = keyed_next(&n->dependents, &pos));) {
        for (size_t i = 0; i < dep->n_owners; i++) {
            if (!other_name(dep, &dep->owners[i], id, &is))
                continue;
            if (!first.uid.n || compare_ids(&is, &first) < 0)
                first = is;
            if (compare_ids(id, &is) < 0 && (!following.uid.n || compare_ids(&is, &following) < 0))
                following = is;
        }
    }
    *ret = following.uid.n ? following : first;
    return ret->uid.n != 0;
}

/* Looks at those that name it like this. True: others name it differently. */
static bool look_at_matching(struct graph *g, const struct node *n, const struct graph_id *id)
{
    bool any_matches = false, any_differs = false;
    size_t pos = 0;
    for (struct node *dep; (dep = keyed_next(&n->dependents, &pos));)
        any_differs |= match_dependent(dep, id).differs;
    if (!any_differs && n->is_virtual)
        return false;
    pos = 0;
    for (struct node *dep; (dep = keyed_next(&n->dependents, &pos));)
        any_matches |= match_dependent(dep, id).matches;
    if (any_matches)
        note_absent_id(g, id);
    pos = 0;
    for (struct node *dep; (dep = keyed_next(&n->dependents, &pos));)
        if (match_dependent(dep, id).matches)
            look(g, dep);
    return any_differs;
}

bool graph_is_absent(struct graph *g, const struct graph_id *id)
{
    struct node *n = node_of(g, id->uid);
    struct graph_id next;
    if (!n)
        return false;
    bool is_same = same_id(&n->id, id);
    if (!n->is_virtual && !is_same) {
        (void)look_at_matching(g, n, id);
        return false;
    }
    if (!n->is_virtual || !look_at_matching(g, n, id)) {
        remove_node(g, n);
        return false;
    }
    if (!is_same || !next_name(n, id, &next))
        return false;
    rename_node(n, &next);
    return true;
}

/* ---- Looking ---- */

static struct graph_id copy_id(struct spn_arena *a, const struct graph_id *id)
{
    return (struct graph_id){ spn_arena_text(a, id->api_version), spn_arena_text(a, id->kind),
                              spn_arena_text(a, id->ns), spn_arena_text(a, id->name),
                              spn_arena_text(a, id->uid) };
}

static void view_dependents(const struct node *n, struct spn_arena *a, struct graph_view *ret)
{
    struct graph_id *all = spn_arena_alloc(a, (n->dependents.n + 1) * sizeof(*all));
    struct graph_id *blocking = spn_arena_alloc(a, (n->dependents.n + 1) * sizeof(*blocking));
    bool *waits = spn_arena_alloc(a, n->dependents.n + 1);
    size_t pos = 0;
    for (struct node *dep; (dep = keyed_next(&n->dependents, &pos));) {
        const struct graph_owner *o = owner_with(dep->owners, dep->n_owners, n->id.uid);
        all[ret->dependents.n++] = copy_id(a, &dep->id);
        ret->has_waiting_dependent |= is_waiting(dep);
        if (!o || !o->blocks)
            continue;
        waits[ret->blocking.n] = is_waiting(dep);
        blocking[ret->blocking.n++] = all[ret->dependents.n - 1];
    }
    ret->dependents.items = all;
    ret->blocking.items = blocking;
    ret->blocking_waits = waits;
}

bool graph_view(struct graph *g, struct spn_text uid, struct spn_arena *a, struct graph_view *ret)
{
    const struct node *n = node_of(g, uid);
    if (!n)
        return false;
    *ret = (struct graph_view){ .id = copy_id(a, &n->id),
                                .is_virtual = n->is_virtual,
                                .is_deleting = n->is_deleting,
                                .is_waiting = is_waiting(n) };
    view_dependents(n, a, ret);
    return true;
}

size_t graph_count(const struct graph *g)
{
    return g->nodes.n;
}

/* ---- Beginning and end ---- */

struct graph *graph_new(const struct graph_listener *l)
{
    struct graph *g = mem_new(struct graph);
    g->listener = *l;
    g->nodes.key_of = uid_of;
    lru_init(&g->absent, sizeof(struct absent), ABSENT_MAX);
    return g;
}

struct graph *graph_free(struct graph *g)
{
    if (!g)
        return NULL;
    size_t pos = 0;
    for (struct node *n; (n = keyed_next(&g->nodes, &pos));)
        node_free(n);
    keyed_done(&g->nodes);
    lru_done(&g->absent);
    free(g);
    return NULL;
}
