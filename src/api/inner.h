/* inner.h - a value as upstream's messages show it where its rules look at structs without JSON
 * names: all fields are there, in Go's names, null or zero where they are not set.
 *
 *     Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"view"}
 *
 * Go's name is the field's with a capital, but for abbreviations, which are capitals altogether;
 * those that occur are in a table. Structs of the meta group (selectors, times) keep their JSON. */
#pragma once

#include "api/field_errors.h"
#include "api/kind.h"

/* `type` is the name of a struct of that version ("rbac.authorization.k8s.io/v1", "RoleRef"); the
 * value is one, a list of them, or absent. Empty when there is no more room for faults. */
struct str inner_json(struct field_errors *e, struct str api_version, struct str type,
                      const struct value *v);

/* How one became the other: both forms, a field a line, as a unified diff. */
struct str inner_diff(struct field_errors *e, struct str api_version, struct str type,
                      const struct value *old, const struct value *new_val);
