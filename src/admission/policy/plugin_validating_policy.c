/* plugin_validating_policy.c - ValidatingAdmissionPolicy: expressions that requests must satisfy.
 *
 * What a policy finds wrong is refused, warned of or noted for auditors, as its bindings say. All
 * policies are asked, also after one has refused; the first refusal is the answer. */
#include "admission/memory.h"
#include "admission/plugins.h"
#include "admission/policy/policy.h"
#include "admission/xray.h"
#include "base/json.h"
#include "base/banned.h"

enum {
    MESSAGE_BYTES = 5 << 10, /* of a message that an expression has made; past it there is none */
    ANNOTATION_BYTES = 10 << 10, /* of a value for auditors; the rest is cut off */
    FAILURES_MAX = 50,           /* that auditors are told of, of one request */
};

struct compiled {
    const struct scope_plan *plan;
    const struct value *validations, *annotations;     /* as they are written */
    struct scope_expressions checks, messages, values; /* item by item */
};

static void compile(struct arena *a, struct policy *p)
{
    struct compiled *c = arena_new(a, struct compiled);
    c->plan = scope_plan(a, EXPRESSION_AUTHORIZER | (p->param_kind.n ? EXPRESSION_PARAMS : 0u),
                         value_get(p->spec, STR("variables")), NULL);
    c->validations = value_get(p->spec, STR("validations"));
    c->annotations = value_get(p->spec, STR("auditAnnotations"));
    c->checks = scope_compile(a, c->plan, c->validations, "expression");
    c->messages = scope_compile(a, c->plan, c->validations, "messageExpression");
    c->values = scope_compile(a, c->plan, c->annotations, "valueExpression");
    p->compiled = c;
    p->sees_namespace = scope_uses(&c->plan->variables, EXPRESSION_NAMESPACE) ||
                        scope_uses(&c->checks, EXPRESSION_NAMESPACE) ||
                        scope_uses(&c->messages, EXPRESSION_NAMESPACE) ||
                        scope_uses(&c->values, EXPRESSION_NAMESPACE);
}

/* ---- One request ---- */

/* What a policy says about one of its validations. */
struct decision {
    bool is_refused, is_failure; /* a failure: it could not be evaluated */
    enum err_code code;
    struct str msg;
};

struct decisions {
    struct decision *at;
    size_t n;
};

struct review {
    struct admission_request *req;
    const struct value *obj;
    struct view view; /* of the last one asked; all zero: none was */
    struct value request;
    const struct value *ns;
    /* The first refusal: */
    const struct policy_use *refusing; /* NULL: none */
    struct decision refusal;
    struct value failures; /* for auditors: a list */
    /* Of the policy that is asked: */
    struct value notes; /* for auditors: lists of texts by their keys */
};

static void refuse(struct review *rv, const struct policy_use *use, const struct decision *d)
{
    if (rv->refusing)
        return;
    rv->refusing = use;
    rv->refusal = *d;
}

/* What follows from an error is for the policy to say. */
static struct decision failure(const struct policy *p, struct str msg)
{
    return (struct decision){
        .is_refused = !p->ignores_failure, .is_failure = true, .code = ERR_INVALID, .msg = msg
    };
}

static void fail_all(struct review *rv, const struct policy *p, struct str msg,
                     struct decisions *ret)
{
    ret->at = arena_new(rv->req->arena, struct decision);
    ret->at[0] = failure(p, msg);
    ret->n = 1;
}

/* ---- Validations ---- */

static enum err_code code_of(struct str reason)
{
    if (str_eq(reason, STR("Forbidden")))
        return ERR_FORBIDDEN;
    if (str_eq(reason, STR("Unauthorized")))
        return ERR_UNAUTHORIZED;
    return str_eq(reason, STR("RequestEntityTooLarge")) ? ERR_TOO_LARGE : ERR_INVALID;
}

/* ERR_INVALID: the budget is used up; what was decided counts no more. Other errors are the
 * request's. */
static int check(struct review *rv, const struct policy *p, struct scope *s, struct decisions *ret,
                 struct err *err)
{
    struct arena *a = rv->req->arena;
    const struct compiled *c = p->compiled;
    ret->n = c->checks.n;
    ret->at = arena_array(a, struct decision, ret->n);
    for (size_t i = 0; i < ret->n; i++) {
        struct err why = ERR_INIT(a);
        struct cel_value v;
        int r = scope_eval(s, &c->checks.at[i], &v, &why);
        if (arena_spent(a))
            return allowance_error(a->allowance, err);
        if (r < 0 && r != -ERR_INVALID)
            return err_set(err, ERR_INVALID, STR_FMT, STR_ARG(why.msg));
        if (r < 0)
            ret->at[i] = failure(p, why.msg);
        else
            ret->at[i].is_refused = !v.b;
    }
    return 0;
}

/* The words for a validation that does not hold. */
static struct str plain_message(struct arena *a, const struct compiled *c, size_t i)
{
    struct str text = str_trim(value_text(value_at(c->validations, i), "message"));
    return text.n ? text
                  : arena_printf(a, "failed expression: " STR_FMT,
                                 STR_ARG(str_trim(c->checks.at[i].text)));
}

/* What a messageExpression has made of it; empty if it is of no use. */
static struct str made_message(struct arena *a, const struct cel_value *v)
{
    struct str text = v->kind == CEL_STRING ? str_trim(cel_text(v)) : STR("");
    bool is_good = text.n <= MESSAGE_BYTES && str_find(text, '\n') < 0;
    return is_good ? arena_str(a, text) : STR("");
}

/* Upstream evaluates the messages of all validations, and fails if that costs too much. Where it
 * cannot, those that nobody will see are left out. */
static bool may_run_out(const struct compiled *c, uint64_t budget)
{
    return (c->messages.n + c->plan->variables.n) * (uint64_t)SCOPE_CALL_COST > budget;
}

static int make_messages(struct review *rv, const struct compiled *c, struct scope *s,
                         struct decisions *all, struct err *err)
{
    struct arena *a = rv->req->arena;
    bool needs_all = may_run_out(c, scope_budget(s));
    for (size_t i = 0; i < all->n; i++) {
        struct decision *d = &all->at[i];
        bool is_seen = d->is_refused && !d->is_failure;
        struct cel_value v;
        struct err why = ERR_INIT(a);
        if (!c->messages.at[i].text.n || !(is_seen || needs_all))
            continue;
        int r = scope_eval(s, &c->messages.at[i], &v, &why);
        if (arena_spent(a))
            return allowance_error(a->allowance, err);
        if (r < 0 && r != -ERR_INVALID)
            return err_set(err, ERR_INVALID, "failed messageExpression: " STR_FMT,
                           STR_ARG(why.msg));
        if (is_seen && r == 0)
            d->msg = made_message(a, &v);
    }
    return 0;
}

static void finish(struct review *rv, const struct policy *p, struct decisions *all)
{
    const struct compiled *c = p->compiled;
    for (size_t i = 0; i < all->n; i++) {
        struct decision *d = &all->at[i];
        if (!d->is_refused || d->is_failure)
            continue;
        d->code = code_of(value_text(value_at(c->validations, i), "reason"));
        if (!d->msg.n)
            d->msg = plain_message(rv->req->arena, c, i);
    }
}

static bool has_refusal(const struct decisions *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->at[i].is_refused && !all->at[i].is_failure)
            return true;
    return false;
}

static int decide(struct review *rv, const struct policy *p, const struct scope_input *in,
                  struct decisions *ret, struct err *err)
{
    const struct compiled *c = p->compiled;
    struct scope *s = scope_new(c->plan, in, SCOPE_COST);
    int r = check(rv, p, s, ret, err);
    uint64_t left = scope_budget(s);
    scope_free(s);
    if (r < 0)
        return r;
    if (has_refusal(ret) || may_run_out(c, left)) {
        struct scope_input hidden = *in;
        hidden.hides_authorizer = true;
        s = scope_new(c->plan, &hidden, left);
        r = make_messages(rv, c, s, ret, err);
        scope_free(s);
    }
    if (r == -ERR_INVALID) { /* nothing holds then that has not failed before */
        for (size_t i = 0; i < ret->n; i++)
            if (!ret->at[i].is_failure)
                ret->at[i] = failure(p, err->msg);
        err_clear(err);
        r = 0;
    }
    finish(rv, p, ret);
    return r;
}

/* ---- For auditors ---- */

/* The same value for a key is noted once. */
static void add_note(struct review *rv, struct str key, struct str text)
{
    struct arena *a = rv->req->arena;
    struct value *list = value_edit(a, &rv->notes, key);
    if (!list)
        list = value_set(a, &rv->notes, key, value_array());
    value_each_item (it, list)
        if (str_eq(value_str(it), text))
            return;
    value_put_item(a, list, value_string(text));
}

static int note_one(struct review *rv, const struct policy_use *use, struct scope *s, size_t i,
                    struct err *err)
{
    struct arena *a = rv->req->arena;
    const struct compiled *c = use->policy->compiled;
    struct err why = ERR_INIT(a);
    struct cel_value v;
    int r = scope_eval(s, &c->values.at[i], &v, &why);
    if (arena_spent(a))
        return allowance_error(a->allowance, err);
    if (r < 0 && r != -ERR_INVALID)
        return err_set(err, ERR_INVALID, STR_FMT, STR_ARG(why.msg));
    if (r < 0 && !use->policy->ignores_failure)
        refuse(rv, use, &(struct decision){ true, true, ERR_INVALID, why.msg });
    struct str text = r == 0 ? str_trim(cel_text(&v)) : STR("");
    if (text.n)
        add_note(rv, value_text(value_at(c->annotations, i), "key"),
                 arena_str(a, str_take(text, ANNOTATION_BYTES)));
    return 0;
}

static int note_each(struct review *rv, const struct policy_use *use, struct scope *s,
                     struct err *err)
{
    const struct compiled *c = use->policy->compiled;
    for (size_t i = 0; i < c->values.n; i++) {
        int r = note_one(rv, use, s, i, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int note(struct review *rv, const struct policy_use *use, const struct scope_input *in,
                struct err *err)
{
    const struct compiled *c = use->policy->compiled;
    struct scope_input hidden = *in;
    if (!c->values.n)
        return 0;
    hidden.hides_authorizer = true;
    struct scope *s = scope_new(c->plan, &hidden, SCOPE_COST);
    int r = note_each(rv, use, s, err);
    scope_free(s);
    return r;
}

/* What the policy has to say beside its decisions, when all its bindings have been asked. */
static void publish(struct review *rv, const struct policy *p)
{
    struct arena *a = rv->req->arena;
    value_each_field (f, &rv->notes) {
        autobuf all = { 0 };
        value_each_item (it, &f->val)
            buf_printf(&all, "%s" STR_FMT, all.n ? ", " : "", STR_ARG(value_str(it)));
        admission_annotate(rv->req,
                           arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(p->name), STR_ARG(f->key)),
                           arena_str(a, buf_str(&all)));
    }
    rv->notes = value_object();
}

static void add_failure(struct review *rv, const struct policy_use *use, size_t i, struct str msg)
{
    struct arena *a = rv->req->arena;
    const struct value *actions = value_get(use->binding->spec, STR("validationActions"));
    struct value one = value_object();
    if (rv->failures.n >= FAILURES_MAX)
        return;
    value_put_new(a, &one, STR("message"), value_string(msg));
    value_put_new(a, &one, STR("policy"), value_string(use->policy->name));
    value_put_new(a, &one, STR("binding"), value_string(use->binding->name));
    value_put_new(a, &one, STR("expressionIndex"), value_int((int64_t)i));
    value_put_new(a, &one, STR("validationActions"), value_clone(a, actions));
    value_put_item(a, &rv->failures, one);
}

/* JSON as Go's encoder has it unless it is told otherwise: these stand in texts only. */
static struct str html_safe_json(struct arena *a, const struct value *v)
{
    autobuf plain = { 0 }, safe = { 0 };
    json_write(&plain, v);
    for (size_t i = 0; i < plain.n; i++) {
        unsigned char c = (unsigned char)buf_str(&plain).p[i];
        if (c == '<' || c == '>' || c == '&')
            buf_printf(&safe, "\\u%04x", c);
        else
            buf_byte(&safe, (char)c);
    }
    return arena_str(a, buf_str(&safe));
}

/* ---- All of it ---- */

static void act(struct review *rv, const struct policy_use *use, size_t i, const struct decision *d)
{
    struct arena *a = rv->req->arena;
    const struct str policy = use->policy->name, binding = use->binding->name;
    if (!d->is_refused)
        return;
    value_each_item (it, value_get(use->binding->spec, STR("validationActions"))) {
        if (str_eq(value_str(it), STR("Deny")))
            refuse(rv, use, d);
        else if (str_eq(value_str(it), STR("Audit")))
            add_failure(rv, use, i, d->msg);
        else if (str_eq(value_str(it), STR("Warn")))
            admission_warn(rv->req,
                           arena_printf(a,
                                        "Validation failed for ValidatingAdmissionPolicy '" STR_FMT
                                        "' with binding '" STR_FMT "': " STR_FMT,
                                        STR_ARG(policy), STR_ARG(binding), STR_ARG(d->msg)));
    }
}

/* What the policy sees; ERR_INVALID if it cannot be shown. */
static int look(struct review *rv, const struct policy_use *use, struct err *err)
{
    if (rv->view.resource == use->as)
        return 0;
    int r = view_make(rv->req, rv->obj, use->as, &rv->view, err);
    if (r < 0) {
        struct str why = err->msg;
        rv->view = (struct view){ 0 };
        err_clear(err);
        return err_set(err, ERR_INVALID,
                       "failed to configure binding: failed to convert object version: " STR_FMT,
                       STR_ARG(why));
    }
    rv->request = scope_request(rv->req, &rv->view);
    return 0;
}

/* Decisions of a policy that could be asked. ERR_INVALID: it failed as a whole. */
static int try_to_judge(struct review *rv, const struct policy_use *use, struct decisions *ret,
                        struct err *err)
{
    const struct scope_input in = { .req = rv->req,
                                    .view = &rv->view,
                                    .request = &rv->request,
                                    .params = use->param,
                                    .ns = rv->ns };
    struct str name;
    int r = conditions_hold(use->policy->conditions, rv->req, &rv->view, use->param, &name, err);
    if (r <= 0)
        return r;
    r = decide(rv, use->policy, &in, ret, err);
    return r < 0 ? r : note(rv, use, &in, err);
}

static int judge(struct review *rv, const struct policy_use *use, struct decisions *ret,
                 struct err *err)
{
    int r = try_to_judge(rv, use, ret, err);
    if (r != -ERR_INVALID || arena_spent(rv->req->arena))
        return r;
    fail_all(rv, use->policy, err->msg, ret);
    err_clear(err);
    return 0;
}

static int ask(struct review *rv, const struct policy_use *use, struct err *err)
{
    struct decisions all = { 0 };
    struct err why = ERR_INIT(rv->req->arena);
    xray_stage(rv->req->xray, "policy", use->policy->name, rv->obj);
    if (!use->fault.n && look(rv, use, &why) == 0) {
        int r = judge(rv, use, &all, err);
        for (size_t i = 0; r == 0 && i < all.n; i++)
            act(rv, use, i, &all.at[i]);
        return r;
    }
    const struct decision d = failure(use->policy, use->fault.n ? use->fault : why.msg);
    if (d.is_refused)
        refuse(rv, use, &d);
    return 0;
}

static int answer(struct review *rv, struct err *err)
{
    struct arena *a = rv->req->arena;
    if (rv->failures.n)
        admission_annotate(rv->req, STR("validation.policy.admission.k8s.io/validation_failure"),
                           html_safe_json(a, &rv->failures));
    if (!rv->refusing)
        return 0;
    const struct policy_binding *b = rv->refusing->binding;
    struct str by = b ? arena_printf(a, " with binding '" STR_FMT "'", STR_ARG(b->name)) : STR("");
    struct str msg = arena_printf(
        a, "ValidatingAdmissionPolicy '" STR_FMT "'" STR_FMT " denied request: " STR_FMT,
        STR_ARG(rv->refusing->policy->name), STR_ARG(by), STR_ARG(rv->refusal.msg));
    (void)admission_forbid(rv->req, rv->obj, msg, err);
    err->code = rv->refusal.code;
    err_add_cause(err, STR(""), STR(""), msg);
    return -(int)err->code;
}

static int ask_all(struct review *rv, const struct policy_uses *uses, struct err *err)
{
    int r = policy_namespace(rv->req, uses, &rv->ns, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < uses->n; i++) {
        r = ask(rv, &uses->at[i], err);
        if (r < 0)
            return r;
        if (i + 1 == uses->n || uses->at[i + 1].policy != uses->at[i].policy)
            publish(rv, uses->at[i].policy);
    }
    return answer(rv, err);
}

static int validate(struct admission_request *req, const struct value *obj, struct err *err)
{
    struct admission_recalled *memory;
    struct policy_uses uses = { 0 };
    if (match_exempts(req->stored, false))
        return 0;
    int r = admission_recall(req, &memory, err);
    if (r < 0 || !memory)
        return r;
    policy_find(admission_recalled(memory), req, obj, &uses);
    if (uses.n) {
        struct review rv = {
            .req = req, .obj = obj, .failures = value_array(), .notes = value_object()
        };
        r = ask_all(&rv, &uses, err);
    }
    admission_release(memory);
    return r;
}

static int make(struct admission_request *req, struct arena *a, const void **ret, struct err *err)
{
    static const struct policy_sort sort = { STR("validatingadmissionpolicies"),
                                             STR("validatingadmissionpolicybindings"), compile };
    return policy_set_read(&sort, req, a, ret, err);
}

static const struct admission_source sources[] = {
    { STR("admissionregistration.k8s.io"), STR("validatingadmissionpolicies") },
    { STR("admissionregistration.k8s.io"), STR("validatingadmissionpolicybindings") },
    { STR(""), STR("") },
};
static const struct admission_memo memo = { .made_of = sources,
                                            .make = make,
                                            .interest = policy_set_interest };

const struct admission_plugin plugin_validating_policy = { .name = "ValidatingAdmissionPolicy",
                                                           .memo = &memo,
                                                           .validate = validate };
