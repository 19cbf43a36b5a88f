/* certificatesigningrequest-approving-controller: approves what kubelets ask for, if they may ask
 * for it: a client certificate for themselves, or their first one. */
#include <sampan/meta.h>

#include "client/bridge.h"
#include "controllers/certificates/plan.h"
#include "controllers/common/fields.h"
#include "controllers/rows.h"
#include "base/banned.h"

enum { RETRY_MS = 200 };

static const struct spn_target requests =
    SPN_AT("certificates.k8s.io", "v1", "certificatesigningrequests", "", "");

/* The question whether who made it may create such a subresource. */
static struct spn_value *review_of(struct spn_arena *a, const struct spn_value *csr,
                                   const char *subresource)
{
    const struct spn_value *from = spn_value_get(csr, "spec");
    struct spn_value *review = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, review, "apiVersion", SPN_TEXT("authorization.k8s.io/v1"));
    spn_value_set_text(a, review, "kind", SPN_TEXT("SubjectAccessReview"));
    struct spn_value *spec = spn_value_ensure(a, review, "spec");
    spn_value_set_text(a, spec, "user", spn_value_text(spn_value_get(from, "username")));
    field_copy(a, spec, from, "uid");
    field_copy(a, spec, from, "groups");
    field_copy(a, spec, from, "extra");
    struct spn_value *attributes = spn_value_ensure(a, spec, "resourceAttributes");
    spn_value_set_text(a, attributes, "group", requests.group);
    spn_value_set_text(a, attributes, "resource", requests.plural);
    spn_value_set_text(a, attributes, "verb", SPN_TEXT("create"));
    spn_value_set_text(a, attributes, "subresource", spn_text_of(subresource));
    spn_value_set_text(a, attributes, "version", SPN_TEXT("*"));
    return review;
}

/* 1: he may. */
static int may_create(struct spn_work *w, const struct spn_value *csr, const char *subresource,
                      struct spn_err *err)
{
    static const struct spn_target reviews =
        SPN_AT("authorization.k8s.io", "v1", "subjectaccessreviews", "", "");
    struct spn_value *answer;
    int r = spn_client_create(w->client, &reviews, review_of(w->arena, csr, subresource), &w->how,
                              w->arena, &answer, err);
    return r < 0 ? r : spn_value_is_true(spn_value_dig(answer, "status", "allowed"));
}

static int approve(struct spn_work *w, struct spn_value *csr, const char *message,
                   struct spn_err *err)
{
    struct spn_target at = w->at;
    struct spn_value *status = spn_value_ensure(w->arena, csr, "status");
    struct spn_value *all = spn_value_edit(w->arena, status, "conditions");
    struct spn_value *c = spn_value_new(w->arena, SPN_OBJECT);
    if (!all)
        all = spn_value_set(w->arena, status, "conditions", spn_value_new(w->arena, SPN_ARRAY));
    spn_value_set_text(w->arena, c, "type", SPN_TEXT("Approved"));
    spn_value_set_text(w->arena, c, "status", SPN_TEXT("True"));
    spn_value_set_text(w->arena, c, "reason", SPN_TEXT("AutoApproved"));
    spn_value_set_text(w->arena, c, "message", spn_text_of(message));
    spn_value_push(w->arena, all, c);
    at.sub = SPN_TEXT("approval");
    return spn_client_update(w->client, &at, csr, &w->how, w->arena, NULL, err);
}

/* Who may not now may do so later, so it is asked again, less and less often. */
static int approve_for_kubelet(struct spn_work *w, struct spn_value *csr, bool is_own,
                               struct spn_err *err)
{
    int r = is_own ? may_create(w, csr, "selfnodeclient", err) : 0;
    if (r > 0)
        return approve(w, csr,
                       "Auto approving self kubelet client certificate after SubjectAccessReview.",
                       err);
    if (r < 0)
        return r;
    r = may_create(w, csr, "nodeclient", err);
    if (r > 0)
        return approve(w, csr,
                       "Auto approving kubelet client certificate after SubjectAccessReview.", err);
    return r < 0 ? r : spn_again();
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct spn_value *csr = spn_work_object(w);
    struct x509_request req;
    struct str der;
    bool is_own;
    (void)arg;
    if (!csr || csr_is_issued(csr) || csr_has(csr, "Approved") || csr_has(csr, "Denied"))
        return spn_done();
    int r = csr_request(w->arena, csr, &der, &req, err);
    if (r < 0)
        return spn_err_wrap(err, "unable to parse csr \"" SPN_FMT "\"", SPN_ARG(w->name));
    if (!csr_is_of_kubelet(csr, &req, &is_own))
        return spn_done();
    r = approve_for_kubelet(w, csr, is_own, err);
    return r == -SPN_NOT_FOUND ? spn_done() : r;
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)ret;
    (void)err;
    (void)spn_manager_add(
        env->manager,
        &(struct spn_controller_options){ .name = "certificatesigningrequest-approving-controller",
                                          .what = requests,
                                          .kind = "CertificateSigningRequest",
                                          .has_no_namespace = true,
                                          .queue = { .first_delay_ms = RETRY_MS },
                                          .reconcile = reconcile });
    return 0;
}

const struct controllers_row controllers_csr_approver = {
    "certificatesigningrequest-approving-controller", add, NULL
};
