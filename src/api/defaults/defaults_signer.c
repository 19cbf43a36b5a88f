/* Who signs a certificates.k8s.io/v1beta1 request that does not say: what a kubelet asks for is
 * known by its subject, its names and its usages (RFC 2986), and goes to one of two signers. */
#include "api/defaults/defaults_rules.h"

#include "api/keys.h"
#include "api/pem.h"
#include "base/base64.h"
#include "net/crypto/x509.h"
#include "base/banned.h"

/* Exactly digital signature, `purpose`, and perhaps key encipherment, in any order. */
static bool has_usages(const struct value *usages, struct str purpose)
{
    bool signs = false, serves = false;
    value_each_item (usage, usages) {
        struct str name = value_str(usage);
        if (str_eq(name, STR("digital signature")))
            signs = true;
        else if (str_eq(name, purpose))
            serves = true;
        else if (!str_eq(name, STR("key encipherment")))
            return false;
    }
    return signs && serves;
}

/* What a kubelet asks for. */
static bool is_of_node(const struct x509_request *r)
{
    return r->n_organizations == 1 && x509_is_of(r, STR("system:nodes")) &&
           str_starts(r->name, STR("system:node:")) && !r->n_emails && !r->n_uris;
}

static struct str signer_of(struct arena *a, const struct value *spec)
{
    autobuf text = { 0 };
    autopem block = { 0 };
    struct x509_request request;
    const struct value *usages = value_get(spec, STR("usages"));
    if (!base64_decode(&text, value_text(spec, "request")))
        return STR(KEY_SIGNER_LEGACY_UNKNOWN);
    struct str pem = buf_str(&text);
    if (!pem_next(&pem, &block) || !str_eq(block.type, STR("CERTIFICATE REQUEST")) ||
        !x509_read_request(a, buf_str(&block.bytes), &request) || !is_of_node(&request))
        return STR(KEY_SIGNER_LEGACY_UNKNOWN);
    bool has_names = request.n_dns_names || request.n_ips;
    if (!has_names && has_usages(usages, STR("client auth")))
        return STR("kubernetes.io/kube-apiserver-client-kubelet");
    if (has_names && has_usages(usages, STR("server auth")))
        return STR("kubernetes.io/kubelet-serving");
    return STR(KEY_SIGNER_LEGACY_UNKNOWN);
}

void defaults__signing_request(struct arena *a, struct value *spec)
{
    const struct value *name = value_get(spec, STR("signerName"));
    if (!name || name->type == VALUE_NULL)
        value_put(a, spec, STR("signerName"), value_string(signer_of(a, spec)));
}
