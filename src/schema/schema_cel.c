#include "schema/schema_cel.h"

#include "api/validate/validate.h"
#include "base/buf.h"
#include "schema/schema_fields.h"
#include "schema/schema_lists.h"

#include "base/banned.h"

enum {
    CALL_BUDGET = 1000000,    /* of one expression */
    OBJECT_BUDGET = 10000000, /* of all that are run for an object */
    MESSAGE_BYTES = 5 * 1024, /* of what a messageExpression makes */
};

/* ---- Compiling ---- */

/* Takes ".a" or "['a']" from the front of a path. */
static struct str next_name(struct arena *a, struct str *path)
{
    autobuf name = { 0 };
    bool quoted = str_starts(*path, STR("['"));
    struct str rest = str_skip(*path, quoted ? 2 : 1);
    while (rest.n && (quoted ? *rest.p != '\'' : *rest.p != '.' && *rest.p != '[')) {
        rest = str_skip(rest, quoted && *rest.p == '\\' && rest.n > 1 ? 1 : 0);
        buf_byte(&name, *rest.p);
        rest = str_skip(rest, 1);
    }
    *path = str_skip(rest, quoted ? 2 : 0);
    return arena_str(a, buf_str(&name));
}

/* ".a.b" and "['a'].b" as faults name it: "a.b", or "a[b]" where b is the key of a map. */
static struct str normal_path(struct arena *a, const struct schema *s, struct str path)
{
    autobuf out = { 0 };
    while (path.n) {
        struct str name = next_name(a, &path);
        const struct schema *property = s ? schema_property(s, name) : NULL;
        bool is_key = s && !property && s->additional;
        if (is_key)
            buf_printf(&out, "[" STR_FMT "]", STR_ARG(name));
        else
            buf_printf(&out, "%s" STR_FMT, out.n ? "." : "", STR_ARG(name));
        s = property ? property : is_key ? s->additional : NULL;
    }
    return arena_str(a, buf_str(&out));
}

static const struct cel_program *compile(struct arena *a, const struct cel_env *env,
                                         struct str text, enum cel_kind wanted, const char *prefix,
                                         const char *wrong_type, struct str *ret_fault)
{
    struct err err = ERR_INIT(a);
    const struct cel_program *p;
    if (cel_compile(a, env, text, &p, &err) < 0) {
        *ret_fault = arena_printf(a, "%s" STR_FMT, prefix, STR_ARG(err.msg));
        return NULL;
    }
    if (cel_program_type(p)->kind == wanted)
        return p;
    *ret_fault = str_of(wrong_type);
    return NULL;
}

static void compile_rule(struct arena *a, const struct cel_env *env, const struct schema *s,
                         struct schema_program *p)
{
    p->check = compile(a, env, p->rule->rule, CEL_BOOL,
                       "compilation failed: ", "cel expression must evaluate to a bool", &p->fault);
    if (!p->check)
        return;
    p->uses_old = cel_program_uses(p->check, 1);
    p->field_path = normal_path(a, s, p->rule->field_path);
    if (p->rule->message_expression.n)
        p->message = compile(a, env, p->rule->message_expression, CEL_STRING,
                             "messageExpression compilation failed: ",
                             "messageExpression must evaluate to a string", &p->message_fault);
}

static const struct cel_env *environment(struct arena *a, const struct cel_type *self,
                                         const struct cel_type *old)
{
    struct cel_env *env = arena_new(a, struct cel_env);
    struct cel_variable *variables = arena_array(a, struct cel_variable, 2);
    variables[0] = (struct cel_variable){ STR("self"), self };
    variables[1] = (struct cel_variable){ STR("oldSelf"), old };
    env->variables = variables;
    env->n_variables = 2;
    return env;
}

void schema_program_list(struct arena *a, const struct schema *rules, const struct cel_type *type,
                         struct schema_program **ret, size_t *ret_n)
{
    *ret = NULL;
    *ret_n = 0;
    if (!rules->n_expressions || !type)
        return;
    const struct cel_env *plain = environment(a, type, type),
                         *optional = environment(a, type, cel_type_optional(a, type));
    *ret = arena_array(a, struct schema_program, rules->n_expressions);
    for (size_t i = 0; i < rules->n_expressions; i++) {
        struct schema_program *p = &(*ret)[(*ret_n)++];
        p->rule = &rules->expressions[i];
        p->self = type;
        compile_rule(a, p->rule->optional_old_self ? optional : plain, rules, p);
    }
}

/* `rules` is `s` itself, or part of an allOf of it. `type` is NULL as long as no rule around it
 * needed one: types take more memory than programs. */
static const struct schema_programs *build(struct schema_types *types, const struct schema *rules,
                                           const struct schema *s, const struct cel_type *type,
                                           bool root);

static void build_properties(struct schema_types *types, const struct schema *rules,
                             const struct schema *s, const struct cel_type *type,
                             struct schema_programs *ret)
{
    struct schema_property_programs *list =
        arena_array(types->a, struct schema_property_programs, rules->n_properties);
    for (uint32_t i = 0; i < rules->n_properties; i++) {
        const struct schema_property *p = &rules->properties[i];
        const struct schema *node = schema_property(s, p->name);
        if (!node || !(p->schema->flags & SCHEMA_HAS_EXPRESSIONS))
            continue;
        const struct cel_type *t = type ? schema_type_field(types, type, node, p->name) : NULL;
        const struct schema_programs *sub =
            t || !type ? build(types, p->schema, node, t, node->flags & SCHEMA_EMBEDDED) : NULL;
        if (sub)
            list[ret->n_properties++] = (struct schema_property_programs){ p->name, sub };
    }
    ret->properties = list;
}

static void build_all_of(struct schema_types *types, const struct schema *rules,
                         const struct schema *s, const struct cel_type *type, bool root,
                         struct schema_programs *ret)
{
    const struct schema_choice *choice = rules->rules ? &rules->rules->all_of : NULL;
    if (!choice || !choice->n)
        return;
    ret->all_of = arena_array(types->a, const struct schema_programs *, choice->n);
    for (size_t i = 0; i < choice->n; i++) {
        const struct schema_programs *sub = build(types, choice->of[i], s, type, root);
        if (sub)
            ret->all_of[ret->n_all_of++] = sub;
    }
}

static const struct schema_programs *build(struct schema_types *types, const struct schema *rules,
                                           const struct schema *s, const struct cel_type *type,
                                           bool root)
{
    if (!(rules->flags & SCHEMA_HAS_EXPRESSIONS))
        return NULL;
    struct schema_programs *p = arena_new(types->a, struct schema_programs);
    if (!type && rules->n_expressions)
        type = schema_type(types, s, root);
    const struct cel_type *element =
        type && type->n_params ? type->params[type->n_params - 1] : NULL;
    p->schema = s;
    schema_program_list(types->a, rules, type, &p->list, &p->n);
    if (rules->items && s->items && (element || !type))
        p->items = build(types, rules->items, s->items, element, s->items->flags & SCHEMA_EMBEDDED);
    if (rules->additional && s->additional && (element || !type))
        p->additional = build(types, rules->additional, s->additional, element,
                              s->additional->flags & SCHEMA_EMBEDDED);
    build_properties(types, rules, s, type, p);
    build_all_of(types, rules, s, type, root, p);
    bool any = p->n || p->items || p->additional || p->n_properties || p->n_all_of;
    return any ? p : NULL;
}

const struct schema_programs *schema_programs_compile(struct arena *a, const struct schema *s,
                                                      bool root)
{
    if (!(s->flags & SCHEMA_HAS_EXPRESSIONS))
        return NULL;
    struct schema_types types = { .a = a };
    const struct schema_programs *p = build(&types, s, s, NULL, root);
    schema_types_done(&types);
    return p;
}

/* ---- Running ---- */

/* What did not change may be wrong: here, or else in the nearest thing around that is known to have
 * been there before. NULL pairs: not known. */
struct before {
    const struct value *now, *old;
    const struct value *around_now, *around_old;
};

static bool is_unchanged(const struct before *b)
{
    if (b->now)
        return value_eq(b->now, b->old);
    return b->around_now && value_eq(b->around_now, b->around_old);
}

static struct before inside(const struct before *b, const struct value *now,
                            const struct value *old)
{
    if (!b->now)
        return *b;
    return (struct before){ old ? now : NULL, old, b->now, b->old };
}

struct runner {
    struct field_errors *e;
    struct arena scratch; /* for one evaluation at a time */
    int64_t budget;       /* negative: used up */
};

static const char *type_name(const struct schema *s)
{
    switch (s->types) {
    case SCHEMA_OBJECT:
        return "object";
    case SCHEMA_ARRAY:
        return "array";
    case SCHEMA_STRING:
        return "string";
    case SCHEMA_INTEGER:
        return "integer";
    case SCHEMA_NUMBER:
        return "number";
    case SCHEMA_BOOLEAN:
        return "boolean";
    default:
        return "";
    }
}

static struct str rule_text(const struct schema_program *p)
{
    return str_trim(p->rule->message.n ? p->rule->message : p->rule->rule);
}

static void add_trouble(struct runner *r, const struct field_path *path, const struct schema *s,
                        struct str words)
{
    field_error(r->e, FIELD_INVALID, path, field_quoted(r->e, str_of(type_name(s))), STR_FMT,
                STR_ARG(words));
}

/* The words of a messageExpression; empty if it has none to say. False: the budget is used up. */
static bool make_message(struct runner *r, const struct schema_programs *ps,
                         const struct schema_program *p, const struct field_path *path,
                         const struct cel_value *vars, struct str *ret)
{
    struct err err = ERR_INIT(r->e->arena);
    struct cel_value v;
    uint64_t cost = 0;
    *ret = STR("");
    int failed = cel_eval(&r->scratch, p->message, vars, CALL_BUDGET, &v, &cost, &err);
    if ((int64_t)cost > r->budget || failed == -ERR_TOO_LARGE) {
        add_trouble(r, path, ps->schema,
                    failed == -ERR_TOO_LARGE
                        ? arena_printf(r->e->arena,
                                       "no further validation rules will be run due to call cost "
                                       "exceeds limit for messageExpression: \"" STR_FMT "\"",
                                       STR_ARG(p->rule->message_expression))
                        : STR("messageExpression evaluation failed due to running out of cost "
                              "budget, no further validation rules will be run"));
        r->budget = -1;
        return false;
    }
    r->budget -= (int64_t)cost;
    struct str text = failed ? STR("") : str_trim(cel_text(&v));
    if (text.n <= MESSAGE_BYTES && str_find(text, '\n') < 0)
        *ret = arena_str(r->e->arena, text);
    return true;
}

static void add_fault(struct runner *r, const struct schema_programs *ps,
                      const struct schema_program *p, const struct field_path *path,
                      const struct value *obj, struct str detail, const struct before *before)
{
    bool whole = ps->schema->types == SCHEMA_OBJECT || ps->schema->types == SCHEMA_ARRAY;
    struct field_errors mine = FIELD_ERRORS_INIT(r->e->arena), *e = &mine;
    struct str shown = whole ? STR("") : field_shown(e, obj);
    struct str reason = p->rule->reason;
    if (str_eq(reason, STR("FieldValueForbidden")))
        field_error(e, FIELD_FORBIDDEN, path, STR(""), STR_FMT, STR_ARG(detail));
    else if (str_eq(reason, STR("FieldValueRequired")))
        field_error(e, FIELD_REQUIRED, path, STR(""), STR_FMT, STR_ARG(detail));
    else if (str_eq(reason, STR("FieldValueDuplicate")))
        field_error(e, FIELD_DUPLICATE, path, shown, "%s", "");
    else
        field_error(e, FIELD_INVALID, path, shown, STR_FMT, STR_ARG(detail));
    if (p->uses_old || !is_unchanged(before))
        field_errors_add(r->e, e);
    else if (r->e->warnings && e->first)
        validate_add_warning(r->e->warnings, STR_FMT ": " STR_FMT, STR_ARG(e->first->field),
                             STR_ARG(e->first->msg));
}

/* The evaluation failed, or its cost was too much. */
static void add_failure(struct runner *r, const struct schema_programs *ps,
                        const struct schema_program *p, const struct field_path *path, int failed,
                        const struct err *err)
{
    struct arena *a = r->e->arena;
    struct str rule = rule_text(p);
    if (failed == -ERR_TOO_LARGE) {
        r->budget = -1;
        add_trouble(r, path, ps->schema,
                    arena_printf(a,
                                 "'" STR_FMT "': no further validation rules will be run due to "
                                 "call cost exceeds limit for rule: " STR_FMT,
                                 STR_ARG(err->msg), STR_ARG(rule)));
    } else if (str_starts(err->msg, STR("no such overload"))) {
        add_trouble(r, path, ps->schema,
                    arena_printf(a,
                                 "'" STR_FMT "': call arguments did not match a supported "
                                 "operator, function or macro signature for rule: " STR_FMT,
                                 STR_ARG(err->msg), STR_ARG(rule)));
    } else {
        add_trouble(r, path, ps->schema,
                    arena_printf(a, STR_FMT " evaluating rule: " STR_FMT, STR_ARG(err->msg),
                                 STR_ARG(rule)));
    }
}

static void run_one(struct runner *r, const struct schema_programs *ps,
                    const struct schema_program *p, const struct field_path *path,
                    const struct value *obj, const struct cel_value *vars,
                    const struct before *before)
{
    struct err err = ERR_INIT(&r->scratch);
    struct cel_value v;
    uint64_t cost = 0;
    int failed = cel_eval(&r->scratch, p->check, vars, CALL_BUDGET, &v, &cost, &err);
    if (arena_spent(&r->scratch)) { /* whoever reports the faults says so */
        r->budget = -1;
        return;
    }
    if (failed != -ERR_TOO_LARGE && cost > (uint64_t)r->budget) {
        add_trouble(r, path, ps->schema,
                    STR("validation failed due to running out of cost budget, no further "
                        "validation rules will be run"));
        r->budget = -1;
        return;
    }
    r->budget -= (int64_t)cost;
    if (failed < 0) {
        add_failure(r, ps, p, path, failed, &err);
        return;
    }
    if (v.kind == CEL_BOOL && v.b)
        return;
    struct field_path below = field_child(path, p->field_path);
    const struct field_path *at = p->field_path.n ? &below : path;
    struct str detail = STR("");
    if (p->message && !make_message(r, ps, p, at, vars, &detail))
        return;
    if (!detail.n)
        detail = p->rule->message.n
                     ? str_trim(p->rule->message)
                     : arena_printf(r->e->arena, "failed rule: " STR_FMT, STR_ARG(rule_text(p)));
    add_fault(r, ps, p, at, obj, detail, before);
}

static void run_list(struct runner *r, const struct schema_programs *ps,
                     const struct field_path *path, const struct value *obj,
                     const struct value *old, const struct before *before)
{
    if (ps->n && r->budget == 0) {
        add_trouble(r, path, ps->schema,
                    STR("validation failed due to running out of cost budget, no further "
                        "validation rules will be run"));
        r->budget = -1;
    }
    for (size_t i = 0; i < ps->n && r->budget >= 0; i++) {
        const struct schema_program *p = &ps->list[i];
        bool optional = p->rule->optional_old_self;
        if (!str_trim(p->rule->rule).n)
            continue;
        if (!p->check) {
            add_trouble(
                r, path, ps->schema,
                arena_printf(r->e->arena, "rule compile error: " STR_FMT, STR_ARG(p->fault)));
            continue;
        }
        if (p->uses_old && !old && !optional)
            continue;
        struct arena *scratch = &r->scratch;
        struct cel_value vars[2] = { cel_wrap(scratch, obj, p->self) };
        struct cel_value was = old ? cel_wrap(scratch, old, p->self) : cel_of_null();
        vars[1] = optional ? cel_of_optional(scratch, old ? &was : NULL) : was;
        run_one(r, ps, p, path, obj, vars, before);
        arena_reset(scratch);
    }
}

static void run(struct runner *r, const struct schema_programs *ps, const struct field_path *path,
                const struct value *obj, const struct value *old, const struct before *before);

static void run_items(struct runner *r, const struct schema_programs *ps,
                      const struct field_path *path, const struct value *list,
                      const struct value *old, const struct before *before)
{
    struct schema_old_items olds = { .arena = r->e->arena, .list = ps->schema, .old = old };
    for (size_t i = 0; ps->items && i < list->n && r->budget >= 0; i++) {
        struct field_path here = field_index(path, i);
        const struct value *item = value_at(list, i), *was = schema_old_item(&olds, list, i);
        struct before b = inside(before, item, was);
        run(r, ps->items, &here, item, was, &b);
    }
}

static void run_fields(struct runner *r, const struct schema_programs *ps,
                       const struct field_path *path, const struct value *obj,
                       const struct value *old, const struct before *before)
{
    struct schema_fields fields = { .arena = r->e->arena, .obj = obj },
                         olds = { .arena = r->e->arena, .obj = old };
    value_each_field (f, ps->additional ? obj : NULL) {
        struct field_path here = field_key(path, f->key);
        const struct value *was = schema_fields_get(&olds, f->key);
        struct before b = inside(before, &f->val, was);
        if (r->budget >= 0)
            run(r, ps->additional, &here, &f->val, was, &b);
    }
    for (size_t i = 0; i < ps->n_properties && r->budget >= 0; i++) {
        struct str name = ps->properties[i].name;
        const struct value *v = schema_fields_get(&fields, name),
                           *was = schema_fields_get(&olds, name);
        struct field_path here = field_child(path, name);
        bool type_meta = !path && (str_eq(name, STR("apiVersion")) || str_eq(name, STR("kind")));
        struct before b = inside(before, v, was);
        if (type_meta)
            b = (struct before){ 0 };
        if (v)
            run(r, ps->properties[i].programs, &here, v, was, &b);
    }
}

static void run(struct runner *r, const struct schema_programs *ps, const struct field_path *path,
                const struct value *obj, const struct value *old, const struct before *before)
{
    if (obj->type == VALUE_NULL)
        return;
    if (value_is(old, VALUE_NULL))
        old = NULL;
    run_list(r, ps, path, obj, old, before);
    struct before around = { .around_now = before->around_now, .around_old = before->around_old };
    for (size_t i = 0; i < ps->n_all_of && r->budget >= 0; i++)
        run(r, ps->all_of[i], path, obj, old, &around);
    if (obj->type == VALUE_ARRAY)
        run_items(r, ps, path, obj, value_is(old, VALUE_ARRAY) ? old : NULL, before);
    if (obj->type == VALUE_OBJECT)
        run_fields(r, ps, path, obj, value_is(old, VALUE_OBJECT) ? old : NULL, before);
}

void schema_programs_run(struct field_errors *e, const struct schema_programs *p,
                         const struct field_path *path, const struct value *obj,
                         const struct value *old_obj)
{
    struct runner r = { .e = e, .budget = OBJECT_BUDGET };
    struct before before = { old_obj ? obj : NULL, old_obj, NULL, NULL };
    arena_init(&r.scratch);
    arena_allow(&r.scratch, e->arena->allowance);
    run(&r, p, path, obj, old_obj, &before);
    arena_done(&r.scratch);
}
