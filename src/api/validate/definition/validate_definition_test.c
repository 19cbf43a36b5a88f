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

/* ---- More of definitions ---- */

static const char plain_definition[] =
    "{'metadata':{'name':'ws.example.com','uid':'u'},'spec':{'group':'example.com','scope':'"
    "Namespaced','names':{'plural':'ws','kind':'W'},'versions':[{'name':'v1','served':true,'"
    "storage':true,'schema':{'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'"
    "object','properties':{'a':{'type':'string'}}}}}}}]},'status':{'storedVersions':['v1']}}";

static const struct suite_change definition_versions[] = {
    { "spec/group", "'plain'",
      "metadata.name: Invalid value: 'ws.example.com': must be spec.names.plural+'.'+spec.group\n"
      "spec.group: Invalid value: 'plain': should be a domain with at least one dot" },
    { "spec/group", "'A.example.com'",
      "metadata.name: Invalid value: 'ws.example.com': must be spec.names.plural+'.'+spec.group\n"
      "spec.group: Invalid value: 'A.example.com': " SUBDOMAIN },
    { "spec/names/plural", "'Ws'",
      "metadata.name: Invalid value: 'ws.example.com': must be spec.names.plural+'.'+spec.group\n"
      "spec.names.plural: Invalid value: 'Ws': " LABEL_1035 },
    { "spec/names/categories", "['A']",
      "spec.names.categories[0]: Invalid value: 'A': " LABEL_1035 },
    { "spec/versions/0/additionalPrinterColumns",
      "[{'name':'','type':'string','jsonPath':'.spec'}]",
      "spec.additionalPrinterColumns[0].name: Required value" },
    { "spec/versions/0/additionalPrinterColumns", "[{'name':'a','type':'','jsonPath':'.spec'}]",
      "spec.additionalPrinterColumns[0].type: Required value: must be one of "
      "boolean,date,integer,number,string" },
    { "spec/versions/0/additionalPrinterColumns",
      "[{'name':'a','type':'float','jsonPath':'.spec'}]",
      "spec.additionalPrinterColumns[0].type: Invalid value: 'float': must be one of "
      "boolean,date,integer,number,string" },
    { "spec/versions/0/additionalPrinterColumns",
      "[{'name':'a','type':'string','format':'odd','jsonPath':'.spec'}]",
      "spec.additionalPrinterColumns[0].format: Invalid value: 'odd': must be one of "
      "byte,date,date-time,double,float,int32,int64,password" },
    { "spec/versions/0/additionalPrinterColumns", "[{'name':'a','type':'string','jsonPath':''}]",
      "spec.additionalPrinterColumns[0].JSONPath: Required value" },
    { "spec/versions/0/subresources",
      "{'scale':{'specReplicasPath':'.spec.a','statusReplicasPath':'.status.b','labelSelectorPath':"
      "'.spec.c'}}",
      NULL },
    { "spec/versions/0/subresources",
      "{'scale':{'specReplicasPath':'.spec.a','statusReplicasPath':'.status.b','labelSelectorPath':"
      "'.metadata.c'}}",
      "spec.subresources.scale.labelSelectorPath: Invalid value: '.metadata.c': should be a json "
      "path under either .spec or .status" },
    { "spec/versions/0/subresources", "{'scale':{'specReplicasPath':'','statusReplicasPath':''}}",
      "spec.subresources.scale.specReplicasPath: Required value\n"
      "spec.subresources.scale.statusReplicasPath: Required value" },
    { "spec/versions/0/subresources",
      "{'scale':{'specReplicasPath':'.spec.a[0]','statusReplicasPath':'.spec.b'}}",
      "spec.subresources.scale.statusReplicasPath: Invalid value: '.spec.b': should be a json path "
      "under .status" },
    { "spec/versions/0/selectableFields", "[{'jsonPath':''}]",
      "spec.selectableFields[0].jsonPath: Required value" },
    { "spec/versions/0/selectableFields", "[{'jsonPath':'.metadata.name'}]",
      "spec.selectableFields[0].jsonPath: Invalid value: '.metadata.name': is an invalid path: "
      "does not refer to a valid field" },
    { "spec/versions/0/selectableFields", "[{'jsonPath':'.spec.a[0]'}]",
      "spec.selectableFields[0].jsonPath: Invalid value: '.spec.a[0]': is an invalid path: array "
      "notation is not allowed" },
    { "spec/versions/0/selectableFields", "[{'jsonPath':'.spec.a'}]", NULL },
    { "spec/versions/0",
      "{'name':'v1','served':true,'storage':true,'deprecated':true,'deprecationWarning':'','schema'"
      ":{'openAPIV3Schema':{'type':'object'}}}",
      "spec.versions[0].deprecationWarning: Invalid value: '': must not be an empty string" },
    { "spec/versions/0",
      "{'name':'v1','served':true,'storage':true,'deprecated':true,'deprecationWarning':'a\\nb','"
      "schema':{'openAPIV3Schema':{'type':'object'}}}",
      "spec.versions[0].deprecationWarning: Invalid value: 'a\\nb': must only contain printable "
      "UTF-8 characters; non-printable character found at index 1" },
    { "spec/versions/0",
      "{'name':'v1','served':true,'storage':true,'deprecated':true,'deprecationWarning':'old','"
      "schema':{'openAPIV3Schema':{'type':'object'}}}",
      NULL },
    { "spec/versions",
      "[{'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object'}}},{"
      "'name':'v1','served':true,'storage':false,'schema':{'openAPIV3Schema':{'type':'object'}}}]",
      "spec.versions: Invalid value: "
      "[{'Name':'v1','Served':true,'Storage':true,'Deprecated':false,'DeprecationWarning':null,'"
      "Schema':null,'Subresources':null,'AdditionalPrinterColumns':null,'SelectableFields':null},{'"
      "Name':'v1','Served':true,'Storage':false,'Deprecated':false,'DeprecationWarning':null,'"
      "Schema':null,'Subresources':null,'AdditionalPrinterColumns':null,'SelectableFields':null}]: "
      "must contain unique version names" },
    { "spec/versions",
      "[{'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object'}}},{"
      "'name':'v2','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object'}}}]",
      "spec.versions: Invalid value: "
      "[{'Name':'v1','Served':true,'Storage':true,'Deprecated':false,'DeprecationWarning':null,'"
      "Schema':null,'Subresources':null,'AdditionalPrinterColumns':null,'SelectableFields':null},{'"
      "Name':'v2','Served':true,'Storage':true,'Deprecated':false,'DeprecationWarning':null,'"
      "Schema':null,'Subresources':null,'AdditionalPrinterColumns':null,'SelectableFields':null}]: "
      "must have exactly one version marked as storage version\n"
      "status.storedVersions: Invalid value: ['v1']: must have the storage version v2" },
};

static const struct suite_change conversions[] = {
    { "spec/conversion",
      "{'strategy':'None','webhook':{'clientConfig':{'url':'https://h.example.com/"
      "'},'conversionReviewVersions':[]}}",
      "spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set "
      "to Webhook" },
    { "spec/conversion",
      "{'strategy':'Webhook','webhook':{'clientConfig':{'url':'https://h.example.com/"
      "'},'conversionReviewVersions':['v1']}}",
      NULL },
    { "spec/conversion",
      "{'strategy':'Webhook','webhook':{'clientConfig':{},'conversionReviewVersions':['v1']}}",
      "spec.conversion.webhookClientConfig: Required value: exactly one of url or service is "
      "required" },
    { "spec/conversion",
      "{'strategy':'Webhook','webhook':{'clientConfig':{'url':'http://h.example.com/"
      "'},'conversionReviewVersions':['v1']}}",
      "spec.conversion.webhookClientConfig.url: Invalid value: 'http': 'https' is the only allowed "
      "URL scheme; desired format: https://host[/path]" },
    { "spec/conversion",
      "{'strategy':'Webhook','webhook':{'clientConfig':{'service':{'namespace':'n','name':'s','"
      "port':0}},'conversionReviewVersions':['v1']}}",
      "spec.conversion.webhookClientConfig.service.port: Invalid value: 0: port is not valid: must "
      "be between 1 and 65535, inclusive" },
    { "spec/conversion",
      "{'strategy':'Webhook','webhook':{'clientConfig':{'url':'https://h.example.com/"
      "'},'conversionReviewVersions':['v2']}}",
      "spec.conversion.conversionReviewVersions: Invalid value: ['v2']: must include at least one "
      "of v1, v1beta1" },
    { "spec/conversion",
      "{'strategy':'Webhook','webhook':{'clientConfig':{'url':'https://h.example.com/"
      "'},'conversionReviewVersions':['v1','v1']}}",
      "spec.conversion.conversionReviewVersions[1]: Invalid value: 'v1': duplicate version" },
    { "spec/conversion",
      "{'strategy':'Webhook','webhook':{'clientConfig':{'url':'https://h.example.com/"
      "'},'conversionReviewVersions':['v1','V2']}}",
      "spec.conversion.conversionReviewVersions[1]: Invalid value: 'V2': " LABEL_1035 },
    { "spec/conversion", "{'strategy':''}", "spec.conversion.strategy: Required value" },
};

/* ---- Lists and maps in schemas ---- */

static const struct suite_change schema_lists[] = {
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'array','items':{'type':'string'},'x-kubernetes-list-type':'set'}", NULL },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'array','items':{'type':'array','items':{'type':'string'}},'x-kubernetes-list-type':"
      "'set'}",
      NULL },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'array','items':{'type':'array','items':{'type':'string'},'x-kubernetes-list-type':'"
      "atomic'},'x-kubernetes-list-type':'set'}",
      NULL },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'array','items':{'type':'string'},'x-kubernetes-list-type':'bag'}",
      "spec.validation.openAPIV3Schema.properties[x].x-kubernetes-list-type: Unsupported value: "
      "'bag': supported values: 'atomic', 'set', 'map'" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'array','items':{'type':'string'},'x-kubernetes-list-type':'map','x-kubernetes-list-"
      "map-keys':['k']}",
      "spec.validation.openAPIV3Schema.properties[x].items.type: Invalid value: 'string': must be "
      "object if parent array's x-kubernetes-list-type is map" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'array','items':{'type':'object','properties':{'k':{'type':'string'}},'required':['"
      "k']},'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['k']}",
      NULL },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'array','items':{'type':'object','properties':{'k':{'type':'string'}},'required':['"
      "k']},'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['k','k']}",
      "spec.validation.openAPIV3Schema.properties[x].x-kubernetes-list-map-keys: Invalid value: "
      "['k','k']: must not contain duplicate entries" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'array','items':{'type':'object','properties':{'k':{'type':'string'}},'required':['"
      "k']},'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['z']}",
      "spec.validation.openAPIV3Schema.properties[x].x-kubernetes-list-map-keys: Invalid value: "
      "['z']: entries must all be names of item properties" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'array','items':{'type':'object','properties':{'k':{'type':'object'}},'required':['"
      "k']},'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['k']}",
      "spec.validation.openAPIV3Schema.properties[x].items.properties[k].type: Invalid value: "
      "'object': must be a scalar type if parent array's x-kubernetes-list-type is map" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'array','items':{'type':'object','nullable':true,'properties':{'k':{'type':'string',"
      "'nullable':true}},'required':['k']},'x-kubernetes-list-type':'map','x-kubernetes-list-map-"
      "keys':['k']}",
      "spec.validation.openAPIV3Schema.properties[x].items.nullable: Forbidden: cannot be nullable "
      "when x-kubernetes-list-type is map\n"
      "spec.validation.openAPIV3Schema.properties[x].items.properties[k].nullable: Forbidden: this "
      "property is in x-kubernetes-list-map-keys, so it cannot be nullable" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'string','x-kubernetes-map-type':'atomic'}",
      "spec.validation.openAPIV3Schema.properties[x].type: Invalid value: 'string': must be object "
      "if x-kubernetes-map-type is specified" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'object','x-kubernetes-map-type':'atomic'}", NULL },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'array','items':[{'type':'string'}]}",
      "spec.validation.openAPIV3Schema.properties[x].items: Forbidden: items must be a schema "
      "object and not an array" },
};

/* ---- Types and rules in schemas ---- */

static const struct suite_change schema_types[] = {
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'integer','x-kubernetes-int-or-string':true}", NULL },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x", "{'x-kubernetes-int-or-string':true}",
      NULL },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'x-kubernetes-preserve-unknown-fields':true}", NULL },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'object','x-kubernetes-embedded-resource':true,'x-kubernetes-preserve-unknown-"
      "fields':true}",
      NULL },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'object','additionalProperties':{'type':'string'}}", NULL },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'object','additionalProperties':{}}",
      "spec.validation.openAPIV3Schema.properties[x].additionalProperties.type: Required value: "
      "must not be empty for specified object fields" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'object','patternProperties':{'a':{'type':'string'}}}",
      "spec.validation.openAPIV3Schema.properties[x].patternProperties: Forbidden: "
      "patternProperties is not supported" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'object','dependencies':{'a':['b']}}",
      "spec.validation.openAPIV3Schema.properties[x].dependencies: Forbidden: dependencies is not "
      "supported" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'object','definitions':{'a':{'type':'string'}}}",
      "spec.validation.openAPIV3Schema.properties[x].definitions: Forbidden: definitions is not "
      "supported" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'string','enum':['a','b'],'default':'a'}", NULL },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x", "{'type':'string','$schema':'x'}",
      "spec.validation.openAPIV3Schema: Invalid value: '': OpenAPIV3Schema 'schema' is not "
      "supported" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x", "{'type':'string','id':'x'}",
      "spec.validation.openAPIV3Schema.properties[x].id: Forbidden: id is not supported" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'string','not':{'enum':['a']}}", NULL },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'string','not':{'type':'string'}}",
      "spec.validation.openAPIV3Schema.properties[x].not.type: Forbidden: must be empty to be "
      "structural" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'object','properties':{'a':{'type':'string'}},'allOf':[{'properties':{'b':{'"
      "minLength':1}}}]}",
      NULL },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'object','properties':{'a':{'type':'string'}},'oneOf':[{'properties':{'a':{'"
      "minLength':1}}},{'required':['a']}]}",
      NULL },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'object','anyOf':[{'description':'d'}]}",
      "spec.validation.openAPIV3Schema.properties[x].anyOf[0].description: Forbidden: must be "
      "empty to be structural" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'object','anyOf':[{'default':{}}]}",
      "spec.validation.openAPIV3Schema.properties[x].anyOf[0].default: Forbidden: must be "
      "undefined to be structural" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'object','anyOf':[{'nullable':true}]}",
      "spec.validation.openAPIV3Schema.properties[x].anyOf[0].nullable: Forbidden: must be false "
      "to be structural" },
};

static const struct suite_change schema_rules[] = {
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'string','x-kubernetes-validations':[{'rule':'self.size() > 1','message':'too "
      "short'}]}",
      NULL },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'string','x-kubernetes-validations':[{'rule':'true','message':' '}]}",
      "spec.validation.openAPIV3Schema.properties[x].x-kubernetes-validations[0].message: Invalid "
      "value: ' ': must be non-empty if specified" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'string','x-kubernetes-validations':[{'rule':'true','message':'a\\nb'}]}",
      "spec.validation.openAPIV3Schema.properties[x].x-kubernetes-validations[0].message: Invalid "
      "value: 'a\\nb': must not contain line breaks" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'string','x-kubernetes-validations':[{'rule':'self == \\n\\u0027a\\u0027'}]}",
      "spec.validation.openAPIV3Schema.properties[x].x-kubernetes-validations[0].message: Required "
      "value: message must be specified if rule contains line breaks" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'string','x-kubernetes-validations':[{'rule':'true','messageExpression':' '}]}",
      "spec.validation.openAPIV3Schema.properties[x].x-kubernetes-validations[0].messageExpression:"
      " Required value: messageExpression must be non-empty if specified" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'object','properties':{'p':{'type':'string'}},'x-kubernetes-validations':[{'rule':'"
      "true','fieldPath':'.p'}]}",
      NULL },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'object','properties':{'p':{'type':'string'}},'x-kubernetes-validations':[{'rule':'"
      "true','fieldPath':'p'}]}",
      "spec.validation.openAPIV3Schema.properties[x].x-kubernetes-validations[0].fieldPath: "
      "Invalid value: 'p': must be a valid path" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'object','properties':{'p':{'type':'string'}},'x-kubernetes-validations':[{'rule':'"
      "true','fieldPath':' '}]}",
      "spec.validation.openAPIV3Schema.properties[x].x-kubernetes-validations[0].fieldPath: "
      "Invalid value: ' ': must be non-empty if specified\n"
      "spec.validation.openAPIV3Schema.properties[x].x-kubernetes-validations[0].fieldPath: "
      "Invalid value: ' ': must be a valid path" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'object','properties':{'p':{'type':'string'}},'x-kubernetes-validations':[{'rule':'"
      "true','fieldPath':'.p\\n'}]}",
      "spec.validation.openAPIV3Schema.properties[x].x-kubernetes-validations[0].fieldPath: "
      "Invalid value: '.p\\n': must not contain line breaks\n"
      "spec.validation.openAPIV3Schema.properties[x].x-kubernetes-validations[0].fieldPath: "
      "Invalid value: '.p\\n': must be a valid path" },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'object','properties':{'p.q':{'type':'string'}},'x-kubernetes-validations':[{'rule':"
      "'true','fieldPath':'[\\u0027p.q\\u0027]'}]}",
      NULL },
    { "spec/versions/0/schema/openAPIV3Schema/properties/x",
      "{'type':'object','x-kubernetes-validations':[{'rule':'true','reason':'FieldValueForbidden'}]"
      "}",
      NULL },
};

/* ---- Updates and statuses of definitions ---- */

static const struct suite_change definition_updates[] = {
    { "spec/scope", "'Cluster'", NULL },
    { "spec/names/kind", "'X'", NULL },
    { "spec/versions/0/schema/openAPIV3Schema/properties/b", "{'type':'string'}", NULL },
};

static const char established_definition[] =
    "{'metadata':{'name':'ws.example.com','uid':'u'},'spec':{'group':'example.com','scope':'"
    "Namespaced','names':{'plural':'ws','kind':'W'},'versions':[{'name':'v1','served':true,'"
    "storage':true,'schema':{'openAPIV3Schema':{'type':'object'}}}]},'status':{'storedVersions':['"
    "v1'],'conditions':[{'type':'Established','status':'True'}]}}";

/* Once it is served, its objects keep their kind and their place. */
static const struct suite_change established_updates[] = {
    { "spec/scope", "'Cluster'", "spec.scope: Invalid value: 'Cluster': field is immutable" },
    { "spec/names/kind", "'X'", "spec.names.kind: Invalid value: 'X': field is immutable" },
    { "spec/names/plural", "'xs'", "spec.names.plural: Invalid value: 'xs': field is immutable" },
    { "spec/names/shortNames", "['x']", NULL },
    { "spec/versions/0/name", "'v2'",
      "status.storedVersions[0]: Invalid value: 'v1': missing from spec.versions; v1 was "
      "previously a storage version, and must remain in spec.versions until a storage migration "
      "ensures no data remains persisted in v1 and removes v1 from status.storedVersions" },
    { "spec/versions",
      "[{'name':'v2','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object'}}},{"
      "'name':'v1','served':true,'storage':false,'schema':{'openAPIV3Schema':{'type':'object'}}}]",
      NULL },
    { "status/storedVersions", "['v1','v2']",
      "status.storedVersions[1]: Invalid value: 'v2': missing from spec.versions; v2 was "
      "previously a storage version, and must remain in spec.versions until a storage migration "
      "ensures no data remains persisted in v2 and removes v2 from status.storedVersions" },
};

static const struct suite_change definition_statuses[] = {
    { "status/storedVersions", "['v2']", NULL },
    { "status/acceptedNames", "{'plural':'ws','kind':'W'}", NULL },
};

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
        SUITE_CREATES("apiextensions.k8s.io/v1", "CustomResourceDefinition", plain_definition,
                      definition_versions),
        SUITE_CREATES("apiextensions.k8s.io/v1", "CustomResourceDefinition", plain_definition,
                      conversions),
        SUITE_CREATES("apiextensions.k8s.io/v1", "CustomResourceDefinition", plain_definition,
                      schema_lists),
        SUITE_CREATES("apiextensions.k8s.io/v1", "CustomResourceDefinition", plain_definition,
                      schema_types),
        SUITE_CREATES("apiextensions.k8s.io/v1", "CustomResourceDefinition", plain_definition,
                      schema_rules),
        SUITE_UPDATES("apiextensions.k8s.io/v1", "CustomResourceDefinition", plain_definition,
                      definition_updates),
        SUITE_UPDATES("apiextensions.k8s.io/v1", "CustomResourceDefinition", established_definition,
                      established_updates),
        SUITE_UPDATES_SUB("apiextensions.k8s.io/v1", "CustomResourceDefinition", "status",
                          plain_definition, definition_statuses),
    };
    const struct CMUnitTest others[] = {
        cmocka_unit_test(schemas_nest_only_so_deep),
    };
    return SUITE_MAIN_WITH(tables, others);
}
