/* Expectations are what kube-apiserver answers. */
#include "expression/expression_check.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "base/json.h"

static struct value parse(struct arena *a, const char *json)
{
    struct err err = ERR_INIT(a);
    struct value v;
    if (json_read(a, str_of(json), NULL, &v, &err) < 0)
        fail_msg("%s: " STR_FMT, json, STR_ARG(err.msg));
    return v;
}

static struct str faults_of(struct arena *a, const struct field_errors *e)
{
    autobuf text = { 0 };
    for (const struct err_cause *c = e->first; c; c = c->next)
        buf_printf(&text, "%s" STR_FMT ": " STR_FMT, c == e->first ? "" : "\n", STR_ARG(c->field),
                   STR_ARG(c->msg));
    return arena_str(a, buf_str(&text));
}

#define UNDECLARED(name)                                                          \
    "compilation failed: ERROR: <input>:1:1: undeclared reference to '" name "' " \
    "(in container '')\n | " name ".x\n | ^"

static const struct {
    const char *group, *plural, *object, *faults;
} rows[] = {
    { "admissionregistration.k8s.io", "validatingwebhookconfigurations",
      "{\"webhooks\":[{\"matchConditions\":[{\"name\":\"a\",\"expression\":\"request.userInfo."
      "username "
      "!= 'x' && !authorizer.path('/x').check('get').allowed()\"}]}]}",
      "" },
    { "admissionregistration.k8s.io", "mutatingwebhookconfigurations",
      "{\"webhooks\":[{\"matchConditions\":[{\"name\":\"a\",\"expression\":\"1\"}]}]}",
      "webhooks[0].matchConditions[0].expression: Invalid value: \"1\": must evaluate to bool but "
      "got "
      "int" },
    { "admissionregistration.k8s.io", "validatingwebhookconfigurations",
      "{\"webhooks\":[{\"matchConditions\":[{\"name\":\"a\",\"expression\":\"params.x\"}]}]}",
      "webhooks[0].matchConditions[0].expression: Invalid value: \"params.x\": " UNDECLARED(
          "params") },
    { "admissionregistration.k8s.io", "validatingadmissionpolicies",
      "{\"spec\":{\"paramKind\":{},\"variables\":[{\"name\":\"n\",\"expression\":\"size(object."
      "spec.x)\"},"
      "{\"name\":\"m\",\"expression\":\"variables.n + 1\"}],"
      "\"validations\":[{\"expression\":\"variables.m > params.min\",\"messageExpression\":\"'too "
      "' + "
      "string(variables.n)\"}],"
      "\"auditAnnotations\":[{\"key\":\"k\",\"valueExpression\":\"null\"}]}}",
      "" },
    { "admissionregistration.k8s.io", "validatingadmissionpolicies",
      "{\"spec\":{\"validations\":[{\"expression\":\"params.x\"}]}}",
      "spec.validations[0].expression: Invalid value: \"params.x\": " UNDECLARED("params") },
    { "admissionregistration.k8s.io", "validatingadmissionpolicies",
      "{\"spec\":{\"variables\":[{\"name\":\"v\",\"expression\":\"double('x')\"}],"
      "\"validations\":[{\"expression\":\"double('x')\"},{\"expression\":\"double('x') < "
      "1.0\"}]}}",
      "spec.variables[0].expression: Internal error: program instantiation failed: type conversion "
      "error from 'string' to 'double'\nspec.validations[0].expression: Invalid value: "
      "\"double('x')\": must evaluate to bool but got double\nspec.validations[1].expression: "
      "Internal error: program instantiation failed: type conversion error from 'string' to "
      "'double'" },
    { "admissionregistration.k8s.io", "validatingadmissionpolicies",
      "{\"spec\":{\"validations\":[{\"expression\":\"variables.x\"}]}}",
      "spec.validations[0].expression: Invalid value: \"variables.x\": " UNDECLARED("variables") },
    { "admissionregistration.k8s.io", "validatingadmissionpolicies",
      "{\"spec\":{\"validations\":[{\"expression\":\"true\",\"messageExpression\":\"1\"}],"
      "\"auditAnnotations\":[{\"key\":\"k\",\"valueExpression\":\"1\"}]}}",
      "spec.validations[0].messageExpression: Invalid value: \"1\": must evaluate to string but "
      "got "
      "int\nspec.auditAnnotations[0].valueExpression: Invalid value: \"1\": must evaluate to one "
      "of "
      "[string null_type] but got int" },
    { "admissionregistration.k8s.io", "mutatingadmissionpolicies",
      "{\"spec\":{\"variables\":[{\"name\":\"n\",\"expression\":\"size(object.spec.x)\"}],"
      "\"matchConditions\":[{\"name\":\"a\",\"expression\":\"object.ok == true\"}],\"mutations\":["
      "{\"patchType\":\"JSONPatch\",\"jsonPatch\":{\"expression\":\"[JSONPatch{op: 'add', path: "
      "'/x/' + jsonpatch.escapeKey('a/b'), value: variables.n}]\"}},"
      "{\"patchType\":\"ApplyConfiguration\",\"applyConfiguration\":{\"expression\":\"Object{spec: "
      "Object.spec{x: Object.spec.x{y: [variables.n]}}}\"}}]}}",
      "" },
#define MUTATION(type, field, text)                                                               \
    "{\"spec\":{\"mutations\":[{\"patchType\":\"" type "\",\"" field "\":{\"expression\":\"" text \
    "\"}}]}}"
#define AT(field) "spec.mutations[0]." field ".expression: Invalid value: "
    { "admissionregistration.k8s.io", "mutatingadmissionpolicies",
      MUTATION("JSONPatch", "jsonPatch", " 'x' "),
      AT("jsonPatch") "\"'x'\": must evaluate to list(JSONPatch) but got string" },
    { "admissionregistration.k8s.io", "mutatingadmissionpolicies",
      MUTATION("JSONPatch", "jsonPatch", "variables.x"),
      AT("jsonPatch") "\"variables.x\": compilation failed: ERROR: <input>:1:10: undefined field "
                      "'x'\n | variables.x\n | .........^" },
    { "admissionregistration.k8s.io", "mutatingadmissionpolicies",
      MUTATION("JSONPatch", "jsonPatch", "[JSONPatch{op: 'add', where: '/x'}]"),
      AT("jsonPatch") "\"[JSONPatch{op: 'add', where: '/x'}]\": compilation failed: ERROR: "
                      "<input>:1:28: expected type of field 'where' is '' but provided type is "
                      "'string'\n | [JSONPatch{op: 'add', where: '/x'}]\n | "
                      "...........................^" },
    { "admissionregistration.k8s.io", "mutatingadmissionpolicies",
      MUTATION("ApplyConfiguration", "applyConfiguration", "{'data': {'a': 'b'}}"),
      AT("applyConfiguration") "\"{'data': {'a': 'b'}}\": must evaluate to Object but got "
                               "map(string, map(string, string))" },
    { "admissionregistration.k8s.io", "mutatingadmissionpolicies",
      MUTATION("ApplyConfiguration", "applyConfiguration", "Object.spec{}"),
      AT("applyConfiguration") "\"Object.spec{}\": must evaluate to Object but got Object.spec" },
    { "admissionregistration.k8s.io", "mutatingadmissionpolicies",
      "{\"spec\":{\"matchConditions\":[{\"name\":\"a\",\"expression\":\"1\"}],\"variables\":[{"
      "\"name\":\"n\",\"expression\":\"y.x\"}]}}",
      "spec.matchConditions[0].expression: Invalid value: \"1\": must evaluate to bool but got "
      "int\nspec.variables[0].expression: Invalid value: \"y.x\": " UNDECLARED("y") },
    { "resource.k8s.io", "deviceclasses",
      "{\"spec\":{\"selectors\":[{\"cel\":{\"expression\":\"device.driver == 'd' && "
      "device.attributes['d'].ok\"}}]}}",
      "" },
    { "resource.k8s.io", "resourceclaims",
      "{\"spec\":{\"devices\":{\"requests\":[{\"exactly\":{\"selectors\":[{\"cel\":{\"expression\":"
      "\"1\"}}]}}]}}}",
      "spec.devices.requests[0].exactly.selectors[0].cel.expression: Invalid value: \"1\": must "
      "evaluate "
      "to bool or the unknown type, not int" },
    { "resource.k8s.io", "resourceclaimtemplates",
      "{\"spec\":{\"spec\":{\"devices\":{\"requests\":[{\"firstAvailable\":[{\"selectors\":[{"
      "\"cel\":"
      "{\"expression\":\"device.foo == 1\"}}]}]}]}}}}",
      "spec.spec.devices.requests[0].firstAvailable[0].selectors[0].cel.expression: Invalid value: "
      "\"device.foo == 1\": compilation failed: ERROR: <input>:1:7: undefined field 'foo'\n | "
      "device.foo "
      "== 1\n | ......^" },
    { "apps", "deployments", "{\"spec\":{\"validations\":[{\"expression\":\"nonsense(\"}]}}", "" },
};

static void checks(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a;
        arena_init(&a);
        struct kind_resource r = { .group = str_of(rows[i].group),
                                   .plural = str_of(rows[i].plural) };
        struct value obj = parse(&a, rows[i].object);
        struct field_errors e = FIELD_ERRORS_INIT(&a), again = FIELD_ERRORS_INIT(&a);
        expression_check(&e, &r, &obj, NULL);
        struct str got = faults_of(&a, &e);
        if (!str_eq(got, str_of(rows[i].faults)))
            fail_msg("%zu: want %s\ngot  " STR_FMT, i, rows[i].faults, STR_ARG(got));
        expression_check(&again, &r, &obj, &obj); /* what was accepted once stays */
        assert_int_equal(again.n, 0);
        arena_done(&a);
    }
}

/* Faults that others have found keep their order, and ours come where they belong. */
static void faults_come_in_their_place(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct kind_resource r = { .group = STR("admissionregistration.k8s.io"),
                               .plural = STR("validatingadmissionpolicies") };
    struct value obj = parse(&a, "{\"spec\":{\"matchConditions\":[{\"name\":\"x y\",\"expression\":"
                                 "\"1\"},{\"name\":\"a\",\"expression\":\"2\"}],\"variables\":[{"
                                 "\"name\":\"1\",\"expression\":\"y.x\"}]}}");
    struct field_errors e = FIELD_ERRORS_INIT(&a);
    static const char *const theirs[] = { "metadata.name", "spec.failurePolicy",
                                          "spec.matchConditions[0].name", "spec.variables[0].name",
                                          "spec.validations" };
    static const char *const want[] = {
        "metadata.name",
        "spec.failurePolicy",
        "spec.matchConditions[0].expression",
        "spec.matchConditions[0].name",
        "spec.matchConditions[1].expression",
        "spec.variables[0].name",
        "spec.variables[0].expression",
        "spec.validations",
    };
    for (size_t i = 0; i < ARRAY_LEN(theirs); i++) {
        struct field_path path = { .name = str_of(theirs[i]) };
        field_required(&e, &path, "");
    }
    expression_check(&e, &r, &obj, NULL);
    const struct err_cause *c = e.first;
    for (size_t i = 0; i < ARRAY_LEN(want); i++, c = c->next) {
        assert_non_null(c);
        if (!str_eq(c->field, str_of(want[i])))
            fail_msg("%s, not " STR_FMT, want[i], STR_ARG(c->field));
    }
    assert_null(c);
    assert_int_equal(e.n, ARRAY_LEN(want));
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(checks),
                                        cmocka_unit_test(faults_come_in_their_place) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
