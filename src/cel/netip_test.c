/* The words are those of Go's net/netip. */
#include "cel/netip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"

static struct arena arena;

static const char *hex(const unsigned char *bytes, size_t n)
{
    char *text = arena_alloc(&arena, 2 * n + 1, 1);
    for (size_t i = 0; i < n; i++) {
        text[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    text[2 * n] = '\0';
    return text;
}

static void addresses_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text, *bytes;
        bool is_mapped, has_zone;
    } rows[] = {
        { "0.0.0.0", "00000000", false, false },
        { "1.2.3.4", "01020304", false, false },
        { "255.255.255.255", "ffffffff", false, false },
        { "::", "00000000000000000000000000000000", false, false },
        { "::1", "00000000000000000000000000000001", false, false },
        { "1::", "00010000000000000000000000000000", false, false },
        { "1:2:3:4:5:6:7:8", "00010002000300040005000600070008", false, false },
        { "1:2:3:4:5:6:7::", "00010002000300040005000600070000", false, false },
        { "::2:3:4:5:6:7:8", "00000002000300040005000600070008", false, false },
        { "FE80::aBc", "fe800000000000000000000000000abc", false, false },
        { "fe80::1%eth0", "fe800000000000000000000000000001", false, true },
        { "::ffff:1.2.3.4", "00000000000000000000ffff01020304", true, false },
        { "64:ff9b::1.2.3.4", "0064ff9b000000000000000001020304", false, false },
        { "1:2:3:4:5:6:1.2.3.4", "00010002000300040005000601020304", false, false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct netip ip;
        const char *why = netip_parse(&arena, str_of(rows[i].text), &ip);
        if (why)
            fail_msg("%s", why);
        bool is_v4 = strlen(rows[i].bytes) == 8;
        assert_int_equal(ip.ip.is_v4, is_v4);
        assert_string_equal(hex(ip.ip.bytes, is_v4 ? 4 : 16), rows[i].bytes);
        assert_int_equal(ip.ip.is_mapped, rows[i].is_mapped);
        assert_int_equal(ip.has_zone, rows[i].has_zone);
    }
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } rows[] = {
        { "", "unable to parse IP" },
        { "abc", "unable to parse IP" },
        { "%eth0", "missing IPv6 address" },
        { "1.2.3", "IPv4 address too short" },
        { "1.2.3.4.5", "IPv4 address too long" },
        { "1.2.3.256", "IPv4 field has value >255" },
        { "01.2.3.4", "IPv4 field has octet with leading zero" },
        { "1..2.3", "IPv4 field must have at least one digit (at \".2.3\")" },
        { ".1.2.3", "IPv4 field must have at least one digit (at \".1.2.3\")" },
        { "1.2.3.", "IPv4 field must have at least one digit (at \".\")" },
        { "1.2.3.4x", "unexpected character (at \"x\")" },
        { "1.2.3.4 ", "unexpected character (at \" \")" },
        { "::1.2.3", "IPv4 address too short" },
        { "12345::", "each group must have 4 or less digits (at \"12345::\")" },
        { ":1", "each colon-separated field must have at least one digit (at \":1\")" },
        { ":::", "each colon-separated field must have at least one digit (at \":\")" },
        { "1:", "colon must be followed by more characters (at \":\")" },
        { "1:2:3:4:5:6:7", "address string too short" },
        { "1:2:3:4:5:6:7:8:9", "trailing garbage after address (at \"9\")" },
        { "1::2::3", "multiple :: in address (at \":3\")" },
        { "1:2:3:4::5:6:7:8", "the :: must expand to at least one field of zeros" },
        { "1:2.3.4.5",
          "embedded IPv4 address must replace the final 2 fields of the address (at \"2.3.4.5\")" },
        { "1::2:3:4:5:6:7:1.2.3.4", "too many hex fields to fit an embedded IPv4 at the end of the "
                                    "address (at \"1.2.3.4\")" },
        { "fe80::1%", "zone must be a non-empty string" },
        { "1:g::", "each colon-separated field must have at least one digit (at \"g::\")" },
        { "1g::", "unexpected character, want colon (at \"g::\")" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct netip ip;
        const struct str text = { rows[i].text, strlen(rows[i].text) };
        const char *why = netip_parse(&arena, text, &ip);
        assert_non_null(why);
        const char *want =
            arena_printf(&arena, "ParseAddr(\"%s\"): %s", rows[i].text, rows[i].why).p;
        assert_string_equal(why, want);
    }
}

static void prefixes_keep_what_lies_behind_them(void **state)
{
    (void)state;
    static const struct {
        const char *text, *bytes;
        unsigned bits;
    } rows[] = {
        { "10.1.2.3/8", "0a010203", 8 },
        { "0.0.0.0/0", "00000000", 0 },
        { "1.2.3.4/32", "01020304", 32 },
        { "fd00::1/64", "fd000000000000000000000000000001", 64 },
        { "::/128", "00000000000000000000000000000000", 128 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cidr c;
        assert_null(netip_parse_prefix(&arena, str_of(rows[i].text), &c));
        assert_string_equal(hex(c.ip.bytes, strlen(rows[i].bytes) / 2), rows[i].bytes);
        assert_int_equal(c.bits, rows[i].bits);
    }
    static const struct {
        const char *text, *why;
    } bad[] = {
        { "10.0.0.0", "no '/'" },
        { "", "no '/'" },
        { "10.0.0.0/", "bad bits after slash: \"\"" },
        { "10.0.0.0/08", "bad bits after slash: \"08\"" },
        { "10.0.0.0/+8", "bad bits after slash: \"+8\"" },
        { "10.0.0.0/x", "bad bits after slash: \"x\"" },
        { "10.0.0.0/33", "prefix length out of range" },
        { "::/129", "prefix length out of range" },
        { "fe80::1%eth0/64", "IPv6 zones cannot be present in a prefix" },
        { "10.0.0/8", "ParseAddr(\"10.0.0\"): IPv4 address too short" },
        { "1/2/3", "ParseAddr(\"1/2\"): unable to parse IP" },
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct cidr c;
        const struct str text = { bad[i].text, strlen(bad[i].text) };
        const char *why = netip_parse_prefix(&arena, text, &c);
        assert_non_null(why);
        const char *want =
            arena_printf(&arena, "netip.ParsePrefix(\"%s\"): %s", bad[i].text, bad[i].why).p;
        assert_string_equal(why, want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_read),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(prefixes_keep_what_lies_behind_them),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_done(&arena);
    return failed;
}
