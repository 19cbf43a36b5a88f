/* wire.h - the two pieces of protobuf's wire form that lists and watch events are put together
 * with; whole messages are api/codec/proto.h's. */
#pragma once

#include "base/buf.h"

static inline void wire_varint(struct buf *out, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        buf_byte(out, (char)(unsigned char)(n | 0x80));
    buf_byte(out, (char)(unsigned char)n);
}

/* The tag and length of a field of bytes: a text, or a message. */
static inline void wire_head(struct buf *out, unsigned number, uint64_t n)
{
    enum { WIRE_BYTES = 2 };
    wire_varint(out, number << 3 | WIRE_BYTES);
    wire_varint(out, n);
}

static inline void wire_bytes(struct buf *out, unsigned number, struct str bytes)
{
    wire_head(out, number, bytes.n);
    buf_str_add(out, bytes);
}
