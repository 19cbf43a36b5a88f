/* controller_health.c - a small HTTP server with a thread of its own. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "client/controller/controller_internal.h"
#include "net/http/solo.h"
#include "net/crypto/pki.h"
#include "net/tls.h"
#include "base/banned.h"

enum { CERTIFICATE_DAYS = 3650 };

struct health {
    struct spn_manager *manager;
    struct arena arena;
    struct solo solo;
};

/* ---- Answers ---- */

static int answer(struct spn_manager *m, const struct http_request *req, struct buf *out)
{
    struct str rest = str_skip(req->path, 1), first = str_cut(&rest, '/');
    if (str_eq(first, STR("healthz")) || str_eq(first, STR("livez")))
        return manager_answer_check(m, SPN_CHECK_HEALTHY, rest, req->query, out);
    if (str_eq(first, STR("readyz")))
        return manager_answer_check(m, SPN_CHECK_READY, rest, req->query, out);
    if (str_eq(req->path, STR("/metrics"))) {
        manager_metrics(m, out);
        return 200;
    }
    buf_printf(out, "404 page not found\n");
    return 404;
}

static void on_request(void *arg, struct http_exchange *x)
{
    static const struct http_header headers[] = {
        { STR("content-type"), STR("text/plain; version=0.0.4; charset=utf-8") },
        { STR("x-content-type-options"), STR("nosniff") },
    };
    const struct http_request *req = http_request_of(x);
    if (!str_eq(req->method, STR("GET")) && !str_eq(req->method, STR("HEAD"))) {
        http_reply(x, 405, NULL, 0, HTTP_BYTES(STR("")));
        return;
    }
    autobuf out = { 0 };
    int status = answer(((struct health *)arg)->manager, req, &out);
    struct str body = arena_str(http_arena(x), buf_str(&out));
    http_reply(x, status, headers, 2, HTTP_BYTES(body));
}

/* ---- Listening ---- */

/* A certificate for whoever does not look at it closely, as probes and scrapers do. */
static int make_tls(struct arena *a, struct tls_context **ret, struct err *err)
{
    int64_t now_sec = clock_wall_ns(&clock_system) / NS_PER_SEC;
    struct pki_pair ca, own;
    int r = pki_make_ca(a, STR("sampan-controller-ca"), now_sec, CERTIFICATE_DAYS, &ca, err);
    if (r < 0)
        return r;
    const struct str name = STR("localhost");
    const struct pki_leaf leaf = {
        .common_name = STR("sampan-controller"),
        .dns_names = &name,
        .n_dns_names = 1,
        .server = true,
        .now_sec = now_sec,
        .days = CERTIFICATE_DAYS,
    };
    r = pki_issue(a, &ca, &leaf, &own, err);
    if (r < 0)
        return r;
    const struct tls_config cfg = { .cert_pem = own.cert_pem,
                                    .key_pem = own.key_pem,
                                    .server = true };
    return tls_context_new(&cfg, ret, err);
}

static int listen_tls(struct health *h, struct str address, struct str *ret, struct err *err)
{
    struct tls_context *tls;
    int r = make_tls(&h->arena, &tls, err);
    if (r < 0)
        return r;
    r = http_server_listen(h->solo.http, address, tls, &h->manager->arena, ret, err);
    tls_context_unref(tls);
    return r;
}

static int listen_at(struct health *h, struct str address, struct str *ret, struct err *err)
{
    const struct http_handler handler = { .arg = h, .on_request = on_request };
    int r = solo_init(&h->solo, &handler, NULL, NULL, err);
    if (r < 0)
        return r;
    r = http_server_listen(h->solo.http, address, NULL, &h->manager->arena, ret, err);
    if (r == -ERR_FORBIDDEN) /* others can reach it */
        return listen_tls(h, address, ret, err);
    return r;
}

/* ---- Beginning and end ---- */

static struct health *release(struct health *h)
{
    solo_done(&h->solo);
    arena_done(&h->arena);
    free(h);
    return NULL;
}

static int start(struct health *h, struct str address, struct spn_err *ret_err)
{
    struct err err = ERR_INIT(&h->arena);
    struct str bound;
    if (listen_at(h, address, &bound, &err) < 0 || solo_run(&h->solo, &err) < 0) {
        (void)err_out(ret_err, &err, SPN_UNAVAILABLE);
        return spn_err_wrap(ret_err, "health at " STR_FMT, STR_ARG(address));
    }
    (void)pthread_mutex_lock(&h->manager->lock);
    h->manager->health_address = bound;
    (void)pthread_mutex_unlock(&h->manager->lock);
    return 0;
}

int health_start(struct spn_manager *m, struct health **ret, struct spn_err *err)
{
    if (!m->opt.health_address)
        return 0;
    struct health *h = mem_new(struct health);
    h->manager = m;
    arena_init(&h->arena);
    int r = start(h, str_of(m->opt.health_address), err);
    if (r < 0) {
        release(h);
        return r;
    }
    *ret = h;
    return 0;
}

struct health *health_stop(struct health *h)
{
    return h ? release(h) : NULL;
}
