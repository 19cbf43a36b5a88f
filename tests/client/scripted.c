#include "scripted.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net/loop.h"
#include "net/ws/ws.h"

struct scripted {
    struct arena arena;
    struct loop *loop;
    struct http_server *server;
    pthread_t thread;
    struct str url;
    scripted_fn *fn;
    scripted_socket_fn *_Atomic on_socket;
    void *arg;
};

struct scripted_answer scripted_json(int status, const char *body)
{
    return (
        struct scripted_answer){ .status = status,
                                 .headers = { { STR("content-type"), STR("application/json") } },
                                 .n_headers = 1,
                                 .body = str_of(body) };
}

static void end_silence(void *arg, struct http_exchange *x)
{
    (void)arg;
    http_abort(x);
}

static void on_request(void *arg, struct http_exchange *x)
{
    static const struct http_events until_gone = { .on_gone = end_silence };
    struct scripted *s = arg;
    scripted_socket_fn *on_socket = s->on_socket;
    if (on_socket && ws_wanted(http_request_of(x))) {
        on_socket(s->arg, x);
        return;
    }
    struct scripted_answer answer = s->fn(s->arg, http_request_of(x), http_arena(x));
    if (answer.status == SCRIPTED_SILENCE)
        http_listen_to(x, &until_gone);
    else if (answer.status == SCRIPTED_CUT)
        http_abort(x);
    else
        http_reply(x, answer.status, answer.headers, answer.n_headers, HTTP_BYTES(answer.body));
}

static void *run_loop(void *arg)
{
    loop_run(arg);
    return NULL;
}

struct scripted *scripted_start(scripted_fn *fn, void *arg)
{
    struct scripted *s = mem_new(struct scripted);
    struct str address;
    arena_init(&s->arena);
    s->fn = fn;
    s->arg = arg;
    s->loop = loop_new(NULL, NULL);
    const struct http_server_options opt = { .handler = { .arg = s, .on_request = on_request },
                                             .loops = &s->loop,
                                             .n_loops = 1 };
    s->server = http_server_new(&opt);
    int r = http_server_listen(s->server, STR("127.0.0.1:0"), NULL, &s->arena, &address, NULL);
    assert(r == 0);
    s->url = arena_printf(&s->arena, "http://" STR_FMT, STR_ARG(address));
    r = pthread_create(&s->thread, NULL, run_loop, s->loop);
    assert(r == 0);
    return s;
}

static void stop_loop(void *arg)
{
    loop_stop(arg);
}

struct drain {
    struct loop_msg msg; /* first */
    struct scripted *s;
};

static void drain(struct loop *l, struct loop_msg *m)
{
    http_server_drain(((struct drain *)m)->s->server, stop_loop, l);
}

void scripted_on_socket(struct scripted *s, scripted_socket_fn *fn)
{
    s->on_socket = fn;
}

void scripted_stop(struct scripted *s)
{
    struct drain d = { .msg = { .run = drain }, .s = s };
    loop_post(s->loop, &d.msg);
    (void)pthread_join(s->thread, NULL);
    http_server_free(s->server);
    loop_free(s->loop);
    arena_done(&s->arena);
    free(s);
}

const char *scripted_url(const struct scripted *s)
{
    return s->url.p;
}
