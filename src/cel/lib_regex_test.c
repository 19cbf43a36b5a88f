/* find() and findAll(), beside upstream. */
#include "base/idiom.h"
#include "cel/check_test.h"

/* find and findAll */
static void test_find(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "'abc 123'.find('[0-9]+')", "123", 2 },
        { "'abc'.find('[0-9]+')", "", 2 },
        { "'abc'.find('')", "" },
        { "'abc'.find('b')", "b", 1 },
        { "'abc'.find('^b')", "", 1 },
        { "'abc'.find('(')", "! error parsing regexp: missing closing ): `(`" },
        { "'日本語'.find('本.')", "本語", 1 },
        { "'abc 123 def 456'.findAll('[0-9]+')", "[123, 456]", 4 },
        { "'abc'.findAll('[0-9]+')", "[]", 2 },
        { "'aaa'.findAll('a', 2)", "[a, a]", 1 },
        { "'aaa'.findAll('a', 0)", "[]", 1 },
        { "'aaa'.findAll('a', -1)", "[a, a, a]", 1 },
        { "'aaa'.findAll('a', 9)", "[a, a, a]", 1 },
        { "'abc'.findAll('')", "[, , , ]" },
        { "'日本'.findAll('')", "[, , ]" },
        { "'abab'.findAll('(a)(b)')", "[ab, ab]", 2 },
        { "'abc'.findAll('[')", "! error parsing regexp: missing closing ]: `[`" },
        { "s.find('l+')", "ll", 2 },
        { "s.findAll('l')", "[l, l]", 2 },
        { "s.find(s)", "hello", 4 },
        { "dyn('abc').find('b')", "b", 1 },
        { "dyn(1).find('b')", "! no such overload", 1 },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE_TEST(test_find),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
