#include "server/quota_keeper.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/idiom.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "net/workers.h"
#include "server/core/chore.h"
#include "server/object/stored.h"
#include "server/registry/quota_count.h"
#include "base/banned.h"

#define LOOK_NS NS_PER_SEC
#define ALL_NS  (300 * NS_PER_SEC) /* as upstream */

/* A namespace that has quotas. */
struct kept {
    struct kept *next; /* to be counted */
    bool is_queued;
    bool is_late;    /* somebody was faster; to be counted later */
    bool has_failed; /* it is known already that it cannot be counted */
    size_t n;
    char name[];
};

struct quota_keeper {
    struct work work;
    struct api *api;
    struct chore *chore;
    int64_t all_ns;       /* when all were last queued; used by the chore only */
    pthread_mutex_t lock; /* of what follows */
    struct map by_name;
    struct kept *first, **last; /* to be counted */
    bool is_running;            /* or will soon be */
};

/* ---- Which are to be counted; with the lock ---- */

static struct str name_of(const struct kept *k)
{
    return (struct str){ k->name, k->n };
}

static void enqueue(struct quota_keeper *k, struct kept *ns)
{
    ns->is_late = false;
    if (ns->is_queued)
        return;
    ns->is_queued = true;
    ns->next = NULL;
    *k->last = ns;
    k->last = &ns->next;
}

static struct kept *dequeue(struct quota_keeper *k)
{
    struct kept *ns = k->first;
    if (!ns)
        return NULL;
    k->first = ns->next;
    if (!k->first)
        k->last = &k->first;
    ns->is_queued = false;
    return ns;
}

static struct kept *find_or_add(struct quota_keeper *k, struct str name)
{
    struct kept *ns = map_get(&k->by_name, name);
    if (ns)
        return ns;
    ns = mem_zalloc(sizeof(*ns) + name.n);
    memcpy(ns->name, name.p, name.n);
    ns->n = name.n;
    (void)map_set(&k->by_name, name_of(ns), ns);
    return ns;
}

/* ---- Counting ---- */

/* After it was counted; the lock is free. */
static void settle(struct quota_keeper *k, struct kept *ns, int result, bool has_any)
{
    pthread_mutex_lock(&k->lock);
    if (result != 0)
        ns->is_late = !ns->is_queued;
    else if (!has_any && !ns->is_queued) {
        (void)map_remove(&k->by_name, name_of(ns));
        free(ns);
    }
    pthread_mutex_unlock(&k->lock);
}

/* Only one thread is here at a time: k->is_running says so. */
static void count_queued(struct quota_keeper *k)
{
    for (;;) {
        pthread_mutex_lock(&k->lock);
        struct kept *ns = dequeue(k);
        k->is_running = ns != NULL;
        pthread_mutex_unlock(&k->lock);
        if (!ns)
            return;
        struct arena a;
        arena_init(&a);
        struct err err = ERR_INIT(&a);
        bool has_any = true;
        int r = quota_count(k->api, name_of(ns), &has_any, &err);
        if (r < 0 && !ns->has_failed)
            log_warn("quotas could not be counted", LOG_STR("namespace", name_of(ns)),
                     LOG_ERR(&err));
        ns->has_failed = r < 0;
        settle(k, ns, r, has_any);
        arena_done(&a);
    }
}

static void run(struct work *w)
{
    count_queued(container_of(w, struct quota_keeper, work));
}

/* ---- When ---- */

/* Whether the caller is the one to count what is queued; with the lock. */
static bool is_mine(struct quota_keeper *k)
{
    if (k->is_running || !k->first)
        return false;
    k->is_running = true;
    return true;
}

/* Has what is queued counted by a worker. */
static void start(struct quota_keeper *k)
{
    if (workers_submit(k->api->workers, &k->work))
        return;
    pthread_mutex_lock(&k->lock);
    k->is_running = false; /* the chore will do it */
    pthread_mutex_unlock(&k->lock);
}

/* Queues one namespace, and has it counted soon. */
static void look(struct quota_keeper *k, struct str name, bool is_new)
{
    pthread_mutex_lock(&k->lock);
    struct kept *ns = is_new ? find_or_add(k, name) : map_get(&k->by_name, name);
    if (ns)
        enqueue(k, ns);
    bool starts = is_mine(k);
    pthread_mutex_unlock(&k->lock);
    if (starts)
        start(k);
}

void quota_keeper_changed(struct api *api, struct str ns)
{
    look(api->quota_keeper, ns, true);
}

void quota_keeper_less_used(struct api *api, struct str ns)
{
    look(api->quota_keeper, ns, false);
}

/* What was late, and sometimes all. */
static void look_through(void *arg) /* thread: worker */
{
    struct quota_keeper *k = arg;
    int64_t now_ns = clock_mono_ns(k->api->clock);
    bool all = now_ns - k->all_ns >= ALL_NS;
    size_t at = 0;
    struct str name;
    void *ns;
    if (all)
        k->all_ns = now_ns;
    pthread_mutex_lock(&k->lock);
    while (map_next(&k->by_name, &at, &name, &ns))
        if (all || ((struct kept *)ns)->is_late)
            enqueue(k, ns);
    bool counts = is_mine(k);
    pthread_mutex_unlock(&k->lock);
    if (counts)
        count_queued(k);
}

/* All namespaces that have quotas. */
static int find_all(struct quota_keeper *k, struct err *err)
{
    const struct kind_resource *quotas = kind_stored_named(STR(""), STR("resourcequotas"));
    struct arena a;
    struct store_snap *snap;
    struct store_entry e;
    int r = store_snap_begin(k->api->store, 0, &snap, err);
    if (r < 0)
        return r;
    arena_init(&a);
    store_range_begin(snap, stored_key(&a, quotas, STR(""), STR("")), STR(""));
    while ((r = store_range_next(snap, &e, err)) == 1 || r == -ERR_DAMAGED) {
        struct str ns, name;
        stored_key_parts(quotas, e.key, &ns, &name);
        enqueue(k, find_or_add(k, ns));
    }
    store_snap_end(snap);
    arena_done(&a);
    return r;
}

int quota_keeper_new(struct api *api, struct loop *loop, struct quota_keeper **ret, struct err *err)
{
    struct quota_keeper *k = mem_new(struct quota_keeper);
    k->api = api;
    k->work.run = run;
    k->last = &k->first;
    k->all_ns = clock_mono_ns(api->clock);
    pthread_mutex_init(&k->lock, NULL);
    int r = find_all(k, err);
    if (r < 0) {
        quota_keeper_free(k);
        return r;
    }
    if (is_mine(k)) /* nobody else knows it yet */
        start(k);
    k->chore = chore_new(loop, api->workers, LOOK_NS, look_through, k);
    *ret = k;
    return 0;
}

struct quota_keeper *quota_keeper_free(struct quota_keeper *k)
{
    size_t at = 0;
    struct str name;
    void *ns;
    if (!k)
        return NULL;
    if (k->chore)
        chore_free(k->chore);
    while (map_next(&k->by_name, &at, &name, &ns)) {
        (void)map_remove(&k->by_name, name);
        free(ns);
    }
    map_done(&k->by_name);
    pthread_mutex_destroy(&k->lock);
    free(k);
    return NULL;
}
