#include "store/failpoint.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/idiom.h"
#include "base/banned.h"

#ifdef SAMPAN_FAILPOINTS

struct point {
    const char *name;
    _Atomic int errnum;      /* 0: not armed */
    _Atomic unsigned nth;    /* first hit that counts */
    _Atomic unsigned times;  /* how many hits count from there */
    _Atomic unsigned n_hits; /* since it was armed */
    void (*_Atomic hook)(void *arg);
    void *_Atomic hook_arg;
};

static struct point points[] = {
    /* A commit: queue, log, table, readers, writers. */
    { .name = "commit-taken" },
    { .name = "commit-encoded" },
    { .name = "commit-written" },
    { .name = "commit-synced" },
    { .name = "commit-inserted" },
    { .name = "commit-published" },
    { .name = "commit-acknowledged" },
    /* A new log segment. */
    { .name = "rotate-made" },
    { .name = "rotate-headed" },
    { .name = "rotate-synced" },
    { .name = "rotate-named" },
    { .name = "rotate-done" },
    { .name = "prepare-filled" },
    /* A checkpoint, and the compaction that rides on it. */
    { .name = "checkpoint-sealed" },
    { .name = "checkpoint-begun" },
    { .name = "checkpoint-undo" },
    { .name = "checkpoint-applied" },
    { .name = "checkpoint-pruned" },
    { .name = "checkpoint-committed" },
    { .name = "checkpoint-swapped" },
    { .name = "checkpoint-freed" },
    { .name = "compact-begun" },
    { .name = "compact-unlinked" },
    { .name = "compact-synced" },
    /* A new file for the view. */
    { .name = "replace-copied" },
    { .name = "replace-named" },
    { .name = "replace-done" },
    /* Recovery. */
    { .name = "recover-cut" },
    { .name = "recover-replayed" },
    /* Between the layers and the view of a snapshot. */
    { .name = "snap-layers" },
    /* Calls that can be made to fail. */
    { .name = "wal-write" },
    { .name = "wal-sync" },
    { .name = "wal-make" },
    { .name = "wal-prepare" },
    { .name = "view-commit" },
    { .name = "view-panic" },
    { .name = "replace-copy" },
    /* What is done only now and then, done at once. */
    { .name = "replace-now" },
};

static struct point *find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(points); i++)
        if (strcmp(points[i].name, name) == 0)
            return &points[i];
    assert(!"a failpoint that is not in the table");
    return NULL;
}

void failpoint_arm(const char *name, int errnum, unsigned nth, unsigned times)
{
    struct point *p = find(name);
    p->errnum = 0;
    p->nth = nth;
    p->times = times;
    p->n_hits = 0;
    p->errnum = errnum;
}

void failpoint_disarm(const char *name)
{
    find(name)->errnum = 0;
}

void failpoint_hook(const char *name, void (*hook)(void *arg), void *arg)
{
    struct point *p = find(name);
    p->hook_arg = arg;
    p->hook = hook;
}

unsigned failpoint_hits(const char *name)
{
    return find(name)->n_hits;
}

const char *failpoint_name(size_t i)
{
    return i < ARRAY_LEN(points) ? points[i].name : NULL;
}

int failpoint_hit(const char *name)
{
    struct point *p = find(name);
    unsigned hit = atomic_fetch_add(&p->n_hits, 1) + 1;
    void (*hook)(void *arg) = p->hook;
    if (hook)
        hook(p->hook_arg);
    int errnum = p->errnum;
    if (errnum == 0 || hit < p->nth || hit - p->nth >= p->times)
        return 0;
    if (errnum == FAILPOINT_KILL)
        (void)kill(getpid(), SIGKILL);
    return errnum;
}

#endif
