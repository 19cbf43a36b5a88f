/* Who is to work on a new object, who may, and what may become of the list. */
#include "admission/suite_admission.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "auth/user.h"
#include "base/idiom.h"

#define RULE(groups, resources) \
    "{'apiGroups':[" groups "],'apiVersions':['v1'],'resources':[" resources "]}"

static const struct suite_object objects[] = {
    { STR("initializerconfigurations"), STR("b"),
      "{'metadata':{'name':'b'},'initializers':["
      "{'name':'two.example.com','rules':[" RULE(
          "''", "'configmaps'") "]},"
                                "{'name':'three.example.com','rules':[" RULE("'*'",
                                                                             "'*/*'") "]}]}" },
    { STR("initializerconfigurations"), STR("a"),
      "{'metadata':{'name':'a'},'initializers':["
      "{'name':'one.example.com','rules':[" RULE("''", "'pods','configmaps'") "]}]}" },
    /* All rules have to match; a star counts only in front; without rules nothing matches. */
    { STR("initializerconfigurations"), STR("c"),
      "{'metadata':{'name':'c'},'initializers':["
      "{'name':'both.example.com','rules':[" RULE("''", "'configmaps'") "," RULE(
          "''", "'secrets'") "]},"
                             "{'name':'star.example.com','rules':[" RULE(
                                 "''", "'x','*'") "]},"
                                                  "{'name':'bare.example.com'}]}" },
    /* One that is not initialized itself does not count. */
    { STR("initializerconfigurations"), STR("d"),
      "{'metadata':{'name':'d','initializers':{'pending':[{'name':'x.y.z'}]}},'initializers':["
      "{'name':'self.example.com','rules':[" RULE("'*'", "'*'") "]}]}" },
};

#define OBJECT(more)   "{'metadata':{'name':'n'" more "}}"
#define PENDING(names) OBJECT(",'initializers':{'pending':[" names "]}")
#define ONE            "{'name':'one.example.com'}"
#define TWO            "{'name':'two.example.com'}"
#define THREE          "{'name':'three.example.com'}"
#define REFUSED        FORBIDDEN("configmaps \"n\"")

static void check(const char *allowed, const struct suite_row *rows, size_t n)
{
    static const struct user ann = { .name = STR("ann") };
    struct arena a;
    arena_init(&a);
    struct suite s = {
        .objects = objects, .n_objects = ARRAY_LEN(objects), .allowed = allowed, .user = &ann
    };
    struct err err = ERR_INIT(&a);
    assert_int_equal(admission_choose(&s.choice, STR("Initializers"), true, &err), 0);
    suite_check(&s, rows, n);
    arena_done(&a);
}

static void new_objects(void **state)
{
    (void)state;
    static const struct suite_row rows[] = {
        { "", "configmaps", OBJECT(""), NULL, PENDING(ONE "," TWO "," THREE), NULL },
        { "", "secrets", OBJECT(""), NULL, PENDING(THREE), NULL },
        { "apps", "deployments", OBJECT(""), NULL, PENDING(THREE), NULL },
        { "", "configmaps", OBJECT(",'initializers':{'pending':[]}"), NULL, NULL,
          REFUSED "create with initializers denied: " },
        { "", "configmaps", PENDING(TWO), NULL, NULL, REFUSED "create with initializers denied: " },
        { "", "pods", OBJECT(""), NULL, OBJECT(""), NULL, "binding" },
    };
    check(NULL, rows, ARRAY_LEN(rows));
}

static void with_the_right(void **state)
{
    (void)state;
    static const struct suite_row rows[] = {
        { "", "configmaps", OBJECT(",'initializers':{'pending':[]}"), NULL, OBJECT(""), NULL },
        { "", "configmaps", PENDING(TWO), NULL, NULL, NULL },
        { "", "configmaps", PENDING(TWO), PENDING(ONE "," TWO), NULL, NULL },
        { "", "configmaps", PENDING(""), PENDING(ONE "," TWO), OBJECT(""), NULL },
        { "", "configmaps", OBJECT(""), PENDING(ONE), NULL, NULL },
        { "", "configmaps", PENDING(ONE), OBJECT(""), NULL,
          "ConfigMap \"n\" is invalid: metadata.initializers: Invalid value: null: field is "
          "immutable once initialization has completed" },
        { "", "configmaps", OBJECT(",'initializers':{'pending':[],'result':{'status':'Success'}}"),
          PENDING(ONE), NULL,
          "ConfigMap \"n\" is invalid: metadata.initializers.result.status: Invalid value: "
          "\"Success\": must be 'Failure'" },
    };
    check("initialize configmaps n;", rows, ARRAY_LEN(rows));
}

static void without_the_right(void **state)
{
    (void)state;
    static const struct suite_row rows[] = {
        { "", "configmaps", OBJECT(""), OBJECT(""), NULL, NULL },
        { "", "configmaps", PENDING(ONE), PENDING(ONE), NULL,
          REFUSED "update to uninitialized resource denied: " },
        { "", "configmaps", OBJECT(""), PENDING(ONE), NULL,
          REFUSED "update to uninitialized resource denied: " },
        { "", "configmaps", NULL, PENDING(ONE), NULL, NULL },
    };
    check(NULL, rows, ARRAY_LEN(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_objects),
        cmocka_unit_test(with_the_right),
        cmocka_unit_test(without_the_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
