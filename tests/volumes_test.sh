#!/bin/sh
# volumes_test.sh SAMPAN - volumes from claim to end, with kubectl: made on this machine, chosen by the
# scheduler, attached to nodes, recycled; and claims for devices.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
needs kubectl
[ ! -e /tmp/hostpath_pv ] || [ -O /tmp/hostpath_pv ] || { skip "/tmp/hostpath_pv is another user's"; exit 77; }
pids=
at_end='kill $pids 2>/dev/null; wait'
up --store memory --enable-admission-plugins=ServiceAccount >/dev/null || give_up
for program in "controllers --enable-hostpath-provisioner --leader-elect=false" "scheduler --leader-elect=false" \
    "nodes simulate"; do
    "$sampan" $program --kubeconfig "$dir/a/admin.kubeconfig" >>"$dir/log" 2>&1 &
    pids="$pids $!"
done
get() { k get "$1" -o "jsonpath=$2"; } # THING PATH
prints() { expected=$1; shift; [ "$("$@")" = "$expected" ]; }
comes() { # NAME EXPECTED COMMAND... - sooner or later
    name=$1; shift
    expected=$1; shift
    waits prints "$expected" "$@"
    check "$name" "$expected" "$("$@")"
}
status_of() { k patch "$1" --subresource=status --type=merge -p "{\"status\":$2}" >/dev/null; }
waits prints default get sa/default '{.metadata.name}'

# ---- Made here: at once, and on the node that the scheduler chooses
k create -f - >/dev/null <<EOF
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: here}, provisioner: kubernetes.io/host-path}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: late}, provisioner: kubernetes.io/host-path,
 volumeBindingMode: WaitForFirstConsumer}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: now},
 spec: {storageClassName: here, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: later},
 spec: {storageClassName: late, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
EOF
comes "a volume is made" Bound get pvc/now '{.status.phase}'
path=$(get "pv/$(get pvc/now '{.spec.volumeName}')" '{.spec.hostPath.path}')
check "as a directory" yes "$([ -d "$path" ] && echo yes)"
comes "nobody uses it" True get pvc/now '{.status.conditions[?(@.type=="Unused")].status}'
check "the other one waits" Pending "$(get pvc/later '{.status.phase}')"
k create -f - >/dev/null <<EOF
apiVersion: v1
kind: Pod
metadata: {name: user}
spec:
  terminationGracePeriodSeconds: 0
  containers: [{name: c, image: x}]
  volumes:
    - {name: a, persistentVolumeClaim: {claimName: now}}
    - {name: b, persistentVolumeClaim: {claimName: later}}
    - {name: own, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: late, accessModes: [ReadWriteOnce],
        resources: {requests: {storage: 1Gi}}}}}}
EOF
comes "the pod runs" Running get pod/user '{.status.phase}'
comes "with all of them" "Bound Bound Bound" k get pvc now later user-own -o 'jsonpath={.items[*].status.phase}'
k delete pvc now --wait=false >/dev/null
comes "what is in use stays" 'kubernetes.io/pvc-protection' get pvc/now '{.metadata.finalizers[0]}'
k delete pod user >/dev/null
k delete pvc later --wait=false >/dev/null
waits prints "" k get pvc --ignore-not-found -o name
waits prints "" k get pv --ignore-not-found -o name
check "and goes with its data" no "$([ -d "$path" ] || echo no)"

# ---- Attached to nodes by drivers
k create -f - >/dev/null <<EOF
---
{apiVersion: v1, kind: Node, metadata: {name: far, annotations: {volumes.kubernetes.io/controller-managed-attach-detach: "true"}}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: disk}, spec: {storageClassName: by-hand,
 accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, csi: {driver: d.example.com, volumeHandle: h1}}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: disk},
 spec: {storageClassName: by-hand, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: far}, spec: {nodeName: far, tolerations: [{operator: Exists}],
 containers: [{name: c, image: x}], volumes: [{name: v, persistentVolumeClaim: {claimName: disk}}]}}
EOF
comes "the driver is asked" "disk far" k get volumeattachments -o \
    'jsonpath={.items[*].spec.source.persistentVolumeName} {.items[*].spec.nodeName}'
status_of "$(k get volumeattachments -o name)" '{"attached":true}'
comes "the node is told" 'kubernetes.io/csi/d.example.com^h1' get node/far '{.status.volumesAttached[*].name}'
k delete pod far --force --grace-period=0 >/dev/null
comes "and told again" "" get node/far '{.status.volumesAttached[*].name}'
waits prints "" k get volumeattachments -o name

# ---- Recycled by a pod
k create -f - >/dev/null 2>&1 <<EOF
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: again}, spec: {storageClassName: again,
 accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, hostPath: {path: /none}, persistentVolumeReclaimPolicy: Recycle}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: again},
 spec: {storageClassName: again, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
EOF
waits prints Bound get pvc/again '{.status.phase}'
k delete pvc again >/dev/null
comes "it can be had again" Available get pv/again '{.status.phase}'
check "by nobody in particular" "" "$(get pv/again '{.spec.claimRef}')"

# ---- Claims of a StatefulSet
k create -f - >/dev/null <<EOF
{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "set"}, "spec": {"replicas": 1, "serviceName": "set",
 "podManagementPolicy": "Parallel", "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Delete"},
 "selector": {"matchLabels": {"app": "set"}}, "template": {"metadata": {"labels": {"app": "set"}},
 "spec": {"containers": [{"name": "c", "image": "x"}]}}, "volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec":
 {"storageClassName": "nobody", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]}}
EOF
comes "a claim goes with its set" StatefulSet get pvc/d-set-0 '{.metadata.ownerReferences[*].kind}'
k patch statefulset set --type merge \
    -p '{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain","whenScaled":"Retain"}}}' >/dev/null
comes "or stays" "" get pvc/d-set-0 '{.metadata.ownerReferences[*].kind}'
k delete statefulset set >/dev/null
check "its pod had nothing to do with it" "" \
    "$(k get events --field-selector involvedObject.name=set,reason=SuccessfulUpdate -o 'jsonpath={.items[*].message}')"

# ---- Devices
k create -f - >/dev/null <<EOF
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: fast}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: one},
 spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: fast}}]}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: device}, spec: {resourceClaims: [{name: d, resourceClaimTemplateName: one}],
 containers: [{name: c, image: x, resources: {claims: [{name: d}]}}]}}
EOF
comes "the claim is noted" d get pod/device '{.status.resourceClaimStatuses[*].name}'
claim=$(get pod/device '{.status.resourceClaimStatuses[*].resourceClaimName}')
check "the pod waits" Pending "$(get pod/device '{.status.phase}')"
status_of "resourceclaim/$claim" \
    '{"allocation":{"devices":{"results":[{"request":"r","driver":"d.example.com","pool":"p","device":"x"}]}}}'
comes "until it is allocated" Running get pod/device '{.status.phase}'
comes "it is in use" device get "resourceclaim/$claim" '{.status.reservedFor[*].name}'
k delete pod device --wait=false >/dev/null
waits prints "" k get resourceclaims -o name
finish
