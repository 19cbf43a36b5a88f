#!/bin/sh
# backup_test.sh SAMPAN - objects written to one control plane come back in another.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"

put() {
    admin -X POST -H 'Content-Type: application/json' -o /dev/null -w '%{http_code}' \
        "$server/api/v1/namespaces/default/configmaps" \
        -d "{\"metadata\":{\"name\":\"$1\"},\"data\":{\"k\":\"$1\"}}"
}
get() { admin "$server/api/v1/namespaces/default/configmaps/$1?pretty=0"; }
there() {
    server=https://$("$sampan" status --data-dir "$dir/b" | sed -n 's/.*https:..\([^ ]*\) .*/\1/p')
    sed -n 's/^ *certificate-authority-data: //p' "$dir/b/admin.kubeconfig" | base64 -d >"$dir/ca.crt"
    sed -n 's/^ *client-certificate-data: //p' "$dir/b/admin.kubeconfig" | base64 -d >"$dir/admin.crt"
    sed -n 's/^ *client-key-data: //p' "$dir/b/admin.kubeconfig" | base64 -d >"$dir/admin.key"
}

serve
check "an object is created" 201 "$(put one)"
check "anonymous has no backup" 403 "$(code anonymous "$server/sampan/v1/backup")"
check "a running one is backed up" 0 "$("$sampan" backup --data-dir "$dir/a" "$dir/hot"; echo $?)"
check "for its owner only" 600 "$(stat -c %a "$dir/hot")"
has "a backup is not overwritten" "already exists" "$("$sampan" backup --data-dir "$dir/a" "$dir/hot" 2>&1)"
check "another object" 201 "$(put two)"
one=$(get one)
two=$(get two)
"$sampan" down --data-dir "$dir/a" >/dev/null
rv() { sed -n 's/.*"resourceVersion":"\([0-9]*\)".*/\1/p'; }
check "a stopped one too" 0 "$("$sampan" backup --data-dir "$dir/a" "$dir/cold"; echo $?)"

check "restored" 0 "$("$sampan" restore --data-dir "$dir/b" "$dir/hot"; echo $?)"
check "not over objects" 1 "$("$sampan" restore --data-dir "$dir/b" "$dir/hot" 2>/dev/null; echo $?)"
"$sampan" up --api-only --data-dir "$dir/b" --listen 127.0.0.1:0 --detach >/dev/null
there
check "what was there then" "$one" "$(get one)"
has "what came later is not" '"reason":"NotFound"' "$(get two)"

# What clients remember of the lost future is nothing here.
replace() {
    admin -X PUT -H 'Content-Type: application/json' \
        "$server/api/v1/namespaces/default/configmaps/$1?pretty=0" \
        -d "{\"metadata\":{\"name\":\"$1\",\"resourceVersion\":\"$2\"},\"data\":{\"k\":\"$3\"}}"
}
was=$(echo "$one" | rv)
lost=$(echo "$two" | rv)
check "a name is used again" 201 "$(put two)"
check "its revision is not" yes "$([ "$(get two | rv)" -gt $((lost + 1000000000)) ] && echo yes)"
has "an old client does not overwrite it" '"reason":"Conflict"' "$(replace two "$lost" old)"
has "nor something older by its own revision" '"reason":"Conflict"' "$(replace one "$lost" old)"
has "what was not changed has its revision" '"k":"right"' "$(replace one "$was" right)"
has "an old watch is too old" '"reason":"Expired"' \
    "$(admin "$server/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=$lost")"
has "and an old list" '"reason":"Expired"' \
    "$(admin "$server/api/v1/configmaps?resourceVersionMatch=Exact&resourceVersion=$lost&pretty=0")"
"$sampan" down --data-dir "$dir/b" >/dev/null

rm -rf "$dir/b"
check "the later one" 0 "$("$sampan" restore --data-dir "$dir/b" "$dir/cold"; echo $?)"
"$sampan" up --api-only --data-dir "$dir/b" --listen 127.0.0.1:0 --detach >/dev/null
there
check "has both" "$one$two" "$(get one)$(get two)"
"$sampan" down --data-dir "$dir/b" >/dev/null

# flip FILE TEXT: changes the last letter of each TEXT in it.
flip() {
    grep -abo "$2" "$1" | cut -d: -f1 | while read -r at; do
        printf 'X' | dd of="$1" bs=1 seek=$((at + ${#2} - 1)) conv=notrunc 2>/dev/null
    done
}
rm -rf "$dir/b"
flip "$dir/cold" '"k":"two'
check "a damaged one is refused" 1 "$("$sampan" restore --data-dir "$dir/b" "$dir/cold" 2>"$dir/said"; echo $?)"
has "and says what is damaged" "configmaps/default/two" "$(cat "$dir/said")"
check "unless that may be left out" 0 "$("$sampan" restore --skip-damaged --data-dir "$dir/b" "$dir/cold" 2>"$dir/said"; echo $?)"
has "which is named" "left out /registry/configmaps/default/two" "$(cat "$dir/said")"
"$sampan" up --api-only --data-dir "$dir/b" --listen 127.0.0.1:0 --detach >/dev/null
there
check "and the rest is there" "$one" "$(get one)"

flip "$dir/b/store/view.mdb" '"k":"one'
check "a damaged store is not backed up" 1 "$("$sampan" backup --data-dir "$dir/b" "$dir/none" 2>"$dir/said"; echo $?)"
has "and says why" "configmaps/default/one" "$(cat "$dir/said")"
check "there is no file" "" "$(ls "$dir" | grep none)"
check "unless told to" 0 "$("$sampan" backup --skip-damaged --data-dir "$dir/b" "$dir/some" 2>"$dir/said"; echo $?)"
has "what is missing is named" "left out /registry/configmaps/default/one" "$(cat "$dir/said")"
i=0
while [ $i -le 100 ]; do
    [ $i -eq 0 ] || echo next
    printf 'url=%s/api/v1/namespaces/default/configmaps\nrequest=POST\noutput=/dev/null\nheader="Content-Type: application/json"\n' "$server"
    printf 'cacert=%s/ca.crt\ncert=%s/admin.crt\nkey=%s/admin.key\n' "$dir" "$dir" "$dir"
    printf 'data={"metadata":{"name":"many%d"},"data":{"k":"many-value"}}\n' $i
    i=$((i + 1))
done >"$dir/requests"
curl -sS -K "$dir/requests"
"$sampan" backup --data-dir "$dir/b" "$dir/all" >/dev/null 2>&1 # moves all of it into the view
flip "$dir/b/store/view.mdb" 'many-value'
check "more than it can name" 0 "$("$sampan" backup --skip-damaged --data-dir "$dir/b" "$dir/few" 2>"$dir/said"; echo $?)"
check "are named as far as there is room" 100 "$(grep -c '^left out' "$dir/said")"
has "and that is said" "there may be more" "$(cat "$dir/said")"
check "all are in the log" 102 "$(grep 'left out of the backup' "$dir/b/sampan.log" | grep -o 'key=[^ ]*' | sort -u | wc -l)"
"$sampan" down --data-dir "$dir/b" >/dev/null
check "the same of a stopped one" 1 "$("$sampan" backup --data-dir "$dir/b" "$dir/none" 2>"$dir/said"; echo $?)"
has "with the reason" "configmaps/default/many0" "$(cat "$dir/said")"
rm -rf "$dir/b"
check "what was left can be restored" 0 "$("$sampan" restore --bump-revision 7 --data-dir "$dir/b" "$dir/some"; echo $?)"
check "a number is a number" 2 "$("$sampan" restore --bump-revision x --data-dir "$dir/c" "$dir/some" 2>/dev/null; echo $?)"
check "no file" 2 "$("$sampan" backup 2>/dev/null; echo $?)"
finish
