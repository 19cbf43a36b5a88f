/* Pods: what is refused, in upstream's words, and what may change. */
#include "api/suite_json.h"
#include "api/validate/suite_validate.h"

#define POD                                                                                      \
    "{" META ",'spec':{'volumes':[{'name':'v','emptyDir':{}},{'name':'claim',"                   \
    "'persistentVolumeClaim':{'claimName':'x'}}],'initContainers':[{'name':'i','image':'i:1'}]," \
    "'containers':[{'name':'c','image':'c:1','ports':[{'containerPort':80,'name':'http'}],"      \
    "'env':[{'name':'A','value':'b'}],'volumeMounts':[{'name':'v','mountPath':'/v'}],"           \
    "'livenessProbe':{'httpGet':{'path':'/','port':80}}}]}}"

static const struct suite_change containers[] = {
    { "spec/containers", "[]", "spec.containers: Required value" },
    { "spec/containers/0/name", "''", "spec.containers[0].name: Required value" },
    { "spec/containers/0/name", "'a.b'",
      "spec.containers[0].name: Invalid value: 'a.b': must not contain dots" },
    { "spec/containers/0/image", "''", "spec.containers[0].image: Required value" },
    { "spec/containers/0/image", "' c:1'",
      "spec.containers[0].image: Invalid value: ' c:1': must not have leading or trailing "
      "whitespace" },
    { "spec/containers/0/imagePullPolicy", "'Maybe'",
      "spec.containers[0].imagePullPolicy: Unsupported value: 'Maybe': supported values: "
      "'Always', 'IfNotPresent', 'Never'" },
    { "spec/containers/0/terminationMessagePolicy", "'X'",
      "spec.containers[0].terminationMessagePolicy: Unsupported value: 'X': supported values: "
      "'File', 'FallbackToLogsOnError'" },
    { "spec/initContainers/0/name", "'c'", "spec.initContainers[0].name: Duplicate value: 'c'" },
    { "spec/initContainers/0/livenessProbe", "{'exec':{'command':['x']}}",
      "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers "
      "without restartPolicy=Always" },
    { "spec/initContainers/0/restartPolicy", "'Always'", NULL },
    { "spec/ephemeralContainers", "[{'name':'e','image':'e:1','targetContainerName':'zz'}]",
      "spec.ephemeralContainers[0].targetContainerName: Not found: 'zz'\n"
      "spec.ephemeralContainers: Forbidden: cannot be set on create" },
    { "spec/ephemeralContainers", "[{'name':'e','image':'e:1','ports':[{'containerPort':1}]}]",
      "spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container\n"
      "spec.ephemeralContainers: Forbidden: cannot be set on create" },
    { "spec/containers/0/restartPolicyRules", "[{'action':'Restart'}]",
      "spec.containers[0].restartPolicy: Required value: must specify restartPolicy when restart "
      "rules are used\n"
      "spec.containers[0].restartPolicyRules[0].exitCodes: Required value: must be specified" },
};

static const struct suite_change ports_and_environments[] = {
    { "spec/containers/0/ports/0/containerPort", "0",
      "spec.containers[0].ports[0].containerPort: Required value" },
    { "spec/containers/0/ports/0/containerPort", "65536",
      "spec.containers[0].ports[0].containerPort: Invalid value: 65536: must be between 1 and "
      "65535, inclusive" },
    { "spec/containers/0/ports/0/name", "'80'",
      "spec.containers[0].ports[0].name: Invalid value: '80': must contain at least one letter "
      "(a-z)" },
    { "spec/containers/0/ports/0/name", "'a--b'",
      "spec.containers[0].ports[0].name: Invalid value: 'a--b': must not contain consecutive "
      "hyphens" },
    { "spec/containers/0/ports/0/protocol", "'tcp'",
      "spec.containers[0].ports[0].protocol: Unsupported value: 'tcp': supported values: "
      "'SCTP', 'TCP', 'UDP'" },
    { "spec/containers/0/ports",
      "[{'containerPort':1,'hostPort':9},{'containerPort':2,'hostPort':9}]",
      "spec.containers[0].ports[1].hostPort: Duplicate value: 'TCP//9'" },
    { "spec/hostNetwork", "true", NULL },
    { "spec/containers/0/env/0/name", "'A=B'",
      "spec.containers[0].env[0].name: Invalid value: 'A=B': a valid environment variable name "
      "must consist only of printable ASCII characters other than '='" },
    { "spec/containers/0/env/0/valueFrom", "{'secretKeyRef':{'name':'s','key':'k'}}",
      "spec.containers[0].env[0].valueFrom: Invalid value: '': may not be specified when "
      "`value` is not empty" },
    { "spec/containers/0/env", "[{'name':'A','valueFrom':{'fieldRef':{'fieldPath':'a.b'}}}]",
      "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: 'a.b': error "
      "converting fieldPath: field label not supported: a.b" },
    { "spec/containers/0/env",
      "[{'name':'A','valueFrom':{'fieldRef':{'fieldPath':'metadata.labels'}}}]",
      "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "
      "'metadata.labels': supported values: 'metadata.name', 'metadata.namespace', "
      "'metadata.uid', 'spec.nodeName', 'spec.serviceAccountName', 'status.hostIP', "
      "'status.hostIPs', 'status.podIP', 'status.podIPs'" },
    { "spec/containers/0/env",
      "[{'name':'A','valueFrom':{'fieldRef':{'fieldPath':'metadata.labels[\\u0027a\\u0027]'}}}"
      "]",
      NULL },
    { "spec/containers/0/env",
      "[{'name':'A','valueFrom':{'resourceFieldRef':{'resource':'limits.memory','divisor':"
      "'2'}}}]",
      "spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "
      "'limits.memory': only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, "
      "1Pi, 1Ei are supported with the memory resource" },
    { "spec/containers/0/envFrom", "[{}]",
      "spec.containers[0].envFrom: Invalid value: '': must specify one of: `configMapRef` or "
      "`secretRef`" },
};

static const struct suite_change volumes[] = {
    { "spec/volumes/0", "{'name':'v'}", NULL }, /* an emptyDir by default */
    { "spec/volumes/1/name", "'v'", "spec.volumes[1].name: Duplicate value: 'v'" },
    { "spec/volumes/1/secret", "{'secretName':'s'}",
      "spec.volumes[1].persistentVolumeClaim: Forbidden: may not specify more than 1 volume "
      "type" },
    { "spec/volumes/0/emptyDir", "{'sizeLimit':'-1'}",
      "spec.volumes[0].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource "
      "quantity\n"
      "spec.containers[0].volumeMounts[0].name: Not found: 'v'" },
    { "spec/volumes/1", "{'name':'h','hostPath':{'path':'/a/../b'}}",
      "spec.volumes[1].hostPath.path: Invalid value: '/a/../b': must not contain '..'" },
    { "spec/volumes/1", "{'name':'s','secret':{'secretName':'s','defaultMode':512}}",
      "spec.volumes[1].secret.defaultMode: Invalid value: 512: must be a number between 0 and "
      "0777 (octal), both inclusive" },
    { "spec/volumes/1", "{'name':'s','iscsi':{'targetPortal':'p','iqn':'x','lun':0}}",
      "spec.volumes[1].iscsi.iqn: Invalid value: 'x': must be valid format starting with iqn, "
      "eui, or naa" },
    { "spec/volumes/1",
      "{'name':'s','iscsi':{'targetPortal':'p','iqn':'iqn.2001-04.com.a:b',"
      "'lun':256}}",
      "spec.volumes[1].iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive" },
    { "spec/volumes/1",
      "{'name':'e','ephemeral':{'volumeClaimTemplate':{'spec':{'accessModes':['ReadWriteOnce'],"
      "'resources':{'requests':{'storage':'0'}}}}}}",
      "spec.volumes[1].ephemeral.volumeClaimTemplate.spec.resources[storage]: Invalid value: "
      "'0': must be greater than zero" },
    { "spec/volumes/1",
      "{'name':'p','projected':{'sources':[{'secret':{'name':'a','items':[{'key':'k','path':"
      "'f'}]}},{'configMap':{'name':'b','items':[{'key':'k','path':'f'}]}}]}}",
      "spec.volumes[1].projected: Invalid value: 'b': conflicting duplicate paths" },
    { "spec/containers/0/volumeMounts/0/name", "'w'",
      "spec.containers[0].volumeMounts[0].name: Not found: 'w'" },
    { "spec/containers/0/volumeMounts/0/subPath", "'../x'",
      "spec.containers[0].volumeMounts.subPath: Invalid value: '../x': must not contain '..'" },
    { "spec/containers/0/volumeMounts/0/mountPropagation", "'Bidirectional'",
      "spec.containers[0].volumeMounts.mountPropagation: Forbidden: Bidirectional mount "
      "propagation is available only to privileged containers" },
    { "spec/containers/0/volumeDevices", "[{'name':'v','devicePath':'/dev/x'}]",
      "spec.containers[0].volumeMounts[0].name: Invalid value: 'v': must not already exist in "
      "volumeDevices\n"
      "spec.containers[0].volumeDevices[0].name: Invalid value: 'v': can only use volume source "
      "type of PersistentVolumeClaim or Ephemeral for block mode\n"
      "spec.containers[0].volumeDevices[0].name: Invalid value: 'v': must not already exist in "
      "volumeMounts" },
    { "spec/containers/0/volumeDevices", "[{'name':'claim','devicePath':'/dev/x'}]", NULL },
};

static const struct suite_change probes_and_security[] = {
    { "spec/containers/0/livenessProbe/successThreshold", "2",
      "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1" },
    { "spec/containers/0/livenessProbe/tcpSocket", "{'port':1}",
      "spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 "
      "handler type" },
    { "spec/containers/0/livenessProbe/httpGet/port", "'a_b'",
      "spec.containers[0].livenessProbe.httpGet.port: Invalid value: 'a_b': must contain only "
      "alpha-numeric characters (a-z, 0-9), and hyphens (-)" },
    { "spec/containers/0/lifecycle", "{'preStop':{'sleep':{'seconds':31}}}",
      "spec.containers[0].lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and "
      "less than terminationGracePeriodSeconds (30)" },
    { "spec/securityContext/runAsUser", "-1",
      "spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, "
      "inclusive" },
    { "spec/securityContext/sysctls", "[{'name':'net..x','value':'1'}]",
      "spec.securityContext.sysctls[0].name: Invalid value: 'net..x': must have at most 253 "
      "characters and match regex "
      "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$" },
    { "spec/securityContext/seccompProfile", "{'type':'Localhost'}",
      "spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when "
      "seccomp type is Localhost" },
    { "spec/containers/0/securityContext", "{'procMount':'Unmasked'}",
      "spec.containers[0].securityContext.procMount: Invalid value: 'Unmasked': `hostUsers` "
      "must be false to use `Unmasked`" },
    { "spec/containers/0/securityContext", "{'allowPrivilegeEscalation':false,'privileged':true}",
      "spec.containers[0].securityContext: Invalid value: {'Capabilities':null,'Privileged':"
      "true,'SELinuxOptions':null,'WindowsOptions':null,'RunAsUser':null,'RunAsGroup':null,"
      "'RunAsNonRoot':null,'ReadOnlyRootFilesystem':null,'AllowPrivilegeEscalation':false,"
      "'ProcMount':null,'SeccompProfile':null,'AppArmorProfile':null}: cannot set "
      "`allowPrivilegeEscalation` to false and `privileged` to true" },
    { "spec/os", "{'name':'windows'}", NULL },
    { "spec/securityContext/windowsOptions", "{'runAsUserName':'a\\\\b\\\\c'}",
      "spec.securityContext.windowsOptions.runAsUserName: Invalid value: 'a\\\\b\\\\c': "
      "runAsUserName cannot contain more than one backslash" },
};

static const struct suite_change resources_and_scheduling[] = {
    { "spec/containers/0/resources", "{'limits':{'cpu':'1'},'requests':{'cpu':'1100m'}}",
      "spec.containers[0].resources.requests: Invalid value: '1100m': must be less than or "
      "equal to cpu limit of 1" },
    { "spec/containers/0/resources", "{'limits':{'pods':'1'}}",
      "spec.containers[0].resources.limits[pods]: Invalid value: 'pods': must be a standard "
      "resource for containers\n"
      "spec.containers[0].resources.requests[pods]: Invalid value: 'pods': must be a standard "
      "resource for containers" },
    { "spec/containers/0/resources", "{'limits':{'hugepages-2Mi':'3Mi','cpu':'1'}}",
      "spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: '3Mi': 3Mi is not "
      "positive integer multiple of hugepages-2Mi\n"
      "spec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: '3Mi': 3Mi is not "
      "positive integer multiple of hugepages-2Mi" },
    { "spec/resources", "{'requests':{'cpu':'1'},'limits':{'storage':'1'}}",
      "spec.resources.limits[storage]: Unsupported value: 'storage': supported values: 'cpu', "
      "'hugepages-', 'memory'" },
    { "spec/tolerations", "[{'key':'a b','operator':'Exists'}]",
      "spec.tolerations[0].key: Invalid value: 'a b': name part must consist of alphanumeric "
      "characters, '-', '_' or '.', and must start and end with an alphanumeric character "
      "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
      "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')" },
    { "spec/topologySpreadConstraints",
      "[{'maxSkew':0,'topologyKey':'z','whenUnsatisfiable':'DoNotSchedule'}]",
      "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than "
      "zero" },
    { "spec/affinity",
      "{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':''}]}}",
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: "
      "Required value: can not be empty\n"
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: "
      "Invalid value: '': name part must be non-empty\n"
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: "
      "Invalid value: '': " QUALIFIED_NAME },
    { "spec/schedulingGates", "[{'name':'g'},{'name':'g'}]",
      "spec.schedulingGates[1]: Duplicate value: 'g'" },
    { "spec/dnsPolicy", "'None'",
      "spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None" },
    { "spec/dnsConfig", "{'nameservers':['01.2.3.4']}",
      "spec.dnsConfig.nameservers[0]: Invalid value: '01.2.3.4': must not have leading 0s" },
    { "spec/dnsConfig", "{'searches':['_tcp.example.com','.']}", NULL },
    { "spec/hostAliases", "[{'ip':'::ffff:1.2.3.4'}]",
      "spec.hostAliases[0].ip: Invalid value: '::ffff:1.2.3.4': must not be an IPv4-mapped "
      "IPv6 "
      "address" },
    { "spec/activeDeadlineSeconds", "0",
      "spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, "
      "inclusive" },
    { "metadata/annotations", "{'controller.kubernetes.io|pod-deletion-cost':'1'}",
      "metadata.annotations: Invalid value: 'controller.kubernetes.io|pod-deletion-cost': name "
      "part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
      "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used "
      "for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')" },
    { "metadata/annotations/controller.kubernetes.io|pod-deletion-cost", "'+1'",
      "metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: '+1': "
      "must be a 32bit integer" },
};

static const struct suite_change little_of_a_pod_may_change_changes[] = {
    { "spec/containers/0/image", "'c:2'", NULL },
    { "spec/initContainers/0/image", "'i:2'", NULL },
    { "spec/activeDeadlineSeconds", "5", NULL },
    { "spec/tolerations", "[{'key':'a','operator':'Exists'}]", NULL },
    { "spec/containers/0/image", "''", "spec.containers[0].image: Required value" },
    { "spec/initContainers", "[]",
      "spec.initContainers: Forbidden: pod updates may not add or remove containers" },
    { "spec/schedulingGates", "[{'name':'g'}]",
      "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new "
      "scheduling gate 'g'" },
    { "metadata/annotations/kubernetes.io|config.mirror", "'x'",
      "metadata.annotations[kubernetes.io/config.mirror]: Invalid value: 'x': must set "
      "spec.nodeName if mirror pod annotation is set\n"
      "metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod "
      "annotation" },
};

static void a_diff_shows_what_else_has_changed(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    const struct kind_resource *r = suite_validate_resource("v1", "Pod");
    struct value in = suite_json(&a, POD), old_obj = suite_validate_read(&a, r, &in);
    suite_validate_change(&a, &in, &(struct suite_change){ "spec/hostname", "'h'", NULL });
    struct value obj = suite_validate_read(&a, r, &in);
    struct field_errors e = FIELD_ERRORS_INIT(&a);
    validate_update(&e, r, &obj, &old_obj);
    assert_int_equal(e.n, 1);
    assert_true(str_eq(e.first->field, STR("spec")));
    struct str msg = e.first->msg;
    static const char lines[] = "\n- \"Hostname\": \"\",\n+ \"Hostname\": \"h\",\n";
    assert_non_null(memmem(msg.p, msg.n, lines, sizeof(lines) - 1));
    arena_done(&a);
}

static const struct suite_change statuses_statuses[] = {
    { "status", "{'podIP':'10.0.0.1','podIPs':[{'ip':'10.0.0.1'}]}", NULL },
    { "status", "{'podIPs':[{'ip':'x'}],'podIP':'x'}",
      "status.podIPs[0]: Invalid value: 'x': must be a valid IP address, (e.g. 10.9.8.7 or "
      "2001:db8::ffff)" },
    { "status", "{'podIP':'10.0.0.1','podIPs':[{'ip':'10.0.0.1'},{'ip':'10.0.0.2'}]}",
      "status.podIPs: Invalid value: [{'IP':'10.0.0.1'},{'IP':'10.0.0.2'}]: may specify no "
      "more than one IP for each IP family" },
    { "status", "{'conditions':[{'type':'a b','status':'True'}]}",
      "status.conditions[0].Type: Invalid value: 'a b': name part must consist of alphanumeric "
      "characters, '-', '_' or '.', and must start and end with an alphanumeric character "
      "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
      "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')" },
    { "status", "{'resourceClaimStatuses':[{'name':'zz'}]}",
      "status.resourceClaimStatuses[0].name: Invalid value: 'zz': must match the name of an "
      "entry in `spec.resourceClaims`" },
    { "status", "{'observedGeneration':-1}",
      "status.observedGeneration: Invalid value: -1: must be a non-negative integer" },
};

static const char only_cpu_and_memory_are_resized_sized[] =
    "{" META ",'spec':{'containers':[{'name':'c','image':'c:1','resources':{'requests':{'cpu':"
    "'1'},'limits':{'cpu':'2'}}}]},'status':{'qosClass':'Burstable'}}";

static const struct suite_change only_cpu_and_memory_are_resized_resize[] = {
    { "spec/containers/0/resources/requests/cpu", "'1500m'", NULL },
    { "spec/containers/0/resources/limits", NULL,
      "spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed" },
    { "spec/containers/0/resources",
      "{'requests':{'cpu':'1','memory':'1Gi'},'limits':{'cpu':'1','memory':'1Gi'}}",
      "spec: Invalid value: 'Burstable': Pod QOS Class may not change as a result of "
      "resizing" },
    { "spec/containers/0/resources/limits", "{'cpu':'2','ephemeral-storage':'1Gi'}",
      "spec: Forbidden: only cpu and memory resources are mutable" },
    { "spec/containers",
      "[{'name':'d','image':'c:1','resources':{'requests':{'cpu':'1'},"
      "'limits':{'cpu':'2'}}}]",
      "spec.containers[0].name: Forbidden: containers may not be renamed or reordered on "
      "resize" },
    { "spec/nodeName", "'n'", "spec: Forbidden: only cpu and memory resources are mutable" },
};

static const char templates_base[] =
    "{" META ",'template':{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c',"
    "'image':'c:1'}]}}}";

static const struct suite_change templates[] = {
    { "template/spec/containers", NULL, "template.spec.containers: Required value" },
    { "template/metadata/labels/a", "'-'",
      "template.labels: Invalid value: '-': a valid label must be an empty string or consist "
      "of "
      "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
      "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
      "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')" },
    { "template/spec/ephemeralContainers", "[{'name':'e','image':'e:1'}]",
      "template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod "
      "template" },
    { "template/spec/restartPolicy", "'X'",
      "template.spec.restartPolicy: Unsupported value: 'X': supported values: 'Always', "
      "'OnFailure', 'Never'" },
    { "template/spec/nodeName", "'A'",
      "template.spec.nodeName: Invalid value: 'A': a lowercase RFC 1123 subdomain must consist "
      "of lower case alphanumeric characters, '-' or '.', and must start and end with an "
      "alphanumeric character (e.g. 'example.com', regex used for validation is "
      "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')" },
};

static const char warned_base[] =
    "{'metadata':{'name':'a'},'spec':{'containers':[{'name':'c','image':'c:1'}]}}";

static const struct suite_change warned[] = {
    { "metadata/name", "'a.b'",
      "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; "
      "a DNS label is recommended: [must not contain dots]" },
    { "spec",
      "{'nodeSelector':{'beta.kubernetes.io/os':'linux'},'volumes':[{'name':'g','gitRepo':"
      "{'repository':'r'}}],'containers':[{'name':'c','image':'c:1','env':[{'name':'A','value':'1'}"
      ",{'name':'A','value':'2'}],'ports':[{'containerPort':80},{'containerPort':80}]}]}",
      "spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use 'kubernetes.io/os' "
      "instead\n"
      "spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+\n"
      "spec.containers[0].env[1]: hides previous definition of 'A', which may be dropped when "
      "using "
      "apply\n"
      "spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("v1", "Pod", POD, containers),
        SUITE_CREATES("v1", "Pod", POD, ports_and_environments),
        SUITE_CREATES("v1", "Pod", POD, volumes),
        SUITE_CREATES("v1", "Pod", POD, probes_and_security),
        SUITE_CREATES("v1", "Pod", POD, resources_and_scheduling),
        SUITE_UPDATES("v1", "Pod", POD, little_of_a_pod_may_change_changes),
        SUITE_UPDATES_SUB("v1", "Pod", "status", POD, statuses_statuses),
        SUITE_UPDATES_SUB("v1", "Pod", "resize", only_cpu_and_memory_are_resized_sized,
                          only_cpu_and_memory_are_resized_resize),
        SUITE_CREATES("v1", "PodTemplate", templates_base, templates),
        SUITE_WARNS("v1", "Pod", warned_base, warned),
    };
    const struct CMUnitTest others[] = {
        cmocka_unit_test(a_diff_shows_what_else_has_changed),
    };
    return SUITE_MAIN_WITH(tables, others);
}
