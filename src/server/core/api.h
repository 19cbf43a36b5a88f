/* api.h - what every API request needs of the server it came to. One per server; immutable once
 * serving, so any thread may read it. */
#pragma once

#include "api/kind.h"
#include "base/clock.h"
#include "net/loop.h"
#include "net/workers.h"
#include "server/core/service_ip.h"
#include "store/store.h"

struct custom_kinds;
struct flow;
struct guard;
struct identity;
struct tally;
struct list_counts;
struct list_sizes;
struct turns;
struct watch_hub;

enum { API_LOOPS_MAX = 4 };

struct api {
    struct store *store;
    struct workers *workers;      /* writes run here */
    struct workers *hook_workers; /* what may wait for a conversion webhook */
    struct workers *read_workers; /* what only reads, but takes long */
    struct workers *backup_workers;
    const struct clock *clock;
    struct list_counts *list_counts;
    struct list_sizes *list_sizes; /* NULL: none are remembered */
    struct custom_kinds *custom;
    struct guard *guard;
    struct flow *flow;         /* NULL: everybody is served at once */
    struct identity *identity; /* atomic: api_identity() */
    struct turns *turns;       /* of writers of one object; NULL: they take none */
    struct service_ranges services;
    enum kind_choice versions; /* that are served */
    int64_t continue_ttl_ns;   /* how old a list can be that goes on; 0: as what is kept */
    bool hides_managers;       /* answers have no managedFields unless they are asked for */
    bool aggregates_roles;     /* no controller does that: see aggregation.h */
    const char *scratch_dir;   /* for files that are made on the way, beside the store */
    struct loop *loops[API_LOOPS_MAX];
    struct watch_hub *hubs[API_LOOPS_MAX]; /* one a loop */
    /* Tells watches that definitions of custom kinds have changed; any thread. NULL: there are
     * none. */
    void (*on_kinds_changed)(struct api *api);
    size_t n_loops;
    struct tally *tally; /* of requests, one shard a loop */
};

/* Which of the loops an exchange is on. */
static inline size_t api_loop_index(const struct api *api, const struct loop *loop)
{
    size_t i = 0;
    while (i + 1 < api->n_loops && api->loops[i] != loop)
        i++;
    return i;
}

/* Who is believed at the moment. It stays good until the server ends. */
static inline const struct identity *api_identity(const struct api *api)
{
    return __atomic_load_n(&api->identity, __ATOMIC_ACQUIRE);
}
