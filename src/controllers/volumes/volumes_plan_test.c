/* Which volume a claim gets, what becomes of volumes, and what both say then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/objects_test.h"
#include "controllers/common/pod_claims.h"
#include "controllers/volumes/edits.h"
#include "controllers/volumes/plan.h"
#include "controllers/volumes/usage.h"
#include "select/volume_match.h"
#include <sampan/meta.h>

/* ---- Claims ---- */

#define CLAIM(meta, spec)                                                                       \
    "{metadata: {name: c, namespace: m, uid: u" meta "}, spec: {accessModes: [ReadWriteOnce], " \
    "resources: {requests: {storage: 2Gi}}" spec "}}"
#define VOLUME(name, size, spec)                                                           \
    "{metadata: {name: " name ", labels: {l: " name "}}, spec: {capacity: {storage: " size \
    "}" spec "}, status: {phase: Available}}"
#define RWO     ", accessModes: [ReadWriteOnce], storageClassName: s"
#define FOR(id) ", claimRef: {namespace: m, name: c, uid: " id "}"
#define BOUND   ", annotations: {pv.kubernetes.io/bind-completed: 'yes'}"
#define LATE    "{metadata: {name: s}, volumeBindingMode: WaitForFirstConsumer}"

struct claim_row {
    const char *claim, *volumes, *named, *class, *usual, *pods;
    enum claim_step step;
    const char *volume, *message;
};

static const struct claim_row claims[] = {
    /* The smallest that is large enough. */
    { CLAIM("", ", storageClassName: s"),
      "[" VOLUME("l", "9Gi", RWO) "," VOLUME("m", "3Gi", RWO) "," VOLUME("s", "1Gi", RWO) "]", 0, 0,
      0, 0, CLAIM_BIND, "m", "" },
    /* Fewer modes before less room. */
    { CLAIM("", ", storageClassName: s"),
      "[" VOLUME("l", "9Gi", RWO) "," VOLUME(
          "m", "3Gi", ", accessModes: [ReadWriteOnce, ReadOnlyMany], storageClassName: s") "]",
      0, 0, 0, 0, CLAIM_BIND, "l", "" },
    /* What is reserved for it, whatever its class. */
    { CLAIM("", ", storageClassName: s"),
      "[" VOLUME("m", "3Gi", RWO) "," VOLUME("r", "9Gi",
                                             ", accessModes: [ReadWriteOnce]" FOR("")) "]",
      0, 0, 0, 0, CLAIM_BIND, "r", "" },
    { CLAIM("", ", storageClassName: s"),
      "[" VOLUME("r", "9Gi", ", accessModes: [ReadWriteOnce]" FOR("other")) "]", 0, 0, 0, 0,
      CLAIM_PROVISION, 0, "" },
    { CLAIM("", ", storageClassName: s, selector: {matchLabels: {l: b}}"),
      "[" VOLUME("a", "3Gi", RWO) "," VOLUME("b", "4Gi", RWO) "]", 0, 0, 0, 0, CLAIM_BIND, "b",
      "" },
    { CLAIM("", ", storageClassName: s, volumeMode: Block"), "[" VOLUME("a", "3Gi", RWO) "]", 0, 0,
      0, 0, CLAIM_PROVISION, 0, "" },
    /* Without a class. */
    { CLAIM("", ", storageClassName: ''"), "[]", 0, 0, "{metadata: {name: d}}", 0, CLAIM_PENDING, 0,
      "no persistent volumes available for this claim and no storage class is set" },
    { CLAIM("", ""), "[]", 0, 0, "{metadata: {name: d}}", 0, CLAIM_SET_CLASS, 0, "" },
    /* The scheduler chooses. */
    { CLAIM("", ", storageClassName: s"), "[" VOLUME("m", "3Gi", RWO) "]", 0, LATE, 0, 0,
      CLAIM_PENDING, 0, "waiting for first consumer to be created before binding" },
    { CLAIM("", ", storageClassName: s"), "[]", 0, LATE, 0, "[p]", CLAIM_PENDING, 0,
      "waiting for pod p to be scheduled" },
    { CLAIM("", ", storageClassName: s"), "[]", 0, LATE, 0, "[p, q]", CLAIM_PENDING, 0,
      "waiting for pods p,q to be scheduled" },
    { CLAIM("", ", storageClassName: s"), "[" VOLUME("m", "3Gi", RWO FOR("u")) "]", 0, LATE, 0, 0,
      CLAIM_BIND, "m", "" },
    { CLAIM(", annotations: {volume.kubernetes.io/selected-node: x}", ", storageClassName: s"),
      "[]", 0, LATE, 0, 0, CLAIM_PROVISION, 0, "" },
    /* By name. */
    { CLAIM("", ", volumeName: m, storageClassName: s"), "[]", 0, 0, 0, 0, CLAIM_PENDING, 0, "" },
    { CLAIM("", ", volumeName: m, storageClassName: s"), "[]", VOLUME("m", "3Gi", RWO), 0, 0, 0,
      CLAIM_BIND, "m", "" },
    { CLAIM("", ", volumeName: m, storageClassName: s"), "[]", VOLUME("m", "1Gi", RWO), 0, 0, 0,
      CLAIM_PENDING, 0, "Cannot bind to requested volume \"m\": requested PV is too small" },
    { CLAIM("", ", volumeName: m, storageClassName: t"), "[]", VOLUME("m", "3Gi", RWO), 0, 0, 0,
      CLAIM_PENDING, 0, "Cannot bind to requested volume \"m\": storageClassName does not match" },
    { CLAIM("", ", volumeName: m, storageClassName: s"), "[]", VOLUME("m", "3Gi", RWO FOR("other")),
      0, 0, 0, CLAIM_PENDING, 0, "volume \"m\" already bound to a different claim." },
    { CLAIM(", annotations: {pv.kubernetes.io/bound-by-controller: 'yes'}", ", volumeName: m"),
      "[]", VOLUME("m", "3Gi", FOR("other")), 0, 0, 0, CLAIM_REFUSED, 0,
      "volume \"m\" already bound to a different claim." },
    /* Once bound. */
    { CLAIM(BOUND, ", volumeName: m"), "[]", VOLUME("m", "1Gi", FOR("u")), 0, 0, 0, CLAIM_BIND, "m",
      "" },
    { CLAIM(BOUND, ", volumeName: m"), "[]", VOLUME("m", "1Gi", ""), 0, 0, 0, CLAIM_BIND, "m", "" },
    { CLAIM(BOUND, ", volumeName: m"), "[]", VOLUME("m", "1Gi", FOR("other")), 0, 0, 0, CLAIM_LOST,
      0, "Two claims are bound to the same volume, this one is bound incorrectly" },
    { CLAIM(BOUND, ", volumeName: m"), "[]", 0, 0, 0, 0, CLAIM_LOST, 0,
      "Bound claim has lost its PersistentVolume. Data on the volume is lost!" },
    { CLAIM(BOUND, ""), "[]", 0, 0, 0, 0, CLAIM_LOST, 0,
      "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!" },
};

static void read_facts(struct spn_arena *a, const struct claim_row *row, struct claim_facts *f)
{
    struct spn_value *list = read_yaml(a, row->volumes);
    struct spn_value *pods = row->pods ? read_yaml(a, row->pods) : NULL;
    struct spn_value **items = spn_arena_alloc(a, (spn_value_count(list) + 1) * sizeof(*items));
    struct spn_text *names = spn_arena_alloc(a, (spn_value_count(pods) + 1) * sizeof(*names));
    f->claim = read_yaml(a, row->claim);
    for (size_t i = 0; i < spn_value_count(list); i++)
        items[f->n_volumes++] = spn_value_copy(a, spn_value_at(list, i));
    for (size_t i = 0; i < spn_value_count(pods); i++)
        names[f->n_pods++] = spn_value_text(spn_value_at(pods, i));
    f->volumes = items;
    f->pods = names;
    f->named = row->named ? read_yaml(a, row->named) : NULL;
    f->class = row->class ? read_yaml(a, row->class) : NULL;
    f->usual_class = row->usual ? read_yaml(a, row->usual) : NULL;
}

static void test_claims(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(claims); i++) {
        struct spn_arena *a = spn_arena_new();
        struct claim_facts f = { 0 };
        struct claim_plan p;
        read_facts(a, &claims[i], &f);
        assert_int_equal(claim_decide(a, &f, &p, NULL), 0);
        assert_text(a, p.say.message, claims[i].message);
        assert_int_equal(p.step, claims[i].step);
        if (claims[i].volume)
            assert_text(a, meta_name(p.volume), claims[i].volume);
        spn_arena_free(a);
    }
}

static void test_usual_class(void **state)
{
    (void)state;
#define CLASS(name, day, mark)                                                                  \
    "{metadata: {name: " name ", creationTimestamp: '2026-01-" day "T00:00:00Z', annotations: " \
    "{storageclass.kubernetes.io/is-default-class: '" mark "'}}}"
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *all[] = { read_yaml(a, CLASS("old", "01", "true")),
                                      read_yaml(a, CLASS("b", "02", "true")),
                                      read_yaml(a, CLASS("a", "02", "true")),
                                      read_yaml(a, CLASS("no", "03", "false")) };
    assert_null(class_usual(all, 0));
    assert_null(class_usual(all + 3, 1));
    assert_text(a, meta_name(class_usual(all, 4)), "a");
    spn_arena_free(a);
}

/* ---- Volumes ---- */

static void test_volumes(void **state)
{
    (void)state;
    static const struct {
        const char *volume, *claim;
        enum volume_step step;
    } rows[] = {
        { "{metadata: {name: v}, spec: {}}", 0, VOLUME_AVAILABLE },
        { "{metadata: {name: v}, spec: {claimRef: {name: c}}}", 0, VOLUME_AVAILABLE },
        { "{metadata: {name: v}, spec: {claimRef: {uid: u}}}", 0, VOLUME_RELEASED },
        { "{metadata: {name: v}, spec: {claimRef: {uid: u}}}", "{spec: {volumeName: v}}",
          VOLUME_BOUND },
        { "{metadata: {name: v}, spec: {claimRef: {uid: u}}}", "{spec: {}}", VOLUME_WAITS },
        { "{metadata: {name: v}, spec: {claimRef: {uid: u}}}", "{spec: {volumeMode: Block}}",
          VOLUME_MISMATCHED },
        { "{metadata: {name: v}, spec: {claimRef: {uid: u}}}", "{spec: {volumeName: w}}",
          VOLUME_UNBIND },
        { "{metadata: {name: v, annotations: {pv.kubernetes.io/provisioned-by: x}}, spec: "
          "{claimRef: {uid: u}, persistentVolumeReclaimPolicy: Delete}}",
          "{spec: {volumeName: w}}", VOLUME_RELEASED },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(volume_decide(read_yaml(a, rows[i].volume),
                                       rows[i].claim ? read_yaml(a, rows[i].claim) : NULL),
                         rows[i].step);
    spn_arena_free(a);
}

static void test_makers(void **state)
{
    (void)state;
    static const struct {
        const char *class;
        enum volume_maker who;
        const char *name, *why;
    } rows[] = {
        { 0, MAKER_NONE, "", "storageclass.storage.k8s.io \"s\" not found" },
        { "{provisioner: kubernetes.io/no-provisioner}", MAKER_NONE, "",
          "no volume plugin matched name: kubernetes.io/no-provisioner" },
        { "{provisioner: kubernetes.io/nfs}", MAKER_NONE, "",
          "no provisionable volume plugin matched" },
        { "{provisioner: kubernetes.io/aws-ebs}", MAKER_ELSEWHERE, "ebs.csi.aws.com", "" },
        { "{provisioner: example.com/x}", MAKER_ELSEWHERE, "example.com/x", "" },
        { "{provisioner: kubernetes.io/host-path}", MAKER_HOST_PATH, "kubernetes.io/host-path",
          "" },
    };
    struct spn_arena *a = spn_arena_new();
    struct spn_value *claim = read_yaml(a, "{spec: {storageClassName: s}}");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct volume_by by =
            claim_provisioner(a, claim, rows[i].class ? read_yaml(a, rows[i].class) : NULL);
        assert_int_equal(by.who, rows[i].who);
        assert_text(a, by.name, rows[i].name);
        assert_text(a, by.why, rows[i].why);
    }
    spn_arena_free(a);
}

static void test_deleters(void **state)
{
    (void)state;
    static const struct {
        const char *volume;
        enum volume_maker who;
        const char *why;
    } rows[] = {
        { "{metadata: {name: v}, spec: {hostPath: {path: /x}}}", MAKER_HOST_PATH, "" },
        { "{metadata: {name: v}, spec: {csi: {driver: d}}}", MAKER_ELSEWHERE, "" },
        { "{metadata: {name: v}, spec: {nfs: {path: /x}}}", MAKER_NONE,
          "error getting deleter volume plugin for volume \"v\": no deletable volume plugin "
          "matched" },
        { "{metadata: {name: v}, spec: {local: {path: /x}}}", MAKER_NONE,
          "error getting deleter volume plugin for volume \"v\": no volume plugin matched" },
        { "{metadata: {name: v, annotations: {pv.kubernetes.io/provisioned-by: x.com/y}}, spec: "
          "{hostPath: {path: /x}}}",
          MAKER_ELSEWHERE, "" },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct volume_by by = volume_deleter(a, read_yaml(a, rows[i].volume));
        assert_int_equal(by.who, rows[i].who);
        assert_text(a, by.why, rows[i].why);
    }
    spn_arena_free(a);
}

static void test_recycler(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    assert_null(volume_recycler(a, read_yaml(a, "{metadata: {name: v}, spec: {csi: {}}}")));
    struct spn_value *pod = volume_recycler(
        a, read_yaml(a, "{metadata: {name: v}, spec: {capacity: {storage: 5Gi}, hostPath: {path: "
                        "/x}}}"));
    assert_text(a, meta_name(pod), "recycler-for-v");
    assert_int_equal(field_int(spn_value_dig(pod, "spec", "activeDeadlineSeconds"), 0), 150);
    spn_arena_free(a);
}

/* ---- What they say ---- */

static void test_binding(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *volume = read_yaml(a, VOLUME("m", "3Gi", RWO));
    struct spn_value *claim = read_yaml(a, CLAIM("", ", storageClassName: s"));
    struct arena *mem = arena_in(a);
    bool changed;
    assert_true(volume_set_claim(mem, value_in_edit(volume), value_in(claim)));
    assert_false(volume_set_claim(mem, value_in_edit(volume), value_in(claim)));
    assert_text(a, meta_annotation(volume, NOTE_BY_CONTROLLER), "yes");
    assert_true(claim_set_volume(a, claim, volume));
    assert_false(claim_set_volume(a, claim, volume));
    assert_int_equal(claim_set_phase(a, claim, "Bound", volume, &changed, NULL), 0);
    assert_true(changed);
    assert_text(a, spn_value_text(spn_value_dig(claim, "status", "capacity", "storage")), "3Gi");
    assert_int_equal(claim_set_phase(a, claim, "Bound", volume, &changed, NULL), 0);
    assert_false(changed);
    assert_int_equal(claim_set_phase(a, claim, "Lost", NULL, &changed, NULL), 0);
    assert_null(spn_value_dig(claim, "status", "capacity"));
    volume_clear_claim(a, volume);
    assert_null(spn_value_dig(volume, "spec", "claimRef"));
    assert_null(spn_value_dig(volume, "metadata", "annotations"));
    spn_arena_free(a);
}

/* What a user has reserved stays reserved. */
static void test_reserved(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *volume = read_yaml(a, VOLUME("m", "3Gi", FOR("''")));
    struct spn_value *claim = read_yaml(a, CLAIM("", ""));
    assert_true(volume_set_claim(arena_in(a), value_in_edit(volume), value_in(claim)));
    assert_null(meta_annotation(volume, NOTE_BY_CONTROLLER).p);
    volume_clear_claim(a, volume);
    assert_text(a, spn_value_text(spn_value_dig(volume, "spec", "claimRef", "name")), "c");
    assert_null(spn_value_dig(volume, "spec", "claimRef", "uid"));
    spn_arena_free(a);
}

static void test_protection(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *v = read_yaml(
        a, "{metadata: {annotations: {pv.kubernetes.io/provisioned-by: kubernetes.io/host-path}}, "
           "spec: {persistentVolumeReclaimPolicy: Delete}}");
    assert_true(volume_set_protection(a, v));
    assert_true(spn_finalizer_has(v, FINALIZER_IN_TREE));
    assert_false(volume_set_protection(a, v));
    spn_value_set_text(a, spn_value_ensure(a, v, "spec"), "persistentVolumeReclaimPolicy",
                       SPN_TEXT("Retain"));
    assert_true(volume_set_protection(a, v));
    assert_false(spn_finalizer_has(v, FINALIZER_IN_TREE));
    spn_arena_free(a);
}

static void test_usage(void **state)
{
    (void)state;
    static const struct {
        const char *pod;
        bool holds, refers;
    } rows[] = {
        { "{spec: {volumes: [{persistentVolumeClaim: {claimName: c}}]}}", false, true },
        { "{spec: {nodeName: x, volumes: [{persistentVolumeClaim: {claimName: c}}]}}", true, true },
        { "{spec: {nodeName: x, volumes: [{persistentVolumeClaim: {claimName: d}}]}}", false,
          false },
        { "{spec: {nodeName: x, volumes: [{persistentVolumeClaim: {claimName: c}}]}, status: "
          "{phase: Succeeded}}",
          true, false },
        /* A claim that has its name by chance is not its own. */
        { "{metadata: {name: c}, spec: {nodeName: x, volumes: [{name: v, ephemeral: {}}]}}", false,
          false },
    };
    struct spn_arena *a = spn_arena_new();
    struct spn_value *claim = read_yaml(a, "{metadata: {name: c}}");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct spn_value *pod = read_yaml(a, rows[i].pod);
        assert_int_equal(pod_holds_claim(a, pod, claim), rows[i].holds);
        assert_int_equal(pod_refers_to_claim(a, pod, claim), rows[i].refers);
    }
    assert_true(claim_set_unused(a, claim, true));
    assert_false(claim_set_unused(a, claim, true));
    assert_true(claim_set_unused(a, claim, false));
    spn_arena_free(a);
}

/* Which pods need a look is found without reading them. */
static void test_quick_look(void **state)
{
    (void)state;
    static const struct {
        const char *pod;
        bool may, has_devices;
    } rows[] = {
        { "{metadata: {name: p}, spec: {volumes: [{emptyDir: {}}]}}", false, false },
        { "{metadata: {name: p}, spec: {volumes: [{persistentVolumeClaim: {claimName: c}}]}}", true,
          false },
        { "{metadata: {name: p}, spec: {volumes: [{ephemeral: {volumeClaimTemplate: {}}}]}}", true,
          false },
        { "{metadata: {name: p}, spec: {resourceClaims: [{name: d}]}}", false, true },
        { "{metadata: {name: p}, status: {extendedResourceClaimStatus: {}}}", false, true },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct spn_object *o;
        assert_int_equal(spn_object_new(read_yaml(a, rows[i].pod), &o, NULL), 0);
        assert_int_equal(pod_may_use_claims(o), rows[i].may);
        assert_int_equal(spn_object_has_text(o, SPN_TEXT("resourceClaims")) ||
                             spn_object_has_text(o, SPN_TEXT("extendedResourceClaimStatus")),
                         rows[i].has_devices);
        spn_object_unref(o);
    }
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_claims),     cmocka_unit_test(test_usual_class),
        cmocka_unit_test(test_volumes),    cmocka_unit_test(test_makers),
        cmocka_unit_test(test_deleters),   cmocka_unit_test(test_recycler),
        cmocka_unit_test(test_binding),    cmocka_unit_test(test_reserved),
        cmocka_unit_test(test_protection), cmocka_unit_test(test_usage),
        cmocka_unit_test(test_quick_look),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
