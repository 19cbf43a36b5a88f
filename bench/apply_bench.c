/* What server-side apply costs a server beside a plain update: a Deployment of 4 KB with two
 * managers, over HTTP without TLS, a store in memory. Processor time is that of the whole process
 * without the thread that sends the requests. */
#include <stdio.h>

#include "base/idiom.h"
#include "base/json.h"
#include "measure.h"
#include "net/outgoing/fetch.h"
#include "plain_server.h"

enum { WRITES = 3000, ROUNDS = 3, CONTAINERS = 4, VARIABLES = 8 };

static struct arena arena;
static struct fetcher *fetcher;
static struct str base;

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
    measure_must(fetch(fetcher, &req, a, &reply, &err) == 0, "a request");
    if (reply.status >= 300)
        fprintf(stderr, STR_FMT "\n", STR_ARG(reply.body));
    measure_must(!ret || json_read(a, reply.body, NULL, ret, &err) == 0, "reading an answer");
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
        double before = measure_others_s();
        for (unsigned i = 0; i < WRITES; i++) {
            struct arena a;
            autobuf body = { 0 };
            arena_init(&a);
            way->write(&body, ++counter);
            measure_must(send_to(&a, way->method, way->path, way->type, buf_str(&body), NULL) ==
                             200,
                         way->name);
            arena_done(&a);
        }
        double us = (measure_others_s() - before) * 1e6 / WRITES;
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
    measure_must(send_to(&arena, "PATCH", PATH "?fieldManager=one", apply, buf_str(&body), NULL) ==
                     201,
                 "creating");
    buf_reset(&body);
    write_small(&body, 1);
    measure_must(send_to(&arena, "PATCH", PATH "?fieldManager=two&force=true", apply,
                         buf_str(&body), &obj) == 200,
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

int main(void)
{
    arena_init(&arena);
    (void)plain_server_start(&arena, 4, &base);
    fetcher = fetcher_new(&(struct fetcher_options){ 0 });
    run();
    fetcher_free(fetcher);
    return 0;
}
