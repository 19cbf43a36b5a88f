#!/bin/sh
# load_test.sh SAMPAN LOAD - every scenario of the load generator with a few requests, against a
# server of its own: all are answered, none with an error, and nothing is left behind. Says nothing
# about speed; bench/run does.
set -u
sampan=$1
load=$2
. "$(dirname "$0")/common.sh"
serve
config=$dir/a/admin.kubeconfig
api() { admin "$server$1"; }
status() { api "$1" | sed -n 's/.*"code": *\([0-9]*\).*/\1/p'; }
names() { api "$1" | grep -o '"name": *"[a-z]-[^"]*"' | sort -u | wc -l; }

run() {
    "$load" --kubeconfig "$config" --json "$@" >"$dir/out" 2>"$dir/err"
    code=$?
}
of() { sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p" "$dir/out" | tr '\n' ' ' | sed 's/ $//'; }

# scenario NAME COUNT ARGUMENT...
scenario() {
    name=$1
    count=$2
    shift 2
    run --count "$count" "$@" "$name"
    check "$name: exit" 0 "$code"
    check "$name: requests" "$count" "$(of count)"
    check "$name: errors" 0 "$(of n_errors)"
    check "$name: complaints" "" "$(cat "$dir/err")"
}

scenario get 50
scenario get 20 --size 100000 --connections 2 --in-flight 7
scenario get-many 50 --objects 40
scenario list 5 --objects 150
scenario list 10 --objects 150 --connections 3 --in-flight 10
scenario list-paged 6 --objects 1100
scenario create 70
scenario create 3 --size 900000 --in-flight 2
scenario update 100 --objects 20 --in-flight 10
scenario delete 70
scenario churn 90
scenario watch 5 --watchers 30 --connections 3
check "watch: every watcher saw every event" 150 "$(of deliveries)"
scenario get 50 --custom
scenario list 5 --custom --objects 150
scenario update 100 --custom --objects 20 --in-flight 10
scenario churn 90 --custom
scenario watch 5 --custom --watchers 30 --connections 3
check "custom: nothing is left behind" 404 "$(status /apis/apiextensions.k8s.io/v1/customresourcedefinitions/custommaps.load.example.com)"
run --seconds 0.2 --warmup 0.1 get
check "by time: exit" 0 "$code"
run --count 30 --rounds 2 --against "$config" get update
check "two servers: exit" 0 "$code"
check "two servers: requests" "60 60 60 60" "$(of count)"
check "two servers: two ratios" 2 "$(grep -c '"ratio"' "$dir/out")"

run --count 25 --namespace kept --keep create
check "kept: exit" 0 "$code"
check "kept: the objects are there" 25 "$(names /api/v1/namespaces/kept/configmaps)"
run --count 10 --namespace kept create
check "a namespace that was there: exit" 0 "$code"
check "a namespace that was there keeps its own" 25 "$(names /api/v1/namespaces/kept/configmaps)"
check "nothing else is left behind" 25 "$(names "/api/v1/configmaps?labelSelector=load")"

# What goes wrong is seen.
run --count 5 raw /nothing
check "errors: exit" 1 "$code"
check "errors: by code" '"errors":{"404": 5}' "$(grep -o '"errors":{[^}]*}' "$dir/out")"
check "errors: nothing right" 0 "$(of count)"
run --count 2 --namespace kept --keep --filled --objects 26 --size 1 list
check "a LIST that lacks an object: exit" 1 "$code"
check "a LIST that lacks an object: why" 1 "$(grep -c '25 objects instead of 26' "$dir/err")"
run --count 2 --namespace kept --keep --filled --objects 25 --size 1 list
check "a LIST that has them all: exit" 0 "$code"
sed 's|https://[0-9.]*:|https://192.0.2.1:|' "$config" >"$dir/far"
"$load" --kubeconfig "$dir/far" get 2>"$dir/err"
check "a server that is not on loopback: exit" 1 $?
check "a server that is not on loopback: why" 1 "$(grep -c 'not on loopback' "$dir/err")"
"$load" nothing 2>/dev/null
check "an unknown scenario" 2 $?

finish
