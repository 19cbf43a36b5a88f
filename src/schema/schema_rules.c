#include "schema/schema_rules.h"

#include <stdlib.h>

#include "base/json.h"

#include "base/banned.h"

#define RULE_COST_MAX   UINT64_C(10000000)  /* of one rule, for all that it may be run for */
#define SCHEMA_COST_MAX UINT64_C(100000000) /* of all rules of a schema */
#define UNBOUNDED       UINT64_MAX

enum { EXPENSIVE_MAX = 4 };

struct expensive {
    struct str path;
    uint64_t cost;
};

struct checker {
    struct field_errors *e;
    struct schema_types types;
    uint64_t total;
    struct expensive expensive[EXPENSIVE_MAX]; /* the most expensive first */
    size_t n_expensive;
};

/* Where the walk is. */
struct place {
    const struct schema *s;
    const struct value *props;
    const struct cel_type *type; /* of `s`; NULL: not known, or nothing to see */
    uint64_t times;              /* that a value can stand here in one object; UNBOUNDED */
    const struct field_path *uncorrelated; /* the list whose items have no old ones; NULL: none */
    bool root;
};

static uint64_t multiply(uint64_t a, uint64_t b)
{
    if (!a || !b)
        return 0;
    return a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/* ---- Costs ---- */

static struct str cost_words(struct arena *a, const char *what, uint64_t cost, uint64_t limit)
{
    double factor = (double)cost / (double)limit;
    struct str times = factor > 100   ? STR("more than 100x")
                       : factor < 1.5 ? arena_printf(a, "%fx", factor)
                                      : arena_printf(a, "%.1fx", factor);
    return arena_printf(a,
                        "%s exceeds budget by factor of " STR_FMT " (try simplifying the rule, or "
                        "adding maxItems, maxProperties, and maxLength where arrays, maps, and "
                        "strings are declared)",
                        what, STR_ARG(times));
}

static int by_cost(const void *a, const void *b)
{
    const struct expensive *x = a, *y = b;
    return x->cost > y->cost ? -1 : x->cost < y->cost;
}

static void count_cost(struct checker *c, const struct field_path *path, uint64_t cost)
{
    c->total = UINT64_MAX - c->total < cost ? UINT64_MAX : c->total + cost;
    if (cost < SCHEMA_COST_MAX / 100)
        return;
    struct expensive one = { field_path_text(c->e->arena, path), cost };
    if (c->n_expensive < EXPENSIVE_MAX)
        c->expensive[c->n_expensive++] = one;
    else if (cost > c->expensive[EXPENSIVE_MAX - 1].cost)
        c->expensive[EXPENSIVE_MAX - 1] = one;
    qsort(c->expensive, c->n_expensive, sizeof(c->expensive[0]), by_cost);
}

static void check_cost(struct checker *c, const struct field_path *path, const char *what,
                       uint64_t cost)
{
    if (cost > RULE_COST_MAX)
        field_error(c->e, FIELD_FORBIDDEN, path, STR(""), STR_FMT,
                    STR_ARG(cost_words(c->e->arena, what, cost, RULE_COST_MAX)));
    count_cost(c, path, cost);
}

static void check_total(struct checker *c, const struct field_path *path)
{
    if (c->total <= SCHEMA_COST_MAX)
        return;
    for (size_t i = 0; i < c->n_expensive; i++) {
        struct field_path at = field_child(NULL, c->expensive[i].path);
        field_error(c->e, FIELD_FORBIDDEN, &at, STR(""),
                    "contributed to estimated rule cost total exceeding cost limit for entire "
                    "OpenAPIv3 schema");
    }
    struct str words = cost_words(c->e->arena,
                                  "x-kubernetes-validations estimated rule cost total for entire "
                                  "OpenAPIv3 schema",
                                  c->total, SCHEMA_COST_MAX);
    field_error(c->e, FIELD_FORBIDDEN, path, STR(""), STR_FMT, STR_ARG(words));
}

/* ---- One rule ---- */

static void add_member(struct arena *a, struct value *obj, const char *name, const struct value *v,
                       bool is_text)
{
    value_put_new(a, obj, str_of(name),
                  v         ? value_borrow(v)
                  : is_text ? value_string(STR(""))
                            : value_null());
}

/* A rule as upstream's inner form shows it. */
static struct str shown_rule(struct field_errors *e, const struct value *rule)
{
    struct value v = value_object();
    add_member(e->arena, &v, "Rule", value_get(rule, STR("rule")), true);
    add_member(e->arena, &v, "Message", value_get(rule, STR("message")), true);
    add_member(e->arena, &v, "MessageExpression", value_get(rule, STR("messageExpression")), true);
    add_member(e->arena, &v, "Reason", value_get(rule, STR("reason")), false);
    add_member(e->arena, &v, "FieldPath", value_get(rule, STR("fieldPath")), true);
    add_member(e->arena, &v, "OptionalOldSelf", value_get(rule, STR("optionalOldSelf")), false);
    return field_json(e, &v);
}

static void check_old_self(struct checker *c, const struct place *p,
                           const struct schema_program *program, const struct field_path *path,
                           const struct value *rule)
{
    struct field_path at = field_child(path, STR("rule")),
                      optional = field_child(path, STR("optionalOldSelf"));
    const struct value *flag = value_get(rule, STR("optionalOldSelf"));
    if (program->uses_old && p->uncorrelated)
        field_error(
            c->e, FIELD_INVALID, &at, field_quoted(c->e, program->rule->rule),
            "oldSelf cannot be used on the uncorrelatable portion of the schema within " STR_FMT,
            STR_ARG(field_path_text(c->e->arena, p->uncorrelated)));
    else if (!program->uses_old && flag && flag->type != VALUE_NULL)
        field_error(c->e, FIELD_INVALID, &optional, field_json(c->e, flag),
                    "may not be set if oldSelf is not used in rule");
}

static uint64_t cost_of(struct checker *c, const struct cel_program *program)
{
    return cel_program_cost(c->e->arena, program).max;
}

static void check_rule(struct checker *c, const struct place *p,
                       const struct schema_program *program, const struct field_path *path,
                       const struct value *rule)
{
    struct field_path at = field_child(path, STR("rule")),
                      message = field_child(path, STR("messageExpression"));
    uint64_t times = p->times == UNBOUNDED ? schema_type_max_count(p->s, p->root) : p->times;
    if (program->check)
        check_cost(c, &at, "estimated rule cost", multiply(cost_of(c, program->check), times));
    else
        field_error(c->e, FIELD_INVALID, &at, shown_rule(c->e, rule), STR_FMT,
                    STR_ARG(program->fault));
    if (program->message_fault.n)
        field_error(c->e, FIELD_INVALID, &message, shown_rule(c->e, rule), STR_FMT,
                    STR_ARG(program->message_fault));
    else if (program->message)
        check_cost(c, &message, "estimated messageExpression cost", cost_of(c, program->message));
    check_old_self(c, p, program, path, rule);
}

static void check_node(struct checker *c, const struct place *p, const struct field_path *path)
{
    const struct value *rules = value_get(p->props, STR("x-kubernetes-validations"));
    struct field_path list = field_child(path, STR("x-kubernetes-validations"));
    struct schema_program *programs;
    size_t n;
    if (!p->s->n_expressions)
        return;
    if (!p->type) {
        field_error(c->e, FIELD_INTERNAL, &list, STR(""),
                    "internal error: failed to construct type information for "
                    "x-kubernetes-validations rules: unable to convert structural schema to CEL "
                    "declarations");
        return;
    }
    schema_program_list(c->e->arena, p->s, p->type, &programs, &n);
    for (size_t i = 0; i < n; i++) {
        struct field_path one = field_index(&list, i);
        check_rule(c, p, &programs[i], &one, value_at(rules, i));
    }
}

/* ---- The walk ---- */

static void walk(struct checker *c, const struct place *p, const struct field_path *path);

/* How often what is inside can stand in one of these. */
static uint64_t elements(const struct schema *s)
{
    int64_t limit = 1;
    if (s->types == SCHEMA_ARRAY)
        limit = s->rules ? s->rules->max_items : SCHEMA_NO_LIMIT;
    else if (s->types == SCHEMA_OBJECT && s->flags & (SCHEMA_ADDITIONAL | SCHEMA_CLOSED))
        limit = s->rules ? s->rules->max_properties : SCHEMA_NO_LIMIT;
    return limit == SCHEMA_NO_LIMIT ? UNBOUNDED : limit < 0 ? 0 : (uint64_t)limit;
}

static void walk_child(struct checker *c, const struct place *p, const struct schema *s,
                       const struct value *props, const struct cel_type *type,
                       const struct field_path *path, const struct field_path *uncorrelated)
{
    uint64_t n = elements(p->s);
    struct place child = {
        .s = s,
        .props = props,
        .type = type,
        .times = p->times == UNBOUNDED || n == UNBOUNDED ? UNBOUNDED : multiply(p->times, n),
        .uncorrelated = uncorrelated,
        .root = s->flags & SCHEMA_EMBEDDED,
    };
    if (!type && s->n_expressions)
        child.type = schema_type(&c->types, s, child.root);
    walk(c, &child, path);
}

static void walk(struct checker *c, const struct place *p, const struct field_path *path)
{
    const struct schema *s = p->s;
    if (!(s->flags & SCHEMA_HAS_EXPRESSIONS))
        return;
    const struct cel_type *element =
        p->type && p->type->n_params ? p->type->params[p->type->n_params - 1] : NULL;
    struct field_path properties = field_child(path, STR("properties")),
                      items = field_child(path, STR("items")),
                      values = field_child(path, STR("additionalProperties"));
    if (s->items)
        walk_child(c, p, s->items, value_get(p->props, STR("items")), element, &items,
                   s->list_type == KIND_MERGE_MAP ? p->uncorrelated : path);
    value_each_field (f, value_get(p->props, STR("properties"))) {
        struct field_path here = field_key(&properties, f->key);
        const struct schema *property = schema_property(s, f->key);
        walk_child(c, p, property, &f->val, schema_type_field(&c->types, p->type, property, f->key),
                   &here, p->uncorrelated);
    }
    if (s->additional)
        walk_child(c, p, s->additional, value_get(p->props, STR("additionalProperties")), element,
                   &values, p->uncorrelated);
    check_node(c, p, path);
}

void schema_check_rules(struct field_errors *e, const struct field_path *path,
                        const struct schema *s, const struct value *props)
{
    struct checker c = { .e = e, .types.a = e->arena };
    if (!(s->flags & SCHEMA_HAS_EXPRESSIONS))
        return;
    struct place root = { .s = s, .props = props, .times = 1, .root = true };
    if (s->n_expressions)
        root.type = schema_type(&c.types, s, true);
    walk(&c, &root, path);
    check_total(&c, path);
    schema_types_done(&c.types);
}
