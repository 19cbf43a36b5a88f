#!/bin/sh
# load_bench.sh BUILD - a control plane under load, figure by figure beside what we want of it.
#
# Starts a sampan on a folder of its own (in $TMPDIR, or /tmp: on a disk, or the creates are not
# durable), and nghttpd with a static file where it is installed. Fails on nothing but a part that
# could not be measured or an answer that was not as it should be.
set -u
build=$1
load=$build/bench/load
sampan=$build/sampan
seconds=${SECONDS_PER_RUN:-5}
objects=${OBJECTS:-100000}
nghttpd_port=19573
work=$(mktemp -d "${TMPDIR:-/tmp}/sampan-load.XXXXXX")
peer=
status=0
trap '[ -z "$peer" ] || kill "$peer" 2>/dev/null
"$sampan" down --data-dir "$work/data" >/dev/null 2>&1
rm -rf "$work"' EXIT
PATH=$PATH:/usr/sbin

up() { "$sampan" up --api-only --data-dir "$work/data" --listen 127.0.0.1:0 --detach >/dev/null; }
rss_kb() { sed -n "s/^$1:[[:space:]]*\([0-9]*\).*/\1/p" "/proc/$(head -n 1 "$work/data/sampan.pid")/status"; }
mb() { awk -v kb="$1" 'BEGIN { printf "%.1f MB", kb / 1024 }'; }
now_ms() { echo $(($(date +%s%N) / 1000000)); }
row() { printf '  %-46s %-42s %s\n' "$1" "$2" "${3:-}"; }

# The line of JSON about our server is kept in $said, all of it in $work/out.
measure() {
    "$load" --kubeconfig "$work/data/admin.kubeconfig" --json "$@" >"$work/out" 2>"$work/err"
    said=$(grep '"server":"ours"' "$work/out")
    if [ -z "$said" ] || [ "$(of n_errors)" != 0 ] || [ -s "$work/err" ]; then
        echo "  NOT AS IT SHOULD BE: load $*"
        sed 's/^/    /' "$work/err"
        grep -o '"errors":.*' "$work/out" | sed 's/^/    /'
        status=1
    fi
    [ -n "$said" ]
}
of() { printf '%s\n' "$said" | sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p"; }
grown() { mb $(($(of "$1_peak_kb") - $(of "$1_before_kb"))); }
rate() { printf '%.0f/s, p99 %.2f ms' "$(of per_second)" "$(of latency_p99_ms)"; }

start_nghttpd() {
    command -v nghttpd >/dev/null && command -v openssl >/dev/null || return 1
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
        -subj /CN=localhost -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
    mkdir "$work/www"
    head -c 2048 /dev/zero | tr '\0' x >"$work/www/2k"
    nghttpd -n "$(nproc)" -d "$work/www" -a 127.0.0.1 $nghttpd_port "$work/key.pem" \
        "$work/cert.pem" >/dev/null 2>&1 &
    peer=$!
    sleep 1
}

get_beside_nghttpd() {
    start_nghttpd || { row "GET of 2 KB" "skipped: no nghttpd" ">= 0.50 of nghttpd"; return; }
    measure --against "https://127.0.0.1:$nghttpd_port/2k" --size 2048 --seconds "$seconds" get &&
        row "GET of 2 KB, 64 in flight" "$(rate)"
    said=$(grep '"ratio"' "$work/out")
    row "  beside nghttpd with a file of 2 KB" "$(of ratio) of it" ">= 0.50"
    kill "$peer"
    peer=
}

restart() {
    "$sampan" down --data-dir "$work/data" >/dev/null
    began=$(now_ms)
    up || { echo "sampan does not start again"; exit 1; }
    took=$(($(now_ms) - began))
}

# Each LIST is the first thing that a server does: all it takes for it is seen. RSS holds the pages
# of the database that were read, which the kernel can take back at any time; own memory does not.
list_all() {
    many="--namespace bench --keep --objects $objects --size 1024"
    measure $many --count 1 list || return
    restart
    row "restart with $objects objects, until ready" "$took ms" "< 300 ms"
    row "  idle RSS then" "$(mb "$(rss_kb VmRSS)"), own $(mb "$(rss_kb RssAnon)")"
    measure $many --filled --seconds "$seconds" list &&
        row "LIST of $objects ConfigMaps of 1 KB" "$(of mb_per_second) MB/s" "> 300 MB/s" &&
        row "  RSS grows by" "$(grown rss), own $(grown own)" "< 32 MB"
    restart
    measure $many --filled --connections 10 --in-flight 10 --seconds "$seconds" list &&
        row "ten such LISTs at once" "$(of mb_per_second) MB/s" "> 300 MB/s" &&
        row "  RSS grows by" "$(grown rss), own $(grown own)" "< 32 MB"
    measure $many --filled --seconds "$seconds" list-paged &&
        row "the same in pages of 500" "$(of mb_per_second) MB/s"
}

watch_by() { # CONNECTIONS
    measure --watchers 1000 --connections "$1" --seconds "$seconds" watch &&
        row "1,000 watchers on $1 connections, all see it" \
            "p50 $(of latency_p50_ms), p99 $(of latency_p99_ms), max $(of latency_max_ms) ms" \
            "< 50 ms"
}

echo "load: one server, on $(nproc) cores together with the generator;" \
    "load average before: $(cut -d ' ' -f 1 /proc/loadavg)"
began=$(now_ms)
up || { echo "sampan does not start"; exit 1; }
row "start on an empty folder, until ready" "$(($(now_ms) - began)) ms" "< 50 ms"
row "idle RSS" "$(mb "$(rss_kb VmRSS)"), own $(mb "$(rss_kb RssAnon)")" "< 20 MB"
get_beside_nghttpd
measure --seconds "$seconds" get-many && row "GET of 1,000 ConfigMaps of 1 KB" "$(rate)"
measure --seconds "$seconds" create &&
    row "durable creates of 1 KB, 64 in flight" "$(rate)" "> 15000/s"
measure --seconds "$seconds" update && row "updates, 64 in flight" "$(rate)"
measure --count 20000 delete && row "deletes, 64 in flight" "$(rate)"
measure --seconds "$seconds" churn && row "create, update, delete, 64 in flight" "$(rate)"
watch_by 20
watch_by 1000
list_all
exit $status
