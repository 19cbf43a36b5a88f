/* Values in Go's names, as messages show them. */
#include "api/inner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "api/suite_json.h"

static void expect(struct arena *a, struct str have, const char *want)
{
    if (!str_eq(suite_swap(a, have, '"', '\''), str_of(want)))
        fail_msg("want: %s\nhave: " STR_FMT, want, STR_ARG(have));
}

static void check(const char *api_version, const char *type, const char *text, const char *want)
{
    struct arena a;
    arena_init(&a);
    struct field_errors e = FIELD_ERRORS_INIT(&a);
    struct value v = suite_json(&a, text);
    expect(&a, inner_json(&e, str_of(api_version), str_of(type), &v), want);
    arena_done(&a);
}

static void names_are_those_of_go(void **state)
{
    (void)state;
    check("rbac.authorization.k8s.io/v1", "RoleRef", "{'kind':'Role','name':'r'}",
          "{'APIGroup':'','Kind':'Role','Name':'r'}");
    check("v1", "NodeAddress", "[{'type':'Hostname','address':'h'}]",
          "[{'Type':'Hostname','Address':'h'}]");
    check("networking.k8s.io/v1", "ServiceCIDRSpec", "{'cidrs':['10.0.0.0/8']}",
          "{'CIDRs':['10.0.0.0/8']}");
    check("networking.k8s.io/v1", "ServiceCIDRSpec", "{}", "{'CIDRs':null}");
    check("v1", "Taint", "{'key':'k','effect':'NoExecute'}",
          "{'Key':'k','Value':'','Effect':'NoExecute','TimeAdded':null}");
}

#define BARE(type, rest)                                                                          \
    "{'ID':'','Schema':'','Ref':null,'Description':'','Type':'" type "','Nullable':false,"        \
    "'Format':'','Title':'','Default':null,'Maximum':null,'ExclusiveMaximum':false,"              \
    "'Minimum':null,'ExclusiveMinimum':false,'MaxLength':null,'MinLength':null,'Pattern':'',"     \
    "'MaxItems':null,'MinItems':null,'UniqueItems':false,'MultipleOf':null,'Enum':null,"          \
    "'MaxProperties':null,'MinProperties':null,'Required':null," rest                             \
    "'PatternProperties':null,'Dependencies':null,'AdditionalItems':null,'Definitions':null,"     \
    "'ExternalDocs':null,'Example':null,'XPreserveUnknownFields':null,'XEmbeddedResource':false," \
    "'XIntOrString':false,'XListMapKeys':null,'XListType':null,'XMapType':null,"                  \
    "'XValidations':null}"
#define NO_PARTS "'AllOf':null,'OneOf':null,'AnyOf':null,'Not':null,'Properties':null,"

static void schemas_have_fields_for_what_they_may_be(void **state)
{
    (void)state;
    check("apiextensions.k8s.io/v1", "JSONSchemaProps",
          "{'type':'array','items':{'type':'string'},'additionalProperties':false}",
          BARE("array",
               "'Items':{'Schema':" BARE(
                   "string", "'Items':null," NO_PARTS
                             "'AdditionalProperties':null,") ","
                                                             "'JSONSchemas':null}," NO_PARTS
                                                             "'AdditionalProperties':{'Allows':"
                                                             "false,'Schema':null},"));
}

static void what_is_unknown_stays(void **state)
{
    (void)state;
    check("v1", "NodeAddress", "null", "null");
    check("v1", "NoSuchType", "{'a':1}", "{'a':1}");
    check("v1", "NodeAddress", "[]", "[]");
    check("v1", "Taint", "{'key':[1],'extra':2}",
          "{'Key':[1],'Value':'','Effect':'','TimeAdded':null}");
}

static void changes_are_shown(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct field_errors e = FIELD_ERRORS_INIT(&a);
    struct value old = suite_json(&a, "{'kind':'Role','name':'r'}");
    struct value new_val = suite_json(&a, "{'kind':'Role','name':'s'}");
    struct str version = STR("rbac.authorization.k8s.io/v1"), type = STR("RoleRef");
    expect(&a, inner_diff(&e, version, type, &old, &new_val),
           "@@ -1,5 +1,5 @@\n {\n  'APIGroup': '',\n  'Kind': 'Role',\n- 'Name': 'r'\n"
           "+ 'Name': 's'\n }\n");
    expect(&a, inner_diff(&e, version, type, &old, &old), "");
    expect(&a, inner_diff(&e, version, type, &old, NULL),
           "@@ -1,5 +1 @@\n-{\n- 'APIGroup': '',\n- 'Kind': 'Role',\n- 'Name': 'r'\n-}\n+null\n");
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_those_of_go),
        cmocka_unit_test(schemas_have_fields_for_what_they_may_be),
        cmocka_unit_test(what_is_unknown_stays),
        cmocka_unit_test(changes_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
