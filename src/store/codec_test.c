#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/idiom.h"

/* Turns the case of letters behind a mark: '1' today, '0' long ago; '!' cannot be opened. Values
 * that begin with '.' are stored as they are. */
static struct arena arena;
static char mark = '1';

static int turn_open(struct store_codec *c, struct arena *a, struct store_entry *e, struct err *err)
{
    (void)c;
    if (e->value.p[0] == '!') {
        err_add_cause(err, STR(""), STR(""), STR("no key fits"));
        return err_set(err, ERR_DAMAGED, "sealed");
    }
    e->is_stale = e->value.p[0] != '1';
    if (e->value.p[0] == '.')
        return 0;
    struct str sealed = str_skip(e->value, 1);
    char *p = arena_dup(a, sealed.p, sealed.n);
    for (size_t i = 0; i < sealed.n; i++)
        p[i] ^= 0x20;
    e->value = (struct str){ p, sealed.n };
    return 0;
}

static int turn_seal(struct store_codec *c, struct str key, struct str value, struct buf *out,
                     struct err *err)
{
    (void)c;
    if (str_eq(key, STR("/refused")))
        return err_set(err, ERR_INTERNAL, "not today");
    if (value.p[0] == '.')
        return 0;
    buf_byte(out, mark);
    for (size_t i = 0; i < value.n; i++)
        buf_byte(out, (char)(value.p[i] ^ 0x20));
    return 1;
}

static struct store_codec turn = { turn_open, turn_seal };

static struct store *new_store(void)
{
    struct store *s;
    assert_int_equal(store_open(&(struct store_options){ .engine = STORE_MEMORY }, &s, NULL), 0);
    store_set_codec(s, &turn);
    return s;
}

static int put(struct store *s, const char *key, const char *value)
{
    struct store_op op = { STORE_PUT, str_of(key), str_of(value), STORE_ANY, false };
    struct store_txn t = { .ops = &op, .n_ops = 1 };
    int r = store_commit(s, &t, NULL);
    assert_ptr_equal(t.ops, &op);
    assert_true(str_eq(op.value, str_of(value))); /* the caller's own are as they were */
    return r;
}

static int get(struct store_snap *snap, const char *key, struct store_entry *ret, struct err *err)
{
    return store_snap_get(snap, str_of(key), ret, err);
}

static void readers_see_what_was_written(void **state)
{
    (void)state;
    struct store *s = new_store();
    mark = '0';
    assert_int_equal(put(s, "/a", "old"), 0);
    mark = '1';
    assert_int_equal(put(s, "/b", "new"), 0);
    assert_int_equal(put(s, "/c", ".as it is"), 0);
    assert_int_equal(put(s, "/refused", "x"), -ERR_INTERNAL);
    struct store_snap *snap;
    struct store_entry e;
    assert_int_equal(store_snap_begin(s, 0, &snap, NULL), 0);
    const struct {
        const char *key, *value;
        bool is_stale;
    } want[] = { { "/a", "old", true }, { "/b", "new", false }, { "/c", ".as it is", true } };
    store_range_begin(snap, STR("/"), STR(""));
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        assert_int_equal(store_range_next(snap, &e, NULL), 1);
        assert_true(str_eq(e.key, str_of(want[i].key)));
        assert_true(str_eq(e.value, str_of(want[i].value)));
        assert_int_equal(e.is_stale, want[i].is_stale);
        assert_int_equal(get(snap, want[i].key, &e, NULL), 1);
        assert_true(str_eq(e.value, str_of(want[i].value)));
    }
    assert_int_equal(store_range_next(snap, &e, NULL), 0);
    store_snap_end(snap);
    store_close(s);
}

static void what_is_stored_is_sealed(void **state)
{
    (void)state;
    struct store *s = new_store();
    assert_int_equal(put(s, "/a", "abc"), 0);
    store_set_codec(s, NULL);
    struct store_snap *snap;
    struct store_entry e;
    assert_int_equal(store_snap_begin(s, 0, &snap, NULL), 0);
    assert_int_equal(get(snap, "/a", &e, NULL), 1);
    assert_true(str_eq(e.value, STR("1ABC")));
    store_snap_end(snap);
    store_close(s);
}

static void what_cannot_be_opened_harms_no_other(void **state)
{
    (void)state;
    struct store *s = new_store();
    struct err err = ERR_INIT(&arena);
    assert_int_equal(put(s, "/a", "one"), 0);
    mark = '!';
    assert_int_equal(put(s, "/b", "two"), 0);
    mark = '1';
    assert_int_equal(put(s, "/c", "three"), 0);
    struct store_snap *snap;
    struct store_entry e;
    uint64_t n = 0;
    assert_int_equal(store_snap_begin(s, 0, &snap, NULL), 0);
    assert_int_equal(get(snap, "/b", &e, &err), -ERR_DAMAGED);
    assert_true(str_eq(err.causes->msg, STR("no key fits")));
    store_range_begin(snap, STR("/"), STR(""));
    assert_int_equal(store_range_next(snap, &e, NULL), 1);
    assert_int_equal(store_range_next(snap, &e, &err), -ERR_DAMAGED);
    assert_true(str_eq(e.key, STR("/b")));
    assert_int_equal(store_range_next(snap, &e, NULL), 1);
    assert_true(str_eq(e.value, STR("three")));
    assert_int_equal(store_count(snap, STR("/"), STR(""), &n, NULL), 0);
    assert_int_equal(n, 3);
    store_snap_end(snap);
    store_close(s);
}

/* ---- Watches ---- */

struct seen {
    struct store_watch watch;
    char text[100];
    bool is_expired;
    char unreadable[100];
};

static enum store_watch_verdict on_event(struct store_watch *w, const struct store_event *ev)
{
    struct seen *seen = container_of(w, struct seen, watch);
    struct str now = ev->now.value, prev = ev->prev.value;
    size_t n = strlen(seen->text);
    (void)snprintf(seen->text + n, sizeof(seen->text) - n, STR_FMT "<" STR_FMT ";", STR_ARG(now),
                   STR_ARG(prev));
    return STORE_WATCH_ON;
}

static void on_expired(struct store_watch *w)
{
    container_of(w, struct seen, watch)->is_expired = true;
}

static void on_unreadable(struct store_watch *w, const struct store_event *ev,
                          const struct err *why)
{
    struct seen *seen = container_of(w, struct seen, watch);
    assert_int_equal(why->code, ERR_DAMAGED);
    assert_non_null(why->causes);
    (void)snprintf(seen->unreadable, sizeof(seen->unreadable), "%s " STR_FMT,
                   ev->type == STORE_DELETE ? "delete" : "put", STR_ARG(ev->now.key));
}

static void ignore(void *arg)
{
    (void)arg;
}

static void watch(struct store_feed *f, struct seen *w, const char *prefix)
{
    *w = (struct seen){ .watch = { .on_event = on_event, .on_expired = on_expired } };
    assert_int_equal(store_watch_start(f, &w->watch, str_of(prefix), 1, NULL), 0);
    while (store_feed_poll(f))
        ;
}

static void poll(struct store_feed *f)
{
    while (store_feed_poll(f))
        ;
}

static void watches_see_what_was_written(void **state)
{
    (void)state;
    struct store *s = new_store();
    struct store_feed *f = store_feed_new(s, ignore, NULL);
    struct seen all, two, late;
    watch(f, &all, "/");
    watch(f, &two, "/");
    assert_int_equal(put(s, "/a", "one"), 0);
    assert_int_equal(put(s, "/a", "two"), 0);
    struct store_op op = { .type = STORE_DELETE, .key = STR("/a"), .expect_rev = STORE_ANY };
    assert_int_equal(store_commit(s, &(struct store_txn){ .ops = &op, .n_ops = 1 }, NULL), 0);
    poll(f);
    watch(f, &late, "/");
    assert_string_equal(all.text, "one<;two<one;<two;");
    assert_string_equal(two.text, all.text);
    assert_string_equal(late.text, all.text);
    store_watch_stop(&all.watch);
    store_watch_stop(&two.watch);
    store_watch_stop(&late.watch);
    store_feed_free(f);
    store_close(s);
}

/* It cannot be told what has changed: who watches it must list again. The others go on. */
static void a_watch_that_meets_a_sealed_one_expires(void **state)
{
    (void)state;
    struct store *s = new_store();
    struct store_feed *f = store_feed_new(s, ignore, NULL);
    struct seen here, elsewhere;
    watch(f, &here, "/a");
    watch(f, &elsewhere, "/b");
    mark = '!';
    assert_int_equal(put(s, "/a", "one"), 0);
    mark = '1';
    assert_int_equal(put(s, "/b", "two"), 0);
    poll(f);
    assert_true(here.is_expired);
    assert_string_equal(here.text, "");
    assert_false(elsewhere.is_expired);
    assert_string_equal(elsewhere.text, "two<;");
    store_watch_stop(&elsewhere.watch);
    store_feed_free(f);
    store_close(s);
}

/* Who wants to know is told of which event. */
static void a_watch_hears_what_it_cannot_read(void **state)
{
    (void)state;
    struct store *s = new_store();
    struct store_feed *f = store_feed_new(s, ignore, NULL);
    struct seen put_watch, delete_watch;
    mark = '!';
    assert_int_equal(put(s, "/a", "one"), 0);
    mark = '1';
    struct store_op op = { .type = STORE_DELETE, .key = STR("/a"), .expect_rev = STORE_ANY };
    uint64_t rev = store_rev(s);
    assert_int_equal(store_commit(s, &(struct store_txn){ .ops = &op, .n_ops = 1 }, NULL), 0);
    const struct store_watch calls = { .on_event = on_event,
                                       .on_expired = on_expired,
                                       .on_unreadable = on_unreadable };
    put_watch = delete_watch = (struct seen){ .watch = calls };
    assert_int_equal(store_watch_start(f, &put_watch.watch, STR("/"), rev - 1, NULL), 0);
    assert_int_equal(store_watch_start(f, &delete_watch.watch, STR("/"), rev, NULL), 0);
    poll(f);
    assert_string_equal(put_watch.unreadable, "put /a");
    assert_string_equal(delete_watch.unreadable, "delete /a");
    assert_false(put_watch.is_expired || delete_watch.is_expired);
    store_feed_free(f);
    store_close(s);
}

int main(void)
{
    arena_init(&arena);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_see_what_was_written),
        cmocka_unit_test(what_is_stored_is_sealed),
        cmocka_unit_test(what_cannot_be_opened_harms_no_other),
        cmocka_unit_test(watches_see_what_was_written),
        cmocka_unit_test(a_watch_that_meets_a_sealed_one_expires),
        cmocka_unit_test(a_watch_hears_what_it_cannot_read),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_done(&arena);
    return failed;
}
