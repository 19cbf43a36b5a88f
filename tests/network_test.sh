#!/bin/sh
# network_test.sh SAMPAN CONTROLLER EXAMPLE - the Network example on a real server: bridges, addresses,
# NAT and CNI files, in a network namespace of its own. Pods are namespaces on veth pairs.
set -u
if [ "${IN_SPACE-}" != yes ]; then
    for as in '' r; do # as root, or as somebody who may be root inside
        unshare -${as}nmpf --mount-proc true 2>/dev/null || continue
        exec env IN_SPACE=yes unshare -${as}nmpf --mount-proc --kill-child sh "$0" "$@"
    done
    echo "skipped: no network namespace can be made here"
    exit 77
fi
PATH=$PATH:/usr/sbin:/sbin
for tool in ip nft ping python3; do
    command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
sampan=$1
controller=$2
example=$3
. "$(dirname "$0")/common.sh"
mount -t tmpfs none /run # where `ip netns` keeps its names
ip link set lo up

# ---- Helpers

waits() { # COMMAND... - until it succeeds; the time only guards against hanging
    for _ in $(seq 400); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.05
    done
    return 1
}
# becomes NAME EXPECTED COMMAND... - what it prints, in the end
becomes() {
    name=$1 expected=$2
    shift 2
    waits says "$expected" "$@"
    check "$name" "$expected" "$("$@" 2>&1)"
}
says() { expected_=$1; shift; [ "$("$@" 2>&1)" = "$expected_" ]; }
not() { ! "$@"; }

all=/apis/samplecrd.k8s.io/v1/namespaces/default/networks
apply() { # PATH - of what is on standard input
    admin -H 'Content-Type: application/apply-patch+yaml' -X PATCH --data-binary @- \
        "$server$1?fieldManager=test&force=true"
}
network() { # NAME CIDR GATEWAY [MORE OF SPEC]
    echo "{apiVersion: samplecrd.k8s.io/v1, kind: Network, metadata: {name: $1}, spec: {cidr: $2, gateway: $3${4:+, $4}}}" |
        apply "$all/$1" >/dev/null
}
patch() { admin -H 'Content-Type: application/merge-patch+json' -X PATCH "$server$all/$1" -d "$2" >/dev/null; }
delete() { admin -X DELETE "$server$all/$1" >/dev/null; }
exists() { [ "$(code admin "$server$all/$1")" = 200 ]; }
# Parts of a network as words: ready "True NetworkReady", conflict, bridge, generation, ...
part() { # NAME PYTHON - where o is the object and cond(TYPE) a condition
    admin "$server$all/$1" | python3 -c '
import json, sys
o = json.load(sys.stdin)
def cond(t):
    for c in o.get("status", {}).get("conditions", []):
        if c["type"] == t:
            return c["status"] + " " + c["reason"]
print('"$2"')'
}
ready() { part "$1" 'cond("Ready")'; }
conflict() { part "$1" 'cond("Conflict")'; }
bridge_of() { part "$1" 'o["status"]["bridge"]'; }
events() { # NAME - reasons, each once
    admin "$server/api/v1/namespaces/default/events" | python3 -c '
import json, sys
print(*sorted({e["reason"] for e in json.load(sys.stdin)["items"] if e["involvedObject"]["name"] == "'"$1"'"}))'
}
addresses() { ip -o addr show dev "$1" 2>/dev/null | grep -v fe80 | awk '{print $4}' | xargs; }
bridges() { ip -o link show type bridge | wc -l; }
rules() { nft list ruleset 2>/dev/null | grep -c masquerade; }

kubeconfig=$dir/a/admin.kubeconfig
resync=0 # whatever is noticed is told by the kernel
start() { # [COMMAND...] - the controller, under it
    "$@" "$controller" --kubeconfig "$kubeconfig" --cni-dir "$dir/cni" --resync $resync >>"$dir/log" 2>&1 &
    pid=$!
}
ends() { kill "-$1" $pid 2>/dev/null; wait $pid 2>/dev/null; }

pod() { # NAME BRIDGE ADDRESS/LEN GATEWAY
    ip netns add "$1"
    ip link add "v-$1" type veth peer name eth0 netns "$1"
    ip link set "v-$1" master "$2" up
    ip -n "$1" addr add "$3" dev eth0
    ip -n "$1" link set eth0 up
    ip -n "$1" route add default via "$4"
}
reaches() { ip netns exec "$1" ping -q -c1 -W1 "$2" >/dev/null 2>&1; }
reached() { waits reaches "$1" "$2" && echo yes || echo no; }

mkdir "$dir/cni"
serve --api-versions all

# ---- The classic definition, which has no schema and no status of its own
cat >"$dir/old.yaml" <<'END'
apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
metadata:
  name: networks.samplecrd.k8s.io
spec:
  group: samplecrd.k8s.io
  version: v1
  names:
    kind: Network
    plural: networks
  scope: Namespaced
END
admin -H 'Content-Type: application/yaml' --data-binary @"$dir/old.yaml" \
    "$server/apis/apiextensions.k8s.io/v1beta1/customresourcedefinitions" >/dev/null
start
waits grep -q "the cache has synced" "$dir/log"
apply $all/example-network <"$example/example-network.yaml" >/dev/null
becomes "the classic example" "True NetworkReady" ready example-network
bridge=$(bridge_of example-network)
check "its gateway" 192.168.0.1/16 "$(addresses "$bridge")"
before=$(part example-network 'o["metadata"]["generation"]')
network other 10.9.0.0/24 10.9.0.1
becomes "another one" "True NetworkReady" ready other # which makes it look at all of them
delete other
waits not exists other
check "it does not write for ever" "$before" "$(part example-network 'o["metadata"]["generation"]')"

network odd 5 10.9.0.1 # a number
becomes "what no schema has checked" "False InvalidSpec" ready odd
has "is said" "spec.cidr" "$(part odd 'o["status"]["conditions"][0]["message"]')"
delete odd
waits not exists odd

# ---- Today's definition takes its place
"$sampan" generate --from "$example/types.h" --crd "$dir/crd.yaml"
check "crd.yaml is what types.h says" "" "$(diff "$example/crd.yaml" "$dir/crd.yaml")"
apply /apis/apiextensions.k8s.io/v1/customresourcedefinitions/networks.samplecrd.k8s.io <"$example/crd.yaml" >/dev/null
patch example-network '{"spec":{"mtu":1400}}'
becomes "a new MTU" yes sh -c "ip link show $bridge | grep -q 'mtu 1400' && echo yes"
becomes "the generation is told" True part example-network 'o["status"].get("observedGeneration") == o["metadata"]["generation"]'
check "one bridge" 1 "$(bridges)"
check "what it says" "$bridge 192.168.0.0/16 192.168.0.1" "$(part example-network '" ".join(o["status"][k] for k in ("bridge", "cidr", "gateway"))')"
becomes "its events" "Created Updated" events example-network
has "for CNI" '"subnet":"192.168.0.0/16"' "$(cat "$dir/cni/90-$bridge.conflist")"
python3 -m json.tool "$dir/cni/90-$bridge.conflist" >/dev/null
check "which is JSON" 0 $?
if command -v kubectl >/dev/null; then
    has "kubectl get" "$bridge" "$(k get network)"
    has "kubectl describe" "network-controller" "$(k describe network example-network)"
fi

# ---- Pods
pod p1 "$bridge" 192.168.0.11/16 192.168.0.1
pod p2 "$bridge" 192.168.7.12/16 192.168.0.1
check "one reaches the other" yes "$(reached p1 192.168.7.12)"
check "and back" yes "$(reached p2 192.168.0.11)"
check "the gateway" yes "$(reached p1 192.168.0.1)"

# ---- A pod that CNI's own plugins attach, by the file that the controller wrote
plugins=/usr/lib/cni
cni() { # ADD|DEL POD
    CNI_COMMAND=$1 CNI_CONTAINERID=$2 CNI_NETNS=/run/netns/$2 CNI_IFNAME=eth0 CNI_PATH=$plugins \
        $plugins/bridge <"$dir/plugin.json"
}
if [ -x $plugins/bridge ] && [ -x $plugins/host-local ]; then
    mount -t tmpfs none /var/lib # where addresses that were given are noted
    python3 - "$dir/cni/90-$bridge.conflist" >"$dir/plugin.json" <<'END'
import json, sys
conf = json.load(open(sys.argv[1]))
print(json.dumps({"cniVersion": conf["cniVersion"], "name": conf["name"], **conf["plugins"][0]}))
END
    ip netns add p3
    has "CNI attaches a pod" '"gateway": "192.168.0.1"' "$(cni ADD p3 2>&1)"
    check "it reaches the gateway" yes "$(reached p3 192.168.0.1)"
    check "and another pod" yes "$(reached p3 192.168.7.12)"
    check "its way out" 192.168.0.1 "$(ip -n p3 route show default | awk '{print $3}')"
    check "the bridge is as it was" 192.168.0.1/16 "$(addresses "$bridge")"
    check "CNI lets it go" "" "$(cni DEL p3 2>&1)"
else
    skip "containernetworking-plugins is not installed"
fi

# ---- NAT. Who is outside knows no way back.
ip netns add outside
ip link add up0 type veth peer name eth0 netns outside
ip addr add 203.0.113.1/30 dev up0
ip link set up0 up
ip -n outside addr add 203.0.113.2/30 dev eth0
ip -n outside link set eth0 up
check "not without NAT" no "$(reaches p1 203.0.113.2 && echo yes || echo no)"
check "no rule yet" 0 "$(rules)"
patch example-network '{"spec":{"nat":true}}'
becomes "a rule" 1 rules
check "with NAT" yes "$(reached p1 203.0.113.2)"
has "as nft sees it" "ip saddr 192.168.0.0/16 oifname != \"$bridge\" masquerade" "$(nft list table inet sampan-networks)"

# ---- Somebody else's hands
ip link delete "$bridge"
becomes "the bridge comes back" 192.168.0.1/16 addresses "$bridge"
ip link set v-p1 master "$bridge"
ip link set v-p2 master "$bridge"
check "and works" yes "$(reached p1 192.168.7.12)"
becomes "that is told" "Created Repaired Updated" events example-network
ip addr del 192.168.0.1/16 dev "$bridge"
becomes "the address comes back" 192.168.0.1/16 addresses "$bridge"
ip addr add 10.77.0.1/24 dev "$bridge"
becomes "others go" 192.168.0.1/16 addresses "$bridge"
ip link set "$bridge" down
check "it is up again" yes "$(reached p1 192.168.0.1)"
nft delete table inet sampan-networks
becomes "the rule comes back" 1 rules
nft flush chain inet sampan-networks postrouting
becomes "and again" 1 rules
nft add table ip others

# ---- A change in place: pods stay attached
patch example-network '{"spec":{"gateway":"192.168.0.254"}}'
becomes "another gateway" 192.168.0.254/16 addresses "$bridge"
check "pods are still there" yes "$(reached p1 192.168.0.254)"
patch example-network '{"spec":{"cidr":"10.20.0.0/24","gateway":"10.20.0.1"}}'
becomes "another range" 10.20.0.1/24 addresses "$bridge"
becomes "for CNI, too" yes sh -c "grep -q 10.20.0.0/24 $dir/cni/* && echo yes"
becomes "and for NAT" 1 sh -c "nft list ruleset | grep -c 'saddr 10.20.0.0/24'"
check "without the old one" 1 "$(rules)"
patch example-network '{"spec":{"cidr":"192.168.0.0/16","gateway":"192.168.0.1"}}'
becomes "back again" 192.168.0.1/16 addresses "$bridge"
check "the same bridge" "1 yes" "$(bridges) $(reached p1 192.168.7.12)"

# ---- What cannot be
network second 192.168.5.0/24 192.168.5.1
becomes "an overlap" "True Overlaps" conflict second
check "is not ready" "False Overlaps" "$(ready second)"
has "and says of whom" "network default/example-network" "$(admin "$server$all/second")"
becomes "by an event, too" Overlaps events second
network bogus 300.1.2.0/24 1.2.3.4
becomes "nonsense" "False InvalidCIDR" ready bogus
check "is no conflict" "False NoConflict" "$(conflict bogus)"
becomes "and an event" InvalidCIDR events bogus
network far 10.50.0.0/16 10.51.0.1
becomes "a gateway outside" "False InvalidGateway" ready far
network host 203.0.113.0/24 203.0.113.9
becomes "the machine's own" "False AddressInUse" ready host
check "others are unaffected" "True NetworkReady yes 1" "$(ready example-network) $(reached p1 192.168.7.12) $(bridges)"
patch example-network '{"spec":{"cidr":"bogus"}}'
becomes "a change to nonsense" "False InvalidCIDR" ready example-network
check "leaves what was" "192.168.0.1/16 yes" "$(addresses "$bridge") $(reached p1 192.168.7.12)"
patch example-network '{"spec":{"cidr":"192.168.0.0/16"}}'
becomes "and heals" "True NetworkReady" ready example-network
mv "$dir/cni" "$dir/away"
patch example-network '{"spec":{"mtu":1450}}'
becomes "no folder for CNI" "False Failed" ready example-network
has "is said" "No such file" "$(part example-network 'o["status"]["conditions"][0]["message"]')"
mv "$dir/away" "$dir/cni"
becomes "and tried again" "True NetworkReady" ready example-network
patch far '{"spec":{"gateway":"10.50.0.1"}}'
becomes "so does the gateway" "True NetworkReady" ready far
network v6 fd00:7::/64 fd00:7::1 'nat: true'
becomes "IPv6" "True NetworkReady" ready v6
check "its address" fd00:7::1/64 "$(addresses "$(bridge_of v6)")"
check "its rule" 1 "$(nft list ruleset | grep -c 'ip6 saddr fd00:7::/64')"

# ---- From now on as its service account, which may only do what deploy/rbac.yaml says
if command -v kubectl >/dev/null; then
    has "who may" "clusterrole.rbac.authorization.k8s.io/network-controller created" "$(k apply -f "$example/deploy")"
    kubeconfig=$dir/account
    "$sampan" kubeconfig --data-dir "$dir/a" --user system:serviceaccount:network-system:network-controller \
        --group system:serviceaccounts --ttl 1h --output "$kubeconfig"
    check "nothing else" no "$(k --kubeconfig "$kubeconfig" auth can-i delete networks)"
else
    skip "kubectl is not installed: the controller goes on as admin"
fi

# ---- A restart changes nothing
state() { ip -o link show type bridge | cut -d: -f1,2; ip -o addr; nft list ruleset; ls "$dir/cni"; admin "$server$all" | grep '"resourceVersion"' | tail -n +2; events example-network; }
state >"$dir/before"
ends TERM
check "its end" 0 $?
resync=1 # files are not watched
start
waits sh -c "[ \$(grep -c 'the cache has synced' $dir/log) = 2 ]"
patch v6 '{"spec":{"nat":false}}' # the last key: when this is seen, the others were
becomes "NAT ends" 0 sh -c "nft list ruleset | grep -c 'ip6 saddr'"
patch v6 '{"spec":{"nat":true}}'
becomes "and begins" 1 sh -c "nft list ruleset | grep -c 'ip6 saddr'"
becomes "v6 is said" True part v6 'o["status"]["observedGeneration"] == o["metadata"]["generation"]'
state | grep -v resourceVersion >"$dir/after"
rm "$dir/cni/90-$bridge.conflist"
waits [ -e "$dir/cni/90-$bridge.conflist" ]
check "a file comes back" 0 $?
check "no duplicates" "$(grep -v resourceVersion "$dir/before")" "$(cat "$dir/after")"

# ---- Deletion. Who waited for the addresses gets them.
old=$bridge
delete example-network
becomes "it is gone" no sh -c "ip link show $old >/dev/null 2>&1 && echo yes || echo no"
waits not exists example-network
check "from the server" 404 "$(code admin "$server$all/example-network")"
check "its file" no "$([ -e "$dir/cni/90-$old.conflist" ] && echo yes || echo no)"
check "its rule" 0 "$(nft list ruleset | grep -c 192.168.0.0/16)"
becomes "it is told" "Created Deleted Failed InvalidCIDR Repaired Updated" events example-network
becomes "the next in line" "True NetworkReady" ready second
check "has its addresses" 192.168.5.1/24 "$(addresses "$(bridge_of second)")"

ip link delete up0
becomes "no link is in the way now" "True NetworkReady" ready host

# ---- A name that somebody else has
delete second
waits not exists second
ip link add "$old" type veth peer name foreign
apply $all/example-network <"$example/example-network.yaml" >/dev/null
becomes "a taken name" "False NameTaken" ready example-network
check "is left alone" veth "$(ip -d -o link show "$old" | grep -o veth | head -1)"
ip link delete "$old"
becomes "until it is free" "True NetworkReady" ready example-network

# ---- Killed in the middle of deletions
for pause in 0 0.002 0.005 0.01 0.02 0.05; do
    network victim 10.60.0.0/16 10.60.0.1 'nat: true'
    waits sh -c "nft list ruleset | grep -q 10.60.0.0/16"
    becomes "a victim" "True NetworkReady" ready victim
    victim=$(bridge_of victim)
    delete victim
    sleep $pause
    ends KILL
    start
    waits not exists victim
    check "released after a kill" 404 "$(code admin "$server$all/victim")"
    check "without a trace" "0 0 0" "$(ip -o link | grep -c "$victim") $(nft list ruleset | grep -c 10.60.0.0/16) $(ls "$dir/cni" | grep -c "$victim")"
done
# Half done: the bridge is gone already, the rest is not.
network victim 10.60.0.0/16 10.60.0.1 'nat: true'
becomes "another victim" "True NetworkReady" ready victim
ends KILL
delete victim
ip link delete "$victim"
check "it waits for its finalizer" 200 "$(code admin "$server$all/victim")"
start
waits not exists victim
check "the rest goes, too" "404 0 0" "$(code admin "$server$all/victim") $(nft list ruleset | grep -c 10.60.0.0/16) $(ls "$dir/cni" | grep -c "$victim")"
# Its finalizer was taken away while nobody was there.
network victim 10.60.0.0/16 10.60.0.1 'nat: true'
becomes "a last victim" "True NetworkReady" ready victim
ends KILL
patch victim '{"metadata":{"finalizers":null}}'
delete victim
check "it is gone at once" 404 "$(code admin "$server$all/victim")"
check "but its bridge is not" 1 "$(ip -o link | grep -c "$victim")"
start
becomes "orphans are removed" "0 0 0" sh -c "echo \$(ip -o link | grep -c $victim) \$(nft list ruleset | grep -c 10.60.0.0/16) \$(ls $dir/cni | grep -c $victim)"

# ---- The server goes and comes back
"$sampan" down --data-dir "$dir/a" >/dev/null
ip link delete "$old"
becomes "no server is needed to repair" 192.168.0.1/16 addresses "$old"
up --api-versions all --listen "${server#https://}" >/dev/null
patch example-network '{"spec":{"gateway":"192.168.0.77"}}'
becomes "it goes on" 192.168.0.77/16 addresses "$old"

# ---- Memory
ends TERM
check "a good end" 0 $?
if command -v valgrind >/dev/null && [ -z "${SAMPAN_SANITIZED-}" ]; then
    start valgrind -q --leak-check=full --show-leak-kinds=definite,indirect,possible --error-exitcode=9 --log-file="$dir/valgrind"
    network checked 10.61.0.0/16 10.61.0.1 'nat: true'
    becomes "under valgrind" "True NetworkReady" ready checked
    network clash 10.61.7.0/24 10.61.7.1
    becomes "a clash" "True Overlaps" conflict clash
    delete checked
    becomes "it goes" "True NetworkReady" ready clash
    ends TERM
    check "valgrind" 0 $?
    cat "$dir/valgrind"
fi
check "others' rules" 1 "$(nft list ruleset | grep -c 'table ip others')"
[ $failed -eq 0 ] || tail -50 "$dir/log"
finish
