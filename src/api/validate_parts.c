#include "api/validate_parts.h"

#include "api/names.h"
#include "base/buf.h"
#include "base/banned.h"

/* ---- Node selectors ---- */

static bool is_in(struct str op)
{
    return str_eq(op, STR("In")) || str_eq(op, STR("NotIn"));
}

static void check_label_requirement(struct field_errors *e, const struct field_path *path,
                                    const struct value *rq, bool any_values)
{
    struct str op = text_of(rq, "operator");
    size_t n = count_of(rq, "values");
    if (is_in(op)) {
        if (n == 0)
            fault_required(e, path_at(path, "values"),
                           "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (str_eq(op, STR("Exists")) || str_eq(op, STR("DoesNotExist"))) {
        if (n > 0)
            fault_forbidden(e, path_at(path, "values"),
                            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else if (str_eq(op, STR("Gt")) || str_eq(op, STR("Lt"))) {
        if (n != 1)
            fault_required(e, path_at(path, "values"),
                           "must be specified single value when `operator` is 'Lt' or 'Gt'");
    } else {
        fault_text(e, path_at(path, "operator"), op, "not a valid selector operator");
    }
    check_name(e, path_at(path, "key"), NAME_QUALIFIED, text_of(rq, "key"));
    size_t i = 0;
    value_each_item (it, any_values ? NULL : value_get(rq, STR("values"))) {
        check_name(e, path_item(path_at(path, "values"), i), NAME_LABEL_VALUE, value_str(it));
        i++;
    }
}

static void check_field_requirement(struct field_errors *e, const struct field_path *path,
                                    const struct value *rq)
{
    struct str op = text_of(rq, "operator"), key = text_of(rq, "key");
    if (!is_in(op))
        fault_text(e, path_at(path, "operator"), op, "not a valid selector operator");
    else if (count_of(rq, "values") != 1)
        fault_required(e, path_at(path, "values"),
                       "must be only one value when `operator` is 'In' or 'NotIn' for node field "
                       "selector");
    if (!str_eq(key, STR("metadata.name"))) {
        fault_text(e, path_at(path, "key"), key, "not a valid field selector key");
        return;
    }
    size_t i = 0;
    value_each_item (it, value_get(rq, STR("values"))) {
        check_name(e, path_item(path_at(path, "values"), i), NAME_SUBDOMAIN, value_str(it));
        i++;
    }
}

bool check_node_selector_term(struct field_errors *e, const struct field_path *path,
                              const struct value *term, bool any_values)
{
    size_t before = e->n, i = 0;
    value_each_item (rq, value_get(term, STR("matchExpressions")))
        check_label_requirement(e, path_item(path_at(path, "matchExpressions"), i++), rq,
                                any_values);
    i = 0;
    value_each_item (rq, value_get(term, STR("matchFields")))
        check_field_requirement(e, path_item(path_at(path, "matchFields"), i++), rq);
    return e->n == before;
}

bool check_node_selector(struct field_errors *e, const struct field_path *path,
                         const struct value *selector, bool any_values)
{
    size_t before = e->n, i = 0;
    const struct field_path *terms = path_at(path, "nodeSelectorTerms");
    if (count_of(selector, "nodeSelectorTerms") == 0)
        return fault_required(e, terms, "must have at least one node selector term");
    value_each_item (term, value_get(selector, STR("nodeSelectorTerms")))
        check_node_selector_term(e, path_item(terms, i++), term, any_values);
    return e->n == before;
}

/* ---- Conditions ---- */

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static bool is_reason(struct str s)
{
    bool good = s.n && is_alnum(s.p[0]) && s.p[0] > '9';
    for (size_t i = 0; i < s.n; i++)
        good = good && (is_alnum(s.p[i]) || s.p[i] == '_' || s.p[i] == ',' || s.p[i] == ':');
    return good && (is_alnum(s.p[s.n - 1]) || s.p[s.n - 1] == '_');
}

static void check_condition(struct field_errors *e, const struct field_path *path,
                            const struct value *c)
{
    enum { REASON_MAX = 1024, MESSAGE_MAX = 32 * 1024 };
    static const struct str statuses[] = { STR("False"), STR("True"), STR("Unknown") };
    struct str type = text_of(c, "type"), status = text_of(c, "status");
    struct str reason = text_of(c, "reason");
    if (type.n == 0)
        fault_required(e, path_at(path, "type"), "is required");
    else
        check_name(e, path_at(path, "type"), NAME_QUALIFIED, type);
    if (check_required(e, path_at(path, "status"), status))
        check_one_of(e, path_at(path, "status"), status, VALUES(statuses));
    if (int_of(c, "observedGeneration") < 0)
        fault_int(e, path_at(path, "observedGeneration"), int_of(c, "observedGeneration"),
                  "must be greater than or equal to zero");
    if (!member(c, "lastTransitionTime"))
        fault_required(e, path_at(path, "lastTransitionTime"), "");
    if (check_required(e, path_at(path, "reason"), reason) && !is_reason(reason))
        fault_text(
            e, path_at(path, "reason"), reason,
            "a condition reason must start with alphabetic character, optionally followed by "
            "a string of alphanumeric characters or '_,:', and must end with an alphanumeric "
            "character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or "
            "'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
            "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')");
    if (reason.n > REASON_MAX)
        field_too_long(e, path_at(path, "reason"), REASON_MAX);
    if (text_of(c, "message").n > MESSAGE_MAX)
        field_too_long(e, path_at(path, "message"), MESSAGE_MAX);
}

static bool has_type_before(const struct value *conditions, size_t n, struct str type)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(text_of(value_at(conditions, i), "type"), type))
            return true;
    return false;
}

bool check_conditions(struct field_errors *e, const struct field_path *path,
                      const struct value *conditions)
{
    size_t before = e->n, i = 0;
    value_each_item (c, conditions) {
        const struct field_path *at = path_item(path, i);
        if (has_type_before(conditions, i, text_of(c, "type")))
            fault_duplicate(e, at, text_of(c, "type"));
        check_condition(e, at, c);
        i++;
    }
    return e->n == before;
}

bool has_condition(const struct value *conditions, struct str type)
{
    value_each_item (c, conditions)
        if (str_eq(text_of(c, "type"), type))
            return str_eq(text_of(c, "status"), STR("True"));
    return false;
}

/* ---- Others ---- */

bool check_driver(struct field_errors *e, const struct field_path *path, struct str name)
{
    enum { DRIVER_MAX = 63 };
    struct name_faults faults = { 0 };
    size_t before = e->n;
    if (!check_required(e, path, name))
        return false;
    if (name.n > DRIVER_MAX)
        field_too_long(e, path, DRIVER_MAX);
    if (name_check(NAME_SUBDOMAIN, name, &faults))
        return e->n == before;
    autobuf lower = { 0 };
    for (size_t i = 0; i < name.n; i++)
        buf_byte(&lower,
                 name.p[i] >= 'A' && name.p[i] <= 'Z' ? (char)(name.p[i] | 0x20) : name.p[i]);
    faults = (struct name_faults){ 0 };
    (void)name_check(NAME_SUBDOMAIN, buf_str(&lower), &faults);
    for (size_t i = 0; i < faults.n; i++)
        fault_text(e, path, name, "%s%s", faults.list[i].part, faults.list[i].why);
    return e->n == before;
}

bool check_unique_texts(struct field_errors *e, const struct field_path *path,
                        const struct value *list)
{
    size_t before = e->n, n = validate__count(list);
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (str_eq(value_str(value_at(list, i)), value_str(value_at(list, k)))) {
                fault_duplicate(e, path_item(path, i), value_str(value_at(list, i)));
                break;
            }
    return e->n == before;
}

bool list_has(const struct value *list, struct str text)
{
    value_each_item (it, list)
        if (str_eq(value_str(it), text))
            return true;
    return false;
}

/* ---- Warnings ---- */

void warn_at(struct validate_warnings *w, const struct field_path *path, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str text = arena_vprintf(w->arena, fmt, ap), at = field_path_text(w->arena, path);
    va_end(ap);
    validate__add_warning(w, STR_FMT ": " STR_FMT, STR_ARG(at), STR_ARG(text));
}

const char *deprecated_node_label(struct str key)
{
    static const struct {
        struct str key;
        const char *why;
    } labels[] = {
        { STR("beta.kubernetes.io/arch"),
          "deprecated since v1.14; use \"kubernetes.io/arch\" instead" },
        { STR("beta.kubernetes.io/os"),
          "deprecated since v1.14; use \"kubernetes.io/os\" instead" },
        { STR("failure-domain.beta.kubernetes.io/region"),
          "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead" },
        { STR("failure-domain.beta.kubernetes.io/zone"),
          "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead" },
        { STR("beta.kubernetes.io/instance-type"),
          "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead" },
        { STR("app.kubernetes.io/created-by"), "deprecated since v1.9" },
        { STR("scheduler.alpha.kubernetes.io/preferAvoidPods"),
          "deprecated since v1.22; use Taints and Tolerations instead" },
        { STR("node-role.kubernetes.io/master"),
          "use \"node-role.kubernetes.io/control-plane\" instead" },
    };
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
        if (str_eq(labels[i].key, key))
            return labels[i].why;
    return NULL;
}

static void warn_of_values(struct validate_warnings *w, const struct field_path *path,
                           const struct value *values)
{
    size_t i = 0;
    value_each_item (it, values) {
        struct name_faults faults = { 0 };
        struct str value = value_str(it);
        (void)name_check(NAME_LABEL_VALUE, value, &faults);
        for (size_t k = 0; k < faults.n; k++)
            warn_at(w, path_item(path, i), STR_FMT " is invalid, %s%s", STR_ARG(value),
                    faults.list[k].part, faults.list[k].why);
        i++;
    }
}

static void warn_of_expressions(struct validate_warnings *w, const struct field_path *path,
                                const struct value *expressions, bool values)
{
    size_t i = 0;
    value_each_item (it, expressions) {
        const struct field_path *at = path_item(path, i++);
        struct str key = text_of(it, "key");
        const char *why = deprecated_node_label(key);
        if (why)
            warn_at(w, path_at(at, "key"), STR_FMT " is %s", STR_ARG(key), why);
        if (values)
            warn_of_values(w, path_at(at, "values"), value_get(it, STR("values")));
    }
}

void warn_of_node_term(struct validate_warnings *w, const struct field_path *path,
                       const struct value *term, bool values)
{
    warn_of_expressions(w, path_at(path, "matchExpressions"),
                        value_get(term, STR("matchExpressions")), values);
}

void warn_of_node_labels(struct validate_warnings *w, const struct field_path *path,
                         const struct value *selector)
{
    warn_of_expressions(w, path_at(path, "matchExpressions"),
                        value_get(selector, STR("matchExpressions")), false);
    value_each_field (f, value_get(selector, STR("matchLabels"))) {
        const char *why = deprecated_node_label(f->key);
        struct field_path at = field_child(path_at(path, "matchLabels"), f->key);
        if (why)
            warn_at(w, &at, "%s", why);
    }
}
