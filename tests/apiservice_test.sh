#!/bin/sh
# apiservice_test.sh SAMPAN - a group that somebody else serves: an extension server behind an APIService, with kubectl and
# curl; who it is told asks, what is passed through, and that a slow, hostile or dead one harms nobody else.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
needs python3 openssl jq kubectl
. "$(dirname "$0")/hook.sh"

registration=/apis/apiregistration.k8s.io/v1/apiservices
tea=/apis/tea.test/v1
cups=$tea/namespaces/default/cups
post() { admin -H 'Content-Type: application/json' -X POST "$server$1" -d "$2"; }
get() { admin "$server$1"; }
calls() { cat "$hook/calls" 2>/dev/null; }
forget() { : >"$hook/calls"; }

# The authority of front proxies, as extension servers read it.
read_proxy_ca() { k get configmap -n kube-system extension-apiserver-authentication -o jsonpath='{.data.requestheader-client-ca-file}' >"$hook/proxy-ca.crt"; }

start_extension() {
    run_hook extension.py
    ca=$(base64 -w0 <"$hook/ca.crt")
    port=$(cat "$hook/port")
}
make_service() { post /api/v1/namespaces/default/services '{"metadata":{"name":"hook"},"spec":{"type":"ExternalName","externalName":"127.0.0.1"}}' >/dev/null; }
register() {
    post $registration "{\"metadata\":{\"name\":\"v1.tea.test\"},\"spec\":{\"group\":\"tea.test\",\"version\":\"v1\",\"groupPriorityMinimum\":1000,\"versionPriority\":15,\"caBundle\":\"$ca\",\"service\":{\"namespace\":\"default\",\"name\":\"hook\",\"port\":$port}}}" >/dev/null
}
condition() { get $registration/v1.tea.test | jq -r '.status.conditions[0] | .status + " " + .reason'; }
is() { [ "$(condition)" = "$1" ]; }

built_in() {
    check "what is built in has APIServices" "True" "$(k get apiservice v1.apps -o jsonpath='{.status.conditions[0].status}')"
    k apply -f - >/dev/null <<'D'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pots.kettle.test}
spec:
  group: kettle.test
  scope: Namespaced
  names: {plural: pots, kind: Pot}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
D
    waits eval 'k get apiservice v1.kettle.test | grep -q Local'
    k delete crd pots.kettle.test >/dev/null
    waits eval 'k get apiservice v1.kettle.test | grep -q NotFound'
}

reached() {
    make_service
    register
    waits is "True Passed"
    has "kubectl finds it" "cups   cu           tea.test/v1   true         Cup" "$(k api-resources --api-group=tea.test)"
    check "kubectl gets one" "first" "$(k get cups.v1.tea.test first -o name | sed 's/.*\///')"
    check "kubectl lists" 2 "$(k get cups -o name | wc -l)"
    forget
    check "a list is passed on" 2 "$(get "$cups?limit=5&labelSelector=a%3Db" | jq '.items | length')"
    check "with who asks, and without his credentials" "GET $cups?labelSelector=a%3Db&limit=5 admin system:masters,system:authenticated " "$(calls)"
    check "a body is passed on" "mug" "$(post $cups '{"metadata":{"name":"mug"}}' | jq -r .metadata.name)"
    check "what comes compressed is opened" "zipped" "$(get $cups/zipped | jq -r .metadata.name)"
    check "unless it was asked for" "zipped" "$(admin --compressed "$server$cups/zipped" | jq -r .metadata.name)"
    check "a redirect is refused" 502 "$(code admin "$server$cups/away")"
    check "who hangs up is told of" "error trying to reach service: EOF" "$(get $cups/gone)"
    check "discovery is merged" "tea.test" "$(get /apis | jq -r '.groups[-1].name')"
    check "aggregated, too" "cups" "$(admin -H 'Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' "$server/apis" | jq -r '.items[-1].versions[0].resources[0].resource')"
}

# A watch comes piece by piece.
streams() {
    rm -f "$hook/go"
    (admin --max-time 60 -N "$server$cups?watch=1" >"$dir/watched") &
    watcher=$!
    waits grep -q ADDED "$dir/watched"
    check "the end of a watch is not there yet" 1 "$(wc -l <"$dir/watched")"
    : >"$hook/go"
    wait $watcher
    has "and comes in the end" DELETED "$(cat "$dir/watched")"
}

# Rights are asked here, before anybody else hears of the request.
guarded() {
    "$sampan" kubeconfig --data-dir "$dir/a" --user cleo >"$dir/cleo"
    forget
    has "without rights it is refused" 'cups.tea.test is forbidden: User "cleo" cannot list resource "cups" in API group "tea.test" in the namespace "default"' "$(kubectl --kubeconfig "$dir/cleo" get cups.v1.tea.test 2>&1)"
    check "and the other server is not asked" "" "$(calls | grep cleo | grep -v ' /apis')"
    k create clusterrole cups --verb=get,list --resource=cups.tea.test >/dev/null
    k create clusterrolebinding cups --clusterrole=cups --user=cleo >/dev/null
    has "with rights it is served" first "$(kubectl --kubeconfig "$dir/cleo" get cups.v1.tea.test -o name 2>&1)"
    has "as whom he is" "/cups?limit=500 cleo system:authenticated" "$(calls)"
}

# Twenty who wait, and as many who read nothing of what never ends, delay neither each other nor anybody else.
hostile() {
    rm -f "$hook/go"
    patient= greedy=
    for i in $(seq 20); do
        admin --max-time 120 -o "$dir/slow.$i" "$server$cups/slow" &
        patient="$patient $!"
        curl -sS --cacert "$dir/ca.crt" --cert "$dir/admin.crt" --key "$dir/admin.key" --limit-rate 1 \
            -o /dev/null "$server$cups/endless" 2>/dev/null &
        greedy="$greedy $!"
    done
    waits eval '[ "$(calls | grep -c /cups/slow)" -ge 20 ]'
    waits eval '[ "$(calls | grep -c /cups/endless)" -ge 20 ]'
    check "others are served meanwhile" 201 "$(code admin -H 'Content-Type: application/json' -X POST "$server/api/v1/namespaces/default/configmaps" -d '{"metadata":{"name":"meanwhile"}}')"
    check "so are others of its own" first "$(get $cups/first | jq -r .metadata.name)"
    : >"$hook/go"
    for pid in $patient; do wait "$pid"; done
    kill $greedy
    for pid in $greedy; do wait "$pid"; done 2>/dev/null
    check "those who waited got their answer" 20 "$(grep -l '"slow"' "$dir"/slow.* | wc -l)"
}

# It goes and comes back.
lost() {
    kill "$hook_pid"
    wait "$hook_pid" 2>/dev/null
    check "who is not there is told of" 503 "$(code admin "$server$cups")"
    k annotate apiservice v1.tea.test look=again >/dev/null
    waits is "False FailedDiscoveryCheck"
    check "then it is unavailable" "service unavailable" "$(get $cups)"
    has "kubectl shows it" "False (FailedDiscoveryCheck)" "$(k get apiservice v1.tea.test)"
    check "discovery still names it" "tea.test" "$(get /apis | jq -r '.groups[-1].name')"
    check "and says that what it knows is old" Stale "$(admin -H 'Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' "$server/apis" | jq -r '.items[-1].versions[0].freshness')"
    rm -f "$hook/port"
    python3 "$(dirname "$0")/webhooks/extension.py" "$hook" "$port" &
    hook_pid=$!
    waits is "True Passed"
    check "and it is served again" 2 "$(get $cups | jq '.items | length')"
    k delete service hook >/dev/null
    waits is "False ServiceNotFound"
    make_service
    waits is "True Passed"
}

# A new start knows it, and has the same authority of front proxies.
again() {
    "$sampan" down --data-dir "$dir/a" >/dev/null
    serve
    waits is "True Passed"
    check "after a new start it is served" 2 "$(get $cups | jq '.items | length')"
    k delete apiservice v1.tea.test >/dev/null
    check "without its APIService it is not found" "404 page not found" "$(get $cups)"
    has "and discovery does not name it" null "$(get /apis | jq '.groups[] | select(.name == "tea.test")' | jq -s 'first')"
}

serve
make_certificates
read_proxy_ca
start_extension
built_in
reached
streams
guarded
hostile
lost
again
check "no sanitizer complains" "" "$(grep -A 20 Sanitizer: "$dir/a/sampan.log")"
finish
