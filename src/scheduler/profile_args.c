#include "scheduler/profile_args.h"

#include "api/label_syntax.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "base/json.h"
#include "scheduler/profile_terms.h"
#include "base/banned.h"

/* ---- The form: which fields there are, and of which type ---- */

enum arg_type { ARG_INT, ARG_BOOL, ARG_TEXT, ARG_TEXTS, ARG_OBJECT, ARG_OBJECTS, ARG_ANY };

struct arg {
    const char *name;
    enum arg_type type;
    const char *go_type;      /* as upstream's decoder names it */
    const struct arg *fields; /* of objects */
};

static const struct arg resource_fields[] = { { "name", ARG_TEXT, "string", NULL },
                                              { "weight", ARG_INT, "int64", NULL },
                                              { 0 } };
static const struct arg point_fields[] = { { "utilization", ARG_INT, "int32", NULL },
                                           { "score", ARG_INT, "int32", NULL },
                                           { 0 } };
static const struct arg ratio_fields[] = {
    { "shape", ARG_OBJECTS, "[]v1.UtilizationShapePoint", point_fields }, { 0 }
};
static const struct arg strategy_fields[] = {
    { "type", ARG_TEXT, "v1.ScoringStrategyType", NULL },
    { "resources", ARG_OBJECTS, "[]v1.ResourceSpec", resource_fields },
    { "requestedToCapacityRatio", ARG_OBJECT, "v1.RequestedToCapacityRatioParam", ratio_fields },
    { 0 }
};
static const struct arg fit_fields[] = { { "ignoredResources", ARG_TEXTS, "[]string", NULL },
                                         { "ignoredResourceGroups", ARG_TEXTS, "[]string", NULL },
                                         { "scoringStrategy", ARG_OBJECT, "v1.ScoringStrategy",
                                           strategy_fields },
                                         { 0 } };
static const struct arg balance_fields[] = {
    { "resources", ARG_OBJECTS, "[]v1.ResourceSpec", resource_fields }, { 0 }
};
static const struct arg added_fields[] = { { "requiredDuringSchedulingIgnoredDuringExecution",
                                             ARG_ANY, "v1.NodeSelector", NULL },
                                           { "preferredDuringSchedulingIgnoredDuringExecution",
                                             ARG_ANY, "[]v1.PreferredSchedulingTerm", NULL },
                                           { 0 } };
static const struct arg affinity_fields[] = {
    { "addedAffinity", ARG_OBJECT, "v1.NodeAffinity", added_fields }, { 0 }
};
static const struct arg constraint_fields[] = {
    { "maxSkew", ARG_INT, "int32", NULL },
    { "topologyKey", ARG_TEXT, "string", NULL },
    { "whenUnsatisfiable", ARG_TEXT, "v1.UnsatisfiableConstraintAction", NULL },
    { "labelSelector", ARG_ANY, NULL, NULL },
    { "minDomains", ARG_INT, "int32", NULL },
    { "nodeAffinityPolicy", ARG_TEXT, "v1.NodeInclusionPolicy", NULL },
    { "nodeTaintsPolicy", ARG_TEXT, "v1.NodeInclusionPolicy", NULL },
    { "matchLabelKeys", ARG_TEXTS, "[]string", NULL },
    { 0 }
};
static const struct arg spread_fields[] = {
    { "defaultConstraints", ARG_OBJECTS, "[]v1.TopologySpreadConstraint", constraint_fields },
    { "defaultingType", ARG_TEXT, "v1.PodTopologySpreadConstraintsDefaulting", NULL },
    { 0 }
};
static const struct arg pods_fields[] = { { "hardPodAffinityWeight", ARG_INT, "int32", NULL },
                                          { "ignorePreferredTermsOfExistingPods", ARG_BOOL, "bool",
                                            NULL },
                                          { 0 } };
static const struct arg preempt_fields[] = {
    { "minCandidateNodesPercentage", ARG_INT, "int32", NULL },
    { "minCandidateNodesAbsolute", ARG_INT, "int32", NULL },
    { 0 }
};
static const struct arg binding_fields[] = { { "bindTimeoutSeconds", ARG_INT, "int64", NULL },
                                             { "shape", ARG_OBJECTS, "[]v1.UtilizationShapePoint",
                                               point_fields },
                                             { 0 } };

/* Where a check of the form is. */
struct form {
    struct arena *a;
    struct str plugin;
    size_t profile, at; /* places in the configuration */
};

static int misshapen(const struct form *f, const char *strict, struct str what, struct err *err)
{
    return err_set(
        err, ERR_INVALID,
        "%sdecoding .profiles[%zu].pluginConfig[%zu]: %sdecoding args for plugin " STR_FMT
        ": " STR_FMT,
        strict, f->profile, f->at, strict, STR_ARG(f->plugin), STR_ARG(what));
}

/* The value as Go's decoder names its type. */
static struct str json_type(struct arena *a, const struct value *v)
{
    autobuf text = { 0 };
    switch (v->type) {
    case VALUE_STRING:
        return STR("string");
    case VALUE_BOOL:
        return STR("bool");
    case VALUE_ARRAY:
        return STR("array");
    case VALUE_OBJECT:
        return STR("object");
    default:
        buf_str_add(&text, STR("number "));
        json_write(&text, v);
        return arena_str(a, buf_str(&text));
    }
}

static bool is_texts(const struct value *v)
{
    value_each_item (it, v)
        if (!value_is(it, VALUE_STRING))
            return false;
    return value_is(v, VALUE_ARRAY);
}

static bool is_of_type(const struct value *v, const struct arg *arg)
{
    int64_t n;
    switch (arg->type) {
    case ARG_INT:
        return value_to_int(v, &n) &&
               (strcmp(arg->go_type, "int64") == 0 || (n >= INT32_MIN && n <= INT32_MAX));
    case ARG_BOOL:
        return value_is(v, VALUE_BOOL);
    case ARG_TEXT:
        return value_is(v, VALUE_STRING);
    case ARG_TEXTS:
        return is_texts(v);
    case ARG_OBJECT:
        return value_is(v, VALUE_OBJECT);
    case ARG_OBJECTS:
        return value_is(v, VALUE_ARRAY);
    case ARG_ANY:
        break;
    }
    return true;
}

static int check_form(const struct form *f, const struct value *v, const struct arg *fields,
                      struct str path, struct err *err);

static int check_field(const struct form *f, const struct value *v, const struct arg *arg,
                       struct str path, struct err *err)
{
    if (value_is(v, VALUE_NULL))
        return 0;
    if (!is_of_type(v, arg))
        return misshapen(f, "",
                         arena_printf(f->a,
                                      "json: cannot unmarshal " STR_FMT
                                      " into Go struct field " STR_FMT "Args." STR_FMT
                                      " of type %s",
                                      STR_ARG(json_type(f->a, v)), STR_ARG(f->plugin),
                                      STR_ARG(path), arg->go_type),
                         err);
    if (arg->type == ARG_OBJECT)
        return check_form(f, v, arg->fields, path, err);
    size_t i = 0;
    value_each_item (it, arg->type == ARG_OBJECTS ? v : NULL) {
        int r = check_form(f, it, arg->fields,
                           arena_printf(f->a, STR_FMT "[%zu]", STR_ARG(path), i++), err);
        if (r < 0)
            return r;
    }
    return 0;
}

static const struct arg *find_arg(const struct arg *fields, struct str name)
{
    for (; fields->name; fields++)
        if (str_eq(name, str_of(fields->name)))
            return fields;
    return NULL;
}

static int check_form(const struct form *f, const struct value *v, const struct arg *fields,
                      struct str path, struct err *err)
{
    value_each_field (field, v) {
        const struct arg *arg = find_arg(fields, field->key);
        struct str at =
            path.n ? arena_printf(f->a, STR_FMT "." STR_FMT, STR_ARG(path), STR_ARG(field->key))
                   : field->key;
        bool is_head =
            !path.n && (str_eq(field->key, STR("apiVersion")) || str_eq(field->key, STR("kind")));
        if (!arg && !is_head)
            return misshapen(f, "strict decoding error: ",
                             arena_printf(f->a,
                                          "strict decoding error: unknown field \"" STR_FMT "\"",
                                          STR_ARG(at)),
                             err);
        int r = arg ? check_field(f, &field->val, arg, at, err) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- One after the other ---- */

/* What a reader of arguments needs. The form is good. */
struct reader {
    struct arena *a;
    struct profile *p;
    const struct value *args; /* or NULL */
    const struct field_path *path;
    struct field_errors *e;
};

static int64_t int_of(const struct value *args, struct str name, int64_t otherwise)
{
    int64_t n;
    return value_to_int(value_get(args, name), &n) ? n : otherwise;
}

static void refuse_int(struct reader *r, const struct field_path *at, int64_t n, const char *words)
{
    field_error(r->e, FIELD_INVALID, at, arena_printf(r->a, "%lld", (long long)n), "%s", words);
}

/* A number that has to lie between two others. */
static void check_range(struct reader *r, const struct field_path *parent, struct str name,
                        int64_t n, int64_t least, int64_t most, const char *words)
{
    const struct field_path at = field_child(parent, name);
    if (n < least || n > most)
        refuse_int(r, &at, n, words);
}

static void read_preemption(struct reader *r)
{
    static const struct str percent = STR("minCandidateNodesPercentage");
    static const struct str absolute = STR("minCandidateNodesAbsolute");
    const struct field_path percent_at = field_child(r->path, percent);
    const struct field_path absolute_at = field_child(r->path, absolute);
    int64_t p = int_of(r->args, percent, 10), n = int_of(r->args, absolute, 100);
    check_range(r, r->path, percent, p, 0, 100, "not in valid range [0, 100]");
    check_range(r, r->path, absolute, n, 0, INT32_MAX, "not in valid range [0, inf)");
    if (p == 0 && n == 0) {
        refuse_int(r, &percent_at, p,
                   "cannot be zero at the same time as minCandidateNodesAbsolute");
        refuse_int(r, &absolute_at, n,
                   "cannot be zero at the same time as minCandidateNodesPercentage");
    }
    r->p->candidates_percent = p;
    r->p->candidates_absolute = n;
}

static void read_pods(struct reader *r)
{
    static const struct str weight = STR("hardPodAffinityWeight");
    r->p->hard_affinity = int_of(r->args, weight, 1);
    check_range(r, r->path, weight, r->p->hard_affinity, 0, 100, "not in valid range [0, 100]");
    r->p->ignores_preferences =
        value_is_true(value_get(r->args, STR("ignorePreferredTermsOfExistingPods")));
}

static void read_binding(struct reader *r)
{
    static const struct str name = STR("bindTimeoutSeconds");
    enum { LONGEST = 1 << 30 };
    int64_t seconds = int_of(r->args, name, 600);
    check_range(r, r->path, name, seconds, 0, INT64_MAX,
                "invalid BindTimeoutSeconds, should not be a negative value");
    if (value_get(r->args, STR("shape"))) {
        const struct field_path at = field_child(r->path, STR("shape"));
        field_error(r->e, FIELD_INVALID, &at, field_json(r->e, value_get(r->args, STR("shape"))),
                    "unexpected field `shape`, remove it or turn on the feature gate "
                    "StorageCapacityScoring");
    }
    r->p->bind_timeout_ns = (seconds < LONGEST ? seconds : LONGEST) * NS_PER_SEC;
}

/* ---- Resources ---- */

static const struct profile_resource usual_resources[] = { { STR("cpu"), 1 },
                                                           { STR("memory"), 1 } };

static struct profile_resources read_resources(struct reader *r, const struct value *list)
{
    if (!value_is(list, VALUE_ARRAY) || !list->n)
        return (struct profile_resources){ usual_resources, ARRAY_LEN(usual_resources) };
    struct profile_resource *all = arena_array(r->a, struct profile_resource, list->n);
    size_t n = 0;
    value_each_item (it, list) {
        int64_t weight = int_of(it, STR("weight"), 0);
        all[n++] = (struct profile_resource){ value_text(it, "name"), weight ? weight : 1 };
    }
    return (struct profile_resources){ all, n };
}

static void read_balance(struct reader *r)
{
    const struct field_path path = field_child(r->path, STR("resources"));
    struct profile_resources all = read_resources(r, value_get(r->args, STR("resources")));
    for (size_t i = 0; i < all.n; i++) {
        const struct field_path at = field_index(&path, i);
        const struct field_path name = field_child(&at, STR("name"));
        const struct field_path weight = field_child(&at, STR("weight"));
        bool is_again = false;
        for (size_t k = 0; k < i && !is_again; k++)
            is_again = str_eq(all.items[k].name, all.items[i].name);
        if (is_again)
            field_error(r->e, FIELD_DUPLICATE, &name, field_quoted(r->e, all.items[i].name), "%s",
                        "");
        if (all.items[i].weight != 1)
            refuse_int(r, &weight, all.items[i].weight, "must be 1");
    }
    r->p->balanced = all;
}

static void check_name(struct reader *r, const struct field_path *at, struct str name)
{
    autobuf why = { 0 };
    if (!label_key_check(name, &why))
        field_error(r->e, FIELD_INVALID, at, field_quoted(r->e, name), STR_FMT,
                    STR_ARG(buf_str(&why)));
}

static const struct value *read_ignored(struct reader *r, struct str field, bool is_group)
{
    const struct field_path path = field_child(r->path, field);
    const struct value *list = value_get(r->args, field);
    size_t i = 0;
    value_each_item (it, list) {
        const struct field_path at = field_index(&path, i++);
        if (is_group && str_find(value_str(it), '/') >= 0)
            field_error(r->e, FIELD_INVALID, &at, field_quoted(r->e, value_str(it)),
                        "resource group name can't contain '/'");
        check_name(r, &at, value_str(it));
    }
    return list;
}

static void check_order(struct reader *r, const struct field_path *path, const struct value *shape)
{
    int64_t before = INT64_MIN;
    size_t i = 0;
    value_each_item (it, shape) {
        int64_t n = int_of(it, STR("utilization"), 0);
        if (n <= before) {
            const struct field_path point = field_index(path, i);
            const struct field_path at = field_child(&point, STR("utilization"));
            refuse_int(r, &at, n, "values must be sorted in increasing order");
            return;
        }
        before = n;
        i++;
    }
}

static void read_shape(struct reader *r, const struct field_path *parent, const struct value *list,
                       struct fit_args *to)
{
    const struct field_path path = field_child(parent, STR("shape"));
    if (!value_is(list, VALUE_ARRAY) || !list->n) {
        field_required(r->e, &path, "at least one point must be specified");
        return;
    }
    struct fit_point *points = arena_array(r->a, struct fit_point, list->n);
    check_order(r, &path, list);
    value_each_item (it, list) {
        const struct field_path at = field_index(&path, to->n_shape);
        int64_t utilization = int_of(it, STR("utilization"), 0),
                score = int_of(it, STR("score"), 0);
        check_range(r, &at, STR("utilization"), utilization, 0, 100, "not in valid range [0, 100]");
        check_range(r, &at, STR("score"), score, 0, 10, "not in valid range [0, 10]");
        points[to->n_shape++] = (struct fit_point){ utilization, score * 10 };
    }
    to->shape = points;
}

static enum fit_type read_fit_type(struct reader *r, const struct field_path *parent,
                                   const struct value *strategy)
{
    static const struct str types[] = { [FIT_LEAST_ALLOCATED] = STR("LeastAllocated"),
                                        [FIT_MOST_ALLOCATED] = STR("MostAllocated"),
                                        [FIT_RATIO] = STR("RequestedToCapacityRatio") };
    const struct field_path at = field_child(parent, STR("type"));
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_eq(value_text(strategy, "type"), types[i]))
            return (enum fit_type)i;
    field_not_supported(r->e, &at, field_quoted(r->e, value_text(strategy, "type")), types,
                        ARRAY_LEN(types));
    return FIT_LEAST_ALLOCATED;
}

static void read_strategy(struct reader *r, const struct value *strategy, struct fit_args *to)
{
    const struct field_path path = field_child(r->path, STR("scoringStrategy"));
    const struct field_path resources = field_child(&path, STR("resources"));
    const struct field_path ratio = field_child(&path, STR("requestedToCapacityRatio"));
    const struct value *param = value_get(strategy, STR("requestedToCapacityRatio"));
    bool has_ratio = param && !value_is(param, VALUE_NULL);
    to->type = read_fit_type(r, &path, strategy);
    for (size_t i = 0; i < to->resources.n; i++) {
        const struct field_path at = field_index(&resources, i);
        const struct profile_resource *it = &to->resources.items[i];
        check_range(r, &at, STR("weight"), it->weight, 1, 100,
                    str_cstr(r->a, arena_printf(r->a,
                                                "resource weight of " STR_FMT
                                                " not in valid range (0, 100]",
                                                STR_ARG(it->name))));
    }
    if (to->type == FIT_RATIO && has_ratio)
        read_shape(r, &ratio, value_get(param, STR("shape")), to);
    else if (to->type == FIT_RATIO)
        field_required(r->e, &ratio, "must be specified when type is RequestedToCapacityRatio");
    else if (has_ratio)
        field_error(r->e, FIELD_FORBIDDEN, &ratio, STR(""),
                    "must be nil when type is not RequestedToCapacityRatio");
}

static void read_fit(struct reader *r)
{
    const struct value *strategy = value_get(r->args, STR("scoringStrategy"));
    struct fit_args fit = { .resources = read_resources(r, value_get(strategy, STR("resources"))) };
    fit.ignored = read_ignored(r, STR("ignoredResources"), false);
    fit.ignored_groups = read_ignored(r, STR("ignoredResourceGroups"), true);
    if (strategy && !value_is(strategy, VALUE_NULL))
        read_strategy(r, strategy, &fit);
    r->p->fit = fit;
}

/* ---- Affinity and spreading ---- */

static void read_affinity(struct reader *r)
{
    const struct value *added = value_get(r->args, STR("addedAffinity"));
    const struct field_path path = field_child(r->path, STR("addedAffinity"));
    struct affinity_args *to = &r->p->affinity;
    static const struct str must = STR("requiredDuringSchedulingIgnoredDuringExecution");
    static const struct str may = STR("preferredDuringSchedulingIgnoredDuringExecution");
    const struct value *required = value_get(added, must);
    const struct field_path required_at = field_child(&path, must);
    const struct field_path preferred_at = field_child(&path, may);
    profile_terms_check(r->e, &required_at, value_get(required, STR("nodeSelectorTerms")), false);
    profile_terms_check(r->e, &preferred_at, value_get(added, may), true);
    *to = (struct affinity_args){
        .has_required = value_is(required, VALUE_OBJECT),
        .required = node_terms_read(r->a, value_get(required, STR("nodeSelectorTerms")), false),
        .preferred = node_terms_read(r->a, value_get(added, may), true),
    };
}

static void check_constraint(struct reader *r, const struct field_path *at, const struct value *c)
{
    static const struct str actions[] = { STR("DoNotSchedule"), STR("ScheduleAnyway") };
    const struct field_path key = field_child(at, STR("topologyKey"));
    const struct field_path when = field_child(at, STR("whenUnsatisfiable"));
    const struct field_path selector = field_child(at, STR("labelSelector"));
    const struct value *labels = value_get(c, STR("labelSelector"));
    struct str action = value_text(c, "whenUnsatisfiable");
    check_range(r, at, STR("maxSkew"), int_of(c, STR("maxSkew"), 0), 1, INT32_MAX,
                "not in valid range (0, inf)");
    if (value_text(c, "topologyKey").n)
        check_name(r, &key, value_text(c, "topologyKey"));
    else
        field_required(r->e, &key, "can not be empty");
    if (!action.n)
        field_required(r->e, &when, "can not be empty");
    else if (!str_eq(action, actions[0]) && !str_eq(action, actions[1]))
        field_not_supported(r->e, &when, field_quoted(r->e, action), actions, ARRAY_LEN(actions));
    if (labels && !value_is(labels, VALUE_NULL))
        field_error(r->e, FIELD_FORBIDDEN, &selector, STR(""),
                    "constraint must not define a selector, as they deduced for each pod");
}

static void check_repeated(struct reader *r, const struct field_path *at, const struct value *list,
                           const struct value *c)
{
    value_each_item (it, list) {
        if (it == c)
            return;
        struct str key = value_text(c, "topologyKey"), when = value_text(c, "whenUnsatisfiable");
        if (!str_eq(value_text(it, "topologyKey"), key) ||
            !str_eq(value_text(it, "whenUnsatisfiable"), when))
            continue;
        struct str shown =
            arena_printf(r->a, "{" STR_FMT ", " STR_FMT "}", STR_ARG(key), STR_ARG(when));
        field_error(r->e, FIELD_DUPLICATE, at, field_quoted(r->e, shown), "%s", "");
        return;
    }
}

static void check_defaulting(struct reader *r, struct str type, const struct value *list)
{
    static const struct str types[] = { STR("System"), STR("List") };
    const struct field_path at = field_child(r->path, STR("defaultingType"));
    bool is_system = str_eq(type, types[0]);
    if (!is_system && !str_eq(type, types[1]))
        field_not_supported(r->e, &at, field_quoted(r->e, type), types, ARRAY_LEN(types));
    else if (is_system && value_is(list, VALUE_ARRAY) && list->n)
        field_error(r->e, FIELD_INVALID, &at, field_quoted(r->e, type),
                    "when .defaultConstraints are not empty");
}

static void read_spread(struct reader *r)
{
    const struct field_path path = field_child(r->path, STR("defaultConstraints"));
    const struct value *list = value_get(r->args, STR("defaultConstraints"));
    struct str given = value_text(r->args, "defaultingType");
    struct str type = given.n ? given : STR("System");
    struct spread_args *to = &r->p->spread;
    size_t n = value_is(list, VALUE_ARRAY) ? list->n : 0;
    struct spread_rule *rules = n ? arena_array(r->a, struct spread_rule, n) : NULL;
    check_defaulting(r, type, list);
    *to = (struct spread_args){ .is_system = str_eq(type, STR("System")), .rules = rules };
    value_each_item (it, list) {
        const struct field_path at = field_index(&path, to->n);
        check_constraint(r, &at, it);
        check_repeated(r, &at, list, it);
        rules[to->n++] = spread_rule_read(it);
    }
}

/* ---- All of them ---- */

static const struct plugin_args {
    const char *plugin;
    const struct arg *fields;
    void (*read)(struct reader *r);
} known[] = {
    { "DefaultPreemption", preempt_fields, read_preemption },
    { "InterPodAffinity", pods_fields, read_pods },
    { "NodeAffinity", affinity_fields, read_affinity },
    { "NodeResourcesBalancedAllocation", balance_fields, read_balance },
    { "NodeResourcesFit", fit_fields, read_fit },
    { "PodTopologySpread", spread_fields, read_spread },
    { "VolumeBinding", binding_fields, read_binding },
};

void profile_args_init(struct profile *p)
{
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        known[i].read(&(struct reader){ .p = p });
}

static const struct plugin_args *find_known(struct str plugin)
{
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_eq(plugin, str_of(known[i].plugin)))
            return &known[i];
    return NULL;
}

static bool was_there(const struct value *list, const struct value *one)
{
    value_each_item (it, list) {
        if (it == one)
            return false;
        if (str_eq(value_text(it, "name"), value_text(one, "name")))
            return true;
    }
    return false;
}

static int check_kind(const struct form *f, const struct value *args, struct err *err)
{
    struct str kind = value_text(args, "kind");
    struct str wanted = arena_printf(f->a, STR_FMT "Args", STR_ARG(f->plugin));
    if (!kind.n || str_eq(kind, wanted))
        return 0;
    return err_set(err, ERR_INVALID,
                   "decoding .profiles[%zu].pluginConfig[%zu]: args for plugin " STR_FMT
                   " were not of type " STR_FMT ".kubescheduler.config.k8s.io, got " STR_FMT
                   ".kubescheduler.config.k8s.io",
                   f->profile, f->at, STR_ARG(f->plugin), STR_ARG(wanted), STR_ARG(kind));
}

int profile_args_read(struct arena *a, struct profile *p, const struct value *list,
                      const struct field_path *profile, struct field_errors *faults,
                      struct err *err)
{
    const struct field_path configs = field_child(profile, STR("pluginConfig"));
    size_t i = 0;
    value_each_item (it, list) {
        const struct field_path config = field_index(&configs, i);
        const struct field_path path = field_child(&config, STR("args"));
        const struct form form = { a, value_text(it, "name"), profile->index, i++ };
        const struct plugin_args *args = find_known(form.plugin);
        if (was_there(list, it))
            field_error(faults, FIELD_DUPLICATE, &config, field_quoted(faults, form.plugin), "%s",
                        "");
        if (!args)
            continue;
        struct reader reader = { a, p, value_get(it, STR("args")), &path, faults };
        int r = check_form(&form, reader.args, args->fields, STR(""), err);
        if (r < 0)
            return r;
        r = check_kind(&form, reader.args, err);
        if (r < 0)
            return r;
        args->read(&reader);
    }
    return 0;
}
