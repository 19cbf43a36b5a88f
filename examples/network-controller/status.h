/* status.h - says in a Network's status what was made of it. */
#pragma once

#include <sampan/client.h>

#include "plan.h"

/* What there is to say. */
struct status {
    const struct plan_want *made; /* NULL: nothing new, what was made before is still there */
    bool is_conflict;             /* others stand in the way */
    const char *reason, *message; /* why it is not ready; the reason is NULL if it is */
};

/* True: the network was not ready before, or for another reason, or is not any more. */
bool status_is_news(const struct spn_value *network, const struct status *s);

/* 1: it was written; 0: the network says so already, or is gone.
 *
 * Definitions of the oldest form have no subresource "status": it is then written with the object.
 * Each write counts as a new generation there, so the generation is not said. */
int status_write(struct spn_client *c, const struct spn_target *at, const struct spn_value *network,
                 const struct status *s, const struct spn_call *how, struct spn_arena *a,
                 struct spn_err *err);

/* The range that was made for it, as its status says; family 0: none. */
struct prefix status_range(const struct spn_value *network, struct spn_arena *a);
