/* remote_write.c - transactions on their way to etcd and back.
 *
 * A transaction is sent by the caller's thread, so that many are on their way at a time; one thread
 * waits for the answers in the order of sending. What surely was not run is sent again, to another
 * member. All other errors are told: etcd may have done it. */
#include "remote/remote_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/wire.h"

#include "base/banned.h"

#define LEASE_USES 1000

void remote__fail_txn(struct store_txn *t, int code, struct str reason)
{
    t->result = code;
    t->rev = 0;
    (void)snprintf(t->reason, sizeof(t->reason), STR_FMT, STR_ARG(reason));
    t->done(t);
}

/* ---- Sending ---- */

static uint64_t lease_of(const struct store_txn *t)
{
    return (uint64_t)(uintptr_t)t->sent;
}

static void send_txn(struct remote *r, struct remote_sent *s)
{
    autobuf request = { 0 };
    autobuf token = { 0 };
    struct http_header metadata[2];
    size_t n = remote__metadata(r, &token, metadata);
    remote_txn_write(&request, r->prefix, s->txn, lease_of(s->txn));
    s->member = r->current;
    (void)grpc_stream_open(r->members[s->member], STR("/etcdserverpb.KV/Txn"), metadata + 1, n - 1,
                           &s->stream, NULL);
    (void)grpc_stream_send(s->stream, buf_str(&request), NULL);
    grpc_stream_half_close(s->stream);
}

static void enqueue(struct remote *r, struct remote_sent *s)
{
    s->next = NULL;
    (void)pthread_mutex_lock(&r->sent_lock);
    *r->sent_last = s;
    r->sent_last = &s->next;
    (void)pthread_cond_signal(&r->sent_moved);
    (void)pthread_mutex_unlock(&r->sent_lock);
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static int check_keys(const struct store_txn *t, struct err *err)
{
    if (t->n_ops < 2)
        return 0;
    autofree struct str *keys = mem_array(t->n_ops, sizeof(*keys));
    for (size_t i = 0; i < t->n_ops; i++)
        keys[i] = t->ops[i].key;
    qsort(keys, t->n_ops, sizeof(*keys), by_text);
    for (size_t i = 1; i < t->n_ops; i++)
        if (str_eq(keys[i - 1], keys[i]))
            return err_set(err, ERR_INVALID, "a key is named twice in one transaction");
    return 0;
}

static int check(const struct store_txn *t, struct err *err)
{
    int r = store_txn_check(t, err);
    if (r < 0)
        return r;
    size_t bytes = 0;
    for (size_t i = 0; i < t->n_ops; i++)
        bytes += 2 * (t->ops[i].key.n + 64) + t->ops[i].value.n;
    if (bytes > LIMIT_GRPC_MESSAGE_BYTES)
        return err_set(err, ERR_TOO_LARGE, "a transaction of %zu bytes is larger than %u", bytes,
                       LIMIT_GRPC_MESSAGE_BYTES);
    return check_keys(t, err);
}

void remote__submit(struct store_source *src, struct store_txn *t)
{
    struct remote *r = (struct remote *)src;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    t->result = 0;
    t->rev = 0;
    t->reason[0] = '\0';
    int res = check(t, &err);
    if (res < 0) {
        remote__fail_txn(t, res, err.msg);
    } else {
        struct remote_sent *s = mem_new(struct remote_sent);
        s->txn = t;
        s->until_ns = remote__now() + (r->failing ? REMOTE_PROBE_MS : REMOTE_CALL_MS) * NS_PER_MS;
        send_txn(r, s);
        enqueue(r, s);
    }
    arena_done(&a);
}

/* ---- Leases ---- */

static int grant(struct remote *r, uint32_t ttl_s, struct err *err)
{
    struct arena a;
    autobuf request = { 0 };
    struct str reply;
    uint32_t reuse_s = ttl_s / 20 < 60 ? ttl_s / 20 : 60;
    arena_init(&a);
    wire_int(&request, 1, ttl_s + reuse_s);
    int64_t now = remote__now();
    int res = remote__ask(r, STR("/etcdserverpb.Lease/LeaseGrant"), buf_str(&request),
                          REMOTE_CALL_MS, &a, &reply, err);
    if (res == 0) {
        r->lease = remote_number(reply, 2);
        r->lease_ttl_s = ttl_s;
        r->lease_uses = 0;
        r->lease_until_ns = now + reuse_s * NS_PER_SEC;
    }
    arena_done(&a);
    return res;
}

/* A lease serves many objects, for a while: one each would be as many writes again. */
static int find_lease(struct remote *r, uint32_t ttl_s, uint64_t *ret, struct err *err)
{
    (void)pthread_mutex_lock(&r->lease_lock);
    int res = 0;
    if (!r->lease || r->lease_ttl_s != ttl_s || r->lease_uses >= LEASE_USES ||
        remote__now() >= r->lease_until_ns)
        res = grant(r, ttl_s, err);
    if (res == 0) {
        r->lease_uses++;
        *ret = r->lease;
    }
    (void)pthread_mutex_unlock(&r->lease_lock);
    return res;
}

static uint32_t ttl_of(const struct store_txn *t)
{
    uint32_t ttl_s = 0;
    for (size_t i = 0; i < t->n_ops; i++)
        if (t->ops[i].type == STORE_PUT && t->ops[i].ttl_s > ttl_s)
            ttl_s = t->ops[i].ttl_s;
    return ttl_s;
}

int remote__prepare(struct store_source *src, struct store_txn *t, struct err *err)
{
    uint32_t ttl_s = ttl_of(t);
    t->sent = NULL;
    if (!ttl_s)
        return 0;
    uint64_t lease = 0;
    int r = find_lease((struct remote *)src, ttl_s, &lease, err);
    if (r < 0)
        return r;
    t->sent = (void *)(uintptr_t)lease;
    return 0;
}

/* The lease of a transaction has ended before its time. Then etcd has done nothing. */
static bool renew_lease(struct remote *r, struct store_txn *t)
{
    (void)pthread_mutex_lock(&r->lease_lock);
    if (r->lease == lease_of(t))
        r->lease = 0;
    (void)pthread_mutex_unlock(&r->lease_lock);
    return remote__prepare(&r->source, t, NULL) == 0;
}

/* ---- Answers ---- */

/* Which condition failed: the first whose key is not as it should be. */
static void find_failed(struct store_txn *t, const struct remote_outcome *o)
{
    size_t at = 0;
    t->result = -ERR_CONFLICT;
    for (size_t i = 0; i < t->n_ops && at < o->n_found; i++) {
        if (t->ops[i].expect_rev == STORE_ANY)
            continue;
        uint64_t mod_rev = o->found[at++].mod_rev;
        if (mod_rev == t->ops[i].expect_rev)
            continue;
        t->failed_op = i;
        t->failed_rev = mod_rev;
        return;
    }
}

static bool has_put(const struct store_txn *t)
{
    for (size_t i = 0; i < t->n_ops; i++)
        if (t->ops[i].type == STORE_PUT)
            return true;
    return false;
}

static void take_outcome(struct remote *r, struct store_txn *t, struct str reply)
{
    struct arena a;
    struct remote_outcome o;
    arena_init(&a);
    if (!remote_outcome_read(&a, reply, &o)) {
        remote__fail_txn(t, -ERR_UNKNOWN, STR("etcd has given an answer that cannot be read"));
    } else {
        if (!o.succeeded)
            find_failed(t, &o);
        t->rev = o.rev;
        /* If nothing has changed, the newest revision need not be one of ours. */
        remote__await(r, o.rev, !o.succeeded || !has_put(t), t, NULL);
    }
    arena_done(&a);
}

/* With the code that upstream answers: it does not tell these errors from others. */
static void fail_by(struct store_txn *t, const struct grpc_result *result)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    int code = remote__say(result, &err);
    if (result->status == GRPC_INVALID_ARGUMENT &&
        str_eq(result->message, STR("etcdserver: request is too large")))
        code = -ERR_TOO_LARGE;
    else if (result->status == GRPC_RESOURCE_EXHAUSTED &&
             str_starts(result->message, STR("etcdserver: mvcc: ")))
        code = -ERR_NO_SPACE;
    else if (code != -ERR_TIMEOUT)
        code = -ERR_UNKNOWN;
    remote__fail_txn(t, code, err.msg);
    arena_done(&a);
}

/* Sends it again where that is safe: etcd has surely not done it. */
static bool send_again(struct remote *r, struct remote_sent *s, const struct grpc_result *result)
{
    bool is_stranger = result->status == GRPC_UNAUTHENTICATED && r->user.n;
    bool has_lost_lease = result->status == GRPC_NOT_FOUND && lease_of(s->txn);
    if (remote__now() >= s->until_ns || r->is_closed)
        return false;
    if (is_stranger)
        (void)remote__authenticate(r, NULL);
    else if (result->surely_not_run)
        remote__rotate(r, s->member);
    else if (!has_lost_lease || !renew_lease(r, s->txn))
        return false;
    s->stream = grpc_stream_free(s->stream);
    send_txn(r, s);
    return true;
}

/* 1 and the reply, or 0 and the result of an attempt that failed. */
static int receive(struct remote_sent *s, struct buf *reply, struct arena *a,
                   struct grpc_result *result)
{
    int64_t left_ms = (s->until_ns - remote__now()) / NS_PER_MS;
    int res = grpc_stream_receive(s->stream, left_ms > 0 ? left_ms : 1, reply, result, a, NULL);
    if (res < 0)
        *result = (struct grpc_result){ GRPC_DEADLINE_EXCEEDED, STR("no answer in time"), false };
    return res > 0;
}

static void finish(struct remote *r, struct remote_sent *s)
{
    struct arena a;
    autobuf reply = { 0 };
    struct grpc_result result = { 0 };
    arena_init(&a);
    int got = receive(s, &reply, &a, &result);
    while (!got && send_again(r, s, &result)) {
        static const struct timespec pause = { .tv_nsec = 20 * NS_PER_MS };
        (void)nanosleep(&pause, NULL);
        got = receive(s, &reply, &a, &result);
    }
    if (got)
        r->heard_ns = remote__now();
    else if (result.status == GRPC_UNAVAILABLE || result.status == GRPC_DEADLINE_EXCEEDED)
        remote__rotate(r, s->member);
    s->stream = grpc_stream_free(s->stream);
    if (got)
        take_outcome(r, s->txn, buf_str(&reply));
    else
        fail_by(s->txn, &result);
    arena_done(&a);
    free(s);
}

void *remote__answers_main(void *arg)
{
    struct remote *r = arg;
    for (;;) {
        (void)pthread_mutex_lock(&r->sent_lock);
        while (!r->sent && !r->answers_stop)
            (void)pthread_cond_wait(&r->sent_moved, &r->sent_lock);
        struct remote_sent *s = r->sent;
        if (s)
            r->sent = s->next;
        if (!r->sent)
            r->sent_last = &r->sent;
        (void)pthread_mutex_unlock(&r->sent_lock);
        if (!s)
            return NULL;
        finish(r, s);
    }
}
