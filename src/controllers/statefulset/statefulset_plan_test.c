/* What comes next for pods with an identity, and who owns their claims. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "controllers/common/fields.h"
#include "controllers/common/history.h"
#include "controllers/common/objects_test.h"
#include "controllers/statefulset/identity.h"
#include "controllers/statefulset/plan.h"
#include "controllers/statefulset/status.h"

/* ---- Steps ---- */

/* A pod by a letter: "-" none, "p" pending, "r" ready, "o" ready and old, "b" broken and old,
 * "t" terminating, "f" failed. */
static struct stateful_pod pod_by(char c)
{
    struct stateful_pod p = { .is_identified = true, .has_claims = true };
    p.revision = c == 'o' || c == 'b' ? SPN_TEXT("old") : SPN_TEXT("new");
    p.is_created = c != '-';
    p.is_pending = c == 'p';
    p.is_deleting = c == 't';
    p.is_terminal = c == 'f';
    p.is_ready = p.is_available = c == 'r' || c == 'o';
    return p;
}

static size_t read_pods(const char *letters, struct stateful_pod *ret)
{
    size_t n = 0;
    for (; letters[n]; n++)
        ret[n] = pod_by(letters[n]);
    return n;
}

/* Steps as text: c0 creates replica 0, d deletes, u updates, m makes claims; capitals: condemned.
 */
static const char *steps_text(struct spn_arena *a, const struct stateful_step *steps, size_t n,
                              const struct stateful_pod *replicas, size_t n_replicas,
                              const struct stateful_pod *condemned)
{
    static const char letters[] = "cdmrou";
    struct spn_text text = SPN_TEXT("");
    for (size_t i = 0; i < n; i++) {
        const struct stateful_pod *p = steps[i].pod;
        const bool stays = p >= replicas && p < replicas + n_replicas;
        text = spn_arena_printf(a, SPN_FMT "%c%d", SPN_ARG(text),
                                letters[steps[i].act] - (stays ? 0 : 32),
                                (int)(stays ? p - replicas : p - condemned));
    }
    return spn_arena_text(a, text).p;
}

static void test_plan(void **state)
{
    (void)state;
    static const struct {
        const char *replicas, *condemned;
        bool is_parallel, is_on_delete;
        int64_t partition, max_unavailable;
        const char *want;
    } rows[] = {
        { "---", "", false, false, 0, 1, "c0" },  { "r--", "", false, false, 0, 1, "c1" },
        { "p--", "", false, false, 0, 1, "m0" },  { "---", "", true, false, 0, 1, "c0c1c2" },
        { "fr", "", false, false, 0, 1, "d0" },   { "t-", "", false, false, 0, 1, "" },
        { "rrr", "", false, false, 0, 1, "" },    { "r", "rr", false, false, 0, 1, "D0" },
        { "r", "tr", false, false, 0, 1, "" },    { "r", "rr", true, false, 0, 1, "D0D1" },
        { "p", "r", false, false, 0, 1, "m0" },   { "r", "pr", false, false, 0, 1, "D0" },
        { "ooo", "", false, false, 0, 1, "u2" },  { "oor", "", false, false, 0, 1, "u1" },
        { "ooo", "", false, false, 2, 1, "u2" },  { "oor", "", false, false, 2, 1, "" },
        { "ooo", "", false, true, 0, 1, "" },     { "oooo", "", false, false, 0, 2, "u3u2" },
        { "oob", "", false, false, 0, 1, "" },    { "oob", "", true, false, 0, 1, "u2" },
        { "ooo", "", true, false, 0, 2, "u2u1" }, { "oot", "", true, false, 0, 1, "" },
    };
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct stateful_pod replicas[8], condemned[8];
        struct stateful_step steps[48];
        const size_t n = read_pods(rows[i].replicas, replicas);
        const size_t n_condemned = read_pods(rows[i].condemned, condemned);
        const struct stateful_spec spec = { .replicas = (int64_t)n,
                                            .partition = rows[i].partition,
                                            .max_unavailable = rows[i].max_unavailable,
                                            .is_parallel = rows[i].is_parallel,
                                            .is_on_delete = rows[i].is_on_delete };
        const size_t n_steps =
            stateful_plan(&spec, replicas, n, condemned, n_condemned, SPN_TEXT("new"), steps);
        assert_string_equal(steps_text(a, steps, n_steps, replicas, n, condemned), rows[i].want);
    }
    spn_arena_free(a);
}

/* ---- Identity ---- */

static const char set_text[] =
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\",\"metadata\":{\"name\":\"db\","
    "\"namespace\":\"shop\",\"uid\":\"s\"},\"spec\":{\"replicas\":2,\"serviceName\":\"svc\","
    "\"selector\":{\"matchLabels\":{\"app\":\"db\"}},"
    "\"volumeClaimTemplates\":[{\"metadata\":{\"name\":\"data\"}}],"
    "\"persistentVolumeClaimRetentionPolicy\":{\"whenScaled\":\"Delete\","
    "\"whenDeleted\":\"Delete\"},\"template\":{\"metadata\":{\"labels\":{\"app\":\"db\"}},"
    "\"spec\":{\"volumes\":[{\"name\":\"tmp\",\"emptyDir\":{}}]}}}}";

static void test_names(void **state)
{
    (void)state;
    assert_int_equal(identity_ordinal(SPN_TEXT("db-12")), 12);
    assert_int_equal(identity_ordinal(SPN_TEXT("db")), -1);
    assert_int_equal(identity_ordinal(SPN_TEXT("db12")), -1);
    assert_int_equal(identity_ordinal(SPN_TEXT("db-99999999999")), -1);
}

static void test_new_pod(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *set = read_json(a, set_text);
    struct spn_value *pod =
        identity_new_pod(a, set, spn_value_dig(set, "spec", "template"), SPN_TEXT("db-1"), 1);
    const struct spn_value *volumes = spn_value_dig(pod, "spec", "volumes");
    assert_true(is_text(meta_name(pod), "db-1"));
    assert_true(is_text(spn_value_text(spn_value_dig(pod, "spec", "subdomain")), "svc"));
    assert_int_equal(spn_value_count(volumes), 2);
    assert_true(is_text(spn_value_text(spn_value_dig(spn_value_at(volumes, 0),
                                                     "persistentVolumeClaim", "claimName")),
                        "data-db-1"));
    assert_true(identity_is_right(a, set, pod));
    spn_value_remove(a, spn_value_ensure(a, spn_value_ensure(a, pod, "metadata"), "labels"),
                     "statefulset.kubernetes.io/pod-name");
    assert_false(identity_is_right(a, set, pod));
    identity_repair(a, set, pod);
    assert_true(identity_is_right(a, set, pod));
    spn_arena_free(a);
}

/* With both policies a claim belongs to the set, and to its pod once that is scaled away. */
static void test_claim_owners(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *set = read_json(a, set_text);
    const struct spn_value *stays =
        read_json(a, "{\"metadata\":{\"name\":\"db-0\",\"uid\":\"p\"}}");
    const struct spn_value *goes = read_json(a, "{\"metadata\":{\"name\":\"db-2\",\"uid\":\"q\"}}");
    struct spn_value *claim = identity_new_claim(a, set, 0, 0);
    assert_false(identity_owns_claim_rightly(set, stays, claim));
    identity_own_claim(a, set, stays, claim);
    assert_true(identity_owns_claim_rightly(set, stays, claim));
    assert_false(identity_owns_claim_rightly(set, goes, claim));
    identity_own_claim(a, set, goes, claim);
    const struct spn_value *refs = spn_value_dig(claim, "metadata", "ownerReferences");
    assert_int_equal(spn_value_count(refs), 1);
    assert_true(is_text(spn_value_text(spn_value_get(spn_value_at(refs, 0), "uid")), "q"));
    const struct spn_value *anew = read_json(a, "{\"metadata\":{\"name\":\"db-2\"}}");
    assert_true(identity_claim_is_stale(set, anew, claim));
    spn_arena_free(a);
}

/* ---- Status and revisions ---- */

static void test_status(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *set = read_json(a, set_text);
    struct stateful_pod pods[2];
    struct stateful_seen seen = { .replicas = pods,
                                  .n_replicas = read_pods("ro", pods),
                                  .current = SPN_TEXT("old"),
                                  .update = SPN_TEXT("new") };
    const struct spn_value *status = stateful_status(a, set, &seen);
    assert_true(is_text(spn_value_text(spn_value_get(status, "currentRevision")), "old"));
    assert_int_equal(field_int(spn_value_get(status, "updatedReplicas"), 0), 1);
    seen.n_updating = 2; /* one of them of a revision before */
    status = stateful_status(a, set, &seen);
    assert_int_equal(field_int(spn_value_get(status, "currentReplicas"), -1), 0);
    seen.n_updating = 0;
    (void)read_pods("rr", pods);
    status = stateful_status(a, set, &seen);
    assert_true(is_text(spn_value_text(spn_value_get(status, "currentRevision")), "new"));
    assert_int_equal(field_int(spn_value_get(status, "currentReplicas"), 0), 2);
    spn_arena_free(a);
}

/* What upstream has for this template. */
static void test_revision_hash(void **state)
{
    (void)state;
    struct spn_arena *a = spn_arena_new();
    const struct spn_value *set = read_json(
        a, "{\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"app\":\"db\"}},\"spec\":{"
           "\"automountServiceAccountToken\":false,\"containers\":[{\"image\":\"app:1\","
           "\"imagePullPolicy\":\"IfNotPresent\",\"name\":\"c\",\"resources\":{},"
           "\"terminationMessagePath\":\"/dev/termination-log\","
           "\"terminationMessagePolicy\":\"File\"}],\"dnsPolicy\":\"ClusterFirst\","
           "\"restartPolicy\":\"Always\",\"schedulerName\":\"default-scheduler\","
           "\"securityContext\":{},\"terminationGracePeriodSeconds\":30}}}}");
    assert_true(is_text(history_hash(a, history_data(a, set), 0), "57975d8bc6"));
    spn_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan),         cmocka_unit_test(test_names),
        cmocka_unit_test(test_status),       cmocka_unit_test(test_new_pod),
        cmocka_unit_test(test_claim_owners), cmocka_unit_test(test_revision_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
