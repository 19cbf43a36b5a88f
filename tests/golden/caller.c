#include "caller.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "net/crypto/signature.h"

struct callers {
    struct callers_options opt;
    struct pki_pair other_ca;
    pthread_mutex_t lock; /* over what follows */
    struct arena arena;
    struct map fetchers; /* by the JSON of the certificate; "" has none */
};

static struct str field_text(const struct value *v, const char *field)
{
    return value_str(value_get(v, str_of(field)));
}

/* The certificate that a case describes; ERR_NOT_FOUND if there is no such authority. */
static int issue(struct callers *c, const struct value *wanted, struct pki_pair *ret,
                 struct err *err)
{
    struct str ca_name = field_text(wanted, "ca"), groups[16];
    const struct pki_pair *ca = &c->opt.client_ca;
    size_t n = 0;
    if (str_eq(ca_name, STR("other")))
        ca = &c->other_ca;
    else if (str_eq(ca_name, STR("proxy")))
        ca = &c->opt.proxy_ca;
    if (!ca->key_pem.n)
        return err_set(err, ERR_NOT_FOUND, "no authority signs for " STR_FMT, STR_ARG(ca_name));
    value_each_item (it, value_get(wanted, STR("o")))
        if (n < ARRAY_LEN(groups))
            groups[n++] = value_str(it);
    bool expired = value_is_true(value_get(wanted, STR("expired")));
    bool server = str_eq(field_text(wanted, "usage"), STR("server"));
    const struct pki_leaf leaf = {
        .common_name = field_text(wanted, "cn"),
        .is_nameless = !value_get(wanted, STR("cn")),
        .uid = field_text(wanted, "uid"),
        .organizations = groups,
        .n_organizations = n,
        .server = server,
        .client = !server,
        .now_sec = time(NULL) - (expired ? 2 * 24 * 3600 : 60),
        .days = 1,
    };
    return pki_issue(&c->arena, ca, &leaf, ret, err);
}

/* The lock is held. */
static struct fetcher *fetcher_of(struct callers *c, const struct value *cert)
{
    autobuf key = { 0 };
    struct err err = ERR_INIT(&c->arena);
    struct fetcher_options tls = { .ca_pem = c->opt.server_ca_pem };
    struct pki_pair pair;
    if (cert)
        json_write(&key, cert);
    struct fetcher *f = map_get(&c->fetchers, buf_str(&key));
    if (f)
        return f;
    if (cert && issue(c, cert, &pair, &err) < 0)
        return NULL;
    if (cert) {
        tls.cert_pem = pair.cert_pem;
        tls.key_pem = pair.key_pem;
    }
    f = fetcher_new(&tls);
    (void)map_set(&c->fetchers, arena_str(&c->arena, buf_str(&key)), f);
    return f;
}

/* ---- Tokens ---- */

/* "now", "now+N" and "now-N" are times. */
static void set_times(struct arena *a, struct value *claims)
{
    for (size_t i = 0; i < claims->n; i++) {
        struct value *v = value_edit_nth(a, claims, i);
        struct str text = value_str(v);
        int64_t away = 0;
        if (!str_starts(text, STR("now")))
            continue;
        text = str_skip(text, 3);
        if (str_starts(text, STR("+")))
            text = str_skip(text, 1);
        (void)str_to_i64(text, &away);
        *v = value_int(time(NULL) + away);
    }
}

static void set_headers(struct arena *a, struct value *header, const struct value *wanted)
{
    value_each_field (f, wanted) {
        if (f->val.type == VALUE_NULL)
            value_drop(a, header, f->key);
        else
            value_put(a, header, f->key, value_clone(a, &f->val));
    }
}

static void add_part(struct buf *out, const struct value *part)
{
    autobuf json = { 0 };
    json_write(&json, part);
    base64url_encode(out, buf_str(&json));
}

struct str caller_mint(struct callers *c, struct arena *a, const struct value *wanted)
{
    struct err err = ERR_INIT(a);
    bool is_other = str_eq(field_text(wanted, "key"), STR("other-sa"));
    struct signature_key *key;
    struct value header = value_object(), claims;
    struct str signature;
    autobuf text = { 0 };
    if (signature_key_read(is_other ? c->opt.other_key : c->opt.account_key, &key, &err) < 0)
        return STR("");
    claims = value_clone(a, value_get(wanted, STR("claims")));
    set_times(a, &claims);
    value_put(a, &header, STR("alg"), value_string(str_of(signature_algorithm(key))));
    value_put(a, &header, STR("kid"), value_string(arena_str(a, signature_key_id(key))));
    set_headers(a, &header, value_get(wanted, STR("header")));
    add_part(&text, &header);
    buf_byte(&text, '.');
    add_part(&text, &claims);
    int r = signature_sign(key, a, buf_str(&text), &signature, &err);
    signature_key_free(key);
    if (r < 0)
        return STR("");
    buf_byte(&text, '.');
    base64url_encode(&text, signature);
    return arena_str(a, buf_str(&text));
}

/* ---- Callers ---- */

static struct value proxy_certificate(struct arena *a)
{
    struct value cert = value_object();
    value_put(a, &cert, STR("cn"), value_string(STR("aggregator")));
    value_put(a, &cert, STR("ca"), value_string(STR("proxy")));
    return cert;
}

struct fetcher *caller_fetcher(struct callers *c, struct arena *a, const struct value *as,
                               struct str *ret_token)
{
    const struct value *cert = value_get(as, STR("cert"));
    struct value proxy;
    struct str name = as ? value_str(as) : STR("admin");
    *ret_token = value_str(value_get(as, STR("token")));
    if (name.n && !str_eq(name, STR("anonymous")))
        *ret_token = arena_printf(a, STR_FMT "-token", STR_ARG(name));
    if (value_is_true(value_get(as, STR("proxy")))) {
        proxy = proxy_certificate(a);
        cert = &proxy;
    }
    pthread_mutex_lock(&c->lock);
    struct fetcher *f = fetcher_of(c, cert);
    pthread_mutex_unlock(&c->lock);
    return f;
}

struct callers *callers_new(const struct callers_options *opt)
{
    struct callers *c = mem_new(struct callers);
    c->opt = *opt;
    arena_init(&c->arena);
    pthread_mutex_init(&c->lock, NULL);
    struct err err = ERR_INIT(&c->arena);
    (void)pki_make_ca(&c->arena, STR("other"), time(NULL) - 60, 2, &c->other_ca, &err);
    return c;
}

struct callers *callers_free(struct callers *c)
{
    struct str key;
    void *f;
    for (size_t pos = 0; map_next(&c->fetchers, &pos, &key, &f);)
        fetcher_free(f);
    map_done(&c->fetchers);
    pthread_mutex_destroy(&c->lock);
    arena_done(&c->arena);
    free(c);
    return NULL;
}
