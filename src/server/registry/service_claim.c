#include "server/registry/service_claim.h"

#include <sys/random.h>

#include "base/limits.h"
#include "server/registry/managers.h"
#include "server/registry/registry_internal.h"
#include "server/registry/service_claim_internal.h"
#include "server/object/stored.h"
#include "base/banned.h"

enum { DRY_RUN_PORT = 32768 };

bool service_claim_wanted(const struct kind_resource *r)
{
    return strategy_flags(r) & STRATEGY_CLAIMS;
}

/* ---- Keys ---- */

static struct str ip_key(struct call *c, struct str address)
{
    return stored_key(c->arena, kind_stored_named(STR("networking.k8s.io"), STR("ipaddresses")),
                      STR(""), address);
}

static struct str port_key(struct call *c, int64_t port)
{
    return arena_printf(c->arena, STR_FMT "%lld", STR_ARG(SERVICE_PORT_PREFIX), (long long)port);
}

/* Taken by another Service, or by this one a moment ago: 1, 0, or an error. */
static int is_taken(struct claim *cl, struct str key)
{
    struct store_entry e;
    for (size_t i = 0; i < cl->extra->n; i++)
        if (str_eq(cl->extra->ops[i].key, key))
            return 1;
    return store_snap_get(cl->snap, key, &e, cl->err);
}

/* ---- IPAddress objects ---- */

static struct str address_bytes(struct claim *cl, struct str address, bool is_v6)
{
    struct arena *a = cl->call->arena;
    struct value obj = value_object(), ref = value_object();
    struct value *meta = value_add(a, &obj, STR("metadata"), value_object());
    value_put_new(a, meta, STR("name"), value_string(address));
    value_put_new(a, meta, STR("uid"), value_string(meta_new_uid(a)));
    value_put_new(a, meta, STR("creationTimestamp"), value_string(registry_now(cl->call)));
    struct value *labels = value_add(a, meta, STR("labels"), value_object());
    value_put_new(a, labels, STR("ipaddress.kubernetes.io/ip-family"),
                  value_string(is_v6 ? STR("IPv6") : STR("IPv4")));
    value_put_new(a, labels, STR("ipaddress.kubernetes.io/managed-by"),
                  value_string(STR("ipallocator.k8s.io")));
    value_put_new(a, &ref, STR("resource"), value_string(STR("services")));
    value_put_new(a, &ref, STR("namespace"), value_string(cl->call->req.ns));
    value_put_new(a, &ref, STR("name"), value_string(cl->name));
    struct value *spec = value_add(a, &obj, STR("spec"), value_object());
    value_put_new(a, spec, STR("parentRef"), ref);
    struct call own = *cl->call;
    own.req.resource = own.stored = kind_stored_named(STR("networking.k8s.io"), STR("ipaddresses"));
    managers_update(&own, managers_own_request(&own, STR("")), NULL, &obj);
    autobuf bytes = { 0 };
    stored_write(&bytes, NULL, &obj);
    return arena_str(a, buf_str(&bytes));
}

static void claim_address(struct claim *cl, struct str address, bool is_v6)
{
    if (cl->dry_run)
        return;
    registry__extra_add(cl->call, cl->extra,
                        (struct store_op){ .type = STORE_PUT,
                                           .key = ip_key(cl->call, address),
                                           .value = address_bytes(cl, address, is_v6),
                                           .expect_rev = STORE_ABSENT });
}

/* ---- Finding something free ---- */

static uint64_t random_below(uint64_t n)
{
    uint64_t random;
    while (getrandom(&random, sizeof(random), 0) != sizeof(random))
        continue;
    return random % n;
}

/* Writes the key of a place behind the prefix that `key` begins with. */
typedef void add_key_fn(struct buf *key, const void *range, uint64_t place);

/* The first free place from a random one on, round and round in [from, to): 1, 0 if there is none,
 * or an error. A range may be large and full, so nothing is allocated for each place. */
static int find_free(struct claim *cl, struct str prefix, uint64_t from, uint64_t to,
                     add_key_fn *add_key, const void *range, uint64_t *ret)
{
    uint64_t n = to - from, start = n ? random_below(n) : 0;
    autobuf key = { 0 };
    buf_str_add(&key, prefix);
    for (uint64_t i = 0; i < n; i++) {
        *ret = from + (start + i) % n;
        key.n = prefix.n;
        add_key(&key, range, *ret);
        int r = is_taken(cl, buf_str(&key));
        if (r <= 0)
            return r < 0 ? r : 1;
    }
    return 0;
}

static void add_address(struct buf *key, const void *range, uint64_t place)
{
    char text[SERVICE_IP_BYTES];
    buf_str_add(key, service_range_write(range, place, text));
}

int service_claim__any_address(struct claim *cl, const struct service_range *range, struct str *ret)
{
    struct arena *a = cl->call->arena;
    uint64_t band = service_range_band(range), size = service_range_size(range), place;
    if (cl->dry_run) {
        *ret = service_range_network(a, range);
        return 0;
    }
    struct str prefix = ip_key(cl->call, STR(""));
    int found = find_free(cl, prefix, band, size, add_address, range, &place);
    int r = found ? found : find_free(cl, prefix, 0, band, add_address, range, &place);
    if (r == 0)
        return err_set(cl->err, ERR_INTERNAL,
                       "Internal error occurred: failed to allocate a serviceIP for Service "
                       "\"" STR_FMT "\": range is full",
                       STR_ARG(cl->name));
    if (r < 0)
        return r;
    *ret = service_range_address(a, range, place);
    claim_address(cl, *ret, range->is_v6);
    return 0;
}

int service_claim__address(struct claim *cl, const struct service_range *range, struct str address,
                           struct str *ret_why)
{
    struct arena *a = cl->call->arena;
    bool is_v6;
    uint64_t place;
    struct str canonical = service_ip_canonical(a, address, &is_v6);
    *ret_why = STR("");
    if (!service_range_place(range, address, &place)) {
        *ret_why = cl->dry_run
                       ? arena_printf(a,
                                      "the provided IP (" STR_FMT
                                      ") is not in the valid range. The range of valid IPs "
                                      "is " STR_FMT,
                                      STR_ARG(canonical), STR_ARG(service_range_text(a, range)))
                       : STR("the provided network does not match the current range");
        return 0;
    }
    int r = cl->dry_run ? 0 : is_taken(cl, ip_key(cl->call, canonical));
    if (r < 0)
        return r;
    if (r == 1)
        *ret_why = STR("provided IP is already allocated");
    else
        claim_address(cl, canonical, is_v6);
    return 0;
}

/* ---- Ports ---- */

static void claim_port(struct claim *cl, int64_t port)
{
    struct arena *a = cl->call->arena;
    cl->highest_port = port > cl->highest_port ? port : cl->highest_port;
    registry__extra_add(
        cl->call, cl->extra,
        (struct store_op){ .type = STORE_PUT,
                           .key = port_key(cl->call, port),
                           .value = arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(cl->call->req.ns),
                                                 STR_ARG(cl->name)),
                           .expect_rev = STORE_ABSENT });
}

static void add_port(struct buf *key, const void *range, uint64_t place)
{
    const struct service_ranges *ranges = range;
    buf_printf(key, "%u", (unsigned)(ranges->first_port + place));
}

int service_claim__any_port(struct claim *cl, int64_t *ret)
{
    const struct service_ranges *ranges = &cl->call->api->services;
    uint64_t place, band = service_ports_band(ranges), size = service_ports_size(ranges);
    if (cl->dry_run) { /* numbers that look real; nobody gets them */
        *ret = (cl->highest_port ? cl->highest_port : DRY_RUN_PORT) + 1;
        claim_port(cl, *ret);
        return 0;
    }
    int found = find_free(cl, SERVICE_PORT_PREFIX, band, size, add_port, ranges, &place);
    int r = found ? found : find_free(cl, SERVICE_PORT_PREFIX, 0, band, add_port, ranges, &place);
    if (r == 0)
        return err_set(cl->err, ERR_INTERNAL,
                       "Internal error occurred: failed to allocate a nodePort: range is full");
    if (r < 0)
        return r;
    *ret = (int64_t)(ranges->first_port + place);
    claim_port(cl, *ret);
    return 0;
}

int service_claim__port(struct claim *cl, int64_t port, struct str *ret_why)
{
    const struct service_ranges *ranges = &cl->call->api->services;
    *ret_why = STR("");
    if (!cl->dry_run && (port < ranges->first_port || port > ranges->last_port)) {
        *ret_why = arena_printf(cl->call->arena,
                                "provided port is not in the valid range. The range of valid "
                                "ports is %u-%u",
                                ranges->first_port, ranges->last_port);
        return 0;
    }
    int r = is_taken(cl, port_key(cl->call, port));
    if (r < 0)
        return r;
    if (r == 1)
        *ret_why = STR("provided port is already allocated");
    else
        claim_port(cl, port);
    return 0;
}

/* ---- Giving back ---- */

static void release(struct call *c, struct registry_extra *extra, struct str key)
{
    for (size_t i = 0; i < extra->n; i++)
        if (str_eq(extra->ops[i].key, key))
            return;
    registry__extra_add(
        c, extra, (struct store_op){ .type = STORE_DELETE, .key = key, .expect_rev = STORE_ANY });
}

void service_claim__release_address(struct call *c, struct registry_extra *extra,
                                    struct str address)
{
    bool is_v6;
    struct str canonical = service_ip_canonical(c->arena, address, &is_v6);
    if (canonical.n)
        release(c, extra, ip_key(c, canonical));
}

void service_claim__release_port(struct call *c, struct registry_extra *extra, int64_t port)
{
    if (port)
        release(c, extra, port_key(c, port));
}

void service_claim_release(struct call *c, const struct value *obj, struct registry_extra *ret)
{
    const struct value *spec = value_get(obj, STR("spec"));
    int64_t port = 0;
    value_each_item (it, value_get(spec, STR("clusterIPs")))
        service_claim__release_address(c, ret, value_str(it));
    value_each_item (it, value_get(spec, STR("ports")))
        if (value_to_int(value_get(it, STR("nodePort")), &port))
            service_claim__release_port(c, ret, port);
    if (value_to_int(value_get(spec, STR("healthCheckNodePort")), &port))
        service_claim__release_port(c, ret, port);
}

/* ---- Doing it ---- */

static int assign(struct claim *cl)
{
    int r = service_claim__addresses(cl);
    return r < 0 ? r : service_claim__ports(cl);
}

static int with_snapshot(struct claim *cl, struct value *obj)
{
    int r = store_snap_begin(cl->call->api->store, 0, &cl->snap, cl->err);
    if (r < 0)
        return r;
    cl->name = value_str(value_dig(obj, "metadata", "name"));
    cl->spec = value_ensure(cl->call->arena, obj, STR("spec"));
    r = assign(cl);
    store_snap_end(cl->snap);
    if (r < 0)
        return r;
    if (cl->extra->n > LIMIT_SERVICE_CLAIMS)
        return err_set(cl->err, ERR_TOO_LARGE,
                       "this changes %zu addresses and node ports; %u at once can be changed",
                       cl->extra->n, LIMIT_SERVICE_CLAIMS);
    return 0;
}

int service_claim_create(struct call *c, bool dry_run, struct value *obj,
                         struct registry_extra *ret, struct err *err)
{
    struct claim cl = { .call = c, .dry_run = dry_run, .extra = ret, .err = err };
    return with_snapshot(&cl, obj);
}

int service_claim_update(struct call *c, bool dry_run, struct value *obj,
                         const struct value *old_obj, struct registry_extra *ret, struct err *err)
{
    struct claim cl = {
        .call = c,
        .dry_run = dry_run,
        .old_spec = value_get(old_obj, STR("spec")),
        .extra = ret,
        .err = err,
    };
    return with_snapshot(&cl, obj);
}
