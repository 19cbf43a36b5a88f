/* Definitions that are too much: too deep, too large, too expensive, with names of others, or gone
 * and back again while their objects are written. Each is refused with a Status or bounded, and the
 * server goes on. Hang guards are generous; nothing else here looks at a clock. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/idiom.h"
#include "base/json.h"
#include "requests.h"

#define DEFINITIONS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define GAUGES      "/apis/abuse.example.com/v1/namespaces/default/gauges"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { ROUNDS = 30, ENUM_VALUES = 20000 };
#else
enum { ROUNDS = 200, ENUM_VALUES = 100000 };
#endif

enum { HANG_GUARD_SEC = 60, COLUMNS = 1000, COLUMN_ITEMS = 30000 };

static struct requests *requests;

/* ---- Definitions and objects ---- */

/* `spec` is the schema of .spec, as YAML on one line, or JSON. */
static struct value gauge(struct arena *a, struct str spec)
{
    return requests_parse(
        a, arena_printf(a,
                        "apiVersion: apiextensions.k8s.io/v1\n"
                        "kind: CustomResourceDefinition\n"
                        "metadata: {name: gauges.abuse.example.com}\n"
                        "spec:\n"
                        "  group: abuse.example.com\n"
                        "  scope: Namespaced\n"
                        "  names: {plural: gauges, kind: Gauge}\n"
                        "  versions:\n"
                        "  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: "
                        "{type: object, properties: {spec: " STR_FMT "}}}}\n",
                        STR_ARG(spec)));
}

static struct sent define(struct arena *a, const struct value *crd)
{
    return requests_json(requests, a, "POST", STR(DEFINITIONS), crd);
}

static void expect_status(const struct sent *got, int status)
{
    if (got->status != status)
        fail_msg("want %d, got %d " STR_FMT, status, got->status,
                 STR_ARG(str_take(got->body, 1000)));
}

static void define_gauge(struct arena *a, const char *spec)
{
    struct value crd = gauge(a, str_of(spec));
    struct sent got = define(a, &crd);
    expect_status(&got, 201);
}

static void forget(struct arena *a, const char *name)
{
    struct str path = arena_printf(a, DEFINITIONS "/%s", name);
    struct sent got = requests_json(requests, a, "DELETE", path, NULL);
    expect_status(&got, 200);
    got = requests_json(requests, a, "GET", path, NULL);
    expect_status(&got, 404);
}

static void forget_gauge(struct arena *a)
{
    forget(a, "gauges.abuse.example.com");
}

static struct sent create(struct arena *a, struct str spec)
{
    struct value obj = requests_parse(a, STR("{apiVersion: abuse.example.com/v1, kind: Gauge, "
                                             "metadata: {generateName: g-}}"));
    struct value v = requests_parse(a, spec);
    value_put_new(a, &obj, STR("spec"), v);
    return requests_json(requests, a, "POST", STR(GAUGES), &obj);
}

static int start(void **state)
{
    struct arena *a = malloc(sizeof(*a));
    arena_init(a);
    *state = a;
    alarm(HANG_GUARD_SEC);
    return 0;
}

static int end(void **state)
{
    struct arena *a = *state;
    /* Whatever was sent, the server still answers. */
    assert_int_equal(requests_json(requests, a, "GET", STR(DEFINITIONS), NULL).status, 200);
    alarm(0);
    arena_done(a);
    free(a);
    return 0;
}

/* ---- Depth and size ---- */

static struct str nested(struct arena *a, size_t depth)
{
    autobuf text = { 0 };
    for (size_t i = 0; i < depth; i++)
        buf_str_add(&text, STR("{\"type\":\"object\",\"properties\":{\"a\":"));
    buf_str_add(&text, STR("{\"type\":\"string\"}"));
    for (size_t i = 0; i < depth; i++)
        buf_str_add(&text, STR("}}"));
    return arena_str(a, buf_str(&text));
}

static struct sent define_nested(struct arena *a, size_t depth)
{
    struct str text = arena_printf(
        a,
        "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":"
        "\"CustomResourceDefinition\",\"metadata\":{\"name\":\"gauges.abuse.example."
        "com\"},\"spec\":{\"group\":\"abuse.example.com\",\"scope\":\"Namespaced\","
        "\"names\":{\"plural\":\"gauges\",\"kind\":\"Gauge\"},\"versions\":[{\"name\":"
        "\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":" STR_FMT "}}]}}",
        STR_ARG(nested(a, depth)));
    return requests_send(requests, a, "POST", STR(DEFINITIONS), "application/json", "", text);
}

static void deep_schemas(void **state)
{
    struct arena *a = *state;
    struct sent got = define_nested(a, 50);
    expect_status(&got, 201);
    got = requests_send(requests, a, "GET", STR("/openapi/v3/apis/abuse.example.com/v1"), "", "",
                        STR(""));
    expect_status(&got, 200);
    forget_gauge(a);
    static const struct {
        size_t depth;
        int status;
        const char *words;
    } rows[] = { { 200, 422, "must not be nested deeper" },
                 { 1000, 400, "max depth" },
                 { 4900, 400, "max depth" },
                 { 20000, 400, "max depth" } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        got = define_nested(a, rows[i].depth);
        expect_status(&got, rows[i].status);
        if (!sent_says(&got, rows[i].words))
            fail_msg(STR_FMT, STR_ARG(sent_message(&got)));
    }
}

static void deep_objects(void **state)
{
    struct arena *a = *state;
    define_gauge(a, "{type: object, x-kubernetes-preserve-unknown-fields: true}");
    static const struct {
        size_t depth;
        int status;
    } rows[] = { { 400, 201 }, { 20000, 400 } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autobuf text = { 0 };
        buf_str_add(&text, STR("{\"apiVersion\":\"abuse.example.com/v1\",\"kind\":\"Gauge\","
                               "\"metadata\":{\"name\":\"deep\"},\"spec\":"));
        for (size_t k = 0; k < rows[i].depth; k++)
            buf_str_add(&text, STR("{\"a\":"));
        buf_str_add(&text, STR("1"));
        for (size_t k = 0; k < rows[i].depth; k++)
            buf_str_add(&text, STR("}"));
        buf_str_add(&text, STR("}"));
        struct sent got =
            requests_send(requests, a, "POST", STR(GAUGES), "application/json", "", buf_str(&text));
        expect_status(&got, rows[i].status);
    }
    forget_gauge(a);
}

static void huge_enums(void **state)
{
    struct arena *a = *state;
    autobuf text = { 0 };
    buf_printf(&text, "{type: object, properties: {a: {type: string, enum: [");
    for (unsigned i = 0; i < ENUM_VALUES; i++)
        buf_printf(&text, "%sv%05u", i ? "," : "", i);
    buf_printf(&text, "]}}}");
    struct value crd = gauge(a, buf_str(&text));
    struct sent got = define(a, &crd);
    expect_status(&got, 201);
    got = create(a, arena_printf(a, "{a: v%05u}", ENUM_VALUES - 1));
    expect_status(&got, 201);
    got = create(a, STR("{a: nothing}"));
    expect_status(&got, 422);
    assert_true(sent_says(&got, "Unsupported value: \"nothing\""));
    forget_gauge(a);
}

/* Work that grew with the square of what was sent would take minutes here. */
static void large_objects(void **state)
{
    enum { FIELDS = 200000, ITEMS = 200000, VALUES = 100000 };
    struct arena *a = *state;
    define_gauge(a, "{type: object, properties: {map: {type: object, additionalProperties: {type: "
                    "integer, maximum: 1}}}}");
    autobuf map = { 0 };
    for (unsigned i = 0; i < FIELDS; i++)
        buf_printf(&map, "%s\"f%06u\":1", i ? "," : "", i);
    struct str text =
        arena_printf(a,
                     "{\"apiVersion\":\"abuse.example.com/v1\",\"kind\":\"Gauge\","
                     "\"metadata\":{\"name\":\"large\"},\"spec\":{\"map\":{" STR_FMT "}}}",
                     STR_ARG(buf_str(&map)));
    struct sent got = requests_send(requests, a, "POST", STR(GAUGES), "application/json", "", text);
    expect_status(&got, 201);
    struct value change = requests_parse(a, STR("{spec: {map: {other: 2}}}"));
    got = requests_json(requests, a, "PATCH", STR(GAUGES "/large"), &change);
    expect_status(&got, 422);
    assert_true(sent_says(&got, "spec.map.other: Invalid value: 2"));
    forget_gauge(a);

    autobuf spec = { 0 }, list = { 0 };
    buf_printf(&spec, "{type: array, items: {type: integer, enum: [");
    for (unsigned i = 0; i < VALUES; i++)
        buf_printf(&spec, "%s%u", i ? "," : "", i);
    buf_printf(&spec, "]}}");
    for (unsigned i = 0; i < ITEMS; i++)
        buf_printf(&list, "%s%u", i ? "," : "[", VALUES - 1);
    buf_printf(&list, "]");
    struct value crd = gauge(a, buf_str(&spec));
    got = define(a, &crd);
    expect_status(&got, 201);
    got = create(a, buf_str(&list));
    expect_status(&got, 201);
    forget_gauge(a);
}

static void large_definitions(void **state)
{
    struct arena *a = *state;
    static const struct {
        size_t size;
        int status;
    } rows[] = { { 1 << 20, 201 }, { 4 << 20, 413 } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *filling = arena_alloc(a, rows[i].size, 1);
        memset(filling, 'x', rows[i].size);
        struct value crd = gauge(
            a, arena_printf(a, "{type: object, description: %.*s}", (int)rows[i].size, filling));
        struct sent got = define(a, &crd);
        expect_status(&got, rows[i].status);
        if (got.status != 201)
            continue;
        got = create(a, STR("{}"));
        expect_status(&got, 201);
        forget_gauge(a);
    }
}

/* ---- Many versions ---- */

static void many_versions(void **state)
{
    enum { VERSIONS = 100 };
    struct arena *a = *state;
    struct value crd = gauge(a, STR("{type: object, properties: {a: {type: string}}}"));
    struct value *versions = value_edit(a, value_edit(a, &crd, STR("spec")), STR("versions"));
    struct value first = *value_at(versions, 0);
    for (unsigned i = 2; i <= VERSIONS; i++) {
        struct value v = value_clone(a, &first);
        value_put(a, &v, STR("name"), value_string(arena_printf(a, "v%u", i)));
        value_put(a, &v, STR("storage"), value_bool(false));
        value_put_item(a, versions, v);
    }
    struct sent got = define(a, &crd);
    expect_status(&got, 201);
    got = requests_send(
        requests, a, "POST", STR("/apis/abuse.example.com/v77/namespaces/default/gauges"),
        "application/yaml", "",
        STR("{apiVersion: abuse.example.com/v77, kind: Gauge, metadata: {name: g}, spec: {a: x}}"));
    expect_status(&got, 201);
    for (unsigned i = 1; i <= VERSIONS; i++) {
        struct str path =
            arena_printf(a, "/apis/abuse.example.com/v%u/namespaces/default/gauges/g", i);
        got = requests_json(requests, a, "GET", path, NULL);
        expect_status(&got, 200);
        assert_true(str_eq(value_str(value_get(&got.obj, STR("apiVersion"))),
                           arena_printf(a, "abuse.example.com/v%u", i)));
    }
    forget_gauge(a);
}

/* ---- Regular expressions ---- */

/* Matching is linear: what makes others backtrack for ages is answered as anything else. */
static void slow_patterns(void **state)
{
    struct arena *a = *state;
    static const char *const patterns[] = { "^(a+)+$", "^(a|aa)+$",           "^(.*)*x$",
                                            "^(a*)*$", "^(([a-z])+.)+[A-Z]$", "(x+x+)+y" };
    enum { SIZE = 100000 };
    autobuf text = { 0 };
    buf_printf(&text, "{a: ");
    for (size_t i = 0; i < SIZE; i++)
        buf_byte(&text, i % 2 ? 'a' : 'x');
    buf_printf(&text, "!}");
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
        define_gauge(a, str_cstr(a, arena_printf(a,
                                                 "{type: object, properties: {a: {type: string, "
                                                 "pattern: '%s'}}}",
                                                 patterns[i])));
        struct sent got = create(a, buf_str(&text));
        expect_status(&got, 422);
        assert_true(sent_says(&got, "spec.a in body should match"));
        forget_gauge(a);
    }
}

static void bad_patterns(void **state)
{
    struct arena *a = *state;
    static const char *const patterns[] = { "a{1001}", "((a{100}){100}){100}", "(?=a)", "(a", "a**",
                                            "(a)\\\\1" };
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
        struct value crd = gauge(
            a, arena_printf(a, "{type: object, properties: {a: {type: string, pattern: \"%s\"}}}",
                            patterns[i]));
        struct sent got = define(a, &crd);
        expect_status(&got, 422);
        assert_true(sent_says(&got, "must be a valid regular expression"));
    }
}

/* ---- Expressions and defaults ---- */

static void refused_definitions(void **state)
{
    struct arena *a = *state;
    static const struct {
        const char *spec, *words;
    } rows[] = {
        { "{type: array, items: {type: string}, x-kubernetes-validations: [{rule: 'self.all(x, "
          "self.all(y, x == y))'}]}",
          "estimated rule cost exceeds budget" },
        { "{type: array, items: {type: array, items: {type: string, x-kubernetes-validations: "
          "[{rule: 'self.matches(\"^a*$\")'}]}}}",
          "estimated rule cost exceeds budget" },
        { "{type: object, properties: {a: {type: string, default: 5}}}",
          "must be of type string: \"integer\"" },
        { "{type: object, properties: {a: {type: integer, maximum: 3, default: 5}}}",
          "should be less than or equal to 3" },
        { "{type: object, properties: {a: {type: object, properties: {b: {type: string}}, default: "
          "{c: x}}}}",
          "must not have unknown fields" },
        { "{type: object, properties: {a: {type: object, required: [b], properties: {b: {type: "
          "string}}, default: {}}}}",
          "default.b: Required value" },
        { "{type: object, properties: {a: {type: integer, default: 5, x-kubernetes-validations: "
          "[{rule: 'self < 3'}]}}}",
          "failed rule: self < 3" },
        { "{type: object, properties: {a: {type: string, x-kubernetes-validations: [{rule: "
          "'self.nothing'}]}}}",
          "compilation failed" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value crd = gauge(a, str_of(rows[i].spec));
        struct sent got = define(a, &crd);
        expect_status(&got, 422);
        if (!sent_says(&got, rows[i].words))
            fail_msg("%s: " STR_FMT, rows[i].spec, STR_ARG(sent_message(&got)));
    }
}

static struct str many_numbers(struct arena *a, unsigned n)
{
    autobuf text = { 0 };
    buf_printf(&text, "[");
    for (unsigned i = 0; i < n; i++)
        buf_printf(&text, "%s%u", i ? "," : "", i);
    buf_printf(&text, "]");
    return arena_str(a, buf_str(&text));
}

/* What may be run for ten million steps is stopped after one million. */
static void budget_of_rules(void **state)
{
    struct arena *a = *state;
    define_gauge(a, "{type: array, maxItems: 900, items: {type: integer}, x-kubernetes-validations:"
                    " [{rule: 'self.all(x, self.all(y, x + y >= 0))'}]}");
    struct sent got = create(a, many_numbers(a, 100));
    expect_status(&got, 201);
    got = create(a, many_numbers(a, 900));
    expect_status(&got, 422);
    assert_true(sent_says(&got, "call cost exceeds limit"));
    forget_gauge(a);
}

/* ---- Names of others ---- */

static struct value definition_of(struct arena *a, const char *group, const char *plural,
                                  const char *kind)
{
    return requests_parse(
        a, arena_printf(a,
                        "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, "
                        "metadata: {name: %s.%s, annotations: {api-approved.kubernetes.io: "
                        "'unapproved, a test'}}, spec: {group: %s, scope: Cluster, names: {plural: "
                        "%s, kind: %s}, versions: [{name: v1, served: true, storage: true, schema: "
                        "{openAPIV3Schema: {type: object}}}]}}",
                        plural, group, group, plural, kind));
}

static size_t count_below(struct arena *a, struct str prefix)
{
    struct err err = ERR_INIT(a);
    struct store_snap *snap;
    struct store_entry e;
    size_t n = 0;
    assert_int_equal(store_snap_begin(live.api.store, 0, &snap, &err), 0);
    store_range_begin(snap, prefix, STR(""));
    while (store_range_next(snap, &e, &err) == 1)
        n++;
    store_snap_end(snap);
    return n;
}

/* A kind with a thousand columns that each look through all of an object. */
static void define_columns(struct arena *a)
{
    struct value crd = gauge(a, STR("{type: object, x-kubernetes-preserve-unknown-fields: true}"));
    struct value columns = value_array();
    for (unsigned i = 0; i < COLUMNS; i++) {
        struct str column = arena_printf(a, "{name: C%u, type: string, jsonPath: %s}", i,
                                         i ? "..zz" : ".spec.first");
        value_put_item(a, &columns, requests_parse(a, column));
    }
    struct value *versions = value_edit(a, value_edit(a, &crd, STR("spec")), STR("versions"));
    value_put_new(a, value_edit_at(a, versions, 0), STR("additionalPrinterColumns"), columns);
    struct sent got = define(a, &crd);
    expect_status(&got, 201);
}

/* The first cells are there, the last are not: a row costs no more than it may. */
static void expect_rows(const struct sent *got, size_t n)
{
    const struct value *rows = value_get(&got->obj, STR("rows"));
    expect_status(got, 200);
    assert_true(rows && rows->n == n);
    value_each_item (row, rows) {
        const struct value *cells = value_get(row, STR("cells"));
        assert_true(cells && cells->n == COLUMNS + 1);
        assert_true(str_eq(value_str(value_at(cells, 1)), STR("one")));
        assert_true(str_eq(value_str(value_at(cells, 2)), STR("found")));
        assert_true(value_is(value_at(cells, COLUMNS), VALUE_NULL));
    }
}

/* Printed by a loop in turns if it is a list, by a worker if it is one large object. */
static void costly_columns(void **state)
{
    static const char table[] = "application/json;as=Table;v=v1;g=meta.k8s.io";
    struct arena *a = *state;
    define_columns(a);
    autobuf spec = { 0 };
    buf_printf(&spec, "{\"first\":\"one\",\"l\":[");
    for (unsigned i = 0; i < COLUMN_ITEMS; i++)
        buf_printf(&spec, "%s{}", i ? "," : "");
    buf_printf(&spec, "],\"zz\":\"found\"}");
    struct str name = STR("");
    for (unsigned i = 0; i < 3; i++) {
        struct sent got = create(a, buf_str(&spec));
        expect_status(&got, 201);
        name = value_str(value_dig(&got.obj, "metadata", "name"));
    }
    struct str path = arena_printf(a, GAUGES "/" STR_FMT, STR_ARG(name));
    struct sent got = requests_send(requests, a, "GET", STR(GAUGES), "", table, STR(""));
    expect_rows(&got, 3);
    got = requests_send(requests, a, "GET", path, "", table, STR(""));
    expect_rows(&got, 1);
    forget_gauge(a);
}

/* A definition with the name of a built-in resource takes nothing away, neither when it comes nor
 * when it goes. */
static void names_of_built_in_ones(void **state)
{
    struct arena *a = *state;
    struct value service = requests_parse(
        a, STR("{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: "
               "v1.abuse.example.com}, spec: {group: abuse.example.com, version: v1, "
               "groupPriorityMinimum: 10, versionPriority: 10, service: {name: s, namespace: "
               "default}, insecureSkipTLSVerify: true}}"));
    struct sent got = requests_json(requests, a, "POST",
                                    STR("/apis/apiregistration.k8s.io/v1/apiservices"), &service);
    expect_status(&got, 201);
    static const struct {
        const char *group, *plural, *kind;
        bool accepted;
    } rows[] = {
        { "apiregistration.k8s.io", "apiservices", "APIService", true },
        { "apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition", true },
        { "rbac.authorization.k8s.io", "clusterroles", "ClusterRole", true },
        { "apps", "deployments", "Deployment", false },
        { "pods", "default", "Pod", false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        size_t before = count_below(a, STR("/registry/"));
        struct value crd = definition_of(a, rows[i].group, rows[i].plural, rows[i].kind);
        got = define(a, &crd);
        expect_status(&got, rows[i].accepted ? 201 : 422);
        if (!rows[i].accepted) {
            assert_true(sent_says(&got, "should be a domain with at least one dot"));
            continue;
        }
        assert_int_equal(count_below(a, STR("/registry/")), before + 1);
        forget(a, str_cstr(a, arena_printf(a, "%s.%s", rows[i].plural, rows[i].group)));
        assert_int_equal(count_below(a, STR("/registry/")), before);
    }
    got = requests_json(requests, a, "GET",
                        STR("/apis/apiregistration.k8s.io/v1/apiservices/v1.abuse.example.com"),
                        NULL);
    expect_status(&got, 200);
}

/* ---- Coming and going ---- */

static atomic_bool is_over;
static atomic_uint n_written;

/* Writes, reads and watches as long as the test goes on; every answer may be "not now". */
static void *write_objects(void *arg)
{
    unsigned id = (unsigned)(uintptr_t)arg;
    for (unsigned i = 0; !is_over; i++) {
        struct arena a;
        arena_init(&a);
        struct value obj = requests_parse(
            &a, arena_printf(&a,
                             "{apiVersion: abuse.example.com/v1, kind: Gauge, metadata: {name: "
                             "g-%u-%u}, spec: {a: x}}",
                             id, i % 10));
        struct str one = arena_printf(&a, GAUGES "/g-%u-%u", id, i % 10);
        struct sent got = requests_json(requests, &a, "POST", STR(GAUGES), &obj);
        n_written += got.status == 201;
        if (got.status >= 500)
            fail_msg("%d " STR_FMT, got.status, STR_ARG(got.body));
        (void)requests_json(requests, &a, "GET", STR(GAUGES), NULL);
        got = requests_send(requests, &a, "PATCH",
                            arena_printf(&a, STR_FMT "?fieldManager=m&force=true", STR_ARG(one)),
                            "application/apply-patch+yaml", "",
                            STR("{apiVersion: abuse.example.com/v1, kind: Gauge, spec: {a: y}}"));
        n_written += got.status == 201;
        arena_done(&a);
    }
    return NULL;
}

static void coming_and_going(void **state)
{
    enum { WRITERS = 4 };
    struct arena *a = *state;
    pthread_t threads[WRITERS];
    is_over = false;
    for (uintptr_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_objects, (void *)i), 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct arena round;
        arena_init(&round);
        define_gauge(&round, "{type: object, properties: {a: {type: string}}}");
        if (i % 4 == 0)
            (void)requests_json(requests, &round, "GET", STR("/openapi/v2"), NULL);
        if (i % 3 == 0) {
            struct value change = requests_parse(&round, STR("{metadata: {labels: {a: b}}}"));
            (void)requests_json(requests, &round, "PATCH",
                                STR(DEFINITIONS "/gauges.abuse.example.com"), &change);
        }
        forget_gauge(&round);
        arena_done(&round);
    }
    is_over = true;
    for (size_t i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    printf("%u objects written in %u rounds\n", (unsigned)n_written, ROUNDS);
    assert_true(n_written > 0);
    assert_int_equal(count_below(a, STR("/registry/abuse.example.com/")), 0);
}

static void *let_go(void *arg)
{
    (void)arg;
    struct arena a;
    arena_init(&a);
    struct value change = requests_parse(&a, STR("{metadata: {finalizers: null}}"));
    (void)requests_json(requests, &a, "PATCH", STR(GAUGES "/held"), &change);
    arena_done(&a);
    return NULL;
}

/* Whichever comes first, the end of the definition or that of what holds an object of it: both are
 * gone afterwards. */
static void held_objects(void **state)
{
    struct arena *a = *state;
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct arena round;
        pthread_t thread;
        arena_init(&round);
        define_gauge(&round, "{type: object}");
        struct value obj = requests_parse(
            &round, STR("{apiVersion: abuse.example.com/v1, kind: Gauge, metadata: {name: held, "
                        "finalizers: [example.com/held]}}"));
        struct sent got = requests_json(requests, &round, "POST", STR(GAUGES), &obj);
        expect_status(&got, 201);
        assert_int_equal(pthread_create(&thread, NULL, let_go, NULL), 0);
        struct str path = STR(DEFINITIONS "/gauges.abuse.example.com");
        got = requests_json(requests, &round, "DELETE", path, NULL);
        expect_status(&got, 200);
        pthread_join(thread, NULL);
        got = requests_json(requests, &round, "GET", path, NULL);
        expect_status(&got, 404);
        arena_done(&round);
    }
    assert_int_equal(count_below(a, STR("/registry/abuse.example.com/")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(deep_schemas, start, end),
        cmocka_unit_test_setup_teardown(deep_objects, start, end),
        cmocka_unit_test_setup_teardown(huge_enums, start, end),
        cmocka_unit_test_setup_teardown(large_objects, start, end),
        cmocka_unit_test_setup_teardown(large_definitions, start, end),
        cmocka_unit_test_setup_teardown(many_versions, start, end),
        cmocka_unit_test_setup_teardown(slow_patterns, start, end),
        cmocka_unit_test_setup_teardown(bad_patterns, start, end),
        cmocka_unit_test_setup_teardown(refused_definitions, start, end),
        cmocka_unit_test_setup_teardown(budget_of_rules, start, end),
        cmocka_unit_test_setup_teardown(costly_columns, start, end),
        cmocka_unit_test_setup_teardown(names_of_built_in_ones, start, end),
        cmocka_unit_test_setup_teardown(coming_and_going, start, end),
        cmocka_unit_test_setup_teardown(held_objects, start, end),
    };
    live_start(&live);
    live_populate(&live);
    requests = requests_new(&live);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    requests_free(requests);
    live_stop(&live);
    return failed;
}
