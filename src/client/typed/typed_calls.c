/* typed_calls.c - calls, informers and listers of typed kinds. */
#include <sampan/typed.h>

#include "client/typed/typed_item.h"
#include "select/labels.h"
#include "base/banned.h"

/* ---- Over the wire ---- */

static struct spn_target target_of(const struct spn_kind *k, struct spn_text ns,
                                   struct spn_text name)
{
    return (struct spn_target){ .group = k->group,
                                .version = k->version,
                                .plural = k->plural,
                                .ns = k->is_namespaced ? ns : (struct spn_text){ NULL, 0 },
                                .name = name };
}

/* The tree of a whole object, which says what it is. */
static struct spn_value *encode_object(const struct spn_kind *k, struct spn_arena *a,
                                       const void *obj)
{
    struct spn_value *v = spn_typed_encode(k->type, a, obj);
    if (!spn_value_get(v, "apiVersion")) {
        struct spn_text of = k->group.n ? spn_arena_printf(a, SPN_FMT "/" SPN_FMT,
                                                           SPN_ARG(k->group), SPN_ARG(k->version))
                                        : k->version;
        spn_value_set_text(a, v, "apiVersion", of);
    }
    if (!spn_value_get(v, "kind"))
        spn_value_set_text(a, v, "kind", k->kind);
    return v;
}

static struct spn_target target_of_object(const struct spn_kind *k, const struct spn_value *v,
                                          const char *sub)
{
    struct spn_target at = target_of(k, spn_value_text(spn_value_dig(v, "metadata", "namespace")),
                                     spn_value_text(spn_value_dig(v, "metadata", "name")));
    at.sub = spn_text_of(sub);
    return at;
}

static int decode_answer(const struct spn_kind *k, struct spn_arena *a, const struct spn_value *v,
                         void *ret, struct spn_err *err)
{
    if (!ret)
        return 0;
    int r = spn_typed_decode(k->type, a, v, ret, err);
    return r < 0 ? spn_err_wrap(err, "the server's " SPN_FMT, SPN_ARG(k->kind)) : 0;
}

int spn_typed_get(struct spn_client *c, const struct spn_kind *k, struct spn_text ns,
                  struct spn_text name, const struct spn_call *how, struct spn_arena *a, void *ret,
                  struct spn_err *err)
{
    const struct spn_target at = target_of(k, ns, name);
    struct spn_value *v;
    int r = spn_client_get(c, &at, how, a, &v, err);
    if (r < 0)
        return r;
    return decode_answer(k, a, v, ret, err);
}

int spn_typed_create(struct spn_client *c, const struct spn_kind *k, const void *obj,
                     const struct spn_call *how, struct spn_arena *a, void *ret,
                     struct spn_err *err)
{
    struct spn_value *v = encode_object(k, a, obj);
    struct spn_target at = target_of_object(k, v, NULL);
    at.name = (struct spn_text){ NULL, 0 };
    int r = spn_client_create(c, &at, v, how, a, &v, err);
    if (r < 0)
        return r;
    return decode_answer(k, a, v, ret, err);
}

int spn_typed_update(struct spn_client *c, const struct spn_kind *k, const char *sub,
                     const void *obj, const struct spn_call *how, struct spn_arena *a, void *ret,
                     struct spn_err *err)
{
    struct spn_value *v = encode_object(k, a, obj);
    const struct spn_target at = target_of_object(k, v, sub);
    int r = spn_client_update(c, &at, v, how, a, &v, err);
    if (r < 0)
        return r;
    return decode_answer(k, a, v, ret, err);
}

int spn_typed_apply(struct spn_client *c, const struct spn_kind *k, const char *sub,
                    const void *obj, const struct spn_call *how, struct spn_arena *a, void *ret,
                    struct spn_err *err)
{
    struct spn_value *v = encode_object(k, a, obj);
    const struct spn_target at = target_of_object(k, v, sub);
    int r = spn_client_apply(c, &at, v, how, a, &v, err);
    if (r < 0)
        return r;
    return decode_answer(k, a, v, ret, err);
}

int spn_typed_patch(struct spn_client *c, const struct spn_kind *k, struct spn_text ns,
                    struct spn_text name, enum spn_patch_kind kind, struct spn_text patch,
                    const struct spn_call *how, struct spn_arena *a, void *ret, struct spn_err *err)
{
    const struct spn_target at = target_of(k, ns, name);
    struct spn_value *v;
    int r = spn_client_patch(c, &at, kind, patch, how, a, &v, err);
    if (r < 0)
        return r;
    return decode_answer(k, a, v, ret, err);
}

int spn_typed_delete(struct spn_client *c, const struct spn_kind *k, struct spn_text ns,
                     struct spn_text name, const struct spn_delete *what,
                     const struct spn_call *how, struct spn_err *err)
{
    const struct spn_target at = target_of(k, ns, name);
    struct spn_arena *a = spn_arena_new();
    int r = spn_client_delete(c, &at, what, how, a, NULL, err);
    if (err && r < 0)
        err->status = NULL; /* it lies in our arena */
    (void)spn_arena_free(a);
    return r;
}

static struct spn_page page_of(const struct spn_value *list)
{
    const struct spn_value *meta = spn_value_get(list, "metadata");
    struct spn_page page = {
        .resource_version = spn_value_text(spn_value_get(meta, "resourceVersion")),
        .resume = spn_value_text(spn_value_get(meta, "continue")),
    };
    page.remaining.is_set =
        spn_value_int(spn_value_get(meta, "remainingItemCount"), &page.remaining.value);
    return page;
}

/* A struct for each; room for one at least, so that an empty list has a pointer, too. */
static char *items_new(const struct spn_kind *k, struct spn_arena *a, size_t n)
{
    return spn_arena_alloc(a, (n ? n : 1) * k->type->size);
}

int spn_typed_list(struct spn_client *c, const struct spn_kind *k, struct spn_text ns,
                   const struct spn_select *which, const struct spn_call *how, struct spn_arena *a,
                   void *ret, struct spn_page *ret_page, struct spn_err *err)
{
    const struct spn_target at = target_of(k, ns, (struct spn_text){ NULL, 0 });
    struct spn_value *list;
    int r = spn_client_list(c, &at, which, how, a, &list, err);
    if (r < 0)
        return r;
    const struct spn_value *values = spn_value_get(list, "items");
    size_t n = spn_value_count(values);
    char *items = items_new(k, a, n);
    for (size_t i = 0; i < n; i++) {
        void *item;
        r = decode_answer(k, a, spn_value_at(values, i), &item, err);
        if (r < 0)
            return r;
        memcpy(items + i * k->type->size, item, k->type->size);
    }
    if (ret_page)
        *ret_page = page_of(list);
    memcpy(ret, &(struct typed_items){ items, n }, sizeof(struct typed_items));
    return 0;
}

/* ---- From caches ---- */

struct spn_informer *spn_typed_informer(struct spn_informers *all, const struct spn_kind *k,
                                        struct spn_text ns)
{
    const struct spn_informer_options opt = {
        .what = target_of(k, ns, (struct spn_text){ NULL, 0 }),
    };
    return spn_informers_get(all, &opt);
}

int spn_typed_of(const struct spn_kind *k, const struct spn_object *o, struct spn_arena *a,
                 void *ret, struct spn_err *err)
{
    int r = spn_typed_decode(k->type, a, spn_object_value(o, a), ret, err);
    if (r < 0)
        return spn_err_wrap(err, SPN_FMT " " SPN_FMT, SPN_ARG(k->kind), SPN_ARG(spn_object_key(o)));
    return 0;
}

static void unref_object(struct spn_object **o)
{
    (void)spn_object_unref(*o);
}

int spn_typed_cached(struct spn_cache *cache, const struct spn_kind *k, struct spn_text ns,
                     struct spn_text name, struct spn_arena *a, void *ret, struct spn_err *err)
{
    struct spn_text key = k->is_namespaced
                              ? spn_arena_printf(a, SPN_FMT "/" SPN_FMT, SPN_ARG(ns), SPN_ARG(name))
                              : name;
    __attribute__((cleanup(unref_object))) struct spn_object *o = spn_cache_get(cache, key);
    if (!o)
        return spn_err_set(err, SPN_NOT_FOUND, SPN_FMT " \"" SPN_FMT "\" not found",
                           SPN_ARG(k->plural), SPN_ARG(name));
    return spn_typed_of(k, o, a, ret, err);
}

static bool is_selected(const struct labels_selector *s, const struct spn_object *o,
                        struct spn_arena *scratch)
{
    if (labels_empty(s))
        return true;
    spn_arena_reset(scratch);
    const struct spn_value *meta = spn_object_meta(o, scratch);
    return labels_match_value(s, value_in(spn_value_get(meta, "labels")));
}

static void free_arena(struct spn_arena **a)
{
    (void)spn_arena_free(*a);
}

static int decode_selected(const struct spn_kind *k, const struct spn_objects *objects,
                           const struct labels_selector *s, struct spn_arena *a, char *items,
                           size_t *ret_n, struct spn_err *err)
{
    __attribute__((cleanup(free_arena))) struct spn_arena *scratch = spn_arena_new();
    size_t n = 0;
    for (size_t i = 0; i < objects->n; i++) {
        void *item;
        if (!is_selected(s, objects->items[i], scratch))
            continue;
        int r = spn_typed_of(k, objects->items[i], a, &item, err);
        if (r < 0)
            return r;
        memcpy(items + n++ * k->type->size, item, k->type->size);
    }
    *ret_n = n;
    return 0;
}

int spn_typed_cached_list(struct spn_cache *cache, const struct spn_kind *k, struct spn_text ns,
                          const char *labels, struct spn_arena *a, void *ret, struct spn_err *err)
{
    struct labels_selector selector = { 0 };
    struct err why = ERR_INIT(arena_in(a));
    if (labels && labels_parse(arena_in(a), str_of(labels), &selector, &why) < 0)
        return err_out(err, &why, SPN_BAD_REQUEST);
    __attribute__((cleanup(spn_objects_done))) struct spn_objects objects = { 0 };
    spn_cache_list(cache, ns, true, &objects);
    char *items = items_new(k, a, objects.n);
    size_t n;
    int r = decode_selected(k, &objects, &selector, a, items, &n, err);
    if (r < 0)
        return r;
    memcpy(ret, &(struct typed_items){ items, n }, sizeof(struct typed_items));
    return 0;
}
