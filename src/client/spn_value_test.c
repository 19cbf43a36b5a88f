#include <sampan/value.h>

#include "client/suite_client.h"

static struct spn_value *read(struct spn_arena *a, const char *json)
{
    struct spn_value *v;
    struct spn_err err;
    if (spn_value_read_json(a, spn_text_of(json), &v, &err) < 0)
        fail_msg("%s", err.message);
    return v;
}

static void absent_null_and_zero_differ(void **state)
{
    struct spn_value *v = read(*state, "{\"null\":null,\"zero\":0,\"empty\":\"\",\"no\":false}");
    int64_t i = 9;
    assert_null(spn_value_get(v, "absent"));
    assert_non_null(spn_value_get(v, "null"));
    assert_int_equal(spn_value_type(spn_value_get(v, "null")), SPN_NULL);
    assert_false(spn_value_int(spn_value_get(v, "null"), &i));
    assert_true(spn_value_int(spn_value_get(v, "zero"), &i));
    assert_int_equal(i, 0);
    assert_null(spn_value_text(spn_value_get(v, "zero")).p);
    assert_text(spn_value_text(spn_value_get(v, "empty")), "");
    assert_false(spn_value_is_true(spn_value_get(v, "no")));
    assert_int_equal(spn_value_type(NULL), SPN_NULL);
    assert_null(spn_value_dig(NULL, "a", "b"));
}

static void walking(void **state)
{
    struct spn_value *v = read(*state, "{\"b\":[1,2.5,\"x\"],\"a\":{\"c\":true}}");
    double d;
    assert_int_equal(spn_value_count(v), 2);
    assert_text(spn_value_key_at(v, 0), "b");
    assert_text(spn_value_key_at(v, 1), "a");
    assert_null(spn_value_key_at(v, 2).p);
    assert_null(spn_value_at(v, 2));
    const struct spn_value *list = spn_value_at(v, 0);
    assert_int_equal(spn_value_count(list), 3);
    assert_true(spn_value_double(spn_value_at(list, 1), &d));
    assert_true(d == 2.5);
    assert_null(spn_value_at(list, 3));
    assert_true(spn_value_is_true(spn_value_dig(v, "a", "c")));
    v = read(*state, "[1,{\"name\":7},{\"name\":\"x\"},{\"name\":\"y\",\"n\":1},{\"name\":\"y\"}]");
    assert_ptr_equal(spn_value_find(v, "name", SPN_TEXT("y")), spn_value_at(v, 3));
    assert_null(spn_value_find(v, "name", SPN_TEXT("z")));
    assert_null(spn_value_find(v, "name", SPN_TEXT("")));
    assert_null(spn_value_find(NULL, "name", SPN_TEXT("x")));
    assert_int_equal(spn_value_count(spn_value_at(list, 2)), 0);
}

static void building(void **state)
{
    struct spn_arena *a = *state;
    struct spn_value *v = spn_value_new(a, SPN_OBJECT), *list = spn_value_new(a, SPN_ARRAY);
    spn_value_push(a, list, spn_value_new_int(a, 1));
    spn_value_push(a, list, spn_value_new_text(a, SPN_TEXT("two")));
    spn_value_set_text(a, spn_value_ensure(a, v, "metadata"), "name", SPN_TEXT("n"));
    list = spn_value_set(a, v, "list", list);
    spn_value_push(a, list, spn_value_new_bool(a, true));
    spn_value_set_int(a, v, "i", -1);
    spn_value_set_bool(a, v, "gone", true);
    spn_value_remove(a, v, "gone");
    spn_value_remove_at(a, spn_value_edit(a, v, "list"), 0);
    assert_null(spn_value_ensure(a, v, "i"));
    assert_text(spn_value_json(a, v),
                "{\"metadata\":{\"name\":\"n\"},\"list\":[\"two\",true],\"i\":-1}");
}

static void copies_are_apart(void **state)
{
    struct spn_arena *a = *state;
    struct spn_value *v = read(a, "{\"a\":{\"b\":1}}"), *copy = spn_value_copy(a, v);
    assert_null(spn_value_copy(a, NULL)); /* absent stays absent */
    assert_true(spn_value_eq(v, copy));
    spn_value_set_int(a, spn_value_edit(a, copy, "a"), "b", 2);
    assert_false(spn_value_eq(v, copy));
    assert_text(spn_value_json(a, v), "{\"a\":{\"b\":1}}");
    assert_true(spn_value_eq(NULL, NULL));
    assert_false(spn_value_eq(v, NULL));
}

static void faults_say_where(void **state)
{
    struct spn_value *v;
    struct spn_err err;
    assert_int_equal(spn_value_read_json(*state, SPN_TEXT("{\"a\":}"), &v, &err), -SPN_MALFORMED);
    assert_int_equal(err.code, SPN_MALFORMED);
    assert_true(strlen(err.message) > 0);
    assert_int_equal(spn_value_read_json(*state, SPN_TEXT("["), &v, NULL), -SPN_MALFORMED);
    assert_int_equal(spn_value_read_yaml(*state, SPN_TEXT("a: [1"), &v, &err), -SPN_MALFORMED);
    assert_int_equal(spn_value_read_yaml(*state, SPN_TEXT("a: [1, yes]"), &v, &err), 0);
    assert_text(spn_value_json(*state, v), "{\"a\":[1,true]}");
}

static void errors_are_wrapped_and_cut(void **state)
{
    (void)state;
    struct spn_err err;
    assert_int_equal(spn_err_set(&err, SPN_CONFLICT, "%s", "late"), -SPN_CONFLICT);
    assert_int_equal(spn_err_wrap(&err, "update %d", 7), -SPN_CONFLICT);
    assert_string_equal(err.message, "update 7: late");
    char words[3000];
    memset(words, 'x', sizeof(words) - 1);
    words[sizeof(words) - 1] = '\0';
    assert_int_equal(spn_err_wrap(&err, "%s", words), -SPN_CONFLICT);
    assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        suite_test(absent_null_and_zero_differ),
        suite_test(walking),
        suite_test(building),
        suite_test(copies_are_apart),
        suite_test(faults_say_where),
        suite_test(errors_are_wrapped_and_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
