/* field_errors.h - what is wrong with the fields of an object, in the words of a Status reply.
 *
 * A rule walks an object with a path that costs nothing until something is wrong, and notes each
 * fault. At the end the faults become one error with a cause for each: every fault is a cause, in
 * the order in which it was found; the message lists equal ones once.
 *
 * An object may have a fault in every few bytes, and each costs hundreds to report. Past
 * LIMIT_FIELD_ERRORS faults or LIMIT_FIELD_ERROR_BYTES of text they are counted but not kept. */
#pragma once

#include "base/err.h"
#include "base/value.h"

enum field_error_type {
    FIELD_REQUIRED,
    FIELD_INVALID,
    FIELD_NOT_SUPPORTED,
    FIELD_FORBIDDEN,
    FIELD_TOO_LONG,
    FIELD_TOO_SHORT,
    FIELD_TOO_MANY,
    FIELD_TOO_FEW,
    FIELD_DUPLICATE,
    FIELD_NOT_FOUND,
    FIELD_TYPE_INVALID,
    FIELD_INTERNAL,
    FIELD_ERROR_TYPE_COUNT,
};

/* A place in an object. Lies on the stack of whoever walks there; its parents outlive it. */
struct field_path {
    const struct field_path *parent; /* NULL for the outermost field */
    struct str name;                 /* of a field, or the key of a map; without one an index */
    size_t index;
    bool is_key;
};

static inline struct field_path field_child(const struct field_path *parent, struct str name)
{
    return (struct field_path){ .parent = parent, .name = name };
}
static inline struct field_path field_key(const struct field_path *parent, struct str key)
{
    return (struct field_path){ .parent = parent, .name = key, .is_key = true };
}
static inline struct field_path field_index(const struct field_path *parent, size_t index)
{
    return (struct field_path){ .parent = parent, .index = index };
}

struct validate_warnings;

struct field_errors {
    struct arena *arena; /* holds all texts */
    struct err_cause *first, **last;
    struct validate_warnings *warnings; /* for faults that are forgiven; NULL: nobody asks */
    size_t n;                           /* noted, kept or not */
    size_t bytes;                       /* of text that is kept */
};

#define FIELD_ERRORS_INIT(arena_ptr) ((struct field_errors){ .arena = (arena_ptr) })

/* The bad value as a message shows it: text in Go's quotes, anything else (and text of a named
 * string type) as JSON. Absent is null. Empty when there is no more room for faults. */
struct str field_quoted(struct field_errors *e, struct str text);
struct str field_json(struct field_errors *e, const struct value *v);
struct str field_shown(struct field_errors *e, const struct value *v); /* either, by what it is */

/* Notes one fault. `shown` is the bad value, empty where the type shows none; the detail may be
 * empty too. */
void field_error(struct field_errors *e, enum field_error_type type, const struct field_path *path,
                 struct str shown, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void field_required(struct field_errors *e, const struct field_path *path, const char *detail);
void field_too_long(struct field_errors *e, const struct field_path *path, size_t max_bytes);
/* `values` are the ones that would do, in the order in which the message lists them. */
void field_not_supported(struct field_errors *e, const struct field_path *path, struct str shown,
                         const struct str *values, size_t n);

/* Forgets each fault that was noted before in the same words, as upstream does where rules are
 * declared too. */
void field_errors_unique(struct field_errors *e);

/* Moves the faults of `from`, which has the same arena, to the end of `e`: in their order, or in
 * that of their fields and words. */
void field_errors_add(struct field_errors *e, struct field_errors *from);
void field_errors_add_sorted(struct field_errors *e, struct field_errors *from);

/* The same, each before the first fault of `e` that it comes before: `cmp` compares the texts of
 * paths as qsort() wants it. Both keep their own order. */
void field_errors_merge(struct field_errors *e, struct field_errors *from,
                        int (*cmp)(struct str path, struct str other));

/* "<nil>" without a path: what upstream says of the object as a whole. */
struct str field_path_text(struct arena *a, const struct field_path *path);

/* All that was noted, as upstream joins it where it tells no object: one fault, or several in
 * brackets. In the arena. */
struct str field_errors_text(const struct field_errors *e);

/* 0 if nothing was noted, else ERR_INVALID with the message and the causes. `err` has the arena
 * of `e`. Rules give up when the allowance of that arena has ended: then it is allowance_error(),
 * whatever was noted. */
int field_errors_report(const struct field_errors *e, struct str group, struct str kind,
                        struct str name, struct err *err);
