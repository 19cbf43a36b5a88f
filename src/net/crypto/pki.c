/* pki.c - certificates by OpenSSL 3: keys, names, extensions, signing.
 *
 * Every text that goes into a certificate is checked first and added by length, never through
 * OpenSSL's configuration syntax, so nothing in a name can become an extension. Pure apart from
 * the random numbers; any thread. Revocation is left out. */
#include "net/crypto/pki.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "base/utf8.h"

#include "base/banned.h"

enum {
    NAME_MAX_BYTES = 64, /* RFC 5280 upper bound of CN and O */
    DNS_MAX_BYTES = 253,
    SERIAL_BITS = 127, /* positive and far above the 64 random bits that are asked for */
    DAYS_MAX = 36500,
    SECONDS_PER_DAY = 86400,
    CLOCK_SKEW_SECONDS = 300, /* a peer whose clock is late must believe us too */
};

#define AUTO_OF(name, type, release)     \
    static void name##_cleanup(type **p) \
    {                                    \
        release(*p);                     \
    }
AUTO_OF(bio, BIO, BIO_free_all)
AUTO_OF(bn, BIGNUM, BN_free)
AUTO_OF(cert, X509, X509_free)
AUTO_OF(ext, X509_EXTENSION, X509_EXTENSION_free)
AUTO_OF(bits, ASN1_BIT_STRING, ASN1_BIT_STRING_free)
AUTO_OF(ext_usages, EXTENDED_KEY_USAGE, EXTENDED_KEY_USAGE_free)
AUTO_OF(gen_names, GENERAL_NAMES, GENERAL_NAMES_free)
AUTO_OF(pkey, EVP_PKEY, EVP_PKEY_free)
AUTO_OF(request, X509_REQ, X509_REQ_free)
#define autoof(name) __attribute__((cleanup(name##_cleanup)))

/* Takes OpenSSL's first complaint as the reason and leaves its queue empty. */
static int fail(struct err *err, enum err_code code, const char *what)
{
    unsigned long e = ERR_get_error();
    const char *reason = e ? ERR_reason_error_string(e) : NULL;
    ERR_clear_error();
    return err_set(err, code, "%s: %s", what, reason ? reason : "refused by OpenSSL");
}

static int check_name(const char *what, struct str name, struct err *err)
{
    if (!name.n || name.n > NAME_MAX_BYTES)
        return err_set(err, ERR_INVALID, "%s has %zu bytes, must have 1 to %d", what, name.n,
                       NAME_MAX_BYTES);
    for (size_t i = 0; i < name.n; i++) {
        unsigned char c = (unsigned char)name.p[i];
        if (c < 0x20 || c == 0x7f)
            return err_set(err, ERR_INVALID, "%s holds the control byte 0x%02x", what, c);
    }
    if (!utf8_valid(name))
        return err_set(err, ERR_INVALID, "%s is not UTF-8", what);
    return 0;
}

static int add_name(X509_NAME *to, int nid, const char *what, struct str name, struct err *err)
{
    int r = check_name(what, name, err);
    if (r < 0)
        return r;
    if (!X509_NAME_add_entry_by_NID(to, nid, MBSTRING_UTF8, (const unsigned char *)name.p,
                                    (int)name.n, -1, 0))
        return fail(err, ERR_INVALID, what);
    return 0;
}

/* `value` is one of our own literals. */
static int add_ext(X509 *cert, X509 *issuer, int nid, const char *value, struct err *err)
{
    X509V3_CTX v3;
    X509V3_set_ctx_nodb(&v3);
    X509V3_set_ctx(&v3, issuer, cert, NULL, NULL, 0);
    autoof(ext) X509_EXTENSION *ext = X509V3_EXT_conf_nid(NULL, &v3, nid, value);
    if (!ext || !X509_add_ext(cert, ext, -1))
        return fail(err, ERR_INTERNAL, "add certificate extension");
    return 0;
}

static bool is_dns_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '*';
}

static int check_dns(struct str name, struct err *err)
{
    if (!name.n || name.n > DNS_MAX_BYTES)
        return err_set(err, ERR_INVALID, "DNS name has %zu bytes, must have 1 to %d", name.n,
                       DNS_MAX_BYTES);
    for (size_t i = 0; i < name.n; i++)
        if (!is_dns_byte(name.p[i]))
            return err_set(err, ERR_INVALID, "DNS name holds the byte 0x%02x",
                           (unsigned char)name.p[i]);
    return 0;
}

static int push_san(GENERAL_NAMES *names, int type, const void *bytes, size_t n, struct err *err)
{
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_STRING *text =
        type == GEN_DNS ? (ASN1_STRING *)ASN1_IA5STRING_new() : ASN1_OCTET_STRING_new();
    if (!name || !text || !ASN1_STRING_set(text, bytes, (int)n)) {
        ASN1_STRING_free(text);
        GENERAL_NAME_free(name);
        return fail(err, ERR_INTERNAL, "make subject alternative name");
    }
    GENERAL_NAME_set0_value(name, type, text);
    if (!sk_GENERAL_NAME_push(names, name)) {
        GENERAL_NAME_free(name);
        return fail(err, ERR_INTERNAL, "make subject alternative name");
    }
    return 0;
}

static int push_ip(GENERAL_NAMES *names, struct str ip, struct err *err)
{
    char text[INET6_ADDRSTRLEN];
    unsigned char addr[16];
    if (ip.n >= sizeof(text) || memchr(ip.p, 0, ip.n))
        return err_set(err, ERR_INVALID, "not an IP address");
    memcpy(text, ip.p, ip.n);
    text[ip.n] = 0;
    if (inet_pton(AF_INET, text, addr) == 1)
        return push_san(names, GEN_IPADD, addr, 4, err);
    if (inet_pton(AF_INET6, text, addr) == 1)
        return push_san(names, GEN_IPADD, addr, 16, err);
    return err_set(err, ERR_INVALID, "not an IP address: %s", text);
}

static int make_sans(const struct pki_leaf *leaf, GENERAL_NAMES **ret, struct err *err)
{
    autoof(gen_names) GENERAL_NAMES *names = GENERAL_NAMES_new();
    if (!names)
        return fail(err, ERR_INTERNAL, "make subject alternative names");
    for (size_t i = 0; i < leaf->n_dns_names; i++) {
        struct str dns = leaf->dns_names[i];
        int r = check_dns(dns, err);
        if (r < 0)
            return r;
        r = push_san(names, GEN_DNS, dns.p, dns.n, err);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < leaf->n_ips; i++) {
        int r = push_ip(names, leaf->ips[i], err);
        if (r < 0)
            return r;
    }
    *ret = take(&names);
    return 0;
}

static int add_sans(X509 *cert, const struct pki_leaf *leaf, struct err *err)
{
    if (!leaf->n_dns_names && !leaf->n_ips)
        return 0;
    autoof(gen_names) GENERAL_NAMES *names = NULL;
    int r = make_sans(leaf, &names, err);
    if (r < 0)
        return r;
    if (X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT) != 1)
        return fail(err, ERR_INTERNAL, "add subject alternative names");
    return 0;
}

static int set_serial(X509 *cert, struct err *err)
{
    autoof(bn) BIGNUM *serial = BN_new();
    if (!serial || !BN_rand(serial, SERIAL_BITS, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) ||
        !BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(cert)))
        return fail(err, ERR_INTERNAL, "make serial number");
    return 0;
}

static int set_times(X509 *cert, int64_t now_sec, int64_t until_sec, struct err *err)
{
    if (!ASN1_TIME_set(X509_getm_notBefore(cert), (time_t)(now_sec - CLOCK_SKEW_SECONDS)) ||
        !ASN1_TIME_set(X509_getm_notAfter(cert), (time_t)until_sec))
        return fail(err, ERR_INVALID, "set validity");
    return 0;
}

static int check_validity(int64_t now_sec, int64_t days, int64_t seconds, struct err *err)
{
    if (days < 0 || seconds < 0 || days + seconds < 1 || days > DAYS_MAX ||
        seconds > DAYS_MAX * (int64_t)SECONDS_PER_DAY)
        return err_set(err, ERR_INVALID,
                       "validity of %lld days and %lld seconds, must be at most %d days",
                       (long long)days, (long long)seconds, DAYS_MAX);
    if (now_sec < CLOCK_SKEW_SECONDS || now_sec > INT64_C(1) << 37)
        return err_set(err, ERR_INVALID, "the current time is out of range");
    return 0;
}

/* Version 3, a serial number, the key and the validity; no names yet. */
static int start_cert_of(EVP_PKEY *key, int64_t now_sec, int64_t until_sec, X509 **ret_cert,
                         struct err *err)
{
    autoof(cert) X509 *cert = X509_new();
    if (!key || !cert || !X509_set_version(cert, X509_VERSION_3) || !X509_set_pubkey(cert, key))
        return fail(err, ERR_INTERNAL, "make certificate");
    int r = set_serial(cert, err);
    if (r < 0)
        return r;
    r = set_times(cert, now_sec, until_sec, err);
    if (r < 0)
        return r;
    *ret_cert = take(&cert);
    return 0;
}

/* The same with a new key. */
static int start_cert(int64_t now_sec, int64_t until_sec, X509 **ret_cert, EVP_PKEY **ret_key,
                      struct err *err)
{
    autoof(pkey) EVP_PKEY *key = EVP_EC_gen("P-256");
    int r = start_cert_of(key, now_sec, until_sec, ret_cert, err);
    if (r == 0)
        *ret_key = take(&key);
    return r;
}

static struct str bio_text(struct arena *a, BIO *bio)
{
    char *p = NULL;
    long n = BIO_get_mem_data(bio, &p);
    return arena_str(a, (struct str){ p, n > 0 ? (size_t)n : 0 });
}

/* The key in the form that names its algorithm: fabric8 takes any other for RSA. */
static int write_pair(struct arena *a, X509 *cert, EVP_PKEY *key, struct pki_pair *ret,
                      struct err *err)
{
    autoof(bio) BIO *cert_out = BIO_new(BIO_s_mem());
    autoof(bio) BIO *key_out = BIO_new(BIO_s_mem());
    if (!cert_out || !key_out || !PEM_write_bio_X509(cert_out, cert) ||
        !PEM_write_bio_PrivateKey_traditional(key_out, key, NULL, NULL, 0, NULL, NULL))
        return fail(err, ERR_INTERNAL, "write PEM");
    *ret = (struct pki_pair){ bio_text(a, cert_out), bio_text(a, key_out) };
    return 0;
}

static int finish_ca(X509 *cert, EVP_PKEY *key, struct str common_name, struct err *err)
{
    X509_NAME *name = X509_get_subject_name(cert);
    int r = add_name(name, NID_commonName, "common name", common_name, err);
    if (r < 0)
        return r;
    if (!X509_set_issuer_name(cert, name))
        return fail(err, ERR_INTERNAL, "set issuer");
    r = add_ext(cert, cert, NID_basic_constraints, "critical,CA:TRUE,pathlen:0", err);
    if (r < 0)
        return r;
    r = add_ext(cert, cert, NID_key_usage, "critical,keyCertSign,cRLSign", err);
    if (r < 0)
        return r;
    r = add_ext(cert, cert, NID_subject_key_identifier, "hash", err);
    if (r < 0)
        return r;
    if (!X509_sign(cert, key, EVP_sha256()))
        return fail(err, ERR_INTERNAL, "sign certificate");
    return 0;
}

static int make_ca(struct arena *a, struct str common_name, int64_t now_sec, int64_t days,
                   struct pki_pair *ret, struct err *err)
{
    autoof(cert) X509 *cert = NULL;
    autoof(pkey) EVP_PKEY *key = NULL;
    int r = check_validity(now_sec, days, 0, err);
    if (r < 0)
        return r;
    r = start_cert(now_sec, now_sec + days * SECONDS_PER_DAY, &cert, &key, err);
    if (r < 0)
        return r;
    r = finish_ca(cert, key, common_name, err);
    if (r < 0)
        return r;
    return write_pair(a, cert, key, ret, err);
}

int pki_make_ca(struct arena *a, struct str common_name, int64_t now_sec, int64_t days,
                struct pki_pair *ret, struct err *err)
{
    int r = make_ca(a, common_name, now_sec, days, ret, err);
    if (r < 0)
        (void)err_wrap(err, "make CA");
    return r;
}

/* Without this OpenSSL would ask the terminal for the password of an encrypted key. */
static int no_password(char *to, int size, int rwflag, void *arg)
{
    (void)to;
    (void)size;
    (void)rwflag;
    (void)arg;
    return -1;
}

static BIO *bio_over(struct str text)
{
    return text.n && text.n <= INT32_MAX ? BIO_new_mem_buf(text.p, (int)text.n) : NULL;
}

static int read_cert(struct str pem, X509 **ret, struct err *err)
{
    autoof(bio) BIO *in = bio_over(pem);
    X509 *cert = in ? PEM_read_bio_X509(in, NULL, no_password, NULL) : NULL;
    if (!cert)
        return fail(err, ERR_INVALID, "read certificate");
    *ret = cert;
    return 0;
}

static int read_key(struct str pem, EVP_PKEY **ret, struct err *err)
{
    autoof(bio) BIO *in = bio_over(pem);
    EVP_PKEY *key = in ? PEM_read_bio_PrivateKey(in, NULL, no_password, NULL) : NULL;
    if (!key)
        return fail(err, ERR_INVALID, "read private key");
    *ret = key;
    return 0;
}

static int read_ca(const struct pki_pair *ca, X509 **ret_cert, EVP_PKEY **ret_key, struct err *err)
{
    autoof(cert) X509 *cert = NULL;
    autoof(pkey) EVP_PKEY *key = NULL;
    int r = read_cert(ca->cert_pem, &cert, err);
    if (r < 0)
        return r;
    r = read_key(ca->key_pem, &key, err);
    if (r < 0)
        return r;
    if (!X509_check_private_key(cert, key))
        return fail(err, ERR_INVALID, "CA certificate and key");
    if (X509_check_ca(cert) != 1)
        return err_set(err, ERR_INVALID, "the certificate is not that of a CA");
    *ret_cert = take(&cert);
    *ret_key = take(&key);
    return 0;
}

static int cert_not_after(X509 *cert, int64_t *ret, struct err *err)
{
    struct tm tm;
    if (!ASN1_TIME_to_tm(X509_get0_notAfter(cert), &tm))
        return fail(err, ERR_INVALID, "read the end of validity");
    *ret = timegm(&tm);
    return 0;
}

static int add_uid(X509_NAME *to, struct str uid, struct err *err)
{
    int r = check_name("uid", uid, err);
    if (r < 0)
        return r;
    ASN1_OBJECT *oid = OBJ_txt2obj(PKI_UID_OID, 1);
    int added = oid && X509_NAME_add_entry_by_OBJ(to, oid, MBSTRING_UTF8,
                                                  (const unsigned char *)uid.p, (int)uid.n, -1, 0);
    ASN1_OBJECT_free(oid);
    return added ? 0 : fail(err, ERR_INVALID, "uid");
}

static int set_subject(X509_NAME *name, const struct pki_leaf *leaf, struct err *err)
{
    for (size_t i = 0; i < leaf->n_organizations; i++) {
        int r = add_name(name, NID_organizationName, "organization", leaf->organizations[i], err);
        if (r < 0)
            return r;
    }
    int r = leaf->uid.n ? add_uid(name, leaf->uid, err) : 0;
    if (r < 0 || leaf->is_nameless)
        return r;
    return add_name(name, NID_commonName, "common name", leaf->common_name, err);
}

static const char *extended_usage(const struct pki_leaf *leaf)
{
    if (leaf->server)
        return leaf->client ? "serverAuth,clientAuth" : "serverAuth";
    return leaf->client ? "clientAuth" : NULL;
}

static int add_leaf_exts(X509 *cert, X509 *ca, const struct pki_leaf *leaf, struct err *err)
{
    const struct {
        int nid;
        const char *value;
    } exts[] = {
        { NID_basic_constraints, "critical,CA:FALSE" },
        { NID_key_usage, "critical,digitalSignature" },
        { NID_ext_key_usage, extended_usage(leaf) },
        { NID_subject_key_identifier, "hash" },
        { NID_authority_key_identifier, "keyid:always" },
    };
    for (size_t i = 0; i < ARRAY_LEN(exts); i++) {
        int r = add_ext(cert, ca, exts[i].nid, exts[i].value, err);
        if (r < 0)
            return r;
    }
    return add_sans(cert, leaf, err);
}

/* A leaf that outlives its CA would be refused anyway: it ends with the CA. */
static int leaf_end(X509 *ca, int64_t now_sec, int64_t days, int64_t seconds, int64_t *ret,
                    struct err *err)
{
    int64_t ca_end = 0;
    int r = check_validity(now_sec, days, seconds, err);
    if (r < 0)
        return r;
    r = cert_not_after(ca, &ca_end, err);
    if (r < 0)
        return r;
    if (ca_end <= now_sec)
        return err_set(err, ERR_INVALID, "the CA has expired");
    int64_t end = now_sec + days * SECONDS_PER_DAY + seconds;
    *ret = end < ca_end ? end : ca_end;
    return 0;
}

/* Some keys say by themselves how they sign. */
static int sign_by(X509 *cert, X509 *ca, EVP_PKEY *ca_key, struct err *err)
{
    const bool has_own = EVP_PKEY_is_a(ca_key, "ED25519") || EVP_PKEY_is_a(ca_key, "ED448");
    if (!X509_set_issuer_name(cert, X509_get_subject_name(ca)) ||
        !X509_sign(cert, ca_key, has_own ? NULL : EVP_sha256()))
        return fail(err, ERR_INTERNAL, "sign certificate");
    return 0;
}

static int issue(struct arena *a, const struct pki_pair *ca, const struct pki_leaf *leaf,
                 struct pki_pair *ret, struct err *err)
{
    autoof(cert) X509 *ca_cert = NULL, *cert = NULL;
    autoof(pkey) EVP_PKEY *ca_key = NULL, *key = NULL;
    int64_t end = 0;
    if (!leaf->server && !leaf->client)
        return err_set(err, ERR_INVALID, "a certificate must be for a server, a client or both");
    int r = read_ca(ca, &ca_cert, &ca_key, err);
    if (r < 0)
        return r;
    r = leaf_end(ca_cert, leaf->now_sec, leaf->days, leaf->seconds, &end, err);
    if (r < 0)
        return r;
    r = start_cert(leaf->now_sec, end, &cert, &key, err);
    if (r < 0)
        return r;
    r = set_subject(X509_get_subject_name(cert), leaf, err);
    if (r < 0)
        return r;
    r = add_leaf_exts(cert, ca_cert, leaf, err);
    if (r < 0)
        return r;
    r = sign_by(cert, ca_cert, ca_key, err);
    if (r < 0)
        return r;
    return write_pair(a, cert, key, ret, err);
}

int pki_issue(struct arena *a, const struct pki_pair *ca, const struct pki_leaf *leaf,
              struct pki_pair *ret, struct err *err)
{
    int r = issue(a, ca, leaf, ret, err);
    if (r < 0)
        (void)err_wrap(err, "issue certificate");
    return r;
}

/* ---- Keys of others ---- */

static int read_request(struct str der, X509_REQ **ret, EVP_PKEY **ret_key, struct err *err)
{
    const unsigned char *p = (const unsigned char *)der.p;
    autoof(request) X509_REQ *req =
        der.n && der.n <= INT32_MAX ? d2i_X509_REQ(NULL, &p, (long)der.n) : NULL;
    if (!req)
        return fail(err, ERR_INVALID, "unable to parse certificate request");
    autoof(pkey) EVP_PKEY *key = X509_REQ_get_pubkey(req);
    if (!key || X509_REQ_verify(req, key) != 1)
        return fail(err, ERR_INVALID, "unable to verify certificate request signature");
    *ret = take(&req);
    *ret_key = take(&key);
    return 0;
}

static bool is_plain_name(const GENERAL_NAME *name)
{
    return name->type == GEN_DNS || name->type == GEN_IPADD || name->type == GEN_EMAIL ||
           name->type == GEN_URI;
}

static void drop_other_names(GENERAL_NAMES *names)
{
    for (int i = sk_GENERAL_NAME_num(names); i-- > 0;)
        if (!is_plain_name(sk_GENERAL_NAME_value(names, i)))
            GENERAL_NAME_free(sk_GENERAL_NAME_delete(names, i));
}

static void free_exts(STACK_OF(X509_EXTENSION) * exts)
{
    sk_X509_EXTENSION_pop_free(exts, X509_EXTENSION_free);
}

/* Names of a certificate without a subject are all that it has, so they must be understood. */
static int copy_sans(X509 *cert, X509_REQ *req, struct err *err)
{
    STACK_OF(X509_EXTENSION) *exts = X509_REQ_get_extensions(req);
    autoof(gen_names) GENERAL_NAMES *names =
        exts ? X509V3_get_d2i(exts, NID_subject_alt_name, NULL, NULL) : NULL;
    const int is_critical = X509_NAME_entry_count(X509_get_subject_name(cert)) == 0;
    free_exts(exts);
    ERR_clear_error();
    if (!names)
        return 0;
    drop_other_names(names);
    if (sk_GENERAL_NAME_num(names) &&
        X509_add1_ext_i2d(cert, NID_subject_alt_name, names, is_critical, X509V3_ADD_DEFAULT) != 1)
        return fail(err, ERR_INTERNAL, "add subject alternative names");
    return 0;
}

static int add_key_usages(X509 *cert, unsigned usages, struct err *err)
{
    autoof(bits) ASN1_BIT_STRING *bits = ASN1_BIT_STRING_new();
    if (!usages)
        return 0;
    bool is_good = bits != NULL;
    for (int i = 0; is_good && usages >> i; i++)
        is_good = !(usages >> i & 1) || ASN1_BIT_STRING_set_bit(bits, i, 1);
    if (!is_good || X509_add1_ext_i2d(cert, NID_key_usage, bits, 1, X509V3_ADD_DEFAULT) != 1)
        return fail(err, ERR_INTERNAL, "add key usages");
    return 0;
}

static bool push_usage(EXTENDED_KEY_USAGE *all, const char *oid)
{
    ASN1_OBJECT *obj = OBJ_txt2obj(oid, 1);
    if (obj && sk_ASN1_OBJECT_push(all, obj))
        return true;
    ASN1_OBJECT_free(obj);
    return false;
}

static int add_ext_usages(X509 *cert, const char *const *oids, struct err *err)
{
    autoof(ext_usages) EXTENDED_KEY_USAGE *all = EXTENDED_KEY_USAGE_new();
    if (!oids || !*oids)
        return 0;
    bool is_good = all != NULL;
    for (; is_good && *oids; oids++)
        is_good = push_usage(all, *oids);
    if (!is_good || X509_add1_ext_i2d(cert, NID_ext_key_usage, all, 0, X509V3_ADD_DEFAULT) != 1)
        return fail(err, ERR_INTERNAL, "add extended key usages");
    return 0;
}

static int add_request_exts(X509 *cert, X509 *ca, X509_REQ *from, const struct pki_request *req,
                            struct err *err)
{
    int r = add_key_usages(cert, req->key_usages, err);
    if (r < 0)
        return r;
    r = add_ext_usages(cert, req->ext_usages, err);
    if (r < 0)
        return r;
    r = add_ext(cert, ca, NID_basic_constraints, "critical,CA:FALSE", err);
    if (r < 0)
        return r;
    if (X509_get0_subject_key_id(ca))
        r = add_ext(cert, ca, NID_authority_key_identifier, "keyid:always", err);
    return r < 0 ? r : copy_sans(cert, from, err);
}

static int sign_request(struct arena *a, const struct pki_pair *ca, const struct pki_request *req,
                        struct str *ret_pem, struct err *err)
{
    autoof(cert) X509 *ca_cert = NULL, *cert = NULL;
    autoof(pkey) EVP_PKEY *ca_key = NULL, *key = NULL;
    autoof(request) X509_REQ *from = NULL;
    autoof(bio) BIO *out = BIO_new(BIO_s_mem());
    int64_t end = 0;
    int r = read_ca(ca, &ca_cert, &ca_key, err);
    if (r < 0)
        return r;
    r = read_request(req->der, &from, &key, err);
    if (r < 0)
        return r;
    r = leaf_end(ca_cert, req->now_sec, 0, req->seconds, &end, err);
    if (r < 0)
        return r;
    r = start_cert_of(key, req->now_sec, end, &cert, err);
    if (r < 0)
        return r;
    if (!X509_set_subject_name(cert, X509_REQ_get_subject_name(from)))
        return fail(err, ERR_INTERNAL, "set subject");
    r = add_request_exts(cert, ca_cert, from, req, err);
    if (r < 0)
        return r;
    r = sign_by(cert, ca_cert, ca_key, err);
    if (r < 0)
        return r;
    if (!out || !PEM_write_bio_X509(out, cert))
        return fail(err, ERR_INTERNAL, "write PEM");
    *ret_pem = bio_text(a, out);
    return 0;
}

int pki_sign_request(struct arena *a, const struct pki_pair *ca, const struct pki_request *req,
                     struct str *ret_pem, struct err *err)
{
    int r = sign_request(a, ca, req, ret_pem, err);
    if (r < 0)
        (void)err_wrap(err, "sign a request");
    return r;
}

int pki_not_after(struct str cert_pem, int64_t *ret, struct err *err)
{
    autoof(cert) X509 *cert = NULL;
    int r = read_cert(cert_pem, &cert, err);
    if (r < 0)
        return r;
    return cert_not_after(cert, ret, err);
}

/* ---- Asking for one ---- */

static void exts_cleanup(STACK_OF(X509_EXTENSION) * *p)
{
    sk_X509_EXTENSION_pop_free(*p, X509_EXTENSION_free);
}

static int add_request_sans(X509_REQ *req, const struct pki_leaf *leaf, struct err *err)
{
    autoof(exts) STACK_OF(X509_EXTENSION) *exts = NULL;
    autoof(gen_names) GENERAL_NAMES *names = NULL;
    if (!leaf->n_dns_names && !leaf->n_ips)
        return 0;
    int r = make_sans(leaf, &names, err);
    if (r < 0)
        return r;
    if (X509V3_add1_i2d(&exts, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT) != 1 ||
        !X509_REQ_add_extensions(req, exts))
        return fail(err, ERR_INTERNAL, "ask for subject alternative names");
    return 0;
}

static int make_request(struct arena *a, const struct pki_leaf *leaf, struct str *ret_request,
                        struct str *ret_key, struct err *err)
{
    autoof(pkey) EVP_PKEY *key = EVP_EC_gen("P-256");
    autoof(request) X509_REQ *req = X509_REQ_new();
    if (!key || !req || !X509_REQ_set_version(req, X509_REQ_VERSION_1) ||
        !X509_REQ_set_pubkey(req, key))
        return fail(err, ERR_INTERNAL, "make request");
    int r = set_subject(X509_REQ_get_subject_name(req), leaf, err);
    if (r < 0)
        return r;
    r = add_request_sans(req, leaf, err);
    if (r < 0)
        return r;
    autoof(bio) BIO *req_out = BIO_new(BIO_s_mem());
    autoof(bio) BIO *key_out = BIO_new(BIO_s_mem());
    if (!X509_REQ_sign(req, key, EVP_sha256()) || !req_out || !key_out ||
        !PEM_write_bio_X509_REQ(req_out, req) ||
        !PEM_write_bio_PrivateKey_traditional(key_out, key, NULL, NULL, 0, NULL, NULL))
        return fail(err, ERR_INTERNAL, "sign request");
    *ret_request = bio_text(a, req_out);
    *ret_key = bio_text(a, key_out);
    return 0;
}

int pki_make_request(struct arena *a, const struct pki_leaf *leaf, struct str *ret_request,
                     struct str *ret_key, struct err *err)
{
    int r = make_request(a, leaf, ret_request, ret_key, err);
    if (r < 0)
        (void)err_wrap(err, "make certificate request");
    return r;
}

int pki_not_before(struct str cert_pem, int64_t *ret, struct err *err)
{
    autoof(cert) X509 *cert = NULL;
    struct tm tm;
    int r = read_cert(cert_pem, &cert, err);
    if (r < 0)
        return r;
    if (!ASN1_TIME_to_tm(X509_get0_notBefore(cert), &tm))
        return fail(err, ERR_INVALID, "read the beginning of validity");
    *ret = timegm(&tm);
    return 0;
}
