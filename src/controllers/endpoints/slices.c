#include "controllers/endpoints/slices.h"

#include "base/idiom.h"
#include "base/map.h"
#include "controllers/common/fields.h"
#include "controllers/common/pods.h"
#include "controllers/endpoints/backends.h"
#include "base/banned.h"

/* Endpoints with the same ports. */
struct group {
    struct spn_text key;
    struct spn_value *ports;
    struct spn_value **endpoints; /* NULL: it has its place */
    size_t n, n_left;
    struct map by_key;
};

struct groups {
    struct group *items;
    size_t n;
};

/* A slice that is there, and what becomes of it. */
enum fate { KEEP, UPDATE, REMOVE };
struct present {
    struct spn_value *slice; /* a copy once it is changed */
    struct spn_text key;
    size_t n;
    enum fate fate;
};

struct planning {
    struct spn_arena *a;
    const struct slice_wish *wish;
    bool is_v6;
    struct groups groups;
    struct present *present;
    size_t n_present;
    struct slice_list create;
};

/* ---- What should be ---- */

static struct spn_value *endpoint_of(const struct planning *p, const struct slice_backend *b)
{
    struct spn_arena *a = p->a;
    const struct spn_value *pod = b->pod, *service = p->wish->service;
    struct spn_value *addresses = backend_addresses(a, pod, p->is_v6);
    bool serving = pod_is_ready(pod), terminating = meta_is_deleting(pod);
    struct spn_text node = spn_value_text(spn_value_dig(pod, "spec", "nodeName"));
    if (!spn_value_count(addresses))
        return NULL;
    struct spn_value *e = spn_value_new(a, SPN_OBJECT);
    spn_value_set(a, e, "addresses", addresses);
    struct spn_value *c = spn_value_ensure(a, e, "conditions");
    spn_value_set_bool(a, c, "ready",
                       service_publishes_unready(service) || (serving && !terminating));
    spn_value_set_bool(a, c, "serving", serving);
    spn_value_set_bool(a, c, "terminating", terminating);
    if (backend_has_hostname(pod, service))
        spn_value_set_text(a, e, "hostname",
                           spn_value_text(spn_value_dig(pod, "spec", "hostname")));
    spn_value_set(a, e, "targetRef", backend_ref(a, pod));
    if (node.n)
        spn_value_set_text(a, e, "nodeName", node);
    if (b->zone.n)
        spn_value_set_text(a, e, "zone", b->zone);
    return e;
}

static struct spn_value *ports_of(const struct planning *p, const struct spn_value *pod)
{
    struct spn_arena *a = p->a;
    const struct spn_value *all = spn_value_dig(p->wish->service, "spec", "ports");
    struct spn_value *ports = spn_value_new(a, SPN_ARRAY);
    for (size_t i = 0; i < spn_value_count(all); i++) {
        const struct spn_value *given = spn_value_at(all, i);
        struct spn_text app = spn_value_text(spn_value_get(given, "appProtocol"));
        struct spn_text name = spn_value_text(spn_value_get(given, "name"));
        int64_t number;
        if (!backend_port(pod, given, &number))
            continue;
        struct spn_value *port = spn_value_new(a, SPN_OBJECT);
        spn_value_set_text(a, port, "name", name.p ? name : SPN_TEXT(""));
        spn_value_set_text(a, port, "protocol", spn_value_text(spn_value_get(given, "protocol")));
        spn_value_set_int(a, port, "port", number);
        if (app.p)
            spn_value_set_text(a, port, "appProtocol", app);
        spn_value_push(a, ports, port);
    }
    return ports;
}

static struct group *group_of(struct planning *p, const struct spn_value *pod)
{
    struct spn_value *ports = ports_of(p, pod);
    struct spn_text key = slice_ports_key(p->a, ports);
    for (size_t i = 0; i < p->groups.n; i++)
        if (spn_text_eq(p->groups.items[i].key, key))
            return &p->groups.items[i];
    struct group *g = &p->groups.items[p->groups.n++];
    g->key = key;
    g->ports = ports;
    g->endpoints = spn_arena_alloc(p->a, (p->wish->n_backends + 1) * sizeof(*g->endpoints));
    return g;
}

static void group_add(struct planning *p, struct group *g, struct spn_value *e)
{
    struct spn_text key = slice_endpoint_key(p->a, e);
    struct spn_value **place = &g->endpoints[g->n];
    if (map_get(&g->by_key, (struct str){ key.p, key.n }))
        return;
    (void)map_set(&g->by_key, (struct str){ key.p, key.n }, place);
    *place = e;
    g->n++;
    g->n_left++;
}

/* False: a node is not known. */
static bool make_groups(struct planning *p)
{
    bool all_known = true;
    p->groups.items = spn_arena_alloc(p->a, (p->wish->n_backends + 1) * sizeof(*p->groups.items));
    for (size_t i = 0; i < p->wish->n_backends; i++) {
        const struct slice_backend *b = &p->wish->backends[i];
        if (!backend_counts(b->pod, true))
            continue;
        struct group *g = group_of(p, b->pod);
        if (!b->has_node && !service_publishes_unready(p->wish->service)) {
            all_known = false;
            continue;
        }
        struct spn_value *e = endpoint_of(p, b);
        if (e)
            group_add(p, g, e);
    }
    return all_known;
}

/* ---- Labels ---- */

static bool is_reserved(struct spn_text key)
{
    return spn_text_eq(key, SPN_TEXT(SLICE_SERVICE_LABEL)) ||
           spn_text_eq(key, SPN_TEXT(SLICE_MANAGED_BY)) ||
           spn_text_eq(key, SPN_TEXT(SLICE_HEADLESS));
}

static struct spn_value *user_labels(struct spn_arena *a, const struct spn_value *obj)
{
    const struct spn_value *all = spn_value_dig(obj, "metadata", "labels");
    struct spn_value *labels = spn_value_new(a, SPN_OBJECT);
    for (size_t i = 0; i < spn_value_count(all); i++)
        if (!is_reserved(spn_value_key_at(all, i)))
            spn_value_set_text(a, labels, spn_arena_text(a, spn_value_key_at(all, i)).p,
                               spn_value_text(spn_value_at(all, i)));
    return labels;
}

static bool labels_differ(const struct planning *p, const struct spn_value *slice)
{
    return !spn_value_eq(user_labels(p->a, slice), user_labels(p->a, p->wish->service));
}

static void set_labels(const struct planning *p, struct spn_value *slice)
{
    const struct spn_value *service = p->wish->service;
    struct spn_value *labels = user_labels(p->a, service);
    if (!service_has_ip(service))
        spn_value_set_text(p->a, labels, SLICE_HEADLESS, SPN_TEXT(""));
    spn_value_set_text(p->a, labels, SLICE_SERVICE_LABEL,
                       spn_value_text(spn_value_dig(service, "metadata", "name")));
    spn_value_set_text(p->a, labels, SLICE_MANAGED_BY, SPN_TEXT(SLICE_CONTROLLER));
    spn_value_set(p->a, spn_value_ensure(p->a, slice, "metadata"), "labels", labels);
}

static struct spn_value *new_slice(const struct planning *p, struct spn_value *ports)
{
    const struct spn_value *service = p->wish->service;
    struct spn_value *slice = slice_new(p->a, service, "Service", p->is_v6);
    struct spn_text name = spn_value_text(spn_value_dig(service, "metadata", "name"));
    spn_value_set_text(p->a, spn_value_ensure(p->a, slice, "metadata"), "generateName",
                       spn_arena_printf(p->a, SPN_FMT "-", SPN_ARG(name)));
    set_labels(p, slice);
    slice_set_list(p->a, slice, "ports", ports);
    slice_set_list(p->a, slice, "endpoints", spn_value_new(p->a, SPN_ARRAY));
    return slice;
}

/* ---- What is there ---- */

static bool is_owned(const struct spn_value *slice, const struct spn_value *service)
{
    const struct spn_value *refs = spn_value_dig(slice, "metadata", "ownerReferences");
    struct spn_text uid = spn_value_text(spn_value_dig(service, "metadata", "uid"));
    for (size_t i = 0; i < spn_value_count(refs); i++)
        if (spn_text_eq(spn_value_text(spn_value_get(spn_value_at(refs, i), "uid")), uid))
            return true;
    return false;
}

static bool is_of_family(const struct spn_value *slice, bool is_v6)
{
    return spn_text_eq(spn_value_text(spn_value_get(slice, "addressType")),
                       is_v6 ? SPN_TEXT("IPv6") : SPN_TEXT("IPv4"));
}

static void note_present(struct planning *p)
{
    p->present = spn_arena_alloc(p->a, (p->wish->n_slices + 1) * sizeof(*p->present));
    for (size_t i = 0; i < p->wish->n_slices; i++) {
        const struct spn_value *slice = p->wish->slices[i];
        if (!is_of_family(slice, p->is_v6))
            continue;
        p->present[p->n_present++] = (struct present){
            .slice = spn_value_copy(p->a, slice),
            .key = slice_ports_key(p->a, spn_value_get(slice, "ports")),
            .n = spn_value_count(spn_value_get(slice, "endpoints")),
            .fate = is_owned(slice, p->wish->service) ? KEEP : REMOVE,
        };
    }
}

/* Endpoints that are still wanted keep their place in the slice. */
static void keep_endpoints(struct planning *p, struct group *g, struct present *s)
{
    const struct spn_value *now = spn_value_get(s->slice, "endpoints");
    struct spn_value *left = spn_value_new(p->a, SPN_ARRAY);
    bool differs = false;
    for (size_t i = 0; i < s->n; i++) {
        struct spn_text key = slice_endpoint_key(p->a, spn_value_at(now, i));
        struct spn_value **wanted = map_get(&g->by_key, (struct str){ key.p, key.n });
        if (!wanted || !*wanted)
            continue;
        differs |= !slice_endpoint_eq(*wanted, spn_value_at(now, i));
        spn_value_push(p->a, left, *wanted);
        *wanted = NULL;
        g->n_left--;
    }
    size_t n_left = spn_value_count(left);
    if (differs || n_left != s->n) {
        s->fate = n_left ? UPDATE : REMOVE;
        slice_set_list(p->a, s->slice, "endpoints", left);
    } else if (labels_differ(p, s->slice)) {
        s->fate = UPDATE;
    }
    s->n = n_left;
}

/* ---- Where new endpoints go ---- */

static void fill(struct planning *p, struct group *g, struct spn_value *slice)
{
    const struct spn_value *now = spn_value_get(slice, "endpoints");
    struct spn_value *all =
        spn_value_count(now) ? spn_value_copy(p->a, now) : spn_value_new(p->a, SPN_ARRAY);
    for (size_t i = 0; i < g->n && g->n_left && spn_value_count(all) < SLICE_MAX; i++) {
        if (!g->endpoints[i])
            continue;
        spn_value_push(p->a, all, g->endpoints[i]);
        g->endpoints[i] = NULL;
        g->n_left--;
    }
    slice_set_list(p->a, slice, "endpoints", all);
}

/* The slice with the most endpoints among those that are written anyway. */
static struct present *fullest_updated(struct planning *p, const struct group *g)
{
    struct present *best = NULL;
    for (size_t i = 0; i < p->n_present; i++) {
        struct present *s = &p->present[i];
        if (s->fate == UPDATE && spn_text_eq(s->key, g->key) && s->n < SLICE_MAX &&
            (!best || s->n > best->n))
            best = s;
    }
    return best;
}

/* One that has room for all of them, and as little more as possible. */
static struct present *best_kept(struct planning *p, const struct group *g)
{
    struct present *best = NULL;
    for (size_t i = 0; i < p->n_present; i++) {
        struct present *s = &p->present[i];
        if (s->fate == KEEP && spn_text_eq(s->key, g->key) && s->n + g->n_left <= SLICE_MAX &&
            (!best || s->n > best->n))
            best = s;
    }
    return g->n_left < SLICE_MAX ? best : NULL;
}

static void place_group(struct planning *p, struct group *g)
{
    for (size_t i = 0; i < p->n_present; i++)
        if (p->present[i].fate == KEEP && spn_text_eq(p->present[i].key, g->key))
            keep_endpoints(p, g, &p->present[i]);
    for (struct present *s; g->n_left && (s = fullest_updated(p, g));) {
        fill(p, g, s->slice);
        s->n = spn_value_count(spn_value_get(s->slice, "endpoints"));
    }
    while (g->n_left) {
        struct present *s = best_kept(p, g);
        struct spn_value *slice = s ? s->slice : new_slice(p, spn_value_copy(p->a, g->ports));
        fill(p, g, slice);
        if (s)
            s->fate = UPDATE;
        else
            slice_list_add(p->a, &p->create, slice);
    }
}

/* Slices with ports that no pod has any more. */
static void remove_unwanted(struct planning *p)
{
    for (size_t i = 0; i < p->n_present; i++) {
        struct present *s = &p->present[i];
        bool is_wanted = false;
        for (size_t k = 0; k < p->groups.n; k++)
            is_wanted |= spn_text_eq(p->groups.items[k].key, s->key);
        if (!is_wanted)
            s->fate = REMOVE;
    }
}

/* A Service always has a slice, be it an empty one. */
static void keep_placeholder(struct planning *p)
{
    size_t n_removed = 0;
    for (size_t i = 0; i < p->n_present; i++)
        n_removed += p->present[i].fate == REMOVE;
    if (n_removed < p->n_present || p->create.n)
        return;
    struct spn_value *empty = new_slice(p, spn_value_new(p->a, SPN_ARRAY));
    const struct spn_value *now =
        p->n_present == 1 ? p->wish->n_slices ? p->present[0].slice : NULL : NULL;
    if (now && p->present[0].n == 0 && is_owned(now, p->wish->service) &&
        !spn_value_count(spn_value_get(now, "endpoints")) &&
        !spn_value_count(spn_value_get(now, "ports")) &&
        spn_value_eq(spn_value_dig(now, "metadata", "labels"),
                     spn_value_dig(empty, "metadata", "labels")))
        p->present[0].fate = KEEP;
    else
        slice_list_add(p->a, &p->create, empty);
}

/* ---- Hints ---- */

enum hints { HINTS_NONE, HINTS_ZONE, HINTS_NODE };

static enum hints hints_of(const struct spn_value *service)
{
    struct spn_text t = spn_value_text(spn_value_dig(service, "spec", "trafficDistribution"));
    if (spn_text_eq(t, SPN_TEXT("PreferSameNode")))
        return HINTS_NODE;
    return spn_text_eq(t, SPN_TEXT("PreferClose")) || spn_text_eq(t, SPN_TEXT("PreferSameZone"))
               ? HINTS_ZONE
               : HINTS_NONE;
}

/* [{"name": NAME}] */
static struct spn_value *names(struct spn_arena *a, struct spn_text name)
{
    struct spn_value *list = spn_value_new(a, SPN_ARRAY), *one = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, one, "name", name);
    spn_value_push(a, list, one);
    return list;
}

/* NULL: none. */
static struct spn_value *hint_for(struct spn_arena *a, const struct spn_value *e, enum hints kind)
{
    struct spn_text zone = spn_value_text(spn_value_get(e, "zone"));
    struct spn_text node = spn_value_text(spn_value_get(e, "nodeName"));
    struct spn_value *hints = spn_value_new(a, SPN_OBJECT);
    if (zone.p)
        spn_value_set(a, hints, "forZones", names(a, zone));
    if (node.p && kind == HINTS_NODE)
        spn_value_set(a, hints, "forNodes", names(a, node));
    return spn_value_count(hints) ? hints : NULL;
}

/* Sets the hints of one slice. True: something has changed. */
static bool set_hints(struct spn_arena *a, struct spn_value *slice, enum hints kind)
{
    struct spn_value *all = spn_value_edit(a, slice, "endpoints");
    bool has_changed = false;
    for (size_t i = 0; i < spn_value_count(all); i++) {
        struct spn_value *e = spn_value_edit_at(a, all, i);
        bool is_ready = spn_value_is_true(spn_value_dig(e, "conditions", "ready"));
        const struct spn_value *now = spn_value_get(e, "hints");
        if (kind != HINTS_NONE && !is_ready)
            continue;
        struct spn_value *hints = kind == HINTS_NONE ? NULL : hint_for(a, e, kind);
        if (hints ? now && spn_value_eq(now, hints) : !now)
            continue;
        has_changed = true;
        if (hints)
            spn_value_set(a, e, "hints", hints);
        else
            spn_value_remove(a, e, "hints");
    }
    return has_changed;
}

static bool has_hints(const struct spn_value *slice)
{
    const struct spn_value *all = spn_value_get(slice, "endpoints");
    for (size_t i = 0; i < spn_value_count(all); i++)
        if (spn_value_get(spn_value_at(all, i), "hints"))
            return true;
    return false;
}

static void say(struct planning *p, struct slice_plan *ret, bool is_warning, const char *reason,
                const char *message)
{
    ret->events[ret->n_events++] = (struct slice_event){
        .is_warning = is_warning,
        .reason = reason,
        .message =
            spn_arena_printf(p->a, "%s, addressType: %s", message, p->is_v6 ? "IPv6" : "IPv4").p,
    };
}

/* Hints by zones. False: there can be none. */
static bool set_zone_hints(struct planning *p, struct slice_plan *ret)
{
    size_t n = 0;
    bool had_some = false;
    struct zone_slice *all = spn_arena_alloc(p->a, (p->create.n + p->n_present + 1) * sizeof(*all));
    for (size_t i = 0; i < p->create.n; i++)
        all[n++] = (struct zone_slice){ p->create.items[i], true };
    for (size_t i = 0; i < p->n_present; i++)
        if (p->present[i].fate != REMOVE)
            all[n++] = (struct zone_slice){ p->present[i].slice, p->present[i].fate == UPDATE };
    for (size_t i = 0; i < p->wish->n_slices; i++)
        had_some |= is_of_family(p->wish->slices[i], p->is_v6) && has_hints(p->wish->slices[i]);
    const char *why_not = zones_hint(p->a, &p->wish->zones, all, n);
    if (why_not) {
        say(p, ret, true, "TopologyAwareHintsDisabled", why_not);
        return false;
    }
    if (!had_some)
        say(p, ret, false, "TopologyAwareHintsEnabled", "Topology Aware Hints has been enabled");
    n = p->create.n;
    for (size_t i = 0; i < p->n_present; i++)
        if (p->present[i].fate != REMOVE && all[n++].is_written)
            p->present[i].fate = UPDATE;
    return true;
}

static void set_all_hints(struct planning *p, struct slice_plan *ret)
{
    bool is_by_zone = zones_are_wanted(p->wish->service);
    enum hints kind = is_by_zone ? HINTS_NONE : hints_of(p->wish->service);
    if (is_by_zone && set_zone_hints(p, ret))
        return;
    for (size_t i = 0; i < p->create.n; i++)
        (void)set_hints(p->a, p->create.items[i], kind);
    for (size_t i = 0; i < p->n_present; i++)
        if (p->present[i].fate != REMOVE && set_hints(p->a, p->present[i].slice, kind))
            p->present[i].fate = UPDATE;
}

/* ---- The whole ---- */

static void set_trigger_times(struct spn_arena *a, struct slice_list *l, struct spn_text time)
{
    for (size_t i = 0; i < l->n; i++) {
        struct spn_value *meta = spn_value_ensure(a, l->items[i], "metadata");
        spn_value_set_text(a, spn_value_ensure(a, meta, "annotations"), SLICE_TRIGGER_TIME, time);
    }
}

static void collect(struct planning *p, struct slice_plan *ret)
{
    struct slice_plan plan = { .create = p->create };
    for (size_t i = 0; i < p->n_present; i++) {
        struct present *s = &p->present[i];
        if (s->fate == UPDATE) {
            set_labels(p, s->slice);
            slice_list_add(p->a, &plan.update, s->slice);
        } else if (s->fate == REMOVE) {
            slice_list_add(p->a, &plan.remove, s->slice);
        }
    }
    slices_recycle(p->a, p->wish->service, "Service", &plan);
    for (size_t i = 0; i < plan.create.n; i++)
        slice_list_add(p->a, &ret->create, plan.create.items[i]);
    for (size_t i = 0; i < plan.update.n; i++)
        slice_list_add(p->a, &ret->update, plan.update.items[i]);
    for (size_t i = 0; i < plan.remove.n; i++)
        slice_list_add(p->a, &ret->remove, plan.remove.items[i]);
}

static bool plan_family(struct spn_arena *a, const struct slice_wish *wish, bool is_v6,
                        struct slice_plan *ret)
{
    struct planning p = { .a = a, .wish = wish, .is_v6 = is_v6 };
    bool all_known = make_groups(&p);
    note_present(&p);
    for (size_t i = 0; i < p.groups.n; i++)
        place_group(&p, &p.groups.items[i]);
    remove_unwanted(&p);
    keep_placeholder(&p);
    set_all_hints(&p, ret);
    collect(&p, ret);
    for (size_t i = 0; i < p.groups.n; i++)
        map_done(&p.groups.items[i].by_key);
    return all_known;
}

/* Families that the Service does not say are those of its address; a headless one has both. */
static bool has_family(const struct spn_value *service, bool is_v6)
{
    const struct spn_value *all = spn_value_dig(service, "spec", "ipFamilies");
    struct spn_text ip = spn_value_text(spn_value_dig(service, "spec", "clusterIP"));
    for (size_t i = 0; i < spn_value_count(all); i++)
        if (spn_text_eq(spn_value_text(spn_value_at(all, i)),
                        is_v6 ? SPN_TEXT("IPv6") : SPN_TEXT("IPv4")))
            return true;
    if (spn_value_count(all))
        return false;
    return !service_has_ip(service) || (memchr(ip.p, ':', ip.n) != NULL) == is_v6;
}

bool slices_plan(struct spn_arena *a, const struct slice_wish *wish, struct slice_plan *ret)
{
    bool all_known = true;
    for (int is_v6 = 0; is_v6 < 2; is_v6++)
        if (has_family(wish->service, is_v6))
            all_known &= plan_family(a, wish, is_v6, ret);
    for (size_t i = 0; i < wish->n_slices; i++)
        for (int is_v6 = 0; is_v6 < 2; is_v6++)
            if (is_of_family(wish->slices[i], is_v6) && !has_family(wish->service, is_v6))
                slice_list_add(a, &ret->remove, spn_value_copy(a, wish->slices[i]));
    set_trigger_times(a, &ret->create, wish->trigger_time);
    set_trigger_times(a, &ret->update, wish->trigger_time);
    return all_known;
}
