#!/bin/sh
# encryption_test.sh SAMPAN - what is encrypted at rest: nobody sees it but on the disk, keys change
# without a restart, and what nobody can open harms nothing else.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
secrets=api/v1/namespaces/default/secrets
config=$dir/encryption.yaml
key_one=$(head -c 32 /dev/urandom | base64)
key_two=$(head -c 32 /dev/urandom | base64)
key_three=$(head -c 32 /dev/urandom | base64)

# configure RESOURCES PROVIDER...: each provider as YAML in one line.
configure() {
    {
        printf 'apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n'
        printf -- '- resources: %s\n  providers:\n' "$1"
        shift
        for provider; do printf -- '  - %s\n' "$provider"; done
    } >"$config.new"
    mv "$config.new" "$config"
}
with_key() { printf '%s: {keys: [{name: %s, secret: %s}]}' "$1" "$2" "$3"; }
up_with() { up --encryption-provider-config "$config" "$@" >/dev/null || give_up; connect; }
down() { "$sampan" down --data-dir "$dir/a" >/dev/null; }
post() { code admin -X POST -H 'Content-Type: application/json' "$server/$1" -d "$2"; }
put_secret() { post "$secrets" "{\"metadata\":{\"name\":\"$1\"},\"stringData\":{\"k\":\"plain-$1\"}}"; }
get() { admin "$server/$secrets/$1?pretty=0"; }
base64_of() { printf %s "$1" | base64; }
rv() { get "$1" | sed -n 's/.*"resourceVersion":"\([0-9]*\)".*/\1/p'; }
# In how many files of the store the text stands.
files_with() { grep -rla -- "$1" "$dir/a/store" | wc -l; }
metric() { admin "$server/metrics" | sed -n "s/^apiserver_encryption_config_controller_$1.* //p"; }
# A PUT of what a GET has shown.
write_again() {
    get "$1" >"$dir/object"
    code admin -X PUT -H 'Content-Type: application/json' "$server/$secrets/$1" -d @"$dir/object"
}
# reload NAME: SIGHUP, and until the reload of this STATUS was counted.
reload() {
    was=$(metric "automatic_reloads_total{[^}]*status=\"$1\"}")
    kill -HUP "$("$sampan" status --data-dir "$dir/a" | sed -n 's/.*process \([0-9]*\).*/\1/p')"
    i=0
    while [ "$(metric "automatic_reloads_total{[^}]*status=\"$1\"}")" = "$was" ] && [ $i -lt 300 ]; do
        sleep 0.1
        i=$((i + 1))
    done
}

# What cannot be used is not used.
printf 'kind: Nonsense\n' >"$config"
has "no start with another kind" "apiVersion' is missing" "$(up --encryption-provider-config "$config" 2>&1; cat "$dir/a/sampan.log")"
configure '[secrets]' "$(with_key aesgcm k AAAA)"
: >"$dir/a/sampan.log"
has "nor with a short key" 'resources[0].providers[0].aesgcm.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 3, expected one of [16 24 32]' \
    "$(up --encryption-provider-config "$config" 2>&1; cat "$dir/a/sampan.log")"

# Before.
serve
check "a secret before" 201 "$(put_secret before)"
check "a configmap" 201 "$(post api/v1/namespaces/default/configmaps '{"metadata":{"name":"one"},"data":{"k":"plain-map"}}')"
down
[ "$(files_with "$(base64_of plain-before)")" -gt 0 ]
check "it can be found" 0 $?

# After: new ones are sealed, old ones are read, and sealed when they are written.
configure '[secrets, widgets.example.com, roles.rbac.authorization.k8s.io]' \
    "$(with_key aescbc one "$key_one")" 'identity: {}'
up_with --encryption-provider-config-automatic-reload
check "a secret after" 201 "$(put_secret after)"
has "it is read" "$(base64_of plain-after)" "$(get after)"
has "so is the old one" "$(base64_of plain-before)" "$(get before)"
list=$(admin "$server/$secrets?pretty=0")
has "a list has both: before" "$(base64_of plain-before)" "$list"
has "a list has both: after" "$(base64_of plain-after)" "$list"
check "the new one cannot be found" 0 "$(files_with "$(base64_of plain-after)")"
was=$(rv after)
check "writing it as it is" 200 "$(write_again after)"
check "writes nothing" "$was" "$(rv after)"
was=$(rv before)
check "writing the old one as it is" 200 "$(write_again before)"
[ "$was" != "$(rv before)" ]
check "writes it anew" 0 $?
check "in a dry run" 200 "$(get before >"$dir/object"; code admin -X PUT -H 'Content-Type: application/json' "$server/$secrets/before?dryRun=All" -d @"$dir/object")"

# Everything else sees plain objects: watches, patches, roles, custom objects.
: >"$dir/watch"
admin -N --max-time 60 "$server/$secrets?watch=1&resourceVersion=$was" >"$dir/watch" &
watch=$!
check "a patch" 200 "$(code admin -X PATCH -H 'Content-Type: application/merge-patch+json' "$server/$secrets/after" -d '{"stringData":{"more":"plain-more"}}')"
check "a delete" 200 "$(code admin -X DELETE "$server/$secrets/after")"
i=0
while ! grep -q '"type":"DELETED"' "$dir/watch" && [ $i -lt 100 ]; do sleep 0.1; i=$((i + 1)); done
kill $watch
has "a watch sees the patch" "$(base64_of plain-more)" "$(grep '"type":"MODIFIED"' "$dir/watch" | tail -1)"
has "and the delete" "$(base64_of plain-more)" "$(grep '"type":"DELETED"' "$dir/watch")"
rbac=apis/rbac.authorization.k8s.io/v1/namespaces/default
check "a role" 201 "$(post $rbac/roles '{"metadata":{"name":"plain-role"},"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"]}]}')"
check "and who has it" 201 "$(post $rbac/rolebindings '{"metadata":{"name":"r"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"plain-role"},"subjects":[{"kind":"User","name":"system:anonymous","apiGroup":"rbac.authorization.k8s.io"}]}')"
check "it counts" 200 "$(code anonymous "$server/api/v1/namespaces/default/configmaps/one")"
check "a custom kind" 201 "$(post apis/apiextensions.k8s.io/v1/customresourcedefinitions '{"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}')"
check "an object of it" 201 "$(post apis/example.com/v1/namespaces/default/widgets '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"text":"plain-widget"}}')"
has "is read" plain-widget "$(admin "$server/apis/example.com/v1/namespaces/default/widgets")"
check "and cannot be found" 0 "$(files_with plain-widget)"

# The old bytes are still there, in the log and on free pages, until they are scrubbed.
"$sampan" backup --data-dir "$dir/a" "$dir/backup" >/dev/null
check "a backup has sealed ones only" 0 "$(grep -ca "$(base64_of plain-before)" "$dir/backup")"
down
"$sampan" restore --data-dir "$dir/b" "$dir/backup" >/dev/null
"$sampan" up --api-only --data-dir "$dir/b" --listen 127.0.0.1:0 --detach --encryption-provider-config "$config" >/dev/null
restored() { # its own authority and address
    of=$dir/b/admin.kubeconfig
    for part in certificate-authority client-certificate client-key; do
        sed -n "s/^ *$part-data: //p" "$of" | base64 -d >"$dir/b.$part"
    done
    curl -sS --max-time 10 --cacert "$dir/b.certificate-authority" --cert "$dir/b.client-certificate" \
        --key "$dir/b.client-key" "$(sed -n 's/^ *server: //p' "$of")/$1"
}
has "who has the key reads a restored one" "$(base64_of plain-before)" "$(restored "$secrets/before")"
"$sampan" down --data-dir "$dir/b" >/dev/null
[ "$(files_with "$(base64_of plain-before)")" -gt 0 ]
check "the old bytes are there" 0 $?
check "scrub" 0 "$("$sampan" scrub --data-dir "$dir/a" >"$dir/said" 2>&1; echo $?)"
check "they are gone" 0 "$(files_with "$(base64_of plain-before)")"
[ "$(files_with k8s:enc:aescbc:v1:one:)" -gt 0 ]
check "the sealed ones are there" 0 $?
check "nothing is damaged" 0 "$("$sampan" check --data-dir "$dir/a" >"$dir/said" 2>&1; echo $?)"
up_with --encryption-provider-config-automatic-reload
has "and all can be read" "$(base64_of plain-before)" "$(get before)"
check "the role too" 200 "$(code anonymous "$server/api/v1/namespaces/default/configmaps/one")"

# Another key, without a restart.
check "no reload so far" 0 "$(metric 'automatic_reloads_total{[^}]*status="success"}')"
configure '[secrets, widgets.example.com, roles.rbac.authorization.k8s.io]' \
    "$(with_key secretbox two "$key_two")" "$(with_key aescbc one "$key_one")" 'identity: {}'
reload success
check "it was reloaded" 1 "$(metric 'automatic_reloads_total{[^}]*status="success"}')"
has "the old key opens" "$(base64_of plain-before)" "$(get before)"
check "the new one seals" 201 "$(put_secret second)"
check "here" 200 "$(write_again before)"
printf 'nonsense: [' >"$config"
reload failure
check "a bad file is counted" 1 "$(metric 'automatic_reloads_total{[^}]*status="failure"}')"
has "and logged" "the old one stays in use" "$(cat "$dir/a/sampan.log")"
check "and the old one is in use" 201 "$(put_secret third)"
if command -v kubectl >/dev/null; then
    export KUBECONFIG="$dir/a/admin.kubeconfig"
    for kind in secrets widgets roles; do
        kubectl get $kind -A -o json | kubectl replace -f - >"$dir/said" 2>&1
        check "kubectl writes all $kind anew" 0 $?
    done
else
    skip "kubectl is not installed"
fi
down
"$sampan" scrub --data-dir "$dir/a" >/dev/null
configure '[secrets, widgets.example.com, roles.rbac.authorization.k8s.io]' "$(with_key secretbox two "$key_two")"
# Without kubectl some are still sealed by the old key.
if command -v kubectl >/dev/null; then
    check "nothing needs the old key" 0 "$(files_with k8s:enc:aescbc:v1:one:)"
    up_with
    has "all is read with the new one" "$(base64_of plain-before)" "$(get before)"
    check "all of it" 200 "$(code admin "$server/$secrets")"
    check "widgets" 200 "$(code admin "$server/apis/example.com/v1/namespaces/default/widgets")"
    check "roles" 200 "$(code anonymous "$server/api/v1/namespaces/default/configmaps/one")"
    down
fi

# A key that nobody has: others are not concerned.
configure '[secrets, widgets.example.com, roles.rbac.authorization.k8s.io]' \
    "$(with_key aesgcm three "$key_three")" "$(with_key secretbox two "$key_two")" \
    "$(with_key aescbc one "$key_one")" 'identity: {}'
up_with
check "one more" 201 "$(put_secret lost)"
lost=$(rv lost)
down
configure '[secrets, widgets.example.com, roles.rbac.authorization.k8s.io]' \
    "$(with_key aesgcm three "$key_one")" "$(with_key secretbox two "$key_two")" \
    "$(with_key aescbc one "$key_one")" 'identity: {}'
up_with
check "what it has sealed is no more" 500 "$(code admin "$server/$secrets/lost")"
has "and why" 'AdditionalErrorMsg: data from the storage is not transformable revision=0: cipher: message authentication failed' "$(get lost)"
has "a list fails" 'failed to read one or more secrets from the storage' "$(admin "$server/$secrets?pretty=0")"
has "and names it" 'Key: /registry/secrets/default/lost' "$(admin "$server/$secrets?pretty=0")"
has "the others are read" "$(base64_of plain-before)" "$(get before)"
check "new ones are made" 201 "$(put_secret fourth)"
check "another kind is listed" 200 "$(code admin "$server/api/v1/namespaces/default/configmaps")"
check "an update fails" 500 "$(code admin -X PUT -H 'Content-Type: application/json' "$server/$secrets/lost" -d '{"metadata":{"name":"lost"}}')"
check "it is no damage" 0 "$(admin "$server/metrics" | sed -n 's/^sampan_store_damaged_objects //p')"
watched() { admin "$server/$secrets?watch=1&resourceVersion=$1" | tail -n 1 | jq -c '[.type, .object.code, .object.reason, .object.message]'; }
fault='data from the storage is not transformable revision=0: cipher: message authentication failed'
check "a watch ends at it (k/k#131020)" "[\"ERROR\",500,\"InternalError\",\"Internal error occurred: $fault\"]" "$(watched $((lost - 1)))"
fourth=$(rv fourth)
check "it can be deleted unread" 200 "$(code admin -X DELETE "$server/$secrets/lost?ignoreStoreReadErrorWithClusterBreakingPotential=true")"
check "a watch ends at that, too" "[\"ERROR\",500,\"StoreReadError\",\"saw a DELETED event, but object data is corrupt - $fault\"]" "$(watched "$fourth")"
check "then a list works" 200 "$(code admin "$server/$secrets")"
down
check "check needs no key" 0 "$("$sampan" check --data-dir "$dir/a" >"$dir/said" 2>&1; echo $?)"

# Without the roles that the server makes itself there is no start, and the reason is said.
configure '[secrets, widgets.example.com, roles.rbac.authorization.k8s.io]' "$(with_key secretbox two "$key_one")"
: >"$dir/a/sampan.log"
up --encryption-provider-config "$config" >/dev/null 2>&1
has "no start without roles" 'Key: /roles/' "$(cat "$dir/a/sampan.log")"
has "because of the key" 'not transformable revision=0: output array was not large enough for encryption' "$(cat "$dir/a/sampan.log")"
check "that is no damage" 0 "$(grep -c 'sampan check' "$dir/a/sampan.log")"
finish
