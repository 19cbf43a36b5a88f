#!/bin/bash
# remote_bench.sh BUILD - sampan on an etcd of one member and of three, beside a stock kube-apiserver on the same etcd (another
# prefix), where SAMPAN_KAS or the PATH has one: requests per second, and per second of the server's processor time.
set -u
sampan=$1/sampan
load=$1/bench/load
here=$(cd "$(dirname "$0")" && pwd)
for tool in etcd etcdctl python3 openssl; do
    command -v $tool >/dev/null 2>&1 || { echo "remote: there is no $tool"; exit 1; }
done
stock=${SAMPAN_KAS:-$(command -v kube-apiserver)}
. "$here/../tests/common.sh"
. "$here/../tests/etcd_cluster.sh"
stock_pid=
at_end='[ -z "$stock_pid" ] || kill -9 $stock_pid 2>/dev/null; '"$at_end"
echo 'admin-token,admin,admin,"system:masters"' >"$dir/tokens"
openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$dir/account.key" 2>/dev/null

start_stock() {
    local port
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    "$stock" --etcd-servers "$endpoints" --etcd-prefix /stock --bind-address 127.0.0.1 --secure-port "$port" --advertise-address 127.0.0.1 \
        --endpoint-reconciler-type none --cert-dir "$dir/certs$members" --token-auth-file "$dir/tokens" --authorization-mode RBAC \
        --service-cluster-ip-range 10.0.0.0/16 --service-account-issuer https://test --service-account-key-file "$dir/account.key" \
        --service-account-signing-key-file "$dir/account.key" --max-requests-inflight 0 --max-mutating-requests-inflight 0 \
        --enable-priority-and-fairness=false >"$dir/stock.log" 2>&1 &
    stock_pid=$!
    cat >"$dir/stock.kubeconfig" <<CONFIG
apiVersion: v1
kind: Config
current-context: it
contexts: [{name: it, context: {cluster: it, user: it}}]
clusters: [{name: it, cluster: {server: "https://127.0.0.1:$port", insecure-skip-tls-verify: true}}]
users: [{name: it, user: {token: admin-token}}]
CONFIG
    answers() { [ "$(kubectl --kubeconfig "$dir/stock.kubeconfig" get --raw /readyz 2>/dev/null)" = ok ]; }
    waits answers
}

measure() { # SCENARIO OPTION...
    local against=
    [ -z "$stock_pid" ] || against="--against $dir/stock.kubeconfig"
    # shellcheck disable=SC2086
    "$load" --kubeconfig "$dir/a/admin.kubeconfig" $against --rounds 2 --seconds "${SECONDS_PER_RUN:-3}" --json "${@:2}" "$1" 2>/dev/null |
        python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin if line.startswith("{")]
rows = {r["server"]: r for r in rows if "per_second" in r}
name = sys.argv[1]
def rate(r): return r["per_second"]
def per_cpu(r): return rate(r) * r["seconds"] / r["server_cpu_s"] if r.get("server_cpu_s") else 0
out = f"  {name:<12}"
for who, r in rows.items(): out += f" {who} {rate(r):>9.0f}/s, {per_cpu(r):>9.0f} a CPU second;"
if len(rows) == 2: a, b = rows["ours"], rows["theirs"]; out += f" {rate(a) / rate(b):.1f} times, {per_cpu(a) / per_cpu(b):.1f} times by CPU"
print(out)' "$1"
}

for count in 1 3; do
    cluster $count
    for n in $(seq $count); do member_start "$n"; done
    waits member_answers 1
    serve --etcd-servers "$endpoints"
    [ ! -x "$stock" ] || start_stock
    echo "etcd of $count member(s), load average $(cut -d ' ' -f 1 /proc/loadavg)"
    measure create
    measure get-many --objects 1000
    measure list --objects 1000
    "$sampan" down --data-dir "$dir/a" >/dev/null
    [ -z "$stock_pid" ] || { kill -9 "$stock_pid"; wait "$stock_pid" 2>/dev/null; stock_pid=; }
    for n in $(seq $count); do member_kill "$n"; done
    rm -rf "$dir"/etcd? "$dir/a"
done
