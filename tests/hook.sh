# hook.sh - for tests with a webhook of their own: source it after common.sh. Its files are in $hook, and its process, which
# ends with the test, is $hook_pid.
hook=$dir/hook
mkdir "$hook"
hook_pid=
stop_hook() { [ -z "$hook_pid" ] || kill "$hook_pid" 2>/dev/null; }
at_end=stop_hook

# run_hook PROGRAM - one of tests/webhooks; it serves when this returns.
run_hook() {
    rm -f "$hook/port"
    python3 "$(dirname "$0")/webhooks/$1" "$hook" &
    hook_pid=$!
    waits test -s "$hook/port"
}
make_certificates() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
        -subj /CN=hook-ca -keyout "$hook/ca.key" -out "$hook/ca.crt" 2>/dev/null
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=hook \
        -keyout "$hook/hook.key" -out "$hook/hook.csr" 2>/dev/null
    echo 'subjectAltName=IP:127.0.0.1,DNS:hook.default.svc' >"$hook/names"
    openssl x509 -req -in "$hook/hook.csr" -CA "$hook/ca.crt" -CAkey "$hook/ca.key" -days 2 \
        -CAcreateserial -extfile "$hook/names" -out "$hook/hook.crt" 2>/dev/null
}
