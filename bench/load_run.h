/* load_run.h - a measured run: a fixed number of requests in flight, each followed by the next.
 *
 * A slot is one request in flight. It stays on its connection; a scenario says what it asks next
 * and whether the answer was right. A run ends by count or by time, and then waits for what is
 * still under way: everything that was begun is counted. One thread. */
#pragma once

#include <signal.h>

#include "bench/load_process.h"
#include "bench/load_stats.h"
#include "bench/load_target.h"

struct load_run;

struct load_options {
    size_t connections, in_flight; /* in flight: over all connections; 0: the scenario's default */
    double seconds, warmup;
    uint64_t count; /* instead of seconds; 0: by time */
    size_t size, objects, watchers;
    unsigned rounds;
    bool json, keep, filled, remote, custom;
    const char *namespace, *raw_path, *accept;
};

struct load_slot {
    struct load_run *run;
    struct load_conn *conn;
    struct load_request request;
    size_t number;
    struct buf path, body;
    struct buf head;   /* the front of the answer, if the scenario keeps it or it is an error */
    struct buf token;  /* list-paged: where to go on */
    uint64_t object;   /* that it is at work on */
    uint64_t n_walked; /* list-paged: bytes since the first page */
    unsigned step;     /* churn: what comes next */
    char version[LOAD_VERSION_BYTES];
};

struct load_scenario {
    const char *name, *help;
    size_t in_flight; /* by default */
    bool plain;       /* also of a server of files */
    bool keeps_head;  /* `finish` reads the front of the answer */
    bool consumes;    /* the objects are used up, and made anew for every round */
    enum { LOAD_NO_OBJECTS, LOAD_ONE_OBJECT, LOAD_ALL_OBJECTS } needs; /* before it is measured */
    int allowed; /* a status that is right besides 2xx, or 0 */
    /* Sets method, path and body of the slot's request. False: there is nothing left to do. */
    bool (*next)(struct load_slot *s);
    /* The answer is complete; `ok` if its status is right. False: it cannot be right all the same.
     * May be NULL. */
    bool (*finish)(struct load_slot *s, bool ok);
    /* Instead of the above: measures in its own way. */
    int (*measure)(struct load_run *run, struct err *err);
    /* Afterwards, with the meters off: were the answers what they should have been? What was not
     * goes into the stats. May be NULL. */
    int (*check)(struct load_run *run, struct err *err);
};

struct load_run {
    const struct load_options *opt;
    const struct load_scenario *scenario;
    struct load_target *target;
    struct load_stats *stats;
    struct load_meter *meter;
    struct str filler; /* as long as an object may be; bodies are made of it */

    size_t n_slots, n_active;
    uint64_t limit; /* of requests; 0: none */
    uint64_t n_begun;
    double seconds, warmup; /* 0: by count */
    int64_t begun_ns, deadline_ns, ended_ns;
    bool gave_up;
    double own_cpu_before;
};

/* Set by a signal: every run ends soon, and cleaning up goes on. */
extern volatile sig_atomic_t load_interrupted;

/* Opens connections, measures, closes them. What went wrong with requests is in the stats; an error
 * is returned if nothing could be measured. */
int load_run_measure(struct load_run *run, size_t in_flight, struct err *err);

/* The clock and the meters of a measurement; for scenarios that measure in their own way. Begun
 * before the warm-up; what was counted until `warm` is forgotten, but no error. */
void load_run_begin(struct load_run *run);
void load_run_warm(struct load_run *run);
void load_run_end(struct load_run *run);
