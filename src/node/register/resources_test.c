/* Capacity and what is left of it for pods. */
#include "node/register/resources.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"

static const struct machine small = {
    .cores = 2,
    .memory_bytes = UINT64_C(24684112) << 10,
    .disk_bytes = UINT64_C(264040292352),
    .pages = { { 2 << 20, 3 }, { 1 << 30, 0 } },
    .n_pages = 2,
};

static struct str text_of(const struct value *list, const char *name)
{
    return value_str(value_get(list, str_of(name)));
}

static void test_capacity(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "cpu", "2" },
        { "memory", "24684112Ki" },
        { "ephemeral-storage", "264040292352" },
        { "hugepages-2Mi", "6Mi" },
        { "hugepages-1Gi", "0" },
        { "pods", "110" },
    };
    struct arena a;
    arena_init(&a);
    const struct resources_limits limits = { .max_pods = 110 };
    const struct value list = resources_capacity(&a, &small, &limits);
    assert_int_equal(list.n, ARRAY_LEN(rows));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_true(str_eq(text_of(&list, rows[i][0]), str_of(rows[i][1])));
    const struct resources_limits few = { .max_pods = 110, .pods_per_core = 10 };
    const struct value less = resources_capacity(&a, &small, &few);
    assert_true(str_eq(text_of(&less, "pods"), STR("20")));
    arena_done(&a);
}

static void test_allocatable(void **state)
{
    (void)state;
    static const struct {
        const char *kube, *system, *evict, *name, *left; /* NULL: refused */
    } rows[] = {
        { "", "", "", "cpu", "2" },
        { "cpu=100m", "cpu=250m", "", "cpu", "1650m" },
        { "", "", "memory.available=100Mi", "memory", "24575568Ki" }, /* and 6Mi of pages */
        { "", "", "memory.available<100Mi,nodefs.available<1%", "ephemeral-storage",
          "261399889488" },
        { "memory=1Gi", "memory=1Gi", "", "memory", "22580816Ki" },
        { "", "", "", "pods", "110" },
        { "cpu=3", "", "", "cpu", NULL },
        { "", "", "memory.available=lots", "memory", NULL },
        { "", "", "memory.available=101%", "memory", NULL },
        { "", "", "memory.available", "memory", NULL },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&a);
        struct value kube, system, left;
        assert_int_equal(resources_parse(&a, str_of(rows[i].kube), &kube, &err), 0);
        assert_int_equal(resources_parse(&a, str_of(rows[i].system), &system, &err), 0);
        const struct resources_limits limits = { .max_pods = 110,
                                                 .kube_reserved = &kube,
                                                 .system_reserved = &system,
                                                 .eviction_hard = str_of(rows[i].evict) };
        const struct value all = resources_capacity(&a, &small, &limits);
        const int r = resources_allocatable(&a, &all, &limits, &left, &err);
        assert_int_equal(r, rows[i].left ? 0 : -ERR_INVALID);
        if (!r && !str_eq(text_of(&left, rows[i].name), str_of(rows[i].left)))
            fail_msg("row %zu: " STR_FMT, i, STR_ARG(text_of(&left, rows[i].name)));
    }
    arena_done(&a);
}

static void test_lists(void **state)
{
    (void)state;
    static const char *const bad[] = { "cpu", "cpu=", "=1", "cpu=many", "cpu=-1" };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = ERR_INIT(&a);
        struct value list;
        assert_int_equal(resources_parse(&a, str_of(bad[i]), &list, &err), -ERR_INVALID);
    }
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_capacity),
        cmocka_unit_test(test_allocatable),
        cmocka_unit_test(test_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
