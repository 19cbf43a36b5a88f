#include "node/register/bootstrap.h"

#include <sampan/config.h>
#include <sampan/credentials.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/yaml.h"
#include "client/bridge.h"
#include "net/crypto/pki.h"
#include "node/register/certificate_ask.h"
#include "base/banned.h"

enum { AGAIN_MS = 5000 };

/* ---- Whether there is anything to do ---- */

static int64_t now_sec(void)
{
    return clock_wall_ns(&clock_system) / NS_PER_SEC;
}

/* A kubeconfig that names a client certificate which is still good; or other credentials, about
 * which nothing can be said. */
static bool is_usable(const char *path, struct arena *a)
{
    const struct spn_config_options opt = { .kubeconfig = path };
    struct spn_config cfg;
    struct spn_err why = { 0 };
    struct err err = ERR_INIT(a);
    struct spn_credential got;
    int64_t until;
    if (access(path, R_OK) < 0 || spn_config_load(&opt, arena_out(a), &cfg, &why) < 0)
        return false;
    struct spn_credentials *c = spn_credentials_new(&cfg);
    const int rc = spn_credentials_get(c, arena_out(a), &got, &why);
    spn_credentials_free(c);
    if (rc < 0)
        return false;
    if (!got.cert.n)
        return got.token.n || got.username.n;
    return pki_not_after(str_in(got.cert), &until, &err) == 0 && until > now_sec();
}

/* ---- The kubeconfig ---- */

static void put(struct arena *a, struct value *obj, const char *key, struct str text)
{
    value_put(a, obj, str_of(key), value_string(text));
}

/* {name: NAME, KEY: of} in a list of its own. */
static struct value named(struct arena *a, const char *name, const char *key, struct value of)
{
    struct value list = value_array(), one = value_object();
    put(a, &one, "name", str_of(name));
    value_put(a, &one, str_of(key), of);
    value_put_item(a, &list, one);
    return list;
}

static struct value cluster_entry(struct arena *a, const struct spn_config *from)
{
    struct value cluster = value_object();
    autobuf data = { 0 };
    put(a, &cluster, "server", str_in(from->server));
    if (from->insecure)
        value_put(a, &cluster, STR("insecure-skip-tls-verify"), value_bool(true));
    if (from->tls_server_name.n)
        put(a, &cluster, "tls-server-name", str_in(from->tls_server_name));
    if (from->ca_file.n) {
        put(a, &cluster, "certificate-authority", str_in(from->ca_file));
    } else if (from->ca_data.n) {
        base64_encode(&data, str_in(from->ca_data));
        put(a, &cluster, "certificate-authority-data", arena_str(a, buf_str(&data)));
    }
    return cluster;
}

static int write_kubeconfig(struct arena *a, const struct bootstrap_options *opt,
                            const struct spn_config *from, struct err *err)
{
    struct value doc = value_object(), user = value_object(), context = value_object();
    struct str pem = arena_printf(a, "%s/kubelet-client-current.pem", opt->cert_dir);
    autobuf text = { 0 };
    put(a, &user, "client-certificate", pem);
    put(a, &user, "client-key", pem);
    put(a, &context, "cluster", STR("default-cluster"));
    put(a, &context, "namespace", STR("default"));
    put(a, &context, "user", STR("default-auth"));
    put(a, &doc, "apiVersion", STR("v1"));
    value_put(a, &doc, STR("clusters"),
              named(a, "default-cluster", "cluster", cluster_entry(a, from)));
    value_put(a, &doc, STR("contexts"), named(a, "default-context", "context", context));
    put(a, &doc, "current-context", STR("default-context"));
    put(a, &doc, "kind", STR("Config"));
    value_put(a, &doc, STR("users"), named(a, "default-auth", "user", user));
    yaml_write(&text, &doc);
    return file_write_atomic(opt->kubeconfig, buf_str(&text), 0600, FILE_DURABLE, err);
}

/* ---- Asking ---- */

/* Again and again: the server may not be there yet, and somebody may take his time to approve. */
static int ask_until_done(const struct bootstrap_options *opt, struct spn_client *client,
                          struct arena *a, struct err *err)
{
    const struct certificate_wish wish = {
        .client = client,
        .stop = opt->stop,
        .node = opt->node,
        .signer = "kubernetes.io/kube-apiserver-client-kubelet",
        .usage = "client auth",
        .wait_ms = -1,
    };
    for (;;) {
        struct str cert, key;
        err_clear(err);
        int r = certificate_ask(&wish, a, &cert, &key, err);
        if (r == 0)
            return certificate_keep(opt->cert_dir, "kubelet-client", cert, key, err);
        if (r != -ERR_UNAVAILABLE)
            return r;
        log_warn("no certificate yet", LOG_ERR(err));
        if (spn_stop_wait(opt->stop, AGAIN_MS))
            return err_set(err, ERR_GONE, "stopped");
    }
}

static int run(const struct bootstrap_options *opt, struct arena *a, struct err *err)
{
    const struct spn_config_options from = { .kubeconfig = opt->bootstrap_kubeconfig };
    struct spn_config cfg;
    struct spn_err why = { 0 };
    struct spn_client *client;
    if (is_usable(opt->kubeconfig, a))
        return 0;
    if (!opt->bootstrap_kubeconfig)
        return err_set(err, ERR_INVALID,
                       "%s cannot be used, and no bootstrap kubeconfig is named to make one",
                       opt->kubeconfig);
    if (spn_config_load(&from, arena_out(a), &cfg, &why) < 0 ||
        spn_client_new(&cfg, &client, &why) < 0)
        return err_set(err, ERR_INVALID, "unable to load bootstrap kubeconfig: %s", why.message);
    int r = ask_until_done(opt, client, a, err);
    client = spn_client_free(client);
    return r < 0 ? r : write_kubeconfig(a, opt, &cfg, err);
}

int bootstrap_run(const struct bootstrap_options *opt, struct err *err)
{
    struct arena a;
    arena_init(&a);
    int r = run(opt, &a, err);
    arena_done(&a);
    return r;
}
