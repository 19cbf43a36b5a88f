/* legacy_token.h - the day on which a token that stands in a Secret was last used, as a label of
 * that Secret. */
#pragma once

#include "auth/account_token.h"
#include "server/core/api.h"

/* Has the Secret labelled by a worker, if it has not today's label yet. A queue that is full leaves
 * it to the next use. Any thread; waits for nobody. */
void legacy_token_used(struct api *api, const struct account_use *use);
