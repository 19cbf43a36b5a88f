/* validate_internal.h - shared by the files with the rules of the kinds. */
#pragma once

#include "api/validate/validate.h"

/* A kind's rules; any function may be NULL. */
struct validate_rules {
    struct str group, kind;
    void (*create)(struct field_errors *e, const struct value *obj);
    void (*update)(struct field_errors *e, const struct value *obj, const struct value *old_obj);
    void (*update_sub)(struct field_errors *e, struct str sub, const struct value *obj,
                       const struct value *old_obj);
    void (*warn)(struct validate_warnings *w, const struct value *obj, const struct value *old_obj);
    struct str version; /* only for requests of that version; without: of any */
};

/* One table a file, named validate__NAME and ended by a row without a kind. A new file is a name in
 * this list. */
#define VALIDATE_TABLES(table)                                                                \
    table(core) table(admission) table(apiregistration) table(certificates)                   \
        table(certificates_pod) table(coordination) table(pod) table(quota) table(policy)     \
            table(autoscaling) table(batch) table(stateful) table(apps) table(rbac)           \
                table(resource) table(review) table(persistent) table(storage) table(webhook) \
                    table(definition) table(endpoints) table(event) table(flowcontrol)        \
                        table(ingress) table(network) table(node) table(service) table(dropped)

#define VALIDATE_DECLARE(name) extern const struct validate_rules validate__##name[];
VALIDATE_TABLES(VALIDATE_DECLARE)
#undef VALIDATE_DECLARE
