/* spdy.h - the frames of SPDY/3.1, as far as streams of commands and ports need them: a client's
 * side that opens streams, sends and reads. Bytes in, frames out. No I/O.
 *
 * What the other side says in header blocks is nothing that a client of these protocols asks for,
 * so they are not opened, only passed over. There is no flow control: the reference implementation
 * has none. */
#pragma once

#include "base/buf.h"

enum {
    SPDY_HEAD_BYTES = 8,
    SPDY_FRAME_MAX = (1 << 24) - 1, /* what a frame may hold */
    SPDY_DATA_MAX = 64 << 10,       /* what we put into one */
};

enum spdy_type {
    SPDY_DATA,
    SPDY_SYN_STREAM = 1,
    SPDY_SYN_REPLY,
    SPDY_RST_STREAM,
    SPDY_SETTINGS,
    SPDY_PING = 6,
    SPDY_GOAWAY,
    SPDY_HEADERS,
    SPDY_WINDOW_UPDATE,
};

/* What was read. `stream` is 0 where a frame is of none. */
struct spdy_events {
    void *arg;
    /* A piece of what a stream carries, as it comes; `is_last` with its end, perhaps empty. */
    void (*on_data)(void *arg, uint32_t stream, struct str piece, bool is_last);
    void (*on_reply)(void *arg, uint32_t stream); /* it has been taken */
    void (*on_reset)(void *arg, uint32_t stream, uint32_t status);
    void (*on_ping)(void *arg, uint32_t id);
    void (*on_goaway)(void *arg);
};

struct spdy_reader {
    const struct spdy_events *events;
    unsigned char head[SPDY_HEAD_BYTES];
    size_t head_n;
    unsigned char body[8]; /* of a control frame: what counts of it stands in front */
    size_t body_n;
    uint32_t left; /* bytes of the frame that are missing */
    bool in_body, is_broken;
};

void spdy_reader_init(struct spdy_reader *r, const struct spdy_events *events);
/* False: the peer has broken the rules, and nothing is read any more. */
bool spdy_reader_feed(struct spdy_reader *r, struct str bytes);

/* The compressor of one direction, for all header blocks of a connection. */
struct spdy_headers;
struct spdy_headers *spdy_headers_new(void);
struct spdy_headers *spdy_headers_free(struct spdy_headers *h);

struct spdy_field {
    struct str name, value;
};

void spdy_write_syn(struct buf *out, struct spdy_headers *h, uint32_t stream,
                    const struct spdy_field *fields, size_t n, bool is_last);
/* In as many frames as it takes. */
void spdy_write_data(struct buf *out, uint32_t stream, struct str bytes, bool is_last);
void spdy_write_ping(struct buf *out, uint32_t id);
void spdy_write_goaway(struct buf *out);
