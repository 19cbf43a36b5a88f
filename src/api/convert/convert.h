/* convert.h - an object of one version as the same object of another.
 *
 * Every kind has a hub: the version that is stored and that the rules look at. All others are
 * converted to it on the way in and from it on the way out. Most versions of a kind have the same
 * fields, and reading the object by the other's table is all there is to do. Where names, places or
 * meanings differ, the kind has a row in convert.c. Rules only: no I/O, any thread. */
#pragma once

#include "api/kind.h"
#include "base/err.h"
#include "base/value.h"

/* The hub of a kind, which may be of another group: apps/v1 for extensions/v1beta1 Deployment. It
 * is the highest version that has the kind, whether or not upstream stores that one. The type
 * itself where it is its own hub, or the only version, or no object of its own. Never NULL. */
const struct kind_type *convert_hub(const struct kind_type *t);

/* Whether objects of the one can be read as the other: both have the same hub. */
bool convert_same_kind(const struct kind_type *a, const struct kind_type *b);

/* `in` is of type `from`, as typed_read() leaves it; it is shared, not changed. The result has the
 * kind and apiVersion of `to`, which is of the same kind. On the way in, defaults of `from` are
 * applied before and those of the hub after; on the way out there are none. ERR_BAD_REQUEST where
 * an annotation that stands for a field holds nonsense; that is found, and such annotations are put
 * in order, also where both types are the hub. Objects only, no lists. */
int convert_object(struct arena *a, const struct kind_type *from, const struct kind_type *to,
                   struct value *in, struct value *ret, struct err *err);

/* An update through the version `old` must not lose what `old` has no place for. `live` is the
 * stored object and `obj` the new one, as convert_object() made it from `old`, before defaults of
 * the hub; both are of the hub. What stands in `live` comes into `obj` wherever `old` cannot say
 * it, by one rule: `live` as a reader of `old` sees it and sends it back is compared with `obj`;
 * where they agree, `live` stays as it is, and where they differ, `obj` counts. What `obj` has and
 * `live` has not always counts, even if only defaults of `old` have put it there, as upstream has
 * it. So an update that sends back what was read loses nothing and changes nothing that was there.
 *
 * Structs and maps are compared by field. Items of a list are the same if their list map keys are
 * equal, or else their patch merge keys, or else their `name`; where there is no such key, or one
 * repeats, they are the same as long as they are equal, from the front and from the back of the
 * list, and then, if as many are left on both sides, by their place, provided that all they say
 * outside of structs is equal.
 *
 * Of `live` nothing is changed; `obj` borrows from it. Nothing happens if `old` is the hub. */
int convert_keep(struct arena *a, const struct kind_type *old, const struct value *live,
                 struct value *obj, struct err *err);

/* An object of `sent`, as somebody outside has made it, as one of the hub: convert_object(), with
 * what `sent` has no place for taken from `live`, the hub's object that it is to replace (NULL:
 * none), and, if `sent` is of an old version, with the defaults of the hub. */
int convert_take(struct arena *a, const struct kind_type *sent, const struct kind_type *hub,
                 struct value *obj, const struct value *live, struct value *ret, struct err *err);

/* "apps/v1", or "v1" for the core group. In the arena. */
struct str convert_api_version(struct arena *a, const struct kind_type *t);
