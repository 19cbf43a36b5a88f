/* model.h - types and kinds as the writer of C code needs them, wherever they come from.
 *
 * A model lies in one arena. It comes from a CustomResourceDefinition (model_crd.c) or from files
 * of kinds/ (model_kinds.c); an annotated header becomes a definition first (annotated_crd.h). */
#pragma once

#include <sampan/typed.h>

#include "base/err.h"
#include "base/value.h"

struct model_type;

struct model_field {
    struct model_field *next;
    struct str json, member; /* its names in JSON and in C */
    struct str about;        /* one sentence for people, or empty */
    enum spn_what what;
    enum spn_shape shape;
    struct model_type *type;   /* SPN_IS_STRUCT */
    struct model_field *inner; /* SPN_IS_NESTED; its shape is no SPN_ONE */
};

struct model_type {
    struct model_type *next;
    struct str name; /* of the struct */
    struct str about;
    /* Where the library declares it: "sampan/api/meta_v1.h". Empty: it is written here. */
    struct str header;
    struct model_field *fields, **last_field;
    bool has_list, has_map; /* struct NAME_list, NAME_map are used */
    bool is_seen;           /* by a walk of the writer */
};

struct model_kind {
    struct model_kind *next;
    struct str group, version, kind, plural; /* the core group is "" */
    bool is_namespaced;
    bool has_status;  /* as a subresource */
    unsigned verbs;   /* enum kind_verb */
    unsigned skipped; /* enum client_verb: calls that its author does not want */
    struct model_type *type;
};

struct model {
    struct arena *arena;
    struct str file; /* the files are gen_FILE.h and gen_FILE.c */
    struct model_type *types, **last_type;
    struct model_kind *kinds, **last_kind;
    bool is_library; /* what it declares is exported, and includes are of the library */
};

void model_init(struct model *m, struct arena *a);
struct model_type *model_find(const struct model *m, struct str name);
struct model_type *model_add_type(struct model *m, struct str name);
struct model_kind *model_add_kind(struct model *m);
/* A member whose name another one has gets a number behind it. */
struct model_field *model_add_field(struct model *m, struct model_type *t, struct str json);

/* The type of that name that the library has, such as meta_v1_condition; NULL if there is none. */
struct model_type *model_library_type(struct model *m, struct str name);
/* Notes that lists or maps of it are used. */
void model_use(struct model_field *f);

/* Adds the kind of a CustomResourceDefinition and all types below it. `version`: empty for the one
 * that is stored. `prefix`: what names start with, empty for the name of the kind. ERR_INVALID. */
int model_from_crd(struct model *m, const struct value *crd, struct str version, struct str prefix,
                   struct err *err);

/* The annotation in which a definition says how its structs are called: "PATH=NAME", with spaces in
 * between. An empty path is the kind itself. */
#define MODEL_NAMES_ANNOTATION "generate.sampan.io/struct-names"
/* And which calls are not made: "create,update" (client_verbs.h). */
#define MODEL_SKIP_ANNOTATION "generate.sampan.io/skip-verbs"

/* All types of one version, by files of kinds/ that have been read (kinds_file.h). `group` is its
 * first word: "apps". ERR_NOT_FOUND. */
int model_from_kinds(struct model *m, struct str group, struct str version, struct err *err);
