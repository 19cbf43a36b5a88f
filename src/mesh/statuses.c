#include "mesh/statuses.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "mesh/model/tree.h"
#include "base/banned.h"

struct job {
    enum mesh_kind kind;
    struct str ns, name, patch;
};

struct batch {
    struct arena arena;
    struct job *jobs;
    size_t n;
    bool makes_classes; /* the server has the Gateway API, and no class of ours */
};

struct statuses {
    struct spn_client *client;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t moved;
    struct batch *next;
    bool stops;
};

/* ---- What is to be written; on the loop ---- */

/* The old condition of that type, if it says the same: its time stays. */
static struct str time_of(const struct value *old, const struct value *cond, struct str now)
{
    value_each_item (it, old) {
        if (str_eq(value_text(it, "type"), value_text(cond, "type")) &&
            str_eq(value_text(it, "status"), value_text(cond, "status")) &&
            value_text(it, "lastTransitionTime").n)
            return value_text(it, "lastTransitionTime");
    }
    return now;
}

static void stamp(struct arena *a, struct value *conditions, const struct value *old,
                  int64_t generation, struct str now)
{
    for (size_t i = 0; value_is(conditions, VALUE_ARRAY) && i < conditions->n; i++) {
        struct value *c = value_edit_at(a, conditions, i);
        value_put(a, c, STR("lastTransitionTime"), value_string(time_of(old, c, now)));
        value_put(a, c, STR("observedGeneration"), value_int(generation));
    }
}

/* Conditions of the object, of its listeners and of its parents. */
static void stamp_all(struct arena *a, struct value *status, const struct value *old,
                      int64_t generation, struct str now)
{
    static const char *const lists[] = { "listeners", "parents" };
    stamp(a, value_edit(a, status, STR("conditions")), value_get(old, STR("conditions")),
          generation, now);
    for (size_t k = 0; k < 2; k++) {
        struct value *list = value_edit(a, status, str_of(lists[k]));
        const struct value *was = value_get(old, str_of(lists[k]));
        for (size_t i = 0; value_is(list, VALUE_ARRAY) && i < list->n; i++)
            stamp(a, value_edit(a, value_edit_at(a, list, i), STR("conditions")),
                  value_get(value_at(was, i), STR("conditions")), generation, now);
    }
}

/* Parents that other controllers look after stay. */
static void keep_others(struct arena *a, struct value *status, const struct value *old)
{
    struct value *parents = value_edit(a, status, STR("parents"));
    value_each_item (it, parents ? value_get(old, STR("parents")) : NULL) {
        if (!str_eq(value_text(it, "controllerName"), STR(GATEWAY_API_CONTROLLER)))
            value_put_item(a, parents, value_borrow(it));
    }
}

static bool same(const struct value *status, const struct value *old)
{
    value_each_field (f, status) {
        const struct value *v = value_get(old, f->key);
        if (!v || !value_eq(v, &f->val))
            return false;
    }
    return true;
}

static void add_job(struct batch *b, const struct api_status *s, struct str now)
{
    struct arena *a = &b->arena;
    const struct value *old = value_get(s->of->obj, STR("status"));
    int64_t generation = 0;
    struct value status = value_clone(a, &s->status);
    autobuf out = { 0 };
    (void)value_to_int(value_dig(s->of->obj, "metadata", "generation"), &generation);
    stamp_all(a, &status, old, generation, now);
    keep_others(a, &status, old);
    if (same(&status, old))
        return;
    struct value patch = tree(a, "{status: %v}", status);
    json_write(&out, &patch);
    b->jobs[b->n++] = (struct job){ s->kind, arena_str(a, s->of->ns), arena_str(a, s->of->name),
                                    arena_str(a, buf_str(&out)) };
}

static struct batch *batch_free(struct batch *b)
{
    if (b)
        arena_done(&b->arena);
    free(b);
    return NULL;
}

void statuses_post(struct statuses *s, const struct realm *w, const struct api_statuses *all)
{
    struct batch *b = mem_new(struct batch);
    char now[32];
    arena_init(&b->arena);
    b->jobs = arena_array(&b->arena, struct job, all->n + 1);
    time_t t = (time_t)(clock_wall_ns(&clock_system) / NS_PER_SEC);
    struct tm tm;
    (void)gmtime_r(&t, &tm);
    size_t n = strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", &tm);
    for (size_t i = 0; i < all->n; i++)
        add_job(b, &all->items[i], (struct str){ now, n });
    b->makes_classes = !realm_find(w, MESH_API_GATEWAY_CLASS, STR(""), STR("istio"));
    if (!b->n && !b->makes_classes) {
        batch_free(b);
        return;
    }
    (void)pthread_mutex_lock(&s->lock);
    struct batch *old = s->next;
    s->next = b;
    (void)pthread_cond_signal(&s->moved);
    (void)pthread_mutex_unlock(&s->lock);
    batch_free(old);
}

/* ---- Writing; on the thread ---- */

static struct spn_target target_of(const struct job *j)
{
    static const struct {
        enum mesh_kind kind;
        const char *version, *plural;
    } kinds[] = { { MESH_API_GATEWAY_CLASS, "v1", "gatewayclasses" },
                  { MESH_API_GATEWAY, "v1", "gateways" },
                  { MESH_API_HTTP_ROUTE, "v1", "httproutes" },
                  { MESH_API_GRPC_ROUTE, "v1", "grpcroutes" },
                  { MESH_API_TCP_ROUTE, "v1alpha2", "tcproutes" },
                  { MESH_API_TLS_ROUTE, "v1", "tlsroutes" } };
    struct spn_target at = SPN_AT(GATEWAY_API_GROUP, "v1", "", "", "");
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (kinds[i].kind == j->kind) {
            at.version = spn_text_of(kinds[i].version);
            at.plural = spn_text_of(kinds[i].plural);
        }
    }
    at.ns = text_out(j->ns);
    at.name = text_out(j->name);
    at.sub = SPN_TEXT("status");
    return at;
}

static void write_one(struct statuses *s, const struct job *j, struct arena *a)
{
    struct spn_err err = { 0 };
    struct spn_target at = target_of(j);
    const struct spn_call how = { .manager = "sampan-mesh", .timeout_ms = 5000 };
    if (spn_client_patch(s->client, &at, SPN_MERGE_PATCH, text_out(j->patch), &how, arena_out(a),
                         NULL, &err) < 0 &&
        err.code != SPN_NOT_FOUND)
        log_warn("a status was not written", LOG_STR("name", j->name),
                 LOG_CSTR("err", err.message));
}

/* The classes that users name in their Gateways. */
static void make_classes(struct statuses *s, struct arena *a)
{
    static const char *const classes[][2] = { { "istio", GATEWAY_API_CONTROLLER },
                                              { "istio-remote", GATEWAY_API_UNMANAGED } };
    const struct spn_call how = { .manager = "sampan-mesh", .timeout_ms = 5000 };
    for (size_t i = 0; i < 2; i++) {
        struct spn_target at = SPN_AT(GATEWAY_API_GROUP, "v1", "gatewayclasses", "", "");
        struct spn_err err = { 0 };
        struct value obj = tree(a,
                                "{apiVersion: '" GATEWAY_API_GROUP "/v1', kind: GatewayClass, "
                                "metadata: {name: %t}, spec: {controllerName: %t, description: "
                                "'The default Istio GatewayClass'}}",
                                classes[i][0], classes[i][1]);
        (void)spn_client_create(s->client, &at, value_out(&obj), &how, arena_out(a), NULL, &err);
    }
}

static struct batch *wait_for(struct statuses *s)
{
    (void)pthread_mutex_lock(&s->lock);
    while (!s->next && !s->stops)
        (void)pthread_cond_wait(&s->moved, &s->lock);
    struct batch *b = s->stops ? NULL : s->next;
    if (b)
        s->next = NULL;
    (void)pthread_mutex_unlock(&s->lock);
    return b;
}

static bool is_outdated(struct statuses *s)
{
    (void)pthread_mutex_lock(&s->lock);
    bool r = s->next || s->stops;
    (void)pthread_mutex_unlock(&s->lock);
    return r;
}

static void *run(void *arg)
{
    struct statuses *s = arg;
    struct batch *b;
    while ((b = wait_for(s))) {
        if (b->makes_classes)
            make_classes(s, &b->arena);
        for (size_t i = 0; i < b->n && !is_outdated(s); i++)
            write_one(s, &b->jobs[i], &b->arena);
        batch_free(b);
    }
    return NULL;
}

int statuses_start(struct spn_client *client, struct statuses **ret, struct err *err)
{
    struct statuses *s = mem_new(struct statuses);
    s->client = client;
    (void)pthread_mutex_init(&s->lock, NULL);
    (void)pthread_cond_init(&s->moved, NULL);
    int rc = pthread_create(&s->thread, NULL, run, s);
    if (rc) {
        free(s);
        return err_errno(err, rc, "start a thread");
    }
    *ret = s;
    return 0;
}

struct statuses *statuses_stop(struct statuses *s)
{
    if (!s)
        return NULL;
    (void)pthread_mutex_lock(&s->lock);
    s->stops = true;
    (void)pthread_cond_signal(&s->moved);
    (void)pthread_mutex_unlock(&s->lock);
    (void)pthread_join(s->thread, NULL);
    batch_free(s->next);
    (void)pthread_mutex_destroy(&s->lock);
    (void)pthread_cond_destroy(&s->moved);
    free(s);
    return NULL;
}
