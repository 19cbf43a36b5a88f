/* Endpoints, EndpointSlices and mirrors: what should be, from what is there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "controllers/common/objects_test.h"
#include "controllers/endpoints/mirror.h"
#include "controllers/endpoints/subsets.h"

static const char service_yaml[] =
    "{metadata: {name: s, namespace: n, uid: us, labels: {l: x}}, spec: {clusterIP: 10.0.0.1, "
    "ipFamilies: [IPv4], selector: {app: e}, ports: [{name: p, port: 80, protocol: TCP, "
    "targetPort: web}]}}";

static struct spn_value *pod(struct spn_arena *a, const char *name, const char *ip, int64_t port,
                             const char *ready)
{
    return read_yaml(
        a, spn_arena_printf(a,
                            "{metadata: {name: %s, namespace: n, uid: u%s, labels: {app: e}}, "
                            "spec: {nodeName: k, containers: [{name: c, ports: [{name: web, "
                            "containerPort: %lld, protocol: TCP}]}]}, status: {phase: Running, "
                            "podIP: %s, podIPs: [{ip: %s}], conditions: [{type: Ready, status: "
                            "'%s'}]}}",
                            name, name, (long long)port, ip, ip, ready)
               .p);
}

static void test_subsets(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *service = read_yaml(a, service_yaml);
    const struct spn_value *pods[] = { pod(a, "x", "10.1.0.1", 8080, "True"),
                                       pod(a, "y", "10.1.0.2", 8080, "False"),
                                       pod(a, "z", "10.1.0.3", 9090, "True") };
    struct spn_value *subsets = subsets_of_pods(a, service, pods, 3);
    assert_int_equal(spn_value_count(subsets), 2);
    struct spn_value *made = subsets_wanted(a, service, NULL, subsets, SPN_TEXT("t"));
    assert_non_null(made);
    assert_string_equal(spn_value_text(spn_value_dig(made, "metadata", "labels",
                                                     "endpoints.kubernetes.io/managed-by"))
                            .p,
                        "endpoint-controller");
    assert_null(
        subsets_wanted(a, service, made, subsets_of_pods(a, service, pods, 3), SPN_TEXT("t")));
    assert_non_null(
        subsets_wanted(a, service, made, subsets_of_pods(a, service, pods, 2), SPN_TEXT("t")));
    spn_arena_free(a);
}

/* Ports with the same addresses stand together; unready wins over ready. */
static void test_repack(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *subsets = subsets_repacked(
        a, read_yaml(a, "[{addresses: [{ip: 1.1.1.1}], ports: [{port: 2}]}, {addresses: [{ip: "
                        "1.1.1.1}], ports: [{port: 1}]}, {notReadyAddresses: [{ip: 1.1.1.1}], "
                        "ports: [{port: 1}]}, {notReadyAddresses: [{ip: 1.1.1.1}], ports: [{port: "
                        "2}]}]"));
    assert_string_equal(spn_value_json(a, subsets).p,
                        "[{\"notReadyAddresses\":[{\"ip\":\"1.1.1.1\"}],\"ports\":[{\"port\":1},{"
                        "\"port\":2}]}]");
    spn_arena_free(a);
}

static struct slice_plan plan_of(struct spn_arena *a, const struct spn_value *service,
                                 struct slice_backend *backends, size_t n,
                                 const struct spn_value *const *slices, size_t n_slices)
{
    struct slice_plan plan = { 0 };
    const struct slice_wish wish = { .service = service,
                                     .backends = backends,
                                     .n_backends = n,
                                     .slices = slices,
                                     .n_slices = n_slices,
                                     .trigger_time = SPN_TEXT("t") };
    assert_true(slices_plan(a, &wish, &plan));
    return plan;
}

/* As if the server had stored it. */
static const struct spn_value *stored(struct spn_arena *a, struct spn_value *slice,
                                      const char *name)
{
    spn_value_set_text(a, spn_value_ensure(a, slice, "metadata"), "name", spn_text_of(name));
    return slice;
}

static void assert_plan(const struct slice_plan *p, size_t create, size_t update, size_t remove)
{
    assert_int_equal(p->create.n, create);
    assert_int_equal(p->update.n, update);
    assert_int_equal(p->remove.n, remove);
}

static void test_slices(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *service = read_yaml(a, service_yaml);
    struct slice_backend backends[] = {
        { pod(a, "x", "10.1.0.1", 8080, "True"), true, SPN_TEXT("z1") },
        { pod(a, "y", "10.1.0.2", 8080, "False"), true, SPN_TEXT("") },
    };
    /* Nothing yet: an empty slice, which stays as it is. */
    struct slice_plan p = plan_of(a, service, backends, 0, NULL, 0);
    assert_plan(&p, 1, 0, 0);
    const struct spn_value *now = stored(a, p.create.items[0], "s-1");
    p = plan_of(a, service, backends, 0, &now, 1);
    assert_plan(&p, 0, 0, 0);
    /* The first pods take its place. */
    p = plan_of(a, service, backends, 2, &now, 1);
    assert_plan(&p, 0, 1, 0);
    now = stored(a, p.update.items[0], "s-1");
    assert_int_equal(spn_value_count(spn_value_get(now, "endpoints")), 2);
    p = plan_of(a, service, backends, 2, &now, 1);
    assert_plan(&p, 0, 0, 0);
    /* One becomes ready. */
    backends[1].pod = pod(a, "y", "10.1.0.2", 8080, "True");
    p = plan_of(a, service, backends, 2, &now, 1);
    assert_plan(&p, 0, 1, 0);
    now = p.update.items[0];
    /* Hints for the zone. */
    spn_value_set_text(a, spn_value_ensure(a, service, "spec"), "trafficDistribution",
                       SPN_TEXT("PreferSameZone"));
    p = plan_of(a, service, backends, 2, &now, 1);
    assert_plan(&p, 0, 1, 0);
    now = p.update.items[0];
    p = plan_of(a, service, backends, 2, &now, 1);
    assert_plan(&p, 0, 0, 0);
    spn_arena_free(a);
}

static void test_slices_are_bounded(void **state)
{
    (void)state;
    enum { N = 150 };
    struct spn_arena *a = spn_arena_new();
    struct spn_value *service = read_yaml(a, service_yaml);
    struct slice_backend backends[N];
    for (int i = 0; i < N; i++)
        backends[i] =
            (struct slice_backend){ pod(a, spn_arena_printf(a, "p%d", i).p,
                                        spn_arena_printf(a, "10.1.0.%d", i + 1).p, 80, "True"),
                                    true, SPN_TEXT("") };
    struct slice_plan p = plan_of(a, service, backends, N, NULL, 0);
    assert_plan(&p, 2, 0, 0);
    assert_int_equal(spn_value_count(spn_value_get(p.create.items[0], "endpoints")), SLICE_MAX);
    /* Another port: another slice. */
    backends[0].pod = pod(a, "p0", "10.1.0.1", 81, "True");
    p = plan_of(a, service, backends, 2, NULL, 0);
    assert_plan(&p, 2, 0, 0);
    spn_arena_free(a);
}

/* Zones get endpoints by their CPUs: of four in one zone two are for the other. */
static void test_zones(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *service = read_yaml(a, service_yaml);
    struct spn_value *meta = spn_value_ensure(a, service, "metadata");
    spn_value_set_text(a, spn_value_ensure(a, meta, "annotations"),
                       "service.kubernetes.io/topology-mode", SPN_TEXT("Auto"));
    struct slice_backend backends[4];
    for (int i = 0; i < 4; i++)
        backends[i] =
            (struct slice_backend){ pod(a, spn_arena_printf(a, "p%d", i).p,
                                        spn_arena_printf(a, "10.1.0.%d", i + 1).p, 80, "True"),
                                    true, SPN_TEXT("east") };
    struct slice_plan p = plan_of(a, service, backends, 4, NULL, 0);
    assert_plan(&p, 1, 0, 0);
    assert_int_equal(p.n_events, 1);
    assert_string_equal(p.events[0].message,
                        "Insufficient Node information: allocatable CPU or zone not specified on "
                        "one or more nodes, addressType: IPv4");
    static const char node[] = "{metadata: {labels: {topology.kubernetes.io/zone: %s}}, status: "
                               "{allocatable: {cpu: '2'}, conditions: [{type: Ready, status: "
                               "'True'}]}}";
    const struct spn_value *nodes[] = { read_yaml(a, spn_arena_printf(a, node, "east").p),
                                        read_yaml(a, spn_arena_printf(a, node, "west").p) };
    const struct slice_wish wish = { .service = service,
                                     .backends = backends,
                                     .n_backends = 4,
                                     .trigger_time = SPN_TEXT("t"),
                                     .zones = zones_of(a, nodes, 2) };
    p = (struct slice_plan){ 0 };
    assert_true(slices_plan(a, &wish, &p));
    assert_string_equal(p.events[0].reason, "TopologyAwareHintsEnabled");
    const struct spn_value *all = spn_value_get(p.create.items[0], "endpoints");
    int n_west = 0;
    for (size_t i = 0; i < 4; i++) {
        const struct spn_value *zones = spn_value_dig(spn_value_at(all, i), "hints", "forZones");
        n_west += spn_text_eq(spn_value_text(spn_value_get(spn_value_at(zones, 0), "name")),
                              SPN_TEXT("west"));
    }
    assert_int_equal(n_west, 2);
    spn_arena_free(a);
}

static void test_unknown_node(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    const struct slice_backend b = { pod(a, "x", "10.1.0.1", 8080, "True"), false, SPN_TEXT("") };
    const struct slice_wish wish = { .service = read_yaml(a, service_yaml),
                                     .backends = &b,
                                     .n_backends = 1,
                                     .trigger_time = SPN_TEXT("t") };
    struct slice_plan p = { 0 };
    assert_false(slices_plan(a, &wish, &p));
    spn_arena_free(a);
}

static void test_mirror(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct slice_plan p = { 0 };
    struct mirror_skips skips = { 0 };
    const struct spn_value *endpoints = read_yaml(
        a, "{metadata: {name: m, namespace: n, uid: um, labels: {a: b}}, subsets: [{addresses: "
           "[{ip: 192.0.2.1}, {ip: '2001:db8::1'}, {ip: nonsense}], ports: [{name: p, port: 80, "
           "protocol: TCP}]}]}");
    assert_true(mirror_is_wanted(endpoints));
    mirror_plan(a, endpoints, NULL, 0, &p, &skips);
    assert_plan(&p, 2, 0, 0);
    assert_int_equal(skips.n_invalid, 1);
    const struct spn_value *now[] = { stored(a, p.create.items[0], "m-1"),
                                      stored(a, p.create.items[1], "m-2") };
    p = (struct slice_plan){ 0 };
    mirror_plan(a, endpoints, now, 2, &p, &skips);
    assert_plan(&p, 0, 0, 0);
    endpoints = read_yaml(a, "{metadata: {name: m, namespace: n, uid: um}}");
    p = (struct slice_plan){ 0 };
    mirror_plan(a, endpoints, now, 2, &p, &skips);
    assert_plan(&p, 0, 0, 2);
    assert_false(mirror_is_wanted(
        read_yaml(a, "{metadata: {labels: {endpointslice.kubernetes.io/skip-mirror: 'true'}}}")));
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_subsets),      cmocka_unit_test(test_repack),
        cmocka_unit_test(test_slices),       cmocka_unit_test(test_slices_are_bounded),
        cmocka_unit_test(test_unknown_node), cmocka_unit_test(test_zones),
        cmocka_unit_test(test_mirror),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
