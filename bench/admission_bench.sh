#!/bin/sh
# admission_bench.sh BUILD [KUBECONFIG] - what admission costs: creates with 0, 1 and 5 validating
# webhooks, with 1 and 5 that could change the object, and with an initializer, each beside the
# creates without any; and what configurations cost those whom they do not concern.
#
# KUBECONFIG leads to any server on this machine; without it one of ours is started. The webhook
# server is our own (hook_server), on loopback. SECONDS_PER_RUN says how long a round takes. Fails
# on nothing but what could not be measured or was not answered as it should be.
set -u
build=$1
sampan=$build/sampan
seconds=${SECONDS_PER_RUN:-3}
work=$(mktemp -d "${TMPDIR:-/tmp}/sampan-admission.XXXXXX")
status=0
hooks=
initializer=
config=${2:-$work/data/admin.kubeconfig}
end() {
    [ -z "$hooks" ] || kill "$hooks" 2>/dev/null
    [ -z "$initializer" ] || kill "$initializer" 2>/dev/null
    for d in off on; do
        [ ! -d "$work/$d" ] || "$sampan" down --data-dir "$work/$d" >/dev/null 2>&1
    done
    [ ! -d "$work/data" ] || "$sampan" down --data-dir "$work/data" >/dev/null 2>&1
    rm -rf "$work"
}
trap end EXIT
k() { kubectl --kubeconfig "$config" "$@" >/dev/null; }
row() { printf '  %-42s %-22s %s\n' "$1" "$2" "${3:-}"; }

start_hooks() {
    port=${HOOK_PORT:-18443}
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
        -subj /CN=hooks -addext subjectAltName=IP:127.0.0.1 -keyout "$work/key" -out "$work/cert" \
        2>/dev/null || exit 1
    "$build/bench/hook_server" "$port" "$work/cert" "$work/key" &
    hooks=$!
    sleep 1
    kill -0 "$hooks" 2>/dev/null || { echo "the webhook server does not start on port $port"; exit 1; }
}

# configure KIND COUNT - that many webhooks for ConfigMaps
configure() {
    printf 'apiVersion: admissionregistration.k8s.io/v1\nkind: %sWebhookConfiguration\nmetadata: {name: bench}\nwebhooks:\n' "$1"
    for i in $(seq "$2"); do
        printf -- '- {name: w%s.bench.test, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: "https://127.0.0.1:%s/%s", caBundle: %s}, rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}\n' \
            "$i" "$port" "$i" "$(base64 -w0 <"$work/cert")"
    done
}

# creates - how many a second
creates() {
    if ! "$build/bench/load" --kubeconfig "$config" --json --seconds "$seconds" create \
        >"$work/out" 2>"$work/err"; then
        echo "  NOT AS IT SHOULD BE: creates" >&2
        sed 's/^/    /' "$work/err" >&2
        return 1
    fi
    sed -n 's/.*"per_second":\([0-9.]*\).*/\1/p' "$work/out" | head -n 1
}

# with KIND COUNT - in turns with none, so that both see the same machine
with() {
    without=$(creates) || { status=1; return; }
    configure "$1" "$2" >"$work/webhooks.yaml"
    k create -f "$work/webhooks.yaml" || { status=1; return; }
    sleep 1 # other servers take a moment to notice
    some=$(creates) || status=1
    k delete -f "$work/webhooks.yaml"
    row "$2 $1" "$some /s" "$(awk "BEGIN { printf \"%.2f of %s /s without\", ${some:-0} / $without, $without }")"
}

# initialized - creates that wait until somebody has cleared their mark, where there are initializers
initialized() {
    without=$(creates) || { status=1; return; }
    printf 'apiVersion: admissionregistration.k8s.io/v1alpha1\nkind: InitializerConfiguration\nmetadata: {name: bench}\ninitializers: [{name: initializer.bench.test, rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps]}]}]\n' >"$work/initializer.yaml"
    "$build/bench/initializer" --kubeconfig "$config" &
    initializer=$!
    k create -f "$work/initializer.yaml" 2>/dev/null || { row "1 initializer" "not served there"; return; }
    some=$(creates) || status=1
    k delete -f "$work/initializer.yaml" 2>/dev/null
    row "1 initializer" "$some /s" "$(awk "BEGIN { printf \"%.2f of %s /s without\", ${some:-0} / $without, $without }")"
}

# cpu NAME - microseconds of the processor that the server of that name took for a create
cpu() {
    pid=$(head -n 1 "$work/$1/sampan.pid")
    before=$(awk '{ print $14 + $15 }' "/proc/$pid/stat")
    config=$work/$1/admin.kubeconfig
    "$build/bench/load" --kubeconfig "$config" --json --count 20000 --rounds 1 create >"$work/out" 2>"$work/err" || return 1
    after=$(awk '{ print $14 + $15 }' "/proc/$pid/stat")
    awk "BEGIN { print ($after - $before) * 1000000 / $(getconf CLK_TCK) / 20000 }"
}

# unconcerned - with all sorts of configurations that are for others, beside a server without plugins;
# by the time of the processor, in turns, as clocks tell little on a busy machine
unconcerned() {
    all=$("$sampan" up --data-dir "$work/none" --disable-admission-plugins=? 2>&1 | sed -n 's/.*there are //p' | tr -d ' ')
    "$sampan" up --api-only --data-dir "$work/off" --listen 127.0.0.1:0 --store memory --api-versions all --disable-admission-plugins="$all" --detach >/dev/null &&
        "$sampan" up --api-only --data-dir "$work/on" --listen 127.0.0.1:0 --store memory --api-versions all --detach >/dev/null || { status=1; return; }
    config=$work/on/admin.kubeconfig
    for kind in Validating Mutating; do configure $kind 5 | sed 's/configmaps/secrets/' >"$work/others.yaml" && k create -f "$work/others.yaml"; done
    sed 's/configmaps/secrets/' "$work/initializer.yaml" >"$work/others.yaml" && k create -f "$work/others.yaml" 2>/dev/null
    printf 'apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: bench}\nspec: {matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [secrets]}]}, validations: [{expression: "true"}]}\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: bench}\nspec: {policyName: bench, validationActions: [Deny]}\n' >"$work/others.yaml" && k create -f "$work/others.yaml"
    : >"$work/off.us" && : >"$work/on.us"
    for _ in 1 2 3 4 5 6 7 8; do
        cpu off >>"$work/off.us" || status=1
        cpu on >>"$work/on.us" || status=1
    done
    mean() { awk '{ sum += $1 } END { print sum / NR }' "$work/$1.us"; }
    off=$(mean off) on=$(mean on)
    row "configurations for others" "$on us of CPU" "$(awk "BEGIN { printf \"%.3f of %s us without any plugin\", $on / $off, $off }")"
}

[ $# -gt 1 ] || "$sampan" up --api-only --data-dir "$work/data" --listen 127.0.0.1:0 --api-versions all --detach >/dev/null ||
    { echo "sampan does not start"; exit 1; }
start_hooks
echo "creates of ConfigMaps through webhooks, 64 in flight"
with Validating 1
with Validating 5
with Mutating 1
with Mutating 5
initialized
[ $# -gt 1 ] || unconcerned
exit $status
