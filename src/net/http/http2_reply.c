#include "net/http/http2_reply.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/idiom.h"
#include "net/http/conn.h"
#include "base/banned.h"

enum {
    ADDED_HEADERS = 3, /* :status, date, content-length */
    HEAD_BYTES = 9,    /* of a frame */
    LEAST_BODY_BYTES = 1 << 10,
};

static nghttp2_nv make_nv(struct str name, struct str value)
{
    return (nghttp2_nv){ .name = (uint8_t *)name.p,
                         .value = (uint8_t *)value.p,
                         .namelen = name.n,
                         .valuelen = value.n };
}

/* Those that belong to HTTP/1.1 connections (RFC 9113 8.2.2). */
static bool is_hop_by_hop(struct str name)
{
    return str_eq(name, STR("connection")) || str_eq(name, STR("transfer-encoding")) ||
           str_eq(name, STR("keep-alive")) || str_eq(name, STR("upgrade"));
}

/* Those whose value no other reply has: to remember it, as HPACK can, would only push others out.
 */
static bool is_of_one_reply(struct str name)
{
    return str_eq(name, STR("audit-id"));
}

static size_t add_headers(nghttp2_nv *nv, const struct http_header *headers, size_t n,
                          bool skip_length)
{
    size_t added = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_hop_by_hop(headers[i].name) ||
            (skip_length && str_eq(headers[i].name, STR("content-length"))))
            continue;
        nv[added] = make_nv(headers[i].name, headers[i].value);
        if (is_of_one_reply(headers[i].name))
            nv[added].flags = NGHTTP2_NV_FLAG_NO_INDEX;
        added++;
    }
    return added;
}

static int submit_trailers(nghttp2_session *session, struct http_exchange *x)
{
    nghttp2_nv *nv = arena_array(&x->arena, nghttp2_nv, x->n_trailers);
    size_t n = add_headers(nv, x->trailers, x->n_trailers, true);
    return nghttp2_submit_trailer(session, x->stream_id, nv, n);
}

/* How much of a frame's body to send: no more than there is room for, so that a buffer is filled
 * to its last byte and makes whole TLS records. */
static size_t body_bytes(const struct http_exchange *x, const struct http2_out *out, size_t most)
{
    size_t room = out->cap - out->n;
    if (room > HEAD_BYTES + LEAST_BODY_BYTES && most > room - HEAD_BYTES)
        most = room - HEAD_BYTES;
    return x->unsent < most ? x->unsent : most;
}

/* Only says how many bytes the next frame has; http2_send_reply() moves them. */
static ssize_t offer_reply(nghttp2_session *session, int32_t stream_id, uint8_t *to, size_t cap,
                           uint32_t *flags, nghttp2_data_source *source, void *arg)
{
    (void)stream_id;
    (void)to;
    struct http_exchange *x = source->ptr;
    size_t n = body_bytes(x, http2_out_of(arg), cap);
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (n == x->unsent && exchange_is_complete(x)) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
        if (x->n_trailers) {
            *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
            (void)submit_trailers(session, x);
        }
    } else if (n == 0) {
        x->deferred = true;
        return NGHTTP2_ERR_DEFERRED;
    }
    return (ssize_t)n;
}

int http2_send_reply(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head, size_t n,
                     nghttp2_data_source *source, void *arg)
{
    (void)session;
    (void)frame;
    struct http_exchange *x = source->ptr;
    struct http2_out *out = http2_out_of(arg);
    if (x->unsent < n)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; /* dropped since it was offered */
    if (out->cap - out->n < HEAD_BYTES + n)
        return NGHTTP2_ERR_WOULDBLOCK;
    memcpy(out->to + out->n, head, HEAD_BYTES);
    (void)exchange_take(x, out->to + out->n + HEAD_BYTES, n);
    out->n += HEAD_BYTES + n;
    return 0;
}

int http2_submit_reply(nghttp2_session *session, struct http_exchange *x, int status,
                       const struct http_header *headers, size_t n, int64_t length)
{
    char status_text[12], length_text[24];
    int status_n = snprintf(status_text, sizeof(status_text), "%d", status);
    nghttp2_nv near[32], *nv = near;
    if (n + ADDED_HEADERS > ARRAY_LEN(near))
        nv = arena_array(&x->arena, nghttp2_nv, n + ADDED_HEADERS);
    size_t added = 0;
    nv[added++] = make_nv(STR(":status"), (struct str){ status_text, (size_t)status_n });
    added += add_headers(nv + added, headers, n, length >= 0);
    nv[added++] = make_nv(STR("date"), http_home_date(x->home));
    bool bodiless = status == 204 || status == 304;
    if (length >= 0 && !bodiless) {
        int length_n = snprintf(length_text, sizeof(length_text), "%lld", (long long)length);
        nv[added++] = make_nv(STR("content-length"), (struct str){ length_text, (size_t)length_n });
    }
    if (bodiless) {
        exchange_drop(x);
        x->head_method = true; /* what is written later is dropped too */
    }
    bool no_data = x->head_method || (x->whole && !x->first);
    nghttp2_data_provider provider = { .source.ptr = x, .read_callback = offer_reply };
    return nghttp2_submit_response(session, x->stream_id, nv, added, no_data ? NULL : &provider);
}

int http2_submit_continue(nghttp2_session *session, int32_t stream_id)
{
    nghttp2_nv nv = make_nv(STR(":status"), STR("100"));
    return nghttp2_submit_headers(session, NGHTTP2_FLAG_NONE, stream_id, NULL, &nv, 1, NULL);
}
