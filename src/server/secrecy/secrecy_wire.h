/* secrecy_wire.h - the envelope that is stored where a KMS v2 holds the keys, in protobuf. Rules
 * only: no I/O. */
#pragma once

#include "base/buf.h"

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
