#include "etcd/etcd_lease.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/wire.h"
#include "base/banned.h"

#define LEASES "\0\0lease/"
enum { AGAIN_SECONDS = 2 };

struct key {
    size_t n;
    char text[];
};

struct lease {
    char name[8]; /* its id, for the map */
    int64_t id, ttl, end_ns;
    struct map keys; /* of struct key */
};

struct etcd_leases {
    const struct clock *clock;
    pthread_mutex_t lock; /* guards the map and what is in it */
    struct map by_id;
};

struct etcd_leases *etcd_leases_new(const struct clock *clock)
{
    struct etcd_leases *l = mem_new(struct etcd_leases);
    l->clock = clock ? clock : &clock_system;
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

static void lease_free(struct lease *lease)
{
    size_t pos = 0;
    struct str name;
    void *p;
    if (!lease)
        return;
    while (map_next(&lease->keys, &pos, &name, &p)) {
        (void)map_remove(&lease->keys, name);
        free(p);
    }
    map_done(&lease->keys);
    free(lease);
}

struct etcd_leases *etcd_leases_free(struct etcd_leases *l)
{
    size_t pos = 0;
    struct str name;
    void *p;
    if (!l)
        return NULL;
    while (map_next(&l->by_id, &pos, &name, &p)) {
        (void)map_remove(&l->by_id, name);
        lease_free(p);
    }
    map_done(&l->by_id);
    pthread_mutex_destroy(&l->lock);
    free(l);
    return NULL;
}

/* ---- In the store ---- */

struct str etcd_lease_key(struct arena *a, int64_t id)
{
    char text[17];
    for (int i = 0; i < 16; i++)
        text[i] = "0123456789abcdef"[(uint64_t)id >> (60 - 4 * i) & 15];
    autobuf key = { 0 };
    buf_add(&key, LEASES, sizeof(LEASES) - 1);
    buf_add(&key, text, 16);
    return arena_str(a, buf_str(&key));
}

static bool read_record(const struct store_entry *e, int64_t *ret_id, int64_t *ret_ttl)
{
    struct str digits = str_skip(e->key, sizeof(LEASES) - 1), value = e->value;
    uint64_t id = 0, ttl = 0;
    for (size_t i = 0; i < digits.n; i++)
        id = id << 4 | (uint64_t)(str_hex_digit(digits.p[i]) & 15);
    *ret_id = (int64_t)id;
    bool is_good = digits.n == 16 && wire_take_varint(&value, &ttl);
    *ret_ttl = (int64_t)ttl;
    return is_good;
}

static int load_records(struct etcd_leases *l, struct store_snap *snap, struct err *err)
{
    struct store_entry e;
    int64_t id, ttl;
    int r;
    store_range_begin(snap, (struct str){ LEASES, sizeof(LEASES) - 1 }, STR(""));
    while ((r = store_range_next(snap, &e, err)) == 1)
        if (read_record(&e, &id, &ttl))
            etcd_leases_set(l, id, ttl);
    return r;
}

static int load_key(void *arg, const struct etcd_kv *kv)
{
    if (kv->lease)
        etcd_leases_move(arg, kv->key, 0, kv->lease);
    return 0;
}

int etcd_leases_load(struct etcd_leases *l, struct store *store, struct err *err)
{
    struct store_snap *snap;
    const struct etcd_span all = { ETCD_FIRST_KEY, STR("\0") };
    int r = store_snap_begin(store, 0, &snap, err);
    if (r < 0)
        return r;
    r = load_records(l, snap, err);
    int read = r < 0 ? r : etcd_each(snap, &all, load_key, l, err);
    store_snap_end(snap);
    return read;
}

/* ---- In memory ---- */

static int64_t end_of(const struct etcd_leases *l, int64_t ttl)
{
    const int64_t most = (INT64_MAX - clock_mono_ns(l->clock)) / NS_PER_SEC;
    return clock_mono_ns(l->clock) + (ttl < most ? ttl : most) * NS_PER_SEC;
}

/* With the lock. */
static struct lease *find(struct etcd_leases *l, int64_t id)
{
    char name[8];
    memcpy(name, &id, sizeof(name));
    return map_get(&l->by_id, (struct str){ name, sizeof(name) });
}

static struct lease *find_or_add(struct etcd_leases *l, int64_t id)
{
    struct lease *lease = find(l, id);
    if (lease)
        return lease;
    lease = mem_new(struct lease);
    lease->id = id;
    memcpy(lease->name, &id, sizeof(lease->name));
    (void)map_set(&l->by_id, (struct str){ lease->name, sizeof(lease->name) }, lease);
    return lease;
}

void etcd_leases_set(struct etcd_leases *l, int64_t id, int64_t ttl)
{
    struct lease *gone = NULL;
    pthread_mutex_lock(&l->lock);
    if (ttl) {
        struct lease *lease = find_or_add(l, id);
        lease->ttl = ttl;
        lease->end_ns = end_of(l, ttl);
    } else {
        gone = find(l, id);
        if (gone)
            (void)map_remove(&l->by_id, (struct str){ gone->name, sizeof(gone->name) });
    }
    pthread_mutex_unlock(&l->lock);
    lease_free(gone);
}

void etcd_leases_move(struct etcd_leases *l, struct str key, int64_t from, int64_t to)
{
    if (from == to)
        return;
    pthread_mutex_lock(&l->lock);
    struct lease *old = from ? find(l, from) : NULL, *now = to ? find(l, to) : NULL;
    if (old)
        free(map_remove(&old->keys, key));
    if (now && !map_get(&now->keys, key)) {
        struct key *k = mem_zalloc(sizeof(*k) + key.n);
        k->n = key.n;
        memcpy(k->text, key.p, key.n);
        (void)map_set(&now->keys, (struct str){ k->text, k->n }, k);
    }
    pthread_mutex_unlock(&l->lock);
}

static void copy_keys(struct arena *a, struct lease *lease, struct etcd_lease_state *ret)
{
    size_t pos = 0;
    struct str name;
    void *p;
    ret->keys = arena_array(a, struct str, lease->keys.n + 1);
    while (map_next(&lease->keys, &pos, &name, &p))
        ret->keys[ret->n_keys++] = arena_str(a, name);
}

bool etcd_leases_look(struct etcd_leases *l, struct arena *a, int64_t id,
                      struct etcd_lease_state *ret)
{
    *ret = (struct etcd_lease_state){ 0 };
    pthread_mutex_lock(&l->lock);
    struct lease *lease = find(l, id);
    if (lease) {
        const int64_t left = lease->end_ns - clock_mono_ns(l->clock);
        ret->ttl = lease->ttl;
        ret->left = left > 0 ? left / NS_PER_SEC : 0;
        if (a)
            copy_keys(a, lease, ret);
    }
    pthread_mutex_unlock(&l->lock);
    return lease != NULL;
}

int64_t etcd_leases_renew(struct etcd_leases *l, int64_t id)
{
    pthread_mutex_lock(&l->lock);
    struct lease *lease = find(l, id);
    const int64_t ttl = lease ? lease->ttl : 0;
    if (lease)
        lease->end_ns = end_of(l, ttl);
    pthread_mutex_unlock(&l->lock);
    return ttl;
}

static int64_t *list(struct etcd_leases *l, struct arena *a, bool only_over, size_t *ret_n)
{
    size_t pos = 0;
    struct str name;
    void *p;
    *ret_n = 0;
    pthread_mutex_lock(&l->lock);
    const int64_t now = clock_mono_ns(l->clock);
    int64_t *ids = arena_array(a, int64_t, l->by_id.n + 1);
    while (map_next(&l->by_id, &pos, &name, &p)) {
        struct lease *lease = p;
        if (only_over && lease->end_ns > now)
            continue;
        if (only_over)
            lease->end_ns = end_of(l, AGAIN_SECONDS);
        ids[(*ret_n)++] = lease->id;
    }
    pthread_mutex_unlock(&l->lock);
    return ids;
}

int64_t *etcd_leases_list(struct etcd_leases *l, struct arena *a, size_t *ret_n)
{
    return list(l, a, false, ret_n);
}

int64_t *etcd_leases_over(struct etcd_leases *l, struct arena *a, size_t *ret_n)
{
    return list(l, a, true, ret_n);
}
