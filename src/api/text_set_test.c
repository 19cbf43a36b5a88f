/* Sets of texts, few and many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>

#include "api/text_set.h"

enum { MANY = 1000 };

static void each_text_is_new_once(void **state)
{
    (void)state;
    static char texts[MANY][8];
    for (size_t n = 1; n <= MANY; n *= 10) {
        autoset s;
        text_set_init(&s);
        for (size_t i = 0; i < n; i++) {
            snprintf(texts[i], sizeof(texts[i]), "t%zu", i);
            assert_false(text_set_has(&s, str_of(texts[i])));
            assert_true(text_set_add(&s, str_of(texts[i]), texts[i]));
        }
        for (size_t i = 0; i < n; i++) {
            assert_false(text_set_add(&s, str_of(texts[i]), &s));
            assert_ptr_equal(text_set_get(&s, str_of(texts[i])), texts[i]);
        }
        assert_null(text_set_get(&s, STR("t")));
        assert_int_equal(s.n, n);
    }
}

static void the_empty_text_is_one_too(void **state)
{
    (void)state;
    autoset s;
    text_set_init(&s);
    assert_false(text_set_has(&s, STR("")));
    assert_true(text_set_add(&s, STR(""), &s));
    assert_true(text_set_has(&s, (struct str){ 0 }));
    assert_false(text_set_add(&s, STR(""), &s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_text_is_new_once),
        cmocka_unit_test(the_empty_text_is_one_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
