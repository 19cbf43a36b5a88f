#include "server/object/token.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/base64.h"
#include "base/idiom.h"

static struct arena arena;

#define PREFIX STR("/registry/configmaps/a/")

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static struct str encoded(struct str json)
{
    autobuf text = { 0 };
    base64url_encode(&text, json);
    return arena_str(&arena, buf_str(&text));
}

static void check_same(struct str a, struct str b)
{
    assert_string_equal(str_cstr(&arena, a), str_cstr(&arena, b));
    assert_int_equal(a.n, b.n);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    static const struct str keys[] = { { "p1\0", 3 }, { "x", 1 }, { "ns/p\"1\xc3\xa4\0", 9 } };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct str key = arena_printf(&arena, STR_FMT, STR_ARG(PREFIX));
        char *start = arena_alloc(&arena, key.n + keys[i].n, 1);
        memcpy(start, key.p, key.n);
        memcpy(start + key.n, keys[i].p, keys[i].n);
        key = (struct str){ start, key.n + keys[i].n };

        struct token t;
        struct err err = ERR_INIT(&arena);
        struct str text = token_write(&arena, &(struct token){ 7, 1234, key }, PREFIX);
        assert_int_equal(token_read(&arena, text, PREFIX, &t, &err), 0);
        assert_int_equal(t.rev, 7);
        assert_int_equal(t.began_ms, 1234);
        check_same(t.start, key);
    }
}

/* The very bytes of upstream's. */
static void the_form_is_known(void **state)
{
    (void)state;
    struct str key = { "/registry/configmaps/a/p1\0", 26 };
    check_same(token_write(&arena, &(struct token){ 42, 0, key }, PREFIX),
               encoded(STR("{\"v\":\"meta.k8s.io/v1\",\"rv\":42,\"start\":\"p1\\u0000\"}")));
    check_same(token_write(&arena, &(struct token){ TOKEN_NEWEST, 0, key }, PREFIX),
               encoded(STR("{\"v\":\"meta.k8s.io/v1\",\"rv\":-1,\"start\":\"p1\\u0000\"}")));
}

static void check_refused(struct str text, const char *why)
{
    struct token t;
    struct err err = ERR_INIT(&arena);
    assert_int_equal(token_read(&arena, text, PREFIX, &t, &err), -ERR_BAD_REQUEST);
    check_same(err.msg,
               arena_printf(&arena, "invalid continue token: continue key is not valid: %s", why));
}

static void broken_ones_are_refused(void **state)
{
    (void)state;
    check_refused(STR("!!!"), "illegal base64 data at input byte 0");
    check_refused(STR("ab!c"), "illegal base64 data at input byte 2");
    check_refused(STR("abcde"), "illegal base64 data at input byte 4");
    check_refused(STR("ab=="), "illegal base64 data at input byte 2");
    check_refused(STR("abc"), "invalid character 'i' looking for beginning of value");
    check_refused(STR("bm90IGpzb24"), "invalid character 'o' in literal null (expecting 'u')");
    check_refused(STR("e30"), "server does not recognize this encoded version ");
    check_refused(encoded(STR("{\"v\":")), "unexpected end of JSON input");
    check_refused(encoded(STR("[]")),
                  "json: cannot unmarshal array into Go value of type storage.continueToken");
}

static void changed_ones_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *json, *why;
    } rows[] = {
        { "{\"v\":\"meta.k8s.io/v9\",\"rv\":1,\"start\":\"x\"}",
          "server does not recognize this encoded version meta.k8s.io/v9" },
        { "{\"v\":\"meta.k8s.io/v1\",\"rv\":0,\"start\":\"x\"}",
          "incorrect encoded start resourceVersion (version meta.k8s.io/v1)" },
        { "{\"v\":\"meta.k8s.io/v1\",\"rv\":1,\"start\":\"\"}",
          "encoded start key empty (version meta.k8s.io/v1)" },
        { "{\"v\":\"meta.k8s.io/v1\",\"rv\":1,\"start\":\"../../x\"}", "../../x" },
        { "{\"v\":\"meta.k8s.io/v1\",\"rv\":1,\"start\":\"/../x\"}", "/../x" },
        { "{\"v\":\"meta.k8s.io/v1\",\"rv\":1,\"start\":\"a/../../x\"}", "a/../../x" },
        { "{\"v\":\"meta.k8s.io/v1\",\"rv\":1,\"start\":\"a//x\"}", "a//x" },
        { "{\"v\":\"meta.k8s.io/v1\",\"rv\":1,\"start\":\"./x\"}", "./x" },
        { "{\"v\":\"meta.k8s.io/v1\",\"rv\":1,\"start\":\"x/..\"}", "x/.." },
        { "{\"v\":\"meta.k8s.io/v1\",\"rv\":\"1\",\"start\":\"x\"}",
          "json: cannot unmarshal string into Go struct field continueToken.rv of type int64" },
        { "{\"v\":\"meta.k8s.io/v1\",\"rv\":1,\"start\":{}}",
          "json: cannot unmarshal object into Go struct field continueToken.start of type string" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_refused(encoded(str_of(rows[i].json)), rows[i].why);
}

/* A token of another resource or namespace only says where in our own range to begin. */
static void a_foreign_key_stays_below_the_prefix(void **state)
{
    (void)state;
    struct token t;
    struct err err = ERR_INIT(&arena);
    struct str text =
        encoded(STR("{\"V\":\"meta.k8s.io/v1\",\"rv\":-9,\"start\":\"/registry/secrets/b/x\"}"));
    assert_int_equal(token_read(&arena, text, PREFIX, &t, &err), 0);
    assert_int_equal(t.rev, -9);
    check_same(t.start, STR("/registry/configmaps/a/registry/secrets/b/x"));
}

static void lists_grow_old(void **state)
{
    (void)state;
    static const struct {
        struct token token;
        bool is_old;
    } rows[] = {
        { { 5, 1000, { "", 0 } }, true },
        { { 5, 6000, { "", 0 } }, false },
        { { 5, 999999, { "", 0 } }, false },          /* from another clock, or made up */
        { { 5, 0, { "", 0 } }, false },               /* not said */
        { { TOKEN_NEWEST, 1000, { "", 0 } }, false }, /* as of now, whenever it was made */
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(token_is_old(&rows[i].token, 10 * NS_PER_SEC, 5 * NS_PER_SEC),
                         rows[i].is_old);
    static const struct str odd[] = {
        STR("{\"v\":\"meta.k8s.io/v1\",\"rv\":1,\"start\":\"a\",\"t\":"
            "\"x\"}"),
        STR("{\"v\":\"meta.k8s.io/v1\",\"rv\":1,\"start\":\"a\",\"t\":"
            "-5}")
    };
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        struct token t;
        struct err err = ERR_INIT(&arena);
        assert_int_equal(token_read(&arena, encoded(odd[i]), PREFIX, &t, &err), 0);
        assert_int_equal(t.began_ms, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(lists_grow_old),
        cmocka_unit_test(the_form_is_known),
        cmocka_unit_test(broken_ones_are_refused),
        cmocka_unit_test(changed_ones_are_refused),
        cmocka_unit_test(a_foreign_key_stays_below_the_prefix),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
