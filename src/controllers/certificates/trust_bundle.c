/* kube-apiserver-serving-clustertrustbundle-publisher-controller: a ClusterTrustBundle has the
 * certificate by which pods know the API server. Many servers do not have the resource, so nobody
 * can follow it: it is looked at now and then. */
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/when.h"
#include "controllers/rows.h"
#include "net/crypto/digest.h"
#include "base/banned.h"

enum { PASS_MS = 60000, HASH_BYTES = 12 };
#define SIGNER "kubernetes.io/kube-apiserver-serving"

static const struct spn_target csrs =
    SPN_AT("certificates.k8s.io", "v1", "certificatesigningrequests", "", "");
static const struct spn_target bundles =
    SPN_AT("certificates.k8s.io", "v1", "clustertrustbundles", "", "");

/* By its content, so that a new one does not break who uses the old one. */
static struct spn_text name_of(struct spn_arena *a, struct spn_text root_ca)
{
    unsigned char hash[DIGEST_SHA256_BYTES];
    char hex[2 * HASH_BYTES];
    digest_sha256(str_in(root_ca), hash);
    for (size_t i = 0; i < sizeof(hex); i++)
        hex[i] = "0123456789abcdef"[hash[i / 2] >> (i % 2 ? 0 : 4) & 15];
    return spn_arena_printf(a, "kubernetes.io:kube-apiserver-serving:%.*s", (int)sizeof(hex), hex);
}

static struct spn_value *bundle_new(struct spn_arena *a, struct spn_text name,
                                    struct spn_text root_ca)
{
    struct spn_value *bundle = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, bundle, "apiVersion", SPN_TEXT("certificates.k8s.io/v1"));
    spn_value_set_text(a, bundle, "kind", SPN_TEXT("ClusterTrustBundle"));
    spn_value_set_text(a, spn_value_ensure(a, bundle, "metadata"), "name", name);
    struct spn_value *spec = spn_value_ensure(a, bundle, "spec");
    spn_value_set_text(a, spec, "signerName", SPN_TEXT(SIGNER));
    spn_value_set_text(a, spec, "trustBundle", root_ca);
    return bundle;
}

/* Of that signer there is one. */
static int remove_others(struct spn_work *w, const struct spn_value *items, struct spn_text name,
                         struct spn_err *err)
{
    for (size_t i = 0; i < spn_value_count(items); i++) {
        const struct spn_value *bundle = spn_value_at(items, i);
        struct spn_target at = bundles;
        at.name = meta_name(bundle);
        if (spn_text_eq(at.name, name))
            continue;
        int r = spn_client_delete(w->client, &at, &(struct spn_delete){ .uid = meta_uid(bundle) },
                                  &w->how, w->arena, NULL, err);
        if (r < 0 && r != -SPN_NOT_FOUND && r != -SPN_CONFLICT)
            return r;
    }
    return 0;
}

static const struct spn_value *find(const struct spn_value *items, struct spn_text name)
{
    for (size_t i = 0; i < spn_value_count(items); i++)
        if (spn_text_eq(meta_name(spn_value_at(items, i)), name))
            return spn_value_at(items, i);
    return NULL;
}

static int publish(struct spn_work *w, const struct spn_value *now, struct spn_text name,
                   struct spn_text root_ca, struct spn_err *err)
{
    struct spn_value *bundle = bundle_new(w->arena, name, root_ca);
    struct spn_target at = bundles;
    if (spn_text_eq(spn_value_text(spn_value_dig(now, "spec", "trustBundle")), root_ca))
        return 0;
    if (!now)
        return spn_client_create(w->client, &at, bundle, &w->how, w->arena, NULL, err);
    at.name = name;
    spn_value_set(w->arena, bundle, "metadata",
                  spn_value_copy(w->arena, spn_value_get(now, "metadata")));
    return spn_client_update(w->client, &at, bundle, &w->how, w->arena, NULL, err);
}

static int pass(void *arg, struct spn_work *w, struct spn_err *err)
{
    const struct controllers_options *opt = arg;
    const struct spn_select of_signer = { .fields = "spec.signerName=" SIGNER };
    const struct spn_text name = name_of(w->arena, opt->root_ca);
    struct spn_value *list;
    int r = spn_client_list(w->client, &bundles, &of_signer, &w->how, w->arena, &list, err);
    if (r < 0)
        return r == -SPN_NOT_FOUND ? spn_again_after(PASS_MS) : r;
    const struct spn_value *items = spn_value_get(list, "items");
    r = publish(w, find(items, name), name, opt->root_ca, err);
    if (r < 0 && r != -SPN_EXISTS)
        return r;
    r = remove_others(w, items, name, err);
    return r < 0 ? r : spn_again_after(PASS_MS);
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)ret;
    (void)err;
    if (!env->opt->root_ca.n)
        return 0;
    struct spn_controller *c = spn_manager_add(
        env->manager, &(struct spn_controller_options){
                          .name = "kube-apiserver-serving-clustertrustbundle-publisher-controller",
                          .what = csrs,
                          .kind = "CertificateSigningRequest",
                          .has_no_namespace = true,
                          .when = when_never,
                          .reconcile = pass,
                          .arg = (void *)env->opt });
    spn_controller_enqueue(c, SPN_TEXT(""), SPN_TEXT("trust-bundle"));
    return 0;
}

const struct controllers_row controllers_trust_bundle = {
    "kube-apiserver-serving-clustertrustbundle-publisher-controller", add, NULL
};
