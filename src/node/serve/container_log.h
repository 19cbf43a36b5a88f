/* container_log.h - logs of containers as runtimes write them (CRI), read as users want them.
 *
 *     2026-11-18T09:04:48.123456789Z stdout F a whole line
 *     2026-11-18T09:04:48.123456790Z stderr P a piece of a line that goes on
 *
 * Which lines, how many and how much is as upstream's kubelet has it: a tail counts the lines of
 * the file, pieces too. Only the newest file of a log that was rotated is read; who follows goes on
 * in the new one. */
#pragma once

#include "base/err.h"

struct log_line {
    struct str time; /* as it stands there */
    struct str text; /* with its newline, unless it goes on */
    bool is_stderr;
    bool goes_on;
};

/* `line` ends with its newline, if it has one. False: it is no such line. */
bool log_line_parse(struct str line, struct log_line *ret);
/* The time with nine digits of a second, in `out`. */
enum { LOG_TIME_BYTES = 64 };
struct str log_time_text(struct str time, char out[static LOG_TIME_BYTES]);

struct log_view {
    int64_t tail;     /* lines; negative: all */
    int64_t since_ns; /* wall; 0: all */
    int64_t limit;    /* bytes; negative: any number */
    bool timestamps, follow;
    bool no_stdout, no_stderr;
};

/* Where lines go. write() returns negative when nobody wants more. The rest is asked by those who
 * follow: whether the container still runs, and, while they wait, whether to end. */
struct log_sink {
    void *arg;
    int (*write)(void *arg, struct str text);
    bool (*is_running)(void *arg);
    bool (*is_gone)(void *arg);
};

/* Blocks until all is told. Errors are in upstream's words. */
int container_log_read(const char *path, const struct log_view *view, const struct log_sink *sink,
                       struct err *err);
