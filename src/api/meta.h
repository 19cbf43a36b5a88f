/* meta.h - the rules that every object's metadata follows, on creation and on update.
 *
 * Objects are trees as typed_read() leaves them, and by now have their name generated and their
 * namespace filled in from the request; fields of another type count as absent. Faults are noted in
 * upstream's words and order (of a map, by its keys), those of metadata before any of the kind's
 * own. Rules only: no clock, no I/O, nothing is changed. */
#pragma once

#include "api/field_errors.h"
#include "api/names.h"

struct meta_rules {
    enum name_rule name;
    bool namespaced;
    bool qualified_finalizers; /* a finalizer is DOMAIN/NAME or one of the three old ones */
};

/* Of a built-in resource. Custom ones have { NAME_SUBDOMAIN, namespaced, false }. */
struct meta_rules meta_rules_of(struct str group, struct str resource, bool namespaced);

void meta_validate_create(struct field_errors *e, const struct meta_rules *rules,
                          const struct value *object);

/* What upstream does to the new metadata before it looks at them is the caller's: an absent uid
 * and, once set, the times of creation and deletion are taken from the old object. */
void meta_validate_update(struct field_errors *e, const struct meta_rules *rules,
                          const struct value *new_obj, const struct value *old_obj);

/* The same two checks wherever metadata of another object are embedded, e.g. in a template. */
void meta_check_labels(struct field_errors *e, const struct field_path *path,
                       const struct value *labels);
void meta_check_annotations(struct field_errors *e, const struct field_path *path,
                            const struct value *annotations);

/* Whether it is DOMAIN/NAME or one of the three old ones. */
bool meta_is_finalizer(struct str name);

struct str meta_new_uid(struct arena *a); /* a random UUID */
