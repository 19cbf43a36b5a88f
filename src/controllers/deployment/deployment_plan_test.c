/* How ReplicaSets of a Deployment grow and shrink, and what its status says of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/objects_test.h"
#include "controllers/deployment/revision.h"
#include "controllers/deployment/status.h"

/* ---- Sizes ---- */

static void test_shares(void **state)
{
    (void)state;
    static const struct {
        const char *surge, *unavailable;
        int64_t replicas, want_surge, want_unavailable;
    } rows[] = {
        { "\"25%\"", "\"25%\"", 10, 3, 2 },
        { "\"25%\"", "\"25%\"", 1, 1, 0 },
        { "0", "0", 5, 0, 1 },
        { "2", "3", 10, 2, 3 },
        { "0", "\"1%\"", 5, 0, 1 },
        { "0", "\"100%\"", 4, 0, 4 },
        { "1", "9", 4, 1, 4 },
        { "\"50%\"", "0", 0, 0, 0 },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct spn_text text =
            spn_arena_printf(a,
                             "{\"spec\":{\"replicas\":%d,\"strategy\":{\"type\":\"RollingUpdate\","
                             "\"rollingUpdate\":{\"maxSurge\":%s,\"maxUnavailable\":%s}}}}",
                             (int)rows[i].replicas, rows[i].surge, rows[i].unavailable);
        const struct rollout r = rollout_of(read_json(a, text.p));
        assert_int_equal(r.max_surge, rows[i].want_surge);
        assert_int_equal(r.max_unavailable, rows[i].want_unavailable);
    }
    spn_arena_free(a);
}

static void test_new_size(void **state)
{
    (void)state;
    static const struct {
        int64_t replicas, surge, n_old, n_new, want;
    } rows[] = { { 10, 3, 10, 0, 3 }, { 10, 3, 8, 5, 5 },  { 10, 3, 4, 5, 9 },
                 { 10, 3, 0, 9, 10 }, { 10, 3, 13, 0, 0 }, { 1, 1, 1, 0, 1 } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct rollout r = { .replicas = rows[i].replicas,
                                   .surge = rows[i].surge,
                                   .is_rolling = true };
        const struct deployment_set all[] = { { .replicas = rows[i].n_old },
                                              { .replicas = rows[i].n_new } };
        assert_int_equal(rollout_new_size(&r, all, 2, rows[i].n_new), rows[i].want);
    }
}

/* The examples of upstream's comments: pods that crash do not let healthy ones go. */
static void test_shrink_old(void **state)
{
    (void)state;
    static const struct {
        struct deployment_set old[2], new_set;
        int64_t replicas, max_unavailable;
        size_t n_steps;
        int64_t sizes[2];
    } rows[] = {
        { { { .replicas = 10, .n_available = 10 } }, { .replicas = 3 }, 10, 2, 1, { 8, 0 } },
        { { { .replicas = 8, .n_available = 8 } }, { .replicas = 5 }, 10, 2, 0, { 8, 0 } },
        { { { .replicas = 8, .n_available = 7 } }, { .replicas = 5 }, 10, 2, 0, { 8, 0 } },
        { { { .replicas = 8, .n_available = 8, .created_ns = 1 },
            { .replicas = 5, .created_ns = 2 } },
          { .replicas = 0 },
          10,
          2,
          1,
          { 8, 0 } },
        /* It was scaled down just now, and its status does not know it yet. */
        { { { .replicas = 5, .n_available = 8 } }, { .replicas = 3 }, 5, 2, 0, { 5, 0 } },
        { { { .replicas = 3, .n_available = 3 } },
          { .replicas = 4, .n_available = 4 },
          4,
          0,
          1,
          { 0, 0 } },
        /* The same of the new one: the pod that is about to go keeps nobody else from staying. */
        { { { .replicas = 2, .n_available = 2 } },
          { .replicas = 1, .n_available = 2 },
          3,
          1,
          1,
          { 1, 0 } },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct rollout r = { .replicas = rows[i].replicas,
                                   .max_unavailable = rows[i].max_unavailable,
                                   .is_rolling = true };
        struct deployment_set old[2] = { rows[i].old[0], rows[i].old[1] };
        struct rollout_step steps[4];
        const size_t n = old[1].replicas ? 2 : 1;
        assert_int_equal(rollout_shrink_old(&r, old, n, &rows[i].new_set, steps), rows[i].n_steps);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(old[k].replicas, rows[i].sizes[k]);
    }
}

static void test_scale(void **state)
{
    (void)state;
    static const struct {
        int64_t replicas, surge, n_old, n_new, max_before;
        size_t n_steps;
        int64_t old_to, new_to; /* -1: stays */
    } rows[] = {
        { 30, 3, 8, 5, 13, 2, 20, 13 },
        { 5, 2, 8, 5, 13, 2, 4, 3 },
        { 7, 0, 0, 5, 5, 1, -1, 7 },
        { 0, 0, 3, 2, 5, 2, 0, 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct rollout r = { .replicas = rows[i].replicas,
                                   .max_surge = rows[i].surge,
                                   .is_rolling = true };
        struct deployment_set old = { .replicas = rows[i].n_old, .max_before = rows[i].max_before };
        const struct deployment_set new_set = { .replicas = rows[i].n_new,
                                                .max_before = rows[i].max_before,
                                                .created_ns = 1 };
        struct rollout_step steps[3];
        bool is_forced;
        assert_int_equal(rollout_scale(&r, &old, 1, &new_set, steps, &is_forced), rows[i].n_steps);
        for (size_t k = 0; k < rows[i].n_steps; k++)
            assert_int_equal(steps[k].to,
                             steps[k].set == &new_set ? rows[i].new_to : rows[i].old_to);
    }
}

/* ---- Revisions ---- */

static void test_revision_annotations(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *d = read_json(a, "{\"metadata\":{\"annotations\":{\"team\":\"x\","
                                             "\"deployment.kubernetes.io/revision\":\"9\"}}}");
    struct spn_value *set =
        read_json(a, "{\"metadata\":{\"annotations\":{\"deployment.kubernetes.io/revision\":\"1\","
                     "\"deployment.kubernetes.io/revision-history\":\"0\"}}}");
    assert_true(revision_annotate(a, d, set, 3));
    assert_true(is_text(meta_annotation(set, ANNOTATION_REVISION), "3"));
    assert_true(is_text(meta_annotation(set, ANNOTATION_HISTORY), "0,1"));
    assert_true(is_text(meta_annotation(set, "team"), "x"));
    assert_false(revision_annotate(a, d, set, 3));
    assert_false(revision_annotate(a, d, set, 2));
    const struct deployment_set sets[] = { { .revision = 4 },
                                           { .revision = 7 },
                                           { .revision = 2 } };
    assert_int_equal(revision_max(sets, 3), 7);
    assert_int_equal(revision_last(sets, 3), 4);
    assert_int_equal(revision_last(sets, 1), 0);
    spn_arena_free(a);
}

static void test_same_template(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *x =
        read_json(a, "{\"metadata\":{\"labels\":{\"app\":\"web\"}},\"spec\":{\"x\":1}}");
    const struct spn_value *y = read_json(a, "{\"spec\":{\"x\":1},\"metadata\":{\"labels\":{"
                                             "\"pod-template-hash\":\"h\",\"app\":\"web\"}}}");
    const struct spn_value *z =
        read_json(a, "{\"metadata\":{\"labels\":{\"app\":\"web\"}},\"spec\":{\"x\":2}}");
    assert_true(revision_same_template(a, x, y));
    assert_false(revision_same_template(a, x, z));
    spn_arena_free(a);
}

/* ---- Status ---- */

#define NOW_NS (INT64_C(1700000000) * NS_PER_SEC) /* 2023-11-14T22:13:20Z */

static struct spn_text reason_of(const struct spn_value *status, const char *type)
{
    return spn_value_text(spn_value_get(status_condition(status, type), "reason"));
}

static struct spn_value *deployment_with(struct spn_arena *a, const char *reason)
{
    struct spn_text text = spn_arena_printf(
        a,
        "{\"metadata\":{\"name\":\"web\",\"generation\":2},\"spec\":{\"replicas\":2,"
        "\"progressDeadlineSeconds\":10},\"status\":{\"conditions\":[{\"type\":\"Progressing\","
        "\"status\":\"True\",\"reason\":\"%s\",\"lastUpdateTime\":\"2023-11-14T22:13:05Z\"}]}}",
        reason);
    return read_json(a, text.p);
}

static void test_progress(void **state)
{
    (void)state;
    static const struct {
        const char *was;
        int64_t n_actual, n_available;
        const char *want, *available;
    } rows[] = {
        { "NewReplicaSetCreated", 2, 2, "NewReplicaSetAvailable", "MinimumReplicasAvailable" },
        { "NewReplicaSetCreated", 1, 0, "ReplicaSetUpdated", "MinimumReplicasUnavailable" },
        { "NewReplicaSetCreated", 0, 0, "ProgressDeadlineExceeded", "MinimumReplicasUnavailable" },
        { "NewReplicaSetAvailable", 1, 1, "NewReplicaSetAvailable", "MinimumReplicasUnavailable" },
        { "ProgressDeadlineExceeded", 0, 0, "ProgressDeadlineExceeded",
          "MinimumReplicasUnavailable" },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct spn_value *d = deployment_with(a, rows[i].was);
        const struct deployment_set set = { .name = SPN_TEXT("web-1"),
                                            .replicas = 2,
                                            .n_actual = rows[i].n_actual,
                                            .n_available = rows[i].n_available,
                                            .n_terminating = -1 };
        const struct status_seen seen = { &set, 1, &set, NOW_NS };
        const struct spn_value *status = status_of_rollout(a, d, &seen);
        assert_true(is_text(reason_of(status, "Progressing"), rows[i].want));
        assert_true(is_text(reason_of(status, "Available"), rows[i].available));
        assert_int_equal(field_int(spn_value_get(status, "observedGeneration"), 0), 2);
    }
    spn_arena_free(a);
}

static void test_pause(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    struct spn_value *d = deployment_with(a, "ReplicaSetUpdated");
    assert_false(status_note_paused(a, d, NOW_NS));
    spn_value_set_bool(a, spn_value_ensure(a, d, "spec"), "paused", true);
    assert_true(status_note_paused(a, d, NOW_NS));
    assert_true(is_text(reason_of(spn_value_get(d, "status"), "Progressing"), "DeploymentPaused"));
    assert_false(status_note_paused(a, d, NOW_NS));
    spn_value_set_bool(a, spn_value_ensure(a, d, "spec"), "paused", false);
    assert_true(status_note_paused(a, d, NOW_NS));
    assert_true(is_text(reason_of(spn_value_get(d, "status"), "Progressing"), "DeploymentResumed"));
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),     cmocka_unit_test(test_new_size),
        cmocka_unit_test(test_shrink_old), cmocka_unit_test(test_scale),
        cmocka_unit_test(test_progress),   cmocka_unit_test(test_revision_annotations),
        cmocka_unit_test(test_pause),      cmocka_unit_test(test_same_template),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
