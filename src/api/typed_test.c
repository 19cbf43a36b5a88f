#include "api/typed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/idiom.h"
#include "base/json.h"

/* A type by "Kind" of core/v1, or "group/version/Kind". */
static const struct kind_type *type_named(const char *name)
{
    struct str rest = str_of(name), group = STR(""), version = STR("v1");
    if (str_find(rest, '/') >= 0) {
        group = str_cut(&rest, '/');
        version = str_cut(&rest, '/');
    }
    const struct kind_type *t = kind_type_find(group, version, rest);
    assert_non_null(t);
    return t;
}

typedef int reader(struct arena *a, const struct kind_type *t, const struct value *in,
                   struct typed_notes *notes, struct value *ret, struct err *err);

/* What becomes of `json`: the object, or the message. Notes go behind it, in brackets. */
static struct str outcome(struct arena *a, reader *read, const char *type, const char *json)
{
    struct err err = ERR_INIT(a);
    struct typed_notes notes;
    struct value in, out;
    autobuf text = { 0 };
    assert_int_equal(json_read(a, str_of(json), NULL, &in, &err), 0);
    if (read(a, type_named(type), &in, &notes, &out, &err) < 0) {
        assert_int_equal(err.code, ERR_BAD_REQUEST);
        return err.msg;
    }
    json_write(&text, &out);
    for (size_t i = 0; i < notes.n && i < TYPED_NOTES_MAX; i++)
        buf_printf(&text, " [" STR_FMT "]", STR_ARG(notes.notes[i]));
    return arena_str(a, buf_str(&text));
}

struct row {
    const char *type, *json, *want;
};

static void check_rows(const struct row *rows, size_t n, reader *read)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < n; i++) {
        struct str got = outcome(&a, read, rows[i].type, rows[i].json), want = str_of(rows[i].want);
        if (!str_eq(got, want))
            print_error("row %zu: " STR_FMT "\n", i, STR_ARG(got));
        assert_true(str_eq(got, want));
    }
    arena_done(&a);
}
#define CHECK_ROWS_WITH(rows, read) check_rows(rows, ARRAY_LEN(rows), read)
#define CHECK_ROWS(rows)            CHECK_ROWS_WITH(rows, typed_read)

static void order_and_zero_values_are_gos(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "ConfigMap", "{}", "{\"metadata\":{}}" },
        { "ConfigMap",
          "{\"data\":{\"b\":\"1\",\"a\":\"2\"},\"metadata\":{\"name\":\"x\"},\"apiVersion\":\"v1\","
          "\"kind\":\"ConfigMap\"}",
          "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"x\"},"
          "\"data\":{\"a\":\"2\",\"b\":\"1\"}}" },
        { "ConfigMap", "{\"metadata\":null,\"data\":null,\"immutable\":null}",
          "{\"metadata\":{}}" },
        { "ConfigMap", "{\"metadata\":{\"name\":null},\"data\":{},\"immutable\":false}",
          "{\"metadata\":{},\"immutable\":false}" },
        { "ConfigMap", "{\"data\":{\"a\":null}}", "{\"metadata\":{},\"data\":{\"a\":\"\"}}" },
        { "ConfigMap", "{\"binaryData\":{\"a\":null}}",
          "{\"metadata\":{},\"binaryData\":{\"a\":\"\"}}" },
        { "ContainerPort", "{\"containerPort\":0,\"hostPort\":0}", "{\"containerPort\":0}" },
        { "ContainerPort", "{}", "{\"containerPort\":0}" },
        { "PodSpec", "{\"containers\":[]}", "{\"containers\":null}" },
        { "PodSpec", "{\"containers\":[null]}",
          "{\"containers\":[{\"name\":\"\",\"resources\":{}}]}" },
        { "PodSpec", "{\"containers\":[],\"priority\":0,\"nodeSelector\":{}}",
          "{\"containers\":null,\"priority\":0}" },
        { "rbac.authorization.k8s.io/v1/Role", "{\"rules\":[]}",
          "{\"metadata\":{},\"rules\":null}" },
        { "NodeCondition", "{}",
          "{\"type\":\"\",\"status\":\"\",\"lastHeartbeatTime\":null,\"lastTransitionTime\":"
          "null}" },
        { "meta/v1/ObjectMeta", "{\"creationTimestamp\":null}", "{}" },
        { "ServicePort", "{\"port\":80}", "{\"port\":80,\"targetPort\":0}" },
        { "apps/v1/ControllerRevision", "{\"data\":null}",
          "{\"metadata\":{},\"data\":null,\"revision\":0}" },
        { "apps/v1/ControllerRevision", "{\"data\":{\"b\":[1.50],\"a\":{\"a\":1,\"a\":2}}}",
          "{\"metadata\":{},\"data\":{\"b\":[1.50],\"a\":{\"a\":1,\"a\":2}},\"revision\":0}" },
        { "EnvFromSource", "{\"configMapRef\":{\"name\":\"x\",\"optional\":true}}",
          "{\"configMapRef\":{\"name\":\"x\",\"optional\":true}}" },
        { "Probe", "{\"timeoutSeconds\":1,\"exec\":{\"command\":[\"a\",null]}}",
          "{\"exec\":{\"command\":[\"a\",\"\"]},\"timeoutSeconds\":1}" },
    };
    CHECK_ROWS(rows);
}

static void scalars_are_canonical(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "ResourceRequirements",
          "{\"limits\":{\"cpu\":0.5,\"memory\":\"1024Mi\",\"a\":2,\"b\":null}}",
          "{\"limits\":{\"a\":\"2\",\"b\":\"0\",\"cpu\":\"500m\",\"memory\":\"1Gi\"}}" },
        { "ResourceRequirements", "{\"limits\":{\"cpu\":\" 1 \"}}",
          "{\"limits\":{\"cpu\":\"1\"}}" },
        { "ServicePort", "{\"port\":80,\"targetPort\":\"http\"}",
          "{\"port\":80,\"targetPort\":\"http\"}" },
        { "ServicePort", "{\"port\":-0,\"targetPort\":-0}", "{\"port\":0,\"targetPort\":0}" },
        { "meta/v1/ObjectMeta", "{\"creationTimestamp\":\"2020-01-02T03:04:05.6+01:00\"}",
          "{\"creationTimestamp\":\"2020-01-02T02:04:05Z\"}" },
        { "meta/v1/ObjectMeta", "{\"creationTimestamp\":\"0001-01-01T00:00:00Z\"}", "{}" },
        { "coordination.k8s.io/v1/LeaseSpec",
          "{\"renewTime\":\"2020-01-02T03:04:05.600000+01:00\"}",
          "{\"renewTime\":\"2020-01-02T02:04:05.600000Z\"}" },
        { "Secret",
          "{\"data\":{\"a\":\"Zm\\n8=\\r\",\"b\":\"Zh==\",\"c\":\"Zm9=\",\"d\":\"\",\"e\":\"Zm9v\"}"
          "}",
          "{\"metadata\":{},\"data\":{\"a\":\"Zm8=\",\"b\":\"Zg==\",\"c\":\"Zm8=\",\"d\":\"\","
          "\"e\":\"Zm9v\"}}" },
        { "authorization.k8s.io/v1/SubjectAccessReviewSpec",
          "{\"extra\":{\"a\":[\"x\"],\"b\":null}}", "{\"extra\":{\"a\":[\"x\"],\"b\":null}}" },
    };
    CHECK_ROWS(rows);
}

#define SCHEMA "apiextensions.k8s.io/v1/JSONSchemaProps"

static void schemas_have_forms_of_their_own(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { SCHEMA, "{\"items\":{\"type\":\"string\"},\"type\":\"array\"}",
          "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}" },
        { SCHEMA, "{\"items\":[{},{\"type\":\"a\"}]}", "{\"items\":[{},{\"type\":\"a\"}]}" },
        { SCHEMA, "{\"items\":[]}", "{}" },
        { SCHEMA, "{\"items\":7}", "{}" },
        { SCHEMA, "{\"additionalProperties\":true,\"additionalItems\":false}",
          "{\"additionalProperties\":true,\"additionalItems\":false}" },
        { SCHEMA, "{\"additionalProperties\":{\"type\":\"a\"}}",
          "{\"additionalProperties\":{\"type\":\"a\"}}" },
        { SCHEMA, "{\"additionalProperties\":1}", "boolean or JSON schema expected" },
        { SCHEMA, "{\"dependencies\":{\"b\":{\"type\":\"x\"},\"a\":[\"y\"]}}",
          "{\"dependencies\":{\"a\":[\"y\"],\"b\":{\"type\":\"x\"}}}" },
        { SCHEMA, "{\"default\":{\"b\":1.50,\"a\":null},\"enum\":[null,1,\"x\"],\"example\":null}",
          "{\"default\":{\"b\":1.50,\"a\":null},\"enum\":[null,1,\"x\"]}" },
        { SCHEMA, "{\"maximum\":1e2,\"minimum\":0.10,\"multipleOf\":1e21}",
          "{\"maximum\":100,\"minimum\":0.1,\"multipleOf\":1e+21}" },
        { SCHEMA, "{\"maximum\":0.0000001,\"minimum\":-123456789.125,\"multipleOf\":0}",
          "{\"maximum\":1e-7,\"minimum\":-123456789.125,\"multipleOf\":0}" },
        { SCHEMA, "{\"maximum\":5e-324,\"minimum\":0.000001,\"multipleOf\":123456789012345678901}",
          "{\"maximum\":5e-324,\"minimum\":0.000001,\"multipleOf\":123456789012345680000}" },
        { SCHEMA, "{\"maximum\":1e400}",
          "json: cannot unmarshal number 1e400 into Go struct field JSONSchemaProps.maximum of "
          "type "
          "float64" },
        /* another decoder: nothing is noted, and mistakes are of the field it was called for */
        { SCHEMA, "{\"items\":{\"typo\":1,\"not\":{\"nope\":1}},\"nope\":1}",
          "{\"items\":{\"not\":{}}} [unknown field \"nope\"]" },
        { SCHEMA, "{\"properties\":{\"a\":{\"items\":{\"properties\":{\"b\":{\"type\":1}}}}}}",
          "json: cannot unmarshal number into Go struct field JSONSchemaProps.properties.items of "
          "type string" },
        { SCHEMA, "{\"properties\":{\"a\":{\"type\":1}}}",
          "json: cannot unmarshal number into Go struct field JSONSchemaProps.properties.type of "
          "type string" },
    };
    CHECK_ROWS(rows);
}

static void wrong_types_are_named_as_go_does(void **state)
{
    (void)state;
#define INTO(what, field, type) \
    "json: cannot unmarshal " what " into Go struct field " field " of type " type
    static const struct row rows[] = {
        { "apps/v1/Deployment", "{\"spec\":{\"replicas\":\"3\"}}",
          INTO("string", "DeploymentSpec.spec.replicas", "int32") },
        { "apps/v1/Deployment", "{\"spec\":{\"replicas\":2147483648}}",
          INTO("number 2147483648", "DeploymentSpec.spec.replicas", "int32") },
        { "apps/v1/Deployment", "{\"spec\":{\"replicas\":1.0}}",
          INTO("number 1.0", "DeploymentSpec.spec.replicas", "int32") },
        { "apps/v1/Deployment", "{\"spec\":{\"template\":{\"spec\":{\"containers\":{}}}}}",
          INTO("object", "PodSpec.spec.template.spec.containers", "[]v1.Container") },
        { "apps/v1/Deployment",
          "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{},{\"name\":[]}]}}}}",
          INTO("array", "Container.spec.template.spec.containers.name", "string") },
        { "apps/v1/Deployment", "{\"spec\":{\"strategy\":{\"rollingUpdate\":{\"maxSurge\":true}}}}",
          INTO("bool", "RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge", "int32") },
        { "ConfigMap", "{\"data\":{\"a\":1}}", INTO("number", "ConfigMap.data", "string") },
        { "Namespace", "{\"spec\":{\"finalizers\":[true]}}",
          INTO("bool", "NamespaceSpec.spec.finalizers", "v1.FinalizerName") },
        { "Namespace", "{\"spec\":{\"finalizers\":{}}}",
          INTO("object", "NamespaceSpec.spec.finalizers", "[]v1.FinalizerName") },
        { "ConfigMap", "{\"metadata\":{\"uid\":1}}",
          INTO("number", "ObjectMeta.metadata.uid", "types.UID") },
        { "autoscaling/v2/HPAScalingPolicy", "{\"type\":1}",
          INTO("number", "HPAScalingPolicy.type", "v2.HPAScalingPolicyType") },
        { "ConfigMap", "{\"metadata\":{\"labels\":\"x\"}}",
          INTO("string", "ObjectMeta.metadata.labels", "map[string]string") },
        { "ConfigMap", "{\"metadata\":7}", INTO("number", "ConfigMap.metadata", "v1.ObjectMeta") },
        { "ConfigMap", "{\"metadata\":{\"creationTimestamp\":1}}",
          INTO("number", "ObjectMeta.metadata.creationTimestamp", "string") },
        { "Secret", "{\"data\":{\"a\":1}}", INTO("number", "Secret.data", "[]uint8") },
        { "PodSpec", "{\"containers\":[{\"resources\":{\"limits\":[]}}]}",
          INTO("array", "ResourceRequirements.containers.resources.limits", "v1.ResourceList") },
        { "authorization.k8s.io/v1/SubjectAccessReviewSpec", "{\"extra\":{\"a\":\"x\"}}",
          INTO("string", "SubjectAccessReviewSpec.extra", "v1.ExtraValue") },
        /* the first wrong type counts, but a decoder of its own ends it */
        { "ConfigMap", "{\"immutable\":1,\"data\":[]}",
          INTO("number", "ConfigMap.immutable", "bool") },
        { "ConfigMap", "{\"immutable\":1,\"metadata\":{\"creationTimestamp\":\"x\"}}",
          "parsing time \"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as \"2006\"" },
        { "ResourceRequirements", "{\"limits\":{\"cpu\":\"x\"}}",
          "quantities must match the regular expression "
          "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'" },
        { "ResourceRequirements", "{\"limits\":{\"cpu\":{}}}",
          "quantities must match the regular expression "
          "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'" },
        { "ConfigMap", "[]", "json: cannot unmarshal array into Go value of type v1.ConfigMap" },
    };
    CHECK_ROWS(rows);
}

static void bad_base64_is_placed_as_go_does(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t at;
    } rows[] = {
        { "!", 0 },     { "Zm9v!", 4 }, { "Z", 0 },     { "Zm", 0 },     { "Zm9", 0 },
        { "=", 0 },     { "Z=", 1 },    { "Zm=", 3 },   { "Zm=x", 2 },   { "Zm==x", 4 },
        { "Zm8=x", 4 }, { "Zg===", 4 }, { "Zm9vZ", 4 }, { "Zm\\n9", 1 }, { "Zm9v Zm9v", 4 },
        { "Zm9v=", 4 }, { "Zm-_", 2 },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str json = arena_printf(&a, "{\"data\":{\"a\":\"%s\"}}", rows[i].text);
        struct str want = arena_printf(&a, "illegal base64 data at input byte %zu", rows[i].at);
        struct str got = outcome(&a, typed_read, "Secret", str_cstr(&a, json));
        if (!str_eq(got, want))
            print_error("row %zu: " STR_FMT "\n", i, STR_ARG(got));
        assert_true(str_eq(got, want));
    }
    arena_done(&a);
}

static void unknown_and_duplicate_fields_are_noted(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "ConfigMap",
          "{\"Data\":{},\"metadata\":{\"nope\":1,\"name\":\"a\",\"name\":\"b\"},\"x\":1}",
          "{\"metadata\":{\"name\":\"b\"}} [unknown field \"Data\"] [unknown field "
          "\"metadata.nope\"] "
          "[duplicate field \"metadata.name\"] [unknown field \"x\"]" },
        { "ConfigMap", "{\"data\":{\"k\":\"1\",\"j\":\"2\",\"k\":\"3\"}}",
          "{\"metadata\":{},\"data\":{\"j\":\"2\",\"k\":\"3\"}} [duplicate field \"data.k\"]" },
        { "ConfigMap", "{\"x\":1,\"x\":{\"y\":1,\"y\":2}}",
          "{\"metadata\":{}} [unknown field \"x\"]" },
        { "ConfigMap", "{\"metadata\":{\"name\":\"a\",\"name\":null}}",
          "{\"metadata\":{\"name\":\"a\"}} [duplicate field \"metadata.name\"]" },
        { "PodSpec", "{\"containers\":[{},{\"ports\":[{\"a\\\"b\\n\":1}]}]}",
          "{\"containers\":[{\"name\":\"\",\"resources\":{}},{\"name\":\"\",\"ports\":[{"
          "\"containerPort\":0}],\"resources\":{}}]} "
          "[unknown field \"containers[1].ports[0].a\\\"b\\n\"]" },
        { "ObjectReference", "{\"metadata\":{},\"kind\":\"a\"}",
          "{\"kind\":\"a\"} [unknown field \"metadata\"]" },
    };
    CHECK_ROWS(rows);
}

static void notes_are_bounded(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct value in = value_object(), data = value_object(), out;
    enum { MANY = 100000 };
    for (int i = 0; i < MANY; i++) {
        value_add(&a, &in, arena_printf(&a, "x%d", i), value_null());
        value_add(&a, &data, arena_printf(&a, "k%d", MANY - i / 2), value_null());
    }
    value_add(&a, &in, STR("data"), data);
    struct typed_notes notes;
    const struct kind_type *t = type_named("ConfigMap");
    assert_int_equal(typed_read(&a, t, &in, &notes, &out, NULL), 0);
    assert_true(str_eq(notes.notes[TYPED_NOTES_MAX - 1], STR("unknown field \"x99\"")));
    assert_int_equal(notes.n, MANY + MANY / 2);
    assert_int_equal(value_get(&out, STR("data"))->n, MANY / 2);
    arena_done(&a);
}

static void types_nest_only_so_deep(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    for (int depth = TYPED_DEPTH_MAX - 1; depth <= TYPED_DEPTH_MAX; depth++) {
        struct value v = value_object(), out;
        for (int i = 0; i < depth; i++) {
            struct value outer = value_object();
            value_add(&a, &outer, i % 2 ? STR("not") : STR("items"), v);
            v = outer;
        }
        struct err err = ERR_INIT(&a);
        int r = typed_read(&a, type_named(SCHEMA), &v, NULL, &out, &err);
        assert_int_equal(r, depth < TYPED_DEPTH_MAX ? 0 : -ERR_BAD_REQUEST);
    }
    arena_done(&a);
}

static void empty_lists_that_were_sent_stay(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "rbac.authorization.k8s.io/v1/Role", "{\"rules\":[]}", "{\"metadata\":{},\"rules\":[]}" },
        { "rbac.authorization.k8s.io/v1/Role", "{\"rules\":null}",
          "{\"metadata\":{},\"rules\":null}" },
        { "ConfigMap", "{\"data\":{},\"metadata\":{\"finalizers\":[]}}", "{\"metadata\":{}}" },
        { "autoscaling/v2/HPAScalingRules", "{\"policies\":[]}", "{\"policies\":[]}" },
        { "autoscaling/v2/HPAScalingRules", "{\"policies\":null}", "{}" },
    };
    CHECK_ROWS_WITH(rows, typed_read_sent);
}

static void what_is_empty_is_told_before_it_is_checked(void **state)
{
    (void)state;
    static const struct {
        const char *type, *text;
        bool has_empty;
    } rows[] = {
        { "rbac.authorization.k8s.io/v1/Role", "{\"rules\":[]}", true },
        { "rbac.authorization.k8s.io/v1/Role", "{\"rules\":[{\"verbs\":[\"get\"]}]}", false },
        { "rbac.authorization.k8s.io/v1/Role", "{\"rules\":[{\"verbs\":[]}]}", true },
        { "ConfigMap", "{\"data\":{\"a\":\"\"}}", false },
        { "Pod", "{\"spec\":{\"volumes\":[{\"emptyDir\":{}}],\"containers\":[{}]}}", false },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = ERR_INIT(&a);
        struct value in, out, stored;
        bool has_empty = !rows[i].has_empty;
        const struct kind_type *t = type_named(rows[i].type);
        assert_int_equal(json_read(&a, str_of(rows[i].text), NULL, &in, &err), 0);
        assert_int_equal(typed_read_checked(&a, t, &in, &has_empty, &out, &err), 0);
        assert_int_equal(has_empty, rows[i].has_empty);
        assert_int_equal(typed_read(&a, t, &out, NULL, &stored, &err), 0);
        assert_int_equal(value_eq(&out, &stored), !has_empty);
    }
    arena_done(&a);
}

static void what_was_made_is_read_as_by_reflection(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "ConfigMap", "{\"data\":\"x\"}", "cannot restore map from string" },
        { "ConfigMap", "{\"data\":{\"a\":5}}", "cannot convert int64 to string" },
        { "ConfigMap", "{\"data\":{\"a\":true}}", "unrecognized type: string" },
        { "Pod", "{\"spec\":{\"dnsPolicy\":true}}", "unrecognized type: string" },
        { "Pod", "{\"spec\":{\"dnsPolicy\":5}}", "cannot convert int64 to v1.DNSPolicy" },
        { "ConfigMap", "{\"metadata\":[]}", "cannot restore struct from: slice" },
        { "Pod", "{\"spec\":{\"containers\":{}}}", "cannot restore slice from map" },
        { "apps/v1/Deployment", "{\"spec\":{\"replicas\":\"3\"}}", "unrecognized type: int32" },
        { "apps/v1/Deployment", "{\"spec\":{\"replicas\":3.5}}",
          "cannot convert float64 to int32" },
        /* The first field of the struct counts, not the first of the document. */
        { "apps/v1/Deployment", "{\"spec\":{\"paused\":1,\"replicas\":\"3\"}}",
          "unrecognized type: int32" },
        { "Secret", "{\"data\":{\"a\":\"!\"}}",
          "error decoding from json: illegal base64 data at input byte 0" },
        { "Secret", "{\"data\":{\"a\":1}}", "cannot restore slice from int64" },
        { "ObjectReference", "{\"name\":\"a\",\"odd\":1}",
          "{\"name\":\"a\"} [unknown field \"odd\"]" },
        { "ContainerPort", "{\"containerPort\":80.0,\"hostPort\":99999999999}",
          "{\"hostPort\":1215752191,\"containerPort\":80}" },
        { "Toleration", "{\"tolerationSeconds\":1e30}",
          "{\"tolerationSeconds\":-9223372036854775808}" },
        { "ServicePort", "{\"port\":1,\"targetPort\":true}",
          "json: cannot unmarshal bool into Go value of type int32" },
    };
    CHECK_ROWS_WITH(rows, typed_read_made);
}

/* Reading what was written changes nothing, for the zero value of every type. */
static void zero_values_stay(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < n_kind_types; i++) {
        arena_reset(&a);
        struct value in = value_object(), once, twice;
        struct typed_notes notes;
        if (kind_types[i].form != KIND_FORM_OBJECT)
            continue;
        assert_int_equal(typed_read(&a, &kind_types[i], &in, NULL, &once, NULL), 0);
        assert_int_equal(typed_read(&a, &kind_types[i], &once, &notes, &twice, NULL), 0);
        assert_true(value_eq(&once, &twice));
        assert_int_equal(notes.n, 0);
    }
    arena_done(&a);
}

static struct value many(struct arena *a, const char *head, const char *item, size_t n,
                         const char *tail)
{
    struct err err = ERR_INIT(a);
    struct value v;
    autobuf text = { 0 };
    buf_str_add(&text, str_of(head));
    for (size_t i = 0; i < n; i++)
        buf_printf(&text, "%s%s", i ? "," : "", item);
    buf_str_add(&text, str_of(tail));
    assert_int_equal(json_read(a, arena_str(a, buf_str(&text)), NULL, &v, &err), 0);
    return v;
}

/* What is the same many times is there once, however often it is read; an edit of one leaves the
 * others alone. */
static void what_is_empty_is_shared(void **state)
{
    (void)state;
    enum { N = 100000 };
    struct arena in_arena, a;
    struct err err = ERR_INIT(&in_arena);
    arena_init(&in_arena);
    arena_init(&a);
    struct value in = many(&in_arena, "{\"ownerReferences\":[", "{}", N, "]}"), once, twice;
    assert_int_equal(typed_read_sent(&a, type_named("meta/v1/ObjectMeta"), &in, NULL, &once, &err),
                     0);
    assert_int_equal(typed_read(&a, type_named("meta/v1/ObjectMeta"), &once, NULL, &twice, &err),
                     0);
    if (a.held > N * 4 * sizeof(struct value))
        fail_msg("%zu bytes are held", a.held);
    struct value *owners = value_edit(&a, &twice, STR("ownerReferences"));
    value_put(&a, value_edit_at(&a, owners, 0), STR("name"), value_string(STR("x")));
    assert_true(str_eq(value_str(value_dig(value_at(owners, 0), "name")), STR("x")));
    assert_true(str_eq(value_str(value_dig(value_at(owners, 1), "name")), STR("")));
    assert_int_equal(value_at(owners, N - 1)->n, 4);
    arena_done(&a);
    arena_done(&in_arena);
}

/* Each of these is little more than the one before, which it has inside: no document is deep, but
 * what they stand for is. */
static void what_is_shared_nests_only_so_deep(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct value inner = value_object(), all = value_object(), top = value_object(), out;
    value_put_new(&a, &inner, STR("type"), value_string(STR("string")));
    for (int i = 0; i < 2 * TYPED_DEPTH_MAX; i++) {
        struct value properties = value_object(), outer = value_object();
        value_put_new(&a, &properties, STR("x"), value_share(&inner));
        value_put_new(&a, &outer, STR("properties"), properties);
        inner = value_share(&outer);
        value_put_new(&a, &all, arena_printf(&a, "p%05d", i), value_share(&inner));
    }
    value_put_new(&a, &top, STR("properties"), all);
    const struct kind_type *t = type_named("apiextensions.k8s.io/v1/JSONSchemaProps");
    assert_int_equal(typed_read(&a, t, &top, NULL, &out, &err), -ERR_BAD_REQUEST);
    assert_true(str_eq(err.msg, STR("exceeded max depth")));
    arena_done(&a);
}

static void reading_ends_with_its_allowance(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct allowance w = { .end = ALLOWANCE_TOO_LARGE };
    struct value in = many(&a, "{\"finalizers\":[", "\"a\"", 10, "]}"), out;
    arena_allow(&a, &w);
    assert_int_equal(typed_read(&a, type_named("meta/v1/ObjectMeta"), &in, NULL, &out, &err),
                     -ERR_TOO_LARGE);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_and_zero_values_are_gos),
        cmocka_unit_test(scalars_are_canonical),
        cmocka_unit_test(schemas_have_forms_of_their_own),
        cmocka_unit_test(wrong_types_are_named_as_go_does),
        cmocka_unit_test(bad_base64_is_placed_as_go_does),
        cmocka_unit_test(unknown_and_duplicate_fields_are_noted),
        cmocka_unit_test(notes_are_bounded),
        cmocka_unit_test(types_nest_only_so_deep),
        cmocka_unit_test(empty_lists_that_were_sent_stay),
        cmocka_unit_test(what_is_empty_is_told_before_it_is_checked),
        cmocka_unit_test(what_was_made_is_read_as_by_reflection),
        cmocka_unit_test(zero_values_stay),
        cmocka_unit_test(what_is_empty_is_shared),
        cmocka_unit_test(what_is_shared_nests_only_so_deep),
        cmocka_unit_test(reading_ends_with_its_allowance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
