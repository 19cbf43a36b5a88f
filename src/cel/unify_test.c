#include "cel/unify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"

static struct arena arena;

static struct unify fresh(void)
{
    return (struct unify){ .arena = &arena, .scratch = &arena };
}

static const char *text(struct unify *u, const struct cel_type *t)
{
    return str_cstr(&arena, cel_type_text(&arena, unify_apply(u, t, true)));
}

static const struct cel_type *list(const struct cel_type *t)
{
    return cel_type_list(&arena, t);
}

static const struct cel_type *map(const struct cel_type *key, const struct cel_type *val)
{
    return cel_type_map(&arena, key, val);
}

static void plain_types_fit_themselves(void **state)
{
    (void)state;
    struct unify u = fresh();
    const struct cel_type *object = cel_type_object(&arena, STR("Thing"), NULL, 0),
                          *other = cel_type_object(&arena, STR("Other"), NULL, 0);
    const struct {
        const struct cel_type *from, *to;
        bool fits;
    } rows[] = {
        { &cel_int, &cel_int, true },
        { &cel_int, &cel_uint, false },
        { &cel_int, &cel_double, false },
        { &cel_string, &cel_dyn, true },
        { &cel_dyn, &cel_string, true }, /* which is found out later */
        { list(&cel_int), list(&cel_int), true },
        { list(&cel_int), list(&cel_string), false },
        { list(&cel_dyn), list(&cel_string), true },
        { list(&cel_int), map(&cel_int, &cel_int), false },
        { map(&cel_string, &cel_int), map(&cel_string, &cel_int), true },
        { map(&cel_string, &cel_int), map(&cel_int, &cel_int), false },
        { object, object, true },
        { object, other, false },
        { &cel_null, object, true }, /* where null fits */
        { &cel_null, &cel_timestamp, true },
        { &cel_null, &cel_duration, true },
        { &cel_null, cel_type_optional(&arena, &cel_int), true },
        { &cel_null, &cel_null, true },
        { &cel_null, &cel_int, false },
        { &cel_null, &cel_string, false },
        { &cel_null, list(&cel_int), false },
        { object, &cel_null, true },
        { &cel_bool, &cel_null, false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (unify_assign(&u, rows[i].from, rows[i].to) != rows[i].fits)
            fail_msg("row %zu", i);
}

static void a_variable_becomes_what_it_meets(void **state)
{
    (void)state;
    struct unify u = fresh();
    const struct cel_type *a = unify_fresh(&u), *b = unify_fresh(&u);
    assert_true(str_eq(a->name, STR("_var0")) && str_eq(b->name, STR("_var1")));
    assert_string_equal(text(&u, list(a)), "list(dyn)"); /* free */
    assert_true(unify_assign(&u, list(&cel_int), list(a)));
    assert_string_equal(text(&u, a), "int");
    assert_false(unify_assign(&u, &cel_string, a));
    assert_string_equal(text(&u, a), "int");
    assert_true(unify_assign(&u, map(&cel_string, b), map(b, &cel_string)));
    assert_string_equal(text(&u, map(a, b)), "map(int, string)");
}

/* A variable that was one type and meets a more general one becomes that. */
static void a_variable_becomes_more_general(void **state)
{
    (void)state;
    struct unify u = fresh();
    const struct cel_type *a = unify_fresh(&u);
    assert_true(unify_assign(&u, &cel_int, a));
    assert_true(unify_assign(&u, &cel_dyn, a));
    assert_string_equal(text(&u, a), "dyn");
    assert_true(unify_assign(&u, &cel_string, a));

    const struct {
        const struct cel_type *x, *y, *general;
    } rows[] = {
        { &cel_dyn, &cel_int, &cel_dyn },
        { &cel_int, &cel_dyn, &cel_dyn },
        { &cel_int, &cel_int, &cel_int },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_ptr_equal(unify_general(rows[i].x, rows[i].y), rows[i].general);
    const struct cel_type *ints = list(&cel_int), *any = list(&cel_dyn);
    assert_ptr_equal(unify_general(ints, any), any);
    assert_ptr_equal(unify_general(any, ints), any);
}

static void no_type_contains_itself(void **state)
{
    (void)state;
    struct unify u = fresh();
    const struct cel_type *a = unify_fresh(&u), *b = unify_fresh(&u);
    assert_false(unify_assign(&u, list(a), a));
    assert_true(unify_assign(&u, list(b), a));
    assert_false(unify_assign(&u, list(a), b)); /* a is a list of b: the same by a detour */
    assert_string_equal(text(&u, a), "list(dyn)");
}

/* An overload that fits in part only must not leave anything behind for the next one. */
static void a_failed_attempt_changes_nothing(void **state)
{
    (void)state;
    struct unify u = fresh();
    const struct cel_type *a = unify_fresh(&u), *b = unify_fresh(&u);
    const struct cel_type *from[] = { &cel_int, &cel_string, &cel_bool },
                          *to[] = { a, b, &cel_int };
    assert_false(unify_assign_all(&u, from, to, 3));
    assert_string_equal(text(&u, map(a, b)), "map(dyn, dyn)");
    assert_true(unify_assign_all(&u, from, to, 2));
    assert_string_equal(text(&u, map(a, b)), "map(int, string)");
    const struct cel_type *again[] = { &cel_dyn, &cel_int }, *into[] = { a, b };
    assert_false(unify_assign_all(&u, again, into, 2));
    assert_string_equal(text(&u, map(a, b)), "map(int, string)");
    assert_true(unify_assign_all(&u, NULL, NULL, 0));
}

/* Each use of an overload has variables of its own; one parameter is one variable in it. */
static void each_use_has_its_own_variables(void **state)
{
    (void)state;
    struct unify u = fresh();
    const struct cel__overload put = { .args = { &cel__list_A, &cel__A },
                                       .n_args = 2,
                                       .result = &cel__list_A };
    struct unify_signature first = unify_instantiate(&u, &put),
                           second = unify_instantiate(&u, &put);
    assert_int_equal(u.n_vars, 2);
    assert_ptr_equal(first.args[0]->params[0], first.args[1]);
    assert_ptr_not_equal(first.args[1], second.args[1]);
    assert_true(unify_assign(&u, &cel_int, first.args[1]));
    assert_string_equal(text(&u, first.result), "list(int)");
    assert_false(unify_assign(&u, list(&cel_string), first.args[0]));
    assert_true(unify_assign(&u, list(&cel_string), second.args[0]));
    assert_string_equal(text(&u, second.result), "list(string)");
}

static void there_may_be_many_variables(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    struct unify u = fresh();
    const struct cel_type *first = unify_fresh(&u), *last = first;
    for (int i = 1; i < MANY; i++) { /* a chain: each is a name for the one before */
        const struct cel_type *next = unify_fresh(&u);
        assert_true(unify_assign(&u, last, next));
        last = next;
    }
    assert_string_equal(text(&u, last), "dyn");
    assert_true(unify_assign(&u, &cel_bytes, first));
    assert_string_equal(text(&u, last), "bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_types_fit_themselves),
        cmocka_unit_test(a_variable_becomes_what_it_meets),
        cmocka_unit_test(a_variable_becomes_more_general),
        cmocka_unit_test(no_type_contains_itself),
        cmocka_unit_test(a_failed_attempt_changes_nothing),
        cmocka_unit_test(each_use_has_its_own_variables),
        cmocka_unit_test(there_may_be_many_variables),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_done(&arena);
    return failed;
}
