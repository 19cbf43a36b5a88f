#!/bin/sh
# stock_scheduler_test.sh SAMPAN - the stock kube-scheduler works on Sampan with the role that it has there, beside our
# controllers and simulated nodes; and ours waits for the Lease that it holds. It is taken from SAMPAN_SCHEDULER or
# from the PATH.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
stock=${SAMPAN_SCHEDULER:-$(command -v kube-scheduler)}
[ -x "$stock" ] || { skip "no kube-scheduler (SAMPAN_SCHEDULER names one)"; exit 77; }
needs kubectl jq
pids=
at_end='for p in $pids; do kill -9 $p 2>/dev/null; done; wait 2>/dev/null'
cat >"$dir/policy" <<EOF_POLICY
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata, users: ["system:kube-scheduler"]}, {level: None}]
EOF_POLICY
serve_everything --scheduler=false --simulate-nodes 2 --audit-policy-file "$dir/policy" --audit-log-path "$dir/audit.log"
"$sampan" kubeconfig --data-dir "$dir/a" --user system:kube-scheduler --output "$dir/scheduler.kubeconfig" >/dev/null
"$stock" --kubeconfig "$dir/scheduler.kubeconfig" --authentication-kubeconfig "$dir/scheduler.kubeconfig" \
    --authorization-kubeconfig "$dir/scheduler.kubeconfig" --bind-address 127.0.0.1 --secure-port 0 >"$dir/stock.log" 2>&1 &
theirs=$!
pids=$theirs
holder() { k get lease -n kube-system kube-scheduler -o 'jsonpath={.spec.holderIdentity}'; }
is_held() { holder | grep -q _; }
waits is_held
leader=$(holder)
"$sampan" scheduler --kubeconfig "$dir/a/admin.kubeconfig" >"$dir/ours.log" 2>&1 &
ours=$!
pids="$pids $ours"
account() { k get serviceaccount default >/dev/null; }
waits account

k create deployment web --image=nginx --replicas=4 >/dev/null
has "pods run" "successfully rolled out" "$(k rollout status deployment/web --timeout=120s)"
check "it was the stock one" "kube-scheduler" \
    "$(jq -r 'select(.objectRef.subresource == "binding") | .userAgent | split("/")[0]' "$dir/audit.log" | sort -u)"
k run big --image=nginx --overrides='{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1k"}}}]}}' >/dev/null
says_why() { k describe pod big | grep -q '0/2 nodes are available: 2 Insufficient cpu'; }
waits says_why

# ---- A pod of high priority takes the place of another one
k create priorityclass high --value=1000 >/dev/null
full() { # NAME CLASS
    k create -f - >/dev/null <<EOF_POD
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "$1"}, "spec": {"priorityClassName": "$2", "nodeSelector":
 {"kubernetes.io/hostname": "simulated-0"}, "terminationGracePeriodSeconds": 0,
 "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "20"}}}]}}
EOF_POD
}
runs() { [ "$(k get pod "$1" -o 'jsonpath={.status.phase}')" = Running ]; }
full low ""
waits runs low
full high high
waits runs high
is_gone() { k get pod "$1" | grep -q NotFound; }
waits is_gone low

check "it still leads" "$leader" "$(holder)"
check "nobody was refused" "" \
    "$(jq -c 'select(.responseStatus.code == 403) | [.verb, .requestURI]' "$dir/audit.log" | sort | uniq -c | head -n 10)"
check "nothing is forbidden" "" "$(grep -i forbidden "$dir/stock.log" | head -n 5)"
kill $theirs
wait $theirs
k scale deployment web --replicas=6 >/dev/null
has "ours takes over" "successfully rolled out" "$(k rollout status deployment/web --timeout=120s)"
finish
