#!/bin/sh
# xray_test.sh SAMPAN - the way of a write through the server, as `sampan xray` and curl see it.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
cat >"$dir/tokens" <<END
ann-token,ann,u-ann,"team-a"
END
serve --api-versions all --token-auth-file "$dir/tokens"
xray() { "$sampan" xray "$@" --data-dir "$dir/a" 2>&1; }
core=/api/v1/namespaces/default

cat >"$dir/web.yaml" <<END
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i}]}
END
cat >"$dir/pod.yaml" <<END
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, image: i}]}
END

# ---- The command
dry=$(xray create --dry-run -f "$dir/pod.yaml")
has "a dry run says so" 'store       dry run' "$dry"
has "and its answer" '201 in ' "$dry"
check "and stores nothing" 404 "$(code admin "$server$core/pods/p")"
way=$(xray create -f "$dir/pod.yaml")
check "a real one stores" 200 "$(code admin "$server$core/pods/p")"
for stage in 'filter      authenticate' 'filter      authorize' 'route       POST pods' 'decode      body' \
    'defaults    Pod' 'conversion  v1 to v1' 'mutating    Priority' 'validation  Pod' 'validating  PodSecurity' \
    'store       commit'; do
    has "stage: $stage" "$stage" "$way"
done
order=$(echo "$way" | awk '{print $1}' | grep -v '[+/-]' | uniq | tr '\n' ' ')
has "in the order of the pipeline" 'filter route worker decode defaults conversion managers registry mutating registry validation validating store answer' "$order"
has "what the defaults changed" '    + /spec/restartPolicy: "Always"' "$way"
has "what a plugin changed" '    + /spec/priority: 0' "$way"
case $way in *managedFields*) check "managers are left out" "" shown ;; esac
has "unless they are asked for" managedFields "$(xray create --dry-run --show-managed-fields -f "$dir/web.yaml")"
check "no colours in a pipe" "" "$(echo "$way" | grep "$(printf '\033')")"
has "colours if asked for" "$(printf '\033[32m')" "$(xray create --dry-run --color always -f "$dir/web.yaml")"

has "apply creates" '201 in ' "$(xray apply -f "$dir/web.yaml")"
has "and shows the defaults apart" '    + /spec/replicas: 1' "$(sed 's/name: web/name: other/' "$dir/web.yaml" | xray apply --dry-run -f -)"
patched=$(xray patch -f "$dir/web.yaml" -p 'spec: {replicas: 3}')
has "a patch shows what it takes away" '    - /spec/replicas: 1' "$patched"
has "and what it puts there" '    + /spec/replicas: 3' "$patched"
has "a JSON patch" '200 in ' "$(xray patch -f "$dir/web.yaml" --type json -p '[{"op":"replace","path":"/spec/replicas","value":2}]')"
sed 's/matchLabels: {app: web}/matchLabels: {app: x}/; s/labels: {app: web}/labels: {app: x}/' "$dir/web.yaml" >"$dir/bad.yaml"
refused=$(xray replace -f "$dir/bad.yaml")
check "a refusal is an exit status" 1 "$(xray replace -f "$dir/bad.yaml" >/dev/null; echo $?)"
has "the stage that refused is named" ' refused' "$(echo "$refused" | grep '^validation  Deployment')"
has "with the reason" 'field is immutable' "$refused"
check "and nothing was changed" '{"app":"web"}' "$(admin "$server/apis/apps/v1/namespaces/default/deployments/web" | jq -c .spec.selector.matchLabels)"
has "an old version is converted" 'conversion  apps/v1beta1 to apps/v1' "$(sed 's,apps/v1,apps/v1beta1,; s/name: web/name: old/' "$dir/web.yaml" | xray create -f -)"
check "several documents" 2 "$(cat "$dir/pod.yaml" - "$dir/web.yaml" <<END | xray apply --dry-run -f - | grep -c ' in .* us\| in .* ms'
---
END
)"
has "a kind that is not there" 'sampan xray: ' "$(printf 'apiVersion: x/v1\nkind: Y\nmetadata: {name: z}\n' | xray create -f -)"
check "misuse" 2 "$(xray nothing >/dev/null; echo $?)"

# ---- The data
send() { admin -H 'X-Sampan-Xray: 1' -H 'Content-Type: application/json' "$@"; }
send "$server$core/configmaps" -d '{"metadata":{"name":"m"},"data":{"a":"b"}}' >"$dir/report"
check "as JSON" '["Xray",201,"ConfigMap","m"]' "$(jq -c '[.kind,.code,.answer.kind,.answer.metadata.name]' "$dir/report")"
check "every stage has a time" 0 "$(jq '[.stages[] | select(.microseconds == null or .microseconds < 0)] | length' "$dir/report")"
check "the answer has the code that it tells of" 409 "$(code send "$server$core/configmaps" -d '{"metadata":{"name":"m"}}')"
check "other forms are not asked" application/json "$(send -H 'Accept: application/vnd.kubernetes.protobuf' "$server$core/configmaps?dryRun=All" -d '{"metadata":{"name":"n"}}' -o /dev/null -w '%{content_type}')"
check "a delete has its way, too" '"DELETE configmaps"' "$(send -X DELETE "$server$core/configmaps/m" | jq -c '.stages[] | select(.part == "route") | .name')"
check "a read is a read" ConfigMapList "$(admin -H 'X-Sampan-Xray: 1' "$server$core/configmaps" | jq -r .kind)"

# ---- Who may
as_ann() { anonymous -H 'Authorization: Bearer ann-token' -H 'Content-Type: application/json' "$@"; }
rbac=$server/apis/rbac.authorization.k8s.io/v1
admin -H 'Content-Type: application/json' "$rbac/clusterroles" -d '{"metadata":{"name":"ann"},"rules":[{"apiGroups":[""],"verbs":["create","get"],"resources":["configmaps"]}]}' >/dev/null
admin -H 'Content-Type: application/json' "$rbac/clusterrolebindings" -d '{"metadata":{"name":"ann"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"ann"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"ann"}]}' >/dev/null
answer=$(as_ann -H 'X-Sampan-Xray: 1' "$server$core/configmaps" -d '{"metadata":{"name":"ann"}}')
check "who has no right to look is refused" '[403,"Status"]' "$(echo "$answer" | jq -c '[.code,.kind]')"
has "in words" 'User \"ann\" cannot get path \"/sampan/v1/xray\"' "$answer"
check "and nothing was done" 404 "$(code admin "$server$core/configmaps/ann")"
check "without looking he may" 201 "$(code as_ann "$server$core/configmaps" -d '{"metadata":{"name":"ann"}}')"

# ---- Initializers
admin -H 'Content-Type: application/json' "$server/apis/admissionregistration.k8s.io/v1alpha1/initializerconfigurations" -d '{"metadata":{"name":"i"},"initializers":[{"name":"one.example.com","rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["secrets"]}]}]}' >/dev/null
send --max-time 20 "$server$core/secrets" -d '{"metadata":{"name":"s"}}' >"$dir/report" &
for _ in $(seq 100); do [ "$(code admin "$server$core/secrets/s")" = 200 ] && break; sleep 0.05; done
admin -X PATCH -H 'Content-Type: application/merge-patch+json' "$server$core/secrets/s" -d '{"metadata":{"initializers":null,"labels":{"by":"one"}}}' >/dev/null
wait
check "an initializer is a stage, with what it did" '[{"op":"add","path":"/metadata/labels","value":{"by":"one"}}]' "$(jq -c '[.stages[] | select(.part == "initializer" and .name == "one.example.com") | .changes[] | select(.path == "/metadata/labels")]' "$dir/report")"
finish
