#include "merge/fieldset.h"

#include <stdlib.h>

#include "api/go/quote.h"
#include "base/json.h"
#include "base/limits.h"

#include "base/banned.h"

/* ---- order ---- */

static int rank(const struct value *v)
{
    static const int ranks[] = {
        [VALUE_INT] = 0,   [VALUE_NUMBER] = 0, [VALUE_STRING] = 1, [VALUE_BOOL] = 2,
        [VALUE_ARRAY] = 3, [VALUE_OBJECT] = 4, [VALUE_NULL] = 5,
    };
    return ranks[v->type];
}

static int compare_numbers(const struct value *a, const struct value *b)
{
    double x = 0, y = 0;
    if (a->type == VALUE_INT && b->type == VALUE_INT)
        return (a->i > b->i) - (a->i < b->i);
    (void)value_to_double(a, &x);
    (void)value_to_double(b, &y);
    return (x > y) - (x < y);
}

static int compare_lists(const struct value *a, const struct value *b)
{
    for (uint32_t i = 0; i < a->n && i < b->n; i++) {
        int c = fieldset_value_cmp(&a->items[i], &b->items[i]);
        if (c)
            return c;
    }
    return (a->n > b->n) - (a->n < b->n);
}

/* Objects have been sorted by their names. */
static int compare_objects(const struct value *a, const struct value *b)
{
    for (uint32_t i = 0; i < a->n && i < b->n; i++) {
        int c = str_cmp(a->fields[i].key, b->fields[i].key);
        if (c)
            return c;
        c = fieldset_value_cmp(&a->fields[i].val, &b->fields[i].val);
        if (c)
            return c;
    }
    return (a->n > b->n) - (a->n < b->n);
}

int fieldset_value_cmp(const struct value *a, const struct value *b)
{
    int c = rank(a) - rank(b);
    if (c)
        return c;
    switch (a->type) {
    case VALUE_INT:
    case VALUE_NUMBER:
        return compare_numbers(a, b);
    case VALUE_STRING:
        return str_cmp(value_str(a), value_str(b));
    case VALUE_BOOL:
        return a->b - b->b;
    case VALUE_ARRAY:
        return compare_lists(a, b);
    case VALUE_OBJECT:
        return compare_objects(a, b);
    default:
        return 0;
    }
}

int fieldset_step_cmp(const struct fieldset_step *a, const struct fieldset_step *b)
{
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    return fieldset_value_cmp(&a->v, &b->v);
}

/* ---- words ---- */

static void value_write(struct buf *out, const struct value *v)
{
    if (v->type == VALUE_STRING)
        quote_go(out, value_str(v));
    else
        json_write(out, v);
}

void fieldset_step_write(struct buf *out, const struct fieldset_step *step)
{
    if (step->type == FIELDSET_NAME) {
        buf_byte(out, '.');
        buf_str_add(out, value_str(&step->v));
        return;
    }
    buf_str_add(out, step->type == FIELDSET_VALUE ? STR("[=") : STR("["));
    if (step->type == FIELDSET_KEY) {
        const char *comma = "";
        value_each_field (f, &step->v) {
            buf_printf(out, "%s" STR_FMT "=", comma, STR_ARG(f->key));
            value_write(out, &f->val);
            comma = ",";
        }
    } else {
        value_write(out, &step->v);
    }
    buf_byte(out, ']');
}

/* ---- making ---- */

void fieldset_add(struct fieldset_builder *b, struct fieldset_step step, bool is_member,
                  const struct fieldset *below)
{
    if (!is_member && !below)
        return;
    if (b->n == b->cap) {
        size_t cap = b->cap ? b->cap * 2 : 8;
        b->entries = arena_grow(b->arena, b->entries, b->cap * sizeof(*b->entries),
                                cap * sizeof(*b->entries), alignof(struct fieldset_entry));
        b->cap = cap;
    }
    if (b->n && fieldset_step_cmp(&b->entries[b->n - 1].step, &step) >= 0)
        b->is_unsorted = true;
    b->entries[b->n++] = (struct fieldset_entry){ step, is_member, below };
}

static int compare_entries(const void *pa, const void *pb)
{
    const struct fieldset_entry *a = pa, *b = pb;
    return fieldset_step_cmp(&a->step, &b->step);
}

static size_t join_equal(struct arena *a, struct fieldset_entry *entries, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        struct fieldset_entry *last = kept ? &entries[kept - 1] : NULL;
        if (last && fieldset_step_cmp(&last->step, &entries[i].step) == 0) {
            last->is_member = last->is_member || entries[i].is_member;
            last->below = fieldset_union(a, last->below, entries[i].below);
        } else {
            entries[kept++] = entries[i];
        }
    }
    return kept;
}

const struct fieldset *fieldset_build(struct fieldset_builder *b)
{
    if (b->is_unsorted) {
        qsort(b->entries, b->n, sizeof(*b->entries), compare_entries);
        b->n = join_equal(b->arena, b->entries, b->n);
    }
    if (!b->n)
        return NULL;
    size_t bytes = b->n * sizeof(*b->entries);
    struct fieldset *s = arena_alloc(b->arena, sizeof(*s) + bytes, alignof(struct fieldset));
    s->n = b->n;
    memcpy(s->entries, b->entries, bytes);
    return s;
}

const struct fieldset *fieldset_of(struct arena *a, const struct fieldset_step *path, size_t n)
{
    const struct fieldset *s = NULL;
    for (size_t i = n; i-- > 0;) {
        struct fieldset_builder b = { .arena = a };
        fieldset_add(&b, path[i], i + 1 == n, s);
        s = fieldset_build(&b);
    }
    return s;
}

/* ---- looking ---- */

const struct fieldset_entry *fieldset_find(const struct fieldset *s,
                                           const struct fieldset_step *step)
{
    size_t low = 0, high = s ? s->n : 0;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int c = fieldset_step_cmp(&s->entries[mid].step, step);
        if (c == 0)
            return &s->entries[mid];
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

bool fieldset_has(const struct fieldset *s, const struct fieldset_step *path, size_t n)
{
    const struct fieldset_entry *e = NULL;
    for (size_t i = 0; i < n; i++) {
        e = fieldset_find(s, &path[i]);
        if (!e)
            return false;
        s = e->below;
    }
    return e && e->is_member;
}

bool fieldset_eq(const struct fieldset *x, const struct fieldset *y)
{
    if (x == y)
        return true;
    if (!x || !y || x->n != y->n)
        return false;
    for (size_t i = 0; i < x->n; i++) {
        const struct fieldset_entry *a = &x->entries[i], *b = &y->entries[i];
        if (a->is_member != b->is_member || fieldset_step_cmp(&a->step, &b->step) ||
            !fieldset_eq(a->below, b->below))
            return false;
    }
    return true;
}

size_t fieldset_count(const struct fieldset *s)
{
    size_t n = 0;
    for (size_t i = 0; s && i < s->n; i++)
        n += s->entries[i].is_member + fieldset_count(s->entries[i].below);
    return n;
}

/* ---- two sets side by side ---- */

struct pair {
    const struct fieldset *x, *y;
    size_t i, j;
};

/* One step and who has it, in order; false at the end. */
static bool pair_next(struct pair *p, const struct fieldset_entry **ret_x,
                      const struct fieldset_entry **ret_y)
{
    const struct fieldset_entry *x = p->x && p->i < p->x->n ? &p->x->entries[p->i] : NULL;
    const struct fieldset_entry *y = p->y && p->j < p->y->n ? &p->y->entries[p->j] : NULL;
    if (!x && !y)
        return false;
    int c = !x ? 1 : !y ? -1 : fieldset_step_cmp(&x->step, &y->step);
    *ret_x = c <= 0 ? x : NULL;
    *ret_y = c >= 0 ? y : NULL;
    p->i += c <= 0;
    p->j += c >= 0;
    return true;
}

const struct fieldset *fieldset_union(struct arena *a, const struct fieldset *x,
                                      const struct fieldset *y)
{
    if (!x || !y || x == y)
        return x ? x : y;
    struct fieldset_builder b = { .arena = a };
    struct pair p = { x, y, 0, 0 };
    const struct fieldset_entry *l, *r;
    while (pair_next(&p, &l, &r)) {
        const struct fieldset_entry *either = l ? l : r, *other = l ? r : NULL;
        fieldset_add(&b, either->step, either->is_member || (other && other->is_member),
                     fieldset_union(a, either->below, other ? other->below : NULL));
    }
    return fieldset_build(&b);
}

const struct fieldset *fieldset_intersection(struct arena *a, const struct fieldset *x,
                                             const struct fieldset *y)
{
    if (!x || !y || x == y)
        return x ? y : NULL;
    struct fieldset_builder b = { .arena = a };
    struct pair p = { x, y, 0, 0 };
    const struct fieldset_entry *l, *r;
    while (p.i < x->n && p.j < y->n && pair_next(&p, &l, &r))
        if (l && r)
            fieldset_add(&b, l->step, l->is_member && r->is_member,
                         fieldset_intersection(a, l->below, r->below));
    return fieldset_build(&b);
}

static const struct fieldset *subtract(struct arena *a, const struct fieldset *x,
                                       const struct fieldset *y, bool with_below)
{
    if (!x || !y)
        return x;
    struct fieldset_builder b = { .arena = a };
    struct pair p = { x, y, 0, 0 };
    const struct fieldset_entry *l, *r;
    while (p.i < x->n && pair_next(&p, &l, &r)) {
        bool is_gone = r && r->is_member;
        if (l && !(is_gone && with_below))
            fieldset_add(&b, l->step, l->is_member && !is_gone,
                         subtract(a, l->below, r ? r->below : NULL, with_below));
    }
    return fieldset_build(&b);
}

const struct fieldset *fieldset_difference(struct arena *a, const struct fieldset *x,
                                           const struct fieldset *y)
{
    return subtract(a, x, y, false);
}

const struct fieldset *fieldset_without(struct arena *a, const struct fieldset *x,
                                        const struct fieldset *y)
{
    return subtract(a, x, y, true);
}

const struct fieldset *fieldset_leaves(struct arena *a, const struct fieldset *s)
{
    struct fieldset_builder b = { .arena = a };
    for (size_t i = 0; s && i < s->n; i++)
        fieldset_add(&b, s->entries[i].step, !s->entries[i].below,
                     fieldset_leaves(a, s->entries[i].below));
    return fieldset_build(&b);
}

struct walk {
    fieldset_visitor *visit;
    void *arg;
    struct fieldset_step path[LIMIT_FIELD_DEPTH];
};

static void walk_level(struct walk *w, const struct fieldset *s, size_t depth)
{
    for (size_t i = 0; i < s->n; i++) {
        w->path[depth] = s->entries[i].step;
        if (s->entries[i].is_member)
            w->visit(w->arg, w->path, depth + 1);
    }
    for (size_t i = 0; i < s->n; i++) {
        w->path[depth] = s->entries[i].step;
        if (s->entries[i].below)
            walk_level(w, s->entries[i].below, depth + 1);
    }
}

void fieldset_each(const struct fieldset *s, fieldset_visitor *visit, void *arg)
{
    struct walk w = { .visit = visit, .arg = arg };
    if (s)
        walk_level(&w, s, 0);
}
