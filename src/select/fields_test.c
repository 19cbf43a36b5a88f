#include "select/fields.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/idiom.h"
#include "base/json.h"
#include "base/limits.h"

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

#define NAMES(...)                       \
    (const struct str[]){ __VA_ARGS__ }, \
        sizeof((const struct str[]){ __VA_ARGS__ }) / sizeof(struct str)
#define ONE(lit)                \
    {                           \
        "" lit, sizeof(lit) - 1 \
    }
#define REFERENCE(of) ONE(of ".kind"), ONE(of ".namespace"), ONE(of ".name"), ONE(of ".uid")

/* Some of the resources of kinds/, in part. */
static const struct {
    const char *plural;
    struct fields_rules rules;
} resources[] = {
    { "configmaps", { ONE(""), ONE("v1"), ONE("ConfigMap"), NULL, 0, NULL, 0 } },
    { "replicasets", { ONE("apps"), ONE("v1"), ONE("ReplicaSet"), NULL, 0, NULL, 0 } },
    { "pods",
      { ONE(""), ONE("v1"), ONE("Pod"),
        NAMES(ONE("metadata.name"), ONE("metadata.namespace"), ONE("spec.nodeName"),
              ONE("spec.restartPolicy"), ONE("spec.schedulerName"), ONE("spec.hostNetwork"),
              ONE("status.phase"), ONE("status.podIP"), ONE("status.podIPs"),
              ONE("status.nominatedNodeName")),
        (const struct str[]){ ONE("spec.host"), ONE("spec.nodeName") }, 1 } },
    { "namespaces",
      { ONE(""), ONE("v1"), ONE("Namespace"), NAMES(ONE("status.phase"), ONE("metadata.name")),
        NULL, 0 } },
    { "nodes",
      { ONE(""), ONE("v1"), ONE("Node"), NAMES(ONE("metadata.name"), ONE("spec.unschedulable")),
        NULL, 0 } },
    { "services",
      { ONE(""), ONE("v1"), ONE("Service"), NAMES(ONE("spec.clusterIP"), ONE("spec.type")), NULL,
        0 } },
    { "secrets", { ONE(""), ONE("v1"), ONE("Secret"), NAMES(ONE("type")), NULL, 0 } },
    { "replicationcontrollers",
      { ONE(""), ONE("v1"), ONE("ReplicationController"), NAMES(ONE("status.replicas")), NULL,
        0 } },
    { "events",
      { ONE(""), ONE("v1"), ONE("Event"),
        NAMES(REFERENCE("involvedObject"), ONE("reason"), ONE("reportingComponent"), ONE("source"),
              ONE("type")),
        NULL, 0 } },
    { "events",
      { ONE("events.k8s.io"), ONE("v1"), ONE("Event"),
        NAMES(REFERENCE("regarding"), ONE("reason"), ONE("reportingController")),
        (const struct str[]){ ONE("regarding.name"), ONE("involvedObject.name"),
                              ONE("reportingController"), ONE("reportingComponent") },
        2 } },
    { "jobs", { ONE("batch"), ONE("v1"), ONE("Job"), NAMES(ONE("status.successful")), NULL, 0 } },
    { "resourceslices",
      { ONE("resource.k8s.io"), ONE("v1"), ONE("ResourceSlice"), NAMES(ONE("spec.pool.name")), NULL,
        0 } },
    { "certificatesigningrequests",
      { ONE("certificates.k8s.io"), ONE("v1"), ONE("CertificateSigningRequest"),
        NAMES(ONE("metadata.name"), ONE("spec.signerName")), NULL, 0 } },
};

static struct fields_rules rules(const char *group, const char *plural)
{
    for (size_t i = 0; i < ARRAY_LEN(resources); i++)
        if (strcmp(resources[i].plural, plural) == 0 &&
            str_eq(resources[i].rules.group, str_of(group)))
            return resources[i].rules;
    fail_msg("no rules for %s", plural);
    return (struct fields_rules){ 0 };
}

static struct fields_selector parsed(const struct fields_rules *r, const char *text)
{
    struct fields_selector s;
    struct err err = ERR_INIT(&arena);
    if (fields_parse(&arena, str_of(text), r, &s, &err) < 0)
        fail_msg("%s: " STR_FMT, text, STR_ARG(err.msg));
    return s;
}

static const char *written(const struct fields_selector *s)
{
    autobuf out = { 0 };
    fields_write(&out, s);
    return str_cstr(&arena, buf_str(&out));
}

static void good_text_has_a_canonical_form(void **state)
{
    (void)state;
    struct fields_rules r = rules("", "configmaps");
    static const struct {
        const char *text, *canonical;
    } rows[] = {
        { "", "" },
        { ",", "" },
        { ",,,", "" },
        { "metadata.name=a", "metadata.name=a" },
        { "metadata.name==a", "metadata.name=a" },
        { "metadata.name!=a", "metadata.name!=a" },
        { "metadata.name=", "metadata.name=" },
        { "metadata.name!=", "metadata.name!=" },
        { "metadata.name=a,", "metadata.name=a" },
        { ",metadata.name=a,,", "metadata.name=a" },
        { "metadata.namespace=b,metadata.name=a", "metadata.name=a,metadata.namespace=b" },
        { "metadata.name=a,metadata.name=a", "metadata.name=a,metadata.name=a" },
        { "metadata.name=a\\,b", "metadata.name=a\\,b" },
        { "metadata.name=a\\=b\\\\", "metadata.name=a\\=b\\\\" },
        { "metadata.name= a ", "metadata.name= a " },
        { "metadata.name=!a", "metadata.name=!a" },
        { "metadata.name=\xc3\xa9", "metadata.name=\xc3\xa9" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fields_selector s = parsed(&r, rows[i].text);
        assert_string_equal(written(&s), rows[i].canonical);
        struct fields_selector again = parsed(&r, rows[i].canonical);
        assert_string_equal(written(&again), rows[i].canonical);
    }
}

static void bad_text_is_refused_in_upstreams_words(void **state)
{
    (void)state;
    static const struct {
        const char *group, *plural, *text, *msg;
    } rows[] = {
        { "", "configmaps", "metadata.name",
          "invalid selector: 'metadata.name'; can't understand 'metadata.name'" },
        { "", "configmaps", "x=1,y", "invalid selector: 'x=1,y'; can't understand 'y'" },
        { "", "configmaps", "z,y", "invalid selector: 'z,y'; can't understand 'y'" },
        { "", "configmaps", "a!b", "invalid selector: 'a!b'; can't understand 'a!b'" },
        { "", "configmaps", " ", "invalid selector: ' '; can't understand ' '" },
        { "", "configmaps", "a\\,b", "invalid selector: 'a\\,b'; can't understand 'a\\,b'" },
        { "", "configmaps", "a\\", "invalid selector: 'a\\'; can't understand 'a\\'" },
        { "", "configmaps", "metadata.name=a\\x",
          "invalid field selector: invalid escape sequence: \\x" },
        { "", "configmaps", "metadata.name=a\\",
          "invalid field selector: invalid escape sequence: \\" },
        { "", "configmaps", "metadata.name=\\\xc3\xa9",
          "invalid field selector: invalid escape sequence: \\\xc3\xa9" },
        { "", "configmaps", "metadata.name=\\\xff",
          "invalid field selector: invalid escape sequence: \\\xef\xbf\xbd" },
        { "", "configmaps", "metadata.name=a=b",
          "invalid field selector: unescaped character in value: 61" },
        { "", "configmaps", "metadata.name===b",
          "invalid field selector: unescaped character in value: 61" },
        { "", "configmaps", "data.k=v",
          "\"data.k\" is not a known field selector: only \"metadata.name\", "
          "\"metadata.namespace\"" },
        { "", "configmaps", "=",
          "\"\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"" },
        { "", "configmaps", "Metadata.name=x",
          "\"Metadata.name\" is not a known field selector: only \"metadata.name\", "
          "\"metadata.namespace\"" },
        { "apps", "replicasets", "status.replicas=2",
          "\"status.replicas\" is not a known field selector: only \"metadata.name\", "
          "\"metadata.namespace\"" },
        { "", "pods", "spec.containers=x", "field label not supported: spec.containers" },
        { "", "pods", "data.k=v,a", "invalid selector: 'data.k=v,a'; can't understand 'a'" },
        { "", "namespaces", "spec.finalizers=x", "field label not supported: spec.finalizers" },
        { "", "namespaces", "metadata.namespace=x",
          "field label not supported: metadata.namespace" },
        { "", "nodes", "spec.providerID=x", "field label not supported: spec.providerID" },
        { "", "services", "spec.selector=x", "field label not supported: spec.selector" },
        { "", "secrets", "data=x", "field label not supported: data" },
        { "", "events", "message=x", "field label not supported: message" },
        { "", "events", "regarding.name=x", "field label not supported: regarding.name" },
        { "", "replicationcontrollers", "spec.replicas=1",
          "field label not supported: spec.replicas" },
        { "events.k8s.io", "events", "involvedObject.name=y",
          "field label not supported: involvedObject.name" },
        { "events.k8s.io", "events", "source=y", "field label not supported: source" },
        { "batch", "jobs", "status.succeeded=1",
          "field label \"status.succeeded\" not supported for Job" },
        { "resource.k8s.io", "resourceslices", "spec.x=1",
          "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.x" },
        { "certificates.k8s.io", "certificatesigningrequests", "spec.username=x",
          "field label not supported: spec.username" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fields_selector s;
        struct err err = ERR_INIT(&arena);
        struct fields_rules r = rules(rows[i].group, rows[i].plural);
        assert_int_equal(fields_parse(&arena, str_of(rows[i].text), &r, &s, &err),
                         -ERR_BAD_REQUEST);
        assert_string_equal(str_cstr(&arena, err.msg), rows[i].msg);
    }
}

#define POD      "", "pods"
#define EVENT    "", "events"
#define EVENT_V1 "events.k8s.io", "events"

static void objects_match_or_do_not(void **state)
{
    (void)state;
    static const struct {
        const char *group, *plural, *text, *object;
        bool want;
    } rows[] = {
        { POD, "", "{}", true },
        { POD, "metadata.name=a", "{\"metadata\":{\"name\":\"a\"}}", true },
        { POD, "metadata.name=a", "{\"metadata\":{\"name\":\"ab\"}}", false },
        { POD, "metadata.name!=a", "{\"metadata\":{\"name\":\"b\"}}", true },
        { POD, "metadata.name!=a", "{\"metadata\":{\"name\":\"a\"}}", false },
        { POD, "metadata.namespace=n,metadata.name=a",
          "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"}}", true },
        { POD, "metadata.namespace=m,metadata.name=a",
          "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"}}", false },
        { POD, "spec.nodeName=", "{\"spec\":{}}", true },
        { POD, "spec.nodeName=", "{\"spec\":{\"nodeName\":null}}", true },
        { POD, "spec.nodeName=", "{\"spec\":{\"nodeName\":\"n\"}}", false },
        { POD, "spec.nodeName=n", "{\"spec\":{\"nodeName\":\"n\"}}", true },
        { POD, "spec.host=n", "{\"spec\":{\"nodeName\":\"n\"}}", true },
        { POD, "spec.nodeName!=n", "{}", true },
        { POD, "spec.restartPolicy=Never", "{\"spec\":{\"restartPolicy\":\"Never\"}}", true },
        { POD, "spec.schedulerName=x", "{\"spec\":{\"schedulerName\":\"y\"}}", false },
        { POD, "status.phase=Running", "{\"status\":{\"phase\":\"Running\"}}", true },
        { POD, "status.phase!=Running", "{\"status\":\"text\"}", true },
        { POD, "spec.hostNetwork=true", "{\"spec\":{\"hostNetwork\":true}}", true },
        { POD, "spec.hostNetwork=true", "{\"spec\":{}}", false },
        { POD, "spec.hostNetwork=false", "{\"spec\":{}}", true },
        { POD, "spec.hostNetwork=false", "{\"spec\":{\"hostNetwork\":false}}", true },
        { POD, "spec.hostNetwork=", "{\"spec\":{}}", false },
        { POD, "status.podIP=1.2.3.4", "{\"status\":{\"podIP\":\"1.2.3.4\"}}", true },
        { POD, "status.podIP=1.2.3.4", "{\"status\":{\"podIPs\":[{\"ip\":\"1.2.3.4\"}]}}", true },
        { POD, "status.podIP=::1",
          "{\"status\":{\"podIP\":\"1.2.3.4\",\"podIPs\":[{\"ip\":\"1.2.3.4\"},{\"ip\":\"::1\"}]}}",
          false },
        { POD, "status.podIP=", "{\"status\":{\"podIPs\":[]}}", true },
        { POD, "status.podIPs=", "{\"status\":{\"podIPs\":[{\"ip\":\"1.2.3.4\"}]}}", true },
        { POD, "status.podIPs=1.2.3.4", "{\"status\":{\"podIPs\":[{\"ip\":\"1.2.3.4\"}]}}", false },
        { POD, "status.nominatedNodeName=n", "{\"status\":{\"nominatedNodeName\":\"n\"}}", true },
        { "", "nodes", "spec.unschedulable=true", "{\"spec\":{\"unschedulable\":true}}", true },
        { "", "nodes", "spec.unschedulable=false", "{}", true },
        { "", "nodes", "spec.unschedulable!=true", "{\"spec\":{}}", true },
        { "", "namespaces", "status.phase=Active", "{\"status\":{\"phase\":\"Active\"}}", true },
        { "", "secrets", "type=Opaque", "{\"type\":\"Opaque\"}", true },
        { "", "secrets", "type!=Opaque", "{\"type\":\"Opaque\"}", false },
        { "", "services", "spec.clusterIP=None,spec.type=ClusterIP",
          "{\"spec\":{\"clusterIP\":\"None\",\"type\":\"ClusterIP\"}}", true },
        { "", "replicationcontrollers", "status.replicas=0", "{}", true },
        { "", "replicationcontrollers", "status.replicas=12", "{\"status\":{\"replicas\":12}}",
          true },
        { "", "replicationcontrollers", "status.replicas!=0", "{\"status\":{\"replicas\":0}}",
          false },
        { "batch", "jobs", "status.successful=1", "{\"status\":{\"succeeded\":1}}", true },
        { "batch", "jobs", "status.successful=0", "{}", true },
        { "batch", "jobs", "status.successful=1", "{\"status\":{\"successful\":1}}", false },
        { "certificates.k8s.io", "certificatesigningrequests", "spec.signerName=a/b",
          "{\"spec\":{\"signerName\":\"a/b\"}}", true },
        { "resource.k8s.io", "resourceslices", "spec.pool.name=p",
          "{\"spec\":{\"pool\":{\"name\":\"p\"}}}", true },
        { EVENT, "involvedObject.kind=Pod", "{\"involvedObject\":{\"kind\":\"Pod\"}}", true },
        { EVENT, "involvedObject.uid=u", "{\"involvedObject\":{}}", false },
        { EVENT, "reason=r,type=Warning", "{\"reason\":\"r\",\"type\":\"Warning\"}", true },
        { EVENT, "source=s", "{\"source\":{\"component\":\"s\"},\"reportingComponent\":\"r\"}",
          true },
        { EVENT, "source=r", "{\"source\":{},\"reportingComponent\":\"r\"}", true },
        { EVENT, "reportingComponent=r", "{\"reportingComponent\":\"r\"}", true },
        { EVENT_V1, "regarding.name=y", "{\"involvedObject\":{\"name\":\"y\"}}", true },
        { EVENT_V1, "regarding.name=y", "{\"regarding\":{\"name\":\"y\"}}", true },
        { EVENT_V1, "regarding.name!=y", "{\"regarding\":{\"name\":\"y\"}}", false },
        { EVENT_V1, "reportingController=r", "{\"reportingComponent\":\"r\"}", true },
        { EVENT_V1, "reportingController=r", "{\"reportingController\":\"r\"}", true },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fields_rules r = rules(rows[i].group, rows[i].plural);
        struct fields_selector s = parsed(&r, rows[i].text);
        struct value obj;
        assert_int_equal(json_read(&arena, str_of(rows[i].object), NULL, &obj, NULL), 0);
        if (fields_match(&s, &obj) != rows[i].want)
            fail_msg("%s on %s", rows[i].text, rows[i].object);
    }
    struct fields_rules pods = rules(POD);
    struct fields_selector s = parsed(&pods, "spec.nodeName=");
    assert_true(fields_match(&s, NULL));
}

/* As a CRD declares them. */
static void custom_fields_have_their_plain_text(void **state)
{
    (void)state;
    static const struct str selectors[] = {
        { "metadata.name", 13 },
        { "spec.on", 7 },
        { "spec.n", 6 },
        { "status.successful", 17 },
    };
    struct fields_rules r = { .group = STR("example.com"),
                              .version = STR("v1"),
                              .kind = STR("Job"),
                              .selectors = selectors,
                              .n_selectors = ARRAY_LEN(selectors) };
    static const struct {
        const char *text;
        bool want;
    } rows[] = {
        { "spec.on=true", true },
        { "spec.on=false", false },
        { "spec.n=-9223372036854775808", true },
        { "spec.n=-9223372036854775807", false },
        { "status.successful=1.50", true },
        { "status.successful=1.5", false },
    };
    struct value obj;
    assert_int_equal(json_read(&arena,
                               STR("{\"spec\":{\"on\":true,\"n\":-9223372036854775808},"
                                   "\"status\":{\"successful\":1.50}}"),
                               NULL, &obj, NULL),
                     0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fields_selector s = parsed(&r, rows[i].text);
        assert_int_equal(fields_match(&s, &obj), rows[i].want);
    }
    struct fields_selector s;
    struct err err = ERR_INIT(&arena);
    assert_true(fields_parse(&arena, STR("spec.x=1"), &r, &s, &err) < 0);
    assert_true(str_eq(err.msg, STR("field label not supported: spec.x")));
}

static void names_can_be_told_without_the_object(void **state)
{
    (void)state;
    static const struct {
        const char *text, *exact;
        bool by_key, matches; /* namespace n, name a */
    } rows[] = {
        { "", NULL, true, true },
        { "metadata.name=a", "a", true, true },
        { "metadata.name==b", "b", true, false },
        { "metadata.name!=a", NULL, true, false },
        { "metadata.name=", "", true, false },
        { "metadata.namespace=n", NULL, true, true },
        { "metadata.namespace!=n,metadata.name=a", "a", true, false },
        { "metadata.name=a,status.phase=Running", "a", false, false },
        { "spec.nodeName=a", NULL, false, false },
        { "metadata.name!=b,metadata.name=a", "a", true, true },
    };
    struct fields_rules r = rules(POD);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fields_selector s = parsed(&r, rows[i].text);
        struct str name;
        assert_int_equal(fields_exact(&s, STR("metadata.name"), &name), rows[i].exact != NULL);
        if (rows[i].exact)
            assert_true(str_eq(name, str_of(rows[i].exact)));
        assert_int_equal(fields_by_key(&s), rows[i].by_key);
        if (rows[i].by_key)
            assert_int_equal(fields_match_key(&s, STR("n"), STR("a")), rows[i].matches);
    }
}

static void selectors_have_limits(void **state)
{
    (void)state;
    struct fields_rules r = rules(POD);
    autobuf text = { 0 };
    struct fields_selector s;
    struct err err = ERR_INIT(&arena);
    for (size_t i = 0; i < LIMIT_SELECTOR_REQUIREMENTS; i++)
        buf_printf(&text, "metadata.name!=%zu,", i);
    assert_int_equal(fields_parse(&arena, buf_str(&text), &r, &s, &err), 0);
    assert_int_equal(s.n, LIMIT_SELECTOR_REQUIREMENTS);
    buf_str_add(&text, STR("type=x"));
    assert_int_equal(fields_parse(&arena, buf_str(&text), &r, &s, &err), -ERR_BAD_REQUEST);
    assert_true(str_eq(err.msg, STR("the field selector has more than 1000 terms")));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(good_text_has_a_canonical_form),
        TEST(bad_text_is_refused_in_upstreams_words),
        TEST(objects_match_or_do_not),
        TEST(custom_fields_have_their_plain_text),
        TEST(names_can_be_told_without_the_object),
        TEST(selectors_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
