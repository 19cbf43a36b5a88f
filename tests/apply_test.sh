#!/bin/sh
# apply_test.sh SAMPAN [KUBECTL...] - kubectl as the writer of objects that others write too: apply
# on its own side and on the server's, from one to the other, and everything else that patches. With
# the kubectl on the PATH and that in SAMPAN_KUBECTL, or with those named; each against a server of
# its own.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"

field() { k get "$1" -o "jsonpath={$2}"; }
# managers OBJECT - "name operation subresource", one a line, sorted.
managers() {
    show=
    [ "$minor" -ge 21 ] && show=--show-managed-fields
    k get "$1" $show -o 'jsonpath={range .metadata.managedFields[*]}{.manager} {.operation} {.subresource}{"\n"}{end}' |
        sed 's/ *$//' | sort
}

# web IMAGE [LINE-OF-SPEC]
web() {
    cat >"$dir/web.yaml" <<EOF
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  ${2:-minReadySeconds: 0}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "$1", ports: [{containerPort: 80}]}
      - {name: side, image: "side:1"}
EOF
}
prices() {
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: prices}\ndata: {%s}\n' "$1" >"$dir/prices.yaml"
}

by_the_client() {
    web nginx:1 'replicas: 2'
    check "$v apply" 'deployment.apps/web created' "$(k apply -f "$dir/web.yaml")"
    check "$v apply again" 'deployment.apps/web unchanged' "$(k apply -f "$dir/web.yaml")"
    has "$v apply view-last-applied" 'image: nginx:1' "$(k apply view-last-applied deployment/web)"
    k scale deployment web --replicas=5 >/dev/null
    k label deployment web team=shop >/dev/null
    web nginx:2 'minReadySeconds: 3'
    check "$v apply of a change" 'deployment.apps/web configured' "$(k apply -f "$dir/web.yaml")"
    check "$v the image is new" 'nginx:2 side:1' "$(field deployment/web '.spec.template.spec.containers[*].image')"
    check "$v what was left out has its default" 1 "$(field deployment/web .spec.replicas)"
    check "$v what others set stays" shop "$(field deployment/web .metadata.labels.team)"
    has "$v view-last-applied is new" 'image: nginx:2' "$(k apply view-last-applied deployment/web)"
    check "$v apply edit-last-applied" '' "$(EDITOR='sed -i s/nginx:2/nginx:2.1/' k apply edit-last-applied deployment/web \
        >/dev/null)"
    has "$v edited" 'nginx:2.1' "$(k apply view-last-applied deployment/web)"
    check "$v apply set-last-applied" 'deployment.apps/web configured' \
        "$(k apply set-last-applied -f "$dir/web.yaml")"
    said=$(managers deployment/web)
    has "$v who applied" 'kubectl-client-side-apply Update' "$said"
    has "$v who labelled" 'kubectl-label Update' "$said"
}

by_the_server() {
    prices 'apples: "1", pears: "2"'
    check "$v apply --server-side" 'configmap/prices serverside-applied' \
        "$(k apply --server-side --field-manager=anna -f "$dir/prices.yaml")"
    rev=$(field cm/prices .metadata.resourceVersion)
    check "$v again" 'configmap/prices serverside-applied' \
        "$(k apply --server-side --field-manager=anna -f "$dir/prices.yaml")"
    check "$v changes nothing" "$rev" "$(field cm/prices .metadata.resourceVersion)"
    prices 'apples: "9", plums: "3"'
    said=$(k apply --server-side --field-manager=bert -f "$dir/prices.yaml")
    has "$v a conflict" 'Apply failed with 1 conflict: conflict with "anna"' "$said"
    has "$v names the field" '.data.apples' "$said"
    has "$v says what to do" '--force-conflicts' "$said"
    check "$v nothing happened" '' "$(field cm/prices .data.plums)"
    check "$v --force-conflicts" 'configmap/prices serverside-applied' \
        "$(k apply --server-side --field-manager=bert --force-conflicts -f "$dir/prices.yaml")"
    check "$v takes it" '9 2 3' "$(field cm/prices .data.apples) $(field cm/prices .data.pears) $(field cm/prices .data.plums)"
    check "$v both manage" "anna Apply
bert Apply" "$(managers cm/prices)"
    prices 'plums: "3"'
    k apply --server-side --field-manager=bert -f "$dir/prices.yaml" >/dev/null
    check "$v what is given up goes" ' 2 3' "$(field cm/prices .data.apples) $(field cm/prices .data.pears) $(field cm/prices .data.plums)"
    if [ "$minor" -ge 18 ]; then
        prices 'plums: "4"'
        check "$v a dry run" 'configmap/prices serverside-applied (server dry run)' \
            "$(k apply --server-side --dry-run=server --field-manager=bert -f "$dir/prices.yaml")"
        check "$v writes nothing" 3 "$(field cm/prices .data.plums)"
    fi
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: prices}\ndata: {a: 1}\n' >"$dir/bad.yaml"
    has "$v a bad configuration" '.data.a: expected string' \
        "$(k apply --server-side --validate=false --field-manager=bert -f "$dir/bad.yaml")"
    k delete cm prices >/dev/null
}

# From apply on the client's side to apply on the server's: nothing conflicts, and what was applied
# before and is left out now goes.
from_one_to_the_other() {
    prices 'apples: "1", pears: "2"'
    k apply -f "$dir/prices.yaml" >/dev/null
    prices 'apples: "2"'
    check "$v takes over" 'configmap/prices serverside-applied' "$(k apply --server-side -f "$dir/prices.yaml")"
    check "$v with the new value" 2 "$(field cm/prices .data.apples)"
    if [ "$minor" -ge 26 ]; then
        check "$v what is left out goes" '' "$(field cm/prices .data.pears)"
        check "$v nobody else manages" "kubectl Apply
kubectl-last-applied Apply" "$(managers cm/prices)"
    else
        check "$v two managers" "kubectl Apply
kubectl-client-side-apply Update" "$(managers cm/prices)"
    fi
    prices 'apples: "3"'
    check "$v and back" 'configmap/prices configured' "$(k apply -f "$dir/prices.yaml" | grep -v '^Warning')"
    check "$v as well" 3 "$(field cm/prices .data.apples)"
    k delete cm prices >/dev/null
}

prunes() {
    for name in one two; do
        printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, labels: {set: fruit}}\n---\n' $name
    done >"$dir/set.yaml"
    k apply -f "$dir/set.yaml" >/dev/null
    k create configmap three >/dev/null
    k label cm three set=fruit >/dev/null
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, labels: {set: fruit}}\n' >"$dir/set.yaml"
    list=--prune-whitelist
    [ "$minor" -ge 26 ] && list=--prune-allowlist
    check "$v apply --prune" "configmap/one unchanged
configmap/two pruned" "$(k apply --prune -l set=fruit $list=core/v1/ConfigMap -f "$dir/set.yaml" |
        grep -v '^Flag\|^Warning')"
    check "$v only what was applied goes" "configmap/one
configmap/three" "$(k get cm -l set=fruit -o name)"
    k delete cm -l set=fruit >/dev/null
}

differs() {
    web nginx:3 'replicas: 4'
    said=$(k diff -f "$dir/web.yaml")
    has "$v diff" 'image: nginx:3' "$said"
    has "$v diff of a number" '+  replicas: 4' "$said"
    [ "$minor" -lt 18 ] || has "$v diff --server-side" 'image: nginx:3' \
        "$(k diff --server-side --force-conflicts -f "$dir/web.yaml")"
    check "$v diff writes nothing" 'nginx:2 side:1' \
        "$(field deployment/web '.spec.template.spec.containers[*].image')"
    k apply -f "$dir/web.yaml" >/dev/null
    check "$v diff of what is there" '' "$(k diff -f "$dir/web.yaml")"
}

edits() {
    check "$v set image" 'deployment.apps/web image updated' "$(k set image deployment/web side=side:2)"
    check "$v only that" 'nginx:3 side:2' "$(field deployment/web '.spec.template.spec.containers[*].image')"
    check "$v set env" 'deployment.apps/web env updated' "$(k set env deployment/web -c side MODE=fast)"
    check "$v of one container" fast "$(field deployment/web '.spec.template.spec.containers[*].env[*].value')"
    check "$v patch" 'deployment.apps/web patched' \
        "$(k patch deployment web -p '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"side:3"}]}}}}')"
    check "$v merges by name" 'nginx:3 side:3' "$(field deployment/web '.spec.template.spec.containers[*].image')"
    check "$v patch --type=merge" 'deployment.apps/web patched' \
        "$(k patch deployment web --type=merge -p '{"spec":{"minReadySeconds":7}}')"
    check "$v patch --type=json" 'deployment.apps/web patched' \
        "$(k patch deployment web --type=json -p '[{"op":"test","path":"/spec/minReadySeconds","value":7},{"op":"replace","path":"/spec/minReadySeconds","value":8}]')"
    check "$v both were done" 8 "$(field deployment/web .spec.minReadySeconds)"
    check "$v patch of nothing" 'deployment.apps/web patched (no change)' \
        "$(k patch deployment web --type=merge -p '{"spec":{"minReadySeconds":8}}')"
    check "$v a test that fails" 1 "$(k patch deployment web --type=json \
        -p '[{"op":"test","path":"/spec/minReadySeconds","value":1}]' >/dev/null; echo $?)"
    check "$v label --overwrite" 'deployment.apps/web labeled' "$(k label deployment web team=store --overwrite)"
    has "$v label-" 'deployment.apps/web ' "$(k label deployment web team-)"
    check "$v it is gone" '' "$(field deployment/web .metadata.labels.team)"
    has "$v annotate" 'deployment.apps/web annotate' "$(k annotate deployment web note=hello)"
    check "$v scale" 'deployment.apps/web scaled' "$(k scale deployment web --replicas=6)"
    has "$v the scale has its manager" "${kubectl##*/} Update scale" "$(managers deployment/web)"
    has "$v scale on a condition" 'Expected replicas to be 2, was 6' \
        "$(k scale deployment web --current-replicas=2 --replicas=9)"
    check "$v edit" 'deployment.apps/web edited' \
        "$(EDITOR='sed -i s/replicas:.6/replicas:\ 7/' k edit deployment web)"
    check "$v edited" '7 hello' "$(field deployment/web .spec.replicas) $(field deployment/web .metadata.annotations.note)"
    check "$v rollout restart" 'deployment.apps/web restarted' "$(k rollout restart deployment web)"
}

replaces() {
    uid=$(field deployment/web .metadata.uid)
    said=$(k replace --force -f "$dir/web.yaml")
    has "$v replace --force deletes" 'deployment.apps "web" deleted' "$said"
    has "$v and makes it anew" 'deployment.apps/web replaced' "$said"
    check "$v as another one" other "$([ "$uid" = "$(field deployment/web .metadata.uid)" ] && echo same || echo other)"
    check "$v create" 'configmap/fresh created' "$(k create configmap fresh --from-literal=a=1)"
    check "$v create --save-config" 'deployment.apps/web created' \
        "$(k delete deployment web >/dev/null; k create --save-config -f "$dir/web.yaml")"
    check "$v which apply knows" 'deployment.apps/web unchanged' "$(k apply -f "$dir/web.yaml")"
}

suite() {
    kubectl=$1
    minor=$("$kubectl" version --client -o json | sed -n 's/.*"minor": "\([0-9]*\).*/\1/p' | head -n 1)
    v="1.$minor"
    said=$(up) || { echo "it does not start: $said"; cat "$dir/a/sampan.log"; exit 1; }
    by_the_client
    by_the_server
    from_one_to_the_other
    prunes
    differs
    edits
    replaces
    end_suite
}

shift
each_kubectl "$@"
