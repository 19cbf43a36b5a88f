/* What a pod shares with its host: namespaces, paths, ports, processes, and its volumes. */
#include "admission/pod_security/checks_internal.h"
#include "api/words.h"
#include "base/banned.h"

void check_host_namespaces(const struct checked *p)
{
    static const struct {
        struct str field, text;
    } rows[] = {
        { STR("hostNetwork"), STR("hostNetwork=true") },
        { STR("hostPID"), STR("hostPID=true") },
        { STR("hostIPC"), STR("hostIPC=true") },
    };
    struct checks__names bad = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (value_is_true(value_get(p->spec, rows[i].field)))
            checks__add(p, &bad, rows[i].text);
    if (bad.n)
        checks__find(p, "host namespaces", STR_FMT, STR_ARG(checks__joined(p, &bad, ", ")));
}

static bool has(const struct value *volume, struct str source)
{
    const struct value *v = value_get(volume, source);
    return v && !value_is(v, VALUE_NULL);
}

void check_host_paths(const struct checked *p)
{
    struct checks__names bad = { 0 };
    value_each_item (it, value_get(p->spec, STR("volumes")))
        if (has(it, STR("hostPath")))
            checks__add(p, &bad, value_text(it, "name"));
    if (bad.n)
        checks__find(p, "hostPath volumes", "%s " STR_FMT,
                     checks__plural(&bad, "volume", "volumes"), STR_ARG(checks__quoted(p, &bad)));
}

void check_host_ports(const struct checked *p)
{
    struct checks__names bad = { 0 }, ports = { 0 };
    for (size_t i = 0; i < p->n_containers; i++) {
        size_t before = ports.n;
        value_each_item (it, value_get(p->containers[i], STR("ports"))) {
            int64_t port = 0;
            if (value_to_int(value_get(it, STR("hostPort")), &port) && port)
                checks__add(p, &ports, arena_printf(p->arena, "%lld", (long long)port));
        }
        if (ports.n > before)
            checks__add(p, &bad, value_text(p->containers[i], "name"));
    }
    checks__sort(&ports);
    if (bad.n)
        checks__find(p, "hostPort", STR_FMT " %s %s " STR_FMT, STR_ARG(checks__containers(p, &bad)),
                     checks__plural(&bad, "uses", "use"),
                     checks__plural(&ports, "hostPort", "hostPorts"),
                     STR_ARG(checks__joined(p, &ports, ", ")));
}

/* ---- Hosts that a probe or handler names ---- */

static void add_hosts(const struct checked *p, const struct value *handler,
                      struct checks__names *hosts)
{
    static const struct str ways[] = { STR("httpGet"), STR("tcpSocket") };
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct str host = value_text(value_get(handler, ways[i]), "host");
        if (host.n)
            checks__add(p, hosts, host);
    }
}

void check_host_probes(const struct checked *p)
{
    static const struct str probes[] = { STR("livenessProbe"), STR("readinessProbe"),
                                         STR("startupProbe") };
    struct checks__names bad = { 0 }, hosts = { 0 };
    for (size_t i = 0; i < p->n_containers; i++) {
        const struct value *lifecycle = value_get(p->containers[i], STR("lifecycle"));
        size_t before = hosts.n;
        for (size_t k = 0; k < ARRAY_LEN(probes); k++)
            add_hosts(p, value_get(p->containers[i], probes[k]), &hosts);
        add_hosts(p, value_get(lifecycle, STR("postStart")), &hosts);
        add_hosts(p, value_get(lifecycle, STR("preStop")), &hosts);
        if (hosts.n > before)
            checks__add(p, &bad, value_text(p->containers[i], "name"));
    }
    checks__sort(&bad);
    checks__sort(&hosts);
    if (bad.n)
        checks__find(p, "probe or lifecycle host", STR_FMT " %s %s " STR_FMT,
                     STR_ARG(checks__containers(p, &bad)), checks__plural(&bad, "uses", "use"),
                     checks__plural(&hosts, "probe or lifecycle host", "probe or lifecycle hosts"),
                     STR_ARG(checks__quoted(p, &hosts)));
}

/* ---- Processes of Windows ---- */

static bool is_host_process(const struct value *of)
{
    return value_is_true(
        value_get(checks__security(of, STR("windowsOptions")), STR("hostProcess")));
}

void check_host_process(const struct checked *p)
{
    struct checks__names bad = { 0 };
    for (size_t i = 0; i < p->n_containers; i++)
        if (is_host_process(p->containers[i]))
            checks__add(p, &bad, value_text(p->containers[i], "name"));
    if (bad.n || is_host_process(p->spec))
        checks__find(p, "hostProcess",
                     STR_FMT " must not set securityContext.windowsOptions.hostProcess=true",
                     STR_ARG(checks__setters(p, is_host_process(p->spec), &bad)));
}

/* ---- Volumes ---- */

static bool has_one_of(const struct value *volume, const struct str *sources, size_t n,
                       struct str *ret)
{
    for (size_t i = 0; i < n; i++) {
        *ret = sources[i];
        if (has(volume, sources[i]))
            return true;
    }
    return false;
}

void check_volumes(const struct checked *p)
{
    static const struct str allowed[] = {
        STR("configMap"), STR("csi"),   STR("downwardAPI"),           STR("emptyDir"),
        STR("ephemeral"), STR("image"), STR("persistentVolumeClaim"), STR("projected"),
        STR("secret"),
    };
    static const struct str known[] = {
        STR("hostPath"),
        STR("gcePersistentDisk"),
        STR("awsElasticBlockStore"),
        STR("gitRepo"),
        STR("nfs"),
        STR("iscsi"),
        STR("glusterfs"),
        STR("rbd"),
        STR("flexVolume"),
        STR("cinder"),
        STR("cephfs"),
        STR("flocker"),
        STR("fc"),
        STR("azureFile"),
        STR("vsphereVolume"),
        STR("quobyte"),
        STR("azureDisk"),
        STR("photonPersistentDisk"),
        STR("portworxVolume"),
        STR("scaleIO"),
        STR("storageos"),
    };
    struct checks__names bad = { 0 }, types = { 0 };
    value_each_item (it, value_get(p->spec, STR("volumes"))) {
        struct str type;
        if (has_one_of(it, WORDS(allowed), &type))
            continue;
        checks__add(p, &bad, value_text(it, "name"));
        checks__add(p, &types, has_one_of(it, WORDS(known), &type) ? type : STR("unknown"));
    }
    checks__sort(&types);
    if (bad.n)
        checks__find(p, "restricted volume types", "%s " STR_FMT " %s %s " STR_FMT,
                     checks__plural(&bad, "volume", "volumes"), STR_ARG(checks__quoted(p, &bad)),
                     checks__plural(&bad, "uses", "use"),
                     checks__plural(&types, "restricted volume type", "restricted volume types"),
                     STR_ARG(checks__quoted(p, &types)));
}
