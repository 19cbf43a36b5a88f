/* Macros: calls that become folds, presence tests and conditions before anything is checked. Their
 * shapes are part of the language, since costs and type errors follow from them.
 *
 * A fold is: accu = init; for each item of range, while condition: accu = step; then result. A
 * binding of a name is a fold over nothing. */
#include "base/idiom.h"
#include "cel/parser.h"

#include "base/banned.h"

/* Names that no expression can write. */
#define ACCU       STR("@result")
#define UNUSED     STR("#unused")
#define SORT_INPUT STR("@__sortBy_input__")
/* The name that the accumulator once had, still refused as a variable. */
#define OLD_ACCU STR("__result__")

#define CALL(p, function, ...)                                                            \
    parser_call((p), STR(function), false,                                                \
                sizeof((struct ast_node *[]){ __VA_ARGS__ }) / sizeof(struct ast_node *), \
                (struct ast_node *[]){ __VA_ARGS__ })

static struct ast_node *accu(struct parser *p)
{
    return parser_ident(p, ACCU);
}

static struct ast_node *boolean(struct parser *p, bool b)
{
    return parser_literal(p, cel_of_bool(b));
}

static struct ast_node *one(struct parser *p)
{
    return parser_literal(p, cel_of_int(1));
}

static struct ast_node *fail(struct parser *p, const struct ast_node *where, const char *why)
{
    issues_add(p->issues, where->at, "%s", why);
    return parser_literal(p, cel_of_null());
}

static void fold_weigh(struct ast_node *n)
{
    const struct ast_node *parts[] = { n->fold.range, n->fold.init, n->fold.condition, n->fold.step,
                                       n->fold.result };
    for (size_t i = 0; i < 5; i++) {
        if (__builtin_add_overflow(n->weight, parts[i]->weight, &n->weight))
            n->weight = UINT32_MAX;
        if (parts[i]->depth > n->depth)
            n->depth = parts[i]->depth;
    }
}

static struct ast_node *fold(struct parser *p, const struct ast_fold *f)
{
    struct ast_node *n = parser_node(p, AST_FOLD, p->at);
    n->fold = *f;
    fold_weigh(n);
    return n;
}

/* The names that a macro declares: one or two, checked. */
struct vars {
    struct str first, second;
};

static bool is_accu(struct str name)
{
    return str_eq(name, ACCU) || str_eq(name, OLD_ACCU);
}

/* NULL, or the null literal of a failed macro. */
static struct ast_node *read_one_var(struct parser *p, struct ast_node *const *args,
                                     const char *why, struct vars *ret)
{
    if (args[0]->kind != AST_IDENT)
        return fail(p, args[0], why);
    if (is_accu(args[0]->ident.name))
        return fail(p, args[0], "iteration variable overwrites accumulator variable");
    ret->first = args[0]->ident.name;
    return NULL;
}

static struct ast_node *read_two_vars(struct parser *p, struct ast_node *const *args,
                                      struct vars *ret)
{
    for (size_t i = 0; i < 2; i++)
        if (args[i]->kind != AST_IDENT)
            return fail(p, args[i], "argument must be a simple name");
    ret->first = args[0]->ident.name;
    ret->second = args[1]->ident.name;
    if (str_eq(ret->first, ret->second)) {
        struct str why =
            arena_printf(p->arena, "duplicate variable name: " STR_FMT, STR_ARG(ret->first));
        return fail(p, args[1], str_cstr(p->arena, why));
    }
    for (size_t i = 0; i < 2; i++)
        if (is_accu(args[i]->ident.name))
            return fail(p, args[i], "iteration variable overwrites accumulator variable");
    return NULL;
}

/* A quantifier has its predicate last, after one name or two. */
static struct ast_node *read_quantifier(struct parser *p, struct ast_node *const *args,
                                        size_t n_args, struct vars *ret)
{
    if (n_args == 3)
        return read_two_vars(p, args, ret);
    return read_one_var(p, args, "argument must be a simple name", ret);
}

static struct ast_node *expand_all(struct parser *p, struct ast_node *target,
                                   struct ast_node *const *args, size_t n)
{
    struct vars vars = { 0 };
    struct ast_node *failed = read_quantifier(p, args, n, &vars);
    if (failed)
        return failed;
    return fold(p, &(struct ast_fold){
                       .iter_var = vars.first,
                       .iter_var2 = vars.second,
                       .accu_var = ACCU,
                       .range = target,
                       .init = boolean(p, true),
                       .condition = CALL(p, "@not_strictly_false", accu(p)),
                       .step = CALL(p, "_&&_", accu(p), args[n - 1]),
                       .result = accu(p),
                   });
}

static struct ast_node *expand_exists(struct parser *p, struct ast_node *target,
                                      struct ast_node *const *args, size_t n)
{
    struct vars vars = { 0 };
    struct ast_node *failed = read_quantifier(p, args, n, &vars);
    if (failed)
        return failed;
    return fold(p, &(struct ast_fold){
                       .iter_var = vars.first,
                       .iter_var2 = vars.second,
                       .accu_var = ACCU,
                       .range = target,
                       .init = boolean(p, false),
                       .condition = CALL(p, "@not_strictly_false", CALL(p, "!_", accu(p))),
                       .step = CALL(p, "_||_", accu(p), args[n - 1]),
                       .result = accu(p),
                   });
}

static struct ast_node *expand_exists_one(struct parser *p, struct ast_node *target,
                                          struct ast_node *const *args, size_t n)
{
    struct vars vars = { 0 };
    struct ast_node *failed = read_quantifier(p, args, n, &vars);
    if (failed)
        return failed;
    struct ast_node *more = CALL(p, "_+_", accu(p), one(p));
    return fold(p, &(struct ast_fold){
                       .iter_var = vars.first,
                       .iter_var2 = vars.second,
                       .accu_var = ACCU,
                       .range = target,
                       .init = parser_literal(p, cel_of_int(0)),
                       .condition = boolean(p, true),
                       .step = CALL(p, "_?_:_", args[n - 1], more, accu(p)),
                       .result = CALL(p, "_==_", accu(p), one(p)),
                   });
}

/* accu + [item], or with a filter only where that is true. */
static struct ast_node *collect(struct parser *p, struct ast_node *filter, struct ast_node *step)
{
    return filter ? CALL(p, "_?_:_", filter, step, accu(p)) : step;
}

static struct ast_node *append(struct parser *p, struct ast_node *item)
{
    return CALL(p, "_+_", accu(p), parser_list(p, 1, &item));
}

static struct ast_node *build(struct parser *p, struct ast_node *target, struct vars vars,
                              struct ast_node *init, struct ast_node *step)
{
    return fold(p, &(struct ast_fold){
                       .iter_var = vars.first,
                       .iter_var2 = vars.second,
                       .accu_var = ACCU,
                       .range = target,
                       .init = init,
                       .condition = boolean(p, true),
                       .step = step,
                       .result = accu(p),
                   });
}

static struct ast_node *expand_map(struct parser *p, struct ast_node *target,
                                   struct ast_node *const *args, size_t n)
{
    struct vars vars = { 0 };
    struct ast_node *failed = read_one_var(p, args, "argument is not an identifier", &vars);
    if (failed)
        return failed;
    struct ast_node *step = collect(p, n == 3 ? args[1] : NULL, append(p, args[n - 1]));
    return build(p, target, vars, parser_list(p, 0, NULL), step);
}

static struct ast_node *expand_filter(struct parser *p, struct ast_node *target,
                                      struct ast_node *const *args, size_t n)
{
    (void)n;
    struct vars vars = { 0 };
    struct ast_node *failed = read_one_var(p, args, "argument is not an identifier", &vars);
    if (failed)
        return failed;
    struct ast_node *step = collect(p, args[1], append(p, args[0]));
    return build(p, target, vars, parser_list(p, 0, NULL), step);
}

static struct ast_node *expand_transform_list(struct parser *p, struct ast_node *target,
                                              struct ast_node *const *args, size_t n)
{
    struct vars vars = { 0 };
    struct ast_node *failed = read_two_vars(p, args, &vars);
    if (failed)
        return failed;
    struct ast_node *step = collect(p, n == 4 ? args[2] : NULL, append(p, args[n - 1]));
    return build(p, target, vars, parser_list(p, 0, NULL), step);
}

static struct ast_node *expand_transform_map(struct parser *p, struct ast_node *target,
                                             struct ast_node *const *args, size_t n)
{
    struct vars vars = { 0 };
    struct ast_node *failed = read_two_vars(p, args, &vars);
    if (failed)
        return failed;
    struct ast_node *insert =
        CALL(p, "cel.@mapInsert", accu(p), parser_ident(p, vars.first), args[n - 1]);
    struct ast_node *step = collect(p, n == 4 ? args[2] : NULL, insert);
    return build(p, target, vars, parser_node(p, AST_MAP, p->at), step);
}

static struct ast_node *expand_transform_entry(struct parser *p, struct ast_node *target,
                                               struct ast_node *const *args, size_t n)
{
    struct vars vars = { 0 };
    struct ast_node *failed = read_two_vars(p, args, &vars);
    if (failed)
        return failed;
    struct ast_node *insert = CALL(p, "cel.@mapInsert", accu(p), args[n - 1]);
    struct ast_node *step = collect(p, n == 4 ? args[2] : NULL, insert);
    return build(p, target, vars, parser_node(p, AST_MAP, p->at), step);
}

static struct ast_node *expand_has(struct parser *p, struct ast_node *target,
                                   struct ast_node *const *args, size_t n)
{
    (void)target;
    (void)n;
    if (args[0]->kind != AST_SELECT)
        return fail(p, args[0], "invalid argument to has() macro");
    struct ast_node *test = parser_node(p, AST_SELECT, p->at);
    test->test_only = true;
    test->select = args[0]->select;
    test->weight = args[0]->weight;
    test->depth = args[0]->depth;
    return test;
}

/* let name = value in body */
static struct ast_node *bind(struct parser *p, struct str name, struct ast_node *val,
                             struct ast_node *body)
{
    return fold(p, &(struct ast_fold){
                       .iter_var = UNUSED,
                       .accu_var = name,
                       .range = parser_list(p, 0, NULL),
                       .init = val,
                       .condition = boolean(p, false),
                       .step = parser_ident(p, name),
                       .result = body,
                   });
}

/* target.hasValue() ? wrap(let name = target.value() in body) : optional.none() */
static struct ast_node *bind_optional(struct parser *p, struct ast_node *target,
                                      struct ast_node *const *args, bool wrap, const char *why)
{
    if (args[0]->kind != AST_IDENT)
        return fail(p, args[0], why);
    struct ast_node *has = parser_call(p, STR("hasValue"), true, 1, &target);
    struct ast_node *val = parser_call(p, STR("value"), true, 1, &target);
    struct ast_node *body = bind(p, args[0]->ident.name, val, args[1]);
    struct ast_node *none = parser_call(p, STR("optional.none"), false, 0, NULL);
    return CALL(p, "_?_:_", has, wrap ? CALL(p, "optional.of", body) : body, none);
}

static struct ast_node *expand_opt_map(struct parser *p, struct ast_node *target,
                                       struct ast_node *const *args, size_t n)
{
    (void)n;
    return bind_optional(p, target, args, true,
                         "optMap() variable name must be a simple identifier");
}

static struct ast_node *expand_opt_flat_map(struct parser *p, struct ast_node *target,
                                            struct ast_node *const *args, size_t n)
{
    (void)n;
    return bind_optional(p, target, args, false,
                         "optFlatMap() variable name must be a simple identifier");
}

static struct ast_node *expand_sort_by(struct parser *p, struct ast_node *target,
                                       struct ast_node *const *args, size_t n)
{
    if (target->kind == AST_LITERAL || target->kind == AST_MAP || target->kind == AST_STRUCT)
        return fail(p, target,
                    "sortBy can only be applied to a list, identifier, comprehension, call or "
                    "select expression");
    struct ast_node *keys = expand_map(p, parser_ident(p, SORT_INPUT), args, n);
    if (keys->kind != AST_FOLD)
        return keys;
    struct ast_node *sort[] = { parser_ident(p, SORT_INPUT), keys };
    return bind(p, SORT_INPUT, target, parser_call(p, STR("@sortByAssociatedKeys"), true, 2, sort));
}

typedef struct ast_node *expander(struct parser *p, struct ast_node *target,
                                  struct ast_node *const *args, size_t n);

static const struct {
    const char *name;
    bool member;
    uint8_t min_args, max_args;
    expander *expand;
} macros[] = {
    { "has", false, 1, 1, expand_has },
    { "all", true, 2, 3, expand_all },
    { "exists", true, 2, 3, expand_exists },
    { "exists_one", true, 2, 3, expand_exists_one },
    { "existsOne", true, 3, 3, expand_exists_one },
    { "map", true, 2, 3, expand_map },
    { "filter", true, 2, 2, expand_filter },
    { "transformList", true, 3, 4, expand_transform_list },
    { "transformMap", true, 3, 4, expand_transform_map },
    { "transformMapEntry", true, 3, 4, expand_transform_entry },
    { "optMap", true, 2, 2, expand_opt_map },
    { "optFlatMap", true, 2, 2, expand_opt_flat_map },
    { "sortBy", true, 2, 2, expand_sort_by },
};

struct ast_node *macros_expand(struct parser *p, const struct ast_node *call)
{
    if (p->env_flags & CEL_ENV_NO_MACROS)
        return NULL;
    size_t n = call->call.n_args - call->member;
    for (size_t i = 0; i < ARRAY_LEN(macros); i++) {
        if (macros[i].member != call->member || n < macros[i].min_args || n > macros[i].max_args ||
            !str_eq(str_of(macros[i].name), call->call.function))
            continue;
        struct ast_node *target = call->member ? call->call.args[0] : NULL;
        p->at = call->at;
        struct ast_node *expanded = macros[i].expand(p, target, call->call.args + call->member, n);
        if (expanded->depth < call->depth)
            expanded->depth = call->depth;
        return expanded;
    }
    return NULL;
}
