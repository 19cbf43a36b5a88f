/* find() and findAll() of Kubernetes' regular expression library. matches() is in lib_std.c. */
#include "base/idiom.h"
#include "cel/internal.h"

#include "base/regexp.h"
#include "base/utf8.h"

#include "base/banned.h"

static struct cel_value illegal(struct cel__eval *ev, const struct err *err)
{
    return cel__fail(ev, "Illegal regex: " STR_FMT, STR_ARG(err->msg));
}

static struct cel_value fn_find(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    (void)n;
    struct err err = ERR_INIT(ev->arena);
    struct str s = cel__str(&args[0]);
    size_t start, end;
    const struct regexp *re = cel__pattern(ev, &args[1], &err);
    if (!re)
        return illegal(ev, &err);
    if (!regexp_find(re, s, 0, ev->arena->allowance, &start, &end))
        return cel_of_string(STR(""));
    return cel_of_string(str_take(str_skip(s, start), end - start));
}

/* An empty match right behind another one is passed over, as Go does. */
static struct cel_value fn_find_all(struct cel__eval *ev, const struct cel_value *args, size_t n)
{
    struct err err = ERR_INIT(ev->arena);
    struct str s = cel__str(&args[0]);
    uint64_t limit = n == 3 && args[2].i >= 0 ? (uint64_t)args[2].i : UINT64_MAX;
    struct cel_value list = cel__list_new(ev, 4);
    size_t start, end, last_end = SIZE_MAX;
    const struct regexp *re = cel__pattern(ev, &args[1], &err);
    if (!re)
        return illegal(ev, &err);
    for (size_t from = 0; list.n < limit && from <= s.n && cel__work(ev, 1);) {
        if (!regexp_find(re, s, from, ev->arena->allowance, &start, &end))
            break;
        if (end > start || start != last_end)
            cel__list_push(ev, &list, cel_of_string(str_take(str_skip(s, start), end - start)));
        last_end = end;
        from = end;
        if (end == start) {
            size_t step = start < s.n ? utf8_step(s.p + start, s.n - start) : 1;
            from = start + (step ? step : 1);
        }
    }
    return list;
}

static const struct cel__overload rows[] = {
    CEL__METHOD("find", CEL__COST_FIND, fn_find, &cel_string, &cel_string, &cel_string),
    CEL__METHOD("findAll", CEL__COST_FIND, fn_find_all, &cel__list_string, &cel_string,
                &cel_string),
    CEL__METHOD("findAll", CEL__COST_FIND, fn_find_all, &cel__list_string, &cel_string, &cel_string,
                &cel_int),
};

const struct cel__library cel__lib_regex = { rows, ARRAY_LEN(rows), 0 };
