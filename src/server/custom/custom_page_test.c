#include "server/custom/custom_page.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "server/custom/suite_webhook.h"

static struct api api;
static struct suite_webhook webhook;
static struct loop *loop;

static int setup(void **state)
{
    (void)state;
    suite_webhook_start(&webhook, &api);
    loop = loop_new(NULL, NULL);
    return loop ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    loop_free(loop);
    suite_webhook_stop(&webhook);
    return 0;
}

static void on_done(void *arg, struct custom_page *p)
{
    *(struct custom_page **)arg = p;
    loop_stop(loop);
}

static struct custom_page *page_new(struct custom_page **ret_back, bool one_by_one)
{
    const struct custom_page_options options = { .api = &api,
                                                 .loop = loop,
                                                 .to = webhook.v2,
                                                 .one_by_one = one_by_one,
                                                 .done = on_done,
                                                 .arg = ret_back };
    return custom_page_new(&options);
}

static void fill(struct custom_page *p, const char *start, size_t max)
{
    struct store_snap *snap;
    struct err err = ERR_INIT(&webhook.arena);
    assert_int_equal(store_snap_begin(api.store, 0, &snap, &err), 0);
    assert_int_equal(custom_page_fill(p, snap, suite_webhook_key(&webhook, ""), false,
                                      *start ? suite_webhook_key(&webhook, start) : STR(""), max,
                                      &err),
                     0);
    store_snap_end(snap);
}

/* The next object as suite_webhook_shown() has it, or what was said against it; "END". */
static const char *next(struct custom_page *p)
{
    struct store_entry e;
    struct err err = ERR_INIT(&webhook.arena);
    int r = custom_page_next(p, &e, &err);
    if (r < 0)
        return str_cstr(&webhook.arena, err.msg);
    return r ? suite_webhook_shown(&webhook, &e) : "END";
}

static void expect_words(const char *got, const char *want)
{
    if (!strstr(got, want))
        fail_msg("want \"%s\", got \"%s\"", want, got);
}

static void what_needs_it_is_converted(void **state)
{
    struct custom_page *back = NULL, *p = page_new(&back, false);
    (void)state;
    (void)suite_webhook_put(&webhook, "a", webhook.v1);
    (void)suite_webhook_put(&webhook, "b", webhook.v2);
    (void)suite_webhook_put(&webhook, "c", webhook.v1);
    fill(p, "", 0);
    assert_true(custom_page_is_last(p));
    assert_true(custom_page_send(p));
    loop_run(loop);
    assert_ptr_equal(back, p);
    assert_int_equal(webhook.n_objects, 2);
    assert_string_equal(next(p), "v2, converted");
    assert_string_equal(next(p), "v2");
    assert_string_equal(next(p), "v2, converted");
    assert_string_equal(next(p), "END");
    custom_page_drop(p);
}

/* A page of which nothing has to be asked is ready at once. */
static void who_needs_nothing_does_not_wait(void **state)
{
    struct custom_page *back = NULL, *p = page_new(&back, false);
    (void)state;
    (void)suite_webhook_put(&webhook, "a", webhook.v2);
    fill(p, "", 0);
    assert_false(custom_page_send(p));
    assert_string_equal(next(p), "v2");
    assert_int_equal(webhook.n_calls, 0);
    custom_page_drop(p);
}

static void pages_are_bounded(void **state)
{
    struct custom_page *back = NULL, *p = page_new(&back, false);
    struct store_entry big = { .key = STR("/x"),
                               .value = { malloc(LIMIT_CONVERSION_SENT), LIMIT_CONVERSION_SENT } };
    (void)state;
    for (size_t i = 0; i < LIMIT_CONVERSION_OBJECTS; i++) {
        char name[20];
        (void)snprintf(name, sizeof(name), "w%04zu", i);
        (void)suite_webhook_put(&webhook, name, webhook.v2);
    }
    fill(p, "", 0);
    assert_true(custom_page_is_full(p));
    assert_false(custom_page_is_last(p)); /* it has not looked any further */
    custom_page_drop(p);

    p = page_new(&back, false);
    fill(p, "w0498", 0);
    assert_false(custom_page_is_full(p));
    assert_true(custom_page_is_last(p));
    custom_page_drop(p);

    p = page_new(&back, false);
    fill(p, "", 1);
    assert_string_equal(next(p), "v2");
    assert_string_equal(next(p), "END");
    assert_false(custom_page_is_last(p));
    custom_page_drop(p);

    p = page_new(&back, false);
    memset((char *)big.value.p, 'x', big.value.n);
    custom_page_add(p, &big);
    assert_true(custom_page_is_full(p));
    custom_page_drop(p);
    free((char *)big.value.p);
}

static void one_that_is_refused_fails_all_or_alone(void **state)
{
    struct custom_page *back = NULL, *p = page_new(&back, false);
    (void)state;
    (void)suite_webhook_put(&webhook, "a", webhook.v1);
    (void)suite_webhook_put(&webhook, "bad", webhook.v1);
    fill(p, "", 0);
    custom_page_convert(p);
    expect_words(next(p), "bad is bad");
    expect_words(next(p), "bad is bad");
    custom_page_drop(p);
    assert_int_equal(webhook.n_calls, 1);

    p = page_new(&back, true);
    fill(p, "", 0);
    custom_page_convert(p);
    assert_string_equal(next(p), "v2, converted");
    expect_words(next(p), "bad is bad");
    custom_page_drop(p);
    assert_int_equal(webhook.n_calls, 1 + 3);
}

/* Whoever does not answer is not asked for each. */
static void who_does_not_answer_is_asked_once(void **state)
{
    struct custom_page *back = NULL, *p = page_new(&back, true);
    (void)state;
    (void)suite_webhook_put(&webhook, "a", webhook.v1);
    (void)suite_webhook_put(&webhook, "b", webhook.v1);
    webhook.answer = "{}";
    webhook.status = 503;
    fill(p, "", 0);
    custom_page_convert(p);
    expect_words(next(p), "the server is currently unable to handle the request");
    expect_words(next(p), "the server is currently unable to handle the request");
    assert_int_equal(webhook.n_calls, 1);
    custom_page_drop(p);
}

static void busy_workers_are_an_answer(void **state)
{
    struct custom_page *back = NULL, *first = page_new(&back, false),
                       *second = page_new(&back, false);
    struct store_entry e;
    struct err err = ERR_INIT(&webhook.arena);
    (void)state;
    workers_free(api.hook_workers);
    api.hook_workers = workers_new(1, 0);
    (void)suite_webhook_put(&webhook, "a", webhook.v1);
    fill(first, "", 0);
    fill(second, "", 0);
    webhook.is_slow = true;
    assert_true(custom_page_send(first));
    suite_webhook_await_calls(&webhook, 1);
    assert_false(custom_page_send(second));
    assert_int_equal(custom_page_next(second, &e, &err), -ERR_TOO_MANY_REQUESTS);
    suite_webhook_release(&webhook);
    loop_run(loop);
    assert_string_equal(next(first), "v2, converted");
    custom_page_drop(first);
    custom_page_drop(second);
}

static void a_dropped_page_comes_back_to_nobody(void **state)
{
    struct custom_page *back = NULL, *p = page_new(&back, false);
    (void)state;
    (void)suite_webhook_put(&webhook, "a", webhook.v1);
    webhook.is_slow = true;
    fill(p, "", 0);
    assert_true(custom_page_send(p));
    suite_webhook_await_calls(&webhook, 1);
    assert_null(custom_page_drop(p));
    suite_webhook_release(&webhook);
    api.hook_workers = workers_free(api.hook_workers); /* it is back in the loop's mailbox */
    loop = loop_free(loop);
    assert_null(back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_needs_it_is_converted, setup, teardown),
        cmocka_unit_test_setup_teardown(who_needs_nothing_does_not_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(pages_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(one_that_is_refused_fails_all_or_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(who_does_not_answer_is_asked_once, setup, teardown),
        cmocka_unit_test_setup_teardown(busy_workers_are_an_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(a_dropped_page_comes_back_to_nobody, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
