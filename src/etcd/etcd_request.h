/* etcd_request.h - what writes of the etcd API ask for, taken apart: puts, deletes and
 * transactions. Texts point into the message. Rules only. */
#pragma once

#include "etcd/etcd_kv.h"

enum etcd_op_type { ETCD_OP_NONE, ETCD_OP_RANGE, ETCD_OP_PUT, ETCD_OP_DELETE, ETCD_OP_TXN };

struct etcd_put {
    struct str key, value;
    int64_t lease;
    bool prev_kv, ignore_value, ignore_lease;
};

struct etcd_delete {
    struct etcd_span span;
    bool prev_kv;
};

enum etcd_result { ETCD_EQUAL, ETCD_GREATER, ETCD_LESS, ETCD_NOT_EQUAL };
enum {
    ETCD_COMPARE_VERSION,
    ETCD_COMPARE_CREATE,
    ETCD_COMPARE_MOD,
    ETCD_COMPARE_VALUE,
    ETCD_COMPARE_LEASE
};

struct etcd_compare {
    uint64_t result, target;
    struct etcd_span span;
    int64_t number;
    struct str value;
};

struct etcd_txn {
    struct etcd_compare *compares;
    size_t n_compares;
    struct etcd_op *success, *failure;
    size_t n_success, n_failure;
    bool succeeded; /* which of the two is done; who decides it notes it here */
};

struct etcd_op {
    enum etcd_op_type type;
    struct etcd_range range;
    struct etcd_put put;
    struct etcd_delete del;
    struct etcd_txn *txn;
};

/* TOTAL: of all that are one in the other. */
enum { ETCD_TXN_OPS = 128, ETCD_TXN_DEPTH = 8, ETCD_TXN_TOTAL = 512 };

/* NULL, or what is wrong, in etcd's words. What is read lies in the arena. */
const char *etcd_put_read(struct str message, struct etcd_put *ret);
const char *etcd_delete_read(struct str message, struct etcd_delete *ret);
const char *etcd_txn_read(struct arena *a, struct str message, struct etcd_txn *ret);

/* Whether the comparison holds for one key; `kv` is all zero where there is none. */
bool etcd_compare_holds(const struct etcd_compare *c, const struct etcd_kv *kv);
