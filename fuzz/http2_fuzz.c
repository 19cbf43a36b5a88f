/* The HTTP/2 driver with nothing behind it: bytes after the preface in, whatever it sends away.
 * It must come to an end, keep every exchange's account and leave nothing behind. */
#include <stdlib.h>
#include <string.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "net/http/conn.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static const struct str PREFACE = { "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24 };

static void on_request(void *arg, struct http_exchange *x)
{
    (void)arg;
    const struct http_request *req = http_request_of(x);
    if (req->path.n < 1 || req->path.p[0] != '/')
        abort();
    struct http_header header = { STR("x-path"), req->path };
    if (req->body.n % 2) {
        http_reply(x, 200, &header, 1, HTTP_BYTES(req->body));
        return;
    }
    http_reply_begin(x, 200, &header, 1);
    http_reply_write(x, HTTP_BYTES(req->authority));
    http_reply_end(x, &header, 1);
}

static void turn_of_conn(struct loop *l, struct loop_msg *m)
{
    (void)l;
    struct conn *c = container_of(m, struct conn, turn);
    c->turn_queued = false;
}

static void stop(struct loop *l, struct loop_msg *m)
{
    (void)m;
    loop_stop(l);
}

/* Lets deferred work run. */
static void one_turn(struct loop *l)
{
    struct loop_msg m = { .run = stop };
    loop_post(l, &m);
    loop_run(l);
}

static void talk(struct conn *c, struct str in, uint32_t seed)
{
    static char out[CONN_BUFFER_BYTES];
    http2_driver.on_bytes(c, PREFACE);
    while (in.n && c->phase == CONN_OPEN) {
        seed = seed * 1664525 + 1013904223;
        struct str part = str_take(in, 1 + (seed >> 24));
        in = str_skip(in, part.n);
        http2_driver.on_bytes(c, part);
        if (seed & 64)
            one_turn(c->home->loop);
        while (c->phase == CONN_OPEN && http2_driver.pull(c, out, sizeof(out)))
            ;
        (void)http2_driver.due(c);
    }
    if (seed & 128 && c->phase == CONN_OPEN)
        http2_driver.drain(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (n < 2)
        return 0;
    struct loop *l = loop_new(NULL, NULL);
    if (!l)
        abort();
    struct http_limits limits = http_limits_default();
    limits.header_bytes = 4096;
    limits.body_bytes = 8192;
    struct http_server_options opt = {
        .handler.on_request = on_request, .loops = &l, .n_loops = 1, .limits = &limits
    };
    struct http_server *s = http_server_new(&opt);
    http_server_ref(s);
    struct conn_peer peer = { .refs = 1000000 };
    struct conn c = { .fd.fd = -1,
                      .turn.run = turn_of_conn,
                      .home = http_server_home(s, 0),
                      .driver = &http2_driver,
                      .phase = CONN_OPEN,
                      .peer = &peer };
    TAILQ_INIT(&c.exchanges);
    peer.share = shares_find(c.home->shares, &peer.peer);
    http2_driver.open(&c);
    talk(&c, (struct str){ (const char *)bytes + 1, n - 1 }, bytes[0]);
    conn_close(&c);
    one_turn(l);
    one_turn(l);
    struct http_stats stats;
    http_server_stats(s, &stats);
    if (stats.exchanges_open)
        abort();
    share_unref(c.home->shares, peer.share);
    http_server_free(s);
    http_server_unref(s);
    loop_free(l);
    return 0;
}
