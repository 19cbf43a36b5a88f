#!/bin/sh
# beside_stock_test.sh SAMPAN LINEAR - sampan and a stock kube-apiserver serve one etcd at once: each reads what the other one
# wrote before, and clients that write to both see one order of things (tests/linear). SAMPAN_KAS or the PATH has the
# kube-apiserver.
set -u
sampan=$1
linear=$2
. "$(dirname "$0")/common.sh"
stock=${SAMPAN_KAS:-$(command -v kube-apiserver)}
[ -x "$stock" ] || { skip "no kube-apiserver (SAMPAN_KAS names one)"; exit 77; }
needs etcd etcdctl kubectl openssl python3
. "$(dirname "$0")/etcd_cluster.sh"
stock_pid=
at_end='kill -9 $stock_pid 2>/dev/null; wait $stock_pid 2>/dev/null; '"$at_end"

cluster 1
member_start 1
waits member_answers 1
stock_port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$dir/account.key" 2>/dev/null
echo 'admin-token,admin,admin,"system:masters"' >"$dir/tokens"
stock_start() {
    "$stock" --etcd-servers "$endpoints" --bind-address 127.0.0.1 --secure-port "$stock_port" --advertise-address 127.0.0.1 \
        --endpoint-reconciler-type none --cert-dir "$dir/certs" --token-auth-file "$dir/tokens" --authorization-mode RBAC \
        --service-cluster-ip-range 10.0.0.0/16 --service-account-issuer https://test --service-account-key-file "$dir/account.key" \
        --service-account-signing-key-file "$dir/account.key" >>"$dir/stock.log" 2>&1 &
    stock_pid=$!
}
cat >"$dir/stock.kubeconfig" <<EOF_CONFIG
apiVersion: v1
kind: Config
current-context: it
contexts: [{name: it, context: {cluster: it, user: it}}]
clusters: [{name: it, cluster: {server: "https://127.0.0.1:$stock_port", insecure-skip-tls-verify: true}}]
users: [{name: it, user: {token: admin-token}}]
EOF_CONFIG
s() { kubectl --kubeconfig "$dir/stock.kubeconfig" --cache-dir "$dir/stock-cache" "$@" 2>&1; }
stock_answers() { [ "$(s get --raw /readyz)" = ok ]; }

# ---- What one wrote, the other one serves: in protobuf, as upstream stores it
stock_start
waits stock_answers
s create namespace tea >/dev/null
s create configmap pot -n tea --from-literal=cups=2 >/dev/null
s create deployment web -n tea --image=nginx --replicas=3 >/dev/null
s create service clusterip web -n tea --tcp=80 >/dev/null
s create secret generic leaf -n tea --from-literal=kind=green >/dev/null
serve --etcd-servers "$endpoints"
of() { "$1" get configmap,deployment,service,secret -n tea -o json | python3 -c 'import json, sys
for o in json.load(sys.stdin)["items"]:
    o["metadata"].pop("managedFields", None)
    print(json.dumps(o, sort_keys=True))'; }
check "sampan reads what the stock server wrote" "$(of s)" "$(of k)"
check "all of it" 4 "$(of k | wc -l)"
k create configmap cake -n tea --from-literal=slices=8 >/dev/null
k scale deployment web -n tea --replicas=5 >/dev/null
k patch service web -n tea -p '{"spec":{"sessionAffinity":"ClientIP"}}' >/dev/null
k delete secret leaf -n tea >/dev/null
stock_sees() { [ "$(s get deployment web -n tea -o 'jsonpath={.spec.replicas}')" = 5 ]; }
waits stock_sees
check "the stock server reads what sampan wrote" "$(of k)" "$(of s)"
kill -9 $stock_pid
wait $stock_pid 2>/dev/null
stock_start
waits stock_answers
check "and again after a start of its own" "$(of k)" "$(of s)"

# ---- Writers on both
"$linear" --operations 3000 --clients 8 world "$dir/a/admin.kubeconfig" "$dir/stock.kubeconfig" >"$dir/out" 2>&1
check "one order" linearizable "$(tail -n 1 "$dir/out")"
cat "$dir/out"
finish
