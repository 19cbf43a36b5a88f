/* certificatesigningrequest-cleaner-controller: requests that were answered go after an hour, and
 * those that nobody answers after a day. */
#include "base/clock.h"
#include "client/bridge.h"
#include "controllers/certificates/plan.h"
#include "controllers/common/fields.h"
#include "controllers/common/times.h"
#include "controllers/rows.h"
#include "net/crypto/pki.h"
#include "base/banned.h"

static const struct spn_target requests =
    SPN_AT("certificates.k8s.io", "v1", "certificatesigningrequests", "", "");

/* 0: it has no certificate, or what it has is none. */
static int64_t not_after(struct spn_arena *a, const struct spn_value *csr)
{
    const struct str pem = csr_certificate(a, csr);
    struct err unsaid = ERR_INIT(arena_in(a));
    int64_t sec = 0;
    return pem.n && pki_not_after(pem, &sec, &unsaid) == 0 ? sec : 0;
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    const struct spn_value *csr = spn_work_object(w);
    (void)arg;
    if (!csr || meta_is_deleting(csr))
        return spn_done();
    const int64_t left_ms = csr_left_ms(csr, not_after(w->arena, csr), time_now());
    if (left_ms)
        return spn_again_after(left_ms);
    const struct spn_delete what = { .uid = meta_uid(csr),
                                     .resource_version = meta_text(csr, "resourceVersion") };
    int r = spn_client_delete(w->client, &w->at, &what, &w->how, w->arena, NULL, err);
    return r == -SPN_NOT_FOUND || r == -SPN_CONFLICT ? spn_done() : r;
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)ret;
    (void)err;
    (void)spn_manager_add(env->manager, &(struct spn_controller_options){
                                            .name = "certificatesigningrequest-cleaner-controller",
                                            .what = requests,
                                            .kind = "CertificateSigningRequest",
                                            .has_no_namespace = true,
                                            .reconcile = reconcile });
    return 0;
}

const struct controllers_row controllers_csr_cleaner = {
    "certificatesigningrequest-cleaner-controller", add, NULL
};
