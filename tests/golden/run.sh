#!/bin/sh
# run.sh SAMPAN REPLAY SOURCE_ROOT [OPTION...] - the golden traces against servers of our own.
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
running=
trap 'for d in $running; do "$sampan" down --data-dir "$d" >/dev/null 2>&1; done; rm -rf "$dir"' EXIT

# start NAME [FLAG...] - a server of its own.
start() {
    d=$dir/$1
    shift
    "$sampan" up --data-dir "$d" --listen 127.0.0.1:0 --store memory \
        --controllers=-clusterrole-aggregation-controller \
        --service-account-signing-key-file "$dir/account.key" \
        --requestheader-client-ca-file "$dir/proxy.crt" --requestheader-allowed-names aggregator \
        "$@" --detach >/dev/null || exit 1
    running="$running $d"
    field certificate-authority-data | base64 -d >"$d/ca"
    field client-certificate-data | base64 -d >"$d/cert"
    field client-key-data | base64 -d >"$d/key"
}
field() { sed -n "s/^ *$1: //p" "$d/admin.kubeconfig"; }
replay() {
    "$replay" --server "$(field server)" --ca "$d/ca" --cert "$d/cert" --key "$d/key" \
        --callers --client-ca "$d/pki/ca.crt,$d/pki/ca.key" \
        --proxy-ca "$dir/proxy.crt,$dir/proxy.key" \
        --account-key "$dir/account.key" --other-key "$dir/other.key" \
        --allow "$root/tests/golden/allow.txt" --words "$root/tests/golden/words.txt" \
        ${GOLDEN_ONLY:+--only "$GOLDEN_ONLY"} "$@"
}

# What callers need: keys that sign tokens, and the front proxy's authority.
make_keys() {
    for key in account other; do
        openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$dir/$key.key" \
            2>/dev/null || exit 1
    done
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
        -subj /CN=front-proxy -keyout "$dir/proxy.key" -out "$dir/proxy.crt" 2>/dev/null || exit 1
}

# The traces without custom kinds come before those are defined. Of admission only how policies are
# defined, since nothing runs them yet.
plain= custom= define= auth= plugin=
for trace in ${GOLDEN_TRACES:-verbs defaults validation updates patch ssa crd define auth auth-plugin}; do
    case $trace in
    define) define="$vectors/golden/admission.jsonl" ;;
    auth) auth="$vectors/golden/auth.jsonl" ;;
    auth-plugin) plugin="$vectors/golden/auth-plugin.jsonl" ;;
    verbs | defaults | validation | updates) plain="$plain $vectors/golden/$trace.jsonl" ;;
    *) custom="$custom $vectors/golden/$trace.jsonl" ;;
    esac
done
failed=0
make_keys
echo 'admin-token,admin,admin,"system:masters"' >"$dir/tokens"
start plain --token-auth-file "$dir/tokens"
echo admission/define/ >"$dir/define"
[ -z "$define" ] || replay --only "$dir/define" "$@" "$define" || failed=1
[ -z "$plain" ] || replay "$@" $plain || failed=1
if [ -n "$custom" ]; then
    kubectl --kubeconfig "$d/admin.kubeconfig" create --validate=false \
        -f "$vectors/golden/crd-setup.yaml" >"$dir/setup" || { cat "$dir/setup"; exit 1; }
    replay "$@" $custom || failed=1
fi
if [ -n "$auth" ]; then
    start auth --service-cidr 10.0.0.0/16 --token-auth-file "$vectors/golden/auth-tokens.csv" \
        --audit-policy-file "$vectors/golden/auth-audit-policy.yaml" --audit-log-path "$dir/audit"
    replay --audit-log "$dir/audit" "$@" "$auth" || failed=1
fi
if [ -n "$plugin" ]; then
    start plugin --service-cidr 10.0.0.0/16 --token-auth-file "$vectors/golden/auth-tokens.csv" \
        --enable-admission-plugins=ServiceAccount --anonymous-auth=false
    replay "$@" "$plugin" || failed=1
fi
exit $failed
