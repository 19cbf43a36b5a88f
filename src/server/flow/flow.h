/* flow.h - API priority and fairness: who is served now, who waits, who is turned away.
 *
 * Every request belongs to a flow schema and through it to a priority level (auth/flow_rules.h).
 * Each level has its part of all seats; requests that find none wait in its fair queues
 * (flow_level.h), without holding up the loop. Levels lend and borrow seats (flow_borrow.h).
 *
 * Whoever writes a FlowSchema or PriorityLevelConfiguration calls flow_changed() before he answers:
 * all of them are read again then, which are few, and the whole index is replaced. Loops ask it
 * without a lock.
 *
 * Seats that an exchange has are given back when it is over, or when flow_started() is called. */
#pragma once

#include "base/buf.h"
#include "net/http/http.h"
#include "server/core/api.h"
#include "server/flow/flow_level.h"
#include "server/flow/flow_width.h"

struct flow;
struct flow_ticket; /* of one request; lies in its arena */

enum {
    FLOW_READS_DEFAULT = 400, /* upstream's --max-requests-inflight */
    FLOW_WRITES_DEFAULT = 200,
    FLOW_WAIT_MS = 15000, /* in a queue: a quarter of a request's time, as upstream */
};

struct flow_options {
    bool is_off; /* no levels and queues: only so many reads and writes at once */
    /* At once, 0: no limit; together they are the seats. Both 0: the usual. */
    uint32_t reads, writes;
    int64_t wait_ms; /* in a queue, up to half of a request's time; 0: FLOW_WAIT_MS */
};

struct flow *flow_new(struct store *store, const struct flow_options *opt);
/* No loop runs any more, no exchange is left. */
struct flow *flow_free(struct flow *f);

/* Reads all schemas and levels, before anybody asks. */
int flow_load(struct flow *f, struct err *err);
/* From now on these loops ask. They start after this. */
void flow_serve(struct flow *f, struct loop *const *loops, size_t n_loops);

/* An object of a stored kind was written or deleted. Those that decide nothing are passed over:
 * then it is false. Anywhere but on a loop; without a flow nothing happens. */
bool flow_changed(struct flow *f, const struct kind_resource *stored);
/* How many objects of a resource there are, more or less. Any thread. */
void flow_set_objects(struct flow *f, struct str group, struct str resource, uint64_t n);

/* Whom to tell that a request that had to wait has been given its seats, or has not (then it has
 * waited too long and must be answered). On its loop. */
struct flow_holder {
    void (*go_on)(void *arg, bool has_seats);
    void *arg;
};

/* Asks for seats; names the schema and the level in the headers of the answer. On the exchange's
 * loop. FLOW_WAITS: the holder is told, unless the client goes before that. The question's text
 * lives as long as the exchange. `*ret` is NULL if the request takes no seats. */
enum flow_answer flow_enter(struct flow *f, struct http_exchange *x, const struct flow_question *q,
                            const struct flow_holder *h, struct flow_ticket **ret);
/* A watch has begun: it takes no seats any more. NULL is fine. On its loop. */
void flow_started(struct flow_ticket *t);

/* As Prometheus text, under upstream's names. Anywhere but on a loop. */
void flow_write_metrics(struct flow *f, struct buf *out);

/* Upstream's /debug/api_priority_and_fairness/NAME. False if there is no such one. On the
 * exchange's loop. */
bool flow_serve_dump(struct flow *f, struct http_exchange *x, struct workers *workers,
                     struct str name);
