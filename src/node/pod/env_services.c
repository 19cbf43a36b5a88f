/* The variables that name services, as Docker's links once had them. */
#include "node/pod/pod_env.h"
#include "base/banned.h"

static struct str upper(struct arena *a, struct str text)
{
    char *p = arena_dup(a, text.n ? text.p : "", text.n);
    for (size_t i = 0; i < text.n; i++)
        p[i] = (char)(p[i] == '-' ? '_' : p[i] >= 'a' && p[i] <= 'z' ? p[i] & ~0x20 : p[i]);
    return (struct str){ p, text.n };
}

static struct str lower(struct arena *a, struct str text)
{
    char *p = arena_dup(a, text.n ? text.p : "", text.n);
    for (size_t i = 0; i < text.n; i++)
        p[i] = (char)(p[i] >= 'A' && p[i] <= 'Z' ? p[i] | 0x20 : p[i]);
    return (struct str){ p, text.n };
}

static void set(struct pod_env *env, struct str prefix, const char *suffix, struct str value)
{
    pod_env_set(env, arena_printf(env->arena, STR_FMT "%s", STR_ARG(prefix), suffix), value, true);
}

static struct str port_text(struct arena *a, const struct value *port)
{
    int64_t n = 0;
    (void)value_to_int(value_get(port, STR("port")), &n);
    return arena_printf(a, "%lld", (long long)n);
}

static void add_link(struct pod_env *env, struct str prefix, struct str ip,
                     const struct value *port, bool is_first)
{
    struct arena *a = env->arena;
    struct str protocol = value_text(port, "protocol"), number = port_text(a, port);
    if (!protocol.n)
        protocol = STR("TCP");
    const bool is_v6 = str_find(ip, ':') >= 0;
    struct str small = lower(a, protocol);
    struct str url = arena_printf(a, STR_FMT "://%s" STR_FMT "%s:" STR_FMT, STR_ARG(small),
                                  is_v6 ? "[" : "", STR_ARG(ip), is_v6 ? "]" : "", STR_ARG(number));
    struct str name = arena_printf(a, STR_FMT "_PORT_" STR_FMT "_" STR_FMT, STR_ARG(prefix),
                                   STR_ARG(number), STR_ARG(upper(a, protocol)));
    if (is_first)
        set(env, prefix, "_PORT", url);
    set(env, name, "", url);
    set(env, name, "_PROTO", small);
    set(env, name, "_PORT", number);
    set(env, name, "_ADDR", ip);
}

void pod_env_add_service(struct pod_env *env, const struct value *service)
{
    struct arena *a = env->arena;
    const struct value *spec = value_get(service, STR("spec")),
                       *ports = value_get(spec, STR("ports"));
    struct str ip = value_text(spec, "clusterIP");
    if (!ip.n || str_eq(ip, STR("None")) || !value_at(ports, 0))
        return;
    struct str prefix = upper(a, value_str(value_dig(service, "metadata", "name")));
    set(env, prefix, "_SERVICE_HOST", ip);
    set(env, prefix, "_SERVICE_PORT", port_text(a, value_at(ports, 0)));
    value_each_item (port, ports)
        if (value_text(port, "name").n)
            set(env,
                arena_printf(a, STR_FMT "_SERVICE_PORT_" STR_FMT, STR_ARG(prefix),
                             STR_ARG(upper(a, value_text(port, "name")))),
                "", port_text(a, port));
    bool is_first = true;
    value_each_item (port, ports) {
        add_link(env, prefix, ip, port, is_first);
        is_first = false;
    }
}
