/* wal_reader.c - history for watches that are further behind than memory reaches.
 *
 * Any thread. A reader holds one segment open, so the file may be dropped under it; what it asks
 * for next is then gone and it says ERR_EXPIRED. */
#include "store/wal.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/banned.h"

static int damaged(struct wal_reader *r, struct err *err)
{
    return err_set(err, ERR_DAMAGED,
                   "%020" PRIu64 ".log: no good record for revision %" PRIu64 " at offset %" PRIu64,
                   r->segment->head.first_rev, r->next_rev, r->scan.off);
}

/* The segment that holds `rev`, or NULL if it was dropped. From `*ret_end_rev` on its successor
 * counts, whatever it says itself. */
static struct wal_segment *find_segment(struct wal *w, uint64_t rev, uint64_t *ret_end_rev)
{
    struct wal_segment *found = NULL;
    *ret_end_rev = UINT64_MAX;
    (void)pthread_mutex_lock(&w->lock);
    for (size_t i = w->n_segments; i > 0 && !found; i--) {
        if (w->segments[i - 1]->head.first_rev <= rev)
            found = w->segments[i - 1];
        else
            *ret_end_rev = w->segments[i - 1]->head.first_rev;
    }
    if (found)
        atomic_fetch_add_explicit(&found->refs, 1, memory_order_relaxed);
    (void)pthread_mutex_unlock(&w->lock);
    return found;
}

/* Reads an old segment once to learn where its revisions stand. */
static int mark_segment(struct wal *w, struct wal_segment *seg, struct err *err)
{
    struct wal_segment marks = { 0 };
    struct scan scan;
    struct record rec;
    scan_init(&scan, seg->fd, seg->head.seed, RECORD_SEGMENT_BYTES, seg->bytes, SCAN_PIECE);
    int r;
    uint64_t off = scan.off;
    while ((r = scan_next(&scan, &rec, err)) > 0) {
        wal__add_mark(&marks, rec.rev, off);
        off = scan.off;
    }
    scan_done(&scan);
    (void)pthread_mutex_lock(&w->lock);
    if (r == 0 && !seg->is_marked) {
        seg->marks = take(&marks.marks);
        seg->n_marks = marks.n_marks;
        seg->is_marked = true;
    }
    (void)pthread_mutex_unlock(&w->lock);
    free(marks.marks);
    return r;
}

/* Where to begin reading for `rev`: the last mark not above it. */
static uint64_t offset_for(struct wal *w, struct wal_segment *seg, uint64_t rev, uint64_t *ret_end)
{
    (void)pthread_mutex_lock(&w->lock);
    size_t low = 0, high = seg->n_marks;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (seg->marks[mid].rev <= rev)
            low = mid + 1;
        else
            high = mid;
    }
    uint64_t off = low ? seg->marks[low - 1].off : RECORD_SEGMENT_BYTES;
    *ret_end = seg->bytes;
    (void)pthread_mutex_unlock(&w->lock);
    return off;
}

static int enter(struct wal_reader *r, struct wal_segment *seg, struct err *err)
{
    enum { PIECE = 64 << 10 };
    (void)pthread_mutex_lock(&r->w->lock);
    bool is_marked = seg->is_marked;
    (void)pthread_mutex_unlock(&r->w->lock);
    if (!is_marked) {
        int res = mark_segment(r->w, seg, err);
        if (res < 0)
            return res;
    }
    uint64_t end;
    uint64_t off = offset_for(r->w, seg, r->next_rev, &end);
    scan_done(&r->scan);
    scan_init(&r->scan, seg->fd, seg->head.seed, off, end, PIECE);
    return 0;
}

/* Moves on to the segment that holds next_rev. 1: to another one than before. */
static int change_segment(struct wal_reader *r, struct err *err)
{
    struct wal_segment *seg = find_segment(r->w, r->next_rev, &r->end_rev);
    if (!seg)
        return err_set(err, ERR_EXPIRED, "revision %" PRIu64 " is no longer in the log",
                       r->next_rev);
    bool is_same = seg == r->segment;
    wal_segment_unref(r->segment);
    r->segment = seg;
    int res = is_same ? 0 : enter(r, seg, err);
    return res < 0 ? res : !is_same;
}

int wal_reader_init(struct wal_reader *r, struct wal *w, uint64_t rev, struct err *err)
{
    *r = (struct wal_reader){ .w = w, .next_rev = rev };
    int res = change_segment(r, err);
    if (res < 0)
        wal_reader_done(r);
    return res < 0 ? res : 0;
}

void wal_reader_done(struct wal_reader *r)
{
    scan_done(&r->scan);
    r->segment = wal_segment_unref(r->segment);
}

int wal_reader_next(struct wal_reader *r, struct record *ret, struct err *err)
{
    for (;;) {
        int res = r->next_rev < r->end_rev ? scan_next(&r->scan, ret, err) : 0;
        if (res < 0)
            return res;
        if (res > 0 && (ret->rev == r->next_rev || (r->w->has_gaps && ret->rev > r->next_rev))) {
            r->next_rev = ret->rev + 1;
            return 0;
        }
        if (res > 0 && ret->rev < r->next_rev)
            continue; /* between the mark and what was asked for */
        if (r->w->has_gaps && r->end_rev == UINT64_MAX)
            return 1;
        if (r->w->has_gaps)
            r->next_rev = r->end_rev;
        res = change_segment(r, err);
        if (res < 0)
            return res;
        if (res == 0)
            return damaged(r, err);
    }
}
