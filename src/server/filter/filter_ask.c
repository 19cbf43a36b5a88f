/* filter_ask.c - asks the guard, and lets the request wait if the guard has to ask others. */
#include "server/filter/filter.h"
#include "server/guard/errand.h"
#include "base/banned.h"

struct question {
    struct errand errand;
    struct guard *guard;
    struct access access;
    struct guard_decision decision;
    filter_answer_fn *then;
};

static void run(struct errand *e) /* on a worker */
{
    struct question *q = (struct question *)e;
    (void)guard_ask(q->guard, &e->arena, &q->access, GUARD_WAITS, &q->decision);
}

static void back(struct errand *e, void *arg)
{
    struct question *q = (struct question *)e;
    struct filter_request *r = arg;
    struct arena *a = http_arena(r->x);
    const struct guard_decision decision = {
        .opinion = q->decision.opinion,
        .reason = arena_str(a, q->decision.reason),
        .error = arena_str(a, q->decision.error),
    };
    q->then(r, &decision);
}

bool filter_ask(struct filter_request *r, const struct access *about, filter_answer_fn *then,
                struct guard_decision *ret)
{
    static const struct errand_calls calls = { .run = run, .back = back };
    struct guard *guard = r->api->guard;
    struct arena *a = http_arena(r->x);
    if (guard_ask(guard, a, about, GUARD_AT_ONCE, ret) == 0)
        return true;
    struct question *q = errand_new(sizeof(*q), &calls);
    q->guard = guard;
    q->access = access_copy(&q->errand.arena, about);
    q->then = then;
    r->waits = errand_send(&q->errand, r->api->access_workers, r->x, r);
    if (r->waits)
        return false;
    errand_free(&q->errand);
    (void)guard_ask(guard, a, about, GUARD_GIVES_UP, ret);
    return true;
}
