/* Duplicate keys of a tree: where the first one is, and how to be rid of them. Small objects are
 * compared pairwise, large ones through a hash table, so that an object of 100,000 keys costs no
 * more per key than a small one. */
#include "base/value.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/walk.h"
#include "base/banned.h"

enum { PAIRWISE_MAX = 16 };

static uint32_t first_duplicate_of_few(const struct value *obj)
{
    for (uint32_t i = 1; i < obj->n; i++)
        for (uint32_t j = 0; j < i; j++)
            if (str_eq(obj->fields[i].key, obj->fields[j].key))
                return i;
    return obj->n;
}

static uint32_t first_duplicate_of_many(const struct value *obj)
{
    struct map seen = { 0 };
    uint32_t i = 0;
    while (i < obj->n && !map_set(&seen, obj->fields[i].key, &obj->fields[i]))
        i++;
    map_done(&seen);
    return i;
}

/* The place of the first field that repeats an earlier name, or `n`. */
static uint32_t first_duplicate(const struct value *obj)
{
    return obj->n <= PAIRWISE_MAX ? first_duplicate_of_few(obj) : first_duplicate_of_many(obj);
}

static void enter(struct walk *w, const struct value *v)
{
    walk_enter(w, v);
    walk_top(w)->stop = v->type == VALUE_OBJECT ? first_duplicate(v) : v->n;
}

/* The path to the child that each open container is at. */
static struct str path_of(struct arena *a, const struct walk *w)
{
    autobuf path = { 0 };
    for (size_t i = 0; i < w->n; i++) {
        const struct value *v = w->frames[i].v;
        uint32_t child = w->frames[i].next - 1;
        if (v->type == VALUE_ARRAY) {
            buf_printf(&path, "[%u]", child);
            continue;
        }
        if (path.n)
            buf_byte(&path, '.');
        struct str key = v->fields[child].key;
        buf_str_add(&path, key.n ? key : STR("\"\""));
    }
    return arena_str(a, buf_str(&path));
}

struct str value_find_duplicate(struct arena *a, const struct value *v)
{
    autowalk w;
    walk_init(&w);
    if (walk_is_container(v))
        enter(&w, v);
    while (w.n) {
        struct walk_frame *top = walk_top(&w);
        if (top->next == top->v->n) {
            w.n--;
            continue;
        }
        uint32_t i = top->next++;
        bool is_object = top->v->type == VALUE_OBJECT;
        if (is_object && i == top->stop)
            return path_of(a, &w);
        const struct value *child = is_object ? &top->v->fields[i].val : &top->v->items[i];
        if (walk_is_container(child))
            enter(&w, child);
    }
    return STR("");
}

/* Gives the first field of each name the value of the last one; `obj` owns its array. */
static void drop_in_object(struct value *obj)
{
    struct map places = { 0 };
    uint32_t kept = 0;
    for (uint32_t i = 0; i < obj->n; i++) {
        struct value_field f = obj->fields[i];
        struct value_field *place = map_get(&places, f.key);
        if (place) {
            place->val = f.val;
            continue;
        }
        obj->fields[kept] = f;
        (void)map_set(&places, f.key, &obj->fields[kept]);
        kept++;
    }
    map_done(&places);
    obj->n = kept;
}

static void own_children(struct arena *a, struct value *v)
{
    if (v->type == VALUE_OBJECT)
        (void)value_edit(a, v, v->fields[0].key);
    else
        (void)value_edit_at(a, v, 0);
}

void value_drop_duplicates(struct arena *a, struct value *v)
{
    if (value_find_duplicate(a, v).n == 0)
        return;
    autowalk w;
    walk_init(&w);
    struct value *at = v;
    for (;;) {
        if (walk_is_container(at) && at->n) {
            own_children(a, at);
            if (at->type == VALUE_OBJECT && first_duplicate(at) < at->n)
                drop_in_object(at);
            walk_enter(&w, at);
        }
        while (w.n && walk_top(&w)->next == walk_top(&w)->v->n)
            w.n--;
        if (!w.n)
            return;
        struct walk_frame *top = walk_top(&w);
        uint32_t i = top->next++;
        at = top->v->type == VALUE_OBJECT ? &top->v->fields[i].val : &top->v->items[i];
    }
}
