#include "net/crypto/cipher.h"

#include <assert.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <pthread.h>

#include "base/mem.h"
#include "net/crypto/salsa20.h"
#include "base/banned.h"

enum {
    GCM_NONCE = 12,
    TAG = 16,
    BLOCK = 16,
    POLY_KEY = 32,
};

static size_t nonce_bytes(enum cipher c)
{
    return c == CIPHER_AESGCM ? GCM_NONCE : c == CIPHER_AESCBC ? BLOCK : XSALSA20_NONCE_BYTES;
}

bool cipher_takes_key(enum cipher c, size_t n)
{
    return n == 32 || (c != CIPHER_SECRETBOX && (n == 16 || n == 24));
}

int cipher_random(void *ret, size_t n, struct err *err)
{
    if (RAND_bytes(ret, (int)n) != 1)
        return err_set(err, ERR_INTERNAL, "unable to read sufficient random bytes");
    return 0;
}

static int too_short(struct err *err)
{
    return err_set(err, ERR_DAMAGED, "the stored data was shorter than the required size");
}

static unsigned char *bytes_of(char *p)
{
    return (unsigned char *)p;
}

static const unsigned char *const_bytes(struct str s)
{
    return (const unsigned char *)s.p;
}

/* ---- AES ---- */

/* Looked up once: to look one up takes longer than to seal a small text. Never freed. */
static struct {
    EVP_CIPHER *gcm[3], *cbc[3]; /* by key: 16, 24, 32 bytes */
    EVP_MAC *poly1305;
} found;

static void find_all(void)
{
    static const char *const gcm[] = { "AES-128-GCM", "AES-192-GCM", "AES-256-GCM" },
                             *const cbc[] = { "AES-128-CBC", "AES-192-CBC", "AES-256-CBC" };
    for (int i = 0; i < 3; i++) {
        found.gcm[i] = EVP_CIPHER_fetch(NULL, gcm[i], NULL);
        found.cbc[i] = EVP_CIPHER_fetch(NULL, cbc[i], NULL);
        assert(found.gcm[i] && found.cbc[i]); /* they are always there */
    }
    found.poly1305 = EVP_MAC_fetch(NULL, "POLY1305", NULL);
    assert(found.poly1305);
}

static void find_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, find_all);
}

static void context_free(EVP_CIPHER_CTX **ctx)
{
    EVP_CIPHER_CTX_free(*ctx);
}
#define autocontext __attribute__((cleanup(context_free))) EVP_CIPHER_CTX

static EVP_CIPHER_CTX *aes_new(enum cipher c, struct str key, const unsigned char *nonce,
                               bool seals)
{
    find_once();
    size_t i = key.n / 8 - 2;
    assert(cipher_takes_key(c, key.n));
    const EVP_CIPHER *type = c == CIPHER_AESGCM ? found.gcm[i] : found.cbc[i];
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    if (!ctx || EVP_CipherInit_ex2(ctx, type, const_bytes(key), nonce, seals, NULL) != 1)
        mem_exhausted(0);
    return ctx;
}

/* One piece of text; -1 if it cannot be. */
static int update(EVP_CIPHER_CTX *ctx, unsigned char *ret, struct str text)
{
    int n = 0;
    if (text.n && EVP_CipherUpdate(ctx, ret, &n, const_bytes(text), (int)text.n) != 1)
        return -1;
    return n;
}

static void aes_seal(enum cipher c, struct str key, const unsigned char *nonce, struct str about,
                     struct str text, struct buf *out)
{
    autocontext *ctx = aes_new(c, key, nonce, true);
    unsigned char *at = bytes_of(out->p + out->n);
    int n = 0;
    if (c == CIPHER_AESGCM && update(ctx, NULL, about) < 0)
        mem_exhausted(0);
    int used = update(ctx, at, text);
    if (used < 0 || EVP_CipherFinal_ex(ctx, at + used, &n) != 1)
        mem_exhausted(0);
    used += n;
    if (c == CIPHER_AESGCM) {
        if (EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, TAG, at + used) != 1)
            mem_exhausted(0);
        used += TAG;
    }
    out->n += (size_t)used;
}

static int gcm_open(struct str key, const unsigned char *nonce, struct str about, struct str sealed,
                    char *ret, size_t *ret_n, struct err *err)
{
    if (sealed.n < TAG)
        return err_set(err, ERR_DAMAGED, "cipher: message authentication failed");
    struct str text = str_take(sealed, sealed.n - TAG);
    unsigned char tag[TAG];
    memcpy(tag, sealed.p + text.n, TAG);
    autocontext *ctx = aes_new(CIPHER_AESGCM, key, nonce, false);
    int n = 0;
    if (EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, TAG, tag) != 1 ||
        update(ctx, NULL, about) < 0)
        mem_exhausted(0);
    if (update(ctx, bytes_of(ret), text) < 0 ||
        EVP_CipherFinal_ex(ctx, bytes_of(ret) + text.n, &n) != 1)
        return err_set(err, ERR_DAMAGED, "cipher: message authentication failed");
    *ret_n = text.n;
    return 0;
}

/* The padding is looked at here, because upstream says what is wrong with it. */
static int cbc_unpad(const char *text, size_t n, size_t *ret_n, struct err *err)
{
    unsigned char last = n ? (unsigned char)text[n - 1] : 0;
    if (last == 0 || last > n)
        return err_set(err, ERR_DAMAGED, "invalid PKCS7 data (empty or not padded)");
    for (size_t i = n - last; i < n; i++)
        if ((unsigned char)text[i] != last)
            return err_set(err, ERR_DAMAGED, "invalid padding on input");
    *ret_n = n - last;
    return 0;
}

static int cbc_open(struct str key, const unsigned char *nonce, struct str sealed, char *ret,
                    size_t *ret_n, struct err *err)
{
    if (sealed.n % BLOCK)
        return err_set(err, ERR_DAMAGED, "the stored data is not a multiple of the block size");
    autocontext *ctx = aes_new(CIPHER_AESCBC, key, nonce, false);
    (void)EVP_CIPHER_CTX_set_padding(ctx, 0);
    int n = 0, used = update(ctx, bytes_of(ret), sealed);
    if (used < 0 || EVP_CipherFinal_ex(ctx, bytes_of(ret) + used, &n) != 1)
        mem_exhausted(0);
    return cbc_unpad(ret, sealed.n, ret_n, err);
}

/* ---- Secretbox ---- */

static void poly1305(const unsigned char *key, struct str text, unsigned char *ret)
{
    find_once();
    EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(found.poly1305);
    size_t n = 0;
    if (!ctx || EVP_MAC_init(ctx, key, POLY_KEY, NULL) != 1 ||
        EVP_MAC_update(ctx, const_bytes(text), text.n) != 1 ||
        EVP_MAC_final(ctx, ret, &n, TAG) != 1)
        mem_exhausted(0);
    EVP_MAC_CTX_free(ctx);
}

/* The first half of the first block is the key of the tag; the text begins with the other. */
static void box_stream(struct salsa20 *s, struct str text, unsigned char *block, char *ret)
{
    size_t used = POLY_KEY;
    for (size_t i = 0; i < text.n; i++) {
        if (used == SALSA20_BLOCK_BYTES) {
            salsa20_block(s, block);
            used = 0;
        }
        ret[i] = (char)((unsigned char)text.p[i] ^ block[used++]);
    }
}

static void box_seal(struct str key, const unsigned char *nonce, struct str text, struct buf *out)
{
    struct salsa20 s;
    unsigned char block[SALSA20_BLOCK_BYTES], tag_key[POLY_KEY];
    xsalsa20_init(&s, const_bytes(key), nonce);
    salsa20_block(&s, block);
    memcpy(tag_key, block, sizeof(tag_key));
    char *at = out->p + out->n;
    box_stream(&s, text, block, at + TAG);
    poly1305(tag_key, (struct str){ at + TAG, text.n }, bytes_of(at));
    out->n += TAG + text.n;
    OPENSSL_cleanse(&s, sizeof(s));
    OPENSSL_cleanse(tag_key, sizeof(tag_key));
}

static int box_open(struct str key, const unsigned char *nonce, struct str sealed, char *ret,
                    size_t *ret_n, struct err *err)
{
    if (sealed.n < TAG)
        return too_short(err);
    struct salsa20 s;
    unsigned char block[SALSA20_BLOCK_BYTES], tag[TAG];
    struct str text = str_skip(sealed, TAG);
    xsalsa20_init(&s, const_bytes(key), nonce);
    salsa20_block(&s, block);
    poly1305(block, text, tag);
    if (CRYPTO_memcmp(tag, sealed.p, TAG) != 0)
        return err_set(err, ERR_DAMAGED, "output array was not large enough for encryption");
    box_stream(&s, text, block, ret);
    *ret_n = text.n;
    OPENSSL_cleanse(&s, sizeof(s));
    return 0;
}

/* ---- Any of them ---- */

int cipher_seal_with(enum cipher c, struct str key, struct str nonce, struct str about,
                     struct str text, struct buf *out, struct err *err)
{
    assert(nonce.n == nonce_bytes(c));
    if (text.n > INT32_MAX / 2)
        return err_set(err, ERR_TOO_LARGE, "%zu bytes are too many to seal", text.n);
    buf_reserve(out, text.n + CIPHER_OVERHEAD);
    buf_str_add(out, nonce);
    if (c == CIPHER_SECRETBOX)
        box_seal(key, const_bytes(nonce), text, out);
    else
        aes_seal(c, key, const_bytes(nonce), about, text, out);
    return 0;
}

int cipher_seal(enum cipher c, struct str key, struct str about, struct str text, struct buf *out,
                struct err *err)
{
    char nonce[XSALSA20_NONCE_BYTES];
    struct str fresh = { nonce, nonce_bytes(c) };
    int r = cipher_random(nonce, fresh.n, err);
    if (r < 0)
        return r;
    return cipher_seal_with(c, key, fresh, about, text, out, err);
}

int cipher_open(enum cipher c, struct str key, struct str about, struct str sealed, char *ret,
                size_t *ret_n, struct err *err)
{
    size_t n = nonce_bytes(c);
    if (sealed.n < n || sealed.n > INT32_MAX / 2)
        return too_short(err);
    const unsigned char *nonce = const_bytes(sealed);
    struct str rest = str_skip(sealed, n);
    if (c == CIPHER_AESGCM)
        return gcm_open(key, nonce, about, rest, ret, ret_n, err);
    if (c == CIPHER_AESCBC)
        return cbc_open(key, nonce, rest, ret, ret_n, err);
    return box_open(key, nonce, rest, ret, ret_n, err);
}

/* One round gives all that is asked for: HMAC of the info and the number of the round. */
void cipher_derive(struct str seed, struct str info, unsigned char ret[static CIPHER_DERIVED_BYTES])
{
    autobuf text = { 0 };
    buf_str_add(&text, info);
    buf_byte(&text, 1);
    if (!HMAC(EVP_sha256(), seed.p, (int)seed.n, const_bytes(buf_str(&text)), text.n, ret, NULL))
        mem_exhausted(0);
}
