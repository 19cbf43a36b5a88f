/* manifests_refused.h - objects of the manifests that a server refuses, and why: words that
 * upstream answers too, where it is set up alike (one family of addresses, nothing in it).
 * Templates that something else fills in, parts for kustomize, examples of what is wrong, and
 * mistakes that nobody has noticed since clients check less. */
#pragma once

#include <stddef.h>

struct refused {
    const char *file;
    size_t doc; /* in the file, from 0 */
    const char *why;
};

static const struct refused refused[] = {
    /* Faults that Go's decoder finds, or that strict decoding refuses. */
    { "kubernetes-autoscaler/cluster-autoscaler/cloudprovider/azure/examples/"
      "cluster-autoscaler-aks.yaml",
      5, "illegal base64 data at input byte 0" },
    { "kubernetes-autoscaler/cluster-autoscaler/cloudprovider/azure/examples/"
      "cluster-autoscaler-autodiscover.yaml",
      5, "illegal base64 data at input byte 0" },
    { "kubernetes-autoscaler/cluster-autoscaler/cloudprovider/azure/examples/"
      "cluster-autoscaler-standard-control-plane.yaml",
      5, "illegal base64 data at input byte 0" },
    { "kubernetes-autoscaler/cluster-autoscaler/cloudprovider/azure/examples/"
      "cluster-autoscaler-standard-msi.yaml",
      5, "illegal base64 data at input byte 0" },
    { "kubernetes-autoscaler/cluster-autoscaler/cloudprovider/azure/examples/"
      "cluster-autoscaler-standard.yaml",
      5, "illegal base64 data at input byte 0" },
    { "kubernetes-autoscaler/cluster-autoscaler/cloudprovider/azure/examples/"
      "cluster-autoscaler-vmss-control-plane.yaml",
      5, "illegal base64 data at input byte 0" },
    { "kubernetes-autoscaler/cluster-autoscaler/cloudprovider/azure/examples/"
      "cluster-autoscaler-vmss-msi.yaml",
      5, "illegal base64 data at input byte 0" },
    { "kubernetes-autoscaler/cluster-autoscaler/cloudprovider/azure/examples/"
      "cluster-autoscaler-vmss.yaml",
      5, "illegal base64 data at input byte 0" },
    { "kubernetes-examples/_archived/openshift-origin/etcd-controller.yaml", 0,
      "duplicate field \"spec.selector\"" },
    { "kubernetes-examples/_archived/openshift-origin/etcd-discovery-controller.yaml", 0,
      "duplicate field \"spec.selector\"" },
    { "kubernetes-examples/_archived/openshift-origin/openshift-controller.yaml", 0,
      "duplicate field \"spec.selector\"" },
    { "kubernetes-examples/_archived/persistent-volume-provisioning/quobyte/"
      "quobyte-admin-secret.yaml",
      0, "duplicate field \"type\"" },
    { "kubernetes-examples/_archived/volumes/fibre_channel/fc.yaml", 0,
      "json: cannot unmarshal string into Go struct field FCVolumeSource.spec.volumes.fc.lun of "
      "type int32" },
    { "kubernetes-examples/_archived/volumes/rbd/rbd.yaml", 0,
      "unknown field \"spec.volumes[0].rbd.imageformat\", unknown field "
      "\"spec.volumes[0].rbd.imagefeatures\"" },
    { "kubernetes-examples/_archived/volumes/scaleio/pod.yaml", 0,
      "unknown field \"spec.volumes[0].scaleIO.protectionDoamin\"" },
    { "kubernetes-examples/_archived/volumes/scaleio/sc-pvc.yaml", 0,
      "duplicate field \"spec.storageClassName\"" },
    { "kubernetes-examples/_archived/volumes/storageos/storageos-pod.yaml", 0,
      "unknown field \"spec.volumes[0].storageos.pool\"" },
    { "kubernetes-examples/_archived/volumes/storageos/storageos-pv.yaml", 0,
      "unknown field \"spec.storageos.secretName\"" },
    { "kubernetes-ingress-nginx/docs/examples/customization/ssl-dh-param/ssl-dh-param.yaml", 0,
      "illegal base64 data at input byte 0" },
    { "kubernetes-kubernetes/test/e2e/testing-manifests/serviceloadbalancer/netexecsvc.yaml", 0,
      "unknown field \"spec.Type\"" },
    { "kubernetes-website/content/en/examples/access/manifest-admission-control/"
      "validating-webhook.yaml",
      0, "illegal base64 data at input byte 0" },
    { "kubernetes-website/content/en/examples/secret/tls-auth-secret.yaml", 0,
      "illegal base64 data at input byte 7" },
    { "kubernetes-website/content/en/examples/service/networking/dual-stack-ipv6-svc.yaml", 0,
      "unknown field \"spec.ipFamily\"" },
    { "kubernetes-ingress-nginx/docs/examples/auth/oauth-external-auth/vouch-proxy.yaml", 0,
      "json: cannot unmarshal bool into Go struct field "
      "EnvVar.spec.template.spec.containers.env.value of type string" },
    /* What this server was not set up for, or has already. */
    { "istio-istio/samples/bookinfo/platform/kube/bookinfo-details-dualstack.yaml", 0,
      "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured "
      "for dual-stack services" },
    { "istio-istio/samples/bookinfo/platform/kube/bookinfo-dualstack.yaml", 0,
      "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured "
      "for dual-stack services" },
    { "istio-istio/samples/bookinfo/platform/kube/bookinfo-dualstack.yaml", 3,
      "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured "
      "for dual-stack services" },
    { "istio-istio/samples/bookinfo/platform/kube/bookinfo-dualstack.yaml", 6,
      "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured "
      "for dual-stack services" },
    { "istio-istio/samples/bookinfo/platform/kube/bookinfo-dualstack.yaml", 11,
      "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured "
      "for dual-stack services" },
    { "istio-istio/samples/bookinfo/platform/kube/bookinfo-ratings-discovery-dualstack.yaml", 0,
      "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured "
      "for dual-stack services" },
    { "istio-istio/samples/bookinfo/platform/kube/bookinfo-ratings-dualstack.yaml", 0,
      "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured "
      "for dual-stack services" },
    { "istio-istio/samples/helloworld/helloworld-dual-stack.yaml", 0,
      "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured "
      "for dual-stack services" },
    { "istio-istio/samples/tcp-echo/tcp-echo-dual-stack.yaml", 0,
      "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured "
      "for dual-stack services" },
    { "istio-istio/samples/tcp-echo/tcp-echo-ipv6.yaml", 0,
      "spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster" },
    { "kubernetes-kubernetes/hack/testdata/kubernetes-service.yaml", 0,
      "services \"kubernetes\" already exists" },
    { "kubernetes-website/content/en/examples/policy/high-priority-pod.yaml", 0,
      "pods \"high-priority\" is forbidden: no PriorityClass with name high was found" },
    { "kubernetes-website/content/en/examples/service/networking/dual-stack-ipfamilies-ipv6.yaml",
      0, "spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster" },
    { "kubernetes-website/content/en/examples/service/networking/"
      "dual-stack-prefer-ipv6-lb-svc.yaml",
      0, "spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster" },
    { "kubernetes-website/content/en/examples/service/networking/"
      "dual-stack-preferred-ipfamilies-svc.yaml",
      0, "spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster" },
    { "projectcontour-contour/examples/example-workload/httpproxy/00-common/00-namespaces.yaml", 1,
      "namespaces \"default\" already exists" },
    /* Rules of validation. */
    { "kubernetes-website/content/en/examples/access/manifest-admission-control/"
      "list-format-policy.yaml",
      0, "names ending with \".static.k8s.io\" are reserved" },
    { "fluxcd-helm-controller/config/rbac/cluster_role_binding.yaml", 0,
      "subjects[0].namespace: Required value" },
    { "istio-istio/samples/mtls-echo/mtls-echo.yaml", 1,
      "spec.template.spec.containers[0].volumeMounts[1].name: Not found: \"ca-certs\"" },
    { "kubernetes-examples/_archived/storage/vitess/vttablet-pod-template.yaml", 0,
      "metadata.name: Invalid value: \"vttablet-{{uid}}\": a lowercase RFC 1123 subdomain" },
    { "kubernetes-examples/_archived/sysdig-cloud/sysdig-rc.yaml", 0,
      "spec.selector: Required value" },
    { "kubernetes-examples/_archived/volumes/aws_ebs/aws-ebs-web.yaml", 0,
      "spec.containers[0].ports[0].protocol: Unsupported value: \"tcp\": supported values: "
      "\"SCTP\", \"TCP\", \"UDP\"" },
    { "kubernetes-examples/_archived/volumes/cinder/cinder-web.yaml", 0,
      "spec.containers[0].ports[0].protocol: Unsupported value: \"tcp\": supported values: "
      "\"SCTP\", \"TCP\", \"UDP\"" },
    { "kubernetes-ingress-nginx/docs/examples/auth/oauth-external-auth/oauth2-proxy.yaml", 2,
      "spec.rules[0].host: Invalid value: \"__INGRESS_HOST__\": a lowercase RFC 1123 subdomain" },
    { "kubernetes-ingress-nginx/docs/examples/auth/oauth-external-auth/oauth2-proxy.yaml", 3,
      "spec.rules[0].host: Invalid value: \"__INGRESS_HOST__\": a lowercase RFC 1123 subdomain" },
    { "kubernetes-ingress-nginx/docs/examples/auth/oauth-external-auth/vouch-proxy.yaml", 2,
      "spec.rules[0].host: Invalid value: \"__INGRESS_HOST__\": a lowercase RFC 1123 subdomain" },
    { "kubernetes-ingress-nginx/docs/examples/auth/oauth-external-auth/vouch-proxy.yaml", 3,
      "spec.rules[0].host: Invalid value: \"__INGRESS_HOST__\": a lowercase RFC 1123 subdomain" },
    { "kubernetes-ingress-nginx/docs/examples/docker-registry/ingress-with-tls.yaml", 0,
      "spec.rules[0].host: Invalid value: \"registry.<your domain>\": a lowercase RFC 1123 "
      "subdomain" },
    { "kubernetes-ingress-nginx/docs/examples/docker-registry/ingress-without-tls.yaml", 0,
      "spec.rules[0].host: Invalid value: \"registry.<your domain>\": a lowercase RFC 1123 "
      "subdomain" },
    { "kubernetes-kubernetes/hack/testdata/deployment-label-change3.yaml", 0,
      "spec.template.metadata.labels: Invalid value: {\"name\":\"nginx3\"}: `selector` does not "
      "match template `labels`" },
    { "kubernetes-kubernetes/hack/testdata/multi-resource-3.yaml", 1,
      "metadata.name: Invalid value: \"POD-B\": a lowercase RFC 1123 subdomain" },
    { "kubernetes-kubernetes/hack/testdata/pod-apply-status.yaml", 0,
      "spec.containers: Required value" },
    { "kubernetes-kubernetes/test/e2e/testing-manifests/storage-csi/external-snapshot-metadata/"
      "backup-client-rbac.yaml",
      2, "subjects[0].namespace: Required value" },
    { "kubernetes-kubernetes/test/e2e/testing-manifests/storage-csi/gce-pd/"
      "csi-controller-rbac.yaml",
      2, "subjects[0].namespace: Required value" },
    { "kubernetes-kubernetes/test/e2e/testing-manifests/storage-csi/gce-pd/"
      "csi-controller-rbac.yaml",
      4, "subjects[0].namespace: Required value" },
    { "kubernetes-kubernetes/test/e2e/testing-manifests/storage-csi/gce-pd/"
      "csi-controller-rbac.yaml",
      6, "subjects[0].namespace: Required value" },
    { "kubernetes-kubernetes/test/e2e/testing-manifests/storage-csi/gce-pd/"
      "csi-controller-rbac.yaml",
      8, "subjects[0].namespace: Required value" },
    { "kubernetes-kubernetes/test/e2e/testing-manifests/storage-csi/gce-pd/"
      "csi-controller-rbac.yaml",
      11, "subjects[0].namespace: Required value" },
    { "kubernetes-sigs-metrics-server/manifests/base/deployment.yaml", 0,
      "spec.selector: Required value" },
    { "kubernetes-website/content/en/examples/access/manifest-admission-control/"
      "deny-privileged-policy.yaml",
      0,
      "metadata.name: Invalid value: \"example-deny-privileged.static.k8s.io\": names ending with "
      "\".static.k8s.io\" are " },
    { "kubernetes-website/content/en/examples/access/manifest-admission-control/"
      "deny-privileged-policy.yaml",
      1,
      "metadata.name: Invalid value: \"example-deny-privileged-binding.static.k8s.io\": names "
      "ending with \".static.k8s." },
    { "kubernetes-website/content/en/examples/access/manifest-admission-control/"
      "protect-admission-resources.yaml",
      0,
      "metadata.name: Invalid value: \"example-protect-admission-resources.static.k8s.io\": names "
      "ending with \".static." },
    { "kubernetes-website/content/en/examples/access/manifest-admission-control/"
      "protect-admission-resources.yaml",
      1,
      "metadata.name: Invalid value: "
      "\"example-protect-admission-resources-binding.static.k8s.io\": names ending with \"" },
    { "kubernetes-website/content/en/examples/application/job/job-tmpl.yaml", 0,
      "metadata.name: Invalid value: \"process-item-$ITEM\": a lowercase RFC 1123 subdomain" },
    { "kubernetes-website/content/en/examples/pods/pod-with-numeric-toleration.yaml", 0,
      "spec.tolerations[0].operator: Unsupported value: \"Gt\": supported values: \"Equal\", "
      "\"Exists\", \"Lt\", \"Gt\"" },
    { "kubernetes-website/content/en/examples/pods/security/seccomp/fields.yaml", 0,
      "spec.ephemeralContainers: Forbidden: cannot be set on create" },
    { "rook-rook/deploy/examples/cleanup-job.yaml", 0,
      "metadata.name: Invalid value: \"rook-ceph-cleanup-<node-hostname>\": a lowercase RFC 1123 "
      "subdomain" },
    { "rook-rook/deploy/examples/sqlitevfs-client.yaml", 3,
      "subjects[0].namespace: Required value" },
};
