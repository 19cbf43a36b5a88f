/* bootstrap.h - the agent's credentials: a kubeconfig by a bootstrap token, and certificates that
 * are renewed before they end.
 *
 * Files are upstream's: CERT_DIR/kubelet-client-current.pem and kubelet-server-current.pem have
 * certificate and key, and are links to files with the time in their names; a self-signed serving
 * certificate is in kubelet.crt and kubelet.key. */
#pragma once

#include <sampan/client.h>

#include "base/err.h"

struct bootstrap_options {
    struct str node;                  /* name of the Node */
    const char *bootstrap_kubeconfig; /* with a token; NULL: none */
    const char *kubeconfig;           /* is made, if it is not there or its certificate has ended */
    const char *cert_dir;
    struct spn_stop *stop;
};

/* Waits until the certificate is there, as long as it takes: somebody may have to approve it. 0 at
 * once if the kubeconfig can be used. ERR_GONE: stopped; ERR_INVALID: the files make no sense;
 * ERR_FORBIDDEN: the request was denied. */
int bootstrap_run(const struct bootstrap_options *opt, struct err *err);

/* ---- Certificates ---- */

struct certificates_options {
    struct str node;
    const char *cert_dir;
    struct spn_client *client;
    bool rotates_client; /* kubelet-client-current.pem, which the kubeconfig names */
    /* The serving certificate is asked for (kubernetes.io/kubelet-serving), not self-signed. */
    bool asks_for_serving;
    const struct str *ips; /* what the serving certificate is for, beside the name */
    size_t n_ips;
    /* A serving certificate is there, or another one: PEM. On the caller's thread of
     * certificates_start() for the first, if it is on disk or self-signed; else on a thread of its
     * own. */
    void (*on_serving)(void *arg, struct str cert_pem, struct str key_pem);
    void *arg;
};

struct certificates;

/* Texts and client outlive it. ERR_IO: the folder cannot be written. */
int certificates_start(const struct certificates_options *opt, struct certificates **ret,
                       struct err *err);
struct certificates *certificates_stop(struct certificates *c);
