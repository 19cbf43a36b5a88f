/* A snapshot takes the layers first and the view second; here everything happens in between. */
#include <pthread.h>
#include <stdio.h>

#include "store/failpoint.h"
#include "store/suite_fixture.h"

enum between { SEAL, SEAL_AND_PUT, PUT_AND_SEAL_TWICE, COMPACT_TWICE, N_BETWEEN };

struct race {
    struct fixture *f;
    enum between between;
    pthread_t thread; /* whose snapshot is interrupted; the store's own pass */
    bool is_done;
};

static void put_both(struct fixture *f, const char *value)
{
    struct store_op ops[2] = {
        { STORE_PUT, STR("a"), str_of(value), STORE_ANY },
        { STORE_PUT, STR("b"), str_of(value), STORE_ANY },
    };
    struct store_txn t = { .ops = ops, .n_ops = 2 };
    assert_true(run(f, &t) > 0);
}

static void compact_all(struct fixture *f)
{
    assert_int_equal(store_compact(f->s, store_rev(f->s), &f->err), 0);
}

static void interrupt(void *arg)
{
    struct race *r = arg;
    if (!pthread_equal(pthread_self(), r->thread) || r->is_done)
        return;
    r->is_done = true;
    switch (r->between) {
    case SEAL:
        fixture_checkpoint(r->f);
        break;
    case SEAL_AND_PUT:
        fixture_checkpoint(r->f);
        (void)put(r->f, "a", "2");
        break;
    case PUT_AND_SEAL_TWICE:
        for (int i = 0; i < 2; i++) {
            (void)put(r->f, "a", "2");
            fixture_checkpoint(r->f);
        }
        break;
    default: /* what "b" was is in no table, and no longer in the history either */
        (void)put(r->f, "a", "2");
        compact_all(r->f);
        put_both(r->f, "2");
        compact_all(r->f);
        break;
    }
}

static void snapshots_are_of_one_revision(void **state)
{
    struct fixture *f = *state;
    for (int between = 0; between < N_BETWEEN; between++) {
        put_both(f, "1");
        fixture_checkpoint(f);
        (void)put(f, "a", "1");
        uint64_t before = store_rev(f->s);
        struct race race = { f, (enum between)between, pthread_self(), false };
        failpoint_hook("snap-layers", interrupt, &race);
        struct store_snap *snap;
        struct store_entry e;
        assert_int_equal(store_snap_begin(f->s, 0, &snap, &f->err), 0);
        failpoint_hook("snap-layers", NULL, NULL);
        assert_true(race.is_done);
        uint64_t rev = store_snap_rev(snap);
        assert_true(rev >= before && rev <= store_rev(f->s));
        /* Each revision changed this key: it shows which one the snapshot really is. */
        assert_int_equal(store_snap_get(snap, STR("a"), &e, &f->err), 1);
        assert_int_equal(e.mod_rev, rev);
        assert_int_equal(store_snap_get(snap, STR("b"), &e, &f->err), 1);
        assert_true(e.mod_rev <= rev);
        store_range_begin(snap, STR(""), STR(""));
        assert_int_equal(store_range_next(snap, &e, &f->err), 1);
        assert_int_equal(e.mod_rev, rev);
        assert_true(str_eq(e.value, rev == before ? STR("1") : STR("2")));
        store_snap_end(snap);
    }
}

int main(void)
{
    suite_engine = STORE_MEMORY;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(snapshots_are_of_one_revision, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
