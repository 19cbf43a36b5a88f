/* status_writer.c - statuses on their way to the API: the newest of each pod, by one write at a
 * time.
 *
 * A status has a version; what was written is noted, so a newer one is never overtaken by an older
 * one. Writing reads the pod first, and sends a patch of what differs, for that uid only. */
#include <stdlib.h>
#include <sampan/patch.h>

#include "base/json.h"
#include "base/log.h"
#include "client/bridge.h"
#include "node/agent/agent_internal.h"
#include "node/agent/container_status.h"
#include "base/banned.h"

enum { CALL_MS = 20000, RETRY_MS = 2000 };

static const struct value *read_tree(struct arena *a, struct str json)
{
    struct value *v = arena_new(a, struct value);
    if (!json.n || json_read(a, arena_str(a, json), NULL, v, NULL) < 0)
        return NULL;
    return v;
}

const struct value *status_get(struct agent *ag, struct str uid, struct arena *a)
{
    (void)pthread_mutex_lock(&ag->lock);
    const struct agent_pod *p = pods_find(ag, uid);
    const struct value *v = p ? read_tree(a, buf_str(&p->status)) : NULL;
    (void)pthread_mutex_unlock(&ag->lock);
    return v;
}

/* With the lock. */
static void keep(struct agent_pod *p, const struct value *status, bool finished)
{
    buf_reset(&p->status);
    json_write(&p->status, status);
    p->status_version++;
    p->is_finished |= finished;
    struct str ip = value_text(status, "podIP");
    size_t n = ip.n < sizeof(p->ip_text) ? ip.n : 0;
    memcpy(p->ip_text, ip.p, n);
    p->first_ip = (struct str){ p->ip_text, n };
}

void status_set(struct agent *ag, const struct value *pod, struct value *status, bool finished,
                struct arena *a)
{
    struct str uid = pod_uid(pod);
    (void)pthread_mutex_lock(&ag->lock);
    struct agent_pod *p = pods_find(ag, uid);
    const struct value *cached = p ? read_tree(a, buf_str(&p->status)) : NULL;
    const struct value *before = cached ? cached : value_get(pod, STR("status"));
    bool is_wanted = p && !status_is_impossible(pod, status, before);
    if (is_wanted) {
        status_settle(a, pod, status, before, agent_wall_ns());
        bool force = finished || pod_is_deleting(pod);
        is_wanted = !cached || force || !status_eq(a, cached, status);
    }
    if (is_wanted)
        keep(p, status, finished);
    (void)pthread_mutex_unlock(&ag->lock);
    if (is_wanted)
        agent_wake_writer(ag, uid, 0);
}

void status_note_condition(struct agent *ag, const struct value *pod, struct str type,
                           struct arena *a)
{
    const struct value *cached = status_get(ag, pod_uid(pod), a);
    if (!cached)
        return;
    struct value status = value_clone(a, cached);
    struct value *conditions = value_edit(a, &status, STR("conditions"));
    if (conditions)
        condition_put(a, conditions, condition_new(a, pod, type, STR("True"), STR(""), STR("")));
    status_set(ag, pod, &status, false, a);
}

/* ---- Probes ---- */

static struct value *edit_container(struct arena *a, struct value *status, struct str id)
{
    static const char *const lists[] = { "containerStatuses", "initContainerStatuses" };
    for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
        struct value *all = value_edit(a, status, str_of(lists[l]));
        for (size_t i = 0; all && i < all->n; i++) {
            struct value *s = value_edit_at(a, all, i);
            if (str_ends(value_text(s, "containerID"), id))
                return s;
        }
    }
    return NULL;
}

static void note_ready(struct arena *a, const struct value *pod, struct value *status)
{
    struct value all = value_array();
    value_each_item (s, value_get(status, STR("initContainerStatuses")))
        value_put_item(a, &all, value_clone(a, s));
    value_each_item (s, value_get(status, STR("containerStatuses")))
        value_put_item(a, &all, value_clone(a, s));
    struct str phase = value_text(status, "phase");
    struct value *conditions = value_edit(a, status, STR("conditions"));
    if (!conditions)
        return;
    condition_put(a, conditions, condition_ready(a, pod, conditions, &all, phase));
    condition_put(a, conditions, condition_containers_ready(a, pod, &all, phase));
}

void status_note_probe(struct agent *ag, struct str uid, struct str container_id,
                       enum probe_kind kind, bool is_good)
{
    struct arena a;
    arena_init(&a);
    const struct value *pod = pods_value(ag, uid, &a), *cached = status_get(ag, uid, &a);
    struct value status = cached ? value_clone(&a, cached) : value_null();
    struct value *s = pod && cached ? edit_container(&a, &status, container_id) : NULL;
    struct str key = kind == PROBE_STARTUP ? STR("started") : STR("ready");
    if (s && value_is_true(value_get(s, key)) != is_good) {
        value_put(&a, s, key, value_bool(is_good));
        if (kind == PROBE_READINESS)
            note_ready(&a, pod, &status);
        status_set(ag, pod, &status, false, &a);
    }
    arena_done(&a);
}

/* ---- Writing ---- */

struct pending {
    struct spn_target at;
    const struct value *status, *pod;
    uint64_t version;
    bool finished, is_static, could_run;
    struct str api_uid; /* of the object that is written to */
};

static struct str annotation(const struct spn_object *o, struct str key, struct arena *a)
{
    const struct value *meta = value_in(spn_object_meta(o, arena_out(a)));
    return value_str(value_get(value_get(meta, STR("annotations")), key));
}

/* With the lock. The mirror of just this static pod, not of the one before. */
static struct spn_object *own_mirror(struct agent *ag, const struct agent_pod *p, struct arena *a)
{
    struct spn_object *m =
        pods_mirror(ag, str_in(spn_object_namespace(p->obj)), str_in(spn_object_name(p->obj)));
    if (m && str_eq(annotation(m, STR("kubernetes.io/config.mirror"), a),
                    annotation(p->obj, STR("kubernetes.io/config.hash"), a)))
        return m;
    return spn_object_unref(m);
}

/* False: there is nothing to write, or nothing to write it to. */
static bool take_pending(struct agent *ag, struct str uid, struct arena *a, struct pending *ret)
{
    (void)pthread_mutex_lock(&ag->lock);
    const struct agent_pod *p = pods_find(ag, uid);
    bool is_there = p && p->obj && p->status.n && !p->is_removed;
    struct pending w = { .at = SPN_AT("", "v1", "pods", "", "") };
    struct spn_object *mirror = NULL;
    if (is_there) {
        w.at.ns = text_out(arena_str(a, str_in(spn_object_namespace(p->obj))));
        w.at.name = text_out(arena_str(a, str_in(spn_object_name(p->obj))));
        w.status = read_tree(a, buf_str(&p->status));
        w.version = p->status_version;
        w.finished = p->is_finished;
        w.is_static = p->is_static;
        w.could_run = p->stage < STAGE_TERMINATED;
        w.api_uid = arena_str(a, uid);
        if (p->is_static)
            mirror = own_mirror(ag, p, a);
    }
    (void)pthread_mutex_unlock(&ag->lock);
    if (is_there && w.is_static && !mirror)
        return false;
    if (mirror)
        w.api_uid = arena_str(a, str_in(spn_object_uid(mirror)));
    spn_object_unref(mirror);
    *ret = w;
    return is_there && w.status;
}

static struct spn_text document(struct arena *a, struct str uid, const struct value *status)
{
    struct value doc = value_object();
    value_put_new(a, &doc, STR("apiVersion"), value_string(STR("v1")));
    value_put_new(a, &doc, STR("kind"), value_string(STR("Pod")));
    if (uid.n) {
        struct value meta = value_object();
        value_put_new(a, &meta, STR("uid"), value_string(uid));
        value_put_new(a, &doc, STR("metadata"), meta);
    }
    value_put_new(a, &doc, STR("status"), value_borrow(status));
    struct buf text = { 0 };
    json_write(&text, &doc);
    struct str copy = arena_str(a, buf_str(&text));
    buf_done(&text);
    return text_out(copy);
}

/* The patch always names the uid; with nothing else in it there is nothing to send. */
static bool is_empty_patch(struct arena *a, const char *patch)
{
    const struct value *v = read_tree(a, str_of(patch));
    return !value_get(v, STR("status"));
}

static int send_status(struct agent *ag, const struct pending *w, const struct value *server_pod,
                       struct arena *a, const struct value **ret_pod, struct spn_err *err)
{
    static const struct value none = { .type = VALUE_OBJECT };
    const struct value *server = value_get(server_pod, STR("status"));
    server = server ? server : &none;
    struct value merged =
        status_merge(a, server_pod, server, w->status, w->could_run, agent_wall_ns());
    char *patch = NULL, *why = NULL;
    if (spn_patch_two_way(document(a, STR(""), server), document(a, w->api_uid, &merged), &patch,
                          &why) < 0) {
        int r = spn_err_set(err, SPN_INVALID, "patch of a status: %s", why);
        free(why);
        return r;
    }
    int r = 0;
    *ret_pod = server_pod;
    if (!is_empty_patch(a, patch)) {
        const struct spn_call how = { .timeout_ms = CALL_MS };
        struct spn_target at = w->at;
        struct spn_value *written = NULL;
        at.sub = SPN_TEXT("status");
        r = spn_client_patch(ag->parts.client, &at, SPN_STRATEGIC_PATCH,
                             text_out(arena_str(a, str_of(patch))), &how, arena_out(a), &written,
                             err);
        if (r == 0)
            *ret_pod = value_in(written);
    }
    free(patch);
    return r;
}

/* Once all is gone and the API knows it, the pod itself goes. */
static int remove_pod(struct agent *ag, const struct pending *w, const struct value *pod,
                      struct arena *a, struct spn_err *err)
{
    if (!w->finished || !pod_is_deleting(pod) || pod_is_mirror(pod) ||
        !phase_is_final(value_str(value_dig(pod, "status", "phase"))))
        return 0;
    static const int64_t now = 0;
    const struct spn_delete what = { .grace_seconds = &now, .uid = text_out(w->api_uid) };
    const struct spn_call how = { .timeout_ms = CALL_MS };
    int r = spn_client_delete(ag->parts.client, &w->at, &what, &how, arena_out(a), NULL, err);
    return r == -SPN_NOT_FOUND || r == -SPN_CONFLICT ? 0 : r;
}

static void note_written(struct agent *ag, struct str uid, uint64_t version)
{
    (void)pthread_mutex_lock(&ag->lock);
    struct agent_pod *p = pods_find(ag, uid);
    bool is_newer = p && p->status_version > version;
    if (p)
        p->status_written = version;
    (void)pthread_mutex_unlock(&ag->lock);
    if (is_newer)
        agent_wake_writer(ag, uid, 0);
}

/* -SPN_NOT_FOUND: there is no such pod any more, or another one of that name. */
static int write_pending(struct agent *ag, const struct pending *w, struct arena *a,
                         struct spn_err *err)
{
    struct spn_value *got = NULL;
    const struct value *pod = NULL;
    const struct spn_call how = { .timeout_ms = CALL_MS };
    int r = spn_client_get(ag->parts.client, &w->at, &how, arena_out(a), &got, err);
    if (r < 0)
        return r;
    if (!str_eq(pod_uid(value_in(got)), w->api_uid))
        return -SPN_NOT_FOUND;
    r = send_status(ag, w, value_in(got), a, &pod, err);
    if (r < 0)
        return r;
    return remove_pod(ag, w, pod, a, err);
}

void status_write(struct agent *ag, struct str uid)
{
    struct arena a;
    struct pending w;
    struct spn_err err = { 0 };
    arena_init(&a);
    if (take_pending(ag, uid, &a, &w)) {
        int r = write_pending(ag, &w, &a, &err);
        if (r == 0 || r == -SPN_NOT_FOUND) {
            note_written(ag, uid, w.version);
        } else {
            log_warn("the status of a pod could not be written", LOG_STR("pod", str_in(w.at.name)),
                     LOG_CSTR("err", err.message));
            agent_wake_writer(ag, uid, RETRY_MS);
        }
    }
    arena_done(&a);
}
