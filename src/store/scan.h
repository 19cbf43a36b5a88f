/* scan.h - reads the records of one segment in order, in pieces of bounded size.
 *
 * A bad record at the end of the last segment is what a crash in the middle of a write leaves
 * behind: nobody was told that it is there, so it is cut off. The same in the middle is damage.
 * The difference: a group is written only after the one before it was synced. So if any good
 * record behind the bad one belongs to a later group, the bad one was once synced whole. (Good
 * records of the same group prove nothing: a disk may write the pages of one group in any
 * order.) */
#pragma once

#include "store/record.h"

struct scan {
    int fd;
    uint64_t seed;
    uint64_t off; /* of the next record */
    uint64_t end; /* of what may be read */
    size_t piece; /* bytes per read */
    struct buf bytes;
    uint64_t bytes_off; /* where bytes.p[0] stands in the file */
};

enum { SCAN_PIECE = 256 << 10 };

/* Borrows `fd`. */
void scan_init(struct scan *sc, int fd, uint64_t seed, uint64_t off, uint64_t end, size_t piece);
void scan_done(struct scan *sc);

/* 1 and the record, good until the next call; 0 if no good record stands at sc->off; or -ERR_IO. */
int scan_next(struct scan *sc, struct record *ret, struct err *err);

/* Is there, from sc->off on, a good record of a group that begins after `rev`? 1, 0 or an error.
 * Costs a pass over the rest; `sc` is spent. */
int scan_finds_later_group(struct scan *sc, uint64_t rev, struct err *err);
