#!/bin/bash
# Replays recorded behaviour of a mesh (SAMPAN_VECTORS/mesh) against ours, with real Envoys. Not part of `make test`: it takes minutes.
#   usage: mesh_golden.sh SAMPAN ENVOY CRDS.yaml... [-- ARGUMENT-OF-REPLAY...]
# CRDS: Istio's and the Gateway API's definitions. A case that differs and is not in mesh_allow.txt fails the run, and so does an
# entry of that list that no longer differs.
sampan=$(realpath "$1") envoy=$(realpath "$2"); shift 2
here=$(cd "$(dirname "$0")" && pwd)
crds=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do crds+=(-f "$(realpath "$1")"); shift; done
[ "$1" = -- ] && shift
if [ "$MESH_GOLDEN_INSIDE" != yes ]; then
    args=(); for f in "${crds[@]}"; do [ "$f" = -f ] || args+=("$f"); done
    MESH_GOLDEN_INSIDE=yes exec unshare -rn bash "$0" "$sampan" "$envoy" "${args[@]}" -- "$@"
fi
ip link set lo up
. "$here/common.sh"
vectors=$SAMPAN_VECTORS/mesh
serve --store memory
k apply --server-side "${crds[@]}" >/dev/null
k create namespace istio-system >/dev/null
printf 'enableAutoMtls: false\nproxyHttpPort: 15080\ntrustDomain: cluster.local\n' >"$dir/mesh"
k create configmap istio -n istio-system --from-file="$dir/mesh" >/dev/null
"$sampan" mesh --kubeconfig "$dir/a/admin.kubeconfig" --trust-plain-proxies >"$dir/mesh.log" 2>&1 &
at_end="kill $!"
areas=$(ls "$vectors"/*.jsonl | grep -v admission)
python3 "$vectors/replay/replay.py" --kubeconfig "$dir/a/admin.kubeconfig" --envoy "$envoy" --work "$dir/replay" -v "$@" $areas | tee "$dir/out"
sed -n 's/^\([a-z][a-z-]*\/[^ ]*\) .*/\1/p' "$here/mesh_allow.txt" | sort >"$dir/allowed"
sed -n 's/^FAIL //p' "$dir/out" | sort >"$dir/differs"
sed -n 's/^ok *//p' "$dir/out" | sort >"$dir/agrees"
check "cases that differ are in mesh_allow.txt" "" "$(comm -13 "$dir/allowed" "$dir/differs")"
check "entries of mesh_allow.txt still differ" "" "$(comm -12 "$dir/allowed" "$dir/agrees")"
finish
