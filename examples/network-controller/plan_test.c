/* plan_test.c - which networks are possible, who keeps a range, and the steps to a bridge. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "plan.h"

static struct prefix prefix_from(const char *text)
{
    struct prefix p = { 0 };
    if (text)
        assert_true(prefix_parse(text, strlen(text), &p));
    return p;
}

/* ---- Prefixes ---- */

static void test_what_is_a_prefix(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_prefix;
    } rows[] = {
        { "192.168.0.0/16", true },
        { "0.0.0.0/0", true },
        { "10.1.2.3/32", true },
        { "fd00::/64", true },
        { "::/0", true },
        { "::1/128", true },
        { "192.168.0.0", false },
        { "192.168.0.0/", false },
        { "192.168.0.0/33", false },
        { "192.168.0/16", false },
        { "10.0.0.0/08", false },
        { "10.0.0.0/+8", false },
        { "10.0.0.0/ 8", false },
        { "10.0.0.256/8", false },
        { "fd00::/129", false },
        { "", false },
        { "/", false },
        { "/8", false },
        { "a/b", false },
        { "10.0.0.0/8/8", false },
        { "10.0.0.0/1000", false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct prefix p;
        char text[PREFIX_TEXT];
        if (prefix_parse(rows[i].text, strlen(rows[i].text), &p) != rows[i].is_prefix)
            fail_msg("%s", rows[i].text);
        if (rows[i].is_prefix)
            assert_string_equal(prefix_text(&p, text), rows[i].text);
    }
    struct prefix p;
    assert_false(prefix_parse("10.0.0.0\0/8", 11, &p));
    assert_false(prefix_parse_address("10.0.0.1/8", 10, &p));
}

static void test_overlaps(void **state)
{
    (void)state;
    static const struct {
        const char *one, *other;
        bool is;
    } rows[] = {
        { "10.0.0.0/8", "10.1.0.0/16", true },
        { "10.0.0.0/16", "10.1.0.0/16", false },
        { "10.0.0.0/15", "10.1.0.0/16", true },
        { "10.0.0.0/9", "10.128.0.0/9", false },
        { "0.0.0.0/0", "10.0.0.0/8", true },
        { "0.0.0.0/0", "::/0", false },
        { "fd00::/48", "fd00:0:0:1::/64", true },
        { "fd00::/64", "fd00:0:0:1::/64", false },
        { "192.168.1.0/25", "192.168.1.128/25", false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct prefix one = prefix_from(rows[i].one), other = prefix_from(rows[i].other);
        if (prefix_overlaps(&one, &other) != rows[i].is ||
            prefix_overlaps(&other, &one) != rows[i].is)
            fail_msg("%s and %s", rows[i].one, rows[i].other);
    }
}

/* ---- Names ---- */

static void test_names(void **state)
{
    (void)state;
    char one[PLAN_NAME], again[PLAN_NAME], other[PLAN_NAME];
    uint8_t mac[6];
    plan_bridge_name(SPN_TEXT("default/example-network"), one);
    plan_bridge_name(SPN_TEXT("default/example-network"), again);
    plan_bridge_name(SPN_TEXT("other/example-network"), other);
    assert_string_equal(one, again);
    assert_string_not_equal(one, other);
    assert_int_equal(strlen(one), 14);
    assert_true(plan_bridge_mac(one, mac));

    assert_true(plan_bridge_mac("net-00ff12ab9c", mac));
    static const uint8_t expected[] = { 0x02, 0x00, 0xff, 0x12, 0xab, 0x9c };
    assert_memory_equal(mac, expected, 6);
    static const char *const others[] = { "net-", "net-00ff12ab9",   "net-00FF12ab9c", "eth0",
                                          "",     "net-00ff12ab9cd", "net_00ff12ab9c" };
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        assert_false(plan_bridge_mac(others[i], mac));
}

/* ---- Which networks are possible ---- */

static const struct {
    const char *cidr, *gateway;
    int64_t mtu;
    const char *reason; /* NULL: it is possible */
    const char *says;
} specs[] = {
    { "192.168.0.0/16", "192.168.0.1", 0, NULL, NULL },
    { "192.168.0.0/16", "192.168.255.254", 0, NULL, NULL },
    { "10.0.0.0/30", "10.0.0.2", 9000, NULL, NULL },
    { "fd00:1::/64", "fd00:1::1", 1280, NULL, NULL },
    { "fd00:1::/64", "fd00:1::ffff:ffff:ffff:ffff", 0, NULL, NULL }, /* no broadcast there */
    { NULL, "192.168.0.1", 0, "InvalidCIDR", "missing" },
    { "", "192.168.0.1", 0, "InvalidCIDR", "\"\" is not ADDRESS/LENGTH" },
    { "bogus", "192.168.0.1", 0, "InvalidCIDR", "\"bogus\" is not ADDRESS/LENGTH" },
    { "192.168.0.0/33", "192.168.0.1", 0, "InvalidCIDR", "is not ADDRESS/LENGTH" },
    { "192.168.0.5/16", "192.168.0.1", 0, "InvalidCIDR", "is it 192.168.0.0/16?" },
    { "192.168.0.0/31", "192.168.0.1", 0, "InvalidCIDR", "no room" },
    { "fd00::/127", "fd00::1", 0, "InvalidCIDR", "no room" },
    { "0.0.0.0/0", "10.0.0.1", 0, "InvalidCIDR", "this host" },
    { "127.0.0.0/16", "127.0.0.1", 0, "InvalidCIDR", "loopback" },
    { "224.0.0.0/8", "224.0.0.1", 0, "InvalidCIDR", "multicast" },
    { "fe80::/64", "fe80::1", 0, "InvalidCIDR", "link-local" },
    { "192.168.0.0/16", NULL, 0, "InvalidGateway", "missing" },
    { "192.168.0.0/16", "nobody", 0, "InvalidGateway", "\"nobody\" is no address" },
    { "192.168.0.0/16", "192.168.0.1/16", 0, "InvalidGateway", "is no address" },
    { "192.168.0.0/16", "10.0.0.1", 0, "InvalidGateway", "outside of 192.168.0.0/16" },
    { "192.168.0.0/16", "fd00::1", 0, "InvalidGateway", "outside of" },
    { "192.168.0.0/16", "192.168.0.0", 0, "InvalidGateway", "no address of a host" },
    { "192.168.0.0/16", "192.168.255.255", 0, "InvalidGateway", "no address of a host" },
    { "192.168.0.0/16", "192.168.0.1", 67, "InvalidMTU", "from 68 to 65535" },
    { "192.168.0.0/16", "192.168.0.1", 65536, "InvalidMTU", "65536" },
    { "192.168.0.0/16", "192.168.0.1", -1, "InvalidMTU", "-1" },
    { "fd00::/64", "fd00::1", 1279, "InvalidMTU", "from 1280" },
};

static void test_specs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
        struct plan_spec spec = { .cidr = spn_text_of(specs[i].cidr),
                                  .gateway = spn_text_of(specs[i].gateway),
                                  .mtu = specs[i].mtu };
        struct plan_want want;
        struct plan_refusal why;
        bool is_possible = plan_read(SPN_TEXT("default/a"), &spec, &want, &why);
        if (is_possible != !specs[i].reason)
            fail_msg("%s %s: %s", specs[i].cidr, specs[i].gateway, why.message);
        if (is_possible) {
            assert_null(why.reason);
            assert_int_equal(want.mtu, specs[i].mtu ? specs[i].mtu : 1500);
            assert_int_equal(want.address.len, want.cidr.len);
        } else {
            assert_string_equal(why.reason, specs[i].reason);
            if (!strstr(why.message, specs[i].says))
                fail_msg("no \"%s\" in: %s", specs[i].says, why.message);
        }
    }
}

static void test_long_text_is_cut(void **state)
{
    (void)state;
    char text[5000];
    memset(text, '1', sizeof(text));
    struct plan_spec spec = { .cidr = { text, sizeof(text) }, .gateway = SPN_TEXT("10.0.0.1") };
    struct plan_want want;
    struct plan_refusal why;
    assert_false(plan_read(SPN_TEXT("default/a"), &spec, &want, &why));
    assert_true(strlen(why.message) < 120);
}

/* ---- Who keeps a range ---- */

static const struct {
    const char *wants, *has;                    /* of the network in question */
    const char *other_wants, *other_has;        /* of another one */
    bool is_older, is_network, has_same_bridge; /* the other */
    const char *reason;
} rivals[] = {
    { "10.0.0.0/16", NULL, "10.1.0.0/16", "10.1.0.0/16", true, true, false, NULL },
    { "10.0.0.0/16", NULL, "10.0.0.0/16", "10.0.0.0/16", false, true, false, "Overlaps" },
    { "10.0.0.0/16", NULL, "10.0.0.0/8", "10.0.0.0/8", true, true, false, "Overlaps" },
    /* Nobody has it yet: the older one gets it. */
    { "10.0.0.0/16", NULL, "10.0.0.0/16", NULL, true, true, false, "Overlaps" },
    { "10.0.0.0/16", NULL, "10.0.0.0/16", NULL, false, true, false, NULL },
    /* Who has it keeps it, even if an older one comes to want it. */
    { "10.0.0.0/16", "10.0.0.0/16", "10.0.0.0/16", "10.9.0.0/16", true, true, false, NULL },
    /* A change into what another has is refused, old or not. */
    { "10.0.0.0/16", "10.9.0.0/16", "10.0.0.0/16", "10.0.0.0/16", false, true, false, "Overlaps" },
    /* What another still has counts, though it wants something else by now. */
    { "10.0.0.0/16", NULL, "10.7.0.0/16", "10.0.0.0/16", false, true, false, "Overlaps" },
    /* Addresses of the machine itself. */
    { "10.0.0.0/16", NULL, NULL, "10.0.3.7/24", true, false, false, "AddressInUse" },
    { "10.0.0.0/16", "10.0.0.0/16", NULL, "10.0.3.7/24", true, false, false, "AddressInUse" },
    { "10.0.0.0/16", NULL, NULL, "10.1.3.7/24", true, false, false, NULL },
    /* Two keys with one name. */
    { "10.0.0.0/16", NULL, "10.1.0.0/16", "10.1.0.0/16", true, true, true, "NameTaken" },
    { "10.0.0.0/16", NULL, "10.1.0.0/16", NULL, false, true, true, NULL },
};

static void test_rivals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rivals) / sizeof(*rivals); i++) {
        struct plan_want want = { .bridge = "net-0000000001",
                                  .cidr = prefix_from(rivals[i].wants) };
        struct prefix has = prefix_from(rivals[i].has);
        struct plan_other other = { .name = "default/other",
                                    .bridge = !rivals[i].is_network       ? NULL
                                              : rivals[i].has_same_bridge ? want.bridge
                                                                          : "net-0000000002",
                                    .wants = prefix_from(rivals[i].other_wants),
                                    .has = prefix_from(rivals[i].other_has),
                                    .is_older = rivals[i].is_older };
        struct plan_refusal why;
        bool is_free = plan_is_free(&want, &has, &other, 1, &why);
        if (is_free != !rivals[i].reason)
            fail_msg("row %zu: %s", i, is_free ? "free" : why.message);
        if (!is_free) {
            assert_string_equal(why.reason, rivals[i].reason);
            assert_non_null(strstr(why.message, "default/other"));
        }
    }
}

/* ---- Steps ---- */

/* "create mtu +10.0.0.1/16 up" */
static const char *steps_text(const struct plan *plan)
{
    static char text[512];
    static const char *const names[] = {
        "create", "mtu", "+", "-", "up", "nat", "nonat", "delete"
    };
    char address[PREFIX_TEXT];
    size_t n = 0;
    text[0] = 0;
    for (size_t i = 0; i < plan->n; i++) {
        const struct plan_step *step = &plan->steps[i];
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s%s", i ? " " : "", names[step->kind],
                              step->address.family ? prefix_text(&step->address, address) : "");
    }
    return text;
}

enum { NO_NAT, RIGHT_NAT, WRONG_NAT, BOTH_NAT };

static const struct {
    bool exists, is_ours, is_up;
    unsigned mtu;
    const char *addresses[3];
    int has_nat;
    bool wants_nat;
    const char *steps, *removal; /* NULL steps: refused */
} ways[] = {
    { false, false, false, 0, { NULL }, NO_NAT, false, "create mtu +10.0.0.1/16 up", "" },
    { false, false, false, 0, { NULL }, NO_NAT, true, "create mtu +10.0.0.1/16 up nat", "" },
    { false, false, false, 0, { NULL }, RIGHT_NAT, true, "create mtu +10.0.0.1/16 up", "nonat" },
    { true, true, true, 1500, { "10.0.0.1/16" }, NO_NAT, false, "", "delete" },
    { true, true, true, 1500, { "10.0.0.1/16" }, RIGHT_NAT, true, "", "nonat delete" },
    { true, true, true, 1500, { "10.0.0.1/16" }, WRONG_NAT, true, "nat", "nonat delete" },
    { true, true, true, 1500, { "10.0.0.1/16" }, BOTH_NAT, true, "nat", "nonat delete" },
    { true, true, true, 1500, { "10.0.0.1/16" }, RIGHT_NAT, false, "nonat", "nonat delete" },
    { true, true, true, 1500, { "10.0.0.1/16" }, WRONG_NAT, false, "nonat", "nonat delete" },
    { true, true, false, 1400, { "10.0.0.1/16" }, NO_NAT, false, "mtu up", "delete" },
    /* The new address comes before the old ones go. */
    { true,
      true,
      true,
      1500,
      { "10.9.0.1/16", "10.0.0.1/24" },
      NO_NAT,
      false,
      "+10.0.0.1/16 -10.9.0.1/16 -10.0.0.1/24",
      "delete" },
    { true,
      true,
      true,
      1500,
      { "10.9.0.1/16", "10.0.0.1/16" },
      NO_NAT,
      false,
      "-10.9.0.1/16",
      "delete" },
    { true, true, true, 1500, { NULL }, NO_NAT, false, "+10.0.0.1/16", "delete" },
    { true, false, true, 1500, { NULL }, NO_NAT, false, NULL, "" },
    { true, false, true, 1500, { NULL }, RIGHT_NAT, false, NULL, "nonat" },
};

static struct plan_actual actual_of(size_t row)
{
    struct plan_actual actual = { .exists = ways[row].exists,
                                  .is_ours = ways[row].is_ours,
                                  .is_up = ways[row].is_up,
                                  .mtu = ways[row].mtu,
                                  .has_nat = ways[row].has_nat & RIGHT_NAT,
                                  .has_wrong_nat = ways[row].has_nat & WRONG_NAT };
    for (size_t i = 0; i < 3 && ways[row].addresses[i]; i++)
        actual.addresses[actual.n_addresses++] = prefix_from(ways[row].addresses[i]);
    return actual;
}

static void test_steps(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        struct plan_want want = { .bridge = "net-0000000001",
                                  .cidr = prefix_from("10.0.0.0/16"),
                                  .address = prefix_from("10.0.0.1/16"),
                                  .mtu = 1500,
                                  .nat = ways[i].wants_nat };
        struct plan_actual actual = actual_of(i);
        struct plan plan;
        struct plan_refusal why;
        if (plan_make(&want, &actual, &plan, &why)) {
            assert_non_null(ways[i].steps);
            assert_string_equal(steps_text(&plan), ways[i].steps);
        } else {
            assert_null(ways[i].steps);
            assert_string_equal(why.reason, "NameTaken");
        }
        plan_remove(&actual, &plan);
        assert_string_equal(steps_text(&plan), ways[i].removal);
    }
}

static void test_many_addresses_fit(void **state)
{
    (void)state;
    struct plan_want want = {
        .bridge = "net-0000000001", .address = prefix_from("10.0.0.1/16"), .mtu = 1400, .nat = true
    };
    struct plan_actual actual = { .exists = true, .is_ours = true };
    for (; actual.n_addresses < PLAN_MAX_ADDRESSES; actual.n_addresses++) {
        actual.addresses[actual.n_addresses] = prefix_from("10.7.0.0/24");
        actual.addresses[actual.n_addresses].bytes[3] = (uint8_t)actual.n_addresses;
    }
    struct plan plan;
    struct plan_refusal why;
    assert_true(plan_make(&want, &actual, &plan, &why));
    assert_int_equal(plan.n, PLAN_MAX_ADDRESSES + 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_a_prefix),
        cmocka_unit_test(test_overlaps),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_specs),
        cmocka_unit_test(test_long_text_is_cut),
        cmocka_unit_test(test_rivals),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_many_addresses_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
