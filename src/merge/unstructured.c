#include "merge/unstructured.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "merge/sorted.h"
#include "base/banned.h"

/* A container that is being printed. */
struct frame {
    const struct value *v;
    struct sorted fields;
    size_t next;
};

struct printer {
    struct arena scratch;
    struct buf *out;
    bool as_string;
    struct frame *open;
    size_t n, cap;
};

static void printer_done(struct printer *p)
{
    arena_done(&p->scratch);
    mem_cleanup_free(&p->open);
}

/* Go's %v: the shortest digits that read back the same, with an exponent of at least two digits
 * below 1e-4 and from 1e6 on. */
static void print_double(struct buf *out, const struct value *v)
{
    double d = 0;
    char text[32];
    (void)value_to_double(v, &d);
    for (int digits = 1; digits <= 17; digits++) {
        double back;
        (void)snprintf(text, sizeof(text), "%.*e", digits - 1, d);
        struct value read = { .type = VALUE_NUMBER, .n = (uint32_t)strlen(text), .text = text };
        (void)value_to_double(&read, &back);
        if (back >= d && back <= d)
            break;
    }
    struct str exponent = str_of(text);
    struct str mantissa = str_cut(&exponent, 'e');
    int64_t e = 0;
    (void)str_to_i64(exponent.p[0] == '+' ? str_skip(exponent, 1) : exponent, &e);
    if (e < -4 || e >= 6) {
        buf_str_add(out, str_of(text));
        return;
    }
    int behind = (int)mantissa.n - (mantissa.p[0] == '-') - 2 - (int)e;
    buf_printf(out, "%.*f", behind > 0 ? behind : 0, d);
}

static void print_scalar(struct buf *out, const struct value *v)
{
    switch ((enum value_type)v->type) {
    case VALUE_NULL:
        buf_str_add(out, STR("<nil>"));
        return;
    case VALUE_BOOL:
        buf_str_add(out, v->b ? STR("true") : STR("false"));
        return;
    case VALUE_INT:
        buf_printf(out, "%" PRId64, v->i);
        return;
    case VALUE_NUMBER:
        print_double(out, v);
        return;
    default:
        buf_str_add(out, value_str(v));
        return;
    }
}

static void print_leaf(struct printer *p, const struct value *v)
{
    if (!p->as_string || v->type == VALUE_STRING) {
        print_scalar(p->out, v);
        return;
    }
    if (v->type == VALUE_NULL) {
        buf_str_add(p->out, STR("%!s(<nil>)"));
        return;
    }
    buf_printf(p->out, "%%!s(%s=", unstructured_type(v));
    print_scalar(p->out, v);
    buf_byte(p->out, ')');
}

static void open_container(struct printer *p, const struct value *v)
{
    if (p->n == p->cap) {
        p->cap = p->cap ? 2 * p->cap : 16;
        p->open = mem_resize(p->open, p->cap, sizeof(*p->open));
    }
    p->open[p->n++] = (struct frame){ v, sorted_fields(&p->scratch, v), 0 };
    buf_str_add(p->out, v->type == VALUE_OBJECT ? STR("map[") : STR("["));
}

/* The next child of the innermost container, with what stands before it; NULL at its end. */
static const struct value *next_child(struct printer *p)
{
    struct frame *top = &p->open[p->n - 1];
    bool is_object = top->v->type == VALUE_OBJECT;
    size_t i = top->next++;
    if (i == (is_object ? top->fields.n : top->v->n)) {
        buf_byte(p->out, ']');
        p->n--;
        return NULL;
    }
    if (i)
        buf_byte(p->out, ' ');
    if (!is_object)
        return &top->v->items[i];
    buf_str_add(p->out, top->fields.fields[i]->key);
    buf_byte(p->out, ':');
    return &top->fields.fields[i]->val;
}

static void print(struct buf *out, const struct value *v, bool as_string)
{
    __attribute__((cleanup(printer_done))) struct printer p = { .out = out,
                                                                .as_string = as_string };
    arena_init(&p.scratch);
    do {
        if (v && (v->type == VALUE_ARRAY || v->type == VALUE_OBJECT))
            open_container(&p, v);
        else if (v)
            print_leaf(&p, v);
        v = p.n ? next_child(&p) : NULL;
    } while (p.n);
}

void unstructured_print(struct buf *out, const struct value *v)
{
    print(out, v, false);
}

struct str unstructured_text(struct arena *a, const struct value *v)
{
    if (v->type == VALUE_STRING)
        return value_str(v);
    autobuf out = { 0 };
    print(&out, v, false);
    return arena_str(a, buf_str(&out));
}

struct str unstructured_as_string(struct arena *a, const struct value *v)
{
    autobuf out = { 0 };
    print(&out, v, true);
    return arena_str(a, buf_str(&out));
}

const char *unstructured_type(const struct value *v)
{
    static const char *const names[] = {
        [VALUE_NULL] = "%!s(<nil>)",
        [VALUE_BOOL] = "bool",
        [VALUE_INT] = "int64",
        [VALUE_NUMBER] = "float64",
        [VALUE_STRING] = "string",
        [VALUE_ARRAY] = "[]interface {}",
        [VALUE_OBJECT] = "map[string]interface {}",
    };
    return names[v->type];
}
