/* spn_events.c - a bounded queue of events, and the thread that writes them. */
#include <sampan/events.h>

#include <sampan/log.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <sys/random.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "client/controller/event_correlator.h"
#include "client/thread.h"
#include "base/banned.h"

enum {
    MAX_QUEUED = 1000,
    TRIES = 12,
    PAUSE_MS = 10000,
    CALL_MS = 10000,
    SPAM_BURST = 25,
    SIMILAR_MAX = 10,
    SIMILAR_WITHIN_MS = 600000,
    MESSAGE_MAX_BYTES = 1024, /* as the API says of notes; the rest is cut off */
};
#define SPAM_PER_SECOND (1.0 / 300)

struct pending {
    TAILQ_ENTRY(pending) link;
    struct arena arena;
    struct event_note note;
};

struct spn_recorder {
    struct spn_recorder *writer; /* who has the queue and the thread: most often itself */
    struct spn_client *client;
    struct spn_recorder_options opt; /* texts in the arena */
    struct arena arena;
    struct event_correlator *correlator; /* the thread's */
    struct spn_stop *stop;
    pthread_t thread;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    TAILQ_HEAD(pendings, pending) queue;
    bool is_busy; /* the thread has one that is in the queue no more */
    bool is_ending;
    struct spn_recorder_stats stats;
};

/* ---- Writing one ---- */

static void put_text(struct spn_arena *a, struct spn_value *obj, const char *key, struct str text)
{
    if (text.n)
        spn_value_set_text(a, obj, key, text_out(text));
}

static void put_time(struct spn_arena *a, struct spn_value *obj, const char *key, int64_t wall_ns)
{
    char text[CLOCK_TEXT_BYTES];
    struct str time = clock_format(wall_ns, false, text);
    spn_value_set_text(a, obj, key, spn_arena_text(a, text_out(time)));
}

static struct spn_value *event_object(struct spn_arena *a, const struct event_note *e)
{
    struct spn_value *v = spn_value_new(a, SPN_OBJECT);
    put_text(a, v, "apiVersion", STR("v1"));
    put_text(a, v, "kind", STR("Event"));
    struct spn_value *meta = spn_value_ensure(a, v, "metadata");
    put_text(a, meta, "name", e->name);
    put_text(a, meta, "namespace", e->ns);
    struct spn_value *of = spn_value_ensure(a, v, "involvedObject");
    put_text(a, of, "kind", e->obj_kind);
    put_text(a, of, "namespace", e->obj_ns);
    put_text(a, of, "name", e->obj_name);
    put_text(a, of, "uid", e->obj_uid);
    put_text(a, of, "apiVersion", e->obj_api_version);
    put_text(a, of, "resourceVersion", e->obj_version);
    put_text(a, of, "fieldPath", e->obj_field);
    put_text(a, v, "reason", e->reason);
    put_text(a, v, "message", e->message);
    struct spn_value *source = spn_value_ensure(a, v, "source");
    put_text(a, source, "component", e->component);
    put_text(a, source, "host", e->host);
    put_time(a, v, "firstTimestamp", e->first_ns);
    put_time(a, v, "lastTimestamp", e->last_ns);
    spn_value_set_int(a, v, "count", e->count);
    put_text(a, v, "type", e->type);
    put_text(a, v, "reportingComponent", e->reporter);
    put_text(a, v, "reportingInstance", e->reporter_at);
    return v;
}

static struct spn_text event_patch(struct spn_arena *a, const struct event_note *e)
{
    struct spn_value *v = spn_value_new(a, SPN_OBJECT);
    spn_value_set_int(a, v, "count", e->count);
    put_time(a, v, "lastTimestamp", e->last_ns);
    put_text(a, v, "message", e->message);
    return spn_value_json(a, v);
}

static int write_once(struct spn_recorder *r, struct spn_arena *a, const struct event_note *e,
                      struct spn_err *err)
{
    const struct spn_call how = { .stop = r->stop, .timeout_ms = CALL_MS };
    struct spn_target at = SPN_AT("", "v1", "events", "", "");
    at.ns = text_out(e->ns);
    at.name = text_out(e->name);
    if (e->count > 1) {
        int done = spn_client_patch(r->client, &at, SPN_STRATEGIC_PATCH, event_patch(a, e), &how, a,
                                    NULL, err);
        if (done != -SPN_NOT_FOUND) /* events do not live for ever: then it is made anew */
            return done;
    }
    return spn_client_create(r->client, &at, event_object(a, e), &how, a, NULL, err);
}

/* The first pause is shorter by chance, so that not all programs come back at once. */
static int64_t pause_ms(const struct spn_recorder *r, unsigned tries)
{
    uint32_t random = 0;
    if (tries > 1 || getrandom(&random, sizeof(random), 0) != sizeof(random))
        return r->opt.pause_ms;
    return (int64_t)((double)r->opt.pause_ms * random / UINT32_MAX);
}

/* What a server has answered it would answer again; only if none was reached it is worth another
 * try. */
static bool write_note(struct spn_recorder *r, struct spn_arena *a, const struct event_note *e)
{
    for (unsigned tries = 1;; tries++) {
        struct spn_err err = { 0 };
        if (write_once(r, a, e, &err) == 0)
            return true;
        bool is_final = err.http_status || err.code == SPN_BAD_REQUEST;
        if (is_final || tries >= r->opt.tries || spn_stop_wait(r->stop, pause_ms(r, tries))) {
            spn_log(SPN_LOG_WARN, "an event could not be written reason=" STR_FMT " err=\"%s\"",
                    STR_ARG(e->reason), err.message);
            return false;
        }
    }
}

static void count(struct spn_recorder *r, uint64_t *counter)
{
    (void)pthread_mutex_lock(&r->lock);
    (*counter)++;
    (void)pthread_mutex_unlock(&r->lock);
}

static void record(struct spn_recorder *r, struct pending *p)
{
    int64_t now_ns = clock_wall_ns(&clock_system);
    if (!event_correlator_take(r->correlator, &p->arena, &p->note, now_ns))
        count(r, &r->stats.filtered);
    else if (write_note(r, arena_out(&p->arena), &p->note))
        count(r, &r->stats.written);
    else
        count(r, &r->stats.failed);
}

/* ---- The queue ---- */

static void pending_free(struct pending *p)
{
    arena_done(&p->arena);
    free(p);
}

static struct pending *next_pending(struct spn_recorder *r)
{
    (void)pthread_mutex_lock(&r->lock);
    r->is_busy = false;
    (void)pthread_cond_broadcast(&r->changed);
    while (!r->is_ending && TAILQ_EMPTY(&r->queue))
        (void)pthread_cond_wait(&r->changed, &r->lock);
    struct pending *p = r->is_ending ? NULL : TAILQ_FIRST(&r->queue);
    if (p) {
        TAILQ_REMOVE(&r->queue, p, link);
        r->stats.queued--;
        r->is_busy = true;
    }
    (void)pthread_mutex_unlock(&r->lock);
    return p;
}

static void *run_recorder(void *arg)
{
    struct spn_recorder *r = arg;
    struct pending *p;
    while ((p = next_pending(r))) {
        record(r, p);
        pending_free(p);
    }
    return NULL;
}

static void enqueue(struct spn_recorder *r, struct pending *p)
{
    (void)pthread_mutex_lock(&r->lock);
    bool is_full = r->is_ending || r->stats.queued >= r->opt.max_queued;
    if (is_full) {
        r->stats.dropped++;
    } else {
        TAILQ_INSERT_TAIL(&r->queue, p, link);
        r->stats.queued++;
        (void)pthread_cond_broadcast(&r->changed);
    }
    (void)pthread_mutex_unlock(&r->lock);
    if (is_full)
        pending_free(p);
}

/* ---- Making one ---- */

static struct str text_at(struct arena *a, const struct spn_value *v, const char *key)
{
    return arena_str(a, str_in(spn_value_text(spn_value_get(v, key))));
}

/* Without half of a character at the end. */
static struct str cut_message(struct str s)
{
    if (s.n <= MESSAGE_MAX_BYTES)
        return s;
    size_t n = MESSAGE_MAX_BYTES;
    while (n && ((unsigned char)s.p[n] & 0xc0) == 0x80)
        n--;
    return str_take(s, n);
}

enum { USUAL_BYTES = 512 }; /* of an event that waits */

static struct pending *pending_new(struct spn_recorder *r, const struct spn_value *obj,
                                   const struct spn_value *meta, enum spn_severity severity)
{
    struct pending *p = mem_new(struct pending);
    struct arena *a = &p->arena;
    arena_init(a);
    arena_expect(a, USUAL_BYTES);
    int64_t now_ns = clock_wall_ns(&clock_system);
    p->note = (struct event_note){
        .obj_api_version = text_at(a, obj, "apiVersion"),
        .obj_kind = text_at(a, obj, "kind"),
        .obj_ns = text_at(a, meta, "namespace"),
        .obj_name = text_at(a, meta, "name"),
        .obj_uid = text_at(a, meta, "uid"),
        .obj_version = text_at(a, meta, "resourceVersion"),
        .obj_field = text_at(a, obj, "fieldPath"),
        .type = severity == SPN_WARNING ? STR("Warning") : STR("Normal"),
        .component = str_of(r->opt.component),
        .host = str_of(r->opt.host),
        .reporter = str_of(r->opt.component),
        .reporter_at = str_of(r->opt.host),
        .count = 1,
        .first_ns = now_ns,
        .last_ns = now_ns,
    };
    p->note.ns = p->note.obj_ns.n ? p->note.obj_ns : STR("default");
    p->note.name = event_name(a, p->note.obj_name, now_ns);
    return p;
}

__attribute__((format(printf, 5, 0))) static void
record_event(struct spn_recorder *r, const struct spn_value *obj, enum spn_severity severity,
             const char *reason, const char *fmt, va_list ap)
{
    const struct spn_value *meta = spn_value_get(obj, "metadata");
    struct pending *p = pending_new(r, obj, meta ? meta : obj, severity);
    p->note.reason = arena_str(&p->arena, str_of(reason));
    p->note.message = cut_message(arena_vprintf(&p->arena, fmt, ap));
    enqueue(r->writer, p);
}

void spn_event(struct spn_recorder *r, const struct spn_value *obj, enum spn_severity severity,
               const char *reason, const char *fmt, ...)
{
    if (!r)
        return;
    va_list ap;
    va_start(ap, fmt);
    record_event(r, obj, severity, reason, fmt, ap);
    va_end(ap);
}

void spn_event_of(struct spn_recorder *r, const struct spn_object *o, enum spn_severity severity,
                  const char *reason, const char *fmt, ...)
{
    if (!r)
        return;
    struct spn_arena *a = spn_arena_new();
    va_list ap;
    va_start(ap, fmt);
    record_event(r, spn_object_value(o, a), severity, reason, fmt, ap);
    va_end(ap);
    spn_arena_free(a);
}

/* ---- Beginning and end ---- */

static struct spn_recorder_options with_defaults(struct arena *a,
                                                 const struct spn_recorder_options *opt)
{
    struct spn_recorder_options o = opt ? *opt : (struct spn_recorder_options){ 0 };
    o.component = str_cstr(a, str_of(o.component ? o.component : "sampan"));
    o.host = o.host ? str_cstr(a, str_of(o.host)) : NULL;
    o.max_queued = o.max_queued ? o.max_queued : MAX_QUEUED;
    o.tries = o.tries ? o.tries : TRIES;
    o.pause_ms = o.pause_ms ? o.pause_ms : PAUSE_MS;
    o.spam_burst = o.spam_burst ? o.spam_burst : SPAM_BURST;
    o.spam_per_second = o.spam_per_second > 0 ? o.spam_per_second : SPAM_PER_SECOND;
    o.similar_max = o.similar_max ? o.similar_max : SIMILAR_MAX;
    o.similar_within_ms = o.similar_within_ms ? o.similar_within_ms : SIMILAR_WITHIN_MS;
    return o;
}

static struct spn_recorder *release(struct spn_recorder *r)
{
    while (!TAILQ_EMPTY(&r->queue)) {
        struct pending *p = TAILQ_FIRST(&r->queue);
        TAILQ_REMOVE(&r->queue, p, link);
        pending_free(p);
    }
    event_correlator_free(r->correlator);
    spn_stop_free(r->stop);
    (void)pthread_cond_destroy(&r->changed);
    (void)pthread_mutex_destroy(&r->lock);
    arena_done(&r->arena);
    free(r);
    return NULL;
}

int spn_recorder_new(struct spn_client *c, const struct spn_recorder_options *opt,
                     struct spn_recorder **ret, struct spn_err *err)
{
    struct spn_recorder *r = mem_new(struct spn_recorder);
    arena_init(&r->arena);
    r->writer = r;
    r->client = c;
    r->opt = with_defaults(&r->arena, opt);
    r->correlator = event_correlator_new(&(struct event_correlator_options){
        .spam_burst = r->opt.spam_burst,
        .spam_per_second = r->opt.spam_per_second,
        .similar_max = r->opt.similar_max,
        .similar_within_ns = r->opt.similar_within_ms * NS_PER_MS,
    });
    r->stop = spn_stop_new();
    (void)pthread_mutex_init(&r->lock, NULL);
    cond_init_monotonic(&r->changed);
    TAILQ_INIT(&r->queue);
    if (!thread_start(&r->thread, 0, run_recorder, r)) {
        release(r);
        return spn_err_set(err, SPN_UNAVAILABLE, "no thread for events");
    }
    *ret = r;
    return 0;
}

struct spn_recorder *spn_recorder_as(struct spn_recorder *r, const char *component)
{
    (void)pthread_mutex_lock(&r->lock);
    struct spn_recorder *voice = arena_new(&r->arena, struct spn_recorder);
    voice->opt.component = str_cstr(&r->arena, str_of(component));
    (void)pthread_mutex_unlock(&r->lock);
    voice->writer = r;
    voice->opt.host = r->opt.host;
    return voice;
}

struct spn_recorder *spn_recorder_free(struct spn_recorder *r)
{
    if (!r)
        return NULL;
    (void)pthread_mutex_lock(&r->lock);
    r->is_ending = true;
    (void)pthread_cond_broadcast(&r->changed);
    (void)pthread_mutex_unlock(&r->lock);
    spn_stop_set(r->stop);
    (void)pthread_join(r->thread, NULL);
    return release(r);
}

bool spn_recorder_flush(struct spn_recorder *r, int64_t ms)
{
    int64_t until = clock_mono_ns(&clock_system) + ms * NS_PER_MS;
    bool in_time = true;
    (void)pthread_mutex_lock(&r->lock);
    while (in_time && (r->is_busy || !TAILQ_EMPTY(&r->queue)))
        in_time = cond_wait_until(&r->changed, &r->lock, until);
    bool is_empty = !r->is_busy && TAILQ_EMPTY(&r->queue);
    (void)pthread_mutex_unlock(&r->lock);
    return is_empty;
}

void spn_recorder_stats(struct spn_recorder *r, struct spn_recorder_stats *ret)
{
    (void)pthread_mutex_lock(&r->lock);
    *ret = r->stats;
    (void)pthread_mutex_unlock(&r->lock);
}
