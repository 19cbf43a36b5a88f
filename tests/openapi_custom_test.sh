#!/bin/sh
# openapi_custom_test.sh SAMPAN [KUBECTL...] - what kubectl makes of OpenAPI documents of custom
# kinds: explain, and validation before anything is sent. With the kubectl on the PATH and that in
# SAMPAN_KUBECTL, or with those named; each against a server of its own.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"

plain() { sed -E 's/	/ /g; s/ +/ /g; s/^ //'; }

cat >"$dir/crd.yaml" <<'EOF'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.things.example.com}
spec:
  group: things.example.com
  scope: Namespaced
  names: {plural: things, kind: Thing}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        description: A thing of some use.
        properties:
          spec:
            type: object
            description: What it should be.
            required: [plain]
            properties:
              plain: {type: string, description: As it is.}
              count: {type: integer}
              maybe: {type: object, nullable: true, properties: {inner: {type: string}}}
              open: {type: object, x-kubernetes-preserve-unknown-fields: true}
              either: {x-kubernetes-int-or-string: true}
              pod: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
              keyed:
                type: array
                items: {type: object, properties: {key: {type: string}, amount: {type: number}}}
              map: {type: object, additionalProperties: {type: boolean}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: bags.things.example.com}
spec:
  group: things.example.com
  scope: Namespaced
  names: {plural: bags, kind: Bag}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
EOF

# thing SPEC - dry, and validated by whoever does that: kubectl itself before 1.25, the server since.
thing() {
    printf 'apiVersion: things.example.com/v1\nkind: %s\nmetadata: {name: one}\nspec: %s\n' \
        "$1" "$2" >"$dir/thing.yaml"
    k create --dry-run=$dry --validate=true -f "$dir/thing.yaml"
}

explained() {
    has "$v explained" "A thing of some use." "$(k explain things)"
    text=$(k explain things --recursive | plain)
    for field in "spec <Object>" "plain <string>" "count <integer>" "keyed <[]Object>" \
        "amount <number>" "map <map[string]boolean>"; do
        has "$v recursively: $field" "$field" "$text"
    done
    has "$v a field" "As it is." "$(k explain things.spec.plain)"
    has "$v a required one" "-required-" "$(k explain things.spec)"
    has "$v in a list" "amount <number>" "$(k explain things.spec.keyed | plain)"
    has "$v no such field" 'field "nothing" does not exist' "$(k explain things.spec.nothing)"
    has "$v without a schema" "Bag" "$(k explain bags)"
}

validated() {
    good="thing.things.example.com/one created"
    has "$v good" "$good" "$(thing Thing '{plain: a, count: 1}')"
    has "$v may be null" "$good" "$(thing Thing '{plain: a, maybe: null}')"
    has "$v may be an object, too" "$good" "$(thing Thing '{plain: a, maybe: {inner: x}}')"
    has "$v may have anything" "$good" "$(thing Thing '{plain: a, open: {x: [1, {y: z}]}}')"
    has "$v a number" "$good" "$(thing Thing '{plain: a, either: 5}')"
    has "$v or a text" "$good" "$(thing Thing '{plain: a, either: 50%}')"
    has "$v an object inside" "$good" \
        "$(thing Thing '{plain: a, pod: {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {x: 1}}}')"
    has "$v a map" "$good" "$(thing Thing '{plain: a, map: {x: true}}')"
    has "$v no schema" "bag.things.example.com/one created" "$(thing Bag '{anything: [goes]}')"
    has "$v unknown" "unknown field" "$(thing Thing '{plain: a, other: 1}' | tr U u)"
    has "$v of the wrong type" "integer" "$(thing Thing '{plain: a, count: many}')"
    has "$v missing" "plain" "$(thing Thing '{count: 1}')"
    has "$v in a list" "amount" "$(thing Thing '{plain: a, keyed: [{amount: much}]}')"
}

# A change is seen at once by who asks anew.
changed() {
    k patch crd things.things.example.com --type json -p '[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/late","value":{"type":"string","description":"Came later."}}]' >/dev/null
    rm -rf "$dir/cache"
    has "$v a new field" "Came later." "$(k explain things.spec.late)"
}

suite() {
    kubectl=$1
    minor=$("$kubectl" version --client -o json | sed -n 's/.*"minor": "\([0-9]*\).*/\1/p' | head -n 1)
    v="1.$minor"
    dry=server
    [ "$minor" -ge 25 ] || dry=client
    up --store memory >/dev/null || give_up
    connect
    k apply -f "$dir/crd.yaml" >/dev/null
    explained
    validated
    changed
    end_suite
}

shift
each_kubectl "$@"
