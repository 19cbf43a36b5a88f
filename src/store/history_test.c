/* Changes in order, wherever they are: in the log, in a table, or gone. */
#include "store/history.h"

#include "base/buf.h"
#include "base/idiom.h"
#include "store/suite_fixture.h"

/* "+a=1@2", or "-a@3" for a delete, of all changes after `rev` that a new snapshot sees; '|' ends a
 * revision. */
static const char *changes(struct fixture *f, uint64_t rev, struct history_hint *hint)
{
    struct store_snap *snap;
    struct history h;
    struct history_event e;
    autobuf text = { 0 };
    int r;
    assert_int_equal(store_snap_begin(f->s, 0, &snap, &f->err), 0);
    history_init(&h, f->s, snap, rev, hint);
    while ((r = history_next(&h, &e, &f->err)) > 0) {
        buf_printf(&text, "%s" STR_FMT, e.type == STORE_PUT ? "+" : "-", STR_ARG(e.key));
        if (e.type == STORE_PUT)
            buf_printf(&text, "=" STR_FMT, STR_ARG(e.value));
        buf_printf(&text, "@%d%s", (int)e.rev, e.is_last ? "|" : " ");
    }
    if (r < 0)
        buf_printf(&text, "error %d", -r);
    history_done(&h);
    store_snap_end(snap);
    return str_cstr(&f->arena, buf_str(&text));
}

static int64_t put_two(struct fixture *f, const char *value)
{
    struct store_op ops[] = {
        { .type = STORE_PUT, .key = STR("a"), .value = str_of(value), .expect_rev = STORE_ANY },
        { .type = STORE_PUT, .key = STR("b"), .value = str_of(value), .expect_rev = STORE_ANY },
    };
    return run(f, &(struct store_txn){ .ops = ops, .n_ops = ARRAY_LEN(ops) });
}

static void changes_come_in_order(void **state)
{
    struct fixture *f = *state;
    assert_string_equal(changes(f, 1, NULL), "");
    assert_int_equal(put(f, "a", "1"), 2);
    assert_int_equal(put_two(f, "2"), 3);
    assert_int_equal(del(f, "a"), 4);
    assert_string_equal(changes(f, 1, NULL), "+a=1@2|+a=2@3 +b=2@3|-a@4|");
    assert_string_equal(changes(f, 2, NULL), "+a=2@3 +b=2@3|-a@4|");
    assert_string_equal(changes(f, 3, NULL), "-a@4|");
    assert_string_equal(changes(f, 4, NULL), "");
}

/* What a checkpoint moved out of the table is read from the log, and goes on in the table. */
static void the_log_goes_over_into_the_table(void **state)
{
    struct fixture *f = *state;
    (void)put(f, "a", "1");
    (void)put_two(f, "2");
    fixture_checkpoint(f);
    assert_string_equal(changes(f, 1, NULL), "+a=1@2|+a=2@3 +b=2@3|");
    (void)del(f, "b");
    (void)put(f, "c", "3");
    assert_string_equal(changes(f, 1, NULL), "+a=1@2|+a=2@3 +b=2@3|-b@4|+c=3@5|");
    assert_string_equal(changes(f, 3, NULL), "-b@4|+c=3@5|");
    fixture_checkpoint(f);
    (void)put(f, "a", "4");
    assert_string_equal(changes(f, 2, NULL), "+a=2@3 +b=2@3|-b@4|+c=3@5|+a=4@6|");
}

static void events_say_what_was_before(void **state)
{
    struct fixture *f = *state;
    static const bool moments[] = { false, true };
    (void)put(f, "a", "1");
    (void)put(f, "a", "2");
    (void)del(f, "a");
    (void)put(f, "a", "3");
    static const struct {
        uint64_t create_rev, prev_rev;
    } want[] = { { 2, 0 }, { 2, 2 }, { 2, 3 }, { 5, 0 } };
    for (size_t moment = 0; moment < ARRAY_LEN(moments); moment++) {
        struct store_snap *snap;
        struct history h;
        struct history_event e;
        if (moments[moment])
            fixture_checkpoint(f);
        assert_int_equal(store_snap_begin(f->s, 0, &snap, &f->err), 0);
        history_init(&h, f->s, snap, 1, NULL);
        for (size_t i = 0; i < ARRAY_LEN(want); i++) {
            assert_int_equal(history_next(&h, &e, &f->err), 1);
            assert_int_equal(e.rev, 2 + i);
            assert_int_equal(e.create_rev, want[i].create_rev);
            assert_int_equal(e.prev_rev, want[i].prev_rev);
        }
        assert_int_equal(history_next(&h, &e, &f->err), 0);
        history_done(&h);
        store_snap_end(snap);
    }
}

static void it_ends_with_its_snapshot(void **state)
{
    struct fixture *f = *state;
    (void)put(f, "a", "1");
    struct store_snap *snap;
    struct history h;
    struct history_event e;
    assert_int_equal(store_snap_begin(f->s, 0, &snap, &f->err), 0);
    history_init(&h, f->s, snap, 1, NULL);
    (void)put(f, "a", "2");
    fixture_checkpoint(f);
    assert_int_equal(history_next(&h, &e, &f->err), 1);
    assert_int_equal(e.rev, 2);
    assert_int_equal(history_next(&h, &e, &f->err), 0);
    history_done(&h);
    store_snap_end(snap);
}

/* A hint is good for as long as its table is there, and harmless after. */
static void a_hint_may_be_old(void **state)
{
    struct fixture *f = *state;
    struct history_hint hint = { 0 };
    (void)put(f, "a", "1");
    (void)put(f, "a", "2");
    assert_string_equal(changes(f, 1, &hint), "+a=1@2|+a=2@3|");
    assert_non_null(hint.node);
    (void)put(f, "a", "3");
    assert_string_equal(changes(f, 3, &hint), "+a=3@4|");
    assert_string_equal(changes(f, 1, &hint), "+a=1@2|+a=2@3|+a=3@4|"); /* before the hint */
    fixture_checkpoint(f);
    (void)put(f, "b", "4");
    assert_string_equal(changes(f, 4, &hint), "+b=4@5|");
    assert_string_equal(changes(f, 2, &hint), "+a=2@3|+a=3@4|+b=4@5|");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(changes_come_in_order, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(the_log_goes_over_into_the_table, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(events_say_what_was_before, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(it_ends_with_its_snapshot, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_hint_may_be_old, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
