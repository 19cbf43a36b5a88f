/* Formats of strings, with what kube-openapi's strfmt takes and refuses. */
#include "base/idiom.h"
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
    { "bsonobjectid", "507F1F77BCF86CD799439011", true },
    { "bsonobjectid", "507f1f77bcf86cd79943901g", false },
    { "byte", "AAEC", true },
    { "byte", "AAE=", true },
    { "byte", "AAE", false },
    { "byte", "", false },
    { "byte", "aGk", false },
    { "byte", "aGk=", true },
    { "byte", "aG-_", false },
    { "byte", "aGk=\n", false },
    { "cidr", "10.0.0.0/8", true },
    { "cidr", "fd00::/8", true },
    { "cidr", "10.0.0.0", false },
    { "cidr", "10.0.0.0/33", false },
    { "cidr", "10.0.0.1/8", true },
    { "cidr", "::/0", true },
    { "cidr", "::/129", false },
    { "cidr", "010.0.0.0/8", true },
    { "cidr", "10.0.0.0/08", true },
    { "creditcard", "4111 1111 1111 1111", true },
    { "creditcard", "4111 1111 1111 1112", false },
    { "creditcard", "4111111111111111", true },
    { "creditcard", "4111-1111-1111-1111", true },
    { "creditcard", "4111111111111112", false },
    { "creditcard", "378282246310005", true },
    { "creditcard", "1", false },
    { "date", "2024-02-29", true },
    { "date", "2023-02-29", false },
    { "date", "24-02-29", false },
    { "date", "2020-1-1", false },
    { "date", "2020-00-01", false },
    { "date", "0000-01-01", true },
    { "date", "2020-01-01T00:00:00Z", false },
    { "date", "20200101", false },
    { "date-time", "2024-02-29T01:02:03Z", true },
    { "date-time", "2024-02-29t01:02:03.5+01:00", true },
    { "date-time", "2024-02-29 01:02:03Z", false },
    { "date-time", "2024-02-29T24:02:03Z", false },
    { "date-time", "2024-02-29T01:02:03", false },
    { "date-time", "2020-01-01T00:00:00.123456789Z", true },
    { "date-time", "2020-01-01T00:00:00,5Z", true },
    { "date-time", "2020-01-01T00:00:60Z", false },
    { "date-time", "2020-01-01T00:00:00+01:00", true },
    { "date-time", "2020-01-01T00:00:00+0100", false },
    { "date-time", "2020-01-01T00:00:00+25:00", true },
    { "date-time", "2020-02-30T00:00:00Z", false },
    { "date-time", "2020-01-01T0:00:00Z", false },
    { "date-time", "2020-01-01t00:00:00z", true },
    { "datetime", "2024-02-29T01:02:03Z", true },
    { "duration", "1h30m", true },
    { "duration", "3 days", true },
    { "duration", "3 fortnights", false },
    { "duration", "soon", false },
    { "duration", "1h", true },
    { "duration", "1.5h", true },
    { "duration", "-1h", true },
    { "duration", "1 h", true },
    { "duration", "1 hour", true },
    { "duration", "1 hours 2 mins", true },
    { "duration", "1 month", false },
    { "duration", "1", false },
    { "duration", "", false },
    { "duration", "h", false },
    { "duration", "1d", true },
    { "duration", "1w", true },
    { "duration", "1 WEEK", true },
    { "email", "a@b.c", true },
    { "email", "a b", false },
    { "email", "a@b", true },
    { "email", "a@", false },
    { "email", "@b", false },
    { "email", "a b@c", false },
    { "email", "\"a b\"@c.d", true },
    { "email", "A <a@b.c>", true },
    { "email", "a@b@c", false },
    { "email", "a.b@c.d", true },
    { "email", ".a@b.c", false },
    { "email", "a@[1.2.3.4]", true },
    { "hexcolor", "#abc", true },
    { "hexcolor", "AABBCC", true },
    { "hexcolor", "#abcd", false },
    { "hexcolor", "#fff", true },
    { "hexcolor", "fff", true },
    { "hexcolor", "#ffff", false },
    { "hexcolor", "#ffffff", true },
    { "hexcolor", "#FFFFFF", true },
    { "hexcolor", "#ggg", false },
    { "hostname", "example.com", true },
    { "hostname", "exa_mple.com", false },
    { "hostname", "-example.com", false },
    { "hostname", "a", true },
    { "hostname", "a.b.c", false },
    { "hostname", "a-b", true },
    { "hostname", "-a", false },
    { "hostname", "a-", true },
    { "hostname", "a_b", false },
    { "hostname", "a..b", false },
    { "hostname", "1", true },
    { "hostname", "A.B", false },
    { "hostname", "bücher.de", true },
    { "hostname", "", false },
    { "hostname", "a.b.", false },
    { "ipv4", "10.0.0.1", true },
    { "ipv4", "::1", false },
    { "ipv4", "10.0.0.256", false },
    { "ipv4", "1.2.3.4", true },
    { "ipv4", "01.2.3.4", true },
    { "ipv4", "1.2.3", false },
    { "ipv4", "::ffff:1.2.3.4", true },
    { "ipv4", "", false },
    { "ipv6", "::1", true },
    { "ipv6", "10.0.0.1", false },
    { "ipv6", "::", true },
    { "ipv6", "1:2:3:4:5:6:7:8", true },
    { "ipv6", "1:2:3:4:5:6:7", false },
    { "ipv6", "fe80::1%eth0", false },
    { "ipv6", "::ffff:1.2.3.4", true },
    { "ipv6", "1.2.3.4", false },
    { "ipv6", "", false },
    { "isbn", "0-306-40615-2", true },
    { "isbn", "978-0-306-40615-7", true },
    { "isbn10", "0306406152", true },
    { "isbn10", "0306406153", false },
    { "isbn10", "030640615X", false },
    { "isbn10", "080442957X", true },
    { "isbn10", "0306406150", false },
    { "isbn13", "978-0-306-40615-7", true },
    { "isbn13", "978-0-306-40615-8", false },
    { "isbn13", "9780306406157", true },
    { "isbn13", "9780306406150", false },
    { "isbn13", "0306406152", false },
    { "k8s-long-name", "a.b", true },
    { "k8s-long-name", "A.b", false },
    { "k8s-long-name", "a..b", false },
    { "k8s-long-name", "a.b-", false },
    { "k8s-long-name", "", false },
    { "k8s-short-name", "abc-1", true },
    { "k8s-short-name", "a.b", false },
    { "k8s-short-name", "a", true },
    { "k8s-short-name", "a-b", true },
    { "k8s-short-name", "-a", false },
    { "k8s-short-name", "A", false },
    { "k8s-short-name", "", false },
    { "mac", "01:23:45:67:89:ab", true },
    { "mac", "0123.4567.89ab", true },
    { "mac", "01:23:45:67:89", false },
    { "mac", "01-23-45-67-89-ab", true },
    { "mac", "01:23:45:67:89:ab:cd:ef", true },
    { "mac", "", false },
    { "mac", "0123456789ab", true },
    { "mac", "0123456789abcdef", true },
    { "mac", "0123456789ag", false },
    { "mac", "0123456789abcd", false },
    { "password", "anything", true },
    { "password", "", true },
    { "rgbcolor", "rgb(1, 2, 255)", true },
    { "rgbcolor", "rgb(1, 2, 256)", false },
    { "rgbcolor", "rgb(0,0,0)", true },
    { "rgbcolor", "rgb(255, 255, 255)", true },
    { "rgbcolor", "rgb(256,0,0)", false },
    { "rgbcolor", "rgb(0,0)", false },
    { "rgbcolor", "rgba(0,0,0,0)", false },
    { "ssn", "123-45-6789", true },
    { "ssn", "123-45-678", false },
    { "ssn", "123 45 6789", true },
    { "ssn", "123456789", false },
    { "ssn", "12-345-6789", false },
    { "uri", "https://example.com/x", true },
    { "uri", "/x", true },
    { "uri", "x", false },
    { "uri", "", false },
    { "uri", "https://a.b/c?d#e", true },
    { "uri", "/a", true },
    { "uri", "a", false },
    { "uri", "//a", true },
    { "uri", "mailto:a@b", true },
    { "uri", "http://[::1]/", true },
    { "uri", "http://a b/", false },
    { "uri", "%zz", false },
    { "uri", "http://a:b/", false },
    { "uuid", "123e4567-e89b-12d3-a456-426614174000", true },
    { "uuid", "123E4567E89B12D3A456426614174000", true },
    { "uuid", "123e4567-e89b-12d3-a456-42661417400", false },
    { "uuid", "123e4567e89b12d3a456426614174000", true },
    { "uuid", "123E4567-E89B-12D3-A456-426614174000", true },
    { "uuid", "123e4567-e89b-12d3-a456-42661417400g", false },
    { "uuid", "{123e4567-e89b-12d3-a456-426614174000}", false },
    { "uuid3", "123e4567-e89b-32d3-a456-426614174000", true },
    { "uuid3", "123e4567-e89b-42d3-a456-426614174000", false },
    { "uuid3", "a3bb189e-8bf9-3888-9912-ace4e6543002", true },
    { "uuid3", "a3bb189e-8bf9-4888-9912-ace4e6543002", false },
    { "uuid4", "123e4567-e89b-42d3-a456-426614174000", true },
    { "uuid4", "123e4567-e89b-42d3-c456-426614174000", false },
    { "uuid4", "a3bb189e-8bf9-4888-9912-ace4e6543002", true },
    { "uuid4", "a3bb189e-8bf9-4888-7912-ace4e6543002", false },
    { "uuid5", "123e4567-e89b-52d3-8456-426614174000", true },
    { "uuid5", "123e4567-e89b-12d3-8456-426614174000", false },
    { "uuid5", "a3bb189e-8bf9-5888-9912-ace4e6543002", true },
    { "uuid5", "a3bb189e-8bf9-3888-9912-ace4e6543002", false },
};

static void fits(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
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
    for (size_t i = 0; i < ARRAY_LEN(addresses); i++)
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
