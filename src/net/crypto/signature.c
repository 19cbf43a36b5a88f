#include "net/crypto/signature.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <stdlib.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "net/crypto/digest.h"
#include "base/banned.h"

struct signature_key {
    EVP_PKEY *pkey;
    const struct algorithm *algorithm;
    bool is_private;
    struct arena arena; /* of the id */
    struct str id;
};

/* Of elliptic curves a signature is two numbers of this many bytes. The first row that fits a key
 * is the one that it signs with. */
static const struct algorithm {
    const char *name, *group; /* group: OpenSSL's name of the curve; NULL: RSA */
    const char *curve;        /* as a JSON Web Key says it */
    const EVP_MD *(*hash)(void);
    size_t number_bytes;
    bool is_pss;
} algorithms[] = {
    { "RS256", NULL, NULL, EVP_sha256, 0, false },
    { "ES256", "prime256v1", "P-256", EVP_sha256, 32, false },
    { "ES384", "secp384r1", "P-384", EVP_sha384, 48, false },
    { "ES512", "secp521r1", "P-521", EVP_sha512, 66, false },
    { "RS384", NULL, NULL, EVP_sha384, 0, false },
    { "RS512", NULL, NULL, EVP_sha512, 0, false },
    { "PS256", NULL, NULL, EVP_sha256, 0, true },
    { "PS384", NULL, NULL, EVP_sha384, 0, true },
    { "PS512", NULL, NULL, EVP_sha512, 0, true },
};

enum { RSA_BITS_MIN = 2048 };

static int fail(struct err *err, enum err_code code, const char *what)
{
    unsigned long e = ERR_get_error();
    const char *reason = e ? ERR_reason_error_string(e) : NULL;
    ERR_clear_error();
    return err_set(err, code, "%s: %s", what, reason ? reason : "refused by OpenSSL");
}

/* ---- Keys ---- */

static const struct algorithm *algorithm_of(EVP_PKEY *pkey)
{
    char group[64];
    if (EVP_PKEY_is_a(pkey, "RSA"))
        return EVP_PKEY_get_bits(pkey) >= RSA_BITS_MIN ? &algorithms[0] : NULL;
    if (!EVP_PKEY_is_a(pkey, "EC") ||
        EVP_PKEY_get_utf8_string_param(pkey, OSSL_PKEY_PARAM_GROUP_NAME, group, sizeof(group),
                                       NULL) != 1)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(algorithms); i++)
        if (algorithms[i].group && strcmp(group, algorithms[i].group) == 0)
            return &algorithms[i];
    return NULL;
}

static void set_id(struct signature_key *k)
{
    unsigned char *der = NULL, hash[DIGEST_SHA256_BYTES];
    int n = i2d_PUBKEY(k->pkey, &der);
    if (n < 0)
        mem_exhausted(0);
    digest_sha256((struct str){ (const char *)der, (size_t)n }, hash);
    OPENSSL_free(der);
    autobuf text = { 0 };
    base64url_encode(&text, (struct str){ (const char *)hash, sizeof(hash) });
    k->id = arena_str(&k->arena, buf_str(&text));
}

/* Takes the key over. */
static int key_new(EVP_PKEY *pkey, bool is_private, struct signature_key **ret, struct err *err)
{
    const struct algorithm *algorithm = algorithm_of(pkey);
    if (!algorithm) {
        EVP_PKEY_free(pkey);
        return err_set(err, ERR_INVALID,
                       "the key is neither RSA of 2048 bits or more nor ECDSA of P-256, P-384 or "
                       "P-521");
    }
    struct signature_key *k = mem_new(struct signature_key);
    k->pkey = pkey;
    k->algorithm = algorithm;
    k->is_private = is_private;
    arena_init(&k->arena);
    set_id(k);
    *ret = k;
    return 0;
}

struct signature_key *signature_key_free(struct signature_key *k)
{
    if (!k)
        return NULL;
    EVP_PKEY_free(k->pkey);
    arena_done(&k->arena);
    free(k);
    return NULL;
}

/* Nobody is asked for a password. */
static int no_password(char *buf, int size, int writing, void *arg)
{
    (void)buf, (void)size, (void)writing, (void)arg;
    return -1;
}

/* The key in one block of PEM; NULL if it holds none. */
static EVP_PKEY *key_of_block(const char *name, BIO *block, bool *ret_private)
{
    *ret_private = strstr(name, "PRIVATE KEY");
    if (*ret_private)
        return PEM_read_bio_PrivateKey(block, NULL, no_password, NULL);
    if (!strstr(name, "CERTIFICATE"))
        return PEM_read_bio_PUBKEY(block, NULL, no_password, NULL);
    X509 *cert = PEM_read_bio_X509(block, NULL, no_password, NULL);
    EVP_PKEY *key = cert ? X509_get_pubkey(cert) : NULL;
    X509_free(cert);
    return key;
}

/* The next block of the text, from its BEGIN to its END line; false if there is none. */
static bool next_block(struct str *rest, struct str *ret, char name[64])
{
    static const char begin[] = "-----BEGIN ", end[] = "-----END ";
    const char *from = memmem(rest->p, rest->n, begin, sizeof(begin) - 1);
    if (!from)
        return false;
    struct str block = str_skip(*rest, (size_t)(from - rest->p));
    const char *last = memmem(block.p, block.n, end, sizeof(end) - 1);
    if (!last)
        return false;
    struct str label = str_skip(block, sizeof(begin) - 1), after = { last, 0 };
    label = str_cut(&label, '-');
    after.n = (size_t)(block.p + block.n - last);
    (void)str_cut(&after, '\n');
    size_t n = label.n < 63 ? label.n : 63;
    memcpy(name, label.p, n);
    name[n] = '\0';
    *ret = (struct str){ block.p, after.p ? (size_t)(after.p - block.p) : block.n };
    *rest = after;
    return true;
}

int signature_keys_read(struct str pem, size_t max, struct signature_key **ret, size_t *ret_n,
                        struct err *err)
{
    struct str block;
    char name[64];
    *ret_n = 0;
    ERR_clear_error();
    while (*ret_n < max && next_block(&pem, &block, name)) {
        if (strstr(name, "PARAMETERS"))
            continue; /* `openssl ecparam -genkey` writes them in front of the key */
        BIO *bio = BIO_new_mem_buf(block.p, (int)block.n);
        bool is_private;
        EVP_PKEY *pkey = bio ? key_of_block(name, bio, &is_private) : NULL;
        BIO_free_all(bio);
        if (!pkey)
            return fail(err, ERR_INVALID, "read a key");
        int r = key_new(pkey, is_private, &ret[*ret_n], err);
        if (r < 0)
            return r;
        (*ret_n)++;
    }
    return *ret_n ? 0 : err_set(err, ERR_INVALID, "there is no key in PEM form");
}

int signature_key_read(struct str pem, struct signature_key **ret, struct err *err)
{
    size_t n;
    return signature_keys_read(pem, 1, ret, &n, err);
}

int signature_make(struct arena *a, struct str *ret_pem, struct err *err)
{
    EVP_PKEY *pkey = EVP_EC_gen("P-256");
    BIO *bio = BIO_new(BIO_s_mem());
    char *text;
    int r = -1;
    if (pkey && bio && PEM_write_bio_PKCS8PrivateKey(bio, pkey, NULL, NULL, 0, NULL, NULL) == 1) {
        long n = BIO_get_mem_data(bio, &text);
        *ret_pem = arena_str(a, (struct str){ text, (size_t)n });
        r = 0;
    }
    BIO_free_all(bio);
    EVP_PKEY_free(pkey);
    return r < 0 ? fail(err, ERR_INTERNAL, "make a key") : 0;
}

const char *signature_algorithm(const struct signature_key *k)
{
    return k->algorithm->name;
}

struct str signature_key_id(const struct signature_key *k)
{
    return k->id;
}

/* ---- ECDSA: DER to two numbers, and back ---- */

static bool numbers_of(const struct algorithm *alg, const unsigned char *der, size_t der_n,
                       unsigned char *ret)
{
    ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &der, (long)der_n);
    int n = (int)alg->number_bytes;
    bool good = sig && BN_bn2binpad(ECDSA_SIG_get0_r(sig), ret, n) == n &&
                BN_bn2binpad(ECDSA_SIG_get0_s(sig), ret + n, n) == n;
    ECDSA_SIG_free(sig);
    return good;
}

/* The caller frees `*ret` with OPENSSL_free(). */
static size_t der_of(const struct algorithm *alg, struct str numbers, unsigned char **ret)
{
    const unsigned char *p = (const unsigned char *)numbers.p;
    int n = (int)alg->number_bytes;
    ECDSA_SIG *sig = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(p, n, NULL), *s = BN_bin2bn(p + n, n, NULL);
    int len = -1;
    if (sig && r && s && ECDSA_SIG_set0(sig, r, s) == 1) {
        len = i2d_ECDSA_SIG(sig, ret);
    } else {
        BN_free(r);
        BN_free(s);
    }
    ECDSA_SIG_free(sig);
    return len > 0 ? (size_t)len : 0;
}

/* ---- Signing and verifying ---- */

static int sign_der(const struct signature_key *k, struct arena *a, struct str text,
                    struct str *ret)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    const unsigned char *p = (const unsigned char *)text.p;
    size_t n = 0;
    int r = -1;
    if (ctx && EVP_DigestSignInit(ctx, NULL, k->algorithm->hash(), NULL, k->pkey) == 1 &&
        EVP_DigestSign(ctx, NULL, &n, p, text.n) == 1) {
        unsigned char *out = arena_alloc(a, n, 1);
        if (EVP_DigestSign(ctx, out, &n, p, text.n) == 1) {
            *ret = (struct str){ (const char *)out, n };
            r = 0;
        }
    }
    EVP_MD_CTX_free(ctx);
    return r;
}

int signature_sign(const struct signature_key *k, struct arena *a, struct str text, struct str *ret,
                   struct err *err)
{
    struct str der;
    if (!k->is_private)
        return err_set(err, ERR_INVALID, "a public key cannot sign");
    ERR_clear_error();
    if (sign_der(k, a, text, &der) < 0)
        return fail(err, ERR_INTERNAL, "sign");
    if (!k->algorithm->number_bytes) {
        *ret = der;
        return 0;
    }
    size_t n = 2 * k->algorithm->number_bytes;
    unsigned char *numbers = arena_alloc(a, n, 1);
    if (!numbers_of(k->algorithm, (const unsigned char *)der.p, der.n, numbers))
        return fail(err, ERR_INTERNAL, "sign");
    *ret = (struct str){ (const char *)numbers, n };
    return 0;
}

/* Upstream takes a salt of any length. */
static bool set_padding(const struct algorithm *alg, EVP_PKEY_CTX *ctx)
{
    return !alg->is_pss || (EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PSS_PADDING) == 1 &&
                            EVP_PKEY_CTX_set_rsa_pss_saltlen(ctx, RSA_PSS_SALTLEN_AUTO) == 1);
}

static bool verify_der(const struct signature_key *k, const struct algorithm *alg, struct str text,
                       const unsigned char *sig, size_t n)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    EVP_PKEY_CTX *key_ctx; /* belongs to ctx */
    bool good = ctx && EVP_DigestVerifyInit(ctx, &key_ctx, alg->hash(), NULL, k->pkey) == 1 &&
                set_padding(alg, key_ctx) &&
                EVP_DigestVerify(ctx, sig, n, (const unsigned char *)text.p, text.n) == 1;
    EVP_MD_CTX_free(ctx);
    ERR_clear_error();
    return good;
}

static bool fits(const struct signature_key *k, const struct algorithm *alg, struct str text,
                 struct str signature)
{
    if (!alg->number_bytes)
        return verify_der(k, alg, text, (const unsigned char *)signature.p, signature.n);
    if (signature.n != 2 * alg->number_bytes)
        return false;
    unsigned char *der = NULL;
    size_t n = der_of(alg, signature, &der);
    bool good = n && verify_der(k, alg, text, der, n);
    OPENSSL_free(der);
    return good;
}

bool signature_fits(const struct signature_key *k, struct str text, struct str signature)
{
    return fits(k, k->algorithm, text, signature);
}

bool signature_fits_as(const struct signature_key *k, struct str algorithm, struct str text,
                       struct str signature)
{
    for (size_t i = 0; i < ARRAY_LEN(algorithms); i++)
        if (str_eq(algorithm, str_of(algorithms[i].name)))
            return algorithms[i].group == k->algorithm->group &&
                   fits(k, &algorithms[i], text, signature);
    return false;
}

/* ---- Web keys ---- */

/* A number of the key in base64url, at least `least` bytes long; empty if it cannot be had. */
static struct str number(const struct signature_key *k, struct arena *a, const char *name,
                         size_t least)
{
    BIGNUM *bn = NULL;
    if (EVP_PKEY_get_bn_param(k->pkey, name, &bn) != 1)
        return STR("");
    size_t n = (size_t)BN_num_bytes(bn);
    n = n < least ? least : n;
    unsigned char *bytes = arena_alloc(a, n, 1);
    int written = BN_bn2binpad(bn, bytes, (int)n);
    BN_free(bn);
    autobuf text = { 0 };
    base64url_encode(&text, (struct str){ (const char *)bytes, written < 0 ? 0 : n });
    return arena_str(a, buf_str(&text));
}

int signature_jwk(const struct signature_key *k, struct arena *a, struct signature_jwk *ret,
                  struct err *err)
{
    const struct algorithm *alg = k->algorithm;
    if (!alg->group)
        *ret = (struct signature_jwk){ .kty = STR("RSA"),
                                       .n = number(k, a, OSSL_PKEY_PARAM_RSA_N, 0),
                                       .e = number(k, a, OSSL_PKEY_PARAM_RSA_E, 0) };
    else
        *ret = (struct signature_jwk){
            .kty = STR("EC"),
            .crv = str_of(alg->curve),
            .x = number(k, a, OSSL_PKEY_PARAM_EC_PUB_X, alg->number_bytes),
            .y = number(k, a, OSSL_PKEY_PARAM_EC_PUB_Y, alg->number_bytes),
        };
    bool has_all = alg->group ? ret->x.n && ret->y.n : ret->n.n && ret->e.n;
    return has_all ? 0 : fail(err, ERR_INTERNAL, "take a key apart");
}

static bool add_number(OSSL_PARAM_BLD *to, const char *name, struct str text, BIGNUM **ret)
{
    autobuf bytes = { 0 };
    if (!text.n || !base64url_decode(&bytes, text) || !bytes.n)
        return false;
    *ret = BN_bin2bn((const unsigned char *)bytes.p, (int)bytes.n, NULL);
    return *ret && OSSL_PARAM_BLD_push_BN(to, name, *ret) == 1;
}

static const struct algorithm *algorithm_of_curve(struct str curve)
{
    for (size_t i = 0; i < ARRAY_LEN(algorithms); i++)
        if (algorithms[i].curve && str_eq(curve, str_of(algorithms[i].curve)))
            return &algorithms[i];
    return NULL;
}

/* The point is a byte that says "not compressed", and both coordinates. */
static bool add_point(OSSL_PARAM_BLD *to, const struct signature_jwk *jwk, struct buf *point)
{
    const struct algorithm *alg = algorithm_of_curve(jwk->crv);
    autobuf x = { 0 }, y = { 0 };
    if (!alg || !base64url_decode(&x, jwk->x) || !base64url_decode(&y, jwk->y) ||
        x.n != alg->number_bytes || y.n != alg->number_bytes)
        return false;
    buf_byte(point, 4);
    buf_str_add(point, buf_str(&x));
    buf_str_add(point, buf_str(&y));
    return OSSL_PARAM_BLD_push_utf8_string(to, OSSL_PKEY_PARAM_GROUP_NAME, alg->group, 0) == 1 &&
           OSSL_PARAM_BLD_push_octet_string(to, OSSL_PKEY_PARAM_PUB_KEY, point->p, point->n) == 1;
}

static EVP_PKEY *key_of_params(const char *type, OSSL_PARAM_BLD *from)
{
    EVP_PKEY *pkey = NULL;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(from);
    if (!ctx || !params || EVP_PKEY_fromdata_init(ctx) != 1 ||
        EVP_PKEY_fromdata(ctx, &pkey, EVP_PKEY_PUBLIC_KEY, params) != 1)
        pkey = NULL;
    OSSL_PARAM_free(params);
    EVP_PKEY_CTX_free(ctx);
    return pkey;
}

/* NULL: it is no key that can be had. */
static EVP_PKEY *key_of_jwk(const struct signature_jwk *jwk)
{
    bool is_rsa = str_eq(jwk->kty, STR("RSA"));
    OSSL_PARAM_BLD *parts = OSSL_PARAM_BLD_new();
    BIGNUM *n = NULL, *e = NULL;
    autobuf point = { 0 };
    bool good = parts && (is_rsa ? add_number(parts, OSSL_PKEY_PARAM_RSA_N, jwk->n, &n) &&
                                       add_number(parts, OSSL_PKEY_PARAM_RSA_E, jwk->e, &e)
                                 : add_point(parts, jwk, &point));
    EVP_PKEY *pkey = good ? key_of_params(is_rsa ? "RSA" : "EC", parts) : NULL;
    OSSL_PARAM_BLD_free(parts);
    BN_free(n);
    BN_free(e);
    return pkey;
}

int signature_key_of_jwk(const struct signature_jwk *jwk, struct signature_key **ret,
                         struct err *err)
{
    if (!str_eq(jwk->kty, STR("RSA")) && !str_eq(jwk->kty, STR("EC")))
        return err_set(err, ERR_INVALID, "a key of type \"" STR_FMT "\" is neither RSA nor EC",
                       STR_ARG(jwk->kty));
    ERR_clear_error();
    EVP_PKEY *pkey = key_of_jwk(jwk);
    if (!pkey)
        return fail(err, ERR_INVALID, "read a web key");
    return key_new(pkey, false, ret, err);
}
