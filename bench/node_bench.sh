#!/bin/bash
# node_bench.sh BUILD - 100 pods on one node, from created to Running and gone again: how long, and what the agent takes for it,
# beside upstream's kubelet on the same containerd where KUBELET names one. Wants root and containerd (tests/node/lab.sh).
set -u
here=$(cd "$(dirname "$0")" && pwd)
if [ -z "${LAB:-}" ]; then
    sampan=$1/sampan
    "$here/../tests/node/lab.sh" "$sampan" "$here/node_bench.sh" "$1" ours
    status=$?
    [ $status -ne 77 ] || exit 0
    [ -z "${KUBELET:-}" ] || "$here/../tests/node/lab.sh" "$sampan" "$here/node_bench.sh" "$1" kubelet
    exit $status
fi
pods=${PODS:-100}
now() { date +%s%N; }
ms() { echo $((($(now) - $1) / 1000000)); }
cpu() { awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) * 1000 / hz }' "/proc/$LAB_AGENT_PID/stat"; }
rss() { awk '/^VmRSS/ { printf "%.1f", $2 / 1024 }' "/proc/$LAB_AGENT_PID/status"; }
[ "$2" = ours ] && unset KUBELET
sleep 10 # so that what happens at the start is over
idle_before=$(cpu)
sleep 10
idle=$(awk -v a="$idle_before" -v b="$(cpu)" 'BEGIN { printf "%.2f", (b - a) / 100 }')
idle_rss=$(rss)
kubectl create serviceaccount default >/dev/null 2>&1
for n in $(seq "$pods"); do
    cat <<POD
---
apiVersion: v1
kind: Pod
metadata: {name: p$n}
spec: {nodeName: $LAB_NODE, terminationGracePeriodSeconds: 0, automountServiceAccountToken: false,
  containers: [{name: c, image: "localhost/sampan/box:1", command: [sleep, "10000"]}]}
POD
done >"$LAB/pods.yaml"
before=$(cpu) start=$(now)
kubectl create -f "$LAB/pods.yaml" >/dev/null
running() { kubectl get pods --no-headers 2>/dev/null | grep -c ' Running '; }
until [ "$(running)" -eq "$pods" ]; do sleep 0.2; done
up_ms=$(ms "$start") up_cpu=$(awk -v a="$before" -v b="$(cpu)" 'BEGIN { print b - a }') up_rss=$(rss)
before=$(cpu)
sleep 10
busy=$(awk -v a="$before" -v b="$(cpu)" 'BEGIN { printf "%.2f", (b - a) / 100 }')
before=$(cpu) start=$(now)
kubectl delete pods --all --wait=true >/dev/null
printf '%-8s %d pods Running in %d ms with %d ms of CPU; gone in %d ms with %d; RSS %s MB idle, %s with pods; %s%% of a core idle, %s%% with pods\n' "$2" \
    "$pods" "$up_ms" "$up_cpu" "$(ms "$start")" "$(awk -v a="$before" -v b="$(cpu)" 'BEGIN { print b - a }')" "$idle_rss" "$up_rss" "$idle" "$busy"
