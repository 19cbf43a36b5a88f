/* attack.h - what people do to servers: a table of attacks, each a function that goes on until it
 * is told to stop. Several threads run it at the same time. */
#pragma once

#include <stdatomic.h>

#include "net/outgoing/fetch.h"
#include "wire.h"

struct attack_run {
    const struct target *target;
    struct fetcher *fetcher; /* with the admin's certificate */
    atomic_bool is_over;
    atomic_uint n_done; /* requests, connections: whatever the attack counts */
};

struct attack {
    const char *name;
    unsigned n_threads;
    /* Once, before; may be NULL. False if it cannot be made ready. */
    bool (*prepare)(struct attack_run *run);
    void (*go)(struct attack_run *run);
};

extern const struct attack attacks[];
extern const size_t n_attacks;

/* The status of a JSON request of the admin, 0 if none came. `body` may be empty. */
int attack_ask(struct attack_run *run, const char *method, const char *path, const char *type,
               struct str body, int64_t timeout_ms);
