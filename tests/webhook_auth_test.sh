#!/bin/sh
# webhook_auth_test.sh SAMPAN - webhooks that know tokens and that decide what is allowed: right and
# wrong answers, none at all, memory, match conditions, and a configuration that changes while it is
# used. While a webhook hangs, others are served.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
needs python3 openssl jq kubectl
. "$(dirname "$0")/hook.sh"

# ---- Tools ----

# The webhook reads the mode at any time: it must never see a file that is still empty.
mode() { echo "$1" >"$hook/mode.new" && mv "$hook/mode.new" "$hook/mode"; }
forget() { : >"$hook/reviews"; }
n_reviews() { wc -l <"$hook/reviews"; }
asked() { [ "$(n_reviews)" -ge "$1" ]; }
last() { tail -n 1 "$hook/reviews" | jq -c "$1"; }
as() { who=$1; shift; anonymous -H "Authorization: Bearer $who" "$@"; }
send() { admin -A test -H 'Content-Type: application/json' -X "$1" "$server$2" -d "$3"; }
code_of_send() { admin -o /dev/null -w '%{http_code}' -H 'Content-Type: application/json' -X "$1" "$server$2" -d "$3"; }
pods=/api/v1/namespaces/default/pods
node() { echo "$server/api/v1/nodes/$1"; }
log_has() { grep -q -e "$1" "$dir/a/sampan.log"; }
metric() { admin "$server/metrics" | grep -F "$1" | sed 's/.* //'; }
up_logged() { up "$@" >/dev/null || give_up; connect; }
down() { "$sampan" down --data-dir "$dir/a" >/dev/null 2>&1; rm -f "$dir/a/sampan.log"; }

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1 \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$hook/hook.key" -out "$hook/hook.crt" 2>/dev/null
mode good
forget
start_hook() {
    run_hook authorize.py
}
start_hook
kubeconfig() { # FILE PORT
    cat >"$1" <<END
apiVersion: v1
kind: Config
clusters: [{name: hook, cluster: {server: "https://127.0.0.1:$2/review", certificate-authority: $hook/hook.crt}}]
users: [{name: us, user: {token: secret}}]
contexts: [{name: c, context: {cluster: hook, user: us}}]
current-context: c
END
}
kubeconfig "$dir/hook.kubeconfig" "$(cat "$hook/port")"
kubeconfig "$dir/dead.kubeconfig" 1

# ---- Tokens ----

has "no file, no start" "authentication-token-webhook-config-file" \
    "$(up --authentication-token-webhook-config-file "$dir/none" 2>&1; cat "$dir/a/sampan.log" 2>/dev/null)"
rm -rf "$dir/a"
up_logged --authentication-token-webhook-config-file "$dir/hook.kubeconfig" \
    --authentication-token-webhook-version v1 --api-audiences here,there
send POST /apis/rbac.authorization.k8s.io/v1/clusterrolebindings '{"metadata":{"name":"hooked"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},"subjects":[{"kind":"Group","apiGroup":"rbac.authorization.k8s.io","name":"hooked"}]}' >/dev/null
send POST /api/v1/namespaces/default/serviceaccounts '{"metadata":{"name":"sa"}}' >/dev/null
account=$(send POST /api/v1/namespaces/default/serviceaccounts/sa/token '{"spec":{}}' | jq -r .status.token)
whoami=/apis/authentication.k8s.io/v1/selfsubjectreviews
who() { as "$1" -A test -H 'Content-Type: application/json' -d '{}' "$server$whoami" | jq -c .status.userInfo; }

check "its user" '{"username":"ann","uid":"u-ann","groups":["hooked","system:authenticated"],"extra":{"harbour.example/berth":["7"]}}' "$(who ann:)"
check "what it was asked" '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","token":"ann:","audiences":["here","there"]}' \
    "$(last '{apiVersion,kind,token:.spec.token,audiences:.spec.audiences}')"
check "her roles" 200 "$(code as ann: "$server$pods")"
check "no more than them" 403 "$(code as ann: "$server/api/v1/namespaces/default/secrets")"
check "an unknown token" 401 "$(code as nobody "$server$pods")"
check "a token that is broken" 401 "$(code as broken: "$server$pods")"
check "for somebody else" 401 "$(code as ann:elsewhere "$server$pods")"
check "for several, here too" 200 "$(code as ann:elsewhere+there "$server$pods")"
review() { send POST /apis/authentication.k8s.io/v1/tokenreviews "{\"spec\":{\"token\":\"$1\"${2:+,\"audiences\":[\"$2\"]}}}" | jq -c .status; }
check "a token review" '{"authenticated":true,"user":{"username":"ann","uid":"u-ann","groups":["hooked","system:authenticated"],"extra":{"harbour.example/berth":["7"]}},"audiences":["there"]}' \
    "$(review ann:elsewhere+there there)"
check "one that fails" '{"user":{},"error":"[invalid bearer token, the token is broken]"}' "$(review broken:)"

# What it answered is remembered, but not that something was wrong.
forget
check "again" 200 "$(code as ann: "$server$pods")"
check "not known, again" 401 "$(code as nobody "$server$pods")"
check "nobody was asked" 0 "$(n_reviews)"
check "broken, again" 401 "$(code as broken: "$server$pods")"
check "it was asked" 1 "$(n_reviews)"
check "it asks nobody about its own" 200 "$(code as "$account" "$server/api/v1")"
check "nor about certificates" 200 "$(code admin "$server/api/v1")"
check "still once" 1 "$(n_reviews)"

mode flaky
check "a failure that passes" 200 "$(code as bea: "$server$pods")"
mode refuses
check "a failure that stays" 401 "$(code as cid: "$server$pods")"
mode odd
check "an answer of another kind" 401 "$(code as cid: "$server$pods")"
mode good
check "nothing of that is remembered" 200 "$(code as cid: "$server$pods")"

# While it hangs, others are served, and many who wait do not keep them from it.
mode hangs
forget
for i in 1 2 3 4 5 6 7 8; do as "dan$i:" -o "$dir/dan$i" -w '%{http_code}' "$server$pods" >"$dir/dan$i.code" & done
waits asked 8
check "a bystander with a certificate" 200 "$(code admin "$server$pods")"
check "one with a token of its own" 200 "$(code as "$account" "$server/api/v1")"
check "one that is remembered" 200 "$(code as ann: "$server$pods")"
check "and nobody has an answer" "" "$(cat "$dir"/dan*.code)"
as gone: --max-time 1 "$server$pods" >/dev/null 2>&1
check "the server outlives who goes away" 200 "$(code admin "$server$pods")"
mode good
waits test -s "$dir/dan8.code"
for i in 1 2 3 4 5 6 7; do waits test -s "$dir/dan$i.code"; done
check "then all have one" 200200200200200200200200 "$(cat "$dir"/dan*.code)"

stop_hook
check "when it is down, who is remembered stays" 200 "$(code as ann: "$server$pods")"
check "others are refused" 401 "$(code as eve: "$server$pods")"
check "and the rest goes on" 200 "$(code as "$account" "$server/api/v1")"
start_hook
down

# ---- Decisions, by flags ----

check "a webhook needs its file" 2 "$(up --authorization-mode=Webhook >/dev/null 2>&1; echo $?)"
check "flags and a file" 2 "$(up --authorization-mode=RBAC --authorization-config=/x >/dev/null 2>&1; echo $?)"
cat >"$dir/tokens" <<END
ann,ann,u-ann,"crew"
bob-yes,bob-yes,u-bob,"crew"
END
kubeconfig "$dir/hook.kubeconfig" "$(cat "$hook/port")"
echo '{"apiVersion":"audit.k8s.io/v1","kind":"Policy","rules":[{"level":"Metadata"}]}' >"$dir/policy"
up_logged --token-auth-file "$dir/tokens" --authorization-mode=Webhook,RBAC \
    --authorization-webhook-config-file "$dir/hook.kubeconfig" \
    --audit-policy-file "$dir/policy" --audit-log-path "$dir/audit.log"
forget
check "it allows" 404 "$(code as ann "$(node x-yes)")"
check "in v1beta1" '{"group":"authorization.k8s.io/v1beta1","spec":{"group":["crew","system:authenticated"],"resourceAttributes":{"name":"x-yes","resource":"nodes","verb":"get","version":"v1"},"uid":"u-ann","user":"ann"}}' \
    "$(last '{group:.apiVersion,spec:.spec}')"
has "it denies" '"message":"nodes \"x-no\" is forbidden: User \"ann\" cannot get resource \"nodes\" in API group \"\" at the cluster scope: the harbour is closed"' \
    "$(as ann -A test "$(node x-no)")"
has "it does not know" 'at the cluster scope: default: who knows' "$(as ann "$(node x)")"
check "two minds are a failure" "Internal Server Error: \"/api/v1/nodes/x-both\": webhook subject access review returned both allow and deny response" \
    "$(as ann "$(node x-both)")"
check "system:masters is not asked about" 404 "$(code admin "$(node x-no)")"
as ann "$server$pods?labelSelector=a%3Db,c&fieldSelector=spec.nodeName%3Dn" >/dev/null
check "selectors" '{"fieldSelector":{"requirements":[{"key":"spec.nodeName","operator":"In","values":["n"]}]},"labelSelector":{"requirements":[{"key":"a","operator":"In","values":["b"]},{"key":"c","operator":"Exists"}]}}' \
    "$(last '.spec.resourceAttributes | {fieldSelector,labelSelector}')"
as ann "$server/healthz/log-yes" >/dev/null
check "a path" '{"path":"/healthz/log-yes","verb":"get"}' "$(last .spec.nonResourceAttributes)"
forget
check "it is remembered" 404 "$(code as ann "$(node x-yes)")"
check "nobody was asked" 0 "$(n_reviews)"
check "she may act for him" 404 "$(code as bob-yes -H 'Impersonate-User: ann' -H 'Impersonate-Group: g' "$(node y-yes)")"
check "and each claim was asked about" '["groups","nodes","users"]' "$(jq -s -c '[.[].spec.resourceAttributes.resource] | unique' "$hook/reviews")"
check "or not" 403 "$(code as ann -H 'Impersonate-User: x-no' "$(node y-yes)")"

mode refuses
check "when it fails, roles decide" 404 "$(code admin "$(node z)")"
has "and if they do not allow it, that is told" "the webhook answered with status 503" "$(as ann "$(node q-yes)")"
mode hangs
forget
as ann -o /dev/null -w '%{http_code}' "$(node slow-yes)" >"$dir/slow.code" &
waits asked 1
check "while it hangs, others are served" 404 "$(code admin "$(node z)")"
check "also who is remembered" 404 "$(code as ann "$(node x-yes)")"
check "and she waits" "" "$(cat "$dir/slow.code")"
for i in $(seq 70); do
    send POST /apis/authorization.k8s.io/v1/subjectaccessreviews '{"spec":{"user":"joe'"$i"'","resourceAttributes":{"verb":"get","resource":"nodes","name":"r-yes"}}}' >/dev/null 2>&1 &
done
waits asked 60
check "many reviews that wait keep nobody from writing" 201 "$(code_of_send POST /api/v1/namespaces/default/configmaps '{"metadata":{"name":"c"}}')"
mode good
waits test -s "$dir/slow.code"
check "until she has her answer" 404 "$(cat "$dir/slow.code")"
as_ann() { KUBECONFIG=/dev/null kubectl --server "$server" --certificate-authority "$dir/ca.crt" --token "$@"; }
check "kubectl auth can-i" yes "$(as_ann ann auth can-i get nodes/x-yes 2>/dev/null)"
has "or not" "no - the harbour is closed" "$(as_ann ann auth can-i get nodes/x-no 2>&1)"
has "the list is not complete" "webhook authorizer does not support user rule resolution" "$(as_ann bob-yes auth can-i --list 2>&1)"
rules() { as bob-yes -A test -H 'Content-Type: application/json' -d '{"spec":{"namespace":"default"}}' "$server/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"; }
check "which the review says" '{"incomplete":true,"evaluationError":"webhook authorizer does not support user rule resolution"}' \
    "$(rules | jq -c '.status | {incomplete,evaluationError}')"
may() { send POST /apis/authorization.k8s.io/v1/subjectaccessreviews "{\"spec\":{\"user\":\"$1\",\"resourceAttributes\":{\"verb\":\"get\",\"resource\":\"nodes\",\"name\":\"$2\"}}}" | jq -c .status; }
check "a review of what is allowed" '{"allowed":true,"reason":"welcome"}' "$(may joe a-yes)"
check "of what is denied" '{"allowed":false,"denied":true,"reason":"the harbour is closed"}' "$(may joe a-no)"
check "of what nobody knows" '{"allowed":false,"reason":"default: who knows"}' "$(may joe a)"
check "of what is both" '{"allowed":false,"denied":true,"reason":"in two minds","evaluationError":"webhook subject access review returned both allow and deny response"}' "$(may joe a-both)"
mode refuses
has "of what fails" '"allowed":false,"evaluationError":"Post' "$(may joe b-yes)"
mode good
noted() { jq -r "select(.stage == \"ResponseComplete\" and .requestURI == \"/api/v1/nodes/$1\" and .user.username == \"ann\") | .annotations | [.[\"authorization.k8s.io/decision\"], .[\"authorization.k8s.io/reason\"]] | join(\": \")" "$dir/audit.log" | sort -u; }
check "the audit log says who decided" "allow: welcome" "$(noted x-yes)"
check "against it, too" "forbid: the harbour is closed" "$(noted x-no)"
check "and what failed" ": internal error" "$(noted x-both)"
check "the numbers of decisions" true "$([ "$(metric 'apiserver_authorization_decisions_total{decision="denied",name="default",type="Webhook"}')" -ge 3 ] && echo true)"
check "of roles" true "$([ "$(metric 'apiserver_authorization_webhook_evaluations_total{name="default",result="error"}')" -ge 2 ] && echo true)"
down

# ---- Decisions, by a file ----

config() { # POLICY CONDITION KUBECONFIG
    cat >"$dir/config.new" <<END
apiVersion: apiserver.config.k8s.io/v1
kind: AuthorizationConfiguration
authorizers:
- type: Webhook
  name: harbour
  webhook:
    timeout: 3s
    subjectAccessReviewVersion: v1
    matchConditionSubjectAccessReviewVersion: v1
    failurePolicy: $1
    connectionInfo: {type: KubeConfigFile, kubeConfigFile: $3}
    matchConditions:
    - expression: $2
- {type: Node, name: node}
- {type: RBAC, name: rbac}
END
    mv "$dir/config.new" "$dir/config"
}
reload() { # POLICY CONDITION KUBECONFIG - and waits until it is in use
    before=$(metric 'automatic_reloads_total{apiserver_id_hash="'"$id"'",status="success"}')
    config "$@"
    hup
    waits reloaded
}
reloaded() { [ "$(metric 'automatic_reloads_total{apiserver_id_hash="'"$id"'",status="success"}')" -gt "$before" ]; }
hup() { kill -HUP "$(pgrep -f "^$sampan up --data-dir $dir/a ")"; }

echo 'kind: Nothing' >"$dir/config"
has "a file that is wrong" "failed to load AuthorizationConfiguration from file: Object 'apiVersion' is missing" \
    "$(up --authorization-config "$dir/config" 2>&1; cat "$dir/a/sampan.log")"
config Deny "request.user" "$dir/hook.kubeconfig"
rm -f "$dir/a/sampan.log"
has "an expression that is wrong" "must evaluate to bool but got string" \
    "$(up --authorization-config "$dir/config" 2>&1; cat "$dir/a/sampan.log")"
rm -f "$dir/a/sampan.log"
config Deny "request.user != 'skipped-no'" "$dir/hook.kubeconfig"
echo 'carl,skipped-no,' >>"$dir/tokens"
up_logged --token-auth-file "$dir/tokens" --authorization-config "$dir/config"
id=sha256:$(printf %s "$(hostname)" | sha256sum | cut -d' ' -f1)
forget
check "it allows" 404 "$(code as ann "$(node x-yes)")"
check "in v1" '"authorization.k8s.io/v1"' "$(last .apiVersion)"
has "it denies" "the harbour is closed" "$(as ann "$(node x-no)")"
has "who is kept from it is not" 'at the cluster scope"' "$(as carl "$(node x-yes)")"
check "nor asked about" 0 "$(grep -c skipped "$hook/reviews")"
mode refuses
check "a failure denies, in words" 500 "$(code as ann "$(node w-yes)")"
has "of the failure" "the webhook answered with status 503" "$(as ann "$(node w-yes)")"
mode good

reload NoOpinion "request.resourceAttributes.name != 'x'" "$dir/dead.kubeconfig"
check "nobody is there to ask" 500 "$(code as ann "$(node x-yes)")"
send POST /apis/rbac.authorization.k8s.io/v1/clusterrolebindings '{"metadata":{"name":"crew"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"},"subjects":[{"kind":"Group","apiGroup":"rbac.authorization.k8s.io","name":"crew"}]}' >/dev/null
check "with no opinion, roles decide" 404 "$(code as ann "$(node x-yes)")"
check "that is counted" true "$([ "$(metric 'apiserver_authorization_webhook_evaluations_fail_open_total{name="harbour",result="error"}')" -ge 1 ] && echo true)"
check "a condition that fails is no opinion, too" 200 "$(code as ann "$server/version")"
check "and counted" true "$([ "$(metric 'match_condition_evaluation_errors_total{name="harbour",type="Webhook"}')" -ge 1 ] && echo true)"
reload Deny "request.resourceAttributes.name != 'x'" "$dir/dead.kubeconfig"
has "with Deny, it stops there" "no such key: resourceAttributes" "$(as ann "$server/version")"
check "and so does a webhook that is down" 500 "$(code as ann "$(node x-yes)")"
check "one whom it is not asked about" 404 "$(code as ann "$(node x)")"

# While it serves, the file changes, and then is wrong.
reload Deny "request.user != 'nobody'" "$dir/hook.kubeconfig"
check "the new one decides" 403 "$(code as ann "$(node x-no)")"
echo nonsense >"$dir/config"
hup
waits log_has 'the authorization configuration cannot be used; the old one stays in use'
check "a wrong one does not" 403 "$(code as ann "$(node x-no)")"
check "and others are served" 404 "$(code as ann "$(node x-yes)")"
printf 'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers: [{type: AlwaysAllow, name: alwaysallow}]\n' >"$dir/config"
hup
waits log_has 'missing required types: \[Node RBAC\]'
check "nor one without what was there" 403 "$(code as ann "$(node x-no)")"
check "failures are counted" 2 "$(metric 'automatic_reloads_total{apiserver_id_hash="'"$id"'",status="failure"}')"
mode hangs
forget
as ann -o /dev/null -w '%{http_code}' "$(node late-yes)" >"$dir/late.code" &
waits asked 1
before=$(metric 'automatic_reloads_total{apiserver_id_hash="'"$id"'",status="success"}')
config NoOpinion "request.user != 'nobody'" "$dir/hook.kubeconfig"
hup
waits reloaded
check "who waits is answered by the one that was asked" "" "$(cat "$dir/late.code")"
mode good
waits test -s "$dir/late.code"
check "also after it was replaced" 404 "$(cat "$dir/late.code")"
mode hangs
as ann -o /dev/null -w '%{http_code}' "$(node never-yes)" >"$dir/never.code" 2>/dev/null &
waits asked 2
"$sampan" down --data-dir "$dir/a" >/dev/null 2>&1
check "a webhook that hangs does not keep the server from stopping" 0 $?
mode good
finish
