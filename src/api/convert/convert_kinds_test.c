/* Each kind whose versions differ: an object of the old version and the same object of its hub, in
 * YAML that leaves out what the two have in common. */
#include "api/convert/suite_convert.h"
#include "api/suite_json.h"
#include "base/idiom.h"

enum way { BOTH, IN, OUT }; /* which of the two is made from the other */

struct row {
    const char *version, *kind;
    enum way way;
    const char *old_obj, *hub_obj;
};

static void check_way(struct arena *a, const struct kind_type *from, const struct kind_type *to,
                      const char *given, const char *wanted)
{
    struct err err = ERR_INIT(a);
    struct value in = suite_convert_read(a, from, given), want = suite_convert_read(a, to, wanted),
                 got;
    if (convert_object(a, from, to, &in, &got, &err) < 0)
        fail_msg("%s: " STR_FMT, given, STR_ARG(err.msg));
    suite_json_same(&got, &want, given);
}

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct arena a;
        arena_init(&a);
        const struct kind_type *old = suite_convert_type(rows[i].version, rows[i].kind);
        const struct kind_type *hub = convert_hub(old);
        assert_ptr_not_equal(hub, old);
        if (rows[i].way != OUT)
            check_way(&a, old, hub, rows[i].old_obj, rows[i].hub_obj);
        if (rows[i].way != IN)
            check_way(&a, hub, old, rows[i].hub_obj, rows[i].old_obj);
        arena_done(&a);
    }
}

#define CHECK(rows) check_rows((rows), ARRAY_LEN(rows))

/* ---- Workloads ---- */

static void workloads(void **state)
{
    (void)state;
#define ROLLBACK   "deprecated.deployment.rollback.to"
#define GENERATION "deprecated.daemonset.template.generation"
    static const struct row rows[] = {
        { "extensions/v1beta1", "Deployment", BOTH, "{spec: {rollbackTo: {revision: 3}}}",
          "{metadata: {annotations: {" ROLLBACK ": '3'}}}" },
        { "apps/v1beta1", "Deployment", BOTH,
          "{metadata: {annotations: {a: b}}, spec: {rollbackTo: {}, paused: true}}",
          "{metadata: {annotations: {a: b, " ROLLBACK ": '0'}}, spec: {paused: true}}" },
        { "apps/v1beta1", "Deployment", IN, "{metadata: {annotations: {" ROLLBACK ": '3'}}}",
          "{}" },
        { "apps/v1beta1", "Deployment", OUT, "{metadata: {annotations: {" ROLLBACK ": ''}}}",
          "{metadata: {annotations: {" ROLLBACK ": ''}}}" },
        { "apps/v1beta1", "Deployment", OUT, "{spec: {rollbackTo: {revision: 7}}}",
          "{metadata: {annotations: {" ROLLBACK ": '+07'}}}" },
        { "apps/v1beta2", "Deployment", BOTH, "{metadata: {annotations: {" ROLLBACK ": '3'}}}",
          "{metadata: {annotations: {" ROLLBACK ": '3'}}}" },
        { "extensions/v1beta1", "DaemonSet", BOTH, "{spec: {templateGeneration: 5}}",
          "{metadata: {annotations: {" GENERATION ": '5'}}}" },
        { "extensions/v1beta1", "DaemonSet", BOTH, "{}",
          "{metadata: {annotations: {" GENERATION ": '0'}}}" },
        { "extensions/v1beta1", "DaemonSet", OUT, "{}", "{}" },
        { "apps/v1beta2", "DaemonSet", BOTH, "{metadata: {annotations: {" GENERATION ": '5'}}}",
          "{metadata: {annotations: {" GENERATION ": '5'}}}" },
        { "extensions/v1beta1", "ReplicaSet", BOTH,
          "{spec: {replicas: 2, selector: {matchLabels: {a: b}}}}",
          "{spec: {replicas: 2, selector: {matchLabels: {a: b}}}}" },
        { "apps/v1beta1", "StatefulSet", BOTH,
          "{spec: {serviceName: s}, status: {observedGeneration: 4}}",
          "{spec: {serviceName: s}, status: {observedGeneration: 4}}" },
        { "apps/v1beta1", "StatefulSet", OUT, "{}", "{status: {observedGeneration: 0}}" },
        { "apps/v1beta2", "ControllerRevision", BOTH, "{data: {a: [1]}, revision: 2}",
          "{data: {a: [1]}, revision: 2}" },
        { "batch/v2alpha1", "CronJob", BOTH, "{spec: {schedule: '* * * * *', suspend: true}}",
          "{spec: {schedule: '* * * * *', suspend: true}}" },
        { "batch/v1beta1", "CronJob", BOTH, "{spec: {schedule: '@daily', timeZone: Etc/UTC}}",
          "{spec: {schedule: '@daily', timeZone: Etc/UTC}}" },
    };
    CHECK(rows);
}

static void scales(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "extensions/v1beta1", "Scale", BOTH,
          "{spec: {replicas: 2}, status: {replicas: 1, selector: {a: b, c: ''}, targetSelector: "
          "'a=b,c='}}",
          "{spec: {replicas: 2}, status: {replicas: 1, selector: 'a=b,c='}}" },
        { "apps/v1beta1", "Scale", IN, "{status: {selector: {a: b, c: d}}}",
          "{status: {selector: 'a=b,c=d'}}" },
        { "apps/v1beta2", "Scale", IN, "{status: {selector: {a: b}, targetSelector: x in (y)}}",
          "{status: {selector: x in (y)}}" },
        { "apps/v1beta2", "Scale", OUT, "{status: {targetSelector: 'a=b,x in (y,z)'}}",
          "{status: {selector: 'a=b,x in (y,z)'}}" },
        { "apps/v1beta2", "Scale", OUT, "{status: {targetSelector: 'a!=b'}}",
          "{status: {selector: 'a!=b'}}" },
        { "apps/v1beta2", "Scale", OUT, "{status: {targetSelector: a}}",
          "{status: {selector: a}}" },
        { "apps/v1beta2", "Scale", OUT,
          "{status: {targetSelector: 'a == b , e.f/c=d', selector: {a: b, e.f/c: d}}}",
          "{status: {selector: 'a == b , e.f/c=d'}}" },
        { "apps/v1beta2", "Scale", BOTH, "{spec: {replicas: 1}}", "{spec: {replicas: 1}}" },
    };
    CHECK(rows);
}

/* ---- Networking ---- */

static void ingresses(void **state)
{
    (void)state;
#define PATHS "rules: [{host: h, http: {paths: [{path: /, pathType: Exact, backend: "
    static const struct row rows[] = {
        { "extensions/v1beta1", "Ingress", BOTH,
          "{spec: {backend: {serviceName: s, servicePort: 80}}}",
          "{spec: {defaultBackend: {service: {name: s, port: {number: 80}}}}}" },
        { "networking.k8s.io/v1beta1", "Ingress", BOTH,
          "{spec: {ingressClassName: c, " PATHS "{serviceName: s, servicePort: '80'}}]}}]}}",
          "{spec: {ingressClassName: c, " PATHS "{service: {name: s, port: {name: '80'}}}}]}}]}}" },
        { "networking.k8s.io/v1beta1", "Ingress", BOTH,
          "{spec: {backend: {resource: {kind: K, name: nn}, servicePort: 0}}}",
          "{spec: {defaultBackend: {resource: {kind: K, name: nn}}}}" },
        { "extensions/v1beta1", "Ingress", IN, "{spec: {backend: {servicePort: ''}}}",
          "{spec: {defaultBackend: {service: {name: ''}}}}" },
        { "extensions/v1beta1", "Ingress", IN, "{spec: {backend: {serviceName: s}}}",
          "{spec: {defaultBackend: {service: {name: s}}}}" },
        { "extensions/v1beta1", "Ingress", IN, "{spec: {backend: {servicePort: 0}}}",
          "{spec: {defaultBackend: {}}}" },
        { "extensions/v1beta1", "Ingress", OUT,
          "{spec: {backend: {serviceName: s, servicePort: web}}}",
          "{spec: {defaultBackend: {service: {name: s, port: {name: web, number: 8}}}}}" },
        { "extensions/v1beta1", "Ingress", BOTH,
          "{status: {loadBalancer: {ingress: [{ip: 10.0.0.1, hostname: h}]}}}",
          "{status: {loadBalancer: {ingress: [{ip: 10.0.0.1, hostname: h}]}}}" },
        { "extensions/v1beta1", "Ingress", BOTH, "{}", "{}" },
        { "extensions/v1beta1", "NetworkPolicy", BOTH,
          "{spec: {podSelector: {}, egress: [{ports: [{port: 1, endPort: 2}]}]}}",
          "{spec: {podSelector: {}, egress: [{ports: [{port: 1, endPort: 2}]}]}}" },
    };
    CHECK(rows);
}

static void endpoint_slices(void **state)
{
    (void)state;
#define SLICE "discovery.k8s.io/v1beta1", "EndpointSlice"
#define ZONE  "topology.kubernetes.io/zone"
#define HOST  "kubernetes.io/hostname"
    static const struct row rows[] = {
        { SLICE, BOTH,
          "{addressType: IPv4, endpoints: [{addresses: [a], nodeName: nn, topology: {" ZONE
          ": zz, " HOST ": nn}}]}",
          "{addressType: IPv4, endpoints: [{addresses: [a], nodeName: nn, zone: zz}]}" },
        { SLICE, BOTH,
          "{addressType: IPv4, endpoints: [{addresses: [a], nodeName: nn, topology: {x: z, " HOST
          ": other}}]}",
          "{addressType: IPv4, endpoints: [{addresses: [a], nodeName: nn, deprecatedTopology: "
          "{x: z, " HOST ": other}}]}" },
        { SLICE, BOTH,
          "{addressType: IPv4, endpoints: [{addresses: [a], topology: {" HOST ": nn}}]}",
          "{addressType: IPv4, endpoints: [{addresses: [a], deprecatedTopology: {" HOST
          ": nn}}]}" },
        { SLICE, IN, "{addressType: IPv4, endpoints: [{addresses: [a], nodeName: nn}]}",
          "{addressType: IPv4, endpoints: [{addresses: [a], nodeName: nn}]}" },
        { SLICE, BOTH,
          "{addressType: FQDN, endpoints: [{addresses: [a], hints: {forZones: [{name: z}]}}]}",
          "{addressType: FQDN, endpoints: [{addresses: [a], hints: {forZones: [{name: z}]}}]}" },
    };
    CHECK(rows);
}

/* ---- Policy, access, nodes ---- */

static void budgets(void **state)
{
    (void)state;
#define PDB "policy/v1beta1", "PodDisruptionBudget"
#define KEY "key: pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"
    static const struct row rows[] = {
        { PDB, BOTH, "{spec: {selector: {}}}",
          "{spec: {selector: {matchExpressions: [{" KEY ", operator: Exists}]}}}" },
        { PDB, BOTH, "{spec: {selector: {matchExpressions: [{" KEY ", operator: DoesNotExist}]}}}",
          "{spec: {selector: {}}}" },
        { PDB, BOTH, "{spec: {minAvailable: 1}}", "{spec: {minAvailable: 1}}" },
        { PDB, BOTH, "{spec: {selector: {matchLabels: {a: b}}}}",
          "{spec: {selector: {matchLabels: {a: b}}}}" },
        { PDB, IN,
          "{spec: {selector: {matchLabels: {a: b}, matchExpressions: [{" KEY
          ", operator: DoesNotExist}, {key: k, operator: Exists}]}}}",
          "{spec: {selector: {matchLabels: {a: b}, matchExpressions: [{key: k, operator: "
          "Exists}]}}}" },
        { PDB, IN, "{spec: {selector: {matchExpressions: [{" KEY ", operator: Exists}]}}}",
          "{spec: {selector: {}}}" },
        { PDB, OUT,
          "{spec: {selector: {matchLabels: {a: b}, matchExpressions: [{" KEY
          ", operator: Exists}]}}}",
          "{spec: {selector: {matchLabels: {a: b}, matchExpressions: [{" KEY
          ", operator: Exists}]}}}" },
        { "policy/v1beta1", "Eviction", BOTH, "{deleteOptions: {gracePeriodSeconds: 3}}",
          "{deleteOptions: {gracePeriodSeconds: 3}}" },
        { "extensions/v1beta1", "PodSecurityPolicy", BOTH, "{spec: {privileged: true}}",
          "{spec: {privileged: true}}" },
    };
    CHECK(rows);
}

static void access_rules(void **state)
{
    (void)state;
#define BINDING "rbac.authorization.k8s.io/v1alpha1", "RoleBinding"
#define RBAC    "rbac.authorization.k8s.io"
    static const struct row rows[] = {
        { BINDING, BOTH,
          "{subjects: [{kind: ServiceAccount, apiVersion: v1, name: a, namespace: nn}]}",
          "{subjects: [{kind: ServiceAccount, name: a, namespace: nn}]}" },
        { BINDING, BOTH,
          "{subjects: [{kind: User, apiVersion: " RBAC "/v1alpha1, name: a}, {kind: Group, "
          "apiVersion: " RBAC "/v1alpha1, name: b}]}",
          "{subjects: [{kind: User, apiGroup: " RBAC ", name: a}, {kind: Group, apiGroup: " RBAC
          ", name: b}]}" },
        { BINDING, IN, "{subjects: [{kind: User, apiVersion: other/v1, name: '*'}]}",
          "{subjects: [{kind: Group, apiGroup: " RBAC ", name: 'system:authenticated'}]}" },
        { BINDING, IN,
          "{subjects: [{kind: K, apiVersion: g/v1, name: a}, {kind: K, apiVersion: v1, name: b}, "
          "{kind: K, apiVersion: a/b/c, name: c}]}",
          "{subjects: [{kind: K, apiGroup: g, name: a}, {kind: K, name: b}, {kind: K, name: c}]}" },
        { BINDING, OUT,
          "{subjects: [{kind: K, apiVersion: g/, name: a}, {kind: User, name: b}, {kind: User, "
          "apiVersion: o/, name: c}]}",
          "{subjects: [{kind: K, apiGroup: g, name: a}, {kind: User, name: b}, {kind: User, "
          "apiGroup: o, name: c}]}" },
        { "rbac.authorization.k8s.io/v1alpha1", "ClusterRoleBinding", BOTH,
          "{subjects: [{kind: ServiceAccount, apiVersion: v1, name: a}], roleRef: {kind: "
          "ClusterRole, name: r}}",
          "{subjects: [{kind: ServiceAccount, name: a}], roleRef: {kind: ClusterRole, name: r}}" },
        { "rbac.authorization.k8s.io/v1beta1", "RoleBinding", BOTH,
          "{subjects: [{kind: User, apiGroup: " RBAC ", name: '*'}]}",
          "{subjects: [{kind: User, apiGroup: " RBAC ", name: '*'}]}" },
        { "rbac.authorization.k8s.io/v1alpha1", "ClusterRole", BOTH,
          "{rules: [{verbs: [get], nonResourceURLs: [/x]}]}",
          "{rules: [{verbs: [get], nonResourceURLs: [/x]}]}" },
        { "authorization.k8s.io/v1beta1", "SubjectAccessReview", BOTH,
          "{spec: {user: u, group: [a, b]}}", "{spec: {user: u, groups: [a, b]}}" },
        { "authorization.k8s.io/v1beta1", "LocalSubjectAccessReview", BOTH, "{spec: {group: [a]}}",
          "{spec: {groups: [a]}}" },
        { "node.k8s.io/v1alpha1", "RuntimeClass", BOTH,
          "{spec: {runtimeHandler: h, overhead: {podFixed: {cpu: 1}}, scheduling: {nodeSelector: "
          "{a: b}}}}",
          "{handler: h, overhead: {podFixed: {cpu: 1}}, scheduling: {nodeSelector: {a: b}}}" },
        { "certificates.k8s.io/v1beta1", "CertificateSigningRequest", BOTH,
          "{spec: {signerName: a/b, request: YQ==}}", "{spec: {signerName: a/b, request: YQ==}}" },
    };
    CHECK(rows);
}

static void priority_levels(void **state)
{
    (void)state;
#define LEVEL(version) "flowcontrol.apiserver.k8s.io/" version, "PriorityLevelConfiguration"
#define ZERO           "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"
    static const struct row rows[] = {
        { LEVEL("v1beta1"), BOTH, "{spec: {type: Limited, limited: {assuredConcurrencyShares: 5}}}",
          "{spec: {type: Limited, limited: {nominalConcurrencyShares: 5}}}" },
        { LEVEL("v1beta2"), BOTH, "{spec: {type: Limited, limited: {assuredConcurrencyShares: 0}}}",
          "{spec: {type: Limited, limited: {nominalConcurrencyShares: 0}}}" },
        { LEVEL("v1beta3"), BOTH, "{spec: {type: Limited, limited: {nominalConcurrencyShares: 5}}}",
          "{spec: {type: Limited, limited: {nominalConcurrencyShares: 5}}}" },
        { LEVEL("v1beta3"), BOTH,
          "{metadata: {annotations: {" ZERO
          ": ''}}, spec: {type: Limited, limited: {nominalConcurrencyShares: 0}}}",
          "{spec: {type: Limited, limited: {nominalConcurrencyShares: 0}}}" },
        { LEVEL("v1beta3"), BOTH, "{spec: {type: Exempt}}", "{spec: {type: Exempt}}" },
    };
    CHECK(rows);
}

/* ---- Devices ---- */

static void devices(void **state)
{
    (void)state;
#define DEVICES(kind) "resource.k8s.io/v1beta1", kind
    static const struct row rows[] = {
        { DEVICES("ResourceClaim"), BOTH,
          "{spec: {devices: {requests: [{name: r, deviceClassName: c, allocationMode: ExactCount, "
          "count: 2, adminAccess: false}]}}}",
          "{spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c, allocationMode: "
          "ExactCount, count: 2, adminAccess: false}}]}}}" },
        { DEVICES("ResourceClaim"), BOTH,
          "{spec: {devices: {requests: [{name: r, firstAvailable: [{name: s, deviceClassName: "
          "c}]}]}}}",
          "{spec: {devices: {requests: [{name: r, firstAvailable: [{name: s, deviceClassName: "
          "c}]}]}}}" },
        { DEVICES("ResourceClaimTemplate"), BOTH,
          "{spec: {spec: {devices: {requests: [{name: r, deviceClassName: c}]}}}}",
          "{spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c}}]}}}}" },
        { DEVICES("ResourceSlice"), BOTH,
          "{spec: {driver: d, nodeName: nn, devices: [{name: a, basic: {attributes: {x: {int: 1}}, "
          "nodeName: m}}, {name: b, basic: {}}]}}",
          "{spec: {driver: d, nodeName: nn, devices: [{name: a, attributes: {x: {int: 1}}, "
          "nodeName: m}, {name: b}]}}" },
    };
    CHECK(rows);
}

/* ---- Definitions of custom resources ---- */

static void definitions(void **state)
{
    (void)state;
#define CRD    "apiextensions.k8s.io/v1beta1", "CustomResourceDefinition"
#define V(n)   "name: " n ", served: true, storage: true"
#define SCHEMA "{openAPIV3Schema: {type: object}}"
#define FALSE  "preserveUnknownFields: false"
    static const struct row rows[] = {
        { CRD, IN, "{spec: {version: v1}}", "{spec: {versions: [{" V("v1") "}]}}" },
        { CRD, BOTH, "{spec: {version: v1, versions: [{" V("v1") "}], " FALSE "}}",
          "{spec: {versions: [{" V("v1") "}]}}" },
        { CRD, BOTH, "{spec: {" FALSE "}}", "{}" },
        { CRD, BOTH, "{spec: {preserveUnknownFields: true}}",
          "{spec: {preserveUnknownFields: true}}" },
        { CRD, BOTH,
          "{spec: {version: a, " FALSE ", validation: " SCHEMA
          ", subresources: {status: {}}, additionalPrinterColumns: [{name: c, type: string, "
          "JSONPath: .x}], selectableFields: [{jsonPath: .y}], versions: [{" V("a") "}, {" V(
              "b") "}]}}",
          "{spec: {versions: [{" V(
              "a") ", schema: " SCHEMA ", subresources: {status: {}}, additionalPrinterColumns: "
                   "[{name: c, type: string, "
                   "jsonPath: .x}], selectableFields: [{jsonPath: .y}]}, {" V(
                       "b") ", schema: " SCHEMA
                            ", subresources: {status: {}}, additionalPrinterColumns: [{name: c, "
                            "type: string, "
                            "jsonPath: .x}], selectableFields: [{jsonPath: .y}]}]}}" },
        { CRD, BOTH,
          "{spec: {version: a, " FALSE ", validation: " SCHEMA
          ", versions: [{" V("a") ", additionalPrinterColumns: [{name: c, type: string, JSONPath: "
                                  ".x}]}, {" V("b") "}]}}",
          "{spec: {versions: [{" V(
              "a") ", schema: " SCHEMA
                   ", additionalPrinterColumns: [{name: c, type: string, jsonPath: .x}]}, {" V(
                       "b") ", schema: " SCHEMA "}]}}" },
        { CRD, BOTH,
          "{spec: {" FALSE ", conversion: {strategy: Webhook, webhookClientConfig: {url: u}, "
          "conversionReviewVersions: [v1]}}}",
          "{spec: {conversion: {strategy: Webhook, webhook: {clientConfig: {url: u}, "
          "conversionReviewVersions: [v1]}}}}" },
        { CRD, BOTH, "{spec: {" FALSE ", conversion: {strategy: None}}}",
          "{spec: {conversion: {strategy: None}}}" },
        { CRD, BOTH,
          "{spec: {" FALSE ", conversion: {strategy: Webhook, conversionReviewVersions: [v1]}}}",
          "{spec: {conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1]}}}}" },
    };
    CHECK(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workloads),       cmocka_unit_test(scales),
        cmocka_unit_test(ingresses),       cmocka_unit_test(endpoint_slices),
        cmocka_unit_test(budgets),         cmocka_unit_test(access_rules),
        cmocka_unit_test(priority_levels), cmocka_unit_test(devices),
        cmocka_unit_test(definitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
