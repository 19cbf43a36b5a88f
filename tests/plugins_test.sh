#!/bin/sh
# plugins_test.sh SAMPAN - which admission plugins run, what they are told by a file, and what they
# do, seen by kubectl.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
needs kubectl

field() { k get "$1" -o "jsonpath={$2}"; }
down() { "$sampan" down --data-dir "$dir/a" >/dev/null; }
# again [FLAG...] - the server anew, with other flags.
again() {
    down
    up "$@" >/dev/null || exit 1
    connect
}
# refuses [FLAG...] - what a server says that does not start.
refuses() { "$sampan" up --data-dir "$dir/b" --listen 127.0.0.1:0 "$@" 2>&1; }

# pod NAME [LINE-OF-SPEC [LINE-OF-METADATA]]
pod() {
    printf 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\n  %s\nspec:\n  %s\n  containers:\n' \
        "$1" "${3:-labels: {\}}" "${2:-restartPolicy: Always}"
    printf '  - {name: c, image: "i:1"}\n'
}
create() { k create -f -; }

flags() {
    said=$(refuses --enable-admission-plugins=Priority,Imaginary)
    has 'an unknown plugin' "there is no admission plugin 'Imaginary'; there are AlwaysAdmit, " "$said"
    said=$(refuses --enable-admission-plugins=AlwaysDeny --disable-admission-plugins=Priority,AlwaysDeny)
    has 'both on and off' 'the admission plugin AlwaysDeny is both enabled and disabled' "$said"
    said=$(refuses --enable-admission-plugins=ImagePolicyWebhook)
    has 'one that is not here' "couldn't init admission plugin \"ImagePolicyWebhook\"" "$said"
    all=AlwaysAdmit,NamespaceAutoProvision,NamespaceLifecycle,NamespaceExists
    all=$all,LimitPodHardAntiAffinityTopology,LimitRanger,ServiceAccount,NodeRestriction
    all=$all,TaintNodesByCondition,AlwaysPullImages,PodSecurity,PodNodeSelector,Priority
    all=$all,DefaultTolerationSeconds,PodTolerationRestriction,ExtendedResourceToleration
    all=$all,DefaultStorageClass,StorageObjectInUseProtection,PodGroupProtection
    all=$all,OwnerReferencesPermissionEnforcement,PersistentVolumeClaimResize,RuntimeClass
    all=$all,CertificateApproval,CertificateSigning,ClusterTrustBundleAttest
    all=$all,CertificateSubjectRestriction,DefaultIngressClass,DenyServiceExternalIPs
    all=$all,PodTopologyLabels,NodeDeclaredFeatureValidator,PodResizeValidator
    all=$all,MutatingAdmissionPolicy,MutatingAdmissionWebhook,ValidatingAdmissionPolicy
    all=$all,ValidatingAdmissionWebhook,ResourceQuota
    up --enable-admission-plugins="$all" --enable-admission-plugins=PodPreset --disable-admission-plugins=ServiceAccount \
        >/dev/null 2>"$dir/said"
    has 'a name in both lists of many' 'ServiceAccount is both enabled and disabled' "$(cat "$dir/said")"
    up --enable-admission-plugins="$all" --enable-admission-plugins=PodPreset >/dev/null
    check 'all of them at once' ok "$(k get --raw /readyz)"
    again --enable-admission-plugins=AlwaysDeny
    has 'AlwaysDeny' 'configmaps "x" is forbidden: admission control is denying all modifications' \
        "$(k create configmap x)"
}

config_faults() {
    said=$(refuses --admission-control-config-file "$dir/none.yaml")
    has 'no such file' 'failed to read plugin config' "$said"
    has 'is named' "$dir/none.yaml" "$said"
    head='{apiVersion: apiserver.config.k8s.io/v1, kind: AdmissionConfiguration'
    echo "$head, plugins: [{name: Imaginary}]}" >"$dir/bad.yaml"
    has 'an unknown plugin in the file' 'unknown admission plugin: Imaginary' \
        "$(refuses --admission-control-config-file "$dir/bad.yaml")"
    echo "$head, plugins: [{name: MutatingAdmissionWebhook, configuration: {kubeConfigFile: x}}]}" >"$dir/bad.yaml"
    has 'webhooks get no kubeconfig' 'kubeConfigFile is not supported' \
        "$(refuses --admission-control-config-file "$dir/bad.yaml")"
    echo "$head, plugins: [{name: EventRateLimit, configuration: {}}]}" >"$dir/bad.yaml"
    has 'a plugin that is off is told nothing' 'unknown admission plugin: Imaginary' \
        "$(echo "$head, plugins: [{name: EventRateLimit, configuration: {}}, {name: Imaginary}]}" >"$dir/bad.yaml"
        refuses --admission-control-config-file "$dir/bad.yaml")"
    has 'limits are needed' 'limits: Invalid value: null: must not be empty' \
        "$(refuses --enable-admission-plugins=EventRateLimit)"
}

# Files beside the file, and trees in it.
configured() {
    mkdir "$dir/conf"
    cat >"$dir/conf/admission.yaml" <<EOF
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: EventRateLimit
  path: events.yaml
- name: PodNodeSelector
  configuration:
    podNodeSelectorPluginConfig: {clusterDefaultNodeSelector: "disk=ssd", default: "disk=ssd,zone=a"}
- name: PodTolerationRestriction
  configuration:
    apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1
    kind: Configuration
    default: [{key: shop, operator: Exists}]
EOF
    cat >"$dir/conf/events.yaml" <<EOF
apiVersion: eventratelimit.admission.k8s.io/v1alpha1
kind: Configuration
limits:
- {type: Namespace, qps: 1, burst: 5}
- {type: SourceAndObject, qps: 1, burst: 50, cacheSize: 10}
EOF
    again --enable-admission-plugins=EventRateLimit,PodNodeSelector,PodTolerationRestriction \
        --admission-control-config-file "$dir/conf/admission.yaml"
    check 'a pod is created' 'pod/one created' "$(pod one | create)"
    check 'where it goes' '{"disk":"ssd"}' "$(field pod/one .spec.nodeSelector)"
    check 'what it tolerates' shop "$(field pod/one '.spec.tolerations[?(@.key=="shop")].key')"
    has 'not elsewhere' 'pod node label selector conflicts with its namespace node label selector' \
        "$(pod two 'nodeSelector: {disk: hdd}' | create)"
    has 'nor by other labels' 'pod node label selector labels conflict with its namespace whitelist' \
        "$(pod two 'nodeSelector: {cpu: fast}' | create)"
    k annotate namespace default scheduler.alpha.kubernetes.io/tolerationsWhitelist='[{"key":"x","operator":"Exists"}]' >/dev/null
    has 'a whitelist' 'conflict with its namespace whitelist' "$(pod two | create)"
    k annotate namespace default scheduler.alpha.kubernetes.io/tolerationsWhitelist- >/dev/null
    event_rates
}

# event NAMESPACE NAME - the code; what it came with is in $dir/CODE.
event() {
    admin -X POST -H 'Content-Type: application/json' "$server/api/v1/namespaces/$1/events" -d \
        "{\"metadata\":{\"name\":\"$2\"},\"involvedObject\":{\"kind\":\"Pod\",\"namespace\":\"$1\",\"name\":\"p\"}}" \
        -o "$dir/answer" -w '%{http_code}' >"$dir/code"
    cp "$dir/answer" "$dir/$(cat "$dir/code")"
    cat "$dir/code"
}
event_rates() {
    k create namespace quiet >/dev/null
    codes= n=0
    while [ $n -lt 40 ]; do
        codes="$codes $(event default "e$n")"
        n=$((n + 1))
    done
    has 'a burst of events is taken' ' 201 201 201 201 201' "$codes"
    has 'then there are too many' 429 "$codes"
    has 'which says why' 'Too many requests: limit reached on type Namespace for key default' "$(cat "$dir/429")"
    check 'elsewhere there are not' 201 "$(event quiet e)"
}

# review NAMESPACE - asks what somebody may do there; the code, and what is said of it.
review() {
    admin -X POST -H 'Content-Type: application/json' -o "$dir/answer" -w '%{http_code} ' \
        "$server/apis/authorization.k8s.io/v1/namespaces/$1/localsubjectaccessreviews" \
        -d "{\"spec\":{\"user\":\"u\",\"resourceAttributes\":{\"namespace\":\"$1\",\"verb\":\"get\",\"resource\":\"pods\"}}}"
    sed -n 's/.*"message": "\(.*\)",$/\1/p' "$dir/answer"
}
# A LocalSubjectAccessReview is created in a namespace, though it is not kept: upstream's plugins
# treat it as such, but for NamespaceLifecycle, which would tell whether the namespace is there.
reviews() {
    again
    check 'a review does not tell which namespaces there are' '201 ' "$(review secret-plans)"
    again --enable-admission-plugins=NamespaceExists
    has 'unless they have to exist' '404 namespaces \"secret-plans\" not found' "$(review secret-plans)"
    check 'those that do' '201 ' "$(review default)"
    again --enable-admission-plugins=NamespaceAutoProvision
    check 'a review counts as an object' '201 ' "$(review reviewed)"
    check 'so its namespace comes with it' Active "$(field namespace/reviewed .status.phase)"
    again --enable-admission-plugins=AlwaysDeny
    has 'and may be denied' '403 localsubjectaccessreviews.authorization.k8s.io \"Unknown\" is forbidden: admission control is denying all modifications' \
        "$(review default)"
}

namespaces() {
    again --enable-admission-plugins=NamespaceAutoProvision
    check 'a namespace comes with its first object' 'configmap/x created' "$(k -n fresh create configmap x)"
    check 'and is like any other' Active "$(field namespace/fresh .status.phase)"
    check 'with its label' fresh "$(field namespace/fresh '.metadata.labels.kubernetes\.io/metadata\.name')"
    has 'a dry run makes none' 'namespaces "dry" not found' "$(k -n dry create configmap x --dry-run=server)"
    has 'without an object there is none' 'namespaces "stale" not found' "$(k get namespace stale)"
    k -n fresh patch configmap x --type=merge -p '{"metadata":{"finalizers":["a.b/c"]}}' >/dev/null
    k delete namespace fresh --wait=false >/dev/null
    has 'one that goes takes nothing new' 'because it is being terminated' "$(k -n fresh create configmap y)"
    k -n fresh patch configmap x --type=merge -p '{"metadata":{"finalizers":null}}' >/dev/null
    has 'three stay' 'this namespace may not be deleted' "$(k delete namespace kube-public)"
    again --disable-admission-plugins=NamespaceLifecycle
    check 'unguarded, namespaces need not be there' 'configmap/x created' "$(k -n nowhere create configmap x)"
    check 'and all may go' 'namespace "kube-public" deleted' "$(k delete namespace kube-public --wait=false | sed 's/ from .*//')"
    again
    has 'guarded, they do' 'namespaces "nowhere2" not found' "$(k -n nowhere2 create configmap x)"
}

# Nothing is younger than the end of its namespace, however many create in it at that moment.
ends() {
    k create namespace crowded >/dev/null
    makers=
    for n in 1 2 3 4 5 6 7 8; do
        (for m in 1 2 3 4 5 6 7 8 9 10 11 12; do
            echo "$(code admin -X POST -H 'Content-Type: application/json' \
                "$server/api/v1/namespaces/crowded/configmaps" -d "{\"metadata\":{\"name\":\"m-$n-$m\"}}")"
        done) >>"$dir/codes" &
        makers="$makers $!"
    done
    k delete namespace crowded --wait=false >/dev/null
    wait $makers
    end=$(field namespace/crowded .metadata.resourceVersion)
    last=$(k -n crowded get configmaps -o 'jsonpath={range .items[*]}{.metadata.resourceVersion}{"\n"}{end}' | sort -n | tail -n 1)
    check 'nothing comes after the end' true "$([ "${last:-0}" -lt "$end" ] && echo true || echo "$last, $end")"
    check 'what came was told so' "$(grep -c 201 "$dir/codes")" \
        "$(k -n crowded get configmaps -o name --chunk-size=0 | grep -c m-)"
    check 'and the others were not' '' "$(grep -v -e 201 -e 403 "$dir/codes")"
}

pods() {
    again --enable-admission-plugins=AlwaysPullImages,LimitPodHardAntiAffinityTopology,ExtendedResourceToleration
    pod pulls | create >/dev/null
    check 'images are pulled' Always "$(field pod/pulls '.spec.containers[0].imagePullPolicy')"
    has 'a zone is not for one pod' 'has TopologyKey zone but only key kubernetes.io/hostname is allowed' \
        "$(pod alone 'affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone}]}}' | create)"
    pod rare | sed 's|image: "i:1"|&, resources: {limits: {example.com/gpu: 1}}|' | create >/dev/null
    check 'who asks for a rare resource goes where it is' Exists \
        "$(field pod/rare '.spec.tolerations[?(@.key=="example.com/gpu")].operator')"
}

priorities() {
    has 'a class of the system' 'is forbidden: this is a system priority class and cannot be deleted' \
        "$(k delete priorityclass system-node-critical)"
}

classes() {
    for class in slow fast; do
        printf 'apiVersion: storage.k8s.io/v1\nkind: StorageClass\nprovisioner: a.b/c\nmetadata: {name: %s, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}\n' \
            $class | create >/dev/null
    done
    claim='apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: %s}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}%s}\n'
    printf "$claim" c1 '' | create >/dev/null
    has 'a claim has a class' 's' "$(field pvc/c1 .spec.storageClassName)"
    printf "$claim" c2 ', storageClassName: ""' | create >/dev/null
    check 'or none if it says so' '""' "$(k get pvc c2 -o json | sed -n 's/.*"storageClassName": \(""\).*/\1/p')"
    printf 'apiVersion: networking.k8s.io/v1\nkind: IngressClass\nspec: {controller: a.b/c}\nmetadata: {name: edge, annotations: {ingressclass.kubernetes.io/is-default-class: "true"}}\n' |
        create >/dev/null
    k create ingress site --rule='a.b/*=web:80' >/dev/null
    check 'so has an ingress' edge "$(field ingress/site .spec.ingressClassName)"
}

# Who gives objects owners needs rights, by the roles that there are.
owners() {
    echo 'ann-token,ann,u-ann' >"$dir/tokens"
    again --enable-admission-plugins=OwnerReferencesPermissionEnforcement --token-auth-file "$dir/tokens"
    k create role ann --verb=create,update,patch,get --resource=configmaps >/dev/null
    k create rolebinding ann --role=ann --user=ann >/dev/null
    k create configmap owner >/dev/null
    uid=$(field configmap/owner .metadata.uid)
    # owned NAME BLOCKS [KIND]
    owned() {
        printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n  ownerReferences: [{apiVersion: v1, kind: %s, name: owner, uid: "%s", blockOwnerDeletion: %s}]\n' \
            "$1" "${3:-ConfigMap}" "$uid" "$2"
    }
    ann() { kubectl --server "$server" --certificate-authority "$dir/ca.crt" --token ann-token --cache-dir "$dir/cache" \
        --kubeconfig /dev/null "$@" 2>&1; }
    check 'an owner that may go' 'configmap/free created' "$(owned free false | ann create --validate=false -f -)"
    has 'one that may not' "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>" \
        "$(owned held true | ann create --validate=false -f -)"
    has 'of a kind that nobody knows' 'no matches for kind "Imaginary" in version "v1"' "$(owned held true Imaginary | ann create --validate=false -f -)"
    has 'a change of owners' "cannot set an ownerRef on a resource you can't delete: , <nil>" \
        "$(ann patch configmap free --type=merge -p '{"metadata":{"ownerReferences":null}}')"
    check 'a change of anything else' 'configmap/free patched' "$(ann patch configmap free --type=merge -p '{"data":{"a":"b"}}')"
    k create role more --verb=delete,update --resource=configmaps,configmaps/finalizers >/dev/null
    k create rolebinding more --role=more --user=ann >/dev/null
    check 'with the rights' 'configmap/held created' "$(owned held true | ann create --validate=false -f -)"
    check 'both are fine' 'configmap/free patched' "$(ann patch configmap free --type=merge -p '{"metadata":{"ownerReferences":null}}')"
}

presets() {
    again --api-versions all --enable-admission-plugins=PodPreset
    cat >"$dir/preset.yaml" <<EOF
apiVersion: settings.k8s.io/v1alpha1
kind: PodPreset
metadata: {name: cache}
spec:
  selector: {matchLabels: {role: web}}
  env: [{name: CACHE, value: "6379"}]
  volumes: [{name: tmp, emptyDir: {}}]
  volumeMounts: [{name: tmp, mountPath: /cache}]
EOF
    check 'a preset' 'podpreset.settings.k8s.io/cache created' "$(k create -f "$dir/preset.yaml" | grep -v Warning)"
    pod web '' 'labels: {role: web}' | create >/dev/null
    check 'its variable' 6379 "$(field pod/web '.spec.containers[0].env[?(@.name=="CACHE")].value')"
    check 'its mount' /cache "$(field pod/web '.spec.containers[0].volumeMounts[?(@.name=="tmp")].mountPath')"
    check 'its volume' tmp "$(field pod/web '.spec.volumes[?(@.name=="tmp")].name')"
    rev=$(field podpreset/cache .metadata.resourceVersion | tail -n 1)
    check 'its mark' "$rev" "$(field pod/web '.metadata.annotations.podpreset\.admission\.kubernetes\.io/podpreset-cache')"
    pod other | create >/dev/null
    check 'not in pods of other labels' '' "$(field pod/other '.spec.containers[0].env')"
    pod apart '' 'labels: {role: web}' | sed 's|image: "i:1"|&, env: [{name: CACHE, value: "1"}]|' | create >/dev/null
    check 'a conflict leaves a pod alone' '1' "$(field pod/apart '.spec.containers[0].env[*].value')"
    check 'without a mark' '' "$(field pod/apart .metadata.annotations)"
    check 'and without its volume' '' "$(field pod/apart .spec.volumes)"
    has 'the log tells' 'a pod conflicts with its presets' "$(cat "$dir/a/sampan.log")"
    k delete podpreset cache >/dev/null
    pod late '' 'labels: {role: web}' | create >/dev/null
    check 'a preset that is gone does nothing' '' "$(field pod/late '.spec.containers[0].env')"
}

flags
config_faults
configured
reviews
namespaces
ends
pods
priorities
classes
owners
presets
finish
