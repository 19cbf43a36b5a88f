/* pki.h - the small certificate authority of a control plane: ECDSA P-256, made on first start.
 *
 * PEM in, PEM out; writing files is the caller's. */
#pragma once

#include "base/err.h"

struct pki_pair {
    struct str cert_pem, key_pem; /* in the arena given */
};

/* A self-signed CA that may sign leaf certificates only. */
int pki_make_ca(struct arena *a, struct str common_name, int64_t now_sec, int64_t days,
                struct pki_pair *ret, struct err *err);

/* The subject's attribute that Kubernetes reads a user's uid from. */
#define PKI_UID_OID "1.3.6.1.4.1.57683.2"

struct pki_leaf {
    struct str common_name;
    bool is_nameless; /* it has no common name */
    struct str uid;   /* empty: none */
    const struct str *organizations;
    size_t n_organizations;
    const struct str *dns_names; /* subject alternative names */
    size_t n_dns_names;
    const struct str *ips; /* as text */
    size_t n_ips;
    bool server, client;            /* extended key usage */
    int64_t now_sec, days, seconds; /* good for so many days and seconds from now on */
};
int pki_issue(struct arena *a, const struct pki_pair *ca, const struct pki_leaf *leaf,
              struct pki_pair *ret, struct err *err);

/* A certificate that somebody asks for with a key of his own. */
struct pki_request {
    struct str der;                /* PKCS#10; that he has the key is checked */
    unsigned key_usages;           /* bit N is bit N of RFC 5280's KeyUsage; 0: not said */
    const char *const *ext_usages; /* object identifiers: "1.3.6.1.5.5.7.3.2", then NULL */
    int64_t now_sec, seconds;      /* good for so long from now on, or until the CA ends */
};
/* The subject and the other names are the request's: DNS, IP, e-mail and URI. Nothing else of what
 * it asks for is taken over. PEM, in the arena. */
int pki_sign_request(struct arena *a, const struct pki_pair *ca, const struct pki_request *req,
                     struct str *ret_pem, struct err *err);

/* A request for a certificate with a new key: subject and other names are the leaf's, the rest of
 * it is the signer's to decide. `ret_request` is PEM, and so is the key. */
int pki_make_request(struct arena *a, const struct pki_leaf *leaf, struct str *ret_request,
                     struct str *ret_key, struct err *err);

/* Seconds since 1970 after which the first certificate in the PEM is no longer good. */
int pki_not_after(struct str cert_pem, int64_t *ret, struct err *err);
/* The same for the moment from which on it is. */
int pki_not_before(struct str cert_pem, int64_t *ret, struct err *err);
