/* What the machine's own texts say. */
#include "node/register/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"

static void test_meminfo(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_there;
        uint64_t bytes;
    } rows[] = {
        { "MemTotal:       24684112 kB\nMemFree: 1 kB\n", true, UINT64_C(24684112) << 10 },
        { "MemFree: 1 kB\nMemTotal: 8 kB", true, 8192 },
        { "MemTotal: x kB\n", false, 0 },
        { "MemTotal: 99999999999999999999 kB\n", false, 0 },
        { "", false, 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint64_t bytes = 0;
        assert_int_equal(machine_meminfo(str_of(rows[i].text), STR("MemTotal"), &bytes),
                         rows[i].is_there);
        assert_int_equal(bytes, rows[i].bytes);
    }
}

static void test_os_release(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n",
          "Debian GNU/Linux 12 (bookworm)" },
        { "PRETTY_NAME='Tiny'\n", "Tiny" },
        { "PRETTY_NAME=Plain", "Plain" },
        { "NAME=x\n", "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_true(
            str_eq(machine_os_release(str_of(rows[i][0]), STR("PRETTY_NAME")), str_of(rows[i][1])));
}

static void test_this_one(void **state)
{
    (void)state;
    struct arena a;
    struct machine m;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    assert_int_equal(machine_read(&a, STR("/no/such/folder"), &m, &err), 0);
    assert_true(m.cores > 0 && m.memory_bytes > 0 && m.disk_bytes > 0);
    assert_true(m.kernel.n && m.architecture.n && m.hostname.n && m.boot_id.n);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meminfo),
        cmocka_unit_test(test_os_release),
        cmocka_unit_test(test_this_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
