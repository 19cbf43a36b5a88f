#!/bin/sh
# idle_bench.sh BUILD - the whole control plane in one process, with 1,000 pods that run on 100 simulated nodes and
# nobody who asks for anything: how much of a core it uses, and how much memory. Nodes write their leases and status
# meanwhile. PODS, NODES and SECONDS_PER_RUN set the size and the length.
set -u
build=$1
config=
. "$(dirname "$0")/cluster.sh"
pods=${PODS:-1000}
nodes=${NODES:-100}
seconds=${SECONDS_PER_RUN:-60}
deployments=$(((pods + 9) / 10))

echo "load average: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores"
"$build/sampan" up --data-dir "$dir/a" --listen 127.0.0.1:0 --simulate-nodes "$nodes" --detach >/dev/null || exit 1
is_own=yes
config=$dir/a/admin.kubeconfig
pid=$(head -n 1 "$dir/a/sampan.pid")
do_bench nodes "$nodes"
do_bench rollout idle "$deployments" 10 >/dev/null || exit 1
sleep 15 # what is kept of the work before is given back
memory() { awk -v k="$1:" '$1 == k { printf "%.1f", $2 / 1024 }' "/proc/$pid/status"; }
began=$(cpu_of "$pid")
sleep "$seconds"
awk "BEGIN { printf \"idle with %d pods on %d nodes: %.2f%% of a core over %d s (goal: < 0.5%%)\n\", $deployments * 10, $nodes, ($(cpu_of "$pid") - $began) * 100 / $seconds, $seconds }"
echo "    memory: $(memory VmRSS) MB, $(memory RssAnon) MB of them its own (goal: < 40 MB)"
