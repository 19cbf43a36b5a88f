/* Objects that nobody would write: of random shapes, and very large. */
#include "api/defaults/suite_defaults.h"
#include "api/random/random_object.h"
#include "api/typed.h"
#include "base/buf.h"

enum { HOSTILE_ROUNDS = 8, HOSTILE_DEPTH = 9 };

/* Nothing of it is what typed_read() would leave; where that takes it, what comes out is defaulted
 * once and for all. */
static void hostile_objects_do_no_harm(void **state)
{
    (void)state;
    struct arena a;
    size_t read = 0;
    struct random random = { .seed = 20260102, .wild = true };
    arena_init(&a);
    for (size_t i = 0; i < n_kind_types * HOSTILE_ROUNDS; i++) {
        const struct kind_type *t = &kind_types[i % n_kind_types];
        if (!t->defaults)
            continue;
        arena_reset(&a);
        struct value raw = random_struct(&random, &a, t, 1 + random_below(&random, HOSTILE_DEPTH)),
                     obj, again;
        bool is_readable = typed_read(&a, t, &raw, NULL, &obj, NULL) == 0;
        defaults_apply(&a, t, &raw);
        defaults_stamp(&a, t, &raw, STR("2026-01-02T03:04:05Z"));
        if (!is_readable)
            continue;
        read++;
        defaults_apply(&a, t, &obj);
        obj = suite_defaults_typed(&a, t, &obj);
        again = value_clone(&a, &obj);
        defaults_apply(&a, t, &again);
        again = suite_defaults_typed(&a, t, &again);
        assert_true(value_eq(&obj, &again));
    }
    struct value not_an_object = value_null();
    defaults_apply(&a, kind_find(STR("v1"), STR("Pod")), &not_an_object);
    arena_done(&a);
    assert_true(read > 100);
}

/* Maps that an outsider chose are merged in one pass: with the square of the keys this would take
 * minutes. */
static void large_maps_are_merged_in_one_pass(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    autobuf text = { 0 };
    buf_str_add(&text, STR("{'spec':{'containers':[{'resources':{'limits':{'a':'1u'"));
    for (int i = 0; i < 200000; i++)
        buf_printf(&text, ",'k%06d':'1'", i);
    buf_str_add(&text, STR("},'requests':{'b':'1'"));
    for (int i = 0; i < 50000; i++)
        buf_printf(&text, ",'r%06d':'1n'", i);
    buf_str_add(&text, STR("}}}]}}"));
    struct value obj = suite_defaults_object(&a, "v1", "Pod", str_cstr(&a, buf_str(&text)));
    const struct value *requests_got =
        suite_json_at(&a, &obj, "spec/containers/0/resources/requests");
    assert_int_equal(requests_got->n, 250002);
    assert_true(
        str_eq(value_str(suite_json_at(&a, &obj, "spec/containers/0/resources/requests/r000000")),
               STR("1m")));
    arena_done(&a);
}

/* Empty containers, as many as fit: all get their defaults, once. */
static void many_empty_items_take_little(void **state)
{
    (void)state;
    enum { N = 100000 };
    const struct kind_type *t = kind_find(STR("v1"), STR("Pod"));
    struct arena in_arena, a;
    arena_init(&in_arena);
    arena_init(&a);
    struct value containers = value_array(), spec = value_object(), pod = value_object(), obj;
    for (int i = 0; i < N; i++)
        value_put_item(&in_arena, &containers, value_object());
    value_put_new(&in_arena, &spec, STR("containers"), containers);
    value_put_new(&in_arena, &pod, STR("spec"), spec);
    assert_int_equal(typed_read(&a, t, &pod, NULL, &obj, NULL), 0);
    defaults_apply(&a, t, &obj);
    assert_true(a.held < N * 3 * sizeof(struct value));
    for (size_t i = 0; i < N; i += N - 1) {
        const struct value *got = value_at(value_dig(&obj, "spec", "containers"), i);
        assert_true(
            str_eq(value_str(value_get(got, STR("terminationMessagePolicy"))), STR("File")));
    }
    arena_done(&a);
    arena_done(&in_arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_objects_do_no_harm),
        cmocka_unit_test(large_maps_are_merged_in_one_pass),
        cmocka_unit_test(many_empty_items_take_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
