/* Any text is compiled, and evaluated within a budget if it is an expression, over a tree that is
 * read by its JSON and over one that is read by types. The tree is what follows a NUL, if that is
 * JSON. Issues have a place and words; what is evaluated twice gives the same twice, at the same
 * cost, and in bounded memory. */
#include <stdlib.h>

#include "base/idiom.h"
#include "base/json.h"
#include "base/limits.h"
#include "cel/cel.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { BUDGET = 20000 };

static const struct str usual =
    STR("{\"a\":1,\"b\":{\"c\":\"text\",\"l\":[1,2.5,null,\"x\"]},\"names\":[\"x\",\"y\"],"
        "\"replicas\":3,\"m\":{\"k\":\"v\"}}");

static void must(bool good)
{
    if (!good)
        abort();
}

static const struct cel_type *self_type(struct arena *a)
{
    const struct cel_field fields[] = {
        { &cel_int, STR("a"), STR("") },
        { &cel_dyn, STR("b"), STR("") },
        { cel_type_list(a, &cel_string), STR("names"), STR("") },
        { &cel_int, STR("replicas"), STR("") },
        { cel_type_map(a, &cel_string, &cel_string), STR("m"), STR("") },
    };
    return cel_type_object(a, STR("Self"), arena_dup(a, fields, sizeof(fields)), ARRAY_LEN(fields));
}

static void check_same(struct arena *a, const struct cel_program *p, const struct cel_value *vars)
{
    struct err first_err = ERR_INIT(a), second_err = ERR_INIT(a);
    struct cel_value first, second;
    uint64_t first_cost, second_cost;
    size_t held = a->held;
    int r = cel_eval(a, p, vars, BUDGET, &first, &first_cost, &first_err);
    must(cel_eval(a, p, vars, BUDGET, &second, &second_cost, &second_err) == r);
    must(first_cost == second_cost);
    must(first_cost <= BUDGET || r == -ERR_TOO_LARGE);
    must(a->held - held <= 2 * ((size_t)LIMIT_CEL_EVAL_BYTES + LIMIT_CEL_TEXT_BYTES));
    if (r < 0) {
        must(str_eq(first_err.msg, second_err.msg));
        return;
    }
    must(first.kind == second.kind && first.kind != CEL_ERROR);
    struct value tree;
    (void)cel_to_tree(a, &first, &tree, &first_err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct value tree;
    struct str rest = { (const char *)bytes, n }, text = str_cut(&rest, '\0');
    if (rest.n == 0 || json_read(&a, rest, NULL, &tree, &err) < 0)
        must(json_read(&a, usual, NULL, &tree, &err) == 0);
    const struct cel_type *type = self_type(&a);
    const struct cel_variable variables[] = {
        { STR("self"), type },     { STR("x"), &cel_dyn },
        { STR("s"), &cel_string }, { STR("l"), cel_type_list(&a, &cel_int) },
        { STR("d"), &cel_dyn },
    };
    const struct cel_value ints[] = { cel_of_int(3), cel_of_int(1) };
    const struct cel_value vars[] = {
        cel_wrap(&a, &tree, type),   cel_wrap(&a, &tree, &cel_dyn),
        cel_of_string(STR("hello")), cel_of_list(&a, ints, 2),
        cel_of_double(2.5),
    };
    struct cel_env env = { .variables = variables, .n_variables = 5 };
    const struct cel_program *p;
    if (cel_compile(&a, &env, text, &p, &err) == 0) {
        struct cel_cost cost = cel_program_cost(&a, p);
        must(cost.min <= cost.max);
        check_same(&a, p, vars);
    } else {
        must(err.code == ERR_BAD_REQUEST || str_starts(err.msg, STR("ERROR: <input>:")));
    }
    env.flags = CEL_ENV_UNCHECKED;
    if (cel_compile(&a, &env, text, &p, &err) == 0)
        check_same(&a, p, vars);
    arena_done(&a);
    return 0;
}
