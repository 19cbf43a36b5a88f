#!/bin/sh
# informer_bench.sh BUILD [KUBECONFIG] - an informer of ours and one of client-go over the same 100,000
# ConfigMaps of 1 KB: time, memory and the ratio of both. Without KUBECONFIG a server of its own is
# started and filled. client-go is built where Go and its modules are there; else ours runs alone.
set -u
build=$1
here=$(dirname "$(realpath "$0")")
dir=$(mktemp -d "${TMPDIR:-/tmp}/sampan-informer.XXXXXX")
trap '"$build/sampan" down --data-dir "$dir/a" >/dev/null 2>&1; rm -rf "$dir"' EXIT
objects=${OBJECTS:-100000}
events=${EVENTS:-50000}

config=${2:-}
if [ -z "$config" ]; then
    "$build/sampan" up --api-only --data-dir "$dir/a" --listen 127.0.0.1:0 --detach >/dev/null || exit 1
    config=$dir/a/admin.kubeconfig
fi
echo "filling: $objects ConfigMaps"
"$build/bench/load" --kubeconfig "$config" --objects "$objects" --count 1 --rounds 1 --keep list >/dev/null || exit 1

peer=
if command -v go >/dev/null; then
    cp -r "$here/peers/informer" "$dir/go" &&
        (cd "$dir/go" && go build -o ../informer . >"$dir/go.log" 2>&1) && peer=$dir/informer
    [ -n "$peer" ] || { echo "client-go could not be built:"; tail -n 3 "$dir/go.log"; }
fi

# run NAME PROGRAM - its best of three syncs, then events while somebody writes; leaves the figures in
# variables named after it.
run() {
    best=
    for round in 1 2 3; do
        line=$("$2" --kubeconfig "$config") || exit 1
        seconds=$(echo "$line" | sed 's/.* in \([0-9.]*\) s.*/\1/')
        [ -n "$best" ] && [ "$(printf '%s\n%s\n' "$best" "$seconds" | sort -g | head -n 1)" = "$best" ] && continue
        best=$seconds
        kept=$line
    done
    echo "$1 $kept"
    eval "$1_seconds=$best $1_rss=$(echo "$kept" | sed 's/.*rss \([0-9.]*\) MB.*/\1/')"
    "$2" --kubeconfig "$config" "$events" >"$dir/$1.out" &
    waiting=$!
    while ! grep -q sync "$dir/$1.out"; do sleep 0.1; done
    "$build/bench/load" --kubeconfig "$config" --objects 1000 --count $((events + 2000)) --rounds 1 update >/dev/null 2>&1
    wait $waiting
    grep events "$dir/$1.out" | sed "s/^/$1 /"
    eval "$1_us=$(sed -n 's/.*cpu \([0-9.]*\) us each/\1/p' "$dir/$1.out")"
}
run sampan "$build/bench/informer_bench"
[ -n "$peer" ] || exit 0
run client_go "$peer"
awk "BEGIN { printf \"ratio: sync %.1f times as fast, %.2f of the memory, an event %.2f of the processor time\n\",
    $client_go_seconds / $sampan_seconds, $sampan_rss / $client_go_rss, $sampan_us / $client_go_us }"
