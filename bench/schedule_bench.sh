#!/bin/sh
# schedule_bench.sh BUILD [KUBECONFIG] - 10,000 pods wait when the scheduler starts, on 1,000 simulated nodes: pods a
# second from the first to the last that is bound; with ours and with the stock one on the same server, where it is
# there. PODS and NODES set the size.
set -u
build=$1
config=${2:-}
. "$(dirname "$0")/cluster.sh"
pods=${PODS:-10000}
nodes=${NODES:-1000}

round() { # NAME STARTER... - leaves its seconds in a variable of that name
    name=$1
    shift
    do_bench fill "schedule-$name" "$pods" >/dev/null || exit 1
    do_bench await "schedule-$name" "$pods" >"$dir/seconds" &
    waiting=$!
    "$@"
    wait $waiting
    seconds=$(cat "$dir/seconds")
    eval "$name=$seconds"
    for p in $parts; do [ "${p%%:*}" = scheduler ] && cpu=$(cpu_of "${p#*:}"); done
    awk "BEGIN { printf \"%s: %d pods bound to %d nodes in %.2f s: %.0f a second, %.2f ms of processor time each\n\", \"$name\", $pods, $nodes, $seconds, $pods / $seconds, $cpu * 1000 / $pods }"
    print_parts
    stop_parts
}
# Nodes are made, and then left alone, so that pods that start do not disturb.
make_nodes() {
    start_ours controllers
    start_nodes "$nodes"
    [ -z "${1:-}" ] || do_bench delete "$1" >/dev/null
    stop_parts
}

echo "load average: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores"
start_server
make_nodes
round sampan start_ours scheduler
[ -x "$stock_scheduler" ] || { echo "no stock scheduler to compare it with (SAMPAN_SCHEDULER)"; exit 0; }
make_nodes schedule-sampan
round stock start_stock_scheduler
awk "BEGIN { printf \"ratio: %.1f times as fast as the stock scheduler\n\", $stock / $sampan }"
