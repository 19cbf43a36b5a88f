/* audit_log.h - the audit log: a file of lines that is put aside when it is large.
 *
 * A file that was put aside has the time in its name, as upstream's: audit.log becomes
 * audit-2026-11-16T09-00-00.000.log. Of these the newest and youngest are kept. Any thread may
 * write; lines never mix. */
#pragma once

#include "base/clock.h"
#include "base/err.h"

struct audit_log;

struct audit_log_options {
    const char *path;                          /* "-": standard output */
    uint64_t max_bytes, max_backups, max_days; /* 0: no limit */
};

/* Makes the file and the folders that it needs. */
int audit_log_new(const struct audit_log_options *opt, const struct clock *clock,
                  struct audit_log **ret, struct err *err);
struct audit_log *audit_log_free(struct audit_log *l);

/* A line; the newline is added. May wait for the disk, or for whoever reads what is no file. */
int audit_log_write(struct audit_log *l, struct str line, struct err *err);
