#!/bin/sh
# linear_test.sh SAMPAN LINEAR - many clients of one server at once, which is killed, stopped for a while and started
# again meanwhile: what they saw has one order, and watches miss and repeat nothing (tests/linear).
set -u
sampan=$1
linear=$2
. "$(dirname "$0")/common.sh"

serve
address=${server#https://}
again() { up --listen "$address" >/dev/null 2>&1; } # not before the one that was killed is gone
pid() { head -n 1 "$dir/a/sampan.pid"; }
runs() { kill -0 "$work" 2>/dev/null; }
judge() { # NAME: of the run in $work
    wait "$work"
    check "$1" linearizable "$(tail -n 1 "$dir/out")"
    cat "$dir/out"
}
begin() { # NAMESPACE OPERATIONS
    "$linear" --operations "$2" "$1" "$dir/a/admin.kubeconfig" >"$dir/out" 2>&1 &
    work=$!
}

begin quiet 2000
judge "nothing happens"

begin killed 20000
while runs; do
    kill -9 "$(pid)"
    waits again
    sleep 0.3
done
judge "killed again and again"
check "watches noticed" 0 "$(grep -c 'begun anew 0 times' "$dir/out")"

begin stopped 10000
while runs; do
    kill -STOP "$(pid)"
    sleep 0.3
    kill -CONT "$(pid)"
    sleep 0.3
done
judge "stopped and continued"
finish
