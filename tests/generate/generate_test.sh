#!/bin/sh
# generate_test.sh SAMPAN GOLDEN - the command: what it writes, that headers and definitions lead to
# the same code, what it says of mistakes, and that a server takes and enforces its definitions.
# After a change that is meant: cd tests/generate/golden && sampan generate --from types.h \
#   --crd network.yaml --c .
set -eu
sampan=$1
golden=$2
. "$(dirname "$0")/../common.sh"

mkdir "$dir/from_header" "$dir/from_crd"
"$sampan" generate --from "$golden/types.h" --crd "$dir/network.yaml" --c "$dir/from_header"
"$sampan" generate --from "$dir/network.yaml" --c "$dir/from_crd"
for name in gen_network.h gen_network.c; do
    check "$name is as it was" "" "$(diff "$golden/$name" "$dir/from_header/$name" || true)"
    check "$name from the definition" "" \
        "$(diff "$dir/from_header/$name" "$dir/from_crd/$name" || true)"
done
check "the definition is as it was" "" "$(diff "$golden/network.yaml" "$dir/network.yaml" || true)"

# calls MARKER...: which calls a kind gets with these markers, by its header and by its definition, which must be the same.
calls() {
    mkdir -p "$dir/by_header" "$dir/by_crd"
    printf '// +groupName=example.com\n// +genclient\n' >"$dir/verbs.h"
    for marker; do printf '// +%s\n' "$marker"; done >>"$dir/verbs.h"
    printf '// +kubebuilder:subresource:status\nstruct thing { struct thing_spec *spec; };\nstruct thing_spec { struct spn_int size; };\n' >>"$dir/verbs.h"
    "$sampan" generate --from "$dir/verbs.h" --crd "$dir/thing.yaml" --c "$dir/by_header" 2>&1 &&
        "$sampan" generate --from "$dir/thing.yaml" --c "$dir/by_crd" 2>&1 &&
        diff -r "$dir/by_header" "$dir/by_crd" && ${CC:-cc} -fsyntax-only -Wall -Wextra -Werror \
        -I "$(dirname "$0")/../../include" -I "$(dirname "$sampan")/include" -I "$dir/by_header" "$dir/by_header/gen_thing.c" 2>&1 || return 0
    for name in get list create update update_status apply apply_status patch delete informer lister_get new; do
        ! grep -q "thing_$name(" "$dir/by_header/gen_thing.h" || printf '%s ' "$name"
    done
}
all='get list create update update_status apply apply_status patch delete informer lister_get new '
check "all calls" "$all" "$(calls k8s:deepcopy-gen=true)"
check "noVerbs" 'new ' "$(calls genclient:noVerbs)"
check "noStatus" 'get list create update apply patch delete informer lister_get new ' "$(calls genclient:noStatus)"
check "onlyVerbs" 'get list informer lister_get new ' "$(calls genclient:onlyVerbs=get,list,watch)"
check "an informer lists and watches" 'get update_status new ' "$(calls genclient:onlyVerbs=get,watch,updateStatus)"
check "skipVerbs" 'get list create update_status apply patch informer lister_get new ' \
    "$(calls genclient:skipVerbs=update,delete,deleteCollection,applyStatus)"
check "a definition remembers them" '    generate.sampan.io/skip-verbs: update,delete,deleteCollection,applyStatus' \
    "$(grep skip-verbs "$dir/thing.yaml")"
check "methods are for Go" "$all" "$(calls genclient:method=GetScale,verb=get,subresource=scale,result=k8s.io/api/autoscaling/v1.Scale)"
check "nonNamespaced" "$all" "$(calls genclient:nonNamespaced)"
check "has no namespace" 'scope: Cluster' "$(grep -o 'scope: .*' "$dir/thing.yaml")"
check "in its calls" 0 "$(grep -c 'struct spn_text ns' "$dir/by_header/gen_thing.h" || true)"

# says NAME MESSAGE TEXT [OPTION]...: what it says of that text.
says() {
    name=$1 message=$2 text=$3
    shift 3
    printf '%s\n' "$text" >"$dir/in"
    out=$("$sampan" generate --from "$dir/in" --c "$dir" --crd "$dir/out.yaml" "$@" 2>&1) &&
        out="no error"
    check "$name" "sampan generate: $message" "$out"
}
group='// +groupName=example.com'
says "no group" "$dir/in:1: a comment must say +groupName=GROUP" 'struct a { };' --kind header
says "no kind" "$dir/in:1: no struct is a kind; +genclient above it makes it one" "$group
struct a { };" --kind header
says "no struct" "$dir/in:2: found \`int\` and expected a struct" "$group
int x;" --kind header
says "a plain member" "$dir/in:4: found \`int\` and expected \`struct\`: members are structs of \
sampan/typed.h, or point to others" "$group
// +genclient
struct a {
    int x;
};" --kind header
says "an unknown type" "$dir/in:3: there is no struct b" "$group
// +genclient
struct a { struct b *x; };" --kind header
says "an unknown marker" "$dir/in:4: there is no marker +kubebuilder:validation:Small" "$group
// +genclient
struct a {
    // +kubebuilder:validation:Small
    struct spn_int x;
};" --kind header
says "a bad value" "$dir/in:4: +kubebuilder:validation:Minimum=low: the value makes no sense here" \
    "$group
// +genclient
struct a {
    // +kubebuilder:validation:Minimum=low
    struct spn_int x;
};" --kind header
says "a struct in itself" "$dir/in:4: struct b has itself in it; a definition cannot say that" \
    "$group
// +genclient
struct a { struct b *b; };
struct b { struct b_list bs; };" --kind header
says "another name" "$dir/in:5: the member for \"podIPs\" must be called pod_ips, not ips" "$group
// +genclient
struct a {
    // +json=podIPs
    struct spn_texts ips;
};" --kind header
says "no end" "$dir/in:4: \`;\` behind a struct is missing at the end of the file" "$group
// +genclient
struct a { struct spn_text x; }" --kind header
says "no definition" "$dir/in: there is no CustomResourceDefinition in it" 'kind: Pod'
says "no schema" "$dir/in: x.example.com: it has no version to store with a schema" \
    'kind: CustomResourceDefinition
metadata: {name: x.example.com}'
says "a bad prefix" '--prefix: "9a" cannot begin a name in C' 'kind: Pod' --prefix 9a
says "a bad kind" '--kind is crd, kinds or header, not "go"' 'kind: Pod' --kind go
status=0
"$sampan" generate --from x >/dev/null 2>&1 || status=$?
check "nothing to write" 2 $status
has "help" "--prefix NAME" "$("$sampan" generate --help)"

# A kind whose name C keeps for itself.
sed 's/Widget/Switch/g; s/widgets/switches/g' "$golden/../rich.yaml" >"$dir/switch.yaml"
"$sampan" generate --from "$dir/switch.yaml" --c "$dir"
has "a kind called Switch" "struct rich_switch {" "$(cat "$dir/gen_rich_switch.h")"
# Another version, under another name.
"$sampan" generate --from "$golden/../rich.yaml" --c "$dir" --version v1beta1 --prefix oldie
has "another version" 'SPN_KIND("rich.example.com", "v1beta1", "Widget", "widgets", oldie, false)' \
    "$(cat "$dir/gen_oldie.c")"
has "and its struct" "struct oldie_spec {
    struct spn_text old;" "$(cat "$dir/gen_oldie.h")"

# Files of kinds/.
printf 'group toys.example.com\nversion v1\norder 1\n\nresource tops Top cluster\n  verbs all\n\n' \
    >"$dir/toys.kinds"
printf 'kind Top\n  metadata 1 meta.ObjectMeta\n  spin 2 int32\n' >>"$dir/toys.kinds"
"$sampan" generate --from "$dir/toys.kinds" --with "$golden/../../../kinds/meta_v1.kinds" \
    --c "$dir" --prefix toys
has "a struct of kinds/" "struct toys_v1_top {" "$(cat "$dir/gen_toys.h")"
has "its call" "int toys_v1_top_get(struct spn_client *client, struct spn_text name," \
    "$(cat "$dir/gen_toys.h")"

# A server takes the definition, fills in its defaults and refuses what it does not allow.
up >/dev/null
connect
crds=$server/apis/apiextensions.k8s.io/v1/customresourcedefinitions
networks=$server/apis/samplecrd.k8s.io/v1/namespaces/default/networks
"$sampan" generate --from "$golden/types.h" --crd "$dir/network.yaml"
check "the definition" 201 "$(code admin -H 'Content-Type: application/yaml' \
    --data-binary @"$dir/network.yaml" "$crds")"
for i in 1 2 3 4 5 6 7 8 9 10; do
    [ "$(code admin "$networks")" = 200 ] && break
    sleep 0.2
done
# network NAME SPEC: creates one.
network() {
    printf '{"apiVersion":"samplecrd.k8s.io/v1","kind":"Network","metadata":{"name":"%s"},"spec":%s}' \
        "$1" "$2" | admin -H 'Content-Type: application/json' --data-binary @- "$networks"
}
has "a default" '"mtu": 1500' "$(network good '{"cidr":"10.0.0.0/8"}')"
has "a minimum" 'should be greater than or equal to 576' \
    "$(network small '{"cidr":"10.0.0.0/8","mtu":1}')"
has "a pattern" "spec.cidr in body should match" "$(network text '{"cidr":"all"}')"
has "what is required" 'spec.cidr: Required value' "$(network none '{}')"
has "an enumeration" 'Unsupported value: \"guessed\"' \
    "$(network odd '{"cidr":"10.0.0.0/8","routes":[{"destination":"a","via":"b","origin":"guessed"}]}')"
has "keys of a list" 'Duplicate value' \
    "$(network two '{"cidr":"10.0.0.0/8","routes":[{"destination":"a","via":"b"},{"destination":"a","via":"c"}]}')"
has "a rule" 'the range stays' "$(admin -X PATCH -H 'Content-Type: application/merge-patch+json' \
    -d '{"spec":{"cidr":"10.1.0.0/16"}}' "$networks/good")"
has "a column" '"CIDR"' "$(admin -H 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io' "$networks")"
finish
