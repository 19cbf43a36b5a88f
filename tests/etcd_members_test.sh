#!/bin/sh
# etcd_members_test.sh SAMPAN - an etcd of three members under a server with writers: each member is killed and comes back in
# turn. Nothing that was acknowledged is lost, and a watch sees all of it, each once.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
needs etcd etcdctl kubectl python3 curl
at_end='stop_writers'
. "$(dirname "$0")/etcd_cluster.sh"

writer_pids=
# writer N - creates one object after the other; the names of those that were acknowledged go to a file.
writer() {
    i=0
    while [ ! -e "$dir/stop" ]; do
        i=$((i + 1))
        name=w$1-$i
        [ "$(code admin -H 'Content-Type: application/json' "$server/api/v1/namespaces/default/configmaps" \
            -d "{\"metadata\":{\"name\":\"$name\",\"labels\":{\"by\":\"writer\"}}}" 2>/dev/null)" = 201 ] && echo "$name" >>"$dir/acks.$1"
    done
}
stop_writers() {
    touch "$dir/stop" 2>/dev/null
    wait $writer_pids 2>/dev/null
}
n_acks() { cat "$dir"/acks.* 2>/dev/null | wc -l; }
# more_acks N - so many more than there are now.
more_acks() {
    goal=$(($(n_acks) + $1))
    waits eval '[ "$(n_acks)" -ge $goal ]'
}

main() {
    cluster 3
    for n in 1 2 3; do member_start $n; done
    waits member_answers 1
    serve --etcd-servers "$endpoints"
    rv=$(k get cm -o jsonpath='{.metadata.resourceVersion}')
    for n in 1 2 3 4; do
        writer $n &
        writer_pids="$writer_pids $!"
    done
    more_acks 40
    for n in 1 2 3; do
        member_kill $n
        more_acks 40
        member_start $n
        waits member_answers $n
        more_acks 10
    done
    # One that does not answer and does not end, either.
    eval "kill -STOP \$member_1"
    more_acks 20
    eval "kill -CONT \$member_1"
    more_acks 20
    stop_writers
    waits eval 'k get --raw /readyz >/dev/null'
    cat "$dir"/acks.* | sort >"$dir/acked"
    k get cm -l by=writer -o name | sed 's#configmap/##' | sort >"$dir/served"
    c get --prefix --keys-only /registry/configmaps/default/w | sed -n 's#.*/##p' | grep . | sort >"$dir/kept"
    check "acknowledged and lost" "" "$(comm -23 "$dir/acked" "$dir/served")"
    check "etcd and the mirror agree" "" "$(comm -3 "$dir/kept" "$dir/served")"
    admin --max-time 60 -N "$server/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=$rv&timeoutSeconds=3&labelSelector=by=writer" |
        sed -n 's/^{"type":"ADDED".*"name":"\(w[0-9-]*\)".*/\1/p' | sort >"$dir/watched"
    check "a watch has each once" "" "$(uniq -d "$dir/watched")"
    check "and all" "" "$(comm -3 "$dir/watched" "$dir/served")"
    check "no sanitizer complains" "" "$(grep -A 20 Sanitizer: "$dir/a/sampan.log")"
    echo "$(wc -l <"$dir/acked") acknowledged, $(wc -l <"$dir/served") there"
    finish
}
main
