/* gzip.c - zlib behind growing buffers.
 *
 * Inflating grows the output by a chunk at a time and looks at the bound before each one, so a
 * small input that would become very large costs no more than the bound (CVE-2026-48044).
 * Pure; one stream belongs to one thread at a time. */
#include "net/http/gzip.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/mem.h"
#include "base/banned.h"

enum {
    GZIP_WINDOW = MAX_WBITS + 16, /* gzip header and trailer instead of zlib's */
    GZIP_MEM_LEVEL = 8,
    CHUNK_BYTES = 16 << 10,
};

struct gzip {
    z_stream z;
};

/* zlib counts input in 32 bits. */
static struct str next_input(z_stream *z, struct str in)
{
    size_t n = in.n < UINT_MAX ? in.n : UINT_MAX;
    z->next_in = (unsigned char *)(uintptr_t)in.p;
    z->avail_in = (unsigned)n;
    return str_skip(in, n);
}

static void deflate_start(z_stream *z, int level)
{
    int r = deflateInit2(z, level, Z_DEFLATED, GZIP_WINDOW, GZIP_MEM_LEVEL, Z_DEFAULT_STRATEGY);
    if (r == Z_MEM_ERROR)
        mem_exhausted(sizeof(*z));
    assert(r == Z_OK);
}

static void deflate_all(z_stream *z, struct buf *out, int flush)
{
    int r;
    do {
        buf_reserve(out, CHUNK_BYTES);
        size_t room = out->cap - out->n;
        z->next_out = (unsigned char *)out->p + out->n;
        z->avail_out = room < UINT_MAX ? (unsigned)room : UINT_MAX;
        unsigned before = z->avail_out;
        r = deflate(z, flush);
        assert(r != Z_STREAM_ERROR);
        out->n += before - z->avail_out;
    } while (z->avail_out == 0 || (flush == Z_FINISH && r != Z_STREAM_END));
}

static void deflate_text(z_stream *z, struct buf *out, struct str in, int flush)
{
    do {
        in = next_input(z, in);
        deflate_all(z, out, in.n ? Z_NO_FLUSH : flush);
    } while (in.n);
}

void gzip_deflate(struct buf *out, struct str in, int level)
{
    z_stream z = { 0 };
    deflate_start(&z, level);
    deflate_text(&z, out, in, Z_FINISH);
    (void)deflateEnd(&z);
}

struct gzip *gzip_new(int level)
{
    struct gzip *g = mem_new(struct gzip);
    deflate_start(&g->z, level);
    return g;
}

struct gzip *gzip_free(struct gzip *g)
{
    if (g) {
        (void)deflateEnd(&g->z);
        free(g);
    }
    return NULL;
}

void gzip_add(struct gzip *g, struct buf *out, struct str in, bool flush)
{
    if (in.n || flush)
        deflate_text(&g->z, out, in, flush ? Z_SYNC_FLUSH : Z_NO_FLUSH);
}

void gzip_end(struct gzip *g, struct buf *out)
{
    deflate_text(&g->z, out, STR(""), Z_FINISH);
}

/* One step into whatever room `max` leaves, with one byte more to see that there would be more. */
static int inflate_step(z_stream *z, struct buf *out, size_t room)
{
    size_t n = room < CHUNK_BYTES ? room + 1 : CHUNK_BYTES;
    buf_reserve(out, n);
    z->next_out = (unsigned char *)out->p + out->n;
    z->avail_out = (unsigned)n;
    int r = inflate(z, Z_NO_FLUSH);
    out->n += n - z->avail_out;
    return r;
}

static int inflate_bounded(z_stream *z, struct buf *out, struct str in, size_t max, struct err *err)
{
    size_t start = out->n;
    in = next_input(z, in);
    for (;;) {
        int r = inflate_step(z, out, max - (out->n - start));
        if (out->n - start > max)
            return err_set(err, ERR_TOO_LARGE, "more than %zu bytes when inflated", max);
        if (r == Z_STREAM_END)
            break;
        if (r == Z_MEM_ERROR)
            mem_exhausted(CHUNK_BYTES);
        if (r != Z_OK && r != Z_BUF_ERROR)
            return err_set(err, ERR_BAD_REQUEST, "not gzip: %s", z->msg ? z->msg : "bad stream");
        if (!z->avail_in && z->avail_out) {
            if (!in.n)
                return err_set(err, ERR_BAD_REQUEST, "gzip is cut short");
            in = next_input(z, in);
        }
    }
    if (z->avail_in || in.n)
        return err_set(err, ERR_BAD_REQUEST, "bytes after the end of gzip");
    return 0;
}

int gzip_inflate(struct buf *out, struct str in, size_t max, struct err *err)
{
    z_stream z = { 0 };
    int r = inflateInit2(&z, GZIP_WINDOW);
    if (r == Z_MEM_ERROR)
        mem_exhausted(sizeof(z));
    assert(r == Z_OK);
    size_t start = out->n;
    r = inflate_bounded(&z, out, in, max, err);
    (void)inflateEnd(&z);
    if (r < 0)
        out->n = start;
    return r;
}

/* ---- Inflating a stream ---- */

struct gunzip {
    z_stream z;
};

struct gunzip *gunzip_new(void)
{
    struct gunzip *g = mem_new(struct gunzip);
    int r = inflateInit2(&g->z, GZIP_WINDOW);
    if (r == Z_MEM_ERROR)
        mem_exhausted(sizeof(g->z));
    assert(r == Z_OK);
    return g;
}

struct gunzip *gunzip_free(struct gunzip *g)
{
    if (g) {
        (void)inflateEnd(&g->z);
        free(g);
    }
    return NULL;
}

int gunzip_next(struct gunzip *g, struct str *in, struct buf *out, size_t room, struct err *err)
{
    size_t given = in->n < UINT_MAX ? in->n : UINT_MAX, wanted = room < UINT_MAX ? room : UINT_MAX;
    buf_reserve(out, wanted);
    g->z.next_in = (unsigned char *)(uintptr_t)in->p;
    g->z.avail_in = (unsigned)given;
    g->z.next_out = (unsigned char *)out->p + out->n;
    g->z.avail_out = (unsigned)wanted;
    int r = inflate(&g->z, Z_SYNC_FLUSH);
    out->n += wanted - g->z.avail_out;
    *in = str_skip(*in, given - g->z.avail_in);
    if (r == Z_MEM_ERROR)
        mem_exhausted(CHUNK_BYTES);
    if (r != Z_OK && r != Z_BUF_ERROR && r != Z_STREAM_END)
        return err_set(err, ERR_BAD_REQUEST, "not gzip: %s", g->z.msg ? g->z.msg : "bad stream");
    return r == Z_STREAM_END;
}
