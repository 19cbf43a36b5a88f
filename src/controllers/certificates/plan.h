/* plan.h - requests for certificates (CertificateSigningRequests): who may have one without being
 * asked, what signers refuse, and when requests are forgotten. Rules only: no I/O, no clock. */
#pragma once

#include "net/crypto/x509.h"
#include <sampan/err.h>
#include <sampan/value.h>

#define SIGNER_CLIENT         "kubernetes.io/kube-apiserver-client"
#define SIGNER_KUBELET_CLIENT "kubernetes.io/kube-apiserver-client-kubelet"
#define SIGNER_KUBELET_SERVER "kubernetes.io/kubelet-serving"
#define SIGNER_LEGACY         "kubernetes.io/legacy-unknown"

/* spec.request, decoded: DER, in the arena. SPN_INVALID: it is none. */
int csr_request(struct spn_arena *a, const struct spn_value *csr, struct str *ret_der,
                struct x509_request *ret, struct spn_err *err);

bool csr_has(const struct spn_value *csr, const char *condition); /* whatever its status */
bool csr_is_approved(const struct spn_value *csr);                /* and not denied */
bool csr_has_failed(const struct spn_value *csr);
bool csr_is_issued(const struct spn_value *csr);

/* A kubelet asks for its client certificate. `*ret_is_own`: it has one already. */
bool csr_is_of_kubelet(const struct spn_value *csr, const struct x509_request *req,
                       bool *ret_is_own);

/* Whether we sign for the signer that it names. */
bool csr_is_ours(const struct spn_value *csr);
/* SPN_INVALID: that signer refuses it, in upstream's words. */
int csr_check(const struct spn_value *csr, const struct x509_request *req, struct spn_err *err);

enum { CSR_EXT_USAGES_MAX = 14 };
/* How the certificate may be used. SPN_INVALID: a usage is none. */
struct csr_usages {
    unsigned key;                            /* as struct pki_request has it */
    const char *ext[CSR_EXT_USAGES_MAX + 1]; /* object identifiers */
};
int csr_usages(const struct spn_value *csr, struct csr_usages *ret, struct spn_err *err);

/* For how many seconds from now on it is good; `most_sec` is what nobody gets more than. */
int64_t csr_seconds(const struct spn_value *csr, int64_t most_sec);

/* In how many milliseconds the request is forgotten; 0: now. `not_after_sec` is of the certificate
 * that it has; 0: none. */
int64_t csr_left_ms(const struct spn_value *csr, int64_t not_after_sec, int64_t now_ns);
/* status.certificate, decoded: PEM, in the arena; empty: none. */
struct str csr_certificate(struct spn_arena *a, const struct spn_value *csr);
