/* mutation.h - what the result of a mutating expression makes of an object. Private to this folder.
 *
 * An Object{...} is merged into it as a configuration that somebody applies; a list of
 * JSONPatch{...} is done to it. Either way the object is then read as its kind again, with
 * defaults. */
#pragma once

#include "admission/dynamic/view.h"
#include "cel/cel.h"

/* `*ret`, in the arena, is the object of the view as it is now, complete. ERR_INVALID in upstream's
 * words: the policy is at fault. Other errors are the answer. The result is copied. */
int mutation_apply(struct arena *a, const struct view *v, const struct cel_value *result,
                   struct value *ret, struct err *err);
int mutation_patch(struct arena *a, const struct view *v, const struct cel_value *result,
                   struct value *ret, struct err *err);
