/* Volumes, claims, classes, drivers and attachments. */
#include "api/validate/validate_check_test.h"

#define SUBDOMAIN                                                                                 \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "  \
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used " \
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define QUALIFIED_NAME                                                                             \
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "  \
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for " \
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define LABEL_VALUE                                                                                \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "    \
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value', " \
    " or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
#define META         "'metadata':{'name':'a','namespace':'n','uid':'u','resourceVersion':'1'}"
#define CLUSTER_META "'metadata':{'name':'a','uid':'u','resourceVersion':'1'}"

static void volumes_are_checked(void **state)
{
    (void)state;
    static const char base[] =
        "{" CLUSTER_META ",'spec':{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'"
        "hostPath':{'path':'/data'}}}";
    static const struct refusal rows[] = {
        { "spec/accessModes", NULL, "spec.accessModes: Required value" },
        { "spec/accessModes", "['X']",
          "spec.accessModes: Unsupported value: 'X': supported values: 'ReadOnlyMany', "
          "'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'" },
        { "spec/accessModes", "['ReadWriteOncePod','ReadWriteOnce']",
          "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes" },
        { "spec/capacity", NULL, "spec.capacity: Required value" },
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
        { "spec/storageClassName", "'A_B'",
          "spec.storageClassName: Invalid value: 'A_B': " SUBDOMAIN },
        { "spec/nodeAffinity", "{}",
          "spec.nodeAffinity.required: Required value: must specify required node constraints" },
        { "spec/volumeAttributesClassName", "'c'",
          "spec.csi: Required value: has to be specified when using volumeAttributesClassName" },
    };
    CREATES("v1", "PersistentVolume", base, rows);
    static const struct refusal changes[] = {
        { "spec/hostPath/path", "'/other'",
          "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after "
          "creation\n@@ -2,7 +2,7 @@\n  'GCEPersistentDisk': null,\n  'AWSElasticBlockStore': "
          "null,\n  'HostPath': {\n-  'Path': '/data',\n+  'Path': '/other',\n   'Type': ''\n  "
          "},\n  'Glusterfs': null,\n" },
        { "spec/volumeMode", "'Block'", "volumeMode: Invalid value: 'Block': field is immutable" },
        { "spec/capacity", "{'storage':'2Gi'}", NULL },
    };
    UPDATES("v1", "PersistentVolume", base, changes);
}

static void sources_are_checked(void **state)
{
    (void)state;
    static const char base[] =
        "{" CLUSTER_META ",'spec':{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'"
        "csi':{'driver':'d','volumeHandle':'h'}}}";
    static const struct refusal rows[] = {
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
        { "spec",
          "{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'rbd':{'image':'i'}}",
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
    CREATES("v1", "PersistentVolume", base, rows);
}

static void claims_are_checked(void **state)
{
    (void)state;
    static const char base[] =
        "{" META
        ",'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}";
    static const struct refusal rows[] = {
        { "spec/accessModes", NULL,
          "spec.accessModes: Required value: at least 1 access mode is required" },
        { "spec/resources", NULL, "spec.resources[storage]: Required value" },
        { "spec/resources/requests/storage", "'0'",
          "spec.resources[storage]: Invalid value: '0': must be greater than zero" },
        { "spec/volumeMode", "'Tape'",
          "spec.volumeMode: Unsupported value: 'Tape': supported values: 'Block', 'Filesystem'" },
        { "spec/storageClassName", "'A_B'",
          "spec.storageClassName: Invalid value: 'A_B': " SUBDOMAIN },
        { "spec/dataSource", "{'kind':'PersistentVolumeClaim'}",
          "spec.dataSource.name: Required value" },
    };
    CREATES("v1", "PersistentVolumeClaim", base, rows);
    static const struct refusal changes[] = {
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
    UPDATES("v1", "PersistentVolumeClaim", base, changes);
    static const struct refusal statuses[] = {
        { "status", "{'capacity':{'storage':'-1'}}",
          "status.capacity[storage]: Invalid value: -1: must be a valid resource quantity" },
        { "status", "{'allocatedResourceStatuses':{'storage':'Odd'}}",
          "status.allocatedResourceStatuses: Unsupported value: 'storage': supported values: "
          "'ControllerResizeInProgress', 'ControllerResizeInfeasible', 'NodeResizeInProgress', "
          "'NodeResizeInfeasible', 'NodeResizePending'" },
        { "status", "{'allocatedResources':{'cpu':'1'}}",
          "status.allocatedResources: Unsupported value: 'cpu': supported values: 'storage'" },
    };
    UPDATES_SUB("v1", "PersistentVolumeClaim", "status", base, statuses);
}

static void storage_classes_are_checked(void **state)
{
    (void)state;
    static const char base[] =
        "{" CLUSTER_META ",'provisioner':'example.com/p','parameters':{'a':'b'}}";
    static const struct refusal rows[] = {
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
    CREATES("storage.k8s.io/v1", "StorageClass", base, rows);
    static const struct refusal changes[] = {
        { "provisioner", "'example.com/q'",
          "provisioner: Invalid value: null: field is immutable" },
        { "parameters/a", "'c'", "parameters: Invalid value: null: field is immutable" },
        { "reclaimPolicy", "'Retain'", "reclaimPolicy: Invalid value: null: field is immutable" },
        { "allowVolumeExpansion", "true", NULL },
    };
    UPDATES("storage.k8s.io/v1", "StorageClass", base, changes);
}

static void attributes_classes_are_checked(void **state)
{
    (void)state;
    static const char base[] = "{" CLUSTER_META ",'driverName':'d','parameters':{'a':'b'}}";
    static const struct refusal rows[] = {
        { "driverName", NULL, "driverName: Required value" },
        { "driverName", "'-a'", "driverName: Invalid value: '-a': " QUALIFIED_NAME },
        { "parameters", NULL,
          "parameters: Required value: must contain at least one key/value pair" },
        { "parameters/", "'x'", "parameters: Invalid value: '': field can not be empty." },
        { "metadata/name", "'A'", "metadata.name: Invalid value: 'A': " SUBDOMAIN },
    };
    CREATES("storage.k8s.io/v1", "VolumeAttributesClass", base, rows);
    static const struct refusal changes[] = {
        { "driverName", "'e'", "driverName: Forbidden: updates to driverName are forbidden." },
        { "parameters/a", "'c'", "parameters: Forbidden: updates to parameters are forbidden." },
    };
    UPDATES("storage.k8s.io/v1", "VolumeAttributesClass", base, changes);
}

static void attachments_are_checked(void **state)
{
    (void)state;
    static const char base[] =
        "{" CLUSTER_META
        ",'spec':{'attacher':'a','nodeName':'n','source':{'persistentVolumeName':'v'}}}";
    static const struct refusal rows[] = {
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
          "persistentVolumeName" },
        { "spec/source/inlineVolumeSpec", "{}",
          "spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and "
          "persistentVolumeName" },
        { "spec/source",
          "{'inlineVolumeSpec':{'accessModes':['ReadWriteOnce'],'claimRef':{'name':'c'},'csi':{'"
          "driver':'d','volumeHandle':'h'}}}",
          "spec.source.inlineVolumeSpec.claimRef: Forbidden: may not be specified in the context "
          "of inline volumes" },
    };
    CREATES("storage.k8s.io/v1", "VolumeAttachment", base, rows);
    static const struct refusal changes[] = {
        { "spec/nodeName", "'m'", "spec: Invalid value: null: field is immutable" },
    };
    UPDATES("storage.k8s.io/v1", "VolumeAttachment", base, changes);
    static const struct refusal statuses[] = {
        { "status", "{'attached':true,'attachError':{'errorCode':-1}}",
          "status.attachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, "
          "inclusive" },
    };
    UPDATES_SUB("storage.k8s.io/v1", "VolumeAttachment", "status", base, statuses);
}

static void csi_nodes_are_checked(void **state)
{
    (void)state;
    static const char base[] =
        "{" CLUSTER_META ",'spec':{'drivers':[{'name':'d','nodeID':'n','topologyKeys':['a/b']}]}}";
    static const struct refusal rows[] = {
        { "spec/drivers/0/name", NULL, "spec.drivers[0].name: Required value" },
        { "spec/drivers/0/name", "'a_b'",
          "spec.drivers[0].name: Invalid value: 'a_b': " SUBDOMAIN },
        { "spec/drivers/0/nodeID", NULL, "spec.drivers[0].nodeID: Required value" },
        { "spec/drivers/0/topologyKeys", "['a','a']", "spec.drivers[0]: Duplicate value: 'a'" },
        { "spec/drivers/0/topologyKeys", "['']", "spec.drivers[0]: Required value" },
        { "spec/drivers/0/allocatable", "{'count':-1}",
          "spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to "
          "0" },
        { "spec/drivers", "[{'name':'d','nodeID':'n'},{'name':'d','nodeID':'n'}]",
          "spec.drivers[1].name: Duplicate value: 'd'" },
    };
    CREATES("storage.k8s.io/v1", "CSINode", base, rows);
    static const struct refusal changes[] = {
        { "spec/drivers/0/nodeID", "'m'",
          "spec.drivers: Invalid value: "
          "{'Name':'d','NodeID':'m','TopologyKeys':['a/b'],'Allocatable':null}: field is "
          "immutable" },
        { "spec/drivers/0/allocatable", "{'count':5}", NULL },
    };
    UPDATES("storage.k8s.io/v1", "CSINode", base, changes);
}

static void csi_drivers_are_checked(void **state)
{
    (void)state;
    static const char base[] = "{" CLUSTER_META ",'spec':{}}";
    static const struct refusal rows[] = {
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
    CREATES("storage.k8s.io/v1", "CSIDriver", base, rows);
    static const struct refusal changes[] = {
        { "spec/attachRequired", "false",
          "spec.attachedRequired: Invalid value: false: field is immutable" },
        { "spec/volumeLifecycleModes", "['Ephemeral']",
          "spec.volumeLifecycleModes: Invalid value: ['Ephemeral']: field is immutable" },
    };
    UPDATES("storage.k8s.io/v1", "CSIDriver", base, changes);
}

static void capacities_are_checked(void **state)
{
    (void)state;
    static const char base[] =
        "{" META ",'storageClassName':'c','nodeTopology':{'matchLabels':{'a':'b'}}}";
    static const struct refusal rows[] = {
        { "storageClassName", NULL, "storageClassName: Invalid value: '': " SUBDOMAIN },
        { "storageClassName", "'A'", "storageClassName: Invalid value: 'A': " SUBDOMAIN },
        { "capacity", "'-1'", "capacity: Invalid value: '-1': must be greater than or equal to 0" },
        { "nodeTopology", "{'matchLabels':{'a':'b c'}}",
          "nodeTopology.matchLabels: Invalid value: 'b c': " LABEL_VALUE },
        { "nodeTopology", "{'matchExpressions':[{'key':'a','operator':'In'}]}",
          "nodeTopology.matchExpressions[0].values: Required value: must be specified when "
          "`operator` is 'In' or 'NotIn'" },
    };
    CREATES("storage.k8s.io/v1", "CSIStorageCapacity", base, rows);
    static const struct refusal changes[] = {
        { "storageClassName", "'d'", "storageClassName: Invalid value: 'd': field is immutable" },
        { "nodeTopology", "{}", "nodeTopology: Invalid value: {}: field is immutable" },
        { "capacity", "'1Gi'", NULL },
    };
    UPDATES("storage.k8s.io/v1", "CSIStorageCapacity", base, changes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volumes_are_checked),
        cmocka_unit_test(sources_are_checked),
        cmocka_unit_test(claims_are_checked),
        cmocka_unit_test(storage_classes_are_checked),
        cmocka_unit_test(attributes_classes_are_checked),
        cmocka_unit_test(attachments_are_checked),
        cmocka_unit_test(csi_nodes_are_checked),
        cmocka_unit_test(csi_drivers_are_checked),
        cmocka_unit_test(capacities_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
