/* What an expression may name in each environment, and of which type it then is. */
#include "expression/expression_env.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/idiom.h"

static struct arena arena;

/* The type of an expression, or "!" and the first line of what is wrong. */
static const char *type_of(const struct cel_env *env, const char *expression)
{
    const struct cel_program *p;
    struct err err = ERR_INIT(&arena);
    if (cel_compile(&arena, env, str_of(expression), &p, &err) == 0)
        return str_cstr(&arena, cel_type_text(&arena, cel_program_type(p)));
    struct str line = err.msg;
    line = str_cut(&line, '\n');
    ptrdiff_t at = str_find(str_skip(line, 7), ' '); /* behind "ERROR: <input>:1:1:" */
    return str_cstr(&arena,
                    arena_printf(&arena, "!" STR_FMT, STR_ARG(str_skip(line, 7 + (size_t)at))));
}

struct row {
    const char *expression, *type;
};

static void check(const struct cel_env *env, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *got = type_of(env, rows[i].expression);
        if (strcmp(got, rows[i].type) != 0)
            fail_msg("%s: %s", rows[i].expression, got);
    }
}

#define UNKNOWN(name)  "! undeclared reference to '" name "' (in container '')"
#define NO_FIELD(name) "! undefined field '" name "'"

static void the_request_is_typed(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "object", "dyn" },
        { "object.spec.anything[0]", "dyn" },
        { "oldObject == null", "bool" },
        { "request", "kubernetes.AdmissionRequest" },
        { "request.name + request.namespace + request.operation", "string" },
        { "request.kind.group + request.kind.version + request.kind.kind", "string" },
        { "request.resource.resource", "string" },
        { "request.requestKind == request.kind", "bool" },
        { "request.requestResource == request.resource", "bool" },
        { "request.subResource + request.requestSubResource", "string" },
        { "request.dryRun", "bool" },
        { "request.options", "dyn" },
        { "request.userInfo.username + request.userInfo.uid", "string" },
        { "request.userInfo.groups", "list(string)" },
        { "request.userInfo.extra", "map(string, list(string))" },
        { "request.resource.kind", NO_FIELD("kind") },
        { "request.kind.resource", NO_FIELD("resource") },
        { "request.user", NO_FIELD("user") },
        { "request.object", NO_FIELD("object") }, /* it is a variable of its own */
    };
    check(expression_env(&arena, 0, NULL), rows, ARRAY_LEN(rows));
}

static void the_namespace_is_typed(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "namespaceObject", "kubernetes.Namespace" },
        { "namespaceObject.metadata.name", "string" },
        { "namespaceObject.metadata.labels", "map(string, string)" },
        { "namespaceObject.metadata.annotations['a']", "string" },
        { "namespaceObject.metadata.creationTimestamp", "timestamp" },
        { "namespaceObject.metadata.generation", "int" },
        { "namespaceObject.metadata.finalizers", "list(string)" },
        { "namespaceObject.metadata.UID", "string" }, /* upstream's spelling */
        { "namespaceObject.metadata.uid", NO_FIELD("uid") },
        { "namespaceObject.metadata.managedFields", NO_FIELD("managedFields") },
        { "namespaceObject.spec.finalizers", "list(string)" },
        { "namespaceObject.status.phase", "string" },
        { "namespaceObject.status.conditions.map(c, c.lastTransitionTime)", "list(timestamp)" },
        { "namespaceObject.kind", NO_FIELD("kind") },
    };
    check(expression_env(&arena, 0, NULL), rows, ARRAY_LEN(rows));
}

/* What a policy did not ask for is not there. */
static void flags_add_variables(void **state)
{
    (void)state;
    static const struct {
        unsigned flag;
        const char *name, *type;
    } rows[] = {
        { EXPRESSION_PARAMS, "params", "dyn" },
        { EXPRESSION_AUTHORIZER, "authorizer", "kubernetes.authorization.Authorizer" },
    };
    const struct cel_type *own = cel_type_object(
        &arena, STR("own"), (struct cel_field[]){ { .type = &cel_int, .name = STR("n") } }, 1);
    for (unsigned flags = 0; flags < 8; flags++) {
        for (int has_own = 0; has_own < 2; has_own++) {
            const struct cel_env *env = expression_env(&arena, flags, has_own ? own : NULL);
            for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const char *got = type_of(env, rows[i].name);
                if (flags & rows[i].flag)
                    assert_string_equal(got, rows[i].type);
                else
                    assert_int_equal(got[0], '!');
            }
            const char *variable = type_of(env, "variables.n"), *patch = type_of(env, "Object{}");
            assert_string_equal(variable, has_own ? "int" : UNKNOWN("variables"));
            assert_int_equal(patch[0] != '!', (flags & EXPRESSION_PATCHES) != 0);
            /* The first ones stand where the enum says. */
            assert_true(str_eq(env->variables[EXPRESSION_OBJECT].name, STR("object")));
            assert_true(str_eq(env->variables[EXPRESSION_OLD_OBJECT].name, STR("oldObject")));
            assert_true(str_eq(env->variables[EXPRESSION_REQUEST].name, STR("request")));
            assert_true(str_eq(env->variables[EXPRESSION_NAMESPACE].name, STR("namespaceObject")));
        }
    }
}

static void an_authorizer_is_asked(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "authorizer.group('').resource('pods').check('get').allowed()", "bool" },
        { "authorizer.path('/x').check('get').reason()", "string" },
        { "authorizer.requestResource.check('delete').allowed()", "bool" },
    };
    check(expression_env(&arena, EXPRESSION_AUTHORIZER, NULL), rows, ARRAY_LEN(rows));
}

/* A configuration may have any field, an operation of a patch only its four. */
static void patches_are_made_of_open_objects(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "Object{}", "Object" },
        { "Object{spec: Object.spec{replicas: 3}}", "Object" },
        { "Object.spec.template{any: 'thing'}", "Object.spec.template" },
        { "Object{spec: object.spec}", "Object" },
        { "JSONPatch{op: 'add', path: '/x', value: 1}", "JSONPatch" },
        { "JSONPatch{op: 'move', from: '/a', path: '/b'}", "JSONPatch" },
        { "[JSONPatch{op: 'remove', path: '/x'}]", "list(JSONPatch)" },
        { "jsonpatch.escapeKey('a/b')", "string" },
    };
    const struct cel_env *env = expression_env(&arena, EXPRESSION_PATCHES, NULL);
    check(env, rows, ARRAY_LEN(rows));
    static const char *const bad[] = {
        "JSONPatch{op: 1}",      "JSONPatch{path: object.metadata.labels.size()}",
        "JSONPatch{other: 'x'}", "Objects{}",
        "JSONPatch.spec{}",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(type_of(env, bad[i])[0], '!');
}

static void a_device_is_typed(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "device.driver", "string" },
        { "device.attributes['example.com']", "map(string, dyn)" },
        { "device.attributes['example.com'].size == 3", "bool" },
        { "device.capacity['example.com'].memory.compareTo(quantity('1Gi')) >= 0", "bool" },
        { "device.allowMultipleAllocations", "bool" },
        { "device.name", NO_FIELD("name") },
        { "object", UNKNOWN("object") },
        { "request", UNKNOWN("request") },
    };
    check(expression_device_env(&arena), rows, ARRAY_LEN(rows));
}

static void variables_become_known(void **state)
{
    (void)state;
    struct expression_variables *v = expression_variables(&arena, 5);
    const struct cel_env *env = expression_env(&arena, 0, expression_variables_type(v));
    static const struct row before[] = {
        { "variables.n", NO_FIELD("n") },
        { "variables", "kubernetes.variables" },
    };
    check(env, before, ARRAY_LEN(before));
    expression_variables_add(v, STR("n"), &cel_int);
    expression_variables_add(v, STR("all"), cel_type_list(&arena, &cel_string));
    expression_variables_add(v, STR("q"), &cel_quantity);
    expression_variables_add(v, STR("n"), &cel_string); /* the first counts */
    static const struct row after[] = {
        { "variables.n + 1", "int" },
        { "variables.all[0]", "string" },
        { "variables.q", "dyn" },
        { "variables.m", NO_FIELD("m") },
    };
    check(env, after, ARRAY_LEN(after));
    assert_int_equal(expression_variables_find(v, STR("all")), 1);
    assert_true(expression_variables_find(v, STR("m")) == SIZE_MAX);
}

/* Each is a list of the one before it. */
static void variables_in_variables(void **state)
{
    (void)state;
    enum { N = 5000 };
    struct expression_variables *v = expression_variables(&arena, N);
    const struct cel_env *env = expression_env(&arena, 0, expression_variables_type(v));
    expression_variables_add(v, STR("v0"), &cel_int);
    for (int i = 1; i < N; i++) {
        const struct cel_program *p;
        struct err err = ERR_INIT(&arena);
        assert_int_equal(
            cel_compile(&arena, env, arena_printf(&arena, "[variables.v%d]", i - 1), &p, &err), 0);
        expression_variables_add(v, arena_printf(&arena, "v%d", i), cel_program_type(p));
    }
    assert_string_equal(type_of(env, "variables.v2"), "list(list(int))");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_request_is_typed),
        cmocka_unit_test(the_namespace_is_typed),
        cmocka_unit_test(flags_add_variables),
        cmocka_unit_test(an_authorizer_is_asked),
        cmocka_unit_test(patches_are_made_of_open_objects),
        cmocka_unit_test(a_device_is_typed),
        cmocka_unit_test(variables_become_known),
        cmocka_unit_test(variables_in_variables),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_done(&arena);
    return failed;
}
