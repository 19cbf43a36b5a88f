#include "auth/openid_keys.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/banned.h"

struct openid_keys {
    struct arena arena; /* of the ids */
    struct key {
        struct str id;
        struct signature_key *key;
    } keys[OPENID_KEYS_MAX];
    size_t n;
};

static int read_object(struct arena *a, struct str text, const char *what, struct value *ret,
                       struct err *err)
{
    struct err why = ERR_INIT(a);
    if (json_read(a, text, NULL, ret, &why) < 0)
        return err_set(err, ERR_INVALID, "oidc: failed to decode %s: " STR_FMT, what,
                       STR_ARG(why.msg));
    if (ret->type != VALUE_OBJECT)
        return err_set(err, ERR_INVALID, "oidc: failed to decode %s: it is not an object", what);
    return 0;
}

int openid_discovery_read(struct arena *a, struct str text, struct str issuer, struct str *ret_jwks,
                          struct err *err)
{
    struct value doc;
    int r = read_object(a, text, "provider discovery object", &doc, err);
    if (r < 0)
        return r;
    struct str named = value_text(&doc, "issuer");
    if (!str_eq(named, issuer))
        return err_set(err, ERR_INVALID,
                       "oidc: issuer did not match the issuer returned by provider, expected "
                       "\"" STR_FMT "\" got \"" STR_FMT "\"",
                       STR_ARG(issuer), STR_ARG(named));
    *ret_jwks = arena_str(a, value_text(&doc, "jwks_uri"));
    return ret_jwks->n ? 0 : err_set(err, ERR_INVALID, "provider did not return JWKS URL");
}

static void add_key(struct openid_keys *k, struct arena *scratch, const struct value *v)
{
    struct err ignored = ERR_INIT(scratch);
    const struct signature_jwk jwk = {
        .kty = value_text(v, "kty"),
        .crv = value_text(v, "crv"),
        .n = value_text(v, "n"),
        .e = value_text(v, "e"),
        .x = value_text(v, "x"),
        .y = value_text(v, "y"),
    };
    struct key *key = &k->keys[k->n];
    if (signature_key_of_jwk(&jwk, &key->key, &ignored) < 0)
        return;
    key->id = arena_str(&k->arena, value_text(v, "kid"));
    k->n++;
}

static int read_set(struct openid_keys *k, struct arena *scratch, struct str text, struct err *err)
{
    struct value doc;
    int r = read_object(scratch, text, "keys", &doc, err);
    if (r < 0)
        return r;
    const struct value *list = value_get(&doc, STR("keys"));
    if (list && list->type != VALUE_ARRAY && list->type != VALUE_NULL)
        return err_set(err, ERR_INVALID, "oidc: failed to decode keys: keys is not a list");
    value_each_item (it, list) {
        if (k->n == OPENID_KEYS_MAX)
            return err_set(err, ERR_INVALID, "oidc: there are more than %d keys", OPENID_KEYS_MAX);
        add_key(k, scratch, it);
    }
    return 0;
}

int openid_keys_read(struct str text, struct openid_keys **ret, struct err *err)
{
    struct openid_keys *k = mem_new(struct openid_keys);
    struct arena scratch;
    arena_init(&k->arena);
    arena_init(&scratch);
    int r = read_set(k, &scratch, text, err);
    arena_done(&scratch);
    if (r < 0) {
        openid_keys_free(k);
        return r;
    }
    *ret = k;
    return 0;
}

struct openid_keys *openid_keys_free(struct openid_keys *k)
{
    if (!k)
        return NULL;
    for (size_t i = 0; i < k->n; i++)
        signature_key_free(k->keys[i].key);
    arena_done(&k->arena);
    free(k);
    return NULL;
}

size_t openid_keys_count(const struct openid_keys *k)
{
    return k->n;
}

bool openid_keys_signed(const struct openid_keys *k, const struct jwt *t)
{
    for (size_t i = 0; k && !t->is_conditional && i < k->n; i++)
        if ((!t->kid.n || str_eq(t->kid, k->keys[i].id)) &&
            signature_fits_as(k->keys[i].key, t->alg, t->text, t->signature))
            return true;
    return false;
}
