#include "etcd/etcd_kv.h"

#include <stdlib.h>

#include "base/wire.h"
#include "base/idiom.h"
#include "base/banned.h"

/* ---- One key ---- */

bool etcd_key_is_own(struct str key)
{
    return str_eq(key, STR("\0")) || str_starts(key, STR("\0\0"));
}

bool etcd_kv_read(const struct store_entry *e, struct etcd_kv *ret)
{
    uint64_t version = 0, lease = 0;
    struct str rest = e->value;
    if (etcd_key_is_own(e->key) ||
        (rest.n && (!wire_take_varint(&rest, &version) || !wire_take_varint(&rest, &lease))))
        return false;
    *ret = (struct etcd_kv){ e->key,           rest,          e->create_rev, e->mod_rev,
                             (int64_t)version, (int64_t)lease };
    return true;
}

void etcd_kv_store(struct buf *out, int64_t version, int64_t lease, struct str value)
{
    wire_varint(out, (uint64_t)version);
    wire_varint(out, (uint64_t)lease);
    buf_str_add(out, value);
}

void etcd_kv_write(struct buf *out, unsigned number, const struct etcd_kv *kv, bool keys_only)
{
    const struct str value = keys_only ? STR("") : kv->value;
    wire_head(out, number,
              wire_bytes_size(1, kv->key.n) + wire_int_size(2, kv->create_rev) +
                  wire_int_size(3, kv->mod_rev) + wire_int_size(4, (uint64_t)kv->version) +
                  wire_bytes_size(5, value.n) + wire_int_size(6, (uint64_t)kv->lease));
    wire_bytes(out, 1, kv->key);
    wire_int(out, 2, kv->create_rev);
    wire_int(out, 3, kv->mod_rev);
    wire_int(out, 4, (uint64_t)kv->version);
    wire_bytes(out, 5, value);
    wire_int(out, 6, (uint64_t)kv->lease);
}

/* ---- Spans ---- */

bool etcd_span_is_one(const struct etcd_span *s)
{
    return !s->end.n;
}

static bool is_open(const struct etcd_span *s)
{
    return str_eq(s->end, STR("\0"));
}

bool etcd_span_has(const struct etcd_span *s, struct str key)
{
    if (etcd_span_is_one(s))
        return str_eq(s->key, key);
    return str_cmp(key, s->key) >= 0 && (is_open(s) || str_cmp(key, s->end) < 0);
}

/* An end that is a prefix with its last byte one higher is the end of just that prefix. */
static bool is_end_of(struct str prefix, struct str end)
{
    return prefix.n == end.n && prefix.n && memcmp(prefix.p, end.p, end.n - 1) == 0 &&
           (unsigned char)prefix.p[end.n - 1] + 1 == (unsigned char)end.p[end.n - 1];
}

struct str etcd_span_prefix(const struct etcd_span *s)
{
    if (etcd_span_is_one(s))
        return s->key;
    struct str prefix = str_take(s->key, s->end.n);
    if (!is_open(s) && is_end_of(prefix, s->end))
        return prefix;
    size_t n = 0;
    while (!is_open(s) && n < s->key.n && n < s->end.n && s->key.p[n] == s->end.p[n])
        n++;
    return str_take(s->key, n);
}

/* Whether everything with the prefix, from the key on, is in it. */
static bool is_prefix(const struct etcd_span *s, struct str prefix)
{
    return is_open(s) ? !prefix.n : is_end_of(prefix, s->end);
}

static struct str first_of(const struct etcd_span *s)
{
    return str_cmp(s->key, ETCD_FIRST_KEY) < 0 ? ETCD_FIRST_KEY : s->key;
}

/* ---- Reading ---- */

int etcd_find(struct store_snap *snap, struct str key, struct etcd_kv *ret, struct err *err)
{
    struct store_entry e;
    if (!key.n || etcd_key_is_own(key))
        return 0;
    int r = store_snap_get(snap, key, &e, err);
    if (r != 1)
        return r;
    e.key = key;
    return etcd_kv_read(&e, ret);
}

int etcd_each(struct store_snap *snap, const struct etcd_span *s, etcd_take *take, void *arg,
              struct err *err)
{
    struct store_entry e;
    struct etcd_kv kv;
    int r;
    if (etcd_span_is_one(s)) {
        r = etcd_find(snap, s->key, &kv, err);
        return r == 1 ? take(arg, &kv) : r;
    }
    store_range_begin(snap, etcd_span_prefix(s), first_of(s));
    while ((r = store_range_next(snap, &e, err)) == 1) {
        if (!etcd_span_has(s, e.key))
            return 0;
        r = etcd_kv_read(&e, &kv) ? take(arg, &kv) : 0;
        if (r < 0)
            return r;
    }
    return r;
}

static int count_one(void *arg, const struct etcd_kv *kv)
{
    (void)kv;
    ++*(uint64_t *)arg;
    return 0;
}

/* How many there are; values are not looked at where that can be helped. */
static int count_from(struct store_snap *snap, const struct etcd_span *s, uint64_t *ret,
                      struct err *err)
{
    struct str prefix = etcd_span_prefix(s);
    *ret = 0;
    if (!etcd_span_is_one(s) && is_prefix(s, prefix))
        return store_count(snap, prefix, first_of(s), ret, err);
    return etcd_each(snap, s, count_one, ret, err);
}

/* ---- A range ---- */

static void take_field(const struct wire_field *f, enum etcd_field_type type, void *to)
{
    switch (type) {
    case ETCD_BYTES:
        *(struct str *)to = f->bytes;
        break;
    case ETCD_NUMBER:
        *(uint64_t *)to = f->n;
        break;
    case ETCD_BOOL:
        *(bool *)to = f->n;
        break;
    }
}

bool etcd_fields_read(struct str message, const struct etcd_field *fields, size_t n, void *ret)
{
    struct wire_field f;
    int r;
    while ((r = wire_next(&message, &f)) == 1)
        for (size_t i = 0; i < n; i++)
            if (fields[i].number == f.number)
                take_field(&f, fields[i].type, (char *)ret + fields[i].at);
    return r == 0;
}

bool etcd_range_read(struct str message, struct etcd_range *ret)
{
    static const struct etcd_field fields[] = {
        { 1, ETCD_BYTES, offsetof(struct etcd_range, span.key) },
        { 2, ETCD_BYTES, offsetof(struct etcd_range, span.end) },
        { 3, ETCD_NUMBER, offsetof(struct etcd_range, limit) },
        { 4, ETCD_NUMBER, offsetof(struct etcd_range, revision) },
        { 5, ETCD_NUMBER, offsetof(struct etcd_range, order) },
        { 6, ETCD_NUMBER, offsetof(struct etcd_range, target) },
        { 8, ETCD_BOOL, offsetof(struct etcd_range, keys_only) },
        { 9, ETCD_BOOL, offsetof(struct etcd_range, count_only) },
        { 10, ETCD_NUMBER, offsetof(struct etcd_range, min_mod) },
        { 11, ETCD_NUMBER, offsetof(struct etcd_range, max_mod) },
        { 12, ETCD_NUMBER, offsetof(struct etcd_range, min_create) },
        { 13, ETCD_NUMBER, offsetof(struct etcd_range, max_create) },
    };
    *ret = (struct etcd_range){ 0 };
    return etcd_fields_read(message, fields, ARRAY_LEN(fields), ret);
}

const char *etcd_range_fault(const struct etcd_range *r)
{
    if (!r->span.key.n)
        return "etcdserver: key is not provided";
    if (r->order > ETCD_DESCENDING || r->target > ETCD_VALUE)
        return "etcdserver: invalid sort option";
    return NULL;
}

static bool is_wanted(const struct etcd_range *r, const struct etcd_kv *kv)
{
    const int64_t mod = (int64_t)kv->mod_rev, create = (int64_t)kv->create_rev;
    return (!r->min_mod || mod >= r->min_mod) && (!r->max_mod || mod <= r->max_mod) &&
           (!r->min_create || create >= r->min_create) &&
           (!r->max_create || create <= r->max_create);
}

static bool is_bounded(const struct etcd_range *r)
{
    return r->min_mod || r->max_mod || r->min_create || r->max_create;
}

static bool is_plain(const struct etcd_range *r, const struct etcd_overlay *over)
{
    const bool is_sorted = r->target != ETCD_KEY || r->order == ETCD_DESCENDING;
    return !is_sorted && !over->n && !is_bounded(r);
}

static void write_end(struct buf *out, bool more, uint64_t count)
{
    wire_int(out, 3, more);
    wire_int(out, 4, count);
}

/* As the keys lie there, without holding them: nearly all ranges are of this kind. */
static int refuse_size(struct err *err)
{
    return err_set(err, ERR_TOO_MANY_REQUESTS, ETCD_LARGE);
}

struct plain {
    const struct etcd_range *range;
    struct buf *out;
    size_t most;
    uint64_t n;
};

static int write_one(void *arg, const struct etcd_kv *kv)
{
    struct plain *p = arg;
    if (p->range->limit > 0 && p->n == (uint64_t)p->range->limit)
        return -ERR_EXISTS; /* there is more */
    etcd_kv_write(p->out, 2, kv, p->range->keys_only);
    p->n++;
    return p->out->n > p->most ? -ERR_TOO_MANY_REQUESTS : 0;
}

static int write_plain(struct store_snap *snap, const struct etcd_range *r, size_t most,
                       struct buf *out, struct err *err)
{
    struct plain p = { r, out, most, 0 };
    int more = r->count_only ? 0 : etcd_each(snap, &r->span, write_one, &p, err);
    uint64_t count = p.n;
    if (more == -ERR_TOO_MANY_REQUESTS)
        return refuse_size(err);
    if (more < 0 && more != -ERR_EXISTS)
        return more;
    int counted = more || r->count_only ? count_from(snap, &r->span, &count, err) : 0;
    if (counted < 0)
        return counted;
    write_end(out, more != 0, count);
    return 0;
}

/* ---- Sorted, narrowed, or inside a transaction ---- */

struct list {
    struct arena *arena;
    struct etcd_kv *kvs;
    size_t n, cap;
};

static int keep(void *arg, const struct etcd_kv *kv)
{
    struct list *l = arg;
    if (l->n == l->cap) {
        const size_t cap = 2 * l->cap + 16;
        l->kvs = arena_grow(l->arena, l->kvs, l->cap * sizeof(*kv), cap * sizeof(*kv),
                            alignof(struct etcd_kv));
        l->cap = cap;
    }
    l->kvs[l->n++] = *kv;
    return 0;
}

static void replace(struct list *l, const struct etcd_kv *kv)
{
    for (size_t i = 0; i < l->n; i++)
        if (str_eq(l->kvs[i].key, kv->key)) {
            l->kvs[i] = *kv;
            return;
        }
    (void)keep(l, kv);
}

static int compare_numbers(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_by(enum etcd_target target, const struct etcd_kv *a, const struct etcd_kv *b)
{
    switch (target) {
    case ETCD_VERSION:
        return compare_numbers(a->version, b->version);
    case ETCD_CREATE:
        return compare_numbers((int64_t)a->create_rev, (int64_t)b->create_rev);
    case ETCD_MOD:
        return compare_numbers((int64_t)a->mod_rev, (int64_t)b->mod_rev);
    case ETCD_VALUE:
        return str_cmp(a->value, b->value);
    case ETCD_KEY:
        break;
    }
    return str_cmp(a->key, b->key);
}

static int by_range(const void *x, const void *y, void *arg)
{
    const struct etcd_range *r = arg;
    const int order = compare_by((enum etcd_target)r->target, x, y);
    return r->order == ETCD_DESCENDING ? -order : order;
}

static int by_key(const void *x, const void *y)
{
    return str_cmp(((const struct etcd_kv *)x)->key, ((const struct etcd_kv *)y)->key);
}

static void narrow(struct list *l, const struct etcd_range *r, bool only_there)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++)
        if (only_there ? l->kvs[i].mod_rev != 0 : is_wanted(r, &l->kvs[i]))
            l->kvs[n++] = l->kvs[i];
    l->n = n;
}

static int write_sorted(struct arena *a, struct store_snap *snap, const struct etcd_range *r,
                        const struct etcd_overlay *over, size_t most, struct buf *out,
                        struct err *err)
{
    struct list l = { .arena = a };
    int got = etcd_each(snap, &r->span, keep, &l, err);
    if (got < 0)
        return got;
    for (size_t i = 0; i < over->n; i++)
        if (etcd_span_has(&r->span, over->kvs[i].key))
            replace(&l, &over->kvs[i]);
    narrow(&l, r, true);
    const size_t count = l.n;
    if (l.n)
        qsort(l.kvs, l.n, sizeof(*l.kvs), by_key);
    narrow(&l, r, false);
    /* Without an order etcd looks at no more than it needs, and sorts these. */
    if (r->order == ETCD_UNSORTED && !is_bounded(r) && r->limit > 0 && l.n > (size_t)r->limit + 1)
        l.n = (size_t)r->limit + 1;
    if (l.n && (r->target != ETCD_KEY || r->order != ETCD_UNSORTED))
        qsort_r(l.kvs, l.n, sizeof(*l.kvs), by_range, (void *)(uintptr_t)r);
    const bool more = r->limit > 0 && l.n > (size_t)r->limit;
    for (size_t i = 0; !r->count_only && i < (more ? (size_t)r->limit : l.n); i++)
        if (out->n <= most)
            etcd_kv_write(out, 2, &l.kvs[i], r->keys_only);
    if (out->n > most)
        return refuse_size(err);
    write_end(out, more && !r->count_only, count);
    return 0;
}

int etcd_range_write(struct arena *a, struct store_snap *snap, const struct etcd_range *r,
                     const struct etcd_overlay *over, size_t most, struct buf *out, struct err *err)
{
    return is_plain(r, over) ? write_plain(snap, r, most, out, err)
                             : write_sorted(a, snap, r, over, most, out, err);
}
