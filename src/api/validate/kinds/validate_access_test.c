/* Roles, bindings, and requests for certificates. */
#include "api/validate/suite_validate.h"

static const char roles_base[] =
    "{" META ",'rules':[{'apiGroups':[''],'resources':['pods'],'verbs':['get']}]}";

static const struct suite_change roles[] = {
    { "rules/0/verbs", NULL, "rules[0].verbs: Required value" },
    { "rules/0/apiGroups", NULL,
      "rules[0].apiGroups: Required value: resource rules must supply at least one api group" },
    { "rules/0/resources", NULL,
      "rules[0].resources: Required value: resource rules must supply at least one resource" },
    { "rules/0/nonResourceURLs", "['/x']",
      "rules[0].nonResourceURLs: Invalid value: ['/x']: namespaced rules cannot apply to "
      "non-resource URLs\n"
      "rules[0].nonResourceURLs: Invalid value: ['/x']: rules cannot apply to both regular "
      "resources and non-resource URLs" },
    { "metadata/name", "'a/b'", "metadata.name: Invalid value: 'a/b': may not contain '/'" },
    { "rules", NULL, NULL },
};

static const char cluster_roles_base[] =
    "{" CLUSTER_META ",'rules':[{'nonResourceURLs':['/x'],'verbs':['get']}]}";

static const struct suite_change cluster_roles[] = {
    { "rules/0/resources", "['pods']",
      "rules[0].nonResourceURLs: Invalid value: ['/x']: rules cannot apply to both regular "
      "resources and non-resource URLs" },
    { "rules/0/verbs", NULL, "rules[0].verbs: Required value" },
    { "rules/0/nonResourceURLs", NULL,
      "rules[0].apiGroups: Required value: resource rules must supply at least one api group\n"
      "rules[0].resources: Required value: resource rules must supply at least one resource" },
    { "aggregationRule", "{}",
      "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector "
      "required if aggregationRule is non-nil" },
    { "aggregationRule", "{'clusterRoleSelectors':[{'matchLabels':{'a b':'c'}}]}",
      "aggregationRule.clusterRoleSelectors[0].matchLabels: Invalid value: 'a b': " QUALIFIED_NAME
      "\n"
      "aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector." },
    { "metadata/name", "'a%b'", "metadata.name: Invalid value: 'a%b': may not contain '%'" },
};

static const char role_bindings_base[] =
    "{" META ",'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'Role','name':'r'},'"
    "subjects':[{'kind':'ServiceAccount','name':'s'}]}";

static const struct suite_change role_bindings[] = {
    { "roleRef/kind", "'Pod'",
      "roleRef.kind: Unsupported value: 'Pod': supported values: 'Role', 'ClusterRole'" },
    { "roleRef/apiGroup", "'x'",
      "roleRef.apiGroup: Unsupported value: 'x': supported values: "
      "'rbac.authorization.k8s.io'" },
    { "roleRef/name", NULL, "roleRef.name: Required value" },
    { "roleRef/name", "'a/b'", "roleRef.name: Invalid value: 'a/b': may not contain '/'" },
    { "subjects/0/kind", "'Robot'",
      "subjects[0].kind: Unsupported value: 'Robot': supported values: 'ServiceAccount', "
      "'User', 'Group'" },
    { "subjects/0/name", NULL, "subjects[0].name: Required value" },
    { "subjects/0/apiGroup", "'v1'",
      "subjects[0].apiGroup: Unsupported value: 'v1': supported values: ''" },
    { "subjects/0", "{'kind':'User','apiGroup':'v1','name':'u'}",
      "subjects[0].apiGroup: Unsupported value: 'v1': supported values: "
      "'rbac.authorization.k8s.io'" },
};

static const struct suite_change role_bindings_changes[] = {
    { "roleRef/name", "'t'",
      "roleRef: Invalid value: "
      "{'APIGroup':'rbac.authorization.k8s.io','Kind':'Role','Name':'t'}: field is immutable" },
    { "subjects/0/name", "'t'", NULL },
};

static const char cluster_role_bindings_base[] =
    "{" CLUSTER_META
    ",'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'ClusterRole','name':'r'},'"
    "subjects':[{'kind':'ServiceAccount','name':'s','namespace':'n'}]}";

static const struct suite_change cluster_role_bindings[] = {
    { "roleRef/kind", "'Role'",
      "roleRef.kind: Unsupported value: 'Role': supported values: 'ClusterRole'" },
    { "roleRef/name", NULL, "roleRef.name: Required value" },
    { "subjects/0/namespace", NULL, "subjects[0].namespace: Required value" },
    { "subjects/0/name", "'A_B'", "subjects[0].name: Invalid value: 'A_B': " SUBDOMAIN },
    { "subjects/0/kind", NULL,
      "subjects[0].kind: Unsupported value: '': supported values: 'ServiceAccount', 'User', "
      "'Group'" },
};

static const struct suite_change cluster_role_bindings_changes[] = {
    { "roleRef/name", "'t'",
      "roleRef: Invalid value: "
      "{'APIGroup':'rbac.authorization.k8s.io','Kind':'ClusterRole','Name':'t'}: field is "
      "immutable" },
};

static const char pod_certificate_requests_base[] =
    "{" META ",'spec':{'signerName':'example.com/"
    "s','podName':'p','podUID':'u','serviceAccountName':'s','serviceAccountUID':'u','"
    "nodeName':'n','nodeUID':'u','stubPKCS10Request':'"
    "MIG5MGICAQAwADBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABMynV8P+6uT0++"
    "6IvgMGzdk7GEXrK0J2ohnag0YszwxbISZKV8hAQUZ5Y6HiYvxnCWxxNIWg7i05W+"
    "gYY7ZSr62gADAKBggqhkjOPQQDAgNHADBEAiByMRo4AoWBYmTl5KV/Ag2rKCgh/"
    "cnoxFhgS10SOuK5rwIgFUlOlqCp3exSKGo9E0KjKCxk4SssS9mvOkPCm1cA0XA='}}";

static const struct suite_change pod_certificate_requests[] = {
    { "spec/signerName", "'x'",
      "spec.signerName: Invalid value: 'x': must be a fully qualified domain and path of the "
      "form 'example.com/signer-name'" },
    { "spec/podName", "'A'", "spec.podName: Invalid value: 'A': " SUBDOMAIN },
    { "spec/podUID", "''", "spec.podUID: Invalid value: '': must not be empty" },
    { "spec/nodeUID", NULL, "spec.nodeUID: Invalid value: '': must not be empty" },
    { "spec/serviceAccountName", "'A'", "spec.serviceAccountName: Invalid value: 'A': " SUBDOMAIN },
    { "spec/maxExpirationSeconds", "60",
      "spec.maxExpirationSeconds: Invalid value: 60: must be in the range [3600, 7862400]" },
    { "spec/stubPKCS10Request", "'AAAA'",
      "spec.stubPKCS10Request: Invalid value: must be a valid PKCS#10 CSR" },
    { "spec/stubPKCS10Request", NULL,
      "spec: Invalid value: exactly one of (stubPKCS10Request) or (pkixPublicKey, "
      "proofOfPossession) must be set" },
    { "spec/unverifiedUserAnnotations", "{'plain':'x'}",
      "spec.unverifiedUserAnnotations: Invalid value: 'plain': must be a domain-prefixed key "
      "(such as 'acme.io/foo')" },
};

static const struct suite_change pod_certificate_requests_statuses[] = {
    { "status/conditions",
      "[{'type':'Odd','status':'True','reason':'R','lastTransitionTime':'2020-01-02T03:04:05Z'}"
      "]",
      "status.conditions.[0].type: Unsupported value: 'Odd': supported values: 'Issued', "
      "'Denied', 'Failed'" },
    { "status/conditions",
      "[{'type':'Denied','status':'True','reason':'R','lastTransitionTime':'2020-01-02T03:04:"
      "05Z'}]",
      NULL },
    { "status/conditions",
      "[{'type':'Issued','status':'True','reason':'R','lastTransitionTime':'2020-01-02T03:04:"
      "05Z'}]",
      "status.certificateChain: Invalid value: '': issued certificate chain must contain at "
      "least one certificate" },
    { "status/certificateChain", "'x'",
      "status: Invalid value: status is immutable unless transitioning to 'Issued', 'Denied', "
      "or 'Failed'" },
};

/* ---- Roles and bindings that change ---- */

static const char role[] =
    "{" META ",'rules':[{'apiGroups':[''],'resources':['pods'],'verbs':['get']}]}";

static const struct suite_change role_updates[] = {
    { "rules/0/verbs", "['list']", NULL },
    { "rules/0/verbs", "[]", "rules[0].verbs: Required value" },
    { "rules/0/resourceNames", "['a']", NULL },
};

static const char aggregated_role[] =
    "{" CLUSTER_META ",'aggregationRule':{'clusterRoleSelectors':[{'matchLabels':{'a':'b'}}]}}";

static const struct suite_change cluster_role_updates[] = {
    { "aggregationRule", NULL, NULL },
    { "aggregationRule", "{}",
      "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector "
      "required if aggregationRule is non-nil" },
    { "aggregationRule/clusterRoleSelectors", "[{'matchLabels':{'a':'b c'}}]",
      "aggregationRule.clusterRoleSelectors[0].matchLabels: Invalid value: 'b c': " LABEL_VALUE "\n"
      "aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector." },
    { "rules", "[{'nonResourceURLs':['/x'],'verbs':['get']}]", NULL },
};

static const char role_binding[] =
    "{" META ",'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'ClusterRole','name':'r'},'"
    "subjects':[{'kind':'Group','apiGroup':'rbac.authorization.k8s.io','name':'g'}]}";

static const struct suite_change binding_subjects[] = {
    { "subjects", NULL, NULL },
    { "subjects/0/apiGroup", "''", NULL },
    { "subjects/0/name", "''", "subjects[0].name: Required value" },
    { "subjects",
      "[{'kind':'ServiceAccount','name':'s','namespace':'n','apiGroup':'rbac.authorization.k8s.io'}"
      "]",
      "subjects[0].apiGroup: Unsupported value: 'rbac.authorization.k8s.io': supported values: "
      "''" },
    { "subjects", "[{'kind':'ServiceAccount','name':'A','namespace':'n'}]",
      "subjects[0].name: Invalid value: 'A': " SUBDOMAIN },
};

/* ---- Certificates of pods ---- */

#define STUB                                                           \
    "MIG5MGICAQAwADBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABMynV8P+6uT0++"   \
    "6IvgMGzdk7GEXrK0J2ohnag0YszwxbISZKV8hAQUZ5Y6HiYvxnCWxxNIWg7i05W+" \
    "gYY7ZSr62gADAKBggqhkjOPQQDAgNHADBEAiByMRo4AoWBYmTl5KV/Ag2rKCgh/"  \
    "cnoxFhgS10SOuK5rwIgFUlOlqCp3exSKGo9E0KjKCxk4SssS9mvOkPCm1cA0XA="

static const char pod_request[] =
    "{" META ",'spec':{'signerName':'example.com/"
    "s','podName':'p','podUID':'u','serviceAccountName':'s','serviceAccountUID':'u','"
    "nodeName':'n','nodeUID':'u','maxExpirationSeconds':3600,'stubPKCS10Request':'" STUB "'}}";

static const struct suite_change pod_request_updates[] = {
    { "metadata/labels", "{'a':'b'}", NULL },
    { "spec/podName", "'q'",
      "spec: Invalid value: "
      "{'SignerName':'example.com/"
      "s','PodName':'q','PodUID':'u','ServiceAccountName':'s','ServiceAccountUID':'u','NodeName':'"
      "n','NodeUID':'u','MaxExpirationSeconds':3600,'PKIXPublicKey':null,'ProofOfPossession':null,'"
      "StubPKCS10Request':'MIG5MGICAQAwADBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABMynV8P+6uT0++"
      "6IvgMGzdk7GEXrK0J2ohnag0YszwxbISZKV8hAQUZ5Y6HiYvxnCWxxNIWg7i05W+"
      "gYY7ZSr62gADAKBggqhkjOPQQDAgNHADBEAiByMRo4AoWBYmTl5KV/Ag2rKCgh/"
      "cnoxFhgS10SOuK5rwIgFUlOlqCp3exSKGo9E0KjKCxk4SssS9mvOkPCm1cA0XA=','UnverifiedUserAnnotations'"
      ":null}: field is immutable" },
};

static const struct suite_change pod_request_specs[] = {
    { "spec/maxExpirationSeconds", NULL, NULL },
    { "spec/maxExpirationSeconds", "7862401",
      "spec.maxExpirationSeconds: Invalid value: 7862401: must be in the range [3600, 7862400]" },
    { "spec/signerName", "'kubernetes.io/s'", NULL },
};

static const struct suite_change pod_request_statuses[] = {
    { "status/conditions",
      "[{'type':'Failed','status':'True','reason':'R','lastTransitionTime':'2020-01-02T03:04:05Z'}"
      "]",
      NULL },
    { "status/conditions",
      "[{'type':'Failed','status':'False','reason':'R','lastTransitionTime':'2020-01-02T03:04:05Z'}"
      "]",
      "status.conditions.[0].status: Unsupported value: 'False': supported values: 'True'" },
    { "status/conditions",
      "[{'type':'Failed','status':'True','reason':'R','lastTransitionTime':'2020-01-02T03:04:05Z'},"
      "{'type':'Denied','status':'True','reason':'R','lastTransitionTime':'2020-01-02T03:04:05Z'}]",
      "status.conditions.[1].type: Invalid value: 'Denied': There may be at most one condition "
      "with type 'Issued', 'Denied', or 'Failed'" },
    { "status",
      "{'certificateChain':'x','conditions':[{'type':'Denied','status':'True','reason':'R','"
      "lastTransitionTime':'2020-01-02T03:04:05Z'}]}",
      "status: Invalid value: non-condition status fields must be empty when denying or failing "
      "the PodCertificateRequest" },
    { "status",
      "{'certificateChain':'x','conditions':[{'type':'Issued','status':'True','reason':'R','"
      "lastTransitionTime':'2020-01-02T03:04:05Z'}]}",
      "status.certificateChain: Invalid value: 'x': issued certificate chain must contain at least "
      "one certificate" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("rbac.authorization.k8s.io/v1", "Role", roles_base, roles),
        SUITE_CREATES("rbac.authorization.k8s.io/v1", "ClusterRole", cluster_roles_base,
                      cluster_roles),
        SUITE_CREATES("rbac.authorization.k8s.io/v1", "RoleBinding", role_bindings_base,
                      role_bindings),
        SUITE_UPDATES("rbac.authorization.k8s.io/v1", "RoleBinding", role_bindings_base,
                      role_bindings_changes),
        SUITE_CREATES("rbac.authorization.k8s.io/v1", "ClusterRoleBinding",
                      cluster_role_bindings_base, cluster_role_bindings),
        SUITE_UPDATES("rbac.authorization.k8s.io/v1", "ClusterRoleBinding",
                      cluster_role_bindings_base, cluster_role_bindings_changes),
        SUITE_CREATES("certificates.k8s.io/v1", "PodCertificateRequest",
                      pod_certificate_requests_base, pod_certificate_requests),
        SUITE_UPDATES_SUB("certificates.k8s.io/v1", "PodCertificateRequest", "status",
                          pod_certificate_requests_base, pod_certificate_requests_statuses),
        SUITE_UPDATES("rbac.authorization.k8s.io/v1", "Role", role, role_updates),
        SUITE_UPDATES("rbac.authorization.k8s.io/v1", "ClusterRole", aggregated_role,
                      cluster_role_updates),
        SUITE_CREATES("rbac.authorization.k8s.io/v1", "RoleBinding", role_binding,
                      binding_subjects),
        SUITE_UPDATES("certificates.k8s.io/v1", "PodCertificateRequest", pod_request,
                      pod_request_updates),
        SUITE_CREATES("certificates.k8s.io/v1", "PodCertificateRequest", pod_request,
                      pod_request_specs),
        SUITE_UPDATES_SUB("certificates.k8s.io/v1", "PodCertificateRequest", "status", pod_request,
                          pod_request_statuses),
    };
    return SUITE_MAIN(tables);
}
