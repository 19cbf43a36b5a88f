/* The expressions quoted in the messages are the ones upstream checks with; here they are checked
 * by hand, in one pass and without a regular expression engine. Two things look odd and are
 * upstream's: lengths are counted in "characters" by the older rules and in "bytes" by the newer
 * ones (both mean bytes), and a dash at the end of a generateName hides the character before it. */
#include "api/names.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/banned.h"

#define QUALIFIED_REGEX "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
#define QUALIFIED_WORDS                                                                         \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " \
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "      \
    "validation is '" QUALIFIED_REGEX "')"
#define LABEL_VALUE_WORDS                                                                       \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or " \
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "          \
    "'my_value',  or '12345', regex used for validation is '(" QUALIFIED_REGEX ")?')"
#define LABEL_REGEX "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define LABEL_WORDS                                                                              \
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and " \
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "   \
    "used for validation is '" LABEL_REGEX "')"
#define SUBDOMAIN_WORDS                                                                           \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "  \
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used " \
    "for validation is '" LABEL_REGEX "(\\." LABEL_REGEX ")*')"
#define LABEL_1035_WORDS                                                                         \
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an " \
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "         \
    "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
#define CONFIG_KEY_WORDS                                                                        \
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "        \
    "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+" \
    "')"

static bool is_lower_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

/* Letters, digits, '-', '_' and '.' only; at least one. */
static bool is_words(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_alnum(s.p[i]) && s.p[i] != '-' && s.p[i] != '_' && s.p[i] != '.')
            return false;
    return s.n > 0;
}

static bool is_qualified_part(struct str s)
{
    return is_words(s) && is_alnum(s.p[0]) && is_alnum(s.p[s.n - 1]);
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

static void fault(struct name_faults *f, const char *part, const char *why)
{
    if (f->n == NAME_FAULTS_MAX)
        return;
    f->list[f->n].part = part;
    f->list[f->n].why = why;
    f->n++;
}

static void check_subdomain(struct name_faults *f, const char *part, struct str s)
{
    if (s.n > NAME_SUBDOMAIN_MAX)
        fault(f, part, "must be no more than 253 characters");
    if (!is_subdomain(s))
        fault(f, part, SUBDOMAIN_WORDS);
}

static void check_long(struct name_faults *f, const char *part, struct str s)
{
    if (s.n > NAME_SUBDOMAIN_MAX)
        fault(f, part, "must be no more than 253 bytes");
    if (!is_subdomain(s))
        fault(f, part, SUBDOMAIN_WORDS);
}

static void check_label(struct name_faults *f, struct str s)
{
    if (s.n > NAME_LABEL_MAX)
        fault(f, "", "must be no more than 63 characters");
    if (!is_subdomain(s))
        fault(f, "", LABEL_WORDS);
    else if (str_find(s, '.') >= 0)
        fault(f, "", "must not contain dots");
}

static void check_label_1035(struct name_faults *f, const char *part, struct str s)
{
    if (s.n > NAME_LABEL_MAX)
        fault(f, part, "must be no more than 63 characters");
    if (!is_subdomain(s) || str_find(s, '.') >= 0 || s.p[0] < 'a')
        fault(f, part, LABEL_1035_WORDS);
}

static void check_path_prefix(struct name_faults *f, struct str s)
{
    if (str_find(s, '/') >= 0)
        fault(f, "", "may not contain '/'");
    if (str_find(s, '%') >= 0)
        fault(f, "", "may not contain '%'");
}

static void check_path_segment(struct name_faults *f, struct str s)
{
    if (str_eq(s, STR(".")))
        fault(f, "", "may not be '.'");
    else if (str_eq(s, STR("..")))
        fault(f, "", "may not be '..'");
    else
        check_path_prefix(f, s);
}

static void check_config_key(struct name_faults *f, struct str s)
{
    if (s.n > NAME_SUBDOMAIN_MAX)
        fault(f, "", "must be no more than 253 characters");
    if (!is_words(s))
        fault(f, "", CONFIG_KEY_WORDS);
    if (str_eq(s, STR(".")))
        fault(f, "", "must not be '.'");
    else if (str_eq(s, STR("..")))
        fault(f, "", "must not be '..'");
    else if (str_starts(s, STR("..")))
        fault(f, "", "must not start with '..'");
}

static void check_qualified(struct name_faults *f, struct str s)
{
    struct str name = s;
    ptrdiff_t slash = str_find(s, '/');
    if (slash >= 0) {
        name = str_skip(s, (size_t)slash + 1);
        if (str_find(name, '/') >= 0) {
            fault(f, "a valid label key ",
                  QUALIFIED_WORDS " with an optional DNS subdomain prefix and '/' (e.g. "
                                  "'example.com/MyName')");
            return;
        }
        if (slash == 0)
            fault(f, "prefix part ", "must be non-empty");
        else
            check_long(f, "prefix part ", str_take(s, (size_t)slash));
    }
    if (name.n == 0)
        fault(f, "name part ", "must be non-empty");
    else if (name.n > NAME_LABEL_MAX)
        fault(f, "name part ", "must be no more than 63 bytes");
    if (!is_qualified_part(name))
        fault(f, "name part ", QUALIFIED_WORDS);
}

static void check_label_value(struct name_faults *f, struct str s)
{
    if (s.n > NAME_LABEL_MAX)
        fault(f, "", "must be no more than 63 bytes");
    if (s.n && !is_qualified_part(s))
        fault(f, "", LABEL_VALUE_WORDS);
}

static void check_storage_version(struct name_faults *f, struct str s)
{
    size_t dot = s.n;
    while (dot > 0 && s.p[dot - 1] != '.')
        dot--;
    if (dot == 0) {
        fault(f, "", "name must be in the form of <group>.<resource>");
        return;
    }
    check_subdomain(f, "the group segment ", str_take(s, dot - 1));
    check_label_1035(f, "the resource segment ", str_skip(s, dot));
}

/* Reads four numbers and dots, also with zeros in front of the numbers. */
static bool read_ipv4(struct str s, unsigned char ret[4], bool *ret_zeros)
{
    *ret_zeros = false;
    for (size_t i = 0; i < 4; i++) {
        if ((i < 3) != (str_find(s, '.') >= 0))
            return false;
        struct str part = str_cut(&s, '.');
        uint64_t n = 0;
        if (!str_to_u64(part, &n) || n > 255)
            return false;
        *ret_zeros = *ret_zeros || (part.n > 1 && part.p[0] == '0');
        ret[i] = (unsigned char)n;
    }
    return true;
}

/* RFC 5952: lower case, the first of the longest runs of zeros as "::". */
static void write_ipv6(const unsigned char ip[16], char *out, size_t size)
{
    unsigned groups[8];
    size_t run_at = 8, run = 1;
    for (size_t i = 0; i < 8; i++)
        groups[i] = (unsigned)ip[2 * i] << 8 | ip[2 * i + 1];
    for (size_t i = 0; i < 8; i++) {
        size_t n = 0;
        while (i + n < 8 && groups[i + n] == 0)
            n++;
        if (n > run) {
            run = n;
            run_at = i;
        }
    }
    size_t at = 0;
    for (size_t i = 0; i < 8; i++) {
        if (i == run_at) {
            at += (size_t)snprintf(out + at, size - at, "::");
            i += run - 1;
            continue;
        }
        bool colon = i && i != run_at + run;
        at += (size_t)snprintf(out + at, size - at, "%s%x", colon ? ":" : "", groups[i]);
    }
}

/* The address's only text, or false with one fault. `size` is enough for any address. */
static bool canonical_ip(struct name_faults *f, struct str s, char *out, size_t size)
{
    unsigned char ip[16];
    bool zeros = false;
    char text[INET6_ADDRSTRLEN] = "";
    if (read_ipv4(s, ip, &zeros)) {
        (void)snprintf(out, size, "%u.%u.%u.%u", ip[0], ip[1], ip[2], ip[3]);
        if (zeros)
            fault(f, "", "must not have leading 0s");
        return !zeros;
    }
    if (s.n && s.n < sizeof(text) && str_find(s, '\0') < 0)
        memcpy(text, s.p, s.n);
    if (inet_pton(AF_INET6, text, ip) != 1) {
        fault(f, "", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
        return false;
    }
    static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
    if (memcmp(ip, mapped, sizeof(mapped)) == 0) {
        fault(f, "", "must not be an IPv4-mapped IPv6 address");
        return false;
    }
    write_ipv6(ip, out, size);
    return true;
}

static void check_ip(struct name_faults *f, struct str s)
{
    char canonical[INET6_ADDRSTRLEN];
    if (!canonical_ip(f, s, canonical, sizeof(canonical)))
        return;
    if (str_eq(s, (struct str){ canonical, strlen(canonical) }))
        return;
    (void)snprintf(f->address, sizeof(f->address), "must be in canonical form (\"%s\")", canonical);
    fault(f, "", f->address);
}

bool name_check(enum name_rule rule, struct str name, struct name_faults *f)
{
    switch (rule) {
    case NAME_SUBDOMAIN:
    case NAME_TRUST_BUNDLE:
    case NAME_DEFINITION:
        check_subdomain(f, "", name);
        break;
    case NAME_LONG:
        check_long(f, "", name);
        break;
    case NAME_LABEL:
        check_label(f, name);
        break;
    case NAME_LABEL_1035:
        check_label_1035(f, "", name);
        break;
    case NAME_PATH_SEGMENT:
    case NAME_API_SERVICE:
        check_path_segment(f, name);
        break;
    case NAME_ANY:
        break;
    case NAME_CONFIG_KEY:
        check_config_key(f, name);
        break;
    case NAME_IP:
        check_ip(f, name);
        break;
    case NAME_STORAGE_VERSION:
        check_storage_version(f, name);
        break;
    case NAME_QUALIFIED:
        check_qualified(f, name);
        break;
    case NAME_LABEL_VALUE:
        check_label_value(f, name);
        break;
    }
    return f->n == 0;
}

/* What the DNS rules see of a prefix: without its last dash, and with an 'a' for what was before.
 */
static bool check_masked(enum name_rule rule, struct str prefix, struct name_faults *f)
{
    if (prefix.n < 2 || !str_ends(prefix, STR("-")))
        return name_check(rule, prefix, f);
    autobuf masked = { 0 };
    buf_str_add(&masked, str_take(prefix, prefix.n - 2));
    buf_byte(&masked, 'a');
    return name_check(rule, buf_str(&masked), f);
}

bool name_check_prefix(enum name_rule rule, struct str prefix, struct name_faults *f)
{
    switch (rule) {
    case NAME_SUBDOMAIN:
    case NAME_LABEL:
    case NAME_LABEL_1035:
    case NAME_TRUST_BUNDLE:
    case NAME_DEFINITION:
        return check_masked(rule, prefix, f);
    case NAME_LONG: /* the name that is made from it is checked, and that says enough */
        return true;
    default:
        return name_check(rule, prefix, f);
    }
}

static const struct {
    struct str group, resource;
    enum name_rule rule;
} rules[] = {
    { STR(""), STR("events"), NAME_ANY },
    { STR(""), STR("namespaces"), NAME_LABEL },
    { STR(""), STR("replicationcontrollers"), NAME_LONG },
    { STR(""), STR("services"), NAME_LABEL },
    { STR("apiextensions.k8s.io"), STR("customresourcedefinitions"), NAME_DEFINITION },
    { STR("apiregistration.k8s.io"), STR("apiservices"), NAME_API_SERVICE },
    { STR("apps"), STR("statefulsets"), NAME_LABEL },
    { STR("certificates.k8s.io"), STR("certificatesigningrequests"), NAME_ANY },
    { STR("certificates.k8s.io"), STR("clustertrustbundles"), NAME_TRUST_BUNDLE },
    { STR("coordination.k8s.io"), STR("leasecandidates"), NAME_CONFIG_KEY },
    { STR("internal.apiserver.k8s.io"), STR("storageversions"), NAME_STORAGE_VERSION },
    { STR("networking.k8s.io"), STR("ipaddresses"), NAME_IP },
    { STR("policy"), STR("poddisruptionbudgets"), NAME_ANY },
    { STR("rbac.authorization.k8s.io"), STR("clusterrolebindings"), NAME_PATH_SEGMENT },
    { STR("rbac.authorization.k8s.io"), STR("clusterroles"), NAME_PATH_SEGMENT },
    { STR("rbac.authorization.k8s.io"), STR("rolebindings"), NAME_PATH_SEGMENT },
    { STR("rbac.authorization.k8s.io"), STR("roles"), NAME_PATH_SEGMENT },
    { STR("resource.k8s.io"), STR("deviceclasses"), NAME_LONG },
};

enum name_rule name_rule_of(struct str group, struct str resource)
{
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (str_eq(rules[i].resource, resource) && str_eq(rules[i].group, group))
            return rules[i].rule;
    return NAME_SUBDOMAIN;
}

struct str name_generate(struct arena *a, struct str base, uint64_t random)
{
    /* No vowels and nothing that looks like another, so that no words come out. */
    static const char letters[27] = "bcdfghjklmnpqrstvwxz2456789";
    enum { SUFFIX = 5 };
    size_t n = base.n;
    if (n > NAME_LABEL_MAX - SUFFIX) {
        n = NAME_LABEL_MAX - SUFFIX;
        while (n && ((unsigned char)base.p[n] & 0xc0) == 0x80) /* not inside a character */
            n--;
    }
    char *name = arena_alloc(a, n + SUFFIX, 1);
    if (n)
        memcpy(name, base.p, n);
    for (size_t i = 0; i < SUFFIX; i++) {
        name[n + i] = letters[random % sizeof(letters)];
        random /= sizeof(letters);
    }
    return (struct str){ name, n + SUFFIX };
}
