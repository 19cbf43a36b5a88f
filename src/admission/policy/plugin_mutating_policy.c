/* plugin_mutating_policy.c - MutatingAdmissionPolicy: expressions that change objects.
 *
 * Which policies are asked is decided by the object as it came. They are asked one after the other,
 * each about what the ones before it have made of it. All are asked, also after one has failed;
 * what went wrong is the answer. */
#include "admission/memory.h"
#include "admission/plugins.h"
#include "admission/policy/mutation.h"
#include "admission/policy/policy.h"
#include "admission/xray.h"
#include "api/words.h"
#include "base/banned.h"

struct mutation {
    struct scope_expression expression;
    int (*apply)(struct arena *a, const struct view *v, const struct cel_value *result,
                 struct value *ret, struct err *err);
};

struct compiled {
    const struct scope_plan *plan;
    struct mutation *mutations;
    size_t n;
    bool is_asked_again;
};

static struct mutation read_mutation(struct arena *a, const struct scope_plan *plan,
                                     const struct value *v)
{
    bool is_patch = str_eq(value_text(v, "patchType"), STR("JSONPatch"));
    struct str text = is_patch ? value_str(value_dig(v, "jsonPatch", "expression"))
                               : value_str(value_dig(v, "applyConfiguration", "expression"));
    return (struct mutation){
        .expression = scope_compile_one(a, plan, STR(""), text),
        .apply = is_patch ? mutation_patch : mutation_apply,
    };
}

static void compile(struct arena *a, struct policy *p)
{
    struct compiled *c = arena_new(a, struct compiled);
    const struct value *mutations = value_get(p->spec, STR("mutations"));
    unsigned flags =
        EXPRESSION_AUTHORIZER | EXPRESSION_PATCHES | (p->param_kind.n ? EXPRESSION_PARAMS : 0u);
    c->plan = scope_plan(a, flags, value_get(p->spec, STR("variables")), NULL);
    c->is_asked_again = str_eq(value_text(p->spec, "reinvocationPolicy"), STR("IfNeeded"));
    if (value_is(mutations, VALUE_ARRAY))
        c->mutations = arena_array(a, struct mutation, mutations->n);
    p->sees_namespace = scope_uses(&c->plan->variables, EXPRESSION_NAMESPACE);
    value_each_item (it, mutations) {
        struct mutation *m = &c->mutations[c->n++];
        *m = read_mutation(a, c->plan, it);
        p->sees_namespace =
            p->sees_namespace ||
            scope_uses(&(struct scope_expressions){ &m->expression, 1 }, EXPRESSION_NAMESPACE);
    }
    p->compiled = c;
}

/* ---- Two rounds ---- */

/* Whom the second round asks again: policies that want it, if something has changed since they were
 * asked. Each is known by its name, its binding's and its param's. */
struct rounds {
    struct value asked, again; /* lists of names */
    struct value left;         /* what the plugin has made of the object */
};

static struct rounds *rounds_of(struct admission_request *req)
{
    struct rounds *r = req->rounds.kept[req->plugin];
    if (r)
        return r;
    r = arena_new(req->arena, struct rounds);
    *r = (struct rounds){ .asked = value_array(), .again = value_array(), .left = value_null() };
    req->rounds.kept[req->plugin] = r;
    return r;
}

static void rounds_changed(struct arena *a, struct rounds *r)
{
    value_each_item (it, &r->asked)
        value_put_item(a, &r->again, *it);
    r->asked = value_array();
}

static struct str name_of(struct arena *a, const struct policy_use *use)
{
    const struct value *meta = value_get(use->param, STR("metadata"));
    return arena_printf(a, STR_FMT "/" STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(use->policy->name),
                        STR_ARG(use->binding->name), STR_ARG(value_text(meta, "namespace")),
                        STR_ARG(value_text(meta, "name")));
}

static bool has_name(const struct value *list, struct str name)
{
    value_each_item (it, list)
        if (str_eq(value_str(it), name))
            return true;
    return false;
}

/* ---- One request ---- */

struct fault {
    struct fault *next;
    struct str msg;
    bool is_invalid; /* else forbidden */
};

struct change {
    struct admission_request *req;
    struct value *obj;
    struct rounds *rounds;
    struct view view; /* all zero: none was made */
    bool is_dirty;    /* its object is not yet the request's */
    const struct value *ns;
    struct fault *faults, **last;
};

static void add_fault(struct change *c, const struct policy_use *use, bool is_invalid,
                      struct str why)
{
    struct arena *a = c->req->arena;
    if (use->policy->ignores_failure)
        return;
    struct fault *f = arena_new(a, struct fault);
    f->is_invalid = is_invalid;
    f->msg = use->binding ? arena_printf(a,
                                         "policy '" STR_FMT "' with binding '" STR_FMT
                                         "' denied request: " STR_FMT,
                                         STR_ARG(use->policy->name), STR_ARG(use->binding->name),
                                         STR_ARG(why))
                          : arena_printf(a, "policy %s denied request: " STR_FMT,
                                         admission_quoted(c->req, use->policy->name), STR_ARG(why));
    *c->last = f;
    c->last = &f->next;
}

/* What the policies have made of the view becomes the request's. */
static int give_back(struct change *c, struct err *err)
{
    if (!c->is_dirty)
        return 0;
    struct value changed = value_borrow(c->view.obj);
    c->is_dirty = false;
    return view_take(c->req, &c->view, &changed, c->obj, err);
}

static int look(struct change *c, const struct policy_use *use, struct err *err)
{
    if (c->view.resource == use->as)
        return 0;
    int r = give_back(c, err);
    return r < 0 ? r : view_make(c->req, c->obj, use->as, &c->view, err);
}

static int evaluate(struct change *c, const struct policy_use *use, const struct mutation *m,
                    struct value *ret, struct err *err)
{
    const struct compiled *compiled = use->policy->compiled;
    struct admission_request *req = c->req;
    const struct value request = scope_request(req, &c->view);
    const struct scope_input in = {
        .req = req, .view = &c->view, .request = &request, .params = use->param, .ns = c->ns
    };
    struct scope *s = scope_new(compiled->plan, &in, SCOPE_COST);
    struct cel_value result;
    struct err why = ERR_INIT(req->arena);
    int r = m->expression.program ? scope_eval(s, &m->expression, &result, &why)
                                  : err_set(&why, ERR_INVALID, "compilation failed: " STR_FMT,
                                            STR_ARG(m->expression.fault));
    if (arena_spent(req->arena))
        r = allowance_error(req->arena->allowance, err);
    else if (r < 0)
        r = err_set(err, ERR_INVALID, STR_FMT, STR_ARG(why.msg));
    else
        r = m->apply(req->arena, &c->view, &result, ret, err);
    scope_free(s);
    return r;
}

/* One mutation after the other; one that fails leaves the object as it was. */
static int mutate_by(struct change *c, const struct policy_use *use, struct err *err)
{
    const struct compiled *compiled = use->policy->compiled;
    struct arena *a = c->req->arena;
    for (size_t i = 0; i < compiled->n; i++) {
        struct value *made = arena_new(a, struct value);
        struct err why = ERR_INIT(a);
        int r = evaluate(c, use, &compiled->mutations[i], made, &why);
        if (r == 0) {
            c->view.obj = made;
            c->is_dirty = true;
        } else if (r == -ERR_INVALID && !arena_spent(a)) {
            add_fault(c, use, true, why.msg);
        } else {
            *err = why;
            return r;
        }
    }
    return 0;
}

static int ask(struct change *c, const struct policy_use *use, struct err *err)
{
    struct admission_request *req = c->req;
    const struct compiled *compiled = use->policy->compiled;
    struct str condition, name = name_of(req->arena, use);
    struct err why = ERR_INIT(req->arena);
    xray_stage(req->xray, "policy", use->policy->name, c->is_dirty ? c->view.obj : c->obj);
    int r = look(c, use, err);
    if (r < 0)
        return r;
    r = conditions_hold(use->policy->conditions, req, &c->view, use->param, &condition, &why);
    if (arena_spent(req->arena))
        return allowance_error(req->arena->allowance, err);
    if (r < 0)
        add_fault(c, use, true, why.msg);
    if (r <= 0 || (req->rounds.is_second && !has_name(&c->rounds->again, name)))
        return 0;
    const struct value *before = c->view.obj;
    r = mutate_by(c, use, err);
    if (!value_eq(before, c->view.obj)) {
        rounds_changed(req->arena, c->rounds);
        req->rounds.is_wanted = true;
    }
    if (compiled->is_asked_again)
        value_put_item(req->arena, &c->rounds->asked, value_string(name));
    return r;
}

/* ---- The answer ---- */

static struct value details_of(struct arena *a, const struct err *err)
{
    struct value details = value_object(), causes = value_array();
    value_put_new(a, &details, STR("name"), value_string(err->about.name));
    if (err->about.group.n)
        value_put_new(a, &details, STR("group"), value_string(err->about.group));
    value_put_new(a, &details, STR("kind"), value_string(err->about.kind));
    for (const struct err_cause *it = err->causes; it; it = it->next) {
        struct value cause = value_object();
        value_put_new(a, &cause, STR("message"), value_string(it->msg));
        value_put_item(a, &causes, cause);
    }
    value_put_new(a, &details, STR("causes"), causes);
    return details;
}

/* Upstream's answer is forbidden by its code, and invalid by its reason. */
static void call_invalid(struct arena *a, struct err *err)
{
    struct value *status = arena_new(a, struct value);
    *status = value_object();
    value_put_new(a, status, STR("metadata"), value_object());
    value_put_new(a, status, STR("status"), value_string(STR("Failure")));
    value_put_new(a, status, STR("message"), value_string(err->msg));
    value_put_new(a, status, STR("reason"), value_string(err_reason(ERR_INVALID)));
    value_put_new(a, status, STR("details"), details_of(a, err));
    value_put_new(a, status, STR("code"), value_int(err_http_status(err->code)));
    err->about.status = status;
}

static int answer(struct change *c, struct err *err)
{
    if (!c->faults)
        return 0;
    (void)admission_forbid(c->req, c->obj, STR(""), err);
    err->msg = c->faults->msg;
    for (const struct fault *f = c->faults; f; f = f->next)
        err_add_cause(err, STR(""), STR(""), f->msg);
    if (c->faults->is_invalid)
        call_invalid(c->req->arena, err);
    return -(int)err->code;
}

static int ask_each(struct change *c, const struct policy_uses *uses, struct err *err)
{
    for (size_t i = 0; i < uses->n; i++) {
        int r = uses->at[i].fault.n ? 0 : ask(c, &uses->at[i], err);
        if (r < 0)
            return r;
    }
    if (!c->is_dirty)
        return 0;
    rounds_changed(c->req->arena, c->rounds);
    c->req->rounds.is_wanted = true;
    return give_back(c, err);
}

static int ask_all(struct change *c, const struct policy_uses *uses, struct err *err)
{
    int r = policy_namespace(c->req, uses, &c->ns, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < uses->n; i++)
        if (uses->at[i].fault.n)
            add_fault(c, &uses->at[i], false, uses->at[i].fault);
    if (c->req->rounds.is_second && !value_eq(&c->rounds->left, c->obj))
        rounds_changed(c->req->arena, c->rounds);
    r = ask_each(c, uses, err);
    if (r < 0)
        return r;
    c->rounds->left = value_share(c->obj);
    return answer(c, err);
}

static int mutate(struct admission_request *req, struct value *obj, struct err *err)
{
    struct admission_recalled *memory;
    struct policy_uses uses = { 0 };
    if (!obj || match_exempts(req->stored, false)) /* without one there is nothing to change */
        return 0;
    int r = admission_recall(req, &memory, err);
    if (r < 0 || !memory)
        return r;
    policy_find(admission_recalled(memory), req, obj, &uses);
    if (uses.n) {
        struct change c = { .req = req, .obj = obj, .rounds = rounds_of(req) };
        c.last = &c.faults;
        r = ask_all(&c, &uses, err);
    }
    admission_release(memory);
    return r;
}

static int make(struct admission_request *req, struct arena *a, const void **ret, struct err *err)
{
    static const struct policy_sort sort = { STR("mutatingadmissionpolicies"),
                                             STR("mutatingadmissionpolicybindings"), compile };
    return policy_set_read(&sort, req, a, ret, err);
}

static const struct admission_source sources[] = {
    { STR("admissionregistration.k8s.io"), STR("mutatingadmissionpolicies") },
    { STR("admissionregistration.k8s.io"), STR("mutatingadmissionpolicybindings") },
    { STR(""), STR("") },
};
static const struct admission_memo memo = { .made_of = sources,
                                            .make = make,
                                            .interest = policy_set_interest };

const struct admission_plugin plugin_mutating_policy = { .name = "MutatingAdmissionPolicy",
                                                         .memo = &memo,
                                                         .mutate = mutate };
