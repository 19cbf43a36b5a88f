/* Each format is a pattern, a function, or both. They are as lenient and as odd as upstream's. */
#include "schema/schema_format.h"
#include "base/idiom.h"

#include "api/go/go_url.h"
#include "api/go/goduration.h"
#include "api/go/gotime.h"
#include "api/ip.h"
#include "schema/schema.h"
#include "schema/schema_mail.h"

#include "base/banned.h"

struct schema_format {
    struct str name; /* without dashes */
    unsigned types;  /* 0: of strings, and where no type is named */
    const char *pattern;
    bool (*fits)(struct arena *a, struct str text);
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Zeros in front of numbers were fine once, and still are. */
static bool is_ipv4(struct arena *a, struct str text)
{
    (void)a;
    struct ip ip;
    return ip_parse(text, &ip) && str_find(text, '.') >= 0;
}

static bool is_ipv6(struct arena *a, struct str text)
{
    (void)a;
    struct ip ip;
    return ip_parse(text, &ip) && !ip.has_zeros && str_find(text, ':') >= 0;
}

static bool is_cidr(struct arena *a, struct str text)
{
    (void)a;
    struct cidr c;
    return ip_cidr_parse(text, &c);
}

/* Six, eight or twenty bytes in pairs of digits behind ':' or '-', or in fours behind '.'. */
static bool is_plain_hex(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (str_hex_digit(text.p[i]) < 0)
            return false;
    return true;
}

/* Bytes with ':' or '-' between them, pairs of bytes with '.', or digits alone. */
static bool is_mac(struct arena *a, struct str text)
{
    (void)a;
    if (text.n == 12 || text.n == 16 || text.n == 40)
        return is_plain_hex(text);
    bool dotted = text.n > 4 && text.p[4] == '.';
    size_t group = dotted ? 4 : 2;
    if (text.n < 14 || (text.n + 1) % (group + 1))
        return false;
    char between = text.p[group];
    if (dotted ? between != '.' : between != ':' && between != '-')
        return false;
    for (size_t i = 0; i < text.n; i++)
        if (i % (group + 1) == group ? text.p[i] != between : str_hex_digit(text.p[i]) < 0)
            return false;
    size_t bytes = (text.n + 1) / (group + 1) * group / 2;
    return bytes == 6 || bytes == 8 || bytes == 20;
}

static bool is_uri(struct arena *a, struct str text)
{
    struct go_url url;
    if (!text.n || go_url_parse(a, text, &url))
        return false;
    return url.scheme.n || *text.p == '/' || str_eq(text, STR("*"));
}

static bool is_short_enough_host(struct arena *a, struct str text)
{
    (void)a;
    bool good = text.n <= 255;
    while (good && text.p) {
        struct str label = str_cut(&text, '.');
        good = label.n <= 63;
    }
    return good;
}

static struct str without(struct arena *a, struct str text, bool (*drop)(char c))
{
    char *out = arena_alloc(a, text.n + 1, 1);
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        if (!drop(text.p[i]))
            out[n++] = text.p[i];
    return (struct str){ out, n };
}

static bool is_no_digit(char c)
{
    return !is_digit(c);
}

static bool is_gap(char c)
{
    return c == '-' || c == ' ' || (c >= '\t' && c <= '\r' && c != '\v');
}

/* Luhn's sum, and the numbers that the issuers give out. */
static bool is_credit_card(struct arena *a, struct str text)
{
    struct err err = ERR_INIT(a);
    struct regexp *re;
    text = without(a, text, is_no_digit);
    struct str issued =
        STR("^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}"
            "|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}"
            "|(?:2131|1800|35\\d{3})\\d{11})$");
    if (regexp_compile(a, issued, &re, &err) < 0 || !regexp_match(re, text, a->allowance))
        return false;
    unsigned sum = 0;
    for (size_t i = 0; i < text.n; i++) {
        unsigned digit = (unsigned)(text.p[text.n - 1 - i] - '0') << (i % 2);
        sum += digit > 9 ? digit - 9 : digit;
    }
    return sum % 10 == 0;
}

static bool is_isbn10(struct arena *a, struct str text)
{
    text = without(a, text, is_gap);
    if (text.n != 10)
        return false;
    unsigned sum = 0;
    for (unsigned i = 0; i < 10; i++) {
        bool ten = i == 9 && text.p[i] == 'X';
        if (!ten && !is_digit(text.p[i]))
            return false;
        sum += (i + 1) * (ten ? 10 : (unsigned)(text.p[i] - '0'));
    }
    return sum % 11 == 0;
}

static bool is_isbn13(struct arena *a, struct str text)
{
    text = without(a, text, is_gap);
    if (text.n != 13)
        return false;
    unsigned sum = 0;
    for (unsigned i = 0; i < 13; i++) {
        if (!is_digit(text.p[i]))
            return false;
        sum += (i % 2 ? 3 : 1) * (unsigned)(text.p[i] - '0');
    }
    return sum % 10 == 0;
}

static bool is_isbn(struct arena *a, struct str text)
{
    return is_isbn10(a, text) || is_isbn13(a, text);
}

static bool is_up_to_63(struct arena *a, struct str text)
{
    (void)a;
    return text.n <= 63;
}

static bool is_up_to_253(struct arena *a, struct str text)
{
    (void)a;
    return text.n <= 253;
}

static bool is_eleven(struct arena *a, struct str text)
{
    (void)a;
    return text.n == 11;
}

/* A day that the calendar has. */
static bool is_date(struct arena *a, struct str text)
{
    struct err err = ERR_INIT(a);
    struct gotime t;
    return text.n == 10 &&
           gotime_parse(arena_printf(a, STR_FMT "T00:00:00Z", STR_ARG(text)), false, &t, &err) == 0;
}

static bool at_most(struct str two_digits, const char *max)
{
    return memcmp(two_digits.p, max, 2) <= 0;
}

/* hh:mm:ss, any character and digits, and z or an offset: in small letters by now. */
static bool is_time(struct str t)
{
    if (t.n < 9 || t.p[2] != ':' || t.p[5] != ':' || !at_most(t, "23") ||
        !at_most(str_skip(t, 3), "59") || !at_most(str_skip(t, 6), "59"))
        return false;
    for (size_t i = 0; i < 8; i++)
        if (i % 3 != 2 && !is_digit(t.p[i]))
            return false;
    t = str_skip(t, 8);
    if (t.n > 1 && is_digit(t.p[1]) && *t.p != '+' && *t.p != '-') {
        t = str_skip(t, 1);
        while (t.n && is_digit(*t.p))
            t = str_skip(t, 1);
    }
    if (str_eq(t, STR("z")))
        return true;
    return t.n == 6 && (*t.p == '+' || *t.p == '-') && is_digit(t.p[1]) && is_digit(t.p[2]) &&
           t.p[3] == ':' && is_digit(t.p[4]) && is_digit(t.p[5]);
}

static bool is_date_time(struct arena *a, struct str text)
{
    char *small = arena_alloc(a, text.n + 1, 1);
    for (size_t i = 0; i < text.n; i++)
        small[i] = text.p[i] >= 'A' && text.p[i] <= 'Z' ? (char)(text.p[i] | 0x20) : text.p[i];
    struct str rest = { small, text.n };
    struct str date = str_cut(&rest, 't');
    return rest.p && is_date(a, date) && is_time(str_cut(&rest, 't'));
}

/* Go's, or numbers with units in words somewhere in the text: "3 days". */
static bool is_duration(struct arena *a, struct str text)
{
    int64_t nanos;
    struct err err = ERR_INIT(a);
    if (goduration_parse(text, &nanos, &err) == 0)
        return true;
    struct regexp *re;
    struct str words = STR("\\d+\\s*(?i:ns|nano[a-z\\x{b5}]*|us|\\x{b5}s|micro[a-z\\x{b5}]*|ms|"
                           "milli[a-z\\x{b5}]*|s|sec[a-z\\x{b5}]*|m|min[a-z\\x{b5}]*|h|hr|"
                           "hour[a-z\\x{b5}]*|d|day[a-z\\x{b5}]*|w|wk|week[a-z\\x{b5}]*)"
                           "(?:[^A-Za-z\\x{b5}]|$)");
    return regexp_compile(a, words, &re, &err) == 0 && regexp_match(re, text, a->allowance);
}

#define HEX   "[0-9a-f]"
#define LABEL "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define HOST  "a-zA-Z0-9\\p{S}\\p{L}"

static const struct schema_format formats[] = {
    { STR("bsonobjectid"), 0, "^(?i:" HEX "{24})$", NULL },
    { STR("byte"), 0,
      "^(?:[A-Za-z0-9+\\/]{4})*(?:[A-Za-z0-9+\\/]{2}==|[A-Za-z0-9+\\/]{3}=|[A-Za-z0-9+\\/]{4})$",
      NULL },
    { STR("cidr"), 0, NULL, is_cidr },
    { STR("creditcard"), 0, NULL, is_credit_card },
    { STR("date"), 0, NULL, is_date },
    { STR("datetime"), 0, NULL, is_date_time },
    { STR("double"), SCHEMA_NUMBER, NULL, NULL },
    { STR("duration"), 0, NULL, is_duration },
    { STR("email"), 0, NULL, schema_is_mail_address },
    { STR("float"), SCHEMA_NUMBER, NULL, NULL },
    { STR("hexcolor"), 0, "^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$", NULL },
    { STR("hostname"), 0,
      "^([" HOST "]((-?[" HOST "]{0,62})?)|([" HOST "](([" HOST "-]{0,61}[" HOST
      "])?)(\\.)){1,}([a-zA-Z\\p{L}]){2,63})$",
      is_short_enough_host },
    { STR("int32"), SCHEMA_INTEGER, NULL, NULL },
    { STR("int64"), SCHEMA_INTEGER, NULL, NULL },
    { STR("ipv4"), 0, NULL, is_ipv4 },
    { STR("ipv6"), 0, NULL, is_ipv6 },
    { STR("isbn"), 0, NULL, is_isbn },
    { STR("isbn10"), 0, NULL, is_isbn10 },
    { STR("isbn13"), 0, NULL, is_isbn13 },
    { STR("k8slongname"), 0, "^" LABEL "(\\." LABEL ")*$", is_up_to_253 },
    { STR("k8sshortname"), 0, "^" LABEL "$", is_up_to_63 },
    { STR("mac"), 0, NULL, is_mac },
    { STR("password"), 0, NULL, NULL },
    { STR("rgbcolor"), 0,
      "^rgb\\(\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*,\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|"
      "25[0-5])"
      "\\s*,\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*\\)$",
      NULL },
    { STR("ssn"), 0, "^\\d{3}[- ]?\\d{2}[- ]?\\d{4}$", is_eleven },
    { STR("uri"), 0, NULL, is_uri },
    { STR("uuid"), 0, "(?i)^" HEX "{8}-?" HEX "{4}-?" HEX "{4}-?" HEX "{4}-?" HEX "{12}$", NULL },
    { STR("uuid3"), 0, "(?i)^" HEX "{8}-?" HEX "{4}-?3" HEX "{3}-?" HEX "{4}-?" HEX "{12}$", NULL },
    { STR("uuid4"), 0, "(?i)^" HEX "{8}-?" HEX "{4}-?4" HEX "{3}-?[89ab]" HEX "{3}-?" HEX "{12}$",
      NULL },
    { STR("uuid5"), 0, "(?i)^" HEX "{8}-?" HEX "{4}-?5" HEX "{3}-?[89ab]" HEX "{3}-?" HEX "{12}$",
      NULL },
};

static bool same_but_dashes(struct str name, struct str plain)
{
    size_t n = 0;
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] == '-')
            continue;
        if (n >= plain.n || name.p[i] != plain.p[n++])
            return false;
    }
    return n == plain.n && n;
}

const struct schema_format *schema_format_find(struct str name, unsigned types)
{
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        const struct schema_format *f = &formats[i];
        if (f->types ? types == f->types && str_eq(name, f->name)
                     : (!types || types & SCHEMA_STRING) && same_but_dashes(name, f->name))
            return f;
    }
    return NULL;
}

const struct regexp *schema_format_pattern(struct arena *a, const struct schema_format *f)
{
    struct err err = ERR_INIT(a);
    struct regexp *re = NULL;
    if (f->pattern)
        (void)regexp_compile(a, str_of(f->pattern), &re, &err);
    return re;
}

bool schema_format_is_text(const struct schema_format *f)
{
    return !f->types;
}

bool schema_format_fits(struct arena *a, const struct schema_format *f,
                        const struct regexp *pattern, struct str text)
{
    if (pattern && !regexp_match(pattern, text, a->allowance))
        return false;
    return !f->fits || f->fits(a, text);
}
