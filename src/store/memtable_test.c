#include "store/memtable.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static void add(struct memtable *t, uint64_t rev, const char *key, const char *value)
{
    memtable_add(t, &(struct memtable_change){ value ? STORE_PUT : STORE_DELETE, rev, rev, 0,
                                               str_of(key), str_of(value) });
}

static void versions_are_found_by_revision(void **state)
{
    (void)state;
    struct memtable *t = memtable_new(10);
    assert_true(memtable_is_empty(t));
    add(t, 11, "a", "1");
    add(t, 12, "b", "2");
    add(t, 14, "a", NULL);
    add(t, 15, "a", "5");
    assert_null(memtable_find(t, STR("a"), 10));
    assert_int_equal(memtable_find(t, STR("a"), 11)->rev, 11);
    assert_int_equal(memtable_find(t, STR("a"), 13)->rev, 11);
    assert_int_equal(memtable_find(t, STR("a"), 14)->type, STORE_DELETE);
    assert_int_equal(memtable_find(t, STR("a"), UINT64_MAX)->rev, 15);
    assert_null(memtable_find(t, STR("b"), 11));
    assert_null(memtable_find(t, STR("ab"), 99));
    assert_int_equal(memtable_seek(t, STR("aa"))->rev, 12);
    assert_null(memtable_seek(t, STR("c")));
    assert_int_equal(memtable_base(t), 10);
    assert_int_equal(memtable_end(t), UINT64_MAX);
    memtable_seal(t, 15);
    assert_int_equal(memtable_end(t), 15);
    memtable_unref(t);
}

static void keys_and_changes_are_in_order(void **state)
{
    (void)state;
    enum { N = 5000 };
    struct memtable *t = memtable_new(0);
    char key[16];
    for (uint64_t i = 0; i < N; i++) {
        (void)snprintf(key, sizeof(key), "%03u", (unsigned)(i * 7919 % 100));
        add(t, i + 1, key, "v");
    }
    int n = 0;
    for (const struct memnode *m = memtable_seek(t, STR("")); m; m = memtable_next_key(t, m)) {
        (void)snprintf(key, sizeof(key), "%03d", n++);
        assert_true(str_eq(memnode_key(m), str_of(key)));
        assert_true(m->rev > N - 100); /* the newest of 50 versions comes first */
    }
    assert_int_equal(n, 100);
    uint64_t rev = 0;
    for (const struct memnode *m = memtable_first_change(t); m; m = memnode_next_change(m))
        assert_int_equal(m->rev, ++rev);
    assert_int_equal(rev, N);
    assert_true(memtable_bytes(t) > N * 60);
    memtable_unref(t);
}

enum { N_WRITES = 20000 };
static _Atomic uint64_t published;

static void *read_while_it_grows(void *arg)
{
    struct memtable *t = arg;
    for (uint64_t rev = 0; rev < N_WRITES;) {
        rev = published;
        uint64_t n = 0, last = 0;
        const struct memnode *m = rev ? memtable_find(t, STR("k7"), rev) : NULL;
        if (m && m->rev > rev)
            abort();
        for (m = memtable_first_change(t); m && m->rev <= rev; m = memnode_next_change(m), n++)
            if (m->rev <= last || memnode_value(m).n != 5)
                abort();
            else
                last = m->rev;
        if (n != rev)
            abort();
    }
    return NULL;
}

static void readers_see_what_is_published(void **state)
{
    (void)state;
    struct memtable *t = memtable_new(0);
    pthread_t threads[2];
    published = 0;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_while_it_grows, t), 0);
    char key[16];
    for (uint64_t rev = 1; rev <= N_WRITES; rev++) {
        (void)snprintf(key, sizeof(key), "k%u", (unsigned)(rev * 31 % 200));
        add(t, rev, key, "value");
        published = rev;
    }
    for (int i = 0; i < 2; i++)
        (void)pthread_join(threads[i], NULL);
    memtable_unref(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_found_by_revision),
        cmocka_unit_test(keys_and_changes_are_in_order),
        cmocka_unit_test(readers_see_what_is_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
