/* Persistent volumes and claims: what they ask for, what may change, what is out of date. */
#include "api/validate/suite_validate.h"

#define VOLUME(source) "{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce']," source "}"

static const char volume[] =
    "{" CLUSTER_META ",'spec':" VOLUME("'nfs':{'server':'s','path':'/p'}") "}";

/* ---- What a volume is ---- */

static const struct suite_change volumes[] = {
    { "spec", "{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce']}",
      "spec: Required value: must specify a volume type" },
    { "spec", VOLUME("'nfs':{'server':'s','path':'/p'},'hostPath':{'path':'/x'}"),
      "spec.nfs: Forbidden: may not specify more than 1 volume type" },
    { "spec", "{'capacity':{},'accessModes':['ReadWriteOnce'],'nfs':{'server':'s','path':'/p'}}",
      "spec.capacity: Required value\n"
      "spec.capacity: Unsupported value: null: supported values: 'storage'" },
    { "spec",
      "{'capacity':{'storage':'1Gi','cpu':'1'},'accessModes':['ReadWriteOnce'],'nfs':{'server':'s',"
      "'path':'/p'}}",
      "spec.capacity: Unsupported value: {'cpu':'1','storage':'1Gi'}: supported values: "
      "'storage'" },
    { "spec",
      "{'capacity':{'storage':'-1'},'accessModes':['ReadWriteOnce'],'nfs':{'server':'s','path':'/"
      "p'}}",
      "spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity\n"
      "spec.capacity[storage]: Invalid value: '-1': must be greater than zero" },
    { "spec",
      "{'capacity':{'storage':'0'},'accessModes':['ReadWriteOnce'],'nfs':{'server':'s','path':'/"
      "p'}}",
      "spec.capacity[storage]: Invalid value: '0': must be greater than zero" },
    { "spec", "{'capacity':{'storage':'1Gi'},'accessModes':[],'nfs':{'server':'s','path':'/p'}}",
      "spec.accessModes: Required value" },
    { "spec",
      "{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce','ReadWriteOncePod'],'nfs':{'"
      "server':'s','path':'/p'}}",
      "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes" },
    { "spec",
      "{'capacity':{'storage':'1Gi'},'accessModes':['ReadAny'],'nfs':{'server':'s','path':'/p'}}",
      "spec.accessModes: Unsupported value: 'ReadAny': supported values: 'ReadOnlyMany', "
      "'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'" },
    { "spec", VOLUME("'nfs':{'server':'s','path':'/p'},'persistentVolumeReclaimPolicy':'Keep'"),
      "spec.persistentVolumeReclaimPolicy: Unsupported value: 'Keep': supported values: 'Delete', "
      "'Recycle', 'Retain'" },
    { "spec", VOLUME("'hostPath':{'path':'/'},'persistentVolumeReclaimPolicy':'Recycle'"),
      "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of "
      "'/'" },
    { "spec", VOLUME("'hostPath':{'path':'/a/..'},'persistentVolumeReclaimPolicy':'Recycle'"),
      "spec.hostPath.path: Invalid value: '/a/..': must not contain '..'\n"
      "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of "
      "'/'" },
    { "spec", VOLUME("'hostPath':{'path':'/a'},'persistentVolumeReclaimPolicy':'Recycle'"), NULL },
    { "spec", VOLUME("'nfs':{'server':'s','path':'/p'},'storageClassName':'A_b'"),
      "spec.storageClassName: Invalid value: 'A_b': " SUBDOMAIN },
    { "spec", VOLUME("'nfs':{'server':'s','path':'/p'},'volumeMode':'Odd'"),
      "spec.volumeMode: Unsupported value: 'Odd': supported values: 'Block', 'Filesystem'" },
    { "spec", VOLUME("'nfs':{'server':'s','path':'/p'},'volumeAttributesClassName':''"),
      "spec.volumeAttributesClassName: Required value: an empty string is disallowed\n"
      "spec.csi: Required value: has to be specified when using volumeAttributesClassName" },
    { "spec", VOLUME("'nfs':{'server':'s','path':'/p'},'volumeAttributesClassName':'c'"),
      "spec.csi: Required value: has to be specified when using volumeAttributesClassName" },
    { "spec", VOLUME("'csi':{'driver':'d','volumeHandle':'h'},'volumeAttributesClassName':'c'"),
      NULL },
    { "spec", VOLUME("'nfs':{'server':'s','path':'/p'},'nodeAffinity':{}"),
      "spec.nodeAffinity.required: Required value: must specify required node constraints" },
    { "spec",
      VOLUME(
          "'nfs':{'server':'s','path':'/p'},'nodeAffinity':{'required':{'nodeSelectorTerms':[]}}"),
      "spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node "
      "selector term" },
    { "spec", VOLUME("'local':{'path':'/p'}"),
      "spec.nodeAffinity: Required value: Local volume requires node affinity" },
    { "spec",
      VOLUME("'local':{'path':'/p/../"
             "q'},'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a',"
             "'operator':'Exists'}]}]}}"),
      "spec.local.path: Invalid value: '/p/../q': must not contain '..'" },
};

/* ---- Where it is ---- */

static const struct suite_change volume_sources[] = {
    { "spec", VOLUME("'glusterfs':{'endpoints':'','path':'','endpointsNamespace':''}"),
      "spec.glusterfs.endpoints: Required value\n"
      "spec.glusterfs.path: Required value\n"
      "spec.glusterfs.endpointsNamespace: Invalid value: '': if the endpointnamespace is set, it "
      "must be a valid namespace name" },
    { "spec", VOLUME("'glusterfs':{'endpoints':'e','path':'p','endpointsNamespace':'A'}"),
      "spec.glusterfs.endpointsNamespace: Invalid value: 'A': " DNS_LABEL },
    { "spec", VOLUME("'iscsi':{'targetPortal':'','iqn':'x','lun':300}"),
      "spec.iscsi.targetPortal: Required value\n"
      "spec.iscsi.iqn: Invalid value: 'x': must be valid format\n"
      "spec.iscsi.lun: Invalid value: 300: must be between 0 and 255, inclusive" },
    { "spec",
      VOLUME("'iscsi':{'targetPortal':'p','iqn':'iqn.2001-04.com.a:b','lun':0,'chapAuthSession':"
             "true}"),
      "spec.iscsi.secretRef: Required value" },
    { "spec",
      VOLUME("'iscsi':{'targetPortal':'p','iqn':'eui.0123456789abcdef','lun':0,'secretRef':{'"
             "namespace':'n'}}"),
      "spec.iscsi.secretRef.name: Required value" },
    { "spec", VOLUME("'iscsi':{'targetPortal':'p','iqn':'naa.123','lun':0,'initiatorName':'odd'}"),
      "spec.iscsi.iqn: Invalid value: 'naa.123': must be valid format\n"
      "spec.iscsi.initiatorname: Invalid value: 'odd': must be valid format" },
    { "spec", VOLUME("'rbd':{'monitors':[],'image':''}"),
      "spec.rbd.monitors: Required value\n"
      "spec.rbd.image: Required value" },
    { "spec", VOLUME("'cephfs':{'monitors':[]}"), "spec.cephfs.monitors: Required value" },
    { "spec", VOLUME("'cinder':{'volumeID':'','secretRef':{}}"),
      "spec.cinder.volumeID: Required value\n"
      "spec.cinder.secretRef.name: Required value\n"
      "spec.cinder.secretRef.namespace: Required value" },
    { "spec", VOLUME("'azureFile':{'secretName':'','shareName':'','secretNamespace':''}"),
      "spec.azureFile.secretName: Required value\n"
      "spec.azureFile.shareName: Required value\n"
      "spec.azureFile.secretNamespace: Required value" },
    { "spec", VOLUME("'azureFile':{'secretName':'s','shareName':'s','secretNamespace':'n'}"),
      NULL },
    { "spec", VOLUME("'scaleIO':{'gateway':'','system':'','volumeName':'','secretRef':{}}"),
      "spec.scaleIO.gateway: Required value\n"
      "spec.scaleIO.system: Required value\n"
      "spec.scaleIO.volumeName: Required value" },
    { "spec",
      VOLUME("'storageos':{'volumeName':'','volumeNamespace':'A','secretRef':{'namespace':'n'}}"),
      "spec.storageos.volumeName: Required value\n"
      "spec.storageos.volumeNamespace: Invalid value: 'A': " DNS_LABEL "\n"
      "spec.storageos.secretRef.name: Required value" },
    { "spec", VOLUME("'flexVolume':{'driver':'d','options':{'a.kubernetes.io/x':'y'}}"),
      "spec.flexVolume.options[a.kubernetes.io/x]: Invalid value: 'a.kubernetes.io/x': "
      "kubernetes.io and k8s.io namespaces are reserved" },
    { "spec", VOLUME("'quobyte':{'registry':'[::1]:80','volume':'v'}"), NULL },
    { "spec", VOLUME("'quobyte':{'registry':'[::1','volume':'v'}"),
      "spec.quobyte.registry: Invalid value: '[::1': must be a host:port pair or multiple pairs "
      "separated by commas" },
    { "spec", VOLUME("'csi':{'driver':'','volumeHandle':''}"),
      "spec.csi.driver: Required value\n"
      "spec.csi.volumeHandle: Required value" },
    { "spec", VOLUME("'csi':{'driver':'d','volumeHandle':'h','nodePublishSecretRef':{'name':''}}"),
      "spec.csi.nodePublishSecretRef.name: Required value\n"
      "spec.csi.nodePublishSecretRef.namespace: Required value" },
    { "spec",
      VOLUME(
          "'csi':{'driver':'d','volumeHandle':'h','controllerExpandSecretRef':{'namespace':'n'}}"),
      "spec.csi.controllerExpandSecretRef.name: Required value" },
};

/* ---- What may change of a volume ---- */

static const char csi_volume[] = "{" CLUSTER_META ",'spec':" VOLUME(
    "'csi':{'driver':'d','volumeHandle':'h'},'nodeAffinity':{'required':{'nodeSelectorTerms':[{'"
    "matchExpressions':[{'key':'beta.kubernetes.io/"
    "os','operator':'In','values':['linux']}]}]}},'volumeAttributesClassName':'c'") "}";

static const struct suite_change volume_changes[] = {
    { "spec/csi/volumeHandle", "'other'",
      "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after "
      "creation\n"
      "@@ -22,7 +22,7 @@\n"
      "  'StorageOS': null,\n"
      "  'CSI': {\n"
      "   'Driver': 'd',\n"
      "-  'VolumeHandle': 'h',\n"
      "+  'VolumeHandle': 'other',\n"
      "   'ReadOnly': false,\n"
      "   'FSType': '',\n"
      "   'VolumeAttributes': null,\n" },
    { "spec/csi/controllerExpandSecretRef", "{'name':'s','namespace':'n'}", NULL },
    { "spec/capacity", "{'storage':'2Gi'}", NULL },
    { "spec/persistentVolumeReclaimPolicy", "'Delete'", NULL },
    { "spec/volumeMode", "'Block'", "volumeMode: Invalid value: 'Block': field is immutable" },
    { "spec/nodeAffinity/required/nodeSelectorTerms/0/matchExpressions/0/key", "'kubernetes.io/os'",
      NULL },
    { "spec/nodeAffinity/required/nodeSelectorTerms/0/matchExpressions/0/values", "['windows']",
      "nodeAffinity: Invalid value: "
      "{'Required':{'NodeSelectorTerms':[{'MatchExpressions':[{'Key':'beta.kubernetes.io/"
      "os','Operator':'In','Values':['windows']}],'MatchFields':null}]}}: field is immutable, "
      "except for updating from beta label to GA" },
    { "spec/nodeAffinity", NULL,
      "nodeAffinity: Invalid value: null: field is immutable, except for updating from beta label "
      "to GA" },
    { "spec/volumeAttributesClassName", "'d'", NULL },
    { "spec/volumeAttributesClassName", NULL,
      "spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden" },
};

/* ---- Claims ---- */

#define CLAIM(more) \
    "{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}" more "}"

static const char claim[] =
    "{" META
    ",'spec':" CLAIM(",'storageClassName':'c','volumeName':'v'") ",'status':{'phase':'Bound','"
                                                                 "capacity':{'storage':'1Gi'}}}";

static const struct suite_change claim_changes[] = {
    { "spec/resources/requests/storage", "'2Gi'", NULL },
    { "spec/resources/requests/storage", "'512Mi'",
      "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity" },
    { "spec/accessModes", "['ReadOnlyMany']",
      "spec: Forbidden: spec is immutable after creation except resources.requests and "
      "volumeAttributesClassName for bound claims\n"
      "@@ -1,6 +1,6 @@\n"
      " {\n"
      "  'AccessModes': [\n"
      "-  'ReadWriteOnce'\n"
      "+  'ReadOnlyMany'\n"
      "  ],\n"
      "  'Selector': null,\n"
      "  'Resources': {\n" },
    { "spec/storageClassName", "'d'",
      "spec: Forbidden: spec is immutable after creation except resources.requests and "
      "volumeAttributesClassName for bound claims\n"
      "@@ -10,7 +10,7 @@\n"
      "   }\n"
      "  },\n"
      "  'VolumeName': 'v',\n"
      "- 'StorageClassName': 'c',\n"
      "+ 'StorageClassName': 'd',\n"
      "  'VolumeMode': 'Filesystem',\n"
      "  'DataSource': null,\n"
      "  'DataSourceRef': null,\n" },
    { "spec/volumeName", "'w'",
      "spec: Forbidden: spec is immutable after creation except resources.requests and "
      "volumeAttributesClassName for bound claims\n"
      "@@ -9,7 +9,7 @@\n"
      "    'storage': '1Gi'\n"
      "   }\n"
      "  },\n"
      "- 'VolumeName': 'v',\n"
      "+ 'VolumeName': 'w',\n"
      "  'StorageClassName': 'c',\n"
      "  'VolumeMode': 'Filesystem',\n"
      "  'DataSource': null,\n" },
    { "spec/volumeAttributesClassName", "'c'", NULL },
    { "spec/volumeAttributesClassName", "''", NULL },
    { "spec/dataSource", "{'kind':'PersistentVolumeClaim','name':'x'}",
      "spec: Forbidden: spec is immutable after creation except resources.requests and "
      "volumeAttributesClassName for bound claims\n"
      "@@ -12,7 +12,11 @@\n"
      "  'VolumeName': 'v',\n"
      "  'StorageClassName': 'c',\n"
      "  'VolumeMode': 'Filesystem',\n"
      "- 'DataSource': null,\n"
      "+ 'DataSource': {\n"
      "+  'APIGroup': null,\n"
      "+  'Kind': 'PersistentVolumeClaim',\n"
      "+  'Name': 'x'\n"
      "+ },\n"
      "  'DataSourceRef': null,\n"
      "  'VolumeAttributesClassName': null\n"
      " }\n" },
};

static const char loose_claim[] = "{" META ",'spec':" CLAIM("") ",'status':{'phase':'Pending'}}";

static const struct suite_change loose_changes[] = {
    { "spec/storageClassName", "'c'", NULL },
    { "spec/volumeName", "'v'", NULL },
    { "spec/resources/requests/storage", "'2Gi'",
      "spec: Forbidden: spec is immutable after creation except resources.requests and "
      "volumeAttributesClassName for bound claims\n"
      "@@ -6,7 +6,7 @@\n"
      "  'Resources': {\n"
      "   'Limits': null,\n"
      "   'Requests': {\n"
      "-   'storage': '1Gi'\n"
      "+   'storage': '2Gi'\n"
      "   }\n"
      "  },\n"
      "  'VolumeName': '',\n" },
};

static const struct suite_change claim_statuses[] = {
    { "status/capacity", "{'storage':'-1'}",
      "status.capacity[storage]: Invalid value: -1: must be a valid resource quantity" },
    { "status/capacity", "{'plain':'1'}", NULL },
    { "status/allocatedResources", "{'storage':'2Gi'}", NULL },
    { "status/allocatedResources", "{'cpu':'2'}",
      "status.allocatedResources: Unsupported value: 'cpu': supported values: 'storage'" },
    { "status/allocatedResourceStatuses", "{'storage':'NodeResizePending'}", NULL },
    { "status/allocatedResourceStatuses", "{'storage':'Odd'}",
      "status.allocatedResourceStatuses: Unsupported value: 'storage': supported values: "
      "'ControllerResizeInProgress', 'ControllerResizeInfeasible', 'NodeResizeInProgress', "
      "'NodeResizeInfeasible', 'NodeResizePending'" },
    { "status/accessModes", "['ReadWriteOnce']", NULL },
};

/* ---- Warnings ---- */

static const struct suite_change volume_warnings[] = {
    { "metadata/annotations",
      "{'volume.beta.kubernetes.io/storage-class':'c','volume.beta.kubernetes.io/"
      "mount-options':'o'}",
      "metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "
      "'storageClassName' attribute instead\n"
      "metadata.annotations[volume.beta.kubernetes.io/mount-options]: deprecated since v1.31; use "
      "'mountOptions' attribute instead" },
    { "spec", VOLUME("'nfs':{'server':'s','path':'/p'},'persistentVolumeReclaimPolicy':'Recycle'"),
      "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the "
      "recommended approach is to use dynamic provisioning." },
    { "spec", VOLUME("'glusterfs':{'endpoints':'e','path':'p'}"),
      "spec.glusterfs: deprecated in v1.25, non-functional in v1.26+" },
    { "spec", VOLUME("'photonPersistentDisk':{'pdID':'p'}"),
      "spec.photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+" },
    { "spec", VOLUME("'cephfs':{'monitors':['m']}"),
      "spec.cephfs: deprecated in v1.28, non-functional in v1.31+" },
    { "spec", VOLUME("'storageos':{'volumeName':'v'}"),
      "spec.storageOS: deprecated in v1.22, non-functional in v1.25+" },
    { "spec",
      VOLUME("'nfs':{'server':'s','path':'/"
             "p'},'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'"
             "beta.kubernetes.io/os','operator':'Exists'}]}]}}"),
      "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: "
      "beta.kubernetes.io/os is deprecated since v1.14; use 'kubernetes.io/os' instead" },
};

static const struct suite_change claim_warnings[] = {
    { "metadata/annotations", "{'volume.beta.kubernetes.io/storage-class':'c'}",
      "metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "
      "'storageClassName' attribute instead" },
    { "spec/resources/requests/storage", "'1500m'",
      "spec.resources.requests[storage]: fractional byte value '1500m' is invalid, must be an "
      "integer" },
    { "spec/resources/limits", "{'storage':'2500m'}",
      "spec.resources.limits[storage]: fractional byte value '2500m' is invalid, must be an "
      "integer" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("v1", "PersistentVolume", volume, volumes),
        SUITE_CREATES("v1", "PersistentVolume", volume, volume_sources),
        SUITE_UPDATES("v1", "PersistentVolume", csi_volume, volume_changes),
        SUITE_UPDATES("v1", "PersistentVolumeClaim", claim, claim_changes),
        SUITE_UPDATES("v1", "PersistentVolumeClaim", loose_claim, loose_changes),
        SUITE_UPDATES_SUB("v1", "PersistentVolumeClaim", "status", claim, claim_statuses),
        SUITE_WARNS("v1", "PersistentVolume", volume, volume_warnings),
        SUITE_WARNS("v1", "PersistentVolumeClaim", claim, claim_warnings),
    };
    return SUITE_MAIN(tables);
}
