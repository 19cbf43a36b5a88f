/* The libraries: what their functions answer, and in which words they fail, beside upstream. */
#include "base/idiom.h"
#include "cel/check_test.h"

static const struct answer_case answers_cases[] = {
    { "url('https://user:pw@example.com:80/a b?x=1&y=2&x=3#f').getEscapedPath()", "/a%20b" },
    { "url('https://example.com/a%2fb?k=%20z+q').getQuery()", "{k: [ z q]}" },
    { "url('foo')", "! URL parse error during conversion from string: parse \"foo\": invalid "
                    "URI for request" },
    { "url('')", "! URL parse error during conversion from string: parse \"\": empty url" },
    { "url('http://[::1]:80/').getHostname()", "::1" },
    { "url('http://a b/')", "! URL parse error during conversion from string: parse \"http://a "
                            "b/\": invalid character \" \" in host name" },
    { "url('/x').getHost()", "" },
    { "url('mailto:a@b').getEscapedPath()", "" },
    { "url('https://h/%zz')", "! URL parse error during conversion from string: parse "
                              "\"https://h/%zz\": invalid URL escape \"%zz\"" },
    { "url('https://h/x') == url('https://h/x')", "true" },
    { "isURL('https://h/x#y')", "true" },
    { "ip('1.2.3')", "! IP Address \"1.2.3\" parse error during conversion from string: "
                     "ParseAddr(\"1.2.3\"): IPv4 address too short" },
    { "ip('::ffff:1.2.3.4')", "! IPv4-mapped IPv6 address \"::ffff:1.2.3.4\" is not allowed" },
    { "ip('fe80::1%eth0')", "! IP address \"fe80::1%eth0\" with zone value is not allowed" },
    { "ip('1.2.3.004')", "! IP Address \"1.2.3.004\" parse error during conversion from string: "
                         "ParseAddr(\"1.2.3.004\"): IPv4 field has octet with leading zero" },
    { "ip('x')", "! IP Address \"x\" parse error during conversion from string: "
                 "ParseAddr(\"x\"): unable to parse IP" },
    { "cidr('1.2.3.4/33')", "! network address parse error during conversion from string: "
                            "network address parse error during conversion from string: "
                            "netip.ParsePrefix(\"1.2.3.4/33\"): prefix length out of range" },
    { "cidr('1.2.3.4')",
      "! network address parse error during conversion from string: network address parse "
      "error during conversion from string: netip.ParsePrefix(\"1.2.3.4\"): no '/'" },
    { "cidr('1.2.3.4/08')", "! network address parse error during conversion from string: "
                            "network address parse error during conversion from string: "
                            "netip.ParsePrefix(\"1.2.3.4/08\"): bad bits after slash: \"08\"" },
    { "string(cidr('1.2.3.4/8'))", "1.2.3.4/8" },
    { "type(ip('1.2.3.4'))", "net.IP" },
    { "type(ip('1.2.3.4')) == net.IP", "true" },
    { "quantity('abc')", "! quantities must match the regular expression "
                         "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'" },
    { "quantity('1Gi').add(quantity('1M'))", "1074741824" },
    { "quantity('1').sub(5)", "-4" },
    { "quantity('50k').asInteger()", "50000" },
    { "quantity('1.5').asInteger()", "! cannot convert value to integer" },
    { "quantity('1.5').asApproximateFloat()", "1.5" },
    { "sign(quantity('-1'))", "-1" },
    { "quantity('1') == dyn(1)", "! no such overload" },
    { "dyn(1) == quantity('1')", "false" },
    { "quantity('1') == null", "false" },
    { "semver('1.2')", "! No Major.Minor.Patch elements found" },
    { "semver('1.2.3-alpha.1+b').compareTo(semver('1.2.3'))", "-1" },
    { "semver('01.2.3')", "! Major number must not contain leading zeroes \"01\"" },
    { "semver('1.2.3-')", "! Prerelease is empty" },
    { "format.dns1123Label().validate('A_b')",
      "optional([a lowercase RFC 1123 label must consist of lower case alphanumeric characters "
      "or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or "
      "'123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')])" },
    { "format.named('nope')", "optional.none()" },
    { "format.uri().validate('foo')", "optional([parse \"foo\": invalid URI for request])" },
    { "format.uuid().validate('x')", "optional([does not match the UUID format])" },
    { "format.byte().validate('***')", "optional([invalid base64])" },
    { "format.date().validate('2021-13-01')", "optional([invalid date])" },
    { "format.datetime().validate('2021-01-01')", "optional([invalid datetime])" },
    { "format.labelValue().validate('a b')",
      "optional([a valid label must be an empty string or consist of alphanumeric characters, "
      "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue', "
      " or 'my_value',  or '12345', regex used for validation is "
      "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')])" },
    { "'abc 123'.find('[0-9]+')", "123" },
    { "'a1b22'.findAll('[0-9]*')", "[, 1, 22]" },
    { "'a1b22'.findAll('[0-9]+', 1)", "[1]" },
    { "string(ip('1.2.3.4'))", "1.2.3.4" },
    { "[1,2,3].sum()", "6" },
    { "[].sum()", "0" },
    { "[].min()", "! min called on empty list" },
    { "[3,1,2].sort()", "[1, 2, 3]" },
    { "[3,1,2].sortBy(i, -i)", "[3, 2, 1]" },
    { "lists.range(5)", "[0, 1, 2, 3, 4]" },
    { "[1,2,2].distinct()", "[1, 2]" },
    { "'a'.includes('a')", "true" },
    { "'%.6e'.format([1052.032911275])", "1.052033×10⁰³" },
    { "'%e'.format([0.00001])", "1.000000×10⁻⁰⁵" },
    { "'%e'.format([1e100])", "1.000000×10¹⁰⁰" },
    { "'%f'.format([12345678.6789])", "12,345,678.678900" },
    { "'%.3f'.format([-0.5])", "-0.500" },
    { "'%f'.format([double('NaN')])", "NaN" },
    { "'%f'.format([double('Infinity')])", "∞" },
    { "'%f'.format(['-Infinity'])", "-∞" },
    { "'%e'.format(['NaN'])", "   NaN" },
    { "'%.0e'.format([1500.0])", "1.500000×10⁰³" },
    { "'%s'.format([[1,2]])", "[1, 2]" },
    { "'%s'.format([{'a': 1.5}])", "{\"a\":1.500000}" },
    { "'%s'.format([[timestamp(0)]])", "[timestamp(\"1970-01-01T00:00:00Z\")]" },
    { "'%b %b %o'.format([dyn(5), dyn(true), dyn(-8)])", "101 1 -10" },
    { "'%s'.format([type(1)])", "int" },
    { "'%s'.format([duration('90s')])", "90s" },
    { "'%s'.format([dyn(1.0)])", "1" },
    { "'%s'.format([[1.0]])", "[1.000000]" },
    { "'%s'.format([[b'abc', b'\\xff']])",
      "! error during formatting: could not convert argument \"invalid UTF-8 in bytes, cannot "
      "convert to string\" to string" },
    { "'%s'.format([[null]])", "[null]" },
    { "'%s'.format([null])", "null" },
    { "'%s'.format([b'abc'])", "abc" },
    { "'%s'.format([{1: 'x', 2: 'y'}])", "{1:\"x\", 2:\"y\"}" },
    { "'%.2f'.format([999.999])", "1,000.00" },
    { "'%.1f'.format([0.05])", "0.1" },
    { "'%s'.format([[1,dyn('a')]])", "[1, \"a\"]" },
    { "'%.2f'.format([1.015])", "1.01" },
    { "'%.2f'.format([1.025])", "1.02" },
    { "'%.2f'.format([2.675])", "2.67" },
    { "'%.2f'.format([1.005])", "1.00" },
    { "'%.0f'.format([2.5])", "2" },
    { "'%.0f'.format([3.5])", "4" },
    { "'%.1f'.format([0.25])", "0.2" },
    { "'%.1f'.format([0.35])", "0.3" },
    { "'%e'.format([1.0000005])", "1.000001×10⁰⁰" },
    { "'%e'.format([1.2345675])", "1.234568×10⁰⁰" },
    { "'%e'.format([0.0])", "0.000000×10⁰⁰" },
    { "'%e'.format([-123.0])", "-1.230000×10⁰²" },
    { "'%.20e'.format([-123.0])", "      -1.230000×10⁰²" },
    { "'%f'.format([1e21])", "1,000,000,000,000,000,000,000.000000" },
    { "'%f'.format([123456789012345678901234567890.0])",
      "123,456,789,012,345,677,877,719,597,056.000000" },
    { "'%f'.format([0.1])", "0.100000" },
    { "'%.20f'.format([0.1])", "0.10000000000000000555" },
    { "'%.30f'.format([1e-10])", "0.000000000100000000000000003643" },
    { "'%e'.format([double('Infinity')])", "     ∞" },
    { "'%e'.format([5e-324])", "4.940656×10⁻³²⁴" },
    { "'%f'.format([-0.0])", "0.000000" },
    { "'%f'.format([999999.9999999])", "1,000,000.000000" },
    { "'a'.replace('', 'x')", "xax" },
    { "'abc'.split('')", "[a, b, c]" },
    { "'abc'.substring(1, 5)", "! index out of range: 5" },
    { "'abc'.charAt(7)", "! index out of range: 7" },
    { "['a','b'].join(',')", "a,b" },
    { "sets.contains([1,2],[1])", "true" },
    { "sets.equivalent([1,1],[1])", "true" },
    { "[].first().value()", "! optional.none() dereference" },
    { "strings.quote('a\"b')", "\"a\\\"b\"" },
};

static void test_answers(void **state)
{
    (void)state;
    check_answers(answers_cases, ARRAY_LEN(answers_cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_answers, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
