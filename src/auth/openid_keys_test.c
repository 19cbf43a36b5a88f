/* What an issuer publishes. */
#include "auth/openid_keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "auth/suite_auth.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/json.h"

static struct arena a;

static int setup(void **state)
{
    (void)state;
    arena_init(&a);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&a);
    return 0;
}

static const char *discovery_fault(const char *text, struct str *ret_jwks)
{
    struct err err = ERR_INIT(&a);
    if (openid_discovery_read(&a, str_of(text), STR("https://i"), ret_jwks, &err) == 0)
        return NULL;
    return str_cstr(&a, err.msg);
}

static void the_discovery_document_is_of_the_issuer(void **state)
{
    (void)state;
    struct str jwks;
    assert_null(discovery_fault("{\"issuer\":\"https://i\",\"jwks_uri\":\"https://i/k\"}", &jwks));
    assert_true(str_eq(jwks, STR("https://i/k")));
    assert_string_equal(
        discovery_fault("{\"issuer\":\"https://j\",\"jwks_uri\":\"https://i/k\"}", &jwks),
        "oidc: issuer did not match the issuer returned by provider, expected \"https://i\" got "
        "\"https://j\"");
    assert_string_equal(discovery_fault("{\"issuer\":\"https://i\"}", &jwks),
                        "provider did not return JWKS URL");
    assert_string_equal(discovery_fault("[]", &jwks),
                        "oidc: failed to decode provider discovery object: it is not an object");
    assert_non_null(discovery_fault("<html>", &jwks));
}

/* A key, and its public half as an issuer shows it. */
static struct signature_key *make_key(const char *id, struct value *ret)
{
    struct err err = ERR_INIT(&a);
    struct str pem;
    struct signature_key *key;
    struct signature_jwk jwk;
    assert_int_equal(signature_make(&a, &pem, &err), 0);
    assert_int_equal(signature_key_read(pem, &key, &err), 0);
    assert_int_equal(signature_jwk(key, &a, &jwk, &err), 0);
    *ret = value_object();
    value_put(&a, ret, STR("kid"), value_string(str_of(id)));
    value_put(&a, ret, STR("kty"), value_string(jwk.kty));
    value_put(&a, ret, STR("crv"), value_string(jwk.crv));
    value_put(&a, ret, STR("x"), value_string(jwk.x));
    value_put(&a, ret, STR("y"), value_string(jwk.y));
    return key;
}

static struct openid_keys *read_keys(const struct value *list)
{
    struct err err = ERR_INIT(&a);
    struct value doc = value_object();
    struct openid_keys *keys;
    autobuf text = { 0 };
    value_put(&a, &doc, STR("keys"), value_borrow(list));
    json_write(&text, &doc);
    assert_int_equal(openid_keys_read(buf_str(&text), &keys, &err), 0);
    return keys;
}

/* A token that the key has signed and that names this id. */
static struct jwt token_of(const struct signature_key *key, const char *kid)
{
    struct err err = ERR_INIT(&a);
    struct value claims = suite_tree(&a, "{'sub':'me'}");
    struct str text;
    struct jwt t;
    assert_int_equal(jwt_sign(&a, key, &claims, &text, &err), 0);
    assert_int_equal(jwt_read(&a, text, &t, &err), 0);
    t.kid = str_of(kid);
    return t;
}

static void keys_verify_what_they_have_signed(void **state)
{
    (void)state;
    struct value list = value_array(), one, other;
    struct signature_key *key = make_key("k1", &one), *next = make_key("k2", &other);
    value_put_item(&a, &list, suite_tree(&a, "{'kty':'oct','kid':'k1','k':'AAAA'}"));
    value_put_item(&a, &list, suite_tree(&a, "{'kty':'OKP','crv':'Ed25519','x':'AAAA'}"));
    value_put_item(&a, &list, suite_tree(&a, "{'kty':'EC','crv':'P-256','x':'AAAA','y':'AAAA'}"));
    value_put_item(&a, &list, one);
    struct openid_keys *keys = read_keys(&list);
    assert_int_equal(openid_keys_count(keys), 1);
    struct jwt good = token_of(key, "k1"), nameless = token_of(key, ""),
               foreign = token_of(key, "k"), stolen = token_of(next, "k1");
    assert_true(openid_keys_signed(keys, &good));
    assert_true(openid_keys_signed(keys, &nameless));
    assert_false(openid_keys_signed(keys, &foreign));
    assert_false(openid_keys_signed(keys, &stolen));
    assert_false(openid_keys_signed(NULL, &good));
    good.alg = STR("none");
    assert_false(openid_keys_signed(keys, &good));
    openid_keys_free(keys);
    signature_key_free(key);
    signature_key_free(next);
}

static void what_is_no_set_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = { "", "[]", "nothing", "{\"keys\":1}" };
    struct openid_keys *keys;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct err err = ERR_INIT(&a);
        assert_int_equal(openid_keys_read(str_of(texts[i]), &keys, &err), -ERR_INVALID);
    }
    struct err err = ERR_INIT(&a);
    assert_int_equal(openid_keys_read(STR("{}"), &keys, &err), 0);
    assert_int_equal(openid_keys_count(keys), 0);
    openid_keys_free(keys);
}

static void a_set_has_an_end(void **state)
{
    (void)state;
    struct value list = value_array(), one;
    struct err err = ERR_INIT(&a);
    struct openid_keys *keys;
    autobuf text = { 0 };
    struct signature_key *key = make_key("k", &one);
    for (int i = 0; i <= OPENID_KEYS_MAX; i++)
        value_put_item(&a, &list, value_borrow(&one));
    struct value doc = value_object();
    value_put(&a, &doc, STR("keys"), list);
    json_write(&text, &doc);
    assert_int_equal(openid_keys_read(buf_str(&text), &keys, &err), -ERR_INVALID);
    signature_key_free(key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_discovery_document_is_of_the_issuer, setup, teardown),
        cmocka_unit_test_setup_teardown(keys_verify_what_they_have_signed, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_set_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_set_has_an_end, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
