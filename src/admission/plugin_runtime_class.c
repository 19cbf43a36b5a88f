/* RuntimeClass: what a pod's class brings with it, an overhead and where such pods can run. */
#include "api/quantity.h"
#include "api/text_set.h"
#include "base/limits.h"
#include "admission/plugins.h"
#include "base/banned.h"

/* 1 and `*ret`, 0 if the pod names no class, or an error. */
static int find_class(struct admission_request *req, const struct value *pod, struct value *ret,
                      struct err *err)
{
    const struct value *name = value_dig(pod, "spec", "runtimeClassName");
    if (!value_is(name, VALUE_STRING))
        return 0;
    int r = admission_read(req, STR("node.k8s.io"), STR("runtimeclasses"), STR(""), value_str(name),
                           ret, err);
    return r ? r
             : admission_forbid(req, pod,
                                arena_printf(req->arena,
                                             "pod rejected: RuntimeClass \"" STR_FMT "\" not found",
                                             STR_ARG(value_str(name))),
                                err);
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
        return admission_forbid(
            req, pod,
            STR("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"), err);
    if (fixed)
        value_put(req->arena, spec, STR("overhead"), value_borrow(fixed));
    return 0;
}

static int validate(struct admission_request *req, const struct value *pod, struct err *err)
{
    struct value class;
    if (!value_is(value_dig(pod, "spec", "overhead"), VALUE_OBJECT))
        return 0;
    int r = find_class(req, pod, &class, err);
    if (r < 0 || (r == 1 && value_get(&class, STR("overhead"))))
        return r < 0 ? r : 0;
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

/* Whether whatever `t` tolerates is tolerated by `wide` too. */
static bool covers(const struct value *wide, const struct value *t)
{
    int64_t wide_seconds, seconds;
    struct str op = value_text(wide, "operator"), effect = value_text(wide, "effect"),
               key = value_text(wide, "key");
    bool exists = str_eq(op, STR("Exists"));
    if (value_eq(wide, t))
        return true;
    if (!str_eq(value_text(t, "key"), key) && (key.n || !exists))
        return false;
    if (!str_eq(value_text(t, "effect"), effect) && effect.n)
        return false;
    if (str_eq(effect, STR("NoExecute")) &&
        value_to_int(value_get(wide, STR("tolerationSeconds")), &wide_seconds) &&
        (!value_to_int(value_get(t, STR("tolerationSeconds")), &seconds) || seconds > wide_seconds))
        return false;
    if (exists)
        return true;
    return (!op.n || str_eq(op, STR("Equal"))) && str_eq(value_text(t, "operator"), STR("Equal")) &&
           str_eq(value_text(t, "value"), value_text(wide, "value"));
}

static bool is_needed(const struct value *all, size_t i, const struct value *kept)
{
    const struct value *t = &all->items[i];
    value_each_item (it, kept)
        if (covers(it, t))
            return false;
    for (size_t j = i + 1; j < all->n; j++)
        if (!value_eq(t, &all->items[j]) && covers(&all->items[j], t))
            return false;
    return true;
}

static void merge_tolerations(struct arena *a, struct value *pod, const struct value *more)
{
    struct value *spec = value_ensure(a, pod, STR("spec"));
    struct value all = value_array(), kept = value_array();
    value_each_item (it, value_get(spec, STR("tolerations")))
        value_put_item(a, &all, value_borrow(it));
    value_each_item (it, more)
        value_put_item(a, &all, value_borrow(it));
    bool is_long = all.n > LIMIT_TOLERATIONS_MERGED; /* what is needless there may stay */
    for (size_t i = 0; i < all.n && !is_long; i++)
        if (is_needed(&all, i, &kept))
            value_put_item(a, &kept, value_borrow(&all.items[i]));
    if (all.n)
        value_put(a, spec, STR("tolerations"), is_long ? all : kept);
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
    merge_tolerations(req->arena, pod, value_get(scheduling, STR("tolerations")));
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
