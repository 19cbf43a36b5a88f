/* pem.h - the blocks of PEM (RFC 7468), as Go finds them: what upstream takes for one, and what it
 * passes over, decides which objects are valid. */
#pragma once

#include "base/buf.h"

struct pem_block {
    struct str type; /* "CERTIFICATE"; borrowed from the text */
    bool has_headers;
    struct buf bytes; /* pem_block_done() */
};

/* Eats the text up to the end of its next block; false if there is none. What stands between
 * blocks, and what looks like one but is broken, is passed over. */
bool pem_next(struct str *text, struct pem_block *ret);
void pem_block_done(struct pem_block *block);
#define autopem __attribute__((cleanup(pem_block_done))) struct pem_block
