/* schema.h - the schema of a custom resource, compiled once and used for every object.
 *
 * openAPIV3Schema of a CustomResourceDefinition becomes a tree of small nodes: what may stand where
 * (pruning, defaulting, field ownership, CEL and OpenAPI look at that) and, apart, the rules that
 * values must follow. Nodes are immutable and lie in the arena they were compiled into; any thread
 * may read them. The definition was validated before; what a schema says that makes no sense is
 * left out. Rules only: no I/O, no clock. */
#pragma once

#include "api/field_errors.h"
#include "api/kind.h"
#include "base/regexp.h"

/* What `type` says; an int-or-string has two. None: anything. */
enum schema_type {
    SCHEMA_OBJECT = 1 << 0,
    SCHEMA_ARRAY = 1 << 1,
    SCHEMA_STRING = 1 << 2,
    SCHEMA_INTEGER = 1 << 3,
    SCHEMA_NUMBER = 1 << 4,
    SCHEMA_BOOLEAN = 1 << 5,
};

enum schema_flags {
    SCHEMA_NULLABLE = 1 << 0,
    SCHEMA_INT_OR_STRING = 1 << 1,
    SCHEMA_PRESERVE = 1 << 2,     /* unknown fields are kept */
    SCHEMA_EMBEDDED = 1 << 3,     /* an object with apiVersion, kind and metadata of its own */
    SCHEMA_ADDITIONAL = 1 << 4,   /* fields of any name; by `additional`, if that is there */
    SCHEMA_CLOSED = 1 << 5,       /* additionalProperties: false */
    SCHEMA_ATOMIC_MAP = 1 << 6,   /* x-kubernetes-map-type: atomic */
    SCHEMA_HAS_DEFAULTS = 1 << 7, /* here or below */
    SCHEMA_HAS_EMBEDDED = 1 << 8,
    SCHEMA_HAS_KEYED = 1 << 9, /* lists that are sets or maps, here or below */
    SCHEMA_HAS_EXPRESSIONS = 1 << 10,
};

struct schema_property;
struct schema_rules;
struct schema_expression;

struct schema {
    uint8_t types;     /* enum schema_type */
    uint8_t list_type; /* enum kind_merge: UNSAID, ATOMIC, SET or MAP */
    uint16_t flags;    /* enum schema_flags */
    uint32_t n_properties;
    const struct schema_property *properties; /* sorted by name */
    const struct schema *items;
    const struct schema *additional;
    const struct value *default_value;
    const struct schema_rules *rules;            /* NULL: none */
    const struct schema_expression *expressions; /* x-kubernetes-validations */
    const struct str *list_keys;
    uint32_t n_list_keys, n_expressions;
};

struct schema_property {
    struct str name;
    const struct schema *schema;
};

/* One of x-kubernetes-validations, as it was written. */
struct schema_expression {
    struct str rule, message, message_expression, reason, field_path;
    bool optional_old_self;
};

/* A number of the schema: the texts of messages depend on what it is compared with. */
struct schema_bound {
    bool is_set, exclusive;
    double value;
};

#define SCHEMA_NO_LIMIT INT64_MIN

struct schema_format;

/* Several schemas at once. */
struct schema_choice {
    const struct schema **of;
    size_t n;
};

struct schema_rules {
    struct schema_bound minimum, maximum, multiple_of;
    int64_t min_length, max_length, min_items, max_items, min_properties, max_properties;
    bool unique_items;
    const struct schema_format *format; /* one that is known for the type; NULL: none */
    const struct regexp *format_pattern;
    struct str format_name;
    struct str pattern;          /* empty: none */
    const struct regexp *regexp; /* NULL with a pattern: it does not compile */
    struct str regexp_fault;
    const struct value *values;         /* enum: an array; NULL: none */
    const struct value **sorted_values; /* its texts and numbers, if there are many */
    size_t n_sorted_values;
    const struct str *required;
    size_t n_required;
    struct schema_choice all_of, any_of, one_of;
    const struct schema *not_this;
};

/* `props` is a JSONSchemaProps; nothing of it is needed afterwards. Depth is bounded by that of
 * documents. */
const struct schema *schema_compile(struct arena *a, const struct value *props);

/* Whether `v` is one of `values`. Null never is; 1 and 1.0 are the same. */
bool schema_is_one_of(const struct schema_rules *r, const struct value *v);

/* NULL where the schema has no such property. */
const struct schema *schema_property(const struct schema *s, struct str name);
/* The schema of a field of an object: of the property, else of any field. NULL: unknown. */
const struct schema *schema_field(const struct schema *s, struct str name);

/* ---- Making an object fit (schema_walk.c); `obj` belongs to the arena ---- */

/* Takes away what the schema does not have. `root` is the whole resource, whose apiVersion, kind
 * and metadata stay; a NULL schema has nothing. `unknown`, if not NULL, gets the paths of what went
 * ("spec.x", "spec.list[0].y"), sorted; at most SCHEMA_UNKNOWN_MAX. */
enum { SCHEMA_UNKNOWN_MAX = 100 };
struct schema_unknown {
    struct str paths[SCHEMA_UNKNOWN_MAX];
    size_t n;
};
void schema_prune(struct arena *a, const struct schema *s, struct value *obj, bool root,
                  struct schema_unknown *unknown);
/* Takes away nulls where null may not stand and no default would take their place. */
void schema_drop_nulls(struct arena *a, const struct schema *s, struct value *obj);
void schema_default(struct arena *a, const struct schema *s, struct value *obj);

/* ---- Embedded resources (schema_embedded.c) ---- */

/* Makes metadata inside of `obj` fit; not those of the root. ERR_BAD_REQUEST in upstream's words.
 */
int schema_coerce(struct arena *a, const struct schema *s, struct value *obj,
                  struct schema_unknown *unknown, struct err *err);
/* `path` is NULL for a whole resource. */
void schema_check_embedded(struct field_errors *e, const struct schema *s,
                           const struct field_path *path, const struct value *obj);

/* ---- What is wrong with an object ---- */

/* `old` is NULL on create. On update, faults in parts that did not change are forgiven. `path` is
 * NULL for a whole resource. */
void schema_validate(struct field_errors *e, const struct schema *s, const struct field_path *path,
                     const struct value *obj, const struct value *old);
/* Items of sets and keyed lists that are there twice. */
void schema_check_lists(struct field_errors *e, const struct schema *s, const struct value *obj);
