/* What a patch brings where the document has nothing: without the objects that are directives. */
#include "merge/strategic_internal.h"

#include "base/mem.h"
#include "base/banned.h"

/* A container whose children are to be cleaned into `ret`. */
struct job {
    const struct value *from;
    struct value *ret;
};

struct jobs {
    struct arena *arena;
    bool keeps_nulls;
    struct job *p;
    size_t n, cap;
};

static void jobs_done(struct jobs *todo)
{
    mem_cleanup_free(&todo->p);
}

/* An object with a `$patch` says what to do with what it meets; here it meets nothing. */
static bool is_directive(const struct jobs *todo, const struct value *v)
{
    const struct value *directive = value_get(v, STRATEGIC_PATCH);
    return directive && (todo->keeps_nulls || directive->type != VALUE_NULL);
}

static void put(struct jobs *todo, const struct value *from, struct value *ret)
{
    *ret = *from;
    if (from->type != VALUE_ARRAY && from->type != VALUE_OBJECT)
        return;
    if (todo->n == todo->cap) {
        todo->cap = todo->cap ? 2 * todo->cap : 32;
        todo->p = mem_resize(todo->p, todo->cap, sizeof(*todo->p));
    }
    todo->p[todo->n++] = (struct job){ from, ret };
}

static void clean_object(struct jobs *todo, const struct job *job)
{
    struct value_field *fields =
        arena_alloc(todo->arena, job->from->n * sizeof(*fields), alignof(struct value_field));
    uint32_t n = 0;
    value_each_field (f, job->from) {
        if (is_directive(todo, &f->val) || (!todo->keeps_nulls && f->val.type == VALUE_NULL))
            continue;
        fields[n].key = f->key;
        put(todo, &f->val, &fields[n++].val);
    }
    *job->ret = (struct value){ .type = VALUE_OBJECT, .n = n, .fields = fields };
}

static void clean_list(struct jobs *todo, const struct job *job)
{
    struct value *items =
        arena_alloc(todo->arena, job->from->n * sizeof(*items), alignof(struct value));
    uint32_t n = 0;
    value_each_item (it, job->from) {
        if (!is_directive(todo, it))
            put(todo, it, &items[n++]);
    }
    *job->ret = (struct value){ .type = VALUE_ARRAY, .n = n, .items = items };
}

bool strategic__clean(struct arena *a, const struct value *patch, bool keeps_nulls,
                      struct value *ret)
{
    __attribute__((cleanup(jobs_done))) struct jobs todo = { .arena = a,
                                                             .keeps_nulls = keeps_nulls };
    if (is_directive(&todo, patch))
        return false;
    put(&todo, patch, ret);
    while (todo.n) {
        struct job job = todo.p[--todo.n];
        if (job.from->type == VALUE_OBJECT)
            clean_object(&todo, &job);
        else
            clean_list(&todo, &job);
    }
    return true;
}
