#!/bin/sh
# plane_test.sh SAMPAN - the whole control plane in one process: what a newcomer types first ends in running pods, a
# restart goes on where it was, and each part can be left out.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
needs kubectl
KUBECONFIG=$dir/a/admin.kubeconfig
export KUBECONFIG
down() { "$sampan" down --data-dir "$dir/a" >/dev/null; }
k() { kubectl --request-timeout=20s "$@" 2>&1; }
account() { k get serviceaccount default >/dev/null; }

serve_everything --simulate-nodes 3
waits account
k create deployment web --image=nginx --replicas=4 >/dev/null
has "the rollout ends" "successfully rolled out" "$(k rollout status deployment/web --timeout=60s)"
check "pods run" "4" "$(k get pods --no-headers | grep -c ' 1/1 *Running ')"
check "nodes are ready" "3" "$(k get nodes --no-headers | grep -c ' Ready ')"
check "pods have the token of their account" "default" \
    "$(k get pods -o jsonpath='{.items[0].spec.serviceAccountName}')"
check "controllers are who upstream's are" "kube-controller-manager" \
    "$(k get pods -o jsonpath='{.items[0].metadata.managedFields[0].manager}' --show-managed-fields)"
holder() { k get lease -n kube-system "$1" -o jsonpath='{.spec.holderIdentity}'; }
first=$(holder kube-controller-manager)
has "the leader is named" _ "$first"
check "their tokens are nowhere" 0 "$(grep -rlE '[0-9a-f]{64}' "$dir/a/admin.kubeconfig" "$dir/a/sampan.log" | wc -l)"

# After a crash nobody waits for the lease of the dead.
pkill -9 -f "^$sampan up --data-dir $dir/a "
is_dead() { "$sampan" status --data-dir "$dir/a" >/dev/null 2>&1; [ $? = 3 ]; }
waits is_dead
serve_everything --simulate-nodes 3
k scale deployment/web --replicas=6 >/dev/null
has "it goes on" "successfully rolled out" "$(k rollout status deployment/web --timeout=60s)"
check "the leader is the same" "$first" "$(holder kube-controller-manager)"
k delete deployment web >/dev/null
no_pods() { [ "$(k get pods --no-headers)" = "No resources found in default namespace." ]; }
waits no_pods
down
check "the lease was given up in good order" 1 "$(grep -c 'stopping signal' "$dir/a/sampan.log")"

# Each part can be left out.
serve_everything --scheduler=false --controllers='*,-deployment' # a name of before
waits account
k create deployment web --image=nginx >/dev/null
k run alone --image=nginx >/dev/null
k create -f - >/dev/null <<EOF_SET
{"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "set"}, "spec": {"replicas": 1,
 "selector": {"matchLabels": {"app": "set"}}, "template": {"metadata": {"labels": {"app": "set"}},
 "spec": {"containers": [{"name": "c", "image": "nginx"}]}}}}
EOF_SET
pod_of_set() { k get pods -l app=set --no-headers | grep -q Pending; }
waits pod_of_set
check "no deployment controller" "set" "$(k get replicasets -o jsonpath='{.items[*].metadata.name}')"
check "no scheduler" "" "$(k get pod alone -o jsonpath='{.spec.nodeName}')"
down
up >/dev/null
connect
k create namespace quiet >/dev/null
check "only the API" "" "$(k get serviceaccounts -n quiet -o name | grep -v 'No resources')"
finish
