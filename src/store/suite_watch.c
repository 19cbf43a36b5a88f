#include "store/suite_watch.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "store/suite_fixture.h"

/* Writes down what it is given: "2:a=1 3:a=2(1) 4:a-(2)", what was there before in brackets. */
struct recorder {
    struct store_watch w; /* first */
    struct buf text;
    int room; /* events it takes before it is full */
    bool is_expired;
    struct store_watch *to_stop;
};

static enum store_watch_verdict on_event(struct store_watch *w, const struct store_event *ev)
{
    struct recorder *r = (struct recorder *)w;
    if (r->room == 0)
        return STORE_WATCH_FULL;
    r->room--;
    buf_printf(&r->text, "%s%llu:" STR_FMT "%s" STR_FMT, r->text.n ? " " : "",
               (unsigned long long)ev->now.mod_rev, STR_ARG(ev->now.key),
               ev->type == STORE_PUT ? "=" : "-", STR_ARG(ev->now.value));
    if (ev->prev.mod_rev)
        buf_printf(&r->text, "(" STR_FMT ")", STR_ARG(ev->prev.value));
    if (r->to_stop)
        store_watch_stop(r->to_stop);
    return STORE_WATCH_ON;
}

static void on_expired(struct store_watch *w)
{
    ((struct recorder *)w)->is_expired = true;
}

static void no_wake(void *arg)
{
    (void)arg;
}

static int recorder_start(struct fixture *f, struct store_feed *feed, struct recorder *r,
                          const char *prefix, uint64_t after_rev)
{
    *r = (struct recorder){ .w = { .on_event = on_event, .on_expired = on_expired },
                            .room = 1 << 30 };
    return store_watch_start(feed, &r->w, str_of(prefix), after_rev, &f->err);
}

static const char *recorder_text(struct fixture *f, struct recorder *r)
{
    return str_cstr(&f->arena, buf_str(&r->text));
}

static void recorder_stop(struct recorder *r)
{
    store_watch_stop(&r->w);
    store_watch_stop(&r->w);
    buf_done(&r->text);
}

static void poll_all(struct store_feed *feed)
{
    for (int i = 0; store_feed_poll(feed); i++)
        assert_true(i < 100000);
}

/* What a watch from `after` must see, of the changes below. */
static const struct {
    const char *key, *value; /* NULL: deleted */
    const char *event;
} changes[] = {
    { "a", "1", "2:a=1" },    { "b", "1", "3:b=1" },    { "a", "2", "4:a=2(1)" },
    { "a", NULL, "5:a-(2)" }, { "b", "2", "6:b=2(1)" }, { "a", "3", "7:a=3" },
    { "ab", "1", "8:ab=1" },  { "b", NULL, "9:b-(2)" }, { "ab", "2", "10:ab=2(1)" },
};
enum { N_CHANGES = ARRAY_LEN(changes) };

static void make_changes(struct fixture *f)
{
    for (size_t i = 0; i < N_CHANGES; i++)
        assert_int_equal(changes[i].value ? put(f, changes[i].key, changes[i].value)
                                          : del(f, changes[i].key),
                         i + 2);
}

static const char *expected(struct fixture *f, const char *prefix, uint64_t after)
{
    autobuf text = { 0 };
    for (size_t i = 0; i < N_CHANGES; i++)
        if (i + 2 > after && str_starts(str_of(changes[i].key), str_of(prefix)))
            buf_printf(&text, "%s%s", text.n ? " " : "", changes[i].event);
    return str_cstr(&f->arena, buf_str(&text));
}

void watch_from_every_revision(void **state)
{
    struct fixture *f = *state;
    static const char *const prefixes[] = { "", "a", "b", "ab", "x" };
    enum { N_PREFIXES = 5 };
    struct store_feed *feed = store_feed_new(f->s, no_wake, NULL);
    struct recorder early[N_PREFIXES];
    for (int i = 0; i < N_PREFIXES; i++)
        assert_int_equal(recorder_start(f, feed, &early[i], prefixes[i], 1), 0);
    make_changes(f);
    poll_all(feed);
    for (int i = 0; i < N_PREFIXES; i++) {
        assert_string_equal(recorder_text(f, &early[i]), expected(f, prefixes[i], 1));
        assert_int_equal(store_watch_rev(&early[i].w), N_CHANGES + 1);
        recorder_stop(&early[i]);
    }
    /* Late ones, before and after the checkpoint moved it all. */
    for (int round = 0; round < 2; round++, fixture_checkpoint(f)) {
        for (uint64_t after = 1; after <= N_CHANGES + 1; after++) {
            for (int i = 0; i < N_PREFIXES; i++) {
                struct recorder r;
                assert_int_equal(recorder_start(f, feed, &r, prefixes[i], after), 0);
                poll_all(feed);
                assert_string_equal(recorder_text(f, &r), expected(f, prefixes[i], after));
                recorder_stop(&r);
            }
        }
    }
    /* From the future: what comes before is not for it. */
    struct recorder r;
    assert_int_equal(recorder_start(f, feed, &r, "z", N_CHANGES + 3), 0);
    for (int i = 0; i < 4; i++)
        (void)put(f, "z", "v");
    poll_all(feed);
    assert_string_equal(recorder_text(f, &r), "13:z=v(v) 14:z=v(v)");
    recorder_stop(&r);
    store_feed_free(feed);
}

static void put_three(struct fixture *f, const char *value)
{
    struct store_op ops[3] = {
        { STORE_PUT, STR("c"), str_of(value), STORE_ANY },
        { STORE_PUT, STR("a"), str_of(value), STORE_ANY },
        { STORE_PUT, STR("b"), str_of(value), STORE_ANY },
    };
    struct store_txn t = { .ops = ops, .n_ops = 3 };
    assert_true(run(f, &t) > 0);
}

void watch_takes_a_whole_revision_at_once(void **state)
{
    struct fixture *f = *state;
    struct store_feed *feed = store_feed_new(f->s, no_wake, NULL);
    struct recorder r;
    assert_int_equal(recorder_start(f, feed, &r, "", 1), 0);
    put_three(f, "1");
    put_three(f, "2");
    poll_all(feed);
    assert_string_equal(recorder_text(f, &r), "2:c=1 2:a=1 2:b=1 3:c=2(1) 3:a=2(1) 3:b=2(1)");
    recorder_stop(&r);
    store_feed_free(feed);
}

/* Full at every possible event; live or behind; resumed with and without a checkpoint between. */
void watch_that_is_full_gets_it_again(void **state)
{
    struct fixture *f = *state;
    struct store_feed *feed = store_feed_new(f->s, no_wake, NULL);
    for (int round = 0; round < 2 * 6; round++) {
        int room = round % 6;
        struct recorder r;
        uint64_t start = store_rev(f->s);
        assert_int_equal(recorder_start(f, feed, &r, "", start), 0);
        poll_all(feed); /* live now */
        r.room = room;
        put_three(f, "1");
        put_three(f, "2");
        poll_all(feed);
        assert_int_equal(store_watch_rev(&r.w), room < 3 ? start : start + 1);
        (void)put(f, "d", "x");
        poll_all(feed);
        if (round >= 6)
            fixture_checkpoint(f);
        for (int i = 0; i < 3; i++) { /* one by one, then the rest */
            r.room = i < 2 ? 1 : 100;
            store_watch_resume(&r.w);
            poll_all(feed);
        }
        char text[200];
        unsigned long long rev = start;
        const char *p = round ? "(2)" : "";
        (void)snprintf(text, sizeof(text),
                       "%llu:c=1%s %llu:a=1%s %llu:b=1%s %llu:c=2(1) %llu:a=2(1) %llu:b=2(1) "
                       "%llu:d=x%s",
                       rev + 1, p, rev + 1, p, rev + 1, p, rev + 2, rev + 2, rev + 2, rev + 3,
                       round ? "(x)" : "");
        assert_string_equal(recorder_text(f, &r), text);
        assert_int_equal(store_watch_rev(&r.w), start + 3);
        (void)put(f, "e", "y"); /* and it is live again */
        poll_all(feed);
        assert_true(str_ends(buf_str(&r.text), round ? STR(":e=y(y)") : STR(":e=y")));
        recorder_stop(&r);
    }
    store_feed_free(feed);
}

void watch_below_the_floor_expires(void **state)
{
    struct fixture *f = *state;
    struct store_feed *feed = store_feed_new(f->s, no_wake, NULL);
    make_changes(f);
    struct recorder early, late;
    assert_int_equal(recorder_start(f, feed, &early, "", 3), 0);
    assert_int_equal(recorder_start(f, feed, &late, "", 6), 0);
    assert_int_equal(store_compact(f->s, 6, &f->err), 0);
    struct recorder below;
    assert_int_equal(recorder_start(f, feed, &below, "", 5), -ERR_EXPIRED);
    poll_all(feed);
    assert_true(early.is_expired);
    assert_false(late.is_expired);
    assert_string_equal(recorder_text(f, &late), expected(f, "", 6));
    recorder_stop(&early);
    recorder_stop(&late);
    store_feed_free(feed);
}

void watch_that_is_stuck_expires(void **state)
{
    struct fixture *f = *state;
    struct store_feed *feed = store_feed_new(f->s, no_wake, NULL);
    struct store_feed *asleep = store_feed_new(f->s, no_wake, NULL);
    struct recorder stuck, sleeper;
    assert_int_equal(recorder_start(f, feed, &stuck, "", 1), 0);
    assert_int_equal(recorder_start(f, asleep, &sleeper, "", 1), 0);
    poll_all(asleep); /* live, and then its thread does not come back for long */
    stuck.room = 2;
    make_changes(f);
    poll_all(feed);
    assert_int_equal(store_watch_rev(&stuck.w), 3);
    assert_int_equal(store_compact(f->s, 8, &f->err), 0);
    poll_all(feed);
    assert_true(stuck.is_expired);
    assert_false(sleeper.is_expired);
    poll_all(asleep);
    assert_true(sleeper.is_expired);
    recorder_stop(&stuck);
    recorder_stop(&sleeper);
    store_feed_free(feed);
    store_feed_free(asleep);
}

void watches_may_stop_each_other(void **state)
{
    struct fixture *f = *state;
    struct store_feed *feed = store_feed_new(f->s, no_wake, NULL);
    struct recorder r[4];
    for (int live = 0; live < 2; live++) {
        uint64_t rev = store_rev(f->s);
        for (int i = 0; i < 4; i++)
            assert_int_equal(recorder_start(f, feed, &r[i], i % 2 ? "s" : "", rev), 0);
        r[0].to_stop = &r[0].w; /* itself */
        r[1].to_stop = &r[3].w; /* another one */
        r[2].to_stop = &r[1].w;
        if (live)
            poll_all(feed);
        (void)put(f, "s", "v");
        (void)put(f, "s", "v");
        poll_all(feed);
        assert_int_equal(r[0].room, (1 << 30) - 1);
        assert_int_equal(r[2].room, (1 << 30) - 2);
        assert_int_equal((1 << 30) - r[1].room + (1 << 30) - r[3].room, 2);
        for (int i = 0; i < 4; i++)
            recorder_stop(&r[i]);
    }
    store_feed_free(feed);
}

void watch_reads_history_from_the_log(void **state)
{
    struct fixture *f = *state;
    enum { N = 3000 };
    char key[16];
    autobuf all = { 0 };
    struct store_feed *feed = store_feed_new(f->s, no_wake, NULL);
    for (int i = 0; i < N; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i % 100);
        assert_int_equal(put(f, key, "v"), i + 2);
        buf_printf(&all, "%s%d:%s=v%s", i ? " " : "", i + 2, key, i >= 100 ? "(v)" : "");
        if (i % 1000 == 500)
            fixture_checkpoint(f);
    }
    fixture_checkpoint(f);
    struct recorder r;
    assert_int_equal(recorder_start(f, feed, &r, "", 1), 0);
    poll_all(feed);
    assert_string_equal(recorder_text(f, &r), str_cstr(&f->arena, buf_str(&all)));
    recorder_stop(&r);
    store_feed_free(feed);
    if (suite_engine == STORE_MEMORY)
        return;
    /* The same after a start, when nobody knows yet where revisions stand in the log. */
    fixture_reopen(f);
    feed = store_feed_new(f->s, no_wake, NULL);
    assert_int_equal(recorder_start(f, feed, &r, "", 1), 0);
    poll_all(feed);
    assert_string_equal(recorder_text(f, &r), str_cstr(&f->arena, buf_str(&all)));
    recorder_stop(&r);
    store_feed_free(feed);
}

void watch_knows_what_was_there_before(void **state)
{
    struct fixture *f = *state;
    (void)put(f, "a", "1");
    fixture_checkpoint(f); /* what was there is in the view only */
    struct store_feed *feed = store_feed_new(f->s, no_wake, NULL);
    struct recorder r;
    assert_int_equal(recorder_start(f, feed, &r, "", 2), 0);
    (void)put(f, "a", "2");
    poll_all(feed);
    fixture_checkpoint(f);
    (void)del(f, "a");
    fixture_checkpoint(f);
    (void)put(f, "a", "3");
    poll_all(feed);
    assert_string_equal(recorder_text(f, &r), "3:a=2(1) 4:a-(2) 5:a=3");
    recorder_stop(&r);
    store_feed_free(feed);
}

static void count_wake(void *arg)
{
    atomic_fetch_add((_Atomic int *)arg, 1);
}

void watches_are_woken(void **state)
{
    struct fixture *f = *state;
    _Atomic int n = 0;
    struct store_feed *feed = store_feed_new(f->s, count_wake, &n);
    (void)put(f, "a", "1");
    (void)put(f, "a", "2");
    assert_int_equal(n, 1); /* once is enough until it polls */
    poll_all(feed);
    (void)put(f, "a", "3");
    assert_int_equal(n, 2);
    poll_all(feed);
    struct recorder r; /* one that starts in the past has something to poll for */
    assert_int_equal(recorder_start(f, feed, &r, "", 2), 0);
    assert_int_equal(n, 3);
    r.room = 0;
    poll_all(feed);
    r.room = 9;
    store_watch_resume(&r.w);
    assert_int_equal(n, 4);
    poll_all(feed);
    recorder_stop(&r);
    store_feed_free(feed);
}
