#include "net/http/http2_guard.h"

#include <nghttp2/nghttp2.h>

#include "base/clock.h"
#include "base/banned.h"

enum {
    TOKEN = 1000, /* thousandths of a reset */
    UPDATES_AT_FIRST = 64,
    UPDATES_PER_DATA = 4, /* one for the stream and one for the connection, twice */
    UPDATES_MOST = 4096,
};

void http2_guard_init(struct http2_guard *g, const struct http_limits *l, int64_t now_ns)
{
    *g = (struct http2_guard){ .reset_tokens = (uint64_t)l->h2_resets * TOKEN,
                               .reset_ns = now_ns,
                               .control_ns = now_ns,
                               .updates_earned = UPDATES_AT_FIRST };
}

void http2_guard_reset(struct http2_guard *g, const struct http_limits *l, int64_t now_ns)
{
    uint64_t most = (uint64_t)l->h2_resets * TOKEN;
    uint64_t passed_ms = (uint64_t)((now_ns - g->reset_ns) / NS_PER_MS);
    if (passed_ms) {
        uint64_t regained = passed_ms * l->h2_resets_per_sec;
        g->reset_tokens = regained < most - g->reset_tokens ? g->reset_tokens + regained : most;
        g->reset_ns = now_ns;
    }
    if (g->reset_tokens < TOKEN)
        g->tripped = true;
    else
        g->reset_tokens -= TOKEN;
}

static void control_frame(struct http2_guard *g, const struct http_limits *l, int64_t now_ns)
{
    if (now_ns - g->control_ns >= NS_PER_SEC) {
        g->control_ns = now_ns;
        g->control_frames = 0;
    }
    if (++g->control_frames > l->h2_control_frames)
        g->tripped = true;
}

void http2_guard_data_sent(struct http2_guard *g)
{
    if (g->updates_earned < UPDATES_MOST)
        g->updates_earned += UPDATES_PER_DATA;
}

void http2_guard_frame(struct http2_guard *g, const struct http_limits *l, uint8_t type,
                       uint8_t flags, size_t length, int64_t now_ns)
{
    switch (type) {
    case NGHTTP2_HEADERS:
        g->continuations = 0;
        break;
    case NGHTTP2_CONTINUATION:
        if (++g->continuations > l->h2_continuations)
            g->tripped = true;
        break;
    case NGHTTP2_WINDOW_UPDATE:
        if (g->updates_earned)
            g->updates_earned--;
        else
            control_frame(g, l, now_ns);
        break;
    case NGHTTP2_DATA:
        if (length == 0 && !(flags & NGHTTP2_FLAG_END_STREAM))
            control_frame(g, l, now_ns);
        break;
    case NGHTTP2_RST_STREAM: /* has a budget of its own */
        break;
    default: /* SETTINGS, PING, PRIORITY, GOAWAY, and unknown types */
        control_frame(g, l, now_ns);
        break;
    }
}
