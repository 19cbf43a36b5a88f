/* Readers while writers replace. Run under ThreadSanitizer, too. */
#include <sampan/cache.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "client/suite_client.h"

enum { N_KEYS = 50, N_ROUNDS = 60, N_READERS = 3 };

struct scene {
    struct spn_cache *cache;
    atomic_bool is_over;
    atomic_uint faults, lists;
};

/* Each round gives all objects the version of the round, one after another. */
static void *write_rounds(void *arg)
{
    struct scene *s = arg;
    for (unsigned round = 1; round <= N_ROUNDS; round++) {
        struct spn_arena *a = spn_arena_new();
        for (unsigned i = 0; i < N_KEYS; i++) {
            struct spn_text key = spn_arena_printf(a, "ns%u/%u", i % 3, i);
            struct spn_object *o = suite_keyed(a, key.p, round);
            spn_cache_put(s->cache, o, NULL);
            spn_object_unref(o);
        }
        spn_arena_free(a);
    }
    atomic_store(&s->is_over, true);
    return NULL;
}

static unsigned version_of(const struct spn_object *o)
{
    struct spn_text version = spn_object_version(o);
    return (unsigned)strtoul(version.p, NULL, 10); /* a quote follows it */
}

/* A list is of one moment: the versions in it are of one round and the one before, and those of one
 * key never go back. */
static void check_list(struct scene *s, unsigned *newest)
{
    struct spn_objects all;
    spn_cache_list(s->cache, SPN_TEXT(""), false, &all);
    unsigned low = UINT32_MAX, high = 0;
    for (size_t i = 0; i < all.n; i++) {
        unsigned version = version_of(all.items[i]);
        low = version < low ? version : low;
        high = version > high ? version : high;
    }
    if (all.n && (high - low > 1 || high < *newest))
        atomic_fetch_add(&s->faults, 1);
    *newest = high;
    spn_objects_done(&all);
}

static void check_index(struct scene *s)
{
    struct spn_objects all;
    if (spn_cache_by_index(s->cache, "namespace", SPN_TEXT("ns1"), &all, NULL) < 0)
        atomic_fetch_add(&s->faults, 1);
    for (size_t i = 0; i < all.n; i++)
        if (!spn_text_eq(spn_object_namespace(all.items[i]), SPN_TEXT("ns1")))
            atomic_fetch_add(&s->faults, 1);
    spn_objects_done(&all);
}

static void *read_all(void *arg)
{
    struct scene *s = arg;
    unsigned newest = 0;
    do {
        check_list(s, &newest);
        check_index(s);
        spn_object_unref(spn_cache_get(s->cache, SPN_TEXT("ns0/0")));
        atomic_fetch_add(&s->lists, 1);
    } while (!atomic_load(&s->is_over));
    return NULL;
}

static void lists_are_of_one_moment(void **state)
{
    (void)state;
    static struct scene s;
    s.cache = spn_cache_new();
    pthread_t writer, readers[N_READERS];
    for (int i = 0; i < N_READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_all, &s), 0);
    assert_int_equal(pthread_create(&writer, NULL, write_rounds, &s), 0);
    pthread_join(writer, NULL);
    for (int i = 0; i < N_READERS; i++)
        pthread_join(readers[i], NULL);
    assert_int_equal(s.faults, 0);
    assert_true(s.lists >= N_READERS);
    assert_int_equal(spn_cache_count(s.cache), N_KEYS);
    spn_cache_free(s.cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lists_are_of_one_moment) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
