/* jsonpath_print.c - values as Go prints them: numbers by fmt, lists and objects by encoding/json,
 * which sorts fields and escapes what HTML would stumble over. */
#include <stdlib.h>

#include "api/go/gofloat.h"
#include "base/json.h"
#include "merge/unstructured.h"
#include "schema/jsonpath_internal.h"

#include "base/banned.h"

static int by_key(const void *a, const void *b)
{
    return str_cmp(((const struct value_field *)a)->key, ((const struct value_field *)b)->key);
}

static struct value sorted(struct arena *a, const struct value *v)
{
    struct value out = value_borrow(v);
    double d;
    if (v->type == VALUE_NUMBER && value_to_double(v, &d))
        return value_number(gofloat_text(a, d));
    if (v->type == VALUE_ARRAY) {
        out = value_array();
        value_each_item (it, v)
            value_put_item(a, &out, sorted(a, it));
    } else if (v->type == VALUE_OBJECT && v->n) {
        struct value_field *fields = arena_array(a, struct value_field, v->n);
        memcpy(fields, v->fields, v->n * sizeof(*fields));
        qsort(fields, v->n, sizeof(*fields), by_key);
        out = value_object();
        for (size_t i = 0; i < v->n; i++)
            value_put_new(a, &out, fields[i].key, sorted(a, &fields[i].val));
    }
    return out;
}

/* The three can only stand in strings. */
static void add_escaped(struct buf *out, struct str json)
{
    for (size_t i = 0; i < json.n; i++) {
        char c = json.p[i];
        if (c == '<' || c == '>' || c == '&')
            buf_printf(out, "\\u%04x", c);
        else
            buf_byte(out, c);
    }
}

static void print_container(struct buf *out, const struct value *v)
{
    struct arena a;
    autobuf json = { 0 };
    arena_init(&a);
    struct value tree = sorted(&a, v);
    json_write(&json, &tree);
    add_escaped(out, buf_str(&json));
    arena_done(&a);
}

void jsonpath_print_value(struct buf *out, const struct value *v)
{
    if (v->type == VALUE_ARRAY || v->type == VALUE_OBJECT)
        print_container(out, v);
    else if (v->type == VALUE_NULL)
        buf_str_add(out, STR("null"));
    else
        unstructured_print(out, v);
}

void jsonpath_print(struct buf *out, const struct jsonpath_found *found)
{
    for (size_t i = 0; i < found->n; i++) {
        if (i)
            buf_byte(out, ' ');
        jsonpath_print_value(out, found->values[i]);
    }
}
