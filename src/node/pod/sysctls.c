#include "node/pod/sysctls.h"

#include "base/idiom.h"
#include "node/pod/pod_spec.h"
#include "base/banned.h"

/* Kernels of the last years have a value of each per namespace. */
static const struct str safe[] = {
    STR("kernel.shm_rmid_forced"),
    STR("net.ipv4.ip_local_port_range"),
    STR("net.ipv4.tcp_syncookies"),
    STR("net.ipv4.ping_group_range"),
    STR("net.ipv4.ip_unprivileged_port_start"),
    STR("net.ipv4.ip_local_reserved_ports"),
    STR("net.ipv4.tcp_keepalive_time"),
    STR("net.ipv4.tcp_fin_timeout"),
    STR("net.ipv4.tcp_keepalive_intvl"),
    STR("net.ipv4.tcp_keepalive_probes"),
    STR("net.ipv4.tcp_rmem"),
    STR("net.ipv4.tcp_wmem"),
    STR("net.ipv4.tcp_slow_start_after_idle"),
    STR("net.ipv4.tcp_notsent_lowat"),
};

/* "net/ipv4/conf.x" is net.ipv4.conf/x: which of the two comes first separates. */
static struct str normal_name(struct arena *a, struct str name)
{
    const ptrdiff_t slash = str_find(name, '/'), dot = str_find(name, '.');
    if (slash < 0 || (dot >= 0 && dot < slash))
        return name;
    char *p = arena_dup(a, name.p, name.n);
    for (size_t i = 0; i < name.n; i++)
        p[i] = (char)(p[i] == '/' ? '.' : p[i] == '.' ? '/' : p[i]);
    return (struct str){ p, name.n };
}

static bool is_allowed(struct arena *a, const struct node_facts *node, struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(safe); i++)
        if (str_eq(safe[i], name))
            return true;
    for (size_t i = 0; i < node->n_allowed_sysctls; i++) {
        struct str pattern = normal_name(a, node->allowed_sysctls[i]);
        const bool is_prefix = str_ends(pattern, STR("*"));
        if (is_prefix ? str_starts(name, str_take(pattern, pattern.n - 1)) : str_eq(name, pattern))
            return true;
    }
    return false;
}

/* Whose namespace a parameter is in that this pod shares with the node; NULL: none. */
static const char *shared_with_node(const struct value *spec, struct str name)
{
    const struct value *users = value_get(spec, STR("hostUsers"));
    const bool is_ipc = str_eq(name, STR("kernel.sem")) || str_starts(name, STR("kernel.shm")) ||
                        str_starts(name, STR("kernel.msg")) || str_starts(name, STR("fs.mqueue."));
    if (is_ipc && value_is_true(value_get(spec, STR("hostIPC"))))
        return "IPC";
    if (str_starts(name, STR("net.")) && value_is_true(value_get(spec, STR("hostNetwork"))))
        return "Net";
    if (str_starts(name, STR("user.")) && !(value_is(users, VALUE_BOOL) && !users->b))
        return "User";
    return NULL;
}

int sysctls_check(struct arena *a, const struct node_facts *node, const struct value *pod,
                  struct err *err)
{
    value_each_item (it, value_dig(pod, "spec", "securityContext", "sysctls")) {
        struct str name = normal_name(a, value_text(it, "name"));
        const char *shared = shared_with_node(pod_spec(pod), name);
        if (!is_allowed(a, node, name))
            return err_set(err, ERR_FORBIDDEN, "forbidden sysctl: " STR_FMT " not allowlisted",
                           STR_ARG(go_quote(a, name)));
        if (shared)
            return err_set(err, ERR_FORBIDDEN,
                           "forbidden sysctl: " STR_FMT " not allowed with host %s enabled",
                           STR_ARG(go_quote(a, name)), shared);
    }
    return 0;
}
