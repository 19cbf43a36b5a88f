/* Rules that depend on the version of the request: what old versions allow, and how they call it.
 */
#include "api/validate/suite_validate.h"

#define POD      "'spec':{'containers':[{'name':'c','image':'i'}]}"
#define TEMPLATE "'template':{'metadata':{'labels':{'a':'b'}}," POD "}"
#define WORKLOAD(key)                                               \
    "{" META ",'spec':{'selector':{'matchLabels':{'" key "':'b'}}," \
    "'template':{'metadata':{'labels':{'" key "':'b'}}," POD "}}}"
#define KEPT "spec.selector: Invalid value: {'matchLabels':{'c':'b'}}: field is immutable"
#define HOOK(more)                                                                               \
    "{" CLUSTER_META ",'webhooks':[{'name':'a.b.c','clientConfig':{'url':'https://h.example/'}," \
    "'admissionReviewVersions':['v1']," more "}]}"
#define DEFINITION(spec)                                                                       \
    "{'metadata':{'name':'as.e.com','uid':'u','resourceVersion':'1'},'spec':{'group':'e.com'," \
    "'scope':'Cluster','names':{'plural':'as','kind':'A'}," spec "}}"
#define ATTACHMENT   \
    "{" CLUSTER_META \
    ",'spec':{'attacher':'d','nodeName':'n','source':{'persistentVolumeName':'A_b'}}}"
#define EVENT "{" META ",'involvedObject':{'namespace':'n'},'reason':'r','type':'Odd'}"

struct row {
    const char *api_version, *kind;
    const char *obj, *old_obj; /* of the stored version; NULL: it is new */
    const char *want;          /* the faults; NULL: none */
};

static bool is_good(struct arena *a, const struct row *row)
{
    const struct kind_resource *asked = suite_validate_resource(row->api_version, row->kind);
    const struct kind_resource *stored = kind_stored(asked);
    struct field_errors e = FIELD_ERRORS_INIT(a);
    struct value obj = suite_validate_object(a, stored, row->obj);
    if (row->old_obj) {
        struct value old_obj = suite_validate_object(a, stored, row->old_obj);
        validate_update(&e, asked, &obj, &old_obj);
    } else {
        validate_create(&e, asked, &obj);
    }
    struct str about = arena_printf(a, "%s %s", row->api_version, row->kind);
    return suite_validate_same(&e, row->want, str_cstr(a, about));
}

static void check_versions(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct arena a;
        arena_init(&a);
        bool good = is_good(&a, &rows[i]);
        arena_done(&a);
        assert_true(good);
    }
}

#define CHECK(rows) check_versions((rows), ARRAY_LEN(rows))

static void selectors_could_be_changed(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "apps/v1", "Deployment", WORKLOAD("c"), WORKLOAD("a"), KEPT },
        { "apps/v1beta2", "Deployment", WORKLOAD("c"), WORKLOAD("a"), KEPT },
        { "apps/v1beta1", "Deployment", WORKLOAD("c"), WORKLOAD("a"), NULL },
        { "extensions/v1beta1", "Deployment", WORKLOAD("c"), WORKLOAD("a"), NULL },
        { "apps/v1beta2", "ReplicaSet", WORKLOAD("c"), WORKLOAD("a"), KEPT },
        { "extensions/v1beta1", "ReplicaSet", WORKLOAD("c"), WORKLOAD("a"), NULL },
        { "apps/v1", "DaemonSet", WORKLOAD("c"), WORKLOAD("a"), KEPT },
        { "extensions/v1beta1", "DaemonSet", WORKLOAD("c"), WORKLOAD("a"), NULL },
        { "extensions/v1beta1", "Deployment", "{" META ",'spec':{" TEMPLATE "}}", NULL,
          "spec.selector: Required value\n"
          "spec.template.metadata.labels: Invalid value: {'a':'b'}: `selector` does not match "
          "template `labels`" },
    };
    CHECK(rows);
}

static void ingresses_go_by_other_names(void **state)
{
    (void)state;
    static const char nothing[] = "{" META ",'spec':{}}",
                      nameless[] = "{" META ",'spec':{'defaultBackend':{'service':{"
                                   "'port':{'number':80}}}}}",
                      bad_port[] = "{" META ",'spec':{'rules':[{'http':{'paths':[{'path':'/',"
                                   "'pathType':'Exact','backend':{'service':{'name':'s','port':{"
                                   "'number':-1}}}}]}}]}}",
                      wild[] = "{" META ",'spec':{'rules':[{'host':'*.e.com','http':{}}],'tls':[{"
                               "'secretName':'A_b'}]}}";
    static const struct row rows[] = {
        { "networking.k8s.io/v1", "Ingress", nothing, NULL,
          "spec: Invalid value: null: either `defaultBackend` or `rules` must be specified" },
        { "networking.k8s.io/v1beta1", "Ingress", nothing, NULL,
          "spec: Invalid value: null: either `backend` or `rules` must be specified" },
        { "networking.k8s.io/v1", "Ingress", nameless, NULL,
          "spec.defaultBackend.service.name: Required value" },
        { "extensions/v1beta1", "Ingress", nameless, NULL,
          "spec.backend.serviceName: Required value" },
        { "networking.k8s.io/v1beta1", "Ingress", bad_port, NULL,
          "spec.rules[0].http.paths[0].backend.servicePort: Invalid value: -1: must be between 1 "
          "and 65535, inclusive" },
        { "networking.k8s.io/v1", "Ingress", wild, NULL,
          "spec.rules[0].http.paths: Required value\n"
          "spec.tls[0].secretName: Invalid value: 'A_b': " SUBDOMAIN },
        { "extensions/v1beta1", "Ingress", wild, NULL, NULL },
        { "networking.k8s.io/v1beta1", "Ingress", wild, wild, NULL },
    };
    CHECK(rows);
}

static void less_was_asked(void **state)
{
    (void)state;
    static const char schemaless[] =
        DEFINITION("'preserveUnknownFields':true,'versions':[{'name':'v1','served':true,"
                   "'storage':true}]");
    static const char defaulted[] =
        DEFINITION("'versions':[{'name':'v1','served':true,'storage':true,'schema':{"
                   "'openAPIV3Schema':{'type':'object','properties':{'a':{'type':'string',"
                   "'default':'b'}}}}}]");
    static const struct row rows[] = {
        { "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration",
          HOOK("'sideEffects':'Some'"), NULL,
          "webhooks[0].sideEffects: Unsupported value: 'Some': supported values: 'None', "
          "'NoneOnDryRun'" },
        { "admissionregistration.k8s.io/v1beta1", "ValidatingWebhookConfiguration",
          HOOK("'sideEffects':'Some'"), NULL, NULL },
        { "admissionregistration.k8s.io/v1beta1", "MutatingWebhookConfiguration",
          HOOK("'sideEffects':'Unknown'"), HOOK("'sideEffects':'None'"), NULL },
        { "apiextensions.k8s.io/v1", "CustomResourceDefinition", schemaless, NULL,
          "spec.versions[0].schema.openAPIV3Schema: Required value\n"
          "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set "
          "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead" },
        { "apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", schemaless, NULL, NULL },
        { "apiextensions.k8s.io/v1", "CustomResourceDefinition", defaulted, NULL, NULL },
        { "apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", defaulted, NULL,
          "spec.versions[0].schema.openAPIV3Schema.default: Forbidden: cannot set default values "
          "in apiextensions.k8s.io/v1beta1 CRDs, must use apiextensions.k8s.io/v1" },
        { "storage.k8s.io/v1", "VolumeAttachment", ATTACHMENT, NULL,
          "spec.source.persistentVolumeName: Invalid value: 'A_b': " SUBDOMAIN },
        { "storage.k8s.io/v1beta1", "VolumeAttachment", ATTACHMENT, NULL, NULL },
    };
    CHECK(rows);
}

static void events_have_rules_by_group(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "v1", "Event", EVENT, NULL, NULL },
        { "events.k8s.io/v1beta1", "Event", EVENT, NULL, NULL },
        { "events.k8s.io/v1", "Event", EVENT, NULL,
          "eventTime: Required value\n"
          "type: Invalid value: '': has invalid value: Odd" },
    };
    CHECK(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selectors_could_be_changed),
        cmocka_unit_test(ingresses_go_by_other_names),
        cmocka_unit_test(less_was_asked),
        cmocka_unit_test(events_have_rules_by_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
