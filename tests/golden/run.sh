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
running= hooks=
trap '[ -z "$hooks" ] || kill $hooks; for d in $running; do "$sampan" down --data-dir "$d" >/dev/null 2>&1; done; rm -rf "$dir"' EXIT

# start NAME [FLAG...] - a server of its own.
start() {
    d=$dir/$1
    shift
    "$sampan" up --api-only --data-dir "$d" --listen 127.0.0.1:0 --store memory \
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

# set_up TRACE - what its cases expect to be there.
set_up() {
    kubectl --kubeconfig "$d/admin.kubeconfig" create --validate=false \
        -f "$vectors/golden/$1-setup.yaml" >"$dir/setup" || { cat "$dir/setup"; exit 1; }
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

# serve_hooks NAME [CLIENT-CA] - the scripted server of webhooks, or of an extension.
serve_hooks() {
    mkdir "$dir/$1"
    python3 "$root/tests/golden/webhooks.py" "$vectors" "$dir/$1" ${2:+"$2"} &
    hooks="$hooks $!"
    tries=0
    until [ -f "$dir/$1/port" ]; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || { echo "the webhook server does not start"; exit 1; }
        sleep 0.1
    done
}

# As whom the server comes to extension servers.
issue_proxy_client() {
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=aggregator \
        -keyout "$dir/aggregator.key" -out "$dir/aggregator.csr" 2>/dev/null &&
        openssl x509 -req -in "$dir/aggregator.csr" -CA "$dir/proxy.crt" -CAkey "$dir/proxy.key" \
            -CAcreateserial -days 2 -out "$dir/aggregator.crt" 2>/dev/null || exit 1
}

# The traces without custom kinds come before those are defined. Those of admission have a server of
# their own, with policies and classes that concern everybody; the defaults of classes come last.
plain= custom= admission= auth= plugin= webhook= aggregation=
for trace in ${GOLDEN_TRACES:-verbs defaults validation updates patch ssa crd admission admission-defaults auth auth-plugin aggregation webhook}; do
    case $trace in
    admission | admission-defaults) admission="$admission $trace" ;;
    auth) auth="$vectors/golden/auth.jsonl" ;;
    webhook) webhook="$vectors/golden/webhook.jsonl" ;;
    aggregation) aggregation="$vectors/golden/aggregation.jsonl" ;;
    auth-plugin) plugin="$vectors/golden/auth-plugin.jsonl" ;;
    verbs | defaults | validation | updates) plain="$plain $vectors/golden/$trace.jsonl" ;;
    *) custom="$custom $vectors/golden/$trace.jsonl" ;;
    esac
done
failed=0
make_keys
echo 'admin-token,admin,admin,"system:masters"' >"$dir/tokens"
start plain --token-auth-file "$dir/tokens"
[ -z "$plain" ] || replay "$@" $plain || failed=1
if [ -n "$custom" ]; then
    set_up crd
    replay "$@" $custom || failed=1
fi
if [ -n "$admission" ]; then
    start admission --token-auth-file "$dir/tokens"
    set_up crd
    for trace in $admission; do
        set_up "$trace"
        replay "$@" "$vectors/golden/$trace.jsonl" || failed=1
    done
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
if [ -n "$aggregation" ]; then
    serve_hooks ext "$dir/proxy.crt"
    issue_proxy_client
    start aggregation --service-cidr 10.0.0.0/16 --token-auth-file "$vectors/golden/auth-tokens.csv" \
        --proxy-client-cert-file "$dir/aggregator.crt" --proxy-client-key-file "$dir/aggregator.key"
    replay --extension "$dir/ext" "$@" "$aggregation" || failed=1
fi
if [ -n "$webhook" ]; then
    serve_hooks hooks
    start webhook --service-cidr 10.0.0.0/16 --token-auth-file "$vectors/golden/auth-tokens.csv" \
        --audit-policy-file "$vectors/golden/auth-audit-policy.yaml" --audit-log-path "$dir/events"
    replay --webhooks "$dir/hooks" --audit-log "$dir/events" "$@" "$webhook" || failed=1
fi
exit $failed
