#include "node/simulated/pod_log.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "client/bridge.h"
#include "node/simulated/life.h"
#include "base/banned.h"

enum { PROBES_SEC = 3600, LINES_MAX = 3 * PROBES_SEC + 8 };

/* ---- Which container ---- */

static const struct spn_value *find(const struct spn_value *pod, const char *part,
                                    const char *const keys[3], struct spn_text name)
{
    for (size_t k = 0; k < 3; k++) {
        const struct spn_value *list = spn_value_dig(pod, part, keys[k]);
        for (size_t i = 0; i < spn_value_count(list); i++)
            if (spn_text_eq(spn_value_text(spn_value_get(spn_value_at(list, i), "name")), name))
                return spn_value_at(list, i);
    }
    return NULL;
}

static const struct spn_value *find_spec(const struct spn_value *pod, struct spn_text name)
{
    static const char *const keys[] = { "containers", "initContainers", "ephemeralContainers" };
    return find(pod, "spec", keys, name);
}

static const struct spn_value *find_status(const struct spn_value *pod, struct spn_text name)
{
    static const char *const keys[] = { "containerStatuses", "initContainerStatuses",
                                        "ephemeralContainerStatuses" };
    return find(pod, "status", keys, name);
}

/* ---- Lines ---- */

static void add_line(struct pod_log *log, int64_t at_ns, struct spn_text text)
{
    if (log->n < LINES_MAX)
        log->lines[log->n++] = (struct pod_log_line){ at_ns, text };
}

static const struct {
    const char *key, *kind;
    enum pod_probe probe;
} probes[] = { { "startupProbe", "startup", PROBE_STARTUP },
               { "readinessProbe", "readiness", PROBE_READINESS },
               { "livenessProbe", "liveness", PROBE_LIVENESS } };

static struct spn_text probe_text(struct spn_arena *a, const char *kind,
                                  const struct spn_value *probe, bool fails)
{
    struct spn_text path = spn_value_text(spn_value_dig(probe, "httpGet", "path"));
    if (spn_value_get(probe, "httpGet"))
        return spn_arena_printf(a, "%s probe: GET " SPN_FMT " %d", kind,
                                SPN_ARG(path.n ? path : SPN_TEXT("/")), fails ? 503 : 200);
    return spn_arena_printf(a, "%s probe: %s", kind, fails ? "failed" : "passed");
}

/* That of the start is over when it has passed once. */
static bool is_probed(const struct spn_value *probe, int64_t sec, bool is_once)
{
    const int64_t delay = container_probe_number(probe, "initialDelaySeconds", 0);
    const int64_t period = container_probe_number(probe, "periodSeconds", 10);
    if (!probe || sec < delay)
        return false;
    return is_once ? sec == (delay ? delay : 1) : (sec - delay) % period == 0;
}

static void add_probes(struct spn_arena *a, struct pod_log *log, const struct spn_value *spec,
                       enum pod_probe failing, int64_t start_ns, int64_t end_ns)
{
    const int64_t last = (end_ns - start_ns) / NS_PER_SEC;
    for (int64_t sec = last > PROBES_SEC ? last - PROBES_SEC : 1; sec <= last; sec++)
        for (size_t i = 0; i < ARRAY_LEN(probes); i++) {
            const struct spn_value *probe = spn_value_get(spec, probes[i].key);
            const bool fails = probes[i].probe == failing;
            if (is_probed(probe, sec, probes[i].probe == PROBE_STARTUP && !fails))
                add_line(log, start_ns + sec * NS_PER_SEC,
                         probe_text(a, probes[i].kind, probe, fails));
        }
}

/* From `running` or `terminated` of a status. */
static void tell(struct spn_arena *a, const struct spn_value *pod, const struct spn_value *spec,
                 const struct spn_value *state, int64_t now_ns, struct pod_log *log)
{
    const struct spn_value *meta = spn_value_get(pod, "metadata");
    const struct spn_value *over = spn_value_get(state, "finishedAt");
    int64_t start_ns = now_ns, end_ns = now_ns, code = 0;
    (void)life_read_time(spn_value_get(state, "startedAt"), &start_ns);
    if (over)
        (void)life_read_time(over, &end_ns);
    add_line(log, start_ns,
             spn_arena_printf(a,
                              "container " SPN_FMT " of pod " SPN_FMT "/" SPN_FMT
                              " has started: image " SPN_FMT " (simulated)",
                              SPN_ARG(spn_value_text(spn_value_get(spec, "name"))),
                              SPN_ARG(spn_value_text(spn_value_get(meta, "namespace"))),
                              SPN_ARG(spn_value_text(spn_value_get(meta, "name"))),
                              SPN_ARG(spn_value_text(spn_value_get(spec, "image")))));
    add_probes(a, log, spec, pod_wish_read(pod).fails, start_ns, end_ns);
    if (!over)
        return;
    (void)spn_value_int(spn_value_get(state, "exitCode"), &code);
    add_line(log, end_ns,
             spn_arena_printf(a, "container has ended with exit code %lld", (long long)code));
    log->is_over = true;
}

static int no_log(struct spn_arena *a, const struct spn_value *pod, struct spn_text container,
                  const struct spn_value *status, bool previous, struct spn_text *ret_why)
{
    struct spn_text name = spn_value_text(spn_value_dig(pod, "metadata", "name"));
    struct spn_text reason = spn_value_text(spn_value_dig(status, "state", "waiting", "reason"));
    if (previous)
        *ret_why = spn_arena_printf(
            a, "previous terminated container \"" SPN_FMT "\" in pod \"" SPN_FMT "\" not found",
            SPN_ARG(container), SPN_ARG(name));
    else if (!status)
        *ret_why =
            spn_arena_printf(a, "container \"" SPN_FMT "\" in pod \"" SPN_FMT "\" is not available",
                             SPN_ARG(container), SPN_ARG(name));
    else if (life_text_is(reason, "ErrImagePull"))
        *ret_why = spn_arena_printf(a,
                                    "container \"" SPN_FMT "\" in pod \"" SPN_FMT
                                    "\" is waiting to start: image can't be pulled",
                                    SPN_ARG(container), SPN_ARG(name));
    else if (life_text_is(reason, "ImagePullBackOff"))
        *ret_why = spn_arena_printf(a,
                                    "container \"" SPN_FMT "\" in pod \"" SPN_FMT
                                    "\" is waiting to start: trying and failing to pull image",
                                    SPN_ARG(container), SPN_ARG(name));
    else
        *ret_why = spn_arena_printf(
            a, "container \"" SPN_FMT "\" in pod \"" SPN_FMT "\" is waiting to start: " SPN_FMT,
            SPN_ARG(container), SPN_ARG(name), SPN_ARG(reason));
    return 400;
}

/* One that waits to start again still has the log of the last time. */
static const struct spn_value *state_of(const struct spn_value *status, bool previous)
{
    const struct spn_value *state = spn_value_get(status, "state");
    const struct spn_value *last = spn_value_dig(status, "lastState", "terminated");
    const struct spn_value *now = spn_value_get(state, "running");
    if (previous)
        return last;
    now = now ? now : spn_value_get(state, "terminated");
    return now ? now : last;
}

int pod_log_read(struct spn_arena *a, const struct spn_value *pod, const struct pod_log_wish *wish,
                 struct pod_log *ret, struct spn_text *ret_why)
{
    const struct spn_value *spec = find_spec(pod, wish->container);
    const struct spn_value *status = find_status(pod, wish->container);
    const struct spn_value *state = state_of(status, wish->previous);
    if (!spec) {
        *ret_why =
            spn_arena_printf(a, "container \"" SPN_FMT "\" not found in pod \"" SPN_FMT "\"",
                             SPN_ARG(wish->container),
                             SPN_ARG(spn_value_text(spn_value_dig(pod, "metadata", "name"))));
        return 404;
    }
    if (!state)
        return no_log(a, pod, wish->container, status, wish->previous, ret_why);
    *ret = (struct pod_log){ .lines = spn_arena_alloc(a, LINES_MAX * sizeof(*ret->lines)) };
    ret->id = spn_value_text(spn_value_get(state, "startedAt"));
    tell(a, pod, spec, state, wish->now_ns, ret);
    return 0;
}

/* ---- As it is shown ---- */

static size_t first_line(const struct pod_log *log, const struct pod_log_view *view, size_t seen)
{
    size_t first = seen;
    while (first < log->n && log->lines[first].at_ns < view->since_ns)
        first++;
    if (view->tail >= 0 && !seen && (int64_t)(log->n - first) > view->tail)
        first = log->n - (size_t)view->tail;
    return first;
}

/* As Go's RFC3339Nano, with all digits. */
static void add_time(struct buf *out, int64_t at_ns)
{
    char text[CLOCK_TEXT_BYTES];
    struct str second = clock_format(at_ns, false, text);
    buf_printf(out, STR_FMT ".%09lldZ ", (int)second.n - 1, second.p,
               (long long)(at_ns % NS_PER_SEC));
}

struct spn_text pod_log_text(struct spn_arena *a, const struct pod_log *log,
                             const struct pod_log_view *view, size_t seen)
{
    autobuf out = { 0 };
    for (size_t i = first_line(log, view, seen); i < log->n; i++) {
        if (view->timestamps)
            add_time(&out, log->lines[i].at_ns);
        buf_printf(&out, SPN_FMT "\n", SPN_ARG(log->lines[i].text));
    }
    if (view->limit >= 0 && (int64_t)out.n > view->limit)
        out.n = (size_t)view->limit;
    return spn_arena_text(a, (struct spn_text){ out.p, out.n });
}
