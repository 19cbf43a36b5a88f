#!/bin/sh
# quota_test.sh SAMPAN - quotas under many clients at once: what is used never goes beyond, also when
# the server is killed in between, and places that become free can be taken again.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"

used() {
    k -n "$1" get resourcequota "$2" -o "jsonpath={.status.used['$(echo "$3" | sed 's/\./\\./g')']}"
}
# until_says WORD COMMAND... - what the command says once it says WORD, or after a while anyway.
until_says() {
    word=$1
    shift
    for _ in $(seq 150); do
        said=$("$@")
        [ "$said" = "$word" ] && break
        sleep 0.2
    done
    echo "$said"
}

# race NAMES METHOD PATH-PREFIX CONTENT-TYPE BODY - one request for each name, as many at once as
# possible; @ in path and body is the name. Prints how often each code came.
race() {
    names=$1 method=$2 path=$3 type=$4 body=$5
    : >"$dir/race"
    for name in $names; do
        [ -s "$dir/race" ] && echo next >>"$dir/race"
        cat >>"$dir/race" <<EOF
url = "$server$(printf %s "$path" | sed "s/@/$name/")"
request = "$method"
cacert = "$dir/ca.crt"
cert = "$dir/admin.crt"
key = "$dir/admin.key"
header = "Content-Type: $type"
data-raw = "$(printf %s "$body" | sed "s/@/$name/; s/\"/\\\\\"/g")"
output = "/dev/null"
write-out = "%{http_code}\\n"
silent
EOF
    done
    curl -Z --parallel-max 200 -K "$dir/race" 2>/dev/null | sort | uniq -c | awk '{printf "%s%sx%s", (NR > 1 ? " " : ""), $1, $2}'
}
pods() {
    race "$(seq -f "$2-%g" "$3")" POST "/api/v1/namespaces/$1/pods" application/json \
        '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p@"},"spec":{"containers":[{"name":"c","image":"i"}]}}'
}
count() { k -n "$1" get "$2" --no-headers -o name | grep -c "^$3"; }

up >/dev/null || exit 1
connect
k create namespace many >/dev/null
k -n many create quota q --hard=pods=100 >/dev/null
check 'a new quota is counted' 0 "$(until_says 0 used many q pods)"

# Two hundred want a hundred places.
check 'a hundred win' '100x201 100x403' "$(pods many a 200)"
check 'a hundred are there' 100 "$(count many pods pod)"
check 'the quota says so' 100 "$(used many q pods)"
has 'the next one is told why' 'pods "late" is forbidden: exceeded quota: q, requested: pods=1, used: pods=100, limited: pods=100' \
    "$(k -n many run late --image=i)"

# What is deleted makes room.
gone=$(k -n many get pods -o name | head -30)
k -n many delete $gone --wait=false --grace-period=0 --force >/dev/null
check 'places become free' 70 "$(until_says 70 used many q pods)"
check 'thirty more win' '30x201 30x403' "$(pods many b 60)"
check 'it is full again' 100 "$(count many pods pod)"

# The same when the server is killed while they race.
k create namespace killed >/dev/null
k -n killed create quota q --hard=pods=100,count/configmaps=1 >/dev/null
check 'another quota is counted' 0 "$(until_says 0 used killed q pods)"
pid=$(head -n 1 "$dir/a/sampan.pid")
(pods killed a 200 >"$dir/first") &
racing=$!
sleep 0.1
kill -9 "$pid"
wait $racing
up >/dev/null || exit 1
connect
there=$(count killed pods pod)
check 'after the crash the quota is right' "$there" "$(until_says "$there" used killed q pods)"
pods killed b 200 >/dev/null
check 'never more than a hundred' 100 "$(count killed pods pod)"
check 'and the quota says so' 100 "$(used killed q pods)"

# Updates are charged, too: services that become load balancers.
k create namespace lb >/dev/null
for i in $(seq 20); do
    printf 'apiVersion: v1\nkind: Service\nmetadata: {name: s-%s}\nspec: {ports: [{port: 80}]}\n---\n' "$i"
done >"$dir/services"
k -n lb create -f "$dir/services" >/dev/null
k -n lb create quota q --hard=services=20,services.loadbalancers=5 >/dev/null
check 'what is there counts' 20 "$(until_says 20 used lb q services)"
check 'five become load balancers' '5x200 15x403' \
    "$(race "$(seq 20)" PATCH /api/v1/namespaces/lb/services/s-@ application/merge-patch+json '{"spec":{"type":"LoadBalancer"}}')"
check 'the quota counts load balancers' 5 "$(used lb q services.loadbalancers)"
balanced=$(k -n lb get services -o 'jsonpath={.items[?(@.spec.type=="LoadBalancer")].metadata.name}' | cut -d' ' -f1)
k -n lb patch service "$balanced" -p '{"spec":{"type":"ClusterIP"}}' >/dev/null
check 'one is given back' 4 "$(until_says 4 used lb q services.loadbalancers)"

# What is asked for, in all containers together; objects of all kinds; custom ones.
k create namespace sums >/dev/null
k -n sums create quota q --hard=requests.cpu=2,limits.memory=1Gi,count/deployments.apps=1 >/dev/null
check 'sums are counted' 0 "$(until_says 0 used sums q requests.cpu)"
has 'everything must be said' 'failed quota: q: must specify limits.memory for: silent; requests.cpu for: silent' \
    "$(k -n sums run silent --image=i)"
big() {
    k -n sums run "$1" --image=i --overrides='{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1500m"},"limits":{"cpu":"2","memory":"512Mi"}}}]}}'
}
has 'one fits' 'created' "$(big one)"
has 'two do not' 'exceeded quota: q, requested: requests.cpu=1500m, used: requests.cpu=1500m, limited: requests.cpu=2' \
    "$(big two)"
check 'both are charged' '512Mi 1500m' "$(used sums q limits.memory) $(used sums q requests.cpu)"
has 'a dry run is refused, too' 'exceeded quota: q' "$(k -n sums run three --image=i --dry-run=server \
    --overrides='{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"},"limits":{"memory":"1Mi"}}}]}}')"
has 'a deployment' 'created' "$(k -n sums create deployment a --image=i --dry-run=server)"
check 'a dry run is not charged' 0 "$(used sums q count/deployments.apps)"
k -n sums create deployment a --image=i >/dev/null
has 'another deployment' 'exceeded quota: q, requested: count/deployments.apps=1, used: count/deployments.apps=1, limited: count/deployments.apps=1' \
    "$(k -n sums create deployment b --image=i)"
k create -f - >/dev/null <<EOF
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: boats, singular: boat, kind: Boat}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
EOF
boat() { printf 'apiVersion: example.com/v1\nkind: Boat\nmetadata: {name: %s}\n' "$1" | k -n sums create -f -; }
has 'a boat' created "$(boat a)"
k -n sums create quota boats --hard=count/boats.example.com=2 >/dev/null
check 'boats are counted' 1 "$(until_says 1 used sums boats count/boats.example.com)"
has 'one more boat' created "$(boat b)"
has 'boats are limited' 'boats.example.com "c" is forbidden: exceeded quota: boats, requested: count/boats.example.com=1, used: count/boats.example.com=2, limited: count/boats.example.com=2' \
    "$(boat c)"
k -n sums delete boat a >/dev/null
check 'a boat less' 1 "$(until_says 1 used sums boats count/boats.example.com)"
k -n sums patch quota q -p '{"spec":{"hard":{"count/deployments.apps":"2"}}}' >/dev/null
has 'a larger quota' 'created' "$(until_says 'deployment.apps/b created' k -n sums create deployment b --image=i)"
finish
