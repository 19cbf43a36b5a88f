#include "admission/policy/policy.h"

#include "admission/plugins.h"
#include "api/errors.h"
#include "api/validate/initializers.h"
#include "base/idiom.h"
#include "base/banned.h"

#define GROUP STR("admissionregistration.k8s.io")

/* ---- Reading ---- */

/* Trees, one by one. */
struct trees {
    struct arena *arena;
    const struct value **at;
    size_t n, cap;
};

static void keep(struct trees *all, struct value v)
{
    if (all->n == all->cap) {
        size_t cap = 2 * all->cap + 8;
        all->at = arena_grow(all->arena, all->at, all->cap * sizeof(*all->at),
                             cap * sizeof(*all->at), alignof(const struct value *));
        all->cap = cap;
    }
    struct value *kept = arena_new(all->arena, struct value);
    *kept = v;
    all->at[all->n++] = kept;
}

/* A copy of what matters of it: its name and what it says. */
static int take_object(void *to, const struct value *obj)
{
    struct trees *all = to;
    if (initializers_of(obj)) /* it does not count yet */
        return 0;
    struct value kept = value_object(), meta = value_object();
    struct str name = value_str(value_dig(obj, "metadata", "name"));
    const struct value *spec = value_get(obj, STR("spec"));
    value_put_new(all->arena, &meta, STR("name"), value_string(arena_str(all->arena, name)));
    value_put_new(all->arena, &kept, STR("metadata"), meta);
    if (spec)
        value_put_new(all->arena, &kept, STR("spec"), value_clone(all->arena, spec));
    keep(all, kept);
    return 0;
}

static const struct match *read_match(struct arena *a, const struct value *resources)
{
    const struct match_spec spec = {
        .rules = value_get(resources, STR("resourceRules")),
        .excluded = value_get(resources, STR("excludeResourceRules")),
        .namespace_selector = value_get(resources, STR("namespaceSelector")),
        .object_selector = value_get(resources, STR("objectSelector")),
        .is_exact = str_eq(value_text(resources, "matchPolicy"), STR("Exact")),
    };
    return match_read(a, &spec);
}

/* A selector that cannot be read selects nothing. */
static const struct labels_selector *read_selector(struct arena *a, const struct value *v)
{
    struct err err = ERR_INIT(a);
    if (!value_is(v, VALUE_OBJECT))
        return NULL;
    struct labels_selector *s = arena_new(a, struct labels_selector);
    if (labels_from_value(a, v, s, &err) < 0)
        *s = (struct labels_selector){ .nothing = true };
    return s;
}

static const struct policy_ref *read_ref(struct arena *a, const struct value *v)
{
    if (!value_is(v, VALUE_OBJECT))
        return NULL;
    struct policy_ref *ref = arena_new(a, struct policy_ref);
    *ref = (struct policy_ref){
        .ns = value_text(v, "namespace"),
        .name = value_text(v, "name"),
        .labels = read_selector(a, value_get(v, STR("selector"))),
        .must_be_there = str_eq(value_text(v, "parameterNotFoundAction"), STR("Deny")),
    };
    return ref;
}

static struct policy_binding read_binding(struct arena *a, const struct value *obj)
{
    const struct value *spec = value_get(obj, STR("spec")),
                       *match = value_get(spec, STR("matchResources"));
    return (struct policy_binding){
        .name = value_str(value_dig(obj, "metadata", "name")),
        .match = value_is(match, VALUE_OBJECT) ? read_match(a, match) : NULL,
        .ref = read_ref(a, value_get(spec, STR("paramRef"))),
        .spec = spec,
    };
}

/* Those of one policy, in the order of their names. */
static void read_bindings(struct arena *a, const struct trees *all, struct policy *p)
{
    p->bindings = arena_array(a, struct policy_binding, all->n);
    for (size_t i = 0; i < all->n; i++)
        if (str_eq(value_str(value_dig(all->at[i], "spec", "policyName")), p->name))
            p->bindings[p->n_bindings++] = read_binding(a, all->at[i]);
}

static bool is_bound(const struct trees *bindings, struct str name)
{
    for (size_t i = 0; i < bindings->n; i++)
        if (str_eq(value_str(value_dig(bindings->at[i], "spec", "policyName")), name))
            return true;
    return false;
}

static struct policy read_policy(const struct policy_sort *sort, struct arena *a,
                                 const struct value *obj, const struct trees *bindings)
{
    const struct value *spec = value_get(obj, STR("spec")),
                       *params = value_get(spec, STR("paramKind"));
    struct policy p = {
        .name = value_str(value_dig(obj, "metadata", "name")),
        .match = read_match(a, value_get(spec, STR("matchConstraints"))),
        .param_version = value_text(params, "apiVersion"),
        .param_kind = value_text(params, "kind"),
        .ignores_failure = str_eq(value_text(spec, "failurePolicy"), STR("Ignore")),
        .spec = spec,
    };
    p.conditions = conditions_read(a, value_get(spec, STR("matchConditions")), p.param_kind.n);
    sort->compile(a, &p);
    read_bindings(a, bindings, &p);
    return p;
}

uint64_t policy_set_interest(const void *set)
{
    const struct policy_set *all = set;
    uint64_t bits = 0;
    for (size_t i = 0; i < all->n; i++)
        bits |= match_interest(all->at[i].match);
    return bits;
}

int policy_set_read(const struct policy_sort *sort, struct admission_request *req, struct arena *a,
                    const void **ret, struct err *err)
{
    struct trees bindings = { .arena = a }, policies = { .arena = a };
    *ret = NULL;
    int r = admission_each(req, GROUP, sort->bindings, STR(""), take_object, &bindings, err);
    if (r < 0 || !bindings.n)
        return r;
    r = admission_each(req, GROUP, sort->policies, STR(""), take_object, &policies, err);
    if (r < 0 || !policies.n)
        return r;
    struct policy_set *set = arena_new(a, struct policy_set);
    set->at = arena_array(a, struct policy, policies.n);
    for (size_t i = 0; i < policies.n; i++)
        if (is_bound(&bindings, value_str(value_dig(policies.at[i], "metadata", "name"))))
            set->at[set->n++] = read_policy(sort, a, policies.at[i], &bindings);
    *ret = set->n ? set : NULL;
    return 0;
}

/* ---- Params ---- */

static int take_param(void *to, const struct value *obj)
{
    keep(to, *obj);
    return 0;
}

/* Whether there is such a kind, for the policy. */
static bool finds_kind(struct admission_request *req, const struct policy *p, bool *ret_namespaced)
{
    return req->cluster->find_kind &&
           req->cluster->find_kind(req->arg, p->param_version, p->param_kind, ret_namespaced) == 1;
}

/* The params of a binding; one that is NULL where it names none. */
static int find_params(struct admission_request *req, const struct policy *p,
                       const struct policy_binding *b, bool namespaced, struct trees *ret,
                       struct err *err)
{
    static const struct value *none[] = { NULL };
    const struct policy_ref *ref = b->ref;
    if (!p->param_kind.n || !ref) {
        *ret = (struct trees){ .at = none, .n = 1 };
        return 0;
    }
    struct admission_wanted wanted = { .api_version = p->param_version,
                                       .kind = p->param_kind,
                                       .name = ref->name,
                                       .labels = ref->name.n ? NULL : ref->labels };
    if (namespaced)
        wanted.ns = ref->ns.n ? ref->ns : view_namespace(req);
    if (namespaced && !wanted.ns.n)
        return err_set(err, ERR_INVALID,
                       "cannot use namespaced paramRef in policy binding that matches "
                       "cluster-scoped resources");
    if (!namespaced && ref->ns.n)
        return err_set(err, ERR_INVALID,
                       "paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
    if (!ref->name.n && !ref->labels)
        return err_set(err, ERR_INVALID, "one of name or selector must be provided");
    int r = req->cluster->each_of_kind(req->arg, &wanted, take_param, ret, err);
    if (r == 0 && !ret->n && ref->must_be_there)
        return err_set(err, ERR_INVALID,
                       "no params found for policy binding with `Deny` parameterNotFoundAction");
    return r;
}

/* ---- What is to be asked ---- */

static struct policy_use *add_use(struct arena *a, struct policy_uses *all, struct policy_use use)
{
    if (all->n == all->cap) {
        size_t cap = 2 * all->cap + 4;
        all->at = arena_grow(a, all->at, all->cap * sizeof(use), cap * sizeof(use),
                             alignof(struct policy_use));
        all->cap = cap;
    }
    all->at[all->n] = use;
    return &all->at[all->n++];
}

static void add_fault(struct arena *a, struct policy_uses *all, const struct policy *p,
                      const struct policy_binding *b, struct str why)
{
    struct str fault =
        arena_printf(a, "failed to configure %s: " STR_FMT, b ? "binding" : "policy", STR_ARG(why));
    (void)add_use(a, all, (struct policy_use){ .policy = p, .binding = b, .fault = fault });
}

static int find_by_binding(struct admission_request *req, const struct value *obj,
                           const struct policy_use *found, bool namespaced, struct policy_uses *all,
                           struct err *err)
{
    const struct policy_binding *b = found->binding;
    const struct kind_resource *as;
    struct trees params = { .arena = req->arena };
    int r = b->match ? match_request(b->match, req, obj, &as, err) : 1;
    if (r <= 0)
        return r;
    r = find_params(req, found->policy, b, namespaced, &params, err);
    for (size_t i = 0; r == 0 && i < params.n; i++)
        add_use(req->arena, all, *found)->param = params.at[i];
    return r;
}

static struct str no_such_kind(struct arena *a, const struct policy *p)
{
    struct str group = STR(""), version = p->param_version;
    if (str_find(version, '/') >= 0)
        group = str_cut(&version, '/');
    return arena_printf(a,
                        "failed to find resource referenced by paramKind: '" STR_FMT "/" STR_FMT
                        ", Kind=" STR_FMT "'",
                        STR_ARG(group), STR_ARG(version), STR_ARG(p->param_kind));
}

static void find_by_policy(struct admission_request *req, const struct value *obj,
                           const struct policy *p, struct policy_uses *all)
{
    struct arena *a = req->arena;
    struct err err = ERR_INIT(a);
    struct policy_use found = { .policy = p };
    bool namespaced = false;
    int r = match_request(p->match, req, obj, &found.as, &err);
    if (r < 0)
        add_fault(a, all, p, NULL, err.msg);
    else if (r && p->param_kind.n && !finds_kind(req, p, &namespaced))
        add_fault(a, all, p, NULL, no_such_kind(a, p));
    else
        for (size_t i = 0; r && i < p->n_bindings; i++) {
            found.binding = &p->bindings[i];
            if (find_by_binding(req, obj, &found, namespaced, all, &err) < 0)
                add_fault(a, all, p, found.binding, err.msg);
        }
}

void policy_find(const struct policy_set *set, struct admission_request *req,
                 const struct value *obj, struct policy_uses *ret)
{
    *ret = (struct policy_uses){ 0 };
    for (size_t i = 0; i < set->n; i++)
        find_by_policy(req, obj, &set->at[i], ret);
}

/* ---- The namespace ---- */

/* Of its metadata, what expressions may look at. */
static struct value show_metadata(struct arena *a, const struct value *meta)
{
    static const char *const shown[] = { "name",
                                         "generateName",
                                         "namespace",
                                         "uid",
                                         "resourceVersion",
                                         "generation",
                                         "creationTimestamp",
                                         "deletionTimestamp",
                                         "deletionGracePeriodSeconds",
                                         "labels",
                                         "annotations",
                                         "finalizers" };
    struct value ret = value_object();
    for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
        const struct value *v = value_get(meta, str_of(shown[i]));
        if (v)
            value_put_new(a, &ret, str_of(shown[i]), value_borrow(v));
    }
    return ret;
}

static bool is_seen(const struct policy_uses *uses)
{
    for (size_t i = 0; i < uses->n; i++)
        if (uses->at[i].policy->sees_namespace)
            return true;
    return false;
}

int policy_namespace(struct admission_request *req, const struct policy_uses *uses,
                     const struct value **ret, struct err *err)
{
    struct arena *a = req->arena;
    struct value ns;
    bool is_one = !req->stored->group.n && str_eq(req->stored->plural, STR("namespaces"));
    *ret = NULL;
    if (is_one || !req->ns.n || !is_seen(uses))
        return 0;
    int r = admission_read(req, STR(""), STR("namespaces"), STR(""), req->ns, &ns, err);
    if (r == 0)
        return error_not_found(err, kind_stored_named(STR(""), STR("namespaces")), req->ns);
    if (r < 0)
        return r;
    struct value *shown = arena_new(a, struct value);
    *shown = value_object();
    value_put_new(a, shown, STR("metadata"), show_metadata(a, value_get(&ns, STR("metadata"))));
    for (const char *const *key = (const char *const[]){ "spec", "status", NULL }; *key; key++) {
        const struct value *v = value_get(&ns, str_of(*key));
        value_put_new(a, shown, str_of(*key), v ? value_borrow(v) : value_object());
    }
    *ret = shown;
    return 0;
}
