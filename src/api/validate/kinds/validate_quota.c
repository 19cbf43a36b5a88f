/* LimitRange and ResourceQuota. */
#include "api/inner.h"
#include "api/quantity.h"
#include "api/text_set.h"
#include "api/validate/validate_resource_list.h"
#include "base/idiom.h"
#include "base/banned.h"

#define SPEC path_root("spec")

/* ---- LimitRange ---- */

static void check_limit_type(struct field_errors *e, const struct field_path *path, struct str type)
{
    static const struct str types[] = { STR("Pod"), STR("Container"),
                                        STR("PersistentVolumeClaim") };
    if (!validate_name(e, path, NAME_QUALIFIED, type))
        return;
    if (str_find(type, '/') < 0 && !words_have(type, WORDS(types)))
        fault_text(e, path, type, "must be a standard limit type or fully qualified");
}

static void check_limit_names(struct field_errors *e, const struct field_path *path,
                              const struct value *limit, struct str list)
{
    struct str type = value_text(limit, "type");
    bool of_containers = str_eq(type, STR("Pod")) || str_eq(type, STR("Container"));
    struct field_path at = field_child(path, list);
    value_each_field (f, value_get(limit, list))
        if (of_containers)
            (void)validate_container_resource(e, path_key(&at, f->key), f->key);
        else
            (void)validate_resource_name(e, path_key(&at, f->key), f->key);
}

/* The five amounts of one resource; empty: not given. */
struct amounts {
    struct str name, min, max, def, request, ratio;
};

static bool exceeds(struct str a, struct str b)
{
    return a.n && b.n && quantity_cmp(a, b) > 0;
}

static void check_ratio(struct field_errors *e, const struct field_path *path,
                        const struct amounts *a)
{
    const struct field_path *at = path_key(path_at(path, "maxLimitRequestRatio"), a->name);
    if (!a->ratio.n)
        return;
    if (quantity_cmp(a->ratio, STR("1")) < 0)
        fault_text(e, at, a->ratio, "ratio " STR_FMT " is less than 1", STR_ARG(a->ratio));
    if (!a->min.n || !a->max.n)
        return;
    double limit = quantity_double(a->max) / quantity_double(a->min);
    if (quantity_double(a->ratio) > limit)
        fault_text(e, at, a->ratio, "ratio " STR_FMT " is greater than max/min = %f",
                   STR_ARG(a->ratio), limit);
}

static void check_requests(struct field_errors *e, const struct field_path *path,
                           const struct amounts *a)
{
    const struct field_path *at = path_key(path_at(path, "defaultRequest"), a->name);
    if (exceeds(a->min, a->request))
        fault_text(e, at, a->request,
                   "min value " STR_FMT " is greater than default request value " STR_FMT,
                   STR_ARG(a->min), STR_ARG(a->request));
    if (exceeds(a->request, a->max))
        fault_text(e, at, a->request,
                   "default request value " STR_FMT " is greater than max value " STR_FMT,
                   STR_ARG(a->request), STR_ARG(a->max));
    if (exceeds(a->request, a->def))
        fault_text(e, at, a->request,
                   "default request value " STR_FMT " is greater than default limit value " STR_FMT,
                   STR_ARG(a->request), STR_ARG(a->def));
}

static void check_amounts(struct field_errors *e, const struct field_path *path,
                          const struct amounts *a)
{
    const struct field_path *def = path_key(path_at(path, "default"), a->name);
    if (exceeds(a->min, a->max))
        fault_text(e, path_key(path_at(path, "min"), a->name), a->min,
                   "min value " STR_FMT " is greater than max value " STR_FMT, STR_ARG(a->min),
                   STR_ARG(a->max));
    check_requests(e, path, a);
    if (exceeds(a->min, a->def))
        fault_text(e, def, a->min, "min value " STR_FMT " is greater than default value " STR_FMT,
                   STR_ARG(a->min), STR_ARG(a->def));
    if (exceeds(a->def, a->max))
        fault_text(e, def, a->max, "default value " STR_FMT " is greater than max value " STR_FMT,
                   STR_ARG(a->def), STR_ARG(a->max));
    check_ratio(e, path, a);
    bool overcommits = validate_resource_is_native(a->name) && !resource_is_huge_page(a->name);
    if (!overcommits && a->def.n && a->request.n && quantity_cmp(a->def, a->request) != 0)
        fault_text(e, path_key(path_at(path, "defaultRequest"), a->name), a->request,
                   "default value " STR_FMT " must equal to defaultRequest value " STR_FMT
                   " in " STR_FMT,
                   STR_ARG(a->def), STR_ARG(a->request), STR_ARG(a->name));
}

static struct str amount_in(const struct value *limit, const char *list, struct str name)
{
    return value_str(validate_map_member(value_get(limit, str_of(list)), name));
}

/* Each resource that any of the lists names, once. */
static void check_resources(struct field_errors *e, const struct field_path *path,
                            const struct value *limit)
{
    static const char *const lists[] = { "max", "min", "default", "defaultRequest",
                                         "maxLimitRequestRatio" };
    bool of_pod = str_eq(value_text(limit, "type"), STR("Pod"));
    autoset seen;
    text_set_init(&seen);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        bool is_default = i == 2 || i == 3;
        value_each_field (f, of_pod && is_default ? NULL : value_get(limit, str_of(lists[i]))) {
            if (!text_set_add(&seen, f->key, f))
                continue;
            struct amounts a = { .name = f->key,
                                 .min = amount_in(limit, "min", f->key),
                                 .max = amount_in(limit, "max", f->key),
                                 .ratio = amount_in(limit, "maxLimitRequestRatio", f->key) };
            if (!of_pod) {
                a.def = amount_in(limit, "default", f->key);
                a.request = amount_in(limit, "defaultRequest", f->key);
            }
            check_amounts(e, path, &a);
        }
    }
}

static void check_limit(struct field_errors *e, const struct field_path *path,
                        const struct value *limit)
{
    bool of_pod = str_eq(value_text(limit, "type"), STR("Pod"));
    check_limit_names(e, path, limit, STR("max"));
    check_limit_names(e, path, limit, STR("min"));
    if (of_pod && validate_count(limit, "default"))
        fault_forbidden(e, path_at(path, "default"), "may not be specified when `type` is 'Pod'");
    if (of_pod && validate_count(limit, "defaultRequest"))
        fault_forbidden(e, path_at(path, "defaultRequest"),
                        "may not be specified when `type` is 'Pod'");
    if (!of_pod) {
        check_limit_names(e, path, limit, STR("default"));
        check_limit_names(e, path, limit, STR("defaultRequest"));
    }
    if (str_eq(value_text(limit, "type"), STR("PersistentVolumeClaim")) &&
        !amount_in(limit, "min", STR("storage")).n && !amount_in(limit, "max", STR("storage")).n)
        fault_required(e, path_at(path, "limits"),
                       "either minimum or maximum storage value is required, but neither was "
                       "provided");
    check_limit_names(e, path, limit, STR("maxLimitRequestRatio"));
    check_resources(e, path, limit);
}

static void create_limits(struct field_errors *e, const struct value *obj)
{
    const struct field_path *path = path_at(SPEC, "limits");
    autoset types;
    text_set_init(&types);
    size_t i = 0;
    value_each_item (it, value_get(validate_member(obj, "spec"), STR("limits"))) {
        const struct field_path *at = path_item(path, i++);
        struct str type = value_text(it, "type");
        check_limit_type(e, path_at(at, "type"), type);
        if (!text_set_add(&types, type, it))
            fault_duplicate(e, path_at(at, "type"), type);
        check_limit(e, at, it);
    }
}

static void update_limits(struct field_errors *e, const struct value *obj,
                          const struct value *old_obj)
{
    (void)old_obj;
    create_limits(e, obj);
}

/* ---- ResourceQuota ---- */

static bool is_quota_resource(struct str name)
{
    static const struct str names[] = {
        STR("cpu"),
        STR("memory"),
        STR("ephemeral-storage"),
        STR("requests.cpu"),
        STR("requests.memory"),
        STR("requests.storage"),
        STR("requests.ephemeral-storage"),
        STR("limits.cpu"),
        STR("limits.memory"),
        STR("limits.ephemeral-storage"),
        STR("pods"),
        STR("resourcequotas"),
        STR("services"),
        STR("replicationcontrollers"),
        STR("secrets"),
        STR("persistentvolumeclaims"),
        STR("configmaps"),
        STR("services.nodeports"),
        STR("services.loadbalancers"),
    };
    return words_have(name, WORDS(names)) || resource_is_huge_page(name) ||
           str_starts(name, STR("requests.hugepages-"));
}

static void check_hard(struct field_errors *e, const struct field_path *path,
                       const struct value *amounts)
{
    value_each_field (f, amounts) {
        const struct field_path *at = path_key(path, f->key);
        (void)validate_resource_name(e, at, f->key);
        if (str_find(f->key, '/') < 0 && !is_quota_resource(f->key))
            fault_text(e, at, f->key, "must be a standard resource for quota");
        (void)validate_resource_quantity(e, at, f->key, value_str(&f->val));
    }
}

enum scope_bits { TERMINATING = 1, NOT_TERMINATING = 2, BEST_EFFORT = 4, NOT_BEST_EFFORT = 8 };

static const struct scope {
    struct str word;
    unsigned bit;      /* of scopes that exclude each other */
    bool takes_values; /* else it can only be asked whether it exists */
} known_scopes[] = {
    { STR("Terminating"), TERMINATING, false }, { STR("NotTerminating"), NOT_TERMINATING, false },
    { STR("BestEffort"), BEST_EFFORT, false },  { STR("NotBestEffort"), NOT_BEST_EFFORT, false },
    { STR("PriorityClass"), 0, true },          { STR("CrossNamespacePodAffinity"), 0, false },
    { STR("VolumeAttributesClass"), 0, true },
};

static bool is_scope(struct str scope)
{
    return words_row(scope, known_scopes);
}

static bool scope_counts(struct str scope, struct str resource)
{
    static const struct str compute[] = { STR("cpu"),          STR("memory"),
                                          STR("limits.cpu"),   STR("limits.memory"),
                                          STR("requests.cpu"), STR("requests.memory") };
    static const struct str storage[] = { STR("persistentvolumeclaims"), STR("requests.storage") };
    if (!is_scope(scope))
        return true;
    if (str_eq(scope, STR("VolumeAttributesClass")))
        return words_have(resource, WORDS(storage));
    if (str_eq(resource, STR("pods")))
        return true;
    return !str_eq(scope, STR("BestEffort")) && words_have(resource, WORDS(compute));
}

/* How many of the limited resources a scope says nothing about. */
static size_t count_misfits(const struct value *spec, struct str scope)
{
    size_t n = 0;
    value_each_field (f, value_get(spec, STR("hard")))
        n += is_quota_resource(f->key) && !scope_counts(scope, f->key);
    return n;
}

static unsigned scope_bit(struct str scope)
{
    const struct scope *row = words_row(scope, known_scopes);
    return row ? row->bit : 0;
}

static void check_conflicts(struct field_errors *e, const struct field_path *path, unsigned seen,
                            const struct value *shown)
{
    static const unsigned pairs[] = { BEST_EFFORT | NOT_BEST_EFFORT,
                                      TERMINATING | NOT_TERMINATING };
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        if ((seen & pairs[i]) == pairs[i])
            fault_value(e, path, shown, "conflicting scopes");
}

static void check_scopes(struct field_errors *e, const struct value *spec)
{
    const struct value *list = validate_member(spec, "scopes");
    const struct field_path *path = path_at(SPEC, "scopes");
    unsigned seen = 0;
    value_each_item (it, list) {
        if (!is_scope(value_str(it)))
            fault_value(e, path, list, "unsupported scope");
        for (size_t n = count_misfits(spec, value_str(it)); n; n--)
            fault_value(e, path, list, "unsupported scope applied to resource");
        seen |= scope_bit(value_str(it));
    }
    check_conflicts(e, path, seen, list);
}

static void check_scope_values(struct field_errors *e, const struct field_path *path,
                               const struct value *rq)
{
    struct str scope = value_text(rq, "scopeName"), operator_ = value_text(rq, "operator");
    const struct value *values = validate_member(rq, "values");
    const struct scope *row = words_row(scope, known_scopes);
    if (row && !row->takes_values && !str_eq(operator_, STR("Exists")))
        fault_text(e, path_at(path, "operator"), operator_,
                   "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
                   "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
                   "ResourceQuotaScopeNotBestEffort or "
                   "ResourceQuotaScopeCrossNamespacePodAffinity");
    enum selector_operator op = validate_operator_of(operator_);
    if (op == OPERATOR_WITH_VALUES) {
        if (!validate__count(values))
            fault_required(e, path_at(path, "values"),
                           "must be at least one value when `operator` is 'In' or 'NotIn' for "
                           "scope selector");
    } else if (op == OPERATOR_WITHOUT) {
        if (validate__count(values))
            fault_value(e, path_at(path, "values"), values,
                        "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope "
                        "selector");
    } else {
        fault_text(e, path_at(path, "operator"), operator_, "not a valid selector operator");
    }
}

static void check_scope_selector(struct field_errors *e, const struct value *spec)
{
    const struct value *selector = validate_member(spec, "scopeSelector");
    const struct field_path *path = path_at(path_at(SPEC, "scopeSelector"), "matchExpressions");
    unsigned seen = 0;
    value_each_item (it, value_get(selector, STR("matchExpressions"))) {
        struct str scope = value_text(it, "scopeName");
        if (!is_scope(scope))
            fault_text(e, path_at(path, "scopeName"), scope, "unsupported scope");
        for (size_t n = count_misfits(spec, scope); n; n--)
            field_error(e, FIELD_INVALID, path,
                        inner_json(e, STR("v1"), STR("ScopeSelector"), selector),
                        "unsupported scope applied to resource");
        check_scope_values(e, path, it);
        seen |= scope_bit(scope);
    }
    check_conflicts(e, path, seen, validate_member(spec, "scopes"));
}

static void check_quota(struct field_errors *e, const struct value *spec)
{
    check_hard(e, path_at(SPEC, "hard"), value_get(spec, STR("hard")));
    check_scopes(e, spec);
    check_scope_selector(e, spec);
}

static void check_quota_status(struct field_errors *e, const struct value *status)
{
    const struct field_path *path = path_root("status");
    check_hard(e, path_at(path, "hard"), value_get(status, STR("hard")));
    check_hard(e, path_at(path, "used"), value_get(status, STR("used")));
}

static void create_quota(struct field_errors *e, const struct value *obj)
{
    check_quota(e, validate_member(obj, "spec"));
    check_quota_status(e, validate_member(obj, "status"));
}

static bool has_all(const struct value *list, const struct value *other)
{
    autoset seen;
    text_set_init(&seen);
    value_each_item (it, list)
        (void)text_set_add(&seen, value_str(it), it);
    value_each_item (it, other)
        if (!text_set_has(&seen, value_str(it)))
            return false;
    return true;
}

static void update_quota(struct field_errors *e, const struct value *obj,
                         const struct value *old_obj)
{
    const struct value *scopes = validate_member(validate_member(obj, "spec"), "scopes"),
                       *old_scopes = validate_member(validate_member(old_obj, "spec"), "scopes");
    check_quota(e, validate_member(obj, "spec"));
    if (!has_all(scopes, old_scopes) || !has_all(old_scopes, scopes))
        fault_value(e, path_at(SPEC, "scopes"), scopes, "field is immutable");
}

static void update_quota_status(struct field_errors *e, const struct value *obj,
                                const struct value *old_obj)
{
    (void)old_obj;
    check_quota_status(e, validate_member(obj, "status"));
}

static void warn_quota(struct validate_warnings *w, const struct value *obj,
                       const struct value *old_obj)
{
    static const struct {
        struct str request, bare, limit;
    } pairs[] = {
        { STR("requests.cpu"), STR("cpu"), STR("limits.cpu") },
        { STR("requests.memory"), STR("memory"), STR("limits.memory") },
        { STR("requests.storage"), STR(""), STR("limits.storage") },
        { STR("requests.ephemeral-storage"), STR(""), STR("limits.ephemeral-storage") },
    };
    const struct value *hard = value_get(validate_member(obj, "spec"), STR("hard"));
    for (size_t i = 0; !old_obj && i < ARRAY_LEN(pairs); i++) {
        struct str name =
            validate_map_member(hard, pairs[i].request) ? pairs[i].request : pairs[i].bare;
        struct str request = value_str(validate_map_member(hard, name)),
                   limit = value_str(validate_map_member(hard, pairs[i].limit));
        if (exceeds(request, limit))
            validate_add_warning(w,
                                 "ResourceQuota " STR_FMT " (" STR_FMT
                                 ") should be less than " STR_FMT " (" STR_FMT ")",
                                 STR_ARG(name), STR_ARG(request), STR_ARG(pairs[i].limit),
                                 STR_ARG(limit));
    }
}

const struct validate_rules validate__quota[] = {
    { STR(""), STR("LimitRange"), create_limits, update_limits, NULL, NULL },
    { STR(""), STR("ResourceQuota"), create_quota, update_quota, update_quota_status, warn_quota },
    { .kind = { NULL, 0 } },
};
