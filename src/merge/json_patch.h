/* json_patch.h - JSON patch (RFC 6902), as kube-apiserver applies it.
 *
 * All operations or none: the document is changed only if every operation could be done. Bounded:
 * LIMIT_PATCH_OPERATIONS operations, LIMIT_PATCH_COPY_BYTES of what `copy` repeats, and a result no
 * deeper than LIMIT_JSON_DEPTH; in time near linear in the patch and the document. Rules only: no
 * I/O. */
#pragma once

#include "api/typed.h"
#include "base/err.h"
#include "base/value.h"

/* Is it a list of operations, and not too long a one? ERR_BAD_REQUEST in the words of Go's decoder,
 * ERR_TOO_LARGE. With `notes` as for fieldValidation Warn and Strict, which decode it first into
 * operations and note members that none has (`json patch unknown field "[0].note"`); without as for
 * Ignore. */
int json_patch_check(struct arena *a, const struct value *patch, struct typed_notes *notes,
                     struct err *err);

/* ERR_INVALID, in upstream's one sentence, for any operation that cannot be done; the document then
 * is as it was. Whoever shares the document keeps what it had. Text and whole subtrees are borrowed
 * from both, so both live as long as the result. The patch has passed json_patch_check(). */
int json_patch_apply(struct arena *a, const struct value *patch, struct value *doc,
                     struct err *err);
/* The same, but the message says which operation cannot be done and why, in the words of upstream's
 * library: for patches that others than the client have made. */
int json_patch_apply_told(struct arena *a, const struct value *patch, struct value *doc,
                          struct err *err);
