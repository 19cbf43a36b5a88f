#include "api/meta.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/idiom.h"
#include "base/json.h"
#include "base/limits.h"

#define NAME_PART                                                                             \
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and " \
    "end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex " \
    "used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define LABEL_VALUE                                                                             \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or " \
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "          \
    "'my_value',  or '12345', regex used for validation is "                                    \
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
#define NOT_QUALIFIED "name is neither a standard finalizer name nor is it fully qualified"
#define SUBDOMAIN                                                                                 \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "  \
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used " \
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

static const struct meta_rules namespaced = { NAME_SUBDOMAIN, true, true };
static const struct meta_rules cluster = { NAME_SUBDOMAIN, false, false };

static struct value parse(struct arena *a, const char *text)
{
    struct err err = ERR_INIT(a);
    struct value v = value_null();
    if (json_read(a, (struct str){ text, strlen(text) }, NULL, &v, &err) < 0)
        fail_msg("%s: " STR_FMT, text, STR_ARG(err.msg));
    return v;
}

/* One line per fault: FIELD: MESSAGE. */
static void assert_faults(const struct field_errors *e, const char *about, const char *want)
{
    autobuf got = { 0 };
    for (const struct err_cause *c = e->first; c; c = c->next)
        buf_printf(&got, STR_FMT ": " STR_FMT "\n", STR_ARG(c->field), STR_ARG(c->msg));
    buf_byte(&got, '\0');
    if (strcmp(got.p, want) != 0)
        fail_msg("%s\ngot:\n%swant:\n%s", about, got.p, want);
}

struct row {
    const struct meta_rules *rules;
    const char *object, *want;
};

static void check_create(const struct row *rows, size_t n)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < n; i++) {
        struct field_errors e = FIELD_ERRORS_INIT(&a);
        struct value object = parse(&a, rows[i].object);
        meta_validate_create(&e, rows[i].rules, &object);
        assert_faults(&e, rows[i].object, rows[i].want);
    }
    arena_done(&a);
}

static void names_and_namespaces(void **state)
{
    (void)state;
    static const struct meta_rules any = { NAME_ANY, false, true };
    static const struct row rows[] = {
        { &namespaced, "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"}}", "" },
        { &namespaced, "{}",
          "metadata.name: Required value: name or generateName is required\n"
          "metadata.namespace: Required value\n" },
        { &cluster, "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"}}",
          "metadata.namespace: Forbidden: not allowed on this type\n" },
        { &namespaced, "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n.m\"}}",
          "metadata.namespace: Invalid value: \"n.m\": must not contain dots\n" },
        { &cluster, "{\"metadata\":{\"name\":\"A_b\",\"generateName\":\"A_\"}}",
          "metadata.generateName: Invalid value: \"A_\": " SUBDOMAIN
          "\nmetadata.name: Invalid value: \"A_b\": " SUBDOMAIN "\n" },
        { &cluster, "{\"metadata\":{\"name\":\"a-12345\",\"generateName\":\"a-\"}}", "" },
        { &cluster, "{\"metadata\":{\"name\":\"a\",\"generation\":-1}}",
          "metadata.generation: Invalid value: -1: must be greater than or equal to 0\n" },
        { &cluster, "{\"metadata\":{\"name\":7}}",
          "metadata.name: Required value: name or generateName is required\n" },
        { &cluster, "{\"metadata\":[]}",
          "metadata.name: Required value: name or generateName is required\n" },
        { &any, "{\"metadata\":{\"name\":\"A b\"}}", "" },
        { &any, "{\"metadata\":{\"name\":\"a/b\"}}",
          "metadata.name: Invalid value: \"a/b\": may not contain '/'\n" },
        { &any,
          "{\"metadata\":{\"name\":\"a/b\",\"generation\":-1}}", /* what comes last is left out */
          "metadata.generation: Invalid value: -1: must be greater than or equal to 0\n" },
    };
    check_create(rows, ARRAY_LEN(rows));
}

static void names_that_follow_from_the_spec(void **state)
{
    (void)state;
    static const struct meta_rules bundle = { NAME_TRUST_BUNDLE, false, true };
    static const struct meta_rules service = { NAME_API_SERVICE, false, false };
    static const struct meta_rules definition = { NAME_DEFINITION, false, false };
    static const struct row rows[] = {
        { &bundle, "{\"metadata\":{\"name\":\"a\"}}", "" },
        { &bundle, "{\"metadata\":{\"name\":\"a:b\"}}",
          "metadata.name: Invalid value: \"a:b\": ClusterTrustBundle without signer name must not "
          "have \":\" in its name\n" },
        { &bundle, "{\"metadata\":{\"name\":\"e.com:s:a\"},\"spec\":{\"signerName\":\"e.com/s\"}}",
          "" },
        { &bundle, "{\"metadata\":{\"name\":\"e.com:s:A\"},\"spec\":{\"signerName\":\"e.com/s\"}}",
          "metadata.name: Invalid value: \"e.com:s:A\": " SUBDOMAIN "\n" },
        { &bundle, "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"signerName\":\"e.com/s\"}}",
          "metadata.name: Invalid value: \"a\": ClusterTrustBundle for signerName e.com/s must be "
          "named with prefix e.com:s:\n" },
        { &service,
          "{\"metadata\":{\"name\":\"v1.g\"},\"spec\":{\"version\":\"v1\",\"group\":\"g\"}}", "" },
        { &service, "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"version\":\"v1\",\"group\":\"g\"}}",
          "metadata.name: Invalid value: \"x\": must be `spec.version+\".\"+spec.group`: "
          "\"v1.g\"\n" },
        { &definition, "{\"metadata\":{\"name\":\"X\"},\"spec\":{}}",
          "metadata.name: Invalid value: \"X\": " SUBDOMAIN
          "\nmetadata.name: Invalid value: \"X\": must be spec.names.plural+\".\"+spec.group\n" },
    };
    check_create(rows, ARRAY_LEN(rows));
}

#define META(fields) "{\"metadata\":{\"name\":\"a\"," fields "}}"

static void labels_and_annotations(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { &cluster, META("\"labels\":{\"e.com/A_b\":\"\",\"x\":\"1.2-3\"}"), "" },
        { &cluster, META("\"labels\":{\"a b\":\"c d\"}"),
          "metadata.labels: Invalid value: \"a b\": " NAME_PART
          "\nmetadata.labels: Invalid value: \"c d\": " LABEL_VALUE "\n" },
        { &cluster, META("\"annotations\":{\"E.com/A\":\"any \\n thing\"}"), "" },
        { &cluster, META("\"annotations\":{\"\u212a\":\"\",\"\u0130\":\"\"}"), "" },
        { &cluster, META("\"annotations\":{\"A b\":\"\"}"),
          "metadata.annotations: Invalid value: \"A b\": " NAME_PART "\n" },
    };
    check_create(rows, ARRAY_LEN(rows));
}

static void annotations_have_a_total_size(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    for (size_t extra = 0; extra < 2; extra++) {
        struct field_errors e = FIELD_ERRORS_INIT(&a);
        struct value object = parse(&a, META("\"annotations\":{\"k\":\"\"}"));
        size_t n = LIMIT_ANNOTATION_BYTES - 1 + extra;
        struct value big = value_string((struct str){ arena_zalloc(&a, n, 1, 1), n });
        struct value *meta = value_edit(&a, &object, STR("metadata"));
        value_set(&a, value_edit(&a, meta, STR("annotations")), STR("k"), big);
        meta_validate_create(&e, &cluster, &object);
        assert_faults(&e, "annotations",
                      extra ? "metadata.annotations: Too long: may not be more than 262144 bytes\n"
                            : "");
    }
    arena_done(&a);
}

#define OWNER(version, kind, more) \
    "{\"apiVersion\":\"" version "\",\"kind\":\"" kind "\",\"name\":\"o\",\"uid\":\"u\"" more "}"

#define THREE_BAD_VERSIONS \
    "[" OWNER("a/b/c", "P", "") "," OWNER("a/", "P", "") "," OWNER("/", "P", "") "]"
#define TWO_CONTROLLERS                                     \
    "[" OWNER("v1", "A", ",\"controller\":true") "," OWNER( \
        "v1", "B", ",\"controller\":false") "," OWNER("v1", "C", ",\"controller\":true") "]"

static void owners(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { &cluster, META("\"ownerReferences\":[" OWNER("v1", "Pod", "") "]"), "" },
        { &cluster, META("\"ownerReferences\":[" OWNER("events.k8s.io/v1", "Event", "") "]"), "" },
        { &cluster, META("\"ownerReferences\":[{}]"),
          "metadata.ownerReferences[0].apiVersion: Required value: must not be empty\n"
          "metadata.ownerReferences[0].kind: Required value: must not be empty\n"
          "metadata.ownerReferences[0].name: Required value: must not be empty\n"
          "metadata.ownerReferences[0].uid: Required value: must not be empty\n" },
        { &cluster, META("\"ownerReferences\":" THREE_BAD_VERSIONS),
          "metadata.ownerReferences[0].apiVersion: Invalid value: \"a/b/c\": must be "
          "<group>/<version> or <version>\n"
          "metadata.ownerReferences[1].apiVersion: Invalid value: \"a/\": must be "
          "<group>/<version> or <version>\n"
          "metadata.ownerReferences[2].apiVersion: Invalid value: \"/\": must be "
          "<group>/<version> or <version>\n" },
        { &cluster, META("\"ownerReferences\":[" OWNER("v1", "Event", "") "]"),
          "metadata.ownerReferences[0]: Invalid value: " OWNER(
              "v1", "Event", "") ": /v1, Kind=Event is disallowed from being an owner\n" },
        { &cluster, META("\"ownerReferences\":" TWO_CONTROLLERS),
          "metadata.ownerReferences: Invalid value: " TWO_CONTROLLERS
          ": Only one reference can have Controller set to true. Found \"true\" in references for "
          "A/o and C/o\n" },
    };
    check_create(rows, ARRAY_LEN(rows));
}

static void finalizers_and_managers(void **state)
{
    (void)state;
    static const struct meta_rules strict = { NAME_SUBDOMAIN, false, true };
    static const struct row rows[] = {
        { &strict, META("\"finalizers\":[\"kubernetes\",\"orphan\",\"e.com/x\"]"), "" },
        { &cluster, META("\"finalizers\":[\"mine\"]"), "" },
        { &strict, META("\"finalizers\":[\"e.com/x\",\"mine\"]"),
          "metadata.finalizers[1]: Invalid value: \"mine\": " NOT_QUALIFIED "\n" },
        { &strict, META("\"finalizers\":[\"\"]"),
          "metadata.finalizers: Invalid value: \"\": name part must be non-empty\n"
          "metadata.finalizers: Invalid value: \"\": " NAME_PART
          "\nmetadata.finalizers[0]: Invalid value: \"\": " NOT_QUALIFIED "\n" },
        { &strict, META("\"finalizers\":[\"foregroundDeletion\",\"orphan\"]"),
          "metadata.finalizers: Invalid value: [\"foregroundDeletion\",\"orphan\"]: finalizer "
          "orphan and foregroundDeletion cannot be both set\n" },
        { &cluster,
          META("\"managedFields\":[{\"manager\":\"m\",\"operation\":\"Apply\",\"fieldsType\":"
               "\"FieldsV1\"}]"),
          "" },
        { &cluster,
          META("\"managedFields\":[{\"manager\":\"a\\u0007\"},{\"operation\":\"X\",\"fieldsType\":"
               "\"Y\"}]"),
          "metadata.managedFields[0].operation: Required value: must not be empty\n"
          "metadata.managedFields[0].manager: Invalid value: \"a\\a\": invalid character U+0007 "
          "(at position 1)\n"
          "metadata.managedFields[1].operation: Unsupported value: \"X\": supported values: "
          "\"Apply\", \"Update\"\n"
          "metadata.managedFields[1].fieldsType: Invalid value: \"Y\": must be `FieldsV1`\n" },
    };
    check_create(rows, ARRAY_LEN(rows));
}

static void built_in_resources_have_their_rules(void **state)
{
    (void)state;
    struct meta_rules pods = meta_rules_of(STR(""), STR("pods"), true);
    assert_true(pods.namespaced && pods.qualified_finalizers);
    assert_int_equal(pods.name, NAME_SUBDOMAIN);
    assert_false(meta_rules_of(STR(""), STR("events"), true).qualified_finalizers);
    assert_false(
        meta_rules_of(STR("policy"), STR("poddisruptionbudgets"), true).qualified_finalizers);
    assert_int_equal(meta_rules_of(STR(""), STR("namespaces"), false).name, NAME_LABEL);
}

/* A name that follows from the spec is looked at again. */
static void updates_keep_names_that_fit(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct field_errors e = FIELD_ERRORS_INIT(&a);
    struct meta_rules rules =
        meta_rules_of(STR("certificates.k8s.io"), STR("clustertrustbundles"), false);
    struct value old_obj, new_obj;
#define BUNDLE_OF(signer)                                                   \
    STR("{\"metadata\":{\"name\":\"e.com:x:a\",\"resourceVersion\":\"5\"}," \
        "\"spec\":{\"signerName\":\"" signer "\"}}")
    assert_int_equal(json_read(&a, BUNDLE_OF("e.com/x"), NULL, &old_obj, NULL), 0);
    assert_int_equal(json_read(&a, BUNDLE_OF("e.com/y"), NULL, &new_obj, NULL), 0);
    meta_validate_update(&e, &rules, &old_obj, &old_obj);
    assert_int_equal(e.n, 0);
    meta_validate_update(&e, &rules, &new_obj, &old_obj);
    assert_int_equal(e.n, 1);
    assert_true(str_ends(e.first->msg, STR("must be named with prefix e.com:y:")));
    arena_done(&a);
}

#define OLD                                                                                   \
    "{\"metadata\":{\"name\":\"a\",\"uid\":\"u\",\"resourceVersion\":\"5\",\"generation\":3," \
    "\"creationTimestamp\":\"2001-01-01T00:00:00Z\"}}"
#define DELETED                                                                             \
    "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"5\",\"finalizers\":[\"e.com/a\"]," \
    "\"deletionTimestamp\":\"2001-01-01T00:00:00Z\",\"deletionGracePeriodSeconds\":0}}"

static void updates_keep_what_never_changes(void **state)
{
    (void)state;
    static const struct {
        const char *new_obj, *old_obj, *want;
    } rows[] = {
        { OLD, OLD, "" },
        { DELETED, DELETED, "" },
        { "{\"metadata\":{\"name\":\"Any Name\",\"resourceVersion\":\"5\"}}",
          "{\"metadata\":{\"name\":\"Any Name\",\"creationTimestamp\":null}}", "" },
        { "{\"metadata\":{\"name\":\"b\",\"namespace\":\"\",\"uid\":\"v\",\"generation\":2}}", OLD,
          "metadata.resourceVersion: Invalid value: \"\": must be specified for an update\n"
          "metadata.generation: Invalid value: 2: must not be decremented\n"
          "metadata.name: Invalid value: \"b\": field is immutable\n"
          "metadata.uid: Invalid value: \"v\": field is immutable\n"
          "metadata.creationTimestamp: Invalid value: null: field is immutable\n" },
        { "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"5\",\"deletionTimestamp\":"
          "\"2001-01-01T00:00:00Z\",\"deletionGracePeriodSeconds\":3}}",
          "{\"metadata\":{\"name\":\"a\"}}",
          "metadata.deletionTimestamp: Invalid value: \"2001-01-01T00:00:00Z\": field is "
          "immutable\n"
          "metadata.deletionGracePeriodSeconds: Invalid value: 3: field is immutable\n" },
        { "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"5\",\"finalizers\":[\"e.com/z\","
          "\"e.com/a\",\"e.com/b\",\"e.com/z\"],\"deletionTimestamp\":\"2001-01-01T00:00:00Z\","
          "\"deletionGracePeriodSeconds\":0}}",
          DELETED,
          "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being "
          "deleted, found new finalizers []string{\"e.com/b\", \"e.com/z\"}\n" },
        { "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"5\",\"finalizers\":[\"x\"]}}",
          "{\"metadata\":{\"name\":\"a\"}}",
          "metadata.finalizers[0]: Invalid value: \"x\": " NOT_QUALIFIED "\n" },
        { "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"5\",\"labels\":{\"x\":\"a b\"}}}",
          "{\"metadata\":{\"name\":\"a\"}}",
          "metadata.labels: Invalid value: \"a b\": " LABEL_VALUE "\n" },
    };
    static const struct meta_rules strict = { NAME_SUBDOMAIN, false, true };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct field_errors e = FIELD_ERRORS_INIT(&a);
        struct value new_obj = parse(&a, rows[i].new_obj), old_obj = parse(&a, rows[i].old_obj);
        meta_validate_update(&e, &strict, &new_obj, &old_obj);
        assert_faults(&e, rows[i].new_obj, rows[i].want);
    }
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_namespaces),
        cmocka_unit_test(names_that_follow_from_the_spec),
        cmocka_unit_test(labels_and_annotations),
        cmocka_unit_test(annotations_have_a_total_size),
        cmocka_unit_test(owners),
        cmocka_unit_test(finalizers_and_managers),
        cmocka_unit_test(built_in_resources_have_their_rules),
        cmocka_unit_test(updates_keep_names_that_fit),
        cmocka_unit_test(updates_keep_what_never_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
