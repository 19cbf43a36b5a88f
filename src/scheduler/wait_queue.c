#include "scheduler/wait_queue.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/banned.h"

static const int64_t longest_wait = 300 * NS_PER_SEC;

/* ---- Heaps ---- */

typedef bool before_fn(const struct sched_pod *a, const struct sched_pod *b);

static bool is_active_before(const struct sched_pod *a, const struct sched_pod *b)
{
    if (a->f->priority != b->f->priority)
        return a->f->priority > b->f->priority;
    return a->since_ns < b->since_ns;
}

static bool is_due_before(const struct sched_pod *a, const struct sched_pod *b)
{
    if (a->had_error != b->had_error)
        return !a->had_error; /* those who may come early are first */
    return a->due_ns < b->due_ns;
}

static void put_at(struct pod_heap *h, size_t i, struct sched_pod *p)
{
    h->items[i] = p;
    p->heap_at = i;
}

static void sift_up(struct pod_heap *h, size_t i, before_fn *before)
{
    struct sched_pod *p = h->items[i];
    for (; i && before(p, h->items[(i - 1) / 2]); i = (i - 1) / 2)
        put_at(h, i, h->items[(i - 1) / 2]);
    put_at(h, i, p);
}

static void sift_down(struct pod_heap *h, size_t i, before_fn *before)
{
    struct sched_pod *p = h->items[i];
    for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
        if (child + 1 < h->n && before(h->items[child + 1], h->items[child]))
            child++;
        if (!before(h->items[child], p))
            break;
        put_at(h, i, h->items[child]);
    }
    put_at(h, i, p);
}

static void append(struct pod_heap *h, struct sched_pod *p)
{
    if (h->n == h->cap) {
        h->cap = h->cap ? h->cap * 2 : 64;
        h->items = mem_resize(h->items, h->cap, sizeof(struct sched_pod *));
    }
    put_at(h, h->n++, p);
}

static void take_out(struct pod_heap *h, struct sched_pod *p, before_fn *before)
{
    size_t i = p->heap_at;
    struct sched_pod *last = h->items[--h->n];
    if (last == p)
        return;
    put_at(h, i, last);
    if (before) {
        sift_up(h, i, before);
        sift_down(h, last->heap_at, before);
    }
}

/* ---- Moving ---- */

void wait_queue_done(struct wait_queue *q)
{
    free(q->active.items);
    free(q->backing_off.items);
    free(q->waiting.items);
    q->active = q->backing_off = q->waiting = (struct pod_heap){ 0 };
}

void wait_queue_remove(struct wait_queue *q, struct sched_pod *p)
{
    if (p->queued == POD_ACTIVE)
        take_out(&q->active, p, is_active_before);
    else if (p->queued == POD_BACKING_OFF)
        take_out(&q->backing_off, p, is_due_before);
    else if (p->queued == POD_WAITING)
        take_out(&q->waiting, p, NULL);
    p->queued = POD_NOWHERE;
}

static void activate(struct wait_queue *q, struct sched_pod *p)
{
    wait_queue_remove(q, p);
    p->queued = POD_ACTIVE;
    append(&q->active, p);
    sift_up(&q->active, p->heap_at, is_active_before);
}

static void back_off(struct wait_queue *q, struct sched_pod *p, int64_t now_ns)
{
    if (p->due_ns <= now_ns) {
        activate(q, p);
        return;
    }
    wait_queue_remove(q, p);
    p->queued = POD_BACKING_OFF;
    append(&q->backing_off, p);
    sift_up(&q->backing_off, p->heap_at, is_due_before);
}

void wait_queue_add(struct wait_queue *q, struct sched_pod *p, int64_t now_ns)
{
    if (p->queued == POD_NOWHERE || p->queued == POD_GATED)
        p->since_ns = now_ns;
    if (p->f->is_gated) {
        wait_queue_remove(q, p);
        p->queued = POD_GATED;
        return;
    }
    activate(q, p);
}

static int64_t pause_of(const struct wait_queue *q, const struct sched_pod *p)
{
    int64_t pause = q->first_pause_ns;
    for (unsigned i = 1; i < p->attempts && pause < q->longest_pause_ns; i++)
        pause *= 2;
    return pause < q->longest_pause_ns ? pause : q->longest_pause_ns;
}

void wait_queue_fail(struct wait_queue *q, struct sched_pod *p, uint32_t rejected_by,
                     bool had_error, int64_t now_ns)
{
    wait_queue_remove(q, p);
    p->since_ns = now_ns;
    p->due_ns = now_ns + pause_of(q, p);
    p->rejected_by = rejected_by;
    p->had_error = had_error;
    if (had_error) {
        back_off(q, p, now_ns);
        return;
    }
    p->queued = POD_WAITING;
    append(&q->waiting, p);
}

static bool may_help(const struct sched_pod *p, uint32_t plugins, wait_hint_fn *hint, void *arg)
{
    uint32_t both = p->rejected_by ? p->rejected_by & plugins : plugins;
    for (int i = 0; both >> i; i++)
        if ((both >> i & 1) && (!hint || !p->rejected_by || hint(arg, p, i)))
            return true;
    return false;
}

bool wait_queue_wake(struct wait_queue *q, uint32_t plugins, wait_hint_fn *hint, void *arg,
                     int64_t now_ns)
{
    bool any = false;
    for (size_t i = q->waiting.n; i-- > 0;) {
        struct sched_pod *p = q->waiting.items[i];
        if (!may_help(p, plugins, hint, arg))
            continue;
        if (p->is_preempting) {
            p->was_woken = true;
            continue;
        }
        back_off(q, p, now_ns);
        any = true;
    }
    return any;
}

void wait_queue_preempted(struct wait_queue *q, struct sched_pod *p, bool retry, int64_t now_ns)
{
    p->is_preempting = false;
    if ((retry || p->was_woken) && p->queued == POD_WAITING)
        back_off(q, p, now_ns);
    p->was_woken = false;
}

/* ---- The next one ---- */

static void flush(struct wait_queue *q, int64_t now_ns)
{
    for (size_t i = q->backing_off.n; i-- > 0;)
        if (i < q->backing_off.n && q->backing_off.items[i]->due_ns <= now_ns)
            activate(q, q->backing_off.items[i]);
    for (size_t i = q->waiting.n; i-- > 0;)
        if (now_ns - q->waiting.items[i]->since_ns > longest_wait)
            back_off(q, q->waiting.items[i], now_ns);
}

static int64_t next_due(const struct wait_queue *q)
{
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < q->backing_off.n; i++)
        if (q->backing_off.items[i]->due_ns < next)
            next = q->backing_off.items[i]->due_ns;
    for (size_t i = 0; i < q->waiting.n; i++)
        if (q->waiting.items[i]->since_ns + longest_wait + 1 < next)
            next = q->waiting.items[i]->since_ns + longest_wait + 1;
    return next;
}

struct sched_pod *wait_queue_pop(struct wait_queue *q, int64_t now_ns, int64_t *ret_next_ns)
{
    if (!q->active.n)
        flush(q, now_ns);
    struct sched_pod *p = q->active.n ? q->active.items[0] : NULL;
    if (!p && q->backing_off.n && !q->backing_off.items[0]->had_error)
        p = q->backing_off.items[0];
    if (!p) {
        *ret_next_ns = next_due(q);
        return NULL;
    }
    wait_queue_remove(q, p);
    p->attempts++;
    return p;
}
