/* Parts of volumes: nothing outside of the volume is reached, whatever links say. */
#include "node/pod/sub_path.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "node/pod/mount_point.h"
#include "node/pod/pod_spec.h"
#include "node/pod/suite_pod.h"

static void link_to(struct arena *a, struct str folder, const char *name, const char *target)
{
    assert_int_equal(symlink(target, str_cstr(a, path_join(a, folder, str_of(name)))), 0);
}

static struct str make_volume(struct arena *a, struct str top)
{
    struct str v = path_join(a, top, STR("v"));
    suite_write(a, top, "secret", "outside");
    suite_write(a, v, "..2026/k", "inside");
    suite_write(a, v, "dir/f", "deep");
    link_to(a, v, "..data", "..2026");
    link_to(a, v, "k", "..data/k");
    link_to(a, v, "up", "../secret");
    link_to(a, v, "root", "/etc");
    link_to(a, v, "dangling", "nowhere");
    link_to(a, v, "self", str_cstr(a, path_join(a, v, STR("dir"))));
    return v;
}

static void test_open(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        bool good;
    } rows[] = {
        { "k", true },         { "dir/f", true },
        { "dir", true },       { "self/f", true },
        { "up", false },       { "root", false },
        { "dangling", false }, { "root/passwd", false },
        { "none", false },     { "dir/../../secret", false },
    };
    struct arena a;
    arena_init(&a);
    struct str top = suite_folder(&a), v = make_volume(&a, top);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autoclose int fd = sub_path_open(&a, v, str_of(rows[i].path));
        assert_int_equal(fd >= 0, rows[i].good);
    }
    suite_folder_remove(&a, top);
    arena_done(&a);
}

static void test_inside(void **state)
{
    (void)state;
    static const struct {
        const char *path, *text; /* NULL: it cannot be opened */
    } rows[] = {
        { "k", "inside" },
        { "up", NULL }, /* ".." of the root is the root, which has no such file */
        { "root/passwd", NULL },
        { "../secret", NULL },
    };
    struct arena a;
    arena_init(&a);
    struct str top = suite_folder(&a), v = make_volume(&a, top);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autobuf text = { 0 };
        autoclose int fd = sub_path_open_inside(&a, v, str_of(rows[i].path));
        assert_int_equal(fd >= 0, rows[i].text != NULL);
        if (fd < 0)
            continue;
        assert_int_equal(sub_path_read(fd, 100, &text), 0);
        assert_string_equal(str_cstr(&a, buf_str(&text)), rows[i].text);
        buf_reset(&text);
        assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
        assert_int_equal(sub_path_read(fd, 3, &text), -1); /* past the bound */
    }
    suite_folder_remove(&a, top);
    arena_done(&a);
}

static void test_make(void **state)
{
    (void)state;
    struct arena a;
    struct stat st;
    arena_init(&a);
    struct str top = suite_folder(&a), v = make_volume(&a, top);
    assert_int_equal(chmod(str_cstr(&a, v), 02770), 0);
    assert_int_equal(sub_path_make(&a, v, STR("x/./y/z")), 0);
    assert_int_equal(stat(str_cstr(&a, path_join(&a, v, STR("x/y/z"))), &st), 0);
    assert_int_equal(st.st_mode & 07777, 02770);
    assert_int_equal(sub_path_make(&a, v, STR("self/new")), 0);
    assert_int_equal(access(str_cstr(&a, path_join(&a, v, STR("dir/new"))), F_OK), 0);
    assert_int_equal(sub_path_make(&a, v, STR("root/sampan-no")), -1);
    assert_int_equal(access("/etc/sampan-no", F_OK), -1);
    assert_int_equal(sub_path_make(&a, v, STR("dangling")), -1);
    assert_int_equal(errno, EEXIST);
    suite_folder_remove(&a, top);
    arena_done(&a);
}

static void test_bind(void **state)
{
    (void)state;
    struct arena a;
    if (!suite_can_mount())
        skip();
    arena_init(&a);
    struct str top = suite_folder(&a), v = make_volume(&a, top);
    struct str target = path_join(&a, top, STR("targets/c/0"));
    assert_int_equal(sub_path_bind(&a, v, STR("k"), target), 0);
    assert_string_equal(str_cstr(&a, suite_read(&a, top, "targets/c/0")), "inside");
    assert_true(mount_point_is(str_cstr(&a, target)));
    assert_int_equal(sub_path_bind(&a, v, STR("k"), target), 0); /* as it is */
    /* A new version of the file, then a folder in its place. */
    suite_write(&a, v, "..2027/k", "newer");
    assert_int_equal(unlink(str_cstr(&a, path_join(&a, v, STR("..data")))), 0);
    link_to(&a, v, "..data", "..2027");
    assert_int_equal(sub_path_bind(&a, v, STR("k"), target), 0);
    assert_string_equal(str_cstr(&a, suite_read(&a, top, "targets/c/0")), "newer");
    assert_int_equal(sub_path_bind(&a, v, STR("dir"), target), 0);
    assert_string_equal(str_cstr(&a, suite_read(&a, top, "targets/c/0/f")), "deep");
    assert_int_equal(sub_path_bind(&a, v, STR("root"), target), -1);
    suite_folder_remove(&a, top);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_inside),
        cmocka_unit_test(test_make),
        cmocka_unit_test(test_bind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
