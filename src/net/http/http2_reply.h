/* http2_reply.h - replies as HTTP/2 frames. Private to this folder. Results are nghttp2's. */
#pragma once

#include <nghttp2/nghttp2.h>

#include "net/http/exchange.h"

/* Where frames go while the connection asks for bytes. */
struct http2_out {
    char *to;
    size_t n, cap;
};

struct http2_out *http2_out_of(struct conn *c); /* http2.c */

int http2_submit_reply(nghttp2_session *session, struct http_exchange *x, int status,
                       const struct http_header *headers, size_t n, int64_t length);
int http2_submit_continue(nghttp2_session *session, int32_t stream_id);
/* nghttp2's send_data_callback: a frame of a reply's body, from its queue straight to the output.
 */
int http2_send_reply(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head, size_t n,
                     nghttp2_data_source *source, void *arg);
