/* Signed tokens: made, taken apart, and refused where something is not as it was signed. */
#include "auth/jwt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "auth/suite_auth.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/idiom.h"

static struct signature_key *new_key(struct arena *a)
{
    struct err err = ERR_INIT(a);
    struct signature_key *key;
    struct str pem;
    assert_int_equal(signature_make(a, &pem, &err), 0);
    assert_int_equal(signature_key_read(pem, &key, &err), 0);
    return key;
}

static struct str signed_token(struct arena *a, const struct signature_key *key, const char *claims)
{
    struct err err = ERR_INIT(a);
    struct value tree = suite_tree(a, claims);
    struct str token;
    assert_int_equal(jwt_sign(a, key, &tree, &token, &err), 0);
    return token;
}

static void what_was_signed_is_read_and_verified(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct signature_key *key = new_key(&a), *other = new_key(&a);
    const struct signature_key *keys[] = { other, key };
    struct str token = signed_token(&a, key, "{'iss':'x','n':1}");
    struct jwt t;
    assert_int_equal(jwt_read(&a, token, &t, &err), 0);
    assert_true(str_eq(t.alg, STR("ES256")));
    assert_true(str_eq(t.kid, signature_key_id(key)));
    assert_true(str_eq(value_text(&t.claims, "iss"), STR("x")));
    assert_ptr_equal(jwt_verify(&t, keys, 2), key);
    assert_null(jwt_verify(&t, keys, 1));
    t.kid = STR(""); /* then every key is tried */
    assert_ptr_equal(jwt_verify(&t, keys, 2), key);
    signature_key_free(key);
    signature_key_free(other);
    arena_done(&a);
}

static struct str encoded(struct arena *a, const char *json)
{
    autobuf text = { 0 }, out = { 0 };
    for (const char *p = json; *p; p++)
        buf_byte(&text, *p == '\'' ? '"' : *p);
    base64url_encode(&out, buf_str(&text));
    return arena_str(a, buf_str(&out));
}

/* The header is part of what is signed; one that names another algorithm is not believed. */
static void another_header_is_not_believed(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "{'alg':'none'}",  "{'alg':'HS256'}", "{'alg':'RS256'}",
        "{'alg':'es256'}", "{'alg':'ES384'}", "{}",
    };
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct signature_key *key = new_key(&a);
    const struct signature_key *keys[] = { key };
    struct str rest = signed_token(&a, key, "{'iss':'x'}");
    (void)str_cut(&rest, '.');
    for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
        struct jwt t;
        struct str header = encoded(&a, headers[i]);
        struct str token = arena_printf(&a, STR_FMT "." STR_FMT, STR_ARG(header), STR_ARG(rest));
        assert_int_equal(jwt_read(&a, token, &t, &err), 0);
        assert_null(jwt_verify(&t, keys, 1));
    }
    signature_key_free(key);
    arena_done(&a);
}

/* Nor is one that makes conditions, whoever has signed it. */
static void conditions_are_not_believed(void **state)
{
    (void)state;
    static const char *const headers[] = { "{'alg':'ES256','crit':['exp']}",
                                           "{'alg':'ES256','b64':false}" };
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct signature_key *key = new_key(&a);
    const struct signature_key *keys[] = { key };
    for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
        struct str header = encoded(&a, headers[i]), claims = encoded(&a, "{'iss':'x'}"), raw;
        struct str text = arena_printf(&a, STR_FMT "." STR_FMT, STR_ARG(header), STR_ARG(claims));
        autobuf signature = { 0 };
        assert_int_equal(signature_sign(key, &a, text, &raw, &err), 0);
        base64url_encode(&signature, raw);
        struct jwt t;
        struct str token =
            arena_printf(&a, STR_FMT "." STR_FMT, STR_ARG(text), STR_ARG(buf_str(&signature)));
        assert_int_equal(jwt_read(&a, token, &t, &err), 0);
        assert_null(jwt_verify(&t, keys, 1));
    }
    signature_key_free(key);
    arena_done(&a);
}

static void what_is_no_token_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *header, *claims, *signature, *why;
    } cases[] = {
        { "{'alg':'ES256'}", "[]", "", "the payload is not a JSON object" },
        { "{'alg':'ES256'}", "{'a':1,'a':2}", "", "the payload is not a JSON object" },
        { "{'alg':'ES256'", "{}", "", "the header is not a JSON object" },
        { "{'alg':5}", "{}", "", "the header's alg or kid is no text" },
        { "{'alg':'ES256','kid':5}", "{}", "", "the header's alg or kid is no text" },
        { "{'alg':'ES256'}", "{}", "!", "the signature is not base64url" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = ERR_INIT(&a);
        struct jwt t;
        struct str header = encoded(&a, cases[i].header), claims = encoded(&a, cases[i].claims);
        struct str token = arena_printf(&a, STR_FMT "." STR_FMT ".%s", STR_ARG(header),
                                        STR_ARG(claims), cases[i].signature);
        assert_int_equal(jwt_read(&a, token, &t, &err), -ERR_INVALID);
        assert_string_equal(str_cstr(&a, err.msg), cases[i].why);
    }
    static const char *const texts[] = { "", ".", "..", "a.b", "a.b.c.d", "!.e30.", "e30.!." };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct err err = ERR_INIT(&a);
        struct jwt t;
        assert_int_equal(jwt_read(&a, str_of(texts[i]), &t, &err), -ERR_INVALID);
    }
    arena_done(&a);
}

static void times_are_numbers(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct value v = suite_tree(&a, "{'i':12,'f':12.9,'s':'12','big':1e300}");
    int64_t t = 0;
    assert_true(jwt_time(value_get(&v, STR("i")), &t) && t == 12);
    assert_true(jwt_time(value_get(&v, STR("f")), &t) && t == 12);
    assert_false(jwt_time(value_get(&v, STR("s")), &t));
    assert_true(jwt_time(value_get(&v, STR("big")), &t) && t == INT64_MIN);
    assert_false(jwt_time(NULL, &t));
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_signed_is_read_and_verified),
        cmocka_unit_test(another_header_is_not_believed),
        cmocka_unit_test(conditions_are_not_believed),
        cmocka_unit_test(what_is_no_token_is_refused),
        cmocka_unit_test(times_are_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
