/* Objects that nobody would write: of random shapes, and very large. */
#include "api/defaults_check_test.h"

enum { HOSTILE_ROUNDS = 8, HOSTILE_DEPTH = 9 };

static uint32_t random_below(uint32_t n)
{
    static uint64_t state = 20260102;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

/* Any value at all; strings are now and then those that rules ask for. */
static struct value random_leaf(const struct kind_field *f)
{
    static const char *const texts[] = {
        "", "RollingUpdate", "ClientIP", "LoadBalancer", "Container", "1u", "Webhook", "a:latest"
    };
    switch (random_below(9)) {
    case 0:
        return value_null();
    case 1:
        return value_bool(random_below(2));
    case 2:
        return value_int((int64_t)random_below(3) - 1);
    case 3:
        return value_array();
    case 4:
        return value_object();
    case 5:
        return value_number(STR("1.5"));
    case 6:
        if (f->n_values)
            return value_string(f->values[random_below(f->n_values)]);
        __attribute__((fallthrough));
    default:
        return value_string(str_of(texts[random_below(8)]));
    }
}

static struct value random_struct(struct arena *a, const struct kind_type *t, unsigned depth);

static struct value random_one(struct arena *a, const struct kind_field *f, unsigned depth)
{
    if (f->scalar == KIND_STRUCT && depth && random_below(8))
        return random_struct(a, f->type, depth - 1);
    return random_leaf(f);
}

static struct value random_value(struct arena *a, const struct kind_field *f, unsigned depth)
{
    if (f->shape == KIND_SINGLE || !random_below(8))
        return random_one(a, f, depth);
    struct value v = f->shape == KIND_LIST ? value_array() : value_object();
    for (uint32_t n = random_below(4); n; n--) {
        struct str key = arena_printf(a, "%c", 'a' + (int)random_below(4)); /* in no order */
        if (f->shape == KIND_LIST)
            (void)value_push(a, &v, random_one(a, f, depth));
        else
            (void)value_add(a, &v, key, random_one(a, f, depth));
    }
    return v;
}

static void add_random_fields(struct arena *a, const struct kind_type *t, unsigned depth,
                              struct value *obj)
{
    for (size_t i = 0; i < t->n_fields; i++)
        if (t->fields[i].flags & KIND_INLINE)
            add_random_fields(a, t->fields[i].type, depth, obj);
        else if (random_below(3))
            (void)value_add(a, obj, t->fields[i].name, random_value(a, &t->fields[i], depth));
}

static struct value random_struct(struct arena *a, const struct kind_type *t, unsigned depth)
{
    struct value obj = value_object();
    add_random_fields(a, t, depth, &obj);
    return obj;
}

/* Nothing of it is what typed_read() would leave; where that takes it, what comes out is defaulted
 * once and for all. */
static void hostile_objects_do_no_harm(void **state)
{
    (void)state;
    struct arena a;
    size_t read = 0;
    arena_init(&a);
    for (size_t i = 0; i < n_kind_types * HOSTILE_ROUNDS; i++) {
        const struct kind_type *t = &kind_types[i % n_kind_types];
        if (!t->defaults)
            continue;
        arena_reset(&a);
        struct value raw = random_struct(&a, t, 1 + random_below(HOSTILE_DEPTH)), obj, again;
        bool is_readable = typed_read(&a, t, &raw, NULL, &obj, NULL) == 0;
        defaults_apply(&a, t, &raw);
        defaults_stamp(&a, t, &raw, STR("2026-01-02T03:04:05Z"));
        if (!is_readable)
            continue;
        read++;
        defaults_apply(&a, t, &obj);
        obj = typed(&a, t, &obj);
        again = value_clone(&a, &obj);
        defaults_apply(&a, t, &again);
        again = typed(&a, t, &again);
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
    struct value obj = defaulted(&a, "v1", "Pod", str_cstr(&a, buf_str(&text)));
    const struct value *requests_got = walk(&a, &obj, "spec/containers/0/resources/requests");
    assert_int_equal(requests_got->n, 250002);
    assert_true(str_eq(value_str(walk(&a, &obj, "spec/containers/0/resources/requests/r000000")),
                       STR("1m")));
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_objects_do_no_harm),
        cmocka_unit_test(large_maps_are_merged_in_one_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
