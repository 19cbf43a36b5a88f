#!/bin/bash
# The mesh: its pages and webhook by curl, and, where there is an Envoy ($SAMPAN_ENVOY or the one in the PATH), a canary through it
# over both forms of ADS. All of it in a network namespace of its own, because addresses are fixed.
sampan=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
if [ "$MESH_TEST_INSIDE" != yes ]; then
    unshare -rn true 2>/dev/null || { echo "skipped: no network namespace can be made"; exit 77; }
    MESH_TEST_INSIDE=yes exec unshare -rn bash "$0" "$sampan"
fi
ip link set lo up || { echo "skipped: no ip"; exit 77; }
. "$here/common.sh"
needs curl kubectl python3
example=$here/../examples/canary
serve
export KUBECONFIG="$dir/a/admin.kubeconfig"
k apply -f "$example/crds.yaml" >/dev/null
k wait --for=condition=Established crd --all --timeout=30s >/dev/null
k apply -f "$example/shop.yaml" >/dev/null
"$sampan" mesh >"$dir/mesh.log" 2>&1 &
mesh=$!
at_end="kill $mesh"
ready() { [ "$(curl -s http://127.0.0.1:15010/ready)" = ok ]; }
waits ready

review() {
    printf '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE","object":%s}}' "$1" |
        curl -s --data-binary @- http://127.0.0.1:15010/validate
}
bad='{"apiVersion":"networking.istio.io/v1","kind":"VirtualService","metadata":{"name":"x"},"spec":{"hosts":["a.test"]}}'
good='{"apiVersion":"networking.istio.io/v1","kind":"DestinationRule","metadata":{"name":"x"},"spec":{"host":"a.test"}}'
has "the webhook refuses" '"allowed":false' "$(review "$bad")"
has "and says why" 'http, tcp or tls must be provided' "$(review "$bad")"
has "the webhook accepts" '"allowed":true' "$(review "$good")"
has "what is no review is refused" 'request is wanted' "$(curl -s -d '{}' http://127.0.0.1:15010/validate)"
check "nobody is connected" "[]" "$(curl -s http://127.0.0.1:15010/status)"

envoy=${SAMPAN_ENVOY:-$(command -v envoy)}
if [ -z "$envoy" ]; then
    skip "there is no envoy: nothing goes through it"
    finish
    exit
fi
for api in ${MESH_TEST_APIS:-DELTA_GRPC GRPC}; do
    sed "s/DELTA_GRPC/$api/" "$example/gateway.yaml" >"$dir/gateway.yaml"
    "$envoy" -c "$dir/gateway.yaml" --disable-hot-restart --concurrency 1 -l warn >"$dir/envoy.log" 2>&1 &
    proxy=$!
    at_end="kill $mesh $proxy"
    out=$(python3 "$example/canary.py" "$(command -v "${kubectl:-kubectl}")" 8080 1500 "$dir/canary.svg")
    has "no request fails ($api)" " requests, 0 failed" "$out"
    has "all of it has moved ($api)" "0/100: v2 answered 100.00 %" "$out"
    has "the split is drawn" "<polyline" "$(cat "$dir/canary.svg")"
    has "the proxy has all ($api)" "SYNCED" "$("$sampan" mesh status)"
    has "its routes are told ($api)" 'outbound|80|v2|shop.default.svc.cluster.local' "$("$sampan" mesh routes gateway.istio-system)"
    kill "$proxy"
    wait "$proxy" 2>/dev/null
done

# Without the mesh traffic flows on: Envoy keeps what it has.
python3 -c 'import sys; sys.path.insert(0, sys.argv[1]); import canary; canary.serve()' "$example" &
backends=$!
"$envoy" -c "$dir/gateway.yaml" --disable-hot-restart --concurrency 1 -l warn >"$dir/envoy.log" 2>&1 &
proxy=$!
at_end="kill $mesh $proxy $backends"
answers() { [ "$(curl -s -o /dev/null -w '%{http_code}' -H 'host: shop.test' http://127.0.0.1:8080/)" = 200 ]; }
waits answers
kill "$mesh"
wait "$mesh" 2>/dev/null
at_end="kill $proxy $backends"
check "traffic flows without the mesh" 200 "$(curl -s -o /dev/null -w '%{http_code}' -H 'host: shop.test' http://127.0.0.1:8080/)"
finish
