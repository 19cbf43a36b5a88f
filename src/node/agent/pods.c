/* pods.c - the table of pods: what the API and the folder of manifests have. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "node/agent/agent_internal.h"
#include "base/banned.h"

enum { RECONCILE_MS = 10000 };

static char *text_dup(struct str s)
{
    char *p = mem_alloc(s.n + 1);
    memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return p;
}

struct agent_pod *pods_find(struct agent *ag, struct str uid)
{
    return map_get(&ag->pods, uid);
}

struct agent_pod *pods_add(struct agent *ag, struct str uid)
{
    struct agent_pod *p = pods_find(ag, uid);
    if (p)
        return p;
    p = mem_new(struct agent_pod);
    p->uid = text_dup(uid);
    p->evict_grace = -1;
    char text[CLOCK_TEXT_BYTES];
    p->seen = text_dup(clock_format(agent_wall_ns(), true, text));
    (void)map_set(&ag->pods, str_of(p->uid), p);
    return p;
}

void pods_free_one(struct agent *ag, struct agent_pod *p)
{
    (void)map_remove(&ag->pods, str_of(p->uid));
    spn_object_unref(p->obj);
    buf_done(&p->status);
    buf_done(&p->reasons);
    buf_done(&p->resize);
    free(p->evict_reason);
    free(p->evict_message);
    free(p->seen);
    free(p->uid);
    free(p);
}

struct spn_object *pods_mirror(struct agent *ag, struct str ns, struct str name)
{
    struct buf key = { 0 };
    buf_printf(&key, STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(name));
    struct mirror *m = map_get(&ag->mirrors, buf_str(&key));
    buf_done(&key);
    return m ? spn_object_ref(m->obj) : NULL;
}

/* ---- Trees ---- */

static void annotate(struct arena *a, struct value *pod, struct str key, struct str text)
{
    struct value *meta = value_ensure(a, pod, STR("metadata"));
    struct value *notes = value_ensure(a, meta, STR("annotations"));
    if (notes)
        value_put(a, notes, key, value_string(text));
}

static struct value *tree_of(const struct spn_object *o, struct arena *a)
{
    struct value *v = value_in_edit(spn_object_value(o, arena_out(a)));
    value_put(a, v, STR("apiVersion"), value_string(STR("v1")));
    value_put(a, v, STR("kind"), value_string(STR("Pod")));
    return v;
}

/* What the API says of a static pod is said of its mirror, unless that is of an older file. */
static void take_mirror_status(struct arena *a, struct value *pod, const struct spn_object *mirror)
{
    const struct value *m = value_in(spn_object_value(mirror, arena_out(a)));
    const struct value *status = value_get(m, STR("status"));
    struct str of =
        value_str(value_dig(m, "metadata", "annotations", "kubernetes.io/config.mirror"));
    struct str is =
        value_str(value_dig(pod, "metadata", "annotations", "kubernetes.io/config.hash"));
    if (status && str_eq(of, is))
        value_put(a, pod, STR("status"), value_borrow(status));
}

const struct value *pods_value(struct agent *ag, struct str uid, struct arena *a)
{
    (void)pthread_mutex_lock(&ag->lock);
    struct agent_pod *p = pods_find(ag, uid);
    struct spn_object *o = p && p->obj ? spn_object_ref(p->obj) : NULL, *mirror = NULL;
    bool is_static = p && p->is_static;
    struct str seen = p ? arena_str(a, str_of(p->seen)) : STR("");
    if (o && is_static)
        mirror = pods_mirror(ag, str_in(spn_object_namespace(o)), str_in(spn_object_name(o)));
    (void)pthread_mutex_unlock(&ag->lock);
    if (!o)
        return NULL;
    struct value *pod = tree_of(o, a);
    if (!is_static) {
        annotate(a, pod, STR("kubernetes.io/config.source"), STR("api"));
        annotate(a, pod, STR("kubernetes.io/config.seen"), seen);
    } else if (mirror) {
        take_mirror_status(a, pod, mirror);
    }
    allocation_apply(ag, pod, a);
    spn_object_unref(o);
    spn_object_unref(mirror);
    return pod;
}

struct str *pods_uids(struct agent *ag, struct arena *a, size_t *ret_n)
{
    size_t pos = 0, n = 0;
    struct str key;
    void *p;
    (void)pthread_mutex_lock(&ag->lock);
    struct str *all = arena_array(a, struct str, ag->pods.n + 1);
    while (map_next(&ag->pods, &pos, &key, &p))
        all[n++] = arena_str(a, key);
    (void)pthread_mutex_unlock(&ag->lock);
    *ret_n = n;
    return all;
}

static bool is_active(struct agent *ag, struct str uid)
{
    (void)pthread_mutex_lock(&ag->lock);
    const struct agent_pod *p = pods_find(ag, uid);
    bool is = p && p->obj && p->is_admitted && p->stage < STAGE_TERMINATED;
    (void)pthread_mutex_unlock(&ag->lock);
    return is;
}

const struct value **pods_active(struct agent *ag, struct str but_uid, struct arena *a,
                                 size_t *ret_n)
{
    size_t n, got = 0;
    struct str *uids = pods_uids(ag, a, &n);
    const struct value **all = arena_array(a, const struct value *, n + 1);
    for (size_t i = 0; i < n; i++) {
        if (str_eq(uids[i], but_uid) || !is_active(ag, uids[i]))
            continue;
        const struct value *pod = pods_value(ag, uids[i], a);
        if (pod && !phase_is_final(value_str(value_dig(pod, "status", "phase"))))
            all[got++] = pod;
    }
    *ret_n = got;
    return all;
}

/* ---- From the API ---- */

/* Without what we write ourselves. */
static struct value wish_of(struct arena *a, const struct spn_object *o)
{
    struct value *v = value_in_edit(spn_object_value(o, arena_out(a)));
    value_drop(a, v, STR("status"));
    struct value *meta = value_edit(a, v, STR("metadata"));
    if (meta) {
        value_drop(a, meta, STR("resourceVersion"));
        value_drop(a, meta, STR("managedFields"));
    }
    return *v;
}

static bool has_gates(const struct value *wish)
{
    return value_dig(wish, "spec", "readinessGates");
}

/* Whether the pod is to be looked at again. Most updates are our own writes of its status. */
static bool is_news(const struct spn_object *old, const struct spn_object *o)
{
    if (!old)
        return true;
    struct arena a;
    arena_init(&a);
    struct value before = wish_of(&a, old), now = wish_of(&a, o);
    bool is = !value_eq(&before, &now) || has_gates(&now);
    const struct value *x = value_in(spn_object_value(old, arena_out(&a)));
    const struct value *y = value_in(spn_object_value(o, arena_out(&a)));
    is |= phase_is_final(value_str(value_dig(y, "status", "phase"))) !=
          phase_is_final(value_str(value_dig(x, "status", "phase")));
    arena_done(&a);
    return is;
}

/* Somebody else has changed what we have written. */
static void check_status(struct agent *ag, const struct spn_object *o)
{
    struct arena a;
    arena_init(&a);
    struct str uid = str_in(spn_object_uid(o));
    const struct value *ours = status_get(ag, uid, &a);
    const struct value *theirs =
        value_get(value_in(spn_object_value(o, arena_out(&a))), STR("status"));
    if (ours && theirs && !status_eq(&a, ours, theirs))
        agent_wake_writer(ag, uid, RECONCILE_MS);
    arena_done(&a);
}

static bool object_is_mirror(const struct spn_object *o)
{
    struct arena a;
    arena_init(&a);
    const struct value *meta = value_in(spn_object_meta(o, arena_out(&a)));
    bool is = value_dig(meta, "annotations", "kubernetes.io/config.mirror");
    arena_done(&a);
    return is;
}

/* With the lock: whoever is run under that name from a file. A new mirror gets its status. */
static void wake_static(struct agent *ag, struct spn_text key)
{
    size_t pos = 0;
    struct str uid;
    void *p;
    while (map_next(&ag->pods, &pos, &uid, &p)) {
        const struct agent_pod *pod = p;
        if (!pod->is_static || !pod->obj || !spn_text_eq(spn_object_key(pod->obj), key))
            continue;
        agent_wake(ag, uid);
        agent_wake_writer(ag, uid, 0);
    }
}

static void set_mirror(struct agent *ag, const struct spn_object *o)
{
    struct str key = str_in(spn_object_key(o));
    (void)pthread_mutex_lock(&ag->lock);
    struct mirror *m = map_get(&ag->mirrors, key);
    bool is_news =
        !m || spn_object_is_deleting(o) || !spn_text_eq(spn_object_uid(m->obj), spn_object_uid(o));
    if (!m) {
        m = mem_new(struct mirror);
        m->key = text_dup(key);
        (void)map_set(&ag->mirrors, str_of(m->key), m);
    }
    spn_object_unref(m->obj);
    m->obj = spn_object_ref(o);
    if (is_news)
        wake_static(ag, spn_object_key(o));
    (void)pthread_mutex_unlock(&ag->lock);
}

static void drop_mirror(struct agent *ag, const struct spn_object *o)
{
    (void)pthread_mutex_lock(&ag->lock);
    struct mirror *m = map_get(&ag->mirrors, str_in(spn_object_key(o)));
    if (m && spn_text_eq(spn_object_uid(m->obj), spn_object_uid(o))) {
        (void)map_remove(&ag->mirrors, str_of(m->key));
        spn_object_unref(m->obj);
        free(m->key);
        free(m);
    } /* it comes back with the next look at the pod */
    (void)pthread_mutex_unlock(&ag->lock);
}

static void set_pod(struct agent *ag, const struct spn_object *o)
{
    if (object_is_mirror(o)) {
        set_mirror(ag, o);
        return;
    }
    struct str uid = str_in(spn_object_uid(o));
    (void)pthread_mutex_lock(&ag->lock);
    struct agent_pod *p = pods_add(ag, uid);
    struct spn_object *old = p->obj;
    p->obj = spn_object_ref(o);
    p->is_removed = false;
    (void)pthread_mutex_unlock(&ag->lock);
    if (is_news(old, o))
        agent_wake(ag, uid);
    if (old)
        check_status(ag, o);
    spn_object_unref(old);
}

static void on_add(void *arg, const struct spn_object *o, bool is_initial)
{
    (void)is_initial;
    set_pod(arg, o);
}

static void on_update(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)old_o;
    set_pod(arg, new_o);
}

static void on_delete(void *arg, const struct spn_object *o, bool is_last_known)
{
    (void)is_last_known;
    struct agent *ag = arg;
    if (object_is_mirror(o)) {
        drop_mirror(ag, o);
        return;
    }
    struct str uid = str_in(spn_object_uid(o));
    (void)pthread_mutex_lock(&ag->lock);
    struct agent_pod *p = pods_find(ag, uid);
    if (p)
        p->is_removed = true; /* the pod as it was last: it is ended by that */
    (void)pthread_mutex_unlock(&ag->lock);
    agent_wake(ag, uid);
}

struct spn_handler pods_handler(struct agent *ag)
{
    return (struct spn_handler){ ag, on_add, on_update, on_delete };
}

/* ---- From files ---- */

bool pods_must_wait(struct agent *ag, struct str uid)
{
    size_t pos = 0;
    struct str key;
    void *at;
    bool must = false;
    (void)pthread_mutex_lock(&ag->lock);
    const struct agent_pod *own = pods_find(ag, uid);
    while (own && own->obj && map_next(&ag->pods, &pos, &key, &at)) {
        const struct agent_pod *p = at;
        must |= p != own && p->is_static && p->is_removed && p->stage < STAGE_FINISHED && p->obj &&
                spn_text_eq(spn_object_key(p->obj), spn_object_key(own->obj));
    }
    (void)pthread_mutex_unlock(&ag->lock);
    return must;
}

void pods_set_static(struct agent *ag, struct str uid, const struct value *pod)
{
    struct spn_object *o = NULL;
    if (pod && spn_object_new(value_out(pod), &o, NULL) < 0)
        return;
    (void)pthread_mutex_lock(&ag->lock);
    struct agent_pod *p = o ? pods_add(ag, uid) : pods_find(ag, uid);
    if (p && o) {
        spn_object_unref(p->obj);
        p->obj = o;
        p->is_static = true;
        p->is_removed = false;
    } else if (p) {
        p->is_removed = true;
    }
    (void)pthread_mutex_unlock(&ag->lock);
    agent_wake(ag, uid);
}
