/* plugins.h - all plugins, and what they share. Private to this folder. */
#pragma once

#include "admission/admission.h"

extern const struct admission_plugin plugin_certificate_approval;
extern const struct admission_plugin plugin_certificate_signing;
extern const struct admission_plugin plugin_certificate_subject;
extern const struct admission_plugin plugin_claim_resize;
extern const struct admission_plugin plugin_node_restriction;
extern const struct admission_plugin plugin_node_taint;
extern const struct admission_plugin plugin_pod_security;
extern const struct admission_plugin plugin_priority;
extern const struct admission_plugin plugin_priority_class;
extern const struct admission_plugin plugin_runtime_class;
extern const struct admission_plugin plugin_service_account;
extern const struct admission_plugin plugin_storage_protection;
extern const struct admission_plugin plugin_toleration_seconds;
extern const struct admission_plugin plugin_topology;
extern const struct admission_plugin plugin_trust_bundle;

/* ERR_FORBIDDEN in upstream's words. */
int admission_forbid(struct admission_request *req, const struct value *obj, struct str why,
                     struct err *err);
int admission_forbid_as(struct admission_request *req, const struct value *obj, struct err *err,
                        const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* In quotes, as Go has them; in the arena. */
const char *admission_quoted(struct admission_request *req, struct str text);
/* As the functions of struct admission_cluster. */
int admission_read(struct admission_request *req, struct str group, struct str plural,
                   struct str ns, struct str name, struct value *ret, struct err *err);
int admission_each(struct admission_request *req, struct str group, struct str plural,
                   struct str mark, admission_take *take, void *to, struct err *err);
/* The server itself may do everything. */
bool admission_allows(struct admission_request *req, const struct access *q);
