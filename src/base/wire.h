/* wire.h - the fields of protobuf messages, for messages that are few and fixed and are put
 * together and taken apart by hand. */
#pragma once

#include "base/buf.h"

/* Adds a field of bytes or text; nothing if it is empty. */
void wire_bytes(struct buf *out, unsigned number, struct str bytes);
/* Adds an integer; nothing if it is 0. */
void wire_int(struct buf *out, unsigned number, uint64_t n);
/* The head of a field of bytes: `n` of them follow. */
void wire_head(struct buf *out, unsigned number, size_t n);

/* How many bytes these add. */
size_t wire_bytes_size(unsigned number, size_t n);
size_t wire_int_size(unsigned number, uint64_t n);

struct wire_field {
    uint64_t number, n; /* `n` of an integer */
    struct str bytes;   /* of all others */
    struct str whole;   /* the field as it stands there */
};
/* Takes the first field off: 1, 0 at the end, -1 if it is none. */
int wire_next(struct str *message, struct wire_field *ret);

/* A number alone. */
void wire_varint(struct buf *out, uint64_t n);
bool wire_take_varint(struct str *s, uint64_t *ret);
