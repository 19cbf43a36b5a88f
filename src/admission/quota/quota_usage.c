#include "admission/quota/quota_usage.h"

#include "admission/quota/quota_internal.h"
#include "api/keys.h"
#include "api/quantity.h"
#include "api/validate/initializers.h"
#include "api/words.h"
#include "base/banned.h"

#define STORAGE_CLASS STR(".storageclass.storage.k8s.io/")
#define DEVICES       STR(".deviceclass.resource.k8s.io/devices")

/* ---- Which kind knows what ---- */

struct evaluator {
    struct str group, plural;
    bool (*counts)(struct str name); /* beside its count */
    struct str (*usage)(const struct quota_item *item, struct str name);
    size_t (*names)(const struct quota_item *item, struct str *ret);
};

static bool service_counts(struct str name)
{
    static const struct str names[] = { STR("services"), STR("services.nodeports"),
                                        STR("services.loadbalancers") };
    return words_have(name, WORDS(names));
}

static struct str number(const struct quota_item *item, size_t n)
{
    return arena_printf(item->arena, "%zu", n);
}

/* Ports of the node may not have been given yet: what is asked for counts. */
static size_t node_ports(const struct value *spec)
{
    const struct value *ports = value_get(spec, STR("ports")),
                       *gives = value_get(spec, STR("allocateLoadBalancerNodePorts"));
    struct str type = value_text(spec, "type");
    bool is_balanced = str_eq(type, STR("LoadBalancer"));
    size_t n = 0;
    if (!is_balanced && !str_eq(type, STR("NodePort")))
        return 0;
    if (!is_balanced || !value_is(gives, VALUE_BOOL) || gives->b)
        return value_is(ports, VALUE_ARRAY) ? ports->n : 0;
    value_each_item (it, ports) {
        int64_t port = 0;
        n += value_to_int(value_get(it, STR("nodePort")), &port) && port;
    }
    return n;
}

static struct str service_usage(const struct quota_item *item, struct str name)
{
    const struct value *spec = value_get(item->obj, STR("spec"));
    if (str_eq(name, STR("services")))
        return STR("1");
    if (str_eq(name, STR("services.loadbalancers")))
        return str_eq(value_text(spec, "type"), STR("LoadBalancer")) ? STR("1") : STR("0");
    return number(item, node_ports(spec));
}

static size_t service_names(const struct quota_item *item, struct str *ret)
{
    (void)item;
    ret[0] = STR("services");
    ret[1] = STR("services.nodeports");
    ret[2] = STR("services.loadbalancers");
    return 3;
}

/* ---- Claims of volumes ---- */

/* "CLASS.storageclass.storage.k8s.io/THING" becomes THING, with the class; else there is none. */
static struct str without_class(struct str name, struct str *ret_class)
{
    static const struct str things[] = { STR("persistentvolumeclaims"), STR("requests.storage") };
    *ret_class = (struct str){ 0 };
    for (size_t i = 0; i < ARRAY_LEN(things); i++) {
        size_t tail = STORAGE_CLASS.n + things[i].n;
        if (name.n < tail || !str_ends(name, things[i]))
            continue;
        struct str head = str_take(name, name.n - things[i].n);
        if (!str_ends(head, STORAGE_CLASS))
            continue;
        *ret_class = str_take(head, head.n - STORAGE_CLASS.n);
        return things[i];
    }
    return name;
}

static bool claim_counts(struct str name)
{
    static const struct str things[] = { STR("persistentvolumeclaims"), STR("requests.storage") };
    struct str class;
    return words_have(without_class(name, &class), WORDS(things));
}

static struct str class_of(const struct value *claim)
{
    const struct value *beta =
        value_get(value_dig(claim, "metadata", "annotations"), STR(KEY_BETA_STORAGE_CLASS));
    return beta ? value_str(beta) : value_str(value_dig(claim, "spec", "storageClassName"));
}

/* In whole bytes: what is asked for, or what was given if that is more. */
static struct str storage_of(const struct quota_item *item)
{
    struct str asked = value_str(value_dig(item->obj, "spec", "resources", "requests", "storage")),
               given = value_str(value_dig(item->obj, "status", "allocatedResources", "storage"));
    int64_t bytes;
    if (asked.n && given.n && quantity_cmp(given, asked) > 0)
        asked = given;
    if (!asked.n || quantity_is_whole(asked) || !quantity_units(asked, false, &bytes))
        return asked;
    return arena_printf(item->arena, "%lld", (long long)bytes);
}

/* As long as initializers are at work on a claim, it is one claim, and no more. */
static struct str claim_usage(const struct quota_item *item, struct str name)
{
    struct str class, thing = without_class(name, &class);
    if (initializers_of(item->obj))
        return str_eq(name, STR("persistentvolumeclaims")) ? STR("1") : STR("");
    if (class.p && (!class.n || !str_eq(class, class_of(item->obj))))
        return STR("");
    return str_eq(thing, STR("requests.storage")) ? storage_of(item) : STR("1");
}

static size_t claim_names(const struct quota_item *item, struct str *ret)
{
    struct str class = class_of(item->obj);
    ret[0] = STR("persistentvolumeclaims");
    ret[1] = STR("requests.storage");
    if (initializers_of(item->obj))
        return 1;
    if (!class.n)
        return 2;
    for (size_t i = 0; i < 2; i++)
        ret[2 + i] = arena_printf(item->arena, STR_FMT STR_FMT STR_FMT, STR_ARG(class),
                                  STR_ARG(STORAGE_CLASS), STR_ARG(ret[i]));
    return 4;
}

/* Whether one of the classes that a claim refers to does. */
static bool claim_in_scope(const struct value *claim, const struct value *requirement)
{
    const struct str classes[] = {
        value_str(value_dig(claim, "spec", "volumeAttributesClassName")),
        value_str(value_dig(claim, "status", "currentVolumeAttributesClassName")),
        value_str(
            value_dig(claim, "status", "modifyVolumeStatus", "targetVolumeAttributesClassName")),
    };
    bool has_any = false;
    if (!str_eq(value_text(requirement, "scopeName"), STR("VolumeAttributesClass")))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        has_any |= classes[i].n != 0;
        if (classes[i].n && quota__selects(requirement, classes[i]))
            return true;
    }
    return !has_any && quota__selects(requirement, STR(""));
}

/* ---- Claims of devices ---- */

static bool device_claim_counts(struct str name)
{
    return str_ends(name, DEVICES);
}

/* How many devices of a class one request may be given at most. */
static int64_t devices_of(const struct value *request, struct str class)
{
    enum { ALL_DEVICES = 32 };
    int64_t n = 0;
    struct str mode = value_text(request, "allocationMode");
    if (!str_eq(value_text(request, "deviceClassName"), class))
        return 0;
    if (str_eq(mode, STR("All")))
        return ALL_DEVICES;
    if (str_eq(mode, STR("ExactCount")))
        (void)value_to_int(value_get(request, STR("count")), &n);
    return n;
}

static struct str device_claim_usage(const struct quota_item *item, struct str name)
{
    struct str class = str_take(name, name.n - DEVICES.n);
    int64_t n = 0;
    bool is_named = false;
    value_each_item (request, value_dig(item->obj, "spec", "devices", "requests")) {
        const struct value *exactly = value_get(request, STR("exactly"));
        int64_t most = devices_of(exactly, class);
        is_named |= str_eq(value_text(exactly, "deviceClassName"), class) && exactly;
        value_each_item (it, value_get(request, STR("firstAvailable"))) {
            int64_t one = devices_of(it, class);
            is_named |= str_eq(value_text(it, "deviceClassName"), class);
            most = one > most ? one : most;
        }
        n = most > INT64_MAX - n ? INT64_MAX : n + most;
    }
    return is_named ? arena_printf(item->arena, "%lld", (long long)n) : STR("");
}

static size_t add_device_name(const struct quota_item *item, const struct value *request,
                              struct str *ret, size_t n)
{
    struct str class = value_text(request, "deviceClassName");
    if (class.n && n + 1 < QUOTA_NAMES_MAX)
        ret[n++] = arena_printf(item->arena, STR_FMT STR_FMT, STR_ARG(class), STR_ARG(DEVICES));
    return n;
}

static size_t device_claim_names(const struct quota_item *item, struct str *ret)
{
    size_t n = 0;
    value_each_item (request, value_dig(item->obj, "spec", "devices", "requests")) {
        n = add_device_name(item, value_get(request, STR("exactly")), ret, n);
        value_each_item (it, value_get(request, STR("firstAvailable")))
            n = add_device_name(item, it, ret, n);
    }
    return n;
}

/* ---- All of them ---- */

static const struct evaluator evaluators[] = {
    { STR(""), STR("pods"), quota__pod_counts, quota__pod_usage, quota__pod_names },
    { STR(""), STR("services"), service_counts, service_usage, service_names },
    { STR(""), STR("persistentvolumeclaims"), claim_counts, claim_usage, claim_names },
    { STR("resource.k8s.io"), STR("resourceclaims"), device_claim_counts, device_claim_usage,
      device_claim_names },
};

static const struct evaluator *evaluator_of(struct str group, struct str plural)
{
    for (size_t i = 0; i < ARRAY_LEN(evaluators); i++)
        if (str_eq(evaluators[i].group, group) && str_eq(evaluators[i].plural, plural))
            return &evaluators[i];
    return NULL;
}

/* What a name counts: "count/PLURAL" or "count/PLURAL.GROUP"; some have an older name, too. */
static bool counted_by(struct str name, struct quota_kind *ret)
{
    static const struct str old[] = { STR("configmaps"), STR("resourcequotas"),
                                      STR("replicationcontrollers"), STR("secrets") };
    *ret = (struct quota_kind){ STR(""), name };
    if (words_have(name, WORDS(old)))
        return true;
    ret->group = str_skip(name, STR("count/").n);
    ret->plural = str_cut(&ret->group, '.');
    return str_starts(name, STR("count/"));
}

static bool is_count(struct str group, struct str plural, struct str name)
{
    struct quota_kind of;
    return counted_by(name, &of) && str_eq(of.plural, plural) && str_eq(of.group, group);
}

bool quota_is_measured(struct str group, struct str plural)
{
    return evaluator_of(group, plural);
}

size_t quota_kinds_of(struct str name, struct quota_kind ret[static QUOTA_KINDS_MAX])
{
    size_t n = counted_by(name, &ret[0]);
    for (size_t i = 0; i < ARRAY_LEN(evaluators); i++)
        if (evaluators[i].counts(name))
            ret[n++] = (struct quota_kind){ evaluators[i].group, evaluators[i].plural };
    return n;
}

bool quota_ignores(struct str group, struct str plural)
{
    if (!str_eq(plural, STR("events")))
        return false;
    return !group.n || str_eq(group, STR("events.k8s.io"));
}

bool quota_counts(struct str group, struct str plural, struct str name)
{
    const struct evaluator *e = evaluator_of(group, plural);
    return is_count(group, plural, name) || (e && e->counts(name));
}

struct str quota_usage(const struct quota_item *item, struct str name)
{
    const struct evaluator *e = evaluator_of(item->group, item->plural);
    if (is_count(item->group, item->plural, name))
        return STR("1");
    return e && e->counts(name) ? e->usage(item, name) : STR("");
}

size_t quota_usage_names(const struct quota_item *item, struct str ret[static QUOTA_NAMES_MAX])
{
    const struct evaluator *e = evaluator_of(item->group, item->plural);
    size_t n = e ? e->names(item, ret) : 0;
    if (n < QUOTA_NAMES_MAX)
        ret[n++] = arena_printf(item->arena, "count/" STR_FMT "%s" STR_FMT, STR_ARG(item->plural),
                                item->group.n ? "." : "", STR_ARG(item->group));
    if (n < QUOTA_NAMES_MAX && !e && is_count(item->group, item->plural, item->plural))
        ret[n++] = item->plural;
    return n;
}

/* ---- Scopes ---- */

/* As a selector of labels whose only label is the class, if there is one. */
bool quota__selects(const struct value *requirement, struct str class)
{
    struct str op = value_text(requirement, "operator");
    bool is_listed = false;
    value_each_item (it, value_get(requirement, STR("values")))
        is_listed |= str_eq(value_str(it), class);
    if (str_eq(op, STR("In")))
        return class.n && is_listed;
    if (str_eq(op, STR("NotIn")))
        return !class.n || !is_listed;
    return str_eq(op, STR("DoesNotExist")) ? !class.n : class.n != 0;
}

static bool is_pod(struct str group, struct str plural)
{
    return !group.n && str_eq(plural, STR("pods"));
}

static bool is_claim(struct str group, struct str plural)
{
    return !group.n && str_eq(plural, STR("persistentvolumeclaims"));
}

bool quota_has_scopes(struct str group, struct str plural)
{
    return is_pod(group, plural) || is_claim(group, plural);
}

bool quota_is_in_scope(const struct quota_item *item, const struct value *requirement)
{
    if (is_pod(item->group, item->plural))
        return quota__pod_in_scope(item->obj, requirement);
    return is_claim(item->group, item->plural) && claim_in_scope(item->obj, requirement);
}

struct value quota_scopes(struct arena *a, const struct value *quota_spec)
{
    struct value all = value_array();
    value_each_item (it, value_get(quota_spec, STR("scopes"))) {
        struct value *one = value_push(a, &all, value_object());
        value_put(a, one, STR("scopeName"), value_borrow(it));
        value_put(a, one, STR("operator"), value_string(STR("Exists")));
    }
    value_each_item (it, value_dig(quota_spec, "scopeSelector", "matchExpressions"))
        value_put_item(a, &all, value_borrow(it));
    return all;
}

bool quota_is_in_scopes(const struct quota_item *item, const struct value *quota_spec)
{
    struct value all = quota_scopes(item->arena, quota_spec);
    value_each_item (it, &all)
        if (!quota_is_in_scope(item, it))
            return false;
    return true;
}

/* ---- Changes ---- */

bool quota_may_shrink(const struct quota_item *old_item, const struct value *obj)
{
    struct quota_item item = *old_item;
    item.obj = obj;
    if (!evaluator_of(item.group, item.plural))
        return false;
    if (is_pod(item.group, item.plural) &&
        quota__pod_is_alive(old_item) != quota__pod_is_alive(&item))
        return true;
    return !value_eq(value_get(old_item->obj, STR("spec")), value_get(obj, STR("spec"))) ||
           (is_claim(item.group, item.plural) &&
            !value_eq(value_get(old_item->obj, STR("status")), value_get(obj, STR("status"))));
}
