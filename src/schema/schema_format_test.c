/* Formats of strings, with what kube-openapi's strfmt takes and refuses. */
#include "schema/schema_format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "schema/schema.h"
#include "schema/schema_mail.h"

static const struct row {
    const char *format, *text;
    bool fits;
} rows[] = {
    { "bsonobjectid", "507f1f77bcf86cd799439011", true },
    { "bsonobjectid", "507f1f77bcf86cd79943901", false },
    { "byte", "AAEC", true },
    { "byte", "AAE=", true },
    { "byte", "AAE", false },
    { "cidr", "10.0.0.0/8", true },
    { "cidr", "fd00::/8", true },
    { "cidr", "10.0.0.0", false },
    { "creditcard", "4111 1111 1111 1111", true },
    { "creditcard", "4111 1111 1111 1112", false },
    { "date", "2024-02-29", true },
    { "date", "2023-02-29", false },
    { "date", "24-02-29", false },
    { "date-time", "2024-02-29T01:02:03Z", true },
    { "date-time", "2024-02-29t01:02:03.5+01:00", true },
    { "datetime", "2024-02-29T01:02:03Z", true },
    { "date-time", "2024-02-29 01:02:03Z", false },
    { "date-time", "2024-02-29T24:02:03Z", false },
    { "date-time", "2024-02-29T01:02:03", false },
    { "duration", "1h30m", true },
    { "duration", "3 days", true },
    { "duration", "3 fortnights", false },
    { "duration", "soon", false },
    { "email", "a@b.c", true },
    { "email", "a b", false },
    { "hexcolor", "#abc", true },
    { "hexcolor", "AABBCC", true },
    { "hexcolor", "#abcd", false },
    { "hostname", "example.com", true },
    { "hostname", "exa_mple.com", false },
    { "hostname", "-example.com", false },
    { "ipv4", "10.0.0.1", true },
    { "ipv4", "::1", false },
    { "ipv4", "10.0.0.256", false },
    { "ipv6", "::1", true },
    { "ipv6", "10.0.0.1", false },
    { "isbn", "0-306-40615-2", true },
    { "isbn10", "0306406152", true },
    { "isbn10", "0306406153", false },
    { "isbn13", "978-0-306-40615-7", true },
    { "isbn13", "978-0-306-40615-8", false },
    { "k8s-short-name", "abc-1", true },
    { "k8s-short-name", "a.b", false },
    { "k8s-long-name", "a.b", true },
    { "k8s-long-name", "A.b", false },
    { "mac", "01:23:45:67:89:ab", true },
    { "mac", "0123.4567.89ab", true },
    { "mac", "01:23:45:67:89", false },
    { "password", "anything", true },
    { "rgbcolor", "rgb(1, 2, 255)", true },
    { "rgbcolor", "rgb(1, 2, 256)", false },
    { "ssn", "123-45-6789", true },
    { "ssn", "123-45-678", false },
    { "uri", "https://example.com/x", true },
    { "uri", "/x", true },
    { "uri", "x", false },
    { "uri", "", false },
    { "uuid", "123e4567-e89b-12d3-a456-426614174000", true },
    { "uuid", "123E4567E89B12D3A456426614174000", true },
    { "uuid", "123e4567-e89b-12d3-a456-42661417400", false },
    { "uuid3", "123e4567-e89b-32d3-a456-426614174000", true },
    { "uuid3", "123e4567-e89b-42d3-a456-426614174000", false },
    { "uuid4", "123e4567-e89b-42d3-a456-426614174000", true },
    { "uuid4", "123e4567-e89b-42d3-c456-426614174000", false },
    { "uuid5", "123e4567-e89b-52d3-8456-426614174000", true },
    { "uuid5", "123e4567-e89b-12d3-8456-426614174000", false },
};

static void fits(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct schema_format *f = schema_format_find(str_of(rows[i].format), SCHEMA_STRING);
        if (!f)
            fail_msg("there is no %s", rows[i].format);
        assert_true(schema_format_is_text(f));
        const struct regexp *pattern = schema_format_pattern(&a, f);
        if (schema_format_fits(&a, f, pattern, str_of(rows[i].text)) != rows[i].fits)
            fail_msg("%s: \"%s\" should%s fit", rows[i].format, rows[i].text,
                     rows[i].fits ? "" : " not");
    }
    arena_done(&a);
}

/* A format means something for its own types alone. */
static void is_found(void **state)
{
    (void)state;
    assert_non_null(schema_format_find(STR("int32"), SCHEMA_INTEGER));
    assert_non_null(schema_format_find(STR("double"), SCHEMA_NUMBER));
    assert_null(schema_format_find(STR("int32"), SCHEMA_STRING));
    assert_null(schema_format_find(STR("int32"), SCHEMA_NUMBER));
    assert_null(schema_format_find(STR("date"), SCHEMA_INTEGER));
    assert_non_null(schema_format_find(STR("date"), 0));
    assert_non_null(schema_format_find(STR("uuid"), SCHEMA_INTEGER | SCHEMA_STRING));
    assert_null(schema_format_find(STR("made-up"), SCHEMA_STRING));
    assert_null(schema_format_find(STR(""), SCHEMA_STRING));
    assert_false(schema_format_is_text(schema_format_find(STR("int64"), SCHEMA_INTEGER)));
}

/* As Go's net/mail has it. */
static void mail_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
    } addresses[] = {
        { "a@b", true },
        { "a.b+c@example.com", true },
        { "\"a b\"@example.com", true },
        { "Anna <anna@example.com>", true },
        { "\"Anna, B.\" <anna@example.com>", true },
        { "<anna@example.com>", true },
        { "anna@[127.0.0.1]", true },
        { "anna(a comment)@example.com", true },
        { " anna@example.com ", true },
        { "", false },
        { "anna", false },
        { "@example.com", false },
        { "anna@", false },
        { ".anna@example.com", false },
        { "an..na@example.com", false },
        { "anna@example.com, bert@example.com", false },
        { "Anna anna@example.com", false },
        { "anna@example.com (open", false },
        { "\"anna@example.com", false },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++)
        if (schema_is_mail_address(&a, str_of(addresses[i].text)) != addresses[i].good)
            fail_msg("%s", addresses[i].text);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits),
        cmocka_unit_test(is_found),
        cmocka_unit_test(mail_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
