#!/bin/sh
# simulate_test.sh SAMPAN - `sampan nodes simulate`: pods of its nodes live, those of others are left alone; and what
# kubectl shows of them.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
pid=
at_end='kill $pid 2>/dev/null; wait'
serve --store memory
core=$server/api/v1
pods=$core/namespaces/default/pods
post() { code admin -H 'Content-Type: application/json' --data "$2" "$1"; }
pod() { # NAME NODE POLICY ANNOTATIONS
    post "$pods" '{"metadata":{"name":"'"$1"'","annotations":{'"${4:-}"'}},"spec":{"nodeName":"'"$2"'",
        "restartPolicy":"'"$3"'","automountServiceAccountToken":false,"containers":[{"name":"c","image":"i"}]}}'
}
phase_is() { admin "$pods/$1" | grep -q '"phase": *"'"$2"'"'; }
is_gone() { [ "$(code admin "$pods/$1")" = 404 ]; }
has_lease() { [ "$(code admin "$server/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/sim-1")" = 200 ]; }

post "$core/nodes" '{"metadata":{"name":"other"}}' >/dev/null
"$sampan" nodes simulate --count 2 --prefix sim --no-route --kubeconfig "$dir/a/admin.kubeconfig" 2>"$dir/log" &
pid=$!
waits has_lease
check "a pod is made" 201 "$(pod web sim-0 Always)"
check "one that ends" 201 "$(pod job sim-1 Never)"
check "one that fails" 201 "$(pod bad sim-1 Never '"simulate.sampan.io/exit-code":"3"')"
check "one of another node" 201 "$(pod far other Always)"
waits phase_is web Running
waits phase_is job Succeeded
waits phase_is bad Failed
has "it has an address that leads nowhere" '"podIP":"198.19.' "$(admin "$pods/web" | tr -d ' ')"
check "another node's pod is left alone" yes "$(phase_is far Pending && echo yes)"
check "a pod is deleted" 200 "$(code admin -X DELETE "$pods/web")"
waits is_gone web
check "a node of somebody else is not taken over" 1 \
    "$(post "$core/nodes" '{"metadata":{"name":"mine-0"}}' >/dev/null
       "$sampan" nodes simulate --prefix mine --no-route --kubeconfig "$dir/a/admin.kubeconfig" 2>/dev/null; echo $?)"

# ---- A route that leads nowhere, in a network of the test's own
if [ "$(id -u)" = 0 ] && command -v ip >/dev/null && unshare -n true 2>/dev/null; then
    routes=$(unshare -n sh -c 'ip link set lo up; "$1" nodes simulate --kubeconfig "$2" >/dev/null 2>&1; ip route show' \
        - "$sampan" "$dir/a/admin.kubeconfig")
    has "a blackhole" "blackhole 198.18.0.0/15" "$routes"
    check "not if it is not wanted" "" "$(unshare -n sh -c 'ip link set lo up; "$1" nodes simulate --no-route --kubeconfig "$2" >/dev/null 2>&1; ip route show' \
        - "$sampan" "$dir/a/admin.kubeconfig")"
else
    skip "no network of our own"
fi

# ---- With kubectl
if ! command -v kubectl >/dev/null; then
    skip "no kubectl"
    finish
    exit
fi
"$sampan" controllers --kubeconfig "$dir/a/admin.kubeconfig" 2>"$dir/controllers.log" &
pid="$pid $!"
"$sampan" scheduler --kubeconfig "$dir/a/admin.kubeconfig" 2>"$dir/scheduler.log" &
pid="$pid $!"
k() { timeout 60 kubectl --kubeconfig "$dir/a/admin.kubeconfig" "$@" 2>&1; }
k run web --image=nginx:1 --annotations=simulate.sampan.io/start-after=0s --overrides='{"spec":{"nodeName":"sim-0"}}' >/dev/null
has "it becomes ready" "condition met" "$(k wait --for=condition=Ready pod/web --timeout=30s)"
check "its log" "container web of pod default/web has started: image nginx:1 (simulated)" "$(k logs web)"
has "with times" "T" "$(k logs web --timestamps --tail=1 | grep -E '^2[0-9-]{9}T[0-9:]{8}\.000000000Z container web')"
check "nothing of it" "" "$(k logs web --tail=0)"
has "there was no time before" 'previous terminated container "web" in pod "web" not found' "$(k logs web --previous)"
k run once --image=i --restart=Never --annotations=simulate.sampan.io/start-after=0s --annotations=simulate.sampan.io/exit-after=3s \
    --overrides='{"spec":{"nodeName":"sim-0"}}' >/dev/null
has_begun() { phase_is "$1" Running || phase_is "$1" Succeeded; }
waits has_begun once
check "a log that is followed to its end" "container has ended with exit code 0" "$(k logs -f once | tail -1)"
k run crash --image=i --annotations=simulate.sampan.io/start-after=0s --annotations=simulate.sampan.io/exit-after=1s \
    --annotations=simulate.sampan.io/exit-code=7 --overrides='{"spec":{"nodeName":"sim-1"}}' >/dev/null
crashes() { k get pod crash | grep -q CrashLoopBackOff; }
waits crashes
check "the log of the time before" "container has ended with exit code 7" "$(k logs crash --previous | tail -1)"
has "how it is described" "Exit Code:    7" "$(k describe pod crash)"
has "and that it backs off" "Back-off restarting failed container crash in pod crash_default(" "$(k describe pod crash)"
has "by the kubelet" "kubelet" "$(k get events --field-selector involvedObject.name=crash -o jsonpath='{.items[*].source.component}')"
k create job twice --image=i -- true >/dev/null
has "a Job ends" "condition met" "$(k wait --for=condition=complete job/twice --timeout=50s)"
has "a command is refused, and why" "this node is simulated" "$(k exec web -- ls)"
has "by the older protocol, too" "this node is simulated" "$(KUBECTL_REMOTE_COMMAND_WEBSOCKETS=false k exec web -- ls)"
has "so are ports" "this node is simulated" "$(k port-forward web 18080:80)"
has "nothing dials a simulated pod" "connect: no route to host" "$(k get --raw "/api/v1/namespaces/default/pods/web/proxy/")"
k create deployment d --image=i --replicas=2 >/dev/null
has "a rollout" "successfully rolled out" "$(k rollout status deployment/d --timeout=50s)"
has "a node is drained" "drained" "$(k drain sim-0 --force --ignore-daemonsets --timeout=50s)"
check "and empty" 0 "$(k get pods --field-selector spec.nodeName=sim-0 -o name | grep -c .)"
has "all runs on the other" "successfully rolled out" "$(k rollout status deployment/d --timeout=50s)"
k run last --image=i --annotations=simulate.sampan.io/start-after=0s --overrides='{"spec":{"nodeName":"sim-1"}}' >/dev/null
waits phase_is last Running
k logs -f last >"$dir/followed" &
follower=$!
waits grep -q started "$dir/followed"
"$sampan" down --data-dir "$dir/a" >/dev/null
wait $follower
check "who follows a log does not hold the server up, and is not cut off" 0 $?
finish
