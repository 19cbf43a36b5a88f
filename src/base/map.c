#include "base/map.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/mem.h"
#include "base/banned.h"

/* Linear probing; a removed entry leaves a gravestone that the next growth sweeps away. The table
 * is at most three quarters full, gravestones included. */
struct map_entry {
    struct str key;
    void *p; /* NULL: free, &gravestone: removed */
    uint64_t hash;
};

enum { MAP_FIRST_CAP = 8 };

static char gravestone;

static uint64_t process_key[2];
static pthread_once_t process_key_once = PTHREAD_ONCE_INIT;

static void choose_process_key(void)
{
    char *p = (char *)process_key;
    size_t left = sizeof(process_key);
    while (left) {
        ssize_t n = getrandom(p, left, 0);
        assert(n > 0 || errno == EINTR);
        if (n > 0) {
            p += n;
            left -= (size_t)n;
        }
    }
}

struct sip {
    uint64_t a, b, c, d;
};

static uint64_t rotate(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

static void sip_round(struct sip *s)
{
    s->a += s->b;
    s->c += s->d;
    s->b = rotate(s->b, 13) ^ s->a;
    s->d = rotate(s->d, 16) ^ s->c;
    s->a = rotate(s->a, 32) + s->d;
    s->c += s->b;
    s->d = rotate(s->d, 21) ^ s->a;
    s->b = rotate(s->b, 17) ^ s->c;
    s->c = rotate(s->c, 32);
}

/* SipHash-1-3 (Aumasson, Bernstein): one round per word, three at the end. */
uint64_t map_hash(struct str s)
{
    (void)pthread_once(&process_key_once, choose_process_key);
    struct sip sip = {
        process_key[0] ^ 0x736f6d6570736575u,
        process_key[1] ^ 0x646f72616e646f6du,
        process_key[0] ^ 0x6c7967656e657261u,
        process_key[1] ^ 0x7465646279746573u,
    };
    uint64_t word;
    size_t left = s.n;
    for (const char *p = s.p; left >= 8; p += 8, left -= 8) {
        memcpy(&word, p, 8);
        sip.d ^= word;
        sip_round(&sip);
        sip.a ^= word;
    }
    word = 0;
    if (left)
        memcpy(&word, s.p + s.n - left, left);
    word |= (uint64_t)s.n << 56;
    sip.d ^= word;
    sip_round(&sip);
    sip.a ^= word;
    sip.c ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(&sip);
    return sip.a ^ sip.b ^ sip.c ^ sip.d;
}

static bool is_live(const struct map_entry *e)
{
    return e->p && e->p != &gravestone;
}

void map_done(struct map *m)
{
    free(m->entries);
    *m = (struct map){ 0 };
}

static struct map_entry *find(const struct map *m, struct str key, uint64_t hash)
{
    if (!m->cap)
        return NULL;
    for (size_t i = hash & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
        struct map_entry *e = &m->entries[i];
        if (!e->p)
            return NULL;
        if (e->hash == hash && is_live(e) && str_eq(e->key, key))
            return e;
    }
}

static void put_new(struct map *m, struct map_entry e)
{
    size_t i = e.hash & (m->cap - 1);
    while (m->entries[i].p)
        i = (i + 1) & (m->cap - 1);
    m->entries[i] = e;
    m->used++;
    m->n++;
}

static void make_room(struct map *m)
{
    if (m->used + 1 <= m->cap / 4 * 3)
        return;
    struct map old = *m;
    size_t cap = old.cap ? old.cap : MAP_FIRST_CAP;
    while (cap / 2 < old.n + 1)
        cap *= 2;
    *m = (struct map){ .entries = mem_array(cap, sizeof(*m->entries)), .cap = cap };
    for (size_t i = 0; i < old.cap; i++)
        if (is_live(&old.entries[i]))
            put_new(m, old.entries[i]);
    free(old.entries);
}

void *map_get(const struct map *m, struct str key)
{
    if (!m->n)
        return NULL;
    struct map_entry *e = find(m, key, map_hash(key));
    return e ? e->p : NULL;
}

void *map_set(struct map *m, struct str key, void *p)
{
    assert(p);
    uint64_t hash = map_hash(key);
    struct map_entry *e = find(m, key, hash);
    if (e) {
        void *before = e->p;
        e->key = key;
        e->p = p;
        return before;
    }
    make_room(m);
    put_new(m, (struct map_entry){ key, p, hash });
    return NULL;
}

void *map_remove(struct map *m, struct str key)
{
    if (!m->n)
        return NULL;
    struct map_entry *e = find(m, key, map_hash(key));
    if (!e)
        return NULL;
    void *before = e->p;
    *e = (struct map_entry){ .p = &gravestone };
    m->n--;
    return before;
}

bool map_next(const struct map *m, size_t *pos, struct str *ret_key, void **ret_p)
{
    for (; *pos < m->cap; (*pos)++) {
        const struct map_entry *e = &m->entries[*pos];
        if (is_live(e)) {
            *ret_key = e->key;
            *ret_p = e->p;
            (*pos)++;
            return true;
        }
    }
    return false;
}
