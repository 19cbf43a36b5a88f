/* expression_check.h - whether the expressions in an object can be compiled and are of the type
 * that is asked for: those of admission policies, of match conditions of webhooks and of selectors
 * of devices. Other kinds have none. Rules only: no I/O. */
#pragma once

#include "api/field_errors.h"
#include "api/kind.h"

/* `old_obj` is NULL for a new object; expressions that it had are not looked at again. Faults are
 * put between those that are there, as upstream meets them. */
void expression_check(struct field_errors *e, const struct kind_resource *r,
                      const struct value *obj, const struct value *old_obj);
