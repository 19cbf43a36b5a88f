/* The indexes of an Indexed Job as text: "1,3-5,7", growing. */
#include "api/go/quote.h"
#include "api/validate/kinds/validate_batch.h"
#include "base/buf.h"
#include "base/banned.h"

struct interval {
    int64_t first, last;
};

static struct str refuse(struct arena *a, const char *words, struct str part)
{
    autobuf quoted = { 0 };
    quote_go(&quoted, part);
    return arena_printf(a, "%s: " STR_FMT, words, STR_ARG(buf_str(&quoted)));
}

static bool parse_index(struct arena *a, struct str text, int64_t completions, int64_t *ret,
                        struct str *why)
{
    struct str digits = str_starts(text, STR("+")) ? str_skip(text, 1) : text;
    if (!digits.n || digits.p[0] == '+' || digits.p[0] == '-' || !str_to_i64(digits, ret)) {
        *why = refuse(a, "cannot convert string to integer for index", text);
        return false;
    }
    if (*ret >= completions) {
        *why = refuse(a, "too large index", text);
        return false;
    }
    return true;
}

static bool parse_interval(struct arena *a, struct str text, int64_t completions,
                           struct interval *ret, struct str *why)
{
    struct str last = text, first = str_cut(&last, '-');
    if (last.p && str_find(last, '-') >= 0) {
        autobuf quoted = { 0 };
        quote_go(&quoted, text);
        *why = arena_printf(a,
                            "the fragment " STR_FMT " violates the requirement that an index "
                            "interval can have at most two parts separated by '-'",
                            STR_ARG(buf_str(&quoted)));
        return false;
    }
    if (!parse_index(a, first, completions, &ret->first, why))
        return false;
    ret->last = ret->first;
    if (!last.p)
        return true;
    if (!parse_index(a, last, completions, &ret->last, why))
        return false;
    if (ret->first < ret->last)
        return true;
    *why = arena_printf(a, "non-increasing order, previous: %ld, current: %ld", (long)ret->first,
                        (long)ret->last);
    return false;
}

bool validate_job_indexes_check(struct arena *a, struct str text, int64_t completions,
                                int64_t *ret_total, struct str *ret_why)
{
    struct interval now, before = { -1, -1 };
    *ret_total = 0;
    if (!text.n)
        return true;
    int64_t total = 0;
    do {
        if (!parse_interval(a, str_cut(&text, ','), completions, &now, ret_why))
            return false;
        if (before.last >= now.first) {
            *ret_why = arena_printf(a, "non-increasing order, previous: %ld, current: %ld",
                                    (long)before.last, (long)now.first);
            return false;
        }
        total += now.last - now.first + 1;
        before = now;
    } while (text.p);
    *ret_total = total;
    return true;
}

/* The next good interval; false at the end. */
static bool next_interval(struct arena *a, struct str *text, int64_t completions,
                          struct interval *ret)
{
    struct str why;
    while (text->p)
        if (parse_interval(a, str_cut(text, ','), completions, ret, &why))
            return true;
    return false;
}

int64_t validate_job_indexes_overlap(struct str completed, struct str failed, int64_t completions)
{
    struct arena scratch;
    struct interval c, f;
    int64_t found = -1;
    arena_init(&scratch);
    bool more = completed.n && failed.n && next_interval(&scratch, &completed, completions, &c) &&
                next_interval(&scratch, &failed, completions, &f);
    while (more && found < 0) {
        if (c.first <= f.last && f.first <= c.last)
            found = c.first > f.first ? c.first : f.first;
        else if (c.first <= f.first)
            more = next_interval(&scratch, &completed, completions, &c);
        else
            more = next_interval(&scratch, &failed, completions, &f);
    }
    arena_done(&scratch);
    return found;
}
