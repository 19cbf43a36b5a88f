/* PodTolerationRestriction: which taints the pods of a namespace tolerate without saying so, and
 * which they may tolerate at all. Annotations of the namespace say that, or else the configuration:
 *
 *     apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1
 *     kind: Configuration
 *     default: [{key: a, operator: Exists}]
 *     whitelist: [...] */
#include "admission/config.h"
#include "admission/plugins.h"
#include "admission/tolerations.h"
#include "api/errors.h"
#include "api/field_errors.h"
#include "api/pod_qos.h"
#include "api/typed.h"
#include "api/validate/pod/validate_pod.h"
#include "api/words.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/json_fault.h"
#include "base/banned.h"

#define MEMORY_PRESSURE STR("node.kubernetes.io/memory-pressure")
#define DEFAULTS        STR("scheduler.alpha.kubernetes.io/defaultTolerations")
#define WHITELIST       STR("scheduler.alpha.kubernetes.io/tolerationsWhitelist")

struct limits {
    struct value defaults, whitelist; /* lists */
};

/* ---- What the namespace says ---- */

/* Every item as a Toleration. */
static int read_list(struct arena *a, const struct value *list, struct value *ret, struct err *err)
{
    const struct kind_type *type = kind_type_find(STR(""), STR("v1"), STR("Toleration"));
    *ret = value_array();
    if (list && !value_is(list, VALUE_ARRAY) && !value_is(list, VALUE_NULL))
        return err_set(err, ERR_UNKNOWN, "tolerations must be a list");
    value_each_item (it, list) {
        struct value one;
        int r = typed_read(a, type, it, NULL, &one, err);
        if (r < 0)
            return err_set(err, ERR_UNKNOWN, STR_FMT, STR_ARG(arena_str(a, err->msg)));
        value_put_item(a, ret, one);
    }
    return 0;
}

/* 1 and a list, 0 if it says nothing, or an error. */
static int ask_namespace(struct admission_request *req, struct str key, struct value *ret,
                         struct err *err)
{
    struct value ns, list;
    int r = admission_read(req, STR(""), STR("namespaces"), STR(""), req->ns, &ns, err);
    if (r < 0)
        return r;
    if (r == 0)
        return error_no_namespace(err, req->ns);
    const struct value *text = value_get(value_dig(&ns, "metadata", "annotations"), key);
    *ret = value_array();
    if (!text || !value_str(text).n)
        return text != NULL;
    if (json_read(req->arena, value_str(text), NULL, &list, NULL) < 0)
        return err_set(err, ERR_UNKNOWN, STR_FMT, STR_ARG(json_fault(req->arena, value_str(text))));
    r = read_list(req->arena, &list, ret, err);
    return r < 0 ? r : 1;
}

/* ---- Pods ---- */

static int check(struct admission_request *req, const struct value *pod, struct err *err)
{
    const struct value *given = value_dig(pod, "spec", "tolerations");
    const struct limits *limits = admission_configured(req);
    struct value whitelist;
    if (!value_is(given, VALUE_ARRAY) || !given->n)
        return 0;
    int r = ask_namespace(req, WHITELIST, &whitelist, err);
    if (r < 0)
        return r;
    if (r == 0 && limits)
        whitelist = value_borrow(&limits->whitelist);
    if (!whitelist.n)
        return 0;
    value_each_item (it, given)
        if (!toleration_is_covered(&whitelist, it))
            return err_set(err, ERR_UNKNOWN,
                           "pod tolerations (possibly merged with namespace default tolerations) "
                           "conflict with its %s whitelist",
                           r == 1 ? "namespace" : "cluster");
    return 0;
}

static bool asks_for_something(const struct value *pod)
{
    struct str class = value_str(value_dig(pod, "status", "qosClass"));
    if (!class.n)
        class = pod_qos_class(value_get(pod, STR("spec")));
    return !str_eq(class, STR("BestEffort"));
}

static int mutate(struct admission_request *req, struct value *pod, struct err *err)
{
    const struct limits *limits = admission_configured(req);
    struct arena *a = req->arena;
    struct value more = value_array();
    bool is_new = admission_is_in_the_making(req);
    int r = is_new ? ask_namespace(req, DEFAULTS, &more, err) : 0;
    if (r < 0)
        return r;
    if (r == 0 && limits && is_new)
        more = value_borrow(&limits->defaults);
    if (asks_for_something(pod))
        value_put_item(a, &more, toleration_of(a, MEMORY_PRESSURE, STR("NoSchedule")));
    if (more.n)
        tolerations_merge(a, pod, &more);
    return check(req, pod, err);
}

/* ---- The configuration ---- */

static int read_limit(struct arena *a, const struct value *tree, struct str field,
                      struct field_errors *e, struct value *ret, struct err *err)
{
    struct field_path root = field_child(NULL, STR("podtolerationrestriction"));
    struct field_path at = field_child(&root, field);
    struct value list;
    int r = read_list(a, value_get(tree, field), &list, err);
    if (r < 0)
        return r;
    validate_tolerations(e, &at, &list, false);
    *ret = value_clone(a, &list);
    return 0;
}

static int configure(struct arena *a, const struct value *tree, void **ret, struct err *err)
{
    static const struct str fields[] = { STR("default"), STR("whitelist") };
    static const struct admission_form form = {
        STR("podtolerationrestriction.admission.k8s.io/v1alpha1"), STR("Configuration"),
        WORDS(fields)
    };
    struct limits *limits = arena_new(a, struct limits);
    struct field_errors e = FIELD_ERRORS_INIT(a);
    limits->defaults = limits->whitelist = value_array();
    *ret = limits;
    if (!tree)
        return 0;
    int r = admission_config_check(tree, &form, err);
    if (r < 0)
        return r;
    r = read_limit(a, tree, fields[0], &e, &limits->defaults, err);
    if (r < 0)
        return r;
    r = read_limit(a, tree, fields[1], &e, &limits->whitelist, err);
    if (r < 0)
        return r;
    return e.n ? err_set(err, ERR_INVALID, "invalid config: " STR_FMT,
                         STR_ARG(field_errors_text(&e)))
               : 0;
}

static const struct admission_target targets[] = {
    { STR(""), STR("pods"), ADMISSION_CREATE | ADMISSION_UPDATE },
    { .operations = 0 },
};

const struct admission_plugin plugin_toleration_restriction = {
    .name = "PodTolerationRestriction",
    .is_off = true,
    .targets = targets,
    .configure = configure,
    .mutate = mutate,
    .validate = check,
};
