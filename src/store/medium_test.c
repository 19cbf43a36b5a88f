/* What the log asks of a medium, of a disk and of memory. */
#include "store/medium.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "store/failpoint.h"
#include "store/suite_fixture.h"

static struct arena arena;
static struct err err;
static char dir[64];

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    err = ERR_INIT(&arena);
    (void)snprintf(dir, sizeof(dir), "/tmp/sampan-medium-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    remove_tree(dir);
    arena_done(&arena);
    return 0;
}

static const char *in_dir(const char *name)
{
    return str_cstr(&arena, arena_printf(&arena, "%s/%s", dir, name));
}

static void segments_are_named_so_that_they_sort(void **state)
{
    (void)state;
    assert_string_equal(medium_path(&arena, "/d", 2), "/d/00000000000000000002.log");
    assert_string_equal(medium_path(&arena, "/d", UINT64_MAX), "/d/18446744073709551615.log");
    assert_true(strcmp(medium_path(&arena, "/d", 9), medium_path(&arena, "/d", 10)) < 0);
}

static void a_file_gets_its_place_when_it_is_ready(void **state)
{
    (void)state;
    autoclose int fd = medium_disk.make(dir, "new.tmp", &err);
    assert_true(fd >= 0);
    struct stat made, placed;
    assert_int_equal(fstat(fd, &made), 0);
    assert_int_equal(made.st_mode & 07777, 0600);
    assert_int_equal(access(medium_path(&arena, dir, 2), F_OK), -1);
    assert_int_equal(medium_disk.sync(fd), 0);
    assert_int_equal(medium_disk.place(dir, "new.tmp", 2, &err), 0);
    assert_int_equal(access(in_dir("new.tmp"), F_OK), -1);
    assert_int_equal(stat(medium_path(&arena, dir, 2), &placed), 0);
    assert_int_equal(placed.st_ino, made.st_ino);

    assert_int_equal(medium_disk.drop(dir, 2, &err), 0);
    assert_int_equal(access(medium_path(&arena, dir, 2), F_OK), -1);
    assert_int_equal(medium_disk.drop(dir, 2, &err), 0); /* who crashed before may do it again */
    assert_int_equal(medium_disk.sync_dir(dir, &err), 0);
}

/* Somebody may still write to the one of that name: it must not become the new one. */
static void a_new_file_is_never_an_old_one(void **state)
{
    (void)state;
    autoclose int first = medium_disk.make(dir, "new.tmp", &err);
    autoclose int second = medium_disk.make(dir, "new.tmp", &err);
    assert_true(first >= 0 && second >= 0);
    assert_int_equal(write(first, "old", 3), 3);
    struct stat st;
    assert_int_equal(fstat(second, &st), 0);
    assert_int_equal(st.st_size, 0);
    assert_int_equal(fstat(first, &st), 0);
    assert_int_equal(st.st_nlink, 0);
}

static void errors_name_the_file(void **state)
{
    (void)state;
    assert_int_equal(medium_disk.place(dir, "new.tmp", 2, &err), -ERR_NOT_FOUND);
    assert_true(str_starts(err.msg, STR("rename ")) && strstr(err.msg.p, "/new.tmp"));
    assert_int_equal(mkdir(medium_path(&arena, dir, 3), 0700), 0);
    assert_int_equal(medium_disk.drop(dir, 3, &err), -ERR_IO);
    assert_non_null(strstr(err.msg.p, "00000000000000000003.log"));
    assert_int_equal(medium_disk.make("/nowhere/at/all", "new.tmp", &err), -ERR_NOT_FOUND);
    assert_int_equal(medium_disk.sync_dir(in_dir("none"), &err), -ERR_NOT_FOUND);

    failpoint_arm("wal-make", ENOSPC, 1, 1);
    assert_int_equal(medium_disk.make(dir, "new.tmp", &err), -ERR_NO_SPACE);
    failpoint_arm("wal-sync", EIO, 1, 2);
    assert_int_equal(medium_disk.sync(-1), EIO);
    assert_int_equal(medium_memory.sync(-1), EIO);
    assert_int_equal(medium_disk.sync(-1), EBADF);
}

static void a_path_that_is_too_long_is_refused(void **state)
{
    (void)state;
    autofree char *far = mem_zalloc(5001);
    memset(far, 'd', 5000);
    assert_int_equal(medium_disk.make(far, "new.tmp", &err), -ERR_INVALID);
    assert_int_equal(medium_disk.place(far, "new.tmp", 2, &err), -ERR_INVALID);
    assert_int_equal(medium_disk.drop(far, 2, &err), -ERR_INVALID);
    assert_non_null(strstr(err.msg.p, "is too long"));
    /* Where a short name fits and that of a segment does not. */
    far[4095 - strlen("/a")] = '\0';
    assert_int_equal(medium_disk.place(far, "a", 2, &err), -ERR_INVALID);
}

static void memory_leaves_nothing_in_the_folder(void **state)
{
    (void)state;
    assert_false(medium_memory.durable);
    autoclose int fd = medium_memory.make("/nowhere/at/all", "new.tmp", &err);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, "x", 1, 99), 1);
    assert_int_equal(medium_memory.sync(fd), 0);
    assert_int_equal(medium_memory.place("/nowhere/at/all", "new.tmp", 2, &err), 0);
    assert_int_equal(medium_memory.drop("/nowhere/at/all", 2, &err), 0);
    assert_int_equal(medium_memory.sync_dir("/nowhere/at/all", &err), 0);
    char byte;
    assert_int_equal(pread(fd, &byte, 1, 99), 1); /* readers keep what was dropped */
    assert_int_equal(byte, 'x');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(segments_are_named_so_that_they_sort, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_gets_its_place_when_it_is_ready, setup, teardown),
        cmocka_unit_test_setup_teardown(a_new_file_is_never_an_old_one, setup, teardown),
        cmocka_unit_test_setup_teardown(errors_name_the_file, setup, teardown),
        cmocka_unit_test_setup_teardown(a_path_that_is_too_long_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(memory_leaves_nothing_in_the_folder, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
