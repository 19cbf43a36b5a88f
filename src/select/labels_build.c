/* Requirements are made here, whichever form they were written in: limits, checks and upstream's
 * words for what is wrong. Below it the reader of the object form, which is little more than that.
 */
#include "base/idiom.h"
#include "select/internal.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "api/label_syntax.h"
#include "api/go/quote.h"
#include "base/banned.h"

/* Of one requirement's faults; a message has to end somewhere. */
enum { FAULTS_MAX = 100 };

/* The faults of one requirement: alone as they are, several as [a, b]. */
struct faults {
    struct buf text;
    size_t n;
};

static void *grow(struct arena *a, void *list, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return list;
    size_t old = *cap;
    *cap = old ? old * 2 : 4;
    return arena_grow(a, list, old * size, *cap * size, alignof(max_align_t));
}

static int refuse_count(struct select__builder *b, const char *what, unsigned limit)
{
    return err_set(b->err, b->code, "the label selector has more than %u %s", limit, what);
}

int select__add_value(struct select__builder *b, struct str value)
{
    if (++b->all_values > LIMIT_SELECTOR_VALUES)
        return refuse_count(b, "values", LIMIT_SELECTOR_VALUES);
    b->values = grow(b->arena, b->values, b->n_values, &b->cap_values, sizeof(*b->values));
    b->values[b->n_values++] = value;
    return 0;
}

static int by_text(const void *left, const void *right)
{
    return str_cmp(*(const struct str *)left, *(const struct str *)right);
}

static void sort_values(struct select__builder *b)
{
    if (b->n_values > 1)
        qsort(b->values, b->n_values, sizeof(*b->values), by_text);
}

void select__unique_values(struct select__builder *b)
{
    size_t kept = 0;
    sort_values(b);
    for (size_t i = 0; i < b->n_values; i++)
        if (kept == 0 || !str_eq(b->values[i], b->values[kept - 1]))
            b->values[kept++] = b->values[i];
    b->n_values = kept;
}

static struct buf *add_fault(struct faults *f)
{
    if (f->n++)
        buf_str_add(&f->text, STR(", "));
    return &f->text;
}

static void check_key(struct faults *f, const char *path, struct str key)
{
    autobuf why = { 0 };
    if (label_key_check(key, &why))
        return;
    struct buf *out = add_fault(f);
    buf_printf(out, "%s: Invalid value: ", path);
    quote_go(out, key);
    buf_printf(out, ": " STR_FMT, STR_ARG(buf_str(&why)));
}

/* The values as Go's JSON encoder writes them, which escapes for HTML. */
static void write_values(struct buf *out, const struct select__builder *b)
{
    autobuf text = { 0 };
    for (size_t i = 0; i < b->n_values; i++) {
        buf_byte(&text, i ? ',' : '[');
        json_write_string(&text, b->values[i]);
    }
    buf_str_add(&text, b->n_values ? STR("]") : STR("null"));
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '<' || c == '>' || c == '&')
            buf_printf(out, "\\u%04x", c);
        else
            buf_byte(out, c);
    }
}

static void refuse_values(struct faults *f, const struct select__builder *b, const char *rule)
{
    struct buf *out = add_fault(f);
    buf_str_add(out, STR("values: Invalid value: "));
    write_values(out, b);
    buf_printf(out, ": %s", rule);
}

static void check_numbers(struct faults *f, const struct select__builder *b)
{
    int64_t number;
    for (size_t i = 0; i < b->n_values && f->n < FAULTS_MAX; i++) {
        if (select__to_number(b->values[i], &number))
            continue;
        struct buf *out = add_fault(f);
        buf_printf(out, "values[%zu]: Invalid value: ", i);
        quote_go(out, b->values[i]);
        buf_str_add(out, STR(": for 'Gt', 'Lt' operators, the value must be an integer"));
    }
}

static void check_count(struct faults *f, const struct select__builder *b, enum labels_op op)
{
    switch (op) {
    case LABELS_IN:
    case LABELS_NOT_IN:
        if (b->n_values == 0)
            refuse_values(f, b, "for 'in', 'notin' operators, values set can't be empty");
        break;
    case LABELS_EQUALS:
    case LABELS_DOUBLE_EQUALS:
    case LABELS_NOT_EQUALS:
        assert(b->n_values == 1); /* neither form can say anything else */
        break;
    case LABELS_GREATER:
    case LABELS_LESS:
        assert(b->n_values == 1);
        check_numbers(f, b);
        break;
    case LABELS_EXISTS:
    case LABELS_NOT_EXISTS:
        if (b->n_values)
            refuse_values(f, b, "values set must be empty for exists and does not exist");
        break;
    }
}

static void check_values(struct faults *f, const struct select__builder *b, struct str key)
{
    autobuf why = { 0 };
    for (size_t i = 0; i < b->n_values && f->n < FAULTS_MAX; i++) {
        buf_reset(&why);
        if (label_value_check(b->values[i], &why))
            continue;
        struct buf *out = add_fault(f);
        buf_printf(out, "values[%zu][" STR_FMT "]: Invalid value: ", i, STR_ARG(key));
        quote_go(out, b->values[i]);
        buf_printf(out, ": " STR_FMT, STR_ARG(buf_str(&why)));
    }
}

static int report(struct select__builder *b, const struct faults *f)
{
    if (f->n == 0)
        return 0;
    return err_set(b->err, b->code, f->n > 1 ? "[" STR_FMT "]" : STR_FMT,
                   STR_ARG(buf_str(&f->text)));
}

int select__refuse_key(struct select__builder *b, const char *path, struct str key)
{
    struct faults f = { 0 };
    check_key(&f, path, key);
    int r = report(b, &f);
    buf_done(&f.text);
    return r;
}

int select__add_requirement(struct select__builder *b, struct str key, enum labels_op op)
{
    struct faults f = { 0 };
    check_key(&f, "key", key);
    check_count(&f, b, op);
    check_values(&f, b, key);
    int r = report(b, &f);
    buf_done(&f.text);
    if (r < 0)
        return r;
    if (b->n_reqs == LIMIT_SELECTOR_REQUIREMENTS)
        return refuse_count(b, "requirements", LIMIT_SELECTOR_REQUIREMENTS);

    struct labels_req req = { .key = key, .op = op, .position = (uint16_t)b->n_reqs };
    if (op == LABELS_GREATER || op == LABELS_LESS)
        (void)select__to_number(b->values[0], &req.number);
    sort_values(b);
    req.values = b->values;
    req.n_values = (uint32_t)b->n_values;
    b->values = NULL;
    b->n_values = b->cap_values = 0;
    b->reqs = grow(b->arena, b->reqs, b->n_reqs, &b->cap_reqs, sizeof(*b->reqs));
    b->reqs[b->n_reqs++] = req;
    return 0;
}

static int by_key(const void *left, const void *right)
{
    const struct labels_req *a = left, *b = right;
    int c = str_cmp(a->key, b->key);
    return c ? c : (int)a->position - (int)b->position;
}

void select__finish(struct select__builder *b, struct labels_selector *ret)
{
    if (b->n_reqs > 1)
        qsort(b->reqs, b->n_reqs, sizeof(*b->reqs), by_key);
    *ret = (struct labels_selector){ .reqs = b->reqs, .n = b->n_reqs };
}

static int refuse_type(struct select__builder *b, const char *what)
{
    return err_set(b->err, b->code, "%s", what);
}

/* Absent and null are the same to Go. */
static bool is_missing(const struct value *v)
{
    return !v || v->type == VALUE_NULL;
}

static int add_labels(struct select__builder *b, const struct value *labels)
{
    if (!is_missing(labels) && labels->type != VALUE_OBJECT)
        return refuse_type(b, "matchLabels must be an object");
    value_each_field (f, labels) {
        if (!value_is(&f->val, VALUE_STRING))
            return refuse_type(b, "the values of matchLabels must be strings");
        int r = select__add_value(b, value_str(&f->val));
        if (r < 0)
            return r;
        r = select__add_requirement(b, f->key, LABELS_EQUALS);
        if (r < 0)
            return r;
    }
    return 0;
}

static int refuse_operator(struct select__builder *b, struct str op)
{
    autobuf quoted = { 0 };
    quote_go(&quoted, op);
    return err_set(b->err, b->code, STR_FMT " is not a valid label selector operator",
                   STR_ARG(buf_str(&quoted)));
}

static int add_expression(struct select__builder *b, const struct value *expr)
{
    static const struct {
        struct str name;
        enum labels_op op;
    } ops[] = {
        { { "In", 2 }, LABELS_IN },
        { { "NotIn", 5 }, LABELS_NOT_IN },
        { { "Exists", 6 }, LABELS_EXISTS },
        { { "DoesNotExist", 12 }, LABELS_NOT_EXISTS },
    };
    const struct value *values = value_get(expr, STR("values"));
    struct str name = value_str(value_get(expr, STR("operator")));
    size_t i = 0;

    while (i < ARRAY_LEN(ops) && !str_eq(ops[i].name, name))
        i++;
    if (i == ARRAY_LEN(ops))
        return refuse_operator(b, name);
    if (!is_missing(values) && values->type != VALUE_ARRAY)
        return refuse_type(b, "values must be a list");
    value_each_item (v, values) {
        int r = v->type == VALUE_STRING ? select__add_value(b, value_str(v))
                                        : refuse_type(b, "values must be strings");
        if (r < 0)
            return r;
    }
    return select__add_requirement(b, value_str(value_get(expr, STR("key"))), ops[i].op);
}

int labels_from_value(struct arena *a, const struct value *v, struct labels_selector *ret,
                      struct err *err)
{
    struct select__builder b = { .arena = a, .err = err, .code = ERR_INVALID };
    if (is_missing(v)) {
        *ret = (struct labels_selector){ .nothing = true };
        return 0;
    }
    if (v->type != VALUE_OBJECT)
        return refuse_type(&b, "a label selector must be an object");

    int r = add_labels(&b, value_get(v, STR("matchLabels")));
    if (r < 0)
        return r;
    const struct value *exprs = value_get(v, STR("matchExpressions"));
    if (!is_missing(exprs) && exprs->type != VALUE_ARRAY)
        return refuse_type(&b, "matchExpressions must be a list");
    value_each_item (expr, exprs) {
        r = add_expression(&b, expr);
        if (r < 0)
            return r;
    }
    select__finish(&b, ret);
    return 0;
}
