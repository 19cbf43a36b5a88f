/* declared.h - the rules that upstream declares beside its types, as tables.
 *
 * Upstream checks most kinds twice: by hand, and by what is declared of each field (required, at
 * most so many items, one of these values, immutable, ...). Faults of the second sort come after
 * all of the first, and replace those of the first that say the same. A table here has what is
 * declared of a struct; what upstream declares but does not enforce yet is not in it.
 *
 * On an update, what is as it was is not looked at again: items of a list are paired with the old
 * ones by their keys, or by being equal. Rules only: no I/O, no state. */
#pragma once

#include "api/field_errors.h"

enum declared_flags {
    DECLARED_REQUIRED = 1 << 0,
    DECLARED_POINTER = 1 << 1, /* zero is a value */
    DECLARED_FORBIDDEN = 1 << 2,
    DECLARED_IMMUTABLE = 1 << 3,
    DECLARED_NO_MODIFY = 1 << 4, /* may be set and unset, but not changed */
    DECLARED_UNIQUE = 1 << 5,    /* items differ: in their keys, or as a whole */
    DECLARED_MIN = 1 << 6,       /* see `min` */
    DECLARED_MAP = 1 << 7,       /* text to what `type` says */
    DECLARED_STRUCT = 1 << 8,    /* always there: looked at even where the tree has nothing */
};

/* What a text looks like; of a list each item, of a map each key. */
enum declared_format {
    DECLARED_ANY,
    DECLARED_SHORT_NAME,
    DECLARED_LONG_NAME,
    DECLARED_LONG_NAME_CASELESS,
    DECLARED_LABEL_KEY,
    DECLARED_UUID,
    DECLARED_POOL_NAME,     /* names joined by slashes */
    DECLARED_FULL_NAME,     /* DOMAIN/IDENTIFIER */
    DECLARED_EXTENDED_NAME, /* of an extended resource */
};

enum { DECLARED_KEYS_MAX = 4, DECLARED_MEMBERS_MAX = 8, DECLARED_VALUES_MAX = 8 };

struct declared_field {
    struct str name; /* without one: the end of the table */
    uint16_t flags;  /* enum declared_flags */
    uint8_t format;  /* enum declared_format */
    uint16_t max_items, max_bytes, max_chars, max_item_bytes; /* 0: no limit */
    int64_t min;
    struct str values[DECLARED_VALUES_MAX]; /* all that are allowed, in the order of the alphabet */
    struct str keys[DECLARED_KEYS_MAX];     /* what tells items of a list apart */
    const struct declared_type *type;       /* of a struct, of each item, of each value of a map */
};

/* Exactly one of the members is set. */
struct declared_union {
    struct str members[DECLARED_MEMBERS_MAX];
};

struct declared_type {
    const struct declared_union *one_of; /* NULL: none; not of a whole object */
    struct {
        struct str field, other;
    } needs[2]; /* a field that is set needs the other */
    const struct declared_field *fields;
};

/* A table for one file: DECLARED_TYPE(role, { STR("rules"), .type = &policy_rule }); */
#define DECLARED_TYPE(table, ...)                                                              \
    static const struct declared_field table##_fields[] = { __VA_ARGS__, { { NULL, 0 }, 0 } }; \
    static const struct declared_type table = { .fields = table##_fields }

/* `path` is NULL for a whole object, `old_obj` NULL for a new one. */
void declared_check(struct field_errors *e, const struct field_path *path,
                    const struct declared_type *type, const struct value *obj,
                    const struct value *old_obj);

/* One text by one rule. */
void declared_check_format(struct field_errors *e, const struct field_path *path,
                           enum declared_format format, struct str text);
