#!/bin/sh
# node_golden_test.sh SAMPAN SOURCE [CASES...] - what the real kubelet did with containerd (SAMPAN_VECTORS/node), played on ours.
# A case that differs is in tests/node/allow.txt with its reason. Without names some areas are played; `all` plays all of them.
set -u
sampan=$1
source=$2
shift 2
vectors=${SAMPAN_VECTORS:-$source/../shared/vectors}/node
[ -d "$vectors" ] || { echo "skipped: there are no vectors ($vectors)"; exit 77; }
vectors=$(cd "$vectors" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
if [ -z "${LAB:-}" ]; then
    images=$(mktemp /tmp/sampan-images.XXXXXX)
    trap 'rm -f "$images"' EXIT
    command -v busybox >/dev/null 2>&1 || { echo "skipped: there is no busybox"; exit 77; }
    python3 "$vectors/replay/image.py" "$images" || exit 1
    LAB_IMAGES=$images LAB_PAUSE=localhost/golden/pause:1 "$here/lab.sh" "$sampan" "$0" "$sampan" "$source" "$@"
    exit $?
fi

[ $# -gt 0 ] || set -- env exec logs attach portforward node image init qos termination
[ "$1" != all ] || set -- $(cd "$vectors" && for file in *.jsonl; do echo "${file%.jsonl}"; done)
files=
for area; do files="$files $vectors/$area.jsonl"; done
play() { # OPTION... - all of the chosen areas, or --only one case
    # shellcheck disable=SC2086
    python3 "$vectors/replay/replay.py" "$LAB_URL" "$LAB_TOKEN" "$LAB_NODE" $files --manifests "$LAB_MANIFESTS" --show 4 "$@" 2>&1
}
play --lanes "${LANES:-8}" >"$LAB/replay.out"
cat "$LAB/replay.out"

# Some cases depend on who is faster, here as with the kubelet itself. One that differs is played again, alone.
agrees_later() {
    for _ in 1 2 3; do
        play --lanes 1 --only "$1" >"$LAB/again.out"
        ! grep -q '^DIFF' "$LAB/again.out" && return
        sed 's/^/again: /' "$LAB/again.out"
    done
    false
}
allowed=$(sed -n 's/^\([a-z-]*\/[a-z0-9-]*\)[[:space:]].*/\1/p' "$here/allow.txt")
good=$(grep -c '^ok ' "$LAB/replay.out")
bad=0 listed=0
for id in $(sed -n 's/^DIFF \([^ ]*\).*/\1/p' "$LAB/replay.out"); do
    if agrees_later "$id"; then good=$((good + 1)) && echo "node: $id agreed when it was played again"
    elif echo "$allowed" | grep -qxF "$id"; then listed=$((listed + 1))
    else bad=$((bad + 1)) && echo "FAILED $id"; fi
done
echo "node: $good of $((good + listed + bad)) cases as recorded, $listed listed"
echo "$good passed, $bad failed"
[ "$bad" -eq 0 ] && [ "$good" -gt 0 ]
