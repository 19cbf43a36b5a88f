/* merge_patch.h - JSON merge patch (RFC 7386): apply one, and make one from two documents. Objects
 * are merged, null removes, everything else replaces.
 *
 * As kube-apiserver does it: what comes in by a patch loses its null fields also inside lists, and
 * every object that the patch has met is left in the order of its names. Time and memory are near
 * linear in what is given, at any depth. Of duplicate fields the last counts. Rules only: no I/O.
 */
#pragma once

#include "base/value.h"

/* Whoever shares the document keeps what it had. Text and whole subtrees are borrowed from both, so
 * both live as long as the result. */
void merge_patch_apply(struct arena *a, const struct value *patch, struct value *doc);
/* What turns `from` into `to`; an empty object if they are equal. Nulls of `to` cannot be said in a
 * merge patch: where `from` has the field it is removed. */
struct value merge_patch_create(struct arena *a, const struct value *from, const struct value *to);
