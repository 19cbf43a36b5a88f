#include "server/guard/openid_cache.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net/crypto/digest.h"
#include "base/banned.h"

enum { SLOTS = 2048, LOCKS = 64, USER_BYTES_MAX = 16 << 10 };

struct slot {
    unsigned char token[DIGEST_SHA256_BYTES];
    uint64_t generation;
    int64_t until_ns; /* 0: empty */
    struct arena arena;
    const struct user *user;
};

struct openid_cache {
    pthread_mutex_t locks[LOCKS]; /* each over some of the slots */
    struct slot slots[SLOTS];
};

struct openid_cache *openid_cache_new(void)
{
    struct openid_cache *c = mem_new(struct openid_cache);
    for (size_t i = 0; i < LOCKS; i++)
        (void)pthread_mutex_init(&c->locks[i], NULL);
    for (size_t i = 0; i < SLOTS; i++)
        arena_init(&c->slots[i].arena);
    return c;
}

struct openid_cache *openid_cache_free(struct openid_cache *c)
{
    if (!c)
        return NULL;
    for (size_t i = 0; i < SLOTS; i++)
        arena_done(&c->slots[i].arena);
    for (size_t i = 0; i < LOCKS; i++)
        (void)pthread_mutex_destroy(&c->locks[i]);
    free(c);
    return NULL;
}

static size_t place_of(const unsigned char hash[static DIGEST_SHA256_BYTES])
{
    return ((size_t)hash[0] << 8 | hash[1]) % SLOTS;
}

const struct user *openid_cache_get(struct openid_cache *c, struct arena *a, struct str token,
                                    uint64_t generation, int64_t now_ns)
{
    unsigned char hash[DIGEST_SHA256_BYTES];
    const struct user *found = NULL;
    digest_sha256(token, hash);
    size_t at = place_of(hash);
    struct slot *s = &c->slots[at];
    (void)pthread_mutex_lock(&c->locks[at % LOCKS]);
    if (now_ns < s->until_ns && s->generation == generation &&
        memcmp(s->token, hash, sizeof(hash)) == 0)
        found = user_copy(a, s->user);
    (void)pthread_mutex_unlock(&c->locks[at % LOCKS]);
    return found;
}

void openid_cache_put(struct openid_cache *c, struct str token, uint64_t generation,
                      int64_t until_ns, const struct user *user)
{
    unsigned char hash[DIGEST_SHA256_BYTES];
    digest_sha256(token, hash);
    size_t at = place_of(hash);
    struct slot *s = &c->slots[at];
    (void)pthread_mutex_lock(&c->locks[at % LOCKS]);
    arena_done(&s->arena);
    arena_init(&s->arena);
    s->user = user_copy(&s->arena, user);
    s->until_ns = s->arena.held <= USER_BYTES_MAX ? until_ns : 0;
    s->generation = generation;
    memcpy(s->token, hash, sizeof(hash));
    if (!s->until_ns)
        arena_done(&s->arena);
    (void)pthread_mutex_unlock(&c->locks[at % LOCKS]);
}
