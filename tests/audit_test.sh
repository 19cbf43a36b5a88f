#!/bin/sh
# audit_test.sh SAMPAN - what the audit log says about real clients, in which files it ends, and what
# becomes of a webhook that is slow or not there: nobody waits for it.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
needs python3 jq kubectl
. "$(dirname "$0")/hook.sh"

log=$dir/logs/deep/audit.log
ask() { admin -A test "$@"; } # to whom curl is known, answers are for people
send() { ask -H "Content-Type: application/${3:-json}" -X "$1" "$2" -d @-; }
# The log is written a moment later, in order: what was before this request is then in it.
settle() {
    now=settle$(date +%s%N)
    ask -o /dev/null -H "Audit-ID: $now" "$server/api/v1/nodes"
    waits grep -qs "$now" "$(dirname "$log")" -r
}
# events ID [FILTER] - of the request with that Audit-ID.
events() { settle >&2; jq -c "select(.auditID == \"$1\") | ${2:-.}" "$log"; }
happened() { [ "$(events "$1" | jq -s length)" -ge "$2" ]; }
metric() { ask "$server/metrics" | sed -n "s/^apiserver_audit_$1 //p"; }
mode() { echo "$1" >"$hook/mode.new" && mv "$hook/mode.new" "$hook/mode"; }
is_more() { [ "$(metric "$1")" -gt "$2" ]; }

# ---- Policies that are refused ----

cat >"$dir/bad.yaml" <<'EOF'
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: Loud
EOF
said=$(up --audit-policy-file "$dir/bad.yaml" --audit-log-path "$log" 2>&1; cat "$dir/a/sampan.log")
has 'a policy that is wrong' 'rules[0].level: Unsupported value: "Loud"' "$said"
has 'names its file' "from file $dir/bad.yaml" "$said"
has 'a mode that is wrong' 'invalid audit log mode maybe' "$(up --audit-log-mode maybe 2>&1)"

# ---- A log ----

cat >"$dir/policy.yaml" <<'EOF'
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: None
  nonResourceURLs: ["/metrics", "/readyz*", "/openapi*"]
- level: Metadata
  resources:
  - group: ""
    resources: [secrets, serviceaccounts/token]
  - group: authentication.k8s.io
- level: RequestResponse
  omitManagedFields: true
  resources:
  - group: ""
    resources: [configmaps]
- level: Request
  resources:
  - group: apps
- level: Metadata
  omitStages: [RequestReceived]
EOF
echo 'top-secret-token,robot,u1,"system:masters"' >"$dir/tokens.csv"
mode good
run_hook audit.py
cat >"$dir/hook.kubeconfig" <<EOF
apiVersion: v1
kind: Config
clusters:
- name: hook
  cluster: {server: "http://127.0.0.1:$(cat "$hook/port")/audit?all=1"}
users:
- name: me
  user: {token: hook-token}
contexts:
- name: there
  context: {cluster: hook, user: me}
current-context: there
EOF
up --store memory --token-auth-file "$dir/tokens.csv" --audit-policy-file "$dir/policy.yaml" \
    --audit-log-path "$log" --audit-log-maxsize 1 --audit-log-maxbackup 2 \
    --audit-webhook-config-file "$dir/hook.kubeconfig" --audit-webhook-batch-max-wait 100ms \
    --audit-webhook-batch-max-size 50 --audit-webhook-batch-buffer-size 100 \
    --audit-webhook-initial-backoff 100ms >/dev/null || exit 1
connect
export KUBECONFIG="$dir/a/admin.kubeconfig"
maps=$server/api/v1/namespaces/default/configmaps

id=$(ask -o /dev/null -D - "$maps" | sed -n 's/^audit-id: \(.*\)\r$/\1/ip')
check 'an answer has an id' 1 "$(echo "$id" | grep -cE '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$')"
check 'which its events have' 'RequestReceived ResponseComplete' "$(events "$id" .stage | jq -rs 'join(" ")')"
has 'an id can be given' 'audit-id: mine' "$(ask -o /dev/null -D - -H 'Audit-ID: mine' "$maps")"
check 'also to a refusal' 401 "$(code anonymous -H 'Audit-ID: badly' -H 'Authorization: Bearer wrong-token' "$maps")"
check 'which has one event' 'ResponseStarted 401 Unauthorized' \
    "$(events badly '.stage + " " + (.responseStatus.code | tostring) + " " + .responseStatus.message' | jq -r .)"

kubectl create secret generic s --from-literal=word=swordfish-raw >/dev/null
settle
check 'a secret is not shown' '["ResponseComplete",null,null,201]' \
    "$(jq -c 'select(.objectRef.resource == "secrets" and .stage == "ResponseComplete" and .verb == "create") | [.stage, .requestObject, .responseObject, .responseStatus.code]' "$log")"
token=$(kubectl create token default 2>/dev/null || { kubectl create serviceaccount default >/dev/null; kubectl create token default; })
settle
has 'its id is' 'JTI=' "$(jq -r 'select(.objectRef.subresource == "token") | .annotations["authentication.kubernetes.io/issued-credential-id"]' "$log")"
check 'somebody with a token' 200 "$(code anonymous -H 'Audit-ID: robot' -H 'Authorization: Bearer top-secret-token' "$maps")"
check 'is known by name' '"robot"' "$(events robot .user.username | sort -u)"
anonymous -H "Authorization: Bearer $token" "$maps" >/dev/null
settle
for word in swordfish-raw "$(printf swordfish-raw | base64)" top-secret-token wrong-token "$token" hook-token; do
    check "nowhere is $(echo "$word" | cut -c1-12)" 0 "$(cat "$log" "$dir/a/sampan.log" | grep -cF -e "$word")"
done

# ---- Objects, in every form ----

echo '{"metadata":{"name":"c"},"data":{"k":"v"}}' | send POST "$maps" >/dev/null
ask "$maps/c" | jq -S 'del(.metadata.managedFields)' >"$dir/want"
for type in application/json application/yaml application/vnd.kubernetes.protobuf application/cbor; do
    ask -o /dev/null -H "Accept: $type" -H "Audit-ID: get $type" "$maps/c?pretty=1"
    check "$type" "$(cat "$dir/want")" "$(events "get $type" .responseObject | jq -S 'select(. != null)')"
    ask -o /dev/null -H "Accept: $type" -H "Audit-ID: none $type" "$maps/none"
    check "$type, an error" '"NotFound"' "$(events "none $type" 'select(.responseStatus) | .responseStatus.reason')"
    ask -o /dev/null -H "Accept: $type" -H "Audit-ID: list $type" "$maps"
    check "$type, a list" '["ConfigMapList",1,null]' \
        "$(events "list $type" 'select(.responseObject) | [.responseObject.kind, (.responseObject.items | length), .responseObject.items[0].metadata.managedFields]')"
done
ask -o /dev/null -H 'Audit-ID: table' -H 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io' "$maps"
check 'a table' '["Table",null]' "$(events table 'select(.responseObject) | [.responseObject.kind, .responseObject.rows[0].object.metadata.managedFields]')"
echo 'data: {k: w}' | ask -H 'Audit-ID: apply' -H 'Content-Type: application/apply-patch+yaml' -X PATCH \
    "$maps/c?fieldManager=t&force=true" --data-binary @- >/dev/null
echo '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"k":"w"}}' |
    ask -H 'Audit-ID: apply2' -H 'Content-Type: application/apply-patch+yaml' -X PATCH \
        "$maps/c?fieldManager=t&force=true" -d @- >/dev/null
check 'what is applied' '"w"' "$(events apply2 'select(.requestObject) | .requestObject.data.k')"
kubectl create deployment d --image=i >/dev/null
settle
check 'requests have their defaults, answers are not shown' '["Always",null]' \
    "$(jq -c 'select(.objectRef.resource == "deployments" and .verb == "create" and .stage == "ResponseComplete") | [.requestObject.spec.template.spec.restartPolicy, .responseObject]' "$log")"
ask -o /dev/null -H 'Audit-ID: nodes' "$server/api/v1/nodes"
check 'stages can be left out' '"ResponseComplete"' "$(events nodes .stage)"
ask -o /dev/null -H 'Audit-ID: ready' "$server/readyz"
check 'and requests' '' "$(events ready)"

kubectl create configmap gone >/dev/null
ask -o /dev/null -H 'Audit-ID: unsafe' -X DELETE \
    "$maps/gone?ignoreStoreReadErrorWithClusterBreakingPotential=true"
check 'a delete that looks away says so' '[""]' \
    "$(events unsafe 'select(.responseStatus) | [.annotations["apiserver.k8s.io/unsafe-delete-ignore-read-error"]]')"

# A watch has begun long before it ends.
curl -sSN --cacert "$dir/ca.crt" --cert "$dir/admin.crt" --key "$dir/admin.key" --max-time 60 \
    -H 'Audit-ID: watch' "$maps?watch=1" >/dev/null &
watching=$!
waits happened watch 2
check 'a watch begins' '"ResponseStarted"' "$(events watch .stage | tail -1)"
kill $watching
waits happened watch 3
check 'and ends' '"ResponseComplete"' "$(events watch .stage | tail -1)"
ask -o /dev/null -H 'Audit-ID: as' -H 'Impersonate-User: zoe' "$maps"
check 'who is who' '["admin","zoe","impersonate:user-info","forbid"]' \
    "$(events as 'select(.responseStatus) | [.user.username, .impersonatedUser.username, .authenticationMetadata.impersonationConstraint, .annotations["authorization.k8s.io/decision"]]')"

# ---- A webhook ----

told() { jq -se "[.[].items[].auditID] | index(\"$1\")" "$hook/lists" >/dev/null 2>&1; }
waits told as
check 'it gets lists' '["EventList","audit.k8s.io/v1",null]' "$(jq -c '[.kind, .apiVersion, .items[0].kind]' "$hook/lists" | sort -u)"
check 'at the path of its file' '/audit?all=1' "$(sort -u "$hook/calls")"
check 'by who may' 'Bearer hook-token' "$(sort -u "$hook/callers")"
check 'no event was lost' 0 "$(metric 'error_total{plugin="webhook"}')"

# One that does not answer fills its queue; everything else goes on.
mode hangs
for i in $(seq 150); do
    echo "{\"metadata\":{\"name\":\"n$i\"}}"
done | while read -r body; do
    printf 'url = "%s"\nheader = "Content-Type: application/json"\ndata = "%s"\n' "$maps" "$(echo "$body" | sed 's/"/\\"/g')"
    printf 'cacert = "%s"\ncert = "%s"\nkey = "%s"\noutput = "/dev/null"\nwrite-out = "%%{http_code}\\n"\nnext\n' \
        "$dir/ca.crt" "$dir/admin.crt" "$dir/admin.key"
done | sed '$d' | curl -sS --max-time 60 -K - >"$dir/codes"
check 'writes do not wait for it' '150 201' "$(sort "$dir/codes" | uniq -c | sed 's/^ *//')"
waits is_more 'error_total{plugin="buffered"}' 0
settle
check 'the log has all of them' 150 "$(cat "$(dirname "$log")"/* | jq -c 'select(.verb == "create" and .stage == "ResponseComplete" and (.objectRef.name // "" | test("^n[0-9]+$")))' | wc -l)"
has 'what is lost is told' 'audit events were lost' "$(cat "$dir/a/sampan.log")"
mode refuses
waits is_more 'error_total{plugin="webhook"}' 0
mode good
ask -o /dev/null -H 'Audit-ID: again' "$server/api/v1/nodes"
for _ in 1 2 3 4 5 6 7 8 9 10; do # what was sent while the queue was full is gone
    told again && break
    sleep 0.3
    ask -o /dev/null -H 'Audit-ID: again' "$server/api/v1/nodes"
done
waits told again

# ---- Files ----

big=$(head -c 300000 /dev/zero | tr '\0' x)
for i in 1 2 3 4 5 6 7 8 9; do
    printf '{"metadata":{"name":"big%s"},"data":{"k":"%s"}}' $i "$big" | send POST "$maps" >/dev/null
done
aside() { find "$(dirname "$log")" -name 'audit-20*T*.log'; }
is_shown() { cat "$(dirname "$log")"/*.log | grep -q "\"name\":\"$1\".*\"responseObject\""; }
waits is_shown big9 # large answers are written a moment later
check 'two files are kept' 2 "$(aside | wc -l)"
check 'none is larger than it may be' '' "$(find "$(dirname "$log")" -name '*.log' -size +1024k)"
check 'their lines are whole' 0 "$(cat "$(dirname "$log")"/*.log | jq -c . 2>&1 >/dev/null | wc -l)"
check 'only the owner reads them' 600 "$(stat -c %a "$log")"

is_shown_as() { cat "$(dirname "$log")"/*.log | grep -q "\"auditID\":\"$1\".*\"responseObject\""; }
# A list that its client wants compressed is shown all the same.
ask -o /dev/null -H 'Audit-ID: gzip' -H 'Accept-Encoding: gzip' "$maps?limit=500"
waits is_shown_as gzip
has 'a compressed list' '"ConfigMapList"' "$(cat "$(dirname "$log")"/*.log | jq -c 'select(.auditID == "gzip" and .responseObject) | .responseObject.kind')"
"$sampan" down --data-dir "$dir/a" >/dev/null

# ---- Standard output, in words ----

up --store memory --audit-policy-file "$dir/policy.yaml" --audit-log-path - --audit-log-format legacy \
    --audit-log-mode batch >/dev/null || exit 1
connect
ask -o /dev/null -H 'Audit-ID: words' "$server/api/v1/nodes"
tells() { grep -q -e "$1" "$dir/a/sampan.log"; }
waits tells 'AUDIT: id="words" stage="ResponseComplete" ip="127.0.0.1" method="list" user="admin"'
"$sampan" down --data-dir "$dir/a" >/dev/null

# ---- What is too large ----

up --store memory --audit-policy-file "$dir/policy.yaml" --audit-log-path "$dir/short/audit.log" \
    --audit-log-truncate-enabled --audit-log-truncate-max-event-size 2000 >/dev/null || exit 1
connect
log=$dir/short/audit.log maps=$server/api/v1/namespaces/default/configmaps
printf '{"metadata":{"name":"b"},"data":{"k":"%s"}}' "$(head -c 3000 /dev/zero | tr '\0' x)" |
    ask -H 'Audit-ID: cut' -H 'Content-Type: application/json' -d @- -o /dev/null "$maps"
check 'an event is shortened' '["b",null,null,"true"]' \
    "$(events cut 'select(.stage == "ResponseComplete") | [.objectRef.name, .requestObject, .responseObject, .annotations["audit.k8s.io/truncated"]]')"
ask -o /dev/null -H 'Audit-ID: lost' "$maps?x=$(head -c 3000 /dev/zero | tr '\0' x)"
check 'one without objects is lost' '' "$(events lost)"
check 'which is counted' 2 "$(metric 'error_total{plugin="truncate"}')"
"$sampan" down --data-dir "$dir/a" >/dev/null
has 'a rate that is none' 'log-batch-throttle-qps must be a positive number' "$(up --audit-log-batch-throttle-qps 0 2>&1)"

# CVE-2023-2878: the log of the server has no token, however much it logs of the requests that make, use and review
# them; the audit log has those of bodies that the policy asks for, as upstream's has, and no other.
printf 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n' >"$dir/all.yaml"
up --store memory --verbose --audit-policy-file "$dir/all.yaml" --audit-log-path "$dir/all/audit.log" >/dev/null || exit 1
connect
log=$dir/all/audit.log accounts=$server/api/v1/namespaces/default/serviceaccounts
ask -H 'Content-Type: application/json' -d '{"metadata":{"name":"robot"}}' -o /dev/null "$accounts"
: >"$dir/made"
for type in application/json application/yaml application/vnd.kubernetes.protobuf; do
    ask -H 'Content-Type: application/json' -H "Accept: $type" -d '{}' "$accounts/robot/token" | grep -ao 'ey[A-Za-z0-9_-]*\.ey[A-Za-z0-9_.-]*' >>"$dir/made"
done
ask -H 'Content-Type: application/json' -d '{}' "$accounts/robot/token?pretty=1" | grep -o 'ey[A-Za-z0-9_-]*\.ey[A-Za-z0-9_.-]*' >>"$dir/made"
check 'four tokens' 4 "$(sort -u "$dir/made" | grep -c ...)"
token=$(head -n 1 "$dir/made")
reviews=$server/apis/authentication.k8s.io/v1/tokenreviews
check 'a review' true "$(printf '{"spec":{"token":"%s"}}' "$token" | send POST "$reviews" | jq .status.authenticated)"
printf 'spec: {token: %s}\n' "$token" | send POST "$reviews" yaml >/dev/null
printf '{"spec":{"token":"%sx"}}' "$token" | send POST "$reviews" >/dev/null
printf '{"spec":{"token":["%s"]}}' "$token" | send POST "$reviews" >/dev/null
anonymous -o /dev/null -H "Authorization: Bearer $token" "$server/api"
anonymous -o /dev/null -H "Authorization: Bearer ${token}x" "$server/api"
anonymous -o /dev/null "$server/api?access_token=x&token=" -H "Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.$(printf %s "$token" | base64 -w0 | tr -d = | tr '/+' '_-')"
settle
check 'the log shows such requests' true "$(jq -s 'map(select(.objectRef.subresource == "token" and .stage == "ResponseComplete")) | length == 4' "$log")"
check 'and reviews' true "$(jq -s 'map(select(.objectRef.resource == "tokenreviews" and .stage == "ResponseComplete")) | length == 4' "$log")"
"$sampan" down --data-dir "$dir/a" >/dev/null
cut -d. -f3 "$dir/made" | cut -c1-20 >"$dir/signatures" # also of a token that was cut off
check 'no token in the audit log (CVE-2023-2878)' 0 "$(grep -c -F -f "$dir/signatures" "$log")"
check 'nor in the log of the server' 0 "$(grep -c -F -f "$dir/signatures" "$dir/a/sampan.log")"

# A log that takes nothing refuses nobody, unless it is strict.
up --store memory --audit-policy-file "$dir/policy.yaml" --audit-log-path /dev/full >/dev/null || exit 1
connect
check 'a log that is full' 200 "$(code ask "$server/api/v1/nodes")"
waits is_more 'error_total{plugin="log"}' 0
"$sampan" down --data-dir "$dir/a" >/dev/null
up --store memory --audit-policy-file "$dir/policy.yaml" --audit-log-path "$dir/gone/audit.log" \
    --audit-log-maxsize 1 --audit-log-mode blocking-strict >/dev/null || exit 1
connect
maps=$server/api/v1/namespaces/default/configmaps
rm -r "$dir/gone"
long=$(head -c 50000 /dev/zero | tr '\0' x)
for _ in $(seq 30); do # until the file would have to be put aside
    last=$(ask "$maps?x=$long")
    is_more requests_rejected_total 0 && break
done
check 'who cannot be audited is refused' \
    'Internal Server Error: "/api/v1/namespaces/default/configmaps": failed to store audit event' "$(echo "$last" | cut -c1-100)"
finish
