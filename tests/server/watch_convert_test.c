/* Watches of custom objects that only a webhook can show in the wanted version: in order, whatever
 * takes how long, and each object asked for once. */
#include "live.h"

#include "base/idiom.h"
#include "server/custom/suite_webhook.h"

#define WIDGETS "/apis/suite.example.com/v2/widgets"

static struct suite_webhook webhook;

static int setup(void **state)
{
    (void)live_setup(state);
    suite_webhook_start(&webhook, &live.api);
    return 0;
}

static int teardown(void **state)
{
    live_drain(&live);
    harness_wait(live.is_drained);
    suite_webhook_stop(&webhook);
    return live_teardown(state);
}

/* ---- Changes and events ---- */

static void put(const char *name, const struct custom_version *as)
{
    (void)suite_webhook_put(&webhook, name, as);
}

static void delete (const char *name)
{
    struct store_op op = { STORE_DELETE, suite_webhook_key(&webhook, name), STR(""), STORE_ANY };
    struct store_txn txn = { .ops = &op, .n_ops = 1 };
    assert_int_equal(store_commit(live.api.store, &txn, NULL), 0);
}

/* The next event as "TYPE NAME VERSION", with "!" if the webhook has converted it. */
static const char *event(struct stream *s)
{
    struct str line;
    if (!stream_line(s, &line))
        return "END";
    struct value ev = live_json(&live, line);
    const struct value *obj = value_get(&ev, STR("object"));
    struct str name = value_str(value_dig(obj, "metadata", "name"));
    if (str_eq(value_str(value_get(&ev, STR("type"))), STR("ERROR")))
        return live_path("ERROR " STR_FMT, STR_ARG(value_str(value_get(obj, STR("message")))));
    return live_path(STR_FMT " " STR_FMT " " STR_FMT "%s",
                     STR_ARG(value_str(value_get(&ev, STR("type")))), STR_ARG(name),
                     STR_ARG(str_skip(value_str(value_get(obj, STR("apiVersion"))),
                                      STR("suite.example.com/").n)),
                     value_str(value_dig(obj, "spec", "by")).n ? "!" : "");
}

static void watch(struct stream *s, const char *params)
{
    stream_open(s, &live, live_path(WIDGETS "?watch=1%s", params));
}

/* ---- What is seen ---- */

static void all_of_an_objects_life(void **state)
{
    struct stream s;
    (void)state;
    put("a", webhook.v1);
    watch(&s, "");
    assert_string_equal(event(&s), "ADDED a v2!");
    put("a", webhook.v1);
    put("b", webhook.v1);
    put("a", webhook.v2);
    delete ("b");
    assert_string_equal(event(&s), "MODIFIED a v2!");
    assert_string_equal(event(&s), "ADDED b v2!");
    assert_string_equal(event(&s), "MODIFIED a v2");
    assert_string_equal(event(&s), "DELETED b v2!");
    stream_close(&s);
}

/* What needs no webhook waits behind what does. */
static void order_is_kept(void **state)
{
    struct stream s;
    (void)state;
    const uint64_t rev = store_rev(live.api.store);
    webhook.is_slow = true;
    put("a", webhook.v1);
    put("b", webhook.v2);
    watch(&s, live_path("&resourceVersion=%llu", (unsigned long long)rev));
    suite_webhook_await_calls(&webhook, 1);
    put("c", webhook.v2);
    webhook.is_slow = false;
    suite_webhook_release(&webhook);
    assert_string_equal(event(&s), "ADDED a v2!");
    assert_string_equal(event(&s), "ADDED b v2");
    assert_string_equal(event(&s), "ADDED c v2");
    assert_int_equal(webhook.n_objects, 1);
    stream_close(&s);
}

/* Once on each loop, however many wait for it there. */
static void an_object_is_asked_for_once(void **state)
{
    struct stream s[8];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(s); i++)
        watch(&s[i],
              live_path("&resourceVersion=%llu", (unsigned long long)store_rev(live.api.store)));
    webhook.is_slow = true;
    put("a", webhook.v1);
    suite_webhook_await_calls(&webhook, 1);
    webhook.is_slow = false;
    suite_webhook_release(&webhook);
    for (size_t i = 0; i < ARRAY_LEN(s); i++)
        assert_string_equal(event(&s[i]), "ADDED a v2!");
    assert_true(webhook.n_objects <= LIVE_LOOPS);
    for (size_t i = 0; i < ARRAY_LEN(s); i++)
        stream_close(&s[i]);
}

/* More than a queue holds come all the same, and in few calls. */
static void a_full_queue_goes_on_later(void **state)
{
    enum { N = 400 };
    struct stream s;
    char name[20];
    (void)state;
    const uint64_t rev = store_rev(live.api.store);
    for (int i = 0; i < N; i++) {
        (void)snprintf(name, sizeof(name), "w%d", i);
        put(name, webhook.v1);
    }
    watch(&s, live_path("&resourceVersion=%llu", (unsigned long long)rev));
    for (int i = 0; i < N; i++)
        assert_string_equal(event(&s), live_path("ADDED w%d v2!", i));
    assert_int_equal(webhook.n_objects, N);
    assert_true(webhook.n_calls < N / 10);
    stream_close(&s);
}

/* One that is refused ends the watch in its place: what comes before it is still shown. */
static void one_that_is_refused_ends_it(void **state)
{
    struct stream s;
    (void)state;
    const uint64_t rev = store_rev(live.api.store);
    put("a", webhook.v1);
    put("bad", webhook.v1);
    put("c", webhook.v1);
    watch(&s, live_path("&resourceVersion=%llu", (unsigned long long)rev));
    assert_string_equal(event(&s), "ADDED a v2!");
    assert_string_equal(event(&s),
                        "ERROR conversion webhook for suite.example.com/v1, Kind=Widget failed: "
                        "bad is bad");
    assert_string_equal(event(&s), "END");
    stream_close(&s);
}

/* Whether an object is selected is seen in the wanted version, before and after. */
static void labels_select(void **state)
{
    struct stream s;
    (void)state;
    const uint64_t rev = store_rev(live.api.store);
    put("a", webhook.v1);
    delete ("a");
    put("b", webhook.v2);
    watch(&s, live_path("&resourceVersion=%llu&labelSelector=!x", (unsigned long long)rev));
    assert_string_equal(event(&s), "ADDED a v2!");
    assert_string_equal(event(&s), "DELETED a v2!");
    assert_string_equal(event(&s), "ADDED b v2");
    stream_close(&s);
}

/* Whoever leaves while its objects are away leaves the others theirs. */
static void who_leaves_is_not_missed(void **state)
{
    struct stream s[4];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(s); i++)
        watch(&s[i],
              live_path("&resourceVersion=%llu", (unsigned long long)store_rev(live.api.store)));
    webhook.is_slow = true;
    put("a", webhook.v1);
    suite_webhook_await_calls(&webhook, 1);
    stream_close(&s[0]);
    stream_close(&s[1]);
    webhook.is_slow = false;
    suite_webhook_release(&webhook);
    for (size_t i = 2; i < ARRAY_LEN(s); i++) {
        assert_string_equal(event(&s[i]), "ADDED a v2!");
        stream_close(&s[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_of_an_objects_life, setup, teardown),
        cmocka_unit_test_setup_teardown(order_is_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(an_object_is_asked_for_once, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_queue_goes_on_later, setup, teardown),
        cmocka_unit_test_setup_teardown(one_that_is_refused_ends_it, setup, teardown),
        cmocka_unit_test_setup_teardown(labels_select, setup, teardown),
        cmocka_unit_test_setup_teardown(who_leaves_is_not_missed, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
