/* linear [--operations N] [--clients N] [--seed N] NAMESPACE KUBECONFIG... - many clients write,
 * read, list and watch a few objects at once, through the servers that the files name, which should
 * be killed, stopped and cut off meanwhile. Then it is judged whether all of them saw one world.
 * Prints "linearizable" at the end, or what cannot be. */
#include <stdio.h>
#include <stdlib.h>

#include <sampan/config.h>

#include "base/mem.h"
#include "judge.h"

enum { WATCHES = 3, RESUMES = 5, CLIENTS_MAX = 64, SETUP_MS = 60000 };

static struct record_run run = { .operations = 2000 };
static size_t n_clients = 6;
static unsigned first_seed = 1;

static void must(int r, const char *what, const struct spn_err *err)
{
    if (r >= 0)
        return;
    printf("%s: %s\n", what, err->message);
    exit(2);
}

static void usage(void)
{
    printf("usage: linear [--operations N] [--clients N] [--seed N] NAMESPACE KUBECONFIG...\n");
    exit(2);
}

static char **options(int *argc, char **argv)
{
    while (*argc > 2 && argv[0][0] == '-') {
        long n = atol(argv[1]);
        if (strcmp(argv[0], "--operations") == 0)
            atomic_store(&run.operations, n);
        else if (strcmp(argv[0], "--clients") == 0)
            n_clients = (size_t)n;
        else if (strcmp(argv[0], "--seed") == 0)
            first_seed = (unsigned)n;
        else
            usage();
        *argc -= 2;
        argv += 2;
    }
    if (*argc < 2 || *argc - 1 > RECORD_SERVERS_MAX || n_clients == 0 || n_clients > CLIENTS_MAX)
        usage();
    return argv;
}

static struct spn_client *connect_to(const char *kubeconfig)
{
    struct spn_arena *a = spn_arena_new();
    const struct spn_config_options opt = { .kubeconfig = kubeconfig, .qps = -1 };
    struct spn_config cfg;
    struct spn_client *client;
    struct spn_err err;
    must(spn_config_load(&opt, a, &cfg, &err), "configuration", &err);
    must(spn_client_new(&cfg, &client, &err), "a client", &err);
    spn_arena_free(a);
    return client;
}

static void make(const char *plural, const char *name, struct spn_text ns)
{
    const struct spn_call how = { .timeout_ms = SETUP_MS };
    struct spn_arena *a = spn_arena_new();
    struct spn_target at = SPN_AT("", "v1", "", "", "");
    struct spn_value *object = spn_value_new(a, SPN_OBJECT);
    struct spn_err err;
    at.plural = spn_text_of(plural);
    at.ns = ns;
    at.name = spn_text_of(name);
    spn_value_set_text(a, spn_value_ensure(a, object, "metadata"), "name", at.name);
    int r = spn_client_create(run.servers[0], &at, object, &how, a, NULL, &err);
    if (r != -SPN_EXISTS)
        must(r, name, &err);
    spn_arena_free(a);
}

static uint64_t newest_rev(void)
{
    struct spn_arena *a = spn_arena_new();
    const struct spn_target at = record_target(&run, SPN_TEXT(""));
    struct spn_value *list;
    struct spn_err err;
    must(spn_client_list(run.servers[0], &at, NULL, NULL, a, &list, &err), "list", &err);
    struct spn_text rev = spn_value_text(spn_value_dig(list, "metadata", "resourceVersion"));
    uint64_t n = strtoull(spn_arena_text(a, rev).p, NULL, 10);
    spn_arena_free(a);
    return n;
}

static void start(pthread_t *thread, void *(*fn)(void *), void *arg)
{
    if (pthread_create(thread, NULL, fn, arg) != 0) {
        printf("no thread\n");
        exit(2);
    }
}

static void work(struct record_client *clients, struct record_watch *watches)
{
    for (unsigned i = 0; i < WATCHES; i++) {
        watches[i] = (struct record_watch){ .run = &run, .number = i, .from = run.start_rev };
        start(&watches[i].thread, record_follow, &watches[i]);
    }
    for (unsigned i = 0; i < n_clients; i++) {
        clients[i] = (struct record_client){ .run = &run, .number = i, .seed = first_seed + i };
        start(&clients[i].thread, record_work, &clients[i]);
    }
    for (size_t i = 0; i < n_clients; i++)
        (void)pthread_join(clients[i].thread, NULL);
    make("configmaps", RECORD_END, run.ns);
    for (size_t i = 0; i < WATCHES; i++)
        (void)pthread_join(watches[i].thread, NULL);
}

/* Watches that begin where others were. */
static bool judge_resumes(const struct judge *j)
{
    const struct record_watch *all = &j->watches[0];
    bool is_right = true;
    for (unsigned i = 0; i < RESUMES && all->n_events && is_right; i++) {
        const uint64_t from = all->events[all->n_events * i / RESUMES].rev;
        struct record_watch w = { .run = &run, .number = i, .from = from };
        (void)record_follow(&w);
        is_right = judge_resumed(j, &w, from);
        record_watch_done(&w);
    }
    return is_right;
}

static void print_counts(const struct judge *j)
{
    size_t n = 0, n_unknown = 0, n_lists = 0, n_resumed = 0;
    for (size_t c = 0; c < j->n_clients; c++) {
        n += j->clients[c].n_ops;
        n_lists += j->clients[c].n_lists;
        for (size_t i = 0; i < j->clients[c].n_ops; i++)
            n_unknown += j->clients[c].ops[i].op.result == ORDER_UNKNOWN;
    }
    for (size_t i = 0; i < j->n_watches; i++)
        n_resumed += j->watches[i].n_resumed - 1;
    printf(
        "%zu operations of %zu clients, %zu of them without an answer; %zu lists; %zu watches saw "
        "%zu events each and were begun anew %zu times\n",
        n, j->n_clients, n_unknown, n_lists, j->n_watches, j->watches[0].n_events, n_resumed);
}

int main(int argc, char **argv)
{
    argc--;
    argv = options(&argc, argv + 1);
    run.ns = spn_text_of(argv[0]);
    for (int i = 1; i < argc; i++)
        run.servers[run.n_servers++] = connect_to(argv[i]);
    make("namespaces", argv[0], SPN_TEXT(""));
    run.start_rev = newest_rev();

    struct record_client *clients = mem_array(n_clients, sizeof(*clients));
    struct record_watch watches[WATCHES];
    work(clients, watches);
    const struct judge j = { clients, n_clients, watches, WATCHES };
    print_counts(&j);
    bool is_right = !atomic_load(&run.fails) && judge_watches(&j) && judge_writes(&j) &&
                    judge_lists(&j) && judge_resumes(&j) && judge_orders(&j);
    printf("%s\n", is_right ? "linearizable" : "NOT LINEARIZABLE");

    for (size_t i = 0; i < WATCHES; i++)
        record_watch_done(&watches[i]);
    for (size_t i = 0; i < n_clients; i++)
        record_client_done(&clients[i]);
    free(clients);
    for (size_t i = 0; i < run.n_servers; i++)
        spn_client_free(run.servers[i]);
    return is_right ? 0 : 1;
}
