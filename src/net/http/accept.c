/* accept.c - one pass over a header, then a sort of a bounded list.
 *
 * A comma or semicolon inside a quoted string does not separate. What cannot be understood is
 * read as leniently as Kubernetes' own parser does: an unreadable q counts as 1. Pure. */
#include "net/http/accept.h"

#include "base/banned.h"

enum { Q_ONE = 1000 };

/* As str_cut, but a separator inside quotes does not count. */
static struct str cut_unquoted(struct str *s, char sep)
{
    bool quoted = false;
    for (size_t i = 0; i < s->n; i++) {
        char c = s->p[i];
        if (quoted && c == '\\') {
            i++;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && c == sep) {
            struct str before = str_take(*s, i);
            *s = str_skip(*s, i + 1);
            return before;
        }
    }
    struct str all = *s;
    *s = (struct str){ NULL, 0 };
    return all;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "0.25" gives 250. What is above zero never becomes zero, because that would mean "not this". */
static unsigned parse_q(struct str s)
{
    if (!s.n)
        return Q_ONE;
    struct str fraction = s, whole = str_cut(&fraction, '.');
    for (size_t i = 0; i < whole.n; i++)
        if (whole.p[i] != '0')
            return Q_ONE;
    unsigned q = 0, unit = Q_ONE / 10;
    bool above_zero = false;
    for (size_t i = 0; i < fraction.n; i++, unit /= 10) {
        if (!is_digit(fraction.p[i]))
            return Q_ONE;
        unsigned digit = (unsigned)(fraction.p[i] - '0');
        q += digit * unit;
        above_zero = above_zero || digit;
    }
    return above_zero && !q ? 1 : q;
}

static bool next_param(struct str *params, struct str *ret_name, struct str *ret_value)
{
    if (!params->n)
        return false;
    struct str value = cut_unquoted(params, ';');
    struct str name = str_trim(str_cut(&value, '='));
    value = str_trim(value);
    if (value.n >= 2 && value.p[0] == '"' && value.p[value.n - 1] == '"')
        value = (struct str){ value.p + 1, value.n - 2 };
    *ret_name = name;
    *ret_value = value;
    return true;
}

struct str accept_param(struct str params, struct str name)
{
    struct str got, value;
    while (next_param(&params, &got, &value))
        if (str_eq_nocase(got, name))
            return value;
    return (struct str){ NULL, 0 };
}

static struct accept_item read_item(struct str text)
{
    struct str type = str_trim(cut_unquoted(&text, ';'));
    struct str params = str_trim(text);
    return (struct accept_item){ type, params, parse_q(accept_param(params, STR("q"))) };
}

/* 0 for a whole type, 1 for "text" with any subtype, 2 for anything. */
static unsigned wildness(struct str type)
{
    if (!str_ends(type, STR("*")))
        return 0;
    return type.p[0] == '*' ? 2 : 1;
}

static bool comes_before(const struct accept_item *a, const struct accept_item *b)
{
    if (a->q != b->q)
        return a->q > b->q;
    return wildness(a->type) < wildness(b->type);
}

/* Keeps the order of equals, and the list is short. */
static void insert_sorted(struct accept_item *items, size_t n, struct accept_item item)
{
    while (n && comes_before(&item, &items[n - 1])) {
        items[n] = items[n - 1];
        n--;
    }
    items[n] = item;
}

size_t accept_parse(struct arena *a, struct str header, const struct accept_item **ret)
{
    struct accept_item *items = arena_array(a, struct accept_item, ACCEPT_MAX);
    size_t n = 0;
    while (header.n && n < ACCEPT_MAX) {
        struct accept_item item = read_item(cut_unquoted(&header, ','));
        if (item.type.n)
            insert_sorted(items, n++, item);
    }
    *ret = items;
    return n;
}

bool accept_encoding(struct arena *a, struct str header, struct str coding)
{
    const struct accept_item *items;
    size_t n = accept_parse(a, header, &items);
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        if (str_eq_nocase(items[i].type, coding))
            return items[i].q > 0;
        if (str_eq(items[i].type, STR("*")))
            any = items[i].q > 0;
    }
    return any;
}
