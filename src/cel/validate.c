/* What the types allow but cannot be right: literals of durations, times and patterns that do not
 * parse, format strings that do not fit their arguments, lists and maps of mixed types. */
#include "cel/internal.h"

#include "base/buf.h"
#include "base/regexp.h"
#include "cel/format.h"
#include "cel/issues.h"

#include "base/banned.h"

struct validator {
    struct arena *arena;
    const struct cel_program *program;
    struct issues *issues;
    unsigned in_format; /* inside arguments of format(), where mixed lists are fine */
};

static void visit(struct validator *v, const struct ast_node *n);

/* ---- Literals ---- */

static bool is_bad_literal(struct validator *v, const struct ast_node *n,
                           const struct ast_node *arg)
{
    struct err err = ERR_INIT(v->arena);
    struct regexp *re;
    struct cel__eval ev = cel__outside(v->arena);
    ev.program = v->program;
    if (str_eq(n->call.function, STR("matches")))
        return regexp_compile(v->arena, cel__str(&arg->literal), &re, &err) < 0;
    return cel__eval_node(&ev, n).kind == CEL_ERROR;
}

static void check_literal(struct validator *v, const struct ast_node *n)
{
    struct str names = STR("duration timestamp matches");
    bool checked = false;
    while (names.n && !checked)
        checked = str_eq(str_cut(&names, ' '), n->call.function);
    if (!checked || n->call.n_args <= n->member)
        return;
    const struct ast_node *arg = n->call.args[n->member];
    if (arg->kind == AST_LITERAL && is_bad_literal(v, n, arg))
        issues_add(v->issues, arg->at, "invalid " STR_FMT " argument", STR_ARG(n->call.function));
}

/* ---- Formats ---- */

struct format_check {
    struct arena *arena;
    const struct ast_node *list;
    uint32_t at; /* of what is wrong */
};

#define KIND(k) (1u << CEL_##k)

static bool is_one_of(const struct ast_node *n, unsigned kinds)
{
    return n->type->kind == CEL_DYN || (kinds & (1u << n->type->kind));
}

/* The first node that %s has no words for, looking into literals; NULL if there is none. */
static const struct ast_node *find_unprintable(const struct ast_node *n)
{
    const struct ast_node *bad;
    if (!is_one_of(n, KIND(LIST) | KIND(MAP) | KIND(INT) | KIND(UINT) | KIND(DOUBLE) | KIND(BOOL) |
                          KIND(STRING) | KIND(TIMESTAMP) | KIND(BYTES) | KIND(DURATION) |
                          KIND(TYPE) | KIND(NULL)))
        return n;
    for (size_t i = 0; n->kind == AST_LIST && i < n->list.n; i++)
        if ((bad = find_unprintable(n->list.items[i])))
            return bad;
    for (size_t i = 0; n->kind == AST_MAP && i < n->map.n; i++) {
        const struct ast_entry *e = &n->map.entries[i];
        if ((bad = find_unprintable(e->key)) || (bad = find_unprintable(e->val)))
            return bad;
    }
    return NULL;
}

static unsigned kinds_of_verb(char verb)
{
    switch (verb) {
    case 'd':
    case 'o':
        return KIND(INT) | KIND(UINT);
    case 'b':
        return KIND(INT) | KIND(UINT) | KIND(BOOL);
    case 'x':
    case 'X':
        return KIND(INT) | KIND(UINT) | KIND(STRING) | KIND(BYTES);
    default:
        return KIND(DOUBLE) | KIND(STRING);
    }
}

static const char *check_clause(void *self, struct format_clause clause, struct buf *out)
{
    (void)out;
    struct format_check *f = self;
    const struct ast_node *arg = f->list->list.items[clause.index];
    const struct ast_node *bad = clause.verb == 's' ? find_unprintable(arg)
                                 : is_one_of(arg, kinds_of_verb(clause.verb)) ? NULL
                                                                              : arg;
    if (!bad)
        return NULL;
    f->at = bad->at;
    return format_bad_type(f->arena, clause.verb, bad->type->name);
}

static void check_format(struct validator *v, const struct ast_node *n)
{
    const struct ast_node *format = n->call.args[0], *list = n->call.args[1];
    if (format->kind != AST_LITERAL || format->literal.kind != CEL_STRING || list->kind != AST_LIST)
        return;
    struct format_check f = { v->arena, list, n->at };
    autobuf unused = { 0 };
    size_t used = 0;
    const char *why = format_run(v->arena, cel__str(&format->literal), list->list.n, check_clause,
                                 &f, &unused, &used);
    if (why)
        issues_add(v->issues, f.at, "%s", why);
    else if (list->list.n > used)
        issues_add(v->issues, n->at,
                   "too many arguments supplied to string.format (expected %zu, got %zu)", used,
                   list->list.n);
}

/* ---- Mixed types ---- */

static void complain(struct validator *v, uint32_t at, const struct cel_type *expected,
                     const struct cel_type *found)
{
    issues_add(v->issues, at, "expected type '" STR_FMT "' but found '" STR_FMT "'",
               STR_ARG(cel_type_text(v->arena, expected)), STR_ARG(cel_type_text(v->arena, found)));
}

static const struct cel_type *plain_type(const struct ast_node *n, bool optional)
{
    return optional && n->type->kind == CEL_OPTIONAL ? n->type->params[0] : n->type;
}

static void check_list(struct validator *v, const struct ast_node *n)
{
    const struct cel_type *first = NULL;
    for (size_t i = 0; i < n->list.n; i++) {
        const struct ast_node *item = n->list.items[i];
        const struct cel_type *t = plain_type(item, n->list.optional && n->list.optional[i]);
        if (!first) {
            first = t;
        } else if (!cel__type_same(first, t)) {
            complain(v, item->at, first, t);
            return;
        }
    }
}

static void check_map(struct validator *v, const struct ast_node *n)
{
    const struct cel_type *key = NULL, *val = NULL;
    for (size_t i = 0; i < n->map.n; i++) {
        const struct ast_entry *e = &n->map.entries[i];
        const struct cel_type *t = plain_type(e->val, e->optional);
        if (!key) {
            key = e->key->type;
            val = t;
            continue;
        }
        if (!cel__type_same(key, e->key->type))
            complain(v, e->key->at, key, e->key->type);
        if (!cel__type_same(val, t))
            complain(v, e->val->at, val, t);
    }
}

/* ---- Walking ---- */

static void visit_call(struct validator *v, const struct ast_node *n)
{
    bool is_format = str_eq(n->call.function, STR("format"));
    check_literal(v, n);
    if (is_format && n->member && n->call.n_args == 2)
        check_format(v, n);
    v->in_format += is_format;
    for (size_t i = 0; i < n->call.n_args; i++)
        visit(v, n->call.args[i]);
    v->in_format -= is_format;
}

static void visit_map(struct validator *v, const struct ast_node *n)
{
    for (size_t i = 0; i < n->map.n; i++) {
        if (n->kind == AST_MAP)
            visit(v, n->map.entries[i].key);
        visit(v, n->map.entries[i].val);
    }
    if (n->kind == AST_MAP && !v->in_format)
        check_map(v, n);
}

static void visit(struct validator *v, const struct ast_node *n)
{
    switch (n->kind) {
    case AST_SELECT:
        visit(v, n->select.operand);
        break;
    case AST_CALL:
        visit_call(v, n);
        break;
    case AST_LIST:
        for (size_t i = 0; i < n->list.n; i++)
            visit(v, n->list.items[i]);
        if (!v->in_format)
            check_list(v, n);
        break;
    case AST_MAP:
    case AST_STRUCT:
        visit_map(v, n);
        break;
    case AST_FOLD:
        visit(v, n->fold.range);
        visit(v, n->fold.init);
        visit(v, n->fold.condition);
        visit(v, n->fold.step);
        visit(v, n->fold.result);
        break;
    default:
        break;
    }
}

void cel__validate(struct arena *a, const struct cel_program *p, struct issues *issues)
{
    struct validator v = { .arena = a, .program = p, .issues = issues };
    if (!(p->env->flags & (CEL_ENV_MIXED | CEL_ENV_UNCHECKED)))
        visit(&v, p->root);
}
