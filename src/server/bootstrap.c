#include "server/bootstrap.h"

#include "api/defaults.h"
#include "api/typed.h"
#include "base/json.h"
#include "server/registry.h"
#include "server/stored.h"
#include "base/banned.h"

static const struct {
    const char *resource, *ns, *json;
} objects[] = {
    { "namespaces", "", "{\"metadata\":{\"name\":\"default\"}}" },
    { "namespaces", "", "{\"metadata\":{\"name\":\"kube-system\"}}" },
    { "namespaces", "", "{\"metadata\":{\"name\":\"kube-public\"}}" },
    { "namespaces", "", "{\"metadata\":{\"name\":\"kube-node-lease\"}}" },
    { "services", "default",
      "{\"metadata\":{\"name\":\"kubernetes\",\"labels\":{\"component\":\"apiserver\","
      "\"provider\":\"kubernetes\"}},\"spec\":{\"ports\":[{\"name\":\"https\",\"protocol\":\"TCP\","
      "\"port\":443,\"targetPort\":6443}],\"clusterIP\":\"10.0.0.1\",\"clusterIPs\":[\"10.0.0.1\"],"
      "\"type\":\"ClusterIP\",\"sessionAffinity\":\"None\",\"ipFamilies\":[\"IPv4\"],"
      "\"ipFamilyPolicy\":\"SingleStack\",\"internalTrafficPolicy\":\"Cluster\"}}" },
};

static const struct kind_resource *core_resource(struct str plural)
{
    const struct kind_version *core = kind_version_find(STR(""), STR("v1"));
    for (size_t i = 0; i < core->n_resources; i++)
        if (str_eq(core->resources[i].plural, plural))
            return &core->resources[i];
    return NULL;
}

static int create(struct call *c, const char *json, struct err *err)
{
    struct value given, obj;
    int r = json_read(c->arena, str_of(json), NULL, &given, err);
    if (r == 0)
        r = typed_read(c->arena, c->stored->type, &given, NULL, &obj, err);
    if (r == 0)
        defaults_apply(c->arena, c->stored->type, &obj);
    if (r == 0)
        r = registry_create(c, false, &obj, err);
    if (r != -ERR_EXISTS)
        return r;
    err_clear(err);
    return 0;
}

int bootstrap(struct api *api, struct err *err)
{
    struct arena a;
    arena_init(&a);
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof(objects) / sizeof(objects[0]); i++) {
        struct call c = { .api = api, .arena = &a };
        c.req.resource = c.stored = core_resource(str_of(objects[i].resource));
        c.req.ns = str_of(objects[i].ns);
        r = create(&c, objects[i].json, err);
    }
    arena_done(&a);
    return r;
}
