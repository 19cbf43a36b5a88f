#!/bin/sh
# node_test.sh SAMPAN - what nodes may do, as kubelets do it: with a certificate of their own, by
# curl and kubectl, over a restart, too. Then pods that run as service accounts.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"

has "an unknown plugin" "there is no admission plugin 'None'" "$(up --enable-admission-plugins=None 2>&1)"
has "an unknown authorizer" "'None' is not Node, RBAC, Webhook, AlwaysAllow or AlwaysDeny" "$(up --authorization-mode=RBAC,None 2>&1)"
serve
send() { admin -H 'Content-Type: application/json' -X "$1" "$server$2" -d "$3"; }
core=/api/v1/namespaces/default
cert() { # NODE - its certificate and key, in files
    "$sampan" kubeconfig --data-dir "$dir/a" --user "system:node:$1" --group system:nodes --ttl 1h --output "$dir/$1"
    sed -n 's/^ *client-certificate-data: //p' "$dir/$1" | base64 -d >"$dir/$1.crt"
    sed -n 's/^ *client-key-data: //p' "$dir/$1" | base64 -d >"$dir/$1.key"
}
as() { who=$1; shift; anonymous --cert "$dir/$who.crt" --key "$dir/$who.key" "$@"; }
give() { who=$1; shift; as "$who" -H 'Content-Type: application/json' -X "$1" "$server$2" -d "$3"; }
cert n1
cert n2

# ---- Nodes make themselves
has "its own" '"name": "n1"' "$(give n1 POST /api/v1/nodes '{"metadata":{"name":"n1"}}')"
has "not another" 'is not allowed to modify node \"n2\"' "$(give n1 POST /api/v1/nodes '{"metadata":{"name":"n2"}}')"
has "no labels that steer" "not allowed to set the following labels: node-role.kubernetes.io/x" \
    "$(give n2 POST /api/v1/nodes '{"metadata":{"name":"n2","labels":{"node-role.kubernetes.io/x":""}}}')"
give n2 POST /api/v1/nodes '{"metadata":{"name":"n2"}}' >/dev/null
check "not all of them" 403 "$(code as n1 "$server/api/v1/nodes")"
check "but itself" 200 "$(code as n1 "$server/api/v1/nodes/n1")"

# ---- They see what their pods need, at once and no longer
pod() { # NAME NODE SECRET
    send POST $core/pods "{\"metadata\":{\"name\":\"$1\"},\"spec\":{\"nodeName\":\"$2\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],\"volumes\":[{\"name\":\"v\",\"secret\":{\"secretName\":\"$3\"}}]}}" >/dev/null
}
for s in s1 s2 kept; do send POST $core/secrets "{\"metadata\":{\"name\":\"$s\"}}" >/dev/null; done
pod kept n1 kept
for i in 1 2 3 4 5 6 7 8 9 10; do
    check "not yet" 403 "$(code as n1 "$server$core/secrets/s1")"
    pod p n1 s1
    check "now" 200 "$(code as n1 "$server$core/secrets/s1")"
    check "not another's" 403 "$(code as n2 "$server$core/secrets/s1")"
    admin -X DELETE "$server$core/pods/p?gracePeriodSeconds=0" >/dev/null
done
check "no longer" 403 "$(code as n1 "$server$core/secrets/s1")"
check "never all" 403 "$(code as n1 "$server$core/secrets")"
check "its pods" 200 "$(code as n1 "$server/api/v1/pods?fieldSelector=spec.nodeName%3Dn1")"
check "not all pods" 403 "$(code as n1 "$server/api/v1/pods")"
has "the status of its pods" '"phase": "Running"' \
    "$(as n1 -H 'Content-Type: application/merge-patch+json' -X PATCH "$server$core/pods/kept/status" -d '{"status":{"phase":"Running"}}')"
has "of its pods only" "can only update pod status" \
    "$(as n2 -H 'Content-Type: application/merge-patch+json' -X PATCH "$server$core/pods/kept/status" -d '{"status":{"phase":"Running"}}')"
has "pods of others stay" "can only delete pods" "$(as n2 -X DELETE "$server$core/pods/kept")"
send POST /api/v1/namespaces '{"metadata":{"name":"kube-node-lease"}}' >/dev/null
leases=/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases
has "its lease" '"name": "n1"' "$(give n1 POST $leases '{"metadata":{"name":"n1"}}')"
has "not another's" "same name as the requesting node" "$(give n1 POST $leases '{"metadata":{"name":"n2"}}')"

if command -v kubectl >/dev/null; then
    n1() { kubectl --kubeconfig "$dir/n1" --cache-dir "$dir/cache" "$@" 2>&1; }
    has "kubectl" "n1" "$(n1 get node n1)"
    has "who it is" "system:nodes" "$(n1 auth whoami)"
    has "labels of its own" "labeled" "$(n1 label node n1 mine=yes)"
    has "taints are not its own" "is not allowed to modify taints" "$(n1 taint node n1 a=b:NoSchedule)"
    check "what it may" yes "$(n1 auth can-i get secrets/kept)"
    has "what it may not" no "$(n1 auth can-i get secrets/s1)"
fi

# ---- Over a restart
"$sampan" down --data-dir "$dir/a" >/dev/null
serve --authorization-mode=Node,RBAC
check "still" 200 "$(code as n1 "$server$core/secrets/kept")"
check "still not" 403 "$(code as n2 "$server$core/secrets/kept")"
"$sampan" down --data-dir "$dir/a" >/dev/null

# ---- Without the authorizer, and pods with accounts
serve --authorization-mode=RBAC --enable-admission-plugins=ServiceAccount --disable-admission-plugins=NodeRestriction \
   
check "roles alone give nothing" 403 "$(code as n1 "$server$core/secrets/kept")"
new='{"metadata":{"name":"new"},"spec":{"containers":[{"name":"c","image":"i"}]}}'
has "no account" 'serviceaccount \"default\" not found' "$(send POST $core/pods "$new")"
send POST $core/serviceaccounts '{"metadata":{"name":"default"}}' >/dev/null
has "a token" "kube-api-access-" "$(send POST $core/pods "$new")"
finish
