/* last_applied.h - the annotation in which kubectl keeps what it has applied on the client's side,
 * where server-side apply takes over from it. Only the manager "kubectl" has this. */
#pragma once

#include "merge/managed.h"

/* What was applied by the client and is still so in the live object; NULL without a usable
 * annotation. */
const struct fieldset *last_applied_paths(struct arena *a, const struct managed_request *req,
                                          const struct value *live);

/* If the object has the annotation: sets it to what is applied now. */
void last_applied_write(struct arena *a, const struct value *applied, struct value *obj);
