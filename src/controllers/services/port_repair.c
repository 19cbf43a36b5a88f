/* portallocator-repair-controller: tells Services that have the same node port. The server gives
 * none twice; data that comes from elsewhere may have it. Which ports are taken is the server's to
 * know, so it repairs that itself. */
#include <stdlib.h>

#include "base/mem.h"
#include "controllers/common/caches.h"
#include "controllers/common/when.h"
#include "controllers/rows.h"
#include "controllers/services/plan.h"
#include "base/banned.h"

enum { LOOK_MS = 180000, PORTS = 65536 };
#define NAME     "portallocator-repair-controller"
#define PASS_KEY "ports"

static const struct spn_target services = SPN_AT("", "v1", "services", "", "");

struct repair {
    struct spn_cache *services;
};

static void look_at(struct spn_work *w, const struct spn_value *service, bool *taken)
{
    int64_t ports[PORTS_MOST];
    size_t n = service_node_ports(service, ports);
    for (size_t i = 0; i < n; i++) {
        if (ports[i] <= 0 || ports[i] >= PORTS)
            continue;
        if (taken[ports[i]])
            spn_event(w->events, service, SPN_WARNING, "PortAlreadyAllocated",
                      "Port %lld was assigned to multiple services; please recreate service",
                      (long long)ports[i]);
        taken[ports[i]] = true;
    }
}

static int pass(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct repair *p = arg;
    struct spn_objects all;
    (void)err;
    bool *taken = spn_arena_alloc(w->arena, PORTS * sizeof(*taken));
    struct spn_arena *a = spn_arena_new();
    spn_cache_list(p->services, SPN_TEXT(""), true, &all);
    for (size_t i = 0; i < all.n; i++) {
        look_at(w, spn_object_value(all.items[i], a), taken);
        spn_arena_reset(a);
    }
    spn_objects_done(&all);
    spn_arena_free(a);
    return spn_again_after(LOOK_MS);
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)err;
    struct repair *p = mem_new(struct repair);
    p->services = caches_get(env->manager, services);
    struct spn_controller *c =
        spn_manager_add(env->manager, &(struct spn_controller_options){ .name = NAME,
                                                                        .what = services,
                                                                        .kind = "Service",
                                                                        .when = when_never,
                                                                        .reconcile = pass,
                                                                        .arg = p,
                                                                        .component = NAME });
    spn_controller_enqueue(c, SPN_TEXT("default"), SPN_TEXT(PASS_KEY));
    *ret = p;
    return 0;
}

const struct controllers_row controllers_port_repair = { NAME, add, free };
