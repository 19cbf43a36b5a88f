/* load_watch.c - the scenario watch: how long until every watcher has seen an event.
 *
 * One object, one writer, many watchers of its namespace. The writer updates the object, which
 * gives the event a number; the time runs from the moment the update is handed over until the last
 * watcher has read a line with that number, so it holds the write itself, too. Only then comes the
 * next event. Lines of other objects are passed over: a cluster's controllers make some. */
#include "bench/load_scenarios.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

#include "base/banned.h"

enum { EVENT_MS = 10000, ESTABLISH_MS = 30000, LINE_BYTES = 4 << 20, REASON_BYTES = 200 };

struct fanout;

struct watcher {
    struct load_request request;
    struct fanout *fanout;
    struct buf part; /* of a line that has not ended */
    uint64_t seen;   /* the newest event */
    bool answered, ended;
};

struct fanout {
    struct load_run *run;
    struct load_pool pool, writer;
    struct watcher *watchers;
    size_t n_watchers, n_answered, n_ended;
    struct buf path;

    struct load_request update;
    struct buf update_path, update_body, update_answer;
    uint64_t event;  /* the number of the one under way */
    char marker[48]; /* what its line contains */
    size_t n_seen;
    int64_t last_seen_ns;
    bool updating;
};

/* ---- Watchers ---- */

static void on_line(struct watcher *w, struct str line)
{
    struct fanout *f = w->fanout;
    if (str_starts(line, STR("{\"type\":\"ERROR\""))) {
        load_stats_fault(f->run->stats, LOAD_WRONG, line);
        return;
    }
    if (w->seen == f->event || !memmem(line.p, line.n, f->marker, strlen(f->marker)))
        return;
    w->seen = f->event;
    f->n_seen++;
    f->last_seen_ns = clock_mono_ns(&clock_system);
    load_histogram_add(&f->run->stats->delivery, f->last_seen_ns - f->update.begun_ns);
}

static void on_watch_data(struct load_request *r, struct str bytes)
{
    struct watcher *w = r->owner;
    w->fanout->run->stats->n_bytes += bytes.n;
    while (bytes.n && r->status == 200) {
        ptrdiff_t end = str_find(bytes, '\n');
        if (end < 0)
            break;
        struct str line = str_take(bytes, (size_t)end);
        if (w->part.n) {
            buf_str_add(&w->part, line);
            line = buf_str(&w->part);
        }
        on_line(w, line);
        buf_reset(&w->part);
        bytes = str_skip(bytes, (size_t)end + 1);
    }
    if (w->part.n < LINE_BYTES)
        buf_str_add(&w->part, bytes);
}

static void on_watch_end(struct load_request *r)
{
    struct watcher *w = r->owner;
    struct load_stats *stats = w->fanout->run->stats;
    w->ended = true;
    w->fanout->n_ended++;
    w->fanout->n_seen -= w->seen == w->fanout->event;
    if (r->status / 100 != 2 && r->status)
        load_stats_code(stats, r->status, buf_str(&w->part));
    else
        load_stats_fault(stats, LOAD_BROKEN, STR("a watch ended"));
}

static bool all_answered(const struct fanout *f)
{
    for (size_t i = 0; i < f->n_watchers; i++)
        if (f->watchers[i].request.status == 0)
            return false;
    return true;
}

/* Where the watches begin: at the newest revision of the collection. */
static int find_start(struct fanout *f, struct err *err)
{
    struct load_target *t = f->run->target;
    autobuf list_path = { 0 };
    autobuf answer = { 0 };
    struct str version;
    load_target_path(t, &list_path);
    buf_str_add(&list_path, STR("?limit=1"));
    int status = load_call(t, "GET", buf_str(&list_path), (struct str){ 0 }, &answer, err);
    if (status < 0)
        return status;
    if (status != 200 || !load_find_text(buf_str(&answer), STR("\"resourceVersion\":\""), &version))
        return err_set(err, ERR_INTERNAL, "list: %d without a resourceVersion", status);
    load_target_path(t, &f->path);
    buf_printf(&f->path, "?watch=true&timeoutSeconds=3600&resourceVersion=" STR_FMT,
               STR_ARG(version));
    return 0;
}

static int start_watchers(struct fanout *f, struct err *err)
{
    f->watchers = mem_array(f->n_watchers, sizeof(*f->watchers));
    for (size_t i = 0; i < f->n_watchers; i++) {
        struct watcher *w = &f->watchers[i];
        w->fanout = f;
        w->request = (struct load_request){ .method = STR("GET"),
                                            .path = buf_str(&f->path),
                                            .on_data = on_watch_data,
                                            .on_done = on_watch_end,
                                            .owner = w };
        if (!load_conn_submit(f->pool.conns[i % f->pool.n], &w->request))
            return err_set(err, ERR_UNAVAILABLE, "the server takes no more requests");
    }
    int64_t give_up = clock_mono_ns(&clock_system) + ESTABLISH_MS * NS_PER_MS;
    while (!all_answered(f) && !f->n_ended && clock_mono_ns(&clock_system) < give_up)
        load_loop_turn(&f->run->target->loop, LOAD_SAMPLE_MS);
    if (all_answered(f) && !f->n_ended)
        return 0;
    return err_set(err, ERR_UNAVAILABLE, "not all of %zu watches were answered: %s", f->n_watchers,
                   f->run->stats->first_error);
}

/* ---- Events ---- */

static void on_update_data(struct load_request *r, struct str bytes)
{
    struct fanout *f = r->owner;
    if (f->update_answer.n < REASON_BYTES)
        buf_str_add(&f->update_answer, bytes);
}

/* Custom objects are updated only by who says which version he has seen. */
static void on_update_done(struct load_request *r)
{
    struct fanout *f = r->owner;
    struct str text;
    f->updating = false;
    if (r->status / 100 == 2 &&
        load_find_text(buf_str(&f->update_answer), STR("\"resourceVersion\":\""), &text) &&
        text.n < LOAD_VERSION_BYTES)
        (void)snprintf(f->run->target->versions[0], LOAD_VERSION_BYTES, STR_FMT, STR_ARG(text));
}

static bool has_arrived(const struct fanout *f)
{
    return !f->updating && (f->update.status / 100 != 2 || f->n_seen + f->n_ended == f->n_watchers);
}

static void judge_event(struct fanout *f)
{
    struct load_stats *stats = f->run->stats;
    if (f->updating)
        load_stats_fault(stats, LOAD_LATE, STR("no answer to an update in time"));
    else if (f->update.status == 0)
        load_stats_fault(stats, LOAD_BROKEN, STR("no answer to an update"));
    else if (f->update.status / 100 != 2)
        load_stats_code(stats, f->update.status, buf_str(&f->update_answer));
    else if (f->n_seen + f->n_ended < f->n_watchers)
        load_stats_fault(stats, LOAD_LATE, STR("not every watcher saw an event in time"));
    else
        load_stats_right(stats, f->last_seen_ns - f->update.begun_ns);
}

/* One update and its way to all watchers. False: there is no point in going on. */
static bool make_event(struct fanout *f)
{
    struct load_run *run = f->run;
    f->event++;
    f->n_seen = 0;
    (void)snprintf(f->marker, sizeof(f->marker), "\"event\":\"%llu\"",
                   (unsigned long long)f->event);
    load_object_write(run, &f->update_body, "o-00000000", run->target->versions[0], f->event);
    buf_reset(&f->update_answer);
    f->update.body = buf_str(&f->update_body);
    f->updating = load_conn_submit(f->writer.conns[0], &f->update);
    if (!f->updating) {
        load_stats_fault(run->stats, LOAD_BROKEN, STR("the server takes no more requests"));
        return false;
    }
    int64_t give_up = f->update.begun_ns + EVENT_MS * NS_PER_MS;
    int64_t now_ns = 0;
    while (!has_arrived(f) && now_ns < give_up) {
        load_loop_turn(&run->target->loop, LOAD_SAMPLE_MS);
        now_ns = clock_mono_ns(&clock_system);
        load_meter_sample(run->meter, now_ns);
    }
    judge_event(f);
    run->ended_ns = clock_mono_ns(&clock_system);
    return !f->updating && f->n_ended < f->n_watchers;
}

static void make_events(struct fanout *f)
{
    struct load_run *run = f->run;
    f->update = (struct load_request){ .method = STR("PUT"),
                                       .path = buf_str(&f->update_path),
                                       .on_data = on_update_data,
                                       .on_done = on_update_done,
                                       .owner = f };
    int64_t warm_until = clock_mono_ns(&clock_system) + (int64_t)(run->warmup * 1e9);
    bool goes_on = true;
    while (goes_on && clock_mono_ns(&clock_system) < warm_until)
        goes_on = make_event(f);
    if (goes_on)
        load_run_warm(run);
    for (uint64_t n = 0; goes_on && !load_interrupted; n++) {
        if (run->limit ? n >= run->limit : clock_mono_ns(&clock_system) >= run->deadline_ns)
            break;
        goes_on = make_event(f);
    }
    load_run_end(run);
}

/* ---- All of it ---- */

static int open_all(struct fanout *f, struct err *err)
{
    struct load_run *run = f->run;
    size_t n = run->opt->connections < f->n_watchers ? run->opt->connections : f->n_watchers;
    int r = load_pool_open(&f->writer, run->target, 1, err);
    if (r == 0)
        r = load_pool_open(&f->pool, run->target, n, err);
    if (r == 0 && (f->n_watchers + n - 1) / n > load_conn_max_streams(f->pool.conns[0]))
        r = err_set(err, ERR_BAD_REQUEST, "%zu watchers need more than %zu --connections",
                    f->n_watchers, n);
    return r;
}

static void fanout_done(struct fanout *f)
{
    load_pool_close(&f->pool);
    load_pool_close(&f->writer);
    for (size_t i = 0; f->watchers && i < f->n_watchers; i++)
        buf_done(&f->watchers[i].part);
    free(f->watchers);
    buf_done(&f->path);
    buf_done(&f->update_path);
    buf_done(&f->update_body);
    buf_done(&f->update_answer);
}

int load_watch_measure(struct load_run *run, struct err *err)
{
    struct fanout f = { .run = run, .n_watchers = run->opt->watchers };
    load_object_path(run, &f.update_path, "o-00000000");
    load_run_begin(run);
    int r = find_start(&f, err);
    if (r == 0)
        r = open_all(&f, err);
    if (r == 0)
        r = start_watchers(&f, err);
    if (r == 0)
        make_events(&f);
    fanout_done(&f);
    return r;
}
