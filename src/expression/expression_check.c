#include "expression/expression_check.h"

#include "base/idiom.h"
#include "base/map.h"
#include "expression/expression_env.h"
#include "base/buf.h"

#include "base/banned.h"

enum { TYPES_MAX = 2 };

/* What an expression must be, exactly. */
struct wanted {
    const struct cel_type *types[TYPES_MAX];
    size_t n;
};

static const struct wanted a_bool = { { &cel_bool }, 1 }, a_string = { { &cel_string }, 1 },
                           a_string_or_null = { { &cel_string, &cel_null }, 2 };

struct checker {
    struct field_errors *e;
    struct map old; /* the texts of the old object */
};

static void add_texts(struct map *texts, const struct value *v)
{
    if (v->type == VALUE_STRING)
        (void)map_set(texts, value_str(v), texts);
    for (size_t i = 0; v->type == VALUE_ARRAY && i < v->n; i++)
        add_texts(texts, value_at(v, i));
    value_each_field (f, v)
        add_texts(texts, &f->val);
}

/* Whether the old object has the same text anywhere: then it was accepted once. */
static bool was_there(const struct checker *c, struct str text)
{
    return map_get(&c->old, text) != NULL;
}

static void fault(struct checker *c, const struct field_path *path, struct str text, struct str why)
{
    field_error(c->e, FIELD_INVALID, path, field_quoted(c->e, text), STR_FMT, STR_ARG(why));
}

/* An expression that is well typed. */
struct typed {
    const struct cel_type *type;
    struct str late; /* what fails of it all the same, before it is evaluated; empty: nothing */
};

/* False where it does not compile, which is noted of a new one. */
static bool compile(struct checker *c, const struct cel_env *env, const struct field_path *path,
                    struct str text, struct typed *ret)
{
    struct err err = ERR_INIT(c->e->arena);
    const struct cel_program *p;
    int r = cel_compile(c->e->arena, env, text, &p, &err);
    if (r == 0 || r == -ERR_BAD_REQUEST) {
        *ret = (struct typed){ cel_program_type(p), err.msg };
        return true;
    }
    if (!was_there(c, text))
        fault(c, path, text,
              arena_printf(c->e->arena, "compilation failed: " STR_FMT, STR_ARG(err.msg)));
    return false;
}

/* After its type was found good. */
static void note_late(struct checker *c, const struct field_path *path, const struct typed *t)
{
    if (t->late.n)
        field_error(c->e, FIELD_INTERNAL, path, STR(""), "program instantiation failed: " STR_FMT,
                    STR_ARG(t->late));
}

/* Null alone is called by the name of its type here. */
static struct str type_text(struct arena *a, const struct cel_type *t)
{
    return t->kind == CEL_NULL ? STR("null_type") : cel_type_text(a, t);
}

static void check(struct checker *c, const struct cel_env *env, const struct field_path *path,
                  struct str text, const struct wanted *wanted)
{
    if (was_there(c, text))
        return;
    struct typed t;
    if (!compile(c, env, path, text, &t))
        return;
    autobuf words = { 0 };
    struct str got = type_text(c->e->arena, t.type);
    for (size_t i = 0; i < wanted->n; i++) {
        struct str name = type_text(c->e->arena, wanted->types[i]);
        if (str_eq(got, name)) {
            note_late(c, path, &t);
            return;
        }
        buf_printf(&words, "%s" STR_FMT, i ? " " : "", STR_ARG(name));
    }
    fault(c, path, text,
          arena_printf(c->e->arena,
                       wanted->n > 1 ? "must evaluate to one of [" STR_FMT "] but got " STR_FMT
                                     : "must evaluate to " STR_FMT " but got " STR_FMT,
                       STR_ARG(buf_str(&words)), STR_ARG(got)));
}

/* The field `name` of each object of a list; those that are empty are somebody else's fault. */
static void check_each(struct checker *c, const struct cel_env *env, const struct field_path *list,
                       const struct value *items, const char *name, const struct wanted *wanted)
{
    size_t i = 0;
    value_each_item (it, items) {
        struct field_path one = field_index(list, i++), at = field_child(&one, str_of(name));
        struct str text = value_str(value_get(it, str_of(name)));
        if (str_trim(text).n)
            check(c, env, &at, text, wanted);
    }
}

/* ---- Webhooks ---- */

static void check_webhooks(struct checker *c, const struct value *obj)
{
    const struct cel_env *env = expression_env(c->e->arena, EXPRESSION_AUTHORIZER, NULL);
    struct field_path webhooks = field_child(NULL, STR("webhooks"));
    size_t i = 0;
    value_each_item (it, value_get(obj, STR("webhooks"))) {
        struct field_path one = field_index(&webhooks, i++),
                          conditions = field_child(&one, STR("matchConditions"));
        check_each(c, env, &conditions, value_get(it, STR("matchConditions")), "expression",
                   &a_bool);
    }
}

/* ---- Policies ---- */

/* Each variable can use those before it. NULL: there are none. */
static const struct cel_type *check_variables(struct checker *c, const struct field_path *spec,
                                              const struct value *variables, unsigned flags)
{
    if (!value_is(variables, VALUE_ARRAY) || !variables->n)
        return NULL;
    struct arena *a = c->e->arena;
    struct field_path list = field_child(spec, STR("variables"));
    struct expression_variables *known = expression_variables(a, variables->n);
    const struct cel_type *type = expression_variables_type(known);
    const struct cel_env *env = expression_env(a, flags, type);
    for (size_t i = 0; i < variables->n && !arena_spent(a); i++) {
        const struct value *v = value_at(variables, i);
        struct field_path one = field_index(&list, i), at = field_child(&one, STR("expression"));
        struct str text = value_str(value_get(v, STR("expression")));
        struct typed t = { .type = &cel_dyn };
        if (str_trim(text).n && compile(c, env, &at, text, &t) && !was_there(c, text))
            note_late(c, &at, &t);
        expression_variables_add(known, value_str(value_get(v, STR("name"))), t.type);
    }
    return type;
}

/* What policies of both sorts have: match conditions, then variables. */
static const struct cel_type *check_head(struct checker *c, const struct field_path *path,
                                         const struct value *spec, unsigned *ret_flags)
{
    struct field_path conditions = field_child(path, STR("matchConditions"));
    *ret_flags =
        EXPRESSION_AUTHORIZER | (value_get(spec, STR("paramKind")) ? EXPRESSION_PARAMS : 0u);
    check_each(c, expression_env(c->e->arena, *ret_flags, NULL), &conditions,
               value_get(spec, STR("matchConditions")), "expression", &a_bool);
    return check_variables(c, path, value_get(spec, STR("variables")), *ret_flags);
}

static void check_policy(struct checker *c, const struct value *obj)
{
    const struct value *spec = value_get(obj, STR("spec"));
    struct arena *a = c->e->arena;
    struct field_path path = field_child(NULL, STR("spec")),
                      validations = field_child(&path, STR("validations")),
                      annotations = field_child(&path, STR("auditAnnotations"));
    unsigned flags;
    const struct cel_type *variables = check_head(c, &path, spec, &flags);
    const struct cel_env *env = expression_env(a, flags, variables);
    const struct value *list = value_get(spec, STR("validations"));
    check_each(c, env, &validations, list, "expression", &a_bool);
    check_each(c, expression_env(a, flags & ~(unsigned)EXPRESSION_AUTHORIZER, variables),
               &validations, list, "messageExpression", &a_string);
    check_each(c, env, &annotations, value_get(spec, STR("auditAnnotations")), "valueExpression",
               &a_string_or_null);
}

/* A mutation of another type than it has a patch for is somebody else's fault. */
static void check_mutating_policy(struct checker *c, const struct value *obj)
{
    const struct value *spec = value_get(obj, STR("spec"));
    struct arena *a = c->e->arena;
    struct field_path path = field_child(NULL, STR("spec")),
                      mutations = field_child(&path, STR("mutations"));
    unsigned flags;
    const struct cel_type *variables = check_head(c, &path, spec, &flags);
    if (!variables) /* mutations know of them even where there are none */
        variables = expression_variables_type(expression_variables(a, 0));
    const struct cel_env *env = expression_env(a, flags | EXPRESSION_PATCHES, variables);
    const struct wanted patches = { { cel_type_list(a, expression_json_patch(a)) }, 1 },
                        an_object = { { expression_object(a, STR("Object")) }, 1 };
    size_t i = 0;
    value_each_item (it, value_get(spec, STR("mutations"))) {
        bool json = str_eq(value_str(value_get(it, STR("patchType"))), STR("JSONPatch"));
        struct str name = json ? STR("jsonPatch") : STR("applyConfiguration");
        struct field_path one = field_index(&mutations, i++), patch = field_child(&one, name),
                          at = field_child(&patch, STR("expression"));
        struct str text = value_str(value_get(value_get(it, name), STR("expression")));
        if (str_trim(text).n && !was_there(c, text))
            check(c, env, &at, str_trim(text), json ? &patches : &an_object);
    }
}

/* ---- Devices ---- */

static void check_selectors(struct checker *c, const struct cel_env *env,
                            const struct field_path *of, const struct value *selectors)
{
    struct field_path list = field_child(of, STR("selectors"));
    size_t i = 0;
    value_each_item (it, selectors) {
        struct field_path one = field_index(&list, i++), cel = field_child(&one, STR("cel")),
                          at = field_child(&cel, STR("expression"));
        const struct value *expression = value_dig(it, "cel", "expression");
        struct str text = value_str(expression);
        if (!value_get(it, STR("cel")) || was_there(c, text))
            continue;
        struct typed t;
        if (!compile(c, env, &at, text, &t))
            continue;
        if (t.type->kind == CEL_BOOL || t.type->kind == CEL_DYN || t.type->kind == CEL_ANY)
            note_late(c, &at, &t);
        else
            fault(c, &at, text,
                  arena_printf(c->e->arena,
                               "must evaluate to bool or the unknown type, not " STR_FMT,
                               STR_ARG(cel_type_text(c->e->arena, t.type))));
    }
}

static void check_class(struct checker *c, const struct value *obj)
{
    struct field_path spec = field_child(NULL, STR("spec"));
    check_selectors(c, expression_device_env(c->e->arena), &spec,
                    value_dig(obj, "spec", "selectors"));
}

static void check_requests(struct checker *c, const struct field_path *spec,
                           const struct value *claim)
{
    const struct cel_env *env = expression_device_env(c->e->arena);
    struct field_path devices = field_child(spec, STR("devices")),
                      requests = field_child(&devices, STR("requests"));
    size_t i = 0;
    value_each_item (it, value_dig(claim, "devices", "requests")) {
        struct field_path one = field_index(&requests, i++),
                          exactly = field_child(&one, STR("exactly")),
                          first = field_child(&one, STR("firstAvailable"));
        check_selectors(c, env, &exactly, value_dig(it, "exactly", "selectors"));
        size_t k = 0;
        value_each_item (choice, value_get(it, STR("firstAvailable"))) {
            struct field_path at = field_index(&first, k++);
            check_selectors(c, env, &at, value_get(choice, STR("selectors")));
        }
    }
}

static void check_claim(struct checker *c, const struct value *obj)
{
    struct field_path spec = field_child(NULL, STR("spec"));
    check_requests(c, &spec, value_get(obj, STR("spec")));
}

static void check_claim_template(struct checker *c, const struct value *obj)
{
    struct field_path spec = field_child(NULL, STR("spec")),
                      inner = field_child(&spec, STR("spec"));
    check_requests(c, &inner, value_dig(obj, "spec", "spec"));
}

/* ---- The order of faults ---- */

/* Upstream looks at an expression where it comes to it. Names that stand beside each other, by who
 * comes first; those that are not here come between the last of an item and matchConditions. */
static const struct {
    const char *name;
    int rank;
} ranks[] = {
    { "metadata", 0 },          { "failurePolicy", 1 },       { "paramKind", 2 },
    { "matchConstraints", 3 },  { "patchType", 4 },           { "key", 4 },
    { "expression", 5 },        { "valueExpression", 5 },     { "messageExpression", 6 },
    { "jsonPatch", 7 },         { "applyConfiguration", 7 },  { "matchConditions", 9 },
    { "variables", 10 },        { "validations", 11 },        { "mutations", 11 },
    { "auditAnnotations", 12 }, { "reinvocationPolicy", 13 },
};
enum { RANK_NAME = 4, RANK_PATCH = 7, RANK_OTHER = 8 };

static int rank_of(struct str name, struct str parent)
{
    if (str_eq(parent, STR("variables")) && str_eq(name, STR("name")))
        return RANK_NAME;
    for (size_t i = 0; i < ARRAY_LEN(ranks); i++)
        if (str_eq(name, str_of(ranks[i].name)))
            return ranks[i].rank;
    return RANK_OTHER;
}

static uint64_t index_of(struct str step)
{
    uint64_t n = 0;
    (void)str_to_u64(str_cut(&step, ']'), &n);
    return n;
}

/* The patch that a mutation should not have comes after the one that it has. */
static int by_rank(int rank, int other)
{
    return rank == RANK_PATCH && other == RANK_PATCH ? -1 : rank - other;
}

static int by_place(struct str path, struct str other)
{
    struct str parent = STR("");
    while (path.n && other.n) {
        struct str step = str_cut(&path, '.'), other_step = str_cut(&other, '.');
        struct str name = str_cut(&step, '['), other_name = str_cut(&other_step, '[');
        if (!str_eq(name, other_name))
            return by_rank(rank_of(name, parent), rank_of(other_name, parent));
        uint64_t i = index_of(step), k = index_of(other_step);
        if (i != k)
            return i < k ? -1 : 1;
        parent = name;
    }
    return 0;
}

/* ---- All of them ---- */

void expression_check(struct field_errors *e, const struct kind_resource *r,
                      const struct value *obj, const struct value *old_obj)
{
    static const struct {
        struct str group, plural;
        void (*check)(struct checker *c, const struct value *obj);
    } kinds[] = {
        { STR("admissionregistration.k8s.io"), STR("mutatingadmissionpolicies"),
          check_mutating_policy },
        { STR("admissionregistration.k8s.io"), STR("mutatingwebhookconfigurations"),
          check_webhooks },
        { STR("admissionregistration.k8s.io"), STR("validatingadmissionpolicies"), check_policy },
        { STR("admissionregistration.k8s.io"), STR("validatingwebhookconfigurations"),
          check_webhooks },
        { STR("resource.k8s.io"), STR("deviceclasses"), check_class },
        { STR("resource.k8s.io"), STR("resourceclaims"), check_claim },
        { STR("resource.k8s.io"), STR("resourceclaimtemplates"), check_claim_template },
    };
    struct field_errors found = FIELD_ERRORS_INIT(e->arena);
    struct checker c = { .e = &found };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!str_eq(r->plural, kinds[i].plural) || !str_eq(r->group, kinds[i].group))
            continue;
        if (old_obj)
            add_texts(&c.old, old_obj);
        kinds[i].check(&c, obj);
        map_done(&c.old);
    }
    field_errors_merge(e, &found, by_place);
}
