#include "bench/load_run.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

#include "base/banned.h"

enum {
    HEAD_BYTES = 8 << 10,
    GRACE_SEC = 60,       /* for what is under way when the time is over */
    COUNT_MAX_SEC = 1800, /* for a run by count */
};

volatile sig_atomic_t load_interrupted;

static void start_clock(struct load_run *run)
{
    run->own_cpu_before = load_own_cpu_seconds();
    run->begun_ns = clock_mono_ns(&clock_system);
    run->ended_ns = run->begun_ns;
    run->deadline_ns = run->seconds > 0 ? run->begun_ns + (int64_t)(run->seconds * 1e9) : INT64_MAX;
}

void load_run_begin(struct load_run *run)
{
    load_stats_reset(run->stats);
    load_meter_begin(run->meter, run->target->pid);
    start_clock(run);
}

void load_run_warm(struct load_run *run)
{
    load_stats_warm(run->stats);
    load_meter_warm(run->meter);
    start_clock(run);
}

void load_run_end(struct load_run *run)
{
    run->stats->own_cpu = load_own_cpu_seconds() - run->own_cpu_before;
    run->stats->seconds = (double)(run->ended_ns - run->begun_ns) / 1e9;
    load_meter_end(run->meter);
}

/* ---- One slot ---- */

static void go_on(struct load_slot *s, int64_t now_ns)
{
    struct load_run *run = s->run;
    bool over = load_interrupted || now_ns >= run->deadline_ns ||
                (run->limit && run->n_begun >= run->limit) || !load_conn_is_ready(s->conn);
    if (over || !run->scenario->next(s)) {
        run->n_active--;
        return;
    }
    run->n_begun++;
    buf_reset(&s->head);
    if (!load_conn_submit(s->conn, &s->request)) {
        load_stats_fault(run->stats, LOAD_BROKEN, STR("the server takes no more requests"));
        run->n_active--;
    }
}

static void judge(struct load_slot *s, int64_t now_ns)
{
    struct load_run *run = s->run;
    struct load_stats *stats = run->stats;
    const struct load_request *r = &s->request;
    bool ok = r->status / 100 == 2 || (r->status && r->status == run->scenario->allowed);
    bool right = run->scenario->finish ? run->scenario->finish(s, ok) : true;
    stats->n_bytes += r->n_received;
    if (ok && right)
        load_stats_right(stats, now_ns - r->begun_ns);
    else if (ok)
        load_stats_fault(stats, LOAD_WRONG, buf_str(&s->head));
    else if (r->status)
        load_stats_code(stats, r->status, buf_str(&s->head));
    else
        load_stats_fault(stats, LOAD_BROKEN,
                         str_of(load_conn_broken(s->conn) ? load_conn_broken(s->conn)
                                                          : "the server reset the stream"));
}

static void on_done(struct load_request *r)
{
    struct load_slot *s = r->owner;
    struct load_run *run = s->run;
    int64_t now_ns = clock_mono_ns(&clock_system);
    judge(s, now_ns);
    run->ended_ns = now_ns;
    go_on(s, now_ns);
}

static void on_data(struct load_request *r, struct str bytes)
{
    struct load_slot *s = r->owner;
    bool keep = s->run->scenario->keeps_head || r->status / 100 != 2;
    size_t most = HEAD_BYTES + s->run->opt->size; /* an object's metadata may come last */
    if (keep && s->head.n < most)
        buf_str_add(&s->head, str_take(bytes, most - s->head.n));
}

/* ---- All of them ---- */

static void slots_free(struct load_slot *slots, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        buf_done(&slots[i].path);
        buf_done(&slots[i].body);
        buf_done(&slots[i].head);
        buf_done(&slots[i].token);
    }
    free(slots);
}

static struct load_slot *slots_new(struct load_run *run, const struct load_pool *pool)
{
    struct load_slot *slots = mem_array(run->n_slots, sizeof(*slots));
    for (size_t i = 0; i < run->n_slots; i++) {
        slots[i] = (struct load_slot){
            .run = run, .number = i, .object = i, .conn = pool->conns[i % pool->n]
        };
        slots[i].request.owner = &slots[i];
        slots[i].request.on_data = on_data;
        slots[i].request.on_done = on_done;
    }
    return slots;
}

/* The slots cannot be used again: their requests are still under way. */
static void give_up(struct load_run *run)
{
    for (; run->n_active; run->n_active--)
        load_stats_fault(run->stats, LOAD_LATE, STR("no answer in time"));
    run->ended_ns = clock_mono_ns(&clock_system);
    run->gave_up = true;
}

/* Until the deadline or the limit, and until nothing is under way any more. */
static void run_phase(struct load_run *run, struct load_slot *slots, double seconds)
{
    int64_t longest = seconds > 0 ? (int64_t)seconds + GRACE_SEC : COUNT_MAX_SEC;
    int64_t latest = run->begun_ns + longest * NS_PER_SEC;
    run->deadline_ns = seconds > 0 ? run->begun_ns + (int64_t)(seconds * 1e9) : INT64_MAX;
    run->n_active = run->n_slots;
    for (size_t i = 0; i < run->n_slots; i++)
        go_on(&slots[i], run->begun_ns);
    while (run->n_active) {
        load_loop_turn(&run->target->loop, LOAD_SAMPLE_MS);
        int64_t now_ns = clock_mono_ns(&clock_system);
        load_meter_sample(run->meter, now_ns);
        if (now_ns > latest)
            give_up(run);
    }
}

/* The clock starts and stops with nothing under way. A request that was begun in the warm-up and
 * ended after it would bring the bytes of one time into the other, which for ten LISTs of 100 MB
 * is a good part of all bytes. */
static void run_slots(struct load_run *run, struct load_slot *slots)
{
    load_run_begin(run);
    if (run->warmup > 0) {
        run_phase(run, slots, run->warmup);
        load_run_warm(run);
    }
    if (!run->gave_up)
        run_phase(run, slots, run->seconds);
    load_run_end(run);
}

/* More in flight than the server has streams for would wait in our own queue. */
static int check_streams(const struct load_run *run, const struct load_pool *pool, struct err *err)
{
    uint32_t allowed = load_conn_max_streams(pool->conns[0]);
    size_t each = (run->n_slots + pool->n - 1) / pool->n;
    if (each <= allowed)
        return 0;
    return err_set(err, ERR_BAD_REQUEST,
                   "%zu requests in flight on a connection, and the server allows %u: use more "
                   "--connections",
                   each, allowed);
}

int load_run_measure(struct load_run *run, size_t in_flight, struct err *err)
{
    struct load_pool pool;
    size_t n_conns = run->opt->connections < in_flight ? run->opt->connections : in_flight;
    int r = load_pool_open(&pool, run->target, n_conns, err);
    if (r < 0)
        return r;
    run->n_slots = in_flight;
    run->n_begun = 0;
    r = check_streams(run, &pool, err);
    if (r == 0) {
        struct load_slot *slots = slots_new(run, &pool);
        run_slots(run, slots);
        load_pool_close(&pool); /* first: requests that were given up point into the slots */
        slots_free(slots, run->n_slots);
        return 0;
    }
    load_pool_close(&pool);
    return r;
}
