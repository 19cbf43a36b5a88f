#include "net/spdy/spdy.h"

#include <assert.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/mem.h"
#include "net/spdy/spdy_dictionary.h"
#include "base/banned.h"

enum { VERSION = 3, FLAG_LAST = 1, CONTROL_BIT = 0x80, BLOCK_BYTES = 4096 };

static uint32_t read_u32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void write_u32(struct buf *out, uint32_t n)
{
    const unsigned char bytes[4] = { (unsigned char)(n >> 24), (unsigned char)(n >> 16),
                                     (unsigned char)(n >> 8), (unsigned char)n };
    buf_add(out, bytes, sizeof(bytes));
}

/* ---- Reading ---- */

void spdy_reader_init(struct spdy_reader *r, const struct spdy_events *events)
{
    *r = (struct spdy_reader){ .events = events };
}

static bool is_control(const struct spdy_reader *r)
{
    return r->head[0] & CONTROL_BIT;
}

static bool is_last(const struct spdy_reader *r)
{
    return r->head[4] & FLAG_LAST;
}

static unsigned type_of(const struct spdy_reader *r)
{
    return is_control(r) ? (unsigned)r->head[2] << 8 | r->head[3] : SPDY_DATA;
}

/* What a control frame must have at least. */
static uint32_t least_bytes(unsigned type)
{
    switch (type) {
    case SPDY_RST_STREAM:
    case SPDY_GOAWAY:
    case SPDY_WINDOW_UPDATE:
        return 8;
    case SPDY_SYN_STREAM:
        return 10;
    case SPDY_SYN_REPLY:
    case SPDY_HEADERS:
    case SPDY_PING:
    case SPDY_SETTINGS:
        return 4;
    default:
        return 0;
    }
}

static bool take_head(struct spdy_reader *r)
{
    const uint32_t n = read_u32(r->head + 4) & 0xffffff;
    r->head_n = 0;
    r->body_n = 0;
    r->left = n;
    r->in_body = true;
    if (!is_control(r))
        return (read_u32(r->head) & 0x7fffffff) != 0;
    const unsigned version = (unsigned)(r->head[0] & 0x7f) << 8 | r->head[1];
    return version == VERSION && n >= least_bytes(type_of(r));
}

/* The frame has come to its end. */
static void end_frame(struct spdy_reader *r)
{
    const struct spdy_events *e = r->events;
    const unsigned type = type_of(r);
    const uint32_t first = read_u32(r->body) & 0x7fffffff;
    r->in_body = false;
    if (type == SPDY_RST_STREAM)
        e->on_reset(e->arg, first, read_u32(r->body + 4));
    else if (type == SPDY_PING)
        e->on_ping(e->arg, read_u32(r->body));
    else if (type == SPDY_GOAWAY)
        e->on_goaway(e->arg);
    if (type == SPDY_SYN_REPLY)
        e->on_reply(e->arg, first);
    if ((type == SPDY_SYN_REPLY || type == SPDY_HEADERS) && is_last(r))
        e->on_data(e->arg, first, STR(""), true);
}

static void take_body(struct spdy_reader *r, struct str *bytes)
{
    struct str piece = str_take(*bytes, r->left);
    *bytes = str_skip(*bytes, piece.n);
    r->left -= (uint32_t)piece.n;
    if (!is_control(r)) {
        const uint32_t stream = read_u32(r->head) & 0x7fffffff;
        const bool ends = r->left == 0 && is_last(r);
        if (r->left == 0)
            r->in_body = false;
        if (piece.n || ends)
            r->events->on_data(r->events->arg, stream, piece, ends);
        return;
    }
    for (size_t i = 0; i < piece.n && r->body_n < sizeof(r->body); i++)
        r->body[r->body_n++] = (unsigned char)piece.p[i];
    if (r->left == 0)
        end_frame(r);
}

bool spdy_reader_feed(struct spdy_reader *r, struct str bytes)
{
    while (!r->is_broken && (bytes.n || (r->in_body && r->left == 0))) {
        if (r->in_body) {
            take_body(r, &bytes);
            continue;
        }
        while (bytes.n && r->head_n < SPDY_HEAD_BYTES) {
            r->head[r->head_n++] = (unsigned char)bytes.p[0];
            bytes = str_skip(bytes, 1);
        }
        if (r->head_n == SPDY_HEAD_BYTES)
            r->is_broken = !take_head(r);
    }
    return !r->is_broken;
}

/* ---- Writing ---- */

struct spdy_headers {
    z_stream z;
};

struct spdy_headers *spdy_headers_new(void)
{
    struct spdy_headers *h = mem_new(struct spdy_headers);
    int rc = deflateInit(&h->z, Z_BEST_COMPRESSION);
    assert(rc == Z_OK);
    rc = deflateSetDictionary(&h->z, (const Bytef *)spdy_dictionary, SPDY_DICTIONARY_BYTES);
    assert(rc == Z_OK);
    (void)rc;
    return h;
}

struct spdy_headers *spdy_headers_free(struct spdy_headers *h)
{
    if (h)
        (void)deflateEnd(&h->z);
    free(h);
    return NULL;
}

static void compress_block(struct buf *out, struct spdy_headers *h, struct str plain)
{
    h->z.next_in = (Bytef *)(uintptr_t)plain.p;
    h->z.avail_in = (uInt)plain.n;
    do {
        buf_reserve(out, BLOCK_BYTES);
        h->z.next_out = (Bytef *)out->p + out->n;
        h->z.avail_out = BLOCK_BYTES;
        (void)deflate(&h->z, Z_SYNC_FLUSH);
        out->n += BLOCK_BYTES - h->z.avail_out;
    } while (h->z.avail_out == 0);
}

static void write_head(struct buf *out, unsigned type, unsigned flags, size_t n)
{
    write_u32(out, (uint32_t)CONTROL_BIT << 24 | VERSION << 16 | type);
    write_u32(out, (uint32_t)flags << 24 | (uint32_t)n);
}

void spdy_write_syn(struct buf *out, struct spdy_headers *h, uint32_t stream,
                    const struct spdy_field *fields, size_t n, bool ends)
{
    autobuf plain = { 0 }, block = { 0 };
    write_u32(&plain, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        write_u32(&plain, (uint32_t)fields[i].name.n);
        buf_str_add(&plain, fields[i].name);
        write_u32(&plain, (uint32_t)fields[i].value.n);
        buf_str_add(&plain, fields[i].value);
    }
    compress_block(&block, h, buf_str(&plain));
    write_head(out, SPDY_SYN_STREAM, ends ? FLAG_LAST : 0, 10 + block.n);
    write_u32(out, stream);
    write_u32(out, 0); /* belongs to no other */
    buf_byte(out, 0);  /* priority */
    buf_byte(out, 0);  /* slot */
    buf_str_add(out, buf_str(&block));
}

void spdy_write_data(struct buf *out, uint32_t stream, struct str bytes, bool ends)
{
    do {
        struct str piece = str_take(bytes, SPDY_DATA_MAX);
        bytes = str_skip(bytes, piece.n);
        write_u32(out, stream);
        write_u32(out, (uint32_t)(ends && !bytes.n ? FLAG_LAST : 0) << 24 | (uint32_t)piece.n);
        buf_str_add(out, piece);
    } while (bytes.n);
}

void spdy_write_ping(struct buf *out, uint32_t id)
{
    write_head(out, SPDY_PING, 0, 4);
    write_u32(out, id);
}

void spdy_write_goaway(struct buf *out)
{
    write_head(out, SPDY_GOAWAY, 0, 8);
    write_u32(out, 0);
    write_u32(out, 0);
}
