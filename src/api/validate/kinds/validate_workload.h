/* validate_workload.h - what kinds that make pods from a template have in common. */
#pragma once

#include "api/validate/pod/validate_pod.h"

/* That the selector, which is required unless `is_optional`, is a good one and selects something.
 * `kind` names the object in the message ("deployment"). */
void validate_workload_selector(struct field_errors *e, const struct field_path *path,
                                const struct value *selector, const char *kind);
/* That the template's labels are selected; nothing is said where the selector is bad or empty. */
void validate_selected(struct field_errors *e, const struct field_path *template_path,
                       const struct value *template, const struct value *selector);
/* Pods that run for ever: restarted always, without a deadline. */
void validate_lasting_template(struct field_errors *e, const struct field_path *template_path,
                               const struct value *template, const char *kind);

/* Counts of a status: `fields` may not be negative. */
void validate_counts(struct field_errors *e, const struct field_path *path,
                     const struct value *status, const struct str *fields, size_t n);
/* `field` may not be greater than `other`, which the message calls `other_name`. */
void validate_at_most(struct field_errors *e, const struct field_path *path,
                      const struct value *status, struct str field, struct str other,
                      const char *other_name);
void validate_not_decremented(struct field_errors *e, const struct field_path *path,
                              const struct value *status, const struct value *old_status,
                              struct str field);

/* Warnings of the template at spec.template; on updates only where the generation has changed. With
 * `is_named`, of the object's own name on creation too. */
void validate_warn_workload(struct validate_warnings *w, const struct value *obj,
                            const struct value *old_obj, bool is_named);
