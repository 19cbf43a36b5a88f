#include "server/flow/flow_level.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "base/banned.h"

enum { CACHE_LINE = 64 };

struct flow_level {
    char *name;
    size_t name_n;
    pthread_mutex_t lock; /* over the queues */
    struct flow_queues *queues;
    bool has_queues; /* else nobody new waits */
    atomic_bool is_exempt;
    atomic_uint seats;
    /* What every request touches, apart from the rest. */
    char before[CACHE_LINE];
    atomic_uint used, n_waiting;
    char behind[CACHE_LINE];
};

struct flow_level *flow_level_new(struct str name, int64_t now_ns)
{
    struct flow_level *l = mem_new(struct flow_level);
    l->name = mem_dup(name.p, name.n);
    l->name_n = name.n;
    pthread_mutex_init(&l->lock, NULL);
    l->queues = flow_queues_new(now_ns);
    return l;
}

struct flow_level *flow_level_free(struct flow_level *l)
{
    if (!l)
        return NULL;
    flow_queues_free(l->queues);
    pthread_mutex_destroy(&l->lock);
    free(l->name);
    free(l);
    return NULL;
}

struct str flow_level_name(const struct flow_level *l)
{
    return (struct str){ l->name, l->name_n };
}

/* ---- Seats ---- */

/* What needs more seats than there are goes alone. */
static bool has_room(unsigned used, unsigned seats, unsigned limit)
{
    return seats > limit ? used == 0 : used <= limit - seats;
}

static bool take_seats(struct flow_level *l, uint32_t seats)
{
    unsigned limit = atomic_load_explicit(&l->seats, memory_order_relaxed);
    unsigned used = atomic_load(&l->used);
    while (has_room(used, seats, limit))
        if (atomic_compare_exchange_weak(&l->used, &used, used + seats))
            return true;
    return false;
}

bool flow_level_try(struct flow_level *l, uint32_t seats)
{
    if (atomic_load_explicit(&l->is_exempt, memory_order_relaxed)) {
        atomic_fetch_add(&l->used, seats);
        return true;
    }
    return !atomic_load(&l->n_waiting) && take_seats(l, seats);
}

/* The queues share what is not taken by those who came without waiting. If that was all, the time
 * in which nobody of the queues could be served counts for nobody. */
static void set_queued_seats(struct flow_level *l, int64_t now_ns)
{
    size_t queued = flow_queues_seats_in_use(l->queues), used = atomic_load(&l->used),
           outside = used > queued ? used - queued : 0, seats = atomic_load(&l->seats);
    flow_queues_set_seats(l->queues, seats > outside ? seats - outside : 0, now_ns);
}

/* Takes out those who can go now. The lock is held; tell_all() follows without it. */
static struct flow_waiter *let_go(struct flow_level *l, int64_t now_ns)
{
    struct flow_waiter *first = NULL, **end = &first;
    struct flow_entry *e;
    while ((e = flow_queues_next(l->queues, now_ns)) &&
           (l->is_exempt || take_seats(l, flow_work_seats(&e->work)))) {
        if (l->is_exempt)
            atomic_fetch_add(&l->used, flow_work_seats(&e->work));
        struct flow_waiter *w = container_of(e, struct flow_waiter, entry);
        flow_queues_take(l->queues, e, now_ns);
        atomic_fetch_sub(&l->n_waiting, 1);
        w->next = NULL;
        *end = w;
        end = &w->next;
    }
    set_queued_seats(l, now_ns);
    return first;
}

/* Each may be gone as soon as it is told. */
static void tell_all(struct flow_waiter *first)
{
    for (struct flow_waiter *w = first, *next; w; w = next) {
        next = w->next;
        w->go(w);
    }
}

static void look_again(struct flow_level *l, int64_t now_ns)
{
    pthread_mutex_lock(&l->lock);
    struct flow_waiter *gone = let_go(l, now_ns);
    pthread_mutex_unlock(&l->lock);
    tell_all(gone);
}

/* Who begins to wait says so before he looks for seats, and who gives some back does so before he
 * looks for those who wait: one of them sees the other. */
void flow_level_give(struct flow_level *l, uint32_t seats, int64_t now_ns)
{
    atomic_fetch_sub(&l->used, seats);
    if (atomic_load(&l->n_waiting))
        look_again(l, now_ns);
}

/* ---- Waiting ---- */

/* Takes one out of the list; false if it is not there. */
static bool list_drop(struct flow_waiter **first, const struct flow_waiter *w)
{
    for (struct flow_waiter **at = first; *at; at = &(*at)->next)
        if (*at == w) {
            *at = w->next;
            return true;
        }
    return false;
}

static enum flow_answer enqueue(struct flow_level *l, struct flow_waiter *w, uint64_t hash,
                                int64_t now_ns)
{
    if (!l->has_queues)
        return take_seats(l, flow_work_seats(&w->entry.work)) ? FLOW_GOES : FLOW_NO_SEAT;
    bool is_busy = atomic_load(&l->used) >= atomic_load(&l->seats);
    if (!flow_queues_add(l->queues, &w->entry, hash, is_busy, now_ns))
        return FLOW_QUEUE_FULL;
    atomic_fetch_add(&l->n_waiting, 1);
    return FLOW_WAITS;
}

enum flow_answer flow_level_wait(struct flow_level *l, struct flow_waiter *w, uint64_t hash,
                                 int64_t now_ns)
{
    struct flow_waiter *gone = NULL;
    w->entry.queue = NULL;
    pthread_mutex_lock(&l->lock);
    enum flow_answer answer = enqueue(l, w, hash, now_ns);
    if (answer == FLOW_WAITS) {
        gone = let_go(l, now_ns);
        if (list_drop(&gone, w))
            answer = FLOW_GOES;
    }
    pthread_mutex_unlock(&l->lock);
    tell_all(gone);
    return answer;
}

/* It may have held up those behind it. */
bool flow_level_withdraw(struct flow_level *l, struct flow_waiter *w, int64_t now_ns)
{
    struct flow_waiter *gone = NULL;
    pthread_mutex_lock(&l->lock);
    bool waits = w->entry.waits;
    if (waits) {
        flow_queues_remove(l->queues, &w->entry, now_ns);
        atomic_fetch_sub(&l->n_waiting, 1);
        gone = let_go(l, now_ns);
    }
    pthread_mutex_unlock(&l->lock);
    tell_all(gone);
    return waits;
}

void flow_level_over(struct flow_level *l, struct flow_waiter *w, int64_t now_ns)
{
    uint32_t seats = flow_work_seats(&w->entry.work);
    if (!w->entry.queue) { /* it never was in one */
        if (!w->entry.work.extra_ns)
            flow_level_give(l, seats, now_ns);
        return;
    }
    pthread_mutex_lock(&l->lock);
    flow_queues_over(l->queues, &w->entry, now_ns);
    if (!w->entry.work.extra_ns)
        atomic_fetch_sub(&l->used, seats);
    struct flow_waiter *gone = let_go(l, now_ns);
    pthread_mutex_unlock(&l->lock);
    tell_all(gone);
}

void flow_level_leave(struct flow_level *l, struct flow_waiter *w, int64_t now_ns)
{
    pthread_mutex_lock(&l->lock);
    if (w->entry.queue)
        flow_queues_leave(l->queues, &w->entry, now_ns);
    atomic_fetch_sub(&l->used, flow_work_seats(&w->entry.work));
    struct flow_waiter *gone = let_go(l, now_ns);
    pthread_mutex_unlock(&l->lock);
    tell_all(gone);
}

/* ---- Setting and looking ---- */

void flow_level_set_seats(struct flow_level *l, uint32_t seats, int64_t now_ns)
{
    pthread_mutex_lock(&l->lock);
    atomic_store(&l->seats, seats);
    struct flow_waiter *gone = let_go(l, now_ns);
    pthread_mutex_unlock(&l->lock);
    tell_all(gone);
}

void flow_level_set(struct flow_level *l, const struct flow_level_spec *spec, uint32_t seats,
                    int64_t now_ns)
{
    pthread_mutex_lock(&l->lock);
    atomic_store(&l->is_exempt, spec->is_exempt);
    l->has_queues = spec->n_queues > 0;
    if (l->has_queues)
        flow_queues_set(l->queues, spec->n_queues, spec->hand_size, spec->length);
    pthread_mutex_unlock(&l->lock);
    flow_level_set_seats(l, seats, now_ns);
}

struct flow_level_state flow_level_look(struct flow_level *l)
{
    pthread_mutex_lock(&l->lock);
    const struct flow_level_state s = {
        .is_exempt = atomic_load(&l->is_exempt),
        .seats = atomic_load(&l->seats),
        .seats_used = atomic_load(&l->used),
        .seats_waiting = (uint32_t)flow_queues_seats_waiting(l->queues),
        .n_waiting = flow_queues_waiting(l->queues),
        .n_active_queues = flow_queues_active(l->queues),
    };
    pthread_mutex_unlock(&l->lock);
    return s;
}

bool flow_level_place(struct flow_level *l, const struct flow_waiter *w, size_t *ret_queue,
                      int *ret_place)
{
    pthread_mutex_lock(&l->lock);
    bool was_queued = w->entry.queue;
    if (was_queued)
        flow_queues_place(l->queues, &w->entry, ret_queue, ret_place);
    pthread_mutex_unlock(&l->lock);
    return was_queued;
}

void flow_level_dump_queues(struct flow_level *l, struct buf *out)
{
    pthread_mutex_lock(&l->lock);
    flow_queues_dump(l->queues, flow_level_name(l), out);
    pthread_mutex_unlock(&l->lock);
}
