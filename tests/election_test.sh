#!/bin/sh
# election_test.sh SAMPAN HELLO - hello-controller and a program with client-go want the same Lease. At
# any time one of them has it, whoever had it before.
set -u
sampan=$1
hello=$2
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"
needs go
pids=
at_end='for p in $pids; do kill -9 $p 2>/dev/null; done'

mkdir "$dir/go"
cp "$here/client/election/main.go" "$here/clients/go/go.mod" "$here/clients/go/go.sum" "$dir/go"
(cd "$dir/go" && GOPROXY=off GOFLAGS=-mod=mod go build -o candidate . 2>"$dir/go.log") ||
    { skip "client-go is not there: $(tail -n 1 "$dir/go.log")"; exit 77; }

serve --api-versions all
export KUBECONFIG="$dir/a/admin.kubeconfig"
admin -H 'Content-Type: application/yaml' --data-binary "@$here/../examples/hello-controller/manifests/crd.yaml" \
    "$server/apis/apiextensions.k8s.io/v1/customresourcedefinitions" >/dev/null

lease() { admin "$server/apis/coordination.k8s.io/v1/namespaces/default/leases/hello-controller"; }
field() { lease | sed -n "s/.*\"$1\": *\"\{0,1\}\([^\",}]*\).*/\1/p"; }
leads() { curl -sS --max-time 10 --unix-socket "$dir/hello.sock" http://x/metrics | sed -n 's/^leader_election_master_status{.*} //p'; }
said() { grep -c "^$1" "$dir/$2.out"; }
waits() { # NAME EXPECTED COMMAND... - until it prints that
    name=$1 expected=$2
    shift 2
    for i in $(seq 600); do
        [ "$("$@" 2>/dev/null)" = "$expected" ] && break
        sleep 0.1
    done
    check "$name" "$expected" "$("$@" 2>/dev/null)"
    [ $failed -eq 0 ] || { lease; tail -n 20 "$dir"/*.out "$dir"/*.log; finish; exit 1; }
}
renewals() { # until the Lease was renewed so many times
    last=$(field renewTime)
    for i in $(seq "$1"); do
        for j in $(seq 600); do
            now=$(field renewTime)
            [ "$now" = "$last" ] || break
            sleep 0.1
        done
        last=$now
    done
}
start_go() { "$dir/go/candidate" "$1" >"$dir/$1.out" 2>"$dir/$1.log" & pid=$!; pids="$pids $pid"; }
start_hello() { "$hello" "unix:$dir/hello.sock" >"$dir/hello.out" 2>"$dir/hello.log" & pid=$!; pids="$pids $pid"; }

# ---- client-go has it first
start_go first
first=$pid
waits "client-go leads" 1 said "leading first" first
start_hello
ours=$pid
waits "we are there" 0 leads
renewals 3
check "we let it be" "0 first" "$(leads) $(field holderIdentity)"
kill -TERM $first
wait $first
waits "we take over" 1 leads
check "one more transition" 1 "$(field leaseTransitions)"

# ---- We have it
us=$(field holderIdentity)
start_go second
second=$pid
waits "client-go sees us lead" 1 said "leader $us" second
renewals 3
check "it lets us be" "0 $us" "$(said leading second) $(field holderIdentity)"
kill -TERM $ours
wait $ours
check "we end well" 0 $?
waits "client-go takes over" 1 said "leading second" second
check "another transition" 2 "$(field leaseTransitions)"

# ---- It dies without a word
kill -9 $second
start_hello
ours=$pid
waits "we wait for the lease to end, then lead" 1 leads
check "and count" 3 "$(field leaseTransitions)"

# ---- We do
kill -9 $ours
start_go third
waits "so does client-go" 1 said "leading third" third
check "and counts" 4 "$(field leaseTransitions)"
finish
