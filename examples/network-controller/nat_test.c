/* nat_test.c - rules in a real kernel, in a namespace of their own. That packets are masqueraded is
 * seen in tests/network_test.sh. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "nat.h"
#include "suite_space.h"

#define ONE   "net-0000000001"
#define OTHER "net-0000000002"

static struct nat *nat;
static struct spn_err err;

static struct prefix prefix_from(const char *text)
{
    struct prefix p;
    assert_true(prefix_parse(text, strlen(text), &p));
    return p;
}

static void must(int r)
{
    if (r < 0)
        fail_msg("%s", err.message);
}

/* 0: no rule; 1: the right one; 2: wrong ones; 3: both. */
static int observed(const char *bridge, const char *cidr)
{
    struct prefix p = prefix_from(cidr);
    struct plan_actual actual = { 0 };
    must(nat_observe(nat, bridge, &p, &actual, &err));
    return actual.has_nat + 2 * actual.has_wrong_nat;
}

static void set(const char *bridge, const char *cidr)
{
    struct prefix p = prefix_from(cidr);
    must(nat_set(nat, bridge, &p, &err));
}

static int set_up(void **state)
{
    (void)state;
    must(nat_open(&nat, &err));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    must(nat_remove(nat, ONE, &err));
    must(nat_remove(nat, OTHER, &err));
    nat = nat_close(nat);
    return 0;
}

static void test_a_rule_comes_and_goes(void **state)
{
    (void)state;
    assert_int_equal(observed(ONE, "10.1.0.0/16"), 0);
    must(nat_remove(nat, ONE, &err));
    set(ONE, "10.1.0.0/16");
    assert_int_equal(observed(ONE, "10.1.0.0/16"), 1);
    assert_int_equal(observed(ONE, "10.1.0.0/17"), 2);
    assert_int_equal(observed(OTHER, "10.1.0.0/16"), 0);
    must(nat_remove(nat, ONE, &err));
    assert_int_equal(observed(ONE, "10.1.0.0/16"), 0);
}

static void test_a_rule_is_replaced(void **state)
{
    (void)state;
    set(ONE, "10.1.0.0/16");
    set(ONE, "10.1.0.0/16"); /* again: still one */
    assert_int_equal(observed(ONE, "10.1.0.0/16"), 1);
    set(ONE, "10.2.0.0/20");
    assert_int_equal(observed(ONE, "10.2.0.0/20"), 1);
    set(ONE, "fd00:1::/64");
    assert_int_equal(observed(ONE, "fd00:1::/64"), 1);
}

static void note_bridge(void *arg, const char *bridge)
{
    int *seen = arg;
    *seen += strcmp(bridge, ONE) == 0 ? 1 : strcmp(bridge, OTHER) == 0 ? 10 : 100;
}

static void test_networks_do_not_disturb_each_other(void **state)
{
    (void)state;
    int seen = 0;
    set(ONE, "10.1.0.0/16");
    set(OTHER, "10.2.0.0/16");
    must(nat_each_bridge(nat, note_bridge, &seen, &err));
    assert_int_equal(seen, 11);
    must(nat_remove(nat, ONE, &err));
    assert_int_equal(observed(ONE, "10.1.0.0/16"), 0);
    assert_int_equal(observed(OTHER, "10.2.0.0/16"), 1);
}

static void test_forwarding(void **state)
{
    (void)state;
    must(nat_forward(2, &err));
    must(nat_forward(2, &err));
    FILE *f = fopen("/proc/sys/net/ipv4/ip_forward", "r");
    assert_non_null(f);
    assert_int_equal(fgetc(f), '1');
    fclose(f);
}

/* Where the kernel has no nftables, or no NAT in them, nothing can be tested. */
static void skip_without_nftables(void)
{
    struct prefix p;
    if (nat_open(&nat, &err) == 0 && prefix_parse("10.0.0.0/8", 10, &p) &&
        nat_set(nat, ONE, &p, &err) == 0) {
        nat_remove(nat, ONE, &err);
        nat = nat_close(nat);
        return;
    }
    printf("skipped: %s\n", err.message);
    exit(77);
}

int main(void)
{
    suite_space_enter();
    skip_without_nftables();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_rule_comes_and_goes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_rule_is_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_networks_do_not_disturb_each_other, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_forwarding, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
