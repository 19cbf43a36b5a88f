/* client_call.c - a request, its attempts, and its answer. */
#include <pthread.h>
#include <sampan/config.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/calls/client.h"
#include "client/pool.h"
#include "net/http/gzip.h"
#include "base/banned.h"

enum {
    TIMEOUT_MS = 32000, /* a little longer than servers take for a request */
    OWN_HEADERS = 4,    /* beside those of the link and of the request */
    FIRST_PAUSE_MS = 50,
    MAX_PAUSE_MS = 5000,
    ANSWER_MAX_BYTES = 1 << 30,
};

struct spn_client {
    struct client_link *link;
    struct pool *pool;
    struct arena arena; /* of the texts */
    struct str agent;
    int64_t timeout_ms;
    bool protobuf;
    bool uninitialized; /* objects are shown, too */
    bool compression;
    double per_second; /* 0: as many requests as one likes */
    double burst;

    pthread_mutex_t lock; /* of what follows: the bucket of requests */
    double tokens;
    int64_t filled_ns;
};

/* Servers have fair queues of their own, so the usual is no bound. */
int spn_client_new(const struct spn_config *cfg, struct spn_client **ret, struct spn_err *err)
{
    struct client_link *link;
    int r = client_link_new(cfg, &link, err);
    if (r < 0)
        return r;
    struct spn_client *c = mem_new(struct spn_client);
    arena_init(&c->arena);
    (void)pthread_mutex_init(&c->lock, NULL);
    c->link = link;
    c->pool = pool_new();
    c->agent = arena_str(&c->arena, cfg->user_agent.n ? str_in(cfg->user_agent) : STR("libsampan"));
    c->timeout_ms = cfg->timeout_ms > 0 ? cfg->timeout_ms : (int64_t)TIMEOUT_MS;
    c->protobuf = cfg->protobuf;
    c->compression = !cfg->disable_compression;
    c->per_second = cfg->qps > 0 ? cfg->qps : 0;
    c->burst = cfg->burst ? cfg->burst : 2 * c->per_second + 1;
    c->tokens = c->burst;
    c->filled_ns = clock_mono_ns(&clock_system);
    *ret = c;
    return 0;
}

struct spn_client *spn_client_free(struct spn_client *c)
{
    if (!c)
        return NULL;
    pool_free(c->pool);
    client_link_free(c->link);
    (void)pthread_mutex_destroy(&c->lock);
    arena_done(&c->arena);
    free(c);
    return NULL;
}

struct pool *client_pool(struct spn_client *c)
{
    return c->pool;
}

bool client_speaks_protobuf(const struct spn_client *c)
{
    return c->protobuf;
}

void spn_client_show_uninitialized(struct spn_client *c, bool show)
{
    c->uninitialized = show;
}

bool client_shows_uninitialized(const struct spn_client *c)
{
    return c->uninitialized;
}

/* What stands before the first slash or space: "kubectl/1.30 (linux)" is the manager "kubectl". */
struct str client_manager(const struct spn_client *c)
{
    struct str agent = c->agent;
    struct str name = str_cut(&agent, '/');
    return str_cut(&name, ' ');
}

/* ---- Waiting ---- */

/* One call with all its attempts. */
struct call {
    struct spn_client *client;
    const struct client_request *req;
    struct spn_stop *stop;
    struct arena *arena;
    int64_t deadline_ns; /* of all attempts */
    int64_t pause_ms;    /* before the next one */
    bool has_renewed;    /* its credentials */
};

static int64_t left_ms(const struct call *call)
{
    int64_t left = (call->deadline_ns - clock_mono_ns(&clock_system)) / NS_PER_MS;
    return left > 0 ? left : 0;
}

/* False: stopped. */
static bool pause_for(struct spn_stop *stop, int64_t ms)
{
    if (stop)
        return !spn_stop_wait(stop, ms);
    const struct timespec ts = { ms / 1000, ms % 1000 * NS_PER_MS };
    (void)nanosleep(&ts, NULL);
    return true;
}

/* How long the bucket asks to wait for the next request, which is taken from it. */
static int64_t bucket_wait_ms(struct spn_client *c)
{
    if (c->per_second <= 0)
        return 0;
    (void)pthread_mutex_lock(&c->lock);
    int64_t now = clock_mono_ns(&clock_system);
    c->tokens += (double)(now - c->filled_ns) / (double)NS_PER_SEC * c->per_second;
    c->filled_ns = now;
    if (c->tokens > c->burst)
        c->tokens = c->burst;
    c->tokens -= 1;
    double wait_sec = c->tokens < 0 ? -c->tokens / c->per_second : 0;
    (void)pthread_mutex_unlock(&c->lock);
    return (int64_t)(wait_sec * 1000);
}

/* ---- One attempt ---- */

static struct str header_value(const struct fetch_reply *head, struct str name)
{
    const struct http_request look = { .headers = head->headers, .n_headers = head->n_headers };
    return http_header_get(&look, name);
}

static int send_by(struct call *call, struct courier *courier, struct client_headers *headers,
                   struct delivery **ret, struct spn_err *err)
{
    const struct client_request *req = call->req;
    struct http_header *all =
        arena_array(call->arena, struct http_header, headers->n + req->n_more + OWN_HEADERS);
    size_t n = headers->n;
    memcpy(all, headers->items, n * sizeof(*all));
    all[n++] = (struct http_header){ STR("user-agent"), call->client->agent };
    all[n++] = (struct http_header){ STR("accept"), req->accept };
    if (req->content_type.n)
        all[n++] = (struct http_header){ STR("content-type"), req->content_type };
    if (call->client->compression && !req->is_endless)
        all[n++] = (struct http_header){ STR("accept-encoding"), STR("gzip") };
    for (size_t i = 0; i < req->n_more; i++)
        all[n++] = (struct http_header){ str_in(req->more[i].name), str_in(req->more[i].value) };
    const struct courier_request out = { .method = req->method,
                                         .path = req->path,
                                         .headers = all,
                                         .n_headers = n,
                                         .body = req->body,
                                         .timeout_ms = left_ms(call),
                                         .is_endless = req->is_endless };
    struct err why = ERR_INIT(call->arena);
    if (courier_send(courier, &out, ret, &why) < 0)
        return client_transport_error(&why, err);
    return 0;
}

static int send_request(struct call *call, struct delivery **ret, struct spn_err *err)
{
    struct courier *courier;
    struct client_headers headers;
    int r = client_link_take(call->client->link, call->arena, &courier, &headers, err);
    if (r < 0)
        return r;
    r = send_by(call, courier, &headers, ret, err);
    courier_unref(courier);
    return r;
}

struct cancels {
    struct stop_listener listener; /* first */
    struct delivery *delivery;
};

static void cancel_delivery(struct stop_listener *l)
{
    delivery_cancel(((struct cancels *)l)->delivery);
}

/* What came, out of its wrapping. */
static int unwrap(const struct fetch_reply *head, struct buf *all, struct arena *a, struct str *ret,
                  struct err *err)
{
    struct str coding = header_value(head, STR("content-encoding"));
    if (!str_eq_nocase(coding, STR("gzip"))) {
        *ret = arena_str(a, buf_str(all));
        return 0;
    }
    autobuf plain = { 0 };
    int r = gzip_inflate(&plain, buf_str(all), ANSWER_MAX_BYTES, err);
    if (r == -ERR_BAD_REQUEST)
        return err_set(err, ERR_UNAVAILABLE, "the answer is cut short, or no gzip");
    if (r < 0)
        return r;
    *ret = arena_str(a, buf_str(&plain));
    return 0;
}

static int read_body(struct delivery *d, const struct fetch_reply *head, struct arena *a,
                     struct str *ret, struct err *err)
{
    autobuf all = { 0 };
    autobuf piece = { 0 };
    int r;
    while ((r = delivery_read(d, -1, &piece, err)) > 0) {
        if (piece.n > ANSWER_MAX_BYTES - all.n)
            return err_set(err, ERR_TOO_LARGE, "the answer is larger than %d bytes",
                           ANSWER_MAX_BYTES);
        buf_str_add(&all, buf_str(&piece));
    }
    return r < 0 ? r : unwrap(head, &all, a, ret, err);
}

/* The answer, or the error that it is. `ret_again`: another attempt may do. */
static int read_answer(struct call *call, struct delivery *d, struct str *ret, bool *ret_again,
                       struct spn_err *err)
{
    struct err why = ERR_INIT(call->arena);
    struct fetch_reply head;
    if (delivery_head(d, &head, &why) < 0 || read_body(d, &head, call->arena, ret, &why) < 0) {
        bool is_read = str_eq(call->req->method, STR("GET"));
        *ret_again = why.code == ERR_UNAVAILABLE && (is_read || delivery_was_not_sent(d));
        return client_transport_error(&why, err);
    }
    if (head.status >= 200 && head.status < 300) {
        if (call->req->ret_status)
            *call->req->ret_status = head.status;
        return 0;
    }
    uint64_t seconds = 0;
    struct str after = header_value(&head, STR("retry-after"));
    bool asks_to_wait = str_to_u64(after, &seconds) && seconds < 3600;
    *ret_again = asks_to_wait && (head.status == 429 || head.status >= 500);
    if (*ret_again)
        call->pause_ms = (int64_t)seconds * 1000;
    if (head.status == 401 && !call->has_renewed) {
        client_link_refused(call->client->link);
        call->has_renewed = true;
        *ret_again = true;
        call->pause_ms = 0;
    }
    if (call->req->ret_status && !*ret_again) {
        *call->req->ret_status = head.status;
        return 0;
    }
    return client_status_error(call->arena, head.status, (int)seconds, *ret, err);
}

static int attempt(struct call *call, struct str *ret, bool *ret_again, struct spn_err *err)
{
    struct cancels cancels = { .listener.on_stop = cancel_delivery };
    int r = send_request(call, &cancels.delivery, err);
    if (r < 0)
        return r;
    stop_listen(call->stop, &cancels.listener);
    r = read_answer(call, cancels.delivery, ret, ret_again, err);
    stop_unlisten(call->stop, &cancels.listener);
    delivery_free(cancels.delivery);
    return r;
}

/* ---- All of them ---- */

static struct call call_begin(struct spn_client *c, const struct client_request *req,
                              int64_t timeout_ms, struct spn_stop *stop, struct arena *a)
{
    int64_t ms = timeout_ms > 0 ? timeout_ms : c->timeout_ms;
    return (struct call){ .client = c,
                          .req = req,
                          .stop = stop,
                          .arena = a,
                          .deadline_ns = clock_mono_ns(&clock_system) + ms * NS_PER_MS,
                          .pause_ms = FIRST_PAUSE_MS };
}

static int cancelled(struct spn_err *err)
{
    return spn_err_set(err, SPN_CANCELLED, "cancelled");
}

/* Waits for its turn. */
static int wait_turn(struct call *call, struct spn_err *err)
{
    int64_t wait = bucket_wait_ms(call->client);
    if (wait > left_ms(call))
        return spn_err_set(err, SPN_TIMEOUT, "the client's own rate limit takes too long");
    if (spn_stop_is_set(call->stop) || (wait && !pause_for(call->stop, wait)))
        return cancelled(err);
    return 0;
}

/* That the time is over says little to people: what it was spent with says more. */
static int out_of_time(const struct spn_err *before, struct spn_err *err)
{
    if (!err || !before->message[0])
        return -SPN_TIMEOUT;
    struct spn_err last = *err;
    return spn_err_set(err, SPN_TIMEOUT, "%s; before that: %s", last.message, before->message);
}

int client_call(struct spn_client *c, const struct client_request *req, const struct spn_call *how,
                struct arena *a, struct str *ret, struct spn_err *err)
{
    struct spn_err before = { 0 };
    struct call call = call_begin(c, req, how ? how->timeout_ms : 0, how ? how->stop : NULL, a);
    for (int64_t backoff = FIRST_PAUSE_MS;;
         backoff = 2 * backoff < MAX_PAUSE_MS ? 2 * backoff : (int64_t)MAX_PAUSE_MS) {
        bool again = false;
        call.pause_ms = backoff;
        int r = wait_turn(&call, err);
        if (r < 0)
            return r;
        r = attempt(&call, ret, &again, err);
        if (r == -SPN_TIMEOUT)
            return out_of_time(&before, err);
        if (r == 0 || !again || call.pause_ms >= left_ms(&call))
            return r;
        if (err)
            before = *err;
        if (call.pause_ms && !pause_for(call.stop, call.pause_ms))
            return cancelled(err);
    }
}

/* One of several calls that are under way. */
struct pending {
    struct call call;
    struct cancels cancels; /* without a delivery nothing was sent */
};

static int begin_pending(struct pending *p, struct spn_err *err)
{
    int r = wait_turn(&p->call, err);
    if (r < 0)
        return r;
    r = send_request(&p->call, &p->cancels.delivery, err);
    if (r < 0)
        return r;
    stop_listen(p->call.stop, &p->cancels.listener);
    return 0;
}

static int end_pending(struct pending *p, bool *ret_again, struct spn_err *err)
{
    struct str answer;
    int r = read_answer(&p->call, p->cancels.delivery, &answer, ret_again, err);
    stop_unlisten(p->call.stop, &p->cancels.listener);
    delivery_free(p->cancels.delivery);
    return r;
}

/* What has to be tried again is tried alone. */
void client_call_many(struct spn_client *c, const struct client_request *reqs, size_t n,
                      const struct spn_call *how, struct arena *a, int *results)
{
    struct pending *all = arena_array(a, struct pending, n);
    struct spn_err err = { 0 };
    for (size_t i = 0; i < n; i++) {
        all[i].call = call_begin(c, &reqs[i], how ? how->timeout_ms : 0, how ? how->stop : NULL, a);
        all[i].cancels.listener.on_stop = cancel_delivery;
        if (results[i] == 0)
            results[i] = begin_pending(&all[i], &err);
    }
    for (size_t i = 0; i < n; i++) {
        bool again = false;
        struct str answer;
        if (all[i].cancels.delivery)
            results[i] = end_pending(&all[i], &again, &err);
        if (again)
            results[i] = client_call(c, &reqs[i], how, a, &answer, &err);
    }
}

/* 0 if the answer has begun well. */
static int await_stream(struct call *call, struct delivery *d, struct spn_err *err)
{
    struct err why = ERR_INIT(call->arena);
    struct fetch_reply head;
    struct str body;
    uint64_t seconds = 0;
    if (delivery_head(d, &head, &why) < 0)
        return client_transport_error(&why, err);
    if (head.status == 200)
        return 0;
    if (read_body(d, &head, call->arena, &body, &why) < 0)
        return client_transport_error(&why, err);
    if (head.status == 401)
        client_link_refused(call->client->link);
    (void)str_to_u64(header_value(&head, STR("retry-after")), &seconds);
    return client_status_error(call->arena, head.status, (int)seconds, body, err);
}

int client_open(struct spn_client *c, const struct client_request *req, struct spn_stop *stop,
                struct arena *a, struct delivery **ret, struct spn_err *err)
{
    struct call call = call_begin(c, req, 0, stop, a);
    struct cancels cancels = { .listener.on_stop = cancel_delivery };
    int r = wait_turn(&call, err);
    if (r < 0)
        return r;
    r = send_request(&call, &cancels.delivery, err);
    if (r < 0)
        return r;
    stop_listen(stop, &cancels.listener);
    r = await_stream(&call, cancels.delivery, err);
    stop_unlisten(stop, &cancels.listener);
    if (r < 0) {
        delivery_free(cancels.delivery);
        return r;
    }
    *ret = cancels.delivery;
    return 0;
}

static int socket_error(struct call *call, const struct ws_client_refusal *refusal,
                        const struct err *why, struct spn_err *err)
{
    if (!refusal->status)
        return client_transport_error(why, err);
    if (refusal->status == 401)
        client_link_refused(call->client->link);
    return client_status_error(call->arena, refusal->status, 0, refusal->body, err);
}

struct socket_cancels {
    struct stop_listener listener; /* first */
    struct ws_client *socket;
};

static void cancel_socket(struct stop_listener *l)
{
    ws_client_cancel(((struct socket_cancels *)l)->socket);
}

static int open_socket(struct call *call, const struct ws_client_request *req, struct ws_client *w,
                       struct spn_err *err)
{
    struct socket_cancels cancels = { .listener.on_stop = cancel_socket, .socket = w };
    struct ws_client_refusal refusal;
    struct err why = ERR_INIT(call->arena);
    stop_listen(call->stop, &cancels.listener);
    int r = ws_client_open(w, req, call->arena, &refusal, &why);
    stop_unlisten(call->stop, &cancels.listener);
    return r < 0 ? socket_error(call, &refusal, &why, err) : 0;
}

int client_socket(struct spn_client *c, struct str path, const struct str *protocols,
                  size_t n_protocols, struct spn_stop *stop, struct arena *a,
                  struct ws_client **ret, struct spn_err *err)
{
    struct call call = call_begin(c, NULL, 0, stop, a);
    struct client_headers headers;
    struct courier_options to;
    int r = wait_turn(&call, err);
    if (r < 0)
        return r;
    r = client_link_way(c->link, a, &to, &headers, err);
    if (r < 0)
        return r;
    struct http_header *all = arena_array(a, struct http_header, headers.n + 1);
    memcpy(all, headers.items, headers.n * sizeof(*all));
    all[headers.n] = (struct http_header){ STR("user-agent"), c->agent };
    const struct ws_client_request req = { .path = path,
                                           .headers = all,
                                           .n_headers = headers.n + 1,
                                           .protocols = protocols,
                                           .n_protocols = n_protocols,
                                           .timeout_ms = left_ms(&call) };
    struct ws_client *w = ws_client_new(&to);
    r = open_socket(&call, &req, w, err);
    if (r < 0) {
        ws_client_free(w);
        return r;
    }
    *ret = w;
    return 0;
}
