#include "base/file.h"
#include "base/idiom.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"

static struct arena arena;
static const char *folder;

static const char *path_of(const char *name)
{
    return str_cstr(&arena, arena_printf(&arena, "%s/%s", folder, name));
}

static int make_folder(void **state)
{
    (void)state;
    arena_init(&arena);
    const char *tmp = getenv("TMPDIR");
    struct str pattern = arena_printf(&arena, "%s/file_test.XXXXXX", tmp ? tmp : "/tmp");
    folder = mkdtemp((char *)str_cstr(&arena, pattern));
    return folder ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink(path_of("a"));
    (void)rmdir(path_of("open"));
    (void)rmdir(path_of("private"));
    int r = rmdir(folder);
    arena_done(&arena);
    return r;
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    for (size_t n = 0; n < 100000; n = n * 3 + 1) {
        autobuf want = { 0 };
        autobuf got = { 0 };
        for (size_t i = 0; i < n; i++)
            buf_byte(&want, (char)(i * 7));
        assert_int_equal(file_write_atomic(path_of("a"), buf_str(&want), 0600, FILE_DURABLE, &err),
                         0);
        assert_int_equal(file_read(path_of("a"), n, &got, &err), 0);
        assert_true(str_eq(buf_str(&got), buf_str(&want)));
    }
    struct stat st;
    assert_int_equal(stat(path_of("a"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_not_equal(access(path_of("a.tmp"), F_OK), 0);
}

static void too_large_and_missing_are_named(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    autobuf got = { 0 };
    assert_int_equal(file_write_atomic(path_of("a"), STR("12345"), 0600, FILE_DURABLE, &err), 0);
    assert_int_equal(file_read(path_of("a"), 4, &got, &err), -ERR_TOO_LARGE);
    assert_int_equal(file_read(path_of("missing"), 4, &got, &err), -ERR_NOT_FOUND);
    assert_non_null(memmem(err.msg.p, err.msg.n, "missing", 7));
    assert_null(got.p);
    assert_int_equal(file_write_atomic(path_of("missing/a"), STR("x"), 0600, FILE_DURABLE, &err),
                     -ERR_NOT_FOUND);
    assert_int_equal(file_sync_dir(path_of("missing"), &err), -ERR_NOT_FOUND);
}

static void private_folders_stay_private(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    assert_int_equal(file_private_dir(path_of("private"), &err), 0);
    assert_int_equal(file_private_dir(path_of("private"), &err), 0);
    assert_int_equal(file_sync_dir(path_of("private"), &err), 0);
    assert_int_equal(mkdir(path_of("open"), 0700), 0);
    assert_int_equal(chmod(path_of("open"), 0755), 0);
    assert_int_equal(file_private_dir(path_of("open"), &err), -ERR_FORBIDDEN);
    assert_int_equal(file_private_dir(path_of("a"), &err), -ERR_FORBIDDEN);
}

static bool says(const struct err *err, const char *words)
{
    return memmem(err->msg.p, err->msg.n, words, strlen(words)) != NULL;
}

/* A write that fails leaves what was there, and nothing beside it. */
static void a_failed_write_leaves_nothing(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    const char *taken = path_of("taken");
    assert_int_equal(mkdir(taken, 0700), 0); /* a file cannot take the place of a folder */
    assert_int_equal(file_write_atomic(taken, STR("x"), 0600, FILE_CHEAP, &err), -ERR_IO);
    assert_true(says(&err, "rename ") && says(&err, "/taken"));
    assert_int_equal(access(path_of("taken.tmp"), F_OK), -1);
    assert_int_equal(rmdir(taken), 0);

    assert_int_equal(mkdir(path_of("a.tmp"), 0700), 0); /* nor can the one that is written first */
    assert_int_equal(file_write_atomic(path_of("a"), STR("y"), 0600, FILE_CHEAP, &err), -ERR_IO);
    assert_true(says(&err, "open ") && says(&err, "/a.tmp"));
    assert_int_equal(rmdir(path_of("a.tmp")), 0);
    autobuf got = { 0 };
    assert_int_equal(file_read(path_of("a"), 100, &got, &err), 0);
    assert_true(str_eq(buf_str(&got), STR("12345")));
}

static void keys_of_others_are_refused(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    static const unsigned modes[] = { 0640, 0604, 0610, 0666 };
    assert_int_equal(file_check_private(path_of("a"), &err), 0);
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        assert_int_equal(chmod(path_of("a"), modes[i]), 0);
        assert_int_equal(file_check_private(path_of("a"), &err), -ERR_FORBIDDEN);
        assert_true(says(&err, "use chmod 600"));
    }
    assert_int_equal(chmod(path_of("a"), 0400), 0);
    assert_int_equal(file_check_private(path_of("a"), &err), 0);
    assert_int_equal(file_check_private(path_of("missing"), &err), -ERR_NOT_FOUND);
    assert_int_equal(file_private_dir(path_of("missing/below"), &err), -ERR_NOT_FOUND);
    assert_true(says(&err, "make folder "));
}

static void a_folder_is_not_read_as_a_file(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    autobuf got = { 0 };
    assert_int_equal(file_read(folder, 100, &got, &err), -ERR_IO);
    assert_true(says(&err, "read "));
    assert_int_equal(file_sync_dir(path_of("a"), &err), -ERR_IO); /* nor a file as a folder */
}

/* The disk is full: what is written is not there. */
static void a_full_disk_is_told_apart(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    autoclose int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        skip();
    assert_int_equal(file_write_all(fd, STR("x"), &err), -ERR_NO_SPACE);
}

static void write_to_a_closed_file_fails(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    assert_int_equal(file_write_all(-1, STR("x"), &err), -ERR_IO);
    assert_int_equal(file_write_all(-1, STR(""), &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(too_large_and_missing_are_named),
        cmocka_unit_test(private_folders_stay_private),
        cmocka_unit_test(a_failed_write_leaves_nothing),
        cmocka_unit_test(keys_of_others_are_refused),
        cmocka_unit_test(a_folder_is_not_read_as_a_file),
        cmocka_unit_test(a_full_disk_is_told_apart),
        cmocka_unit_test(write_to_a_closed_file_fails),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
