/* etcd_kv.h - keys and values as etcd shows them, and ranges of them.
 *
 * The store has the value behind two numbers that it does not count itself: the version of the key
 * and its lease. Keys that begin with two zero bytes are the server's own, and nobody sees them.
 * Rules only: a snapshot is read, nothing else. */
#pragma once

#include "base/buf.h"
#include "store/store.h"

struct etcd_kv {
    struct str key, value;
    uint64_t create_rev, mod_rev; /* 0: there is no such key */
    int64_t version, lease;
};

/* False if it is the server's own. The texts are the entry's. */
bool etcd_kv_read(const struct store_entry *e, struct etcd_kv *ret);
/* What is stored of it. */
void etcd_kv_store(struct buf *out, int64_t version, int64_t lease, struct str value);
/* As the field `number` of a message. */
void etcd_kv_write(struct buf *out, unsigned number, const struct etcd_kv *kv, bool keys_only);

/* The first key that is not the server's own, and whether a client may write one. */
#define ETCD_FIRST_KEY STR("\0\1")
bool etcd_key_is_own(struct str key);

/* One key, or, with an end, those from the key up to it; an end of one zero byte is no end. */
struct etcd_span {
    struct str key, end;
};
bool etcd_span_has(const struct etcd_span *s, struct str key);
bool etcd_span_is_one(const struct etcd_span *s);
/* What all of its keys begin with; for watches and ranges of the store. */
struct str etcd_span_prefix(const struct etcd_span *s);

/* The value that the span's only key has in the snapshot: 1, or 0 if there is none. */
int etcd_find(struct store_snap *snap, struct str key, struct etcd_kv *ret, struct err *err);
/* Each of the span, in order, until `take` returns a negative code. */
typedef int etcd_take(void *arg, const struct etcd_kv *kv);
int etcd_each(struct store_snap *snap, const struct etcd_span *s, etcd_take *take, void *arg,
              struct err *err);

/* A message as rows: where in a struct each field goes. Fields without a row are left out. */
enum etcd_field_type { ETCD_BYTES, ETCD_NUMBER, ETCD_BOOL }; /* struct str, 64 bits, bool */
struct etcd_field {
    unsigned number;
    enum etcd_field_type type;
    size_t at;
};
/* False: it is no message. Texts point into it. */
bool etcd_fields_read(struct str message, const struct etcd_field *fields, size_t n, void *ret);

enum etcd_order { ETCD_UNSORTED, ETCD_ASCENDING, ETCD_DESCENDING };
enum etcd_target { ETCD_KEY, ETCD_VERSION, ETCD_CREATE, ETCD_MOD, ETCD_VALUE };

struct etcd_range {
    struct etcd_span span;
    int64_t limit, revision;
    uint64_t order, target;
    bool keys_only, count_only;
    int64_t min_mod, max_mod, min_create, max_create; /* 0: no bound */
};
/* False: it is no such message. */
bool etcd_range_read(struct str message, struct etcd_range *ret);
/* NULL, or what is wrong with it in etcd's words. */
const char *etcd_range_fault(const struct etcd_range *r);

/* What a transaction has done before the range is looked at. */
struct etcd_overlay {
    struct etcd_kv *kvs; /* mod_rev 0: it is deleted */
    size_t n;
};
/* The body of a RangeResponse, without its header. ERR_TOO_MANY_REQUESTS: `out` would have more
 * than `most` bytes. */
int etcd_range_write(struct arena *a, struct store_snap *snap, const struct etcd_range *r,
                     const struct etcd_overlay *over, size_t most, struct buf *out,
                     struct err *err);
#define ETCD_LARGE "etcdserver: the answer is too large, ask for less at once"
