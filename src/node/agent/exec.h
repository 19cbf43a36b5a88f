/* exec.h - a command in a container, waited for. */
#pragma once

#include "node/cri/cri.h"

struct exec_end {
    bool timed_out;
    int64_t code;      /* of its end */
    struct str output; /* what it wrote, errors after the rest */
    struct str why;    /* as upstream says it, if it has not ended with 0 */
};

/* `command` is an array of texts. `timeout_s` 0: none; it is the runtime's to end the command.
 * `wait_ms`: how long we wait, negative: for ever. An error: it could not be run. */
int exec_sync(struct cri *cri, struct str id, const struct value *command, int64_t timeout_s,
              int64_t wait_ms, struct arena *a, struct exec_end *ret, struct err *err);

struct str go_duration(struct arena *a, int64_t ms); /* "1m20s" */
struct str go_quoted(struct arena *a, struct str s);
/* "[sh -c x]", or joined by spaces alone. */
struct str go_list(struct arena *a, const struct value *texts, bool bare);
