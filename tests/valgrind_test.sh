#!/bin/sh
# valgrind_test.sh SAMPAN - a short life of the whole control plane under valgrind: a few requests over
# both versions of HTTP, a Deployment whose pods run and go again, SIGTERM. No error, and every block freed.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
command -v valgrind >/dev/null 2>&1 || { skip "valgrind is not installed"; exit 77; }
pid=
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null; rm -rf "$dir"' EXIT
anonymous() { curl -sS --max-time 60 --cacert "$dir/ca.crt" "$@"; } # nothing is fast here

valgrind --leak-check=full --show-leak-kinds=all --errors-for-leak-kinds=all --error-exitcode=9 --fair-sched=try \
    --log-file="$dir/log" "$sampan" up --data-dir "$dir/a" --listen 127.0.0.1:0 --simulate-nodes 2 >"$dir/out" 2>&1 &
pid=$!
waits grep -q serves "$dir/out" || { cat "$dir/log" "$dir/out"; exit 1; }
connect
for _ in 1 2 3; do
    check "by HTTP/2" ok "$(anonymous --http2 "$server/readyz")"
    check "by HTTP/1.1" ok "$(anonymous --http1.1 "$server/livez")"
    check "metrics" 200 "$(code admin "$server/metrics")"
done

# ---- What controllers, scheduler and nodes do
deployments=$server/apis/apps/v1/namespaces/default/deployments
pods="$server/api/v1/namespaces/default/pods?pretty=0"
running() { [ "$(admin "$pods" | grep -o '"phase":"Running"' | wc -l)" = "$1" ]; }
no_pods() { admin "$pods" | grep -q '"items":\[\]'; }
check "a Deployment" 201 "$(code admin -H 'Content-Type: application/json' "$deployments" -d '{"metadata":{"name":"web"},
    "spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
    "spec":{"terminationGracePeriodSeconds":0,"containers":[{"name":"c","image":"i"}]}}}}')"
waits running 3
check "it is deleted" 200 "$(code admin -X DELETE "$deployments/web")"
waits no_pods

kill -TERM $pid
wait $pid
status=$?
pid=
check "no error, and nothing is left" 0 $status
[ $failed -eq 0 ] || cat "$dir/log" "$dir/out"
finish
