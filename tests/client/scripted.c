#include "scripted.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net/http/solo.h"
#include "net/ws/ws.h"

struct scripted {
    struct arena arena;
    struct solo solo;
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

struct scripted *scripted_start(scripted_fn *fn, void *arg)
{
    struct scripted *s = mem_new(struct scripted);
    struct str address;
    arena_init(&s->arena);
    s->fn = fn;
    s->arg = arg;
    const struct http_handler handler = { .arg = s, .on_request = on_request };
    int r = solo_init(&s->solo, &handler, NULL, NULL, NULL);
    assert(r == 0);
    r = http_server_listen(s->solo.http, STR("127.0.0.1:0"), NULL, &s->arena, &address, NULL);
    assert(r == 0);
    s->url = arena_printf(&s->arena, "http://" STR_FMT, STR_ARG(address));
    r = solo_run(&s->solo, NULL);
    assert(r == 0);
    return s;
}

void scripted_on_socket(struct scripted *s, scripted_socket_fn *fn)
{
    s->on_socket = fn;
}

void scripted_stop(struct scripted *s)
{
    solo_done(&s->solo);
    arena_done(&s->arena);
    free(s);
}

const char *scripted_url(const struct scripted *s)
{
    return s->url.p;
}
