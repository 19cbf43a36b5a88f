#!/bin/sh
# autoscale_test.sh SAMPAN - autoscalers with metrics, by kubectl: a stand-in serves metrics in front of the server,
# and the pods are simulated.
set -u
sampan=$1
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"
needs kubectl python3
pids=
at_end='for p in $pids; do kill $p 2>/dev/null; done; wait'
echo 'admin-token,admin,admin,"system:masters"' >"$dir/tokens"
everything --store memory --simulate-nodes 2 --token-auth-file "$dir/tokens" \
    --controllers '*,-horizontal-pod-autoscaler-controller' >/dev/null || give_up
connect
prints() { expected=$1; shift; [ "$("$@")" = "$expected" ]; }
comes() { # NAME EXPECTED COMMAND... - sooner or later it prints that
    name=$1 wanted=$2
    shift 2
    waits prints "$wanted" "$@"
    check "$name" "$wanted" "$("$@")"
}
levels() { echo "{\"resource\": {\"cpu\": \"$1\", \"memory\": \"$2\"}, \"hits\": \"$3\", \"queue\": \"$4\"}" >"$dir/levels.new" && mv "$dir/levels.new" "$dir/levels"; }

levels 500m 64Mi 10 10
python3 "$here/metrics_stand_in.py" "$dir/port" "${server#https://}" "$dir/ca.crt" admin-token "$dir/levels" 2>"$dir/stand_in.log" &
pids=$!
waits test -s "$dir/port"
cat >"$dir/stand_in.kubeconfig" <<EOF
apiVersion: v1
kind: Config
current-context: it
contexts: [{name: it, context: {cluster: it, user: it}}]
clusters: [{name: it, cluster: {server: "http://127.0.0.1:$(cat "$dir/port")"}}]
users: [{name: it, user: {}}]
EOF
"$sampan" controllers --kubeconfig "$dir/stand_in.kubeconfig" --leader-elect=false \
    --controllers horizontal-pod-autoscaler-controller --horizontal-pod-autoscaler-sync-period 500ms 2>"$dir/log" &
pids="$pids $!"
account() { k get serviceaccount default >/dev/null; }
waits account

# ---- By what pods use
k create deployment web --image=app --replicas=2 >/dev/null
k set resources deployment web --requests=cpu=500m,memory=64Mi >/dev/null
k rollout status deployment/web --timeout=60s >/dev/null
k autoscale deployment web --min=1 --max=5 --cpu-percent=50 >/dev/null
replicas() { k get deployment web -o 'jsonpath={.spec.replicas}'; }
comes "twice as many, then the most" 5 replicas
has "with the reason" "New size: 5; reason: cpu resource utilization (percentage of request) above target" "$(k describe hpa web)"
condition() { k get hpa web -o "jsonpath={.status.conditions[?(@.type==\"$1\")].status} {.status.conditions[?(@.type==\"$1\")].reason}"; }
comes "it is limited" "True TooManyReplicas" condition ScalingLimited
check "it works" "True ValidMetricFound" "$(condition ScalingActive)"
check "what it saw" '{"averageUtilization":100,"averageValue":"500m"}' "$(k get hpa web -o 'jsonpath={.status.currentMetrics[0].resource.current}')"
levels 50m 64Mi 10 10
comes "fewer are not made at once" "True ScaleDownStabilized" condition AbleToScale
check "so there are as many" 5 "$(replicas)"

# ---- By other metrics, and by rules
k apply -f - >/dev/null <<EOF
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  minReplicas: 1
  maxReplicas: 12
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  behavior:
    scaleDown: {stabilizationWindowSeconds: 0, policies: [{type: Pods, value: 2, periodSeconds: 1}]}
  metrics:
  - {type: ContainerResource, containerResource: {name: memory, container: app, target: {type: Utilization, averageUtilization: 200}}}
  - {type: Pods, pods: {metric: {name: hits}, target: {type: AverageValue, averageValue: "10"}}}
  - {type: Object, object: {metric: {name: hits}, describedObject: {apiVersion: v1, kind: Service, name: web}, target: {type: Value, value: "10"}}}
  - {type: External, external: {metric: {name: queue, selector: {matchLabels: {q: a}}}, target: {type: AverageValue, averageValue: "5"}}}
EOF
metrics() { k get hpa web -o 'jsonpath={.status.currentMetrics[*].type}'; }
comes "all kinds of metrics" "ContainerResource Pods Object External" metrics
check "nothing is to do" 5 "$(replicas)"
levels 50m 64Mi 10 50
comes "the one that wants most decides" 10 replicas
sleep 1.5 # what was added within the period may go at once
levels 50m 64Mi 1 5
comes "all of them low: step by step" 1 replicas
has "two at a time" "New size: 8; reason: All metrics below target" "$(k describe hpa web)"
check "every status was written" "" "$(grep -v ' info ' "$dir/log")"
finish
