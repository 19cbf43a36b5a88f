#include "controllers/controllers.h"

#include <stdlib.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "base/str.h"
#include "controllers/rows.h"
#include "base/banned.h"

/* One a line, by name. */
/* clang-format off */
static const struct controllers_row *const rows[] = {
    &controllers_attach_detach,
    &controllers_autoscaler,
    &controllers_bootstrap_signer,
    &controllers_claim_protection,
    &controllers_cronjob,
    &controllers_csr_approver,
    &controllers_csr_cleaner,
    &controllers_csr_signer,
    &controllers_daemonset,
    &controllers_deployment,
    &controllers_disruption,
    &controllers_endpoints,
    &controllers_endpointslice_mirroring,
    &controllers_endpointslices,
    &controllers_ephemeral_volume,
    &controllers_garbage,
    &controllers_ip_repair,
    &controllers_job,
    &controllers_legacy_token_cleaner,
    &controllers_namespace,
    &controllers_node_ipam,
    &controllers_node_lifecycle,
    &controllers_pod_certificate_cleaner,
    &controllers_pod_gc,
    &controllers_port_repair,
    &controllers_replicaset,
    &controllers_replicationcontroller,
    &controllers_resource_claim,
    &controllers_root_ca,
    &controllers_serviceaccount,
    &controllers_serviceaccount_token,
    &controllers_statefulset,
    &controllers_storage_versions,
    &controllers_taint_eviction,
    &controllers_token_cleaner,
    &controllers_trust_bundle,
    &controllers_ttl,
    &controllers_ttl_after_finished,
    &controllers_volume_binder,
    &controllers_volume_expander,
    &controllers_volume_protection,
    NULL,
};
/* clang-format on */

struct controllers {
    void *made[ARRAY_LEN(rows)];
};

/* ---- Which of them ---- */

/* They run in the server, because they are part of what a write means. */
static const char *const in_server[] = {
    "clusterrole-aggregation-controller",
    "resourcequota-controller",
    "validatingadmissionpolicy-status-controller",
};

/* What upstream called them until 1.28, and still understands. */
static const struct alias {
    const char *alias, *name;
} aliases[] = {
    { "attachdetach", "persistentvolume-attach-detach-controller" },
    { "bootstrapsigner", "bootstrap-signer-controller" },
    { "clusterrole-aggregation", "clusterrole-aggregation-controller" },
    { "cronjob", "cronjob-controller" },
    { "csrapproving", "certificatesigningrequest-approving-controller" },
    { "csrcleaner", "certificatesigningrequest-cleaner-controller" },
    { "csrsigning", "certificatesigningrequest-signing-controller" },
    { "daemonset", "daemonset-controller" },
    { "deployment", "deployment-controller" },
    { "disruption", "disruption-controller" },
    { "endpoint", "endpoints-controller" },
    { "endpointslice", "endpointslice-controller" },
    { "endpointslicemirroring", "endpointslice-mirroring-controller" },
    { "ephemeral-volume", "ephemeral-volume-controller" },
    { "garbagecollector", "garbage-collector-controller" },
    { "horizontalpodautoscaling", "horizontal-pod-autoscaler-controller" },
    { "job", "job-controller" },
    { "legacy-service-account-token-cleaner", "legacy-serviceaccount-token-cleaner-controller" },
    { "namespace", "namespace-controller" },
    { "nodeipam", "node-ipam-controller" },
    { "nodelifecycle", "node-lifecycle-controller" },
    { "persistentvolume-binder", "persistentvolume-binder-controller" },
    { "persistentvolume-expander", "persistentvolume-expander-controller" },
    { "podgc", "pod-garbage-collector-controller" },
    { "pv-protection", "persistentvolume-protection-controller" },
    { "pvc-protection", "persistentvolumeclaim-protection-controller" },
    { "replicaset", "replicaset-controller" },
    { "replicationcontroller", "replicationcontroller-controller" },
    { "resource-claim-controller", "resourceclaim-controller" },
    { "resourcequota", "resourcequota-controller" },
    { "root-ca-cert-publisher", "root-ca-certificate-publisher-controller" },
    { "serviceaccount", "serviceaccount-controller" },
    { "serviceaccount-token", "serviceaccount-token-controller" },
    { "statefulset", "statefulset-controller" },
    { "storage-version-gc", "storageversion-garbage-collector-controller" },
    { "tokencleaner", "token-cleaner-controller" },
    { "ttl", "ttl-controller" },
    { "ttl-after-finished", "ttl-after-finished-controller" },
};

/* The controller that a word of the list is about, by its name of today. */
static struct str meant_by(struct str word)
{
    struct str name = str_skip(word, str_starts(word, STR("-")) ? 1 : 0);
    for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
        if (str_eq(name, str_of(aliases[i].alias)))
            return str_of(aliases[i].name);
    return name;
}

static bool is_known(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(in_server); i++)
        if (str_eq(name, str_of(in_server[i])))
            return true;
    for (size_t i = 0; rows[i]; i++)
        if (str_eq(name, str_of(rows[i]->name)))
            return true;
    return false;
}

int controllers_check_names(const char *names, struct spn_err *err)
{
    for (struct str rest = str_of(names); rest.n;) {
        struct str word = str_cut(&rest, ',');
        if (!str_eq(meant_by(word), STR("*")) && !is_known(meant_by(word)))
            return spn_err_set(err, SPN_INVALID, "there is no controller \"" STR_FMT "\"",
                               STR_ARG(word));
    }
    return 0;
}

/* A name says more than a star, whatever their order. */
bool controllers_is_wanted(const char *names, const char *name)
{
    bool has_star = !names;
    for (struct str rest = str_of(names ? names : ""); rest.n;) {
        struct str word = str_cut(&rest, ',');
        if (str_eq(meant_by(word), str_of(name)))
            return !str_starts(word, STR("-"));
        has_star |= str_eq(word, STR("*"));
    }
    return has_star;
}

/* ---- All of them ---- */

int controllers_add(const struct controllers_env *env, struct controllers **ret,
                    struct spn_err *err)
{
    struct controllers *all = mem_new(struct controllers);
    for (size_t i = 0; rows[i]; i++) {
        if (!controllers_is_wanted(env->opt->names, rows[i]->name))
            continue;
        int r = rows[i]->add(env, &all->made[i], err);
        if (r < 0) {
            controllers_free(all);
            return r;
        }
    }
    *ret = all;
    return 0;
}

struct controllers *controllers_free(struct controllers *all)
{
    for (size_t i = 0; all && rows[i]; i++)
        if (rows[i]->done)
            rows[i]->done(all->made[i]);
    free(all);
    return NULL;
}
