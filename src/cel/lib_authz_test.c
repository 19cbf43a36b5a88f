/* The authorizer: what is asked, and what becomes of the answer, beside upstream. */
#include "base/idiom.h"
#include "cel/check_test.h"

/* Allows `get`, cannot answer `fail`, and tells in the reason what it was asked. */
static void decide(const struct cel_authorizer *self, struct arena *a,
                   const struct cel_authz_check *check, struct cel_authz_decision *ret)
{
    (void)self;
    struct str user = STR("me");
    if (check->service_account.n)
        user = arena_printf(a, "system:serviceaccount:" STR_FMT ":" STR_FMT,
                            STR_ARG(check->service_account_namespace),
                            STR_ARG(check->service_account));
    ret->allowed = str_eq(check->verb, STR("get"));
    ret->error = str_eq(check->verb, STR("fail")) ? STR("cannot tell") : STR("");
    ret->reason = arena_printf(a,
                               STR_FMT " %s " STR_FMT "/" STR_FMT "/" STR_FMT " " STR_FMT
                                       "/" STR_FMT " " STR_FMT " " STR_FMT,
                               STR_ARG(check->verb), check->is_resource ? "true" : "false",
                               STR_ARG(check->group), STR_ARG(check->resource),
                               STR_ARG(check->subresource), STR_ARG(check->namespace),
                               STR_ARG(check->name), STR_ARG(check->path), STR_ARG(user));
}

static const struct cel_authorizer authorizer = { decide };
static const struct cel_authz_check deployment = {
    .is_resource = true,
    .group = { "apps", 4 },
    .resource = { "deployments", 11 },
    .subresource = { "status", 6 },
    .namespace = { "prod", 4 },
    .name = { "p", 1 },
};

static struct scene *authz_scene(void)
{
    struct scene *c = scene_new();
    c->variables[4] = (struct cel_variable){ STR("authorizer"), &cel_authorizer };
    c->values[4] = cel_of_authorizer(&arena, &authorizer);
    c->variables[5] = (struct cel_variable){ STR("authorizer.requestResource"),
                                             &cel_request_resource_authorizer };
    c->values[5] = cel_of_request_resource(&arena, &authorizer, &deployment);
    return c;
}

static const struct answer_case checks_cases[] = {
    { "authorizer.path('/healthz').check('get').allowed()", "true", 350003 },
    { "authorizer.path('/healthz').check('post').allowed()", "false", 350003 },
    { "authorizer.path('/healthz').check('get').reason()", "get false // / /healthz me", 350003 },
    { "authorizer.path('').check('get').allowed()", "! path must not be empty", 350003 },
    { "authorizer.path('  ')", "! path must not be empty", 2 },
    { "authorizer.group('').resource('pods').check('get').reason()", "get true /pods/ /  me",
      350004 },
    { "authorizer.group('apps').resource('deployments').check('get').reason()",
      "get true apps/deployments/ /  me", 350004 },
    { "authorizer.group('apps').resource('deployments').subresource('status').check('get')."
      "reason()",
      "get true apps/deployments/status /  me", 350005 },
    { "authorizer.group('apps').resource('deployments').namespace('prod').check('get').reason("
      ")",
      "get true apps/deployments/ prod/  me", 350005 },
    { "authorizer.group('apps').resource('deployments').name('web').check('get').reason()",
      "get true apps/deployments/ /web  me", 350005 },
    { "authorizer.group('apps').resource('deployments').namespace('prod').name('web')."
      "subresource('scale').check('update').reason()",
      "update true apps/deployments/scale prod/web  me", 350007 },
    { "authorizer.group('apps').resource('deployments').namespace('a').namespace('b').check('"
      "get').reason()",
      "get true apps/deployments/ b/  me", 350006 },
    { "authorizer.group('apps').resource('').check('get').reason()", "! resource must not be empty",
      350004 },
    { "authorizer.group('apps').resource('deployments').check('').reason()",
      " true apps/deployments/ /  me", 350004 },
    { "authorizer.group('apps').resource('deployments').check('list').allowed()", "false", 350004 },
    { "authorizer.requestResource.check('get').reason()",
      "get true apps/deployments/status prod/p  me", 350002 },
    { "authorizer.requestResource.check('update').allowed()", "false", 350002 },
    { "authorizer.requestResource.name('other').check('get').reason()",
      "get true apps/deployments/status prod/other  me", 350003 },
    { "authorizer.requestResource.namespace('other').subresource('').check('get').reason()",
      "get true apps/deployments/ other/p  me", 350004 },
    { "authorizer.serviceAccount('prod', 'robot').path('/x').check('get').reason()",
      "get false // / /x system:serviceaccount:prod:robot", 350004 },
    { "authorizer.serviceAccount('prod', "
      "'robot').group('').resource('pods').check('get').reason()",
      "get true /pods/ /  system:serviceaccount:prod:robot", 350005 },
    { "authorizer.serviceAccount('Prod', 'robot').path('/x').check('get').reason()",
      "! Invalid service account namespace", 350004 },
    { "authorizer.serviceAccount('prod', 'Ro bot')", "! Invalid service account name", 2 },
    { "authorizer.serviceAccount('', 'robot')", "! Invalid service account namespace", 2 },
    { "authorizer.serviceAccount('prod', '')", "! Invalid service account name", 2 },
    { "authorizer.path('/x').check('fail').allowed()", "false", 350003 },
    { "authorizer.path('/x').check('fail').errored()", "true", 350003 },
    { "authorizer.path('/x').check('fail').error()", "cannot tell", 350003 },
    { "authorizer.path('/x').check('fail').reason()", "fail false // / /x me", 350003 },
    { "authorizer.path('/x').check('get').errored()", "false", 350003 },
    { "authorizer.path('/x').check('get').error()", "", 350003 },
    { "authorizer.group('').resource('pods').fieldSelector('spec.nodeName=n').check('get')."
      "allowed()",
      "true", 350416 },
    { "authorizer.group('').resource('pods').labelSelector('app=x').check('get').allowed()", "true",
      350165 },
    { "authorizer.group('').resource('pods').labelSelector('app in (x, "
      "y),!z').check('get').reason()",
      "get true /pods/ /  me", 350416 },
    { "authorizer.group('').resource('pods').labelSelector('=').check('get').allowed()", "true",
      350065 },
    { "authorizer.group('').resource('pods').fieldSelector('a b c').check('get').allowed()", "true",
      350165 },
    { "authorizer.path('/x').check('get').allowed() && "
      "authorizer.path('/y').check('put').allowed()",
      "false", 700006 },
    { "authorizer.path('/x').check('put').allowed() || "
      "authorizer.path('/y').check('get').allowed()",
      "true", 700006 },
    { "authorizer.path(1)", "! 1:16: found no matching overload for 'path' applied to "
                            "'kubernetes.authorization.Authorizer.(int)'" },
    { "authorizer.resource('pods')", "! 1:20: found no matching overload for 'resource' applied to "
                                     "'kubernetes.authorization.Authorizer.(string)'" },
    { "authorizer.group('apps').check('get')",
      "! 1:31: found no matching overload for 'check' applied to "
      "'kubernetes.authorization.GroupCheck.(string)'" },
    { "authorizer.group('apps').resource('d').path('/x')",
      "! 1:44: found no matching overload for 'path' applied to "
      "'kubernetes.authorization.ResourceCheck.(string)'" },
    { "authorizer.path('/x').namespace('a')",
      "! 1:32: found no matching overload for 'namespace' applied to "
      "'kubernetes.authorization.PathCheck.(string)'" },
    { "authorizer.path('/x').allowed()", "! 1:30: found no matching overload for 'allowed' "
                                         "applied to 'kubernetes.authorization.PathCheck.()'" },
    { "authorizer.check('get')", "! 1:17: found no matching overload for 'check' applied to "
                                 "'kubernetes.authorization.Authorizer.(string)'" },
    { "authorizer.requestResource.group('a')",
      "! 1:33: found no matching overload for 'group' applied to "
      "'kubernetes.authorization.ResourceCheck.(string)'" },
    { "authorizer.group('apps').resource(s).check(s).allowed()", "false", 350006 },
    { "authorizer == authorizer", "! no such overload", 3 },
    { "type(authorizer)", "kubernetes.authorization.Authorizer", 2 },
    { "type(authorizer.path('/x'))", "kubernetes.authorization.PathCheck", 3 },
    { "type(authorizer.group('x'))", "kubernetes.authorization.GroupCheck", 3 },
    { "type(authorizer.requestResource)", "kubernetes.authorization.ResourceCheck", 2 },
    { "type(authorizer.path('/x').check('get'))", "kubernetes.authorization.Decision", 350003 },
    { "type(authorizer.path('/x').check('get')) == kubernetes.authorization.Decision",
      "! 1:45: undeclared reference to 'kubernetes' (in container '')" },
    { "authorizer.foo",
      "! 1:11: unexpected failed resolution of 'kubernetes.authorization.Authorizer'" },
    { "authorizer.requestResource.foo",
      "! 1:27: unexpected failed resolution of 'kubernetes.authorization.ResourceCheck'" },
    { "string(authorizer)", "! 1:7: found no matching overload for 'string' applied to "
                            "'(kubernetes.authorization.Authorizer)'" },
};

static void test_checks(void **state)
{
    (void)state;
    check_in_scene(authz_scene(), checks_cases, ARRAY_LEN(checks_cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE_TEST(test_checks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
