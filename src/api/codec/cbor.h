/* cbor.h - CBOR (RFC 8949) to value tree and back, as Kubernetes speaks it.
 *
 * Reading takes what apimachinery's decoder takes: definite and indefinite lengths, text and byte
 * strings alike (a byte string must be UTF-8 here, since a tree has no other text), tags, of which
 * 0 and 1 become RFC 3339 text, 21 to 23 make base64url, base64 or hex text of the byte strings in
 * them, 2 and 3 are refused, and all others, the self-described one included, are passed over.
 * Refused are also: duplicate keys, keys that are no strings, integers beyond int64_t, NaN and
 * infinities, undefined and every other simple value, depth past LIMIT_JSON_DEPTH. Floats become
 * the number that Go's JSON encoder would write, so 3.0 becomes the integer 3. Lengths are checked
 * against what is left before anything is allocated; work is linear and depth costs heap, not
 * stack. Strings point into the input, so it lives as long as the tree.
 *
 * Writing is deterministic: strings and keys as byte strings, keys by length and then by bytes,
 * the shortest form of every integer and float (16, 32 or 64 bits). Of fields of one name the last
 * is written. A number that no double can hold becomes the largest one. No I/O. */
#pragma once

#include "api/kind.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/value.h"

/* Starts with the self-described tag, 0xd9d9f7, as everything does that Kubernetes writes. */
bool cbor_is(struct str bytes);

/* One item and nothing behind it. ERR_BAD_REQUEST in the words of upstream's decoder. */
int cbor_read(struct arena *a, struct str bytes, struct value *ret, struct err *err);
/* One item from the front of a sequence (application/cbor-seq); `*bytes` is left behind it, and as
 * it was on failure. */
int cbor_read_next(struct arena *a, struct str *bytes, struct value *ret, struct err *err);

/* The item behind the self-described tag. With the object's type, bytes that stand as base64 text
 * in the tree are written as bytes under tag 22, as upstream does; without it (NULL: a custom
 * resource) as the text, which upstream's clients take as well. */
void cbor_write(struct buf *out, const struct kind_type *t, const struct value *v);
/* The same without the tag in front: for the parts of a larger item. */
void cbor_write_item(struct buf *out, const struct kind_type *t, const struct value *v);

/* For lists and watch events, which are put together from items: the keys of a map go by length,
 * so kind, items, metadata, apiVersion; and type, object. */
enum cbor_major {
    CBOR_POSITIVE,
    CBOR_NEGATIVE,
    CBOR_BYTES,
    CBOR_TEXT,
    CBOR_ARRAY,
    CBOR_MAP,
    CBOR_TAG,
    CBOR_PRIMITIVE,
};
void cbor_write_tag(struct buf *out); /* the self-described one */
void cbor_write_head(struct buf *out, enum cbor_major major, uint64_t n);
void cbor_write_string(struct buf *out, struct str s);
