/* Addresses and blocks, as they are read and written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "api/ip.h"
#include "base/idiom.h"

static void addresses_have_one_text(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want; /* NULL: no address */
        bool v4, mapped, zeros;
    } rows[] = {
        { "10.0.0.1", "10.0.0.1", .v4 = true },
        { "010.000.0.01", "10.0.0.1", .v4 = true, .zeros = true },
        { "255.255.255.255", "255.255.255.255", .v4 = true },
        { "::", "::" },
        { "::1", "::1" },
        { "FD00:0:0:1::00A", "fd00:0:0:1::a" },
        { "1:0:0:2:0:0:0:3", "1:0:0:2::3" },
        { "1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7" },
        { "::ffff:1.2.3.4", "1.2.3.4", .mapped = true },
        { "::1.2.3.4", "::102:304" },
        { "", NULL },
        { "1.2.3", NULL },
        { "1.2.3.4.5", NULL },
        { "256.1.1.1", NULL },
        { "1.2.3.", NULL },
        { "1..2.3", NULL },
        { "1.2.3.4 ", NULL },
        { "1::2::3", NULL },
        { ":1", NULL },
        { "1:2:3:4:5:6:7", NULL },
        { "1:2:3:4:5:6:7:8:9", NULL },
        { "12345::", NULL },
        { "fe80::1%eth0", NULL },
        { "[::1]", NULL },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ip ip = { 0 };
        char out[IP_TEXT_MAX];
        bool good = ip_parse(str_of(rows[i].text), &ip);
        if (good != (rows[i].want != NULL))
            fail_msg("%s: %s", rows[i].text, good ? "taken" : "refused");
        if (!good)
            continue;
        struct str text = ip_format(&ip, out);
        if (!str_eq(text, str_of(rows[i].want)))
            fail_msg("%s: " STR_FMT, rows[i].text, STR_ARG(text));
        assert_int_equal(ip.is_mapped, rows[i].mapped);
        assert_int_equal(ip.has_zeros, rows[i].zeros);
        assert_int_equal(ip.is_v4, rows[i].v4);
    }
}

static void blocks_have_one_text(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want; /* NULL: no block */
        bool zeros, host;
    } rows[] = {
        { "10.0.0.0/8", "10.0.0.0/8" },
        { "10.1.2.3/8", "10.0.0.0/8", .host = true },
        { "10.0.0.1/32", "10.0.0.1/32" },
        { "0.0.0.0/0", "0.0.0.0/0" },
        { "010.0.0.0/8", "10.0.0.0/8", .zeros = true },
        { "10.0.0.0/08", "10.0.0.0/8", .zeros = true },
        { "fd00:1234::/32", "fd00:1234::/32" },
        { "fd00:1234::1/33", "fd00:1234::/33", .host = true },
        { "10.0.0.0", NULL },
        { "10.0.0.0/", NULL },
        { "10.0.0.0/33", NULL },
        { "10.0.0.0/-1", NULL },
        { "10.0.0.0/8/8", NULL },
        { "::/129", NULL },
        { "::/99999999999999999999", NULL },
        { "/8", NULL },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cidr c = { 0 };
        char out[IP_TEXT_MAX];
        bool good = ip_cidr_parse(str_of(rows[i].text), &c);
        if (good != (rows[i].want != NULL))
            fail_msg("%s: %s", rows[i].text, good ? "taken" : "refused");
        if (!good)
            continue;
        struct str text = ip_cidr_format(&c, out);
        if (!str_eq(text, str_of(rows[i].want)))
            fail_msg("%s: " STR_FMT, rows[i].text, STR_ARG(text));
        assert_int_equal(c.has_zeros, rows[i].zeros);
        assert_int_equal(c.has_host, rows[i].host);
    }
}

static void blocks_have_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *block, *ip;
        bool want;
    } rows[] = {
        { "10.0.0.0/8", "10.255.0.1", true },
        { "10.0.0.0/8", "11.0.0.0", false },
        { "10.0.0.128/25", "10.0.0.127", false },
        { "10.0.0.128/25", "10.0.0.128", true },
        { "0.0.0.0/0", "1.2.3.4", true },
        { "::/0", "1.2.3.4", false },
        { "0.0.0.0/0", "::1", false },
        { "fd00::/127", "fd00::1", true },
        { "fd00::/127", "fd00::2", false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cidr c;
        struct ip ip;
        assert_true(ip_cidr_parse(str_of(rows[i].block), &c) && ip_parse(str_of(rows[i].ip), &ip));
        if (ip_cidr_has(&c, &ip) != rows[i].want)
            fail_msg("%s, %s", rows[i].block, rows[i].ip);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_have_one_text),
        cmocka_unit_test(blocks_have_one_text),
        cmocka_unit_test(blocks_have_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
