/* tell.c - events, as a kubelet says them. */
#include "client/bridge.h"
#include "node/agent/agent_internal.h"
#include "base/banned.h"

static void put(struct arena *a, struct value *ref, struct str key, struct str text)
{
    if (text.n)
        value_put_new(a, ref, key, value_string(text));
}

/* What the event is about: the pod, or "spec.containers{c}" of it. */
static struct value reference(struct arena *a, const struct value *pod, struct str container)
{
    struct value ref = value_object();
    put(a, &ref, STR("kind"), STR("Pod"));
    put(a, &ref, STR("namespace"), pod_ns(pod));
    put(a, &ref, STR("name"), pod_name(pod));
    put(a, &ref, STR("uid"), pod_uid(pod));
    put(a, &ref, STR("apiVersion"), STR("v1"));
    put(a, &ref, STR("resourceVersion"), value_str(value_dig(pod, "metadata", "resourceVersion")));
    struct str list = STR("containers");
    if (!container.n)
        return ref;
    (void)pod_container(pod, container, &list);
    put(a, &ref, STR("fieldPath"),
        arena_printf(a, "spec." STR_FMT "{" STR_FMT "}", STR_ARG(list), STR_ARG(container)));
    return ref;
}

__attribute__((format(printf, 6, 0))) static void
say(struct agent *ag, const struct value *pod, struct str container, enum spn_severity severity,
    const char *reason, const char *fmt, va_list ap)
{
    struct arena a;
    arena_init(&a);
    struct value ref = reference(&a, pod, container);
    struct str text = arena_vprintf(&a, fmt, ap);
    spn_event(ag->events, value_out(&ref), severity, reason, STR_FMT, STR_ARG(text));
    arena_done(&a);
}

void tell_pod(struct agent *ag, const struct value *pod, enum spn_severity severity,
              const char *reason, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(ag, pod, STR(""), severity, reason, fmt, ap);
    va_end(ap);
}

void tell_container(struct agent *ag, const struct value *pod, struct str container,
                    enum spn_severity severity, const char *reason, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(ag, pod, container, severity, reason, fmt, ap);
    va_end(ap);
}
