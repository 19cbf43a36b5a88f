/* Volumes of pods, made, brought up to date and removed. */
#include "node/volume/volumes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "node/pod/mount_point.h"
#include "node/pod/pod_spec.h"
#include "node/pod/suite_pod.h"

#define META                                                                                    \
    "\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"u-1\",\"labels\":{\"b\":\"2\"," \
    "\"a\":\"\\\"1\\\"\"}}"
#define MOUNTS \
    "\"containers\":[{\"name\":\"c\",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/v\"}]}]"
#define POD(volume) "{" META ",\"spec\":{" MOUNTS ",\"volumes\":[{\"name\":\"v\"," volume "}]}}"
#define WORLD                                                                                      \
    "{\"configmaps\":{\"cm\":{\"data\":{\"a\":\"1\",\"b\":\"2\"},\"binaryData\":{\"c\":\"AAE=\"}}" \
    "},"                                                                                           \
    "\"secrets\":{\"s\":{\"data\":{\"a\":\"c2VjcmV0\"}}},\"token\":\"tok\","                       \
    "\"persistentvolumeclaims\":{\"open\":{\"status\":{\"phase\":\"Pending\"}},\"dir\":"           \
    "{\"metadata\":{\"uid\":\"c1\"},\"spec\":{\"volumeName\":\"pv\"},\"status\":{\"phase\":"       \
    "\"Bound\"}},\"lost\":{\"metadata\":{\"uid\":\"c2\"},\"spec\":{\"volumeName\":\"pv\"},"        \
    "\"status\":{\"phase\":\"Bound\"}},\"p-v\":{\"metadata\":{\"uid\":\"c1\"},\"spec\":"           \
    "{\"volumeName\":\"pv\"},\"status\":{\"phase\":\"Bound\"}}},\"persistentvolumes\":{\"pv\":"    \
    "{\"metadata\":{\"name\":\"pv\"},\"spec\":{\"claimRef\":{\"uid\":\"c1\"},\"hostPath\":"        \
    "{\"path\":\"/nowhere\",\"type\":\"Directory\"}}}}}"

struct fixture {
    struct arena arena;
    struct str root;
    struct suite_world world;
    struct pod_objects objects;
    struct node_facts node;
    struct volumes *volumes;
};

static int set_up(void **state)
{
    static struct fixture f;
    f = (struct fixture){ 0 };
    arena_init(&f.arena);
    (void)suite_can_mount();
    f.root = suite_folder(&f.arena);
    f.world.world = suite_json(&f.arena, WORLD);
    f.objects = suite_objects(&f.world);
    f.node = (struct node_facts){ .name = STR("node"),
                                  .root_dir = f.root,
                                  .allocatable = suite_json(&f.arena, "{\"cpu\":\"2\",\"memory\":"
                                                                      "\"1Gi\"}") };
    f.volumes = volumes_new(&f.node, &f.objects);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    volumes_free(f->volumes);
    (void)umount2(str_cstr(&f->arena, f->root), MNT_DETACH);
    suite_folder_remove(&f->arena, f->root);
    arena_done(&f->arena);
    return 0;
}

static void test_faults(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *volume, *error;
    } rows[] = {
        { "\"configMap\":{\"name\":\"none\"}",
          "MountVolume.SetUp failed for volume \"v\" : configmap \"none\" not found" },
        { "\"configMap\":{\"name\":\"cm\",\"items\":[{\"key\":\"z\",\"path\":\"z\"}]}",
          "MountVolume.SetUp failed for volume \"v\" : configmap references non-existent config "
          "key: "
          "z" },
        { "\"secret\":{\"secretName\":\"s\",\"items\":[{\"key\":\"z\",\"path\":\"z\"}]}",
          "MountVolume.SetUp failed for volume \"v\" : references non-existent secret key: z" },
        { "\"projected\":{\"sources\":[{\"configMap\":{\"name\":\"x\"}},{\"secret\":{\"name\":"
          "\"y\"}}]}",
          "MountVolume.SetUp failed for volume \"v\" : [configmap \"x\" not found, secret \"y\" "
          "not "
          "found]" },
        { "\"downwardAPI\":{\"items\":[{\"path\":\"a\",\"resourceFieldRef\":{\"containerName\":"
          "\"z\","
          "\"resource\":\"limits.cpu\"}}]}",
          "MountVolume.SetUp failed for volume \"v\" : container z not found" },
        { "\"hostPath\":{\"path\":\"/nowhere\",\"type\":\"Directory\"}",
          "MountVolume.SetUp failed for volume \"v\" : hostPath type check failed, /nowhere is not "
          "a "
          "directory, unable to determine its type: path \"/nowhere\" does not exist" },
        { "\"hostPath\":{\"path\":\"/dev/null\",\"type\":\"File\"}",
          "MountVolume.SetUp failed for volume \"v\" : hostPath type check failed: /dev/null is "
          "not a "
          "file, it's a CharDevice" },
        { "\"hostPath\":{\"path\":\"/nowhere/f\",\"type\":\"FileOrCreate\"}",
          "MountVolume.SetUp failed for volume \"v\" : open /nowhere/f: no such file or "
          "directory" },
        { "\"hostPath\":{\"path\":\"/etc/passwd/x\",\"type\":\"DirectoryOrCreate\"}",
          "MountVolume.SetUp failed for volume \"v\" : mkdir /etc/passwd: not a directory" },
        { "\"hostPath\":{\"path\":\"/a/../b\"}", "MountVolume.SetUp failed for volume \"v\" : "
                                                 "invalid HostPath `/a/../b`: must not contain "
                                                 "'..'" },
        { "\"persistentVolumeClaim\":{\"claimName\":\"none\"}",
          "Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], failed "
          "to "
          "process volumes=[v]: error processing PVC n/none: failed to fetch PVC from API server: "
          "persistentvolumeclaim \"none\" not found" },
        { "\"persistentVolumeClaim\":{\"claimName\":\"open\"}",
          "Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], failed "
          "to "
          "process volumes=[v]: error processing PVC n/open: PVC is not bound" },
        { "\"persistentVolumeClaim\":{\"claimName\":\"lost\"}",
          "Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], failed "
          "to "
          "process volumes=[v]: error processing PVC n/lost: found PV object pv but its "
          "pv.Spec.ClaimRef.UID c1 does not point to claim.UID c2" },
        { "\"persistentVolumeClaim\":{\"claimName\":\"dir\"}",
          "MountVolume.SetUp failed for volume \"pv\" : hostPath type check failed, /nowhere is "
          "not a "
          "directory, unable to determine its type: path \"/nowhere\" does not exist" },
        { "\"ephemeral\":{}",
          "Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], failed "
          "to "
          "process volumes=[v]: PVC n/p-v was not created for pod n/p (pod is not owner)" },
        { "\"csi\":{\"driver\":\"d\"}",
          "MountVolume.SetUp failed for volume \"v\" : kubernetes.io/csi: mounter.SetUpAt failed "
          "to "
          "get CSI client: driver name d not found in the list of registered CSI drivers" },
        { "\"nfs\":{}", "MountVolume.SetUp failed for volume \"v\" : no volume plugin matched" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&f->arena);
        struct pod_volume *made;
        size_t n;
        struct value pod = suite_json(
            &f->arena, str_cstr(&f->arena, arena_printf(&f->arena,
                                                        "{" META ",\"spec\":{" MOUNTS
                                                        ",\"volumes\":[{\"name\":\"v\",%s}]}}",
                                                        rows[i].volume)));
        assert_true(volumes_make(f->volumes, &pod, &f->arena, &made, &n, &err) < 0);
        assert_string_equal(str_cstr(&f->arena, err.msg), rows[i].error);
    }
}

static void test_each_fault(void **state)
{
    struct fixture *f = *state;
    struct err err = ERR_INIT(&f->arena);
    struct pod_volume *made;
    size_t n;
    struct value pod = suite_json(
        &f->arena, "{" META ",\"spec\":{\"containers\":[{\"volumeMounts\":[{\"name\":\"x\"},{"
                   "\"name\":\"y\"},{\"name\":\"z\"}]}],\"volumes\":[{\"name\":\"x\",\"configMap\":"
                   "{\"name\":\"no\"}},{\"name\":\"y\",\"configMap\":{\"name\":\"cm\"}},{\"name\":"
                   "\"z\",\"secret\":{\"secretName\":\"no\"}}]}}");
    assert_true(volumes_make(f->volumes, &pod, &f->arena, &made, &n, &err) < 0);
    assert_int_equal(n, 3);
    assert_true(made[1].path.n && !made[2].path.n);
    assert_string_equal(str_cstr(&f->arena, err.causes->msg), str_cstr(&f->arena, err.msg));
    assert_string_equal(str_cstr(&f->arena, err.causes->next->msg),
                        "MountVolume.SetUp failed for volume \"z\" : secret \"no\" not found");
    assert_null(err.causes->next->next);
}

static struct pod_volume make(struct fixture *f, const char *text)
{
    struct err err = ERR_INIT(&f->arena);
    struct pod_volume *made;
    size_t n;
    struct value pod = suite_json(&f->arena, text);
    if (volumes_make(f->volumes, &pod, &f->arena, &made, &n, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    assert_int_equal(n, 1);
    return made[0];
}

static const char *read_in(struct fixture *f, struct pod_volume v, const char *name)
{
    return str_cstr(&f->arena, suite_read(&f->arena, v.path, name));
}

static void test_config_map(void **state)
{
    struct fixture *f = *state;
    struct stat st;
    struct pod_volume v = make(f, POD("\"configMap\":{\"name\":\"cm\",\"defaultMode\":288}"));
    assert_string_equal(read_in(f, v, "a"), "1");
    assert_int_equal(suite_read(&f->arena, v.path, "c").n, 2);
    assert_true(v.is_read_only && v.selinux_relabel);
    assert_int_equal(stat(str_cstr(&f->arena, path_join(&f->arena, v.path, STR("a"))), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0440);
    /* The map changes under the pod. */
    f->world.world = suite_json(&f->arena, "{\"configmaps\":{\"cm\":{\"data\":{\"a\":\"new\"}}}}");
    v = make(f, POD("\"configMap\":{\"name\":\"cm\",\"defaultMode\":288}"));
    assert_string_equal(read_in(f, v, "a"), "new");
    assert_string_equal(read_in(f, v, "b"), "(none)");
    v = make(f, POD("\"configMap\":{\"name\":\"none\",\"optional\":true}"));
    assert_string_equal(read_in(f, v, "a"), "(none)");
}

static void test_unused(void **state)
{
    struct fixture *f = *state;
    struct pod_volume v =
        make(f, "{" META
                ",\"spec\":{\"volumes\":[{\"name\":\"v\",\"configMap\":{\"name\":\"none\"}}]}}");
    assert_int_equal(v.path.n, 0);
}

static void test_empty_dir(void **state)
{
    struct fixture *f = *state;
    struct err err = ERR_INIT(&f->arena);
    struct stat st;
    uint64_t used = 0;
    static const char text[] = POD("\"emptyDir\":{\"sizeLimit\":\"4Ki\"}");
    struct value pod = suite_json(&f->arena, text);
    struct pod_volume v = make(f, text);
    assert_int_equal(stat(str_cstr(&f->arena, v.path), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0777);
    suite_write(&f->arena, v.path, "kept", "kept");
    assert_int_equal(chmod(str_cstr(&f->arena, v.path), 0700), 0);
    v = make(f, text);
    assert_string_equal(read_in(f, v, "kept"), "kept");
    assert_int_equal(stat(str_cstr(&f->arena, v.path), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700); /* the pod's own doing stays */
    char big[16384];
    memset(big, 'x', sizeof(big) - 1);
    big[sizeof(big) - 1] = 0;
    suite_write(&f->arena, v.path, "big", big);
    assert_string_equal(str_cstr(&f->arena, volumes_over_limit(f->volumes, &pod, &f->arena, &used)),
                        "v");
    assert_true(used > 4096);
    struct volume_usage usage;
    assert_int_equal(volumes_usage(&v, &usage, &err), 0);
    assert_true(usage.inodes_used == 3 && usage.used >= 16384 && usage.capacity > usage.available);
}

static void test_list_and_remove(void **state)
{
    struct fixture *f = *state;
    struct err err = ERR_INIT(&f->arena);
    struct str *uids;
    size_t n;
    assert_int_equal(volumes_list(f->volumes, &f->arena, &uids, &n, &err), 0);
    assert_int_equal(n, 0);
    (void)make(f, POD("\"emptyDir\":{}"));
    assert_int_equal(volumes_list(f->volumes, &f->arena, &uids, &n, &err), 0);
    assert_int_equal(n, 1);
    assert_string_equal(str_cstr(&f->arena, uids[0]), "u-1");
    assert_int_equal(volumes_remove(f->volumes, STR("u-1"), &f->arena, &err), 0);
    assert_int_equal(volumes_remove(f->volumes, STR("u-1"), &f->arena, &err), 0);
    assert_true(volumes_remove(f->volumes, STR("../x"), &f->arena, &err) < 0);
    assert_int_equal(volumes_list(f->volumes, &f->arena, &uids, &n, &err), 0);
    assert_int_equal(n, 0);
}

static void test_memory(void **state)
{
    struct fixture *f = *state;
    struct err err = ERR_INIT(&f->arena);
    if (!suite_can_mount())
        skip();
    struct pod_volume v = make(f, POD("\"secret\":{\"secretName\":\"s\"}"));
    assert_string_equal(read_in(f, v, "a"), "secret");
    assert_true(mount_point_is(str_cstr(&f->arena, v.path)));
    v = make(f, POD("\"downwardAPI\":{\"items\":[{\"path\":\"labels\",\"fieldRef\":{\"fieldPath\":"
                    "\"metadata.labels\"}},{\"path\":\"d/cpu\",\"mode\":256,\"resourceFieldRef\":{"
                    "\"containerName\":\"c\",\"resource\":\"limits.cpu\"}}]}"));
    assert_string_equal(read_in(f, v, "labels"), "a=\"\\\"1\\\"\"\nb=\"2\"");
    assert_string_equal(read_in(f, v, "d/cpu"), "2");
    v = make(
        f, POD("\"projected\":{\"sources\":[{\"serviceAccountToken\":{\"path\":\"t\",\"audience\":"
               "\"au\"}},{\"configMap\":{\"name\":\"cm\"}},{\"secret\":{\"name\":\"s\"}}]}"));
    assert_string_equal(read_in(f, v, "t"), "tok au");
    assert_string_equal(read_in(f, v, "a"), "secret"); /* the later one wins */
    v = make(f, POD("\"emptyDir\":{\"medium\":\"Memory\",\"sizeLimit\":\"1Mi\"}"));
    struct volume_usage usage;
    assert_int_equal(volumes_usage(&v, &usage, &err), 0);
    assert_int_equal(usage.capacity, 1 << 20);
    assert_int_equal(volumes_remove(f->volumes, STR("u-1"), &f->arena, &err), 0);
}

static void test_local(void **state)
{
    struct fixture *f = *state;
    struct err err = ERR_INIT(&f->arena);
    if (!suite_can_mount())
        skip();
    suite_write(&f->arena, f->root, "disk/file", "local");
    f->world.world = suite_json(
        &f->arena,
        str_cstr(&f->arena,
                 arena_printf(
                     &f->arena,
                     "{\"persistentvolumeclaims\":{\"c\":{\"metadata\":{\"uid\":\"c1\"},"
                     "\"spec\":{\"volumeName\":\"pv\"},\"status\":{\"phase\":\"Bound\"}}},"
                     "\"persistentvolumes\":{\"pv\":{\"metadata\":{\"name\":\"pv\"},\"spec\":"
                     "{\"claimRef\":{\"uid\":\"c1\"},\"local\":{\"path\":\"" STR_FMT "/disk\"}}}}}",
                     STR_ARG(f->root))));
    struct pod_volume v = make(f, POD("\"persistentVolumeClaim\":{\"claimName\":\"c\"}"));
    assert_string_equal(read_in(f, v, "file"), "local");
    v = make(f, POD("\"persistentVolumeClaim\":{\"claimName\":\"c\"}"));
    assert_int_equal(volumes_remove(f->volumes, STR("u-1"), &f->arena, &err), 0);
    assert_string_equal(str_cstr(&f->arena, suite_read(&f->arena, f->root, "disk/file")), "local");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_faults),    TEST(test_each_fault),      TEST(test_config_map), TEST(test_unused),
        TEST(test_empty_dir), TEST(test_list_and_remove), TEST(test_memory),     TEST(test_local),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
