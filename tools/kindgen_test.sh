#!/bin/sh
# kindgen_test.sh KINDGEN - what kindgen writes for a few small files, and what it says of mistakes.
set -eu
kindgen=$1
dir=$(mktemp -d "${TMPDIR:-/tmp}/kindgen.XXXXXX")
trap 'rm -rf "$dir"' EXIT
status=0

cat >"$dir/core_v1.kinds" <<'END'
group core
version v1
order 10

resource things Thing namespaced
  verbs get list
  stored /registry/things v1 hash=
  sub status Thing get

kind Thing
  name    1  string required
  parts   2  []Part map(label)
  phase   3  string enum(Up,Down)

type Part
  label   1  string required
  phase   2  string enum(Up,Down)

type Filled rule(filled)
  told     1  string default(Up)
  untold   2  *int32 fill(3)
  zero     3  int32 default(0)
  list     4  []string fill(["x"])
  rounded  5  {Quantity} milli
  named    6  string go(v1.Phase)

type Holder
  held     1  Holder
  filled   2  []Filled
END
cat >"$dir/meta_v1.kinds" <<'END'
group meta
version v1

type ListMeta
  continue   3  string
END
# A version without `order`: its types are there, its resources are not.
cat >"$dir/old_v1beta1.kinds" <<'END'
group old.example.com
version v1beta1

resource things Thing namespaced
  verbs get list

kind Thing
  parts   1  []core.Part

type Part
  label   1  string required
  phase   2  string enum(Up,Down)
END

# An old version of the first: served, deprecated, and stored as that.
cat >"$dir/moved_v1beta1.kinds" <<'END'
group moved.example.com
version v1beta1
order 20 old

resource things Thing namespaced
  verbs get list
  deprecated 1.2 1.4 v1 Thing
  stored /registry/things

kind Thing
  size   1  string
END

wrong() {
    echo "FAILED $*"
    status=1
}

# count N PATTERN: as many lines of the output match
count() {
    n=$(grep -c -- "$2" "$dir/out.c" || true)
    [ "$n" = "$1" ] || wrong "$n lines, not $1, have $2"
}

"$kindgen" "$dir/out.c" "$dir"/*.kinds
# core: Filled, Holder, Part, Thing, ThingList; meta: ListMeta; moved: Thing, ThingList; old: Part,
# Thing
count 1 'n_kind_types = 10;'
count 1 'n_kind_versions = 2;'
count 2 '"ThingList"'
count 1 '"", 0 }, { "v1", 2 }, 0, &all_resources\[0\]'
count 1 '"moved.example.com", 17 }, { "v1beta1", 7 }, 1, &all_resources\[1\]'
count 1 '{ "hash=", 5 }, &all_resources\[0\], { "moved.example.com/v1beta1 Thing is deprecated in v1.2+, unavailable in v1.4+; use v1 Thing", '
count 0 '"old.example.com", [0-9]* }, .*all_resources'
count 1 '{ "Up", 2 }'       # both lists of values are one array
count 1 '{ { "label", 5 }'  # both Parts have one table of fields
count 1 'struct kind_subresource array'
count 1 '{ defaults__filled, array_[0-9]*, array_[0-9]*, 3, 1 }' # three are filled in, one is rounded
count 1 '{ 0, 0, array_[0-9]*, 0, 2 }'                          # what only has them below
count 2 'struct kind_defaults array'
count 1 '{ "v1.Phase", 8 }'
count 1 '{ .type = VALUE_STRING, .n = 2, .text = "Up" }'

# mistake EXPECTED LINE...: the lines, as a file of their own beside the others, are refused
mistake() {
    expected=$1
    shift
    printf '%s\n' "$@" >"$dir/wrong.kinds"
    if "$kindgen" "$dir/out.c" "$dir"/*.kinds 2>"$dir/err"; then
        wrong "accepted: $*"
    elif ! grep -qF "wrong.kinds:$expected" "$dir/err"; then
        wrong "said $(cat "$dir/err"), not $expected"
    fi
}

mistake '4: unknown type: g/v1.Missing' 'group g' 'version v1' 'type T' '  x 1 Missing' 'type U'
mistake '4: unknown type: core/v1.Missing' 'group g' 'version v1' 'type T' '  x 1 core.Missing'
mistake '3: unknown type: g/v1.Missing' 'group g' 'version v1' 'resource ts Missing cluster'
mistake '5: unknown type: g/v1.Missing' 'group g' 'version v1' 'resource ts T cluster' \
    '  verbs all' '  sub status Missing get' 'kind T'
mistake '3: declared twice' 'group core' 'version v1' 'type Part'
mistake '4: unknown flag: sometimes' 'group g' 'version v1' 'type T' '  x 1 string sometimes'
mistake '4: not a protobuf number: one' 'group g' 'version v1' 'type T' '  x one string'
mistake '4: the default has another type than the field: 1' 'group g' 'version v1' 'type T' '  x 1 bool fill(1)'
mistake '4: not valid JSON: {' 'group g' 'version v1' 'type T' '  x 1 T fill({)'
mistake '4: unknown group: h' 'group g' 'version v1' 'type T' '  x 1 h.T'
mistake '4: unknown verb: fetch' 'group g' 'version v1' 'resource ts T cluster' '  verbs fetch'
mistake '3: unknown line: tpye T' 'group g' 'version v1' 'tpye T'

[ $status -eq 0 ] && echo "kindgen: as expected"
exit $status
