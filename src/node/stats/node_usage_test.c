/* What the texts of /proc say of the machine's use. */
#include "node/stats/node_usage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_cpu(void **state)
{
    (void)state;
    struct node_usage u = { 0 };
    assert_true(node_usage_cpu(STR("cpu  10 1 20 1000 500 3 4 5 0 0\ncpu0 1 1\n"), &u));
    assert_int_equal(u.cpu_ns, (10 + 1 + 20 + 3 + 4 + 5) * UINT64_C(10000000));
    assert_false(node_usage_cpu(STR("cpu 1 2"), &u));
    assert_false(node_usage_cpu(STR("intr 1"), &u));
}

static void test_memory(void **state)
{
    (void)state;
    struct node_usage u = { 0 };
    assert_true(
        node_usage_memory(STR("MemTotal: 1000 kB\nMemFree:  400 kB\nInactive(file): 100 kB\n"
                              "AnonPages: 50 kB\nSwapTotal: 8 kB\nSwapFree: 2 kB\n"),
                          STR("pgfault 7\npgmajfault 2\n"), &u));
    assert_int_equal(u.memory_usage, 600 * 1024);
    assert_int_equal(u.working_set, 500 * 1024);
    assert_int_equal(u.rss, 50 * 1024);
    assert_int_equal(u.swap_usage, 6 * 1024);
    assert_int_equal(u.faults, 7);
    assert_int_equal(u.major_faults, 2);
    assert_false(node_usage_memory(STR(""), STR(""), &u));
}

static void test_pressure(void **state)
{
    (void)state;
    const struct node_pressures p = node_usage_pressure(
        STR("some avg10=15.20 avg60=21.88 avg300=18.23 total=553\nfull avg10=0.00 avg60=0.50 "
            "avg300=0.00 total=9\n"));
    assert_true(p.some.avg10 > 15.19 && p.some.avg10 < 15.21 && p.full.avg60 == 0.5);
    assert_int_equal(p.some.total, 553000);
    assert_int_equal(p.full.total, 9000);
    assert_int_equal(node_usage_pressure(STR("")).some.total, 0);
}

static void test_network(void **state)
{
    (void)state;
    struct node_usage u = { 0 };
    static const struct str text =
        STR("Inter-| Receive\n face |bytes\n    lo: 9 9 0 0 0 0 0 0 9 9 0 0 0 0 0 0\n"
            "  eth0: 100 2 3 0 0 0 0 0 200 4 5 0 0 0 0 0\n");
    assert_true(node_usage_network(text, STR("eth0"), &u));
    assert_int_equal(u.rx_bytes, 100);
    assert_int_equal(u.rx_errors, 3);
    assert_int_equal(u.tx_bytes, 200);
    assert_int_equal(u.tx_errors, 5);
    assert_false(node_usage_network(text, STR("eth1"), &u));
}

static void test_this_machine(void **state)
{
    (void)state;
    struct arena a;
    struct node_usage u;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    assert_int_equal(node_usage_read(&a, STR("/"), &u, &err), 0);
    assert_true(u.cpu_ns && u.working_set && u.fs_capacity && u.processes);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu),          cmocka_unit_test(test_memory),
        cmocka_unit_test(test_pressure),     cmocka_unit_test(test_network),
        cmocka_unit_test(test_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
