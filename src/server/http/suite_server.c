#include "server/http/suite_server.h"

static void *run_loop(void *arg)
{
    loop_run(arg);
    return NULL;
}

void suite_server_start(struct suite_server *s, void (*on_request)(void *, struct http_exchange *),
                        void *arg, struct tls_context *tls)
{
    suite_server_handle(s, &(struct http_handler){ .arg = arg, .on_request = on_request }, tls);
}

void suite_server_handle(struct suite_server *s, const struct http_handler *handler,
                         struct tls_context *tls)
{
    *s = (struct suite_server){ .is_tls = tls };
    arena_init(&s->arena);
    struct err err = ERR_INIT(&s->arena);
    s->loop = loop_new(NULL, &err);
    assert_non_null(s->loop);
    s->http = http_server_new(
        &(struct http_server_options){ .handler = *handler, .loops = &s->loop, .n_loops = 1 });
    if (http_server_listen(s->http, STR("127.0.0.1:0"), tls, &s->arena, &s->address, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    assert_int_equal(pthread_create(&s->thread, NULL, run_loop, s->loop), 0);
}

void suite_server_stop(struct suite_server *s)
{
    if (s->is_stopped)
        return;
    s->is_stopped = true;
    loop_stop(s->loop);
    assert_int_equal(pthread_join(s->thread, NULL), 0);
}

void suite_server_free(struct suite_server *s)
{
    suite_server_stop(s);
    http_server_free(s->http);
    loop_free(s->loop);
    arena_done(&s->arena);
}

struct fetch_reply suite_server_ask(struct suite_server *s, struct fetcher *f, const char *method,
                                    const char *path)
{
    struct fetch_reply reply;
    struct err err = ERR_INIT(&s->arena);
    const struct fetch_request req = {
        .method = str_of(method),
        .url = arena_printf(&s->arena, "%s://" STR_FMT "%s", s->is_tls ? "https" : "http",
                            STR_ARG(s->address), path),
    };
    if (fetch(f, &req, &s->arena, &reply, &err) < 0)
        fail_msg("%s: " STR_FMT, path, STR_ARG(err.msg));
    return reply;
}

const char *suite_server_header(struct suite_server *s, const struct fetch_reply *reply,
                                const char *name)
{
    for (size_t i = 0; i < reply->n_headers; i++)
        if (str_eq(reply->headers[i].name, str_of(name)))
            return str_cstr(&s->arena, reply->headers[i].value);
    return "";
}
