/* The volumes of a pod, by their type. */
#include "api/validate/suite_validate.h"

#define VOLUME(source) "{'name':'v'," source "}"

static const char volume_pod[] =
    "{" META
    ",'spec':{'containers':[{'name':'c','image':'c:1'}],'volumes':[{'name':'v','emptyDir':{}}]}}";

/* ---- Files ---- */

static const struct suite_change file_volumes[] = {
    { "spec/volumes/0", VOLUME("'configMap':{'name':'m','items':[{'key':'k','path':'a/b'}]}"),
      NULL },
    { "spec/volumes/0", VOLUME("'configMap':{}"),
      "spec.volumes[0].configMap.name: Required value" },
    { "spec/volumes/0", VOLUME("'configMap':{'name':'m','defaultMode':512}"),
      "spec.volumes[0].configMap.defaultMode: Invalid value: 512: must be a number between 0 and "
      "0777 (octal), both inclusive" },
    { "spec/volumes/0", VOLUME("'configMap':{'name':'m','items':[{'path':'p'},{'key':'k'}]}"),
      "spec.volumes[0].configMap.items[0].key: Required value\n"
      "spec.volumes[0].configMap.items[1].path: Required value" },
    { "spec/volumes/0", VOLUME("'secret':{}"),
      "spec.volumes[0].secret.secretName: Required value" },
    { "spec/volumes/0", VOLUME("'secret':{'secretName':'s','items':[{'key':'k','path':'/abs'}]}"),
      "spec.volumes[0].secret.items[0].path: Invalid value: '/abs': must be a relative path" },
    { "spec/volumes/0", VOLUME("'secret':{'secretName':'s','items':[{'key':'k','path':'..x'}]}"),
      "spec.volumes[0].secret.items[0].path: Invalid value: '..x': must not start with '..'" },
    { "spec/volumes/0",
      VOLUME(
          "'downwardAPI':{'items':[{'path':'p','fieldRef':{'fieldPath':'metadata.annotations'}}]}"),
      NULL },
    { "spec/volumes/0", VOLUME("'downwardAPI':{'items':[{'path':'p'}]}"),
      "spec.volumes[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is "
      "required" },
    { "spec/volumes/0",
      VOLUME("'downwardAPI':{'defaultMode':-1,'items':[{'path':'../"
             "p','resourceFieldRef':{'containerName':'c','resource':'requests.memory'}}]}"),
      "spec.volumes[0].downwardAPI.defaultMode: Invalid value: -1: must be a number between 0 and "
      "0777 (octal), both inclusive\n"
      "spec.volumes[0].downwardAPI.path: Invalid value: '../p': must not contain '..'" },
    { "spec/volumes/0", VOLUME("'hostPath':{'path':''}"),
      "spec.volumes[0].hostPath.path: Required value" },
    { "spec/volumes/0", VOLUME("'hostPath':{'path':'/x','type':'Ring'}"),
      "spec.volumes[0].hostPath.type: Unsupported value: 'Ring': supported values: '', "
      "'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', "
      "'Socket'" },
    { "spec/volumes/0", VOLUME("'hostPath':{'path':'/x','type':'DirectoryOrCreate'}"), NULL },
    { "spec/volumes/0", VOLUME("'gitRepo':{'repository':''}"),
      "spec.volumes[0].gitRepo.repository: Required value" },
    { "spec/volumes/0", VOLUME("'gitRepo':{'repository':'r','directory':'a/../b'}"),
      "spec.volumes[0].gitRepo.directory: Invalid value: 'a/../b': must not contain '..'" },
    { "spec/volumes/0", VOLUME("'gitRepo':{'repository':'r','directory':'/a'}"),
      "spec.volumes[0].gitRepo.directory: Invalid value: '/a': must be a relative path" },
    { "spec/volumes/0", VOLUME("'image':{'pullPolicy':'Never'}"),
      "spec.volumes[0].image.reference: Required value" },
    { "spec/volumes/0", VOLUME("'image':{'reference':'r','pullPolicy':'Sometimes'}"),
      "spec.volumes[0].image.pullPolicy: Unsupported value: 'Sometimes': supported values: "
      "'Always', 'IfNotPresent', 'Never'" },
    { "spec/volumes/0", VOLUME("'emptyDir':{'medium':'Memory','sizeLimit':'1Gi'}"), NULL },
};

/* ---- Claims ---- */

static const struct suite_change claim_volumes[] = {
    { "spec/volumes/0", VOLUME("'persistentVolumeClaim':{'claimName':''}"),
      "spec.volumes[0].persistentVolumeClaim.claimName: Required value" },
    { "spec/volumes/0", VOLUME("'persistentVolumeClaim':{'claimName':'c'}"), NULL },
    { "spec/volumes/0", VOLUME("'ephemeral':{}"),
      "spec.volumes[0].ephemeral.volumeClaimTemplate: Required value" },
    { "spec/volumes/0",
      VOLUME("'ephemeral':{'volumeClaimTemplate':{'spec':{'accessModes':['ReadWriteOnce'],'"
             "resources':{'requests':{'storage':'1Gi'}}}}}"),
      NULL },
    { "spec/volumes/0",
      VOLUME("'ephemeral':{'volumeClaimTemplate':{'metadata':{'name':'n'},'spec':{'accessModes':['"
             "ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}}"),
      "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set" },
    { "spec/volumes/0",
      VOLUME("'ephemeral':{'volumeClaimTemplate':{'metadata':{'labels':{'a':'b "
             "c'}},'spec':{'accessModes':[],'resources':{}}}}"),
      "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.labels: Invalid value: 'b "
      "c': " LABEL_VALUE "\n"
      "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 "
      "access mode is required\n"
      "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value" },
    { "spec/volumes/0", VOLUME("'csi':{'driver':''}"),
      "spec.volumes[0].csi.driver: Required value" },
    { "spec/volumes/0",
      VOLUME("'csi':{'driver':'d.example.com','nodePublishSecretRef':{'name':'s'}}"), NULL },
    { "spec/volumes/0", VOLUME("'csi':{'driver':'-bad','nodePublishSecretRef':{'name':''}}"),
      "spec.volumes[0].csi.driver: Invalid value: '-bad': " SUBDOMAIN "\n"
      "spec.volumes[0].csi.nodePublishSecretRef.name: Required value" },
    { "spec/volumes/0", VOLUME("'csi':{'driver':'d','nodePublishSecretRef':{'name':'A'}}"),
      "spec.volumes[0].csi.name: Invalid value: 'A': " SUBDOMAIN },
};

/* ---- Networks ---- */

static const struct suite_change network_volumes[] = {
    { "spec/volumes/0", VOLUME("'nfs':{'server':'','path':'rel'}"),
      "spec.volumes[0].nfs.server: Required value\n"
      "spec.volumes[0].nfs.path: Invalid value: 'rel': must be an absolute path" },
    { "spec/volumes/0", VOLUME("'nfs':{'server':'s','path':'/p'}"), NULL },
    { "spec/volumes/0", VOLUME("'glusterfs':{}"),
      "spec.volumes[0].glusterfs.endpoints: Required value\n"
      "spec.volumes[0].glusterfs.path: Required value" },
    { "spec/volumes/0", VOLUME("'glusterfs':{'endpoints':'e','path':'p'}"), NULL },
    { "spec/volumes/0", VOLUME("'rbd':{'monitors':[],'image':''}"),
      "spec.volumes[0].rbd.monitors: Required value\n"
      "spec.volumes[0].rbd.image: Required value" },
    { "spec/volumes/0", VOLUME("'rbd':{'monitors':['m'],'image':'i'}"), NULL },
    { "spec/volumes/0", VOLUME("'cephfs':{'monitors':[]}"),
      "spec.volumes[0].cephfs.monitors: Required value" },
    { "spec/volumes/0", VOLUME("'cephfs':{'monitors':['m']}"), NULL },
    { "spec/volumes/0", VOLUME("'iscsi':{'targetPortal':'','iqn':'','lun':-1}"),
      "spec.volumes[0].iscsi.targetPortal: Required value\n"
      "spec.volumes[0].iscsi.iqn: Required value\n"
      "spec.volumes[0].iscsi.lun: Invalid value: -1: must be between 0 and 255, inclusive" },
    { "spec/volumes/0", VOLUME("'iscsi':{'targetPortal':'p','iqn':'eui.0123456789abcdef','lun':0}"),
      NULL },
    { "spec/volumes/0", VOLUME("'iscsi':{'targetPortal':'p','iqn':'eui.0123','lun':0}"),
      "spec.volumes[0].iscsi.iqn: Invalid value: 'eui.0123': must be valid format" },
    { "spec/volumes/0",
      VOLUME("'iscsi':{'targetPortal':'p','iqn':'naa.0123456789abcdef0123456789abcdef','lun':0}"),
      NULL },
    { "spec/volumes/0", VOLUME("'iscsi':{'targetPortal':'p','iqn':'naa.xyz','lun':0}"),
      "spec.volumes[0].iscsi.iqn: Invalid value: 'naa.xyz': must be valid format" },
    { "spec/volumes/0", VOLUME("'iscsi':{'targetPortal':'p','iqn':'iqn.20a1-04.com.a','lun':0}"),
      "spec.volumes[0].iscsi.iqn: Invalid value: 'iqn.20a1-04.com.a': must be valid format" },
    { "spec/volumes/0",
      VOLUME(
          "'iscsi':{'targetPortal':'p','iqn':'iqn.2001-04.com.a:b','lun':0,'initiatorName':'x'}"),
      "spec.volumes[0].iscsi.initiatorname: Invalid value: 'x': must be valid format starting with "
      "iqn, eui, or naa" },
    { "spec/volumes/0",
      VOLUME("'iscsi':{'targetPortal':'p','iqn':'iqn.2001-04.com.a:b','lun':0,'chapAuthDiscovery':"
             "true}"),
      "spec.volumes[0].iscsi.secretRef: Required value" },
    { "spec/volumes/0",
      VOLUME("'iscsi':{'targetPortal':'p','iqn':'iqn.2001-04.com.a:b','lun':0,'initiatorName':'iqn."
             "2001-04.com.b:c','chapAuthSession':true,'secretRef':{'name':'s'}}"),
      NULL },
    { "spec/volumes/0", VOLUME("'fc':{}"),
      "spec.volumes[0].fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but "
      "not both" },
    { "spec/volumes/0", VOLUME("'fc':{'targetWWNs':['w']}"),
      "spec.volumes[0].fc.lun: Required value: lun is required if targetWWNs is specified" },
    { "spec/volumes/0", VOLUME("'fc':{'targetWWNs':['w'],'lun':1}"), NULL },
    { "spec/volumes/0", VOLUME("'fc':{'targetWWNs':['w'],'lun':256}"),
      "spec.volumes[0].fc.lun: Invalid value: 256: must be between 0 and 255, inclusive" },
    { "spec/volumes/0", VOLUME("'fc':{'targetWWNs':['w'],'lun':1,'wwids':['x']}"),
      "spec.volumes[0].fc.targetWWNs: Invalid value: ['w']: targetWWNs and wwids can not be "
      "specified simultaneously" },
};

/* ---- Clouds ---- */

static const struct suite_change cloud_volumes[] = {
    { "spec/volumes/0", VOLUME("'awsElasticBlockStore':{'volumeID':'','partition':256}"),
      "spec.volumes[0].awsElasticBlockStore.volumeID: Required value\n"
      "spec.volumes[0].awsElasticBlockStore.partition: Invalid value: 256: must be between 1 and "
      "255, inclusive" },
    { "spec/volumes/0", VOLUME("'awsElasticBlockStore':{'volumeID':'v','partition':1}"), NULL },
    { "spec/volumes/0", VOLUME("'gcePersistentDisk':{'pdName':'','partition':-1}"),
      "spec.volumes[0].persistentDisk.pdName: Required value\n"
      "spec.volumes[0].persistentDisk.partition: Invalid value: -1: must be between 1 and 255, "
      "inclusive" },
    { "spec/volumes/0", VOLUME("'cinder':{'volumeID':'','secretRef':{'name':''}}"),
      "spec.volumes[0].cinder.volumeID: Required value\n"
      "spec.volumes[0].cinder.secretRef.name: Required value" },
    { "spec/volumes/0", VOLUME("'flocker':{}"),
      "spec.volumes[0].flocker: Required value: one of datasetName and datasetUUID is required" },
    { "spec/volumes/0", VOLUME("'flocker':{'datasetName':'a/b'}"),
      "spec.volumes[0].flocker.datasetName: Invalid value: 'a/b': must not contain '/'" },
    { "spec/volumes/0", VOLUME("'flocker':{'datasetName':'a','datasetUUID':'u'}"),
      "spec.volumes[0].flocker: Invalid value: 'resource': datasetName and datasetUUID can not be "
      "specified simultaneously" },
    { "spec/volumes/0", VOLUME("'azureFile':{'secretName':'','shareName':''}"),
      "spec.volumes[0].azureFile.secretName: Required value\n"
      "spec.volumes[0].azureFile.shareName: Required value" },
    { "spec/volumes/0", VOLUME("'azureDisk':{'diskName':'','diskURI':''}"),
      "spec.volumes[0].azureDisk.diskName: Required value\n"
      "spec.volumes[0].azureDisk.diskURI: Required value\n"
      "spec.volumes[0].azureDisk.diskURI: Unsupported value: '': supported values: "
      "'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'" },
    { "spec/volumes/0",
      VOLUME("'azureDisk':{'diskName':'d','diskURI':'https://x','kind':'Managed'}"),
      "spec.volumes[0].azureDisk.diskURI: Unsupported value: 'https://x': supported values: "
      "'/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/"
      "{disk-id}'" },
    { "spec/volumes/0",
      VOLUME("'azureDisk':{'diskName':'d','diskURI':'/subscriptions/"
             "x','kind':'Shared','cachingMode':'Some'}"),
      "spec.volumes[0].azureDisk.cachingMode: Unsupported value: 'Some': supported values: 'None', "
      "'ReadOnly', 'ReadWrite'\n"
      "spec.volumes[0].azureDisk.diskURI: Unsupported value: '/subscriptions/x': supported values: "
      "'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'" },
    { "spec/volumes/0", VOLUME("'vsphereVolume':{'volumePath':''}"),
      "spec.volumes[0].vsphereVolume.volumePath: Required value" },
    { "spec/volumes/0", VOLUME("'photonPersistentDisk':{'pdID':''}"),
      "spec.volumes[0].photonPersistentDisk.pdID: Required value" },
    { "spec/volumes/0", VOLUME("'portworxVolume':{'volumeID':''}"),
      "spec.volumes[0].portworxVolume.volumeID: Required value" },
    { "spec/volumes/0", VOLUME("'quobyte':{'registry':'','volume':''}"),
      "spec.volumes[0].quobyte.registry: Required value: must be a host:port pair or multiple "
      "pairs separated by commas\n"
      "spec.volumes[0].quobyte.volume: Required value" },
    { "spec/volumes/0", VOLUME("'quobyte':{'registry':'a:1,b','volume':'v'}"),
      "spec.volumes[0].quobyte.registry: Invalid value: 'a:1,b': must be a host:port pair or "
      "multiple pairs separated by commas" },
    { "spec/volumes/0", VOLUME("'quobyte':{'registry':'a:1,b:2','volume':'v'}"), NULL },
    { "spec/volumes/0",
      VOLUME("'scaleIO':{'gateway':'','system':'','volumeName':'','secretRef':null}"),
      "spec.volumes[0].scaleIO.gateway: Required value\n"
      "spec.volumes[0].scaleIO.system: Required value\n"
      "spec.volumes[0].scaleIO.volumeName: Required value" },
    { "spec/volumes/0", VOLUME("'storageos':{'volumeName':'','secretRef':{'name':''}}"),
      "spec.volumes[0].storageos.volumeName: Required value\n"
      "spec.volumes[0].storageos.secretRef.name: Required value" },
    { "spec/volumes/0", VOLUME("'storageos':{'volumeName':'A','volumeNamespace':'B'}"),
      "spec.volumes[0].storageos.volumeName: Invalid value: 'A': " DNS_LABEL "\n"
      "spec.volumes[0].storageos.volumeNamespace: Invalid value: 'B': " DNS_LABEL },
    { "spec/volumes/0", VOLUME("'flexVolume':{'driver':''}"),
      "spec.volumes[0].flexVolume.driver: Required value" },
    { "spec/volumes/0",
      VOLUME("'flexVolume':{'driver':'d','options':{'kubernetes.io/a':'x','K8s.io/b':'x','a.k8s.io/"
             "c':'x','example.com/d':'x'}}"),
      "spec.volumes[0].flexVolume.options[K8s.io/b]: Invalid value: 'K8s.io/b': kubernetes.io and "
      "k8s.io namespaces are reserved\n"
      "spec.volumes[0].flexVolume.options[a.k8s.io/c]: Invalid value: 'a.k8s.io/c': kubernetes.io "
      "and k8s.io namespaces are reserved\n"
      "spec.volumes[0].flexVolume.options[kubernetes.io/a]: Invalid value: 'kubernetes.io/a': "
      "kubernetes.io and k8s.io namespaces are reserved" },
};

/* ---- All of them ---- */

static const struct suite_change volume_lists[] = {
    { "spec/volumes/0", "{'name':'v','emptyDir':{},'hostPath':{'path':'/'}}",
      "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type" },
    { "spec/volumes/0", "{'name':'','emptyDir':{}}", "spec.volumes[0].name: Required value" },
    { "spec/volumes/0", "{'name':'a.b','emptyDir':{}}",
      "spec.volumes[0].name: Invalid value: 'a.b': must not contain dots" },
    { "spec/volumes", "[{'name':'v','emptyDir':{}},{'name':'v','emptyDir':{}}]",
      "spec.volumes[1].name: Duplicate value: 'v'" },
    { "spec/volumes",
      "[{'name':'v','persistentVolumeClaim':{'claimName':'a-w'}},{'name':'w','ephemeral':{'"
      "volumeClaimTemplate':{'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'"
      "storage':'1Gi'}}}}}}]",
      "spec.volumes[0].persistentVolumeClaim.claimName: Invalid value: 'a-w': must not reference a "
      "PVC that gets created for an ephemeral volume" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("v1", "Pod", volume_pod, file_volumes),
        SUITE_CREATES("v1", "Pod", volume_pod, claim_volumes),
        SUITE_CREATES("v1", "Pod", volume_pod, network_volumes),
        SUITE_CREATES("v1", "Pod", volume_pod, cloud_volumes),
        SUITE_CREATES("v1", "Pod", volume_pod, volume_lists),
    };
    return SUITE_MAIN(tables);
}
