/* http2_guard.h - counts the useless work that an HTTP/2 client causes. No I/O, no clock of its
 * own. Private to this folder.
 *
 * Frames without a request or a body cost a client nothing, but cost the server work. Each kind has
 * a budget. Past a budget the guard trips for good, and the connection is closed with
 * ENHANCE_YOUR_CALM. */
#pragma once

#include "net/http/http.h"

struct http2_guard {
    bool tripped;
    uint64_t reset_tokens; /* in thousandths */
    int64_t reset_ns;      /* when they were last counted */
    size_t control_frames; /* in the second that began at control_ns */
    int64_t control_ns;
    size_t updates_earned; /* WINDOW_UPDATE frames that our DATA frames give reason for */
    size_t continuations;  /* of the header block being read */
};

void http2_guard_init(struct http2_guard *g, const struct http_limits *l, int64_t now_ns);
/* The head of a frame from the client. */
void http2_guard_frame(struct http2_guard *g, const struct http_limits *l, uint8_t type,
                       uint8_t flags, size_t length, int64_t now_ns);
/* A stream was reset, by either side. */
void http2_guard_reset(struct http2_guard *g, const struct http_limits *l, int64_t now_ns);
void http2_guard_data_sent(struct http2_guard *g);
