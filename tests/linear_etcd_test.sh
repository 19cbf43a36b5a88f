#!/bin/sh
# linear_etcd_test.sh SAMPAN LINEAR - clients of two servers on one etcd of three members, while members and servers are killed
# and stopped: all of them saw one order of things, whichever server they asked (tests/linear).
set -u
sampan=$1
linear=$2
. "$(dirname "$0")/common.sh"
needs etcd etcdctl python3
at_end='"$sampan" down --data-dir "$dir/b" >/dev/null 2>&1'
. "$(dirname "$0")/etcd_cluster.sh"

cluster 3
for n in 1 2 3; do member_start $n; done
waits member_answers 1
serve --etcd-servers "$endpoints"
port=${server##*:}
first() { up --etcd-servers "$endpoints" --listen "127.0.0.1:$port" >/dev/null 2>&1; }
second() { # shares the first one's keys
    "$sampan" up --api-only --data-dir "$dir/b" --listen "127.0.0.2:$port" --detach --etcd-servers "$endpoints" >/dev/null 2>&1
}
mkdir -m 700 "$dir/b"
cp -r "$dir/a/pki" "$dir/b/"
second || { cat "$dir/b/sampan.log"; exit 1; }

"$linear" --operations 6000 --clients 8 world "$dir/a/admin.kubeconfig" "$dir/b/admin.kubeconfig" >"$dir/out" 2>&1 &
work=$!
runs() { kill -0 $work 2>/dev/null; }
rounds=0
while runs; do
    n=$((rounds % 3 + 1))
    member_kill $n
    sleep 1
    member_start $n
    waits member_answers $n
    runs && kill -9 "$(head -n 1 "$dir/b/sampan.pid")" && waits second
    runs && eval "kill -STOP \$member_$n" && sleep 1 && eval "kill -CONT \$member_$n"
    runs && kill -9 "$(head -n 1 "$dir/a/sampan.pid")" && waits first
    rounds=$((rounds + 1))
done
wait $work
check "one order" linearizable "$(tail -n 1 "$dir/out")"
cat "$dir/out"
echo "$rounds rounds of faults"
finish
