/* etcd_bench.c OURS THEIRS - `sampan etcd` beside another etcd, both named by "host:port": puts,
 * gets, transactions as a kube-apiserver makes them, and events to many watchers. Rounds of both
 * alternate. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "base/wire.h"
#include "bench/measure.h"
#include "net/grpc/grpc.h"
#include "base/banned.h"

enum {
    CLIENTS = 4,
    THREADS = 64,
    WATCHERS = 64,
    ROUNDS = 3,
    ROUND_MS = 2000,
    KEYS = 10000,
    VALUE_BYTES = 1024,
    CALL_MS = 60000
};

struct side {
    const char *address;
    struct grpc_client *clients[CLIENTS];
    double calls, seconds; /* of the scenario that runs */
};

static struct side sides[2];
static atomic_bool stops;
static atomic_size_t n_calls, n_events, n_ready, next_number;
static char value[VALUE_BYTES];

/* ---- Messages ---- */

static void add_key(struct buf *out, unsigned field, size_t number)
{
    char key[32];
    int n = snprintf(key, sizeof(key), "bench/%08zu", number);
    wire_bytes(out, field, (struct str){ key, (size_t)n });
}

static void make_put(struct buf *out, size_t number)
{
    add_key(out, 1, number);
    wire_bytes(out, 2, (struct str){ value, sizeof(value) });
}

static void make_range(struct buf *out, size_t number)
{
    add_key(out, 1, number);
}

static void add_message(struct buf *out, unsigned field, const struct buf *m)
{
    wire_head(out, field, m->n);
    buf_str_add(out, buf_str(m));
}

/* If the key is not there it is made, else it is read: as an object is created. */
static void make_txn(struct buf *out, size_t number)
{
    autobuf compare = { 0 }, put = { 0 }, range = { 0 }, op = { 0 };
    wire_int(&compare, 2, 2); /* its mod_revision is 0, which is not written */
    add_key(&compare, 3, KEYS + number);
    add_message(out, 1, &compare);
    make_put(&put, KEYS + number);
    add_message(&op, 2, &put);
    add_message(out, 2, &op);
    op.n = 0;
    make_range(&range, KEYS + number);
    add_message(&op, 1, &range);
    add_message(out, 3, &op);
}

/* ---- Calls ---- */

struct scenario {
    const char *name;
    struct str path;
    void (*make)(struct buf *out, size_t number);
    bool is_new; /* each call has a key of its own; else those that are there */
};

struct caller {
    pthread_t thread;
    struct grpc_client *client;
    const struct scenario *scenario;
    uint64_t seed;
};

static void call_once(struct grpc_client *c, struct str path, struct str request, struct arena *a)
{
    struct grpc_result result;
    struct str reply;
    struct err err = ERR_INIT(a);
    measure_must(grpc_call_unary(c, path, request, NULL, 0, CALL_MS, a, &reply, &result, &err) == 0,
                 "a call");
    arena_reset(a);
}

static void *call_until_stop(void *arg)
{
    struct caller *c = arg;
    struct arena a;
    autobuf request = { 0 };
    arena_init(&a);
    while (!atomic_load(&stops)) {
        c->seed = c->seed * 6364136223846793005u + 1442695040888963407u;
        size_t number =
            c->scenario->is_new ? atomic_fetch_add(&next_number, 1) : (c->seed >> 33) % KEYS;
        request.n = 0;
        c->scenario->make(&request, number);
        call_once(c->client, c->scenario->path, buf_str(&request), &a);
        atomic_fetch_add(&n_calls, 1);
    }
    arena_done(&a);
    return NULL;
}

static void pause_ms(int64_t ms)
{
    const struct timespec t = { ms / 1000, ms % 1000 * NS_PER_MS };
    (void)nanosleep(&t, NULL);
}

static void run_round(struct side *s, const struct scenario *scenario)
{
    struct caller callers[THREADS];
    atomic_store(&stops, false);
    atomic_store(&n_calls, 0);
    int64_t begin = measure_wall_ns();
    for (size_t i = 0; i < THREADS; i++) {
        callers[i] = (struct caller){ .client = s->clients[i % CLIENTS],
                                      .scenario = scenario,
                                      .seed = i + 1 };
        measure_must(!pthread_create(&callers[i].thread, NULL, call_until_stop, &callers[i]),
                     "a thread");
    }
    pause_ms(ROUND_MS);
    atomic_store(&stops, true);
    for (size_t i = 0; i < THREADS; i++)
        (void)pthread_join(callers[i].thread, NULL);
    s->calls += (double)atomic_load(&n_calls);
    s->seconds += (double)(measure_wall_ns() - begin) / 1e9;
}

/* ---- Watches ---- */

struct watcher {
    pthread_t thread;
    struct grpc_client *client;
    size_t wanted; /* events, until it ends */
};

static size_t count_events(struct str message)
{
    struct wire_field f;
    size_t n = 0;
    while (wire_next(&message, &f) == 1)
        n += f.number == 11;
    return n;
}

static void *watch(void *arg)
{
    struct watcher *w = arg;
    struct grpc_stream *stream;
    struct arena a;
    autobuf create = { 0 }, request = { 0 }, message = { 0 };
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    wire_bytes(&create, 1, STR("watched/"));
    wire_bytes(&create, 2, STR("watched0"));
    add_message(&request, 1, &create);
    measure_must(
        grpc_stream_open(w->client, STR("/etcdserverpb.Watch/Watch"), NULL, 0, &stream, &err) == 0,
        "a watch");
    measure_must(grpc_stream_send(stream, buf_str(&request), &err) == 0, "a watch");
    for (size_t seen = 0, answers = 0; seen < w->wanted; answers++) {
        struct grpc_result result;
        message.n = 0;
        measure_must(grpc_stream_receive(stream, CALL_MS, &message, &result, &a, &err) == 1,
                     "an event");
        if (answers == 0)
            atomic_fetch_add(&n_ready, 1);
        size_t n = count_events(buf_str(&message));
        seen += n;
        atomic_fetch_add(&n_events, n);
    }
    grpc_stream_free(stream);
    arena_done(&a);
    return NULL;
}

static void write_watched(struct side *s, size_t n)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < n; i++) {
        autobuf put = { 0 };
        wire_bytes(&put, 1, STR("watched/one"));
        wire_bytes(&put, 2, (struct str){ value, sizeof(value) });
        call_once(s->clients[i % CLIENTS], STR("/etcdserverpb.KV/Put"), buf_str(&put), &a);
    }
    arena_done(&a);
}

/* All watchers see each of a number of writes. */
static void run_watches(struct side *s)
{
    enum { WRITES = 300 };
    struct watcher watchers[WATCHERS];
    atomic_store(&n_ready, 0);
    atomic_store(&n_events, 0);
    for (size_t i = 0; i < WATCHERS; i++) {
        watchers[i] = (struct watcher){ .client = s->clients[i % CLIENTS], .wanted = WRITES };
        measure_must(!pthread_create(&watchers[i].thread, NULL, watch, &watchers[i]), "a thread");
    }
    while (atomic_load(&n_ready) < WATCHERS)
        pause_ms(1);
    int64_t begin = measure_wall_ns();
    write_watched(s, WRITES);
    for (size_t i = 0; i < WATCHERS; i++)
        (void)pthread_join(watchers[i].thread, NULL);
    s->calls += (double)atomic_load(&n_events);
    s->seconds += (double)(measure_wall_ns() - begin) / 1e9;
}

/* ---- All of it ---- */

static void connect_to(struct side *s, const char *address)
{
    s->address = address;
    for (size_t i = 0; i < CLIENTS; i++) {
        s->clients[i] =
            grpc_client_new(&(struct grpc_client_options){ .address = str_of(address) });
        measure_must(s->clients[i], "a client");
    }
}

static void fill(struct side *s)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < KEYS; i++) {
        autobuf put = { 0 };
        make_put(&put, i);
        call_once(s->clients[i % CLIENTS], STR("/etcdserverpb.KV/Put"), buf_str(&put), &a);
    }
    arena_done(&a);
}

static void print(const char *name)
{
    double rates[2];
    for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
        rates[i] = sides[i].calls / sides[i].seconds;
        sides[i].calls = sides[i].seconds = 0;
    }
    printf("%-8s %12.0f %12.0f %8.1f\n", name, rates[0], rates[1], rates[0] / rates[1]);
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    static const struct scenario scenarios[] = {
        { "put", STR("/etcdserverpb.KV/Put"), make_put, false },
        { "get", STR("/etcdserverpb.KV/Range"), make_range, false },
        { "txn", STR("/etcdserverpb.KV/Txn"), make_txn, true },
    };
    measure_must(argc == 3, "two addresses are wanted");
    memset(value, 'v', sizeof(value));
    for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
        connect_to(&sides[i], argv[i + 1]);
        fill(&sides[i]);
    }
    printf("%-8s %12s %12s %8s\n", "a second", "sampan etcd", "etcd", "ratio");
    for (size_t i = 0; i < ARRAY_LEN(scenarios); i++) {
        for (size_t round = 0; round < 2 * (size_t)ROUNDS; round++)
            run_round(&sides[round % 2], &scenarios[i]);
        print(scenarios[i].name);
    }
    for (size_t round = 0; round < 2 * (size_t)ROUNDS; round++)
        run_watches(&sides[round % 2]);
    print("events");
    for (size_t i = 0; i < ARRAY_LEN(sides); i++)
        for (size_t j = 0; j < CLIENTS; j++)
            grpc_client_free(sides[i].clients[j]);
    return 0;
}
