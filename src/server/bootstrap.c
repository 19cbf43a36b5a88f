#include "server/bootstrap.h"

#include "api/defaults/defaults.h"
#include "api/typed.h"
#include "base/idiom.h"
#include "base/json.h"
#include "server/registry/managers.h"
#include "server/registry/registry.h"
#include "base/banned.h"

static const struct {
    const char *group, *resource, *ns, *json;
} objects[] = {
    { "", "namespaces", "", "{\"metadata\":{\"name\":\"default\"}}" },
    { "", "namespaces", "", "{\"metadata\":{\"name\":\"kube-system\"}}" },
    { "", "namespaces", "", "{\"metadata\":{\"name\":\"kube-public\"}}" },
    { "", "namespaces", "", "{\"metadata\":{\"name\":\"kube-node-lease\"}}" },
    { "scheduling.k8s.io", "priorityclasses", "",
      "{\"metadata\":{\"name\":\"system-node-critical\"},\"value\":2000001000,\"description\":"
      "\"Used for system critical pods that must not be moved from their current node.\"}" },
    { "scheduling.k8s.io", "priorityclasses", "",
      "{\"metadata\":{\"name\":\"system-cluster-critical\"},\"value\":2000000000,\"description\":"
      "\"Used for system critical pods that must run in the cluster, but can be moved to another "
      "node if necessary.\"}" },
    { "networking.k8s.io", "servicecidrs", "", "{\"metadata\":{\"name\":\"kubernetes\"}}" },
    { "", "services", "default",
      "{\"metadata\":{\"name\":\"kubernetes\",\"labels\":{\"component\":\"apiserver\","
      "\"provider\":\"kubernetes\"}},\"spec\":{\"ports\":[{\"name\":\"https\",\"protocol\":\"TCP\","
      "\"port\":443,\"targetPort\":6443}],\"ipFamilyPolicy\":\"SingleStack\"}}" },
};

/* What depends on the ranges of this server: the first address is the API's. */
static void set_ranges(struct call *c, struct value *obj)
{
    const struct service_ranges *ranges = &c->api->services;
    struct value *spec = value_ensure(c->arena, obj, STR("spec"));
    if (str_eq(c->stored->plural, STR("services"))) {
        value_put(c->arena, spec, STR("clusterIP"),
                  value_string(service_range_address(c->arena, &ranges->ips[0], 0)));
        return;
    }
    struct value cidrs = value_array();
    for (size_t i = 0; i < ranges->n_ips; i++)
        value_put_item(c->arena, &cidrs,
                       value_string(service_range_text(c->arena, &ranges->ips[i])));
    value_put(c->arena, spec, STR("cidrs"), cidrs);
}

/* An update that says that the addresses can be used. */
static int set_ready(struct registry_update *u, const struct registry_entry *now, struct value *ret,
                     struct err *err)
{
    struct call *c = u->arg;
    struct value ready = value_object(), all = value_array();
    (void)err;
    value_put(c->arena, &ready, STR("type"), value_string(STR("Ready")));
    value_put(c->arena, &ready, STR("status"), value_string(STR("True")));
    value_put(c->arena, &ready, STR("lastTransitionTime"), value_string(registry_now(c)));
    value_put(c->arena, &ready, STR("reason"), value_string(STR("")));
    value_put(c->arena, &ready, STR("message"),
              value_string(STR("Kubernetes default Service CIDR is ready")));
    value_put_item(c->arena, &all, ready);
    *ret = value_borrow(&now->obj);
    value_put(c->arena, value_ensure(c->arena, ret, STR("status")), STR("conditions"), all);
    return 0;
}

static int make_ready(struct call *c, struct str name, struct err *err)
{
    struct registry_update u = {
        .change = set_ready, .arg = c, .sub = STR("status"), .tries_again = true
    };
    struct value result;
    return registry_update(c, name, &u, &result, err);
}

static int create(struct call *c, const char *json, struct err *err)
{
    struct value given, obj;
    struct registry_entry there;
    int r = json_read(c->arena, str_of(json), NULL, &given, err);
    if (r < 0)
        return r;
    r = typed_read(c->arena, c->stored->type, &given, NULL, &obj, err);
    if (r < 0)
        return r;
    r = registry_find(c, value_str(value_dig(&obj, "metadata", "name")), &there, err);
    if (r != 0)
        return r < 0 ? r : 0;
    if (str_eq(c->stored->plural, STR("services")) ||
        str_eq(c->stored->plural, STR("servicecidrs")))
        set_ranges(c, &obj);
    defaults_apply(c->arena, c->stored->type, &obj);
    managers_update(c, managers_own_request(c, STR("")), NULL, &obj);
    r = registry_create(c, false, &obj, err);
    if (r < 0 || !str_eq(c->stored->plural, STR("servicecidrs")))
        return r;
    return make_ready(c, value_str(value_dig(&obj, "metadata", "name")), err);
}

static int create_all(struct api *api, struct arena *a, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
        struct call c = { .api = api, .arena = a };
        c.req.resource = c.stored =
            kind_stored_named(str_of(objects[i].group), str_of(objects[i].resource));
        c.req.ns = str_of(objects[i].ns);
        int r = create(&c, objects[i].json, err);
        if (r < 0)
            return r;
    }
    return 0;
}

int bootstrap(struct api *api, struct err *err)
{
    struct arena a;
    arena_init(&a);
    int r = create_all(api, &a, err);
    arena_done(&a);
    return r;
}
