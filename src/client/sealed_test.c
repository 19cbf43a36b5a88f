/* What is sealed comes out as it was, and one finds one's way in it. */
#include "client/sealed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/idiom.h"
#include "base/json.h"

static const struct sealed_own own = { STR("web"), STR("shop") };

static struct value tree(struct arena *a, struct str text)
{
    struct value v;
    assert_int_equal(json_read(a, text, NULL, &v, NULL), 0);
    return v;
}

static void check(struct arena *a, const struct value *v)
{
    autobuf sealed = { 0 }, json = { 0 };
    json_write(&json, v);
    sealed_write(&sealed, v, &own);
    assert_true(sealed.n <= json.n);
    assert_string_equal(str_cstr(a, sealed_open(a, buf_str(&sealed), &own)),
                        str_cstr(a, buf_str(&json)));
}

static void round_trips(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{}",
        "{\"metadata\":{}}",
        "{\"metadata\":null,\"kind\":3}",
        "{\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\"}}",
        "{\"metadata\":{\"namespace\":\"\",\"name\":\"other\",\"labels\":{\"name\":\"web\"}}}",
        "{\"metadata\":{\"name\":\"web\",\"name\":\"web\",\"uid\":\"\\u0001\\u001f\\\"\\\\\"}}",
        "{\"spec\":{\"containers\":[{\"name\":\"web\",\"image\":\"\\u001d\"},[],{},[[1,-2.5e3]]]}}",
        "{\"\":{\"a b\":\"\\u00e9\\n\"},\"terminationMessagePath\":[true,false,null,\"x\"]}",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct arena a;
        arena_init(&a);
        struct value v = tree(&a, str_of(texts[i]));
        check(&a, &v);
        arena_done(&a);
    }
}

/* Keys of all sorts, also such as begin like known ones. */
static struct str some_key(struct arena *a, unsigned *seed)
{
    static const char *const keys[] = { "name",      "namespace", "metadata", "status", "Status",
                                        "resources", "ports",     "maxSurge", "data",   "x",
                                        "kin",       "kinds",     "image",    "",       "\"\\" };
    struct str key = str_of(keys[(size_t)rand_r(seed) % ARRAY_LEN(keys)]);
    return rand_r(seed) % 4 ? key : arena_printf(a, STR_FMT "%d", STR_ARG(key), rand_r(seed) % 9);
}

static struct value some_value(struct arena *a, unsigned *seed, int depth)
{
    static const char *const texts[] = { "web", "shop", "", "\x01\x1d\x1e\x1f", "\"}]{[,:\\" };
    int sort = rand_r(seed) % (depth > 0 ? 5 : 3);
    struct value v = sort == 3 ? value_array() : value_object();
    if (sort == 0)
        return value_int(rand_r(seed) - 1000);
    if (sort == 1)
        return value_bool(rand_r(seed) % 2);
    if (sort == 2)
        return value_string(str_of(texts[(size_t)rand_r(seed) % ARRAY_LEN(texts)]));
    for (int n = rand_r(seed) % 6; n > 0; n--) {
        if (sort == 3)
            value_put_item(a, &v, some_value(a, seed, depth - 1));
        else
            value_put(a, &v, some_key(a, seed), some_value(a, seed, depth - 1));
    }
    return v;
}

static void chance(void **state)
{
    (void)state;
    unsigned seed = 7;
    for (int i = 0; i < 5000; i++) {
        struct arena a;
        arena_init(&a);
        struct value v = value_object();
        value_put(&a, &v, STR("metadata"), some_value(&a, &seed, 3));
        value_put(&a, &v, some_key(&a, &seed), some_value(&a, &seed, 5));
        check(&a, &v);
        arena_done(&a);
    }
}

static void members(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct value v = tree(&a, STR("{\"kind\":\"K\",\"odd\":[{\"}\":\"]\"}],\"metadata\":{\"name\":"
                                  "\"web\",\"maxUnavailable\":1,\"namespace\":\"shop\"}}"));
    autobuf sealed = { 0 };
    sealed_write(&sealed, &v, &own);
    struct sealed_member m, in;
    assert_true(sealed_first(sealed.p, &m));
    assert_true(str_eq(m.key, STR("kind")));
    assert_true(sealed_next(&m));
    assert_true(str_eq(m.key, STR("odd")));
    assert_true(sealed_next(&m));
    assert_true(str_eq(m.key, STR("metadata")));
    assert_true(sealed_first(m.value, &in));
    assert_true(str_eq(in.key, STR("name")));
    assert_true(sealed_next(&in));
    assert_true(str_eq(in.key, STR("maxUnavailable")) && *in.value == '1');
    assert_true(sealed_next(&in));
    assert_true(str_eq(in.key, STR("namespace")));
    assert_false(sealed_next(&in));
    assert_false(sealed_next(&m));
    assert_false(sealed_first("{}", &m));
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(chance),
        cmocka_unit_test(members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
