#include "server/discovery/catalog.h"
#include "base/idiom.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static void it_is_in_order(void **state)
{
    struct catalog c;
    (void)state;
    catalog_make(&arena, KIND_ALL_VERSIONS, NULL, NULL, &c);
    assert_int_equal(c.n_customs, 0);
    for (size_t i = 0; i < c.n; i++) {
        const struct catalog_version *v = &c.versions[i];
        assert_false(v->custom);
        for (size_t k = 1; k < v->n; k++)
            assert_true(str_cmp(v->resources[k - 1]->plural, v->resources[k]->plural) < 0);
        /* A group stands together, and what is found is what is there. */
        for (size_t k = i + 2; k < c.n; k++)
            if (str_eq(c.versions[k].group, v->group))
                assert_true(str_eq(c.versions[k - 1].group, v->group));
        assert_ptr_equal(catalog_find(&c, v->group, v->version), v);
    }
    catalog_done(&c);
}

static void versions_that_clients_prefer(void **state)
{
    static const struct {
        const char *group, *preferred;
    } cases[] = {
        { "", "v1" },
        { "apps", "v1" },
        { "autoscaling", "v2" },
        { "batch", "v1" },
        { "policy", "v1" },
        { "networking.k8s.io", "v1" },
        { "events.k8s.io", "v1" },
    };
    struct catalog c, current;
    (void)state;
    catalog_make(&arena, KIND_ALL_VERSIONS, NULL, NULL, &c);
    catalog_make(&arena, KIND_CURRENT_VERSIONS, NULL, NULL, &current);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct catalog_version *v = catalog_group(&c, str_of(cases[i].group));
        assert_non_null(v);
        if (!str_eq(v->version, str_of(cases[i].preferred)))
            fail_msg("%s: " STR_FMT, cases[i].group, STR_ARG(v->version));
    }
    assert_non_null(catalog_find(&c, STR("apps"), STR("v1beta1")));
    assert_null(catalog_find(&current, STR("apps"), STR("v1beta1")));
    assert_non_null(catalog_find(&current, STR("apps"), STR("v1")));
    assert_null(catalog_group(&current, STR("extensions")));
    assert_null(catalog_find(&c, STR("apps"), STR("v9")));
    assert_null(catalog_group(&c, STR("nothing.example.com")));
    catalog_done(&current);
    catalog_done(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_is_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(versions_that_clients_prefer, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
