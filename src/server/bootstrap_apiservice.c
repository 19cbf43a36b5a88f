#include "server/bootstrap_apiservice.h"

#include "api/keys.h"
#include "api/words.h"
#include "base/idiom.h"
#include "server/apiservice/apiservice.h"
#include "server/bootstrap_object.h"
#include "server/object/stored.h"
#include "base/banned.h"

/* ---- Priorities: upstream's, which decide the order of discovery ---- */

static const struct group_rank {
    struct str word;
    int64_t priority;
} groups[] = {
    { STR(""), 18000 },
    { STR("apps"), 17800 },
    { STR("events.k8s.io"), 17750 },
    { STR("authentication.k8s.io"), 17700 },
    { STR("authorization.k8s.io"), 17600 },
    { STR("autoscaling"), 17500 },
    { STR("batch"), 17400 },
    { STR("certificates.k8s.io"), 17300 },
    { STR("networking.k8s.io"), 17200 },
    { STR("extensions"), 17150 },
    { STR("policy"), 17100 },
    { STR("rbac.authorization.k8s.io"), 17000 },
    { STR("settings.k8s.io"), 16900 },
    { STR("storage.k8s.io"), 16800 },
    { STR("apiextensions.k8s.io"), 16700 },
    { STR("admissionregistration.k8s.io"), 16700 },
    { STR("scheduling.k8s.io"), 16600 },
    { STR("coordination.k8s.io"), 16500 },
    { STR("node.k8s.io"), 16300 },
    { STR("discovery.k8s.io"), 16200 },
    { STR("resource.k8s.io"), 16200 },
    { STR("flowcontrol.apiserver.k8s.io"), 16100 },
    { STR("internal.apiserver.k8s.io"), 16000 },
    { STR("lifecycle.k8s.io"), 15900 },
    { STR("storagemigration.k8s.io"), 15800 },
};

/* Of versions that are preferred more than their place among the others says. */
static const struct version_rank {
    struct str word; /* VERSION.GROUP */
    int64_t priority;
} versions[] = {
    { STR("v1."), 1 },
    { STR("v2.autoscaling"), 30 },
    { STR("v1.resource.k8s.io"), 21 },
    { STR("v1.flowcontrol.apiserver.k8s.io"), 21 },
};

static int64_t group_priority(struct str group)
{
    enum { OTHERS = 15000 };
    const struct group_rank *rank = words_row(group, groups);
    return rank ? rank->priority : OTHERS;
}

/* The older a version, the lower: alpha 1, beta 9, else 15. */
static int64_t version_priority(struct str name, struct str version)
{
    const struct version_rank *rank = words_row(name, versions);
    if (rank)
        return rank->priority;
    if (memmem(version.p, version.n, "alpha", 5))
        return 1;
    return memmem(version.p, version.n, "beta", 4) ? 9 : 15;
}

/* ---- Objects ---- */

static struct str name_of(struct arena *a, struct str group, struct str version)
{
    return arena_printf(a, STR_FMT "." STR_FMT, STR_ARG(version), STR_ARG(group));
}

struct value bootstrap_apiservice_of(struct arena *a, struct str group, struct str version,
                                     int64_t group_rank, int64_t version_rank, struct str care)
{
    struct value obj = value_object(), meta = value_object(), labels = value_object(),
                 spec = value_object();
    value_put(a, &labels, STR(KEY_AUTOMANAGED), value_string(care));
    value_put(a, &meta, STR("name"), value_string(name_of(a, group, version)));
    value_put(a, &meta, STR("labels"), labels);
    if (group.n)
        value_put(a, &spec, STR("group"), value_string(group));
    value_put(a, &spec, STR("version"), value_string(version));
    value_put(a, &spec, STR("groupPriorityMinimum"), value_int(group_rank));
    value_put(a, &spec, STR("versionPriority"), value_int(version_rank));
    value_put(a, &obj, STR("metadata"), meta);
    value_put(a, &obj, STR("spec"), spec);
    return obj;
}

static void add_condition(struct call *c, struct value *obj)
{
    struct value condition = value_object(), conditions = value_array(), status = value_object();
    value_put(c->arena, &condition, STR("type"), value_string(STR("Available")));
    value_put(c->arena, &condition, STR("status"), value_string(STR("True")));
    value_put(c->arena, &condition, STR("lastTransitionTime"), value_string(registry_now(c)));
    value_put(c->arena, &condition, STR("reason"), value_string(STR("Local")));
    value_put(c->arena, &condition, STR("message"),
              value_string(STR("Local APIServices are always available")));
    value_put_item(c->arena, &conditions, condition);
    value_put(c->arena, &status, STR("conditions"), conditions);
    value_put(c->arena, obj, STR("status"), status);
}

/* The group of APIServices needs none of its own. */
static bool is_told(const struct kind_version *v, enum kind_choice choice)
{
    return kind_version_is(v, choice) && !str_eq(v->group, STR("apiregistration.k8s.io"));
}

static int ensure(struct call *c, struct bootstrap_batch *missing, const struct kind_version *v,
                  struct err *err)
{
    struct registry_entry there;
    struct str name = name_of(c->arena, v->group, v->version);
    struct value obj =
        bootstrap_apiservice_of(c->arena, v->group, v->version, group_priority(v->group),
                                version_priority(name, v->version), STR("onstart"));
    add_condition(c, &obj);
    int r = bootstrap_find(c, name, &obj, &there, err);
    if (r != 0)
        return r < 0 ? r : 0;
    return bootstrap_add(missing, c, name, &obj, err);
}

/* ---- Those that are not served any more ---- */

static bool is_served(const struct call *c, const struct value *obj)
{
    struct str group = value_str(value_dig(obj, "spec", "group"));
    struct str version = value_str(value_dig(obj, "spec", "version"));
    for (size_t i = 0; i < n_kind_versions; i++)
        if (is_told(&kind_versions[i], c->api->versions) && str_eq(kind_versions[i].group, group) &&
            str_eq(kind_versions[i].version, version))
            return true;
    return false;
}

static int remove_old(struct call *c, struct store_snap *snap, struct bootstrap_batch *gone,
                      struct err *err)
{
    struct store_entry e;
    int r;
    store_range_begin(snap, stored_key(c->arena, c->stored, STR(""), STR("")), STR(""));
    while ((r = store_range_next(snap, &e, err)) == 1) {
        struct value obj;
        r = stored_read(c->arena, c->stored->type, &e, &obj, err);
        if (r < 0)
            return r;
        struct str care = value_str(value_dig(&obj, "metadata", "labels", KEY_AUTOMANAGED));
        if (!str_eq(care, STR("onstart")) || is_served(c, &obj) || gone->n == LIMIT_STORE_TXN_OPS)
            continue;
        gone->ops[gone->n++] = (struct store_op){ .type = STORE_DELETE,
                                                  .key = arena_str(c->arena, e.key),
                                                  .expect_rev = e.mod_rev };
    }
    return r;
}

static int ensure_all(struct call *c, struct bootstrap_batch *batch, struct err *err)
{
    struct store_snap *snap;
    for (size_t i = 0; i < n_kind_versions; i++) {
        if (!is_told(&kind_versions[i], c->api->versions))
            continue;
        int r = ensure(c, batch, &kind_versions[i], err);
        if (r < 0)
            return r;
    }
    int r = bootstrap_write(batch, c->api, err);
    if (r < 0)
        return r;
    r = store_snap_begin(c->api->store, 0, &snap, err);
    if (r < 0)
        return r;
    r = remove_old(c, snap, batch, err);
    store_snap_end(snap);
    return r < 0 ? r : bootstrap_write(batch, c->api, err);
}

int bootstrap_apiservice(struct api *api, struct err *err)
{
    struct arena a;
    arena_init(&a);
    struct call c =
        bootstrap_call(api, &a, STR("apiregistration.k8s.io"), STR("apiservices"), STR(""));
    struct bootstrap_batch *batch = arena_new(&a, struct bootstrap_batch);
    int r = ensure_all(&c, batch, err);
    arena_done(&a);
    return r < 0 ? err_wrap(err, "make the APIServices of what is built in") : 0;
}
