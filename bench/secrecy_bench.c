/* secrecy_bench - what encryption at rest costs reads: ConfigMaps, which are not encrypted, without
 * and with a configuration, and Secrets by each way of encrypting. Over HTTP without TLS, a store
 * in memory. Processor time is that of the process without the thread that asks; the best of a few
 * rounds counts, and rounds of all ways alternate. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "measure.h"
#include "net/outgoing/fetch.h"
#include "plain_server.h"
#include "server/object/stored.h"
#include "server/secrecy/secrecy.h"

enum { OBJECTS = 5000, GETS = 1000, ROUNDS = 9, TEXT_BYTES = 1000 };

static struct arena arena;
static struct fetcher *fetcher;
static struct str base;
static struct api *api;

static void get(struct str path)
{
    static const struct http_header header = { STR("Accept-Encoding"), STR("identity") };
    struct arena a;
    arena_init(&a);
    size_t n = plain_server_ask(
        fetcher, (struct fetch_request){
                     .method = STR("GET"),
                     .url = arena_printf(&a, STR_FMT "/api/v1/namespaces/default/" STR_FMT,
                                         STR_ARG(base), STR_ARG(path)),
                     .headers = &header,
                     .n_headers = 1,
                 });
    measure_must(n > TEXT_BYTES, "a request");
    arena_done(&a);
}

/* ---- Objects ---- */

static struct str make_object(void *arg, unsigned i, struct buf *out)
{
    char text[TEXT_BYTES + 1];
    memset(text, 'A', TEXT_BYTES);
    struct str name = arena_printf(&arena, "object-%05u", i);
    struct value obj = value_object(), meta = value_object(), data = value_object();
    value_put_new(&arena, &meta, STR("name"), value_string(name));
    value_put_new(&arena, &meta, STR("namespace"), value_string(STR("default")));
    value_put_new(&arena, &meta, STR("uid"), value_string(STR("5c1e")));
    value_put_new(&arena, &meta, STR("creationTimestamp"),
                  value_string(STR("2026-01-01T00:00:00Z")));
    value_put_new(&arena, &data, STR("k"), value_string((struct str){ text, TEXT_BYTES }));
    value_put_new(&arena, &obj, STR("metadata"), meta);
    value_put_new(&arena, &obj, STR("data"), data);
    stored_write(out, arg, &obj);
    return name;
}

/* All of a resource, sealed as the codec does it now. */
static void fill(const char *plural)
{
    const struct kind_resource *r = kind_stored_named(STR(""), str_of(plural));
    plain_server_fill(&arena, r, 0, OBJECTS, make_object, (void *)(uintptr_t)r);
}

/* ---- Ways ---- */

static struct way {
    const char *name, *plural, *provider; /* without one there is no codec */
    struct secrecy *secrecy;
    double list_ms, get_us;
} ways[] = {
    { "ConfigMaps, nothing is encrypted", "configmaps", NULL, NULL, 0, 0 },
    { "ConfigMaps, Secrets are encrypted", "configmaps", "aesgcm", NULL, 0, 0 },
    { "Secrets, as they are", "secrets", NULL, NULL, 0, 0 },
    { "Secrets, aesgcm", "secrets", "aesgcm", NULL, 0, 0 },
    { "Secrets, aescbc", "secrets", "aescbc", NULL, 0, 0 },
    { "Secrets, secretbox", "secrets", "secretbox", NULL, 0, 0 },
};

static void make_secrecy(struct way *w)
{
    char path[] = "/tmp/secrecy-bench-XXXXXX";
    autoclose int fd = mkstemp(path);
    struct err err = ERR_INIT(&arena);
    struct str text = arena_printf(
        &arena,
        "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n"
        "- {resources: [secrets], providers: [{%s: {keys: [{name: a, secret: "
        "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=}]}}]}\n",
        w->provider);
    measure_must(fd >= 0 && file_write_all(fd, text, &err) == 0 &&
                     secrecy_new(&(struct secrecy_options){ .file = path }, &w->secrecy, &err) == 0,
                 "configuring");
    (void)unlink(path);
}

/* Nobody asks while the codec changes. */
static void use(const struct way *w)
{
    store_set_codec(api->store, w->secrecy ? secrecy_codec(w->secrecy) : NULL);
    if (strcmp(w->plural, "secrets") == 0)
        fill("secrets");
}

static void keep_best(double *best, double now)
{
    if (*best == 0 || now < *best)
        *best = now;
}

static void measure(struct way *w)
{
    use(w);
    struct str list = str_of(w->plural);
    get(list); /* so that everything is in the caches, in all ways */
    double before = measure_others_s();
    get(list);
    keep_best(&w->list_ms, (measure_others_s() - before) * 1e3);
    struct str one = arena_printf(&arena, "%s/object-00042", w->plural);
    before = measure_others_s();
    for (int i = 0; i < GETS; i++)
        get(one);
    keep_best(&w->get_us, (measure_others_s() - before) * 1e6 / GETS);
}

int main(void)
{
    arena_init(&arena);
    api = plain_server_start(&arena, 1, &base);
    fetcher = fetcher_new(&(struct fetcher_options){ 0 });
    fill("configmaps");
    for (size_t i = 0; i < ARRAY_LEN(ways); i++)
        if (ways[i].provider)
            make_secrecy(&ways[i]);
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < ARRAY_LEN(ways); i++)
            measure(&ways[i]);
    printf("Reads of objects of 1 KB, processor time\n");
    for (size_t i = 0; i < ARRAY_LEN(ways); i++)
        printf("  %-36s LIST of %d %6.2f ms (%4.2f us each)   GET %5.1f us\n", ways[i].name,
               OBJECTS, ways[i].list_ms, ways[i].list_ms * 1e3 / OBJECTS, ways[i].get_us);
    fetcher_free(fetcher);
    return 0;
}
