/* Trees that become values, by the type that a schema gives them, and names that expressions use.
 */
#include "base/idiom.h"
#include "cel/check_test.h"

static struct cel_value wrap(const char *json, const struct cel_type *type)
{
    struct value *v = arena_new(&arena, struct value);
    *v = tree_of(json);
    return cel_wrap(&arena, v, type);
}

static const char *said(struct cel_value v)
{
    struct cel__eval ev = cel__outside(&arena);
    if (v.kind == CEL_ERROR)
        return str_cstr(&arena, arena_printf(&arena, "! " STR_FMT, STR_ARG(cel_text(&v))));
    return str_cstr(&arena, cel__print(&ev, &v));
}

struct row {
    const char *json;
    const struct cel_type *type;
    enum cel_kind kind; /* CEL_ERROR: `said` is the message */
    const char *said;
};

static void check(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct cel_value v = wrap(rows[i].json, rows[i].type);
        if (v.kind != rows[i].kind || (rows[i].said && strcmp(said(v), rows[i].said) != 0))
            fail_msg("%s: kind %u, %s", rows[i].json, v.kind, said(v));
    }
}

static void a_tree_is_what_its_type_says(void **state)
{
    (void)state;
    static const struct cel_type nullable = { .kind = CEL_STRING, .nullable = true };
    const struct cel_type *ints = cel_type_list(&arena, &cel_int),
                          *map = cel_type_map(&arena, &cel_string, &cel_int);
    const struct row rows[] = {
        { "true", &cel_bool, CEL_BOOL, NULL },
        { "5", &cel_int, CEL_INT, NULL },
        { "5", &cel_uint, CEL_UINT, NULL },
        { "5", &cel_double, CEL_DOUBLE, NULL }, /* a whole number is a number */
        { "5.5", &cel_double, CEL_DOUBLE, NULL },
        { "\"x\"", &cel_string, CEL_STRING, NULL },
        { "[1]", ints, CEL_LIST, NULL },
        { "{\"a\":1}", map, CEL_MAP, NULL },
        { "\"1Gi\"", &cel_quantity, CEL_OPAQUE, NULL },
        { "null", &nullable, CEL_NULL, NULL },
        { "null", &cel_null, CEL_NULL, NULL },
        { "5", &cel_int_or_string, CEL_INT, NULL },
        { "\"5\"", &cel_int_or_string, CEL_STRING, NULL },
        /* Without a type, as it is. */
        { "null", &cel_dyn, CEL_NULL, NULL },
        { "false", &cel_dyn, CEL_BOOL, NULL },
        { "1", &cel_dyn, CEL_INT, NULL },
        { "1.0", &cel_dyn, CEL_DOUBLE, NULL },
        { "18446744073709551615", &cel_dyn, CEL_DOUBLE, NULL },
        { "[]", &cel_dyn, CEL_LIST, NULL },
        { "{}", &cel_dyn, CEL_MAP, NULL },
    };
    check(rows, ARRAY_LEN(rows));
    assert_int_equal(cel_wrap(&arena, NULL, &cel_int).kind, CEL_NULL); /* absent */
}

/* It was stored before there was a schema. */
static void what_does_not_fit_is_an_error(void **state)
{
    (void)state;
    const struct cel_type *ints = cel_type_list(&arena, &cel_int),
                          *map = cel_type_map(&arena, &cel_string, &cel_int);
    const struct row rows[] = {
        { "1", &cel_bool, CEL_ERROR, "! invalid data, expected bool, got int64" },
        { "1.5", &cel_int, CEL_ERROR, "! invalid data, expected int, got float64" },
        { "\"1\"", &cel_int, CEL_ERROR, "! invalid data, expected int, got string" },
        { "true", &cel_double, CEL_ERROR, "! invalid data, expected float, got bool" },
        { "[]", &cel_string, CEL_ERROR, "! invalid data, expected string, got []interface {}" },
        { "{}", &cel_timestamp, CEL_ERROR,
          "! invalid data, expected string, got map[string]interface {}" },
        { "null", &cel_string, CEL_ERROR,
          "! invalid data, got null for schema with nullable=false" },
        { "{}", ints, CEL_ERROR,
          "! invalid data, expected an array for the provided schema with type=array" },
        { "[]", map, CEL_ERROR,
          "! invalid data, expected a map for the provided schema with type=object" },
        { "1.5", &cel_int_or_string, CEL_ERROR,
          "! invalid data, expected XIntOrString value to be either a string or integer" },
        { "null", &cel_int_or_string, CEL_ERROR,
          "! invalid data, expected XIntOrString value to be either a string or integer" },
        { "1", &cel_quantity, CEL_ERROR, "! invalid data, expected string, got int64" },
    };
    check(rows, ARRAY_LEN(rows));
    assert_int_equal(wrap("\"x\"", &cel_quantity).kind, CEL_ERROR);
}

static void values_are_read_from_outside(void **state)
{
    (void)state;
    struct cel_value list = wrap("[1,\"b\"]", &cel_dyn), map = wrap("{\"k\":[2]}", &cel_dyn);
    struct cel_value text = wrap("\"abc\"", &cel_string), number = wrap("3", &cel_int), key, val;
    assert_int_equal(cel_size(&list), 2);
    assert_int_equal(cel_size(&map), 1);
    assert_int_equal(cel_size(&text), 0); /* only of lists, maps and objects */
    assert_int_equal(cel_size(&number), 0);
    assert_true(str_eq(cel_text(&text), STR("abc")));
    assert_int_equal(cel_text(&number).n, 0);
    assert_int_equal(cel_at(&arena, &list, 0).i, 1);
    struct cel_value second = cel_at(&arena, &list, 1);
    assert_true(str_eq(cel_text(&second), STR("b")));
    cel_entry(&arena, &map, 0, &key, &val);
    assert_true(str_eq(cel_text(&key), STR("k")));
    assert_int_equal(cel_at(&arena, &val, 0).i, 2);
    struct cel_value same = wrap("[1.0,\"b\"]", &cel_dyn), other = wrap("[1,\"c\"]", &cel_dyn);
    assert_true(cel_equal(&arena, &list, &same));
    assert_false(cel_equal(&arena, &list, &other));
}

/* The names of properties that are no identifiers, there and back. */
static void names_are_escaped(void **state)
{
    (void)state;
    static const struct {
        const char *key, *name; /* NULL: it has none */
    } rows[] = {
        { "a", "a" },
        { "aB_9", "aB_9" },
        { "a.b", "a__dot__b" },
        { "a-b", "a__dash__b" },
        { "a/b", "a__slash__b" },
        { "a__b", "a__underscores__b" },
        { "a___b", "a__underscores___b" },
        { "kubernetes.io/name", "kubernetes__dot__io__slash__name" },
        { "namespace", "__namespace__" },
        { "in", "__in__" },
        { "inside", "inside" },
        { "", NULL },
        { "1a", NULL },
        { "a b", NULL },
        { "\u00e9", NULL },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str name = { 0 }, back = { 0 };
        assert_int_equal(cel_escape(&arena, str_of(rows[i].key), &name), rows[i].name != NULL);
        if (!rows[i].name)
            continue;
        assert_string_equal(str_cstr(&arena, name), rows[i].name);
        assert_true(cel_unescape(&arena, name, &back));
        assert_true(str_eq(back, str_of(rows[i].key)));
    }
    static const char *const unknown[] = { "a__what__b", "__a__", "__namespace__x", "a__in__" };
    for (size_t i = 0; i < ARRAY_LEN(unknown); i++) {
        struct str back;
        assert_false(cel_unescape(&arena, str_of(unknown[i]), &back));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_tree_is_what_its_type_says, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_does_not_fit_is_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(values_are_read_from_outside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_are_escaped, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
