#!/bin/sh
# scheduler_config_test.sh SAMPAN - `sampan scheduler --config`: profiles whose plugins were told something, and
# arguments that make no sense.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/cluster.sh"
needs kubectl
KUBECONFIG=$dir/a/admin.kubeconfig
export KUBECONFIG
scheduler=
at_end='[ -z "$scheduler" ] || kill $scheduler 2>/dev/null'
k() { kubectl --request-timeout=20s "$@" 2>&1; }

cluster_start 2 --scheduler=false
is_ready() { [ "$(k get nodes --no-headers | grep -c ' Ready ')" = 2 ]; }
waits is_ready
k label node simulated-1 disk=fast >/dev/null

cat >"$dir/config" <<EOF_CONFIG
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: fast
  pluginConfig:
  - name: NodeAffinity
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeAffinityArgs
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions: [{key: disk, operator: In, values: [fast]}]
- schedulerName: packer
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: RequestedToCapacityRatio
        resources: [{name: cpu, weight: 5}]
        requestedToCapacityRatio:
          shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]
  - name: PodTopologySpread
    args: {defaultingType: List}
- schedulerName: slow
  pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions: [{key: disk, operator: In, values: [slow]}]
EOF_CONFIG
"$sampan" scheduler --kubeconfig "$KUBECONFIG" --config "$dir/config" 2>"$dir/log" &
scheduler=$!

# pods PROFILE COUNT CPU - of a ReplicaSet, which would spread them over nodes by itself
pods() {
    k create -f - >/dev/null <<EOF_PODS
{"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "$1"}, "spec": {"replicas": $2,
 "selector": {"matchLabels": {"app": "$1"}}, "template": {"metadata": {"labels": {"app": "$1"}},
 "spec": {"schedulerName": "$1", "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "$3"}}}]}}}}
EOF_PODS
}
nodes_of() { k get pods -l "app=$1" -o jsonpath='{.items[*].spec.nodeName}' | tr ' ' '\n' | sort | uniq -c | awk '{ print $1, $2 }'; }
bound() { [ "$(k get pods -l "app=$1" -o jsonpath='{.items[*].spec.nodeName}' | wc -w)" = "$2" ]; }
fast_is_bound() { bound fast 3; }
packer_is_bound() { bound packer 3; }

pods fast 3 10m
waits fast_is_bound
check "an affinity that is added to every pod's" "3 simulated-1" "$(nodes_of fast)"
pods packer 3 100m
waits packer_is_bound
check "the fuller node is the better one" "3 simulated-1" "$(nodes_of packer)"
pods slow 1 10m
says_why() { k get events -o jsonpath='{.items[?(@.reason=="FailedScheduling")].message}' | grep -q "2 node(s) didn't match scheduler-enforced node affinity"; }
waits says_why
k label node simulated-0 disk=slow >/dev/null
slow_is_bound() { bound slow 1; }
waits slow_is_bound
check "a label that comes helps a pod that waits" "1 simulated-0" "$(nodes_of slow)"

# ---- What makes no sense is refused at the start
refused() { # NAME EXPECTED ARGS
    printf 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{pluginConfig: [%s]}]\n' "$3" >"$dir/bad"
    has "$1" "$2" "$("$sampan" scheduler --kubeconfig "$KUBECONFIG" --config "$dir/bad" 2>&1)"
}
refused "a weight" "profiles[0].pluginConfig[0].args.hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]" \
    '{name: InterPodAffinity, args: {hardPodAffinityWeight: 101}}'
refused "a field that is none" 'strict decoding error: unknown field "addedafinity"' \
    '{name: NodeAffinity, args: {addedafinity: {}}}'
finish
