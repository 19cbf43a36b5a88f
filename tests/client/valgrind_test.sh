#!/bin/sh
# valgrind_test.sh PROGRAM - informers started and stopped a hundred times under valgrind: no error, and
# every block freed.
set -u
command -v valgrind >/dev/null 2>&1 || { echo "skipped: valgrind is not installed"; exit 77; }
log=$(mktemp "${TMPDIR:-/tmp}/sampan-valgrind.XXXXXX")
trap 'rm -f "$log"' EXIT
valgrind --leak-check=full --show-leak-kinds=all --errors-for-leak-kinds=definite,indirect,possible \
    --error-exitcode=9 --log-file="$log" "$1" a_hundred_times || { cat "$log"; exit 1; }
