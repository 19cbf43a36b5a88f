/* guard_follow.c - what the guard keeps of the store: the index of roles, and the graph of nodes.
 */
#include <stdlib.h>

#include "base/idiom.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/guard/guard_internal.h"
#include "server/object/stored.h"
#include "base/banned.h"

/* A written object that is to be read again; its bytes are `thing ns/name`. */
struct note {
    const struct followed *as;
    struct str ns, name;
    char key[];
};

/* ---- Following the store ---- */

typedef void set_fn(struct rbac *r, struct str ns, struct str name, const struct value *obj);

#define RBAC_GROUP STR("rbac.authorization.k8s.io")

static const struct followed {
    struct str group, plural;
    set_fn *set;           /* into the index of roles; NULL: into the graph */
    struct str mark;       /* objects whose bytes do not have it say nothing */
    enum node_thing thing; /* in the graph */
} followed[] = {
    { RBAC_GROUP, STR("clusterroles"), rbac_set_role, STR(""), 0 },
    { RBAC_GROUP, STR("roles"), rbac_set_role, STR(""), 0 },
    { RBAC_GROUP, STR("clusterrolebindings"), rbac_set_binding, STR(""), 0 },
    { RBAC_GROUP, STR("rolebindings"), rbac_set_binding, STR(""), 0 },
    { STR(""), STR("pods"), NULL, STR("\"nodeName\""), NODE_THING_POD },
    { STR(""), STR("persistentvolumes"), NULL, STR("\"claimRef\""), NODE_THING_VOLUME },
    { STR("storage.k8s.io"), STR("volumeattachments"), NULL, STR("\"nodeName\""),
      NODE_THING_ATTACHMENT },
    { STR("resource.k8s.io"), STR("resourceslices"), NULL, STR("\"nodeName\""), NODE_THING_SLICE },
    { STR("certificates.k8s.io"), STR("podcertificaterequests"), NULL, STR("\"nodeName\""),
      NODE_THING_CERTIFICATE_REQUEST },
};

/* NULL: it decides nothing. */
static const struct followed *followed_as(const struct guard *g, const struct kind_resource *stored)
{
    for (size_t i = 0; i < ARRAY_LEN(followed); i++)
        if (str_eq(stored->plural, followed[i].plural) && str_eq(stored->group, followed[i].group))
            return followed[i].set || g->graph ? &followed[i] : NULL;
    return NULL;
}

/* The lock of the index that it is in is held, or nobody asks yet. */
static void set_object(struct guard *g, const struct followed *f, struct str ns, struct str name,
                       const struct value *obj)
{
    if (f->set)
        f->set(g->rbac, ns, name, obj);
    else
        node_graph_set(g->graph, f->thing, ns, name, obj);
}

static bool says_something(const struct followed *f, struct str bytes)
{
    return !f->mark.n || memmem(bytes.p, bytes.n, f->mark.p, f->mark.n);
}

static int load_range(struct guard *g, const struct followed *f, const struct kind_resource *stored,
                      struct store_snap *snap, struct arena *a, struct err *err)
{
    struct store_entry e;
    struct value obj;
    int r;
    while ((r = store_range_next(snap, &e, err)) > 0) {
        struct str ns, name;
        if (!says_something(f, e.value))
            continue;
        r = stored_read(a, stored->type, &e, &obj, err);
        if (r < 0)
            return r;
        stored_key_parts(stored, e.key, &ns, &name);
        set_object(g, f, ns, name, &obj);
        arena_reset(a);
    }
    return r;
}

static int load_kind(struct guard *g, const struct followed *f, struct err *err)
{
    const struct kind_resource *stored = kind_stored_named(f->group, f->plural);
    struct arena a, keys;
    struct store_snap *snap;
    int r = store_snap_begin(g->store, 0, &snap, err);
    if (r < 0)
        return r;
    arena_init(&a);
    arena_init(&keys);
    store_range_begin(snap, stored_key(&keys, stored, STR(""), STR("")), STR(""));
    r = load_range(g, f, stored, snap, &a, err);
    store_snap_end(snap);
    arena_done(&keys);
    arena_done(&a);
    return r;
}

int guard_load(struct guard *g, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(followed); i++) {
        if (!followed[i].set && !g->graph)
            continue;
        int r = load_kind(g, &followed[i], err);
        if (r < 0)
            return err_wrap(err, "read " STR_FMT, STR_ARG(followed[i].plural));
    }
    return 0;
}

/* The object as it stands now: 1, or 0 if there is none, or none that says anything. */
static int read_now(struct guard *g, struct arena *a, const struct followed *f, struct str ns,
                    struct str name, struct value *ret, struct err *err)
{
    const struct kind_resource *stored = kind_stored_named(f->group, f->plural);
    struct store_snap *snap;
    struct store_entry e;
    int r = store_snap_begin(g->store, 0, &snap, err);
    if (r < 0)
        return r;
    r = store_snap_get(snap, stored_key(a, stored, ns, name), &e, err);
    if (r > 0 && !says_something(f, e.value))
        r = 0;
    else if (r > 0 && stored_read(a, stored->type, &e, ret, err) < 0)
        r = -(int)err->code;
    store_snap_end(snap);
    return r;
}

/* The lock of the index that it is in is held. */
static void read_again(struct guard *g, struct arena *a, const struct followed *f, struct str ns,
                       struct str name)
{
    struct err err = ERR_INIT(a);
    struct value obj;
    int r = read_now(g, a, f, ns, name, &obj, &err);
    if (r < 0) /* what cannot be read gives nothing to anybody */
        log_error("what decides about access could not be read", LOG_STR("resource", f->plural),
                  LOG_STR("name", name), LOG_ERR(&err));
    set_object(g, f, ns, name, r > 0 ? &obj : NULL);
}

/* ---- What was noted for the graph ---- */

static struct note *note_new(const struct followed *f, struct str ns, struct str name)
{
    struct note *n = mem_alloc(sizeof(*n) + 2 + ns.n + name.n);
    char *p = n->key;
    *p++ = (char)('a' + f->thing);
    if (ns.n)
        memcpy(p, ns.p, ns.n);
    n->ns = (struct str){ p, ns.n };
    p += ns.n;
    *p++ = '/';
    if (name.n)
        memcpy(p, name.p, name.n);
    n->name = (struct str){ p, name.n };
    n->as = f;
    return n;
}

static struct str note_key(const struct note *n)
{
    return (struct str){ n->key, 2 + n->ns.n + n->name.n };
}

void guard__read_noted(struct guard *g)
{
    struct arena a;
    struct str key;
    void *p;
    if (!g->noted.n)
        return;
    arena_init(&a);
    for (size_t pos = 0; map_next(&g->noted, &pos, &key, &p);) {
        struct note *n = p;
        read_again(g, &a, n->as, n->ns, n->name);
        (void)map_remove(&g->noted, key);
        free(n);
        arena_reset(&a);
    }
    arena_done(&a);
}

static void note_change(struct guard *g, const struct followed *f, struct str ns, struct str name)
{
    struct note *n = note_new(f, ns, name);
    pthread_mutex_lock(&g->graph_lock);
    if (map_get(&g->noted, note_key(n)))
        free(n);
    else
        (void)map_set(&g->noted, note_key(n), n);
    if (g->noted.n >= GUARD_NOTES_MAX)
        guard__read_noted(g);
    pthread_mutex_unlock(&g->graph_lock);
}

static void role_changed(struct guard *g, const struct followed *f, struct str ns, struct str name)
{
    struct arena a;
    arena_init(&a);
    pthread_mutex_lock(&g->lock);
    read_again(g, &a, f, ns, name);
    retire_rest(&g->retire);
    pthread_mutex_unlock(&g->lock);
    arena_done(&a);
}

void guard_changed(struct guard *g, const struct kind_resource *stored, struct str ns,
                   struct str name)
{
    const struct followed *f = g ? followed_as(g, stored) : NULL;
    if (f && f->set)
        role_changed(g, f, ns, name);
    else if (f)
        note_change(g, f, ns, name);
}

void guard__forget_noted(struct guard *g)
{
    struct str key;
    void *p;
    for (size_t pos = 0; map_next(&g->noted, &pos, &key, &p);)
        free(p);
    map_done(&g->noted);
}
