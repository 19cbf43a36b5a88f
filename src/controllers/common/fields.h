/* fields.h - short ways to what every controller reads in objects. Whatever is absent is empty, 0
 * or as said. */
#pragma once

#include <sampan/value.h>

/* A number; `otherwise` where there is none. */
static inline int64_t field_int(const struct spn_value *v, int64_t otherwise)
{
    int64_t i = otherwise;
    return spn_value_int(v, &i) ? i : otherwise;
}

static inline struct spn_text meta_text(const struct spn_value *obj, const char *key)
{
    return spn_value_text(spn_value_dig(obj, "metadata", key));
}

static inline struct spn_text meta_name(const struct spn_value *obj)
{
    return meta_text(obj, "name");
}

static inline struct spn_text meta_uid(const struct spn_value *obj)
{
    return meta_text(obj, "uid");
}

static inline bool meta_is_deleting(const struct spn_value *obj)
{
    return spn_value_type(spn_value_dig(obj, "metadata", "deletionTimestamp")) == SPN_STRING;
}

static inline int64_t meta_generation(const struct spn_value *obj)
{
    return field_int(spn_value_dig(obj, "metadata", "generation"), 0);
}

/* .p is NULL: it has no such annotation. */
static inline struct spn_text meta_annotation(const struct spn_value *obj, const char *key)
{
    return spn_value_text(spn_value_dig(obj, "metadata", "annotations", key));
}

/* spec.replicas, which is 1 if it is absent. */
static inline int64_t spec_replicas(const struct spn_value *obj)
{
    return field_int(spn_value_dig(obj, "spec", "replicas"), 1);
}

static inline int64_t status_int(const struct spn_value *obj, const char *key)
{
    return field_int(spn_value_dig(obj, "status", key), 0);
}

/* Text is copied to the arena. */
static inline void meta_annotate(struct spn_arena *a, struct spn_value *obj, const char *key,
                                 struct spn_text value)
{
    struct spn_value *all =
        spn_value_ensure(a, spn_value_ensure(a, obj, "metadata"), "annotations");
    spn_value_set_text(a, all, key, spn_arena_text(a, value));
}

/* Copies a field, if there is one. */
static inline void field_copy(struct spn_arena *a, struct spn_value *to,
                              const struct spn_value *from, const char *key)
{
    const struct spn_value *v = spn_value_get(from, key);
    if (v)
        spn_value_set(a, to, key, spn_value_copy(a, v));
}
