/* courier_h1.c - a delivery that has a handle of libcurl to itself.
 *
 * Whoever waits for the answer drives the transfer meanwhile; there is no thread. Handles are kept
 * with their connections, each with a multi handle of its own, because libcurl cannot share them
 * between threads. A delivery that is given up closes its connection. */
#include "net/outgoing/courier_internal.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "base/banned.h"

enum { IDLE_MAX = 16, AHEAD_BYTES = 1 << 20, RECEIVE_BYTES = 128 << 10, POLL_MS = 10000 };

struct handle {
    CURLM *multi;
    CURL *easy;
};

struct courier_h1 {
    struct fetch_trust trust;
    struct buf url, server_name;
    pthread_mutex_t lock; /* of what follows */
    struct handle idle[IDLE_MAX];
    size_t n_idle;
};

struct h1_delivery {
    struct courier_way way;
    struct courier_h1 *courier;
    struct handle handle;
    struct fetch_transfer transfer;
    struct fetch_request req;
    struct arena arena;
    int64_t deadline_ns;
    struct buf in;
    bool has_head, is_paused, is_over;
    CURLcode result;
    atomic_bool is_cancelled;
};

static struct h1_delivery *of_way(const struct courier_way *w)
{
    return container_of(w, struct h1_delivery, way);
}

/* ---- Handles ---- */

static struct handle handle_take(struct courier_h1 *c)
{
    struct handle h = { 0 };
    (void)pthread_mutex_lock(&c->lock);
    if (c->n_idle)
        h = c->idle[--c->n_idle];
    (void)pthread_mutex_unlock(&c->lock);
    if (h.easy)
        return h;
    h.easy = fetch_easy_new();
    h.multi = curl_multi_init();
    if (!h.multi)
        mem_exhausted(0);
    return h;
}

static void handle_done(struct handle h)
{
    curl_easy_cleanup(h.easy);
    curl_multi_cleanup(h.multi);
}

static void handle_give(struct courier_h1 *c, struct handle h)
{
    curl_easy_reset(h.easy);
    (void)pthread_mutex_lock(&c->lock);
    bool keep = c->n_idle < IDLE_MAX;
    if (keep)
        c->idle[c->n_idle++] = h;
    (void)pthread_mutex_unlock(&c->lock);
    if (!keep)
        handle_done(h);
}

/* ---- What libcurl calls ---- */

/* A line of a head. An empty one ends it, unless it was the head of an interim answer. */
static size_t on_header(char *p, size_t size, size_t n, void *arg)
{
    struct h1_delivery *d = arg;
    if (d->has_head) /* a trailer */
        return size * n;
    if (fetch_transfer_on_header(p, size, n, &d->transfer) != size * n)
        return 0;
    d->has_head = (p[0] == '\r' || p[0] == '\n') && fetch_transfer_status(&d->transfer) >= 200;
    return size * n;
}

static size_t on_body(char *p, size_t size, size_t n, void *arg)
{
    struct h1_delivery *d = arg;
    d->is_paused = d->in.n >= AHEAD_BYTES;
    if (d->is_paused)
        return CURL_WRITEFUNC_PAUSE;
    buf_add(&d->in, p, size * n);
    return size * n;
}

/* ---- Driving ---- */

static void note_end(struct h1_delivery *d)
{
    int left;
    for (CURLMsg *m; (m = curl_multi_info_read(d->handle.multi, &left));)
        if (m->msg == CURLMSG_DONE) {
            d->is_over = true;
            d->result = m->data.result;
        }
}

/* Moves bytes, or waits for some. False: the time is over. A head without a body is something, too:
 * that of a watch may stay alone for long. */
static bool drive(struct h1_delivery *d, int64_t until_ns)
{
    int running;
    bool had_head = d->has_head;
    (void)curl_multi_perform(d->handle.multi, &running);
    note_end(d);
    if (d->is_over || d->in.n || d->has_head != had_head)
        return true;
    int64_t left_ms =
        until_ns < 0 ? POLL_MS : (until_ns - clock_mono_ns(&clock_system)) / NS_PER_MS + 1;
    if (left_ms <= 0)
        return false;
    (void)curl_multi_poll(d->handle.multi, NULL, 0, (int)(left_ms < POLL_MS ? left_ms : POLL_MS),
                          NULL);
    return true;
}

static int failure(struct h1_delivery *d, struct err *err)
{
    if (atomic_load(&d->is_cancelled))
        return err_set(err, ERR_GONE, "cancelled");
    d->way.was_not_sent = d->result == CURLE_COULDNT_CONNECT ||
                          d->result == CURLE_COULDNT_RESOLVE_HOST ||
                          d->result == CURLE_PEER_FAILED_VERIFICATION;
    return fetch_transfer_error(&d->transfer, d->result, err);
}

static int too_late(struct err *err)
{
    return err_set(err, ERR_TIMEOUT, "no answer in time");
}

static int head(struct courier_way *way, struct fetch_reply *ret, struct err *err)
{
    struct h1_delivery *d = of_way(way);
    while (!d->has_head && !d->is_over && !atomic_load(&d->is_cancelled))
        if (!drive(d, d->deadline_ns))
            return too_late(err);
    if (!d->has_head)
        return failure(d, err);
    *ret = (struct fetch_reply){ .status = fetch_transfer_status(&d->transfer),
                                 .headers = d->transfer.ret_headers,
                                 .n_headers = d->transfer.n_ret_headers };
    if (d->transfer.is_endless)
        d->deadline_ns = -1;
    return 0;
}

static int read_body(struct courier_way *way, int64_t timeout_ms, struct buf *ret, struct err *err)
{
    struct h1_delivery *d = of_way(way);
    int64_t until = timeout_ms < 0 ? d->deadline_ns : courier_deadline(timeout_ms);
    while (!d->in.n && !d->is_over && !atomic_load(&d->is_cancelled))
        if (!drive(d, until))
            return too_late(err);
    if (atomic_load(&d->is_cancelled))
        return failure(d, err);
    if (!d->in.n)
        return d->result == CURLE_OK ? 0 : failure(d, err);
    struct buf empty = *ret;
    *ret = d->in;
    buf_reset(&empty);
    d->in = empty;
    if (d->is_paused && !d->is_over) {
        d->is_paused = false;
        (void)curl_easy_pause(d->handle.easy, CURLPAUSE_CONT);
    }
    return 1;
}

static void cancel(struct courier_way *way)
{
    struct h1_delivery *d = of_way(way);
    atomic_store(&d->is_cancelled, true);
    (void)curl_multi_wakeup(d->handle.multi);
}

static void way_free(struct courier_way *way)
{
    struct h1_delivery *d = of_way(way);
    (void)curl_multi_remove_handle(d->handle.multi, d->handle.easy);
    handle_give(d->courier, d->handle);
    fetch_transfer_done(&d->transfer);
    buf_done(&d->in);
    arena_done(&d->arena);
    free(d);
}

static const struct courier_way_ops way_ops = {
    .head = head,
    .read = read_body,
    .cancel = cancel,
    .free = way_free,
};

/* ---- Sending ---- */

static void make_request(struct h1_delivery *d, const struct courier_request *req)
{
    d->req = (struct fetch_request){
        .method = req->method,
        .url = arena_printf(&d->arena, STR_FMT STR_FMT, STR_ARG(buf_str(&d->courier->url)),
                            STR_ARG(req->path)),
        .server_name = buf_str(&d->courier->server_name),
        .headers = req->headers,
        .n_headers = req->n_headers,
        .body = req->body,
        .timeout_ms = req->timeout_ms,
    };
}

static void set_options(struct h1_delivery *d)
{
    CURL *easy = d->handle.easy;
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)RECEIVE_BYTES);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, d);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, d);
}

int courier_h1_send(struct courier_h1 *c, const struct courier_request *req,
                    struct courier_way **ret, struct err *err)
{
    struct h1_delivery *d = mem_new(struct h1_delivery);
    arena_init(&d->arena);
    d->courier = c;
    d->way.ops = &way_ops;
    d->handle = handle_take(c);
    make_request(d, req);
    d->deadline_ns =
        courier_deadline(req->timeout_ms > 0 ? req->timeout_ms : (int64_t)COURIER_TIMEOUT_MS);
    d->transfer = (struct fetch_transfer){
        .req = &d->req,
        .trust = &c->trust,
        .easy = d->handle.easy,
        .arena = &d->arena,
        .is_endless = req->is_endless,
    };
    int r = fetch_transfer_prepare(&d->transfer, err);
    if (r < 0) {
        way_free(&d->way);
        return r;
    }
    set_options(d);
    if (curl_multi_add_handle(d->handle.multi, d->handle.easy) != CURLM_OK)
        mem_exhausted(0);
    *ret = &d->way;
    return 0;
}

struct courier_h1 *courier_h1_new(const struct courier_options *opt)
{
    struct courier_h1 *c = mem_new(struct courier_h1);
    fetch_trust_init(&c->trust, &opt->trust);
    buf_str_add(&c->url, opt->url);
    buf_str_add(&c->server_name, opt->server_name);
    (void)pthread_mutex_init(&c->lock, NULL);
    return c;
}

struct courier_h1 *courier_h1_free(struct courier_h1 *c)
{
    if (!c)
        return NULL;
    while (c->n_idle)
        handle_done(c->idle[--c->n_idle]);
    (void)pthread_mutex_destroy(&c->lock);
    fetch_trust_done(&c->trust);
    buf_done(&c->url);
    buf_done(&c->server_name);
    free(c);
    return NULL;
}
