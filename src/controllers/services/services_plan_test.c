/* Services, their addresses and their node ports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "controllers/common/objects_test.h"
#include "controllers/services/plan.h"

#define WEB \
    "{metadata: {namespace: n, name: web}, spec: {clusterIP: 10.0.0.9, clusterIPs: [10.0.0.9]}}"
#define OTHER    "{metadata: {namespace: n, name: other}, spec: {clusterIPs: [10.0.0.8]}}"
#define TWIN     "{metadata: {namespace: n, name: other}, spec: {clusterIPs: [10.0.0.9]}}"
#define OURS     "ipaddress.kubernetes.io/managed-by: ipallocator.k8s.io"
#define LABELS   "labels: {ipaddress.kubernetes.io/ip-family: IPv4, " OURS "}"
#define OF(name) "spec: {parentRef: {resource: services, namespace: n, name: " name "}}"

static void test_judge(void **state)
{
    (void)state;
    static const struct {
        const char *address, *other;
        enum address_state want;
    } rows[] = {
        { NULL, NULL, ADDRESS_MISSING },
        { "{metadata: {name: 10.0.0.9, " LABELS "}, " OF("web") "}", NULL, ADDRESS_RIGHT },
        { "{metadata: {name: 10.0.0.9}, " OF("web") "}", NULL, ADDRESS_UNLABELED },
        { "{metadata: {name: 10.0.0.9, labels: {" OURS "}}, " OF("web") "}", NULL,
          ADDRESS_UNLABELED },
        { "{metadata: {name: 10.0.0.9, " LABELS "}, " OF("other") "}", NULL, ADDRESS_FOREIGN },
        { "{metadata: {name: 10.0.0.9, " LABELS "}, " OF("other") "}", TWIN, ADDRESS_SHARED },
        { "{metadata: {name: 10.0.0.9, " LABELS "}, " OF("other") "}", OTHER, ADDRESS_FOREIGN },
        { "{metadata: {name: 10.0.0.9, " LABELS "}, spec: {parentRef: {group: g, resource: "
          "services}}}",
          NULL, ADDRESS_FOREIGN },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(address_judge(read_yaml(a, WEB),
                                       rows[i].address ? read_yaml(a, rows[i].address) : NULL,
                                       rows[i].other ? read_yaml(a, rows[i].other) : NULL),
                         rows[i].want);
    assert_int_equal(address_judge(read_yaml(a, WEB),
                                   address_new(a, SPN_TEXT("10.0.0.9"), read_yaml(a, WEB)), NULL),
                     ADDRESS_RIGHT);
    spn_arena_free(a);
}

#define AT_600 "creationTimestamp: '1970-01-01T00:10:00Z'"

static void test_fate(void **state)
{
    (void)state;
    static const struct {
        const char *address, *service;
        int64_t now_sec;
        enum address_fate want;
        int64_t wait_ms;
    } rows[] = {
        { "{metadata: {name: 10.0.0.9}, " OF("web") "}", NULL, 9000, ADDRESS_STAYS, 0 },
        { "{metadata: {" LABELS "}, spec: {parentRef: {resource: gateways}}}", NULL, 0,
          ADDRESS_NO_SERVICE, 0 },
        { "{metadata: {name: 10.0.0.9, " AT_600 ", " LABELS "}, " OF("web") "}", WEB, 9000,
          ADDRESS_STAYS, 0 },
        { "{metadata: {name: 10.0.0.9, " AT_600 ", " LABELS "}, " OF("web") "}", NULL, 630,
          ADDRESS_WAITS, 30001 },
        { "{metadata: {name: 10.0.0.9, " AT_600 ", " LABELS "}, " OF("web") "}", NULL, 661,
          ADDRESS_LEAKED, 0 },
        { "{metadata: {name: 10.0.0.7, " AT_600 ", " LABELS "}, " OF("web") "}", WEB, 602,
          ADDRESS_WAITS, 3001 },
        { "{metadata: {name: 10.0.0.7, " AT_600 ", " LABELS "}, " OF("web") "}", WEB, 606,
          ADDRESS_NOT_THE_SAME, 0 },
        { "{metadata: {name: 10.0.0.7, " AT_600 ", " LABELS "}, " OF("web") "}",
          "{spec: {type: ExternalName}}", 606, ADDRESS_WAITS, 54001 },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t wait_ms = 0;
        assert_int_equal(address_fate(read_yaml(a, rows[i].address),
                                      rows[i].service ? read_yaml(a, rows[i].service) : NULL,
                                      rows[i].now_sec * NS_PER_SEC, &wait_ms),
                         rows[i].want);
        assert_int_equal(wait_ms, rows[i].wait_ms);
    }
    spn_arena_free(a);
}

static void test_addresses(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *range = read_yaml(a, "{spec: {cidrs: [10.0.0.0/16, 'fd00::/112']}}");
    assert_non_null(service_addresses(read_yaml(a, WEB)));
    assert_null(service_addresses(read_yaml(a, "{spec: {clusterIP: None, clusterIPs: [None]}}")));
    assert_null(service_addresses(read_yaml(a, "{spec: {}}")));
    assert_null(service_addresses(
        read_yaml(a, "{spec: {type: ExternalName, clusterIP: 10.0.0.9, clusterIPs: [10.0.0.9]}}")));
    assert_true(address_is_in(range, SPN_TEXT("10.0.255.1")));
    assert_true(address_is_in(range, SPN_TEXT("fd00::1")));
    assert_false(address_is_in(range, SPN_TEXT("10.1.0.1")));
    assert_false(address_is_in(range, SPN_TEXT("none")));
    assert_true(spn_text_eq(address_family(SPN_TEXT("fd00::1")), SPN_TEXT("IPv6")));
    assert_int_equal(address_family(SPN_TEXT("x")).n, 0);
    assert_true(spn_text_eq(address_canonical(a, SPN_TEXT("fd00:0::1")), SPN_TEXT("fd00::1")));
    spn_arena_free(a);
}

static void test_ports(void **state)
{
    (void)state;
    static const struct {
        const char *service;
        size_t n;
        int64_t ports[4];
    } rows[] = {
        { "{spec: {ports: [{port: 1}]}}", 0, { 0 } },
        { "{spec: {ports: [{nodePort: 30001}, {nodePort: 30002}]}}", 2, { 30001, 30002 } },
        { "{spec: {ports: [{nodePort: 30001, protocol: TCP}, {nodePort: 30001, protocol: UDP}]}}",
          1,
          { 30001 } },
        { "{spec: {ports: [{nodePort: 30001}, {nodePort: 30001, protocol: TCP}]}}",
          2,
          { 30001, 30001 } },
        { "{spec: {healthCheckNodePort: 30009, ports: [{nodePort: 30001}]}}", 2, { 30001, 30009 } },
        { "{spec: {healthCheckNodePort: 30001, ports: [{nodePort: 30001}]}}", 2, { 30001, 30001 } },
        { "{spec: {healthCheckNodePort: 30001, ports: [{nodePort: 30001, protocol: UDP}]}}",
          1,
          { 30001 } },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t got[PORTS_MOST];
        size_t n = service_node_ports(read_yaml(a, rows[i].service), got);
        assert_int_equal(n, rows[i].n);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(got[k], rows[i].ports[k]);
    }
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_judge),
        cmocka_unit_test(test_fate),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_ports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
