#include "controllers/endpoints/service_pods.h"

#include "controllers/common/caches.h"
#include "controllers/endpoints/backends.h"
#include "base/banned.h"

static const struct spn_target services = SPN_AT("", "v1", "services", "", "");
static const struct spn_target pods = SPN_AT("", "v1", "pods", "", "");

static bool matters(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)arg;
    if (!old_o || !new_o)
        return true;
    if (spn_text_eq(spn_object_version(old_o), spn_object_version(new_o)))
        return false;
    struct spn_arena *a = spn_arena_new();
    bool differs = backend_differs(spn_object_value(old_o, a), spn_object_value(new_o, a));
    spn_arena_free(a);
    return differs;
}

static void map_pod(void *arg, const struct spn_object *pod, struct spn_arena *a,
                    struct spn_keys *out)
{
    struct service_pods *sp = arg;
    struct spn_objects all;
    const struct spn_value *labels = spn_value_get(spn_object_meta(pod, a), "labels");
    spn_cache_list(sp->services, spn_object_namespace(pod), false, &all);
    for (size_t i = 0; i < all.n; i++)
        if (service_selects(spn_object_value(all.items[i], a), labels))
            spn_keys_put(out, spn_object_namespace(pod), spn_object_name(all.items[i]));
    spn_objects_done(&all);
}

void service_pods_watch(struct service_pods *sp, struct spn_manager *m, struct spn_controller *c)
{
    sp->services = caches_get(m, services);
    sp->pods = caches_get(m, pods);
    spn_controller_source(
        c, &(struct spn_source){ .of.what = pods, .map = map_pod, .map_arg = sp, .when = matters });
}

void service_pods_of(struct service_pods *sp, const struct spn_value *service, struct spn_arena *a,
                     struct service_pod_list *ret)
{
    spn_cache_list(sp->pods, spn_value_text(spn_value_dig(service, "metadata", "namespace")), true,
                   &ret->held);
    ret->items = spn_arena_alloc(a, (ret->held.n + 1) * sizeof(*ret->items));
    ret->n = 0;
    for (size_t i = 0; i < ret->held.n; i++) {
        const struct spn_value *meta = spn_object_meta(ret->held.items[i], a);
        if (service_selects(service, spn_value_get(meta, "labels")))
            ret->items[ret->n++] = spn_object_value(ret->held.items[i], a);
    }
}

void service_pod_list_done(struct service_pod_list *l)
{
    spn_objects_done(&l->held);
}
