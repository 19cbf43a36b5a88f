#!/usr/bin/env bash
# lab.sh SAMPAN COMMAND... - runs a command beside a node of its own: a containerd, an API server and an agent, in
# namespaces that nothing leaves. The command finds in its environment
#
#   LAB         a folder, removed at the end    LAB_URL, LAB_TOKEN   the server, and who may do everything
#   KUBECONFIG  the same for kubectl            LAB_NODE             the name of the node
#   LAB_MANIFESTS  the folder of static pods    LAB_SOCKET           where containerd listens
#   LAB_AGENT_PID  the agent's process          LAB_LOGS             the folder of what they all said
#
# KUBELET=PATH runs upstream's kubelet in place of ours; LAB_IMAGES names a tar of images (tests/node/images.py makes one if
# it is empty) and LAB_PAUSE the one of sandboxes; LAB_KEEP=FOLDER keeps the logs there.
# LAB_OWN=on|auto runs the whole control plane, with the agent in the process of the server. Exit 77: this machine cannot run it.
set -u
if [ -z "${LAB_INSIDE:-}" ]; then
    here=$(cd "$(dirname "$0")" && pwd)
    [ "$(id -u)" -eq 0 ] || { echo "skipped: a node wants root"; exit 77; }
    for tool in containerd runc ctr unshare ip; do
        PATH=$PATH:/usr/sbin:/sbin command -v $tool >/dev/null 2>&1 || { echo "skipped: there is no $tool"; exit 77; }
    done
    [ -x /usr/lib/cni/bridge ] || { echo "skipped: there are no CNI plugins"; exit 77; }
    LAB=$(mktemp -d /tmp/sampan-lab.XXXXXX)
    export LAB LAB_HERE=$here LAB_INSIDE=1 LAB_CGROUP=/sampan-lab-$$
    export PATH=$PATH:/usr/sbin:/sbin
    unshare -m -n -u -i -p -f --mount-proc "$0" "$@"
    status=$?
    for group in $(find /sys/fs/cgroup -depth -type d -path "*$LAB_CGROUP*" 2>/dev/null); do rmdir "$group" 2>/dev/null; done
    [ -z "${LAB_KEEP:-}" ] || { mkdir -p "$LAB_KEEP" && cp -r "$LAB/logs/." "$LAB_KEEP/"; }
    rm -rf --one-file-system "$LAB"
    exit $status
fi

sampan=$(readlink -f "$1")
shift
export LAB_NODE=node-1 LAB_TOKEN=lab-token LAB_URL=https://127.0.0.1:6443 LAB_LOGS=$LAB/logs
export LAB_MANIFESTS=$LAB/manifests LAB_SOCKET=$LAB/containerd.sock KUBECONFIG=$LAB/admin.kubeconfig
mkdir -p "$LAB_LOGS" "$LAB_MANIFESTS" "$LAB/etc" "$LAB/srv"
mount --make-rprivate /
fail() { echo "lab: $1"; for log in "$LAB_LOGS"/*.log; do echo "== $log"; tail -n 20 "$log"; done; exit 1; }
awaits() { # WHAT COMMAND...
    local what=$1
    shift
    for _ in $(seq 300); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    fail "waited in vain for $what"
}

# What the machine looks like to pods is always the same.
ip link set lo up
ip link add lab0 type veth peer name lab1 && ip link set lab1 up
ip addr add 192.0.2.10/24 dev lab0 && ip link set lab0 up && ip route add default dev lab0 || fail "the node has no address"
hostname $LAB_NODE
printf 'nameserver 192.0.2.53\nsearch example.test\noptions timeout:1\n' >"$LAB/etc/resolv.conf"
printf '127.0.0.1\tlocalhost\n192.0.2.10\t%s\n' $LAB_NODE >"$LAB/etc/hosts"
for file in resolv.conf hosts; do mount --bind "$LAB/etc/$file" "$(readlink -f /etc/$file)"; done
mount --bind "$LAB/srv" /srv
mkdir -p "$LAB/var-log-pods" "$LAB/var-log-containers" /var/log/pods /var/log/containers
mount --bind "$LAB/var-log-pods" /var/log/pods
mount --bind "$LAB/var-log-containers" /var/log/containers

# ---- containerd ----
mkdir -p "$LAB/cni" "$LAB/cni-state"
cat >"$LAB/cni/10-lab.conflist" <<CNI
{"cniVersion": "0.4.0", "name": "lab", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": false, "hairpinMode": true,
   "ipam": {"type": "host-local", "dataDir": "$LAB/cni-state", "ranges": [[{"subnet": "10.88.0.0/16"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
CNI
cat >"$LAB/containerd.toml" <<TOML
version = 2
root = "$LAB/containerd"
state = "$LAB/containerd-state"
[grpc]
  address = "$LAB_SOCKET"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${LAB_PAUSE:-localhost/sampan/pause:1}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$LAB/cni"
TOML
containerd --config "$LAB/containerd.toml" >"$LAB_LOGS/containerd.log" 2>&1 &
awaits containerd ctr -a "$LAB_SOCKET" version
if [ -z "${LAB_IMAGES:-}" ]; then
    LAB_IMAGES=$LAB/images.tar
    python3 "$LAB_HERE/images.py" "$LAB_IMAGES" || fail "no images"
fi
ctr -a "$LAB_SOCKET" -n k8s.io images import "$LAB_IMAGES" >"$LAB_LOGS/import.log" 2>&1 || fail "the images cannot be imported"

# ---- The API server, and the agent ----
cat >"$LAB/node.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
cgroupDriver: cgroupfs
cgroupRoot: $LAB_CGROUP
cgroupsPerQOS: true
enforceNodeAllocatable: [pods]
staticPodPath: $LAB_MANIFESTS
fileCheckFrequency: 2s
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $LAB/a/pki/ca.crt}}
authorization: {mode: Webhook}
clusterDNS: [10.0.0.10]
clusterDomain: cluster.local
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%}
imageGCHighThresholdPercent: 100
oomScoreAdj: 0
failSwapOn: false
syncFrequency: 10s
maxPods: 200
eventRecordQPS: 0
registryPullQPS: 0
kubeAPIQPS: 200
containerRuntimeEndpoint: unix://$LAB_SOCKET
resolvConf: $LAB/etc/resolv.conf
YAML
for tree in /sys/fs/cgroup/*/; do mkdir -p "$tree$LAB_CGROUP" 2>/dev/null; done
for what in cpus mems; do cat /sys/fs/cgroup/cpuset/cpuset.$what >"/sys/fs/cgroup/cpuset$LAB_CGROUP/cpuset.$what" 2>/dev/null; done
how="--api-only --enable-admission-plugins ServiceAccount"
[ -z "${LAB_OWN:-}" ] || how="--node $LAB_OWN --node-config $LAB/node.yaml --simulate-nodes 2"
echo "$LAB_TOKEN,lab,lab,\"system:masters\"" >"$LAB/tokens"
# shellcheck disable=SC2086
"$sampan" up --data-dir "$LAB/a" --store memory --listen 127.0.0.1:6443 --token-auth-file "$LAB/tokens" $how --kubeconfig "$KUBECONFIG" \
    >"$LAB_LOGS/server.log" 2>&1 &
export LAB_AGENT_PID=$!
awaits "the server" kubectl get --raw /readyz
kubectl create namespace kube-node-lease >/dev/null 2>&1 # nobody else does

if [ -z "${LAB_OWN:-}" ]; then
    agent=$LAB/kubelet # by that name it is `sampan node`
    ln -s "$sampan" "$agent"
    [ -z "${KUBELET:-}" ] || agent=$KUBELET
    # shellcheck disable=SC2086
    $agent --config "$LAB/node.yaml" --kubeconfig "$KUBECONFIG" --hostname-override $LAB_NODE --node-ip 192.0.2.10 --root-dir "$LAB/node" \
        >"$LAB_LOGS/agent.log" 2>&1 &
    export LAB_AGENT_PID=$!
fi
is_ready() { kubectl get node $LAB_NODE -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}' | grep -q True; }
awaits "the node" is_ready

"$@"
status=$?
kill $LAB_AGENT_PID 2>/dev/null
wait $LAB_AGENT_PID 2>/dev/null
for sandbox in $(ctr -a "$LAB_SOCKET" -n k8s.io tasks list -q 2>/dev/null); do ctr -a "$LAB_SOCKET" -n k8s.io tasks kill -s KILL "$sandbox" 2>/dev/null; done
sleep 0.2
grep " $LAB/node" /proc/mounts | cut -d' ' -f2 | sort -r | while read -r at; do umount -l "$at" 2>/dev/null; done
exit $status
