/* Blocks of networks, and which of them nodes get. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "controllers/common/objects_test.h"
#include "controllers/ipam/cidr_set.h"
#include "controllers/ipam/plan.h"

static struct cidr read_cidr(const char *text)
{
    struct cidr c;
    assert_true(ip_cidr_parse(str_of(text), &c));
    return c;
}

static struct cidr_set *set_of(const char *network, unsigned bits)
{
    struct cidr_set *s;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    assert_int_equal(cidr_set_new(read_cidr(network), bits, &s, &err), 0);
    arena_done(&a);
    return s;
}

static void expect_take(struct cidr_set *s, const char *want)
{
    struct cidr c;
    char text[IP_TEXT_MAX + 1];
    assert_int_equal(cidr_set_take(s, &c), want != NULL);
    if (!want)
        return;
    struct str got = ip_cidr_format(&c, text);
    text[got.n] = 0;
    assert_string_equal(text, want);
}

static void test_order(void **state)
{
    (void)state;
    struct cidr_set *s = set_of("10.1.0.0/22", 24);
    const struct cidr second = read_cidr("10.1.1.0/24"), first = read_cidr("10.1.0.0/24");
    assert_true(cidr_set_occupy(s, &second));
    assert_true(cidr_set_occupy(s, &second)); /* once more is no harm */
    expect_take(s, "10.1.0.0/24");
    expect_take(s, "10.1.2.0/24");
    assert_true(cidr_set_release(s, &first));
    expect_take(s, "10.1.3.0/24"); /* the freed one comes last */
    expect_take(s, "10.1.0.0/24");
    expect_take(s, NULL);
    cidr_set_free(s);
}

static void test_first_and_last(void **state)
{
    (void)state;
    static const struct {
        const char *network;
        unsigned bits;
        const char *occupied, *first;
    } rows[] = {
        { "10.0.0.0/8", 24, NULL, "10.0.0.0/24" },
        { "10.0.0.0/16", 24, "10.0.0.0/20", "10.0.16.0/24" },
        { "10.0.0.0/16", 24, "10.0.0.5/32", "10.0.1.0/24" },
        { "10.0.0.0/16", 24, "10.0.0.0/8", NULL }, /* all of it */
        { "10.0.7.9/16", 24, NULL, "10.0.0.0/24" },
        { "10.0.0.0/24", 24, NULL, "10.0.0.0/24" },
        { "0.0.0.0/0", 8, "0.0.0.0/1", "128.0.0.0/8" },
        { "fd00::/56", 64, "fd00::/64", "fd00:0:0:1::/64" },
        { "fd00::/56", 72, "fd00::/72", "fd00::100:0:0:0/72" },
        { "fd00:1234::/120", 128, "fd00:1234::/121", "fd00:1234::80/128" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cidr_set *s = set_of(rows[i].network, rows[i].bits);
        if (rows[i].occupied) {
            const struct cidr c = read_cidr(rows[i].occupied);
            assert_true(cidr_set_occupy(s, &c));
        }
        expect_take(s, rows[i].first);
        cidr_set_free(s);
    }
}

static void test_out_of_range(void **state)
{
    (void)state;
    static const struct {
        const char *network;
        unsigned bits;
    } bad[] = { { "10.0.0.0/24", 16 }, { "10.0.0.0/24", 33 }, { "fd00::/32", 64 } };
    struct cidr_set *s = set_of("10.1.0.0/16", 24);
    const struct cidr beside = read_cidr("10.2.0.0/24"), v6 = read_cidr("fd00::/64");
    assert_false(cidr_set_occupy(s, &beside));
    assert_false(cidr_set_occupy(s, &v6));
    cidr_set_free(s);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct arena a;
        arena_init(&a);
        struct err err = ERR_INIT(&a);
        assert_int_equal(cidr_set_new(read_cidr(bad[i].network), bad[i].bits, &s, &err),
                         -ERR_INVALID);
        arena_done(&a);
    }
}

static void test_options(void **state)
{
    (void)state;
    static const struct {
        struct controllers_options opt;
        const char *want; /* of the first node; NULL: refused */
    } rows[] = {
        { { .cluster_cidr = "10.0.0.0/16" }, "[\"10.0.0.0/24\"]" },
        { { .cluster_cidr = "10.0.0.0/16", .node_bits = 26 }, "[\"10.0.0.0/26\"]" },
        { { .cluster_cidr = "10.0.0.0/16,fd00::/56", .node_bits_v4 = 20 },
          "[\"10.0.0.0/20\",\"fd00::/64\"]" },
        { { .cluster_cidr = "fd00::/56,10.0.0.0/16", .node_bits_v6 = 60 },
          "[\"fd00::/60\",\"10.0.0.0/24\"]" },
        { { .cluster_cidr = "10.0.0.0/16", .service_cidr = "10.0.0.0/23" }, "[\"10.0.2.0/24\"]" },
        { { .cluster_cidr = "" }, NULL },
        { { .cluster_cidr = "ten" }, NULL },
        { { .cluster_cidr = "10.0.0.0/26" }, NULL },
        { { .cluster_cidr = "10.0.0.0/16,10.1.0.0/16,10.2.0.0/16" }, NULL },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ipam *m;
        struct spn_err err = { 0 };
        int r = ipam_new(&rows[i].opt, &m, &err);
        assert_int_equal(r, rows[i].want ? 0 : -SPN_INVALID);
        if (r < 0)
            continue;
        assert_string_equal(spn_value_json(a, ipam_take(m, a)).p, rows[i].want);
        ipam_free(m);
    }
    spn_arena_free(a);
}

static void test_nodes(void **state)
{
    (void)state;
    struct ipam *m;
    struct spn_err err = { 0 };
    struct spn_arena *a = spn_arena_new();
    const struct controllers_options opt = { .cluster_cidr = "10.0.0.0/23,fd00::/56" };
    const struct spn_value *node =
        read_yaml(a, "{metadata: {name: n}, spec: {podCIDRs: [10.0.0.0/24, 'fd00::/64']}}");
    assert_int_equal(ipam_new(&opt, &m, &err), 0);
    assert_int_equal(ipam_occupy(m, node, &err), 0);
    assert_string_equal(spn_value_json(a, ipam_take(m, a)).p,
                        "[\"10.0.1.0/24\",\"fd00:0:0:1::/64\"]");
    assert_null(ipam_take(m, a));
    ipam_release(m, node);
    assert_string_equal(spn_value_json(a, ipam_take(m, a)).p,
                        "[\"10.0.0.0/24\",\"fd00:0:0:2::/64\"]");
    node = read_yaml(a, "{spec: {podCIDRs: [10.9.0.0/24]}}");
    assert_int_equal(ipam_occupy(m, node, &err), -SPN_INVALID);
    node = read_yaml(a, "{spec: {podCIDRs: [none]}}");
    assert_int_equal(ipam_occupy(m, node, &err), -SPN_INVALID);
    node = read_yaml(a, "{spec: {podCIDRs: [10.0.0.0/24, 'fd00::/64', 10.0.1.0/24]}}");
    assert_int_equal(ipam_occupy(m, node, &err), -SPN_INVALID);
    ipam_free(m);
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),        cmocka_unit_test(test_first_and_last),
        cmocka_unit_test(test_out_of_range), cmocka_unit_test(test_options),
        cmocka_unit_test(test_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
