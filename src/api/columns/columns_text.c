/* columns_text.c - the words and numbers of cells, and how they get into a row. */
#include <inttypes.h>
#include <stdlib.h>

#include "api/columns/columns_internal.h"
#include "api/label_syntax.h"
#include "api/quantity.h"
#include "api/words.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "base/banned.h"

/* ---- Cells ---- */

void columns_row_add(struct row *row, struct str text)
{
    value_push(row->arena, &row->cells, value_string(columns_or(text, STR(""))));
}

void columns_row_add_int(struct row *row, int64_t n)
{
    value_push(row->arena, &row->cells, value_int(n));
}

void columns_row_add_bool(struct row *row, bool b)
{
    value_push(row->arena, &row->cells, value_bool(b));
}

void columns_row_add_name(struct row *row)
{
    columns_row_add(row, row_text(row, "metadata", "name"));
}

void columns_row_add_age(struct row *row)
{
    columns_row_add(row, columns_age(row, row_at(row, "metadata", "creationTimestamp")));
}

void columns_row_add_containers(struct row *row, const struct value *pod_spec)
{
    struct texts names = { row->arena }, images = { row->arena };
    value_each_item (container, value_get(pod_spec, STR("containers"))) {
        columns_texts_add(&names, value_text(container, "name"));
        columns_texts_add(&images, value_text(container, "image"));
    }
    columns_row_add(row, columns_texts_join(&names, STR(",")));
    columns_row_add(row, columns_texts_join(&images, STR(",")));
}

/* ---- Fields ---- */

int64_t columns_int(const struct value *v)
{
    int64_t n = 0;
    (void)value_to_int(v, &n);
    return n;
}

int64_t columns_int32(const struct value *v)
{
    int64_t n = columns_int(v);
    return n >= INT32_MIN && n <= INT32_MAX ? n : 0;
}

bool columns_bool(const struct value *v)
{
    return value_is(v, VALUE_BOOL) && v->b;
}

size_t columns_count(const struct value *v)
{
    return value_is(v, VALUE_ARRAY) || value_is(v, VALUE_OBJECT) ? v->n : 0;
}

const struct value *columns_of_type(const struct value *list, struct str type)
{
    value_each_item (item, list)
        if (str_eq(value_text(item, "type"), type))
            return item;
    return NULL;
}

bool columns_is_true(const struct value *condition)
{
    return str_eq(value_text(condition, "status"), STR("True"));
}

/* ---- Texts ---- */

struct str columns_cat_all(struct arena *a, const struct str *pieces, size_t n)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += pieces[i].n;
    char *text = arena_alloc(a, bytes, 1), *p = text;
    for (size_t i = 0; i < n; i++) {
        if (pieces[i].n)
            memcpy(p, pieces[i].p, pieces[i].n);
        p += pieces[i].n;
    }
    return (struct str){ text, bytes };
}

struct str columns_number(struct arena *a, int64_t n)
{
    return arena_printf(a, "%" PRId64, n);
}

struct str columns_lower(struct arena *a, struct str s)
{
    char *text = arena_dup(a, s.p, s.n);
    for (size_t i = 0; i < s.n; i++)
        if (text[i] >= 'A' && text[i] <= 'Z')
            text[i] |= 0x20;
    return (struct str){ text, s.n };
}

/* The white space at the front of `s`, or at its end; empty if there is none. */
static struct str edge_space(struct str s, bool at_end)
{
    static const struct str spaces[] = {
        STR(" "),      STR("\n"),     STR("\t"),       STR("\r"),     STR("\v"),
        STR("\f"),     STR("\u00a0"), STR("\xc2\x85"), STR("\u1680"), STR("\u2000"),
        STR("\u2001"), STR("\u2002"), STR("\u2003"),   STR("\u2004"), STR("\u2005"),
        STR("\u2006"), STR("\u2007"), STR("\u2008"),   STR("\u2009"), STR("\u200a"),
        STR("\u2028"), STR("\u2029"), STR("\u202f"),   STR("\u205f"), STR("\u3000"),
    };
    for (size_t i = 0; i < ARRAY_LEN(spaces); i++)
        if (at_end ? str_ends(s, spaces[i]) : str_starts(s, spaces[i]))
            return spaces[i];
    return STR("");
}

struct str columns_trim(struct str s)
{
    for (struct str space; (space = edge_space(s, false)).n;)
        s = str_skip(s, space.n);
    for (struct str space; (space = edge_space(s, true)).n;)
        s.n -= space.n;
    return s;
}

struct str columns_quantity(struct arena *a, const struct value *v, struct str when_unset)
{
    if (value_is(v, VALUE_INT))
        return columns_number(a, v->i);
    if (!value_is(v, VALUE_STRING))
        return when_unset;
    struct str text = value_str(v), canonical;
    return quantity_canonical(a, text, &canonical, NULL) == 0 ? canonical : text;
}

struct str columns_int_or_string(struct arena *a, const struct value *v)
{
    return value_is(v, VALUE_STRING) ? value_str(v) : columns_number(a, columns_int(v));
}

struct str columns_with_group(struct arena *a, struct str name, struct str group)
{
    return group.n ? columns_cat(a, name, STR("."), group) : name;
}

/* ---- Times ---- */

bool columns_time(const struct value *v, struct gotime *ret)
{
    struct gotime t;
    if (!value_is(v, VALUE_STRING) || gotime_parse(value_str(v), false, &t, NULL) < 0)
        return false;
    if (t.sec == GOTIME_ZERO_SEC && t.nanos == 0)
        return false;
    *ret = t;
    return true;
}

/* As far as 64 bits reach, some 292 years; what lies farther is as far as that. */
int64_t columns_between_ns(struct gotime from, struct gotime to)
{
    int64_t sec = to.sec - from.sec, ns;
    if (__builtin_mul_overflow(sec, NS_PER_SEC, &ns) ||
        __builtin_add_overflow(ns, (int64_t)to.nanos - from.nanos, &ns))
        return sec < 0 ? INT64_MIN : INT64_MAX;
    return ns;
}

/* "2m30s", or "2m" when the smaller unit is zero. */
static struct str two_units(struct arena *a, int64_t large, char large_unit, int64_t small,
                            char small_unit)
{
    if (!small)
        return arena_printf(a, "%" PRId64 "%c", large, large_unit);
    return arena_printf(a, "%" PRId64 "%c%" PRId64 "%c", large, large_unit, small, small_unit);
}

struct str columns_duration(struct arena *a, int64_t ns)
{
    int64_t sec = ns / NS_PER_SEC, min = sec / 60, hours = min / 60;
    int64_t days = hours / 24, years = days / 365;
    if (sec < -1)
        return STR("<invalid>");
    if (sec < 0) /* clocks that disagree a little */
        return STR("0s");
    if (min < 2)
        return two_units(a, sec, 's', 0, 0);
    if (hours < 3)
        return two_units(a, min, 'm', min < 10 ? sec % 60 : 0, 's');
    if (days < 2)
        return two_units(a, hours, 'h', hours < 8 ? min % 60 : 0, 'm');
    if (years < 2)
        return two_units(a, days, 'd', days < 8 ? hours % 24 : 0, 'h');
    return two_units(a, years, 'y', years < 8 ? days % 365 : 0, 'd');
}

struct str columns_ago(struct arena *a, struct gotime t, int64_t now_ns)
{
    struct gotime now = { now_ns / NS_PER_SEC, (int32_t)(now_ns % NS_PER_SEC) };
    return columns_duration(a, columns_between_ns(t, now));
}

struct str columns_since(const struct row *row, struct gotime t)
{
    return columns_ago(row->arena, t, row->now_ns);
}

struct str columns_age(const struct row *row, const struct value *time)
{
    struct gotime t;
    return columns_time(time, &t) ? columns_since(row, t) : STR("<unknown>");
}

struct str columns_date(struct arena *a, const struct value *time)
{
    struct gotime t = { .sec = GOTIME_ZERO_SEC };
    (void)columns_time(time, &t);
    return gotime_format(a, t, false);
}

/* ---- Lists of texts ---- */

void columns_texts_add(struct texts *t, struct str s)
{
    if (t->n == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 4;
        t->list = arena_grow(t->arena, t->list, t->cap * sizeof(*t->list), cap * sizeof(*t->list),
                             alignof(struct str));
        t->cap = cap;
    }
    t->list[t->n++] = s;
}

void columns_texts_add_all(struct texts *t, const struct value *strings)
{
    value_each_item (s, strings)
        columns_texts_add(t, value_str(s));
}

static int compare_texts(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

void columns_texts_sort(struct texts *t)
{
    if (t->n)
        qsort(t->list, t->n, sizeof(*t->list), compare_texts);
}

void columns_texts_drop_repeats(struct texts *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->n; i++)
        if (!kept || !str_eq(t->list[kept - 1], t->list[i]))
            t->list[kept++] = t->list[i];
    t->n = kept;
}

struct str columns_texts_join(const struct texts *t, struct str separator)
{
    autobuf out = { 0 };
    for (size_t i = 0; i < t->n; i++) {
        if (i)
            buf_str_add(&out, separator);
        buf_str_add(&out, t->list[i]);
    }
    return arena_str(t->arena, buf_str(&out));
}

struct str columns_texts_join_some(const struct texts *t, size_t max, size_t count,
                                   struct str separator)
{
    struct texts first = { .list = t->list, .arena = t->arena, .n = t->n < max ? t->n : max };
    struct str text = columns_texts_join(&first, separator);
    if (count <= max)
        return text;
    return columns_cat(t->arena, text, STR(" + "), columns_number(t->arena, (int64_t)(count - max)),
                       STR(" more..."));
}

/* ---- Labels ---- */

struct str columns_labels(struct arena *a, const struct value *map)
{
    struct texts pairs = { a };
    value_each_field (label, map)
        columns_texts_add(&pairs, columns_cat(a, label->key, STR("="), value_str(&label->val)));
    columns_texts_sort(&pairs);
    return columns_or(columns_texts_join(&pairs, STR(",")), STR("<none>"));
}

/* One condition of a selector: ordered by key, and as written where keys repeat. */
struct requirement {
    struct str key, text;
    size_t place;
};

static int compare_requirements(const void *a, const void *b)
{
    const struct requirement *x = a, *y = b;
    int c = str_cmp(x->key, y->key);
    return c ? c : x->place < y->place ? -1 : x->place > y->place;
}

/* False if the values do not go with the operator. */
static bool values_text(struct arena *a, const struct value *values, bool wanted, struct str *ret)
{
    struct texts list = { a };
    value_each_item (v, values) {
        if (!label_value_check(value_str(v), NULL))
            return false;
        columns_texts_add(&list, value_str(v));
    }
    columns_texts_sort(&list);
    *ret = columns_texts_join(&list, STR(","));
    return wanted == (list.n > 0);
}

static bool expression_text(struct arena *a, const struct value *expression, struct str *ret)
{
    static const struct form {
        struct str word, before, after, end;
        bool takes_values;
    } operators[] = {
        { STR("In"), STR(""), STR(" in ("), STR(")"), true },
        { STR("NotIn"), STR(""), STR(" notin ("), STR(")"), true },
        { STR("Exists"), STR(""), STR(""), STR(""), false },
        { STR("DoesNotExist"), STR("!"), STR(""), STR(""), false },
    };
    struct str key = value_text(expression, "key"), values;
    const struct form *row = words_row(value_text(expression, "operator"), operators);
    if (!row || !label_key_check(key, NULL) ||
        !values_text(a, value_get(expression, STR("values")), row->takes_values, &values))
        return false;
    *ret = columns_cat(a, row->before, key, row->after, values, row->end);
    return true;
}

struct str columns_selector(struct arena *a, const struct value *selector, struct str when_empty,
                            struct str when_wrong)
{
    const struct value *labels = value_get(selector, STR("matchLabels"));
    const struct value *expressions = value_get(selector, STR("matchExpressions"));
    struct requirement *list =
        arena_array(a, struct requirement, columns_count(labels) + columns_count(expressions));
    struct texts texts = { a };
    size_t n = 0;
    value_each_field (label, labels) {
        struct str val = value_str(&label->val);
        if (!label_key_check(label->key, NULL) || !label_value_check(val, NULL))
            return when_wrong;
        list[n] = (struct requirement){ label->key, columns_cat(a, label->key, STR("="), val), n };
        n++;
    }
    value_each_item (expression, expressions) {
        list[n] = (struct requirement){ .key = value_text(expression, "key"), .place = n };
        if (!expression_text(a, expression, &list[n].text))
            return when_wrong;
        n++;
    }
    if (n)
        qsort(list, n, sizeof(*list), compare_requirements);
    for (size_t i = 0; i < n; i++)
        columns_texts_add(&texts, list[i].text);
    return columns_or(columns_texts_join(&texts, STR(",")), when_empty);
}
