#!/bin/sh
# custom_bench.sh BUILD - custom resources: what definitions cost, and their objects beside
# ConfigMaps of the same size on the same server.
#
# DEFINITIONS and OBJECTS say how many, SECONDS_PER_RUN how long a round takes; both sorts take
# turns. Fails on nothing but what could not be measured or was not answered as it should be.
set -u
build=$1
sampan=$build/sampan
seconds=${SECONDS_PER_RUN:-3}
objects=${OBJECTS:-100000}
work=$(mktemp -d "${TMPDIR:-/tmp}/sampan-custom.XXXXXX")
status=0
trap '"$sampan" down --data-dir "$work/data" >/dev/null 2>&1; rm -rf "$work"' EXIT
config=$work/data/admin.kubeconfig
up() {
    "$sampan" up --api-only --data-dir "$work/data" --listen 127.0.0.1:0 --detach >/dev/null ||
        { echo "sampan does not start"; exit 1; }
}
row() { printf '  %-58s %-46s %s\n' "$1" "$2" "${3:-}"; }
of() { sed -n "s/.*\"server\":\"$1\".*\"$2\":\([0-9.]*\).*/\1/p" "$work/out"; }

# beside NAME FIGURE UNIT ARGUMENT... - a figure of custom objects, that of ConfigMaps, the ratio
beside() {
    name=$1
    figure=$2
    unit=$3
    shift 3
    if "$build/bench/load" --kubeconfig "$config" --custom --against "$config" --json \
        --seconds "$seconds" "$@" >"$work/out" 2>"$work/err"; then
        ratio=$(sed -n 's/.*"ratio":\([0-9.]*\).*/\1/p' "$work/out")
        row "$name" "$(of ours "$figure") $unit, ConfigMaps $(of theirs "$figure")" "$ratio of them"
    else
        echo "  NOT AS IT SHOULD BE: load $*"
        sed 's/^/    /' "$work/err"
        status=1
    fi
}

up
"$build/bench/definitions_bench" --kubeconfig "$config" "${DEFINITIONS:-1000}" || status=1
"$sampan" down --data-dir "$work/data" >/dev/null
rm -rf "$work/data"
up
echo "objects: custom ones of 1 KB beside ConfigMaps"
beside "GET, 64 in flight" per_second /s get-many
beside "durable creates, 64 in flight" per_second /s create
beside "updates, 64 in flight" per_second /s update
beside "LIST of $objects" mb_per_second MB/s --objects "$objects" list
beside "an event to 100 watchers, p99" latency_p99_ms ms watch
exit $status
