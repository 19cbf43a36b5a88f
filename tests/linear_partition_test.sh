#!/bin/sh
# linear_partition_test.sh SAMPAN LINEAR - two servers on one etcd of three members, each in a network namespace of its own, while
# the network between them is cut in turn: a member from all others, the leader, a server from all members, one direction only.
# Clients saw one order of things all the same, and a server that is cut off passed nothing old off as fresh (tests/linear).
set -u
if [ -z "${LINEAR_INSIDE:-}" ]; then
    [ "$(id -u)" -eq 0 ] || { echo "skipped: namespaces want root"; exit 77; }
    PATH=$PATH:/usr/sbin:/sbin
    for tool in etcd etcdctl ip nft unshare python3; do
        command -v $tool >/dev/null 2>&1 || { echo "skipped: there is no $tool"; exit 77; }
    done
    export LINEAR_INSIDE=1 PATH
    exec unshare -m -n -p -f --mount-proc "$0" "$@"
fi
sampan=$1
linear=$2
. "$(dirname "$0")/common.sh"
mount --make-rprivate / && mkdir -p /run/netns && mount -t tmpfs none /run/netns
ip link set lo up
ip link add br0 type bridge && ip addr add 10.77.0.254/24 dev br0 && ip link set br0 up || { skip "there are no bridges"; exit 77; }

# ---- Hosts: etcd on 1 to 3, servers on 11 and 12
host() {
    ip netns add "h$1"
    ip link add "v$1" type veth peer name eth0 netns "h$1"
    ip link set "v$1" master br0 up
    ip -n "h$1" addr add "10.77.0.$1/24" dev eth0
    ip -n "h$1" link set lo up
    ip -n "h$1" link set eth0 up
    ip netns exec "h$1" nft -f - <<'EOF_RULES'
add table ip cut
add set ip cut from { type ipv4_addr; }
add set ip cut to { type ipv4_addr; }
add chain ip cut in { type filter hook input priority 0; }
add rule ip cut in ip saddr @from drop
add chain ip cut out { type filter hook output priority 0; }
add rule ip cut out ip daddr @to drop
EOF_RULES
}
cut() { # HOST from|to HOST... - it hears, or says, nothing of theirs
    on=$1 which=$2
    shift 2
    for other; do ip netns exec "h$on" nft add element ip cut "$which" "{ 10.77.0.$other }"; done
}
mend() { for h in 1 2 3 11 12; do ip netns exec "h$h" nft 'flush set ip cut from; flush set ip cut to'; done; }
for h in 1 2 3 11 12; do host $h; done

export ETCDCTL_API=3
endpoints=http://10.77.0.1:2379,http://10.77.0.2:2379,http://10.77.0.3:2379
for n in 1 2 3; do
    ip netns exec "h$n" etcd --name "m$n" --data-dir "$dir/etcd$n" --listen-client-urls "http://10.77.0.$n:2379" \
        --advertise-client-urls "http://10.77.0.$n:2379" --listen-peer-urls "http://10.77.0.$n:2380" \
        --initial-advertise-peer-urls "http://10.77.0.$n:2380" --initial-cluster-state new \
        --initial-cluster m1=http://10.77.0.1:2380,m2=http://10.77.0.2:2380,m3=http://10.77.0.3:2380 \
        --heartbeat-interval 100 --election-timeout 1000 >"$dir/etcd$n.log" 2>&1 &
done
answers() { timeout 20 etcdctl --endpoints="$endpoints" endpoint health >/dev/null 2>&1; }
waits answers
start() { # FOLDER HOST
    ip netns exec "h$2" "$sampan" up --api-only --data-dir "$dir/$1" --listen "10.77.0.$2:6443" --detach --etcd-servers "$endpoints"
}
start a 11 || { cat "$dir/a/sampan.log"; exit 1; }
mkdir -m 700 "$dir/b" && cp -r "$dir/a/pki" "$dir/b/"
start b 12 || { cat "$dir/b/sampan.log"; exit 1; }
at_end='"$sampan" down --data-dir "$dir/b" >/dev/null 2>&1; '"$at_end"

# ---- Cuts, while clients work
"$linear" --operations "${LINEAR_OPERATIONS:-8000}" --clients 8 world "$dir/a/admin.kubeconfig" "$dir/b/admin.kubeconfig" >"$dir/out" 2>&1 &
work=$!
runs() { kill -0 $work 2>/dev/null; }
leader() {
    timeout 10 etcdctl --endpoints="$endpoints" endpoint status -w json 2>/dev/null | python3 -c 'import json, sys
for m in json.load(sys.stdin):
    if m["Status"]["leader"] == m["Status"]["header"]["member_id"]: print(m["Endpoint"][len("http://10.77.0.")])'
}
cuts=0
while runs; do
    n=$((cuts % 3 + 1))
    case $((cuts % 5)) in
    0) cut $n from 1 2 3 11 12 && cut $n to 1 2 3 11 12 ;;
    1) cut 12 to 1 2 3 && cut 12 from 1 2 3 ;;
    2) l=$(leader) && [ -n "$l" ] && cut "$l" to 1 2 3 ;;
    3) cut 11 from 1 2 3 ;;
    4) l=$(leader) && [ -n "$l" ] && cut "$l" from 1 2 3 11 12 ;;
    esac
    sleep 1.5
    mend
    sleep 0.5
    waits answers
    cuts=$((cuts + 1))
done
wait $work
check "one order" linearizable "$(tail -n 1 "$dir/out")"
cat "$dir/out"
echo "$cuts cuts"
has_cut() { [ $cuts -ge 3 ] && echo yes; }
check "the network was cut meanwhile" yes "$(has_cut)"
finish
