/* wal.h - the redo log: segments of records, which are the history too.
 *
 * The committing thread appends groups; each group is one write and one sync. A segment's file has
 * its length from the beginning and never becomes shorter while it is the last, so that one which
 * is was cut off by somebody else. When a write falls short its place is cleared and used later;
 * when a sync fails, nobody knows what the disk holds, so that file is never synced again: the log
 * goes on in a new segment that declares everything from its first revision on in older segments
 * void.
 *
 * Readers of history take a reference to a segment and read by themselves; they ask only for
 * revisions that are published. The list of segments is guarded by `lock`, a leaf. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "store/medium.h"
#include "store/scan.h"

/* Where a revision stands, every WAL_MARK_BYTES or so. */
struct wal_mark {
    uint64_t rev, off;
};

struct wal_segment {
    _Atomic uint32_t refs;
    int fd;
    struct record_segment head;
    /* Guarded by wal.lock. */
    uint64_t bytes; /* good ones */
    struct wal_mark *marks;
    size_t n_marks;
    bool is_marked; /* false: an old segment nobody has read since the start */
};

struct wal {
    const struct medium *medium;
    const char *dir; /* borrowed */
    uint64_t store_id;
    uint64_t segment_bytes; /* when to begin the next one */
    int64_t segment_ns;
    bool has_gaps;
    /* Asked before a file is made, named or removed; NULL: not asked. */
    int (*may_touch)(void *arg, struct err *err);
    void *may_touch_arg;

    pthread_mutex_t lock;
    struct wal_segment **segments; /* by first revision; the last is being written */
    size_t n_segments;
    bool is_placing;     /* the committing thread has taken the prepared segment */
    int prepared_fd;     /* the next segment, filled with zeros; -1: none */
    bool cannot_prepare; /* it failed; not tried again before the next segment begins */

    /* The committing thread's own. */
    struct wal_segment *tail; /* the last of `segments` */
    uint64_t tail_limit;
    _Atomic bool tail_is_broken; /* nothing more is written there */
};

enum {
    WAL_MARK_BYTES = 64 << 10,
    /* A segment that was not filled with zeros ahead grows with each write, which costs twice the
     * time; it is left soon. */
    WAL_PLAIN_BYTES = 1 << 20,
};

struct wal_options {
    const struct medium *medium;
    const char *dir;
    uint64_t store_id;
    uint64_t history_bytes;
    int64_t history_ns;
    bool has_gaps; /* revisions are somebody else's: not each has a record */
};

void wal_init(struct wal *w, const struct wal_options *opt);
void wal_done(struct wal *w);

bool wal_exists(const char *dir); /* is there any segment? */
/* The first segment of a new log. */
int wal_create(struct wal *w, uint64_t first_rev, int64_t now_ns, struct err *err);

struct wal_replay {
    uint64_t applied_rev; /* the view has everything up to here */
    uint64_t floor;       /* history below is not needed */
    bool is_new;          /* the store never had a change: an empty log is right */
    void (*on_record)(const struct record *rec, void *arg); /* each one above applied_rev */
    void *arg;
    uint64_t last_rev; /* result: the newest revision in the log */
};

/* Reads what the view lacks, checks the chain of segments, cuts a torn tail. ERR_DAMAGED names the
 * file and the offset. */
int wal_open(struct wal *w, struct wal_replay *replay, struct err *err);
/* Reads all of it and changes nothing; on_record gets every record. */
int wal_check(struct wal *w, struct wal_replay *replay, struct err *err);

/* What can be read of a log that wal_open() refuses, up to the first place that cannot; changes
 * nothing. */
int wal_salvage(struct wal *w, struct wal_replay *replay, struct err *err);

/* Chooses the segment for a group that starts at `rev` and says what its records are seeded with.
 * Thread: commit. */
int wal_reserve(struct wal *w, uint64_t rev, int64_t now_ns, uint64_t *ret_seed, struct err *err);
/* Writes and syncs. Nothing of the group is in the log after an error. Thread: commit. */
int wal_append(struct wal *w, uint64_t rev, struct str group, struct err *err);

/* Is it time to prepare the next segment? And do it: slow, on a background thread. */
bool wal_wants_next(struct wal *w);
int wal_prepare_next(struct wal *w, struct err *err);

/* The floor that fits the limits: the last revision of the segments to drop, or 0 for none. */
uint64_t wal_surplus(struct wal *w, uint64_t applied_rev, uint64_t max_bytes, int64_t oldest_ns);
/* Removes segments that hold nothing above `floor`. */
int wal_drop(struct wal *w, uint64_t floor, struct err *err);
uint64_t wal_bytes(struct wal *w);
/* Is the file that is being written still in some folder? Any thread. */
bool wal_has_its_name(struct wal *w);

/* ---- Reading history ---- */

struct wal_reader {
    struct wal *w;
    struct wal_segment *segment;
    struct scan scan;
    uint64_t next_rev;
    uint64_t end_rev; /* where the next segment takes over */
};

/* From `rev` on. ERR_EXPIRED if that was dropped, ERR_DAMAGED if it cannot be read. */
int wal_reader_init(struct wal_reader *r, struct wal *w, uint64_t rev, struct err *err);
void wal_reader_done(struct wal_reader *r);
/* The next record, good until the next call: 0. It must be published: there is no end to run into.
 * In a log with gaps it may be of a later revision, and 1 means that there is none. */
int wal_reader_next(struct wal_reader *r, struct record *ret, struct err *err);

struct wal_segment *wal_segment_unref(struct wal_segment *seg);
/* Shared by wal.c, wal_open.c and wal_reader.c. */
/* Makes zeros of what stands from `off` on, up to `end`: 0 or an errno. The length stays. */
int wal__clear(int fd, uint64_t off, uint64_t end);
/* Under wal.lock, or before threads exist. */
void wal__add_mark(struct wal_segment *seg, uint64_t rev, uint64_t off);
