# common.sh - for tests that start the real binary: source it after setting $sampan. The control
# plane's folder is $dir/a; it is stopped, and $dir removed, at the end.
dir=$(mktemp -d "${TMPDIR:-/tmp}/sampan-test.XXXXXX")
trap '"$sampan" down --data-dir "$dir/a" >/dev/null 2>&1; rm -rf "$dir"' EXIT
passed=0
failed=0

# check NAME EXPECTED ACTUAL
check() {
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED %s\n  expected: %s\n  got:      %s\n' "$1" "$2" "$3"
    fi
}
# has NAME PART ACTUAL
has() {
    case $3 in
    *"$2"*) passed=$((passed + 1)) ;;
    *) failed=$((failed + 1)); printf 'FAILED %s\n  no "%s" in: %s\n' "$1" "$2" "$3" ;;
    esac
}
skip() { echo "skipped: $1"; }
finish() {
    echo "$passed passed, $failed failed"
    [ $failed -eq 0 ]
}

up() { "$sampan" up --data-dir "$dir/a" --listen 127.0.0.1:0 --detach "$@"; }
from_kubeconfig() { sed -n "s/^ *$1: //p" "$dir/a/admin.kubeconfig"; }
connect() {
    server=$(from_kubeconfig server)
    from_kubeconfig certificate-authority-data | base64 -d >"$dir/ca.crt"
    from_kubeconfig client-certificate-data | base64 -d >"$dir/admin.crt"
    from_kubeconfig client-key-data | base64 -d >"$dir/admin.key"
}
anonymous() { curl -sS --max-time 10 --cacert "$dir/ca.crt" "$@"; }
admin() { anonymous --cert "$dir/admin.crt" --key "$dir/admin.key" "$@"; }
code() { "$@" -o /dev/null -w '%{http_code}'; }
