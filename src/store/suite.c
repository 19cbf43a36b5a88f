#include "store/suite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/limits.h"
#include "base/mem.h"
#include "store/suite_fixture.h"
#include "store/suite_model.h"
#include "store/suite_watch.h"

/* ---- Writing ---- */

static void an_empty_store_has_revision_one(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(store_rev(f->s), 1);
    assert_int_equal(store_floor(f->s), 1);
    assert_string_equal(list(f, "", 0), "");
    assert_int_equal(del(f, "a"), 1); /* no change, no revision */
    fixture_reopen(f);
    assert_int_equal(store_rev(f->s), 1);
}

static void revisions_count_changes(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(put(f, "a", "1"), 2);
    assert_int_equal(put(f, "b", "2"), 3);
    assert_int_equal(put(f, "a", "3"), 4);
    assert_int_equal(del(f, "b"), 5);
    assert_int_equal(del(f, "b"), 5);
    assert_int_equal(put(f, "b", "4"), 6);

    for (int round = 0; round < 3; round++) {
        struct store_snap *snap;
        struct store_entry e;
        assert_int_equal(store_snap_begin(f->s, 0, &snap, &f->err), 0);
        assert_int_equal(store_snap_rev(snap), 6);
        assert_int_equal(store_snap_get(snap, STR("a"), &e, &f->err), 1);
        assert_int_equal(e.create_rev, 2);
        assert_int_equal(e.mod_rev, 4);
        assert_true(str_eq(e.value, STR("3")));
        assert_int_equal(store_snap_get(snap, STR("b"), &e, &f->err), 1);
        assert_int_equal(e.create_rev, 6);
        assert_int_equal(store_snap_get(snap, STR("c"), &e, &f->err), 0);
        assert_int_equal(store_snap_get(snap, STR(""), &e, &f->err), 0);
        store_snap_end(snap);
        struct store_stats stats;
        store_stats(f->s, &stats);
        assert_int_equal(stats.keys, 2);
        assert_int_equal(stats.rev, 6);
        if (round == 0)
            fixture_checkpoint(f);
        else
            fixture_reopen(f);
    }
}

static void conditions_hold_over_several_keys(void **state)
{
    struct fixture *f = *state;
    int64_t a = put(f, "a", "1"), b = put(f, "b", "1");
    struct store_op ops[3] = {
        { STORE_PUT, STR("a"), STR("2"), (uint64_t)a },
        { STORE_CHECK, STR("b"), STR(""), (uint64_t)b },
        { STORE_PUT, STR("c"), STR("2"), STORE_ABSENT },
    };
    struct store_txn t = { .ops = ops, .n_ops = 3 };
    assert_int_equal(run(f, &t), b + 1);
    assert_string_equal(list(f, "", 0), "a=2 b=1 c=2");

    ops[0].expect_rev = (uint64_t)b + 1;
    assert_int_equal(run(f, &t), -ERR_CONFLICT);
    assert_int_equal(t.failed_op, 2);
    assert_int_equal(t.failed_rev, b + 1);
    ops[2].expect_rev = STORE_ANY;
    ops[1].expect_rev = 99;
    assert_int_equal(run(f, &t), -ERR_CONFLICT);
    assert_int_equal(t.failed_op, 1);
    assert_int_equal(t.failed_rev, b);
    ops[1].expect_rev = STORE_ABSENT;
    assert_int_equal(run(f, &t), -ERR_CONFLICT);
    assert_string_equal(list(f, "", 0), "a=2 b=1 c=2");
    assert_int_equal(store_rev(f->s), b + 1);

    assert_int_equal(put_if(f, "x", "1", 7), -ERR_CONFLICT);
    assert_int_equal(put_if(f, "x", "1", STORE_ABSENT), b + 2);
    assert_int_equal(put_if(f, "x", "1", STORE_ABSENT), -ERR_CONFLICT);
}

static void what_goes_first_has_a_revision_of_its_own(void **state)
{
    struct fixture *f = *state;
    int64_t a = put(f, "a", "1"), n = suite_engine == STORE_MIRROR ? 1 : 2;
    struct store_op ops[2] = {
        { STORE_PUT, STR("b"), STR("2"), STORE_ABSENT },
        { STORE_PUT, STR("a"), STR("2"), (uint64_t)a, .goes_first = true },
    };
    struct store_txn t = { .ops = ops, .n_ops = 2 };
    assert_int_equal(run(f, &t), a + n);
    assert_string_equal(list(f, "", 0), "a=2 b=2");
    if (n == 2)
        assert_string_equal(list(f, "", (uint64_t)a + 1), "a=2");
    /* Both or none, whichever condition fails. */
    ops[1].expect_rev = (uint64_t)a + 1;
    assert_int_equal(run(f, &t), -ERR_CONFLICT);
    assert_int_equal(t.failed_op, 0);
    ops[0].key = STR("c");
    ops[1].expect_rev = (uint64_t)a;
    assert_int_equal(run(f, &t), -ERR_CONFLICT);
    assert_int_equal(t.failed_op, 1);
    assert_string_equal(list(f, "", 0), "a=2 b=2");
    fixture_reopen(f);
    assert_int_equal(put_if(f, "a", "3", (uint64_t)a + 1), a + n + 1);
}

static void a_check_alone_changes_nothing(void **state)
{
    struct fixture *f = *state;
    int64_t a = put(f, "a", "1");
    struct store_op op = { STORE_CHECK, STR("a"), STR(""), (uint64_t)a };
    struct store_txn t = { .ops = &op, .n_ops = 1 };
    assert_int_equal(run(f, &t), a);
    assert_int_equal(store_rev(f->s), a);
}

static void a_key_may_appear_once(void **state)
{
    struct fixture *f = *state;
    struct store_op ops[2] = {
        { STORE_PUT, STR("a"), STR("1"), STORE_ANY },
        { STORE_DELETE, STR("a"), STR(""), STORE_ANY },
    };
    struct store_txn t = { .ops = ops, .n_ops = 2 };
    assert_int_equal(run(f, &t), -ERR_INVALID);
    assert_string_equal(list(f, "", 0), "");
}

static void limits_are_exact(void **state)
{
    struct fixture *f = *state;
    char *big = mem_zalloc(LIMIT_STORE_VALUE_BYTES + 1);
    struct store_op ops[LIMIT_STORE_TXN_OPS + 1];
    char keys[LIMIT_STORE_TXN_OPS + 1][8];
    memset(ops, 0, sizeof(ops));
    struct store_txn t = { .ops = ops, .n_ops = 1 };

    ops[0] = (struct store_op){ STORE_PUT, { big, LIMIT_STORE_KEY_BYTES }, STR("v"), STORE_ANY };
    assert_int_equal(run(f, &t), 2);
    ops[0].key.n++;
    assert_int_equal(run(f, &t), -ERR_TOO_LARGE);
    ops[0].key = STR("");
    assert_int_equal(run(f, &t), -ERR_INVALID);
    ops[0].key = STR("k");
    ops[0].value = (struct str){ big, LIMIT_STORE_VALUE_BYTES };
    assert_int_equal(run(f, &t), 3);
    ops[0].value.n++;
    assert_int_equal(run(f, &t), -ERR_TOO_LARGE);
    t.n_ops = 0;
    assert_int_equal(run(f, &t), -ERR_INVALID);

    for (size_t i = 0; i <= LIMIT_STORE_TXN_OPS; i++) {
        (void)snprintf(keys[i], sizeof(keys[i]), "m%03zu", i);
        ops[i] = (struct store_op){ STORE_PUT, str_of(keys[i]), STR("v"), STORE_ANY };
    }
    t.n_ops = LIMIT_STORE_TXN_OPS;
    assert_int_equal(run(f, &t), 4);
    t.n_ops++;
    assert_int_equal(run(f, &t), -ERR_TOO_LARGE);

    /* Two values of the largest size and keys fill a transaction to the byte. A mirror's must
     * fit into a message to its source, too. */
    t.n_ops = 2;
    size_t less = suite_engine == STORE_MIRROR ? LIMIT_STORE_VALUE_BYTES / 2 : 0;
    ops[0].value = (struct str){ big, LIMIT_STORE_VALUE_BYTES - 4 - less };
    ops[1].value = (struct str){ big, LIMIT_STORE_VALUE_BYTES - 4 };
    assert_int_equal(run(f, &t), 5);
    ops[0].value.n += less;
    ops[1].value.n++;
    assert_int_equal(run(f, &t), -ERR_TOO_LARGE);
    fixture_checkpoint(f);
    fixture_reopen(f);
    struct store_snap *snap;
    struct store_entry e;
    assert_int_equal(store_snap_begin(f->s, 0, &snap, &f->err), 0);
    assert_int_equal(store_snap_get(snap, STR("m001"), &e, &f->err), 1);
    assert_int_equal(e.value.n, LIMIT_STORE_VALUE_BYTES - 4);
    store_snap_end(snap);
    free(big);
}

static void waiting_ends_when_the_revision_is_there(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(store_wait(f->s, 2, NS_PER_MS, &f->err), -ERR_TIMEOUT);
    (void)put(f, "a", "1");
    assert_int_equal(store_wait(f->s, 2, NS_PER_SEC, &f->err), 0);
}

/* ---- Many threads ---- */

enum { N_THREADS = 8, N_ADDS = 60 };

static void *add_many(void *arg)
{
    struct fixture *f = arg;
    for (int done = 0; done < N_ADDS;) {
        struct arena arena;
        arena_init(&arena);
        struct err err = ERR_INIT(&arena);
        struct store_snap *snap;
        struct store_entry e = { 0 };
        if (store_snap_begin(f->s, 0, &snap, &err) < 0)
            abort();
        int64_t n = 0;
        int r = store_snap_get(snap, STR("counter"), &e, &err);
        if (r > 0 && !str_to_i64(e.value, &n))
            abort();
        store_snap_end(snap);
        struct str text = arena_printf(&arena, "%lld", (long long)n + 1);
        struct store_op op = { STORE_PUT, STR("counter"), text, e.mod_rev };
        struct store_txn t = { .ops = &op, .n_ops = 1 };
        r = store_commit(f->s, &t, &err);
        if (r < 0 && r != -ERR_CONFLICT)
            abort();
        done += r == 0;
        arena_done(&arena);
    }
    return NULL;
}

static void threads_agree_by_conditions(void **state)
{
    struct fixture *f = *state;
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, f), 0);
    for (int i = 0; i < 20; i++)
        fixture_checkpoint(f);
    for (int i = 0; i < N_THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    assert_string_equal(list(f, "", 0), "counter=480");
    assert_int_equal(store_rev(f->s), 481);
}

/* Two keys that always change together, written, sealed and moved under readers' eyes. */
struct pairs {
    struct fixture *f;
    _Atomic bool stops;
    _Atomic uint64_t n_reads;
};

enum { N_PAIRS = 10 };

static void *write_pairs(void *arg)
{
    struct pairs *p = arg;
    for (unsigned i = 0; !p->stops; i++) {
        char left[16], right[16], value[16];
        (void)snprintf(left, sizeof(left), "l/%u", i % N_PAIRS);
        (void)snprintf(right, sizeof(right), "r/%u", i % N_PAIRS);
        (void)snprintf(value, sizeof(value), "%u", i);
        enum store_op_type type = i % 7 ? STORE_PUT : STORE_DELETE;
        struct store_op ops[2] = {
            { type, str_of(left), str_of(value), STORE_ANY },
            { type, str_of(right), str_of(value), STORE_ANY },
        };
        struct store_txn t = { .ops = ops, .n_ops = 2 };
        if (store_commit(p->f->s, &t, NULL) < 0)
            abort();
    }
    return NULL;
}

/* The right side of each pair, by range and by key, against the left side. */
static void compare_pairs(struct store_snap *snap, struct err *err)
{
    struct store_entry left, right[N_PAIRS + 1];
    size_t n = 0, n_left = 0;
    store_range_begin(snap, STR("r/"), STR(""));
    while (n <= N_PAIRS && store_range_next(snap, &right[n], err) > 0)
        n++;
    store_range_begin(snap, STR("l/"), STR(""));
    for (; store_range_next(snap, &left, err) > 0; n_left++) {
        struct store_entry again;
        if (n_left >= n || left.mod_rev != right[n_left].mod_rev ||
            left.mod_rev > store_snap_rev(snap) || !str_eq(left.value, right[n_left].value))
            abort();
        if (store_snap_get(snap, right[n_left].key, &again, err) != 1 ||
            again.mod_rev != left.mod_rev || again.create_rev != left.create_rev)
            abort();
    }
    if (n != n_left)
        abort();
}

static void *read_pairs(void *arg)
{
    struct pairs *p = arg;
    struct arena arena;
    arena_init(&arena);
    struct err err = ERR_INIT(&arena);
    uint64_t last = 0;
    for (uint64_t i = 0; !p->stops; i++) {
        struct store_snap *snap;
        uint64_t rev = i % 2 && last > 40 ? last - i % 40 : 0;
        if (store_snap_begin(p->f->s, rev, &snap, &err) < 0)
            abort();
        if (!rev && store_snap_rev(snap) < last)
            abort(); /* the newest revision went back */
        if (!rev)
            last = store_snap_rev(snap);
        compare_pairs(snap, &err);
        store_snap_end(snap);
        p->n_reads++;
    }
    arena_done(&arena);
    return NULL;
}

static void snapshots_hold_while_everything_moves(void **state)
{
    struct fixture *f = *state;
    struct pairs p = { .f = f };
    pthread_t writer, readers[3];
    assert_int_equal(pthread_create(&writer, NULL, write_pairs, &p), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_pairs, &p), 0);
    for (int i = 0; i < 150 || p.n_reads < 300; i++)
        fixture_checkpoint(f);
    p.stops = true;
    (void)pthread_join(writer, NULL);
    for (int i = 0; i < 3; i++)
        (void)pthread_join(readers[i], NULL);
}

/* ---- Reading ---- */

static void ranges_respect_prefix_and_start(void **state)
{
    struct fixture *f = *state;
    static const char *const keys[] = { "a", "b/1", "b/2", "b/3", "b0", "c", "\xff", "\xff\xff" };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        (void)put(f, keys[i], "v");
    struct {
        const char *prefix, *start;
        uint64_t n;
        const char *first;
    } rows[] = {
        { "", "", 8, "a" },         { "b/", "", 3, "b/1" },          { "b/", "b/2", 2, "b/2" },
        { "b/", "b/20", 1, "b/3" }, { "b/", "a", 3, "b/1" },         { "b/", "c", 0, NULL },
        { "\xff", "", 2, "\xff" },  { "\xff\xff\xff", "", 0, NULL }, { "", "c", 3, "c" },
    };
    for (int round = 0; round < 2; round++, fixture_checkpoint(f)) {
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            struct store_snap *snap;
            struct store_entry e;
            uint64_t n;
            struct str prefix = str_of(rows[i].prefix), start = str_of(rows[i].start);
            assert_int_equal(store_snap_begin(f->s, 0, &snap, &f->err), 0);
            assert_int_equal(store_count(snap, prefix, start, &n, &f->err), 0);
            assert_int_equal(n, rows[i].n);
            store_range_begin(snap, prefix, start);
            assert_int_equal(store_range_next(snap, &e, &f->err), n > 0);
            if (n)
                assert_true(str_eq(e.key, str_of(rows[i].first)));
            store_snap_end(snap);
        }
    }
}

static void a_list_goes_on_at_its_revision(void **state)
{
    struct fixture *f = *state;
    char key[32], after[33] = "", expect[32];
    for (int i = 0; i < 500; i++) {
        (void)snprintf(key, sizeof(key), "k%04d", i);
        (void)put(f, key, "old");
    }
    uint64_t rev = store_rev(f->s);
    size_t after_n = 0;
    int n = 0;
    for (bool more = true; more;) {
        /* Everything changes between two pieces: overwritten, deleted, or new. */
        for (int i = n % 7; i < 500; i += 7) {
            (void)snprintf(key, sizeof(key), "k%04d", i);
            (void)(i % 3 ? put(f, key, "new") : del(f, key));
            (void)snprintf(key, sizeof(key), "k%04dx", i);
            (void)put(f, key, "extra");
        }
        if (n % 60 == 0)
            fixture_checkpoint(f);
        struct store_snap *snap;
        struct store_entry e;
        assert_int_equal(store_snap_begin(f->s, rev, &snap, &f->err), 0);
        store_range_begin(snap, STR("k"), (struct str){ after, after_n });
        int r = 1;
        for (int i = 0; i < 20 && (r = store_range_next(snap, &e, &f->err)) > 0; i++) {
            (void)snprintf(expect, sizeof(expect), "k%04d", n++);
            assert_true(str_eq(e.key, str_of(expect)));
            assert_true(str_eq(e.value, STR("old")));
            memcpy(after, e.key.p, e.key.n);
            after[e.key.n] = '\0'; /* the smallest key behind it ends with a NUL byte */
            after_n = e.key.n + 1;
        }
        assert_true(r >= 0);
        more = r > 0;
        store_snap_end(snap);
    }
    assert_int_equal(n, 500);
}

static void old_revisions_can_be_read(void **state)
{
    struct fixture *f = *state;
    (void)put(f, "a", "1"); /* 2 */
    (void)put(f, "b", "1"); /* 3 */
    (void)del(f, "a");      /* 4 */
    (void)put(f, "b", "2"); /* 5 */
    (void)put(f, "a", "2"); /* 6 */
    (void)del(f, "b");      /* 7 */
    static const char *const expect[] = { "", "a=1", "a=1 b=1", "b=1", "b=2", "a=2 b=2", "a=2" };
    for (int round = 0; round < 3; round++) {
        for (uint64_t rev = 1; rev <= 7; rev++)
            assert_string_equal(list(f, "", rev), expect[rev - 1]);
        assert_string_equal(list(f, "", store_rev(f->s) + 1), "Timeout");
        struct store_snap *snap;
        struct store_entry e;
        assert_int_equal(store_snap_begin(f->s, 5, &snap, &f->err), 0);
        assert_int_equal(store_snap_get(snap, STR("b"), &e, &f->err), 1);
        assert_int_equal(e.mod_rev, 5);
        assert_int_equal(store_snap_get(snap, STR("a"), &e, &f->err), 0);
        store_snap_end(snap);
        if (round == 0)
            fixture_checkpoint(f);
        else
            (void)put(f, "c", "1"); /* a table above the view */
        if (round == 1)
            fixture_reopen(f);
    }
}

static void a_snapshot_does_not_move(void **state)
{
    struct fixture *f = *state;
    (void)put(f, "a", "1");
    struct store_snap *snap;
    struct store_entry e;
    assert_int_equal(store_snap_begin(f->s, 0, &snap, &f->err), 0);
    (void)put(f, "a", "2");
    fixture_checkpoint(f);
    (void)put(f, "a", "3");
    fixture_checkpoint(f);
    assert_int_equal(store_snap_get(snap, STR("a"), &e, &f->err), 1);
    assert_true(str_eq(e.value, STR("1")));
    store_snap_end(snap);
}

/* ---- History ---- */

static void compaction_raises_the_floor(void **state)
{
    struct fixture *f = *state;
    char value[16];
    for (int i = 2; i <= 20; i++) {
        (void)snprintf(value, sizeof(value), "%d", i);
        assert_int_equal(put(f, "a", value), i);
    }
    assert_int_equal(store_compact(f->s, 21, &f->err), -ERR_INVALID);
    assert_int_equal(store_compact(f->s, 10, &f->err), 0);
    assert_int_equal(store_floor(f->s), 10);
    assert_string_equal(list(f, "", 9), "Expired");
    assert_string_equal(list(f, "", 10), "a=10");
    assert_string_equal(list(f, "", 15), "a=15");
    assert_int_equal(store_compact(f->s, 5, &f->err), 0);
    assert_int_equal(store_floor(f->s), 10);
    fixture_reopen(f);
    assert_int_equal(store_floor(f->s), 10);
    assert_string_equal(list(f, "", 9), "Expired");
    assert_string_equal(list(f, "", 10), "a=10");
    assert_int_equal(store_compact(f->s, 20, &f->err), 0);
    assert_string_equal(list(f, "", 19), "Expired");
    assert_string_equal(list(f, "", 20), "a=20");
}

static int reopen_with(struct fixture *f, uint64_t bytes, int64_t ns)
{
    f->s = store_close(f->s);
    f->opt.history_bytes = bytes;
    f->opt.history_ns = ns;
    return fixture_open(f);
}

static void history_is_bounded_by_size(void **state)
{
    struct fixture *f = *state;
    const uint64_t history = 1 << 20;
    enum { N = 6000 };
    assert_int_equal(reopen_with(f, history, 0), 0);
    char value[1024], key[16];
    memset(value, 'x', sizeof(value));
    value[sizeof(value) - 1] = '\0';
    uint64_t max_view = 0, max_log = 0;
    struct store_stats stats;
    for (int i = 0; i < N; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i % 50);
        assert_true(put(f, key, value) > 0);
        if (i % 500)
            continue;
        store_stats(f->s, &stats);
        max_view = stats.view_bytes > max_view ? stats.view_bytes : max_view;
        max_log = stats.log_bytes > max_log ? stats.log_bytes : max_log;
        assert_true(stats.memory_bytes < 2 * history);
    }
    fixture_checkpoint(f);
    store_stats(f->s, &stats);
    assert_true(stats.floor > N - 2000 && stats.floor < N);
    assert_true(stats.log_bytes <= history + history / 4);
    assert_true(max_log < 3 * history); /* 6 times that was written */
    assert_true(max_view < 10 * history);
    assert_int_equal(stats.keys, 50);
    fixture_reopen(f);
    store_stats(f->s, &stats);
    assert_int_equal(stats.keys, 50);
}

/* A delete says little and keeps much: what was there before it. */
static void what_was_deleted_is_bounded_by_size(void **state)
{
    enum { N = 40, BYTES = 200 << 10, HISTORY = 1 << 20 };
    struct fixture *f = *state;
    assert_int_equal(reopen_with(f, HISTORY, 0), 0);
    char key[16], *value = malloc(BYTES);
    assert_non_null(value);
    memset(value, 'x', BYTES - 1);
    value[BYTES - 1] = '\0';
    for (int i = 0; i < N; i++) {
        (void)snprintf(key, sizeof(key), "k%02d", i);
        assert_true(put(f, key, value) > 0);
    }
    uint64_t before = store_rev(f->s);
    for (int i = 0; i < N; i++) {
        (void)snprintf(key, sizeof(key), "k%02d", i);
        assert_true(del(f, key) > 0);
        fixture_checkpoint(f);
    }
    free(value);
    fixture_checkpoint(f);
    /* Five of those that went fit into it. */
    assert_true(store_floor(f->s) >= before + N - 8);
    assert_true(store_floor(f->s) < before + N);
}

static void history_is_bounded_by_time(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(reopen_with(f, 0, 160 * NS_PER_SEC), 0);
    for (int i = 0; i < 100; i++) {
        (void)put(f, "a", "x");
        clock_fake_advance(&f->clock, 10 * NS_PER_SEC);
    }
    fixture_checkpoint(f);
    uint64_t floor = store_floor(f->s);
    /* 100 changes, ten seconds apart: 16 of them are younger than 160 s. */
    assert_true(floor >= 101 - 20 && floor <= 101 - 15);
}

static void a_long_list_does_not_hold_pages(void **state)
{
    struct fixture *f = *state;
    const uint64_t history = 4 << 20;
    assert_int_equal(reopen_with(f, history, 0), 0);
    char key[16], value[1024];
    memset(value, 'y', sizeof(value));
    value[sizeof(value) - 1] = '\0';
    for (int i = 0; i < 300; i++) {
        (void)snprintf(key, sizeof(key), "k%04d", i);
        (void)put(f, key, value);
    }
    /* A list of 300 keys in pieces of one key, and 60 overwrites between two pieces. */
    uint64_t rev = store_rev(f->s);
    int n = 0, r = 0;
    for (; n < 300; n++) {
        struct store_snap *snap;
        struct store_entry e;
        (void)snprintf(key, sizeof(key), "k%04d", n);
        r = store_snap_begin(f->s, rev, &snap, &f->err);
        if (r < 0)
            break;
        store_range_begin(snap, STR("k"), str_of(key));
        assert_int_equal(store_range_next(snap, &e, &f->err), 1);
        assert_int_equal(e.mod_rev, n + 2);
        store_snap_end(snap);
        for (int i = 0; i < 60; i++) {
            (void)snprintf(key, sizeof(key), "k%04d", (n * 60 + i) % 300);
            (void)put(f, key, value);
        }
    }
    /* Its revision is dropped under it at last: that is the bound. */
    assert_int_equal(r, -ERR_EXPIRED);
    struct store_stats stats;
    store_stats(f->s, &stats);
    assert_true(stats.log_bytes < 3 * history);
    assert_true(stats.view_bytes < 10 * history);
    assert_true(stats.memory_bytes < 3 * history);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int suite_run(enum store_engine engine)
{
    suite_engine = engine;
    const struct CMUnitTest tests[] = {
        TEST(an_empty_store_has_revision_one),
        TEST(revisions_count_changes),
        TEST(conditions_hold_over_several_keys),
        TEST(what_goes_first_has_a_revision_of_its_own),
        TEST(a_check_alone_changes_nothing),
        TEST(a_key_may_appear_once),
        TEST(limits_are_exact),
        TEST(waiting_ends_when_the_revision_is_there),
        TEST(threads_agree_by_conditions),
        TEST(snapshots_hold_while_everything_moves),
        TEST(ranges_respect_prefix_and_start),
        TEST(a_list_goes_on_at_its_revision),
        TEST(old_revisions_can_be_read),
        TEST(a_snapshot_does_not_move),
        TEST(compaction_raises_the_floor),
        TEST(history_is_bounded_by_size),
        TEST(what_was_deleted_is_bounded_by_size),
        TEST(history_is_bounded_by_time),
        TEST(a_long_list_does_not_hold_pages),
        TEST(watch_from_every_revision),
        TEST(watch_takes_a_whole_revision_at_once),
        TEST(watch_that_is_full_gets_it_again),
        TEST(watch_below_the_floor_expires),
        TEST(watch_that_is_stuck_expires),
        TEST(watches_may_stop_each_other),
        TEST(watch_reads_history_from_the_log),
        TEST(watch_knows_what_was_there_before),
        TEST(watches_are_woken),
        TEST(model_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
