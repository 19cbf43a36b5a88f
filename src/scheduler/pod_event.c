#include "scheduler/pod_event.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "base/banned.h"

enum { NOTE_BYTES_MAX = 1024, SEEN_MAX = 1024, HOST_BYTES = 256 };
static const int64_t series_ns = INT64_C(360) * NS_PER_SEC;

/* An event that was written and may come again. */
struct seen {
    struct str key, name; /* in the same block */
    int64_t count, at_ns;
};

struct pod_event_writer {
    struct spn_client *client;
    struct spn_stop *stop;
    char host[HOST_BYTES];
    pthread_mutex_t lock; /* of what follows */
    struct seen seen[SEEN_MAX];
    size_t n, next; /* the oldest is replaced first */
};

struct pod_event_writer *pod_event_writer_new(struct spn_client *client, struct spn_stop *stop)
{
    struct pod_event_writer *w = mem_new(struct pod_event_writer);
    w->client = client;
    w->stop = stop;
    pthread_mutex_init(&w->lock, NULL);
    if (gethostname(w->host, sizeof(w->host) - 1) < 0)
        w->host[0] = '\0';
    return w;
}

static void forget(struct seen *s)
{
    free((void *)(uintptr_t)s->key.p);
    *s = (struct seen){ 0 };
}

struct pod_event_writer *pod_event_writer_free(struct pod_event_writer *w)
{
    if (!w)
        return NULL;
    for (size_t i = 0; i < w->n; i++)
        forget(&w->seen[i]);
    pthread_mutex_destroy(&w->lock);
    free(w);
    return NULL;
}

/* ---- Which have been written ---- */

/* How often it has happened, with this time, and the name of the first; 1: it is new. */
static int64_t count_again(struct pod_event_writer *w, struct str key, struct spn_arena *a,
                           struct spn_text *ret_name)
{
    int64_t now = clock_mono_ns(&clock_system), count = 1;
    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < w->n && count == 1; i++) {
        struct seen *s = &w->seen[i];
        if (!str_eq(s->key, key) || now - s->at_ns > series_ns)
            continue;
        count = ++s->count;
        s->at_ns = now;
        *ret_name = spn_arena_text(a, text_out(s->name));
    }
    pthread_mutex_unlock(&w->lock);
    return count;
}

static void remember(struct pod_event_writer *w, struct str key, struct str name)
{
    char *block = mem_alloc(key.n + name.n);
    memcpy(block, key.p, key.n);
    memcpy(block + key.n, name.p, name.n);
    pthread_mutex_lock(&w->lock);
    struct seen *s = &w->seen[w->next];
    forget(s);
    *s = (struct seen){ .key = { block, key.n },
                        .name = { block + key.n, name.n },
                        .count = 1,
                        .at_ns = clock_mono_ns(&clock_system) };
    w->next = (w->next + 1) % SEEN_MAX;
    w->n = w->n < SEEN_MAX ? w->n + 1 : w->n;
    pthread_mutex_unlock(&w->lock);
}

/* ---- Writing ---- */

static struct str shortened(struct spn_arena *a, struct str s)
{
    static const struct str dots = STR(" ...");
    if (s.n <= NOTE_BYTES_MAX)
        return s;
    size_t n = NOTE_BYTES_MAX - dots.n;
    while (n && (s.p[n] & 0xc0) == 0x80) /* not inside of a character */
        n--;
    return str_in(spn_arena_printf(a, STR_FMT STR_FMT, (int)n, s.p, STR_ARG(dots)));
}

static void put_reference(struct spn_arena *a, struct spn_value *to, const char *field,
                          const struct call_pod *p)
{
    struct spn_value *ref = spn_value_ensure(a, to, field);
    spn_value_set_text(a, ref, "apiVersion", SPN_TEXT("v1"));
    spn_value_set_text(a, ref, "kind", SPN_TEXT("Pod"));
    spn_value_set_text(a, ref, "namespace", text_out(p->ns));
    spn_value_set_text(a, ref, "name", text_out(p->name));
    spn_value_set_text(a, ref, "uid", text_out(p->uid));
    spn_value_set_text(a, ref, "resourceVersion", text_out(p->version));
}

static struct spn_text micro_time(struct spn_arena *a)
{
    char text[CLOCK_TEXT_BYTES];
    return spn_arena_text(a, text_out(clock_format(clock_wall_ns(&clock_system), true, text)));
}

static const struct spn_target events_at = SPN_AT("events.k8s.io", "v1", "events", "", "");

static void write_first(struct pod_event_writer *w, struct spn_arena *a, const struct pod_event *e,
                        struct str note, struct str key)
{
    struct spn_value *v = spn_value_new(a, SPN_OBJECT);
    struct spn_err err;
    struct spn_target at = events_at;
    const struct spn_call how = { .stop = w->stop, .manager = "kube-scheduler" };
    spn_value_set_text(a, v, "apiVersion", SPN_TEXT("events.k8s.io/v1"));
    spn_value_set_text(a, v, "kind", SPN_TEXT("Event"));
    struct spn_value *meta = spn_value_ensure(a, v, "metadata");
    at.ns = text_out(e->about.ns);
    at.name = spn_arena_printf(a, STR_FMT ".%llx", STR_ARG(e->about.name),
                               (unsigned long long)clock_wall_ns(&clock_system));
    spn_value_set_text(a, meta, "name", at.name);
    spn_value_set_text(a, meta, "namespace", at.ns);
    spn_value_set_text(a, v, "eventTime", micro_time(a));
    spn_value_set_text(a, v, "reportingController", text_out(e->component));
    spn_value_set_text(a, v, "reportingInstance",
                       spn_arena_printf(a, STR_FMT "-%s", STR_ARG(e->component), w->host));
    spn_value_set_text(a, v, "action", spn_text_of(e->action));
    spn_value_set_text(a, v, "reason", spn_text_of(e->reason));
    put_reference(a, v, "regarding", &e->about);
    if (e->related)
        put_reference(a, v, "related", e->related);
    spn_value_set_text(a, v, "note", text_out(note));
    spn_value_set_text(a, v, "type", e->is_warning ? SPN_TEXT("Warning") : SPN_TEXT("Normal"));
    if (spn_client_create(w->client, &at, v, &how, a, NULL, &err) == 0 && e->is_warning)
        remember(w, key, str_in(at.name));
}

static void write_series(struct pod_event_writer *w, struct spn_arena *a, const struct pod_event *e,
                         struct spn_text name, int64_t count)
{
    struct spn_target at = events_at;
    struct spn_err err;
    const struct spn_call how = { .stop = w->stop, .manager = "kube-scheduler" };
    at.ns = text_out(e->about.ns);
    at.name = name;
    struct spn_text when = micro_time(a);
    struct spn_text patch =
        spn_arena_printf(a, "{\"series\":{\"count\":%lld,\"lastObservedTime\":\"" SPN_FMT "\"}}",
                         (long long)count, SPN_ARG(when));
    (void)spn_client_patch(w->client, &at, SPN_MERGE_PATCH, patch, &how, a, NULL, &err);
}

void pod_event_write(struct pod_event_writer *w, struct spn_arena *a, const struct pod_event *e)
{
    struct str note = shortened(a, e->message);
    struct spn_text name = { 0 };
    /* Only failures come again; what happens once need not be looked for. */
    if (!e->is_warning) {
        write_first(w, a, e, note, (struct str){ 0 });
        return;
    }
    struct str key = str_in(spn_arena_printf(a, STR_FMT "\n%s\n" STR_FMT, STR_ARG(e->about.uid),
                                             e->reason, STR_ARG(note)));
    int64_t count = count_again(w, key, a, &name);
    if (count == 1)
        write_first(w, a, e, note, key);
    else
        write_series(w, a, e, name, count);
}
