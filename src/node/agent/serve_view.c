/* serve_view.c - what the endpoint asks of the agent. */
#include "base/clock.h"
#include "client/bridge.h"
#include "node/agent/agent_internal.h"
#include "node/agent/container_status.h"
#include "base/banned.h"

enum { STILL_SEC = 180 };

/* The pod with the status that we know, which may be newer than the API's. */
static const struct value *whole_pod(struct agent *ag, struct str uid, struct arena *a)
{
    const struct value *pod = pods_value(ag, uid, a), *status = status_get(ag, uid, a);
    if (!pod || !status)
        return pod;
    struct value *copy = arena_new(a, struct value);
    *copy = value_borrow(pod);
    value_put(a, copy, STR("status"), value_borrow(status));
    return copy;
}

static void list_pods(void *arg, struct arena *a, struct value *ret)
{
    struct agent *ag = arg;
    size_t n;
    struct str *uids = pods_uids(ag, a, &n);
    *ret = value_array();
    for (size_t i = 0; i < n; i++) {
        const struct value *pod = whole_pod(ag, uids[i], a);
        if (pod)
            value_put_item(a, ret, value_borrow(pod));
    }
}

/* By its own uid, or by that of its mirror. */
static bool has_uid(struct agent *ag, const struct value *pod, struct str uid, struct arena *a)
{
    if (!uid.n || str_eq(pod_uid(pod), uid))
        return true;
    (void)pthread_mutex_lock(&ag->lock);
    struct spn_object *o = pods_mirror(ag, pod_ns(pod), pod_name(pod));
    (void)pthread_mutex_unlock(&ag->lock);
    bool has = o && str_eq(arena_str(a, str_in(spn_object_uid(o))), uid);
    spn_object_unref(o);
    return has;
}

static const struct value *find_pod(void *arg, struct str ns, struct str name, struct str uid,
                                    struct arena *a)
{
    struct agent *ag = arg;
    const struct value *found = NULL;
    size_t n;
    struct str *uids = pods_uids(ag, a, &n);
    for (size_t i = 0; i < n; i++) {
        const struct value *pod = whole_pod(ag, uids[i], a);
        bool is_it = pod && str_eq(pod_ns(pod), ns) && str_eq(pod_name(pod), name) &&
                     has_uid(ag, pod, uid, a);
        if (is_it && (!found || pod_is_deleting(found)))
            found = pod;
    }
    return found;
}

static const struct value *status_named(const struct value *pod, struct str name)
{
    static const char *const lists[] = { "containerStatuses", "initContainerStatuses",
                                         "ephemeralContainerStatuses" };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        const struct value *s = list_named(value_dig(pod, "status", lists[i]), name);
        if (s)
            return s;
    }
    return NULL;
}

static int find_container(void *arg, const struct value *pod, struct str name, bool previous,
                          struct arena *a, struct served_container *ret, struct err *err)
{
    struct agent *ag = arg;
    struct runtime_pod have;
    struct served_container c = { 0 };
    if (!pod_container(pod, name, NULL))
        return err_set(err, ERR_NOT_FOUND, "container " STR_FMT " is not in pod " STR_FMT,
                       STR_ARG(name), STR_ARG(pod_name(pod)));
    int r = runtime_read(ag->parts.cri, pod_uid(pod), a, &have, err);
    if (r < 0)
        return r;
    size_t skip = previous;
    for (size_t i = 0; i < have.n_containers; i++) {
        const struct runtime_container *got = &have.containers[i];
        if (!str_eq(got->name, name) || skip-- > 0)
            continue;
        c.id = got->id;
        c.log_path = got->log_path;
        c.is_running = got->state == CONTAINER_RUNNING;
        break;
    }
    c.status = status_named(pod, name);
    *ret = c;
    return 0;
}

static struct str find_sandbox(void *arg, const struct value *pod, struct arena *a)
{
    struct agent *ag = arg;
    struct err err = ERR_INIT(a);
    struct runtime_pod have;
    if (runtime_read(ag->parts.cri, pod_uid(pod), a, &have, &err) < 0)
        return STR("");
    return have.active;
}

static bool is_healthy(void *arg)
{
    int64_t at = agent_last_relist_ns(arg);
    return at && agent_mono_ns() - at < STILL_SEC * NS_PER_SEC;
}

struct serve_agent agent_serve(struct agent *ag)
{
    return (
        struct serve_agent){ ag, list_pods, find_pod, find_container, find_sandbox, is_healthy };
}
