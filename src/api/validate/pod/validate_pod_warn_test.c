/* What is no fault of a pod or a template, but deserves a word. */
#include "api/validate/suite_validate.h"

static const char quiet_pod[] =
    "{'metadata':{'name':'a','namespace':'n'},'spec':{'containers':[{'name':'c','image':'c:1'}]}}";

/* ---- Places ---- */

static const struct suite_change places[] = {
    { "spec/nodeSelector",
      "{'failure-domain.beta.kubernetes.io/zone':'z','kubernetes.io/os':'linux'}",
      "spec.nodeSelector[failure-domain.beta.kubernetes.io/zone]: deprecated since v1.17; use "
      "'topology.kubernetes.io/zone' instead" },
    { "spec/nodeSelector", "{'beta.kubernetes.io/arch':'x','beta.kubernetes.io/instance-type':'y'}",
      "spec.nodeSelector[beta.kubernetes.io/arch]: deprecated since v1.14; use "
      "'kubernetes.io/arch' instead\n"
      "spec.nodeSelector[beta.kubernetes.io/instance-type]: deprecated since v1.17; use "
      "'node.kubernetes.io/instance-type' instead" },
    { "spec/affinity",
      "{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[{'"
      "matchExpressions':[{'key':'failure-domain.beta.kubernetes.io/"
      "region','operator':'Exists'}]}]}}}",
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms["
      "0].matchExpressions[0].key: failure-domain.beta.kubernetes.io/region is deprecated since "
      "v1.17; use 'topology.kubernetes.io/region' instead" },
    { "spec/affinity",
      "{'nodeAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':1,'preference'"
      ":{'matchExpressions':[{'key':'beta.kubernetes.io/os','operator':'Exists'}]}}]}}",
      "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference."
      "matchExpressions[0].key: beta.kubernetes.io/os is deprecated since v1.14; use "
      "'kubernetes.io/os' instead" },
    { "spec/affinity",
      "{'nodeAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':1,'preference'"
      ":{}}]}}",
      NULL },
    { "spec/affinity",
      "{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'z'}]}}",
      "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: "
      "a null labelSelector results in matching no pod" },
    { "spec/affinity",
      "{'podAntiAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':1,'"
      "podAffinityTerm':{'topologyKey':'z'}}]}}",
      "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
      "podAffinityTerm.labelSelector: a null labelSelector results in matching no pod" },
    { "spec/affinity",
      "{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'z','"
      "labelSelector':{}}]}}",
      NULL },
    { "spec/topologySpreadConstraints",
      "[{'maxSkew':1,'topologyKey':'failure-domain.beta.kubernetes.io/"
      "zone','whenUnsatisfiable':'DoNotSchedule'}]",
      "spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/zone is "
      "deprecated since v1.17; use 'topology.kubernetes.io/zone' instead\n"
      "spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching "
      "no pod" },
    { "spec/topologySpreadConstraints",
      "[{'maxSkew':1,'topologyKey':'z','whenUnsatisfiable':'DoNotSchedule','labelSelector':{}}]",
      NULL },
};

/* ---- Names and annotations ---- */

static const struct suite_change annotations[] = {
    { "metadata/name", "'a-name-of-more-than-sixty-three-characters-is-no-label-of-dns-at-all'",
      "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; "
      "a DNS label is recommended: [must be no more than 63 characters]" },
    { "metadata/annotations", "{'scheduler.alpha.kubernetes.io/critical-pod':''}",
      "metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; "
      "use the 'priorityClassName' field instead" },
    { "metadata/annotations",
      "{'security.alpha.kubernetes.io/sysctls':'','security.alpha.kubernetes.io/"
      "unsafe-sysctls':''}",
      "metadata.annotations[security.alpha.kubernetes.io/sysctls]: non-functional in v1.11+; use "
      "the 'sysctls' field instead\n"
      "metadata.annotations[security.alpha.kubernetes.io/unsafe-sysctls]: non-functional in "
      "v1.11+; use the 'sysctls' field instead" },
    { "metadata/annotations", "{'seccomp.security.alpha.kubernetes.io/pod':'runtime/default'}",
      "metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; "
      "use the 'seccompProfile' field instead" },
    { "metadata/annotations",
      "{'container.seccomp.security.alpha.kubernetes.io/c':'runtime/default'}",
      "metadata.annotations[container.seccomp.security.alpha.kubernetes.io/c]: non-functional in "
      "v1.27+; use the 'seccompProfile' field instead" },
    { "metadata/annotations",
      "{'container.apparmor.security.beta.kubernetes.io/c':'runtime/default'}", NULL },
};

static const char quiet_template[] =
    "{" META ",'spec':{'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{'a':'"
    "b'}},'spec':{'containers':[{'name':'c','image':'c:1'}]}}}}";

static const struct suite_change templates[] = {
    { "spec/template/metadata/annotations",
      "{'container.apparmor.security.beta.kubernetes.io/c':'runtime/default'}",
      "spec.template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: "
      "deprecated since v1.30; use the 'appArmorProfile' field instead" },
    { "spec/template/metadata/annotations",
      "{'seccomp.security.alpha.kubernetes.io/pod':'runtime/default'}",
      "spec.template.metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: "
      "non-functional in v1.27+; use the 'seccompProfile' field instead" },
    { "spec/template/spec/nodeSelector", "{'beta.kubernetes.io/os':'linux'}",
      "spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "
      "'kubernetes.io/os' instead" },
    { "spec/template/spec/containers/0/env", "[{'name':'A','value':'1'},{'name':'A','value':'1'}]",
      "spec.template.spec.containers[0].env[1]: hides previous definition of 'A', which may be "
      "dropped when using apply" },
};

/* A template is looked at again only where the object has a new generation. */
static const struct suite_change template_updates[] = {
    { "spec/template/spec/nodeSelector", "{'beta.kubernetes.io/os':'linux'}", NULL },
    { "spec/replicas", "3", NULL },
};

/* ---- Volumes ---- */

static const struct suite_change volumes[] = {
    { "spec/volumes",
      "[{'name':'v','photonPersistentDisk':{'pdID':'p'}},{'name':'w','scaleIO':{'gateway':'g','"
      "system':'s','volumeName':'v','secretRef':{}}},{'name':'x','flocker':{'datasetName':'d'}}]",
      "spec.volumes[0].photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+\n"
      "spec.volumes[1].scaleIO: deprecated in v1.16, non-functional in v1.22+\n"
      "spec.volumes[2].flocker: deprecated in v1.22, non-functional in v1.25+" },
    { "spec/volumes",
      "[{'name':'v','storageos':{'volumeName':'v'}},{'name':'w','quobyte':{'registry':'r:1','"
      "volume':'v'}},{'name':'x','glusterfs':{'endpoints':'e','path':'p'}}]",
      "spec.volumes[0].storageOS: deprecated in v1.22, non-functional in v1.25+\n"
      "spec.volumes[1].quobyte: deprecated in v1.22, non-functional in v1.25+\n"
      "spec.volumes[2].glusterfs: deprecated in v1.25, non-functional in v1.26+" },
    { "spec/volumes",
      "[{'name':'v','cephfs':{'monitors':['m']}},{'name':'w','rbd':{'monitors':['m'],'image':'i'}}"
      "]",
      "spec.volumes[0].cephfs: deprecated in v1.28, non-functional in v1.31+\n"
      "spec.volumes[1].rbd: deprecated in v1.28, non-functional in v1.31+" },
    { "spec/volumes",
      "[{'name':'v','ephemeral':{'volumeClaimTemplate':{'spec':{'accessModes':['ReadWriteOnce'],'"
      "resources':{'requests':{'storage':'1500m'},'limits':{'storage':'2500m'}}}}}}]",
      "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: fractional "
      "byte value '1500m' is invalid, must be an integer\n"
      "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.limits[storage]: fractional "
      "byte value '2500m' is invalid, must be an integer" },
    { "spec/volumes", "[{'name':'v','emptyDir':{'sizeLimit':'1Gi'}}]", NULL },
};

/* ---- Files that hide each other ---- */

static const struct suite_change overlapping_files[] = {
    { "spec/volumes",
      "[{'name':'v','configMap':{'name':'m','items':[{'key':'a','path':'x'},{'key':'b','path':'x/"
      "y'}]}}]",
      "volume 'v' (ConfigMap 'm'): overlapping paths: 'x/y' with 'x'" },
    { "spec/volumes",
      "[{'name':'v','configMap':{'name':'m','items':[{'key':'a','path':'x'},{'key':'b','path':'xy'}"
      "]}}]",
      NULL },
    { "spec/volumes",
      "[{'name':'v','secret':{'secretName':'s','items':[{'key':'a','path':'x/"
      "'},{'key':'b','path':'x'}]}}]",
      "volume 'v' (Secret 's'): overlapping paths: 'x' with 'x'" },
    { "spec/volumes",
      "[{'name':'v','downwardAPI':{'items':[{'path':'p','fieldRef':{'fieldPath':'metadata.name'}},{"
      "'path':'p','fieldRef':{'fieldPath':'metadata.uid'}}]}}]",
      "volume 'v' (DownwardAPI): overlapping paths: 'p' with 'p'" },
    { "spec/volumes",
      "[{'name':'v','projected':{'sources':[{'configMap':{'name':'m','items':[{'key':'a','path':'x'"
      "}]}},{'secret':{'name':'s','items':[{'key':'a','path':'x'}]}}]}}]",
      "volume 'v' (Projected): overlapping paths: 'x' (Secret 's') with 'x' (ConfigMap 'm')" },
    { "spec/volumes",
      "[{'name':'v','projected':{'sources':[{'serviceAccountToken':{'path':'x'}},{'downwardAPI':{'"
      "items':[{'path':'x/y','fieldRef':{'fieldPath':'metadata.name'}}]}}]}}]",
      "volume 'v' (Projected): overlapping paths: 'x/y' (DownwardAPI) with 'x' "
      "(ServiceAccountToken)" },
    { "spec/volumes",
      "[{'name':'v','projected':{'sources':[{'clusterTrustBundle':{'name':'b','path':'x'}},{'"
      "clusterTrustBundle':{'signerName':'e.com/s','path':'x'}}]}}]",
      "volume 'v' (Projected): overlapping paths: 'x' (ClusterTrustBundle 'e.com/s') with 'x' "
      "(ClusterTrustBundle 'b')" },
    { "spec/volumes",
      "[{'name':'v','projected':{'sources':[{'podCertificate':{'signerName':'e.com/"
      "s','keyType':'ED25519','keyPath':'x','certificateChainPath':'x/a','credentialBundlePath':'x/"
      "b'}}]}}]",
      "volume 'v' (Projected): overlapping paths: 'x' (PodCertificate key) with 'x/a' "
      "(PodCertificate chain)\n"
      "volume 'v' (Projected): overlapping paths: 'x/b' (PodCertificate credential bundle) with "
      "'x' (PodCertificate key)" },
    { "spec/volumes", "[{'name':'v','projected':{'sources':[{}]}}]",
      "volume 'v' (Projected) has no sources provided" },
};

/* ---- Lists ---- */

static const struct suite_change lists[] = {
    { "spec/imagePullSecrets", "[{'name':'s'},{'name':''},{'name':'s'}]",
      "spec.imagePullSecrets[2].name: duplicate name 's'\n"
      "spec.imagePullSecrets[1].name: invalid empty name ''" },
    { "spec/hostAliases", "[{'ip':'1.2.3.4'},{'ip':'1.2.3.4'}]",
      "spec.hostAliases[1].ip: duplicate ip '1.2.3.4'" },
    { "spec/hostAliases", "[{'ip':'01.2.3.4'}]",
      "spec.hostAliases[0].ip: non-standard IP address '01.2.3.4' is invalid: use '1.2.3.4'" },
    { "spec/dnsConfig", "{'nameservers':['::ffff:1.2.3.4']}",
      "spec.dnsConfig.nameservers[0]: non-standard IP address '::ffff:1.2.3.4' is invalid: use "
      "'1.2.3.4'" },
    { "spec/containers/0/resources",
      "{'requests':{'memory':'100m'},'limits':{'ephemeral-storage':'2500m'}}",
      "spec.containers[0].resources.requests[memory]: fractional byte value '100m' is invalid, "
      "must be an integer\n"
      "spec.containers[0].resources.limits[ephemeral-storage]: fractional byte value '2500m' is "
      "invalid, must be an integer\n"
      "spec.containers[0].resources.requests[ephemeral-storage]: fractional byte value '2500m' is "
      "invalid, must be an integer" },
    { "spec/overhead", "{'memory':'100m'}",
      "spec.overhead[memory]: fractional byte value '100m' is invalid, must be an integer" },
};

/* ---- Variables and ports ---- */

static const struct suite_change ports[] = {
    { "spec/containers/0/env", "[{'name':'A','value':'1'},{'name':'A','value':'$(A)2'}]", NULL },
    { "spec/containers/0/ports", "[{'containerPort':80},{'containerPort':80,'name':'a'}]",
      "spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]" },
    { "spec/containers/0/ports", "[{'containerPort':80,'hostPort':80},{'containerPort':80}]",
      "spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]" },
    { "spec/containers/0/ports",
      "[{'containerPort':80,'hostPort':80,'hostIP':'1.2.3.4'},{'containerPort':80,'hostPort':80}]",
      "spec.containers[0].ports[1]: dangerously ambiguous port definition with "
      "spec.containers[0].ports[0]" },
    { "spec/containers/0/ports",
      "[{'containerPort':80,'hostPort':80},{'containerPort':80,'hostPort':81}]", NULL },
    { "spec/containers/0/ports", "[{'containerPort':80,'hostIP':'1.2.3.4'}]",
      "spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 "
      "ContainerPort:80 Protocol:TCP HostIP:1.2.3.4}" },
    { "spec/initContainers",
      "[{'name':'s','image':'s:1','restartPolicy':'Always','ports':[{'containerPort':81,'name':'"
      "web'}]},{'name':'t','image':'t:1','restartPolicy':'Always','ports':[{'containerPort':82,'"
      "name':'web'}]}]",
      "spec.initContainers[1].ports[0]: duplicate port name 'web' with "
      "spec.initContainers[0].ports[0], services and probes that select ports by name will use "
      "spec.initContainers[0].ports[0]" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_WARNS("v1", "Pod", quiet_pod, places),
        SUITE_WARNS("v1", "Pod", quiet_pod, annotations),
        SUITE_WARNS("apps/v1", "Deployment", quiet_template, templates),
        SUITE_WARNS_UPDATE("apps/v1", "Deployment", quiet_template, template_updates),
        SUITE_WARNS("v1", "Pod", quiet_pod, volumes),
        SUITE_WARNS("v1", "Pod", quiet_pod, overlapping_files),
        SUITE_WARNS("v1", "Pod", quiet_pod, lists),
        SUITE_WARNS("v1", "Pod", quiet_pod, ports),
    };
    return SUITE_MAIN(tables);
}
