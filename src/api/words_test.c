#include "api/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct str sizes[] = { STR("small"), STR("large"), STR("") };

static void place_in_a_list(void **state)
{
    (void)state;
    assert_int_equal(words_find(STR("small"), WORDS(sizes)), 0);
    assert_int_equal(words_find(STR("large"), WORDS(sizes)), 1);
    assert_int_equal(words_find(STR(""), WORDS(sizes)), 2);
    assert_int_equal(words_find(STR("Large"), WORDS(sizes)), 3);
    assert_int_equal(words_find(STR("larg"), WORDS(sizes)), 3);
    assert_int_equal(words_find(STR("small"), sizes, 0), 0);
}

static void membership(void **state)
{
    (void)state;
    assert_true(words_have(STR("large"), WORDS(sizes)));
    assert_true(words_have((struct str){ NULL, 0 }, WORDS(sizes)));
    assert_false(words_have(STR("largest"), WORDS(sizes)));
    assert_false(words_have(STR("small"), sizes, 0));
}

static void row_of_a_table(void **state)
{
    static const struct {
        struct str word;
        char letter;
        int number;
    } rows[] = { { STR("one"), 'a', 1 }, { STR("two"), 'b', 2 }, { STR("one"), 'c', 3 } };
    (void)state;
    assert_ptr_equal(words_row(STR("one"), rows), &rows[0]); /* the first of two */
    assert_int_equal(words_row(STR("two"), rows)->number, 2);
    assert_null(words_row(STR("three"), rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(place_in_a_list),
        cmocka_unit_test(membership),
        cmocka_unit_test(row_of_a_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
