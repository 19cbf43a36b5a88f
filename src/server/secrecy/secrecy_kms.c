#include "server/secrecy/secrecy_kms.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/wire.h"
#include "net/crypto/cipher.h"
#include "net/crypto/digest.h"
#include "net/grpc/grpc.h"
#include "server/secrecy/secrecy_wire.h"
#include "base/banned.h"

#define SERVICE "/v2.KeyManagementService/"

enum { INFO_BYTES = 32, SEED_BYTES = 32, DATA_OVERHEAD = INFO_BYTES + 28, KEY_ID_MAX = 1024 };
enum { STATUS_VERSION = 1, STATUS_HEALTHZ, STATUS_KEY_ID };
enum { ENCRYPT_PLAINTEXT = 1, ENCRYPT_UID };
enum { ENCRYPTED_CIPHERTEXT = 1, ENCRYPTED_KEY_ID, ENCRYPTED_ANNOTATIONS };
enum { DECRYPT_CIPHERTEXT = 1, DECRYPT_UID, DECRYPT_KEY_ID, DECRYPT_ANNOTATIONS };

/* A seed and how it is stored. Never changes once it is in the map; freed with the service. */
struct seed {
    unsigned char digest[DIGEST_SHA256_BYTES];
    char key[64];
    size_t n_key;
    struct buf head; /* what is stored of it with each value */
    struct buf key_id;
    uint64_t type;
};

/* One that is on the list. */
struct wanted {
    struct wanted *next;
    unsigned char digest[DIGEST_SHA256_BYTES];
    struct buf head;
};

struct secrecy_kms {
    char *name, *endpoint;
    int64_t timeout_ns;
    void (*wake)(void *arg);
    void *arg;
    struct grpc_client *client;
    _Atomic bool is_well;
    char version[16]; /* of the first answer; the checker's own */

    pthread_mutex_t lock; /* guards what follows */
    struct map seeds;     /* by digest */
    const struct seed *current;
    int64_t writes_until_ns;
    struct wanted *wanted;
    size_t n_wanted;
    char fetch_fault[200]; /* why the last one could not be opened */
};

/* ---- Seeds ---- */

static void seed_free(struct seed *s)
{
    explicit_bzero(s->key, sizeof(s->key));
    buf_done(&s->head);
    buf_done(&s->key_id);
    free(s);
}

static struct str digest_str(const unsigned char *digest)
{
    return (struct str){ (const char *)digest, DIGEST_SHA256_BYTES };
}

static struct seed *seed_new(const struct secrecy_envelope *e, struct str key)
{
    struct seed *s = mem_new(struct seed);
    memcpy(s->key, key.p, key.n);
    s->n_key = key.n;
    s->type = e->source_type;
    buf_str_add(&s->key_id, e->key_id);
    secrecy_envelope_write_head(&s->head, e);
    digest_sha256(buf_str(&s->head), s->digest);
    return s;
}

/* Takes over `s`; returns the one that is remembered, which may be an equal one. With the lock. */
static const struct seed *remember(struct secrecy_kms *k, struct seed *s)
{
    const struct seed *was = map_get(&k->seeds, digest_str(s->digest));
    if (was) {
        seed_free(s);
        return was;
    }
    (void)map_set(&k->seeds, digest_str(s->digest), s);
    return s;
}

static bool seed_fits(uint64_t type, size_t n)
{
    return type == SECRECY_SEED ? n >= SEED_BYTES && n <= 64 : cipher_takes_key(CIPHER_AESGCM, n);
}

/* ---- Life ---- */

/* "unix:///run/x.sock", and "unix:///@name" for a socket without a file. */
static struct str socket_address(struct arena *a, struct str endpoint)
{
    struct str path = str_skip(endpoint, 5);
    if (str_starts(path, STR("//")))
        path = str_skip(path, 2);
    if (str_starts(path, STR("/@")))
        path = str_skip(path, 1);
    return arena_printf(a, "unix:" STR_FMT, STR_ARG(path));
}

int secrecy_kms_new(const struct secrecy_kms_options *opt, struct secrecy_kms **ret,
                    struct err *err)
{
    struct arena a;
    arena_init(&a);
    struct grpc_client *client = grpc_client_new(&(struct grpc_client_options){
        .address = socket_address(&a, opt->endpoint),
        .connect_ms = opt->timeout_ns / NS_PER_MS,
    });
    if (!client) {
        arena_done(&a);
        return err_set(err, ERR_INTERNAL,
                       "could not configure KMSv2-Plugin's probe \"" STR_FMT "\"",
                       STR_ARG(opt->name));
    }
    struct secrecy_kms *k = mem_new(struct secrecy_kms);
    const char *name = str_cstr(&a, opt->name), *endpoint = str_cstr(&a, opt->endpoint);
    k->name = mem_dup(name, opt->name.n + 1);
    k->endpoint = mem_dup(endpoint, opt->endpoint.n + 1);
    arena_done(&a);
    k->timeout_ns = opt->timeout_ns;
    k->wake = opt->wake;
    k->arg = opt->arg;
    k->client = client;
    (void)pthread_mutex_init(&k->lock, NULL);
    *ret = k;
    return 0;
}

static void wanted_free(struct wanted *w)
{
    buf_done(&w->head);
    free(w);
}

struct secrecy_kms *secrecy_kms_free(struct secrecy_kms *k)
{
    if (!k)
        return NULL;
    grpc_client_free(k->client);
    size_t at = 0;
    struct str digest;
    void *seed;
    while (map_next(&k->seeds, &at, &digest, &seed))
        seed_free(seed);
    map_done(&k->seeds);
    for (struct wanted *w = k->wanted, *next; w; w = next) {
        next = w->next;
        wanted_free(w);
    }
    (void)pthread_mutex_destroy(&k->lock);
    free(k->name);
    free(k->endpoint);
    free(k);
    return NULL;
}

bool secrecy_kms_is(const struct secrecy_kms *k, struct str name, struct str endpoint,
                    int64_t timeout_ns)
{
    return str_eq(str_of(k->name), name) && str_eq(str_of(k->endpoint), endpoint) &&
           k->timeout_ns == timeout_ns;
}

bool secrecy_kms_is_well(const struct secrecy_kms *k)
{
    return atomic_load(&k->is_well);
}

/* ---- Opening ---- */

/* With the lock. */
static bool want(struct secrecy_kms *k, const unsigned char *digest, struct str head)
{
    for (const struct wanted *w = k->wanted; w; w = w->next)
        if (memcmp(w->digest, digest, sizeof(w->digest)) == 0)
            return false;
    if (k->n_wanted >= SECRECY_KMS_WANTED_MAX || k->seeds.n >= SECRECY_KMS_SEEDS_MAX)
        return false;
    struct wanted *w = mem_new(struct wanted);
    memcpy(w->digest, digest, sizeof(w->digest));
    buf_str_add(&w->head, head);
    w->next = k->wanted;
    k->wanted = w;
    k->n_wanted++;
    return true;
}

/* The seed of an envelope; NULL with `err` if it is not remembered. */
static const struct seed *seed_of(struct secrecy_kms *k, const struct secrecy_envelope *e,
                                  bool *ret_stale, struct err *err)
{
    autobuf head = { 0 };
    unsigned char digest[DIGEST_SHA256_BYTES];
    secrecy_envelope_write_head(&head, e);
    digest_sha256(buf_str(&head), digest);
    (void)pthread_mutex_lock(&k->lock);
    const struct seed *s = map_get(&k->seeds, digest_str(digest)), *now = k->current;
    bool is_new = !s && want(k, digest, buf_str(&head));
    if (!s)
        (void)err_set(err, ERR_DAMAGED, "failed to decrypt DEK, error: %s",
                      k->fetch_fault[0] ? k->fetch_fault : "the KMS has not answered yet");
    (void)pthread_mutex_unlock(&k->lock);
    if (is_new)
        k->wake(k->arg);
    *ret_stale = now && (e->source_type != now->type || !str_eq(e->key_id, buf_str(&now->key_id)));
    return s;
}

static int open_by_seed(const struct seed *s, struct str key, struct str value, struct arena *a,
                        struct str *ret, struct err *err)
{
    char *text = arena_alloc(a, value.n + 1, 1);
    struct str aes_key = { s->key, s->n_key };
    unsigned char derived[CIPHER_DERIVED_BYTES];
    if (s->type == SECRECY_SEED) {
        if (value.n < INFO_BYTES)
            return err_set(err, ERR_DAMAGED, "the stored data was shorter than the required size");
        cipher_derive(aes_key, str_take(value, INFO_BYTES), derived);
        aes_key = (struct str){ (const char *)derived, sizeof(derived) };
        value = str_skip(value, INFO_BYTES);
    }
    ret->p = text;
    int r = cipher_open(CIPHER_AESGCM, aes_key, key, value, text, &ret->n, err);
    explicit_bzero(derived, sizeof(derived));
    return r;
}

int secrecy_kms_open(struct secrecy_kms *k, struct str key, struct str sealed, struct arena *a,
                     struct str *ret, bool *ret_stale, struct err *err)
{
    struct secrecy_envelope e;
    autobuf joined = { 0 };
    const char *fault = secrecy_envelope_read(sealed, &e, &joined);
    if (fault)
        return err_set(err, ERR_DAMAGED, "%s", fault);
    const struct seed *s = seed_of(k, &e, ret_stale, err);
    return s ? open_by_seed(s, key, e.value, a, ret, err) : -ERR_DAMAGED;
}

/* ---- Sealing ---- */

/* The seed to write with; NULL with `err` if there is none that may be used. */
static const struct seed *current_seed(struct secrecy_kms *k, struct err *err)
{
    (void)pthread_mutex_lock(&k->lock);
    const struct seed *s = k->current;
    bool is_over = clock_mono_ns(&clock_system) > k->writes_until_ns;
    (void)pthread_mutex_unlock(&k->lock);
    if (!s)
        (void)err_set(err, ERR_INTERNAL, "got unexpected nil transformer");
    else if (is_over)
        (void)err_set(err, ERR_INTERNAL,
                      "encryptedDEKSource of KMS provider %s expired: it was not healthy for %d "
                      "seconds",
                      k->name, SECRECY_KMS_COAST_SEC);
    return is_over ? NULL : s;
}

int secrecy_kms_seal(struct secrecy_kms *k, struct str key, struct str value, struct buf *out,
                     struct err *err)
{
    const struct seed *s = current_seed(k, err);
    if (!s)
        return -ERR_INTERNAL;
    unsigned char derived[CIPHER_DERIVED_BYTES];
    char info[INFO_BYTES];
    int r = cipher_random(info, sizeof(info), err);
    if (r < 0)
        return r;
    struct str fresh = { info, sizeof(info) };
    wire_head(out, 1, value.n + DATA_OVERHEAD);
    buf_str_add(out, fresh);
    cipher_derive((struct str){ s->key, s->n_key }, fresh, derived);
    r = cipher_seal(CIPHER_AESGCM, (struct str){ (const char *)derived, sizeof(derived) }, key,
                    value, out, err);
    explicit_bzero(derived, sizeof(derived));
    buf_str_add(out, buf_str(&s->head));
    return r;
}

/* ---- Calls ---- */

static int call(struct secrecy_kms *k, const char *method, struct str request, struct arena *a,
                struct str *ret, struct err *err)
{
    struct grpc_result result = { 0 };
    struct str path = arena_printf(a, SERVICE "%s", method);
    int r = grpc_call_unary(k->client, path, request, NULL, 0, k->timeout_ns / NS_PER_MS, a, ret,
                            &result, err);
    if (r == 0)
        return 0;
    struct str said = result.message.n ? result.message : err->msg;
    err_clear(err);
    return err_set(err, ERR_INTERNAL, "rpc error: code = %d desc = " STR_FMT, (int)result.status,
                   STR_ARG(said));
}

/* For the service's own log. */
static int add_uid(struct buf *out, unsigned number, struct err *err)
{
    unsigned char random[16];
    int r = cipher_random(random, sizeof(random), err);
    if (r < 0)
        return r;
    wire_head(out, number, 2 * sizeof(random));
    for (size_t i = 0; i < sizeof(random); i++)
        buf_printf(out, "%02x", random[i]);
    return 0;
}

/* ---- Health and rotation ---- */

struct status {
    struct str version, healthz, key_id;
};

static int ask_status(struct secrecy_kms *k, struct arena *a, struct status *ret, struct err *err)
{
    struct str answer;
    struct wire_field f;
    int r = call(k, "Status", STR(""), a, &answer, err);
    if (r < 0)
        return err_wrap(err,
                        "failed to perform status section of the healthz check for KMS Provider "
                        "%s, error",
                        k->name);
    *ret = (struct status){ .version = STR(""), .healthz = STR(""), .key_id = STR("") };
    while ((r = wire_next(&answer, &f)) > 0) {
        if (f.number == STATUS_VERSION)
            ret->version = f.bytes;
        else if (f.number == STATUS_HEALTHZ)
            ret->healthz = f.bytes;
        else if (f.number == STATUS_KEY_ID)
            ret->key_id = f.bytes;
    }
    return r < 0
               ? err_set(err, ERR_INTERNAL, "the status of KMS Provider %s makes no sense", k->name)
               : 0;
}

static int check_status(struct secrecy_kms *k, const struct status *s, struct err *err)
{
    if (!str_eq(s->healthz, STR("ok")))
        return err_set(err, ERR_INTERNAL, "got unexpected healthz status: " STR_FMT,
                       STR_ARG(s->healthz));
    if (!str_eq(s->version, STR("v2")) && !str_eq(s->version, STR("v2beta1")))
        return err_set(err, ERR_INTERNAL, "expected KMSv2 API version v2, got " STR_FMT,
                       STR_ARG(s->version));
    if (!k->version[0])
        memcpy(k->version, s->version.p, s->version.n);
    if (!str_eq(s->version, str_of(k->version)))
        return err_set(err, ERR_INTERNAL,
                       "KMSv2 API version should not change after the initial status response "
                       "version %s, got " STR_FMT,
                       k->version, STR_ARG(s->version));
    if (!s->key_id.n || s->key_id.n > KEY_ID_MAX)
        return err_set(err, ERR_INTERNAL, "got invalid KMSv2 KeyID: keyID is %s",
                       s->key_id.n ? "too long" : "empty");
    return 0;
}

static int read_encrypted(struct str answer, struct secrecy_envelope *ret, struct buf *annotations,
                          struct err *err)
{
    struct wire_field f;
    int r;
    *ret = (struct secrecy_envelope){ .source_type = SECRECY_SEED, .value = STR("?") };
    while ((r = wire_next(&answer, &f)) > 0) {
        if (f.number == ENCRYPTED_CIPHERTEXT)
            ret->source = f.bytes;
        else if (f.number == ENCRYPTED_KEY_ID)
            ret->key_id = f.bytes;
        else if (f.number == ENCRYPTED_ANNOTATIONS)
            wire_bytes(annotations, DECRYPT_ANNOTATIONS, f.bytes); /* as it is stored */
    }
    ret->annotations = buf_str(annotations);
    const char *fault = r < 0 ? "the answer makes no sense" : secrecy_envelope_fault(ret);
    return fault ? err_set(err, ERR_INTERNAL, "failed to encrypt DEK, error: %s", fault) : 0;
}

static int ask_encrypt(struct secrecy_kms *k, struct arena *a, struct str seed, struct str *ret,
                       struct err *err)
{
    autobuf request = { 0 };
    wire_bytes(&request, ENCRYPT_PLAINTEXT, seed);
    int r = add_uid(&request, ENCRYPT_UID, err);
    if (r < 0)
        return r;
    r = call(k, "Encrypt", buf_str(&request), a, ret, err);
    explicit_bzero(request.p, request.n);
    return r < 0 ? err_wrap(err, "failed to encrypt DEK, error") : 0;
}

static int make_seed(struct secrecy_kms *k, struct arena *a, struct str key_id, struct seed **ret,
                     struct err *err)
{
    char seed[SEED_BYTES];
    struct str answer, bytes = { seed, sizeof(seed) };
    int r = cipher_random(seed, sizeof(seed), err);
    if (r < 0)
        return r;
    r = ask_encrypt(k, a, bytes, &answer, err);
    if (r < 0)
        return r;
    autobuf annotations = { 0 };
    struct secrecy_envelope e;
    r = read_encrypted(answer, &e, &annotations, err);
    if (r < 0)
        return r;
    if (!str_eq(e.key_id, key_id))
        return err_set(err, ERR_INTERNAL,
                       "failed to rotate DEK: Status and Encrypt name different keys");
    *ret = seed_new(&e, bytes);
    explicit_bzero(seed, sizeof(seed));
    return 0;
}

static bool is_current(struct secrecy_kms *k, struct str key_id)
{
    (void)pthread_mutex_lock(&k->lock);
    bool is = k->current && str_eq(buf_str(&k->current->key_id), key_id);
    (void)pthread_mutex_unlock(&k->lock);
    return is;
}

static int check(struct secrecy_kms *k, struct arena *a, struct err *err)
{
    struct status status = { 0 };
    struct seed *fresh = NULL;
    int64_t until = clock_mono_ns(&clock_system) + SECRECY_KMS_COAST_SEC * NS_PER_SEC;
    int r = ask_status(k, a, &status, err);
    if (r < 0)
        return r;
    r = check_status(k, &status, err);
    if (r < 0)
        return err_wrap(err, "kmsv2 Provider %s is not healthy, error", k->name);
    if (!is_current(k, status.key_id)) {
        r = make_seed(k, a, status.key_id, &fresh, err);
        if (r < 0)
            return err_wrap(err, "kmsv2 Provider %s is not healthy, error", k->name);
    }
    (void)pthread_mutex_lock(&k->lock);
    if (fresh)
        k->current = remember(k, fresh);
    k->writes_until_ns = until;
    (void)pthread_mutex_unlock(&k->lock);
    return 0;
}

int secrecy_kms_check(struct secrecy_kms *k, struct err *err)
{
    struct arena a;
    arena_init(&a);
    struct err why = ERR_INIT(&a);
    int r = check(k, &a, &why);
    atomic_store(&k->is_well, r == 0);
    if (r < 0)
        r = err_set(err, why.code, STR_FMT, STR_ARG(why.msg));
    arena_done(&a);
    return r;
}

/* ---- Seeds that are not remembered ---- */

static int ask_decrypt(struct secrecy_kms *k, struct arena *a, const struct secrecy_envelope *e,
                       struct str *ret, struct err *err)
{
    autobuf request = { 0 };
    struct wire_field f;
    struct str answer;
    wire_bytes(&request, DECRYPT_CIPHERTEXT, e->source);
    int r = add_uid(&request, DECRYPT_UID, err);
    if (r < 0)
        return r;
    wire_bytes(&request, DECRYPT_KEY_ID, e->key_id);
    buf_str_add(&request, e->annotations); /* the same number in both */
    r = call(k, "Decrypt", buf_str(&request), a, &answer, err);
    if (r < 0)
        return r;
    if (wire_next(&answer, &f) <= 0 || f.number != 1)
        return err_set(err, ERR_INTERNAL, "the answer has no plaintext");
    *ret = f.bytes;
    return 0;
}

static int fetch_one(struct secrecy_kms *k, struct arena *a, struct str head, struct err *err)
{
    struct secrecy_envelope e;
    struct str key;
    autobuf joined = { 0 };
    (void)secrecy_envelope_read(head, &e, &joined); /* it has no value; else it is good */
    int r = ask_decrypt(k, a, &e, &key, err);
    if (r < 0)
        return r;
    if (!seed_fits(e.source_type, key.n))
        return err_set(err, ERR_INTERNAL, "invalid seed length %zu used for key generation", key.n);
    struct seed *s = seed_new(&e, key);
    (void)pthread_mutex_lock(&k->lock);
    (void)remember(k, s);
    (void)pthread_mutex_unlock(&k->lock);
    return 0;
}

static struct wanted *take_wanted(struct secrecy_kms *k)
{
    (void)pthread_mutex_lock(&k->lock);
    struct wanted *w = k->wanted;
    if (w) {
        k->wanted = w->next;
        k->n_wanted--;
    }
    (void)pthread_mutex_unlock(&k->lock);
    return w;
}

static void note_fetch(struct secrecy_kms *k, struct str fault)
{
    size_t n = fault.n < sizeof(k->fetch_fault) ? fault.n : sizeof(k->fetch_fault) - 1;
    (void)pthread_mutex_lock(&k->lock);
    if (n)
        memcpy(k->fetch_fault, fault.p, n);
    k->fetch_fault[n] = '\0';
    (void)pthread_mutex_unlock(&k->lock);
}

size_t secrecy_kms_fetch(struct secrecy_kms *k)
{
    struct arena a;
    arena_init(&a);
    size_t n = 0;
    for (struct wanted *w; (w = take_wanted(k));) {
        struct err err = ERR_INIT(&a);
        bool fetched = fetch_one(k, &a, buf_str(&w->head), &err) == 0;
        note_fetch(k, fetched ? STR("") : err.msg);
        n += fetched;
        wanted_free(w);
        arena_reset(&a);
    }
    arena_done(&a);
    return n;
}
