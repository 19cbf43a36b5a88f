/* informer_bench.c - how long an informer takes to know all ConfigMaps, in what memory; and what an
 * event costs on its way through cache and queue to a reconcile that does nothing.
 *
 *     informer_bench [flags of a client] [EVENTS]
 *
 * With EVENTS it waits for so many reconciles after the sync, which somebody else has to cause.
 * bench/peers/informer is the same program with client-go; informer_bench.sh runs both. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include <sampan/config.h>
#include <sampan/informer.h>
#include <sampan/queue.h>

static struct spn_queue *queue;
static _Atomic unsigned long seen; /* events */

static double wall_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void on_add(void *arg, const struct spn_object *o, bool is_initial)
{
    (void)arg;
    atomic_fetch_add(&seen, !is_initial);
    spn_queue_add(queue, spn_object_key(o));
}

static void on_update(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)old_o;
    on_add(arg, new_o, false);
}

static void on_delete(void *arg, const struct spn_object *o, bool is_last_known)
{
    (void)is_last_known;
    on_add(arg, o, false);
}

static void *reconcile(void *arg)
{
    struct spn_text key;
    while (spn_queue_get(arg, &key)) {
        spn_queue_forget(arg, key);
        spn_queue_done(arg, key);
    }
    return NULL;
}

static int fail(const struct spn_err *err)
{
    fprintf(stderr, "informer_bench: %s\n", err->message);
    return 1;
}

static void report_sync(struct spn_informer *i, double wall, double cpu)
{
    struct spn_informer_stats s;
    struct rusage used;
    spn_informer_stats(i, &s);
    (void)getrusage(RUSAGE_SELF, &used);
    printf("sync: %zu objects in %.3f s, cpu %.3f s, rss %.1f MB, %.0f bytes each\n", s.objects,
           wall, cpu, (double)used.ru_maxrss / 1024,
           s.objects ? (double)s.bytes / (double)s.objects : 0);
    (void)fflush(stdout);
}

static void report_events(unsigned long wanted)
{
    while (atomic_load(&seen) == 0)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    double began = wall_s(), cpu = cpu_s();
    while (atomic_load(&seen) < wanted)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    double wall = wall_s() - began;
    cpu = cpu_s() - cpu;
    printf("events: %lu in %.3f s, %.0f per second, cpu %.2f us each\n", wanted, wall,
           (double)wanted / wall, 1e6 * cpu / (double)wanted);
}

int main(int argc, char **argv)
{
    struct spn_arena *a = spn_arena_new();
    struct spn_config_options options = { 0 };
    struct spn_config cfg;
    struct spn_client *client;
    struct spn_err err;
    if (spn_config_flags(a, &argc, argv, &options, &err) < 0 ||
        spn_config_load(&options, a, &cfg, &err) < 0 || spn_client_new(&cfg, &client, &err) < 0)
        return fail(&err);
    pthread_t worker;
    double wall = wall_s(), cpu = cpu_s();
    queue = spn_queue_new(NULL);
    struct spn_informer *i = spn_informer_new(
        client, &(struct spn_informer_options){ .what = SPN_AT("", "v1", "configmaps", "", "") });
    const struct spn_handler handler = { NULL, on_add, on_update, on_delete };
    spn_informer_handle(i, &handler);
    if (spn_informer_start(i, &err) < 0 || pthread_create(&worker, NULL, reconcile, queue))
        return fail(&err);
    if (!spn_informer_wait(i, NULL, 120000))
        return fail(&(struct spn_err){ .message = "not synced in two minutes" });
    report_sync(i, wall_s() - wall, cpu_s() - cpu);
    if (argc > 1)
        report_events(strtoul(argv[1], NULL, 10));
    spn_informer_free(i);
    spn_queue_stop(queue);
    (void)pthread_join(worker, NULL);
    spn_queue_free(queue);
    spn_client_free(client);
    spn_arena_free(a);
    return 0;
}
