/* Control groups of pods: their names, and real ones where the system has and allows them. */
#include "node/pod/pod_cgroups.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "node/pod/cgroup_fs.h"
#include "node/pod/suite_pod.h"

#define GUARANTEED                                                                              \
    "{\"metadata\":{\"uid\":\"a-b\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{" \
    "\"requests\":{\"cpu\":\"1\",\"memory\":\"64Mi\"},\"limits\":{\"cpu\":\"1\",\"memory\":"    \
    "\"64Mi\"}}}]}}"
#define BEST_EFFORT "{\"metadata\":{\"uid\":\"a-b\"},\"spec\":{\"containers\":[{\"name\":\"c\"}]}}"

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *pod, *root;
        bool systemd;
        const char *name;
    } rows[] = {
        { GUARANTEED, "/", false, "/kubepods/poda-b" },
        { BEST_EFFORT, "/", false, "/kubepods/besteffort/poda-b" },
        { BEST_EFFORT, "/sampan", false, "/sampan/kubepods/besteffort/poda-b" },
        { BEST_EFFORT, "/", true,
          "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-poda_b.slice" },
        { GUARANTEED, "/", true, "/kubepods.slice/kubepods-poda_b.slice" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value pod = suite_json(&a, rows[i].pod);
        const struct node_facts node = { .cgroup_root = str_of(rows[i].root),
                                         .cgroup_systemd = rows[i].systemd,
                                         .cgroups_per_qos = true };
        assert_string_equal(str_cstr(&a, pod_cgroup_name(&node, &pod, &a)), rows[i].name);
    }
    arena_done(&a);
}

/* A process in the group, which removal has to end. */
static pid_t start_inside(struct arena *a, struct cgroup_fs *fs, struct str group)
{
    struct err err = ERR_INIT(a);
    const pid_t pid = fork();
    if (pid == 0) {
        (void)pause();
        _exit(0);
    }
    struct str text = arena_printf(a, "%d", (int)pid);
    assert_int_equal(cgroup_fs_write(fs, a, group, "memory", "cgroup.procs", text, &err), 0);
    return pid;
}

static void test_real(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct node_facts node = {
        .cgroup_root = arena_printf(&a, "/sampan-test-%d", (int)getpid()),
        .cgroup_v2 = access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0,
        .cgroups_per_qos = true,
        .allocatable = suite_json(&a, "{\"cpu\":\"2\",\"memory\":\"1Gi\"}"),
    };
    struct value pod = suite_json(&a, GUARANTEED);
    const struct value *pods[] = { &pod };
    struct str parent, *uids;
    struct cgroup_fs *fs;
    size_t n;
    if (cgroup_fs_find(&a, node.cgroup_v2, &fs, &err) < 0 ||
        pod_cgroups_sync(&node, pods, 1, &a, &err) < 0) {
        (void)cgroup_fs_remove(fs, &a, node.cgroup_root, &err);
        arena_done(&a);
        skip();
    }
    assert_int_equal(pod_cgroup_make(&node, &pod, &a, &parent, &err), 0);
    assert_int_equal(pod_cgroup_make(&node, &pod, &a, &parent, &err), 0); /* once more */
    assert_true(cgroup_fs_exists(fs, &a, parent));
    struct str file = arena_printf(&a, "/sys/fs/cgroup%s" STR_FMT, node.cgroup_v2 ? "" : "/memory",
                                   STR_ARG(parent));
    assert_string_equal(
        str_cstr(&a, suite_read(&a, file, node.cgroup_v2 ? "memory.max" : "memory.limit_in_bytes")),
        "67108864\n");
    assert_int_equal(pod_cgroup_list(&node, &a, &uids, &n, &err), 0);
    assert_int_equal(n, 1);
    assert_string_equal(str_cstr(&a, uids[0]), "a-b");
    const pid_t pid = start_inside(&a, fs, parent);
    int status = 0;
    /* Its parent, this process, has to take it away before the group is empty. */
    struct sigaction ignore = { .sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT };
    (void)sigaction(SIGCHLD, &ignore, NULL);
    assert_int_equal(pod_cgroup_remove(&node, STR("a-b"), &a, &err), 0);
    assert_false(cgroup_fs_exists(fs, &a, parent));
    (void)waitpid(pid, &status, 0);
    assert_int_equal(pod_cgroup_remove(&node, STR("a-b"), &a, &err), 0);
    assert_int_equal(cgroup_fs_remove(fs, &a, node.cgroup_root, &err), 0);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_real),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
