/* fetch.c - one libcurl easy handle per running request, kept with its connections for the next.
 *
 * libcurl cannot share connections between threads, so each handle has its own few and the most
 * recently used handle is taken first. */
#include "net/outgoing/fetch.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net/outgoing/fetch_internal.h"
#include "base/banned.h"

enum { IDLE_HANDLES = 32, CONNECTIONS_PER_HANDLE = 4 };

struct handle {
    struct handle *next;
    CURL *easy;
};

struct fetcher {
    struct fetch_trust trust;
    const atomic_bool *cancel;
    pthread_mutex_t idle_lock; /* of idle and n_idle */
    struct handle *idle;
    size_t n_idle, max_idle;
};

/* One call of fetch(). */
struct call {
    struct fetch_transfer transfer;
    const struct fetcher *fetcher;
    struct buf body;
    bool stopped;
};

struct fetcher *fetcher_new(const struct fetcher_options *opt)
{
    struct fetcher *f = mem_new(struct fetcher);
    fetch_trust_init(&f->trust, opt);
    f->cancel = opt->cancel;
    f->max_idle = opt->max_idle ? opt->max_idle : IDLE_HANDLES;
    (void)pthread_mutex_init(&f->idle_lock, NULL);
    return f;
}

static void handle_free(struct handle *h)
{
    curl_easy_cleanup(h->easy);
    free(h);
}

struct fetcher *fetcher_free(struct fetcher *f)
{
    if (!f)
        return NULL;
    while (f->idle) {
        struct handle *h = f->idle;
        f->idle = h->next;
        handle_free(h);
    }
    (void)pthread_mutex_destroy(&f->idle_lock);
    fetch_trust_done(&f->trust);
    free(f);
    return NULL;
}

static struct handle *handle_take(struct fetcher *f)
{
    (void)pthread_mutex_lock(&f->idle_lock);
    struct handle *h = f->idle;
    if (h) {
        f->idle = h->next;
        f->n_idle--;
    }
    (void)pthread_mutex_unlock(&f->idle_lock);
    if (h)
        return h;
    h = mem_new(struct handle);
    h->easy = fetch_easy_new();
    return h;
}

static void handle_give(struct fetcher *f, struct handle *h)
{
    curl_easy_reset(h->easy); /* keeps the connections */
    (void)pthread_mutex_lock(&f->idle_lock);
    bool keep = f->n_idle < f->max_idle;
    if (keep) {
        h->next = f->idle;
        f->idle = h;
        f->n_idle++;
    }
    (void)pthread_mutex_unlock(&f->idle_lock);
    if (!keep)
        handle_free(h);
}

static size_t on_body(char *p, size_t size, size_t n, void *arg)
{
    struct call *c = arg;
    struct fetch_transfer *t = &c->transfer;
    n *= size;
    if (t->req->on_piece) {
        c->stopped = !t->req->on_piece(t->req->arg, fetch_transfer_status(t), (struct str){ p, n });
        return c->stopped ? 0 : n;
    }
    t->too_large = n > t->max_reply - c->body.n;
    if (t->too_large)
        return 0;
    buf_add(&c->body, p, n);
    return n;
}

/* Called every second at least. Not 0 ends the transfer. */
static int on_progress(void *arg, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                       curl_off_t up)
{
    const struct call *c = arg;
    (void)down_total;
    (void)down;
    (void)up_total;
    (void)up;
    return (c->fetcher->cancel && atomic_load(c->fetcher->cancel)) ||
           arena_spent(c->transfer.arena);
}

static void set_options(struct call *c)
{
    const struct fetch_transfer *t = &c->transfer;
    CURL *easy = t->easy;
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, c->fetcher->cancel || t->arena->allowance ? 0L : 1L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, c);
    curl_easy_setopt(easy, CURLOPT_MAXCONNECTS, (long)CONNECTIONS_PER_HANDLE);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, c);
    if (!t->req->on_piece && !str_eq(t->req->method, STR("HEAD")))
        curl_easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)t->max_reply);
}

static int call_run(struct call *c, struct fetch_reply *ret, struct err *err)
{
    struct fetch_transfer *t = &c->transfer;
    int r = fetch_transfer_prepare(t, err);
    if (r < 0)
        return r;
    set_options(c);
    CURLcode code = curl_easy_perform(t->easy);
    if (code != CURLE_OK && !(c->stopped && code == CURLE_WRITE_ERROR))
        return fetch_transfer_error(t, code, err);
    *ret = (struct fetch_reply){ .status = fetch_transfer_status(t),
                                 .headers = t->ret_headers,
                                 .n_headers = t->n_ret_headers,
                                 .body = arena_str(t->arena, buf_str(&c->body)) };
    return 0;
}

int fetch(struct fetcher *f, const struct fetch_request *req, struct arena *a,
          struct fetch_reply *ret, struct err *err)
{
    struct handle *h = handle_take(f);
    struct call c = { .fetcher = f,
                      .transfer = {
                          .req = req,
                          .trust = &f->trust,
                          .easy = h->easy,
                          .arena = a,
                          .max_reply = req->max_reply ? req->max_reply : LIMIT_BODY_BYTES,
                      } };
    int r = call_run(&c, ret, err);
    handle_give(f, h);
    fetch_transfer_done(&c.transfer);
    buf_done(&c.body);
    return r;
}
