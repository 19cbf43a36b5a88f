/* create_bench - what creating a Pod of 4 KB costs a server on one core, without sockets and disk:
 * read the body, fill in defaults, note who manages which field, admit, settle, validate, and write
 * it as it is stored and as it is answered. Each part alone too, so that a slow one is seen; and
 * all of it without the managers of fields, whose notes are as long as the Pod.
 *
 * The store is in memory and the run is a dry one: what is left out is the commit. Processor time
 * counts, in the best of many rounds, so that a busy machine disturbs little. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/json.h"
#include "measure.h"
#include "server/bootstrap.h"
#include "server/object/encode.h"
#include "api/defaults/defaults.h"
#include "server/registry/hub.h"
#include "server/registry/managers.h"
#include "server/registry/registry.h"
#include "server/registry/registry_internal.h"
#include "server/object/stored.h"

enum { CONTAINERS = 3 };

static struct api api;
static struct arena arena, kept;
static struct http_request http;
static struct value body, owned; /* after each step, in `kept` */

static void must(bool good, const char *what, const struct err *err)
{
    if (good)
        return;
    fprintf(stderr, "create_bench: %s failed: " STR_FMT "\n", what, STR_ARG(err->msg));
    exit(1);
}

/* As somebody's controller would write it, without what a server fills in. */
static void write_pod(struct buf *out)
{
    buf_str_add(out,
                STR("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"orders\","
                    "\"namespace\":\"default\",\"labels\":{\"app\":\"orders\",\"team\":"
                    "\"shop\",\"pod-template-hash\":\"7d9c5b6f4\"},\"annotations\":{"
                    "\"prometheus.io/scrape\":\"true\",\"prometheus.io/port\":\"9090\"},"
                    "\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\","
                    "\"name\":\"orders-7d9c5b6f4\",\"uid\":"
                    "\"c1a7f2de-4d55-46ff-8b4b-5a3f3f1e0d11\",\"controller\":true}]},"
                    "\"spec\":{\"volumes\":[{\"name\":\"config\",\"configMap\":{\"name\":"
                    "\"orders\"}},{\"name\":\"cache\",\"emptyDir\":{}}],\"containers\":["));
    for (int i = 0; i < CONTAINERS; i++)
        buf_printf(out,
                   "%s{\"name\":\"c%d\",\"image\":\"registry.example/shop/orders:1.42.%d\","
                   "\"args\":[\"--listen=0.0.0.0:8080\",\"--log-level=info\",\"--cache-dir=/var/"
                   "cache\"],\"ports\":[{\"name\":\"http%d\",\"containerPort\":808%d},{\"name\":"
                   "\"metrics%d\",\"containerPort\":909%d}],\"env\":[{\"name\":\"DATABASE_HOST\","
                   "\"value\":\"orders-db.shop.svc\"},{\"name\":\"DATABASE_USER\",\"value\":"
                   "\"orders\"},{\"name\":\"DATABASE_PASSWORD\",\"valueFrom\":{\"secretKeyRef\":{"
                   "\"name\":\"orders-db\",\"key\":\"password\"}}},{\"name\":\"POD_IP\","
                   "\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"status.podIP\"}}}],"
                   "\"resources\":{\"limits\":{\"cpu\":\"2\",\"memory\":\"1Gi\"},\"requests\":{"
                   "\"cpu\":\"250m\",\"memory\":\"512Mi\"}},\"volumeMounts\":[{\"name\":\"config\","
                   "\"mountPath\":\"/etc/orders\",\"readOnly\":true},{\"name\":\"cache\","
                   "\"mountPath\":\"/var/cache\"}],\"livenessProbe\":{\"httpGet\":{\"path\":"
                   "\"/livez\",\"port\":8080},\"initialDelaySeconds\":10},\"readinessProbe\":{"
                   "\"httpGet\":{\"path\":\"/readyz\",\"port\":8080},\"periodSeconds\":5},"
                   "\"securityContext\":{\"runAsUser\":1000,\"allowPrivilegeEscalation\":false}}",
                   i ? "," : "", i, i, i, i, i, i);
    buf_str_add(out, STR("],\"serviceAccountName\":\"orders\",\"securityContext\":{\"fsGroup\":"
                         "2000},\"tolerations\":[{\"key\":\"dedicated\",\"operator\":\"Equal\","
                         "\"value\":\"shop\",\"effect\":\"NoSchedule\"}]}}"));
}

static struct call call_in(struct arena *a)
{
    struct call c = { .api = &api, .http = &http, .arena = a, .verb = KIND_CREATE };
    c.req.resource = c.stored = kind_stored_named(STR(""), STR("pods"));
    c.req.ns = STR("default");
    return c;
}

/* ---- The steps ---- */

static void decode(struct call *c, struct value *ret)
{
    struct err err = ERR_INIT(c->arena);
    must(decode_body(c, c->stored->type, DECODE_WARN, ret, &err) == 0, "decode_body", &err);
    defaults_apply(c->arena, c->stored->type, ret);
}

static void own(struct call *c, struct value *obj, struct value *ret)
{
    struct err err = ERR_INIT(c->arena);
    const struct write_options options = { .dry_run = true };
    must(hub_take(c, obj, NULL, ret, &err) == 0, "hub_take", &err);
    must(managers_own(c, managers_request(c, &options, c->stored->type), NULL, obj, ret, &err) == 0,
         "managers_own", &err);
}

static void create(struct call *c, struct value *obj)
{
    struct err err = ERR_INIT(c->arena);
    must(registry_create(c, true, obj, &err) == 0, "registry_create", &err);
}

static void encode(struct call *c, struct value *obj, size_t *ret_n)
{
    struct err err = ERR_INIT(c->arena);
    struct encoder e = { .resource = c->stored, .stored = c->stored };
    autobuf stored = { 0 }, answer = { 0 };
    stored_write(&stored, c->stored, obj);
    must(encode_object(&answer, c->arena, &e, obj, &err) == 0, "encode_object", &err);
    if (ret_n)
        *ret_n = answer.n;
}

/* ---- One of each ---- */

static void begin(struct call *c)
{
    arena_reset(&arena);
    *c = call_in(&arena);
}

static void once_decode(void)
{
    struct call c;
    struct value obj;
    begin(&c);
    decode(&c, &obj);
}

static void once_own(void)
{
    struct call c;
    struct value obj = value_borrow(&body), ret;
    begin(&c);
    own(&c, &obj, &ret);
}

static void once_create(void)
{
    struct call c;
    struct value obj = value_borrow(&owned);
    begin(&c);
    create(&c, &obj);
}

static void once_encode(void)
{
    struct call c;
    struct value obj = value_borrow(&owned);
    begin(&c);
    encode(&c, &obj, NULL);
}

/* Decode, default, validate, encode: without managers of fields, which more than double it. */
static void once_plain(void)
{
    struct call c;
    struct value obj;
    begin(&c);
    decode(&c, &obj);
    create(&c, &obj);
    encode(&c, &obj, NULL);
}

static void once_all(void)
{
    struct call c;
    struct value obj, ret;
    begin(&c);
    decode(&c, &obj);
    own(&c, &obj, &ret);
    create(&c, &ret);
    encode(&c, &ret, NULL);
}

static void start(void)
{
    const struct store_options opt = { .engine = STORE_MEMORY };
    struct err err = ERR_INIT(&kept);
    api.clock = &clock_system;
    must(service_ranges_parse(STR("10.0.0.0/16"), STR("30000-32767"), &api.services, &err) == 0,
         "service_ranges_parse", &err);
    must(store_open(&opt, &api.store, &err) == 0, "store_open", &err);
    must(bootstrap(&api, &err) == 0, "bootstrap", &err);
}

int main(void)
{
    static const struct http_header headers[] = { { STR("content-type"), STR("application/json") },
                                                  { STR("user-agent"), STR("bench/1") } };
    static const struct {
        const char *name;
        void (*once)(void);
    } steps[] = {
        { "decode and default", once_decode },
        { "managed fields", once_own },
        { "admit and validate", once_create },
        { "encode", once_encode },
        { "all of it", once_all },
        { "without managers", once_plain },
    };
    autobuf text = { 0 };
    size_t answer;
    arena_init(&arena);
    arena_init(&kept);
    write_pod(&text);
    http = (struct http_request){ .headers = headers, .n_headers = 2, .body = buf_str(&text) };
    start();
    struct call c = call_in(&kept);
    decode(&c, &body);
    struct value obj = value_share(&body);
    own(&c, &obj, &owned);
    struct value whole = value_share(&owned);
    create(&c, &whole);
    encode(&c, &whole, &answer);
    printf("Pod of %zu bytes, %zu in the answer\n", text.n, answer);
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        printf("  %-18s %6.2f us\n", steps[i].name, measure_us(measure_thread_ns, steps[i].once));
    printf("  wanted: under 60 us without managers\n");
    store_close(api.store);
    arena_done(&arena);
    arena_done(&kept);
    return 0;
}
