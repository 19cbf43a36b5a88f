/* Custom resource definitions. */
#include <pthread.h>

#include "api/typed.h"
#include "api/validate/suite_validate.h"
#include "base/buf.h"
#include "base/limits.h"

static const char definitions_base[] =
    "{'metadata':{'name':'ws.example.com','uid':'u'},'spec':{'group':'example.com','scope':'"
    "Namespaced','names':{'plural':'ws','kind':'W'},'versions':[{'name':'v1','served':true,'"
    "storage':true,'schema':{'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'"
    "object','properties':{'a':{'type':'string'}}}}}}}]}}";

static const struct suite_change definitions[] = {
    { "metadata/name", "'a.example.com'",
      "metadata.name: Invalid value: 'a.example.com': must be "
      "spec.names.plural+'.'+spec.group" },
    { "spec/group", NULL,
      "metadata.name: Invalid value: 'ws.example.com': must be spec.names.plural+'.'+spec.group\n"
      "spec.group: Required value" },
    { "spec/scope", "'Global'",
      "spec.scope: Unsupported value: 'Global': supported values: 'Cluster', 'Namespaced'" },
    { "spec/names/kind", NULL,
      "spec.names.singular: Required value\n"
      "spec.names.kind: Required value\n"
      "spec.names.listKind: Required value" },
    { "spec/names/kind", "'A_b'",
      "spec.names.singular: Invalid value: 'a_b': " LABEL_1035 "\n"
      "spec.names.kind: Invalid value: 'A_b': may have mixed case, but should otherwise "
      "match: " LABEL_1035 "\n"
      "spec.names.listKind: Invalid value: 'A_bList': may have mixed case, but should otherwise "
      "match: " LABEL_1035 },
    { "spec/names/listKind", "'W'",
      "spec.names.listKind: Invalid value: 'W': kind and listKind may not be the same" },
    { "spec/names/shortNames", "['A']",
      "spec.names.shortNames[0]: Invalid value: 'A': " LABEL_1035 },
    { "spec/versions/0/name", "'V1'",
      "spec.versions[0].name: Invalid value: 'V1': " LABEL_1035 "\n"
      "spec.version: Invalid value: 'V1': " LABEL_1035 },
    { "spec/versions/0/storage", "false",
      "spec.versions: Invalid value: "
      "[{'Name':'v1','Served':true,'Storage':false,'Deprecated':false,'DeprecationWarning':null,'"
      "Schema':null,'Subresources':null,'AdditionalPrinterColumns':null,'SelectableFields':null}]: "
      "must have exactly one version marked as storage version\n"
      "status.storedVersions: Invalid value: null: must have at least one stored version" },
    { "spec/versions/0/schema", NULL, "spec.versions[0].schema.openAPIV3Schema: Required value" },
    { "spec/versions/0/deprecationWarning", "'x'",
      "spec.versions[0].deprecationWarning: Invalid value: 'x': can only be set for deprecated "
      "versions" },
    { "spec/preserveUnknownFields", "true",
      "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set "
      "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead" },
    { "spec/versions/0/additionalPrinterColumns", "[{'name':'a','type':'float','jsonPath':'.a'}]",
      "spec.additionalPrinterColumns[0].type: Invalid value: 'float': must be one of "
      "boolean,date,integer,number,string" },
    { "spec/versions/0/additionalPrinterColumns", "[{'name':'a','type':'string','jsonPath':'a'}]",
      "spec.additionalPrinterColumns[0].JSONPath: Invalid value: 'a': must be a simple json "
      "path starting with ." },
    { "spec/versions/0/subresources",
      "{'scale':{'specReplicasPath':'.x','statusReplicasPath':'.status.y'}}",
      "spec.subresources.scale.specReplicasPath: Invalid value: '.x': should be a json path "
      "under .spec" },
    { "spec/versions/0/selectableFields", "[{'jsonPath':'.spec.b'}]",
      "spec.selectableFields[0].jsonPath: Invalid value: '.spec.b': is an invalid path: does "
      "not refer to a valid field" },
    { "spec/versions/0/selectableFields", "[{'jsonPath':'.spec'}]",
      "spec.selectableFields[0].jsonPath: Invalid value: '.spec': must point to a field of "
      "type string, boolean or integer. Enum string fields and strings with formats are "
      "allowed." },
    { "spec/versions/0/selectableFields", "[{'jsonPath':'.spec.a'},{'jsonPath':'.spec.a'}]",
      "spec.selectableFields[1].jsonPath: Duplicate value: '.spec.a'" },
    { "spec/conversion", "{'strategy':'Magic'}",
      "spec.conversion.strategy: Unsupported value: 'Magic': supported values: 'None', "
      "'Webhook'" },
    { "spec/conversion", "{'strategy':'Webhook'}",
      "spec.conversion.webhookClientConfig: Required value: required when strategy is set to "
      "Webhook\n"
      "spec.conversion.conversionReviewVersions: Required value" },
    { "spec/conversion", "{'strategy':'None','webhook':{'conversionReviewVersions':['v1']}}",
      "spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is "
      "not set to Webhook" },
};

static const struct suite_change definitions_changes[] = {
    { "spec/versions/0/served", "false", NULL },
    { "spec/versions/0/name", "'v2'", NULL },
    { "spec/group", "'other.com'", "spec.group: Invalid value: 'other.com': field is immutable" },
};

static const char schemas_base[] =
    "{'metadata':{'name':'ws.example.com','uid':'u'},'spec':{'group':'example.com','scope':'"
    "Namespaced','names':{'plural':'ws','kind':'W'},'versions':[{'name':'v1','served':true,'"
    "storage':true,'schema':{'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'"
    "object','properties':{'a':{'type':'string'}}}}}}}]}}";

static const struct suite_change schemas[] = {
    { "spec/versions/0/schema/openAPIV3Schema/type", "'array'",
      "spec.validation.openAPIV3Schema.items: Required value: must be specified\n"
      "spec.validation.openAPIV3Schema.type: Invalid value: 'array': must be object at the root" },
    { "spec/versions/0/schema/openAPIV3Schema/type", NULL,
      "spec.validation.openAPIV3Schema.type: Required value: must not be empty at the root" },
    { "spec/versions/0/schema/openAPIV3Schema/nullable", "true",
      "spec.validation.openAPIV3Schema.nullable: Forbidden: nullable cannot be true at the "
      "root" },
    { "spec/versions/0/schema/openAPIV3Schema/additionalProperties", "true",
      "spec.validation.openAPIV3Schema.additionalProperties: Forbidden: must not be used at "
      "the root" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/metadata",
      "{'type':'object','description':'x'}",
      "spec.validation.openAPIV3Schema.properties[metadata]: Forbidden: must not specify "
      "anything other than name and generateName, but metadata is implicitly specified" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/metadata",
      "{'type':'object','properties':{'name':{'type':'string'}}}", NULL },
    { "spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/a", "{}",
      "spec.validation.openAPIV3Schema.properties[spec].properties[a].type: Required value: "
      "must not be empty for specified object fields" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/a/type", "'float'",
      "spec.validation.openAPIV3Schema.properties[spec].properties[a].type: Unsupported value: "
      "'float': supported values: 'array', 'boolean', 'integer', 'number', 'object', "
      "'string'" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/a", "{'type':'array'}",
      "spec.validation.openAPIV3Schema.properties[spec].properties[a].items: Required value: "
      "must be specified" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/a/$ref", "'x'",
      "spec.validation.openAPIV3Schema.properties[spec].properties[a].$ref: Forbidden: $ref is "
      "not supported" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/a/uniqueItems", "true",
      "spec.validation.openAPIV3Schema.properties[spec].properties[a].uniqueItems: Forbidden: "
      "uniqueItems cannot be set to true since the runtime complexity becomes quadratic" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/a/anyOf",
      "[{'type':'string'}]",
      "spec.validation.openAPIV3Schema.properties[spec].properties[a].anyOf[0].type: "
      "Forbidden: must be empty to be structural" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/spec/anyOf",
      "[{'properties':{'z':{'minLength':1}}}]", NULL },
    { "spec/versions/0/schema/openAPIV3Schema/properties/spec/additionalProperties", "false",
      "spec.validation.openAPIV3Schema.properties[spec].additionalProperties: Forbidden: "
      "additionalProperties and properties are mutual exclusive" },
};

static const char schema_extensions_base[] =
    "{'metadata':{'name':'ws.example.com','uid':'u'},'spec':{'group':'example.com','scope':'"
    "Namespaced','names':{'plural':'ws','kind':'W'},'versions':[{'name':'v1','served':true,'"
    "storage':true,'schema':{'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'"
    "object','properties':{'a':{'type':'string'}}}}}}}]}}";

static const struct suite_change schema_extensions[] = {
    { "spec/versions/0/schema/openAPIV3Schema/properties/spec/"
      "x-kubernetes-preserve-unknown-fields",
      "false",
      "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-preserve-unknown-fields: "
      "Invalid value: false: must be true or undefined" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/spec/x-kubernetes-map-type", "'odd'",
      "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-map-type: Unsupported "
      "value: 'odd': supported values: 'atomic', 'granular'" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/spec/x-kubernetes-list-type", "'set'",
      "spec.validation.openAPIV3Schema.properties[spec].type: Invalid value: 'object': must be "
      "array if x-kubernetes-list-type is specified" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/l",
      "{'type':'array','items':{'type':'object'},'x-kubernetes-list-type':'map'}",
      "spec.validation.openAPIV3Schema.properties[l].x-kubernetes-list-map-keys: Required "
      "value: must not be empty if x-kubernetes-list-type is map" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/l",
      "{'type':'array','items':{'type':'object','properties':{'k':{'type':'string'}}},'x-"
      "kubernetes-list-type':'map','x-kubernetes-list-map-keys':['k']}",
      "spec.validation.openAPIV3Schema.properties[l].items.properties[k].default: Required "
      "value: this property is in x-kubernetes-list-map-keys, so it must have a default or be "
      "a required property" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/l",
      "{'type':'array','items':{'type':'object'},'x-kubernetes-list-type':'set'}",
      "spec.validation.openAPIV3Schema.properties[l].items.x-kubernetes-map-type: Invalid "
      "value: null: must be atomic as item of a list with x-kubernetes-list-type=set" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/l",
      "{'type':'array','items':{'type':'string'},'x-kubernetes-list-map-keys':['k']}",
      "spec.validation.openAPIV3Schema.properties[l].x-kubernetes-list-type: Required value: "
      "must be map if x-kubernetes-list-map-keys is non-empty" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/e",
      "{'type':'string','x-kubernetes-embedded-resource':true}",
      "spec.validation.openAPIV3Schema.properties[e].properties: Required value: must not be empty "
      "if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields\n"
      "spec.validation.openAPIV3Schema.properties[e].type: Invalid value: 'string': must be object "
      "if x-kubernetes-embedded-resource is true" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/i",
      "{'x-kubernetes-int-or-string':true,'anyOf':[{'type':'integer'},{'type':'string'}]}", NULL },
    { "spec/versions/0/schema/openAPIV3Schema/properties/spec/x-kubernetes-validations",
      "[{'rule':' '}]",
      "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: "
      "Required value: rule is not specified" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/spec/x-kubernetes-validations",
      "[{'rule':'true','reason':'Odd'}]",
      "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].reason: "
      "Unsupported value: 'Odd': supported values: 'FieldValueDuplicate', "
      "'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/spec/x-kubernetes-validations",
      "[{'rule':'true','fieldPath':'.zz'}]",
      "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].fieldPath: "
      "Invalid value: '.zz': must be a valid path" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/apiVersion", "{'type':'integer'}",
      "spec.validation.openAPIV3Schema.properties[apiVersion].type: Invalid value: 'integer': "
      "must be string" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/kind", "{'type':'string','default':'x'}",
      "spec.validation.openAPIV3Schema.properties[kind].default: Forbidden: must not be set in "
      "top-level kind" },
};

static const char protected_definitions_base[] =
    "{'metadata':{'name':'ws.example.k8s.io','uid':'u','annotations':{'api-approved.kubernetes."
    "io':'https://example.com/"
    "1'}},'spec':{'group':'example.k8s.io','scope':'Namespaced','names':{'plural':'ws','kind':'"
    "W'},'versions':[{'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{'"
    "type':'object','properties':{'spec':{'type':'object','properties':{'a':{'type':'string'}}}"
    "}}}}]}}";

static const struct suite_change protected_definitions[] = {
    { "metadata/annotations", NULL,
      "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must "
      "have approval annotation 'api-approved.kubernetes.io', see "
      "https://github.com/kubernetes/enhancements/pull/1111" },
    { "metadata/annotations/api-approved.kubernetes.io", "'x'",
      "metadata.annotations[api-approved.kubernetes.io]: Invalid value: 'x': protected groups "
      "must have approval annotation 'api-approved.kubernetes.io' with either a URL or a "
      "reason starting with 'unapproved', see "
      "https://github.com/kubernetes/enhancements/pull/1111" },
    { "metadata/annotations/api-approved.kubernetes.io", "'unapproved, testing'", NULL },
};

#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
#define HAS_LARGE_FRAMES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define HAS_LARGE_FRAMES 1
#endif
#endif

#ifdef HAS_LARGE_FRAMES
enum { STACK_BYTES = 8 << 20 };
#else
enum { STACK_BYTES = 512 << 10 }; /* as the server's threads have */
#endif

struct check {
    struct field_errors *e;
    const struct kind_resource *r;
    const struct value *obj;
};

static void *check_definition(void *p)
{
    struct check *c = p;
    suite_validate_find(c->e, c->r, "", c->obj, NULL);
    return NULL;
}

/* Returns how many faults there are. */
static size_t count_faults(size_t depth)
{
    struct arena a;
    autobuf text = { 0 };
    arena_init(&a);
    buf_printf(&text, "{'metadata':{'name':'ws.example.com','uid':'u'},'spec':{'group':"
                      "'example.com','scope':'Cluster','names':{'plural':'ws','kind':'W'},"
                      "'versions':[{'name':'v1','served':true,'storage':true,'schema':"
                      "{'openAPIV3Schema':");
    for (size_t i = 0; i < depth; i++)
        buf_printf(&text, "{'type':'object','properties':{'a':");
    buf_printf(&text, "{'type':'string'}");
    for (size_t i = 0; i < depth; i++)
        buf_printf(&text, "}}");
    buf_printf(&text, "}}]}}");
    const struct kind_resource *r =
        suite_validate_resource("apiextensions.k8s.io/v1", "CustomResourceDefinition");
    struct value obj = suite_validate_object(&a, r, str_cstr(&a, buf_str(&text)));
    struct field_errors e = FIELD_ERRORS_INIT(&a);
    struct check c = { &e, r, &obj };
    pthread_attr_t attr;
    pthread_t thread;
    assert_int_equal(pthread_attr_init(&attr), 0);
    assert_int_equal(pthread_attr_setstacksize(&attr, STACK_BYTES), 0);
    assert_int_equal(pthread_create(&thread, &attr, check_definition, &c), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attr);
    size_t n = e.n;
    arena_done(&a);
    return n;
}

static void schemas_nest_only_so_deep(void **state)
{
    (void)state;
    assert_int_equal(count_faults(LIMIT_SCHEMA_DEPTH), 0);
    assert_int_equal(count_faults(LIMIT_SCHEMA_DEPTH + 1), 1);
    assert_int_equal(count_faults(TYPED_DEPTH_MAX - 10), 1);
}

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("apiextensions.k8s.io/v1", "CustomResourceDefinition", definitions_base,
                      definitions),
        SUITE_UPDATES("apiextensions.k8s.io/v1", "CustomResourceDefinition", definitions_base,
                      definitions_changes),
        SUITE_CREATES("apiextensions.k8s.io/v1", "CustomResourceDefinition", schemas_base, schemas),
        SUITE_CREATES("apiextensions.k8s.io/v1", "CustomResourceDefinition", schema_extensions_base,
                      schema_extensions),
        SUITE_CREATES("apiextensions.k8s.io/v1", "CustomResourceDefinition",
                      protected_definitions_base, protected_definitions),
    };
    const struct CMUnitTest others[] = {
        cmocka_unit_test(schemas_nest_only_so_deep),
    };
    return SUITE_MAIN_WITH(tables, others);
}
