#include "server/openid.h"

#include "base/idiom.h"
#include "base/json.h"
#include "server/http/reply.h"
#include "base/banned.h"

static void put_text(struct arena *a, struct value *obj, const char *field, struct str text)
{
    if (text.n)
        value_put(a, obj, str_of(field), value_string(text));
}

static int key_object(struct arena *a, const struct signature_key *key, struct value *ret,
                      struct err *err)
{
    struct signature_jwk jwk;
    int r = signature_jwk(key, a, &jwk, err);
    if (r < 0)
        return r;
    *ret = value_object();
    put_text(a, ret, "use", STR("sig"));
    put_text(a, ret, "kty", jwk.kty);
    put_text(a, ret, "kid", signature_key_id(key));
    put_text(a, ret, "crv", jwk.crv);
    put_text(a, ret, "alg", str_of(signature_algorithm(key)));
    put_text(a, ret, "n", jwk.n);
    put_text(a, ret, "e", jwk.e);
    put_text(a, ret, "x", jwk.x);
    put_text(a, ret, "y", jwk.y);
    return 0;
}

static void reply_value(struct http_exchange *x, const char *type, const struct value *v)
{
    const struct http_header headers[] = {
        { STR("content-type"), str_of(type) },
        { STR("cache-control"), STR("public, max-age=3600") },
    };
    struct buf text = { 0 }; /* handed over */
    json_write(&text, v);
    reply_buffer(x, 200, headers, ARRAY_LEN(headers), &text);
}

void openid_serve_keys(const struct identity *i, struct http_exchange *x)
{
    struct arena *a = http_arena(x);
    struct err err = ERR_INIT(a);
    const struct account_rules *rules = identity_accounts(i);
    struct value keys = value_array(), set = value_object();
    for (size_t k = 0; k < rules->n_keys; k++) {
        struct value key;
        if (key_object(a, rules->keys[k], &key, &err) < 0) {
            reply_error(x, &err);
            return;
        }
        value_put_item(a, &keys, key);
    }
    value_put(a, &set, STR("keys"), keys);
    reply_value(x, "application/jwk-set+json", &set);
}

static struct value one_text(struct arena *a, struct str text)
{
    struct value list = value_array();
    value_put_item(a, &list, value_string(text));
    return list;
}

void openid_serve_configuration(const struct identity *i, struct http_exchange *x,
                                struct str address)
{
    struct arena *a = http_arena(x);
    const struct account_rules *rules = identity_accounts(i);
    struct value config = value_object(), algorithms = value_array();
    for (size_t k = 0; k < rules->n_keys; k++) {
        struct str alg = str_of(signature_algorithm(rules->keys[k]));
        bool is_said = false;
        value_each_item (it, &algorithms)
            is_said |= str_eq(value_str(it), alg);
        if (!is_said)
            value_put_item(a, &algorithms, value_string(alg));
    }
    put_text(a, &config, "issuer", rules->issuers[0]);
    put_text(a, &config, "jwks_uri",
             rules->keys_uri.n
                 ? rules->keys_uri
                 : arena_printf(a, "https://" STR_FMT "/openid/v1/jwks", STR_ARG(address)));
    value_put(a, &config, STR("response_types_supported"), one_text(a, STR("id_token")));
    value_put(a, &config, STR("subject_types_supported"), one_text(a, STR("public")));
    value_put(a, &config, STR("id_token_signing_alg_values_supported"), algorithms);
    reply_value(x, "application/json", &config);
}
