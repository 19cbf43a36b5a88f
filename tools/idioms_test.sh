#!/bin/sh
# idioms_test.sh IDIOMS - what idioms reports of a small file, line by line, and what it leaves alone.
set -eu
idioms=$1
dir=$(mktemp -d "${TMPDIR:-/tmp}/idioms.XXXXXX")
trap 'rm -rf "$dir"' EXIT

# Lines that are to be reported end with BAD.
cat >"$dir/steps.c" <<'END'
static int ladder(struct err *err)
{
    int r = first(err);
    if (r == 0) // BAD
        r = second(err);
    if (r >= 0 && wanted(err)) { // BAD
        note(err);
        r = third(
            err);
    }
    if (wanted(err) && r == 0 && // BAD
        more(err))
        r = err_set(err, ERR_INVALID, "if (r == 0) r = text(;");
    r = r < 0 ? r : fourth(err); // BAD
    r = r == 0 ? fifth(err) : r; // BAD
    int rc = 0;
    if (!rc) // BAD
        rc = sixth();
    for (size_t i = 0; r == 0 && i < n; i++) // BAD
        r = seventh(i, err);
    while (!rc && more(err)) // BAD
        rc = eighth();
    bool ok = ninth();
    if (ok) // BAD
        ok = tenth();
    if (r == 0) // BAD
        for (;;)
            r = eleventh(err);
    return r;
}

static int early(struct err *err)
{
    /* if (r == 0)
     *     r = second(err); */
    int r = first(err);
    if (r < 0)
        return r;
    r = wanted(err) ? second(err) : 0;
    if (r == 0)
        count(err);
    if (r == 0)
        other = third(err);
    if (w->r == 0)
        r = fourth(err);
    if (r == -ERR_NO_SPACE)
        r = again(err);
    if (r == 0 || !same(err))
        return r;
    struct node *node = find(err);
    if (!node)
        node = make(err);
    size_t n = 0;
    if (n == 0)
        n = strlen(name);
    while (!stops && rc == 0)
        rc = pthread_cond_timedwait(&moved, &lock, &until);
    while (r > 0)
        r = next(err);
    return r > 0 ? 0 : r;
}
END
status=0
"$idioms" "$dir/steps.c" >"$dir/said" && { echo "a file with ladders was accepted"; status=1; }
sed 's/^.*steps.c:\([0-9]*\):.*/\1/' "$dir/said" >"$dir/lines"
grep -n BAD "$dir/steps.c" | cut -d: -f1 | diff - "$dir/lines" || status=1

sed -n '/^static int early/,$p' "$dir/steps.c" >"$dir/early.c"
"$idioms" "$dir/early.c" || { echo "a file without ladders was refused"; status=1; }
exit $status
