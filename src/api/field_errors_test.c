#include "api/field_errors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/idiom.h"
#include "base/limits.h"

static const struct field_path spec = { .name = STR("spec") };

static void assert_text(struct str got, const char *want)
{
    if (!str_eq(got, (struct str){ want, strlen(want) }))
        fail_msg("got " STR_FMT ", want %s", STR_ARG(got), want);
}

static void paths_read_as_upstream_writes_them(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct field_path list = field_child(&spec, STR("ports"));
    struct field_path item = field_index(&list, 12);
    struct field_path name = field_child(&item, STR("name"));
    struct field_path key = field_key(&list, STR("a/b"));
    assert_text(field_path_text(&a, &spec), "spec");
    assert_text(field_path_text(&a, &name), "spec.ports[12].name");
    assert_text(field_path_text(&a, &key), "spec.ports[a/b]");
    arena_done(&a);
}

static void nothing_noted_is_no_error(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct field_errors e = FIELD_ERRORS_INIT(&a);
    struct err err = ERR_INIT(&a);
    assert_int_equal(field_errors_report(&e, STR(""), STR("Pod"), STR("x"), &err), 0);
    assert_int_equal(err.code, ERR_OK);
    arena_done(&a);
}

static void one_fault_stands_alone_and_several_in_brackets(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct field_errors e = FIELD_ERRORS_INIT(&a);
    struct err err = ERR_INIT(&a);
    field_required(&e, &spec, "");
    assert_int_equal(field_errors_report(&e, STR("apps"), STR("Deployment"), STR("x"), &err),
                     -ERR_INVALID);
    assert_text(err.msg, "Deployment.apps \"x\" is invalid: spec: Required value");

    field_required(&e, &spec, ""); /* listed once, but a cause of its own */
    field_error(&e, FIELD_INVALID, &spec, field_quoted(&e, STR("a\"b")), "no %s", "good");
    err_clear(&err);
    assert_int_equal(field_errors_report(&e, STR(""), STR("Pod"), STR("x"), &err), -ERR_INVALID);
    assert_text(err.msg, "Pod \"x\" is invalid: [spec: Required value, spec: Invalid value: "
                         "\"a\\\"b\": no good]");
    assert_text(err.causes->reason, "FieldValueRequired");
    assert_text(err.causes->next->msg, "Required value");
    assert_text(err.causes->next->next->reason, "FieldValueInvalid");
    assert_text(err.causes->next->next->field, "spec");
    assert_text(err.causes->next->next->msg, "Invalid value: \"a\\\"b\": no good");
    assert_null(err.causes->next->next->next);
    arena_done(&a);
}

static void every_type_has_its_words(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct field_errors e = FIELD_ERRORS_INIT(&a);
    struct value number = value_int(-3);
    static const struct str values[] = { STR("A"), STR("B") };
    field_too_long(&e, &spec, 1);
    field_too_long(&e, &spec, 128);
    field_not_supported(&e, &spec, field_quoted(&e, STR("x")), values, 2);
    field_error(&e, FIELD_DUPLICATE, &spec, field_json(&e, &number), "%s", "");
    field_error(&e, FIELD_NOT_FOUND, &spec, field_json(&e, NULL), "%s", "");
    field_error(&e, FIELD_FORBIDDEN, &spec, STR(""), "why");
    static const char *const want[] = {
        "Too long: may not be more than 1 byte",
        "Too long: may not be more than 128 bytes",
        "Unsupported value: \"x\": supported values: \"A\", \"B\"",
        "Duplicate value: -3",
        "Not found: null",
        "Forbidden: why",
    };
    const struct err_cause *cause = e.first;
    for (size_t i = 0; i < ARRAY_LEN(want); i++, cause = cause->next)
        assert_text(cause->msg, want[i]);
    assert_null(cause);
    arena_done(&a);
}

static size_t kept(const struct field_errors *e)
{
    size_t n = 0;
    for (const struct err_cause *c = e->first; c; c = c->next)
        n++;
    return n;
}

static void faults_past_the_limits_are_only_counted(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct field_errors e = FIELD_ERRORS_INIT(&a);
    for (size_t i = 0; i < LIMIT_FIELD_ERRORS + 10; i++)
        field_required(&e, &spec, "");
    assert_int_equal(e.n, LIMIT_FIELD_ERRORS + 10);
    assert_int_equal(kept(&e), LIMIT_FIELD_ERRORS);
    assert_int_equal(field_quoted(&e, STR("x")).n, 0);

    e = FIELD_ERRORS_INIT(&a);
    struct str big = { arena_zalloc(&a, LIMIT_FIELD_ERROR_BYTES, 1, 1), LIMIT_FIELD_ERROR_BYTES };
    for (size_t i = 0; i < 3; i++)
        field_error(&e, FIELD_INVALID, &spec, field_quoted(&e, big), "%s", "");
    assert_int_equal(e.n, 3);
    assert_int_equal(kept(&e), 1);
    arena_done(&a);
}

static void repeated_faults_can_be_forgotten(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct field_errors e = FIELD_ERRORS_INIT(&a);
    field_errors_unique(&e);
    field_required(&e, &spec, "");
    field_required(&e, &spec, "");
    field_required(&e, &spec, "other");
    field_required(&e, &spec, "");
    field_errors_unique(&e);
    assert_int_equal(e.n, 2);
    assert_int_equal(kept(&e), 2);
    field_required(&e, &spec, "more");
    assert_int_equal(kept(&e), 3);
    assert_text(e.first->next->next->msg, "Required value: more");
    arena_done(&a);
}

static void faults_can_be_sorted_in(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct field_errors e = FIELD_ERRORS_INIT(&a), more = FIELD_ERRORS_INIT(&a);
    struct field_path b = field_child(&spec, STR("b")), c = field_child(&spec, STR("c"));
    field_required(&e, &c, "");
    field_errors_add_sorted(&e, &more);
    assert_int_equal(e.n, 1);
    field_required(&more, &c, "z");
    field_required(&more, &b, "");
    field_required(&more, &c, "a");
    field_errors_add_sorted(&e, &more);
    assert_int_equal(e.n, 4);
    assert_int_equal(more.n, 0);
    assert_text(e.first->field, "spec.c");
    assert_text(e.first->next->field, "spec.b");
    assert_text(e.first->next->next->msg, "Required value: a");
    assert_text(e.first->next->next->next->msg, "Required value: z");
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_read_as_upstream_writes_them),
        cmocka_unit_test(nothing_noted_is_no_error),
        cmocka_unit_test(one_fault_stands_alone_and_several_in_brackets),
        cmocka_unit_test(every_type_has_its_words),
        cmocka_unit_test(faults_past_the_limits_are_only_counted),
        cmocka_unit_test(repeated_faults_can_be_forgotten),
        cmocka_unit_test(faults_can_be_sorted_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
