#!/bin/sh
# dns_test.sh SAMPAN - `sampan dns` with dig: names of services, endpoints and pods as they come and go, names of others by
# another name server, which is a second one of ours, both protocols, and what no client should send.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
needs dig kubectl python3

pids=
at_end='kill $pids 2>/dev/null; wait 2>/dev/null'
serve_everything --simulate-nodes 1
start_dns() { # NAME OPTION...: sets $port
    name=$1
    shift
    "$sampan" dns --kubeconfig "$dir/a/admin.kubeconfig" --listen 127.0.0.1:0 --resolv-conf "" "$@" 2>"$dir/$name.log" &
    pids="$pids $!"
    waits grep -q "names are served" "$dir/$name.log"
    port=$(sed -n 's/.*names are served address=[0-9.]*:\([0-9]*\).*/\1/p' "$dir/$name.log")
}
start_dns other --domain other.test
other=$port
start_dns ours --upstream "127.0.0.1:$other"
ask() { dig +short +time=5 +tries=2 @127.0.0.1 -p "$port" "$@" | sort | tr '\n' ' '; }
status() { dig +time=5 +tries=2 @127.0.0.1 -p "$port" "$@" | sed -n 's/.*status: \([A-Z]*\),.*/\1/p'; }
gives() { [ "$(ask "$2" "$3")" = "$1 " ]; }

# ---- Services
check "the server's own" "$(k get service kubernetes -o jsonpath='{.spec.clusterIP}') " "$(ask kubernetes.default.svc.cluster.local A)"
check "by port" "0 100 443 kubernetes.default.svc.cluster.local. " "$(ask _https._tcp.kubernetes.default.svc.cluster.local SRV)"
check "back to the name" "kubernetes.default.svc.cluster.local. " "$(ask -x "$(k get service kubernetes -o jsonpath='{.spec.clusterIP}')")"
check "nobody" NXDOMAIN "$(status nobody.default.svc.cluster.local A)"
check "nothing of that type" NOERROR "$(status kubernetes.default.svc.cluster.local TXT)"
has "for how long that is so" "ns.dns.cluster.local. hostmaster.cluster.local. 1 7200 1800 86400 30" \
    "$(dig @127.0.0.1 -p "$port" nobody.default.svc.cluster.local A)"
check "the version" '"1.1.0" ' "$(ask dns-version.cluster.local TXT)"
k create service clusterip web --tcp=80:80 >/dev/null
address=$(k get service web -o jsonpath='{.spec.clusterIP}')
waits gives "$address" web.default.svc.cluster.local A
k delete service web >/dev/null
forgets() { [ "$(status web.default.svc.cluster.local A)" = NXDOMAIN ]; }
waits forgets

# ---- Headless, with pods of a StatefulSet
k apply -f - >/dev/null <<END
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {clusterIP: None, selector: {app: db}, ports: [{name: pg, port: 5432}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: pg, image: postgres}]}
END
k rollout status statefulset/db --timeout=60s >/dev/null
first=$(k get pod db-0 -o jsonpath='{.status.podIP}')
second=$(k get pod db-1 -o jsonpath='{.status.podIP}')
waits gives "$(printf '%s\n%s\n' "$first" "$second" | sort | tr '\n' ' ' | sed 's/ $//')" db.default.svc.cluster.local A
check "one of them" "$second " "$(ask db-1.db.default.svc.cluster.local A)"
check "their ports" "0 50 5432 db-0.db.default.svc.cluster.local. 0 50 5432 db-1.db.default.svc.cluster.local. " \
    "$(ask _pg._tcp.db.default.svc.cluster.local SRV)"
check "and back" "db-0.db.default.svc.cluster.local. " "$(ask -x "$first")"
k scale statefulset/db --replicas 1 >/dev/null
waits gives "$first" db.default.svc.cluster.local A
check "a pod by its address" "10.1.2.3 " "$(ask 10-1-2-3.default.pod.cluster.local A)"

# ---- Names of others
k create service externalname out --external-name kubernetes.default.svc.other.test >/dev/null
waits gives "$(k get service kubernetes -o jsonpath='{.spec.clusterIP}') kubernetes.default.svc.other.test." out.default.svc.cluster.local A
check "by another server" "$(k get service kubernetes -o jsonpath='{.spec.clusterIP}') " "$(ask kubernetes.default.svc.other.test A)"
check "over TCP" "$(k get service kubernetes -o jsonpath='{.spec.clusterIP}') " "$(ask +tcp kubernetes.default.svc.other.test A)"
check "that does not know it either" REFUSED "$(status www.example.com A)"
check "and says that there is none" NXDOMAIN "$(status nobody.default.svc.other.test A)"

# ---- Many endpoints do not fit into a packet
python3 - >"$dir/many.json" <<'END'
import json
print(json.dumps({"apiVersion": "v1", "kind": "List", "items": [
    {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "many"}, "spec": {"clusterIP": "None"}},
    {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
     "metadata": {"name": "many-1", "labels": {"kubernetes.io/service-name": "many"}},
     "endpoints": [{"addresses": ["198.18.1.%d" % i]} for i in range(100)]}]}))
END
k apply -f "$dir/many.json" >/dev/null
all_of() { [ "$(dig +short @127.0.0.1 -p "$port" many.default.svc.cluster.local A | wc -l)" = 100 ]; }
waits all_of
has "the packet says that it is cut off" " tc " \
    "$(dig +ignore +noedns @127.0.0.1 -p "$port" many.default.svc.cluster.local A | sed 's/;/ ; /g')"
check "which it is" 1 "$(dig +ignore +noedns +short @127.0.0.1 -p "$port" many.default.svc.cluster.local A | awk 'END { print (NR > 10 && NR < 40) }')"

# ---- What no client should send, while others are served
python3 - "$port" <<'END'
import random, socket, struct, sys
port = int(sys.argv[1])
random.seed(7)
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
question = b"\x12\x34\x01\0\0\1\0\0\0\0\0\0\x0akubernetes\7default\3svc\7cluster\5local\0\0\1\0\1"
for i in range(3000):
    packet = bytearray(question)
    for _ in range(random.randrange(1, 8)):
        packet[random.randrange(len(packet))] = random.randrange(256)
    udp.sendto(packet[:random.randrange(len(packet) + 1)], ("127.0.0.1", port))
conns = []
for i in range(300):  # more than it holds: half a question each
    c = socket.create_connection(("127.0.0.1", port))
    c.send(struct.pack(">H", len(question)) + question[:10])
    conns.append(c)
greedy = socket.create_connection(("127.0.0.1", port))  # asks and never reads
greedy.settimeout(1)
try:
    for i in range(200000):
        greedy.send(struct.pack(">H", len(question)) + question)
except socket.timeout:
    pass
udp.settimeout(10)
bystander = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
bystander.settimeout(20)
bystander.sendto(question, ("127.0.0.1", port))
assert bystander.recv(512)[:2] == b"\x12\x34"
print("a bystander is served")
END
check "a bystander is served" 0 $?
check "it still knows" "$(k get service kubernetes -o jsonpath='{.spec.clusterIP}') " "$(ask +tcp kubernetes.default.svc.cluster.local A)"

# ---- Without anybody to ask
start_dns lonely --upstream 127.0.0.1:1
check "nobody answers" SERVFAIL "$(dig +time=20 +tries=1 @127.0.0.1 -p "$port" www.example.com A | sed -n 's/.*status: \([A-Z]*\),.*/\1/p')"
has "an address that is none" "is no address of a name server" \
    "$("$sampan" dns --kubeconfig "$dir/a/admin.kubeconfig" --upstream tea 2>&1)"

kill $pids
for pid in $pids; do
    wait "$pid"
    check "it ends in good order" 0 $?
done
pids=
check "no sanitizer complains" "" "$(cat "$dir"/*.log | grep -A 20 Sanitizer:)"
finish
