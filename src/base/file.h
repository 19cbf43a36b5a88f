/* file.h - files and folders with errors that say which one. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

/* The whole file, at most `max` bytes (ERR_TOO_LARGE past it). */
int file_read(const char *path, size_t max, struct buf *ret, struct err *err);
/* Replaces `path` in one step, by a temporary file beside it and a rename. What survives a power
 * loss is the old file or the new one (FILE_KEPT), certainly the new one (FILE_DURABLE: syncs the
 * folder too), or whatever the disk had (FILE_CHEAP: for what every start makes anew). */
enum file_care { FILE_CHEAP, FILE_KEPT, FILE_DURABLE };
int file_write_atomic(const char *path, struct str bytes, unsigned mode, enum file_care care,
                      struct err *err);
/* All of it, over short writes and EINTR. */
int file_write_all(int fd, struct str bytes, struct err *err);
/* Makes the folder 0700 unless it is there. ERR_FORBIDDEN if it is not ours or others may enter. */
int file_private_dir(const char *path, struct err *err);
/* ERR_FORBIDDEN if anybody but its owner may read or write the file. */
int file_check_private(const char *path, struct err *err);
int file_sync_dir(const char *path, struct err *err);
