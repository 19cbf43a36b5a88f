/* process.h - runs a program to its end and collects what it writes. */
#pragma once

#include "base/buf.h"

struct process {
    const char *const *argv; /* NULL-terminated; argv[0] without a slash is looked for in $PATH */
    const char *const *envp; /* NULL-terminated */
    bool has_terminal;       /* it shares our standard input; else it has none */
    size_t max_bytes;        /* of output */
    int64_t max_ms;
};

enum process_end {
    PROCESS_EXITED,      /* `ret_code` is what it exited with */
    PROCESS_SIGNALLED,   /* `ret_code` is the signal */
    PROCESS_NOT_STARTED, /* `ret_code` is an errno */
    PROCESS_TOO_LONG,    /* killed */
    PROCESS_TOO_MUCH,    /* killed */
};

/* Waits. Standard error is ours. */
enum process_end process_run(const struct process *p, struct buf *out, int *ret_code);
