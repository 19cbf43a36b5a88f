/* spn_logs.c - what a container writes, as it comes. */
#include <sampan/stream.h>

#include <stdlib.h>

#include "base/mem.h"
#include "client/calls/client.h"
#include "base/banned.h"

struct spn_logs {
    struct stop_listener listener; /* first */
    struct spn_stop *stop;
    struct delivery *delivery;
    struct buf piece;
};

static void on_stop(struct stop_listener *l)
{
    delivery_cancel(((struct spn_logs *)l)->delivery);
}

static int open_log(struct spn_client *c, const struct spn_target *at,
                    const struct spn_log_options *opt, struct spn_stop *stop, struct arena *a,
                    struct delivery **ret, struct spn_err *err)
{
    struct client_query q = { 0 };
    struct client_request req = { .method = STR("GET"),
                                  .accept = STR("application/json, */*"),
                                  .is_endless = true };
    query_add(&q, "container", opt->container ? str_of(opt->container) : STR(""));
    query_add_bool(&q, "follow", opt->follow);
    query_add_bool(&q, "previous", opt->previous);
    query_add_bool(&q, "timestamps", opt->timestamps);
    query_add_int(&q, "sinceSeconds", opt->since_sec);
    query_add_int(&q, "tailLines", opt->tail_lines);
    query_add_int(&q, "limitBytes", opt->limit_bytes);
    int r = client_path(a, at, &q, &req.path, err);
    buf_done(&q.text);
    if (r < 0)
        return r;
    return client_open(c, &req, stop, a, ret, err);
}

int spn_client_logs(struct spn_client *c, struct spn_text ns, struct spn_text pod,
                    const struct spn_log_options *opt, struct spn_stop *stop, struct spn_arena *a,
                    struct spn_logs **ret, struct spn_err *err)
{
    static const struct spn_log_options usual;
    const struct spn_target at = { .version = SPN_TEXT("v1"),
                                   .plural = SPN_TEXT("pods"),
                                   .ns = ns,
                                   .name = pod,
                                   .sub = SPN_TEXT("log") };
    struct delivery *d;
    int r = open_log(c, &at, opt ? opt : &usual, stop, arena_in(a), &d, err);
    if (r < 0)
        return r;
    struct spn_logs *l = mem_new(struct spn_logs);
    l->listener.on_stop = on_stop;
    l->delivery = d;
    l->stop = stop;
    stop_listen(stop, &l->listener);
    *ret = l;
    return 0;
}

int spn_logs_read(struct spn_logs *l, int64_t timeout_ms, struct spn_arena *a, struct spn_text *ret,
                  struct spn_err *err)
{
    struct err why = ERR_INIT(arena_in(a));
    int r = delivery_read(l->delivery, timeout_ms, &l->piece, &why);
    if (r < 0)
        return client_transport_error(&why, err);
    if (r > 0)
        *ret = text_out(arena_str(arena_in(a), buf_str(&l->piece)));
    return r;
}

struct spn_logs *spn_logs_free(struct spn_logs *l)
{
    if (!l)
        return NULL;
    stop_unlisten(l->stop, &l->listener);
    delivery_free(l->delivery);
    buf_done(&l->piece);
    free(l);
    return NULL;
}
