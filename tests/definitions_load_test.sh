#!/bin/sh
# definitions_load_test.sh SAMPAN BENCH SANITIZER - many definitions, by the benchmark: all of them are served,
# discovery and OpenAPI tell of them, they can be deleted, and the server has not grown without
# bound. Says nothing about speed; bench/run does.
set -u
sampan=$1
bench=$2
. "$(dirname "$0")/common.sh"

rss_kb() { sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$(head -n 1 "$dir/a/sampan.pid")/status"; }

up >/dev/null || { echo "it does not start"; cat "$dir/a/sampan.log"; exit 1; }
connect
before=$(rss_kb)
"$bench" --kubeconfig "$dir/a/admin.kubeconfig" 300 >"$dir/out" 2>&1
check "all is answered" 0 $?
has "definitions are served" "definitions: 300 of " "$(cat "$dir/out")"
cat "$dir/out"
# A hundred kilobytes each, the pages of the store, and what a large one needs while it is made.
# Sanitizers take several times as much.
grown=$(($(rss_kb) - before))
[ "${3:-none}" != none ] || check "memory is bounded ($grown KB)" yes \
    "$([ $grown -lt 262144 ] && echo yes)"
check "none is left" '"items":[]' \
    "$(admin "$server/apis/apiextensions.k8s.io/v1/customresourcedefinitions" | tr -d ' \n' |
        grep -o '"items":\[\]')"
finish
