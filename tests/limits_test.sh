#!/bin/sh
# limits_test.sh SAMPAN - what a namespace asks of its pods and claims: limit ranges, and the levels of
# Pod Security, with kubectl.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"

# pod NAMESPACE NAME SPEC - creates one; SPEC is added to that of a pod with the container c.
pod() {
    printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s"},"spec":{%s}}' "$2" "$3" >"$dir/pod"
    k -n "$1" create -f "$dir/pod"
}
c() { printf '"containers":[{"name":"c","image":"i"%s}]' "${1:+,$1}"; }

cat >"$dir/security.yaml" <<EOF
apiVersion: pod-security.admission.config.k8s.io/v1
kind: PodSecurityConfiguration
defaults: {warn: baseline}
exemptions: {namespaces: [exempt], usernames: [trusted], runtimeClasses: [kata]}
EOF
cat >"$dir/admission.yaml" <<EOF
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins: [{name: PodSecurity, path: security.yaml}]
EOF
sed 's/baseline/basic/' "$dir/security.yaml" >"$dir/wrong.yaml"
sed 's/security.yaml/wrong.yaml/' "$dir/admission.yaml" >"$dir/bad.yaml"
has 'a level that is none' 'defaults.warn: Invalid value: "basic": must be one of privileged, baseline, restricted' \
    "$(up --admission-control-config-file "$dir/bad.yaml" >/dev/null 2>&1; sed 's/\\"/"/g' "$dir/a/sampan.log")"
up --admission-control-config-file "$dir/admission.yaml" >/dev/null || exit 1
connect

# ---- Limit ranges ----
k create namespace ranges >/dev/null
k -n ranges create -f - >/dev/null <<EOF
apiVersion: v1
kind: LimitRange
metadata: {name: r}
spec:
  limits:
  - {type: Container, default: {cpu: 500m, memory: 128Mi}, defaultRequest: {cpu: 100m}, max: {cpu: "1"}}
  - {type: Pod, max: {cpu: "1500m"}}
  - {type: PersistentVolumeClaim, max: {storage: 5Gi}}
EOF
has 'a pod that says nothing' created "$(pod ranges plain "$(c)")"
check 'gets what the range says' '{"limits":{"cpu":"500m","memory":"128Mi"},"requests":{"cpu":"100m","memory":"128Mi"}}' \
    "$(k -n ranges get pod plain -o 'jsonpath={.spec.containers[0].resources}')"
check 'and it is noted' 'LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c' \
    "$(k -n ranges get pod plain -o 'jsonpath={.metadata.annotations.kubernetes\.io/limit-ranger}')"
has 'a container that is too large' 'maximum cpu usage per Container is 1, but limit is 2' \
    "$(pod ranges large "$(c '"resources":{"limits":{"cpu":"2"}}')")"
has 'a pod that is too large' 'pods "three" is forbidden: maximum cpu usage per Pod is 1500m, but limit is 2' \
    "$(pod ranges three '"containers":[{"name":"a","image":"i","resources":{"limits":{"cpu":"1"}}},{"name":"b","image":"i","resources":{"limits":{"cpu":"1"}}}]')"
has 'a claim that is too large' 'maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi' \
    "$(printf 'apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: v}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 6Gi}}}\n' |
        k -n ranges create -f -)"
has 'a resize is looked at' 'maximum cpu usage per Container is 1, but limit is 3' \
    "$(k -n ranges patch pod plain --subresource resize -p '{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"3"}}}]}}')"

# ---- Pod Security ----
k create namespace secure >/dev/null
has 'without labels pods are only warned of' 'would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)' \
    "$(pod secure loose "\"hostPID\":true,$(c)")"
k -n secure run other --image=i >/dev/null
out=$(k label namespace secure pod-security.kubernetes.io/enforce=restricted)
has 'a stricter label tells of pods that are there' \
    'existing pods in namespace "secure" violate the new PodSecurity enforce level "restricted:latest"' "$out"
has 'by name' 'loose: host namespaces, allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile' "$out"
has 'a pod is refused' 'pods "p" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false)' \
    "$(pod secure p "$(c)")"
good='"securityContext":{"allowPrivilegeEscalation":false,"runAsNonRoot":true,"capabilities":{"drop":["ALL"]},"seccompProfile":{"type":"RuntimeDefault"}}'
has 'a good one is not' created "$(pod secure good "$(c "$good")")"
has 'a debugger must be secure, too' 'violates PodSecurity "restricted:latest"' \
    "$(k -n secure debug good --image=i --container=d --profile=general -q)"
out=$(k -n secure create deployment d --image=i)
has 'a deployment is only warned of' 'would violate PodSecurity "restricted:latest"' "$out"
has 'and made' 'deployment.apps/d created' "$out"
k label namespace secure --overwrite pod-security.kubernetes.io/enforce-version=v1.7 >/dev/null
has 'an old version asks for less' 'violates PodSecurity "restricted:v1.7": runAsNonRoot != true' \
    "$(pod secure p "$(c)")"
has 'a label that is none' 'must be one of privileged, baseline, restricted' \
    "$(k label namespace secure --overwrite pod-security.kubernetes.io/audit=strict)"

# Exemptions.
has 'an exempt namespace' 'namespace "exempt" is exempt from Pod Security, and the policy (enforce=restricted:latest) will be ignored' \
    "$(printf 'apiVersion: v1\nkind: Namespace\nmetadata: {name: exempt, labels: {pod-security.kubernetes.io/enforce: restricted}}\n' | k create -f -)"
check 'lets everything in' 'pod/loose created' "$(pod exempt loose "\"hostPID\":true,$(c)")"
printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"by-user"},"spec":{%s}}' "$(c)" >"$dir/pod"
has 'an exempt user' 'created' "$(k -n secure create -f "$dir/pod" --as trusted --as-group system:masters)"
finish
