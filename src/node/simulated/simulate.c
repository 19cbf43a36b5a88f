#include "node/simulated/simulate.h"

#include <sampan/log.h>
#include <sampan/meta.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "client/bridge.h"
#include "client/calls/patch_many.h"
#include "node/simulated/blackhole.h"
#include "node/simulated/kubelet.h"
#include "node/simulated/node_object.h"
#include "node/simulated/pod_life.h"
#include "base/banned.h"

#define POD_IP_INDEX "simulate.podIP"

enum {
    RENEW_MS = 10000,
    AHEAD_MS = RENEW_MS / 4, /* what is due so soon is renewed along with what is due now */
    AT_ONCE = 16,            /* so many renewals are under way together */
    NODE_WORKERS = 2,        /* nearly always one renews for all */
    WORKERS = 8,
    POD_ADDRESSES = 65000,
};

static const struct spn_target nodes = SPN_AT("", "v1", "nodes", "", "");
static const struct spn_target pods = SPN_AT("", "v1", "pods", "", "");
static const struct spn_target leases =
    SPN_AT("coordination.k8s.io", "v1", "leases", "kube-node-lease", "");

struct simulation {
    const struct simulate_options *opt;
    struct spn_client *client;
    struct spn_cache *nodes, *pods;
    struct node_kubelet *kubelet; /* where they answer */
    _Atomic uint32_t next_address;
    /* When Leases were renewed, by the number of their node; 0: not yet, or it has failed. */
    _Atomic int64_t *renewed_ns;
};

/* ---- Names and addresses ---- */

/* The number of a node of ours; -1: it is none. */
static int64_t number_of(const struct simulation *s, struct spn_text node)
{
    const struct str prefix = str_of(s->opt->prefix);
    int64_t n;
    struct str rest = str_in(node);
    if (!str_starts(rest, prefix))
        return -1;
    rest = str_skip(rest, prefix.n);
    if (!str_starts(rest, STR("-")) || !str_to_i64(str_skip(rest, 1), &n))
        return -1;
    return n >= 0 && n < (int64_t)s->opt->count ? n : -1;
}

static bool is_taken(const struct simulation *s, struct spn_text ip)
{
    struct spn_objects all = { 0 };
    (void)spn_cache_by_index(s->pods, POD_IP_INDEX, ip, &all, NULL);
    const bool is_taken = all.n > 0;
    spn_objects_done(&all);
    return is_taken;
}

/* One that no pod has; if all are taken, any. */
static struct spn_text free_address(struct simulation *s, struct spn_arena *a)
{
    struct spn_text ip = { 0 };
    for (int tries = 0; tries < POD_ADDRESSES && (!ip.n || is_taken(s, ip)); tries++)
        ip = node_address(a, 19, atomic_fetch_add(&s->next_address, 1) % POD_ADDRESSES);
    return ip;
}

static void index_ip(void *arg, const struct spn_object *o, struct spn_arena *a,
                     struct spn_index_values *out)
{
    (void)arg;
    struct spn_text ip = spn_value_text(spn_value_dig(spn_object_value(o, a), "status", "podIP"));
    if (ip.n)
        spn_index_put(out, ip);
}

/* ---- Nodes ---- */

static struct node_facts facts_of(const struct simulation *s, int64_t number, struct spn_text name)
{
    return (struct node_facts){ .opt = s->opt,
                                .number = number,
                                .name = name,
                                .port = node_kubelet_port(s->kubelet),
                                .now_ns = clock_wall_ns(&clock_system) };
}

static int check_ours(const struct simulation *s, const struct spn_target *at, struct spn_arena *a,
                      struct spn_err *err)
{
    struct spn_value *node;
    int r = spn_client_get(s->client, at, NULL, a, &node, err);
    if (r < 0)
        return r;
    if (spn_text_eq(spn_value_text(spn_value_dig(node, "metadata", "labels", NODE_BY_LABEL)),
                    spn_text_of(s->opt->prefix)))
        return 0;
    return spn_err_set(err, SPN_EXISTS, "the node " SPN_FMT " is not a simulated one",
                       SPN_ARG(at->name));
}

static int make_node(const struct simulation *s, unsigned i, const struct spn_call *how,
                     struct spn_arena *a, struct spn_err *err)
{
    struct spn_target at = nodes;
    struct spn_text name = spn_arena_printf(a, "%s-%u", s->opt->prefix, i);
    const struct node_facts facts = facts_of(s, i, name);
    int r = spn_client_create(s->client, &at, node_object_new(a, &facts), how, a, NULL, err);
    at.name = name;
    return r == -SPN_EXISTS ? check_ours(s, &at, a, err) : r;
}

int simulate_make_nodes(const struct simulation *s, struct spn_stop *stop, struct spn_err *err)
{
    struct spn_arena *a = spn_arena_new();
    const struct spn_call how = { .stop = stop };
    int r = 0;
    for (unsigned i = 0; i < s->opt->count; i++) {
        r = make_node(s, i, &how, a, err);
        if (r < 0)
            break;
        spn_arena_reset(a);
    }
    spn_arena_free(a);
    return r;
}

/* ---- Heartbeats ---- */

/* One alone; it is made if it is not there. */
static int renew(struct spn_work *w, const struct node_facts *f, const struct spn_value *node,
                 struct spn_err *err)
{
    struct spn_target at = leases;
    at.name = w->name;
    int r = spn_client_patch(w->client, &at, SPN_MERGE_PATCH,
                             spn_value_json(w->arena, node_lease_renewal(w->arena, f)), &w->how,
                             w->arena, NULL, err);
    if (r != -SPN_NOT_FOUND)
        return r;
    at.name = SPN_TEXT("");
    return spn_client_create(w->client, &at, node_lease_new(w->arena, f, node), &w->how, w->arena,
                             NULL, err);
}

static int say_status(struct spn_work *w, const struct node_facts *f, const struct spn_value *node,
                      struct spn_err *err)
{
    struct spn_target at = w->at;
    const struct spn_value *news = node_object_news(w->arena, f, node);
    if (!news)
        return 0;
    at.sub = SPN_TEXT("status");
    return spn_client_patch(w->client, &at, SPN_STRATEGIC_PATCH, spn_value_json(w->arena, news),
                            &w->how, w->arena, NULL, err);
}

/* Its name alone says little: others may use it, too. */
static bool is_ours(const struct simulation *s, struct spn_text node, struct spn_arena *a)
{
    struct spn_object *o = number_of(s, node) >= 0 ? spn_cache_get(s->nodes, node) : NULL;
    const bool is_ours =
        o && spn_text_eq(spn_object_label(o, a, NODE_BY_LABEL), spn_text_of(s->opt->prefix));
    spn_object_unref(o);
    return is_ours;
}

/* Takes the renewal of a node on, unless it is not due soon or somebody else has. */
static bool take_renewal(struct simulation *s, unsigned number, struct spn_text name,
                         int64_t now_ns, struct spn_arena *a)
{
    int64_t last = atomic_load(&s->renewed_ns[number]);
    return last && now_ns - last >= (RENEW_MS - AHEAD_MS) * NS_PER_MS && is_ours(s, name, a) &&
           atomic_compare_exchange_strong(&s->renewed_ns[number], &last, now_ns);
}

static void renew_some(struct simulation *s, struct spn_work *w, struct patch_one *some, size_t n)
{
    client_patch_many(s->client, SPN_MERGE_PATCH, some, n, &w->how, w->arena);
    for (size_t i = 0; i < n; i++)
        if (some[i].result < 0) /* its own turn comes now, too, and looks into it */
            atomic_store(&s->renewed_ns[number_of(s, some[i].at.name)], 0);
}

/* Nodes whose Leases are due soon are renewed together: that costs a fraction. */
static void renew_those_due(struct simulation *s, struct spn_work *w, int64_t now_ns)
{
    struct patch_one some[AT_ONCE];
    size_t n = 0;
    for (unsigned i = 0; i < s->opt->count; i++) {
        struct spn_text name = spn_arena_printf(w->arena, "%s-%u", s->opt->prefix, i);
        if (!take_renewal(s, i, name, now_ns, w->arena))
            continue;
        const struct node_facts facts = facts_of(s, i, name);
        some[n] = (struct patch_one){
            .at = leases, .patch = spn_value_json(w->arena, node_lease_renewal(w->arena, &facts))
        };
        some[n++].at.name = name;
        if (n == AT_ONCE) {
            renew_some(s, w, some, n);
            n = 0;
        }
    }
    renew_some(s, w, some, n);
}

/* What the node says of itself, and its Lease. */
static int beat(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct simulation *s = arg;
    const int64_t number = number_of(s, w->name), now_ns = clock_mono_ns(&clock_system);
    const struct spn_value *node = is_ours(s, w->name, w->arena) ? spn_work_object(w) : NULL;
    if (!node) {
        if (number >= 0)
            atomic_store(&s->renewed_ns[number], 0);
        return spn_done();
    }
    w->client = s->client;
    const struct node_facts facts = facts_of(s, number, w->name);
    const int64_t last_ns = atomic_load(&s->renewed_ns[number]);
    int r = 0;
    if (last_ns && now_ns - last_ns >= RENEW_MS * NS_PER_MS)
        renew_those_due(s, w, now_ns);
    if (!atomic_load(&s->renewed_ns[number])) {
        r = renew(w, &facts, node, err);
        if (r < 0)
            return r;
        atomic_store(&s->renewed_ns[number], now_ns);
    }
    r = say_status(w, &facts, node, err);
    if (r < 0)
        return r;
    const int64_t next_ns = atomic_load(&s->renewed_ns[number]) + RENEW_MS * NS_PER_MS;
    return spn_again_after((next_ns - now_ns) / NS_PER_MS + 1);
}

static bool when_node(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)arg;
    return !old_o || !new_o;
}

/* ---- Pods ---- */

static int write_pod(struct spn_work *w, const struct spn_value *pod, struct spn_value *status,
                     struct spn_err *err)
{
    struct spn_target at = w->at;
    struct spn_value *patch = spn_value_new(w->arena, SPN_OBJECT);
    struct spn_value *meta = spn_value_ensure(w->arena, patch, "metadata");
    const struct spn_value *old = spn_value_get(pod, "metadata");
    spn_value_set_text(w->arena, meta, "uid", spn_value_text(spn_value_get(old, "uid")));
    spn_value_set_text(w->arena, meta, "resourceVersion",
                       spn_value_text(spn_value_get(old, "resourceVersion")));
    spn_value_set(w->arena, patch, "status", status);
    at.sub = SPN_TEXT("status");
    return spn_client_patch(w->client, &at, SPN_STRATEGIC_PATCH, spn_value_json(w->arena, patch),
                            &w->how, w->arena, NULL, err);
}

static int remove_pod(struct spn_work *w, const struct spn_value *pod, struct spn_err *err)
{
    const int64_t at_once = 0;
    const struct spn_delete what = { .grace_seconds = &at_once,
                                     .uid = spn_value_text(spn_value_dig(pod, "metadata", "uid")) };
    return spn_client_delete(w->client, &w->at, &what, &w->how, w->arena, NULL, err);
}

static void tell(struct spn_work *w, const struct spn_value *pod, const struct pod_event *e)
{
    for (; e; e = e->next)
        spn_event(w->events, pod, e->is_warning ? SPN_WARNING : SPN_NORMAL, e->reason, SPN_FMT,
                  SPN_ARG(e->message));
}

static int live(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct simulation *s = arg;
    const struct spn_value *pod = spn_work_object(w);
    struct spn_text node = spn_value_text(spn_value_dig(pod, "spec", "nodeName"));
    struct spn_text ip = spn_value_text(spn_value_dig(pod, "status", "podIP"));
    if (!node.n || !is_ours(s, node, w->arena))
        return spn_done();
    w->client = s->client;
    const struct pod_place place = { .host_ip = node_address(w->arena, 18, number_of(s, node)),
                                     .pod_ip = ip.n ? ip : free_address(s, w->arena),
                                     .now_ns = clock_wall_ns(&clock_system) };
    const struct pod_step step = pod_life_next(w->arena, pod, &place);
    int r = 0;
    if (step.kind == POD_WAITS)
        return spn_again_after(step.wait_ms);
    if (step.kind == POD_WRITES)
        r = write_pod(w, pod, step.status, err);
    else if (step.kind == POD_IS_OVER)
        r = remove_pod(w, pod, err);
    if (r == 0 && !s->opt->no_events)
        tell(w, pod, step.events);
    /* It is gone, or the cache will soon show how it has changed. */
    return r == -SPN_NOT_FOUND || r == -SPN_CONFLICT ? spn_done() : r;
}

/* ---- All of it ---- */

/* Said, because it is the machine's and not ours alone. */
static void close_the_way(void)
{
    switch (blackhole_add()) {
    case BLACKHOLE_ADDED:
        spn_log(SPN_LOG_INFO, "a route was added, so that simulated addresses lead nowhere: "
                              "blackhole 198.18.0.0/15");
        break;
    case BLACKHOLE_FORBIDDEN:
        spn_log(SPN_LOG_INFO, "no right to add the route blackhole 198.18.0.0/15: simulated "
                              "addresses lead where the machine's routes say");
        break;
    case BLACKHOLE_FAILED:
        spn_log(SPN_LOG_WARN, "the route blackhole 198.18.0.0/15 could not be added");
        break;
    case BLACKHOLE_IS_THERE:
        break;
    }
}

static void add_controllers(struct simulation *s, struct spn_manager *m)
{
    spn_manager_add(m, &(struct spn_controller_options){ .name = "simulated-nodes",
                                                         .what = nodes,
                                                         .kind = "Node",
                                                         .has_no_namespace = true,
                                                         .workers = NODE_WORKERS,
                                                         .when = when_node,
                                                         .reconcile = beat,
                                                         .arg = s });
    spn_manager_add(m, &(struct spn_controller_options){ .name = "simulated-pods",
                                                         .what = pods,
                                                         .kind = "Pod",
                                                         .workers = WORKERS,
                                                         .when = spn_when_version_changes,
                                                         .reconcile = live,
                                                         .component = "kubelet",
                                                         .arg = s });
}

int simulate_add(struct spn_manager *m, struct spn_client *client,
                 const struct simulate_options *opt, struct simulation **ret, struct spn_err *err)
{
    struct node_kubelet *kubelet;
    int r = node_kubelet_start(&kubelet, err);
    if (r < 0)
        return r;
    if (!opt->leaves_routes)
        close_the_way();
    struct simulation *s = mem_new(struct simulation);
    struct spn_informers *all = spn_manager_informers(m);
    s->opt = opt;
    s->client = client;
    s->kubelet = kubelet;
    s->renewed_ns = mem_array(opt->count, sizeof(*s->renewed_ns));
    s->nodes =
        spn_informer_cache(spn_informers_get(all, &(struct spn_informer_options){ .what = nodes }));
    s->pods =
        spn_informer_cache(spn_informers_get(all, &(struct spn_informer_options){ .what = pods }));
    (void)spn_cache_add_index(s->pods, POD_IP_INDEX, index_ip, NULL, NULL);
    node_kubelet_set_pods(kubelet, s->pods);
    add_controllers(s, m);
    *ret = s;
    return 0;
}

struct simulation *simulate_free(struct simulation *s)
{
    if (!s)
        return NULL;
    node_kubelet_stop(s->kubelet);
    free(s->renewed_ns);
    free(s);
    return NULL;
}

static int make_and_run(struct simulation *s, struct spn_manager *m, struct spn_stop *stop,
                        struct spn_err *err)
{
    int r = simulate_make_nodes(s, stop, err);
    return r < 0 ? r : spn_manager_run(m, err);
}

static int run(struct spn_manager *m, struct spn_client *client, const struct simulate_options *opt,
               struct spn_stop *stop, struct spn_err *err)
{
    struct simulation *s;
    int r = simulate_add(m, client, opt, &s, err);
    if (r < 0)
        return r;
    r = make_and_run(s, m, stop, err);
    simulate_free(s);
    return r;
}

int simulate_run(struct spn_client *client, const struct simulate_options *opt,
                 struct spn_stop *stop, struct spn_err *err)
{
    struct spn_manager *m;
    const struct spn_manager_options how = { .client = client,
                                             .stop = stop,
                                             .name = "sampan-nodes" };
    int r = spn_manager_new(&how, &m, err);
    if (r < 0)
        return r;
    r = run(m, client, opt, stop, err);
    spn_manager_free(m);
    return r;
}
