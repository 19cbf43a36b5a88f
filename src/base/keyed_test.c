#include "base/keyed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

enum { N_WORDS = 2000, N_STEPS = 60000 };

struct word {
    char text[12];
};

static struct str word_key(const void *thing)
{
    return str_of(((const struct word *)thing)->text);
}

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void fill_words(struct word *words)
{
    for (int i = 0; i < N_WORDS; i++)
        (void)snprintf(words[i].text, sizeof(words[i].text), "w%d", i);
}

static size_t count_by_walking(const struct keyed *k)
{
    size_t pos = 0, n = 0;
    while (keyed_next(k, &pos))
        n++;
    return n;
}

/* Grows and shrinks in waves, so that both kinds of resizing happen. */
static bool removes(unsigned step, unsigned chance)
{
    return chance % 10 < (step / 6000 % 2 ? 8u : 2u);
}

static void random_steps_end_as_in_a_naive_set(void **state)
{
    (void)state;
    static struct word words[2][N_WORDS];
    static const struct word *inside[N_WORDS];
    struct keyed k = { .key_of = word_key };
    fill_words(words[0]);
    fill_words(words[1]);
    size_t n = 0;
    unsigned seed = 7;
    for (unsigned step = 0; step < N_STEPS; step++) {
        unsigned i = next_random(&seed) % N_WORDS;
        const struct word *before = inside[i];
        assert_ptr_equal(keyed_get(&k, word_key(&words[0][i])), before);
        if (removes(step, next_random(&seed))) {
            assert_ptr_equal(keyed_remove(&k, word_key(&words[0][i])), before);
            inside[i] = NULL;
        } else {
            struct word *w = &words[next_random(&seed) % 2][i];
            assert_ptr_equal(keyed_put(&k, w), before);
            inside[i] = w;
        }
        n += !!inside[i];
        n -= !!before;
        assert_int_equal(k.n, n);
    }
    assert_int_equal(count_by_walking(&k), n);
    for (unsigned i = 0; i < N_WORDS; i++)
        assert_ptr_equal(keyed_get(&k, word_key(&words[0][i])), inside[i]);
    keyed_done(&k);
}

static void an_emptied_set_is_small(void **state)
{
    (void)state;
    static struct word words[N_WORDS];
    struct keyed k = { .key_of = word_key };
    fill_words(words);
    for (int i = 0; i < N_WORDS; i++)
        keyed_put(&k, &words[i]);
    size_t full = keyed_bytes(&k);
    assert_true(full <= (size_t)N_WORDS * 28);
    for (int i = 0; i < N_WORDS; i++)
        keyed_remove(&k, word_key(&words[i]));
    assert_true(keyed_bytes(&k) < 200);
    assert_null(keyed_get(&k, STR("w1")));
    assert_null(keyed_remove(&k, STR("w1")));
    keyed_done(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_steps_end_as_in_a_naive_set),
        cmocka_unit_test(an_emptied_set_is_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
