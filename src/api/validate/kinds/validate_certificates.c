/* Requests for certificates, of users and of pods, and bundles of trust anchors. Signatures, and
 * how near a time is to now, are not checked: rules have neither cryptography nor a clock. */
#include "api/pem.h"
#include "api/inner.h"
#include "api/keys.h"
#include "api/text_set.h"
#include "api/validate/validate_parts.h"
#include "base/base64.h"
#include "base/limits.h"
#include "net/crypto/x509.h"
#include "base/banned.h"

#define GROUP   STR("certificates.k8s.io")
#define OMITTED STR("<value omitted>")

/* ---- CertificateSigningRequest ---- */

static const struct str usages_known[] = {
    STR("any"),
    STR("cert sign"),
    STR("client auth"),
    STR("code signing"),
    STR("content commitment"),
    STR("crl sign"),
    STR("data encipherment"),
    STR("decipher only"),
    STR("digital signature"),
    STR("email protection"),
    STR("encipher only"),
    STR("ipsec end system"),
    STR("ipsec tunnel"),
    STR("ipsec user"),
    STR("key agreement"),
    STR("key encipherment"),
    STR("microsoft sgc"),
    STR("netscape sgc"),
    STR("ocsp signing"),
    STR("s/mime"),
    STR("server auth"),
    STR("signing"),
    STR("timestamping"),
};

/* What an old object has although it may not, and what a subresource may do. */
struct csr_rules {
    bool keeps_both, keeps_legacy, keeps_repeated, keeps_untyped, keeps_certificate;
    bool keeps_usages, keeps_repeated_usages;
    bool may_approve, may_issue, may_reissue;
};

static void check_csr_request(struct field_errors *e, const struct value *spec)
{
    const struct field_path *path = path_at(path_root("spec"), "request");
    const struct value *request = value_get(spec, STR("request"));
    autobuf text = { 0 };
    autopem block = { 0 };
    struct x509_request csr;
    (void)base64_decode(&text, value_text(spec, "request"));
    struct str pem = buf_str(&text);
    if (!pem_next(&pem, &block) || !str_eq(block.type, STR("CERTIFICATE REQUEST")))
        fault_value(e, path, request, "PEM block type must be CERTIFICATE REQUEST");
    else if (!x509_read_request(e->arena, buf_str(&block.bytes), &csr))
        fault_value(e, path, request, "asn1: structure error: malformed certificate request");
}

static bool has_unknown_usage(const struct value *usages)
{
    value_each_item (it, usages)
        if (!words_have(value_str(it), WORDS(usages_known)))
            return true;
    return false;
}

static bool has_repeated_text(const struct value *list)
{
    autoset seen;
    text_set_init(&seen);
    value_each_item (it, list)
        if (!text_set_add(&seen, value_str(it), it))
            return true;
    return false;
}

static void check_usages(struct field_errors *e, const struct value *usages,
                         const struct csr_rules *rules)
{
    const struct field_path *path = path_at(path_root("spec"), "usages");
    size_t i = 0;
    if (!validate__count(usages))
        fault_required(e, path, "");
    value_each_item (it, rules->keeps_usages ? NULL : usages)
        validate_one_of(e, path_item(path, i++), value_str(it), WORDS(usages_known));
    if (!rules->keeps_repeated_usages)
        validate_unique_texts(e, path, usages);
}

static bool has_type(const struct value *condition, const char *type)
{
    return str_eq(value_text(condition, "type"), str_of(type));
}

static size_t count_type(const struct value *conditions, const char *type)
{
    size_t n = 0;
    value_each_item (it, conditions)
        n += has_type(it, type);
    return n;
}

static void check_csr_status(struct field_errors *e, const struct field_path *path,
                             const struct value *condition)
{
    static const struct str all[] = { STR("False"), STR("True"), STR("Unknown") };
    static const struct str only_true[] = { STR("True") };
    struct str status = value_text(condition, "status");
    bool is_final = has_type(condition, "Approved") || has_type(condition, "Denied") ||
                    has_type(condition, "Failed");
    if (!validate_required(e, path_at(path, "status"), status))
        return;
    if (is_final)
        validate_one_of(e, path_at(path, "status"), status, WORDS(only_true));
    else
        validate_one_of(e, path_at(path, "status"), status, WORDS(all));
}

static void check_csr_conditions(struct field_errors *e, const struct value *conditions,
                                 const struct csr_rules *rules)
{
    const struct field_path *path = path_at(path_root("status"), "conditions");
    size_t i = 0;
    autoset types;
    text_set_init(&types);
    value_each_item (it, conditions) {
        const struct field_path *at = path_item(path, i++);
        struct str type = value_text(it, "type");
        if (!type.n && !rules->keeps_untyped)
            fault_required(e, path_at(at, "type"), "");
        check_csr_status(e, at, it);
        if (!text_set_add(&types, type, it) && !rules->keeps_repeated)
            fault_duplicate(e, path_at(at, "type"), type);
    }
}

/* Declared: at most one of the two. */
static void check_csr_verdict(struct field_errors *e, const struct value *conditions,
                              const struct csr_rules *rules)
{
    if (rules->keeps_both || !count_type(conditions, "Approved") ||
        !count_type(conditions, "Denied"))
        return;
    field_error(e, FIELD_INVALID, path_at(path_root("status"), "conditions"),
                field_quoted(e, STR("{conditions[{\"type\": \"Approved\"}], conditions[{\"type\": "
                                    "\"Denied\"}]}")),
                "must specify at most one of: `conditions[{\"type\": \"Approved\"}]`, "
                "`conditions[{\"type\": \"Denied\"}]`");
}

/* What is wrong with an issued certificate, or NULL. */
static const char *certificate_fault(struct arena *a, struct str encoded)
{
    autobuf text = { 0 };
    size_t blocks = 0;
    if (encoded.n == 0 || !base64_decode(&text, encoded))
        return NULL;
    struct str pem = buf_str(&text);
    for (;; blocks++) {
        autopem block = { 0 };
        struct x509_certificate read;
        if (!pem_next(&pem, &block))
            break;
        if (!str_eq(block.type, STR("CERTIFICATE")))
            return str_cstr(a, arena_printf(a,
                                            "only CERTIFICATE PEM blocks are allowed, found "
                                            "\"" STR_FMT "\"",
                                            STR_ARG(block.type)));
        if (block.has_headers)
            return "no PEM block headers are permitted";
        if (!x509_read_certificate(a, buf_str(&block.bytes), &read))
            return "x509: malformed certificate";
    }
    return blocks ? NULL : "must contain at least one CERTIFICATE PEM block";
}

static void check_csr(struct field_errors *e, const struct value *obj,
                      const struct csr_rules *rules)
{
    static const struct str legacy = STR(KEY_SIGNER_LEGACY_UNKNOWN);
    const struct value *spec = value_get(obj, STR("spec")), *status = value_get(obj, STR("status"));
    const struct value *conditions = value_get(status, STR("conditions"));
    const struct field_path *path = path_root("spec");
    struct str signer = value_text(spec, "signerName");
    int64_t seconds = validate_int(spec, "expirationSeconds");
    check_csr_request(e, spec);
    check_usages(e, value_get(spec, STR("usages")), rules);
    if (str_eq(signer, legacy) && !rules->keeps_legacy)
        fault_text(e, path_at(path, "signerName"), signer,
                   "the legacy signerName is not allowed via this API version");
    else
        validate_signer_name(e, path_at(path, "signerName"), signer);
    if (validate_member(spec, "expirationSeconds") && seconds < 600)
        fault_int(e, path_at(path, "expirationSeconds"), seconds,
                  "may not specify a duration less than 600 seconds (10 minutes)");
    check_csr_conditions(e, conditions, rules);
    if (rules->keeps_certificate)
        return;
    const char *fault = certificate_fault(e->arena, value_text(status, "certificate"));
    if (fault)
        fault_text(e, path_at(path_root("status"), "certificate"), STR("<certificate data>"), "%s",
                   fault);
}

static void create_csr(struct field_errors *e, const struct value *obj)
{
    const struct csr_rules rules = { 0 };
    check_csr(e, obj, &rules);
    check_csr_verdict(e, value_dig(obj, "status", "conditions"), &rules);
}

static struct csr_rules csr_rules_of(struct arena *a, const struct value *obj,
                                     const struct value *old_obj)
{
    const struct value *conditions = value_dig(old_obj, "status", "conditions");
    const struct value *usages = value_dig(old_obj, "spec", "usages");
    struct str certificate = value_str(value_dig(old_obj, "status", "certificate"));
    struct csr_rules rules = {
        .keeps_both = count_type(conditions, "Approved") && count_type(conditions, "Denied"),
        .keeps_legacy = str_eq(value_str(value_dig(old_obj, "spec", "signerName")),
                               STR(KEY_SIGNER_LEGACY_UNKNOWN)),
        .keeps_certificate =
            str_eq(value_str(value_dig(obj, "status", "certificate")), certificate) ||
            certificate_fault(a, certificate),
        .keeps_usages = has_unknown_usage(usages),
        .keeps_repeated_usages = has_repeated_text(usages),
        .keeps_untyped = count_type(conditions, "") > 0,
    };
    autoset types;
    text_set_init(&types);
    value_each_item (it, conditions)
        if (!text_set_add(&types, value_text(it, "type"), it))
            rules.keeps_repeated = true;
    return rules;
}

/* The conditions of one type. */
static struct value of_type(struct arena *a, const struct value *conditions, const char *type)
{
    struct value list = value_array();
    value_each_item (it, conditions)
        if (has_type(it, type))
            value_put_item(a, &list, value_borrow(it));
    return list;
}

static void check_csr_kept(struct field_errors *e, const struct value *conditions,
                           const struct value *old, const struct csr_rules *rules)
{
    static const char *const types[] = { "Approved", "Denied", "Failed" };
    const struct field_path *path = path_at(path_root("status"), "conditions");
    for (size_t i = 0; i < 3; i++)
        if (count_type(conditions, types[i]) < count_type(old, types[i]))
            fault_forbidden(e, path, "updates may not remove a condition of type \"%s\"", types[i]);
    for (size_t i = 0; i < 2 && !rules->may_approve; i++) {
        struct value is = of_type(e->arena, conditions, types[i]);
        struct value was = of_type(e->arena, old, types[i]);
        if (is.n > was.n) {
            fault_forbidden(e, path, "updates may not add a condition of type \"%s\"", types[i]);
        } else if (is.n == was.n && !validate_is_same(&is, &was)) {
            struct str diff = inner_diff(e, STR("certificates.k8s.io/v1"),
                                         STR("CertificateSigningRequestCondition"), &was, &is);
            fault_forbidden(e, path, "updates may not modify a condition of type \"%s\"\n" STR_FMT,
                            types[i], STR_ARG(diff));
        }
    }
}

static void check_csr_update(struct field_errors *e, const struct value *obj,
                             const struct value *old_obj, const struct csr_rules *rules)
{
    struct str certificate = value_str(value_dig(obj, "status", "certificate"));
    struct str old = value_str(value_dig(old_obj, "status", "certificate"));
    const struct value *conditions = value_dig(obj, "status", "conditions");
    const struct field_path *path = path_at(path_root("status"), "certificate");
    check_csr(e, obj, rules);
    check_csr_kept(e, conditions, value_dig(old_obj, "status", "conditions"), rules);
    if (!str_eq(certificate, old) && !rules->may_issue)
        fault_forbidden(e, path, "updates may not set certificate content");
    else if (!str_eq(certificate, old) && old.n && !rules->may_reissue)
        fault_forbidden(e, path, "updates may not modify existing certificate content");
    check_csr_verdict(e, conditions, rules);
}

static void update_csr(struct field_errors *e, const struct value *obj, const struct value *old_obj)
{
    struct csr_rules rules = csr_rules_of(e->arena, obj, old_obj);
    check_csr_update(e, obj, old_obj, &rules);
}

static void approve_csr(struct field_errors *e, const struct value *obj,
                        const struct value *old_obj)
{
    struct csr_rules rules = csr_rules_of(e->arena, obj, old_obj);
    rules.may_approve = true;
    check_csr_update(e, obj, old_obj, &rules);
}

static void issue_csr(struct field_errors *e, const struct value *obj, const struct value *old_obj)
{
    struct csr_rules rules = csr_rules_of(e->arena, obj, old_obj);
    rules.may_issue = true;
    check_csr_update(e, obj, old_obj, &rules);
}

static const struct validate_sub csr_subs[] = {
    { STR("approval"), approve_csr },
    { .name = { NULL, 0 } },
};

/* What was allowed before there were rules, and is through the version of that time. */
static struct csr_rules csr_old_rules(struct csr_rules rules)
{
    rules.keeps_legacy = true;
    rules.keeps_repeated = true;
    rules.keeps_untyped = true;
    rules.keeps_certificate = true;
    rules.keeps_usages = true;
    rules.keeps_repeated_usages = true;
    rules.may_reissue = true;
    return rules;
}

static void create_old_csr(struct field_errors *e, const struct value *obj)
{
    const struct csr_rules rules = csr_old_rules((struct csr_rules){ 0 });
    check_csr(e, obj, &rules);
    check_csr_verdict(e, value_dig(obj, "status", "conditions"), &rules);
}

static void update_old_csr(struct field_errors *e, const struct value *obj,
                           const struct value *old_obj)
{
    struct csr_rules rules = csr_old_rules(csr_rules_of(e->arena, obj, old_obj));
    check_csr_update(e, obj, old_obj, &rules);
}

static void approve_old_csr(struct field_errors *e, const struct value *obj,
                            const struct value *old_obj)
{
    struct csr_rules rules = csr_old_rules(csr_rules_of(e->arena, obj, old_obj));
    rules.may_approve = true;
    check_csr_update(e, obj, old_obj, &rules);
}

static void issue_old_csr(struct field_errors *e, const struct value *obj,
                          const struct value *old_obj)
{
    struct csr_rules rules = csr_old_rules(csr_rules_of(e->arena, obj, old_obj));
    rules.may_issue = true;
    check_csr_update(e, obj, old_obj, &rules);
}

static const struct validate_sub old_csr_subs[] = {
    { STR("approval"), approve_old_csr },
    { .name = { NULL, 0 } },
};

/* ---- ClusterTrustBundle ---- */

static void fault_entry(struct field_errors *e, size_t i, const char *why, struct str more)
{
    fault_text(e, path_at(path_root("spec"), "trustBundle"), OMITTED, "entry %zu %s" STR_FMT, i,
               why, STR_ARG(more));
}

static bool check_anchor(struct field_errors *e, size_t i, const struct pem_block *block)
{
    struct x509_certificate read;
    size_t before = e->n;
    if (!str_eq(block->type, STR("CERTIFICATE")))
        fault_entry(e, i, "has bad block type: ", block->type);
    else if (block->has_headers)
        fault_entry(e, i, "has PEM block headers", STR(""));
    else if (!x509_read_certificate(e->arena, buf_str(&block->bytes), &read))
        fault_entry(e, i, "does not parse as X.509", STR(""));
    else if (!read.is_ca)
        fault_entry(e, i, "does not have the CA bit set", STR(""));
    return e->n == before;
}

/* The places of the anchors that are the same as the one at `first`. */
static void fault_repeated(struct field_errors *e, const struct str *anchors, size_t n,
                           size_t first)
{
    autobuf places = { 0 };
    for (size_t i = first; i < n; i++)
        if (str_eq(anchors[i], anchors[first]))
            buf_printf(&places, "%s%zu", i > first ? " " : "", i);
    fault_text(e, path_at(path_root("spec"), "trustBundle"), OMITTED,
               "duplicate trust anchor (indices [" STR_FMT "])", STR_ARG(buf_str(&places)));
}

static void check_repeated_anchors(struct field_errors *e, const struct str *anchors, size_t n)
{
    autoset seen, told;
    text_set_init(&seen);
    text_set_init(&told);
    for (size_t i = 0; i < n; i++) {
        const struct str *first = text_set_get(&seen, anchors[i]);
        if (!first)
            (void)text_set_add(&seen, anchors[i], &anchors[i]);
        else if (text_set_add(&told, anchors[i], first) && e->n < LIMIT_FIELD_ERRORS)
            fault_repeated(e, anchors, n, (size_t)(first - anchors));
    }
}

static void check_bundle(struct field_errors *e, struct str bundle)
{
    enum { BUNDLE_MAX = 1 << 20, ANCHOR_MIN = 32 }; /* bytes; a block is longer than that */
    const struct field_path *path = path_at(path_root("spec"), "trustBundle");
    size_t before = e->n, n = 0;
    if (bundle.n > BUNDLE_MAX) {
        field_too_long(e, path, BUNDLE_MAX);
        return;
    }
    struct str *anchors = arena_array(e->arena, struct str, bundle.n / ANCHOR_MIN + 1);
    for (;; n++) {
        autopem block = { 0 };
        if (!pem_next(&bundle, &block))
            break;
        (void)check_anchor(e, n, &block);
        anchors[n] = arena_str(e->arena, buf_str(&block.bytes));
    }
    if (e->n > before)
        return;
    if (n == 0)
        fault_text(e, path, OMITTED, "at least one trust anchor must be provided");
    check_repeated_anchors(e, anchors, n);
}

static void check_bundle_signer(struct field_errors *e, const struct value *spec)
{
    struct str signer = value_text(spec, "signerName");
    if (signer.n)
        validate_signer_name(e, path_at(path_root("spec"), "signerName"), signer);
}

static void create_bundle(struct field_errors *e, const struct value *obj)
{
    const struct value *spec = value_get(obj, STR("spec"));
    check_bundle_signer(e, spec);
    check_bundle(e, value_text(spec, "trustBundle"));
}

static void update_bundle(struct field_errors *e, const struct value *obj,
                          const struct value *old_obj)
{
    const struct value *spec = value_get(obj, STR("spec")), *old = value_get(old_obj, STR("spec"));
    check_bundle_signer(e, spec);
    if (!str_eq(value_text(spec, "trustBundle"), value_text(old, "trustBundle")))
        check_bundle(e, value_text(spec, "trustBundle"));
    validate_immutable(e, path_at(path_root("spec"), "signerName"),
                       value_get(spec, STR("signerName")), value_get(old, STR("signerName")));
}

const struct validate_rules validate__certificates[] = {
    { GROUP, STR("CertificateSigningRequest"), .create = create_csr, .update = update_csr,
      .update_status = issue_csr, .subs = csr_subs },
    { GROUP, STR("CertificateSigningRequest"), .create = create_old_csr, .update = update_old_csr,
      .update_status = issue_old_csr, .subs = old_csr_subs, .version = STR("v1beta1") },
    { GROUP, STR("ClusterTrustBundle"), .create = create_bundle, .update = update_bundle },
    { .kind = { NULL, 0 } },
};
