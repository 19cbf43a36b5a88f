/* What pods ask for: their quality of service, and what they ask for as a whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "api/pod_qos.h"
#include "api/pod_resources.h"
#include "base/idiom.h"
#include "base/json.h"

#define BOUNDS         "{'cpu':'1','memory':'1Gi'}"
#define BOTH(a, b)     "{'limits':" a ",'requests':" b "}"
#define ONE(resources) "{'containers':[{'resources':" resources "}]}"

static struct value tree(struct arena *a, const char *quoted)
{
    struct str json = arena_str(a, str_of(quoted));
    char *text = arena_dup(a, json.p, json.n);
    struct value v;
    for (size_t k = 0; k < json.n; k++)
        text[k] = text[k] == '\'' ? '"' : text[k];
    assert_int_equal(json_read(a, (struct str){ text, json.n }, NULL, &v, NULL), 0);
    return v;
}

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
        struct value spec = tree(&a, rows[i].spec);
        struct str got = pod_qos_class(&spec);
        if (!str_eq(got, str_of(rows[i].want)))
            fail_msg("%s: " STR_FMT, rows[i].spec, STR_ARG(got));
    }
    arena_done(&a);
}

#define ASKS(n)    "{'resources':{'requests':{'cpu':'" n "'}}}"
#define SIDECAR(n) "{'restartPolicy':'Always','resources':{'requests':{'cpu':'" n "'}}}"

static void containers_come_to_a_sum(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *want;
    } rows[] = {
        { "{}", "" },
        { "{'containers':[{}]}", "" },
        { "{'containers':[" ASKS("1") ",{}," ASKS("500m") "]}", "1500m" },
        /* The larger of what runs before and what runs then. */
        { "{'containers':[" ASKS("1") "],'initContainers':[" ASKS("3") "," ASKS("2") "]}", "3" },
        { "{'containers':[" ASKS("5") "],'initContainers':[" ASKS("3") "," ASKS("2") "]}", "5" },
        /* A sidecar runs beside all that come after it. */
        { "{'containers':[" ASKS("1") "],'initContainers':[" SIDECAR("2") "," ASKS("4") "]}", "6" },
        { "{'containers':[" ASKS("1") "],'initContainers':[" ASKS("4") "," SIDECAR("2") "]}", "4" },
        { "{'containers':[" ASKS("3") "],'initContainers':[" ASKS("4") "," SIDECAR("2") "]}", "5" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value spec = tree(&a, rows[i].spec);
        struct str got = pod_resources_sum(&a, &spec, STR("requests"), STR("cpu"));
        if (!str_eq(got, str_of(rows[i].want)))
            fail_msg("%s: " STR_FMT, rows[i].spec, STR_ARG(got));
    }
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(pods_have_a_class),
                                        cmocka_unit_test(containers_come_to_a_sum) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
