#!/bin/sh
# run.sh SAMPAN ABUSE [ARGUMENT]... - all attacks against one server that has 512 MB, and nothing but
# that: by a control group where one can be made, else its own memory is looked at in the end. It
# lives, and a bystander is served.
set -u
sampan=$1
abuse=$2
shift 2
. "$(dirname "$0")/../common.sh"

limit_mb=512
group=
# A control group of this process, which its children start in; version 2 or 1.
make_group() {
    for root in /sys/fs/cgroup /sys/fs/cgroup/memory; do
        g=$root/sampan-abuse-$$
        mkdir "$g" 2>/dev/null || continue
        for file in memory.max memory.limit_in_bytes; do
            [ -f "$g/$file" ] && echo $((limit_mb << 20)) 2>/dev/null >"$g/$file" && group=$g && return
        done
        rmdir "$g"
    done
}
drop_group() { [ -z "$group" ] || rmdir "$group" 2>/dev/null; }
[ -n "${SAMPAN_SANITIZED:-}" ] || make_group
trap '"$sampan" down --data-dir "$dir/a" >/dev/null 2>&1; drop_group; rm -rf "$dir"' EXIT

(
    [ -z "$group" ] || sh -c "echo \$PPID >$group/cgroup.procs"
    up >/dev/null
) || { cat "$dir/a/sampan.log"; exit 1; }
connect
pid=$(head -n 1 "$dir/a/sampan.pid")
[ -n "$group" ] && echo "memory is limited to $limit_mb MB by a control group" ||
    echo "no control group can be made here"
# The bystander is somebody else: one client may fill its own share of what there is.
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /O=system:masters/CN=bystander \
    -keyout "$dir/aside.key" -out "$dir/aside.csr" 2>/dev/null
printf 'extendedKeyUsage = clientAuth\n' >"$dir/aside.ext"
openssl x509 -req -in "$dir/aside.csr" -CA "$dir/a/pki/ca.crt" -CAkey "$dir/a/pki/ca.key" \
    -CAcreateserial -CAserial "$dir/serial" -days 1 -extfile "$dir/aside.ext" -out "$dir/aside.crt" 2>/dev/null
"$abuse" --server "$server" --ca "$dir/ca.crt" --cert "$dir/admin.crt" --key "$dir/admin.key" \
    --aside-cert "$dir/aside.crt" --aside-key "$dir/aside.key" --pid "$pid" --seconds "${SAMPAN_SECONDS:-10}" "$@"
check "every attack" 0 $?
check "it is the same process" "$pid" "$(head -n 1 "$dir/a/sampan.pid")"
check "it is well" ok "$(admin "$server/readyz")"
own=$(sed -n 's/^RssAnon:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status")
if [ -z "${SAMPAN_SANITIZED:-}" ]; then
    check "its own memory" yes "$([ "${own:-999999}" -lt $((limit_mb << 10)) ] && echo yes || echo "$own KB")"
fi
check "it ends when it is told to" 0 "$("$sampan" down --data-dir "$dir/a" >/dev/null; echo $?)"
[ $failed -eq 0 ] || tail -n 20 "$dir/a/sampan.log"
finish
