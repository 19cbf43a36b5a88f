/* spn_typed.c - small things around typed structs; the walks are in typed_*.c. */
#include <sampan/typed.h>

#include "client/typed/typed_item.h"
#include "base/banned.h"

/* ---- Lists and pairs ---- */

struct spn_text spn_pairs_get(struct spn_pairs pairs, struct spn_text name)
{
    for (size_t i = 0; i < pairs.n; i++)
        if (spn_text_eq(pairs.items[i].name, name))
            return pairs.items[i].value;
    return (struct spn_text){ NULL, 0 };
}

void spn_pairs_set(struct spn_arena *a, struct spn_pairs *pairs, struct spn_text name,
                   struct spn_text value)
{
    struct spn_pair *items = spn_arena_alloc(a, (pairs->n + 1) * sizeof(*items));
    if (pairs->n)
        memcpy(items, pairs->items, pairs->n * sizeof(*items));
    size_t i = 0;
    while (i < pairs->n && !spn_text_eq(items[i].name, name))
        i++;
    items[i] = (struct spn_pair){ name, value };
    *pairs = (struct spn_pairs){ items, i == pairs->n ? i + 1 : pairs->n };
}

bool spn_texts_have(struct spn_texts texts, struct spn_text t)
{
    for (size_t i = 0; i < texts.n; i++)
        if (spn_text_eq(texts.items[i], t))
            return true;
    return false;
}

void spn_texts_add(struct spn_arena *a, struct spn_texts *texts, struct spn_text t)
{
    struct spn_text *items = spn_arena_alloc(a, (texts->n + 1) * sizeof(*items));
    if (texts->n)
        memcpy(items, texts->items, texts->n * sizeof(*items));
    items[texts->n] = t;
    *texts = (struct spn_texts){ items, texts->n + 1 };
}

void *spn_typed_append(struct spn_arena *a, void *list, size_t item_size)
{
    struct typed_items items;
    memcpy(&items, list, sizeof(items));
    size_t used = items.n * item_size;
    items.p = arena_grow(arena_in(a), items.p, used, used + item_size, alignof(max_align_t));
    items.n++;
    memcpy(list, &items, sizeof(items));
    return memset((char *)items.p + used, 0, item_size);
}

/* ---- Structs that have an arena of their own ---- */

/* What lies in front of such a struct, in the same arena. */
union owned {
    struct spn_arena *arena;
    max_align_t align;
};

void *spn_typed_new(const struct spn_struct *t, const void *s)
{
    struct spn_arena *a = spn_arena_new();
    union owned *own = spn_arena_alloc(a, sizeof(union owned) + t->size);
    own->arena = a;
    if (s)
        memcpy(own + 1, spn_typed_copy(t, a, s), t->size);
    return own + 1;
}

struct spn_arena *spn_typed_arena(void *s)
{
    return ((union owned *)s - 1)->arena;
}

void *spn_typed_free(void *s)
{
    return s ? spn_arena_free(spn_typed_arena(s)) : NULL;
}
