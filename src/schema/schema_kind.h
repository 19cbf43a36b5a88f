/* schema_kind.h - a version of a custom kind, as the rest of the server sees kinds.
 *
 * Reading, defaulting, converting and validating an object of a custom kind go by its schema; these
 * are the functions that a struct kind_type points to. Converting is what the strategy None does:
 * the apiVersion changes and the object is made to fit. Rules only: no I/O. */
#pragma once

#include "schema/schema_cel.h"
#include "schema/schema_columns.h"

/* Where a scale subresource finds its numbers: ".spec.replicas". Empty paths: none. */
struct schema_scale {
    struct str spec_replicas, status_replicas, selector;
};

struct schema_kind {
    struct kind_custom custom; /* first: kind_type.custom points here */
    /* The compiled schema; NULL if there is none, and then everything goes. Any thread. */
    const struct schema *(*schema)(const struct schema_kind *k);
    /* The rules of the schema that are expressions, compiled; NULL: there are none. Any thread. */
    const struct schema_programs *(*programs)(const struct schema_kind *k);
    bool keeps_unknown; /* preserveUnknownFields of old definitions: nothing is pruned */
    struct schema_scale scale;
    const struct schema_columns *columns;
};

/* The functions for kind_custom. */
extern const struct kind_custom schema_kind_custom;

static inline const struct schema_kind *schema_kind_of(const struct kind_type *t)
{
    return (const struct schema_kind *)t->custom;
}

/* The value at a path like ".spec.replicas"; NULL: nothing there. */
const struct value *schema_scale_value(const struct value *obj, struct str path);
