/* sampan/value.h - any object as a tree, for programs that have no struct for it.
 *
 *     struct spn_value *pod;
 *     if (spn_value_read_json(a, text, &pod, &err) < 0)
 *         ...
 *     struct spn_text node = spn_value_text(spn_value_dig(pod, "spec", "nodeName"));
 *
 * Absent is a NULL pointer, null is SPN_NULL, zero is a number: three different things. Field order
 * is kept, integers that fit are exact 64-bit, every other number keeps its decimal text. Whatever
 * reads takes NULL and then gives NULL, empty, 0 or false. A tree lies in an arena and belongs to
 * one thread at a time; what it was read from must live as long. */
#pragma once

#include <sampan/err.h>

#ifdef __cplusplus
extern "C" {
#endif

enum spn_type { SPN_NULL, SPN_BOOL, SPN_INT, SPN_NUMBER, SPN_STRING, SPN_ARRAY, SPN_OBJECT };

/* Reading and writing documents. SPN_MALFORMED says where the mistake is. */
SPN_API int spn_value_read_json(struct spn_arena *a, struct spn_text text, struct spn_value **ret,
                                struct spn_err *err);
SPN_API int spn_value_read_yaml(struct spn_arena *a, struct spn_text text, struct spn_value **ret,
                                struct spn_err *err);
SPN_API struct spn_text spn_value_json(struct spn_arena *a, const struct spn_value *v);

/* Looking. spn_value_dig(v, "spec", "nodeName") follows keys as far as there is something. */
SPN_API enum spn_type spn_value_type(const struct spn_value *v); /* SPN_NULL if absent */
SPN_API const struct spn_value *spn_value_get(const struct spn_value *obj, const char *key);
SPN_API const struct spn_value *spn_value_get_text(const struct spn_value *obj,
                                                   struct spn_text key);
SPN_API size_t spn_value_count(const struct spn_value *v); /* items or fields */
SPN_API const struct spn_value *spn_value_at(const struct spn_value *v, size_t i); /* of either */
/* The first item of a list whose field `key` is that text: a container by its name. */
SPN_API const struct spn_value *spn_value_find(const struct spn_value *list, const char *key,
                                               struct spn_text text);
SPN_API struct spn_text spn_value_key_at(const struct spn_value *obj, size_t i);
SPN_API const struct spn_value *spn_value_dig_path(const struct spn_value *v,
                                                   const char *const *path, size_t n);
#ifdef __cplusplus
extern "C++" {
template <typename... Keys> inline const spn_value *spn_value_dig(const spn_value *v, Keys... keys)
{
    const char *const path[] = { keys... };
    return spn_value_dig_path(v, path, sizeof...(keys));
}
}
#else
#define spn_value_dig(v, ...)                                     \
    spn_value_dig_path((v), (const char *const[]){ __VA_ARGS__ }, \
                       sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))
#endif
SPN_API struct spn_text spn_value_text(const struct spn_value *v); /* .p is NULL: it is no string */
SPN_API bool spn_value_int(const struct spn_value *v, int64_t *ret);
SPN_API bool spn_value_double(const struct spn_value *v, double *ret);
SPN_API bool spn_value_is_true(const struct spn_value *v);
SPN_API bool spn_value_eq(const struct spn_value *a, const struct spn_value *b);

/* Making. Text is lent; spn_arena_text() makes a copy. */
SPN_API struct spn_value *spn_value_new(struct spn_arena *a, enum spn_type type);
SPN_API struct spn_value *spn_value_new_text(struct spn_arena *a, struct spn_text t);
SPN_API struct spn_value *spn_value_new_int(struct spn_arena *a, int64_t i);
SPN_API struct spn_value *spn_value_new_bool(struct spn_arena *a, bool b);
SPN_API struct spn_value *spn_value_copy(struct spn_arena *a, const struct spn_value *v); /* deep */

/* Changing. `v` moves into the tree: it is not to be used in a second place. What is returned is
 * the place in the tree, good until the next change of the same container. */
SPN_API struct spn_value *spn_value_set(struct spn_arena *a, struct spn_value *obj, const char *key,
                                        const struct spn_value *v);
SPN_API void spn_value_set_text(struct spn_arena *a, struct spn_value *obj, const char *key,
                                struct spn_text t);
SPN_API void spn_value_set_int(struct spn_arena *a, struct spn_value *obj, const char *key,
                               int64_t i);
SPN_API void spn_value_set_bool(struct spn_arena *a, struct spn_value *obj, const char *key,
                                bool b);
/* The object at `key`, made if it is absent or null; NULL if it is something else. */
SPN_API struct spn_value *spn_value_ensure(struct spn_arena *a, struct spn_value *obj,
                                           const char *key);
SPN_API struct spn_value *spn_value_edit(struct spn_arena *a, struct spn_value *obj,
                                         const char *key); /* NULL if absent */
SPN_API struct spn_value *spn_value_edit_at(struct spn_arena *a, struct spn_value *arr, size_t i);
SPN_API struct spn_value *spn_value_push(struct spn_arena *a, struct spn_value *arr,
                                         const struct spn_value *v);
SPN_API void spn_value_remove(struct spn_arena *a, struct spn_value *obj, const char *key);
SPN_API void spn_value_remove_at(struct spn_arena *a, struct spn_value *arr, size_t i);

#ifdef __cplusplus
}
#endif
