#!/bin/sh
# etcd_bench.sh BUILD - `sampan etcd` beside a real etcd, in one run, on the same disk. Both sync each write.
set -u
build=$1
command -v etcd >/dev/null 2>&1 || { echo "etcd: there is none to compare with"; exit 1; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/etcd-bench.XXXXXX")
pids=
trap 'kill $pids 2>/dev/null; wait; rm -rf "$dir"' EXIT
set -- $(python3 -c 'import socket
s = [socket.socket() for _ in range(2)]
for x in s: x.bind(("127.0.0.1", 0))
print(*[x.getsockname()[1] for x in s])')
"$build/sampan" etcd --data-dir "$dir/ours" --listen-client-urls http://127.0.0.1:0 >"$dir/log" 2>&1 &
pids=$!
etcd --data-dir "$dir/theirs" --listen-client-urls "http://127.0.0.1:$1" --advertise-client-urls "http://127.0.0.1:$1" \
    --listen-peer-urls "http://127.0.0.1:$2" --initial-advertise-peer-urls "http://127.0.0.1:$2" \
    --initial-cluster "default=http://127.0.0.1:$2" >/dev/null 2>&1 &
pids="$pids $!"
until grep -q 'serves the etcd' "$dir/log" && curl -s "http://127.0.0.1:$1/health" | grep -q true; do sleep 0.1; done
echo "etcd: 64 calls at once over 4 connections, values of 1 kB; 64 watchers of one key"
echo "load average $(cut -d ' ' -f 1 /proc/loadavg)"
"$build/bench/etcd_bench" "$(sed -n 's/.* at //p' "$dir/log")" "127.0.0.1:$1"
for pid in $pids; do
    sed -n "s/^Name:[^a-z]*/memory of /p;s/^VmRSS:[^0-9]*/  /p" "/proc/$pid/status" | xargs
done
