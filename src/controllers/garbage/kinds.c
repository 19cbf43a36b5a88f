/* kinds.c - an informer for each resource that can be deleted, listed and watched: one that another
 * controller has, or one of our own that keeps only metadata. */
#include "controllers/garbage/collector.h"

#include <sampan/typed.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/banned.h"

enum { AGAIN_MS = 30000, SYNC_POLL_MS = 20, SYNC_MAX_MS = 30000 };

struct kind_monitor {
    struct kind_monitor *next;
    struct collector *collector;
    struct spn_text group, version, plural; /* in its arena */
    struct spn_text api_version, kind;
    struct spn_informer *informer;
    bool is_shared;                    /* with other controllers, until all of them end */
    struct spn_arena *arena, *scratch; /* the latter for its handlers, one after another */
    bool is_wanted;
};

/* ---- What is seen ---- */

static struct graph_owner owner_of(const struct spn_value *ref)
{
    return (struct graph_owner){
        .api_version = spn_value_text(spn_value_get(ref, "apiVersion")),
        .kind = spn_value_text(spn_value_get(ref, "kind")),
        .name = spn_value_text(spn_value_get(ref, "name")),
        .uid = spn_value_text(spn_value_get(ref, "uid")),
        .blocks = spn_value_is_true(spn_value_get(ref, "blockOwnerDeletion")),
    };
}

static void read_finalizers(const struct spn_value *all, struct graph_seen *s)
{
    for (size_t i = 0; i < spn_value_count(all); i++) {
        struct spn_text name = spn_value_text(spn_value_at(all, i));
        s->has_foreground |= spn_text_eq(name, SPN_TEXT("foregroundDeletion"));
        s->has_orphan |= spn_text_eq(name, SPN_TEXT("orphan"));
    }
}

static void on_seen(struct kind_monitor *m, const struct spn_object *o)
{
    const struct spn_value *meta = spn_object_meta(o, m->scratch);
    const struct spn_value *refs = spn_value_get(meta, "ownerReferences");
    size_t n = spn_value_count(refs);
    struct graph_owner *owners = spn_arena_alloc(m->scratch, (n + 1) * sizeof(*owners));
    for (size_t i = 0; i < n; i++)
        owners[i] = owner_of(spn_value_at(refs, i));
    struct graph_seen s = {
        .id = { m->api_version, m->kind, spn_object_namespace(o), spn_object_name(o),
                spn_object_uid(o) },
        .owners = owners,
        .n_owners = n,
        .is_deleting = spn_object_is_deleting(o),
    };
    read_finalizers(spn_value_get(meta, "finalizers"), &s);
    (void)pthread_mutex_lock(&m->collector->lock);
    graph_put(m->collector->graph, &s);
    (void)pthread_mutex_unlock(&m->collector->lock);
    spn_arena_reset(m->scratch);
}

static void on_gone(struct kind_monitor *m, const struct spn_object *o)
{
    (void)pthread_mutex_lock(&m->collector->lock);
    graph_remove(m->collector->graph, spn_object_uid(o));
    (void)pthread_mutex_unlock(&m->collector->lock);
}

static void on_add(void *arg, const struct spn_object *o, bool is_initial)
{
    (void)is_initial;
    on_seen(arg, o);
}

/* An object may have gone and come again between two looks: another uid is another object. */
static void on_update(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    if (!spn_text_eq(spn_object_uid(old_o), spn_object_uid(new_o)))
        on_gone(arg, old_o);
    on_seen(arg, new_o);
}

static void on_delete(void *arg, const struct spn_object *o, bool is_last_known)
{
    (void)is_last_known;
    on_gone(arg, o);
}

/* Only what the graph needs is kept. */
static void keep_little(void *arg, struct spn_arena *a, struct spn_value *obj)
{
    (void)arg;
    struct spn_value *meta = spn_value_edit(a, obj, "metadata");
    if (!meta)
        return;
    spn_value_remove(a, meta, "labels");
    spn_value_remove(a, meta, "annotations");
    spn_value_remove(a, meta, "managedFields");
}

/* ---- Monitors ---- */

static struct kind_monitor *monitor_free(struct kind_monitor *m)
{
    if (!m->is_shared)
        spn_informer_free(m->informer);
    spn_arena_free(m->scratch);
    spn_arena_free(m->arena);
    free(m);
    return NULL;
}

static struct kind_monitor *monitor_new(struct collector *c, const struct spn_resource *r)
{
    struct kind_monitor *m = mem_new(struct kind_monitor);
    m->collector = c;
    m->arena = spn_arena_new();
    m->scratch = spn_arena_new();
    m->group = spn_arena_text(m->arena, r->group);
    m->version = spn_arena_text(m->arena, r->version);
    m->plural = spn_arena_text(m->arena, r->plural);
    m->kind = spn_arena_text(m->arena, r->kind);
    m->api_version = m->group.n ? spn_arena_printf(m->arena, SPN_FMT "/" SPN_FMT, SPN_ARG(m->group),
                                                   SPN_ARG(m->version))
                                : m->version;
    const struct spn_target what = { .group = m->group,
                                     .version = m->version,
                                     .plural = m->plural };
    m->informer = spn_informers_find(c->informers, &what);
    m->is_shared = m->informer != NULL;
    if (!m->is_shared)
        m->informer = spn_informer_new(
            c->client, &(struct spn_informer_options){
                           .what = what, .metadata_only = true, .transform = keep_little });
    const struct spn_handler h = {
        .arg = m, .on_add = on_add, .on_update = on_update, .on_delete = on_delete
    };
    spn_informer_handle(m->informer, &h);
    return m;
}

static bool is_of(const struct kind_monitor *m, const struct spn_resource *r)
{
    return spn_text_eq(m->group, r->group) && spn_text_eq(m->version, r->version) &&
           spn_text_eq(m->plural, r->plural);
}

static int start_monitor(struct collector *c, const struct spn_resource *r, struct spn_err *err)
{
    struct kind_monitor *m = monitor_new(c, r);
    int e = spn_informer_start(m->informer, err);
    if (e < 0) {
        monitor_free(m);
        return e;
    }
    m->is_wanted = true;
    m->next = c->monitors;
    c->monitors = m;
    c->is_synced = false;
    return 0;
}

/* Events are many, own nothing and are owned by nobody. */
static bool is_followed(const struct spn_resource *r)
{
    return !spn_text_eq(r->plural, SPN_TEXT("events")) &&
           spn_texts_have(r->verbs, SPN_TEXT("delete")) &&
           spn_texts_have(r->verbs, SPN_TEXT("list")) &&
           spn_texts_have(r->verbs, SPN_TEXT("watch"));
}

static int start_new(struct collector *c, const struct spn_resources *all, struct spn_err *err)
{
    for (size_t i = 0; i < all->n; i++) {
        struct kind_monitor *m = c->monitors;
        if (!is_followed(&all->items[i]))
            continue;
        while (m && !is_of(m, &all->items[i]))
            m = m->next;
        int r = 0;
        if (m)
            m->is_wanted = true;
        else
            r = start_monitor(c, &all->items[i], err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* A part of the API that does not answer now has not gone. */
static void stop_old(struct collector *c, struct spn_texts missing)
{
    for (struct kind_monitor **at = &c->monitors; *at;) {
        struct kind_monitor *m = *at;
        if (m->is_wanted || m->is_shared || spn_texts_have(missing, m->api_version)) {
            at = &m->next;
            continue;
        }
        *at = m->next;
        monitor_free(m);
    }
}

/* One that cannot be listed holds the others up only for a while. */
static void wait_for_sync(struct collector *c, struct spn_work *w)
{
    int64_t waited_ms = 0;
    for (struct kind_monitor *m = c->monitors; m; m = m->next)
        while (!spn_informer_has_synced(m->informer) && waited_ms < SYNC_MAX_MS &&
               !spn_stop_wait(w->how.stop, SYNC_POLL_MS))
            waited_ms += SYNC_POLL_MS;
    c->is_synced = true;
}

int collector_follow_kinds(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct collector *c = arg;
    struct spn_resources all;
    struct spn_texts missing;
    spn_mapper_reset(c->mapper);
    int r = spn_mapper_list(c->mapper, NULL, &w->how, w->arena, &all, err);
    if (r < 0)
        return r;
    r = spn_mapper_missing(c->mapper, &w->how, w->arena, &missing, err);
    if (r < 0)
        return r;
    for (struct kind_monitor *m = c->monitors; m; m = m->next)
        m->is_wanted = false;
    r = start_new(c, &all, err);
    if (r < 0)
        return r;
    stop_old(c, missing);
    wait_for_sync(c, w);
    return spn_again_after(AGAIN_MS);
}

void collector_stop_kinds(struct collector *c)
{
    while (c->monitors) {
        struct kind_monitor *m = c->monitors;
        c->monitors = m->next;
        monitor_free(m);
    }
}
