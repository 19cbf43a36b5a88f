/* PodCertificateRequest. Signatures, and how near a time is to now, are not checked: rules have
 * neither cryptography nor a clock. */
#include "api/pem.h"
#include "api/go/gotime.h"
#include "api/inner.h"
#include "api/validate/validate_parts.h"
#include "base/base64.h"
#include "base/limits.h"
#include "net/crypto/x509.h"
#include "base/banned.h"

static void check_user_annotations(struct field_errors *e, const struct value *annotations)
{
    const struct field_path *path = path_at(path_root("spec"), "unverifiedUserAnnotations");
    size_t bytes = 0;
    value_each_field (f, annotations) {
        char *copy = arena_dup(e->arena, f->key.p, f->key.n);
        struct str lower = { copy, f->key.n };
        for (size_t i = 0; i < lower.n; i++)
            copy[i] = (char)(copy[i] >= 'A' && copy[i] <= 'Z' ? copy[i] | 0x20 : copy[i]);
        if (validate_required_name(e, path, NAME_QUALIFIED, lower) && str_find(lower, '/') < 0)
            fault_text(e, path, lower, "must be a domain-prefixed key (such as \"acme.io/foo\")");
        bytes += f->key.n + value_str(&f->val).n;
    }
    if (bytes > LIMIT_ANNOTATION_BYTES)
        field_too_long(e, path, LIMIT_ANNOTATION_BYTES);
}

static void check_identity(struct field_errors *e, const struct value *spec, struct str name,
                           struct str uid)
{
    enum { UID_MAX = 128 };
    struct field_path name_path = field_child(path_root("spec"), name);
    struct field_path uid_path = field_child(path_root("spec"), uid);
    struct str text = value_str(value_get(spec, uid));
    validate_name(e, &name_path, NAME_SUBDOMAIN, value_str(value_get(spec, name)));
    if (text.n == 0)
        fault_text(e, &uid_path, text, "must not be empty");
    if (text.n > UID_MAX)
        field_too_long(e, &uid_path, UID_MAX);
}

static bool check_lifetime(struct field_errors *e, const struct value *spec)
{
    enum { HOUR = 3600, OTHERS_MAX = 91 * 24 * HOUR, OURS_MAX = 24 * HOUR };
    const struct field_path *path = path_at(path_root("spec"), "maxExpirationSeconds");
    struct str rest = value_text(spec, "signerName"), domain = str_cut(&rest, '/');
    bool ours = validate_is_in_domain(domain, "kubernetes.io");
    int64_t seconds = validate_int(spec, "maxExpirationSeconds"),
            max = ours ? OURS_MAX : OTHERS_MAX;
    if (!validate_member(spec, "maxExpirationSeconds"))
        return fault_required(e, path, "must be set");
    if (seconds < HOUR || seconds > max)
        fault_int(e, path, seconds, "must be in the range [%d, %d]", HOUR, (int)max);
    return true;
}

/* Shown without its value. */
static void fault_omitted(struct field_errors *e, const struct field_path *path, const char *why)
{
    field_error(e, FIELD_INVALID, path, STR(""), "%s", why);
}

/* Whether the key is one that pods may have. */
static void check_pod_key(struct field_errors *e, const struct field_path *path,
                          const struct x509_key *of, const char *curves)
{
    static const struct str good_curves[] = { STR("P-256"), STR("P-384"), STR("P-521") };
    struct str bits = arena_printf(e->arena, "%u-bit modulus", of->rsa_bits);
    if (of->type == X509_KEY_UNKNOWN)
        fault_omitted(e, path,
                      "unknown public key type; supported types are Ed25519, ECDSA, and RSA");
    else if (of->type == X509_KEY_EC && !words_have(of->curve, WORDS(good_curves)))
        fault_text(e, path, arena_printf(e->arena, "curve " STR_FMT, STR_ARG(of->curve)),
                   "elliptic public keys must use curve %s", curves);
    else if (of->type == X509_KEY_RSA && of->rsa_bits != 3072 && of->rsa_bits != 4096)
        fault_text(e, path, bits, "RSA keys must have modulus size 3072 or 4096");
}

enum { POD_KEY_MAX = 10 * 1024 };

static void check_stub_request(struct field_errors *e, struct str request)
{
    const struct field_path *path = path_at(path_root("spec"), "stubPKCS10Request");
    autobuf der = { 0 };
    struct x509_request csr;
    (void)base64_decode(&der, request);
    if (der.n > POD_KEY_MAX)
        field_too_long(e, path, POD_KEY_MAX);
    else if (!x509_read_request(e->arena, buf_str(&der), &csr))
        fault_omitted(e, path, "must be a valid PKCS#10 CSR");
    else
        check_pod_key(e, path, &csr.key, "P256, P384, or P521");
}

static void check_bare_key(struct field_errors *e, struct str key, struct str proof)
{
    const struct field_path *path = path_at(path_root("spec"), "pkixPublicKey");
    autobuf der = { 0 }, signature = { 0 };
    struct x509_key read;
    (void)base64_decode(&der, key);
    (void)base64_decode(&signature, proof);
    if (der.n > POD_KEY_MAX)
        field_too_long(e, path, POD_KEY_MAX);
    else if (signature.n > POD_KEY_MAX)
        field_too_long(e, path_at(path_root("spec"), "proofOfPossession"), POD_KEY_MAX);
    else if (!x509_read_key(e->arena, buf_str(&der), &read))
        fault_text(e, path, key, "must be a valid PKIX-serialized public key");
    else
        check_pod_key(e, path, &read, "P256 or P384");
}

static void create_pod_request(struct field_errors *e, const struct value *obj)
{
    const struct value *spec = value_get(obj, STR("spec"));
    struct str stub = value_text(spec, "stubPKCS10Request"),
               key = value_text(spec, "pkixPublicKey");
    struct str proof = value_text(spec, "proofOfPossession");
    validate_signer_name(e, path_at(path_root("spec"), "signerName"),
                         value_text(spec, "signerName"));
    check_user_annotations(e, value_get(spec, STR("unverifiedUserAnnotations")));
    check_identity(e, spec, STR("podName"), STR("podUID"));
    check_identity(e, spec, STR("serviceAccountName"), STR("serviceAccountUID"));
    check_identity(e, spec, STR("nodeName"), STR("nodeUID"));
    if (!check_lifetime(e, spec))
        return;
    if (stub.n && !key.n && !proof.n)
        check_stub_request(e, stub);
    else if (!stub.n && key.n && proof.n)
        check_bare_key(e, key, proof);
    else
        fault_omitted(e, path_root("spec"),
                      "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) "
                      "must be set");
}

/* The spec as upstream shows it: with the two fields that only older versions have. */
static struct str shown_spec(struct field_errors *e, const struct value *spec)
{
    struct str text =
        inner_json(e, STR("certificates.k8s.io/v1"), STR("PodCertificateRequestSpec"), spec);
    const char *stub = text.n ? memmem(text.p, text.n, "\"StubPKCS10Request\":", 20) : NULL;
    if (!stub)
        return text;
    size_t before = (size_t)(stub - text.p);
    return arena_printf(e->arena,
                        STR_FMT "\"PKIXPublicKey\":null,\"ProofOfPossession\":null," STR_FMT,
                        STR_ARG(str_take(text, before)), STR_ARG(str_skip(text, before)));
}

static void update_pod_request(struct field_errors *e, const struct value *obj,
                               const struct value *old_obj)
{
    const struct value *spec = value_get(obj, STR("spec"));
    if (!validate_is_same(spec, value_get(old_obj, STR("spec"))))
        field_error(e, FIELD_INVALID, path_root("spec"), shown_spec(e, spec), "field is immutable");
}

static void check_pod_conditions(struct field_errors *e, const struct value *conditions)
{
    static const struct str known[] = { STR("Issued"), STR("Denied"), STR("Failed") };
    static const struct str only_true[] = { STR("True") };
    const struct field_path *path = path_at(path_root("status"), "conditions");
    size_t i = 0, n = 0;
    value_each_item (it, conditions) {
        struct str type = value_text(it, "type");
        /* upstream makes the index a field of its own, with a dot in front */
        struct field_path item = field_child(path, arena_printf(e->arena, "[%zu]", i++));
        if (!validate_one_of(e, path_at(&item, "type"), type, WORDS(known)))
            continue;
        if (n++)
            fault_text(e, path_at(&item, "type"), type,
                       "There may be at most one condition with type \"Issued\", \"Denied\", or "
                       "\"Failed\"");
        if (!str_eq(value_text(it, "status"), only_true[0]))
            validate_one_of(e, path_at(&item, "status"), value_text(it, "status"),
                            WORDS(only_true));
    }
    validate_conditions(e, path, conditions);
}

static bool is_final(const struct value *status)
{
    const struct value *conditions = value_get(status, STR("conditions"));
    return validate_has_condition(conditions, STR("Issued")) ||
           validate_has_condition(conditions, STR("Denied")) ||
           validate_has_condition(conditions, STR("Failed"));
}

/* The key that a certificate was asked for. */
static bool read_wanted_key(struct arena *a, const struct value *spec, struct x509_key *ret)
{
    struct str stub = value_text(spec, "stubPKCS10Request");
    struct x509_request request;
    autobuf der = { 0 };
    if (!stub.n)
        return base64_decode(&der, value_text(spec, "pkixPublicKey")) &&
               x509_read_key(a, buf_str(&der), ret);
    if (!base64_decode(&der, stub) || !x509_read_request(a, buf_str(&der), &request))
        return false;
    *ret = request.key;
    return true;
}

static bool check_time_told(struct field_errors *e, const struct value *status, struct str field,
                            const char *why, int64_t *ret)
{
    struct gotime t = { 0 };
    struct field_path path = field_child(path_root("status"), field);
    if (!validate__member(status, field))
        return fault_required(e, &path, why);
    bool good = gotime_parse(value_str(value_get(status, field)), false, &t, NULL) == 0;
    *ret = t.sec;
    return good;
}

static void check_issued_times(struct field_errors *e, const struct value *obj,
                               const struct x509_certificate *leaf)
{
    enum { MARGIN = 600, HOUR = 3600 };
    static const char present[] = "must be present and consistent with the issued certificate";
    const struct value *status = value_get(obj, STR("status"));
    const struct field_path *path = path_root("status");
    int64_t before = 0, after = 0, refresh = 0, lifetime = leaf->not_after - leaf->not_before;
    int64_t max = validate__int(value_dig(obj, "spec", "maxExpirationSeconds"));
    bool told = check_time_told(e, status, STR("notBefore"), present, &before);
    told &= check_time_told(e, status, STR("notAfter"), present, &after);
    told &= check_time_told(e, status, STR("beginRefreshAt"),
                            "must be present and in the range [notbefore+10min, notafter-10min]",
                            &refresh);
    if (!told)
        return;
    if (before != leaf->not_before)
        fault_value(e, path_at(path, "notBefore"), value_get(status, STR("notBefore")),
                    "must be set to the NotBefore time encoded in the leaf certificate");
    else if (after != leaf->not_after)
        fault_value(e, path_at(path, "notAfter"), value_get(status, STR("notAfter")),
                    "must be set to the NotAfter time encoded in the leaf certificate");
    else if (lifetime < HOUR)
        fault_int(e, path_at(path, "certificateChain"), lifetime * 1000000000,
                  "leaf certificate lifetime must be >= 1 hour");
    else if (lifetime > max)
        fault_int(e, path_at(path, "certificateChain"), lifetime * 1000000000,
                  "leaf certificate lifetime must be <= spec.maxExpirationSeconds (%lld)",
                  (long long)max);
    else if (refresh < before + MARGIN)
        fault_value(e, path_at(path, "beginRefreshAt"), value_get(status, STR("beginRefreshAt")),
                    "must be at least 10 minutes after status.notBefore");
    else if (refresh > after - MARGIN)
        fault_value(e, path_at(path, "beginRefreshAt"), value_get(status, STR("beginRefreshAt")),
                    "must be at least 10 minutes before status.notAfter");
}

/* What is wrong with the first certificate of a chain, or NULL. */
static const char *leaf_fault(struct arena *a, const struct value *spec,
                              const struct pem_block *block, struct x509_certificate *ret)
{
    struct x509_key wanted;
    if (!block->type.p)
        return "issued certificate chain must contain at least one certificate";
    if (!str_eq(block->type, STR("CERTIFICATE")))
        return "issued certificate chain must consist entirely of CERTIFICATE PEM blocks";
    if (!x509_read_certificate(a, buf_str(&block->bytes), ret))
        return "leaf certificate does not parse as valid X.509";
    if (read_wanted_key(a, spec, &wanted) && !str_eq(wanted.der, ret->key.der))
        return "leaf certificate was not issued to the requested public key";
    return NULL;
}

static void check_chain(struct field_errors *e, const struct value *obj)
{
    enum { CHAIN_MAX = 100 * 1024 };
    const struct field_path *path = path_at(path_root("status"), "certificateChain");
    struct str chain = value_str(value_dig(obj, "status", "certificateChain")), rest = chain;
    struct x509_certificate leaf;
    autopem block = { 0 };
    size_t before = e->n;
    if (chain.n > CHAIN_MAX) {
        field_too_long(e, path, CHAIN_MAX);
        return;
    }
    (void)pem_next(&rest, &block);
    const char *fault = leaf_fault(e->arena, value_get(obj, STR("spec")), &block, &leaf);
    if (fault) {
        fault_text(e, path, chain, "%s", fault);
        return;
    }
    check_issued_times(e, obj, &leaf);
    while (e->n == before && pem_next(&rest, &block)) {
        if (!str_eq(block.type, STR("CERTIFICATE"))) /* the spelling is upstream's */
            fault_text(e, path, chain,
                       "issued certificate chain must consist entirely of CERTFICATE PEM blocks");
        else if (!x509_read_certificate(e->arena, buf_str(&block.bytes), &leaf))
            fault_text(e, path, chain, "intermediate certificate does not parse as valid X.509");
    }
}

static bool has_only_conditions(const struct value *status)
{
    value_each_field (f, status)
        if (!str_eq(f->key, STR("conditions")) && f->val.type != VALUE_NULL &&
            !(f->val.type == VALUE_STRING && f->val.n == 0))
            return false;
    return true;
}

static void update_pod_request_status(struct field_errors *e, const struct value *obj,
                                      const struct value *old_obj)
{
    const struct value *status = value_get(obj, STR("status"));
    const struct value *old = value_get(old_obj, STR("status"));
    const struct value *conditions = value_get(status, STR("conditions"));
    const struct field_path *path = path_root("status");
    if (e->n)
        return; /* metadata that are at fault are all that upstream tells of */
    check_pod_conditions(e, conditions);
    if (e->n)
        return;
    if (is_final(old)) {
        if (!validate_is_same(status, old))
            fault_omitted(e, path,
                          "immutable after PodCertificateRequest is issued, denied, or failed");
    } else if (validate_has_condition(conditions, STR("Issued"))) {
        check_chain(e, obj);
    } else if (is_final(status)) {
        if (!has_only_conditions(status))
            fault_omitted(e, path,
                          "non-condition status fields must be empty when denying or failing the "
                          "PodCertificateRequest");
    } else if (!validate_is_same(status, old)) {
        fault_omitted(e, path,
                      "status is immutable unless transitioning to \"Issued\", \"Denied\", or "
                      "\"Failed\"");
    }
}

const struct validate_rules validate__certificates_pod[] = {
    { STR("certificates.k8s.io"), STR("PodCertificateRequest"), .create = create_pod_request,
      .update = update_pod_request, .update_status = update_pod_request_status },
    { .kind = { NULL, 0 } },
};
