/* Which fields of a variable an expression asks for. */
#include "cel/cel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/idiom.h"

static void fields_are_found_wherever_they_stand(void **state)
{
    (void)state;
    static const struct {
        const char *expression;
        bool selects;
    } cases[] = {
        { "claims.email", true },
        { "has(claims.email)", true },
        { "claims.?email.orValue('x')", true },
        { "'a' + string(claims.email) + 'b'", true },
        { "[1, 2].exists(i, claims.email == 'x')", true },
        { "{'a': claims.email}", true },
        { "[claims.email]", true },
        { "claims.email.size() > 1", true },
        { "claims.other.email", false },
        { "claims['email']", false },
        { "claims.email_verified", false },
        { "'claims.email'", false },
        { "claims", false },
    };
    struct arena a;
    arena_init(&a);
    const struct cel_variable v = { STR("claims"), cel_type_map(&a, &cel_string, &cel_any) };
    const struct cel_env env = { .variables = &v, .n_variables = 1 };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = ERR_INIT(&a);
        const struct cel_program *p;
        if (cel_compile(&a, &env, str_of(cases[i].expression), &p, &err) < 0)
            fail_msg("%s: " STR_FMT, cases[i].expression, STR_ARG(err.msg));
        if (cel_program_selects(p, STR("claims"), STR("email")) != cases[i].selects)
            fail_msg("%s", cases[i].expression);
        assert_false(cel_program_selects(p, STR("user"), STR("email")));
    }
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(fields_are_found_wherever_they_stand) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
