#!/bin/sh
# tour_test.sh SAMPAN - what people do with kubectl all day, word for word, on a cluster of simulated nodes. Each step
# checks what a person would look at: columns, messages, pods.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/cluster.sh"
needs kubectl
cluster_start 3 --store memory
prints() { expected=$1; shift; [ "$("$@")" = "$expected" ]; }
comes() { # NAME EXPECTED COMMAND... - sooner or later it prints that
    name=$1 wanted=$2
    shift 2
    waits prints "$wanted" "$@"
    check "$name" "$wanted" "$("$@")"
}
cells() { # COLUMN... - of kubectl's tables, without their head
    awk -v c="$*" 'BEGIN { n = split(c, f, " ") } NR > 1 { for (i = 1; i <= n; i++) printf "%s%s", $f[i], i < n ? " " : "\n" }'
}
images() { k get pods -l "$1" -o 'jsonpath={range .items[*]}{.spec.containers[0].image}{"\n"}{end}' | sort | uniq -c | awk '{ print $1, $2 }'; }
count() { k get pods -l "$1" --no-headers | grep -c " ${2:-Running} "; }
deployment() { k get deployment "$1" | cells 1 2 3 4; }

comes "nodes are ready" "simulated-0 Ready
simulated-1 Ready
simulated-2 Ready" sh -c "kubectl --kubeconfig $dir/a/admin.kubeconfig get nodes 2>&1 | awk 'NR > 1 { print \$1, \$2 }'"

# ---- create, change the image, replace
cat >"$dir/nginx.yaml" <<EOF
apiVersion: apps/v1
kind: Deployment
metadata:
  name: nginx
  labels: {app: nginx}
spec:
  replicas: 3
  selector: {matchLabels: {app: nginx}}
  template:
    metadata: {labels: {app: nginx}}
    spec:
      containers:
      - name: nginx
        image: nginx:1.25
        ports: [{containerPort: 80}]
EOF
check "create -f" "deployment.apps/nginx created" "$(k create -f "$dir/nginx.yaml")"
has "rollout status follows" 'deployment "nginx" successfully rolled out' "$(k rollout status deployment/nginx --timeout=60s)"
check "get deployment" "nginx 3/3 3 3" "$(deployment nginx)"
check "get pods" "1/1 Running 0
1/1 Running 0
1/1 Running 0" "$(k get pods | cells 2 3 4)"
check "they are on different nodes" 3 "$(k get pods -o wide | cells 7 | sort -u | wc -l)"
check "create again" 'Error from server (AlreadyExists): error when creating "'"$dir/nginx.yaml"'": deployments.apps "nginx" already exists' "$(k create -f "$dir/nginx.yaml")"
sed -i 's/nginx:1.25/nginx:1.26/' "$dir/nginx.yaml"
check "replace -f" "deployment.apps/nginx replaced" "$(k replace -f "$dir/nginx.yaml")"
has "the update is followed" "successfully rolled out" "$(k rollout status deployment/nginx --timeout=60s)"
comes "all pods are new" "3 nginx:1.26" images app=nginx
replicasets() { k get replicasets | cells 2 3 4 | sort; }
comes "two ReplicaSets" "0 0 0
3 3 3" replicasets
has "describe shows what was done" "deployment-controller  Scaled up replica set nginx-" "$(k describe deployment nginx)"

# ---- apply
sed -i 's/nginx:1.26/nginx:1.27/; s/replicas: 3/replicas: 4/' "$dir/nginx.yaml"
has "apply -f" "deployment.apps/nginx configured" "$(k apply -f "$dir/nginx.yaml")"
has "a rolling update" 'deployment "nginx" successfully rolled out' "$(k rollout status deployment/nginx --timeout=60s)"
comes "four of the new image" "4 nginx:1.27" images app=nginx
check "apply again" "deployment.apps/nginx unchanged" "$(k apply -f "$dir/nginx.yaml")"

# ---- set image, edit, scale, autoscale
check "set image" "deployment.apps/nginx image updated" "$(k set image deployment/nginx nginx=nginx:1.28)"
has "is rolled out" "successfully rolled out" "$(k rollout status deployment/nginx --timeout=60s)"
comes "set image: pods" "4 nginx:1.28" images app=nginx
printf '#!/bin/sh\nsed -i "s/nginx:1.28/nginx:1.29/" "$1"\n' >"$dir/editor"
chmod +x "$dir/editor"
check "edit" "deployment.apps/nginx edited" "$(KUBE_EDITOR="$dir/editor" k edit deployment nginx)"
has "edit is rolled out" "successfully rolled out" "$(k rollout status deployment/nginx --timeout=60s)"
comes "edit: pods" "4 nginx:1.29" images app=nginx
check "scale" "deployment.apps/nginx scaled" "$(k scale deployment nginx --replicas=6)"
comes "scale: more" "nginx 6/6 6 6" deployment nginx
check "scale, if there are so many" 'error: Expected replicas to be 2, was 6' "$(k scale deployment nginx --current-replicas=2 --replicas=3)"
check "scale down" "deployment.apps/nginx scaled" "$(k scale deployment nginx --replicas=2)"
comes "scale: fewer" "nginx 2/2 2 2" deployment nginx
comes "scale: their pods" 2 count app=nginx
check "autoscale" "horizontalpodautoscaler.autoscaling/nginx autoscaled" "$(k autoscale deployment nginx --min=2 --max=5 --cpu-percent=80)"
check "get hpa" "nginx Deployment/nginx" "$(k get hpa | cells 1 2)"
check "hpa: from and to" "2 5" "$(k get hpa nginx -o 'jsonpath={.spec.minReplicas} {.spec.maxReplicas}')"
k delete hpa nginx >/dev/null

# ---- rollout history, undo, pause, resume, restart
check "rollout history" "REVISION CHANGE-CAUSE
1 <none>
2 <none>
3 <none>
4 <none>
5 <none>" "$(k rollout history deployment/nginx | awk 'NR > 1 && NF { print $1, $2 }')"
has "of one revision" "nginx:1.26" "$(k rollout history deployment/nginx --revision=2)"
check "rollout undo" "deployment.apps/nginx rolled back" "$(k rollout undo deployment/nginx)"
comes "the image before" "2 nginx:1.28" images app=nginx
check "undo to a revision" "deployment.apps/nginx rolled back" "$(k rollout undo deployment/nginx --to-revision=2)"
comes "that image" "2 nginx:1.26" images app=nginx
check "its number is new" "1 3 5 6 7" "$(k rollout history deployment/nginx | awk 'NR > 2 && NF { print $1 }' | paste -sd' ')"
check "rollout pause" "deployment.apps/nginx paused" "$(k rollout pause deployment/nginx)"
k set image deployment/nginx nginx=nginx:1.30 >/dev/null
has "paused: nothing is undone" "cannot rollback a paused deployment" "$(k rollout undo deployment/nginx)"
sleep 0.5
check "paused: nothing happens" "2 nginx:1.26" "$(images app=nginx)"
k rollout status deployment/nginx --timeout=60s >"$dir/rollout" &
waits grep -q 'Waiting for deployment "nginx" rollout to finish:' "$dir/rollout"
check "rollout resume" "deployment.apps/nginx resumed" "$(k rollout resume deployment/nginx)"
wait $!
has "rollout status follows to the end" 'deployment "nginx" successfully rolled out' "$(cat "$dir/rollout")"
comes "resumed: it goes on" "2 nginx:1.30" images app=nginx
before=$(k get pods -l app=nginx -o name | sort)
check "rollout restart" "deployment.apps/nginx restarted" "$(k rollout restart deployment/nginx)"
has "restart is rolled out" "successfully rolled out" "$(k rollout status deployment/nginx --timeout=60s)"
comes "two again" 2 count app=nginx
printf '%s\n' "$before" >"$dir/before"
old_ones() { k get pods -l app=nginx -o name | sort | comm -12 - "$dir/before"; }
comes "none of the old ones" "" old_ones

# ---- expose, run
check "expose" "service/nginx exposed" "$(k expose deployment nginx --port=80 --target-port=80)"
endpoints() { k get endpointslices -l kubernetes.io/service-name=nginx -o 'jsonpath={.items[*].endpoints[*].addresses[0]}' | tr ' ' '\n' | sort; }
addresses() { k get pods -l app=nginx -o 'jsonpath={.items[*].status.podIP}' | tr ' ' '\n' | sort; }
same() { [ -n "$(addresses)" ] && [ "$(endpoints)" = "$(addresses)" ]; }
waits same
check "its endpoints are the pods" "$(addresses)" "$(endpoints)"
check "run" "pod/one created" "$(k run one --image=busybox --restart=Never --annotations=simulate.sampan.io/exit-code=0 -- true)"
comes "it ends" "one 0/1 Completed" sh -c "kubectl --kubeconfig $dir/a/admin.kubeconfig get pod one | awk 'NR > 1 { print \$1, \$2, \$3 }'"
check "run for ever" "pod/two created" "$(k run two --image=busybox)"
check "wait" "pod/two condition met" "$(k wait --for=condition=Ready pod/two --timeout=60s)"
check "delete pod" 'pod "two" deleted' "$(k delete pod two --wait=false)"
check "wait for its end" 0 "$(k wait --for=delete pod/two --timeout=60s >/dev/null; echo $?)"

# ---- cordon, drain, uncordon, taint
k scale deployment nginx --replicas=6 >/dev/null
comes "six on three nodes" "nginx 6/6 6 6" deployment nginx
check "cordon" "node/simulated-0 cordoned" "$(k cordon simulated-0)"
check "it takes no more" "Ready,SchedulingDisabled" "$(k get node simulated-0 | cells 2)"
out=$(k drain simulated-0 --ignore-daemonsets --force --timeout=60s)
has "drain" "node/simulated-0 drained" "$out"
has "evicts" "evicting pod default/nginx-" "$out"
comes "they are elsewhere" "nginx 6/6 6 6" deployment nginx
comes "none is there" 0 sh -c "kubectl --kubeconfig $dir/a/admin.kubeconfig get pods -A -o wide --field-selector spec.nodeName=simulated-0 --no-headers 2>/dev/null | wc -l"
check "uncordon" "node/simulated-0 uncordoned" "$(k uncordon simulated-0)"
check "taint" "node/simulated-1 tainted" "$(k taint nodes simulated-1 gpu=yes:NoExecute)"
comes "pods that do not put up with it go" 0 sh -c "kubectl --kubeconfig $dir/a/admin.kubeconfig get pods -A -o wide --field-selector spec.nodeName=simulated-1 --no-headers 2>/dev/null | wc -l"
comes "and are elsewhere again" "nginx 6/6 6 6" deployment nginx
check "and without it" "node/simulated-1 untainted" "$(k taint nodes simulated-1 gpu-)"

# ---- jobs
check "create cronjob" "cronjob.batch/tick created" "$(k create cronjob tick --image=busybox --schedule='0 0 1 1 *' -- date)"
check "create job --from" "job.batch/once created" "$(k create job once --from=cronjob/tick)"
check "wait for the job" "job.batch/once condition met" "$(k wait --for=condition=complete job/once --timeout=60s)"
check "get jobs" "once Complete 1/1" "$(k get jobs | cells 1 2 3)"
k delete job once >/dev/null
check "create job" "job.batch/alone created" "$(k create job alone --image=busybox -- date)"
check "wait for it" "job.batch/alone condition met" "$(k wait --for=condition=complete job/alone --timeout=60s)"

# ---- delete: background, orphan, foreground
check "delete --cascade=orphan" 'deployment.apps "nginx" deleted' "$(k delete deployment nginx --cascade=orphan)"
sleep 0.5
check "the pods live on" 6 "$(count app=nginx)"
check "without an owner" "" "$(k get rs -l app=nginx -o 'jsonpath={.items[*].metadata.ownerReferences}')"
check "created anew" "deployment.apps/nginx created" "$(k create -f "$dir/nginx.yaml")"
has "it adopts them" "successfully rolled out" "$(k rollout status deployment/nginx --timeout=60s)"
check "delete --cascade=foreground" 'deployment.apps "nginx" deleted' "$(k delete deployment nginx --cascade=foreground)"
check "nothing is left by then" "No resources found in default namespace." "$(k get rs,pods -l app=nginx)"
check "apply creates" "deployment.apps/nginx created" "$(k apply -f "$dir/nginx.yaml")"
check "wait --for=condition" "deployment.apps/nginx condition met" "$(k wait --for=condition=Available deployment/nginx --timeout=60s)"
check "delete --cascade=background" 'deployment.apps "nginx" deleted' "$(k delete -f "$dir/nginx.yaml" --cascade=background)"
comes "all of it goes" "No resources found in default namespace." k get rs,pods -l app=nginx

# ---- A namespace
k create namespace shop >/dev/null
k -n shop create deployment web --image=nginx --replicas=3 >/dev/null
has "in a namespace" "successfully rolled out" "$(k -n shop rollout status deployment/web --timeout=60s)"
check "delete namespace" 'namespace "shop" deleted' "$(k delete namespace shop --timeout=60s)"
has "it is gone" NotFound "$(k get namespace shop)"
check "nothing went wrong" "" "$(grep -E ' (error|fatal) ' "$dir/a/sampan.log" | grep -v 'the object has been modified')"
finish
