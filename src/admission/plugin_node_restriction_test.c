/* What nodes may write. The node n1 writes; the pod `here` runs on it, `there` on another one. */
#include "admission/suite_admission.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/idiom.h"

static const struct suite_object objects[] = {
    { STR("nodes"), STR("n1"), "{'metadata':{'name':'n1','uid':'u1'}}" },
    { STR("serviceaccounts"), STR("a"), "{'metadata':{'name':'a','uid':'ua'}}" },
    { STR("pods"), STR("here"),
      "{'metadata':{'name':'here','uid':'up'},'spec':{'nodeName':'n1','serviceAccountName':'a',"
      "'volumes':[{'projected':{'sources':[{'serviceAccountToken':{'audience':'vault'}},{"
      "'podCertificate':{'signerName':'s.test/one'}}]}},{'csi':{'driver':'d.test'}}]}}" },
    { STR("pods"), STR("lost"),
      "{'metadata':{'name':'lost','uid':'ul'},'spec':{'nodeName':'n1','volumes':[{"
      "'persistentVolumeClaim':{'claimName':'c'}},{'csi':{'driver':'none'}}]}}" },
    { STR("pods"), STR("there"),
      "{'metadata':{'name':'there','uid':'ut'},'spec':{'nodeName':'n2'}}" },
    { STR("csidrivers"), STR("d.test"), "{'spec':{'tokenRequests':[{'audience':'driver'}]}}" },
};
static const struct str nodes[] = { STR("system:nodes") };
static const struct user n1 = { .name = STR("system:node:n1"), .groups = nodes, .n_groups = 1 };
static const struct suite suite = {
    .objects = objects,
    .n_objects = ARRAY_LEN(objects),
    .user = &n1,
    .allowed = "request-serviceaccounts-token-audience granted a;",
};

#define NODE_REFUSED(name) FORBIDDEN("nodes \"" name "\"")
#define NODE(labels, spec) "{'metadata':{'name':'n1','labels':{" labels "}},'spec':{" spec "}}"

static void own_node(void **state)
{
    static const struct suite_row rows[] = {
        { "", "nodes", NODE("'a':'b','kubernetes.io/os':'linux'", ""), NODE("", ""), NULL, NULL },
        { "", "nodes", NODE("'x.node.kubernetes.io/a':'b','kubelet.kubernetes.io/c':'d'", ""),
          NODE("", ""), NULL, NULL },
        { "", "nodes", NODE("", ""), NODE("'foo.k8s.io/z':'1','foo.k8s.io/a':'1'", ""), NULL,
          NODE_REFUSED("n1") "is not allowed to modify labels: foo.k8s.io/a, foo.k8s.io/z" },
        { "", "nodes", NODE("'node-restriction.kubernetes.io/x':'1'", ""), NULL, NULL,
          NODE_REFUSED("n1") "node \"n1\" is not allowed to set the following labels: "
                             "node-restriction.kubernetes.io/x" },
        { "", "nodes", NODE("", "'configSource':{}"), NULL, NULL,
          NODE_REFUSED("n1") "node \"n1\" is not allowed to create pods with a non-nil "
                             "configSource" },
        { "", "nodes", NODE("", "'taints':[{'key':'a'}]"), NODE("", ""), NULL,
          NODE_REFUSED("n1") "node \"n1\" is not allowed to modify taints" },
        { "", "nodes", NODE("", "'taints':[]"), NODE("", ""), NULL, NULL },
        /* CVE-2025-5187 */
        { "", "nodes", "{'metadata':{'name':'n1','ownerReferences':[{}]}}", NODE("", ""), NULL,
          NODE_REFUSED("n1") "node \"n1\" is not allowed to modify ownerReferences" },
        { "", "nodes", NODE("'foo.k8s.io/z':'1'", ""), NODE("", ""), NULL,
          NODE_REFUSED("n1") "is not allowed to modify labels: foo.k8s.io/z", "status" },
        { "", "nodes", "{'metadata':{'name':'n2'}}", NULL, NULL,
          NODE_REFUSED("n2") "node \"n1\" is not allowed to modify node \"n2\"" },
        { "", "nodes", "{'metadata':{'generateName':'n1'}}", NULL, NULL,
          NODE_REFUSED("n1") "node \"n1\" is not allowed to modify node \"\"" },
        { "", "nodes", NULL, "{'metadata':{'name':'n2'}}", NULL,
          NODE_REFUSED("n2") "node \"n1\" is not allowed to modify node \"n2\"" },
    };
    (void)state;
    SUITE_CHECK(&suite, rows);
}

#define POD_REFUSED FORBIDDEN("pods \"p\"")
#define OWNER       "'apiVersion':'v1','kind':'Node','name':'n1','uid':'u1'"
#define MIRROR(owners, spec)                                                     \
    "{'metadata':{'name':'p','annotations':{'kubernetes.io/config.mirror':'x'}," \
    "'ownerReferences':[" owners "]},'spec':{'nodeName':'n1'" spec "}}"
#define MIRROR_OF(spec) MIRROR("{" OWNER ",'controller':true}", spec)

static void mirror_pods(void **state)
{
    static const struct suite_row rows[] = {
        { "", "pods", "{'metadata':{'name':'p'}}", NULL, NULL,
          POD_REFUSED "pod does not have \"kubernetes.io/config.mirror\" annotation, node \"n1\" "
                      "can only create mirror pods" },
        { "", "pods",
          "{'metadata':{'name':'p','annotations':{'kubernetes.io/config.mirror':''}},'spec':{}}",
          NULL, NULL,
          POD_REFUSED "node \"n1\" can only create pods with spec.nodeName set to itself" },
        { "", "pods", MIRROR("", ""), NULL, NULL,
          POD_REFUSED "node \"n1\" can only create pods with an owner reference set to itself" },
        { "", "pods", MIRROR("{},{}", ""), NULL, NULL,
          POD_REFUSED "node \"n1\" can only create pods with a single owner reference set to "
                      "itself" },
        { "", "pods", MIRROR("{" OWNER "}", ""), NULL, NULL,
          POD_REFUSED "node \"n1\" can only create pods with a controller owner reference set to "
                      "itself" },
        { "", "pods", MIRROR("{" OWNER ",'controller':true,'blockOwnerDeletion':true}", ""), NULL,
          NULL, POD_REFUSED "node \"n1\" must not set blockOwnerDeletion on an owner reference" },
        { "", "pods",
          MIRROR("{'apiVersion':'v1','kind':'Node','name':'n1','uid':'x','controller':true}", ""),
          NULL, NULL, POD_REFUSED "node n1 UID mismatch: expected x got u1" },
        { "", "pods", MIRROR_OF(",'serviceAccountName':'a'"), NULL, NULL,
          POD_REFUSED "node \"n1\" can not create pods that reference serviceaccounts" },
        { "", "pods", MIRROR_OF(",'volumes':[{'secret':{'secretName':'x'}}]"), NULL, NULL,
          POD_REFUSED "node \"n1\" can not create pods that reference secrets" },
        { "", "pods", MIRROR_OF(",'volumes':[{'persistentVolumeClaim':{}}]"), NULL, NULL,
          POD_REFUSED "node \"n1\" can not create pods that reference persistentvolumeclaims" },
        { "", "pods", MIRROR_OF(",'volumes':[{'projected':{'sources':[{'podCertificate':{}}]}}]"),
          NULL, NULL,
          POD_REFUSED "node \"n1\" can not create pods that reference podcertificates" },
        /* CVE-2025-4563 */
        { "", "pods", MIRROR_OF(",'resourceClaims':[{}]"), NULL, NULL,
          POD_REFUSED "node \"n1\" can not create pods that reference resourceclaims" },
    };
    (void)state;
    SUITE_CHECK(&suite, rows);
}

#define HERE(more)  "{'metadata':{'name':'p'},'spec':{'nodeName':'n1'}" more "}"
#define THERE(more) "{'metadata':{'name':'p'},'spec':{'nodeName':'n2'}" more "}"

static void pods(void **state)
{
    static const struct suite_row rows[] = {
        { "", "pods", NULL, HERE(""), NULL, NULL },
        { "", "pods", NULL, THERE(""), NULL,
          POD_REFUSED "node \"n1\" can only delete pods with spec.nodeName set to itself" },
        { "", "pods", HERE(""), HERE(""), NULL,
          POD_REFUSED "unexpected operation \"UPDATE\", node \"n1\" can only create and delete "
                      "mirror pods" },
        { "", "pods", HERE(",'status':{'phase':'Running'}"), HERE(""), NULL, NULL, "status" },
        { "", "pods", THERE(""), THERE(""), NULL,
          POD_REFUSED "node \"n1\" can only update pod status for pods with spec.nodeName set to "
                      "itself",
          "status" },
        { "", "pods", "{'metadata':{'name':'p','labels':{'a':'b'}},'spec':{'nodeName':'n1'}}",
          HERE(""), NULL, POD_REFUSED "node \"n1\" cannot update labels through pod status",
          "status" },
        { "", "pods", HERE(",'status':{'resourceClaimStatuses':[{}]}"), HERE(""), NULL,
          POD_REFUSED "node \"n1\" cannot update resource claim statues", "status" },
        { "", "pods", "{'metadata':{'name':'here'}}", NULL, NULL, NULL, "eviction" },
        { "", "pods", "{'metadata':{'name':'there'}}", NULL, NULL,
          FORBIDDEN("pods \"there\"") "node n1 can only evict pods with spec.nodeName set to "
                                      "itself",
          "eviction" },
        { "", "pods", "{'metadata':{'name':'none'}}", NULL, NULL, "pod \"none\" not found",
          "eviction" },
        { "", "pods", HERE(""), HERE(""), NULL,
          POD_REFUSED "unexpected pod subresource \"resize\", only 'status' and 'eviction' are "
                      "allowed",
          "resize" },
    };
    (void)state;
    SUITE_CHECK(&suite, rows);
}

#define CLAIM(meta, status) "{'metadata':{'name':'c'" meta "},'status':{" status "}}"
#define CLAIM_REFUSED                                                             \
    FORBIDDEN("persistentvolumeclaims \"c\"")                                     \
    "node \"n1\" is not allowed to update fields other than status.quantity and " \
    "status.conditions: "
#define SLICE_REFUSED FORBIDDEN("resourceslices.resource.k8s.io \"s\"")
#define OF_OTHER_NODE " ResourceSlice with the same NodeName as the requesting node"
#define SLICE(node)   "{'metadata':{'name':'s'},'spec':{'nodeName':'" node "'}}"

static void names_and_claims(void **state)
{
    static const char lease_name[] = FORBIDDEN(
        "leases.coordination.k8s.io \"n2\"") "can only access node lease with the same name as "
                                             "the requesting node";
    static const struct suite_row rows[] = {
        { "coordination.k8s.io", "leases", "{'metadata':{'name':'n1'}}", NULL, NULL, NULL,
          .ns = "kube-node-lease" },
        { "coordination.k8s.io", "leases", "{'metadata':{'name':'n2'}}", NULL, NULL, lease_name,
          .ns = "kube-node-lease" },
        { "coordination.k8s.io", "leases", "{'metadata':{'name':'n1'}}", NULL, NULL,
          FORBIDDEN("leases.coordination.k8s.io \"n1\"") "can only access leases in the "
                                                         "\"kube-node-lease\" system namespace" },
        { "storage.k8s.io", "csinodes", "{'metadata':{'name':'n1'}}", NULL, NULL, NULL },
        { "storage.k8s.io", "csinodes", NULL, "{'metadata':{'name':'n2'}}", NULL,
          FORBIDDEN("csinodes.storage.k8s.io \"n2\"") "can only access CSINode with the same name "
                                                      "as the requesting node" },
        { "", "persistentvolumeclaims", CLAIM("", "'capacity':{}"), CLAIM("", ""), NULL, NULL,
          "status" },
        { "", "persistentvolumeclaims", CLAIM("", "'phase':'Bound'"), CLAIM("", ""), NULL,
          CLAIM_REFUSED "@@ -15,7 +15,7 @@\n   \"VolumeAttributesClassName\": null\n  },\n"
                        "  \"Status\": {\n-  \"Phase\": \"\",\n+  \"Phase\": \"Bound\",\n"
                        "   \"AccessModes\": null,\n   \"Capacity\": null,\n"
                        "   \"Conditions\": null,\n",
          "status" },
        { "", "persistentvolumeclaims", CLAIM(",'labels':{'a':'b'}", ""), CLAIM("", ""), NULL,
          CLAIM_REFUSED "@@ -1,5 +1,8 @@\n {\n  \"name\": \"c\",\n+ \"labels\": {\n"
                        "+  \"a\": \"b\"\n+ },\n  \"Spec\": {\n   \"AccessModes\": null,\n"
                        "   \"Selector\": null,\n",
          "status" },
        { "", "persistentvolumeclaims", CLAIM("", ""), CLAIM("", ""), NULL,
          FORBIDDEN("persistentvolumeclaims \"c\"") "may only update PVC status" },
        { "resource.k8s.io", "resourceslices", SLICE("n1"), NULL, NULL, NULL },
        { "resource.k8s.io", "resourceslices", SLICE("n2"), NULL, NULL,
          SLICE_REFUSED "can only create" OF_OTHER_NODE },
        { "resource.k8s.io", "resourceslices", NULL, SLICE("n2"), NULL,
          SLICE_REFUSED "can only delete" OF_OTHER_NODE },
    };
    (void)state;
    SUITE_CHECK(&suite, rows);
}

#define REF(name, uid) \
    "'boundObjectRef':{'apiVersion':'v1','kind':'Pod','name':'" name "','uid':'" uid "'}"
#define TOKEN(spec)   "{'spec':{" spec "}}"
#define TOKEN_REFUSED FORBIDDEN("serviceaccounts \"a\"")
#define TOKEN_ROW(spec, refused)                                              \
    {                                                                         \
        "", "serviceaccounts", TOKEN(spec), NULL, NULL, refused, "token", "a" \
    }

static void tokens(void **state)
{
    static const struct suite_row rows[] = {
        TOKEN_ROW("", TOKEN_REFUSED "node requested token not bound to a pod"),
        TOKEN_ROW(REF("here", ""),
                  TOKEN_REFUSED "node requested token with a pod binding without a uid"),
        TOKEN_ROW(REF("none", "x"), "pod \"none\" not found"),
        TOKEN_ROW(REF("here", "x"),
                  TOKEN_REFUSED "the UID in the bound object reference (x) does not match the UID "
                                "in record. The object might have been deleted and then recreated"),
        TOKEN_ROW(REF("there", "ut"), TOKEN_REFUSED
                  "node requested token bound to a pod scheduled on a different node"),
        TOKEN_ROW("'audiences':['vault']," REF("here", "up"), NULL),
        TOKEN_ROW("'audiences':['driver']," REF("here", "up"), NULL),
        TOKEN_ROW("'audiences':['granted']," REF("here", "up"), NULL),
        TOKEN_ROW("'audiences':['other']," REF("here", "up"),
                  TOKEN_REFUSED "system:node:n1 is not authorized to request tokens for audience "
                                "\"other\""),
        TOKEN_ROW("'audiences':['vault','driver']," REF("here", "up"),
                  TOKEN_REFUSED "node may only request 0 or 1 audiences"),
        TOKEN_ROW(REF("lost", "ul"),
                  TOKEN_REFUSED "error validating audience \"\": [persistentvolumeclaim \"c\" not "
                                "found, csidriver.storage.k8s.io \"none\" not found]"),
    };
    (void)state;
    SUITE_CHECK(&suite, rows);
}

#define PCR         "certificates.k8s.io", "podcertificaterequests"
#define PCR_REFUSED FORBIDDEN("podcertificaterequests.certificates.k8s.io \"r\"")
#define WANTED(node, node_uid, pod, pod_uid, account, account_uid, signer)       \
    "{'metadata':{'name':'r'},'spec':{'signerName':'" signer "','podName':'" pod \
    "','podUID':'" pod_uid "','serviceAccountName':'" account                    \
    "','serviceAccountUID':'" account_uid "','nodeName':'" node "','nodeUID':'" node_uid "'}}"

static void pod_certificates(void **state)
{
    static const struct suite_row rows[] = {
        { PCR, WANTED("n1", "u1", "here", "up", "a", "ua", "s.test/one"), NULL, NULL, NULL },
        { PCR, WANTED("n2", "u1", "here", "up", "a", "ua", "s.test/one"), NULL, NULL,
          PCR_REFUSED "PodCertificateRequest.Spec.NodeName=\"n2\", which is not the requesting "
                      "node \"n1\"" },
        { PCR, WANTED("n1", "x", "here", "up", "a", "ua", "s.test/one"), NULL, NULL,
          "PodCertificateRequest for pod \"ns/here\" names node UID \"x\", inconsistent with the "
          "running node (\"u1\")" },
        { PCR, WANTED("n1", "u1", "none", "up", "a", "ua", "s.test/one"), NULL, NULL,
          "while retrieving pod \"ns/none\" named in the PodCertificateRequest: pod \"none\" not "
          "found" },
        { PCR, WANTED("n1", "u1", "there", "ut", "a", "ua", "s.test/one"), NULL, NULL,
          PCR_REFUSED "pod \"ns/there\" is not running on node \"n1\" named in the "
                      "PodCertificateRequest" },
        { PCR, WANTED("n1", "u1", "here", "up", "b", "ua", "s.test/one"), NULL, NULL,
          PCR_REFUSED "PodCertificateRequest for pod \"ns/here\" contains serviceAccountName "
                      "(\"b\") that differs from running pod (\"a\")" },
        { PCR, WANTED("n1", "u1", "here", "up", "a", "x", "s.test/one"), NULL, NULL,
          "PodCertificateRequest for pod \"ns/here\" names service account UID \"x\", which "
          "differs from the running service account (\"ua\")" },
        { PCR, WANTED("n1", "u1", "here", "up", "a", "ua", "s.test/two"), NULL, NULL,
          PCR_REFUSED "pod \"ns/here\" does not mount a podCertificate projected volume for "
                      "signer \"s.test/two\"" },
    };
    (void)state;
    SUITE_CHECK(&suite, rows);
}

/* Requests of EC keys, for CN=system:node:n1 and CN=system:node:n2. */
#define REQUEST_N1                                                                     \
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIck1JR1NBZ0VBTURBeEZUQVRCZ05W" \
    "QkFvTURITjVjM1JsYlRwdWIyUmxjekVYTUJVR0ExVUVBd3dPYzNsegpkR1Z0T201dlpHVTZiakV3V1RB" \
    "VEJnY3Foa2pPUFFJQkJnZ3Foa2pPUFFNQkJ3TkNBQVRPREtyYkZ5N0w1a2o0Ck1XRWRzMFZ5cWhlV2Nm" \
    "R09OazltK1pVQ3htU1ZZZVA1QzBhYmdvMmZIUmdQR1QwN3VXTXo2YUEzYzdBYmY1ckwKaFI0NlMyVDBv" \
    "QUF3Q2dZSUtvWkl6ajBFQXdJRFNBQXdSUUloQUxsTjd1d3J6Z2pZZ3NrN1Q1VzQ5K0YycE1pKwplVnN1" \
    "NXJ6dHVhakY1L3hnQWlCdVJWWmFPQllyZ25BeHNiZFhDa1NjeG4wN1dTaCtpaUN4eVJGSTFGcHhMQT09" \
    "Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo="
#define REQUEST_N2                                                                     \
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIc01JR1NBZ0VBTURBeEZUQVRCZ05W" \
    "QkFvTURITjVjM1JsYlRwdWIyUmxjekVYTUJVR0ExVUVBd3dPYzNsegpkR1Z0T201dlpHVTZiakl3V1RB" \
    "VEJnY3Foa2pPUFFJQkJnZ3Foa2pPUFFNQkJ3TkNBQVJXVVRvY25ocTc4cE9xCjd4Mzl3c1AvRFQwcTVL" \
    "d3BtSUhpbHdyK1YwVmQ5NmRDMnJ2ZkMva09XYU5FSVRaaTIxY05DSWlvN051WHVIblUKeDhiN01keTlv" \
    "QUF3Q2dZSUtvWkl6ajBFQXdJRFNRQXdSZ0loQUtXano5czcxSk9ZcFpMSHByeHhDc0lsdzhxQQozcktt" \
    "dVM3RnFtOUp5dDRvQWlFQS9FNzZ5SkxpN2xtUkZ2Q3oxL1hqQW1YcTgzS25SUFM0Zkw1WkJySlpvSUk9" \
    "Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo="
static void signing_requests(void **state)
{
    static const struct suite_row rows[] = {
        { "certificates.k8s.io", "certificatesigningrequests",
          "{'metadata':{'name':'r'},'spec':{'signerName':'kubernetes.io/kubelet-serving','request':"
          "'" REQUEST_N1 "'}}",
          NULL, NULL, NULL },
        { "certificates.k8s.io", "certificatesigningrequests",
          "{'metadata':{'name':'r'},'spec':{'signerName':'kubernetes.io/kubelet-serving','request':"
          "'" REQUEST_N2 "'}}",
          NULL, NULL,
          FORBIDDEN(
              "certificatesigningrequests.certificates.k8s.io \"r\"") "can only create a node "
                                                                      "CSR with "
                                                                      "CN=system:node:n1" },
        { "certificates.k8s.io", "certificatesigningrequests",
          "{'metadata':{'name':'r'},'spec':{'signerName':'a.test/other','request':'" REQUEST_N2
          "'}}",
          NULL, NULL, NULL },
        { "certificates.k8s.io", "certificatesigningrequests",
          "{'metadata':{'name':'r'},'spec':{'signerName':'kubernetes.io/kubelet-serving','request':"
          "'eA=='}}",
          NULL, NULL,
          FORBIDDEN("certificatesigningrequests.certificates.k8s.io \"r\"") "unable to parse csr: "
                                                                            "PEM block type must "
                                                                            "be CERTIFICATE "
                                                                            "REQUEST" },
    };
    (void)state;
    SUITE_CHECK(&suite, rows);
}

static void others_are_not_restricted(void **state)
{
    static const struct suite_row rows[] = {
        { "", "nodes", "{'metadata':{'name':'n2'}}", "{'metadata':{'name':'n2'}}", NULL, NULL },
    };
    static const struct suite_row unknown[] = {
        { "", "nodes", "{'metadata':{'name':'n2'}}", "{'metadata':{'name':'n2'}}", NULL,
          NODE_REFUSED("n2") "could not determine node from user \"system:node:\"" },
    };
    const struct user alice = { .name = STR("system:node:n1") },
                      nobody = { .name = STR("system:node:"), .groups = nodes, .n_groups = 1 };
    struct suite s = suite;
    (void)state;
    s.user = &alice; /* not in the group */
    SUITE_CHECK(&s, rows);
    s.user = NULL;
    SUITE_CHECK(&s, rows);
    s.user = &nobody;
    SUITE_CHECK(&s, unknown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_node),
        cmocka_unit_test(mirror_pods),
        cmocka_unit_test(pods),
        cmocka_unit_test(names_and_claims),
        cmocka_unit_test(tokens),
        cmocka_unit_test(pod_certificates),
        cmocka_unit_test(signing_requests),
        cmocka_unit_test(others_are_not_restricted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
