/* Timestamps and durations, beside upstream. */
#include "base/idiom.h"
#include "cel/check_test.h"

/* Durations: reading, parts, sums. */
static void test_durations(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "duration('1h').getHours()", "1", 1 },
        { "duration('90m').getHours()", "1", 1 },
        { "duration('-90m').getHours()", "-1", 1 },
        { "duration('90m').getMinutes()", "90", 1 },
        { "duration('90s').getMinutes()", "1", 1 },
        { "duration('1.5s').getSeconds()", "1", 1 },
        { "duration('-1.5s').getSeconds()", "-1", 1 },
        { "duration('1.5s').getMilliseconds()", "1500", 1 },
        { "duration('123456789ns').getMilliseconds()", "123", 1 },
        { "duration('1s') + duration('1ms')", "1.001s", 1 },
        { "duration('1s') - duration('2s')", "-1s", 1 },
        { "duration('2562047h47m16.854775807s')", "9223372036.854776s" },
        { "duration('2562047h47m16.854775808s')", "! 1:10: invalid duration argument" },
        { "duration('2562047h47m16.854775807s') + duration('1ns')", "! integer overflow", 1 },
        { "-duration('1s')", "! 1:1: found no matching overload for '-_' applied to '(duration)'" },
        { "duration('1h') > duration('59m')", "true", 1 },
        { "duration('1us')", "0.000001s" },
        { "duration('1µs')", "0.000001s" },
        { "duration('1μs')", "0.000001s" },
        { "duration('+1s')", "1s" },
        { "duration('1 s')", "! 1:10: invalid duration argument" },
        { "duration('1s1h')", "3601s" },
        { "duration('0')", "0s" },
        { "duration('-0')", "0s" },
        { "duration('1.s')", "1s" },
        { "duration('.s')", "! 1:10: invalid duration argument" },
        { "duration('1.0000000001s')", "1s" },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

/* Times: parts, zones, sums. */
static void test_timestamps(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "timestamp('2024-02-29T23:58:57.123456789Z').getFullYear()", "2024", 1 },
        { "timestamp('2024-02-29T23:58:57.123456789Z').getMonth()", "1", 1 },
        { "timestamp('2024-02-29T23:58:57.123456789Z').getDate()", "29", 1 },
        { "timestamp('2024-02-29T23:58:57.123456789Z').getDayOfMonth()", "28", 1 },
        { "timestamp('2024-02-29T23:58:57.123456789Z').getDayOfWeek()", "4", 1 },
        { "timestamp('2024-02-29T23:58:57.123456789Z').getDayOfYear()", "59", 1 },
        { "timestamp('2024-12-31T23:58:57Z').getDayOfYear()", "365", 1 },
        { "timestamp('2024-02-29T23:58:57.123456789Z').getHours()", "23", 1 },
        { "timestamp('2024-02-29T23:58:57.123456789Z').getMinutes()", "58", 1 },
        { "timestamp('2024-02-29T23:58:57.123456789Z').getSeconds()", "57", 1 },
        { "timestamp('2024-02-29T23:58:57.123456789Z').getMilliseconds()", "123", 1 },
        { "timestamp('2024-02-29T23:58:57+05:30').getHours()", "18", 1 },
        { "timestamp('2024-02-29T23:58:57Z').getHours('UTC')", "23", 1 },
        { "timestamp('2024-02-29T23:58:57Z').getHours('+01:00')", "0", 1 },
        { "timestamp('2024-02-29T23:58:57Z').getDate('+01:00')", "1", 1 },
        { "timestamp('2024-02-29T23:58:57Z').getHours('-05:30')", "18", 1 },
        { "timestamp('2024-02-29T23:58:57Z').getMinutes('-05:30')", "28", 1 },
        { "timestamp('2024-02-29T23:58:57Z').getHours('05:30')", "5", 1 },
        { "timestamp('2024-02-29T23:58:57Z').getHours('5:30')", "5", 1 },
        { "timestamp('2024-02-29T23:58:57Z').getHours('+25:00')", "0", 1 },
        { "timestamp('2024-02-29T23:58:57Z').getHours('+1')", "! unknown time zone +1", 1 },
        { "timestamp('2024-02-29T23:58:57Z').getHours('')", "23", 1 },
        { "timestamp('2024-02-29T23:58:57Z').getHours('Local')", "23", 1 },
        { "timestamp('2024-02-29T23:58:57Z').getHours('No/Where')", "! unknown time zone No/Where",
          1 },
        { "timestamp('2024-02-29T23:58:57Z').getHours('a:b')",
          "! strconv.Atoi: parsing \"a\": invalid syntax", 1 },
        { "timestamp('2024-02-29T23:58:57Z').getFullYear('+01:00')", "2024", 1 },
        { "timestamp('2024-12-31T23:58:57Z').getFullYear('+01:00')", "2025", 1 },
        { "timestamp('2024-12-31T23:58:57Z').getMonth('+01:00')", "0", 1 },
        { "timestamp('2024-12-31T23:58:57Z').getDayOfYear('+01:00')", "0", 1 },
        { "timestamp('2024-12-31T23:58:57Z').getDayOfWeek('+01:00')", "3", 1 },
        { "timestamp('2024-12-31T23:58:57Z').getDayOfMonth('+01:00')", "0", 1 },
        { "timestamp('2024-12-31T23:58:57Z').getSeconds('+01:00')", "57", 1 },
        { "timestamp('2024-12-31T23:58:57.5Z').getMilliseconds('+01:00')", "500", 1 },
        { "timestamp('2024-02-28T00:00:00Z') + duration('48h')", "2024-03-01T00:00:00Z", 1 },
        { "timestamp('2024-03-01T00:00:00Z') - duration('1ns')", "2024-02-29T23:59:59.999999999Z",
          1 },
        { "timestamp('2024-03-01T00:00:00Z') - timestamp('2024-02-28T00:00:00Z')", "172800s", 1 },
        { "timestamp('2024-03-01T00:00:00Z') - timestamp('2024-03-01T00:00:00+01:00')", "3600s",
          1 },
        { "timestamp('9999-12-31T23:59:59Z') + duration('1s')", "! timestamp overflow", 1 },
        { "timestamp('0001-01-01T00:00:00Z') - duration('1s')", "! timestamp overflow", 1 },
        { "timestamp('9999-12-31T23:59:59Z') - timestamp('0001-01-01T00:00:00Z')",
          "! integer overflow", 1 },
        { "timestamp('2024-02-29t23:58:57z')", "! 1:11: invalid timestamp argument" },
        { "timestamp('2024-02-30T00:00:00Z')", "! 1:11: invalid timestamp argument" },
        { "timestamp('2023-02-29T00:00:00Z')", "! 1:11: invalid timestamp argument" },
        { "timestamp('2024-02-29T24:00:00Z')", "! 1:11: invalid timestamp argument" },
        { "timestamp('2024-02-29T23:60:00Z')", "! 1:11: invalid timestamp argument" },
        { "timestamp('2024-02-29T23:59:60Z')", "! 1:11: invalid timestamp argument" },
        { "timestamp('2024-02-29T23:59:59.Z')", "! 1:11: invalid timestamp argument" },
        { "timestamp('2024-02-29T23:59:59,5Z')", "2024-02-29T23:59:59.5Z" },
        { "timestamp('2024-02-29T23:59:59.1234567891Z')", "2024-02-29T23:59:59.123456789Z" },
        { "timestamp('2024-02-29T23:59:59+24:00')", "2024-02-29T23:59:59+24:00" },
        { "timestamp('2024-02-29T23:59:59+0100')", "! 1:11: invalid timestamp argument" },
        { "timestamp('2024-2-29T23:59:59Z')", "! 1:11: invalid timestamp argument" },
        { "string(timestamp('2024-02-29T23:59:59.100Z'))", "2024-02-29T23:59:59.1Z" },
        { "string(timestamp('2024-02-29T23:59:59.000Z'))", "2024-02-29T23:59:59Z" },
        { "string(timestamp('2024-02-29T23:59:59-00:00'))", "2024-02-29T23:59:59Z" },
        { "timestamp('2024-02-29T23:59:59Z') < timestamp('2024-02-29T23:59:59.000000001Z')", "true",
          1 },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

/* Offsets of zones. */
static void test_offsets(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "timestamp('2024-02-29T23:58:57Z').getHours('1:b')",
          "! strconv.Atoi: parsing \"b\": invalid syntax", 1 },
        { "timestamp('2024-02-29T23:58:57Z').getHours(':')",
          "! strconv.Atoi: parsing \"\": invalid syntax", 1 },
        { "timestamp('2024-02-29T23:58:57Z').getHours('1:')",
          "! strconv.Atoi: parsing \"\": invalid syntax", 1 },
        { "timestamp('2024-02-29T23:58:57Z').getHours('-1:-30')", "23", 1 },
        { "timestamp('2024-02-29T23:58:57Z').getMinutes('-1:-30')", "28", 1 },
        { "timestamp('2024-02-29T23:58:57Z').getHours('1:2:3')",
          "! strconv.Atoi: parsing \"2:3\": invalid syntax", 1 },
        { "timestamp('2024-02-29T23:58:57Z').getHours('+01:99')", "2", 1 },
        { "timestamp('2024-02-29T23:58:57Z').getMinutes('+01:99')", "37", 1 },
        { "timestamp('2024-02-29T23:58:57Z').getHours('--1:00')",
          "! strconv.Atoi: parsing \"--1\": invalid syntax", 1 },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE_TEST(test_durations),
        CASE_TEST(test_timestamps),
        CASE_TEST(test_offsets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
