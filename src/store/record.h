/* record.h - what the log's bytes mean: segment headers, records, operations.
 *
 * A segment is a header and records; a record is one transaction, or one of the two parts of one
 * (store_op.goes_first), padded to eight bytes. Its checksum is seeded with the segment's random
 * number, so bytes that some other file or an earlier life of this one left behind never pass for a
 * record. Each record names the first revision of the group it was written with: the group before
 * was synced before this one was written, and that tells a write cut short by a crash from damage
 * (see scan.h).
 *
 * Pure functions over bytes; numbers are little-endian. A length is believed only after it was
 * compared with what is there. */
#pragma once

#include "base/buf.h"
#include "store/store.h"

enum {
    RECORD_FORMAT = 1,
    RECORD_SEGMENT_BYTES = 64, /* of a segment's header */
    RECORD_HEAD_BYTES = 40,    /* of a record's */
    RECORD_OP_BYTES = 24,      /* of an operation's */
};

struct record_segment {
    uint64_t store_id;       /* the log and the view of one store share it */
    uint64_t seed;           /* random, one per segment */
    uint64_t first_rev;      /* what earlier segments say from here on is void */
    uint64_t prev_first_rev; /* of the segment before; 0 for the first ever */
    int64_t made_ns;         /* wall time; no record of an earlier segment is younger */
    uint32_t made_bytes;     /* how long the file was made, before anything was in it; 0: unknown */
};

void record_segment_write(const struct record_segment *h, char ret[static RECORD_SEGMENT_BYTES]);
bool record_segment_read(struct str bytes, struct record_segment *ret);

struct record {
    uint64_t rev;
    uint64_t group_rev; /* first revision of its group */
    int64_t wall_ns;
    bool goes_on; /* the next record is of the same transaction: without it, this one is void */
    uint32_t n_ops;
    struct str ops; /* walk it with record_op_next() */
    size_t bytes;   /* of the whole record */
};

struct record_op {
    enum store_op_type type; /* STORE_PUT or STORE_DELETE */
    struct str key, value;
    uint64_t create_rev, prev_rev;
};

/* Writing: begin, add each operation, end. `at` is where the record starts in `b`. */
size_t record_begin(struct buf *b, uint64_t rev, uint64_t group_rev, int64_t wall_ns);
void record_add(struct buf *b, size_t at, const struct record_op *op);
void record_go_on(struct buf *b, size_t at); /* its transaction has another record */
void record_end(struct buf *b, size_t at, uint64_t seed);

enum record_verdict {
    RECORD_GOOD,
    RECORD_BAD,  /* not a record, or a damaged one */
    RECORD_MORE, /* it may be one, but needs `*need` bytes */
};

enum record_verdict record_read(struct str bytes, uint64_t seed, struct record *ret, size_t *need);
/* False at the end. Only for records that were RECORD_GOOD. */
bool record_op_next(struct str *ops, struct record_op *ret);
