/* registry_internal.h - shared by the files that bring objects into the store. */
#pragma once

#include "api/meta.h"
#include "base/buf.h"
#include "server/registry/registry.h"
#include "server/registry/strategy.h"

/* registry_find() of an object of another resource, which a rule looks at; `ns` may be empty. */
int registry__read_other(struct call *c, struct str group, struct str plural, struct str ns,
                         struct str name, struct registry_entry *ret, struct err *err);
/* 0 removes it. */
void registry__set_revision(struct arena *a, struct value *obj, uint64_t rev);
/* registry_settle() where rules are still to be asked; with `*ret_has_empty` it has to be settled
 * again. */
int registry__settle_unchecked(struct call *c, struct value *obj, bool *ret_has_empty,
                               struct err *err);
/* What strategies need to know of the call. */
struct strategy registry__strategy(struct call *c);
/* metadata.namespace is the request's, or filled in from it; none in what has none. */
int registry__check_scope(struct call *c, struct value *meta, struct err *err);
struct meta_rules registry__meta_rules(struct call *c);
/* The warnings that an accepted object deserves. `old_obj` is NULL for a new one. */
void registry__warn(struct call *c, const struct value *obj, const struct value *old_obj);

/* Admission: what is changed before anything else is decided, and what is refused after all else
 * was found right. `old_obj` is NULL for a new object; `sub` as in struct registry_update. */
int registry__admit(struct call *c, struct str sub, struct value *obj, const struct value *old_obj,
                    struct err *err);
int registry__admit_check(struct call *c, struct str sub, const struct value *obj,
                          const struct value *old_obj, struct err *err);
/* Whether an update passes admission: that of the path that was asked for does, others are steps of
 * something that was admitted as a whole. */
bool registry__is_admitted(const struct call *c, struct str sub);
/* The same of a DELETE. */
int registry__admit_delete(struct call *c, struct str name, const struct value *obj,
                           struct err *err);
/* Notes what is wrong with an object because of another one: rules of validation that come first.
 * `sub` as in struct registry_update. */
int registry__check_others(struct call *c, struct field_errors *e, struct str sub,
                           const struct value *obj, const struct value *old_obj, struct err *err);
/* Whether the call is about objects of this resource, in whatever version. */
bool registry__is(const struct call *c, struct str group, struct str plural);
/* Keys that are written and deleted in one transaction with the object they belong to. */
struct registry_extra {
    struct store_op *ops; /* in the arena */
    size_t n;
};

/* The bytes that are stored for `obj`. A custom object is written in the storage version of its
 * kind, and becomes what will be read from it. */
int registry__bytes(struct call *c, struct value *obj, struct buf *out, struct err *err);

/* What follows from a write, once it is in the store: definitions of custom kinds take effect, and
 * go when the last of their objects has gone. */
void registry__written(struct call *c, struct str name, bool gone);

/* Removes the object, and what belongs to it, if it is still the one that was read: 0, 1 if
 * somebody was faster, or an error. */
int registry__remove(struct call *c, struct str name, const struct registry_entry *was,
                     uint64_t *ret_rev, struct err *err);
/* Stores it in that one's place: the same answers. */
int registry__replace(struct call *c, struct str name, const struct registry_entry *was,
                      struct value *obj, const struct registry_extra *extra, struct err *err);
/* Marked for deletion, and nothing holds it any more. */
bool registry__is_finished(const struct value *obj);
