#!/usr/bin/env bash
# node_bootstrap_test.sh SAMPAN - a node that comes with a bootstrap token gets a certificate, writes its kubeconfig, and
# makes itself known; with serverTLSBootstrap its endpoint serves with a certificate that somebody has approved. There is no
# container runtime, so it says that it is not ready, and why.
set -u
sampan=$1
[ "$(id -u)" -eq 0 ] || { echo "skipped: a node wants root"; exit 77; }
command -v kubectl >/dev/null 2>&1 || { echo "skipped: there is no kubectl"; exit 77; }
if [ -z "${INSIDE:-}" ]; then
    dir=$(mktemp -d /tmp/sampan-bootstrap.XXXXXX)
    INSIDE=$dir unshare -m -n -u -i -p -f --mount-proc "$0" "$@"
    status=$?
    for _ in 1 2 3 4; do rm -rf --one-file-system "$dir" 2>/dev/null && break; sleep 0.5; done
    exit $status
fi
dir=$INSIDE
failures=0
is() { # WHAT WANTED SEEN
    [ "$2" = "$3" ] || { echo "FAILED $1: wanted '$2', seen '$3'"; failures=$((failures + 1)); }
}
waits() { # COMMAND...
    for _ in $(seq 200); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done
    echo "waited in vain: $*"
    tail -n 5 "$dir"/*.log
    exit 1
}
ip link set lo up
ip addr add 192.0.2.10/32 dev lo
export KUBECONFIG=$dir/admin.kubeconfig
echo 'admin-token,admin,admin,"system:masters"' >"$dir/tokens"
"$sampan" up --data-dir "$dir/a" --store memory --listen 127.0.0.1:6443 --token-auth-file "$dir/tokens" \
    --enable-bootstrap-token-auth --kubeconfig "$KUBECONFIG" >"$dir/server.log" 2>&1 &
waits kubectl get --raw /readyz

# What kubeadm sets up: a token, and who may ask and be approved.
kubectl create -f - >/dev/null <<YAML
apiVersion: v1
kind: Secret
metadata: {name: bootstrap-token-abcdef, namespace: kube-system}
type: bootstrap.kubernetes.io/token
stringData: {token-id: abcdef, token-secret: 0123456789abcdef, usage-bootstrap-authentication: "true", usage-bootstrap-signing: "true",
  auth-extra-groups: "system:bootstrappers:test"}
YAML
kubectl create clusterrolebinding ask --clusterrole=system:node-bootstrapper --group=system:bootstrappers:test >/dev/null
kubectl create clusterrolebinding approve --clusterrole=system:certificates.k8s.io:certificatesigningrequests:nodeclient \
    --group=system:bootstrappers:test >/dev/null
sed -n '/certificate-authority-data/s/.*: //p' "$KUBECONFIG" | base64 -d >"$dir/ca.crt"
cat >"$dir/bootstrap.kubeconfig" <<YAML
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:6443", certificate-authority: $dir/ca.crt}}]
users: [{name: u, user: {token: abcdef.0123456789abcdef}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
YAML
cat >"$dir/node.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
serverTLSBootstrap: true
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $dir/ca.crt}}
containerRuntimeEndpoint: unix://$dir/no.sock
YAML
"$sampan" node --config "$dir/node.yaml" --bootstrap-kubeconfig "$dir/bootstrap.kubeconfig" --kubeconfig "$dir/node.kubeconfig" \
    --hostname-override booted --node-ip 192.0.2.10 --root-dir "$dir/node" >"$dir/node.log" 2>&1 &
waits kubectl get node booted
is "who the node is" system:node:booted "$(kubectl --kubeconfig "$dir/node.kubeconfig" auth whoami -o 'jsonpath={.status.userInfo.username}' 2>/dev/null \
    || openssl x509 -in "$dir/node/pki/kubelet-client-current.pem" -noout -subject | sed 's/.*CN = //')"
is "the file's mode" 600 "$(stat -L -c %a "$dir/node/pki/kubelet-client-current.pem")"
serving() { kubectl get csr -o 'jsonpath={range .items[?(@.spec.signerName=="kubernetes.io/kubelet-serving")]}{.metadata.name}{end}' | grep .; }
waits serving
kubectl certificate approve "$(serving)" >/dev/null
serves() { openssl s_client -connect 192.0.2.10:10250 -CAfile "$dir/ca.crt" -verify_return_error -verify_ip 192.0.2.10 </dev/null; }
waits serves
is "why it is not ready" "KubeletNotReady" "$(kubectl get node booted -o 'jsonpath={.status.conditions[?(@.type=="Ready")].reason}')"
is "the lease" booted "$(kubectl -n kube-node-lease get lease booted -o 'jsonpath={.spec.holderIdentity}')"
[ $failures -eq 0 ] || { tail -n 20 "$dir/node.log"; exit 1; }
echo "all as it should be"
