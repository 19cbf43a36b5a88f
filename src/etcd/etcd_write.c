/* etcd_write.c - puts, deletes, transactions, and what happens to leases: decided against a
 * snapshot, committed on condition that nothing they looked at has changed, and decided again if it
 * has.
 *
 * A write lives on its call's loop. While the store has it, only the store's thread touches it: it
 * brings leases up to date, in the order of commits, and hands it back. What ranges in a
 * transaction see, and what stood there before, is read afterwards, from the revision just before
 * it. */
#include <stdlib.h>
#include <sys/random.h>

#include "base/idiom.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/wire.h"
#include "etcd/etcd_internal.h"
#include "etcd/etcd_request.h"
#include "base/banned.h"

enum { AT_ONCE = 100 }; /* keys of a delete, so that all conditions have room */
enum { TTL_LEAST = 2 };
#define TTL_MOST INT64_C(9000000000)

#define TWICE "etcdserver: duplicate key given in txn request"

enum kind { PUT, DELETE, TXN, GRANT, REVOKE };

/* A key that is written. */
struct change {
    struct str key, bytes; /* bytes: what is stored; a NULL pointer: it is deleted */
    struct str value;
    uint64_t prev_rev, prev_create;
    int64_t prev_lease, lease, version;
};

struct check {
    struct str key;
    uint64_t rev; /* STORE_ABSENT: it is not there */
};

struct write {
    struct store_txn txn;
    struct loop_msg back;
    struct etcd_home *home;
    struct grpc_call *call; /* NULL: nobody waits for it */
    enum kind kind;
    struct arena arena;   /* the request */
    struct arena scratch; /* one try */
    struct etcd_op op;
    struct etcd_txn request;
    int64_t lease, ttl;
    struct change changes[LIMIT_STORE_TXN_OPS];
    size_t n_changes;
    struct check checks[LIMIT_STORE_TXN_OPS];
    size_t n_checks;
    struct store_op ops[2 * LIMIT_STORE_TXN_OPS];
    uint64_t snap_rev;
    struct work work; /* what tells it, if that may take long */
    struct buf body;  /* of the answer */
    uint64_t rev;     /* at which it is in the store */
    struct err err;
    int told;
    bool has_more;       /* a delete goes on with the next keys */
    uint64_t n_deleted;  /* by those before */
    struct buf prev_kvs; /* of these */
    const char *fault;   /* why it is refused */
    enum grpc_status status;
};

static void write_free(struct write *w)
{
    w->home->n_writes--;
    arena_done(&w->arena);
    arena_done(&w->scratch);
    buf_done(&w->prev_kvs);
    buf_done(&w->body);
    free(w);
}

static void refuse(struct write *w, enum grpc_status status, const char *words)
{
    if (w->call)
        etcd__refuse(w->call, status, words);
    write_free(w);
}

static void fail(struct write *w, const struct err *err)
{
    if (w->call)
        etcd__fail(w->call, err);
    write_free(w);
}

/* ---- Deciding ---- */

/* Notes why it cannot be; negative, for those who give up then. */
static int deny(struct write *w, enum grpc_status status, const char *words)
{
    w->status = status;
    w->fault = words;
    return -ERR_INVALID;
}

static struct change *find_change(struct write *w, struct str key)
{
    for (size_t i = 0; i < w->n_changes; i++)
        if (str_eq(w->changes[i].key, key))
            return &w->changes[i];
    return NULL;
}

static int add_change(struct write *w, const struct change *c)
{
    if (w->n_changes == ARRAY_LEN(w->changes))
        return deny(w, GRPC_INVALID_ARGUMENT, "etcdserver: too many operations in txn request");
    w->changes[w->n_changes++] = *c;
    return 0;
}

static int add_check(struct write *w, struct str key, uint64_t rev)
{
    for (size_t i = 0; i < w->n_checks; i++)
        if (str_eq(w->checks[i].key, key))
            return 0;
    if (w->n_checks == ARRAY_LEN(w->checks))
        return deny(w, GRPC_INVALID_ARGUMENT, "etcdserver: too many operations in txn request");
    w->checks[w->n_checks++] = (struct check){ arena_str(&w->scratch, key), rev };
    return 0;
}

/* The lease must be there when the key is. */
static int check_lease(struct write *w, struct store_snap *snap, int64_t lease, struct err *err)
{
    struct store_entry e;
    if (!lease)
        return 0;
    struct str key = etcd_lease_key(&w->scratch, lease);
    int r = store_snap_get(snap, key, &e, err);
    if (r < 0)
        return r;
    return r ? add_check(w, key, e.mod_rev) : deny(w, GRPC_NOT_FOUND, ETCD_NO_LEASE);
}

static int decide_put(struct write *w, struct store_snap *snap, const struct etcd_put *put,
                      struct err *err)
{
    struct etcd_kv prev = { 0 };
    autobuf bytes = { 0 };
    if (find_change(w, put->key))
        return deny(w, GRPC_INVALID_ARGUMENT, TWICE);
    /* A put by itself is refused for its lease first; one in a transaction for its key. */
    int r = w->kind == PUT ? check_lease(w, snap, put->lease, err) : 0;
    if (r < 0)
        return r;
    r = etcd_find(snap, put->key, &prev, err);
    if (r < 0)
        return r;
    if (!r && (put->ignore_value || put->ignore_lease))
        return deny(w, GRPC_INVALID_ARGUMENT, "etcdserver: key not found");
    struct change c = {
        .key = put->key,
        .value = put->ignore_value ? arena_str(&w->scratch, prev.value) : put->value,
        .prev_rev = prev.mod_rev,
        .prev_create = prev.create_rev,
        .prev_lease = prev.lease,
        .lease = put->ignore_lease ? prev.lease : put->lease,
        .version = prev.version + 1,
    };
    r = check_lease(w, snap, c.lease, err);
    if (r < 0)
        return r;
    etcd_kv_store(&bytes, c.version, c.lease, c.value);
    c.bytes = arena_str(&w->scratch, buf_str(&bytes));
    return add_change(w, &c);
}

struct deleting {
    struct write *write;
    size_t most;
    int64_t lease; /* only its keys; 0: all */
};

static int delete_one(void *arg, const struct etcd_kv *kv)
{
    struct deleting *d = arg;
    if ((d->lease && kv->lease != d->lease) || find_change(d->write, kv->key))
        return 0; /* not its own, or deleted already */
    if (d->write->n_changes >= d->most) {
        d->write->has_more = true;
        return -ERR_EXISTS;
    }
    return add_change(d->write, &(struct change){ .key = arena_str(&d->write->scratch, kv->key),
                                                  .prev_rev = kv->mod_rev,
                                                  .prev_create = kv->create_rev,
                                                  .prev_lease = kv->lease });
}

/* What etcd lets pass, and then does one after the other, is refused: a key has one change. */
static int decide_delete(struct write *w, struct store_snap *snap, const struct etcd_delete *del,
                         struct err *err)
{
    for (size_t i = 0; i < w->n_changes; i++)
        if (w->changes[i].bytes.p && etcd_span_has(&del->span, w->changes[i].key))
            return deny(w, GRPC_INVALID_ARGUMENT, TWICE);
    struct deleting d = { w, w->kind == DELETE ? AT_ONCE : SIZE_MAX, 0 };
    int r = etcd_each(snap, &del->span, delete_one, &d, err);
    return r == -ERR_EXISTS ? 0 : r;
}

struct comparing {
    struct write *write;
    const struct etcd_compare *compare;
    bool holds, is_any;
};

static int compare_one(void *arg, const struct etcd_kv *kv)
{
    struct comparing *c = arg;
    c->is_any = true;
    c->holds &= etcd_compare_holds(c->compare, kv);
    return add_check(c->write, kv->key, kv->mod_rev);
}

/* Whether all of a transaction's comparisons hold: 1 or 0. */
static int compare_all(struct write *w, struct store_snap *snap, const struct etcd_txn *txn,
                       struct err *err)
{
    bool holds = true;
    for (size_t i = 0; i < txn->n_compares; i++) {
        struct comparing c = { w, &txn->compares[i], true, false };
        int r = etcd_each(snap, &c.compare->span, compare_one, &c, err);
        if (r < 0)
            return r;
        if (!c.is_any) {
            c.holds = etcd_compare_holds(c.compare, &(struct etcd_kv){ 0 });
            r = etcd_key_is_own(c.compare->span.key) || !etcd_span_is_one(&c.compare->span)
                    ? 0
                    : add_check(w, c.compare->span.key, STORE_ABSENT);
        }
        if (r < 0)
            return r;
        holds &= c.holds;
    }
    return holds;
}

static int check_revision(struct write *w, int64_t revision)
{
    if (revision <= 0)
        return 0;
    if ((uint64_t)revision > w->snap_rev)
        return deny(w, GRPC_OUT_OF_RANGE, ETCD_FUTURE);
    if ((uint64_t)revision < store_floor(w->home->etcd->store))
        return deny(w, GRPC_OUT_OF_RANGE, ETCD_COMPACTED);
    return 0;
}

static int decide_txn(struct write *w, struct store_snap *snap, struct etcd_txn *txn,
                      struct err *err);

static int decide_op(struct write *w, struct store_snap *snap, const struct etcd_op *op,
                     struct err *err)
{
    switch (op->type) {
    case ETCD_OP_PUT:
        return decide_put(w, snap, &op->put, err);
    case ETCD_OP_DELETE:
        return decide_delete(w, snap, &op->del, err);
    case ETCD_OP_TXN:
        return decide_txn(w, snap, op->txn, err);
    case ETCD_OP_RANGE:
    case ETCD_OP_NONE:
        break;
    }
    return 0;
}

/* Which revisions it reads is looked at when all else was found right. */
static int check_ranges(struct write *w, const struct etcd_txn *txn)
{
    const struct etcd_op *ops = txn->succeeded ? txn->success : txn->failure;
    const size_t n = txn->succeeded ? txn->n_success : txn->n_failure;
    for (size_t i = 0; i < n; i++) {
        int r = ops[i].type == ETCD_OP_RANGE ? check_revision(w, ops[i].range.revision)
                : ops[i].type == ETCD_OP_TXN ? check_ranges(w, ops[i].txn)
                                             : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

static int decide_txn(struct write *w, struct store_snap *snap, struct etcd_txn *txn,
                      struct err *err)
{
    int holds = compare_all(w, snap, txn, err);
    if (holds < 0)
        return holds;
    txn->succeeded = holds;
    const struct etcd_op *ops = holds ? txn->success : txn->failure;
    const size_t n = holds ? txn->n_success : txn->n_failure;
    for (size_t i = 0; i < n; i++) {
        int r = decide_op(w, snap, &ops[i], err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int decide_grant(struct write *w, struct store_snap *snap, struct err *err)
{
    struct store_entry e;
    autobuf ttl = { 0 };
    struct str key = etcd_lease_key(&w->scratch, w->lease);
    int r = store_snap_get(snap, key, &e, err);
    if (r < 0)
        return r;
    if (r)
        return deny(w, GRPC_FAILED_PRECONDITION, "etcdserver: lease already exists");
    wire_varint(&ttl, (uint64_t)w->ttl);
    return add_change(
        w, &(struct change){ .key = key, .bytes = arena_str(&w->scratch, buf_str(&ttl)) });
}

/* Its keys as they are now, some at a time, and then the lease itself. */
static int decide_revoke(struct write *w, struct store_snap *snap, struct err *err)
{
    struct etcd_lease_state state;
    struct store_entry e;
    struct str key = etcd_lease_key(&w->scratch, w->lease);
    struct deleting d = { w, AT_ONCE, w->lease };
    int r = store_snap_get(snap, key, &e, err);
    if (r < 0)
        return r;
    if (!r)
        return deny(w, GRPC_NOT_FOUND, ETCD_NO_LEASE);
    (void)etcd_leases_look(w->home->etcd->leases, &w->scratch, w->lease, &state);
    for (size_t i = 0; i < state.n_keys && !w->has_more; i++) {
        const struct etcd_span one = { state.keys[i], STR("") };
        r = etcd_each(snap, &one, delete_one, &d, err);
        if (r < 0 && r != -ERR_EXISTS)
            return r;
    }
    if (w->has_more)
        return 0;
    return add_change(w, &(struct change){ .key = key, .prev_rev = e.mod_rev });
}

static int decide(struct write *w, struct store_snap *snap, struct err *err)
{
    switch (w->kind) {
    case PUT:
    case DELETE:
        return decide_op(w, snap, &w->op, err);
    case TXN: {
        int r = decide_txn(w, snap, &w->request, err);
        return r < 0 ? r : check_ranges(w, &w->request);
    }
    case GRANT:
        return decide_grant(w, snap, err);
    case REVOKE:
        return decide_revoke(w, snap, err);
    }
    return 0;
}

/* ---- Answering ---- */

/* How far the answer to a transaction is: what its ranges see. */
struct telling {
    struct write *write;
    struct store_snap *snap; /* of the revision before it */
    uint64_t before, after;
    size_t n_told; /* bytes of all operations so far */
    struct etcd_overlay over;
    struct etcd_kv kvs[LIMIT_STORE_TXN_OPS];
};

static void add_message(struct buf *out, unsigned number, const struct buf *message)
{
    wire_head(out, number, message->n);
    buf_str_add(out, buf_str(message));
}

static void add_revision(struct buf *out, uint64_t rev)
{
    autobuf header = { 0 };
    wire_int(&header, 3, rev);
    add_message(out, 1, &header);
}

static uint64_t seen_by(const struct telling *t)
{
    return t->over.n ? t->after : t->before;
}

static int tell_put(struct telling *t, const struct etcd_put *put, struct buf *out, struct err *err)
{
    const struct change *c = find_change(t->write, put->key);
    struct etcd_kv prev;
    int r = put->prev_kv ? etcd_find(t->snap, put->key, &prev, err) : 0;
    if (r < 0)
        return r;
    t->kvs[t->over.n++] =
        (struct etcd_kv){ c->key,   c->value,   c->prev_rev ? c->prev_create : t->after,
                          t->after, c->version, c->lease };
    if (r)
        etcd_kv_write(out, 2, &prev, false);
    return 0;
}

static bool is_deleted(const struct telling *t, struct str key)
{
    for (size_t i = 0; i < t->over.n; i++)
        if (str_eq(t->kvs[i].key, key))
            return true;
    return false;
}

struct telling_delete {
    struct telling *telling;
    struct buf *prev_kvs; /* NULL: they are not asked for */
    uint64_t n;
};

static int tell_deleted(void *arg, const struct etcd_kv *kv)
{
    struct telling_delete *d = arg;
    struct telling *t = d->telling;
    const struct change *c = find_change(t->write, kv->key);
    if (!c || is_deleted(t, kv->key)) /* one that comes later, or was before */
        return 0;
    d->n++;
    t->kvs[t->over.n++] = (struct etcd_kv){ .key = c->key };
    if (d->prev_kvs)
        etcd_kv_write(d->prev_kvs, 3, kv, false);
    /* In pieces, the first keys are the ones that went: those behind them are not looked at. */
    return t->write->kind == DELETE && d->n == t->write->n_changes ? -ERR_EXISTS : 0;
}

static int tell_delete(struct telling *t, const struct etcd_delete *del, struct buf *out,
                       struct err *err)
{
    struct write *w = t->write;
    struct telling_delete d = { t, del->prev_kv ? &w->prev_kvs : NULL, 0 };
    int r = etcd_each(t->snap, &del->span, tell_deleted, &d, err);
    if (r < 0 && r != -ERR_EXISTS)
        return r;
    w->n_deleted += d.n;
    if (w->has_more)
        return 0;
    wire_int(out, 2, w->n_deleted);
    buf_str_add(out, buf_str(&w->prev_kvs));
    w->n_deleted = 0;
    buf_reset(&w->prev_kvs);
    return 0;
}

static int tell_range(struct telling *t, const struct etcd_range *range, struct buf *out,
                      struct err *err)
{
    static const struct etcd_overlay none = { 0 };
    const size_t most = LIMIT_ETCD_TXN_BYTES - t->n_told;
    struct store_snap *snap;
    if (range->revision <= 0)
        return etcd_range_write(&t->write->scratch, t->snap, range, &t->over, most, out, err);
    int r = store_snap_begin(t->write->home->etcd->store, (uint64_t)range->revision, &snap, err);
    if (r < 0)
        return r;
    r = etcd_range_write(&t->write->scratch, snap, range, &none, most, out, err);
    store_snap_end(snap);
    return r;
}

static int tell_txn(struct telling *t, const struct etcd_txn *txn, struct buf *out,
                    struct err *err);

static int tell_op(struct telling *t, const struct etcd_op *op, struct buf *out, struct err *err)
{
    autobuf body = { 0 }, heads = { 0 };
    int r = 0;
    switch (op->type) {
    case ETCD_OP_PUT:
        r = tell_put(t, &op->put, &body, err);
        break;
    case ETCD_OP_DELETE:
        r = tell_delete(t, &op->del, &body, err);
        break;
    case ETCD_OP_RANGE:
        r = tell_range(t, &op->range, &body, err);
        break;
    case ETCD_OP_TXN:
        r = tell_txn(t, op->txn, &body, err);
        break;
    case ETCD_OP_NONE:
        break;
    }
    if (r < 0)
        return r;
    if (op->type != ETCD_OP_TXN)
        t->n_told += body.n;
    if (t->n_told > LIMIT_ETCD_TXN_BYTES)
        return err_set(err, ERR_TOO_MANY_REQUESTS, ETCD_LARGE);
    /* ResponseOp { RangeResponse or another { header, body } }, without a copy in between. */
    autobuf header = { 0 };
    add_revision(&header, op->type == ETCD_OP_TXN ? 0 : seen_by(t));
    const size_t n = header.n + body.n;
    if (op->type) {
        wire_head(&heads, op->type, n);
        wire_head(out, 3, heads.n + n);
        buf_str_add(out, buf_str(&heads));
        buf_str_add(out, buf_str(&header));
        buf_str_add(out, buf_str(&body));
    } else {
        wire_head(out, 3, 0);
    }
    return 0;
}

static int tell_txn(struct telling *t, const struct etcd_txn *txn, struct buf *out, struct err *err)
{
    const struct etcd_op *ops = txn->succeeded ? txn->success : txn->failure;
    const size_t n = txn->succeeded ? txn->n_success : txn->n_failure;
    wire_int(out, 2, txn->succeeded);
    for (size_t i = 0; i < n; i++) {
        int r = tell_op(t, &ops[i], out, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int tell(struct telling *t, struct buf *out, struct err *err)
{
    struct write *w = t->write;
    switch (w->kind) {
    case PUT:
        return tell_put(t, &w->op.put, out, err);
    case DELETE:
        return tell_delete(t, &w->op.del, out, err);
    case TXN:
        return tell_txn(t, &w->request, out, err);
    case GRANT:
        wire_int(out, 2, (uint64_t)w->lease);
        wire_int(out, 3, (uint64_t)w->ttl);
        break;
    case REVOKE:
        break;
    }
    return 0;
}

static int tell_at(struct write *w, uint64_t before, uint64_t after, struct buf *out,
                   struct err *err)
{
    struct telling *t = arena_new(&w->scratch, struct telling);
    *t = (struct telling){ .write = w, .before = before, .after = after };
    t->over.kvs = t->kvs;
    int r = store_snap_begin(w->home->etcd->store, before, &t->snap, err);
    if (r < 0)
        return r;
    r = tell(t, out, err);
    store_snap_end(t->snap);
    return r;
}

static void attempt(struct write *w);

static void tell_all(struct write *w)
{
    w->err = (struct err)ERR_INIT(&w->scratch);
    w->told =
        w->call ? tell_at(w, w->n_changes ? w->rev - 1 : w->rev, w->rev, &w->body, &w->err) : 0;
}

static void answer(struct write *w)
{
    if (w->told < 0 && w->err.code == ERR_TOO_MANY_REQUESTS && w->n_changes) {
        refuse(w, GRPC_RESOURCE_EXHAUSTED,
               "etcdserver: the transaction is done, but its answer is too large");
        return;
    }
    if (w->told < 0) {
        fail(w, &w->err);
        return;
    }
    if (w->has_more) {
        attempt(w);
        return;
    }
    if (w->call)
        etcd__answer(w->home, w->call, w->rev, buf_str(&w->body));
    write_free(w);
}

static void on_told(struct loop *l, struct loop_msg *m)
{
    (void)l;
    answer(container_of(m, struct write, back));
}

static void tell_for(struct work *work) /* thread: worker */
{
    struct write *w = container_of(work, struct write, work);
    tell_all(w);
    loop_post(w->home->loop, &w->back);
}

/* Whether its answer may have many keys: then it is not the loop that reads them. */
static bool reads_many(const struct etcd_txn *txn)
{
    const struct etcd_op *ops = txn->succeeded ? txn->success : txn->failure;
    const size_t n = txn->succeeded ? txn->n_success : txn->n_failure;
    for (size_t i = 0; i < n; i++)
        if ((ops[i].type == ETCD_OP_RANGE && !etcd_span_is_one(&ops[i].range.span)) ||
            (ops[i].type == ETCD_OP_TXN && reads_many(ops[i].txn)))
            return true;
    return false;
}

/* It is in the store at `rev`, or has changed nothing there. Where no worker is free, the loop
 * tells it all the same: it may be done already, and must not be refused. */
static void finish(struct write *w, uint64_t rev)
{
    w->rev = rev;
    w->work.run = tell_for;
    w->back.run = on_told;
    if (w->kind == TXN && reads_many(&w->request) &&
        workers_submit(w->home->etcd->workers, &w->work))
        return;
    tell_all(w);
    answer(w);
}

/* ---- Committing ---- */

static void on_done(struct store_txn *t) /* thread: store */
{
    struct write *w = container_of(t, struct write, txn);
    struct etcd_leases *leases = w->home->etcd->leases;
    for (size_t i = 0; t->result == 0 && i < w->n_changes; i++) {
        const struct change *c = &w->changes[i];
        if (etcd_key_is_own(c->key))
            etcd_leases_set(leases, w->lease, c->bytes.p ? w->ttl : 0);
        else
            etcd_leases_move(leases, c->key, c->prev_lease, c->lease);
    }
    loop_post(w->home->loop, &w->back);
}

static void on_back(struct loop *l, struct loop_msg *m)
{
    struct write *w = container_of(m, struct write, back);
    (void)l;
    struct err err = ERR_INIT(&w->scratch);
    if (w->txn.result == 0) {
        finish(w, w->txn.rev);
    } else if (w->txn.result == -ERR_CONFLICT) {
        attempt(w); /* somebody was faster */
    } else {
        (void)err_set(&err, (enum err_code) - w->txn.result, "%s", w->txn.reason);
        fail(w, &err);
    }
}

static void submit(struct write *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n_changes; i++) {
        const struct change *c = &w->changes[i];
        w->ops[n++] = (struct store_op){ .type = c->bytes.p ? STORE_PUT : STORE_DELETE,
                                         .key = c->key,
                                         .value = c->bytes,
                                         .expect_rev = c->prev_rev };
    }
    for (size_t i = 0; i < w->n_checks; i++)
        if (!find_change(w, w->checks[i].key))
            w->ops[n++] = (struct store_op){ .type = STORE_CHECK,
                                             .key = w->checks[i].key,
                                             .expect_rev = w->checks[i].rev };
    w->txn = (struct store_txn){ .ops = w->ops, .n_ops = n, .done = on_done };
    w->back.run = on_back;
    store_submit(w->home->etcd->store, &w->txn);
}

static void attempt(struct write *w)
{
    struct store_snap *snap;
    arena_reset(&w->scratch);
    struct err err = ERR_INIT(&w->scratch);
    w->n_changes = w->n_checks = 0;
    w->has_more = false;
    w->fault = NULL;
    int r = store_snap_begin(w->home->etcd->store, 0, &snap, &err);
    if (r < 0) {
        fail(w, &err);
        return;
    }
    w->snap_rev = store_snap_rev(snap);
    r = decide(w, snap, &err);
    store_snap_end(snap);
    if (w->fault)
        refuse(w, w->status, w->fault);
    else if (r < 0)
        fail(w, &err);
    else if (w->n_changes)
        submit(w);
    else
        finish(w, w->snap_rev);
}

/* ---- The calls ---- */

static struct write *write_new(struct etcd_home *h, struct grpc_call *call, enum kind kind)
{
    struct write *w = mem_new(struct write);
    w->home = h;
    w->call = call;
    w->kind = kind;
    arena_init(&w->arena);
    arena_init(&w->scratch);
    h->n_writes++;
    return w;
}

/* Goes on with it unless its request is wrong. */
static void begin(struct write *w, const char *fault)
{
    if (fault)
        refuse(w, GRPC_INVALID_ARGUMENT, fault);
    else
        attempt(w);
}

void etcd__put(struct etcd_home *h, struct grpc_call *call, struct str message)
{
    struct write *w = write_new(h, call, PUT);
    w->op.type = ETCD_OP_PUT;
    begin(w, etcd_put_read(arena_str(&w->arena, message), &w->op.put));
}

void etcd__delete(struct etcd_home *h, struct grpc_call *call, struct str message)
{
    struct write *w = write_new(h, call, DELETE);
    w->op.type = ETCD_OP_DELETE;
    begin(w, etcd_delete_read(arena_str(&w->arena, message), &w->op.del));
}

void etcd__txn(struct etcd_home *h, struct grpc_call *call, struct str message)
{
    struct write *w = write_new(h, call, TXN);
    begin(w, etcd_txn_read(&w->arena, arena_str(&w->arena, message), &w->request));
}

/* ---- Leases ---- */

/* Fields 1 and 2, which are numbers. */
static bool read_numbers(struct str message, int64_t ret[2])
{
    struct wire_field f;
    int r;
    while ((r = wire_next(&message, &f)) == 1)
        if (f.number == 1 || f.number == 2)
            ret[f.number - 1] = (int64_t)f.n;
    return r == 0;
}

static int64_t new_id(void)
{
    int64_t id = 0;
    while (getrandom(&id, sizeof(id), 0) != sizeof(id) || !(id & INT64_MAX))
        continue;
    return id & INT64_MAX;
}

void etcd__lease_grant(struct etcd_home *h, struct grpc_call *call, struct str message)
{
    struct write *w = write_new(h, call, GRANT);
    int64_t given[2] = { 0 }; /* the time, and an id */
    const bool is_good = read_numbers(message, given);
    w->ttl = given[0] > TTL_LEAST ? given[0] : TTL_LEAST;
    w->lease = given[1] ? given[1] : new_id();
    if (w->ttl > TTL_MOST)
        refuse(w, GRPC_OUT_OF_RANGE, "etcdserver: too large lease TTL");
    else
        begin(w, is_good ? NULL : "etcdserver: the message cannot be read");
}

void etcd__lease_revoke(struct etcd_home *h, struct grpc_call *call, struct str message)
{
    struct write *w = write_new(h, call, REVOKE);
    int64_t given[2] = { 0 };
    const bool is_good = read_numbers(message, given);
    w->lease = given[0];
    begin(w, is_good ? NULL : "etcdserver: the message cannot be read");
}

void etcd__expire(struct etcd_home *h, int64_t lease)
{
    struct write *w = write_new(h, NULL, REVOKE);
    w->lease = lease;
    attempt(w);
}

static uint64_t rev_now(const struct etcd_home *h)
{
    return store_rev(h->etcd->store);
}

void etcd__lease_time_to_live(struct etcd_home *h, struct grpc_call *call, struct str message)
{
    int64_t given[2] = { 0 }; /* an id, and whether the keys are wanted */
    struct etcd_lease_state state;
    struct arena a;
    autobuf body = { 0 };
    if (!read_numbers(message, given)) {
        etcd__refuse(call, GRPC_INVALID_ARGUMENT, "etcdserver: the message cannot be read");
        return;
    }
    arena_init(&a);
    const bool is_there = etcd_leases_look(h->etcd->leases, given[1] ? &a : NULL, given[0], &state);
    wire_int(&body, 2, (uint64_t)given[0]);
    wire_int(&body, 3, is_there ? (uint64_t)state.left : UINT64_MAX);
    wire_int(&body, 4, (uint64_t)state.ttl);
    for (size_t i = 0; i < state.n_keys; i++)
        wire_bytes(&body, 5, state.keys[i]);
    etcd__answer(h, call, rev_now(h), buf_str(&body));
    arena_done(&a);
}

void etcd__lease_leases(struct etcd_home *h, struct grpc_call *call, struct str message)
{
    struct arena a;
    size_t n;
    autobuf body = { 0 };
    (void)message;
    arena_init(&a);
    const int64_t *ids = etcd_leases_list(h->etcd->leases, &a, &n);
    for (size_t i = 0; i < n; i++) {
        autobuf lease = { 0 };
        wire_int(&lease, 1, (uint64_t)ids[i]);
        add_message(&body, 2, &lease);
    }
    etcd__answer(h, call, rev_now(h), buf_str(&body));
    arena_done(&a);
}

static void keep_alive(void *arg, struct grpc_call *call, struct str message)
{
    struct etcd_home *h = arg;
    int64_t given[2] = { 0 };
    autobuf reply = { 0 };
    if (!read_numbers(message, given)) {
        etcd__refuse(call, GRPC_INVALID_ARGUMENT, "etcdserver: the message cannot be read");
        return;
    }
    etcd__header(h->etcd, &reply, rev_now(h));
    wire_int(&reply, 2, (uint64_t)given[0]);
    wire_int(&reply, 3, (uint64_t)etcd_leases_renew(h->etcd->leases, given[0]));
    grpc_call_send(call, buf_str(&reply));
}

static void end_call(void *arg, struct grpc_call *call)
{
    (void)arg;
    grpc_call_end(call, GRPC_OK, STR(""));
}

void etcd__lease_keep_alive(struct etcd_home *h, struct grpc_call *call)
{
    grpc_call_listen(call, &(struct grpc_call_events){ .arg = h,
                                                       .on_message = keep_alive,
                                                       .on_half_close = end_call,
                                                       .on_gone = end_call });
}
