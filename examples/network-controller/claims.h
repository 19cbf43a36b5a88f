/* claims.h - which network has which range of addresses, as long as the program runs.
 *
 * A network's status says the same, but the cache may not have seen yet what was just written. One
 * thread. */
#pragma once

#include <sampan/base.h>

#include "prefix.h"

struct claims;

struct claims *claims_new(void);
struct claims *claims_free(struct claims *c); /* NULL will do */

/* Family 0: it has none. The key is copied. True: that is new. */
bool claims_set(struct claims *c, struct spn_text key, const struct prefix *range);
/* Family 0: it has none. */
struct prefix claims_get(const struct claims *c, struct spn_text key);
