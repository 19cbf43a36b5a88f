/* courier.c - which way a request goes: HTTP/2 if the server can, else HTTP/1.1. */
#include "net/outgoing/courier.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/outgoing/courier_internal.h"
#include "base/banned.h"

enum { WINDOW_BYTES = 1 << 20 };

struct courier {
    _Atomic unsigned refs;
    struct arena arena;     /* of the texts; nothing is added later */
    struct str url, prefix; /* without a slash at the end; the path in it */
    struct h2_client *h2;   /* NULL: only HTTP/1.1 */
    struct courier_h1 *h1;
    atomic_bool no_h2; /* the server does not speak it */
};

int64_t courier_deadline(int64_t timeout_ms)
{
    int64_t now = clock_mono_ns(&clock_system), ns;
    if (timeout_ms < 0 || __builtin_mul_overflow(timeout_ms, NS_PER_MS, &ns) ||
        __builtin_add_overflow(now, ns, &ns))
        return -1;
    return ns;
}

/* ---- Beginning and end ---- */

/* "host:port", with the port that HTTPS has without one. */
static struct str address_of(struct arena *a, struct str authority)
{
    struct str tail = authority;
    if (str_starts(authority, STR("["))) {
        ptrdiff_t end = str_find(authority, ']');
        tail = str_skip(authority, (size_t)(end + 1));
    }
    if (str_find(tail, ':') >= 0)
        return authority;
    return arena_printf(a, STR_FMT ":443", STR_ARG(authority));
}

/* A proxy with TLS is believed as the server is, and shown the same certificate, as Go does. */
static int make_contexts(const struct courier_options *opt, const struct proxy *proxy,
                         struct tls_context **ret, struct tls_context **ret_proxy, struct err *err)
{
    struct tls_config config = { .cert_pem = opt->trust.cert_pem,
                                 .key_pem = opt->trust.key_pem,
                                 .ca_pem = opt->trust.ca_pem,
                                 .lets_strangers_in = opt->trust.insecure };
    *ret_proxy = NULL;
    int r = tls_context_new(&config, ret, err);
    if (r < 0 || proxy->kind != PROXY_HTTPS)
        return r;
    config.http1 = true;
    r = tls_context_new(&config, ret_proxy, err);
    if (r < 0)
        *ret = tls_context_unref(*ret);
    return r;
}

static int open_h2(struct courier *c, const struct courier_options *opt, const struct proxy *proxy,
                   struct str authority, struct err *err)
{
    struct tls_context *tls, *proxy_tls;
    int r = make_contexts(opt, proxy, &tls, &proxy_tls, err);
    if (r < 0)
        return r;
    const struct h2_client_options h2 = { .address = address_of(&c->arena, authority),
                                          .proxy = proxy,
                                          .tls = tls,
                                          .proxy_tls = proxy_tls,
                                          .authority = authority,
                                          .host = opt->server_name,
                                          .connect_ms = 10000,
                                          .window = WINDOW_BYTES };
    c->h2 = h2_client_new(&h2);
    tls_context_unref(tls);
    tls_context_unref(proxy_tls);
    return c->h2 ? 0 : err_set(err, ERR_UNAVAILABLE, "no thread for the connection");
}

static int open_both(struct courier *c, const struct courier_options *opt, struct err *err)
{
    struct str rest = c->url;
    bool is_tls = str_starts(rest, STR("https://"));
    if (!is_tls && !str_starts(rest, STR("http://")))
        return err_set(err, ERR_INVALID, "the server's URL is neither http:// nor https://");
    rest = str_skip(rest, is_tls ? 8 : 7);
    struct str authority = str_cut(&rest, '/');
    if (!authority.n || str_find(authority, '@') >= 0)
        return err_set(err, ERR_INVALID, "the server's URL has no host, or a user");
    if (rest.n)
        c->prefix = arena_printf(&c->arena, "/" STR_FMT, STR_ARG(rest));
    struct proxy proxy;
    int r = proxy_read(&c->arena, opt->trust.proxy, &proxy, err);
    if (r < 0)
        return r;
    struct courier_options plain = *opt;
    plain.url = str_take(c->url, c->url.n - c->prefix.n);
    c->h1 = courier_h1_new(&plain);
    if (!is_tls || opt->no_http2)
        return 0;
    return open_h2(c, opt, &proxy, authority, err);
}

int courier_new(const struct courier_options *opt, struct courier **ret, struct err *err)
{
    struct courier *c = mem_new(struct courier);
    arena_init(&c->arena);
    atomic_init(&c->refs, 1);
    c->url = arena_str(&c->arena, opt->url);
    while (str_ends(c->url, STR("/")))
        c->url.n--;
    int r = open_both(c, opt, err);
    if (r < 0) {
        courier_unref(c);
        return r;
    }
    *ret = c;
    return 0;
}

struct courier *courier_ref(struct courier *c)
{
    atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
    return c;
}

struct courier *courier_unref(struct courier *c)
{
    if (!c || atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) != 1)
        return NULL;
    h2_client_free(c->h2);
    courier_h1_free(c->h1);
    arena_done(&c->arena);
    free(c);
    return NULL;
}

/* ---- Sending ---- */

struct delivery {
    struct courier *courier;
    struct arena arena;
    struct courier_request req; /* a copy in the arena */
    pthread_mutex_t lock;       /* of what follows; only the owner changes `way` */
    struct courier_way *way;
    bool is_cancelled;
};

static void copy_request(struct delivery *d, const struct courier_request *req)
{
    struct arena *a = &d->arena;
    struct http_header *headers = arena_array(a, struct http_header, req->n_headers);
    for (size_t i = 0; i < req->n_headers; i++)
        headers[i] = (struct http_header){ arena_str(a, req->headers[i].name),
                                           arena_str(a, req->headers[i].value) };
    d->req = *req;
    d->req.method = arena_str(a, req->method);
    d->req.path = arena_printf(a, STR_FMT STR_FMT, STR_ARG(d->courier->prefix), STR_ARG(req->path));
    d->req.headers = headers;
    d->req.body = arena_str(a, req->body);
}

static int send_one_way(struct delivery *d, struct err *err)
{
    struct courier *c = d->courier;
    if (!c->h2 || atomic_load(&c->no_h2))
        return courier_h1_send(c->h1, &d->req, &d->way, err);
    d->way = courier_h2_send(c->h2, &d->req);
    return 0;
}

int courier_send(struct courier *c, const struct courier_request *req, struct delivery **ret,
                 struct err *err)
{
    struct delivery *d = mem_new(struct delivery);
    arena_init(&d->arena);
    arena_expect(&d->arena, COURIER_HEAD_BYTES);
    (void)pthread_mutex_init(&d->lock, NULL);
    d->courier = courier_ref(c);
    copy_request(d, req);
    int r = send_one_way(d, err);
    if (r < 0) {
        delivery_free(d);
        return r;
    }
    *ret = d;
    return 0;
}

/* A server with TLS but without HTTP/2 is found out by the first request, which then goes the other
 * way. Later ones do so at once. */
static int go_the_other_way(struct delivery *d, struct err *err)
{
    atomic_store(&d->courier->no_h2, true);
    (void)pthread_mutex_lock(&d->lock);
    d->way->ops->free(d->way);
    d->way = NULL;
    int r = send_one_way(d, err);
    if (d->way && d->is_cancelled)
        d->way->ops->cancel(d->way);
    (void)pthread_mutex_unlock(&d->lock);
    return r;
}

int delivery_head(struct delivery *d, struct fetch_reply *ret, struct err *err)
{
    int r = d->way->ops->head(d->way, ret, err);
    if (r == 0 || !d->way->no_http2)
        return r;
    r = go_the_other_way(d, err);
    return r < 0 ? r : d->way->ops->head(d->way, ret, err);
}

int delivery_read(struct delivery *d, int64_t timeout_ms, struct buf *ret, struct err *err)
{
    return d->way->ops->read(d->way, timeout_ms, ret, err);
}

bool delivery_can_tell(const struct delivery *d)
{
    return d->way->ops->when_ready != NULL;
}

void delivery_when_ready(struct delivery *d, void (*fn)(void *arg), void *arg)
{
    d->way->ops->when_ready(d->way, fn, arg);
}

bool delivery_was_not_sent(const struct delivery *d)
{
    return d->way && d->way->was_not_sent;
}

void delivery_cancel(struct delivery *d)
{
    (void)pthread_mutex_lock(&d->lock);
    d->is_cancelled = true;
    if (d->way)
        d->way->ops->cancel(d->way);
    (void)pthread_mutex_unlock(&d->lock);
}

struct delivery *delivery_free(struct delivery *d)
{
    if (!d)
        return NULL;
    if (d->way)
        d->way->ops->free(d->way);
    courier_unref(d->courier);
    (void)pthread_mutex_destroy(&d->lock);
    arena_done(&d->arena);
    free(d);
    return NULL;
}
