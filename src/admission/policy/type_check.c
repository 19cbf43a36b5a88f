#include "admission/policy/type_check.h"

#include <stdlib.h>

#include "admission/dynamic/scope.h"
#include "base/buf.h"
#include "expression/expression_kinds.h"
#include "schema/schema_kind.h"
#include "schema/schema_types.h"
#include "base/banned.h"

enum { TYPES_MAX = 10, TRIES_MAX = 1000 };

/* ---- Types ---- */

/* A custom object: its schema says nothing of its metadata. */
struct custom_root {
    struct cel_type type;
    const struct cel_type *inner, *meta;
};

static bool root_field(const struct cel_type *object, struct str name, struct cel_field *ret)
{
    const struct custom_root *root = object->handle;
    if (!str_eq(name, STR("metadata")))
        return root->inner->fields->by_name(root->inner, name, ret);
    *ret = (struct cel_field){ .type = root->meta, .name = name, .key = name };
    return true;
}

/* NULL: nothing is known of it. */
static const struct cel_type *custom_type(struct arena *a, const struct kind_type *t)
{
    static const struct cel_fields fields = { root_field, root_field };
    const struct schema *schema = schema_kind_of(t)->schema(schema_kind_of(t));
    struct schema_types types = { .a = a };
    const struct cel_type *inner = schema ? schema_type(&types, schema, true) : NULL;
    schema_types_done(&types);
    if (!inner || inner->kind != CEL_OBJECT)
        return NULL;
    struct custom_root *root = arena_new(a, struct custom_root);
    root->type = *inner;
    root->type.fields = &fields;
    root->type.handle = root;
    root->inner = inner;
    root->meta = expression_kind(a, kind_type_find(STR("meta"), STR("v1"), STR("ObjectMeta")),
                                 STR("ObjectMeta"));
    return &root->type;
}

static const struct cel_type *type_of(struct arena *a, const struct kind_type *t)
{
    if (!t)
        return NULL;
    return t->custom ? custom_type(a, t) : expression_kind(a, t, t->name);
}

/* ---- Kinds ---- */

struct found {
    const struct kind_type *at[TYPES_MAX];
    size_t n;
    size_t n_seen;  /* with those that were there already */
    size_t n_tried; /* and those that are not served */
};

static void add_kind(struct found *f, const struct kind_type *t)
{
    f->n_seen++;
    for (size_t i = 0; i < f->n; i++)
        if (f->at[i] == t)
            return;
    f->at[f->n++] = t;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* The texts of a list, sorted. Those that have one of the characters `skip` are left out. */
static size_t texts_of(struct arena *a, const struct value *list, const char *skip,
                       struct str **ret)
{
    size_t n = 0;
    *ret = arena_array(a, struct str, value_is(list, VALUE_ARRAY) ? list->n : 0);
    value_each_item (it, list) {
        bool is_skipped = false;
        for (const char *c = skip; *c; c++)
            is_skipped = is_skipped || str_find(value_str(it), *c) >= 0;
        if (!is_skipped)
            (*ret)[n++] = value_str(it);
    }
    if (n)
        qsort(*ret, n, sizeof(**ret), by_text);
    return n;
}

static bool has_star(const struct value *list)
{
    value_each_item (it, list)
        if (str_find(value_str(it), '*') >= 0)
            return true;
    return false;
}

/* A rule for all groups or versions says nothing of types; of resources, only stars do not. */
static void find_by_rule(struct arena *a, const struct value *rule,
                         const struct type_check_kinds *kinds, struct found *f)
{
    const struct value *group_list = value_get(rule, STR("apiGroups")),
                       *version_list = value_get(rule, STR("apiVersions"));
    struct str *groups, *versions, *resources;
    if (has_star(group_list) || has_star(version_list))
        return;
    size_t n_groups = texts_of(a, group_list, "", &groups),
           n_versions = texts_of(a, version_list, "", &versions),
           n_resources = texts_of(a, value_get(rule, STR("resources")), "*/", &resources);
    for (size_t g = 0; g < n_groups; g++)
        for (size_t v = 0; v < n_versions; v++)
            for (size_t r = 0; r < n_resources; r++) {
                if (f->n_seen == TYPES_MAX || f->n_tried++ >= TRIES_MAX)
                    return;
                const struct kind_type *t =
                    kinds->by_resource(kinds->arg, groups[g], versions[v], resources[r]);
                if (t)
                    add_kind(f, t);
            }
}

static int by_name(const void *a, const void *b)
{
    const struct kind_type *x = *(const struct kind_type *const *)a,
                           *y = *(const struct kind_type *const *)b;
    int order = str_cmp(x->group, y->group);
    if (!order)
        order = str_cmp(x->version, y->version);
    return order ? order : str_cmp(x->name, y->name);
}

static void find_kinds(struct arena *a, const struct value *spec,
                       const struct type_check_kinds *kinds, struct found *f)
{
    value_each_item (it, value_dig(spec, "matchConstraints", "resourceRules"))
        find_by_rule(a, it, kinds, f);
    if (f->n)
        qsort(f->at, f->n, sizeof(f->at[0]), by_name);
}

/* ---- Expressions ---- */

struct check {
    struct arena *arena;
    const struct found *kinds;
    const struct scope_plan *plans[TYPES_MAX]; /* one a kind */
    struct value warnings;
};

static void make_plans(struct check *c, const struct value *spec,
                       const struct type_check_kinds *kinds)
{
    const struct value *params = value_get(spec, STR("paramKind"));
    unsigned flags = EXPRESSION_AUTHORIZER | (params ? EXPRESSION_PARAMS : 0u);
    struct expression_types types = { 0 };
    if (params)
        types.params =
            type_of(c->arena, kinds->by_kind(kinds->arg, value_text(params, "apiVersion"),
                                             value_text(params, "kind")));
    for (size_t i = 0; i < c->kinds->n; i++) {
        types.object = type_of(c->arena, c->kinds->at[i]);
        c->plans[i] = scope_plan(c->arena, flags, value_get(spec, STR("variables")), &types);
    }
}

static void check_expression(struct check *c, size_t i, const char *field, struct str text)
{
    autobuf words = { 0 };
    for (size_t k = 0; text.n && k < c->kinds->n; k++) {
        const struct kind_type *t = c->kinds->at[k];
        struct scope_expression e = scope_compile_one(c->arena, c->plans[k], STR(""), text);
        if (!e.program)
            buf_printf(&words, "%s" STR_FMT "/" STR_FMT ", Kind=" STR_FMT ": " STR_FMT "\n",
                       words.n ? "\n" : "", STR_ARG(t->group), STR_ARG(t->version),
                       STR_ARG(t->name), STR_ARG(e.fault));
    }
    if (!words.n)
        return;
    struct value warning = value_object();
    value_put_new(c->arena, &warning, STR("fieldRef"),
                  value_string(arena_printf(c->arena, "spec.validations[%zu].%s", i, field)));
    value_put_new(c->arena, &warning, STR("warning"),
                  value_string(arena_str(c->arena, buf_str(&words))));
    value_put_item(c->arena, &c->warnings, warning);
}

struct value type_check(struct arena *a, const struct value *policy,
                        const struct type_check_kinds *kinds)
{
    const struct value *spec = value_get(policy, STR("spec")),
                       *validations = value_get(spec, STR("validations"));
    struct found found = { 0 };
    struct check c = { .arena = a, .kinds = &found, .warnings = value_array() };
    size_t i = 0;
    find_kinds(a, spec, kinds, &found);
    make_plans(&c, spec, kinds);
    value_each_item (it, validations) {
        check_expression(&c, i, "expression", value_text(it, "expression"));
        check_expression(&c, i++, "messageExpression", value_text(it, "messageExpression"));
    }
    return c.warnings;
}
