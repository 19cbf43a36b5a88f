/* ws_frame.h - the frames of RFC 6455: bytes in, messages out. No I/O.
 *
 * Lengths are checked against the bound before anything is stored, and a message's memory grows
 * with the bytes that came, not with the length that was announced. A reader belongs to one
 * thread at a time. Extensions are not negotiated, so every reserved bit is an error. */
#pragma once

#include "base/buf.h"
#include "net/ws/ws.h"

enum ws_opcode {
    WS_OP_CONTINUATION = 0,
    WS_OP_TEXT = WS_TEXT,
    WS_OP_BINARY = WS_BINARY,
    WS_OP_CLOSE = 8,
    WS_OP_PING = 9,
    WS_OP_PONG = 10,
};

enum ws_code {
    WS_CODE_NORMAL = 1000,
    WS_CODE_PROTOCOL = 1002,
    WS_CODE_NONE = 1005, /* a close frame without a code; never sent */
    WS_CODE_GONE = 1006, /* no close frame at all; never sent */
    WS_CODE_BAD_TEXT = 1007,
    WS_CODE_TOO_LARGE = 1009,
};

enum { WS_CONTROL_MAX = 125, WS_HEAD_MAX = 14 };

/* What was read. A callback may not feed or end the reader. */
struct ws_reader_events {
    void *arg;
    void (*on_message)(void *arg, enum ws_type type, struct str message); /* NULL: dropped */
    void (*on_ping)(void *arg, struct str payload);
    void (*on_close)(void *arg, unsigned code, struct str reason); /* nothing is read after it */
};

struct ws_reader {
    size_t max_message;
    bool is_client; /* frames come unmasked; set it after ws_reader_init() */
    const struct ws_reader_events *events;

    unsigned char head[WS_HEAD_MAX];
    size_t head_n; /* bytes of the head that have come */
    bool in_payload, fin, closed;
    unsigned opcode;       /* of the frame */
    unsigned message_type; /* of the message under way; 0: none */
    uint64_t left;         /* payload bytes of the frame that are missing */
    unsigned char mask[4];
    size_t mask_at;
    struct buf message;
    char control[WS_CONTROL_MAX];
    size_t control_n;
};

void ws_reader_init(struct ws_reader *r, size_t max_message, const struct ws_reader_events *events);
void ws_reader_done(struct ws_reader *r);

/* 0, or the code to close with because the peer broke a rule; feeding must then stop. */
unsigned ws_reader_feed(struct ws_reader *r, struct str bytes);

/* A whole unmasked frame, as a server sends it. */
void ws_frame_write(struct buf *out, enum ws_opcode opcode, struct str payload);
/* The same, masked, as a client sends it. */
void ws_frame_write_masked(struct buf *out, enum ws_opcode opcode, struct str payload,
                           const unsigned char mask[static 4]);
/* A close frame; no code at all for WS_CODE_NONE. A long reason is cut at a character. */
void ws_frame_write_close(struct buf *out, unsigned code, struct str reason);
/* True for codes that may be in a close frame. */
bool ws_code_valid(unsigned code);
/* XORs with the mask, of which the first byte used is mask[at % 4]. */
void ws_unmask(char *p, size_t n, const unsigned char mask[static 4], size_t at);
