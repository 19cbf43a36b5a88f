#!/bin/sh
# controllers_test.sh SAMPAN HELLO - the example of docs/controllers.md as its users run it: with
# kubectl, in two copies, with the rights of its manifest only, through a crash of the server.
set -u
sampan=$1
hello=$2
manifests=$(cd "$(dirname "$0")/../examples/hello-controller/manifests" && pwd)
. "$(dirname "$0")/common.sh"
needs kubectl
pids=
at_end='for p in $pids; do kill -9 $p 2>/dev/null; done'

serve --api-versions all
waits() { # NAME EXPECTED COMMAND... - until it prints that
    name=$1 expected=$2
    shift 2
    for i in $(seq 300); do
        [ "$("$@")" = "$expected" ] && break
        sleep 0.1
    done
    check "$name" "$expected" "$("$@")"
    [ $failed -eq 0 ] || { tail -n 20 "$dir"/*.log; finish; exit 1; } # the rest would wait, too
}
greeting() { k get configmap "$1" -o 'jsonpath={.data.greeting}'; }
ready() { k get greeting "$1" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'; }
holder() { k -n hello-system get lease hello-controller -o 'jsonpath={.spec.holderIdentity}'; }
greet() { printf 'apiVersion: example.com/v1\nkind: Greeting\nmetadata: {name: %s, namespace: default}\nspec: {to: "%s"}\n' "$1" "$2" | k apply -f - >/dev/null; }
health() { curl -sS --max-time 10 --unix-socket "$dir/$1.sock" "http://x$2"; }

# ---- The guide's program is one, by the headers alone
if command -v cc >/dev/null 2>&1; then
    awk '/^```c$/ { on = 1; next } /^```$/ { if (on) exit } on' "$manifests/../../../docs/controllers.md" >"$dir/main.c"
    check "the guide's program" "" \
        "$(cc -Wall -Wextra -fsyntax-only -I"$manifests/../../../include" "$dir/main.c" 2>&1)"
    check "is all there" 1 "$(grep -c spn_manager_run "$dir/main.c")"
fi

# ---- Nothing but what the manifest gives
check "the kind is defined" "customresourcedefinition.apiextensions.k8s.io/greetings.example.com created" \
    "$(k apply -f "$manifests/crd.yaml")"
k apply -f "$manifests/rbac.yaml" >/dev/null
has "the deployment is one" "deployment.apps/hello-controller created" "$(k apply -f "$manifests/deployment.yaml")"
token=$(k -n hello-system create token hello-controller)
start() { # NAME [WRAPPER...] - a copy of the controller; its process is $pid
    name=$1
    shift
    "$@" "$hello" --server "$server" --certificate-authority "$dir/ca.crt" --token "$token" \
        -n hello-system "unix:$dir/$name.sock" >"$dir/$name.out" 2>"$dir/$name.log" &
    pid=$!
    pids="$pids $pid"
}
ends() { # NAME PID - it stops in good order when it is told to
    kill -TERM "$2"
    wait "$2"
    check "$1 ends well" 0 $?
    check "$1 had no errors" "" "$(grep -v ' info ' "$dir/$1.log")"
}

start one
one=$pid
k apply -f "$manifests/greeting.yaml" >/dev/null
waits "the world is greeted" "Hello, World!" greeting world
waits "and ready" True ready world
has "the user sees what was done" "the ConfigMap says: Hello, World!" "$(k describe greeting world)"
check "the map has its owner" "Greeting world true" \
    "$(k get configmap world -o 'jsonpath={.metadata.ownerReferences[0].kind} {.metadata.ownerReferences[0].name} {.metadata.ownerReferences[0].controller}')"

# ---- What others change comes back
k delete configmap world >/dev/null
waits "a deleted map comes back" "Hello, World!" greeting world
k patch configmap world --type merge -p '{"data":{"greeting":"Boo"}}' >/dev/null
waits "a changed map comes back" "Hello, World!" greeting world
greet world Moon
waits "a new wish is followed" "Hello, Moon!" greeting world

# ---- Health
check "healthy" ok "$(health one /healthz)"
check "ready" ok "$(health one /readyz)"
has "checks have names" "[+]informers ok" "$(health one '/readyz?verbose')"
has "reconciles are counted" 'controller_runtime_reconcile_total{controller="greetings",result="error"} 0' \
    "$(health one /metrics)"
if command -v promtool >/dev/null 2>&1; then
    check "metrics are well formed" "" "$(health one /metrics | promtool check metrics 2>&1 | grep -i error)"
fi

# ---- Two copies
start two
two=$pid
first=$(holder)
waits "the second is ready, too" ok health two /readyz
has "but does not lead" 'leader_election_master_status{name="hello-controller"} 0' "$(health two /metrics)"
ends one $one
greet sun Sun
waits "the second takes over" "Hello, Sun!" greeting sun
check "the leader is another one" no "$([ "$first" = "$(holder)" ] && echo yes || echo no)"
check "transitions are counted" 1 "$(k -n hello-system get lease hello-controller -o 'jsonpath={.spec.leaseTransitions}')"

# ---- The server crashes
address=${server#https://}
kill -9 "$(head -n 1 "$dir/a/sampan.pid")"
sleep 1
"$sampan" up --api-only --data-dir "$dir/a" --api-versions all --listen "$address" --detach >/dev/null ||
    { cat "$dir/a/sampan.log"; exit 1; }
greet mars Mars
waits "it goes on after a crash" "Hello, Mars!" greeting mars
k delete configmap sun >/dev/null
waits "with all that it knew" "Hello, Sun!" greeting sun
check "the same one leads" 0 "$(kill -0 $two; echo $?)"
kill -TERM $two
wait $two
check "two ends well" 0 $?
check "it has given up its lease" "" "$(holder)"

# ---- Under valgrind
if command -v valgrind >/dev/null 2>&1 && [ -z "${SAMPAN_SANITIZED-}" ]; then
    start three valgrind --leak-check=full --show-leak-kinds=all \
        --errors-for-leak-kinds=all --error-exitcode=9 --log-file="$dir/valgrind.log"
    three=$pid
    greet venus Venus
    waits "valgrind sees a greeting" "Hello, Venus!" greeting venus
    kill -TERM $three
    wait $three
    status=$?
    check "valgrind sees no mistake" 0 $status
    [ $status -eq 0 ] || cat "$dir/valgrind.log"
else
    skip "valgrind"
fi
[ $failed -eq 0 ] || tail -n 20 "$dir"/*.log
finish
