/* typed.h - a tree read as its kind: what Go's decoder and encoder would make of it.
 *
 * Kubernetes clients see objects that went through a Go struct: unknown fields are gone, fields
 * come in the struct's order, zero values are left out or not as the struct's tags say, times and
 * quantities are in their canonical form. typed_read() does the same by the kind's table, in one
 * pass, into a new tree; the input is not changed. Empty lists and maps are as good as none,
 * because upstream stores protobuf, which cannot tell them apart. Of duplicate fields the last
 * counts. Rules only: no I/O, no clock. */
#pragma once

#include "api/kind.h"
#include "base/err.h"
#include "base/value.h"

/* What fieldValidation=Warn or Strict reports, in the order met and each once: `unknown field
 * "spec.x"`, `duplicate field "spec.y"`. At most TYPED_NOTES_MAX are kept; `n` goes on counting. */
enum { TYPED_NOTES_MAX = 100 };
struct typed_notes {
    struct str notes[TYPED_NOTES_MAX];
    size_t n;
};

/* `kind` and `apiVersion` are kept, first and in this order, where the type
 * has them. ERR_BAD_REQUEST in the words of Go's decoder: "json: cannot unmarshal string into Go
 * struct field DeploymentSpec.spec.replicas of type int32". `notes` may be NULL. Text is borrowed
 * from `in`; what had to be made anew lies in the arena. What has no type (RawExtension, JSON
 * values) shares its containers with `in`, copy on write. */
int typed_read(struct arena *a, const struct kind_type *t, const struct value *in,
               struct typed_notes *notes, struct value *ret, struct err *err);

/* The same for what a client has sent: where Go's encoder would write an empty list or map it
 * stays, apart from none, which is null. Managers of fields see the difference, the store does not.
 */
int typed_read_sent(struct arena *a, const struct kind_type *t, const struct value *in,
                    struct typed_notes *notes, struct value *ret, struct err *err);

/* The same for a tree that is whole and is now going to be checked: some rules tell what is empty
 * from what is not there. `*ret_has_empty`: typed_read() would change it. */
int typed_read_checked(struct arena *a, const struct kind_type *t, const struct value *in,
                       bool *ret_has_empty, struct value *ret, struct err *err);

/* The same for a tree that the server has made itself: of a strategic merge patch, or of an applied
 * configuration. Go's rules and words are then those of its reflection: "cannot convert int64 to
 * string", and the first mistake is the one of the first field in the struct's order. */
int typed_read_made(struct arena *a, const struct kind_type *t, const struct value *in,
                    struct typed_notes *notes, struct value *ret, struct err *err);

/* How deep types may nest (JSONSchemaProps is the only one that can). */
enum { TYPED_DEPTH_MAX = 500 };
