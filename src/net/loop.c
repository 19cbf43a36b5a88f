/* loop.c - epoll, a heap of timers, and a mailbox.
 *
 * A turn: wait, run the mailbox, the descriptors that are ready, the timers that are due, one piece
 * of what takes long, then what was deferred. An event names its descriptor by slot and generation,
 * so an event that was fetched before its descriptor was removed has no effect, even if the slot
 * has a new owner.
 *
 * The mailbox is a lock-free stack that the loop takes whole and turns round. Only the post that
 * finds it empty wakes the loop, so a burst costs one write.
 *
 * With an injected clock the loop still sleeps in real time: a test that moves the clock posts
 * something, so that the loop looks at it. */
#include "net/loop.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/banned.h"

enum {
    EVENTS_PER_TURN = 256,
    HEAP_ARITY = 4, /* shallower than a binary heap: fewer cache lines touched per move */
};

#define MAILBOX_TAG UINT64_MAX /* epoll data of the mailbox; no slot number gets that high */

struct slot {
    struct loop_fd *f; /* NULL: free */
    uint32_t generation;
    uint32_t next_free; /* index + 1; 0 ends the list */
};

struct loop {
    const struct clock *clock;
    int64_t now_ns;
    int epoll_fd, wake_fd;
    _Atomic(void *) owner; /* marks the running thread; NULL when none runs */
    atomic_bool stopping;

    struct slot *slots;
    uint32_t n_slots, free_slot;

    struct loop_timer **heap;
    size_t n_timers, heap_cap;

    struct loop_msg *deferred, **deferred_end;
    struct loop_msg *later, **later_end; /* one a turn */
    _Atomic(struct loop_msg *) mailbox;  /* newest first */
};

/* Its address tells threads apart. */
static _Thread_local char thread_mark;

struct loop *loop_new(const struct clock *clock, struct err *err)
{
    autoclose int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    autoclose int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event wake = { .events = EPOLLIN, .data.u64 = MAILBOX_TAG };
    if (epoll_fd < 0 || wake_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, wake_fd, &wake) < 0) {
        (void)err_errno(err, errno, "make an event loop");
        return NULL;
    }
    struct loop *l = mem_new(struct loop);
    l->clock = clock ? clock : &clock_system;
    l->now_ns = clock_mono_ns(l->clock);
    l->epoll_fd = take_fd(&epoll_fd);
    l->wake_fd = take_fd(&wake_fd);
    l->deferred_end = &l->deferred;
    l->later_end = &l->later;
    return l;
}

int64_t loop_now_ns(const struct loop *l)
{
    return l->now_ns;
}

bool loop_is_mine(const struct loop *l)
{
    return atomic_load_explicit(&l->owner, memory_order_relaxed) == &thread_mark;
}

void loop_assert_owner(const struct loop *l)
{
    void *owner = atomic_load_explicit(&l->owner, memory_order_relaxed);
    assert(!owner || owner == &thread_mark);
    (void)owner;
}

/* ---- Descriptors ---- */

static uint32_t slot_take(struct loop *l)
{
    if (!l->free_slot) {
        uint32_t old_n = l->n_slots;
        l->n_slots = old_n ? old_n * 2 : 64;
        l->slots = mem_resize(l->slots, l->n_slots, sizeof(*l->slots));
        for (uint32_t i = l->n_slots; i-- > old_n;) {
            l->slots[i] = (struct slot){ .next_free = l->free_slot };
            l->free_slot = i + 1;
        }
    }
    uint32_t i = l->free_slot - 1;
    l->free_slot = l->slots[i].next_free;
    return i;
}

static void slot_give(struct loop *l, uint32_t i)
{
    struct slot *s = &l->slots[i];
    s->f = NULL;
    s->generation++;
    s->next_free = l->free_slot;
    l->free_slot = i + 1;
}

static struct epoll_event slot_event(const struct loop *l, uint32_t i, uint32_t events)
{
    uint64_t tag = (uint64_t)l->slots[i].generation << 32 | i;
    return (struct epoll_event){ .events = events, .data.u64 = tag };
}

int loop_fd_add(struct loop *l, struct loop_fd *f, struct err *err)
{
    loop_assert_owner(l);
    uint32_t i = slot_take(l);
    struct epoll_event ev = slot_event(l, i, f->events);
    if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, f->fd, &ev) < 0) {
        slot_give(l, i);
        return err_errno(err, errno, "watch a descriptor");
    }
    l->slots[i].f = f;
    f->loop = l;
    f->slot = i;
    return 0;
}

void loop_fd_want(struct loop_fd *f, uint32_t events)
{
    if (f->events == events)
        return;
    loop_assert_owner(f->loop);
    f->events = events;
    struct epoll_event ev = slot_event(f->loop, f->slot, events);
    int r = epoll_ctl(f->loop->epoll_fd, EPOLL_CTL_MOD, f->fd, &ev);
    assert(r == 0);
    (void)r;
}

void loop_fd_remove(struct loop_fd *f)
{
    struct loop *l = f->loop;
    if (!l)
        return;
    loop_assert_owner(l);
    (void)epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, f->fd, NULL);
    slot_give(l, f->slot);
    f->loop = NULL;
}

static void dispatch(struct loop *l, const struct epoll_event *ev)
{
    if (ev->data.u64 == MAILBOX_TAG)
        return; /* run_mailbox() has seen to it */
    const struct slot *s = &l->slots[(uint32_t)ev->data.u64];
    if (s->f && s->generation == ev->data.u64 >> 32)
        s->f->on_ready(s->f, ev->events);
}

/* ---- Timers ---- */

static void heap_put(struct loop *l, size_t i, struct loop_timer *t)
{
    l->heap[i] = t;
    t->slot = i;
}

static void heap_up(struct loop *l, size_t i, struct loop_timer *t)
{
    while (i > 0) {
        size_t parent = (i - 1) / HEAP_ARITY;
        if (l->heap[parent]->at_ns <= t->at_ns)
            break;
        heap_put(l, i, l->heap[parent]);
        i = parent;
    }
    heap_put(l, i, t);
}

static size_t heap_least_child(const struct loop *l, size_t i)
{
    size_t first = i * HEAP_ARITY + 1, least = first;
    for (size_t c = first + 1; c < first + HEAP_ARITY && c < l->n_timers; c++)
        if (l->heap[c]->at_ns < l->heap[least]->at_ns)
            least = c;
    return least;
}

static void heap_down(struct loop *l, size_t i, struct loop_timer *t)
{
    while (i * HEAP_ARITY + 1 < l->n_timers) {
        size_t child = heap_least_child(l, i);
        if (t->at_ns <= l->heap[child]->at_ns)
            break;
        heap_put(l, i, l->heap[child]);
        i = child;
    }
    heap_put(l, i, t);
}

static void heap_place(struct loop *l, size_t i, struct loop_timer *t)
{
    if (i > 0 && t->at_ns < l->heap[(i - 1) / HEAP_ARITY]->at_ns)
        heap_up(l, i, t);
    else
        heap_down(l, i, t);
}

void loop_timer_set(struct loop *l, struct loop_timer *t, int64_t at_ns)
{
    loop_assert_owner(l);
    assert(!t->loop || t->loop == l);
    t->at_ns = at_ns;
    if (t->loop) {
        heap_place(l, t->slot, t);
        return;
    }
    if (l->n_timers == l->heap_cap) {
        l->heap_cap = l->heap_cap ? l->heap_cap * 2 : 64;
        l->heap = mem_resize(l->heap, l->heap_cap, sizeof(*l->heap));
    }
    t->loop = l;
    heap_up(l, l->n_timers++, t);
}

void loop_timer_cancel(struct loop_timer *t)
{
    struct loop *l = t->loop;
    if (!l)
        return;
    loop_assert_owner(l);
    t->loop = NULL;
    struct loop_timer *last = l->heap[--l->n_timers];
    if (last != t)
        heap_place(l, t->slot, last);
}

static void run_timers(struct loop *l)
{
    /* Counted, so that a timer which sets itself to "now" cannot keep the turn from ending. */
    for (size_t most = l->n_timers; most && l->n_timers; most--) {
        struct loop_timer *t = l->heap[0];
        if (t->at_ns > l->now_ns)
            break;
        loop_timer_cancel(t);
        t->on_fire(t);
    }
}

/* ---- Messages ---- */

static void wake(struct loop *l)
{
    uint64_t one = 1;
    (void)!write(l->wake_fd, &one, sizeof(one));
}

void loop_post(struct loop *l, struct loop_msg *m)
{
    struct loop_msg *newest = atomic_load_explicit(&l->mailbox, memory_order_relaxed);
    do
        m->next = newest;
    while (!atomic_compare_exchange_weak_explicit(&l->mailbox, &newest, m, memory_order_acq_rel,
                                                  memory_order_relaxed));
    if (!newest)
        wake(l);
}

void loop_defer(struct loop *l, struct loop_msg *m)
{
    loop_assert_owner(l);
    m->next = NULL;
    *l->deferred_end = m;
    l->deferred_end = &m->next;
}

void loop_later(struct loop *l, struct loop_msg *m)
{
    loop_assert_owner(l);
    m->next = NULL;
    *l->later_end = m;
    l->later_end = &m->next;
}

static void run_messages(struct loop *l, struct loop_msg *m)
{
    while (m) {
        struct loop_msg *next = m->next; /* running it may free or post it again */
        m->run(l, m);
        m = next;
    }
}

/* The wake-up is taken back before the messages are, never after: a post in between would find the
 * mailbox empty, wake the loop, and have its wake-up taken back unheard. */
static void take_back_wake(struct loop *l, const struct epoll_event *events, int n)
{
    uint64_t count;
    for (int i = 0; i < n; i++)
        if (events[i].data.u64 == MAILBOX_TAG)
            (void)!read(l->wake_fd, &count, sizeof(count));
}

static void run_mailbox(struct loop *l)
{
    if (!atomic_load_explicit(&l->mailbox, memory_order_relaxed))
        return;
    struct loop_msg *newest = atomic_exchange_explicit(&l->mailbox, NULL, memory_order_acq_rel);
    struct loop_msg *oldest = NULL;
    while (newest) {
        struct loop_msg *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    run_messages(l, oldest);
}

/* What defers itself again waits for the next turn, which then does not sleep. */
static void run_deferred(struct loop *l)
{
    struct loop_msg *m = take(&l->deferred);
    l->deferred_end = &l->deferred;
    run_messages(l, m);
}

static void run_later(struct loop *l)
{
    struct loop_msg *m = l->later;
    if (!m)
        return;
    l->later = m->next;
    if (!l->later)
        l->later_end = &l->later;
    m->run(l, m);
}

/* ---- The loop ---- */

static int sleep_ms(const struct loop *l)
{
    if (l->deferred || l->later)
        return 0;
    if (!l->n_timers)
        return -1;
    int64_t ns = l->heap[0]->at_ns - l->now_ns;
    if (ns <= 0)
        return 0;
    int64_t ms = ns / NS_PER_MS + 1; /* up, so as not to wake before it is due */
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

static void turn(struct loop *l, int timeout_ms)
{
    struct epoll_event events[EVENTS_PER_TURN];
    int n = epoll_wait(l->epoll_fd, events, EVENTS_PER_TURN, timeout_ms);
    assert(n >= 0 || errno == EINTR);
    l->now_ns = clock_mono_ns(l->clock);
    take_back_wake(l, events, n);
    run_mailbox(l); /* first: a thread that posts and then connects finds its post done */
    for (int i = 0; i < n; i++)
        dispatch(l, &events[i]);
    run_timers(l);
    run_later(l);
    run_deferred(l);
}

void loop_run(struct loop *l)
{
    void *nobody = NULL;
    bool ours = atomic_compare_exchange_strong(&l->owner, &nobody, &thread_mark);
    assert(ours);
    (void)ours;
    l->now_ns = clock_mono_ns(l->clock);
    while (!atomic_load(&l->stopping))
        turn(l, sleep_ms(l));
    atomic_store(&l->stopping, false);
    atomic_store(&l->owner, NULL);
}

void loop_stop(struct loop *l)
{
    atomic_store(&l->stopping, true);
    wake(l);
}

struct loop *loop_free(struct loop *l)
{
    if (!l)
        return NULL;
    while (l->deferred || l->later || atomic_load(&l->mailbox)) {
        run_mailbox(l);
        run_later(l);
        run_deferred(l);
    }
    (void)close(l->epoll_fd);
    (void)close(l->wake_fd);
    free(l->slots);
    free(l->heap);
    free(l);
    return NULL;
}
