#!/bin/sh
# encryption_kms_test.sh SAMPAN FAKE_KMS - Secrets whose keys a key management service keeps: over
# restarts, another key, and times when the service is ill or away.
set -u
sampan=$1
fake=$2
. "$(dirname "$0")/common.sh"
at_end='kill $kms 2>/dev/null'
secrets=api/v1/namespaces/default/secrets
config=$dir/encryption.yaml

start_kms() {
    : >"$dir/kms.said"
    "$fake" "$dir/kms.sock" >"$dir/kms.said" &
    kms=$!
    i=0
    while ! grep -q ready "$dir/kms.said" && [ $i -lt 100 ]; do sleep 0.1; i=$((i + 1)); done
}
up_with() { up --encryption-provider-config "$config" "$@" >/dev/null || give_up; connect; }
down() { "$sampan" down --data-dir "$dir/a" >/dev/null; }
put_secret() {
    code admin -X POST -H 'Content-Type: application/json' "$server/$secrets" \
        -d "{\"metadata\":{\"name\":\"$1\"},\"stringData\":{\"k\":\"plain-$1\"}}"
}
get() { admin "$server/$secrets/$1?pretty=0"; }
base64_of() { printf %s "$1" | base64; }
rv() { get "$1" | sed -n 's/.*"resourceVersion":"\([0-9]*\)".*/\1/p'; }
write_again() {
    get "$1" >"$dir/object"
    code admin -X PUT -H 'Content-Type: application/json' "$server/$secrets/$1" -d @"$dir/object"
}
look() { kill -HUP "$("$sampan" status --data-dir "$dir/a" | sed -n 's/.*process \([0-9]*\).*/\1/p')"; }
# until_is COMMAND...: its output becomes $want, within a while.
until_is() {
    i=0
    while [ "$("$@")" != "$want" ] && [ $i -lt 200 ]; do sleep 0.1; i=$((i + 1)); done
    "$@"
}
health() { code admin "$server/healthz/kms-providers"; }

cat >"$config" <<END
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
  - kms: {apiVersion: v2, name: fake, endpoint: "unix://$dir/kms.sock", timeout: 2s}
  - identity: {}
END
serve
check "without a configuration there is no check" 404 "$(health)"
check "a secret before" 201 "$(put_secret before)"
down

start_kms
up_with
check "the service is well" 200 "$(health)"
has "it is one of the checks" '[+]kms-providers ok' "$(admin "$server/readyz?verbose")"
check "a secret" 201 "$(put_secret one)"
has "is read" "$(base64_of plain-one)" "$(get one)"
check "and cannot be found" 0 "$(grep -rla "$(base64_of plain-one)" "$dir/a/store" | wc -l)"
[ "$(grep -rla k8s:enc:kms:v2:fake: "$dir/a/store" | wc -l)" -gt 0 ]
check "its seal can" 0 $?
down
up_with
has "after a restart it is read at once" "$(base64_of plain-one)" "$(get one)"
was=$(rv one)
check "writing it as it is" 200 "$(write_again one)"
check "writes nothing" "$was" "$(rv one)"
check "another secret" 201 "$(put_secret two)"

# Another key: what the first one has sealed is stale.
kill -USR1 $kms
look
stale() { write_again one >/dev/null; [ "$(rv one)" != "$was" ] && echo stale; }
want=stale
check "with another key it is written anew" stale "$(until_is stale)"
has "and read" "$(base64_of plain-one)" "$(get one)"
down
up_with
has "both keys' objects after a restart: one" "$(base64_of plain-one)" "$(get one)"
has "both keys' objects after a restart: two" "$(base64_of plain-two)" "$(get two)"
check "all of them" 200 "$(code admin "$server/$secrets")"

# Ill.
kill -USR2 $kms
look
want=500
check "a service that is ill is told" 500 "$(until_is health)"
check "the server is not ready" 500 "$(code admin "$server/readyz")"
check "for a while writes go on" 201 "$(put_secret three)"
kill -USR2 $kms
look
want=200
check "it is well again" 200 "$(until_is health)"

# Away when the server starts: it starts all the same, and catches up.
down
kill $kms
wait $kms 2>/dev/null
up_with
check "the service is away" 500 "$(health)"
check "its objects cannot be read" 500 "$(code admin "$server/$secrets/one")"
has "and why" 'not transformable revision=0: failed to decrypt DEK, error: ' "$(get one)"
check "nor written" 500 "$(put_secret four)"
has "others can" "$(base64_of plain-before)" "$(get before)"
check "other kinds too" 200 "$(code admin "$server/api/v1/namespaces/default/configmaps")"
start_kms
look
read_one() { code admin "$server/$secrets/one"; }
check "when it is back they are read" 200 "$(until_is read_one)"
has "as they were" "$(base64_of plain-one)" "$(get one)"
finish
