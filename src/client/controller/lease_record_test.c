#include "client/controller/lease_record.h"

#include "client/suite_client.h"

static struct spn_value *read_json(struct spn_arena *a, const char *json)
{
    struct spn_value *v;
    assert_int_equal(spn_value_read_json(a, spn_text_of(json), &v, NULL), 0);
    return v;
}

static void a_lease_is_read(void **state)
{
    struct spn_value *v =
        read_json(*state, "{\"spec\":{\"holderIdentity\":\"me\",\"leaseDurationSeconds\":15,"
                          "\"leaseTransitions\":3,\"acquireTime\":\"2026-01-02T03:04:05.000006Z\","
                          "\"renewTime\":\"2026-01-02T03:04:06.000006Z\"}}");
    struct lease_record r = lease_record_read(v);
    assert_text(r.holder, "me");
    assert_int_equal(r.seconds, 15);
    assert_int_equal(r.transitions, 3);
    assert_text(r.acquired, "2026-01-02T03:04:05.000006Z");
    assert_text(r.renewed, "2026-01-02T03:04:06.000006Z");
}

static void an_empty_lease_is_nobodys(void **state)
{
    struct lease_record r = lease_record_read(read_json(*state, "{\"spec\":{}}"));
    assert_int_equal(r.holder.n, 0);
    assert_int_equal(r.seconds, 0);
    assert_int_equal(r.transitions, 0);
}

static void what_is_written_replaces_the_spec(void **state)
{
    struct spn_value *v = read_json(
        *state,
        "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"strategy\":\"OldestEmulationVersion\"}}");
    const struct lease_record r = { .holder = SPN_TEXT(""),
                                    .seconds = 1,
                                    .transitions = 7,
                                    .acquired = lease_time(*state, 1700000000 * NS_PER_SEC + 1500),
                                    .renewed = SPN_TEXT("2026-01-02T03:04:06.000006Z") };
    lease_record_write(*state, v, &r);
    assert_text(spn_value_json(*state, v),
                "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"holderIdentity\":\"\","
                "\"leaseDurationSeconds\":1,\"acquireTime\":\"2023-11-14T22:13:20.000001Z\","
                "\"renewTime\":\"2026-01-02T03:04:06.000006Z\",\"leaseTransitions\":7}}");
}

static void each_part_makes_a_difference(void **state)
{
    const struct lease_record r = { SPN_TEXT("me"), 15, 1, SPN_TEXT("a"), SPN_TEXT("b") };
    struct lease_record copy = lease_record_copy(*state, &r);
    assert_true(lease_record_eq(&r, &copy));
    copy.renewed = SPN_TEXT("c");
    assert_false(lease_record_eq(&r, &copy));
    copy = r;
    copy.transitions = 2;
    assert_false(lease_record_eq(&r, &copy));
    copy = r;
    copy.holder = SPN_TEXT("you");
    assert_false(lease_record_eq(&r, &copy));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        suite_test(a_lease_is_read),
        suite_test(an_empty_lease_is_nobodys),
        suite_test(what_is_written_replaces_the_spec),
        suite_test(each_part_makes_a_difference),
    };
    return cmocka_run_group_tests_name("lease_record", tests, NULL, NULL);
}
