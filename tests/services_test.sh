#!/bin/sh
# services_test.sh SAMPAN - no two Services ever have one address: not of two hundred that come at
# once, and not when the server is killed in the middle of them.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"

url() { echo "$server/api/v1/namespaces/default/services"; }
# create NAME: its status code
create() {
    admin -X POST -H 'Content-Type: application/json' -o /dev/null -w '%{http_code}\n' "$(url)" \
        -d "{\"metadata\":{\"name\":\"$1\"},\"spec\":{\"type\":\"NodePort\",\"ports\":[{\"port\":80}]}}"
}
# many PREFIX N: so many, eight at a time; their status codes
many() {
    DIR=$dir URL=$(url) BODY='{"metadata":{"generateName":"'$1'-"},"spec":{"type":"NodePort",
        "ports":[{"port":80}]}}'
    export DIR URL BODY
    seq "$2" | xargs -P 8 -n 5 sh -c '
        for i; do
            curl -sS --max-time 10 --cacert "$DIR/ca.crt" --cert "$DIR/admin.crt" \
                --key "$DIR/admin.key" -X POST -H "Content-Type: application/json" -o /dev/null \
                -w "%{http_code}\n" "$URL" -d "$BODY" 2>/dev/null
        done' sh
}
list() { admin "$(url)?pretty=0"; }
ips() { list | grep -o '"clusterIP":"[^"]*"' | sort; }
ports() { list | grep -o '"nodePort":[0-9]*' | sort; }
addresses() {
    admin "$server/apis/networking.k8s.io/v1/ipaddresses?pretty=0" | grep -o '"name":"10[.][^"]*"' |
        sort
}
doubled() { "$1" | uniq -d | wc -l; }

serve
check "the API has the first address" '"clusterIP":"10.0.0.1"' "$(ips)"
check "two hundred at once" "200 201" "$(many s 200 | sort | uniq -c | sed 's/^ *//')"
check "all of them are there" 201 "$(ips | wc -l)"
check "with different addresses" 0 "$(doubled ips)"
check "and different node ports" 0 "$(doubled ports)"
check "each address is an object" "$(ips | sed 's/.*:"//')" "$(addresses | sed 's/.*:"//')"

many k 2000 >"$dir/codes" 2>/dev/null &
for i in $(seq 300); do
    [ "$(wc -l <"$dir/codes")" -gt 50 ] && break
    sleep 0.1
done
kill -9 "$(head -1 "$dir/a/sampan.pid")"
wait
acknowledged=$(grep -c 201 "$dir/codes")
has "some were made before it was killed" 201 "$(cat "$dir/codes")"
serve
check "nothing that was acknowledged is lost" 1 "$(($(ips | wc -l) >= 201 + acknowledged))"
check "addresses after a crash" 0 "$(doubled ips)"
check "node ports after a crash" 0 "$(doubled ports)"
check "no address without its Service" "$(ips | sed 's/.*:"//')" "$(addresses | sed 's/.*:"//')"
check "more come" "100 201" "$(many m 100 | sort | uniq -c | sed 's/^ *//')"
check "with addresses of their own" 0 "$(doubled ips)"
check "and ports" 0 "$(doubled ports)"

admin -X DELETE "$(url)" -o /dev/null
check "addresses go with their Services" 0 "$(ips | wc -l)"
check "all of them" 0 "$(addresses | wc -l)"
"$sampan" down --data-dir "$dir/a" >/dev/null

rm -rf "$dir/a"
up --service-cidr 10.9.0.0/24 --service-node-port-range 40000-40010 >/dev/null
connect
check "another range" '"clusterIP":"10.9.0.1"' "$(ips)"
check "a port of it" 201 "$(create x)"
has "is between its ends" '"nodePort":400' "$(list)"
"$sampan" down --data-dir "$dir/a" >/dev/null
has "no range" "is not a network" \
    "$("$sampan" up --data-dir "$dir/a" --listen 127.0.0.1:0 --service-cidr x 2>&1)"
finish
