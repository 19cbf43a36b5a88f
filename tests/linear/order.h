/* order.h - whether what clients saw of one object can be put into one order.
 *
 * Each operation took some time. A history is linearizable if each can be given a moment within its
 * time so that, done one after the other at these moments, all give the results that were seen. The
 * search is that of Wing and Gong, with Lowe's memory of what was tried. Rules only: no I/O. */
#pragma once

#include "base/arena.h"

enum order_kind { ORDER_READ, ORDER_CREATE, ORDER_UPDATE, ORDER_DELETE };
enum order_result {
    ORDER_DONE,
    ORDER_REFUSED, /* a create: there is one; an update: it is another than expected */
    ORDER_ABSENT,  /* there was none */
    ORDER_UNKNOWN, /* no answer came: it was done, will be done, or never */
};

/* Each write writes another value, so a value says which write it is of. */
struct order_op {
    enum order_kind kind;
    enum order_result result;
    uint64_t value;   /* written, or read; 0: none was there */
    uint64_t expects; /* of an update: the value that is replaced */
    int64_t begin_ns, end_ns;
    unsigned client;
};

/* The state after `op` on `state` (0: absent); false if that cannot be what it saw. */
bool order_step(const struct order_op *op, uint64_t state, uint64_t *ret);

enum order_verdict { ORDER_RIGHT, ORDER_WRONG, ORDER_TOO_HARD };

/* The object is absent at first. If it is wrong, `ret_stuck` is the operation that must have
 * happened by then but cannot have; NULL is allowed. */
enum order_verdict order_check(const struct order_op *ops, size_t n,
                               const struct order_op **ret_stuck);
/* One operation in words. */
struct str order_words(struct arena *a, const struct order_op *op);
