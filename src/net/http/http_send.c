/* http_send.c - what a handler calls from a worker.
 *
 * Each call becomes a message to the exchange's loop, which makes the matching http_reply call
 * there; messages of one thread arrive in order. The worker waits on the exchange's gate while
 * more is unsent than the limit. */
#include <assert.h>
#include <stdlib.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "net/http/conn.h"
#include "net/http/http.h"
#include "base/banned.h"

enum send_kind { SEND_WHOLE, SEND_BEGIN, SEND_WRITE, SEND_END };

struct send_msg {
    struct loop_msg msg;
    struct http_exchange *x;
    enum send_kind kind;
    int status;
    struct http_bytes bytes;
    size_t n_headers;
    struct http_header headers[]; /* their text follows */
};

static void on_send(struct loop *l, struct loop_msg *m)
{
    (void)l;
    struct send_msg *s = (struct send_msg *)m;
    switch (s->kind) {
    case SEND_WHOLE:
        atomic_fetch_sub_explicit(&s->x->peer->share->held, s->bytes.s.n, memory_order_relaxed);
        http_reply(s->x, s->status, s->headers, s->n_headers, s->bytes);
        break;
    case SEND_BEGIN:
        http_reply_begin(s->x, s->status, s->headers, s->n_headers);
        break;
    case SEND_WRITE:
        http_reply_write(s->x, s->bytes);
        break;
    case SEND_END:
        http_reply_end(s->x, s->headers, s->n_headers);
        break;
    }
    free(s);
}

static char *put(char **to, struct str s)
{
    char *start = *to;
    if (s.n)
        memcpy(start, s.p, s.n);
    *to += s.n;
    return start;
}

static struct send_msg *send_msg_new(struct http_exchange *x, enum send_kind kind, int status,
                                     const struct http_header *headers, size_t n)
{
    size_t text = 0;
    for (size_t i = 0; i < n; i++)
        text += headers[i].name.n + headers[i].value.n;
    struct send_msg *s = mem_alloc(sizeof(*s) + n * sizeof(s->headers[0]) + text);
    *s = (struct send_msg){
        .msg.run = on_send, .x = x, .kind = kind, .status = status, .n_headers = n
    };
    char *to = (char *)&s->headers[n];
    for (size_t i = 0; i < n; i++) {
        s->headers[i].name = (struct str){ put(&to, headers[i].name), headers[i].name.n };
        s->headers[i].value = (struct str){ put(&to, headers[i].value), headers[i].value.n };
    }
    return s;
}

/* Bytes without a release are copied: only the caller knows how long they live. */
static struct http_bytes own(struct http_bytes bytes)
{
    if (bytes.release || !bytes.s.n)
        return bytes;
    char *copy = mem_dup(bytes.s.p, bytes.s.n);
    return (struct http_bytes){ .s = { copy, bytes.s.n }, .release = free, .owner = copy };
}

static void post(struct send_msg *s)
{
    loop_post(s->x->home->loop, &s->msg);
}

void http_send(struct http_exchange *x, int status, const struct http_header *headers,
               size_t n_headers, struct http_bytes body)
{
    struct send_msg *s = send_msg_new(x, SEND_WHOLE, status, headers, n_headers);
    s->bytes = own(body);
    /* On its way it is held, too: workers may make answers faster than the loop takes them. */
    atomic_fetch_add_explicit(&x->peer->share->held, s->bytes.s.n, memory_order_relaxed);
    post(s);
}

void http_send_begin(struct http_exchange *x, int status, const struct http_header *headers,
                     size_t n_headers)
{
    post(send_msg_new(x, SEND_BEGIN, status, headers, n_headers));
}

static void wait_for_room(struct http_exchange *x)
{
    struct send_gate *g = &x->gate;
    size_t most = x->home->limits->write_buffer_bytes;
    if (g->posted - atomic_load(&g->sent) < most)
        return;
    pthread_mutex_lock(&g->lock);
    atomic_store(&g->waiting, true);
    while (g->posted - atomic_load(&g->sent) >= most && !atomic_load(&x->gone))
        pthread_cond_wait(&g->moved, &g->lock);
    atomic_store(&g->waiting, false);
    pthread_mutex_unlock(&g->lock);
}

int http_send_write(struct http_exchange *x, struct http_bytes bytes)
{
    assert(x->has_gate);
    wait_for_room(x);
    if (http_is_gone(x)) {
        if (bytes.release)
            bytes.release(bytes.owner);
        return -ERR_GONE;
    }
    x->gate.posted += bytes.s.n;
    struct send_msg *s = send_msg_new(x, SEND_WRITE, 0, NULL, 0);
    s->bytes = own(bytes);
    post(s);
    return 0;
}

void http_send_end(struct http_exchange *x, const struct http_header *trailers, size_t n_trailers)
{
    post(send_msg_new(x, SEND_END, 0, trailers, n_trailers));
}

/* ---- Moving between loop and workers ---- */

static void end_unstarted(struct http_exchange *x, void *arg)
{
    (void)arg;
    http_abort(x);
}

static void run_on_worker(struct work *w)
{
    struct http_exchange *x = container_of(w, struct http_exchange, work);
    if (http_is_gone(x))
        http_to_loop(x, end_unstarted, NULL);
    else
        x->run(x, x->run_arg);
}

static void make_gate(struct http_exchange *x)
{
    if (x->has_gate)
        return;
    x->has_gate = true;
    pthread_mutex_init(&x->gate.lock, NULL);
    pthread_cond_init(&x->gate.moved, NULL);
}

bool http_to_worker(struct http_exchange *x, struct workers *w,
                    void (*run)(struct http_exchange *x, void *arg), void *arg)
{
    loop_assert_owner(x->home->loop);
    if (allowance_pool_is_full(&x->peer->share->memory)) {
        exchange_refuse(x, 429);
        return false;
    }
    x->allowance.max = x->home->limits->request_memory;
    x->allowance.pool = &x->peer->share->memory;
    arena_allow(&x->arena, &x->allowance);
    make_gate(x);
    x->work.run = run_on_worker;
    x->run = run;
    x->run_arg = arg;
    if (workers_submit(w, &x->work))
        return true;
    exchange_refuse(x, 429);
    return false;
}

struct move_msg {
    struct loop_msg msg;
    struct http_exchange *x;
    void (*run)(struct http_exchange *x, void *arg);
    void *arg;
};

static void on_move(struct loop *l, struct loop_msg *m)
{
    (void)l;
    struct move_msg move = *(struct move_msg *)m;
    free(m);
    move.run(move.x, move.arg);
}

void http_to_loop(struct http_exchange *x, void (*run)(struct http_exchange *x, void *arg),
                  void *arg)
{
    struct move_msg *m = mem_alloc(sizeof(*m));
    *m = (struct move_msg){ .msg.run = on_move, .x = x, .run = run, .arg = arg };
    loop_post(x->home->loop, &m->msg);
}
