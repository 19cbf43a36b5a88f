/* cni_test.c - what the files say, and that they are written whole and only if need be. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sampan/value.h>

#include "cni.h"

#define BRIDGE "net-00ff12ab9c"

static char folder[64];
static struct spn_err err;

static int set_up(void **state)
{
    *state = spn_arena_new();
    snprintf(folder, sizeof(folder), "/tmp/sampan-cni.XXXXXX");
    assert_non_null(mkdtemp(folder));
    return 0;
}

static int tear_down(void **state)
{
    spn_arena_free(*state);
    return rmdir(folder);
}

static struct plan_want want_of(const char *cidr, const char *gateway)
{
    struct plan_spec spec = { .cidr = spn_text_of(cidr),
                              .gateway = spn_text_of(gateway),
                              .mtu = 1400 };
    struct plan_want want;
    struct plan_refusal why;
    assert_true(plan_read(SPN_TEXT("shop/front"), &spec, &want, &why));
    return want;
}

static void check_text(const struct spn_value *v, const char *expected)
{
    struct spn_text t = spn_value_text(v);
    if (!spn_text_eq(t, spn_text_of(expected)))
        fail_msg("%.*s is not %s", (int)t.n, t.p, expected);
}

static void test_what_it_says(void **state)
{
    struct spn_arena *a = *state;
    struct plan_want want = want_of("10.1.0.0/16", "10.1.0.1");
    struct spn_value *list;
    assert_int_equal(
        spn_value_read_json(a, cni_text(a, SPN_TEXT("shop/front"), &want), &list, &err), 0);
    check_text(spn_value_get(list, "name"), "shop.front");
    const struct spn_value *plugin = spn_value_at(spn_value_get(list, "plugins"), 0);
    check_text(spn_value_get(plugin, "type"), "bridge");
    check_text(spn_value_get(plugin, "bridge"), want.bridge);
    assert_false(spn_value_is_true(spn_value_get(plugin, "isGateway")));
    int64_t mtu = 0;
    assert_true(spn_value_int(spn_value_get(plugin, "mtu"), &mtu));
    assert_int_equal(mtu, 1400);
    const struct spn_value *ipam = spn_value_get(plugin, "ipam");
    const struct spn_value *range = spn_value_at(spn_value_at(spn_value_get(ipam, "ranges"), 0), 0);
    check_text(spn_value_get(range, "subnet"), "10.1.0.0/16");
    check_text(spn_value_get(range, "gateway"), "10.1.0.1");
    check_text(spn_value_dig(spn_value_at(spn_value_get(ipam, "routes"), 0), "dst"), "0.0.0.0/0");

    want = want_of("fd00::/64", "fd00::1");
    struct spn_text v6 = cni_text(a, SPN_TEXT("shop/front"), &want);
    assert_non_null(memmem(v6.p, v6.n, "\"::/0\"", 6));
}

static void note_bridge(void *arg, const char *bridge)
{
    size_t *n = arg;
    assert_string_equal(bridge, BRIDGE);
    ++*n;
}

static void touch(const char *name, char *path)
{
    snprintf(path, 128, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
}

static void test_files(void **state)
{
    (void)state;
    char foreign[128], short_name[128];
    touch("10-mine.conflist", foreign);
    touch("90-net-.conflist", short_name);
    size_t n = 0;
    assert_int_equal(cni_write(folder, BRIDGE, SPN_TEXT("one\n"), &err), 1);
    assert_int_equal(cni_write(folder, BRIDGE, SPN_TEXT("one\n"), &err), 0);
    assert_int_equal(cni_write(folder, BRIDGE, SPN_TEXT("two, longer\n"), &err), 1);
    assert_int_equal(cni_each_bridge(folder, note_bridge, &n, &err), 0);
    assert_int_equal(n, 1);
    assert_int_equal(cni_remove(folder, BRIDGE, &err), 0);
    assert_int_equal(cni_remove(folder, BRIDGE, &err), 0);
    assert_int_equal(cni_each_bridge(folder, note_bridge, &n, &err), 0);
    assert_int_equal(n, 1);
    assert_int_equal(unlink(foreign), 0);
    assert_int_equal(unlink(short_name), 0);
}

static void test_no_folder(void **state)
{
    (void)state;
    size_t n = 0;
    assert_int_equal(cni_write("/nowhere/at/all", BRIDGE, SPN_TEXT("x"), &err), -SPN_FILE);
    assert_int_equal(cni_remove("/nowhere/at/all", BRIDGE, &err), 0);
    assert_int_equal(cni_each_bridge("/nowhere/at/all", note_bridge, &n, &err), 0);
    assert_int_equal(n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_it_says, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_folder, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
