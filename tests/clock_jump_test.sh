#!/bin/sh
# clock_jump_test.sh SAMPAN CLOCK - the machine's clock is set, two hours ahead and one and a half back, while the
# whole control plane works: no node is lost, no pod is replaced, nobody stops leading, and what is asked for still
# happens.
set -u
sampan=$1
clock=$2
. "$(dirname "$0")/common.sh"
needs kubectl python3
KUBECONFIG=$dir/a/admin.kubeconfig
export KUBECONFIG
set_clock() { python3 -c "import struct, sys; open(sys.argv[1], 'r+b').write(struct.pack('=q', int(sys.argv[2])))" "$dir/ahead" "$1"; }
printf '\0\0\0\0\0\0\0\0' >"$dir/ahead"
LD_PRELOAD=$clock JUMPING_CLOCK=$dir/ahead everything --simulate-nodes 2 --node-monitor-period 1s --node-monitor-grace-period 20s \
    >/dev/null || { cat "$dir/a/sampan.log"; exit 1; }
roll() { kubectl --request-timeout=20s rollout status deployment/web --timeout=60s 2>&1; }
pods() { kubectl get pods -l app=web -o jsonpath='{range .items[*]}{.metadata.uid}{"\n"}{end}' | sort; }
taints() { kubectl get nodes -o jsonpath='{.items[*].spec.taints}'; }
kubectl create deployment web --image=nginx --replicas=3 >/dev/null
has "it runs" "successfully rolled out" "$(roll)"
before=$(pods)
for ahead in 7200 1800; do # never before what its certificates begin with
    set_clock $ahead
    sleep 4 # so that nodes are looked at, and leases renewed, a few times
    check "$ahead s ahead: the pods are the same" "$before" "$(pods)"
    check "$ahead s ahead: no node is lost" "" "$(taints)"
    check "$ahead s ahead: nodes are ready" 2 "$(kubectl get nodes --no-headers | grep -c ' Ready ')"
done
kubectl scale deployment web --replicas=5 >/dev/null
has "and it still works" "successfully rolled out" "$(roll)"
kubectl set image deployment/web nginx=nginx:2 >/dev/null
has "rollouts, too" "successfully rolled out" "$(roll)"
kubectl create job quick --image=busybox >/dev/null
has "Jobs" "condition met" "$(kubectl wait --for=condition=complete job/quick --timeout=60s 2>&1)"
kubectl create namespace gone >/dev/null
has "and namespaces go" "deleted" "$(kubectl delete namespace gone --timeout=60s 2>&1)"
check "nobody stopped leading" 0 "$(grep -c 'begin anew\|leader election lost' "$dir/a/sampan.log")"
finish
