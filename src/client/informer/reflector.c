/* reflector.c - list and watch.
 *
 * `version` is the resourceVersion up to which everything is in the FIFO. Whatever ends a watch,
 * the next one goes on from there; only "too old" makes a new list necessary. */
#include "client/informer/reflector.h"

#include <sampan/log.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "client/calls/client.h"
#include "client/object_room.h"
#include "client/pool.h"
#include "client/thread.h"
#include "base/banned.h"

enum {
    PAGE = 500,
    BATCH = 256,         /* objects of the first list that are handed on together */
    WATCH_MIN_SEC = 300, /* and up to twice as long, so that many watches do not end together */
    FIRST_PAUSE_MS = 100,
    MAX_PAUSE_MS = 30000,
    CALM_MS = 120000, /* after so long without an error pauses start small again */
    LIST_TIMEOUT_MS = 120000,
    STACK_BYTES = 512 << 10,
};

/* One run of it: from here to there on a thread of its own, or on the pool's. */
struct reflector_run {
    struct reflector *r;
    struct spn_arena *arena; /* emptied with each event or page */
    struct buf version;
    bool use_stream, has_begun;
    int64_t pause_ms, failed_ns; /* how long to wait after the next error; when the last one was */
    int64_t next_resync_ns;
    unsigned seed;

    bool needs_list, needs_newest; /* what it knows is too old, and nothing else will do */
    struct spn_watch *watch;       /* NULL: it is to be opened */
    int64_t began_ns;              /* when the watch did */
    struct pool *pool;
    struct pool_task reader; /* of a watch that is parked */
    int ended;               /* how it ended, and why */
    struct spn_err why;
    pthread_t thread;
    bool has_thread; /* that is to be joined */

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    bool is_over;
};

/* Objects on their way to delta_fifo_replace(). Those of the very first list do not wait for it. */
struct collected {
    struct delta_fifo *begins; /* NULL: another list */
    struct spn_object **items;
    size_t n, cap;
    struct object_room room;
};

static struct collected collect_begin(struct reflector_run *run)
{
    struct collected all = { .begins = run->has_begun ? NULL : run->r->fifo };
    run->has_begun = true;
    return all;
}

/* What is collected was handed on. */
static void collect_anew(struct collected *all)
{
    struct spn_objects objects = { all->items, all->n };
    spn_objects_done(&objects);
    all->items = NULL;
    all->n = all->cap = 0;
}

static void collected_done(struct collected *all)
{
    collect_anew(all);
    object_room_done(&all->room);
}

/* Takes the reference. */
static void collect(struct collected *all, struct spn_object *o)
{
    if (all->begins && all->n == BATCH) {
        delta_fifo_begin(all->begins, all->items, all->n);
        collect_anew(all);
    }
    if (all->n == all->cap) {
        all->cap = all->cap ? 2 * all->cap : 64;
        all->items = mem_resize(all->items, all->cap, sizeof(*all->items));
    }
    all->items[all->n++] = o;
}

/* The list is complete. */
static void collect_end(struct collected *all, struct delta_fifo *fifo)
{
    if (!all->begins) {
        delta_fifo_replace(fifo, all->items, all->n);
        return;
    }
    delta_fifo_begin(fifo, all->items, all->n);
    delta_fifo_begun(fifo);
}

/* ---- Counting ---- */

static void count(struct reflector_run *run, uint64_t *counter)
{
    (void)pthread_mutex_lock(&run->r->lock);
    (*counter)++;
    (void)pthread_mutex_unlock(&run->r->lock);
}

/* The first of a row of equal errors is worth a line: often something is missing, or forbidden. */
static void note_error(struct reflector_run *run, const struct spn_err *err)
{
    char *last = run->r->stats.last_error;
    const size_t room = sizeof(run->r->stats.last_error);
    (void)pthread_mutex_lock(&run->r->lock);
    run->r->stats.errors++;
    bool is_new = strncmp(last, err->message, room - 1) != 0;
    (void)snprintf(last, room, "%.*s", (int)room - 1, err->message);
    (void)pthread_mutex_unlock(&run->r->lock);
    spn_log(is_new ? SPN_LOG_WARN : SPN_LOG_DEBUG,
            "an informer has to try again resource=" SPN_FMT " err=\"%s\"",
            SPN_ARG(run->r->opt->what.plural), err->message);
}

static void note_good(struct reflector_run *run)
{
    (void)pthread_mutex_lock(&run->r->lock);
    run->r->stats.last_error[0] = '\0';
    (void)pthread_mutex_unlock(&run->r->lock);
}

static void set_version(struct reflector_run *run, struct spn_text version)
{
    if (!version.n)
        return;
    buf_reset(&run->version);
    buf_str_add(&run->version, str_in(version));
    struct spn_informer_stats *s = &run->r->stats;
    (void)pthread_mutex_lock(&run->r->lock);
    (void)snprintf(s->resource_version, sizeof(s->resource_version), SPN_FMT, SPN_ARG(version));
    (void)pthread_mutex_unlock(&run->r->lock);
}

void reflector_stats(struct reflector *r, struct spn_informer_stats *ret)
{
    (void)pthread_mutex_lock(&r->lock);
    *ret = r->stats;
    (void)pthread_mutex_unlock(&r->lock);
}

/* ---- Waiting ---- */

static int64_t random_up_to(struct reflector_run *run, int64_t n)
{
    return n > 0 ? (int64_t)((double)rand_r(&run->seed) / ((double)RAND_MAX + 1) * (double)n) : 0;
}

/* After an error: a pause that grows, with up to as much again by chance. */
static void pause_after(struct reflector_run *run, const struct spn_err *err)
{
    int64_t now = clock_mono_ns(&clock_system);
    if (now - run->failed_ns > CALM_MS * NS_PER_MS)
        run->pause_ms = FIRST_PAUSE_MS;
    run->failed_ns = now;
    int64_t most =
        run->r->opt->max_pause_ms > 0 ? run->r->opt->max_pause_ms : (int64_t)MAX_PAUSE_MS;
    int64_t ms = run->pause_ms < most ? run->pause_ms : most;
    ms += random_up_to(run, ms);
    if (err->retry_after_sec > 0 && ms < (int64_t)err->retry_after_sec * 1000)
        ms = (int64_t)err->retry_after_sec * 1000;
    (void)spn_stop_wait(run->r->stop, ms);
    run->pause_ms = 2 * run->pause_ms < most ? 2 * run->pause_ms : most;
}

/* How long to wait for an event before the handlers want to see everything again. */
static int64_t resync_in_ms(struct reflector_run *run)
{
    int64_t every = run->r->opt->resync_ms;
    if (every <= 0)
        return -1;
    int64_t now = clock_mono_ns(&clock_system);
    if (now >= run->next_resync_ns) {
        delta_fifo_resync(run->r->fifo);
        run->next_resync_ns = now + every * NS_PER_MS;
    }
    return (run->next_resync_ns - now) / NS_PER_MS + 1;
}

/* ---- Listing ---- */

/* Seals an object, without what nobody needs. */
static int seal(struct reflector_run *run, struct object_room *room, struct spn_value *v,
                struct spn_object **ret, struct spn_err *err)
{
    const struct spn_informer_options *opt = run->r->opt;
    struct spn_value *meta = opt->keep_managers ? NULL : spn_value_edit(run->arena, v, "metadata");
    if (spn_value_type(meta) == SPN_OBJECT)
        spn_value_remove(run->arena, meta, "managedFields");
    if (opt->transform)
        opt->transform(opt->transform_arg, run->arena, v);
    return object_new_in(room, v, ret, err);
}

/* Items of a list have no kind of their own; their list's, without "List", is theirs. */
static void name_kind(struct reflector_run *run, struct value *item, const struct value *list)
{
    struct arena *a = arena_in(run->arena);
    struct str kind = value_text(list, "kind"), version = value_text(list, "apiVersion");
    if (value_get(item, STR("kind")) || !str_ends(kind, STR("List")))
        return;
    struct value named = value_object();
    value_put_new(a, &named, STR("kind"), value_string(str_take(kind, kind.n - 4)));
    value_put_new(a, &named, STR("apiVersion"), value_string(version));
    value_each_field (f, item)
        value_put_new(a, &named, f->key, value_borrow(&f->val));
    *item = named;
}

static int collect_page(struct reflector_run *run, struct spn_value *page, struct collected *all,
                        struct spn_err *err)
{
    struct value *list = value_in_edit(page);
    struct value *items = value_edit(arena_in(run->arena), list, STR("items"));
    for (size_t i = 0; value_is(items, VALUE_ARRAY) && i < items->n; i++) {
        struct value *item = value_edit_at(arena_in(run->arena), items, i);
        struct spn_object *o;
        name_kind(run, item, list);
        int r = seal(run, &all->room, value_out_edit(item), &o, err);
        if (r < 0)
            return r;
        collect(all, o);
    }
    return 0;
}

/* All pages. The first one is of any version that the server has at hand, as the watch brings the
 * rest; after "too old" it must be the newest. */
static int list_pages(struct reflector_run *run, bool newest, struct collected *all,
                      struct buf *version, struct spn_err *err)
{
    const struct spn_informer_options *opt = run->r->opt;
    autobuf resume = { 0 };
    do {
        struct spn_select which = { .labels = opt->labels,
                                    .fields = opt->fields,
                                    .limit = opt->page > 0 ? opt->page : (int64_t)PAGE,
                                    .resume = text_out(buf_str(&resume)) };
        struct spn_call how = { .timeout_ms = LIST_TIMEOUT_MS,
                                .stop = run->r->stop,
                                .metadata_only = opt->metadata_only,
                                .resource_version = newest || resume.n ? NULL : "0" };
        struct spn_value *page;
        spn_arena_reset(run->arena);
        int r = spn_client_list(run->r->client, &opt->what, &which, &how, run->arena, &page, err);
        if (r < 0)
            return r;
        r = collect_page(run, page, all, err);
        if (r < 0)
            return r;
        const struct value *meta = value_get(value_in(page), STR("metadata"));
        buf_reset(&resume);
        buf_str_add(&resume, value_text(meta, "continue"));
        buf_reset(version);
        buf_str_add(version, value_text(meta, "resourceVersion"));
    } while (resume.n);
    return 0;
}

static int list(struct reflector_run *run, bool newest, struct spn_err *err)
{
    struct collected all = collect_begin(run);
    autobuf version = { 0 };
    count(run, &run->r->stats.lists);
    int r = list_pages(run, newest, &all, &version, err);
    if (r == -SPN_EXPIRED && !newest) { /* a page came too late: once more, from the newest */
        collected_done(&all);
        all = collect_begin(run);
        r = list_pages(run, true, &all, &version, err);
    }
    if (r == 0) {
        collect_end(&all, run->r->fifo);
        set_version(run, text_out(buf_str(&version)));
    }
    collected_done(&all);
    return r;
}

/* ---- Watching ---- */

static int open_watch(struct reflector_run *run, bool initial, struct spn_watch **ret,
                      struct spn_err *err)
{
    const struct spn_informer_options *opt = run->r->opt;
    struct spn_watch_options how = {
        .labels = opt->labels,
        .fields = opt->fields,
        .from = initial ? SPN_TEXT("") : text_out(buf_str(&run->version)),
        .bookmarks = true,
        .initial_events = initial,
        .timeout_sec = WATCH_MIN_SEC + random_up_to(run, WATCH_MIN_SEC),
        .metadata_only = opt->metadata_only,
    };
    count(run, &run->r->stats.watches);
    spn_arena_reset(run->arena);
    return spn_client_watch(run->r->client, &opt->what, &how, run->r->stop, run->arena, ret, err);
}

static void put_event(struct reflector_run *run, enum spn_event_type type, struct spn_object *o)
{
    static const enum delta_type types[] = {
        [SPN_EVENT_ADDED] = DELTA_ADDED,
        [SPN_EVENT_MODIFIED] = DELTA_UPDATED,
        [SPN_EVENT_DELETED] = DELTA_DELETED,
    };
    delta_fifo_put(run->r->fifo, types[type], o);
    count(run, &run->r->stats.events);
}

static struct spn_text version_of(const struct spn_value *v)
{
    return spn_value_text(spn_value_dig(v, "metadata", "resourceVersion"));
}

static int take_event(struct reflector_run *run, const struct spn_event *event, struct spn_err *err)
{
    if (event->type != SPN_EVENT_BOOKMARK) {
        struct spn_object *o;
        struct spn_text version = spn_arena_text(run->arena, version_of(event->object));
        int r = seal(run, NULL, event->object, &o, err);
        if (r < 0)
            return r;
        put_event(run, event->type, o);
        spn_object_unref(o);
        set_version(run, version);
        return 0;
    }
    set_version(run, version_of(event->object));
    return 0;
}

/* 1: an event was taken; 0: the server has ended the watch in good order. */
static int next_event(struct reflector_run *run, int64_t timeout_ms, struct spn_err *err)
{
    struct spn_event event;
    spn_arena_reset(run->arena);
    int r = spn_watch_next(run->watch, timeout_ms, run->arena, &event, err);
    if (r <= 0)
        return r;
    r = take_event(run, &event, err);
    return r < 0 ? r : 1;
}

/* Until it ends. */
static int follow(struct reflector_run *run, struct spn_err *err)
{
    for (;;) {
        int r = next_event(run, resync_in_ms(run), err);
        if (r <= 0 && r != -SPN_TIMEOUT)
            return r;
    }
}

static bool is_end_of_initial(const struct spn_event *event)
{
    struct spn_text mark = spn_value_text(
        spn_value_dig(event->object, "metadata", "annotations", "k8s.io/initial-events-end"));
    return event->type == SPN_EVENT_BOOKMARK && spn_text_eq(mark, SPN_TEXT("true"));
}

/* The initial events, up to the bookmark that ends them. */
static int collect_stream(struct reflector_run *run, struct spn_watch *w, struct collected *all,
                          struct spn_err *err)
{
    for (;;) {
        struct spn_event event;
        struct spn_object *o;
        spn_arena_reset(run->arena);
        int r = spn_watch_next(w, LIST_TIMEOUT_MS, run->arena, &event, err);
        if (r == 0)
            return spn_err_set(err, SPN_UNAVAILABLE, "the stream ended before its first bookmark");
        if (r < 0)
            return r;
        if (is_end_of_initial(&event)) {
            set_version(run, version_of(event.object));
            return 0;
        }
        if (event.type == SPN_EVENT_BOOKMARK)
            continue;
        r = seal(run, &all->room, event.object, &o, err);
        if (r < 0)
            return r;
        collect(all, o);
    }
}

/* Everything that is there, and the watch that goes on from it. */
static int stream(struct reflector_run *run, struct spn_watch **ret, struct spn_err *err)
{
    struct collected all;
    count(run, &run->r->stats.lists);
    int r = open_watch(run, true, ret, err);
    if (r < 0)
        return r;
    all = collect_begin(run);
    r = collect_stream(run, *ret, &all, err);
    if (r == 0)
        collect_end(&all, run->r->fifo);
    else
        *ret = spn_watch_free(*ret);
    collected_done(&all);
    return r;
}

/* Servers that cannot stream say that the request is wrong, or send what looks like no stream. */
static bool cannot_stream(int r)
{
    return r == -SPN_INVALID || r == -SPN_BAD_REQUEST || r == -SPN_NOT_ALLOWED ||
           r == -SPN_FORBIDDEN || r == -SPN_MALFORMED;
}

/* ---- All of it ---- */

/* A list or a stream of all. `ret` is a watch that goes on from it, or NULL. A server that fails at
 * streaming may do so because its store cannot: then it is asked for a list, and for a stream the
 * next time. */
static int begin(struct reflector_run *run, bool newest, struct spn_watch **ret,
                 struct spn_err *err)
{
    *ret = NULL;
    if (run->use_stream) {
        int r = stream(run, ret, err);
        run->use_stream = !cannot_stream(r);
        if (run->use_stream && r != -SPN_SERVER_ERROR)
            return r;
    }
    return list(run, newest, err);
}

static void watch_failed(struct reflector_run *run, int r, const struct spn_err *err)
{
    if (r == -SPN_CANCELLED)
        return;
    note_error(run, err);
    pause_after(run, err);
    if (r == -SPN_EXPIRED || r == -SPN_MALFORMED || r == -SPN_INVALID || r == -SPN_NOT_FOUND)
        run->needs_list = run->needs_newest = true;
}

/* Good order means after a while, too. */
static int judge_end(const struct reflector_run *run, int r, struct spn_err *err)
{
    bool was_short = clock_mono_ns(&clock_system) - run->began_ns < NS_PER_SEC;
    if (r < 0 || !was_short)
        return r;
    return spn_err_set(err, SPN_UNAVAILABLE, "the server ends watches at once");
}

static void watch_ended(struct reflector_run *run, int ended, struct spn_err *err)
{
    run->watch = spn_watch_free(run->watch);
    int r = judge_end(run, ended, err);
    if (r < 0)
        watch_failed(run, r, err);
}

static void list_anew(struct reflector_run *run)
{
    struct spn_err err = { 0 };
    int r = begin(run, run->needs_newest, &run->watch, &err);
    run->needs_list = r < 0;
    atomic_store(&run->r->is_absent, r == -SPN_NOT_FOUND);
    if (r == 0 || r == -SPN_CANCELLED)
        return;
    note_error(run, &err);
    run->needs_newest = r == -SPN_EXPIRED;
    pause_after(run, &err);
}

static bool watch_anew(struct reflector_run *run)
{
    struct spn_err err = { 0 };
    int r = run->watch ? 0 : open_watch(run, false, &run->watch, &err);
    if (r < 0) {
        watch_failed(run, r, &err);
        return false;
    }
    run->began_ns = clock_mono_ns(&clock_system);
    note_good(run);
    return true;
}

/* True: the pool has it now, and we have it no longer. */
static bool park(struct reflector_run *run)
{
    if (run->r->opt->resync_ms > 0 || !watch_can_tell(run->watch))
        return false;
    pool_wake(run->pool, &run->reader);
    return true;
}

/* The run is the caller's of reflector_join() from now on. */
static void finish(struct reflector_run *run)
{
    run->watch = spn_watch_free(run->watch);
    (void)pthread_mutex_lock(&run->lock);
    run->is_over = true;
    (void)pthread_cond_broadcast(&run->changed);
    (void)pthread_mutex_unlock(&run->lock);
}

/* What takes its time. Until there is a watch to park, or the end. */
static void work(struct reflector_run *run)
{
    while (!spn_stop_is_set(run->r->stop)) {
        struct spn_err err = { 0 };
        if (run->needs_list)
            list_anew(run);
        if (run->needs_list || !watch_anew(run))
            continue;
        if (park(run))
            return;
        int r = follow(run, &err);
        watch_ended(run, r, &err);
    }
    finish(run);
}

static void *work_first(void *arg)
{
    work(arg);
    return NULL;
}

static void *work_again(void *arg)
{
    struct reflector_run *run = arg;
    watch_ended(run, run->ended, &run->why);
    work(run);
    return NULL;
}

/* ---- On the pool ---- */

/* The thread that parked the watch has ended, or is about to. Without another one the pool's has to
 * do. */
static void leave_pool(struct reflector_run *run)
{
    if (spn_stop_is_set(run->r->stop)) {
        finish(run);
        return;
    }
    if (run->has_thread)
        (void)pthread_join(run->thread, NULL);
    run->has_thread = thread_start(&run->thread, STACK_BYTES, work_again, run);
    if (!run->has_thread)
        (void)work_again(run);
}

static void on_ready(void *arg)
{
    struct reflector_run *run = arg;
    pool_wake(run->pool, &run->reader);
}

/* Some events; if there are more, others get their turn first. */
static void read_some(struct pool_task *t)
{
    enum { AT_ONCE = 16 };
    struct reflector_run *run = container_of(t, struct reflector_run, reader);
    for (int i = 0; i < AT_ONCE; i++) {
        struct spn_err err = { 0 };
        int r = next_event(run, 0, &err);
        if (r == -SPN_TIMEOUT) {
            watch_when_ready(run->watch, on_ready, run);
            return;
        }
        if (r <= 0) {
            run->ended = r;
            run->why = err;
            leave_pool(run);
            return;
        }
    }
    pool_wake(run->pool, t);
}

/* ---- Beginning and end ---- */

void reflector_init(struct reflector *r, struct spn_client *c,
                    const struct spn_informer_options *opt, struct delta_fifo *fifo,
                    struct spn_stop *stop)
{
    *r = (struct reflector){ .client = c, .opt = opt, .fifo = fifo, .stop = stop };
    (void)pthread_mutex_init(&r->lock, NULL);
}

void reflector_done(struct reflector *r)
{
    (void)pthread_mutex_destroy(&r->lock);
}

bool reflector_start(struct reflector *r)
{
    struct reflector_run *run = mem_new(struct reflector_run);
    run->r = r;
    run->arena = spn_arena_new();
    run->use_stream = !r->opt->no_stream;
    run->pause_ms = FIRST_PAUSE_MS;
    run->seed = (unsigned)clock_wall_ns(&clock_system);
    run->next_resync_ns = clock_mono_ns(&clock_system) + r->opt->resync_ms * NS_PER_MS;
    run->needs_list = true;
    run->pool = client_pool(r->client);
    run->reader.run = read_some;
    (void)pthread_mutex_init(&run->lock, NULL);
    (void)pthread_cond_init(&run->changed, NULL);
    r->run = run;
    run->has_thread = thread_start(&run->thread, STACK_BYTES, work_first, run);
    if (run->has_thread)
        return true;
    finish(run);
    reflector_join(r);
    return false;
}

static void await_end(struct reflector_run *run)
{
    (void)pthread_mutex_lock(&run->lock);
    while (!run->is_over)
        (void)pthread_cond_wait(&run->changed, &run->lock);
    (void)pthread_mutex_unlock(&run->lock);
    pool_settle(run->pool, &run->reader);
    if (run->has_thread)
        (void)pthread_join(run->thread, NULL);
}

void reflector_join(struct reflector *r)
{
    struct reflector_run *run = r->run;
    if (!run)
        return;
    r->run = NULL;
    await_end(run);
    buf_done(&run->version);
    spn_arena_free(run->arena);
    (void)pthread_cond_destroy(&run->changed);
    (void)pthread_mutex_destroy(&run->lock);
    free(run);
}
