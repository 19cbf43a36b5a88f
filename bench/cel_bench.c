/* cel_bench - a typical rule of a CRD: compiling it, and evaluating it over an object with ten
 * names. The best of many rounds counts, so that a busy machine disturbs little. */
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "cel/cel.h"

enum { ROUNDS = 15, ROUND_MS = 60 };

static const char rule[] =
    "self.replicas <= self.maxReplicas && self.names.all(n, n.matches('^[a-z]+$'))";
static const char plain_rule[] = "self.replicas <= self.maxReplicas";
static const char object[] = "{\"replicas\":3,\"maxReplicas\":5,\"names\":[\"alpha\",\"beta\","
                             "\"gamma\",\"delta\",\"epsilon\",\"zeta\",\"eta\",\"theta\","
                             "\"iota\",\"kappa\"]}";

struct scene {
    const struct cel_env *env;
    const struct cel_program *program;
    const struct cel_value *vars;
    struct str text;
};

static void compile(struct arena *a, const struct scene *s)
{
    const struct cel_program *p;
    (void)cel_compile(a, s->env, s->text, &p, NULL);
}

static void evaluate(struct arena *a, const struct scene *s)
{
    struct cel_value ret;
    uint64_t cost;
    (void)cel_eval(a, s->program, s->vars, UINT64_MAX, &ret, &cost, NULL);
}

static double best_ns(void (*step)(struct arena *a, const struct scene *s), const struct scene *s)
{
    struct arena a;
    double best = 1e18;
    arena_init(&a);
    for (int round = 0; round < ROUNDS; round++) {
        int64_t start = clock_mono_ns(&clock_system), now = start, n = 0;
        for (; now - start < ROUND_MS * INT64_C(1000000); now = clock_mono_ns(&clock_system))
            for (int i = 0; i < 64; i++, n++) {
                step(&a, s);
                arena_reset(&a);
            }
        double ns = (double)(now - start) / (double)n;
        best = ns < best ? ns : best;
    }
    arena_done(&a);
    return best;
}

static int run(struct arena *a, const char *what, const char *text, const struct cel_env *env,
               const struct cel_value *vars)
{
    struct scene s = { .env = env, .vars = vars, .text = str_of(text) };
    struct err err = ERR_INIT(a);
    if (cel_compile(a, env, s.text, &s.program, &err) < 0) {
        printf(STR_FMT "\n", STR_ARG(err.msg));
        return 1;
    }
    printf("%-24s compile %8.0f ns, evaluate %6.0f ns\n", what, best_ns(compile, &s),
           best_ns(evaluate, &s));
    return 0;
}

int main(void)
{
    struct arena a;
    struct value tree;
    struct err err = ERR_INIT(&a);
    arena_init(&a);
    const struct cel_field fields[] = {
        { &cel_int, STR("replicas"), STR("") },
        { &cel_int, STR("maxReplicas"), STR("") },
        { cel_type_list(&a, &cel_string), STR("names"), STR("") },
    };
    const struct cel_type *type = cel_type_object(&a, STR("Self"), fields, 3);
    const struct cel_variable self = { STR("self"), type };
    const struct cel_env env = { .variables = &self, .n_variables = 1 };
    int failed = json_read(&a, str_of(object), NULL, &tree, &err) < 0;
    if (!failed) {
        struct cel_value var = cel_wrap(&a, &tree, type);
        failed = run(&a, "two fields", plain_rule, &env, &var) ||
                 run(&a, "two fields, ten matches", rule, &env, &var);
    }
    arena_done(&a);
    return failed;
}
