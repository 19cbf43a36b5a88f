/* rivals.h - who else has or wants addresses: all other networks, and the machine itself.
 *
 * Everything is found anew each time, so nothing here can be out of date by more than the cache is.
 * The worker's thread. */
#pragma once

#include <sampan/cache.h>

#include "claims.h"
#include "gen_network.h"
#include "link.h"

struct rivals {
    struct spn_cache *cache;
    const struct claims *claims;
    struct spn_arena *arena; /* where all of it lies */
    struct plan_other *items;
    size_t n, room;
};

/* Adds the rivals of one network. */
int rivals_find(struct rivals *all, struct spn_text key, const struct network *network,
                struct link *link, struct spn_err *err);

/* What a network wants; false: it makes no sense, `why` says why. */
bool rivals_read(struct spn_text key, const struct network *network, struct plan_want *ret,
                 struct plan_refusal *why);
