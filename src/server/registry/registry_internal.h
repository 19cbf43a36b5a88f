/* registry_internal.h - shared by the files that bring objects into the store. */
#pragma once

#include "admission/admission.h"
#include "api/meta.h"
#include "base/buf.h"
#include "server/registry/registry.h"
#include "server/registry/strategy.h"

/* registry_find() of an object of another resource, which a rule looks at; `ns` may be empty. */
int registry__read_other(struct call *c, struct str group, struct str plural, struct str ns,
                         struct str name, struct registry_entry *ret, struct err *err);
/* How long the object lives where the store ends it by itself; 0: for ever, or as expire.h says. */
uint32_t registry__ttl(const struct call *c);
/* store_commit(); the audit log hears how long it took. */
int registry__commit(struct call *c, struct store_txn *txn, struct err *err);
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

/* Keys that are written and deleted in one transaction with the object they belong to. */
struct registry_extra {
    struct store_op *ops; /* in the arena */
    size_t n;
    bool is_charged;    /* what admission has charged stands at the end */
    size_t charges_at;  /* from here on */
    struct str lost_to; /* the one of these keys that somebody else has written; usually empty */
    bool lost_charge;   /* it is one of the last: see registry__charge() */
};
void registry__extra_add(struct call *c, struct registry_extra *extra, struct store_op op);

/* Admission: what is changed before anything else is decided, and what is refused after all else
 * was found right. `old_obj` is NULL for a new object; `sub` as in struct registry_update. */
int registry__admit(struct call *c, struct str sub, struct value *obj, const struct value *old_obj,
                    struct err *err);
int registry__admit_check(struct call *c, struct str sub, const struct value *obj,
                          const struct value *old_obj, struct registry_extra *extra,
                          struct err *err);
/* Somebody else was charged: the same for the object, which was found good. Nobody else is asked
 * again, so webhooks hear of a write once. */
int registry__charge(struct call *c, struct str sub, const struct value *obj,
                     const struct value *old_obj, struct registry_extra *extra, struct err *err);
/* Whether an update passes admission: that of the path that was asked for does, others are steps of
 * something that was admitted as a whole. */
bool registry__is_admitted(const struct call *c, struct str sub);
/* The same of a DELETE. */
int registry__admit_delete(struct call *c, const struct delete_options *o, const struct value *obj,
                           struct err *err);
/* Notes what is wrong with an object because of another one: rules of validation that come first.
 * `sub` as in struct registry_update. */
int registry__check_others(struct call *c, struct field_errors *e, struct str sub,
                           const struct value *obj, const struct value *old_obj, struct err *err);
/* A resource that is served, in one of its versions. */
struct custom;
struct registry_kind {
    const struct kind_resource *resource; /* NULL: none */
    struct custom *custom;                /* the caller's reference, if it is one */
};
struct registry_kind registry__kind_named(const struct call *c, struct str api_version,
                                          struct str kind);
struct registry_kind registry__resource_named(const struct call *c, struct str group,
                                              struct str version, struct str plural);
/* As find_kind and each_of_kind of struct admission_cluster; `arg` is the call. */
int registry__find_kind(void *arg, struct str api_version, struct str kind, bool *ret_namespaced);
int registry__each_of_kind(void *arg, const struct admission_wanted *wanted, admission_take *take,
                           void *to, struct err *err);
/* Notes what whoever asks may not name in an object that is right otherwise. */
int registry__check_rights(struct call *c, struct field_errors *e, const struct value *obj,
                           const struct value *old_obj, struct err *err);
/* Whether the call is about objects of this resource, in whatever version. */
bool registry__is(const struct call *c, struct str group, struct str plural);
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
/* Stores it in that one's place: the same answers. After 1, extra->lost_to says whether it was one
 * of these. */
int registry__replace(struct call *c, struct str name, const struct registry_entry *was,
                      struct value *obj, struct registry_extra *extra, struct err *err);
/* Marked for deletion, and nothing holds it any more. */
bool registry__is_finished(const struct value *obj);
