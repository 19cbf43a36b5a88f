#!/bin/sh
# definitions_vectors_test.sh SAMPAN BUILD CC... - the code for every definition of real projects (the
# manifests among the vectors) compiles without a warning. Skipped where the vectors are not there.
set -u
sampan=$1
include=$2/include
root=$(cd "$(dirname "$0")/../.." && pwd)
shift 2
vectors=${SAMPAN_VECTORS:-$root/../shared/vectors}/manifests
if [ ! -d "$vectors" ]; then
    echo "skipped: there is no folder $vectors"
    exit 77
fi
dir=$(mktemp -d "${TMPDIR:-/tmp}/sampan-test.XXXXXX")
trap 'rm -rf "$dir"' EXIT
files=0
failed=0
for file in $(grep -rlE '^kind: *"?CustomResourceDefinition' "$vectors" | sort); do
    files=$((files + 1))
    if ! "$sampan" generate --from "$file" --c "$dir" --prefix real >"$dir/said" 2>&1 ||
        ! "$@" -std=c11 -fsyntax-only -Wall -Wextra -Wpedantic -Werror -I"$root/include" \
            -I"$include" "$dir/gen_real.c" >"$dir/said" 2>&1; then
        echo "FAILED $file"
        head -5 "$dir/said"
        failed=$((failed + 1))
    fi
done
echo "$files files, $failed failed"
[ "$files" -gt 100 ] && [ $failed -eq 0 ]
