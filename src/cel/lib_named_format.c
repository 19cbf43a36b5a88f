/* format.dns1123Label().validate('x') and its kin (Kubernetes): rules for names, and a few of the
 * formats of OpenAPI. An answer is none if all is well, else the reasons. */
#include "base/idiom.h"
#include "cel/internal.h"

#include "api/go/gotime.h"
#include "api/names.h"
#include "base/base64.h"
#include "base/buf.h"

#include "base/banned.h"

typedef const char *checker(struct arena *a, struct str s);

struct format {
    const char *name;
    uint64_t pattern_size; /* of the pattern that upstream takes it for */
    enum name_rule rule;
    bool prefix;
    checker *check; /* instead of a rule for names */
};

static const char *check_uuid(struct arena *a, struct str s)
{
    (void)a;
    /* The dashes may be left out, one by one. */
    static const size_t groups[] = { 8, 4, 4, 4, 12 };
    size_t at = 0;
    for (size_t g = 0; g < 5; g++) {
        for (size_t i = 0; i < groups[g]; i++, at++)
            if (at >= s.n || str_hex_digit(s.p[at]) < 0)
                return "does not match the UUID format";
        if (g < 4 && at < s.n && s.p[at] == '-')
            at++;
    }
    return at == s.n ? NULL : "does not match the UUID format";
}

static const char *check_byte(struct arena *a, struct str s)
{
    (void)a;
    autobuf bytes = { 0 };
    return s.n && base64_decode(&bytes, s) ? NULL : "invalid base64";
}

static const char *check_date(struct arena *a, struct str s)
{
    struct gotime t;
    struct str full = arena_printf(a, STR_FMT "T00:00:00Z", STR_ARG(s));
    return s.n == 10 && gotime_parse(full, false, &t, NULL) == 0 ? NULL : "invalid date";
}

static bool is_two_digits(struct str s, size_t at, int max)
{
    if (at + 2 > s.n || s.p[at] < '0' || s.p[at] > '9' || s.p[at + 1] < '0' || s.p[at + 1] > '9')
        return false;
    return (s.p[at] - '0') * 10 + s.p[at + 1] - '0' <= max;
}

/* hh:mm:ss, a fraction behind any character, and z or an offset. */
static bool is_time_of_day(struct str s)
{
    if (s.n < 9 || !is_two_digits(s, 0, 23) || s.p[2] != ':' || !is_two_digits(s, 3, 59) ||
        s.p[5] != ':' || !is_two_digits(s, 6, 59))
        return false;
    struct str rest = str_skip(s, 8);
    bool zulu = rest.n == 1 && rest.p[0] == 'z';
    if (!zulu && rest.n > 1 && rest.p[1] >= '0' && rest.p[1] <= '9' && rest.n != 6) {
        size_t i = 1;
        while (i < rest.n && rest.p[i] >= '0' && rest.p[i] <= '9')
            i++;
        rest = str_skip(rest, i);
        zulu = rest.n == 1 && rest.p[0] == 'z';
    }
    return zulu || (rest.n == 6 && (rest.p[0] == '+' || rest.p[0] == '-') && rest.p[3] == ':' &&
                    is_two_digits(rest, 1, 99) && is_two_digits(rest, 4, 99));
}

static const char *check_datetime(struct arena *a, struct str s)
{
    char *lower = arena_dup(a, s.p, s.n);
    for (size_t i = 0; i < s.n; i++)
        if (lower[i] >= 'A' && lower[i] <= 'Z')
            lower[i] |= 0x20;
    struct str rest = { lower, s.n }, date = str_cut(&rest, 't');
    return rest.n && !check_date(a, date) && is_time_of_day(rest) ? NULL : "invalid datetime";
}

static const struct format formats[] = {
    { "dns1123Label", 30, NAME_LABEL, false, NULL },
    { "dns1123Subdomain", 60, NAME_SUBDOMAIN, false, NULL },
    { "dns1035Label", 30, NAME_LABEL_1035, false, NULL },
    { "qualifiedName", 60, NAME_QUALIFIED, false, NULL },
    { "dns1123LabelPrefix", 30, NAME_LABEL, true, NULL },
    { "dns1123SubdomainPrefix", 60, NAME_SUBDOMAIN, true, NULL },
    { "dns1035LabelPrefix", 30, NAME_LABEL_1035, true, NULL },
    { "labelValue", 40, NAME_LABEL_VALUE, false, NULL },
    { "uri", 1103, 0, false, cel__url_fault },
    { "uuid", 70, 0, false, check_uuid },
    { "byte", 84, 0, false, check_byte },
    { "date", 71, 0, false, check_date },
    { "datetime", 71, 0, false, check_datetime },
};

enum { N_FORMATS = ARRAY_LEN(formats) };

uint64_t cel__format_pattern_size(const struct cel_value *format)
{
    bool is_format = format->kind == CEL_OPAQUE && format->declared == &cel__format;
    return is_format ? ((const struct format *)format->opaque)->pattern_size : 0;
}

static void add_fault(struct cel__eval *ev, struct cel_value *list, const char *part,
                      const char *why)
{
    struct str s = arena_printf(ev->arena, "%s%s", part ? part : "", why);
    cel__list_push(ev, list, cel_of_string(s));
}

static struct cel_value fn_validate(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    const struct format *f = args[0].opaque;
    struct str s = cel__str(&args[1]);
    struct cel_value faults = cel__list_new(ev, 4);
    if (f->check) {
        const char *why = f->check(ev->arena, s);
        if (why)
            add_fault(ev, &faults, NULL, why);
    } else {
        struct name_faults found = { 0 };
        if (f->prefix)
            (void)name_check_prefix(f->rule, s, &found);
        else
            (void)name_check(f->rule, s, &found);
        for (size_t i = 0; i < found.n; i++)
            add_fault(ev, &faults, found.list[i].part, found.list[i].why);
    }
    return cel_of_optional(ev->arena, faults.n ? &faults : NULL);
}

static struct cel_value fn_named(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    for (size_t i = 0; i < N_FORMATS; i++)
        if (str_eq(cel__str(&args[0]), str_of(formats[i].name))) {
            struct cel_value v = cel__opaque(&cel__format, &formats[i]);
            return cel_of_optional(ev->arena, &v);
        }
    return cel_of_optional(ev->arena, NULL);
}

#define FORMAT(i)                                                                             \
    static struct cel_value fn_##i(struct cel__eval *ev, const struct cel_value *a, size_t n) \
    {                                                                                         \
        (void)ev;                                                                             \
        (void)a;                                                                              \
        (void)n;                                                                              \
        return cel__opaque(&cel__format, &formats[i]);                                        \
    }
FORMAT(0)
FORMAT(1)
FORMAT(2)
FORMAT(3)
FORMAT(4)
FORMAT(5)
FORMAT(6)
FORMAT(7)
FORMAT(8)
FORMAT(9)
FORMAT(10)
FORMAT(11)
FORMAT(12)

#define NAMED(name, i)                                                     \
    {                                                                      \
        .function = "format." name, .result = &cel__format, .call = fn_##i \
    }

static const struct cel_type optional_strings = { .kind = CEL_OPTIONAL,
                                                  .name = { "optional_type", 13 },
                                                  .n_params = 1,
                                                  .params = { &cel__list_string },
                                                  .max_size = CEL_SIZE_UNKNOWN };
static const struct cel_type optional_format = { .kind = CEL_OPTIONAL,
                                                 .name = { "optional_type", 13 },
                                                 .n_params = 1,
                                                 .params = { &cel__format },
                                                 .max_size = CEL_SIZE_UNKNOWN };

static const struct cel__overload rows[] = {
    CEL__METHOD("validate", CEL__COST_VALIDATE, fn_validate, &optional_strings, &cel__format,
                &cel_string),
    CEL__FUNCTION("format.named", CEL__COST_ONE, fn_named, &optional_format, &cel_string),
    NAMED("dns1123Label", 0),
    NAMED("dns1123Subdomain", 1),
    NAMED("dns1035Label", 2),
    NAMED("qualifiedName", 3),
    NAMED("dns1123LabelPrefix", 4),
    NAMED("dns1123SubdomainPrefix", 5),
    NAMED("dns1035LabelPrefix", 6),
    NAMED("labelValue", 7),
    NAMED("uri", 8),
    NAMED("uuid", 9),
    NAMED("byte", 10),
    NAMED("date", 11),
    NAMED("datetime", 12),
};

const struct cel__library cel__lib_named_format = { rows, ARRAY_LEN(rows), 0 };
