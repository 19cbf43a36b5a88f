/* x509.h - what certificates, requests for them and public keys say (RFC 5280, RFC 2986): that they
 * have the shape of one, whose they are, which key and how long they last. Signatures are not
 * checked here. Bytes in, facts out: texts are in the arena. Any thread. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

enum x509_key_type { X509_KEY_UNKNOWN, X509_KEY_RSA, X509_KEY_EC, X509_KEY_ED25519 };

struct x509_key {
    enum x509_key_type type;
    struct str curve;  /* "P-256"; of X509_KEY_EC */
    unsigned rsa_bits; /* whole bytes of the modulus; of X509_KEY_RSA */
    struct str der;    /* tells keys apart */
};

struct x509_certificate {
    struct x509_key key;
    bool is_ca;                    /* by its basic constraints */
    int64_t not_before, not_after; /* seconds since 1970 */
};

struct x509_request {
    struct x509_key key;
    struct str name;                 /* common name, for Kubernetes a user's; the last one counts */
    const struct str *organizations; /* for Kubernetes groups */
    size_t n_organizations;
    size_t n_dns_names, n_ips, n_emails, n_uris; /* other names that it asks for */
};

/* DER. False: it is none, or something stands behind it. */
bool x509_read_certificate(struct arena *a, struct str der, struct x509_certificate *ret);
bool x509_read_request(struct arena *a, struct str der, struct x509_request *ret); /* PKCS#10 */
bool x509_read_key(struct arena *a, struct str der, struct x509_key *ret);         /* PKIX */

/* Whether the request asks for this organization. */
bool x509_is_of(const struct x509_request *request, struct str organization);
