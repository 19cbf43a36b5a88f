/* flow_metrics.c - the numbers of flow.h as Prometheus text. */
#include <stdio.h>

#include "base/idiom.h"
#include "server/flow/flow_internal.h"
#include "base/banned.h"

static void head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP apiserver_flowcontrol_%s %s\n# TYPE apiserver_flowcontrol_%s %s\n",
               name, help, name, type);
}

/* ---- By level ---- */

static uint64_t nominal_of(const struct flow_slot *s, const struct flow_level_state *now)
{
    (void)now;
    return s->share.nominal;
}

static uint64_t least_of(const struct flow_slot *s, const struct flow_level_state *now)
{
    (void)now;
    return s->share.least;
}

static uint64_t most_of(const struct flow_slot *s, const struct flow_level_state *now)
{
    (void)now;
    return s->share.most;
}

static uint64_t seats_of(const struct flow_slot *s, const struct flow_level_state *now)
{
    (void)s;
    return now->seats;
}

static uint64_t used_of(const struct flow_slot *s, const struct flow_level_state *now)
{
    (void)s;
    return now->seats_used;
}

static uint64_t waiting_of(const struct flow_slot *s, const struct flow_level_state *now)
{
    (void)s;
    return now->seats_waiting;
}

static const struct {
    const char *name, *help;
    uint64_t (*of)(const struct flow_slot *s, const struct flow_level_state *now);
} by_level[] = {
    { "nominal_limit_seats", "Seats of the priority level's own.", nominal_of },
    { "lower_limit_seats", "Seats that the priority level never lends.", least_of },
    { "upper_limit_seats", "Seats that the priority level can have with what it borrows.",
      most_of },
    { "current_limit_seats", "Seats that the priority level has now.", seats_of },
    { "current_executing_seats", "Seats that are taken.", used_of },
    { "current_inqueue_seats", "Seats that requests in queues wait for.", waiting_of },
};

static void write_levels(const struct flow *f, struct buf *out)
{
    for (size_t i = 0; i < ARRAY_LEN(by_level); i++) {
        head(out, by_level[i].name, "gauge", by_level[i].help);
        for (const struct flow_slot *s = f->slots; s; s = s->next) {
            const struct flow_level_state now = flow_level_look(s->level);
            buf_printf(out, "apiserver_flowcontrol_%s{priority_level=\"" STR_FMT "\"} %llu\n",
                       by_level[i].name, STR_ARG(flow_level_name(s->level)),
                       (unsigned long long)by_level[i].of(s, &now));
        }
    }
}

/* ---- By level and schema ---- */

static void labels(struct buf *out, const char *name, const struct flow_slot *slot,
                   const struct flow_series *s, const char *more)
{
    buf_printf(out, "apiserver_flowcontrol_%s{priority_level=\"" STR_FMT "\",flow_schema=\"%s\"%s}",
               name, STR_ARG(flow_level_name(slot->level)), s->schema, more);
}

static uint64_t dispatched_of(const struct flow_series *s)
{
    return FLOW_COUNTED(s, begun);
}

/* Counters of one request are on one loop, but read one after the other. */
static uint64_t difference(uint64_t more, uint64_t less)
{
    return more > less ? more - less : 0;
}

static uint64_t executing_of(const struct flow_series *s)
{
    uint64_t ended = FLOW_COUNTED(s, ended);
    return difference(FLOW_COUNTED(s, begun), ended);
}

static uint64_t queued_of(const struct flow_series *s)
{
    uint64_t unqueued = FLOW_COUNTED(s, unqueued);
    return difference(FLOW_COUNTED(s, queued), unqueued);
}

static const struct {
    const char *name, *type, *help;
    uint64_t (*of)(const struct flow_series *s);
} by_schema[] = {
    { "dispatched_requests_total", "counter", "Requests that were served.", dispatched_of },
    { "current_executing_requests", "gauge", "Requests that are being served.", executing_of },
    { "current_inqueue_requests", "gauge", "Requests that wait in queues.", queued_of },
};

static void write_schemas(const struct flow *f, struct buf *out)
{
    for (size_t i = 0; i < ARRAY_LEN(by_schema); i++) {
        head(out, by_schema[i].name, by_schema[i].type, by_schema[i].help);
        for (const struct flow_slot *slot = f->slots; slot; slot = slot->next)
            for (const struct flow_series *s = slot->series; s; s = s->next) {
                labels(out, by_schema[i].name, slot, s, "");
                buf_printf(out, " %llu\n", (unsigned long long)by_schema[i].of(s));
            }
    }
}

static void write_rejected(const struct flow *f, struct buf *out)
{
    static const char *const reasons[FLOW_REJECTS] = {
        ",reason=\"concurrency-limit\"",
        ",reason=\"queue-full\"",
        ",reason=\"time-out\"",
        ",reason=\"cancelled\"",
    };
    head(out, "rejected_requests_total", "counter", "Requests that were not served.");
    for (const struct flow_slot *slot = f->slots; slot; slot = slot->next)
        for (const struct flow_series *s = slot->series; s; s = s->next)
            for (size_t i = 0; i < FLOW_REJECTS; i++) {
                uint64_t n = FLOW_COUNTED(s, rejected[i]);
                if (!n)
                    continue;
                labels(out, "rejected_requests_total", slot, s, reasons[i]);
                buf_printf(out, " %llu\n", (unsigned long long)n);
            }
}

static void write_wait(struct buf *out, const struct flow_slot *slot, const struct flow_series *s)
{
    static const char *const upto[] = { "0", "0.005", "0.02", "0.05", "0.1", "0.2", "0.5",
                                        "1", "2",     "5",    "10",   "15",  "30",  "+Inf" };
    uint64_t sum = 0;
    for (size_t i = 0; i < ARRAY_LEN(upto); i++) {
        char more[32];
        (void)snprintf(more, sizeof(more), ",le=\"%s\"", upto[i]);
        sum += FLOW_COUNTED(s, waited[i]);
        labels(out, "request_wait_duration_seconds_bucket", slot, s, more);
        buf_printf(out, " %llu\n", (unsigned long long)sum);
    }
    labels(out, "request_wait_duration_seconds_sum", slot, s, "");
    buf_printf(out, " %.9g\n", (double)FLOW_COUNTED(s, waited_ns) / 1e9);
    labels(out, "request_wait_duration_seconds_count", slot, s, "");
    buf_printf(out, " %llu\n", (unsigned long long)sum);
}

void flow_write_metrics(struct flow *f, struct buf *out)
{
    pthread_mutex_lock(&f->lock);
    write_levels(f, out);
    write_schemas(f, out);
    write_rejected(f, out);
    head(out, "request_wait_duration_seconds", "histogram", "Time in queues of those who waited.");
    for (const struct flow_slot *slot = f->slots; slot; slot = slot->next)
        for (const struct flow_series *s = slot->series; s; s = s->next)
            if (FLOW_COUNTED(s, queued))
                write_wait(out, slot, s);
    pthread_mutex_unlock(&f->lock);
}
