#!/bin/sh
# rollout_bench.sh BUILD [KUBECONFIG] - 100 Deployments of 50 pods each, from nothing to Running on 500 simulated
# nodes: time, processor time, memory, requests for each pod; with our controllers and scheduler, and with the stock
# ones on the same server, where they are there. DEPLOYMENTS, REPLICAS and NODES set the size.
set -u
build=$1
config=${2:-}
. "$(dirname "$0")/cluster.sh"
deployments=${DEPLOYMENTS:-100}
replicas=${REPLICAS:-50}
nodes=${NODES:-500}
pods=$((deployments * replicas))

round() { # NAME - leaves its seconds in a variable of that name
    before=$(do_bench requests)
    set -- "$1" $(do_bench rollout "rollout-$1" "$deployments" "$replicas")
    [ $# -eq 3 ] || exit 1
    eval "$1=$3"
    requests=$(($(do_bench requests) - before))
    echo "$1: $pods pods of $deployments Deployments Running on $nodes nodes after $3 s ($2 s of them to create the Deployments)"
    awk "BEGIN { printf \"    %.0f pods a second, %.1f requests for each pod, those of nodes included\n\", $pods / $3, $requests / $pods }"
    print_parts
    do_bench delete "rollout-$1" >/dev/null
    stop_parts
}
echo "load average: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores"
start_server
start_ours controllers
start_ours scheduler
start_nodes "$nodes"
round sampan
[ -x "$kcm" ] && [ -x "$stock_scheduler" ] || { echo "no stock programs to compare it with (SAMPAN_KCM, SAMPAN_SCHEDULER)"; exit 0; }
start_stock_controllers
start_stock_scheduler
sleep 10 # until their caches are filled
start_nodes "$nodes"
round stock
awk "BEGIN { printf \"ratio: %.1f times as fast as the stock programs\n\", $stock / $sampan }"
