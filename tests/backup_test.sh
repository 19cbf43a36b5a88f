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

up >/dev/null || { cat "$dir/a/sampan.log"; exit 1; }
connect
check "an object is created" 201 "$(put one)"
check "anonymous has no backup" 403 "$(code anonymous "$server/sampan/v1/backup")"
check "a running one is backed up" 0 "$("$sampan" backup --data-dir "$dir/a" "$dir/hot"; echo $?)"
check "for its owner only" 600 "$(stat -c %a "$dir/hot")"
has "a backup is not overwritten" "there already" "$("$sampan" backup --data-dir "$dir/a" "$dir/hot" 2>&1)"
check "another object" 201 "$(put two)"
one=$(get one)
two=$(get two)
"$sampan" down --data-dir "$dir/a" >/dev/null
check "a stopped one too" 0 "$("$sampan" backup --data-dir "$dir/a" "$dir/cold"; echo $?)"

check "restored" 0 "$("$sampan" restore --data-dir "$dir/b" "$dir/hot"; echo $?)"
check "not over objects" 1 "$("$sampan" restore --data-dir "$dir/b" "$dir/hot" 2>/dev/null; echo $?)"
"$sampan" up --data-dir "$dir/b" --listen 127.0.0.1:0 --detach >/dev/null
there
check "what was there then" "$one" "$(get one)"
has "what came later is not" '"reason":"NotFound"' "$(get two)"
"$sampan" down --data-dir "$dir/b" >/dev/null

rm -rf "$dir/b"
check "the later one" 0 "$("$sampan" restore --data-dir "$dir/b" "$dir/cold"; echo $?)"
"$sampan" up --data-dir "$dir/b" --listen 127.0.0.1:0 --detach >/dev/null
there
check "has both" "$one$two" "$(get one)$(get two)"
"$sampan" down --data-dir "$dir/b" >/dev/null

printf 'x' | dd of="$dir/cold" bs=1 seek=5000 conv=notrunc 2>/dev/null
rm -rf "$dir/b"
check "a damaged one is refused" 1 "$("$sampan" restore --data-dir "$dir/b" "$dir/cold" 2>/dev/null; echo $?)"
check "no file" 2 "$("$sampan" backup 2>/dev/null; echo $?)"
finish
