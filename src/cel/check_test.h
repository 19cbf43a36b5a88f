/* check_test.h - what the tests of this folder share: one expression in, its text, error or cost
 * out. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/json.h"
#include "cel/cel.h"
#include "cel/internal.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static inline struct value tree_of(const char *json)
{
    struct value v;
    struct err err = ERR_INIT(&arena);
    assert_int_equal(json_read(&arena, str_of(json), NULL, &v, &err), 0);
    return v;
}

/* The value as messages print it, or the error behind "! ". */
static inline const char *answer_in(const struct cel_env *env, const struct cel_value *vars,
                                    const char *expression)
{
    const struct cel_program *p;
    struct err err = ERR_INIT(&arena);
    struct cel_value ret;
    uint64_t cost;
    struct cel__eval ev = cel__outside(&arena);
    if (cel_compile(&arena, env, str_of(expression), &p, &err) < 0 ||
        cel_eval(&arena, p, vars, 1000000, &ret, &cost, &err) < 0)
        return str_cstr(&arena, arena_printf(&arena, "! " STR_FMT, STR_ARG(err.msg)));
    return str_cstr(&arena, cel__print(&ev, &ret));
}

static inline const char *answer(const char *expression)
{
    static const struct cel_env env;
    return answer_in(&env, NULL, expression);
}

struct answer_case {
    const char *expression, *answer;
};

static inline void check_answers(const struct answer_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_string_equal(answer(cases[i].expression), cases[i].answer);
}
