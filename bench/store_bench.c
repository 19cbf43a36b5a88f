/* store_bench.c - the store's figures, each beside what it is compared with in the same run.
 *
 * Prints; never fails because of a time. usage: store_bench [seconds] */
#include "bench/store_bench.h"

#include <fcntl.h>
#include <ftw.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/store.h"

#include "base/banned.h"

enum { N_WRITERS = 64, N_OBJECTS = 100000, N_WATCHES = 10000 };

static char value[STORE_BENCH_VALUE_BYTES];
static char dir[128];
static struct arena arena;
static struct err err;

static double now_s(void)
{
    return (double)clock_mono_ns(&clock_system) / 1e9;
}

static void check(int r)
{
    if (r >= 0)
        return;
    fprintf(stderr, "store_bench: " STR_FMT "\n", STR_ARG(err.msg));
    exit(1);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
    (void)st, (void)flag, (void)at;
    return remove(path);
}

static struct store *fresh_store(void)
{
    (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    struct store *s = NULL;
    check(store_open(&(struct store_options){ .dir = dir }, &s, &err));
    return s;
}

static void put_key(struct store *s, struct str key)
{
    struct store_op op = { STORE_PUT, key, { value, sizeof(value) }, STORE_ANY };
    struct store_txn t = { .ops = &op, .n_ops = 1 };
    check(store_commit(s, &t, &err));
}

/* ---- One writer, and the disk by itself ---- */

static double bare_writes(double seconds)
{
    enum { FILE_BYTES = 64 << 20 };
    char path[160];
    (void)snprintf(path, sizeof(path), "%s.bare", dir);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    autofree char *zeros = mem_zalloc(1 << 20);
    for (off_t off = 0; off < FILE_BYTES; off += 1 << 20)
        if (pwrite(fd, zeros, 1 << 20, off) != 1 << 20)
            exit(1);
    (void)fsync(fd);
    double begin = now_s();
    size_t n = 0;
    for (; now_s() - begin < seconds; n++) {
        off_t off = (off_t)(n * sizeof(value)) % FILE_BYTES;
        if (pwrite(fd, value, sizeof(value), off) != sizeof(value) || fdatasync(fd) < 0)
            exit(1);
    }
    double each = (now_s() - begin) / (double)n;
    (void)close(fd);
    (void)unlink(path);
    return each;
}

static double sequential_puts(double seconds)
{
    struct store *s = fresh_store();
    char key[32];
    double begin = now_s();
    size_t n = 0;
    for (; now_s() - begin < seconds; n++) {
        int len = snprintf(key, sizeof(key), "bench/%08zu", n);
        put_key(s, (struct str){ key, (size_t)len });
    }
    double each = (now_s() - begin) / (double)n;
    store_close(s);
    return each;
}

static void bench_sequential(double seconds)
{
    double bare = bare_writes(seconds / 2), ours = sequential_puts(seconds / 2);
    printf("one writer, 1 KB:  bare write+fdatasync %.3f ms, store %.3f ms: %.2f times\n",
           bare * 1e3, ours * 1e3, ours / bare);
}

/* ---- Many writers ---- */

struct writers {
    struct store *s;
    _Atomic bool stops;
    _Atomic size_t n_done, n_started;
};

static void *writer_main(void *arg)
{
    struct writers *w = arg;
    size_t id = atomic_fetch_add(&w->n_started, 1);
    char key[40];
    for (size_t i = 0; !w->stops; i++) {
        int n = snprintf(key, sizeof(key), "bench/%02zu/%08zu", id, i);
        struct store_op op = { STORE_PUT, { key, (size_t)n }, { value, sizeof(value) }, STORE_ANY };
        struct store_txn t = { .ops = &op, .n_ops = 1 };
        if (store_commit(w->s, &t, NULL) < 0)
            exit(1);
        atomic_fetch_add_explicit(&w->n_done, 1, memory_order_relaxed);
    }
    return NULL;
}

static double threaded_puts(double seconds)
{
    struct writers w = { .s = fresh_store() };
    pthread_t threads[N_WRITERS];
    double begin = now_s();
    for (int i = 0; i < N_WRITERS; i++)
        if (pthread_create(&threads[i], NULL, writer_main, &w))
            exit(1);
    (void)usleep((useconds_t)(seconds * 1e6));
    double rate = (double)w.n_done / (now_s() - begin);
    w.stops = true;
    for (int i = 0; i < N_WRITERS; i++)
        (void)pthread_join(threads[i], NULL);
    struct store_stats stats;
    store_stats(w.s, &stats);
    printf("  (%llu groups of %.1f, %llu checkpoints, %.1f MB in memory)\n",
           (unsigned long long)stats.groups, (double)stats.commits / (double)stats.groups,
           (unsigned long long)stats.checkpoints, (double)stats.memory_bytes / 1e6);
    store_close(w.s);
    return rate;
}

/* The same in flight, but from a thread that does not sleep for each: what a server does, where
 * done() posts to a loop. */
struct in_flight {
    struct store_txn t;
    struct store_op op;
    struct writers *w;
    size_t id, i;
    char key[40];
};

static void submit_next(struct in_flight *f)
{
    int n = snprintf(f->key, sizeof(f->key), "bench/%02zu/%08zu", f->id, f->i++);
    f->op =
        (struct store_op){ STORE_PUT, { f->key, (size_t)n }, { value, sizeof(value) }, STORE_ANY };
    store_submit(f->w->s, &f->t);
}

static void on_done(struct store_txn *t)
{
    struct in_flight *f = t->owner;
    if (t->result < 0)
        exit(1);
    f->w->n_done++;
    if (f->w->stops)
        f->w->n_started--;
    else
        submit_next(f);
}

static double submitted_puts(double seconds)
{
    struct writers w = { .s = fresh_store(), .n_started = N_WRITERS };
    static struct in_flight flights[N_WRITERS];
    double begin = now_s();
    for (size_t i = 0; i < N_WRITERS; i++) {
        struct in_flight *f = &flights[i];
        *f = (struct in_flight){ .w = &w, .id = i };
        f->t = (struct store_txn){ .ops = &f->op, .n_ops = 1, .done = on_done, .owner = f };
        submit_next(f);
    }
    (void)usleep((useconds_t)(seconds * 1e6));
    double rate = (double)w.n_done / (now_s() - begin);
    w.stops = true;
    while (w.n_started)
        (void)usleep(1000);
    store_close(w.s);
    return rate;
}

static void bench_puts(double seconds)
{
    double etcd = store_bench_etcd(N_WRITERS, seconds);
    double threads = threaded_puts(seconds), submitted = submitted_puts(seconds);
    printf("64 writers, 1 KB:  %.0f durable puts/s from threads, %.0f/s submitted\n", threads,
           submitted);
    if (etcd > 0)
        printf(
            "                   etcd, 64 in flight: %.0f/s; the store does %.1f times that with as "
            "many in flight, %.1f times from threads\n",
            etcd, submitted / etcd, threads / etcd);
    else
        printf("                   etcd is not installed or did not start: no comparison\n");
}

/* ---- Reading ---- */

static struct store *fill(size_t n)
{
    struct store *s = fresh_store();
    enum { BATCH = 100 };
    static char keys[BATCH][32];
    struct store_op ops[BATCH];
    for (size_t i = 0; i < n; i += BATCH) {
        for (size_t j = 0; j < BATCH; j++) {
            int len = snprintf(keys[j], sizeof(keys[j]), "object/%08zu", i + j);
            ops[j] = (struct store_op){
                STORE_PUT, { keys[j], (size_t)len }, { value, sizeof(value) }, STORE_ANY
            };
        }
        struct store_txn t = { .ops = ops, .n_ops = BATCH };
        check(store_commit(s, &t, &err));
    }
    return s;
}

static double range_once(struct store *s)
{
    struct store_snap *snap;
    struct store_entry e;
    size_t bytes = 0;
    double begin = now_s();
    check(store_snap_begin(s, 0, &snap, &err));
    store_range_begin(snap, STR("object/"), STR(""));
    int r;
    while ((r = store_range_next(snap, &e, &err)) > 0)
        bytes += e.value.n;
    check(r);
    store_snap_end(snap);
    return (double)bytes / (now_s() - begin) / 1e9;
}

static void bench_reading(void)
{
    struct store *s = fill(N_OBJECTS);
    store_close(s);
    double begin = now_s();
    check(store_open(&(struct store_options){ .dir = dir }, &s, &err));
    printf("open with 100,000 objects of 1 KB: %.1f ms\n", (now_s() - begin) * 1e3);
    double first = range_once(s), best = 0;
    for (int i = 0; i < 5; i++) {
        double rate = range_once(s);
        best = rate > best ? rate : best;
    }
    printf("range over 100,000 keys of 1 KB: %.2f GB/s (first time %.2f), checksums included\n",
           best, first);
    store_close(s);
}

/* ---- Watches ---- */

static size_t n_delivered;

static enum store_watch_verdict on_event(struct store_watch *w, const struct store_event *ev)
{
    (void)w;
    n_delivered += ev->now.value.n > 0;
    return STORE_WATCH_ON;
}

static void on_expired(struct store_watch *w)
{
    (void)w;
}

static void no_wake(void *arg)
{
    (void)arg;
}

/* `same`: all watch one prefix, and one event is for all. Else each has its own. */
static void bench_watches(struct store *s, bool same)
{
    size_t before = mallinfo2().uordblks;
    struct store_feed *feed = store_feed_new(s, no_wake, NULL);
    struct store_watch *watches = mem_array(N_WATCHES, sizeof(*watches));
    char prefix[32];
    for (size_t i = 0; i < N_WATCHES; i++) {
        int n = same ? snprintf(prefix, sizeof(prefix), "w/")
                     : snprintf(prefix, sizeof(prefix), "w/%06zu/", i);
        watches[i].on_event = on_event;
        watches[i].on_expired = on_expired;
        check(store_watch_start(feed, &watches[i], (struct str){ prefix, (size_t)n }, store_rev(s),
                                &err));
    }
    while (store_feed_poll(feed))
        ;
    size_t bytes = mallinfo2().uordblks - before;
    n_delivered = 0;
    put_key(s, STR("w/000007/x"));
    double begin = now_s();
    while (store_feed_poll(feed))
        ;
    printf("10,000 watches, %s: %zu bytes each; one event to %zu of them in %.3f ms\n",
           same ? "one prefix" : "own prefixes", bytes / N_WATCHES, n_delivered,
           (now_s() - begin) * 1e3);
    for (size_t i = 0; i < N_WATCHES; i++)
        store_watch_stop(&watches[i]);
    store_feed_free(feed);
    free(watches);
}

static void bench_opening(void)
{
    struct store *s = NULL;
    (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    double begin = now_s();
    check(store_open(&(struct store_options){ .dir = dir }, &s, &err));
    double made = now_s() - begin;
    bench_watches(s, true);
    bench_watches(s, false);
    store_close(s);
    begin = now_s();
    check(store_open(&(struct store_options){ .engine = STORE_MEMORY }, &s, &err));
    printf("open: new folder %.1f ms, memory %.1f ms\n", made * 1e3, (now_s() - begin) * 1e3);
    store_close(s);
}

int main(int argc, char **argv)
{
    uint64_t seconds = 3;
    if (argc > 1)
        (void)str_to_u64(str_of(argv[1]), &seconds);
    const char *tmp = getenv("TMPDIR");
    (void)snprintf(dir, sizeof(dir), "%s/store-bench-%d", tmp ? tmp : "/tmp", (int)getpid());
    arena_init(&arena);
    err = ERR_INIT(&arena);
    memset(value, 'v', sizeof(value));
    bench_sequential((double)seconds);
    bench_puts((double)seconds);
    bench_reading();
    bench_opening();
    (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    arena_done(&arena);
    return 0;
}
