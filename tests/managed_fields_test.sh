#!/bin/sh
# managed_fields_test.sh SAMPAN - who set which field, for those who want to know and those who do
# not: a parameter of Accept, a flag of the server, and the list that ends the tracking.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"

maps=/api/v1/namespaces/default/configmaps
# curl itself would get white space, and no bytes as they are stored.
get() { admin -H 'User-Agent: test/1' -H "Accept: $1" "$server$2"; }
# shows NAME yes|no ANSWER
shows() {
    case $3 in
    *fieldsType*) check "$1" "$2" yes ;;
    *'name'*) check "$1" "$2" no ;;
    *) check "$1" "an object" "$3" ;;
    esac
}

in_every_form() {
    usual=$1
    for as in '' ';as=PartialObjectMetadata;v=v1;g=meta.k8s.io' ';as=Table;v=v1;g=meta.k8s.io'; do
        for media in json yaml; do
            type="application/$media$as"
            shows "$usual $type" "$usual" "$(get "$type" "$maps/a")"
            shows "$usual $type, not wanted" no "$(get "$type;managedFields=0" "$maps/a")"
            shows "$usual $type, wanted" yes "$(get "$type;managedFields=1" "$maps/a")"
        done
    done
    for as in '' ';as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' ';as=Table;v=v1;g=meta.k8s.io'; do
        for media in json yaml; do
            type="application/$media$as"
            shows "$usual list of $type" "$usual" "$(get "$type" "$maps?labelSelector=x=y")"
            shows "$usual list of $type, not wanted" no \
                "$(get "$type;managedFields=0" "$maps?labelSelector=x=y")"
        done
    done
    shows "$usual table of whole objects" no \
        "$(get 'application/json;as=Table;v=v1;g=meta.k8s.io;managedFields=0' "$maps/a?includeObject=Object")"
    for said in '' 0 1; do
        wanted=$usual
        [ "$said" = 0 ] && wanted=no
        [ "$said" = 1 ] && wanted=yes
        shows "$usual watch, managedFields=$said" "$wanted" "$(get "application/json${said:+;managedFields=$said}" \
            "$maps?watch=1&timeoutSeconds=1&labelSelector=x=y")"
    done
    shows "$usual answer to a write" no "$(admin -X PATCH -H 'Accept: application/json;managedFields=0' \
        -H 'Content-Type: application/merge-patch+json' -d '{"data":{"n":"2"}}' "$server$maps/a")"
    check "$usual JSON without them is JSON" a "$(get 'application/json;managedFields=0' "$maps/a" |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["metadata"]["name"])')"
}

make() {
    admin -X POST -H 'User-Agent: maker/1' -H 'Content-Type: application/json' "$server$maps" -o /dev/null -d \
        '{"metadata":{"name":"a","labels":{"x":"y"},"annotations":{"tricky":",\"managedFields\":["}},"data":{"n":"1"}}'
}
managers() { get 'application/json;managedFields=1' "$maps/a" | grep -o '"manager":"[^"]*"' | tr '\n' ' '; }

up >/dev/null || { echo "it does not start"; cat "$dir/a/sampan.log"; exit 1; }
connect
make
in_every_form yes
# Whoever reads without them and writes back changes nothing of them.
get 'application/json;managedFields=0' "$maps/a" | sed 's/"n":"2"/"n":"3"/' >"$dir/a.json"
check "a replace without managers" 200 "$(code admin -X PUT -H 'User-Agent: other/1' \
    -H 'Content-Type: application/json' -d "@$dir/a.json" "$server$maps/a")"
check "they are still known" '"manager":"maker" "manager":"other" ' \
    "$(managers | tr ' ' '\n' | sort | tr '\n' ' ' | sed 's/^ *//')"
check "an empty list ends it" 200 "$(code admin -X PATCH -H 'Content-Type: application/merge-patch+json' \
    -d '{"metadata":{"managedFields":[]}}' "$server$maps/a")"
check "nobody manages" '' "$(managers)"
check "and nobody begins to" 200 "$(code admin -X PATCH -H 'Content-Type: application/merge-patch+json' \
    -d '{"data":{"n":"4"}}' "$server$maps/a")"
check "until somebody applies" '' "$(managers)"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {m: "1"}\n' >"$dir/a.yaml"
check "an apply" 200 "$(code admin -X PATCH -H 'Content-Type: application/apply-patch+yaml' \
    --data-binary "@$dir/a.yaml" "$server$maps/a?fieldManager=one")"
check "what was before has a manager" '"manager":"one" "manager":"before-first-apply" ' "$(managers)"
"$sampan" down --data-dir "$dir/a" >/dev/null
rm -rf "$dir/a"

up --managed-fields hidden >/dev/null || { echo "it does not start"; cat "$dir/a/sampan.log"; exit 1; }
connect
make
in_every_form no
check "a flag that says nothing" "sampan up: --managed-fields must be shown or hidden, not 'odd'" \
    "$("$sampan" up --managed-fields odd 2>&1)"
finish
