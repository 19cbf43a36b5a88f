/* Containers: their mounts, devices, policies, and what the short-lived ones may not have. */
#include "api/validate/suite_validate.h"

static const char mounting_pod[] =
    "{" META ",'spec':{'volumes':[{'name':'v','emptyDir':{}},{'name':'w','emptyDir':{}},{'name':'p'"
    ",'persistentVolumeClaim':{'claimName':'x'}},{'name':'i','image':{'reference':'r'}}],'"
    "containers':[{'name':'c','image':'c:1'}]}}";

/* ---- Mounts ---- */

static const struct suite_change mounts[] = {
    { "spec/containers/0/volumeMounts",
      "[{'name':'v','mountPath':'/a'},{'name':'w','mountPath':'/b','subPath':'c'}]", NULL },
    { "spec/containers/0/volumeMounts", "[{'name':'','mountPath':'/a'}]",
      "spec.containers[0].volumeMounts[0].name: Required value\n"
      "spec.containers[0].volumeMounts[0].name: Not found: ''" },
    { "spec/containers/0/volumeMounts", "[{'name':'v','mountPath':''}]",
      "spec.containers[0].volumeMounts[0].mountPath: Required value" },
    { "spec/containers/0/volumeMounts",
      "[{'name':'v','mountPath':'/a'},{'name':'w','mountPath':'/a'}]",
      "spec.containers[0].volumeMounts[1].mountPath: Invalid value: '/a': must be unique" },
    { "spec/containers/0/volumeMounts", "[{'name':'v','mountPath':'/a','subPath':'/s'}]",
      "spec.containers[0].volumeMounts.subPath: Invalid value: '/s': must be a relative path" },
    { "spec/containers/0/volumeMounts", "[{'name':'v','mountPath':'/a','subPathExpr':'$(A)/b'}]",
      NULL },
    { "spec/containers/0/volumeMounts", "[{'name':'v','mountPath':'/a','subPathExpr':'../b'}]",
      "spec.containers[0].volumeMounts.subPathExpr: Invalid value: '../b': must not contain '..'" },
    { "spec/containers/0/volumeMounts",
      "[{'name':'v','mountPath':'/a','subPath':'s','subPathExpr':'e'}]",
      "spec.containers[0].volumeMounts[0].subPathExpr: Invalid value: 'e': subPathExpr and subPath "
      "are mutually exclusive" },
    { "spec/containers/0/volumeMounts", "[{'name':'v','mountPath':'/a','mountPropagation':'Odd'}]",
      "spec.containers[0].volumeMounts.mountPropagation: Unsupported value: 'Odd': supported "
      "values: 'Bidirectional', 'HostToContainer', 'None'" },
    { "spec/containers/0/volumeMounts",
      "[{'name':'v','mountPath':'/a','mountPropagation':'HostToContainer'}]", NULL },
    { "spec/containers/0/volumeMounts", "[{'name':'v','mountPath':'/a','recursiveReadOnly':'Odd'}]",
      "spec.containers[0].volumeMounts.recursiveReadOnly: Unsupported value: 'Odd': supported "
      "values: 'Disabled', 'Enabled', 'IfPossible'" },
    { "spec/containers/0/volumeMounts",
      "[{'name':'v','mountPath':'/a','recursiveReadOnly':'Enabled'}]",
      "spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when "
      "readOnly is true" },
    { "spec/containers/0/volumeMounts",
      "[{'name':'v','mountPath':'/a','readOnly':true,'recursiveReadOnly':'IfPossible'}]", NULL },
    { "spec/containers/0/volumeMounts",
      "[{'name':'v','mountPath':'/"
      "a','readOnly':true,'recursiveReadOnly':'Enabled','mountPropagation':'HostToContainer'}]",
      "spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when "
      "mountPropagation is None or not specified" },
    { "spec/containers/0/volumeMounts",
      "[{'name':'v','mountPath':'/a','recursiveReadOnly':'Disabled'}]", NULL },
};

/* ---- Block devices ---- */

static const struct suite_change devices[] = {
    { "spec/containers/0/volumeDevices", "[{'name':'','devicePath':'/dev/x'}]",
      "spec.containers[0].volumeDevices[0].name: Required value\n"
      "spec.containers[0].volumeDevices[0].name: Not found: ''" },
    { "spec/containers/0/volumeDevices", "[{'name':'p','devicePath':''}]",
      "spec.containers[0].volumeDevices[0].devicePath: Required value" },
    { "spec/containers/0/volumeDevices", "[{'name':'zz','devicePath':'/dev/x'}]",
      "spec.containers[0].volumeDevices[0].name: Not found: 'zz'" },
    { "spec/containers/0/volumeDevices", "[{'name':'p','devicePath':'/dev/../x'}]",
      "spec.containers[0].volumeDevices[0].devicePath: Invalid value: '/dev/../x': can not contain "
      "backsteps ('..')" },
    { "spec/containers/0/volumeDevices", "[{'name':'v','devicePath':'/dev/x'}]",
      "spec.containers[0].volumeDevices[0].name: Invalid value: 'v': can only use volume source "
      "type of PersistentVolumeClaim or Ephemeral for block mode" },
    { "spec/containers/0/volumeDevices",
      "[{'name':'p','devicePath':'/dev/x'},{'name':'p','devicePath':'/dev/y'}]",
      "spec.containers[0].volumeDevices[1].name: Invalid value: 'p': must be unique" },
    { "spec/containers/0",
      "{'name':'c','image':'c:1','volumeDevices':[{'name':'p','devicePath':'/"
      "a'}],'volumeMounts':[{'name':'v','mountPath':'/a'}]}",
      "spec.containers[0].volumeMounts[0].mountPath: Invalid value: '/a': must not already exist "
      "as a path in volumeDevices\n"
      "spec.containers[0].volumeDevices[0].devicePath: Invalid value: '/a': must not already exist "
      "as a path in volumeMounts" },
};

/* ---- Policies ---- */

static const struct suite_change restart_rules[] = {
    { "spec/containers/0", "{'name':'c','image':'c:1','restartPolicy':'Never'}", NULL },
    { "spec/containers/0", "{'name':'c','image':'c:1','restartPolicy':'Odd'}",
      "spec.containers[0].restartPolicy: Unsupported value: 'Odd': supported values: 'Always', "
      "'Never', 'OnFailure'" },
    { "spec/containers/0",
      "{'name':'c','image':'c:1','restartPolicy':'Never','restartPolicyRules':[{'action':'Restart',"
      "'exitCodes':{'operator':'In','values':[1]}}]}",
      NULL },
    { "spec/containers/0",
      "{'name':'c','image':'c:1','restartPolicy':'Never','restartPolicyRules':[{'action':'Odd','"
      "exitCodes':{'operator':'In','values':[1]}}]}",
      "spec.containers[0].restartPolicyRules[0].action: Unsupported value: 'Odd': supported "
      "values: 'Restart', 'RestartAllContainers'" },
    { "spec/containers/0",
      "{'name':'c','image':'c:1','restartPolicy':'Never','restartPolicyRules':[{'action':'Restart'}"
      "]}",
      "spec.containers[0].restartPolicyRules[0].exitCodes: Required value: must be specified" },
    { "spec/containers/0",
      "{'name':'c','image':'c:1','restartPolicy':'Never','restartPolicyRules':[{'action':'Restart',"
      "'exitCodes':{'operator':'Near','values':[1]}}]}",
      "spec.containers[0].restartPolicyRules[0].exitCodes.operator: Unsupported value: 'Near': "
      "supported values: 'In', 'NotIn'" },
    { "spec/containers/0",
      "{'name':'c','image':'c:1','restartPolicy':'Never','restartPolicyRules':[{'action':'Restart',"
      "'exitCodes':{'operator':'In'}}]}",
      NULL },
    { "spec/initContainers", "[{'name':'i','image':'i:1','restartPolicy':'OnFailure'}]", NULL },
    { "spec/initContainers", "[{'name':'i','image':'i:1','restartPolicy':'Sometimes'}]",
      "spec.initContainers[0].restartPolicy: Unsupported value: 'Sometimes': supported values: "
      "'Always', 'Never', 'OnFailure'" },
};

static const struct suite_change resize_policies[] = {
    { "spec/containers/0/resizePolicy",
      "[{'resourceName':'cpu','restartPolicy':'NotRequired'},{'resourceName':'memory','"
      "restartPolicy':'RestartContainer'}]",
      NULL },
    { "spec/containers/0/resizePolicy", "[{'resourceName':'','restartPolicy':''}]",
      "spec.containers[0].resizePolicy: Required value" },
    { "spec/containers/0/resizePolicy", "[{'resourceName':'storage','restartPolicy':'Maybe'}]",
      "spec.containers[0].resizePolicy: Unsupported value: 'storage': supported values: 'cpu', "
      "'memory'\n"
      "spec.containers[0].resizePolicy: Unsupported value: 'Maybe': supported values: "
      "'NotRequired', 'RestartContainer'" },
    { "spec/containers/0/resizePolicy",
      "[{'resourceName':'cpu','restartPolicy':'NotRequired'},{'resourceName':'cpu','restartPolicy':"
      "'NotRequired'}]",
      "spec.containers[0].resizePolicy[1]: Duplicate value: 'cpu'" },
    { "spec",
      "{'restartPolicy':'Never','containers':[{'name':'c','image':'c:1','resizePolicy':[{'"
      "resourceName':'cpu','restartPolicy':'RestartContainer'}]}]}",
      "spec.containers[0].resizePolicy: Invalid value: 'RestartContainer': must be 'NotRequired' "
      "when pod `restartPolicy` is 'Never'" },
    { "spec/initContainers",
      "[{'name':'j','image':'i:1','resizePolicy':[{'resourceName':'cpu','restartPolicy':'"
      "RestartContainer'}]}]",
      "spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: 'RestartContainer': "
      "must not be set to 'RestartContainer' for non-sidecar initContainers" },
    { "spec/initContainers",
      "[{'name':'j','image':'i:1','restartPolicy':'Always','resizePolicy':[{'resourceName':'cpu','"
      "restartPolicy':'RestartContainer'}]}]",
      NULL },
};

/* ---- Lists ---- */

static const struct suite_change lists[] = {
    { "spec/containers", "[{'name':'c','image':'c:1'},{'name':'c','image':'c:1'}]",
      "spec.containers[1].name: Duplicate value: 'c'" },
    { "spec/initContainers", "[{'name':'i','image':'i:1'},{'name':'i','image':'i:1'}]",
      "spec.initContainers[1].name: Duplicate value: 'i'" },
    { "spec/initContainers", "[{'name':'','image':''}]",
      "spec.initContainers[0].name: Required value\n"
      "spec.initContainers[0].image: Required value" },
    { "spec/initContainers",
      "[{'name':'i','image':'i:1','lifecycle':{'preStop':{'exec':{'command':['a']}}}}]",
      "spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without "
      "restartPolicy=Always" },
    { "spec/initContainers",
      "[{'name':'i','image':'i:1','restartPolicy':'Always','lifecycle':{'preStop':{'exec':{}}}}]",
      "spec.initContainers[0].lifecycle.preStop.exec.command: Required value" },
    { "spec/initContainers",
      "[{'name':'i','image':'i:1','startupProbe':{'exec':{'command':['a']}},'readinessProbe':{'"
      "exec':{'command':['a']}}}]",
      "spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers "
      "without restartPolicy=Always\n"
      "spec.initContainers[0].startupProbe: Forbidden: may not be set for init containers without "
      "restartPolicy=Always" },
    { "spec/containers/0/image", "'  '",
      "spec.containers[0].image: Invalid value: '  ': must not have leading or trailing "
      "whitespace" },
};

/* ---- Containers to look around ---- */

static const struct suite_change no_ephemeral_yet[] = {
    { "spec/ephemeralContainers", "[{'name':'e','image':'e:1'}]",
      "spec.ephemeralContainers: Forbidden: cannot be set on create" },
};

static const struct suite_change ephemeral[] = {
    { "spec/ephemeralContainers", "[{'name':'e','image':'e:1','targetContainerName':'c'}]", NULL },
    { "spec/ephemeralContainers", "[{'name':'c','image':'e:1'}]",
      "spec.ephemeralContainers[0].name: Duplicate value: 'c'" },
    { "spec/ephemeralContainers", "[{'name':'e','image':'e:1'},{'name':'e','image':'e:1'}]",
      "spec.ephemeralContainers[1].name: Duplicate value: 'e'" },
    { "spec/ephemeralContainers", "[{'name':'','image':'e:1'}]",
      "spec.ephemeralContainers[0].name: Required value" },
    { "spec/ephemeralContainers", "[{'name':'e','image':''}]",
      "spec.ephemeralContainers[0].image: Required value" },
    { "spec/ephemeralContainers",
      "[{'name':'e','image':'e:1','livenessProbe':{'exec':{'command':['a']}},'readinessProbe':{'"
      "exec':{'command':['a']}},'startupProbe':{'exec':{'command':['a']}}}]",
      "spec.ephemeralContainers[0].livenessProbe: Forbidden: cannot be set for an Ephemeral "
      "Container\n"
      "spec.ephemeralContainers[0].readinessProbe: Forbidden: cannot be set for an Ephemeral "
      "Container\n"
      "spec.ephemeralContainers[0].startupProbe: Forbidden: cannot be set for an Ephemeral "
      "Container" },
    { "spec/ephemeralContainers",
      "[{'name':'e','image':'e:1','lifecycle':{'preStop':{'sleep':{'seconds':1}}},'resources':{'"
      "limits':{'cpu':'1'}}}]",
      "spec.ephemeralContainers[0].resources: Forbidden: cannot be set for an Ephemeral Container\n"
      "spec.ephemeralContainers[0].lifecycle: Forbidden: cannot be set for an Ephemeral "
      "Container" },
    { "spec/ephemeralContainers", "[{'name':'e','image':'e:1','lifecycle':{},'resources':{}}]",
      "spec.ephemeralContainers[0].lifecycle: Forbidden: cannot be set for an Ephemeral "
      "Container" },
    { "spec/ephemeralContainers",
      "[{'name':'e','image':'e:1','volumeMounts':[{'name':'v','mountPath':'/a'}]}]", NULL },
    { "spec/ephemeralContainers",
      "[{'name':'e','image':'e:1','volumeMounts':[{'name':'v','mountPath':'/a','subPath':'s'}]}]",
      "spec.ephemeralContainers[0].volumeMounts[0].subPath: Forbidden: cannot be set for an "
      "Ephemeral Container" },
    { "spec/ephemeralContainers",
      "[{'name':'e','image':'e:1','volumeMounts':[{'name':'v','mountPath':'/"
      "a','subPathExpr':'s'}]}]",
      "spec.ephemeralContainers[0].volumeMounts[0].subPathExpr: Forbidden: cannot be set for an "
      "Ephemeral Container" },
    { "spec/ephemeralContainers", "[{'name':'e','image':'e:1','restartPolicy':'Always'}]",
      "spec.ephemeralContainers[0].restartPolicy: Forbidden: cannot be set for an Ephemeral "
      "Container" },
};

/* ---- Ports ---- */

static const struct suite_change ports[] = {
    { "spec/containers/0/ports",
      "[{'containerPort':80,'hostPort':8080,'hostIP':'1.2.3.4','protocol':'SCTP'}]", NULL },
    { "spec/containers/0/ports", "[{'containerPort':80,'hostPort':65536}]",
      "spec.containers[0].ports[0].hostPort: Invalid value: 65536: must be between 1 and 65535, "
      "inclusive" },
    { "spec/containers/0/ports",
      "[{'containerPort':80,'name':'a'},{'containerPort':81,'name':'a'}]",
      "spec.containers[0].ports[1].name: Duplicate value: 'a'" },
    { "spec/containers/0/ports", "[{'containerPort':80,'name':'a-name-that-is-long'}]",
      "spec.containers[0].ports[0].name: Invalid value: 'a-name-that-is-long': must be no more "
      "than 15 characters" },
    { "spec/containers/0/ports", "[{'containerPort':80,'name':'-a'}]",
      "spec.containers[0].ports[0].name: Invalid value: '-a': must not begin or end with a "
      "hyphen" },
    { "spec/containers/0/ports", "[{'containerPort':80,'hostIP':'x'}]", NULL },
    { "spec",
      "{'hostNetwork':true,'containers':[{'name':'c','image':'c:1','ports':[{'containerPort':80,'"
      "hostPort':81}]}]}",
      "spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when "
      "`hostNetwork` is true" },
    { "spec",
      "{'containers':[{'name':'c','image':'c:1','ports':[{'containerPort':80,'hostPort':81}]},{'"
      "name':'d','image':'d:1','ports':[{'containerPort':80,'hostPort':81}]}]}",
      "spec.containers[1].ports[0].hostPort: Duplicate value: 'TCP//81'" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("v1", "Pod", mounting_pod, mounts),
        SUITE_CREATES("v1", "Pod", mounting_pod, devices),
        SUITE_CREATES("v1", "Pod", mounting_pod, restart_rules),
        SUITE_CREATES("v1", "Pod", mounting_pod, resize_policies),
        SUITE_CREATES("v1", "Pod", mounting_pod, lists),
        SUITE_CREATES("v1", "Pod", mounting_pod, no_ephemeral_yet),
        SUITE_UPDATES_SUB("v1", "Pod", "ephemeralcontainers", mounting_pod, ephemeral),
        SUITE_CREATES("v1", "Pod", mounting_pod, ports),
    };
    return SUITE_MAIN(tables);
}
