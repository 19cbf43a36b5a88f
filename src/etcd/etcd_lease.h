/* etcd_lease.h - leases: which there are, when they end, and which keys end with them.
 *
 * That there is a lease stands in the store, under a key of the server's own; a start gives each
 * its whole time anew. Which keys a lease has is found in the keys themselves. Any thread. */
#pragma once

#include "base/clock.h"
#include "etcd/etcd_kv.h"

struct etcd_leases;

struct etcd_leases *etcd_leases_new(const struct clock *clock);
struct etcd_leases *etcd_leases_free(struct etcd_leases *l);
/* All that are in the store. */
int etcd_leases_load(struct etcd_leases *l, struct store *store, struct err *err);

/* The record of a lease in the store; in the arena. */
struct str etcd_lease_key(struct arena *a, int64_t id);

/* Thread: the store's, in the order of commits. `ttl` 0: it is gone. */
void etcd_leases_set(struct etcd_leases *l, int64_t id, int64_t ttl);
/* A key has changed hands; 0: it has no lease. */
void etcd_leases_move(struct etcd_leases *l, struct str key, int64_t from, int64_t to);

struct etcd_lease_state {
    int64_t ttl;      /* as it was granted */
    int64_t left;     /* seconds */
    struct str *keys; /* in the arena, if they are asked for */
    size_t n_keys;
};
/* False: there is none. Without an arena the keys are left out. */
bool etcd_leases_look(struct etcd_leases *l, struct arena *a, int64_t id,
                      struct etcd_lease_state *ret);
/* Begins its time anew, and says how long it is; 0: there is none. */
int64_t etcd_leases_renew(struct etcd_leases *l, int64_t id);
/* All of them, in the arena. */
int64_t *etcd_leases_list(struct etcd_leases *l, struct arena *a, size_t *ret_n);
/* The same of those that are over. Each is given once; it is renewed for a moment, so that it comes
 * again if it could not be ended. */
int64_t *etcd_leases_over(struct etcd_leases *l, struct arena *a, size_t *ret_n);
