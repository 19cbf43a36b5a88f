/* Matching and writing; the two readers are labels_parse.c and labels_build.c. */
#include "select/labels.h"

#include "select/internal.h"
#include "base/banned.h"

bool select__to_number(struct str s, int64_t *ret)
{
    bool plus = s.n > 1 && s.p[0] == '+' && s.p[1] != '-';
    return str_to_i64(plus ? str_skip(s, 1) : s, ret);
}

/* The values are sorted, so even a long set costs little. */
static bool has_value(const struct labels_req *r, struct str value)
{
    size_t low = 0, high = r->n_values;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int c = str_cmp(value, r->values[middle]);
        if (c == 0)
            return true;
        if (c < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

/* `value` is NULL where the object has no such label. */
static bool holds(const struct labels_req *r, const struct str *value)
{
    int64_t number;
    switch ((enum labels_op)r->op) {
    case LABELS_IN:
    case LABELS_EQUALS:
    case LABELS_DOUBLE_EQUALS:
        return value && has_value(r, *value);
    case LABELS_NOT_IN:
    case LABELS_NOT_EQUALS:
        return !value || !has_value(r, *value);
    case LABELS_GREATER:
        return value && select__to_number(*value, &number) && number > r->number;
    case LABELS_LESS:
        return value && select__to_number(*value, &number) && number < r->number;
    case LABELS_EXISTS:
        return value;
    case LABELS_NOT_EXISTS:
        return !value;
    }
    return false;
}

static const struct str *find(const struct labels_pair *labels, size_t n, struct str key)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(labels[i].key, key))
            return &labels[i].value;
    return NULL;
}

bool labels_match(const struct labels_selector *s, const struct labels_pair *labels, size_t n)
{
    for (size_t i = 0; i < s->n; i++)
        if (!holds(&s->reqs[i], find(labels, n, s->reqs[i].key)))
            return false;
    return !s->nothing;
}

bool labels_match_value(const struct labels_selector *s, const struct value *labels)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct value *v = value_get(labels, s->reqs[i].key);
        struct str text = value_str(v);
        if (!holds(&s->reqs[i], v ? &text : NULL))
            return false;
    }
    return !s->nothing;
}

bool labels_exact(const struct labels_selector *s, struct str key, struct str *ret)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct labels_req *r = &s->reqs[i];
        if (!str_eq(r->key, key))
            continue;
        bool equals = r->op == LABELS_EQUALS || r->op == LABELS_DOUBLE_EQUALS || r->op == LABELS_IN;
        if (!equals || r->n_values != 1)
            return false; /* as upstream, only the first requirement on a key counts */
        *ret = r->values[0];
        return true;
    }
    return false;
}

static void write_requirement(struct buf *out, const struct labels_req *r)
{
    static const char *const signs[] = {
        [LABELS_IN] = " in ",          [LABELS_NOT_IN] = " notin ", [LABELS_EQUALS] = "=",
        [LABELS_DOUBLE_EQUALS] = "==", [LABELS_NOT_EQUALS] = "!=",  [LABELS_GREATER] = ">",
        [LABELS_LESS] = "<",           [LABELS_EXISTS] = "",        [LABELS_NOT_EXISTS] = "",
    };
    bool set = r->op == LABELS_IN || r->op == LABELS_NOT_IN;

    if (r->op == LABELS_NOT_EXISTS)
        buf_byte(out, '!');
    buf_str_add(out, r->key);
    buf_str_add(out, str_of(signs[r->op]));
    if (set)
        buf_byte(out, '(');
    for (size_t i = 0; i < r->n_values; i++) {
        if (i)
            buf_byte(out, ',');
        buf_str_add(out, r->values[i]);
    }
    if (set)
        buf_byte(out, ')');
}

void labels_write(struct buf *out, const struct labels_selector *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (i)
            buf_byte(out, ',');
        write_requirement(out, &s->reqs[i]);
    }
}
