/* visit [FLAG]... NAMESPACE - visits a cluster as a program would: finds resources, writes, reads,
 * watches and follows them, on several threads at once, and leaves nothing behind. Flags are
 * those of sampan/config.h, and --protobuf. Prints "visited", or what went wrong. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <sampan/config.h>
#include <sampan/informer.h>
#include <sampan/mapper.h>
#include <sampan/stream.h>

enum { THREADS = 8, READS = 20, WAIT_MS = 60000 };

static struct spn_client *client;
static struct spn_text ns;

static void expect(bool is_so, const char *what)
{
    if (is_so)
        return;
    printf("not so: %s\n", what);
    exit(1);
}

static void must(int r, const char *what, const struct spn_err *err)
{
    if (r >= 0)
        return;
    printf("%s: %s\n", what, err->message);
    exit(1);
}

static struct spn_value *tree(struct spn_arena *a, const char *json)
{
    struct spn_value *v;
    struct spn_err err;
    must(spn_value_read_json(a, spn_text_of(json), &v, &err), "read JSON", &err);
    return v;
}

static struct spn_target config_map(const char *name)
{
    struct spn_target at = SPN_AT("", "v1", "configmaps", "", "");
    at.ns = ns;
    at.name = spn_text_of(name);
    return at;
}

static void *read_often(void *arg)
{
    struct spn_arena *a = spn_arena_new();
    const struct spn_target at = config_map("shared");
    for (int i = 0; i < READS; i++) {
        struct spn_value *v;
        if (spn_client_get(client, &at, NULL, a, &v, NULL) == 0)
            atomic_fetch_add((_Atomic unsigned *)arg, 1);
        spn_arena_reset(a);
    }
    spn_arena_free(a);
    return NULL;
}

static void read_at_once(struct spn_arena *a)
{
    pthread_t threads[THREADS];
    _Atomic unsigned good = 0;
    const struct spn_target at = config_map("shared");
    struct spn_err err;
    must(spn_client_create(client, &at, tree(a, "{\"metadata\":{\"name\":\"shared\"}}"), NULL, a,
                           NULL, &err),
         "create", &err);
    for (int i = 0; i < THREADS; i++)
        expect(pthread_create(&threads[i], NULL, read_often, &good) == 0, "a thread");
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    expect(atomic_load(&good) == THREADS * READS, "all reads went well");
}

static void write_and_watch(struct spn_arena *a)
{
    const struct spn_target at = config_map("one"), all = config_map("");
    const struct spn_watch_options opt = { .fields = "metadata.name=one" };
    struct spn_watch *w;
    struct spn_event e;
    struct spn_value *v;
    struct spn_err err;
    must(spn_client_watch(client, &all, &opt, NULL, a, &w, &err), "watch", &err);
    must(spn_client_create(client, &all, tree(a, "{\"metadata\":{\"name\":\"one\"}}"), NULL, a,
                           NULL, &err),
         "create", &err);
    must(spn_client_patch(client, &at, SPN_MERGE_PATCH, SPN_TEXT("{\"data\":{\"a\":\"1\"}}"), NULL,
                          a, NULL, &err),
         "patch", &err);
    must(spn_client_apply(
             client, &at,
             tree(a, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
                     "\"one\"},\"data\":{\"b\":\"2\"}}"),
             NULL, a, NULL, &err),
         "apply", &err);
    must(spn_client_get(client, &at, NULL, a, &v, &err), "get", &err);
    expect(spn_value_count(spn_value_get(v, "data")) == 2, "both fields are there");
    spn_value_set_text(a, spn_value_edit(a, v, "data"), "c", SPN_TEXT("3"));
    must(spn_client_update(client, &at, v, NULL, a, NULL, &err), "update", &err);
    must(spn_client_delete(client, &at, NULL, NULL, a, NULL, &err), "delete", &err);
    do
        must(spn_watch_next(w, WAIT_MS, a, &e, &err), "the watch", &err);
    while (e.type != SPN_EVENT_DELETED);
    expect(spn_value_count(spn_value_get(e.object, "data")) == 3, "the watch saw the last state");
    spn_watch_free(w);
}

static void follow(struct spn_arena *a)
{
    const struct spn_informer_options opt = { .what = config_map("") };
    struct spn_informer *i = spn_informer_new(client, &opt);
    struct spn_err err;
    must(spn_informer_start(i, &err), "start an informer", &err);
    expect(spn_informer_wait(i, NULL, WAIT_MS), "the informer has synced");
    struct spn_object *o =
        spn_cache_get(spn_informer_cache(i), spn_arena_printf(a, SPN_FMT "/shared", SPN_ARG(ns)));
    expect(o != NULL, "the informer knows the object");
    spn_object_unref(o);
    spn_informer_free(i);
}

static struct spn_resource find(struct spn_arena *a, const char *words)
{
    struct spn_mapper *m = spn_mapper_new(client, NULL);
    struct spn_resource r;
    struct spn_err err;
    must(spn_mapper_find(m, spn_text_of(words), NULL, a, &r, &err), "find a resource", &err);
    spn_mapper_free(m);
    return r;
}

/* The handshake of a stream goes the same way as everything else. */
static void exec_nowhere(struct spn_arena *a)
{
    const struct spn_text command = SPN_TEXT("true");
    const struct spn_run run = { .command = { &command, 1 }, .out = true };
    struct spn_stream *s;
    struct spn_err err;
    int r = spn_client_exec(client, ns, SPN_TEXT("none"), &run, NULL, a, &s, &err);
    printf("%s", r == -SPN_NOT_FOUND ? "" : r < 0 ? err.message : "it runs\n");
    expect(r == -SPN_NOT_FOUND, "no pod, no command");
    expect(r < 0 && spn_text_eq(spn_value_text(spn_value_dig(err.status, "details", "name")),
                                SPN_TEXT("none")),
           "the error has the whole Status");
}

static void visit(struct spn_arena *a)
{
    struct spn_resource found = find(a, "ns");
    const struct spn_target home = spn_resource_target(&found, SPN_TEXT(""), ns);
    struct spn_text json =
        spn_arena_printf(a, "{\"metadata\":{\"name\":\"" SPN_FMT "\"}}", SPN_ARG(ns));
    struct spn_err err;
    struct spn_value *v;
    must(spn_client_create(client, &home, tree(a, json.p), NULL, a, NULL, &err), "a namespace",
         &err);
    read_at_once(a);
    write_and_watch(a);
    follow(a);
    const struct spn_target none = config_map("none");
    expect(spn_client_get(client, &none, NULL, a, &v, &err) == -SPN_NOT_FOUND, "404");
    expect(err.status != NULL, "an error has its Status");
    exec_nowhere(a);
    must(spn_client_delete(client, &home, NULL, NULL, a, NULL, &err), "delete the namespace", &err);
}

int main(int argc, char **argv)
{
    struct spn_arena *a = spn_arena_new();
    struct spn_config_options opt = { 0 };
    struct spn_config cfg;
    struct spn_err err;
    must(spn_config_flags(a, &argc, argv, &opt, &err), "flags", &err);
    must(spn_config_load(&opt, a, &cfg, &err), "configuration", &err);
    for (; argc > 2; argv++, argc--)
        if (strcmp(argv[1], "--protobuf") == 0)
            cfg.protobuf = true;
        else if (strcmp(argv[1], "--anonymous") == 0)
            cfg = spn_config_anonymous(&cfg);
        else
            break;
    expect(argc == 2, "one argument: a namespace to be made");
    ns = spn_text_of(argv[1]);
    must(spn_client_new(&cfg, &client, &err), "a client", &err);
    visit(a);
    spn_client_free(client);
    spn_arena_free(a);
    printf("visited\n");
    return 0;
}
