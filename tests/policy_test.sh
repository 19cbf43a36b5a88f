#!/bin/sh
# policy_test.sh SAMPAN [KUBECTL] - admission policies as their users write them: validating ones
# that deny, warn and tell auditors, mutating ones of both sorts, params, the authorizer, and what
# happens to all of it when policies change, fail, cost too much, or the server is killed.
set -u
sampan=$1
kubectl=${2:-kubectl}
. "$(dirname "$0")/common.sh"
command -v "$kubectl" >/dev/null || { skip 'no kubectl'; exit 77; }

field() { k get "$1" -o "jsonpath={$2}"; }
# config NAME [KEY=VALUE...] - makes a ConfigMap.
config() {
    name=$1
    shift
    for pair in "$@"; do set -- "$@" "--from-literal=$pair"; shift; done
    k create configmap "$name" "$@"
}
# policy KIND NAME RESOURCES - the spec beside its rules is read from the standard input.
policy() {
    printf 'apiVersion: admissionregistration.k8s.io/v1\nkind: %s\nmetadata: {name: %s}\nspec:\n' "$1" "$2"
    printf '  matchConstraints:\n    resourceRules:\n    - {apiGroups: ["", apps, example.com], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [%s]}\n' "$3"
    cat
    printf -- '---\n'
}
# binding KIND NAME [SPEC] - of the policy of that name.
binding() {
    printf 'apiVersion: admissionregistration.k8s.io/v1\nkind: %sBinding\nmetadata: {name: %s}\nspec: {policyName: %s%s}\n---\n' \
        "$1" "$2" "$2" "${3:+, $3}"
}
validating() { policy ValidatingAdmissionPolicy "$@"; }
mutating() { policy MutatingAdmissionPolicy "$@"; }
bind() { binding ValidatingAdmissionPolicy "$1" "validationActions: [${2:-Deny}]${3:+, $3}"; }
bind_mutating() { binding MutatingAdmissionPolicy "$@"; }
put() { k apply -f - >"$dir/put" || cat "$dir/put"; }
# forget NAME - a policy and its binding.
forget() {
    k delete validatingadmissionpolicybinding,validatingadmissionpolicy,mutatingadmissionpolicybinding,mutatingadmissionpolicy "$1" \
        --ignore-not-found >/dev/null
}
denied() { printf "configmaps \"%s\" is forbidden: ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s" "$1" "$2" "$2" "$3"; }

deny() {
    { validating deny configmaps <<'EOF'; bind deny; } | put
  validations:
  - {expression: "!has(object.data) || !('a' in object.data) || object.data.a != 'bad'", message: a must not be bad}
  - {expression: "!('b' in object.?data.orValue({})) || int(object.data.b) < 10", messageExpression: "'b is ' + object.data.b", reason: Forbidden}
EOF
    has 'a policy denies' "$(denied c deny 'a must not be bad')" "$(config c a=bad)"
    has 'its message is made' "$(denied c deny 'b is 12')" "$(config c b=12)"
    check 'what is good passes' 'configmap/c created' "$(config c a=good b=9)"
    has 'a patch' "with binding 'deny' denied request: a must not be bad" "$(k patch cm c --type=merge -p '{"data":{"a":"bad"}}')"
    has 'an apply' "$(denied c deny 'b is 99')" "$(printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {b: "99"}' | k apply --server-side --force-conflicts -f -)"
    has 'a dry run' "$(denied d deny 'a must not be bad')" "$(k create cm d --from-literal=a=bad --dry-run=server)"
    has 'an expression that fails' "resulted in error: type conversion error from 'string' to 'int'" "$(config d b=x)"
    check 'nothing was written' 'good 9' "$(field cm/c .data.a) $(field cm/c .data.b)"
    send='{"metadata":{"name":"d"},"data":{"a":"bad"}}'
    check 'an invalid one is 422' 422 "$(code admin -H 'Content-Type: application/json' -d "$send" "$server/api/v1/namespaces/default/configmaps")"
    check 'a forbidden one 403' 403 "$(code admin -H 'Content-Type: application/json' -d '{"metadata":{"name":"d"},"data":{"b":"11"}}' "$server/api/v1/namespaces/default/configmaps")"
    k delete cm c >/dev/null
}

# Older versions of the API say the same.
versions() {
    for v in v1beta1 v1alpha1; do
        admin "$server/apis/admissionregistration.k8s.io/$v" | grep -q '"validatingadmissionpolicies"' ||
            { skip "$v is not served"; continue; }
        { validating "by-$v" configmaps <<'EOF'; bind "by-$v"; } | sed "s,k8s.io/v1\$,k8s.io/$v," | put
  validations: [{expression: "object.metadata.name != 'old'", message: old}]
EOF
        has "a policy of $v" "$(denied old "by-$v" old)" "$(config old)"
        forget "by-$v"
    done
}

# Whoever has written a policy need not wait.
changes() {
    for round in 1 2 3; do
        k patch validatingadmissionpolicy deny --type=json \
            -p "[{\"op\":\"replace\",\"path\":\"/spec/validations/0/expression\",\"value\":\"object.metadata.name != 'r$round'\"}]" >/dev/null
        has "changed policy $round" 'a must not be bad' "$(config "r$round")"
        k delete validatingadmissionpolicybinding deny >/dev/null
        check "unbound $round" "configmap/r$round created" "$(config "r$round")"
        bind deny | put
        has "bound again $round" 'a must not be bad' "$(k label cm "r$round" x=y)"
    done
    forget deny
    check 'without policy' 'configmap/r1 labeled' "$(k label cm r1 x=y)"
    k delete cm r1 r2 r3 >/dev/null
}

# created NAME - the event of that; it is written a moment after the answer.
created() {
    for _ in $(seq 200); do
        grep "\"name\":\"$1\"" "$dir/audit.log" | grep '"verb":"create"' && return
        sleep 0.05
    done
}

warn_and_audit() {
    { validating say configmaps <<'EOF'; bind say 'Warn, Audit'; } | put
  validations:
  - {expression: "object.metadata.name != 'w'", message: not w}
  auditAnnotations:
  - {key: name, valueExpression: "object.metadata.name + '!'"}
EOF
    said=$(config w)
    has 'a warning' "Warning: Validation failed for ValidatingAdmissionPolicy 'say' with binding 'say': not w" "$said"
    has 'is no refusal' 'configmap/w created' "$said"
    event=$(created w)
    has 'auditors hear of it' 'validation.policy.admission.k8s.io/validation_failure":"[{\"message\":\"not w\",\"policy\":\"say\",\"binding\":\"say\",\"expressionIndex\":0,\"validationActions\":[\"Warn\",\"Audit\"]}]' "$event"
    has 'and of more' '"say/name":"w!"' "$event"
    config v >/dev/null
    event=$(created v)
    has 'of what is good they hear' '"say/name":"v!"' "$event"
    check 'less' '' "$(echo "$event" | grep validation_failure)"
    forget say
    k delete cm w v >/dev/null
}

params() {
    k apply -f - >/dev/null <<'EOF'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: limits.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {plural: limits, kind: Limit}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {max: {type: integer}}}}}
EOF
    { validating by-map secrets <<'EOF'; bind by-map Deny 'paramRef: {name: prefixes, parameterNotFoundAction: Deny}'; } | put
  paramKind: {apiVersion: v1, kind: ConfigMap}
  validations:
  - {expression: "object.metadata.name.startsWith(params.data.prefix)", messageExpression: "'not ' + params.data.prefix"}
EOF
    { validating by-kind secrets <<'EOF'; bind by-kind Deny 'paramRef: {selector: {matchLabels: {use: "yes"}}, parameterNotFoundAction: Allow}'; } | put
  paramKind: {apiVersion: example.com/v1, kind: Limit}
  validations:
  - {expression: "object.?data.orValue({}).size() <= params.max", messageExpression: "'more than ' + params.metadata.name"}
EOF
    has 'params that are missing' 'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction' "$(k create secret generic s)"
    config prefixes prefix=ok- >/dev/null
    has 'params of a ConfigMap' "'by-map' denied request: not ok-" "$(k create secret generic s)"
    check 'that allow it' 'secret/ok-s created' "$(k create secret generic ok-s --from-literal=a=1 --from-literal=b=2)"
    printf 'apiVersion: example.com/v1\nkind: Limit\nmetadata: {name: %s, labels: {use: "%s"}}\nmax: %s\n---\n' one yes 1 five yes 5 none no 0 | k create -f - >/dev/null
    has 'params of a custom kind' "'by-kind' denied request: more than one" "$(k create secret generic ok-t --from-literal=a=1 --from-literal=b=2)"
    k patch limit one --type=merge -p '{"max":2}' >/dev/null
    check 'that have changed' 'secret/ok-t created' "$(k create secret generic ok-t --from-literal=a=1 --from-literal=b=2)"
    k delete crd limits.example.com >/dev/null
    has 'of a kind that is gone' "ValidatingAdmissionPolicy 'by-kind' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Limit'" \
        "$(k create secret generic ok-u)"
    forget by-map
    forget by-kind
    k delete cm prefixes >/dev/null
    k delete secret ok-s ok-t >/dev/null
}

who_and_where() {
    k create ns gold >/dev/null
    k label ns gold tier=gold >/dev/null
    k create clusterrole maps --verb=create,get --resource=configmaps >/dev/null
    k create clusterrolebinding maps --clusterrole=maps --user=ann >/dev/null
    { validating who configmaps <<'EOF'; bind who; } | put
  variables:
  - {name: tier, expression: "namespaceObject.metadata.?labels[?'tier'].orValue('tin')"}
  validations:
  - {expression: "variables.tier != 'gold' || authorizer.group('').resource('secrets').namespace(request.namespace).check('get').allowed()", messageExpression: "request.userInfo.username + ' may not see secrets of ' + variables.tier"}
  - {expression: "authorizer.requestResource.check('create').allowed() && !authorizer.path('/metrics').check('post').allowed() || request.userInfo.username == 'admin'"}
EOF
    { validating account secrets <<'EOF'; bind account; } | put
  validations:
  - {expression: "authorizer.serviceAccount('default', object.metadata.name).group('').resource('configmaps').namespace('default').check('get').allowed()", messageExpression: "'no rights: ' + object.metadata.name"}
EOF
    has 'an account without rights' 'no rights: reader' "$(k create secret generic reader)"
    k create clusterrolebinding reader --clusterrole=maps --serviceaccount=default:reader >/dev/null
    check 'an account with them' 'secret/reader created' "$(k create secret generic reader)"
    forget account
    has 'who may not' 'ann may not see secrets of gold' "$(k -n gold create cm c --as=ann)"
    check 'who may' 'configmap/c created' "$(k -n gold create cm c)"
    check 'elsewhere' 'configmap/c created' "$(k create cm c --as=ann)"
    forget who
    k delete cm c >/dev/null
}

# Nobody learns by a policy what he may not read.
rights() {
    k create clusterrole policies --verb='*' --resource=validatingadmissionpolicies.admissionregistration.k8s.io,validatingadmissionpolicybindings.admissionregistration.k8s.io >/dev/null
    k create clusterrolebinding policies --clusterrole=policies --user=ann >/dev/null
    validating nosy configmaps >"$dir/nosy.yaml" <<'EOF'
  paramKind: {apiVersion: v1, kind: Secret}
  validations: [{expression: "false", messageExpression: "string(params.data)"}]
EOF
    bind nosy Deny 'paramRef: {name: s, namespace: default, parameterNotFoundAction: Deny}' >"$dir/nosy-binding.yaml"
    has 'a kind that one may not read' 'spec.paramKind: Forbidden: user &{ann  [system:authenticated] map[]} must have "get" permission on all objects of the referenced paramKind (kind=Secret, apiVersion=v1)' \
        "$(k create --as=ann -f "$dir/nosy.yaml")"
    k create -f "$dir/nosy.yaml" >/dev/null
    has 'an object that one may not read' 'spec.paramRef: Forbidden: user &{ann  [system:authenticated] map[]} does not have "get" permission on the object referenced by paramRef' \
        "$(k create --as=ann -f "$dir/nosy-binding.yaml")"
    k create role s --verb=get --resource=secrets --resource-name=s >/dev/null
    k create rolebinding s --role=s --user=ann >/dev/null
    has 'one that one may' 'nosy created' "$(k create --as=ann -f "$dir/nosy-binding.yaml")"
    forget nosy
}

mutations() {
    { mutating label 'configmaps, deployments' <<'EOF'; bind_mutating label; } | put
  failurePolicy: Fail
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'by': request.userInfo.username}}}"}
EOF
    { mutating sidecar deployments <<'EOF'; bind_mutating sidecar; } | put
  failurePolicy: Fail
  reinvocationPolicy: IfNeeded
  matchConditions:
  - {name: once, expression: "!object.spec.template.spec.containers.exists(c, c.name == 'side')"}
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: "[JSONPatch{op: 'add', path: '/spec/template/spec/containers/-', value: Object.spec.template.spec.containers{name: 'side', image: 'side:1'}},
        JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('example.com/side'), value: 'yes'}]"
EOF
    config c a=1 >/dev/null
    check 'a configuration is applied' admin "$(field cm/c .metadata.labels.by)"
    k label cm c by- >/dev/null
    check 'again with each write' admin "$(field cm/c .metadata.labels.by)"
    k create deployment web --image=web:1 >/dev/null
    check 'a patch is done' 'web side' "$(field deployment/web '.spec.template.spec.containers[*].name')"
    check 'what it brings has defaults' 'IfNotPresent' "$(field deployment/web '.spec.template.spec.containers[1].imagePullPolicy')"
    check 'both policies' 'admin yes' "$(field deployment/web .metadata.labels.by) $(field deployment/web '.metadata.labels.example\.com/side')"
    k set image deployment/web web=web:2 >/dev/null
    check 'once is enough' 'web side' "$(field deployment/web '.spec.template.spec.containers[*].name')"
    check 'a dry run shows it' admin "$(k create cm d --dry-run=server -o 'jsonpath={.metadata.labels.by}')"
    k patch mutatingadmissionpolicy label --type=json -p '[{"op":"replace","path":"/spec/mutations/0/applyConfiguration/expression","value":"Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {\"a\": \"b\"}}}}"}]' >/dev/null
    has 'what is atomic stays whole' "policy 'label' with binding 'label' denied request: error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.selector" \
        "$(k create deployment other --image=x:1)"
    has 'fields that are not there' '.spec: field not declared in schema' "$(config e)"
    k patch mutatingadmissionpolicy label --type=merge -p '{"spec":{"failurePolicy":"Ignore"}}' >/dev/null
    check 'a failure that is ignored' 'configmap/e created' "$(config e)"
    forget label
    forget sidecar
    k delete cm c e >/dev/null
    k delete deployment web >/dev/null
}

# Loops over loops, and variables that need each other: they end, soon, and others are served.
costs() {
    ten='[0,1,2,3,4,5,6,7,8,9]'
    loop="$ten.all(a, $ten.all(b, $ten.all(c, $ten.all(d, $ten.all(e, $ten.all(f, $ten.all(g, a+b+c+d+e+f+g >= 0)))))))"
    { validating cost configmaps <<EOF; bind cost; } | put
  validations:
  - {expression: "$loop", message: never}
EOF
    has 'one expression' 'resulted in error: operation cancelled: actual cost limit exceeded' "$(config c)"
    { printf '  validations:\n'; for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do printf '  - {expression: "%s"}\n' "$loop"; done; } |
        validating cost configmaps | put
    has 'all of a policy' 'validation failed due to running out of cost budget, no further validation rules will be run' "$(config c)"
    { printf '  variables:\n  - {name: v0, expression: "1"}\n'; i=0
        while [ $i -lt 3000 ]; do printf '  - {name: v%s, expression: "variables.v%s"}\n' $((i + 1)) $i; i=$((i + 1)); done
        printf '  validations:\n  - {expression: "variables.v%s == 1"}\n' $i; } | validating cost configmaps | put
    has 'variables that need each other' 'actual cost limit exceeded' "$(config c)"
    k patch validatingadmissionpolicy cost --type=merge -p '{"spec":{"failurePolicy":"Ignore"}}' >/dev/null
    check 'or are ignored' 'configmap/c created' "$(config c)"
    forget cost
    k delete cm c >/dev/null
}

types() {
    validating types deployments <<'EOF' | put
  validations:
  - {expression: "object.spec.replicas < 'x'", message: never}
EOF
    has 'types are checked' "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_<_' applied to '(int, string)'" \
        "$(field validatingadmissionpolicy/types '.status.typeChecking.expressionWarnings[0].warning')"
    check 'of this generation' 1 "$(field validatingadmissionpolicy/types .status.observedGeneration)"
    k patch validatingadmissionpolicy types --type=json -p '[{"op":"replace","path":"/spec/validations/0/expression","value":"object.spec.replicas < 9"}]' >/dev/null
    check 'and of the next' '2 ' "$(field validatingadmissionpolicy/types .status.observedGeneration) $(field validatingadmissionpolicy/types .status.typeChecking.expressionWarnings)"
    # Many who write one policy: each write is followed by one of the status, and nobody waits for himself.
    for i in $(seq 60); do
        echo "{\"spec\":{\"validations\":[{\"expression\":\"object.spec.replicas < $i\"}]}}" >"$dir/many.$i"
    done
    codes=$(seq 60 | xargs -P 20 -I '{}' curl -sS --max-time 60 --cacert "$dir/ca.crt" --cert "$dir/admin.crt" --key "$dir/admin.key" \
        -X PATCH -H 'Content-Type: application/merge-patch+json' -d "@$dir/many.{}" -o /dev/null -w '%{http_code}\n' \
        "$server/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/types" | sort -u)
    check 'many who write it' 200 "$codes"
    check 'the last one was checked' "$(field validatingadmissionpolicy/types .metadata.generation)" \
        "$(field validatingadmissionpolicy/types .status.observedGeneration)"
    forget types
}

# Policies are asked about webhooks, but not about policies; and in a collection about each object.
reach() {
    { validating closed '"*"' <<'EOF'; bind closed; } | sed 's/\["", apps, example.com\]/["*"]/; s/CREATE, UPDATE/"*"/' | put
  matchConditions: [{name: marked, expression: "(object == null ? oldObject : object).metadata.name.startsWith('x')"}]
  validations: [{expression: "false", message: closed}]
EOF
    has 'webhooks' 'denied request: closed' "$(printf 'apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: x}\n' | k create -f -)"
    check 'policies' 'validatingadmissionpolicybinding.admissionregistration.k8s.io/x created' \
        "$(binding ValidatingAdmissionPolicy x 'validationActions: [Warn]' | k create -f -)"
    k patch validatingadmissionpolicybinding closed --type=merge -p '{"spec":{"validationActions":["Warn"]}}' >/dev/null
    config xa >/dev/null
    config xb >/dev/null
    has 'of a collection, too' 'Validation failed' "$(admin -i -X DELETE "$server/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name=xa" | grep -i '^warning:')"
    k delete validatingadmissionpolicybinding x >/dev/null
    forget closed
    k delete cm xb >/dev/null
}

# A collection goes in order until one of it is kept.
collections() {
    { validating keep configmaps <<'EOF'; bind keep; } | sed 's/CREATE, UPDATE/DELETE/' | put
  validations: [{expression: "oldObject.metadata.name != 'kb'", message: kept}]
EOF
    for name in ka kb kc kd; do
        config $name >/dev/null
        k label cm $name set=k >/dev/null
    done
    has 'one of a collection is kept' 'denied request: kept' \
        "$(admin -X DELETE "$server/api/v1/namespaces/default/configmaps?labelSelector=set%3Dk")"
    check 'what comes after it stays' 'kb kc kd' "$(k get cm -l set=k -o 'jsonpath={.items[*].metadata.name}')"
    forget keep
    k delete cm -l set=k >/dev/null
}

# Killed and started again, it goes by the same policies from the first request on.
killed() {
    { validating kept configmaps <<'EOF'; bind kept; } | put
  validations: [{expression: "object.metadata.name != 'c'", message: kept}]
EOF
    pid=$(head -n 1 "$dir/a/sampan.pid")
    kill -9 "$pid"
    for _ in $(seq 200); do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.05
    done
    up $flags >/dev/null || give_up
    connect
    has 'after a kill' "$(denied c kept kept)" "$(config c)"
    forget kept
    check 'and without it' 'configmap/c created' "$(config c)"
}

printf 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata, resources: [{resources: [configmaps]}]}]\n' >"$dir/audit.yaml"
flags="--api-versions all --audit-policy-file $dir/audit.yaml --audit-log-path $dir/audit.log --audit-log-mode blocking"
# shellcheck disable=SC2086
serve $flags
deny
versions
changes
warn_and_audit
params
who_and_where
rights
mutations
costs
types
reach
collections
killed
finish
