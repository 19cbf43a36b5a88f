#!/usr/bin/env bash
# node_top_test.sh SAMPAN - `sampan up --node on` alone: pods run, and `kubectl top` tells what they use, by metrics.k8s.io.
set -u
here=$(cd "$(dirname "$0")" && pwd)
if [ -z "${LAB_NODE:-}" ]; then
    command -v kubectl >/dev/null 2>&1 || { echo "skipped: there is no kubectl"; exit 77; }
    exec "$here/lab.sh" "$1" "$0" "$1"
fi

# The lab's agent makes room: this one is the server's own.
kill "$LAB_AGENT_PID"
sampan=$1
sed "s/, x509: {[^}]*}//" "$LAB/node.yaml" >"$LAB/own.yaml"
export KUBECONFIG=$LAB/own.kubeconfig
"$sampan" up --data-dir "$LAB/own" --store memory --listen 127.0.0.1:7443 --kubeconfig "$KUBECONFIG" --node on \
    --node-config "$LAB/own.yaml" >"$LAB_LOGS/own.log" 2>&1 &
server=$!
waits() { # COMMAND...
    for _ in $(seq 200); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done
    echo "waited in vain: $*"
    tail -n 15 "$LAB_LOGS/own.log"
    kubectl get apiservice v1beta1.metrics.k8s.io -o yaml | tail -n 20
    exit 1
}
waits kubectl get node "$LAB_NODE"
waits kubectl get serviceaccount default
kubectl create -f - >/dev/null <<POD || exit 1
apiVersion: v1
kind: Pod
metadata: {name: busy, labels: {app: busy}}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - {name: c, image: "localhost/sampan/box:1", command: [sh, -c, "while :; do :; done"], resources: {limits: {cpu: 200m}}}
POD
waits kubectl wait --for=condition=Ready pod/busy --timeout=1s
top() { kubectl top pod busy --no-headers | grep -E '^busy +[1-9][0-9]*m +[0-9]+Mi'; }
waits top
waits kubectl top node "$LAB_NODE"
[ "$(kubectl top pod -l app=nothing --no-headers 2>/dev/null | wc -l)" = 0 ] || { echo "FAILED: a selector chose nothing"; exit 1; }
[ "$(kubectl top pod -l app=busy --no-headers 2>/dev/null | wc -l)" = 1 ] || { echo "FAILED: a selector did not choose"; exit 1; }
top
kubectl delete pod busy --wait=false >/dev/null
kill $server
wait $server
echo "all as it should be"
