#include "store/suite_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "store/suite_fixture.h"

enum { N_KEYS = 40, N_STEPS = 1500, MAX_OPS = 5, MAX_REVS = N_STEPS + 2 };

/* The whole state at each revision, side by side. A version of 0 means absent. */
struct model {
    uint64_t rev, floor;
    struct {
        uint64_t create_rev, mod_rev;
        uint32_t value;
    } at[MAX_REVS][N_KEYS];
    uint64_t seed;
};

static uint32_t roll(struct model *m, uint32_t n)
{
    m->seed ^= m->seed << 13;
    m->seed ^= m->seed >> 7;
    m->seed ^= m->seed << 17;
    return (uint32_t)(m->seed >> 20) % n;
}

static void key_text(char text[static 16], uint32_t key)
{
    (void)snprintf(text, 16, "%c/%02u", 'a' + (int)(key % 3), key);
}

static uint64_t roll_condition(struct model *m, uint64_t real)
{
    switch (roll(m, 6)) {
    case 0:
        return STORE_ABSENT;
    case 1:
        return real + 1;
    case 2:
        return real;
    default:
        return STORE_ANY;
    }
}

/* One random transaction, run on both. */
static void step(struct fixture *f, struct model *m)
{
    struct store_op ops[MAX_OPS];
    char keys[MAX_OPS][16], values[MAX_OPS][16];
    uint32_t picks[MAX_OPS], new_values[MAX_OPS];
    size_t n = 1 + roll(m, MAX_OPS), failed = SIZE_MAX;
    uint32_t first = roll(m, N_KEYS);
    bool changes = false;
    for (size_t i = 0; i < n; i++) {
        picks[i] = (first + 7 * (uint32_t)i) % N_KEYS;
        uint64_t real = m->at[m->rev][picks[i]].mod_rev;
        key_text(keys[i], picks[i]);
        new_values[i] = roll(m, 1000000);
        (void)snprintf(values[i], sizeof(values[i]), "%u", new_values[i]);
        ops[i] = (struct store_op){ (enum store_op_type)roll(m, 3), str_of(keys[i]),
                                    str_of(values[i]), roll_condition(m, real) };
        if (ops[i].expect_rev != STORE_ANY && ops[i].expect_rev != real && failed == SIZE_MAX)
            failed = i;
        changes |= ops[i].type == STORE_PUT || (ops[i].type == STORE_DELETE && real);
    }
    struct store_txn t = { .ops = ops, .n_ops = n };
    int64_t r = run(f, &t);
    if (failed != SIZE_MAX) {
        assert_int_equal(r, -ERR_CONFLICT);
        assert_int_equal(t.failed_op, failed);
        assert_int_equal(t.failed_rev, m->at[m->rev][picks[failed]].mod_rev);
        return;
    }
    if (changes) {
        m->rev++;
        memcpy(m->at[m->rev], m->at[m->rev - 1], sizeof(m->at[0]));
    }
    assert_int_equal(r, m->rev);
    for (size_t i = 0; i < n; i++) {
        __auto_type now = &m->at[m->rev][picks[i]];
        if (ops[i].type == STORE_PUT) {
            now->create_rev = now->mod_rev ? now->create_rev : m->rev;
            now->mod_rev = m->rev;
            now->value = new_values[i];
        } else if (ops[i].type == STORE_DELETE) {
            now->mod_rev = 0;
        }
    }
}

static void compare_entry(struct model *m, uint64_t rev, uint32_t key, const struct store_entry *e)
{
    char text[16];
    uint64_t value;
    key_text(text, key);
    assert_true(str_eq(e->key, str_of(text)));
    assert_true(str_to_u64(e->value, &value));
    assert_int_equal(value, m->at[rev][key].value);
    assert_int_equal(e->mod_rev, m->at[rev][key].mod_rev);
    assert_int_equal(e->create_rev, m->at[rev][key].create_rev);
}

/* Everything under one prefix at one revision: a range, a count, and each key by itself. */
static void compare(struct fixture *f, struct model *m, uint64_t rev)
{
    struct store_snap *snap;
    struct store_entry e;
    uint32_t group = roll(m, 3);
    char prefix[3] = { (char)('a' + (int)group), '/', 0 };
    if (rev < m->floor) {
        assert_int_equal(store_snap_begin(f->s, rev, &snap, &f->err), -ERR_EXPIRED);
        return;
    }
    assert_int_equal(store_snap_begin(f->s, rev, &snap, &f->err), 0);
    uint64_t n = 0, count;
    store_range_begin(snap, str_of(prefix), STR(""));
    for (uint32_t key = group; key < N_KEYS; key += 3) {
        if (!m->at[rev][key].mod_rev)
            continue;
        assert_int_equal(store_range_next(snap, &e, &f->err), 1);
        compare_entry(m, rev, key, &e);
        n++;
    }
    assert_int_equal(store_range_next(snap, &e, &f->err), 0);
    assert_int_equal(store_count(snap, str_of(prefix), STR(""), &count, &f->err), 0);
    assert_int_equal(count, n);
    uint32_t key = roll(m, N_KEYS);
    char text[16];
    key_text(text, key);
    int there = store_snap_get(snap, str_of(text), &e, &f->err);
    assert_int_equal(there, m->at[rev][key].mod_rev != 0);
    if (there)
        compare_entry(m, rev, key, &e);
    store_snap_end(snap);
}

static void housekeeping(struct fixture *f, struct model *m)
{
    uint32_t dice = roll(m, 100);
    if (dice < 4)
        fixture_checkpoint(f);
    else if (dice == 4)
        fixture_reopen(f);
    else if (dice == 5 && m->rev > 20) {
        uint64_t floor = m->rev - roll(m, 20);
        assert_int_equal(store_compact(f->s, floor, &f->err), 0);
        if (floor > m->floor)
            m->floor = floor;
    }
    assert_int_equal(store_rev(f->s), m->rev);
    assert_int_equal(store_floor(f->s), m->floor);
}

/* ---- A watch that builds the state from events alone ---- */

struct mirror {
    struct store_watch w; /* first */
    struct model *m;
    uint64_t mod_rev[N_KEYS];
    uint64_t last_rev;
};

static enum store_watch_verdict on_event(struct store_watch *w, const struct store_event *ev)
{
    struct mirror *mi = (struct mirror *)w;
    if (roll(mi->m, 10) == 0)
        return STORE_WATCH_FULL;
    uint64_t key;
    assert_true(str_to_u64(str_skip(ev->now.key, 2), &key) && key < N_KEYS);
    assert_true(ev->now.mod_rev >= mi->last_rev);
    assert_int_equal(ev->prev.mod_rev, mi->mod_rev[key]);
    if (ev->prev.mod_rev)
        compare_entry(mi->m, ev->now.mod_rev - 1, (uint32_t)key, &ev->prev);
    if (ev->type == STORE_PUT)
        compare_entry(mi->m, ev->now.mod_rev, (uint32_t)key, &ev->now);
    mi->mod_rev[key] = ev->type == STORE_PUT ? ev->now.mod_rev : 0;
    mi->last_rev = ev->now.mod_rev;
    return STORE_WATCH_ON;
}

static void on_expired(struct store_watch *w)
{
    (void)w;
    fail_msg("a watch above the floor expired");
}

static void no_wake(void *arg)
{
    (void)arg;
}

/* From a random retained revision to the newest. */
static void compare_watch(struct fixture *f, struct model *m)
{
    struct store_feed *feed = store_feed_new(f->s, no_wake, NULL);
    uint64_t after = m->floor + roll(m, (uint32_t)(m->rev - m->floor + 1));
    struct mirror mi = { .w = { .on_event = on_event, .on_expired = on_expired }, .m = m };
    for (uint32_t key = 0; key < N_KEYS; key++)
        mi.mod_rev[key] = m->at[after][key].mod_rev;
    assert_int_equal(store_watch_start(feed, &mi.w, STR(""), after, &f->err), 0);
    for (int i = 0; store_watch_rev(&mi.w) < m->rev; i++) {
        assert_true(i < 100000);
        (void)store_feed_poll(feed);
        store_watch_resume(&mi.w);
    }
    for (uint32_t key = 0; key < N_KEYS; key++)
        assert_int_equal(mi.mod_rev[key], m->at[m->rev][key].mod_rev);
    store_watch_stop(&mi.w);
    store_feed_free(feed);
}

void model_agrees(void **state)
{
    struct fixture *f = *state;
    struct model *m = mem_new(struct model);
    const char *given = getenv("SAMPAN_SEED");
    uint64_t seed;
    if (!given || !str_to_u64(str_of(given), &seed) || seed == 0)
        seed = (uint64_t)time(NULL);
    print_message("model_agrees: SAMPAN_SEED=%llu\n", (unsigned long long)seed);
    m->seed = seed * 0x9E3779B97F4A7C15u | 1;
    m->rev = m->floor = 1;
    for (int i = 0; i < N_STEPS; i++) {
        step(f, m);
        housekeeping(f, m);
        compare(f, m, m->rev);
        compare(f, m, 1 + roll(m, (uint32_t)m->rev));
        if (roll(m, 20) == 0)
            compare_watch(f, m);
        arena_reset(&f->arena);
        f->err = ERR_INIT(&f->arena);
    }
    free(m);
}
