/* What server-side apply costs a server beside a plain update: a Deployment of 4 KB with two
 * managers, over HTTP without TLS, a store in memory. Processor time is that of the whole process
 * without the thread that sends the requests. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/idiom.h"
#include "base/json.h"
#include "net/fetch.h"
#include "server/bootstrap.h"
#include "server/verbs/dispatch.h"
#include "server/verbs/list_counts.h"
#include "server/http/request.h"
#include "server/core/turns.h"

enum { WRITES = 3000, ROUNDS = 3, CONTAINERS = 4, VARIABLES = 8 };

static struct arena arena;
static struct fetcher *fetcher;
static struct str base;

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "apply_bench: %s failed\n", what);
    exit(1);
}

static int send_to(struct arena *a, const char *method, const char *path, const char *type,
                   struct str body, struct value *ret)
{
    const struct http_header headers[] = { { STR("Content-Type"), str_of(type) },
                                           { STR("User-Agent"), STR("bench/1") } };
    const struct fetch_request req = {
        .method = str_of(method),
        .url = arena_printf(a, STR_FMT "%s", STR_ARG(base), path),
        .headers = headers,
        .n_headers = 2,
        .body = body,
    };
    struct fetch_reply reply;
    struct err err = ERR_INIT(a);
    must(fetch(fetcher, &req, a, &reply, &err) == 0, "a request");
    if (reply.status >= 300)
        fprintf(stderr, STR_FMT "\n", STR_ARG(reply.body));
    must(!ret || json_read(a, reply.body, NULL, ret, &err) == 0, "reading an answer");
    return reply.status;
}

/* ---- bodies ---- */

/* A whole Deployment; `n` goes into one variable. */
static void write_config(struct buf *out, unsigned n)
{
    buf_str_add(out, STR("{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{"
                         "\"name\":\"orders\",\"labels\":{\"app\":\"orders\",\"team\":\"shop\"}},"
                         "\"spec\":{\"replicas\":3,\"selector\":{\"matchLabels\":{\"app\":"
                         "\"orders\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"orders\"}}"
                         ",\"spec\":{\"containers\":["));
    for (unsigned c = 0; c < CONTAINERS; c++) {
        buf_printf(out,
                   "%s{\"name\":\"c%u\",\"image\":\"registry.test/orders:1\",\"ports\":[{\"name\":"
                   "\"p%u\",\"containerPort\":%u}],\"resources\":{\"requests\":{\"cpu\":\"100m\","
                   "\"memory\":\"64Mi\"},\"limits\":{\"memory\":\"128Mi\"}},\"env\":[",
                   c ? "," : "", c, c, 8080 + c);
        for (unsigned v = 0; v < VARIABLES; v++)
            buf_printf(out, "%s{\"name\":\"VARIABLE_%u\",\"value\":\"some value %u\"}",
                       v ? "," : "", v, c || v ? v : n);
        buf_str_add(out, STR("]}"));
    }
    buf_str_add(out, STR("]}}}}"));
}

static void write_small(struct buf *out, unsigned n)
{
    buf_printf(out,
               "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":"
               "\"orders\",\"annotations\":{\"note\":\"%u\"}},\"spec\":{\"template\":{\"spec\":{"
               "\"containers\":[{\"name\":\"c1\",\"image\":\"registry.test/orders:%u\"}]}}}}",
               n, n);
}

/* ---- measuring ---- */

static double seconds_of(int who)
{
    struct rusage use;
    (void)getrusage(who, &use);
    return (double)use.ru_utime.tv_sec + (double)use.ru_stime.tv_sec +
           ((double)use.ru_utime.tv_usec + (double)use.ru_stime.tv_usec) / 1e6;
}

struct way {
    const char *name, *method, *path, *type;
    void (*write)(struct buf *out, unsigned n);
};

static unsigned counter;

/* Microseconds of the server's processor time for one write, best of the rounds. */
static double measure(const struct way *way)
{
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double before = seconds_of(RUSAGE_SELF) - seconds_of(RUSAGE_THREAD);
        for (unsigned i = 0; i < WRITES; i++) {
            struct arena a;
            autobuf body = { 0 };
            arena_init(&a);
            way->write(&body, ++counter);
            must(send_to(&a, way->method, way->path, way->type, buf_str(&body), NULL) == 200,
                 way->name);
            arena_done(&a);
        }
        double us = (seconds_of(RUSAGE_SELF) - seconds_of(RUSAGE_THREAD) - before) * 1e6 / WRITES;
        best = us < best ? us : best;
    }
    return best;
}

#define PATH "/apis/apps/v1/namespaces/default/deployments/orders"

static void run(void)
{
    static const char apply[] = "application/apply-patch+yaml";
    static const struct way ways[] = {
        { "plain update (PUT)", "PUT", PATH "?fieldManager=one", "application/json", write_config },
        { "JSON merge patch, a small one", "PATCH", PATH "?fieldManager=two",
          "application/merge-patch+json", write_small },
        { "server-side apply of all of it", "PATCH", PATH "?fieldManager=one&force=true", apply,
          write_config },
        { "server-side apply of a part", "PATCH", PATH "?fieldManager=two&force=true", apply,
          write_small },
    };
    autobuf body = { 0 };
    struct value obj;
    write_config(&body, 0);
    must(send_to(&arena, "PATCH", PATH "?fieldManager=one", apply, buf_str(&body), NULL) == 201,
         "creating");
    buf_reset(&body);
    write_small(&body, 1);
    must(send_to(&arena, "PATCH", PATH "?fieldManager=two&force=true", apply, buf_str(&body),
                 &obj) == 200,
         "applying");
    printf("writes of a Deployment of %zu bytes with its managers, processor time of the server\n",
           json_length(&obj));
    double update = 0;
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        double us = measure(&ways[i]);
        if (i == 0)
            update = us;
        printf("  %-36s %7.1f us  %4.2f x\n", ways[i].name, us, us / update);
    }
    printf("  (no more than 3 x is wanted)\n");
}

/* ---- a server of its own ---- */

static struct api api;

static void on_request(void *arg, struct http_exchange *x)
{
    struct request req;
    (void)arg;
    enum request_place place =
        request_parse(http_arena(x), http_request_of(x), KIND_CURRENT_VERSIONS, NULL, &req);
    if (!dispatch_serve(&api, x, place, &req, NULL))
        http_reply(x, 404, NULL, 0, HTTP_BYTES(STR("")));
}

static void *run_loop(void *arg)
{
    loop_run(arg);
    return NULL;
}

/* Nobody is asked who they are, as a server would do; the process ends with it. */
static void serve(void)
{
    struct err err = ERR_INIT(&arena);
    const struct store_options opt = { .engine = STORE_MEMORY };
    pthread_t thread;
    struct str address;
    api.clock = &clock_system;
    api.workers = workers_new(4, 100);
    api.list_counts = list_counts_new();
    api.turns = turns_new();
    must(service_ranges_parse(STR(SERVICE_CIDRS_DEFAULT), STR(SERVICE_PORTS_DEFAULT), &api.services,
                              &err) == 0 &&
             store_open(&opt, &api.store, &err) == 0 && bootstrap(&api, &err) == 0,
         "starting");
    api.loops[0] = loop_new(NULL, &err);
    api.n_loops = 1;
    struct http_server *http = http_server_new(&(struct http_server_options){
        .handler = { .on_request = on_request },
        .loops = api.loops,
        .n_loops = 1,
    });
    must(http_server_listen(http, STR("127.0.0.1:0"), NULL, &arena, &address, &err) == 0 &&
             pthread_create(&thread, NULL, run_loop, api.loops[0]) == 0,
         "listening");
    base = arena_printf(&arena, "http://" STR_FMT, STR_ARG(address));
}

int main(void)
{
    arena_init(&arena);
    serve();
    fetcher = fetcher_new(&(struct fetcher_options){ 0 });
    run();
    fetcher_free(fetcher);
    return 0;
}
