/* The file of --admission-control-config-file, and the plugins that are told something by it. */
#include "admission/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "admission/suite_admission.h"
#include "auth/user.h"
#include "base/file.h"
#include "base/idiom.h"

static struct arena arena;
static char folder[] = "/tmp/sampan-config-test.XXXXXX";

static const char *path_of(const char *name)
{
    return str_cstr(&arena, arena_printf(&arena, "%s/%s", folder, name));
}

static void write_file(const char *name, const char *text)
{
    struct err err = ERR_INIT(&arena);
    assert_int_equal(file_write_atomic(path_of(name), str_of(text), 0600, FILE_CHEAP, &err), 0);
}

/* The configuration that `text` comes to, with these plugins on; or why it comes to none. */
static const char *load(const char *plugins, const char *text, struct suite *ret)
{
    struct admission_config *config = NULL;
    struct err err = ERR_INIT(&arena);
    ret->choice = (struct admission_choice){ 0 };
    assert_int_equal(admission_choose(&ret->choice, str_of(plugins), true, &err), 0);
    assert_int_equal(
        admission_choose(&ret->choice, STR("Priority,DefaultTolerationSeconds"), false, &err), 0);
    if (text)
        write_file("config.yaml", text);
    const struct admission_options opt = { .file = text ? path_of("config.yaml") : NULL };
    int r = admission_config_load(&opt, &ret->choice, &config, &err);
    ret->config = config;
    return r < 0 ? str_cstr(&arena, err.msg) : "";
}

static void unload(struct suite *s)
{
    admission_config_free((struct admission_config *)s->config);
    s->config = NULL;
}

#define HEAD    "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n"
#define FAILED  "failed to read plugin config: "
#define UNKNOWN FAILED "strict decoding error: unknown field "

static void files(void **state)
{
    (void)state;
    static const struct {
        const char *text, *fault;
    } rows[] = {
        { HEAD, "" },
        { HEAD "plugins: []\n", "" },
        { "apiVersion: apiserver.k8s.io/v1alpha1\nkind: AdmissionConfiguration\n", "" },
        { "kind: AdmissionConfiguration\n",
          FAILED "Object 'apiVersion' is missing in '{\"kind\":\"AdmissionConfiguration\"}'" },
        { "apiVersion: v1\nkind: Pod\n",
          FAILED "no kind \"Pod\" is registered for version \"v1\"" },
        { HEAD "plugin: []\n", UNKNOWN "\"plugin\"" },
        { HEAD "plugins: [{name: PodNodeSelector, file: x}]\n", UNKNOWN "\"plugins[0].file\"" },
        { HEAD "plugins: [{name: None}]\n", FAILED "unknown admission plugin: None" },
        { HEAD "plugins: [{name: Priority, configuration: {}}]\n",
          FAILED "the admission plugin Priority takes no configuration" },
        { HEAD "plugins: [{name: ValidatingAdmissionWebhook, path: x}]\n",
          FAILED "the admission plugin ValidatingAdmissionWebhook: kubeConfigFile is not "
                 "supported" },
        { HEAD "plugins: [{name: PodNodeSelector, path: a}, {name: PodNodeSelector, path: a}]\n",
          FAILED "the admission plugin PodNodeSelector is configured twice" },
        { HEAD "plugins: [{name: PodNodeSelector, configuration: {x: 1}}]\n",
          "couldn't init admission plugin \"PodNodeSelector\": strict decoding error: unknown "
          "field \"x\"" },
    };
    struct suite s = { 0 };
    write_file("a", "podNodeSelectorPluginConfig: {}\n");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_string_equal(load("PodNodeSelector", rows[i].text, &s), rows[i].fault);
        unload(&s);
    }
    assert_true(
        strstr(load("PodNodeSelector", HEAD "plugins: [{name: PodNodeSelector, path: none}]\n", &s),
               path_of("none")));
    /* What is off is not told anything, and what cannot be is not switched on. */
    assert_string_equal(
        load("AlwaysAdmit", HEAD "plugins: [{name: PodNodeSelector, configuration: {x: 1}}]\n", &s),
        "");
    unload(&s);
    assert_string_equal(load("ImagePolicyWebhook", NULL, &s),
                        "couldn't init admission plugin \"ImagePolicyWebhook\": there is no such "
                        "webhook here; a ValidatingWebhookConfiguration can refuse images");
}

/* ---- PodNodeSelector ---- */

static const struct suite_object homes[] = {
    { STR("namespaces"), STR("ns"), "{'metadata':{'name':'ns'}}" },
    { STR("namespaces"), STR("own"),
      "{'metadata':{'name':'own','annotations':{'scheduler.alpha.kubernetes.io/node-selector':"
      "'env=test , disk=ssd'}}}" },
    { STR("namespaces"), STR("bad"),
      "{'metadata':{'name':'bad','annotations':{'scheduler.alpha.kubernetes.io/node-selector':"
      "'a=b=c'}}}" },
    { STR("namespaces"), STR("tolerant"),
      "{'metadata':{'name':'tolerant','annotations':{'scheduler.alpha.kubernetes.io/"
      "defaultTolerations':'[{\\u0022key\\u0022:\\u0022k\\u0022}]',"
      "'scheduler.alpha.kubernetes.io/tolerationsWhitelist':'[{\\u0022key\\u0022:\\u0022k\\u0022"
      "},{\\u0022operator\\u0022:\\u0022Exists\\u0022,\\u0022effect\\u0022:\\u0022NoExecute\\u0022"
      ",\\u0022tolerationSeconds\\u0022:60}]'}}}" },
    { STR("namespaces"), STR("garbled"),
      "{'metadata':{'name':'garbled','annotations':{'scheduler.alpha.kubernetes.io/"
      "defaultTolerations':'bad'}}}" },
};

#define SELECTS(what) "{'metadata':{'name':'p'},'spec':{'nodeSelector':{" what "}}}"

static void node_selectors(void **state)
{
    (void)state;
    struct suite s = { homes, ARRAY_LEN(homes) };
    static const struct suite_row rows[] = {
        { "", "pods", "{'spec':{}}", NULL, "{'spec':{'nodeSelector':{'env':'prod'}}}" },
        { "", "pods", SELECTS("'disk':'hdd'"), NULL, SELECTS("'env':'prod','disk':'hdd'") },
        { "", "pods", SELECTS("'env':'x'"),
          .refused = FORBIDDEN("pods \"p\"") "pod node label selector conflicts with its namespace "
                                             "node label selector" },
        { "", "pods", SELECTS("'env':'test'"), NULL, SELECTS("'env':'test','disk':'ssd'"),
          .ns = "own" },
        { "", "pods", SELECTS("'more':'x'"), .ns = "own",
          .refused = FORBIDDEN("pods \"p\"") "pod node label selector labels conflict with its "
                                             "namespace whitelist" },
        { "", "pods", SELECTS("'more':'x'"), .ns = "bad", .refused = "invalid selector: [a b c]" },
        { "", "pods", SELECTS("'env':'x'"), SELECTS("'env':'x'") },
        /* What initializers have yet to finish counts as new. */
        { "", "pods", "{'spec':{}}", "{'metadata':{'initializers':{'pending':[{'name':'a.b.c'}]}}}",
          "{'spec':{'nodeSelector':{'env':'prod'}}}" },
    };
    /* The file, and the form that it had before there were AdmissionConfigurations. */
    write_file("selectors", "podNodeSelectorPluginConfig:\n  clusterDefaultNodeSelector: env=prod\n"
                            "  own: env=test,disk=ssd\n");
    assert_string_equal(
        load("PodNodeSelector", HEAD "plugins: [{name: PodNodeSelector, path: selectors}]\n", &s),
        "");
    SUITE_CHECK(&s, rows);
    unload(&s);
    assert_string_equal(load("PodNodeSelector",
                             "podNodeSelectorPluginConfig:\n  clusterDefaultNodeSelector: "
                             "env=prod\n  own: env=test,disk=ssd\n",
                             &s),
                        "");
    SUITE_CHECK(&s, rows);
    unload(&s);
    assert_string_equal(load("PodNodeSelector",
                             HEAD "plugins: [{name: PodNodeSelector, configuration: "
                                  "{podNodeSelectorPluginConfig: {a: b/c/d=1}}}]\n",
                             &s),
                        "couldn't init admission plugin \"PodNodeSelector\": <nil>: Invalid value: "
                        "\"b/c/d\": a valid label key must consist of alphanumeric characters, "
                        "'-', '_' or '.', and must start and end with an alphanumeric character "
                        "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation "
                        "is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS "
                        "subdomain prefix and '/' (e.g. 'example.com/MyName')");
}

/* ---- PodTolerationRestriction ---- */

#define TOLERATES(list) "{'spec':{'tolerations':[" list "]}}"
#define CLUSTER_LIMITS                                                            \
    HEAD "plugins:\n- name: PodTolerationRestriction\n  configuration:\n"         \
         "    apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1\n"   \
         "    kind: Configuration\n    default: [{key: d, operator: Exists}]\n"   \
         "    whitelist: [{key: d, operator: Exists}, {key: e, operator: Equal, " \
         "value: x}, {key: node.kubernetes.io/memory-pressure, operator: Exists}]\n"

static void tolerations(void **state)
{
    (void)state;
    struct suite s = { homes, ARRAY_LEN(homes) };
    static const struct suite_row rows[] = {
        { "", "pods", "{'spec':{}}", NULL, TOLERATES("{'key':'d','operator':'Exists'}") },
        /* What a wider one covers is left out. */
        { "", "pods", TOLERATES("{'key':'d','operator':'Equal','value':'v'}"), NULL,
          TOLERATES("{'key':'d','operator':'Exists'}") },
        { "", "pods", TOLERATES("{'key':'e','operator':'Equal','value':'x'}"), NULL,
          TOLERATES("{'key':'e','operator':'Equal','value':'x'},{'key':'d','operator':'Exists'}") },
        { "", "pods", TOLERATES("{'key':'e','operator':'Equal','value':'y'}"),
          .refused = "pod tolerations (possibly merged with namespace default tolerations) "
                     "conflict with its cluster whitelist" },
        { "", "pods",
          "{'spec':{'containers':[{'resources':{'requests':{'cpu':'1'},'limits':{'cpu':'2'}}}]}}",
          "{'spec':{}}",
          "{'spec':{'containers':[{'resources':{'requests':{'cpu':'1'},'limits':{'cpu':'2'}}}],"
          "'tolerations':[{'key':'node.kubernetes.io/memory-pressure','operator':'Exists','effect'"
          ":'NoSchedule'}]}}" },
        { "", "pods", "{'spec':{}}", NULL, TOLERATES("{'key':'k'}"), .ns = "tolerant" },
        { "", "pods", "{'spec':{}}", .ns = "garbled",
          .refused = "invalid character 'b' looking for beginning of value" },
        { "", "pods", TOLERATES("{'key':'a','effect':'NoExecute','tolerationSeconds':60}"), NULL,
          TOLERATES("{'key':'a','effect':'NoExecute','tolerationSeconds':60},{'key':'k'}"),
          .ns = "tolerant" },
        { "", "pods", TOLERATES("{'key':'a','effect':'NoExecute','tolerationSeconds':61}"),
          .ns = "tolerant",
          .refused = "pod tolerations (possibly merged with namespace default tolerations) "
                     "conflict with its namespace whitelist" },
    };
    assert_string_equal(load("PodTolerationRestriction", CLUSTER_LIMITS, &s), "");
    SUITE_CHECK(&s, rows);
    unload(&s);
    assert_string_equal(
        load("PodTolerationRestriction",
             HEAD "plugins:\n- name: PodTolerationRestriction\n  configuration: "
                  "{apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1, "
                  "kind: Configuration, default: [{key: a, operator: Almost}]}\n",
             &s),
        "couldn't init admission plugin \"PodTolerationRestriction\": invalid config: "
        "podtolerationrestriction.default[0].operator: Unsupported value: \"Almost\": supported "
        "values: \"Equal\", \"Exists\"");
}

/* Flags say how long pods stay on a node that is lost. */
static void patience(void **state)
{
    (void)state;
    const struct admission_options opt = { .unreachable = { true, 9 } };
    struct admission_config *config = NULL;
    struct err err = ERR_INIT(&arena);
    struct suite s = { .user = NULL };
    static const struct suite_row rows[] = {
        { "", "pods", "{'spec':{}}", NULL,
          TOLERATES("{'key':'node.kubernetes.io/not-ready','operator':'Exists','effect':'NoExecute'"
                    ",'tolerationSeconds':300},{'key':'node.kubernetes.io/unreachable','operator':"
                    "'Exists','effect':'NoExecute','tolerationSeconds':9}") },
    };
    assert_int_equal(admission_choose(&s.choice, STR("Priority"), false, &err), 0);
    assert_int_equal(admission_config_load(&opt, &s.choice, &config, &err), 0);
    s.config = config;
    SUITE_CHECK(&s, rows);
    unload(&s);
}

/* ---- EventRateLimit ---- */

#define LIMITS(list)                                                        \
    HEAD "plugins:\n- name: EventRateLimit\n  configuration: {apiVersion: " \
         "eventratelimit.admission.k8s.io/v1alpha1, kind: Configuration, limits: [" list "]}\n"
#define EVENT(name) "{'involvedObject':{'kind':'Pod','name':'" name "'}}"

/* How many of `n` events are taken. */
static size_t send(const struct suite *s, size_t n, const char *ns, const char *event)
{
    size_t n_taken = 0;
    for (size_t i = 0; i < n; i++) {
        const struct suite_row row = { "", "events", event, .ns = ns };
        n_taken += suite_is_admitted(s, &row);
    }
    return n_taken;
}

static void event_rates(void **state)
{
    (void)state;
    static const struct user ann = { .name = STR("ann") }, bob = { .name = STR("bob") };
    struct clock_fake clock;
    clock_fake_init(&clock, NS_PER_SEC);
    struct suite s = { .user = &ann, .clock = &clock.clock };
    assert_string_equal(load("EventRateLimit", LIMITS("{type: Server, qps: 2, burst: 4}"), &s), "");
    assert_int_equal(send(&s, 9, "a", EVENT("x")), 4);
    clock_fake_advance(&clock, NS_PER_SEC);
    assert_int_equal(send(&s, 9, "b", EVENT("y")), 2);
    clock_fake_advance(&clock, 100 * NS_PER_SEC);
    assert_int_equal(send(&s, 9, "b", EVENT("y")), 4);
    static const struct suite_row refused[] = {
        { "", "events", EVENT("x"),
          .refused = "Too many requests: limit reached on type Server for key " },
        { "", "configmaps", "{}" },
    };
    SUITE_CHECK(&s, refused);
    unload(&s);

    /* Each key has a bucket; the one that was not used for the longest time is forgotten. */
    assert_string_equal(
        load("EventRateLimit", LIMITS("{type: Namespace, qps: 1, burst: 2, cacheSize: 2}"), &s),
        "");
    assert_int_equal(send(&s, 3, "a", EVENT("x")) + send(&s, 3, "b", EVENT("x")), 4);
    assert_int_equal(send(&s, 3, "a", EVENT("x")), 0);
    assert_int_equal(send(&s, 1, "c", EVENT("x")), 1); /* b goes */
    assert_int_equal(send(&s, 3, "a", EVENT("x")), 0);
    assert_int_equal(send(&s, 3, "b", EVENT("x")), 2);
    unload(&s);

    assert_string_equal(load("EventRateLimit",
                             LIMITS("{type: User, qps: 1, burst: 3}, {type: SourceAndObject, qps: "
                                    "1, burst: 1}"),
                             &s),
                        "");
    assert_int_equal(send(&s, 2, "a", EVENT("x")), 1);
    static const struct suite_row both[] = {
        { "", "events", EVENT("x"),
          .refused = "Too many requests: limit reached on type SourceAndObject for key Podx" },
        { "", "events", EVENT("x"),
          .refused = "Too many requests: [limit reached on type User for key ann, limit reached on "
                     "type SourceAndObject for key Podx]" },
    };
    SUITE_CHECK(&s, both);
    s.user = &bob;
    assert_int_equal(send(&s, 1, "a", EVENT("y")), 1);
    unload(&s);
}

static void event_rate_faults(void **state)
{
    (void)state;
    static const struct {
        const char *limits, *fault;
    } rows[] = {
        { "", "limits: Invalid value: []: must not be empty" },
        { "{type: Server, qps: 1}", "limits[0].burst: Invalid value: 0: must be positive" },
        { "{type: Server, qps: 1, burst: 1}, {type: User, qps: -1, burst: 2, cacheSize: -1}",
          "[limits[1].qps: Invalid value: -1: must be positive, limits[1].cacheSize: Invalid "
          "value: -1: must not be negative]" },
        { "{type: Other, qps: 1, burst: 1}",
          "limits[0].type: Unsupported value: \"Other\": supported values: \"Namespace\", "
          "\"Server\", \"SourceAndObject\", \"User\"" },
        { "{type: Server, qps: 1, burst: 1, x: 1}",
          "strict decoding error: unknown field \"limits[0].x\"" },
    };
    struct suite s = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str text = arena_printf(&arena, LIMITS("%s"), rows[i].limits);
        struct str fault = arena_printf(
            &arena, "couldn't init admission plugin \"EventRateLimit\": %s", rows[i].fault);
        assert_string_equal(load("EventRateLimit", str_cstr(&arena, text), &s),
                            str_cstr(&arena, fault));
    }
    assert_string_equal(load("EventRateLimit", NULL, &s),
                        "couldn't init admission plugin \"EventRateLimit\": limits: Invalid value: "
                        "null: must not be empty");
}

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena);
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    static const char *const files_made[] = { "config.yaml", "a", "selectors" };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(files_made); i++)
        (void)unlink(path_of(files_made[i]));
    int r = rmdir(folder);
    arena_done(&arena);
    return r;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files),       cmocka_unit_test(node_selectors),
        cmocka_unit_test(tolerations), cmocka_unit_test(patience),
        cmocka_unit_test(event_rates), cmocka_unit_test(event_rate_faults),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
