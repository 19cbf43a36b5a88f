/* Addresses and networks, beside upstream. */
#include "base/idiom.h"
#include "cel/check_test.h"

static const struct answer_case addresses_cases[] = {
    { "string(ip('1.2.3.4'))", "1.2.3.4", 2 },
    { "string(ip('2001:DB8::1'))", "2001:db8::1", 3 },
    { "string(ip('2001:0db8:0000::0001'))", "2001:db8::1", 3 },
    { "ip('1.2.3.4').family()", "4", 2 },
    { "ip('::1').family()", "6", 2 },
    { "ip('127.0.0.1').isLoopback()", "true", 2 },
    { "ip('::1').isLoopback()", "true", 2 },
    { "ip('10.0.0.1').isLoopback()", "false", 2 },
    { "ip('0.0.0.0').isUnspecified()", "true", 2 },
    { "ip('::').isUnspecified()", "true", 2 },
    { "ip('224.0.0.1').isLinkLocalMulticast()", "true", 2 },
    { "ip('ff02::1').isLinkLocalMulticast()", "true", 2 },
    { "ip('169.254.1.1').isLinkLocalUnicast()", "true", 3 },
    { "ip('fe80::1').isLinkLocalUnicast()", "true", 2 },
    { "ip('8.8.8.8').isGlobalUnicast()", "true", 2 },
    { "ip('10.0.0.1').isGlobalUnicast()", "true", 2 },
    { "ip('255.255.255.255').isGlobalUnicast()", "false", 3 },
    { "ip('224.0.0.1').isGlobalUnicast()", "false", 2 },
    { "ip('127.0.0.1').isGlobalUnicast()", "false", 2 },
    { "ip('1.2.3.4') == ip('1.2.3.4')", "true", 3 },
    { "ip('::1') == ip('0:0:0:0:0:0:0:1')", "true", 4 },
    { "ip('1.2.3.4') == ip('1.2.3.5')", "false", 3 },
    { "ip('1.2.3.4') == ip('::1.2.3.4')", "false", 3 },
    { "isIP('1.2.3.4')", "true", 1 },
    { "isIP('::1')", "true", 1 },
    { "isIP('1.2.3')", "false", 1 },
    { "isIP('1.2.3.256')", "false", 1 },
    { "isIP('01.2.3.4')", "false", 1 },
    { "isIP('1.2.3.4/8')", "false", 1 },
    { "isIP('::ffff:1.2.3.4')", "false", 2 },
    { "isIP('fe80::1%eth0')", "false", 2 },
    { "isIP('')", "false" },
    { "isIP(' 1.2.3.4')", "false", 1 },
    { "isIP(':::')", "false", 1 },
    { "isIP('1::2::3')", "false", 1 },
    { "isIP('12345::')", "false", 1 },
    { "isIP(s)", "false", 2 },
    { "ip.isCanonical('127.0.0.1')", "true", 2 },
    { "ip.isCanonical('2001:db8::1')", "true", 3 },
    { "ip.isCanonical('2001:DB8::1')", "false", 3 },
    { "ip.isCanonical('2001:db8:0::1')", "false", 3 },
    { "ip.isCanonical('x')",
      "! IP Address \"x\" parse error during conversion from string: ParseAddr(\"x\"): unable "
      "to parse IP",
      1 },
    { "string(ip(''))",
      "! IP Address \"\" parse error during conversion from string: ParseAddr(\"\"): unable to "
      "parse IP",
      1 },
    { "string(ip('1.2.3'))",
      "! IP Address \"1.2.3\" parse error during conversion from string: ParseAddr(\"1.2.3\"): "
      "IPv4 address too short",
      2 },
    { "string(ip('1.2.3.4.5'))",
      "! IP Address \"1.2.3.4.5\" parse error during conversion from string: "
      "ParseAddr(\"1.2.3.4.5\"): IPv4 address too long",
      2 },
    { "string(ip('1.2.3.256'))",
      "! IP Address \"1.2.3.256\" parse error during conversion from string: "
      "ParseAddr(\"1.2.3.256\"): IPv4 field has value >255",
      2 },
    { "string(ip('1..2.3'))",
      "! IP Address \"1..2.3\" parse error during conversion from string: "
      "ParseAddr(\"1..2.3\"): IPv4 field must have at least one digit (at \".2.3\")",
      2 },
    { "string(ip('1.2.3.'))",
      "! IP Address \"1.2.3.\" parse error during conversion from string: "
      "ParseAddr(\"1.2.3.\"): IPv4 field must have at least one digit (at \".\")",
      2 },
    { "string(ip('1.2.3.a'))",
      "! IP Address \"1.2.3.a\" parse error during conversion from string: "
      "ParseAddr(\"1.2.3.a\"): unexpected character (at \"a\")",
      2 },
    { "string(ip(':1'))",
      "! IP Address \":1\" parse error during conversion from string: ParseAddr(\":1\"): each "
      "colon-separated field must have at least one digit (at \":1\")",
      2 },
    { "string(ip('1:'))",
      "! IP Address \"1:\" parse error during conversion from string: ParseAddr(\"1:\"): colon "
      "must be followed by more characters (at \":\")",
      2 },
    { "string(ip('::g'))",
      "! IP Address \"::g\" parse error during conversion from string: ParseAddr(\"::g\"): "
      "each colon-separated field must have at least one digit (at \"g\")",
      2 },
    { "string(ip('12345::'))",
      "! IP Address \"12345::\" parse error during conversion from string: "
      "ParseAddr(\"12345::\"): each group must have 4 or less digits (at \"12345::\")",
      2 },
    { "string(ip('1:2:3:4:5:6:7:8:9'))",
      "! IP Address \"1:2:3:4:5:6:7:8:9\" parse error during conversion from string: "
      "ParseAddr(\"1:2:3:4:5:6:7:8:9\"): trailing garbage after address (at \"9\")",
      3 },
    { "string(ip('1:2:3:4:5:6:7'))",
      "! IP Address \"1:2:3:4:5:6:7\" parse error during conversion from string: "
      "ParseAddr(\"1:2:3:4:5:6:7\"): address string too short",
      3 },
    { "string(ip('::1::'))",
      "! IP Address \"::1::\" parse error during conversion from string: ParseAddr(\"::1::\"): "
      "multiple :: in address (at \":\")",
      2 },
    { "string(ip('1:2:3:4:5:6:7::8'))",
      "! IP Address \"1:2:3:4:5:6:7::8\" parse error during conversion from string: "
      "ParseAddr(\"1:2:3:4:5:6:7::8\"): the :: must expand to at least one field of zeros",
      3 },
    { "string(ip('fe80::1%'))",
      "! IP Address \"fe80::1%\" parse error during conversion from string: "
      "ParseAddr(\"fe80::1%\"): zone must be a non-empty string",
      2 },
    { "string(ip('::1.2.3'))",
      "! IP Address \"::1.2.3\" parse error during conversion from string: "
      "ParseAddr(\"::1.2.3\"): IPv4 address too short",
      2 },
    { "string(ip('::ffff:0102:0304'))",
      "! IPv4-mapped IPv6 address \"::ffff:0102:0304\" is not allowed", 3 },
    { "ip(s)",
      "! IP Address \"hello\" parse error during conversion from string: ParseAddr(\"hello\"): "
      "unable to parse IP",
      2 },
};

/* ip() */
static void test_addresses(void **state)
{
    (void)state;
    check_scene(addresses_cases, ARRAY_LEN(addresses_cases));
}

/* cidr() */
static void test_networks(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "string(cidr('10.1.2.3/8'))", "10.1.2.3/8", 2 },
        { "string(cidr('2001:db8::/32'))", "2001:db8::/32", 3 },
        { "string(cidr('10.1.2.3/8').ip())", "10.1.2.3", 3 },
        { "string(cidr('10.1.2.3/8').masked())", "10.0.0.0/8", 3 },
        { "string(cidr('2001:db8::1/32').masked())", "2001:db8::/32", 4 },
        { "cidr('10.0.0.0/8').prefixLength()", "8", 2 },
        { "cidr('::/0').prefixLength()", "0", 2 },
        { "cidr('10.0.0.0/8').containsIP('10.1.2.3')", "true", 3 },
        { "cidr('10.0.0.0/8').containsIP('11.1.2.3')", "false", 3 },
        { "cidr('10.0.0.0/8').containsIP('::1')", "false", 3 },
        { "cidr('10.0.0.0/8').containsIP(ip('10.1.2.3'))", "true", 3 },
        { "cidr('10.0.0.0/8').containsIP('x')", "! no such overload", 3 },
        { "cidr('10.0.0.0/8').containsCIDR('10.0.0.0/16')", "true", 6 },
        { "cidr('10.0.0.0/8').containsCIDR('10.0.0.0/8')", "true", 5 },
        { "cidr('10.0.0.0/8').containsCIDR('10.0.0.0/7')", "false", 5 },
        { "cidr('10.0.0.0/8').containsCIDR(cidr('10.9.0.0/24'))", "true", 6 },
        { "cidr('10.0.0.0/8').containsCIDR('::/0')", "false", 5 },
        { "cidr('10.0.0.0/8').containsCIDR('x')",
          "! network address parse error during conversion from string: network address parse "
          "error during conversion from string: netip.ParsePrefix(\"x\"): no '/'",
          5 },
        { "cidr('10.1.2.3/8').containsCIDR('10.200.0.0/16')", "true", 6 },
        { "cidr('10.0.0.0/8') == cidr('10.0.0.0/8')", "true", 3 },
        { "cidr('10.0.0.0/8') == cidr('10.0.0.1/8')", "false", 3 },
        { "isCIDR('10.0.0.0/8')", "true", 1 },
        { "isCIDR('10.0.0.0')", "false", 1 },
        { "isCIDR('10.0.0.0/33')", "false", 2 },
        { "isCIDR('10.0.0.0/-1')", "false", 2 },
        { "isCIDR('10.0.0.0/08')", "false", 2 },
        { "isCIDR('10.0.0.0/')", "false", 1 },
        { "isCIDR('::/129')", "false", 1 },
        { "isCIDR('::ffff:1.2.3.4/112')", "false", 2 },
        { "isCIDR('')", "false" },
        { "string(cidr(''))",
          "! network address parse error during conversion from string: network address parse "
          "error during conversion from string: netip.ParsePrefix(\"\"): no '/'",
          1 },
        { "string(cidr('10.0.0.0/'))",
          "! network address parse error during conversion from string: network address parse "
          "error during conversion from string: netip.ParsePrefix(\"10.0.0.0/\"): bad bits after "
          "slash: \"\"",
          2 },
        { "string(cidr('10.0.0.0/a'))",
          "! network address parse error during conversion from string: network address parse "
          "error during conversion from string: netip.ParsePrefix(\"10.0.0.0/a\"): bad bits after "
          "slash: \"a\"",
          2 },
        { "string(cidr('10.0.0/8'))",
          "! network address parse error during conversion from string: network address parse "
          "error during conversion from string: netip.ParsePrefix(\"10.0.0/8\"): "
          "ParseAddr(\"10.0.0\"): IPv4 address too short",
          2 },
        { "string(cidr('::/129'))",
          "! network address parse error during conversion from string: network address parse "
          "error during conversion from string: netip.ParsePrefix(\"::/129\"): prefix length out "
          "of range",
          2 },
        { "string(cidr('::ffff:10.0.0.0/104'))",
          "! network address parse error during conversion from string: IPv4-mapped IPv6 address "
          "\"::ffff:10.0.0.0/104\" is not allowed",
          3 },
        { "string(cidr('fe80::1%a/64'))",
          "! network address parse error during conversion from string: network address parse "
          "error during conversion from string: netip.ParsePrefix(\"fe80::1%a/64\"): IPv6 zones "
          "cannot be present in a prefix",
          3 },
        { "cidr(s)",
          "! network address parse error during conversion from string: network address parse "
          "error during conversion from string: netip.ParsePrefix(\"hello\"): no '/'",
          2 },
        { "cidr('10.1.2.3/8').ip().family()", "4", 3 },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE_TEST(test_addresses),
        CASE_TEST(test_networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
