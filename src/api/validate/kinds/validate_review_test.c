/* Questions that are answered and not kept: reviews, token requests, bindings. */
#include "api/validate/suite_validate.h"

static const char access_review[] =
    "{'spec':{'user':'u','resourceAttributes':{'verb':'get','resource':'pods'}}}";

static const struct suite_change access_reviews[] = {
    { "spec/user", "''",
      "spec.user: Invalid value: '': at least one of user or group must be specified" },
    { "spec", "{'groups':['g'],'nonResourceAttributes':{'path':'/x','verb':'get'}}", NULL },
    { "spec", "{'user':'u'}",
      "spec: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must "
      "be specified" },
    { "spec",
      "{'user':'u','resourceAttributes':{'verb':'get'},'nonResourceAttributes':{'path':'/x'}}",
      "spec: Invalid value: {'Path':'/x','Verb':''}: exactly one of nonResourceAttributes or "
      "resourceAttributes must be specified" },
    { "metadata", "{'name':'n'}", "metadata: Invalid value: {'name':'n'}: must be empty" },
    { "metadata", "{'labels':{'a':'b'}}",
      "metadata: Invalid value: {'labels':{'a':'b'}}: must be empty" },
    { "metadata", "{'managedFields':[]}", NULL },
};

/* ---- Selectors ---- */

static const struct suite_change review_selectors[] = {
    { "spec/resourceAttributes/fieldSelector", "{'rawSelector':'a=b'}", NULL },
    { "spec/resourceAttributes/fieldSelector",
      "{'requirements':[{'key':'a','operator':'In','values':['b']}]}", NULL },
    { "spec/resourceAttributes/fieldSelector", "{}",
      "spec.resourceAttributes.fieldSelector.requirements: Required value: when "
      "spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is "
      "required" },
    { "spec/resourceAttributes/fieldSelector",
      "{'rawSelector':'a=b','requirements':[{'key':'a','operator':'Exists'}]}",
      "spec.resourceAttributes.fieldSelector.rawSelector: Invalid value: 'a=b': may not specified "
      "at the same time as requirements" },
    { "spec/resourceAttributes/fieldSelector",
      "{'requirements':[{'key':'','operator':'In','values':['b']}]}",
      "spec.resourceAttributes.fieldSelector.requirements[0].key: Required value: must be "
      "specified" },
    { "spec/resourceAttributes/fieldSelector",
      "{'requirements':[{'key':'a','operator':'','values':['b']}]}", NULL },
    { "spec/resourceAttributes/fieldSelector", "{'requirements':[{'key':'a','operator':'In'}]}",
      "spec.resourceAttributes.fieldSelector.requirements[0].values: Required value: must be "
      "specified when `operator` is 'In' or 'NotIn'" },
    { "spec/resourceAttributes/fieldSelector",
      "{'requirements':[{'key':'a','operator':'Exists','values':['b']}]}",
      "spec.resourceAttributes.fieldSelector.requirements[0].values: Forbidden: may not be "
      "specified when `operator` is 'Exists' or 'DoesNotExist'" },
    { "spec/resourceAttributes/fieldSelector",
      "{'requirements':[{'key':'a','operator':'Near','values':['b']}]}", NULL },
    { "spec/resourceAttributes/labelSelector",
      "{'requirements':[{'key':'a','operator':'In','values':['b']}]}", NULL },
    { "spec/resourceAttributes/labelSelector",
      "{'requirements':[{'key':'a b','operator':'Exists'}]}",
      "spec.resourceAttributes.labelSelector.requirements[0].key: Invalid value: 'a "
      "b': " QUALIFIED_NAME },
    { "spec/resourceAttributes/labelSelector", "{'requirements':[{'key':'a','operator':'NotIn'}]}",
      "spec.resourceAttributes.labelSelector.requirements[0].values: Required value: must be "
      "specified when `operator` is 'In' or 'NotIn'" },
    { "spec/resourceAttributes/labelSelector", "{'requirements':[{'key':'a','operator':'Near'}]}",
      NULL },
    { "spec/resourceAttributes/labelSelector", "{}",
      "spec.resourceAttributes.labelSelector.requirements: Required value: when "
      "spec.resourceAttributes.labelSelector is specified, requirements or rawSelector is "
      "required" },
};

/* ---- Others ---- */

static const char self_review[] = "{'spec':{'nonResourceAttributes':{'path':'/x','verb':'get'}}}";

static const struct suite_change self_reviews[] = {
    { "spec", "{}",
      "spec: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must "
      "be specified" },
    { "spec/resourceAttributes", "{'verb':'get'}",
      "spec: Invalid value: {'Path':'/x','Verb':'get'}: exactly one of nonResourceAttributes or "
      "resourceAttributes must be specified" },
    { "metadata", "{'namespace':'n'}",
      "metadata: Invalid value: {'namespace':'n'}: must be empty" },
};

static const char local_review[] = "{'metadata':{'namespace':'n'},'spec':{'user':'u','"
                                   "resourceAttributes':{'namespace':'n','verb':'get'}}}";

static const struct suite_change local_reviews[] = {
    { "spec/resourceAttributes/namespace", "'other'",
      "spec.resourceAttributes.namespace: Invalid value: 'other': must match metadata.namespace" },
    { "spec", "{'user':'u','nonResourceAttributes':{'path':'/x','verb':'get'}}",
      "spec.nonResourceAttributes: Invalid value: {'Path':'/x','Verb':'get'}: disallowed on this "
      "kind of request" },
    { "metadata/name", "'a'",
      "metadata: Invalid value: {'name':'a','namespace':'n'}: must be empty except for namespace" },
};

static const char binding[] =
    "{'metadata':{'name':'p','namespace':'n'},'target':{'kind':'Node','name':'n1'}}";

static const struct suite_change bindings[] = {
    { "target/kind", "'Pod'",
      "target.kind: Unsupported value: 'Pod': supported values: 'Node', '<empty>'" },
    { "target/kind", NULL, NULL },
    { "target/name", "''", "target.name: Required value" },
    { "target/name", "'A_b'", "target.name: Invalid value: 'A_b': " SUBDOMAIN },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("authorization.k8s.io/v1", "SubjectAccessReview", access_review,
                      access_reviews),
        SUITE_CREATES("authorization.k8s.io/v1", "SubjectAccessReview", access_review,
                      review_selectors),
        SUITE_CREATES("authorization.k8s.io/v1", "SelfSubjectAccessReview", self_review,
                      self_reviews),
        SUITE_CREATES("authorization.k8s.io/v1", "LocalSubjectAccessReview", local_review,
                      local_reviews),
        SUITE_CREATES("v1", "Binding", binding, bindings),
    };
    return SUITE_MAIN(tables);
}
