/* sampan/typed.h - objects as C structs: what generated code (sampan generate) stands on.
 *
 * Generated code is a struct per type, a table that describes it, and thin functions with the right
 * types; all walking is here. A struct tells absent, zero and null apart:
 *
 *     struct spn_text            .p is NULL: absent; "" is empty text. Bytes are decoded text
 *     struct spn_bool, spn_int   .is_set is false: absent
 *     struct X *                 NULL: absent
 *     struct X_list, X_map       .items is NULL: absent; else .n may be 0, which is empty
 *     const struct spn_value *   whatever has no schema; NULL: absent
 *     .rest                      fields that the struct does not know, and known ones that are
 *                                null; they are kept and written back
 *
 * A field of another type than the struct has is SPN_MALFORMED, with its path. Everything lies in
 * the caller's arena; text is lent by the tree that was decoded. Nothing here keeps a state: any
 * thread may call it. */
#pragma once

#include <sampan/informer.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What structs are made of ---- */

struct spn_bool {
    bool is_set;
    bool value;
};

struct spn_int {
    bool is_set;
    int64_t value;
};

/* `exact` is the number as it was read. It is written back as long as it says the same as `value`.
 */
struct spn_number {
    bool is_set;
    double value;
    struct spn_text exact;
};

/* A port or a share: 80 or "http". It is text if text.p is not NULL. */
struct spn_int_or_text {
    bool is_set;
    int64_t value;
    struct spn_text text;
};

#define SPN_TRUE        ((struct spn_bool){ true, true })
#define SPN_FALSE       ((struct spn_bool){ true, false })
#define SPN_SET_INT(i)  ((struct spn_int){ true, (i) })
#define SPN_SET_PORT(i) ((struct spn_int_or_text){ .is_set = true, .value = (i) })
#define SPN_SET_NAME(t) ((struct spn_int_or_text){ .is_set = true, .text = (t) })

struct spn_bools {
    bool *items;
    size_t n;
};

struct spn_ints {
    int64_t *items;
    size_t n;
};

struct spn_numbers {
    struct spn_number *items;
    size_t n;
};

struct spn_ints_or_texts {
    struct spn_int_or_text *items;
    size_t n;
};

struct spn_values {
    const struct spn_value **items;
    size_t n;
};

/* Maps of text to these. Of text to text: struct spn_pairs. */
struct spn_bool_map {
    struct spn_bool_entry {
        struct spn_text name;
        bool value;
    } * items;
    size_t n;
};

struct spn_int_map {
    struct spn_int_entry {
        struct spn_text name;
        int64_t value;
    } * items;
    size_t n;
};

struct spn_number_map {
    struct spn_number_entry {
        struct spn_text name;
        struct spn_number value;
    } * items;
    size_t n;
};

struct spn_int_or_text_map {
    struct spn_int_or_text_entry {
        struct spn_text name;
        struct spn_int_or_text value;
    } * items;
    size_t n;
};

struct spn_value_map {
    struct spn_value_entry {
        struct spn_text name;
        const struct spn_value *value;
    } * items;
    size_t n;
};

/* The value of that name; .p is NULL if there is none. */
SPN_API struct spn_text spn_pairs_get(struct spn_pairs pairs, struct spn_text name);
/* Sets or adds one, in a new array; what `pairs` had is left as it was. Text is lent. */
SPN_API void spn_pairs_set(struct spn_arena *a, struct spn_pairs *pairs, struct spn_text name,
                           struct spn_text value);
SPN_API bool spn_texts_have(struct spn_texts texts, struct spn_text t);
/* One more at the end, in a new array. Text is lent. */
SPN_API void spn_texts_add(struct spn_arena *a, struct spn_texts *texts, struct spn_text t);

/* One more item, all zero, at the end of a list of structs. Pointers to the others may move. */
#define spn_append(a, list) \
    ((__typeof__((list)->items))spn_typed_append((a), (list), sizeof(*(list)->items)))
SPN_API void *spn_typed_append(struct spn_arena *a, void *list, size_t item_size);

/* ---- Tables ---- */

enum spn_what {
    SPN_IS_TEXT,
    SPN_IS_BYTES, /* base64 in JSON */
    SPN_IS_BOOL,
    SPN_IS_INT,
    SPN_IS_NUMBER,
    SPN_IS_INT_OR_TEXT,
    SPN_IS_VALUE,
    SPN_IS_STRUCT, /* as `type` says */
    SPN_IS_NESTED, /* a list or map in a list or map: as `inner` says */
};

enum spn_shape { SPN_ONE, SPN_LIST, SPN_MAP };

struct spn_struct;

struct spn_field {
    const char *name; /* in JSON */
    uint32_t offset;
    uint8_t what;  /* enum spn_what */
    uint8_t shape; /* enum spn_shape */
    const struct spn_struct *type;
    const struct spn_field *inner;
};

#define SPN_FIELD(owner, member, json, what_)                                             \
    {                                                                                     \
        .name = json, .offset = (uint32_t)offsetof(struct owner, member), .what = (what_) \
    }
#define SPN_FIELDS(owner, member, json, shape_, what_)                                     \
    {                                                                                      \
        .name = json, .offset = (uint32_t)offsetof(struct owner, member), .what = (what_), \
        .shape = (shape_)                                                                  \
    }
#define SPN_STRUCT_FIELD(owner, member, json, shape_, type_)                                     \
    {                                                                                            \
        .name = json, .offset = (uint32_t)offsetof(struct owner, member), .what = SPN_IS_STRUCT, \
        .shape = (shape_), .type = &type_##_table                                                \
    }
#define SPN_NESTED_FIELD(owner, member, json, shape_, inner_)                                    \
    {                                                                                            \
        .name = json, .offset = (uint32_t)offsetof(struct owner, member), .what = SPN_IS_NESTED, \
        .shape = (shape_), .inner = &inner_                                                      \
    }

struct spn_struct {
    const char *name; /* of the struct */
    uint32_t size;
    uint32_t rest; /* offset */
    const struct spn_field *fields;
    size_t n_fields;
};

#define SPN_STRUCT(name_, fields_)                                         \
    {                                                                      \
        .name = #name_, .size = (uint32_t)sizeof(struct name_),            \
        .rest = (uint32_t)offsetof(struct name_, rest), .fields = fields_, \
        .n_fields = sizeof(fields_) / sizeof((fields_)[0])                 \
    }
/* Of a struct that has no field but `rest`. */
#define SPN_STRUCT_EMPTY(name_)                                 \
    {                                                           \
        .name = #name_, .size = (uint32_t)sizeof(struct name_), \
        .rest = (uint32_t)offsetof(struct name_, rest)          \
    }

/* Here and below `ret` is the address of a pointer to the struct; it is set on success only.
 * A `v` that is NULL or null is an empty struct. */
SPN_API int spn_typed_decode(const struct spn_struct *t, struct spn_arena *a,
                             const struct spn_value *v, void *ret, struct spn_err *err);
/* Fields in the order of the table, then the rest. Text is lent by the struct. */
SPN_API struct spn_value *spn_typed_encode(const struct spn_struct *t, struct spn_arena *a,
                                           const void *s);
SPN_API void *spn_typed_copy(const struct spn_struct *t, struct spn_arena *a,
                             const void *s); /* deep, text included */
/* Absent, zero and null differ; maps and `rest` have no order. NULL equals only NULL. */
SPN_API bool spn_typed_equal(const struct spn_struct *t, const void *one, const void *other);

/* Names these four for one type: decode, encode, copy and equal, with its own struct. */
#define SPN_TYPED(name)                                                                      \
    extern SPN_API const struct spn_struct name##_table;                                     \
    static inline int name##_decode(struct spn_arena *a, const struct spn_value *v,          \
                                    struct name **ret, struct spn_err *err)                  \
    {                                                                                        \
        return spn_typed_decode(&name##_table, a, v, ret, err);                              \
    }                                                                                        \
    static inline struct spn_value *name##_encode(struct spn_arena *a, const struct name *s) \
    {                                                                                        \
        return spn_typed_encode(&name##_table, a, s);                                        \
    }                                                                                        \
    static inline struct name *name##_copy(struct spn_arena *a, const struct name *s)        \
    {                                                                                        \
        return (struct name *)spn_typed_copy(&name##_table, a, s);                           \
    }                                                                                        \
    static inline bool name##_equal(const struct name *one, const struct name *other)        \
    {                                                                                        \
        return spn_typed_equal(&name##_table, one, other);                                   \
    }

/* ---- Structs that have an arena of their own ---- */

/* NULL as `s`: all zero. Else a deep copy. */
SPN_API void *spn_typed_new(const struct spn_struct *t, const void *s);
/* Only of what spn_typed_new() made. */
SPN_API struct spn_arena *spn_typed_arena(void *s);
SPN_API void *spn_typed_free(void *s); /* NULL will do; returns NULL */

/* ---- Kinds: calls, informers and listers ---- */

struct spn_kind {
    struct spn_text group, version, kind, plural;
    const struct spn_struct *type;
    bool is_namespaced;
};

#define SPN_KIND(group_, version_, kind_, plural_, type_, is_namespaced_)                          \
    {                                                                                              \
        .group = { "" group_, sizeof(group_) - 1 },                                                \
        .version = { "" version_, sizeof(version_) - 1 }, .kind = { "" kind_, sizeof(kind_) - 1 }, \
        .plural = { "" plural_, sizeof(plural_) - 1 }, .type = &type_##_table,                     \
        .is_namespaced = (is_namespaced_)                                                          \
    }

/* What a page of a list says beside its items. In the arena. */
struct spn_page {
    struct spn_text resource_version;
    struct spn_text resume; /* for struct spn_select; empty: this was the last page */
    struct spn_int remaining;
};

/* As spn_client_get() and the like; `ret`, where it may be NULL there, may be NULL here. What is
 * written goes where the object's metadata says. */
SPN_API int spn_typed_get(struct spn_client *c, const struct spn_kind *k, struct spn_text ns,
                          struct spn_text name, const struct spn_call *how, struct spn_arena *a,
                          void *ret, struct spn_err *err);
SPN_API int spn_typed_create(struct spn_client *c, const struct spn_kind *k, const void *obj,
                             const struct spn_call *how, struct spn_arena *a, void *ret,
                             struct spn_err *err);
/* `sub`: "status", or NULL for the object itself. */
SPN_API int spn_typed_update(struct spn_client *c, const struct spn_kind *k, const char *sub,
                             const void *obj, const struct spn_call *how, struct spn_arena *a,
                             void *ret, struct spn_err *err);
SPN_API int spn_typed_apply(struct spn_client *c, const struct spn_kind *k, const char *sub,
                            const void *obj, const struct spn_call *how, struct spn_arena *a,
                            void *ret, struct spn_err *err);
SPN_API int spn_typed_patch(struct spn_client *c, const struct spn_kind *k, struct spn_text ns,
                            struct spn_text name, enum spn_patch_kind kind, struct spn_text patch,
                            const struct spn_call *how, struct spn_arena *a, void *ret,
                            struct spn_err *err);
SPN_API int spn_typed_delete(struct spn_client *c, const struct spn_kind *k, struct spn_text ns,
                             struct spn_text name, const struct spn_delete *what,
                             const struct spn_call *how, struct spn_err *err);
/* `ret` is the address of a list of structs (.items, .n); `ret_page` may be NULL. */
SPN_API int spn_typed_list(struct spn_client *c, const struct spn_kind *k, struct spn_text ns,
                           const struct spn_select *which, const struct spn_call *how,
                           struct spn_arena *a, void *ret, struct spn_page *ret_page,
                           struct spn_err *err);

/* The shared informer of one namespace; an empty one: of all. */
SPN_API struct spn_informer *spn_typed_informer(struct spn_informers *all, const struct spn_kind *k,
                                                struct spn_text ns);
/* What a handler or a cache has. The struct does not need the object any more. */
SPN_API int spn_typed_of(const struct spn_kind *k, const struct spn_object *o, struct spn_arena *a,
                         void *ret, struct spn_err *err);
/* From an informer's cache. SPN_NOT_FOUND: it has no such object. */
SPN_API int spn_typed_cached(struct spn_cache *cache, const struct spn_kind *k, struct spn_text ns,
                             struct spn_text name, struct spn_arena *a, void *ret,
                             struct spn_err *err);
/* In the order of their keys. `labels` is a selector ("app=web"), or NULL: all of them. */
SPN_API int spn_typed_cached_list(struct spn_cache *cache, const struct spn_kind *k,
                                  struct spn_text ns, const char *labels, struct spn_arena *a,
                                  void *ret, struct spn_err *err);

#ifdef __cplusplus
}
#endif
