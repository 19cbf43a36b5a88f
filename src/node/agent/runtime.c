#include "node/agent/runtime.h"

#include <stdlib.h>

#include "base/idiom.h"
#include "node/agent/termination_message.h"
#include "base/banned.h"

static int64_t number_at(const struct value *v, struct str key)
{
    int64_t n = 0;
    (void)value_to_int(value_get(v, key), &n);
    return n;
}

/* Numbers in annotations are text. */
static int64_t annotated_number(const struct value *notes, struct str key)
{
    int64_t n = 0;
    (void)str_to_i64(value_str(value_get(notes, key)), &n);
    return n;
}

static enum container_state state_of(struct str name)
{
    if (!name.n || str_eq(name, STR("CONTAINER_CREATED")))
        return CONTAINER_CREATED; /* the zero value is not in the tree */
    if (str_eq(name, STR("CONTAINER_RUNNING")))
        return CONTAINER_RUNNING;
    if (str_eq(name, STR("CONTAINER_EXITED")))
        return CONTAINER_EXITED;
    return CONTAINER_UNKNOWN;
}

/* What the program itself has said about its end stands behind what the runtime says. */
static void add_message(struct arena *a, struct runtime_container *c)
{
    struct str said = termination_message(a, c->tree, c->exit_code);
    if (said.n && c->message.n)
        c->message = arena_printf(a, STR_FMT ": " STR_FMT, STR_ARG(c->message), STR_ARG(said));
    else if (said.n)
        c->message = said;
}

static struct runtime_container container_of_tree(struct arena *a, const struct value *t)
{
    const struct value *notes = value_get(t, STR("annotations"));
    struct runtime_container c = {
        .id = value_text(t, "id"),
        .name = value_str(value_dig(t, "labels", "io.kubernetes.container.name")),
        .image = value_str(value_dig(t, "image", "image")),
        .image_ref = value_text(t, "image_ref"),
        .hash = value_text(notes, "io.kubernetes.container.hash"),
        .restarts = annotated_number(notes, STR("io.kubernetes.container.restartCount")),
        .state = state_of(value_text(t, "state")),
        .created_ns = number_at(t, STR("created_at")),
        .started_ns = number_at(t, STR("started_at")),
        .log_path = value_text(t, "log_path"),
        .stop_signal = value_text(t, "stop_signal"),
        .user = value_dig(t, "user", "linux"),
        .resources = value_dig(t, "resources", "linux"),
        .tree = t,
    };
    if (c.state != CONTAINER_EXITED)
        return c;
    c.finished_ns = number_at(t, STR("finished_at"));
    c.exit_code = number_at(t, STR("exit_code"));
    c.reason = value_text(t, "reason");
    c.message = value_text(t, "message");
    add_message(a, &c);
    return c;
}

static struct runtime_sandbox sandbox_of_tree(const struct value *t)
{
    const struct value *network = value_get(t, STR("network"));
    struct str state = value_text(t, "state");
    struct str mode = value_str(value_dig(t, "linux", "namespaces", "options", "network"));
    return (struct runtime_sandbox){
        .id = value_text(t, "id"),
        .attempt = (uint32_t)number_at(value_get(t, STR("metadata")), STR("attempt")),
        .is_ready = !state.n || str_eq(state, STR("SANDBOX_READY")),
        .is_host_network = str_eq(mode, STR("NODE")),
        .has_network = network,
        .created_ns = number_at(t, STR("created_at")),
        .ip = value_text(network, "ip"),
        .more_ips = value_get(network, STR("additional_ips")),
    };
}

static int by_container_age(const void *a, const void *b)
{
    const struct runtime_container *x = a, *y = b;
    return (x->created_ns < y->created_ns) - (x->created_ns > y->created_ns);
}

static int by_sandbox_age(const void *a, const void *b)
{
    const struct runtime_sandbox *x = a, *y = b;
    return (x->created_ns < y->created_ns) - (x->created_ns > y->created_ns);
}

static void note_addresses(struct arena *a, struct runtime_pod *p)
{
    const struct runtime_sandbox *s = p->n_sandboxes ? &p->sandboxes[0] : NULL;
    if (!s || !s->is_ready)
        return;
    p->active = s->id;
    if (!s->ip.n)
        return;
    p->ips = arena_array(a, struct str, (s->more_ips ? s->more_ips->n : 0) + 1);
    p->ips[p->n_ips++] = s->ip;
    value_each_item (more, s->more_ips)
        p->ips[p->n_ips++] = value_text(more, "ip");
}

static size_t count(const struct value *arr)
{
    return value_is(arr, VALUE_ARRAY) ? arr->n : 0;
}

void runtime_pod_of(struct arena *a, struct str uid, const struct value *sandboxes,
                    const struct value *containers, struct runtime_pod *ret)
{
    struct runtime_pod p = { .uid = uid };
    p.sandboxes = arena_array(a, struct runtime_sandbox, count(sandboxes) + 1);
    p.containers = arena_array(a, struct runtime_container, count(containers) + 1);
    value_each_item (s, sandboxes) {
        p.sandboxes[p.n_sandboxes++] = sandbox_of_tree(s);
        p.ns = value_str(value_dig(s, "metadata", "namespace"));
        p.name = value_str(value_dig(s, "metadata", "name"));
    }
    value_each_item (c, containers) {
        struct runtime_container *at = &p.containers[p.n_containers++];
        *at = container_of_tree(a, c);
        at->sandbox_id = value_text(c, "sandbox_id");
    }
    if (p.n_sandboxes)
        qsort(p.sandboxes, p.n_sandboxes, sizeof(*p.sandboxes), by_sandbox_age);
    if (p.n_containers)
        qsort(p.containers, p.n_containers, sizeof(*p.containers), by_container_age);
    note_addresses(a, &p);
    *ret = p;
}

struct value runtime_filter(struct arena *a, struct str uid)
{
    struct value req = value_object();
    if (!uid.n)
        return req;
    struct value labels = value_object();
    value_put_new(a, &labels, STR("io.kubernetes.pod.uid"), value_string(uid));
    struct value filter = value_object();
    value_put_new(a, &filter, STR("label_selector"), labels);
    value_put_new(a, &req, STR("filter"), filter);
    return req;
}

/* The status of one thing; 1: it is gone. */
static int read_status(struct cri *cri, const char *method, struct str key, struct str id,
                       struct arena *a, struct value *ret, struct err *err)
{
    struct value req = value_object(), answer;
    value_put_new(a, &req, key, value_string(id));
    int r = cri_call(cri, method, &req, 0, a, &answer, err);
    if (r == -ERR_NOT_FOUND)
        return 1;
    if (r < 0)
        return r;
    const struct value *status = value_get(&answer, STR("status"));
    if (!status)
        return err_set(err, ERR_INTERNAL, "the runtime has answered without a status");
    *ret = value_borrow(status);
    return 0;
}

static int read_all(struct cri *cri, const struct value *list, bool is_sandbox, struct arena *a,
                    struct value *ret, struct err *err)
{
    const char *method = is_sandbox ? "PodSandboxStatus" : "ContainerStatus";
    struct str key = is_sandbox ? STR("pod_sandbox_id") : STR("container_id");
    value_each_item (it, list) {
        struct value status;
        int r = read_status(cri, method, key, value_text(it, "id"), a, &status, err);
        if (r < 0)
            return r;
        if (r > 0)
            continue;
        if (!is_sandbox) /* statuses do not say where they are */
            value_put(a, &status, STR("sandbox_id"),
                      value_string(value_text(it, "pod_sandbox_id")));
        value_put_item(a, ret, status);
    }
    return 0;
}

int runtime_read(struct cri *cri, struct str uid, struct arena *a, struct runtime_pod *ret,
                 struct err *err)
{
    struct value filter = runtime_filter(a, uid), found;
    struct value sandboxes = value_array(), containers = value_array();
    int r = cri_call(cri, "ListPodSandbox", &filter, 0, a, &found, err);
    if (r < 0)
        return r;
    r = read_all(cri, value_get(&found, STR("items")), true, a, &sandboxes, err);
    if (r < 0)
        return r;
    struct value have;
    r = cri_call(cri, "ListContainers", &filter, 0, a, &have, err);
    if (r < 0)
        return r;
    r = read_all(cri, value_get(&have, STR("containers")), false, a, &containers, err);
    if (r < 0)
        return r;
    runtime_pod_of(a, uid, &sandboxes, &containers, ret);
    return 0;
}

const struct runtime_container *runtime_find(const struct runtime_pod *p, struct str name)
{
    for (size_t i = 0; i < p->n_containers; i++)
        if (str_eq(p->containers[i].name, name))
            return &p->containers[i];
    return NULL;
}

const struct runtime_container *runtime_find_active(const struct runtime_pod *p, struct str name)
{
    for (size_t i = 0; p->active.n && i < p->n_containers; i++)
        if (str_eq(p->containers[i].name, name) && str_eq(p->containers[i].sandbox_id, p->active))
            return &p->containers[i];
    return NULL;
}

bool runtime_is_running(const struct runtime_pod *p)
{
    for (size_t i = 0; i < p->n_containers; i++)
        if (p->containers[i].state == CONTAINER_RUNNING)
            return true;
    for (size_t i = 0; i < p->n_sandboxes; i++)
        if (p->sandboxes[i].is_ready)
            return true;
    return false;
}
