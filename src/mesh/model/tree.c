#include "mesh/model/tree.h"

#include <assert.h>
#include <ctype.h>
#include <stdarg.h>

#include "base/banned.h"

struct reader {
    struct arena *arena;
    const char *p;
    va_list ap;
};

static struct value read_value(struct reader *r);

static void skip_space(struct reader *r)
{
    while (isspace((unsigned char)*r->p))
        r->p++;
}

static bool take(struct reader *r, char c)
{
    skip_space(r);
    if (*r->p != c)
        return false;
    r->p++;
    return true;
}

static struct str read_quoted(struct reader *r)
{
    const char *begin = ++r->p;
    while (*r->p != '\'')
        assert(*r->p++);
    return (struct str){ begin, (size_t)(r->p++ - begin) };
}

static struct str read_word(struct reader *r)
{
    skip_space(r);
    if (*r->p == '\'')
        return read_quoted(r);
    const char *begin = r->p;
    while (isalnum((unsigned char)*r->p) || strchr("_.-@+", *r->p))
        assert(*r->p++);
    assert(r->p > begin);
    return (struct str){ begin, (size_t)(r->p - begin) };
}

static struct value text_or_null(struct str s)
{
    return s.p ? value_string(s) : value_null();
}

static struct value read_hole(struct reader *r)
{
    switch (*r->p++) {
    case 's':
        return text_or_null(va_arg(r->ap, struct str));
    case 't':
        return text_or_null(str_of(va_arg(r->ap, const char *)));
    case 'd':
        return value_int(va_arg(r->ap, int));
    case 'b':
        return value_bool(va_arg(r->ap, int));
    case 'v':
        return va_arg(r->ap, struct value);
    default:
        assert(!"a hole that tree() does not know");
        return value_null();
    }
}

static struct value read_object(struct reader *r)
{
    struct value out = value_object();
    while (!take(r, '}')) {
        struct str key = read_word(r);
        bool is_pair = take(r, ':');
        assert(is_pair);
        struct value v = read_value(r);
        if (v.type != VALUE_NULL)
            value_put_new(r->arena, &out, key, v);
        (void)take(r, ',');
    }
    return out;
}

static struct value read_array(struct reader *r)
{
    struct value out = value_array();
    while (!take(r, ']')) {
        struct value v = read_value(r);
        if (v.type != VALUE_NULL)
            value_put_item(r->arena, &out, v);
        (void)take(r, ',');
    }
    return out;
}

static struct value read_value(struct reader *r)
{
    skip_space(r);
    if (take(r, '{'))
        return read_object(r);
    if (take(r, '['))
        return read_array(r);
    if (take(r, '%'))
        return read_hole(r);
    if (*r->p == '\'')
        return value_string(read_quoted(r));
    struct str word = read_word(r);
    if (str_eq(word, STR("true")) || str_eq(word, STR("false")))
        return value_bool(word.n == 4);
    if (isdigit((unsigned char)*word.p) || *word.p == '-')
        return value_number(word);
    return value_string(word);
}

struct value tree(struct arena *a, const char *template, ...)
{
    struct reader r = { .arena = a, .p = template };
    va_start(r.ap, template);
    struct value out = read_value(&r);
    va_end(r.ap);
    assert(!*r.p);
    return out;
}

struct value tree_any(struct arena *a, const char *type, struct value fields)
{
    struct value out = value_object();
    value_put_new(a, &out, STR("@type"),
                  value_string(arena_printf(a, "type.googleapis.com/%s", type)));
    value_each_field (f, &fields)
        value_put_new(a, &out, f->key, value_borrow(&f->val));
    return out;
}

struct value tree_extension(struct arena *a, const char *name, const char *type,
                            struct value fields)
{
    return tree(a, "{name: %t, typed_config: %v}", name, tree_any(a, type, fields));
}

struct value tree_copy(const struct value *v)
{
    return v ? value_borrow(v) : value_null();
}

void tree_append(struct arena *a, struct value *arr, const struct value *items)
{
    value_each_item (it, items)
        value_put_item(a, arr, value_borrow(it));
}

void tree_put(struct arena *a, struct value *obj, const char *key, struct value v)
{
    if (v.type != VALUE_NULL)
        value_put(a, obj, str_of(key), v);
}

bool tree_has(const struct value *v)
{
    if (!v)
        return false;
    return v->type == VALUE_ARRAY || v->type == VALUE_OBJECT || v->type == VALUE_STRING ? v->n > 0
                                                                                        : false;
}

double tree_seconds(struct str s)
{
    double total = 0, n = 0, unit = 0.1;
    bool after_dot = false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '.') {
            after_dot = true;
            unit = 0.1;
        } else if (isdigit((unsigned char)c)) {
            n = after_dot ? n + (c - '0') * unit : n * 10 + (c - '0');
            unit = after_dot ? unit / 10 : unit;
        } else {
            bool is_ms = c == 'm' && i + 1 < s.n && s.p[i + 1] == 's';
            total += is_ms ? n / 1000 : c == 'h' ? n * 3600 : c == 'm' ? n * 60 : c == 's' ? n : 0;
            i += is_ms;
            n = 0;
            after_dot = false;
        }
    }
    return total;
}

struct value tree_duration(struct arena *a, const struct value *v)
{
    if (!value_is(v, VALUE_STRING))
        return value_null();
    return value_string(arena_printf(a, "%.6fs", tree_seconds(value_str(v))));
}
