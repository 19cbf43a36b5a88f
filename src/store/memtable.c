#include "store/memtable.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/banned.h"

enum {
    MAX_HEIGHT = 12,
    CHUNK_MIN = 16 << 10,
    CHUNK_MAX = 1 << 20,
};

struct chunk {
    struct chunk *older;
    alignas(16) char bytes[];
};

struct memtable {
    _Atomic uint32_t refs;
    uint64_t base_rev, serial;
    _Atomic uint64_t end_rev;
    _Atomic size_t held;

    /* The inserting thread's own. */
    struct chunk *chunk;
    char *free, *free_end;
    struct memnode *newest;
    size_t n_changes;
    uint32_t dice;

    _Atomic(int) height;
    struct memnode *_Atomic first_change;
    struct memnode *head; /* before every key; carries no change */
};

static void *take_bytes(struct memtable *t, size_t n)
{
    n = (n + 7) & ~(size_t)7;
    if (n > (size_t)(t->free_end - t->free)) {
        size_t held = atomic_load_explicit(&t->held, memory_order_relaxed);
        size_t size = held < CHUNK_MIN ? CHUNK_MIN : held > CHUNK_MAX ? CHUNK_MAX : held;
        if (size < n)
            size = n;
        struct chunk *c = mem_alloc(sizeof(*c) + size);
        c->older = t->chunk;
        t->chunk = c;
        t->free = c->bytes;
        t->free_end = c->bytes + size;
        atomic_store_explicit(&t->held, held + size, memory_order_relaxed);
    }
    void *piece = t->free;
    t->free += n;
    return piece;
}

static struct memnode *node_new(struct memtable *t, int height)
{
    struct memnode *n = take_bytes(t, sizeof(*n) + (size_t)height * sizeof(n->next[0]));
    *n = (struct memnode){ .height = (uint8_t)height };
    for (int i = 0; i < height; i++)
        atomic_init(&n->next[i], NULL);
    return n;
}

struct memtable *memtable_new(uint64_t base_rev)
{
    static _Atomic uint64_t serials;
    struct memtable *t = mem_new(struct memtable);
    t->refs = 1;
    t->base_rev = base_rev;
    t->serial = atomic_fetch_add(&serials, 1) + 1;
    t->end_rev = UINT64_MAX;
    t->height = 1;
    t->dice = 0x9E3779B9u;
    t->head = node_new(t, MAX_HEIGHT);
    return t;
}

struct memtable *memtable_ref(struct memtable *t)
{
    if (t)
        atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    return t;
}

struct memtable *memtable_unref(struct memtable *t)
{
    if (!t || atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) != 1)
        return NULL;
    for (struct chunk *c = t->chunk, *older; c; c = older) {
        older = c->older;
        free(c);
    }
    free(t);
    return NULL;
}

uint64_t memtable_base(const struct memtable *t)
{
    return t->base_rev;
}

uint64_t memtable_serial(const struct memtable *t)
{
    return t->serial;
}

size_t memtable_bytes(const struct memtable *t)
{
    return atomic_load_explicit(&t->held, memory_order_relaxed);
}

size_t memtable_changes(const struct memtable *t)
{
    return t->n_changes;
}

bool memtable_is_empty(const struct memtable *t)
{
    return !memtable_first_change(t);
}

uint64_t memtable_end(const struct memtable *t)
{
    return atomic_load_explicit(&t->end_rev, memory_order_acquire);
}

void memtable_seal(struct memtable *t, uint64_t end_rev)
{
    atomic_store_explicit(&t->end_rev, end_rev, memory_order_release);
}

static int roll_height(struct memtable *t)
{
    t->dice ^= t->dice << 13;
    t->dice ^= t->dice >> 17;
    t->dice ^= t->dice << 5;
    int height = 1;
    for (uint32_t d = t->dice; height < MAX_HEIGHT && (d & 3) == 0; d >>= 2)
        height++;
    return height;
}

/* Does `n` stand before (key, rev)? Newer versions of a key come first. */
static bool is_before(const struct memnode *n, struct str key, uint64_t rev)
{
    int c = str_cmp(memnode_key(n), key);
    return c < 0 || (c == 0 && n->rev > rev);
}

/* The first node not before (key, rev). `before`, if wanted, gets the last one before it on each
 * level. */
static struct memnode *search(const struct memtable *t, struct str key, uint64_t rev,
                              struct memnode **before)
{
    struct memnode *at = t->head;
    int top = atomic_load_explicit(&t->height, memory_order_acquire);
    struct memnode *next = NULL;
    for (int level = top - 1; level >= 0; level--) {
        for (;;) {
            next = atomic_load_explicit(&at->next[level], memory_order_acquire);
            if (!next || !is_before(next, key, rev))
                break;
            at = next;
        }
        if (before)
            before[level] = at;
    }
    return next;
}

static void link_node(struct memtable *t, struct memnode *n)
{
    struct memnode *before[MAX_HEIGHT];
    int top = atomic_load_explicit(&t->height, memory_order_relaxed);
    (void)search(t, memnode_key(n), n->rev, before);
    for (int level = top; level < n->height; level++)
        before[level] = t->head;
    if (n->height > top)
        atomic_store_explicit(&t->height, n->height, memory_order_release);
    for (int level = 0; level < n->height; level++) {
        struct memnode *next =
            atomic_load_explicit(&before[level]->next[level], memory_order_relaxed);
        atomic_store_explicit(&n->next[level], next, memory_order_relaxed);
        atomic_store_explicit(&before[level]->next[level], n, memory_order_release);
    }
}

void memtable_add(struct memtable *t, const struct memtable_change *c)
{
    assert(c->rev > t->base_rev && (!t->newest || c->rev >= t->newest->rev));
    struct memnode *n = node_new(t, roll_height(t));
    char *bytes = take_bytes(t, c->key.n + c->value.n);
    if (c->key.n)
        memcpy(bytes, c->key.p, c->key.n);
    if (c->value.n)
        memcpy(bytes + c->key.n, c->value.p, c->value.n);
    n->rev = c->rev;
    n->create_rev = c->create_rev;
    n->prev_rev = c->prev_rev;
    n->key_n = (uint16_t)c->key.n;
    n->value_n = (uint32_t)c->value.n;
    n->type = (uint8_t)c->type;
    n->bytes = bytes;

    t->n_changes++;
    link_node(t, n);
    atomic_store_explicit(t->newest ? &t->newest->next_change : &t->first_change, n,
                          memory_order_release);
    t->newest = n;
}

const struct memnode *memtable_find(const struct memtable *t, struct str key, uint64_t rev)
{
    const struct memnode *n = search(t, key, rev, NULL);
    return n && str_eq(memnode_key(n), key) ? n : NULL;
}

const struct memnode *memtable_seek(const struct memtable *t, struct str key)
{
    return search(t, key, UINT64_MAX, NULL);
}

const struct memnode *memtable_next_key(const struct memtable *t, const struct memnode *n)
{
    enum { FEW = 8 };
    struct str key = memnode_key(n);
    const struct memnode *next = memnode_next(n);
    for (int i = 0; i < FEW; i++, next = memnode_next(next))
        if (!next || !str_eq(memnode_key(next), key))
            return next;
    /* A key that changes all the time: jump over what is left of it. Revision 0 is never used. */
    return search(t, key, 0, NULL);
}

const struct memnode *memtable_first_change(const struct memtable *t)
{
    return atomic_load_explicit(&t->first_change, memory_order_acquire);
}
