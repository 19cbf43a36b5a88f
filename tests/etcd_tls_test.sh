#!/bin/sh
# etcd_tls_test.sh SAMPAN - an etcd that wants certificates, a user and a password, and a prefix of its own: with them the
# server works, also after the token of the user has ended; without them it says what is wrong.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
needs etcd etcdctl kubectl python3 openssl
pids=
at_end='for p in $pids; do kill -9 $p 2>/dev/null; done'
export ETCDCTL_API=3
set -- $(python3 -c 'import socket
s = [socket.socket() for _ in range(2)]
for x in s: x.bind(("127.0.0.1", 0))
print(*[x.getsockname()[1] for x in s])')
url=https://127.0.0.1:$1 peer=http://127.0.0.1:$2

# signed NAME USAGE - a key and a certificate of the authority.
signed() {
    openssl req -newkey rsa:2048 -nodes -keyout "$dir/$1.key" -out "$dir/$1.csr" -subj "/CN=$1" 2>/dev/null
    printf 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=%s\n' "$2" >"$dir/$1.ext"
    openssl x509 -req -in "$dir/$1.csr" -CA "$dir/etcd-ca.crt" -CAkey "$dir/etcd-ca.key" -CAcreateserial -days 2 \
        -extfile "$dir/$1.ext" -out "$dir/$1.crt" 2>/dev/null
}
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$dir/etcd-ca.key" -out "$dir/etcd-ca.crt" -days 2 -subj /CN=etcd-ca 2>/dev/null
signed server serverAuth,clientAuth
signed visitor clientAuth

start_etcd() {
    etcd --data-dir "$dir/etcd" --listen-client-urls "$url" --advertise-client-urls "$url" --listen-peer-urls "$peer" \
        --initial-advertise-peer-urls "$peer" --initial-cluster "default=$peer" --cert-file "$dir/server.crt" \
        --key-file "$dir/server.key" --trusted-ca-file "$dir/etcd-ca.crt" --client-cert-auth >"$dir/etcd.log" 2>&1 &
    etcd_pid=$!
    pids="$pids $etcd_pid"
}
c() { timeout 60 etcdctl --endpoints="$url" --cacert "$dir/etcd-ca.crt" --cert "$dir/visitor.crt" --key "$dir/visitor.key" "$@" 2>&1; }
start_etcd
waits eval 'c endpoint health >/dev/null'
c user add root:secret >/dev/null
c user grant-role root root >/dev/null
c user add tea:green >/dev/null
c role add tea >/dev/null
c role grant-permission tea readwrite --prefix=true /tea/ >/dev/null
c role grant-permission tea readwrite compact_rev_key >/dev/null
c user grant-role tea tea >/dev/null
c auth enable >/dev/null

tls="--etcd-servers $url --etcd-prefix /tea --etcd-cafile $dir/etcd-ca.crt --etcd-certfile $dir/visitor.crt --etcd-keyfile $dir/visitor.key"
has "no certificate" "etcd" "$(up --etcd-servers "$url" --etcd-prefix /tea --etcd-cafile "$dir/etcd-ca.crt" 2>&1; cat "$dir/a/sampan.log")"
has "no authority" "--etcd-cafile" "$(up --etcd-servers "$url" 2>&1; cat "$dir/a/sampan.log")"
has "a wrong password" "authentication failed" "$(SAMPAN_ETCD_USER=tea:black up $tls 2>&1; cat "$dir/a/sampan.log")"
has "no user" "etcdserver: " "$(up $tls 2>&1; tail -n 1 "$dir/a/sampan.log")"
has "flags that need another" "must be set" "$(up --etcd-prefix /tea 2>&1)"

echo tea:green >"$dir/user"
serve $tls --etcd-user-file "$dir/user"
check "it serves" "configmap/a created" "$(k create cm a)"
check "below its prefix" /tea/configmaps/default/a "$(c --user root:secret get --keys-only /tea/configmaps/default/a | head -1)"
# Simple tokens are known to the member that gave them alone, until it ends.
kill -9 $etcd_pid
wait $etcd_pid 2>/dev/null
start_etcd
waits eval 'k create cm "b-$(date +%N)" | grep -q created'
check "and reads" configmap/a "$(k get cm a -o name)"
finish
