/* Priority: which pods go first, by their PriorityClass. */
#include "admission/plugins.h"
#include "base/banned.h"

struct priority {
    struct str name;
    int64_t value;
    struct str preemption;
};

static void take_class(const struct value *class, struct priority *ret)
{
    ret->name = value_str(value_dig(class, "metadata", "name"));
    ret->value = 0;
    (void)value_to_int(value_get(class, STR("value")), &ret->value);
    ret->preemption = value_text(class, "preemptionPolicy");
}

struct lowest {
    struct priority *of;
    bool found;
};

static int take_default(void *arg, const struct value *class)
{
    struct lowest *lowest = arg;
    const struct value *is_default = value_get(class, STR("globalDefault"));
    struct priority one;
    take_class(class, &one);
    if (value_is(is_default, VALUE_BOOL) && is_default->b &&
        (!lowest->found || one.value < lowest->of->value)) {
        *lowest->of = one;
        lowest->found = true;
    }
    return 0;
}

/* The class that counts where none is named: 1 and `ret`, 0 if there is none, or an error. If there
 * are several it is the lowest. */
static int default_class(struct admission_request *req, struct priority *ret, struct err *err)
{
    struct lowest lowest = { .of = ret };
    /* Most classes are no default, so most are not read. */
    int r = admission_each(req, STR("scheduling.k8s.io"), STR("priorityclasses"),
                           STR("\"globalDefault\":true"), take_default, &lowest, err);
    return r < 0 ? r : lowest.found;
}

static int find_priority(struct admission_request *req, const struct value *pod,
                         struct priority *ret, struct err *err)
{
    struct str name = value_str(value_dig(pod, "spec", "priorityClassName"));
    struct value class;
    *ret = (struct priority){ .preemption = STR("PreemptLowerPriority") };
    if (!name.n) {
        int r = default_class(req, ret, err);
        return r < 0 ? r : 0;
    }
    int r = admission_read(req, STR("scheduling.k8s.io"), STR("priorityclasses"), STR(""), name,
                           &class, err);
    if (r < 0)
        return r;
    if (r == 0)
        return admission_forbid(req, pod,
                                arena_printf(req->arena,
                                             "no PriorityClass with name " STR_FMT " was found",
                                             STR_ARG(name)),
                                err);
    take_class(&class, ret);
    return 0;
}

static int set_priority(struct admission_request *req, struct value *pod, struct err *err)
{
    struct priority p;
    int r = find_priority(req, pod, &p, err);
    if (r < 0)
        return r;
    struct value *spec = value_ensure(req->arena, pod, STR("spec"));
    int64_t given;
    if (value_to_int(value_get(spec, STR("priority")), &given) && given != p.value)
        return admission_forbid(
            req, pod,
            arena_printf(req->arena,
                         "the integer value of priority (%lld) must not be provided in "
                         "pod spec; priority admission controller computed %lld from "
                         "the given PriorityClass name",
                         (long long)given, (long long)p.value),
            err);
    struct str policy = value_text(spec, "preemptionPolicy");
    if (policy.n && p.preemption.n && !str_eq(policy, p.preemption))
        return admission_forbid(
            req, pod,
            arena_printf(req->arena,
                         "the string value of PreemptionPolicy (" STR_FMT
                         ") must not be provided in pod spec; priority admission "
                         "controller computed " STR_FMT " from the given PriorityClass name",
                         STR_ARG(policy), STR_ARG(p.preemption)),
            err);
    if (p.name.n)
        value_put(req->arena, spec, STR("priorityClassName"), value_string(p.name));
    value_put(req->arena, spec, STR("priority"), value_int(p.value));
    if (p.preemption.n)
        value_put(req->arena, spec, STR("preemptionPolicy"), value_string(p.preemption));
    return 0;
}

static void keep_priority(struct arena *a, struct value *pod, const struct value *old_pod)
{
    static const struct str fields[] = { STR("priority"), STR("preemptionPolicy") };
    struct value *spec = value_ensure(a, pod, STR("spec"));
    const struct value *old_spec = value_get(old_pod, STR("spec"));
    for (size_t i = 0; i < 2; i++)
        if (!value_get(spec, fields[i]) && value_get(old_spec, fields[i]))
            value_put(a, spec, fields[i], value_borrow(value_get(old_spec, fields[i])));
}

static int mutate(struct admission_request *req, struct value *pod, struct err *err)
{
    if (!req->old_obj)
        return set_priority(req, pod, err);
    keep_priority(req->arena, pod, req->old_obj);
    return 0;
}

/* There is one default at most. */
static int validate(struct admission_request *req, const struct value *class, struct err *err)
{
    const struct value *is_default = value_get(class, STR("globalDefault"));
    struct priority there;
    if (!value_is(is_default, VALUE_BOOL) || !is_default->b)
        return 0;
    int r = default_class(req, &there, err);
    if (r <= 0 ||
        (req->old_obj && str_eq(there.name, value_str(value_dig(class, "metadata", "name")))))
        return r < 0 ? r : 0;
    return admission_forbid(req, class,
                            arena_printf(req->arena,
                                         "PriorityClass " STR_FMT " is already marked as default. "
                                         "Only one default can exist",
                                         STR_ARG(there.name)),
                            err);
}

static const struct admission_target pods[] = {
    { STR(""), STR("pods"), ADMISSION_CREATE | ADMISSION_UPDATE },
    { .operations = 0 },
};
static const struct admission_target classes[] = {
    { STR("scheduling.k8s.io"), STR("priorityclasses"), ADMISSION_CREATE | ADMISSION_UPDATE },
    { .operations = 0 },
};

const struct admission_plugin plugin_priority = {
    .name = "Priority",
    .targets = pods,
    .mutate = mutate,
};
const struct admission_plugin plugin_priority_class = {
    .name = "Priority",
    .targets = classes,
    .validate = validate,
};
