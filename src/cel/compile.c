/* cel_compile(): parse, check, validate, fold. */
#include "cel/internal.h"

#include <assert.h>

#include "base/buf.h"
#include "base/regexp.h"
#include "base/utf8.h"
#include "cel/issues.h"
#include "cel/parser.h"

#include "base/banned.h"

/* ---- What is constant ---- */

struct folder {
    struct arena *arena;
    struct cel_program *program;
    struct err *err;
};

static int fold(struct folder *f, struct ast_node *n);

static bool is_constant(const struct ast_node *n)
{
    return n->folded || n->kind == AST_LITERAL;
}

static struct cel_value evaluate(struct folder *f, const struct ast_node *n)
{
    struct cel__eval ev = cel__outside(f->arena);
    ev.program = f->program;
    return cel__eval_node(&ev, n);
}

/* A constant is shared by all evaluations: nobody may append to it in place. */
static void keep(struct folder *f, struct ast_node *n, struct cel_value v)
{
    if (v.kind == CEL_LIST) {
        v.list->cap = v.list->n;
        v.list->shared = true;
    } else if (v.kind == CEL_MAP) {
        v.map->cap = v.map->n;
    }
    n->folded = arena_dup(f->arena, &v, sizeof(v));
}

static int fold_list(struct folder *f, struct ast_node *n)
{
    bool constant = true;
    for (size_t i = 0; i < n->list.n; i++) {
        int r = fold(f, n->list.items[i]);
        if (r < 0)
            return r;
        constant = constant && is_constant(n->list.items[i]);
    }
    if (constant)
        keep(f, n, evaluate(f, n));
    return 0;
}

static int fold_map(struct folder *f, struct ast_node *n)
{
    bool constant = n->kind == AST_MAP;
    for (size_t i = 0; i < n->map.n; i++) {
        struct ast_entry *e = &n->map.entries[i];
        int r = n->kind == AST_MAP ? fold(f, e->key) : 0;
        if (r < 0)
            return r;
        r = fold(f, e->val);
        if (r < 0)
            return r;
        constant = constant && is_constant(e->key) && is_constant(e->val);
    }
    if (constant)
        keep(f, n, evaluate(f, n));
    return 0;
}

static bool is_conversion(struct str function)
{
    struct str names = STR("bool bytes double duration dyn int string timestamp type uint");
    while (names.n)
        if (str_eq(str_cut(&names, ' '), function))
            return true;
    return false;
}

/* A number is found under each kind of number that can stand for it. */
static void add_to_set(struct cel__eval *ev, struct cel_value *set, struct cel_value v)
{
    struct cel_value as_int = cel_of_int(v.i), as_uint = cel_of_uint(v.u);
    bool has_int = v.kind == CEL_UINT && v.u <= INT64_MAX;
    bool has_uint = v.kind == CEL_INT && v.i >= 0;
    if (v.kind == CEL_DOUBLE) {
        has_int = cel__double_to_int(v.d, &as_int.i);
        has_uint = cel__double_to_uint(v.d, &as_uint.u);
    }
    cel__map_put(ev, set, v, cel_of_null(), true);
    if (has_int)
        cel__map_put(ev, set, as_int, cel_of_null(), true);
    if (has_uint)
        cel__map_put(ev, set, as_uint, cel_of_null(), true);
    if (v.kind == CEL_INT || v.kind == CEL_UINT) {
        double d = v.kind == CEL_INT ? (double)v.i : (double)v.u;
        cel__map_put(ev, set, cel_of_double(d), cel_of_null(), true);
    }
}

/* x in [1, 2, 3] becomes a lookup. */
static void fold_membership(struct folder *f, struct ast_node *n)
{
    struct cel__eval ev = cel__outside(f->arena);
    const struct cel_value *list = n->call.args[1]->folded;
    if (!list || list->kind != CEL_LIST || n->call.n_overloads != 1)
        return;
    struct cel_value set = cel__map_new(&ev, cel__size(list));
    struct cel_value item;
    for (size_t i = 0; cel__list_next(&ev, list, &i, &item);) {
        if (item.kind != CEL_BOOL && item.kind != CEL_INT && item.kind != CEL_UINT &&
            item.kind != CEL_DOUBLE && item.kind != CEL_STRING)
            return;
        add_to_set(&ev, &set, item);
    }
    if (cel__size(list))
        n->call.set = arena_dup(f->arena, &set, sizeof(set));
    else
        keep(f, n, cel_of_bool(false));
}

static int fold_pattern(struct folder *f, struct ast_node *n)
{
    struct regexp *re;
    const struct ast_node *pattern = n->call.args[1];
    struct cel_value v = pattern->folded ? *pattern->folded : pattern->literal;
    if (!is_constant(pattern) || v.kind != CEL_STRING)
        return 0;
    if (regexp_compile(f->arena, cel__str(&v), &re, f->err) < 0)
        return err_set(f->err, ERR_BAD_REQUEST, STR_FMT, STR_ARG(f->err->msg));
    n->call.pattern = re;
    return 0;
}

static int fold_call(struct folder *f, struct ast_node *n)
{
    for (size_t i = 0; i < n->call.n_args; i++) {
        int r = fold(f, n->call.args[i]);
        if (r < 0)
            return r;
    }
    if (!n->call.n_overloads)
        return 0;
    unsigned cost = n->call.overloads[0]->cost;
    if (cost == CEL__COST_MATCHES || cost == CEL__COST_FIND)
        return fold_pattern(f, n);
    if (cost == CEL__COST_IN_LIST)
        fold_membership(f, n);
    if (n->member || n->call.n_args != 1 || !is_constant(n->call.args[0]) ||
        !is_conversion(n->call.function))
        return 0;
    struct cel_value v = evaluate(f, n);
    if (v.kind == CEL_ERROR)
        return err_set(f->err, ERR_BAD_REQUEST, STR_FMT, STR_ARG(cel__str(&v)));
    keep(f, n, v);
    return 0;
}

static int fold_fold(struct folder *f, struct ast_fold *n)
{
    struct ast_node *parts[] = { n->range, n->init, n->condition, n->step, n->result };
    for (size_t i = 0; i < 5; i++) {
        int r = fold(f, parts[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

static int fold(struct folder *f, struct ast_node *n)
{
    assert(n);
    if (n->folded) /* a macro has it twice */
        return 0;
    switch (n->kind) {
    case AST_IDENT:
        if (n->ident.place == AST_PLACE_TYPE)
            keep(f, n, cel__type_value(n->ident.type));
        return 0;
    case AST_SELECT:
        return fold(f, n->select.operand);
    case AST_CALL:
        return fold_call(f, n);
    case AST_LIST:
        return fold_list(f, n);
    case AST_MAP:
    case AST_STRUCT:
        return fold_map(f, n);
    case AST_FOLD:
        return fold_fold(f, &n->fold);
    default:
        return 0;
    }
}

int cel__fold_constants(struct arena *a, struct cel_program *p, struct err *err)
{
    struct folder f = { a, p, err };
    return fold(&f, p->root);
}

/* ---- Compiling ---- */

int cel__set_err(struct err *err, enum err_code code, struct str msg)
{
    int r = err_set(err, code, "%s", "");
    if (err)
        err->msg = arena_str(err->arena, msg);
    return r;
}

/* A copy in which every byte that is not UTF-8 is U+FFFD, as Go reads text. */
static struct str copy_text(struct arena *a, struct str s)
{
    autobuf out = { 0 };
    if (utf8_valid(s))
        return arena_str(a, s);
    for (size_t i = 0; i < s.n;) {
        size_t n = utf8_step(s.p + i, s.n - i);
        buf_str_add(&out, n ? str_take(str_skip(s, i), n) : STR("\ufffd"));
        i += n ? n : 1;
    }
    return arena_str(a, buf_str(&out));
}

/* ERR_INVALID, or ERR_BAD_REQUEST if only what is constant fails. */
static int compile(struct arena *a, struct arena *scratch, struct str text, struct cel_program *p,
                   struct err *err)
{
    struct issues issues = { .arena = scratch, .text = text };
    struct err inner = ERR_INIT(scratch);
    p->root = parser_run(a, scratch, text, p->env->flags, &issues, &p->n_nodes);
    if (p->root && cel__check(a, scratch, p, &issues))
        cel__validate(scratch, p, &issues);
    if (issues.total)
        return cel__set_err(err, ERR_INVALID, issues_print(&issues));
    if (cel__fold_constants(a, p, &inner) < 0)
        return cel__set_err(err, ERR_BAD_REQUEST, inner.msg);
    return 0;
}

int cel_compile(struct arena *a, const struct cel_env *env, struct str expression,
                const struct cel_program **ret, struct err *err)
{
    struct cel_program *p = arena_new(a, struct cel_program);
    struct arena scratch;
    arena_init(&scratch);
    p->env = env;
    int r = compile(a, &scratch, copy_text(a, expression), p, err);
    arena_done(&scratch);
    if (r == 0 || r == -ERR_BAD_REQUEST)
        *ret = p;
    return r;
}

const struct cel_type *cel_program_type(const struct cel_program *p)
{
    return p->type;
}

bool cel_program_uses(const struct cel_program *p, size_t variable)
{
    return p->uses[variable];
}
