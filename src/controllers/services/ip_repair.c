/* ipallocator-repair-controller: each address of a Service has an IPAddress object, and each of
 * these a Service. The server keeps both in step; this finds what somebody changed by hand.
 *
 * Caches of the two follow each other in no order, so the server is asked before anything is
 * written. */
#include <stdlib.h>

#include "base/mem.h"
#include "controllers/common/caches.h"
#include "controllers/common/fields.h"
#include "controllers/common/times.h"
#include "controllers/rows.h"
#include "controllers/services/plan.h"
#include "base/banned.h"

#define NAME "ipallocator-repair-controller"

static const struct spn_target services = SPN_AT("", "v1", "services", "", "");
static const struct spn_target addresses = SPN_AT("networking.k8s.io", "v1", "ipaddresses", "", "");
static const struct spn_target ranges = SPN_AT("networking.k8s.io", "v1", "servicecidrs", "", "");

struct repair {
    struct spn_cache *services, *addresses, *ranges;
};

/* ---- Reading ---- */

/* `*ret` is NULL if there is none. */
static int ask(struct spn_work *w, const struct spn_target *at, struct spn_value **ret,
               struct spn_err *err)
{
    int r = spn_client_get(w->client, at, &w->how, w->arena, ret, err);
    if (r < 0)
        *ret = NULL;
    return r == -SPN_NOT_FOUND ? 0 : r;
}

static struct spn_value *cached(struct spn_cache *c, struct spn_text key, struct spn_arena *a)
{
    struct spn_object *o = spn_cache_get(c, key);
    struct spn_value *v = o ? spn_object_value(o, a) : NULL;
    spn_object_unref(o);
    return v;
}

/* The Service that an address names, from the cache; NULL: there is none. */
static struct spn_value *named_service(struct repair *p, const struct spn_value *address,
                                       struct spn_arena *a)
{
    const struct spn_value *ref = spn_value_dig(address, "spec", "parentRef");
    struct spn_text key = spn_arena_printf(a, SPN_FMT "/" SPN_FMT,
                                           SPN_ARG(spn_value_text(spn_value_get(ref, "namespace"))),
                                           SPN_ARG(spn_value_text(spn_value_get(ref, "name"))));
    return cached(p->services, key, a);
}

static bool is_in_range(struct repair *p, struct spn_text ip, struct spn_arena *a)
{
    struct spn_objects all;
    bool is = false;
    spn_cache_list(p->ranges, SPN_TEXT(""), false, &all);
    for (size_t i = 0; i < all.n && !is; i++)
        is = address_is_in(spn_object_value(all.items[i], a), ip);
    spn_objects_done(&all);
    return is;
}

/* ---- From Services ---- */

static struct spn_target address_at(struct spn_text ip)
{
    struct spn_target at = addresses;
    at.name = ip;
    return at;
}

static int make(struct spn_work *w, struct spn_text ip, const struct spn_value *service,
                struct spn_err *err)
{
    const struct spn_target at = address_at(ip);
    int r = spn_client_create(w->client, &at, address_new(w->arena, ip, service), &w->how, w->arena,
                              NULL, err);
    return r == -SPN_EXISTS ? spn_again() : r;
}

static int make_anew(struct spn_work *w, const struct spn_value *old,
                     const struct spn_value *service, struct spn_err *err)
{
    const struct spn_target at = address_at(meta_name(old));
    int r = spn_client_delete(w->client, &at, &(struct spn_delete){ .uid = meta_uid(old) }, &w->how,
                              w->arena, NULL, err);
    if (r < 0 && r != -SPN_NOT_FOUND)
        return r;
    return make(w, at.name, service, err);
}

static int mend(struct spn_work *w, const struct spn_value *service,
                const struct spn_value *address, struct spn_text ip, enum address_state state,
                struct spn_err *err)
{
    struct spn_text family = address_family(ip);
    switch (state) {
    case ADDRESS_MISSING:
        spn_event(w->events, service, SPN_WARNING, "ClusterIPNotAllocated",
                  "Cluster IP [" SPN_FMT "]: " SPN_FMT " is not allocated; repairing",
                  SPN_ARG(family), SPN_ARG(ip));
        return make(w, ip, service, err);
    case ADDRESS_FOREIGN:
        spn_event(w->events, service, SPN_WARNING, "ClusterIPNotAllocated",
                  "the ClusterIP [" SPN_FMT "]: " SPN_FMT " for Service " SPN_FMT "/" SPN_FMT
                  " has a wrong reference; repairing",
                  SPN_ARG(family), SPN_ARG(ip), SPN_ARG(w->ns), SPN_ARG(w->name));
        return make_anew(w, address, service, err);
    case ADDRESS_SHARED:
        spn_event(w->events, service, SPN_WARNING, "ClusterIPAlreadyAllocated",
                  "Cluster IP [" SPN_FMT "]:" SPN_FMT
                  " was assigned to multiple services; please recreate service",
                  SPN_ARG(family), SPN_ARG(ip));
        return spn_done();
    case ADDRESS_UNLABELED:
        return make_anew(w, address, service, err);
    default:
        return spn_done();
    }
}

/* What the cache says was wrong, by what the server says now. */
static int look_closer(struct repair *p, struct spn_work *w, struct spn_text ip,
                       struct spn_err *err)
{
    struct spn_value *service, *address;
    const struct spn_target at = address_at(ip);
    int r = ask(w, &w->at, &service, err);
    if (r < 0)
        return r;
    if (!service || meta_is_deleting(service) || !service_addresses(service))
        return spn_done();
    r = ask(w, &at, &address, err);
    if (r < 0)
        return r;
    enum address_state state =
        address_judge(service, address, address ? named_service(p, address, w->arena) : NULL);
    return mend(w, service, address, ip, state, err);
}

static int check_address(struct repair *p, struct spn_work *w, const struct spn_value *service,
                         struct spn_text ip, struct spn_err *err)
{
    struct spn_text family = address_family(ip);
    if (!family.n) {
        spn_event(w->events, service, SPN_WARNING, "ClusterIPNotValid",
                  "Cluster IP " SPN_FMT " is not a valid IP; please recreate Service", SPN_ARG(ip));
        return spn_done();
    }
    if (!is_in_range(p, ip, w->arena)) {
        spn_event(w->events, service, SPN_WARNING, "ClusterIPOutOfRange",
                  "Cluster IP [" SPN_FMT "]: " SPN_FMT
                  " is not within any configured Service CIDR; please recreate service",
                  SPN_ARG(family), SPN_ARG(ip));
        return spn_done();
    }
    struct spn_value *address = cached(p->addresses, ip, w->arena);
    struct spn_value *other = address ? named_service(p, address, w->arena) : NULL;
    if (address_judge(service, address, other) == ADDRESS_RIGHT)
        return spn_done();
    return look_closer(p, w, ip, err);
}

static int reconcile_service(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct repair *p = arg;
    const struct spn_value *service = spn_work_object(w);
    const struct spn_value *all = service_addresses(service);
    if (!spn_cache_count(p->ranges))
        return spn_done(); /* no server of ours has none */
    for (size_t i = 0; i < spn_value_count(all); i++) {
        struct spn_text ip = address_canonical(w->arena, spn_value_text(spn_value_at(all, i)));
        int r = check_address(p, w, service, ip, err);
        if (r != 0)
            return r;
    }
    return spn_done();
}

/* An address that is lost or changed is its Service's. */
static void map_address(void *arg, const struct spn_object *o, struct spn_arena *a,
                        struct spn_keys *out)
{
    (void)arg;
    const struct spn_value *ref = spn_value_dig(spn_object_value(o, a), "spec", "parentRef");
    spn_keys_put(out, spn_value_text(spn_value_get(ref, "namespace")),
                 spn_value_text(spn_value_get(ref, "name")));
}

static bool is_touched(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)arg;
    return !new_o || (old_o && spn_when_version_changes(NULL, old_o, new_o));
}

/* ---- From addresses ---- */

static int remove_address(struct spn_work *w, const struct spn_value *address, struct spn_err *err)
{
    int r = spn_client_delete(
        w->client, &w->at,
        &(struct spn_delete){ .uid = meta_uid(address),
                              .resource_version = meta_text(address, "resourceVersion") },
        &w->how, w->arena, NULL, err);
    return r == -SPN_NOT_FOUND || r == -SPN_CONFLICT ? spn_done() : r;
}

/* The Service is asked for where it seems to be missing or other than it should be. */
static int ask_service(struct spn_work *w, const struct spn_value *address, struct spn_value **ret,
                       struct spn_err *err)
{
    const struct spn_value *ref = spn_value_dig(address, "spec", "parentRef");
    struct spn_target at = services;
    at.ns = spn_value_text(spn_value_get(ref, "namespace"));
    at.name = spn_value_text(spn_value_get(ref, "name"));
    *ret = NULL;
    return at.ns.n && at.name.n ? ask(w, &at, ret, err) : 0;
}

static void say_fate(struct spn_work *w, const struct spn_value *address, enum address_fate fate)
{
    const struct spn_value *ref = spn_value_dig(address, "spec", "parentRef");
    struct spn_text ns = spn_value_text(spn_value_get(ref, "namespace"));
    struct spn_text name = spn_value_text(spn_value_get(ref, "name"));
    if (fate == ADDRESS_NO_SERVICE)
        spn_event(w->events, address, SPN_WARNING, "IPAddressNotAllocated",
                  "IPAddress " SPN_FMT
                  " appears to have been modified, not referencing a Service &ParentReference{"
                  "Group:" SPN_FMT ",Resource:" SPN_FMT ",Namespace:" SPN_FMT ",Name:" SPN_FMT
                  ",}: cleaning up",
                  SPN_ARG(w->name), SPN_ARG(spn_value_text(spn_value_get(ref, "group"))),
                  SPN_ARG(spn_value_text(spn_value_get(ref, "resource"))), SPN_ARG(ns),
                  SPN_ARG(name));
    else if (fate == ADDRESS_LEAKED)
        spn_event(w->events, address, SPN_WARNING, "IPAddressNotAllocated",
                  "IPAddress: " SPN_FMT " for Service " SPN_FMT "/" SPN_FMT
                  " appears to have leaked: cleaning up",
                  SPN_ARG(w->name), SPN_ARG(ns), SPN_ARG(name));
    else
        spn_event(w->events, address, SPN_WARNING, "IPAddressWrongReference",
                  "IPAddress: " SPN_FMT " for Service " SPN_FMT "/" SPN_FMT
                  " has a wrong reference; cleaning up",
                  SPN_ARG(w->name), SPN_ARG(ns), SPN_ARG(name));
}

static int reconcile_address(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct repair *p = arg;
    const struct spn_value *address = spn_work_object(w);
    struct spn_value *service;
    int64_t wait_ms = 0;
    if (!address || address_fate(address, named_service(p, address, w->arena), time_now(),
                                 &wait_ms) == ADDRESS_STAYS)
        return spn_done();
    int r = ask_service(w, address, &service, err);
    if (r < 0)
        return r;
    enum address_fate fate = address_fate(address, service, time_now(), &wait_ms);
    if (fate == ADDRESS_STAYS)
        return spn_done();
    if (fate == ADDRESS_WAITS)
        return spn_again_after(wait_ms);
    say_fate(w, address, fate);
    return remove_address(w, address, err);
}

/* ---- Starting ---- */

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)err;
    struct repair *p = mem_new(struct repair);
    struct spn_controller *c = spn_manager_add(
        env->manager, &(struct spn_controller_options){ .name = NAME,
                                                        .what = services,
                                                        .kind = "Service",
                                                        .reconcile = reconcile_service,
                                                        .arg = p,
                                                        .component = NAME });
    spn_controller_source(c, &(struct spn_source){ .of = { .what = addresses },
                                                   .map = map_address,
                                                   .when = is_touched });
    (void)spn_manager_add(env->manager,
                          &(struct spn_controller_options){ .name = NAME "-addresses",
                                                            .what = addresses,
                                                            .kind = "IPAddress",
                                                            .has_no_namespace = true,
                                                            .reconcile = reconcile_address,
                                                            .arg = p,
                                                            .component = NAME });
    p->services = caches_get(env->manager, services);
    p->addresses = caches_get(env->manager, addresses);
    p->ranges = caches_get(env->manager, ranges);
    *ret = p;
    return 0;
}

const struct controllers_row controllers_ip_repair = { NAME, add, free };
