/* grpc_client.c - a thread with a loop, its connection, and the calls that wait for one.
 *
 * Calls made while there is no connection wait for the next attempt and share its fate: if it
 * fails they surely have not run. Attempts follow each other at growing distances, and only when
 * there is a call to make. */
#include "base/idiom.h"
#include "net/grpc.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net/grpc_conn.h"
#include "base/banned.h"

enum { CONNECT_MS = 5000, BACKOFF_FIRST_MS = 100, BACKOFF_MAX_MS = 5000 };

struct grpc_client {
    struct arena arena; /* of the texts below; nothing is added later */
    struct str address, authority, host;
    struct tls_context *tls;
    int64_t connect_ms;
    pthread_t thread;
    struct loop *loop;
    _Atomic size_t n_streams; /* that callers hold */

    /* The loop's. */
    struct grpc_conn *conn;   /* connecting or ready; NULL: none */
    struct grpc_conn **conns; /* all, also those that only finish their streams */
    size_t n_conns;
    struct grpc_stream_list waiting;
    struct loop_timer retry;
    int64_t next_try_ns, backoff_ms;
    struct loop_msg stop;
};

/* ---- Connections ---- */

static void connect_now(struct grpc_client *c);

static void connect_when_due(struct grpc_client *c)
{
    if (c->conn || TAILQ_EMPTY(&c->waiting))
        return;
    if (loop_now_ns(c->loop) >= c->next_try_ns)
        connect_now(c);
    else
        loop_timer_set(c->loop, &c->retry, c->next_try_ns);
}

static void on_retry(struct loop_timer *t)
{
    connect_when_due(container_of(t, struct grpc_client, retry));
}

/* Off the waiting list, to the connection or to its end. */
static void leave_waiting(struct grpc_client *c, struct grpc_stream *s)
{
    TAILQ_REMOVE(&c->waiting, s, link);
    s->place = GRPC_STREAM_DONE;
}

static void open_or_drop(struct grpc_client *c, struct grpc_stream *s)
{
    if (grpc_stream_submit(s)) {
        grpc_conn_open(c->conn, s);
    } else {
        s->place = GRPC_STREAM_DONE;
        grpc_stream_unref(s);
    }
}

static void on_conn_ready(void *owner, struct grpc_conn *conn)
{
    struct grpc_client *c = owner;
    assert(c->conn == conn);
    c->backoff_ms = 0;
    c->next_try_ns = 0;
    struct grpc_stream *s;
    while (c->conn && (s = TAILQ_FIRST(&c->waiting))) {
        leave_waiting(c, s);
        open_or_drop(c, s);
    }
}

static void on_conn_retired(void *owner, struct grpc_conn *conn, bool failed, struct str why)
{
    struct grpc_client *c = owner;
    assert(c->conn == conn);
    c->conn = NULL;
    if (failed) {
        c->backoff_ms = c->backoff_ms ? 2 * c->backoff_ms : BACKOFF_FIRST_MS;
        if (c->backoff_ms > BACKOFF_MAX_MS)
            c->backoff_ms = BACKOFF_MAX_MS;
        c->next_try_ns = loop_now_ns(c->loop) + c->backoff_ms * NS_PER_MS;
        struct grpc_stream *s;
        while ((s = TAILQ_FIRST(&c->waiting))) {
            leave_waiting(c, s);
            grpc_stream_lost(s, why);
            grpc_stream_unref(s);
        }
    }
    connect_when_due(c);
}

static void on_conn_freed(void *owner, struct grpc_conn *conn)
{
    struct grpc_client *c = owner;
    size_t i = 0;
    while (c->conns[i] != conn)
        i++;
    c->conns[i] = c->conns[--c->n_conns];
}

static void connect_now(struct grpc_client *c)
{
    struct grpc_conn_options opt = { .loop = c->loop,
                                     .address = c->address,
                                     .tls = c->tls,
                                     .host = c->host,
                                     .connect_ms = c->connect_ms,
                                     .owner = c,
                                     .on_ready = on_conn_ready,
                                     .on_retired = on_conn_retired,
                                     .on_freed = on_conn_freed };
    c->conns = mem_resize(c->conns, c->n_conns + 1, sizeof(*c->conns));
    c->conn = grpc_conn_new(&opt);
    c->conns[c->n_conns++] = c->conn;
}

/* ---- Streams ---- */

static void place_new(struct grpc_client *c, struct grpc_stream *s)
{
    if (c->conn && grpc_conn_is_ready(c->conn)) {
        open_or_drop(c, s);
        return;
    }
    s->place = GRPC_STREAM_WAITING;
    TAILQ_INSERT_TAIL(&c->waiting, s, link);
    connect_when_due(c);
}

static void on_poke(struct loop *l, struct loop_msg *m)
{
    (void)l;
    struct grpc_stream *s = container_of(m, struct grpc_stream, poke);
    struct grpc_client *c = s->client;
    (void)pthread_mutex_lock(&s->lock);
    s->poked = false;
    bool ended = s->ended;
    (void)pthread_mutex_unlock(&s->lock);
    switch (s->place) {
    case GRPC_STREAM_NEW:
        place_new(c, s);
        break;
    case GRPC_STREAM_WAITING:
        if (ended) {
            leave_waiting(c, s);
            grpc_stream_unref(s);
        }
        break;
    case GRPC_STREAM_OPEN:
        grpc_conn_look(s->conn, s);
        break;
    case GRPC_STREAM_DONE:
        break;
    }
    grpc_stream_unref(s);
}

static struct grpc_stream *start(struct grpc_client *c, struct str path,
                                 const struct http_header *metadata, size_t n_metadata,
                                 int64_t timeout_ms)
{
    struct grpc_stream *s = grpc_stream_new(c, c->loop, c->authority, c->tls != NULL, path,
                                            metadata, n_metadata, timeout_ms);
    s->poke.run = on_poke;
    atomic_fetch_add(&c->n_streams, 1);
    return s;
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
    grpc_stream_poke(s);
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
        grpc_stream_poke(s);
    }
    struct grpc_client *c = s->client;
    (void)pthread_mutex_unlock(&s->lock);
    atomic_fetch_sub(&c->n_streams, 1);
    return grpc_stream_unref(s);
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
            grpc_stream_poke(s);
        }
    }
}

static struct grpc_result run_unary(struct grpc_stream *s, struct str request, int64_t until_ns,
                                    struct arena *a, struct buf *ret_reply)
{
    (void)pthread_mutex_lock(&s->lock);
    grpc_frame(&s->out, request);
    s->half_closed = true;
    grpc_stream_poke(s);
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

/* ---- The client ---- */

static void *run(void *arg)
{
    struct grpc_client *c = arg;
    loop_run(c->loop);
    return NULL;
}

/* Signals are for the threads that asked for them. */
static bool start_thread(struct grpc_client *c)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(&c->thread, NULL, run, c);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r == 0;
}

/* Without the port, and without the brackets of IPv6. */
static struct str host_of(struct str authority)
{
    if (str_starts(authority, STR("["))) {
        ptrdiff_t end = str_find(authority, ']');
        return end > 0 ? (struct str){ authority.p + 1, (size_t)end - 1 } : authority;
    }
    return str_cut(&authority, ':');
}

static void on_stop(struct loop *l, struct loop_msg *m)
{
    struct grpc_client *c = container_of(m, struct grpc_client, stop);
    loop_timer_cancel(&c->retry);
    for (size_t i = 0; i < c->n_conns; i++)
        grpc_conn_close(c->conns[i], STR("the client was closed"));
    loop_stop(l);
}

static void client_free(struct grpc_client *c)
{
    loop_free(c->loop);
    assert(c->n_conns == 0);
    free(c->conns);
    tls_context_unref(c->tls);
    arena_done(&c->arena);
    free(c);
}

struct grpc_client *grpc_client_new(const struct grpc_client_options *opt)
{
    struct grpc_client *c = mem_new(struct grpc_client);
    bool is_unix = str_starts(opt->address, STR("unix:"));
    arena_init(&c->arena);
    c->address = arena_str(&c->arena, opt->address);
    c->authority = opt->authority.n ? arena_str(&c->arena, opt->authority)
                   : is_unix        ? STR("localhost")
                                    : c->address;
    c->host = host_of(c->authority);
    c->tls = opt->tls ? tls_context_ref(opt->tls) : NULL;
    c->connect_ms = opt->connect_ms > 0 ? opt->connect_ms : CONNECT_MS;
    TAILQ_INIT(&c->waiting);
    c->retry.on_fire = on_retry;
    c->stop.run = on_stop;
    c->loop = loop_new(NULL, NULL);
    if (c->loop && start_thread(c))
        return c;
    client_free(c);
    return NULL;
}

struct grpc_client *grpc_client_free(struct grpc_client *c)
{
    if (!c)
        return NULL;
    assert(atomic_load(&c->n_streams) == 0);
    loop_post(c->loop, &c->stop);
    (void)pthread_join(c->thread, NULL);
    client_free(c);
    return NULL;
}
