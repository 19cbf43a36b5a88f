/* validate.h - what is wrong with an object of a built-in kind, beyond its metadata (meta.h).
 *
 * One function a kind for what is created, and one for what is changed, which sees the old object
 * too. Objects are of the storage version, trees as typed_read() leaves them, with their defaults
 * filled in. Every fault is noted, in upstream's words, order and paths. A kind without a row has
 * no rules. Rules only: no I/O, no clock.
 *
 * The resource is the one that the request came to: some of its older versions allow more, and
 * events have rules by group. */
#pragma once

#include "api/field_errors.h"
#include "api/kind.h"

void validate_create(struct field_errors *e, const struct kind_resource *r,
                     const struct value *obj);
void validate_update(struct field_errors *e, const struct kind_resource *r, const struct value *obj,
                     const struct value *old_obj);
/* A change through a subresource that has rules of its own ("status", "finalize", "approval",
 * "ephemeralcontainers", "resize"); others are changes like any other. */
void validate_update_sub(struct field_errors *e, const struct kind_resource *r, struct str sub,
                         const struct value *obj, const struct value *old_obj);

/* What is no fault but deserves a Warning header, each text once, in upstream's order. `old_obj` is
 * NULL when the object is new. */
enum { VALIDATE_WARNINGS_MAX = 64 };
struct validate_warnings {
    struct arena *arena;
    struct str texts[VALIDATE_WARNINGS_MAX];
    size_t n;
};
/* For those who find them: adds a text that is not there yet. */
void validate_add_warning(struct validate_warnings *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void validate_warn(struct validate_warnings *w, const struct kind_resource *r,
                   const struct value *obj, const struct value *old_obj);

/* Why a CustomResourceDefinition that was accepted in an older version is not what today's asks
 * for. */
void validate_structure(struct field_errors *e, const struct value *definition);
/* Each schema of a definition, at the path where faults in it are told: that of its version, or of
 * all of them where they are the same. */
void validate_each_schema(const struct value *definition,
                          void (*visit)(void *arg, const struct field_path *path,
                                        const struct value *schema),
                          void *arg);
