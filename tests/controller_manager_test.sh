#!/bin/sh
# controller_manager_test.sh SAMPAN - the stock kube-controller-manager lives with our roles: each of
# its controllers as a service account of its own (--use-service-account-credentials). It is taken from
# SAMPAN_KCM or from the PATH. SAMPAN_KCM_SECONDS is how long its log is watched at least (default 20).
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
kcm=${SAMPAN_KCM:-$(command -v kube-controller-manager)}
[ -x "$kcm" ] || { skip "no kube-controller-manager (SAMPAN_KCM names one)"; exit 77; }
needs jq

cat >"$dir/policy" <<EOF_POLICY
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
EOF_POLICY
serve --audit-policy-file "$dir/policy" --audit-log-path "$dir/audit.log" --enable-admission-plugins ServiceAccount \
    --controllers=-clusterrole-aggregation-controller
"$sampan" kubeconfig --data-dir "$dir/a" --user system:kube-controller-manager --output "$dir/kcm.kubeconfig" >/dev/null

"$kcm" --kubeconfig "$dir/kcm.kubeconfig" --controllers='*' --use-service-account-credentials \
    --service-account-private-key-file "$dir/a/pki/sa.key" --root-ca-file "$dir/ca.crt" \
    --cluster-signing-cert-file "$dir/a/pki/ca.crt" --cluster-signing-key-file "$dir/a/pki/ca.key" \
    --bind-address 127.0.0.1 --secure-port 0 >"$dir/kcm.log" 2>&1 &
manager=$!
began=$(date +%s)
at_end='kill $manager 2>/dev/null; wait $manager 2>/dev/null'

waits() { # COMMAND... - until it is true, or the manager has ended
    for i in $(seq 900); do
        "$@" && return
        kill -0 $manager 2>/dev/null || break
        sleep 0.1
    done
    failed=$((failed + 1))
    echo "FAILED: waited in vain for: $*"
}
send() { admin -H 'Content-Type: application/json' -X "$1" "$server$2" -d "$3"; }
# The log is written a moment later, in order: what was before this request is then in it.
settle() {
    now=settle$(date +%s%N)
    admin -o /dev/null -H "Audit-ID: $now" "$server/api/v1/nodes"
    waits grep -q "$now" "$dir/audit.log"
}
controller() { echo "system:serviceaccount:kube-system:$1"; }

# ---- A Deployment
has_account() { [ "$(code admin "$server/api/v1/namespaces/default/serviceaccounts/default")" = 200 ]; }
waits has_account
send POST /apis/apps/v1/namespaces/default/deployments '{"metadata":{"name":"web"},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}' >/dev/null
has_pods() { [ "$(admin "$server/api/v1/namespaces/default/pods?labelSelector=app%3Dweb" | jq '.items | length')" = 2 ]; }
waits has_pods
settle
creators() { jq -r "select(.verb == \"create\" and .objectRef.resource == \"$1\" and .objectRef.namespace == \"default\" and .responseStatus.code == 201) | .user.username" "$dir/audit.log" | sort -u; }
check "who makes replica sets" "$(controller deployment-controller)" "$(creators replicasets)"
check "who makes pods" "$(controller replicaset-controller)" "$(creators pods)"
check "who made service accounts" "$(controller service-account-controller)" "$(creators serviceaccounts)"
admin "$server/api/v1/namespaces/default/configmaps/kube-root-ca.crt" | jq -j '.data["ca.crt"]' >"$dir/published.crt"
check "the authority is published" "$(cat "$dir/ca.crt")" "$(cat "$dir/published.crt")"

# ---- What others do for us
send POST /apis/rbac.authorization.k8s.io/v1/clusterroles '{"metadata":{"name":"more","labels":{"rbac.authorization.k8s.io/aggregate-to-view":"true"}},"rules":[{"apiGroups":["example.com"],"verbs":["get"],"resources":["things"]}]}' >/dev/null
is_gathered() { admin "$server/apis/rbac.authorization.k8s.io/v1/clusterroles/view" | grep -q example.com; }
waits is_gathered
send POST /api/v1/namespaces '{"metadata":{"name":"gone"}}' >/dev/null
send POST /api/v1/namespaces/gone/configmaps '{"metadata":{"name":"x"}}' >/dev/null
admin -X DELETE "$server/api/v1/namespaces/gone" >/dev/null
is_gone() { [ "$(code admin "$server/api/v1/namespaces/gone")" = 404 ]; }
waits is_gone
admin -X DELETE "$server/apis/apps/v1/namespaces/default/deployments/web" >/dev/null
has_none() { [ "$(admin "$server/api/v1/namespaces/default/pods" | jq '.items | length')" = 0 ]; }
waits has_none

# ---- A token in a Secret
send POST /api/v1/namespaces/default/secrets '{"metadata":{"name":"old","annotations":{"kubernetes.io/service-account.name":"default"}},"type":"kubernetes.io/service-account-token"}' >/dev/null
secret() { admin "$server/api/v1/namespaces/default/secrets/old" | jq -r "$1 // empty"; }
has_token() { [ -n "$(secret .data.token)" ]; }
waits has_token
token=$(secret .data.token | base64 -d)
old() { anonymous -H "Authorization: Bearer $token" "$@"; }
check "it is believed" 200 "$(code old "$server/apis")"
is_labelled() { [ -n "$(secret '.metadata.labels["kubernetes.io/legacy-token-last-used"]')" ]; }
waits is_labelled
settle
check "its use is noted" "old system:serviceaccount:default:default" \
    "$(jq -r 'select(.annotations["authentication.k8s.io/legacy-token-manual-secret"]) | .annotations | .["authentication.k8s.io/legacy-token-manual-secret"] + " " + .["authentication.k8s.io/legacy-token"]' "$dir/audit.log" | sort -u)"
admin -X PATCH -H 'Content-Type: application/merge-patch+json' "$server/api/v1/namespaces/default/serviceaccounts/default" \
    -d '{"secrets":[{"name":"old"}]}' >/dev/null
has "an automatic one comes with a warning" "instead of auto-generated" "$(old -o /dev/null -D - "$server/apis")"
admin -X PATCH -H 'Content-Type: application/merge-patch+json' "$server/api/v1/namespaces/default/secrets/old" \
    -d '{"metadata":{"labels":{"kubernetes.io/legacy-token-invalid-since":"2026-01-01"}}}' >/dev/null
check "it is marked invalid" 401 "$(code old "$server/apis")"
settle
check "as with upstream, a refusal says nothing of it" "" \
    "$(jq -r '.annotations["authentication.k8s.io/legacy-token-invalidated"] // empty' "$dir/audit.log" | sort -u)"

# ---- Nobody was refused
while [ $(($(date +%s) - began)) -lt "${SAMPAN_KCM_SECONDS:-20}" ]; do sleep 1; done
kill -0 $manager 2>/dev/null || { failed=$((failed + 1)); echo "FAILED: it has ended"; tail -n 20 "$dir/kcm.log"; }
settle
# Upstream, too, has controllers that write into a namespace while it ends.
check "nothing is forbidden" "" "$(grep -i forbidden "$dir/kcm.log" | grep -v 'it is being terminated' | head -n 5)"
check "nobody was refused" "" \
    "$(jq -c 'select(.responseStatus.code == 403 and (.responseStatus.message | contains("it is being terminated") | not)) | [.user.username, .verb, .requestURI]' "$dir/audit.log" | sort | uniq -c | head -n 10)"
[ $failed -eq 0 ] || { [ -z "${SAMPAN_KEEP:-}" ] || cp "$dir/kcm.log" "$dir/audit.log" "$SAMPAN_KEEP"; }
finish
