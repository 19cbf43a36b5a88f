/* Kinds that upstream has dropped: security policies, presets, initializers. */
#include "api/validate/suite_validate.h"

static const char security_policies_base[] =
    "{" CLUSTER_META ",'spec':{'allowPrivilegeEscalation':false,'seLinux':{'rule':'RunAsAny'},"
    "'runAsUser':{'rule':'RunAsAny'},'supplementalGroups':{'rule':'RunAsAny'},'fsGroup':{"
    "'rule':'RunAsAny'},'volumes':['*'],'requiredDropCapabilities':['ALL'],'forbiddenSysctls':["
    "'net.a','kernel.*']}}";

static const struct suite_change security_policies[] = {
    { "spec/runAsUser/rule", "'x'",
      "spec.runAsUser.rule: Unsupported value: 'x': supported values: 'MustRunAs', "
      "'MustRunAsNonRoot', 'RunAsAny'" },
    { "spec/runAsUser/ranges", "[{'min':-1,'max':1}]",
      "spec.runAsUser.ranges[0].min: Invalid value: -1: min cannot be negative" },
    { "spec/fsGroup/ranges", "[{'min':2,'max':1}]",
      "spec.fsGroup.ranges[0].min: Invalid value: 2: min cannot be greater than max" },
    { "spec/runAsGroup", "{'rule':'MayRunAs'}",
      "spec.runAsGroup.ranges: Invalid value: null: must provide at least one range" },
    { "spec/runAsGroup", "{'rule':'RunAsAny','ranges':[{'min':1,'max':2}]}",
      "spec.runAsGroup.ranges: Invalid value: [{'min':1,'max':2}]: Ranges must be empty" },
    { "spec/runAsGroup", "{'rule':'x'}",
      "spec.runAsGroup.rule: Unsupported value: 'x': supported values: 'MustRunAs', "
      "'RunAsAny', 'MayRunAs'" },
    { "spec/seLinux/rule", "'MayRunAs'",
      "spec.seLinux.rule: Unsupported value: 'MayRunAs': supported values: 'MustRunAs', "
      "'RunAsAny'" },
    { "spec/allowedCapabilities", "['*']",
      "requiredDropCapabilities: Invalid value: ['ALL']: must be empty when all capabilities "
      "are allowed by a wildcard" },
    { "spec/defaultAddCapabilities", "['ALL']",
      "defaultAddCapabilities: Invalid value: 'ALL': capability is listed in "
      "defaultAddCapabilities and requiredDropCapabilities" },
    { "spec/defaultAllowPrivilegeEscalation", "true",
      "spec.defaultAllowPrivilegeEscalation: Invalid value: true: Cannot set "
      "DefaultAllowPrivilegeEscalation to true without also setting AllowPrivilegeEscalation "
      "to true" },
    { "spec/allowedProcMountTypes", "['x']",
      "spec.allowedProcMountTypes[0]: Unsupported value: 'x': supported values: 'Default', "
      "'Unmasked'" },
    { "spec/allowedHostPaths", "[{},{}]", "spec.allowedHostPaths[0]: Required value: is required" },
    { "spec/allowedHostPaths", "[{'pathPrefix':'/a/../b'}]",
      "spec.allowedHostPaths[0]: Invalid value: '/a/../b': must not contain '..'" },
    { "spec/allowedFlexVolumes", "[{}]",
      "spec.allowedFlexVolumes.allowedFlexVolumes[0].driver: Required value: must specify a "
      "driver" },
    { "spec/allowedCSIDrivers", "[{}]",
      "spec.allowedCSIDrivers.allowedCSIDriver[0].name: Required value" },
    { "spec/allowedUnsafeSysctls", "['net.*']",
      "spec.forbiddenSysctls[0]: Invalid value: 'net.a': sysctl overlaps with net.*" },
    { "spec/allowedUnsafeSysctls", "['kernel.x']",
      "spec.allowedUnsafeSysctls[0]: Invalid value: 'kernel.x': sysctl overlaps with "
      "kernel.*" },
    { "spec/allowedUnsafeSysctls", "['kernel.x*']",
      "spec.allowedUnsafeSysctls[0]: Invalid value: 'kernel.x*': sysctl overlaps with "
      "kernel.*" },
    { "spec/allowedUnsafeSysctls", "['']",
      "spec.allowedUnsafeSysctls[0]: Invalid value: '': empty sysctl not allowed" },
    { "spec/allowedUnsafeSysctls", "['a*b']",
      "spec.allowedUnsafeSysctls[0]: Invalid value: 'a*b': must have at most 253 characters "
      "and match regex "
      "([a-z0-9]([-_a-z0-9]*[a-z0-9])?\\.)*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]" },
    { "spec/runtimeClass", "{'allowedRuntimeClassNames':['*','a']}",
      "spec.runtimeClass.allowedRuntimeClassNames: Invalid value: ['*','a']: if '*' is "
      "present, must not specify other RuntimeClass names" },
    { "spec/runtimeClass", "{'allowedRuntimeClassNames':['a'],'defaultRuntimeClassName':'b'}",
      "spec.runtimeClass.allowedRuntimeClassNames: Required value: default 'b' must be "
      "allowed" },
    { "metadata/annotations",
      "{'apparmor.security.beta.kubernetes.io/allowedProfileNames':'runtime/default,x'}",
      "metadata.annotations[apparmor.security.beta.kubernetes.io/allowedProfileNames]: Invalid "
      "value: 'runtime/default,x': invalid AppArmor profile name: 'x'" },
    { "metadata/annotations", "{'seccomp.security.alpha.kubernetes.io/allowedProfileNames':'*,x'}",
      "metadata.annotations[seccomp.security.alpha.kubernetes.io/allowedProfileNames]: Invalid "
      "value: 'x': must be a valid seccomp profile" },
};

static const char presets_base[] =
    "{" META ",'spec':{'selector':{'matchLabels':{'a':'b'}},'env':[{'name':'A','value':'1'}],"
    "'volumes':[{'name':'v','emptyDir':{}}],'volumeMounts':[{'name':'v','mountPath':'/v'}]}}";

static const struct suite_change presets[] = {
    { "spec/selector/matchLabels/a", "'-'",
      "spec.selector.matchLabels: Invalid value: '-': a valid label must be an empty string or "
      "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
      "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
      "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')" },
    { "spec/volumeMounts/0/name", "'w'", "spec.volumeMounts[0].name: Not found: 'w'" },
    { "spec/volumeMounts/0/mountPath", "''", "spec.volumeMounts[0].mountPath: Required value" },
    { "spec/env/0/name", "''", "spec.env[0].name: Required value" },
    { "spec/envFrom", "[{}]",
      "spec.envFrom: Invalid value: '': must specify one of: `configMapRef` or `secretRef`" },
    { "spec/volumes/0/name", "''",
      "spec.volumes[0].name: Required value\n"
      "spec.volumeMounts[0].name: Not found: 'v'" },
};

static const struct suite_change presets_empty[] = {
    { "spec", "{'selector':{}}",
      "spec.volumes.env.envFrom.volumeMounts: Required value: must specify at least one" },
};

static const char initializers_base[] =
    "{" CLUSTER_META ",'initializers':[{'name':'a.example.com','rules':[{'apiGroups':[''],"
    "'apiVersions':['v1'],'resources':['pods']}]}]}";

static const struct suite_change initializers[] = {
    { "initializers/0/name", "''", "initializers[0].name: Required value" },
    { "initializers/0/name", "'a.b'",
      "initializers[0].name: Invalid value: 'a.b': should be a domain with at least three "
      "segments separated by dots" },
    { "initializers/0/rules/0/apiGroups", "[]",
      "initializers[0].rules[0].apiGroups: Required value" },
    { "initializers/0/rules/0/apiVersions", "['*','v1']",
      "initializers[0].rules[0].apiVersions: Invalid value: ['*','v1']: if '*' is present, "
      "must not specify other API versions" },
    { "initializers/0/rules/0/apiVersions", "['']",
      "initializers[0].rules[0].apiVersions[0]: Required value" },
    { "initializers/0/rules/0/resources", "['pods/status']",
      "initializers[0].rules[0].resources[0]: Invalid value: 'pods/status': must not specify "
      "subresources" },
    { "initializers/0/rules/0/resources", "['*','pods']",
      "initializers[0].rules[0].resources: Invalid value: ['*','pods']: if '*' is present, "
      "must not specify other resources" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("policy/v1beta1", "PodSecurityPolicy", security_policies_base,
                      security_policies),
        SUITE_CREATES("settings.k8s.io/v1alpha1", "PodPreset", presets_base, presets),
        SUITE_CREATES("settings.k8s.io/v1alpha1", "PodPreset", presets_base, presets_empty),
        SUITE_CREATES("admissionregistration.k8s.io/v1alpha1", "InitializerConfiguration",
                      initializers_base, initializers),
    };
    return SUITE_MAIN(tables);
}
