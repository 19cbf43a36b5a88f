#include "server/http/await.h"

#include "server/http/selection.h"
#include "base/banned.h"

enum { STEP_MS = 20 };

struct await await_from_now(struct loop *loop, struct store *store, uint64_t rev)
{
    return (struct await){ store, rev, loop_now_ns(loop) + AWAIT_MS * NS_PER_MS };
}

int await_look(const struct await *a, struct loop *loop, struct loop_timer *timer, struct err *err)
{
    uint64_t newest = store_rev(a->store);
    if (newest >= a->rev)
        return 1;
    if (loop_now_ns(loop) >= a->give_up_ns)
        return selection_too_new(err, a->rev, newest);
    loop_timer_set(loop, timer, loop_now_ns(loop) + STEP_MS * NS_PER_MS);
    return 0;
}

int await_on_worker(struct store *store, uint64_t rev, struct err *err)
{
    if (store_wait(store, rev, AWAIT_MS * NS_PER_MS, NULL) < 0)
        return selection_too_new(err, rev, store_rev(store));
    return 0;
}
