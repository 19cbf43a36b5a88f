#include "api/validate/validate_common.h"

#include "api/ip.h"
#include "api/meta.h"
#include "api/quantity.h"
#include "base/buf.h"
#include "base/banned.h"

/* ---- Reading ---- */

const struct value *validate_map_member(const struct value *map, struct str key)
{
    enum { FEW = 16 };
    if (!value_is(map, VALUE_OBJECT) || map->n <= FEW)
        return value_get(map, key);
    size_t low = 0, high = map->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int c = str_cmp(map->fields[mid].key, key);
        if (c == 0)
            return &map->fields[mid].val;
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

/* ---- Numbers ---- */

bool validate_nonnegative(struct field_errors *e, const struct field_path *path, int64_t n)
{
    return n >= 0 || fault_int(e, path, n, "must be greater than or equal to 0");
}

bool validate_positive(struct field_errors *e, const struct field_path *path, int64_t n)
{
    return n > 0 || fault_int(e, path, n, "must be greater than zero");
}

bool validate_between(struct field_errors *e, const struct field_path *path, int64_t n, int64_t low,
                      int64_t high)
{
    return (n >= low && n <= high) ||
           fault_int(e, path, n, "must be between %ld and %ld, inclusive", (long)low, (long)high);
}

bool validate_port(struct field_errors *e, const struct field_path *path, int64_t port)
{
    return validate_between(e, path, port, 1, 65535);
}

bool validate_id(struct field_errors *e, const struct field_path *path, int64_t id)
{
    return validate_between(e, path, id, 0, INT32_MAX);
}

/* ---- Texts ---- */

bool validate_name(struct field_errors *e, const struct field_path *path, enum name_rule rule,
                   struct str name)
{
    struct name_faults f;
    f.n = 0;
    if (name_check(rule, name, &f))
        return true;
    for (size_t i = 0; i < f.n; i++)
        fault_text(e, path, name, "%s%s", f.list[i].part, f.list[i].why);
    return false;
}

bool validate_required(struct field_errors *e, const struct field_path *path, struct str text)
{
    return text.n || fault_required(e, path, "");
}

bool validate_required_name(struct field_errors *e, const struct field_path *path,
                            enum name_rule rule, struct str name)
{
    return validate_required(e, path, name) && validate_name(e, path, rule, name);
}

bool validate_one_of(struct field_errors *e, const struct field_path *path, struct str text,
                     const struct str *values, size_t n)
{
    if (words_have(text, values, n))
        return true;
    struct value shown = value_string(text);
    field_not_supported(e, path, field_json(e, &shown), values, n);
    return false;
}

static bool is_port_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

bool validate_port_name(struct field_errors *e, const struct field_path *path, struct str name)
{
    size_t before = e->n;
    bool chars = name.n > 0, letter = false, dashes = false;
    for (size_t i = 0; i < name.n; i++) {
        chars = chars && is_port_char(name.p[i]);
        letter = letter || (name.p[i] >= 'a' && name.p[i] <= 'z');
        dashes = dashes || (i && name.p[i] == '-' && name.p[i - 1] == '-');
    }
    if (name.n > 15)
        fault_text(e, path, name, "must be no more than 15 characters");
    if (!chars)
        fault_text(e, path, name,
                   "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    if (!letter)
        fault_text(e, path, name, "must contain at least one letter (a-z)");
    if (dashes)
        fault_text(e, path, name, "must not contain consecutive hyphens");
    if (str_starts(name, STR("-")) || str_ends(name, STR("-")))
        fault_text(e, path, name, "must not begin or end with a hyphen");
    return e->n == before;
}

bool validate_port_or_name(struct field_errors *e, const struct field_path *path,
                           const struct value *port)
{
    if (value_is(port, VALUE_STRING))
        return validate_port_name(e, path, value_str(port));
    return validate_port(e, path, validate__int(port));
}

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool validate_header_name(struct field_errors *e, const struct field_path *path, struct str name)
{
    bool good = name.n > 0;
    for (size_t i = 0; i < name.n; i++)
        good = good && (is_alnum(name.p[i]) || name.p[i] == '-');
    return good || fault_text(e, path, name,
                              "a valid HTTP header must consist of alphanumeric characters or '-' "
                              "(e.g. 'X-Header-Name', regex used for validation is "
                              "'[-A-Za-z0-9]+')");
}

bool validate_env_name(struct field_errors *e, const struct field_path *path, struct str name)
{
    if (!name.n)
        return fault_text(e, path, name, "environment variable name must be non-empty");
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] < ' ' || name.p[i] > '~' || name.p[i] == '=')
            return fault_text(e, path, name,
                              "a valid environment variable name must consist only of printable "
                              "ASCII characters other than '='");
    return true;
}

bool validate_domain_path(struct field_errors *e, const struct field_path *path, struct str text)
{
    if (!text.n)
        return fault_required(e, path, "");
    struct str rest = text;
    struct str host = str_cut(&rest, '/');
    if (!host.n || !rest.n)
        return fault_text(e, path, text,
                          "must be a domain-prefixed path (such as \"acme.io/foo\")");
    bool good = validate_name(e, path, NAME_SUBDOMAIN, host);
    for (size_t i = 0; i < rest.n; i++)
        if (!is_alnum(rest.p[i]) && str_find(STR("/-._~%!$&'()*+,;=:"), rest.p[i]) < 0)
            return fault_text(e, path, rest,
                              "Invalid path (regex used for validation is "
                              "'[A-Za-z0-9/\\-._~%%!$&'()*+,;=:]+')");
    return good;
}

/* The faults of a name in one text. */
static bool check_joined(struct field_errors *e, const struct field_path *path, enum name_rule rule,
                         struct str name)
{
    struct name_faults f = { 0 };
    if (name_check(rule, name, &f))
        return true;
    autobuf why = { 0 };
    for (size_t i = 0; i < f.n; i++)
        buf_printf(&why, "%s%s%s", i ? "," : "", f.list[i].part, f.list[i].why);
    return fault_text(e, path, name, STR_FMT, STR_ARG(buf_str(&why)));
}

bool validate_domain_name(struct field_errors *e, const struct field_path *path, struct str text)
{
    if (!text.n)
        return fault_required(e, path, "");
    struct str name = str_ends(text, STR(".")) ? str_take(text, text.n - 1) : text;
    if (!check_joined(e, path, NAME_SUBDOMAIN, name))
        return false;
    if (str_find(name, '.') < 0)
        return fault_text(e, path, name,
                          "should be a domain with at least two segments separated by dots");
    struct str rest = name;
    while (rest.n)
        if (!check_joined(e, path, NAME_LABEL, str_cut(&rest, '.')))
            return false;
    return true;
}

/* The first of the parts between dots that is no such name, with all its faults. */
static bool check_dotted(struct field_errors *e, const struct field_path *path, enum name_rule rule,
                         struct str text)
{
    struct str rest = text;
    do {
        struct name_faults f = { 0 };
        struct str part = str_cut(&rest, '.');
        if (name_check(rule, part, &f))
            continue;
        struct str quoted = field_quoted(e, part);
        for (size_t i = 0; i < f.n; i++)
            fault_text(e, path, text, "validating label " STR_FMT ": %s%s", STR_ARG(quoted),
                       f.list[i].part, f.list[i].why);
        return false;
    } while (rest.p);
    return true;
}

bool validate_signer_name(struct field_errors *e, const struct field_path *path, struct str name)
{
    enum { SIGNER_MAX = 2 * NAME_SUBDOMAIN_MAX + NAME_LABEL_MAX + 2 };
    if (!name.n)
        return fault_required(e, path, "");
    struct str signer = name;
    struct str domain = str_cut(&signer, '/');
    if (!signer.p || str_find(signer, '/') >= 0)
        return fault_text(e, path, name,
                          "must be a fully qualified domain and path of the form "
                          "'example.com/signer-name'");
    size_t before = e->n;
    if (domain.n > NAME_SUBDOMAIN_MAX)
        field_too_long(e, path, NAME_SUBDOMAIN_MAX);
    (void)check_dotted(e, path, NAME_LABEL, domain);
    if (str_find(domain, '.') < 0)
        fault_text(e, path, domain,
                   "should be a domain with at least two segments separated by dots");
    (void)check_dotted(e, path, NAME_SUBDOMAIN, signer);
    if (name.n > SIGNER_MAX)
        field_too_long(e, path, SIGNER_MAX);
    return e->n == before;
}

bool validate_wildcard_domain(struct field_errors *e, const struct field_path *path,
                              struct str text)
{
    struct name_faults f = { 0 };
    size_t before = e->n;
    if (text.n > NAME_SUBDOMAIN_MAX)
        fault_text(e, path, text, "must be no more than 253 characters");
    if (!str_starts(text, STR("*.")) ||
        !name_check(NAME_SUBDOMAIN, str_take(str_skip(text, 2), NAME_SUBDOMAIN_MAX), &f))
        fault_text(e, path, text,
                   "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS "
                   "subdomain, which must consist of lower case alphanumeric characters, '-' or "
                   "'.' and end with an alphanumeric character (e.g. '*.example.com', regex used "
                   "for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*"
                   "[a-z0-9])?)*')");
    return e->n == before;
}

bool validate_is_in_domain(struct str name, const char *domain)
{
    struct str d = str_of(domain);
    return str_ends(name, d) && (name.n == d.n || name.p[name.n - d.n - 1] == '.');
}

bool validate_no_backsteps(struct field_errors *e, const struct field_path *path, struct str text)
{
    struct str rest = text;
    while (rest.n)
        if (str_eq(str_cut(&rest, '/'), STR("..")))
            return fault_text(e, path, text, "must not contain '..'");
    return true;
}

bool validate_descending_path(struct field_errors *e, const struct field_path *path,
                              struct str text)
{
    bool good = true;
    if (str_starts(text, STR("/")))
        good = fault_text(e, path, text, "must be a relative path");
    return validate_no_backsteps(e, path, text) && good;
}

/* ---- Addresses ---- */

static bool is_listed(const struct value *list, struct str text)
{
    value_each_item (it, list)
        if (str_eq(value_str(it), text))
            return true;
    return false;
}

static bool parse_ip(struct field_errors *e, const struct field_path *path, struct str text,
                     struct ip *ret)
{
    if (!ip_parse(text, ret))
        return fault_text(e, path, text,
                          "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    if (ret->has_zeros)
        return fault_text(e, path, text, "must not have leading 0s");
    if (ret->is_mapped)
        return fault_text(e, path, text, "must not be an IPv4-mapped IPv6 address");
    return true;
}

bool validate_ip_legacy(struct field_errors *e, const struct field_path *path, struct str ip,
                        const struct value *old_values)
{
    struct ip parsed;
    return is_listed(old_values, ip) || parse_ip(e, path, ip, &parsed);
}

static bool check_canonical(struct field_errors *e, const struct field_path *path, struct str text,
                            struct str canonical)
{
    return str_eq(text, canonical) ||
           fault_text(e, path, text, "must be in canonical form (\"" STR_FMT "\")",
                      STR_ARG(canonical));
}

bool validate_ip(struct field_errors *e, const struct field_path *path, struct str ip)
{
    struct ip parsed;
    char text[IP_TEXT_MAX];
    return parse_ip(e, path, ip, &parsed) && check_canonical(e, path, ip, ip_format(&parsed, text));
}

static bool parse_cidr(struct field_errors *e, const struct field_path *path, struct str text,
                       struct cidr *ret)
{
    if (!ip_cidr_parse(text, ret))
        return fault_text(e, path, text,
                          "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
    if (ret->has_zeros)
        return fault_text(e, path, text, "must not have leading 0s in IP or prefix length");
    if (ret->ip.is_mapped)
        return fault_text(e, path, text, "must not have an IPv4-mapped IPv6 address");
    if (ret->has_host)
        return fault_text(e, path, text, "must not have bits set beyond the prefix length");
    return true;
}

bool validate_cidr_legacy(struct field_errors *e, const struct field_path *path, struct str cidr,
                          const struct value *old_values)
{
    struct cidr parsed;
    return is_listed(old_values, cidr) || parse_cidr(e, path, cidr, &parsed);
}

bool validate_cidr(struct field_errors *e, const struct field_path *path, struct str cidr)
{
    struct cidr parsed;
    char text[IP_TEXT_MAX];
    return parse_cidr(e, path, cidr, &parsed) &&
           check_canonical(e, path, cidr, ip_cidr_format(&parsed, text));
}

bool validate_interface_address(struct field_errors *e, const struct field_path *path,
                                struct str address)
{
    enum { MAPPED_BITS = 96 };
    struct cidr parsed;
    char text[IP_TEXT_MAX];
    if (!ip_cidr_parse(address, &parsed))
        return fault_text(e, path, address,
                          "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or "
                          "2001:db8::1/64)");
    bool is_longer = parsed.ip.is_mapped && parsed.bits > 32;
    unsigned bits = is_longer ? parsed.bits - MAPPED_BITS : parsed.bits;
    return check_canonical(
        e, path, address,
        arena_printf(e->arena, STR_FMT "/%u", STR_ARG(ip_format(&parsed.ip, text)), bits));
}

/* ---- Labels and selectors ---- */

bool validate_labels(struct field_errors *e, const struct field_path *path,
                     const struct value *labels)
{
    size_t before = e->n;
    meta_check_labels(e, path, labels);
    return e->n == before;
}

bool validate_annotations(struct field_errors *e, const struct field_path *path,
                          const struct value *annotations)
{
    size_t before = e->n;
    if (validate__count(annotations))
        meta_check_annotations(e, path, annotations);
    return e->n == before;
}

enum selector_operator validate_operator_of(struct str text)
{
    static const struct operator_row {
        struct str word;
        enum selector_operator is;
    } operators[] = {
        { STR("In"), OPERATOR_WITH_VALUES }, { STR("NotIn"), OPERATOR_WITH_VALUES },
        { STR("Exists"), OPERATOR_WITHOUT }, { STR("DoesNotExist"), OPERATOR_WITHOUT },
        { STR("Gt"), OPERATOR_WITH_NUMBER }, { STR("Lt"), OPERATOR_WITH_NUMBER },
    };
    const struct operator_row *row = words_row(text, operators);
    return row ? row->is : OPERATOR_UNKNOWN;
}

/* Labels are not compared by size. */
static enum selector_operator operator_of(const struct value *expression)
{
    enum selector_operator op = validate_operator_of(value_text(expression, "operator"));
    return op == OPERATOR_WITH_NUMBER ? OPERATOR_UNKNOWN : op;
}

static void check_expression(struct field_errors *e, const struct field_path *path,
                             const struct value *expression, unsigned flags)
{
    enum selector_operator op = operator_of(expression);
    const struct field_path *values = path_at(path, "values");
    if (op == OPERATOR_WITH_VALUES && !validate_count(expression, "values"))
        fault_required(e, values, "must be specified when `operator` is 'In' or 'NotIn'");
    if (op == OPERATOR_WITHOUT && validate_count(expression, "values"))
        fault_forbidden(e, values,
                        "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    if (op == OPERATOR_UNKNOWN)
        fault_text(e, path_at(path, "operator"), value_text(expression, "operator"),
                   "not a valid selector operator");
    (void)validate_name(e, path_at(path, "key"), NAME_QUALIFIED, value_text(expression, "key"));
    size_t i = 0;
    if (!(flags & SELECTOR_ANY_VALUES))
        value_each_item (it, value_get(expression, STR("values")))
            (void)validate_name(e, path_item(values, i++), NAME_LABEL_VALUE, value_str(it));
}

bool validate_label_selector(struct field_errors *e, const struct field_path *path,
                             const struct value *selector, unsigned flags)
{
    size_t before = e->n, i = 0;
    (void)validate_labels(e, path_at(path, "matchLabels"), value_get(selector, STR("matchLabels")));
    const struct field_path *expressions = path_at(path, "matchExpressions");
    value_each_item (it, value_get(selector, STR("matchExpressions")))
        check_expression(e, path_item(expressions, i++), it, flags);
    return e->n == before;
}

static bool is_name(enum name_rule rule, struct str text)
{
    struct name_faults f;
    f.n = 0;
    return name_check(rule, text, &f);
}

static bool has_good_values(const struct value *expression)
{
    value_each_item (it, value_get(expression, STR("values")))
        if (!is_name(NAME_LABEL_VALUE, value_str(it)))
            return false;
    return true;
}

static bool is_expression(const struct value *expression, unsigned flags)
{
    size_t n = validate_count(expression, "values");
    enum selector_operator op = operator_of(expression);
    return (op == OPERATOR_WITH_VALUES ? n > 0 : op == OPERATOR_WITHOUT && n == 0) &&
           is_name(NAME_QUALIFIED, value_text(expression, "key")) &&
           ((flags & SELECTOR_ANY_VALUES) || has_good_values(expression));
}

bool validate_is_label_selector(const struct value *selector, unsigned flags)
{
    value_each_field (f, value_get(selector, STR("matchLabels")))
        if (!is_name(NAME_QUALIFIED, f->key) || !is_name(NAME_LABEL_VALUE, value_str(&f->val)))
            return false;
    value_each_item (it, value_get(selector, STR("matchExpressions")))
        if (!is_expression(it, flags))
            return false;
    return true;
}

bool validate_selector_has_bad_value(const struct value *selector)
{
    value_each_item (it, value_get(selector, STR("matchExpressions")))
        if (!has_good_values(it))
            return true;
    return false;
}

static bool expression_matches(const struct value *expression, const struct value *labels)
{
    const struct value *label = validate_map_member(labels, value_text(expression, "key"));
    struct str op = value_text(expression, "operator");
    if (str_eq(op, STR("Exists")))
        return label != NULL;
    if (str_eq(op, STR("DoesNotExist")))
        return label == NULL;
    bool listed = label && is_listed(value_get(expression, STR("values")), value_str(label));
    return str_eq(op, STR("In")) ? listed : !listed;
}

bool validate_selector_matches(const struct value *selector, const struct value *labels)
{
    if (!selector)
        return false;
    value_each_field (f, value_get(selector, STR("matchLabels"))) {
        const struct value *label = validate_map_member(labels, f->key);
        if (!label || !str_eq(value_str(label), value_str(&f->val)))
            return false;
    }
    value_each_item (it, value_get(selector, STR("matchExpressions")))
        if (!expression_matches(it, labels))
            return false;
    return true;
}

bool validate_selector_is_empty(const struct value *selector)
{
    return selector && !validate_count(selector, "matchLabels") &&
           !validate_count(selector, "matchExpressions");
}

/* ---- Quantities ---- */

static int sign_of(struct str quantity)
{
    return quantity.n ? quantity_sign(quantity) : 0;
}

bool validate_nonnegative_quantity(struct field_errors *e, const struct field_path *path,
                                   struct str quantity)
{
    return sign_of(quantity) >= 0 ||
           fault_text(e, path, quantity, "must be greater than or equal to 0");
}

bool validate_positive_quantity(struct field_errors *e, const struct field_path *path,
                                struct str quantity)
{
    return sign_of(quantity) > 0 ||
           fault_text(e, path, quantity.n ? quantity : STR("0"), "must be greater than zero");
}

/* ---- Numbers or percentages ---- */

bool validate_is_percent(const struct value *v)
{
    struct str text = value_str(v);
    if (text.n < 2 || text.p[text.n - 1] != '%')
        return false;
    for (size_t i = 0; i + 1 < text.n; i++)
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
    return true;
}

int64_t validate_amount(const struct value *v)
{
    struct str text = value_str(v);
    int64_t n = 0;
    if (value_is(v, VALUE_STRING))
        (void)(validate_is_percent(v) && str_to_i64(str_take(text, text.n - 1), &n));
    else
        n = validate__int(v);
    return n;
}

bool validate_int_or_percent(struct field_errors *e, const struct field_path *path,
                             const struct value *v)
{
    if (!value_is(v, VALUE_STRING))
        return validate_nonnegative(e, path, validate__int(v));
    return validate_is_percent(v) ||
           fault_value(e, path, v,
                       "a valid percent string must be a numeric string followed by an ending "
                       "'%%' (e.g. '1%%',  or '93%%', regex used for validation is '[0-9]+%%')");
}

bool validate_not_over_100_percent(struct field_errors *e, const struct field_path *path,
                                   const struct value *v)
{
    return !validate_is_percent(v) || validate_amount(v) <= 100 ||
           fault_value(e, path, v, "must not be greater than 100%%");
}

/* ---- Changes ---- */

static bool is_empty(const struct value *v)
{
    return !v || v->type == VALUE_NULL ||
           ((v->type == VALUE_ARRAY || v->type == VALUE_OBJECT) && !v->n);
}

bool validate_is_same(const struct value *a, const struct value *b)
{
    if (is_empty(a) || is_empty(b))
        return is_empty(a) && is_empty(b);
    return value_eq(a, b);
}

bool validate_immutable(struct field_errors *e, const struct field_path *path,
                        const struct value *new_val, const struct value *old_val)
{
    return validate_is_same(new_val, old_val) ||
           fault_value(e, path, new_val, "field is immutable");
}
