/* pool.h - a few threads for many small tasks that have something to do now and then. Private to
 * this folder.
 *
 * A task that is woken runs soon, on any thread of the pool, never on two at once. If it is woken
 * while it runs, it runs once more. Threads are started when they are needed, up to a few, and
 * stay. A task that takes its time holds up others; what waits for somebody outside has a thread of
 * its own instead. */
#pragma once

#include <stdbool.h>

struct pool;

/* Part of what it works for; all zero but `run` at the beginning. */
struct pool_task {
    void (*run)(struct pool_task *t);
    /* The pool's. */
    struct pool_task *next;
    bool is_queued, is_running;
};

struct pool *pool_new(void);
struct pool *pool_free(struct pool *p); /* no task is queued or runs */
/* Before tasks are woken. False: the system has no thread left. */
bool pool_start(struct pool *p);

/* Any thread. */
void pool_wake(struct pool *p, struct pool_task *t);
/* Waits until it has nothing to do. Nobody wakes it any more, but itself. Not from a task. */
void pool_settle(struct pool *p, struct pool_task *t);
