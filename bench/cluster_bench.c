/* cluster_bench.c - makes work for controllers, scheduler and nodes, and waits until it is done. Of
 * any API server that a kubeconfig leads to.
 *
 *     cluster_bench [flags of a client] rollout NS DEPLOYMENTS REPLICAS
 *     cluster_bench [flags of a client] fill NS PODS        pods that nobody has bound yet
 *     cluster_bench [flags of a client] fill NS PODS NODE   pods of that node
 *     cluster_bench [flags of a client] await NS PODS       until so many are bound
 *     cluster_bench [flags of a client] delete NS           with all that is in it
 *     cluster_bench [flags of a client] nodes COUNT         until so many take pods
 *     cluster_bench [flags of a client] requests            that the server has answered so far
 *
 * Each prints one line of figures: seconds, but for the last. The scripts beside it run them. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sampan/config.h>
#include <sampan/informer.h>

enum { THREADS = 16, LOOK_MS = 2 };

static struct spn_client *client;

static double wall_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int give_up(const char *what, const struct spn_err *err)
{
    fprintf(stderr, "cluster_bench: %s: %s\n", what, err->message);
    return 1;
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

/* ---- Many objects at once ---- */

struct making {
    const char *plural, *group, *ns, *form; /* JSON, with an @ where the number is */
    int n;
    _Atomic int next, failed;
};

static struct spn_text numbered(struct spn_arena *a, const char *form, int i)
{
    struct spn_text text = SPN_TEXT("");
    for (const char *at; (at = strchr(form, '@')); form = at + 1)
        text = spn_arena_printf(a, SPN_FMT "%.*s%d", SPN_ARG(text), (int)(at - form), form, i);
    return spn_arena_printf(a, SPN_FMT "%s", SPN_ARG(text), form);
}

static void *make_some(void *arg)
{
    struct making *m = arg;
    struct spn_arena *a = spn_arena_new();
    for (int i; (i = atomic_fetch_add(&m->next, 1)) < m->n;) {
        struct spn_err err = { 0 };
        struct spn_value *obj;
        struct spn_target at = { .group = spn_text_of(m->group),
                                 .version = SPN_TEXT("v1"),
                                 .plural = spn_text_of(m->plural),
                                 .ns = spn_text_of(m->ns) };
        if (spn_value_read_json(a, numbered(a, m->form, i), &obj, &err) < 0 ||
            spn_client_create(client, &at, obj, NULL, a, NULL, &err) < 0)
            if (atomic_fetch_add(&m->failed, 1) == 0)
                (void)give_up("create", &err);
        spn_arena_reset(a);
    }
    spn_arena_free(a);
    return NULL;
}

/* How many could not be made. */
static int make_all(struct making *m)
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        (void)pthread_create(&threads[i], NULL, make_some, m);
    for (size_t i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    return m->failed;
}

static int make_namespace(const char *ns)
{
    char format[256];
    (void)snprintf(format, sizeof(format),
                   "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"%s\"}}",
                   ns);
    struct making m = { .plural = "namespaces", .group = "", .ns = "", .form = format, .n = 1 };
    return make_all(&m);
}

/* ---- Waiting ---- */

/* Follows what matches the selector; nothing but names is sent. */
static struct spn_informer *follow(const char *plural, const char *ns, const char *fields)
{
    struct spn_err err = { 0 };
    struct spn_informer *i = spn_informer_new(
        client, &(struct spn_informer_options){ .what = { .version = SPN_TEXT("v1"),
                                                          .plural = spn_text_of(plural),
                                                          .ns = spn_text_of(ns) },
                                                .fields = fields,
                                                .metadata_only = true });
    if (spn_informer_start(i, &err) < 0 || !spn_informer_wait(i, NULL, -1))
        exit(give_up("follow", &err));
    return i;
}

static void until_count(struct spn_informer *i, size_t n)
{
    while (spn_cache_count(spn_informer_cache(i)) < n)
        pause_ms(LOOK_MS);
}

static int rollout(const char *ns, int deployments, int replicas)
{
    static const char format[] =
        "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"d-@\"},"
        "\"spec\":{\"replicas\":%d,\"selector\":{\"matchLabels\":{\"app\":\"d-@\"}},\"template\":"
        "{\"metadata\":{\"labels\":{\"app\":\"d-@\"}},\"spec\":{\"containers\":[{\"name\":\"c\","
        "\"image\":\"i\"}]}}}}";
    char text[1024];
    (void)snprintf(text, sizeof(text), format, replicas);
    struct making m = {
        .plural = "deployments", .group = "apps", .ns = ns, .form = text, .n = deployments
    };
    if (make_namespace(ns))
        return 1;
    struct spn_informer *running = follow("pods", ns, "status.phase=Running");
    double began = wall_s();
    if (make_all(&m))
        return 1;
    double made = wall_s();
    until_count(running, (size_t)deployments * (size_t)replicas);
    printf("%.2f %.2f\n", made - began, wall_s() - began);
    spn_informer_free(running);
    return 0;
}

static int fill(const char *ns, int pods, const char *node)
{
    static const char format[] =
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p-@\"},\"spec\":{"
        "\"automountServiceAccountToken\":false,%s%s%s\"containers\":[{\"name\":\"c\",\"image\":"
        "\"i\","
        "\"resources\":{\"requests\":{\"cpu\":\"10m\",\"memory\":\"10Mi\"}}}]}}";
    char text[1024];
    (void)snprintf(text, sizeof(text), format, node ? "\"nodeName\":\"" : "", node ? node : "",
                   node ? "\"," : "");
    struct making m = { .plural = "pods", .group = "", .ns = ns, .form = text, .n = pods };
    if (make_namespace(ns))
        return 1;
    double began = wall_s();
    if (make_all(&m))
        return 1;
    printf("%.2f\n", wall_s() - began);
    return 0;
}

static int await_bound(const char *ns, int pods)
{
    struct spn_informer *bound = follow("pods", ns, "spec.nodeName!=");
    until_count(bound, 1);
    double first = wall_s();
    until_count(bound, (size_t)pods);
    printf("%.2f\n", wall_s() - first);
    spn_informer_free(bound);
    return 0;
}

/* Nodes that take pods: the taints of a new one are gone. */
static int count_nodes(struct spn_arena *a)
{
    static const struct spn_target nodes = SPN_AT("", "v1", "nodes", "", "");
    struct spn_err err = { 0 };
    struct spn_value *list;
    int n = 0;
    if (spn_client_list(client, &nodes, NULL, NULL, a, &list, &err) < 0)
        exit(give_up("list nodes", &err));
    const struct spn_value *items = spn_value_get(list, "items");
    for (size_t i = 0; i < spn_value_count(items); i++)
        n += !spn_value_count(spn_value_dig(spn_value_at(items, i), "spec", "taints"));
    return n;
}

static int await_nodes(int n)
{
    struct spn_arena *a = spn_arena_new();
    while (count_nodes(a) < n) {
        spn_arena_reset(a);
        pause_ms(200);
    }
    spn_arena_free(a);
    return 0;
}

static int delete_namespace(const char *ns)
{
    struct spn_err err = { 0 };
    struct spn_arena *a = spn_arena_new();
    const struct spn_target at = { .version = SPN_TEXT("v1"),
                                   .plural = SPN_TEXT("namespaces"),
                                   .name = spn_text_of(ns) };
    char fields[256];
    (void)snprintf(fields, sizeof(fields), "metadata.name=%s", ns);
    struct spn_informer *there = follow("namespaces", "", fields);
    double began = wall_s();
    if (spn_client_delete(client, &at, NULL, NULL, a, NULL, &err) < 0)
        return give_up("delete", &err);
    while (spn_cache_count(spn_informer_cache(there)) > 0)
        pause_ms(LOOK_MS);
    printf("%.2f\n", wall_s() - began);
    spn_informer_free(there);
    spn_arena_free(a);
    return 0;
}

/* The sum of apiserver_request_total. */
static int requests(void)
{
    struct spn_err err = { 0 };
    struct spn_arena *a = spn_arena_new();
    struct spn_text text;
    double sum = 0;
    if (spn_client_raw(client, "GET", SPN_TEXT("/metrics"), SPN_TEXT(""), SPN_TEXT(""), NULL, a,
                       &text, &err) < 0)
        return give_up("metrics", &err);
    const char *all = spn_arena_text(a, text).p;
    for (const char *p = all; (p = strstr(p, "\napiserver_request_total")); p++) {
        const char *end = strchr(p + 1, '\n'), *value = strstr(p, "} ");
        if (value && end && value < end)
            sum += strtod(value + 2, NULL);
    }
    printf("%.0f\n", sum);
    spn_arena_free(a);
    return 0;
}

static int run(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "rollout") == 0 && argc == 5)
        return rollout(argv[2], atoi(argv[3]), atoi(argv[4]));
    if (strcmp(what, "fill") == 0 && (argc == 4 || argc == 5))
        return fill(argv[2], atoi(argv[3]), argc == 5 ? argv[4] : NULL);
    if (strcmp(what, "await") == 0 && argc == 4)
        return await_bound(argv[2], atoi(argv[3]));
    if (strcmp(what, "delete") == 0 && argc == 3)
        return delete_namespace(argv[2]);
    if (strcmp(what, "nodes") == 0 && argc == 3)
        return await_nodes(atoi(argv[2]));
    if (strcmp(what, "requests") == 0 && argc == 2)
        return requests();
    fprintf(stderr, "cluster_bench: see the top of cluster_bench.c\n");
    return 2;
}

int main(int argc, char **argv)
{
    struct spn_arena *a = spn_arena_new();
    struct spn_config_options opt = { 0 };
    struct spn_config cfg;
    struct spn_err err = { 0 };
    if (spn_config_flags(a, &argc, argv, &opt, &err) < 0 ||
        spn_config_load(&opt, a, &cfg, &err) < 0 || spn_client_new(&cfg, &client, &err) < 0)
        return give_up("configuration", &err);
    int status = run(argc, argv);
    spn_client_free(client);
    spn_arena_free(a);
    return status;
}
