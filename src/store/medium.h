/* medium.h - where the log's segments live: the one seam between the engines.
 *
 * A medium is a row of functions over file descriptors, so that everything above it (records,
 * recovery, readers) is the same code for a disk and for memory. Errors are returned as a
 * negative code with `err` filled; `sync` returns 0 or an errno, because what to do about it is
 * the log's decision. */
#pragma once

#include "store/store.h"

struct medium {
    bool durable; /* what was synced survives the process */
    /* A new file without a place in the log yet; `tmp` names it. Replaces one of that name. */
    int (*make)(const char *dir, const char *tmp, struct err *err);
    /* Gives it its place, durably, as the segment that starts at `first_rev`. */
    int (*place)(const char *dir, const char *tmp, uint64_t first_rev, struct err *err);
    int (*sync)(int fd);
    int (*drop)(const char *dir, uint64_t first_rev, struct err *err);
    int (*sync_dir)(const char *dir, struct err *err);
};

extern const struct medium medium_disk, medium_memory;

/* "DIR/00000000000000000002.log" */
const char *medium_path(struct arena *a, const char *dir, uint64_t first_rev);
