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
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=front-proxy \
    -keyout "$dir/proxy-ca.key" -out "$dir/proxy-ca.crt" 2>/dev/null
serve --token-auth-file "$dir/tokens" --enable-bootstrap-token-auth --requestheader-client-ca-file "$dir/proxy-ca.crt" \
    --requestheader-allowed-names front --requestheader-group-headers X-Remote-Group,X-Remote-Team
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
# The prefix rule: one namespace whose name begins as another's is not part of it, in lists, watches and deletions.
send POST /api/v1/namespaces '{"metadata":{"name":"ab"}}' >/dev/null
send POST /api/v1/namespaces/ab/secrets '{"metadata":{"name":"neighbour"}}' >/dev/null
send POST /api/v1/namespaces/a/secrets '{"metadata":{"name":"own"}}' >/dev/null
check "a list in a shows nothing of ab (prefix rule)" '["own"]' "$(as ann "$server/api/v1/namespaces/a/secrets" | jq -c '[.items[].metadata.name]')"
check "nor a watch (prefix rule)" 0 "$(as ann "$server/api/v1/namespaces/a/secrets?watch=true&timeoutSeconds=1" | grep -c neighbour)"
as ann -X DELETE "$server/api/v1/namespaces/a/secrets" >/dev/null
check "nor does a deletion reach it (prefix rule)" 200 "$(code admin "$server/api/v1/namespaces/ab/secrets/neighbour")"
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

# To read a pod's exec is not to run something in it (k/k#78741, k/k#133515).
send POST /api/v1/namespaces/a/pods '{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}' >/dev/null
send POST /apis/rbac.authorization.k8s.io/v1/namespaces/a/roles \
    '{"metadata":{"name":"look"},"rules":[{"apiGroups":[""],"verbs":["get"],"resources":["pods/exec","pods/attach","pods/portforward"]}]}' >/dev/null
send POST /apis/rbac.authorization.k8s.io/v1/namespaces/a/rolebindings \
    '{"metadata":{"name":"look"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"look"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"lou"}]}' >/dev/null
for sub in exec attach portforward; do
    check "lou and $sub, by SPDY" 403 "$(code admin -H 'Impersonate-User: lou' --http1.1 -X POST -H 'Connection: Upgrade' \
        -H 'Upgrade: SPDY/3.1' "$server/api/v1/namespaces/a/pods/p/$sub?command=ls")"
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
check "a token of dots (CVE-2025-30204, CVE-2025-27144, CVE-2025-22868)" 401 "$(code anonymous -H "Authorization: Bearer $dots" "$server/api")"
million() { # curl sends no header of that length
    printf 'GET /api HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer '
    head -c 1000000 /dev/zero | tr '\0' .
    printf '\r\n\r\n'
}
has "one of a million" "HTTP/1.1 401 " "$(million | openssl s_client -quiet -connect "${server#https://}" 2>/dev/null | head -n 1)"
check "an encrypted token (CVE-2024-28180)" 401 "$(code anonymous -H "Authorization: Bearer e30.e30.e30.e30.e30" "$server/api")"
check "a header of a proxy counts for nobody else (CVE-2019-16276)" ann \
    "$(as ann -H 'X-Remote-User: admin' -H 'X-Remote-Group: system:masters' -H 'Content-Type: application/json' \
        -d '{}' "$server/apis/authentication.k8s.io/v1/selfsubjectreviews" | jq -r .status.userInfo.username)"
odd() { # NAME-OF-A-HEADER, as a proxy in front might let it pass; curl would not send it
    printf 'GET /api HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ann-token\r\n%s: admin\r\n\r\n' "$1" |
        openssl s_client -quiet -connect "${server#https://}" 2>/dev/null | head -n 1 | cut -c 10-12
}
for name in 'X-Remote-User ' ' X-Remote-User' 'X-Remote User' "X-Remote-User$(printf '\t')" 'X-Remote-User\0'; do
    check "a header called '$name' (CVE-2019-16276)" 400 "$(odd "$name")"
done
check "another one that is called well" 200 "$(odd X-Remote-Users)"
check "a stranger does not see what is served (CVE-2018-1002105)" 403 "$(code anonymous "$server/apis")"
check "but whether it lives" 200 "$(code anonymous "$server/livez")"
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

# A WebSocket may have its token among its protocols: once, beside another one, and only a WebSocket.
alice() { printf %s "$1" | base64 | tr -d =; }
socket() { # PROTOCOLS [HEADER...]
    protocols=$1; shift
    code anonymous --http1.1 -H 'Connection: Upgrade' -H 'Upgrade: websocket' -H 'Sec-WebSocket-Version: 13' \
        -H 'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==' -H "Sec-WebSocket-Protocol: $protocols" "$@" \
        "$server/api/v1/namespaces/a/secrets/absent"
}
bearer=base64url.bearer.authorization.k8s.io
check "a socket's token" 404 "$(socket "$bearer.$(alice ann-token), v5.channel.k8s.io")"
check "alone" 401 "$(socket "$bearer.$(alice ann-token)")"
check "twice" 401 "$(socket "$bearer.$(alice ann-token), $bearer.$(alice ann-token), x")"
check "another's" 403 "$(socket "$bearer.$(alice ben-token), x")"
check "nobody's" 401 "$(socket "$bearer.$(alice eve-token), x")"
check "no base64" 401 "$(socket "$bearer.!, x")"
check "not of a socket" 403 "$(code anonymous -H "Sec-WebSocket-Protocol: $bearer.$(alice ann-token), x" \
    "$server/api/v1/namespaces/a/secrets/absent")"
has "a space too many is told" 'extra space before the bearer token, and is ignored' \
    "$(anonymous -i -H 'Authorization: Bearer  ann-token' "$server/version")"

# Whoever a front proxy speaks for.
proxy_cert() { # NAME
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$dir/$1.key" -subj "/CN=$1" 2>/dev/null |
        openssl x509 -req -CA "$dir/proxy-ca.crt" -CAkey "$dir/proxy-ca.key" -set_serial 1 -days 2 -out "$dir/$1.crt" 2>/dev/null
}
proxy_cert front
proxy_cert back
via() { # NAME ARGUMENT...
    name=$1; shift
    anonymous --cert "$dir/$name.crt" --key "$dir/$name.key" -H 'Content-Type: application/json' -d '{}' "$@" \
        "$server/apis/authentication.k8s.io/v1/selfsubjectreviews" | jq -c 'if .kind == "Status" then .code else .status.userInfo end'
}
check "for whom it speaks" \
    '{"username":"pat","groups":["g1","g2","t1","system:authenticated"],"extra":{"":["q"],"a/b":["z"]}}' \
    "$(via front -H 'X-Remote-User: pat' -H 'X-Remote-Team: t1' -H 'X-Remote-Group: g1' -H 'X-Remote-Group;' \
        -H 'X-Remote-Group: g2' -H 'X-Remote-Extra-: q' -H 'X-Remote-Extra-A%2fB: z')"
check "if it may" 401 "$(via back -H 'X-Remote-User: pat')"

# Broken secrets are refused without being repeated (CVE-2020-8563), and no page shows what was sent.
broken=$(send POST /api/v1/namespaces/a/secrets \
    "{\"metadata\":{\"name\":\"pull\"},\"type\":\"kubernetes.io/dockerconfigjson\",\"data\":{\".dockerconfigjson\":\"$(printf '{"auths": "sesame-3791' | base64 -w0)\"}}")
has "a broken secret" '"reason": "Invalid"' "$broken"
check "is not repeated" "" "$(echo "$broken" | grep -e sesame -e "$(printf sesame-3791 | base64 | cut -c1-8)")"
for page in /debug/api_priority_and_fairness/dump_requests /metrics /statusz /readyz?verbose; do
    check "no secret on $page (CVE-2021-28235)" 0 "$(admin "$server$page" | grep -c -e "$token" -e ann-token -e sesame-3791)"
done
has "pages are plain text (CVE-2026-73546)" "text/plain" \
    "$(admin -o /dev/null -w '%{content_type}' "$server/debug/api_priority_and_fairness/dump_priority_levels")"
check "and not everybody's (CVE-2026-31838)" 403 "$(code as ann "$server/debug/api_priority_and_fairness/dump_priority_levels")"

# A node joins by a token, as long as its Secret is there.
join='abc123.0123456789abcdef'
node() { anonymous -H "Authorization: Bearer $join" -H 'Content-Type: application/json' -d '{}' \
    "$server/apis/authentication.k8s.io/v1/selfsubjectreviews" | jq -r 'if .kind == "Status" then .code else .status.userInfo.username end'; }
check "no such node" 401 "$(node)"
send POST /api/v1/namespaces/kube-system/secrets '{"metadata":{"name":"bootstrap-token-abc123"},"type":"bootstrap.kubernetes.io/token","stringData":{"token-id":"abc123","token-secret":"0123456789abcdef","usage-bootstrap-authentication":"true"}}' >/dev/null
check "a node joins" system:bootstrap:abc123 "$(node)"
admin -X DELETE "$server/api/v1/namespaces/kube-system/secrets/bootstrap-token-abc123" >/dev/null
check "and no longer" 401 "$(node)"

# A bound token ends with its pod. (tests/clients has programs that live in a pod's folder.)
send POST /api/v1/namespaces/a/serviceaccounts '{"metadata":{"name":"pod"}}' >/dev/null
uid=$(send POST /api/v1/namespaces/a/pods '{"metadata":{"name":"bound"},"spec":{"serviceAccountName":"pod","containers":[{"name":"c","image":"i"}]}}' | jq -r .metadata.uid)
token=$(send POST /api/v1/namespaces/a/serviceaccounts/pod/token \
    "{\"spec\":{\"boundObjectRef\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"name\":\"bound\",\"uid\":\"$uid\"}}}" | jq -rj .status.token)
check "a pod is known" 200 "$(code robot "$server/apis")"
admin -X DELETE "$server/api/v1/namespaces/a/pods/bound?gracePeriodSeconds=0" >/dev/null
check "and no longer" 401 "$(code robot "$server/apis")"

# ---- Objects and paths of reviews and tokens are upstream's
review() { send POST "/apis/$1" "$2" | jq -c "$3"; }
check "a review is of the cluster" '["x",null]' \
    "$(review authentication.k8s.io/v1/tokenreviews '{"metadata":{"name":"x","namespace":"y"},"spec":{"token":"t"}}' '[.metadata.name, .metadata.namespace]')"
has "or of its namespace" 'Invalid value: {\"name\":\"n\",\"namespace\":\"a\",\"managedFields\"' \
    "$(review authorization.k8s.io/v1/namespaces/a/localsubjectaccessreviews '{"metadata":{"name":"n"},"spec":{"user":"u","resourceAttributes":{"verb":"get","namespace":"a"}}}' .message)"
for path in /api/v1/bindings /apis/authorization.k8s.io/v1/localsubjectaccessreviews; do
    check "what nobody lists has no path over all namespaces: $path" 404 "$(code admin -d '{}' "$server$path")"
done
attested() { # SPEC
    send POST /api/v1/namespaces/a/serviceaccounts/pod/token "{\"spec\":{$1}}" | jq -r .message
}
hooked='"boundObjectRef":{"kind":"ValidatingWebhookConfiguration","apiVersion":"admissionregistration.k8s.io/v1","name":"x"}'
has "attestations are for webhooks" "attestations may only be specified with a webhook bound object reference" \
    "$(attested '"attestations":{"a":["b"]}')"
has "which need one" "webhook bound requests require exactly one admissionReviewAPIGroups attestation" "$(attested "$hooked")"
has "of a kind that is known" 'supported values: "admissionReviewAPIGroups"' "$(attested "$hooked,\"attestations\":{\"a\":[\"b\"]}")"
check "and are not served" \
    "cannot bind token to object of type admissionregistration.k8s.io/v1, Kind=ValidatingWebhookConfiguration (feature gate APIServerWebhookAuthenticationToken is disabled)" \
    "$(attested "$hooked,\"attestations\":{\"admissionReviewAPIGroups\":[\"apps\"]}")"

# ---- Colleagues
"$sampan" kubeconfig --data-dir "$dir/a" --user cleo --group team-c --ttl 1h --output "$dir/cleo"
check "a colleague's kubeconfig is private" 600 "$(stat -c %a "$dir/cleo")"
printf 'apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: rec, namespace: a}\nrules: [{apiGroups: [""], resources: [pods], verbs: [get]}]\n' >"$dir/rec.yaml"
openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$dir/csr.key" -subj /CN=dana -out "$dir/csr" 2>/dev/null
printf 'apiVersion: certificates.k8s.io/v1\nkind: CertificateSigningRequest\nmetadata: {name: dana}\nspec: {request: %s, signerName: kubernetes.io/kube-apiserver-client, usages: [client auth]}\n' \
    "$(base64 -w0 <"$dir/csr")" >"$dir/csr.yaml"
cleo() { "$kubectl" --kubeconfig "$dir/cleo" --cache-dir "$dir/cache" "$@" 2>&1; }
# may WHO ARGUMENT... - yes or no; older ones say why, too.
may() { who=$1; shift; $who auth can-i "$@" | sed -n 's/^\(yes\|no\).*/\1/p'; }
# colleagues KUBECTL - what kubectl has about rights, and nothing of it is left.
colleagues() {
    kubectl=$1
    minor=$("$kubectl" version --client -o json | sed -n 's/.*"minor": "\([0-9]*\).*/\1/p' | head -n 1)
    v="kubectl 1.$minor:"
    [ "$minor" -lt 28 ] || has "$v who she is" "team-c" "$(cleo auth whoami)"
    check "$v what she may" no "$(may cleo get pods)"
    has "$v create rolebinding" created "$(k create rolebinding cleo --clusterrole=view --group=team-c -n a)"
    check "$v what she may now" yes "$(may cleo get pods -n a)"
    check "$v but not secrets" no "$(may cleo get secrets -n a)"
    has "$v the list of it" "configmaps" "$(cleo auth can-i --list -n a)"
    check "$v not of another's" "" "$(cleo auth can-i --list -n b | grep configmaps)"
    has "$v she grants nothing" "cannot create resource" "$(cleo create rolebinding x --clusterrole=view --user=eve -n a)"
    check "$v as her" yes "$(may k list configmaps -n a --as cleo --as-group team-c)"
    check "$v as her in another" no "$(may k list configmaps -n b --as cleo --as-group team-c)"
    has "$v she cannot be the boss" "cannot impersonate" "$(cleo get pods --as admin --as-group system:masters)"
    k create rolebinding ed --clusterrole=edit --user=ed -n a >/dev/null
    check "$v edit makes no endpoints by hand (CVE-2021-25740)" no "$(may k create endpointslices.discovery.k8s.io -n a --as ed)"
    [ "$minor" -lt 24 ] || has "$v create token" "eyJ" "$(k create token pod -n a)"
    has "$v create role" created "$(k create role r --verb=get --resource=pods --resource-name=p -n a)"
    has "$v create clusterrole" created "$(k create clusterrole r --verb=get --non-resource-url=/metrics)"
    has "$v create clusterrolebinding" created "$(k create clusterrolebinding r --clusterrole=r --serviceaccount=a:pod)"
    check "$v a path" yes "$(may k get /metrics --as system:serviceaccount:a:pod)"
    check "$v no other path" no "$(may k get /logs --as system:serviceaccount:a:pod)"
    has "$v reconcile" "reconciled" "$(k auth reconcile -f "$dir/rec.yaml")"
    has "$v again" "reconciled" "$(k auth reconcile -f "$dir/rec.yaml")"
    has "$v roles are described" "configmaps" "$(k describe clusterrole view)"
    k create -f "$dir/csr.yaml" >/dev/null
    has "$v approve" "approved" "$(k certificate approve dana)"
    k delete -n a rolebinding/cleo rolebinding/ed role/r role/rec >/dev/null
    k delete clusterrolebinding/r clusterrole/r csr/dana >/dev/null
    echo "kubectl 1.$minor: done"
}
for candidate in kubectl ${SAMPAN_KUBECTL:+"$SAMPAN_KUBECTL"}; do
    if command -v "$candidate" >/dev/null; then colleagues "$candidate"; else skip "there is no $candidate"; fi
done
has "certs" "never ends (ES256)" "$("$sampan" certs --data-dir "$dir/a")"
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
