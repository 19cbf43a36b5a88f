#include "api/go/cron.h"

#include "api/go/goduration.h"
#include "api/go/quote.h"
#include "api/go/time_zone.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/banned.h"

struct bounds {
    unsigned min, max;
    const char *const *names; /* from `min` on; NULL: numbers only */
    size_t n_names;
};

static const char *const month_names[] = { "jan", "feb", "mar", "apr", "may", "jun",
                                           "jul", "aug", "sep", "oct", "nov", "dec" };
static const char *const weekday_names[] = { "sun", "mon", "tue", "wed", "thu", "fri", "sat" };

enum { CRON_FIELDS = 5 };
static const struct bounds all_bounds[CRON_FIELDS] = {
    { 0, 59, NULL, 0 },         { 0, 23, NULL, 0 },         { 1, 31, NULL, 0 },
    { 1, 12, month_names, 12 }, { 0, 6, weekday_names, 7 },
};

/* ---- Numbers ---- */

static int parse_number(struct str text, int64_t *ret, struct err *err)
{
    struct str digits = str_starts(text, STR("+")) ? str_skip(text, 1) : text;
    bool is_number =
        digits.n > 0 && !str_starts(digits, STR("+")) && !(digits.n < text.n && digits.p[0] == '-');
    if (!is_number || !str_to_i64(digits, ret)) {
        autobuf quoted = { 0 };
        quote_go(&quoted, text);
        struct str rest = str_starts(digits, STR("-")) ? str_skip(digits, 1) : digits;
        bool all_digits = rest.n > 0;
        for (size_t i = 0; i < rest.n; i++)
            all_digits = all_digits && rest.p[i] >= '0' && rest.p[i] <= '9';
        return err_set(err, ERR_BAD_REQUEST,
                       "failed to parse int from " STR_FMT ": strconv.Atoi: parsing " STR_FMT
                       ": %s",
                       STR_ARG(text), STR_ARG(buf_str(&quoted)),
                       all_digits ? "value out of range" : "invalid syntax");
    }
    if (*ret < 0)
        return err_set(err, ERR_BAD_REQUEST, "negative number (%ld) not allowed: " STR_FMT,
                       (long)*ret, STR_ARG(text));
    return 0;
}

static int parse_number_or_name(struct str text, const struct bounds *b, int64_t *ret,
                                struct err *err)
{
    for (size_t i = 0; i < b->n_names; i++)
        if (str_eq_nocase(text, str_of(b->names[i]))) {
            *ret = (int64_t)(b->min + i);
            return 0;
        }
    return parse_number(text, ret, err);
}

/* ---- Ranges ---- */

struct range {
    int64_t start, end, step;
    bool any, single;
};

static size_t count(struct str s, char c)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == c;
    return n;
}

static int parse_ends(struct str text, struct str expr, const struct bounds *b, struct range *ret,
                      struct err *err)
{
    struct str high = text, low = str_cut(&high, '-');
    ret->single = !high.p;
    if (str_eq(low, STR("*")) || str_eq(low, STR("?"))) {
        ret->start = b->min;
        ret->end = b->max;
        ret->any = true;
        return 0;
    }
    int r = parse_number_or_name(low, b, &ret->start, err);
    if (r < 0)
        return r;
    ret->end = ret->start;
    if (ret->single)
        return 0;
    if (count(text, '-') > 1)
        return err_set(err, ERR_BAD_REQUEST, "too many hyphens: " STR_FMT, STR_ARG(expr));
    return parse_number_or_name(high, b, &ret->end, err);
}

static int check_range(const struct range *r, struct str expr, const struct bounds *b,
                       struct err *err)
{
    if (r->start < b->min)
        return err_set(err, ERR_BAD_REQUEST,
                       "beginning of range (%ld) below minimum (%u): " STR_FMT, (long)r->start,
                       b->min, STR_ARG(expr));
    if (r->end > b->max)
        return err_set(err, ERR_BAD_REQUEST, "end of range (%ld) above maximum (%u): " STR_FMT,
                       (long)r->end, b->max, STR_ARG(expr));
    if (r->start > r->end)
        return err_set(err, ERR_BAD_REQUEST,
                       "beginning of range (%ld) beyond end of range (%ld): " STR_FMT,
                       (long)r->start, (long)r->end, STR_ARG(expr));
    if (r->step == 0)
        return err_set(err, ERR_BAD_REQUEST, "step of range should be a positive number: " STR_FMT,
                       STR_ARG(expr));
    return 0;
}

static int parse_range(struct str expr, const struct bounds *b, uint64_t *bits, bool *any,
                       struct err *err)
{
    struct range r = { .step = 1 };
    struct str step = expr, ends = str_cut(&step, '/');
    int code = parse_ends(ends, expr, b, &r, err);
    if (code < 0)
        return code;
    if (step.p && count(expr, '/') > 1)
        return err_set(err, ERR_BAD_REQUEST, "too many slashes: " STR_FMT, STR_ARG(expr));
    if (step.p) {
        code = parse_number(step, &r.step, err);
        if (code < 0)
            return code;
        if (r.single)
            r.end = b->max; /* "N/step" goes on to the last */
        r.any = r.any && r.step <= 1;
    }
    code = check_range(&r, expr, b, err);
    if (code < 0)
        return code;
    *bits |= UINT64_C(1) << r.start;
    for (int64_t i = r.start; r.step <= r.end - i; i += r.step)
        *bits |= UINT64_C(1) << (i + r.step);
    *any = *any || r.any;
    return 0;
}

static int parse_field(struct str field, const struct bounds *b, uint64_t *bits, bool *any,
                       struct err *err)
{
    *bits = 0;
    *any = false;
    while (field.n) {
        struct str expr = str_cut(&field, ',');
        int r = expr.n ? parse_range(expr, b, bits, any, err) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- Descriptors ---- */

static int parse_descriptor(struct str text, struct cron *ret, struct err *err)
{
    static const struct {
        struct str name;
        struct cron cron;
    } known[] = {
        { STR("@yearly"), { 1, 1, 2, 2, 0x7f, .any_weekday = true } },
        { STR("@annually"), { 1, 1, 2, 2, 0x7f, .any_weekday = true } },
        { STR("@monthly"), { 1, 1, 2, 0x1ffe, 0x7f, .any_weekday = true } },
        { STR("@weekly"), { 1, 1, 0xfffffffe, 0x1ffe, 1, .any_day = true } },
        { STR("@daily"), { 1, 1, 0xfffffffe, 0x1ffe, 0x7f, true, true } },
        { STR("@midnight"), { 1, 1, 0xfffffffe, 0x1ffe, 0x7f, true, true } },
        { STR("@hourly"), { 1, 0xffffff, 0xfffffffe, 0x1ffe, 0x7f, true, true } },
    };
    struct str zone = ret->zone;
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_eq(text, known[i].name)) {
            *ret = known[i].cron;
            ret->zone = zone;
            return 0;
        }
    if (!str_starts(text, STR("@every ")))
        return err_set(err, ERR_BAD_REQUEST, "unrecognized descriptor: " STR_FMT, STR_ARG(text));
    ret->is_every = true;
    int r = goduration_parse(str_skip(text, 7), &ret->every_nanos, err);
    return r < 0 ? err_wrap(err, "failed to parse duration " STR_FMT, STR_ARG(text)) : 0;
}

/* ---- Schedules ---- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct str next_word(struct str *s)
{
    while (s->n && is_space(s->p[0]))
        *s = str_skip(*s, 1);
    size_t n = 0;
    while (n < s->n && !is_space(s->p[n]))
        n++;
    struct str word = str_take(*s, n);
    *s = str_skip(*s, n);
    return word;
}

static int parse_fields(struct str text, struct cron *ret, struct err *err)
{
    struct str words[CRON_FIELDS] = { 0 }, rest = text, word;
    uint64_t *const sets[CRON_FIELDS] = { &ret->minutes, &ret->hours, &ret->days, &ret->months,
                                          &ret->weekdays };
    autobuf list = { 0 };
    size_t n = 0;
    while ((word = next_word(&rest)).n) {
        if (n < CRON_FIELDS)
            words[n] = word;
        buf_printf(&list, "%s" STR_FMT, n++ ? " " : "", STR_ARG(word));
    }
    if (n != CRON_FIELDS)
        return err_set(err, ERR_BAD_REQUEST, "expected exactly %d fields, found %zu: [" STR_FMT "]",
                       CRON_FIELDS, n, STR_ARG(buf_str(&list)));
    for (size_t i = 0; i < CRON_FIELDS; i++) {
        bool any = false;
        int r = parse_field(words[i], &all_bounds[i], sets[i], &any, err);
        if (r < 0)
            return r;
        ret->any_day = i == 2 ? any : ret->any_day;
        ret->any_weekday = i == 4 ? any : ret->any_weekday;
    }
    return 0;
}

int cron_parse(struct str text, struct cron *ret, struct err *err)
{
    *ret = (struct cron){ 0 };
    if (!text.n)
        return err_set(err, ERR_BAD_REQUEST, "empty spec string");
    if (str_starts(text, STR("TZ=")) || str_starts(text, STR("CRON_TZ="))) {
        struct str rest = text;
        (void)str_cut(&rest, '=');
        size_t before = text.n - rest.n;
        if (str_find(rest, ' ') < 0) /* upstream's parser stumbles here, and says so */
            return err_set(err, ERR_BAD_REQUEST,
                           "invalid schedule format: runtime error: slice bounds out of range "
                           "[%zu:-1]",
                           before);
        ret->zone = str_cut(&rest, ' ');
        bool known =
            !ret->zone.n || str_eq(ret->zone, STR("Local")) || time_zone_is_known(ret->zone);
        if (!known)
            return err_set(err, ERR_BAD_REQUEST,
                           "provided bad location " STR_FMT ": unknown time zone " STR_FMT,
                           STR_ARG(ret->zone), STR_ARG(ret->zone));
        text = str_trim(rest);
    }
    if (str_starts(text, STR("@")))
        return parse_descriptor(text, ret, err);
    return parse_fields(text, ret, err);
}
