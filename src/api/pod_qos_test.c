/* The quality of service of pods. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "api/pod_qos.h"
#include "base/idiom.h"
#include "base/json.h"

#define BOUNDS         "{'cpu':'1','memory':'1Gi'}"
#define BOTH(a, b)     "{'limits':" a ",'requests':" b "}"
#define ONE(resources) "{'containers':[{'resources':" resources "}]}"

static void pods_have_a_class(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *want;
    } rows[] = {
        { "{'containers':[{}]}", "BestEffort" },
        { ONE("{}"), "BestEffort" },
        { ONE("{'requests':{'cpu':'0'}}"), "BestEffort" },
        { ONE("{'requests':{'example.com/gpu':'1'}}"), "BestEffort" },
        { ONE("{'requests':{'cpu':'1'}}"), "Burstable" },
        { ONE("{'limits':{'cpu':'1'}}"), "Burstable" },
        { ONE(BOTH(BOUNDS, BOUNDS)), "Guaranteed" },
        { ONE(BOTH("{'cpu':'1','memory':'1Gi'}", "{'cpu':'1','memory':'1024Mi'}")), "Guaranteed" },
        { ONE(BOTH(BOUNDS, "{'cpu':'500m','memory':'1Gi'}")), "Burstable" },
        { ONE(BOTH("{'cpu':'1'}", "{'cpu':'1'}")), "Burstable" },
        { "{'containers':[{'resources':" BOTH(BOUNDS, BOUNDS) "},{}]}", "Burstable" },
        { "{'containers':[{'resources':" BOTH(BOUNDS, BOUNDS) "}],'initContainers':[{}]}",
          "Burstable" },
        { "{'containers':[{}],'initContainers':[{'resources':{'requests':{'cpu':'1'}}}]}",
          "Burstable" },
        { "{'containers':[{}],'resources':" BOTH(BOUNDS, BOUNDS) "}", "Guaranteed" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *text = arena_dup(&a, rows[i].spec, str_of(rows[i].spec).n);
        struct str json = { text, str_of(rows[i].spec).n };
        struct value spec;
        for (size_t k = 0; k < json.n; k++)
            text[k] = text[k] == '\'' ? '"' : text[k];
        assert_int_equal(json_read(&a, json, NULL, &spec, NULL), 0);
        struct str got = pod_qos_class(&spec);
        if (!str_eq(got, str_of(rows[i].want)))
            fail_msg("%s: " STR_FMT, rows[i].spec, STR_ARG(got));
    }
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(pods_have_a_class) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
