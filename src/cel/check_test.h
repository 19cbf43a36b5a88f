/* check_test.h - what the tests of this folder share: one expression in, its text, error or cost
 * out. */
#pragma once

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/idiom.h"
#include "base/json.h"
#include "cel/cel.h"
#include "cel/internal.h"

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
    uint64_t cost; /* looked at by check_scene() alone */
};

static inline void check_answers(const struct answer_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_string_equal(answer(cases[i].expression), cases[i].answer);
}

/* ---- A scene: variables of several types, so that not all is constant ---- */

/* What may begin an expression, as errors list it. */
#define EXPR                                                                                 \
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, " \
    "STRING, BYTES, IDENTIFIER}"

enum { SCENE_VARIABLES = 6 };

struct scene {
    struct cel_variable variables[SCENE_VARIABLES];
    struct cel_value values[SCENE_VARIABLES];
    struct value trees[3];
    struct cel_env env;
};

/* x: dyn, an object; l: list(int); s: string; m: map(string, int); d: dyn, 5; o: optional(int),
 * none. */
static inline struct scene *scene_new(void)
{
    struct scene *c = arena_new(&arena, struct scene);
    c->trees[0] = tree_of("{\"a\":1,\"b\":{\"c\":\"text\",\"l\":[1,2]}}");
    c->trees[1] = tree_of("[1,2,3]");
    c->trees[2] = tree_of("{\"k\":7}");
    const struct cel_variable variables[SCENE_VARIABLES] = {
        { STR("x"), &cel_dyn },    { STR("l"), cel_type_list(&arena, &cel_int) },
        { STR("s"), &cel_string }, { STR("m"), cel_type_map(&arena, &cel_string, &cel_int) },
        { STR("d"), &cel_dyn },    { STR("o"), cel_type_optional(&arena, &cel_int) },
    };
    const struct cel_value values[SCENE_VARIABLES] = {
        cel_wrap(&arena, &c->trees[0], &cel_dyn),
        cel_wrap(&arena, &c->trees[1], &cel_dyn),
        cel_of_string(STR("hello")),
        cel_wrap(&arena, &c->trees[2], &cel_dyn),
        cel_of_int(5),
        cel_of_optional(&arena, NULL),
    };
    memcpy(c->variables, variables, sizeof(variables));
    memcpy(c->values, values, sizeof(values));
    c->env = (struct cel_env){ .variables = c->variables, .n_variables = SCENE_VARIABLES };
    return c;
}

/* The issues of a compilation without the lines that show the source: "1:3: what" each. */
static inline const char *brief_issues(struct str text)
{
    struct str prefix = STR("ERROR: <input>:");
    autobuf out = { 0 };
    while (text.n) {
        struct str line = str_cut(&text, '\n');
        if (str_starts(line, STR(" | ")))
            continue;
        buf_printf(&out, "%s" STR_FMT, out.n ? "\n" : "",
                   STR_ARG(str_skip(line, str_starts(line, prefix) ? prefix.n : 0)));
    }
    return str_cstr(&arena, arena_printf(&arena, "! " STR_FMT, STR_ARG(buf_str(&out))));
}

/* As answer_in(), with brief issues; the cost is 0 where there is nothing to run. */
static inline const char *scene_answer(const struct scene *c, const char *expression,
                                       uint64_t *ret_cost)
{
    const struct cel_program *p;
    struct cel_value ret;
    struct err err = ERR_INIT(&arena);
    struct cel__eval ev = cel__outside(&arena);
    *ret_cost = 0;
    if (cel_compile(&arena, &c->env, str_of(expression), &p, &err) < 0)
        return brief_issues(err.msg);
    if (cel_eval(&arena, p, c->values, 10000000, &ret, ret_cost, &err) < 0)
        return str_cstr(&arena, arena_printf(&arena, "! " STR_FMT, STR_ARG(err.msg)));
    return str_cstr(&arena, cel__print(&ev, &ret));
}

/* Answers and costs over the scene. All that differ are told before the test fails. */
static inline void check_in_scene(const struct scene *c, const struct answer_case *cases, size_t n)
{
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t cost;
        const char *got = scene_answer(c, cases[i].expression, &cost);
        if (strcmp(got, cases[i].answer) == 0 && cost == cases[i].cost)
            continue;
        wrong++;
        print_error("%s\n  want %s, cost %" PRIu64 "\n  got  %s, cost %" PRIu64 "\n",
                    cases[i].expression, cases[i].answer, cases[i].cost, got, cost);
    }
    assert_int_equal(wrong, 0);
}

static inline void check_scene(const struct answer_case *cases, size_t n)
{
    check_in_scene(scene_new(), cases, n);
}

#define CASE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
