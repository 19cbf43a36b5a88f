/* sampan/object.h - an object as caches keep it: sealed, shared and small.
 *
 * The object in a short form, and the few facts that controllers ask for all the time. It never
 * changes; readers of all threads share it by reference. Whoever wants to look
 * inside reads it into a tree (spn_object_value) or into a struct (generated code), in an arena of
 * his own. */
#pragma once

#include <sampan/value.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spn_object;

/* Seals a copy of a tree, which has metadata.name. SPN_INVALID otherwise. */
SPN_API int spn_object_new(const struct spn_value *v, struct spn_object **ret, struct spn_err *err);
SPN_API struct spn_object *spn_object_ref(const struct spn_object *o);
SPN_API struct spn_object *spn_object_unref(struct spn_object *o); /* NULL will do; returns NULL */

/* All of these are lent by the object. Empty: it has none. */
SPN_API struct spn_text spn_object_key(const struct spn_object *o); /* "NAMESPACE/NAME" or "NAME" */
SPN_API struct spn_text spn_object_namespace(const struct spn_object *o);
SPN_API struct spn_text spn_object_name(const struct spn_object *o);
SPN_API struct spn_text spn_object_uid(const struct spn_object *o);
SPN_API struct spn_text spn_object_version(const struct spn_object *o); /* resourceVersion */
SPN_API int64_t spn_object_generation(const struct spn_object *o);
SPN_API bool spn_object_is_deleting(const struct spn_object *o); /* it has a deletionTimestamp */
SPN_API size_t spn_object_bytes(const struct spn_object *o);     /* of memory */

/* Whether a value has this text in it, as JSON writes it. Quick: nothing is read. */
SPN_API bool spn_object_has_text(const struct spn_object *o, struct spn_text text);

/* The value of a label; .p is NULL if it has no such label. In the arena. */
SPN_API struct spn_text spn_object_label(const struct spn_object *o, struct spn_arena *a,
                                         const char *key);

/* The owner that controls it. In the arena. */
struct spn_owner {
    struct spn_text api_version, kind, name, uid;
};
SPN_API bool spn_object_controller(const struct spn_object *o, struct spn_arena *a,
                                   struct spn_owner *ret);

/* The whole of it, as JSON and as a tree. Both lie in the arena and are the caller's. */
SPN_API struct spn_text spn_object_json(const struct spn_object *o, struct spn_arena *a);
SPN_API struct spn_value *spn_object_value(const struct spn_object *o, struct spn_arena *a);
/* Only its metadata. */
SPN_API struct spn_value *spn_object_meta(const struct spn_object *o, struct spn_arena *a);

/* References to some of them, in one block. */
struct spn_objects {
    struct spn_object **items;
    size_t n;
};
SPN_API void spn_objects_done(struct spn_objects *all); /* gives the references back */

#ifdef __cplusplus
}
#endif
