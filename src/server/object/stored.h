/* stored.h - an object as it lies in the store, and its key.
 *
 * The bytes of an object are its JSON in the storage version, made so that reads splice them and
 * parse nothing:
 *
 *     'J'  u32 where the resourceVersion goes  u32 where metadata ends   {"metadata":{...},...}
 *
 * The two numbers are offsets into the JSON, little-endian. Objects of custom kinds, whose schemas
 * change, also have the mark of the schema they were written by, and its version:
 *
 *     'C'  u32  u32  u32 mark  u8 length  version   {"metadata":{...},...}
 *
 The JSON has neither kind and
 * apiVersion, which a list leaves out and anything else puts in front, nor a resourceVersion, which
 * is the revision that the store gives. A key is PREFIX/NAMESPACE/NAME or PREFIX/NAME, as in
 * etcd. Rules only: no I/O. */
#pragma once

#include "api/kind.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/value.h"
#include "store/store.h"

/* The key of an object; of a namespace's objects with an empty name, of all with both empty. The
 * last two end with a slash and are prefixes for ranges and watches. */
struct str stored_key(struct arena *a, const struct kind_resource *r, struct str ns,
                      struct str name);
/* Takes a key apart again. `ret_ns` is empty for cluster-scoped objects. */
void stored_key_parts(const struct kind_resource *r, struct str key, struct str *ret_ns,
                      struct str *ret_name);

/* The built-in resource that the object of this key is of; NULL if there is none. Prefixes are one
 * word behind /registry/, or two. */
const struct kind_resource *stored_resource(struct str key);

/* The bytes of `obj`, which is of `r`; NULL will do for what is built in. kind, apiVersion and
 * metadata.resourceVersion are left out. */
void stored_write(struct buf *out, const struct kind_resource *r, const struct value *obj);
/* An object of a custom kind that somebody else has written in `version`, by a schema that nobody
 * knows: it is held against today's whenever it is read. */
void stored_write_foreign(struct buf *out, struct str version, const struct value *obj);
/* The same by what `e`, an older state of it, was written by. */
void stored_write_like(struct buf *out, const struct store_entry *e, const struct value *obj);

/* The parts of stored bytes; pointers into the entry. ERR_DAMAGED if they are none. */
struct stored {
    struct str head;     /* after the opening brace, up to where the resourceVersion goes */
    struct str meta;     /* from there to the end of metadata, its brace included */
    struct str meta_end; /* its brace, where the end was cut off */
    struct str tail;     /* the rest, with the closing brace */
    uint64_t rev;
    struct str version; /* of a custom kind; a NULL pointer if it is built in */
    uint32_t mark;
};
int stored_open(const struct store_entry *e, struct stored *ret, struct err *err);
/* Leaves out metadata.managedFields, which is the last of the metadata. */
void stored_hide_managers(struct stored *s);

/* Whether `now` says what `was` says: the same bytes, but for the mark of a schema, where `was` has
 * none (stored_write_foreign()). */
bool stored_is_same(struct str was, struct str now);

/* Whether the bytes are what an object of `r` looks like today: else only stored_read() can tell.
 */
bool stored_fits(const struct store_entry *e, const struct kind_resource *r);

/* `{"kind":K,"apiVersion":V,` and the object; without kind just the object. */
void stored_splice(struct buf *out, const struct stored *s, const struct kind_type *type);
/* PartialObjectMetadata likewise. */
void stored_splice_meta(struct buf *out, const struct stored *s, bool beta);

/* Whether initializers still have to work on it, or one has refused it. */
bool stored_is_uninitialized(const struct store_entry *e);

/* The tree, complete with kind, apiVersion and resourceVersion; all of it lies in the arena. Of a
 * custom kind it is as today's schema has it. Without a type it is as it was written. */
int stored_read(struct arena *a, const struct kind_type *type, const struct store_entry *e,
                struct value *ret, struct err *err);
/* {"metadata": ...} alone: what label selectors look at. */
int stored_read_meta(struct arena *a, const struct store_entry *e, struct value *ret,
                     struct err *err);
