/* validate_webhook.h - what webhooks, admission policies and custom resource definitions have in
 * common: where a webhook answers, and which requests something is for. */
#pragma once

#include "api/validate/validate_parts.h"

/* `clientConfig`: a URL or a service. With `swapped`, a service that lacks its name is told so of
 * its namespace, and the other way round: so upstream does for admission. */
void validate_client_config(struct field_errors *e, const struct field_path *path,
                            const struct value *config, bool swapped);
void validate_webhook_service(struct field_errors *e, const struct field_path *path,
                              const struct value *service, bool swapped);
void validate_webhook_url(struct field_errors *e, const struct field_path *path, struct str url);

/* Operations, groups, versions, resources and scope. */
void validate_rule_with_operations(struct field_errors *e, const struct field_path *path,
                                   const struct value *rule);
/* Groups, versions and resources, none of them with a subresource. */
void validate_plain_rule(struct field_errors *e, const struct field_path *path,
                         const struct value *rule);
/* A domain of at least three parts, as a webhook or an initializer is named. */
void validate_hook_name(struct field_errors *e, const struct field_path *path, struct str name);
/* Names and expressions; what expressions mean is not looked at. */
void validate_match_conditions(struct field_errors *e, const struct field_path *path,
                               const struct value *conditions);

/* Whether the server speaks that version of reviews. */
bool validate_is_review_version(struct str version);

extern const struct str failure_policies[2], match_policies[2], reinvocation_policies[2];

/* Names that end in ".static.k8s.io" are not for the API. */
void validate_static_name(struct field_errors *e, const struct value *obj);
void validate_warn_static_name(struct validate_warnings *w, const struct value *obj,
                               const struct value *old_obj);
