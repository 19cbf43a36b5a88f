#include "plain_server.h"

#include <pthread.h>

#include "base/clock.h"
#include "measure.h"
#include "server/bootstrap.h"
#include "server/core/turns.h"
#include "server/http/request.h"
#include "server/object/stored.h"
#include "server/verbs/dispatch.h"
#include "server/verbs/list_counts.h"
#include "server/verbs/list_sizes.h"

static struct api api;

static void on_request(void *arg, struct http_exchange *x)
{
    struct request req;
    (void)arg;
    enum request_place place =
        request_parse(http_arena(x), http_request_of(x), KIND_CURRENT_VERSIONS, NULL, &req);
    if (!dispatch_serve(&api, x, place, &req, NULL, NULL))
        http_reply(x, 404, NULL, 0, HTTP_BYTES(STR("")));
}

static void *run_loop(void *arg)
{
    loop_run(arg);
    return NULL;
}

static void start_api(struct err *err, unsigned workers)
{
    const struct store_options opt = { .engine = STORE_MEMORY };
    api.clock = &clock_system;
    api.workers = workers_new(workers, 100);
    api.list_counts = list_counts_new();
    api.list_sizes = list_sizes_new();
    api.turns = turns_new();
    measure_must(service_ranges_parse(STR(SERVICE_CIDRS_DEFAULT), STR(SERVICE_PORTS_DEFAULT),
                                      &api.services, err) == 0 &&
                     store_open(&opt, &api.store, err) == 0 && bootstrap(&api, err) == 0,
                 "starting");
}

struct api *plain_server_start(struct arena *a, unsigned workers, struct str *ret_url)
{
    struct err err = ERR_INIT(a);
    pthread_t thread;
    struct str address;
    start_api(&err, workers);
    api.loops[0] = loop_new(NULL, &err);
    api.n_loops = 1;
    struct http_server *http = http_server_new(&(struct http_server_options){
        .handler = { .on_request = on_request },
        .loops = api.loops,
        .n_loops = 1,
    });
    measure_must(http_server_listen(http, STR("127.0.0.1:0"), NULL, a, &address, &err) == 0 &&
                     pthread_create(&thread, NULL, run_loop, api.loops[0]) == 0,
                 "listening");
    *ret_url = arena_printf(a, "http://" STR_FMT, STR_ARG(address));
    return &api;
}

static bool count_piece(void *arg, int status, struct str piece)
{
    size_t *n = arg;
    measure_must(status < 300, "a request");
    *n += piece.n;
    return true;
}

size_t plain_server_ask(struct fetcher *f, struct fetch_request req)
{
    struct arena a;
    struct fetch_reply reply;
    size_t n = 0;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    req.on_piece = count_piece;
    req.arg = &n;
    measure_must(fetch(f, &req, &a, &reply, &err) == 0, "a request");
    arena_done(&a);
    return n;
}

void plain_server_fill(struct arena *a, const struct kind_resource *r, unsigned from, unsigned to,
                       plain_server_make *make, void *arg)
{
    enum { AT_ONCE = 100 };
    struct err err = ERR_INIT(a);
    while (from < to) {
        struct store_op ops[AT_ONCE];
        struct buf bytes[AT_ONCE] = { { 0 } };
        struct store_txn txn = { .ops = ops };
        for (; txn.n_ops < AT_ONCE && from < to; from++, txn.n_ops++) {
            struct str name = make(arg, from, &bytes[txn.n_ops]);
            ops[txn.n_ops] = (struct store_op){ STORE_PUT, stored_key(a, r, STR("default"), name),
                                                buf_str(&bytes[txn.n_ops]), STORE_ANY };
        }
        measure_must(store_commit(api.store, &txn, &err) == 0, "filling the store");
        for (size_t i = 0; i < txn.n_ops; i++)
            buf_done(&bytes[i]);
    }
}
