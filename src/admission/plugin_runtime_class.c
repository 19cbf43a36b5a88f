/* RuntimeClass: what a pod's class brings with it, an overhead and where such pods can run. */
#include "api/quantity.h"
#include "api/text_set.h"
#include "admission/plugins.h"
#include "admission/tolerations.h"
#include "base/banned.h"

#define OTHER_OVERHEAD \
    STR("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")

/* 1 and `*ret`, 0 if the pod names no class, or an error. */
static int find_class(struct admission_request *req, const struct value *pod, struct value *ret,
                      struct err *err)
{
    const struct value *name = value_dig(pod, "spec", "runtimeClassName");
    if (!value_is(name, VALUE_STRING))
        return 0;
    if (!value_str(name).n)
        return err_set(err, ERR_UNKNOWN, "resource name may not be empty");
    int r = admission_read(req, STR("node.k8s.io"), STR("runtimeclasses"), STR(""), value_str(name),
                           ret, err);
    return r ? r
             : admission_forbid_as(req, pod, err, "pod rejected: RuntimeClass %s not found",
                                   admission_quoted(req, value_str(name)));
}

/* ---- Overhead ---- */

static bool is_same_amount(const struct value *a, const struct value *b)
{
    size_t n = value_is(a, VALUE_OBJECT) ? a->n : 0, other = value_is(b, VALUE_OBJECT) ? b->n : 0;
    if (n != other)
        return false;
    value_each_field (f, a) {
        const struct value *its = value_get(b, f->key);
        if (!its || quantity_cmp(value_str(&f->val), value_str(its)) != 0)
            return false;
    }
    return true;
}

static int set_overhead(struct admission_request *req, struct value *pod, const struct value *class,
                        struct err *err)
{
    struct value *spec = value_ensure(req->arena, pod, STR("spec"));
    const struct value *fixed = value_dig(class, "overhead", "podFixed"),
                       *given = value_get(spec, STR("overhead"));
    if (!value_is(value_get(class, STR("overhead")), VALUE_OBJECT))
        return 0;
    if (value_is(given, VALUE_OBJECT) && given->n && !is_same_amount(given, fixed))
        return admission_forbid(req, pod, OTHER_OVERHEAD, err);
    if (fixed)
        value_put(req->arena, spec, STR("overhead"), value_borrow(fixed));
    return 0;
}

/* Others may have changed it meanwhile. */
static int validate(struct admission_request *req, const struct value *pod, struct err *err)
{
    struct value class;
    const struct value *given = value_dig(pod, "spec", "overhead");
    int r = find_class(req, pod, &class, err);
    if (r < 0)
        return r;
    if (r == 1 && value_is(value_get(&class, STR("overhead")), VALUE_OBJECT))
        return is_same_amount(given, value_dig(&class, "overhead", "podFixed"))
                   ? 0
                   : admission_forbid(req, pod, OTHER_OVERHEAD, err);
    if (!value_is(given, VALUE_OBJECT))
        return 0;
    return admission_forbid(
        req, pod,
        STR("pod rejected: Pod Overhead set without corresponding RuntimeClass defined "
            "Overhead"),
        err);
}

/* ---- Where such pods can run ---- */

static int refuse_selector(struct admission_request *req, const struct value *pod,
                           const struct value_field *wanted, struct str its, struct err *err)
{
    return admission_forbid(req, pod,
                            arena_printf(req->arena,
                                         "conflict: runtimeClass.scheduling.nodeSelector[" STR_FMT
                                         "] = " STR_FMT "; pod.spec.nodeSelector[" STR_FMT
                                         "] = " STR_FMT,
                                         STR_ARG(wanted->key), STR_ARG(value_str(&wanted->val)),
                                         STR_ARG(wanted->key), STR_ARG(its)),
                            err);
}

static int merge_selector(struct admission_request *req, struct value *pod,
                          const struct value *more, struct err *err)
{
    struct arena *a = req->arena;
    autoset given;
    text_set_init(&given);
    struct value *spec = value_ensure(a, pod, STR("spec"));
    struct value merged = value_object();
    value_each_field (f, value_get(spec, STR("nodeSelector"))) {
        (void)text_set_add(&given, f->key, &f->val);
        value_put_new(a, &merged, f->key, value_borrow(&f->val));
    }
    value_each_field (f, more) {
        const struct value *its = text_set_get(&given, f->key);
        if (its && !str_eq(value_str(its), value_str(&f->val)))
            return refuse_selector(req, pod, f, value_str(its), err);
        if (!its)
            value_put_new(a, &merged, f->key, value_borrow(&f->val));
    }
    if (merged.n)
        value_put(a, spec, STR("nodeSelector"), merged);
    return 0;
}

static int mutate(struct admission_request *req, struct value *pod, struct err *err)
{
    struct value class;
    int r = find_class(req, pod, &class, err);
    if (r <= 0)
        return r;
    const struct value *scheduling = value_get(&class, STR("scheduling"));
    r = set_overhead(req, pod, &class, err);
    if (r < 0 || !value_is(scheduling, VALUE_OBJECT))
        return r;
    r = merge_selector(req, pod, value_get(scheduling, STR("nodeSelector")), err);
    if (r < 0)
        return r;
    tolerations_merge(req->arena, pod, value_get(scheduling, STR("tolerations")));
    return 0;
}

static const struct admission_target targets[] = {
    { STR(""), STR("pods"), ADMISSION_CREATE },
    { .operations = 0 },
};

const struct admission_plugin plugin_runtime_class = {
    .name = "RuntimeClass",
    .targets = targets,
    .mutate = mutate,
    .validate = validate,
};
