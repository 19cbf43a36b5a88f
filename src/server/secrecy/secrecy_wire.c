#include "server/secrecy/secrecy_wire.h"

#include "base/wire.h"
#include "base/banned.h"

enum { SMALL_MAX = 1024, ANNOTATIONS_MAX = 32 * 1024 };
/* Fields of what is stored. */
enum { FIELD_VALUE = 1, FIELD_KEY_ID, FIELD_SOURCE, FIELD_ANNOTATIONS, FIELD_SOURCE_TYPE };

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
    struct wire_field f;
    int r;
    *ret = (struct secrecy_envelope){ 0 };
    while ((r = wire_next(&message, &f)) > 0) {
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
    wire_bytes(out, FIELD_KEY_ID, e->key_id);
    wire_bytes(out, FIELD_SOURCE, e->source);
    buf_str_add(out, e->annotations);
    wire_int(out, FIELD_SOURCE_TYPE, e->source_type);
}
