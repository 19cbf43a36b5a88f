/* The expressions quoted in the messages are the ones upstream checks with; here they are checked
 * by hand, in one pass and without a regular expression engine. */
#include "api/label_syntax.h"

#include "base/banned.h"

#define NAME_REGEX "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
#define NAME_RULE                                                                               \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " \
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "      \
    "validation is '" NAME_REGEX "')"
#define VALUE_RULE                                                                              \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or " \
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "          \
    "'my_value',  or '12345', regex used for validation is '(" NAME_REGEX ")?')"
#define DNS_LABEL_REGEX "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define SUBDOMAIN_RULE                                                                            \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "  \
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used " \
    "for validation is '" DNS_LABEL_REGEX "(\\." DNS_LABEL_REGEX ")*')"

static bool is_lower_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

static bool is_name(struct str s)
{
    if (s.n == 0 || !is_alnum(s.p[0]) || !is_alnum(s.p[s.n - 1]))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_alnum(s.p[i]) && s.p[i] != '-' && s.p[i] != '_' && s.p[i] != '.')
            return false;
    return true;
}

/* Labels of lower-case letters, digits and inner dashes, joined by dots. */
static bool is_subdomain(struct str s)
{
    char before = '.';
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool inside = is_lower_alnum(before) || before == '-';
        if (c == '.' ? !is_lower_alnum(before) : c == '-' ? !inside : !is_lower_alnum(c))
            return false;
        before = c;
    }
    return is_lower_alnum(before);
}

struct reasons {
    struct buf *out;
    size_t n;
};

static void add_reason(struct reasons *r, const char *part, const char *reason)
{
    if (r->out)
        buf_printf(r->out, "%s%s%s", r->n ? "; " : "", part, reason);
    r->n++;
}

static void check_prefix(struct reasons *r, struct str prefix)
{
    if (prefix.n == 0) {
        add_reason(r, "prefix part ", "must be non-empty");
        return;
    }
    if (prefix.n > LABEL_PREFIX_MAX)
        add_reason(r, "prefix part ", "must be no more than 253 bytes");
    if (!is_subdomain(prefix))
        add_reason(r, "prefix part ", SUBDOMAIN_RULE);
}

bool label_key_check(struct str key, struct buf *why)
{
    struct reasons r = { .out = why };
    struct str name = key;
    ptrdiff_t slash = str_find(key, '/');
    if (slash >= 0) {
        name = str_skip(key, (size_t)slash + 1);
        if (str_find(name, '/') >= 0) {
            add_reason(&r, "a valid label key ",
                       NAME_RULE " with an optional DNS subdomain prefix and '/' (e.g. "
                                 "'example.com/MyName')");
            return false;
        }
        check_prefix(&r, str_take(key, (size_t)slash));
    }
    if (name.n == 0)
        add_reason(&r, "name part ", "must be non-empty");
    else if (name.n > LABEL_NAME_MAX)
        add_reason(&r, "name part ", "must be no more than 63 bytes");
    if (!is_name(name))
        add_reason(&r, "name part ", NAME_RULE);
    return r.n == 0;
}

bool label_value_check(struct str value, struct buf *why)
{
    struct reasons r = { .out = why };
    if (value.n > LABEL_VALUE_MAX)
        add_reason(&r, "", "must be no more than 63 bytes");
    if (value.n && !is_name(value))
        add_reason(&r, "", VALUE_RULE);
    return r.n == 0;
}
