#include "node/simulated/node_object.h"

#include <sampan/meta.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/idiom.h"
#include "base/str.h"
#include "client/bridge.h"
#include "node/simulated/life.h"
#include "base/banned.h"

#define KUBELET_VERSION "v1.38.0-simulated"

struct spn_text node_address(struct spn_arena *a, int second, int64_t n)
{
    return spn_arena_printf(a, "198.%d.%d.%d", second, (int)(n / 254), (int)(n % 254 + 1));
}

static struct spn_text time_text(struct spn_arena *a, int64_t now_ns, bool with_micros)
{
    char text[CLOCK_TEXT_BYTES];
    return spn_arena_text(a, text_out(clock_format(now_ns, with_micros, text)));
}

/* ---- Its status ---- */

static void add_condition(struct spn_arena *a, struct spn_value *list, const struct node_facts *f,
                          const struct spn_value *node, const char *const row[4])
{
    const struct spn_value *old = spn_condition_get(node, row[0]);
    struct spn_text now = time_text(a, f->now_ns, false);
    struct spn_text since = spn_value_text(spn_value_get(old, "lastTransitionTime"));
    const bool is_same = life_text_is(spn_value_text(spn_value_get(old, "status")), row[1]);
    struct spn_value *cond = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, cond, "type", spn_text_of(row[0]));
    spn_value_set_text(a, cond, "status", spn_text_of(row[1]));
    spn_value_set_text(a, cond, "reason", spn_text_of(row[2]));
    spn_value_set_text(a, cond, "message", spn_text_of(row[3]));
    spn_value_set_text(a, cond, "lastHeartbeatTime", now);
    spn_value_set_text(a, cond, "lastTransitionTime", is_same && since.n ? since : now);
    spn_value_push(a, list, cond);
}

static void add_conditions(struct spn_arena *a, struct spn_value *status,
                           const struct node_facts *f, const struct spn_value *node)
{
    static const char *const rows[][4] = {
        { "MemoryPressure", "False", "KubeletHasSufficientMemory",
          "kubelet has sufficient memory available" },
        { "DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure" },
        { "PIDPressure", "False", "KubeletHasSufficientPID",
          "kubelet has sufficient PID available" },
        { "Ready", "True", "KubeletReady", "kubelet is posting ready status" },
    };
    struct spn_value *list = spn_value_set(a, status, "conditions", spn_value_new(a, SPN_ARRAY));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        add_condition(a, list, f, node, rows[i]);
}

static void add_address(struct spn_arena *a, struct spn_value *list, const char *type,
                        struct spn_text text)
{
    struct spn_value *one = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, one, "type", spn_text_of(type));
    spn_value_set_text(a, one, "address", text);
    spn_value_push(a, list, one);
}

/* All nodes of a process answer at one place, which is the server's way to their logs. */
static void add_addresses(struct spn_arena *a, struct spn_value *status, const struct node_facts *f)
{
    struct spn_value *list = spn_value_set(a, status, "addresses", spn_value_new(a, SPN_ARRAY));
    add_address(a, list, "InternalIP", node_address(a, 18, f->number));
    add_address(a, list, "Hostname", SPN_TEXT("localhost"));
    struct spn_value *ends = spn_value_ensure(a, status, "daemonEndpoints");
    spn_value_set_int(a, spn_value_ensure(a, ends, "kubeletEndpoint"), "Port", f->port);
}

static const char *architecture(void)
{
    struct utsname machine;
    if (uname(&machine) < 0)
        return "amd64";
    return str_eq(str_of(machine.machine), STR("aarch64")) ? "arm64" : "amd64";
}

static void add_info(struct spn_arena *a, struct spn_value *status, const struct node_facts *f)
{
    const struct {
        const char *key;
        struct spn_text value;
    } rows[] = {
        { "machineID", f->name },
        { "systemUUID", f->name },
        { "bootID", f->name },
        { "kernelVersion", SPN_TEXT("simulated") },
        { "osImage", SPN_TEXT("Sampan, simulated") },
        { "containerRuntimeVersion", SPN_TEXT("simulated://1") },
        { "kubeletVersion", SPN_TEXT(KUBELET_VERSION) },
        { "kubeProxyVersion", SPN_TEXT("") },
        { "operatingSystem", SPN_TEXT("linux") },
        { "architecture", spn_text_of(architecture()) },
    };
    struct spn_value *info = spn_value_ensure(a, status, "nodeInfo");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        spn_value_set_text(a, info, rows[i].key, rows[i].value);
}

static void add_resources(struct spn_arena *a, struct spn_value *status, const char *key,
                          const struct simulate_options *opt)
{
    struct spn_value *r = spn_value_ensure(a, status, key);
    spn_value_set_text(a, r, "cpu", spn_text_of(opt->cpu ? opt->cpu : "32"));
    spn_value_set_text(a, r, "memory", spn_text_of(opt->memory ? opt->memory : "256Gi"));
    spn_value_set_text(a, r, "ephemeral-storage", SPN_TEXT("1Ti"));
    spn_value_set_text(a, r, "pods", spn_text_of(opt->pods ? opt->pods : "110"));
}

static void add_status(struct spn_arena *a, struct spn_value *to, const struct node_facts *f,
                       const struct spn_value *node)
{
    struct spn_value *status = spn_value_ensure(a, to, "status");
    add_resources(a, status, "capacity", f->opt);
    add_resources(a, status, "allocatable", f->opt);
    add_conditions(a, status, f, node);
    add_addresses(a, status, f);
    add_info(a, status, f);
    spn_value_push(a, spn_value_set(a, status, "declaredFeatures", spn_value_new(a, SPN_ARRAY)),
                   spn_value_new_text(a, SPN_TEXT("ExtendWebSocketsToKubelet")));
}

/* ---- The Node ---- */

/* Zones are dealt out in turn. */
static struct spn_text zone_of(struct spn_arena *a, const struct node_facts *f)
{
    int64_t n = 1;
    struct str zones = str_of(f->opt->zones ? f->opt->zones : ""), zone;
    for (size_t i = 0; i < zones.n; i++)
        n += zones.p[i] == ',';
    zone = str_cut(&zones, ',');
    for (int64_t i = 0; i < f->number % n; i++)
        zone = str_cut(&zones, ',');
    return spn_arena_text(a, text_out(zone));
}

static void add_labels(struct spn_arena *a, struct spn_value *meta, const struct node_facts *f)
{
    struct spn_value *labels = spn_value_ensure(a, meta, "labels");
    struct spn_text zone = zone_of(a, f);
    spn_value_set_text(a, labels, NODE_BY_LABEL, spn_text_of(f->opt->prefix));
    spn_value_set_text(a, labels, "kubernetes.io/hostname", f->name);
    spn_value_set_text(a, labels, "kubernetes.io/os", SPN_TEXT("linux"));
    spn_value_set_text(a, labels, "kubernetes.io/arch", spn_text_of(architecture()));
    spn_value_set_text(a, labels, "beta.kubernetes.io/os", SPN_TEXT("linux"));
    spn_value_set_text(a, labels, "beta.kubernetes.io/arch", spn_text_of(architecture()));
    if (zone.n)
        spn_value_set_text(a, labels, "topology.kubernetes.io/zone", zone);
}

struct spn_value *node_object_new(struct spn_arena *a, const struct node_facts *f)
{
    struct spn_value *node = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, node, "apiVersion", SPN_TEXT("v1"));
    spn_value_set_text(a, node, "kind", SPN_TEXT("Node"));
    struct spn_value *meta = spn_value_ensure(a, node, "metadata");
    spn_value_set_text(a, meta, "name", f->name);
    add_labels(a, meta, f);
    add_status(a, node, f, NULL);
    return node;
}

/* Somebody has given it up though it lives, it answers somewhere else, or was silent for long. */
static bool has_news(const struct node_facts *f, const struct spn_value *node)
{
    const struct spn_value *ready = spn_condition_get(node, "Ready");
    int64_t port = 0, said_ns = 0;
    (void)spn_value_int(spn_value_dig(node, "status", "daemonEndpoints", "kubeletEndpoint", "Port"),
                        &port);
    (void)life_read_time(spn_value_get(ready, "lastHeartbeatTime"), &said_ns);
    return !life_text_is(spn_value_text(spn_value_get(ready, "status")), "True") ||
           port != f->port || f->now_ns - said_ns >= NODE_STATUS_MS * NS_PER_MS;
}

struct spn_value *node_object_news(struct spn_arena *a, const struct node_facts *f,
                                   const struct spn_value *node)
{
    if (!has_news(f, node))
        return NULL;
    struct spn_value *patch = spn_value_new(a, SPN_OBJECT);
    add_status(a, patch, f, node);
    return patch;
}

/* ---- Its Lease ---- */

struct spn_value *node_lease_renewal(struct spn_arena *a, const struct node_facts *f)
{
    struct spn_value *lease = spn_value_new(a, SPN_OBJECT);
    struct spn_value *spec = spn_value_ensure(a, lease, "spec");
    spn_value_set_text(a, spec, "holderIdentity", f->name);
    spn_value_set_int(a, spec, "leaseDurationSeconds", NODE_LEASE_SEC);
    spn_value_set_text(a, spec, "renewTime", time_text(a, f->now_ns, true));
    return lease;
}

struct spn_value *node_lease_new(struct spn_arena *a, const struct node_facts *f,
                                 const struct spn_value *node)
{
    struct spn_value *lease = node_lease_renewal(a, f);
    spn_value_set_text(a, lease, "apiVersion", SPN_TEXT("coordination.k8s.io/v1"));
    spn_value_set_text(a, lease, "kind", SPN_TEXT("Lease"));
    struct spn_value *meta = spn_value_ensure(a, lease, "metadata");
    spn_value_set_text(a, meta, "name", f->name);
    spn_value_set_text(a, meta, "namespace", SPN_TEXT("kube-node-lease"));
    struct spn_value *ref = spn_value_new(a, SPN_OBJECT), *list = spn_value_new(a, SPN_ARRAY);
    spn_value_set_text(a, ref, "apiVersion", SPN_TEXT("v1"));
    spn_value_set_text(a, ref, "kind", SPN_TEXT("Node"));
    spn_value_set_text(a, ref, "name", f->name);
    spn_value_set_text(a, ref, "uid", spn_value_text(spn_value_dig(node, "metadata", "uid")));
    spn_value_push(a, list, ref);
    spn_value_set(a, meta, "ownerReferences", list);
    return lease;
}
