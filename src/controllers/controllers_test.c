/* Which controllers a list like "*,-job" has in it. */
#include "controllers/controllers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/idiom.h"

static void lists_choose(void **state)
{
    (void)state;
    static const struct {
        const char *names, *controller;
        bool is_wanted;
    } rows[] = {
        { NULL, "job-controller", true },
        { "", "job-controller", false },
        { "*", "job-controller", true },
        { "-*", "job-controller", false },
        { "*,-job-controller", "job-controller", false },
        { "-job-controller,*", "job-controller", false },
        { "job-controller", "job-controller", true },
        { "job-controller", "cronjob-controller", false },
        { "-job-controller", "cronjob-controller", false },
        /* the names of before */
        { "*,-job", "job-controller", false },
        { "*,-job", "cronjob-controller", true },
        { "job", "job-controller", true },
        { "serviceaccount", "serviceaccount-token-controller", false },
        { "serviceaccount-token", "serviceaccount-token-controller", true },
        { "csrapproving", "certificatesigningrequest-approving-controller", true },
        { "csrsigning", "certificatesigningrequest-approving-controller", false },
        { "*,-horizontalpodautoscaling", "horizontal-pod-autoscaler-controller", false },
        { "*,-resource-claim-controller", "resourceclaim-controller", false },
        { "*,-clusterrole-aggregation", "clusterrole-aggregation-controller", false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (controllers_is_wanted(rows[i].names, rows[i].controller) != rows[i].is_wanted)
            fail_msg("row %zu: %s", i, rows[i].controller);
}

/* Each name of before leads to a controller that is there; words that are none are refused. */
static void names_are_checked(void **state)
{
    (void)state;
    struct spn_err err = { 0 };
    const char *const known =
        "attachdetach,bootstrapsigner,clusterrole-aggregation,cronjob,csrapproving,csrcleaner,"
        "csrsigning,daemonset,deployment,disruption,endpoint,endpointslice,endpointslicemirroring,"
        "ephemeral-volume,garbagecollector,horizontalpodautoscaling,job,"
        "legacy-service-account-token-cleaner,namespace,nodeipam,nodelifecycle,"
        "persistentvolume-binder,persistentvolume-expander,podgc,pv-protection,pvc-protection,"
        "replicaset,replicationcontroller,resource-claim-controller,resourcequota,"
        "root-ca-cert-publisher,serviceaccount,serviceaccount-token,statefulset,"
        "storage-version-gc,tokencleaner,ttl,ttl-after-finished";
    if (controllers_check_names(known, &err) < 0)
        fail_msg("%s", err.message);
    static const char *const unknown[] = { "jobs",       "*,--job", "**", "deployments-controller",
                                           "Deployment", "*, job" };
    for (size_t i = 0; i < ARRAY_LEN(unknown); i++) {
        assert_int_equal(controllers_check_names(unknown[i], &err), -SPN_INVALID);
        assert_non_null(strstr(err.message, "there is no controller"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_choose),
        cmocka_unit_test(names_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
