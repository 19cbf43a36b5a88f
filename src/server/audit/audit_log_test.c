#include "server/audit/audit_log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/idiom.h"

static struct arena arena;
static struct clock_fake clock;
static char dir[] = "/tmp/sampan-audit-log.XXXXXX";
static const char *path;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
    assert_non_null(mkdtemp(dir));
    path = arena_printf(&arena, "%s/logs/audit.log", dir).p;
    clock_fake_init(&clock, INT64_C(1794819600) * NS_PER_SEC); /* 2026-11-16T09:00:00Z */
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    const char *remove_all = arena_printf(&arena, "rm -r %s", dir).p;
    assert_int_equal(system(remove_all), 0);
    arena_done(&arena);
    return 0;
}

static struct audit_log *start(uint64_t bytes, uint64_t backups, uint64_t days)
{
    struct err err = ERR_INIT(&arena);
    struct audit_log *l = NULL;
    const struct audit_log_options opt = { path, bytes, backups, days };
    if (audit_log_new(&opt, &clock.clock, &l, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return l;
}

static void add(struct audit_log *l, const char *line)
{
    assert_int_equal(audit_log_write(l, str_of(line), NULL), 0);
}

static void check(const char *name, const char *want)
{
    autobuf text = { 0 };
    const char *file = arena_printf(&arena, "%s/logs/%s", dir, name).p;
    assert_int_equal(file_read(file, 1 << 20, &text, NULL), 0);
    buf_byte(&text, '\0');
    assert_string_equal(text.p, want);
}

static size_t n_files(void)
{
    DIR *d = opendir(arena_printf(&arena, "%s/logs", dir).p);
    size_t n = 0;
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void lines_are_added(void **state)
{
    struct stat st;
    (void)state;
    struct audit_log *l = start(0, 0, 0);
    add(l, "one");
    audit_log_free(l);
    l = start(0, 0, 0);
    add(l, "two");
    audit_log_free(l);
    check("audit.log", "one\ntwo\n");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void a_large_file_is_put_aside(void **state)
{
    (void)state;
    struct audit_log *l = start(8, 0, 0);
    add(l, "one");
    add(l, "two"); /* fits just so */
    add(l, "three");
    clock_fake_advance(&clock, 1500 * NS_PER_MS);
    add(l, "four is larger than a file may be");
    audit_log_free(l);
    check("audit-2026-11-16T09-00-00.000.log", "one\ntwo\n");
    check("audit-2026-11-16T09-00-01.500.log", "three\n");
    check("audit.log", "four is larger than a file may be\n");
    l = start(8, 0, 0); /* what was there before counts */
    add(l, "five");
    add(l, "six"); /* within the same millisecond */
    audit_log_free(l);
    check("audit-2026-11-16T09-00-01.501.log", "four is larger than a file may be\n");
    check("audit-2026-11-16T09-00-01.502.log", "five\n");
}

static void only_some_are_kept(void **state)
{
    (void)state;
    struct audit_log *l = start(4, 2, 0);
    for (int i = 0; i < 6; i++) {
        add(l, "abc");
        clock_fake_advance(&clock, NS_PER_SEC);
    }
    audit_log_free(l);
    assert_int_equal(n_files(), 3);
    check("audit-2026-11-16T09-00-05.000.log", "abc\n");
    check("audit-2026-11-16T09-00-04.000.log", "abc\n");
}

static void old_ones_are_removed_and_others_are_not(void **state)
{
    (void)state;
    struct audit_log *l = start(4, 0, 2);
    const char *other = arena_printf(&arena, "%s/logs/audit-of-somebody-else-in-2020.log", dir).p;
    assert_int_equal(file_write_atomic(other, STR("x"), 0600, FILE_CHEAP, NULL), 0);
    for (int i = 0; i < 5; i++) {
        add(l, "abc");
        clock_fake_advance(&clock, 24 * 3600 * NS_PER_SEC);
    }
    audit_log_free(l);
    assert_int_equal(n_files(), 5);
    check("audit-2026-11-18T09-00-00.000.log", "abc\n");
    check("audit-of-somebody-else-in-2020.log", "x");
}

static void what_cannot_be_written_is_told(void **state)
{
    struct err err = ERR_INIT(&arena);
    struct audit_log *l = NULL;
    (void)state;
    const struct audit_log_options full = { .path = "/dev/full" };
    assert_int_equal(audit_log_new(&full, &clock.clock, &l, &err), 0);
    assert_true(audit_log_write(l, STR("x"), &err) < 0);
    audit_log_free(l);
    const struct audit_log_options folder = { .path = dir };
    assert_true(audit_log_new(&folder, &clock.clock, &l, &err) < 0);
    l = start(4, 0, 0);
    add(l, "abc");
    assert_int_equal(system(arena_printf(&arena, "rm -r %s/logs", dir).p), 0);
    err_clear(&err);
    assert_true(audit_log_write(l, STR("abc"), &err) < 0);
    assert_int_equal(mkdir(arena_printf(&arena, "%s/logs", dir).p, 0700), 0);
    audit_log_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_are_added, setup, teardown),
        cmocka_unit_test_setup_teardown(a_large_file_is_put_aside, setup, teardown),
        cmocka_unit_test_setup_teardown(only_some_are_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(old_ones_are_removed_and_others_are_not, setup, teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_written_is_told, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
