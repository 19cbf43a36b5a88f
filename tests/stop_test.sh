#!/bin/sh
# stop_test.sh SAMPAN - what takes long does not hold up the rest: backups that nobody reads, and
# writes whose objects are held against a pattern for minutes. A stop ends all the same, and what
# was acknowledged is there afterwards.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"

up >/dev/null || { echo "it does not start"; cat "$dir/a/sampan.log"; exit 1; }
connect
configmaps=$server/api/v1/namespaces/default/configmaps
write() { # NAME FILE
    { printf '{"metadata":{"name":"%s"},"data":{"a":"' "$1"; cat "$2"; printf '"}}'; } >"$dir/body"
    code admin -H 'Content-Type: application/json' --data-binary "@$dir/body" "$configmaps"
}
wait_for() { # SECONDS COMMAND...: true once the command is
    tries=$(($1 * 10))
    shift
    while [ $tries -gt 0 ] && ! "$@" 2>/dev/null; do
        tries=$((tries - 1))
        sleep 0.1
    done
    [ $tries -gt 0 ]
}

# More readers of backups than there may be, each of which stops at once. (curl stops reading when
# whoever it writes for does.)
head -c 1000000 /dev/zero | tr '\0' x >"$dir/million"
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    check "a large object" 201 "$(write "large-$i" "$dir/million")"
done
mkfifo "$dir/unread"
sleep 600 <>"$dir/unread" & # keeps it open and reads nothing
holder=$!
readers=
for i in 1 2 3 4 5 6 7 8; do
    admin --max-time 100 -D "$dir/head.$i" "$server/sampan/v1/backup" >"$dir/unread" 2>/dev/null &
    readers="$readers $!"
done
answered() { [ "$(cat "$dir"/head.? 2>/dev/null | grep -c '^HTTP')" = 8 ]; }
wait_for 20 answered
check "four are sent" 4 "$(cat "$dir"/head.? | grep -c '^HTTP.* 200')"
check "four are refused" 4 "$(cat "$dir"/head.? | grep -c '^HTTP.* 429')"
check "and told when to ask again" 4 "$(cat "$dir"/head.? | grep -ci '^retry-after: 1')"
check "others write meanwhile" 201 "$(write beside /dev/null)"
# shellcheck disable=SC2086
kill $readers $holder 2>/dev/null

gauges=$server/apis/hold.example.com/v1/namespaces/default/gauges
served() { [ "$(code admin "$gauges")" = 200 ]; }

# A pattern of some ten thousand steps for each of a hundred thousand bytes.
part=$(printf 'a?%.0s' 1 2 3 4 5 6 7 8 9 10)
cat >"$dir/crd" <<END
{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
 "metadata":{"name":"gauges.hold.example.com"},
 "spec":{"group":"hold.example.com","scope":"Namespaced",
  "names":{"plural":"gauges","singular":"gauge","kind":"Gauge","listKind":"GaugeList"},
  "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":
   {"type":"object","properties":{
    "fields":{"type":"object","additionalProperties":{"type":"integer"}},
    "spec":{"type":"string","pattern":"^(($part$part$part){1000})*b$"}}}}}]}}
END
check "the definition" 201 "$(code admin -H 'Content-Type: application/json' \
    --data-binary "@$dir/crd" "$server/apis/apiextensions.k8s.io/v1/customresourcedefinitions")"
check "it is served" 0 "$(wait_for 20 served; echo $?)"
# An object of very many fields takes a hundred times its size to be read, and gives that back.
rss() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$(head -n 1 "$dir/a/sampan.pid")/status"; }
is_small() { [ "$(rss)" -lt 131072 ]; }
{
    printf '{"apiVersion":"hold.example.com/v1","kind":"Gauge","metadata":{"name":"wide"},"fields":{"a":1'
    seq -f ',"f%06.0f":1' 1 200000 | tr -d '\n'
    printf '}}'
} >"$dir/wide"
check "very many fields" 201 "$(code admin --max-time 100 -H 'Content-Type: application/json' \
    --data-binary "@$dir/wide" "$gauges")"
if [ -z "${SAMPAN_SANITIZED:-}" ]; then
    check "their memory is given back" 0 "$(wait_for 20 is_small; echo $?)"
fi

{
    printf '{"apiVersion":"hold.example.com/v1","kind":"Gauge","metadata":{"generateName":"g"},"spec":"'
    head -c 100000 /dev/zero | tr '\0' a
    printf '"}'
} >"$dir/gauge"
writers=
i=0
while [ $i -lt 70 ]; do
    curl -sS --max-time 100 --cacert "$dir/ca.crt" --cert "$dir/admin.crt" --key "$dir/admin.key" \
        -o /dev/null -H 'Content-Type: application/json' --data-binary "@$dir/gauge" "$gauges" \
        2>/dev/null &
    writers="$writers $!"
    i=$((i + 1))
done
is_red() { [ "$(code anonymous "$server/readyz")" = 500 ]; }
check "readyz says so" 0 "$(wait_for 60 is_red; echo $?)"
has "by name" "[-]workers failed" "$(anonymous "$server/readyz")"
check "livez does not" ok "$(anonymous "$server/livez")"
check "reads go on" 200 "$(code admin --max-time 90 "$configmaps/large-1")"
check "metrics too" 200 "$(code admin --max-time 90 "$server/metrics")"

process=$(head -n 1 "$dir/a/sampan.pid")
kill "$process"
is_gone() { ! kill -0 "$process"; }
check "a stop ends it" 0 "$(wait_for 60 is_gone; echo $?)"
# shellcheck disable=SC2086
kill $writers 2>/dev/null
wait 2>/dev/null
up >/dev/null
connect
check "what was written is there" 200 "$(code admin "$server/api/v1/namespaces/default/configmaps/large-12")"
finish
