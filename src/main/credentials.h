/* credentials.h - the certificates of a control plane and the kubeconfig of its admin.
 *
 * DIR/pki/ca.crt and ca.key are made on the first start and kept; what they sign (server, admin)
 * is made anew at every start, so that it always names the right addresses and never runs out. */
#pragma once

#include "net/pki.h"

struct credentials {
    struct pki_pair ca, server, admin;
};

/* `host` is the address that is listened on. Text lies in the arena. */
int credentials_load(struct arena *a, const char *dir, struct str host, int64_t now_sec,
                     struct credentials *ret, struct err *err);

/* An admin kubeconfig for https://ADDRESS, mode 0600. */
int credentials_write_kubeconfig(const struct credentials *c, struct str address, const char *file,
                                 struct err *err);
