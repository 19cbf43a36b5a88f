/* pod_log.h - what a container that never ran has said: its log, made up from the status of its
 * pod.
 *
 * It has started, it was probed, it has ended. The lines of one moment of a pod are always the
 * same, so a log can be followed by asking again. Of probes only those of the last hour are told.
 *
 * Pure. */
#pragma once

#include <sampan/value.h>

struct pod_log_line {
    int64_t at_ns; /* wall */
    struct spn_text text;
};

struct pod_log {
    struct pod_log_line *lines; /* in their order; in the arena */
    size_t n;
    struct spn_text id; /* which container it was: another has another log */
    bool is_over;       /* it says no more */
};

struct pod_log_wish {
    struct spn_text container;
    bool previous;
    int64_t now_ns; /* wall */
};

/* 0, or what a kubelet answers: 404 there is no such container, 400 it has said nothing yet. */
int pod_log_read(struct spn_arena *a, const struct spn_value *pod, const struct pod_log_wish *wish,
                 struct pod_log *ret, struct spn_text *ret_why);

/* Which of the lines, and how. */
struct pod_log_view {
    int64_t since_ns; /* later ones; 0: all */
    int64_t tail;     /* the last so many; negative: all */
    int64_t limit;    /* bytes; negative: all */
    bool timestamps;
};

/* The first lines have been shown already, `seen` of them; the text lies in the arena. */
struct spn_text pod_log_text(struct spn_arena *a, const struct pod_log *log,
                             const struct pod_log_view *view, size_t seen);
