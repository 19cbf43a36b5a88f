/* A configuration merged into a live object. */
#include "merge/ownership_internal.h"
#include "merge/sorted.h"

#include "base/banned.h"

static int merge(struct ownership_walk *w, struct ownership_place place, const struct value *live,
                 const struct value *applied, struct value *ret);

static int merge_fields(struct ownership_walk *w, struct ownership_place place,
                        const struct value *live, const struct value *applied, struct value *out)
{
    struct sorted_pair pair = { .left = sorted_fields(w->arena, live),
                                .right = sorted_fields(w->arena, applied) };
    struct sorted_step step;
    *out = value_object();
    while (sorted_next(&pair, &step)) {
        struct ownership_place below;
        struct value v = value_null();
        (void)w->schema->field(place, step.key, &below);
        int r = merge(w, below, step.left, step.right, &v);
        if (r < 0)
            return r;
        value_put_new(w->arena, out, step.key, v);
    }
    return 0;
}

/* ---- lists ---- */

/* Ties the items of both lists that have the same step. */
static void match(struct ownership_items *live, struct ownership_items *applied)
{
    struct ownership_item *first = NULL; /* of those in `live` that have one step */
    for (size_t i = 0, j = 0; i < live->n && j < applied->n;) {
        struct ownership_item *l = live->sorted[i], *r = applied->sorted[j];
        int c = fieldset_step_cmp(&l->step, &r->step);
        if (c > 0) {
            first = NULL;
            j++;
        } else {
            if (c == 0) {
                first = first ? first : l;
                l->other = r;
                r->other = first;
            }
            i++;
        }
    }
}

static int refuse_repeated(struct ownership_walk *w, const struct ownership_items *applied)
{
    for (size_t i = 0; i < applied->n; i++)
        if (applied->all[i].is_repeated) {
            autobuf step = { 0 };
            fieldset_step_write(&step, &applied->all[i].step);
            return err_set(w->err, ERR_UNKNOWN, "duplicate entries for key " STR_FMT,
                           STR_ARG(buf_str(&step)));
        }
    return 0;
}

struct list_merge {
    struct ownership_walk *w;
    struct ownership_place below;
    struct ownership_items live, applied;
    size_t shared; /* the next applied item that the live list has too and that is not out yet */
    struct value out;
};

static void advance_shared(struct list_merge *m)
{
    do
        m->shared++;
    while (m->shared < m->applied.n && !m->applied.all[m->shared].other);
}

static bool is_shared(const struct list_merge *m, const struct ownership_item *applied)
{
    return m->shared < m->applied.n && &m->applied.all[m->shared] == applied;
}

/* Live items that repeat a step are not merged: the applied one takes their place. */
static int put_applied(struct list_merge *m, struct ownership_item *item)
{
    struct value v;
    const struct value *live = item->other && !item->other->is_repeated ? item->other->v : NULL;
    int r = merge(m->w, m->below, live, item->v, &v);
    if (r < 0)
        return r;
    item->is_merged = true;
    value_put_item(m->w->arena, &m->out, v);
    if (is_shared(m, item))
        advance_shared(m);
    return 0;
}

/* Items come as applied; those that only the live list has stay before the one they stood before.
 */
static int merge_in_order(struct list_merge *m)
{
    size_t i = 0, j = 0;
    while (i < m->live.n || j < m->applied.n) {
        int r = 0;
        struct ownership_item *live = i < m->live.n ? &m->live.all[i] : NULL;
        struct ownership_item *applied = j < m->applied.n ? &m->applied.all[j] : NULL;
        if (live && !live->other) {
            value_put_item(m->w->arena, &m->out, value_borrow(live->v));
            i++;
        } else if (live && applied && live->other == applied) {
            r = put_applied(m, applied);
            i++;
            j++;
        } else if (live && applied && m->shared < m->applied.n && !is_shared(m, live->other)) {
            i++; /* its turn comes with the applied one */
        } else {
            i += live && live->other->is_merged;
            if (applied)
                r = put_applied(m, applied);
            j += applied != NULL;
        }
        if (r < 0)
            return r;
    }
    return 0;
}

static int merge_items(struct ownership_walk *w, struct ownership_place place,
                       const struct ownership_shape *shape, const struct value *live,
                       const struct value *applied, struct value *out)
{
    struct list_merge m = { .w = w, .below = w->schema->item(place), .out = value_array() };
    int r = ownership__items(w, place, shape, applied, &m.applied);
    if (r < 0)
        return r;
    r = refuse_repeated(w, &m.applied);
    if (r < 0)
        return r;
    r = ownership__items(w, place, shape, live, &m.live);
    if (r < 0)
        return r;
    match(&m.live, &m.applied);
    m.shared = (size_t)-1;
    advance_shared(&m);
    r = merge_in_order(&m);
    *out = m.out;
    return r;
}

/* ---- one place ---- */

static int merge(struct ownership_walk *w, struct ownership_place place, const struct value *live,
                 const struct value *applied, struct value *ret)
{
    struct ownership_shape shape = w->schema->shape(place, applied ? applied : live);
    const struct value *live_c = ownership__container(shape.form, live);
    const struct value *applied_c = ownership__container(shape.form, applied);
    if (!live || !applied || (!live_c && !applied_c)) {
        *ret = value_borrow(applied ? applied : live);
        return 0;
    }
    int r = ownership__enter(w);
    if (r < 0)
        return r;
    r = shape.form == OWNERSHIP_FIELDS ? merge_fields(w, place, live_c, applied_c, ret)
                                       : merge_items(w, place, &shape, live_c, applied_c, ret);
    w->depth--;
    return r;
}

int ownership_merge(struct arena *a, const struct ownership_schema *schema,
                    struct ownership_place place, const struct value *live,
                    const struct value *applied, struct value *ret, struct err *err)
{
    struct ownership_walk w = { a, schema, err, 0 };
    return merge(&w, place, live, applied, ret);
}
