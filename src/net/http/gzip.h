/* gzip.h - gzip by zlib, whole or streamed, with the output bounded while inflating. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

void gzip_deflate(struct buf *out, struct str in, int level);
/* ERR_TOO_LARGE as soon as more than `max` bytes would come out; ERR_BAD_REQUEST if it is not
 * gzip, is cut short, or has anything behind it. */
int gzip_inflate(struct buf *out, struct str in, size_t max, struct err *err);

/* A stream whose output can be sent piece by piece. */
struct gzip;
struct gzip *gzip_new(int level);
struct gzip *gzip_free(struct gzip *g);
void gzip_add(struct gzip *g, struct buf *out, struct str in, bool flush); /* flush: a sync point */
void gzip_end(struct gzip *g, struct buf *out);

/* The other way round. */
struct gunzip;
struct gunzip *gunzip_new(void);
struct gunzip *gunzip_free(struct gunzip *g);
/* Takes what it can of `*in` from the front until `room` bytes were put into `out`, perhaps none.
 * 1 at the end of the stream, 0 if there is more to come, ERR_BAD_REQUEST. */
int gunzip_next(struct gunzip *g, struct str *in, struct buf *out, size_t room, struct err *err);
