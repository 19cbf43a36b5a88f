/* serve.c - the listener, and which path is whose. Every request goes to a worker: whoever is asked
 * about it may take his time. */
#include "node/serve/serve.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/percent.h"
#include "net/crypto/pki.h"
#include "node/serve/serve_internal.h"
#include "base/banned.h"

enum {
    THREADS = 128,
    QUEUED = 1024,
    PATIENT_THREADS = 512,
    PATIENT_QUEUED = 64,
    STOP_MS = 5000,
    STOPGAP_DAYS = 1
};

/* ---- Small answers ---- */

void serve__say(struct served *v, int status, struct str text)
{
    static const struct http_header plain = { STR("content-type"),
                                              STR("text/plain; charset=utf-8") };
    http_send(v->x, status, &plain, 1, HTTP_BYTES(arena_str(v->a, text)));
}

void serve__json(struct served *v, const struct value *body)
{
    static const struct http_header json = { STR("content-type"), STR("application/json") };
    autobuf out = { 0 };
    json_write(&out, body);
    http_send(v->x, 200, &json, 1, HTTP_BYTES(arena_str(v->a, buf_str(&out))));
}

/* ---- Parameters ---- */

struct value serve__params(struct served *v, const char *name)
{
    struct str rest = v->req->query, text;
    struct value all = value_array();
    while (rest.n) {
        struct str one = str_cut(&rest, '&'), key = str_cut(&one, '=');
        if (str_eq(key, str_of(name)) && percent_decode(v->a, one, true, &text))
            value_put_item(v->a, &all, value_string(text));
    }
    return all;
}

struct str serve__param(struct served *v, const char *name)
{
    const struct value all = serve__params(v, name);
    return value_str(value_at(&all, 0));
}

bool serve__flag(struct served *v, const char *name)
{
    struct str text = serve__param(v, name);
    return str_eq(text, STR("1")) || str_eq(text, STR("true"));
}

/* ---- Paths ---- */

static void route(struct served *v)
{
    struct str rest = str_skip(v->req->path, 1), first = str_cut(&rest, '/');
    if (str_eq(first, STR("containerLogs")))
        serve__container_log(v, rest);
    else if (str_eq(first, STR("exec")))
        serve__stream(v, SERVE_EXEC, rest);
    else if (str_eq(first, STR("attach")))
        serve__stream(v, SERVE_ATTACH, rest);
    else if (str_eq(first, STR("portForward")))
        serve__stream(v, SERVE_PORTS, rest);
    else if (str_eq(first, STR("run")) && !str_eq(v->req->method, STR("POST")))
        serve__say(v, 405, STR("405: Method Not Allowed"));
    else if (str_eq(first, STR("run")))
        serve__run(v, rest);
    else if (str_eq(first, STR("pods")) && !rest.n)
        serve__pods(v);
    else if (str_eq(first, STR("runningpods")))
        serve__running_pods(v);
    else if (str_eq(first, STR("healthz")))
        serve__health(v, rest);
    else if (str_eq(first, STR("configz")))
        serve__config(v);
    else if (str_eq(first, STR("stats")) && str_eq(rest, STR("summary")))
        serve__summary(v);
    else if (str_eq(first, STR("metrics")))
        serve__metrics(v, rest);
    else if (str_eq(first, STR("logs")))
        serve__say(v, 405, STR("logs endpoint is disabled."));
    else
        serve__say(v, 404, STR("404 page not found\n"));
}

static void work(struct http_exchange *x, void *arg)
{
    struct served v = { arg, x, http_request_of(x), http_arena(x) };
    struct str text = STR("");
    const int refused = serve_auth_check(v.s->auth, v.req, v.a, &text);
    if (refused)
        serve__say(&v, refused, text);
    else
        route(&v);
}

/* Its worker is gone for as long as the client likes. */
static bool is_long(const struct http_request *req)
{
    return str_starts(req->path, STR("/containerLogs/")) || str_starts(req->path, STR("/run/"));
}

static void on_request(void *arg, struct http_exchange *x)
{
    struct serve *s = arg;
    struct workers *w = is_long(http_request_of(x)) ? s->patient : s->workers;
    http_set_time(x, 0); /* a log may be followed for ever */
    (void)http_to_worker(x, w, work, s);
}

/* ---- Beginning and end ---- */

static int make_tls(const struct serve *s, struct str cert_pem, struct str key_pem,
                    struct tls_context **ret, struct err *err)
{
    const struct tls_config cfg = { .cert_pem = cert_pem,
                                    .key_pem = key_pem,
                                    .ca_pem = s->opt.client_ca,
                                    .server = true,
                                    .lets_strangers_in = true };
    return tls_context_new(&cfg, ret, err);
}

/* Until the certificate that was asked for is there: nobody who looks at it believes this one. */
static int make_stopgap(struct serve *s, struct str *ret_cert, struct str *ret_key, struct err *err)
{
    const int64_t now_sec = clock_wall_ns(&clock_system) / NS_PER_SEC;
    struct pki_pair ca, own;
    int r = pki_make_ca(&s->arena, STR("sampan-node-stopgap"), now_sec, STOPGAP_DAYS, &ca, err);
    if (r < 0)
        return r;
    const struct pki_leaf leaf = { .common_name = STR("sampan-node-stopgap"),
                                   .server = true,
                                   .now_sec = now_sec,
                                   .days = STOPGAP_DAYS };
    r = pki_issue(&s->arena, &ca, &leaf, &own, err);
    *ret_cert = own.cert_pem;
    *ret_key = own.key_pem;
    return r;
}

static int listen_here(struct serve *s, struct err *err)
{
    struct str cert = s->opt.cert_pem, key = s->opt.key_pem;
    const struct http_handler handler = { .arg = s, .on_request = on_request };
    struct tls_context *tls;
    struct str address;
    uint64_t port = 0;
    int r = solo_init(&s->solo, &handler, NULL, NULL, err);
    if (r < 0)
        return r;
    r = cert.n ? 0 : make_stopgap(s, &cert, &key, err);
    if (r < 0)
        return r;
    r = make_tls(s, cert, key, &tls, err);
    if (r < 0)
        return r;
    r = http_server_listen(s->solo.http, s->opt.listen, tls, &s->arena, &address, err);
    tls_context_unref(tls);
    if (r < 0)
        return r;
    while (str_find(address, ':') >= 0)
        (void)str_cut(&address, ':');
    (void)str_to_u64(address, &port);
    s->port = (unsigned)port;
    return 0;
}

static int begin(struct serve *s, struct err *err)
{
    int r = stats_new(&(struct stats_options){ .node = s->opt.node,
                                               .cri = s->opt.cri,
                                               .arg = s->opt.agent.arg,
                                               .pods = s->opt.agent.pods },
                      &s->stats, err);
    if (r < 0)
        return r;
    r = listen_here(s, err);
    return r < 0 ? r : solo_run(&s->solo, err);
}

int serve_start(const struct serve_options *opt, struct serve **ret, struct err *err)
{
    struct serve *s = mem_new(struct serve);
    s->opt = *opt;
    arena_init(&s->arena);
    LIST_INIT(&s->relays);
    s->workers = workers_new(THREADS, QUEUED);
    s->patient = workers_new(PATIENT_THREADS, PATIENT_QUEUED);
    s->auth = serve_auth_new(&s->opt);
    int r = begin(s, err);
    if (r < 0) {
        serve_stop(s);
        return r;
    }
    *ret = s;
    return 0;
}

unsigned serve_port(const struct serve *s)
{
    return s->port;
}

/* ---- Another certificate ---- */

struct new_certificate {
    struct loop_msg msg;
    struct serve *s;
    struct tls_context *tls;
};

static void set_tls(struct loop *l, struct loop_msg *msg)
{
    struct new_certificate *n = container_of(msg, struct new_certificate, msg);
    (void)l;
    http_server_set_tls(n->s->solo.http, n->tls);
    tls_context_unref(n->tls);
    free(n);
}

int serve_set_certificate(struct serve *s, struct str cert_pem, struct str key_pem, struct err *err)
{
    struct tls_context *tls;
    int r = make_tls(s, cert_pem, key_pem, &tls, err);
    if (r < 0)
        return r;
    struct new_certificate *n = mem_new(struct new_certificate);
    *n = (struct new_certificate){ { .run = set_tls }, s, tls };
    loop_post(s->solo.loop, &n->msg);
    return 0;
}

static void end_relays(struct loop *l, struct loop_msg *msg)
{
    struct serve *s = container_of(msg, struct serve, stop);
    (void)l;
    relay_set_close(&s->relays);
}

struct serve *serve_stop(struct serve *s)
{
    if (!s)
        return NULL;
    atomic_store(&s->is_stopping, true);
    if (s->solo.runs) {
        s->stop.run = end_relays;
        loop_post(s->solo.loop, &s->stop);
        solo_stop(&s->solo);
    }
    (void)workers_stop(s->workers, clock_mono_ns(&clock_system) + STOP_MS * NS_PER_MS);
    s->workers = workers_free(s->workers);
    s->patient = workers_free(s->patient);
    solo_done(&s->solo);
    serve_auth_free(s->auth);
    stats_free(s->stats);
    arena_done(&s->arena);
    free(s);
    return NULL;
}
