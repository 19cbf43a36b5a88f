#!/bin/sh
# kubectl_test.sh SAMPAN [KUBECTL] - what people do with kubectl, and what it prints then against a
# real cluster. With the kubectl on the PATH and that in SAMPAN_KUBECTL, or with the one named; each
# against a server of its own.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"

# Tables without what differs from run to run: ages, and the width of columns.
table() { k "$@" | sed -E 's/ +/ /g; s/ ([0-9]+[smh])+( |$)/ AGE\2/g; s/ +$//'; }

write_files() {
    cat >"$dir/shop.yaml" <<'EOF'
apiVersion: v1
kind: ConfigMap
metadata: {name: prices, labels: {app: web}}
data: {apples: "3", pears: "4"}
---
apiVersion: v1
kind: Secret
metadata: {name: login, labels: {app: web}}
stringData: {user: admin, password: secret}
---
apiVersion: v1
kind: Service
metadata: {name: web, labels: {app: web}}
spec:
  clusterIP: 10.0.0.77
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: 8080}]
---
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  containers: [{name: web, image: "nginx:1.27"}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: "nginx:1.27", ports: [{containerPort: 8080}]}]
---
apiVersion: v1
kind: Node
metadata: {name: node-1, labels: {node-role.kubernetes.io/worker: ""}}
---
apiVersion: v1
kind: Event
metadata: {name: web.1}
involvedObject: {apiVersion: v1, kind: Pod, name: web, namespace: shop}
type: Normal
reason: Scheduled
message: Successfully assigned shop/web to node-1
source: {component: default-scheduler}
count: 1
EOF
    cat >"$dir/pod-status.json" <<'EOF'
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}},
 "status": {"phase": "Running", "podIP": "10.1.0.9", "podIPs": [{"ip": "10.1.0.9"}],
  "containerStatuses": [{"name": "web", "image": "nginx:1.27", "imageID": "", "ready": true,
   "restartCount": 0, "state": {"running": {}}}]}}
EOF
    cat >"$dir/node-status.json" <<'EOF'
{"apiVersion": "v1", "kind": "Node",
 "metadata": {"name": "node-1", "labels": {"node-role.kubernetes.io/worker": ""}},
 "status": {"conditions": [{"type": "Ready", "status": "True"}],
  "addresses": [{"type": "InternalIP", "address": "192.168.0.5"}],
  "nodeInfo": {"kubeletVersion": "v1.38.0", "osImage": "Debian GNU/Linux 12", "kernelVersion": "6.1",
   "containerRuntimeVersion": "containerd://2.0"}}}
EOF
}

creates() {
    check "$v get ns" "NAME STATUS AGE
default Active AGE
kube-node-lease Active AGE
kube-public Active AGE
kube-system Active AGE" "$(table get ns)"
    check "$v get all -A at first" "NAMESPACE NAME TYPE CLUSTER-IP EXTERNAL-IP PORT(S) AGE
default service/kubernetes ClusterIP 10.0.0.1 <none> 443/TCP AGE" "$(table get all -A)"
    check "$v nothing there" "No resources found in default namespace." "$(k get pods)"
    check "$v create namespace" "namespace/shop created" "$(k create namespace shop)"
    check "$v create -f" "configmap/prices created
secret/login created
service/web created
pod/web created
deployment.apps/web created
node/node-1 created
event/web.1 created" "$(k -n shop create -f "$dir/shop.yaml")"
    has "$v create again" 'Error from server (AlreadyExists): error when creating' \
        "$(k -n shop create -f "$dir/shop.yaml")"
    has "$v create again says what" 'deployments.apps "web" already exists' \
        "$(k -n shop create -f "$dir/shop.yaml")"
    check "$v create configmap" "configmap/other created" \
        "$(k -n shop create configmap other --from-literal=plums=7)"
    check "$v create secret" "secret/other created" \
        "$(k -n shop create secret generic other --from-literal=key=value)"
    check "$v create deployment" "deployment.apps/other created" \
        "$(k -n shop create deployment other --image=busybox)"
    check "$v a pod nobody runs" "NAME READY STATUS RESTARTS AGE
web 0/1 Pending 0 AGE" "$(table -n shop get pods)"
    check "$v expose" "service/other exposed" "$(k -n shop expose deployment other --port=80)"
    has "$v an address is given" "other ClusterIP 10.0." "$(table -n shop get service other)"
    has "$v delete service" 'service "other" deleted' "$(k -n shop delete service other)"
}

tables() {
    has "$v replace --raw of a status" '"phase":"Running"' "$(k replace --raw \
        /api/v1/namespaces/shop/pods/web/status -f "$dir/pod-status.json")"
    has "$v replace --raw of a node's status" '"kubeletVersion":"v1.38.0"' "$(k replace --raw \
        /api/v1/nodes/node-1/status -f "$dir/node-status.json")"
    check "$v get pods" "NAME READY STATUS RESTARTS AGE
web 1/1 Running 0 AGE" "$(table -n shop get pods)"
    check "$v get pods -o wide" "NAME READY STATUS RESTARTS AGE IP NODE NOMINATED NODE READINESS GATES
web 1/1 Running 0 AGE 10.1.0.9 <none> <none> <none>" "$(table -n shop get pods -o wide)"
    check "$v get deployments" "NAME READY UP-TO-DATE AVAILABLE AGE
other 0/1 0 0 AGE
web 0/2 0 0 AGE" "$(table -n shop get deployments)"
    check "$v get deployment -o wide" "NAME READY UP-TO-DATE AVAILABLE AGE CONTAINERS IMAGES SELECTOR
web 0/2 0 0 AGE web nginx:1.27 app=web" "$(table -n shop get deployment web -o wide)"
    check "$v get services -o wide" "NAME TYPE CLUSTER-IP EXTERNAL-IP PORT(S) AGE SELECTOR
web ClusterIP 10.0.0.77 <none> 80/TCP AGE app=web" "$(table -n shop get services -o wide)"
    check "$v get configmaps" "NAME DATA AGE
other 1 AGE
prices 2 AGE" "$(table -n shop get configmaps)"
    check "$v get secrets" "NAME TYPE DATA AGE
login Opaque 2 AGE
other Opaque 1 AGE" "$(table -n shop get secrets)"
    check "$v get nodes -o wide" "NAME STATUS ROLES AGE VERSION INTERNAL-IP EXTERNAL-IP OS-IMAGE \
KERNEL-VERSION CONTAINER-RUNTIME
node-1 Ready worker AGE v1.38.0 192.168.0.5 <none> Debian GNU/Linux 12 6.1 containerd://2.0" \
        "$(table get nodes -o wide)"
    check "$v get events" "LAST SEEN TYPE REASON OBJECT MESSAGE
<unknown> Normal Scheduled pod/web Successfully assigned shop/web to node-1" "$(table -n shop get events)"
    check "$v get namespace" "NAME STATUS AGE
shop Active AGE" "$(table get namespace shop)"
    check "$v get --show-labels" "NAME STATUS AGE LABELS
shop Active AGE kubernetes.io/metadata.name=shop" "$(table get ns shop --show-labels)"
    check "$v get -L" "NAME DATA AGE APP
other 1 AGE
prices 2 AGE web" "$(table -n shop get cm -L app)"
    check "$v get --no-headers" "shop Active AGE" "$(table get ns shop --no-headers)"
    check "$v get two kinds" "NAME DATA AGE
configmap/prices 2 AGE

NAME TYPE DATA AGE
secret/login Opaque 2 AGE" "$(table -n shop get cm/prices secret/login)"
    check "$v get all -A" "NAMESPACE NAME READY STATUS RESTARTS AGE
shop pod/web 1/1 Running 0 AGE

NAMESPACE NAME TYPE CLUSTER-IP EXTERNAL-IP PORT(S) AGE
default service/kubernetes ClusterIP 10.0.0.1 <none> 443/TCP AGE
shop service/web ClusterIP 10.0.0.77 <none> 80/TCP AGE

NAMESPACE NAME READY UP-TO-DATE AVAILABLE AGE
shop deployment.apps/other 0/1 0 0 AGE
shop deployment.apps/web 0/2 0 0 AGE" "$(table get all -A)"
}

formats() {
    check "$v -o name" "configmap/other
configmap/prices" "$(k -n shop get cm -o name)"
    check "$v -o name of a group" "deployment.apps/web" "$(k -n shop get deploy web -o name)"
    check "$v -o jsonpath" "3 prices" "$(k -n shop get cm prices -o 'jsonpath={.data.apples} {.metadata.name}')"
    check "$v -o jsonpath over a list" "other prices " \
        "$(k -n shop get cm -o 'jsonpath={range .items[*]}{.metadata.name} {end}')"
    check "$v -o go-template" "Opaque" "$(k -n shop get secret login -o 'go-template={{.type}}')"
    check "$v -o custom-columns" "NAME IMAGE REPLICAS
other busybox 1
web nginx:1.27 2" "$(table -n shop get deploy -o \
        'custom-columns=NAME:.metadata.name,IMAGE:.spec.template.spec.containers[*].image,REPLICAS:.spec.replicas')"
    # Until 1.21 kubectl printed who manages which field.
    managers=
    [ "$minor" -ge 21 ] || managers='
  managedFields:
  - apiVersion: v1
    fieldsType: FieldsV1
    fieldsV1:
      f:data:
        .: {}
        f:apples: {}
        f:pears: {}
      f:metadata:
        f:labels:
          .: {}
          f:app: {}
    manager: kubectl-create
    operation: Update
    time: SET'
    check "$v -o yaml" "apiVersion: v1
data:
  apples: \"3\"
  pears: \"4\"
kind: ConfigMap
metadata:
  creationTimestamp: SET
  labels:
    app: web$managers
  name: prices
  namespace: shop
  resourceVersion: SET
  uid: SET" "$(k -n shop get cm prices -o yaml |
        sed -E 's/(creationTimestamp|resourceVersion|uid|time): .*/\1: SET/')"
    said=$(k -n shop get cm -o json)
    has "$v -o json makes a List" '"kind": "List"' "$said"
    has "$v -o json has the items" '"apples": "3"' "$said"
    for kind in pods deployments services configmaps secrets events; do
        has "$v get $kind -o yaml" "namespace: shop" "$(k -n shop get $kind -o yaml)"
        has "$v get $kind -o json" '"namespace": "shop"' "$(k -n shop get $kind -o json)"
    done
    has "$v get nodes -o yaml" "kubeletVersion: v1.38.0" "$(k get nodes -o yaml)"
    has "$v get namespaces -o json" '"phase": "Active"' "$(k get namespaces -o json)"
}

selections() {
    check "$v -l" "configmap/prices" "$(k -n shop get cm -l app=web -o name)"
    check "$v -l with a set" "configmap/other" "$(k -n shop get cm -l 'app notin (web)' -o name)"
    check "$v -l over kinds" "configmap/prices
secret/login
service/web" "$(k -n shop get cm,secret,svc -l app=web -o name)"
    check "$v --field-selector" "configmap/other" \
        "$(k -n shop get cm --field-selector metadata.name=other -o name)"
    check "$v --field-selector of pods" "pod/web" \
        "$(k get pods -A --field-selector status.phase=Running,spec.nodeName= -o name)"
    has "$v --field-selector of nothing" \
        'Error from server (BadRequest): Unable to find "/v1, Resource=configmaps" that match label selector' \
        "$(k -n shop get cm --field-selector data.apples=3)"
    has "$v a bad -l" "unable to parse requirement" "$(k -n shop get cm -l 'a in')"
    check "$v --chunk-size" "$(k get ns -o name)" "$(k get ns -o name --chunk-size=2)"
    check "$v --chunk-size of a table" 6 "$(k get ns --chunk-size=2 | wc -l)"
    check "$v --sort-by" "configmap/prices
configmap/other" "$(k -n shop get cm --sort-by '{.data.plums}' -o name)"
    check "$v --sort-by of a table" "NAME STATUS AGE
default Active AGE
kube-node-lease Active AGE" "$(table get ns --sort-by .metadata.name | head -n 3)"
}

changes() {
    k -n shop get cm prices -o yaml >"$dir/prices.yaml"
    sed 's/apples: "3"/apples: "5"/' "$dir/prices.yaml" >"$dir/dearer.yaml"
    check "$v replace" "configmap/prices replaced" "$(k replace -f "$dir/dearer.yaml")"
    check "$v replaced" 5 "$(k -n shop get cm prices -o 'jsonpath={.data.apples}')"
    has "$v a stale replace" 'Operation cannot be fulfilled on configmaps "prices": the object has been modified;' \
        "$(k replace -f "$dir/prices.yaml")"
    has "$v the words of a conflict" "Error from server (Conflict): error when replacing" \
        "$(k replace -f "$dir/prices.yaml")"
    check "$v replace of nothing" 'Error from server (NotFound): error when replacing "STDIN": '\
'configmaps "nothing" not found' "$(sed 's/name: prices/name: nothing/; /resourceVersion/d; /uid/d' \
        "$dir/prices.yaml" | k replace -f -)"
    check "$v get of nothing" 'Error from server (NotFound): pods "nothing" not found' \
        "$(k -n shop get pod nothing)"
    check "$v a kind of nothing" "error: the server doesn't have a resource type \"nothing\"" \
        "$(k get nothing)"
}

validation() {
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: odd}\nnothing: 1\n' >"$dir/odd.yaml"
    if [ "$minor" -ge 25 ]; then
        check "$v --validate=strict" "Error from server (BadRequest): error when creating \"odd.yaml\": \
ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: unknown field \"nothing\"" \
            "$(cd "$dir" && k -n shop create --validate=strict -f odd.yaml)"
        check "$v --validate=warn" "Warning: unknown field \"nothing\"
configmap/odd created" "$(k -n shop create --validate=warn -f "$dir/odd.yaml")"
        check "$v --dry-run=server" "configmap/dry created (server dry run)" \
            "$(k -n shop create configmap dry --dry-run=server)"
        check "$v a dry run leaves nothing" 'Error from server (NotFound): configmaps "dry" not found' \
            "$(k -n shop get cm dry)"
    else
        has "$v --validate" 'unknown field "nothing" in io.k8s.api.core.v1.ConfigMap' \
            "$(k -n shop create --validate=true -f "$dir/odd.yaml")"
        check "$v --validate=false" "Warning: unknown field \"nothing\"
configmap/odd created" "$(k -n shop create --validate=false -f "$dir/odd.yaml")"
    fi
    has "$v a bad name" 'ConfigMap "Not_A_Name" is invalid: metadata.name: Invalid value: "Not_A_Name": a '\
'lowercase RFC 1123 subdomain must consist of' "$(k -n shop create configmap Not_A_Name)"
    check "$v a namespace that is not there" \
        'error: failed to create configmap: namespaces "nowhere" not found' \
        "$(k -n nowhere create configmap a | sed 's/Error from server (NotFound):/error: failed to create configmap:/')"
    if [ "$minor" -ge 28 ]; then
        has "$v auth whoami" "system:masters" "$(k auth whoami)"
    fi
}

watches() {
    "$kubectl" --kubeconfig "$dir/a/admin.kubeconfig" --cache-dir "$dir/cache" -n shop get cm -w \
        -o 'custom-columns=NAME:.metadata.name,PLUMS:.data.plums' --no-headers >"$dir/watch" 2>&1 &
    watcher=$!
    waits grep -q prices "$dir/watch"
    k -n shop get cm other -o yaml | sed 's/plums: "7"/plums: "8"/' | k replace -f - >/dev/null
    waits grep -q "other *8" "$dir/watch"
    has "$v get -w" "other 8" "$(sed -E 's/ +/ /g' "$dir/watch")"
    kill $watcher
    wait $watcher 2>/dev/null

    "$kubectl" --kubeconfig "$dir/a/admin.kubeconfig" --cache-dir "$dir/cache" -n shop get pods -w \
        --output-watch-events >"$dir/watch" 2>&1 &
    watcher=$!
    waits grep -q "ADDED *web" "$dir/watch"
    k -n shop run extra --image=busybox >/dev/null
    k -n shop delete pod extra --grace-period=0 --force >/dev/null
    waits grep -q "DELETED *extra" "$dir/watch"
    check "$v get -w as a table" "EVENT NAME READY
ADDED web 1/1
ADDED extra 0/1
MODIFIED extra 0/1
DELETED extra 0/1" "$(sed -E 's/ +/ /g' "$dir/watch" | cut -d ' ' -f 1-3)"
    kill $watcher
    wait $watcher 2>/dev/null

    k -n shop create configmap brief >/dev/null
    (sleep 1; k -n shop delete cm brief >/dev/null) &
    check "$v wait --for=delete" "configmap/brief condition met" \
        "$(k -n shop wait --for=delete cm/brief --timeout=20s)"
    wait
    check "$v wait --for=condition" "node/node-1 condition met" \
        "$(k wait --for=condition=Ready node/node-1 --timeout=20s)"
    [ "$minor" -lt 23 ] || check "$v wait --for=jsonpath" "pod/web condition met" \
        "$(k -n shop wait '--for=jsonpath={.status.phase}=Running' pod/web --timeout=20s)"
    has "$v wait for what does not come" "timed out waiting for the condition on nodes/node-1" \
        "$(k wait --for=condition=Bored node/node-1 --timeout=1s)"
}

# describes KIND/NAME PART...
describes() {
    said=$(table -n shop describe "$1")
    object=$1
    shift
    for part; do
        has "$v describe $object" "$part" "$said"
    done
}
descriptions() {
    describes pod/web "Name: web" "Status: Running" "IP: 10.1.0.9" "Image: nginx:1.27" "QoS Class: BestEffort"
    describes deployment/web "Replicas: 2 desired | 0 updated | 0 total | 0 available | 0 unavailable" \
        "StrategyType: RollingUpdate" "25% max unavailable, 25% max surge" "Events: <none>"
    describes service/web "IP: 10.0.0.77" "Port: http 80/TCP" "TargetPort: 8080/TCP" "Endpoints: <none>"
    describes configmap/prices "apples:" "Events: <none>"
    describes secret/login "Type: Opaque" "password: 6 bytes" "user: 5 bytes"
    describes node/node-1 "Roles: worker" "Kubelet Version: v1.38.0" "InternalIP: 192.168.0.5" \
        "Non-terminated Pods: (0 in total)"
    describes namespace/shop "Status: Active" "No resource quota." "No LimitRange resource."
    describes event/web.1 "Reason: Scheduled" "Message: Successfully assigned shop/web to node-1"
}

discovery() {
    for pair in pods:Pod deployments:Deployment services:Service configmaps:ConfigMap secrets:Secret \
        nodes:Node namespaces:Namespace events:Event; do
        said=$(table explain "${pair%:*}" --recursive)
        has "$v explain ${pair%:*}" "KIND: ${pair#*:}" "$said"
        has "$v explain ${pair%:*} --recursive" "finalizers" "$said"
    done
    said=$(table api-resources -o wide | tr -d '[]' | tr ' ' ,)
    verbs=create,delete,deletecollection,get,list,patch,update,watch
    has "$v api-resources: pods" "pods,po,v1,true,Pod,$verbs" "$said"
    has "$v api-resources: deployments" "deployments,deploy,apps/v1,true,Deployment,$verbs" "$said"
    has "$v api-resources: services" "services,svc,v1,true,Service,$verbs" "$said"
    has "$v api-resources: configmaps" "configmaps,cm,v1,true,ConfigMap,$verbs" "$said"
    has "$v api-resources: secrets" "secrets,v1,true,Secret,$verbs" "$said"
    has "$v api-resources: nodes" "nodes,no,v1,false,Node,$verbs" "$said"
    has "$v api-resources: namespaces" "namespaces,ns,v1,false,Namespace,create,delete,get,list,patch,update,watch" \
        "$said"
    has "$v api-resources: events" "events,ev,events.k8s.io/v1,true,Event,$verbs" "$said"
    said=$(k api-versions)
    for version in apps/v1 batch/v1 rbac.authorization.k8s.io/v1 v1; do
        check "$v api-versions: $version" "$version" "$(printf '%s\n' "$said" | grep -x "$version")"
    done
}

# Newer ones add where it was deleted from.
deletes() {
    has "$v delete" 'configmap "odd" deleted' "$(k -n shop delete configmap odd)"
    check "$v delete of nothing" 'Error from server (NotFound): configmaps "odd" not found' \
        "$(k -n shop delete configmap odd)"
    check "$v delete --ignore-not-found" "" "$(k -n shop delete configmap odd --ignore-not-found)"
    has "$v delete -l" 'secret "login" deleted' "$(k -n shop delete secret -l app=web)"
    said=$(k -n shop delete cm --all)
    has "$v delete --all" 'configmap "other" deleted' "$said"
    has "$v delete --all, the next" 'configmap "prices" deleted' "$said"
    check "$v all are gone" "No resources found in shop namespace." "$(k -n shop get cm)"
    has "$v delete -f" 'deployment.apps "web" deleted' \
        "$(k -n shop delete -f "$dir/shop.yaml" --ignore-not-found)"
    check "$v the pod is gone" "No resources found in shop namespace." "$(k -n shop get pods)"
    check "$v delete namespace" 'namespace "shop" deleted' "$(k delete namespace shop --wait=false)"
    check "$v it is being deleted" "NAME STATUS AGE
shop Terminating AGE" "$(table get ns shop)"
    has "$v and takes no more" 'configmaps "late" is forbidden: unable to create new content in namespace '\
'shop because it is being terminated' "$(k -n shop create configmap late)"
}

patches() {
    cat >"$dir/patched.yaml" <<'END'
apiVersion: apps/v1
kind: Deployment
metadata: {name: patched}
spec:
  selector: {matchLabels: {app: p}}
  template:
    metadata: {labels: {app: p}}
    spec: {containers: [{name: c, image: "img:1"}, {name: d, image: "img:1"}]}
END
    field() { k get deployment patched -o "jsonpath={$1}"; }
    check "$v apply creates" 'deployment.apps/patched created' "$(k apply -f "$dir/patched.yaml")"
    check "$v apply again" 'deployment.apps/patched unchanged' "$(k apply -f "$dir/patched.yaml")"
    sed -i 's/name: c, image: "img:1"/name: c, image: "img:2"/' "$dir/patched.yaml"
    check "$v apply a change" 'deployment.apps/patched configured' "$(k apply -f "$dir/patched.yaml")"
    check "$v only that changed" 'img:2 img:1' "$(field '.spec.template.spec.containers[*].image')"
    k set image deployment/patched d=img:3 >/dev/null
    check "$v set image" 'img:2 img:3' "$(field '.spec.template.spec.containers[*].image')"
    k scale deployment patched --replicas=3 >/dev/null
    check "$v scale" 3 "$(field .spec.replicas)"
    k label deployment patched a=b >/dev/null
    k annotate deployment patched x=y >/dev/null
    check "$v label and annotate" 'b y' "$(field .metadata.labels.a) $(field .metadata.annotations.x)"
    k patch deployment patched --type=json -p '[{"op":"replace","path":"/spec/replicas","value":4}]' >/dev/null
    check "$v JSON patch" 4 "$(field .spec.replicas)"
    k patch deployment patched --type=merge -p '{"spec":{"replicas":5}}' >/dev/null
    check "$v merge patch" 5 "$(field .spec.replicas)"
    EDITOR='sed -i s/replicas:.5/replicas:\ 6/' k edit deployment patched >/dev/null
    check "$v edit" 6 "$(field .spec.replicas)"
    k delete deployment patched >/dev/null
}

suite() {
    kubectl=$1
    minor=$("$kubectl" version --client -o json | sed -n 's/.*"minor": "\([0-9]*\).*/\1/p' | head -n 1)
    v="1.$minor"
    said=$(up) || { echo "it does not start: $said"; cat "$dir/a/sampan.log"; exit 1; }
    write_files
    creates
    tables
    formats
    selections
    changes
    validation
    watches
    descriptions
    discovery
    patches
    deletes
    check "$v the server is still there" 0 "$("$sampan" status --data-dir "$dir/a" >/dev/null; echo $?)"
    end_suite
}

shift
each_kubectl "$@"
