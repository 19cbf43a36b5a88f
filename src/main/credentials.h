/* credentials.h - the certificates of a control plane and the kubeconfig of its admin.
 *
 * DIR/pki/ca.crt and ca.key are made on the first start and kept: every client trusts them. Where
 * one of them is missing later nothing is made in its place unless it is asked for. What they sign
 * (server, admin) is made anew at every start, so that it always names the right addresses, and
 * again before it runs out. */
#pragma once

#include "net/pki.h"

struct credentials {
    struct pki_pair ca, server, admin;
    int64_t renew_sec; /* since 1970: when server and admin should be made anew */
};

struct credentials_options {
    const char *dir;
    const struct str *ips; /* where it is reached, beside that and loopback */
    size_t n_ips;
    struct str host; /* the address that is listened on */
    int64_t ttl_sec; /* of what the CA signs; 0: a year */
    bool new_ca; /* makes one where the old one is lost; it is kept aside, as far as it is there */
};

/* Text lies in the arena. ERR_NOT_FOUND and ERR_FORBIDDEN say what to do. */
int credentials_load(struct arena *a, const struct credentials_options *opt, int64_t now_sec,
                     struct credentials *ret, struct err *err);

/* An admin kubeconfig for https://ADDRESS, mode 0600. */
int credentials_write_kubeconfig(const struct credentials *c, struct str address, const char *file,
                                 struct err *err);

/* Where it is unless somebody says otherwise. */
const char *credentials_kubeconfig(struct arena *a, const char *dir);
