/* token.h - continue tokens: where the next page of a list begins, and as of which revision.
 *
 * Kubernetes' own form, so that a token can be carried from one server to another: base64url
 * without padding of {"v":"meta.k8s.io/v1","rv":N,"start":"KEY"}, where KEY is what follows the
 * prefix that is listed. Ours also say when the list began ("t"), because history is kept for
 * longer than a list should take; others do not mind. A token comes back from a client, which may
 * have changed it: whatever it says, the key that comes out of it starts with the prefix of the
 * request that brought it, and a false time gives no more than what is kept anyway. Rules only: no
 * I/O. */
#pragma once

#include "base/clock.h"
#include "base/err.h"

/* A list that goes on at the newest revision, because its own is no longer kept. */
#define TOKEN_NEWEST INT64_C(-1)

/* How long the pages of a list can be asked for; upstream forgets old revisions that often. */
#define TOKEN_TTL_NS (300 * NS_PER_SEC)

struct token {
    int64_t rev;      /* never 0; below 0: TOKEN_NEWEST */
    int64_t began_ms; /* wall clock at the first page; 0: not said */
    struct str start; /* a whole key, in the arena: the first that is wanted */
};

/* ERR_BAD_REQUEST in upstream's words. */
int token_read(struct arena *a, struct str text, struct str prefix, struct token *ret,
               struct err *err);

/* The token of a list that goes on with `t->start`, which begins with `prefix`. In the arena. */
struct str token_write(struct arena *a, const struct token *t, struct str prefix);

/* Whether its list began too long ago. One that does not say when did not. */
bool token_is_old(const struct token *t, int64_t now_ns, int64_t ttl_ns);
