/* token_cache.h - tokens of service accounts whose signatures were verified lately, so that not
 * every request pays for that. Whether a token still counts is asked each time all the same. One
 * loop's own; bounded. */
#pragma once

#include "auth/account_token.h"

struct token_cache;

struct token_cache *token_cache_new(void);
struct token_cache *token_cache_free(struct token_cache *c);

/* As account_token_open(). `*ret` is good until the next call. */
int token_cache_open(struct token_cache *c, const struct account_rules *rules, struct str token,
                     const struct account_claims **ret, struct err *err);
