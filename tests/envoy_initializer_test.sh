#!/bin/sh
# envoy_initializer_test.sh SAMPAN ENVOY-INITIALIZER [EXAMPLES] - the classic demonstration of
# initializers from end to end, with kubectl: the manifests that every text uses, two initializers
# and a user at work on one pod, conflicts, and a program that is killed in between.
set -u
sampan=$1
initializer=$2
examples=${3:-$(dirname "$0")/../../shared/examples}
. "$(dirname "$0")/common.sh"
for file in configmap configuration; do
    [ -f "$examples/envoy-initializer-$file.yaml" ] || { skip "no envoy-initializer-$file.yaml in $examples"; exit 77; }
done
needs kubectl
running=
at_end='kill $running 2>/dev/null'

field() { k get "$1" -o "jsonpath={$2}"; }
containers() { field "$1" '.spec.containers[*].name'; }
pending() { field "$1" '.metadata.initializers.pending[*].name'; }
# start [FLAG...] - the program; its id is $pid.
start() {
    "$initializer" --kubeconfig "$dir/a/admin.kubeconfig" "$@" 2>>"$dir/log" &
    pid=$!
    running="$running $pid"
}
end() { # SIGNAL
    kill "-$1" "$pid"
    wait "$pid" 2>/dev/null
}
# pod NAME [CONTAINER [LINE-OF-METADATA]]
pod() {
    printf 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\n  %s\nspec: {containers: [{name: %s, image: "i:1"}]}\n' \
        "$1" "${3:-labels: {\}}" "${2:-own}"
}
create() { k create -f - | grep -v ^Warning; }
# waiting NAME - creates a pod that nobody waits for.
waiting() {
    pod "$@" | k create --dry-run=client -o json -f - >"$dir/pod.json"
    admin -H 'Content-Type: application/json' "$server/api/v1/namespaces/default/pods?includeUninitialized=true" \
        -d "@$dir/pod.json" -o "$dir/created" -w '%{http_code}'
}
# other NAME INITIALIZER CONTAINER - one more initializer, with a ConfigMap of its own.
other() {
    printf 'containers: [{name: %s, image: "i:2"}]\n' "$3" >"$dir/$1.config"
    k create configmap "$1" --from-file=config="$dir/$1.config" >/dev/null
    printf 'apiVersion: admissionregistration.k8s.io/v1alpha1\nkind: InitializerConfiguration\nmetadata: {name: z-%s}\ninitializers:\n- name: %s\n  rules: [{apiGroups: [""], apiVersions: [v1], resources: [pods]}]\n' \
        "$1" "$2" | create >/dev/null
}
is_initialized() { [ -n "$(field "$1" .metadata.name)" ] && [ -z "$(pending "$1")" ]; }

demonstration() {
    check 'the ConfigMap' 'configmap/envoy-initializer created' \
        "$(k apply -f "$examples/envoy-initializer-configmap.yaml" | grep -v ^Warning)"
    start
    check 'the configuration' 'initializerconfiguration.admissionregistration.k8s.io/envoy-config created' \
        "$(k apply -f "$examples/envoy-initializer-configuration.yaml" | grep -v ^Warning)"
    if [ -f "$examples/myapp-pod.yaml" ]; then
        check 'the pod' 'pod/myapp-pod created' "$(k create -f "$examples/myapp-pod.yaml")"
    else
        pod myapp-pod myapp-container | create >/dev/null
    fi
    check 'has two containers' 'myapp-container envoy' "$(containers pod/myapp-pod)"
    check 'and the volume' envoy-conf "$(field pod/myapp-pod '.spec.volumes[*].name')"
    check 'as the ConfigMap says it' '/etc/envoy 80 1' \
        "$(field pod/myapp-pod '.spec.containers[1].volumeMounts[0].mountPath') $(field pod/myapp-pod '.spec.containers[1].ports[0].containerPort') $(field pod/myapp-pod '.spec.containers[1].resources.limits.cpu')"
    check 'it waits for nobody' '' "$(field pod/myapp-pod .metadata.initializers)"
    said() { k get events --field-selector involvedObject.name=myapp-pod | grep -q SidecarAdded; }
    waits said
    check 'kubectl apply' 'pod/applied created' "$(pod applied | k apply -f - | grep -v ^Warning)"
    check 'does the same' 'own envoy' "$(containers pod/applied)"
}

conflicts() {
    said=$(pod taken envoy | create)
    has 'a container of that name' 'Error from server (Conflict)' "$said"
    has 'makes the create fail' '"envoy" cannot be added to containers: there is one already' "$said"
    has 'and nothing is there' 'pods "taken" not found' "$(k get pod taken)"
    told() { k get events --field-selector involvedObject.name=taken | grep -q 'SidecarConflict.*there is one already'; }
    waits told
    check 'an Event says why' 1 "$(k get events --field-selector involvedObject.name=taken | grep -c SidecarConflict)"
    said=$(pod hidden | sed 's/^spec: {/&initContainers: [{name: envoy, image: "i:1"}], /' | create)
    has 'what the server finds invalid fails, too' 'Duplicate value: "envoy"' "$said"
    has 'without a trace' 'pods "hidden" not found' "$(k get pod hidden)"
    volume='volumes: [{name: envoy-conf, emptyDir: {}}], '
    has 'a volume of that name' '"envoy-conf" cannot be added to volumes' "$(pod taken | sed "s/^spec: {/&$volume/" | create)"
}

# The program dies; what is created meanwhile waits, and is finished by the next one.
killed() {
    end KILL
    check 'nobody is there' 202 "$(waiting orphan)"
    check 'it waits' envoy.initializer.kubernetes.io "$(pending pod/orphan)"
    check 'without a sidecar' own "$(containers pod/orphan)"
    has 'unseen' 'No resources found' "$(k get pods --field-selector metadata.name=orphan)"
    pod late | create >"$dir/late" &
    late=$!
    late_is_stored() { [ "$(pending pod/late)" = envoy.initializer.kubernetes.io ]; }
    waits late_is_stored
    start
    waits is_initialized pod/orphan
    check 'the next one finishes it' 'own envoy' "$(containers pod/orphan)"
    wait $late
    check 'and who waits is answered' 'pod/late created' "$(cat "$dir/late")"
    check 'with the whole of it' 'own envoy' "$(containers pod/late)"
    # A program that dies again and again loses nothing and does nothing twice.
    for n in 1 2 3 4 5; do
        waiting "again-$n" >/dev/null
        end KILL
        start
    done
    for n in 1 2 3 4 5; do
        waits is_initialized "pod/again-$n"
        check "killed $n times" 'own envoy' "$(containers "pod/again-$n")"
    done
}

# Two initializers and a user change the same pods at the same time; each finds what he did.
together() {
    envoy=$pid
    other second second.example.com helper
    start --initializer-name second.example.com --configmap second
    second=$pid
    n=0
    while [ $n -lt 10 ]; do
        waiting "busy-$n" >/dev/null
        (for m in 1 2 3 4; do k label pod "busy-$n" "m$m=yes" >/dev/null; done) &
        n=$((n + 1))
        users="${users:-} $!"
    done
    wait $users
    good=0 n=0
    while [ $n -lt 10 ]; do
        waits is_initialized "pod/busy-$n"
        now="$(containers "pod/busy-$n") $(field "pod/busy-$n" '.metadata.labels.m1')$(field "pod/busy-$n" '.metadata.labels.m4')"
        if [ "$now" = 'own envoy helper yesyes' ]; then good=$((good + 1)); else echo "  busy-$n: $now"; fi
        n=$((n + 1))
    done
    check 'nobody undoes what others did' 10 $good
    check 'in order' 'pod/both created' "$(pod both | create)"
    check 'one after the other' 'own envoy helper' "$(containers pod/both)"
    # The one that is not first leaves the object alone.
    kill -KILL "$envoy"
    wait "$envoy" 2>/dev/null
    waiting held >/dev/null
    pod held2 | create >/dev/null &
    held=$!
    held_is_stored() { [ "$(pending pod/held2)" = 'envoy.initializer.kubernetes.io second.example.com' ]; }
    waits held_is_stored
    check 'each waits for his turn' own "$(containers pod/held)"
    start
    wait $held
    check 'then all goes on' 'own envoy helper' "$(containers pod/held2)"
    waits is_initialized pod/held
    kill "$second"
    wait "$second" 2>/dev/null
    k delete initializerconfiguration z-second >/dev/null
}

annotated() {
    end TERM
    start --require-annotation
    check 'without the annotation' 'pod/plain created' "$(pod plain | create)"
    check 'a pod stays as it is' own "$(containers pod/plain)"
    check 'with it' 'pod/marked created' \
        "$(pod marked own 'annotations: {initializer.kubernetes.io/envoy: "true"}' | create)"
    check 'it gets the sidecar' 'own envoy' "$(containers pod/marked)"
    check 'another value' 'pod/unmarked created' \
        "$(pod unmarked own 'annotations: {initializer.kubernetes.io/envoy: "false"}' | create)"
    check 'says no' own "$(containers pod/unmarked)"
    end TERM
    start
}

deployments() {
    printf 'apiVersion: admissionregistration.k8s.io/v1alpha1\nkind: InitializerConfiguration\nmetadata: {name: for-deployments}\ninitializers:\n- name: envoy.initializer.kubernetes.io\n  rules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments]}]\n' |
        create >/dev/null
    check 'a deployment' 'deployment.apps/web created' "$(k create deployment web --image=nginx:1)"
    check 'gets it in its template' 'nginx envoy' "$(field deployment/web '.spec.template.spec.containers[*].name')"
    mark=$(field deployment/web '.spec.template.metadata.annotations.initializer\.kubernetes\.io/envoy-injected')
    check 'which says so' true "$mark"
    check 'so its pods' 'pod/web-1 created' \
        "$(pod web-1 envoy 'annotations: {initializer.kubernetes.io/envoy-injected: "true"}' | create)"
    check 'are let through' envoy "$(containers pod/web-1)"
    has 'kubectl goes on as usual' 'deployment.apps/web image updated' "$(k set image deployment/web nginx=nginx:2)"
}

# The rights in rbac.yaml are enough, and without `initialize` they are not.
rights() {
    end TERM
    k apply -f "$(dirname "$0")/../examples/envoy-initializer/rbac.yaml" >/dev/null
    k patch clusterrole envoy-initializer --type=json -p '[{"op":"remove","path":"/rules/0/verbs/3"}]' >/dev/null
    start --as system:serviceaccount:default:envoy-initializer
    waiting poor >/dev/null
    refused() { grep -q 'update to uninitialized resource denied' "$dir/log"; }
    waits refused
    check 'who may not initialize' own "$(containers pod/poor)"
    k apply -f "$(dirname "$0")/../examples/envoy-initializer/rbac.yaml" >/dev/null
    waits is_initialized pod/poor
    check 'and who may' 'own envoy' "$(containers pod/poor)"
}

serve --api-versions all
demonstration
conflicts
killed
together
annotated
deployments
rights
[ $failed -eq 0 ] || tail -n 20 "$dir/log"
finish
