#!/bin/sh
# conversion_test.sh SAMPAN - several versions of a custom kind: conversion by a webhook and by none,
# in every verb; webhooks that fail, each in its way; changes of definitions while they are used.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
needs python3 openssl jq
. "$(dirname "$0")/hook.sh"

# ---- Tools ----

# The webhook reads the mode at any time: it must never see a file that is still empty.
mode() { echo "$1" >"$hook/mode.new" && mv "$hook/mode.new" "$hook/mode"; }
calls() { cat "$hook/calls" 2>/dev/null; }
forget_calls() { : >"$hook/calls"; }
n_calls() { calls | wc -l; }
called() { [ "$(n_calls)" -ge "$1" ]; }
has_lines() { [ -e "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]; }
tells() { grep -q -e "$2" "$1"; }

group=meters.example.com
crds=/apis/apiextensions.k8s.io/v1/customresourcedefinitions
at() { echo "$server/apis/$group/$1/namespaces/default/gauges${2:+/$2}"; }
ask() { admin -A test "$@"; } # to whom curl is known, answers are for people
send() { ask -X "$1" -H "Content-Type: application/${4:-json}" "$2" -d "$3"; }
get() { ask "$(at "$1" "$2")"; }
field() { jq -r "$1"; }
gauge_v1() { echo "{\"apiVersion\":\"$group/v1\",\"kind\":\"Gauge\",\"metadata\":{\"name\":\"$1\"},\"spec\":{\"place\":\"$2\"}}"; }
gauge_v2() { echo "{\"apiVersion\":\"$group/v2\",\"kind\":\"Gauge\",\"metadata\":{\"name\":\"$1\"},\"spec\":{\"host\":\"$2\",\"port\":$3}}"; }
events() { jq -r '[.type, (.object.metadata.name // .object.message), .object.apiVersion, (.object.spec.host // .object.spec.place // "")] | join(" ")' "$1" | sed "s|$group/||"; }

# many METHOD TYPE - of lines with a URL and a body, over one connection.
many() {
    while read -r url body; do
        printf 'url = "%s"\nrequest = "%s"\nheader = "Content-Type: application/%s"\ndata = "%s"\n' \
            "$url" "$1" "$2" "$(echo "$body" | sed 's/"/\\"/g')"
        printf 'cacert = "%s"\ncert = "%s"\nkey = "%s"\noutput = "/dev/null"\nnext\n' \
            "$dir/ca.crt" "$dir/admin.crt" "$dir/admin.key"
    done | sed '$d' | curl -sS --max-time 60 -K -
}

# watch FILE VERSION [PARAMETERS] - in the background; its process is $watching.
watch() {
    curl -sSN --cacert "$dir/ca.crt" --cert "$dir/admin.crt" --key "$dir/admin.key" --max-time 60 \
        "$(at "$2")?watch=true${3:-}" >"$dir/$1" 2>&1 &
    watching=$!
}
ended() { ! kill -0 "$1" 2>/dev/null; }

start_hook() {
    make_certificates
    run_hook convert.py
    port=$(cat "$hook/port")
    ca=$(base64 -w0 <"$hook/ca.crt")
}

# definition STORAGE CONVERSION - v1 and v2 of gauges.
version() {
    [ "$1" = "$2" ] && storage=true || storage=false
    [ "$1" = v2 ] && fields='[{jsonPath: .spec.host}]' || fields='[]'
    echo "{name: $1, served: true, storage: $storage, selectableFields: $fields, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, properties: {status: {type: object, properties: {level: {type: integer}}}, spec: {type: object, properties: {$3}}}}}}"
}
definition() {
    cat <<EOF
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gauges.$group}
spec:
  group: $group
  scope: Namespaced
  names: {plural: gauges, kind: Gauge}
  conversion: $2
  versions:
  - $(version v1 "$1" 'place: {type: string}, unit: {type: string, default: bar}')
  - $(version v2 "$1" 'host: {type: string}, port: {type: integer}, unit: {type: string, default: bar}')
EOF
}
by_url() {
    echo "{strategy: Webhook, webhook: {conversionReviewVersions: [${2:-v1}], clientConfig: {url: \"https://127.0.0.1:${3:-$port}$1\", caBundle: ${4:-$ca}}}}"
}
define() {
    definition "$@" >"$dir/crd.yaml"
    ask -X PATCH -H 'Content-Type: application/apply-patch+yaml' --data-binary "@$dir/crd.yaml" \
        "$server$crds/gauges.$group?fieldManager=test&force=true" >"$dir/crd.out"
    grep -q '"kind":"CustomResourceDefinition"' "$dir/crd.out" || cat "$dir/crd.out"
}

# ---- Tests ----

every_verb() {
    forget_calls
    define v1 "$(by_url /every)"
    check "created in v2" "h1 80" \
        "$(send POST "$(at v2)" "$(gauge_v2 one h1 80)" | field '"\(.spec.host) \(.spec.port)"')"
    check "asked for both ways" "v1 /every?timeout=30s v1 one
v1 /every?timeout=30s v2 one" "$(calls)"
    forget_calls
    check "stored in v1" "h1:80" "$(get v1 one | field .spec.place)"
    check "its own version needs no webhook" 0 "$(n_calls)"
    check "read in v2" "h1 80 $group/v2" \
        "$(get v2 one | field '"\(.spec.host) \(.spec.port) \(.apiVersion)"')"
    check "one call" "v1 /every?timeout=30s v2 one" "$(calls)"
    check "defaults of both" bar "$(get v2 one | field .spec.unit)"
    check "as YAML" "  host: h1" "$(ask -H 'Accept: application/yaml' "$(at v2 one)" | grep "^  host:")"
    check "as a Table" one "$(ask -H 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io' \
        "$(at v2 one)" | field '.rows[0].cells[0]')"

    for i in 2 3 4; do send POST "$(at v1)" "$(gauge_v1 "g$i" "h$i:$i")" >/dev/null; done
    forget_calls
    check "listed in v2" "g2 h2,g3 h3,g4 h4,one h1" \
        "$(get v2 '' | field '[.items[] | "\(.metadata.name) \(.spec.host)"] | join(",")')"
    check "by one call" "v1 /every?timeout=30s v2 g2,g3,g4,one" "$(calls)"
    forget_calls
    check "a page of them" "g2 h2,g3 h3 2" "$(ask "$(at v2)?limit=2" |
        field '([.items[] | "\(.metadata.name) \(.spec.host)"] | join(",")) + " \(.metadata.remainingItemCount)"')"
    check "no more than that is asked for" "v1 /every?timeout=30s v2 g2,g3" "$(calls)"
    token=$(ask "$(at v2)?limit=2" | field .metadata.continue)
    check "the page after" "g4,one" \
        "$(ask "$(at v2)?limit=2&continue=$token" | field '[.items[].metadata.name] | join(",")')"
    check "one by its name" "g3 h3" "$(ask "$(at v2)?fieldSelector=metadata.name%3Dg3" |
        field '[.items[] | "\(.metadata.name) \(.spec.host)"] | join(",")')"
    check "by a field that only v2 has" "g4" "$(ask "$(at v2)?fieldSelector=spec.host%3Dh4" |
        field '[.items[].metadata.name] | join(",")')"
    check "a page of those" "g4 null" "$(ask "$(at v2)?fieldSelector=spec.host%3Dh4&limit=1" |
        field '([.items[].metadata.name] | join(",")) + " \(.metadata.remainingItemCount)"')"
    check "a list as YAML" 4 "$(ask -H 'Accept: application/yaml' "$(at v2)" | grep -c ' host:')"
    forget_calls
    check "a list of v1" 4 "$(get v1 '' | field '.items | length')"
    check "needs no webhook" 0 "$(n_calls)"

    check "replaced in v2" "h1 81" "$(get v2 one | jq -c '.spec.port = 81' |
        { read -r body; send PUT "$(at v2 one)" "$body"; } | field '"\(.spec.host) \(.spec.port)"')"
    check "patched in v2" "h9 81" "$(send PATCH "$(at v2 one)" '{"spec":{"host":"h9"}}' \
        merge-patch+json | field '"\(.spec.host) \(.spec.port)"')"
    check "patched by JSON" 82 "$(send PATCH "$(at v2 one)" \
        '[{"op":"replace","path":"/spec/port","value":82}]' json-patch+json | field .spec.port)"
    check "as v1 has it" "h9:82" "$(get v1 one | field .spec.place)"
    check "status in v2" 7 "$(send PATCH "$(at v2 one/status)" '{"status":{"level":7}}' \
        merge-patch+json | field .status.level)"
    check "applied in v2" "h5 55" "$(send PATCH "$(at v2 five)?fieldManager=me" \
        "$(gauge_v2 five h5 55)" apply-patch+yaml | field '"\(.spec.host) \(.spec.port)"')"
    check "applied again" "h5 56" "$(send PATCH "$(at v2 five)?fieldManager=me" \
        "$(gauge_v2 five h5 56)" apply-patch+yaml | field '"\(.spec.host) \(.spec.port)"')"
    check "the other version's manager" "h5:57" "$(send PATCH "$(at v1 five)?fieldManager=you&force=true" \
        "$(gauge_v1 five h5:57)" apply-patch+yaml | field .spec.place)"
    check "deleted in v2" "Success" "$(send DELETE "$(at v2 five)" '' | field .status)"
    check "and not found" 404 "$(code admin "$(at v2 five)")"
}

watches() {
    forget_calls
    watch both v2
    watchers=$watching
    waits has_lines "$dir/both" 4
    check "what there is" "ADDED g2 v2 h2
ADDED g3 v2 h3
ADDED g4 v2 h4
ADDED one v2 h9" "$(events "$dir/both")"
    check "by one call" 1 "$(n_calls)"
    rev=$(get v1 '' | field .metadata.resourceVersion)
    watch later v2 "&resourceVersion=$rev"
    watchers="$watchers $watching"
    send POST "$(at v1)" "$(gauge_v1 six h6:6)" >/dev/null
    send PATCH "$(at v1 six)" '{"spec":{"place":"h66:6"}}' merge-patch+json >/dev/null
    send DELETE "$(at v1 six)" '' >/dev/null
    send POST "$(at v1)" "$(gauge_v1 seven h7:7)" >/dev/null
    waits has_lines "$dir/later" 4
    waits has_lines "$dir/both" 8
    check "events in order" "ADDED six v2 h6
MODIFIED six v2 h66
DELETED six v2 h66
ADDED seven v2 h7" "$(events "$dir/later")"
    check "and in the other" "$(events "$dir/later")" "$(events "$dir/both" | tail -4)"
    send DELETE "$(at v1 seven)" '' >/dev/null
    waits has_lines "$dir/later" 5
    watch by-field v2 "&fieldSelector=spec.host%3Dh4"
    waits has_lines "$dir/by-field" 1
    send PATCH "$(at v1 g4)" '{"spec":{"place":"h44:4"}}' merge-patch+json >/dev/null
    send PATCH "$(at v1 g4)" '{"spec":{"place":"h4:4"}}' merge-patch+json >/dev/null
    waits has_lines "$dir/by-field" 3
    check "selected by a field" "ADDED g4 v2 h4
DELETED g4 v2 h4
ADDED g4 v2 h4" "$(events "$dir/by-field")"
    kill $watching
    waits has_lines "$dir/later" 7
    watch past v2 "&resourceVersion=$rev"
    waits has_lines "$dir/past" 7
    check "from the history" "$(events "$dir/later")" "$(events "$dir/past")"
    kill $watchers $watching
}

# More than fits into one call, or into the queue of a watch.
much() {
    for i in $(seq 520); do echo "$(at v1) $(gauge_v1 "many-$i" "m:$i")"; done | many POST json
    forget_calls
    check "a long list" 524 "$(get v2 '' | field '[.items[] | select(.spec.host)] | length')"
    check "takes two calls" "500 24" "$(calls | awk '{ print gsub(",", "", $4) + 1 }' | xargs)"
    forget_calls
    watch long v2
    waits has_lines "$dir/long" 524
    check "a long watch" 524 "$(events "$dir/long" | grep -c '^ADDED .* v2 ')"
    check "takes two as well" 2 "$(n_calls)"
    check "deleted by a field that only v2 has" 520 \
        "$(ask --max-time 60 -X DELETE "$(at v2)?fieldSelector=spec.host%3Dm" | field '.items | length')"
    check "what is left" "g2,g3,g4,one" "$(get v1 '' | field '[.items[].metadata.name] | join(",")')"
    waits has_lines "$dir/long" 1044
    check "and was seen" 520 "$(events "$dir/long" | grep -c '^DELETED many-.* v2 m')"
    kill $watching

    big=$(head -c 600000 /dev/zero | tr '\0' x)
    for i in 1 2 3; do
        echo "{\"apiVersion\":\"$group/v1\",\"kind\":\"Gauge\",\"metadata\":{\"name\":\"big-$i\"},\"spec\":{\"place\":\"h:1\",\"unit\":\"$big\"}}" >"$dir/big"
        ask -X POST -H 'Content-Type: application/json' --data-binary "@$dir/big" "$(at v1)" >/dev/null
    done
    forget_calls
    check "large objects" 7 "$(get v2 '' | field '[.items[] | select(.spec.host)] | length')"
    check "take calls of their own" "big-1,big-2 big-3,g2,g3,g4,one" "$(calls | awk '{ print $4 }' | xargs)"
    for i in 1 2 3; do send DELETE "$(at v1 big-$i)" '' >/dev/null; done

    rev=$(get v1 '' | field .metadata.resourceVersion)
    watchers=
    for i in 1 2 3 4 5 6 7 8; do watch "queue$i" v2 "&resourceVersion=$rev"; watchers="$watchers $watching"; done
    mode slow
    forget_calls
    for i in $(seq 300); do echo "$(at v1 g2) {\"spec\":{\"place\":\"h2:$i\"}}"; done | many PATCH merge-patch+json
    waits called 1
    mode ''
    for i in 1 2 3 4 5 6 7 8; do waits has_lines "$dir/queue$i" 300; done
    check "a queue that was full: everything, in order" "$(seq 300)" "$(field .object.spec.port <"$dir/queue1")"
    check "for everybody" 1 "$(for i in 1 2 3 4 5 6 7 8; do cksum <"$dir/queue$i"; done | sort -u | wc -l)"
    [ "$(n_calls)" -le 40 ] || check "few calls, shared by the watches of a loop" "at most 40" "$(n_calls)"
    kill $watchers
    send PATCH "$(at v1 g2)" '{"spec":{"place":"h2:2"}}' merge-patch+json >/dev/null
}

# One that never answers is given up. It takes its time, so it begins first and is asked last.
stuck_begins() {
    define v1 "$(by_url /works)"
    sed -e 's/gauges/valves/g; s/Gauge/Valve/g; s|/works|/stuck|' "$dir/crd.yaml" >"$dir/valves.yaml"
    ask -X PATCH -H 'Content-Type: application/apply-patch+yaml' --data-binary "@$dir/valves.yaml" \
        "$server$crds/valves.$group?fieldManager=test" >/dev/null
    valves=$server/apis/$group/v1/namespaces/default/valves
    send POST "$valves" "$(gauge_v1 stuck h:1 | sed 's/Gauge/Valve/')" >/dev/null
    curl -sS -A test --max-time 55 --cacert "$dir/ca.crt" --cert "$dir/admin.crt" --key "$dir/admin.key" \
        "$server/apis/$group/v2/namespaces/default/valves/stuck" >"$dir/stuck" 2>&1 &
    stuck=$!
}
stuck_ends() {
    wait $stuck
    has "it was given up" "/stuck?timeout=30s\": context deadline exceeded" "$(field .message <"$dir/stuck")"
}

# A webhook that fails: what it does, and what is said of it.
says() {
    mode "$1"
    said=$(get v2 one | field '"\(.code) \(.message)"')
    has "$1, as upstream says it" "500 Internal error occurred: StorageError: corrupt object, Code: 7, \
Key: /$group/gauges/default/one, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=" "$said"
    has "$1" ": $2" "$said"
    mode ''
}
failures() {
    define v1 "$(by_url /failing)"
    f="conversion webhook for $group/v1, Kind=Gauge"
    says status-500 "$f failed: an error on the server (\"out of \\\"order\\\"\") has prevented the request from succeeding"
    says status-404 "$f failed: the server could not find the requested resource"
    says status-object "$f failed: go away"
    says empty "$f failed: 0-length response with status code: 200 and content type: application/json"
    says no-json "$f failed: couldn't get version/kind; json parse error: invalid character 'x' looking for beginning of object key string"
    says huge "$f failed: Post \"https://127.0.0.1:$port/failing?timeout=30s\": reply is larger than"
    says hangs-up "$f failed: Post \"https://127.0.0.1:$port/failing?timeout=30s\": "
    says refuses "$f failed: not today"
    says refuses-silently "$f failed: response.result.status was 'Failure', not 'Success'"
    says no-response "$f failed: no response provided"
    says other-request "$f failed: expected response.uid=\""
    says other-review "$f failed: no kind \"AdmissionReview\" is registered for version \"apiextensions.k8s.io/v1\" in scheme \"k8s.io/apiserver/pkg/util/webhook/client.go:74\""
    says fewer "$f returned 0 objects, expected 1"
    says wrong-kind "$f returned invalid object at index 0: invalid kind (expected Gauge, received Other)"
    says wrong-version "$f returned invalid object at index 0: invalid groupVersion (expected $group/v2, received x.test/v9)"
    says no-kind "Object 'Kind' is missing in '{"
    says renamed "$f returned invalid object: must have the same name: one != other"
    says other-uid "$f returned invalid object: must have the same UID: "
    says no-metadata "$f returned invalid object: must have the same name: one != "
    says bad-label "$f returned invalid metadata: metadata.labels: Invalid value: \"a b\": name part must consist of"
    says label-number "$f returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object"

    mode new-label
    check "labels may change, nothing else" 'yes null null' \
        "$(get v2 one | field '"\(.metadata.labels.hooked) \(.metadata.finalizers) \(.metadata.ownerReferences)"')"
    mode unknown-field
    check "what the schema does not know is pruned" null "$(get v2 one | field .spec.mystery)"
    mode refuses
    has "a list fails" "failed: not today" "$(get v2 '' | field .message)"
    check "with 500" 500 "$(code admin "$(at v2 '')")"
    check "a Table fails" 500 "$(code admin -H 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io' "$(at v2)")"
    has "creating fails" "conversion webhook for $group/v2, Kind=Gauge failed: not today" \
        "$(send POST "$(at v2)" "$(gauge_v2 never h 1)" | field .message)"
    check "and creates nothing" 404 "$(code admin "$(at v1 never)")"
    has "patching fails" "failed: not today" \
        "$(send PATCH "$(at v2 one)" '{"spec":{"port":1}}' merge-patch+json | field .message)"
    check "v1 is not concerned" "h9:82" "$(get v1 one | field .spec.place)"
    watch fails v2
    waits ended $watching
    check "a watch says why, and ends" "ERROR 500 conversion webhook for $group/v1, Kind=Gauge failed: not today" \
        "$(field '"\(.type) \(.object.code) \(.object.message)"' <"$dir/fails")"
    rev=$(get v1 '' | field .metadata.resourceVersion)
    watch fails v2 "&resourceVersion=$rev"
    send PATCH "$(at v1 one)" '{"spec":{"unit":"psi"}}' merge-patch+json >/dev/null
    waits ended $watching
    has "also a live one" "failed: not today" "$(cat "$dir/fails")"

    # Two objects in one call, of which one is refused: only watches that see it end.
    mode slow
    forget_calls
    rev=$(get v1 '' | field .metadata.resourceVersion)
    watch bad v2 "&resourceVersion=$rev&fieldSelector=metadata.name%3Dg3"
    bad=$watching
    watch good v2 "&resourceVersion=$rev&fieldSelector=metadata.name%3Dg4"
    good=$watching
    send PATCH "$(at v1 g2)" '{"spec":{"unit":"x"}}' merge-patch+json >/dev/null
    for i in 3 4; do send PATCH "$(at v1 g$i)" '{"spec":{"unit":"psi"}}' merge-patch+json >/dev/null; done
    mode bad-object-g3
    waits ended $bad
    has "the one that is refused" "invalid kind (expected Gauge, received Other)" "$(cat "$dir/bad")"
    waits has_lines "$dir/good" 1
    check "the other goes on" "MODIFIED g4 v2 h4" "$(events "$dir/good")"
    mode ''
    kill $good

    define v1 "$(by_url /convert v1 1)"
    has "nobody there" "Post \"https://127.0.0.1:1/convert?timeout=30s\": dial tcp 127.0.0.1:1: connect: connection refused" \
        "$(get v2 one | field .message)"
    define v1 "$(by_url /convert v1 "$port" "$(base64 -w0 <"$dir/ca.crt")")"
    has "not to be believed" "x509: certificate signed by unknown authority" "$(get v2 one | field .message)"
    define v1 "$(by_url /convert '"v9"')"
    check "no review version that we speak" "" "$(get v2 one | field '.spec.host // empty')"
    forget_calls
    define v1 "$(by_url /old 'v9, v1beta1, v1')"
    check "v1beta1, the first we speak" "h9" "$(get v2 one | field .spec.host)"
    check "is what is spoken" "v1beta1 /old?timeout=30s v2 one" "$(calls)"
    mode other-request
    check "which looks less closely" "h9" "$(get v2 one | field .spec.host)"
    mode ''
}

# While the webhook is asked, nobody else waits: the answers below come before its own.
slow() {
    define v1 "$(by_url /slow)"
    mode slow
    forget_calls
    for i in 1 2 3 4 5 6 7 8; do
        get v2 one >"$dir/slow$i" 2>&1 &
        pids="${pids:-} $!"
    done
    get v2 '' >"$dir/slow-list" 2>&1 &
    pids="$pids $!"
    watch slow-watch v2
    waits called 10
    check "others read" "h9:82" "$(get v1 one | field .spec.place)"
    check "others list" 4 "$(get v1 '' | field '.items | length')"
    check "others write" "h8:8" "$(send POST "$(at v1)" "$(gauge_v1 eight h8:8)" | field .spec.place)"
    check "other kinds" "x" "$(send POST "$server/api/v1/namespaces/default/configmaps" \
        '{"metadata":{"name":"x"}}' | field .metadata.name)"
    check "nothing has been answered yet" "" "$(cat "$dir"/slow[1-8] "$dir/slow-list" "$dir/slow-watch")"
    mode ''
    for p in $pids; do wait "$p"; done
    check "then everything is" "h9 h9 h9 h9 h9 h9 h9 h9 " \
        "$(for i in 1 2 3 4 5 6 7 8; do field .spec.host <"$dir/slow$i"; done | tr '\n' ' ')"
    check "also the list" 4 "$(field '.items | length' <"$dir/slow-list")"
    waits has_lines "$dir/slow-watch" 5
    check "and the watch" "ADDED eight v2 h8" "$(events "$dir/slow-watch" | tail -1)"
    kill $watching

    # Whoever leaves while the webhook is asked.
    mode slow
    forget_calls
    admin --max-time 1 "$(at v2)" >/dev/null 2>&1
    watch left v2
    waits called 2
    kill $watching
    mode ''
    check "whoever has gone harms nobody" h9 "$(get v2 one | field .spec.host)"
}

by_service() {
    forget_calls
    address=$(hostname -I 2>/dev/null | tr ' ' '\n' | grep -m1 '^[0-9.]*$') # endpoints are not on loopback
    define v1 "{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {namespace: default, name: hook, path: /svc, port: 8443}, caBundle: $ca}}}"
    where='Post "https://hook.default.svc:8443/svc?timeout=30s": '
    has "no service" "${where}service \"hook\" not found" "$(get v2 one | field .message)"
    services=$server/api/v1/namespaces/default/services
    send POST "$services" '{"metadata":{"name":"hook"},"spec":{"clusterIP":"None","ports":[{"name":"other","port":443},{"name":"tls","port":444}]}}' >/dev/null
    has "no such port" "${where}no service port 8443 found for service \"hook\"" "$(get v2 one | field .message)"
    send PATCH "$services/hook" '{"spec":{"ports":[{"name":"tls","port":8443}]}}' merge-patch+json >/dev/null
    has "no endpoints" "${where}cannot route to service with ClusterIP \"None\"" "$(get v2 one | field .message)"
    [ -n "$address" ] || { skip "endpoints: the machine has no address of its own"; return; }
    send POST "$server/api/v1/namespaces/default/endpoints" \
        "{\"metadata\":{\"name\":\"hook\"},\"subsets\":[{\"addresses\":[{\"ip\":\"$address\"}],\"ports\":[{\"name\":\"tls\",\"port\":1}]}]}" >/dev/null
    has "its endpoints" "${where}dial tcp $address:1: connect: connection refused" "$(get v2 one | field .message)"
    send POST "$server/apis/discovery.k8s.io/v1/namespaces/default/endpointslices" \
        "{\"metadata\":{\"name\":\"hook-1\",\"labels\":{\"kubernetes.io/service-name\":\"hook\"}},\"addressType\":\"IPv4\",\"ports\":[{\"name\":\"tls\",\"port\":$port}],\"endpoints\":[{\"addresses\":[\"192.0.2.1\"],\"conditions\":{\"ready\":false}},{\"addresses\":[\"$address\"]}]}" >/dev/null
    check "the one that is ready" h9 "$(get v2 one | field .spec.host)"
    check "was asked" "v1 /svc?timeout=30s v2 one" "$(calls)"
}

storage_change() {
    define v1 "$(by_url /change)"
    watch before v2
    before=$watching
    waits has_lines "$dir/before" 5
    define v2 "$(by_url /change)"
    check "both may be stored" '["v1","v2"]' "$(admin "$server$crds/gauges.$group" | jq -c .status.storedVersions)"
    forget_calls
    check "stored before, read as before" "h9:82" "$(get v1 one | field .spec.place)"
    check "without a webhook" 0 "$(n_calls)"
    check "and in the other version" "h9" "$(get v2 one | field .spec.host)"
    check "by it" 1 "$(n_calls)"
    send PATCH "$(at v1 one)" '{"spec":{"place":"h10:82"}}' merge-patch+json >/dev/null
    forget_calls
    check "written since, read in the new one" "h10" "$(get v2 one | field .spec.host)"
    check "without a webhook" 0 "$(n_calls)"
    check "a list of both kinds" "h8,h2,h3,h4,h10" "$(get v2 '' | field '[.items[].spec.host] | join(",")')"
    check "asks for the old ones" "v1 /change?timeout=30s v2 eight,g2,g3,g4" "$(calls)"
    waits has_lines "$dir/before" 6
    check "a watch of before goes on" "MODIFIED one v2 h10" "$(events "$dir/before" | tail -1)"

    definition v2 "$(by_url /change)" | grep -v 'name: v1,' >"$dir/crd.yaml"
    without_v1() {
        ask -X PATCH -H 'Content-Type: application/apply-patch+yaml' --data-binary "@$dir/crd.yaml" \
            "$server$crds/gauges.$group?fieldManager=test&force=true"
    }
    has "a version that may be stored stays" "status.storedVersions[0]: Invalid value: \"v1\": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions" \
        "$(without_v1 | field .message)"
    for i in eight g2 g3 g4; do
        get v2 $i | { read -r body; send PUT "$(at v2 $i)" "$body"; } >/dev/null
    done
    forget_calls
    check "all written anew" 5 "$(get v2 '' | field '.items | length')"
    check "nothing is old" 0 "$(n_calls)"
    check "the list of versions can be cut" '["v2"]' \
        "$(send PATCH "$server$crds/gauges.$group/status" '{"status":{"storedVersions":["v2"]}}' merge-patch+json | jq -c .status.storedVersions)"
    watch old v1
    old=$watching
    waits has_lines "$dir/old" 5
    check "then it can go" '["v2"]' "$(without_v1 | jq -c '[.spec.versions[].name]')"
    check "and is not there" 404 "$(code admin "$(at v1 one)")"
    waits ended $old
    check "its watches end" 5 "$(wc -l <"$dir/old")"
    ended $before && echo "FAILED: a watch of another version ended" && failed=$((failed + 1))
    send PATCH "$(at v2 one)" '{"spec":{"port":83}}' merge-patch+json >/dev/null
    waits tells "$dir/before" '"port":83'
    kill $before
}

# The definition changes while it is watched and listed, with a webhook and without.
live_changes() {
    define v2 '{strategy: None}'
    watch live v1
    waits has_lines "$dir/live" 5
    rm -f "$dir/stop"
    (while [ ! -e "$dir/stop" ]; do get v1 ''; get v2 ''; done >"$dir/lists" 2>&1) &
    lister=$!
    n=0
    while [ $n -lt 20 ]; do
        n=$((n + 1))
        if [ $((n % 2)) -eq 0 ]; then define v2 '{strategy: None}'; else define v1 "$(by_url /live)"; fi
        send PATCH "$(at v2 one)" "{\"spec\":{\"port\":$((9000 + n))}}" merge-patch+json >/dev/null
    done
    : >"$dir/stop"
    wait $lister
    waits has_lines "$dir/live" 20
    check "every change was seen" 20 "$(events "$dir/live" | grep -c 'MODIFIED one v1')"
    check "every list was one" 0 "$(jq -r .kind <"$dir/lists" | grep -vc '^GaugeList$')"
    kill $watching

    define v2 "$(by_url /end)"
    watch end v1
    waits has_lines "$dir/end" 5
    send DELETE "$server$crds/gauges.$group" '' >/dev/null
    waits ended $watching
    check "the end of the definition: all objects go" 5 "$(events "$dir/end" | grep -c '^DELETED .* v1')"
    check "and the watch ends without an error" 0 "$(grep -c ERROR "$dir/end")"
    check "there are none" 404 "$(code admin "$(at v1 '')")"
}

up >/dev/null || exit 1
connect
start_hook
stuck_begins
every_verb
watches
much
failures
slow
by_service
storage_change
live_changes
stuck_ends
finish
