#include "main/instance.h"

#include <sys/wait.h>

#include "base/file.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "main/folder_test.h"

static const char *folder_with_mode(const char *name, mode_t mode)
{
    const char *path = path_of(name);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

static void default_folder_comes_from_the_environment(void **state)
{
    (void)state;
    setenv("XDG_STATE_HOME", "/state", 1);
    setenv("HOME", "/home/me", 1);
    assert_string_equal(instance_dir(&arena, "/given"), "/given");
    assert_string_equal(instance_dir(&arena, NULL), "/state/sampan");
    setenv("XDG_STATE_HOME", "", 1);
    assert_string_equal(instance_dir(&arena, NULL), "/home/me/.local/state/sampan");
    unsetenv("XDG_STATE_HOME");
    setenv("HOME", "", 1);
    assert_null(instance_dir(&arena, NULL));
    unsetenv("HOME");
    assert_null(instance_dir(&arena, NULL));
}

static void new_folder_is_private(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    autoclose int lock = instance_claim(path_of("up/above/new"), &err);
    assert_true(lock >= 0);
    assert_int_equal(mode_of(path_of("up/above/new")), 0700);
    assert_int_equal(mode_of(path_of("up/above/new/sampan.pid")), 0600);

    autoclose int slash = instance_claim(path_of("slash//"), &err);
    assert_true(slash >= 0);
    assert_int_equal(mode_of(path_of("slash")), 0700);
}

static void empty_open_folder_is_made_private(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    const mode_t modes[] = { 0755, 0777, 0750, 0701 };
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        const char *path = folder_with_mode(arena_printf(&arena, "open%zu", i).p, modes[i]);
        autoclose int lock = instance_claim(path, &err);
        assert_true(lock >= 0);
        assert_int_equal(mode_of(path), 0700);
    }
}

static void open_folder_with_files_is_refused(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    const char *path = folder_with_mode("full", 0755);
    assert_int_equal(file_write_atomic(path_of("full/.hidden"), STR("x"), 0600, FILE_CHEAP, &err),
                     0);
    assert_int_equal(instance_claim(path, &err), -ERR_FORBIDDEN);
    assert_says(&err, "open to other users");
    assert_int_equal(mode_of(path), 0755);
    assert_int_not_equal(access(path_of("full/sampan.pid"), F_OK), 0);
}

static void file_in_place_of_a_folder_is_refused(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    assert_int_equal(file_write_atomic(path_of("file"), STR("x"), 0644, FILE_CHEAP, &err), 0);
    assert_int_equal(instance_claim(path_of("file"), &err), -ERR_FORBIDDEN);
    assert_says(&err, "not a folder");
    assert_int_equal(mode_of(path_of("file")), 0644);
}

static void claim_is_seen_until_it_is_given_back(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct instance in = { .running = true };
    assert_int_equal(instance_look(&arena, path_of("mine"), &in, &err), 0);
    assert_false(in.running);

    int lock = instance_claim(path_of("mine"), &err);
    assert_true(lock >= 0);
    assert_int_equal(instance_look(&arena, path_of("mine"), &in, &err), 0);
    assert_true(in.running);
    assert_int_equal(in.address.n, 0);

    assert_int_equal(instance_announce(lock, STR("127.0.0.1:16443"), &err), 0);
    assert_int_equal(instance_announce(lock, STR("127.0.0.1:6443"), &err), 0);
    assert_int_equal(instance_look(&arena, path_of("mine"), &in, &err), 0);
    assert_int_equal(in.pid, getpid());
    assert_true(str_eq(in.address, STR("127.0.0.1:6443")));

    assert_int_equal(instance_claim(path_of("mine"), &err), -ERR_CONFLICT);
    assert_says(&err, arena_printf(&arena, "process %ld", (long)getpid()).p);

    close(lock);
    assert_int_equal(instance_look(&arena, path_of("mine"), &in, &err), 0);
    assert_false(in.running);
}

/* The kernel gives the lock back, however the process ends. */
static void dead_process_holds_nothing(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    const char *path = path_of("dead");
    pid_t child = fork();
    if (child == 0) {
        int lock = instance_claim(path, &err);
        _exit(lock >= 0 && instance_announce(lock, STR("127.0.0.1:1"), &err) == 0 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    struct instance in;
    assert_int_equal(instance_look(&arena, path, &in, &err), 0);
    assert_false(in.running);
    autoclose int lock = instance_claim(path, &err);
    assert_true(lock >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_folder_comes_from_the_environment),
        cmocka_unit_test(new_folder_is_private),
        cmocka_unit_test(empty_open_folder_is_made_private),
        cmocka_unit_test(open_folder_with_files_is_refused),
        cmocka_unit_test(file_in_place_of_a_folder_is_refused),
        cmocka_unit_test(claim_is_seen_until_it_is_given_back),
        cmocka_unit_test(dead_process_holds_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
