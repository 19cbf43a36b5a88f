#include "api/validate/validate_parts.h"

#include "api/ip.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/text_set.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/banned.h"

/* ---- Node selectors ---- */

static void check_label_requirement(struct field_errors *e, const struct field_path *path,
                                    const struct value *rq, bool any_values)
{
    struct str op = value_text(rq, "operator");
    size_t n = validate_count(rq, "values");
    switch (validate_operator_of(op)) {
    case OPERATOR_WITH_VALUES:
        if (n == 0)
            fault_required(e, path_at(path, "values"),
                           "must be specified when `operator` is 'In' or 'NotIn'");
        break;
    case OPERATOR_WITHOUT:
        if (n > 0)
            fault_forbidden(e, path_at(path, "values"),
                            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
        break;
    case OPERATOR_WITH_NUMBER:
        if (n != 1)
            fault_required(e, path_at(path, "values"),
                           "must be specified single value when `operator` is 'Lt' or 'Gt'");
        break;
    case OPERATOR_UNKNOWN:
        fault_text(e, path_at(path, "operator"), op, "not a valid selector operator");
    }
    validate_name(e, path_at(path, "key"), NAME_QUALIFIED, value_text(rq, "key"));
    size_t i = 0;
    value_each_item (it, any_values ? NULL : value_get(rq, STR("values"))) {
        validate_name(e, path_item(path_at(path, "values"), i), NAME_LABEL_VALUE, value_str(it));
        i++;
    }
}

static void check_field_requirement(struct field_errors *e, const struct field_path *path,
                                    const struct value *rq)
{
    struct str op = value_text(rq, "operator"), key = value_text(rq, "key");
    if (validate_operator_of(op) != OPERATOR_WITH_VALUES)
        fault_text(e, path_at(path, "operator"), op, "not a valid selector operator");
    else if (validate_count(rq, "values") != 1)
        fault_required(e, path_at(path, "values"),
                       "must be only one value when `operator` is 'In' or 'NotIn' for node field "
                       "selector");
    if (!str_eq(key, STR("metadata.name"))) {
        fault_text(e, path_at(path, "key"), key, "not a valid field selector key");
        return;
    }
    size_t i = 0;
    value_each_item (it, value_get(rq, STR("values"))) {
        validate_name(e, path_item(path_at(path, "values"), i), NAME_SUBDOMAIN, value_str(it));
        i++;
    }
}

bool validate_node_selector_term(struct field_errors *e, const struct field_path *path,
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

bool validate_node_selector(struct field_errors *e, const struct field_path *path,
                            const struct value *selector, bool any_values)
{
    size_t before = e->n, i = 0;
    const struct field_path *terms = path_at(path, "nodeSelectorTerms");
    if (validate_count(selector, "nodeSelectorTerms") == 0)
        return fault_required(e, terms, "must have at least one node selector term");
    value_each_item (term, value_get(selector, STR("nodeSelectorTerms")))
        validate_node_selector_term(e, path_item(terms, i++), term, any_values);
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
    struct str type = value_text(c, "type"), status = value_text(c, "status");
    struct str reason = value_text(c, "reason");
    if (type.n == 0)
        fault_required(e, path_at(path, "type"), "is required");
    else
        validate_name(e, path_at(path, "type"), NAME_QUALIFIED, type);
    if (validate_required(e, path_at(path, "status"), status))
        validate_one_of(e, path_at(path, "status"), status, WORDS(statuses));
    if (validate_int(c, "observedGeneration") < 0)
        fault_int(e, path_at(path, "observedGeneration"), validate_int(c, "observedGeneration"),
                  "must be greater than or equal to zero");
    if (!validate_member(c, "lastTransitionTime"))
        fault_required(e, path_at(path, "lastTransitionTime"), "");
    if (validate_required(e, path_at(path, "reason"), reason) && !is_reason(reason))
        fault_text(
            e, path_at(path, "reason"), reason,
            "a condition reason must start with alphabetic character, optionally followed by "
            "a string of alphanumeric characters or '_,:', and must end with an alphanumeric "
            "character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or "
            "'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
            "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')");
    if (reason.n > REASON_MAX)
        field_too_long(e, path_at(path, "reason"), REASON_MAX);
    if (value_text(c, "message").n > MESSAGE_MAX)
        field_too_long(e, path_at(path, "message"), MESSAGE_MAX);
}

bool validate_conditions(struct field_errors *e, const struct field_path *path,
                         const struct value *conditions)
{
    size_t before = e->n, i = 0;
    autoset seen;
    text_set_init(&seen);
    value_each_item (c, conditions) {
        const struct field_path *at = path_item(path, i++);
        if (!text_set_add(&seen, value_text(c, "type"), c))
            fault_duplicate(e, at, value_text(c, "type"));
        check_condition(e, at, c);
    }
    return e->n == before;
}

bool validate_has_condition(const struct value *conditions, struct str type)
{
    value_each_item (c, conditions)
        if (str_eq(value_text(c, "type"), type))
            return str_eq(value_text(c, "status"), STR("True"));
    return false;
}

/* ---- Others ---- */

bool validate_driver(struct field_errors *e, const struct field_path *path, struct str name)
{
    enum { DRIVER_MAX = 63 };
    struct name_faults faults = { 0 };
    size_t before = e->n;
    if (!validate_required(e, path, name))
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

bool validate_unique_texts(struct field_errors *e, const struct field_path *path,
                           const struct value *list)
{
    size_t before = e->n, i = 0;
    autoset seen;
    text_set_init(&seen);
    value_each_item (it, list) {
        if (!text_set_add(&seen, value_str(it), it))
            fault_duplicate(e, path_item(path, i), value_str(it));
        i++;
    }
    return e->n == before;
}

bool validate_list_has(const struct value *list, struct str text)
{
    value_each_item (it, list)
        if (str_eq(value_str(it), text))
            return true;
    return false;
}

void validate_add_texts(struct text_set *set, const struct value *list)
{
    value_each_item (it, list)
        (void)text_set_add(set, value_str(it), it);
}

/* ---- Addresses ---- */

static bool is_zero(const unsigned char *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (b[i])
            return false;
    return true;
}

bool validate_endpoint_ip(struct field_errors *e, const struct field_path *path, struct str text)
{
    struct ip ip;
    size_t before = e->n;
    if (!ip_parse(text, &ip))
        return fault_text(e, path, text, "must be a valid IP address");
    bool v4 = ip.is_v4 || ip.is_mapped;
    const unsigned char *b = ip.is_mapped ? ip.bytes + 12 : ip.bytes;
    if (is_zero(b, v4 ? 4 : 16))
        fault_text(e, path, text, "may not be unspecified (" STR_FMT ")", STR_ARG(text));
    if (v4 ? b[0] == 127 : is_zero(b, 15) && b[15] == 1)
        fault_text(e, path, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    if (v4 ? b[0] == 169 && b[1] == 254 : b[0] == 0xfe && (b[1] & 0xc0) == 0x80)
        fault_text(e, path, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    if (v4 ? b[0] == 224 && b[1] == 0 && b[2] == 0 : b[0] == 0xff && (b[1] & 0x0f) == 2)
        fault_text(e, path, text,
                   "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
    return e->n == before;
}

static void check_ip_mode(struct field_errors *e, const struct field_path *path,
                          const struct value *ingress)
{
    static const struct str modes[] = { STR("Proxy"), STR("VIP") };
    bool has_ip = value_text(ingress, "ip").n > 0;
    if (has_ip && !validate_member(ingress, "ipMode"))
        fault_required(e, path_at(path, "ipMode"), "must be specified when `ip` is set");
    else if (!has_ip && validate_member(ingress, "ipMode"))
        fault_forbidden(e, path_at(path, "ipMode"), "may not be specified when `ip` is not set");
    else if (has_ip)
        validate_one_of(e, path_at(path, "ipMode"), value_text(ingress, "ipMode"), WORDS(modes));
}

void validate_load_balancer(struct field_errors *e, const struct field_path *path,
                            const struct value *status, const struct value *old, bool modes)
{
    size_t i = 0;
    autoset old_addresses;
    text_set_init(&old_addresses);
    value_each_item (it, value_get(old, STR("ingress")))
        (void)text_set_add(&old_addresses, value_text(it, "ip"), it);
    value_each_item (it, value_get(status, STR("ingress"))) {
        const struct field_path *at = path_item(path_at(path, "ingress"), i++);
        struct str address = value_text(it, "ip"), host = value_text(it, "hostname");
        struct ip ip;
        if (address.n && !text_set_has(&old_addresses, address))
            validate_ip_legacy(e, path_at(at, "ip"), address, NULL);
        if (modes)
            check_ip_mode(e, at, it);
        if (host.n == 0)
            continue;
        validate_name(e, path_at(at, "hostname"), NAME_SUBDOMAIN, host);
        if (ip_parse(host, &ip))
            fault_text(e, path_at(at, "hostname"), host, "must be a DNS name, not an IP address");
    }
}

/* ---- Warnings ---- */

void validate_warn_at(struct validate_warnings *w, const struct field_path *path, const char *fmt,
                      ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str text = arena_vprintf(w->arena, fmt, ap), at = field_path_text(w->arena, path);
    va_end(ap);
    validate_add_warning(w, STR_FMT ": " STR_FMT, STR_ARG(at), STR_ARG(text));
}

const char *validate_deprecated_node_label(struct str key)
{
    static const struct {
        struct str key;
        const char *why;
    } labels[] = {
        { STR(KEY_BETA_ARCH), "deprecated since v1.14; use \"kubernetes.io/arch\" instead" },
        { STR(KEY_BETA_OS), "deprecated since v1.14; use \"kubernetes.io/os\" instead" },
        { STR(KEY_BETA_REGION),
          "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead" },
        { STR(KEY_BETA_ZONE),
          "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead" },
        { STR(KEY_BETA_INSTANCE_TYPE),
          "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead" },
        { STR("app.kubernetes.io/created-by"), "deprecated since v1.9" },
        { STR(KEY_PREFER_AVOID_PODS),
          "deprecated since v1.22; use Taints and Tolerations instead" },
        { STR("node-role.kubernetes.io/master"),
          "use \"node-role.kubernetes.io/control-plane\" instead" },
    };
    for (size_t i = 0; i < ARRAY_LEN(labels); i++)
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
            validate_warn_at(w, path_item(path, i), STR_FMT " is invalid, %s%s", STR_ARG(value),
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
        struct str key = value_text(it, "key");
        const char *why = validate_deprecated_node_label(key);
        if (why)
            validate_warn_at(w, path_at(at, "key"), STR_FMT " is %s", STR_ARG(key), why);
        if (values)
            warn_of_values(w, path_at(at, "values"), value_get(it, STR("values")));
    }
}

void validate_warn_node_term(struct validate_warnings *w, const struct field_path *path,
                             const struct value *term, bool values)
{
    warn_of_expressions(w, path_at(path, "matchExpressions"),
                        value_get(term, STR("matchExpressions")), values);
}

void validate_warn_node_labels(struct validate_warnings *w, const struct field_path *path,
                               const struct value *selector)
{
    warn_of_expressions(w, path_at(path, "matchExpressions"),
                        value_get(selector, STR("matchExpressions")), false);
    value_each_field (f, value_get(selector, STR("matchLabels"))) {
        const char *why = validate_deprecated_node_label(f->key);
        struct field_path at = field_child(path_at(path, "matchLabels"), f->key);
        if (why)
            validate_warn_at(w, &at, "%s", why);
    }
}

void validate_warn_ip(struct validate_warnings *w, const struct field_path *path, struct str text)
{
    struct ip ip;
    char out[IP_TEXT_MAX];
    if (!ip_parse(text, &ip))
        return;
    struct str canonical = ip_format(&ip, out);
    if (ip.has_zeros || ip.is_mapped)
        validate_warn_at(w, path,
                         "non-standard IP address \"" STR_FMT "\" is invalid: use \"" STR_FMT "\"",
                         STR_ARG(text), STR_ARG(canonical));
    else if (!ip.is_v4 && !str_eq(text, canonical))
        validate_warn_at(w, path,
                         "IPv6 address \"" STR_FMT
                         "\" should be in RFC 5952 canonical format (\"" STR_FMT "\")",
                         STR_ARG(text), STR_ARG(canonical));
}

void validate_warn_cidr(struct validate_warnings *w, const struct field_path *path, struct str text)
{
    struct cidr c;
    char out[IP_TEXT_MAX], alone[IP_TEXT_MAX];
    if (!ip_cidr_parse(text, &c))
        return;
    struct str canonical = ip_cidr_format(&c, out), single = ip_format(&c.ip, alone);
    if (c.has_host)
        validate_warn_at(w, path,
                         "CIDR value \"" STR_FMT
                         "\" is ambiguous in this context (should be \"" STR_FMT "\" or \"" STR_FMT
                         "/%d\"?)",
                         STR_ARG(text), STR_ARG(canonical), STR_ARG(single),
                         c.ip.is_v4 || c.ip.is_mapped ? 32 : 128);
    if (c.has_zeros || c.ip.is_mapped)
        validate_warn_at(w, path,
                         "non-standard CIDR value \"" STR_FMT "\" is invalid: use \"" STR_FMT "\"",
                         STR_ARG(text), STR_ARG(canonical));
    else if (!c.has_host && !c.ip.is_v4 && !str_eq(text, canonical))
        validate_warn_at(w, path,
                         "IPv6 CIDR value \"" STR_FMT
                         "\" should be in RFC 5952 canonical format (\"" STR_FMT "\")",
                         STR_ARG(text), STR_ARG(canonical));
}
