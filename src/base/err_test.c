#include "base/err.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static int setup(void **state)
{
    static struct arena a;
    arena_init(&a);
    *state = &a;
    return 0;
}

static int teardown(void **state)
{
    arena_done(*state);
    return 0;
}

static void set_and_wrap(void **state)
{
    struct err err = ERR_INIT(*state);
    assert_int_equal(err_set(&err, ERR_NOT_FOUND, "pods \"%s\" not found", "x"), -ERR_NOT_FOUND);
    assert_int_equal(err_wrap(&err, "read %d", 3), -ERR_NOT_FOUND);
    assert_true(str_eq(err.msg, STR("read 3: pods \"x\" not found")));
    err_clear(&err);
    assert_int_equal(err.code, ERR_OK);
    assert_int_equal(err_set(NULL, ERR_CONFLICT, "nobody listens"), -ERR_CONFLICT);
}

static void errno_has_a_code(void **state)
{
    struct err err = ERR_INIT(*state);
    assert_int_equal(err_errno(&err, ENOSPC, "write %s", "f"), -ERR_NO_SPACE);
    assert_true(str_eq(err.msg, STR("write f: No space left on device")));
    assert_int_equal(err_errno(&err, ENOENT, "open"), -ERR_NOT_FOUND);
    assert_int_equal(err_errno(&err, EIO, "sync"), -ERR_IO);
}

static void causes_keep_their_order(void **state)
{
    struct err err = ERR_INIT(*state);
    (void)err_set(&err, ERR_INVALID, "two things");
    err_add_cause(&err, STR("FieldValueRequired"), STR("spec.a"), STR("Required value"));
    err_add_cause(&err, STR("FieldValueInvalid"), STR("spec.b"), STR("Invalid value"));
    assert_true(str_eq(err.causes->field, STR("spec.a")));
    assert_true(str_eq(err.causes->next->field, STR("spec.b")));
    assert_null(err.causes->next->next);
}

static void every_code_has_a_row(void **state)
{
    (void)state;
    for (enum err_code c = ERR_OK + 1; c < ERR_CODE_COUNT; c++) {
        assert_in_range(err_http_status(c), 400, 599);
        assert_true(err_reason(c).n > 0 || c == ERR_UNKNOWN);
    }
    assert_int_equal(err_http_status(ERR_EXPIRED), 410);
    assert_true(str_eq(err_reason(ERR_EXISTS), STR("AlreadyExists")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(set_and_wrap, setup, teardown),
        cmocka_unit_test_setup_teardown(errno_has_a_code, setup, teardown),
        cmocka_unit_test_setup_teardown(causes_keep_their_order, setup, teardown),
        cmocka_unit_test(every_code_has_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
