/* plugins.h - all plugins, and what they share. Private to this folder. */
#pragma once

#include "admission/admission.h"

extern const struct admission_plugin plugin_always_admit;
extern const struct admission_plugin plugin_always_deny;
extern const struct admission_plugin plugin_anti_affinity;
extern const struct admission_plugin plugin_certificate_approval;
extern const struct admission_plugin plugin_certificate_signing;
extern const struct admission_plugin plugin_certificate_subject;
extern const struct admission_plugin plugin_claim_resize;
extern const struct admission_plugin plugin_declared_features;
extern const struct admission_plugin plugin_event_rate;
extern const struct admission_plugin plugin_external_ips;
extern const struct admission_plugin plugin_image_policy;
extern const struct admission_plugin plugin_ingress_class;
extern const struct admission_plugin plugin_initializers;
extern const struct admission_plugin plugin_namespace_exists;
extern const struct admission_plugin plugin_namespace_lifecycle;
extern const struct admission_plugin plugin_namespace_provision;
extern const struct admission_plugin plugin_limit_ranger;
extern const struct admission_plugin plugin_mutating_policy;
extern const struct admission_plugin plugin_node_restriction;
extern const struct admission_plugin plugin_node_selector;
extern const struct admission_plugin plugin_node_taint;
extern const struct admission_plugin plugin_owner_rights;
extern const struct admission_plugin plugin_pod_group;
extern const struct admission_plugin plugin_pod_preset;
extern const struct admission_plugin plugin_pod_resize;
extern const struct admission_plugin plugin_pod_security;
extern const struct admission_plugin plugin_priority;
extern const struct admission_plugin plugin_priority_class;
extern const struct admission_plugin plugin_pull_images;
extern const struct admission_plugin plugin_resource_quota;
extern const struct admission_plugin plugin_resource_toleration;
extern const struct admission_plugin plugin_runtime_class;
extern const struct admission_plugin plugin_service_account;
extern const struct admission_plugin plugin_storage_class;
extern const struct admission_plugin plugin_storage_protection;
extern const struct admission_plugin plugin_toleration_restriction;
extern const struct admission_plugin plugin_toleration_seconds;
extern const struct admission_plugin plugin_topology;
extern const struct admission_plugin plugin_trust_bundle;
extern const struct admission_plugin plugin_validating_policy;
extern const struct admission_plugin plugin_webhook_mutating;
extern const struct admission_plugin plugin_webhook_validating;

/* NULL: there is none of that number. */
const struct admission_plugin *admission_plugin_at(size_t plugin);
/* Whether it is asked at all. */
bool admission_is_chosen(size_t plugin, const struct admission_choice *choice);
/* What that plugin remembers; NULL: nothing, or there is none of that number. */
const struct admission_memo *admission_memo_of(size_t plugin);

/* ERR_FORBIDDEN in upstream's words. */
int admission_forbid(struct admission_request *req, const struct value *obj, struct str why,
                     struct err *err);
int admission_forbid_as(struct admission_request *req, const struct value *obj, struct err *err,
                        const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Whether the object is new. One that initializers work on may still become any other, so it counts
 * as such. */
bool admission_is_in_the_making(const struct admission_request *req);
/* In quotes, as Go has them; in the arena. */
const char *admission_quoted(struct admission_request *req, struct str text);
/* As the functions of struct admission_cluster. */
int admission_read(struct admission_request *req, struct str group, struct str plural,
                   struct str ns, struct str name, struct value *ret, struct err *err);
int admission_each(struct admission_request *req, struct str group, struct str plural,
                   struct str mark, admission_take *take, void *to, struct err *err);
int admission_each_in(struct admission_request *req, struct str group, struct str plural,
                      struct str ns, admission_take *take, void *to, struct err *err);
/* All quotas of the request's namespace. */
int admission_each_quota(struct admission_request *req, admission_take *take, void *to,
                         struct err *err);
/* As those; where nobody listens nothing happens. */
void admission_warn(struct admission_request *req, struct str text);
void admission_annotate(struct admission_request *req, struct str key, struct str value);
/* The server itself may do everything. */
bool admission_allows(struct admission_request *req, const struct access *q);
