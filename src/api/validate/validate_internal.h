/* validate_internal.h - shared by the files with the rules of the kinds. */
#pragma once

#include "api/validate/validate.h"

typedef void validate_update_fn(struct field_errors *e, const struct value *obj,
                                const struct value *old_obj);

/* The rules of a path below an object, other than its status. */
struct validate_sub {
    struct str name;
    validate_update_fn *update;
};

/* A kind's rules; any function may be NULL. */
struct validate_rules {
    struct str group, kind;
    void (*create)(struct field_errors *e, const struct value *obj);
    validate_update_fn *update, *update_status;
    void (*warn)(struct validate_warnings *w, const struct value *obj, const struct value *old_obj);
    struct str version;              /* only for requests of that version; without: of any */
    const struct validate_sub *subs; /* ended by one without a name; NULL: none */
};

/* One table a file, named validate__NAME and ended by a row without a kind. A new file is a name in
 * this list. */
/* clang-format off */
#define VALIDATE_TABLES(table)                                                        \
    table(core) table(admission) table(apiregistration) table(certificates)           \
    table(certificates_pod) table(coordination) table(pod) table(quota) table(policy) \
    table(autoscaling) table(batch) table(stateful) table(apps) table(rbac)           \
    table(resource) table(review) table(persistent) table(storage) table(webhook)     \
    table(definition) table(endpoints) table(event) table(flowcontrol) table(ingress) \
    table(network) table(node) table(service) table(dropped)
/* clang-format on */

#define VALIDATE_DECLARE(name) extern const struct validate_rules validate__##name[];
VALIDATE_TABLES(VALIDATE_DECLARE)
#undef VALIDATE_DECLARE
