#!/bin/sh
# up_test.sh SAMPAN - starts the real binary and asks it with the clients people use: curl, openssl
# and, where it is installed, kubectl. Own folder, own port.
set -u
sampan=$1
. "$(dirname "$0")/common.sh"

said=$(up) || { echo "it does not start: $said"; cat "$dir/a/sampan.log"; exit 1; }
connect
has "three lines say how to use it" "export KUBECONFIG=$dir/a/admin.kubeconfig" "$said"
check "the lines are three" 3 "$(printf '%s\n' "$said" | wc -l)"
has "the real port is in the kubeconfig" "https://127.0.0.1:" "$server"
check "kubeconfig is private" 600 "$(stat -c %a "$dir/a/admin.kubeconfig")"
check "the CA's key is private" 600 "$(stat -c %a "$dir/a/pki/ca.key")"
check "the folder is private" 700 "$(stat -c %a "$dir/a")"

check "livez" ok "$(anonymous "$server/livez")"
check "readyz" ok "$(anonymous "$server/readyz")"
check "healthz" ok "$(anonymous "$server/healthz")"
check "one check alone" ok "$(admin "$server/livez/ping")"
check "which is not for everybody" 403 "$(code anonymous "$server/livez/ping")"
check "a check that is not there" "404 page not found" "$(admin "$server/livez/nope")"
check "and its code" 404 "$(code admin "$server/livez/nope")"
check "livez has no shutdown check" 404 "$(code admin "$server/livez/shutdown")"
check "readyz?verbose" "[+]ping ok
[+]etcd ok
[+]damaged-objects ok
[+]disk-space ok
[+]shutdown ok
[+]workers ok
readyz check passed" "$(anonymous "$server/readyz?verbose")"
check "readyz?verbose&exclude" "[+]ping ok
[+]etcd excluded: ok
[+]damaged-objects ok
[+]disk-space ok
[+]shutdown ok
[+]workers ok
readyz check passed" "$(anonymous "$server/readyz?verbose&exclude=etcd")"
has "version" '"gitVersion": "v1.' "$(anonymous "$server/version")"
check "the version is JSON" application/json \
    "$(anonymous -o /dev/null -w '%{content_type}' "$server/version")"
has "metrics for the admin" "sampan_store_revision " "$(admin "$server/metrics")"
check "metrics for nobody" 403 "$(code anonymous "$server/metrics")"
has "the refusal is a Status" '"reason":"Forbidden","details":{},"code":403' \
    "$(anonymous "$server/metrics")"
has "and says who may not do what" \
    'forbidden: User \"system:anonymous\" cannot get path \"/metrics\"' \
    "$(anonymous "$server/metrics")"
check "an unknown path for nobody" 403 "$(code anonymous "$server/nothing")"
check "an unknown path for the admin" 404 "$(code admin "$server/nothing")"
check "a path that only begins like one" 404 "$(code admin "$server/metricsx")"
check "a wrong method" 405 "$(code admin -X DELETE "$server/version")"
check "HTTP/2 by ALPN" 2 "$(admin -o /dev/null -w '%{http_version}' --http2 "$server/version")"
check "HTTP/1.1" 1.1 "$(admin -o /dev/null -w '%{http_version}' --http1.1 "$server/version")"
check "HEAD" 200 "$(code admin -I "$server/version")"

# A certificate of another authority makes nobody.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /O=system:masters/CN=admin \
    -keyout "$dir/other.key" -out "$dir/other.crt" -days 1 2>/dev/null
check "a stranger's certificate" 401 \
    "$(code anonymous --cert "$dir/other.crt" --key "$dir/other.key" "$server/version" 2>/dev/null)"
has "TLS 1.1 is refused" "alert" "$(openssl s_client -tls1_1 -cipher DEFAULT@SECLEVEL=0 \
    -connect "${server#https://}" </dev/null 2>&1)"
has "TLS 1.2 is spoken" "Verify return code: 0" "$(openssl s_client -tls1_2 -CAfile "$dir/ca.crt" \
    -connect "${server#https://}" </dev/null 2>&1)"

if command -v kubectl >/dev/null 2>&1; then
    check "kubectl readyz" ok "$(kubectl --kubeconfig "$dir/a/admin.kubeconfig" get --raw /readyz)"
    has "kubectl version" "Server Version: v1." \
        "$(kubectl --kubeconfig "$dir/a/admin.kubeconfig" version 2>&1)$(
            kubectl --kubeconfig "$dir/a/admin.kubeconfig" version --short 2>&1)"
else
    skip "kubectl is not installed"
fi

check "a slash at the end of /version" 200 "$(code anonymous "$server/version/")"
has "the key names its algorithm" "BEGIN EC PRIVATE KEY" "$(cat "$dir/admin.key")"
has "status says where" "$server" "$("$sampan" status --data-dir "$dir/a")"
has "a second one is refused" "is served by process" "$(up 2>&1)"

# kill -9: the next start finds the folder free and the authority unchanged.
kill -9 "$(head -n 1 "$dir/a/sampan.pid")"
for _ in 1 2 3 4 5 6 7 8 9 10; do
    "$sampan" status --data-dir "$dir/a" >/dev/null || break
    sleep 0.1
done
check "status after kill -9" 3 "$("$sampan" status --data-dir "$dir/a" >/dev/null; echo $?)"
cp "$dir/ca.crt" "$dir/ca.old"
up >/dev/null || { cat "$dir/a/sampan.log"; failed=$((failed + 1)); }
connect
check "the authority is kept" "$(cat "$dir/ca.old")" "$(cat "$dir/ca.crt")"
check "it serves again" ok "$(anonymous "$server/livez")"
check "down" 0 "$("$sampan" down --data-dir "$dir/a" >/dev/null; echo $?)"
check "status after down" 3 "$("$sampan" status --data-dir "$dir/a" >/dev/null; echo $?)"

# CVE-2020-15113: a folder that others may enter is not used.
chmod 777 "$dir/a"
has "an open folder is refused" "open to other users" "$(up 2>&1)"
check "and stays as it is" 777 "$(stat -c %a "$dir/a")"
chmod 700 "$dir/a"

# An empty one has no secrets yet: it is made private.
mkdir -m 755 "$dir/empty"
said=$("$sampan" up --data-dir "$dir/empty" --listen 127.0.0.1:0 --detach 2>&1)
has "an empty open folder is used" "export KUBECONFIG=$dir/empty/admin.kubeconfig" "$said"
has "the user is told" "the data folder was open to other users; its mode is 0700 now" "$said"
check "it is private now" 700 "$(stat -c %a "$dir/empty")"
"$sampan" down --data-dir "$dir/empty"

"$sampan" up --data-dir "$dir/a" --listen 127.0.0.1:0 --store memory >"$dir/out" 2>"$dir/err" &
pid=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    grep -q KUBECONFIG "$dir/out" 2>/dev/null && break
    sleep 0.1
done
connect
check "the memory store serves" ok "$(anonymous "$server/readyz")"
kill -TERM $pid
wait $pid
check "SIGTERM ends it with 0" 0 $?

check "an unknown command" 2 "$("$sampan" nothing >/dev/null 2>&1; echo $?)"
check "an unknown flag" 2 "$("$sampan" up --nothing >/dev/null 2>&1; echo $?)"
has "help" "--data-dir DIR" "$("$sampan" up --help)"
check "a time that is none" "sampan up: --continue-ttl must be a time like 90s, 30m or 1h, not 'soon'" \
    "$("$sampan" up --continue-ttl soon 2>&1)"
for command in up down status check; do
    check "$command: an unexpected argument" "sampan $command: unexpected argument 'word'
See 'sampan $command --help'." "$("$sampan" $command word 2>&1)"
done
check "no home folder" "sampan status: HOME is not set; use --data-dir DIR" \
    "$(env -u HOME -u XDG_STATE_HOME "$sampan" status 2>&1)"
has "version on the command line" "sampan 0." "$("$sampan" version)"

finish
