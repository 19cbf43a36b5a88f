#!/bin/sh
# versions_test.sh SAMPAN - versions that Kubernetes has dropped, beside today's: one object, written
# as either and read as either, and nothing is lost on the way. With kubectl on the PATH, or that in
# SAMPAN_KUBECTL, also what it makes of them. Old manifests come from the folder SAMPAN_EXAMPLES.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
examples=${SAMPAN_EXAMPLES:-$(dirname "$0")/../../shared/examples}

# send METHOD PATH BODY [CONTENT-TYPE]: the answer
send() {
    admin -A test -X "$1" -H "Content-Type: ${4:-application/json}" "$server$2" -d "$3"
}
merge() { send PATCH "$1" "$2" application/merge-patch+json; }
get() { admin -A test "$server$1"; }
revision() { get "$1" | sed 's/.*"resourceVersion":"\([0-9]*\)".*/\1/'; }
warning() { admin -A test -o /dev/null -D - "$@" | tr -d '\r' | sed -n 's/^warning: //p'; }
# path GROUP/VERSION RESOURCE: of a namespaced one unless the name begins with a dash
path() {
    case $2 in
    -*) echo "/apis/$1/${2#-}" ;;
    *) echo "/apis/$1/namespaces/default/$2" ;;
    esac
}

# round OLD NEW RESOURCE KIND BODY [PATCH TEXT]: an object, made as OLD with BODY besides its
# metadata. PATCH sets, as NEW, what OLD has no place for; TEXT is how that shows. Its name is $x.
x=x
round() {
    v="$1 $4:"
    old=$(path "$1" "$3")
    new=$(path "$2" "$3")
    one=$old/$x
    other=$new/$x
    meta='"metadata":{"name":"'$x'"'
    since=$(get "$old?limit=1" | sed 's/.*"metadata":{"resourceVersion":"\([0-9]*\)".*/\1/')
    has "$v is made" '"kind":"'"$4"'","apiVersion":"'"$1"'",'"$meta" \
        "$(send POST "$old" '{"apiVersion":"'"$1"'","kind":"'"$4"'",'"$meta}${5:+,$5}}")"
    has "$v says that it is old" "299 - \"$1 $4 is deprecated in v1." "$(warning "$server$one")"
    has "$v is the new one" '"kind":"'"$4"'","apiVersion":"'"$2"'",'"$meta" "$(get "$other")"
    has "$v is listed" '"kind":"'"$4"'List","apiVersion":"'"$1"'"' "$(get "$old")"
    echo "$1 $4 $old?watch=1&timeoutSeconds=1&resourceVersion=$since" >>"$dir/watches"
    has "$v is printed" '"kind":"Table"' "$(admin -A test \
        -H 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io' "$server$one")"
    check "$v is packed" 200 \
        "$(code admin -H 'Accept: application/vnd.kubernetes.protobuf' "$server$one")"
    if [ "${6:-}" ]; then
        has "$v the new one says more" "$7" "$(merge "$other" "$6")"
    fi
    has "$v is patched" '"labels":{"a":"b"' "$(merge "$one" '{"metadata":{"labels":{"a":"b"}}}')"
    has "$v which both show" '"labels":{"a":"b"' "$(get "$other")"
    before=$(revision "$other")
    has "$v takes what it gave" '"apiVersion":"'"$1"'"' "$(send PUT "$one" "$(get "$one")")"
    check "$v and nothing changed" "$before" "$(revision "$other")"
    [ -z "${6:-}" ] || has "$v nothing is lost" "$7" "$(get "$other")"
    admin -o /dev/null -X DELETE "$server$one?propagationPolicy=Background"
    check "$v is gone" 404 "$(code admin "$server$other")"
    check "$v is gone, too" 404 "$(code admin "$server$one")"
}

# All that was changed in the rounds, as the old version tells it.
watches() {
    i=0
    while read -r gv kind from; do
        i=$((i + 1))
        get "$from" >"$dir/watch.$i" &
    done <"$dir/watches"
    wait
    i=0
    while read -r gv kind from; do
        i=$((i + 1))
        for type in ADDED MODIFIED DELETED; do
            has "$gv $kind: is watched: $type" \
                '{"type":"'$type'","object":{"kind":"'"$kind"'","apiVersion":"'"$gv"'"' "$(cat "$dir/watch.$i")"
        done
    done <"$dir/watches"
}

template='"template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"c","image":"i"}]}}'
selector='"selector":{"matchLabels":{"app":"x"}}'
hook='"name":"a.b.c","rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}],
    "clientConfig":{"url":"https://h.example/"}'

workloads() {
    for gv in extensions/v1beta1 apps/v1beta1 apps/v1beta2; do
        round $gv apps/v1 deployments Deployment '"spec":{'"$selector,$template"'}'
    done
    for gv in extensions/v1beta1 apps/v1beta2; do
        round $gv apps/v1 replicasets ReplicaSet '"spec":{'"$selector,$template"'}'
        round $gv apps/v1 daemonsets DaemonSet \
            '"spec":{"updateStrategy":{"type":"RollingUpdate"},'"$selector,$template"'}' \
            '{"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}}}}' '"maxSurge":1'
    done
    for gv in apps/v1beta1 apps/v1beta2; do
        round $gv apps/v1 statefulsets StatefulSet '"spec":{"serviceName":"s",'"$selector,$template"'}' \
            '{"spec":{"minReadySeconds":7,"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete"}}}' \
            '"whenScaled":"Delete"'
        round $gv apps/v1 controllerrevisions ControllerRevision '"data":{"a":1},"revision":1'
    done
    job='"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never",
        "containers":[{"name":"c","image":"i"}]}}}}}'
    round batch/v1beta1 batch/v1 cronjobs CronJob "$job"
    round batch/v2alpha1 batch/v1 cronjobs CronJob "$job" '{"spec":{"timeZone":"Etc/UTC"}}' \
        '"timeZone":"Etc/UTC"'
    for version in v2beta1 v2beta2; do
        round autoscaling/$version autoscaling/v2 horizontalpodautoscalers HorizontalPodAutoscaler \
            '"spec":{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"x"}}' \
            '{"spec":{"behavior":{"scaleUp":{"stabilizationWindowSeconds":9}}}}' \
            '"stabilizationWindowSeconds":9'
    done
    budget='"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"x"}}}'
    round policy/v1beta1 policy/v1 poddisruptionbudgets PodDisruptionBudget "$budget" \
        '{"spec":{"unhealthyPodEvictionPolicy":"AlwaysAllow"}}' '"unhealthyPodEvictionPolicy":"AlwaysAllow"'
}

networks() {
    for gv in extensions/v1beta1 networking.k8s.io/v1beta1; do
        round $gv networking.k8s.io/v1 ingresses Ingress \
            '"spec":{"backend":{"serviceName":"s","servicePort":80}}'
    done
    round extensions/v1beta1 networking.k8s.io/v1 networkpolicies NetworkPolicy \
        '"spec":{"podSelector":{},"ingress":[{"ports":[{"port":80}]}]}' \
        '{"spec":{"ingress":[{"ports":[{"protocol":"TCP","port":80,"endPort":90}]}]}}' '"endPort":90'
    round networking.k8s.io/v1beta1 networking.k8s.io/v1 -ingressclasses IngressClass \
        '"spec":{"controller":"e.com/c"}'
    round discovery.k8s.io/v1beta1 discovery.k8s.io/v1 endpointslices EndpointSlice \
        '"addressType":"IPv4","endpoints":[{"addresses":["10.0.0.9"],"topology":{"a":"b"}}]'
}

access() {
    for version in v1beta1 v1alpha1; do
        gv=rbac.authorization.k8s.io/$version
        today=rbac.authorization.k8s.io/v1
        rules='"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]'
        to='"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"r"},
            "subjects":[{"kind":"User","name":"u"}]'
        round $gv $today roles Role "$rules"
        round $gv $today -clusterroles ClusterRole "$rules"
        round $gv $today rolebindings RoleBinding "$to"
        round $gv $today -clusterrolebindings ClusterRoleBinding "$to"
    done
    request=$(printf '%s' "$csr" | base64 | tr -d '\n')
    round certificates.k8s.io/v1beta1 certificates.k8s.io/v1 -certificatesigningrequests \
        CertificateSigningRequest '"spec":{"request":"'"$request"'"}'
}

clusters() {
    storage=storage.k8s.io
    round $storage/v1beta1 $storage/v1 -storageclasses StorageClass '"provisioner":"e.com/p"'
    round $storage/v1beta1 $storage/v1 -csidrivers CSIDriver '"spec":{}' \
        '{"spec":{"seLinuxMount":true}}' '"seLinuxMount":true'
    round $storage/v1beta1 $storage/v1 -csinodes CSINode '"spec":{"drivers":[]}'
    round $storage/v1beta1 $storage/v1 csistoragecapacities CSIStorageCapacity '"storageClassName":"s"'
    round $storage/v1beta1 $storage/v1 -volumeattachments VolumeAttachment \
        '"spec":{"attacher":"d","nodeName":"n","source":{"persistentVolumeName":"v"}}'
    round coordination.k8s.io/v1beta1 coordination.k8s.io/v1 leases Lease '"spec":{"holderIdentity":"h"}' \
        '{"spec":{"strategy":"OldestEmulationVersion"}}' '"apiVersion":"coordination.k8s.io/v1"'
    round scheduling.k8s.io/v1beta1 scheduling.k8s.io/v1 -priorityclasses PriorityClass '"value":5'
    round node.k8s.io/v1beta1 node.k8s.io/v1 -runtimeclasses RuntimeClass '"handler":"h"'
    flow=flowcontrol.apiserver.k8s.io
    for version in v1beta1 v1beta2 v1beta3; do
        round $flow/$version $flow/v1 -flowschemas FlowSchema \
            '"spec":{"priorityLevelConfiguration":{"name":"p"}}'
    done
    reg=admissionregistration.k8s.io
    round $reg/v1beta1 $reg/v1 -validatingwebhookconfigurations ValidatingWebhookConfiguration \
        '"webhooks":[{'"$hook"'}]' '{"webhooks":[{'"$hook"',"sideEffects":"None",
            "admissionReviewVersions":["v1"],"matchConditions":[{"name":"m","expression":"true"}]}]}' \
        '"expression":"true"'
    round $reg/v1beta1 $reg/v1 -mutatingwebhookconfigurations MutatingWebhookConfiguration \
        '"webhooks":[{'"$hook"'}]'
    x=v1.e.com
    round apiregistration.k8s.io/v1beta1 apiregistration.k8s.io/v1 -apiservices APIService \
        '"spec":{"group":"e.com","version":"v1","groupPriorityMinimum":9,"versionPriority":9,
            "insecureSkipTLSVerify":true,"service":{"name":"s","namespace":"default"}}'
    x=x
}

# Names that depend on what the object says, or two kinds over one storage: by hand.
others() {
    crds=/apis/apiextensions.k8s.io
    send POST $crds/v1beta1/customresourcedefinitions '{"metadata":{"name":"as.e.com"},"spec":{
        "group":"e.com","version":"v1","names":{"plural":"as","kind":"A"}}}' >/dev/null
    has "a definition without a schema" '"versions":[{"name":"v1","served":true,"storage":true' \
        "$(get $crds/v1/customresourcedefinitions/as.e.com)"
    has "which shows its version" '"version":"v1"' \
        "$(get $crds/v1beta1/customresourcedefinitions/as.e.com)"
    subject='{"kind":"Pod","namespace":"default","name":"p"}'
    send POST /apis/events.k8s.io/v1beta1/namespaces/default/events '{"metadata":{"name":"e"},
        "regarding":'"$subject"',"note":"n","reason":"r","type":"Normal"}' >/dev/null
    has "an event of three versions" '"message":"n"' "$(get /api/v1/namespaces/default/events/e)"
    has "here, too" '"note":"n"' "$(get /apis/events.k8s.io/v1/namespaces/default/events/e)"
    send POST /apis/extensions/v1beta1/podsecuritypolicies '{"metadata":{"name":"p"},"spec":{
        "seLinux":{"rule":"RunAsAny"},"runAsUser":{"rule":"RunAsAny"},"fsGroup":{"rule":"RunAsAny"},
        "supplementalGroups":{"rule":"RunAsAny"}}}' >/dev/null
    has "a policy for pods" '"allowPrivilegeEscalation":true' \
        "$(get /apis/policy/v1beta1/podsecuritypolicies/p)"
    send POST /apis/settings.k8s.io/v1alpha1/namespaces/default/podpresets '{"metadata":{"name":"p"},
        "spec":{"env":[{"name":"A","value":"b"}]}}' >/dev/null
    has "a preset" '"generation":1' "$(get /apis/settings.k8s.io/v1alpha1/namespaces/default/podpresets/p)"
}

# Tables that are printed as a whole: in an order of their own, also as an old version.
tables() {
    flow=/apis/flowcontrol.apiserver.k8s.io
    for row in a:7000 b:5000 c:6000; do
        send POST $flow/v1/flowschemas '{"metadata":{"name":"'${row%:*}'"},"spec":{"matchingPrecedence":'${row#*:}',
            "priorityLevelConfiguration":{"name":"p"}}}' >/dev/null
    done
    for version in v1 v1beta3; do
        check "$version of flows goes by precedence" "b c a" "$(admin -A test \
            -H 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io' "$server$flow/$version/flowschemas" |
            grep -o '"cells":\["[abc]"' | cut -d'"' -f4 | tr '\n' ' ' | sed 's/ $//')"
    done
}

# What the request's version decides.
differences() {
    apps=/apis/apps/v1/namespaces/default
    for gv in extensions/v1beta1 apps/v1beta1 apps/v1; do
        of=/apis/$gv/namespaces/default/deployments
        send POST $apps/deployments '{"metadata":{"name":"d"},"spec":{"replicas":3,'"$selector,$template"'}}' >/dev/null
        changed=$(merge $of/d '{"spec":{"selector":{"matchLabels":{"b":"c"}},"template":{"metadata":{"labels":{"b":"c"}}}}}')
        case $gv in
        apps/v1) has "$gv a selector stays" 'field is immutable' "$changed" ;;
        *) has "$gv a selector is changed" '"b":"c"' "$changed" ;;
        esac
        has "$gv its own scale" '"kind":"Scale","apiVersion":"'"$([ $gv = apps/v1 ] && echo autoscaling/v1 || echo $gv)"'"' \
            "$(get $of/d/scale)"
        has "$gv is scaled" '"replicas":5' "$(merge $of/d/scale '{"spec":{"replicas":5}}')"
        rolled=$(send POST $of/d/rollback '{"name":"d","rollbackTo":{"revision":4},"updatedAnnotations":{"why":"w"}}')
        admin -o /dev/null -X DELETE "$server$of/d"
        case $gv in
        apps/v1)
            check "$gv is gone at once" 404 "$(code admin "$server$of/d")"
            ;;
        *)
            has "$gv rolls back" '"status":"Success"' "$rolled"
            has "$gv the wish is noted" '"deprecated.deployment.rollback.to":"4"' "$(get $apps/deployments/d)"
            has "$gv as a field" '"rollbackTo":{"revision":4}' "$(get $of/d)"
            has "$gv its replica sets stay" '"finalizers":["orphan"]' "$(get $of/d)"
            merge $of/d '{"metadata":{"finalizers":null}}' >/dev/null
            ;;
        esac
    done
    send POST /api/v1/namespaces/default/replicationcontrollers '{"metadata":{"name":"r"},"spec":{"replicas":1,
        "selector":{"app":"x"},'"$template"'}}' >/dev/null
    scale=/apis/extensions/v1beta1/namespaces/default/replicationcontrollers/r/scale
    has "the scale of a controller" '"kind":"Scale","apiVersion":"extensions/v1beta1"' "$(get $scale)"
    has "is changed" '"replicas":2' "$(merge $scale '{"spec":{"replicas":2}}')"
    has "and the controller with it" '"replicas":2' "$(get /api/v1/namespaces/default/replicationcontrollers/r)"
    check "which is not there itself" 404 "$(code admin "$server${scale%/scale}")"
    has "faults have old names" 'spec.backend.serviceName: Required value' \
        "$(send POST /apis/extensions/v1beta1/namespaces/default/ingresses \
            '{"metadata":{"name":"i"},"spec":{"backend":{"servicePort":80}}}')"
    sets=/apis/extensions/v1beta1/namespaces/default/daemonsets
    send POST $sets '{"metadata":{"name":"d"},"spec":{'"$selector,$template"'}}' >/dev/null
    has "a template is counted" '"templateGeneration":1' "$(get $sets/d)"
    merge $sets/d '{"spec":{"template":{"metadata":{"annotations":{"a":"b"}}}}}' >/dev/null
    has "when it changes" '"templateGeneration":2' "$(get $sets/d)"
    has "which today is an annotation" '"deprecated.daemonset.template.generation":"2"' "$(get $apps/daemonsets/d)"
}

discovered() {
    groups=$(get /apis)
    has "today's version is preferred" '"preferredVersion":{"groupVersion":"apps/v1"' "$groups"
    has "and comes first" '"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"},{"groupVersion":"apps/v1beta2"' \
        "$groups"
    has "old groups come last" '{"name":"settings.k8s.io","versions":[{"groupVersion":"settings.k8s.io/v1alpha1","version":"v1alpha1"}],"preferredVersion":{"groupVersion":"settings.k8s.io/v1alpha1","version":"v1alpha1"}}]}' \
        "$groups"
    has "OpenAPI has them" 'apis/extensions/v1beta1' "$(get /openapi/v3)"
    has "aggregated discovery under its older name" "apidiscovery.k8s.io/v2beta1" \
        "$(admin -H "Accept: $older" "$server/apis")"
}
older='application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList'

# with KUBECTL: what people see of all that.
with() {
        kubectl=$1
    v="$1:"
    cat >"$dir/old.yaml" <<'END'
apiVersion: extensions/v1beta1
kind: Deployment
metadata: {name: web}
spec:
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: "nginx:1.27"}]
---
apiVersion: networking.k8s.io/v1beta1
kind: Ingress
metadata: {name: web}
spec:
  rules:
  - host: web.example.com
    http: {paths: [{backend: {serviceName: web, servicePort: http}}]}
END
    has "$v an old manifest applies" "deployment.extensions/web created" "$(k apply -f "$dir/old.yaml")"
    has "$v again" "deployment.extensions/web unchanged" "$(k apply -f "$dir/old.yaml")"
    has "$v is today's" "apiVersion: apps/v1" "$(k get deployments web -o yaml)"
    has "$v is yesterday's" "apiVersion: extensions/v1beta1" \
        "$(k get deployments.v1beta1.extensions web -o yaml)"
    has "$v is printed" "0/1" "$(k get deployments.v1beta1.extensions web)"
    check "$v without a word" "" "$(k get deploy web 2>&1 >/dev/null | grep -i warning)"
    has "$v resources" "deployments" "$(k api-resources --api-group extensions)"
    has "$v explains" "rollbackTo" "$(k explain deployments.spec --api-version extensions/v1beta1)"
    if [ -d "$examples" ]; then
        for file in nginx-deployment network-crd myapp-pod envoy-initializer-configmap \
            envoy-initializer-configuration; do
            has "$v $file" " created" "$(k apply -f "$examples/$file.yaml")"
        done
    else
        skip "there are no examples in $examples"
    fi
    k delete -f "$dir/old.yaml" >/dev/null
    check "$v is deleted" 404 "$(code admin "$server/apis/networking.k8s.io/v1/namespaces/default/ingresses/web")"
}

start() {
    up --store memory "$@" >/dev/null || give_up
    connect
}

csr=$(openssl req -new -newkey rsa:2048 -nodes -keyout /dev/null -subj /CN=x 2>/dev/null)
start --api-versions all
discovered
workloads
networks
access
clusters
others
tables
differences
watches
"$sampan" down --data-dir "$dir/a" >/dev/null
check "no sanitizer complains" "" "$(grep -A 20 Sanitizer: "$dir/a/sampan.log")"
for candidate in kubectl ${SAMPAN_KUBECTL:+"$SAMPAN_KUBECTL"}; do
    command -v "$candidate" >/dev/null 2>&1 || { skip "there is no $candidate"; continue; }
    rm -rf "$dir/a" "$dir/cache"
    start --api-versions all
    with "$candidate"
    "$sampan" down --data-dir "$dir/a" >/dev/null
done

# ---- Only today's, unless they are asked for
rm -rf "$dir/a"
start
check "an old group is not there" 404 "$(code admin "$server/apis/extensions")"
check "nor its version" 404 "$(code admin "$server/apis/extensions/v1beta1/deployments")"
check "nor an old version" 404 "$(code admin "$server/apis/apps/v1beta1/deployments")"
check "nor its document" 404 "$(code admin "$server/openapi/v3/apis/apps/v1beta1")"
check "discovery has none" "" "$(get /apis | grep -o 'apps/v1beta1')"
check "nor has Swagger" "" "$(get /openapi/v2 | grep -o '/apis/apps/v1beta1/' | head -1)"
check "nor aggregated discovery under its older name" 406 \
    "$(code admin -H "Accept: $older" "$server/apis")"
check "today's is there" 200 "$(code admin "$server/apis/apps/v1/deployments")"
has "a choice is one of two" "current or all" "$("$sampan" up --api-versions x 2>&1)"
finish
