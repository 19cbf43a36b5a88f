#!/usr/bin/env bash
# node_endpoint_test.sh SAMPAN - what kubectl does through the API server at a node with real containers: exec, attach, cp,
# logs, port-forward, top; and who may ask the node itself. KUBECTLS names the kubectls; an old one speaks SPDY, a new one
# WebSockets.
set -u
here=$(cd "$(dirname "$0")" && pwd)
if [ -z "${LAB_NODE:-}" ]; then
    command -v kubectl >/dev/null 2>&1 || { echo "skipped: there is no kubectl"; exit 77; }
    exec "$here/lab.sh" "$1" "$0" "$1"
fi

failures=0
is() { # WHAT WANTED SEEN
    [ "$2" = "$3" ] || { echo "FAILED $1: wanted '$2', seen '$3'"; failures=$((failures + 1)); }
}
waits() { # COMMAND...
    for _ in $(seq 100); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done
    echo "waited in vain: $*"
    return 1
}

kubectl create serviceaccount default >/dev/null 2>&1
kubectl create configmap kube-root-ca.crt --from-literal=ca.crt=x >/dev/null 2>&1
kubectl create -f - >/dev/null <<POD || exit 1
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeName: $LAB_NODE
  terminationGracePeriodSeconds: 0
  containers:
  - {name: c, image: "localhost/sampan/box:1", command: [sh, -c, "mkdir -p /www; echo hello >/www/index.html; httpd -f -p 8080 -h /www & i=0; while sleep 0.2; do i=\$((i+1)); echo line \$i; done"]}
  - {name: reads, image: "localhost/sampan/box:1", stdin: true, command: [sh, -c, "while read l; do echo got \$l; done; sleep 1000"]}
POD
waits kubectl wait --for=condition=Ready pod/web --timeout=1s

for ctl in ${KUBECTLS:-kubectl}; do
    name=$($ctl version --client 2>/dev/null | head -n 1)
    is "exec with $name" "out" "$($ctl exec web -c c -- echo out)"
    is "stderr with $name" "err" "$($ctl exec web -c c -- sh -c 'echo err >&2' 2>&1 >/dev/null)"
    is "stdin with $name" "5" "$(printf '12345' | $ctl exec -i web -c c -- wc -c | tr -d ' ')"
    $ctl exec web -c c -- sh -c 'exit 7' 2>/dev/null
    is "exit code with $name" 7 $?
    head -c 3000000 /dev/urandom >"$LAB/big"
    $ctl cp "$LAB/big" web:/big -c c 2>/dev/null
    is "cp there with $name" "$(md5sum <"$LAB/big")" "$($ctl exec web -c c -- md5sum /big | sed 's,/big,-,')"
    $ctl cp web:/big "$LAB/back" -c c >/dev/null 2>&1
    is "cp back with $name" "$(md5sum <"$LAB/big")" "$(md5sum <"$LAB/back")"
    is "a container that is not there, with $name" 1 "$($ctl exec web -c nope -- true >/dev/null 2>&1; echo $?)"
    is "attach with $name" "got word" "$({ echo word; sleep 2; } | timeout 3 $ctl attach -i web -c reads 2>/dev/null | head -n 1)"

    $ctl port-forward pod/web 18080:8080 >"$LAB/forward.log" 2>&1 &
    forward=$!
    waits grep -q Forwarding "$LAB/forward.log"
    is "port-forward with $name" "hello hello" "$(echo $(curl -s http://127.0.0.1:18080/index.html http://127.0.0.1:18080/index.html))"
    kill $forward && wait $forward 2>/dev/null

    is "logs with $name" "line 1" "$($ctl logs web -c c | head -n 1)"
    is "a tail with $name" 2 "$($ctl logs web -c c --tail 2 | wc -l)"
    is "a limit with $name" "line" "$($ctl logs web -c c --limit-bytes 4)"
    last=$($ctl logs web -c c --tail 1)
    is "follow with $name" "line $((${last#line } + 3))" "$(timeout 10 $ctl logs -f web -c c --since-time="$(date -u +%FT%TZ)" | grep -m 1 "line $((${last#line } + 3))")"
    is "a time with $name" 1 "$($ctl logs web -c c --tail 1 --timestamps | grep -c '^20..-.*\.[0-9]\{9\}Z line')"
done

# Many who follow logs keep nobody else waiting.
node=https://192.0.2.10:10250
for _ in $(seq 140); do echo "url = $node/containerLogs/default/web/reads?follow=true"; done >"$LAB/follow"
curl -skN --no-progress-meter -Z --parallel-immediate --parallel-max 140 -H "Authorization: Bearer $LAB_TOKEN" -K "$LAB/follow" >/dev/null 2>&1 &
followers=$!
follow() { [ "$(ss -Htn state established "dst 192.0.2.10:10250" | wc -l)" -ge 140 ]; }
waits follow
is "exec beside 140 who follow a log" out "$(timeout 10 kubectl exec web -c c -- echo out 2>&1)"
is "and logs" "line 1" "$(timeout 10 kubectl logs web -c c --limit-bytes 6 2>&1)"
kill $followers && wait $followers 2>/dev/null
is "seconds that no clock has" "line 1" "$(curl -sk -H "Authorization: Bearer $LAB_TOKEN" "$node/containerLogs/default/web/c?sinceSeconds=9223372036854775807&limitBytes=6")"

# Who may ask the node itself.
ask() { curl -sk -o "$LAB/answer" -w '%{http_code}' "$@"; }
is "a stranger" 401 "$(ask $node/pods)"
is "a bad token" 401 "$(ask -H 'Authorization: Bearer no' $node/pods)"
is "who may do everything" 200 "$(ask -H "Authorization: Bearer $LAB_TOKEN" $node/pods)"
kubectl create serviceaccount reader >/dev/null
token=$(kubectl create token reader)
is "somebody who may nothing" 403 "$(ask -H "Authorization: Bearer $token" $node/metrics/resource)"
is "why" "Forbidden (user=system:serviceaccount:default:reader, verb=get, resource=nodes, subresource(s)=[metrics])" "$(cat "$LAB/answer")"
kubectl create clusterrole metrics --verb=get --resource=nodes/metrics >/dev/null
kubectl create clusterrolebinding metrics --clusterrole=metrics --serviceaccount=default:reader >/dev/null
kubectl create serviceaccount scraper >/dev/null
kubectl create clusterrolebinding scraper --clusterrole=metrics --serviceaccount=default:scraper >/dev/null
token=$(kubectl create token scraper)
is "somebody who may scrape" 200 "$(ask -H "Authorization: Bearer $token" $node/metrics/resource)"
is "a container's memory" 1 "$(grep -c '^container_memory_working_set_bytes{container="c",namespace="default",pod="web"} [1-9]' "$LAB/answer")"
is "and no more" 403 "$(ask -H "Authorization: Bearer $token" $node/pods)"
is "health" ok "$(kubectl get --raw "/api/v1/nodes/$LAB_NODE/proxy/healthz" 2>/dev/null || curl -sk -H "Authorization: Bearer $LAB_TOKEN" $node/healthz)"

[ $failures -eq 0 ] || { tail -n 20 "$LAB_LOGS/agent.log"; exit 1; }
echo "all as it should be"
