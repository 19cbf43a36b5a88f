/* The kinds that a cluster itself consists of: namespaces, nodes, accounts, requests for
 * certificates, addresses. */
#include "api/keys.h"
#include "api/names.h"
#include "base/idiom.h"
#include "base/map.h"
#include "server/registry/strategy_internal.h"
#include "base/banned.h"

/* ---- Namespaces ---- */

static void create_namespace(const struct strategy *s, struct value *obj)
{
    struct value *status = value_set(s->arena, obj, STR("status"), value_object());
    value_put(s->arena, status, STR("phase"), value_string(STR("Active")));
    strategy__add_item(s->arena, value_ensure(s->arena, obj, STR("spec")), STR("finalizers"),
                       STR(FINALIZER_KUBERNETES));
}

static void update_namespace(const struct strategy *s, struct value *obj,
                             const struct value *old_obj)
{
    strategy__keep(s->arena, obj, old_obj, STR("spec"));
}

/* ---- Nodes ---- */

/* Upstream withdrew the field configSource. Nodes that have it keep it; others cannot get it. */
static void create_node(const struct strategy *s, struct value *obj)
{
    struct value *spec = value_edit(s->arena, obj, STR("spec"));
    if (value_is(spec, VALUE_OBJECT))
        value_drop(s->arena, spec, STR("configSource"));
    struct value *status = value_edit(s->arena, obj, STR("status"));
    if (value_is(status, VALUE_OBJECT))
        value_drop(s->arena, status, STR("config"));
}

static void update_node(const struct strategy *s, struct value *obj, const struct value *old_obj)
{
    struct value *spec = value_edit(s->arena, obj, STR("spec"));
    if (value_is(spec, VALUE_OBJECT) && !value_dig(old_obj, "spec", "configSource"))
        value_drop(s->arena, spec, STR("configSource"));
}

static void update_node_status(const struct strategy *s, struct value *obj,
                               const struct value *old_obj)
{
    struct value *status = value_edit(s->arena, obj, STR("status"));
    if (value_is(status, VALUE_OBJECT) && !value_dig(old_obj, "status", "config"))
        value_drop(s->arena, status, STR("config"));
}

/* ---- ServiceAccounts, Secrets ---- */

/* Of the secrets of an account only their names count. */
static void clean_account(const struct strategy *s, struct value *obj)
{
    struct value *secrets = value_edit(s->arena, obj, STR("secrets"));
    for (size_t i = 0; value_is(secrets, VALUE_ARRAY) && i < secrets->n; i++) {
        struct value *secret = value_edit_at(s->arena, secrets, i);
        const struct value *name = value_get(secret, STR("name"));
        struct value clean = value_object();
        if (name)
            value_put_new(s->arena, &clean, STR("name"), value_borrow(name));
        *secret = clean;
    }
}

static void update_account(const struct strategy *s, struct value *obj, const struct value *old_obj)
{
    (void)old_obj;
    clean_account(s, obj);
}

static void update_secret(const struct strategy *s, struct value *obj, const struct value *old_obj)
{
    if (!value_text(obj, "type").n)
        strategy__keep(s->arena, obj, old_obj, STR("type"));
}

/* ---- CertificateSigningRequests ---- */

static struct value texts_of(struct arena *a, const struct str *texts, size_t n)
{
    struct value list = value_array();
    for (size_t i = 0; i < n; i++)
        value_put_item(a, &list, value_string(texts[i]));
    return list;
}

static void say_extra(const struct strategy *s, struct value *spec)
{
    struct value extra = value_object();
    for (size_t i = 0; i < s->user->n_extra; i++) {
        const struct user_extra *e = &s->user->extra[i];
        value_put(s->arena, &extra, e->key, texts_of(s->arena, e->values, e->n_values));
    }
    if (extra.n)
        value_put(s->arena, spec, STR("extra"), extra);
}

/* Signers trust these fields. So the server sets them to the user who asked. */
static void create_request(const struct strategy *s, struct value *obj)
{
    struct value *spec = value_ensure(s->arena, obj, STR("spec"));
    static const struct str said[] = { STR("username"), STR("uid"), STR("groups"), STR("extra") };
    for (size_t i = 0; i < ARRAY_LEN(said); i++)
        value_drop(s->arena, spec, said[i]);
    if (!s->user)
        return;
    value_put(s->arena, spec, STR("username"), value_string(s->user->name));
    if (s->user->uid.n)
        value_put(s->arena, spec, STR("uid"), value_string(s->user->uid));
    if (s->user->n_groups)
        value_put(s->arena, spec, STR("groups"),
                  texts_of(s->arena, s->user->groups, s->user->n_groups));
    say_extra(s, spec);
}

static void update_request(const struct strategy *s, struct value *obj, const struct value *old_obj)
{
    strategy__keep(s->arena, obj, old_obj, STR("spec"));
}

static bool is_of_type(const struct value *condition, struct str type)
{
    return str_eq(value_text(condition, "type"), type);
}

static size_t count_of_type(const struct value *conditions, struct str type)
{
    size_t n = 0;
    value_each_item (it, conditions)
        n += is_of_type(it, type);
    return n;
}

/* Only the path `approval` changes conditions of this type. On the status path the old ones are
 * kept; if their number differs nothing is kept, and validation refuses the object. */
static void keep_conditions(struct arena *a, struct value *conditions,
                            const struct value *old_conditions, struct str type)
{
    if (count_of_type(conditions, type) != count_of_type(old_conditions, type))
        return;
    size_t next = 0;
    value_each_item (old_condition, old_conditions) {
        if (!is_of_type(old_condition, type))
            continue;
        while (!is_of_type(value_at(conditions, next), type))
            next++;
        *value_edit_at(a, conditions, next++) = value_borrow(old_condition);
    }
}

static bool is_unset(const struct value *time)
{
    return !time || time->type == VALUE_NULL;
}

/* A condition is the same one as long as its type and status are. */
static struct str identity(struct arena *a, const struct value *condition)
{
    return arena_printf(a, STR_FMT " " STR_FMT, STR_ARG(value_text(condition, "type")),
                        STR_ARG(value_text(condition, "status")));
}

static void index_times(struct arena *a, const struct value *conditions, struct map *ret)
{
    value_each_item (it, conditions) {
        const struct value *time = value_get(it, STR("lastTransitionTime"));
        struct str key = identity(a, it);
        if (!is_unset(time) && !map_get(ret, key))
            (void)map_set(ret, key, (void *)(uintptr_t)time);
    }
}

static void fill_times(const struct strategy *s, struct value *conditions,
                       const struct value *old_conditions)
{
    struct map times = { 0 };
    index_times(s->arena, old_conditions, &times);
    for (size_t i = 0; value_is(conditions, VALUE_ARRAY) && i < conditions->n; i++) {
        struct value *condition = value_edit_at(s->arena, conditions, i);
        if (condition->type != VALUE_OBJECT)
            continue;
        if (is_unset(value_get(condition, STR("lastUpdateTime"))))
            value_put(s->arena, condition, STR("lastUpdateTime"), value_string(s->now));
        if (!is_unset(value_get(condition, STR("lastTransitionTime"))))
            continue;
        const struct value *time = map_get(&times, identity(s->arena, condition));
        value_put(s->arena, condition, STR("lastTransitionTime"),
                  time ? value_borrow(time) : value_string(s->now));
    }
    map_done(&times);
}

static void update_request_status(const struct strategy *s, struct value *obj,
                                  const struct value *old_obj)
{
    struct value *status = value_ensure(s->arena, obj, STR("status"));
    const struct value *old_conditions = value_dig(old_obj, "status", "conditions");
    struct value *conditions = value_edit(s->arena, status, STR("conditions"));
    if (s->asked && str_eq(s->asked->version, STR("v1beta1")) &&
        (count_of_type(conditions, STR("Approved")) !=
             count_of_type(old_conditions, STR("Approved")) ||
         count_of_type(conditions, STR("Denied")) !=
             count_of_type(old_conditions, STR("Denied")))) {
        /* In v1beta1 such a change is ignored. In v1 validation refuses it. */
        strategy__keep(s->arena, status, value_get(old_obj, STR("status")), STR("conditions"));
        return;
    }
    if (!value_is(conditions, VALUE_ARRAY))
        return;
    keep_conditions(s->arena, conditions, old_conditions, STR("Approved"));
    keep_conditions(s->arena, conditions, old_conditions, STR("Denied"));
    fill_times(s, conditions, old_conditions);
}

static void update_approval(const struct strategy *s, struct value *obj,
                            const struct value *old_obj)
{
    const struct value *given = value_dig(obj, "status", "conditions");
    struct value conditions = given ? value_borrow(given) : value_null();
    fill_times(s, &conditions, value_dig(old_obj, "status", "conditions"));
    strategy__keep(s->arena, obj, old_obj, STR("spec"));
    strategy__keep(s->arena, obj, old_obj, STR("status"));
    struct value *status = value_ensure(s->arena, obj, STR("status"));
    if (conditions.type == VALUE_ARRAY)
        value_put(s->arena, status, STR("conditions"), conditions);
    else
        value_drop(s->arena, status, STR("conditions"));
}

/* ---- APIServices ---- */

static void create_api_service(const struct strategy *s, struct value *obj)
{
    if (value_dig(obj, "spec", "service"))
        return;
    struct value condition = value_object(), conditions = value_array();
    value_put_new(s->arena, &condition, STR("type"), value_string(STR("Available")));
    value_put_new(s->arena, &condition, STR("status"), value_string(STR("True")));
    value_put_new(s->arena, &condition, STR("lastTransitionTime"), value_string(s->now));
    value_put_new(s->arena, &condition, STR("reason"), value_string(STR("Local")));
    value_put_new(s->arena, &condition, STR("message"),
                  value_string(STR("Local APIServices are always available")));
    value_put_item(s->arena, &conditions, condition);
    value_put(s->arena, value_ensure(s->arena, obj, STR("status")), STR("conditions"), conditions);
}

/* ---- EndpointSlices ---- */

static const struct str host_label = STR(KEY_HOSTNAME);

static struct str topology_host(const struct value *endpoint)
{
    return value_str(value_get(value_get(endpoint, STR("deprecatedTopology")), host_label));
}

static bool was_host(const struct value *old_obj, struct str name)
{
    value_each_item (it, value_get(old_obj, STR("endpoints")))
        if (str_eq(topology_host(it), name))
            return true;
    return false;
}

/* v1 has nodeName instead of the topology map. Older writers put the name into that map. */
static void drop_topology(const struct strategy *s, struct value *obj, const struct value *old_obj)
{
    struct name_faults faults = { 0 };
    if (s->asked && str_eq(s->asked->version, STR("v1beta1")))
        return;
    struct value *endpoints = value_edit(s->arena, obj, STR("endpoints"));
    if (old_obj && strategy__same(endpoints, value_get(old_obj, STR("endpoints"))))
        return;
    for (size_t i = 0; value_is(endpoints, VALUE_ARRAY) && i < endpoints->n; i++) {
        struct value *endpoint = value_edit_at(s->arena, endpoints, i);
        struct str host = topology_host(endpoint);
        if (endpoint->type != VALUE_OBJECT)
            continue;
        if (host.n && !value_get(endpoint, STR("nodeName")) && was_host(old_obj, host) &&
            name_check(NAME_SUBDOMAIN, host, &faults))
            value_put(s->arena, endpoint, STR("nodeName"), value_string(host));
        value_drop(s->arena, endpoint, STR("deprecatedTopology"));
    }
}

static void create_slice(const struct strategy *s, struct value *obj)
{
    drop_topology(s, obj, NULL);
}

static void update_slice(const struct strategy *s, struct value *obj, const struct value *old_obj)
{
    strategy__count_generation(s, obj, old_obj);
    drop_topology(s, obj, old_obj);
}

/* ---- CustomResourceDefinitions ---- */

/* Adds the storage version to status.storedVersions. */
static void note_stored_version(const struct strategy *s, struct value *obj)
{
    value_each_item (version, value_dig(obj, "spec", "versions")) {
        const struct value *storage = value_get(version, STR("storage"));
        if (!value_is(storage, VALUE_BOOL) || !storage->b)
            continue;
        strategy__add_item(s->arena, value_ensure(s->arena, obj, STR("status")),
                           STR("storedVersions"), value_text(version, "name"));
        return;
    }
}

static void update_definition(const struct strategy *s, struct value *obj,
                              const struct value *old_obj)
{
    (void)old_obj;
    note_stored_version(s, obj);
}

static const struct strategy_sub request_subs[] = {
    { STR("approval"), update_approval },
    { .name = { NULL, 0 } },
};

const struct strategy_rules strategy__cluster[] = {
    { STR(""), STR("namespaces"), .create = create_namespace, .update = update_namespace },
    { STR(""), STR("nodes"), STRATEGY_KEEP_STATUS, create_node, update_node, update_node_status },
    { STR(""), STR("secrets"), .update = update_secret },
    { STR(""), STR("serviceaccounts"), .create = clean_account, .update = update_account },
    { STR("apiextensions.k8s.io"), STR("customresourcedefinitions"),
      STRATEGY_GENERATION | STRATEGY_CONDITIONAL, .create = note_stored_version,
      .update = update_definition },
    { STR("apiregistration.k8s.io"), STR("apiservices"),
      STRATEGY_CONDITIONAL | STRATEGY_STATUS_META, .create = create_api_service },
    { STR("certificates.k8s.io"), STR("certificatesigningrequests"), 0, create_request,
      update_request, update_request_status, request_subs },
    { STR("discovery.k8s.io"), STR("endpointslices"), STRATEGY_GENERATION | STRATEGY_LABELS,
      .create = create_slice, .update = update_slice },
    { .group = { NULL, 0 } },
};
