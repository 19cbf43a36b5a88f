/* Whether an expression asks for a field of a variable: claims.email, has(claims.email) and
 * claims.?email. */
#include "cel/internal.h"

#include "base/banned.h"

struct wanted {
    struct str variable, field;
};

static bool selects(const struct ast_node *n, const struct wanted *w);

static bool is_variable(const struct ast_node *n, const struct wanted *w)
{
    return n->kind == AST_IDENT && str_eq(n->ident.name, w->variable);
}

static bool selects_of_call(const struct ast_node *n, const struct wanted *w)
{
    const struct ast_call *call = &n->call;
    if (n->op == AST_OP_OPT_SELECT && call->n_args == 2 && is_variable(call->args[0], w) &&
        call->args[1]->kind == AST_LITERAL && str_eq(cel_text(&call->args[1]->literal), w->field))
        return true;
    for (size_t i = 0; i < call->n_args; i++)
        if (selects(call->args[i], w))
            return true;
    return false;
}

static bool selects_of_list(const struct ast_node *n, const struct wanted *w)
{
    for (size_t i = 0; i < n->list.n; i++)
        if (selects(n->list.items[i], w))
            return true;
    return false;
}

static bool selects_of_map(const struct ast_node *n, const struct wanted *w)
{
    for (size_t i = 0; i < n->map.n; i++)
        if (selects(n->map.entries[i].key, w) || selects(n->map.entries[i].val, w))
            return true;
    return false;
}

static bool selects_of_fold(const struct ast_fold *f, const struct wanted *w)
{
    return selects(f->range, w) || selects(f->init, w) || selects(f->condition, w) ||
           selects(f->step, w) || selects(f->result, w);
}

static bool selects(const struct ast_node *n, const struct wanted *w)
{
    if (!n)
        return false;
    switch ((enum ast_kind)n->kind) {
    case AST_LITERAL:
    case AST_IDENT:
        return false;
    case AST_SELECT:
        return (is_variable(n->select.operand, w) && str_eq(n->select.field, w->field)) ||
               selects(n->select.operand, w);
    case AST_CALL:
        return selects_of_call(n, w);
    case AST_LIST:
        return selects_of_list(n, w);
    case AST_MAP:
    case AST_STRUCT:
        return selects_of_map(n, w);
    case AST_FOLD:
        return selects_of_fold(&n->fold, w);
    }
    return false;
}

bool cel_program_selects(const struct cel_program *p, struct str variable, struct str field)
{
    return selects(p->root, &(struct wanted){ variable, field });
}
