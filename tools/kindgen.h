/* kindgen.h - what kindgen_read.c makes of the files of kinds/ and kindgen_write.c turns into C.
 *
 * A tool that runs once and ends: what was read is one global, its memory one arena. */
#pragma once

#include <stdio.h>

#include "api/kind.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/value.h"

struct words {
    struct str *p;
    size_t n;
};

struct field {
    struct field *next;
    struct str name, ref; /* ref: "group/version.Type" of a struct */
    int64_t number;
    enum kind_scalar scalar;
    enum kind_shape shape;
    enum kind_merge merge;
    unsigned flags;
    bool has_default;
    bool is_filled; /* with a default that Go could tell from nothing */
    struct value default_value;
    struct str patch_key, gate, go_type;
    struct words list_keys, values;
};

struct union_row {
    struct union_row *next;
    struct str discriminator;
    struct words members;
};

struct type {
    struct type *next;
    struct str name, group, version, key; /* key: "group/version.Name" */
    struct field *fields, **last_field;
    struct union_row *unions;
    size_t n_fields, n_unions, id;
    struct str rule;   /* of defaulting; empty: none */
    bool has_defaults; /* at or below it */
    unsigned flags;
    enum kind_json_form form;
};

struct sub {
    struct sub *next;
    struct str name, ref;
    unsigned verbs;
};

struct resource {
    struct resource *next;
    int64_t order; /* of its version in discovery */
    bool is_old;
    struct str group, version, plural, singular, ref;
    bool namespaced;
    unsigned verbs;
    struct words short_names, categories, columns, selectors, aliases;
    struct str etcd_prefix, storage_version, storage_hash, deprecation;
    const struct resource *stored; /* NULL: itself */
    size_t id;
    struct sub *subs;
    size_t n_subs;
};

struct kinds {
    struct arena arena;
    struct type *types;
    size_t n_types;
    struct resource *resources; /* those that are served, in the order of discovery */
    struct map types_by_key;
};

extern struct kinds kinds;

/* A mistake ends the process with its file:line. Afterwards every type that is named is there. */
void kinds_read(int n_paths, char **paths);
void kinds_write(FILE *to);
