#include "admission/dynamic/conditions.h"

#include "admission/dynamic/scope.h"
#include "base/buf.h"
#include "base/banned.h"

struct conditions {
    const struct scope_plan *plan;
    struct scope_expressions all;
};

const struct conditions *conditions_read(struct arena *a, const struct value *list, bool has_params)
{
    if (!value_is(list, VALUE_ARRAY) || !list->n)
        return NULL;
    struct conditions *c = arena_new(a, struct conditions);
    c->plan =
        scope_plan(a, EXPRESSION_AUTHORIZER | (has_params ? EXPRESSION_PARAMS : 0u), NULL, NULL);
    c->all = scope_compile(a, c->plan, list, "expression");
    return c;
}

/* Conditions that could not be evaluated. The same words are said once, as upstream has it. */
struct failures {
    struct arena *arena;
    struct value texts; /* a list */
};

static void failures_add(struct failures *f, struct str text)
{
    value_each_item (it, &f->texts)
        if (str_eq(value_str(it), text))
            return;
    value_put_item(f->arena, &f->texts, value_string(text));
}

static int failures_error(const struct failures *f, struct err *err)
{
    autobuf all = { 0 };
    value_each_item (it, &f->texts)
        buf_printf(&all, "%s" STR_FMT, all.n ? ", " : "", STR_ARG(value_str(it)));
    return err_set(err, ERR_INVALID, f->texts.n > 1 ? "[" STR_FMT "]" : STR_FMT,
                   STR_ARG(buf_str(&all)));
}

/* All are evaluated, also after one that says no: their cost counts. */
static int evaluate(const struct conditions *c, struct scope *s, struct failures *failures,
                    const struct scope_expression **ret_no, struct err *err)
{
    for (size_t i = 0; i < c->all.n; i++) {
        struct err why = ERR_INIT(failures->arena);
        struct cel_value v;
        int r = scope_eval(s, &c->all.at[i], &v, &why);
        if (r == -ERR_INVALID)
            failures_add(failures, why.msg);
        else if (r == -ERR_TOO_LARGE && !arena_spent(failures->arena))
            return err_set(err, ERR_INVALID, STR_FMT, STR_ARG(why.msg));
        else if (r < 0)
            return allowance_error(failures->arena->allowance, err);
        else if (!v.b && !*ret_no)
            *ret_no = &c->all.at[i];
    }
    return 0;
}

/* Conditions see the resource as it was asked for, also where the rules match another version. */
static struct value request_of(struct admission_request *req, const struct view *v)
{
    struct value request = scope_request(req, v);
    const struct value *asked = value_get(&request, STR("requestResource"));
    if (asked)
        value_put(req->arena, &request, STR("resource"), value_borrow(asked));
    return request;
}

int conditions_hold(const struct conditions *c, struct admission_request *req, const struct view *v,
                    const struct value *params, struct str *ret_name, struct err *err)
{
    if (!c)
        return 1;
    const struct value request = request_of(req, v);
    const struct scope_input in = { .req = req, .view = v, .request = &request, .params = params };
    struct scope *s = scope_new(c->plan, &in, SCOPE_CONDITIONS_COST);
    struct failures failures = { .arena = req->arena, .texts = value_array() };
    const struct scope_expression *no = NULL;
    int r = evaluate(c, s, &failures, &no, err);
    scope_free(s);
    if (r < 0)
        return r;
    if (no) {
        *ret_name = no->name;
        return 0;
    }
    return failures.texts.n ? failures_error(&failures, err) : 1;
}
