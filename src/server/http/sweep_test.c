#include "server/http/sweep.h"

#include <stdio.h>

#include "base/idiom.h"
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

/* ---- Objects that are anything ---- */

static void commit(enum store_op_type type, const char *key)
{
    struct store_op op = { type, str_of(key), STR("v"), STORE_ANY };
    struct store_txn txn = { .ops = &op, .n_ops = 1 };
    assert_int_equal(store_commit(api.store, &txn, NULL), 0);
}

/* "/k/0000" and so on. */
static void put_many(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char key[20];
        (void)snprintf(key, sizeof(key), "/k/%04zu", i);
        commit(STORE_PUT, key);
    }
}

/* ---- Who reads them ---- */

enum { TURNS_MAX = 10 };

struct reader {
    struct sweep sweep;
    struct sweep_cursor at;
    uint64_t max;
    struct err err;
    int result;                     /* of the last turn */
    size_t n, n_turns, n_converted; /* objects, and turns that had any */
    size_t turns[TURNS_MAX];        /* objects of each */
    uint64_t revs[TURNS_MAX];
    void (*between)(struct reader *r); /* after a turn; NULL: nothing happens */
};

static int read_objects(struct reader *r)
{
    struct store_entry e;
    int got = SWEEP_LATER;
    while (!sweep_is_enough(&r->sweep) && r->n < r->max) {
        got = sweep_next(&r->sweep, &e, &r->err);
        if (got != SWEEP_OBJECT)
            return got;
        r->n++;
        r->turns[r->n_turns]++;
        r->n_converted += r->sweep.opt.kind != NULL &&
                          strcmp(suite_webhook_shown(&webhook, &e), "v2, converted") == 0;
    }
    return SWEEP_LATER;
}

static void run_turn(void *arg)
{
    struct reader *r = arg;
    r->result = sweep_begin(&r->sweep, &r->at, r->max - r->n, &r->err);
    if (r->result == 1)
        return;
    if (r->result == 0) {
        r->result = read_objects(r);
        r->revs[r->n_turns++] = r->sweep.rev;
        sweep_end(&r->sweep);
    }
    if (r->between)
        r->between(r);
    if (r->result == SWEEP_LATER && r->n < r->max)
        sweep_post(&r->sweep);
    else
        loop_stop(loop);
}

static void reader_init(struct reader *r, struct str prefix, bool is_single,
                        const struct custom_version *kind)
{
    const struct sweep_options options = {
        .api = &api,
        .loop = loop,
        .prefix = prefix,
        .is_single = is_single,
        .kind = kind,
        .run = run_turn,
        .arg = r,
    };
    *r = (struct reader){ .max = SWEEP_ALL, .err = ERR_INIT(&webhook.arena) };
    sweep_init(&r->sweep, &options);
}

static void reader_run(struct reader *r)
{
    sweep_post(&r->sweep);
    loop_run(loop);
}

static void reader_done(struct reader *r)
{
    sweep_done(&r->sweep);
    sweep_cursor_done(&r->at);
}

/* ---- Turns ---- */

/* What happens between turns is not seen. */
static void change_all(struct reader *r)
{
    (void)r;
    commit(STORE_PUT, "/k/9999");
    commit(STORE_DELETE, "/k/2499");
}

static void turns_are_bounded_and_of_one_revision(void **state)
{
    struct reader r;
    (void)state;
    put_many(2500);
    const uint64_t rev = store_rev(api.store);
    reader_init(&r, STR("/k/"), false, NULL);
    r.between = change_all;
    reader_run(&r);
    assert_int_equal(r.result, SWEEP_OVER);
    assert_int_equal(r.n, 2500);
    assert_int_equal(r.n_turns, 3);
    assert_int_equal(r.turns[0], SWEEP_TURN_OBJECTS);
    assert_int_equal(r.turns[2], 500);
    for (size_t i = 0; i < r.n_turns; i++)
        assert_int_equal(r.revs[i], rev);
    reader_done(&r);
}

static void bytes_end_a_turn_as_well(void **state)
{
    struct reader r;
    struct store_entry e;
    (void)state;
    put_many(2);
    reader_init(&r, STR("/k/"), false, NULL);
    assert_int_equal(sweep_begin(&r.sweep, &r.at, SWEEP_ALL, &r.err), 0);
    assert_int_equal(sweep_next(&r.sweep, &e, &r.err), SWEEP_OBJECT);
    assert_false(sweep_is_enough(&r.sweep));
    r.sweep.bytes += SWEEP_TURN_BYTES;
    assert_true(sweep_is_enough(&r.sweep));
    sweep_end(&r.sweep);
    assert_int_equal(sweep_begin(&r.sweep, &r.at, SWEEP_ALL, &r.err), 0);
    assert_false(sweep_is_enough(&r.sweep));
    assert_int_equal(sweep_next(&r.sweep, &e, &r.err), SWEEP_OBJECT);
    assert_string_equal(str_cstr(&webhook.arena, e.key), "/k/0001");
    sweep_end(&r.sweep);
    reader_done(&r);
}

static void a_range_can_be_anything(void **state)
{
    static const struct {
        struct str prefix, start;
        bool is_single;
        size_t n;
    } cases[] = {
        { STR("/k/"), STR(""), false, 12 },
        { STR("/k/"), STR("/k/0010"), false, 2 },
        { STR("/k/"), STR("/k/0011x"), false, 0 },
        { STR("/none/"), STR(""), false, 0 },
        /* Nothing can match. */
        { STR(""), STR(""), false, 0 },
        /* One key, and not those that begin with it. */
        { STR("/k/0001"), STR(""), true, 1 },
        { STR("/k/000"), STR(""), true, 0 },
    };
    (void)state;
    put_many(12);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct reader r;
        reader_init(&r, cases[i].prefix, cases[i].is_single, NULL);
        sweep_cursor_set(&r.at, cases[i].start);
        reader_run(&r);
        assert_int_equal(r.result, SWEEP_OVER);
        assert_int_equal(r.n, cases[i].n);
        reader_done(&r);
    }
}

static void forget(struct reader *r)
{
    commit(STORE_PUT, "/other");
    assert_int_equal(store_compact(api.store, store_rev(api.store), &r->err), 0);
}

static void a_revision_can_leave_the_history(void **state)
{
    struct reader r;
    (void)state;
    put_many(SWEEP_TURN_OBJECTS + 1);
    reader_init(&r, STR("/k/"), false, NULL);
    r.between = forget;
    reader_run(&r);
    assert_int_equal(r.result, -ERR_EXPIRED);
    assert_int_equal(r.n, SWEEP_TURN_OBJECTS);
    reader_done(&r);
}

/* ---- What follows ---- */

static int peek_behind(struct reader *r, uint64_t n)
{
    r->max = n;
    r->n = 0;
    assert_int_equal(sweep_begin(&r->sweep, &r->at, n, &r->err), 0);
    (void)read_objects(r);
    int more = sweep_peek(&r->sweep, &r->err);
    sweep_end(&r->sweep);
    return more;
}

static void a_peek_leaves_what_it_sees(void **state)
{
    struct reader r;
    (void)state;
    put_many(4);
    reader_init(&r, STR("/k/"), false, NULL);
    assert_int_equal(peek_behind(&r, 2), 1);
    assert_string_equal(str_cstr(&webhook.arena, buf_str(&r.at.start)), "/k/0001");
    assert_int_equal(peek_behind(&r, 0), 1); /* a turn that reads nothing stands where it was */
    assert_int_equal(peek_behind(&r, 2), 0);
    assert_int_equal(r.n, 2);
    reader_done(&r);
    reader_init(&r, STR("/k/0000"), true, NULL);
    assert_int_equal(peek_behind(&r, 1), 0);
    reader_done(&r);
}

static void a_turn_can_go_on_with_another_cursor(void **state)
{
    struct reader r;
    struct sweep_cursor other = { .as_stored = true };
    struct store_entry e;
    (void)state;
    put_many(5);
    reader_init(&r, STR("/k/"), false, NULL);
    assert_int_equal(sweep_begin(&r.sweep, &r.at, SWEEP_ALL, &r.err), 0);
    assert_int_equal(sweep_next(&r.sweep, &e, &r.err), SWEEP_OBJECT);
    sweep_cursor_set(&other, STR("/k/0003"));
    sweep_switch(&r.sweep, &other);
    assert_int_equal(r.sweep.n_objects, 0);
    while (sweep_next(&r.sweep, &e, &r.err) == SWEEP_OBJECT)
        ;
    assert_int_equal(r.sweep.n_objects, 2);
    sweep_end(&r.sweep);
    /* Each stands behind what it has read. */
    assert_string_equal(str_cstr(&webhook.arena, buf_str(&r.at.start)), "/k/0000");
    assert_string_equal(str_cstr(&webhook.arena, buf_str(&other.start)), "/k/0004");
    reader_run(&r);
    assert_int_equal(r.n, 4);
    sweep_cursor_done(&other);
    reader_done(&r);
}

/* ---- Pages ---- */

static void put_widgets(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char name[20];
        (void)snprintf(name, sizeof(name), "w%04zu", i);
        (void)suite_webhook_put(&webhook, name, webhook.v1);
    }
}

static void all_widgets(struct reader *r, const struct custom_version *as)
{
    reader_init(r, suite_webhook_key(&webhook, ""), false, as);
}

static void pages_come_converted(void **state)
{
    struct reader r;
    enum { N = LIMIT_CONVERSION_OBJECTS + 20 };
    (void)state;
    put_widgets(N);
    all_widgets(&r, webhook.v2);
    reader_run(&r);
    assert_int_equal(r.result, SWEEP_OVER);
    assert_int_equal(r.n_converted, N);
    assert_int_equal(r.turns[0], LIMIT_CONVERSION_OBJECTS);
    assert_int_equal(r.revs[1], r.revs[0]);
    assert_int_equal(webhook.n_calls, 2);
    reader_done(&r);
    /* What is written as wanted is not sent. */
    all_widgets(&r, webhook.v1);
    reader_run(&r);
    assert_int_equal(r.n, N);
    assert_int_equal(r.n_converted, 0);
    assert_int_equal(webhook.n_calls, 2);
    reader_done(&r);
}

static void no_more_is_converted_than_wanted(void **state)
{
    struct reader r;
    (void)state;
    put_widgets(10);
    all_widgets(&r, webhook.v2);
    r.max = 3;
    reader_run(&r);
    assert_int_equal(r.n_converted, 3);
    assert_int_equal(webhook.n_objects, 3);
    assert_int_equal(peek_behind(&r, 0), 1);
    assert_int_equal(webhook.n_calls, 1);
    reader_done(&r);
    /* And nothing for a cursor that only counts. */
    all_widgets(&r, webhook.v2);
    r.at.as_stored = true;
    reader_run(&r);
    assert_int_equal(r.n, 10);
    assert_int_equal(r.n_converted, 0);
    assert_int_equal(webhook.n_calls, 1);
    reader_done(&r);
}

static void each_cursor_has_pages_of_its_own(void **state)
{
    struct reader r;
    struct sweep_cursor ahead = { 0 };
    struct store_entry e;
    (void)state;
    put_widgets(4);
    all_widgets(&r, webhook.v2);
    r.sweep.opt.loop = NULL;
    assert_int_equal(sweep_begin(&r.sweep, &r.at, SWEEP_ALL, &r.err), 0);
    assert_int_equal(sweep_next(&r.sweep, &e, &r.err), SWEEP_OBJECT);
    sweep_end(&r.sweep);
    sweep_cursor_set(&ahead, buf_str(&r.at.start));
    assert_int_equal(sweep_begin(&r.sweep, &ahead, SWEEP_ALL, &r.err), 0);
    while (sweep_next(&r.sweep, &e, &r.err) == SWEEP_OBJECT)
        assert_string_equal(suite_webhook_shown(&webhook, &e), "v2, converted");
    assert_int_equal(r.sweep.n_objects, 3);
    sweep_end(&r.sweep);
    assert_int_equal(sweep_begin(&r.sweep, &r.at, SWEEP_ALL, &r.err), 0);
    assert_int_equal(sweep_next(&r.sweep, &e, &r.err), SWEEP_OBJECT);
    assert_string_equal(str_cstr(&webhook.arena, e.key),
                        str_cstr(&webhook.arena, suite_webhook_key(&webhook, "w0001")));
    sweep_end(&r.sweep);
    assert_int_equal(webhook.n_objects, 4 + 3 + 3);
    sweep_cursor_done(&ahead);
    reader_done(&r);
}

static void linear_code_waits_for_the_webhook(void **state)
{
    struct reader r;
    (void)state;
    put_widgets(5);
    all_widgets(&r, webhook.v2);
    r.sweep.opt.loop = NULL;
    assert_int_equal(sweep_begin(&r.sweep, &r.at, SWEEP_ALL, &r.err), 0);
    assert_int_equal(read_objects(&r), SWEEP_OVER);
    sweep_end(&r.sweep);
    assert_int_equal(r.n_converted, 5);
    assert_int_equal(webhook.n_calls, 1);
    reader_done(&r);
}

static void a_webhook_that_refuses_ends_it(void **state)
{
    struct reader r;
    (void)state;
    put_widgets(2);
    (void)suite_webhook_put(&webhook, "bad", webhook.v1);
    all_widgets(&r, webhook.v2);
    reader_run(&r);
    assert_int_equal(r.result, -ERR_UNKNOWN);
    assert_int_equal(r.n, 0);
    assert_non_null(strstr(str_cstr(&webhook.arena, r.err.msg), "failed: bad is bad"));
    reader_done(&r);
}

/* A turn that is asked for meanwhile comes with the page, and only once. */
static void a_page_brings_its_turn(void **state)
{
    struct reader r;
    (void)state;
    put_widgets(2);
    webhook.is_slow = true;
    all_widgets(&r, webhook.v2);
    run_turn(&r);
    assert_int_equal(r.result, 1);
    sweep_post(&r.sweep);
    assert_false(sweep_is_posted(&r.sweep));
    assert_int_equal(sweep_begin(&r.sweep, &r.at, SWEEP_ALL, &r.err), 1);
    suite_webhook_release(&webhook);
    loop_run(loop);
    assert_int_equal(r.n_converted, 2);
    assert_int_equal(r.n_turns, 1);
    reader_done(&r);
}

static void who_leaves_hears_no_more(void **state)
{
    struct reader r;
    (void)state;
    put_widgets(2);
    webhook.is_slow = true;
    all_widgets(&r, webhook.v2);
    run_turn(&r);
    assert_int_equal(r.result, 1);
    suite_webhook_await_calls(&webhook, 1);
    reader_done(&r);
    memset(&r, 0xee, sizeof(r)); /* it may be gone */
    suite_webhook_release(&webhook);
    api.hook_workers = workers_free(api.hook_workers); /* the page is back in the loop's mailbox */
    loop = loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(turns_are_bounded_and_of_one_revision, setup, teardown),
        cmocka_unit_test_setup_teardown(bytes_end_a_turn_as_well, setup, teardown),
        cmocka_unit_test_setup_teardown(a_range_can_be_anything, setup, teardown),
        cmocka_unit_test_setup_teardown(a_revision_can_leave_the_history, setup, teardown),
        cmocka_unit_test_setup_teardown(a_peek_leaves_what_it_sees, setup, teardown),
        cmocka_unit_test_setup_teardown(a_turn_can_go_on_with_another_cursor, setup, teardown),
        cmocka_unit_test_setup_teardown(pages_come_converted, setup, teardown),
        cmocka_unit_test_setup_teardown(no_more_is_converted_than_wanted, setup, teardown),
        cmocka_unit_test_setup_teardown(each_cursor_has_pages_of_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(linear_code_waits_for_the_webhook, setup, teardown),
        cmocka_unit_test_setup_teardown(a_webhook_that_refuses_ends_it, setup, teardown),
        cmocka_unit_test_setup_teardown(a_page_brings_its_turn, setup, teardown),
        cmocka_unit_test_setup_teardown(who_leaves_hears_no_more, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
