#include "node/register/node_status.h"

#include <sampan/patch.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "base/banned.h"

#define ATTACH_NOTE "volumes.kubernetes.io/controller-managed-attach-detach"

enum { IMAGE_NAMES_MAX = 5 };

static void put_text(struct arena *a, struct value *obj, const char *key, struct str text)
{
    value_put(a, obj, str_of(key), value_string(text));
}

static struct str time_text(struct arena *a, int64_t now_ns)
{
    char text[CLOCK_TEXT_BYTES];
    return arena_str(a, clock_format(now_ns, false, text));
}

static void say(struct node_events *events, const char *reason, struct str message, bool warns)
{
    if (events->n == NODE_EVENTS_MAX)
        return;
    events->list[events->n].reason = reason;
    events->list[events->n].message = message;
    events->list[events->n++].is_warning = warns;
}

static void say_state(struct arena *a, const struct node_state *s, struct node_events *events,
                      const char *reason)
{
    say(events, reason,
        arena_printf(a, "Node " STR_FMT " status is now: %s", STR_ARG(s->facts->name), reason),
        false);
}

/* ---- Labels, annotations, taints ---- */

/* Labels that every start sets anew, also on a Node that is there. */
static bool is_default_label(struct str key)
{
    static const char *const names[] = {
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "node.kubernetes.io/instance-type",
        "beta.kubernetes.io/instance-type",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq(key, str_of(names[i])))
            return true;
    return false;
}

static struct value first_labels(struct arena *a, const struct node_state *s)
{
    struct value labels = value_object();
    put_text(a, &labels, "beta.kubernetes.io/arch", s->machine->architecture);
    put_text(a, &labels, "beta.kubernetes.io/os", STR("linux"));
    put_text(a, &labels, "kubernetes.io/arch", s->machine->architecture);
    put_text(a, &labels, "kubernetes.io/hostname", s->facts->name);
    put_text(a, &labels, "kubernetes.io/os", STR("linux"));
    for (size_t i = 0; i < s->opt->n_labels; i++) {
        struct str text = s->opt->labels[i], key = str_cut(&text, '=');
        value_put(a, &labels, key, value_string(text.p ? text : STR("")));
    }
    return labels;
}

int node_status_taint(struct arena *a, struct str text, struct value *ret, struct err *err)
{
    static const char *const effects[] = { "NoSchedule", "PreferNoSchedule", "NoExecute" };
    struct str rest = text, front = str_cut(&rest, ':');
    const bool has_value = str_find(front, '=') >= 0;
    struct str key = str_cut(&front, '=');
    bool is_known = false;
    for (size_t i = 0; i < ARRAY_LEN(effects); i++)
        is_known = is_known || str_eq(rest, str_of(effects[i]));
    if (!key.n || !is_known)
        return err_set(err, ERR_INVALID,
                       "invalid taint \"" STR_FMT "\": it must be KEY=VALUE:EFFECT or KEY:EFFECT",
                       STR_ARG(text));
    *ret = value_object();
    put_text(a, ret, "key", arena_str(a, key));
    if (has_value && front.n)
        put_text(a, ret, "value", arena_str(a, front));
    put_text(a, ret, "effect", arena_str(a, rest));
    return 0;
}

static struct value first_spec(struct arena *a, const struct node_state *s)
{
    struct value spec = value_object(), taints = value_array(), taint;
    struct err why = ERR_INIT(a);
    for (size_t i = 0; i < s->opt->n_taints; i++)
        if (node_status_taint(a, s->opt->taints[i], &taint, &why) == 0)
            value_put_item(a, &taints, taint);
    if (s->opt->provider_id.n)
        put_text(a, &spec, "providerID", s->opt->provider_id);
    if (taints.n)
        value_put(a, &spec, STR("taints"), taints);
    return spec;
}

struct value node_status_first(struct arena *a, const struct node_state *s,
                               struct node_events *events)
{
    struct value node = value_object(), meta = value_object(), notes = value_object();
    put_text(a, &notes, ATTACH_NOTE, STR("true"));
    put_text(a, &meta, "name", s->facts->name);
    value_put(a, &meta, STR("labels"), first_labels(a, s));
    value_put(a, &meta, STR("annotations"), notes);
    put_text(a, &node, "apiVersion", STR("v1"));
    put_text(a, &node, "kind", STR("Node"));
    value_put(a, &node, STR("metadata"), meta);
    value_put(a, &node, STR("spec"), first_spec(a, s));
    node_status_update(a, s, &node, events);
    return node;
}

static bool set_if_other(struct arena *a, struct value *obj, struct str key, struct str text)
{
    if (str_eq(value_str(value_get(obj, key)), text))
        return false;
    value_put(a, obj, key, value_string(text));
    return true;
}

bool node_status_adopt(struct arena *a, const struct node_state *s, struct value *node)
{
    struct value *meta = value_ensure(a, node, STR("metadata"));
    struct value *notes = value_ensure(a, meta, STR("annotations"));
    struct value wanted = first_labels(a, s);
    bool has_changed = set_if_other(a, notes, STR(ATTACH_NOTE), STR("true"));
    struct value *labels = value_ensure(a, meta, STR("labels"));
    value_each_field (f, &wanted) {
        if (is_default_label(f->key) && set_if_other(a, labels, f->key, value_str(&f->val)))
            has_changed = true;
    }
    return has_changed;
}

/* ---- Parts of the status ---- */

static void put_address(struct arena *a, struct value *list, const char *type, struct str text)
{
    struct value one = value_object();
    put_text(a, &one, "type", str_of(type));
    put_text(a, &one, "address", text);
    value_put_item(a, list, one);
}

static void set_addresses(struct arena *a, const struct node_state *s, struct value *status)
{
    struct value list = value_array();
    for (size_t i = 0; i < s->facts->n_host_ips; i++)
        put_address(a, &list, "InternalIP", s->facts->host_ips[i]);
    put_address(a, &list, "Hostname", s->facts->name);
    value_put(a, status, STR("addresses"), list);
}

static bool is_extended(struct str name)
{
    return str_find(name, '/') >= 0 && !str_starts(name, STR("kubernetes.io/"));
}

/* Resources that others have added stay. */
static void set_resources(struct arena *a, const struct node_state *s, struct value *status)
{
    struct value *capacity = value_ensure(a, status, STR("capacity"));
    value_each_field (f, &s->facts->capacity)
        value_put(a, capacity, f->key, value_string(value_str(&f->val)));
    const struct value now = value_borrow(capacity);
    struct value allocatable = value_object();
    value_each_field (f, value_get(status, STR("allocatable"))) {
        if (!is_extended(f->key) || value_get(&now, f->key))
            value_put(a, &allocatable, f->key, value_borrow(&f->val));
    }
    value_each_field (f, &now) {
        const struct value *own = value_get(&s->facts->allocatable, f->key);
        value_put(a, &allocatable, f->key, value_string(value_str(own ? own : &f->val)));
    }
    value_put(a, status, STR("allocatable"), allocatable);
}

/* A version as upstream's clients print it: numbers, and what semantic versioning puts behind three
 * of them. What distributions add ("1.6.20~ds1") is left out. */
static struct str version_text(struct str v)
{
    size_t n = 0, dots = 0;
    if (str_starts(v, STR("v")))
        v = str_skip(v, 1);
    while (n < v.n && ((v.p[n] >= '0' && v.p[n] <= '9') || v.p[n] == '.'))
        dots += v.p[n++] == '.';
    const bool is_semantic = n < v.n && dots == 2 && (v.p[n] == '-' || v.p[n] == '+');
    return is_semantic ? v : str_take(v, n);
}

static struct str runtime_text(struct arena *a, const struct value *version)
{
    struct str name = value_text(version, "runtime_name");
    struct str number = version_text(value_text(version, "runtime_version"));
    return arena_printf(a, STR_FMT "://" STR_FMT, STR_ARG(name.n ? name : STR("unknown")),
                        STR_ARG(number.n ? number : STR("Unknown")));
}

static void set_info(struct arena *a, const struct node_state *s, struct value *status,
                     struct node_events *events)
{
    const struct machine *m = s->machine;
    struct value *info = value_ensure(a, status, STR("nodeInfo"));
    struct str boot = value_text(info, "bootID");
    if (boot.n && !str_eq(boot, m->boot_id))
        say(events, "Rebooted",
            arena_printf(a, "Node " STR_FMT " has been rebooted, boot id: " STR_FMT,
                         STR_ARG(s->facts->name), STR_ARG(m->boot_id)),
            true);
    put_text(a, info, "machineID", m->machine_id);
    put_text(a, info, "systemUUID", m->system_uuid);
    put_text(a, info, "bootID", m->boot_id);
    put_text(a, info, "kernelVersion", m->kernel);
    put_text(a, info, "osImage", m->os_image);
    if (s->runtime_version || !value_text(info, "containerRuntimeVersion").n)
        put_text(a, info, "containerRuntimeVersion", runtime_text(a, s->runtime_version));
    put_text(a, info, "kubeletVersion", s->opt->version);
    put_text(a, info, "kubeProxyVersion", STR(""));
    put_text(a, info, "operatingSystem", STR("linux"));
    put_text(a, info, "architecture", m->architecture);
    value_put(a, info, STR("runningInUserNamespace"), value_bool(m->in_user_namespace));
    if (m->swap_bytes) {
        struct value swap = value_object();
        value_put(a, &swap, STR("capacity"), value_int((int64_t)m->swap_bytes));
        value_put(a, info, STR("swap"), swap);
    }
}

static void set_endpoints(struct arena *a, const struct node_state *s, struct value *status)
{
    struct value ends = value_object(), own = value_object();
    value_put(a, &own, STR("Port"), value_int(s->opt->port ? s->opt->port : 10250));
    value_put(a, &ends, STR("kubeletEndpoint"), own);
    value_put(a, status, STR("daemonEndpoints"), ends);
}

/* What clients may rely on; the API server passes WebSockets on to nodes that name the first one.
 */
static void set_declared(struct arena *a, struct value *status)
{
    static const char *const names[] = { "ExtendWebSocketsToKubelet",
                                         "InPlacePodVerticalScalingInitContainers",
                                         "RestartAllContainersOnContainerExits" };
    struct value list = value_array();
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        value_put_item(a, &list, value_string(str_of(names[i])));
    value_put(a, status, STR("declaredFeatures"), list);
}

/* ---- Images ---- */

static int64_t image_size(const struct value *image)
{
    int64_t n = 0;
    const struct value *size = value_get(image, STR("size"));
    if (!value_to_int(size, &n))
        (void)str_to_i64(value_str(size), &n);
    return n;
}

/* Large ones first; of one size, the greater id. */
static int by_image_size(const void *x, const void *y)
{
    const struct value *a = *(const struct value *const *)x, *b = *(const struct value *const *)y;
    const int64_t one = image_size(a), other = image_size(b);
    if (one != other)
        return one > other ? -1 : 1;
    return str_cmp(value_text(b, "id"), value_text(a, "id"));
}

static struct value image_entry(struct arena *a, const struct value *image)
{
    static const char *const kinds[] = { "repo_digests", "repo_tags" };
    struct value one = value_object(), names = value_array();
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        value_each_item (name, value_get(image, str_of(kinds[i]))) {
            if (names.n < IMAGE_NAMES_MAX)
                value_put_item(a, &names, value_string(arena_str(a, value_str(name))));
        }
    value_put(a, &one, STR("names"), names);
    if (image_size(image))
        value_put(a, &one, STR("sizeBytes"), value_int(image_size(image)));
    return one;
}

static void set_images(struct arena *a, const struct node_state *s, struct value *status)
{
    const int most = s->opt->max_images ? s->opt->max_images : 50;
    size_t n = 0;
    struct value list = value_array();
    if (!s->images)
        return;
    const struct value **all = arena_array(a, const struct value *, s->images->n + 1);
    value_each_item (image, s->images)
        all[n++] = image;
    if (n)
        qsort(all, n, sizeof(const struct value *), by_image_size);
    for (size_t i = 0; i < n && (most < 0 || i < (size_t)most); i++)
        value_put_item(a, &list, image_entry(a, all[i]));
    value_drop(a, status, STR("images"));
    if (list.n)
        value_put(a, status, STR("images"), list);
}

/* ---- What the runtime can do ---- */

static int by_name(const void *x, const void *y)
{
    return str_cmp(value_text((const struct value *)x, "name"),
                   value_text((const struct value *)y, "name"));
}

static void set_handlers(struct arena *a, const struct node_state *s, struct value *status)
{
    struct value list = value_array();
    value_each_item (h, value_get(s->runtime_status, STR("runtime_handlers"))) {
        const struct value *can = value_get(h, STR("features"));
        struct value one = value_object(), features = value_object();
        put_text(a, &one, "name", arena_str(a, value_text(h, "name")));
        value_put(a, &features, STR("recursiveReadOnlyMounts"),
                  value_bool(value_is_true(value_get(can, STR("recursive_read_only_mounts")))));
        value_put(a, &features, STR("userNamespaces"),
                  value_bool(value_is_true(value_get(can, STR("user_namespaces")))));
        value_put(a, &one, STR("features"), features);
        value_put_item(a, &list, one);
    }
    if (!s->runtime_status)
        return;
    value_drop(a, status, STR("runtimeHandlers"));
    if (!list.n)
        return;
    qsort(list.items, list.n, sizeof(list.items[0]), by_name);
    value_put(a, status, STR("runtimeHandlers"), list);
}

static void set_features(struct arena *a, const struct node_state *s, struct value *status)
{
    const struct value *can = value_get(s->runtime_status, STR("features"));
    if (!value_is(can, VALUE_OBJECT))
        return;
    struct value features = value_object();
    value_put(a, &features, STR("supplementalGroupsPolicy"),
              value_bool(value_is_true(value_get(can, STR("supplemental_groups_policy")))));
    value_put(a, status, STR("features"), features);
}

/* ---- Conditions ---- */

struct condition_words {
    const char *type;
    unsigned pressure; /* bit */
    const char *bad_reason, *bad_message, *bad_event;
    const char *good_reason, *good_message, *good_event;
};

static const struct condition_words pressures[] = {
    { "MemoryPressure", NODE_MEMORY_PRESSURE, "KubeletHasInsufficientMemory",
      "kubelet has insufficient memory available", "NodeHasInsufficientMemory",
      "KubeletHasSufficientMemory", "kubelet has sufficient memory available",
      "NodeHasSufficientMemory" },
    { "DiskPressure", NODE_DISK_PRESSURE, "KubeletHasDiskPressure", "kubelet has disk pressure",
      "NodeHasDiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure",
      "NodeHasNoDiskPressure" },
    { "PIDPressure", NODE_PID_PRESSURE, "KubeletHasInsufficientPID",
      "kubelet has insufficient PID available", "NodeHasInsufficientPID", "KubeletHasSufficientPID",
      "kubelet has sufficient PID available", "NodeHasSufficientPID" },
};

static struct value *condition_of(struct arena *a, struct value *status, const char *type)
{
    struct value *list = value_edit(a, status, STR("conditions"));
    if (!list)
        list = value_set(a, status, STR("conditions"), value_array());
    for (size_t i = 0; i < list->n; i++) {
        struct value *one = value_edit_at(a, list, i);
        if (str_eq(value_text(one, "type"), str_of(type)))
            return one;
    }
    struct value *one = value_push(a, list, value_object());
    put_text(a, one, "type", str_of(type));
    return one;
}

static void set_pressure(struct arena *a, const struct node_state *s, struct value *status,
                         const struct condition_words *w, struct node_events *events)
{
    struct value *c = condition_of(a, status, w->type);
    const bool is_bad = s->pressures & w->pressure;
    struct str now = time_text(a, s->now_ns), wanted = is_bad ? STR("True") : STR("False");
    put_text(a, c, "lastHeartbeatTime", now);
    if (str_eq(value_text(c, "status"), wanted))
        return;
    put_text(a, c, "status", wanted);
    put_text(a, c, "reason", str_of(is_bad ? w->bad_reason : w->good_reason));
    put_text(a, c, "message", str_of(is_bad ? w->bad_message : w->good_message));
    put_text(a, c, "lastTransitionTime", now);
    say_state(a, s, events, is_bad ? w->bad_event : w->good_event);
}

struct str node_status_faults(struct arena *a, const struct str *faults, size_t n)
{
    autobuf out = { 0 };
    size_t told = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_new = true;
        for (size_t k = 0; k < i; k++)
            is_new = is_new && !str_eq(faults[k], faults[i]);
        if (is_new)
            buf_printf(&out, "%s" STR_FMT, told++ ? ", " : "", STR_ARG(faults[i]));
    }
    return told > 1 ? arena_printf(a, "[" STR_FMT "]", STR_ARG(buf_str(&out)))
                    : arena_str(a, buf_str(&out));
}

/* It stands last: old servers want it so. */
static void set_ready(struct arena *a, const struct node_state *s, struct value *status,
                      struct node_events *events)
{
    struct value *c = condition_of(a, status, "Ready");
    const bool is_ready = !s->n_faults;
    struct str now = time_text(a, s->now_ns), old = value_text(c, "status");
    struct str wanted = is_ready ? STR("True") : STR("False");
    put_text(a, c, "lastHeartbeatTime", now);
    put_text(a, c, "status", wanted);
    put_text(a, c, "reason", is_ready ? STR("KubeletReady") : STR("KubeletNotReady"));
    put_text(a, c, "message",
             is_ready ? STR("kubelet is posting ready status")
                      : node_status_faults(a, s->faults, s->n_faults));
    if (str_eq(old, wanted))
        return;
    put_text(a, c, "lastTransitionTime", now);
    if (old.n)
        say_state(a, s, events, is_ready ? "NodeReady" : "NodeNotReady");
}

static void set_volumes(struct arena *a, const struct node_state *s, struct value *status)
{
    if (!s->volumes_in_use)
        return;
    value_drop(a, status, STR("volumesInUse"));
    if (s->volumes_in_use->n)
        value_put(a, status, STR("volumesInUse"), value_borrow(s->volumes_in_use));
}

void node_status_update(struct arena *a, const struct node_state *s, struct value *node,
                        struct node_events *events)
{
    struct value *status = value_ensure(a, node, STR("status"));
    set_addresses(a, s, status);
    set_resources(a, s, status);
    set_info(a, s, status, events);
    set_endpoints(a, s, status);
    set_images(a, s, status);
    set_handlers(a, s, status);
    set_features(a, s, status);
    for (size_t i = 0; i < ARRAY_LEN(pressures); i++)
        set_pressure(a, s, status, &pressures[i], events);
    set_ready(a, s, status, events);
    set_volumes(a, s, status);
    set_declared(a, status);
}

/* ---- Differences ---- */

static struct value without_heartbeats(struct arena *a, const struct value *node)
{
    struct value copy = value_borrow(node);
    struct value *status = value_edit(a, &copy, STR("status"));
    struct value *list = status ? value_edit(a, status, STR("conditions")) : NULL;
    for (size_t i = 0; list && i < list->n; i++)
        value_drop(a, value_edit_at(a, list, i), STR("lastHeartbeatTime"));
    return copy;
}

bool node_status_differs(struct arena *a, const struct value *old_node,
                         const struct value *new_node)
{
    const struct value one = without_heartbeats(a, old_node);
    const struct value other = without_heartbeats(a, new_node);
    return !value_eq(value_get(&one, STR("status")), value_get(&other, STR("status"))) ||
           !value_eq(value_dig(&one, "metadata", "labels"),
                     value_dig(&other, "metadata", "labels"));
}

static struct str to_json(struct arena *a, const struct value *v)
{
    autobuf out = { 0 };
    json_write(&out, v);
    return arena_str(a, buf_str(&out));
}

/* The addresses that are to be there, and the word that makes them all there are. */
static void replace_addresses(struct arena *a, struct value *patch, const struct value *wanted)
{
    struct value list = value_array(), word = value_object();
    value_each_item (one, wanted)
        value_put_item(a, &list, value_borrow(one));
    put_text(a, &word, "$patch", STR("replace"));
    value_put_item(a, &list, word);
    value_put(a, value_ensure(a, patch, STR("status")), STR("addresses"), list);
}

int node_status_patch(struct arena *a, const struct value *old_node, const struct value *new_node,
                      struct str *ret, struct err *err)
{
    const struct value *old_list = value_dig(old_node, "status", "addresses");
    const struct value *new_list = value_dig(new_node, "status", "addresses");
    struct value wanted = value_borrow(new_node), patch;
    char *text = NULL, *why = NULL;
    const bool moves = !value_eq(old_list, new_list);
    if (moves && old_list)
        value_put(a, value_ensure(a, &wanted, STR("status")), STR("addresses"),
                  value_borrow(old_list));
    else if (moves)
        value_drop(a, value_ensure(a, &wanted, STR("status")), STR("addresses"));
    if (spn_patch_two_way(text_out(to_json(a, old_node)), text_out(to_json(a, &wanted)), &text,
                          &why) < 0) {
        int r = err_set(err, ERR_INTERNAL, "patch of the node: %s", why ? why : "?");
        free(why);
        return r;
    }
    *ret = arena_str(a, str_of(text));
    free(text);
    if (!moves)
        return 0;
    int r = json_read(a, *ret, NULL, &patch, err);
    if (r < 0)
        return r;
    replace_addresses(a, &patch, new_list);
    *ret = to_json(a, &patch);
    return 0;
}
