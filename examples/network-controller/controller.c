/* controller.c - see controller.h. */
#include "controller.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <sampan/events.h>
#include <sampan/informer.h>
#include <sampan/log.h>
#include <sampan/meta.h>
#include <sampan/queue.h>

#include "claims.h"
#include "gen_network.h"
#include "machine.h"
#include "rivals.h"
#include "status.h"
#include "watch.h"

#define FINALIZER "samplecrd.k8s.io/network"

static const struct spn_target networks = SPN_AT("samplecrd.k8s.io", "v1", "networks", "", "");

struct controller {
    struct spn_client *client;
    struct spn_informer *informer;
    struct spn_cache *cache; /* the informer's */
    struct spn_queue *queue;
    struct spn_recorder *events;
    struct spn_call how;

    /* The worker's alone. */
    struct machine machine;
    struct claims *claims;
    struct spn_arena *arena; /* emptied after each key */
};

/* ---- What wakes it ---- */

static void enqueue(struct controller *c, const struct spn_object *o)
{
    spn_queue_add(c->queue, spn_object_key(o));
}

static void on_add(void *arg, const struct spn_object *o, bool is_initial)
{
    (void)is_initial;
    enqueue(arg, o);
}

static void on_update(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)old_o; /* the same one at a resync: worth a look, too */
    enqueue(arg, new_o);
}

static void on_delete(void *arg, const struct spn_object *o, bool is_last_known)
{
    (void)is_last_known;
    enqueue(arg, o);
}

static void enqueue_all(struct controller *c)
{
    struct spn_objects all;
    spn_cache_list(c->cache, SPN_TEXT(""), false, &all);
    for (size_t i = 0; i < all.n; i++)
        enqueue(c, all.items[i]);
    spn_objects_done(&all);
}

/* The index "bridge" finds a network by the name of its bridge. */
static void index_bridge(void *arg, const struct spn_object *o, struct spn_arena *a,
                         struct spn_index_values *out)
{
    (void)arg, (void)a;
    char bridge[PLAN_NAME];
    plan_bridge_name(spn_object_key(o), bridge);
    spn_index_put(out, spn_text_of(bridge));
}

/* The index "ready" finds networks by what their condition says: "True", "False", or "". */
static void index_ready(void *arg, const struct spn_object *o, struct spn_arena *a,
                        struct spn_index_values *out)
{
    (void)arg;
    const struct spn_value *ready = spn_condition_get(spn_object_value(o, a), "Ready");
    struct spn_text status = spn_value_text(spn_value_get(ready, "status"));
    spn_index_put(out, status.p ? status : SPN_TEXT(""));
}

static struct spn_objects find(struct controller *c, const char *index, const char *value)
{
    struct spn_objects found = { 0 };
    (void)spn_cache_by_index(c->cache, index, spn_text_of(value), &found, NULL);
    return found;
}

static size_t enqueue_found(struct controller *c, const char *index, const char *value)
{
    struct spn_objects found = find(c, index, value);
    size_t n = found.n;
    for (size_t i = 0; i < n; i++)
        enqueue(c, found.items[i]);
    spn_objects_done(&found);
    return n;
}

/* Addresses may be free now that others wait for. Whose status is not in the cache yet comes again
 * when it is. */
static void enqueue_waiting(struct controller *c)
{
    (void)enqueue_found(c, "ready", "False");
}

/* Somebody changed a link, perhaps we. On the thread of the watch. */
static void on_change(void *arg, const char *name)
{
    struct controller *c = arg;
    if (!name)
        enqueue_all(c);
    else if (enqueue_found(c, "bridge", name) == 0)
        enqueue_waiting(c); /* it is not ours, but may have had an address in the way */
}

/* ---- Making ---- */

/* One network that is being looked at: as a tree, for finalizers, conditions and events. */
struct subject {
    struct spn_text key;
    struct spn_value *network;
    struct spn_target at;
};

static struct subject subject_of(struct controller *c, const struct spn_object *o)
{
    struct subject s = { .key = spn_object_key(o),
                         .network = spn_object_value(o, c->arena),
                         .at = networks };
    s.at.ns = spn_object_namespace(o);
    s.at.name = spn_object_name(o);
    return s;
}

static int say(struct controller *c, const struct subject *s, const struct status *status,
               struct spn_err *err)
{
    if (status->reason && status_is_news(s->network, status))
        spn_event(c->events, s->network, SPN_WARNING, status->reason, "%s", status->message);
    int r = status_write(c->client, &s->at, s->network, status, &c->how, c->arena, err);
    if (r == 1)
        enqueue_waiting(c);
    return r < 0 ? r : 0;
}

static int refuse(struct controller *c, const struct subject *s, const struct plan_refusal *why,
                  bool is_conflict, struct spn_err *err)
{
    const struct status status = { .is_conflict = is_conflict,
                                   .reason = why->reason,
                                   .message = why->message };
    return say(c, s, &status, err);
}

/* The error itself is returned, so that it is tried again; that it cannot be told changes nothing.
 */
static int complain(struct controller *c, const struct subject *s, int r, struct spn_err *err)
{
    const struct status status = { .reason = "Failed", .message = err->message };
    struct spn_err telling;
    (void)say(c, s, &status, &telling);
    return r;
}

/* What happened: the network is new, or was changed by its owner, or by somebody else. */
static const char *what_happened(const struct network *network, unsigned done)
{
    const struct network_status *status = network->status;
    if (!status || !status->bridge.p)
        return "Created";
    bool is_seen = status->observed_generation.value == network->metadata->generation.value;
    return is_seen || done & 1u << PLAN_CREATE ? "Repaired" : "Updated";
}

static void tell_made(struct controller *c, const struct subject *s, const struct network *network,
                      const struct plan_want *want, unsigned done)
{
    char address[PREFIX_TEXT], range[PREFIX_TEXT];
    const char *what = what_happened(network, done);
    spn_event(c->events, s->network, SPN_NORMAL, what, "bridge %s has %s, NAT is %s", want->bridge,
              prefix_text(&want->address, address), want->nat ? "on" : "off");
    spn_log(SPN_LOG_INFO, "%s network=" SPN_FMT " bridge=%s cidr=%s", what, SPN_ARG(s->key),
            want->bridge, prefix_text(&want->cidr, range));
}

static int make(struct controller *c, const struct subject *s, const struct network *network,
                const struct plan_want *want, struct spn_err *err)
{
    char message[128], address[PREFIX_TEXT];
    struct plan_refusal why;
    unsigned done;
    struct prefix had = claims_get(c->claims, s->key);
    claims_set(c->claims, s->key, &want->cidr); /* even if only half of it can be made */
    int r = machine_make(&c->machine, s->key, want, c->arena, &done, &why, err);
    if (r < 0)
        return complain(c, s, r, err);
    if (r == 0) {
        claims_set(c->claims, s->key, &had);
        return refuse(c, s, &why, true, err);
    }
    if (done)
        tell_made(c, s, network, want, done);
    snprintf(message, sizeof(message), "bridge %s has %s", want->bridge,
             prefix_text(&want->address, address));
    const struct status status = { .made = want, .message = message };
    return say(c, s, &status, err);
}

/* Types that no schema has checked. */
static int refuse_types(struct controller *c, const struct subject *s, struct spn_err *err)
{
    const struct status status = { .reason = "InvalidSpec", .message = err->message };
    struct spn_err telling;
    int r = say(c, s, &status, &telling);
    if (r < 0)
        *err = telling;
    return r;
}

static int sync_made(struct controller *c, const struct spn_object *o, const struct subject *s,
                     struct spn_err *err)
{
    struct network *network;
    if (network_of(o, c->arena, &network, err) < 0)
        return refuse_types(c, s, err);
    struct plan_want want;
    struct plan_refusal why;
    if (!rivals_read(s->key, network, &want, &why))
        return refuse(c, s, &why, false, err);

    struct rivals rivals = { .cache = c->cache, .claims = c->claims, .arena = c->arena };
    int r = rivals_find(&rivals, s->key, network, c->machine.link, err);
    if (r < 0)
        return complain(c, s, r, err);
    struct prefix has = claims_get(c->claims, s->key);
    if (!plan_is_free(&want, &has, rivals.items, rivals.n, &why))
        return refuse(c, s, &why, true, err);
    return make(c, s, network, &want, err);
}

static int sync_existing(struct controller *c, const struct spn_object *o, struct spn_err *err)
{
    struct subject s = subject_of(c, o);
    int r = spn_finalizer_add(c->client, &s.at, s.network, FINALIZER, &c->how, c->arena, err);
    if (r < 0)
        return r == -SPN_NOT_FOUND ? 0 : r;
    return sync_made(c, o, &s, err);
}

/* ---- Removing ---- */

static int remove_network(struct controller *c, struct spn_text key, unsigned *ret_done,
                          struct spn_err *err)
{
    static const struct prefix none;
    char bridge[PLAN_NAME];
    plan_bridge_name(key, bridge);
    int r = machine_remove(&c->machine, bridge, ret_done, err);
    if (r < 0)
        return r;
    if (claims_set(c->claims, key, &none))
        enqueue_waiting(c);
    return 0;
}

/* Only when nothing is left the finalizer goes, so a crash before that is made good by the next
 * try. */
static int sync_deleting(struct controller *c, const struct spn_object *o, struct spn_err *err)
{
    struct subject s = subject_of(c, o);
    unsigned done;
    if (!spn_finalizer_has(s.network, FINALIZER))
        return 0;
    int r = remove_network(c, s.key, &done, err);
    if (r < 0)
        return complain(c, &s, r, err);
    if (done) {
        spn_event(c->events, s.network, SPN_NORMAL, "Deleted", "the bridge is gone");
        spn_log(SPN_LOG_INFO, "Deleted network=" SPN_FMT, SPN_ARG(s.key));
    }
    r = spn_finalizer_remove(c->client, &s.at, s.network, FINALIZER, &c->how, c->arena, err);
    return r < 0 ? r : 0;
}

/* ---- The classic loop ---- */

static int sync_handler(struct controller *c, struct spn_text key, struct spn_err *err)
{
    unsigned done;
    struct spn_object *o = spn_cache_get(c->cache, key);
    if (!o)
        return remove_network(c, key, &done, err);
    int r = spn_object_is_deleting(o) ? sync_deleting(c, o, err) : sync_existing(c, o, err);
    spn_object_unref(o);
    return r;
}

static bool process_next_work_item(struct controller *c)
{
    struct spn_text key;
    struct spn_err err;
    if (!spn_queue_get(c->queue, &key))
        return false;
    if (sync_handler(c, key, &err) < 0) {
        spn_log(SPN_LOG_WARN, "cannot sync network=" SPN_FMT " error=\"%s\"", SPN_ARG(key),
                err.message);
        spn_queue_add_limited(c->queue, key);
    } else {
        spn_queue_forget(c->queue, key);
    }
    spn_queue_done(c->queue, key);
    spn_arena_reset(c->arena);
    return true;
}

static void *run_worker(void *arg)
{
    while (process_next_work_item(arg))
        ;
    return NULL;
}

/* ---- Start and end ---- */

/* What networks have, as their statuses say. */
static void recall_claims(struct controller *c)
{
    struct spn_objects all;
    spn_cache_list(c->cache, SPN_TEXT(""), false, &all);
    for (size_t i = 0; i < all.n; i++) {
        struct prefix range = status_range(spn_object_value(all.items[i], c->arena), c->arena);
        claims_set(c->claims, spn_object_key(all.items[i]), &range);
    }
    spn_objects_done(&all);
    spn_arena_reset(c->arena);
}

/* What belongs to no network any more: somebody took its finalizer away while we were not there. */
static void remove_orphan(void *arg, const char *bridge)
{
    struct controller *c = arg;
    struct spn_objects found = find(c, "bridge", bridge);
    struct spn_err err;
    unsigned done;
    if (found.n == 0 && machine_remove(&c->machine, bridge, &done, &err) < 0)
        spn_log(SPN_LOG_WARN, "cannot remove orphan bridge=%s error=\"%s\"", bridge, err.message);
    else if (found.n == 0 && done)
        spn_log(SPN_LOG_INFO, "removed orphan bridge=%s", bridge);
    spn_objects_done(&found);
}

static int controller_work(struct controller *c, struct spn_stop *stop, struct spn_err *err)
{
    struct watch *watch;
    pthread_t worker;
    recall_claims(c);
    int r = machine_each_bridge(&c->machine, remove_orphan, c, err);
    if (r < 0)
        return r;
    r = watch_start(on_change, c, &watch, err);
    if (r < 0)
        return r;
    enqueue_all(c); /* what changed before there was a watch */
    if (pthread_create(&worker, NULL, run_worker, c) != 0) {
        watch_stop(watch);
        return spn_err_set(err, SPN_UNAVAILABLE, "there is no thread left");
    }
    spn_stop_wait(stop, -1);
    watch_stop(watch);
    spn_queue_stop(c->queue);
    pthread_join(worker, NULL);
    return 0;
}

static int controller_start(struct controller *c, struct spn_stop *stop, struct spn_err *err)
{
    const struct spn_recorder_options recorder = { .component = "network-controller" };
    const struct spn_handler handler = { c, on_add, on_update, on_delete };
    int r = spn_recorder_new(c->client, &recorder, &c->events, err);
    if (r < 0)
        return r;
    r = spn_cache_add_index(c->cache, "bridge", index_bridge, NULL, err);
    if (r < 0)
        return r;
    r = spn_cache_add_index(c->cache, "ready", index_ready, NULL, err);
    if (r < 0)
        return r;
    spn_informer_handle(c->informer, &handler);
    r = spn_informer_start(c->informer, err);
    if (r < 0)
        return r;
    spn_log(SPN_LOG_INFO, "waiting for the cache");
    if (!spn_informer_wait(c->informer, stop, -1))
        return 0;
    spn_log(SPN_LOG_INFO, "the cache has synced networks=%zu", spn_cache_count(c->cache));
    r = controller_work(c, stop, err);
    spn_informer_stop(c->informer);
    return r;
}

static void controller_done(struct controller *c)
{
    spn_informer_free(c->informer);
    if (c->events)
        spn_recorder_flush(c->events, 2000);
    spn_recorder_free(c->events);
    spn_queue_free(c->queue);
    claims_free(c->claims);
    spn_arena_free(c->arena);
    machine_close(&c->machine);
}

int controller_run(const struct controller_options *opt, struct spn_err *err)
{
    const struct spn_informer_options follow = { .what = networks, .resync_ms = opt->resync_ms };
    const struct spn_queue_options queue = { .name = "networks", .max_delay_ms = 60000 };
    struct controller c = { .client = opt->client,
                            .how = { .stop = opt->stop, .manager = "network-controller" } };
    int r = machine_open(&c.machine, opt->cni_folder, err);
    if (r < 0)
        return r;
    c.informer = spn_informer_new(opt->client, &follow);
    c.cache = spn_informer_cache(c.informer);
    c.queue = spn_queue_new(&queue);
    c.claims = claims_new();
    c.arena = spn_arena_new();
    r = controller_start(&c, opt->stop, err);
    controller_done(&c);
    return r;
}
