/* definitions_refused.h - objects of custom kinds in the manifests that a server refuses, and why:
 * words that upstream answers too. */
#pragma once

#include <stddef.h>

struct refused {
    const char *file;
    size_t doc; /* in the file, from 0 */
    const char *why;
};

static const struct refused refused[] = {
    /* An example for an older definition. */
    { "istio-istio/samples/security/spire-trust-domain-federation/"
      "cluster-federated-trust-domain.yaml",
      0, "unknown field \"spec.className\"" },
    /* A template: its placeholders are filled in before it is sent. */
    { "kubernetes-sigs-gateway-api/conformance/tests/gateway-static-addresses.yaml", 0,
      "\"spec.addresses[1].value\" must validate at least one schema (anyOf)" },
    /* A template, too. */
    { "kubernetes-sigs-gateway-api/conformance/tests/gatewayclass-observed-generation-bump.yaml", 0,
      "spec.controllerName: Invalid value: \"{GATEWAY_CONTROLLER_NAME}\"" },
    /* Parts of objects, for reading. */
    { "prometheus-operator-prometheus-operator/example/user-guides/scrapeclass/"
      "scrapeclass-example-definition.yaml",
      0, "metadata.name: Required value" },
    { "prometheus-operator-prometheus-operator/example/user-guides/scrapeclass/"
      "scrapeclass-example-podmonitor.yaml",
      0, "spec.selector: Required value" },
    { "prometheus-operator-prometheus-operator/example/user-guides/scrapeclass/"
      "scrapeclass-example-servicemonitor.yaml",
      0, "spec.selector: Required value" },
    /* Indented too far: generateName is a label, and the name an annotation. */
    { "argoproj-argo-workflows/examples/fun-with-gifs.yaml", 0, "metadata.name: Required value" },
    { "argoproj-argo-workflows/examples/k8s-jobs.yaml", 0, "metadata.name: Required value" },
    /* Wrong on purpose. */
    { "kubernetes-csi-external-snapshotter/examples/kubernetes/invalid-snapshot-v1.yaml", 0,
      "exactly one of volumeSnapshotContentName and persistentVolumeClaimName must be set" },
    /* Fields that the definition does not have. */
    { "cilium-cilium/examples/policies/auth/auth.yaml", 0,
      "unknown field \"spec.egress[0].auth\"" },
    { "cilium-cilium/examples/policies/l3/requires/requires.yaml", 0,
      "unknown field \"specs[0].ingress[0].fromRequires[0].matchLabels\"" },
    /* To be filled in by whoever uses it. */
    { "rook-rook/deploy/examples/object-multisite-pull-realm-test.yaml", 1,
      "spec.pull.endpoint: Invalid value: \"<endpoint>\"" },
    { "rook-rook/deploy/examples/object-multisite-pull-realm.yaml", 1,
      "spec.pull.endpoint: Invalid value: \"<endpoint>\"" },
    /* Fields that the definition does not have, or has elsewhere. */
    { "traefik-traefik/docs/content/reference/dynamic-configuration/kubernetes-crd-resource.yml", 9,
      "unknown field \"spec.certificatesSecrets\"" },
    { "cloudnative-pg-cloudnative-pg/docs/src/samples/cluster-example-bis.yaml", 0,
      "unknown field \"spec.backup.volumeSnapshot.groupSnapshot\"" },
    { "cloudnative-pg-cloudnative-pg/docs/src/samples/cluster-restore-with-tablespaces.yaml", 0,
      "unknown field \"spec.tablespaces.atablespace\"" },
    { "projectcontour-contour/examples/example-workload/httpproxy/03-routes/"
      "httpproxy-lb-request-hash.yaml",
      0,
      "unknown field "
      "\"spec.routes[0].loadBalancerPolicy.requestHashPolicies[0].headerHashOptions.name\"" },
    /* A version that there is not. */
    { "projectcontour-contour/examples/example-workload/httpproxy/03-routes/"
      "httpproxy-response-timeout.yaml",
      0, "404" },
    /* Rules without a name, which is required. */
    { "kubernetes-sigs-jobset/site/static/examples/failure-policy/failjobset-action.yaml", 0,
      "spec.failurePolicy.rules[0].name: Required value" },
    { "kubernetes-sigs-jobset/site/static/examples/failure-policy/"
      "host-maintenance-event-model.yaml",
      0, "spec.failurePolicy.rules[0].name: Required value" },
    { "kubernetes-sigs-jobset/site/static/examples/failure-policy/"
      "onjobfailurereasons-present-podfailurepolicy.yaml",
      0, "spec.failurePolicy.rules[0].name: Required value" },
    { "kubernetes-sigs-jobset/site/static/examples/failure-policy/onjobfailurereasons-present.yaml",
      0, "spec.failurePolicy.rules[0].name: Required value" },
    { "kubernetes-sigs-jobset/site/static/examples/failure-policy/restartjobset-action.yaml", 0,
      "spec.failurePolicy.rules[0].name: Required value" },
    { "kubernetes-sigs-jobset/site/static/examples/failure-policy/"
      "restartjobsetandignoremaxrestarts-action.yaml",
      0, "spec.failurePolicy.rules[0].name: Required value" },
};
