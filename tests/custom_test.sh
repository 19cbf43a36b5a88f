#!/bin/sh
# custom_test.sh SAMPAN [KUBECTL...] - custom resources as people use them with kubectl, from the
# classic definition without a schema to one with everything. With the kubectl on the PATH and that
# in SAMPAN_KUBECTL, or with those named; each against a server of its own.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"

# Tables without what differs from run to run: ages, and the width of columns.
table() { k "$@" | sed -E 's/ +/ /g; s/ ([0-9]+[smh])+( |$)/ AGE\2/g; s/ +$//'; }
# tells FILE TEXT - whether it is there
tells() { grep -q -e "$2" "$1"; }
# sets NAME JSON - of a fleet's status, as its controller would
sets() {
    admin -A test -X PATCH -H 'Content-Type: application/merge-patch+json' \
        "$server/apis/shop.example.com/v1/namespaces/default/fleets/$1/status" -d "$2" >/dev/null
}

write_files() {
    cat >"$dir/network-crd.yaml" <<'EOF'
apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
metadata:
  name: networks.samplecrd.k8s.io
spec:
  group: samplecrd.k8s.io
  version: v1
  names:
    kind: Network
    plural: networks
  scope: Namespaced
EOF
    cat >"$dir/network.yaml" <<'EOF'
apiVersion: samplecrd.k8s.io/v1
kind: Network
metadata:
  name: example-network
spec:
  cidr: "192.168.0.0/16"
  gateway: "192.168.0.1"
EOF
    cat >"$dir/fleet-crd.yaml" <<'EOF'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: fleets.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {plural: fleets, singular: fleet, kind: Fleet, shortNames: [fl], categories: [shop]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.boats, statusReplicasPath: .status.boats, labelSelectorPath: .status.selector}
    selectableFields: [{jsonPath: .spec.harbour}]
    additionalPrinterColumns:
    - {name: Boats, type: integer, jsonPath: .spec.boats, description: how many there should be}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Harbour, type: string, jsonPath: .spec.harbour, priority: 1}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        description: Boats that sail together.
        required: [spec]
        properties:
          spec:
            type: object
            properties:
              boats: {type: integer, minimum: 0, maximum: 20, description: How many boats it has.}
              harbour: {type: string, default: kiel, enum: [kiel, bremen]}
              crew:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties:
                    name: {type: string}
                    rank: {type: string}
          status:
            type: object
            properties:
              boats: {type: integer}
              selector: {type: string}
              phase: {type: string}
              conditions:
                type: array
                items:
                  type: object
                  properties:
                    type: {type: string}
                    status: {type: string}
EOF
    sed 's/^\( *\)harbour: .*/&\n\1flag: {type: string, default: blue}/' "$dir/fleet-crd.yaml" \
        >"$dir/fleet-crd-2.yaml"
    cat >"$dir/fleet.yaml" <<'EOF'
apiVersion: shop.example.com/v1
kind: Fleet
metadata: {name: north, labels: {sea: baltic}}
spec:
  boats: 2
  crew: [{name: anna, rank: captain}]
---
apiVersion: shop.example.com/v1
kind: Fleet
metadata: {name: south}
spec: {harbour: bremen}
EOF
    cat >"$dir/applied.yaml" <<'EOF'
apiVersion: shop.example.com/v1
kind: Fleet
metadata: {name: east}
spec:
  crew: [{name: bert, rank: mate}]
EOF
    cat >"$dir/wrong.yaml" <<'EOF'
apiVersion: shop.example.com/v1
kind: Fleet
metadata: {name: wrong}
spec: {boats: 50, harbour: atlantis, crew: [{rank: mate}]}
EOF
    cat >"$dir/editor" <<'EOF'
#!/bin/sh
sed 's/boats: 2/boats: 3/' "$1" >"$1.new" && cat "$1.new" >"$1"
EOF
    chmod +x "$dir/editor"
}

classic() {
    has "$v the classic definition" "customresourcedefinition.apiextensions.k8s.io/networks.samplecrd.k8s.io created" \
        "$(k apply -f "$dir/network-crd.yaml")"
    waits applies "$dir/network.yaml"
    check "$v its object" "network.samplecrd.k8s.io/example-network created" "$(cat "$dir/applied")"
    check "$v again" "network.samplecrd.k8s.io/example-network unchanged" "$(k apply -f "$dir/network.yaml")"
    check "$v is printed" "NAME AGE
example-network AGE" "$(table get networks)"
    has "$v keeps what it was given" 'gateway: 192.168.0.1' "$(k get network example-network -o yaml)"
    has "$v is described" "Gateway:  192.168.0.1" "$(k describe network example-network | sed 's/^ *//')"
    has "$v without a schema it is so, too" '"cidr":"10.0.0.0/8"' "$(k patch network example-network \
        --type merge -p '{"spec":{"cidr":"10.0.0.0/8"}}' -o json | tr -d ' \n')"
}

# applies FILE... - whether all of it could be applied; what was printed is in $dir/applied
applies() {
    for file in "$@"; do
        shift
        set -- "$@" -f "$file"
    done
    k apply "$@" >"$dir/applied"
}

# A definition and its objects at once fail until it is served, and succeed some time later.
created() {
    waits applies "$dir/fleet-crd.yaml" "$dir/fleet.yaml"
    has "$v both are applied" "fleet.shop.example.com/north " "$(cat "$dir/applied")"
    check "$v it is established" "True" "$(k get crd fleets.shop.example.com \
        -o jsonpath='{.status.conditions[?(@.type=="Established")].status}')"
    has "$v definitions are printed" "fleets.shop.example.com Namespaced v1(storage) 20" \
        "$(table get crd fleets.shop.example.com)"
    has "$v what is wrong is all said" 'spec.boats: Invalid value: 50: spec.boats in body should be less than or equal to 20' \
        "$(k apply -f "$dir/wrong.yaml" --validate=false | tr '\n' ' ')"
    has "$v by its field" 'spec.harbour: Unsupported value: "atlantis": supported values: "kiel", "bremen"' \
        "$(k apply -f "$dir/wrong.yaml" --validate=false)"
    has "$v resources" "fleets fl shop.example.com/v1 true Fleet" \
        "$(k api-resources --api-group shop.example.com --no-headers | sed -E 's/ +/ /g')"
}

# A status that a schema has a default for: what a client sends of it is dropped, the default is not.
status_defaulted() {
    k apply -f - >/dev/null <<'EOF'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pots.tea.io}
spec:
  group: tea.io
  names: {kind: Pot, plural: pots}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, properties: {
      status: {type: object, default: {phase: New}, properties: {phase: {type: string}}}}}}}
EOF
    check "$v a default of the status" New "$(echo '{"apiVersion": "tea.io/v1", "kind": "Pot", "metadata": {"name": "a"},
        "status": {"phase": "Old"}}' | k create -f - -o 'jsonpath={.status.phase}')"
    check "$v is stored" New "$(k get pot a -o 'jsonpath={.status.phase}')"
    k delete crd pots.tea.io >/dev/null
}

printed() {
    check "$v columns" "NAME BOATS READY AGE
north 2 AGE
south AGE" "$(table get fleets)"
    sets north '{"status":{"boats":1,"selector":"sea=baltic","conditions":[{"type":"Old","status":"x"},{"type":"Ready","status":"True"}]}}'
    check "$v wide" "NAME BOATS READY HARBOUR AGE
north 2 True kiel AGE
south bremen AGE" "$(table get fleets -o wide)"
    for name in fl fleet fleets.shop.example.com fleets.v1.shop.example.com shop; do
        has "$v as $name" "north 2 True" "$(table get $name)"
    done
    check "$v by label" "fleet.shop.example.com/north" "$(k get fl -l sea=baltic -o name)"
    check "$v by field" "fleet.shop.example.com/south" "$(k get fl --field-selector spec.harbour=bremen -o name)"
    check "$v by both" "fleet.shop.example.com/north" \
        "$(k get fl --field-selector spec.harbour!=bremen,metadata.name=north -o name)"
    has "$v by no such field" "field label not supported: spec.boats" \
        "$(k get fl --field-selector spec.boats=2)"
    check "$v a path" "anna" "$(k get fl north -o 'jsonpath={.spec.crew[?(@.rank=="captain")].name}')"
    check "$v columns of one's own" "N B
north 2
south <none>" "$(table get fl -o custom-columns=N:.metadata.name,B:.spec.boats)"
    described=$(k describe fleet north | sed -E 's/^ +//; s/ +/ /g')
    has "$v described" "Kind: Fleet" "$described"
    has "$v its spec" "Boats: 2" "$described"
    has "$v its list" "Rank: captain" "$described"
}

changed() {
    check "$v edited" "fleet.shop.example.com/north edited" "$(KUBE_EDITOR=$dir/editor k edit fleet north)"
    check "$v which shows" 3 "$(k get fl north -o 'jsonpath={.spec.boats}')"
    check "$v scaled" "fleet.shop.example.com/north scaled" "$(k scale fleet north --replicas 5)"
    check "$v which shows, too" 5 "$(k get fl north -o 'jsonpath={.spec.boats}')"
    check "$v scaled if so" "fleet.shop.example.com/north scaled" \
        "$(k scale fl/north --current-replicas 5 --replicas 4)"
    has "$v not if not" "Expected replicas to be 9, was 4" \
        "$(k scale fl/north --current-replicas 9 --replicas 1)"
    has "$v not too far" 'spec.boats: Invalid value: 21: spec.boats in body should be less than or equal to 20' \
        "$(k scale fleet north --replicas 21)"
    has "$v nothing to scale" 'the spec replicas field ".spec.boats" does not exist' \
        "$(k get --raw /apis/shop.example.com/v1/namespaces/default/fleets/south/scale)"
    check "$v what an autoscaler sees" '{"replicas":4}{"replicas":1,"selector":"sea=baltic"}' \
        "$(k get --raw /apis/shop.example.com/v1/namespaces/default/fleets/north/scale |
            sed 's/.*"spec":\({[^}]*}\),"status":\({[^}]*}\).*/\1\2/')"
    has "$v merged" "fleet.shop.example.com/north patched" \
        "$(k patch fleet north --type merge -p '{"spec":{"harbour":"bremen"}}')"
    has "$v patched" "fleet.shop.example.com/north patched" \
        "$(k patch fleet north --type json -p '[{"op":"replace","path":"/spec/harbour","value":"kiel"}]')"
    has "$v not as built-in ones are" "accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml" \
        "$(k patch fleet north -p '{"spec":{"harbour":"bremen"}}' --type strategic)"
    has "$v made" "fleet.shop.example.com/east created" "$(sed 's/north/east/' "$dir/fleet.yaml" |
        sed '/^---/,$d' | k create -f -)"
    check "$v applied on the server" "fleet.shop.example.com/east serverside-applied" \
        "$(k apply --server-side -f "$dir/applied.yaml")"
    check "$v lists are merged" "anna bert" "$(k get fl east -o 'jsonpath={.spec.crew[*].name}')"
    has "$v others are heard" 'conflict with "kubectl-create" using shop.example.com/v1: .spec.boats' \
        "$(echo '  boats: 9' | cat "$dir/applied.yaml" - | k apply --server-side -f -)"
    k delete fleet east >/dev/null
    has "$v labeled" "fleet.shop.example.com/north labeled" "$(k label fleet north big=yes)"
    has "$v annotated" "fleet.shop.example.com/north annotate" "$(k annotate fleet north why=not)"
    check "$v applied again" "fleet.shop.example.com/north configured" \
        "$(k apply -f "$dir/fleet.yaml" | head -1)"
    check "$v lists as a whole" "anna" "$(k get fl north -o 'jsonpath={.spec.crew[*].name}')"
    check "$v and numbers" 2 "$(k get fl north -o 'jsonpath={.spec.boats}')"
}

# What a controller says is waited for.
awaited() {
    sets south '{"status":{"conditions":[{"type":"Ready","status":"False"}]}}'
    value='jsonpath={.status.phase}=Sailing'
    [ "$minor" -ge 23 ] || value=condition=Ready
    k wait --for condition=Ready --timeout 60s fleet/south >"$dir/wait.1" &
    first=$!
    k wait --for "$value" --timeout 60s fleet/south >"$dir/wait.2" &
    second=$!
    sleep 0.3
    sets south '{"status":{"phase":"Sailing","conditions":[{"type":"Ready","status":"True"}]}}'
    wait $first $second
    check "$v a condition came" "fleet.shop.example.com/south condition met" "$(cat "$dir/wait.1")"
    check "$v a value came" "fleet.shop.example.com/south condition met" "$(cat "$dir/wait.2")"
    k wait --for delete --timeout 60s fleet/south >"$dir/wait.3" &
    third=$!
    sleep 0.3
    has "$v deleted" 'fleet.shop.example.com "south" deleted' "$(k delete fleet south)"
    wait $third
    has "$v it went" "south condition met" "$(cat "$dir/wait.3")"
}

# Two watches go on while the definition changes under them.
watched() {
    k get fleets -w --no-headers >"$dir/watch.all" &
    all=$!
    k get fleets -w -o name --field-selector spec.harbour=bremen >"$dir/watch.some" &
    some=$!
    waits tells "$dir/watch.all" north
    k patch fleet north --type merge -p '{"spec":{"boats":7}}' >/dev/null
    waits tells "$dir/watch.all" 'north *7'
    check "$v the schema changes" "customresourcedefinition.apiextensions.k8s.io/fleets.shop.example.com configured" \
        "$(k apply -f "$dir/fleet-crd-2.yaml")"
    waits flies
    check "$v and is in force" blue "$(k get fl north -o 'jsonpath={.spec.flag}')"
    k patch fleet north --type merge -p '{"spec":{"boats":8,"harbour":"bremen"}}' >/dev/null
    waits tells "$dir/watch.all" 'north *8'
    waits tells "$dir/watch.some" north
    kill $all $some 2>/dev/null
    wait $all $some 2>/dev/null
    check "$v all was watched" "2 7 8" \
        "$(awk '$1 == "north" && $2 != last { last = $2; print $2 }' "$dir/watch.all" | tr '\n' ' ' | sed 's/ $//')"
    check "$v some was watched" "fleet.shop.example.com/north" "$(head -1 "$dir/watch.some")"
}
flies() { [ "$(k get fl north -o 'jsonpath={.spec.flag}')" = blue ]; }

# A definition takes its objects with it, when they are free to go.
deleted() {
    k patch fleet north --type merge -p '{"metadata":{"finalizers":["shop.example.com/moored"]}}' >/dev/null
    k delete crd fleets.shop.example.com --wait=false >/dev/null
    waits ends
    check "$v a definition waits" "True" "$(k get crd fleets.shop.example.com \
        -o jsonpath='{.status.conditions[?(@.type=="Terminating")].status}')"
    has "$v for its objects" "20" "$(k get fleet north -o 'jsonpath={.metadata.deletionTimestamp}')"
    has "$v and takes no more" "create not allowed while custom resource definition is terminating" \
        "$(k create -f "$dir/fleet.yaml" --validate=false)"
    k patch fleet north --type merge -p '{"metadata":{"finalizers":null}}' >/dev/null
    waits gone fleets.shop.example.com
    has "$v then both are gone" "NotFound" "$(k get crd fleets.shop.example.com)"
    check "$v nothing is served there" 404 "$(code admin "$server/apis/shop.example.com/v1/fleets")"

    check "$v without finalizers at once" \
        'customresourcedefinition.apiextensions.k8s.io "networks.samplecrd.k8s.io" deleted' \
        "$(k delete crd networks.samplecrd.k8s.io | sed 's/ from .*//')"
    waits applies "$dir/network-crd.yaml"
    check "$v nothing was left" "" "$(k get networks -o name)"

    waits applies "$dir/fleet-crd.yaml" "$dir/fleet.yaml"
    check "$v it can come back" "north south" "$(k get fl -o 'jsonpath={.items[*].metadata.name}')"
}
ends() { [ "$(k get fleet north -o 'jsonpath={.metadata.deletionTimestamp}')" ]; }
gone() { k get crd "$1" | grep -q NotFound; }

explained() {
    text=$(k explain fleets)
    has "$v explained" "Boats that sail together." "$text"
    text=$(k explain fleets --recursive | sed -E 's/	/ /g; s/ +/ /g')
    for field in "spec <Object>" "boats <integer>" "crew <[]Object>" "rank <string>"; do
        has "$v recursively: $field" "$field" "$text"
    done
    has "$v a field" "How many boats it has." "$(k explain fleets.spec.boats)"
    [ "$minor" -ge 25 ] || return
    has "$v unknown fields are seen" 'unknown field "spec.oars"' \
        "$(k create --dry-run=server --validate=strict -f - <<'EOF'
apiVersion: shop.example.com/v1
kind: Fleet
metadata: {name: rowing}
spec: {oars: 4}
EOF
    )"
}

suite() {
    kubectl=$1
    minor=$("$kubectl" version --client -o json | sed -n 's/.*"minor": "\([0-9]*\).*/\1/p' | head -n 1)
    v="1.$minor"
    up --store memory --api-versions all >/dev/null || give_up
    connect
    classic
    created
    status_defaulted
    printed
    changed
    awaited
    watched
    deleted
    explained
    end_suite
}

write_files
shift
each_kubectl "$@"
