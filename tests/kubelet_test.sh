#!/bin/sh
# kubelet_test.sh SAMPAN - the server's way to nodes and pods: logs, commands, proxies, by a node that is
# a small program here.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
node=
at_end='[ -z "$node" ] || kill $node 2>/dev/null'
needs python3
serve --store memory
api=/api/v1/namespaces/default
send() { admin -H 'Content-Type: application/json' -X "$1" "$server$2" -d "$3"; }
get() { admin "$server$1"; }

# ---- The node: says what it was asked, and by whom
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$dir/node.key" -out "$dir/node.crt" \
    -days 1 -subj /CN=node -addext subjectAltName=DNS:localhost 2>/dev/null
cat >"$dir/node.py" <<'P'
import http.server, ssl, sys, time
folder = sys.argv[1]
class Node(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *a): pass
    def answer(self, code, text):
        self.send_response(code)
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())
    def do_GET(self):
        cert = dict(x[0] for x in (self.connection.getpeercert() or {}).get('subject', ()))
        if self.path.startswith('/containerLogs/default/p/bad'):
            return self.answer(400, 'container "bad" in pod "p" is waiting to start: ContainerCreating')
        if self.path.startswith('/containerLogs/default/p/none'):
            return self.answer(404, 'gone')
        if self.path.startswith('/containerLogs/default/p/broken'):
            return self.answer(500, 'oh no')
        if 'follow=true' in self.path:
            self.send_response(200); self.send_header('Transfer-Encoding', 'chunked'); self.end_headers()
            for i in range(3):
                line = 'line %d\n' % i
                self.wfile.write(('%x\r\n%s\r\n' % (len(line), line)).encode()); self.wfile.flush()
                time.sleep(0.2)
            return self.wfile.write(b'0\r\n\r\n')
        if self.headers.get('Upgrade'):
            if 'refuse' in self.path:
                return self.answer(403, 'not here')
            self.close_connection = True
            self.connection.sendall(b'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n')
            self.connection.sendall(('asked for ' + self.path + '\n').encode())
            while True:
                data = self.connection.recv(100)
                if not data: return
                self.connection.sendall(b'heard ' + data)
        self.answer(200, '%s by %s of %s auth %s\n' % (self.path, cert.get('commonName'), cert.get('organizationName'), self.headers.get('Authorization')))
    do_POST = do_GET
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Node)
c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
c.load_cert_chain(folder + '/node.crt', folder + '/node.key')
c.load_verify_locations(folder + '/ca.crt')
c.verify_mode = ssl.CERT_REQUIRED
server.socket = c.wrap_socket(server.socket, server_side=True)
open(folder + '/port.new', 'w').write(str(server.server_address[1]))
import os; os.rename(folder + '/port.new', folder + '/port')
server.serve_forever()
P
python3 "$dir/node.py" "$dir" 2>"$dir/node.log" &
node=$!
waits test -f "$dir/port"
port=$(cat "$dir/port")
make_node() { # NAME PORT ADDRESSES
    send POST /api/v1/nodes '{"metadata":{"name":"'"$1"'"},"status":{"addresses":['"$3"'],"daemonEndpoints":{"kubeletEndpoint":{"Port":'"$2"'}}}}' >/dev/null
}
make_pod() { # NAME NODE
    send POST $api/pods '{"metadata":{"name":"'"$1"'"},"spec":{"nodeName":"'"$2"'","containers":[{"name":"c","image":"i"},
        {"name":"bad","image":"i"},{"name":"none","image":"i"},{"name":"broken","image":"i"}]}}' >/dev/null
}
make_all() {
    make_node n "$port" '{"type":"InternalIP","address":"192.0.2.1"},{"type":"Hostname","address":"localhost"}'
    make_node closed 1 '{"type":"Hostname","address":"127.0.0.1"}'
    make_node lost 1 '{"type":"Other","address":"x"}'
    make_node nowhere 1 '{"type":"InternalIP","address":"198.18.0.1"}'
    make_node unknown 1 '{"type":"Hostname","address":"no.such.host.invalid"}'
    for n in closed lost nowhere unknown missing; do make_pod on-$n $n; done
    make_pod p n
}
make_all

# ---- Logs
check "a log, by the server's certificate" \
    "/containerLogs/default/p/c by kube-apiserver-kubelet-client of system:masters auth None" "$(get "$api/pods/p/log?container=c")"
check "what is asked for is passed on" \
    "/containerLogs/default/p/c?limitBytes=9&previous=true&sinceSeconds=5&tailLines=3&timestamps=true by kube-apiserver-kubelet-client of system:masters auth None" \
    "$(get "$api/pods/p/log?container=c&tailLines=3&timestamps=true&previous=1&limitBytes=9&sinceSeconds=5")"
check "a log that is followed" "line 0 line 1 line 2" "$(get "$api/pods/p/log?container=c&follow=true" | tr '\n' ' ' | sed 's/ $//')"
check "by HTTP/1.1, too" "line 0 line 1 line 2" "$(admin --http1.1 "$server$api/pods/p/log?container=c&follow=true" | tr '\n' ' ' | sed 's/ $//')"
has "a container that waits" '"message": "container \"bad\" in pod \"p\" is waiting to start: ContainerCreating",' "$(get "$api/pods/p/log?container=bad&pretty=1")"
has "one that is not there" 'the server could not find the requested resource ( pods/log p)' "$(get "$api/pods/p/log?container=none")"
has "one that fails" 'Internal error occurred: oh no' "$(get "$api/pods/p/log?container=broken")"
has "a node that does not answer" 'Get \"https://127.0.0.1:1/containerLogs/default/on-closed/c\": dial tcp 127.0.0.1:1: connect: connection refused' \
    "$(get "$api/pods/on-closed/log?container=c")"
has "a node without an address" 'no preferred addresses found; known addresses: [{Other x}]' "$(get "$api/pods/on-lost/log?container=c")"
has "a node that is simulated is not dialled" 'connect: no route to host' "$(get "$api/pods/on-nowhere/log?container=c")"
has "a node whose name nobody knows" 'lookup no.such.host.invalid: no such host' "$(get "$api/pods/on-unknown/log?container=c")"
has "a node that is not there" 'pods \"missing\" not found' "$(get "$api/pods/on-missing/log?container=c")"

# ---- Commands
cat >"$dir/talk.py" <<'P'
import socket, ssl, sys
folder, host, port, path = sys.argv[1], '127.0.0.1', int(sys.argv[2]), sys.argv[3]
c = ssl.create_default_context(cafile=folder + '/ca.crt')
c.load_cert_chain(folder + '/admin.crt', folder + '/admin.key')
s = c.wrap_socket(socket.create_connection((host, port)), server_hostname='localhost')
s.settimeout(10)
s.sendall(('POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: test\r\nAuthorization: Basic x\r\n\r\n' % path).encode())
got = b''
def until(what):
    global got
    while what not in got:
        more = s.recv(1000)
        if not more: break
        got += more
until(b'\r\n\r\n')
if len(sys.argv) > 4:
    until(b'asked for')
    s.sendall(b'hello')
    until(b'heard hello')
print(got.decode())
P
talk() { python3 "$dir/talk.py" "$dir" "${server##*:}" "$@" 2>&1; }
has "a command needs an upgrade" 'Upgrade request required' "$(send POST "$api/pods/p/exec?container=c&command=ls" '')"
answer=$(talk "$api/pods/p/exec?container=c&command=ls&command=-l%20x&stdin=1&stdout=1&tty=1" yes)
has "the node switches" "101 Switching Protocols" "$answer"
has "what the node is asked" "asked for /exec/default/p/c?command=ls&command=-l%20x&input=1&output=1&tty=1" "$answer"
has "bytes go both ways" "heard hello" "$answer"
has "ports are forwarded" "asked for /portForward/default/p?port=80%2C81" "$(talk "$api/pods/p/portforward?ports=80&ports=81" yes)"
has "to attach" "asked for /attach/default/p/c?output=1" "$(talk "$api/pods/p/attach?container=c&stdout=1" yes)"
has "what the node refuses" "403 Forbidden" "$(talk "$api/pods/p/exec?container=c&command=refuse")"
has "a node that is not there" "error dialing backend: dial tcp 127.0.0.1:1: connect: connection refused" \
    "$(talk "$api/pods/on-closed/exec?container=c&command=ls"; admin --http1.1 -H 'Connection: Upgrade' -H 'Upgrade: x' -X POST "$server$api/pods/on-closed/exec?container=c&command=ls")"

# ---- Proxies
# k/k#136550: who may read through the proxy of a node may run nothing by it, by whatever path and protocol.
send POST /apis/rbac.authorization.k8s.io/v1/clusterroles '{"metadata":{"name":"look"},"rules":[{"apiGroups":[""],"verbs":["get"],"resources":["nodes/proxy"]}]}' >/dev/null
send POST /apis/rbac.authorization.k8s.io/v1/clusterrolebindings '{"metadata":{"name":"look"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"look"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"lou"}]}' >/dev/null
through() { # PATH [ARGUMENT...] - to the node, as lou
    path=$1
    shift
    admin -H 'Impersonate-User: lou' --path-as-is "$@" "$server/api/v1/nodes/n/proxy/$path" -w ' %{http_code}'
}
socket() { through "$1" --http1.1 -H 'Connection: Upgrade' -H "Upgrade: $2" -H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg=='; }
for path in exec/default/p/c?command=id attach/default/p/c portForward/default/p run/default/p/c?cmd=id cri/exec/x healthz ./exec/default/p/c; do
    for protocol in websocket SPDY/3.1; do
        has "$protocol to $path (k/k#136550)" 'User \"lou\" cannot create resource \"nodes/proxy\" in API group \"\" at the cluster scope' "$(socket "$path" $protocol)"
    done
done
check "reading is allowed, so the address is looked at" 400 "$(through healthz -o /dev/null | tr -d ' ')"
send PUT /apis/rbac.authorization.k8s.io/v1/clusterroles/look '{"metadata":{"name":"look"},"rules":[{"apiGroups":[""],"verbs":["get","create"],"resources":["nodes/proxy"]}]}' >/dev/null
has "and with the other verb, too" 'address not allowed' "$(socket exec/default/p/c websocket)"
has "no proxy to the server's own machine" 'address not allowed' "$(get /api/v1/nodes/n/proxy/healthz)"
has "nor by another port" 'address not allowed' "$(get "/api/v1/nodes/http:n:22/proxy/")"
has "nor to a pod that says so" 'address not allowed' "$(send PATCH "$api/pods/p/status" '' >/dev/null
    admin -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"status":{"podIP":"127.0.0.1","podIPs":[{"ip":"127.0.0.1"}]}}' "$server$api/pods/p/status" >/dev/null
    get "$api/pods/http:p:$port/proxy/x")"
has "a pod without an address" 'address not allowed' "$(get "$api/pods/on-n/proxy/x"; get "$api/pods/on-lost/proxy/x")"
has "no endpoints" 'no endpoints available for service \"kubernetes\"' "$(get $api/services/https:kubernetes:443/proxy/)"
has "no such port" 'no service port 1 found for service \"kubernetes\"' "$(get $api/services/kubernetes:1/proxy/)"
has "a name with too much in it" 'invalid pod request' "$(get $api/pods/a:b:c:d/proxy/)"
check "a folder" 301 "$(code admin "$server/api/v1/nodes/n/proxy")"

# ---- To a pod that is really there: on an address of this machine that is not loopback
ip=$(hostname -I 2>/dev/null | tr ' ' '\n' | grep -m1 '^[0-9.]*$')
if [ -n "$ip" ]; then
    cat >"$dir/pod.py" <<'P'
import http.server, os, sys
class Pod(http.server.BaseHTTPRequestHandler):
    def log_message(self, *a): pass
    def do_GET(self):
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0)).decode()
        self.send_response(302 if self.path == '/moved' else 200)
        if self.path == '/moved': self.send_header('Location', '/there')
        self.end_headers()
        self.wfile.write(('%s %s %s %s\n' % (self.command, self.path, body, self.headers.get('Authorization'))).encode())
    do_POST = do_OPTIONS = do_GET
    def do_HEAD(self):
        self.send_response(200)
        self.end_headers()
server = http.server.ThreadingHTTPServer((sys.argv[2], 0), Pod)
open(sys.argv[1] + '/pod.new', 'w').write(str(server.server_address[1]))
os.rename(sys.argv[1] + '/pod.new', sys.argv[1] + '/pod')
server.serve_forever()
P
    python3 "$dir/pod.py" "$dir" "$ip" &
    node="$node $!"
    waits test -f "$dir/pod"
    at=$(cat "$dir/pod")
    admin -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"status":{"podIP":"'"$ip"'","podIPs":[{"ip":"'"$ip"'"}]}}' "$server$api/pods/p/status" >/dev/null
    check "a pod" "GET /a%20b/c/?d=e  None" "$(get "$api/pods/p:$at/proxy/a%20b/c/?d=e")"
    check "with a body" "POST /x {} None" "$(send POST "$api/pods/http:p:$at/proxy/x" '{}')"
    has "its head alone" "200" "$(admin -I "$server$api/pods/p:$at/proxy/x")"
    check "what it can do" "OPTIONS /x  None" "$(admin -X OPTIONS "$server$api/pods/p:$at/proxy/x")"
    check "where it leads" "$api/pods/p:$at/proxy/there" \
        "$(admin -o /dev/null -D - "$server$api/pods/p:$at/proxy/moved" | tr -d '\r' | sed -n 's/^location: //p')"
    send POST $api/services '{"metadata":{"name":"s"},"spec":{"ports":[{"name":"web","port":80}]}}' >/dev/null
    send POST /apis/discovery.k8s.io/v1/namespaces/default/endpointslices '{"metadata":{"name":"s-1","labels":{"kubernetes.io/service-name":"s"}},
        "addressType":"IPv4","ports":[{"name":"web","port":'"$at"'}],"endpoints":[
        {"addresses":["192.0.2.7"],"targetRef":{"kind":"Pod","namespace":"default","name":"p"}},
        {"addresses":["'"$ip"'"],"targetRef":{"kind":"Pod","namespace":"default","name":"p"}}]}' >/dev/null
    for i in 1 2 3; do
        check "a service, by its port's name" "GET /x  None" "$(get $api/services/s:web/proxy/x)"
        check "and by its number, never to what is no pod's" "GET /x  None" "$(get $api/services/http:s:80/proxy/x)"
    done
fi
# ---- Nodes whose certificates are looked at
again() { # OPTION... - a new server, which knows nothing
    "$sampan" down --data-dir "$dir/a" >/dev/null
    up --store memory "$@" >/dev/null || give_up
    connect
    make_all
}
again --kubelet-certificate-authority "$dir/node.crt"
has "one that is believed" "by kube-apiserver-kubelet-client" "$(get "$api/pods/p/log?container=c")"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$dir/other.key" -out "$dir/other.crt" \
    -days 1 -subj /CN=other 2>/dev/null
again --kubelet-certificate-authority "$dir/other.crt"
has "one that is not" "certificate" "$(get "$api/pods/p/log?container=c")"
has "unless the client does not mind" "by kube-apiserver-kubelet-client" "$(get "$api/pods/p/log?container=c&insecureSkipTLSVerifyBackend=true")"
again --kubelet-preferred-address-types InternalIP --kubelet-client-certificate "$dir/other.crt" --kubelet-client-key "$dir/other.key"
has "another address is preferred" 'https://198.18.0.1:1/' "$(get "$api/pods/on-nowhere/log?container=c")"
has "another certificate, which the node does not believe" "read: connection reset by peer" "$(make_node last "$port" '{"type":"InternalIP","address":"127.0.0.1"}'; make_pod q last; get "$api/pods/q/log?container=c")"
check "a key without a certificate" "sampan up: --kubelet-client-certificate and --kubelet-client-key must be set together" \
    "$("$sampan" up --data-dir "$dir/b" --kubelet-client-key "$dir/other.key" 2>&1 | head -1)"
finish
