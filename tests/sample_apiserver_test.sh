#!/bin/sh
# sample_apiserver_test.sh SAMPAN - upstream's sample-apiserver, a real extension server, behind an APIService, with its objects in
# `sampan etcd`. SAMPAN_SAMPLE_APISERVER names the binary.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
extension=${SAMPAN_SAMPLE_APISERVER:-}
[ -x "$extension" ] || { skip "no sample-apiserver (SAMPAN_SAMPLE_APISERVER names one)"; exit 77; }
needs kubectl curl python3
pids=
at_end='for p in $pids; do kill -9 $p 2>/dev/null; done; wait 2>/dev/null'
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

serve_everything
port=$(free_port)
"$sampan" etcd --data-dir "$dir/etcd" --listen-client-urls http://127.0.0.1:0 >"$dir/etcd.log" 2>&1 &
pids=$!
waits grep -q 'serves the etcd API' "$dir/etcd.log"
start() {
    "$extension" --etcd-servers "http://$(sed -n 's/.* at //p' "$dir/etcd.log")" --bind-address 127.0.0.1 --secure-port "$port" \
        --cert-dir "$dir/certs" --kubeconfig "$dir/a/admin.kubeconfig" --authentication-kubeconfig "$dir/a/admin.kubeconfig" \
        --authorization-kubeconfig "$dir/a/admin.kubeconfig" >"$dir/extension.log" 2>&1 &
    pid=$!
    pids="$pids $pid"
}
start
k create namespace wardle >/dev/null
k create service externalname api -n wardle --external-name 127.0.0.1 >/dev/null
k apply -f - >/dev/null <<EOF_SERVICE
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1alpha1.wardle.example.com}
spec:
  group: wardle.example.com
  version: v1alpha1
  groupPriorityMinimum: 1000
  versionPriority: 15
  insecureSkipTLSVerify: true
  service: {namespace: wardle, name: api, port: $port}
EOF_SERVICE
available() { [ "$(k get apiservice v1alpha1.wardle.example.com -o 'jsonpath={.status.conditions[?(@.type=="Available")].status}')" = "$1" ]; }
waits available True || { tail -n 20 "$dir/extension.log"; k get apiservice v1alpha1.wardle.example.com -o yaml; exit 1; }

# Its version is deprecated, and it says so in every answer.
has "its warnings are passed on" "Warning: wardle.example.com/v1alpha1 Flunder is deprecated" "$(k get flunders)"
q() { k "$@" | grep -v '^Warning: '; }
flunder() { printf 'apiVersion: wardle.example.com/v1alpha1\nkind: Flunder\nmetadata: {name: %s, labels: {sea: north}}\n' "$1"; }
has "its kinds are found" "flunders" "$(k api-resources --api-group=wardle.example.com -o name)"
check "an object is made" "flunder.wardle.example.com/one created" "$(flunder one | q create -f -)"
check "applied" "flunder.wardle.example.com/two created" "$(flunder two | q apply -f -)"
check "and patched" "flunder.wardle.example.com/two labeled" "$(q label flunder two size=large)"
check "they are listed" "one two" "$(q get flunders -l sea=north -o 'jsonpath={.items[*].metadata.name}')"
check "explained" "KIND:       Flunder" "$(k explain flunder | grep ^KIND)"
has "as a table" "CREATED AT" "$(q get flunders | head -n 1)"
k get flunders --watch-only -o name >"$dir/watched" &
pids="$pids $!"
# The watch is there when it shows something; until then objects are made.
watched() { flunder "w-$(date +%N)" | k create -f - >/dev/null; [ -s "$dir/watched" ]; }
waits watched
check "who may not is told so by the extension server" "no" "$(k auth can-i create flunders --as guest)"
has "and refused" "forbidden" "$(flunder three | k create --as guest -f -)"
k create clusterrole sailors --verb='*' --resource=flunders.wardle.example.com >/dev/null
k create clusterrolebinding sailors --clusterrole=sailors --user=guest >/dev/null
allowed() { flunder three | k create --as guest -f - | grep -q created; }
waits allowed
check "a namespace goes with its objects there" 0 "$(k create namespace sea >/dev/null; flunder gone | k create -n sea -f - >/dev/null; k delete namespace sea >/dev/null; echo $?)"

# Down, and up again: nobody else is harmed.
kill -9 $pid
wait $pid 2>/dev/null
waits available False
has "what it serves is not there" "unavailable" "$(k get --raw /apis/wardle.example.com/v1alpha1/flunders | tr '[:upper:]' '[:lower:]')"
check "the rest is" "namespace/default" "$(k get namespace default -o name)"
start
waits available True
check "its objects are still there" "flunder.wardle.example.com/one" "$(q get flunder one -o name)"
check "no sanitizer complains" "" "$(grep -A 20 Sanitizer: "$dir/a/sampan.log" "$dir/etcd.log")"
finish
