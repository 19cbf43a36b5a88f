/* flow_width.h - how many seats a request takes. As upstream: one, unless it lists many objects or
 * writes what many watch. Of a watch only the start counts. Rules only. */
#pragma once

#include "auth/access.h"
#include "server/flow/flow_queue.h"

struct flow_question {
    struct access access; /* who asks what */
    /* Of lists and watches. */
    int64_t limit;      /* 0: none */
    bool has_selector;  /* of labels or fields */
    bool wants_objects; /* a watch that begins with those that there are */
};

/* `n_objects` of the resource are there, `n_watches` see what is written. At most `most` seats; 0:
 * the usual. */
struct flow_work flow_width(const struct flow_question *q, uint32_t n_objects, uint32_t n_watches,
                            uint32_t most);

/* The most that one request may take of a level with that many seats of its own. */
uint32_t flow_width_most(uint32_t seats, uint32_t hand_size);

/* Requests without an end that are not counted at all: they only connect. */
bool flow_width_is_endless(const struct access *q);
