#!/bin/sh
# subresources_test.sh SAMPAN - what can be done to an object besides writing it: bind and evict a
# pod, approve a certificate, ask for a token.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"

api=/api/v1/namespaces/default
policy=/apis/policy/v1/namespaces/default/poddisruptionbudgets
requests=/apis/certificates.k8s.io/v1/certificatesigningrequests
# send METHOD PATH BODY: the answer
send() {
    admin -A test -X "$1" -H 'Content-Type: application/json' "$server$2" -d "$3"
}
get() { admin "$server$1?pretty=0"; }
# pod NAME PHASE READY: a pod with the label app=x in that state
pod() {
    spec='"spec":{"containers":[{"name":"c","image":"i"}]}'
    meta='"metadata":{"name":"'$1'","labels":{"app":"x"}}'
    send POST $api/pods "{$meta,$spec}" >/dev/null
    send PUT $api/pods/"$1"/status "{$meta,$spec,\"status\":{\"phase\":\"$2\",
        \"conditions\":[{\"type\":\"Ready\",\"status\":\"$3\"}]}}" >/dev/null
}
# budget ALLOWED HEALTHY DESIRED [OBSERVED]: the state of the budget b
budget() {
    rev=$(get $policy/b | sed 's/.*"resourceVersion":"\([0-9]*\)".*/\1/')
    send PUT $policy/b/status '{"metadata":{"name":"b","resourceVersion":"'"$rev"'"},"status":{
        "disruptionsAllowed":'"$1"',"currentHealthy":'"$2"',"desiredHealthy":'"$3"',
        "expectedPods":3,"observedGeneration":'"${4:-1}"'}}' >/dev/null
}
evict() { send POST $api/pods/"$1"/eviction "{\"metadata\":{\"name\":\"$1\"}${2:-}}"; }

serve --store memory

# ---- Binding
send POST /api/v1/nodes '{"metadata":{"name":"n","labels":{"topology.kubernetes.io/zone":"z"}}}' \
    >/dev/null
pod free Pending False
has "a pod is bound" '"status":"Success"' \
    "$(send POST $api/pods/free/binding '{"metadata":{"name":"free"},"target":{"kind":"Node","name":"n"}}')"
has "to its node" '"nodeName":"n"' "$(get $api/pods/free)"
has "which is in a zone" '"topology.kubernetes.io/zone":"z"' "$(get $api/pods/free)"
has "only once" 'is already assigned to node' \
    "$(send POST $api/bindings '{"metadata":{"name":"free"},"target":{"name":"m"}}')"
has "to something" 'target.name: Required value' \
    "$(send POST $api/bindings '{"metadata":{"name":"free"}}')"

# ---- Eviction
pod none Running True
has "without a budget it goes" '"status":"Success"' "$(evict none)"
has "and is gone" NotFound "$(get $api/pods/none)"
send POST $policy '{"metadata":{"name":"b"},"spec":{"minAvailable":1,"selector":{"matchLabels":{
    "app":"x"}}}}' >/dev/null
pod one Running True
has "a budget that nobody has looked at" "still being processed" "$(evict one)"
check "is too many requests" 429 "$(code admin -X POST -H 'Content-Type: application/json' \
    "$server$api/pods/one/eviction" -d '{"metadata":{"name":"one"}}')"
has "try later" '"retryAfterSeconds":10' "$(evict one)"
budget 0 1 1
has "nothing may go" "needs 1 healthy pods and has 1 currently" "$(evict one)"
has "it is still there" '"name":"one"' "$(get $api/pods/one)"
budget 1 2 1
has "a rehearsal" '"status":"Success"' "$(evict one ',"deleteOptions":{"dryRun":["All"]}')"
has "changes nothing" '"disruptionsAllowed":1' "$(get $policy/b)"
has "one may go" '"status":"Success"' "$(evict one)"
has "it is gone" NotFound "$(get $api/pods/one)"
has "and was counted" '"disruptionsAllowed":0' "$(get $policy/b)"
has "by name" '"disruptedPods":{"one":' "$(get $policy/b)"
has "the budget says so" '"reason":"InsufficientPods"' "$(get $policy/b)"
pod sick Running False
budget 0 0 1
has "the sick wait for the healthy" "needs 1 healthy pods and has 0" "$(evict sick)"
budget 0 1 1
has "if enough are healthy the sick go" '"status":"Success"' "$(evict sick)"
pod waiting Pending False
budget 0 0 1
has "what does not run is not counted" '"status":"Success"' "$(evict waiting)"
for i in 1 2 3 4 5 6; do pod "race-$i" Running True; done
budget 2 6 4
for i in 1 2 3 4 5 6; do evict "race-$i" >"$dir/race-$i" & done
wait
check "of six at once as many go as may" 2 "$(cat "$dir"/race-* | grep -c '"status":"Success"')"
has "and all are counted" '"disruptionsAllowed":0' "$(get $policy/b)"
pod wrong Running True
budget 1 2 1
has "not another one than meant" "does not match the UID in record" \
    "$(evict wrong ',"deleteOptions":{"preconditions":{"uid":"x"}}')"
send POST $policy '{"metadata":{"name":"c"},"spec":{"selector":{"matchLabels":{"app":"x"}}}}' \
    >/dev/null
has "two budgets are too many" "more than one PodDisruptionBudget" "$(evict wrong)"

# ---- Certificates
openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout /dev/null \
    -subj /CN=someone -out "$dir/csr" 2>/dev/null
spec='"spec":{"request":"'$(base64 -w0 "$dir/csr")'","signerName":"example.com/s","usages":["client auth"],"username":"mallory"}'
send POST $requests "{\"metadata\":{\"name\":\"r\"},$spec}" >/dev/null
has "a request says who really asks" '"username":"admin"' "$(get $requests/r)"
send PUT $requests/r/approval "{\"metadata\":{\"name\":\"r\"},$spec,\"status\":{\"conditions\":[
    {\"type\":\"Approved\",\"status\":\"True\",\"reason\":\"R\"}]}}" >/dev/null
has "it is approved" '"type":"Approved","status":"True","reason":"R"' "$(get $requests/r)"

# ---- What needs what is not there
send POST $api/serviceaccounts '{"metadata":{"name":"s"}}' >/dev/null
has "a token of nobody" '"code":404' "$(send POST $api/serviceaccounts/x/token '{}')"
has "a token for a moment" "less than 10 minutes" \
    "$(send POST $api/serviceaccounts/s/token '{"spec":{"expirationSeconds":5}}')"
token=$(send POST $api/serviceaccounts/s/token '{}' | jq -r .status.token)
check "a token is its account's" system:serviceaccount:default:s \
    "$(anonymous -H "Authorization: Bearer $token" -H 'Content-Type: application/json' -d '{}' \
        "$server/apis/authentication.k8s.io/v1/selfsubjectreviews" | jq -r .status.userInfo.username)"
has "a log of a node without an address" 'no preferred addresses found; known addresses: []' "$(get $api/pods/free/log)"
check "a log of nothing" 204 "$(code admin "$server$api/pods/wrong/log")"
has "a command in no pod" '"code":404' "$(send POST "$api/pods/x/exec?command=ls" '')"
has "a proxy" 'no endpoints available for service' "$(get $api/services/https:kubernetes:443/proxy/)"
has "the store is well" '"type":"Healthy","status":"True"' "$(get /api/v1/componentstatuses/etcd-0)"
has "as a list" '"kind":"ComponentStatusList"' "$(get /api/v1/componentstatuses)"
finish
