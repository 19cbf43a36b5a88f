#!/bin/sh
# policy_bench.sh BUILD [KUBECONFIG] - what admission policies cost those who create objects: with
# none, with validating ones and with a mutating one, in rounds that alternate, on the same server.
#
# The server is the one that KUBECONFIG leads to, which may be any, or a sampan of its own. ROUNDS
# and SECONDS_PER_RUN say how long. Policies are named policy-bench-*, are for ConfigMaps alone,
# and are deleted afterwards. Fails on nothing but what could not be measured.
set -u
build=$1
config=${2:-}
rounds=${ROUNDS:-3}
seconds=${SECONDS_PER_RUN:-3}
work=$(mktemp -d "${TMPDIR:-/tmp}/sampan-policy.XXXXXX")
k() { kubectl --kubeconfig "$config" --cache-dir "$work/cache" "$@"; }
all=validatingadmissionpolicies,validatingadmissionpolicybindings,mutatingadmissionpolicies,mutatingadmissionpolicybindings
clear_policies() { k delete "$all" -l bench=policy >/dev/null 2>&1; }
end() {
    clear_policies
    [ -n "${2:-}" ] || "$build/sampan" down --data-dir "$work/data" >/dev/null 2>&1
    rm -rf "$work"
}
trap 'end "$@"' EXIT
if [ -z "$config" ]; then
    "$build/sampan" up --api-only --data-dir "$work/data" --listen 127.0.0.1:0 --detach >/dev/null ||
        { echo "sampan does not start"; exit 1; }
    config=$work/data/admin.kubeconfig
fi

# policy KIND NUMBER - with its binding; the rest of the spec is read from the standard input.
policy() {
    action=
    [ "$1" = ValidatingAdmissionPolicy ] && action=', validationActions: [Deny]'
    cat <<EOF
apiVersion: admissionregistration.k8s.io/v1
kind: $1
metadata: {name: policy-bench-$2, labels: {bench: policy}}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}
$(cat)
---
apiVersion: admissionregistration.k8s.io/v1
kind: ${1}Binding
metadata: {name: policy-bench-$2, labels: {bench: policy}}
spec: {policyName: policy-bench-$2$action}
---
EOF
}
validating() {
    policy ValidatingAdmissionPolicy "$1" <<'EOF'
  variables:
  - {name: size, expression: "object.?data.orValue({}).size()"}
  validations:
  - {expression: "variables.size < 1000", message: too many}
  - {expression: "object.metadata.name.matches('^[a-z0-9.-]+$')", messageExpression: "'odd name ' + object.metadata.name"}
  - {expression: "object.metadata.?labels.orValue({}).all(key, key != 'policy-bench-probe')", message: a probe}
EOF
}
mutating() {
    policy MutatingAdmissionPolicy "$1" <<'EOF'
  failurePolicy: Fail
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'seen-by': request.operation}}}"}
EOF
}

# in_force CASE - whether what a probe meets is what the case has; some servers take a moment.
probe() {
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: probe, labels: {policy-bench-probe: a}}\n' |
        k create --dry-run=server -o yaml -f - 2>&1
}
in_force() {
    for _ in $(seq 100); do
        case $1:$(probe) in
        none:*seen-by* | none:*'a probe'*) ;;
        none:* | validating*:*'a probe'* | mutating:*seen-by*) return 0 ;;
        esac
        sleep 0.2
    done
    echo "the policies of $1 are not in force"
    exit 1
}
put() {
    clear_policies
    case $1 in
    validating) validating 1 ;;
    validating-5) for i in 1 2 3 4 5; do validating "$i"; done ;;
    mutating) mutating 1 ;;
    none) printf '' ;;
    esac >"$work/policies"
    [ -s "$work/policies" ] && { k create -f "$work/policies" >/dev/null || exit 1; }
    in_force "$1"
}

cases='none validating validating-5 mutating'
for round in $(seq "$rounds"); do
    for case in $cases; do
        put "$case"
        "$build/bench/load" --kubeconfig "$config" --json --seconds "$seconds" create \
            >"$work/out" 2>"$work/err" || { cat "$work/err"; exit 1; }
        sed -n 's/.*"per_second":\([0-9.]*\).*/\1/p' "$work/out" >>"$work/$case"
    done
done
mean() { awk '{ sum += $1 } END { printf "%.0f", sum / NR }' "$work/$1"; }
none=$(mean none)
echo "creates of ConfigMaps, 64 in flight, $rounds rounds of $seconds s each"
for case in $cases; do
    case $case in
    none) name='no policy' ;;
    validating) name='a validating policy of 3 expressions' ;;
    validating-5) name='5 of those' ;;
    mutating) name='a mutating policy' ;;
    esac
    rate=$(mean "$case")
    printf '  %-40s %8s /s   %s of none\n' "$name" "$rate" "$(awk "BEGIN { printf \"%.2f\", $rate / $none }")"
done
