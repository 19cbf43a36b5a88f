/* list_bench - a LIST of 10,000 pods in every encoding, beside JSON: over HTTP without TLS, a store
 * in memory. Processor time is that of the whole process without the thread that asks; the best of
 * a few rounds counts. */
#include <stdio.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "measure.h"
#include "net/outgoing/fetch.h"
#include "plain_server.h"
#include "server/registry/registry_internal.h"
#include "server/object/stored.h"

enum { PODS = 10000, ROUNDS = 7 };

static const char pod_text[] =
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"orders\",\"labels\":{"
    "\"app\":\"orders\",\"team\":\"shop\",\"pod-template-hash\":\"7d9c5b6f4\"},\"annotations\":{"
    "\"prometheus.io/scrape\":\"true\"}},\"spec\":{\"volumes\":[{\"name\":\"config\",\"configMap\":"
    "{\"name\":\"orders\"}}],\"containers\":[{\"name\":\"server\",\"image\":"
    "\"registry.example/shop/orders:1.42.0\",\"args\":[\"--listen=0.0.0.0:8080\"],\"ports\":[{"
    "\"name\":\"http\",\"containerPort\":8080}],\"env\":[{\"name\":\"DATABASE_HOST\",\"value\":"
    "\"orders-db.shop.svc\"},{\"name\":\"POD_IP\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":"
    "\"status.podIP\"}}}],\"resources\":{\"limits\":{\"cpu\":\"2\",\"memory\":\"1Gi\"},"
    "\"requests\":{\"cpu\":\"250m\",\"memory\":\"512Mi\"}},\"volumeMounts\":[{\"name\":\"config\","
    "\"mountPath\":\"/etc/orders\"}],\"livenessProbe\":{\"httpGet\":{\"path\":\"/livez\",\"port\":"
    "8080}}}],\"nodeName\":\"node-17\"}}";

static struct arena arena;
static struct fetcher *fetcher;
static struct str base;
static struct api *api;

/* ---- Pods ---- */

static size_t ask(const char *method, struct str body, const char *accept)
{
    const struct http_header headers[] = { { STR("Content-Type"), STR("application/json") },
                                           { STR("Accept"), str_of(accept) },
                                           { STR("Accept-Encoding"), STR("identity") } };
    return plain_server_ask(fetcher, (struct fetch_request){ .method = str_of(method),
                                                             .url = base,
                                                             .headers = headers,
                                                             .n_headers = ARRAY_LEN(headers),
                                                             .body = body });
}

/* The first one with a name of its own. */
static struct str make_pod(void *arg, unsigned i, struct buf *out)
{
    struct value *pod = arg, *meta = value_ensure(&arena, pod, STR("metadata"));
    struct str name = arena_printf(&arena, "orders-%05u", i);
    value_put(&arena, meta, STR("name"), value_string(name));
    value_put(&arena, meta, STR("uid"), value_string(meta_new_uid(&arena)));
    stored_write(out, kind_stored_named(STR(""), STR("pods")), pod);
    return name;
}

/* One goes the way of all pods; the others are copies of it. */
static void fill(void)
{
    const struct kind_resource *pods = kind_stored_named(STR(""), STR("pods"));
    struct err err = ERR_INIT(&arena);
    struct store_snap *snap;
    struct store_entry e;
    struct value pod;
    (void)ask("POST", str_of(pod_text), "application/json");
    measure_must(store_snap_begin(api->store, 0, &snap, &err) == 0 &&
                     store_snap_get(snap, stored_key(&arena, pods, STR("default"), STR("orders")),
                                    &e, &err) == 1 &&
                     stored_read(&arena, pods->type, &e, &pod, &err) == 0,
                 "reading the first pod");
    store_snap_end(snap);
    plain_server_fill(&arena, pods, 1, PODS, make_pod, &pod);
}

/* ---- Measuring ---- */

struct cost {
    double cpu, wall; /* seconds */
    size_t bytes;
};

static struct cost list_once(const char *accept)
{
    double before = measure_others_s();
    int64_t start = clock_mono_ns(&clock_system);
    struct cost cost = { .bytes = ask("GET", STR(""), accept) };
    cost.wall = (double)(clock_mono_ns(&clock_system) - start) / 1e9;
    cost.cpu = measure_others_s() - before;
    return cost;
}

int main(void)
{
    static const char *const accepts[] = { "application/json",
                                           "application/vnd.kubernetes.protobuf",
                                           "application/cbor", "application/yaml" };
    enum { WAYS = ARRAY_LEN(accepts) };
    struct cost best[WAYS];
    arena_init(&arena);
    struct str url;
    api = plain_server_start(&arena, 1, &url);
    base = arena_printf(&arena, STR_FMT "/api/v1/namespaces/default/pods", STR_ARG(url));
    fetcher = fetcher_new(&(struct fetcher_options){ 0 });
    fill();
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < WAYS; i++) {
            struct cost cost = list_once(accepts[i]);
            if (round == 0 || cost.cpu < best[i].cpu)
                best[i].cpu = cost.cpu;
            if (round == 0 || cost.wall < best[i].wall)
                best[i].wall = cost.wall;
            best[i].bytes = cost.bytes;
        }
    printf("LIST of %d pods\n", PODS);
    for (size_t i = 0; i < WAYS; i++)
        printf("  %-36s %5.1f MB  %6.1f ms of processor  %4.2f x  %6.1f ms  %8.0f lists/min\n",
               accepts[i], (double)best[i].bytes / 1e6, best[i].cpu * 1e3,
               best[0].cpu / best[i].cpu, best[i].wall * 1e3, 60 / best[i].wall);
    printf(
        "  (protobuf is wanted at no less than a third of the rate of JSON over TLS and HTTP/2,\n"
        "   where JSON costs twice as much; load raw --accept measures that)\n");
    fetcher_free(fetcher);
    return 0;
}
