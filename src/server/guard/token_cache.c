#include "server/guard/token_cache.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/banned.h"

enum { SLOTS = 256 };

struct token_cache {
    struct slot {
        uint64_t hash; /* 0: empty */
        struct arena arena;
        struct str token;
        struct account_claims claims;
    } slots[SLOTS];
};

struct token_cache *token_cache_new(void)
{
    struct token_cache *c = mem_new(struct token_cache);
    for (size_t i = 0; i < SLOTS; i++)
        arena_init(&c->slots[i].arena);
    return c;
}

struct token_cache *token_cache_free(struct token_cache *c)
{
    for (size_t i = 0; c && i < SLOTS; i++)
        arena_done(&c->slots[i].arena);
    free(c);
    return NULL;
}

int token_cache_open(struct token_cache *c, const struct account_rules *rules, struct str token,
                     const struct account_claims **ret, struct err *err)
{
    uint64_t hash = map_hash(token) | 1;
    struct slot *s = &c->slots[(hash >> 1) % SLOTS];
    *ret = &s->claims;
    if (s->hash == hash && str_eq(s->token, token))
        return 1;
    arena_reset(&s->arena);
    s->hash = 0;
    s->token = arena_str(&s->arena, token);
    int r = account_token_open(rules, &s->arena, s->token, &s->claims, err);
    s->hash = r > 0 ? hash : 0;
    return r;
}
