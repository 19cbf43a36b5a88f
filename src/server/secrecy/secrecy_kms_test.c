#include "server/secrecy/secrecy_kms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/wire.h"
#include "net/crypto/cipher.h"
#include "server/secrecy/secrecy_wire.h"
#include "server/secrecy/suite_kms.h"

static struct arena arena;
static char dir[] = "/tmp/secrecy-kms-XXXXXX", path[64];
static struct suite_kms fake;
static _Atomic unsigned n_woken;

static void on_wake(void *arg)
{
    (void)arg;
    n_woken++;
}

static struct secrecy_kms *new_kms(int64_t timeout_ns)
{
    struct secrecy_kms *k;
    struct secrecy_kms_options opt = { .name = STR("k"),
                                       .endpoint = arena_printf(&arena, "unix://%s", path),
                                       .timeout_ns = timeout_ns,
                                       .wake = on_wake };
    assert_int_equal(secrecy_kms_new(&opt, &k, NULL), 0);
    return k;
}

static int setup(void **state)
{
    (void)state;
    n_woken = 0;
    return suite_kms_start(&fake, path) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    suite_kms_stop(&fake);
    return 0;
}

static int open_it(struct secrecy_kms *k, const char *key, struct str sealed, struct str *ret,
                   bool *ret_stale, struct err *err)
{
    err_clear(err);
    return secrecy_kms_open(k, str_of(key), sealed, &arena, ret, ret_stale, err);
}

static struct str sealed_by(struct secrecy_kms *k, const char *key, struct str value)
{
    autobuf out = { 0 };
    struct err err = ERR_INIT(&arena);
    int r = secrecy_kms_seal(k, str_of(key), value, &out, &err);
    if (r < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return arena_str(&arena, buf_str(&out));
}

/* One seed seals all; another start has another, and asks for the first one once. */
static void values_come_back_after_a_restart(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct secrecy_kms *k = new_kms(10 * NS_PER_SEC);
    autobuf none = { 0 };
    assert_int_equal(secrecy_kms_seal(k, STR("/a"), STR("x"), &none, &err), -ERR_INTERNAL);
    assert_int_equal(secrecy_kms_check(k, &err), 0);
    assert_true(secrecy_kms_is_well(k));
    struct str one = sealed_by(k, "/a", STR("one")), two = sealed_by(k, "/b", STR("two")), plain;
    bool stale;
    assert_int_equal(fake.n_encrypt, 1);
    assert_null(memmem(one.p, one.n, "one", 3));
    assert_int_equal(open_it(k, "/a", one, &plain, &stale, &err), 0);
    assert_true(str_eq(plain, STR("one")));
    assert_false(stale);
    assert_int_equal(open_it(k, "/b", one, &plain, &stale, &err), -ERR_DAMAGED);
    assert_int_equal(fake.n_decrypt, 0);
    secrecy_kms_free(k);

    k = new_kms(10 * NS_PER_SEC);
    assert_int_equal(secrecy_kms_check(k, &err), 0);
    assert_int_equal(open_it(k, "/a", one, &plain, &stale, &err), -ERR_DAMAGED);
    assert_true(str_eq(err.msg, STR("failed to decrypt DEK, error: the KMS has not answered yet")));
    assert_int_equal(open_it(k, "/b", two, &plain, &stale, &err), -ERR_DAMAGED);
    assert_int_equal(n_woken, 1); /* both need the same */
    assert_int_equal(secrecy_kms_fetch(k), 1);
    assert_int_equal(open_it(k, "/a", one, &plain, &stale, &err), 0);
    assert_true(str_eq(plain, STR("one")));
    assert_false(stale); /* the service still has the same key */
    assert_int_equal(open_it(k, "/b", two, &plain, &stale, &err), 0);
    assert_int_equal(fake.n_decrypt, 1);
    secrecy_kms_free(k);
}

static void another_key_makes_another_seed(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct secrecy_kms *k = new_kms(10 * NS_PER_SEC);
    struct str plain;
    bool stale;
    assert_int_equal(secrecy_kms_check(k, &err), 0);
    struct str old = sealed_by(k, "/a", STR("old"));
    assert_int_equal(secrecy_kms_check(k, &err), 0);
    assert_int_equal(fake.n_encrypt, 1);
    fake.key_number = 2;
    assert_int_equal(secrecy_kms_check(k, &err), 0);
    assert_int_equal(fake.n_encrypt, 2);
    assert_int_equal(open_it(k, "/a", old, &plain, &stale, &err), 0);
    assert_true(stale);
    struct str now = sealed_by(k, "/a", STR("new"));
    assert_int_equal(open_it(k, "/a", now, &plain, &stale, &err), 0);
    assert_false(stale);
    assert_int_equal(fake.n_decrypt, 0);
    secrecy_kms_free(k);
}

/* What it has sealed so far goes on to be read and written with for a while. */
static void a_service_that_is_ill_is_told(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct secrecy_kms *k = new_kms(10 * NS_PER_SEC);
    struct str plain;
    bool stale;
    assert_int_equal(secrecy_kms_check(k, &err), 0);
    fake.is_ill = true;
    assert_int_equal(secrecy_kms_check(k, &err), -ERR_INTERNAL);
    assert_true(
        str_eq(err.msg, STR("kmsv2 Provider k is not healthy, error: got unexpected healthz "
                            "status: out of order")));
    assert_false(secrecy_kms_is_well(k));
    struct str sealed = sealed_by(k, "/a", STR("x"));
    assert_int_equal(open_it(k, "/a", sealed, &plain, &stale, &err), 0);
    secrecy_kms_free(k);
}

static void a_seed_that_is_refused_is_told(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct secrecy_kms *k = new_kms(10 * NS_PER_SEC);
    struct str plain;
    bool stale;
    assert_int_equal(secrecy_kms_check(k, &err), 0);
    struct str sealed = sealed_by(k, "/a", STR("x"));
    secrecy_kms_free(k);
    k = new_kms(10 * NS_PER_SEC);
    fake.fails = true;
    assert_int_equal(open_it(k, "/a", sealed, &plain, &stale, &err), -ERR_DAMAGED);
    assert_int_equal(secrecy_kms_fetch(k), 0);
    assert_int_equal(open_it(k, "/a", sealed, &plain, &stale, &err), -ERR_DAMAGED);
    assert_true(str_eq(err.msg, STR("failed to decrypt DEK, error: rpc error: code = 3 desc = this "
                                    "is not mine")));
    fake.fails = false; /* it is asked again */
    assert_int_equal(secrecy_kms_fetch(k), 1);
    assert_int_equal(open_it(k, "/a", sealed, &plain, &stale, &err), 0);
    secrecy_kms_free(k);
}

static void nobody_waits_for_ever(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct secrecy_kms *k = new_kms(50 * NS_PER_MS);
    fake.is_silent = true;
    assert_int_equal(secrecy_kms_check(k, &err), -ERR_INTERNAL);
    assert_true(str_starts(err.msg, STR("failed to perform status section of the healthz check for "
                                        "KMS Provider k, error: rpc error: code = 4")));
    secrecy_kms_free(k);
}

/* Older servers have a key where we have a seed. */
static void a_key_in_place_of_a_seed_opens(void **state)
{
    (void)state;
    struct err err = ERR_INIT(&arena);
    struct str key = STR("0123456789abcdef0123456789abcdef"), plain;
    autobuf sealed = { 0 }, source = { 0 }, value = { 0 };
    buf_str_add(&source, STR("key-1|"));
    for (size_t i = 0; i < key.n; i++)
        buf_byte(&source, (char)(key.p[i] ^ 0x55));
    assert_int_equal(cipher_seal(CIPHER_AESGCM, key, STR("/a"), STR("old"), &value, &err), 0);
    wire_bytes(&sealed, 1, buf_str(&value));
    wire_bytes(&sealed, 2, STR("key-1"));
    wire_bytes(&sealed, 3, buf_str(&source));
    wire_bytes(&sealed, 4, STR("\x0a\x0fkms.example.com\x12\x05key-1"));
    struct secrecy_kms *k = new_kms(10 * NS_PER_SEC);
    bool stale;
    assert_int_equal(secrecy_kms_check(k, &err), 0);
    assert_int_equal(open_it(k, "/a", buf_str(&sealed), &plain, &stale, &err), -ERR_DAMAGED);
    assert_int_equal(secrecy_kms_fetch(k), 1);
    assert_int_equal(open_it(k, "/a", buf_str(&sealed), &plain, &stale, &err), 0);
    assert_true(str_eq(plain, STR("old")));
    assert_true(stale);
    secrecy_kms_free(k);
}

/* ---- What is stored ---- */

static struct secrecy_envelope good(void)
{
    return (struct secrecy_envelope){ .value = STR("v"),
                                      .key_id = STR("id"),
                                      .source = STR("s"),
                                      .annotations = STR(""),
                                      .source_type = SECRECY_SEED };
}

static const char *fault_of(const struct secrecy_envelope *e)
{
    const char *fault = secrecy_envelope_fault(e);
    return fault ? fault : "";
}

static void envelopes_have_limits(void **state)
{
    (void)state;
    static char big[40000];
    struct secrecy_envelope e = good();
    assert_string_equal(fault_of(&e), "");
    e.value.n = 0;
    assert_string_equal(fault_of(&e), "encrypted data is empty");
    e = good();
    e.key_id = (struct str){ big, 1025 };
    assert_string_equal(fault_of(&e), "failed to validate key id: it exceeds the max size of 1024");
    e.key_id.n = 0;
    assert_string_equal(fault_of(&e), "failed to validate key id: keyID is empty");
    e = good();
    e.source = (struct str){ big, 1025 };
    assert_string_equal(fault_of(&e),
                        "failed to validate encrypted DEK source: it exceeds the max size of 1024");
    e = good();
    e.annotations = (struct str){ big, sizeof(big) };
    assert_string_equal(fault_of(&e),
                        "failed to validate annotations: they exceed the max size of 32768");
    e = good();
    e.source_type = 2;
    assert_string_equal(fault_of(&e), "unknown encryptedDEKSourceType");
}

/* In any order, with unknown fields in between; cut anywhere it is refused or has less in it. */
static void envelopes_are_read(void **state)
{
    (void)state;
    autobuf text = { 0 }, joined = { 0 };
    struct secrecy_envelope e;
    wire_bytes(&text, 4, STR("a"));
    wire_int(&text, 5, SECRECY_SEED);
    wire_int(&text, 77, 300);
    wire_bytes(&text, 2, STR("id"));
    wire_bytes(&text, 4, STR("b"));
    wire_bytes(&text, 3, STR("source"));
    wire_bytes(&text, 4, STR("c"));
    wire_bytes(&text, 1, STR("value"));
    assert_null(secrecy_envelope_read(buf_str(&text), &e, &joined));
    assert_true(str_eq(e.value, STR("value")));
    assert_true(str_eq(e.key_id, STR("id")));
    assert_true(str_eq(e.source, STR("source")));
    assert_true(str_eq(e.annotations, STR("\x22\x01"
                                          "a\x22\x01"
                                          "b\x22\x01"
                                          "c")));
    assert_int_equal(e.source_type, SECRECY_SEED);
    for (size_t n = 0; n < text.n; n++) {
        buf_reset(&joined);
        assert_non_null(secrecy_envelope_read(str_take(buf_str(&text), n), &e, &joined));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    arena_init(&arena);
    if (!mkdtemp(dir))
        return 1;
    (void)snprintf(path, sizeof(path), "%s/s", dir);
    const struct CMUnitTest tests[] = {
        TEST(values_come_back_after_a_restart),
        TEST(another_key_makes_another_seed),
        TEST(a_service_that_is_ill_is_told),
        TEST(a_seed_that_is_refused_is_told),
        TEST(nobody_waits_for_ever),
        TEST(a_key_in_place_of_a_seed_opens),
        cmocka_unit_test(envelopes_have_limits),
        cmocka_unit_test(envelopes_are_read),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)unlink(path);
    (void)rmdir(dir);
    arena_done(&arena);
    return failed;
}
