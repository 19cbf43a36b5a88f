#include "admission/dynamic/match.h"

#include "admission/dynamic/view.h"
#include "admission/plugins.h"
#include "admission/memory.h"
#include "api/errors.h"
#include "api/words.h"
#include "select/labels.h"
#include "base/banned.h"

enum scope { SCOPE_ANY, SCOPE_CLUSTER, SCOPE_NAMESPACED };

struct rule {
    unsigned operations;
    enum scope scope;
    const struct value *groups, *versions, *resources;
    const struct value *names; /* of objects; none: any */
};

struct rules {
    struct rule *list;
    size_t n;
};

struct match {
    struct rules rules, excluded;
    struct labels_selector ns, object;
    bool is_exact, is_for_all, is_webhook;
};

/* ---- Reading ---- */

static unsigned read_operations(const struct value *list)
{
    static const struct {
        struct str word;
        unsigned bits;
    } known[] = {
        { STR("CREATE"), ADMISSION_CREATE },
        { STR("UPDATE"), ADMISSION_UPDATE },
        { STR("DELETE"), ADMISSION_DELETE },
        { STR("CONNECT"), ADMISSION_CONNECT },
        { STR("*"), ~0U },
    };
    unsigned bits = 0;
    value_each_item (it, list)
        bits |= words_row(value_str(it), known) ? words_row(value_str(it), known)->bits : 0;
    return bits;
}

static enum scope read_scope(struct str text)
{
    if (str_eq(text, STR("Cluster")))
        return SCOPE_CLUSTER;
    return str_eq(text, STR("Namespaced")) ? SCOPE_NAMESPACED : SCOPE_ANY;
}

static struct rules read_rules(struct arena *a, const struct value *list)
{
    struct rules ret = { 0 };
    if (!value_is(list, VALUE_ARRAY) || !list->n)
        return ret;
    ret.list = arena_array(a, struct rule, list->n);
    value_each_item (it, list) {
        struct value *copy = arena_new(a, struct value);
        *copy = value_clone(a, it);
        ret.list[ret.n++] = (struct rule){
            .operations = read_operations(value_get(copy, STR("operations"))),
            .scope = read_scope(value_text(copy, "scope")),
            .groups = value_get(copy, STR("apiGroups")),
            .versions = value_get(copy, STR("apiVersions")),
            .resources = value_get(copy, STR("resources")),
            .names = value_get(copy, STR("resourceNames")),
        };
    }
    return ret;
}

/* None is for everything. */
static struct labels_selector read_selector(struct arena *a, const struct value *v)
{
    struct labels_selector ret = { 0 };
    struct err err = ERR_INIT(a);
    if (!v || v->type == VALUE_NULL)
        return ret;
    struct value *copy = arena_new(a, struct value);
    *copy = value_clone(a, v);
    if (labels_from_value(a, copy, &ret, &err) < 0)
        ret = (struct labels_selector){ .nothing = true };
    return ret;
}

const struct match *match_read(struct arena *a, const struct match_spec *spec)
{
    struct match *m = arena_new(a, struct match);
    m->rules = read_rules(a, spec->rules);
    m->excluded = read_rules(a, spec->excluded);
    m->ns = read_selector(a, spec->namespace_selector);
    m->object = read_selector(a, spec->object_selector);
    m->is_exact = spec->is_exact;
    m->is_for_all = !m->rules.n && !spec->needs_rules;
    m->is_webhook = spec->needs_rules;
    return m;
}

/* ---- Who is never asked ---- */

/* Policies have a say in how webhooks are configured. */
bool match_exempts(const struct kind_resource *stored, bool by_webhooks)
{
    static const struct str webhooks[] = { STR("validatingwebhookconfigurations"),
                                           STR("mutatingwebhookconfigurations") },
                            policies[] = { STR("validatingadmissionpolicies"),
                                           STR("validatingadmissionpolicybindings"),
                                           STR("mutatingadmissionpolicies"),
                                           STR("mutatingadmissionpolicybindings") },
                            authentication[] = { STR("selfsubjectreviews"), STR("tokenreviews") },
                            authorization[] = { STR("localsubjectaccessreviews"),
                                                STR("selfsubjectaccessreviews"),
                                                STR("selfsubjectrulesreviews"),
                                                STR("subjectaccessreviews") };
    if (!str_ends(stored->group, STR(".k8s.io")))
        return false;
    if (str_eq(stored->group, STR("admissionregistration.k8s.io")))
        return words_have(stored->plural, WORDS(policies)) ||
               (by_webhooks && words_have(stored->plural, WORDS(webhooks)));
    if (str_eq(stored->group, STR("authentication.k8s.io")))
        return words_have(stored->plural, WORDS(authentication));
    return str_eq(stored->group, STR("authorization.k8s.io")) &&
           words_have(stored->plural, WORDS(authorization));
}

/* ---- Rules ---- */

/* What a rule is held against. */
struct asked {
    const struct kind_resource *resource; /* in one of its versions */
    struct str sub;
    unsigned operations; /* one of them will do */
    bool in_namespace;
    struct str name;
    bool any_version, any_scope, any_name; /* it is not known yet */
};

static bool names(const struct value *list, struct str text)
{
    value_each_item (it, list)
        if (str_eq(value_str(it), STR("*")) || str_eq(value_str(it), text))
            return true;
    return false;
}

static bool names_resource(const struct value *list, struct str plural, struct str sub)
{
    value_each_item (it, list) {
        struct str below = value_str(it), whole = str_cut(&below, '/');
        if ((str_eq(whole, STR("*")) || str_eq(whole, plural)) &&
            (str_eq(below, STR("*")) || str_eq(below, sub)))
            return true;
    }
    return false;
}

/* A Namespace is not in a namespace, although requests for it say so. */
static bool is_in_scope(enum scope scope, const struct asked *q)
{
    const struct kind_resource *r = q->resource;
    bool is_namespace = !r->group.n && str_eq(r->plural, STR("namespaces"));
    if (scope == SCOPE_ANY || q->any_scope)
        return true;
    return (scope == SCOPE_NAMESPACED) == (q->in_namespace && !is_namespace);
}

static bool is_named(const struct value *list, const struct asked *q)
{
    if (q->any_name || !value_is(list, VALUE_ARRAY) || !list->n)
        return true;
    value_each_item (it, list)
        if (str_eq(value_str(it), q->name))
            return true;
    return false;
}

static bool rule_has(const struct rule *rule, const struct asked *q)
{
    const struct kind_resource *r = q->resource;
    return (rule->operations & q->operations) && is_in_scope(rule->scope, q) &&
           (q->any_version ||
            (names(rule->groups, r->group) && names(rule->versions, r->version))) &&
           names_resource(rule->resources, r->plural, q->sub) && is_named(rule->names, q);
}

static bool rules_have(const struct rules *rules, const struct asked *q)
{
    for (size_t i = 0; i < rules->n; i++)
        if (rule_has(&rules->list[i], q))
            return true;
    return false;
}

/* The first version of the resource that the rule names; NULL: none. */
static const struct kind_resource *
find_version(const struct rule *rule, struct admission_request *req, const struct asked *q)
{
    struct asked other = *q;
    for (size_t i = 0; (other.resource = req->cluster->version(req->arg, req->stored, i)); i++)
        if (other.resource != q->resource &&
            (!q->sub.n || kind_subresource_find(other.resource, q->sub)) && rule_has(rule, &other))
            return other.resource;
    return NULL;
}

/* Earlier rules come first. */
static const struct kind_resource *
find_equivalent(const struct rules *rules, struct admission_request *req, const struct asked *q)
{
    struct asked any = *q;
    const struct kind_resource *found = NULL;
    any.any_version = true; /* all versions have one name, so most rules are out at once */
    for (size_t i = 0; i < rules->n && req->cluster->version && !found; i++)
        if (rule_has(&rules->list[i], &any))
            found = find_version(&rules->list[i], req, q);
    return found;
}

static const struct kind_resource *find(const struct match *m, const struct rules *rules,
                                        struct admission_request *req, const struct asked *q)
{
    if (rules_have(rules, q))
        return q->resource;
    return m->is_exact ? NULL : find_equivalent(rules, req, q);
}

uint64_t match_interest(const struct match *m)
{
    uint64_t bits = m->is_for_all ? ~UINT64_C(0) : 0;
    for (size_t i = 0; i < m->rules.n; i++)
        value_each_item (it, m->rules.list[i].resources)
            bits |= admission_interest(value_str(it));
    return bits;
}

bool match_may(const struct match *m, const struct admission_call *call)
{
    const struct asked q = { .resource = call->resource,
                             .sub = call->sub,
                             .operations = call->operations,
                             .any_version = !m->is_exact,
                             .any_scope = true,
                             .any_name = true };
    return !match_exempts(call->stored, m->is_webhook) &&
           (m->is_for_all || rules_have(&m->rules, &q));
}

/* ---- Selectors ---- */

static const struct value *labels_of(const struct value *obj)
{
    return value_dig(obj, "metadata", "labels");
}

static bool selects_object(const struct match *m, const struct admission_request *req,
                           const struct value *obj)
{
    if (labels_empty(&m->object))
        return true;
    /* The options of a connection have no metadata at all. */
    return (value_get(obj, STR("metadata")) && labels_match_value(&m->object, labels_of(obj))) ||
           (req->old_obj && labels_match_value(&m->object, labels_of(req->old_obj)));
}

/* A Namespace that is written counts as it will be. */
static int selects_namespace(const struct match *m, struct admission_request *req,
                             const struct value *obj, struct err *err)
{
    struct str ns = view_namespace(req);
    bool is_namespace = str_eq(req->resource->plural, STR("namespaces"));
    struct value read;
    if ((!ns.n && !is_namespace) || labels_empty(&m->ns))
        return 1;
    if (is_namespace && !req->sub.n && obj &&
        (req->operation & (ADMISSION_CREATE | ADMISSION_UPDATE)))
        return labels_match_value(&m->ns, labels_of(obj));
    int r = admission_read(req, STR(""), STR("namespaces"), STR(""), ns, &read, err);
    if (r < 0)
        return r;
    if (r == 0)
        return error_no_namespace(err, ns);
    return labels_match_value(&m->ns, labels_of(&read));
}

int match_request(const struct match *m, struct admission_request *req, const struct value *obj,
                  const struct kind_resource **ret_as, struct err *err)
{
    const struct asked q = { .resource = req->resource,
                             .sub = req->sub,
                             .operations = req->operation,
                             .in_namespace = view_namespace(req).n > 0,
                             .name = req->name };
    if (match_exempts(req->stored, m->is_webhook) || find(m, &m->excluded, req, &q))
        return 0;
    const struct kind_resource *as = m->is_for_all ? req->resource : find(m, &m->rules, req, &q);
    if (!as || !selects_object(m, req, obj))
        return 0;
    *ret_as = as;
    return selects_namespace(m, req, obj, err);
}
