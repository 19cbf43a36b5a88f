/* remote_internal.h - what the files of this folder share: the engine itself.
 *
 * Threads: `watch` (remote_watch.c) follows etcd and lets revisions arrive; `answers`
 * (remote_write.c) waits for etcd's answers to transactions, in the order in which they were sent;
 * `sync` (remote_sync.c) asks for the newest revision, looks after those that wait, and compacts.
 * Each member has a gRPC client with a thread of its own. Locks are leaves. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "net/grpc/grpc.h"
#include "remote/remote.h"
#include "remote/remote_wire.h"
#include "store/mirror.h"

enum {
    REMOTE_CALL_MS = 10000,  /* a write or a question, with all its attempts */
    REMOTE_TRY_MS = 4000,    /* one attempt of what may be asked again */
    REMOTE_START_MS = 20000, /* to find a server that answers */
    REMOTE_LATE_MS = 10000,  /* until the mirror has what etcd has answered */
    REMOTE_PROBE_MS = 2000,  /* how old the news that etcd is there may be */
    REMOTE_PAGE = 500,
    REMOTE_HISTORY_REVS = 10000, /* how far back a start looks */
    REMOTE_QUEUE_BYTES = 32 << 20,
};

/* Somebody who waits until the mirror has a revision: a transaction or a question. */
struct remote_waiter {
    struct remote_waiter *next;
    uint64_t rev;
    int64_t since_ns, until_ns;
    bool may_be_foreign; /* the revision may be of a key outside of the prefix */
    struct store_txn *txn;
    struct store_sync *sync;
};

/* A transaction on its way. */
struct remote_sent {
    struct remote_sent *next;
    struct store_txn *txn;
    struct grpc_stream *stream;
    size_t member;
    int64_t until_ns;
};

struct remote {
    struct store_source source; /* first */
    struct store *store;        /* set when it is open */
    struct arena arena;         /* texts of the options */
    struct str prefix, range_key, range_end, tick_key;
    struct str user, password;
    struct store_codec *codec;
    int (*keep)(struct store_codec *c, struct str key, struct str value, struct buf *out);
    int64_t tick_ns, compact_ns;

    struct grpc_client **members;
    struct str *addresses;
    size_t n_members;
    _Atomic size_t current; /* the member that is asked */
    struct tls_context *tls;

    pthread_mutex_t token_lock; /* guards what follows */
    struct buf token;           /* of the user; empty: none yet */

    pthread_mutex_t lease_lock; /* guards what follows, also while one is asked for */
    uint64_t lease;
    uint32_t lease_ttl_s, lease_uses;
    int64_t lease_until_ns;

    pthread_mutex_t sent_lock; /* guards what follows */
    pthread_cond_t sent_moved;
    struct remote_sent *sent, **sent_last;
    bool answers_stop;

    pthread_mutex_t wait_lock; /* guards what follows */
    pthread_cond_t wait_moved; /* for `sync` */
    struct remote_waiter *waiters;
    struct store_sync *syncs; /* new questions */
    bool sync_stops;
    bool sync_quits;          /* no more questions are taken */
    bool is_asking;           /* `sync` has some questions in hand */
    pthread_cond_t sync_idle; /* it has not */

    pthread_mutex_t stream_lock; /* guards what follows */
    bool watch_stops;
    pthread_cond_t watch_moved;

    pthread_mutex_t queue_lock; /* guards what follows */
    pthread_cond_t queue_moved;
    size_t queued_bytes; /* of what has not been published yet */

    uint64_t last_rev; /* the watch thread's own: everything up to here has arrived */
    _Atomic int failing;
    _Atomic bool is_closed;
    _Atomic int64_t heard_ns; /* when a member answered last */
    bool has_threads;
    pthread_t watch_thread, answers_thread, sync_thread;
};

/* ---- remote_members.c ---- */
int remote__connect(struct remote *r, const struct remote_options *opt, struct err *err);
void remote__disconnect(struct remote *r);
/* What is sent with each call. `text` holds the token. */
size_t remote__metadata(struct remote *r, struct buf *text, struct http_header ret[static 2]);
/* The token is not believed any more: asks for a new one, unless somebody has. Blocks. */
int remote__authenticate(struct remote *r, struct err *err);
/* `member` does not answer; the next one is asked from now on. */
void remote__rotate(struct remote *r, size_t member);
/* A question that may be asked twice: of one member after the other until one answers. ERR_EXPIRED
 * and the like as etcd says. Blocks for `timeout_ms`. */
int remote__ask(struct remote *r, struct str path, struct str request, int64_t timeout_ms,
                struct arena *a, struct str *ret, struct err *err);
/* The error in the words that clients of etcd know. */
int remote__say(const struct grpc_result *result, struct err *err);
int64_t remote__now(void);
/* Sleeps on `c` until the time; the lock is held. */
void remote__sleep(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until_ns);

/* ---- remote_write.c ---- */
void remote__submit(struct store_source *src, struct store_txn *t);
int remote__prepare(struct store_source *src, struct store_txn *t, struct err *err);
void *remote__answers_main(void *arg);
void remote__fail_txn(struct store_txn *t, int code, struct str reason);

/* ---- remote_sync.c ---- */
void remote__sync(struct store_source *src, struct store_sync *y);
void remote__quit(struct store_source *src);
void remote__published(struct store_source *src, uint64_t rev);
/* Calls done() when the mirror has `rev`, perhaps at once. */
void remote__await(struct remote *r, uint64_t rev, bool may_be_foreign, struct store_txn *t,
                   struct store_sync *y);
int remote__compact(struct store_source *src, uint64_t rev, struct err *err);
void *remote__sync_main(void *arg);
/* Until an answer comes, writers and fresh readers get an error soon. */
void remote__note_lost(struct remote *r, const struct err *err);
/* Ends those that wait. */
void remote__end_waiters(struct remote *r);

/* ---- remote_watch.c ---- */
int remote__find_start(struct remote *r, struct err *err);
int remote__fill(struct store_source *src, store_take *put, void *arg, struct err *err);
void *remote__watch_main(void *arg);
