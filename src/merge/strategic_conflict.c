/* Whether two patches of one document contradict each other: what a three-way patch would do, and
 * what somebody else has done meanwhile. */
#include "merge/strategic_internal.h"

#include "base/limits.h"
#include "merge/sorted.h"
#include "merge/strategic_items.h"
#include "merge/unstructured.h"
#include "base/banned.h"

static int compare(struct strategic *s, const struct strategic_field *f, const struct value *left,
                   const struct value *right, bool *ret);

/* ---- objects ---- */

static int compare_field(struct strategic *s, const void *where, const struct sorted_step *step,
                         bool *ret)
{
    struct strategic_field f = { 0 };
    bool is_list = step->left->type == VALUE_ARRAY;
    if (is_list || step->left->type == VALUE_OBJECT) {
        int r = strategic__field(s, where, step->key, is_list, &f);
        if (r < 0)
            return r;
    }
    return compare(s, &f, step->left, step->right, ret);
}

static int compare_pair(struct strategic *s, const void *where, struct sorted_pair *pair, bool *ret)
{
    for (struct sorted_step step; !*ret && sorted_next(pair, &step);) {
        bool is_directive =
            str_eq(step.key, STRATEGIC_PATCH) || str_eq(step.key, STRATEGIC_RETAIN_KEYS);
        if (!step.left || !step.right || is_directive)
            continue;
        int r = compare_field(s, where, &step, ret);
        if (r < 0)
            return r;
    }
    return 0;
}

static int compare_fields(struct strategic *s, const void *where, const struct value *left,
                          const struct value *right, bool *ret)
{
    if (s->depth == LIMIT_PATCH_DEPTH)
        return err_set(s->err, ERR_INVALID, "patches are compared more than %u levels deep",
                       LIMIT_PATCH_DEPTH);
    struct sorted_pair pair = { .left = sorted_fields(s->arena, left),
                                .right = sorted_fields(s->arena, right) };
    s->depth++;
    int r = compare_pair(s, where, &pair, ret);
    s->depth--;
    return r;
}

static int compare_objects(struct strategic *s, const struct strategic_field *f,
                           const struct value *left, const struct value *right, bool *ret)
{
    /* A directive is about the whole object, fields are about themselves. */
    if (!value_eq(value_get(left, STRATEGIC_PATCH), value_get(right, STRATEGIC_PATCH))) {
        *ret = true;
        return 0;
    }
    return f->replace ? 0 : compare_fields(s, f->below, left, right, ret);
}

/* ---- lists ---- */

/* Where the items with each key stand; of several the last counts. */
static int find_items(struct strategic *s, struct strategic_ids *ids, const struct value *list,
                      struct str merge_key, const struct value **items)
{
    value_each_item (it, list) {
        uint32_t id;
        int r = strategic__item_id(s, ids, it, merge_key, &id);
        if (r < 0)
            return r;
        items[id] = it;
    }
    return 0;
}

static int compare_merging_lists(struct strategic *s, const struct strategic_field *f,
                                 const struct value *left, const struct value *right, bool *ret)
{
    strategic__autoids ids = { .arena = s->arena };
    size_t most = (size_t)left->n + right->n;
    const struct value **ours = arena_array(s->arena, const struct value *, most);
    const struct value **theirs = arena_array(s->arena, const struct value *, most);
    int r = find_items(s, &ids, left, f->merge_key, ours);
    if (r < 0)
        return r;
    r = find_items(s, &ids, right, f->merge_key, theirs);
    if (r < 0)
        return r;
    const struct strategic_field of_items = { .below = f->below };
    for (size_t i = 0; !*ret && i < ids.by_text.n; i++) {
        r = ours[i] && theirs[i] ? compare(s, &of_items, ours[i], theirs[i], ret) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

/* Order does not count, nor how often. */
static bool same_scalars(struct strategic *s, const struct value *left, const struct value *right)
{
    strategic__autoids ids = { .arena = s->arena };
    value_each_item (it, left)
        (void)strategic__id(&ids, it);
    size_t n = ids.by_text.n, seen = 0;
    bool *is_seen = arena_array(s->arena, bool, n);
    value_each_item (it, right) {
        uint32_t id = strategic__id(&ids, it);
        if (id >= n)
            return false;
        seen += !is_seen[id];
        is_seen[id] = true;
    }
    return seen == n;
}

static int compare_lists(struct strategic *s, const struct strategic_field *f,
                         const struct value *left, const struct value *right, bool *ret)
{
    enum value_type type;
    int r = strategic__item_type(s, left, right, &type);
    if (r < 0)
        return r;
    if (f->merge)
        return type == VALUE_OBJECT ? compare_merging_lists(s, f, left, right, ret) : 0;
    if (left->n != right->n || (type != VALUE_OBJECT && !same_scalars(s, left, right))) {
        *ret = true;
        return 0;
    }
    const struct strategic_field of_items = { .below = f->below };
    for (uint32_t i = 0; type == VALUE_OBJECT && !*ret && i < left->n; i++) {
        r = compare(s, &of_items, &left->items[i], &right->items[i], ret);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Sets `*ret` if they contradict each other, and leaves it alone if not. */
static int compare(struct strategic *s, const struct strategic_field *f, const struct value *left,
                   const struct value *right, bool *ret)
{
    if (left->type == VALUE_OBJECT && right->type == VALUE_OBJECT)
        return compare_objects(s, f, left, right, ret);
    if (left->type == VALUE_ARRAY && right->type == VALUE_ARRAY)
        return compare_lists(s, f, left, right, ret);
    *ret = !value_eq(left, right);
    return 0;
}

int strategic__conflict(struct strategic *s, const void *where, const struct value *left,
                        const struct value *right, bool *ret)
{
    const struct strategic_field f = { .below = where };
    *ret = false;
    return compare(s, &f, left, right, ret);
}
