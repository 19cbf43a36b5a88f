#!/bin/sh
# stock_server_test.sh SAMPAN [ours] - `sampan controllers`, `sampan scheduler` and `sampan nodes simulate` work with a stock
# kube-apiserver on etcd, the scheduler with the role that upstream's has. It is taken from SAMPAN_KAS or from the
# PATH, etcd from the PATH; with `ours` it runs on `sampan etcd`.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
stock=${SAMPAN_KAS:-$(command -v kube-apiserver)}
[ -x "$stock" ] || { skip "no kube-apiserver (SAMPAN_KAS names one)"; exit 77; }
etcd=etcd
[ "${2-}" != ours ] || { etcd=$dir/bin/etcd; mkdir "$dir/bin"; ln -s "$(realpath "$sampan")" "$etcd"; }
needs "$etcd" kubectl openssl python3
pids=
at_end='for p in $pids; do kill -9 $p 2>/dev/null; done; wait 2>/dev/null'
set -- $(python3 -c 'import socket
s = [socket.socket() for _ in range(3)]
for x in s: x.bind(("127.0.0.1", 0))
print(*[x.getsockname()[1] for x in s])')
port=$1 etcd_port=$2 peer_port=$3

# ---- A server
"$etcd" --data-dir "$dir/etcd" --listen-client-urls "http://127.0.0.1:$etcd_port" \
    --advertise-client-urls "http://127.0.0.1:$etcd_port" --listen-peer-urls "http://127.0.0.1:$peer_port" \
    --initial-advertise-peer-urls "http://127.0.0.1:$peer_port" --initial-cluster "default=http://127.0.0.1:$peer_port" \
    >"$dir/etcd.log" 2>&1 &
pids=$!
openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$dir/account.key" 2>/dev/null
cat >"$dir/tokens" <<EOF_TOKENS
admin-token,admin,admin,"system:masters"
scheduler-token,system:kube-scheduler,s
EOF_TOKENS
"$stock" --etcd-servers "http://127.0.0.1:$etcd_port" --bind-address 127.0.0.1 --secure-port "$port" \
    --advertise-address 127.0.0.1 --endpoint-reconciler-type none --cert-dir "$dir/certs" --token-auth-file "$dir/tokens" \
    --authorization-mode RBAC --service-cluster-ip-range 10.0.0.0/24 --service-account-issuer https://test \
    --service-account-key-file "$dir/account.key" --service-account-signing-key-file "$dir/account.key" \
    >"$dir/server.log" 2>&1 &
pids="$pids $!"
server=https://127.0.0.1:$port
config() { # USER - a kubeconfig
    cat >"$dir/$1.kubeconfig" <<EOF_CONFIG
apiVersion: v1
kind: Config
current-context: it
contexts: [{name: it, context: {cluster: it, user: it}}]
clusters: [{name: it, cluster: {server: "$server", certificate-authority: "$dir/server-ca.crt"}}]
users: [{name: it, user: {token: $1-token}}]
EOF_CONFIG
}
for user in admin scheduler; do config $user; done
k() { kubectl --kubeconfig "$dir/admin.kubeconfig" --cache-dir "$dir/cache" "$@" 2>&1; }
has_certificate() { awk '/BEGIN/ { all = "" } { all = all $0 "\n" } END { printf "%s", all }' "$dir/certs/apiserver.crt" \
    >"$dir/server-ca.crt" 2>/dev/null && [ -s "$dir/server-ca.crt" ]; } # the last one in it is the authority
waits has_certificate
is_ready() { [ "$(k get --raw /readyz)" = ok ]; }
waits is_ready

# ---- What acts on it
"$sampan" controllers --kubeconfig "$dir/admin.kubeconfig" --service-account-private-key-file "$dir/account.key" \
    --root-ca-file "$dir/server-ca.crt" >"$dir/controllers.log" 2>&1 &
controllers=$!
"$sampan" scheduler --kubeconfig "$dir/scheduler.kubeconfig" >"$dir/scheduler.log" 2>&1 &
scheduler=$!
"$sampan" nodes simulate --count 2 --no-route --kubeconfig "$dir/admin.kubeconfig" >"$dir/nodes.log" 2>&1 &
nodes=$!
pids="$pids $controllers $scheduler $nodes"
account() { k get serviceaccount default >/dev/null; }
waits account
k create deployment web --image=nginx:1 --replicas=4 >/dev/null
has "a Deployment's pods run" "successfully rolled out" "$(k rollout status deployment/web --timeout=120s)"
k set image deployment/web nginx=nginx:2 >/dev/null
has "they are replaced" "successfully rolled out" "$(k rollout status deployment/web --timeout=120s)"
k expose deployment web --port=80 >/dev/null
endpoints() { [ "$(k get endpointslices -l kubernetes.io/service-name=web -o 'jsonpath={.items[*].endpoints[*].addresses[0]}' | wc -w)" = 4 ]; }
waits endpoints
k create job once --image=busybox -- true >/dev/null
has "a Job ends" "condition met" "$(k wait --for=condition=complete job/once --timeout=120s)"
k create -f - >/dev/null <<EOF_SET
{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": {"replicas": 2, "serviceName": "db",
 "selector": {"matchLabels": {"app": "db"}}, "template": {"metadata": {"labels": {"app": "db"}},
 "spec": {"containers": [{"name": "c", "image": "i"}]}}}}
EOF_SET
k rollout status statefulset/db --timeout=120s >/dev/null
check "a StatefulSet's, too" 2 "$(k get statefulset db -o 'jsonpath={.status.readyReplicas}')"
has "a node is drained" "drained" "$(k drain simulated-0 --force --ignore-daemonsets --timeout=120s)"
k delete deployment web --cascade=foreground --timeout=120s >/dev/null
check "a Deployment goes with its pods" "No resources found in default namespace." "$(k get rs,pods -l app=web)"
k create namespace gone >/dev/null
k -n gone create configmap x >/dev/null
has "a namespace goes" "deleted" "$(k delete namespace gone --timeout=120s)"
check "the lease has its holder" yes "$(k get lease -n kube-system kube-controller-manager -o 'jsonpath={.spec.holderIdentity}' | grep -q _ && echo yes)"
for p in $controllers $scheduler $nodes; do
    kill $p
    wait $p
    check "it ends well" 0 $?
done
check "nothing went wrong" "" "$(grep -hE ' (error|fatal) ' "$dir/controllers.log" "$dir/scheduler.log" "$dir/nodes.log" | head -n 5)"
finish
