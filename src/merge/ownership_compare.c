/* What changed between two objects, path by path. */
#include "merge/ownership_internal.h"
#include "merge/sorted.h"

#include "base/banned.h"

enum { REMOVED, MODIFIED, ADDED, N_CHANGES };

/* What is said of one place and of those below it. */
struct difference {
    bool is_member[N_CHANGES];
    const struct fieldset *below[N_CHANGES];
};

struct level {
    struct fieldset_builder builders[N_CHANGES];
};

static int compare(struct ownership_walk *w, struct ownership_place place,
                   const struct value *old_v, const struct value *new_v, struct difference *ret);

static void add(struct level *level, struct fieldset_step step, const struct difference *d)
{
    for (size_t i = 0; i < N_CHANGES; i++)
        fieldset_add(&level->builders[i], step, d->is_member[i], d->below[i]);
}

/* Numbers that are worth the same are the same, however they were written. */
static bool is_same(const struct value *a, const struct value *b)
{
    bool are_containers = a->type == VALUE_OBJECT || a->type == VALUE_ARRAY;
    return are_containers ? value_eq(a, b) : fieldset_value_cmp(a, b) == 0;
}

static void compare_leaves(const struct value *old_v, const struct value *new_v,
                           struct difference *ret)
{
    ret->is_member[ADDED] = !old_v;
    ret->is_member[REMOVED] = !new_v;
    ret->is_member[MODIFIED] = old_v && new_v && !is_same(old_v, new_v);
}

static int compare_fields(struct ownership_walk *w, struct ownership_place place,
                          const struct value *old_obj, const struct value *new_obj,
                          struct level *level)
{
    struct sorted_pair pair = { .left = sorted_fields(w->arena, old_obj),
                                .right = sorted_fields(w->arena, new_obj) };
    struct sorted_step step;
    while (sorted_next(&pair, &step)) {
        struct ownership_place below;
        struct difference d;
        (void)w->schema->field(place, step.key, &below);
        int r = compare(w, below, step.left, step.right, &d);
        if (r < 0)
            return r;
        add(level, fieldset_name(step.key), &d);
    }
    return 0;
}

/* ---- lists ---- */

/* The items of one step in both lists: more than one only where a step is repeated. */
struct group {
    struct fieldset_step step;
    struct ownership_item **olds, **news;
    size_t n_old, n_new;
};

static size_t same_steps(const struct ownership_items *items, size_t from)
{
    size_t to = from + 1;
    while (to < items->n &&
           fieldset_step_cmp(&items->sorted[from]->step, &items->sorted[to]->step) == 0)
        to++;
    return to - from;
}

static struct group next_group(const struct ownership_items *olds, size_t i,
                               const struct ownership_items *news, size_t j)
{
    struct group g = { .n_old = 0 };
    int c = i == olds->n   ? 1
            : j == news->n ? -1
                           : fieldset_step_cmp(&olds->sorted[i]->step, &news->sorted[j]->step);
    if (c <= 0) {
        g.olds = olds->sorted + i;
        g.n_old = same_steps(olds, i);
        g.step = g.olds[0]->step;
    }
    if (c >= 0) {
        g.news = news->sorted + j;
        g.n_new = same_steps(news, j);
        g.step = g.news[0]->step;
    }
    return g;
}

static bool are_same(const struct group *g)
{
    bool same = g->n_old == g->n_new;
    for (size_t i = 0; same && i < g->n_old; i++)
        same = value_eq(g->olds[i]->v, g->news[i]->v);
    return same;
}

/* Items that repeat a step are owned together, as a leaf. */
static int compare_group(struct ownership_walk *w, struct ownership_place below,
                         const struct group *g, struct difference *ret)
{
    const struct value *old_v = g->n_old == 1 ? g->olds[0]->v : NULL;
    const struct value *new_v = g->n_new == 1 ? g->news[0]->v : NULL;
    *ret = (struct difference){ 0 };
    if (g->n_old >= 2 && g->n_new >= 2) {
        ret->is_member[MODIFIED] = !are_same(g);
        return 0;
    }
    int r = old_v || new_v ? compare(w, below, old_v, new_v, ret) : 0;
    if (r < 0)
        return r;
    ret->is_member[REMOVED] = ret->is_member[REMOVED] || g->n_old >= 2;
    ret->is_member[ADDED] = ret->is_member[ADDED] || g->n_new >= 2;
    return 0;
}

static int compare_items(struct ownership_walk *w, struct ownership_place place,
                         const struct ownership_shape *shape, const struct value *old_list,
                         const struct value *new_list, struct level *level)
{
    struct ownership_items olds, news;
    struct ownership_place below = w->schema->item(place);
    int r = ownership__items(w, place, shape, old_list, &olds);
    if (r < 0)
        return r;
    r = ownership__items(w, place, shape, new_list, &news);
    if (r < 0)
        return r;
    for (size_t i = 0, j = 0; i < olds.n || j < news.n;) {
        struct group g = next_group(&olds, i, &news, j);
        struct difference d;
        r = compare_group(w, below, &g, &d);
        if (r < 0)
            return r;
        add(level, g.step, &d);
        i += g.n_old;
        j += g.n_new;
    }
    return 0;
}

/* ---- one place ---- */

static int compare_as(struct ownership_walk *w, struct ownership_place place,
                      const struct ownership_shape *shape, const struct value *old_v,
                      const struct value *new_v, struct difference *ret)
{
    const struct value *old_c = ownership__container(shape->form, old_v);
    const struct value *new_c = ownership__container(shape->form, new_v);
    struct level level = {
        { { .arena = w->arena }, { .arena = w->arena }, { .arena = w->arena } }
    };
    *ret = (struct difference){ 0 };
    if (!old_c && !new_c) {
        compare_leaves(old_v, new_v, ret);
        return 0;
    }
    int r = ownership__enter(w);
    if (r < 0)
        return r;
    r = shape->form == OWNERSHIP_FIELDS ? compare_fields(w, place, old_c, new_c, &level)
                                        : compare_items(w, place, shape, old_c, new_c, &level);
    w->depth--;
    if (r < 0)
        return r;
    for (size_t i = 0; i < N_CHANGES; i++)
        ret->below[i] = fieldset_build(&level.builders[i]);
    ret->is_member[ADDED] = !old_v;
    ret->is_member[REMOVED] = !new_v;
    return 0;
}

static int compare(struct ownership_walk *w, struct ownership_place place,
                   const struct value *old_v, const struct value *new_v, struct difference *ret)
{
    struct ownership_shape shape = w->schema->shape(place, new_v ? new_v : old_v);
    int r = compare_as(w, place, &shape, old_v, new_v, ret);
    if (r < 0 || !old_v || !new_v)
        return r;
    struct ownership_shape old_shape = w->schema->shape(place, old_v);
    if (old_shape.form == shape.form)
        return 0;
    struct difference also; /* it has changed its type: what it was is gone as well */
    r = compare_as(w, place, &old_shape, old_v, new_v, &also);
    if (r < 0)
        return r;
    for (size_t i = 0; i < N_CHANGES; i++) {
        ret->is_member[i] = ret->is_member[i] || also.is_member[i];
        ret->below[i] = fieldset_union(w->arena, ret->below[i], also.below[i]);
    }
    return 0;
}

int ownership_compare(struct arena *a, const struct ownership_schema *schema,
                      struct ownership_place place, const struct value *old_v,
                      const struct value *new_v, struct ownership_changes *ret, struct err *err)
{
    struct ownership_walk w = { a, schema, err, 0 };
    struct difference d;
    int r = compare(&w, place, old_v, new_v, &d);
    if (r < 0)
        return r;
    *ret = (struct ownership_changes){ d.below[REMOVED], d.below[MODIFIED], d.below[ADDED] };
    return 0;
}
