/* cel.h - the Common Expression Language as Kubernetes uses it: compile once, evaluate often.
 *
 * An environment names the variables and their types. cel_compile() parses, expands macros and
 * checks types; what it returns is immutable and may be evaluated by any thread at the same time.
 * cel_eval() reads value trees in place (they are wrapped with their type, never converted as a
 * whole), takes its memory from the caller's arena and stops when its budget is used up. Rules
 * only: no I/O, no clock, no globals. README.md tells which libraries there are. */
#pragma once

#include "base/err.h"
#include "base/value.h"

/* ---- Types ---- */

enum cel_kind {
    CEL_DYN,
    CEL_ANY,
    CEL_NULL,
    CEL_BOOL,
    CEL_INT,
    CEL_UINT,
    CEL_DOUBLE,
    CEL_STRING,
    CEL_BYTES,
    CEL_TIMESTAMP,
    CEL_DURATION,
    CEL_LIST,
    CEL_MAP,
    CEL_OBJECT,   /* has fields; its name and cel_type.fields tell which */
    CEL_OPTIONAL, /* optional_type(T) */
    CEL_OPAQUE,   /* known by its name: kubernetes.Quantity, net.IP, ... */
    CEL_TYPE,     /* the type of types */
    CEL_PARAM,    /* a type parameter, of overloads and while checking */
    CEL_ERROR,    /* of a value: the evaluation failed; of a type: an error was reported */
};

/* What equality and `+` of a list mean (x-kubernetes-list-type). */
enum cel_list_type { CEL_LIST_ATOMIC, CEL_LIST_SET, CEL_LIST_MAP };

#define CEL_SIZE_UNKNOWN UINT64_MAX

struct cel_type;

/* How a field of an object is called in a tree and what it is. */
struct cel_field {
    const struct cel_type *type;
    struct str name; /* in expressions: escaped, see cel_escape() */
    struct str key;  /* in the tree */
};

/* Finds the fields of object types: one of these per source of types (a CRD's schema, kind tables,
 * a handful of declared fields). Both are called while compiling and evaluating, from any thread;
 * false if there is no such field. `ret->type` must live as long as the type itself; by_name may
 * leave it NULL for a field that must not be set, which upstream has other words for. */
struct cel_fields {
    bool (*by_name)(const struct cel_type *object, struct str name, struct cel_field *ret);
    bool (*by_key)(const struct cel_type *object, struct str key, struct cel_field *ret);
};

/* Types are immutable and may be shared. Those without parameters are the constants below; the
 * others are made by cel_type_*() or filled in by hand, zeroed first. */
struct cel_type {
    enum cel_kind kind;
    uint8_t n_params;
    bool nullable;     /* a tree may have null for it (a schema's nullable: true) */
    bool wrapper;      /* null may be assigned to it: wrapper(int) */
    bool is_date;      /* a timestamp whose text in the tree is a date alone */
    uint8_t list_type; /* enum cel_list_type */
    struct str name;   /* as type(x) names it: "int", "list", "google.protobuf.Timestamp" */
    const struct cel_type *params[2];
    /* The most characters, bytes, items or entries a value may have; for cost estimates. It is
     * looked at only along a path from a variable: self.spec.names[0]. */
    uint64_t max_size;
    /* CEL_OBJECT */
    const struct cel_fields *fields;
    const void *handle; /* for `fields` */
    /* CEL_LIST_MAP: keys in the tree that tell items apart */
    const struct str *map_keys;
    size_t n_map_keys;
};

extern const struct cel_type cel_dyn, cel_any, cel_null, cel_bool, cel_int, cel_uint, cel_double,
    cel_string, cel_bytes, cel_timestamp, cel_duration;
/* A union of int and string that a tree has (x-kubernetes-int-or-string): dyn for the checker. */
extern const struct cel_type cel_int_or_string;
extern const struct cel_type cel_quantity, cel_ip, cel_cidr, cel_url, cel_semver;
extern const struct cel_type cel_authorizer, cel_request_resource_authorizer;

const struct cel_type *cel_type_list(struct arena *a, const struct cel_type *item);
const struct cel_type *cel_type_map(struct arena *a, const struct cel_type *key,
                                    const struct cel_type *val);
const struct cel_type *cel_type_optional(struct arena *a, const struct cel_type *t);
/* An object whose fields are listed: fields[i].key may be empty where it is the name. The array
 * is borrowed. */
const struct cel_type *cel_type_object(struct arena *a, struct str name,
                                       const struct cel_field *fields, size_t n);

/* The same from names and types alone:
 * CEL_OBJECT(a, "kubernetes.Kind", { "group", &cel_string }, { "kind", &cel_string }). */
struct cel_row {
    const char *name;
    const struct cel_type *type;
};
const struct cel_type *cel_type_rows(struct arena *a, const char *name, const struct cel_row *rows,
                                     size_t n);
#define CEL_OBJECT(a, name, ...)                                        \
    cel_type_rows((a), (name), (const struct cel_row[]){ __VA_ARGS__ }, \
                  sizeof((const struct cel_row[]){ __VA_ARGS__ }) / sizeof(struct cel_row))
/* As error messages have it: "list(int)", "map(string, dyn)". */
struct str cel_type_text(struct arena *a, const struct cel_type *t);

/* The name of a property as expressions write it: "a.b" is a__dot__b, "namespace" __namespace__.
 * False where it has none. In the arena, or `key` itself. */
bool cel_escape(struct arena *a, struct str key, struct str *ret);
bool cel_unescape(struct arena *a, struct str name, struct str *ret);

/* ---- Values ---- */

struct cel_list;
struct cel_sum;
struct cel_map;
struct cel_struct;
struct cel_lazy;

/* Small and copied freely; what it points to lies in the arena of the evaluation, in the tree it
 * wraps, or in the program. */
struct cel_value {
    uint8_t kind;  /* enum cel_kind; never DYN, ANY or PARAM */
    uint8_t form;  /* private: how a list or map is held */
    int16_t zone;  /* CEL_TIMESTAMP: minutes east of UTC that it was written with */
    int32_t nanos; /* CEL_TIMESTAMP: of `i`, 0 to 999999999 */
    union {
        bool b;
        int64_t i; /* CEL_INT; CEL_DURATION in nanoseconds; CEL_TIMESTAMP in seconds of Unix time */
        uint64_t u;
        double d;
        size_t n; /* CEL_STRING, CEL_BYTES, CEL_ERROR: length; a list that is no tree: items */
    };
    union {
        const char *text;            /* CEL_STRING, CEL_BYTES; CEL_ERROR: the message */
        const struct cel_type *type; /* CEL_TYPE */
        const struct value *tree;    /* a list or map that is a wrapped tree */
        struct cel_list *list;
        const struct cel_sum *sum; /* a list that is two lists, one behind the other */
        struct cel_map *map;
        struct cel_struct *object;     /* CEL_OBJECT that an expression made */
        const struct cel_lazy *lazy;   /* CEL_OBJECT whose fields are found by a callback */
        const struct cel_value *inner; /* CEL_OPTIONAL; NULL: none */
        const void *opaque;            /* CEL_OPAQUE */
    };
    const struct cel_type *declared; /* of a wrapped tree, an opaque or an object: its type */
};

/* Wraps a tree; NULL is null. With cel_dyn or cel_any it is what its JSON is. A tree that does not
 * fit its type gives an error value, whose words are upstream's. */
struct cel_value cel_wrap(struct arena *a, const struct value *tree, const struct cel_type *type);

struct cel_value cel_of_bool(bool b);
struct cel_value cel_of_int(int64_t i);
struct cel_value cel_of_uint(uint64_t u);
struct cel_value cel_of_double(double d);
struct cel_value cel_of_string(struct str s); /* valid UTF-8; borrowed */
struct cel_value cel_of_bytes(struct str s);
struct cel_value cel_of_null(void);
struct cel_value cel_of_error(struct str message);
struct cel_value cel_of_optional(struct arena *a, const struct cel_value *v); /* NULL: none */
struct cel_value cel_of_list(struct arena *a, const struct cel_value *items, size_t n);
/* keys[i] belongs to vals[i]; keys are distinct. */
struct cel_value cel_of_map(struct arena *a, const struct cel_value *keys,
                            const struct cel_value *vals, size_t n);
/* ERR_BAD_REQUEST if the text is no quantity or version; the value is in the arena. */
int cel_of_quantity(struct arena *a, struct str text, struct cel_value *ret, struct err *err);
int cel_of_semver(struct arena *a, struct str text, struct cel_value *ret, struct err *err);

/* An object whose fields are found when they are asked for: `variables`, an authorizer's inputs.
 * Called by the thread that evaluates; may itself call cel_eval(). An error value is an answer. */
struct cel_lazy {
    struct cel_value (*get)(const struct cel_lazy *self, struct arena *a, struct str field);
    bool (*has)(const struct cel_lazy *self, struct str field);
};
struct cel_value cel_of_lazy(const struct cel_lazy *lazy, const struct cel_type *object);

/* The other way round, for messages, patches and tests. */
struct str cel_text(const struct cel_value *v); /* text of a string or bytes, else empty */
size_t cel_size(const struct cel_value *v);     /* items or entries, else 0 */
struct cel_value cel_at(struct arena *a, const struct cel_value *list, size_t i);
/* Entry `i` of a map or of an object that an expression made, in no particular order. */
void cel_entry(struct arena *a, const struct cel_value *map, size_t i, struct cel_value *ret_key,
               struct cel_value *ret_val);
/* CEL's ==. False also where it would be an error, or too much work. */
bool cel_equal(struct arena *a, const struct cel_value *x, const struct cel_value *y);
/* As a tree that shares text with `v`: times and durations as text, bytes as base64, objects with
 * their set fields. ERR_INVALID for what JSON does not have, ERR_TOO_LARGE if it would be too
 * large or too deep, which a value that shares its parts can be, and allowance_error(). */
int cel_to_tree(struct arena *a, const struct cel_value *v, struct value *ret, struct err *err);

/* ---- The authorizer, answered by the caller ---- */

struct cel_authz_check {
    bool is_resource; /* else a check of a path */
    struct str path, group, resource, subresource, namespace, name, verb;
    struct str service_account, service_account_namespace; /* empty: the user of the request */
    struct str field_selector, label_selector;             /* as they were given */
};

struct cel_authz_decision {
    bool allowed;
    struct str reason, error; /* error: not empty if the question could not be answered */
};

/* The value of the variables `authorizer` and `authorizer.requestResource`. */
struct cel_authorizer {
    void (*decide)(const struct cel_authorizer *self, struct arena *a,
                   const struct cel_authz_check *check, struct cel_authz_decision *ret);
};
struct cel_value cel_of_authorizer(struct arena *a, const struct cel_authorizer *authorizer);
/* What is known of the request's resource; the verb is left for the expression. */
struct cel_value cel_of_request_resource(struct arena *a, const struct cel_authorizer *authorizer,
                                         const struct cel_authz_check *resource);

/* ---- Environment, program, evaluation ---- */

struct cel_variable {
    struct str name; /* may be qualified: "authorizer.requestResource" */
    const struct cel_type *type;
};

enum {
    CEL_ENV_JSON_PATCH = 1, /* jsonpatch.escapeKey(), for mutating policies */
    CEL_ENV_UNCHECKED = 2,  /* no type errors: all is dyn (conformance tests) */
    CEL_ENV_NO_MACROS = 4,  /* conformance tests */
    CEL_ENV_MIXED = 8,      /* lists and maps of different types are fine (conformance tests) */
};

/* Everything is borrowed and must outlive the programs. */
struct cel_env {
    const struct cel_variable *variables;
    size_t n_variables;
    /* Object types that may be named: Object.spec{...}. NULL if there are none. Finds by name. */
    const struct cel_type *(*object_type)(const struct cel_env *env, struct str name);
    const void *handle;   /* for object_type */
    struct str container; /* the namespace that names are looked up in; usually empty */
    unsigned flags;
    /* Seconds east of UTC of a zone of the IANA database at a time, or false if there is no such
     * zone. NULL: only UTC, Local and fixed offsets are known. */
    bool (*zone_offset)(struct str zone, int64_t at, int32_t *ret);
};

struct cel_program; /* immutable; lies in the arena it was compiled into */

/* ERR_INVALID with the issues as upstream prints them:
 *   ERROR: <input>:1:6: undeclared reference to 'x' (in container '')\n | self.x\n | .....^
 * `expression` is copied. ERR_BAD_REQUEST: it is well typed, but what is constant in it fails; then
 * `*ret` has a type and cannot be evaluated. */
int cel_compile(struct arena *a, const struct cel_env *env, struct str expression,
                const struct cel_program **ret, struct err *err);

const struct cel_type *cel_program_type(const struct cel_program *p);
/* Whether the expression refers to the variable (by its index in the environment). */
bool cel_program_uses(const struct cel_program *p, size_t variable);
/* Whether it asks for this field of it: v.field, has(v.field) or v.?field. */
bool cel_program_selects(const struct cel_program *p, struct str variable, struct str field);

/* The least and the most that an evaluation may cost, by the sizes that the types declare.
 * `scratch` holds what the estimate needs on the way. */
struct cel_cost {
    uint64_t min, max;
};
struct cel_cost cel_program_cost(struct arena *scratch, const struct cel_program *p);

/* `vars` are the environment's variables in its order. On success `*ret` is not an error.
 * ERR_INVALID: the expression failed; the message is upstream's ("no such key: x").
 * ERR_TOO_LARGE: the budget was used up, or what LIMIT_CEL_EVAL_* allow beside it.
 * allowance_error() if the allowance of the arena has ended. `*ret_cost` is set in every case. */
int cel_eval(struct arena *a, const struct cel_program *p, const struct cel_value *vars,
             uint64_t budget, struct cel_value *ret, uint64_t *ret_cost, struct err *err);
