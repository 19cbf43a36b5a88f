/* history.h - the changes after a revision, in order: from the log, then from the tables.
 *
 * Lives within one snapshot and ends at its revision. Any thread that owns the snapshot. */
#pragma once

#include "store/internal.h"

struct history_event {
    enum store_op_type type;
    uint64_t rev, create_rev, prev_rev;
    struct str key, value; /* good until the next step */
    bool is_last;          /* of its revision */
};

/* Where a reader stood in a table, so that the next one need not walk from its beginning. Refers
 * to the table by number, never to its memory unless that table is still there. */
struct history_hint {
    uint64_t serial;
    const struct memnode *node;
};

struct history {
    struct store *s;
    struct store_snap *snap;
    uint64_t next_rev;
    struct history_hint *hint;  /* may be NULL */
    const struct memnode *node; /* next in a table */
    const struct memtable *table;
    bool has_reader;
    struct wal_reader reader;
    struct record record; /* the one being taken apart */
    struct str ops;
};

void history_init(struct history *h, struct store *s, struct store_snap *snap, uint64_t after_rev,
                  struct history_hint *hint);
void history_done(struct history *h);
/* 1 and an event, 0 at the end; ERR_EXPIRED, ERR_DAMAGED, ERR_IO. */
int history_next(struct history *h, struct history_event *ret, struct err *err);
