#!/bin/sh
# namespace_bench.sh BUILD [KUBECONFIG] - a namespace is deleted with the 10,000 pods in it: time, processor time,
# memory; with our controllers and with the stock ones on the same server, where they are there. PODS sets the size.
# The pods are on no node, so nobody but the controllers has to end them.
set -u
build=$1
config=${2:-}
. "$(dirname "$0")/cluster.sh"
pods=${PODS:-10000}

round() { # NAME - leaves its seconds in a variable of that name
    before=$(do_bench requests)
    seconds=$(do_bench delete "namespace-$1") || exit 1
    eval "$1=$seconds"
    requests=$(($(do_bench requests) - before))
    awk "BEGIN { printf \"%s: %d pods are gone with their namespace after %.2f s, %.2f requests for each pod\n\", \"$1\", $pods, $seconds, $requests / $pods }"
    print_parts
    stop_parts
}
echo "load average: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores"
start_server
do_bench fill namespace-sampan "$pods" >/dev/null || exit 1
start_ours controllers
sleep 2 # until their caches are filled
round sampan
[ -x "$kcm" ] || { echo "no stock kube-controller-manager to compare it with (SAMPAN_KCM)"; exit 0; }
do_bench fill namespace-stock "$pods" >/dev/null || exit 1
start_stock_controllers
sleep 10
round stock
awk "BEGIN { printf \"ratio: %.1f times as fast as the stock controllers\n\", $stock / $sampan }"
