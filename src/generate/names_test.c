#include "generate/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"

static struct arena arena;

static void check(const char *from, struct str got, const char *want)
{
    const struct str wanted = { want, strlen(want) };
    if (!str_eq(got, wanted))
        fail_msg("%s became " STR_FMT " and not %s", from, STR_ARG(got), want);
}

static void snake(void **state)
{
    static const char *const rows[][2] = {
        { "name", "name" },
        { "podIPs", "pod_ips" },
        { "podIP", "pod_ip" },
        { "HTTPGetAction", "http_get_action" },
        { "nonResourceURLs", "non_resource_urls" },
        { "URLsOfPods", "urls_of_pods" },
        { "fieldsV1", "fields_v1" },
        { "CSINodeDriver", "csi_node_driver" },
        { "clientCIDR", "client_cidr" },
        { "IPStatus", "ip_status" },
        { "x-kubernetes-map-type", "x_kubernetes_map_type" },
        { "$ref", "ref" },
        { "a..b", "a_b" },
        { "9lives", "n9lives" },
        { "---", "n" },
        { "", "n" },
        { "snake_case", "snake_case" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check(rows[i][0], names_snake(&arena, str_of(rows[i][0])), rows[i][1]);
}

static void members(void **state)
{
    static const char *const rows[][2] = {
        { "default", "default_" }, { "template", "template_" }, { "namespace", "ns" },
        { "linux", "linux_" },     { "rest", "rest_" },         { "defaults", "defaults" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check(rows[i][0], names_member(&arena, str_of(rows[i][0])), rows[i][1]);
}

static void camel_and_pascal(void **state)
{
    (void)state;
    check("node_port", names_camel(&arena, STR("node_port")), "nodePort");
    check("node_port", names_pascal(&arena, STR("node_port")), "NodePort");
    check("mtu", names_camel(&arena, STR("mtu")), "mtu");
    check("a__b_", names_camel(&arena, STR("a__b_")), "aB");
}

static void plurals(void **state)
{
    static const char *const rows[][2] = {
        { "network", "networks" },  { "policy", "policies" }, { "gateway", "gateways" },
        { "address", "addresses" }, { "box", "boxes" },       { "branch", "branches" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        check(rows[i][0], names_plural(&arena, str_of(rows[i][0])), rows[i][1]);
        check(rows[i][1], names_singular(str_of(rows[i][1]), &arena), rows[i][0]);
    }
    check("status", names_singular(STR("status"), &arena), "status");
    check("uses", names_singular(STR("uses"), &arena), "use");
    check("data", names_singular(STR("data"), &arena), "data");
}

static void identifiers(void **state)
{
    (void)state;
    assert_true(names_is_identifier(STR("a_1")));
    assert_false(names_is_identifier(STR("1a")));
    assert_false(names_is_identifier(STR("a-b")));
    assert_false(names_is_identifier(STR("")));
    assert_false(names_is_identifier(STR("switch")));
    check("rbac", names_version_prefix(&arena, STR("rbac.authorization.k8s.io"), STR("v1")),
          "rbac_v1");
    check("core", names_version_prefix(&arena, STR(""), STR("v1")), "core_v1");
}

static int done(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snake),
        cmocka_unit_test(members),
        cmocka_unit_test(camel_and_pascal),
        cmocka_unit_test(plurals),
        cmocka_unit_test(identifiers),
    };
    arena_init(&arena);
    return cmocka_run_group_tests(tests, NULL, done);
}
