/* kinds_file.h - the files of kinds/ as they stand there; kindgen makes tables of them, and the
 * generator structs.
 *
 * A file is read once by a command that then ends: what was read is one global, its memory one
 * arena. */
#pragma once

#include <stdio.h>

#include "api/kind.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/value.h"

struct kinds_words {
    struct str *p;
    size_t n;
};

struct kinds_field {
    struct kinds_field *next;
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
    struct kinds_words list_keys, values;
};

struct kinds_union {
    struct kinds_union *next;
    struct str discriminator;
    struct kinds_words members;
};

struct kinds_type {
    struct kinds_type *next;
    struct str name, group, version, key; /* key: "group/version.Name" */
    struct kinds_field *fields, **last_field;
    struct kinds_union *unions;
    size_t n_fields, n_unions, id;
    struct str rule;   /* of defaulting; empty: none */
    bool has_defaults; /* at or below it */
    unsigned flags;
    enum kind_json_form form;
};

struct kinds_sub {
    struct kinds_sub *next;
    struct str name, ref;
    unsigned verbs;
};

struct kinds_resource {
    struct kinds_resource *next;
    int64_t order; /* of its version in discovery */
    bool is_old;
    struct str group, version, plural, singular, ref;
    bool namespaced;
    unsigned verbs;
    struct kinds_words short_names, categories, columns, selectors, aliases;
    struct str etcd_prefix, storage_version, storage_hash, deprecation;
    const struct kinds_resource *stored; /* NULL: itself */
    size_t id;
    struct kinds_sub *subs;
    size_t n_subs;
};

struct kinds {
    struct arena arena;
    struct kinds_type *types;
    size_t n_types;
    struct kinds_resource *resources; /* those that are served, in the order of discovery */
    struct map types_by_key;
};

extern struct kinds kinds;

/* A mistake ends the process with its file:line. Afterwards every type that is named is there. */
void kinds_read(int n_paths, char **paths);
/* Frees all of it. */
void kinds_done(void);
