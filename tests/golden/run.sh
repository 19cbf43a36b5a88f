#!/bin/sh
# run.sh SAMPAN REPLAY SOURCE_ROOT [OPTION...] - the golden traces against a server of our own.
# SAMPAN_VECTORS names the folder of vectors; without it the test is skipped. Every case must pass
# but those of allow.txt, which says why. `--diff` shows how answers differ; GOLDEN_ONLY=FILE names
# a file of id prefixes to choose cases by, and GOLDEN_TRACES the traces.
set -u
sampan=$1
replay=$2
root=$3
shift 3
vectors=${SAMPAN_VECTORS:-$root/../shared/vectors}
[ -d "$vectors/golden" ] || { echo "skipped: no golden traces in $vectors"; exit 77; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/sampan-golden.XXXXXX")
trap '"$sampan" down --data-dir "$dir/a" >/dev/null 2>&1; rm -rf "$dir"' EXIT

"$sampan" up --data-dir "$dir/a" --listen 127.0.0.1:0 --store memory \
    --detach >/dev/null || exit 1
field() { sed -n "s/^ *$1: //p" "$dir/a/admin.kubeconfig"; }
field certificate-authority-data | base64 -d >"$dir/ca"
field client-certificate-data | base64 -d >"$dir/cert"
field client-key-data | base64 -d >"$dir/key"
# The options come first; then the traces, those without custom kinds before they are defined. Of
# admission only how policies are defined, since nothing runs them yet.
plain= custom= define=
for trace in ${GOLDEN_TRACES:-verbs defaults validation updates patch ssa crd define}; do
    case $trace in
    define) define="$vectors/golden/admission.jsonl" ;;
    verbs | defaults | validation | updates) plain="$plain $vectors/golden/$trace.jsonl" ;;
    *) custom="$custom $vectors/golden/$trace.jsonl" ;;
    esac
done
replay() {
    "$replay" --server "$(field server)" --ca "$dir/ca" --cert "$dir/cert" --key "$dir/key" \
        --allow "$root/tests/golden/allow.txt" --words "$root/tests/golden/words.txt" \
        ${GOLDEN_ONLY:+--only "$GOLDEN_ONLY"} "$@"
}
failed=0
echo admission/define/ >"$dir/define"
[ -z "$define" ] || replay --only "$dir/define" "$@" "$define" || failed=1
[ -z "$plain" ] || replay "$@" $plain || failed=1
if [ -n "$custom" ]; then
    kubectl --kubeconfig "$dir/a/admin.kubeconfig" create --validate=false \
        -f "$vectors/golden/crd-setup.yaml" >"$dir/setup" || { cat "$dir/setup"; exit 1; }
    replay "$@" $custom || failed=1
fi
exit $failed
