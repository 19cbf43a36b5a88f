/* Removal of what pods leave behind. */
#include "node/volume/tree_remove.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "node/pod/mount_point.h"
#include "node/pod/pod_spec.h"
#include "node/pod/suite_pod.h"

static void test_links(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct str top = suite_folder(&a), tree = path_join(&a, top, STR("tree"));
    suite_write(&a, top, "kept/file", "kept");
    suite_write(&a, tree, "a/b/file", "x");
    assert_int_equal(symlink("../../kept", str_cstr(&a, path_join(&a, tree, STR("a/link")))), 0);
    assert_int_equal(mkfifo(str_cstr(&a, path_join(&a, tree, STR("pipe"))), 0600), 0);
    assert_int_equal(tree_remove(str_cstr(&a, tree), &err), 0);
    assert_int_equal(access(str_cstr(&a, tree), F_OK), -1);
    assert_string_equal(str_cstr(&a, suite_read(&a, top, "kept/file")), "kept");
    assert_int_equal(tree_remove(str_cstr(&a, tree), &err), 0); /* there is none */
    assert_int_equal(symlink("kept", str_cstr(&a, tree)), 0);
    assert_int_equal(tree_remove(str_cstr(&a, tree), &err), 0);
    assert_string_equal(str_cstr(&a, suite_read(&a, top, "kept/file")), "kept");
    suite_folder_remove(&a, top);
    arena_done(&a);
}

/* Deeper than any path can be long, and than a process may have descriptors. */
static void test_deep(void **state)
{
    (void)state;
    enum { DEPTH = 3000 };
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct str top = suite_folder(&a);
    const char *tree = str_cstr(&a, path_join(&a, top, STR("tree")));
    assert_int_equal(mkdir(tree, 0700), 0);
    int fd = open(tree, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < DEPTH; i++) {
        assert_int_equal(mkdirat(fd, "deep", 0700), 0);
        const int next = openat(fd, "deep", O_PATH | O_DIRECTORY | O_CLOEXEC);
        assert_true(next >= 0);
        (void)close(fd);
        fd = next;
    }
    (void)close(openat(fd, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    (void)close(fd);
    assert_int_equal(tree_remove(tree, &err), 0);
    assert_int_equal(access(tree, F_OK), -1);
    suite_folder_remove(&a, top);
    arena_done(&a);
}

static void test_mounts(void **state)
{
    (void)state;
    struct arena a;
    if (!suite_can_mount())
        skip();
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct str top = suite_folder(&a), tree = path_join(&a, top, STR("tree"));
    suite_write(&a, top, "host/file", "kept");
    suite_write(&a, tree, "a/in side/x", "x");
    suite_write(&a, tree, "one", "x");
    const char *inside = str_cstr(&a, path_join(&a, tree, STR("a/in side")));
    const char *host = str_cstr(&a, path_join(&a, top, STR("host")));
    assert_int_equal(mount(host, inside, NULL, MS_BIND, NULL), 0);
    assert_true(mount_point_is(inside));
    /* What is mounted is not entered. */
    assert_true(tree_remove(str_cstr(&a, tree), &err) < 0);
    assert_string_equal(str_cstr(&a, suite_read(&a, top, "host/file")), "kept");
    assert_int_equal(mount("tmpfs", str_cstr(&a, path_join(&a, tree, STR("a"))), "tmpfs", 0, NULL),
                     0);
    err_clear(&err);
    assert_int_equal(tree_unmount_and_remove(&a, tree, &err), 0);
    assert_int_equal(access(str_cstr(&a, tree), F_OK), -1);
    assert_string_equal(str_cstr(&a, suite_read(&a, top, "host/file")), "kept");
    suite_folder_remove(&a, top);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_mounts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
