#include "scheduler/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/yaml.h"

#define HEAD "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

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

static int read_text(const char *text, struct profiles *ret, struct err *err)
{
    struct value v;
    assert_int_equal(yaml_read(&arena, str_of(text), NULL, &v, err), 0);
    return profiles_read(&arena, &v, ret, err);
}

static void test_usual(void **state)
{
    (void)state;
    struct profiles all;
    struct err err = ERR_INIT(&arena);
    assert_int_equal(read_text(HEAD, &all, &err), 0);
    const struct profile *p = profiles_find(&all, STR("default-scheduler"));
    assert_non_null(p);
    assert_int_equal(p->weights[PLUGIN_TAINTS], 3);
    assert_true(p->filters[PLUGIN_FIT] && p->scores[PLUGIN_IMAGES] && p->preempts);
    assert_null(profiles_find(&all, STR("other")));
}

static void test_profiles(void **state)
{
    (void)state;
    struct profiles all;
    struct err err = ERR_INIT(&arena);
    assert_int_equal(read_text(HEAD "podInitialBackoffSeconds: 2\n"
                                    "profiles:\n"
                                    "- schedulerName: default-scheduler\n"
                                    "- schedulerName: packer\n"
                                    "  plugins:\n"
                                    "    score:\n"
                                    "      disabled: [{name: '*'}]\n"
                                    "      enabled: [{name: NodeResourcesFit, weight: 7}]\n"
                                    "    postFilter:\n"
                                    "      disabled: [{name: DefaultPreemption}]\n"
                                    "  pluginConfig:\n"
                                    "  - name: NodeResourcesFit\n"
                                    "    args: {scoringStrategy: {type: MostAllocated}}\n",
                               &all, &err),
                     0);
    assert_int_equal(all.n, 2);
    assert_int_equal(all.first_pause_ns, 2 * NS_PER_SEC);
    const struct profile *p = profiles_find(&all, STR("packer"));
    assert_true(p->fit.type == FIT_MOST_ALLOCATED && !p->preempts && p->filters[PLUGIN_TAINTS]);
    assert_false(p->scores[PLUGIN_TAINTS]);
    assert_true(p->scores[PLUGIN_FIT]);
    assert_int_equal(p->weights[PLUGIN_FIT], 7);
    assert_int_equal(profiles_find(&all, STR("default-scheduler"))->fit.type, FIT_LEAST_ALLOCATED);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "kind: Pod\n", "it is not a KubeSchedulerConfiguration" },
        { HEAD "percentageOfNodesToScore: 101\n",
          "percentageOfNodesToScore: must be from 0 to 100" },
        { HEAD "podInitialBackoffSeconds: 20\n",
          "podMaxBackoffSeconds: must not be below podInitialBackoffSeconds" },
        { HEAD "profiles: [{schedulerName: a}, {schedulerName: a}]\n",
          "profiles[1].schedulerName: there are two of \"a\"" },
        { HEAD "profiles: [{plugins: {score: {enabled: [{name: Mine}]}}}]\n",
          "profiles[0]: there is no plugin \"Mine\"" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct profiles all;
        struct err err = ERR_INIT(&arena);
        assert_true(read_text(cases[i].text, &all, &err) < 0);
        assert_string_equal(str_cstr(&arena, err.msg), cases[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_usual, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_profiles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
