/* http_server.c - serves 2 KB from memory at every path, for http_bench.sh.
 *
 * http_server PLAIN_PORT TLS_PORT CERT KEY [LOOPS] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "net/http/http.h"
#include "net/loop.h"

enum { BODY_BYTES = 2048, MAX_LOOPS = 64, FILE_BYTES = 1 << 20 };

static char body[BODY_BYTES];

static void on_request(void *arg, struct http_exchange *x)
{
    (void)arg;
    static const struct http_header type[] = { { { "content-type", 12 }, { "text/plain", 10 } } };
    http_reply(x, 200, type, 1, HTTP_BYTES(((struct str){ body, sizeof(body) })));
}

static void *run_loop(void *arg)
{
    loop_run(arg);
    return NULL;
}

static int listen_on(struct http_server *s, struct arena *a, const char *port,
                     struct tls_context *tls, struct err *err)
{
    return http_server_listen(s, arena_printf(a, "127.0.0.1:%s", port), tls, a, NULL, err);
}

static int start(struct http_server *s, char **argv, struct arena *a, struct err *err)
{
    autobuf cert = { 0 };
    autobuf key = { 0 };
    struct tls_context *tls = NULL;
    int r = file_read(argv[3], FILE_BYTES, &cert, err);
    if (r == 0)
        r = file_read(argv[4], FILE_BYTES, &key, err);
    struct tls_config config = { .cert_pem = buf_str(&cert),
                                 .key_pem = buf_str(&key),
                                 .server = true };
    if (r == 0)
        r = tls_context_new(&config, &tls, err);
    if (r == 0)
        r = listen_on(s, a, argv[1], NULL, err);
    if (r == 0)
        r = listen_on(s, a, argv[2], tls, err);
    tls_context_unref(tls);
    return r;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: http_server PLAIN_PORT TLS_PORT CERT KEY [LOOPS]\n");
        return 2;
    }
    size_t n_loops = argc > 5 ? strtoul(argv[5], NULL, 10) : 1;
    if (n_loops < 1 || n_loops > MAX_LOOPS)
        return 2;
    memset(body, 'x', sizeof(body));
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct loop *loops[MAX_LOOPS];
    for (size_t i = 0; i < n_loops; i++) {
        loops[i] = loop_new(NULL, &err);
        if (!loops[i])
            return 1;
    }
    struct http_server_options opt = { .handler.on_request = on_request,
                                       .loops = loops,
                                       .n_loops = n_loops };
    struct http_server *s = http_server_new(&opt);
    if (start(s, argv, &a, &err) < 0) {
        fprintf(stderr, "http_server: " STR_FMT "\n", STR_ARG(err.msg));
        return 1;
    }
    for (size_t i = 1; i < n_loops; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, run_loop, loops[i]) != 0)
            return 1;
    }
    loop_run(loops[0]);
    return 0;
}
