#include "node/pod/pod_hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/names.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "node/pod/pod_place.h"
#include "node/pod/pod_spec.h"
#include "base/banned.h"

enum { HOST_NAME_MAX_BYTES = 63, FQDN_MAX_BYTES = 64 };

/* ---- The name ---- */

static int check(struct arena *a, enum name_rule rule, const char *what, const char *kind,
                 struct str name, struct err *err)
{
    struct name_faults faults = { 0 };
    autobuf why = { 0 };
    if (name_check(rule, name, &faults))
        return 0;
    for (size_t i = 0; i < faults.n; i++)
        buf_printf(&why, "%s%s%s", i ? ";" : "", faults.list[i].part, faults.list[i].why);
    return err_set(err, ERR_INVALID, "pod %s " STR_FMT " is not a valid DNS %s: " STR_FMT, what,
                   STR_ARG(go_quote(a, name)), kind, STR_ARG(buf_str(&why)));
}

static int cut_name(struct arena *a, const struct value *pod, struct str name, struct str *ret,
                    struct err *err)
{
    struct str cut = str_take(name, HOST_NAME_MAX_BYTES);
    while (name.n > HOST_NAME_MAX_BYTES && cut.n &&
           (cut.p[cut.n - 1] == '-' || cut.p[cut.n - 1] == '.'))
        cut.n--;
    if (!cut.n)
        return err_set(err, ERR_INVALID, "hostname for pod " STR_FMT " was invalid: " STR_FMT,
                       STR_ARG(go_quote(a, pod_name(pod))), STR_ARG(go_quote(a, name)));
    *ret = cut;
    return 0;
}

int pod_host_name(struct arena *a, const struct node_facts *node, const struct value *pod,
                  struct str *ret_name, struct str *ret_domain, struct err *err)
{
    const struct value *spec = pod_spec(pod), *over = value_get(spec, STR("hostnameOverride"));
    struct str name = value_text(spec, "hostname"), sub = value_text(spec, "subdomain");
    *ret_domain = STR("");
    if (value_is(over, VALUE_STRING)) {
        int r = check(a, NAME_SUBDOMAIN, "HostnameOverride", "subdomain", value_str(over), err);
        return r < 0 ? r : cut_name(a, pod, value_str(over), ret_name, err);
    }
    int r = name.n ? check(a, NAME_LABEL, "Hostname", "label", name, err) : 0;
    if (r < 0)
        return r;
    r = cut_name(a, pod, name.n ? name : pod_name(pod), ret_name, err);
    if (r < 0 || !sub.n)
        return r;
    r = check(a, NAME_LABEL, "Subdomain", "label", sub, err);
    if (r < 0)
        return r;
    *ret_domain = arena_printf(a, STR_FMT "." STR_FMT ".svc." STR_FMT, STR_ARG(sub),
                               STR_ARG(pod_ns(pod)), STR_ARG(node->cluster_domain));
    return 0;
}

int pod_kernel_name(struct arena *a, const struct node_facts *node, const struct value *pod,
                    struct str *ret, struct err *err)
{
    struct str domain;
    int r = pod_host_name(a, node, pod, ret, &domain, err);
    if (r < 0 || !domain.n || !value_is_true(value_dig(pod, "spec", "setHostnameAsFQDN")))
        return r;
    struct str whole = arena_printf(a, STR_FMT "." STR_FMT, STR_ARG(*ret), STR_ARG(domain));
    if (whole.n > FQDN_MAX_BYTES)
        return err_set(
            err, ERR_INVALID,
            "failed to construct FQDN from pod hostname and cluster domain, FQDN " STR_FMT
            " is too long (%d characters is the max, %zu characters requested)",
            STR_ARG(whole), FQDN_MAX_BYTES, whole.n);
    *ret = whole;
    return 0;
}

/* ---- The file ---- */

static void add_aliases(struct buf *out, const struct value *aliases)
{
    if (!value_at(aliases, 0))
        return;
    buf_str_add(out, STR("\n# Entries added by HostAliases.\n"));
    value_each_item (alias, aliases) {
        bool is_first = true;
        buf_printf(out, STR_FMT "\t", STR_ARG(value_text(alias, "ip")));
        value_each_item (name, value_get(alias, STR("hostnames"))) {
            buf_printf(out, "%s" STR_FMT, is_first ? "" : "\t", STR_ARG(value_str(name)));
            is_first = false;
        }
        buf_byte(out, '\n');
    }
}

static int add_managed(const struct pod_place *p, struct arena *a, struct buf *out, struct err *err)
{
    struct str name, domain;
    int r = pod_host_name(a, p->node, p->pod, &name, &domain, err);
    if (r < 0)
        return r;
    buf_str_add(out, STR("# Kubernetes-managed hosts file.\n"
                         "127.0.0.1\tlocalhost\n"
                         "::1\tlocalhost ip6-localhost ip6-loopback\n"
                         "fe00::0\tip6-localnet\n"
                         "fe00::0\tip6-mcastprefix\n"
                         "fe00::1\tip6-allnodes\n"
                         "fe00::2\tip6-allrouters\n"));
    for (size_t i = 0; i < p->n_pod_ips; i++) {
        buf_printf(out, STR_FMT "\t" STR_FMT, STR_ARG(p->pod_ips[i]), STR_ARG(name));
        if (domain.n)
            buf_printf(out, "." STR_FMT "\t" STR_FMT, STR_ARG(domain), STR_ARG(name));
        buf_byte(out, '\n');
    }
    return 0;
}

static int add_node(struct buf *out, struct err *err)
{
    autobuf file = { 0 };
    int r = file_read("/etc/hosts", LIMIT_HOSTS_BYTES, &file, err);
    if (r < 0)
        return r;
    buf_str_add(out, STR("# Kubernetes-managed hosts file (host network).\n"));
    buf_str_add(out, buf_str(&file));
    return 0;
}

int pod_hosts_write(const struct pod_place *p, struct arena *a, struct str *ret, struct err *err)
{
    autobuf text = { 0 };
    const bool is_host = value_is_true(value_dig(p->pod, "spec", "hostNetwork"));
    int r = is_host ? add_node(&text, err) : add_managed(p, a, &text, err);
    if (r < 0)
        return r;
    add_aliases(&text, value_dig(p->pod, "spec", "hostAliases"));
    struct str path = path_join(a, pod_folder(a, p->node, pod_uid(p->pod)), STR("etc-hosts"));
    /* In place: running containers have this very file mounted. */
    autoclose int fd =
        open(str_cstr(a, path), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0 || fchmod(fd, 0644) < 0)
        return err_set(err, ERR_IO, "open " STR_FMT ": " STR_FMT, STR_ARG(path),
                       STR_ARG(go_errno(a, errno)));
    *ret = path;
    return file_write_all(fd, buf_str(&text), err);
}
