/* lines.h - bytes that come in pieces, handed out line by line or frame by frame. Private to this
 * folder.
 *
 * A line that lies whole in a piece is not copied. A frame is a line with its length in front. No
 * I/O. */
#pragma once

#include "base/buf.h"

struct lines {
    struct buf piece; /* what came last; `at` of it are handed out */
    size_t at;
    struct buf carry; /* the beginning of a line whose end is in the next piece */
    bool has_line;    /* the line handed out last lies in `carry` */
    bool is_framed;   /* no newline ends a line; four bytes before it say how long it is */
};

void lines_done(struct lines *l);

/* The next line without its newline, lent until the next call. False: another piece is needed; then
 * `piece` is to be filled anew and lines_refilled() called. */
bool lines_next(struct lines *l, struct str *ret);
void lines_refilled(struct lines *l);
size_t lines_held(const struct lines *l); /* bytes of the line that is not complete */
