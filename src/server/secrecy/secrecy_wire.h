/* secrecy_wire.h - the few messages of KMS v2, and the envelope that it stores, in protobuf.
 *
 * Both are small and fixed, so they are taken apart by hand. Rules only: no I/O. */
#pragma once

#include "base/buf.h"

/* Adds a field of bytes or text; nothing if it is empty. */
void secrecy_wire_bytes(struct buf *out, unsigned number, struct str bytes);
void secrecy_wire_int(struct buf *out, unsigned number, uint64_t n);
/* The head of a field of bytes: `n` of them follow. */
void secrecy_wire_head(struct buf *out, unsigned number, size_t n);

struct secrecy_field {
    uint64_t number, n; /* `n` of an integer */
    struct str bytes;   /* of all others */
    struct str whole;   /* the field as it stands there */
};
/* Takes the first field off: 1, 0 at the end, -1 if it is none. */
int secrecy_wire_next(struct str *message, struct secrecy_field *ret);

/* What is stored: the sealed value, and which key opens it, sealed itself by the KMS. */
enum { SECRECY_AES_KEY = 0, SECRECY_SEED = 1 };
struct secrecy_envelope {
    struct str value, key_id, source;
    struct str annotations; /* the fields, as they stand there */
    uint64_t source_type;
};
/* What is wrong with it, in upstream's words; NULL if nothing is. Points into `message`, but for
 * annotations, which may be put together in `joined`. */
const char *secrecy_envelope_read(struct str message, struct secrecy_envelope *ret,
                                  struct buf *joined);
/* All but the value. */
void secrecy_envelope_write_head(struct buf *out, const struct secrecy_envelope *e);
/* Upstream's limits; NULL if it keeps them. */
const char *secrecy_envelope_fault(const struct secrecy_envelope *e);
