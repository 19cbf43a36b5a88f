/* Requests of the etcd API: whatever the bytes are, they are read or refused, and a transaction
 * that is read writes no key twice in one branch. The input is one message, read as each of them.
 */
#include <stdlib.h>

#include "etcd/etcd_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

static void look_at(const struct etcd_op *ops, size_t n)
{
    must(n <= ETCD_TXN_OPS);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            must(ops[i].type != ETCD_OP_PUT || ops[k].type != ETCD_OP_PUT ||
                 !str_eq(ops[i].put.key, ops[k].put.key));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str message = { (const char *)bytes, n };
    struct arena a;
    struct etcd_range range;
    struct etcd_put put;
    struct etcd_delete del;
    struct etcd_txn txn;
    arena_init(&a);
    if (etcd_range_read(message, &range) && !etcd_range_fault(&range)) {
        must(range.span.key.n > 0);
        must(str_starts(range.span.key, etcd_span_prefix(&range.span)));
    }
    must(etcd_put_read(message, &put) || put.key.n > 0);
    must(etcd_delete_read(message, &del) || del.span.key.n > 0);
    if (!etcd_txn_read(&a, message, &txn)) {
        look_at(txn.success, txn.n_success);
        look_at(txn.failure, txn.n_failure);
    }
    arena_done(&a);
    return 0;
}
