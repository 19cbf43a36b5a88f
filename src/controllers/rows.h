/* rows.h - all controllers. Private to this folder. */
#pragma once

#include "controllers/controllers.h"

/* One a line, by name. */
extern const struct controllers_row controllers_attach_detach;
extern const struct controllers_row controllers_autoscaler;
extern const struct controllers_row controllers_bootstrap_signer;
extern const struct controllers_row controllers_claim_protection;
extern const struct controllers_row controllers_cronjob;
extern const struct controllers_row controllers_csr_approver;
extern const struct controllers_row controllers_csr_cleaner;
extern const struct controllers_row controllers_csr_signer;
extern const struct controllers_row controllers_daemonset;
extern const struct controllers_row controllers_deployment;
extern const struct controllers_row controllers_disruption;
extern const struct controllers_row controllers_endpoints;
extern const struct controllers_row controllers_endpointslice_mirroring;
extern const struct controllers_row controllers_endpointslices;
extern const struct controllers_row controllers_ephemeral_volume;
extern const struct controllers_row controllers_garbage;
extern const struct controllers_row controllers_ip_repair;
extern const struct controllers_row controllers_job;
extern const struct controllers_row controllers_legacy_token_cleaner;
extern const struct controllers_row controllers_namespace;
extern const struct controllers_row controllers_node_ipam;
extern const struct controllers_row controllers_node_lifecycle;
extern const struct controllers_row controllers_pod_certificate_cleaner;
extern const struct controllers_row controllers_pod_gc;
extern const struct controllers_row controllers_port_repair;
extern const struct controllers_row controllers_replicaset;
extern const struct controllers_row controllers_replicationcontroller;
extern const struct controllers_row controllers_resource_claim;
extern const struct controllers_row controllers_root_ca;
extern const struct controllers_row controllers_serviceaccount;
extern const struct controllers_row controllers_serviceaccount_token;
extern const struct controllers_row controllers_statefulset;
extern const struct controllers_row controllers_storage_versions;
extern const struct controllers_row controllers_taint_eviction;
extern const struct controllers_row controllers_token_cleaner;
extern const struct controllers_row controllers_trust_bundle;
extern const struct controllers_row controllers_ttl;
extern const struct controllers_row controllers_ttl_after_finished;
extern const struct controllers_row controllers_volume_binder;
extern const struct controllers_row controllers_volume_expander;
extern const struct controllers_row controllers_volume_protection;
