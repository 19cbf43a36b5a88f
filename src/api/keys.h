/* keys.h - labels, annotations, taints, signers and finalizers that more than one file goes by,
 * spelled once.
 */
#pragma once

#define KEY_ALPHA_METRICS           "autoscaling.alpha.kubernetes.io/metrics"
#define KEY_ALPHA_SECCOMP_CONTAINER "container.seccomp.security.alpha.kubernetes.io/" /* NAME */
#define KEY_ALPHA_SECCOMP_POD       "seccomp.security.alpha.kubernetes.io/pod"
#define KEY_AUTOMANAGED             "kube-aggregator.kubernetes.io/automanaged"
#define KEY_AUTOUPDATE              "rbac.authorization.kubernetes.io/autoupdate"
#define KEY_FLOW_AUTOUPDATE         "apf.kubernetes.io/autoupdate-spec"
#define KEY_BETA_APPARMOR_CONTAINER "container.apparmor.security.beta.kubernetes.io/" /* NAME */
#define KEY_BETA_ARCH               "beta.kubernetes.io/arch"
#define KEY_BETA_DEFAULT_CLASS      "storageclass.beta.kubernetes.io/is-default-class"
#define KEY_BETA_INSTANCE_TYPE      "beta.kubernetes.io/instance-type"
#define KEY_BETA_OS                 "beta.kubernetes.io/os"
#define KEY_BETA_REGION             "failure-domain.beta.kubernetes.io/region"
#define KEY_BETA_STORAGE_CLASS      "volume.beta.kubernetes.io/storage-class"
#define KEY_BETA_ZONE               "failure-domain.beta.kubernetes.io/zone"
#define KEY_CONTROLLER_UID          "batch.kubernetes.io/controller-uid"
#define KEY_DEFAULT_CLASS           "storageclass.kubernetes.io/is-default-class"
#define KEY_HOSTNAME                "kubernetes.io/hostname"
#define KEY_JOB_NAME                "batch.kubernetes.io/job-name"
#define KEY_NODE_NOT_READY          "node.kubernetes.io/not-ready"
#define KEY_OLD_CONTROLLER_UID      "controller-uid"
#define KEY_OLD_JOB_NAME            "job-name"
#define KEY_PREFER_AVOID_PODS       "scheduler.alpha.kubernetes.io/preferAvoidPods"
#define KEY_PRESERVE_ZERO_SHARES    "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"
#define KEY_ROLLBACK_TO             "deprecated.deployment.rollback.to"
#define KEY_SIGNER_LEGACY_UNKNOWN   "kubernetes.io/legacy-unknown"
#define KEY_TEMPLATE_GENERATION     "deprecated.daemonset.template.generation"
#define KEY_TOPOLOGY_REGION         "topology.kubernetes.io/region"
#define KEY_TOPOLOGY_ZONE           "topology.kubernetes.io/zone"

#define FINALIZER_FOREGROUND "foregroundDeletion"
#define FINALIZER_KUBERNETES "kubernetes" /* of the contents of a namespace */
#define FINALIZER_ORPHAN     "orphan"
