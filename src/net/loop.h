/* loop.h - one thread's event loop: descriptors, timers, and a mailbox from other threads.
 *
 * A loop and everything registered with it belong to the thread that runs it; only loop_post()
 * and loop_stop() may be called from elsewhere. Registered structs are embedded in their owner's
 * and are the owner's memory. The clock is read once per turn. */
#pragma once

#include <sys/epoll.h>

#include "base/clock.h"
#include "base/err.h"

struct loop;

struct loop *loop_new(const struct clock *clock, struct err *err); /* NULL clock: the system's */
struct loop *loop_free(struct loop *l);    /* runs what is left in the mailbox first */
void loop_run(struct loop *l);             /* until loop_stop(); the caller's thread is the owner */
void loop_stop(struct loop *l);            /* any thread */
int64_t loop_now_ns(const struct loop *l); /* monotonic, as of this turn */
void loop_assert_owner(const struct loop *l);
bool loop_is_mine(const struct loop *l); /* any thread: does the caller's thread run it? */

/* A descriptor, level-triggered. `events` are EPOLLIN, EPOLLOUT, EPOLLRDHUP; errors and hang-ups
 * always come. It may be removed, and its memory freed, from inside any callback of the loop. */
struct loop_fd {
    int fd;
    uint32_t events;
    void (*on_ready)(struct loop_fd *f, uint32_t events);
    struct loop *loop; /* private */
    uint32_t slot;     /* private */
};
int loop_fd_add(struct loop *l, struct loop_fd *f, struct err *err);
void loop_fd_want(struct loop_fd *f, uint32_t events); /* changes what is waited for */
void loop_fd_remove(struct loop_fd *f);                /* does not close; fine if not added */

/* Fires once. Setting it again moves it. */
struct loop_timer {
    void (*on_fire)(struct loop_timer *t);
    int64_t at_ns;     /* private */
    struct loop *loop; /* private; NULL when not set */
    size_t slot;       /* private */
};
void loop_timer_set(struct loop *l, struct loop_timer *t, int64_t at_ns); /* monotonic */
void loop_timer_cancel(struct loop_timer *t);                             /* fine if not set */

/* Work for the loop's thread. Posting moves ownership; posts of one thread run in order. */
struct loop_msg {
    struct loop_msg *next; /* private */
    void (*run)(struct loop *l, struct loop_msg *m);
};
void loop_post(struct loop *l, struct loop_msg *m); /* any thread */
/* The same from the loop's own thread: runs at the end of this turn, before sleeping. */
void loop_defer(struct loop *l, struct loop_msg *m);
/* The same, but only one of these runs in a turn. For long work in pieces: other work waits for one
 * piece, not for all. */
void loop_later(struct loop *l, struct loop_msg *m);
