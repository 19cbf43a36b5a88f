/* What policies refuse, say and change, by their bindings, params and conditions. */
#include "admission/suite_admission.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "admission/dynamic/scope.h"
#include "admission/policy/type_check.h"
#include "auth/user.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/json.h"

#define Q "\\\"" /* a quote inside of an expression */

#define RULES(resources)                                                               \
    "'matchConstraints':{'namespaceSelector':{},'objectSelector':{},'resourceRules':[" \
    "{'apiGroups':['','apps'],'apiVersions':['v1'],'operations':['CREATE','UPDATE'],"  \
    "'resources':[" resources "]}]}"
#define VALIDATING(name, spec)                                   \
    {                                                            \
        STR("validatingadmissionpolicies"), STR(name),           \
            "{'metadata':{'name':'" name "'},'spec':{" spec "}}" \
    }
#define BINDING(name, spec)                                                              \
    {                                                                                    \
        STR("validatingadmissionpolicybindings"), STR(name),                             \
            "{'metadata':{'name':'" name "'},'spec':{'policyName':'" name "'," spec "}}" \
    }
#define MUTATING(name, spec)                                     \
    {                                                            \
        STR("mutatingadmissionpolicies"), STR(name),             \
            "{'metadata':{'name':'" name "'},'spec':{" spec "}}" \
    }
#define MUTATING_BINDING(name, spec)                                                    \
    {                                                                                   \
        STR("mutatingadmissionpolicybindings"), STR(name),                              \
            "{'metadata':{'name':'" name "'},'spec':{'policyName':'" name "'" spec "}}" \
    }
#define NAMESPACE                                                                       \
    {                                                                                   \
        STR("namespaces"), STR("ns"),                                                   \
            "{'metadata':{'name':'ns','labels':{'tier':'gold'}},'spec':{},'status':{}}" \
    }
#define DENY         "'validationActions':['Deny']"
#define CHECK(text)  "'validations':[{'expression':'" text "'}]"
#define CONFIG(data) "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'c'}" data "}"
#define DATA(text)   CONFIG(",'data':{" text "}")
#define DENIED(policy)            \
    FORBIDDEN("configmaps \"c\"") \
    "ValidatingAdmissionPolicy '" policy "' with binding '" policy "' denied request: "

static const struct user ann = { .name = STR("ann") };

static void check(const struct suite_object *objects, size_t n_objects, const char *allowed,
                  const struct suite_row *rows, size_t n)
{
    const struct suite s = {
        .objects = objects, .n_objects = n_objects, .allowed = allowed, .user = &ann
    };
    suite_check(&s, rows, n);
}
#define RUN(objects, allowed, rows) \
    check(objects, ARRAY_LEN(objects), allowed, rows, ARRAY_LEN(rows))

/* ---- Validating ---- */

static void test_messages(void **state)
{
    (void)state;
    static const struct suite_object objects[] = {
        NAMESPACE,
        VALIDATING(
            "p", RULES("'configmaps'") ",'validations':["
                                       "{'expression':'object.data.a != " Q "bad" Q "'},"
                                       "{'expression':' object.data.a != " Q "worse" Q
                                       " ','message':' no \\n'},"
                                       "{'expression':'object.data.a.size() < 6','message':'long',"
                                       "'messageExpression':'" Q "is " Q " + object.data.a'},"
                                       "{'expression':'object.data.a != " Q "odd" Q
                                       "','message':'plain',"
                                       "'messageExpression':'object.data.missing'}]"),
        BINDING("p", DENY),
        /* Nobody has bound this one, and nobody has defined that policy. */
        VALIDATING("free", RULES("'configmaps'") "," CHECK("false")),
        BINDING("gone", DENY),
    };
    static const struct suite_row rows[] = {
        { "", "configmaps", DATA("'a':'good'") },
        { "", "secrets", CONFIG("") },
        { "", "configmaps", DATA("'a':'bad'"), NULL, NULL,
          DENIED("p") "failed expression: object.data.a != \"bad\"" },
        { "", "configmaps", DATA("'a':'worse'"), NULL, NULL, DENIED("p") "no" },
        { "", "configmaps", DATA("'a':'abcdefg'"), NULL, NULL, DENIED("p") "is abcdefg" },
        { "", "configmaps", DATA("'a':'odd'"), NULL, NULL, DENIED("p") "plain" },
        { "", "configmaps", CONFIG(""), NULL, NULL,
          DENIED("p") "expression 'object.data.a != \"bad\"' resulted in error: no such key: "
                      "data" },
        { "", "configmaps", DATA("'a':'bad'"), DATA("'a':'good'"), NULL,
          DENIED("p") "failed expression: object.data.a != \"bad\"" },
        { "", "configmaps", NULL, DATA("'a':'bad'") },
    };
    RUN(objects, NULL, rows);
}

static void test_actions(void **state)
{
    (void)state;
    static const struct suite_object objects[] = {
        NAMESPACE,
        VALIDATING("p", RULES("'configmaps'") "," CHECK("object.data.size() < 2")),
        BINDING("p", "'validationActions':['Warn','Audit']"),
        VALIDATING("q", RULES("'configmaps'") ",'failurePolicy':'Ignore'," CHECK(
                            "object.data.b == " Q
                            "x" Q) ",'auditAnnotations':["
                                   "{'key':'who','valueExpression':'request.userInfo.username'},"
                                   "{'key':'none','valueExpression':'null'},"
                                   "{'key':'broken','valueExpression':'object.data.missing'}]"),
        BINDING("q", DENY),
    };
    static const struct suite_row rows[] = {
        { "", "configmaps", DATA("'b':'x'"), .said = "q/who=ann\n" },
        { "", "configmaps", DATA("'a':'1','c':'2'"),
          .said = "! Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p': failed "
                  "expression: object.data.size() < 2\n"
                  "q/who=ann\n"
                  "validation.policy.admission.k8s.io/validation_failure="
                  "[{\"message\":\"failed expression: object.data.size() \\u003c 2\",\"policy\":"
                  "\"p\",\"binding\":\"p\",\"expressionIndex\":0,\"validationActions\":[\"Warn\","
                  "\"Audit\"]}]\n" },
    };
    RUN(objects, NULL, rows);
}

static void test_conditions(void **state)
{
    (void)state;
    static const struct suite_object objects[] = {
        NAMESPACE,
        VALIDATING(
            "p",
            RULES("'configmaps'") ",'matchConditions':["
                                  "{'name':'a','expression':'object.data.a == " Q "x" Q "'},"
                                  "{'name':'b','expression':'object.data.b == " Q "x" Q "'},"
                                  "{'name':'c','expression':'namespaceObject == null'}]," CHECK(
                                      "false")),
        BINDING("p", DENY),
    };
    static const struct suite_row rows[] = {
        { "", "configmaps", DATA("'a':'x','b':'x'"), NULL, NULL,
          DENIED("p") "failed expression: false" },
        { "", "configmaps", DATA("'a':'y','b':'x'") },
        { "", "configmaps", DATA("'b':'y'") }, /* an error, but another one says no */
        { "", "configmaps", DATA("'b':'x'"), NULL, NULL,
          DENIED("p") "expression 'object.data.a == \"x\"' resulted in error: no such key: a" },
        { "", "configmaps", DATA("'c':'x'"), NULL, NULL,
          DENIED("p") "[expression 'object.data.a == \"x\"' resulted in error: no such key: a, "
                      "expression 'object.data.b == \"x\"' resulted in error: no such key: b]" },
    };
    RUN(objects, NULL, rows);
}

static void test_variables_in_scope(void **state)
{
    (void)state;
    static const struct suite_object objects[] = {
        NAMESPACE,
        VALIDATING(
            "p",
            RULES(
                "'configmaps'") ",'variables':["
                                "{'name':'tier','expression':'namespaceObject.metadata.labels.tier'"
                                "},"
                                "{'name':'fits','expression':'variables.tier == object.data.tier'},"
                                "{'name':'broken','expression':'object.data.missing'}],"
                                "'validations':["
                                "{'expression':'variables.fits','messageExpression':'variables."
                                "tier'},"
                                "{'expression':'authorizer.requestResource.check(" Q "get" Q
                                ").allowed()',"
                                "'message':'may not get'},"
                                "{'expression':'!authorizer.group(" Q Q ").resource(" Q "pods" Q
                                ").name(" Q "x" Q ").check(" Q "get" Q
                                ").allowed()','message':'may'},"
                                "{'expression':'!has(object.data.b) || variables.broken == " Q Q
                                "'}]"),
        BINDING("p", DENY),
    };
    static const struct suite_row rows[] = {
        { "", "configmaps", DATA("'tier':'gold'") },
        { "", "configmaps", DATA("'tier':'tin'"), NULL, NULL, DENIED("p") "gold" },
        { "", "configmaps", DATA("'tier':'gold','b':''"), NULL, NULL,
          DENIED("p") "expression '!has(object.data.b) || variables.broken == \"\"' resulted in "
                      "error: composited variable \"broken\" fails to evaluate: no such key: "
                      "missing" },
    };
    RUN(objects, "get configmaps c;", rows);
    static const struct suite_row not_allowed[] = {
        { "", "configmaps", DATA("'tier':'gold'"), NULL, NULL, DENIED("p") "may not get" },
    };
    RUN(objects, NULL, not_allowed);
    static const struct suite_row both[] = {
        { "", "configmaps", DATA("'tier':'gold'"), NULL, NULL, DENIED("p") "may" },
    };
    RUN(objects, "get configmaps c;get pods x;", both);
}

#define PARAM(name, ns, labels, data)                                               \
    {                                                                               \
        STR("secrets"), STR(name),                                                  \
            "{'metadata':{'name':'" name "','namespace':'" ns "','labels':{" labels \
            "}},'data':{" data "}}"                                                 \
    }

static void test_params(void **state)
{
    (void)state;
    static const struct suite_object objects[] = {
        NAMESPACE,
        PARAM("one", "ns", "'use':'yes'", "'max':'MQ=='"),
        PARAM("two", "ns", "'use':'yes'", "'max':'Mg=='"),
        PARAM("two", "other", "'use':'yes'", "'max':'Mw=='"),
        VALIDATING("p",
                   RULES("'configmaps'") ",'paramKind':{'apiVersion':'v1','kind':'Secret'},"
                                         "'validations':[{'expression':"
                                         "'params == null || object.data.max != params.data.max',"
                                         "'messageExpression':'params.metadata.name'}]"),
        BINDING("p", DENY ",'paramRef':{'name':'two','parameterNotFoundAction':'Deny'}"),
        VALIDATING(
            "q",
            RULES(
                "'services'") ",'paramKind':{'apiVersion':'v1','kind':'Secret'},"
                              "'validations':[{'expression':'params.data.max != object.spec.type',"
                              "'messageExpression':'params.metadata.name'}]"),
        BINDING("q", DENY ",'paramRef':{'selector':{'matchLabels':{'use':'yes'}},"
                          "'parameterNotFoundAction':'Allow'}"),
        VALIDATING("r", RULES("'pods'") ",'paramKind':{'apiVersion':'x.io/v1','kind':'No'}," CHECK(
                            "true")),
        BINDING("r", DENY ",'paramRef':{'name':'two','parameterNotFoundAction':'Deny'}"),
    };
#define SERVICE(type) "{'metadata':{'name':'c'},'spec':{'type':'" type "'}}"
    static const struct suite_row rows[] = {
        { "", "configmaps", DATA("'max':'MQ=='") },
        { "", "configmaps", DATA("'max':'Mg=='"), NULL, NULL, DENIED("p") "two" },
        { "", "configmaps", DATA("'max':'Mw=='") },
        { "", "configmaps", DATA("'max':'MQ=='"), NULL, NULL,
          DENIED("p") "failed to configure binding: no params found for policy binding with "
                      "`Deny` parameterNotFoundAction",
          .ns = "empty" },
        { "", "services", SERVICE("MQ=="), NULL, NULL,
          FORBIDDEN("services \"c\"") "ValidatingAdmissionPolicy 'q' with binding 'q' denied "
                                      "request: one" },
        { "", "services", SERVICE("Mg=="), NULL, NULL,
          FORBIDDEN("services \"c\"") "ValidatingAdmissionPolicy 'q' with binding 'q' denied "
                                      "request: two" },
        { "", "services", SERVICE("Mw==") },
        { "", "pods", "{'metadata':{'name':'c'}}", NULL, NULL,
          FORBIDDEN("pods \"c\"") "ValidatingAdmissionPolicy 'r' denied request: failed to "
                                  "configure policy: failed to find resource referenced by "
                                  "paramKind: 'x.io/v1, Kind=No'" },
    };
    static const struct suite_object empty = { STR("namespaces"), STR("empty"),
                                               "{'metadata':{'name':'empty'}}" };
    struct suite_object all[ARRAY_LEN(objects) + 1];
    memcpy(all, objects, sizeof(objects));
    all[ARRAY_LEN(objects)] = empty;
    RUN(all, NULL, rows);
}

/* ---- What it may cost ---- */

#define TEN(x) x "," x "," x "," x "," x "," x "," x "," x "," x "," x
#define HUGE_LOOP                                                              \
    "[" TEN("1") "].all(a, [" TEN("1") "].all(b, [" TEN("1") "].all(c, [" TEN( \
        "1") "].all(d, "                                                       \
             "[" TEN("1") "].all(e, [" TEN("1") "].all(f, a + b + c + d + e + f > 0))))))"

static void test_expensive_expressions_end(void **state)
{
    (void)state;
    static const struct suite_object one[] = {
        NAMESPACE,
        VALIDATING("p", RULES("'configmaps'") ",'validations':[{'expression':'" HUGE_LOOP "'}]"),
        BINDING("p", DENY),
    };
    static const struct suite_row ended[] = {
        { "", "configmaps", DATA("'a':'b'"), NULL, NULL,
          DENIED("p") "expression '[1,1,1,1,1,1,1,1,1,1].all(a, [1,1,1,1,1,1,1,1,1,1].all(b, "
                      "[1,1,1,1,1,1,1,1,1,1].all(c, [1,1,1,1,1,1,1,1,1,1].all(d, "
                      "[1,1,1,1,1,1,1,1,1,1].all(e, [1,1,1,1,1,1,1,1,1,1].all(f, a + b + c + d "
                      "+ e + f > 0))))))' resulted in error: operation cancelled: actual cost "
                      "limit exceeded" },
    };
    RUN(one, NULL, ended);
    static const struct suite_object many[] = {
        NAMESPACE,
        VALIDATING("p", RULES("'configmaps'") ",'validations':[" TEN(
                            "{'expression':'" HUGE_LOOP "'}") ",{'expression':'" HUGE_LOOP "'}]"),
        BINDING("p", DENY),
    };
    static const struct suite_row spent[] = {
        { "", "configmaps", DATA("'a':'b'"), NULL, NULL,
          DENIED("p") "validation failed due to running out of cost budget, no further validation "
                      "rules will be run" },
    };
    RUN(many, NULL, spent);
}

/* Each needs the one before it, and the first is as deep as an expression may be. */
static struct value chain_of_variables(struct arena *a, size_t n)
{
    enum { DEPTH = 60 };
    struct value list = value_array();
    for (size_t i = 0; i < n; i++) {
        struct value one = value_object();
        autobuf text = { 0 };
        for (size_t k = 0; i == 0 && k < DEPTH; k++)
            buf_str_add(&text, STR("-(1 + "));
        if (i == 0)
            buf_byte(&text, '1');
        else
            buf_printf(&text, "variables.v%zu", i - 1);
        for (size_t k = 0; i == 0 && k < DEPTH; k++)
            buf_byte(&text, ')');
        value_put_new(a, &one, STR("name"), value_string(arena_printf(a, "v%zu", i)));
        value_put_new(a, &one, STR("expression"), value_string(arena_str(a, buf_str(&text))));
        value_put_item(a, &list, one);
    }
    return list;
}

/* 0, or the error of an expression that needs all of them. */
static int evaluate_chain(struct arena *a, size_t n, struct err *err)
{
    static const struct admission_cluster cluster = { 0 };
    const struct kind_resource *r = kind_stored_named(STR(""), STR("configmaps"));
    struct admission_request req = { .arena = a, .resource = r, .stored = r, .cluster = &cluster };
    const struct view view = { .resource = r, .type = r->type };
    const struct value request = value_object(), variables = chain_of_variables(a, n);
    const struct scope_plan *plan = scope_plan(a, 0, &variables, NULL);
    const struct scope_expression e =
        scope_compile_one(a, plan, STR(""), arena_printf(a, "variables.v%zu > -1000", n - 1));
    const struct scope_input in = { .req = &req, .view = &view, .request = &request };
    struct scope *s = scope_new(plan, &in, SCOPE_COST);
    struct cel_value v;
    int ret = scope_eval(s, &e, &v, err);
    scope_free(s);
    return ret;
}

static const size_t chains[] = { 1, 10, 100, 500, 1000, 2000 };
static int results[ARRAY_LEN(chains)];
static bool said_so[ARRAY_LEN(chains)];

static void *on_a_stack_of_its_own(void *arg)
{
    for (size_t i = 0; i < ARRAY_LEN(chains); i++) {
        struct arena a;
        arena_init(&a);
        struct err err = ERR_INIT(&a);
        results[i] = evaluate_chain(&a, chains[i], &err);
        said_so[i] = str_ends(err.msg, STR("operation cancelled: actual cost limit exceeded"));
        arena_done(&a);
    }
    return arg;
}

/* However many there are, a part of a worker's stack is enough. */
static void test_variables_that_need_each_other(void **state)
{
    (void)state;
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 2 << 20);
    assert_int_equal(pthread_create(&thread, &attr, on_a_stack_of_its_own, NULL), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    assert_int_equal(results[0], 0);
    assert_int_equal(results[1], 0);
    for (size_t i = 0; i < ARRAY_LEN(chains); i++)
        assert_true(results[i] == 0 || (results[i] == -ERR_INVALID && said_so[i]));
    assert_int_equal(results[ARRAY_LEN(chains) - 1], -ERR_INVALID);
}

/* ---- Mutating ---- */

/* Lists of lists that share their parts: small to hold, and too large to write down. */
static void test_results_that_grow(void **state)
{
    (void)state;
    enum { DOUBLED = 32 };
    struct arena a;
    autobuf text = { 0 };
    arena_init(&a);
    buf_printf(&text, "{'metadata':{'name':'p'},'spec':{" RULES(
                          "'configmaps'") ",'variables':[{'name':'v0','expression':'[1, 2, 3]'}");
    for (int i = 1; i <= DOUBLED; i++)
        buf_printf(&text, ",{'name':'v%d','expression':'[variables.v%d, variables.v%d]'}", i, i - 1,
                   i - 1);
    buf_printf(&text,
               "],'mutations':[{'patchType':'ApplyConfiguration','applyConfiguration':"
               "{'expression':'Object{data: {" Q "x" Q ": variables.v%d}}'}}]}}",
               DOUBLED);
    const struct suite_object objects[] = {
        NAMESPACE,
        { STR("mutatingadmissionpolicies"), STR("p"), str_cstr(&a, buf_str(&text)) },
        MUTATING_BINDING("p", ""),
    };
    static const struct suite_row rows[] = {
        { "", "configmaps", DATA("'a':'x'"), NULL, NULL,
          "policy 'p' with binding 'p' denied request: operation cancelled: actual cost limit "
          "exceeded" },
    };
    RUN(objects, NULL, rows);
    arena_done(&a);
}

#define APPLY(text) \
    "{'patchType':'ApplyConfiguration','applyConfiguration':{'expression':'" text "'}}"
#define PATCH(text)     "{'patchType':'JSONPatch','jsonPatch':{'expression':'" text "'}}"
#define CHANGES(list)   ",'reinvocationPolicy':'Never','mutations':[" list "]"
#define AGAIN(list)     ",'reinvocationPolicy':'IfNeeded','mutations':[" list "]"
#define REFUSED(policy) "policy '" policy "' with binding '" policy "' denied request: "

static void test_configurations_are_applied(void **state)
{
    (void)state;
    static const struct suite_object objects[] = {
        NAMESPACE,
        MUTATING("p", RULES("'configmaps'")
                          CHANGES(APPLY("Object{data: {" Q "one" Q ": " Q "1" Q "}}") "," APPLY(
                              "Object{metadata: Object.metadata{labels: {" Q "by" Q
                              ": request.userInfo.username, " Q "one" Q
                              ": string(object.data.one)}}}"))),
        MUTATING_BINDING("p", ""),
        MUTATING("q", RULES("'services'") CHANGES(
                          APPLY("Object{spec: Object.spec{ports: [Object.spec.ports{port: 80, "
                                "protocol: " Q "TCP" Q ", name: " Q "web" Q "}]}}"))),
        MUTATING_BINDING("q", ""),
    };
    static const struct suite_row rows[] = {
        { "", "configmaps", DATA("'a':'b'"), NULL,
          "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'c','labels':{'by':'ann','one':"
          "'1'}},'data':{'a':'b','one':'1'}}" },
        { "", "secrets", "{'metadata':{'name':'c'}}" },
        { "", "configmaps", NULL, DATA("'a':'b'") },
    };
    RUN(objects, NULL, rows);
}

static void test_faults_of_configurations(void **state)
{
    (void)state;
    static const struct {
        const char *expression, *why;
    } cases[] = {
        { "Object{spec: Object.spec{selector: Object.spec.wrong{}}}",
          "type mismatch: unexpected type name \"Object.spec.wrong\", expected "
          "\"Object.spec.selector\", which matches field name path from root Object type" },
        { "Object{spec: Object.spec{nothing: 1}}",
          "error applying patch: failed to convert patch object to typed object: .spec.nothing: "
          "field not declared in schema" },
        { "Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {" Q "a" Q ": " Q
          "b" Q "}}}}",
          "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or "
          "structs: .spec.selector" },
        { "Object{spec: Object.spec{replicas: object.spec.missing}}",
          "expression 'Object{spec: Object.spec{replicas: object.spec.missing}}' resulted in "
          "error: no such key: missing" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a;
        arena_init(&a);
        const char *policy =
            str_cstr(&a, arena_printf(&a,
                                      "{'metadata':{'name':'p'},'spec':{" RULES("'deployments'")
                                          CHANGES(APPLY("%s")) "}}",
                                      cases[i].expression));
        const struct suite_object objects[] = {
            NAMESPACE,
            { STR("mutatingadmissionpolicies"), STR("p"), policy },
            MUTATING_BINDING("p", ""),
        };
        const struct suite_row rows[] = {
            { "apps", "deployments", "{'metadata':{'name':'c'},'spec':{}}", NULL, NULL,
              str_cstr(&a, arena_printf(&a, REFUSED("p") "%s", cases[i].why)) },
        };
        RUN(objects, NULL, rows);
        arena_done(&a);
    }
}

static void test_patches(void **state)
{
    (void)state;
    static const struct suite_object objects[] = {
        NAMESPACE,
        MUTATING("p", RULES("'configmaps'") CHANGES(
                          PATCH("[JSONPatch{op: " Q "test" Q ", path: " Q "/data/a" Q ", value: " Q
                                "x" Q "}, JSONPatch{op: " Q "add" Q ", path: " Q "/data/" Q
                                " + jsonpatch.escapeKey(" Q "b/c" Q "), value: " Q "y" Q "}]"))),
        MUTATING_BINDING("p", ""),
        MUTATING("q", RULES("'secrets'") CHANGES(
                          PATCH("[JSONPatch{op: " Q "remove" Q ", path: " Q "/data/a" Q "}]"))),
        MUTATING_BINDING("q", ""),
        MUTATING("r", RULES("'services'") ",'failurePolicy':'Ignore'" CHANGES(
                          PATCH("[JSONPatch{op: " Q "remove" Q ", path: " Q "/data/a" Q "}]"))),
        MUTATING_BINDING("r", ""),
    };
    static const struct suite_row rows[] = {
        { "", "configmaps", DATA("'a':'x'"), NULL, DATA("'a':'x','b/c':'y'") },
        { "", "configmaps", DATA("'a':'z'") },
        { "", "secrets", "{'metadata':{'name':'c'}}", NULL, NULL,
          REFUSED("q") "JSON Patch: remove operation does not apply: doc is missing path: "
                       "\"/data/a\": missing value" },
        { "", "services", "{'metadata':{'name':'c'},'spec':{}}" },
    };
    RUN(objects, NULL, rows);
}

#define COUNT(field)                                                                        \
    APPLY("Object{data: {" Q field Q ": string(int(object.?data." field ".orValue(" Q "0" Q \
          ")) + 1)}}")

/* One that wants it is asked again, once, if it or a later one has changed something. */
static void test_second_round(void **state)
{
    (void)state;
    static const struct suite_object objects[] = {
        NAMESPACE,
        MUTATING("p", RULES("'configmaps'") AGAIN(COUNT("p"))),
        MUTATING_BINDING("p", ""),
        MUTATING("q", RULES("'configmaps'") CHANGES(COUNT("q"))),
        MUTATING_BINDING("q", ""),
    };
    static const struct suite_row rows[] = {
        { "", "configmaps", DATA("'a':'x'"), NULL, DATA("'a':'x','p':'2','q':'1'") },
    };
    RUN(objects, NULL, rows);
}

/* ---- Types ---- */

static const struct kind_type *by_resource(void *arg, struct str group, struct str version,
                                           struct str plural)
{
    const struct kind_version *v = kind_version_find(group, version);
    const struct kind_resource *r = v ? kind_resource_find(v, plural) : NULL;
    (void)arg;
    return r ? r->type : NULL;
}

static const struct kind_type *by_kind(void *arg, struct str api_version, struct str kind)
{
    (void)arg;
    return kind_find(api_version, kind);
}

static const char *warnings_of(struct arena *a, const char *resources, const char *expression)
{
    static const struct type_check_kinds kinds = { by_resource, by_kind, NULL };
    struct str text = arena_printf(
        a,
        "{\"spec\":{\"matchConstraints\":{\"resourceRules\":[{\"apiGroups\":[\"\",\"apps\"],"
        "\"apiVersions\":[\"v1\"],\"resources\":[%s]}]},\"paramKind\":{\"apiVersion\":\"v1\","
        "\"kind\":\"ConfigMap\"},\"variables\":[{\"name\":\"n\",\"expression\":"
        "\"object.metadata.name\"}],\"validations\":[{\"expression\":\"%s\"}]}}",
        resources, expression);
    struct value policy;
    struct err err = ERR_INIT(a);
    assert_int_equal(json_read(a, text, NULL, &policy, &err), 0);
    struct value found = type_check(a, &policy, &kinds);
    autobuf out = { 0 };
    value_each_item (it, &found)
        buf_printf(&out, STR_FMT ": " STR_FMT, STR_ARG(value_text(it, "fieldRef")),
                   STR_ARG(value_text(it, "warning")));
    return str_cstr(a, buf_str(&out));
}

static void test_types(void **state)
{
    (void)state;
    static const struct {
        const char *resources, *expression, *warnings;
    } cases[] = {
        { "\"deployments\"", "object.spec.replicas > 1 && variables.n != ''", "" },
        { "\"deployments\"", "object.spec.template.spec.containers.all(c, has(c.image))", "" },
        { "\"deployments\"", "object.metadata.labels['a'] == params.data['b']", "" },
        { "\"pods\"", "object.spec.containers[0].resources.limits['cpu'] == 1", "" },
        { "\"services\"", "object.spec.ports[0].targetPort == 'x'", "" },
        { "\"*\",\"pods/*\"", "object.foo", "" },
        { "\"nothing\"", "object.foo", "" },
        { "\"deployments\"", "object.foo == 1",
          "spec.validations[0].expression: apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined "
          "field 'foo'\n | object.foo == 1\n | ......^\n" },
        { "\"pods\",\"deployments\"", "variables.n == 1",
          "spec.validations[0].expression: /v1, Kind=Pod: ERROR: <input>:1:13: found no matching "
          "overload for '_==_' applied to '(string, int)'\n | variables.n == 1\n | ............^\n"
          "\napps/v1, Kind=Deployment: ERROR: <input>:1:13: found no matching "
          "overload for '_==_' applied to '(string, int)'\n | variables.n == 1\n | "
          "............^\n" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a;
        arena_init(&a);
        assert_string_equal(warnings_of(&a, cases[i].resources, cases[i].expression),
                            cases[i].warnings);
        arena_done(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_actions),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_variables_in_scope),
        cmocka_unit_test(test_params),
        cmocka_unit_test(test_expensive_expressions_end),
        cmocka_unit_test(test_variables_that_need_each_other),
        cmocka_unit_test(test_results_that_grow),
        cmocka_unit_test(test_configurations_are_applied),
        cmocka_unit_test(test_faults_of_configurations),
        cmocka_unit_test(test_patches),
        cmocka_unit_test(test_second_round),
        cmocka_unit_test(test_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
