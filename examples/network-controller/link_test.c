/* link_test.c - bridges and addresses in a real kernel, in a namespace of their own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <time.h>

#include "link.h"
#include "suite_space.h"
#include "watch.h"

#define BRIDGE "net-00ff12ab9c"

static struct link *l;
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

static struct plan_actual observed(const char *name)
{
    struct plan_actual actual;
    must(link_observe(l, name, &actual, &err));
    return actual;
}

static int set_up(void **state)
{
    (void)state;
    must(link_open(&l, &err));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    must(link_delete(l, BRIDGE, &err));
    l = link_close(l);
    return 0;
}

static void test_a_bridge_comes_and_goes(void **state)
{
    (void)state;
    assert_false(observed(BRIDGE).exists);
    must(link_create(l, BRIDGE, &err));
    struct plan_actual actual = observed(BRIDGE);
    assert_true(actual.exists);
    assert_true(actual.is_ours);
    assert_false(actual.is_up);
    assert_int_equal(link_create(l, BRIDGE, &err), -SPN_EXISTS);

    must(link_set_up(l, BRIDGE, &err));
    must(link_set_mtu(l, BRIDGE, 1400, &err));
    actual = observed(BRIDGE);
    assert_true(actual.is_up);
    assert_int_equal(actual.mtu, 1400);

    must(link_delete(l, BRIDGE, &err));
    assert_false(observed(BRIDGE).exists);
    must(link_delete(l, BRIDGE, &err));
    assert_int_equal(link_set_up(l, BRIDGE, &err), -SPN_NOT_FOUND);
}

static void test_addresses(void **state)
{
    (void)state;
    const struct prefix v4 = prefix_from("10.1.0.1/16"), v6 = prefix_from("fd00:1::1/64");
    must(link_create(l, BRIDGE, &err));
    must(link_set_up(l, BRIDGE, &err)); /* which gives it an fe80:: that is not told */
    must(link_add_address(l, BRIDGE, &v4, &err));
    must(link_add_address(l, BRIDGE, &v6, &err));
    must(link_add_address(l, BRIDGE, &v4, &err));
    struct plan_actual actual = observed(BRIDGE);
    assert_int_equal(actual.n_addresses, 2);
    assert_true(prefix_eq(&actual.addresses[0], &v4));
    assert_true(prefix_eq(&actual.addresses[1], &v6));

    must(link_delete_address(l, BRIDGE, &v4, &err));
    must(link_delete_address(l, BRIDGE, &v4, &err));
    actual = observed(BRIDGE);
    assert_int_equal(actual.n_addresses, 1);
    assert_true(prefix_eq(&actual.addresses[0], &v6));
    must(link_delete(l, BRIDGE, &err));
    must(link_delete_address(l, BRIDGE, &v6, &err));
    assert_int_equal(link_add_address(l, BRIDGE, &v4, &err), -SPN_NOT_FOUND);
}

static void test_what_is_not_ours(void **state)
{
    (void)state;
    struct plan_actual actual = observed("lo");
    assert_true(actual.exists);
    assert_false(actual.is_ours);
    assert_int_equal(link_create(l, "br0", &err), -SPN_BAD_REQUEST);
}

static void note_bridge(void *arg, const char *name)
{
    size_t *n = arg;
    assert_string_equal(name, BRIDGE);
    ++*n;
}

static void note_address(void *arg, const char *name, const struct prefix *address)
{
    size_t *n = arg;
    assert_string_equal(name, "lo");
    assert_true(address->family == 2 || address->family == 10);
    ++*n;
}

static void test_lists(void **state)
{
    (void)state;
    const struct prefix v4 = prefix_from("10.1.0.1/16"), loop = prefix_from("10.99.0.1/32");
    size_t n = 0;
    must(link_each_bridge(l, note_bridge, &n, &err));
    assert_int_equal(n, 0);
    must(link_create(l, BRIDGE, &err));
    must(link_add_address(l, BRIDGE, &v4, &err));
    must(link_add_address(l, "lo", &loop, &err));
    must(link_each_bridge(l, note_bridge, &n, &err));
    assert_int_equal(n, 1);
    n = 0;
    must(link_each_address(l, note_address, &n, &err));
    assert_int_equal(n, 1);
    must(link_delete_address(l, "lo", &loop, &err));
}

/* ---- Noticing ---- */

static struct {
    pthread_mutex_t lock; /* of seen */
    pthread_cond_t more;
    unsigned seen;
} news = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };

static void on_change(void *arg, const char *name)
{
    (void)arg;
    if (!name || strcmp(name, BRIDGE) != 0)
        return;
    pthread_mutex_lock(&news.lock);
    news.seen++;
    pthread_cond_signal(&news.more);
    pthread_mutex_unlock(&news.lock);
}

/* The time only guards against hanging. */
static void wait_for_more_than(unsigned n)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    int r = 0;
    pthread_mutex_lock(&news.lock);
    while (news.seen <= n && r == 0)
        r = pthread_cond_timedwait(&news.more, &news.lock, &until);
    pthread_mutex_unlock(&news.lock);
    assert_int_equal(r, 0);
}

static unsigned seen(void)
{
    pthread_mutex_lock(&news.lock);
    unsigned n = news.seen;
    pthread_mutex_unlock(&news.lock);
    return n;
}

static void test_changes_are_noticed(void **state)
{
    (void)state;
    const struct prefix v4 = prefix_from("10.1.0.1/16");
    struct watch *w;
    must(watch_start(on_change, NULL, &w, &err));
    must(link_create(l, BRIDGE, &err));
    wait_for_more_than(0);
    must(link_add_address(l, BRIDGE, &v4, &err));
    unsigned before = seen();
    must(link_delete_address(l, BRIDGE, &v4, &err));
    wait_for_more_than(before);
    before = seen();
    must(link_delete(l, BRIDGE, &err));
    wait_for_more_than(before);
    watch_stop(w);
    assert_null(watch_stop(NULL));
}

int main(void)
{
    suite_space_enter();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_bridge_comes_and_goes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_addresses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_not_ours, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lists, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_changes_are_noticed, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
