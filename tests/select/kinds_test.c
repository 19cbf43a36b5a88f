/* Every field that kinds/ lists or aliases can be named in a selector, and nothing else. */
#include "rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static bool is_taken(const struct fields_rules *r, struct str field)
{
    struct arena a;
    struct fields_selector s;
    arena_init(&a);
    bool taken = fields_parse(&a, arena_printf(&a, STR_FMT "=x", STR_ARG(field)), r, &s, NULL) == 0;
    arena_done(&a);
    return taken;
}

static void check(const struct kind_resource *res)
{
    struct fields_rules r = rules_of(res);
    for (size_t i = 0; i < res->n_selectors; i++)
        assert_true(is_taken(&r, res->selectors[i]));
    for (size_t i = 0; i < res->n_aliases; i++)
        assert_true(is_taken(&r, res->aliases[2 * i]));
    assert_true(is_taken(&r, STR("metadata.name")));
    assert_false(is_taken(&r, STR("no.such")));
}

static void every_declared_field_is_taken(void **state)
{
    (void)state;
    size_t own = 0;
    for (size_t i = 0; i < n_kind_versions; i++)
        for (size_t j = 0; j < kind_versions[i].n_resources; j++) {
            check(&kind_versions[i].resources[j]);
            own += kind_versions[i].resources[j].n_selectors > 0;
        }
    assert_true(own >= 13); /* of the versions that are not historical */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_declared_field_is_taken) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
