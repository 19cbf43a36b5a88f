/* Sets of characters: built while parsing, looked into while matching. */
#include "base/regexp_class.h"

#include <stdlib.h>
#include <unicase.h>
#include <unictype.h>

#include "base/banned.h"

enum {
    CODE_MAX = 0x10FFFF,
    FOLD_FIRST = 'A',
    FOLD_LAST = 0x1E943,
    LONG_S = 0x17F,
    KELVIN = 0x212A
};

void regexp_class_add(struct arena *a, struct regexp_class *c, uint32_t from, uint32_t to)
{
    if ((c->n & (c->n - 1)) == 0) /* full: its room is a power of two */
        c->ranges =
            arena_grow(a, c->ranges, c->n * sizeof(*c->ranges),
                       (c->n ? c->n * 2 : 1) * sizeof(*c->ranges), alignof(struct regexp_range));
    c->ranges[c->n++] = (struct regexp_range){ from, to };
}

/* General categories by their short names, scripts by their names, and Any. */
bool regexp_class_add_property(struct arena *a, struct regexp_class *c, struct str name,
                               bool negated)
{
    if (str_eq(name, STR("Any"))) {
        if (!negated)
            regexp_class_add(a, c, 0, CODE_MAX);
        return true;
    }
    const char *cstr = str_cstr(a, name);
    uc_general_category_t category = uc_general_category_byname(cstr);
    const uc_script_t *script = category.bitmask ? NULL : uc_script_byname(cstr);
    if (!category.bitmask && !script)
        return false;
    struct regexp_property *p = arena_new(a, struct regexp_property);
    *p = (struct regexp_property){ c->properties, category.bitmask, script, negated };
    c->properties = p;
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct regexp_range *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

static void merge(struct regexp_class *c)
{
    if (c->n == 0)
        return;
    qsort(c->ranges, c->n, sizeof(*c->ranges), by_start);
    uint32_t last = 0;
    for (uint32_t i = 1; i < c->n; i++) {
        if (c->ranges[i].from > c->ranges[last].to + 1)
            c->ranges[++last] = c->ranges[i];
        else if (c->ranges[i].to > c->ranges[last].to)
            c->ranges[last].to = c->ranges[i].to;
    }
    c->n = last + 1;
}

/* Characters of one letter share their capital or their small form, so it is enough to have both
 * of each member here and to look up both of a character later. The other forms of ASCII letters
 * are put in, too, so that what is not in \w has none of them. */
void regexp_class_finish(struct arena *a, struct regexp_class *c)
{
    merge(c);
    for (uint32_t i = 0, n = c->fold ? c->n : 0; i < n; i++) {
        uint32_t from = c->ranges[i].from < FOLD_FIRST ? FOLD_FIRST : c->ranges[i].from;
        uint32_t to = c->ranges[i].to > FOLD_LAST ? FOLD_LAST : c->ranges[i].to;
        for (uint32_t code = from; code <= to; code++) {
            uint32_t small = uc_tolower(code), capital = uc_toupper(code);
            if (small != code)
                regexp_class_add(a, c, small, small);
            if (capital != code)
                regexp_class_add(a, c, capital, capital);
            if (small == 's')
                regexp_class_add(a, c, LONG_S, LONG_S);
            if (small == 'k')
                regexp_class_add(a, c, KELVIN, KELVIN);
        }
    }
    if (c->fold)
        merge(c);
}

void regexp_class_add_ranges(struct arena *a, struct regexp_class *c,
                             const struct regexp_range *ranges, size_t n)
{
    for (size_t i = 0; i < n; i++)
        regexp_class_add(a, c, ranges[i].from, ranges[i].to);
}

void regexp_class_add_others(struct arena *a, struct regexp_class *c,
                             const struct regexp_range *ranges, size_t n)
{
    struct regexp_class not_these = { .fold = c->fold };
    regexp_class_add_ranges(a, &not_these, ranges, n);
    regexp_class_finish(a, &not_these);
    uint32_t next = 0;
    for (size_t i = 0; i < not_these.n; i++) {
        if (not_these.ranges[i].from > next)
            regexp_class_add(a, c, next, not_these.ranges[i].from - 1);
        next = not_these.ranges[i].to + 1;
    }
    if (next <= CODE_MAX)
        regexp_class_add(a, c, next, CODE_MAX);
}

static bool in_ranges(const struct regexp_class *c, uint32_t code)
{
    uint32_t low = 0, high = c->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (code > c->ranges[mid].to)
            low = mid + 1;
        else
            high = mid;
    }
    return low < c->n && code >= c->ranges[low].from;
}

static bool has_property(const struct regexp_property *p, uint32_t code)
{
    return p->categories ? uc_is_general_category_withtable(code, p->categories)
                         : uc_is_script(code, p->script);
}

bool regexp_class_has(const struct regexp_class *c, uint32_t code)
{
    uint32_t small = c->fold ? uc_tolower(code) : code;
    uint32_t capital = c->fold ? uc_toupper(code) : code;
    if (in_ranges(c, code) || (c->fold && (in_ranges(c, small) || in_ranges(c, capital))))
        return !c->negated;
    for (const struct regexp_property *p = c->properties; p; p = p->next) {
        bool has = has_property(p, code) || has_property(p, small) || has_property(p, capital);
        if (has != p->negated)
            return !c->negated;
    }
    return c->negated;
}
