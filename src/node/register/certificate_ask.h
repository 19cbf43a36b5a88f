/* certificate_ask.h - asks the cluster for a certificate (CertificateSigningRequest) and waits for
 * it; and keeps pairs in files that are replaced in one step. */
#pragma once

#include <sampan/client.h>

#include "base/err.h"

struct certificate_wish {
    struct spn_client *client;
    struct spn_stop *stop;
    struct str node;    /* the subject is system:node:NODE of system:nodes */
    const char *signer; /* "kubernetes.io/kubelet-serving" */
    const char *usage;  /* "server auth" */
    const struct str *dns_names, *ips;
    size_t n_dns_names, n_ips;
    int64_t wait_ms; /* for somebody to approve; -1: for ever */
};

/* PEM, in the arena. ERR_GONE: stopped; ERR_FORBIDDEN: denied or failed; ERR_TIMEOUT;
 * ERR_UNAVAILABLE: the server was not reached or does not take it. May block. */
int certificate_ask(const struct certificate_wish *wish, struct arena *a, struct str *ret_cert,
                    struct str *ret_key, struct err *err);

/* Makes the folder, and those above it, where they are missing. */
int certificate_folder(const char *dir, struct err *err);
/* DIR/PREFIX-current.pem is made a link to a new file with certificate and key. */
int certificate_keep(const char *dir, const char *prefix, struct str cert_pem, struct str key_pem,
                     struct err *err);
/* The pair of DIR/PREFIX-current.pem: one text, which has both. ERR_NOT_FOUND: there is none, or it
 * has ended. */
int certificate_find(struct arena *a, const char *dir, const char *prefix, int64_t now_sec,
                     struct str *ret_pem, struct err *err);
/* When it should be replaced: after 70 to 90% of its time. Seconds since 1970. */
int64_t certificate_renewal(int64_t not_before, int64_t not_after, double chance);
