/* Files that are given to a pod's group. */
#include "node/volume/ownership.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "node/pod/pod_spec.h"
#include "node/pod/suite_pod.h"

enum { GROUP = 3000 };

static struct stat look(struct arena *a, struct str folder, const char *name)
{
    struct stat st;
    assert_int_equal(lstat(str_cstr(a, path_join(a, folder, str_of(name))), &st), 0);
    return st;
}

static void test_group(void **state)
{
    (void)state;
    struct arena a;
    if (geteuid() != 0)
        skip();
    arena_init(&a);
    struct str top = suite_folder(&a), v = path_join(&a, top, STR("v"));
    suite_write(&a, top, "outside", "x");
    suite_write(&a, v, "d/f", "x");
    assert_int_equal(symlink("../outside", str_cstr(&a, path_join(&a, v, STR("link")))), 0);
    assert_int_equal(chmod(str_cstr(&a, path_join(&a, v, STR("d/f"))), 0600), 0);
    assert_int_equal(ownership_set(str_cstr(&a, v), GROUP, false, false), 0);
    assert_int_equal(look(&a, v, "d/f").st_gid, GROUP);
    assert_int_equal(look(&a, v, "d/f").st_mode & 07777, 0660);
    assert_int_equal(look(&a, v, "d").st_mode & 07777, 02775);
    assert_int_equal(look(&a, v, "link").st_gid, GROUP);
    assert_int_equal(look(&a, top, "outside").st_gid, 0);
    assert_int_equal(look(&a, top, "outside").st_mode & 07777, 0644);

    /* The top is right: what lies in it is left alone, if that is wanted. */
    assert_int_equal(chmod(str_cstr(&a, path_join(&a, v, STR("d/f"))), 0600), 0);
    assert_int_equal(ownership_set(str_cstr(&a, v), GROUP, false, true), 0);
    assert_int_equal(look(&a, v, "d/f").st_mode & 07777, 0600);
    assert_int_equal(ownership_set(str_cstr(&a, v), GROUP + 1, true, true), 0);
    assert_int_equal(look(&a, v, "d/f").st_mode & 07777, 0640);
    suite_folder_remove(&a, top);
    arena_done(&a);
}

static void test_deep(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct str top = suite_folder(&a);
    int fd = open(str_cstr(&a, top), O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (unsigned i = 0; i <= LIMIT_VOLUME_DEPTH; i++) {
        assert_int_equal(mkdirat(fd, "d", 0700), 0);
        const int next = openat(fd, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
        (void)close(fd);
        fd = next;
    }
    (void)close(fd);
    assert_int_equal(ownership_set(str_cstr(&a, top), (int64_t)getegid(), false, false), -1);
    assert_int_equal(errno, ENAMETOOLONG);
    suite_folder_remove(&a, top);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_group),
        cmocka_unit_test(test_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
