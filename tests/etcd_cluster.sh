# etcd_cluster.sh - for tests with real etcds, after common.sh: members on loopback, each in a folder of its own below $dir.
# member_start N, member_kill N; $endpoints for flags, c for etcdctl. Members that run end with the test.
export ETCDCTL_API=3
member_pids=
at_end='for p in $member_pids; do kill -9 $p 2>/dev/null; done; '"$at_end"

# cluster N - chooses ports for so many members.
cluster() {
    members=$1
    ports=$(python3 -c 'import socket, sys
s = [socket.socket() for _ in range(2 * int(sys.argv[1]))]
for x in s: x.bind(("127.0.0.1", 0))
print(*[x.getsockname()[1] for x in s])' "$members")
    endpoints= initial=
    for n in $(seq "$members"); do
        endpoints=$endpoints${endpoints:+,}$(client_url "$n")
        initial=$initial${initial:+,}m$n=$(peer_url "$n")
    done
}
client_url() { echo "http://127.0.0.1:$(echo $ports | cut -d' ' -f "$1")"; }
peer_url() { echo "http://127.0.0.1:$(echo $ports | cut -d' ' -f $((members + $1)))"; }
member_start() {
    etcd --name "m$1" --data-dir "$dir/etcd$1" --listen-client-urls "$(client_url "$1")" \
        --advertise-client-urls "$(client_url "$1")" --listen-peer-urls "$(peer_url "$1")" \
        --initial-advertise-peer-urls "$(peer_url "$1")" --initial-cluster "$initial" --initial-cluster-state new \
        --heartbeat-interval 100 --election-timeout 1000 >>"$dir/etcd$1.log" 2>&1 &
    eval "member_$1=$!"
    member_pids="$member_pids $!"
}
member_kill() {
    eval "kill -9 \$member_$1; wait \$member_$1 2>/dev/null"
}
c() { timeout 60 etcdctl --endpoints="$endpoints" "$@" 2>&1; }
member_answers() { timeout 20 etcdctl --endpoints="$(client_url "$1")" endpoint health >/dev/null 2>&1; }
