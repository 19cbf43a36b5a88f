#!/bin/sh
# reconcile_test.sh SAMPAN SOURCE_ROOT [FILE...] - what the real controllers and the real scheduler did, played on
# ours: a server, `sampan controllers` and `sampan scheduler`. SAMPAN_VECTORS names the folder of vectors; without it
# the test is skipped. Every scenario must pass but those of tests/reconcile_allow.txt, which says why.
# RECONCILE_ONLY: prefixes of ids; RECONCILE_LANES: how many at once; RECONCILE_SHOW: differences of each to show.
set -u
sampan=$1
root=$2
shift 2
vectors=${SAMPAN_VECTORS:-$root/../shared/vectors}/controllers
[ -d "$vectors" ] || { echo "skipped: no scenarios of controllers in $vectors"; exit 77; }
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
. "$root/tests/common.sh"
pids=
at_end='kill $pids 2>/dev/null; wait'
openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$dir/account.key" 2>/dev/null || exit 1
echo 'admin-token,admin,admin,"system:masters"' >"$dir/tokens"
serve --store memory --token-auth-file "$dir/tokens" --service-cidr 10.0.0.0/16 \
    --service-account-signing-key-file "$dir/account.key" \
    --enable-admission-plugins=ServiceAccount
# Times are as they were when this was recorded.
quick="--service-account-private-key-file $dir/account.key --cluster-signing-cert-file $dir/a/pki/ca.crt \
    --cluster-signing-key-file $dir/a/pki/ca.key --node-monitor-period 1s --node-monitor-grace-period 20s \
    --horizontal-pod-autoscaler-sync-period 3s --pvclaimbinder-sync-period 2s"
for program in "controllers $quick" scheduler; do
    "$sampan" $program --kubeconfig "$dir/a/admin.kubeconfig" --leader-elect=false >"$dir/${program%% *}.log" 2>&1 &
    pids="$pids $!"
done
[ $# -gt 0 ] || set -- clusterrole cronjob csr daemonset deployment endpoints gc hpa job namespace node pdb podgc quota \
    replicaset replicationcontroller scheduler serviceaccount statefulset volume
files=
for f; do files="$files $vectors/$f.jsonl"; done
only=
for p in ${RECONCILE_ONLY:-}; do only="$only --only $p"; done
python3 "$vectors/replay/replay.py" "$server" admin-token $files $only \
    --lanes "${RECONCILE_LANES:-16}" --show "${RECONCILE_SHOW:-3}" >"$dir/out" 2>&1
grep -v ' ok$' "$dir/out"
for f; do
    echo "$f: $(grep -c "^$f/.* ok\$" "$dir/out") of $(grep -c "^$f/[^ ]* " "$dir/out")"
done
grep -E '^[a-z]+/[^ ]+ (DIFF|ERROR)' "$dir/out" | cut -d' ' -f1 | sort >"$dir/differ"
grep -v '^#' "$root/tests/reconcile_allow.txt" | cut -f1 | sort >"$dir/allowed"
check "differ, and are not allowed to" "" "$(comm -23 "$dir/differ" "$dir/allowed" | paste -sd' ')"
[ -n "${RECONCILE_ONLY:-}" ] || for f; do
    check "$f: pass, take them off the list" "" "$(grep "^$f/" "$dir/allowed" | comm -23 - "$dir/differ" | paste -sd' ')"
done
finish
