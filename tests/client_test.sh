#!/bin/sh
# client_test.sh SAMPAN VISIT STREAMS - the library against a real control plane: over TLS and HTTP/2, over HTTP/1.1 where
# the server has no other, through proxies, with another name in the certificate, with credentials of every sort, and
# streams to a pod. With SAMPAN_KUBECONFIG it also visits that cluster.
set -u
sampan=$1
visit=$2
streams=$3
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"

pids=
at_end='kill $pids 2>/dev/null'
up >/dev/null || exit 1
connect
kubeconfig=$dir/a/admin.kubeconfig
address=${server#https://}

front() { # MODE: starts it and sets $port
    python3 "$here/client/fronts.py" "$1" "$address" "$dir" &
    pids="$pids $!"
    for _ in $(seq 200); do
        test -s "$dir/$1.port" && break
        sleep 0.05
    done
    port=$(cat "$dir/$1.port")
}

check "directly" visited "$("$visit" --kubeconfig "$kubeconfig" direct)"
check "in protobuf" visited "$("$visit" --kubeconfig "$kubeconfig" --protobuf proto)"
check "without compression" visited "$("$visit" --kubeconfig "$kubeconfig" --disable-compression plain)"

# CVE-2019-11243: an anonymous copy of a configuration sends nobody's credentials.
nobody() { "$visit" "$@" --anonymous nobody 2>&1; }
accounts=$server/api/v1/namespaces/default/serviceaccounts
send() { admin -A test -H 'Content-Type: application/json' "$@"; }
send "$accounts" -d '{"metadata":{"name":"robot"}}' >/dev/null
token=$(send "$accounts/robot/token" -d '{}' | sed -n 's/.*"token":"\([^"]*\)".*/\1/p')
has "without its certificate" 'User "system:anonymous" cannot get path "/api"' "$(nobody --kubeconfig "$kubeconfig")"
has "without an impersonation" 'User "system:anonymous" cannot get path "/api"' "$(nobody --kubeconfig "$kubeconfig" --as jane)"
has "a token is somebody's" 'User "system:serviceaccount:default:robot" cannot create' \
    "$("$visit" --server "$server" --certificate-authority "$dir/ca.crt" --token "$token" somebody 2>&1)"
has "without a token" 'User "system:anonymous" cannot get path "/api"' \
    "$(nobody --server "$server" --certificate-authority "$dir/ca.crt" --token "$token")"
has "without a password" 'User "system:anonymous" cannot get path "/api"' \
    "$(nobody --server "$server" --certificate-authority "$dir/ca.crt" --username u --password p)"

if command -v python3 >/dev/null; then
    # HTTP/2: everything goes over one connection, calls, watches and informers.
    front tcp
    check "through a forwarder" visited "$("$visit" --kubeconfig "$kubeconfig" --server "https://127.0.0.1:$port" forwarded)"
    check "one connection for all, and one for a stream" 2 "$(grep -c connection "$dir/tcp.log")"

    # A server without HTTP/2
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$dir/front.key" -out "$dir/front.crt" \
        -days 2 -subj /CN=front -addext subjectAltName=IP:127.0.0.1,DNS:front.example 2>/dev/null
    front http1
    cat >"$dir/http1.kubeconfig" <<END
apiVersion: v1
kind: Config
current-context: c
clusters:
- name: c
  cluster: {server: "https://127.0.0.1:$port", certificate-authority: front.crt}
users:
- name: u
contexts:
- name: c
  context: {cluster: c, user: u}
END
    check "over HTTP/1.1" visited "$("$visit" --kubeconfig "$dir/http1.kubeconfig" http1)"
    has "and it was HTTP/1.1" "HTTP/1.1" "$(head -1 "$dir/http1.log")"
    check "and nothing else" 0 "$(grep -vc 'HTTP/1.1$' "$dir/http1.log")"

    # A proxy, which leads to the server whatever it is called; its certificate knows better.
    front connect
    check "through a proxy" visited "$("$visit" --kubeconfig "$kubeconfig" --proxy-url "http://127.0.0.1:$port" proxied)"
    has "the proxy was asked" "CONNECT $address" "$(cat "$dir/connect.log")"
    elsewhere="--kubeconfig $kubeconfig --proxy-url http://127.0.0.1:$port --server https://elsewhere.example:443"
    has "another name is refused" "hostname mismatch" "$("$visit" $elsewhere --request-timeout 5s named)"
    check "unless the certificate's is told" visited "$("$visit" $elsewhere --tls-server-name localhost named)"
    has "the proxy was asked for that" "CONNECT elsewhere.example:443" "$(cat "$dir/connect.log")"
    : >"$dir/connect.log"
    check "by the environment" visited \
        "$(HTTPS_PROXY=127.0.0.1:$port "$visit" --kubeconfig "$kubeconfig" --server https://elsewhere.example:443 \
            --tls-server-name localhost environment)"
    check "one tunnel for all, and one for a stream" "2 CONNECT elsewhere.example:443 HTTP/1.1" \
        "$(sort "$dir/connect.log" | uniq -c | xargs)"
    check "which is not for this machine" visited "$(HTTPS_PROXY=127.0.0.1:1 "$visit" --kubeconfig "$kubeconfig" near)"

    # A proxy with TLS of its own, whose authority is the cluster's
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$dir/proxy.key" -out "$dir/proxy.csr" \
        -subj /CN=proxy 2>/dev/null
    echo subjectAltName=DNS:localhost >"$dir/proxy.ext"
    openssl x509 -req -in "$dir/proxy.csr" -CA "$dir/a/pki/ca.crt" -CAkey "$dir/a/pki/ca.key" -CAcreateserial -days 2 \
        -extfile "$dir/proxy.ext" -out "$dir/proxy.crt" 2>/dev/null
    front connects
    check "through a proxy with TLS" visited "$("$visit" --kubeconfig "$kubeconfig" --proxy-url "https://localhost:$port" tls)"
    check "was asked once for all, and once for a stream: that is HTTP/2" 2 "$(grep -c "CONNECT $address" "$dir/connects.log")"
    has "one whose name is another" 'the proxy: TLS handshake: ' \
        "$("$visit" --kubeconfig "$kubeconfig" --proxy-url "https://127.0.0.1:$port" --request-timeout 5s other 2>&1)"
    check "nor was it asked for anything" 2 "$(grep -c CONNECT "$dir/connects.log")"
    sed 's/certificate-authority-data: .*/insecure-skip-tls-verify: true/' "$kubeconfig" >"$dir/insecure.kubeconfig"
    check "unless anybody is believed" visited "$("$visit" --kubeconfig "$dir/insecure.kubeconfig" --proxy-url "https://127.0.0.1:$port" insecure 2>&1)"

    # A SOCKS proxy, which looks names up itself
    front socks5
    elsewhere="--kubeconfig $kubeconfig --server https://elsewhere.example:443 --tls-server-name localhost"
    check "through a SOCKS proxy" visited "$("$visit" $elsewhere --proxy-url "socks5://joe:pw@127.0.0.1:$port" socks)"
    check "once for all, and once for a stream" "2 SOCKS elsewhere.example:443" "$(sort "$dir/socks5.log" | uniq -c | xargs)"
    has "with another password" "the proxy refuses the user name and password" \
        "$("$visit" $elsewhere --proxy-url "socks5://joe:no@127.0.0.1:$port" --request-timeout 5s socks)"
    has "without one" "the proxy wants to know who asks" \
        "$("$visit" $elsewhere --proxy-url "socks5://127.0.0.1:$port" --request-timeout 5s socks)"

    # Commands, logs and ports of a pod: from the library by the server to a node that has them.
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$dir/node.key" -out "$dir/node.crt" \
        -days 2 -subj /CN=node -addext subjectAltName=DNS:localhost 2>/dev/null
    python3 "$here/client/node.py" "$dir" 2>"$dir/node.log" &
    pids="$pids $!"
    waits test -s "$dir/node.port"
    make_object() { admin -H 'Content-Type: application/json' "$server/api/v1/$1" -d "$2" >/dev/null; }
    make_object nodes '{"metadata":{"name":"n"},"status":{"addresses":[{"type":"Hostname","address":"localhost"}],
        "declaredFeatures":["ExtendWebSocketsToKubelet"],"daemonEndpoints":{"kubeletEndpoint":{"Port":'"$(cat "$dir/node.port")"'}}}}'
    make_object namespaces/default/pods '{"metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}'
    python3 - "$dir" <<'END' &
import os, socket, sys
listener = socket.create_server(("127.0.0.1", 0))
with open(f"{sys.argv[1]}/echo.new", "w") as f:
    f.write(str(listener.getsockname()[1]))
os.rename(f"{sys.argv[1]}/echo.new", f"{sys.argv[1]}/echo.port")
while True:
    conn = listener.accept()[0]
    while piece := conn.recv(4096):
        conn.sendall(piece)
END
    pids="$pids $!"
    waits test -s "$dir/echo.port"
    check "streams to a pod" "out=one|two| err=done| code=0
out= err= code=3 command terminated with non-zero exit code: 3
log=line 0|line 1|line 2|
port=hello port complaint=[Errno 111] Connection refused" \
        "$("$streams" --kubeconfig "$kubeconfig" default p "$(cat "$dir/echo.port")")"
else
    skip "no python3"
fi

# Credentials: a token, one in a file, one that a plugin knows, and the account of a pod. Cluster and user are in two files.
send() { admin -H 'Content-Type: application/json' "$server$1" -d "$2"; }
account=/api/v1/namespaces/default/serviceaccounts
send $account '{"metadata":{"name":"visitor"}}' >/dev/null
send /apis/rbac.authorization.k8s.io/v1/clusterrolebindings '{"metadata":{"name":"visitor"},
    "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"},
    "subjects":[{"kind":"ServiceAccount","name":"visitor","namespace":"default"}]}' >/dev/null
token=$(send $account/visitor/token '{"spec":{}}' | sed -n 's/.*"token": *"\([^"]*\)".*/\1/p')
echo "$token" >"$dir/token"
cat >"$dir/plugin" <<END
#!/bin/sh
printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}' "\$(cat "$dir/token")"
END
chmod +x "$dir/plugin"
cat >"$dir/cluster.kubeconfig" <<END
clusters: [{name: c, cluster: {server: "$server", certificate-authority: ca.crt}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
END
as() { # USER NAMESPACE: a visit by what the second file says of the user
    echo "users: [{name: u, user: {$1}}]" >"$dir/user.kubeconfig"
    KUBECONFIG=$dir/cluster.kubeconfig:$dir/user.kubeconfig "$visit" "$2"
}
has "nobody in particular" "forbidden" "$(as "" nobody)"
check "by a token" visited "$(as "token: '$token'" token)"
check "by a token in a file" visited "$(as "tokenFile: token" file)"
check "by a plugin" visited \
    "$(as "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin, interactiveMode: Never}" plugin)"
pod='mount -t tmpfs none /run && cd /run && mkdir -p secrets/kubernetes.io/serviceaccount &&
    cd secrets/kubernetes.io/serviceaccount && cp "$0/token" "$0/ca.crt" . && exec "$1" pod'
if [ /var/run -ef /run ] && unshare -m true 2>/dev/null; then
    check "as a pod" visited "$(env -u KUBECONFIG HOME=/nowhere KUBERNETES_SERVICE_HOST=127.0.0.1 \
        KUBERNETES_SERVICE_PORT="${address##*:}" unshare -m sh -c "$pod" "$dir" "$(realpath "$visit")" 2>&1)"
else
    skip "no mount namespace can be made here"
fi

has "nobody there" "Connection refused" "$("$visit" --kubeconfig "$kubeconfig" --server https://127.0.0.1:1 --request-timeout 1s none)"
if [ -n "${SAMPAN_KUBECONFIG:-}" ]; then
    check "the cluster of SAMPAN_KUBECONFIG" visited "$("$visit" --kubeconfig "$SAMPAN_KUBECONFIG" "visit-$$")"
fi
finish
