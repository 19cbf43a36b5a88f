#include "client/informer/delta_fifo.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "client/suite_client.h"

struct fixture {
    struct spn_arena *arena;
    struct spn_cache *known;
    struct delta_fifo *fifo;
    atomic_uint n_more; /* so often the consumer was told */
    atomic_bool is_closed;
};

static void note_more(void *arg)
{
    atomic_fetch_add(&((struct fixture *)arg)->n_more, 1);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    f->arena = spn_arena_new();
    f->known = spn_cache_new();
    f->fifo = delta_fifo_new(f->known, note_more, f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    delta_fifo_free(f->fifo);
    spn_cache_free(f->known);
    spn_arena_free(f->arena);
    free(f);
    return 0;
}

/* "A1 U2 D2" with T for a tombstone. */
static void describe(const struct deltas *d, char text[static 256])
{
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < d->n; i++) {
        char letter = d->items[i].is_tombstone ? 'T' : "AUDRS"[d->items[i].type];
        struct spn_text version = spn_object_version(d->items[i].obj);
        n += (size_t)snprintf(text + n, 256 - n, "%s%c" SPN_FMT, i ? " " : "", letter,
                              SPN_ARG(version));
    }
}

static void take_over(struct spn_cache *known, const struct deltas *d)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->items[i].type == DELTA_DELETED)
            spn_object_unref(spn_cache_remove(known, d->key));
        else
            spn_cache_put(known, d->items[i].obj, NULL);
}

static void put(struct fixture *f, enum delta_type type, const char *key, unsigned version)
{
    struct spn_object *o = suite_keyed(f->arena, key, version);
    delta_fifo_put(f->fifo, type, o);
    spn_object_unref(o);
}

/* A list of one object, or of none. */
static void replace(struct fixture *f, const char *key, unsigned version)
{
    struct spn_object *o = key ? suite_keyed(f->arena, key, version) : NULL;
    delta_fifo_replace(f->fifo, &o, key ? 1 : 0);
    spn_object_unref(o);
}

static void pop(struct fixture *f, struct deltas *ret, const char *key, const char *want)
{
    char got[256];
    assert_true(delta_fifo_pop(f->fifo, ret));
    assert_text(ret->key, key);
    describe(ret, got);
    assert_string_equal(got, want);
}

static void assert_next(struct fixture *f, const char *key, const char *want)
{
    struct deltas d;
    pop(f, &d, key, want);
    take_over(f->known, &d);
    delta_fifo_popped(f->fifo);
    deltas_done(&d);
}

static void changes_of_a_key_are_collected(void **state)
{
    struct fixture *f = *state;
    put(f, DELTA_ADDED, "n/a", 1);
    put(f, DELTA_ADDED, "n/b", 2);
    put(f, DELTA_UPDATED, "n/a", 3);
    put(f, DELTA_DELETED, "n/a", 4);
    assert_int_equal(delta_fifo_length(f->fifo), 2);
    assert_next(f, "n/a", "A1 U3 D4");
    assert_next(f, "n/b", "A2");
    assert_int_equal(delta_fifo_length(f->fifo), 0);
}

static void a_deletion_of_nothing_is_passed_over(void **state)
{
    struct fixture *f = *state;
    put(f, DELTA_DELETED, "n/a", 1);
    assert_int_equal(delta_fifo_length(f->fifo), 0);
    put(f, DELTA_ADDED, "n/a", 1);
    assert_next(f, "n/a", "A1");
    put(f, DELTA_DELETED, "n/a", 2);
    put(f, DELTA_DELETED, "n/a", 3);
    assert_next(f, "n/a", "D2");
}

static void a_list_buries_what_is_not_in_it(void **state)
{
    struct fixture *f = *state;
    put(f, DELTA_ADDED, "n/known", 1);
    assert_next(f, "n/known", "A1");
    put(f, DELTA_ADDED, "n/queued", 2);
    replace(f, "n/listed", 3);
    assert_next(f, "n/queued", "A2 T2");
    assert_next(f, "n/listed", "R3");
    assert_next(f, "n/known", "T1");
    assert_int_equal(delta_fifo_length(f->fifo), 0);
    assert_int_equal(spn_cache_count(f->known), 1);
}

static void a_deletion_that_was_seen_beats_a_tombstone(void **state)
{
    struct fixture *f = *state;
    put(f, DELTA_ADDED, "n/a", 1);
    put(f, DELTA_DELETED, "n/a", 2);
    replace(f, NULL, 0);
    assert_next(f, "n/a", "A1 D2");
    put(f, DELTA_ADDED, "n/b", 3);
    replace(f, NULL, 0);
    put(f, DELTA_DELETED, "n/b", 4);
    assert_next(f, "n/b", "A3 D4");
}

static void a_resync_shows_what_has_no_news(void **state)
{
    struct fixture *f = *state;
    put(f, DELTA_ADDED, "n/a", 1);
    put(f, DELTA_ADDED, "n/b", 2);
    assert_next(f, "n/a", "A1");
    assert_next(f, "n/b", "A2");
    put(f, DELTA_UPDATED, "n/b", 3);
    delta_fifo_resync(f->fifo);
    delta_fifo_resync(f->fifo);
    assert_next(f, "n/b", "U3");
    assert_next(f, "n/a", "S1");
    assert_int_equal(delta_fifo_length(f->fifo), 0);
}

/* Between pop and popped the change is neither queued nor known. */
static void what_is_being_taken_over_counts(void **state)
{
    struct fixture *f = *state;
    struct deltas d;
    put(f, DELTA_ADDED, "n/a", 1);
    pop(f, &d, "n/a", "A1");
    put(f, DELTA_DELETED, "n/a", 2);
    take_over(f->known, &d);
    delta_fifo_popped(f->fifo);
    deltas_done(&d);
    pop(f, &d, "n/a", "D2");
    put(f, DELTA_DELETED, "n/a", 3);
    replace(f, NULL, 0);
    delta_fifo_resync(f->fifo);
    assert_int_equal(delta_fifo_length(f->fifo), 0);
    take_over(f->known, &d);
    delta_fifo_popped(f->fifo);
    deltas_done(&d);
    put(f, DELTA_ADDED, "n/a", 4);
    pop(f, &d, "n/a", "A4");
    replace(f, NULL, 0);
    delta_fifo_resync(f->fifo);
    take_over(f->known, &d);
    delta_fifo_popped(f->fifo);
    deltas_done(&d);
    assert_next(f, "n/a", "T4");
    assert_int_equal(delta_fifo_length(f->fifo), 0);
}

static void synced_when_the_first_list_was_taken_over(void **state)
{
    struct fixture *f = *state;
    struct deltas d;
    assert_false(delta_fifo_has_synced(f->fifo));
    replace(f, "n/a", 1);
    put(f, DELTA_ADDED, "n/later", 2);
    pop(f, &d, "n/a", "R1");
    assert_false(delta_fifo_has_synced(f->fifo));
    delta_fifo_popped(f->fifo);
    assert_true(delta_fifo_has_synced(f->fifo));
    deltas_done(&d);
    put(f, DELTA_ADDED, "n/b", 3);
    assert_true(delta_fifo_has_synced(f->fifo));
}

static void an_empty_first_list_is_synced_at_once(void **state)
{
    struct fixture *f = *state;
    replace(f, NULL, 0);
    assert_true(delta_fifo_has_synced(f->fifo));
}

static void a_closed_queue_hands_out_the_rest(void **state)
{
    struct fixture *f = *state;
    struct deltas d;
    put(f, DELTA_ADDED, "n/a", 1);
    delta_fifo_close(f->fifo);
    put(f, DELTA_ADDED, "n/b", 2);
    replace(f, "n/c", 3);
    assert_next(f, "n/a", "A1");
    delta_fifo_resync(f->fifo);
    assert_false(delta_fifo_pop(f->fifo, &d));
}

static void the_consumer_is_told_once(void **state)
{
    struct fixture *f = *state;
    struct deltas d;
    put(f, DELTA_ADDED, "n/a", 1);
    put(f, DELTA_ADDED, "n/b", 2);
    assert_int_equal(f->n_more, 1);
    assert_next(f, "n/a", "A1");
    put(f, DELTA_ADDED, "n/c", 3); /* it is still at it */
    assert_next(f, "n/b", "A2");
    assert_next(f, "n/c", "A3");
    assert_int_equal(f->n_more, 1);
    assert_false(delta_fifo_pop(f->fifo, &d));
    delta_fifo_resync(f->fifo);
    assert_int_equal(f->n_more, 2);
}

/* ---- Against a naive model ---- */

enum { N_KEYS = 12, N_STEPS = 30000 };

/* What should be queued: for each key the deltas as text, and the order of keys. */
struct model {
    unsigned server[N_KEYS]; /* version on the server; 0: there is none */
    unsigned told[N_KEYS];   /* version of the newest delta or, without any, in the cache */
    char queued[N_KEYS][256];
    unsigned order[N_KEYS];
    unsigned n_order, version, seed;
    int popped; /* the key between pop and popped, or -1 */
    char newest_popped;
    struct deltas deltas;
};

static unsigned next_random(struct model *m)
{
    m->seed = m->seed * 1664525u + 1013904223u;
    return m->seed >> 8;
}

static const char *key_of(unsigned i)
{
    static const char *const keys[N_KEYS] = { "a/0", "a/1", "a/2", "a/3", "b/0", "b/1",
                                              "b/2", "b/3", "0",   "1",   "2",   "3" };
    return keys[i];
}

static char newest_letter(const char *queued)
{
    const char *space = strrchr(queued, ' ');
    return space ? space[1] : queued[0];
}

static bool is_deletion(char letter)
{
    return letter == 'D' || letter == 'T';
}

static void model_say(struct model *m, unsigned i, char letter, unsigned version)
{
    char *queued = m->queued[i];
    if (is_deletion(letter) && is_deletion(newest_letter(queued))) {
        if (newest_letter(queued) == 'D')
            return;
        *strrchr(queued, 'T') = '\0'; /* with a space before it, or nothing */
        if (queued[0])
            queued[strlen(queued) - 1] = '\0';
    } else if (!queued[0]) {
        m->order[m->n_order++] = i;
    }
    size_t n = strlen(queued);
    (void)snprintf(queued + n, 256 - n, "%s%c%u", n ? " " : "", letter, version);
    m->told[i] = version;
}

/* Whether the consumer has the object when it has taken over what it popped. */
static bool model_has(struct model *m, struct fixture *f, unsigned i)
{
    if (m->popped == (int)i)
        return !is_deletion(m->newest_popped);
    struct spn_object *o = spn_cache_get(f->known, spn_text_of(key_of(i)));
    spn_object_unref(o);
    return o;
}

static void server_changes(struct model *m, struct fixture *f, bool is_watched)
{
    unsigned i = next_random(m) % N_KEYS, before = m->server[i], version = ++m->version;
    bool deletes = before && next_random(m) % 3 == 0;
    m->server[i] = deletes ? 0 : version;
    if (!is_watched)
        return;
    put(f, deletes ? DELTA_DELETED : before ? DELTA_UPDATED : DELTA_ADDED, key_of(i), version);
    if (!deletes || m->queued[i][0] || model_has(m, f, i))
        model_say(m, i, deletes ? 'D' : before ? 'U' : 'A', version);
}

static void server_is_listed(struct model *m, struct fixture *f)
{
    struct spn_object *objs[N_KEYS];
    size_t n = 0;
    for (unsigned i = 0; i < N_KEYS; i++)
        if (m->server[i])
            objs[n++] = suite_keyed(f->arena, key_of(i), m->server[i]);
    delta_fifo_replace(f->fifo, objs, n);
    while (n)
        spn_object_unref(objs[--n]);
    for (unsigned i = 0; i < N_KEYS; i++)
        if (m->server[i])
            model_say(m, i, 'R', m->server[i]);
}

/* Those that are queued, then what is being taken over, then by key. */
static void model_buries(struct model *m, struct fixture *f)
{
    static const unsigned by_key[N_KEYS] = { 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7 };
    for (unsigned i = 0; i < N_KEYS; i++)
        if (!m->server[i] && m->queued[i][0])
            model_say(m, i, 'T', m->told[i]);
    if (m->popped >= 0 && !m->server[m->popped] && !m->queued[m->popped][0] &&
        !is_deletion(m->newest_popped))
        model_say(m, (unsigned)m->popped, 'T', m->told[m->popped]);
    for (unsigned k = 0; k < N_KEYS; k++) {
        unsigned i = by_key[k];
        if (!m->server[i] && !m->queued[i][0] && m->popped != (int)i && model_has(m, f, i))
            model_say(m, i, 'T', m->told[i]);
    }
}

static void model_syncs(struct model *m, struct fixture *f)
{
    static const unsigned by_key[N_KEYS] = { 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7 };
    for (unsigned k = 0; k < N_KEYS; k++) {
        unsigned i = by_key[k];
        if (!m->queued[i][0] && m->popped != (int)i && model_has(m, f, i))
            model_say(m, i, 'S', m->told[i]);
    }
}

static void consumer_pops(struct model *m, struct fixture *f)
{
    if (!m->n_order)
        return;
    unsigned i = m->order[0];
    pop(f, &m->deltas, key_of(i), m->queued[i]);
    m->popped = (int)i;
    m->newest_popped = newest_letter(m->queued[i]);
    m->queued[i][0] = '\0';
    m->n_order--;
    memmove(m->order, m->order + 1, m->n_order * sizeof(m->order[0]));
}

static void consumer_takes_over(struct model *m, struct fixture *f)
{
    take_over(f->known, &m->deltas);
    delta_fifo_popped(f->fifo);
    deltas_done(&m->deltas);
    m->popped = -1;
}

static void model_step(struct model *m, struct fixture *f)
{
    unsigned what = next_random(m) % 100;
    if (what < 50) {
        server_changes(m, f, true);
    } else if (what < 95) {
        if (m->popped >= 0)
            consumer_takes_over(m, f);
        else
            consumer_pops(m, f);
    } else if (what < 97) { /* the watch breaks; meanwhile something happens */
        for (unsigned n = next_random(m) % 6; n; n--)
            server_changes(m, f, false);
        server_is_listed(m, f);
        model_buries(m, f);
    } else {
        delta_fifo_resync(f->fifo);
        model_syncs(m, f);
    }
    assert_int_equal(delta_fifo_length(f->fifo), m->n_order);
}

static void assert_cache_is_as_server(struct model *m, struct fixture *f)
{
    for (unsigned i = 0; i < N_KEYS; i++) {
        struct spn_object *o = spn_cache_get(f->known, spn_text_of(key_of(i)));
        unsigned version = o ? (unsigned)strtoul(spn_object_version(o).p, NULL, 10) : 0;
        assert_int_equal(version, m->server[i]);
        spn_object_unref(o);
    }
}

static void random_steps_end_as_in_a_naive_model(void **state)
{
    struct fixture *f = *state;
    struct model m = { .seed = 11, .popped = -1 };
    for (int step = 0; step < N_STEPS; step++) {
        model_step(&m, f);
        spn_arena_reset(f->arena);
    }
    while (m.popped >= 0 || m.n_order) {
        if (m.popped >= 0)
            consumer_takes_over(&m, f);
        else
            consumer_pops(&m, f);
    }
    assert_cache_is_as_server(&m, f);
}

/* ---- Threads ---- */

enum { N_VERSIONS = 3000 };

/* Waits for more. False: it is closed, and all of it was there before the last pop. */
static bool await_more(struct fixture *f, bool *is_last)
{
    bool was_last = *is_last;
    *is_last = atomic_load(&f->is_closed);
    if (!*is_last)
        sched_yield();
    return !was_last;
}

static void *consume(void *arg)
{
    struct fixture *f = arg;
    struct deltas d;
    size_t back = 0;
    bool is_last = false;
    for (;;) {
        if (!delta_fifo_pop(f->fifo, &d)) {
            if (!await_more(f, &is_last))
                break;
            continue;
        }
        struct spn_object *before = spn_cache_get(f->known, d.key);
        unsigned long version = strtoul(spn_object_version(d.items[0].obj).p, NULL, 10);
        if (before && version < strtoul(spn_object_version(before).p, NULL, 10))
            back++;
        spn_object_unref(before);
        take_over(f->known, &d);
        delta_fifo_popped(f->fifo);
        deltas_done(&d);
    }
    return (void *)back;
}

static void a_consumer_never_goes_back(void **state)
{
    struct fixture *f = *state;
    pthread_t consumer;
    void *back;
    assert_int_equal(pthread_create(&consumer, NULL, consume, f), 0);
    for (unsigned i = 1; i <= N_VERSIONS; i++) {
        put(f, DELTA_UPDATED, key_of(i % N_KEYS), i);
        if (i % 50 == 0)
            delta_fifo_resync(f->fifo);
        if (i % 100 == 0)
            replace(f, key_of(i % N_KEYS), i);
        spn_arena_reset(f->arena);
    }
    replace(f, "a/1", N_VERSIONS + 1);
    delta_fifo_close(f->fifo);
    atomic_store(&f->is_closed, true);
    pthread_join(consumer, &back);
    assert_null(back);
    assert_int_equal(spn_cache_count(f->known), 1);
}

#define fifo_test(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        fifo_test(changes_of_a_key_are_collected),
        fifo_test(a_deletion_of_nothing_is_passed_over),
        fifo_test(a_list_buries_what_is_not_in_it),
        fifo_test(a_deletion_that_was_seen_beats_a_tombstone),
        fifo_test(a_resync_shows_what_has_no_news),
        fifo_test(what_is_being_taken_over_counts),
        fifo_test(synced_when_the_first_list_was_taken_over),
        fifo_test(an_empty_first_list_is_synced_at_once),
        fifo_test(a_closed_queue_hands_out_the_rest),
        fifo_test(the_consumer_is_told_once),
        fifo_test(random_steps_end_as_in_a_naive_model),
        fifo_test(a_consumer_never_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
