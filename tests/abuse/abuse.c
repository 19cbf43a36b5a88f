/* abuse --server URL --ca FILE --cert FILE --key FILE --aside-cert FILE --aside-key FILE --pid PID
 *       [--seconds N] [--within MS] [--only WORDS]
 *
 * One attack after the other against one server, while a bystander, who is somebody else, writes,
 * reads and deletes an object of its own and measures how long it waits. The server must live, and
 * the bystander must get what it asks for. With --within, ninety-nine of a hundred of its requests
 * must be answered in that time. */
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "attack.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"

enum { PEM_MAX = 1 << 16, SAMPLES_MAX = 100000, BYSTANDER_PAUSE_MS = 10, THREADS_MAX = 64 };

struct options {
    const char *server, *ca, *cert, *key, *aside_cert, *aside_key, *only;
    uint64_t pid, seconds, within_ms;
};

/* ---- The bystander ---- */

struct bystander {
    struct attack_run *run; /* with a fetcher of its own */
    pthread_t thread;
    double *ms;
    size_t n, n_failed;
    int last_failure;
};

static int64_t now_ns(void)
{
    return clock_mono_ns(&clock_system);
}

static void ask_timed(struct bystander *b, const char *method, const char *path, struct str body,
                      int wanted)
{
    int64_t start = now_ns();
    int status = attack_ask(b->run, method, path, "application/json", body, 30000);
    if (b->n < SAMPLES_MAX)
        b->ms[b->n++] = (double)(now_ns() - start) / 1e6;
    if (status != wanted) {
        b->n_failed++;
        b->last_failure = status;
    }
}

static void *stand_by(void *arg)
{
    static const char all[] = "/api/v1/namespaces/kube-public/configmaps";
    static const char one[] = "/api/v1/namespaces/kube-public/configmaps/bystander";
    struct bystander *b = arg;
    while (!atomic_load(&b->run->is_over)) {
        ask_timed(b, "POST", all,
                  STR("{\"metadata\":{\"name\":\"bystander\"},\"data\":{\"a\":\"b\"}}"), 201);
        ask_timed(b, "GET", one, STR(""), 200);
        ask_timed(b, "GET", all, STR(""), 200);
        ask_timed(b, "DELETE", one, STR(""), 200);
        (void)poll(NULL, 0, BYSTANDER_PAUSE_MS);
    }
    return NULL;
}

static int by_size(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;
    return (a > b) - (a < b);
}

/* ---- The server ---- */

/* A row of /proc/PID/status in MB, or -1 if there is no such process. */
static double memory_of(uint64_t pid, const char *row)
{
    char path[64], line[256];
    double kb = -1;
    (void)snprintf(path, sizeof(path), "/proc/%llu/status", (unsigned long long)pid);
    FILE *f = fopen(path, "re");
    size_t n = strlen(row);
    while (f && fgets(line, sizeof(line), f))
        if (strncmp(line, row, n) == 0)
            kb = strtod(line + n, NULL);
    if (f)
        (void)fclose(f);
    return kb / 1024;
}

/* ---- One attack ---- */

struct job {
    const struct attack *attack;
    struct attack_run *run;
};

static void *run_attack(void *arg)
{
    const struct job *job = arg;
    job->attack->go(job->run);
    return NULL;
}

static struct fetcher *fetcher_of(const struct target *t)
{
    return fetcher_new(&(struct fetcher_options){
        .ca_pem = t->ca_pem, .cert_pem = t->cert_pem, .key_pem = t->key_pem });
}

static bool report(const struct attack *attack, const struct attack_run *run, struct bystander *b,
                   const struct options *o)
{
    qsort(b->ms, b->n, sizeof(*b->ms), by_size);
    double p50 = b->n ? b->ms[b->n / 2] : 0, p99 = b->n ? b->ms[b->n * 99 / 100] : 0;
    bool lives = memory_of(o->pid, "RssAnon:") >= 0;
    bool good =
        lives && b->n > 0 && b->n_failed == 0 && (!o->within_ms || p99 <= (double)o->within_ms);
    printf("%-36s %6u %6zu %8.1f %8.1f %8.1f %7.0f %7.0f  %s\n", attack->name,
           atomic_load(&run->n_done), b->n, p50, p99, b->n ? b->ms[b->n - 1] : 0,
           memory_of(o->pid, "RssAnon:"), memory_of(o->pid, "VmHWM:"), good ? "ok" : "BAD");
    if (b->n_failed)
        printf("    %zu requests of the bystander failed, the last with %d\n", b->n_failed,
               b->last_failure);
    if (!lives)
        printf("    the server is gone\n");
    fflush(stdout);
    return good;
}

static bool attack_once(const struct attack *attack, const struct target *t,
                        const struct target *t_aside, const struct options *o)
{
    struct attack_run run = { .target = t, .fetcher = fetcher_of(t) };
    struct attack_run aside = { .target = t_aside, .fetcher = fetcher_of(t_aside) };
    struct bystander b = { .run = &aside, .ms = mem_alloc(SAMPLES_MAX * sizeof(double)) };
    struct job job = { attack, &run };
    pthread_t threads[THREADS_MAX];
    unsigned n = 0;
    bool good = !attack->prepare || attack->prepare(&run);
    if (!good)
        printf("%-36s could not be made ready\n", attack->name);
    while (good && n < attack->n_threads &&
           pthread_create(&threads[n], NULL, run_attack, &job) == 0)
        n++;
    if (good)
        good = pthread_create(&b.thread, NULL, stand_by, &b) == 0;
    if (good) {
        (void)poll(NULL, 0, (int)o->seconds * 1000);
        atomic_store(&aside.is_over, true);
        pthread_join(b.thread, NULL);
    }
    atomic_store(&run.is_over, true);
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    if (good)
        good = report(attack, &run, &b, o);
    fetcher_free(run.fetcher);
    fetcher_free(aside.fetcher);
    free(b.ms);
    return good;
}

/* ---- All of them ---- */

static struct str read_pem(struct arena *a, const char *path)
{
    autobuf text = { 0 };
    struct err err = ERR_INIT(a);
    if (file_read(path, PEM_MAX, &text, &err) < 0) {
        fprintf(stderr, STR_FMT "\n", STR_ARG(err.msg));
        exit(2);
    }
    return arena_str(a, buf_str(&text));
}

static struct options parse(int argc, char **argv)
{
    static const struct option flags[] = {
        { "server", required_argument, NULL, 's' },
        { "ca", required_argument, NULL, 'a' },
        { "cert", required_argument, NULL, 'c' },
        { "key", required_argument, NULL, 'k' },
        { "aside-cert", required_argument, NULL, 'C' },
        { "aside-key", required_argument, NULL, 'K' },
        { "only", required_argument, NULL, 'o' },
        { "pid", required_argument, NULL, 'p' },
        { "seconds", required_argument, NULL, 'n' },
        { "within", required_argument, NULL, 'w' },
        { 0 },
    };
    struct options o = { .seconds = 5 };
    bool good = true;
    for (int c; (c = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
        switch (c) {
        case 's':
            o.server = optarg;
            break;
        case 'a':
            o.ca = optarg;
            break;
        case 'c':
            o.cert = optarg;
            break;
        case 'k':
            o.key = optarg;
            break;
        case 'C':
            o.aside_cert = optarg;
            break;
        case 'K':
            o.aside_key = optarg;
            break;
        case 'o':
            o.only = optarg;
            break;
        case 'p':
            good &= str_to_u64(str_of(optarg), &o.pid);
            break;
        case 'n':
            good &= str_to_u64(str_of(optarg), &o.seconds) && o.seconds <= 600;
            break;
        case 'w':
            good &= str_to_u64(str_of(optarg), &o.within_ms);
            break;
        default:
            good = false;
        }
    }
    if (!good || !o.server || !o.ca || !o.cert || !o.key || !o.aside_cert || !o.aside_key ||
        !o.pid) {
        fprintf(stderr, "usage: abuse --server URL --ca FILE --cert FILE --key FILE --aside-cert "
                        "FILE --aside-key FILE --pid PID [--seconds N] [--within MS] "
                        "[--only WORDS]\n");
        exit(2);
    }
    return o;
}

int main(int argc, char **argv)
{
    struct options o = parse(argc, argv);
    struct arena a;
    arena_init(&a);
    struct target t = {
        .url = str_of(o.server),
        .ca_pem = read_pem(&a, o.ca),
        .cert_pem = read_pem(&a, o.cert),
        .key_pem = read_pem(&a, o.key),
    };
    t.address = str_skip(t.url, strlen("https://"));
    struct target t_aside = t;
    t_aside.cert_pem = read_pem(&a, o.aside_cert);
    t_aside.key_pem = read_pem(&a, o.aside_key);
    size_t failed = 0, n = 0;
    printf("%-36s %6s %6s %8s %8s %8s %7s %7s\n", "attack", "done", "asked", "p50 ms", "p99 ms",
           "max ms", "own MB", "peak MB");
    for (size_t i = 0; i < n_attacks; i++) {
        if (o.only && !strstr(attacks[i].name, o.only))
            continue;
        n++;
        failed += !attack_once(&attacks[i], &t, &t_aside, &o);
    }
    arena_done(&a);
    printf("%zu passed, %zu failed\n", n - failed, failed);
    return failed ? 1 : 0;
}
