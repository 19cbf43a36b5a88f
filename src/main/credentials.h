/* credentials.h - the certificates of a control plane and the kubeconfig of its admin.
 *
 * DIR/pki/ca.crt and ca.key are made on the first start and kept, because every client trusts them.
 * A lost one is replaced only if `new_ca` asks for it. The certificates of server and admin are
 * made at every start, so that they name the right addresses, and again before they expire. */
#pragma once

#include "net/crypto/pki.h"

struct credentials {
    struct pki_pair ca, server, admin;
    struct pki_pair kubelet; /* the server's own, when it comes to nodes */
    /* And when it speaks for others to extension servers: of an authority that signs nothing else,
     * DIR/pki/front-proxy-ca.crt, so that no client can pass for it. */
    struct pki_pair proxy_ca, proxy;
    int64_t renew_sec; /* since 1970: when all but the CA should be made anew */
    /* By which name clients of our authority ask for the server, where it shows others a
     * certificate of somebody else (TLS_LOOPBACK_NAME); empty: by its address. */
    struct str server_name;
    struct str root_ca; /* by which everybody else believes it */
};

struct credentials_options {
    const char *dir;
    const struct str *ips; /* more addresses for the server certificate, beside host and loopback */
    size_t n_ips;
    struct str host; /* the address that is listened on */
    int64_t ttl_sec; /* of what the CA signs; 0: a year */
    bool new_ca;     /* replace a lost CA; what is left of the old one is kept aside */
};

#define CREDENTIALS_PROXY_NAME "front-proxy-client"

/* Text lies in the arena. ERR_NOT_FOUND: part of the CA is lost. ERR_FORBIDDEN: others can read its
 * key. The message says what to do. */
int credentials_load(struct arena *a, const struct credentials_options *opt, int64_t now_sec,
                     struct credentials *ret, struct err *err);

/* The authority of a folder that has one. ERR_FORBIDDEN: others can read its key. */
int credentials_load_ca(struct arena *a, const char *dir, struct pki_pair *ret, struct err *err);

struct credentials_config {
    struct str user, address; /* "host:port" */
    struct str server_name;   /* as above */
    struct str ca_pem;
    const struct pki_pair *pair;
};
/* Its text. */
struct str credentials_text(struct arena *a, const struct credentials_config *k);
/* The admin's, mode 0600; and the server's certificate, to be looked at. */
int credentials_write(const struct credentials *c, const char *dir, struct str address,
                      const char *file, struct err *err);

/* The default place of the kubeconfig. */
const char *credentials_kubeconfig(struct arena *a, const char *dir);
