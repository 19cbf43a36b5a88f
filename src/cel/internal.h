/* internal.h - what the files of this folder share: the program, the state of an evaluation,
 * overloads, and values from the inside. */
#pragma once

#include "base/limits.h"
#include "cel/ast.h"
#include "cel/cel.h"

/* ---- Types (types.c) ---- */

extern const struct cel_type cel__error, cel__type, cel__format;
extern const struct cel_type cel__path_check, cel__group_check, cel__resource_check, cel__decision;

bool cel__type_same(const struct cel_type *x, const struct cel_type *y);
/* The types that expressions can name ("int", "google.protobuf.Timestamp", "net.IP"), or NULL. */
const struct cel_type *cel__type_named(struct str name);
/* The type of a value, without parameters. */
const struct cel_type *cel__type_of(const struct cel_value *v);
/* Whether a value may be an argument where this type is declared; looks at first items only. */
struct cel__eval;
bool cel__type_admits(struct cel__eval *ev, const struct cel_type *t, const struct cel_value *v);
static inline bool cel__type_is_dyn(const struct cel_type *t)
{
    return t->kind == CEL_DYN || t->kind == CEL_ANY;
}

/* ---- Program and evaluation ---- */

struct cel_program {
    const struct cel_env *env;
    struct ast_node *root;
    const struct cel_type *type;
    size_t n_slots, n_nodes;
    bool *uses; /* by variable */
};

struct cel__index; /* of the keys of a tree that is an object with many fields */

struct cel__eval {
    struct arena *arena;
    const struct cel_program *program; /* NULL outside an evaluation */
    const struct cel_value *vars;
    struct cel_value *slots;
    uint64_t cost, budget;
    uint64_t steps;   /* of work done */
    uint64_t look_at; /* so many steps: then the bounds are looked at */
    size_t held_max;  /* what the arena may hold in the end */
    unsigned depth;   /* of the value that is being looked at, inside others */
    bool exceeded;
    struct cel__index **indexes;  /* by hash of the tree; NULL while there are none */
    const struct regexp *pattern; /* of the call being made, where it is constant */
};

/* One without a program and with any budget, for values that are made or read from outside. */
struct cel__eval cel__outside(struct arena *a);

/* Adds to the cost; false once the budget is exceeded. */
bool cel__charge(struct cel__eval *ev, uint64_t cost);

/* The cost is upstream's and at times blind to what a call does: equal lists of lists cost as much
 * as equal lists. So work is bounded by itself, in steps and in bytes of the arena, while it is
 * done. False once it is too much, or the allowance of the arena has ended; whoever loops then
 * stops, with whatever result, since the evaluation has failed. */
bool cel__look(struct cel__eval *ev);
static inline bool cel__work(struct cel__eval *ev, uint64_t steps)
{
    ev->steps += steps;
    return ev->steps < ev->look_at || cel__look(ev);
}
static inline bool cel__work_on_text(struct cel__eval *ev, size_t bytes)
{
    return cel__work(ev, 1 + bytes / 64);
}
static inline void cel__exceed(struct cel__eval *ev)
{
    ev->exceeded = true;
    ev->look_at = 0;
}
/* Before so much is taken from the arena at once. */
bool cel__afford(struct cel__eval *ev, size_t bytes);
/* Before so much text is made. */
bool cel__afford_text(struct cel__eval *ev, size_t bytes);
/* One level into values inside values, for recursion; cel__leave() if that is true. */
bool cel__enter(struct cel__eval *ev);
static inline void cel__leave(struct cel__eval *ev)
{
    ev->depth--;
}
/* What ev->exceeded, or the allowance, means as an error; not both are open. */
int cel__exceeded(const struct cel__eval *ev, struct err *err);

struct cel_value cel__eval_node(struct cel__eval *ev, const struct ast_node *n);

/* Sets a message that may hold any byte, NUL too. */
int cel__set_err(struct err *err, enum err_code code, struct str msg);

/* Errors as values. */
struct cel_value cel__fail(struct cel__eval *ev, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), cold));
#define cel__error_text(lit) \
    ((struct cel_value){ .kind = CEL_ERROR, .n = sizeof(lit) - 1, .text = "" lit })
#define CEL__NO_OVERLOAD cel__error_text("no such overload")
#define CEL__CANCELLED   cel__error_text("operation cancelled: actual cost limit exceeded")

/* The pattern of the call being made, compiled now unless it is constant; NULL with an error. */
const struct regexp *cel__pattern(struct cel__eval *ev, const struct cel_value *pattern,
                                  struct err *err);

/* ---- Values (value.c, containers.c, equal.c, text.c) ---- */

enum cel__form { CEL__TREE, CEL__ITEMS, CEL__SUM, CEL__ENTRIES, CEL__STRUCT, CEL__LAZY };

struct cel_list {
    struct cel_value *items;
    size_t n, cap; /* views of the list end at or before n */
    bool shared;   /* a view has gone on with a copy: the next one need not */
};

struct cel_sum {
    struct cel_value left, right;
    unsigned depth; /* sums inside sums */
};

struct cel__entry {
    struct cel_value key, val;
};

struct cel_map {
    struct cel__entry *entries;
    size_t n, cap;
    uint32_t *slots; /* entry + 1 by hash of the key; NULL while there are few */
    size_t n_slots;
};

struct cel_struct {
    struct str *fields;
    struct cel_value *vals;
    size_t n;
};

static inline struct str cel__str(const struct cel_value *v)
{
    return (struct str){ v->text, v->n };
}

struct cel_value cel__timestamp(int64_t sec, int32_t nanos);
struct cel_value cel__duration(int64_t nanos);
struct cel_value cel__type_value(const struct cel_type *t);
struct cel_value cel__opaque(const struct cel_type *t, const void *p);

/* The text of a tree as what its type is (formats.c), or an error. */
struct cel_value cel__read_text(struct arena *a, struct str text, const struct cel_type *type);

size_t cel__size(const struct cel_value *v); /* of a list or map */
size_t cel__code_points(struct str s);
struct cel_value cel__item(struct cel__eval *ev, const struct cel_value *list, size_t i);
/* Items one after the other; `*pos` starts at 0. Each is a step of work. */
bool cel__list_next(struct cel__eval *ev, const struct cel_value *list, size_t *pos,
                    struct cel_value *ret);
/* A list that grows at its end: others that share its items do not see it. What it cannot afford it
 * does not have. */
struct cel_value cel__list_new(struct cel__eval *ev, size_t cap);
void cel__list_push(struct cel__eval *ev, struct cel_value *list, struct cel_value item);
/* x + y of lists, with the meaning of x's list type. */
struct cel_value cel__list_concat(struct cel__eval *ev, const struct cel_value *x,
                                  const struct cel_value *y);

/* A list whose items are told apart by themselves or by some fields (a set, a list with keys): by
 * what they are told apart, as a value that can be the key of a map. */
struct cel_value cel__item_key(struct cel__eval *ev, const struct cel_type *list,
                               const struct cel_value *item);

struct cel_value cel__map_new(struct cel__eval *ev, size_t cap);
/* False if the key is there already; then with `replace` its value is the new one. */
bool cel__map_put(struct cel__eval *ev, struct cel_value *map, struct cel_value key,
                  struct cel_value val, bool replace);
/* The value of a key; 0 if absent, -1 (with an error in `*ret`) if it cannot be a key. */
int cel__map_find(struct cel__eval *ev, const struct cel_value *map, const struct cel_value *key,
                  struct cel_value *ret);
/* Entries one after the other, a step of work each; `*pos` starts at 0. A NULL `ret_val` is not
 * wanted. */
bool cel__map_next(struct cel__eval *ev, const struct cel_value *map, size_t *pos,
                   struct cel_value *ret_key, struct cel_value *ret_val);

/* The field of an object that an expression made or a callback knows; 0 if it is not set. */
int cel__object_field(struct cel__eval *ev, const struct cel_value *object, struct str field,
                      bool presence_only, struct cel_value *ret);

/* CEL's ==: a bool or an error. */
struct cel_value cel__equal(struct cel__eval *ev, const struct cel_value *x,
                            const struct cel_value *y);
static inline bool cel__is_true(struct cel_value v)
{
    return v.kind == CEL_BOOL && v.b;
}
/* -1, 0, 1 as an int, or an error. */
struct cel_value cel__compare(struct cel__eval *ev, const struct cel_value *x,
                              const struct cel_value *y);
uint64_t cel__hash(const struct cel_value *scalar); /* equal numbers have equal hashes */
/* Exact conversions between kinds of numbers; false if there is none. */
bool cel__double_to_int(double d, int64_t *ret);
bool cel__double_to_uint(double d, uint64_t *ret);

/* As error messages print a value. */
struct str cel__print(struct cel__eval *ev, const struct cel_value *v);
struct str cel__duration_text(struct arena *a, int64_t nanos); /* "3.5s" */
struct str cel__timestamp_text(struct arena *a, const struct cel_value *v);
struct str cel__double_text(struct arena *a, double d); /* shortest, as Go's %g with big limits */

/* ---- Overloads (overloads.c and the lib_*.c) ---- */

typedef struct cel_value cel__fn(struct cel__eval *ev, const struct cel_value *args, size_t n);

/* How a call is charged and estimated; see cost.c. */
enum cel__cost {
    CEL__COST_ONE,
    CEL__COST_EQUALS,
    CEL__COST_COMPARE_TEXT,
    CEL__COST_CONCAT_TEXT,
    CEL__COST_CONCAT_LIST,
    CEL__COST_IN_LIST,
    CEL__COST_INDEX_LIST,
    CEL__COST_INDEX_MAP,
    CEL__COST_AFFIX,
    CEL__COST_CONTAINS,
    CEL__COST_MATCHES,
    CEL__COST_TO_BYTES,
    CEL__COST_TO_STRING,
    CEL__COST_FORMAT_STRING,
    CEL__COST_QUOTE,
    CEL__COST_DYN,
    CEL__COST_TRAVERSE,
    CEL__COST_INCLUDES,
    CEL__COST_TEXT_ARG,
    CEL__COST_TEXT_TARGET,
    CEL__COST_PARSE,
    CEL__COST_CANONICAL,
    CEL__COST_REPLACE,
    CEL__COST_SPLIT,
    CEL__COST_JOIN,
    CEL__COST_FIND,
    CEL__COST_CONTAINS_IP,
    CEL__COST_CONTAINS_IP_TEXT,
    CEL__COST_CONTAINS_CIDR,
    CEL__COST_CONTAINS_CIDR_TEXT,
    CEL__COST_VALIDATE,
    CEL__COST_CHECK,
    CEL__COST_SELECTOR,
    CEL__COST_SETS,
    CEL__COST_SETS_EQUIVALENT,
    CEL__COST_LIST_RESULT,
    CEL__COST_LIST_RANGE,
    CEL__COST_LIST_SLICE,
    CEL__COST_FLATTEN,
    CEL__COST_DISTINCT,
    CEL__COST_SORT,
    CEL__COST_SORT_TEXT,
    CEL__COST_SORT_BY,
    CEL__COST_SORT_BY_TEXT,
};

enum { CEL__ARGS_MAX = 4 };

struct cel__overload {
    const char *function;
    const struct cel_type *result;
    const struct cel_type *args[CEL__ARGS_MAX];
    cel__fn *call;
    uint8_t n_args;
    uint8_t cost; /* enum cel__cost */
    bool member;
    bool unguarded; /* looks at its arguments by itself */
};

#define CEL__COUNT(...) (sizeof((const struct cel_type *[]){ __VA_ARGS__ }) / sizeof(void *))
#define CEL__FUNCTION(name, charge, fn, ret, ...)                                   \
    {                                                                               \
        .function = (name), .result = (ret), .args = { __VA_ARGS__ }, .call = (fn), \
        .n_args = CEL__COUNT(__VA_ARGS__), .cost = (charge),                        \
    }
#define CEL__METHOD(name, charge, fn, ret, ...)                                     \
    {                                                                               \
        .function = (name), .result = (ret), .args = { __VA_ARGS__ }, .call = (fn), \
        .n_args = CEL__COUNT(__VA_ARGS__), .cost = (charge), .member = true         \
    }

/* Type parameters, and types made of them. */
extern const struct cel_type cel__A, cel__B, cel__optional_B, cel__list_A, cel__list_dyn,
    cel__map_AB, cel__optional_A, cel__list_optional_A, cel__optional_list_A, cel__optional_map_AB,
    cel__list_bool, cel__list_int, cel__list_uint, cel__list_double, cel__list_string,
    cel__list_bytes, cel__list_timestamp, cel__list_duration;

struct cel__library {
    const struct cel__overload *rows;
    size_t n;
    unsigned flag; /* of cel_env.flags that turns it on; 0: always on */
};

extern const struct cel__library cel__lib_std, cel__lib_convert, cel__lib_time, cel__lib_optional,
    cel__lib_strings, cel__lib_format, cel__lib_sets, cel__lib_lists, cel__lib_k8s_lists,
    cel__lib_regex, cel__lib_url, cel__lib_ip, cel__lib_quantity, cel__lib_semver,
    cel__lib_named_format, cel__lib_authz, cel__lib_json_patch;

/* All overloads of a function, in order of declaration. In the arena; NULL if there are none. */
const struct cel__overload **cel__overloads_of(struct arena *a, const struct cel_env *env,
                                               struct str function, size_t *ret_n);

/* ---- Stages of a compilation ---- */

struct issues;
/* Types, slots and overloads; false if issues were added. */
bool cel__check(struct arena *a, struct arena *scratch, struct cel_program *p,
                struct issues *issues);
/* Literals of times and patterns that cannot be right. */
void cel__validate(struct arena *a, const struct cel_program *p, struct issues *issues);
/* Computes what is constant. ERR_BAD_REQUEST if a constant conversion fails. */
int cel__fold_constants(struct arena *a, struct cel_program *p, struct err *err);

/* What a call costs once its arguments and result are known. */
uint64_t cel__call_cost(struct cel__eval *ev, const struct ast_node *call,
                        const struct cel__overload *overload, const struct cel_value *args,
                        const struct cel_value *result);

/* ---- Opaque values of the Kubernetes libraries ---- */

struct cel_value cel__opaque_equal(struct cel__eval *ev, const struct cel_value *x,
                                   const struct cel_value *y);
bool cel__quantity_equal(const void *x, const void *y);
struct str cel__quantity_text(const struct cel_value *v);
bool cel__semver_equal(const void *x, const void *y);
struct str cel__semver_text(const struct cel_value *v);
bool cel__url_equal(const void *x, const void *y);
/* NULL, or why the text is no URI of a request. In the arena. */
const char *cel__url_fault(struct arena *a, struct str text);
/* How long upstream takes the pattern behind a named format to be. */
uint64_t cel__format_pattern_size(const struct cel_value *format);
