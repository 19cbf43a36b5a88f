#include "faulty.h"

#include <assert.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "net/outgoing/courier.h"
#include "net/http/solo.h"
#include "net/crypto/pki.h"
#include "net/tls.h"
#include "net/workers.h"

enum { WORKERS = 64 };

enum fault {
    FAULT_NONE,
    FAULT_REFUSE,
    FAULT_DROP,
    FAULT_CUT,
    FAULT_END,
    FAULT_DELAY,
    FAULT_REPEAT
};

struct faulty {
    struct arena arena;
    struct courier *courier;
    struct solo solo;
    struct workers *workers;
    struct str url;
    _Atomic unsigned percent, seed, generation;
    struct faulty_counts counts;
};

/* One request on its way. */
struct pass {
    struct faulty *f;
    struct http_exchange *x;
    enum fault fault;
    bool is_watch;
    size_t bytes_left; /* before it is cut or ended */
    unsigned generation, seed;
};

static unsigned random_below(struct pass *p, unsigned n)
{
    return (unsigned)rand_r(&p->seed) % n;
}

static void choose(struct pass *p, const struct http_request *req)
{
    static const enum fault faults[] = { FAULT_REFUSE, FAULT_DROP,  FAULT_CUT,
                                         FAULT_END,    FAULT_DELAY, FAULT_REPEAT };
    p->seed = atomic_fetch_add(&p->f->seed, 7919);
    p->is_watch = memmem(req->query.p, req->query.n, "watch=true", 10) != NULL;
    if (!str_eq(req->method, STR("GET")) || random_below(p, 100) >= atomic_load(&p->f->percent))
        return;
    p->fault = faults[random_below(p, ARRAY_LEN(faults))];
    if (p->fault == FAULT_END && !p->is_watch) /* a whole answer that is too short is a cut one */
        p->fault = FAULT_CUT;
    p->bytes_left = random_below(p, 20000);
}

static void abort_on_loop(struct http_exchange *x, void *arg)
{
    (void)arg;
    http_abort(x);
}

static void drop(struct pass *p)
{
    http_to_loop(p->x, abort_on_loop, NULL);
}

static void refuse(struct pass *p)
{
    static const struct {
        int status;
        const char *body;
    } answers[] = {
        { 410,
          "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"too "
          "old resource version\",\"reason\":\"Expired\",\"code\":410}" },
        { 429,
          "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"later\","
          "\"reason\":\"TooManyRequests\",\"code\":429}" },
        { 500, "no JSON at all" },
    };
    const struct http_header retry = { STR("retry-after"), STR("0") };
    size_t k = random_below(p, ARRAY_LEN(answers));
    atomic_fetch_add(&p->f->counts.refused, 1);
    http_send(p->x, answers[k].status, &retry, answers[k].status == 429,
              HTTP_BYTES(str_of(answers[k].body)));
}

static void nap(struct pass *p)
{
    atomic_fetch_add(&p->f->counts.delayed, 1);
    nanosleep(&(struct timespec){ .tv_nsec = (long)random_below(p, 20) * 1000000 }, NULL);
}

static int write_copy(struct pass *p, struct str s)
{
    return http_send_write(p->x, HTTP_BYTES(s));
}

/* Whole events at once, the last of them twice. What is left of the piece stays in `carry`. */
static int write_repeated(struct pass *p, struct buf *carry, struct str piece)
{
    buf_str_add(carry, piece);
    const char *end = memrchr(carry->p, '\n', carry->n);
    if (!end)
        return 0;
    size_t whole = (size_t)(end - carry->p) + 1;
    const char *before = whole > 1 ? memrchr(carry->p, '\n', whole - 1) : NULL;
    size_t last = before ? (size_t)(before - carry->p) + 1 : 0;
    int r = write_copy(p, (struct str){ carry->p, whole });
    if (r == 0)
        r = write_copy(p, (struct str){ carry->p + last, whole - last });
    atomic_fetch_add(&p->f->counts.repeated, 1);
    buf_drop(carry, whole);
    return r;
}

/* False: that was enough. */
static bool pass_piece(struct pass *p, struct buf *carry, struct str piece)
{
    if (p->fault == FAULT_DELAY)
        nap(p);
    if (p->fault == FAULT_REPEAT && p->is_watch)
        return write_repeated(p, carry, piece) == 0;
    if ((p->fault == FAULT_CUT || p->fault == FAULT_END) && piece.n > p->bytes_left) {
        (void)write_copy(p, str_take(piece, p->bytes_left));
        return false;
    }
    p->bytes_left -= p->bytes_left < piece.n ? p->bytes_left : piece.n;
    return write_copy(p, piece) == 0;
}

static bool is_over(const struct pass *p)
{
    return http_is_gone(p->x) || atomic_load(&p->f->generation) != p->generation;
}

static void pass_body(struct pass *p, struct delivery *d)
{
    autobuf piece = { 0 };
    autobuf carry = { 0 };
    int r;
    do {
        r = delivery_read(d, 20, &piece, NULL);
        if (r == -ERR_TIMEOUT && !is_over(p))
            r = 1; /* an event may still come */
        else if (r > 0 && !pass_piece(p, &carry, buf_str(&piece)))
            r = -ERR_GONE;
        if (r > 0 && is_over(p))
            r = -ERR_GONE;
    } while (r > 0);
    bool is_cut = r < 0 && p->fault != FAULT_END;
    atomic_fetch_add(
        is_cut ? &p->f->counts.cut : (r < 0 ? &p->f->counts.ended : &p->f->counts.passed), 1);
    if (is_cut)
        drop(p);
    else
        http_send_end(p->x, NULL, 0);
}

static struct delivery *forward(struct pass *p)
{
    const struct http_request *req = http_request_of(p->x);
    struct arena *a = http_arena(p->x);
    const struct http_header headers[] = {
        { STR("accept"), http_header_get(req, STR("accept")) },
        { STR("content-type"), http_header_get(req, STR("content-type")) },
    };
    const struct courier_request out = {
        .method = req->method,
        .path = arena_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(req->path), req->query.n ? "?" : "",
                             STR_ARG(req->query)),
        .headers = headers,
        .n_headers = 1 + (headers[1].value.n > 0),
        .body = req->body,
        .is_endless = p->is_watch,
    };
    struct delivery *d = NULL;
    return courier_send(p->f->courier, &out, &d, NULL) < 0 ? NULL : d;
}

static void run_pass(struct http_exchange *x, void *arg)
{
    struct pass *p = arg;
    struct fetch_reply head;
    p->x = x;
    if (p->fault == FAULT_REFUSE) {
        refuse(p);
        return;
    }
    if (p->fault == FAULT_DROP) {
        atomic_fetch_add(&p->f->counts.dropped, 1);
        drop(p);
        return;
    }
    struct delivery *d = forward(p);
    if (!d || delivery_head(d, &head, NULL) < 0) {
        drop(p);
    } else {
        const struct http_header type = { STR("content-type"), STR("application/json") };
        http_send_begin(x, head.status, &type, 1);
        pass_body(p, d);
    }
    delivery_free(d);
}

static void on_request(void *arg, struct http_exchange *x)
{
    struct faulty *f = arg;
    struct pass *p = arena_new(http_arena(x), struct pass);
    p->f = f;
    p->generation = atomic_load(&f->generation);
    choose(p, http_request_of(x));
    if (p->is_watch)
        http_set_time(x, 0);
    (void)http_to_worker(x, f->workers, run_pass, p);
}

static struct tls_context *own_tls(struct arena *a)
{
    struct tls_context *tls;
    struct pki_pair ca, server;
    const struct str ips[] = { STR("127.0.0.1") };
    const int64_t now = clock_wall_ns(&clock_system) / NS_PER_SEC;
    const struct pki_leaf leaf = { .common_name = STR("faulty"),
                                   .ips = ips,
                                   .n_ips = 1,
                                   .server = true,
                                   .now_sec = now,
                                   .days = 2 };
    int r = pki_make_ca(a, STR("test CA"), now, 2, &ca, NULL);
    assert(r == 0);
    r = pki_issue(a, &ca, &leaf, &server, NULL);
    assert(r == 0);
    const struct tls_config config = { .cert_pem = server.cert_pem,
                                       .key_pem = server.key_pem,
                                       .server = true };
    r = tls_context_new(&config, &tls, NULL);
    assert(r == 0);
    return tls;
}

struct faulty *faulty_start(const char *url, unsigned seed, bool tls)
{
    struct faulty *f = mem_new(struct faulty);
    struct str address;
    arena_init(&f->arena);
    atomic_init(&f->seed, seed);
    f->workers = workers_new(WORKERS, WORKERS);
    const struct http_handler handler = { .arg = f, .on_request = on_request };
    int r = solo_init(&f->solo, &handler, NULL, NULL, NULL);
    assert(r == 0);
    r = courier_new(&(struct courier_options){ .url = str_of(url) }, &f->courier, NULL);
    assert(r == 0);
    struct tls_context *context = tls ? own_tls(&f->arena) : NULL;
    r = http_server_listen(f->solo.http, STR("127.0.0.1:0"), context, &f->arena, &address, NULL);
    assert(r == 0);
    tls_context_unref(context);
    f->url = arena_printf(&f->arena, "http%s://" STR_FMT, tls ? "s" : "", STR_ARG(address));
    r = solo_run(&f->solo, NULL);
    assert(r == 0);
    return f;
}

void faulty_stop(struct faulty *f)
{
    faulty_cut_all(f);
    solo_stop(&f->solo);
    workers_free(f->workers);
    solo_done(&f->solo);
    courier_unref(f->courier);
    arena_done(&f->arena);
    free(f);
}

const char *faulty_url(const struct faulty *f)
{
    return f->url.p;
}

void faulty_set_rate(struct faulty *f, unsigned percent)
{
    atomic_store(&f->percent, percent);
}

void faulty_cut_all(struct faulty *f)
{
    atomic_fetch_add(&f->generation, 1);
}

const struct faulty_counts *faulty_counts(const struct faulty *f)
{
    return &f->counts;
}
