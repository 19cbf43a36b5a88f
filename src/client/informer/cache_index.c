#include "client/informer/cache_index.h"

#include <stdlib.h>

#include "base/mem.h"
#include "client/bridge.h"
#include "base/banned.h"

struct index_value {
    struct keyed objects;
    size_t n_text;
    char text[];
};

/* What the function has said of one object; in the arena. */
struct spn_index_values {
    struct arena *arena;
    struct str *items;
    size_t n, cap;
};

struct str cache_object_key(const void *thing)
{
    return str_in(spn_object_key(thing));
}

static struct str value_key(const void *thing)
{
    const struct index_value *v = thing;
    return (struct str){ v->text, v->n_text };
}

struct cache_index *cache_index_new(const char *name, spn_index_fn *fn, void *arg)
{
    struct cache_index *ix = mem_new(struct cache_index);
    ix->name = mem_dup(name, strlen(name) + 1);
    ix->fn = fn;
    ix->arg = arg;
    ix->values.key_of = value_key;
    return ix;
}

static void free_value(struct index_value *v)
{
    keyed_done(&v->objects);
    free(v);
}

struct cache_index *cache_index_free(struct cache_index *ix)
{
    if (!ix)
        return NULL;
    size_t pos = 0;
    for (void *v; (v = keyed_next(&ix->values, &pos));)
        free_value(v);
    keyed_done(&ix->values);
    free(ix->name);
    free(ix);
    return NULL;
}

void spn_index_put(struct spn_index_values *out, struct spn_text value)
{
    if (out->n == out->cap) {
        size_t cap = out->cap ? out->cap * 2 : 4;
        out->items = arena_grow(out->arena, out->items, out->cap * sizeof(struct str),
                                cap * sizeof(struct str), alignof(struct str));
        out->cap = cap;
    }
    out->items[out->n++] = arena_str(out->arena, str_in(value));
}

static struct spn_index_values values_of(struct cache_index *ix, const struct spn_object *o,
                                         struct spn_arena *a)
{
    struct spn_index_values ret = { .arena = arena_in(a) };
    if (o)
        ix->fn(ix->arg, o, a, &ret);
    return ret;
}

static struct index_value *ensure_value(struct cache_index *ix, struct str text)
{
    struct index_value *v = keyed_get(&ix->values, text);
    if (v)
        return v;
    v = mem_zalloc(sizeof(*v) + text.n);
    v->objects.key_of = cache_object_key;
    v->n_text = text.n;
    if (text.n)
        memcpy(v->text, text.p, text.n);
    keyed_put(&ix->values, v);
    return v;
}

/* Not if a new object has taken its place there. */
static void remove_object(struct cache_index *ix, struct str text, const struct spn_object *o)
{
    struct index_value *v = keyed_get(&ix->values, text);
    struct str key = cache_object_key(o);
    if (!v || keyed_get(&v->objects, key) != o)
        return;
    keyed_remove(&v->objects, key);
    if (v->objects.n)
        return;
    keyed_remove(&ix->values, text);
    free_value(v);
}

void cache_index_replace(struct cache_index *ix, struct spn_object *old_obj,
                         struct spn_object *new_obj, struct spn_arena *a)
{
    if (old_obj == new_obj)
        return;
    struct spn_index_values gained = values_of(ix, new_obj, a), had = values_of(ix, old_obj, a);
    for (size_t i = 0; i < gained.n; i++)
        keyed_put(&ensure_value(ix, gained.items[i])->objects, new_obj);
    for (size_t i = 0; i < had.n; i++)
        remove_object(ix, had.items[i], old_obj);
}

const struct keyed *cache_index_find(const struct cache_index *ix, struct spn_text value)
{
    const struct index_value *v = keyed_get(&ix->values, str_in(value));
    return v ? &v->objects : NULL;
}

size_t cache_index_bytes(const struct cache_index *ix)
{
    size_t bytes = sizeof(*ix) + keyed_bytes(&ix->values), pos = 0;
    for (const struct index_value *v; (v = keyed_next(&ix->values, &pos));)
        bytes += sizeof(*v) + v->n_text + keyed_bytes(&v->objects);
    return bytes;
}
