/* record.h - what clients do to a few ConfigMaps of one namespace, and what they see.
 *
 * Each client works on a thread of its own and notes every operation with its time and its result.
 * Watches note every event. All of it is looked at afterwards (judge.h). */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include <sampan/client.h>

#include "order.h"

enum { RECORD_KEYS = 6, RECORD_SERVERS_MAX = 8 };
#define RECORD_END "end" /* the name of the object that is made when all else is done */

/* A run, shared by all of its threads. */
struct record_run {
    struct spn_client *servers[RECORD_SERVERS_MAX];
    size_t n_servers;
    struct spn_text ns;
    uint64_t start_rev;      /* before the first operation */
    _Atomic uint64_t values; /* the last one that was used */
    _Atomic long operations; /* that are left */
    _Atomic bool fails;      /* something went wrong that has nothing to do with order */
};

struct record_op {
    struct order_op op;
    size_t key;
    uint64_t rev; /* of the object, after it; 0: unknown */
};

struct record_list {
    uint64_t rev;
    uint64_t values[RECORD_KEYS], revs[RECORD_KEYS]; /* 0: absent */
};

struct record_client {
    struct record_run *run;
    unsigned number, seed;
    pthread_t thread;
    struct record_op *ops;
    size_t n_ops;
    struct record_list *lists;
    size_t n_lists;
    uint64_t values[RECORD_KEYS], revs[RECORD_KEYS]; /* what it saw last */
};

struct record_event {
    enum spn_event_type type;
    size_t key;
    uint64_t value, rev;
};

struct record_watch {
    struct record_run *run;
    unsigned number;
    uint64_t from;
    pthread_t thread;
    struct record_event *events; /* and bookmarks */
    size_t n_events;
    size_t n_resumed;
};

/* A target in the run's namespace; an empty name: all ConfigMaps. */
struct spn_target record_target(const struct record_run *run, struct spn_text name);

void *record_work(void *client);  /* until no operation is left */
void *record_follow(void *watch); /* until the end is seen */
void record_client_done(struct record_client *c);
void record_watch_done(struct record_watch *w);
