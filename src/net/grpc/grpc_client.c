/* grpc_client.c - calls over an HTTP/2 client. */
#include "net/grpc/grpc.h"

#include "net/grpc/grpc_stream.h"
#include "base/banned.h"

struct grpc_client *grpc_client_new(const struct grpc_client_options *opt)
{
    const struct h2_client_options h2 = { .address = opt->address,
                                          .tls = opt->tls,
                                          .authority = opt->authority,
                                          .connect_ms = opt->connect_ms,
                                          .window = GRPC_STREAM_WINDOW };
    return (struct grpc_client *)h2_client_new(&h2);
}

struct grpc_client *grpc_client_free(struct grpc_client *c)
{
    h2_client_free((struct h2_client *)c);
    return NULL;
}

/* ---- Streams ---- */

static struct grpc_stream *start(struct grpc_client *c, struct str path,
                                 const struct http_header *metadata, size_t n_metadata,
                                 int64_t timeout_ms)
{
    struct h2_client *h2 = (struct h2_client *)c;
    h2_client_hold(h2);
    return grpc_stream_new(h2, path, metadata, n_metadata, timeout_ms);
}

/* What no server may route, we do not send either (CVE-2026-33186). */
static int check_path(struct str path, struct err *err)
{
    if (!str_starts(path, STR("/")))
        return err_set(err, ERR_BAD_REQUEST, "the path of a method must start with a slash");
    return 0;
}

int grpc_stream_open(struct grpc_client *c, struct str path, const struct http_header *metadata,
                     size_t n_metadata, struct grpc_stream **ret, struct err *err)
{
    int r = check_path(path, err);
    if (r < 0)
        return r;
    struct grpc_stream *s = start(c, path, metadata, n_metadata, 0);
    (void)pthread_mutex_lock(&s->lock);
    h2_stream_poke(&s->h2);
    (void)pthread_mutex_unlock(&s->lock);
    *ret = s;
    return 0;
}

struct grpc_stream *grpc_stream_free(struct grpc_stream *s)
{
    if (!s)
        return NULL;
    (void)pthread_mutex_lock(&s->lock);
    if (!s->ended) {
        grpc_stream_end(s, GRPC_CANCELLED, STR("cancelled by the caller"), !s->submitted);
        h2_stream_poke(&s->h2);
    }
    (void)pthread_mutex_unlock(&s->lock);
    h2_client_let_go(s->h2.client);
    h2_stream_unref(&s->h2);
    return NULL;
}

/* ---- Unary calls ---- */

/* The one message of a call that went well, else its result is changed. */
static void take_reply(struct grpc_stream *s, struct buf *ret, struct grpc_result *result)
{
    if (result->status != GRPC_OK)
        return;
    bool one = grpc_stream_take(s, ret);
    if (!one || s->first)
        *result = (struct grpc_result){ GRPC_INTERNAL,
                                        one ? STR("more than one reply") : STR("no reply"), false };
}

/* Ends the stream when the time is over. The lock is held. */
static void wait_for_end(struct grpc_stream *s, int64_t until_ns)
{
    while (!s->ended) {
        if (!grpc_stream_wait(s, until_ns) && !s->ended) {
            grpc_stream_end(s, GRPC_DEADLINE_EXCEEDED, STR("no reply in time"), !s->submitted);
            h2_stream_poke(&s->h2);
        }
    }
}

static struct grpc_result run_unary(struct grpc_stream *s, struct str request, int64_t until_ns,
                                    struct arena *a, struct buf *ret_reply)
{
    (void)pthread_mutex_lock(&s->lock);
    grpc_frame(&s->out, request);
    s->half_closed = true;
    h2_stream_poke(&s->h2);
    wait_for_end(s, until_ns);
    struct grpc_result result = grpc_stream_result(s, a);
    take_reply(s, ret_reply, &result);
    (void)pthread_mutex_unlock(&s->lock);
    return result;
}

int grpc_call_unary(struct grpc_client *c, struct str path, struct str request,
                    const struct http_header *metadata, size_t n_metadata, int64_t timeout_ms,
                    struct arena *a, struct str *ret, struct grpc_result *ret_result,
                    struct err *err)
{
    struct grpc_result result = { GRPC_INVALID_ARGUMENT, STR("cannot be sent"), true };
    if (ret_result)
        *ret_result = result;
    int r = check_path(path, err);
    if (r < 0)
        return r;
    if (request.n > LIMIT_GRPC_MESSAGE_BYTES)
        return err_set(err, ERR_TOO_LARGE, "request of %zu bytes, at most %u are sent", request.n,
                       LIMIT_GRPC_MESSAGE_BYTES);

    autobuf reply = { 0 };
    int64_t until = grpc_stream_until(timeout_ms);
    struct grpc_stream *s = start(c, path, metadata, n_metadata, timeout_ms);
    result = run_unary(s, request, until, a, &reply);
    grpc_stream_free(s);
    if (ret_result)
        *ret_result = result;
    if (result.status == GRPC_OK) {
        *ret = arena_str(a, buf_str(&reply));
        return 0;
    }
    struct str name = grpc_status_name(result.status);
    return err_set(err, grpc_status_err(result.status), STR_FMT ": " STR_FMT ": " STR_FMT,
                   STR_ARG(path), STR_ARG(name), STR_ARG(result.message));
}
