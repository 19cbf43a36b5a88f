#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"
#include "server/core/service_ip.h"

static struct service_ranges ranges(const char *cidrs)
{
    struct service_ranges s;
    assert_int_equal(service_ranges_parse(str_of(cidrs), STR("30000-32767"), &s, NULL), 0);
    return s;
}

static void ranges_are_read(void **state)
{
    static const struct {
        const char *cidrs, *text;
        uint64_t size, band;
        const char *first, *last;
    } rows[] = {
        { "10.0.0.0/16", "10.0.0.0/16", 65534, 256, "10.0.0.1", "10.0.255.254" },
        { "10.0.7.9/24", "10.0.7.0/24", 254, 16, "10.0.7.1", "10.0.7.254" },
        { "10.96.0.0/12", "10.96.0.0/12", 1048574, 256, "10.96.0.1", "10.111.255.254" },
        { "192.168.1.0/28", "192.168.1.0/28", 14, 0, "192.168.1.1", "192.168.1.14" },
        { "192.168.1.16/30", "192.168.1.16/30", 2, 0, "192.168.1.17", "192.168.1.18" },
        { "fd00::/112", "fd00::/112", 65535, 256, "fd00::1", "fd00::ffff" },
        { "fd00:0:0:1::/120", "fd00:0:0:1::/120", 255, 16, "fd00:0:0:1::1", "fd00:0:0:1::ff" },
    };
    struct arena a;
    arena_init(&a);
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct service_ranges s = ranges(rows[i].cidrs);
        const struct service_range *r = &s.ips[0];
        uint64_t place;
        assert_int_equal(s.n_ips, 1);
        assert_true(str_eq(service_range_text(&a, r), str_of(rows[i].text)));
        assert_int_equal(service_range_size(r), rows[i].size);
        assert_int_equal(service_range_band(r), rows[i].band);
        assert_true(str_eq(service_range_address(&a, r, 0), str_of(rows[i].first)));
        assert_true(str_eq(service_range_address(&a, r, rows[i].size - 1), str_of(rows[i].last)));
        assert_true(service_range_place(r, str_of(rows[i].last), &place));
        assert_int_equal(place, rows[i].size - 1);
    }
    arena_done(&a);
}

static void bad_ranges_are_refused(void **state)
{
    static const char *const rows[][2] = {
        { "", "30000-32767" },
        { "10.0.0.0", "30000-32767" },
        { "10.0.0.0/33", "30000-32767" },
        { "10.0.0.0/-1", "30000-32767" },
        { "10.0.0/16", "30000-32767" },
        { "10.0.0.256/16", "30000-32767" },
        { "10.0.0.0/31", "30000-32767" },
        { "fd00::/129", "30000-32767" },
        { "fd00:::/64", "30000-32767" },
        { "10.0.0.0/16,10.1.0.0/16", "30000-32767" },
        { "10.0.0.0/16,fd00::/64,10.1.0.0/16", "30000-32767" },
        { "10.0.0.0/16,", "30000-32767" },
        { "10.0.0.0/16", "" },
        { "10.0.0.0/16", "30000" },
        { "10.0.0.0/16", "0-10" },
        { "10.0.0.0/16", "2-1" },
        { "10.0.0.0/16", "1-65536" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct service_ranges s;
        assert_int_equal(service_ranges_parse(str_of(rows[i][0]), str_of(rows[i][1]), &s, NULL),
                         -ERR_INVALID);
    }
}

static void addresses_have_their_place(void **state)
{
    static const struct {
        const char *address;
        int64_t place; /* -1: none */
    } rows[] = {
        { "10.0.0.1", 0 },      { "10.0.1.0", 255 },  { "010.000.000.001", 0 }, { "10.0.0.0", -1 },
        { "10.0.255.255", -1 }, { "10.1.0.1", -1 },   { "9.255.0.1", -1 },      { "fd00::1", -1 },
        { "10.0.0", -1 },       { "10.0.0.0.1", -1 }, { "10.0.0.1x", -1 },      { "", -1 },
        { "None", -1 },
    };
    struct service_ranges s = ranges("10.0.0.0/16");
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint64_t place = 0;
        bool found = service_range_place(&s.ips[0], str_of(rows[i].address), &place);
        assert_int_equal(found, rows[i].place >= 0);
        if (found)
            assert_int_equal(place, rows[i].place);
    }
}

static void every_place_is_another_address(void **state)
{
    struct service_ranges s = ranges("10.20.28.0/22");
    struct arena a;
    arena_init(&a);
    (void)state;
    for (uint64_t i = 0; i < service_range_size(&s.ips[0]); i++) {
        uint64_t place;
        assert_true(
            service_range_place(&s.ips[0], service_range_address(&a, &s.ips[0], i), &place));
        assert_int_equal(place, i);
    }
    arena_done(&a);
}

static void families_are_told_apart(void **state)
{
    struct service_ranges s = ranges("fd00::/108,10.0.0.0/16");
    (void)state;
    assert_int_equal(s.n_ips, 2);
    assert_true(s.ips[0].is_v6);
    assert_ptr_equal(service_range_of(&s, true), &s.ips[0]);
    assert_ptr_equal(service_range_of(&s, false), &s.ips[1]);
    s = ranges("10.0.0.0/16");
    assert_null(service_range_of(&s, true));
    assert_int_equal(service_ports_size(&s), 2768);
    assert_int_equal(service_ports_band(&s), 86);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_read),
        cmocka_unit_test(bad_ranges_are_refused),
        cmocka_unit_test(addresses_have_their_place),
        cmocka_unit_test(every_place_is_another_address),
        cmocka_unit_test(families_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
