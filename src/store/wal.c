#include "store/wal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/failpoint.h"

#include "base/banned.h"

static const char new_name[] = "new.tmp", prepared_name[] = "prepared.tmp";

enum {
    SEGMENT_MAX_BYTES = 16 << 20,
    SEGMENT_MIN_BYTES = 64 << 10,
    SEGMENTS_PER_HISTORY = 16,
};

void wal_init(struct wal *w, const struct wal_options *opt)
{
    *w = (struct wal){
        .medium = opt->medium,
        .dir = opt->dir,
        .store_id = opt->store_id,
        .segment_bytes = opt->history_bytes / SEGMENTS_PER_HISTORY,
        .segment_ns = opt->history_ns / SEGMENTS_PER_HISTORY,
        .has_gaps = opt->has_gaps,
        .prepared_fd = -1,
    };
    if (w->segment_bytes > SEGMENT_MAX_BYTES)
        w->segment_bytes = SEGMENT_MAX_BYTES;
    if (w->segment_bytes < SEGMENT_MIN_BYTES)
        w->segment_bytes = SEGMENT_MIN_BYTES;
    (void)pthread_mutex_init(&w->lock, NULL);
}

void wal_done(struct wal *w)
{
    for (size_t i = 0; i < w->n_segments; i++)
        wal_segment_unref(w->segments[i]);
    free(w->segments);
    mem_cleanup_close(&w->prepared_fd);
    (void)pthread_mutex_destroy(&w->lock);
}

struct wal_segment *wal_segment_unref(struct wal_segment *seg)
{
    if (seg && atomic_fetch_sub_explicit(&seg->refs, 1, memory_order_acq_rel) == 1) {
        (void)close(seg->fd);
        free(seg->marks);
        free(seg);
    }
    return NULL;
}

static int write_at(int fd, struct str bytes, uint64_t off)
{
    int errnum = FAILPOINT("wal-write");
    if (errnum)
        return errnum;
    while (bytes.n) {
        ssize_t n = pwrite(fd, bytes.p, bytes.n, (off_t)off);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        if (n == 0)
            return ENOSPC;
        bytes = str_skip(bytes, (size_t)n);
        off += (uint64_t)n;
    }
    return 0;
}

/* Piece by piece, so that a commit never waits for all of it. */
static int write_zeros(int fd, uint64_t off, uint64_t end)
{
    enum { PIECE = 1 << 20 };
    autofree char *zeros = mem_zalloc(PIECE);
    for (; off < end; off += PIECE) {
        size_t n = end - off < PIECE ? (size_t)(end - off) : PIECE;
        int errnum = write_at(fd, (struct str){ zeros, n }, off);
        if (errnum)
            return errnum;
        if (fdatasync(fd) < 0)
            return errno;
    }
    return 0;
}

int wal__clear(int fd, uint64_t off, uint64_t end)
{
    if (off >= end)
        return 0;
    /* A hole needs no space, also on a disk that is full; not every file system has them. */
    if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)off, (off_t)(end - off)) ==
        0)
        return 0;
    return errno == EOPNOTSUPP ? write_zeros(fd, off, end) : errno;
}

/* ---- A new segment ---- */

static void add_segment(struct wal *w, struct wal_segment *seg)
{
    struct wal_segment *replaced = NULL;
    (void)pthread_mutex_lock(&w->lock);
    if (w->tail && w->tail->head.first_rev == seg->head.first_rev) {
        /* The one before was given up before anything in it was acknowledged; the rename has
         * replaced its file. */
        replaced = w->tail;
        w->n_segments--;
    }
    w->segments = mem_resize(w->segments, w->n_segments + 1, sizeof(*w->segments));
    w->segments[w->n_segments++] = seg;
    w->tail = seg;
    w->cannot_prepare = false;
    (void)pthread_mutex_unlock(&w->lock);
    wal_segment_unref(replaced);
}

static uint64_t previous_first_rev(struct wal *w, uint64_t first_rev)
{
    uint64_t prev = 0;
    (void)pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < w->n_segments; i++)
        if (w->segments[i]->head.first_rev < first_rev)
            prev = w->segments[i]->head.first_rev;
    (void)pthread_mutex_unlock(&w->lock);
    return prev;
}

static int put_header(struct wal *w, int fd, const struct record_segment *head)
{
    char text[RECORD_SEGMENT_BYTES];
    record_segment_write(head, text);
    int errnum = write_at(fd, (struct str){ text, sizeof(text) }, 0);
    if (errnum)
        return errnum;
    (void)FAILPOINT("rotate-headed");
    return w->medium->sync(fd);
}

static int write_header(struct wal *w, int fd, uint64_t first_rev, int64_t now_ns,
                        struct record_segment *ret, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_errno(err, errno, "look at a new log segment in %s", w->dir);
    struct record_segment head = {
        .store_id = w->store_id,
        .first_rev = first_rev,
        .prev_first_rev = previous_first_rev(w, first_rev),
        .made_ns = now_ns,
        .made_bytes = (uint32_t)st.st_size,
    };
    if (getrandom(&head.seed, sizeof(head.seed), 0) != sizeof(head.seed))
        return err_errno(err, errno, "random numbers");
    int errnum = put_header(w, fd, &head);
    if (errnum)
        return err_errno(err, errnum, "write a new log segment in %s", w->dir);
    *ret = head;
    return 0;
}

/* From here until it is the tail the prepared file is ours, and so is its name. */
static int take_prepared(struct wal *w)
{
    (void)pthread_mutex_lock(&w->lock);
    int fd = take_fd(&w->prepared_fd);
    w->is_placing = true;
    (void)pthread_mutex_unlock(&w->lock);
    return fd;
}

static void end_placing(struct wal *w)
{
    (void)pthread_mutex_lock(&w->lock);
    w->is_placing = false;
    (void)pthread_mutex_unlock(&w->lock);
}

static int place_segment(struct wal *w, int fd, const char *tmp, uint64_t first_rev, int64_t now_ns,
                         struct record_segment *ret, struct err *err)
{
    (void)FAILPOINT("rotate-made");
    int r = write_header(w, fd, first_rev, now_ns, ret, err);
    if (r < 0)
        return r;
    (void)FAILPOINT("rotate-synced");
    r = w->medium->place(w->dir, tmp, first_rev, err);
    if (r < 0)
        return r;
    (void)FAILPOINT("rotate-done");
    return 0;
}

/* How much goes into a segment before the next one begins. */
static uint64_t limit_of(const struct wal *w, bool is_prepared)
{
    bool is_plain = w->medium->durable && !is_prepared;
    return is_plain && w->segment_bytes > WAL_PLAIN_BYTES ? WAL_PLAIN_BYTES : w->segment_bytes;
}

/* One that was not prepared has its length, too, though there is nothing behind it yet. */
static int make_plain(struct wal *w, struct err *err)
{
    int fd = w->medium->make(w->dir, new_name, err);
    if (fd >= 0 && w->medium->durable && ftruncate(fd, (off_t)limit_of(w, false)) < 0) {
        int r = err_errno(err, errno, "make a log segment in %s", w->dir);
        (void)close(fd);
        return r;
    }
    return fd;
}

static int ask(struct wal *w, struct err *err)
{
    return w->may_touch ? w->may_touch(w->may_touch_arg, err) : 0;
}

static int begin_segment(struct wal *w, uint64_t first_rev, int64_t now_ns, struct err *err)
{
    int r = ask(w, err);
    if (r < 0)
        return r;
    autoclose int fd = take_prepared(w);
    bool is_prepared = fd >= 0;
    const char *tmp = is_prepared ? prepared_name : new_name;
    if (!is_prepared)
        fd = make_plain(w, err);
    struct record_segment head;
    r = fd < 0 ? fd : place_segment(w, fd, tmp, first_rev, now_ns, &head, err);
    if (r < 0) {
        end_placing(w);
        return r;
    }

    struct wal_segment *old = w->tail;
    if (old && !w->tail_is_broken)
        (void)ftruncate(old->fd, (off_t)old->bytes); /* unused zeros; no harm if they stay */
    struct wal_segment *seg = mem_new(struct wal_segment);
    seg->refs = 1;
    seg->fd = take_fd(&fd);
    seg->head = head;
    seg->bytes = RECORD_SEGMENT_BYTES;
    seg->is_marked = true;
    add_segment(w, seg);
    end_placing(w);
    w->tail_limit = limit_of(w, is_prepared);
    w->tail_is_broken = false;
    return 0;
}

int wal_create(struct wal *w, uint64_t first_rev, int64_t now_ns, struct err *err)
{
    return begin_segment(w, first_rev, now_ns, err);
}

/* ---- Appending ---- */

int wal_reserve(struct wal *w, uint64_t rev, int64_t now_ns, uint64_t *ret_seed, struct err *err)
{
    struct wal_segment *tail = w->tail;
    bool has_records = tail->bytes > RECORD_SEGMENT_BYTES;
    bool is_old = now_ns - tail->head.made_ns > w->segment_ns;
    if (w->tail_is_broken || (has_records && (tail->bytes >= w->tail_limit || is_old))) {
        int r = begin_segment(w, rev, now_ns, err);
        /* A whole tail that is only full or old can go on growing. */
        if (r < 0 && w->tail_is_broken)
            return r;
        if (r < 0)
            err_clear(err);
    }
    *ret_seed = w->tail->head.seed;
    return 0;
}

void wal__add_mark(struct wal_segment *seg, uint64_t rev, uint64_t off)
{
    if (seg->n_marks && off - seg->marks[seg->n_marks - 1].off < WAL_MARK_BYTES)
        return;
    if ((seg->n_marks & (seg->n_marks - 1)) == 0)
        seg->marks =
            mem_resize(seg->marks, seg->n_marks ? 2 * seg->n_marks : 1, sizeof(*seg->marks));
    seg->marks[seg->n_marks++] = (struct wal_mark){ rev, off };
}

int wal_append(struct wal *w, uint64_t rev, struct str group, struct err *err)
{
    struct wal_segment *tail = w->tail;
    assert(!w->tail_is_broken);
    int errnum = write_at(tail->fd, group, tail->bytes);
    if (errnum) {
        /* What was written of the group must not be there when a shorter one takes its place; and a
         * full disk needs the space. If that cannot be, the segment is given up. */
        if (wal__clear(tail->fd, tail->bytes, tail->bytes + group.n) != 0)
            w->tail_is_broken = true;
        return err_errno(err, errnum, "write the log in %s", w->dir);
    }
    (void)FAILPOINT("commit-written");
    errnum = w->medium->sync(tail->fd);
    if (errnum) {
        w->tail_is_broken = true;
        return err_errno(err, errnum, "sync the log in %s", w->dir);
    }
    (void)pthread_mutex_lock(&w->lock);
    wal__add_mark(tail, rev, tail->bytes);
    tail->bytes += group.n;
    (void)pthread_mutex_unlock(&w->lock);
    return 0;
}

bool wal_wants_next(struct wal *w)
{
    if (!w->medium->durable)
        return false;
    (void)pthread_mutex_lock(&w->lock);
    bool wants = w->prepared_fd < 0 && !w->cannot_prepare && w->tail->bytes > w->tail_limit / 2;
    (void)pthread_mutex_unlock(&w->lock);
    return wants;
}

static int fill_prepared(const struct wal *w, int fd)
{
    int errnum = write_zeros(fd, 0, w->segment_bytes);
    if (errnum)
        return errnum;
    return FAILPOINT("wal-prepare");
}

int wal_prepare_next(struct wal *w, struct err *err)
{
    (void)pthread_mutex_lock(&w->lock);
    /* Asked while one was being made, or while one is on its way to its place under this name: who
     * still wants another will ask again. */
    bool is_settled = w->prepared_fd >= 0 || w->cannot_prepare || w->is_placing;
    (void)pthread_mutex_unlock(&w->lock);
    if (is_settled)
        return 0;
    int r = ask(w, err);
    if (r < 0)
        return r;
    autoclose int fd = w->medium->make(w->dir, prepared_name, err);
    if (fd < 0)
        return fd;
    int errnum = fill_prepared(w, fd);
    if (errnum)
        (void)ftruncate(fd, 0); /* the space is needed elsewhere now */
    (void)FAILPOINT("prepare-filled");
    (void)pthread_mutex_lock(&w->lock);
    assert(w->prepared_fd < 0);
    if (errnum)
        w->cannot_prepare = true;
    else
        w->prepared_fd = take_fd(&fd);
    (void)pthread_mutex_unlock(&w->lock);
    return errnum ? err_errno(err, errnum, "prepare a log segment in %s", w->dir) : 0;
}

/* ---- Keeping history within its limits ---- */

uint64_t wal_bytes(struct wal *w)
{
    uint64_t total = 0;
    (void)pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < w->n_segments; i++)
        total += w->segments[i]->bytes;
    (void)pthread_mutex_unlock(&w->lock);
    return total;
}

bool wal_has_its_name(struct wal *w)
{
    struct stat st;
    (void)pthread_mutex_lock(&w->lock);
    /* A segment that is being placed may take the name of a tail that was given up. */
    bool has = !w->tail || w->is_placing || w->tail_is_broken ||
               (fstat(w->tail->fd, &st) == 0 && st.st_nlink > 0);
    (void)pthread_mutex_unlock(&w->lock);
    return has;
}

uint64_t wal_surplus(struct wal *w, uint64_t applied_rev, uint64_t max_bytes, int64_t oldest_ns)
{
    uint64_t total = wal_bytes(w), floor = 0;
    (void)pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i + 1 < w->n_segments; i++) {
        const struct record_segment *next = &w->segments[i + 1]->head;
        if (next->first_rev - 1 > applied_rev)
            break;
        if (total <= max_bytes && next->made_ns >= oldest_ns)
            break;
        total -= w->segments[i]->bytes;
        floor = next->first_rev - 1;
    }
    (void)pthread_mutex_unlock(&w->lock);
    return floor;
}

static struct wal_segment *take_oldest(struct wal *w, uint64_t floor)
{
    struct wal_segment *seg = NULL;
    (void)pthread_mutex_lock(&w->lock);
    if (w->n_segments > 1 && w->segments[1]->head.first_rev - 1 <= floor) {
        seg = w->segments[0];
        w->n_segments--;
        memmove(w->segments, w->segments + 1, w->n_segments * sizeof(*w->segments));
    }
    (void)pthread_mutex_unlock(&w->lock);
    return seg;
}

static int drop_segment(struct wal *w, struct wal_segment *seg, struct err *err)
{
    int r = w->medium->drop(w->dir, seg->head.first_rev, err);
    (void)FAILPOINT("compact-unlinked");
    wal_segment_unref(seg);
    return r;
}

int wal_drop(struct wal *w, uint64_t floor, struct err *err)
{
    int r = ask(w, err);
    if (r < 0)
        return r;
    bool any = false;
    for (struct wal_segment *seg; (seg = take_oldest(w, floor)); any = true) {
        r = drop_segment(w, seg, err);
        if (r < 0)
            return r;
    }
    if (!any)
        return 0;
    r = w->medium->sync_dir(w->dir, err);
    if (r < 0)
        return r;
    (void)FAILPOINT("compact-synced");
    return 0;
}
