#include "controllers/certificates/plan.h"

#include <sampan/meta.h>

#include "api/pem.h"
#include "base/base64.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/times.h"
#include "base/banned.h"

enum {
    BACKDATE_SEC = 300,      /* certificates are good since so long */
    LEAST_SEC = 600,         /* nobody gets less */
    SHORT_SEC = 8 * 3600,    /* below it, the time before now is not taken off the end */
    DONE_SEC = 3600,         /* requests that are answered stay for so long */
    PENDING_SEC = 24 * 3600, /* and those that are not */
};

/* ---- What it says ---- */

static struct str decode(struct spn_arena *a, const struct spn_value *base64)
{
    autobuf bytes = { 0 };
    return base64_decode(&bytes, str_in(spn_value_text(base64)))
               ? arena_str(arena_in(a), buf_str(&bytes))
               : STR("");
}

int csr_request(struct spn_arena *a, const struct spn_value *csr, struct str *ret_der,
                struct x509_request *ret, struct spn_err *err)
{
    struct str pem = decode(a, spn_value_dig(csr, "spec", "request"));
    autopem block = { 0 };
    if (!pem_next(&pem, &block) || !str_eq(block.type, STR("CERTIFICATE REQUEST")))
        return spn_err_set(err, SPN_INVALID, "PEM block type must be CERTIFICATE REQUEST");
    *ret_der = arena_str(arena_in(a), buf_str(&block.bytes));
    if (!x509_read_request(arena_in(a), *ret_der, ret))
        return spn_err_set(err, SPN_INVALID, "malformed certificate request");
    return 0;
}

struct str csr_certificate(struct spn_arena *a, const struct spn_value *csr)
{
    return decode(a, spn_value_dig(csr, "status", "certificate"));
}

bool csr_has(const struct spn_value *csr, const char *condition)
{
    return spn_condition_get(csr, condition) != NULL;
}

bool csr_is_approved(const struct spn_value *csr)
{
    return csr_has(csr, "Approved") && !csr_has(csr, "Denied");
}

bool csr_has_failed(const struct spn_value *csr)
{
    const struct spn_text status =
        spn_value_text(spn_value_get(spn_condition_get(csr, "Failed"), "status"));
    return csr_has(csr, "Failed") && (!status.n || spn_text_eq(status, SPN_TEXT("True")));
}

bool csr_is_issued(const struct spn_value *csr)
{
    return spn_value_text(spn_value_dig(csr, "status", "certificate")).n > 0;
}

static bool has_signer(const struct spn_value *csr, const char *name)
{
    return spn_text_eq(spn_value_text(spn_value_dig(csr, "spec", "signerName")), spn_text_of(name));
}

/* ---- Usages ---- */

static bool has_usage(const struct spn_value *csr, const char *usage)
{
    const struct spn_value *all = spn_value_dig(csr, "spec", "usages");
    for (size_t i = 0; i < spn_value_count(all); i++)
        if (spn_text_eq(spn_value_text(spn_value_at(all, i)), spn_text_of(usage)))
            return true;
    return false;
}

/* Signing and `purpose`, and perhaps enciphering keys; nothing else. */
static bool has_kubelet_usages(const struct spn_value *csr, const char *purpose)
{
    const struct spn_value *all = spn_value_dig(csr, "spec", "usages");
    for (size_t i = 0; i < spn_value_count(all); i++) {
        const struct spn_text u = spn_value_text(spn_value_at(all, i));
        if (!spn_text_eq(u, SPN_TEXT("digital signature")) &&
            !spn_text_eq(u, SPN_TEXT("key encipherment")) && !spn_text_eq(u, spn_text_of(purpose)))
            return false;
    }
    return has_usage(csr, "digital signature") && has_usage(csr, purpose);
}

int csr_usages(const struct spn_value *csr, struct csr_usages *ret, struct spn_err *err)
{
    static const struct {
        const char *name;
        unsigned key;
        const char *ext;
    } known[] = {
        /* in the order of Go's constants, as they stand in certificates */
        { "any", 0, "2.5.29.37.0" },
        { "server auth", 0, "1.3.6.1.5.5.7.3.1" },
        { "client auth", 0, "1.3.6.1.5.5.7.3.2" },
        { "code signing", 0, "1.3.6.1.5.5.7.3.3" },
        { "email protection", 0, "1.3.6.1.5.5.7.3.4" },
        { "s/mime", 0, "1.3.6.1.5.5.7.3.4" },
        { "ipsec end system", 0, "1.3.6.1.5.5.7.3.5" },
        { "ipsec tunnel", 0, "1.3.6.1.5.5.7.3.6" },
        { "ipsec user", 0, "1.3.6.1.5.5.7.3.7" },
        { "timestamping", 0, "1.3.6.1.5.5.7.3.8" },
        { "ocsp signing", 0, "1.3.6.1.5.5.7.3.9" },
        { "microsoft sgc", 0, "1.3.6.1.4.1.311.10.3.3" },
        { "netscape sgc", 0, "2.16.840.1.113730.4.1" },
        { "signing", 1 << 0, NULL },
        { "digital signature", 1 << 0, NULL },
        { "content commitment", 1 << 1, NULL },
        { "key encipherment", 1 << 2, NULL },
        { "data encipherment", 1 << 3, NULL },
        { "key agreement", 1 << 4, NULL },
        { "cert sign", 1 << 5, NULL },
        { "crl sign", 1 << 6, NULL },
        { "encipher only", 1 << 7, NULL },
        { "decipher only", 1 << 8, NULL },
    };
    const struct spn_value *all = spn_value_dig(csr, "spec", "usages");
    size_t n = 0, n_known = 0;
    *ret = (struct csr_usages){ 0 };
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (!has_usage(csr, known[i].name))
            continue;
        ret->key |= known[i].key;
        if (known[i].ext && (!n || strcmp(ret->ext[n - 1], known[i].ext) != 0))
            ret->ext[n++] = known[i].ext;
    }
    for (size_t i = 0; i < spn_value_count(all); i++) {
        const struct spn_text u = spn_value_text(spn_value_at(all, i));
        for (size_t k = 0; k < ARRAY_LEN(known); k++)
            n_known += spn_text_eq(u, spn_text_of(known[k].name));
    }
    return n_known == spn_value_count(all)
               ? 0
               : spn_err_set(err, SPN_INVALID, "unrecognized usage values");
}

/* ---- What signers refuse ---- */

static bool is_of_nodes(const struct x509_request *req)
{
    return req->n_organizations == 1 && str_eq(req->organizations[0], STR("system:nodes"));
}

static bool is_named_as_node(const struct x509_request *req)
{
    return str_starts(req->name, STR("system:node:"));
}

static int refuse(struct spn_err *err, const char *why)
{
    return spn_err_set(err, SPN_INVALID, "%s", why);
}

static int check_kubelet_client(const struct spn_value *csr, const struct x509_request *req,
                                struct spn_err *err)
{
    if (!is_of_nodes(req))
        return refuse(err, "subject organization is not system:nodes");
    if (req->n_dns_names)
        return refuse(err, "DNS subjectAltNames are not allowed");
    if (req->n_emails)
        return refuse(err, "Email subjectAltNames are not allowed");
    if (req->n_ips)
        return refuse(err, "IP subjectAltNames are not allowed");
    if (req->n_uris)
        return refuse(err, "URI subjectAltNames are not allowed");
    if (!is_named_as_node(req))
        return refuse(err, "subject common name does not begin with system:node:");
    if (!has_kubelet_usages(csr, "client auth"))
        return refuse(err, "usages did not match [client auth digital signature key encipherment]");
    return 0;
}

static int check_kubelet_server(const struct spn_value *csr, const struct x509_request *req,
                                struct spn_err *err)
{
    if (!is_of_nodes(req))
        return refuse(err, "subject organization is not system:nodes");
    if (!req->n_dns_names && !req->n_ips)
        return refuse(err, "DNS or IP subjectAltName is required");
    if (req->n_emails)
        return refuse(err, "Email subjectAltNames are not allowed");
    if (req->n_uris)
        return refuse(err, "URI subjectAltNames are not allowed");
    if (!has_kubelet_usages(csr, "server auth"))
        return refuse(err, "usages did not match [digital signature key encipherment server auth]");
    if (!is_named_as_node(req))
        return refuse(err, "subject common name does not begin with system:node:");
    return 0;
}

static int check_client(const struct spn_value *csr, struct spn_err *err)
{
    const struct spn_value *all = spn_value_dig(csr, "spec", "usages");
    for (size_t i = 0; i < spn_value_count(all); i++) {
        const struct spn_text u = spn_value_text(spn_value_at(all, i));
        if (!spn_text_eq(u, SPN_TEXT("digital signature")) &&
            !spn_text_eq(u, SPN_TEXT("key encipherment")) &&
            !spn_text_eq(u, SPN_TEXT("client auth")))
            return spn_err_set(err, SPN_INVALID, "invalid usage for client certificate: " SPN_FMT,
                               SPN_ARG(u));
    }
    return has_usage(csr, "client auth")
               ? 0
               : refuse(err, "missing required usage for client certificate: client auth");
}

bool csr_is_ours(const struct spn_value *csr)
{
    return has_signer(csr, SIGNER_CLIENT) || has_signer(csr, SIGNER_KUBELET_CLIENT) ||
           has_signer(csr, SIGNER_KUBELET_SERVER) || has_signer(csr, SIGNER_LEGACY);
}

int csr_check(const struct spn_value *csr, const struct x509_request *req, struct spn_err *err)
{
    if (has_signer(csr, SIGNER_CLIENT))
        return check_client(csr, err);
    if (has_signer(csr, SIGNER_KUBELET_CLIENT))
        return check_kubelet_client(csr, req, err);
    if (has_signer(csr, SIGNER_KUBELET_SERVER))
        return check_kubelet_server(csr, req, err);
    return 0;
}

bool csr_is_of_kubelet(const struct spn_value *csr, const struct x509_request *req,
                       bool *ret_is_own)
{
    struct spn_err unsaid = { 0 };
    if (!has_signer(csr, SIGNER_KUBELET_CLIENT) || check_kubelet_client(csr, req, &unsaid) < 0)
        return false;
    *ret_is_own = str_eq(req->name, str_in(spn_value_text(spn_value_dig(csr, "spec", "username"))));
    return true;
}

/* ---- Times ---- */

int64_t csr_seconds(const struct spn_value *csr, int64_t most_sec)
{
    int64_t sec;
    if (!spn_value_int(spn_value_dig(csr, "spec", "expirationSeconds"), &sec) || sec > most_sec)
        sec = most_sec;
    else if (sec < LEAST_SEC)
        sec = LEAST_SEC;
    return sec < SHORT_SEC ? sec : sec - BACKDATE_SEC;
}

struct deadline {
    int64_t ns; /* INT64_MAX: never */
};

static void not_later(struct deadline *d, const struct spn_value *since, int64_t sec)
{
    int64_t ns;
    if (time_read(since, &ns) && ns + sec * NS_PER_SEC < d->ns)
        d->ns = ns + sec * NS_PER_SEC;
}

int64_t csr_left_ms(const struct spn_value *csr, int64_t not_after_sec, int64_t now_ns)
{
    const struct spn_value *all = spn_value_dig(csr, "status", "conditions");
    struct deadline d = { INT64_MAX };
    if (!spn_value_count(all))
        not_later(&d, spn_value_dig(csr, "metadata", "creationTimestamp"), PENDING_SEC);
    for (size_t i = 0; i < spn_value_count(all); i++) {
        const struct spn_value *c = spn_value_at(all, i);
        const struct spn_text type = spn_value_text(spn_value_get(c, "type"));
        const bool is_approval = spn_text_eq(type, SPN_TEXT("Approved"));
        const bool is_end = spn_text_eq(type, SPN_TEXT("Denied")) ||
                            spn_text_eq(type, SPN_TEXT("Failed")) ||
                            (is_approval && csr_is_issued(csr));
        if (is_end || is_approval)
            not_later(&d, spn_value_get(c, "lastUpdateTime"), is_end ? DONE_SEC : PENDING_SEC);
        if (is_approval && not_after_sec && not_after_sec * NS_PER_SEC < d.ns)
            d.ns = not_after_sec * NS_PER_SEC;
    }
    if (d.ns == INT64_MAX)
        return PENDING_SEC * INT64_C(1000);
    return d.ns < now_ns ? 0 : (d.ns - now_ns) / NS_PER_MS + 1;
}
