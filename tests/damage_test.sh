#!/bin/sh
# damage_test.sh SAMPAN - an object whose bytes have changed on the disk: who is told, and what can be
# done about it while the server runs and when it does not.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
maps=api/v1/namespaces/default/configmaps
unsafe=ignoreStoreReadErrorWithClusterBreakingPotential=true

put() {
    code admin -X POST -H 'Content-Type: application/json' "$server/$maps" \
        -d "{\"metadata\":{\"name\":\"$1\"},\"data\":{\"k\":\"the-$1\"}}"
}
get() { admin "$server/$maps/$1?pretty=0"; }
down() { "$sampan" down --data-dir "$dir/a" >/dev/null; }
# flip TEXT: changes the last letter of each TEXT in the view.
flip() {
    grep -abo "$1" "$dir/a/store/view.mdb" | cut -d: -f1 | while read -r at; do
        printf 'X' | dd of="$dir/a/store/view.mdb" bs=1 seek=$((at + ${#1} - 1)) conv=notrunc 2>/dev/null
    done
}
metric() { admin "$server/metrics" | sed -n 's/^sampan_store_damaged_objects //p'; }
check_data() { "$sampan" check --data-dir "$dir/a" "$@" >"$dir/said" 2>&1; echo $?; }

serve
for name in one two three; do check "$name is made" 201 "$(put $name)"; done
has "a running one is not checked" "stop it first" "$(check_data; cat "$dir/said")"
down
check "nothing is wrong" 0 "$(check_data)"
flip the-two
up >/dev/null
connect

# Who is told.
check "all is ready at first" ok "$(admin "$server/readyz/damaged-objects")"
has "a get says it" 'Internal error occurred: StorageError: corrupt object, Code: 7, Key: /configmaps/default/two, ResourceVersion: 0, AdditionalErrorMsg: data from the storage is not transformable revision=0' "$(get two)"
check "with this status" 500 "$(code admin "$server/$maps/two")"
has "and reason" '"reason":"InternalError"' "$(get two)"
has "others can be read" '"k":"the-one"' "$(get one)"
has "a list says that it fails" '"message":"failed to read one or more configmaps from the storage","reason":"StoreReadError"' "$(admin "$server/$maps?pretty=0")"
has "and names it" '"reason":"UnexpectedServerResponse","message":"StorageError: corrupt object, Code: 7, Key: /registry/configmaps/default/two' "$(admin "$server/$maps?pretty=0")"
check "a list of something else works" 200 "$(code admin "$server/api/v1/namespaces/default/secrets")"
check "the log says it once" 1 "$(grep -c 'an object in the store is damaged' "$dir/a/sampan.log")"
has "by name" 'configmaps/default/two' "$(grep 'is damaged' "$dir/a/sampan.log")"
check "it is counted" 1 "$(metric)"
check "the server is ready" 200 "$(code admin "$server/readyz")"
has "but does not hide it" '[-]damaged-objects failed' "$(admin "$server/readyz?verbose")"
check "the check by itself fails" 500 "$(code admin "$server/readyz/damaged-objects")"

# What can be done.
has "a delete fails" 'StorageError: corrupt object' "$(admin -X DELETE "$server/$maps/two?pretty=0")"
has "so does a write" 'StorageError: corrupt object' "$(admin -X PUT -H 'Content-Type: application/json' \
    "$server/$maps/two?pretty=0" -d '{"metadata":{"name":"two"}}')"
has "what can be read is not deleted that way" 'unsafe deletion is not allowed because the object is decodable' \
    "$(admin -X DELETE "$server/$maps/one?pretty=0&$unsafe")"
rev=$(get one | sed -n 's/.*"resourceVersion":"\([0-9]*\)".*/\1/p')
: >"$dir/watch"
admin -N "$server/$maps?watch=1&resourceVersion=$rev" >"$dir/watch" &
watch=$!
while ! grep -q 'ADDED' "$dir/watch"; do sleep 0.1; done
deleted=$(admin -X DELETE "$server/$maps/two?pretty=0&$unsafe")
has "what cannot is" '"status":"Success","details":{"name":"two","kind":"ConfigMap"},"code":200' "$deleted"
wait $watch
check "a watch of it ends" 0 $?
has "with an error" '"type":"ERROR"' "$(tail -n 1 "$dir/watch")"
has "that says why" '"message":"saw a DELETED event, but object data is corrupt' "$(tail -n 1 "$dir/watch")"
check "and does not pass over it" "" "$(grep '"type":"DELETED"' "$dir/watch")"
has "it is gone" '"reason":"NotFound"' "$(get two)"
check "lists work again" 200 "$(code admin "$server/$maps")"
check "the name is free" 201 "$(put two)"
down
check "the history still has it" 1 "$(check_data)"
has "and only that" "damaged /registry/configmaps/default/two: a version that was replaced" "$(cat "$dir/said")"
check "and can do without" 0 "$(check_data --repair)"
check "nothing is left of it" 0 "$(check_data)"

# When it does not run.
flip the-one
flip the-three
check "two are damaged" 1 "$(check_data)"
has "one is named" "damaged /registry/configmaps/default/one" "$(cat "$dir/said")"
has "and the other" "damaged /registry/configmaps/default/three" "$(cat "$dir/said")"
check "they can be taken out" 0 "$(check_data --repair)"
has "and are named" "taken out /registry/configmaps/default/one" "$(cat "$dir/said")"
has "their bytes are kept" "/registry/configmaps/default/one" "$(head -n 1 "$dir/a/store/damaged.1/1")"
check "then all is well" 0 "$(check_data)"
up >/dev/null
connect
has "the one is gone" '"reason":"NotFound"' "$(get one)"
has "what was whole is there" '"k":"the-two"' "$(get two)"

# A log that somebody has cut off.
pid=$(cat "$dir/a/store/lock")
check "one more" 201 "$(put four)"
kill -9 "$pid"
while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
segment=$(ls "$dir"/a/store/log/*.log | tail -n 1)
truncate -s 200 "$segment"
up >/dev/null 2>&1
has "it does not start" "$segment was cut off" "$(tail -n 3 "$dir/a/sampan.log")"
has "and says what to do" "sampan check" "$(tail -n 3 "$dir/a/sampan.log")"
check "a check says it" 1 "$(check_data)"
has "with the file" "$segment was cut off" "$(cat "$dir/said")"
check "it can be repaired" 0 "$(check_data --repair)"
up >/dev/null
connect
has "what the view had is there" '"k":"the-two"' "$(get two)"
finish
