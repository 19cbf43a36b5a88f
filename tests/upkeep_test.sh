#!/bin/sh
# upkeep_test.sh SAMPAN - controllers that keep a cluster in order, with kubectl: bootstrap tokens, old
# tokens of accounts, blocks of addresses for nodes, addresses of Services.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
needs kubectl
pid=
at_end='[ -z "$pid" ] || kill -9 $pid 2>/dev/null'
up --store memory --service-cidr 10.0.0.0/16 >/dev/null || give_up
start() {
    "$sampan" controllers --kubeconfig "$dir/a/admin.kubeconfig" --leader-elect=false \
        --allocate-node-cidrs --cluster-cidr 10.0.0.0/15,fd00:1::/56 --node-cidr-mask-size-ipv4 17 \
        --service-cluster-ip-range 10.0.0.0/16 \
        --legacy-service-account-token-clean-up-period 1s "$@" 2>>"$dir/log" &
    pid=$!
}
# prints EXPECTED COMMAND... - whether it prints that
prints() { expected=$1; shift; [ "$("$@")" = "$expected" ]; }
comes() { # NAME EXPECTED COMMAND... - sooner or later
    name=$1; shift
    expected=$1; shift
    waits prints "$expected" "$@"
    check "$name" "$expected" "$("$@")"
}
in_day() { date -u -d "$1" +%Y-%m-%d; }

# ---- Old tokens, before the controllers start: nobody has used them for years
k create -f - >/dev/null <<EOF
apiVersion: v1
kind: ServiceAccount
metadata: {name: robot, namespace: default}
secrets: [{name: idle}, {name: idle-for-long}, {name: mounted}, {name: in-use}]
EOF
for name in idle idle-for-long mounted in-use by-hand; do
    k create -f - >/dev/null <<EOF
apiVersion: v1
kind: Secret
metadata: {name: $name, namespace: default, annotations: {kubernetes.io/service-account.name: robot}}
type: kubernetes.io/service-account-token
EOF
done
k label secret idle-for-long kubernetes.io/legacy-token-invalid-since=2020-01-01 >/dev/null
k label secret in-use "kubernetes.io/legacy-token-last-used=$(in_day now)" >/dev/null
k create -f - >/dev/null <<EOF
apiVersion: v1
kind: Pod
metadata: {name: reader, namespace: default}
spec:
  serviceAccountName: robot
  containers: [{name: c, image: i}]
  volumes: [{name: v, secret: {secretName: mounted}}]
EOF
k -n kube-system patch configmap kube-apiserver-legacy-service-account-token-tracking --type merge \
    -p '{"data":{"since":"2020-01-01"}}' >/dev/null
sleep 2 # they are older than the period now

# ---- Bootstrap tokens
token() { # ID EXPIRATION [KEY=VALUE...]
    id=$1 over=$2
    shift 2
    k -n kube-system create secret generic "bootstrap-token-$id" --type bootstrap.kubernetes.io/token \
        --from-literal=token-id="$id" --from-literal=token-secret=0123456789abcdef \
        --from-literal=expiration="$over" "$@" >/dev/null
}
k -n kube-public create configmap cluster-info --from-literal=kubeconfig=here >/dev/null
token abcdef 2099-01-01T00:00:00Z --from-literal=usage-bootstrap-signing=true
token nosign 2099-01-01T00:00:00Z
start
signatures() { k -n kube-public get configmap cluster-info -o json | sed -n 's/^ *"jws-kubeconfig-\(.*\)": .*/\1/p' | tr '\n' ' '; }
comes "a token that may signs" "abcdef " signatures
signature=$(k -n kube-public get configmap cluster-info -o 'jsonpath={.data.jws-kubeconfig-abcdef}')
if command -v openssl >/dev/null 2>&1; then
    url() { base64 -w 0 | tr '+/' '-_' | tr -d =; }
    header=$(printf '{"alg":"HS256","kid":"abcdef"}' | url)
    mac=$(printf '%s.%s' "$header" "$(printf here | url)" | openssl dgst -sha256 -hmac 0123456789abcdef -binary | url)
    check "as others would" "$header..$mac" "$signature"
fi
k -n kube-public patch configmap cluster-info --type merge -p '{"data":{"kubeconfig":"there"}}' >/dev/null
signature_is_new() { [ "$(k -n kube-public get configmap cluster-info -o 'jsonpath={.data.jws-kubeconfig-abcdef}')" != "$signature" ]; }
waits signature_is_new
token soon00 2099-01-01T00:00:00Z --from-literal=usage-bootstrap-signing=true
comes "another one, too" "abcdef soon00 " signatures
k -n kube-system patch secret bootstrap-token-soon00 --type merge \
    -p '{"stringData":{"expiration":"'"$(date -u -d '+2 seconds' +%Y-%m-%dT%H:%M:%SZ)"'"}}' >/dev/null
is_gone() { k get "$@" | grep -q NotFound; }
waits is_gone -n kube-system secret bootstrap-token-soon00
comes "its signature goes with it" "abcdef " signatures
k -n kube-system delete secret bootstrap-token-abcdef >/dev/null
comes "and with one that is deleted" "" signatures

# ---- Old tokens
secrets() { k get secrets -o name | sed 's|secret/||' | tr '\n' ' '; }
comes "one that is invalid for long goes" "by-hand idle in-use mounted " secrets
since() { k get secret "$1" -o 'jsonpath={.metadata.labels.kubernetes\.io/legacy-token-invalid-since}'; }
comes "one that nobody uses becomes invalid" "$(in_day now)" since idle
check "others stay: mounted" "" "$(since mounted)"
check "others stay: used" "" "$(since in-use)"
check "others stay: made by hand" "" "$(since by-hand)"

# ---- Blocks of addresses
node() { printf 'apiVersion: v1\nkind: Node\nmetadata: {name: %s}\n' "$1" | k create -f - >/dev/null; }
blocks() { k get node "$1" -o 'jsonpath={.spec.podCIDR} {.spec.podCIDRs[*]}'; }
node one
comes "a node gets blocks" "10.1.0.0/17 10.1.0.0/17 fd00:1::/64" blocks one
node two
comes "another one others" "10.1.128.0/17 10.1.128.0/17 fd00:1:0:1::/64" blocks two
node three
not_available() { k get events --field-selector involvedObject.name=three,reason=CIDRNotAvailable -o 'jsonpath={.items[0].message} {.items[0].source.component}'; }
comes "when there are none, that is said" "Node three status is now: CIDRNotAvailable cidrAllocator" not_available
kill $pid; wait $pid; start # it knows what is taken
k delete node one >/dev/null
comes "a block that is free again is given again" "10.1.0.0/17 10.1.0.0/17 fd00:1::/64" blocks three
check "two has kept its own" "10.1.128.0/17 10.1.128.0/17 fd00:1:0:1::/64" "$(blocks two)"

# ---- Addresses of Services
k create service clusterip web --tcp=80 --clusterip=10.0.7.7 >/dev/null
parent() { k get ipaddress "$1" -o 'jsonpath={.spec.parentRef.namespace}/{.spec.parentRef.name}'; }
check "a Service has an address" default/web "$(parent 10.0.7.7)"
k delete ipaddress 10.0.7.7 >/dev/null
comes "that is made again" default/web parent 10.0.7.7
repaired() { k get events --field-selector involvedObject.name=web,reason=ClusterIPNotAllocated -o 'jsonpath={.items[0].message}'; }
comes "and that is said" "Cluster IP [IPv4]: 10.0.7.7 is not allocated; repairing" repaired
k delete service web >/dev/null
check "it goes with its Service" yes "$(is_gone ipaddress 10.0.7.7 && echo yes)"
k create -f - >/dev/null <<EOF
apiVersion: networking.k8s.io/v1
kind: IPAddress
metadata:
  name: 10.0.7.8
  labels: {ipaddress.kubernetes.io/ip-family: IPv4, ipaddress.kubernetes.io/managed-by: ipallocator.k8s.io}
spec: {parentRef: {resource: services, namespace: default, name: kubernetes}}
EOF
waits is_gone ipaddress 10.0.7.8 # it waits five seconds
wrong() { k get events --field-selector reason=IPAddressWrongReference -o 'jsonpath={.items[0].message}'; }
comes "one that its Service has not got goes" \
    "IPAddress: 10.0.7.8 for Service default/kubernetes has a wrong reference; cleaning up" wrong

# ---- Budgets
k create job once --image=i >/dev/null
k create poddisruptionbudget jobs --selector=job-name=once --max-unavailable=1 >/dev/null
why() { k get poddisruptionbudget jobs -o 'jsonpath={.status.conditions[0].message}'; }
comes "what cannot be scaled is no measure" "jobs.batch does not implement the scale subresource" why
k delete poddisruptionbudget jobs >/dev/null

# ---- Pods of a node that drives them away, and that nobody ends
k create -f - >/dev/null <<EOF
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "stuck"}, "spec": {"nodeName": "two",
 "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}], "containers": [{"name": "c", "image": "i"}]}}
EOF
marked() { k get events --field-selector involvedObject.name=stuck,reason=TaintManagerEviction -o 'jsonpath={.items[*].count}'; }
k taint node two away=1:NoExecute >/dev/null
comes "it is told to go" 1 marked
k taint node two away=2:NoExecute --overwrite >/dev/null
comes "and again when the taints change" 2 marked
check "no unexpected errors" "" "$(grep -vE ' info |no remaining CIDRs' "$dir/log")"
finish
