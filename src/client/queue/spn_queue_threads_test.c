/* Several producers and workers at once. Run under ThreadSanitizer, too. */
#include <sampan/queue.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "client/suite_client.h"

enum { N_KEYS = 40, N_PRODUCERS = 3, N_WORKERS = 4, N_ADDS = 4000 };

struct scene {
    struct spn_queue *q;
    atomic_int holders[N_KEYS]; /* workers who have the key */
    atomic_uint asked[N_KEYS];  /* raised before each add */
    atomic_uint seen[N_KEYS];   /* what `asked` was when a worker last had the key */
    atomic_uint clashes, handled;
};

static struct spn_text key_text(unsigned i, char text[static 16])
{
    (void)snprintf(text, 16, "ns/%u", i);
    return spn_text_of(text);
}

static unsigned key_number(struct spn_text key)
{
    return (unsigned)strtoul(key.p + 3, NULL, 10); /* the text is followed by other bytes */
}

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

struct producer {
    struct scene *scene;
    unsigned seed;
};

static void *produce(void *arg)
{
    struct producer *p = arg;
    char text[16];
    for (unsigned i = 0; i < N_ADDS; i++) {
        unsigned k = next_random(&p->seed) % N_KEYS;
        struct spn_text key = key_text(k, text);
        atomic_fetch_add(&p->scene->asked[k], 1);
        switch (next_random(&p->seed) % 4) {
        case 0:
            spn_queue_add_after(p->scene->q, key, (int64_t)(next_random(&p->seed) % 3));
            break;
        case 1:
            spn_queue_add_priority(p->scene->q, key, (int)(next_random(&p->seed) % 3) - 1);
            break;
        default:
            spn_queue_add(p->scene->q, key);
        }
    }
    return NULL;
}

static void handle(struct scene *s, struct spn_text key)
{
    unsigned k = key_number(key);
    if (atomic_fetch_add(&s->holders[k], 1) != 0)
        atomic_fetch_add(&s->clashes, 1);
    atomic_store(&s->seen[k], atomic_load(&s->asked[k]));
    atomic_fetch_add(&s->handled, 1);
    atomic_fetch_sub(&s->holders[k], 1);
}

static void *work(void *arg)
{
    struct scene *s = arg;
    struct spn_text key;
    while (spn_queue_get(s->q, &key)) {
        char copy[16] = { 0 };
        memcpy(copy, key.p, key.n);
        handle(s, spn_text_of(copy));
        spn_queue_forget(s->q, key);
        spn_queue_done(s->q, key);
    }
    return NULL;
}

static bool is_idle(struct spn_queue *q)
{
    struct spn_queue_stats st;
    spn_queue_stats(q, &st);
    return !st.depth && !st.delayed && !st.running;
}

static void no_key_has_two_workers_and_none_is_lost(void **state)
{
    (void)state;
    static struct scene s;
    s.q = spn_queue_new(&(struct spn_queue_options){ .per_second = -1 });
    pthread_t workers[N_WORKERS], producers[N_PRODUCERS];
    struct producer how[N_PRODUCERS];
    for (unsigned i = 0; i < N_WORKERS; i++)
        assert_int_equal(pthread_create(&workers[i], NULL, work, &s), 0);
    for (unsigned i = 0; i < N_PRODUCERS; i++) {
        how[i] = (struct producer){ &s, i + 1 };
        assert_int_equal(pthread_create(&producers[i], NULL, produce, &how[i]), 0);
    }
    for (unsigned i = 0; i < N_PRODUCERS; i++)
        pthread_join(producers[i], NULL);
    while (!is_idle(s.q))
        sched_yield();
    spn_queue_drain(s.q);
    for (unsigned i = 0; i < N_WORKERS; i++)
        pthread_join(workers[i], NULL);
    assert_int_equal(s.clashes, 0);
    assert_true(s.handled >= N_KEYS);
    for (unsigned i = 0; i < N_KEYS; i++)
        assert_int_equal(s.seen[i], s.asked[i]);
    spn_queue_free(s.q);
}

static void *get_one(void *arg)
{
    struct spn_text key;
    return spn_queue_get(arg, &key) ? arg : NULL;
}

/* Each worker sleeps first; the delays come later and the earliest of them last. */
static void sleepers_wake_for_delayed_keys(void **state)
{
    (void)state;
    struct spn_queue *q = spn_queue_new(NULL);
    pthread_t workers[3];
    void *got;
    char text[16];
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&workers[i], NULL, get_one, q), 0);
    for (unsigned i = 0; i < 3; i++)
        spn_queue_add_after(q, key_text(i, text), 30 - 10 * (int64_t)i);
    for (unsigned i = 0; i < 3; i++) {
        pthread_join(workers[i], &got);
        assert_ptr_equal(got, q);
    }
    spn_queue_free(q);
}

static void sleepers_wake_for_a_stop(void **state)
{
    (void)state;
    struct spn_queue *q = spn_queue_new(NULL);
    spn_queue_add_after(q, SPN_TEXT("far"), 3600 * 1000);
    pthread_t workers[3];
    void *got;
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&workers[i], NULL, get_one, q), 0);
    spn_queue_stop(q);
    for (unsigned i = 0; i < 3; i++) {
        pthread_join(workers[i], &got);
        assert_null(got);
    }
    spn_queue_free(q);
}

static void *drain(void *arg)
{
    spn_queue_drain(arg);
    return NULL;
}

static void a_drain_waits_for_all_and_a_stop_ends_it(void **state)
{
    (void)state;
    struct spn_queue *q = spn_queue_new(NULL);
    struct spn_text key;
    pthread_t drainer;
    spn_queue_add(q, SPN_TEXT("a"));
    assert_true(spn_queue_get(q, &key));
    spn_queue_add(q, SPN_TEXT("a"));
    assert_int_equal(pthread_create(&drainer, NULL, drain, q), 0);
    spn_queue_done(q, key);
    assert_true(spn_queue_get(q, &key));
    spn_queue_done(q, key);
    pthread_join(drainer, NULL);
    spn_queue_free(q);

    q = spn_queue_new(NULL);
    spn_queue_add(q, SPN_TEXT("never done"));
    assert_int_equal(pthread_create(&drainer, NULL, drain, q), 0);
    while (pthread_tryjoin_np(drainer, NULL) != 0)
        spn_queue_stop(q); /* again and again: the drain may begin only now */
    spn_queue_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_key_has_two_workers_and_none_is_lost),
        cmocka_unit_test(sleepers_wake_for_delayed_keys),
        cmocka_unit_test(sleepers_wake_for_a_stop),
        cmocka_unit_test(a_drain_waits_for_all_and_a_stop_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
