#!/bin/sh
# etcd_test.sh SAMPAN COMPARE - `sampan etcd` with etcdctl, beside a real etcd that is asked the same, and across kill -9.
set -u
sampan=$1
compare=$2
. "$(dirname "$0")/common.sh"
needs etcd etcdctl curl
at_end=stop_all
pids=
stop_all() { for pid in $pids; do kill -9 "$pid" 2>/dev/null; done; }
export ETCDCTL_API=3

# ours [FLAG...] - on a free port; $address, $pid.
ours() {
    : >"$dir/log"
    "$sampan" etcd --data-dir "$dir/ours" --listen-client-urls http://127.0.0.1:0 --listen-peer-urls http://127.0.0.1:1 \
        --initial-cluster=default=http://127.0.0.1:1 --unsafe-no-fsync "$@" >"$dir/log" 2>"$dir/errors" &
    pid=$!
    pids="$pids $pid"
    waits grep -q 'serves the etcd API' "$dir/log"
    address=$(sed -n 's/.* at //p' "$dir/log")
}
c() { timeout 60 etcdctl --endpoints="$address" "$@" 2>&1; }
# A port that nobody has, for an etcd that cannot be asked for one.
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# many_reads N [OPERATION] - a transaction of N ranges over 9,600 keys
many_reads() { { printf '\n'; seq "$1" | sed 's|.*|get /many/ --prefix|'; printf '%s\n\n\n' "${2-}"; } | c txn; }
highest() { sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status"; }
large_answers() {
    value=$(head -c 200 /dev/zero | tr '\0' v)
    for i in $(seq 0 95); do
        { printf '\n'; seq 1 100 | sed "s|.*|put /many/$i/& $value|"; printf '\n\n'; } | c txn >/dev/null
    done
    check "9,600 keys" 9600 "$(c get /many/ --prefix --keys-only | grep -c /many/)"
    check "ten times all of them" 96000 "$(many_reads 10 | grep -c '^/many/')"
    has "a hundred times is too much" "the answer is too large" "$(many_reads 100)"
    has "a transaction that wrote says so" "the transaction is done" "$(many_reads 100 'put /much/key done')"
    check "and it is" "/much/key done" "$(c get /much/key | xargs)"
    if [ -z "${SAMPAN_SANITIZED:-}" ]; then
        check "little memory was taken for it" yes "$([ "$(highest)" -lt 393216 ] && echo yes || highest)"
    fi
    c del /much/key >/dev/null
    while [ "$(c del /many/ --prefix)" != 0 ]; do :; done
}

by_hand() {
    check "put" OK "$(c put /a/1 one)"
    check "what was before" "OK /a/1 one" "$(c put /a/1 two --prev-kv | xargs)"
    check "get" "/a/1 two" "$(c get /a/1 | xargs)"
    c put /a/2 x >/dev/null
    check "a prefix" "/a/1 two /a/2 x" "$(c get /a/ --prefix | xargs)"
    check "a limit" "/a/1 two" "$(c get /a/ --prefix --limit=1 | xargs)"
    check "as it was" "/a/1 one" "$(c get /a/1 --rev=2 | xargs)"
    has "in the future" "required revision is a future revision" "$(c get /a/1 --rev=99)"
    check "a transaction" "SUCCESS OK" "$(printf 'mod("/a/1") = "3"\n\nput /a/1 three\n\nget /a/1\n\n' | c txn | xargs)"
    check "one that fails reads" "FAILURE /a/1 three" "$(printf 'mod("/a/1") = "3"\n\nput /a/1 four\n\nget /a/1\n\n' | c txn | xargs)"
    check "delete" 1 "$(c del /a/2)"
    check "compact" "compacted revision 4" "$(c compact 4)"
    has "what is compacted is gone" "required revision has been compacted" "$(c get /a/1 --rev=2)"
    has "health" "is healthy" "$(c endpoint health)"
    has "status" "3.6" "$(c endpoint status)"
    has "one member" "started, default" "$(c member list)"
    check "health by HTTP" '{"health":"true","reason":""}' "$(curl -sS "http://$address/health")"
    has "version by HTTP" '"etcdserver":"3.6' "$(curl -sS "http://$address/version")"
    check "other paths" 404 "$(curl -sS -o /dev/null -w '%{http_code}' "http://$address/v2/keys")"
}

watches() {
    timeout 60 etcdctl --endpoints="$address" watch --prefix /w/ --prev-kv >"$dir/watched" 2>&1 &
    watcher=$!
    pids="$pids $watcher"
    waits eval 'c put /w/0 begin >/dev/null; grep -q begin "$dir/watched"'
    for i in 1 2 3; do c put /w/x "$i" >/dev/null; done
    c del /w/x >/dev/null
    waits grep -q DELETE "$dir/watched"
    check "a watch sees each change in order" "PUT /w/x 1 PUT /w/x 1 /w/x 2 PUT /w/x 2 /w/x 3 DELETE /w/x 3 /w/x" "$(sed '1,/\/w\/x/{/\/w\/x/!d}' "$dir/watched" | xargs | sed 's/^/PUT /')"
    kill $watcher
    wait $watcher 2>/dev/null
    rev=$(c get /w/x -w json | jq .header.revision)
    check "from the past" "DELETE /w/x" "$(timeout 60 etcdctl --endpoints="$address" watch /w/x --rev="$rev" 2>&1 | head -2 | xargs)"
    has "from too far" "compacted" "$(timeout 60 etcdctl --endpoints="$address" watch /w/x --rev=2 2>&1)"
}

# A lease ends its keys; kept alive it does not; after a new start it still does.
leases() {
    id=$(c lease grant 2 | awk '{print $2}')
    c put /l/short v --lease="$id" >/dev/null
    has "whose keys it has" "attached keys([/l/short])" "$(c lease timetolive "$id" --keys)"
    waits eval '[ -z "$(c get /l/short)" ]'
    has "then it is gone" "already expired" "$(c lease timetolive "$id")"
    has "no key for a lease that is not there" "requested lease not found" "$(c put /l/x v --lease=1234)"
    long=$(c lease grant 1000 | awk '{print $2}')
    c put /l/long v --lease="$long" >/dev/null
    c put /l/moved v --lease="$long" >/dev/null
    c put /l/moved v >/dev/null
    has "revoke" "revoked" "$(c lease revoke "$long")"
    check "its key is gone, what has left it is not" "/l/moved v" "$(c get /l/ --prefix | xargs)"
    left=$(c lease grant 3 | awk '{print $2}')
    c put /l/left v --lease="$left" >/dev/null
}

# What was acknowledged is there after kill -9.
killed() {
    before=$(c get "" --prefix -w json | jq -c '.kvs[] | select(.key != "L2wvbGVmdA==")' | sort)
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    ours
    check "all that was written is there" "$before" "$(c get "" --prefix -w json | jq -c '.kvs[] | select(.key != "L2wvbGVmdA==")' | sort)"
    waits eval '[ -z "$(c get /l/left)" ]'
}

# A snapshot is a backup, for `sampan restore`.
snapshot() {
    has "a snapshot is saved" "Snapshot saved" "$(c snapshot save "$dir/snapshot")"
    before=$(c get "" --prefix -w json | jq -c .kvs)
    check "restored" 0 "$("$sampan" restore --data-dir "$dir/again" "$dir/snapshot" >/dev/null 2>&1; echo $?)"
    address_before=$address
    "$sampan" etcd --data-dir "$dir/again" --listen-client-urls http://127.0.0.1:0 >"$dir/log.again" 2>&1 &
    pids="$pids $!"
    waits grep -q 'serves the etcd API' "$dir/log.again"
    address=$(sed -n 's/.* at //p' "$dir/log.again")
    check "it has all keys" "$before" "$(c get "" --prefix -w json | jq -c .kvs)"
    address=$address_before
}

# Who waits for a lock gets it when the one before lets go: leases, watches and transactions together.
locks() {
    has "a lock" "locked" "$(c lock name -- echo locked)"
    timeout 60 etcdctl --endpoints="$address" lock name -- sh -c "touch $dir/held; while [ -e $dir/held ]; do sleep 0.05; done" &
    holder=$!
    waits test -e "$dir/held"
    timeout 60 etcdctl --endpoints="$address" lock name -- touch "$dir/next" &
    waiter=$!
    waits eval '[ "$(c get name --prefix --keys-only | grep -c name)" -ge 2 ]'
    check "the next one waits" 1 "$(test -e "$dir/next"; echo $?)"
    rm "$dir/held"
    wait $holder $waiter
    check "and then has it" 0 "$(test -e "$dir/next"; echo $?)"
}

# The same requests to a real one, byte by byte.
like_etcd() {
    port=$(free_port) peer=$(free_port)
    etcd --data-dir "$dir/real" --listen-client-urls "http://127.0.0.1:$port" --advertise-client-urls "http://127.0.0.1:$port" \
        --listen-peer-urls "http://127.0.0.1:$peer" --initial-advertise-peer-urls "http://127.0.0.1:$peer" \
        --initial-cluster "default=http://127.0.0.1:$peer" >"$dir/real.log" 2>&1 &
    pids="$pids $!"
    waits eval 'curl -sS "http://127.0.0.1:$port/health" 2>/dev/null | grep -q true'
    "$sampan" etcd --data-dir "$dir/fresh" --store memory --listen-client-urls http://127.0.0.1:0 >"$dir/log.fresh" 2>&1 &
    pids="$pids $!"
    waits grep -q 'serves the etcd API' "$dir/log.fresh"
    check "answers are the same" "3000 requests, 0 answered otherwise" \
        "$("$compare" "127.0.0.1:$port" "$(sed -n 's/.* at //p' "$dir/log.fresh")" 7 3000 | tee "$dir/compared" | tail -1 | sed 's/, revision.*//')"
    [ "$failed" = 0 ] || cat "$dir/compared"
}

ends() {
    kill "$pid"
    wait "$pid"
    check "it ends when it is told to" 0 $?
    check "nothing was said" "" "$(grep -v stopping "$dir/errors" "$dir/log" | grep -v 'serves the etcd')"
}

# Found by its name, as tests of operators look for one.
by_name() {
    ln -s "$(realpath "$sampan")" "$dir/etcd"
    has "started as etcd" "Serves the etcd v3 API" "$("$dir/etcd" --help)"
}

ours
by_hand
watches
leases
killed
snapshot
locks
large_answers
ends
like_etcd
by_name
finish
