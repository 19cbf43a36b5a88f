#include "server/guard/guard.h"

#include <pthread.h>
#include <stdlib.h>

#include "auth/node_rules.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "server/core/retire.h"
#include "server/object/stored.h"
#include "base/banned.h"

/* A written object that is to be read again; its bytes are `thing ns/name`. */
struct note {
    const struct followed *as;
    struct str ns, name;
    char key[];
};

struct guard {
    struct store *store;
    struct guard_modes modes;
    bool allows_all;
    pthread_mutex_t lock; /* over writing the index of roles, and over what follows */
    struct rbac *rbac;
    struct retire retire;
    pthread_mutex_t graph_lock; /* over the graph and what was noted */
    struct node_graph *graph;   /* NULL: nodes are not asked for */
    struct map noted;
};

static void keep_block(void *arg, void *block)
{
    struct guard *g = arg;
    retire_keep(&g->retire, block, free);
}

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

/* Brings the graph up to date. Its lock is held. */
static void read_noted(struct guard *g)
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
        read_noted(g);
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

/* ---- Deciding ---- */

/* Who may do everything, whoever else is asked. */
static bool is_master(const struct guard *g, const struct access *q)
{
    return g->allows_all || user_is_in(q->user, USER_MASTERS);
}

/* `a` and `ret_reason` may be NULL. */
static bool ask_node(struct guard *g, struct arena *a, const struct access *q,
                     struct str *ret_reason)
{
    struct str node;
    if (!node_rules_identify(q->user, &node))
        return false;
    pthread_mutex_lock(&g->graph_lock);
    read_noted(g);
    bool yes = node_rules_allow(g->graph, a, q, ret_reason);
    pthread_mutex_unlock(&g->graph_lock);
    return yes;
}

bool guard_allows(struct guard *g, const struct access *q)
{
    if (is_master(g, q))
        return true;
    for (size_t i = 0; i < g->modes.n; i++)
        if (g->modes.at[i] == GUARD_NODE ? ask_node(g, NULL, q, NULL) : rbac_allows(g->rbac, q))
            return true;
    return false;
}

static bool ask_rbac(struct guard *g, struct arena *a, const struct access *q, bool on_loop,
                     struct str *ret_reason)
{
    if (on_loop)
        return rbac_explain(g->rbac, a, q, ret_reason);
    pthread_mutex_lock(&g->lock);
    bool yes = rbac_explain(g->rbac, a, q, ret_reason);
    pthread_mutex_unlock(&g->lock);
    return yes;
}

/* Reasons of authorizers that had no opinion begin with their names. */
static bool explain(struct guard *g, struct arena *a, const struct access *q, bool on_loop,
                    struct str *ret_reason)
{
    autobuf reasons = { 0 };
    *ret_reason = STR("");
    if (is_master(g, q))
        return true;
    for (size_t i = 0; i < g->modes.n; i++) {
        struct str reason = STR("");
        bool is_node = g->modes.at[i] == GUARD_NODE;
        if (is_node ? ask_node(g, a, q, &reason) : ask_rbac(g, a, q, on_loop, &reason)) {
            *ret_reason = reason;
            return true;
        }
        if (reason.n)
            buf_printf(&reasons, "%s%s: " STR_FMT, reasons.n ? "\n" : "", is_node ? "node" : "rbac",
                       STR_ARG(reason));
    }
    *ret_reason = arena_str(a, buf_str(&reasons));
    return false;
}

struct str guard_reason(struct guard *g, struct arena *a, const struct access *q)
{
    struct str reason;
    (void)explain(g, a, q, true, &reason);
    return reason;
}

bool guard_decide(struct guard *g, struct arena *a, const struct access *q, struct str *ret_reason)
{
    return explain(g, a, q, false, ret_reason);
}

bool guard_decides_unlisted(const struct guard *g, const struct user *user)
{
    struct str node;
    return g->graph && node_rules_identify(user, &node);
}

int guard_with_rbac(struct guard *g, int (*fn)(const struct rbac *rbac, void *arg), void *arg)
{
    pthread_mutex_lock(&g->lock);
    int r = fn(g->allows_all ? NULL : g->rbac, arg);
    pthread_mutex_unlock(&g->lock);
    return r;
}

/* ---- Beginning and end ---- */

static const struct {
    struct str name;
    enum guard_mode mode;
} mode_names[] = {
    { STR("Node"), GUARD_NODE },
    { STR("RBAC"), GUARD_RBAC },
    { STR("AlwaysAllow"), GUARD_ALWAYS_ALLOW },
};

static bool has_mode(const struct guard_modes *modes, enum guard_mode mode)
{
    for (size_t i = 0; i < modes->n; i++)
        if (modes->at[i] == mode)
            return true;
    return false;
}

int guard_modes_parse(struct str text, struct guard_modes *ret, struct err *err)
{
    struct guard_modes modes = { .n = 0 };
    do {
        struct str name = str_cut(&text, ',');
        size_t i = 0;
        while (i < ARRAY_LEN(mode_names) && !str_eq(name, mode_names[i].name))
            i++;
        if (i == ARRAY_LEN(mode_names))
            return err_set(err, ERR_INVALID, "'" STR_FMT "' is not Node, RBAC or AlwaysAllow",
                           STR_ARG(name));
        if (has_mode(&modes, mode_names[i].mode))
            return err_set(err, ERR_INVALID, STR_FMT " is named twice", STR_ARG(name));
        modes.at[modes.n++] = mode_names[i].mode;
    } while (text.p);
    *ret = modes;
    return 0;
}

struct guard *guard_new(struct store *store, const struct guard_modes *modes)
{
    static const struct guard_modes usual = { .at = { GUARD_NODE, GUARD_RBAC }, .n = 2 };
    struct guard *g = mem_new(struct guard);
    g->store = store;
    g->modes = modes->n ? *modes : usual;
    g->allows_all = has_mode(&g->modes, GUARD_ALWAYS_ALLOW);
    pthread_mutex_init(&g->lock, NULL);
    pthread_mutex_init(&g->graph_lock, NULL);
    g->rbac = rbac_new(&(struct rbac_retire){ keep_block, g });
    if (has_mode(&g->modes, GUARD_NODE))
        g->graph = node_graph_new();
    return g;
}

void guard_serve(struct guard *g, struct loop *const *loops, size_t n_loops)
{
    retire_serve(&g->retire, loops, n_loops);
}

struct guard *guard_free(struct guard *g)
{
    struct str key;
    void *p;
    if (!g)
        return NULL;
    rbac_free(g->rbac);
    node_graph_free(g->graph);
    for (size_t pos = 0; map_next(&g->noted, &pos, &key, &p);)
        free(p);
    map_done(&g->noted);
    retire_done(&g->retire);
    pthread_mutex_destroy(&g->lock);
    pthread_mutex_destroy(&g->graph_lock);
    free(g);
    return NULL;
}
