/* http2_reply.h - replies as HTTP/2 frames. Private to this folder. Results are nghttp2's. */
#pragma once

#include <nghttp2/nghttp2.h>

#include "net/exchange.h"

int http2_submit_reply(nghttp2_session *session, struct http_exchange *x, int status,
                       const struct http_header *headers, size_t n, int64_t length);
int http2_submit_continue(nghttp2_session *session, int32_t stream_id);
