#include "merge/unstructured.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "api/go/gofloat.h"
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

/* A number's digits without point and leading zeros, and the power of ten of the first one. */
struct digits {
    char text[32];
    int n, exponent;
};

static struct digits digits_of(struct str number)
{
    struct digits d = { .n = 0 };
    int64_t scale = 0;
    struct str exponent = number, fraction = str_cut(&exponent, 'e');
    struct str whole = str_cut(&fraction, '.');
    (void)str_to_i64(str_starts(exponent, STR("+")) ? str_skip(exponent, 1) : exponent, &scale);
    d.exponent = (int)scale + (int)whole.n - 1;
    const struct str parts[] = { whole, fraction };
    for (size_t part = 0; part < 2; part++) {
        for (size_t i = 0; i < parts[part].n && d.n < (int)sizeof(d.text); i++) {
            if (d.n || parts[part].p[i] != '0')
                d.text[d.n++] = parts[part].p[i];
            else
                d.exponent--;
        }
    }
    while (d.n > 1 && d.text[d.n - 1] == '0')
        d.n--;
    return d;
}

static void print_plain(struct buf *out, const struct digits *d)
{
    for (int i = d->exponent < 0 ? d->exponent : 0; i < d->n || i <= d->exponent; i++) {
        if (i == d->exponent + 1)
            buf_byte(out, '.');
        buf_byte(out, i >= 0 && i < d->n ? d->text[i] : '0');
    }
}

static void print_with_exponent(struct buf *out, const struct digits *d)
{
    buf_byte(out, d->text[0]);
    if (d->n > 1)
        buf_byte(out, '.');
    buf_add(out, d->text + 1, (size_t)d->n - 1);
    buf_printf(out, "e%c%02d", d->exponent < 0 ? '-' : '+', abs(d->exponent));
}

/* Go's %v: the shortest digits that read back the same, with an exponent below 1e-4 and from 1e6
 * on. */
static void print_double(struct printer *p, const struct value *v)
{
    double d = 0;
    (void)value_to_double(v, &d);
    if (!isfinite(d)) {
        buf_add(p->out, v->text, v->n);
        return;
    }
    struct str number = gofloat_text(&p->scratch, d);
    if (str_starts(number, STR("-"))) {
        buf_byte(p->out, '-');
        number = str_skip(number, 1);
    }
    struct digits digits = digits_of(number);
    if (!digits.n)
        buf_byte(p->out, '0');
    else if (digits.exponent < -4 || digits.exponent >= 6)
        print_with_exponent(p->out, &digits);
    else
        print_plain(p->out, &digits);
}

static void print_scalar(struct printer *p, const struct value *v)
{
    struct buf *out = p->out;
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
        print_double(p, v);
        return;
    default:
        buf_str_add(out, value_str(v));
        return;
    }
}

static void print_leaf(struct printer *p, const struct value *v)
{
    if (!p->as_string || v->type == VALUE_STRING) {
        print_scalar(p, v);
        return;
    }
    if (v->type == VALUE_NULL) {
        buf_str_add(p->out, STR("%!s(<nil>)"));
        return;
    }
    buf_printf(p->out, "%%!s(%s=", unstructured_type(v));
    print_scalar(p, v);
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
