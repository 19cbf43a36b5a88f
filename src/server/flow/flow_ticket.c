/* flow_ticket.c - a request's way to its seats and back.
 *
 * A ticket lies in the exchange's arena and is its loop's alone. Who has to wait also has a seat on
 * the heap: other threads know it while it waits, and the word that it may go can still be under
 * way when the client has gone. */
#include <stdlib.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "server/flow/flow_internal.h"
#include "base/banned.h"

struct flow_seat {
    struct flow_waiter waiter;
    struct flow_ticket *ticket; /* NULL: its request is over */
    struct flow_loop *home;
    struct flow_level *level;
    struct loop *loop;
    struct loop_msg word; /* that it may go */
    struct loop_timer timer;
    TAILQ_ENTRY(flow_seat) link; /* among those that linger */
};

static struct flow_loop *home_of(const struct flow_ticket *t)
{
    return &t->flow->by_loop[t->loop];
}

static struct flow_counts *counts_of(const struct flow_ticket *t)
{
    return t->series ? &t->series->by_loop[t->loop] : NULL;
}

/* ---- Counting ---- */

static void count_begun(struct flow_ticket *t, int64_t now_ns)
{
    struct flow_counts *c = counts_of(t);
    t->is_served = true;
    t->started_ns = now_ns;
    if (c)
        flow_count(&c->begun, 1);
    if (t->watches)
        atomic_fetch_add_explicit(t->watches, 1, memory_order_relaxed);
}

static void count_waited(struct flow_ticket *t, int64_t now_ns)
{
    static const int64_t upto_ms[FLOW_WAIT_BUCKETS] = { 0,    5,    20,   50,    100,   200,  500,
                                                        1000, 2000, 5000, 10000, 15000, 30000 };
    struct flow_counts *c = counts_of(t);
    int64_t waited = now_ns - t->arrived_ns;
    size_t i = 0;
    while (i < FLOW_WAIT_BUCKETS && waited > upto_ms[i] * NS_PER_MS)
        i++;
    flow_count(&c->unqueued, 1);
    flow_count(&c->waited[i], 1);
    flow_count(&c->waited_ns, waited > 0 ? (uint64_t)waited : 0);
}

static void count_rejected(struct flow_ticket *t, enum flow_reject why)
{
    struct flow_counts *c = counts_of(t);
    if (c)
        flow_count(&c->rejected[why], 1);
}

/* ---- Giving back ---- */

static void on_lingered(struct loop_timer *timer)
{
    struct flow_seat *seat = container_of(timer, struct flow_seat, timer);
    TAILQ_REMOVE(&seat->home->lingering, seat, link);
    flow_level_leave(seat->level, &seat->waiter, loop_now_ns(seat->loop));
    free(seat);
}

static struct flow_seat *seat_new(struct flow_ticket *t, struct flow_level *level)
{
    struct flow_seat *s = mem_new(struct flow_seat);
    s->home = home_of(t);
    s->level = level;
    s->ticket = t;
    s->loop = http_loop(t->x);
    s->waiter.entry.work = t->work;
    return s;
}

/* What a write causes takes its time: the client does not wait for it, the seats do. */
static void linger(struct flow_ticket *t, struct flow_seat *seat, int64_t now_ns)
{
    seat->ticket = NULL;
    seat->timer.on_fire = on_lingered;
    TAILQ_INSERT_TAIL(&seat->home->lingering, seat, link);
    loop_timer_set(seat->loop, &seat->timer, now_ns + t->work.extra_ns);
}

static void give_back(struct flow_ticket *t)
{
    int64_t now = loop_now_ns(http_loop(t->x));
    struct flow_counts *c = counts_of(t);
    struct flow_seat *seat = take(&t->seat);
    struct flow_level *level = take(&t->level);
    TAILQ_REMOVE(&home_of(t)->tickets, t, link);
    if (c)
        flow_count(&c->ended, 1);
    if (!seat && !t->work.extra_ns) {
        flow_level_give(level, flow_work_seats(&t->work), now);
        return;
    }
    if (!seat)
        seat = seat_new(t, level);
    flow_level_over(level, &seat->waiter, now);
    if (t->work.extra_ns)
        linger(t, seat, now);
    else
        free(seat);
}

/* It never got its seats; they may be on their way. */
static void stop_waiting(struct flow_ticket *t)
{
    int64_t now = loop_now_ns(http_loop(t->x));
    struct flow_seat *seat = take(&t->seat);
    loop_timer_cancel(&seat->timer);
    TAILQ_REMOVE(&home_of(t)->tickets, t, link);
    count_waited(t, now);
    if (flow_level_withdraw(take(&t->level), &seat->waiter, now))
        free(seat);
    else
        seat->ticket = NULL;
}

static void on_over(void *arg, struct http_exchange *x, int status)
{
    (void)x;
    (void)status;
    struct flow_ticket *t = arg;
    if (t->is_served && t->watches)
        atomic_fetch_sub_explicit(t->watches, 1, memory_order_relaxed);
    if (!t->level)
        return;
    if (t->is_served) {
        give_back(t);
        return;
    }
    count_rejected(t, FLOW_REJECT_GONE);
    stop_waiting(t);
}

void flow_started(struct flow_ticket *t)
{
    if (t && t->level && t->is_served)
        give_back(t);
}

/* ---- Waiting ---- */

/* Word that it has its seats; its request may be over. */
static void on_word(struct loop *l, struct loop_msg *m)
{
    struct flow_seat *seat = container_of(m, struct flow_seat, word);
    struct flow_ticket *t = seat->ticket;
    int64_t now = loop_now_ns(l);
    if (!t) {
        seat->waiter.entry.work.extra_ns = 0;
        flow_level_over(seat->level, &seat->waiter, now);
        free(seat);
        return;
    }
    loop_timer_cancel(&seat->timer);
    count_waited(t, now);
    count_begun(t, now);
    if (!http_is_gone(t->x)) /* else it is over soon */
        t->holder.go_on(t->holder.arg, true);
}

static void send_word(struct flow_waiter *w) /* any thread */
{
    struct flow_seat *seat = container_of(w, struct flow_seat, waiter);
    loop_post(seat->loop, &seat->word);
}

static void on_late(struct loop_timer *timer)
{
    struct flow_seat *seat = container_of(timer, struct flow_seat, timer);
    struct flow_ticket *t = seat->ticket;
    if (!flow_level_withdraw(seat->level, &seat->waiter, loop_now_ns(seat->loop)))
        return; /* just in time */
    count_waited(t, loop_now_ns(seat->loop));
    count_rejected(t, FLOW_REJECT_LATE);
    TAILQ_REMOVE(&home_of(t)->tickets, t, link);
    t->level = NULL;
    t->seat = NULL;
    free(seat);
    t->holder.go_on(t->holder.arg, false);
}

static enum flow_answer wait_for_seats(struct flow_ticket *t, uint64_t hash)
{
    int64_t now = loop_now_ns(http_loop(t->x));
    struct flow_seat *seat = t->seat = seat_new(t, t->level);
    seat->waiter.go = send_word;
    seat->word.run = on_word;
    seat->timer.on_fire = on_late;
    /* Its word comes through the loop's mailbox, so not before this has returned. */
    enum flow_answer answer = flow_level_wait(t->level, &seat->waiter, hash, now);
    switch (answer) {
    case FLOW_GOES:
        count_begun(t, now);
        break;
    case FLOW_WAITS:
        flow_count(&counts_of(t)->queued, 1);
        loop_timer_set(seat->loop, &seat->timer,
                       t->arrived_ns + t->flow->options.wait_ms * NS_PER_MS);
        break;
    case FLOW_NO_SEAT:
    case FLOW_QUEUE_FULL:
        count_rejected(t, answer == FLOW_NO_SEAT ? FLOW_REJECT_NO_SEAT : FLOW_REJECT_FULL);
        free(take(&t->seat));
        t->level = NULL;
        break;
    }
    return answer;
}

/* ---- Coming ---- */

static uint32_t peek(atomic_uint *n)
{
    return atomic_load_explicit(n, memory_order_relaxed);
}

static uint32_t count_objects(struct flow *f, const struct access *q)
{
    return peek(flow__bucket(f->objects, q->group, q->resource, STR(""), STR("")));
}

/* Those of all, of the namespace, and of the one object. */
static uint32_t count_watches(struct flow *f, const struct access *q)
{
    uint32_t n = peek(flow__bucket(f->watches, q->group, q->resource, STR(""), STR("")));
    if (q->ns.n)
        n += peek(flow__bucket(f->watches, q->group, q->resource, q->ns, STR("")));
    if (q->name.n)
        n += peek(flow__bucket(f->watches, q->group, q->resource, q->ns, q->name));
    return n;
}

static struct flow_work work_of(struct flow *f, const struct flow_question *q, uint32_t most)
{
    bool lists = str_eq(q->access.verb, STR("list")) || str_eq(q->access.verb, STR("watch")),
         is_get = str_eq(q->access.verb, STR("get"));
    if (!q->access.is_resource || is_get)
        return (struct flow_work){ .seats = 1 };
    return flow_width(q, lists ? count_objects(f, &q->access) : 0,
                      lists ? 0 : count_watches(f, &q->access), most);
}

static struct flow_ticket *ticket_new(struct flow *f, struct http_exchange *x,
                                      const struct flow_question *q, const struct flow_holder *h)
{
    struct flow_ticket *t = arena_new(http_arena(x), struct flow_ticket);
    t->flow = f;
    t->x = x;
    t->question = q;
    t->holder = *h;
    t->arrived_ns = loop_now_ns(http_loop(x));
    while (t->loop + 1 < f->n_loops && f->loops[t->loop] != http_loop(x))
        t->loop++;
    if (str_eq(q->access.verb, STR("watch")))
        t->watches = flow__bucket(f->watches, q->access.group, q->access.resource, q->access.ns,
                                  q->access.name);
    http_when_over(x, on_over, t);
    return t;
}

static enum flow_answer take_seats(struct flow_ticket *t, const struct flow_schema *schema)
{
    if (flow_level_try(t->level, flow_work_seats(&t->work))) {
        count_begun(t, t->arrived_ns);
        return FLOW_GOES;
    }
    t->distinguisher = flow_schema_distinguish(schema, &t->question->access);
    return wait_for_seats(t, flow_hash(http_arena(t->x), schema->name, t->distinguisher));
}

static enum flow_answer enter_level(struct flow_ticket *t, const struct flow_schema *schema)
{
    struct flow_slot *slot = schema->level->state;
    t->level = slot->level;
    t->series = schema->state;
    t->work = work_of(t->flow, t->question, peek(&slot->most_seats));
    struct arena *a = http_arena(t->x);
    if (schema->level->uid.n)
        http_add_header(t->x, STR("x-kubernetes-pf-prioritylevel-uid"),
                        arena_str(a, schema->level->uid));
    if (schema->uid.n)
        http_add_header(t->x, STR("x-kubernetes-pf-flowschema-uid"), arena_str(a, schema->uid));
    return take_seats(t, schema);
}

/* As upstream without priority and fairness: nobody waits, and system:masters is never turned
 * away. */
static enum flow_answer enter_simply(struct flow_ticket *t)
{
    static const struct str reading[] = { STR("get"), STR("list"), STR("watch") };
    const struct access *q = &t->question->access;
    struct flow_level *level = t->flow->writes;
    for (size_t i = 0; i < ARRAY_LEN(reading); i++)
        if (str_eq(q->verb, reading[i]))
            level = t->flow->reads;
    if (str_eq(q->verb, STR("watch")))
        return FLOW_GOES;
    t->work = (struct flow_work){ .seats = 1 };
    if (flow_level_try(level, 1)) {
        t->level = level;
        count_begun(t, t->arrived_ns);
        return FLOW_GOES;
    }
    return user_is_in(q->user, USER_MASTERS) ? FLOW_GOES : FLOW_NO_SEAT;
}

enum flow_answer flow_enter(struct flow *f, struct http_exchange *x, const struct flow_question *q,
                            const struct flow_holder *h, struct flow_ticket **ret)
{
    *ret = NULL;
    if (flow_width_is_endless(&q->access))
        return FLOW_GOES;
    struct flow_ticket *t = ticket_new(f, x, q, h);
    const struct flow_rules *rules = atomic_load_explicit(&f->rules, memory_order_acquire);
    enum flow_answer answer =
        rules ? enter_level(t, flow_rules_find(rules, &q->access)) : enter_simply(t);
    if (t->level)
        TAILQ_INSERT_TAIL(&home_of(t)->tickets, t, link);
    *ret = t;
    return answer;
}

bool flow__place(const struct flow_ticket *t, size_t *ret_queue, int *ret_place)
{
    return flow_level_place(t->level, &t->seat->waiter, ret_queue, ret_place);
}

void flow__free_lingering(struct flow *f)
{
    for (size_t i = 0; i < API_LOOPS_MAX; i++) {
        struct flow_seat *seat;
        while ((seat = TAILQ_FIRST(&f->by_loop[i].lingering))) {
            TAILQ_REMOVE(&f->by_loop[i].lingering, seat, link);
            free(seat);
        }
    }
}
