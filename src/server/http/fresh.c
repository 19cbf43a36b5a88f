#include "server/http/fresh.h"

#include <stdlib.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "net/loop.h"
#include "server/http/reply.h"
#include "base/banned.h"

struct question;

/* In the exchange's arena, which may be gone before the answer comes. */
struct asked {
    struct question *question; /* NULL: it is answered */
    struct http_exchange *x;
    void (*then)(struct http_exchange *x, void *arg);
    void *arg;
};

struct question {
    struct store_sync sync; /* first */
    struct loop *loop;
    struct loop_msg word;
    struct asked *asked; /* the loop's; NULL: the request is over */
};

static void on_over(void *arg, struct http_exchange *x, int status)
{
    struct asked *a = arg;
    (void)x;
    (void)status;
    if (a->question)
        a->question->asked = NULL;
}

static void refuse(struct http_exchange *x, const struct store_sync *y)
{
    struct err err = ERR_INIT(http_arena(x));
    enum err_code code = y->result == -ERR_TIMEOUT ? ERR_TIMEOUT : ERR_UNKNOWN;
    (void)err_set(&err, code, "%s", y->reason);
    reply_error(x, &err);
}

static void come_back(struct loop *l, struct loop_msg *m)
{
    struct question *q = container_of(m, struct question, word);
    struct asked *a = q->asked;
    (void)l;
    if (a) {
        a->question = NULL;
        if (http_is_gone(a->x))
            a = NULL; /* it is over soon */
    }
    if (a && q->sync.result < 0)
        refuse(a->x, &q->sync);
    else if (a)
        a->then(a->x, a->arg);
    free(q);
}

static void on_synced(struct store_sync *y) /* thread: store */
{
    struct question *q = (struct question *)y;
    loop_post(q->loop, &q->word);
}

void fresh_then(struct http_exchange *x, struct store *store,
                void (*then)(struct http_exchange *x, void *arg), void *arg)
{
    if (!store_is_mirror(store)) {
        then(x, arg);
        return;
    }
    struct question *q = mem_new(struct question);
    struct asked *a = arena_new(http_arena(x), struct asked);
    *a = (struct asked){ .question = q, .x = x, .then = then, .arg = arg };
    q->sync.done = on_synced;
    q->loop = http_loop(x);
    q->word.run = come_back;
    q->asked = a;
    http_when_over(x, on_over, a);
    (void)store_sync(store, &q->sync);
}
