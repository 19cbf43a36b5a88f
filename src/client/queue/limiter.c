#include "client/queue/limiter.h"

#include "base/clock.h"
#include "base/banned.h"

void limiter_init(struct limiter *l, int64_t first_ns, int64_t max_ns, double per_second,
                  unsigned burst)
{
    *l = (struct limiter){ .first_ns = first_ns,
                           .max_ns = max_ns,
                           .per_second = per_second,
                           .burst = burst,
                           .tokens = burst };
}

static int64_t doubled(const struct limiter *l, unsigned retries)
{
    if (retries >= 62 || l->first_ns > l->max_ns >> retries)
        return l->max_ns;
    return l->first_ns << retries;
}

static void fill(struct limiter *l, int64_t now_ns)
{
    if (now_ns <= l->filled_ns)
        return;
    l->tokens += (double)(now_ns - l->filled_ns) / NS_PER_SEC * l->per_second;
    if (l->tokens > l->burst)
        l->tokens = l->burst;
    l->filled_ns = now_ns;
}

static int64_t token_wait(struct limiter *l, int64_t now_ns)
{
    if (l->per_second <= 0)
        return 0;
    fill(l, now_ns);
    l->tokens -= 1;
    double ns = -l->tokens / l->per_second * NS_PER_SEC;
    if (ns >= LIMITER_LONGEST_NS)
        return LIMITER_LONGEST_NS;
    return ns > 0 ? (int64_t)ns : 0;
}

int64_t limiter_delay_ns(struct limiter *l, unsigned retries, int64_t now_ns)
{
    int64_t own = doubled(l, retries), shared = token_wait(l, now_ns);
    return own > shared ? own : shared;
}
