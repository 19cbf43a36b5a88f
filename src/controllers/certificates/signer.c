/* certificatesigningrequest-signing-controller: signs requests that are approved, for the signers
 * of Kubernetes itself. It needs a CA. */
#include <sampan/meta.h>

#include "base/base64.h"
#include "base/clock.h"
#include "client/bridge.h"
#include "controllers/certificates/plan.h"
#include "controllers/common/fields.h"
#include "controllers/common/times.h"
#include "controllers/rows.h"
#include "net/crypto/pki.h"
#include "base/banned.h"

enum { RETRY_MS = 200, YEAR_SEC = 365 * 86400 };

static const struct spn_target requests =
    SPN_AT("certificates.k8s.io", "v1", "certificatesigningrequests", "", "");

static int write_status(struct spn_work *w, const struct spn_value *csr, struct spn_err *err)
{
    struct spn_target at = w->at;
    at.sub = SPN_TEXT("status");
    int r = spn_client_update(w->client, &at, csr, &w->how, w->arena, NULL, err);
    return r == -SPN_NOT_FOUND ? 0 : r;
}

static int refuse(struct spn_work *w, struct spn_value *csr, const struct spn_err *why,
                  struct spn_err *err)
{
    struct spn_value *status = spn_value_ensure(w->arena, csr, "status");
    struct spn_value *c = spn_value_new(w->arena, SPN_OBJECT);
    spn_value_set_text(w->arena, c, "type", SPN_TEXT("Failed"));
    spn_value_set_text(w->arena, c, "status", SPN_TEXT("True"));
    spn_value_set_text(w->arena, c, "reason", SPN_TEXT("SignerValidationFailure"));
    spn_value_set_text(w->arena, c, "message", spn_text_of(why->message));
    spn_value_set_text(w->arena, c, "lastUpdateTime", time_text(w->arena, time_now()));
    spn_value_push(w->arena, spn_value_edit(w->arena, status, "conditions"), c);
    return write_status(w, csr, err);
}

static int sign(const struct controllers_options *opt, struct spn_work *w, struct spn_value *csr,
                struct str der, struct spn_err *err)
{
    const struct pki_pair ca = { str_in(opt->ca_cert), str_in(opt->ca_key) };
    const int64_t most_ms = opt->signing_ms ? opt->signing_ms : YEAR_SEC * INT64_C(1000);
    struct csr_usages usages;
    struct err why = ERR_INIT(arena_in(w->arena));
    struct str pem;
    autobuf text = { 0 };
    int r = csr_usages(csr, &usages, err);
    if (r < 0)
        return r;
    const struct pki_request req = { der, usages.key, usages.ext, time_now() / NS_PER_SEC,
                                     csr_seconds(csr, most_ms / 1000) };
    if (pki_sign_request(arena_in(w->arena), &ca, &req, &pem, &why) < 0)
        return spn_err_set(err, SPN_INVALID, "error auto signing csr: " STR_FMT, STR_ARG(why.msg));
    base64_encode(&text, pem);
    spn_value_set_text(w->arena, spn_value_ensure(w->arena, csr, "status"), "certificate",
                       spn_arena_text(w->arena, text_out(buf_str(&text))));
    return write_status(w, csr, err);
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    const struct controllers_options *opt = arg;
    struct spn_value *csr = spn_work_object(w);
    struct x509_request req;
    struct spn_err why = { 0 };
    struct str der;
    if (!csr || csr_is_issued(csr) || !csr_is_approved(csr) || csr_has_failed(csr) ||
        !csr_is_ours(csr))
        return spn_done();
    int r = csr_request(w->arena, csr, &der, &req, err);
    if (r < 0)
        return spn_err_wrap(err, "unable to parse csr \"" SPN_FMT "\"", SPN_ARG(w->name));
    if (csr_check(csr, &req, &why) < 0)
        return refuse(w, csr, &why, err);
    return sign(opt, w, csr, der, err);
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)ret;
    (void)err;
    if (!env->opt->ca_cert.n || !env->opt->ca_key.n)
        return 0;
    (void)spn_manager_add(env->manager, &(struct spn_controller_options){
                                            .name = "certificatesigningrequest-signing-controller",
                                            .what = requests,
                                            .kind = "CertificateSigningRequest",
                                            .has_no_namespace = true,
                                            .queue = { .first_delay_ms = RETRY_MS },
                                            .reconcile = reconcile,
                                            .arg = (void *)env->opt });
    return 0;
}

const struct controllers_row controllers_csr_signer = {
    "certificatesigningrequest-signing-controller", add, NULL
};
