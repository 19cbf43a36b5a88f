/* registry_internal.h - shared by the files that bring objects into the store. */
#pragma once

#include "api/meta.h"
#include "server/registry.h"

/* 1 and `*ret`, 0 if there is none, or an error. */
int registry__read(struct call *c, struct str name, struct registry_entry *ret, struct err *err);
/* 0 removes it. */
void registry__set_revision(struct arena *a, struct value *obj, uint64_t rev);
int registry__settle(struct call *c, struct value *obj, struct err *err);
struct str registry__now(struct call *c); /* as metadata has it */
/* metadata.namespace is the request's, or filled in from it; none in what has none. */
int registry__check_scope(struct call *c, struct value *meta, struct err *err);
struct meta_rules registry__meta_rules(struct call *c);
/* The warnings that an accepted object deserves. `old_obj` is NULL for a new one. */
void registry__warn(struct call *c, const struct value *obj, const struct value *old_obj);

/* Removes the object if it is still the one that was read: 0, 1 if somebody was faster, or an
 * error. */
int registry__remove(struct call *c, struct str name, const struct registry_entry *was,
                     uint64_t *ret_rev, struct err *err);
/* Stores it in that one's place: the same answers. */
int registry__replace(struct call *c, struct str name, const struct registry_entry *was,
                      struct value *obj, struct err *err);
/* Marked for deletion, and nothing holds it any more. */
bool registry__is_finished(const struct value *obj);
