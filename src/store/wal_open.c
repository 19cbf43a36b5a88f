/* wal_open.c - finds the log's segments after a start and decides what in them is true.
 *
 * Before any other thread exists. The rules are in scan.h and in the README. */
#include "store/wal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/failpoint.h"

#include "base/banned.h"

/* "%s/%020PRIu64.log" of a segment, for messages. */
#define SEG_FMT         "%s/%020" PRIu64 ".log"
#define SEG_ARG(w, seg) (w)->dir, (seg)->head.first_rev

static bool parse_name(const char *name, uint64_t *ret)
{
    struct str s = str_of(name);
    return s.n == 24 && str_ends(s, STR(".log")) && str_to_u64(str_take(s, 20), ret);
}

bool wal_exists(const char *dir)
{
    DIR *d = opendir(dir);
    struct dirent *ent;
    uint64_t first_rev;
    bool found = false;
    while (d && !found && (ent = readdir(d)))
        found = parse_name(ent->d_name, &first_rev);
    if (d)
        (void)closedir(d);
    return found;
}

static int read_head(struct wal *w, const char *name, uint64_t first_rev, struct wal_segment *seg,
                     struct err *err)
{
    char text[RECORD_SEGMENT_BYTES];
    struct stat st;
    if (fstat(seg->fd, &st) < 0)
        return err_errno(err, errno, "look at %s/%s", w->dir, name);
    ssize_t n = pread(seg->fd, text, sizeof(text), 0);
    if (n < 0)
        return err_errno(err, errno, "read %s/%s", w->dir, name);
    if (!record_segment_read((struct str){ text, (size_t)n }, &seg->head))
        return err_set(err, ERR_DAMAGED, "%s/%s: the header at offset 0 is damaged", w->dir, name);
    if (seg->head.first_rev != first_rev)
        return err_set(err, ERR_DAMAGED, "%s/%s holds revisions from %" PRIu64 " on", w->dir, name,
                       seg->head.first_rev);
    if (seg->head.store_id != w->store_id)
        return err_set(err, ERR_DAMAGED, "%s/%s belongs to another store", w->dir, name);
    seg->bytes = (uint64_t)st.st_size;
    return 0;
}

/* A crash leaves the last segment as long as it was made, or longer. */
static int check_length(struct wal *w, const struct wal_segment *seg, struct err *err)
{
    if (seg->bytes >= seg->head.made_bytes)
        return 0;
    return err_set(err, ERR_DAMAGED,
                   SEG_FMT " was cut off: it has %" PRIu64 " bytes and was made with %" PRIu32
                           "; acknowledged writes may be missing",
                   SEG_ARG(w, seg), seg->bytes, seg->head.made_bytes);
}

static int add_file(struct wal *w, const char *name, uint64_t first_rev, struct err *err)
{
    autofree char *path = NULL;
    if (asprintf(&path, "%s/%s", w->dir, name) < 0)
        mem_exhausted(strlen(w->dir));
    struct wal_segment *seg = mem_new(struct wal_segment);
    seg->refs = 1;
    seg->fd = open(path, O_RDWR | O_CLOEXEC);
    w->segments = mem_resize(w->segments, w->n_segments + 1, sizeof(*w->segments));
    w->segments[w->n_segments++] = seg;
    if (seg->fd < 0)
        return err_errno(err, errno, "open %s", path);
    return read_head(w, name, first_rev, seg, err);
}

static int by_first_rev(const void *a, const void *b)
{
    uint64_t x = (*(struct wal_segment *const *)a)->head.first_rev;
    uint64_t y = (*(struct wal_segment *const *)b)->head.first_rev;
    return x < y ? -1 : x > y;
}

/* Those whose headers cannot be believed are left out, instead of being a reason to stop. */
static void drop_unreadable(struct wal *w, struct err *err)
{
    wal_segment_unref(w->segments[--w->n_segments]);
    err_clear(err);
}

enum care { MAY_CHANGE, MAY_NOT_CHANGE, TAKES_WHAT_IS_THERE };

static int list_file(struct wal *w, DIR *d, const char *name, enum care care, struct err *err)
{
    uint64_t first_rev;
    int r = parse_name(name, &first_rev) ? add_file(w, name, first_rev, err) : 0;
    if (r < 0 && care != TAKES_WHAT_IS_THERE)
        return r;
    if (r < 0)
        drop_unreadable(w, err);
    if (care == MAY_CHANGE && str_ends(str_of(name), STR(".tmp")))
        (void)unlinkat(dirfd(d), name, 0);
    return 0;
}

static int list_files(struct wal *w, DIR *d, enum care care, struct err *err)
{
    for (struct dirent *ent; (ent = readdir(d));) {
        int r = list_file(w, d, ent->d_name, care, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int list_segments(struct wal *w, enum care care, struct err *err)
{
    DIR *d = opendir(w->dir);
    if (!d)
        return err_errno(err, errno, "open %s", w->dir);
    int r = list_files(w, d, care, err);
    (void)closedir(d);
    if (r < 0)
        return r;
    if (w->n_segments)
        qsort(w->segments, w->n_segments, sizeof(*w->segments), by_first_rev);
    return 0;
}

static int check_chain(struct wal *w, const struct wal_replay *replay, struct err *err)
{
    if (w->n_segments == 0) {
        if (replay->is_new)
            return 0;
        return err_set(err, ERR_DAMAGED, "%s: the log's segments are missing", w->dir);
    }
    struct wal_segment *first = w->segments[0];
    if (first->head.first_rev > replay->floor + 1)
        return err_set(err, ERR_DAMAGED,
                       "%s: revisions %" PRIu64 " to %" PRIu64 " are missing from the log", w->dir,
                       replay->floor + 1, first->head.first_rev - 1);
    for (size_t i = 1; i < w->n_segments; i++)
        if (w->segments[i]->head.prev_first_rev != w->segments[i - 1]->head.first_rev)
            return err_set(err, ERR_DAMAGED, "%s: the segment before " SEG_FMT " is missing",
                           w->dir, SEG_ARG(w, w->segments[i]));
    return 0;
}

/* Whether the record at `off` has that revision: the other part of a transaction. 1, 0 or an error.
 */
static int is_whole(const struct wal_segment *seg, uint64_t off, uint64_t rev, struct err *err)
{
    enum { PIECE = 16 << 10 };
    struct scan scan;
    struct record rec;
    scan_init(&scan, seg->fd, seg->head.seed, off, seg->bytes, PIECE);
    int r = scan_next(&scan, &rec, err);
    bool is_it = r > 0 && rec.rev == rev;
    scan_done(&scan);
    return r < 0 ? r : is_it;
}

/* Reads one segment up to `end_rev` (not included) or to the first record that is not good. */
static int replay_segment(struct wal *w, struct wal_segment *seg, uint64_t end_rev,
                          struct wal_replay *replay, uint64_t *ret_off, struct err *err)
{
    (void)w;
    struct scan scan;
    struct record rec;
    scan_init(&scan, seg->fd, seg->head.seed, RECORD_SEGMENT_BYTES, seg->bytes, SCAN_PIECE);
    uint64_t next_rev = seg->head.first_rev, off = scan.off;
    int r = 0;
    while (next_rev < end_rev && (r = scan_next(&scan, &rec, err)) > 0 && rec.rev == next_rev) {
        r = rec.goes_on ? is_whole(seg, scan.off, next_rev + 1, err) : 1;
        if (r <= 0)
            break;
        wal__add_mark(seg, rec.rev, off);
        if (rec.rev > replay->applied_rev)
            replay->on_record(&rec, replay->arg);
        off = scan.off;
        next_rev++;
    }
    scan_done(&scan);
    seg->is_marked = true;
    replay->last_rev = next_rev - 1;
    *ret_off = off;
    return r < 0 ? r : 0;
}

static int damaged_at(struct wal *w, struct wal_segment *seg, uint64_t off, uint64_t rev,
                      struct err *err)
{
    return err_set(err, ERR_DAMAGED,
                   SEG_FMT ": no good record for revision %" PRIu64 " at offset %" PRIu64,
                   SEG_ARG(w, seg), rev, off);
}

/* The end of the last segment: cut short by a crash, or damaged? */
static int judge_tail(struct wal *w, struct wal_segment *seg, uint64_t off, uint64_t next_rev,
                      struct err *err)
{
    struct scan scan;
    scan_init(&scan, seg->fd, seg->head.seed, off, seg->bytes, SCAN_PIECE);
    int r = scan_finds_later_group(&scan, next_rev, err);
    scan_done(&scan);
    return r <= 0 ? r : damaged_at(w, seg, off, next_rev, err);
}

/* Does the segment, whose good records end at `off`, go as far as it should? */
static int check_end(struct wal *w, struct wal_segment *seg, uint64_t end_rev, uint64_t off,
                     uint64_t next_rev, struct err *err)
{
    bool is_last = end_rev == UINT64_MAX;
    if (!is_last)
        return next_rev == end_rev ? 0 : damaged_at(w, seg, off, next_rev, err);
    int r = check_length(w, seg, err);
    if (r < 0)
        return r;
    return judge_tail(w, seg, off, next_rev, err);
}

static int replay_all(struct wal *w, bool every, struct wal_replay *replay, uint64_t *ret_end,
                      struct err *err)
{
    replay->last_rev = replay->applied_rev;
    for (size_t i = 0; i < w->n_segments; i++) {
        struct wal_segment *seg = w->segments[i];
        bool is_last = i + 1 == w->n_segments;
        uint64_t end_rev = is_last ? UINT64_MAX : w->segments[i + 1]->head.first_rev;
        if (!every && end_rev - 1 <= replay->applied_rev)
            continue; /* history that the view has: checked when somebody reads it */
        int r = replay_segment(w, seg, end_rev, replay, ret_end, err);
        if (r < 0)
            return r;
        r = check_end(w, seg, end_rev, *ret_end, replay->last_rev + 1, err);
        if (r < 0)
            return r;
    }
    if (w->n_segments && replay->last_rev < replay->applied_rev)
        return err_set(err, ERR_DAMAGED,
                       SEG_FMT ": the log ends at revision %" PRIu64 " (offset %" PRIu64
                               "), but the view has %" PRIu64,
                       SEG_ARG(w, w->segments[w->n_segments - 1]), replay->last_rev, *ret_end,
                       replay->applied_rev);
    return 0;
}

/* What a crash left behind the last good record must not be there when new records follow it. And
 * what was read may so far be in the page cache only: nobody may see it before it is durable. */
static int settle_tail(struct wal *w, uint64_t end, struct err *err)
{
    struct wal_segment *tail = w->segments[w->n_segments - 1];
    int errnum = wal__clear(tail->fd, end, tail->bytes);
    if (errnum)
        return err_errno(err, errnum, "clear the end of " SEG_FMT, SEG_ARG(w, tail));
    (void)FAILPOINT("recover-cut");
    errnum = w->medium->sync(tail->fd);
    if (errnum)
        return err_errno(err, errnum, "sync " SEG_FMT, SEG_ARG(w, tail));
    tail->bytes = end;
    w->tail = tail;
    w->tail_limit = w->segment_bytes < WAL_PLAIN_BYTES ? w->segment_bytes : WAL_PLAIN_BYTES;
    return w->medium->sync_dir(w->dir, err);
}

int wal_open(struct wal *w, struct wal_replay *replay, struct err *err)
{
    uint64_t end = 0;
    int r = list_segments(w, MAY_CHANGE, err);
    if (r < 0)
        return r;
    r = check_chain(w, replay, err);
    if (r < 0)
        return r;
    r = replay_all(w, false, replay, &end, err);
    if (r < 0)
        return r;
    if (w->n_segments)
        return settle_tail(w, end, err);
    return 0;
}

int wal_check(struct wal *w, struct wal_replay *replay, struct err *err)
{
    uint64_t end = 0;
    int r = list_segments(w, MAY_NOT_CHANGE, err);
    if (r < 0)
        return r;
    r = check_chain(w, replay, err);
    if (r < 0)
        return r;
    return replay_all(w, true, replay, &end, err);
}

int wal_salvage(struct wal *w, struct wal_replay *replay, struct err *err)
{
    uint64_t next_rev = replay->applied_rev + 1;
    int r = list_segments(w, TAKES_WHAT_IS_THERE, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < w->n_segments; i++) {
        struct wal_segment *seg = w->segments[i];
        bool is_last = i + 1 == w->n_segments;
        uint64_t end_rev = is_last ? UINT64_MAX : w->segments[i + 1]->head.first_rev, end;
        if (end_rev <= next_rev)
            continue;
        if (seg->head.first_rev > next_rev)
            break;
        r = replay_segment(w, seg, end_rev, replay, &end, err);
        if (r < 0)
            return r;
        if (replay->last_rev + 1 > next_rev)
            next_rev = replay->last_rev + 1;
        if (replay->last_rev + 1 != end_rev)
            break;
    }
    replay->last_rev = next_rev - 1;
    return 0;
}
