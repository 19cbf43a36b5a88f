/* webhook_test.c - what a request is matched by, how it is shown, and what an answer must be:
 * match.h, view.h, review.h, hook.h. Objects are JSON with single quotes. */
#include "admission/webhook/review.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "admission/dynamic/match.h"
#include "admission/webhook/hook.h"
#include "base/idiom.h"
#include "base/json.h"

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static struct str requoted(const char *text, char from, char to)
{
    char *copy = arena_dup(&arena, text, strlen(text) + 1);
    for (char *p = copy; *p; p++)
        *p = *p == from ? to : *p;
    return str_of(copy);
}

static const struct value *tree(const char *text)
{
    struct err err = ERR_INIT(&arena);
    struct value *v = arena_new(&arena, struct value);
    if (!text)
        return NULL;
    if (json_read(&arena, requoted(text, '\'', '"'), NULL, v, &err) < 0)
        fail_msg("%s: " STR_FMT, text, STR_ARG(err.msg));
    return v;
}

static const char *shown(const struct value *v)
{
    autobuf out = { 0 };
    if (!v)
        return "";
    json_write(&out, v);
    return requoted(str_cstr(&arena, buf_str(&out)), '"', '\'').p;
}

/* ---- A cluster with one namespace, and the versions of Deployments ---- */

static int read_one(void *arg, struct str group, struct str plural, struct str ns, struct str name,
                    struct value *ret, struct err *err)
{
    (void)arg, (void)group, (void)ns, (void)err;
    if (!str_eq(plural, STR("namespaces")) || !str_eq(name, STR("ns")))
        return 0;
    *ret = *tree("{'metadata':{'name':'ns','labels':{'team':'a'}}}");
    return 1;
}

static const struct kind_resource *version(void *arg, const struct kind_resource *stored, size_t i)
{
    (void)arg;
    for (size_t k = 0; k < n_kind_versions; k++) {
        const struct kind_resource *r = kind_resource_find(&kind_versions[k], stored->plural);
        if (r && kind_stored(r) == stored && i-- == 0)
            return r;
    }
    return NULL;
}

static const struct admission_cluster cluster = { .read = read_one, .version = version };

static const struct kind_resource *resource(const char *group, const char *version,
                                            const char *plural)
{
    const struct kind_resource *r =
        kind_resource_find(kind_version_find(str_of(group), str_of(version)), str_of(plural));
    assert_non_null(r);
    return r;
}

static struct admission_request request(const struct kind_resource *r,
                                        enum admission_operation operation)
{
    return (struct admission_request){
        .arena = &arena,
        .resource = r,
        .stored = kind_stored(r),
        .operation = operation,
        .ns = r->namespaced ? STR("ns") : STR(""),
        .name = STR("x"),
        .cluster = &cluster,
    };
}

/* ---- Whom it is for ---- */

#define RULE(groups, versions, operations, resources)                              \
    "[{'apiGroups':" groups ",'apiVersions':" versions ",'operations':" operations \
    ",'resources':" resources "}]"

struct match_row {
    const char *group, *version, *plural, *sub;
    enum admission_operation operation;
    const char *rules;
    bool is_exact;
    const char *as; /* group/version in which it is shown; NULL: it is not for it */
};

static void rules_name_resources(void **state)
{
    static const struct match_row rows[] = {
        { "", "v1", "pods", "", ADMISSION_CREATE, RULE("['']", "['v1']", "['CREATE']", "['pods']"),
          false, "/v1" },
        { "", "v1", "pods", "", ADMISSION_UPDATE, RULE("['']", "['v1']", "['CREATE']", "['pods']"),
          false, NULL },
        { "", "v1", "pods", "", ADMISSION_DELETE, RULE("['*']", "['*']", "['*']", "['*']"), false,
          "/v1" },
        { "", "v1", "pods", "status", ADMISSION_UPDATE, RULE("['*']", "['*']", "['*']", "['*']"),
          false, NULL },
        { "", "v1", "pods", "status", ADMISSION_UPDATE, RULE("['*']", "['*']", "['*']", "['*/*']"),
          false, "/v1" },
        { "", "v1", "pods", "exec", ADMISSION_CONNECT,
          RULE("['']", "['v1']", "['CONNECT']", "['pods/*']"), false, "/v1" },
        { "", "v1", "pods", "exec", ADMISSION_CONNECT,
          RULE("['']", "['v1']", "['CONNECT']", "['*/exec']"), false, "/v1" },
        { "", "v1", "pods", "exec", ADMISSION_CONNECT,
          RULE("['']", "['v1']", "['CONNECT']", "['pods/attach','pods']"), false, NULL },
        { "apps", "v1", "deployments", "", ADMISSION_CREATE,
          RULE("['extensions']", "['v1beta1']", "['*']", "['deployments']"), false,
          "extensions/v1beta1" },
        { "apps", "v1", "deployments", "", ADMISSION_CREATE,
          RULE("['extensions']", "['v1beta1']", "['*']", "['deployments']"), true, NULL },
        { "apps", "v1", "deployments", "scale", ADMISSION_UPDATE,
          RULE("['apps']", "['v1beta2']", "['*']", "['deployments/scale']"), false,
          "apps/v1beta2" },
        { "apps", "v1", "deployments", "", ADMISSION_CREATE, "[]", false, NULL },
        /* Nobody is asked about these. */
        { "admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "",
          ADMISSION_CREATE, RULE("['*']", "['*']", "['*']", "['*']"), false, NULL },
        { "authorization.k8s.io", "v1", "subjectaccessreviews", "", ADMISSION_CREATE,
          RULE("['*']", "['*']", "['*']", "['*']"), false, NULL },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct match_row *row = &rows[i];
        struct err err = ERR_INIT(&arena);
        struct admission_request req =
            request(resource(row->group, row->version, row->plural), row->operation);
        const struct match_spec spec = { .rules = tree(row->rules),
                                         .is_exact = row->is_exact,
                                         .needs_rules = true };
        const struct match *m = match_read(&arena, &spec);
        const struct kind_resource *as = NULL;
        req.sub = str_of(row->sub);
        const struct admission_call call = { req.resource, req.stored, req.sub, row->operation };
        int r = match_request(m, &req, NULL, &as, &err);
        assert_int_equal(r, row->as != NULL);
        if (row->as) {
            assert_true(match_may(m, &call));
            assert_string_equal(
                str_cstr(&arena, arena_printf(&arena, STR_FMT "/" STR_FMT, STR_ARG(as->group),
                                              STR_ARG(as->version))),
                row->as);
        }
    }
}

static int matches(const struct kind_resource *r, const char *scope, const char *ns_selector,
                   const char *object_selector, const char *obj)
{
    struct err err = ERR_INIT(&arena);
    struct admission_request req = request(r, ADMISSION_CREATE);
    const char *rules =
        str_cstr(&arena, arena_printf(&arena,
                                      "[{'apiGroups':['*'],'apiVersions':['*'],'operations':['*'],"
                                      "'resources':['*'],'scope':'%s'}]",
                                      scope));
    const struct match_spec spec = { .rules = tree(rules),
                                     .namespace_selector = tree(ns_selector),
                                     .object_selector = tree(object_selector) };
    const struct kind_resource *as;
    return match_request(match_read(&arena, &spec), &req, tree(obj), &as, &err);
}

static void selectors_choose_objects(void **state)
{
    const struct kind_resource *pods = resource("", "v1", "pods"),
                               *nodes = resource("", "v1", "nodes"),
                               *spaces = resource("", "v1", "namespaces");
    static const char team_a[] = "{'matchLabels':{'team':'a'}}",
                      team_b[] = "{'matchLabels':{'team':'b'}}", obj[] = "{'metadata':{}}",
                      obj_a[] = "{'metadata':{'labels':{'team':'a'}}}";
    (void)state;
    assert_int_equal(matches(pods, "*", team_a, NULL, obj), 1);
    assert_int_equal(matches(pods, "*", team_b, NULL, obj), 0);
    assert_int_equal(matches(pods, "*", "{}", team_a, obj), 0);
    assert_int_equal(matches(pods, "*", "{}", team_a, obj_a), 1);
    assert_int_equal(matches(pods, "*", NULL, team_a, "{}"), 0);
    /* What is in no namespace is not exempt; a Namespace goes by its own labels. */
    assert_int_equal(matches(nodes, "*", team_b, NULL, obj), 1);
    assert_int_equal(matches(spaces, "*", team_b, NULL, obj_a), 0);
    assert_int_equal(matches(spaces, "*", team_a, NULL, obj_a), 1);
    assert_int_equal(matches(pods, "Namespaced", NULL, NULL, obj), 1);
    assert_int_equal(matches(pods, "Cluster", NULL, NULL, obj), 0);
    assert_int_equal(matches(nodes, "Cluster", NULL, NULL, obj), 1);
    assert_int_equal(matches(spaces, "Namespaced", NULL, NULL, obj), 0);
}

static void a_lost_namespace_is_an_error(void **state)
{
    struct err err = ERR_INIT(&arena);
    struct admission_request req = request(resource("", "v1", "pods"), ADMISSION_CREATE);
    const struct match_spec spec = { .namespace_selector = tree("{'matchLabels':{'a':'b'}}") };
    const struct kind_resource *as;
    (void)state;
    req.ns = STR("gone");
    assert_int_equal(match_request(match_read(&arena, &spec), &req, tree("{}"), &as, &err),
                     -ERR_NOT_FOUND);
    assert_string_equal(str_cstr(&arena, err.msg), "namespaces \"gone\" not found");
}

/* ---- What is shown ---- */

static void objects_are_shown_in_the_version_of_the_rule(void **state)
{
    struct err err = ERR_INIT(&arena);
    struct admission_request req =
        request(resource("autoscaling", "v2", "horizontalpodautoscalers"), ADMISSION_CREATE);
    const struct value *obj = tree(
        "{'kind':'HorizontalPodAutoscaler','apiVersion':'autoscaling/v2','metadata':{'name':'x'},"
        "'spec':{'scaleTargetRef':{'kind':'D','name':'d'},'maxReplicas':3,'metrics':[{'type':"
        "'Resource','resource':{'name':'cpu','target':{'type':'Utilization',"
        "'averageUtilization':50}}}]}}");
    struct view v;
    (void)state;
    assert_int_equal(
        view_make(&req, obj, resource("autoscaling", "v1", "horizontalpodautoscalers"), &v, &err),
        0);
    assert_null(v.old_obj);
    assert_string_equal(shown(value_get(v.obj, STR("apiVersion"))), "'autoscaling/v1'");
    assert_string_equal(shown(value_dig(v.obj, "spec", "targetCPUUtilizationPercentage")), "50");
    struct value request = view_request(&req, &v, STR("u"));
    assert_string_equal(shown(value_get(&request, STR("kind"))),
                        "{'group':'autoscaling','version':'v1','kind':'HorizontalPodAutoscaler'}");
    assert_string_equal(shown(value_get(&request, STR("requestKind"))),
                        "{'group':'autoscaling','version':'v2','kind':'HorizontalPodAutoscaler'}");
}

/* What comes back is read as its kind, completed and converted; another kind is refused. */
static void what_comes_back_is_checked(void **state)
{
    static const struct {
        const char *changed, *becomes, *refused;
    } rows[] = {
        { "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'x'},'data':{'a':'b'},'z':1}",
          "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'x'},'data':{'a':'b'}}", "" },
        { "{'metadata':{'name':'x'}}",
          "{'metadata':{'name':'x'},'kind':'ConfigMap','apiVersion':'v1'}", "" },
        { "{'kind':'ConfigMap','apiVersion':'v1','data':7}", NULL,
          "Internal error occurred: json: cannot unmarshal number into Go struct field "
          "ConfigMap.data of type map[string]string" },
        { "{'kind':'Secret','apiVersion':'v1','data':{'a':'!'}}", NULL,
          "Internal error occurred: illegal base64 data at input byte 0" },
        { "{'kind':'Secret','apiVersion':'v1'}", NULL,
          "converting (v1.Secret) to (core.ConfigMap): unknown conversion" },
        { "{'kind':'Nothing','apiVersion':'v1'}", NULL,
          "Internal error occurred: no kind \"Nothing\" is registered for version \"v1\" in scheme "
          "\"pkg/api/legacyscheme/scheme.go:30\"" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&arena);
        struct admission_request req = request(resource("", "v1", "configmaps"), ADMISSION_CREATE);
        struct value obj = *tree("{'metadata':{'name':'x'}}"), changed = *tree(rows[i].changed);
        struct view v;
        assert_int_equal(view_make(&req, &obj, req.resource, &v, &err), 0);
        int r = view_take(&req, &v, &changed, &obj, &err);
        assert_string_equal(str_cstr(&arena, err.msg), rows[i].refused);
        assert_int_equal(r < 0, *rows[i].refused != '\0');
        if (r == 0)
            assert_string_equal(shown(&obj), rows[i].becomes);
    }
}

/* ---- What is answered ---- */

#define V1      "{'kind':'AdmissionReview','apiVersion':'admission.k8s.io/v1','response':"
#define INVALID "received invalid webhook response: "
#define UNREAD  "failed to call webhook: "

static void answers_are_read_as_upstream_does(void **state)
{
    static const struct {
        const char *version, *body;
        bool is_mutating;
        const char *fault;
    } rows[] = {
        { "v1", V1 "{'uid':'u','allowed':true}}", true, "" },
        { "v1", V1 "{'uid':'u','allowed':true,'patch':'W10=','patchType':'JSONPatch'}}", true, "" },
        { "v1", V1 "{'uid':'u','patch':'W10=','patchType':'JSONPatch'}}", false,
          INVALID "validating webhook may not return response.patch" },
        { "v1", V1 "{'uid':'u','patchType':'JSONPatch'}}", false,
          INVALID "validating webhook may not return response.patchType" },
        { "v1", V1 "{'uid':'u','patch':'W10='}}", true,
          INVALID "webhook returned response.patch but not response.patchType" },
        { "v1", V1 "{'uid':'u','patchType':'JSONPatch'}}", true,
          INVALID "webhook returned response.patchType but not response.patch" },
        { "v1", V1 "{'uid':'x'}}", true, INVALID "expected response.uid=\"u\", got \"x\"" },
        { "v1", V1 "null}", true, INVALID "webhook response was absent" },
        { "v1", "{'response':{'uid':'u'}}", true,
          INVALID "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, "
                  "Kind=" },
        { "v1", V1 "{'uid':'u','allowed':1}}", true,
          UNREAD "json: cannot unmarshal number into Go struct field "
                 "AdmissionResponse.response.allowed of type bool" },
        { "v1", "{'kind':'AdmissionReview','apiVersion':'admission.k8s.io/v1beta1'}", true,
          UNREAD "converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown "
                 "conversion" },
        { "v1", "{'apiVersion':'admission.k8s.io/v1','response':{'uid':'u'}}", true,
          INVALID "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got "
                  "admission.k8s.io/v1, Kind=" },
        { "v1", "{'kind':'AdmissionReview','response':{'uid':'u'}}", true,
          INVALID "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, "
                  "Kind=AdmissionReview" },
        { "v1", "{'kind':'AdmissionReview','apiVersion':'a/b/c'}", true,
          UNREAD "unexpected GroupVersion string: a/b/c" },
        { "v1", "{'kind':'Other'}", true,
          UNREAD "no kind \"Other\" is registered for version \"admission.k8s.io/v1\" in scheme "
                 "\"k8s.io/apiserver/pkg/util/webhook/client.go:74\"" },
        { "v1", "{'kind':'Status','apiVersion':'v1','status':'Failure','message':'no'}", true,
          UNREAD "converting (v1.Status) to (v1.AdmissionReview): unknown conversion" },
        { "v1beta1", "{'kind':'Status'}", true,
          UNREAD "converting (v1.Status) to (v1beta1.AdmissionReview): unknown conversion" },
        { "v1", "{'kind':'Pod','apiVersion':'v1'}", true,
          UNREAD "no kind \"Pod\" is registered for version \"v1\" in scheme "
                 "\"k8s.io/apiserver/pkg/util/webhook/client.go:74\"" },
        { "v1", "{", true,
          UNREAD "couldn't get version/kind; json parse error: unexpected end of JSON input" },
        { "v1beta1", "{'response':{'uid':'whatever','allowed':true,'patch':'W10='}}", true, "" },
        { "v1beta1", "{'response':{'patch':'W10=','patchType':'Other'}}", false, "" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&arena);
        struct review_answer answer;
        (void)review_read(&arena, requoted(rows[i].body, '\'', '"'), str_of(rows[i].version),
                          STR("u"), rows[i].is_mutating, &answer, &err);
        assert_string_equal(str_cstr(&arena, err.msg), rows[i].fault);
    }
}

static void a_refusal_is_the_status_of_the_webhook(void **state)
{
    static const struct {
        const char *status, *becomes;
    } rows[] = {
        { NULL, "{'metadata':{},'status':'Failure','message':'admission webhook <w> denied the "
                "request without explanation','code':400}" },
        { "{'metadata':{},'status':'Success','message':'no','reason':'Because','code':200}",
          "{'metadata':{},'status':'Failure','message':'admission webhook <w> denied the request: "
          "no','reason':'Because','code':400}" },
        { "{'metadata':{},'reason':'Gone','code':410}",
          "{'metadata':{},'reason':'Gone','code':410,'status':'Failure','message':'admission "
          "webhook <w> denied the request: Gone'}" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&arena);
        assert_int_equal(review_refusal(&arena, STR("w"), tree(rows[i].status), &err),
                         -ERR_FORBIDDEN);
        struct value want = *tree(rows[i].becomes);
        struct str text = value_text(&want, "message"), before = str_cut(&text, '<');
        (void)str_cut(&text, '>');
        value_put(&arena, &want, STR("message"),
                  value_string(arena_printf(&arena, STR_FMT "\"w\"" STR_FMT, STR_ARG(before),
                                            STR_ARG(text))));
        assert_true(value_eq(err.about.status, &want));
    }
}

static void the_first_version_that_is_known_is_spoken(void **state)
{
    (void)state;
    assert_string_equal(str_cstr(&arena, hook_review_version(tree("['v9','v1beta1','v1']"))),
                        "v1beta1");
    assert_null(hook_review_version(tree("['v2']")).p);
    assert_null(hook_review_version(NULL).p);
}

/* ---- Too many ---- */

/* A server that takes connections and says nothing. Not by TLS: a handshake that does not come to
 * its end ends the call after ten seconds, and a busy machine needs more for all of them to come.
 */
static int listen_silently(struct str *ret_url)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, n), 0);
    assert_int_equal(listen(fd, HOOK_CALLS_MAX * 2), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
    *ret_url = arena_printf(&arena, "http://127.0.0.1:%u/", ntohs(at.sin_port));
    return fd;
}

static int post(struct hook *h, int64_t timeout_ms)
{
    struct arena a;
    const struct hook_request req = { .body = STR("{}"),
                                      .timeout_ms = timeout_ms,
                                      .max_reply = 1000 };
    struct str body;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    int r = hook_post(h, &a, STR(""), &req, &body, &err);
    arena_done(&a);
    return r;
}

static void *post_and_wait(void *arg)
{
    static const int64_t long_ms = 600000;
    return (void *)(intptr_t)post(arg, long_ms);
}

/* Those who wait are let go when the server stops. */
static void calls_of_one_webhook_are_bounded(void **state)
{
    static atomic_bool cancel;
    struct str url;
    int fd = listen_silently(&url), clients[HOOK_CALLS_MAX];
    struct value config = value_object();
    pthread_t threads[HOOK_CALLS_MAX];
    (void)state;
    value_put(&arena, &config, STR("url"), value_string(url));
    struct hook *h = hook_for(&config, &cancel), *twin = hook_for(&config, &cancel);
    assert_ptr_equal(h, twin);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, post_and_wait, h), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        clients[i] = accept(fd, NULL, NULL); /* when all have come, all are under way */
        assert_true(clients[i] >= 0);
    }
    assert_int_equal(post(twin, 60000), -ERR_TOO_MANY_REQUESTS);
    atomic_store(&cancel, true);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        void *ended;
        assert_int_equal(pthread_join(threads[i], &ended), 0);
        assert_int_equal((intptr_t)ended, -ERR_UNAVAILABLE);
        close(clients[i]);
    }
    hook_unref(twin);
    hook_unref(h);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rules_name_resources, setup, teardown),
        cmocka_unit_test_setup_teardown(selectors_choose_objects, setup, teardown),
        cmocka_unit_test_setup_teardown(a_lost_namespace_is_an_error, setup, teardown),
        cmocka_unit_test_setup_teardown(objects_are_shown_in_the_version_of_the_rule, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_comes_back_is_checked, setup, teardown),
        cmocka_unit_test_setup_teardown(answers_are_read_as_upstream_does, setup, teardown),
        cmocka_unit_test_setup_teardown(a_refusal_is_the_status_of_the_webhook, setup, teardown),
        cmocka_unit_test_setup_teardown(the_first_version_that_is_known_is_spoken, setup, teardown),
        cmocka_unit_test_setup_teardown(calls_of_one_webhook_are_bounded, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
