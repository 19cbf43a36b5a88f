#!/bin/sh
# webhook_test.sh SAMPAN - admission webhooks behind TLS: what they change and refuse, with kubectl
# and curl; bad ones, slow ones, a server that is killed between a webhook and the store, and many
# pods at once.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
needs python3 openssl jq kubectl
. "$(dirname "$0")/hook.sh"

# ---- Tools ----

start() {
    up --api-versions all >/dev/null || give_up
    connect
}
start_hook() {
    make_certificates
    run_hook admit.py
    url=https://127.0.0.1:$(cat "$hook/port")
    ca=$(base64 -w0 <"$hook/ca.crt")
}
calls() { cat "$hook/calls" 2>/dev/null; }
forget() { : >"$hook/calls"; }
called() { [ "$(calls | grep -c "^$1")" -ge "$2" ]; }

core=/api/v1/namespaces/default
registration=/apis/admissionregistration.k8s.io
send() { method=$1 path=$2 body=$3; shift 3; admin --max-time 60 -H 'Content-Type: application/json' -X "$method" "$server$path" -d "$body" "$@"; }
status() { send "$@" -o "$dir/body" -w '%{http_code}'; }
merge() { path=$1 body=$2; shift 2; admin --max-time 60 -H 'Content-Type: application/merge-patch+json' -X PATCH "$server$path" -d "$body" "$@"; }
get() { admin "$server$1"; }
says() { jq -r .message "$dir/body"; }
map() { # NAME [APP]
    labels=
    [ $# -lt 2 ] || labels=",\"labels\":{\"app\":\"$2\"}"
    printf '{"metadata":{"name":"%s"%s},"data":{"a":"b"}}' "$1" "$labels"
}
k() { kubectl --kubeconfig "$dir/a/admin.kubeconfig" "$@" 2>&1; }
rule() { printf '[{"apiGroups":["%s"],"apiVersions":["v1"],"operations":["*"],"resources":["%s"],"scope":"*"}]' "$1" "$2"; }
# webhook PATH RULES [MORE] - one webhook, as JSON
webhook() { printf '{"name":"%s.hook.test","clientConfig":{"url":"%s/%s","caBundle":"%s"},"rules":%s,"sideEffects":"None","admissionReviewVersions":["v1"]%s}' "$1" "$url" "$1" "$ca" "$2" "${3:+,$3}"; }
# configure validating|mutating NAME WEBHOOK...
configure() {
    kind=$1 name=$2
    shift 2
    list=
    for one; do list="$list${list:+,}$one"; done
    send POST "$registration/v1/${kind}webhookconfigurations" \
        "{\"metadata\":{\"name\":\"$name\"},\"webhooks\":[$list]}" >"$dir/configured"
}
drop() { admin -X DELETE "$server$registration/v1/$1webhookconfigurations/$2" >/dev/null; }
only='"objectSelector":{"matchLabels":{"app":"hooked"}}'

# ---- What they do ----

good() {
    check "nothing is asked without one" 201 "$(status POST $core/configmaps "$(map free)")"
    configure mutating a "$(webhook label-one "$(rule '' configmaps)")" "$(webhook label-two "$(rule '' configmaps)")"
    configure validating b "$(webhook warn "$(rule '' configmaps)")"
    check "created" 201 "$(status POST $core/configmaps "$(map m)" -D "$dir/head")"
    check "both have changed it" '{"one":"yes","two":"yes"}' "$(jq -c .metadata.labels "$dir/body")"
    has "and one warns" 'Warning: 299 - "mind the gap"' "$(tr '[:upper:]' '[:lower:]' <"$dir/head" | sed 's/^warning/Warning/')"
    check "in this order" "label-one,label-two,warn" "$(calls | cut -d' ' -f1 | paste -sd,)"
    check "an x-ray shows each of them, and what it changed" \
        '[["label-one.hook.test","/metadata/labels"],["label-two.hook.test","/metadata/labels/two"],["warn.hook.test",null]]' \
        "$(send POST "$core/configmaps?dryRun=All" "$(map x)" -H 'X-Sampan-Xray: 1' | jq -c '[.stages[] | select(.part == "webhook") | [.name, .changes[0].path]]')"
    forget
    check "a dry run asks, too" 201 "$(status POST "$core/configmaps?dryRun=All" "$(map dry)")"
    check "all of them" 3 "$(calls | wc -l)"
    check "but nothing is there" 404 "$(code admin "$server$core/configmaps/dry")"
    forget
    get $core/configmaps/m >/dev/null
    get $core/configmaps >/dev/null
    check "reading asks nobody" '' "$(calls)"
    drop mutating a
    drop validating b
    forget
    whole=$url url="$url/./up/../"
    configure validating b "$(webhook warn "$(rule '' configmaps)")"
    url=$whole
    check "a path with empty parts" 201 "$(status POST "$core/configmaps?dryRun=All" "$(map slashes)")"
    has "is asked for without them" 'warn CREATE ConfigMap slashes' "$(calls)"
    drop validating b
    forget
    check "without configuration again" 201 "$(status POST $core/configmaps "$(map later)")"
    check "nobody is asked" '' "$(calls)"
}

# What plugins are told does not follow what webhooks make of an object, nor is it completed twice.
told() {
    forget
    configure mutating a "$(webhook renames "$(rule '' configmaps)")"
    configure validating b "$(webhook warn "$(rule '' configmaps)")" "$(webhook look "$(rule '' pods)")"
    check "another name" '201 renamed' "$(status POST $core/configmaps "$(map first)") $(jq -r .metadata.name "$dir/body")"
    check "is not that of the request" 'warn CREATE ConfigMap first' "$(calls | grep ^warn)"
    drop mutating a
    configure mutating a "$(webhook revises "$(rule '' configmaps)")"
    check "a revision" 500 "$(status POST $core/configmaps "$(map revised)")"
    check "is not for webhooks" 'resourceVersion should not be set on objects to be created' "$(says)"
    send POST $core/pods '{"metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}' >/dev/null
    forget
    send DELETE $core/pods/p '' >/dev/null
    send DELETE $core/pods/p '' >/dev/null
    check "who goes already is not asked about again" 'look DELETE Pod p in 30 s' "$(calls)"
    forget
    send DELETE $core/pods/p '{"gracePeriodSeconds":0}' >/dev/null
    has "unless it is to go sooner" 'look DELETE Pod p in 0 s' "$(calls)"
    send POST $core/pods '{"metadata":{"name":"q"},"spec":{"containers":[{"name":"c","image":"i"}]}}' >/dev/null
    forget
    send DELETE $core/pods '' >/dev/null
    check "options of a collection are as they were sent" 'look DELETE Pod ' "$(calls | sort -u)"
    drop mutating a
    drop validating b
    send DELETE $core/configmaps/renamed '' >/dev/null
}

with_kubectl() {
    configure mutating a "$(webhook label-seen "$(rule apps deployments)")" "$(webhook two-replicas "$(rule apps deployments/scale)")" \
        "$(webhook sidecar "$(rule '' pods)")"
    configure validating b "$(webhook deny "$(rule '' secrets)")"
    k create deployment web --image=registry.test/web:1 >/dev/null
    check "kubectl create" yes "$(k get deployment web -o jsonpath='{.metadata.labels.seen}')"
    k scale deployment web --replicas=5 >/dev/null
    check "kubectl scale" 2 "$(k get deployment web -o jsonpath='{.spec.replicas}')"
    k patch deployment web --type merge -p '{"metadata":{"labels":{"seen":null}}}' >/dev/null
    check "kubectl patch" yes "$(k get deployment web -o jsonpath='{.metadata.labels.seen}')"
    printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: main, image: "registry.test/main:1"}]}\n' >"$dir/pod.yaml"
    has "kubectl apply" "created" "$(k apply -f "$dir/pod.yaml")"
    check "a container was injected, with its defaults" "main sidecar IfNotPresent" \
        "$(k get pod p -o jsonpath='{.spec.containers[*].name} {.spec.containers[1].imagePullPolicy}')"
    before=$(k get pod p -o jsonpath='{.metadata.resourceVersion}')
    k apply -f "$dir/pod.yaml" >/dev/null
    check "kubectl apply again changes nothing" "$before" "$(k get pod p -o jsonpath='{.metadata.resourceVersion}')"
    has "kubectl apply --server-side" "serverside-applied" "$(k apply --server-side -f "$dir/pod.yaml")"
    has "a refusal" 'admission webhook "deny.hook.test" denied the request: not on my watch' "$(k create secret generic s --from-literal=a=b)"
    check "is one" 403 "$(status POST $core/secrets '{"metadata":{"name":"s"}}')"
    drop validating b
    k create secret generic s --from-literal=a=b >/dev/null
    configure validating b "$(webhook deny "$(rule '' secrets)")"
    has "kubectl delete is refused" "not on my watch" "$(k delete secret s)"
    has "of all of them, too" "not on my watch" "$(k delete secrets --all)"
    drop validating b
    has "kubectl delete" 'secret "s" deleted' "$(k delete secret s)"
    k delete deployment web >/dev/null
    k delete pod p --now >/dev/null
    drop mutating a
}

beta() {
    body=$(printf '{"metadata":{"name":"beta"},"webhooks":[{"name":"beta.hook.test","clientConfig":{"url":"%s/label-beta","caBundle":"%s"},"rules":%s}]}' "$url" "$ca" "$(rule '' configmaps)")
    check "a configuration in v1beta1" 201 "$(status POST $registration/v1beta1/mutatingwebhookconfigurations "$body")"
    check "speaks v1beta1" '["v1beta1"]' "$(jq -c '.webhooks[0].admissionReviewVersions' "$dir/body")"
    check "it is asked" 201 "$(status POST $core/configmaps "$(map by-beta)")"
    check "and obeyed" yes "$(jq -r .metadata.labels.beta "$dir/body")"
    check "its side effects are not known" 400 "$(status POST "$core/configmaps?dryRun=All" "$(map dry)")"
    check "so there is no dry run" 'admission webhook "beta.hook.test" does not support dry run' "$(says)"
    check "it is there in v1" Unknown "$(get $registration/v1/mutatingwebhookconfigurations/beta | jq -r '.webhooks[0].sideEffects')"
    drop mutating beta
}

# ---- Bad ones ----

# refused HOW WORDS [MORE] - by a webhook of each kind that behaves so; ignored if it says so.
refused() {
    for kind in validating mutating; do
        configure $kind bad "$(webhook "$1" "$(rule '' configmaps)" "\"timeoutSeconds\":${3:-10}")"
        check "$kind $1" 500 "$(status POST $core/configmaps "$(map bad)")"
        has "$kind $1" "failed calling webhook \"$1.hook.test\": $2" "$(says)"
        drop $kind bad
        configure $kind bad "$(webhook "$1" "$(rule '' configmaps)" "\"failurePolicy\":\"Ignore\",\"timeoutSeconds\":${3:-10}")"
        check "$kind $1, ignored" 201 "$(status POST $core/configmaps "$(map ignored)")"
        admin -X DELETE "$server$core/configmaps/ignored" >/dev/null
        drop $kind bad
    done
    check "nothing came of $1" 404 "$(code admin "$server$core/configmaps/bad")"
}
bad() {
    called_post="failed to call webhook: "
    refused redirect "${called_post}the server responded with the status code 302"
    check "a redirect is not followed" '' "$(calls | grep ^GET)"
    refused huge "${called_post}Post \"$url/huge?timeout=10s\": reply is larger than"
    refused endless "${called_post}Post \"$url/endless?timeout=10s\": reply is larger than"
    refused deep "${called_post}couldn't get version/kind; json parse error: "
    refused garbage "${called_post}couldn't get version/kind; json parse error: invalid character 'x'"
    refused broken "${called_post}an error on the server (\"unknown\") has prevented the request from succeeding"
    refused hangs-up "${called_post}Post \"$url/hangs-up?timeout=10s\": EOF"
    refused other-uid "received invalid webhook response: expected response.uid="
    refused stuck "${called_post}Post \"$url/stuck?timeout=1s\": context deadline exceeded" 1
    configure mutating bad "$(webhook other-kind "$(rule '' configmaps)")"
    check "another kind" 500 "$(status POST $core/configmaps "$(map bad)")"
    check "is not taken" "converting (v1.Secret) to (core.ConfigMap): unknown conversion" "$(says)"
    drop mutating bad
    configure mutating bad "$(webhook other-name "$(rule '' configmaps)")"
    check "a name that is no name" 422 "$(status POST $core/configmaps "$(map bad)")"
    drop mutating bad
    check "nothing of it is there" 404 "$(code admin "$server$core/configmaps/bad")"
    url_was=$url url=https://127.0.0.1:1
    configure validating dead "$(webhook gone "$(rule '' configmaps)")"
    check "nobody is there" 500 "$(status POST $core/configmaps "$(map bad)")"
    has "which is said" "dial tcp 127.0.0.1:1: connect: connection refused" "$(says)"
    ca_was=$ca ca=$(printf garbage | base64)
    configure mutating unread "$(webhook label-x "$(rule '' configmaps)")"
    check "a caBundle that is none" 500 "$(status POST $core/configmaps "$(map bad)")"
    has "is told" "could not get REST client: unable to load root certificates: unable to parse bytes as PEM block" "$(says)"
    drop mutating unread
    ca=$ca_was
    has "a webhook cannot keep its configuration" deleted \
        "$(k delete validatingwebhookconfiguration dead)"
    everything='[{"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],"resources":["*/*"]}]'
    k delete clusterrole view >/dev/null
    configure validating dead "$(webhook gone "$everything")"
    configure mutating dead "$(webhook gone "$everything")"
    "$sampan" down --data-dir "$dir/a" >/dev/null
    start
    check "nor the server from starting" 500 "$(status POST $core/configmaps "$(map bad)")"
    has "although everybody else is stopped" "connect: connection refused" "$(says)"
    check "what it makes by itself is there" 200 "$(code admin "$server/apis/rbac.authorization.k8s.io/v1/clusterroles/view")"
    drop validating dead
    drop mutating dead
    check "which ends with it" 201 "$(status POST $core/configmaps "$(map good)")"
    url=$url_was
    send POST $core/services '{"metadata":{"name":"simulated"},"spec":{"ports":[{"port":443}]}}' >/dev/null
    send POST /apis/discovery.k8s.io/v1/namespaces/default/endpointslices '{"metadata":{"name":"simulated","labels":{"kubernetes.io/service-name":"simulated"}},"addressType":"IPv4","ports":[{"name":"","port":443}],"endpoints":[{"addresses":["198.19.0.1"]}]}' >/dev/null
    send POST "$registration/v1/validatingwebhookconfigurations" "{\"metadata\":{\"name\":\"simulated\"},\"webhooks\":[{\"name\":\"simulated.hook.test\",\"clientConfig\":{\"service\":{\"namespace\":\"default\",\"name\":\"simulated\"},\"caBundle\":\"$ca\"},\"rules\":$(rule '' configmaps),\"sideEffects\":\"None\",\"admissionReviewVersions\":[\"v1\"]}]}" >/dev/null
    check "a simulated pod cannot be asked" 500 "$(status POST $core/configmaps "$(map bad)")"
    has "and is not dialled" "dial tcp 198.19.0.1:443: connect: no route to host" "$(says)"
    drop validating simulated
}

# ---- Busy ones ----

# A webhook that answers 429 or 5xx with Retry-After is asked again, within its time.
# busy KIND STATUS AFTER N [SECONDS] - the first N calls are told to come again; prints the code.
busy() {
    forget
    configure "$1" busy "$(webhook "retry-$2-$3-$4" "$(rule '' configmaps)" "\"timeoutSeconds\":${5:-30}")"
    status POST "$core/configmaps?dryRun=All" "$(map busy)"
    drop "$1" busy
}
retries() {
    for kind in validating mutating; do
        check "$kind: 429" 201 "$(busy $kind 429 1 2)"
        check "it was asked again" 3 "$(calls | wc -l)"
        check "$kind: 503" 201 "$(busy $kind 503 0 3)"
        check "as often as it wanted" 4 "$(calls | wc -l)"
        check "$kind: one that is always busy" 500 "$(busy $kind 500 0 99)"
        check "is asked so many times" 11 "$(calls | wc -l)"
        has "and then it has failed" 'an error on the server ("unknown") has prevented the request' "$(says)"
    done
    check "no number of seconds" 500 "$(busy validating 429 soon 99)"
    check "is no wish" 1 "$(calls | wc -l)"
    has "and is told" 'the server has received too many requests and has asked us to try again later' "$(says)"
    check "what is no fault of the server" 500 "$(busy validating 409 0 99)"
    check "is not tried again" 1 "$(calls | wc -l)"
    check "later than its time" 500 "$(busy validating 503 31 99)"
    has "is too late" "retry-503-31-99?timeout=30s\": context deadline exceeded" "$(says)"
    check "so nobody waits for it" 1 "$(calls | wc -l)"
    check "its time is that of all tries together" 500 "$(busy mutating 503 1 99 2)"
    has "and ends them" 'timeout=2s": context deadline exceeded' "$(says)"
}

# ---- Slow ones ----

# Requests that wait for a webhook which does not answer, more of them than other workers there are.
stuck_one() { # NUMBER
    curl -sS --max-time 120 --cacert "$dir/ca.crt" --cert "$dir/admin.crt" --key "$dir/admin.key" \
        -H 'Content-Type: application/json' "$server$core/configmaps" \
        -d "$(map "stuck-$1" hooked)" -o "$dir/stuck.$1" -w '%{http_code}\n' >"$dir/code.$1" 2>&1
}
stuck() {
    stuck_pids=
    for i in $(seq 64); do
        stuck_one "$i" &
        stuck_pids="$stuck_pids $!"
    done
}
define_slow() {
    versions='[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}},{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]'
    send POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions "{\"metadata\":{\"name\":\"slows.hook.test\"},\"spec\":{\"group\":\"hook.test\",\"scope\":\"Namespaced\",\"names\":{\"plural\":\"slows\",\"kind\":\"Slow\"},\"versions\":$versions,\"conversion\":{\"strategy\":\"Webhook\",\"webhook\":{\"conversionReviewVersions\":[\"v1\"],\"clientConfig\":{\"url\":\"$url/stuck-convert\",\"caBundle\":\"$ca\"}}}}}" >/dev/null
    send POST /apis/hook.test/v1/namespaces/default/slows '{"apiVersion":"hook.test/v1","kind":"Slow","metadata":{"name":"s"}}' >/dev/null
}
slow_conversions() {
    for i in $(seq 64); do
        admin --max-time 120 "$server/apis/hook.test/v2/namespaces/default/slows/s" >/dev/null 2>&1 &
        stuck_pids="$stuck_pids $!"
    done
}
slow() {
    rm -f "$hook/release"
    forget
    configure validating slow "$(webhook stuck "$(rule '' configmaps)" "$only,\"timeoutSeconds\":30")"
    configure mutating quick "$(webhook label-quick "$(rule '' secrets)")"
    define_slow
    stuck
    slow_conversions
    waits called "stuck " 64
    waits called "stuck-convert" 64
    check "64 slow calls of each do not delay another webhook" 201 "$(status POST $core/secrets '{"metadata":{"name":"quick"}}')"
    check "which was asked" yes "$(jq -r .metadata.labels.quick "$dir/body")"
    check "nor a write without webhooks" 201 "$(status POST $core/services '{"metadata":{"name":"plain"},"spec":{"ports":[{"port":80}]}}')"
    check "nor what the slow one is not for" 201 "$(status POST $core/configmaps "$(map other)")"
    check "nor reading" 200 "$(code admin "$server$core/configmaps")"
    check "nobody was answered meanwhile" 0 "$(cat "$dir"/code.* | grep -c .)"
    "$sampan" down --data-dir "$dir/a" >/dev/null || check "it stops" yes no
    for pid in $stuck_pids; do wait "$pid"; done
    # Their webhook has 30 seconds: whoever had waited for it would say so.
    check "the server does not wait for them" 64 "$(cat "$dir"/stuck.* 2>/dev/null | grep -c 'the server is stopping')"
    : >"$hook/release"
    start
    check "nothing half done is there" 0 "$(get $core/configmaps | jq '[.items[].metadata.name | select(startswith("stuck"))] | length')"
    drop validating slow
    drop mutating quick
}

# A client that goes does not leave its call behind.
gone() {
    rm -f "$hook/release"
    forget
    configure validating slow "$(webhook stuck "$(rule '' configmaps)" "$only,\"timeoutSeconds\":30")"
    curl -sS --max-time 120 --cacert "$dir/ca.crt" --cert "$dir/admin.crt" --key "$dir/admin.key" \
        -H 'Content-Type: application/json' "$server$core/configmaps" \
        -d "$(map stuck-gone hooked)" -o /dev/null &
    waits called "stuck " 1
    kill $!
    waits called "gone stuck" 1
    : >"$hook/release"
    drop validating slow
    check "nor its object" 404 "$(code admin "$server$core/configmaps/stuck-gone")"
}

# ---- Between a webhook and the store ----

killed() {
    rm -f "$hook/release"
    forget
    configure mutating first "$(webhook sidecar "$(rule '' pods)")"
    configure validating then "$(webhook stuck "$(rule '' pods)")"
    send POST $core/pods '{"metadata":{"name":"half"},"spec":{"containers":[{"name":"main","image":"registry.test/main:1"}]}}' >/dev/null 2>&1 &
    waits called "stuck CREATE Pod half" 1
    check "it was injected" 1 "$(calls | grep -c '^sidecar CREATE Pod half')"
    kill -9 "$(head -n 1 "$dir/a/sampan.pid")"
    wait $!
    : >"$hook/release"
    start
    check "nothing is there" 404 "$(code admin "$server$core/pods/half")"
    check "it can be created" 201 "$(status POST $core/pods '{"metadata":{"name":"half"},"spec":{"containers":[{"name":"main","image":"registry.test/main:1"}]}}')"
    check "as a whole" '["main","sidecar"]' "$(jq -c '[.spec.containers[].name]' "$dir/body")"
    drop mutating first
    drop validating then
}

# ---- Many at once ----

# initialize - clears the marks of all pods that wait, as long as there is the file "initializing"
initialize() {
    while [ -e "$dir/initializing" ]; do
        get "$core/pods?includeUninitialized=true" | jq -r '.items[] | select(.metadata.initializers) | .metadata.name' >"$dir/waiting"
        while read -r name; do
            printf 'url = "%s"\nrequest = PATCH\nheader = "Content-Type: application/merge-patch+json"\ndata = "{\\"metadata\\":{\\"initializers\\":null,\\"annotations\\":{\\"by\\":\\"initializer\\"}}}"\n' "$server$core/pods/$name"
            printf 'cacert = "%s"\ncert = "%s"\nkey = "%s"\noutput = "/dev/null"\nnext\n' "$dir/ca.crt" "$dir/admin.crt" "$dir/admin.key"
        done <"$dir/waiting" | sed '$d' >"$dir/marks"
        [ ! -s "$dir/marks" ] || curl -sS -Z --parallel-max 20 --max-time 60 -K "$dir/marks" 2>/dev/null
    done
}
many() {
    send POST $registration/v1alpha1/initializerconfigurations '{"metadata":{"name":"many"},"initializers":[{"name":"many.hook.test","rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]}]}' >/dev/null
    : >"$dir/initializing"
    initialize &
    initializer=$!
    configure mutating many "$(webhook label-many "$(rule '' pods)")" "$(webhook sidecar "$(rule '' pods)")"
    for i in $(seq 1000); do
        [ "$i" = 1 ] || echo next
        printf 'url = "%s"\nheader = "Content-Type: application/json"\ndata = "{\\"metadata\\":{\\"name\\":\\"many-%s\\"},\\"spec\\":{\\"containers\\":[{\\"name\\":\\"main\\",\\"image\\":\\"registry.test/main:1\\"}]}}"\n' "$server$core/pods" "$i"
        printf 'cacert = "%s"\ncert = "%s"\nkey = "%s"\noutput = "/dev/null"\nwrite-out = "%%{http_code}\\n"\n' "$dir/ca.crt" "$dir/admin.crt" "$dir/admin.key"
    done >"$dir/many"
    check "1,000 pods at once" 1000 "$(curl -sS -Z --parallel-max 100 --max-time 120 -K "$dir/many" 2>/dev/null | grep -c '^201')"
    check "all went through both" 1000 "$(get "$core/pods?labelSelector=many%3Dyes" | jq '[.items[] | select(.spec.containers | length == 2)] | length')"
    rm "$dir/initializing"
    wait $initializer
    check "and through the initializer" 1000 "$(get $core/pods | jq '[.items[] | select(.metadata.annotations.by == "initializer" and .metadata.initializers == null)] | length')"
    drop mutating many
}

start
start_hook
good
told
with_kubectl
beta
bad
retries
slow
gone
killed
many
finish
