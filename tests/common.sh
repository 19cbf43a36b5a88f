# common.sh - for tests that start the real binary: source it after setting $sampan. The control
# plane's folder is $dir/a; it is stopped, and $dir removed, at the end. What else is to end then is a command in $at_end.
dir=$(mktemp -d "${TMPDIR:-/tmp}/sampan-test.XXXXXX")
at_end=
trap 'eval "$at_end"; "$sampan" down --data-dir "$dir/a" >/dev/null 2>&1; rm -rf "$dir"' EXIT
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
# waits COMMAND... - until it succeeds; the time only guards against hanging.
waits() {
    for _ in $(seq 1200); do
        "$@" && return
        sleep 0.05
    done
    echo "FAILED: waited in vain for: $*"
    failed=$((failed + 1))
    return 1
}
skip() { echo "skipped: $1"; }
# needs TOOL... - else the test is skipped.
needs() {
    for tool; do
        command -v "$tool" >/dev/null 2>&1 || { skip "there is no $tool"; exit 77; }
    done
}
finish() {
    echo "$passed passed, $failed failed"
    [ $failed -eq 0 ]
}

# Only the API: what a test makes stays as it is. everything() runs the rest of the control plane, too.
up() { everything --api-only "$@"; }
everything() { "$sampan" up --data-dir "$dir/a" --listen 127.0.0.1:0 --detach "$@"; }
# serve [OPTION...] - only the API, and how to reach it; the test ends here if that fails.
serve() { up "$@" >/dev/null || give_up; connect; }
serve_everything() { everything "$@" >/dev/null || give_up; connect; }
give_up() { cat "$dir/a/sampan.log"; exit 1; }
k() { "${kubectl:-kubectl}" --kubeconfig "$dir/a/admin.kubeconfig" --cache-dir "$dir/cache" "$@" 2>&1; }
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

# each_kubectl [KUBECTL...] - calls suite() with each; with none named, with the one on the PATH and that in
# SAMPAN_KUBECTL. Ends the test.
each_kubectl() {
    [ $# -gt 0 ] || set -- kubectl ${SAMPAN_KUBECTL:+"$SAMPAN_KUBECTL"}
    found=0
    for candidate; do
        command -v "$candidate" >/dev/null 2>&1 || { skip "there is no $candidate"; continue; }
        found=1
        suite "$candidate"
    done
    [ $found = 1 ] || exit 77
    finish
}
# end_suite - of the kubectl $v, 1.$minor: a clean folder for the next one.
end_suite() {
    "$sampan" down --data-dir "$dir/a" >/dev/null
    check "$v no sanitizer complains" "" "$(grep -A 20 Sanitizer: "$dir/a/sampan.log")"
    rm -rf "$dir/a" "$dir/cache"
    echo "kubectl 1.$minor: done"
}
