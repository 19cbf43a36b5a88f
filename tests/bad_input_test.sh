#!/bin/sh
# bad_input_test.sh SAMPAN BAD_INPUT - hostile requests, and what may be seen of requests afterwards:
# in the metrics only labels of closed sets, in the log no secrets.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"

serve --verbose
pid=$(head -n 1 "$dir/a/sampan.pid")
peak() { sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status"; }
"$2" --server "$server" --ca "$dir/ca.crt" --cert "$dir/admin.crt" --key "$dir/admin.key"
check "every row" 0 $?
check "it is still well" ok "$(anonymous "$server/readyz")"
if [ -z "${SAMPAN_SANITIZED:-}" ]; then
    check "its memory stayed within bounds" yes "$([ "$(peak)" -lt 262144 ] && echo yes || peak)"
fi

# CVE-2020-8552, CVE-2022-21698: neither user agents nor methods nor paths make series.
series() { admin "$server/metrics" | grep -c '^apiserver_request_total'; }
admin "$server/metrics" >/dev/null
admin -X NOTHING "$server/api/v1/nodes/none" >/dev/null
admin "$server/api/v1/nodes/none" >/dev/null
before=$(series)
i=0
while [ $i -lt 100 ]; do
    printf 'url = "%s/api/v1/nodes/x%d"\nuser-agent = "agent-%d"\nrequest = "M%d"\noutput = "/dev/null"\nnext\n' \
        "$server" $i $i $i
    printf 'url = "%s/api/v1/nodes/none%d"\nuser-agent = "agent-%d"\noutput = "/dev/null"\nnext\n' \
        "$server" $i $i
    i=$((i + 1))
done | sed "s|^url|cacert = \"$dir/ca.crt\"\ncert = \"$dir/admin.crt\"\nkey = \"$dir/admin.key\"\nsilent\nurl|" >"$dir/many"
curl -K "$dir/many" >/dev/null 2>&1
check "the number of series" "$before" "$(series)"
has "objects are counted" 'apiserver_storage_objects{resource="configmaps"} ' "$(admin "$server/metrics")"
has "requests are counted" 'resource="configmaps",scope="namespace",subresource="",verb="POST"' \
    "$(admin "$server/metrics")"

# CVE-2019-11250, CVE-2020-8565: what a log must not have.
admin -H 'Authorization: Bearer s3cr3t-token' -H 'Cookie: id=s3cr3t-cookie' \
    -H 'X-Remote-Extra-Token: s3cr3t-extra' "$server/api/v1/nodes?token=s3cr3t-query" >/dev/null
admin -X POST -H 'Content-Type: application/json' "$server/api/v1/namespaces/default/secrets" \
    -d '{"metadata":{"name":"s"},"data":{"k":"czNjcjN0LWRhdGE="}}' >/dev/null
"$sampan" down --data-dir "$dir/a" >/dev/null
check "no secret in the log" 0 "$(grep -c 's3cr3t\|czNjcjN0' "$dir/a/sampan.log")"
finish
