/* semver(): versions after semver.org 2.0.0 (Kubernetes), strict or, if asked, made complete first.
 * Faults are told in the words of the library that upstream uses. */
#include "base/idiom.h"
#include "cel/internal.h"

#include "api/go/quote.h"
#include "base/buf.h"

#include "base/banned.h"

struct version {
    uint64_t number[3];
    struct str pre;  /* "alpha.1"; empty if there is none */
    struct str text; /* as it was parsed */
};

static const char *quoted(struct arena *a, const char *what, struct str s)
{
    autobuf out = { 0 };
    buf_printf(&out, "%s ", what);
    quote_go(&out, s);
    return str_cstr(a, buf_str(&out));
}

static bool is_numeric(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return true;
}

static bool is_identifier(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && !(c >= '0' && c <= '9') && c != '-')
            return false;
    }
    return true;
}

static const char *parse_number(struct arena *a, struct str s, unsigned i, uint64_t *ret)
{
    static const char *const bad[] = {
        "Invalid character(s) found in major number",
        "Invalid character(s) found in minor number",
        "Invalid character(s) found in patch number",
    };
    static const char *const zeros[] = {
        "Major number must not contain leading zeroes",
        "Minor number must not contain leading zeroes",
        "Patch number must not contain leading zeroes",
    };
    if (!is_numeric(s))
        return quoted(a, bad[i], s);
    if (s.n > 1 && s.p[0] == '0')
        return quoted(a, zeros[i], s);
    if (!str_to_u64(s, ret))
        return str_cstr(a, arena_printf(a, "strconv.ParseUint: parsing \"" STR_FMT "\": %s",
                                        STR_ARG(s), s.n ? "value out of range" : "invalid syntax"));
    return NULL;
}

static const char *check_pre(struct arena *a, struct str pre)
{
    do {
        struct str part = str_cut(&pre, '.');
        if (!part.n)
            return "Prerelease is empty";
        if (!is_identifier(part))
            return quoted(a, "Invalid character(s) found in prerelease", part);
        if (is_numeric(part) && part.n > 1 && part.p[0] == '0')
            return quoted(a, "Numeric PreRelease version must not contain leading zeroes", part);
    } while (pre.p);
    return NULL;
}

static const char *check_build(struct arena *a, struct str build)
{
    do {
        struct str part = str_cut(&build, '.');
        if (!part.n)
            return "Build meta data is empty";
        if (!is_identifier(part))
            return quoted(a, "Invalid character(s) found in build meta data", part);
    } while (build.p);
    return NULL;
}

static const char *parse(struct arena *a, struct str text, struct version *ret)
{
    struct str rest = text, build, pre;
    *ret = (struct version){ .text = text };
    if (!text.n)
        return "Version string empty";
    struct str major = str_cut(&rest, '.'), minor = str_cut(&rest, '.');
    if (!rest.p)
        return "No Major.Minor.Patch elements found";
    const char *why = parse_number(a, major, 0, &ret->number[0]);
    if (why)
        return why;
    why = parse_number(a, minor, 1, &ret->number[1]);
    if (why)
        return why;
    build = rest;
    rest = str_cut(&build, '+');
    pre = rest;
    rest = str_cut(&pre, '-');
    why = parse_number(a, rest, 2, &ret->number[2]);
    if (why)
        return why;
    why = pre.p ? check_pre(a, pre) : NULL;
    if (why)
        return why;
    ret->pre = pre.p ? pre : STR("");
    return build.p ? check_build(a, build) : NULL;
}

/* Without zeros in front, but with a digit. */
static struct str without_zeros(struct arena *a, struct str s)
{
    if (s.n < 2)
        return s;
    while (s.n && s.p[0] == '0')
        s = str_skip(s, 1);
    if (s.n && s.p[0] >= '0' && s.p[0] <= '9')
        return s;
    return arena_printf(a, "0" STR_FMT, STR_ARG(s));
}

/* "v1.02" as "1.2.0". */
static const char *normalize(struct arena *a, struct str text, struct str *ret)
{
    struct str rest = str_skip(text, str_starts(text, STR("v"))), parts[3];
    size_t n = 0;
    do {
        parts[n] = n == 2 ? rest : str_cut(&rest, '.');
        n++;
    } while (rest.p && n < 3);
    for (size_t i = 0; i < n; i++)
        parts[i] = without_zeros(a, parts[i]);
    if (n < 3 && (str_find(parts[n - 1], '+') >= 0 || str_find(parts[n - 1], '-') >= 0))
        return "short version cannot contain PreRelease/Build meta data";
    while (n < 3)
        parts[n++] = STR("0");
    *ret = arena_printf(a, STR_FMT "." STR_FMT "." STR_FMT, STR_ARG(parts[0]), STR_ARG(parts[1]),
                        STR_ARG(parts[2]));
    return NULL;
}

static const char *parse_asked(struct arena *a, const struct cel_value *args, size_t n,
                               struct version *ret)
{
    struct str text = cel__str(&args[0]);
    const char *why = n == 2 && args[1].b ? normalize(a, text, &text) : NULL;
    return why ? why : parse(a, text, ret);
}

static int order_part(struct str x, struct str y)
{
    bool x_number = is_numeric(x), y_number = is_numeric(y);
    if (x_number != y_number)
        return x_number ? -1 : 1;
    /* Numbers have no zeros in front, so the longer one is greater. */
    if (x_number && x.n != y.n)
        return x.n < y.n ? -1 : 1;
    int order = str_cmp(x, y);
    return order < 0 ? -1 : order > 0;
}

static int compare(const struct version *x, const struct version *y)
{
    for (size_t i = 0; i < 3; i++)
        if (x->number[i] != y->number[i])
            return x->number[i] < y->number[i] ? -1 : 1;
    struct str a = x->pre, b = y->pre;
    if (!a.n || !b.n)
        return a.n ? -1 : b.n ? 1 : 0;
    while (a.p && b.p) {
        int order = order_part(str_cut(&a, '.'), str_cut(&b, '.'));
        if (order)
            return order;
    }
    return a.p ? 1 : b.p ? -1 : 0;
}

int cel_of_semver(struct arena *a, struct str text, struct cel_value *ret, struct err *err)
{
    struct version *v = arena_new(a, struct version);
    const char *why = parse(a, arena_str(a, text), v);
    if (why)
        return err_set(err, ERR_BAD_REQUEST, "%s", why);
    *ret = cel__opaque(&cel_semver, v);
    return 0;
}

#define FUNCTION(name) \
    static struct cel_value name(struct cel__eval *ev, const struct cel_value *args, size_t n)

FUNCTION(fn_semver)
{
    struct version *v = arena_new(ev->arena, struct version);
    const char *why = parse_asked(ev->arena, args, n, v);
    return why ? cel_of_error(str_of(why)) : cel__opaque(&cel_semver, v);
}

FUNCTION(fn_is_semver)
{
    struct version v;
    return cel_of_bool(!parse_asked(ev->arena, args, n, &v));
}

FUNCTION(fn_compare)
{
    (void)ev;
    (void)n;
    return cel_of_int(compare(args[0].opaque, args[1].opaque));
}

FUNCTION(fn_greater)
{
    (void)ev;
    (void)n;
    return cel_of_bool(compare(args[0].opaque, args[1].opaque) > 0);
}

FUNCTION(fn_less)
{
    (void)ev;
    (void)n;
    return cel_of_bool(compare(args[0].opaque, args[1].opaque) < 0);
}

#define NUMBER(name, i)                                                                  \
    FUNCTION(name)                                                                       \
    {                                                                                    \
        (void)ev;                                                                        \
        (void)n;                                                                         \
        return cel_of_int((int64_t)((const struct version *)args[0].opaque)->number[i]); \
    }
NUMBER(fn_major, 0)
NUMBER(fn_minor, 1)
NUMBER(fn_patch, 2)

#define ONE    CEL__COST_ONE
#define SEMVER &cel_semver

static const struct cel__overload rows[] = {
    CEL__FUNCTION("semver", CEL__COST_PARSE, fn_semver, SEMVER, &cel_string),
    CEL__FUNCTION("semver", CEL__COST_PARSE, fn_semver, SEMVER, &cel_string, &cel_bool),
    CEL__FUNCTION("isSemver", CEL__COST_PARSE, fn_is_semver, &cel_bool, &cel_string),
    CEL__FUNCTION("isSemver", CEL__COST_PARSE, fn_is_semver, &cel_bool, &cel_string, &cel_bool),
    CEL__METHOD("isGreaterThan", ONE, fn_greater, &cel_bool, SEMVER, SEMVER),
    CEL__METHOD("isLessThan", ONE, fn_less, &cel_bool, SEMVER, SEMVER),
    CEL__METHOD("compareTo", ONE, fn_compare, &cel_int, SEMVER, SEMVER),
    CEL__METHOD("major", ONE, fn_major, &cel_int, SEMVER),
    CEL__METHOD("minor", ONE, fn_minor, &cel_int, SEMVER),
    CEL__METHOD("patch", ONE, fn_patch, &cel_int, SEMVER),
};

const struct cel__library cel__lib_semver = { rows, ARRAY_LEN(rows), 0 };

bool cel__semver_equal(const void *x, const void *y)
{
    return compare(x, y) == 0;
}

struct str cel__semver_text(const struct cel_value *v)
{
    return ((const struct version *)v->opaque)->text;
}
