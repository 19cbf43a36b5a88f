/* Both directions keep a list of what is still to be done instead of calling themselves: documents
 * may be deeper than a thread's stack. New objects and lists are made at their full size, so that
 * the place of each child is known before it is filled. */
#include "merge/merge_patch.h"

#include "base/mem.h"
#include "merge/sorted.h"
#include "base/banned.h"

/* ---- applying ---- */

/* `*ret` becomes `cur` with `patch` merged into it, or `patch` without nulls if there is no `cur`.
 */
struct job {
    const struct value *cur, *patch;
    struct value *ret;
};

struct jobs {
    struct arena *arena;
    struct job *p;
    size_t n, cap;
};

static void jobs_done(struct jobs *todo)
{
    mem_cleanup_free(&todo->p);
}

static bool is_container(const struct value *v)
{
    return v->type == VALUE_ARRAY || v->type == VALUE_OBJECT;
}

static void add_job(struct jobs *todo, struct job job)
{
    if (todo->n == todo->cap) {
        todo->cap = todo->cap ? 2 * todo->cap : 32;
        todo->p = mem_resize(todo->p, todo->cap, sizeof(*todo->p));
    }
    todo->p[todo->n++] = job;
}

/* What stands under one name afterwards, `left` being the document's and `right` the patch's. */
static void merge_field(struct jobs *todo, const struct sorted_step *step, struct value *ret)
{
    const struct value *cur = step->left, *patch = step->right;
    if (!patch) {
        *ret = value_borrow(cur);
    } else if (!is_container(patch)) {
        *ret = *patch;
    } else if (value_is(cur, VALUE_OBJECT) && patch->type != VALUE_OBJECT) {
        *ret = value_borrow(patch); /* a list instead of an object keeps its nulls, as upstream */
    } else {
        if (!value_is(cur, VALUE_OBJECT))
            cur = NULL;
        add_job(todo, (struct job){ cur, patch, ret });
    }
}

static void merge_object(struct jobs *todo, const struct job *job)
{
    struct arena *a = todo->arena;
    struct sorted_pair pair = { .left = sorted_fields(a, job->cur),
                                .right = sorted_fields(a, job->patch) };
    size_t most = pair.left.n + pair.right.n;
    struct value_field *fields =
        arena_alloc(a, most * sizeof(*fields), alignof(struct value_field));
    uint32_t n = 0;
    for (struct sorted_step step; sorted_next(&pair, &step);) {
        if (value_is(step.right, VALUE_NULL))
            continue;
        fields[n].key = step.key;
        merge_field(todo, &step, &fields[n++].val);
    }
    *job->ret = (struct value){ .type = VALUE_OBJECT, .n = n, .fields = fields };
}

static void prune_list(struct jobs *todo, const struct job *job)
{
    const struct value *list = job->patch;
    struct value *items = arena_alloc(todo->arena, list->n * sizeof(*items), alignof(struct value));
    for (uint32_t i = 0; i < list->n; i++) {
        if (is_container(&list->items[i]))
            add_job(todo, (struct job){ NULL, &list->items[i], &items[i] });
        else
            items[i] = list->items[i];
    }
    *job->ret = (struct value){ .type = VALUE_ARRAY, .n = list->n, .items = items };
}

void merge_patch_apply(struct arena *a, const struct value *patch, struct value *doc)
{
    if (!is_container(patch)) {
        *doc = *patch;
        return;
    }
    struct value before = *doc;
    bool merges = before.type == VALUE_OBJECT && patch->type == VALUE_OBJECT;
    __attribute__((cleanup(jobs_done))) struct jobs todo = { .arena = a };
    add_job(&todo, (struct job){ merges ? &before : NULL, patch, doc });
    while (todo.n) {
        struct job job = todo.p[--todo.n];
        if (job.patch->type == VALUE_OBJECT)
            merge_object(&todo, &job);
        else
            prune_list(&todo, &job);
    }
}

/* ---- creating ---- */

/* An object that both documents have, and how far it has been compared. */
struct frame {
    struct sorted_pair pair;
    struct str key; /* in the frame below */
    struct value diff;
};

struct frames {
    struct frame *p;
    size_t n, cap;
};

static void frames_done(struct frames *open)
{
    mem_cleanup_free(&open->p);
}

static void open_frame(struct arena *a, struct frames *open, struct str key,
                       const struct value *from, const struct value *to)
{
    if (open->n == open->cap) {
        open->cap = open->cap ? 2 * open->cap : 16;
        open->p = mem_resize(open->p, open->cap, sizeof(*open->p));
    }
    struct sorted_pair pair = { .left = sorted_fields(a, from), .right = sorted_fields(a, to) };
    open->p[open->n++] = (struct frame){ pair, key, value_object() };
}

static void diff_field(struct arena *a, struct frames *open, const struct sorted_step *step)
{
    struct value *diff = &open->p[open->n - 1].diff;
    const struct value *from = step->left, *to = step->right;
    if (!to)
        value_put_new(a, diff, step->key, value_null());
    else if (value_is(from, VALUE_OBJECT) && to->type == VALUE_OBJECT)
        open_frame(a, open, step->key, from, to);
    else if (!from || !value_eq(from, to))
        value_put_new(a, diff, step->key, value_borrow(to));
}

struct value merge_patch_create(struct arena *a, const struct value *from, const struct value *to)
{
    if (from->type != VALUE_OBJECT || to->type != VALUE_OBJECT)
        return value_eq(from, to) ? value_object() : value_borrow(to);
    __attribute__((cleanup(frames_done))) struct frames open = { 0 };
    open_frame(a, &open, STR(""), from, to);
    for (;;) {
        struct sorted_step step;
        if (sorted_next(&open.p[open.n - 1].pair, &step)) {
            diff_field(a, &open, &step);
            continue;
        }
        struct frame done = open.p[--open.n];
        if (!open.n)
            return done.diff;
        if (done.diff.n)
            value_put_new(a, &open.p[open.n - 1].diff, done.key, done.diff);
    }
}
