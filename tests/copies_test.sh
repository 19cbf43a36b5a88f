#!/bin/sh
# copies_test.sh SAMPAN - several copies of `sampan controllers` and of `sampan scheduler`: one of each works, the
# others wait. When it ends the next one takes over at once, when it is killed as soon as its Lease is over.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
needs kubectl
pids=
at_end='for p in $pids; do kill -9 $p 2>/dev/null; done; wait 2>/dev/null'
serve --store memory
start() { # NAME PROGRAM [OPTION...] - its process is $pid
    name=$1
    shift
    "$sampan" "$@" --kubeconfig "$dir/a/admin.kubeconfig" 2>"$dir/$name.log" &
    pid=$!
    pids="$pids $pid"
}
holder() { k get lease -n kube-system "$1" -o 'jsonpath={.spec.holderIdentity}'; }
transitions() { k get lease -n kube-system "$1" -o 'jsonpath={.spec.leaseTransitions}'; }
is_held() { k get lease -n kube-system "$1" -o 'jsonpath={.spec.holderIdentity}' | grep -q _; }
is_held_by_other() { is_held "$1" && [ "$(holder "$1")" != "$2" ]; }
rolls_out() { # NAME REPLICAS
    k scale deployment web --replicas="$2" >/dev/null
    has "$1" "successfully rolled out" "$(k rollout status deployment/web --timeout=60s)"
}

start nodes nodes simulate --count 2 --no-route
start controllers-1 controllers
first=$pid
start scheduler-1 scheduler
first_scheduler=$pid
waits is_held kube-controller-manager
waits is_held kube-scheduler
leader=$(holder kube-controller-manager)
start controllers-2 controllers
second=$pid
start scheduler-2 scheduler
second_scheduler=$pid
account() { k get serviceaccount default >/dev/null; }
waits account
k create deployment web --image=nginx --replicas=2 >/dev/null
rolls_out "one of each works" 3
check "the first leads" "$leader" "$(holder kube-controller-manager)"
check "nobody else did anything" 3 "$(k get pods --no-headers | grep -c .)"

# ---- It ends in good order
kill $first $first_scheduler
wait $first
check "controllers end well" 0 $?
wait $first_scheduler
check "the scheduler ends well" 0 $?
waits is_held_by_other kube-controller-manager "$leader"
check "controllers: one transition" 1 "$(transitions kube-controller-manager)"
rolls_out "the others go on" 5
check "scheduler: one transition" 1 "$(transitions kube-scheduler)"

# ---- It is killed
leader=$(holder kube-controller-manager)
kill -9 $second $second_scheduler
start controllers-3 controllers
start scheduler-3 scheduler
rolls_out "the next ones wait for the leases, and go on" 6
check "the leader is another one" no "$([ "$leader" = "$(holder kube-controller-manager)" ] && echo yes || echo no)"
check "two transitions" "2 2" "$(transitions kube-controller-manager) $(transitions kube-scheduler)"
check "no pod too many" 6 "$(k get pods --no-headers | grep -c .)"
finish
