/* Where the variables of a container come from. */
#include "api/validate/suite_validate.h"

static const char variable_pod[] =
    "{" META ",'spec':{'containers':[{'name':'c','image':'c:1'}],'volumes':[{'name':'e','emptyDir':"
    "{}},{'name':'m','configMap':{'name':'m'}}]}}";

#define FROM(source) "[{'name':'A','valueFrom':{" source "}}]"

/* ---- One variable ---- */

static const struct suite_change variables[] = {
    { "spec/containers/0/env", "[{'name':'A','value':'x'},{'name':'a.b-c_d','value':''}]", NULL },
    { "spec/containers/0/env", "[{'name':'','value':'x'}]",
      "spec.containers[0].env[0].name: Required value" },
    { "spec/containers/0/env", "[{'name':'a=b','value':'x'}]",
      "spec.containers[0].env[0].name: Invalid value: 'a=b': a valid environment variable name "
      "must consist only of printable ASCII characters other than '='" },
    { "spec/containers/0/env", FROM("'configMapKeyRef':{'name':'m','key':'k'}"), NULL },
    { "spec/containers/0/env", FROM("'configMapKeyRef':{'name':'','key':''}"),
      "spec.containers[0].env[0].valueFrom.configMapKeyRef.name: Invalid value: '': " SUBDOMAIN "\n"
      "spec.containers[0].env[0].valueFrom.configMapKeyRef.key: Required value" },
    { "spec/containers/0/env", FROM("'configMapKeyRef':{'name':'m','key':'a b'}"),
      "spec.containers[0].env[0].valueFrom.configMapKeyRef.key: Invalid value: 'a "
      "b': " CONFIG_KEY },
    { "spec/containers/0/env", FROM("'secretKeyRef':{'name':'s','key':'k'}"), NULL },
    { "spec/containers/0/env", FROM("'secretKeyRef':{'name':'s','key':'..'}"),
      "spec.containers[0].env[0].valueFrom.secretKeyRef.key: Invalid value: '..': must not be "
      "'..'" },
    { "spec/containers/0/env", FROM(""),
      "spec.containers[0].env[0].valueFrom: Invalid value: '': must specify one of: `fieldRef`, "
      "`resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`" },
    { "spec/containers/0/env",
      FROM("'configMapKeyRef':{'name':'m','key':'k'},'secretKeyRef':{'name':'s','key':'k'}"),
      "spec.containers[0].env[0].valueFrom: Invalid value: '': may not have more than one field "
      "specified at a time" },
};

/* ---- Fields ---- */

static const struct suite_change fields[] = {
    { "spec/containers/0/env", FROM("'fieldRef':{'fieldPath':''}"),
      "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Required value" },
    { "spec/containers/0/env", FROM("'fieldRef':{'apiVersion':'v2','fieldPath':'metadata.name'}"),
      "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: 'metadata.name': "
      "error converting fieldPath: unsupported pod version: v2" },
    { "spec/containers/0/env", FROM("'fieldRef':{'fieldPath':'spec.nodeName'}"), NULL },
    { "spec/containers/0/env", FROM("'fieldRef':{'fieldPath':'status.podIPs'}"), NULL },
    { "spec/containers/0/env", FROM("'fieldRef':{'fieldPath':'status.phase'}"),
      "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported value: 'status.phase': "
      "supported values: 'metadata.name', 'metadata.namespace', 'metadata.uid', 'spec.nodeName', "
      "'spec.serviceAccountName', 'status.hostIP', 'status.hostIPs', 'status.podIP', "
      "'status.podIPs'" },
    { "spec/containers/0/env", FROM("'fieldRef':{'fieldPath':'metadata.annotations'}"),
      "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "
      "'metadata.annotations': supported values: 'metadata.name', 'metadata.namespace', "
      "'metadata.uid', 'spec.nodeName', 'spec.serviceAccountName', 'status.hostIP', "
      "'status.hostIPs', 'status.podIP', 'status.podIPs'" },
    { "spec/containers/0/env",
      FROM("'fieldRef':{'fieldPath':'metadata.annotations[\\u0027Example.com/A\\u0027]'}"), NULL },
    { "spec/containers/0/env",
      FROM("'fieldRef':{'fieldPath':'metadata.annotations[\\u0027a b\\u0027]'}"),
      "spec.containers[0].env[0].valueFrom.fieldRef: Invalid value: 'a b': " QUALIFIED_NAME },
    { "spec/containers/0/env",
      FROM("'fieldRef':{'fieldPath':'metadata.labels[\\u0027a b\\u0027]'}"),
      "spec.containers[0].env[0].valueFrom.fieldRef: Invalid value: 'a b': " QUALIFIED_NAME },
    { "spec/containers/0/env", FROM("'fieldRef':{'fieldPath':'metadata.name[\\u0027a\\u0027]'}"),
      "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "
      "'metadata.name['a']': error converting fieldPath: field label does not support subscript: "
      "metadata.name['a']" },
};

/* ---- Resources ---- */

static const struct suite_change resources[] = {
    { "spec/containers/0/env", FROM("'resourceFieldRef':{'resource':'limits.cpu','divisor':'1m'}"),
      NULL },
    { "spec/containers/0/env", FROM("'resourceFieldRef':{'resource':'limits.cpu','divisor':'2m'}"),
      "spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: Invalid value: 'limits.cpu': "
      "only divisor's values 1m and 1 are supported with the cpu resource" },
    { "spec/containers/0/env", FROM("'resourceFieldRef':{'resource':''}"),
      "spec.containers[0].env[0].valueFrom.resourceFieldRef.resource: Required value" },
    { "spec/containers/0/env",
      FROM("'resourceFieldRef':{'resource':'requests.ephemeral-storage','divisor':'1Mi'}"), NULL },
    { "spec/containers/0/env",
      FROM("'resourceFieldRef':{'resource':'requests.ephemeral-storage','divisor':'10Mi'}"),
      "spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "
      "'requests.ephemeral-storage': only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, "
      "1Gi, 1Ti, 1Pi, 1Ei are supported with the local ephemeral storage resource" },
    { "spec/containers/0/env",
      FROM("'resourceFieldRef':{'resource':'requests.hugepages-2Mi','divisor':'3'}"),
      "spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "
      "'requests.hugepages-2Mi': only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, "
      "1Ti, 1Pi, 1Ei are supported with the hugepages resource" },
    { "spec/containers/0/env",
      FROM("'resourceFieldRef':{'resource':'limits.hugepages-2Mi','divisor':'1Ki'}"), NULL },
    { "spec/containers/0/env", FROM("'resourceFieldRef':{'resource':'limits.example.com/gpu'}"),
      "spec.containers[0].env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "
      "'limits.example.com/gpu': supported values: 'limits.cpu', 'limits.ephemeral-storage', "
      "'limits.memory', 'requests.cpu', 'requests.ephemeral-storage', 'requests.memory'" },
};

/* ---- Files ---- */

static const struct suite_change files[] = {
    { "spec/containers/0/env", FROM("'fileKeyRef':{'volumeName':'e','path':'env','key':'K'}"),
      NULL },
    { "spec/containers/0/env", FROM("'fileKeyRef':{'volumeName':'zz','path':'env','key':'K'}"),
      "spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Not found: 'zz'" },
    { "spec/containers/0/env", FROM("'fileKeyRef':{'volumeName':'m','path':'env','key':'K'}"),
      "spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Invalid value: 'm': referenced "
      "volume must be of type emptyDir" },
    { "spec/containers/0/env", FROM("'fileKeyRef':{'volumeName':'','path':'','key':''}"),
      "spec.containers[0].env[0].valueFrom.fileKeyRef.key: Required value\n"
      "spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Required value\n"
      "spec.containers[0].env[0].valueFrom.fileKeyRef.path: Required value\n"
      "spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Not found: ''" },
    { "spec/containers/0/env", FROM("'fileKeyRef':{'volumeName':'e','path':'../env','key':'a=b'}"),
      "spec.containers[0].env[0].valueFrom.fileKeyRef.key: Invalid value: 'a=b': a valid "
      "environment variable name must consist only of printable ASCII characters other than '='\n"
      "spec.containers[0].env[0].valueFrom.fileKeyRef.path: Invalid value: '../env': must not "
      "contain '..'" },
};

/* ---- Many at once ---- */

static const struct suite_change sources[] = {
    { "spec/containers/0/envFrom",
      "[{'configMapRef':{'name':'m'}},{'prefix':'P_','secretRef':{'name':'s'}}]", NULL },
    { "spec/containers/0/envFrom", "[{'prefix':'a=','configMapRef':{'name':'m'}}]",
      "spec.containers[0].envFrom[0].prefix: Invalid value: 'a=': a valid environment variable "
      "name must consist only of printable ASCII characters other than '='" },
    { "spec/containers/0/envFrom", "[{'configMapRef':{'name':''}}]",
      "spec.containers[0].envFrom[0].configMapRef.name: Required value" },
    { "spec/containers/0/envFrom", "[{'secretRef':{'name':'A_b'}}]",
      "spec.containers[0].envFrom[0].secretRef.name: Invalid value: 'A_b': " SUBDOMAIN },
    { "spec/containers/0/envFrom", "[{'configMapRef':{'name':'m'},'secretRef':{'name':'s'}}]",
      "spec.containers[0].envFrom: Invalid value: '': may not have more than one field specified "
      "at a time" },
    { "spec/containers/0/envFrom", "[{}]",
      "spec.containers[0].envFrom: Invalid value: '': must specify one of: `configMapRef` or "
      "`secretRef`" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("v1", "Pod", variable_pod, variables),
        SUITE_CREATES("v1", "Pod", variable_pod, fields),
        SUITE_CREATES("v1", "Pod", variable_pod, resources),
        SUITE_CREATES("v1", "Pod", variable_pod, files),
        SUITE_CREATES("v1", "Pod", variable_pod, sources),
    };
    return SUITE_MAIN(tables);
}
