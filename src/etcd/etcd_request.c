#include "etcd/etcd_request.h"

#include "base/idiom.h"
#include "base/wire.h"
#include "base/banned.h"

#define MALFORMED "etcdserver: the message cannot be read"
#define NO_KEY    "etcdserver: key is not provided"
#define OWN_KEY   "etcdserver: keys that begin with two zero bytes are the server's own"

static const char *check_key(struct str key)
{
    return !key.n ? NO_KEY : etcd_key_is_own(key) ? OWN_KEY : NULL;
}

const char *etcd_put_read(struct str message, struct etcd_put *ret)
{
    static const struct etcd_field fields[] = {
        { 1, ETCD_BYTES, offsetof(struct etcd_put, key) },
        { 2, ETCD_BYTES, offsetof(struct etcd_put, value) },
        { 3, ETCD_NUMBER, offsetof(struct etcd_put, lease) },
        { 4, ETCD_BOOL, offsetof(struct etcd_put, prev_kv) },
        { 5, ETCD_BOOL, offsetof(struct etcd_put, ignore_value) },
        { 6, ETCD_BOOL, offsetof(struct etcd_put, ignore_lease) },
    };
    *ret = (struct etcd_put){ 0 };
    if (!etcd_fields_read(message, fields, ARRAY_LEN(fields), ret))
        return MALFORMED;
    if (ret->ignore_value && ret->value.n)
        return "etcdserver: value is provided";
    if (ret->ignore_lease && ret->lease)
        return "etcdserver: lease is provided";
    return check_key(ret->key);
}

const char *etcd_delete_read(struct str message, struct etcd_delete *ret)
{
    static const struct etcd_field fields[] = {
        { 1, ETCD_BYTES, offsetof(struct etcd_delete, span.key) },
        { 2, ETCD_BYTES, offsetof(struct etcd_delete, span.end) },
        { 3, ETCD_BOOL, offsetof(struct etcd_delete, prev_kv) },
    };
    *ret = (struct etcd_delete){ 0 };
    if (!etcd_fields_read(message, fields, ARRAY_LEN(fields), ret))
        return MALFORMED;
    return ret->span.key.n ? NULL : NO_KEY;
}

/* ---- Transactions ---- */

static const char *read_compare(struct str message, struct etcd_compare *ret)
{
    static const struct etcd_field fields[] = {
        { 1, ETCD_NUMBER, offsetof(struct etcd_compare, result) },
        { 2, ETCD_NUMBER, offsetof(struct etcd_compare, target) },
        { 3, ETCD_BYTES, offsetof(struct etcd_compare, span.key) },
        { 4, ETCD_NUMBER, offsetof(struct etcd_compare, number) },
        { 5, ETCD_NUMBER, offsetof(struct etcd_compare, number) },
        { 6, ETCD_NUMBER, offsetof(struct etcd_compare, number) },
        { 7, ETCD_BYTES, offsetof(struct etcd_compare, value) },
        { 8, ETCD_NUMBER, offsetof(struct etcd_compare, number) },
        { 64, ETCD_BYTES, offsetof(struct etcd_compare, span.end) },
    };
    *ret = (struct etcd_compare){ 0 };
    if (!etcd_fields_read(message, fields, ARRAY_LEN(fields), ret))
        return MALFORMED;
    return ret->span.key.n ? NULL : NO_KEY;
}

static const char *read_txn(struct arena *a, struct str message, unsigned depth, size_t *left,
                            struct etcd_txn *ret);

static const char *read_op_body(struct arena *a, const struct wire_field *f, unsigned depth,
                                size_t *left, struct etcd_op *ret)
{
    switch (f->number) {
    case ETCD_OP_RANGE:
        return etcd_range_read(f->bytes, &ret->range) ? etcd_range_fault(&ret->range) : MALFORMED;
    case ETCD_OP_PUT:
        return etcd_put_read(f->bytes, &ret->put);
    case ETCD_OP_DELETE:
        return etcd_delete_read(f->bytes, &ret->del);
    default:
        ret->txn = arena_new(a, struct etcd_txn);
        return read_txn(a, f->bytes, depth + 1, left, ret->txn);
    }
}

static const char *read_op(struct arena *a, struct str message, unsigned depth, size_t *left,
                           struct etcd_op *ret)
{
    struct wire_field f;
    int r;
    *ret = (struct etcd_op){ 0 };
    while ((r = wire_next(&message, &f)) == 1) {
        if (f.number < ETCD_OP_RANGE || f.number > ETCD_OP_TXN)
            continue;
        ret->type = (enum etcd_op_type)f.number;
        const char *fault = read_op_body(a, &f, depth, left, ret);
        if (fault)
            return fault;
    }
    return r < 0 ? MALFORMED : NULL;
}

/* How many of each a message has: fields 1 to 3. */
static bool count_fields(struct str message, size_t ret[4])
{
    struct wire_field f;
    int r;
    while ((r = wire_next(&message, &f)) == 1)
        if (f.number < 4)
            ret[f.number]++;
    return r == 0;
}

static const char *read_part(struct arena *a, const struct wire_field *f, unsigned depth,
                             size_t *left, struct etcd_txn *ret)
{
    switch (f->number) {
    case 1:
        return read_compare(f->bytes, &ret->compares[ret->n_compares++]);
    case 2:
        return read_op(a, f->bytes, depth, left, &ret->success[ret->n_success++]);
    case 3:
        return read_op(a, f->bytes, depth, left, &ret->failure[ret->n_failure++]);
    default:
        return NULL;
    }
}

static const char *read_txn(struct arena *a, struct str message, unsigned depth, size_t *left,
                            struct etcd_txn *ret)
{
    size_t n[4] = { 0 };
    struct wire_field f;
    *ret = (struct etcd_txn){ 0 };
    if (depth > ETCD_TXN_DEPTH || !count_fields(message, n))
        return MALFORMED;
    if (n[1] > ETCD_TXN_OPS || n[2] > ETCD_TXN_OPS || n[3] > ETCD_TXN_OPS || n[2] + n[3] > *left)
        return "etcdserver: too many operations in txn request";
    *left -= n[2] + n[3];
    ret->compares = arena_array(a, struct etcd_compare, n[1] + 1);
    ret->success = arena_array(a, struct etcd_op, n[2] + 1);
    ret->failure = arena_array(a, struct etcd_op, n[3] + 1);
    while (wire_next(&message, &f) == 1) {
        const char *fault = read_part(a, &f, depth, left, ret);
        if (fault)
            return fault;
    }
    return NULL;
}

/* ---- Keys that are written twice ---- */

/* What a list of operations may write, whichever way its inner transactions go. */
struct writes {
    struct str *puts;
    size_t n_puts;
    struct etcd_span *deletes;
    size_t n_deletes;
};

#define TWICE "etcdserver: duplicate key given in txn request"

static struct writes writes_new(struct arena *a)
{
    return (struct writes){ .puts = arena_array(a, struct str, ETCD_TXN_TOTAL),
                            .deletes = arena_array(a, struct etcd_span, ETCD_TXN_TOTAL) };
}

static bool has_put(const struct writes *w, size_t from, size_t to, struct str key)
{
    for (size_t i = from; i < to; i++)
        if (str_eq(w->puts[i], key))
            return true;
    return false;
}

static bool has_deleted(const struct writes *w, struct str key)
{
    for (size_t i = 0; i < w->n_deletes; i++)
        if (etcd_span_has(&w->deletes[i], key))
            return true;
    return false;
}

static const char *look_at(struct arena *a, const struct etcd_op *ops, size_t n,
                           struct writes *ret);

/* One of an inner transaction's branches joins what there is; the other one, which excludes it, has
 * put the last `n_then` of these. */
static const char *join(struct writes *all, const struct writes *branch, size_t n_then)
{
    const size_t outer = all->n_puts - n_then;
    for (size_t i = 0; i < branch->n_puts; i++) {
        struct str key = branch->puts[i];
        if (has_put(all, 0, outer, key) || has_deleted(all, key))
            return TWICE;
        if (!has_put(all, outer, all->n_puts, key))
            all->puts[all->n_puts++] = key;
    }
    return NULL;
}

static void join_deletes(struct writes *all, const struct writes *branch)
{
    for (size_t i = 0; i < branch->n_deletes; i++)
        all->deletes[all->n_deletes++] = branch->deletes[i];
}

static const char *look_at_inner(struct arena *a, const struct etcd_txn *txn, struct writes *all)
{
    struct writes branch = writes_new(a), other = writes_new(a);
    const char *fault = look_at(a, txn->success, txn->n_success, &branch);
    if (fault)
        return fault;
    fault = look_at(a, txn->failure, txn->n_failure, &other);
    if (fault)
        return fault;
    const size_t before = all->n_puts;
    fault = join(all, &branch, 0);
    if (fault)
        return fault;
    fault = join(all, &other, all->n_puts - before);
    if (fault)
        return fault;
    join_deletes(all, &branch);
    join_deletes(all, &other);
    return NULL;
}

/* Its own deletes first, then inner transactions, then its own puts: as etcd does it. */
static const char *look_at(struct arena *a, const struct etcd_op *ops, size_t n, struct writes *ret)
{
    for (size_t i = 0; i < n; i++)
        if (ops[i].type == ETCD_OP_DELETE)
            ret->deletes[ret->n_deletes++] = ops[i].del.span;
    for (size_t i = 0; i < n; i++) {
        const char *fault = ops[i].type == ETCD_OP_TXN ? look_at_inner(a, ops[i].txn, ret) : NULL;
        if (fault)
            return fault;
    }
    for (size_t i = 0; i < n; i++) {
        struct str key = ops[i].put.key;
        if (ops[i].type != ETCD_OP_PUT)
            continue;
        if (has_put(ret, 0, ret->n_puts, key) || has_deleted(ret, key))
            return TWICE;
        ret->puts[ret->n_puts++] = key;
    }
    return NULL;
}

static const char *find_twice(struct arena *a, const struct etcd_txn *txn)
{
    struct writes then = writes_new(a), otherwise = writes_new(a);
    const char *fault = look_at(a, txn->success, txn->n_success, &then);
    return fault ? fault : look_at(a, txn->failure, txn->n_failure, &otherwise);
}

const char *etcd_txn_read(struct arena *a, struct str message, struct etcd_txn *ret)
{
    size_t left = ETCD_TXN_TOTAL;
    const char *fault = read_txn(a, message, 0, &left, ret);
    return fault ? fault : find_twice(a, ret);
}

/* ---- Comparisons ---- */

static int order_of(const struct etcd_compare *c, const struct etcd_kv *kv)
{
    int64_t is = 0;
    switch (c->target) {
    case ETCD_COMPARE_VALUE:
        return str_cmp(kv->value, c->value);
    case ETCD_COMPARE_VERSION:
        is = kv->version;
        break;
    case ETCD_COMPARE_CREATE:
        is = (int64_t)kv->create_rev;
        break;
    case ETCD_COMPARE_MOD:
        is = (int64_t)kv->mod_rev;
        break;
    case ETCD_COMPARE_LEASE:
        is = kv->lease;
        break;
    default:
        break;
    }
    return is < c->number ? -1 : is > c->number;
}

bool etcd_compare_holds(const struct etcd_compare *c, const struct etcd_kv *kv)
{
    if (c->target == ETCD_COMPARE_VALUE && !kv->mod_rev)
        return false;
    const int order = order_of(c, kv);
    switch (c->result) {
    case ETCD_EQUAL:
        return order == 0;
    case ETCD_GREATER:
        return order > 0;
    case ETCD_LESS:
        return order < 0;
    default:
        return order != 0;
    }
}
