#include "base/wire.h"

#include "base/banned.h"

enum { WIRE_VARINT, WIRE_I64, WIRE_BYTES, WIRE_I32 = 5 };

void wire_varint(struct buf *out, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        buf_byte(out, (char)(n | 0x80));
    buf_byte(out, (char)n);
}

void wire_head(struct buf *out, unsigned number, size_t n)
{
    wire_varint(out, (uint64_t)number << 3 | WIRE_BYTES);
    wire_varint(out, n);
}

void wire_bytes(struct buf *out, unsigned number, struct str bytes)
{
    if (!bytes.n)
        return;
    wire_head(out, number, bytes.n);
    buf_str_add(out, bytes);
}

void wire_int(struct buf *out, unsigned number, uint64_t n)
{
    if (!n)
        return;
    wire_varint(out, (uint64_t)number << 3 | WIRE_VARINT);
    wire_varint(out, n);
}

static size_t varint_size(uint64_t n)
{
    size_t bytes = 1;
    for (; n >= 0x80; n >>= 7)
        bytes++;
    return bytes;
}

size_t wire_bytes_size(unsigned number, size_t n)
{
    return n ? varint_size((uint64_t)number << 3) + varint_size(n) + n : 0;
}

size_t wire_int_size(unsigned number, uint64_t n)
{
    return n ? varint_size((uint64_t)number << 3) + varint_size(n) : 0;
}

bool wire_take_varint(struct str *s, uint64_t *ret)
{
    uint64_t n = 0;
    for (unsigned shift = 0; shift < 64 && s->n; shift += 7) {
        unsigned char c = (unsigned char)s->p[0];
        *s = str_skip(*s, 1);
        n |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80) {
            *ret = n;
            return true;
        }
    }
    return false;
}

static bool take_bytes(struct str *s, uint64_t n, struct str *ret)
{
    if (n > s->n)
        return false;
    *ret = str_take(*s, n);
    *s = str_skip(*s, n);
    return true;
}

static bool take_body(struct str *s, uint64_t wire, struct wire_field *ret)
{
    uint64_t n;
    switch (wire) {
    case WIRE_VARINT:
        return wire_take_varint(s, &ret->n);
    case WIRE_I64:
        return take_bytes(s, 8, &ret->bytes);
    case WIRE_I32:
        return take_bytes(s, 4, &ret->bytes);
    case WIRE_BYTES:
        return wire_take_varint(s, &n) && take_bytes(s, n, &ret->bytes);
    default:
        return false;
    }
}

int wire_next(struct str *message, struct wire_field *ret)
{
    struct str rest = *message;
    uint64_t tag;
    if (!rest.n)
        return 0;
    *ret = (struct wire_field){ 0 };
    if (!wire_take_varint(&rest, &tag) || tag >> 3 == 0 || !take_body(&rest, tag & 7, ret))
        return -1;
    ret->number = tag >> 3;
    ret->whole = str_take(*message, message->n - rest.n);
    *message = rest;
    return 1;
}
