/* initializers.h - metadata.initializers: who still has to work on an object before it counts.
 *
 * Kubernetes 1.7 to 1.13 had them. An object with somebody pending, or with a result, is not
 * initialized: lists and watches leave it out. Rules only: no I/O, nothing is changed. */
#pragma once

#include "api/field_errors.h"

/* metadata.initializers; NULL: there are none, the object is initialized. */
const struct value *initializers_of(const struct value *obj);
/* They are there and say that nothing is left to do: such are never stored. */
bool initializers_are_done(const struct value *initializers);
/* Whether somebody is still to come. */
bool initializers_are_pending(const struct value *obj);
/* The Status by which one of them refused the object; NULL: none did. */
const struct value *initializers_result(const struct value *obj);

void initializers_validate(struct field_errors *e, const struct value *obj);
/* What may become of them. */
void initializers_validate_update(struct field_errors *e, const struct value *obj,
                                  const struct value *old_obj);
