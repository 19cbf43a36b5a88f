/* flow_dump.c - upstream's three debug pages: levels, queues, and requests.
 *
 * Levels and queues are read by a worker, behind the flow's lock. Requests belong to their loops:
 * the page goes from one loop to the next and each adds its own. Their order is that of the loops,
 * and in a loop that of their coming. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "server/flow/flow_internal.h"
#include "base/banned.h"

enum { COLUMNS_MAX = 20, COLUMN_LEAST = 8 };

/* ---- Columns ---- */

/* As Go's tabwriter: cells end with a tab, but the last one of a line, and are as wide as the
 * widest of their column and a space. */
static void align(struct buf *out, struct str text)
{
    size_t widths[COLUMNS_MAX] = { 0 };
    for (struct str rest = text; rest.n;) {
        struct str line = str_cut(&rest, '\n');
        for (size_t i = 0; i < COLUMNS_MAX && str_find(line, '\t') >= 0; i++) {
            size_t n = str_cut(&line, '\t').n + 1;
            n = n < COLUMN_LEAST ? COLUMN_LEAST : n;
            widths[i] = n > widths[i] ? n : widths[i];
        }
    }
    for (struct str rest = text; rest.n;) {
        struct str line = str_cut(&rest, '\n');
        for (size_t i = 0; i < COLUMNS_MAX && str_find(line, '\t') >= 0; i++) {
            struct str cell = str_cut(&line, '\t');
            buf_printf(out, STR_FMT "%*s", STR_ARG(cell), (int)(widths[i] - cell.n), "");
        }
        buf_str_add(out, line);
        buf_byte(out, '\n');
    }
}

static void reply_page(struct http_exchange *x, struct str raw, bool is_worker)
{
    static const struct http_header plain = { STR("content-type"),
                                              STR("text/plain; charset=utf-8") };
    autobuf page = { 0 };
    align(&page, raw);
    struct http_bytes bytes = HTTP_BYTES(arena_str(http_arena(x), buf_str(&page)));
    if (is_worker)
        http_send(x, 200, &plain, 1, bytes);
    else
        http_reply(x, 200, &plain, 1, bytes);
}

/* ---- Levels and queues ---- */

static int by_name(const void *x, const void *y)
{
    const struct flow_slot *const *a = x, *const *b = y;
    return str_cmp(flow_level_name((*a)->level), flow_level_name((*b)->level));
}

static struct flow_slot **sorted(const struct flow *f, size_t *ret_n)
{
    size_t n = 0;
    for (const struct flow_slot *s = f->slots; s; s = s->next)
        n++;
    struct flow_slot **all = mem_array(n ? n : 1, sizeof(struct flow_slot *));
    *ret_n = 0;
    for (struct flow_slot *s = f->slots; s; s = s->next)
        all[(*ret_n)++] = s;
    qsort(all, n, sizeof(struct flow_slot *), by_name);
    return all;
}

struct level_sums {
    uint64_t begun, ended, rejected, gone;
};

static struct level_sums sum_up(const struct flow_slot *slot)
{
    struct level_sums sums = { 0 };
    for (const struct flow_series *s = slot->series; s; s = s->next) {
        sums.ended += FLOW_COUNTED(s, ended);
        sums.begun += FLOW_COUNTED(s, begun);
        for (size_t i = 0; i < FLOW_REJECTS; i++)
            sums.rejected += FLOW_COUNTED(s, rejected[i]);
        sums.gone += FLOW_COUNTED(s, rejected[FLOW_REJECT_LATE]) +
                     FLOW_COUNTED(s, rejected[FLOW_REJECT_GONE]);
    }
    return sums;
}

static void print_level(const struct flow_slot *s, struct buf *out)
{
    const struct level_sums sums = sum_up(s);
    const struct flow_level_state now = flow_level_look(s->level);
    uint64_t running = sums.begun > sums.ended ? sums.begun - sums.ended : 0;
    bool is_idle = !now.n_waiting && !running;
    buf_printf(out, STR_FMT ",\t%zu,\t%s,\t%s,\t%zu,\t%llu,\t%llu,\t%llu,\t%llu,\t%llu\n",
               STR_ARG(flow_level_name(s->level)), now.n_active_queues, is_idle ? "true" : "false",
               s->is_wanted ? "false" : "true", now.n_waiting, (unsigned long long)running,
               (unsigned long long)sums.begun, (unsigned long long)sums.rejected, 0ULL,
               (unsigned long long)sums.gone);
}

static void print_queues(const struct flow_slot *s, struct buf *out)
{
    flow_level_dump_queues(s->level, out);
}

struct page {
    struct flow *flow;
    const char *head;
    void (*print)(const struct flow_slot *s, struct buf *out);
};

static void write_page(struct http_exchange *x, void *arg)
{
    const struct page *p = arg;
    autobuf text = { 0 };
    size_t n;
    buf_str_add(&text, str_of(p->head));
    pthread_mutex_lock(&p->flow->lock);
    autofree struct flow_slot **all = sorted(p->flow, &n);
    for (size_t i = 0; i < n; i++)
        p->print(all[i], &text);
    pthread_mutex_unlock(&p->flow->lock);
    reply_page(x, buf_str(&text), true);
}

/* ---- Requests ---- */

struct tour {
    struct loop_msg msg;
    struct flow *flow;
    struct http_exchange *x;
    size_t at; /* the loop whose turn it is */
    bool has_details, is_home;
    struct buf text;
};

/* RFC 3339 with as many digits as needed. */
static void print_time(struct buf *out, int64_t mono_ns)
{
    char text[64];
    struct tm tm;
    int64_t wall = clock_wall_ns(&clock_system) - clock_mono_ns(&clock_system) + mono_ns;
    time_t sec = (time_t)(wall / NS_PER_SEC);
    if (!mono_ns || !gmtime_r(&sec, &tm)) {
        buf_str_add(out, STR("0001-01-01T00:00:00Z"));
        return;
    }
    size_t n = strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &tm);
    n += (size_t)snprintf(text + n, 16, ".%09lld", (long long)(wall % NS_PER_SEC));
    while (text[n - 1] == '0')
        n--;
    buf_str_add(out, (struct str){ text, text[n - 1] == '.' ? n - 1 : n });
    buf_byte(out, 'Z');
}

static void print_details(struct buf *out, const struct access *q)
{
    buf_printf(out,
               ",\t" STR_FMT ",\t" STR_FMT ",\t" STR_FMT ",\t" STR_FMT ",\t" STR_FMT ",\t" STR_FMT
               "%s" STR_FMT ",\t" STR_FMT ",\t" STR_FMT,
               STR_ARG(q->user->name), STR_ARG(q->verb), STR_ARG(q->path), STR_ARG(q->ns),
               STR_ARG(q->name), STR_ARG(q->group), q->group.n ? "/" : "", STR_ARG(q->version),
               STR_ARG(q->resource), STR_ARG(q->sub));
}

static void print_ticket(struct tour *tour, const struct flow_ticket *t)
{
    struct buf *out = &tour->text;
    size_t queue = 0;
    int place = -1;
    bool is_queued = t->seat && flow__place(t, &queue, &place);
    buf_printf(out, STR_FMT ",\t%s,\t%d,\t%d,\t" STR_FMT ",\t", STR_ARG(flow_level_name(t->level)),
               t->series ? t->series->schema : "", is_queued ? (int)queue : -1, place,
               STR_ARG(t->distinguisher));
    print_time(out, t->arrived_ns);
    buf_printf(out, ",\t%u,\t%u,\t%.15g%s,\t", t->work.seats, t->work.final_seats,
               (double)t->work.extra_ns / NS_PER_MS, t->work.extra_ns ? "ms" : "s");
    print_time(out, t->started_ns);
    if (tour->has_details)
        print_details(out, &t->question->access);
    buf_byte(out, '\n');
}

static void go_home(struct tour *tour)
{
    reply_page(tour->x, buf_str(&tour->text), false);
    buf_done(&tour->text);
    free(tour);
}

static void on_stop(struct loop *l, struct loop_msg *m) /* thread: each loop in its turn */
{
    (void)l;
    struct tour *tour = container_of(m, struct tour, msg);
    struct flow *f = tour->flow;
    if (tour->at == f->n_loops) {
        go_home(tour);
        return;
    }
    for (const struct flow_ticket *t = TAILQ_FIRST(&f->by_loop[tour->at].tickets); t;
         t = TAILQ_NEXT(t, link))
        print_ticket(tour, t);
    tour->at++;
    loop_post(tour->at < f->n_loops ? f->loops[tour->at] : http_loop(tour->x), &tour->msg);
}

static void begin_tour(struct flow *f, struct http_exchange *x)
{
    struct tour *tour = mem_new(struct tour);
    struct str query = http_request_of(x)->query;
    tour->flow = f;
    tour->x = x;
    tour->msg.run = on_stop;
    while (query.n && !tour->has_details) {
        struct str value = str_cut(&query, '&'), key = str_cut(&value, '=');
        tour->has_details = str_eq(key, STR("includeRequestDetails")) && value.n;
    }
    buf_str_add(&tour->text,
                STR("PriorityLevelName,\tFlowSchemaName,\tQueueIndex,\tRequestIndexInQueue,\t"
                    "FlowDistingsher,\tArriveTime,\tInitialSeats,\tFinalSeats,\t"
                    "AdditionalLatency,\tStartTime"));
    if (tour->has_details)
        buf_str_add(&tour->text, STR(",\tUserName,\tVerb,\tAPIPath,\tNamespace,\tName,\t"
                                     "APIVersion,\tResource,\tSubResource"));
    buf_byte(&tour->text, '\n');
    loop_post(f->loops[0], &tour->msg);
}

/* ---- The pages ---- */

static const struct {
    struct str name;
    const char *head;
    void (*print)(const struct flow_slot *s, struct buf *out);
} pages[] = {
    { STR("dump_priority_levels"),
      "PriorityLevelName,\tActiveQueues,\tIsIdle,\tIsQuiescing,\tWaitingRequests,\t"
      "ExecutingRequests,\tDispatchedRequests,\tRejectedRequests,\tTimedoutRequests,\t"
      "CancelledRequests\n",
      print_level },
    { STR("dump_queues"),
      "PriorityLevelName,\tIndex,\tPendingRequests,\tExecutingRequests,\tSeatsInUse,\t"
      "NextDispatchR,\tInitialSeatsSum,\tMaxSeatsSum,\tTotalWorkSum\n",
      print_queues },
};

bool flow_serve_dump(struct flow *f, struct http_exchange *x, struct workers *workers,
                     struct str name)
{
    if (str_eq(name, STR("dump_requests"))) {
        begin_tour(f, x);
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(pages); i++)
        if (str_eq(name, pages[i].name)) {
            struct page *p = arena_new(http_arena(x), struct page);
            *p = (struct page){ .flow = f, .head = pages[i].head, .print = pages[i].print };
            (void)http_to_worker(x, workers, write_page, p);
            return true;
        }
    return false;
}
