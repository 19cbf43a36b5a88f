/* etcd_internal.h - what the files of this folder share: the server, and one home for each loop.
 *
 * A call, its watches and its pending write live on one loop. The store's thread brings the table
 * of leases up to date, in the order of commits, and passes the word on. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "etcd/etcd.h"
#include "etcd/etcd_lease.h"
#include "net/grpc/grpc.h"
#include "net/loop.h"
#include "net/workers.h"

struct etcd_stream; /* etcd_watch.c */

struct etcd_home {
    struct etcd *etcd;
    struct loop *loop;
    struct store_feed *feed;
    struct loop_msg wake; /* somebody has written */
    atomic_bool is_awake; /* it is posted */
    LIST_HEAD(etcd_streams, etcd_stream) streams;
    size_t n_writes;      /* and other calls that somebody else works on */
    struct loop_msg stop; /* posted by etcd_stop() */
};

struct etcd {
    struct store *store;
    struct etcd_leases *leases;
    struct workers *workers; /* what takes long: long ranges, backups, compactions */
    struct http_server *http;
    struct arena arena;
    struct str address, name, client_url;
    const char *scratch_dir; /* for snapshots on their way */
    uint64_t cluster_id, member_id;
    int64_t progress_ns;
    struct etcd_home homes[ETCD_LOOPS_MAX];
    struct loop *loops[ETCD_LOOPS_MAX];
    pthread_t threads[ETCD_LOOPS_MAX];
    size_t n_loops, n_threads;
    atomic_bool stops;
    struct loop_timer expiry; /* of leases; on the first loop */
    struct loop_msg drain;
    pthread_mutex_t ended_lock; /* guards what follows */
    pthread_cond_t ended_moved;
    bool is_drained;
    size_t n_ended; /* homes that have no write under way any more */
};

/* A ResponseHeader as field 1. */
void etcd__header(const struct etcd *e, struct buf *out, uint64_t rev);
/* Header and body of a unary answer, which ends the call. */
void etcd__answer(struct etcd_home *h, struct grpc_call *call, uint64_t rev, struct str body);
/* The status that fits; `message` is for those etcd has no words for. */
void etcd__fail(struct grpc_call *call, const struct err *err);
void etcd__refuse(struct grpc_call *call, enum grpc_status status, const char *words);

#define ETCD_COMPACTED "etcdserver: mvcc: required revision has been compacted"
#define ETCD_FUTURE    "etcdserver: mvcc: required revision is a future revision"
#define ETCD_NO_LEASE  "etcdserver: requested lease not found"

/* A call with one message each way: `run` gets it, on the loop, and ends the call now or later. */
typedef void etcd_unary(struct etcd_home *h, struct grpc_call *call, struct str message);
void etcd__unary(struct etcd_home *h, struct grpc_call *call, etcd_unary *run);

/* Methods, by file. */
etcd_unary etcd__range;
etcd_unary etcd__compact;
etcd_unary etcd__put;
etcd_unary etcd__delete;
etcd_unary etcd__txn;
etcd_unary etcd__lease_grant;
etcd_unary etcd__lease_revoke;
etcd_unary etcd__lease_time_to_live;
etcd_unary etcd__lease_leases;
void etcd__lease_keep_alive(struct etcd_home *h, struct grpc_call *call);
etcd_unary etcd__status;
etcd_unary etcd__alarm;
etcd_unary etcd__defragment;
etcd_unary etcd__hash_kv;
etcd_unary etcd__member_list;
etcd_unary etcd__health;
void etcd__snapshot(struct etcd_home *h, struct grpc_call *call);
void etcd__watch(struct etcd_home *h, struct grpc_call *call);

/* Ends a lease and its keys; nobody waits for it. On a loop. */
void etcd__expire(struct etcd_home *h, int64_t lease);

/* ---- etcd_watch.c ---- */
void etcd__poll(struct loop *l, struct loop_msg *m); /* of home.wake */
void etcd__wake(void *home);
void etcd__streams_end(struct etcd_home *h);
