#include "client/calls/lines.h"

#include "base/banned.h"

void lines_done(struct lines *l)
{
    buf_done(&l->piece);
    buf_done(&l->carry);
}

static void swap(struct buf *a, struct buf *b)
{
    struct buf old_a = *a;
    *a = *b;
    *b = old_a;
}

/* What is not complete waits in `carry`; lines_refilled() puts the next piece behind it. */
static bool frame_next(struct lines *l, struct str *ret)
{
    enum { HEAD = 4 };
    struct str rest = str_skip(buf_str(&l->piece), l->at);
    const unsigned char *p = (const unsigned char *)rest.p;
    size_t n = 0;
    if (!rest.n) /* nothing has come since, and `carry` has what was there before */
        return false;
    if (rest.n >= HEAD)
        n = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
    if (rest.n >= HEAD && rest.n - HEAD >= n) {
        *ret = str_take(str_skip(rest, HEAD), n);
        l->at += HEAD + n;
        return true;
    }
    if (l->at == 0)
        swap(&l->piece, &l->carry);
    else
        buf_str_add(&l->carry, rest);
    buf_reset(&l->piece);
    l->at = 0;
    return false;
}

bool lines_next(struct lines *l, struct str *ret)
{
    if (l->is_framed)
        return frame_next(l, ret);
    if (l->has_line)
        buf_reset(&l->carry);
    l->has_line = false;
    struct str rest = str_skip(buf_str(&l->piece), l->at);
    const char *end = rest.n ? memchr(rest.p, '\n', rest.n) : NULL;
    if (!end) {
        buf_str_add(&l->carry, rest);
        l->at = l->piece.n;
        return false;
    }
    struct str line = { rest.p, (size_t)(end - rest.p) };
    l->at += line.n + 1;
    if (l->carry.n) {
        buf_str_add(&l->carry, line);
        l->has_line = true;
        line = buf_str(&l->carry);
    }
    *ret = line;
    return true;
}

void lines_refilled(struct lines *l)
{
    l->at = 0;
    if (!l->is_framed || !l->carry.n)
        return;
    buf_str_add(&l->carry, buf_str(&l->piece));
    swap(&l->piece, &l->carry);
    buf_reset(&l->carry);
}

size_t lines_held(const struct lines *l)
{
    return l->carry.n;
}
