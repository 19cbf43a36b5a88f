#!/bin/sh
# advertise_test.sh SAMPAN - the server says where it is in Endpoints and EndpointSlice `kubernetes` of
# the namespace default, and keeps that true: after a start on another port, and after somebody has
# deleted or changed what it says.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"

asked() { admin -A test "$@"; } # curl is shown JSON on many lines
core() { echo "$server/api/v1/namespaces/default/$1"; }
slice() { echo "$server/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes"; }
# is NAME PART URL - asks until the answer has the part.
is() {
    for _ in $(seq 250); do
        case $(asked "$3") in *"$2"*) break ;; esac
        sleep 0.1
    done
    has "$1" "$2" "$(asked "$3")"
}
started() {
    up "$@" >/dev/null || give_up
    connect
    port=${server##*:}
}
# says WHEN IP - all three objects, as they are from the first answer on.
says() {
    has "$1: endpoints" "\"subsets\":[{\"addresses\":[{\"ip\":\"$2\"}],\"ports\":[{\"name\":\"https\",\"port\":$port,\"protocol\":\"TCP\"}]}]" \
        "$(asked "$(core endpoints/kubernetes)")"
    has "$1: slice" "\"endpoints\":[{\"addresses\":[\"$2\"],\"conditions\":{\"ready\":true}}],\"ports\":[{\"name\":\"https\",\"protocol\":\"TCP\",\"port\":$port}]" \
        "$(asked "$(slice)")"
    has "$1: service" "\"targetPort\":$port" "$(asked "$(core services/kubernetes)")"
}

started
says "at first" 127.0.0.1
has "labels of endpoints" '"endpointslice.kubernetes.io/skip-mirror":"true"' \
    "$(asked "$(core endpoints/kubernetes)")"
has "labels of the slice" '"kubernetes.io/service-name":"kubernetes"' "$(asked "$(slice)")"
has "who wrote them" '"manager":"kube-apiserver"' "$(asked "$(slice)")"

check "endpoints are deleted" 200 "$(code admin -X DELETE "$(core endpoints/kubernetes)")"
check "and the service" 200 "$(code admin -X DELETE "$(core services/kubernetes)")"
check "the slice is changed" 200 "$(code admin -X PATCH \
    -H 'Content-Type: application/merge-patch+json' -d '{"endpoints":[]}' "$(slice)")"
is "endpoints are back" "\"port\":$port" "$(core endpoints/kubernetes)"
is "the service, too" '"clusterIP":"10.0.0.1"' "$(core services/kubernetes)"
is "the slice is true again" '"127.0.0.1"' "$(slice)"
"$sampan" down --data-dir "$dir/a" >/dev/null

started --advertise-address 192.0.2.7
says "with an address of its own" 192.0.2.7
has "its certificate says that" 192.0.2.7 "$(openssl s_client -connect "${server#https://}" </dev/null \
    2>/dev/null | openssl x509 -noout -ext subjectAltName)"
"$sampan" down --data-dir "$dir/a" >/dev/null
started --advertise-address 2001:db8::7
says "in the other family" 2001:db8::7
has "in a slice of that" '"addressType":"IPv6"' "$(asked "$(slice)")"
"$sampan" down --data-dir "$dir/a" >/dev/null
has "what is no address" "must be an IP address" "$(up --advertise-address here 2>&1)"

"$sampan" up --api-only --data-dir "$dir/b" --listen 0.0.0.0:0 --store memory --service-cidr 10.9.0.0/24 \
    --detach >/dev/null
server=$(sed -n 's/^ *server: //p' "$dir/b/admin.kubeconfig")
has "the first service address is in the certificate" 10.9.0.1 "$(openssl s_client \
    -connect "127.0.0.1:${server##*:}" </dev/null 2>/dev/null | openssl x509 -noout -ext subjectAltName)"
"$sampan" down --data-dir "$dir/b" >/dev/null
finish
