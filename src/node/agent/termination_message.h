/* termination_message.h - what a container's program has left to say about its end. */
#pragma once

#include "base/value.h"

enum {
    TERMINATION_MESSAGE_MAX = 4096, /* of the file */
    TERMINATION_LOG_MAX = 2048,     /* of the log's end */
    TERMINATION_LOG_LINES = 80,
};

/* From the file that was mounted for it, or from the log's end where the container asks for that
 * and has failed. `status` is a ContainerStatus with annotations and mounts. May block. */
struct str termination_message(struct arena *a, const struct value *status, int64_t exit_code);

/* The last lines of a log as the runtime writes it, without its time stamps, at most so many bytes
 * from the end. Pure. */
struct str termination_log_tail(struct arena *a, struct str log);
