/* CertificateSubjectRestriction: nobody becomes an administrator by a certificate that the cluster
 * has signed. */
#include "api/pem.h"
#include "base/base64.h"
#include "net/crypto/x509.h"
#include "admission/plugins.h"
#include "base/banned.h"

static int validate(struct admission_request *req, const struct value *obj, struct err *err)
{
    autobuf text = { 0 };
    autopem block = { 0 };
    struct x509_request request;
    struct str signer = value_str(value_dig(obj, "spec", "signerName"));
    if (!str_eq(signer, STR("kubernetes.io/kube-apiserver-client")) ||
        !base64_decode(&text, value_str(value_dig(obj, "spec", "request"))))
        return 0;
    struct str pem = buf_str(&text);
    if (!pem_next(&pem, &block) ||
        !x509_read_request(req->arena, buf_str(&block.bytes), &request) ||
        !x509_is_of(&request, STR("system:masters")))
        return 0;
    return admission_forbid(req, obj,
                            arena_printf(req->arena,
                                         "use of " STR_FMT
                                         " signer with system:masters group is not allowed",
                                         STR_ARG(signer)),
                            err);
}

static const struct admission_target targets[] = {
    { STR("certificates.k8s.io"), STR("certificatesigningrequests"), ADMISSION_CREATE },
    { .operations = 0 },
};

const struct admission_plugin plugin_certificate_subject = {
    .name = "CertificateSubjectRestriction",
    .targets = targets,
    .validate = validate,
};
