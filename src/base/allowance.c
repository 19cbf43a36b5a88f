#include "base/allowance.h"

#include <assert.h>

#include "base/err.h"
#include "base/banned.h"

void allowance_finish(struct allowance *w, enum allowance_end why)
{
    int open = ALLOWANCE_OPEN;
    (void)atomic_compare_exchange_strong(&w->end, &open, (int)why);
}

/* A pool that holds at most this part (1/16) of its maximum is not ended because a larger pool is
 * full. */
enum { SMALL_PART = 16 };

static bool holds_much(const struct allowance_pool *p)
{
    return atomic_load_explicit(&p->held, memory_order_relaxed) > p->max / SMALL_PART;
}

void allowance_take(struct allowance *w, size_t n)
{
    size_t held = atomic_fetch_add_explicit(&w->held, n, memory_order_relaxed) + n;
    if (w->max && held > w->max)
        allowance_finish(w, ALLOWANCE_TOO_LARGE);
    bool is_to_blame = true;
    for (struct allowance_pool *p = w->pool; p; p = p->within) {
        held = atomic_fetch_add_explicit(&p->held, n, memory_order_relaxed) + n;
        if (held > p->max && is_to_blame)
            allowance_finish(w, ALLOWANCE_CROWDED);
        is_to_blame = holds_much(p);
    }
}

void allowance_give(struct allowance *w, size_t n)
{
    atomic_fetch_sub_explicit(&w->held, n, memory_order_relaxed);
    for (struct allowance_pool *p = w->pool; p; p = p->within)
        atomic_fetch_sub_explicit(&p->held, n, memory_order_relaxed);
}

bool allowance_pool_is_full(const struct allowance_pool *p)
{
    bool is_to_blame = true;
    for (; p; p = p->within) {
        if (is_to_blame && atomic_load_explicit(&p->held, memory_order_relaxed) >= p->max)
            return true;
        is_to_blame = holds_much(p);
    }
    return false;
}

int allowance_error(const struct allowance *w, struct err *err)
{
    switch (allowance_ended(w)) {
    case ALLOWANCE_GONE: /* the answer will not be read */
    case ALLOWANCE_LATE:
        return err_set(err, ERR_TIMEOUT,
                       "Timeout: request did not complete within the allotted timeout");
    case ALLOWANCE_STOPPING:
        return err_set(err, ERR_UNAVAILABLE, "the server is shutting down");
    case ALLOWANCE_TOO_LARGE:
        return err_set(
            err, ERR_TOO_LARGE,
            "Request entity too large: the request needs more memory than one request may use");
    case ALLOWANCE_CROWDED: {
        int r = err_set(err, ERR_TOO_MANY_REQUESTS,
                        "too many requests, please try again later: the memory for requests in "
                        "flight is used up");
        if (err)
            err->about.retry_after_sec = 1;
        return r;
    }
    case ALLOWANCE_OPEN:
        break;
    }
    assert(!"an allowance that has ended");
    return err_set(err, ERR_INTERNAL, "the request was abandoned");
}
