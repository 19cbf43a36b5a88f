#include "admission/dynamic/scope.h"

#include <stdlib.h>

#include "admission/plugins.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "base/banned.h"

/* Of the stack, that variables which need each other may take; a worker has eight times that. */
enum { STACK_BYTES = 1 << 20 };

/* ---- Plans ---- */

struct scope_expression scope_compile_one(struct arena *a, const struct scope_plan *p,
                                          struct str name, struct str text)
{
    struct scope_expression e = { .name = arena_str(a, name), .text = arena_str(a, text) };
    struct err err = ERR_INIT(a);
    if (cel_compile(a, p->env, e.text, &e.program, &err) < 0) {
        e.program = NULL;
        e.fault = err.msg;
    }
    return e;
}

struct scope_expressions scope_compile(struct arena *a, const struct scope_plan *p,
                                       const struct value *list, const char *key)
{
    struct scope_expressions all = { 0 };
    if (!value_is(list, VALUE_ARRAY) || !list->n)
        return all;
    all.at = arena_array(a, struct scope_expression, list->n);
    value_each_item (it, list) {
        struct str text = value_str(value_get(it, str_of(key)));
        struct scope_expression *e = &all.at[all.n++];
        if (text.n)
            *e = scope_compile_one(a, p, value_text(it, "name"), text);
    }
    return all;
}

bool scope_uses(const struct scope_expressions *all, enum expression_variable variable)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->at[i].program && cel_program_uses(all->at[i].program, variable))
            return true;
    return false;
}

/* Each variable can use those before it. */
const struct scope_plan *scope_plan(struct arena *a, unsigned flags, const struct value *variables,
                                    const struct expression_types *types)
{
    struct scope_plan *p = arena_new(a, struct scope_plan);
    size_t n = value_is(variables, VALUE_ARRAY) ? variables->n : 0;
    struct expression_variables *names = n ? expression_variables(a, n) : NULL;
    p->flags = flags;
    p->names = names;
    p->env = expression_env_of(a, flags, n ? expression_variables_type(names) : NULL, types);
    p->variables.at = arena_array(a, struct scope_expression, n);
    value_each_item (it, variables) {
        struct scope_expression *e = &p->variables.at[p->variables.n++];
        *e = scope_compile_one(a, p, value_text(it, "name"), value_text(it, "expression"));
        expression_variables_add(names, e->name,
                                 e->program ? cel_program_type(e->program) : &cel_dyn);
    }
    return p;
}

/* ---- The request ---- */

struct value scope_request(struct admission_request *req, const struct view *v)
{
    struct value request = view_request(req, v, STR(""));
    value_put(req->arena, &request, STR("options"),
              req->options ? value_borrow(req->options) : value_null());
    return request;
}

/* ---- Scopes ---- */

enum { VARIABLES_MAX = EXPRESSION_OPTIONAL + 4 };

struct scope {
    struct arena arena;
    const struct scope_plan *plan;
    struct admission_request *req;
    struct cel_value vars[VARIABLES_MAX];
    struct cel_value *known; /* of the plan's variables; of kind CEL_PARAM: not yet */
    struct cel_lazy variables;
    struct cel_authorizer authorizer;
    uint64_t budget;
    uint64_t spent;    /* by variables, for the expression that is evaluated */
    const char *stack; /* where it was when that began */
};

static struct user *service_account(struct arena *a, const struct cel_authz_check *check)
{
    struct user *u = arena_new(a, struct user);
    u->name =
        user_service_account_name(a, check->service_account_namespace, check->service_account);
    u->n_groups = user_service_account_groups(a, check->service_account_namespace, &u->groups);
    user_add_authenticated(a, u);
    return u;
}

/* A selector that cannot be read narrows nothing. */
static void decide(const struct cel_authorizer *self, struct arena *a,
                   const struct cel_authz_check *check, struct cel_authz_decision *ret)
{
    struct scope *s = container_of(self, struct scope, authorizer);
    struct access q = { .user = check->service_account.n ? service_account(a, check) : s->req->user,
                        .verb = check->verb,
                        .is_resource = check->is_resource,
                        .path = check->path };
    if (check->is_resource) {
        q.group = check->group;
        q.version = STR("*");
        q.resource = check->resource;
        q.sub = check->subresource;
        q.ns = check->namespace;
        q.name = check->name;
        if (check->field_selector.n)
            (void)fields_parse(a, check->field_selector, NULL, &q.fields, NULL);
        if (check->label_selector.n)
            (void)labels_parse(a, check->label_selector, &q.labels, NULL);
    }
    if (q.user && s->req->cluster->decides)
        ret->allowed = s->req->cluster->decides(s->req->arg, &q, &ret->reason);
    else
        ret->allowed = admission_allows(s->req, &q);
}

static struct cel_value evaluate_variable(struct scope *s, struct arena *a,
                                          const struct scope_expression *e)
{
    struct err err = ERR_INIT(a);
    struct cel_value v;
    uint64_t cost = 0;
    if (!e->program)
        return cel_of_error(arena_printf(
            a, "composited variable \"" STR_FMT "\" fails to compile: compilation failed: " STR_FMT,
            STR_ARG(e->name), STR_ARG(e->fault)));
    int r = cel_eval(a, e->program, s->vars, SCOPE_CALL_COST, &v, &cost, &err);
    s->spent += cost;
    if (r < 0)
        return cel_of_error(
            arena_printf(a, "composited variable \"" STR_FMT "\" fails to evaluate: " STR_FMT,
                         STR_ARG(e->name), STR_ARG(err.msg)));
    return v;
}

/* Whether one more evaluation inside of this one is too much. */
static bool is_deep(const struct scope *s)
{
    const char *here = __builtin_frame_address(0);
    return (size_t)(here < s->stack ? s->stack - here : here - s->stack) > STACK_BYTES ||
           s->spent > s->budget;
}

static struct cel_value variable(const struct cel_lazy *self, struct arena *a, struct str field)
{
    struct scope *s = container_of(self, struct scope, variables);
    const struct scope_expressions *all = &s->plan->variables;
    size_t i = expression_variables_find(s->plan->names, field);
    if (i == SIZE_MAX)
        return cel_of_error(arena_printf(a, "no such key: " STR_FMT, STR_ARG(field)));
    if (s->known[i].kind == CEL_PARAM)
        s->known[i] = is_deep(s)
                          ? cel_of_error(STR("operation cancelled: actual cost limit exceeded"))
                          : evaluate_variable(s, a, &all->at[i]);
    return s->known[i];
}

static void put_authorizers(struct scope *s, const struct scope_input *in, size_t at)
{
    const struct admission_request *req = in->req;
    const struct cel_authz_check asked = {
        .is_resource = true,
        .group = req->resource->group,
        .resource = req->resource->plural,
        .subresource = req->sub,
        .namespace = view_namespace(req),
        .name = req->name,
    };
    if (in->hides_authorizer) {
        s->vars[at] = cel_of_error(STR("no such attribute(s): authorizer"));
        s->vars[at + 1] = cel_of_error(STR("no such attribute(s): authorizer.requestResource"));
        return;
    }
    s->authorizer.decide = decide;
    s->vars[at] = cel_of_authorizer(&s->arena, &s->authorizer);
    s->vars[at + 1] = cel_of_request_resource(&s->arena, &s->authorizer, &asked);
}

struct scope *scope_new(const struct scope_plan *p, const struct scope_input *in, uint64_t budget)
{
    struct scope *s = mem_new(struct scope);
    struct arena *a = &s->arena;
    size_t n = EXPRESSION_OPTIONAL;
    arena_init(a);
    arena_allow(a, in->req->arena->allowance);
    s->plan = p;
    s->req = in->req;
    s->budget = budget;
    s->vars[EXPRESSION_OBJECT] = cel_wrap(a, in->view->obj, &cel_dyn);
    s->vars[EXPRESSION_OLD_OBJECT] = cel_wrap(a, in->view->old_obj, &cel_dyn);
    s->vars[EXPRESSION_REQUEST] = cel_wrap(a, in->request, &cel_dyn);
    s->vars[EXPRESSION_NAMESPACE] = cel_wrap(a, in->ns, &cel_dyn);
    if (p->flags & EXPRESSION_PARAMS)
        s->vars[n++] = cel_wrap(a, in->params, &cel_dyn);
    if (p->flags & EXPRESSION_AUTHORIZER) {
        put_authorizers(s, in, n);
        n += 2;
    }
    if (!p->names)
        return s;
    s->known = arena_array(a, struct cel_value, p->variables.n);
    for (size_t i = 0; i < p->variables.n; i++)
        s->known[i].kind = CEL_PARAM;
    s->variables.get = variable;
    s->vars[n] = cel_of_lazy(&s->variables, expression_variables_type(p->names));
    return s;
}

struct scope *scope_free(struct scope *s)
{
    if (s)
        arena_done(&s->arena);
    free(s);
    return NULL;
}

uint64_t scope_budget(const struct scope *s)
{
    return s->budget;
}

struct arena *scope_arena(struct scope *s)
{
    return &s->arena;
}

static int out_of_budget(struct err *err)
{
    return err_set(err, ERR_TOO_LARGE,
                   "validation failed due to running out of cost budget, no further validation "
                   "rules will be run");
}

int scope_eval(struct scope *s, const struct scope_expression *e, struct cel_value *ret,
               struct err *err)
{
    struct err why = ERR_INIT(&s->arena);
    uint64_t cost = 0;
    if (!e->program)
        return err_set(err, ERR_INVALID, "compilation error: compilation failed: " STR_FMT,
                       STR_ARG(e->fault));
    s->spent = 0;
    s->stack = __builtin_frame_address(0);
    int r = cel_eval(&s->arena, e->program, s->vars, SCOPE_CALL_COST, ret, &cost, &why);
    if (arena_spent(&s->arena))
        return allowance_error(s->arena.allowance, err);
    if (__builtin_add_overflow(cost, s->spent, &cost) || cost > s->budget)
        return out_of_budget(err);
    s->budget -= cost;
    if (r < 0)
        return err_set(err, ERR_INVALID, "expression '" STR_FMT "' resulted in error: " STR_FMT,
                       STR_ARG(e->text), STR_ARG(why.msg));
    return 0;
}
