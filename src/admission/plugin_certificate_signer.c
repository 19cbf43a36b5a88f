/* CertificateApproval, CertificateSigning and ClusterTrustBundleAttest: who approves, signs or
 * vouches in the name of a signer must be allowed to, for that signer or for all of its domain. */
#include "admission/plugins.h"
#include "base/idiom.h"
#include "base/banned.h"

static bool may(struct admission_request *req, struct str verb, struct str signer)
{
    struct access q = { .user = req->user,
                        .is_resource = true,
                        .verb = verb,
                        .group = STR("certificates.k8s.io"),
                        .version = STR("*"),
                        .resource = STR("signers"),
                        .name = signer };
    if (admission_allows(req, &q))
        return true;
    struct str domain = str_cut(&signer, '/');
    q.name = arena_printf(req->arena, STR_FMT "/*", STR_ARG(domain));
    return admission_allows(req, &q);
}

/* What the request was counts, not what it is made to be. */
static struct str old_signer(const struct admission_request *req)
{
    return value_str(value_dig(req->old_obj, "spec", "signerName"));
}

static int check_approval(struct admission_request *req, const struct value *obj, struct err *err)
{
    struct str signer = old_signer(req);
    if (may(req, STR("approve"), signer))
        return 0;
    return admission_forbid_as(req, obj, err,
                               "user not permitted to approve requests with signerName %s",
                               admission_quoted(req, signer));
}

static bool is_same(const struct value *a, const struct value *b, const char *field)
{
    a = value_dig(a, "status", field);
    b = value_dig(b, "status", field);
    return a && b ? value_eq(a, b) : a == b;
}

static int check_signing(struct admission_request *req, const struct value *obj, struct err *err)
{
    struct str signer = old_signer(req);
    if (is_same(obj, req->old_obj, "certificate") && is_same(obj, req->old_obj, "conditions"))
        return 0;
    if (may(req, STR("sign"), signer))
        return 0;
    return admission_forbid_as(req, obj, err,
                               "user not permitted to sign requests with signerName %s",
                               admission_quoted(req, signer));
}

/* Whether only what a garbage collector or a migration writes has changed. */
static bool is_untouched(struct admission_request *req, const struct value *obj)
{
    static const struct str free_fields[] = { STR("ownerReferences"), STR("finalizers"),
                                              STR("managedFields"), STR("resourceVersion") };
    if (!req->old_obj)
        return false;
    struct value a = value_borrow(obj), b = value_borrow(req->old_obj);
    struct value *meta_a = value_ensure(req->arena, &a, STR("metadata")),
                 *meta_b = value_ensure(req->arena, &b, STR("metadata"));
    for (size_t i = 0; i < ARRAY_LEN(free_fields); i++) {
        value_drop(req->arena, meta_a, free_fields[i]);
        value_drop(req->arena, meta_b, free_fields[i]);
    }
    return value_eq(&a, &b);
}

static int check_attest(struct admission_request *req, const struct value *obj, struct err *err)
{
    struct str signer = value_str(value_dig(obj, "spec", "signerName"));
    if (!signer.n || is_untouched(req, obj) || may(req, STR("attest"), signer))
        return 0;
    return admission_forbid_as(req, obj, err, "user not permitted to attest for signerName %s",
                               admission_quoted(req, signer));
}

static const struct admission_target approvals[] = {
    { STR("certificates.k8s.io"), STR("certificatesigningrequests"), ADMISSION_UPDATE,
      STR("approval") },
    { .operations = 0 },
};
static const struct admission_target signings[] = {
    { STR("certificates.k8s.io"), STR("certificatesigningrequests"), ADMISSION_UPDATE,
      STR("status") },
    { .operations = 0 },
};
static const struct admission_target bundles[] = {
    { STR("certificates.k8s.io"), STR("clustertrustbundles"), ADMISSION_CREATE | ADMISSION_UPDATE,
      STR("") },
    { .operations = 0 },
};

const struct admission_plugin plugin_certificate_approval = {
    .name = "CertificateApproval",
    .targets = approvals,
    .validate = check_approval,
};
const struct admission_plugin plugin_certificate_signing = {
    .name = "CertificateSigning",
    .targets = signings,
    .validate = check_signing,
};
const struct admission_plugin plugin_trust_bundle = {
    .name = "ClusterTrustBundleAttest",
    .targets = bundles,
    .validate = check_attest,
};
