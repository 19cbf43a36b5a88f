#!/bin/sh
# test_command_test.sh SAMPAN - `sampan test`: a command has a control plane of its own, and leaves nothing.
set -u
sampan=$(realpath "$1")
. "$(dirname "$0")/common.sh"
needs kubectl python3
mkdir "$dir/tmp"
export TMPDIR="$dir/tmp"
left() { ls -A "$TMPDIR" | xargs; }
pids=
at_end='for p in $pids; do kill -9 $p 2>/dev/null; done; wait 2>/dev/null'
# with [OPTION...] -- COMMAND...: its output, without the log
with() { "$sampan" test "$@" 2>>"$dir/errors"; }

# ---- What the command finds ----
has "a server" "kube-system" "$(with --api-only -- kubectl get namespaces)"
check "and the programs for suites" "etcd kube-apiserver kubectl" "$(with --api-only -- sh -c 'ls "$KUBEBUILDER_ASSETS" | xargs')"
check "its other variables" green "$(TEA=green with --api-only -- sh -c 'echo $TEA')"
check "a KUBECONFIG of mine is not used" no "$(KUBECONFIG=/mine with --api-only -- sh -c '[ "$KUBECONFIG" = /mine ] && echo yes || echo no')"
check "its input" tea "$(echo tea | with --api-only -- cat)"
check "controllers run" "default" "$(with -- kubectl wait --for=create serviceaccount/default --timeout=60s -o 'jsonpath={.metadata.name}')"
check "nodes, if they are wanted" "node/simulated-0 condition met" \
    "$(with --simulate-nodes 1 -- sh -c 'kubectl wait --for=create node/simulated-0 --timeout=60s >/dev/null; kubectl wait --for=condition=Ready node/simulated-0 --timeout=60s')"
check "nothing is left" "" "$(left)"

# ---- How it ends ----
status() { with --api-only -- "$@"; echo $?; }
check "well" 0 "$(status true)"
check "badly" 7 "$(status sh -c 'exit 7')"
check "by a signal" 137 "$(status sh -c 'kill -9 $$')"
check "without a command of that name" 127 "$(status nobody-has-this)"
check "with one that is none" 126 "$(status "$dir")"
check "misused" "2 2 2 2" "$(for words in '' '--' '--detach -- true' '--store=lmdb -- true'; do "$sampan" test $words 2>/dev/null; echo $?; done | xargs)"
check "with a wrong option" 2 "$("$sampan" test --tea -- true 2>/dev/null; echo $?)"
check "with a server that does not start" 1 "$("$sampan" test --listen 127.0.0.1:1x -- true 2>/dev/null; echo $?)"
check "the help" 0 "$("$sampan" test --help >/dev/null; echo $?)"
check "nothing is left of these" "" "$(left)"

# ---- Signals ----
cat >"$dir/trap" <<'EOF_TRAP'
trap 'echo got it >"$1/got"; exit 5' TERM
echo $$ >"$1/child"
while :; do sleep 0.05; done
EOF_TRAP
# begin COMMAND... - in the background; $pid, and the command's own process in $child.
begin() {
    rm -f "$dir/child" "$dir/got"
    "$sampan" test --api-only -- "$@" 2>>"$dir/errors" &
    pid=$!
    pids="$pids $pid"
    waits test -s "$dir/child"
    child=$(cat "$dir/child")
}
begin sh "$dir/trap" "$dir"
kill -TERM $pid
wait $pid
check "a signal reaches the command, and its status us" "5 got it" "$? $(cat "$dir/got")"
check "nothing is left then" "" "$(left)"

# ---- Several at once ----
several=
for i in 1 2 3 4; do
    with --api-only -- sh -c "kubectl create configmap only-$i >/dev/null && kubectl get configmaps -o name | grep -c only-" >"$dir/count.$i" &
    several="$several $!"
done
wait $several
check "each has its own" "1 1 1 1" "$(cat "$dir"/count.? | xargs)"
check "nothing is left of them" "" "$(left)"

# ---- kill -9 ----
begin sh -c 'echo $$ >"$1/child"; echo $KUBECONFIG >"$1/config"; exec sleep 600' sh "$dir"
address=$(sed -n 's/^ *server: //p' "$(cat "$dir/config")")
check "it answers" 200 "$(curl -sk -o /dev/null -w '%{http_code}' "$address/readyz")"
kill -9 $pid
gone() { ! kill -0 "$1" 2>/dev/null; }
wait $pid 2>/dev/null
waits gone $child
check "no server is left behind" 000 "$(curl -sk -o /dev/null -w '%{http_code}' "$address/readyz")"
check "no sanitizer complains" "" "$(grep -A 20 Sanitizer: "$dir/errors")"
finish
