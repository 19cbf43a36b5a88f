#!/bin/sh
# valgrind_test.sh SAMPAN - a short life under valgrind: start, a few requests over both versions of
# HTTP, SIGTERM. No error, and every block freed.
set -u
sampan=$1
command -v valgrind >/dev/null 2>&1 || { echo "skipped: valgrind is not installed"; exit 77; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/sampan-valgrind.XXXXXX")
trap 'rm -rf "$dir"' EXIT

valgrind --leak-check=full --show-leak-kinds=all --errors-for-leak-kinds=all --error-exitcode=9 \
    --log-file="$dir/log" "$sampan" up --data-dir "$dir/a" --listen 127.0.0.1:0 >"$dir/out" 2>&1 &
pid=$!
for _ in $(seq 150); do
    grep -q serves "$dir/out" && break
    sleep 0.2
done
server=$(sed -n 's/^Sampan serves //p' "$dir/out")
answers=
for _ in 1 2 3; do
    answers=$answers$(curl -sk --max-time 20 --http2 "$server/readyz")
    answers=$answers$(curl -sk --max-time 20 --http1.1 "$server/livez")
    curl -sk --max-time 20 "$server/metrics" >/dev/null
done
kill -TERM $pid
wait $pid
status=$?
if [ "$answers" != okokokokokok ] || [ $status -ne 0 ]; then
    echo "answers '$answers', exit status $status"
    cat "$dir/log" "$dir/out"
    echo "0 passed, 1 failed"
    exit 1
fi
echo "1 passed, 0 failed"
