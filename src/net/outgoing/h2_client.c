/* h2_client.c - see its header. */
#include "net/outgoing/h2_client.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "net/outgoing/h2_conn.h"
#include "base/banned.h"

enum { CONNECT_MS = 5000, BACKOFF_FIRST_MS = 100, BACKOFF_MAX_MS = 5000 };

struct h2_client {
    struct arena arena; /* of the texts below; nothing is added later */
    struct str address, authority, host;
    struct proxy proxy;
    struct tls_context *tls, *proxy_tls;
    int64_t connect_ms;
    uint32_t window;
    pthread_t thread;
    struct loop *loop;
    _Atomic size_t n_held; /* streams that callers hold */
    LIST_ENTRY(h2_client) running;

    /* The loop's. */
    struct h2_conn *connecting; /* NULL: none */
    struct h2_conn **conns;     /* all, also those that only finish their streams */
    size_t n_conns;
    struct h2_stream_list waiting;
    struct loop_timer retry;
    int64_t next_try_ns, backoff_ms;
    struct loop_msg stop;
};

/* ---- Connections ---- */

static void connect_now(struct h2_client *c);

static void connect_when_due(struct h2_client *c)
{
    if (c->connecting || TAILQ_EMPTY(&c->waiting))
        return;
    if (loop_now_ns(c->loop) >= c->next_try_ns)
        connect_now(c);
    else
        loop_timer_set(c->loop, &c->retry, c->next_try_ns);
}

static void on_retry(struct loop_timer *t)
{
    connect_when_due(container_of(t, struct h2_client, retry));
}

/* One that takes another stream now; NULL: none. */
static struct h2_conn *conn_with_room(const struct h2_client *c)
{
    for (size_t i = 0; i < c->n_conns; i++)
        if (h2_conn_has_room(c->conns[i]))
            return c->conns[i];
    return NULL;
}

/* Off the waiting list, to the connection or to its end. */
static void leave_waiting(struct h2_client *c, struct h2_stream *s)
{
    TAILQ_REMOVE(&c->waiting, s, link);
    s->place = H2_STREAM_DONE;
}

static void open_or_drop(struct h2_conn *conn, struct h2_stream *s)
{
    if (s->ops->submit(s)) {
        h2_conn_open(conn, s);
    } else {
        s->place = H2_STREAM_DONE;
        h2_stream_unref(s);
    }
}

static void send_waiting(struct h2_client *c)
{
    struct h2_stream *s;
    struct h2_conn *conn;
    while ((s = TAILQ_FIRST(&c->waiting)) && (conn = conn_with_room(c))) {
        leave_waiting(c, s);
        open_or_drop(conn, s);
    }
    connect_when_due(c);
}

static void on_conn_ready(void *owner, struct h2_conn *conn)
{
    struct h2_client *c = owner;
    assert(c->connecting == conn);
    c->connecting = NULL;
    c->backoff_ms = 0;
    c->next_try_ns = 0;
    send_waiting(c);
}

static void on_conn_retired(void *owner, struct h2_conn *conn, bool failed, struct str why)
{
    struct h2_client *c = owner;
    if (c->connecting == conn)
        c->connecting = NULL;
    if (failed) {
        c->backoff_ms = c->backoff_ms ? 2 * c->backoff_ms : BACKOFF_FIRST_MS;
        if (c->backoff_ms > BACKOFF_MAX_MS)
            c->backoff_ms = BACKOFF_MAX_MS;
        c->next_try_ns = loop_now_ns(c->loop) + c->backoff_ms * NS_PER_MS;
        struct h2_stream *s;
        while ((s = TAILQ_FIRST(&c->waiting))) {
            leave_waiting(c, s);
            s->ops->lost(s, why);
            h2_stream_unref(s);
        }
    }
    connect_when_due(c);
}

static void on_conn_freed(void *owner, struct h2_conn *conn)
{
    struct h2_client *c = owner;
    size_t i = 0;
    while (c->conns[i] != conn)
        i++;
    c->conns[i] = c->conns[--c->n_conns];
}

static void connect_now(struct h2_client *c)
{
    struct h2_conn_options opt = { .loop = c->loop,
                                   .address = c->address,
                                   .proxy = c->proxy.kind == PROXY_NONE ? NULL : &c->proxy,
                                   .tls = c->tls,
                                   .proxy_tls = c->proxy_tls,
                                   .host = c->host,
                                   .connect_ms = c->connect_ms,
                                   .window = c->window,
                                   .owner = c,
                                   .on_ready = on_conn_ready,
                                   .on_retired = on_conn_retired,
                                   .on_freed = on_conn_freed };
    c->conns = mem_resize(c->conns, c->n_conns + 1, sizeof(*c->conns));
    c->connecting = h2_conn_new(&opt);
    c->conns[c->n_conns++] = c->connecting;
}

/* ---- Streams ---- */

static void on_poke(struct loop *l, struct loop_msg *m)
{
    (void)l;
    struct h2_stream *s = container_of(m, struct h2_stream, poke);
    struct h2_client *c = s->client;
    atomic_store(&s->poked, false);
    switch (s->place) {
    case H2_STREAM_NEW:
        s->place = H2_STREAM_WAITING;
        TAILQ_INSERT_TAIL(&c->waiting, s, link);
        send_waiting(c);
        break;
    case H2_STREAM_WAITING:
        if (s->ops->has_ended(s)) {
            leave_waiting(c, s);
            h2_stream_unref(s);
        }
        break;
    case H2_STREAM_OPEN:
        h2_conn_look(s->conn, s);
        break;
    case H2_STREAM_DONE:
        break;
    }
    h2_stream_unref(s);
}

enum { USUAL_HEAD_BYTES = 1 << 10 };

void h2_stream_init(struct h2_stream *s, struct h2_client *c, const struct h2_stream_ops *ops,
                    size_t n_headers)
{
    arena_init(&s->arena);
    arena_expect(&s->arena, USUAL_HEAD_BYTES);
    s->client = c;
    s->ops = ops;
    s->poke.run = on_poke;
    s->headers = arena_array(&s->arena, struct http_header, n_headers);
    atomic_init(&s->refs, 2);
    atomic_init(&s->poked, false);
}

void h2_stream_put_header(struct h2_stream *s, struct str name, struct str value)
{
    s->headers[s->n_headers++] =
        (struct http_header){ arena_str(&s->arena, name), arena_str(&s->arena, value) };
}

struct h2_stream *h2_stream_unref(struct h2_stream *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return NULL;
    arena_done(&s->arena);
    s->ops->free(s);
    return NULL;
}

void h2_stream_poke(struct h2_stream *s)
{
    if (atomic_exchange(&s->poked, true))
        return;
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    loop_post(s->client->loop, &s->poke);
}

/* ---- The client ---- */

static void *run(void *arg)
{
    struct h2_client *c = arg;
    loop_run(c->loop);
    return NULL;
}

/* Signals are for the threads that asked for them. */
static bool start_thread(struct h2_client *c)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(&c->thread, NULL, run, c);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r == 0;
}

/* A program may call exit() while clients run. OpenSSL then takes away what their threads still
 * use, so the threads end first: handlers run in the reverse order of their registration, and
 * OpenSSL's is there as soon as a client has a TLS context. */
static pthread_mutex_t running_lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(running_clients, h2_client) running = LIST_HEAD_INITIALIZER(running);
static pid_t running_in; /* the process whose threads these are; 0: no client was there yet */

static void end_thread(struct h2_client *c)
{
    loop_post(c->loop, &c->stop);
    (void)pthread_join(c->thread, NULL);
}

static void end_running(void)
{
    if (getpid() != running_in)
        return;
    (void)pthread_mutex_lock(&running_lock);
    struct h2_client *c;
    while ((c = LIST_FIRST(&running))) {
        LIST_REMOVE(c, running);
        c->running.le_prev = NULL;
        if (!pthread_equal(c->thread, pthread_self()))
            end_thread(c);
    }
    (void)pthread_mutex_unlock(&running_lock);
}

static void enter_running(struct h2_client *c)
{
    (void)pthread_mutex_lock(&running_lock);
    if (running_in == 0)
        (void)atexit(end_running);
    if (running_in != getpid()) /* what is in the list after a fork has no thread here */
        LIST_INIT(&running);
    running_in = getpid();
    LIST_INSERT_HEAD(&running, c, running);
    (void)pthread_mutex_unlock(&running_lock);
}

/* False if the process is ending, and the thread has ended. */
static bool leave_running(struct h2_client *c)
{
    (void)pthread_mutex_lock(&running_lock);
    bool was_there = c->running.le_prev != NULL;
    if (was_there)
        LIST_REMOVE(c, running);
    (void)pthread_mutex_unlock(&running_lock);
    return was_there;
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
    struct h2_client *c = container_of(m, struct h2_client, stop);
    loop_timer_cancel(&c->retry);
    for (size_t i = 0; i < c->n_conns; i++)
        h2_conn_close(c->conns[i], STR("the client was closed"));
    loop_stop(l);
}

static void client_free(struct h2_client *c)
{
    loop_free(c->loop);
    assert(c->n_conns == 0);
    free(c->conns);
    tls_context_unref(c->tls);
    tls_context_unref(c->proxy_tls);
    arena_done(&c->arena);
    free(c);
}

struct h2_client *h2_client_new(const struct h2_client_options *opt)
{
    struct h2_client *c = mem_new(struct h2_client);
    bool is_unix = str_starts(opt->address, STR("unix:"));
    arena_init(&c->arena);
    c->address = arena_str(&c->arena, opt->address);
    c->authority = opt->authority.n ? arena_str(&c->arena, opt->authority)
                   : is_unix        ? STR("localhost")
                                    : c->address;
    c->host = opt->host.n ? arena_str(&c->arena, opt->host) : host_of(c->authority);
    if (opt->proxy)
        c->proxy = proxy_copy(&c->arena, opt->proxy);
    c->tls = opt->tls ? tls_context_ref(opt->tls) : NULL;
    c->proxy_tls = opt->proxy_tls ? tls_context_ref(opt->proxy_tls) : NULL;
    c->connect_ms = opt->connect_ms > 0 ? opt->connect_ms : CONNECT_MS;
    c->window = opt->window;
    TAILQ_INIT(&c->waiting);
    c->retry.on_fire = on_retry;
    c->stop.run = on_stop;
    c->loop = loop_new(NULL, NULL);
    if (!c->loop || !start_thread(c)) {
        client_free(c);
        return NULL;
    }
    enter_running(c);
    return c;
}

struct h2_client *h2_client_free(struct h2_client *c)
{
    if (!c)
        return NULL;
    assert(atomic_load(&c->n_held) == 0);
    if (leave_running(c))
        end_thread(c);
    client_free(c);
    return NULL;
}

struct str h2_client_authority(const struct h2_client *c)
{
    return c->authority;
}

struct loop *h2_client_loop(struct h2_client *c)
{
    return c->loop;
}

bool h2_client_has_tls(const struct h2_client *c)
{
    return c->tls != NULL;
}

void h2_client_hold(struct h2_client *c)
{
    atomic_fetch_add(&c->n_held, 1);
}

void h2_client_let_go(struct h2_client *c)
{
    atomic_fetch_sub(&c->n_held, 1);
}
