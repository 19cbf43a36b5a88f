#!/bin/sh
# dropin_test.sh SAMPAN - links named kube-apiserver and etcd, started as envtest and kubeadm start them: certificates, flags
# and files are theirs; what answers is ours.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
needs etcdctl kubectl openssl curl python3
pids=
at_end='for p in $pids; do kill -9 $p 2>/dev/null; done; wait 2>/dev/null'
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
assets=$dir/bin

# ---- The folder of programs ----
check "a folder of programs" "export KUBEBUILDER_ASSETS=$assets" "$("$sampan" assets "$assets")"
check "has all three" "etcd kube-apiserver kubectl" "$(ls "$assets" | xargs)"
check "is made again" 0 "$("$sampan" assets "$assets" >/dev/null; echo $?)"
check "without a kubectl it says so" "sampan assets: there is no kubectl on the PATH; suites that call it will fail" \
    "$(PATH=/nowhere "$(realpath "$sampan")" assets "$dir/less" 2>&1 >/dev/null)"
rm "$assets/etcd"; echo mine >"$assets/etcd"
has "what is no link stays" "is no link" "$("$sampan" assets "$assets" 2>&1)"
check "as it was" mine "$(cat "$assets/etcd")"
rm "$assets/etcd"
"$sampan" assets "$assets" >/dev/null

# ---- What they say of themselves ----
check "the help" 0 "$("$assets/kube-apiserver" --help >"$dir/help"; echo $?)"
has "a flag a line" "--etcd-servers" "$(grep -E '^ *--etcd-servers$' "$dir/help")"
check "no insecure port is offered" "" "$(grep -- --insecure-port "$dir/help")"
has "a version" "Kubernetes v1." "$("$assets/kube-apiserver" --version)"
check "a port must be one" 2 "$("$assets/kube-apiserver" --secure-port=0 2>/dev/null; echo $?)"

# ---- Certificates, as envtest makes them: three authorities of one name ----
authority() { # FILE
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /O=envtest/CN=envtest-environment \
        -addext basicConstraints=critical,CA:TRUE -keyout "$1.key" -out "$1.crt" 2>/dev/null
}
leaf() { # FILE AUTHORITY SUBJECT USAGE NAMES
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "$3" -keyout "$1.key" -out "$1.csr" 2>/dev/null
    printf 'extendedKeyUsage=%s\n%s\n' "$4" "${5:+subjectAltName=$5}" >"$1.ext"
    openssl x509 -req -in "$1.csr" -CA "$2.crt" -CAkey "$2.key" -set_serial 1 -days 2 -extfile "$1.ext" -out "$1.crt" 2>/dev/null
}
certs=$dir/certs
mkdir -m 700 "$certs"
authority "$dir/serving"
authority "$dir/client"
authority "$certs/sa-signer"
cp "$dir/client.crt" "$certs/client-cert-auth-ca.crt"
leaf "$certs/apiserver" "$dir/serving" /O=envtest/CN=localhost serverAuth DNS:localhost,IP:127.0.0.1
leaf "$dir/boss" "$dir/client" /O=system:masters/CN=boss clientAuth
leaf "$dir/guest" "$dir/client" /CN=guest clientAuth

# start [FLAG...] - as envtest does it, on $port; $pid.
start() {
    "$assets/kube-apiserver" --allow-privileged=true --authorization-mode=RBAC --bind-address=127.0.0.1 \
        --cert-dir="$certs" --client-ca-file="$certs/client-cert-auth-ca.crt" --disable-admission-plugins=ServiceAccount \
        --etcd-servers="http://127.0.0.1:$etcd_port" --secure-port="$port" --service-account-issuer="https://127.0.0.1:$port/" \
        --service-account-key-file="$certs/sa-signer.crt" --service-account-signing-key-file="$certs/sa-signer.key" \
        --service-cluster-ip-range=10.0.0.0/24 "$@" >"$dir/out" 2>"$dir/log" &
    pid=$!
    pids="$pids $pid"
    waits healthy || { cat "$dir/log"; exit 1; }
}
healthy() { [ "$(curl -sk -o /dev/null -w '%{http_code}' "https://127.0.0.1:$port/healthz")" = 200 ]; }
stop() { kill "$1"; wait "$1"; }
as() { who=$1; shift; kubectl --server "https://127.0.0.1:$port" --certificate-authority "$dir/serving.crt" --cache-dir "$dir/cache" \
    --client-certificate "$dir/$who.crt" --client-key "$dir/$who.key" "$@" 2>&1; }

etcd_port=$(free_port) port=$(free_port)
"$assets/etcd" --advertise-client-urls="http://127.0.0.1:$etcd_port" --listen-client-urls="http://127.0.0.1:$etcd_port" \
    --listen-peer-urls=http://127.0.0.1:0 --data-dir="$dir/etcd" >/dev/null 2>&1 &
etcd=$!
pids="$pids $etcd"
etcd_healthy() { [ "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$etcd_port/health")" = 200 ]; }
waits etcd_healthy

start "" --insecure-port=0 --tea=green --cups=3 --feature-gates=Tea=true --runtime-config=api/all=true
check "unknown flags are named, once" "sampan kube-apiserver: flags that mean nothing here: --tea, --cups" "$(grep 'mean nothing' "$dir/log")"
check "the server shows the certificate that it was given" "verified" \
    "$(curl -s --cacert "$dir/serving.crt" -o /dev/null "https://127.0.0.1:$port/version" && echo verified)"
check "a master may do all" "yes" "$(as boss auth can-i '*' '*')"
check "who has no role may not" "no" "$(as guest auth can-i list pods)"
as boss create clusterrolebinding guests --clusterrole=view --user=guest >/dev/null
check "with a role he may" "yes" "$(as guest auth can-i list pods)"
check "the service is there" "10.0.0.1" "$(as boss get service kubernetes -o 'jsonpath={.spec.clusterIP}')"
check "no pod needs an account" "pod/p created" "$(as boss run p --image=i)"
as boss create serviceaccount robot >/dev/null
token=$(as boss create token robot)
check "tokens are of the issuer" "https://127.0.0.1:$port/" \
    "$(printf %s "$token" | cut -d. -f2 | python3 -c 'import base64, json, sys; t = sys.stdin.read().strip(); print(json.loads(base64.urlsafe_b64decode(t + "=" * (-len(t) % 4)))["iss"])')"
check "and believed" system:serviceaccount:default:robot \
    "$(kubectl --server "https://127.0.0.1:$port" --certificate-authority "$dir/serving.crt" --token "$token" auth whoami -o 'jsonpath={.status.userInfo.username}' 2>&1)"
check "without controllers a namespace stays" "Terminating" \
    "$(as boss create namespace gone >/dev/null; as boss delete namespace gone --wait=false >/dev/null; as boss get namespace gone -o 'jsonpath={.status.phase}')"
check "its own admin gets in, too" "ok" "$(kubectl --kubeconfig "$certs/sampan/admin.kubeconfig" get --raw /readyz 2>&1)"
has "and makes kubeconfigs that work" "kube-system" \
    "$("$sampan" kubeconfig --data-dir "$certs/sampan" --user mate --group system:masters --output "$dir/mate" && kubectl --kubeconfig "$dir/mate" get namespaces 2>&1)"
has "objects are in the etcd" "/registry/serviceaccounts/default/robot" \
    "$(ETCDCTL_API=3 etcdctl --endpoints "127.0.0.1:$etcd_port" get --prefix --keys-only /registry/serviceaccounts 2>&1)"
# A watch that is open does not hold up the end.
as boss get namespaces --watch >"$dir/watched" &
watch=$!
pids="$pids $watch"
waits grep -q kube-system "$dir/watched"
stop $pid
check "it ends when it is told to" 0 $?

# The same port again, with controllers.
SAMPAN_CONTROLLERS=1 start
check "objects are still there" "serviceaccount/robot" "$(as boss get serviceaccount robot -o name)"
check "with controllers a namespace goes" 0 "$(as boss wait --for=delete namespace/gone --timeout=60s >/dev/null; echo $?)"
as boss create deployment d --image=i >/dev/null
pods() { [ "$(as boss get pods -l app=d -o name | wc -l)" = "$1" ]; }
waits pods 1
check "nobody gives pods a node" "" "$(as boss get pods -l app=d -o 'jsonpath={.items[*].spec.nodeName}')"
as boss delete deployment d >/dev/null
waits pods 0
check "pods are told of the authority" 0 \
    "$(as boss get configmap kube-root-ca.crt -o 'jsonpath={.data.ca\.crt}' >"$dir/root"; curl -s --cacert "$dir/root" -o /dev/null "https://127.0.0.1:$port/version"; echo $?)"
stop $pid

# What is to be kept is kept, with kubeadm's way of naming the certificate.
SAMPAN_STORE=lmdb start --tls-cert-file="$certs/apiserver.crt" --tls-private-key-file="$certs/apiserver.key"
as boss create configmap kept >/dev/null
stop $pid
SAMPAN_STORE=lmdb start --tls-cert-file="$certs/apiserver.crt" --tls-private-key-file="$certs/apiserver.key"
check "objects are there after a restart" "configmap/kept" "$(as boss get configmap kept -o name)"
# A certificate that was replaced is shown after SIGHUP.
leaf "$certs/apiserver" "$dir/serving" /CN=second serverAuth DNS:localhost,IP:127.0.0.1
kill -HUP $pid
is_second() { curl -svk "https://127.0.0.1:$port/version" 2>&1 | grep -q 'subject: CN=second'; }
waits is_second
stop $pid
stop $etcd
check "etcd ends, too" 0 $?
check "no sanitizer complains" "" "$(grep -A 20 Sanitizer: "$dir/log")"
finish
