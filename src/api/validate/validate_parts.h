/* validate_parts.h - parts that objects of several kinds have in common, beyond single fields:
 * node selectors, conditions, names of drivers. */
#pragma once

#include "api/text_set.h"
#include "api/validate/validate_common.h"

/* What a label of nodes must be; `any_values`: label values are not looked at. */
bool validate_node_selector(struct field_errors *e, const struct field_path *path,
                            const struct value *selector, bool any_values);
bool validate_node_selector_term(struct field_errors *e, const struct field_path *path,
                                 const struct value *term, bool any_values);

/* The list `status.conditions` of newer kinds. */
bool validate_conditions(struct field_errors *e, const struct field_path *path,
                         const struct value *conditions);
/* Whether the condition of that type is there and true. */
bool validate_has_condition(const struct value *conditions, struct str type);

/* The name of a CSI or DRA driver: required, a subdomain in any case, of at most 63 bytes. */
bool validate_driver(struct field_errors *e, const struct field_path *path, struct str name);

/* An item that is there already: its key is noted as a duplicate. */
bool validate_unique_texts(struct field_errors *e, const struct field_path *path,
                           const struct value *list);
/* Whether a list has this text; where it is asked for each item of another list, that list's texts
 * belong in a set. */
bool validate_list_has(const struct value *list, struct str text);
void validate_add_texts(struct text_set *set, const struct value *list);

/* An address that traffic can be sent to: none of the special ranges. Says so too where it is no
 * address at all. */
bool validate_endpoint_ip(struct field_errors *e, const struct field_path *path, struct str text);
/* Where a load balancer answers: `status.loadBalancer`. Addresses that the old status had are taken
 * as they are. With `modes` the ipMode of addresses is looked at. */
void validate_load_balancer(struct field_errors *e, const struct field_path *path,
                            const struct value *status, const struct value *old, bool modes);

/* ---- Warnings ---- */

/* Warns "PATH: TEXT". */
void validate_warn_at(struct validate_warnings *w, const struct field_path *path, const char *fmt,
                      ...) __attribute__((format(printf, 3, 4)));
/* What to use instead of a label of nodes that goes away, or NULL. */
const char *validate_deprecated_node_label(struct str key);
/* Of deprecated labels in a term of a node selector; with `values` of bad label values too. */
void validate_warn_node_term(struct validate_warnings *w, const struct field_path *path,
                             const struct value *term, bool values);
/* Of deprecated labels in a label selector for nodes. */
void validate_warn_node_labels(struct validate_warnings *w, const struct field_path *path,
                               const struct value *selector);
/* Of an address or a block that is written in an unusual way. */
void validate_warn_ip(struct validate_warnings *w, const struct field_path *path, struct str text);
void validate_warn_cidr(struct validate_warnings *w, const struct field_path *path,
                        struct str text);
