#include "net/http/share.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net/http/http.h"
#include "base/banned.h"

void shares_init(struct shares *all, size_t memory, size_t memory_of_one)
{
    *all = (struct shares){ .memory.max = memory, .memory_of_one = memory_of_one };
    pthread_mutex_init(&all->lock, NULL);
}

void shares_done(struct shares *all)
{
    assert(!all->by_name.n);
    map_done(&all->by_name);
    pthread_mutex_destroy(&all->lock);
}

/* An address without its port. */
static struct str host_of(struct str address)
{
    size_t n = address.n;
    while (n > 0 && address.p[n - 1] != ':')
        n--;
    return n ? str_take(address, n - 1) : address;
}

static struct share *share_new(struct str name)
{
    struct share *s = mem_zalloc(sizeof(*s) + name.n);
    s->name_n = name.n;
    if (name.n)
        memcpy(s->name, name.p, name.n);
    return s;
}

static struct str name_of(const struct share *s)
{
    return (struct str){ s->name, s->name_n };
}

struct share *shares_find(struct shares *all, const struct http_peer *peer)
{
    struct str name = peer->cert.verified ? peer->cert.common_name : host_of(peer->address);
    pthread_mutex_lock(&all->lock);
    struct share *s = map_get(&all->by_name, name);
    if (!s) {
        s = share_new(name);
        s->memory.max = all->memory_of_one;
        s->memory.within = &all->memory;
        (void)map_set(&all->by_name, name_of(s), s);
    }
    s->refs++;
    pthread_mutex_unlock(&all->lock);
    return s;
}

struct share *share_unref(struct shares *all, struct share *s)
{
    if (!s)
        return NULL;
    pthread_mutex_lock(&all->lock);
    if (--s->refs == 0) {
        (void)map_remove(&all->by_name, name_of(s));
        free(s);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

bool share_collect(struct shares *all, struct share *s, size_t n, size_t most, size_t one)
{
    size_t most_of_one = most / 2 > one ? most / 2 : one;
    size_t ours = atomic_fetch_add_explicit(&s->collected, n, memory_order_relaxed) + n,
           total = atomic_fetch_add_explicit(&all->collected, n, memory_order_relaxed) + n;
    if (ours <= most_of_one && total <= most)
        return true;
    share_collected(all, s, n);
    return false;
}

void share_collected(struct shares *all, struct share *s, size_t n)
{
    atomic_fetch_sub_explicit(&s->collected, n, memory_order_relaxed);
    atomic_fetch_sub_explicit(&all->collected, n, memory_order_relaxed);
}
