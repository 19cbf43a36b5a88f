/* What pods use: what they ask for or have been given, whichever is more, while they are alive. */
#include <stdlib.h>

#include "admission/quota/quota_internal.h"
#include "api/go/gotime.h"
#include "api/names.h"
#include "api/pod_phase.h"
#include "api/pod_qos.h"
#include "api/pod_resources.h"
#include "api/quantity.h"
#include "api/resource_name.h"
#include "api/text_set.h"
#include "api/words.h"
#include "base/buf.h"
#include "base/banned.h"

#define REQUESTS_PREFIX STR("requests.")
#define LIMITS_PREFIX   STR("limits.")
#define DEVICE_CLASS    STR("deviceclass.resource.kubernetes.io/")

/* "cpu", also as "requests.cpu" and "limits.cpu" */
static bool is_compute(struct str name)
{
    return resource_is_cpu_or_memory(name) || str_eq(name, STR("ephemeral-storage"));
}

static bool has_part(struct str s, struct str part)
{
    return memmem(s.p, s.n, part.p, part.n);
}

static bool is_native(struct str name)
{
    return str_find(name, '/') < 0 || has_part(name, STR("kubernetes.io/"));
}

bool quota__pod_counts(struct str name)
{
    static const struct str plain[] = { STR("count/pods"), STR("pods") };
    struct str asked = str_starts(name, REQUESTS_PREFIX) ? str_skip(name, REQUESTS_PREFIX.n) : name;
    if (words_have(name, WORDS(plain)) || is_compute(asked) || resource_is_huge_page(asked))
        return true;
    if (str_starts(name, LIMITS_PREFIX))
        return is_compute(str_skip(name, LIMITS_PREFIX.n));
    return asked.n < name.n && (!is_native(name) || str_starts(asked, DEVICE_CLASS));
}

/* ---- What a pod asks for or has ---- */

/* Which list of a container counts. */
enum source { SPEC, ALLOCATED, ACTUATED };

struct looked_up {
    const struct value *status; /* of the pod */
    struct str list, name;
    enum source source;
    bool is_infeasible; /* what the spec asks for now cannot be had */
};

static const struct value *status_of(const struct value *status, struct str container)
{
    static const struct str lists[] = { STR("containerStatuses"), STR("initContainerStatuses") };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        value_each_item (it, value_get(status, lists[i]))
            if (str_eq(value_text(it, "name"), container))
                return it;
    return NULL;
}

static struct str asked(const void *arg, const struct value *container)
{
    const struct looked_up *l = arg;
    const struct value *list = NULL;
    const struct value *status =
        l->source == SPEC ? NULL : status_of(l->status, value_text(container, "name"));
    if (l->source == ACTUATED)
        list = value_get(value_get(status, STR("resources")), l->list);
    if (!list && l->source != SPEC && str_eq(l->list, STR("requests")))
        list = value_get(status, STR("allocatedResources"));
    if (!list && (l->source == SPEC || !l->is_infeasible))
        list = value_get(value_get(container, STR("resources")), l->list);
    return value_str(value_get(list, l->name));
}

static struct str larger(struct str a, struct str b)
{
    return !a.n || (b.n && quantity_cmp(b, a) > 0) ? b : a;
}

static bool is_infeasible(const struct value *status)
{
    value_each_item (it, value_get(status, STR("conditions")))
        if (str_eq(value_text(it, "type"), STR("PodResizePending")))
            return str_eq(value_text(it, "reason"), STR("Infeasible"));
    return false;
}

static struct str total(struct arena *a, const struct value *pod, struct str list, struct str name)
{
    const struct value *spec = value_get(pod, STR("spec")), *status = value_get(pod, STR("status"));
    struct looked_up l = {
        .status = status, .list = list, .name = name, .is_infeasible = is_infeasible(status)
    };
    bool has_status = value_get(status, STR("containerStatuses")) ||
                      value_get(status, STR("initContainerStatuses"));
    struct str sum = l.is_infeasible ? STR("") : pod_resources_total(a, spec, asked, &l);
    for (l.source = ALLOCATED; (has_status || l.is_infeasible) && l.source <= ACTUATED; l.source++)
        if (l.source == ACTUATED || str_eq(list, STR("requests")))
            sum = larger(sum, pod_resources_total(a, spec, asked, &l));
    struct str whole = STR("");
    if (resource_is_pod_level(name))
        whole = value_str(value_get(value_get(value_get(spec, STR("resources")), list), name));
    return whole.n ? whole : sum;
}

/* What running the pod itself takes comes on top; to limits only where there is one. */
static struct str pod_total(struct arena *a, const struct value *pod, struct str list,
                            struct str name)
{
    struct str sum = total(a, pod, list, name),
               overhead = value_str(value_get(value_dig(pod, "spec", "overhead"), name));
    bool is_limit = str_eq(list, STR("limits"));
    if (!overhead.n || (is_limit && (!sum.n || quantity_sign(sum) == 0)))
        return sum;
    return sum.n ? quantity_add(a, sum, overhead) : overhead;
}

/* ---- By name ---- */

bool quota__pod_is_alive(const struct quota_item *item)
{
    const struct value *meta = value_get(item->obj, STR("metadata"));
    int64_t grace;
    struct gotime at;
    if (pod_phase_is_final(value_str(value_dig(item->obj, "status", "phase"))))
        return false;
    return !value_to_int(value_get(meta, STR("deletionGracePeriodSeconds")), &grace) ||
           gotime_parse(value_text(meta, "deletionTimestamp"), false, &at, NULL) < 0 ||
           item->now_sec <= at.sec + grace;
}

static bool is_extended(struct str name)
{
    struct name_faults faults = { 0 };
    char text[512];
    if (str_starts(name, DEVICE_CLASS))
        return true;
    if (is_native(name) || str_starts(name, REQUESTS_PREFIX) ||
        name.n > sizeof(text) - REQUESTS_PREFIX.n)
        return false;
    memcpy(text, REQUESTS_PREFIX.p, REQUESTS_PREFIX.n);
    memcpy(text + REQUESTS_PREFIX.n, name.p, name.n);
    return name_check(NAME_QUALIFIED, (struct str){ text, REQUESTS_PREFIX.n + name.n }, &faults);
}

struct str quota__pod_usage(const struct quota_item *item, struct str name)
{
    bool is_request = str_starts(name, REQUESTS_PREFIX);
    struct str of = is_request ? str_skip(name, REQUESTS_PREFIX.n) : name;
    if (str_eq(name, STR("count/pods")))
        return STR("1");
    if (!quota__pod_is_alive(item))
        return STR("");
    if (str_eq(name, STR("pods")))
        return STR("1");
    if (str_starts(name, LIMITS_PREFIX)) {
        of = str_skip(name, LIMITS_PREFIX.n);
        return is_compute(of) ? pod_total(item->arena, item->obj, STR("limits"), of) : STR("");
    }
    if (is_compute(of) || resource_is_huge_page(of) || (is_request && is_extended(of)))
        return pod_total(item->arena, item->obj, STR("requests"), of);
    return STR("");
}

size_t quota__pod_names(const struct quota_item *item, struct str *ret)
{
    static const struct str plain[] = {
        STR("count/pods"),
        STR("pods"),
        STR("cpu"),
        STR("memory"),
        STR("requests.cpu"),
        STR("requests.memory"),
        STR("limits.cpu"),
        STR("limits.memory"),
        STR("requests.ephemeral-storage"),
        STR("limits.ephemeral-storage"),
        STR("ephemeral-storage"),
    };
    static const struct str lists[] = { STR("containers"), STR("initContainers") };
    size_t n = 0;
    autoset seen;
    text_set_init(&seen);
    for (; n < ARRAY_LEN(plain); n++)
        ret[n] = plain[n];
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        value_each_item (it, value_dig(item->obj, "spec", str_cstr(item->arena, lists[i])))
            value_each_field (f, value_dig(it, "resources", "requests")) {
                if (is_compute(f->key) || n + 1 >= QUOTA_NAMES_MAX ||
                    !text_set_add(&seen, f->key, item))
                    continue;
                ret[n++] = arena_printf(item->arena, "requests." STR_FMT, STR_ARG(f->key));
                if (resource_is_huge_page(f->key))
                    ret[n++] = f->key;
            }
    return n;
}

/* ---- What must be said ---- */

/* The things that each container has to say something of, if a quota limits them. */
static const struct {
    struct str name, list, resource;
} required[] = {
    { STR("cpu"), STR("requests"), STR("cpu") },
    { STR("limits.cpu"), STR("limits"), STR("cpu") },
    { STR("limits.memory"), STR("limits"), STR("memory") },
    { STR("memory"), STR("requests"), STR("memory") },
    { STR("requests.cpu"), STR("requests"), STR("cpu") },
    { STR("requests.memory"), STR("requests"), STR("memory") },
};

static bool is_said_for_pod(const struct value *spec)
{
    static const struct str lists[] = { STR("requests"), STR("limits") };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        value_each_field (f, value_get(value_get(spec, STR("resources")), lists[i]))
            if (resource_is_pod_level(f->key))
                return true;
    return false;
}

/* The containers that do not say it: sorted, "a,b", each once; empty: all do. */
static struct str silent_containers(struct arena *a, const struct value *spec, struct str list,
                                    struct str resource)
{
    static const struct str lists[] = { STR("containers"), STR("initContainers") };
    size_t n = 0, room = 0;
    autobuf text = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        const struct value *containers = value_get(spec, lists[i]);
        room += value_is(containers, VALUE_ARRAY) ? containers->n : 0;
    }
    struct str *names = arena_array(a, struct str, room);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        value_each_item (it, value_get(spec, lists[i]))
            if (!value_get(value_get(value_get(it, STR("resources")), list), resource))
                names[n++] = value_text(it, "name");
    if (n)
        qsort(names, n, sizeof(*names), words_compare);
    for (size_t i = 0; i < n; i++)
        if (!i || !str_eq(names[i], names[i - 1]))
            buf_printf(&text, "%s" STR_FMT, text.n ? "," : "", STR_ARG(names[i]));
    return arena_str(a, buf_str(&text));
}

struct str quota_missing(const struct quota_item *item, const struct value *hard)
{
    const struct value *spec = value_get(item->obj, STR("spec"));
    autobuf text = { 0 };
    bool is_pod = !item->group.n && str_eq(item->plural, STR("pods"));
    if (!is_pod || is_said_for_pod(spec))
        return STR("");
    for (size_t i = 0; i < ARRAY_LEN(required); i++) {
        struct str silent = STR("");
        if (value_get(hard, required[i].name))
            silent = silent_containers(item->arena, spec, required[i].list, required[i].resource);
        if (silent.n)
            buf_printf(&text, "%s" STR_FMT " for: " STR_FMT, text.n ? "; " : "must specify ",
                       STR_ARG(required[i].name), STR_ARG(silent));
    }
    return arena_str(item->arena, buf_str(&text));
}

/* ---- Scopes ---- */

bool quota_pod_is_terminating(const struct value *pod)
{
    int64_t seconds;
    return value_to_int(value_dig(pod, "spec", "activeDeadlineSeconds"), &seconds) && seconds >= 0;
}

static bool term_crosses(const struct value *term)
{
    const struct value *namespaces = value_get(term, STR("namespaces")),
                       *selector = value_get(term, STR("namespaceSelector"));
    return (value_is(namespaces, VALUE_ARRAY) && namespaces->n) || value_is(selector, VALUE_OBJECT);
}

static bool crosses_namespaces(const struct value *pod)
{
    static const struct str kinds[] = { STR("podAffinity"), STR("podAntiAffinity") };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const struct value *of = value_get(value_dig(pod, "spec", "affinity"), kinds[i]);
        value_each_item (it, value_get(of, STR("requiredDuringSchedulingIgnoredDuringExecution")))
            if (term_crosses(it))
                return true;
        value_each_item (it, value_get(of, STR("preferredDuringSchedulingIgnoredDuringExecution")))
            if (term_crosses(value_get(it, STR("podAffinityTerm"))))
                return true;
    }
    return false;
}

bool quota__pod_in_scope(const struct value *pod, const struct value *requirement)
{
    struct str scope = value_text(requirement, "scopeName");
    bool is_best_effort = str_eq(pod_qos_class(value_get(pod, STR("spec"))), STR("BestEffort"));
    if (str_eq(scope, STR("Terminating")))
        return quota_pod_is_terminating(pod);
    if (str_eq(scope, STR("NotTerminating")))
        return !quota_pod_is_terminating(pod);
    if (str_eq(scope, STR("BestEffort")))
        return is_best_effort;
    if (str_eq(scope, STR("NotBestEffort")))
        return !is_best_effort;
    if (str_eq(scope, STR("PriorityClass")))
        return quota__selects(requirement, value_str(value_dig(pod, "spec", "priorityClassName")));
    return str_eq(scope, STR("CrossNamespacePodAffinity")) && crosses_namespaces(pod);
}
