#include "server/apiservice/apiservice.h"

#include <pthread.h>
#include <stdlib.h>

#include "api/keys.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "server/custom/custom.h"
#include "server/object/stored.h"
#include "base/banned.h"

enum { PORT_DEFAULT = 443 };

/* What was told of a name, with the name as its key. */
struct told {
    struct arena arena;
    struct str name;
    struct apiservice_told what;
};

struct apiservices {
    struct store *store;
    atomic_size_t n_foreign;
    atomic_bool stopped;
    pthread_mutex_t lock; /* guards what follows */
    struct arena arena;   /* of the certificate */
    struct apiservices_options own;
    struct map by_name;
    struct map told;
};

const struct kind_resource *apiservices_resource(void)
{
    return kind_stored_named(STR("apiregistration.k8s.io"), STR("apiservices"));
}

/* ---- References ---- */

struct apiservice *apiservice_ref(struct apiservice *s)
{
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    return s;
}

struct apiservice *apiservice_unref(struct apiservice *s)
{
    if (s && atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) == 1) {
        tls_context_unref(s->tls);
        fetcher_free(s->fetcher);
        arena_done(&s->arena);
        free(s);
    }
    return NULL;
}

/* ---- Reading one ---- */

static enum apiservice_care care_of(const struct value *obj)
{
    struct str label = value_str(value_dig(obj, "metadata", "labels", KEY_AUTOMANAGED));
    if (str_eq(label, STR("true")))
        return APISERVICE_KEPT;
    return str_eq(label, STR("onstart")) ? APISERVICE_ON_START : APISERVICE_GIVEN;
}

static bool says_available(const struct value *obj)
{
    value_each_item (it, value_dig(obj, "status", "conditions"))
        if (str_eq(value_text(it, "type"), STR("Available")))
            return str_eq(value_text(it, "status"), STR("True"));
    return false;
}

/* Who cannot be believed because of his CA cannot be asked: there is no context for him. */
static void make_clients(struct apiservices *all, struct apiservice *s, struct str ca,
                         bool is_insecure)
{
    struct err err = ERR_INIT(&s->arena);
    const struct tls_config config = {
        .cert_pem = all->own.cert_pem,
        .key_pem = all->own.key_pem,
        .ca_pem = is_insecure ? STR("") : ca,
        .http1 = true,
        .lets_strangers_in = is_insecure,
    };
    if (!is_insecure)
        s->tls_name = arena_printf(&s->arena, STR_FMT "." STR_FMT ".svc", STR_ARG(s->service_name),
                                   STR_ARG(s->service_ns));
    if (tls_context_new(&config, &s->tls, &err) < 0)
        log_warn("the authority of an APIService cannot be read", LOG_STR("name", s->name),
                 LOG_ERR(&err));
    s->fetcher = fetcher_new(&(struct fetcher_options){
        .ca_pem = ca,
        .cert_pem = all->own.cert_pem,
        .key_pem = all->own.key_pem,
        .insecure = is_insecure,
        .cancel = &all->stopped,
    });
}

static void read_service(struct apiservices *all, struct apiservice *s, const struct value *spec)
{
    const struct value *service = value_get(spec, STR("service"));
    autobuf ca = { 0 };
    if (!value_is(service, VALUE_OBJECT))
        return;
    s->service_ns = arena_str(&s->arena, value_text(service, "namespace"));
    s->service_name = arena_str(&s->arena, value_text(service, "name"));
    s->service_port = PORT_DEFAULT;
    (void)value_to_int(value_get(service, STR("port")), &s->service_port);
    (void)base64_decode(&ca, value_text(spec, "caBundle"));
    make_clients(all, s, buf_str(&ca),
                 value_is_true(value_get(spec, STR("insecureSkipTLSVerify"))));
}

static struct apiservice *make(struct apiservices *all, struct str name, const struct value *obj,
                               uint64_t rev)
{
    struct apiservice *s = mem_new(struct apiservice);
    const struct value *spec = value_get(obj, STR("spec"));
    s->refs = 1;
    arena_init(&s->arena);
    s->name = arena_str(&s->arena, name);
    s->group = arena_str(&s->arena, value_text(spec, "group"));
    s->version = arena_str(&s->arena, value_text(spec, "version"));
    (void)value_to_int(value_get(spec, STR("groupPriorityMinimum")), &s->group_priority);
    (void)value_to_int(value_get(spec, STR("versionPriority")), &s->version_priority);
    s->care = care_of(obj);
    s->is_available = says_available(obj);
    s->rev = rev;
    read_service(all, s, spec);
    return s;
}

/* ---- The index ---- */

static void take_options(struct apiservices *all, const struct apiservices_options *opt)
{
    all->own.cert_pem = arena_str(&all->arena, opt->cert_pem);
    all->own.key_pem = arena_str(&all->arena, opt->key_pem);
}

struct apiservices *apiservices_new(struct store *store, const struct apiservices_options *opt)
{
    struct apiservices *all = mem_new(struct apiservices);
    all->store = store;
    pthread_mutex_init(&all->lock, NULL);
    arena_init(&all->arena);
    take_options(all, opt);
    return all;
}

static void told_free(struct told *t)
{
    if (!t)
        return;
    arena_done(&t->arena);
    free(t);
}

struct apiservices *apiservices_free(struct apiservices *all)
{
    size_t pos = 0;
    struct str name;
    void *p;
    if (!all)
        return NULL;
    while (map_next(&all->by_name, &pos, &name, &p)) {
        (void)map_remove(&all->by_name, name);
        apiservice_unref(p);
    }
    for (pos = 0; map_next(&all->told, &pos, &name, &p);) {
        (void)map_remove(&all->told, name);
        told_free(p);
    }
    map_done(&all->by_name);
    map_done(&all->told);
    arena_done(&all->arena);
    pthread_mutex_destroy(&all->lock);
    free(all);
    return NULL;
}

void apiservices_stop(struct apiservices *all)
{
    if (all)
        atomic_store(&all->stopped, true);
}

/* With the lock. What was told of one that is gone goes with it. */
static void install(struct apiservices *all, struct str name, struct apiservice *fresh)
{
    struct apiservice *old = map_remove(&all->by_name, name);
    if (old && !apiservice_is_local(old))
        atomic_fetch_sub(&all->n_foreign, 1);
    if (fresh && !apiservice_is_local(fresh))
        atomic_fetch_add(&all->n_foreign, 1);
    if (fresh)
        (void)map_set(&all->by_name, fresh->name, fresh);
    if (!fresh || apiservice_is_local(fresh))
        told_free(map_remove(&all->told, name));
    apiservice_unref(old);
}

/* What was read without the lock may have been overtaken by something newer. */
static void install_newer(struct apiservices *all, struct str name, struct apiservice *fresh,
                          uint64_t rev)
{
    pthread_mutex_lock(&all->lock);
    const struct apiservice *there = map_get(&all->by_name, name);
    bool is_overtaken = there && there->rev > rev;
    if (!is_overtaken)
        install(all, name, fresh);
    pthread_mutex_unlock(&all->lock);
    if (is_overtaken)
        apiservice_unref(fresh);
}

/* 1 and `*ret`, or 0. `*ret_rev` is its revision, or the one at which it was not there. */
static int read_one(struct apiservices *all, struct arena *a, struct str name, struct value *ret,
                    uint64_t *ret_rev, struct err *err)
{
    const struct kind_resource *resource = apiservices_resource();
    struct store_snap *snap;
    struct store_entry e;
    int r = store_snap_begin(all->store, 0, &snap, err);
    if (r < 0)
        return r;
    r = store_snap_get(snap, stored_key(a, resource, STR(""), name), &e, err);
    *ret_rev = r == 1 ? e.mod_rev : store_snap_rev(snap);
    int read = r == 1 ? stored_read(a, resource->type, &e, ret, err) : 0;
    store_snap_end(snap);
    return read < 0 ? read : r;
}

int apiservices_refresh(struct apiservices *all, struct str name, struct err *err)
{
    struct arena a;
    struct value obj;
    uint64_t rev;
    arena_init(&a);
    int r = read_one(all, &a, name, &obj, &rev, err);
    if (r >= 0)
        install_newer(all, name, r ? make(all, name, &obj, rev) : NULL, rev);
    arena_done(&a);
    return r < 0 ? r : 0;
}

static int load(struct apiservices *all, struct arena *a, struct store_snap *snap, struct err *err)
{
    const struct kind_resource *resource = apiservices_resource();
    struct store_entry e;
    int r;
    store_range_begin(snap, stored_key(a, resource, STR(""), STR("")), STR(""));
    while ((r = store_range_next(snap, &e, err)) == 1) {
        struct str ns, name;
        struct value obj;
        stored_key_parts(resource, e.key, &ns, &name);
        r = stored_read(a, resource->type, &e, &obj, err);
        if (r < 0)
            return r;
        install_newer(all, name, make(all, name, &obj, e.mod_rev), e.mod_rev);
    }
    return r;
}

int apiservices_load(struct apiservices *all, struct err *err)
{
    struct arena a;
    struct store_snap *snap;
    int r = store_snap_begin(all->store, 0, &snap, err);
    if (r < 0)
        return r;
    arena_init(&a);
    r = load(all, &a, snap, err);
    arena_done(&a);
    store_snap_end(snap);
    return r;
}

static int refresh_foreign(struct apiservices *all, struct apiservice *const *list, size_t n,
                           struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        int r = apiservice_is_local(list[i]) ? 0 : apiservices_refresh(all, list[i]->name, err);
        if (r < 0)
            return r;
    }
    return 0;
}

int apiservices_set(struct apiservices *all, const struct apiservices_options *opt, struct err *err)
{
    size_t n;
    pthread_mutex_lock(&all->lock);
    take_options(all, opt);
    pthread_mutex_unlock(&all->lock);
    struct apiservice **list = apiservices_list(all, &n);
    int r = refresh_foreign(all, list, n, err);
    for (size_t i = 0; i < n; i++)
        apiservice_unref(list[i]);
    free(list);
    return r;
}

/* ---- Questions ---- */

bool apiservices_has_foreign(const struct apiservices *all)
{
    return all && atomic_load_explicit(&all->n_foreign, memory_order_relaxed);
}

struct apiservice *apiservices_named(struct apiservices *all, struct str name)
{
    pthread_mutex_lock(&all->lock);
    struct apiservice *s = map_get(&all->by_name, name);
    if (s)
        apiservice_ref(s);
    pthread_mutex_unlock(&all->lock);
    return s;
}

struct apiservice *apiservices_find(struct apiservices *all, struct str group, struct str version)
{
    autobuf name = { 0 };
    buf_printf(&name, STR_FMT "." STR_FMT, STR_ARG(version), STR_ARG(group));
    return apiservices_named(all, buf_str(&name));
}

/* By group; its versions with the preferred one first. */
static int compare(const void *x, const void *y)
{
    const struct apiservice *a = *(struct apiservice *const *)x,
                            *b = *(struct apiservice *const *)y;
    if (str_eq(a->group, b->group)) {
        if (a->version_priority != b->version_priority)
            return a->version_priority > b->version_priority ? -1 : 1;
        return custom_compare_versions(a->version, b->version);
    }
    return str_cmp(a->group, b->group);
}

struct apiservice **apiservices_list(struct apiservices *all, size_t *ret_n)
{
    size_t pos = 0, n = 0;
    struct str name;
    void *p;
    pthread_mutex_lock(&all->lock);
    struct apiservice **list = mem_array(all->by_name.n + 1, sizeof(struct apiservice *));
    while (map_next(&all->by_name, &pos, &name, &p))
        list[n++] = apiservice_ref(p);
    pthread_mutex_unlock(&all->lock);
    qsort(list, n, sizeof(struct apiservice *), compare);
    *ret_n = n;
    return list;
}

/* ---- What they told ---- */

static void copy_told(struct arena *a, const struct apiservice_told *from,
                      struct apiservice_told *to)
{
    to->is_current = from->is_current;
    to->resources = arena_str(a, from->resources);
    to->openapi_url = arena_str(a, from->openapi_url);
    to->swagger = arena_str(a, from->swagger);
}

void apiservices_tell(struct apiservices *all, struct str name, const struct apiservice_told *told)
{
    struct told *t = mem_new(struct told);
    arena_init(&t->arena);
    t->name = arena_str(&t->arena, name);
    copy_told(&t->arena, told, &t->what);
    pthread_mutex_lock(&all->lock);
    struct told *old = map_remove(&all->told, name);
    bool is_wanted = map_get(&all->by_name, name) != NULL;
    if (is_wanted)
        (void)map_set(&all->told, t->name, t);
    pthread_mutex_unlock(&all->lock);
    told_free(old);
    if (!is_wanted)
        told_free(t);
}

bool apiservices_told(struct apiservices *all, struct arena *a, struct str name,
                      struct apiservice_told *ret)
{
    pthread_mutex_lock(&all->lock);
    const struct told *t = map_get(&all->told, name);
    if (t)
        copy_told(a, &t->what, ret);
    pthread_mutex_unlock(&all->lock);
    return t != NULL;
}
