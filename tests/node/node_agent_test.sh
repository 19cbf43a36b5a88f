#!/bin/bash
# node_agent_test.sh SAMPAN - pods that run: what users do with kubectl, with old and new ones (KUBECTLS), and what agents survive:
# killed at any moment, with containerd gone and back, nothing is lost and nothing doubled.
set -u
here=$(cd "$(dirname "$0")" && pwd)
sampan=$(readlink -f "$1")
if [ -z "${LAB:-}" ]; then
    command -v busybox >/dev/null 2>&1 || { echo "skipped: there is no busybox"; exit 77; }
    exec "$here/lab.sh" "$sampan" "$0" "$sampan"
fi
. "$here/../common.sh"
k() { kubectl --cache-dir "$LAB/cache" "$@" 2>&1; }
k create serviceaccount default >/dev/null # nobody else does
pod() { # NAME COMMAND... - as one line of shell
    k create -f - >/dev/null <<POD
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {app: $1}}
spec:
  nodeName: $LAB_NODE
  terminationGracePeriodSeconds: 1
  automountServiceAccountToken: false
  containers: [{name: c, image: "localhost/sampan/box:1", command: [sh, -c, "$2"]}]
POD
}
ready() { k wait --for=condition=Ready pod/"$1" --timeout=30s >/dev/null; }
ctrs() { ctr -a "$LAB_SOCKET" -n k8s.io tasks list -q | wc -l; }

# ---- What users do
pod web "echo from web >/www/index.html; echo started; httpd -f -p 8080 -h /www"
check "a pod runs" "pod/web condition met" "$(k wait --for=condition=Ready pod/web --timeout=30s)"
for kubectl in ${KUBECTLS:-kubectl}; do
    v=$(basename "$kubectl")
    u() { timeout 20 "$kubectl" --cache-dir "$LAB/cache" "$@" 2>&1; }
    check "$v logs" started "$(u logs web)"
    check "$v exec" "hi there" "$(u exec web -- echo hi there)"
    # New ones may complain of a message that comes before they are ready for it.
    check "$v exec with input" "3" "$(printf 'a\nb\nc\n' | u exec -i web -- wc -l | tail -n 1 | tr -d ' ')"
    u exec web -- sh -c 'exit 7' >/dev/null
    check "$v exec's exit code" 7 $?
    has "$v exec of what is not there" "executable file not found" "$(u exec web -- nothing)"
    head -c 3000000 /dev/urandom >"$LAB/big"
    u cp "$LAB/big" web:/tmp/big >/dev/null
    check "$v cp there" "$(md5sum <"$LAB/big" | cut -c1-32)" "$(u exec web -- md5sum /tmp/big | cut -c1-32)"
    u cp web:/tmp/big "$LAB/back" >/dev/null
    check "$v cp and back" same "$(cmp "$LAB/big" "$LAB/back" && echo same)"
    "$kubectl" port-forward web 18080:8080 >/dev/null 2>&1 &
    forward=$!
    answers() { [ "$(curl -s http://127.0.0.1:18080/)" = "from web" ]; }
    waits answers && check "$v port-forward" "from web" "$(curl -s http://127.0.0.1:18080/)"
    kill $forward
    wait $forward 2>/dev/null
done
ip=$(k get pod web -o 'jsonpath={.status.podIP}')
pod client "wget -qO- http://$ip:8080/ && sleep 1000"
said() { [ "$(k logs "$1")" = "$2" ]; }
waits said client "from web" && check "pods reach each other" "from web" "$(k logs client)"
k create -f - >/dev/null <<POD
apiVersion: v1
kind: Pod
metadata: {name: two}
spec:
  nodeName: $LAB_NODE
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  automountServiceAccountToken: false
  containers:
  - {name: server, image: "localhost/sampan/box:1", command: [sh, -c, "echo one pod >/www/index.html; httpd -f -p 8080 -h /www"]}
  - {name: asks, image: "localhost/sampan/box:1", command: [sh, -c, "until wget -qO- http://localhost:8080/; do sleep 0.1; done"]}
POD
asked() { [ "$(k logs two -c asks | tail -n 1)" = "one pod" ]; }
waits asked && check "containers of a pod share localhost" "one pod" "$(k logs two -c asks | tail -n 1)"
k delete pod client two --wait=true >/dev/null
check "nothing is left of them" 2 "$(ctrs)"

# ---- What agents survive
agent_start() {
    "$sampan" node --config "$LAB/node.yaml" --kubeconfig "$KUBECONFIG" --hostname-override "$LAB_NODE" --node-ip 192.0.2.10 \
        --root-dir "$LAB/node" >>"$LAB_LOGS/agent-again.log" 2>&1 &
    agent=$!
}
kill -9 "$LAB_AGENT_PID"
before=$(k get pod web -o 'jsonpath={.status.containerStatuses[0].containerID}')
for n in $(seq 8); do pod "churn-$n" "sleep 1000"; done
# So many at the most at any time: 9 pods with a sandbox and a container each.
most=0
watch_count() { while sleep 0.1; do ctrs; done >"$LAB/counts"; }
watch_count &
watcher=$!
agent_start
for n in $(seq 6); do
    sleep "0.$((RANDOM % 900 + 100))"
    kill -9 $agent
    wait $agent 2>/dev/null
    k delete pod "churn-$n" --wait=false >/dev/null
    agent_start
done
for n in 7 8; do ready "churn-$n"; done
gone() { [ "$(k get pods -o name | wc -l)" -eq 3 ]; }
waits gone
check "those that were deleted are gone, the others run" "pod/churn-7 pod/churn-8 pod/web" "$(k get pods -o name | sort | tr '\n' ' ' | sed 's/ $//')"
kill $watcher
most=$(sort -n "$LAB/counts" | tail -n 1)
check "never more containers than pods have" yes "$([ "$most" -le 18 ] && echo yes || echo "$most")"
settled() { [ "$(ctrs)" -eq 6 ]; }
waits settled
check "each has one sandbox and one container" 6 "$(ctrs)"
check "the first container was never replaced" "$before" "$(k get pod web -o 'jsonpath={.status.containerStatuses[0].containerID}')"
check "nor restarted" 0 "$(k get pod web -o 'jsonpath={.status.containerStatuses[0].restartCount}')"

pkill -9 -x containerd
pod late "echo late; sleep 1000"
sleep 2
containerd --config "$LAB/containerd.toml" >>"$LAB_LOGS/containerd.log" 2>&1 &
ready late
check "containerd may go and come" late "$(k logs late)"
check "and what ran, runs" "$before" "$(k get pod web -o 'jsonpath={.status.containerStatuses[0].containerID}')"
check "each has one of each still" 8 "$(ctrs)"
kill -TERM $agent
wait $agent
check "an agent that is told to ends well" 0 $?
check "and leaves containers alone" 8 "$(ctrs)"
finish
