#!/bin/sh
# initializer_test.sh SAMPAN - initializers, as Kubernetes 1.7 to 1.13 had them: objects that do not
# count until others have worked on them. Clients are curl and kubectl.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
cat >"$dir/tokens" <<EOF
ann-token,ann,u-ann,"team-a"
EOF
start() { up --api-versions all --token-auth-file "$dir/tokens" >/dev/null || give_up; connect; }
start
core=/api/v1/namespaces/default
config=/apis/admissionregistration.k8s.io/v1alpha1/initializerconfigurations
# send METHOD PATH BODY [OPTION...]
send() { method=$1 path=$2 body=$3; shift 3; admin -H 'Content-Type: application/json' -X "$method" "$server$path" -d "$body" "$@"; }
status() { send "$@" -o "$dir/body" -w '%{http_code}'; }
# merge PATH PATCH [OPTION...]
merge() { path=$1 body=$2; shift 2; admin -H 'Content-Type: application/merge-patch+json' -X PATCH "$server$path" -d "$body" "$@"; }
as_ann() { anonymous -H 'Authorization: Bearer ann-token' "$@"; }
get() { admin "$server$1"; }
pending() { get "$1" | jq -c '[.metadata.initializers.pending[]?.name]'; }
names() { get "$1" | jq -c '[.items[].metadata.name]'; }
map() { printf '{"metadata":{"name":"%s"%s},"data":{"a":"b"}}' "$1" "${2:-}"; }
# initializers NAME RULES... - a configuration with an initializer for each rule
configure() {
    name=$1
    shift
    list=
    for rule; do list="$list${list:+,}{\"name\":\"${rule%% *}\",\"rules\":[${rule#* }]}"; done
    send POST $config "{\"metadata\":{\"name\":\"$name\"},\"initializers\":[$list]}" >"$dir/configured"
}
maps='{"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}'
pods='{"apiGroups":[""],"apiVersions":["*"],"resources":["pods"]}'

# ---- Configurations
check "a name of two parts" 422 "$(status POST $config '{"metadata":{"name":"x"},"initializers":[{"name":"a.b"}]}')"
has "is refused" 'should be a domain with at least three segments separated by dots' "$(cat "$dir/body")"
check "a star with others" 422 "$(status POST $config '{"metadata":{"name":"x"},"initializers":[{"name":"a.b.c","rules":[{"apiGroups":["*",""],"apiVersions":["v1"],"resources":["pods"]}]}]}')"
check "a path below" 422 "$(status POST $config '{"metadata":{"name":"x"},"initializers":[{"name":"a.b.c","rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["pods/status"]}]}]}')"
check "nothing waits without one" 201 "$(status POST $core/configmaps "$(map free)")"
check "an object without initializers has none" null "$(get $core/configmaps/free | jq -c .metadata.initializers)"

configure b "two.example.com $maps" "three.example.com $maps"
configure a "one.example.com $maps"
configure c "never.example.com $maps,{\"apiGroups\":[\"\"],\"apiVersions\":[\"v1\"],\"resources\":[\"secrets\"]}"
check "generation" 1 "$(get $config/a | jq .metadata.generation)"

# ---- Creating
check "who does not wait gets 202" 202 "$(status POST "$core/configmaps?includeUninitialized=true" "$(map m)")"
check "by configuration and place; of several rules all must match" '["one.example.com","two.example.com","three.example.com"]' "$(pending $core/configmaps/m)"
check "a list leaves it out" '["free"]' "$(names "$core/configmaps?fieldSelector=metadata.name%21%3Dkube-root-ca.crt")"
check "by name, too" '[]' "$(names "$core/configmaps?fieldSelector=metadata.name%3Dm")"
check "in all namespaces" 0 "$(names /api/v1/configmaps | jq 'map(select(. == "m")) | length')"
check "unless it is asked for" '["m"]' "$(names "$core/configmaps?fieldSelector=metadata.name%3Dm&includeUninitialized=true")"
check "page by page" '["free"]' "$(get "$core/configmaps?limit=500" | jq -c '[.items[].metadata.name | select(. != "kube-root-ca.crt")]')"
check "and who knows the name gets it" 200 "$(code admin "$server$core/configmaps/m")"
check "a table leaves it out" 0 "$(kubectl --kubeconfig "$dir/a/admin.kubeconfig" get configmaps 2>/dev/null | grep -c '^m ')"

now=$(get $core/configmaps | jq -r .metadata.resourceVersion)
admin -N --max-time 30 "$server$core/configmaps?watch=true&resourceVersion=$now" >"$dir/watch" 2>/dev/null &
watching=$!
admin -N --max-time 30 "$server$core/configmaps?watch=true&includeUninitialized=true&resourceVersion=$now" >"$dir/watch-all" 2>/dev/null &
watching_all=$!
admin --max-time 30 -H 'Content-Type: application/json' "$server$core/configmaps" -d "$(map w)" -o "$dir/w" -w '%{http_code}' >"$dir/w.code" &
creating=$!
there() { [ "$(code admin "$server$core/configmaps/w")" = 200 ]; }
waits there
check "the creator waits" "" "$(cat "$dir/w.code")"
drop() { get "$1" | jq -c 'del(.metadata.initializers.pending[0])' >"$dir/next"; admin -H 'Content-Type: application/json' -X PUT "$server$1" -d "@$dir/next" -o "$dir/body" -w '%{http_code}'; }
check "the first is done" 200 "$(drop $core/configmaps/w)"
check "and the second" 200 "$(drop $core/configmaps/w)"
check "a third is left" '["three.example.com"]' "$(pending $core/configmaps/w)"
check "the creator still waits" "" "$(cat "$dir/w.code")"
check "the last one changes it and is done" 200 "$(merge $core/configmaps/w '{"data":{"by":"three"},"metadata":{"initializers":{"pending":[]}}}' -o "$dir/body" -w '%{http_code}')"
wait $creating
check "the creator is answered" 201 "$(cat "$dir/w.code")"
check "with the finished object" '["three",null]' "$(jq -c '[.data.by, .metadata.initializers]' "$dir/w")"
check "which is listed now" 1 "$(names "$core/configmaps" | jq 'map(select(. == "w")) | length')"
send PUT $core/configmaps/w "$(map w | jq -c '.data.later="x"')" >/dev/null
seen() { [ "$(jq -r .type "$dir/$1" | wc -l)" -ge "$2" ]; }
waits seen watch 2
waits seen watch-all 5
check "a watch sees it when it is finished" '["ADDED","three"]' "$(head -1 "$dir/watch" | jq -c '[.type, .object.data.by]')"
check "and then as usual" MODIFIED "$(sed -n 2p "$dir/watch" | jq -r .type)"
check "one that asks for it sees all" '["ADDED","MODIFIED","MODIFIED","MODIFIED","MODIFIED"]' "$(jq -sc '[.[].type]' "$dir/watch-all")"
kill $watching $watching_all 2>/dev/null

# ---- Who may
grant='{"metadata":{"name":"ann"},"rules":[{"apiGroups":[""],"verbs":["get","list","watch","create","update","patch","delete"],"resources":["configmaps","pods"]}]}'
send POST "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles" "$grant" >/dev/null
send POST "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings" '{"metadata":{"name":"ann"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"ann"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"ann"}]}' >/dev/null
check "an update needs the right to initialize" 403 "$(code as_ann -X PATCH -H 'Content-Type: application/merge-patch+json' "$server$core/configmaps/m" -d '{"data":{"x":"y"}}')"
has "and says so" 'update to uninitialized resource denied' "$(as_ann -X PATCH -H 'Content-Type: application/merge-patch+json' "$server$core/configmaps/m" -d '{"data":{"x":"y"}}')"
skipping=',"initializers":{"pending":[]}'
check "so does to skip them" 403 "$(code as_ann -H 'Content-Type: application/json' "$server$core/configmaps" -d "$(map skips "$skipping")")"
has "in words" 'create with initializers denied' "$(as_ann -H 'Content-Type: application/json' "$server$core/configmaps" -d "$(map skips "$skipping")")"
check "nothing was written" 404 "$(code admin "$server$core/configmaps/skips")"
send PUT "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/ann" "$(echo "$grant" | sed 's/"get"/"get","initialize"/')" >/dev/null
check "with the right he may" 201 "$(code as_ann -H 'Content-Type: application/json' "$server$core/configmaps" -d "$(map skips "$skipping")")"
check "and it is finished at once" null "$(get $core/configmaps/skips | jq -c .metadata.initializers)"
check "what is given is kept" 202 "$(status POST "$core/configmaps?includeUninitialized=true" "$(map own ',"initializers":{"pending":[{"name":"mine.example.com"}]}')")"
check "and nothing is added" '["mine.example.com"]' "$(pending $core/configmaps/own)"
check "a name needs three parts there, too" 422 "$(status POST "$core/configmaps" "$(map bad ',"initializers":{"pending":[{"name":"mine"}]}')")"

# ---- What may become of them
check "not after the end" 422 "$(status PUT $core/configmaps/w "$(map w ',"initializers":{"pending":[{"name":"mine.example.com"}]}')")"
has "as upstream says it" 'metadata.initializers: Invalid value: null: field is immutable once initialization has completed' "$(cat "$dir/body")"
check "a result that is no failure" 422 "$(merge $core/configmaps/own '{"metadata":{"initializers":{"result":{"status":"Success"}}}}' -o "$dir/body" -w '%{http_code}')"
has "is refused in words" "must be 'Failure'" "$(cat "$dir/body")"
check "they may be put in any order" 200 "$(merge $core/configmaps/own '{"metadata":{"initializers":{"pending":[{"name":"z.example.com"},{"name":"mine.example.com"}]}}}' -o /dev/null -w '%{http_code}')"

# ---- Failure
admin --max-time 30 -H 'Content-Type: application/json' "$server$core/configmaps" -d "$(map f ',"finalizers":["example.com/hold"]')" -o "$dir/f" -w '%{http_code}' >"$dir/f.code" &
creating=$!
there() { [ "$(code admin "$server$core/configmaps/f")" = 200 ]; }
waits there
check "an initializer refuses" 200 "$(merge $core/configmaps/f '{"metadata":{"initializers":{"result":{"status":"Failure","code":418,"reason":"Tea","message":"no coffee here"}}}}' -o "$dir/body" -w '%{http_code}')"
wait $creating
check "the creator gets its Status" '418 Tea no coffee here' "$(cat "$dir/f.code") $(jq -r '.reason + " " + .message' "$dir/f")"
check "the object is gone, finalizers or not" 404 "$(code admin "$server$core/configmaps/f")"
admin --max-time 30 -H 'Content-Type: application/json' "$server$core/configmaps" -d "$(map d)" -o "$dir/d" -w '%{http_code}' >"$dir/d.code" &
creating=$!
there() { [ "$(code admin "$server$core/configmaps/d")" = 200 ]; }
waits there
send DELETE $core/configmaps/d '' >/dev/null
wait $creating
check "deleted meanwhile" '500 InternalError' "$(cat "$dir/d.code") $(jq -r .reason "$dir/d")"
check "late" '504 Timeout' "$(send POST "$core/configmaps?timeout=1s" "$(map late)" -o "$dir/body" -w '%{http_code}') $(jq -r .reason "$dir/body")"
check "and it stays" '["one.example.com","two.example.com","three.example.com"]' "$(pending $core/configmaps/late)"

# ---- Other ways to write
check "a PUT that creates does not wait" 201 "$(status PUT /apis/coordination.k8s.io/v1/namespaces/default/leases/l '{"metadata":{"name":"l"},"spec":{}}')"
check "nor does server-side apply" 201 "$(admin -X PATCH -H 'Content-Type: application/apply-patch+yaml' "$server$core/configmaps/sa?fieldManager=t" -d '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"sa"},"data":{"k":"v"}}' -o "$dir/body" -w '%{http_code}')"
check "it waits for them all the same" 3 "$(pending $core/configmaps/sa | jq length)"
check "an apply goes on with it" 200 "$(admin -X PATCH -H 'Content-Type: application/apply-patch+yaml' "$server$core/configmaps/sa?fieldManager=t" -d '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"sa"},"data":{"k":"w"}}' -o /dev/null -w '%{http_code}')"
check "a dry run that does not wait stores nothing" '202 404' "$(status POST "$core/configmaps?includeUninitialized=true&dryRun=All" "$(map dry)") $(code admin "$server$core/configmaps/dry")"
check "all of a collection are deleted" 0 "$(send DELETE "$core/configmaps?labelSelector=!none" '' >/dev/null; get "$core/configmaps?includeUninitialized=true" | jq '.items | length')"

# ---- Pods
configure p "pods.example.com $pods"
pod='{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}'
check "a pod waits" 202 "$(status POST "$core/pods?includeUninitialized=true" "$pod")"
check "and may become any other" 200 "$(merge $core/pods/p '{"spec":{"containers":[{"name":"c","image":"i"},{"name":"envoy","image":"e"}]}}' -o "$dir/body" -w '%{http_code}')"
check "its status may not change" 422 "$(merge $core/pods/p/status '{"status":{"phase":"Running"}}' -o "$dir/body" -w '%{http_code}')"
has "in upstream's words" 'status: Forbidden: must not update status when the object is uninitialized' "$(cat "$dir/body")"
check "then it is done" 200 "$(merge $core/pods/p '{"metadata":{"initializers":null}}' -o "$dir/body" -w '%{http_code}')"
check "and its containers stay" 422 "$(merge $core/pods/p '{"spec":{"containers":[{"name":"c","image":"i"}]}}' -o "$dir/body" -w '%{http_code}')"
check "a mirror pod does not wait" 201 "$(status POST $core/pods '{"metadata":{"name":"mirror","annotations":{"kubernetes.io/config.mirror":"x"}},"spec":{"containers":[{"name":"c","image":"i"}],"nodeName":"n"}}')"
check "kubectl waits with it, too" 0 "$(kubectl --kubeconfig "$dir/a/admin.kubeconfig" run k --image=i >"$dir/k" 2>&1 &
    kubectl=$!
    there() { [ "$(code admin "$server$core/pods/k")" = 200 ]; }
    waits there
    merge $core/pods/k '{"metadata":{"initializers":null}}' >/dev/null
    wait $kubectl; echo $?)"

# ---- Custom kinds, and a change of configuration counts at once
kubectl --kubeconfig "$dir/a/admin.kubeconfig" apply -f - >/dev/null <<EOF
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
EOF
things=/apis/example.com/v1/namespaces/default/things
thing() { printf '{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"%s"}}' "$1"; }
check "free at first" 201 "$(status POST $things "$(thing free)")"
configure t 'things.example.com {"apiGroups":["example.com"],"apiVersions":["*"],"resources":["*"]}'
check "at once it waits" 202 "$(status POST "$things?includeUninitialized=true" "$(thing t)")"
check "and is not listed" '["free"]' "$(names $things)"
send DELETE $config/t '' >/dev/null
check "at once it does not" 201 "$(status POST $things "$(thing again)")"
check "what waited waits" '["things.example.com"]' "$(pending $things/t)"

# ---- A restart in the middle, and the word about it
status POST "$core/configmaps?includeUninitialized=true" "$(map stays)" >/dev/null
rev=$(get $core/configmaps/stays | jq -r .metadata.resourceVersion)
pid=$(head -1 "$dir/a/sampan.pid")
kill -9 "$pid"
gone() { ! kill -0 "$pid" 2>/dev/null; }
waits gone
start
check "it waits after a crash, too" 3 "$(pending $core/configmaps/stays | jq length)"
check "and is not listed" '[]' "$(names $core/configmaps)"
state=$("$sampan" status --data-dir "$dir/a")
has "status names what waits" 'configmaps default/stays waits for one.example.com' "$state"
has "and of a custom kind" 'things.example.com default/t waits for things.example.com' "$state"
check "a person ends it" 200 "$(merge $core/configmaps/stays '{"metadata":{"initializers":null}}' -o /dev/null -w '%{http_code}')"
check "a watch from before shows it when it was finished" '"ADDED"' "$(admin -N "$server$core/configmaps?watch=true&timeoutSeconds=1&resourceVersion=$rev" | head -1 | jq -c .type)"

# ---- A controller whose pod nobody finishes: the server gives up after half a minute, the controller does not
sets=/apis/apps/v1/namespaces/default/replicasets
"$sampan" controllers --kubeconfig "$dir/a/admin.kubeconfig" --controllers=replicaset-controller --leader-elect=false 2>"$dir/controllers" &
controllers=$!
at_end='kill $controllers 2>/dev/null'
check "a set" 201 "$(status POST $sets '{"metadata":{"name":"late"},"spec":{"replicas":1,"selector":{"matchLabels":{"app":"late"}},"template":{"metadata":{"labels":{"app":"late"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}')"

# ---- Many at once: creators wait without holding up the initializer
for i in $(seq 400); do printf 'next\nurl = "%s%s/configmaps"\nheader = "Content-Type: application/json"\ndata = "{\\"metadata\\":{\\"name\\":\\"many-%s\\"}}"\noutput = "/dev/null"\nwrite-out = "%%{http_code}\\n"\nmax-time = 60\n' "$server" "$core" "$i"; done |
    sed -e '1d' -e "s|^url|cacert = \"$dir/ca.crt\"\ncert = \"$dir/admin.crt\"\nkey = \"$dir/admin.key\"\nurl|" >"$dir/many"
curl -sS --parallel --parallel-immediate --parallel-max 400 -K "$dir/many" >"$dir/many.codes" 2>"$dir/many.err" &
creating=$!
finished=0
for _ in $(seq 600); do
    for name in $(get "$core/configmaps?includeUninitialized=true" | jq -r '.items[] | select(.metadata.initializers) | .metadata.name'); do
        merge "$core/configmaps/$name" '{"metadata":{"initializers":null}}' >/dev/null && finished=$((finished + 1))
    done
    [ $finished -ge 400 ] && break
done
wait $creating
check "four hundred are created and finished" '400 201' "$(sort "$dir/many.codes" | uniq -c | sed 's/^ *//')"

# ---- The set again
told() { get "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dlate" | grep -q 'request did not complete within requested timeout'; }
seen() { [ "$(get $sets/late | jq .status.observedGeneration)" = 2 ]; }
waits told
merge $sets/late '{"spec":{"minReadySeconds":1}}' >/dev/null
waits seen
kill $controllers
check "its pod is made once" 1 "$(get "$core/pods?includeUninitialized=true&labelSelector=app%3Dlate" | jq '.items | length')"

# ---- With today's versions alone there are none
"$sampan" down --data-dir "$dir/a" >/dev/null
up --token-auth-file "$dir/tokens" >/dev/null
connect
check "what somebody sends of them is dropped" null "$(send POST $core/configmaps "$(map now ',"initializers":{"pending":[{"name":"mine.example.com"}]}')" | jq -c .metadata.initializers)"
finish
