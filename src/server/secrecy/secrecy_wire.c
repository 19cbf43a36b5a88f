#include "server/secrecy/secrecy_wire.h"

#include "base/banned.h"

enum { WIRE_VARINT, WIRE_I64, WIRE_BYTES, WIRE_I32 = 5 };
enum { SMALL_MAX = 1024, ANNOTATIONS_MAX = 32 * 1024 };
/* Fields of what is stored. */
enum { FIELD_VALUE = 1, FIELD_KEY_ID, FIELD_SOURCE, FIELD_ANNOTATIONS, FIELD_SOURCE_TYPE };

/* ---- Fields ---- */

static void put_varint(struct buf *out, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        buf_byte(out, (char)(n | 0x80));
    buf_byte(out, (char)n);
}

void secrecy_wire_head(struct buf *out, unsigned number, size_t n)
{
    put_varint(out, (uint64_t)number << 3 | WIRE_BYTES);
    put_varint(out, n);
}

void secrecy_wire_bytes(struct buf *out, unsigned number, struct str bytes)
{
    if (!bytes.n)
        return;
    secrecy_wire_head(out, number, bytes.n);
    buf_str_add(out, bytes);
}

void secrecy_wire_int(struct buf *out, unsigned number, uint64_t n)
{
    if (!n)
        return;
    put_varint(out, (uint64_t)number << 3 | WIRE_VARINT);
    put_varint(out, n);
}

static bool take_varint(struct str *s, uint64_t *ret)
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

static bool take_body(struct str *s, uint64_t wire, struct secrecy_field *ret)
{
    uint64_t n;
    switch (wire) {
    case WIRE_VARINT:
        return take_varint(s, &ret->n);
    case WIRE_I64:
        return take_bytes(s, 8, &ret->bytes);
    case WIRE_I32:
        return take_bytes(s, 4, &ret->bytes);
    case WIRE_BYTES:
        return take_varint(s, &n) && take_bytes(s, n, &ret->bytes);
    default:
        return false;
    }
}

int secrecy_wire_next(struct str *message, struct secrecy_field *ret)
{
    struct str rest = *message;
    uint64_t tag;
    if (!rest.n)
        return 0;
    *ret = (struct secrecy_field){ 0 };
    if (!take_varint(&rest, &tag) || tag >> 3 == 0 || !take_body(&rest, tag & 7, ret))
        return -1;
    ret->number = tag >> 3;
    ret->whole = str_take(*message, message->n - rest.n);
    *message = rest;
    return 1;
}

/* ---- What is stored ---- */

const char *secrecy_envelope_fault(const struct secrecy_envelope *e)
{
    if (e->source_type > SECRECY_SEED)
        return "unknown encryptedDEKSourceType";
    if (!e->value.n)
        return "encrypted data is empty";
    if (!e->source.n)
        return "failed to validate encrypted DEK source: encrypted DEK source is empty";
    if (e->source.n > SMALL_MAX)
        return "failed to validate encrypted DEK source: it exceeds the max size of 1024";
    if (!e->key_id.n)
        return "failed to validate key id: keyID is empty";
    if (e->key_id.n > SMALL_MAX)
        return "failed to validate key id: it exceeds the max size of 1024";
    if (e->annotations.n > ANNOTATIONS_MAX)
        return "failed to validate annotations: they exceed the max size of 32768";
    return NULL;
}

/* Nearly always there is one run of them, or none. */
static void add_annotation(struct secrecy_envelope *e, struct str field, struct buf *joined)
{
    if (!e->annotations.n) {
        e->annotations = field;
    } else if (e->annotations.p + e->annotations.n == field.p) {
        e->annotations.n += field.n;
    } else {
        if (e->annotations.p != joined->p)
            buf_str_add(joined, e->annotations);
        buf_str_add(joined, field);
        e->annotations = buf_str(joined);
    }
}

const char *secrecy_envelope_read(struct str message, struct secrecy_envelope *ret,
                                  struct buf *joined)
{
    struct secrecy_field f;
    int r;
    *ret = (struct secrecy_envelope){ 0 };
    while ((r = secrecy_wire_next(&message, &f)) > 0) {
        if (f.number == FIELD_VALUE)
            ret->value = f.bytes;
        else if (f.number == FIELD_KEY_ID)
            ret->key_id = f.bytes;
        else if (f.number == FIELD_SOURCE)
            ret->source = f.bytes;
        else if (f.number == FIELD_ANNOTATIONS)
            add_annotation(ret, f.whole, joined);
        else if (f.number == FIELD_SOURCE_TYPE)
            ret->source_type = f.n;
    }
    return r < 0 ? "proto: cannot parse invalid wire-format data" : secrecy_envelope_fault(ret);
}

void secrecy_envelope_write_head(struct buf *out, const struct secrecy_envelope *e)
{
    secrecy_wire_bytes(out, FIELD_KEY_ID, e->key_id);
    secrecy_wire_bytes(out, FIELD_SOURCE, e->source);
    buf_str_add(out, e->annotations);
    secrecy_wire_int(out, FIELD_SOURCE_TYPE, e->source_type);
}
