/* proto.h - Kubernetes protobuf: value tree to bytes and back, by the kind's table.
 *
 * The wire form is proto2 as gogo writes it: fields in ascending number, required-like scalars of
 * Go structs always written (a plain string or number even when zero, pointers and omitted ones
 * only when set), maps sorted by key. Reading accepts any order, skips unknown fields in bounded
 * time, and checks every length against what is left. The envelope is the four bytes k8s\0 and a
 * runtime.Unknown. Trees are as typed_read() makes them. Rules only: no I/O. */
#pragma once

#include "api/kind.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/value.h"

/* The envelope and what is in it. `raw` and the texts point into the input. */
struct proto_envelope {
    struct str api_version, kind;
    struct str raw;
    struct str content_encoding, content_type;
};
bool proto_is_envelope(struct str bytes);
int proto_envelope_read(struct str bytes, struct proto_envelope *ret, struct err *err);

/* An object of type `t` from the message `raw`. Adds kind and apiVersion from the envelope when `t`
 * has them. ERR_BAD_REQUEST names what was wrong. Text is borrowed from `raw`. */
int proto_read(struct arena *a, const struct kind_type *t, struct str raw, struct str api_version,
               struct str kind, struct value *ret, struct err *err);

/* The message alone; and in its envelope, with apiVersion and kind taken from the tree. */
void proto_write(struct buf *out, const struct kind_type *t, const struct value *v);
/* The message as the field `number` of one around it. */
void proto_write_item(struct buf *out, uint32_t number, const struct kind_type *t,
                      const struct value *v);
void proto_envelope_write(struct buf *out, const struct kind_type *t, const struct value *v);

/* One depth counter for messages, groups and skipping. */
enum { PROTO_DEPTH_MAX = 100 };
