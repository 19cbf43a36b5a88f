#include "client/config/config_internal.h"

#include <errno.h>
#include <fcntl.h>

#include "api/go/go_url.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "base/banned.h"

struct faults {
    struct buf text;
    size_t n;
};

static void add_fault(struct faults *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add_fault(struct faults *f, const char *fmt, ...)
{
    if (f->n++)
        buf_str_add(&f->text, STR(", "));
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&f->text, fmt, ap);
    va_end(ap);
}

/* The system's words begin with a small letter in Go. */
static void check_readable(struct faults *f, const char *what, struct spn_text path,
                           struct spn_text name)
{
    if (!path.n)
        return;
    struct arena a;
    arena_init(&a);
    autoclose int fd = open(str_cstr(&a, str_in(path)), O_RDONLY | O_CLOEXEC);
    const char *why = fd < 0 ? strerror(errno) : "";
    if (fd < 0)
        add_fault(f, "unable to read %s " SPN_FMT " for " SPN_FMT " due to open " SPN_FMT ": %c%s",
                  what, SPN_ARG(path), SPN_ARG(name), SPN_ARG(path), why[0] | 0x20, why + 1);
    arena_done(&a);
}

/* ---- Clusters ---- */

static bool is_proxy_scheme(struct str scheme)
{
    return str_eq(scheme, STR("http")) || str_eq(scheme, STR("https")) ||
           str_eq(scheme, STR("socks5"));
}

static void check_proxy(struct faults *f, struct spn_text proxy, struct spn_text cluster_name)
{
    struct arena a;
    arena_init(&a);
    struct go_url url = { 0 };
    struct str why = { 0 };
    if (go_url_parse(&a, str_in(proxy), &url))
        why = arena_printf(&a, "could not parse: " SPN_FMT, SPN_ARG(proxy));
    else if (!is_proxy_scheme(url.scheme))
        why = arena_printf(&a, "unsupported scheme \"" STR_FMT "\", must be http, https, or socks5",
                           STR_ARG(url.scheme));
    if (why.n)
        add_fault(f, "invalid 'proxy-url' \"" SPN_FMT "\" for cluster \"" SPN_FMT "\": " STR_FMT,
                  SPN_ARG(proxy), SPN_ARG(cluster_name), STR_ARG(why));
    arena_done(&a);
}

static bool is_empty_cluster(const struct kube_cluster *c)
{
    return !c->server.n && !c->tls_server_name.n && !c->ca_file.n && !c->ca_data.n &&
           !c->proxy_url.n && !c->insecure && !c->disable_compression && !c->exec_config;
}

static void check_cluster(struct faults *f, const struct kube_cluster *c, struct spn_text name)
{
    if (!c->server.n && name.n)
        add_fault(f, "no server found for cluster \"" SPN_FMT "\"", SPN_ARG(name));
    else if (!c->server.n)
        add_fault(f, "default cluster has no server defined");
    if (c->proxy_url.n)
        check_proxy(f, c->proxy_url, name);
    if (c->ca_file.n && c->ca_data.n)
        add_fault(
            f,
            "certificate-authority-data and certificate-authority are both specified for " SPN_FMT
            ". certificate-authority-data will override.",
            SPN_ARG(name));
    check_readable(f, "certificate-authority", c->ca_file, name);
}

/* ---- Users ---- */

static void check_certificate(struct faults *f, const struct kube_user *u, struct spn_text name)
{
    if (!u->cert_file.n && !u->cert_data.n)
        return;
    if (u->cert_file.n && u->cert_data.n)
        add_fault(f,
                  "client-cert-data and client-cert are both specified for " SPN_FMT
                  ". client-cert-data will override.",
                  SPN_ARG(name));
    if (u->key_file.n && u->key_data.n)
        add_fault(f,
                  "client-key-data and client-key are both specified for " SPN_FMT
                  "; client-key-data will override",
                  SPN_ARG(name));
    if (!u->key_file.n && !u->key_data.n)
        add_fault(f,
                  "client-key-data or client-key must be specified for " SPN_FMT
                  " to use the clientCert authentication method.",
                  SPN_ARG(name));
    check_readable(f, "client-cert", u->cert_file, name);
    check_readable(f, "client-key", u->key_file, name);
}

static bool is_interactive_mode(struct spn_text mode)
{
    return spn_text_eq(mode, SPN_TEXT("Never")) || spn_text_eq(mode, SPN_TEXT("IfAvailable")) ||
           spn_text_eq(mode, SPN_TEXT("Always"));
}

static void check_exec(struct faults *f, const struct spn_exec *exec, struct spn_text name)
{
    static const char plugin[] = "to use exec authentication plugin";
    if (!exec->command.n)
        add_fault(f, "command must be specified for " SPN_FMT " %s", SPN_ARG(name), plugin);
    if (!exec->api_version.n)
        add_fault(f, "apiVersion must be specified for " SPN_FMT " %s", SPN_ARG(name), plugin);
    for (size_t i = 0; i < exec->n_env; i++)
        if (!exec->env[i].name.n)
            add_fault(f, "env variable name must be specified for " SPN_FMT " %s", SPN_ARG(name),
                      plugin);
    if (!exec->interactive_mode.n)
        add_fault(f, "interactiveMode must be specified for " SPN_FMT " %s", SPN_ARG(name), plugin);
    else if (!is_interactive_mode(exec->interactive_mode))
        add_fault(f, "invalid interactiveMode for " SPN_FMT ": \"" SPN_FMT "\"", SPN_ARG(name),
                  SPN_ARG(exec->interactive_mode));
}

static void check_user(struct faults *f, const struct kube_user *u, struct spn_text name)
{
    check_certificate(f, u, name);
    if (u->exec && u->auth_provider.n)
        add_fault(f,
                  "authProvider cannot be provided in combination with an exec plugin for " SPN_FMT,
                  SPN_ARG(name));
    else if (u->auth_provider.n)
        add_fault(f,
                  "the auth-provider " SPN_FMT " of user \"" SPN_FMT
                  "\" is not supported: use a credential plugin (exec)",
                  SPN_ARG(u->auth_provider), SPN_ARG(name));
    if (u->exec)
        check_exec(f, u->exec, name);
    if (u->token.n && (u->username.n || u->password.n))
        add_fault(f,
                  "more than one authentication method found for " SPN_FMT
                  "; found [token basicAuth], only one is allowed",
                  SPN_ARG(name));
    if ((u->as.uid.n || u->as.groups.n || u->as.n_extra) && !u->as.user.n)
        add_fault(
            f, "requesting uid, groups or user-extra for " SPN_FMT " without impersonating a user",
            SPN_ARG(name));
}

static int report(const struct faults *f, struct spn_err *err)
{
    if (!f->n)
        return 0;
    return spn_err_set(err, SPN_INVALID, "invalid configuration: %s" STR_FMT "%s",
                       f->n > 1 ? "[" : "", STR_ARG(buf_str(&f->text)), f->n > 1 ? "]" : "");
}

static int check_all(struct faults *f, const struct config_parts *p, bool *ret_empty,
                     struct spn_err *err)
{
    if (p->context_name.n && !p->has_context)
        add_fault(f, "context was not found for specified context: " SPN_FMT,
                  SPN_ARG(p->context_name));
    check_user(f, &p->user, p->user_name);
    *ret_empty = !f->n && is_empty_cluster(&p->cluster);
    if (*ret_empty)
        add_fault(f, "no configuration has been provided, try setting KUBERNETES_MASTER "
                     "environment variable");
    else if (is_empty_cluster(&p->cluster))
        add_fault(f, "cluster has no server defined");
    else
        check_cluster(f, &p->cluster, p->cluster_name);
    return report(f, err);
}

int config_check(const struct config_parts *parts, bool *ret_empty, struct spn_err *err)
{
    struct faults f = { 0 };
    int r = check_all(&f, parts, ret_empty, err);
    buf_done(&f.text);
    return r;
}
