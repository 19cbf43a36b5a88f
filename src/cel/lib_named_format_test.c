/* Named formats, beside upstream. */
#include "base/idiom.h"
#include "cel/check_test.h"

static const struct answer_case formats_cases[] = {
    { "format.dns1123Label().validate('a')", "optional.none()", 9 },
    { "format.dns1123Label().validate('')",
      "optional([a lowercase RFC 1123 label must consist of lower case alphanumeric characters "
      "or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or "
      "'123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')])",
      9 },
    { "format.dns1123Label().validate('a.b')", "optional([must not contain dots])", 9 },
    { "format.dns1123Subdomain().validate('a.b')", "optional.none()", 16 },
    { "format.dns1123Subdomain().validate('a..b')",
      "optional([a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
      "characters, '-' or '.', and must start and end with an alphanumeric character (e.g. "
      "'example.com', regex used for validation is "
      "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')])",
      16 },
    { "format.dns1123Subdomain().validate('A')",
      "optional([a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
      "characters, '-' or '.', and must start and end with an alphanumeric character (e.g. "
      "'example.com', regex used for validation is "
      "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')])",
      16 },
    { "format.dns1035Label().validate('a1')", "optional.none()", 9 },
    { "format.dns1035Label().validate('1a')",
      "optional([a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
      "start with an alphabetic character, and end with an alphanumeric character (e.g. "
      "'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')])",
      9 },
    { "format.qualifiedName().validate('a/b')", "optional.none()", 16 },
    { "format.qualifiedName().validate('a/b/c')",
      "optional([a valid label key must consist of alphanumeric characters, '-', '_' or '.', "
      "and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  "
      "or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') "
      "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')])",
      16 },
    { "format.qualifiedName().validate('/b')", "optional([prefix part must be non-empty])", 16 },
    { "format.qualifiedName().validate('a/')",
      "optional([name part must be non-empty, name part must consist of alphanumeric "
      "characters, '-', '_' or '.', and must start and end with an alphanumeric character "
      "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
      "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')])",
      16 },
    { "format.qualifiedName().validate('-')",
      "optional([name part must consist of alphanumeric characters, '-', '_' or '.', and must "
      "start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
      "'123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')])",
      16 },
    { "format.dns1123LabelPrefix().validate('a-')", "optional.none()", 9 },
    { "format.dns1123LabelPrefix().validate('-a')",
      "optional([a lowercase RFC 1123 label must consist of lower case alphanumeric characters "
      "or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or "
      "'123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')])",
      9 },
    { "format.dns1123SubdomainPrefix().validate('a.b-')", "optional.none()", 16 },
    { "format.dns1123SubdomainPrefix().validate('a_')",
      "optional([a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
      "characters, '-' or '.', and must start and end with an alphanumeric character (e.g. "
      "'example.com', regex used for validation is "
      "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')])",
      16 },
    { "format.dns1035LabelPrefix().validate('a-')", "optional.none()", 9 },
    { "format.dns1035LabelPrefix().validate('1-')", "optional.none()", 9 },
    { "format.labelValue().validate('')", "optional.none()", 11 },
    { "format.labelValue().validate('a_b.c')", "optional.none()", 11 },
    { "format.labelValue().validate('-a')",
      "optional([a valid label must be an empty string or consist of alphanumeric characters, "
      "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue', "
      " or 'my_value',  or '12345', regex used for validation is "
      "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')])",
      11 },
    { "format.uri().validate('https://a/b')", "optional.none()", 553 },
    { "format.uri().validate('a')", "optional([parse \"a\": invalid URI for request])", 277 },
    { "format.uri().validate('')", "optional([parse \"\": empty url])", 277 },
    { "format.uuid().validate('123e4567-e89b-12d3-a456-426614174000')", "optional.none()", 73 },
    { "format.uuid().validate('123E4567-E89B-12D3-A456-426614174000')", "optional.none()", 73 },
    { "format.uuid().validate('123e4567')", "optional([does not match the UUID format])", 19 },
    { "format.byte().validate('aGk=')", "optional.none()", 22 },
    { "format.byte().validate('aGk')", "optional([invalid base64])", 22 },
    { "format.byte().validate('')", "optional([invalid base64])", 22 },
    { "format.date().validate('2020-01-01')", "optional.none()", 37 },
    { "format.date().validate('2020-1-1')", "optional([invalid date])", 19 },
    { "format.date().validate('2020-01-32')", "optional([invalid date])", 37 },
    { "format.datetime().validate('2020-01-01T00:00:00Z')", "optional.none()", 55 },
    { "format.datetime().validate('2020-01-01T00:00:00')", "optional([invalid datetime])", 37 },
    { "format.datetime().validate('2020-01-01')", "optional([invalid datetime])", 37 },
    { "format.named('dns1123Label').hasValue()", "true", 2 },
    { "format.named('nope')", "optional.none()", 1 },
    { "format.named('dns1123Label').value().validate('A')",
      "optional([a lowercase RFC 1123 label must consist of lower case alphanumeric characters "
      "or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or "
      "'123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')])",
      10 },
    { "format.named('uuid').optMap(f, f.validate('x').hasValue())", "optional(true)", 25 },
    { "format.dns1123Label() == format.dns1123Label()", "true", 3 },
    { "format.dns1123Label() == format.uuid()", "false", 3 },
    { "format.nope()", "! 1:1: undeclared reference to 'format' (in container '')\n1:12: "
                       "undeclared reference to 'nope' (in container '')" },
    { "format.dns1123Label().validate(1)", "! 1:31: found no matching overload for 'validate' "
                                           "applied to 'kubernetes.NamedFormat.(int)'" },
    { "format.dns1123Label().validate(s)", "optional.none()", 10 },
    { "!format.dns1123Label().validate('A').hasValue()", "false", 11 },
    { "format.dns1123Label().validate('A').value().size()", "1", 11 },
};

/* format.NAME().validate() */
static void test_formats(void **state)
{
    (void)state;
    check_scene(formats_cases, ARRAY_LEN(formats_cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE_TEST(test_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
