/* solo.c - see its header. */
#include "net/http/solo.h"

#include <signal.h>

#include "base/banned.h"

int solo_init(struct solo *s, const struct http_handler *handler, const struct http_limits *limits,
              const struct clock *clock, struct err *err)
{
    *s = (struct solo){ .loop = loop_new(clock, err) };
    if (!s->loop)
        return -ERR_IO;
    s->http = http_server_new(&(struct http_server_options){
        .handler = *handler, .loops = &s->loop, .n_loops = 1, .limits = limits });
    return 0;
}

static void *run(void *arg)
{
    loop_run(arg);
    return NULL;
}

int solo_run(struct solo *s, struct err *err)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&s->thread, NULL, run, s->loop);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc)
        return err_errno(err, rc, "start a thread");
    s->runs = true;
    return 0;
}

static void on_drained(void *loop)
{
    loop_stop(loop);
}

void solo_stop(struct solo *s)
{
    if (!s->runs)
        return;
    http_server_drain(s->http, on_drained, s->loop);
    (void)pthread_join(s->thread, NULL);
    s->runs = false;
}

void solo_done(struct solo *s)
{
    solo_stop(s);
    if (s->http)
        s->http = http_server_free(s->http);
    s->loop = loop_free(s->loop);
}
