/* What processes of a pod may do: profiles, users, capabilities, systems. */
#include "api/validate/suite_validate.h"

static const char secured_pod[] = "{" META ",'spec':{'containers':[{'name':'c','image':'c:1'}]}}";

/* ---- Profiles ---- */

static const struct suite_change profiles[] = {
    { "spec/securityContext/seccompProfile", "{'type':'RuntimeDefault'}", NULL },
    { "spec/securityContext/seccompProfile", "{'type':''}",
      "spec.securityContext.seccompProfile.type: Required value: type is required when "
      "seccompProfile is set" },
    { "spec/securityContext/seccompProfile", "{'type':'Odd'}",
      "spec.securityContext.seccompProfile.type: Unsupported value: 'Odd': supported values: "
      "'Localhost', 'RuntimeDefault', 'Unconfined'" },
    { "spec/securityContext/seccompProfile", "{'type':'RuntimeDefault','localhostProfile':'p'}",
      "spec.securityContext.seccompProfile.localhostProfile: Invalid value: "
      "{'Type':'RuntimeDefault','LocalhostProfile':'p'}: can only be set when seccomp type is "
      "Localhost" },
    { "spec/securityContext/seccompProfile", "{'type':'Localhost','localhostProfile':'p.json'}",
      NULL },
    { "spec/securityContext/seccompProfile", "{'type':'Localhost','localhostProfile':'/p'}",
      "spec.securityContext.seccompProfile.localhostProfile: Invalid value: '/p': must be a "
      "relative path" },
    { "spec/securityContext/seccompProfile", "{'type':'Localhost','localhostProfile':'../p'}",
      "spec.securityContext.seccompProfile.localhostProfile: Invalid value: '../p': must not "
      "contain '..'" },
    { "spec/containers/0/securityContext", "{'seccompProfile':{'type':'Localhost'}}",
      "spec.containers[0].securityContext.seccompProfile.localhostProfile: Required value: must be "
      "set when seccomp type is Localhost" },
    { "spec/securityContext/appArmorProfile", "{'type':'Unconfined'}", NULL },
    { "spec/securityContext/appArmorProfile", "{'type':''}",
      "spec.securityContext.appArmorProfile.type: Required value: type is required when "
      "appArmorProfile is set" },
    { "spec/securityContext/appArmorProfile", "{'type':'Odd'}",
      "spec.securityContext.appArmorProfile.type: Unsupported value: 'Odd': supported values: "
      "'Localhost', 'RuntimeDefault', 'Unconfined'" },
    { "spec/securityContext/appArmorProfile", "{'type':'Localhost'}",
      "spec.securityContext.appArmorProfile.localhostProfile: Required value: must be set when "
      "AppArmor type is Localhost" },
    { "spec/securityContext/appArmorProfile", "{'type':'Localhost','localhostProfile':'p'}", NULL },
    { "spec/securityContext/appArmorProfile", "{'type':'Localhost','localhostProfile':' p '}",
      "spec.securityContext.appArmorProfile.localhostProfile: Invalid value: ' p ': must not be "
      "padded with whitespace" },
    { "spec/securityContext/appArmorProfile", "{'type':'RuntimeDefault','localhostProfile':'p'}",
      "spec.securityContext.appArmorProfile.localhostProfile: Invalid value: 'p': can only be set "
      "when AppArmor type is Localhost" },
    { "spec/containers/0/securityContext",
      "{'appArmorProfile':{'type':'Localhost','localhostProfile':''}}",
      "spec.containers[0].securityContext.appArmorProfile.localhostProfile: Required value: must "
      "be set when AppArmor type is Localhost" },
};

/* ---- Users and groups ---- */

static const struct suite_change identities[] = {
    { "spec/securityContext",
      "{'runAsUser':0,'runAsGroup':2147483647,'fsGroup':1,'supplementalGroups':[0,5]}", NULL },
    { "spec/securityContext", "{'runAsGroup':-1}",
      "spec.securityContext.runAsGroup: Invalid value: -1: must be between 0 and 2147483647, "
      "inclusive" },
    { "spec/securityContext", "{'fsGroup':2147483648}",
      "spec.securityContext.fsGroup: Invalid value: 2147483648: must be between 0 and 2147483647, "
      "inclusive" },
    { "spec/securityContext", "{'supplementalGroups':[1,-2]}",
      "spec.securityContext.supplementalGroups[1]: Invalid value: -2: must be between 0 and "
      "2147483647, inclusive" },
    { "spec/securityContext", "{'fsGroupChangePolicy':'Maybe'}",
      "spec.securityContext.fsGroupChangePolicy: Unsupported value: 'Maybe': supported values: "
      "'Always', 'OnRootMismatch'" },
    { "spec/securityContext", "{'fsGroupChangePolicy':'OnRootMismatch'}", NULL },
    { "spec/securityContext", "{'supplementalGroupsPolicy':'Some'}",
      "spec.securityContext.supplementalGroupsPolicy: Unsupported value: 'Some': supported values: "
      "'Merge', 'Strict'" },
    { "spec/securityContext", "{'seLinuxChangePolicy':'Odd'}",
      "spec.securityContext.seLinuxChangePolicy: Unsupported value: 'Odd': supported values: "
      "'MountOption', 'Recursive'" },
    { "spec/containers/0/securityContext", "{'runAsUser':-1}",
      "spec.containers[0].securityContext.runAsUser: Invalid value: -1: must be between 0 and "
      "2147483647, inclusive" },
    { "spec/containers/0/securityContext", "{'runAsGroup':2147483648}",
      "spec.containers[0].securityContext.runAsGroup: Invalid value: 2147483648: must be between 0 "
      "and 2147483647, inclusive" },
    { "spec/containers/0/securityContext", "{'procMount':'Odd'}",
      "spec.containers[0].securityContext.procMount: Unsupported value: 'Odd': supported values: "
      "'Default', 'Unmasked'" },
    { "spec/containers/0/securityContext", "{'procMount':'Default'}", NULL },
    { "spec/containers/0/securityContext",
      "{'allowPrivilegeEscalation':false,'capabilities':{'add':['CAP_SYS_ADMIN']}}",
      "spec.containers[0].securityContext: Invalid value: "
      "{'Capabilities':{'Add':['CAP_SYS_ADMIN'],'Drop':null},'Privileged':null,'SELinuxOptions':"
      "null,'WindowsOptions':null,'RunAsUser':null,'RunAsGroup':null,'RunAsNonRoot':null,'"
      "ReadOnlyRootFilesystem':null,'AllowPrivilegeEscalation':false,'ProcMount':null,'"
      "SeccompProfile':null,'AppArmorProfile':null}: cannot set `allowPrivilegeEscalation` to "
      "false and `capabilities.Add` CAP_SYS_ADMIN" },
    { "spec/containers/0/securityContext",
      "{'allowPrivilegeEscalation':false,'capabilities':{'add':['NET_ADMIN']}}", NULL },
};

/* ---- Sysctls ---- */

static const struct suite_change sysctls[] = {
    { "spec/securityContext/sysctls",
      "[{'name':'kernel.shm_rmid_forced','value':'1'},{'name':'net/ipv4/ip_forward','value':'1'}]",
      NULL },
    { "spec/securityContext/sysctls", "[{'name':'','value':'1'}]",
      "spec.securityContext.sysctls[0].name: Required value" },
    { "spec/securityContext/sysctls", "[{'name':'net.a','value':'1'},{'name':'net/a','value':'2'}]",
      NULL },
    { "spec/securityContext/sysctls", "[{'name':'net.a','value':'1'},{'name':'net.a','value':'2'}]",
      "spec.securityContext.sysctls[1].name: Duplicate value: 'net.a'" },
    { "spec/securityContext/sysctls", "[{'name':'Net.A','value':'1'}]",
      "spec.securityContext.sysctls[0].name: Invalid value: 'Net.A': must have at most 253 "
      "characters and match regex "
      "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$" },
};

static const char host_pod[] =
    "{" META
    ",'spec':{'hostNetwork':true,'hostIPC':true,'containers':[{'name':'c','image':'c:1'}]}}";

static const struct suite_change host_sysctls[] = {
    { "spec/securityContext/sysctls", "[{'name':'net.core.somaxconn','value':'1'}]",
      "spec.securityContext.sysctls[0].name: Invalid value: 'net.core.somaxconn': may not be "
      "specified when 'hostNetwork' is true" },
    { "spec/securityContext/sysctls", "[{'name':'kernel.msgmax','value':'1'}]",
      "spec.securityContext.sysctls[0].name: Invalid value: 'kernel.msgmax': may not be specified "
      "when 'hostIPC' is true" },
    { "spec/securityContext/sysctls", "[{'name':'fs.mqueue.x','value':'1'}]",
      "spec.securityContext.sysctls[0].name: Invalid value: 'fs.mqueue.x': may not be specified "
      "when 'hostIPC' is true" },
    { "spec/securityContext/sysctls", "[{'name':'fs/mqueue/x','value':'1'}]",
      "spec.securityContext.sysctls[0].name: Invalid value: 'fs/mqueue/x': may not be specified "
      "when 'hostIPC' is true" },
    { "spec/securityContext/sysctls", "[{'name':'kernel.pid_max','value':'1'}]", NULL },
};

/* ---- Windows ---- */

static const char windows_pod[] =
    "{" META ",'spec':{'os':{'name':'windows'},'containers':[{'name':'c','image':'c:1'}]}}";

static const struct suite_change windows_options[] = {
    { "spec/securityContext/windowsOptions", "{'runAsUserName':'ContainerUser'}", NULL },
    { "spec/securityContext/windowsOptions", "{'runAsUserName':'DOMAIN\\\\user'}", NULL },
    { "spec/securityContext/windowsOptions", "{'runAsUserName':'example.com\\\\user'}", NULL },
    { "spec/securityContext/windowsOptions", "{'runAsUserName':'a_b?\\\\user'}",
      "spec.securityContext.windowsOptions.runAsUserName: Invalid value: 'a_b?\\\\user': "
      "runAsUserName's Domain doesn't match the NetBios nor the DNS format" },
    { "spec/securityContext/windowsOptions", "{'runAsUserName':'.dom\\\\user'}",
      "spec.securityContext.windowsOptions.runAsUserName: Invalid value: '.dom\\\\user': "
      "runAsUserName's Domain doesn't match the NetBios nor the DNS format" },
    { "spec/securityContext/windowsOptions", "{'runAsUserName':''}",
      "spec.securityContext.windowsOptions.runAsUserName: Invalid value: '': runAsUserName cannot "
      "be an empty string" },
    { "spec/securityContext/windowsOptions", "{'runAsUserName':'a\\u0007b'}",
      "spec.securityContext.windowsOptions.runAsUserName: Invalid value: 'a\\ab': runAsUserName "
      "cannot contain control characters" },
    { "spec/securityContext/windowsOptions", "{'runAsUserName':'D\\\\'}",
      "spec.securityContext.windowsOptions.runAsUserName: Invalid value: 'D\\\\': runAsUserName's "
      "User cannot be empty" },
    { "spec/securityContext/windowsOptions", "{'runAsUserName':'. .'}",
      "spec.securityContext.windowsOptions.runAsUserName: Invalid value: '. .': runAsUserName's "
      "User cannot contain only periods or spaces" },
    { "spec/securityContext/windowsOptions", "{'runAsUserName':'a*b'}",
      "spec.securityContext.windowsOptions.runAsUserName: Invalid value: 'a*b': runAsUserName's "
      "User cannot contain the following characters: '/\\:;|=,+*?<>@[]" },
    { "spec/securityContext/windowsOptions", "{'gmsaCredentialSpecName':'A_b'}",
      "spec.securityContext.windowsOptions.gmsaCredentialSpecName: Invalid value: "
      "'A_b': " SUBDOMAIN },
    { "spec/securityContext/windowsOptions",
      "{'gmsaCredentialSpecName':'good','gmsaCredentialSpec':'x'}", NULL },
    { "spec/securityContext/windowsOptions", "{'gmsaCredentialSpec':''}",
      "spec.securityContext.windowsOptions.gmsaCredentialSpec: Invalid value: '': "
      "gmsaCredentialSpec cannot be an empty string" },
    { "spec/containers/0/securityContext", "{'windowsOptions':{'gmsaCredentialSpecName':'-'}}",
      "spec.containers[0].securityContext.windowsOptions.gmsaCredentialSpecName: Invalid value: "
      "'-': " SUBDOMAIN },
};

static const struct suite_change host_processes[] = {
    { "spec/containers/0/securityContext", "{'windowsOptions':{'hostProcess':true}}",
      "spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any "
      "hostProcess containers" },
    { "spec/securityContext", "{'windowsOptions':{'hostProcess':true}}",
      "spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any "
      "hostProcess containers" },
    { "spec",
      "{'os':{'name':'windows'},'hostNetwork':true,'securityContext':{'windowsOptions':{'"
      "hostProcess':true}},'containers':[{'name':'c','image':'c:1'}]}",
      NULL },
    { "spec",
      "{'os':{'name':'windows'},'hostNetwork':true,'securityContext':{'windowsOptions':{'"
      "hostProcess':true}},'containers':[{'name':'c','image':'c:1','securityContext':{'"
      "windowsOptions':{'hostProcess':false}}}]}",
      "spec.containers[0].securityContext.windowsOptions.hostProcess: Invalid value: false: pod "
      "hostProcess value must be identical if both are specified, was true" },
    { "spec",
      "{'os':{'name':'windows'},'hostNetwork':true,'initContainers':[{'name':'i','image':'i:1'}],'"
      "containers':[{'name':'c','image':'c:1','securityContext':{'windowsOptions':{'hostProcess':"
      "true}}}]}",
      "spec: Invalid value: '': If pod contains any hostProcess containers then all containers "
      "must be HostProcess containers" },
};

/* Each of these needs Linux. */
static const struct suite_change not_on_windows[] = {
    { "spec/hostPID", "true", "spec.hostPID: Forbidden: cannot be set for a windows pod" },
    { "spec/hostIPC", "true", "spec.hostIPC: Forbidden: cannot be set for a windows pod" },
    { "spec/hostUsers", "false", "spec.hostUsers: Forbidden: cannot be set for a windows pod" },
    { "spec/shareProcessNamespace", "true",
      "spec.shareProcessNamespace: Forbidden: cannot be set for a windows pod" },
    { "spec/securityContext",
      "{'runAsUser':1,'runAsGroup':1,'fsGroup':1,'seLinuxOptions':{'level':'s0'}}",
      "spec.securityContext.seLinuxOptions: Forbidden: cannot be set for a windows pod\n"
      "spec.securityContext.fsGroup: Forbidden: cannot be set for a windows pod\n"
      "spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod\n"
      "spec.securityContext.runAsGroup: Forbidden: cannot be set for a windows pod" },
    { "spec/securityContext",
      "{'sysctls':[{'name':'net.a','value':'1'}],'supplementalGroups':[1],'fsGroupChangePolicy':'"
      "Always'}",
      "spec.securityContext.fsGroupChangePolicy: Forbidden: cannot be set for a windows pod\n"
      "spec.securityContext.sysctls: Forbidden: cannot be set for a windows pod\n"
      "spec.securityContext.supplementalGroups: Forbidden: cannot be set for a windows pod" },
    { "spec/securityContext",
      "{'seccompProfile':{'type':'RuntimeDefault'},'appArmorProfile':{'type':'RuntimeDefault'}}",
      "spec.securityContext.appArmorProfile: Forbidden: cannot be set for a windows pod\n"
      "spec.securityContext.seccompProfile: Forbidden: cannot be set for a windows pod" },
    { "spec/containers/0/securityContext",
      "{'privileged':true,'readOnlyRootFilesystem':true,'capabilities':{'add':['X']}}",
      "spec.containers[0].securityContext.capabilities: Forbidden: cannot be set for a windows "
      "pod\n"
      "spec.containers[0].securityContext.readOnlyRootFilesystem: Forbidden: cannot be set for a "
      "windows pod\n"
      "spec.containers[0].securityContext.privileged: Forbidden: cannot be set for a windows pod" },
    { "spec/containers/0/securityContext",
      "{'allowPrivilegeEscalation':true,'runAsUser':1,'runAsGroup':1}",
      "spec.containers[0].securityContext.allowPrivilegeEscalation: Forbidden: cannot be set for a "
      "windows pod\n"
      "spec.containers[0].securityContext.runAsUser: Forbidden: cannot be set for a windows pod\n"
      "spec.containers[0].securityContext.runAsGroup: Forbidden: cannot be set for a windows pod" },
    { "spec/containers/0/securityContext",
      "{'seLinuxOptions':{'user':'u'},'seccompProfile':{'type':'Unconfined'},'procMount':'Default'"
      "}",
      "spec.containers[0].securityContext.seLinuxOptions: Forbidden: cannot be set for a windows "
      "pod\n"
      "spec.containers[0].securityContext.seccompProfile: Forbidden: cannot be set for a windows "
      "pod\n"
      "spec.containers[0].securityContext.procMount: Forbidden: cannot be set for a windows pod" },
};

static const char linux_pod[] =
    "{" META ",'spec':{'os':{'name':'linux'},'containers':[{'name':'c','image':'c:1'}]}}";

static const struct suite_change not_on_linux[] = {
    { "spec/securityContext", "{'windowsOptions':{'runAsUserName':'u'}}",
      "spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux "
      "pod" },
    { "spec/containers/0/securityContext", "{'windowsOptions':{}}",
      "spec.containers[0].securityContext.windowsOptions: Forbidden: windows options cannot be set "
      "for a linux pod" },
    { "spec/os", "{'name':'plan9'}",
      "spec.os: Unsupported value: 'plan9': supported values: 'linux', 'windows'" },
    { "spec/os", "{'name':''}", "spec.os.name: Required value" },
};

/* ---- User namespaces ---- */

static const char own_users[] =
    "{" META ",'spec':{'hostUsers':false,'volumes':[{'name':'p','persistentVolumeClaim':{'"
    "claimName':'x'}}],'containers':[{'name':'c','image':'c:1'}]}}";

static const struct suite_change user_namespaces[] = {
    { "spec/hostNetwork", "true", "spec.hostNetwork: Forbidden: when `hostUsers` is false" },
    { "spec/hostPID", "true", "spec.HostPID: Forbidden: when `hostUsers` is false" },
    { "spec/hostIPC", "true", "spec.HostIPC: Forbidden: when `hostUsers` is false" },
    { "spec/containers/0/volumeDevices", "[{'name':'p','devicePath':'/dev/x'}]",
      "spec.containers[0].volumeDevices: Forbidden: when `hostUsers` is false" },
    { "spec/containers/0/securityContext", "{'procMount':'Unmasked'}", NULL },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("v1", "Pod", secured_pod, profiles),
        SUITE_CREATES("v1", "Pod", secured_pod, identities),
        SUITE_CREATES("v1", "Pod", secured_pod, sysctls),
        SUITE_CREATES("v1", "Pod", host_pod, host_sysctls),
        SUITE_CREATES("v1", "Pod", windows_pod, windows_options),
        SUITE_CREATES("v1", "Pod", windows_pod, host_processes),
        SUITE_CREATES("v1", "Pod", windows_pod, not_on_windows),
        SUITE_CREATES("v1", "Pod", linux_pod, not_on_linux),
        SUITE_CREATES("v1", "Pod", own_users, user_namespaces),
    };
    return SUITE_MAIN(tables);
}
