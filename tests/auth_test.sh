#!/bin/sh
# auth_test.sh SAMPAN - who may do what, with the clients people use: kubectl's auth commands, tokens
# of service accounts, kubeconfigs for colleagues, keys that change, and two tenants who must not see
# each other.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"

up --token-auth-file "$dir/tokens" >/dev/null 2>&1 && { echo "FAILED: it starts without its tokens"; exit 1; }
cat >"$dir/tokens" <<EOF
ann-token,ann,u-ann,"team-a"
ben-token,ben,u-ben,"team-b"
EOF
up --token-auth-file "$dir/tokens" --enable-bootstrap-token-auth >/dev/null || { cat "$dir/a/sampan.log"; exit 1; }
connect
waits() { # COMMAND... - until it is true
    for i in $(seq 100); do "$@" && return; sleep 0.1; done
    failed=$((failed + 1))
    echo "FAILED: waited in vain for: $*"
}
as() { who=$1; shift; anonymous -H "Authorization: Bearer $who-token" "$@"; }
send() { admin -H 'Content-Type: application/json' -X "$1" "$server$2" -d "$3"; }
grant() { # NS USER VERBS RESOURCES
    send POST "/apis/rbac.authorization.k8s.io/v1/namespaces/$1/roles" \
        "{\"metadata\":{\"name\":\"$2\"},\"rules\":[{\"apiGroups\":[\"\"],\"verbs\":[$3],\"resources\":[$4]}]}" >/dev/null
    send POST "/apis/rbac.authorization.k8s.io/v1/namespaces/$1/rolebindings" \
        "{\"metadata\":{\"name\":\"$2\"},\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"Role\",\"name\":\"$2\"},\"subjects\":[{\"kind\":\"User\",\"apiGroup\":\"rbac.authorization.k8s.io\",\"name\":\"$2\"}]}" >/dev/null
}

# ---- Two tenants
for t in a b; do send POST /api/v1/namespaces "{\"metadata\":{\"name\":\"$t\"}}" >/dev/null; done
grant a ann '"*"' '"configmaps","secrets"'
grant b ben '"*"' '"configmaps","secrets"'
send POST /api/v1/namespaces/b/secrets '{"metadata":{"name":"hidden"},"stringData":{"k":"top"}}' >/dev/null
check "her own" 200 "$(code as ann "$server/api/v1/namespaces/a/secrets")"
for path in namespaces/b/secrets namespaces/b/secrets/hidden secrets namespaces/b namespaces/b/pods/p/log \
    'namespaces/b/secrets?watch=true&timeoutSeconds=1' 'secrets?fieldSelector=metadata.namespace%3Db' \
    'secrets?fieldSelector=metadata.name%3Dhidden' 'namespaces/b/secrets?limit=1' \
    watch/namespaces/b/secrets 'namespaces/a/..%2fb/secrets' 'namespaces/a%2f..%2fb/secrets'; do
    check "ann and $path" 403 "$(code as ann "$server/api/v1/$path")"
done
table='Accept: application/json;as=Table;v=v1;g=meta.k8s.io'
check "not as a table" 403 "$(code as ann -H "$table" "$server/api/v1/namespaces/b/secrets")"
check "what is there and what is not look alike" \
    "$(as ann "$server/api/v1/namespaces/b/secrets/hidden" | sed 's/hidden/x/g')" \
    "$(as ann "$server/api/v1/namespaces/b/secrets/absent" | sed 's/absent/x/g')"
check "so do namespaces" "$(as ann "$server/api/v1/namespaces/b/secrets" | sed 's/"b/"x/; s/\\"b\\"/\\"x\\"/')" \
    "$(as ann "$server/api/v1/namespaces/c/secrets" | sed 's/"c/"x/; s/\\"c\\"/\\"x\\"/')"
has "a refused write says nothing of its object" "cannot create resource" \
    "$(as ann -H 'Content-Type: application/json' -d '{"broken' "$server/api/v1/namespaces/b/secrets")"
check "a deletecollection is refused" 403 "$(code as ann -X DELETE "$server/api/v1/namespaces/b/secrets")"
check "and deletes nothing" 200 "$(code as ben "$server/api/v1/namespaces/b/secrets/hidden")"

# A role in a namespace gives nothing of the whole cluster, by whatever path.
grant a ann '"*"' '"configmaps","secrets"'
send POST /apis/rbac.authorization.k8s.io/v1/namespaces/a/roles \
    '{"metadata":{"name":"wide"},"rules":[{"apiGroups":["*"],"verbs":["*"],"resources":["*"]}]}' >/dev/null
send POST /apis/rbac.authorization.k8s.io/v1/namespaces/a/rolebindings \
    '{"metadata":{"name":"wide"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"wide"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"wilma"}]}' >/dev/null
echo 'wilma-token,wilma,' >>"$dir/tokens"
wilma=$(admin -H 'Impersonate-User: wilma' -o /dev/null -w '%{http_code}' "$server/api/v1/namespaces/a/pods")
check "wilma has her namespace" 200 "$wilma"
for path in namespaces/a/nodes namespaces/a/namespaces/b namespaces/a/persistentvolumes/x; do
    check "wilma and $path" 404 "$(code admin -H 'Impersonate-User: wilma' "$server/api/v1/$path")"
done
for path in nodes persistentvolumes namespaces/%2e%2e/secrets namespaces/../secrets; do
    check "wilma and $path" 403 "$(code admin -H 'Impersonate-User: wilma' --path-as-is "$server/api/v1/$path")"
done
admin -X DELETE "$server/apis/rbac.authorization.k8s.io/v1/namespaces/a/rolebindings/wide" >/dev/null

# To read a pod's exec is not to run something in it.
send POST /api/v1/namespaces/a/pods '{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}' >/dev/null
send POST /apis/rbac.authorization.k8s.io/v1/namespaces/a/roles \
    '{"metadata":{"name":"look"},"rules":[{"apiGroups":[""],"verbs":["get"],"resources":["pods/exec","pods/attach","pods/portforward"]}]}' >/dev/null
send POST /apis/rbac.authorization.k8s.io/v1/namespaces/a/rolebindings \
    '{"metadata":{"name":"look"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"look"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"lou"}]}' >/dev/null
for sub in exec attach portforward; do
    check "lou and $sub" 403 "$(code admin -H 'Impersonate-User: lou' --http1.1 -H 'Connection: Upgrade' -H 'Upgrade: websocket' \
        -H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==' \
        -H 'Sec-WebSocket-Protocol: v5.channel.k8s.io' "$server/api/v1/namespaces/a/pods/p/$sub?command=ls")"
done

# ---- Rights follow the store at once
for i in 1 2 3 4 5 6 7 8 9 10; do
    admin -X DELETE "$server/apis/rbac.authorization.k8s.io/v1/namespaces/a/rolebindings/ann" >/dev/null
    check "taken" 403 "$(code as ann "$server/api/v1/namespaces/a/secrets")"
    grant a ann '"*"' '"configmaps","secrets"'
    check "given" 200 "$(code as ann "$server/api/v1/namespaces/a/secrets")"
done

# ---- Tokens
dots=$(head -c 60000 /dev/zero | tr '\0' .)
check "a token of dots" 401 "$(code anonymous -H "Authorization: Bearer $dots" "$server/api")"
check "an encrypted token" 401 "$(code anonymous -H "Authorization: Bearer e30.e30.e30.e30.e30" "$server/api")"
check "a header of a proxy counts for nobody else" ann \
    "$(as ann -H 'X-Remote-User: admin' -H 'X-Remote-Group: system:masters' -H 'Content-Type: application/json' \
        -d '{}' "$server/apis/authentication.k8s.io/v1/selfsubjectreviews" | jq -r .status.userInfo.username)"
check "no such token" 401 "$(code as eve "$server/api")"
has "which says nothing of why" '"message":"Unauthorized"' "$(as eve "$server/api")"
send POST /api/v1/namespaces/a/serviceaccounts '{"metadata":{"name":"robot"}}' >/dev/null
token=$(send POST /api/v1/namespaces/a/serviceaccounts/robot/token '{}' | jq -r .status.token)
robot() { anonymous -H "Authorization: Bearer $token" "$@"; }
check "a robot is known" 403 "$(code robot "$server/api/v1/namespaces/a/configmaps")"
check "discovery is everybody's" 200 "$(code robot "$server/apis")"
check "a token by another signature" 401 \
    "$(code anonymous -H "Authorization: Bearer ${token%?????}AAAAA" "$server/apis")"
admin -X DELETE "$server/api/v1/namespaces/a/serviceaccounts/robot" >/dev/null
check "its token ends with it" 401 "$(code robot "$server/apis")"
grep -q "$token" "$dir/a/sampan.log" && { echo "FAILED: the log has a token"; failed=$((failed + 1)); }

# A node joins by a token, as long as its Secret is there.
join='abc123.0123456789abcdef'
node() { anonymous -H "Authorization: Bearer $join" -H 'Content-Type: application/json' -d '{}' \
    "$server/apis/authentication.k8s.io/v1/selfsubjectreviews" | jq -r 'if .kind == "Status" then .code else .status.userInfo.username end'; }
check "no such node" 401 "$(node)"
send POST /api/v1/namespaces/kube-system/secrets '{"metadata":{"name":"bootstrap-token-abc123"},"type":"bootstrap.kubernetes.io/token","stringData":{"token-id":"abc123","token-secret":"0123456789abcdef","usage-bootstrap-authentication":"true"}}' >/dev/null
check "a node joins" system:bootstrap:abc123 "$(node)"
admin -X DELETE "$server/api/v1/namespaces/kube-system/secrets/bootstrap-token-abc123" >/dev/null
check "and no longer" 401 "$(node)"

# A pod-like folder with a projected token.
send POST /api/v1/namespaces/a/serviceaccounts '{"metadata":{"name":"pod"}}' >/dev/null
mkdir -p "$dir/secrets"
send POST /api/v1/namespaces/a/serviceaccounts/pod/token '{}' | jq -rj .status.token >"$dir/secrets/token"
printf a >"$dir/secrets/namespace"
cp "$dir/ca.crt" "$dir/secrets/ca.crt"

# ---- Colleagues
if command -v kubectl >/dev/null; then
    "$sampan" kubeconfig --data-dir "$dir/a" --user cleo --group team-c --ttl 1h --output "$dir/cleo"
    check "a colleague's kubeconfig is private" 600 "$(stat -c %a "$dir/cleo")"
    cleo() { kubectl --kubeconfig "$dir/cleo" --cache-dir "$dir/cache" "$@" 2>&1; }
    boss() { kubectl --kubeconfig "$dir/a/admin.kubeconfig" --cache-dir "$dir/cache" "$@" 2>&1; }
    has "who she is" "team-c" "$(cleo auth whoami)"
    check "what she may" no "$(cleo auth can-i get pods)"
    boss create rolebinding cleo --clusterrole=view --group=team-c -n a >/dev/null
    check "what she may now" yes "$(cleo auth can-i get pods -n a)"
    check "but not secrets" no "$(cleo auth can-i get secrets -n a)"
    has "the list of it" "configmaps" "$(cleo auth can-i --list -n a)"
    has "she grants nothing" "cannot create resource" "$(cleo create rolebinding x --clusterrole=view --user=eve -n a)"
    check "as her" yes "$(boss auth can-i list configmaps -n a --as cleo --as-group team-c)"
    check "as her in another" no "$(boss auth can-i list configmaps -n b --as cleo --as-group team-c)"
    has "she cannot be the boss" "cannot impersonate" "$(cleo get pods --as admin --as-group system:masters)"
    boss create rolebinding ed --clusterrole=edit --user=ed -n a >/dev/null
    check "edit makes no endpoints by hand" no "$(boss auth can-i create endpointslices.discovery.k8s.io -n a --as ed)"
    has "create token" "eyJ" "$(boss create token pod -n a)"
    printf 'apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: rec, namespace: a}\nrules: [{apiGroups: [""], resources: [pods], verbs: [get]}]\n' >"$dir/rec.yaml"
    has "reconcile" "reconciled" "$(boss auth reconcile -f "$dir/rec.yaml")"
    has "roles are described" "configmaps" "$(boss describe clusterrole view)"
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$dir/csr.key" -subj /CN=dana -out "$dir/csr" 2>/dev/null
    printf 'apiVersion: certificates.k8s.io/v1\nkind: CertificateSigningRequest\nmetadata: {name: dana}\nspec: {request: %s, signerName: kubernetes.io/kube-apiserver-client, usages: [client auth]}\n' \
        "$(base64 -w0 <"$dir/csr")" >"$dir/csr.yaml"
    boss create -f "$dir/csr.yaml" >/dev/null
    has "approve" "approved" "$(boss certificate approve dana)"
    has "certs" "never ends (ES256)" "$("$sampan" certs --data-dir "$dir/a")"
fi
has "kubeconfig wants a user" "--user is missing" "$("$sampan" kubeconfig 2>&1)"

# ---- Keys are read again without a restart
echo 'fay-token,fay,,"team-f"' >>"$dir/tokens"
check "not known yet" 401 "$(code as fay "$server/apis")"
before=$(openssl x509 -noout -serial -in "$dir/a/pki/server.crt")
"$sampan" certs --renew --data-dir "$dir/a" >/dev/null
renewed() { [ "$before" != "$(openssl x509 -noout -serial -in "$dir/a/pki/server.crt")" ]; }
waits renewed
known() { [ "$(code as fay "$server/apis")" = 200 ]; }
waits known
check "still known" 200 "$(code as ann "$server/api/v1/namespaces/a/secrets")"
finish
