/* validate_resource_list.h - the rules of resource lists: which names may stand where, and which
 * quantities with them. For pods, quotas, limits and classes. */
#pragma once

#include "api/resource_name.h"
#include "api/validate/validate_common.h"

bool validate_resource_is_native(struct str name); /* unqualified, or of kubernetes.io */
bool validate_resource_is_extended(struct str name);
/* Whether a huge page quantity is a multiple of the page that its name tells. */
bool validate_resource_is_divisible(struct str name, struct str quantity);

/* A name that stands for a resource at all, and one that containers may ask for. */
bool validate_resource_name(struct field_errors *e, const struct field_path *path, struct str name);
bool validate_container_resource(struct field_errors *e, const struct field_path *path,
                                 struct str name);
/* Not negative, and whole where the resource is counted. */
bool validate_resource_quantity(struct field_errors *e, const struct field_path *path,
                                struct str name, struct str quantity);

enum resource_flags {
    RESOURCES_OF_POD = 1,        /* only what a whole pod may ask for */
    RESOURCES_ANY_HUGEPAGES = 2, /* an old object had some that are no multiples */
};
/* Requests, limits and claims. `claims` are those that the pod declares, or NULL. */
void validate_resource_requirements(struct field_errors *e, const struct field_path *path,
                                    const struct value *resources, const struct value *claims,
                                    unsigned flags);
