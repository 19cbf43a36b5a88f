#!/bin/sh
# etcd_engine_test.sh SAMPAN - `sampan up --etcd-servers` on a real etcd: with kubectl, with a second server on the same etcd,
# across kill -9 of the server and of etcd. etcdctl shows what kube-apiserver would have there.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
needs etcd etcdctl kubectl python3 curl
at_end='"$sampan" down --data-dir "$dir/b" >/dev/null 2>&1'
. "$(dirname "$0")/etcd_cluster.sh"

k2() { kubectl --kubeconfig "$dir/b/admin.kubeconfig" --cache-dir "$dir/cache2" "$@" 2>&1; }
# A second one, which shares the first one's keys.
second() {
    mkdir -p "$dir/b"
    chmod 700 "$dir/b"
    cp -r "$dir/a/pki" "$dir/b/"
    "$sampan" up --data-dir "$dir/b" --listen "127.0.0.2:${server##*:}" --detach --api-only --etcd-servers "$endpoints" >/dev/null ||
        { cat "$dir/b/sampan.log"; exit 1; }
}
addresses() { k get endpointslice kubernetes -o jsonpath='{.endpoints[*].addresses[0]}'; }

objects() {
    check "create" "configmap/a created" "$(k create cm a --from-literal=x=1)"
    check "create again" 'error: failed to create configmap: configmaps "a" already exists' "$(k create cm a --from-literal=x=1)"
    check "read" 1 "$(k get cm a -o jsonpath='{.data.x}')"
    check "patch" "configmap/a patched" "$(k patch cm a -p '{"data":{"x":"2"}}')"
    check "server-side apply" "configmap/s serverside-applied" \
        "$(printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\ndata: {y: "1"}\n' | k apply --server-side -f -)"
    check "revisions are etcd's" "$(c get /registry/configmaps/default/a -w json | python3 -c 'import json,sys; print(json.load(sys.stdin)["kvs"][0]["mod_revision"])')" \
        "$(k get cm a -o jsonpath='{.metadata.resourceVersion}')"
    check "delete" 'configmap "s" deleted' "$(k delete cm s)"
    check "what is deleted is gone from etcd" "" "$(c get /registry/configmaps/default/s)"
    for i in $(seq 30); do
        printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: page-%s, labels: {page: "1"}}\n---\n' "$i"
    done | k apply -f - >/dev/null
    check "pages" 30 "$(k get cm -l page --chunk-size=7 --no-headers | wc -l)"
}

layout() {
    value=$(c get /registry/configmaps/default/a --print-value-only | head -c 20 | od -An -c | tr -d ' \n')
    has "protobuf in its envelope" 'k8s\0' "$value"
    has "services have their old place" /registry/services/specs/default/kubernetes "$(c get --prefix --keys-only /registry/services)"
    has "APIServices are JSON" '{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService"' \
        "$(c get /registry/apiregistration.k8s.io/apiservices/v1.apps --print-value-only)"
    check "nothing lies outside of the prefix" "" "$(c get --prefix --keys-only '' | grep -v '^/registry/' | grep -v '^$')"
    # What somebody else writes there is served, whatever its encoding.
    c put /registry/configmaps/default/foreign '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"foreign","namespace":"default","uid":"1","creationTimestamp":"2026-01-01T00:00:00Z"},"data":{"from":"etcdctl"}}' >/dev/null
    check "a foreign write" etcdctl "$(k get cm foreign -o jsonpath='{.data.from}')"
    c put /registry/configmaps/default/broken 'k8s' >/dev/null
    has "damage of one object" "broken" "$(k get cm broken)"
    check "is not that of others" etcdctl "$(k get cm foreign -o jsonpath='{.data.from}')"
    c del /registry/configmaps/default/broken >/dev/null
    c put /registry/ranges/serviceips x >/dev/null
    check "keys of upstream stay" x "$(c get /registry/ranges/serviceips --print-value-only)"
}

custom() {
    cat >"$dir/crd.yaml" <<'EOF'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: teas.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: teas, kind: Tea, singular: tea}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {cups: {type: integer, default: 2}}}}
EOF
    k apply -f "$dir/crd.yaml" >/dev/null
    k wait --for condition=established crd/teas.example.com --timeout=60s >/dev/null
    check "a custom object" "tea.example.com/green created" \
        "$(printf 'apiVersion: example.com/v1\nkind: Tea\nmetadata: {name: green}\n' | k apply -f -)"
    has "is JSON" '{"apiVersion":"example.com/v1","kind":"Tea"' \
        "$(c get /registry/example.com/teas/default/green --print-value-only)"
    check "has defaults" 2 "$(k get tea green -o jsonpath='{.cups}')"
    before=$(k get tea green -o jsonpath='{.metadata.resourceVersion}')
    check "a patch without a change" "tea.example.com/green patched (no change)" "$(k patch tea green --type=merge -p '{"cups":2}')"
    check "what changes nothing is not written" "$before" "$(k get tea green -o jsonpath='{.metadata.resourceVersion}')"
}

events() {
    k create -f - >/dev/null <<'EOF'
apiVersion: v1
kind: Event
metadata: {name: e, namespace: default}
involvedObject: {kind: Pod, name: p, namespace: default}
reason: Test
EOF
    lease=$(c get /registry/events/default/e -w json | python3 -c 'import json,sys; print("%x" % json.load(sys.stdin)["kvs"][0].get("lease", 0))')
    has "an event has a lease" "granted with TTL(3" "$(c lease timetolive "$lease")"
    c lease revoke "$lease" >/dev/null
    waits eval '! k get event e >/dev/null'
    check "and ends with it" "" "$(k get events --field-selector reason=Test --no-headers 2>/dev/null | grep -v '^No resources')"
}

two_servers() {
    second
    check "the second one sees all" 2 "$(k2 get cm a -o jsonpath='{.data.x}')"
    check "also custom objects" 2 "$(k2 get tea green -o jsonpath='{.cups}')"
    for i in $(seq 20); do
        k2 patch cm a -p "{\"data\":{\"x\":\"n$i\"}}" >/dev/null
        check "what one has answered the other reads" "n$i" "$(k get cm a -o jsonpath='{.data.x}')"
    done
    check "nobody may" no "$(k2 auth can-i get configmaps --as joe)"
    k create role reader --verb=get --resource=configmaps >/dev/null
    k create rolebinding reader --role=reader --user=joe >/dev/null
    waits eval '[ "$(k2 auth can-i get configmaps --as joe)" = yes ]'
    k2 delete rolebinding reader >/dev/null
    waits eval '[ "$(k auth can-i get configmaps --as joe)" = no ]'
    sed 's/teas/mugs/; s/Tea/Mug/; s/singular: tea/singular: mug/; s/plural: teas/plural: mugs/' "$dir/crd.yaml" | k2 apply -f - >/dev/null
    waits eval 'k get mugs >/dev/null'
    check "a kind of the other" "mug.example.com/big created" \
        "$(printf 'apiVersion: example.com/v1\nkind: Mug\nmetadata: {name: big}\n' | k apply -f -)"
    check "has its defaults here, too" 2 "$(k2 get mug big -o jsonpath='{.cups}')"
    waits eval '[ "$(addresses)" = "127.0.0.1 127.0.0.2" ]'
    k2 delete crd mugs.example.com --wait=false >/dev/null
    waits eval '! k get mugs >/dev/null'
    waits eval '[ -z "$(c get --prefix --keys-only /registry/example.com/mugs/)" ]'
}

# A watch of one server sees what is written by the other, also after kill -9 of etcd.
watches() {
    timeout 120 kubectl --kubeconfig "$dir/b/admin.kubeconfig" get cm --watch-only -o name >"$dir/watched" 2>&1 &
    watcher=$!
    at_end="kill $watcher 2>/dev/null; $at_end"
    waits eval 'k create cm "w-$(date +%N)" >/dev/null; [ -s "$dir/watched" ]'
    member_kill 1
    waits eval '! k get --raw /readyz >/dev/null'
    has "readyz names etcd" "etcd failed" "$(admin "$server/readyz?verbose")"
    case $(k create cm lost) in
    *created*) check "a write without etcd" refused "$(k create cm lost)" ;;
    *) check "a write without etcd" refused refused ;;
    esac
    check "what need not be new is served" 200 "$(code admin "$server/api/v1/namespaces/default/configmaps/a?resourceVersion=0")"
    member_start 1
    waits eval 'k get --raw /readyz >/dev/null'
    check "and goes on" "configmap/after created" "$(k create cm after)"
    waits grep -q '^configmap/after$' "$dir/watched"
    kill $watcher
    wait $watcher 2>/dev/null
}

crash() {
    rv=$(k get cm -o jsonpath='{.metadata.resourceVersion}')
    k create cm before-crash >/dev/null
    pid=$(head -1 "$dir/a/sampan.pid")
    kill -9 "$pid"
    waits eval '! kill -0 $pid 2>/dev/null'
    serve --etcd-servers "$endpoints"
    check "after kill -9" configmap/before-crash "$(k get cm before-crash -o name)"
    admin --max-time 60 -N "$server/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=$rv&timeoutSeconds=2" >"$dir/resumed"
    "$sampan" down --data-dir "$dir/b" >/dev/null
    check "who goes is not named any more" 127.0.0.1 "$(addresses)"
    has "backups are etcd's" "etcdctl snapshot save" "$("$sampan" backup --data-dir "$dir/a" "$dir/backup" 2>&1)"
    has "watches resume" '"name":"before-crash"' "$(cat "$dir/resumed")"
}

# What is encrypted is so in etcd, and in the mirror until it is read.
encryption() {
    cat >"$dir/encryption" <<EOF
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
  - aescbc: {keys: [{name: key1, secret: $(head -c 32 /dev/urandom | base64)}]}
  - identity: {}
EOF
    k create secret generic plain --from-literal=a=before >/dev/null
    "$sampan" down --data-dir "$dir/a" >/dev/null
    serve --etcd-servers "$endpoints" --encryption-provider-config "$dir/encryption"
    k create secret generic sealed --from-literal=a=green >/dev/null
    has "sealed in etcd" k8s:enc:aescbc:v1:key1: "$(c get /registry/secrets/default/sealed --print-value-only | tr -d '\0')"
    check "read" "$(printf green | base64)" "$(k get secret sealed -o jsonpath='{.data.a}')"
    check "what is older is read, too" "$(printf before | base64)" "$(k get secret plain -o jsonpath='{.data.a}')"
    k get secret plain -o json | k replace -f - >/dev/null
    has "and sealed when it is written" k8s:enc:aescbc:v1:key1: "$(c get /registry/secrets/default/plain --print-value-only | tr -d '\0')"
    check "lists" 2 "$(k get secrets --no-headers | wc -l)"
}

main() {
    cluster 1
    member_start 1
    waits member_answers 1
    serve --etcd-servers "$endpoints"
    objects
    layout
    custom
    events
    two_servers
    watches
    crash
    encryption
    check "no sanitizer complains" "" "$(cat "$dir"/?/sampan.log | grep -A 20 Sanitizer:)"
    finish
}
main
