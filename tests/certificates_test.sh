#!/bin/sh
# certificates_test.sh SAMPAN - the certificate authority is never replaced without being asked, its
# key is its owner's alone, and what it signs is made anew before it runs out, while clients go on.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"

pki=$dir/a/pki
down() { "$sampan" down --data-dir "$dir/a" >/dev/null; }
# What a start says that must not succeed.
refused() { up "$@" 2>&1 && down; grep -h 'sampan up:' "$dir/a/sampan.log" | tail -n 1; }
served() {
    openssl s_client -connect "${server#https://}" </dev/null 2>/dev/null | openssl x509 -noout -serial
}
# renewed OLD - waits until another certificate than OLD is served.
renewed() {
    for _ in $(seq 300); do
        [ "$(served)" != "$1" ] && { echo yes; return; }
        sleep 0.1
    done
    echo no
}

# A first start that was interrupted is a first start still.
mkdir -m 700 "$dir/a" "$dir/a/pki.new"
echo half >"$dir/a/pki.new/ca.key"
serve
check "it serves" ok "$(admin "$server/readyz")"
check "nothing is left of it" "" "$(ls "$dir/a" | grep pki.new)"
down
mkdir "$dir/kept"
cp -p "$pki"/* "$dir/kept"

rm "$pki/ca.crt"
has "a lost certificate" "pki/ca.crt is missing" "$(refused)"
has "and what to do" "Put it back from a backup, or start once with --new-ca" "$(refused)"
check "no other was made" "" "$(ls "$pki" | grep -x ca.crt)"
check "the key is as it was" "" "$(cmp "$dir/kept/ca.key" "$pki/ca.key" 2>&1)"
cp -p "$dir/kept/ca.crt" "$pki"

rm "$pki/ca.key"
has "a lost key" "pki/ca.key is missing" "$(refused)"
rm -r "$pki"
has "both lost" "pki/ca.crt is missing" "$(refused)"
check "none was made" 2 "$(ls "$pki" >/dev/null 2>&1; echo $?)"

mkdir -m 700 "$pki"
cp -p "$dir/kept"/* "$pki"
chmod 644 "$pki/ca.key"
has "a key for everybody" "pki/ca.key is open to other users (mode 0644): use chmod 600" "$(refused)"
chmod 640 "$pki/ca.key"
has "a key for the group" "pki/ca.key is open to other users (mode 0640): use chmod 600" "$(refused)"
chmod 600 "$pki/ca.key"
openssl ecparam -name prime256v1 -genkey -noout -out "$pki/ca.key" 2>/dev/null
has "a key of another" "CA certificate and key" "$(refused)"
cp -p "$dir/kept/ca.key" "$pki"

# Put back, everything is as before; a signal renews what is signed, and those who are there stay.
up >/dev/null || give_up
server=$(from_kubeconfig server)
check "old clients are let in again" ok "$(admin "$server/readyz")"
old=$(served)
admin -N --max-time 60 "$server/api/v1/namespaces/default/configmaps?watch=true" >"$dir/watch" &
watch=$!
cp "$dir/a/admin.kubeconfig" "$dir/old.kubeconfig"
kill -HUP "$(head -n 1 "$dir/a/sampan.pid")"
check "SIGHUP renews" yes "$(renewed "$old")"
check "the kubeconfig, too" 1 "$(cmp -s "$dir/old.kubeconfig" "$dir/a/admin.kubeconfig"; echo $?)"
check "old certificates are good for their time" 201 "$(code admin -H 'Content-Type: application/json' \
    -d '{"metadata":{"name":"late"}}' "$server/api/v1/namespaces/default/configmaps")"
for _ in $(seq 100); do
    grep -q '"late"' "$dir/watch" && break
    sleep 0.1
done
has "a watch goes on" '"late"' "$(cat "$dir/watch")"
kill $watch
down

# They end soon: new ones come by themselves.
up --certificate-ttl 6s >/dev/null || give_up
server=$(from_kubeconfig server)
check "renewed in time" yes "$(renewed "$(served)")"
connect
check "and good" ok "$(admin "$server/readyz")"
has "the log says so" "certificates were renewed" "$(cat "$dir/a/sampan.log")"
mv "$pki/ca.crt" "$dir/away.crt"
kill -HUP "$(head -n 1 "$dir/a/sampan.pid")"
for _ in $(seq 100); do
    grep -q "could not be renewed" "$dir/a/sampan.log" && break
    sleep 0.1
done
has "if it cannot be, that is said" "certificates could not be renewed" "$(cat "$dir/a/sampan.log")"
mv "$dir/away.crt" "$pki/ca.crt"
down
has "a time that is none" "--certificate-ttl must be a time like" "$(up --certificate-ttl soon 2>&1)"

# A new authority, on purpose.
rm "$pki/ca.crt"
serve --new-ca
check "another authority" 1 "$(cmp -s "$dir/kept/ca.crt" "$pki/ca.crt"; echo $?)"
check "what was left is kept" "" "$(cmp "$dir/kept/ca.key" "$pki".lost-*/ca.key 2>&1)"
check "and serves" ok "$(admin "$server/readyz")"
finish
