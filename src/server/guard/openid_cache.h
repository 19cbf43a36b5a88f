/* openid_cache.h - whose a token was, for some seconds, so that not every request pays for that.
 *
 * Tokens are kept as hashes only. A new configuration makes what was found by the old one worth
 * nothing: entries have a generation. Bounded; any thread may ask, nobody waits long. */
#pragma once

#include "auth/user.h"

struct openid_cache;

struct openid_cache *openid_cache_new(void);
struct openid_cache *openid_cache_free(struct openid_cache *c);

/* A copy in the arena; NULL: nobody knows. */
const struct user *openid_cache_get(struct openid_cache *c, struct arena *a, struct str token,
                                    uint64_t generation, int64_t now_ns);
void openid_cache_put(struct openid_cache *c, struct str token, uint64_t generation,
                      int64_t until_ns, const struct user *user);
