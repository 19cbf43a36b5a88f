/* hook_server.c - an admission webhook that allows everything, for admission_bench.sh.
 *
 * hook_server TLS_PORT CERT KEY */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "net/http/http.h"
#include "net/loop.h"

enum { FILE_BYTES = 1 << 20 };

/* The text between `before` and the next quote; empty: it is not there. */
static struct str text_after(struct str body, const char *before)
{
    const char *at = body.n ? memmem(body.p, body.n, before, strlen(before)) : NULL;
    struct str rest = at ? str_skip(body, (size_t)(at - body.p) + strlen(before)) : STR("");
    return str_cut(&rest, '"');
}

static void on_request(void *arg, struct http_exchange *x)
{
    static const struct http_header type[] = { { STR("content-type"), STR("application/json") } };
    struct str uid = text_after(http_request_of(x)->body, "\"uid\":\"");
    (void)arg;
    http_reply(x, 200, type, 1,
               HTTP_BYTES(arena_printf(http_arena(x),
                                       "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission."
                                       "k8s.io/v1\",\"response\":{\"uid\":\"" STR_FMT
                                       "\",\"allowed\":true}}",
                                       STR_ARG(uid))));
}

static int start(struct http_server *s, char **argv, struct arena *a, struct err *err)
{
    autobuf cert = { 0 }, key = { 0 };
    struct tls_context *tls = NULL;
    int r = file_read(argv[2], FILE_BYTES, &cert, err);
    if (r == 0)
        r = file_read(argv[3], FILE_BYTES, &key, err);
    const struct tls_config config = { .cert_pem = buf_str(&cert),
                                       .key_pem = buf_str(&key),
                                       .server = true };
    if (r == 0)
        r = tls_context_new(&config, &tls, err);
    if (r == 0)
        r = http_server_listen(s, arena_printf(a, "127.0.0.1:%s", argv[1]), tls, a, NULL, err);
    tls_context_unref(tls);
    return r;
}

int main(int argc, char **argv)
{
    struct arena a;
    if (argc != 4) {
        fprintf(stderr, "usage: hook_server TLS_PORT CERT KEY\n");
        return 2;
    }
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct loop *loop = loop_new(NULL, &err);
    if (!loop)
        return 1;
    const struct http_server_options opt = { .handler.on_request = on_request,
                                             .loops = &loop,
                                             .n_loops = 1 };
    struct http_server *s = http_server_new(&opt);
    if (start(s, argv, &a, &err) < 0) {
        fprintf(stderr, "hook_server: " STR_FMT "\n", STR_ARG(err.msg));
        return 1;
    }
    loop_run(loop);
    return 0;
}
