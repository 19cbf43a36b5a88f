#include "net/http/share.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/idiom.h"
#include "net/http/http.h"

static struct http_peer at(const char *address)
{
    return (struct http_peer){ .address = str_of(address) };
}

static struct http_peer named(const char *name, const char *address)
{
    return (struct http_peer){ .address = str_of(address),
                               .cert = { .verified = true, .common_name = str_of(name) } };
}

/* Many connections are one client; a name counts more than where it comes from. */
static void who_is_the_same_client(void **state)
{
    (void)state;
    const struct {
        struct http_peer a, b;
        bool is_same;
    } rows[] = {
        { at("10.0.0.1:40000"), at("10.0.0.1:50000"), true },
        { at("10.0.0.1:40000"), at("10.0.0.2:40000"), false },
        { at("[::1]:1"), at("[::1]:2"), true },
        { at("[::1]:1"), at("[::2]:1"), false },
        { at("unix"), at("unix"), true },
        { named("a", "10.0.0.1:1"), named("a", "10.0.0.2:1"), true },
        { named("a", "10.0.0.1:1"), named("b", "10.0.0.1:2"), false },
        { named("a", "10.0.0.1:1"), at("10.0.0.1:2"), false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct shares all;
        shares_init(&all, 100, 50);
        struct share *a = shares_find(&all, &rows[i].a), *b = shares_find(&all, &rows[i].b);
        assert_int_equal(a == b, rows[i].is_same);
        assert_int_equal(all.by_name.n, rows[i].is_same ? 1 : 2);
        assert_null(share_unref(&all, a));
        assert_null(share_unref(&all, b));
        assert_int_equal(all.by_name.n, 0);
        shares_done(&all);
    }
}

/* A name that is not from a verified certificate is only a claim. */
static void a_name_that_is_not_verified_does_not_count(void **state)
{
    (void)state;
    struct shares all;
    struct http_peer claims = named("a", "10.0.0.1:1"), is = named("a", "10.0.0.2:1");
    claims.cert.verified = false;
    shares_init(&all, 100, 50);
    struct share *a = shares_find(&all, &claims), *b = shares_find(&all, &is);
    assert_ptr_not_equal(a, b);
    share_unref(&all, a);
    share_unref(&all, b);
    share_unref(&all, NULL);
    shares_done(&all);
}

/* The last reference ends what is counted; a client that comes back begins anew. */
static void a_share_lives_as_long_as_its_connections(void **state)
{
    (void)state;
    struct shares all;
    struct http_peer peer = at("10.0.0.1:1");
    shares_init(&all, 100, 50);
    struct share *first = shares_find(&all, &peer), *second = shares_find(&all, &peer);
    assert_int_equal(first->memory.max, 50);
    assert_ptr_equal(first->memory.within, &all.memory);
    assert_true(share_collect(&all, first, 10, 100, 10));
    share_unref(&all, first);
    assert_int_equal(atomic_load(&second->collected), 10);
    share_collected(&all, second, 10);
    share_unref(&all, second);
    assert_int_equal(all.by_name.n, 0);
    shares_done(&all);
}

static void a_client_gets_half_and_always_enough_for_one(void **state)
{
    (void)state;
    static const struct {
        size_t most, one, of_one; /* the most that one client may collect */
    } rows[] = {
        { 100, 10, 50 }, { 100, 80, 80 }, { 100, 100, 100 }, { 101, 10, 50 }, { 0, 0, 0 }
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct shares all;
        struct http_peer peer = at("10.0.0.1:1");
        shares_init(&all, 0, 0);
        struct share *s = shares_find(&all, &peer);
        assert_false(share_collect(&all, s, rows[i].of_one + 1, rows[i].most, rows[i].one));
        assert_int_equal(atomic_load(&s->collected), 0); /* a refusal counts nothing */
        assert_int_equal(atomic_load(&all.collected), 0);
        assert_true(share_collect(&all, s, rows[i].of_one, rows[i].most, rows[i].one));
        assert_false(share_collect(&all, s, 1, rows[i].most, rows[i].one));
        share_collected(&all, s, rows[i].of_one);
        share_unref(&all, s);
        shares_done(&all);
    }
}

static void all_clients_together_have_a_bound(void **state)
{
    (void)state;
    struct shares all;
    struct http_peer peers[] = { at("10.0.0.1:1"), at("10.0.0.2:1"), at("10.0.0.3:1") };
    struct share *s[ARRAY_LEN(peers)];
    shares_init(&all, 0, 0);
    for (size_t i = 0; i < ARRAY_LEN(peers); i++)
        s[i] = shares_find(&all, &peers[i]);
    assert_true(share_collect(&all, s[0], 50, 100, 10));
    assert_true(share_collect(&all, s[1], 45, 100, 10)); /* one that fills its half leaves room */
    assert_false(share_collect(&all, s[2], 6, 100, 10));
    assert_true(share_collect(&all, s[2], 5, 100, 10));
    share_collected(&all, s[0], 50);
    assert_true(share_collect(&all, s[2], 45, 100, 10));
    share_collected(&all, s[1], 45);
    share_collected(&all, s[2], 50);
    assert_int_equal(atomic_load(&all.collected), 0);
    for (size_t i = 0; i < ARRAY_LEN(peers); i++)
        share_unref(&all, s[i]);
    shares_done(&all);
}

static void *come_and_go(void *arg)
{
    struct shares *all = arg;
    struct http_peer peer = at("10.0.0.1:1");
    for (int i = 0; i < 2000; i++) {
        struct share *s = shares_find(all, &peer);
        if (share_collect(all, s, 30, 100, 10))
            share_collected(all, s, 30);
        share_unref(all, s);
    }
    return NULL;
}

static void threads_may_come_and_go(void **state)
{
    (void)state;
    struct shares all;
    pthread_t threads[4];
    shares_init(&all, 0, 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &all), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&all.collected), 0);
    assert_int_equal(all.by_name.n, 0);
    shares_done(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_the_same_client),
        cmocka_unit_test(a_name_that_is_not_verified_does_not_count),
        cmocka_unit_test(a_share_lives_as_long_as_its_connections),
        cmocka_unit_test(a_client_gets_half_and_always_enough_for_one),
        cmocka_unit_test(all_clients_together_have_a_bound),
        cmocka_unit_test(threads_may_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
