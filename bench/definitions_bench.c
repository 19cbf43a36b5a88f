/* definitions_bench [--kubeconfig FILE] [--keep] [N] - what N CustomResourceDefinitions cost a
 * server: how long each takes from its POST until its collection answers, how much memory each
 * takes, before and after an object of it was tried, and what discovery and OpenAPI cost then.
 *
 * Definitions are those of the manifests in the vectors, each several times under groups of its
 * own, or generated ones of 40 KB where there are none. Beside each figure stands the one we want.
 * All of them are deleted at the end. Fails on answers that are not as they should be, never on a
 * time. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vectors_test.h"
#include "base/yaml.h"
#include "bench/load_process.h"
#include "bench/load_stats.h"
#include "bench/load_target.h"

#define DEFINITIONS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

enum { USUAL_COUNT = 1000, GENERATED_FIELDS = 400, SERVE_TRIES = 100000 };

struct bench {
    struct arena arena;
    struct load_target target;
    struct load_pool pool;
    struct value *sources;
    size_t n_sources, n;
    bool is_real, keep;
    uint64_t n_bytes; /* of all that was sent */
};

/* ---- Definitions ---- */

static bool is_definition(const struct value *v)
{
    return str_eq(value_str(value_get(v, STR("kind"))), STR("CustomResourceDefinition")) &&
           str_eq(value_str(value_get(v, STR("apiVersion"))), STR("apiextensions.k8s.io/v1"));
}

static void add_source(struct bench *b, const struct value *v)
{
    b->sources = arena_grow(&b->arena, b->sources, b->n_sources * sizeof(*b->sources),
                            (b->n_sources + 1) * sizeof(*b->sources), alignof(struct value));
    b->sources[b->n_sources++] = value_clone(&b->arena, v);
}

static void read_sources(struct bench *b, struct str file)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct str text = vectors_read(&a, vectors_path(&a, "manifests", str_cstr(&a, file)));
    struct yaml_stream *s = yaml_stream_new(&a, text, NULL);
    struct value doc;
    while (yaml_stream_next(s, &doc, &err) == 1)
        if (is_definition(&doc))
            add_source(b, &doc);
    yaml_stream_free(s);
    arena_done(&a);
}

static void read_manifests(struct bench *b)
{
    struct arena *a = &b->arena;
    struct map seen = { 0 };
    struct str index = vectors_read(a, vectors_path(a, "manifests", "index.jsonl"));
    while (index.n) {
        struct value row;
        struct str line = str_cut(&index, '\n');
        if (!line.n || json_read(a, line, NULL, &row, NULL) < 0)
            continue;
        struct str file = value_str(value_get(&row, STR("file")));
        if (str_eq(value_str(value_get(&row, STR("class"))), STR("crd")) &&
            !map_set(&seen, file, b))
            read_sources(b, file);
    }
    map_done(&seen);
    b->is_real = true;
}

static void generate(struct bench *b)
{
    struct value crd;
    struct err err = ERR_INIT(&b->arena);
    autobuf text = { 0 };
    buf_printf(&text, "{spec: {scope: Namespaced, names: {plural: gauges, kind: Gauge}, versions: "
                      "[{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: "
                      "object, properties: {spec: {type: object, properties: {");
    for (unsigned i = 0; i < GENERATED_FIELDS; i++)
        buf_printf(&text,
                   "%sfield%u: {type: %s, description: What the field of number %u is good for.}",
                   i ? ", " : "", i, i % 2 ? "string" : "integer", i);
    buf_printf(&text, "}}}}}}]}}");
    if (yaml_read(&b->arena, buf_str(&text), NULL, &crd, &err) < 0)
        abort();
    value_put(&b->arena, &crd, STR("apiVersion"), value_string(STR("apiextensions.k8s.io/v1")));
    value_put(&b->arena, &crd, STR("kind"), value_string(STR("CustomResourceDefinition")));
    add_source(b, &crd);
}

static struct str plural_of(const struct bench *b, size_t i)
{
    return value_str(value_dig(&b->sources[i % b->n_sources], "spec", "names", "plural"));
}

static struct str name_of(struct arena *a, const struct bench *b, size_t i)
{
    return arena_printf(a, STR_FMT ".g%zu.bench.example.com", STR_ARG(plural_of(b, i)), i);
}

/* Under a group of its own, and without a webhook, which nobody would answer. */
static struct value definition(struct arena *a, const struct bench *b, size_t i)
{
    struct value crd = value_borrow(&b->sources[i % b->n_sources]), meta = value_object();
    struct value *spec = value_edit(a, &crd, STR("spec"));
    value_put_new(a, &meta, STR("name"), value_string(name_of(a, b, i)));
    value_put(a, &crd, STR("metadata"), meta);
    value_drop(a, &crd, STR("status"));
    value_drop(a, spec, STR("conversion"));
    value_put(a, spec, STR("group"), value_string(arena_printf(a, "g%zu.bench.example.com", i)));
    return crd;
}

static struct str version_of(const struct bench *b, size_t i)
{
    value_each_item (it, value_dig(&b->sources[i % b->n_sources], "spec", "versions")) {
        const struct value *storage = value_get(it, STR("storage"));
        if (storage && storage->b)
            return value_str(value_get(it, STR("name")));
    }
    return STR("");
}

static struct str collection(struct arena *a, const struct bench *b, size_t i, bool in_default)
{
    struct str scope = value_str(value_dig(&b->sources[i % b->n_sources], "spec", "scope"));
    bool namespaced = str_eq(scope, STR("Namespaced")) && in_default;
    return arena_printf(a, "/apis/g%zu.bench.example.com/" STR_FMT "%s/" STR_FMT, i,
                        STR_ARG(version_of(b, i)), namespaced ? "/namespaces/default" : "",
                        STR_ARG(plural_of(b, i)));
}

static struct str object(struct arena *a, const struct bench *b, size_t i)
{
    const struct value *names = value_dig(&b->sources[i % b->n_sources], "spec", "names");
    return arena_printf(a,
                        "{\"apiVersion\":\"g%zu.bench.example.com/" STR_FMT "\",\"kind\":\"" STR_FMT
                        "\",\"metadata\":{\"name\":\"x\"},\"spec\":{}}",
                        i, STR_ARG(version_of(b, i)),
                        STR_ARG(value_str(value_get(names, STR("kind")))));
}

/* ---- Requests, all on one connection ---- */

struct ask {
    struct load_request request;
    struct load_meter *meter; /* may be NULL */
    bool done;
};

static void on_done(struct load_request *r)
{
    ((struct ask *)r->owner)->done = true;
}

static int ask(struct bench *b, const char *method, struct str path, struct str body,
               struct load_meter *meter, uint64_t *ret_bytes)
{
    struct ask x = { .meter = meter };
    x.request = (struct load_request){
        .method = str_of(method), .path = path, .body = body, .on_done = on_done, .owner = &x
    };
    int64_t give_up = clock_mono_ns(&clock_system) + LOAD_CALL_MS * NS_PER_MS;
    if (!load_conn_submit(b->pool.conns[0], &x.request))
        return 0;
    while (!x.done && clock_mono_ns(&clock_system) < give_up) {
        load_loop_turn(&b->target.loop, LOAD_SAMPLE_MS);
        if (meter)
            load_meter_sample(meter, clock_mono_ns(&clock_system));
    }
    if (ret_bytes)
        *ret_bytes = x.request.n_received;
    return x.done ? x.request.status : 0;
}

static void row(const char *what, struct str value, const char *want)
{
    printf("  %-56s %-46.*s %s\n", what, STR_ARG(value), want);
}

static double ms(int64_t ns)
{
    return (double)ns / NS_PER_MS;
}

/* ---- What is measured ---- */

/* Until it is served: others accept a definition first and come to serve it later. */
static bool define(struct bench *b, size_t i, int64_t *ret_ns)
{
    struct arena a;
    arena_init(&a);
    struct value crd = definition(&a, b, i);
    autobuf body = { 0 };
    json_write(&body, &crd);
    b->n_bytes += body.n;
    int64_t begun = clock_mono_ns(&clock_system);
    int status = ask(b, "POST", STR(DEFINITIONS), buf_str(&body), NULL, NULL), served = 0;
    struct str path = collection(&a, b, i, false);
    for (int n = 0; status == 201 && served != 200 && n < SERVE_TRIES; n++)
        served = ask(b, "GET", path, STR(""), NULL, NULL);
    *ret_ns = clock_mono_ns(&clock_system) - begun;
    if (served != 200)
        printf("definition %zu (" STR_FMT "): %d, its collection %d\n", i, STR_ARG(plural_of(b, i)),
               status, served);
    arena_done(&a);
    return served == 200;
}

static void tell_memory(struct bench *b, const char *what, const struct load_meter *m,
                        const char *want)
{
    if (!m->pid)
        return;
    double n = (double)b->n;
    row(what,
        arena_printf(&b->arena, "%.1f KB RSS, %.1f KB own",
                     (double)(m->after.rss_kb - m->before.rss_kb) / n,
                     (double)(m->after.own_kb - m->before.own_kb) / n),
        want);
}

static bool measure_definitions(struct bench *b, struct load_meter *m)
{
    autofree struct load_histogram *h = mem_new(struct load_histogram);
    int64_t total = 0;
    for (size_t i = 0; i < b->n; i++) {
        int64_t ns;
        if (!define(b, i, &ns))
            return false;
        load_histogram_add(h, ns);
        total += ns;
    }
    printf("definitions: %zu of %zu %s ones, %.1f KB each\n", b->n, b->n_sources,
           b->is_real ? "real" : "generated", (double)b->n_bytes / 1024 / (double)b->n);
    row("until served",
        arena_printf(&b->arena, "mean %.2f ms, p50 %.2f, p99 %.2f, max %.2f",
                     ms(total) / (double)b->n, ms(load_histogram_at(h, 0.5)),
                     ms(load_histogram_at(h, 0.99)), ms(h->max_ns)),
        "< 10 ms each");
    load_meter_end(m);
    tell_memory(b, "memory of each", m, "< 100 KB");
    return true;
}

/* An empty object of each: its schema is needed for that. Whether it is accepted does not matter.
 */
static bool measure_objects(struct bench *b, struct load_meter *m)
{
    int64_t total = 0;
    for (size_t i = 0; i < b->n; i++) {
        struct arena a;
        arena_init(&a);
        struct str path =
            arena_printf(&a, STR_FMT "?dryRun=All", STR_ARG(collection(&a, b, i, true)));
        int64_t begun = clock_mono_ns(&clock_system);
        int status = ask(b, "POST", path, object(&a, b, i), NULL, NULL);
        total += clock_mono_ns(&clock_system) - begun;
        arena_done(&a);
        if (status != 201 && status != 422) {
            printf("object of definition %zu: %d\n", i, status);
            return false;
        }
    }
    load_meter_end(m);
    row("first object of each, tried",
        arena_printf(&b->arena, "mean %.2f ms", ms(total) / (double)b->n), "");
    tell_memory(b, "memory of each, schemas compiled", m, "");
    return true;
}

static bool measure_document(struct bench *b, const char *path, const char *want)
{
    struct load_meter m;
    uint64_t bytes = 0;
    int64_t best = INT64_MAX;
    load_meter_begin(&m, b->target.pid);
    for (int i = 0; i < 3; i++) {
        int64_t begun = clock_mono_ns(&clock_system);
        int status = ask(b, "GET", str_of(path), STR(""), &m, &bytes);
        int64_t took = clock_mono_ns(&clock_system) - begun;
        best = took < best ? took : best;
        if (status != 200) {
            printf("%s: %d\n", path, status);
            return false;
        }
    }
    load_meter_end(&m);
    row(path,
        arena_printf(&b->arena, "%.1f ms, %.1f MB; grows by %.1f MB, own %.1f", ms(best),
                     (double)bytes / 1e6, (double)(m.peak.rss_kb - m.before.rss_kb) / 1024,
                     (double)(m.peak.own_kb - m.before.own_kb) / 1024),
        want);
    return true;
}

static bool measure_documents(struct bench *b)
{
    static const struct {
        const char *path, *want;
    } documents[] = {
        { "/apis", "" },
        { "/apis/g0.bench.example.com", "" },
        { "/openapi/v3", "" },
        { DEFINITIONS, "" },
        { "/openapi/v2", "kube-apiserver: 1.25 GB for 183" },
    };
    bool good = true;
    for (size_t i = 0; good && i < ARRAY_LEN(documents); i++)
        good = measure_document(b, documents[i].path, documents[i].want);
    return good;
}

static bool forget_all(struct bench *b)
{
    int64_t begun = clock_mono_ns(&clock_system);
    bool good = true;
    for (size_t i = 0; !b->keep && i < b->n; i++) {
        struct arena a;
        arena_init(&a);
        struct str path = arena_printf(&a, DEFINITIONS "/" STR_FMT, STR_ARG(name_of(&a, b, i)));
        int status = ask(b, "DELETE", path, STR(""), NULL, NULL);
        good = good && (status == 200 || status == 202 || status == 404);
        arena_done(&a);
    }
    if (!b->keep)
        row("deleted",
            arena_printf(&b->arena, "mean %.2f ms",
                         ms(clock_mono_ns(&clock_system) - begun) / (double)b->n),
            "");
    return good;
}

static bool run(struct bench *b)
{
    struct load_meter m;
    load_meter_begin(&m, b->target.pid);
    bool good = measure_definitions(b, &m) && measure_objects(b, &m) && measure_documents(b);
    return forget_all(b) && good;
}

static bool read_arguments(struct bench *b, int argc, char **argv, const char **ret_where)
{
    for (int i = 1; i < argc; i++) {
        uint64_t n;
        if (!strcmp(argv[i], "--kubeconfig") && i + 1 < argc)
            *ret_where = argv[++i];
        else if (!strcmp(argv[i], "--keep"))
            b->keep = true;
        else if (str_to_u64(str_of(argv[i]), &n) && n > 0 && n <= 100000)
            b->n = n;
        else
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct bench b = { .n = USUAL_COUNT };
    const char *where = NULL;
    if (!read_arguments(&b, argc, argv, &where)) {
        fprintf(stderr, "usage: definitions_bench [--kubeconfig FILE] [--keep] [N]\n");
        return 2;
    }
    arena_init(&b.arena);
    struct err err = ERR_INIT(&b.arena);
    if (access(vectors_path(&b.arena, "manifests", "index.jsonl"), R_OK) == 0)
        read_manifests(&b);
    if (!b.n_sources)
        generate(&b);
    int r = load_target_init(&b.target, &b.arena, "ours", where, false, &err);
    if (r == 0)
        r = load_pool_open(&b.pool, &b.target, 1, &err);
    bool good = r == 0 && run(&b);
    if (r < 0)
        fprintf(stderr, "definitions_bench: " STR_FMT "\n", STR_ARG(err.msg));
    load_pool_close(&b.pool);
    load_target_done(&b.target);
    arena_done(&b.arena);
    return good ? 0 : 1;
}
