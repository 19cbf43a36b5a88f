# cluster.sh - for benchmarks of controllers and scheduler: source it after setting $build and $config (a kubeconfig,
# or empty: a server of its own). $dir is removed at the end, and what was started is stopped.
#
# Beside ours the stock programs are measured on the same server, where there are any: SAMPAN_KCM and SAMPAN_SCHEDULER
# name them, or the PATH has them. They get as many requests a second as they want; by default they hold back.
dir=$(mktemp -d "${TMPDIR:-/tmp}/sampan-bench.XXXXXX")
kcm=${SAMPAN_KCM:-$(command -v kube-controller-manager)}
stock_scheduler=${SAMPAN_SCHEDULER:-$(command -v kube-scheduler)}
is_own=
parts=
trap 'stop_parts; [ -z "$is_own" ] || "$build/sampan" down --data-dir "$dir/a" >/dev/null 2>&1; rm -rf "$dir"' EXIT

start_server() {
    [ -z "$config" ] || return 0
    is_own=yes
    "$build/sampan" up --data-dir "$dir/a" --listen 127.0.0.1:0 --api-only --detach "$@" >/dev/null || exit 1
    config=$dir/a/admin.kubeconfig
}
do_bench() { "$build/bench/cluster_bench" --kubeconfig "$config" "$@"; }

# start_part NAME COMMAND... - in the background; its figures are printed by print_parts
start_part() {
    part=$1
    shift
    "$@" >"$dir/$part.log" 2>&1 &
    parts="$parts $part:$!"
}
start_ours() { # PART [OPTION...]
    part=$1
    shift
    start_part "$part" "$build/sampan" "$part" --leader-elect=false --kubeconfig "$config" "$@"
}
start_nodes() { # COUNT - the controllers run: a new node is tainted until they have seen it
    start_part nodes "$build/sampan" nodes simulate --count "$1" --prefix node --kubeconfig "$config"
    do_bench nodes "$1"
}
start_stock_controllers() {
    start_part controllers "$kcm" --kubeconfig "$config" --leader-elect=false --secure-port=0 \
        --kube-api-qps=5000 --kube-api-burst=10000 --concurrent-deployment-syncs=20 --concurrent-replicaset-syncs=20 \
        --concurrent-namespace-syncs=20 --concurrent-gc-syncs=20
}
start_stock_scheduler() {
    start_part scheduler "$stock_scheduler" --kubeconfig "$config" --leader-elect=false --secure-port=0 \
        --kube-api-qps=5000 --kube-api-burst=10000
}
stop_parts() {
    for p in $parts; do kill "${p#*:}" 2>/dev/null; done
    wait
    parts=
}
# figures PID - seconds of processor time and the most memory, in MB
figures() {
    awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); printf "%.1f s of processor time", ($12 + $13) / hz }' "/proc/$1/stat"
    awk '/^VmHWM/ { printf ", %.0f MB\n", $2 / 1024 }' "/proc/$1/status"
}
cpu_of() { awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); printf "%.2f\n", ($12 + $13) / hz }' "/proc/$1/stat"; }
print_parts() {
    for p in $parts; do echo "    ${p%%:*}: $(figures "${p#*:}")"; done
    [ -z "$is_own" ] || echo "    server: $(figures "$(head -n 1 "$dir/a/sampan.pid")")"
}
