/* Files that change all at once. */
#include "node/volume/atomic_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "node/pod/pod_spec.h"
#include "node/pod/suite_pod.h"

static void put(struct payload *p, const char *path, const char *data, unsigned mode)
{
    payload_put(p, (struct payload_file){ str_of(path), str_of(data), mode, false, 0 });
}

static struct str link_of(struct arena *a, struct str folder, const char *name)
{
    char text[256];
    const ssize_t n = readlink(str_cstr(a, path_join(a, folder, str_of(name))), text, sizeof(text));
    return arena_str(a, (struct str){ text, n > 0 ? (size_t)n : 0 });
}

static mode_t mode_of(struct arena *a, struct str folder, const char *name)
{
    struct stat st;
    assert_int_equal(stat(str_cstr(a, path_join(a, folder, str_of(name))), &st), 0);
    return st.st_mode & 07777;
}

static void test_updates(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct str f = suite_folder(&a);
    autopayload one = { .arena = &a }, two = { .arena = &a }, none = { .arena = &a };
    put(&one, "a", "1", 0644);
    put(&one, "dir//sub/b", "2", 0400);
    put(&one, "gone", "3", 0644);
    assert_int_equal(atomic_write(&a, f, &one, -1, &err), 0);
    assert_string_equal(str_cstr(&a, suite_read(&a, f, "a")), "1");
    assert_string_equal(str_cstr(&a, suite_read(&a, f, "dir/sub/b")), "2");
    assert_int_equal(mode_of(&a, f, "dir/sub/b"), 0400);
    assert_string_equal(str_cstr(&a, link_of(&a, f, "dir")), "..data/dir");
    struct str first = link_of(&a, f, "..data");
    assert_true(str_starts(first, STR("..2")));

    /* Nothing has changed: the very same folder. */
    assert_int_equal(atomic_write(&a, f, &one, -1, &err), 0);
    assert_string_equal(str_cstr(&a, link_of(&a, f, "..data")), str_cstr(&a, first));

    put(&two, "a", "new", 0644);
    put(&two, "dir/sub/b", "2", 0400);
    assert_int_equal(atomic_write(&a, f, &two, -1, &err), 0);
    assert_string_equal(str_cstr(&a, suite_read(&a, f, "a")), "new");
    assert_string_equal(str_cstr(&a, suite_read(&a, f, "gone")), "(none)");
    assert_int_equal(access(str_cstr(&a, path_join(&a, f, first)), F_OK), -1);

    /* What only goes away is a change as well. */
    struct str second = link_of(&a, f, "..data");
    assert_int_equal(atomic_write(&a, f, &none, -1, &err), 0);
    assert_string_not_equal(str_cstr(&a, link_of(&a, f, "..data")), str_cstr(&a, second));
    assert_string_equal(str_cstr(&a, link_of(&a, f, "a")), "");
    suite_folder_remove(&a, f);
    arena_done(&a);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *path, *error;
    } rows[] = {
        { "", "invalid path: must not be empty: \"\"" },
        { "/a", "invalid path: must be relative path: /a" },
        { "a/../b", "invalid path: must not contain '..': a/../b" },
        { "..data", "invalid path: must not start with '..': ..data" },
    };
    struct arena a;
    arena_init(&a);
    struct str f = suite_folder(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&a);
        autopayload p = { .arena = &a };
        put(&p, rows[i].path, "x", 0644);
        assert_true(atomic_write(&a, f, &p, -1, &err) < 0);
        assert_string_equal(str_cstr(&a, err.msg), rows[i].error);
    }
    suite_folder_remove(&a, f);
    arena_done(&a);
}

static void test_group(void **state)
{
    (void)state;
    struct arena a;
    struct stat st;
    if (geteuid() != 0)
        skip();
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct str f = suite_folder(&a);
    autopayload p = { .arena = &a };
    payload_put(&p, (struct payload_file){ STR("t"), STR("x"), 0600, true, 1000 });
    assert_int_equal(atomic_write(&a, f, &p, 3000, &err), 0);
    assert_int_equal(mode_of(&a, f, "t"), 0640);
    assert_int_equal(stat(str_cstr(&a, path_join(&a, f, STR("t"))), &st), 0);
    assert_int_equal(st.st_uid, 1000);
    assert_int_equal(st.st_gid, 3000);
    assert_int_equal(mode_of(&a, f, "..data") & 02550, 02550);
    suite_folder_remove(&a, f);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_updates),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
