#include <sampan/cache.h>

#include <stdio.h>

#include "client/suite_client.h"

static void put(struct spn_cache *c, struct spn_object *o)
{
    spn_cache_put(c, o, NULL);
    spn_object_unref(o);
}

static void assert_keys(struct spn_objects *all, const char *want)
{
    char got[512] = "";
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        n += (size_t)snprintf(got + n, sizeof(got) - n, SPN_FMT " ",
                              SPN_ARG(spn_object_key(all->items[i])));
    spn_objects_done(all);
    assert_string_equal(got, want);
}

static void assert_listed(struct spn_cache *c, const char *ns, const char *want)
{
    struct spn_objects all;
    spn_cache_list(c, spn_text_of(ns), true, &all);
    assert_keys(&all, want);
}

static void assert_indexed(struct spn_cache *c, const char *index, const char *value,
                           const char *want)
{
    struct spn_objects all;
    assert_int_equal(spn_cache_by_index(c, index, spn_text_of(value), &all, NULL), 0);
    assert_keys(&all, want);
}

static void objects_are_found_and_replaced(void **state)
{
    struct spn_cache *c = spn_cache_new();
    struct spn_object *first = suite_keyed(*state, "a/x", 1), *old;
    spn_cache_put(c, first, &old);
    assert_null(old);
    struct spn_object *second = suite_keyed(*state, "a/x", 2);
    spn_cache_put(c, second, &old);
    assert_ptr_equal(old, first);
    spn_object_unref(old);
    spn_object_unref(first);
    assert_int_equal(spn_cache_count(c), 1);
    struct spn_object *got = spn_cache_get(c, SPN_TEXT("a/x"));
    assert_ptr_equal(got, second);
    assert_null(spn_cache_get(c, SPN_TEXT("a/y")));
    struct spn_object *removed = spn_cache_remove(c, SPN_TEXT("a/x"));
    assert_ptr_equal(removed, second);
    assert_null(spn_cache_remove(c, SPN_TEXT("a/x")));
    assert_int_equal(spn_cache_count(c), 0);
    assert_text(spn_object_version(got), "2");
    spn_object_unref(removed);
    spn_object_unref(got);
    spn_object_unref(second);
    spn_cache_free(c);
}

static void the_same_object_may_be_put_again(void **state)
{
    struct spn_cache *c = spn_cache_new();
    struct spn_object *o = suite_keyed(*state, "a/x", 1), *old;
    spn_cache_put(c, o, NULL);
    spn_cache_put(c, o, &old);
    assert_ptr_equal(old, o);
    spn_object_unref(old);
    spn_object_unref(o);
    assert_listed(c, "a", "a/x ");
    spn_cache_free(c);
}

static void lists_are_of_one_namespace_or_all(void **state)
{
    struct spn_cache *c = spn_cache_new();
    static const char *const keys[] = { "b/x", "a/y", "node", "a/x", "ab/x" };
    for (size_t i = 0; i < 5; i++)
        put(c, suite_keyed(*state, keys[i], 1));
    assert_listed(c, "", "a/x a/y ab/x b/x node ");
    assert_listed(c, "a", "a/x a/y ");
    assert_listed(c, "none", "");
    assert_indexed(c, "namespace", "ab", "ab/x ");
    spn_object_unref(spn_cache_remove(c, SPN_TEXT("a/x")));
    assert_listed(c, "a", "a/y ");
    spn_cache_free(c);
}

/* Under each letter of the label "in", and under "all". */
static void index_letters(void *arg, const struct spn_object *o, struct spn_arena *a,
                          struct spn_index_values *out)
{
    ++*(unsigned *)arg;
    struct spn_text letters = spn_object_label(o, a, "in");
    for (size_t i = 0; i < letters.n; i++) {
        char letter = letters.p[i];
        spn_index_put(out, (struct spn_text){ &letter, 1 });
    }
    spn_index_put(out, SPN_TEXT("all"));
}

static struct spn_object *lettered(struct spn_arena *a, const char *name, const char *letters)
{
    return suite_object(a, spn_arena_printf(a,
                                            "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"n\","
                                            "\"labels\":{\"in\":\"%s\"}}}",
                                            name, letters)
                               .p);
}

static void an_index_follows_its_objects(void **state)
{
    struct spn_cache *c = spn_cache_new();
    struct spn_err err;
    unsigned calls = 0;
    put(c, lettered(*state, "one", "xy"));
    assert_int_equal(spn_cache_add_index(c, "letters", index_letters, &calls, &err), 0);
    assert_int_equal(calls, 1);
    put(c, lettered(*state, "two", "y"));
    assert_indexed(c, "letters", "x", "n/one ");
    struct spn_objects both;
    assert_int_equal(spn_cache_by_index(c, "letters", SPN_TEXT("y"), &both, NULL), 0);
    assert_int_equal(both.n, 2);
    spn_objects_done(&both);
    put(c, lettered(*state, "one", "yyz"));
    assert_indexed(c, "letters", "x", "");
    assert_indexed(c, "letters", "z", "n/one ");
    spn_object_unref(spn_cache_remove(c, SPN_TEXT("n/two")));
    assert_indexed(c, "letters", "y", "n/one ");
    assert_indexed(c, "letters", "all", "n/one ");
    spn_cache_free(c);
}

static void names_of_indices(void **state)
{
    (void)state;
    struct spn_cache *c = spn_cache_new();
    struct spn_err err;
    struct spn_objects all;
    unsigned calls = 0;
    assert_int_equal(spn_cache_add_index(c, "letters", index_letters, &calls, &err), 0);
    assert_int_equal(spn_cache_add_index(c, "letters", index_letters, &calls, &err), -SPN_EXISTS);
    assert_int_equal(spn_cache_add_index(c, "namespace", index_letters, &calls, &err), -SPN_EXISTS);
    assert_int_equal(spn_cache_by_index(c, "other", SPN_TEXT("x"), &all, &err), -SPN_NOT_FOUND);
    assert_string_equal(err.message, "there is no index \"other\"");
    spn_cache_free(c);
}

enum { N_OBJECTS = 5000 };

static void bytes_are_few_and_given_back(void **state)
{
    struct spn_cache *c = spn_cache_new();
    size_t empty = spn_cache_bytes(c), objects = 0;
    char key[32];
    for (int i = 0; i < N_OBJECTS; i++) {
        (void)snprintf(key, sizeof(key), "ns-%d/pod-%d", i % 7, i);
        struct spn_object *o = suite_keyed(*state, key, 1);
        objects += spn_object_bytes(o);
        put(c, o);
    }
    assert_true(spn_cache_bytes(c) - empty - objects <= 64 * N_OBJECTS);
    for (int i = 0; i < N_OBJECTS; i++) {
        (void)snprintf(key, sizeof(key), "ns-%d/pod-%d", i % 7, i);
        spn_object_unref(spn_cache_remove(c, spn_text_of(key)));
    }
    assert_true(spn_cache_bytes(c) <= empty + 1024);
    spn_cache_free(c);
}

/* ---- Against a naive model: which letters each object has ---- */

enum { N_NAMES = 60, N_STEPS = 4000 };

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static size_t count_with(char had[N_NAMES][8], char letter)
{
    size_t n = 0;
    for (size_t i = 0; i < N_NAMES; i++)
        n += strchr(had[i], letter) && letter;
    return n;
}

static void random_letters(unsigned *seed, char text[static 8])
{
    size_t n = 1 + next_random(seed) % 5;
    for (size_t i = 0; i < n; i++)
        text[i] = (char)('a' + next_random(seed) % 6);
    text[n] = '\0';
}

static void check_letter(struct spn_cache *c, char had[N_NAMES][8], char letter)
{
    struct spn_objects all;
    struct spn_text value = { &letter, 1 };
    assert_int_equal(spn_cache_by_index(c, "letters", value, &all, NULL), 0);
    assert_int_equal(all.n, count_with(had, letter));
    for (size_t i = 0; i < all.n; i++) {
        unsigned long number = strtoul(spn_object_name(all.items[i]).p, NULL, 10);
        assert_non_null(strchr(had[number], letter));
    }
    spn_objects_done(&all);
}

static void random_steps_end_as_in_a_naive_model(void **state)
{
    static char had[N_NAMES][8];
    struct spn_cache *c = spn_cache_new();
    unsigned seed = 3, calls = 0;
    assert_int_equal(spn_cache_add_index(c, "letters", index_letters, &calls, NULL), 0);
    for (int step = 0; step < N_STEPS; step++) {
        unsigned i = next_random(&seed) % N_NAMES;
        char key[8];
        (void)snprintf(key, sizeof(key), "n/%u", i);
        if (next_random(&seed) % 3 == 0) {
            struct spn_object *old = spn_cache_remove(c, spn_text_of(key));
            assert_int_equal(!!old, had[i][0] != '\0');
            spn_object_unref(old);
            had[i][0] = '\0';
        } else {
            random_letters(&seed, had[i]);
            put(c, lettered(*state, key + 2, had[i]));
        }
        check_letter(c, had, (char)('a' + next_random(&seed) % 6));
    }
    spn_cache_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        suite_test(objects_are_found_and_replaced),
        suite_test(the_same_object_may_be_put_again),
        suite_test(lists_are_of_one_namespace_or_all),
        suite_test(an_index_follows_its_objects),
        suite_test(names_of_indices),
        suite_test(bytes_are_few_and_given_back),
        suite_test(random_steps_end_as_in_a_naive_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
