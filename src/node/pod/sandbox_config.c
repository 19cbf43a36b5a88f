/* What a pod's sandbox is made of: pod_sandbox_config(). */
#include <errno.h>

#include "node/pod/cri_tree.h"
#include "node/pod/mount_point.h"
#include "node/pod/pod_amount.h"
#include "node/pod/pod_config.h"
#include "node/pod/pod_dns.h"
#include "node/pod/pod_hosts.h"
#include "node/pod/pod_security.h"
#include "node/pod/pod_spec.h"
#include "base/banned.h"

static struct value metadata(struct arena *a, const struct value *pod, uint32_t attempt)
{
    struct value v = value_object();
    tree_text(a, &v, STR("name"), pod_name(pod));
    tree_text(a, &v, STR("uid"), pod_uid(pod));
    tree_text(a, &v, STR("namespace"), pod_ns(pod));
    tree_int(a, &v, STR("attempt"), attempt);
    return v;
}

static struct value copy_map(struct arena *a, const struct value *map)
{
    struct value v = value_object();
    value_each_field (f, map)
        value_put_new(a, &v, f->key, value_string(value_str(&f->val)));
    return v;
}

static struct value labels(struct arena *a, const struct value *pod)
{
    struct value v = copy_map(a, value_dig(pod, "metadata", "labels"));
    value_put(a, &v, STR("io.kubernetes.pod.name"), value_string(pod_name(pod)));
    value_put(a, &v, STR("io.kubernetes.pod.namespace"), value_string(pod_ns(pod)));
    value_put(a, &v, STR("io.kubernetes.pod.uid"), value_string(pod_uid(pod)));
    return v;
}

/* ---- Ports ---- */

static int64_t number(const struct value *port, struct str key)
{
    int64_t n = 0;
    (void)value_to_int(value_get(port, key), &n);
    return n;
}

static bool is_same_port(const struct value *one, const struct value *other)
{
    struct str name = value_text(one, "name");
    if (name.n || value_text(other, "name").n)
        return str_eq(name, value_text(other, "name"));
    return str_eq(value_text(one, "protocol"), value_text(other, "protocol")) &&
           str_eq(value_text(one, "hostIP"), value_text(other, "hostIP")) &&
           number(one, STR("containerPort")) == number(other, STR("containerPort")) &&
           number(one, STR("hostPort")) == number(other, STR("hostPort"));
}

static void add_port(struct arena *a, const struct value *ports, const struct value *port,
                     struct value *list)
{
    struct value v = value_object();
    struct str protocol = value_text(port, "protocol");
    value_each_item (before, ports) {
        if (before == port)
            break;
        if (is_same_port(before, port))
            return;
    }
    if (str_eq(protocol, STR("UDP")) || str_eq(protocol, STR("SCTP")))
        tree_text(a, &v, STR("protocol"), protocol);
    tree_int(a, &v, STR("container_port"), number(port, STR("containerPort")));
    tree_int(a, &v, STR("host_port"), number(port, STR("hostPort")));
    tree_text(a, &v, STR("host_ip"), value_text(port, "hostIP"));
    value_put_item(a, list, v);
}

static struct value port_mappings(struct arena *a, const struct value *pod)
{
    struct value list = value_array();
    value_each_item (c, value_dig(pod, "spec", "containers")) {
        const struct value *ports = value_get(c, STR("ports"));
        value_each_item (port, ports)
            add_port(a, ports, port, &list);
    }
    return list;
}

/* ---- All of it ---- */

static struct value sysctls(struct arena *a, const struct value *pod)
{
    struct value v = value_object();
    value_each_item (it, value_dig(pod, "spec", "securityContext", "sysctls"))
        value_put(a, &v, value_text(it, "name"), value_string(value_text(it, "value")));
    return v;
}

static int put_linux(const struct pod_place *p, struct arena *a, struct value *v, struct err *err)
{
    struct value security, os = value_object();
    int r = sandbox_security(p, a, &security, err);
    if (r < 0)
        return r;
    tree_text(a, &os, STR("cgroup_parent"), p->cgroup_parent);
    value_put_new(a, &os, STR("security_context"), security);
    tree_some(a, &os, STR("sysctls"), sysctls(a, p->pod));
    value_put_new(a, &os, STR("overhead"), overhead_resources(a, p->pod));
    value_put_new(a, &os, STR("resources"), sandbox_resources(a, p->node, p->pod));
    value_put_new(a, v, STR("linux"), os);
    return 0;
}

static int put_host_name(const struct pod_place *p, struct arena *a, struct value *v,
                         struct err *err)
{
    struct str name;
    if (value_is_true(value_dig(p->pod, "spec", "hostNetwork")))
        return 0; /* the node's */
    int r = pod_kernel_name(a, p->node, p->pod, &name, err);
    if (r < 0)
        return r;
    tree_text(a, v, STR("hostname"), name);
    return 0;
}

int pod_sandbox_config(const struct pod_place *p, uint32_t attempt, struct arena *a,
                       struct value *ret, struct err *err)
{
    struct value v = value_object(), dns;
    struct str logs = pod_log_folder(a, p->node, p->pod);
    value_put_new(a, &v, STR("metadata"), metadata(a, p->pod, attempt));
    int r = pod_dns(p, a, &dns, err);
    if (r < 0)
        return r;
    r = put_host_name(p, a, &v, err);
    if (r < 0)
        return r;
    tree_text(a, &v, STR("log_directory"), logs);
    value_put_new(a, &v, STR("dns_config"), dns);
    tree_some(a, &v, STR("port_mappings"), port_mappings(a, p->pod));
    value_put_new(a, &v, STR("labels"), labels(a, p->pod));
    tree_some(a, &v, STR("annotations"), copy_map(a, value_dig(p->pod, "metadata", "annotations")));
    r = put_linux(p, a, &v, err);
    if (r < 0)
        return r;
    if (mount_point_folders(a, logs, 0755) < 0)
        return err_errno(err, errno, "make the log folder of pod " STR_FMT,
                         STR_ARG(pod_describe(a, p->pod)));
    *ret = v;
    return 0;
}
