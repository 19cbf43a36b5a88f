#include "controllers/nodes/zones.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/keyed.h"
#include "base/mem.h"
#include "base/banned.h"

struct zone {
    struct zone_count count;
    int64_t next_ns; /* when the next node may begin */
    size_t n_name;
    char name[];
};

struct zones {
    struct spn_cache *nodes;
    pthread_mutex_t lock; /* of all below */
    struct keyed all;     /* struct zone */
    int64_t counted_ns, up_since_ns;
    bool is_down;
};

static struct str name_of(const void *thing)
{
    const struct zone *z = thing;
    return (struct str){ z->name, z->n_name };
}

struct zones *zones_new(struct spn_cache *nodes)
{
    struct zones *z = mem_new(struct zones);
    z->nodes = nodes;
    z->all.key_of = name_of;
    (void)pthread_mutex_init(&z->lock, NULL);
    return z;
}

struct zones *zones_free(struct zones *z)
{
    size_t pos = 0;
    if (!z)
        return NULL;
    for (struct zone *one; (one = keyed_next(&z->all, &pos));)
        free(one);
    keyed_done(&z->all);
    (void)pthread_mutex_destroy(&z->lock);
    free(z);
    return NULL;
}

static struct zone *zone_named(struct zones *z, struct spn_text name)
{
    struct zone *one = keyed_get(&z->all, (struct str){ name.p, name.n });
    if (one)
        return one;
    one = mem_zalloc(sizeof(*one) + name.n);
    one->n_name = name.n;
    memcpy(one->name, name.p, name.n);
    (void)keyed_put(&z->all, one);
    return one;
}

static void count_node(struct zones *z, struct spn_arena *a, const struct spn_object *o)
{
    const struct spn_value *node = spn_object_value(o, a);
    if (node_is_excluded(node))
        return;
    struct zone_count *count = &zone_named(z, node_zone(a, node))->count;
    if (spn_text_eq(node_ready(node), SPN_TEXT("True")))
        count->n_ready++;
    else
        count->n_not_ready++;
}

static bool are_all_down(struct zones *z)
{
    size_t pos = 0, n_nodes = 0;
    for (struct zone *one; (one = keyed_next(&z->all, &pos));) {
        if (one->count.n_ready)
            return false;
        n_nodes += one->count.n_not_ready;
    }
    return n_nodes > 0;
}

static void count_all(struct zones *z, int64_t now_ns)
{
    struct spn_objects nodes = { 0 };
    struct spn_arena *a = spn_arena_new();
    size_t pos = 0;
    for (struct zone *one; (one = keyed_next(&z->all, &pos));)
        one->count = (struct zone_count){ 0 };
    spn_cache_list(z->nodes, SPN_TEXT(""), false, &nodes);
    for (size_t i = 0; i < nodes.n; i++) {
        count_node(z, a, nodes.items[i]);
        spn_arena_reset(a);
    }
    spn_objects_done(&nodes);
    spn_arena_free(a);
    const bool was_down = z->is_down;
    z->is_down = are_all_down(z);
    if (was_down && !z->is_down)
        z->up_since_ns = now_ns;
    z->counted_ns = now_ns;
}

/* True: it has come, and the next one waits. */
static bool take_turn(struct zone *zone, int64_t now_ns)
{
    const double rate = zone_evictions_per_second(&zone->count);
    if (rate <= 0 || now_ns < zone->next_ns)
        return false;
    zone->next_ns = now_ns + (int64_t)((double)NS_PER_SEC / rate);
    return true;
}

enum node_eviction zones_ask(struct zones *z, const struct spn_value *node, bool wants_to_evict,
                             int64_t now_ns)
{
    struct spn_arena *a = spn_arena_new();
    enum node_eviction answer = NODE_WAITS;
    (void)pthread_mutex_lock(&z->lock);
    if (!z->counted_ns || now_ns - z->counted_ns >= NS_PER_SEC)
        count_all(z, now_ns);
    if (z->is_down)
        answer = NODE_SPARES_PODS;
    else if (wants_to_evict && take_turn(zone_named(z, node_zone(a, node)), now_ns))
        answer = NODE_EVICTS;
    (void)pthread_mutex_unlock(&z->lock);
    spn_arena_free(a);
    return answer;
}

int64_t zones_up_since(struct zones *z)
{
    (void)pthread_mutex_lock(&z->lock);
    int64_t since = z->up_since_ns;
    (void)pthread_mutex_unlock(&z->lock);
    return since;
}
