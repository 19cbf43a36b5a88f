#include "auth/match_conditions.h"

#include "auth/access_review.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "cel/cel.h"
#include "base/banned.h"

struct match_conditions {
    const struct cel_type *request;
    size_t n;
    struct condition {
        struct str text;
        const struct cel_program *program;
    } at[MATCH_CONDITIONS_MAX];
};

/* ---- What expressions see ---- */

static const struct cel_type *selector_type(struct arena *a, const char *name)
{
    const struct cel_type *requirement =
        CEL_OBJECT(a, "kubernetes.SelectorRequirement", { "key", &cel_string },
                   { "operator", &cel_string }, { "values", cel_type_list(a, &cel_string) });
    return CEL_OBJECT(a, name, { "rawSelector", &cel_string },
                      { "requirements", cel_type_list(a, requirement) });
}

static const struct cel_type *request_type(struct arena *a)
{
    const struct cel_type *texts = cel_type_list(a, &cel_string);
    const struct cel_type *resource = CEL_OBJECT(
        a, "kubernetes.ResourceAttributes", { "namespace", &cel_string }, { "verb", &cel_string },
        { "group", &cel_string }, { "version", &cel_string }, { "resource", &cel_string },
        { "subresource", &cel_string }, { "name", &cel_string },
        { "fieldSelector", selector_type(a, "kubernetes.FieldSelectorAttributes") },
        { "labelSelector", selector_type(a, "kubernetes.LabelSelectorAttributes") });
    const struct cel_type *path = CEL_OBJECT(a, "kubernetes.NonResourceAttributes",
                                             { "path", &cel_string }, { "verb", &cel_string });
    return CEL_OBJECT(a, "kubernetes.SubjectAccessReviewSpec", { "resourceAttributes", resource },
                      { "nonResourceAttributes", path }, { "user", &cel_string },
                      { "groups", texts }, { "extra", cel_type_map(a, &cel_string, texts) },
                      { "uid", &cel_string });
}

static const struct cel_env *env_new(struct arena *a, const struct cel_type *request)
{
    struct cel_env *env = arena_new(a, struct cel_env);
    struct cel_variable *v = arena_new(a, struct cel_variable);
    *v = (struct cel_variable){ STR("request"), request };
    env->variables = v;
    env->n_variables = 1;
    return env;
}

/* ---- Reading ---- */

static bool is_known(const struct value *list, size_t n, struct str text)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(value_text(value_at(list, i), "expression"), text))
            return true;
    return false;
}

static const struct cel_program *compile(struct field_errors *e, const struct cel_env *env,
                                         const struct field_path *at, struct str text)
{
    struct err err = ERR_INIT(e->arena);
    const struct cel_program *p;
    if (cel_compile(e->arena, env, text, &p, &err) < 0) {
        field_error(e, FIELD_INVALID, at, field_quoted(e, text), "compilation failed: " STR_FMT,
                    STR_ARG(err.msg));
        return NULL;
    }
    if (cel_program_type(p)->kind == CEL_BOOL && !cel_program_type(p)->wrapper)
        return p;
    struct str type = cel_type_text(e->arena, cel_program_type(p));
    field_error(e, FIELD_INVALID, at, field_quoted(e, text),
                "must evaluate to bool but got " STR_FMT, STR_ARG(type));
    return NULL;
}

static void read_one(struct field_errors *e, const struct cel_env *env, const struct value *list,
                     size_t i, const struct field_path *at, struct match_conditions *ret)
{
    struct str text = value_text(value_at(list, i), "expression");
    if (!str_trim(text).n) {
        field_required(e, at, "");
        return;
    }
    if (is_known(list, i, text)) {
        field_error(e, FIELD_DUPLICATE, at, field_quoted(e, text), "%s", "");
        return;
    }
    const struct cel_program *program = compile(e, env, at, text);
    if (program)
        ret->at[ret->n++] = (struct condition){ arena_str(e->arena, text), program };
}

const struct match_conditions *match_conditions_read(struct field_errors *e,
                                                     const struct value *list,
                                                     const struct field_path *path)
{
    size_t n = value_is(list, VALUE_ARRAY) ? list->n : 0;
    if (n > MATCH_CONDITIONS_MAX) {
        field_error(e, FIELD_TOO_MANY, path, arena_printf(e->arena, "%zu", n),
                    "must have at most %d items", MATCH_CONDITIONS_MAX);
        return NULL;
    }
    struct match_conditions *c = arena_new(e->arena, struct match_conditions);
    c->request = request_type(e->arena);
    const struct cel_env *env = env_new(e->arena, c->request);
    for (size_t i = 0; i < n; i++) {
        struct field_path one = field_index(path, i), at = field_child(&one, STR("expression"));
        read_one(e, env, list, i, &at, c);
    }
    return c->n ? c : NULL;
}

/* ---- Evaluating ---- */

struct failures {
    struct buf text;
    size_t n;
    enum err_code code;
};

static void failures_add(struct failures *all, const struct condition *c, const struct err *err)
{
    buf_printf(&all->text,
               "%scel evaluation error: expression '" STR_FMT "' resulted in error: " STR_FMT,
               all->n++ ? ", " : "", STR_ARG(c->text), STR_ARG(err->msg));
    all->code = err->code == ERR_TOO_LARGE ? ERR_TOO_LARGE : ERR_INVALID;
}

static int evaluate(const struct match_conditions *c, struct arena *a,
                    const struct cel_value *request, uint64_t most, struct failures *failures)
{
    for (size_t i = 0; i < c->n; i++) {
        struct err err = ERR_INIT(a);
        struct cel_value result;
        uint64_t cost;
        if (cel_eval(a, c->at[i].program, request, most, &result, &cost, &err) < 0)
            failures_add(failures, &c->at[i], &err);
        else if (!result.b)
            return 0;
    }
    return failures->n ? -(int)failures->code : 1;
}

int match_conditions_hold(const struct match_conditions *c, struct arena *a, const struct access *q,
                          uint64_t most_each, struct err *err)
{
    struct value tree = access_review_request(a, q);
    const struct cel_value request = cel_wrap(a, &tree, c->request);
    struct failures failures = { 0 };
    int r = evaluate(c, a, &request, most_each, &failures);
    if (r < 0)
        r = err_set(err, failures.code, failures.n > 1 ? "[" STR_FMT "]" : STR_FMT,
                    STR_ARG(buf_str(&failures.text)));
    buf_done(&failures.text);
    return r;
}
