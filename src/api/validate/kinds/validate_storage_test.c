/* Volumes, claims, classes, drivers and attachments. */
#include "api/validate/suite_validate.h"

static const char volumes_base[] =
    "{" CLUSTER_META ",'spec':{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'"
    "hostPath':{'path':'/data'}}}";

static const struct suite_change volumes[] = {
    { "spec/accessModes", NULL, "spec.accessModes: Required value" },
    { "spec/accessModes", "['X']",
      "spec.accessModes: Unsupported value: 'X': supported values: 'ReadOnlyMany', "
      "'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'" },
    { "spec/accessModes", "['ReadWriteOncePod','ReadWriteOnce']",
      "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes" },
    { "spec/capacity", NULL,
      "spec.capacity: Required value\n"
      "spec.capacity: Unsupported value: null: supported values: 'storage'" },
    { "spec/capacity", "{'storage':'0'}",
      "spec.capacity[storage]: Invalid value: '0': must be greater than zero" },
    { "spec/capacity", "{'cpu':'1'}",
      "spec.capacity: Unsupported value: {'cpu':'1'}: supported values: 'storage'" },
    { "spec/hostPath", NULL, "spec: Required value: must specify a volume type" },
    { "spec/hostPath/path", NULL, "spec.hostPath.path: Required value" },
    { "spec/hostPath/path", "'/a/../b'",
      "spec.hostPath.path: Invalid value: '/a/../b': must not contain '..'" },
    { "spec/nfs", "{'server':'s','path':'/p'}",
      "spec.nfs: Forbidden: may not specify more than 1 volume type" },
    { "spec/persistentVolumeReclaimPolicy", "'Burn'",
      "spec.persistentVolumeReclaimPolicy: Unsupported value: 'Burn': supported values: "
      "'Delete', 'Recycle', 'Retain'" },
    { "spec/volumeMode", "'Tape'",
      "spec.volumeMode: Unsupported value: 'Tape': supported values: 'Block', 'Filesystem'" },
    { "spec/storageClassName", "'A_B'", "spec.storageClassName: Invalid value: 'A_B': " SUBDOMAIN },
    { "spec/nodeAffinity", "{}",
      "spec.nodeAffinity.required: Required value: must specify required node constraints" },
    { "spec/volumeAttributesClassName", "'c'",
      "spec.csi: Required value: has to be specified when using volumeAttributesClassName" },
};

static const struct suite_change volumes_changes[] = {
    { "spec/hostPath/path", "'/other'",
      "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after "
      "creation\n@@ -2,7 +2,7 @@\n  'GCEPersistentDisk': null,\n  'AWSElasticBlockStore': "
      "null,\n  'HostPath': {\n-  'Path': '/data',\n+  'Path': '/other',\n   'Type': ''\n  "
      "},\n  'Glusterfs': null,\n" },
    { "spec/volumeMode", "'Block'", "volumeMode: Invalid value: 'Block': field is immutable" },
    { "spec/capacity", "{'storage':'2Gi'}", NULL },
};

static const char sources_base[] =
    "{" CLUSTER_META ",'spec':{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'"
    "csi':{'driver':'d','volumeHandle':'h'}}}";

static const struct suite_change sources[] = {
    { "spec/csi", "{'driver':'a b','volumeHandle':'h'}",
      "spec.csi.driver: Invalid value: 'a b': " SUBDOMAIN },
    { "spec/csi/volumeHandle", NULL, "spec.csi.volumeHandle: Required value" },
    { "spec/csi/nodePublishSecretRef", "{'name':'s'}",
      "spec.csi.nodePublishSecretRef.namespace: Required value" },
    { "spec",
      "{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'iscsi':{'targetPortal':'"
      "p','iqn':'x','lun':1}}",
      "spec.iscsi.iqn: Invalid value: 'x': must be valid format" },
    { "spec",
      "{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'iscsi':{'targetPortal':'"
      "p','iqn':'iqn.2001-04.com.example:storage','lun':256}}",
      "spec.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive" },
    { "spec",
      "{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'fc':{'targetWWNs':['a']}"
      "}",
      "spec.fc.lun: Required value: lun is required if targetWWNs is specified" },
    { "spec",
      "{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'nfs':{'server':'s','path'"
      ":'p'}}",
      "spec.nfs.path: Invalid value: 'p': must be an absolute path" },
    { "spec",
      "{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'local':{'path':'/p'}}",
      "spec.nodeAffinity: Required value: Local volume requires node affinity" },
    { "spec",
      "{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'flexVolume':{'driver':'d'"
      ",'options':{'k8s.io/a':'b'}}}",
      "spec.flexVolume.options[k8s.io/a]: Invalid value: 'k8s.io/a': kubernetes.io and k8s.io "
      "namespaces are reserved" },
    { "spec", "{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'rbd':{'image':'i'}}",
      "spec.rbd.monitors: Required value" },
    { "spec",
      "{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'glusterfs':{'endpoints':'"
      "e','path':'p','endpointsNamespace':''}}",
      "spec.glusterfs.endpointsNamespace: Invalid value: '': if the endpointnamespace is set, "
      "it must be a valid namespace name" },
    { "spec",
      "{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'azureDisk':{'diskName':'"
      "d','diskURI':'x','kind':'Managed'}}",
      "spec.azureDisk.diskURI: Unsupported value: 'x': supported values: "
      "'/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/"
      "{disk-id}'" },
    { "spec",
      "{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'quobyte':{'registry':'x',"
      "'volume':'v'}}",
      "spec.quobyte.registry: Invalid value: 'x': must be a host:port pair or multiple pairs "
      "separated by commas" },
    { "spec", "{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'flocker':{}}",
      "spec.flocker: Required value: one of datasetName and datasetUUID is required" },
    { "spec",
      "{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'gcePersistentDisk':{'"
      "pdName':'p','partition':256}}",
      "spec.persistentDisk.partition: Invalid value: 256: must be between 1 and 255, "
      "inclusive" },
};

static const char claims_base[] =
    "{" META
    ",'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}";

static const struct suite_change claims[] = {
    { "spec/accessModes", NULL,
      "spec.accessModes: Required value: at least 1 access mode is required" },
    { "spec/resources", NULL, "spec.resources[storage]: Required value" },
    { "spec/resources/requests/storage", "'0'",
      "spec.resources[storage]: Invalid value: '0': must be greater than zero" },
    { "spec/volumeMode", "'Tape'",
      "spec.volumeMode: Unsupported value: 'Tape': supported values: 'Block', 'Filesystem'" },
    { "spec/storageClassName", "'A_B'", "spec.storageClassName: Invalid value: 'A_B': " SUBDOMAIN },
    { "spec/dataSource", "{'kind':'PersistentVolumeClaim'}",
      "spec.dataSource.name: Required value" },
};

static const struct suite_change claims_changes[] = {
    { "spec/accessModes", "['ReadOnlyMany']",
      "spec: Forbidden: spec is immutable after creation except resources.requests and "
      "volumeAttributesClassName for bound claims\n@@ -1,6 +1,6 @@\n {\n  'AccessModes': [\n-  "
      "'ReadWriteOnce'\n+  'ReadOnlyMany'\n  ],\n  'Selector': null,\n  'Resources': {\n" },
    { "spec/volumeName", "'v'", NULL },
    { "spec/storageClassName", "'c'", NULL },
    { "metadata/annotations", "{'volume.beta.kubernetes.io/storage-class':'x'}",
      "metadata.annotations[volume.beta.kubernetes.io/storage-class]: Invalid value: 'x': "
      "field is immutable" },
};

static const struct suite_change claims_statuses[] = {
    { "status", "{'capacity':{'storage':'-1'}}",
      "status.capacity[storage]: Invalid value: -1: must be a valid resource quantity" },
    { "status", "{'allocatedResourceStatuses':{'storage':'Odd'}}",
      "status.allocatedResourceStatuses: Unsupported value: 'storage': supported values: "
      "'ControllerResizeInProgress', 'ControllerResizeInfeasible', 'NodeResizeInProgress', "
      "'NodeResizeInfeasible', 'NodeResizePending'" },
    { "status", "{'allocatedResources':{'cpu':'1'}}",
      "status.allocatedResources: Unsupported value: 'cpu': supported values: 'storage'" },
};

static const char storage_classes_base[] =
    "{" CLUSTER_META ",'provisioner':'example.com/p','parameters':{'a':'b'}}";

static const struct suite_change storage_classes[] = {
    { "provisioner", NULL, "provisioner: Required value" },
    { "provisioner", "'a b'", "provisioner: Invalid value: 'a b': " QUALIFIED_NAME },
    { "parameters/", "'x'", "parameters: Invalid value: '': field can not be empty." },
    { "reclaimPolicy", "'Recycle'",
      "reclaimPolicy: Unsupported value: 'Recycle': supported values: 'Delete', 'Retain'" },
    { "volumeBindingMode", "'Later'",
      "volumeBindingMode: Unsupported value: 'Later': supported values: 'Immediate', "
      "'WaitForFirstConsumer'" },
    { "allowedTopologies", "[{'matchLabelExpressions':[{'key':'a'}]}]",
      "allowedTopologies[0].matchLabelExpressions[0].values: Required value" },
    { "allowedTopologies", "[{'matchLabelExpressions':[{'key':'a','values':['b','b']}]}]",
      "allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: 'b'" },
    { "allowedTopologies",
      "[{'matchLabelExpressions':[{'key':'a','values':['b']}]},{'matchLabelExpressions':[{'key'"
      ":'a','values':['b']}]}]",
      "allowedTopologies[1].matchLabelExpressions: Duplicate value: ''" },
};

static const struct suite_change storage_classes_changes[] = {
    { "provisioner", "'example.com/q'", "provisioner: Invalid value: null: field is immutable" },
    { "parameters/a", "'c'", "parameters: Invalid value: null: field is immutable" },
    { "reclaimPolicy", "'Retain'", "reclaimPolicy: Invalid value: null: field is immutable" },
    { "allowVolumeExpansion", "true", NULL },
};

static const char attributes_classes_base[] =
    "{" CLUSTER_META ",'driverName':'d','parameters':{'a':'b'}}";

static const struct suite_change attributes_classes[] = {
    { "driverName", NULL, "driverName: Required value" },
    { "driverName", "'-a'", "driverName: Invalid value: '-a': " QUALIFIED_NAME },
    { "parameters", NULL, "parameters: Required value: must contain at least one key/value pair" },
    { "parameters/", "'x'", "parameters: Invalid value: '': field can not be empty." },
    { "metadata/name", "'A'", "metadata.name: Invalid value: 'A': " SUBDOMAIN },
};

static const struct suite_change attributes_classes_changes[] = {
    { "driverName", "'e'", "driverName: Forbidden: updates to driverName are forbidden." },
    { "parameters/a", "'c'", "parameters: Forbidden: updates to parameters are forbidden." },
};

static const char attachments_base[] =
    "{" CLUSTER_META
    ",'spec':{'attacher':'a','nodeName':'n','source':{'persistentVolumeName':'v'}}}";

static const struct suite_change attachments[] = {
    { "spec/attacher", NULL, "spec.attacher: Required value" },
    { "spec/attacher", "'a b'",
      "spec.attacher: Invalid value: 'a b': an RFC 1123 subdomain must consist of alphanumeric "
      "characters, '-' or '.', and must start and end with an alphanumeric character (e.g. "
      "'Example.com', regex used for validation is "
      "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')" },
    { "spec/nodeName", NULL, "spec.nodeName: Invalid value: '': " SUBDOMAIN },
    { "spec/source", "{}",
      "spec.source: Required value: must specify exactly one of inlineVolumeSpec and "
      "persistentVolumeName" },
    { "spec/source/persistentVolumeName", "''",
      "spec.source.persistentVolumeName: Required value: must specify non empty "
      "persistentVolumeName\n"
      "spec.source.persistentVolumeName: Invalid value: '': " SUBDOMAIN },
    { "spec/source/inlineVolumeSpec", "{}",
      "spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and "
      "persistentVolumeName" },
    { "spec/source",
      "{'inlineVolumeSpec':{'accessModes':['ReadWriteOnce'],'claimRef':{'name':'c'},'csi':{'"
      "driver':'d','volumeHandle':'h'}}}",
      "spec.source.inlineVolumeSpec.claimRef: Forbidden: may not be specified in the context "
      "of inline volumes" },
};

static const struct suite_change attachments_changes[] = {
    { "spec/nodeName", "'m'", "spec: Invalid value: null: field is immutable" },
};

static const struct suite_change attachments_statuses[] = {
    { "status", "{'attached':true,'attachError':{'errorCode':-1}}",
      "status.attachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, "
      "inclusive" },
};

static const char csi_nodes_base[] =
    "{" CLUSTER_META ",'spec':{'drivers':[{'name':'d','nodeID':'n','topologyKeys':['a/b']}]}}";

static const struct suite_change csi_nodes[] = {
    { "spec/drivers/0/name", NULL, "spec.drivers[0].name: Required value" },
    { "spec/drivers/0/name", "'a_b'", "spec.drivers[0].name: Invalid value: 'a_b': " SUBDOMAIN },
    { "spec/drivers/0/nodeID", NULL, "spec.drivers[0].nodeID: Required value" },
    { "spec/drivers/0/topologyKeys", "['a','a']", "spec.drivers[0]: Duplicate value: 'a'" },
    { "spec/drivers/0/topologyKeys", "['']",
      "spec.drivers[0]: Required value\n"
      "spec.drivers[0]: Invalid value: '': name part must be non-empty\n"
      "spec.drivers[0]: Invalid value: '': " QUALIFIED_NAME },
    { "spec/drivers/0/allocatable", "{'count':-1}",
      "spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to "
      "0" },
    { "spec/drivers", "[{'name':'d','nodeID':'n'},{'name':'d','nodeID':'n'}]",
      "spec.drivers[1].name: Duplicate value: 'd'" },
};

static const struct suite_change csi_nodes_changes[] = {
    { "spec/drivers/0/nodeID", "'m'",
      "spec.drivers: Invalid value: "
      "{'Name':'d','NodeID':'m','TopologyKeys':['a/b'],'Allocatable':null}: field is "
      "immutable" },
    { "spec/drivers/0/allocatable", "{'count':5}", NULL },
};

static const char csi_drivers_base[] = "{" CLUSTER_META ",'spec':{}}";

static const struct suite_change csi_drivers[] = {
    { "spec/fsGroupPolicy", "'Never'",
      "spec.fsGroupPolicy: Unsupported value: 'Never': supported values: 'File', 'None', "
      "'ReadWriteOnceWithFSType'" },
    { "spec/tokenRequests", "[{'audience':'a'},{'audience':'a'}]",
      "spec.tokenRequests[1].audience: Duplicate value: 'a'" },
    { "spec/tokenRequests", "[{'audience':'a','expirationSeconds':60}]",
      "spec.tokenRequests[0].expirationSeconds: Invalid value: 60: may not specify a duration "
      "less than 10 minutes" },
    { "spec/volumeLifecycleModes", "['Forever']",
      "spec.volumeLifecycleModes: Unsupported value: 'Forever': supported values: "
      "'Persistent', 'Ephemeral'" },
    { "spec/nodeAllocatableUpdatePeriodSeconds", "5",
      "spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 5: must be greater than or "
      "equal to 10 seconds" },
    { "spec/serviceAccountTokenInSecrets", "true",
      "spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is "
      "set but no tokenRequests are specified" },
};

static const struct suite_change csi_drivers_changes[] = {
    { "spec/attachRequired", "false",
      "spec.attachedRequired: Invalid value: false: field is immutable" },
    { "spec/volumeLifecycleModes", "['Ephemeral']",
      "spec.volumeLifecycleModes: Invalid value: ['Ephemeral']: field is immutable" },
};

static const char capacities_base[] =
    "{" META ",'storageClassName':'c','nodeTopology':{'matchLabels':{'a':'b'}}}";

static const struct suite_change capacities[] = {
    { "storageClassName", NULL, "storageClassName: Invalid value: '': " SUBDOMAIN },
    { "storageClassName", "'A'", "storageClassName: Invalid value: 'A': " SUBDOMAIN },
    { "capacity", "'-1'", "capacity: Invalid value: '-1': must be greater than or equal to 0" },
    { "nodeTopology", "{'matchLabels':{'a':'b c'}}",
      "nodeTopology.matchLabels: Invalid value: 'b c': " LABEL_VALUE },
    { "nodeTopology", "{'matchExpressions':[{'key':'a','operator':'In'}]}",
      "nodeTopology.matchExpressions[0].values: Required value: must be specified when "
      "`operator` is 'In' or 'NotIn'" },
};

static const struct suite_change capacities_changes[] = {
    { "storageClassName", "'d'", "storageClassName: Invalid value: 'd': field is immutable" },
    { "nodeTopology", "{}", "nodeTopology: Invalid value: {}: field is immutable" },
    { "capacity", "'1Gi'", NULL },
};

/* ---- Drivers, attachments and warnings ---- */

static const char csi_driver[] =
    "{" CLUSTER_META ",'spec':{'attachRequired':true,'podInfoOnMount':false,'storageCapacity':"
    "false,'fsGroupPolicy':'File'}}";

static const struct suite_change csi_driver_specs[] = {
    { "spec/fsGroupPolicy", "'Odd'",
      "spec.fsGroupPolicy: Unsupported value: 'Odd': supported values: 'File', 'None', "
      "'ReadWriteOnceWithFSType'" },
    { "spec/volumeLifecycleModes", "['Persistent','Ephemeral']", NULL },
    { "spec/volumeLifecycleModes", "['Odd']",
      "spec.volumeLifecycleModes: Unsupported value: 'Odd': supported values: 'Persistent', "
      "'Ephemeral'" },
    { "spec/tokenRequests", "[{'audience':'a'},{'audience':'a'}]",
      "spec.tokenRequests[1].audience: Duplicate value: 'a'" },
    { "spec/tokenRequests", "[{'audience':'a','expirationSeconds':599}]",
      "spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration "
      "less than 10 minutes" },
    { "spec/tokenRequests", "[{'audience':'a','expirationSeconds':4294967297}]",
      "spec.tokenRequests[0].expirationSeconds: Invalid value: 4294967297: may not specify a "
      "duration larger than 2^32 seconds" },
    { "spec/nodeAllocatableUpdatePeriodSeconds", "9",
      "spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to "
      "10 seconds" },
    { "spec/nodeAllocatableUpdatePeriodSeconds", "10", NULL },
};

static const struct suite_change csi_driver_updates[] = {
    { "spec/attachRequired", "false",
      "spec.attachedRequired: Invalid value: false: field is immutable" },
    { "spec/podInfoOnMount", "true", NULL },
    { "spec/fsGroupPolicy", "'None'", NULL },
    { "spec/volumeLifecycleModes", "['Ephemeral']",
      "spec.volumeLifecycleModes: Invalid value: ['Ephemeral']: field is immutable" },
    { "spec/tokenRequests", "[{'audience':'b'}]", NULL },
};

static const struct suite_change csi_driver_warnings[] = {
    { "spec/tokenRequests", "[{'audience':'a'}]",
      "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to "
      "prevent possible logging of tokens in volume attributes" },
};

static const char csi_node[] =
    "{" CLUSTER_META ",'spec':{'drivers':[{'name':'d','nodeID':'n','topologyKeys':['a']}]}}";

static const struct suite_change csi_node_drivers[] = {
    { "spec/drivers/0/name", "''", "spec.drivers[0].name: Required value" },
    { "spec/drivers/0/nodeID", "''", "spec.drivers[0].nodeID: Required value" },
    { "spec/drivers/0/topologyKeys", "['a','a']", "spec.drivers[0]: Duplicate value: 'a'" },
    { "spec/drivers/0/topologyKeys", "['a b']",
      "spec.drivers[0]: Invalid value: 'a b': " QUALIFIED_NAME },
    { "spec/drivers/0/allocatable", "{'count':-1}",
      "spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/drivers", "[{'name':'d','nodeID':'n'},{'name':'d','nodeID':'m'}]",
      "spec.drivers[1].name: Duplicate value: 'd'" },
};

static const struct suite_change csi_node_updates[] = {
    { "spec/drivers/0/nodeID", "'m'",
      "spec.drivers: Invalid value: "
      "{'Name':'d','NodeID':'m','TopologyKeys':['a'],'Allocatable':null}: field is immutable" },
    { "spec/drivers/0/allocatable", "{'count':5}", NULL },
    { "spec/drivers", "[]", NULL },
};

static const char storage_class[] =
    "{" CLUSTER_META ",'provisioner':'p','reclaimPolicy':'Delete','volumeBindingMode':'Immediate'}";

static const struct suite_change storage_class_topologies[] = {
    { "provisioner", "'a b'", "provisioner: Invalid value: 'a b': " QUALIFIED_NAME },
    { "parameters", "{'':'x'}", "parameters: Invalid value: '': field can not be empty." },
    { "allowedTopologies", "[{'matchLabelExpressions':[{'key':'a','values':['b']}]}]", NULL },
    { "allowedTopologies", "[{'matchLabelExpressions':[{'key':'a','values':[]}]}]",
      "allowedTopologies[0].matchLabelExpressions[0].values: Required value" },
    { "allowedTopologies", "[{'matchLabelExpressions':[{'key':'a','values':['b','b']}]}]",
      "allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: 'b'" },
    { "allowedTopologies",
      "[{'matchLabelExpressions':[{'key':'a','values':['b']},{'key':'a','values':['c']}]}]",
      "allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: 'a'" },
    { "allowedTopologies", "[{'matchLabelExpressions':[{'key':'a b','values':['b']}]}]",
      "allowedTopologies[0].matchLabelExpressions[0].key: Invalid value: 'a b': " QUALIFIED_NAME },
};

static const struct suite_change storage_class_warnings[] = {
    { "allowedTopologies",
      "[{'matchLabelExpressions':[{'key':'failure-domain.beta.kubernetes.io/"
      "zone','values':['b']}]}]",
      "allowedTopologies[0].matchLabelExpressions[0].key: deprecated since v1.17; use "
      "'topology.kubernetes.io/zone' instead" },
};

static const char capacity[] =
    "{" META ",'storageClassName':'c','nodeTopology':{'matchLabels':{'a':'b'}},'capacity':'1Gi'}";

static const struct suite_change capacity_specs[] = {
    { "storageClassName", "'A_b'", "storageClassName: Invalid value: 'A_b': " SUBDOMAIN },
    { "nodeTopology", "{'matchLabels':{'a':'b c'}}",
      "nodeTopology.matchLabels: Invalid value: 'b c': " LABEL_VALUE },
    { "capacity", "'-1'", "capacity: Invalid value: '-1': must be greater than or equal to 0" },
    { "maximumVolumeSize", "'-1'", NULL },
};

static const struct suite_change capacity_updates[] = {
    { "capacity", "'2Gi'", NULL },
    { "storageClassName", "'d'", "storageClassName: Invalid value: 'd': field is immutable" },
    { "nodeTopology", "{'matchLabels':{'a':'c'}}",
      "nodeTopology: Invalid value: {'matchLabels':{'a':'c'}}: field is immutable" },
};

static const struct suite_change capacity_warnings[] = {
    { "nodeTopology", "{'matchLabels':{'beta.kubernetes.io/os':'linux'}}",
      "nodeTopology.matchLabels.beta.kubernetes.io/os: deprecated since v1.14; use "
      "'kubernetes.io/os' instead" },
};

static const char attachment[] =
    "{" CLUSTER_META ",'spec':{'attacher':'d','nodeName':'n','source':{'persistentVolumeName':'v'}}"
    ",'status':{'attached':false}}";

static const struct suite_change attachment_updates[] = {
    { "spec/nodeName", "'m'", "spec: Invalid value: null: field is immutable" },
    { "spec/source", "{'persistentVolumeName':'w'}",
      "spec: Invalid value: null: field is immutable" },
    { "metadata/labels", "{'a':'b'}", NULL },
};

static const struct suite_change attachment_statuses[] = {
    { "status", "{'attached':true,'attachmentMetadata':{'a':'b'}}", NULL },
    { "status", "{'attached':false,'attachError':{'message':'m','errorCode':-1}}",
      "status.attachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, "
      "inclusive" },
};

static const char attributes[] = "{" CLUSTER_META ",'driverName':'d','parameters':{'a':'b'}}";

static const struct suite_change attribute_classes[] = {
    { "driverName", "''", "driverName: Required value" },
    { "driverName", "'A_b'", NULL },
    { "parameters", NULL, "parameters: Required value: must contain at least one key/value pair" },
    { "parameters", "{'':'x'}", "parameters: Invalid value: '': field can not be empty." },
};

static const struct suite_change attribute_class_updates[] = {
    { "driverName", "'e'", "driverName: Forbidden: updates to driverName are forbidden." },
    { "parameters", "{'a':'c'}", "parameters: Forbidden: updates to parameters are forbidden." },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("v1", "PersistentVolume", volumes_base, volumes),
        SUITE_UPDATES("v1", "PersistentVolume", volumes_base, volumes_changes),
        SUITE_CREATES("v1", "PersistentVolume", sources_base, sources),
        SUITE_CREATES("v1", "PersistentVolumeClaim", claims_base, claims),
        SUITE_UPDATES("v1", "PersistentVolumeClaim", claims_base, claims_changes),
        SUITE_UPDATES_SUB("v1", "PersistentVolumeClaim", "status", claims_base, claims_statuses),
        SUITE_CREATES("storage.k8s.io/v1", "StorageClass", storage_classes_base, storage_classes),
        SUITE_UPDATES("storage.k8s.io/v1", "StorageClass", storage_classes_base,
                      storage_classes_changes),
        SUITE_CREATES("storage.k8s.io/v1", "VolumeAttributesClass", attributes_classes_base,
                      attributes_classes),
        SUITE_UPDATES("storage.k8s.io/v1", "VolumeAttributesClass", attributes_classes_base,
                      attributes_classes_changes),
        SUITE_CREATES("storage.k8s.io/v1", "VolumeAttachment", attachments_base, attachments),
        SUITE_UPDATES("storage.k8s.io/v1", "VolumeAttachment", attachments_base,
                      attachments_changes),
        SUITE_UPDATES_SUB("storage.k8s.io/v1", "VolumeAttachment", "status", attachments_base,
                          attachments_statuses),
        SUITE_CREATES("storage.k8s.io/v1", "CSINode", csi_nodes_base, csi_nodes),
        SUITE_UPDATES("storage.k8s.io/v1", "CSINode", csi_nodes_base, csi_nodes_changes),
        SUITE_CREATES("storage.k8s.io/v1", "CSIDriver", csi_drivers_base, csi_drivers),
        SUITE_UPDATES("storage.k8s.io/v1", "CSIDriver", csi_drivers_base, csi_drivers_changes),
        SUITE_CREATES("storage.k8s.io/v1", "CSIStorageCapacity", capacities_base, capacities),
        SUITE_UPDATES("storage.k8s.io/v1", "CSIStorageCapacity", capacities_base,
                      capacities_changes),
        SUITE_CREATES("storage.k8s.io/v1", "CSIDriver", csi_driver, csi_driver_specs),
        SUITE_UPDATES("storage.k8s.io/v1", "CSIDriver", csi_driver, csi_driver_updates),
        SUITE_WARNS("storage.k8s.io/v1", "CSIDriver", csi_driver, csi_driver_warnings),
        SUITE_CREATES("storage.k8s.io/v1", "CSINode", csi_node, csi_node_drivers),
        SUITE_UPDATES("storage.k8s.io/v1", "CSINode", csi_node, csi_node_updates),
        SUITE_CREATES("storage.k8s.io/v1", "StorageClass", storage_class, storage_class_topologies),
        SUITE_WARNS("storage.k8s.io/v1", "StorageClass", storage_class, storage_class_warnings),
        SUITE_CREATES("storage.k8s.io/v1", "CSIStorageCapacity", capacity, capacity_specs),
        SUITE_UPDATES("storage.k8s.io/v1", "CSIStorageCapacity", capacity, capacity_updates),
        SUITE_WARNS("storage.k8s.io/v1", "CSIStorageCapacity", capacity, capacity_warnings),
        SUITE_UPDATES("storage.k8s.io/v1", "VolumeAttachment", attachment, attachment_updates),
        SUITE_UPDATES_SUB("storage.k8s.io/v1", "VolumeAttachment", "status", attachment,
                          attachment_statuses),
        SUITE_CREATES("storage.k8s.io/v1", "VolumeAttributesClass", attributes, attribute_classes),
        SUITE_UPDATES("storage.k8s.io/v1", "VolumeAttributesClass", attributes,
                      attribute_class_updates),
    };
    return SUITE_MAIN(tables);
}
