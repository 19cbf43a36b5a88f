#include "net/crypto/x509.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <time.h>

#include "base/idiom.h"
#include "base/banned.h"

/* What is left of a failure would be taken for one of a TLS connection of this thread. */
static bool end(bool good)
{
    ERR_clear_error();
    return good;
}

/* ---- Keys ---- */

static bool read_curve(EVP_PKEY *key, struct x509_key *ret)
{
    static const struct {
        const char *group;
        struct str name;
    } curves[] = {
        { "prime256v1", STR("P-256") },
        { "secp384r1", STR("P-384") },
        { "secp521r1", STR("P-521") },
        { "secp224r1", STR("P-224") },
    };
    char group[32] = "";
    if (EVP_PKEY_get_group_name(key, group, sizeof(group), NULL) != 1)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(curves); i++)
        if (strcmp(curves[i].group, group) == 0) {
            ret->type = X509_KEY_EC;
            ret->curve = curves[i].name;
            return true;
        }
    return false;
}

/* A kind of key that we do not know is no fault. */
static bool read_kind(X509_PUBKEY *info, struct x509_key *ret)
{
    ASN1_OBJECT *algorithm;
    if (X509_PUBKEY_get0_param(&algorithm, NULL, NULL, NULL, info) != 1)
        return false;
    int kind = OBJ_obj2nid(algorithm);
    if (kind != NID_rsaEncryption && kind != NID_X9_62_id_ecPublicKey && kind != NID_ED25519)
        return true;
    EVP_PKEY *key = X509_PUBKEY_get0(info);
    if (!key)
        return false;
    if (kind == NID_X9_62_id_ecPublicKey)
        return read_curve(key, ret);
    ret->type = kind == NID_ED25519 ? X509_KEY_ED25519 : X509_KEY_RSA;
    if (kind == NID_rsaEncryption)
        ret->rsa_bits = (unsigned)EVP_PKEY_get_size(key) * 8;
    return true;
}

static bool read_key(struct arena *a, X509_PUBKEY *info, struct x509_key *ret)
{
    unsigned char *der = NULL;
    int n = info ? i2d_X509_PUBKEY(info, &der) : -1;
    if (n <= 0)
        return false;
    ret->der = arena_str(a, (struct str){ (char *)der, (size_t)n });
    OPENSSL_free(der);
    return read_kind(info, ret);
}

bool x509_read_key(struct arena *a, struct str der, struct x509_key *ret)
{
    const unsigned char *p = (const unsigned char *)der.p;
    *ret = (struct x509_key){ 0 };
    X509_PUBKEY *info = d2i_X509_PUBKEY(NULL, &p, (long)der.n);
    bool good = info && p == (const unsigned char *)der.p + der.n && read_key(a, info, ret);
    X509_PUBKEY_free(info);
    return end(good);
}

/* ---- Certificates ---- */

static bool read_time(const ASN1_TIME *from, int64_t *ret)
{
    struct tm tm;
    if (ASN1_TIME_to_tm(from, &tm) != 1)
        return false;
    *ret = timegm(&tm);
    return true;
}

static bool is_ca(const X509 *cert)
{
    BASIC_CONSTRAINTS *basic = X509_get_ext_d2i(cert, NID_basic_constraints, NULL, NULL);
    bool ca = basic && basic->ca;
    BASIC_CONSTRAINTS_free(basic);
    return ca;
}

bool x509_read_certificate(struct arena *a, struct str der, struct x509_certificate *ret)
{
    const unsigned char *p = (const unsigned char *)der.p;
    *ret = (struct x509_certificate){ 0 };
    X509 *cert = d2i_X509(NULL, &p, (long)der.n);
    bool good = cert && p == (const unsigned char *)der.p + der.n &&
                read_time(X509_get0_notBefore(cert), &ret->not_before) &&
                read_time(X509_get0_notAfter(cert), &ret->not_after) &&
                read_key(a, X509_get_X509_PUBKEY(cert), &ret->key);
    ret->is_ca = good && is_ca(cert);
    X509_free(cert);
    return end(good);
}

/* ---- Requests ---- */

static bool read_text(struct arena *a, const X509_NAME_ENTRY *entry, struct str *ret)
{
    unsigned char *text = NULL;
    int n = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry));
    if (n < 0)
        return false;
    *ret = arena_str(a, (struct str){ (char *)text, (size_t)n });
    OPENSSL_free(text);
    return true;
}

static bool read_subject(struct arena *a, const X509_NAME *subject, struct x509_request *ret)
{
    int n = X509_NAME_entry_count(subject);
    struct str *organizations = arena_array(a, struct str, (size_t)n), text;
    ret->organizations = organizations;
    for (int i = 0; i < n; i++) {
        const X509_NAME_ENTRY *entry = X509_NAME_get_entry(subject, i);
        int kind = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
        if (kind != NID_commonName && kind != NID_organizationName)
            continue;
        if (!read_text(a, entry, &text))
            return false;
        if (kind == NID_commonName)
            ret->name = text;
        else
            organizations[ret->n_organizations++] = text;
    }
    return true;
}

static void count_names(const GENERAL_NAMES *names, struct x509_request *ret)
{
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        int kind = sk_GENERAL_NAME_value(names, i)->type;
        ret->n_dns_names += kind == GEN_DNS;
        ret->n_ips += kind == GEN_IPADD;
        ret->n_emails += kind == GEN_EMAIL;
        ret->n_uris += kind == GEN_URI;
    }
}

static void read_other_names(X509_REQ *request, struct x509_request *ret)
{
    STACK_OF(X509_EXTENSION) *extensions = X509_REQ_get_extensions(request);
    GENERAL_NAMES *names =
        extensions ? X509V3_get_d2i(extensions, NID_subject_alt_name, NULL, NULL) : NULL;
    if (names)
        count_names(names, ret);
    GENERAL_NAMES_free(names);
    sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
}

bool x509_read_request(struct arena *a, struct str der, struct x509_request *ret)
{
    const unsigned char *p = (const unsigned char *)der.p;
    *ret = (struct x509_request){ 0 };
    X509_REQ *request = d2i_X509_REQ(NULL, &p, (long)der.n);
    bool good = request && p == (const unsigned char *)der.p + der.n &&
                read_key(a, X509_REQ_get_X509_PUBKEY(request), &ret->key) &&
                read_subject(a, X509_REQ_get_subject_name(request), ret);
    if (good)
        read_other_names(request, ret);
    X509_REQ_free(request);
    return end(good);
}

bool x509_is_of(const struct x509_request *request, struct str organization)
{
    for (size_t i = 0; i < request->n_organizations; i++)
        if (str_eq(request->organizations[i], organization))
            return true;
    return false;
}
