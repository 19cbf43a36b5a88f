/* ownership.h - objects seen as field paths: which ones an object has, what changed between two,
 * and what an applied configuration makes of a live object.
 *
 * The rules of upstream's structured merge: scalars and atomic lists, maps and structs are leaves;
 * granular maps and structs are taken field by field, lists that are sets or have keys item by
 * item. What stands where is asked of a struct of functions, so that kind tables and schemas of
 * custom resources do alike.
 *
 * Objects are never changed; results borrow text and whole subtrees from them. Work is near linear
 * in their sizes; objects deeper than LIMIT_FIELD_DEPTH are refused. Lists whose items cannot be
 * told apart are refused in upstream's words (ERR_UNKNOWN). Rules only: no I/O. */
#pragma once

#include "api/kind.h"
#include "merge/fieldset.h"

/* Where in a schema something stands; what the two mean is the schema's own matter. */
struct ownership_place {
    const void *at;
    unsigned mode;
};

enum ownership_form {
    OWNERSHIP_LEAF,
    OWNERSHIP_FIELDS, /* a granular map or struct */
    OWNERSHIP_SET,    /* a list of scalars */
    OWNERSHIP_KEYED,  /* a list of objects, told apart by `keys` */
};

struct ownership_shape {
    enum ownership_form form;
    const struct str *keys;
    size_t n_keys;
};

/* What may stand at a place, beside null. */
enum ownership_type {
    OWNERSHIP_ANYTHING,
    OWNERSHIP_NUMBER,
    OWNERSHIP_TEXT,
    OWNERSHIP_BOOLEAN,
    OWNERSHIP_SCALAR, /* any of them */
    OWNERSHIP_LIST,
    OWNERSHIP_MAP,
    OWNERSHIP_NOWHERE, /* nothing: the schema has no such field */
};

struct ownership_schema {
    /* `v` matters only where a schema allows more than one type. */
    struct ownership_shape (*shape)(struct ownership_place place, const struct value *v);
    /* Whether the schema names the field; if not, `*ret` is where the items of a map stand. */
    bool (*field)(struct ownership_place place, struct str name, struct ownership_place *ret);
    struct ownership_place (*item)(struct ownership_place list);
    /* What counts as the key of items of this list that leave it out; NULL: nothing. */
    const struct value *(*key_default)(struct ownership_place list, struct str key);
    enum ownership_type (*type)(struct ownership_place place);
};

/* Kind tables. */
extern const struct ownership_schema ownership_kinds;
struct ownership_place ownership_kind(const struct kind_type *type);

/* Every leaf and every item of a list or map that an object has. */
int ownership_paths(struct arena *a, const struct ownership_schema *schema,
                    struct ownership_place place, const struct value *v,
                    const struct fieldset **ret, struct err *err);

struct ownership_changes {
    const struct fieldset *removed, *modified, *added;
};

int ownership_compare(struct arena *a, const struct ownership_schema *schema,
                      struct ownership_place place, const struct value *old_v,
                      const struct value *new_v, struct ownership_changes *ret, struct err *err);

/* The live object with everything the configuration says. Nothing goes away; items of lists come
 * in the order of the configuration, others keep their place between them. */
int ownership_merge(struct arena *a, const struct ownership_schema *schema,
                    struct ownership_place place, const struct value *live,
                    const struct value *applied, struct value *ret, struct err *err);

/* The object without these fields and items. A container that loses everything becomes null. */
struct value ownership_remove(struct arena *a, const struct ownership_schema *schema,
                              struct ownership_place place, const struct value *v,
                              const struct fieldset *paths);

/* The set, and the fields that the schema names among those that have members below them. */
const struct fieldset *ownership_named(struct arena *a, const struct ownership_schema *schema,
                                       struct ownership_place place, const struct fieldset *s);

/* Whether a configuration fits the schema and its items can be told apart. ERR_UNKNOWN with all
 * faults, each with its path, in upstream's words. */
int ownership_check(struct arena *a, const struct ownership_schema *schema,
                    struct ownership_place place, const struct value *v, struct err *err);
