/* memtable.h - the changes that are durable in the log but not in the view yet.
 *
 * A skip list that only grows, ordered by key and then by revision, newest first; all of it lives
 * in one arena that is freed whole. A second list strings the same nodes by revision, for watches.
 * One thread inserts; any thread reads at the same time without a lock, and looks only at
 * revisions up to the published one. Shared by reference count. */
#pragma once

#include <stdatomic.h>

#include "store/store.h"

struct memnode {
    uint64_t rev;        /* that made this version */
    uint64_t create_rev; /* of the key; for a delete, of what was deleted */
    uint64_t prev_rev;   /* of the version before; 0 if the key did not exist */
    uint32_t value_n;
    uint16_t key_n;
    uint8_t type; /* STORE_PUT or STORE_DELETE */
    uint8_t height;
    const char *bytes; /* key, then value */
    struct memnode *_Atomic next_change;
    struct memnode *_Atomic next[]; /* `height` of them */
};

struct memtable;

struct memtable *memtable_new(uint64_t base_rev); /* will hold revisions above `base_rev` */
struct memtable *memtable_ref(struct memtable *t);
struct memtable *memtable_unref(struct memtable *t);

uint64_t memtable_base(const struct memtable *t);
uint64_t memtable_serial(const struct memtable *t); /* never the same for two tables */
size_t memtable_bytes(const struct memtable *t);
size_t memtable_changes(const struct memtable *t); /* thread: the committing one */
bool memtable_is_empty(const struct memtable *t);

/* The last revision, once no more will come; UINT64_MAX before that. */
uint64_t memtable_end(const struct memtable *t);
void memtable_seal(struct memtable *t, uint64_t end_rev);

struct memtable_change {
    enum store_op_type type;
    uint64_t rev, create_rev, prev_rev;
    struct str key, value; /* copied */
};

/* Revisions never go down from call to call. Thread: the committing one. */
void memtable_add(struct memtable *t, const struct memtable_change *c);

/* The newest version of `key` that is not above `rev`, or NULL. */
const struct memnode *memtable_find(const struct memtable *t, struct str key, uint64_t rev);
/* The first node whose key is not below `key`. */
const struct memnode *memtable_seek(const struct memtable *t, struct str key);
/* The first node of the next key. */
const struct memnode *memtable_next_key(const struct memtable *t, const struct memnode *n);
const struct memnode *memtable_first_change(const struct memtable *t);

static inline const struct memnode *memnode_next(const struct memnode *n)
{
    return atomic_load_explicit(&n->next[0], memory_order_acquire);
}

static inline const struct memnode *memnode_next_change(const struct memnode *n)
{
    return atomic_load_explicit(&n->next_change, memory_order_acquire);
}

static inline struct str memnode_key(const struct memnode *n)
{
    return (struct str){ n->bytes, n->key_n };
}

static inline struct str memnode_value(const struct memnode *n)
{
    return (struct str){ n->bytes + n->key_n, n->value_n };
}
