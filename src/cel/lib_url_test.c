/* URLs, beside upstream. */
#include "base/idiom.h"
#include "cel/check_test.h"

static const struct answer_case parts_cases[] = {
    { "url('https://example.com:80/path?k=v#f').getScheme()", "https", 5 },
    { "url('https://example.com:80/path').getHost()", "example.com:80", 4 },
    { "url('https://example.com:80/path').getHostname()", "example.com", 4 },
    { "url('https://example.com:80/path').getPort()", "80", 4 },
    { "url('https://example.com/path').getPort()", "", 4 },
    { "url('https://example.com:/path').getPort()", "", 4 },
    { "url('https://example.com:/path').getHost()", "example.com:", 4 },
    { "url('https://[::1]:80/').getHost()", "[::1]:80", 3 },
    { "url('https://[::1]:80/').getHostname()", "::1", 3 },
    { "url('https://[::1]/').getPort()", "", 3 },
    { "url('https://example.com/a b').getEscapedPath()", "/a%20b", 4 },
    { "url('https://example.com/a%20b').getEscapedPath()", "/a%20b", 4 },
    { "url('https://example.com/a%2Fb').getEscapedPath()", "/a%2Fb", 4 },
    { "url('https://example.com').getEscapedPath()", "", 3 },
    { "url('https://example.com/').getEscapedPath()", "/", 3 },
    { "url('https://example.com/é').getEscapedPath()", "/%C3%A9", 4 },
    { "url('https://example.com/a?x=1&y=2&x=3').getQuery()['x']", "[1, 3]", 7 },
    { "url('https://example.com/a?x').getQuery()", "{x: []}", 4 },
    { "url('https://example.com/a?x=').getQuery()", "{x: []}", 4 },
    { "url('https://example.com/a?=1').getQuery()", "{: [1]}", 4 },
    { "url('https://example.com/a?x=%zz').getQuery()", "{}", 4 },
    { "url('https://example.com/a?x=a+b%20c').getQuery()", "{x: [a b c]}", 5 },
    { "url('https://example.com/a?x=1;y=2').getQuery()", "{}", 4 },
    { "url('https://example.com/a').getQuery()", "{}", 4 },
    { "url('https://u:p@example.com/').getHost()", "example.com", 4 },
    { "url('/a/b').getScheme()", "", 2 },
    { "url('/a/b').getHost()", "", 2 },
    { "url('/a/b').getEscapedPath()", "/a/b", 2 },
    { "url('//host/path').getHost()", "host", 3 },
    { "url('//host/path').getEscapedPath()", "/path", 3 },
    { "url('HTTP://Host/').getScheme()", "http", 3 },
    { "url('HTTP://Host/').getHost()", "Host", 3 },
    { "url('mailto:a@b.c').getScheme()", "mailto", 3 },
    { "url('file:///etc/x').getEscapedPath()", "/etc/x", 3 },
    { "url('https://a/x') == url('https://a/x')", "true", 5 },
    { "url('https://a/x') == url('https://a/y')", "false", 5 },
    { "url('https://a/x') != url('https://a/x#f')", "true", 5 },
    { "isURL('https://a/x')", "true", 1 },
    { "isURL('/x')", "true", 1 },
    { "isURL('x')", "false", 1 },
    { "isURL('')", "false", 1 },
    { "isURL('../x')", "false", 1 },
    { "isURL('https://a b/')", "false", 1 },
    { "isURL('https://a:port/')", "false", 1 },
    { "isURL('https://a:99999/')", "true", 1 },
    { "isURL('https://[::1')", "false", 1 },
    { "isURL('https://a/%')", "false", 1 },
    { "isURL(':a')", "false", 1 },
    { "isURL('1a://b')", "false", 1 },
    { "isURL('a:b')", "true", 1 },
    { "isURL('https://a/\\n')", "false", 1 },
    { "isURL('*')", "true", 1 },
    { "isURL(s)", "false", 2 },
    { "url('https://a:port/')",
      "! URL parse error during conversion from string: parse \"https://a:port/\": invalid "
      "port \":port\" after host",
      2 },
    { "url('https://[::1')",
      "! URL parse error during conversion from string: parse \"https://[::1\": missing ']' in "
      "host",
      2 },
    { "url('../x')",
      "! URL parse error during conversion from string: parse \"../x\": invalid URI for "
      "request",
      1 },
    { "url(':a')",
      "! URL parse error during conversion from string: parse \":a\": missing protocol scheme", 1 },
    { "url('1a://b')",
      "! URL parse error during conversion from string: parse \"1a://b\": invalid URI for "
      "request",
      1 },
    { "url('https://a/%4')",
      "! URL parse error during conversion from string: parse \"https://a/%4\": invalid URL "
      "escape \"%4\"",
      2 },
    { "url('https://a/\\x7f')",
      "! URL parse error during conversion from string: parse \"https://a/\\x7f\": net/url: "
      "invalid control character in URL",
      2 },
    { "url('https://a\\\\b/')",
      "! URL parse error during conversion from string: parse \"https://a\\\\b/\": invalid "
      "character \"\\\\\" in host name",
      2 },
    { "url('https://a/<>').getEscapedPath()", "/%3C%3E", 3 },
    { "url('*').getEscapedPath()", "*", 2 },
    { "url('a/b:c')",
      "! URL parse error during conversion from string: parse \"a/b:c\": invalid URI for "
      "request",
      1 },
    { "url('a:b:c').getScheme()", "a", 2 },
    { "url('#f')",
      "! URL parse error during conversion from string: parse \"#f\": invalid URI for request", 1 },
    { "url('/a#f').getEscapedPath()", "/a", 2 },
    { "url('/a?b?c=d').getQuery()", "{b?c: [d]}", 2 },
    { "url(s)",
      "! URL parse error during conversion from string: parse \"hello\": invalid URI for "
      "request",
      2 },
};

/* Parts of URLs. */
static void test_parts(void **state)
{
    (void)state;
    check_scene(parts_cases, ARRAY_LEN(parts_cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE_TEST(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
