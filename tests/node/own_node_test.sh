#!/bin/bash
# own_node_test.sh SAMPAN - `sampan up --node auto`: one process is the control plane and a node that runs containers. A
# Deployment is rolled out on it, its Service's variables and tokens reach the pods, and pods are gone with their owner.
set -u
here=$(cd "$(dirname "$0")" && pwd)
sampan=$(readlink -f "$1")
if [ -z "${LAB:-}" ]; then
    command -v busybox >/dev/null 2>&1 || { echo "skipped: there is no busybox"; exit 77; }
    LAB_OWN=auto exec "$here/lab.sh" "$sampan" "$0" "$sampan"
fi
. "$here/../common.sh"
k() { kubectl --cache-dir "$LAB/cache" "$@" 2>&1; }
check "nodes are not simulated where there is a runtime" node/node-1 "$(k get nodes -o name)"
has_account() { k get serviceaccount default >/dev/null; }
waits has_account
k create service clusterip tea --tcp=80:8080 >/dev/null
k create -f - >/dev/null <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: c
        image: localhost/sampan/box:1
        command: [sh, -c, 'echo "$MY_NAME $TEA_SERVICE_PORT"; cat /var/run/secrets/kubernetes.io/serviceaccount/namespace; echo; httpd -f -p 8080 -h /www']
        env: [{name: MY_NAME, valueFrom: {fieldRef: {fieldPath: spec.serviceAccountName}}}]
        readinessProbe: {httpGet: {path: /cgi-bin/, port: 8080, scheme: HTTP}, periodSeconds: 1, failureThreshold: 1}
        livenessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}
YAML
first() { k get pods -o 'jsonpath={.items[0].metadata.name}'; }
has_said() { [ "$(k logs "$(first)" | wc -l)" -eq 2 ]; }
waits has_said
check "variables and tokens" "default 80 default" "$(k logs "$(first)" | tr '\n' ' ' | sed 's/ $//')"
check "a probe that fails" "2" "$(k get deployment web -o 'jsonpath={.status.replicas}{.status.readyReplicas}')"
k patch deployment web --type=json -p '[{"op": "replace", "path": "/spec/template/spec/containers/0/readinessProbe/httpGet/path", "value": "/"},
    {"op": "replace", "path": "/spec/template/spec/containers/0/command/2", "value": "echo >/www/index.html; httpd -f -p 8080 -h /www"}]' >/dev/null
has "a rolling update" "successfully rolled out" "$(k rollout status deployment web --timeout=60s)"
k delete deployment web >/dev/null
gone() { [ -z "$(k get pods -o name)" ]; }
waits gone
check "pods end with it" "" "$(k get pods -o name)"
check "and their containers" 0 "$(ctr -a "$LAB_SOCKET" -n k8s.io tasks list -q | wc -l)"
finish
