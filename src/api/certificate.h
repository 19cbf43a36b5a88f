/* certificate.h - PEM blocks, and what the rules of kinds ask of the certificates and requests in
 * them (RFC 5280, RFC 2986): that they have the shape of one, whose key it is, and how long it
 * lasts. No cryptography: signatures are not checked here. */
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

enum key_type { KEY_UNKNOWN, KEY_RSA, KEY_EC, KEY_ED25519 };

struct certificate {
    struct str key;     /* the public key's own bytes, DER; tells keys apart */
    struct str subject; /* DER; of a request */
    enum key_type key_type;
    struct str curve;              /* "P-256"; of KEY_EC */
    unsigned rsa_bits;             /* of the modulus; of KEY_RSA */
    bool is_ca;                    /* by its basic constraints */
    int64_t not_before, not_after; /* seconds since 1970; of a certificate */
};

/* Texts of the result are borrowed. */
bool certificate_read(struct str der, struct certificate *ret);
/* A request for one, PKCS#10. */
bool certificate_request_read(struct str der, struct certificate *ret);
bool certificate_key_read(struct str der, struct certificate *ret); /* a public key, PKIX */

/* Whether a subject has this organization, which for Kubernetes is a group. */
bool certificate_is_of(struct str subject, struct str organization);
/* Its common name, which for Kubernetes is a user's; empty: none. The last one counts. */
struct str certificate_name(struct str subject);
