#include "auth/jwt.h"

#include <math.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/banned.h"

enum { TOKEN_MAX = 64 << 10 };

bool jwt_looks_like(struct str token)
{
    size_t dots = 0;
    for (size_t i = 0; i < token.n; i++)
        dots += token.p[i] == '.';
    return dots == 2;
}

static int read_object(struct arena *a, struct str part, const char *what, struct value *ret,
                       struct err *err)
{
    autobuf text = { 0 };
    if (!base64url_decode(&text, part))
        return err_set(err, ERR_INVALID, "the %s is not base64url", what);
    if (json_read(a, arena_str(a, buf_str(&text)), NULL, ret, err) < 0 ||
        ret->type != VALUE_OBJECT || value_find_duplicate(a, ret).n)
        return err_set(err, ERR_INVALID, "the %s is not a JSON object", what);
    return 0;
}

static bool is_text_or_absent(const struct value *v)
{
    return !v || v->type == VALUE_STRING;
}

/* "b64" is a condition, too, even if nobody says that it is critical. */
static int read_header(struct arena *a, struct str part, struct jwt *ret, struct err *err)
{
    struct value header;
    int r = read_object(a, part, "header", &header, err);
    if (r < 0)
        return r;
    if (!is_text_or_absent(value_get(&header, STR("alg"))) ||
        !is_text_or_absent(value_get(&header, STR("kid"))))
        return err_set(err, ERR_INVALID, "the header's alg or kid is no text");
    ret->is_conditional = value_get(&header, STR("crit")) || value_get(&header, STR("b64"));
    ret->alg = value_text(&header, "alg");
    ret->kid = value_text(&header, "kid");
    return 0;
}

int jwt_read(struct arena *a, struct str token, struct jwt *ret, struct err *err)
{
    if (token.n > TOKEN_MAX || !jwt_looks_like(token))
        return err_set(err, ERR_INVALID, "it does not have three parts");
    struct str rest = token, header = str_cut(&rest, '.'), claims = str_cut(&rest, '.');
    *ret = (struct jwt){ .text = str_take(token, header.n + 1 + claims.n) };
    int r = read_header(a, header, ret, err);
    if (r < 0)
        return r;
    r = read_object(a, claims, "payload", &ret->claims, err);
    if (r < 0)
        return r;
    autobuf signature = { 0 };
    if (!base64url_decode(&signature, rest))
        return err_set(err, ERR_INVALID, "the signature is not base64url");
    ret->signature = arena_str(a, buf_str(&signature));
    return 0;
}

bool jwt_could_be_of(const struct jwt *t, const struct signature_key *key)
{
    return !t->kid.n || str_eq(t->kid, signature_key_id(key));
}

const struct signature_key *jwt_verify(const struct jwt *t, const struct signature_key *const *keys,
                                       size_t n_keys)
{
    if (t->is_conditional)
        return NULL;
    for (size_t i = 0; i < n_keys; i++)
        if (jwt_could_be_of(t, keys[i]) && str_eq(t->alg, str_of(signature_algorithm(keys[i]))) &&
            signature_fits(keys[i], t->text, t->signature))
            return keys[i];
    return NULL;
}

int jwt_sign(struct arena *a, const struct signature_key *key, const struct value *claims,
             struct str *ret, struct err *err)
{
    autobuf text = { 0 }, json = { 0 }, signature = { 0 };
    struct value header = value_object();
    value_put(a, &header, STR("alg"), value_string(str_of(signature_algorithm(key))));
    value_put(a, &header, STR("kid"), value_string(signature_key_id(key)));
    json_write(&json, &header);
    base64url_encode(&text, buf_str(&json));
    buf_byte(&text, '.');
    buf_reset(&json);
    json_write(&json, claims);
    base64url_encode(&text, buf_str(&json));
    struct str raw;
    int r = signature_sign(key, a, buf_str(&text), &raw, err);
    if (r < 0)
        return r;
    base64url_encode(&signature, raw);
    buf_byte(&text, '.');
    buf_str_add(&text, buf_str(&signature));
    *ret = arena_str(a, buf_str(&text));
    return 0;
}

bool jwt_time(const struct value *claim, int64_t *ret)
{
    double t;
    if (value_to_int(claim, ret))
        return true;
    if (!value_to_double(claim, &t))
        return false;
    *ret = fabs(t) < 9e18 ? (int64_t)t : INT64_MIN;
    return true;
}
