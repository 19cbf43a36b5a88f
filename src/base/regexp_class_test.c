/* Sets of characters, beside a plain array of what should be in them. */
#include "base/regexp_class.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"

static struct arena arena;

static uint32_t random_below(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % n;
}

/* Ranges in any order that touch, overlap and repeat. */
static void ranges_are_merged(void **state)
{
    (void)state;
    enum { CODES = 200, ROUNDS = 200 };
    uint64_t seed = 1;
    for (int round = 0; round < ROUNDS; round++) {
        bool want[CODES] = { 0 };
        struct regexp_class c = { .negated = round % 2 }, others = { 0 };
        struct regexp_range ranges[20];
        size_t n = random_below(&seed, ARRAY_LEN(ranges) + 1);
        for (size_t i = 0; i < n; i++) {
            uint32_t from = random_below(&seed, CODES), more = random_below(&seed, 20);
            uint32_t to = from + more < CODES ? from + more : CODES - 1;
            ranges[i] = (struct regexp_range){ from, to };
            for (uint32_t code = from; code <= to; code++)
                want[code] = true;
        }
        regexp_class_add_ranges(&arena, &c, ranges, n);
        regexp_class_add_others(&arena, &others, ranges, n);
        regexp_class_finish(&arena, &c);
        regexp_class_finish(&arena, &others);
        for (uint32_t code = 0; code < CODES; code++) {
            assert_int_equal(regexp_class_has(&c, code), want[code] != c.negated);
            assert_int_equal(regexp_class_has(&others, code), !want[code]);
        }
        assert_true(regexp_class_has(&others, 0x10FFFF));
        for (uint32_t i = 1; i < c.n; i++) /* sorted, and none touches the next */
            assert_true(c.ranges[i].from > c.ranges[i - 1].to + 1);
        arena_reset(&arena);
    }
}

static void the_ends_of_unicode(void **state)
{
    (void)state;
    struct regexp_class none = { 0 }, all = { 0 }, neither = { 0 };
    regexp_class_finish(&arena, &none);
    regexp_class_add(&arena, &all, 0, 0x10FFFF);
    regexp_class_finish(&arena, &all);
    regexp_class_add_others(&arena, &neither, all.ranges, all.n);
    regexp_class_finish(&arena, &neither);
    static const uint32_t codes[] = { 0, 'a', 0x7f, 0x80, 0xd7ff, 0xffff, 0x10000, 0x10FFFF };
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        assert_false(regexp_class_has(&none, codes[i]));
        assert_true(regexp_class_has(&all, codes[i]));
        assert_false(regexp_class_has(&neither, codes[i]));
    }
}

/* All forms of a letter are in, whichever of them was named. */
static void folding_knows_all_forms_of_a_letter(void **state)
{
    (void)state;
    static const uint32_t families[][4] = {
        { 'a', 'A' },
        { 's', 'S', 0x17f },     /* the long s */
        { 'k', 'K', 0x212a },    /* the sign of Kelvin */
        { 0xe9, 0xc9 },          /* é */
        { 0x3c3, 0x3a3, 0x3c2 }, /* sigma, and the one at the end of a word */
        { 0x1e922, 0x1e900 },    /* Adlam, near the end of what has two forms */
        { '1' },
        { '_' },
    };
    for (size_t f = 0; f < ARRAY_LEN(families); f++) {
        for (size_t i = 0; i < 4 && families[f][i]; i++) {
            struct regexp_class folded = { .fold = true }, plain = { 0 };
            const struct regexp_range one = { families[f][i], families[f][i] };
            regexp_class_add_ranges(&arena, &folded, &one, 1);
            regexp_class_add_ranges(&arena, &plain, &one, 1);
            regexp_class_finish(&arena, &folded);
            regexp_class_finish(&arena, &plain);
            for (size_t k = 0; k < 4 && families[f][k]; k++) {
                assert_true(regexp_class_has(&folded, families[f][k]));
                assert_int_equal(regexp_class_has(&plain, families[f][k]), k == i);
            }
            assert_false(regexp_class_has(&folded, 'z'));
        }
    }
}

static void properties_have_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool negated;
        uint32_t in, out;
    } rows[] = {
        { "Lu", false, 'A', 'a' },        { "Lu", true, 'a', 'A' },
        { "L", false, 0x3b1, '1' },       { "Nd", false, 0x663, 'x' }, /* an Arabic three */
        { "Greek", false, 0x3b1, 'a' },   { "Greek", true, 'a', 0x3b1 },
        { "Han", false, 0x4e2d, 0x3042 }, { "Zs", false, ' ', '_' },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct regexp_class c = { 0 }, negated = { .negated = true };
        assert_true(regexp_class_add_property(&arena, &c, str_of(rows[i].name), rows[i].negated));
        assert_true(
            regexp_class_add_property(&arena, &negated, str_of(rows[i].name), rows[i].negated));
        regexp_class_finish(&arena, &c);
        regexp_class_finish(&arena, &negated);
        assert_true(regexp_class_has(&c, rows[i].in) && !regexp_class_has(&negated, rows[i].in));
        assert_true(!regexp_class_has(&c, rows[i].out) && regexp_class_has(&negated, rows[i].out));
    }
    struct regexp_class any = { 0 }, nothing = { 0 };
    assert_true(regexp_class_add_property(&arena, &any, STR("Any"), false));
    assert_true(regexp_class_add_property(&arena, &nothing, STR("Any"), true));
    assert_true(regexp_class_has(&any, 0x10FFFF) && !regexp_class_has(&nothing, 'a'));
    static const char *const unknown[] = { "", "Klingon", "lu ", "L u" };
    for (size_t i = 0; i < ARRAY_LEN(unknown); i++)
        assert_false(regexp_class_add_property(&arena, &any, str_of(unknown[i]), false));
}

/* [\p{Greek}0-9]: one of them is enough. */
static void ranges_and_properties_add_up(void **state)
{
    (void)state;
    struct regexp_class c = { 0 };
    regexp_class_add(&arena, &c, '0', '9');
    assert_true(regexp_class_add_property(&arena, &c, STR("Greek"), false));
    assert_true(regexp_class_add_property(&arena, &c, STR("Lu"), false));
    regexp_class_finish(&arena, &c);
    assert_true(regexp_class_has(&c, '5') && regexp_class_has(&c, 0x3b1) &&
                regexp_class_has(&c, 'X'));
    assert_false(regexp_class_has(&c, 'x'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_merged),
        cmocka_unit_test(the_ends_of_unicode),
        cmocka_unit_test(folding_knows_all_forms_of_a_letter),
        cmocka_unit_test(properties_have_names),
        cmocka_unit_test(ranges_and_properties_add_up),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_done(&arena);
    return failed;
}
