#include "server/expire.h"

#include <pthread.h>
#include <stdlib.h>

#include "api/go/gotime.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/core/chore.h"
#include "server/object/stored.h"
#include "base/banned.h"

#define LOOK_NS (60 * NS_PER_SEC)

enum { PAGE_OBJECTS = 512, AT_ONCE = 64 };

/* ---- When something was written ---- */

/* Uses the monotonic clock, which cannot be set. */
static void take_mark(struct expire_marks *m, struct api *api, int64_t ttl_ns)
{
    int64_t now_ns = clock_mono_ns(api->clock);
    if (m->n && now_ns - m->at[m->n - 1].mono_ns < ttl_ns / (EXPIRE_MARKS / 2))
        return;
    if (m->n == EXPIRE_MARKS) {
        m->n--;
        memmove(m->at, m->at + 1, m->n * sizeof(m->at[0]));
    }
    m->at[m->n].mono_ns = now_ns;
    m->at[m->n++].rev = store_rev(api->store);
}

/* The newest revision that is at least this old; 0 if unknown. */
static uint64_t rev_before(const struct expire_marks *m, int64_t mono_ns)
{
    uint64_t rev = 0;
    for (size_t i = 0; i < m->n && m->at[i].mono_ns <= mono_ns; i++)
        rev = m->at[i].rev;
    return rev;
}

/* ---- What is due ---- */

struct due_before {
    int64_t wall_sec;
    uint64_t rev;
};

/* An event that was never changed says when it was written, and the server wrote that. Of any other
 * it is the revision that says it: what a client has put into it counts for nothing. */
static bool is_due(struct arena *a, const struct store_entry *e, const struct due_before *before)
{
    struct value event;
    struct gotime t;
    if (e->mod_rev != e->create_rev)
        return e->mod_rev <= before->rev;
    if (stored_read_meta(a, e, &event, NULL) < 0)
        return false;
    struct str created = value_str(value_dig(&event, "metadata", "creationTimestamp"));
    return gotime_parse(created, false, &t, NULL) == 0 && t.sec < before->wall_sec;
}

static const struct kind_resource *events(void)
{
    return kind_resource_find(kind_version_find(STR(""), STR("v1")), STR("events"));
}

struct due {
    struct store_op ops[PAGE_OBJECTS];
    size_t n;
};

/* The next page: what of it is due, and where to go on; 1 if there is more. */
static int read_page(struct api *api, struct arena *a, const struct due_before *before,
                     struct buf *start, struct due *ret, struct err *err)
{
    struct store_snap *snap;
    struct store_entry e;
    int r = store_snap_begin(api->store, 0, &snap, err);
    if (r < 0)
        return r;
    size_t looked = 0;
    ret->n = 0;
    store_range_begin(snap, stored_key(a, events(), STR(""), STR("")),
                      arena_str(a, buf_str(start)));
    while (looked < PAGE_OBJECTS) {
        r = store_range_next(snap, &e, err);
        if (r == 0 || (r < 0 && r != -ERR_DAMAGED))
            break;
        looked++;
        buf_reset(start);
        buf_str_add(start, e.key);
        buf_byte(start, '\0');
        if (r > 0 && is_due(a, &e, before))
            ret->ops[ret->n++] = (struct store_op){
                .type = STORE_DELETE,
                .key = arena_str(a, e.key),
                .expect_rev = e.mod_rev, /* an Event that was updated meanwhile stays */
            };
    }
    store_snap_end(snap);
    return r < 0 && r != -ERR_DAMAGED ? r : looked == PAGE_OBJECTS;
}

/* ---- Deleting, many at once, so that they become durable together ---- */

struct gate {
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t passed;
    size_t open, deleted;
};

static void on_done(struct store_txn *t) /* thread: store */
{
    struct gate *g = t->owner;
    pthread_mutex_lock(&g->lock);
    g->open--;
    g->deleted += t->result == 0;
    pthread_cond_signal(&g->passed);
    pthread_mutex_unlock(&g->lock);
}

static size_t delete_due(struct api *api, struct due *due)
{
    struct gate g = { .open = 0 };
    struct store_txn *txns = mem_zalloc(PAGE_OBJECTS * sizeof(*txns));
    pthread_mutex_init(&g.lock, NULL);
    pthread_cond_init(&g.passed, NULL);
    pthread_mutex_lock(&g.lock);
    for (size_t i = 0; i < due->n; i++) {
        while (g.open >= AT_ONCE)
            pthread_cond_wait(&g.passed, &g.lock);
        g.open++;
        txns[i] =
            (struct store_txn){ .ops = &due->ops[i], .n_ops = 1, .done = on_done, .owner = &g };
        pthread_mutex_unlock(&g.lock);
        store_submit(api->store, &txns[i]);
        pthread_mutex_lock(&g.lock);
    }
    while (g.open)
        pthread_cond_wait(&g.passed, &g.lock);
    pthread_mutex_unlock(&g.lock);
    pthread_mutex_destroy(&g.lock);
    pthread_cond_destroy(&g.passed);
    free(txns);
    return g.deleted;
}

size_t expire_run(struct api *api, struct expire_marks *marks, int64_t ttl_ns)
{
    struct arena a;
    arena_init(&a);
    autobuf start = { 0 };
    autofree struct due *due = mem_new(struct due);
    take_mark(marks, api, ttl_ns);
    struct due_before before = {
        .wall_sec = (clock_wall_ns(api->clock) - ttl_ns) / NS_PER_SEC,
        .rev = rev_before(marks, clock_mono_ns(api->clock) - ttl_ns),
    };
    size_t deleted = 0;
    int more = 1;
    while (more > 0) {
        struct err err = ERR_INIT(&a);
        more = read_page(api, &a, &before, &start, due, &err);
        if (more >= 0)
            deleted += delete_due(api, due);
        else
            log_warn("expired events could not be removed", LOG_STR("error", err.msg));
        arena_reset(&a);
    }
    arena_done(&a);
    return deleted;
}

/* ---- From time to time ---- */

struct expire {
    struct api *api;
    int64_t ttl_ns;
    struct expire_marks marks; /* used by the running chore only */
    struct chore *chore;
};

static void look_through(void *arg) /* thread: worker */
{
    struct expire *x = arg;
    (void)expire_run(x->api, &x->marks, x->ttl_ns);
}

struct expire *expire_new(struct api *api, struct loop *loop, int64_t ttl_ns)
{
    struct expire *x = mem_new(struct expire);
    x->api = api;
    x->ttl_ns = ttl_ns ? ttl_ns : EXPIRE_EVENT_NS;
    x->chore = chore_new(loop, api->workers, LOOK_NS, look_through, x);
    return x;
}

struct expire *expire_free(struct expire *x)
{
    if (!x)
        return NULL;
    chore_free(x->chore);
    free(x);
    return NULL;
}
