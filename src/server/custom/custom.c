#include "server/custom/custom.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "api/convert/convert.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "server/custom/custom_build.h"
#include "server/custom/custom_webhook.h"
#include "server/object/stored.h"

#include "base/banned.h"

struct custom_kinds {
    struct store *store;
    pthread_mutex_t changing; /* see custom_kinds_begin(); taken before the other */
    pthread_mutex_t lock;     /* over the table */
    struct map by_name;       /* of the definition: PLURAL.GROUP */
    _Atomic(uint64_t) count;
    atomic_bool stopped;
};

const struct kind_resource *custom_definitions(void)
{
    return kind_resource_find(kind_version_find(STR("apiextensions.k8s.io"), STR("v1")),
                              STR("customresourcedefinitions"));
}

struct custom_kinds *custom_kinds_new(struct store *store)
{
    struct custom_kinds *k = mem_new(struct custom_kinds);
    k->store = store;
    pthread_mutex_init(&k->changing, NULL);
    pthread_mutex_init(&k->lock, NULL);
    return k;
}

void custom_kinds_stop(struct custom_kinds *k)
{
    if (k)
        atomic_store(&k->stopped, true);
}

const atomic_bool *custom_kinds_cancel(const struct custom_kinds *k)
{
    return &k->stopped;
}

struct custom_kinds *custom_kinds_free(struct custom_kinds *k)
{
    if (!k)
        return NULL;
    size_t pos = 0;
    struct str name;
    void *p;
    while (map_next(&k->by_name, &pos, &name, &p)) {
        map_remove(&k->by_name, name);
        custom_unref(p);
    }
    map_done(&k->by_name);
    pthread_mutex_destroy(&k->lock);
    pthread_mutex_destroy(&k->changing);
    free(k);
    return NULL;
}

struct store *custom_kinds_store(const struct custom_kinds *k)
{
    return k->store;
}

void custom_kinds_begin(struct custom_kinds *k)
{
    pthread_mutex_lock(&k->changing);
}

void custom_kinds_end(struct custom_kinds *k)
{
    pthread_mutex_unlock(&k->changing);
}

/* ---- References ---- */

struct custom *custom_ref(struct custom *c)
{
    atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
    return c;
}

struct custom *custom_unref(struct custom *c)
{
    if (c && atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) == 1) {
        custom_webhook_done(c->webhook);
        pthread_mutex_destroy(&c->compiling);
        arena_done(&c->arena);
        free(c);
    }
    return NULL;
}

/* ---- Changes ---- */

/* With the lock. The old one lives on as long as somebody has it. */
static void install(struct custom_kinds *k, struct custom *fresh, struct str name)
{
    struct custom *old = map_remove(&k->by_name, name);
    if (fresh)
        (void)map_set(&k->by_name, fresh->name, fresh);
    atomic_fetch_add(&k->count, 1);
    custom_unref(old);
}

/* `*ret_rev` is the revision of the definition, or the one at which there was none. */
int custom_read_definition(struct custom_kinds *k, struct arena *a, struct str name,
                           struct value *ret, uint64_t *ret_rev, struct err *err)
{
    struct store_snap *snap;
    struct store_entry e;
    int r = store_snap_begin(k->store, 0, &snap, err);
    if (r < 0)
        return r;
    r = store_snap_get(snap, stored_key(a, custom_definitions(), STR(""), name), &e, err);
    *ret_rev = r == 1 ? e.mod_rev : store_snap_rev(snap);
    int read = r == 1 ? stored_read(a, custom_definitions()->type, &e, ret, err) : 0;
    store_snap_end(snap);
    return read < 0 ? read : r;
}

/* What is read and made without the lock may have been overtaken by something newer. */
static void install_newer(struct custom_kinds *k, struct custom *fresh, struct str name,
                          uint64_t rev)
{
    pthread_mutex_lock(&k->lock);
    const struct custom *there = map_get(&k->by_name, name);
    bool overtaken = there && there->rev > rev;
    if (!overtaken)
        install(k, fresh, name);
    pthread_mutex_unlock(&k->lock);
    if (overtaken)
        custom_unref(fresh);
}

static int refresh(struct custom_kinds *k, struct arena *a, struct str name, struct err *err)
{
    struct value crd;
    uint64_t rev;
    int r = custom_read_definition(k, a, name, &crd, &rev, err);
    if (r < 0)
        return r;
    install_newer(k, r == 1 ? custom_build(k, &crd, rev) : NULL, name, rev);
    return 0;
}

int custom_kinds_refresh(struct custom_kinds *k, struct str name, struct err *err)
{
    struct arena a;
    arena_init(&a);
    int r = refresh(k, &a, name, err);
    arena_done(&a);
    return r;
}

int custom_kinds_load(struct custom_kinds *k, struct err *err)
{
    struct arena a;
    arena_init(&a);
    struct store_snap *snap;
    int r = store_snap_begin(k->store, 0, &snap, err);
    if (r < 0) {
        arena_done(&a);
        return r;
    }
    pthread_mutex_lock(&k->lock);
    store_range_begin(snap, stored_key(&a, custom_definitions(), STR(""), STR("")), STR(""));
    struct store_entry e;
    while ((r = store_range_next(snap, &e, err)) == 1) {
        struct arena one;
        arena_init(&one);
        struct value crd;
        struct err why = ERR_INIT(&one);
        if (stored_read(&one, custom_definitions()->type, &e, &crd, &why) == 0) {
            struct custom *c = custom_build(k, &crd, e.mod_rev);
            install(k, c, c->name);
        } else {
            log_error("a definition cannot be read; its objects are not served", LOG_ERR(&why));
        }
        arena_done(&one);
    }
    pthread_mutex_unlock(&k->lock);
    store_snap_end(snap);
    arena_done(&a);
    return r;
}

/* ---- Looking up ---- */

struct custom *custom_find(struct custom_kinds *k, struct str group, struct str plural)
{
    char name[512];
    if (plural.n + group.n + 1 > sizeof(name))
        return NULL;
    memcpy(name, plural.p, plural.n);
    name[plural.n] = '.';
    memcpy(name + plural.n + 1, group.p, group.n);
    pthread_mutex_lock(&k->lock);
    struct custom *c = map_get(&k->by_name, (struct str){ name, plural.n + 1 + group.n });
    c = c && c->established ? custom_ref(c) : NULL;
    pthread_mutex_unlock(&k->lock);
    return c;
}

struct custom *custom_now(const struct custom *c)
{
    struct custom_kinds *k = c->kinds;
    pthread_mutex_lock(&k->lock);
    struct custom *now = map_get(&k->by_name, c->name);
    now = now && str_eq(now->uid, c->uid) ? custom_ref(now) : NULL;
    pthread_mutex_unlock(&k->lock);
    return now;
}

static int by_group(const void *a, const void *b)
{
    const struct custom *const *x = a, *const *y = b;
    int c = str_cmp((*x)->group, (*y)->group);
    return c ? c : str_cmp((*x)->plural, (*y)->plural);
}

static struct custom **list(struct custom_kinds *k, bool all_of_them, size_t *ret_n)
{
    size_t n = 0, pos = 0;
    struct str name;
    void *p;
    pthread_mutex_lock(&k->lock);
    struct custom **all = mem_array(k->by_name.n + 1, sizeof(*all));
    while (map_next(&k->by_name, &pos, &name, &p)) {
        struct custom *c = p;
        if (all_of_them || c->established)
            all[n++] = custom_ref(c);
    }
    pthread_mutex_unlock(&k->lock);
    *ret_n = n;
    return all;
}

struct custom **custom_list(struct custom_kinds *k, size_t *ret_n)
{
    struct custom **all = list(k, false, ret_n);
    qsort(all, *ret_n, sizeof(all[0]), by_group);
    return all;
}

struct custom **custom_list_all(struct custom_kinds *k, size_t *ret_n)
{
    return list(k, true, ret_n);
}

uint64_t custom_kinds_count(const struct custom_kinds *k)
{
    return atomic_load(&k->count);
}

const struct custom_version *custom_version_of(const struct kind_resource *r)
{
    return r->type && r->type->custom ? (const struct custom_version *)r : NULL;
}

const struct custom_version *custom_version_of_type(const struct kind_type *t)
{
    if (!t || !t->custom)
        return NULL;
    return (const struct custom_version *)((uintptr_t)t - offsetof(struct custom_version, type));
}

const struct custom_version *custom_served(const struct custom *c, struct str version)
{
    for (size_t i = 0; i < c->n_versions; i++)
        if (c->versions[i].served && str_eq(c->versions[i].resource.version, version))
            return &c->versions[i];
    return NULL;
}

const struct custom_version *custom_storage(const struct custom *c)
{
    for (size_t i = 0; i < c->n_versions; i++)
        if (c->versions[i].storage)
            return &c->versions[i];
    return NULL;
}

const struct custom_version *custom_named(const struct custom *c, struct str version)
{
    for (size_t i = 0; i < c->n_versions; i++)
        if (str_eq(c->versions[i].resource.version, version))
            return &c->versions[i];
    return NULL;
}

int custom_no_version(const struct custom *c, struct str version, struct err *err)
{
    return err_set(err, ERR_UNKNOWN,
                   "request to convert CR from an invalid group/version: " STR_FMT "/" STR_FMT,
                   STR_ARG(c->group), STR_ARG(version));
}

/* ---- Schemas ---- */

const struct value *custom_find_schema(const struct value *definition, struct str version)
{
    value_each_item (it, value_dig(definition, "spec", "versions"))
        if (str_eq(value_str(value_get(it, STR("name"))), version))
            return value_dig(it, "schema", "openAPIV3Schema");
    return NULL;
}

/* With the definition's own lock. It is read again; if it has changed meanwhile, whoever still goes
 * by the old one goes by the new schema. */
static const struct schema *compile(struct custom_version *v)
{
    static const struct schema anything = { .types = SCHEMA_OBJECT, .flags = SCHEMA_PRESERVE };
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct value crd;
    uint64_t rev;
    const struct schema *s = &anything;
    if (custom_read_definition(v->of->kinds, &a, v->of->name, &crd, &rev, &err) == 1) {
        const struct value *props = custom_find_schema(&crd, v->resource.version);
        if (value_is(props, VALUE_OBJECT))
            s = schema_compile(&v->of->arena, props);
    }
    arena_done(&a);
    return s;
}

static struct custom_version *version_of_kind(const struct schema_kind *kind)
{
    return (struct custom_version *)((uintptr_t)kind - offsetof(struct custom_version, kind));
}

const struct schema *custom_schema(const struct schema_kind *kind)
{
    struct custom_version *v = version_of_kind(kind);
    if (!v->has_schema)
        return NULL;
    const struct schema *s = atomic_load_explicit(&v->schema, memory_order_acquire);
    if (s)
        return s;
    pthread_mutex_t *lock = &v->of->compiling;
    pthread_mutex_lock(lock);
    s = atomic_load_explicit(&v->schema, memory_order_relaxed);
    if (!s) {
        s = compile(v);
        atomic_store_explicit(&v->schema, s, memory_order_release);
    }
    pthread_mutex_unlock(lock);
    return s;
}

const struct schema_programs *custom_programs(const struct schema_kind *kind)
{
    struct custom_version *v = version_of_kind(kind);
    const struct schema *s = custom_schema(kind);
    if (!s || !(s->flags & SCHEMA_HAS_EXPRESSIONS))
        return NULL;
    if (!atomic_load_explicit(&v->has_programs, memory_order_acquire)) {
        pthread_mutex_t *lock = &v->of->compiling;
        pthread_mutex_lock(lock);
        if (!atomic_load_explicit(&v->has_programs, memory_order_relaxed)) {
            v->programs = schema_programs_compile(&v->of->arena, s, true);
            atomic_store_explicit(&v->has_programs, true, memory_order_release);
        }
        pthread_mutex_unlock(lock);
    }
    return v->programs;
}

/* ---- Objects of another time ---- */

bool custom_needs_webhook(const struct custom_version *v, struct str version)
{
    return v->of->webhook && !str_eq(version, v->resource.version);
}

static int fit_schema(struct arena *a, const struct kind_type *type, const struct value *obj,
                      struct value *ret, struct err *err)
{
    int r = type->custom->read(a, type, obj, NULL, ret, err);
    if (r < 0)
        return r;
    type->custom->defaults(a, type, ret);
    return 0;
}

int custom_fit(struct arena *a, const struct kind_type *type, struct str version, struct value *obj,
               struct value *ret, struct err *err)
{
    const struct custom_version *v = custom_version_of_type(type);
    const struct custom_version *was = custom_named(v->of, version);
    if (!was)
        return custom_no_version(v->of, version, err);
    if (was == v)
        return fit_schema(a, &v->type, obj, ret, err);
    struct value written = value_share(obj);
    value_put(a, &written, STR("apiVersion"), value_string(convert_api_version(a, &was->type)));
    /* A webhook is told what its definition promises, also if the object is older than that. */
    if (v->of->webhook) {
        struct value older = written;
        int r = fit_schema(a, &was->type, &older, &written, err);
        if (r < 0)
            return r;
    }
    return v->type.custom->convert(a, &was->type, &v->type, &written, ret, err);
}
