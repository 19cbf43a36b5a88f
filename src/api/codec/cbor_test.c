#include "api/codec/cbor.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "api/codec/cbor_number.h"
#include "api/go/gofloat.h"
#include "api/suite_json.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/limits.h"

static struct str unhex(const char *text)
{
    size_t n = strlen(text) / 2;
    char *bytes = arena_alloc(&suite_arena, n + 1, 1);
    for (size_t i = 0; i < n; i++) {
        char pair[3] = { text[2 * i], text[2 * i + 1], '\0' };
        bytes[i] = (char)strtoul(pair, NULL, 16);
    }
    return (struct str){ bytes, n };
}

static const char *hexed(struct str bytes)
{
    autobuf out = { 0 };
    for (size_t i = 0; i < bytes.n; i++)
        buf_printf(&out, "%02x", (unsigned char)bytes.p[i]);
    return str_cstr(&suite_arena, buf_str(&out));
}

static struct value json(const char *text)
{
    struct value v;
    assert_int_equal(json_read(&suite_arena, str_of(text), NULL, &v, NULL), 0);
    return v;
}

/* Mostly Appendix A of RFC 8949 and the table of apimachinery's decoder. */
static void items_become_json(void **state)
{
    (void)state;
    static const struct {
        const char *hex, *json;
    } rows[] = {
        { "00", "0" },
        { "17", "23" },
        { "1818", "24" },
        { "1903e8", "1000" },
        { "1a000f4240", "1000000" },
        { "1b000000e8d4a51000", "1000000000000" },
        { "1b7fffffffffffffff", "9223372036854775807" },
        { "20", "-1" },
        { "29", "-10" },
        { "3863", "-100" },
        { "3b7fffffffffffffff", "-9223372036854775808" },
        { "1b0000000000000001", "1" },
        { "f90000", "0" },
        { "f98000", "-0" },
        { "f93c00", "1" },
        { "f93e00", "1.5" },
        { "f94200", "3" },
        { "f97bff", "65504" },
        { "f90001", "5.960464477539063e-8" },
        { "f90400", "0.00006103515625" },
        { "f9c400", "-4" },
        { "fa47c35000", "100000" },
        { "fa7f7fffff", "3.4028234663852886e+38" },
        { "fb3ff199999999999a", "1.1" },
        { "fbc010666666666666", "-4.1" },
        { "fb7e37e43c8800759c", "1e+300" },
        { "fb444b1ae4d6e2ef50", "1e+21" },
        { "fb3e7ad7f29abcaf48", "1e-7" },
        { "fb0000000000000001", "5e-324" },
        { "fb7fefffffffffffff", "1.7976931348623157e+308" },
        { "f4", "false" },
        { "f5", "true" },
        { "f6", "null" },
        { "40", "\"\"" },
        { "4161", "\"a\"" },
        { "60", "\"\"" },
        { "6449455446", "\"IETF\"" },
        { "62c3bc", "\"\xc3\xbc\"" },
        { "42c3bc", "\"\xc3\xbc\"" },
        { "7f657374726561646d696e67ff", "\"streaming\"" },
        { "5f4161ff", "\"a\"" },
        { "7fff", "\"\"" },
        { "5fff", "\"\"" },
        { "7f616161626163ff", "\"abc\"" },
        { "80", "[]" },
        { "83010203", "[1,2,3]" },
        { "8301820203820405", "[1,[2,3],[4,5]]" },
        { "9fff", "[]" },
        { "9f018202039f0405ffff", "[1,[2,3],[4,5]]" },
        { "83018202039f0405ff", "[1,[2,3],[4,5]]" },
        { "9f9f8080ff9f8080ffff", "[[[],[]],[[],[]]]" },
        { "a0", "{}" },
        { "bfff", "{}" },
        { "a26161016162820203", "{\"a\":1,\"b\":[2,3]}" },
        { "a24161014162a1406140", "{\"a\":1,\"b\":{\"\":\"@\"}}" },
        { "bf61610161629f0203ffff", "{\"a\":1,\"b\":[2,3]}" },
        { "bf6141bf616101616202ff6142bf616901616a02ffff",
          "{\"A\":{\"a\":1,\"b\":2},\"B\":{\"i\":1,\"j\":2}}" },
        { "a15f41614162ff01", "{\"ab\":1}" },
        { "a16161a0", "{\"a\":{}}" },
        { "d9d9f783010203", "[1,2,3]" },
        { "d9d9f7d9d9f7a0", "{}" },
        { "c48221196ab3", "[-2,27315]" },
        { "c5822003", "[-1,3]" },
        { "d8201801", "1" }, /* both heads longer than they need be */
        { "d64401020304", "\"AQIDBA==\"" },
        { "d544fbff0102", "\"-_8BAg\"" },
        { "d74401020304", "\"01020304\"" },
        { "d6824401020304d74101", "[\"AQIDBA==\",\"01\"]" },
        { "d6a26161440102030461624161", "{\"a\":\"AQIDBA==\",\"b\":\"YQ==\"}" },
        { "82d641014161", "[\"AQ==\",\"a\"]" },
        { "d66161", "\"a\"" },
        { "d6d9d9f7d74101", "\"01\"" },
        { "d65f41014102ff", "\"AQI=\"" },
        { "d640", "\"\"" },
        { "c074323030362d30312d30325431353a30343a30355a", "\"2006-01-02T15:04:05Z\"" },
        { "c11a43b940e5", "\"2006-01-02T15:04:05Z\"" },
        { "c1f93c00", "\"1970-01-01T00:00:01Z\"" },
        { "c120", "\"1969-12-31T23:59:59Z\"" },
        { "c1fbbff0000000000000", "\"1969-12-31T23:59:59Z\"" },
        { "c1f93e00", "\"1970-01-01T00:00:01.5Z\"" },
        { "c1f9be00", "\"1969-12-31T23:59:58.5Z\"" },
        { "c11b0000003afff4417f", "\"9999-12-31T23:59:59Z\"" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value v;
        struct err err = ERR_INIT(&suite_arena);
        autobuf out = { 0 };
        if (cbor_read(&suite_arena, unhex(rows[i].hex), &v, &err) < 0)
            fail_msg("%s: " STR_FMT, rows[i].hex, STR_ARG(err.msg));
        json_write(&out, &v);
        assert_string_equal(str_cstr(&suite_arena, buf_str(&out)), rows[i].json);
    }
}

#define EOF_ "unexpected EOF"
#define NO   "cbor: data item of cbor type primitives is not accepted by protocol: "
static const struct {
    const char *hex, *msg;
} bad_items[] = {
    { "", "EOF" },
    { "18", EOF_ },
    { "1900", EOF_ },
    { "1a000000", EOF_ },
    { "1b00000000000000", EOF_ },
    { "41", EOF_ },
    { "5affffffff00", EOF_ },
    { "5bffffffffffffffff00", EOF_ },
    { "7b7fffffffffffffff00", EOF_ },
    { "81", EOF_ },
    { "9bffffffffffffffff", EOF_ },
    { "9affffffff00", EOF_ },
    { "bb7fffffffffffffff0000", EOF_ },
    { "a16161", EOF_ },
    { "a1", EOF_ },
    { "9f", EOF_ },
    { "9f01", EOF_ },
    { "bf616101", EOF_ },
    { "5f", EOF_ },
    { "7f6161", EOF_ },
    { "c0", EOF_ },
    { "d9d9f7", EOF_ },
    { "d9d9", EOF_ },
    { "f9", EOF_ },
    { "fb00", EOF_ },
    { "f8", EOF_ },
    { "1c", "cbor: invalid additional information 28 for type positive integer" },
    { "3d", "cbor: invalid additional information 29 for type negative integer" },
    { "5e", "cbor: invalid additional information 30 for type byte string" },
    { "7c", "cbor: invalid additional information 28 for type UTF-8 text string" },
    { "1f", "cbor: invalid additional information 31 for type positive integer" },
    { "3f", "cbor: invalid additional information 31 for type negative integer" },
    { "df", "cbor: invalid additional information 31 for type tag" },
    { "fc", "cbor: invalid additional information 28 for type primitives" },
    { "ff", "cbor: unexpected \"break\" code" },
    { "81ff", "cbor: unexpected \"break\" code" },
    { "a1ff", EOF_ },
    { "a1616100ff", "cbor: 1 bytes of extraneous data starting at index 4" },
    { "bf6161ff", "cbor: unexpected \"break\" code" },
    { "c1ff", "cbor: unexpected \"break\" code" },
    { "0001", "cbor: 1 bytes of extraneous data starting at index 1" },
    { "a0a0a0", "cbor: 2 bytes of extraneous data starting at index 1" },
    { "1b8000000000000000", "cbor: cannot unmarshal positive integer into Go value of type int64 "
                            "(9223372036854775808 overflows Go's int64)" },
    { "1bffffffffffffffff", "cbor: cannot unmarshal positive integer into Go value of type int64 "
                            "(18446744073709551615 overflows Go's int64)" },
    { "3b8000000000000000", "cbor: cannot unmarshal negative integer into Go value of type int64 "
                            "(-9223372036854775809 overflows Go's int64)" },
    { "3bffffffffffffffff", "cbor: cannot unmarshal negative integer into Go value of type int64 "
                            "(-18446744073709551616 overflows Go's int64)" },
    { "6180", "cbor: invalid UTF-8 string" },
    { "41ff", "cbor: invalid UTF-8 string" },
    { "7f61c361bcff", "cbor: invalid UTF-8 string" },
    { "a143abcdef187b", "cbor: invalid UTF-8 string" },
    { "7f4161ff", "cbor: wrong element type byte string for indefinite-length UTF-8 text string" },
    { "5f00ff", "cbor: wrong element type positive integer for indefinite-length byte string" },
    { "5f5f4161ffff", "cbor: indefinite-length byte string chunk is not definite-length" },
    { "a2614101614102", "cbor: found duplicate map key \"A\" at map element index 1" },
    { "a2414101614102", "cbor: found duplicate map key \"A\" at map element index 1" },
    { "bf614101614202614103ff", "cbor: found duplicate map key \"A\" at map element index 2" },
    { "a25f426865436c6c6fff015f416844656c6c6fff02",
      "cbor: found duplicate map key \"hello\" at map element index 1" },
    { "aa613001613101613201613301613401613501613601613701613801613001",
      "cbor: found duplicate map key \"0\" at map element index 9" },
    { "a10101", "cbor: cannot unmarshal positive integer into Go value of type string" },
    { "a1fb40091eb851eb851f63706965",
      "cbor: cannot unmarshal primitives into Go value of type string" },
    { "a1f601", "cbor: cannot unmarshal primitives into Go value of type string" },
    { "a18001", "cbor: cannot unmarshal array into Go value of type string" },
    { "a1a001", "cbor: cannot unmarshal map into Go value of type string" },
    { "f97c00", NO "floating-point infinity" },
    { "fa7f800000", NO "floating-point infinity" },
    { "fbfff0000000000000", NO "floating-point infinity" },
    { "f97e00", NO "floating-point NaN" },
    { "fa7fc00000", NO "floating-point NaN" },
    { "fb7ff8000000000000", NO "floating-point NaN" },
    { "e0", NO "simple value 0 is not recognized" },
    { "f3", NO "simple value 19 is not recognized" },
    { "f7", NO "simple value 23 is not recognized" },
    { "f820", NO "simple value 32 is not recognized" },
    { "f8ff", NO "simple value 255 is not recognized" },
    { "f814", "cbor: invalid simple value 20 for type primitives" },
    { "f818", "cbor: invalid simple value 24 for type primitives" },
    { "c249010000000000000000",
      "cbor: data item of cbor type tag is not accepted by protocol: bignum" },
    { "c349010000000000000000",
      "cbor: data item of cbor type tag is not accepted by protocol: bignum" },
    { "c054323030362d30312d30325431353a30343a30355a",
      "cbor: tag number 0 must be followed by text string, got byte string" },
    { "c001", "cbor: tag number 0 must be followed by text string, got positive integer" },
    { "c0c061", "cbor: tag number 0 must be followed by text string, got tag" },
    { "c16161", "cbor: tag number 1 must be followed by integer or floating-point number, got "
                "UTF-8 text string" },
    { "c1f5", "cbor: tag number 1 must be followed by integer or floating-point number, got "
              "primitives" },
    { "c180", "cbor: tag number 1 must be followed by integer or floating-point number, got "
              "array" },
    { "c06474657874", "cbor: cannot set text for time.Time: parsing time \"text\" as "
                      "\"2006-01-02T15:04:05Z07:00\": cannot parse \"text\" as \"2006\"" },
    { "c11b0000003afff44181",
      "cbor: decoded time cannot be represented in RFC3339 format with sub-second precision: "
      "Time.MarshalText: year outside of range [0,9999]" },
    { "c1fb7fefffffffffffff",
      "cbor: decoded time cannot be represented in RFC3339 format with sub-second precision: "
      "Time.MarshalText: year outside of range [0,9999]" },
    { "c11bffffffffffffffff", "cbor: cannot unmarshal positive integer into Go value of type "
                              "time.Time (18446744073709551615 overflows Go's int64)" },
    { "c1f97c00", NO "floating-point infinity" },
};

static void bad_items_are_refused_in_upstreams_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad_items); i++) {
        struct value v;
        struct err err = ERR_INIT(&suite_arena);
        struct str bytes = unhex(bad_items[i].hex);
        if (cbor_read(&suite_arena, bytes, &v, &err) != -ERR_BAD_REQUEST)
            fail_msg("%s is taken", bad_items[i].hex);
        assert_string_equal(str_cstr(&suite_arena, err.msg), bad_items[i].msg);
        assert_true(cbor_read(&suite_arena, bytes, &v, NULL) < 0);
    }
}

static void json_becomes_items(void **state)
{
    (void)state;
    static const struct {
        const char *json, *hex;
    } rows[] = {
        { "null", "f6" },
        { "true", "f5" },
        { "false", "f4" },
        { "0", "00" },
        { "23", "17" },
        { "24", "1818" },
        { "255", "18ff" },
        { "256", "190100" },
        { "65536", "1a00010000" },
        { "4294967296", "1b0000000100000000" },
        { "9223372036854775807", "1b7fffffffffffffff" },
        { "-1", "20" },
        { "-25", "3818" },
        { "-9223372036854775808", "3b7fffffffffffffff" },
        { "18446744073709551615", "fa5f800000" },
        { "-0", "f98000" },
        { "1.0", "f93c00" },
        { "1.5", "f93e00" },
        { "65504.0", "f97bff" },
        { "65505.0", "fa477fe100" },
        { "65520.0", "fa477ff000" },
        { "65536.0", "fa47800000" },
        { "5.960464477539063e-8", "f90001" },
        { "0.00006103515625", "f90400" },
        { "2.98023223876953125e-8", "fa33000000" },
        { "1.1", "fb3ff199999999999a" },
        { "3.4028234663852886e+38", "fa7f7fffff" },
        { "3.5e38", "fb47f074f8c4d3cd7b" },
        { "1e300", "fb7e37e43c8800759c" },
        { "1e999", "fb7fefffffffffffff" },
        { "-1e999", "fbffefffffffffffff" },
        { "\"\"", "40" },
        { "\"hello\"", "4568656c6c6f" },
        { "\"AQIDBA==\"", "484151494442413d3d" },
        { "[]", "80" },
        { "[1,[2,[]],{}]", "8301820280a0" },
        { "{}", "a0" },
        { "{\"b\":1,\"a\":2}", "a2416102416201" },
        { "{\"aa\":1,\"b\":2,\"\":3}", "a3400341620242616101" },
        { "{\"a\":1,\"b\":2,\"a\":3}", "a2416103416202" },
        { "{\"a\":{\"c\":1,\"b\":[{\"y\":1,\"x\":2}]}}", "a14161a2416281a2417802417901416301" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value v = json(rows[i].json);
        autobuf out = { 0 };
        cbor_write_item(&out, NULL, &v);
        assert_string_equal(hexed(buf_str(&out)), rows[i].hex);
    }
}

static void objects_carry_the_tag_in_front(void **state)
{
    (void)state;
    struct value v = json("{\"kind\":\"Pod\"}");
    autobuf out = { 0 };
    cbor_write(&out, NULL, &v);
    assert_string_equal(hexed(buf_str(&out)), "d9d9f7a1446b696e6443506f64");
    assert_true(cbor_is(buf_str(&out)));
    assert_false(cbor_is(STR("\xd9\xd9")));
    assert_false(cbor_is(STR("{}")));
}

static void bytes_are_bytes_where_the_type_says_so(void **state)
{
    (void)state;
    struct value secret =
        json("{\"kind\":\"Secret\",\"type\":\"QQ==\",\"data\":{\"a\":\"AQID\",\"b\":"
             "\"\",\"c\":\"not base64\",\"d\":null}}");
    const struct kind_type *t = kind_type_find(STR(""), STR("v1"), STR("Secret"));
    autobuf out = { 0 };
    cbor_write_item(&out, t, &secret);
    assert_string_equal(hexed(buf_str(&out)), "a3"
                                              "4464617461a4"
                                              "4161d643010203"
                                              "4162d640"
                                              "41634a6e6f7420626173653634"
                                              "4164f6"
                                              "446b696e6446536563726574"
                                              "44747970654451513d3d");
    struct value again;
    assert_int_equal(cbor_read(&suite_arena, buf_str(&out), &again, NULL), 0);
    assert_true(value_eq(&secret, &again));

    /* In a list inside a struct: webhooks[].clientConfig.caBundle. */
    struct value hooks = json("{\"webhooks\":[{\"clientConfig\":{\"caBundle\":\"AQ==\"}}]}");
    t = kind_type_find(STR("admissionregistration.k8s.io"), STR("v1"),
                       STR("ValidatingWebhookConfiguration"));
    buf_reset(&out);
    cbor_write_item(&out, t, &hooks);
    assert_true(str_ends(buf_str(&out), STR("caBundle\xd6\x41\x01")));
}

static void sequences_are_read_item_by_item(void **state)
{
    (void)state;
    struct str rest = unhex("d9d9f7a0d9d9f78101f6");
    struct value v;
    assert_int_equal(cbor_read_next(&suite_arena, &rest, &v, NULL), 0);
    assert_true(value_is(&v, VALUE_OBJECT));
    assert_int_equal(cbor_read_next(&suite_arena, &rest, &v, NULL), 0);
    assert_true(value_is(&v, VALUE_ARRAY));
    assert_int_equal(cbor_read_next(&suite_arena, &rest, &v, NULL), 0);
    assert_true(value_is(&v, VALUE_NULL));
    assert_int_equal(rest.n, 0);
    assert_int_equal(cbor_read_next(&suite_arena, &rest, &v, NULL), -ERR_BAD_REQUEST);
    rest = unhex("8201");
    assert_int_equal(cbor_read_next(&suite_arena, &rest, &v, NULL), -ERR_BAD_REQUEST);
    assert_int_equal(rest.n, 2);
}

static int read_nested(size_t depth, char opening, struct value *ret)
{
    autobuf bytes = { 0 };
    for (size_t i = 0; i < depth; i++) {
        buf_byte(&bytes, opening);
        if ((unsigned char)opening == 0xa1)
            buf_str_add(&bytes, STR("\x61"
                                    "a"));
    }
    buf_byte(&bytes, 0);
    return cbor_read(&suite_arena, arena_str(&suite_arena, buf_str(&bytes)), ret, NULL);
}

static void depth_is_bounded(void **state)
{
    (void)state;
    static const char openings[] = { (char)0x81, (char)0xa1 };
    for (size_t i = 0; i < sizeof(openings); i++) {
        struct value v, again;
        autobuf out = { 0 };
        assert_int_equal(read_nested(LIMIT_JSON_DEPTH, openings[i], &v), 0);
        assert_true(read_nested(LIMIT_JSON_DEPTH + 1, openings[i], &v) < 0);
        assert_int_equal(read_nested(LIMIT_JSON_DEPTH, openings[i], &v), 0);
        cbor_write(&out, NULL, &v);
        assert_int_equal(cbor_read(&suite_arena, buf_str(&out), &again, NULL), 0);
        assert_true(value_eq(&v, &again));
    }
    struct value v;
    assert_int_equal(read_nested(LIMIT_JSON_DEPTH + 1, (char)0xc6, &v), 0); /* the first is free */
    assert_true(read_nested(LIMIT_JSON_DEPTH + 2, (char)0xc6, &v) < 0);
}

/* A head that promises much costs nothing: it is checked against what is left. */
static void lengths_are_checked_before_allocation(void **state)
{
    (void)state;
    struct value v;
    size_t before = suite_arena.held;
    for (size_t i = 0; i < 1000; i++) {
        assert_true(cbor_read(&suite_arena, STR("\x9a\xff\xff\xff\xff\x00"), &v, NULL) < 0);
        assert_true(cbor_read(&suite_arena, STR("\xba\x7f\xff\xff\xff\x00"), &v, NULL) < 0);
        assert_true(cbor_read(&suite_arena, STR("\x5a\x7f\xff\xff\xff\x00"), &v, NULL) < 0);
    }
    assert_in_range(suite_arena.held - before, 0, 4 << 20);
}

static void every_half_is_written_as_it_was_read(void **state)
{
    (void)state;
    size_t finite = 0;
    for (unsigned bits = 0; bits <= UINT16_MAX; bits++) {
        double d = cbor_half((uint16_t)bits);
        uint16_t back;
        if (!isfinite(d))
            continue;
        finite++;
        assert_true(cbor_to_half(d, &back));
        assert_int_equal(back, bits);
    }
    assert_int_equal(finite, 2 * 0x7c00);
    static const double others[] = { 65519.9, 65536, 1e-8, 1.1, 2049.0, 0x1p-25, 0x1.8p-24, 1e300 };
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        uint16_t back;
        assert_false(cbor_to_half(others[i], &back));
    }
}

static void doubles_have_the_text_of_go(void **state)
{
    (void)state;
    static const struct {
        double d;
        const char *want;
    } rows[] = {
        { 0.1, "0.1" },
        { 100, "100" },
        { 1e20, "100000000000000000000" },
        { 1e21, "1e+21" },
        { 1.25e21, "1.25e+21" },
        { 123456789.125, "123456789.125" },
        { 0.000001, "0.000001" },
        { 0.0000012, "0.0000012" },
        { 0.0000001, "1e-7" },
        { 1.5e-10, "1.5e-10" },
        { 5e-324, "5e-324" },
        { -2.5, "-2.5" },
        { 9007199254740993.0, "9007199254740992" },
        { 0.30000000000000004, "0.30000000000000004" },
        { 0x1p-24, "5.960464477539063e-8" }, /* printf would need a digit more */
        { 9.5367431640625e-7, "9.5367431640625e-7" },
        { 2.2250738585072014e-308, "2.2250738585072014e-308" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(str_cstr(&suite_arena, gofloat_text(&suite_arena, rows[i].d)),
                            rows[i].want);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, suite_arena_set_up, suite_arena_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(items_become_json),
        TEST(bad_items_are_refused_in_upstreams_words),
        TEST(json_becomes_items),
        TEST(objects_carry_the_tag_in_front),
        TEST(bytes_are_bytes_where_the_type_says_so),
        TEST(sequences_are_read_item_by_item),
        TEST(depth_is_bounded),
        TEST(lengths_are_checked_before_allocation),
        TEST(every_half_is_written_as_it_was_read),
        TEST(doubles_have_the_text_of_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
