/* How much volumes hold: volumes_usage() and volumes_over_limit(). */
#include <errno.h>
#include <fts.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "node/pod/pod_amount.h"
#include "node/pod/pod_spec.h"
#include "node/volume/volumes_internal.h"
#include "base/banned.h"

enum { BLOCK = 512 };

struct tally {
    uint64_t bytes, inodes;
};

/* All that lies in the folder and its file system. A file with several names counts for each of
 * them, unless they are in turn: it is an estimate of what eviction has to know. */
static int count(const char *path, struct tally *ret)
{
    char *const paths[] = { (char *)path, NULL };
    FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
    *ret = (struct tally){ 0, 0 };
    if (!fts)
        return -1;
    for (const FTSENT *e = fts_read(fts); e; e = fts_read(fts)) {
        if (e->fts_info == FTS_DP || !e->fts_statp || e->fts_info == FTS_NS)
            continue;
        if (e->fts_info == FTS_DC || e->fts_info == FTS_ERR)
            continue;
        ret->bytes += (uint64_t)e->fts_statp->st_blocks * BLOCK /
                      (S_ISDIR(e->fts_statp->st_mode) ? 1 : e->fts_statp->st_nlink);
        ret->inodes++;
    }
    (void)fts_close(fts);
    return 0;
}

int volumes_usage(const struct pod_volume *of, struct volume_usage *ret, struct err *err)
{
    struct arena a;
    struct statvfs fs;
    struct tally tally;
    int r = 0;
    arena_init(&a);
    const char *path = str_cstr(&a, of->path);
    if (statvfs(path, &fs) < 0 || count(path, &tally) < 0)
        r = err_errno(err, errno, "measure " STR_FMT, STR_ARG(of->path));
    else
        *ret = (struct volume_usage){
            .used = tally.bytes,
            .inodes_used = tally.inodes,
            .capacity = (uint64_t)fs.f_blocks * fs.f_frsize,
            .available = (uint64_t)fs.f_bavail * fs.f_frsize,
            .inodes = fs.f_files,
            .inodes_free = fs.f_ffree,
        };
    arena_done(&a);
    return r;
}

struct str volumes_over_limit(struct volumes *v, const struct value *pod, struct arena *a,
                              uint64_t *ret_used)
{
    value_each_item (volume, value_dig(pod, "spec", "volumes")) {
        struct str name = value_text(volume, "name");
        const int64_t limit = amount_units(value_str(value_dig(volume, "emptyDir", "sizeLimit")));
        struct tally tally;
        struct str path =
            arena_printf(a, STR_FMT "/volumes/kubernetes.io~empty-dir/" STR_FMT,
                         STR_ARG(pod_folder(a, v->node, pod_uid(pod))), STR_ARG(name));
        if (limit <= 0 || count(str_cstr(a, path), &tally) < 0 || tally.bytes <= (uint64_t)limit)
            continue;
        *ret_used = tally.bytes;
        return name;
    }
    return STR("");
}
