#include "etcd/etcd.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/idiom.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/wire.h"
#include "etcd/etcd_internal.h"
#include "net/http/http.h"
#include "base/banned.h"

enum { WORKERS_MAX = 16, WORKERS_QUEUE = 4096, EXPIRY_MS = 500, PROGRESS_MS = 600000 };

/* ---- Answers ---- */

void etcd__header(const struct etcd *e, struct buf *out, uint64_t rev)
{
    autobuf header = { 0 };
    wire_int(&header, 1, e->cluster_id);
    wire_int(&header, 2, e->member_id);
    wire_int(&header, 3, rev);
    wire_int(&header, 4, 1);
    wire_head(out, 1, header.n);
    buf_str_add(out, buf_str(&header));
}

void etcd__answer(struct etcd_home *h, struct grpc_call *call, uint64_t rev, struct str body)
{
    autobuf reply = { 0 };
    etcd__header(h->etcd, &reply, rev);
    buf_str_add(&reply, body);
    grpc_call_send(call, buf_str(&reply));
    grpc_call_end(call, GRPC_OK, STR(""));
}

void etcd__refuse(struct grpc_call *call, enum grpc_status status, const char *words)
{
    grpc_call_end(call, status, str_of(words));
}

void etcd__fail(struct grpc_call *call, const struct err *err)
{
    switch (err->code) {
    case ERR_EXPIRED:
        etcd__refuse(call, GRPC_OUT_OF_RANGE, ETCD_COMPACTED);
        break;
    case ERR_TIMEOUT:
        etcd__refuse(call, GRPC_OUT_OF_RANGE, ETCD_FUTURE);
        break;
    case ERR_TOO_LARGE:
        etcd__refuse(call, GRPC_INVALID_ARGUMENT, "etcdserver: request is too large");
        break;
    case ERR_TOO_MANY_REQUESTS:
        etcd__refuse(call, GRPC_RESOURCE_EXHAUSTED, ETCD_LARGE);
        break;
    case ERR_NO_SPACE:
        etcd__refuse(call, GRPC_RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded");
        break;
    default:
        log_error("an etcd call failed", LOG_ERR(err));
        etcd__refuse(call, GRPC_UNAVAILABLE, "etcdserver: request timed out");
        break;
    }
}

/* ---- Calls with one message ---- */

struct unary {
    struct etcd_home *home;
    etcd_unary *run;
    bool is_begun;
};

static void on_message(void *arg, struct grpc_call *call, struct str message)
{
    struct unary u = *(struct unary *)arg;
    if (u.is_begun)
        return;
    ((struct unary *)arg)->is_begun = true;
    u.run(u.home, call, message);
}

/* A message that never comes. One that has come is being worked on, and its call ends with that. */
static void on_no_more(void *arg, struct grpc_call *call)
{
    struct unary *u = arg;
    if (u->is_begun)
        return;
    u->is_begun = true;
    etcd__refuse(call, GRPC_INVALID_ARGUMENT, "etcdserver: there is no message");
}

void etcd__unary(struct etcd_home *h, struct grpc_call *call, etcd_unary *run)
{
    struct unary *u = arena_new(grpc_call_arena(call), struct unary);
    *u = (struct unary){ h, run, false };
    grpc_call_listen(call, &(struct grpc_call_events){ .arg = u,
                                                       .on_message = on_message,
                                                       .on_half_close = on_no_more,
                                                       .on_gone = on_no_more });
}

#define UNARY(name)                                             \
    static void start_##name(void *arg, struct grpc_call *call) \
    {                                                           \
        etcd__unary(arg, call, etcd__##name);                   \
    }
UNARY(range)
UNARY(put)
UNARY(delete)
UNARY(txn)
UNARY(compact)
UNARY(lease_grant)
UNARY(lease_revoke)
UNARY(lease_time_to_live)
UNARY(lease_leases)
UNARY(status)
UNARY(alarm)
UNARY(defragment)
UNARY(hash_kv)
UNARY(member_list)
UNARY(health)

static void start_watch(void *arg, struct grpc_call *call)
{
    etcd__watch(arg, call);
}

static void start_keep_alive(void *arg, struct grpc_call *call)
{
    etcd__lease_keep_alive(arg, call);
}

static void start_snapshot(void *arg, struct grpc_call *call)
{
    etcd__snapshot(arg, call);
}

static const struct grpc_method methods[] = {
    { "/etcdserverpb.KV/Range", start_range },
    { "/etcdserverpb.KV/Put", start_put },
    { "/etcdserverpb.KV/DeleteRange", start_delete },
    { "/etcdserverpb.KV/Txn", start_txn },
    { "/etcdserverpb.KV/Compact", start_compact },
    { "/etcdserverpb.Watch/Watch", start_watch },
    { "/etcdserverpb.Lease/LeaseGrant", start_lease_grant },
    { "/etcdserverpb.Lease/LeaseRevoke", start_lease_revoke },
    { "/etcdserverpb.Lease/LeaseKeepAlive", start_keep_alive },
    { "/etcdserverpb.Lease/LeaseTimeToLive", start_lease_time_to_live },
    { "/etcdserverpb.Lease/LeaseLeases", start_lease_leases },
    { "/etcdserverpb.Maintenance/Status", start_status },
    { "/etcdserverpb.Maintenance/Alarm", start_alarm },
    { "/etcdserverpb.Maintenance/Defragment", start_defragment },
    { "/etcdserverpb.Maintenance/HashKV", start_hash_kv },
    { "/etcdserverpb.Maintenance/Snapshot", start_snapshot },
    { "/etcdserverpb.Cluster/MemberList", start_member_list },
    { "/grpc.health.v1.Health/Check", start_health },
};

/* ---- Plain HTTP ---- */

static void reply_text(struct http_exchange *x, int status, struct str type, struct str text)
{
    const struct http_header header = { STR("content-type"), type };
    http_reply(x, status, &header, 1, HTTP_BYTES(text));
}

static void reply_health(struct etcd *e, struct http_exchange *x)
{
    struct store_stats stats;
    store_stats(e->store, &stats);
    const bool is_well = !stats.failing && !stats.is_tight;
    reply_text(x, is_well ? 200 : 503, STR("application/json"),
               is_well          ? STR("{\"health\":\"true\",\"reason\":\"\"}")
               : stats.is_tight ? STR("{\"health\":\"false\",\"reason\":\"ALARM NOSPACE\"}")
                                : STR("{\"health\":\"false\",\"reason\":\"STORE FAILING\"}"));
}

static void serve_plain(struct etcd *e, struct http_exchange *x)
{
    struct str path = http_request_of(x)->path;
    if (str_eq(path, STR("/health")))
        reply_health(e, x);
    else if (str_eq(path, STR("/livez")) || str_eq(path, STR("/readyz")))
        reply_text(x, 200, STR("text/plain; charset=utf-8"), STR("ok\n"));
    else if (str_eq(path, STR("/version")))
        reply_text(x, 200, STR("application/json"),
                   STR("{\"etcdserver\":\"" ETCD_API_VERSION "\",\"etcdcluster\":\"3.6.0\","
                       "\"storage\":\"3.6.0\"}"));
    else
        reply_text(x, 404, STR("text/plain; charset=utf-8"), STR("404 page not found\n"));
}

static bool is_grpc(const struct http_exchange *x)
{
    return str_starts(http_header_get(http_request_of(x), STR("content-type")),
                      STR("application/grpc"));
}

static enum http_body_mode on_head(void *arg, struct http_exchange *x)
{
    (void)arg;
    return is_grpc(x) ? HTTP_BODY_STREAM : HTTP_BODY_COLLECT;
}

static void on_request(void *arg, struct http_exchange *x)
{
    struct etcd *e = arg;
    size_t i = 0;
    if (!is_grpc(x)) {
        serve_plain(e, x);
        return;
    }
    while (i + 1 < e->n_loops && e->loops[i] != http_loop(x))
        i++;
    grpc_serve(x, methods, ARRAY_LEN(methods), &e->homes[i]);
}

/* ---- Leases that are over ---- */

static void on_expiry(struct loop_timer *t)
{
    struct etcd *e = container_of(t, struct etcd, expiry);
    struct arena a;
    size_t n;
    arena_init(&a);
    const int64_t *ids = etcd_leases_over(e->leases, &a, &n);
    for (size_t i = 0; i < n && !atomic_load(&e->stops); i++)
        etcd__expire(&e->homes[0], ids[i]);
    arena_done(&a);
    if (!atomic_load(&e->stops))
        loop_timer_set(e->loops[0], t, loop_now_ns(e->loops[0]) + EXPIRY_MS * NS_PER_MS);
}

/* ---- Starting ---- */

static size_t loop_count(size_t wanted)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = wanted ? wanted : cpus > 0 ? (size_t)cpus : 1;
    return n > ETCD_LOOPS_MAX ? ETCD_LOOPS_MAX : n;
}

static void *run_loop(void *arg)
{
    loop_run(arg);
    return NULL;
}

static int make_homes(struct etcd *e, size_t n, struct err *err)
{
    for (; e->n_loops < n; e->n_loops++) {
        struct etcd_home *h = &e->homes[e->n_loops];
        h->etcd = e;
        h->loop = loop_new(NULL, err);
        if (!h->loop)
            return -(int)err->code;
        e->loops[e->n_loops] = h->loop;
        h->wake.run = etcd__poll;
        LIST_INIT(&h->streams);
        h->feed = store_feed_new(e->store, etcd__wake, h);
    }
    return 0;
}

/* Of a member that is alone: by its folder, so that it is the same after a new start. */
static void choose_ids(struct etcd *e, const struct etcd_options *opt)
{
    struct str dir = str_of(opt->store.dir ? opt->store.dir : "memory");
    e->cluster_id = (uint64_t)crc32c(0, dir.p, dir.n) << 32 | 1;
    e->member_id = (uint64_t)crc32c(1, dir.p, dir.n) << 32 | 2;
}

static int start(struct etcd *e, const struct etcd_options *opt, struct err *err)
{
    int r = store_open(&opt->store, &e->store, err);
    if (r < 0)
        return r;
    e->leases = etcd_leases_new(opt->store.clock);
    r = etcd_leases_load(e->leases, e->store, err);
    if (r < 0)
        return r;
    r = make_homes(e, loop_count(opt->n_loops), err);
    if (r < 0)
        return r;
    e->http = http_server_new(&(struct http_server_options){
        .handler = { .arg = e, .on_head = on_head, .on_request = on_request },
        .loops = e->loops,
        .n_loops = e->n_loops,
    });
    r = http_server_listen(e->http, opt->listen, opt->tls, &e->arena, &e->address, err);
    if (r < 0)
        return r;
    e->client_url = opt->client_url.n
                        ? arena_str(&e->arena, opt->client_url)
                        : arena_printf(&e->arena, "%s://" STR_FMT, opt->tls ? "https" : "http",
                                       STR_ARG(e->address));
    e->expiry.on_fire = on_expiry;
    loop_timer_set(e->loops[0], &e->expiry, clock_mono_ns(&clock_system));
    for (; e->n_threads < e->n_loops; e->n_threads++) {
        int rc = pthread_create(&e->threads[e->n_threads], NULL, run_loop, e->loops[e->n_threads]);
        if (rc)
            return err_errno(err, rc, "start a thread");
    }
    return 0;
}

int etcd_start(const struct etcd_options *opt, struct etcd **ret, struct err *err)
{
    struct etcd *e = mem_new(struct etcd);
    arena_init(&e->arena);
    pthread_mutex_init(&e->ended_lock, NULL);
    pthread_cond_init(&e->ended_moved, NULL);
    e->name = arena_str(&e->arena, str_of(opt->name ? opt->name : "default"));
    e->progress_ns = (opt->progress_ms ? opt->progress_ms : PROGRESS_MS) * NS_PER_MS;
    e->scratch_dir =
        opt->store.engine == STORE_LMDB ? str_cstr(&e->arena, str_of(opt->store.dir)) : "/tmp";
    e->workers = workers_new(WORKERS_MAX, WORKERS_QUEUE);
    choose_ids(e, opt);
    int r = start(e, opt, err);
    if (r < 0) {
        etcd_stop(e);
        return r;
    }
    *ret = e;
    return 0;
}

struct str etcd_address(const struct etcd *e)
{
    return e->address;
}

/* ---- Stopping ---- */

static void note_end(struct etcd *e, bool is_drain)
{
    pthread_mutex_lock(&e->ended_lock);
    e->is_drained |= is_drain;
    e->n_ended += !is_drain;
    pthread_cond_signal(&e->ended_moved);
    pthread_mutex_unlock(&e->ended_lock);
}

static void on_drained(void *arg)
{
    note_end(arg, true);
}

static void drain(struct loop *l, struct loop_msg *m)
{
    struct etcd *e = container_of(m, struct etcd, drain);
    (void)l;
    loop_timer_cancel(&e->expiry);
    http_server_drain(e->http, on_drained, e);
}

/* Watches end at once; what is being written comes to its end first. */
static void end_home(struct loop *l, struct loop_msg *m)
{
    struct etcd_home *h = container_of(m, struct etcd_home, stop);
    etcd__streams_end(h);
    if (h->n_writes)
        loop_later(l, m);
    else
        note_end(h->etcd, false);
}

static void drain_and_wait(struct etcd *e)
{
    for (size_t i = 0; i < e->n_loops; i++) {
        e->homes[i].stop.run = end_home;
        loop_post(e->loops[i], &e->homes[i].stop);
    }
    e->drain.run = drain;
    loop_post(e->loops[0], &e->drain);
    pthread_mutex_lock(&e->ended_lock);
    while (!e->is_drained || e->n_ended < e->n_loops)
        pthread_cond_wait(&e->ended_moved, &e->ended_lock);
    pthread_mutex_unlock(&e->ended_lock);
}

struct etcd *etcd_stop(struct etcd *e)
{
    if (!e)
        return NULL;
    atomic_store(&e->stops, true);
    if (e->n_threads && e->n_threads == e->n_loops)
        drain_and_wait(e);
    workers_free(e->workers);
    for (size_t i = 0; i < e->n_threads; i++)
        loop_stop(e->loops[i]);
    for (size_t i = 0; i < e->n_threads; i++)
        pthread_join(e->threads[i], NULL);
    http_server_free(e->http);
    for (size_t i = 0; i < e->n_loops; i++) {
        store_feed_free(e->homes[i].feed);
        loop_free(e->loops[i]);
    }
    store_close(e->store);
    etcd_leases_free(e->leases);
    pthread_cond_destroy(&e->ended_moved);
    pthread_mutex_destroy(&e->ended_lock);
    arena_done(&e->arena);
    free(e);
    return NULL;
}
