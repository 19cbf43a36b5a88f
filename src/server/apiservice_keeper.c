#include "server/apiservice_keeper.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/idiom.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "net/workers.h"
#include "server/apiservice/apiservice_explore.h"
#include "server/apiservice_check.h"
#include "server/bootstrap_apiservice.h"
#include "server/bootstrap_object.h"
#include "server/core/chore.h"
#include "server/custom/custom.h"
#include "server/registry/managers.h"
#include "base/banned.h"

#define LOOK_NS NS_PER_SEC
#define GOOD_NS (30 * NS_PER_SEC) /* as upstream */

/* One that somebody else serves. */
struct kept {
    struct work work;
    struct apiservice_keeper *keeper;
    int64_t due_ns;
    unsigned failures;
    bool is_running;
    bool is_wanted; /* something has changed since it was last begun */
    size_t n;
    char name[];
};

struct apiservice_keeper {
    struct work work; /* those of custom kinds */
    struct api *api;
    struct chore *chore;
    pthread_mutex_t lock; /* of what follows */
    struct map by_name;   /* of kept */
    bool is_running;      /* a worker is at those of custom kinds */
    bool is_wanted;       /* and something has changed since it began */
};

static struct str name_of(const struct kept *s)
{
    return (struct str){ s->name, s->n };
}

static struct call own_call(struct apiservice_keeper *k, struct arena *a)
{
    return bootstrap_call(k->api, a, STR("apiregistration.k8s.io"), STR("apiservices"), STR(""));
}

/* ---- Servers of others ---- */

/* True if it answers. */
static bool look_at(struct apiservice_keeper *k, const struct apiservice *s)
{
    struct arena a;
    arena_init(&a);
    struct call c = own_call(k, &a);
    struct err err = ERR_INIT(&a);
    struct apiservice_verdict v;
    apiservice_check(&c, s, &v);
    apiservice_explore(k->api->apiservices, &a, s, v.address);
    if (apiservice_note(&c, s, &v, &err) < 0)
        log_warn("the status of an APIService could not be written", LOG_STR("name", s->name),
                 LOG_ERR(&err));
    bool is_good = v.address.n > 0;
    arena_done(&a);
    return is_good;
}

/* With the lock: whether the caller is to have it looked at. Else somebody is at it, and will look
 * again. */
static bool begins(struct kept *s)
{
    s->is_wanted = s->is_running;
    s->is_running = true;
    return !s->is_wanted;
}

/* After begins(). */
static void submit(struct kept *s)
{
    struct apiservice_keeper *k = s->keeper;
    if (workers_submit(k->api->hook_workers, &s->work))
        return;
    pthread_mutex_lock(&k->lock);
    s->is_running = false; /* the chore will try again */
    pthread_mutex_unlock(&k->lock);
}

static int64_t pause_after(unsigned failures)
{
    enum { DOUBLINGS = 5 };
    int64_t ns = NS_PER_SEC << (failures < DOUBLINGS ? failures : DOUBLINGS);
    return failures && ns < GOOD_NS ? ns : GOOD_NS;
}

/* With the lock, after it was looked at. False: it is no more, and the caller's. */
static bool put_back(struct kept *s, bool is_there, bool is_good)
{
    s->is_running = false;
    if (!is_there && !s->is_wanted) {
        (void)map_remove(&s->keeper->by_name, name_of(s));
        return false;
    }
    s->failures = is_good ? 0 : s->failures + 1;
    s->due_ns = clock_mono_ns(s->keeper->api->clock) + pause_after(s->failures);
    return true;
}

static void run(struct work *w) /* thread: a worker that may wait */
{
    struct kept *s = container_of(w, struct kept, work);
    struct apiservice_keeper *k = s->keeper;
    struct apiservice *service = apiservices_named(k->api->apiservices, name_of(s));
    bool is_there = service && !apiservice_is_local(service);
    bool is_good = is_there && look_at(k, service);
    apiservice_unref(service);
    pthread_mutex_lock(&k->lock);
    bool stays = put_back(s, is_there, is_good);
    bool again = stays && s->is_wanted && begins(s);
    pthread_mutex_unlock(&k->lock);
    if (!stays)
        free(s);
    else if (again)
        submit(s);
}

/* With the lock. */
static struct kept *find_or_add(struct apiservice_keeper *k, struct str name)
{
    struct kept *s = map_get(&k->by_name, name);
    if (s)
        return s;
    s = mem_zalloc(sizeof(*s) + name.n);
    memcpy(s->name, name.p, name.n);
    s->n = name.n;
    s->keeper = k;
    s->work.run = run;
    (void)map_set(&k->by_name, name_of(s), s);
    return s;
}

static void look_soon(struct apiservice_keeper *k, struct str name)
{
    pthread_mutex_lock(&k->lock);
    struct kept *s = find_or_add(k, name);
    bool mine = begins(s);
    pthread_mutex_unlock(&k->lock);
    if (mine)
        submit(s);
}

/* Those whose Service is in the namespace; without one all that are not served here. */
static void look_at_all(struct apiservice_keeper *k, struct str ns)
{
    size_t n;
    struct apiservice **all = apiservices_list(k->api->apiservices, &n);
    for (size_t i = 0; i < n; i++) {
        if (!apiservice_is_local(all[i]) && (!ns.n || str_eq(all[i]->service_ns, ns)))
            look_soon(k, all[i]->name);
        apiservice_unref(all[i]);
    }
    free(all);
}

/* ---- Those of custom kinds ---- */

static bool is_served(struct custom *const *customs, size_t n, const struct apiservice *s)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(customs[i]->group, s->group) && custom_served(customs[i], s->version))
            return true;
    return false;
}

static int remove_one(struct call *c, struct str name, struct err *err)
{
    const struct delete_options options = { .grace = -1 };
    struct value obj;
    bool gone;
    int r = registry_delete(c, name, &options, &obj, &gone, err);
    return r == -ERR_NOT_FOUND ? 0 : r;
}

static int add_one(struct call *c, const struct custom_version *v, struct err *err)
{
    enum { GROUP_PRIORITY = 1000, VERSION_PRIORITY = 100 };
    struct value obj = bootstrap_apiservice_of(c->arena, v->of->group, v->resource.version,
                                               GROUP_PRIORITY, VERSION_PRIORITY, STR("true"));
    managers_update(c, managers_own_request(c, STR("")), NULL, &obj);
    int r = registry_create(c, false, &obj, err);
    return r == -ERR_EXISTS ? 0 : r;
}

static int add_missing(struct call *c, const struct custom *custom, struct err *err)
{
    for (size_t i = 0; i < custom->n_versions; i++) {
        const struct custom_version *v = &custom->versions[i];
        struct apiservice *there =
            v->served ? apiservices_find(c->api->apiservices, custom->group, v->resource.version)
                      : NULL;
        int r = !v->served || there ? 0 : add_one(c, v, err);
        apiservice_unref(there);
        if (r < 0)
            return r;
    }
    return 0;
}

static int remove_surplus(struct call *c, struct custom *const *customs, size_t n_customs,
                          struct err *err)
{
    size_t n;
    struct apiservice **all = apiservices_list(c->api->apiservices, &n);
    int r = 0;
    for (size_t i = 0; i < n; i++) {
        bool goes =
            r == 0 && all[i]->care == APISERVICE_KEPT && !is_served(customs, n_customs, all[i]);
        r = goes ? remove_one(c, all[i]->name, err) : r;
        apiservice_unref(all[i]);
    }
    free(all);
    return r;
}

static int follow(struct call *c, struct custom *const *customs, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        int r = add_missing(c, customs[i], err);
        if (r < 0)
            return r;
    }
    return remove_surplus(c, customs, n, err);
}

static void follow_definitions(struct apiservice_keeper *k)
{
    struct arena a;
    size_t n;
    arena_init(&a);
    struct call c = own_call(k, &a);
    struct err err = ERR_INIT(&a);
    struct custom **customs = custom_list(k->api->custom, &n);
    if (follow(&c, customs, n, &err) < 0)
        log_warn("APIServices of custom kinds could not be written", LOG_ERR(&err));
    for (size_t i = 0; i < n; i++)
        custom_unref(customs[i]);
    free(customs);
    arena_done(&a);
}

/* Only one thread is here at a time: k->is_running says so. */
static void run_definitions(struct work *w) /* thread: worker */
{
    struct apiservice_keeper *k = container_of(w, struct apiservice_keeper, work);
    bool again = true;
    while (again) {
        pthread_mutex_lock(&k->lock);
        k->is_wanted = false;
        pthread_mutex_unlock(&k->lock);
        follow_definitions(k);
        pthread_mutex_lock(&k->lock);
        again = k->is_wanted;
        k->is_running = again;
        pthread_mutex_unlock(&k->lock);
    }
}

/* Where no worker is free now, the chore has it done. */
static void follow_soon(struct apiservice_keeper *k)
{
    pthread_mutex_lock(&k->lock);
    bool mine = !k->is_running;
    k->is_running = k->is_wanted = true;
    pthread_mutex_unlock(&k->lock);
    if (!mine || workers_submit(k->api->workers, &k->work))
        return;
    pthread_mutex_lock(&k->lock);
    k->is_running = false;
    pthread_mutex_unlock(&k->lock);
}

/* ---- When ---- */

void apiservice_keeper_changed(struct api *api, struct str name)
{
    struct apiservice *s = apiservices_named(api->apiservices, name);
    if (s && !apiservice_is_local(s))
        look_soon(api->apiservice_keeper, name);
    apiservice_unref(s);
}

void apiservice_keeper_service_changed(struct api *api, struct str ns)
{
    look_at_all(api->apiservice_keeper, ns);
}

void apiservice_keeper_definition_changed(struct api *api)
{
    follow_soon(api->apiservice_keeper);
}

/* The next one that is due, which is the caller's to look at; NULL: none. */
static struct kept *next_due(struct apiservice_keeper *k, int64_t now_ns)
{
    size_t pos = 0;
    struct str name;
    void *p;
    struct kept *due = NULL;
    pthread_mutex_lock(&k->lock);
    while (!due && map_next(&k->by_name, &pos, &name, &p)) {
        struct kept *s = p;
        due = !s->is_running && s->due_ns <= now_ns ? s : NULL;
    }
    if (due)
        (void)begins(due);
    pthread_mutex_unlock(&k->lock);
    return due;
}

static void look_through(void *arg) /* thread: worker */
{
    struct apiservice_keeper *k = arg;
    int64_t now_ns = clock_mono_ns(k->api->clock);
    struct kept *s;
    while ((s = next_due(k, now_ns))) {
        s->due_ns = now_ns + GOOD_NS; /* if it cannot be begun now */
        submit(s);
    }
    pthread_mutex_lock(&k->lock);
    bool follows = k->is_wanted && !k->is_running;
    pthread_mutex_unlock(&k->lock);
    if (follows)
        follow_soon(k);
}

struct apiservice_keeper *apiservice_keeper_new(struct api *api, struct loop *loop)
{
    struct apiservice_keeper *k = mem_new(struct apiservice_keeper);
    k->api = api;
    k->work.run = run_definitions;
    pthread_mutex_init(&k->lock, NULL);
    k->chore = chore_new(loop, api->workers, LOOK_NS, look_through, k);
    look_at_all(k, STR(""));
    follow_soon(k);
    return k;
}

struct apiservice_keeper *apiservice_keeper_free(struct apiservice_keeper *k)
{
    size_t pos = 0;
    struct str name;
    void *p;
    if (!k)
        return NULL;
    chore_free(k->chore);
    while (map_next(&k->by_name, &pos, &name, &p)) {
        (void)map_remove(&k->by_name, name);
        free(p);
    }
    map_done(&k->by_name);
    pthread_mutex_destroy(&k->lock);
    free(k);
    return NULL;
}
