#include <sampan/config.h>

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "client/bridge.h"
#include "client/config/config_internal.h"
#include "base/banned.h"

#define ACCOUNT_FOLDER "/var/run/secrets/kubernetes.io/serviceaccount"

/* What one loading needs. */
struct loading {
    const struct spn_config_options *opt;
    const struct config_environment *env;
    struct arena *arena;
    struct spn_err *err;
};

static bool is_given(const char *option)
{
    return option && *option;
}

/* ---- Files ---- */

int config_read_file(const char *path, struct buf *ret, struct spn_err *err)
{
    struct arena a;
    arena_init(&a);
    struct err why = ERR_INIT(&a);
    int r = file_read(path, CONFIG_FILE_BYTES, ret, &why);
    if (r < 0)
        r = err_out(err, &why, SPN_FILE);
    arena_done(&a);
    return r;
}

/* The absolute folder of a file; in the arena. */
static struct spn_text folder_of(struct arena *a, const char *path)
{
    char *copy = arena_dup(a, path, strlen(path) + 1);
    const char *folder = dirname(copy);
    if (folder[0] == '/')
        return spn_text_of(folder);
    char *here = getcwd(NULL, 0);
    bool is_here = strcmp(folder, ".") == 0;
    struct str ret =
        arena_printf(a, "%s%s%s", here ? here : "", is_here ? "" : "/", is_here ? "" : folder);
    free(here);
    return text_out(ret);
}

static int add_file(struct loading *l, struct kubeconfig *k, const char *path)
{
    autobuf text = { 0 };
    int r = config_read_file(path, &text, l->err);
    if (r < 0)
        return r;
    return kubeconfig_add(k, text_out(buf_str(&text)), folder_of(l->arena, path), l->err);
}

static int add_named_file(struct loading *l, struct kubeconfig *k, const char *path)
{
    int r = add_file(l, k, path);
    return r < 0 ? spn_err_wrap(l->err, "error loading config file \"%s\"", path) : 0;
}

static bool is_missing(const char *path)
{
    return access(path, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR);
}

static int add_if_there(struct loading *l, struct kubeconfig *k, struct str path)
{
    const char *cstr = str_cstr(l->arena, path);
    return path.n && !is_missing(cstr) ? add_named_file(l, k, cstr) : 0;
}

static int add_listed(struct loading *l, struct kubeconfig *k, struct str list)
{
    while (list.p) {
        int r = add_if_there(l, k, str_cut(&list, ':'));
        if (r < 0)
            return r;
    }
    return 0;
}

static int add_files(struct loading *l, struct kubeconfig *k)
{
    if (is_given(l->opt->kubeconfig))
        return add_named_file(l, k, l->opt->kubeconfig);
    if (is_given(l->env->kubeconfig))
        return add_listed(l, k, str_of(l->env->kubeconfig));
    if (is_given(l->env->home))
        return add_if_there(l, k, arena_printf(l->arena, "%s/.kube/config", l->env->home));
    return 0;
}

/* ---- Entries with the options on top ---- */

static struct spn_text copy_of(struct loading *l, const char *option)
{
    return text_out(arena_str(l->arena, str_of(option)));
}

static void override(struct loading *l, struct spn_text *place, const char *option)
{
    if (is_given(option))
        *place = copy_of(l, option);
}

static int find_context(struct loading *l, const struct kubeconfig *k, struct config_parts *p)
{
    p->context_name = k->current_context;
    override(l, &p->context_name, l->opt->context);
    const struct kube_context *c = kubeconfig_context(k, p->context_name);
    if (!c && is_given(l->opt->context))
        return spn_err_set(l->err, SPN_NOT_FOUND, "context \"%s\" does not exist", l->opt->context);
    p->has_context = c;
    if (c)
        p->context = *c;
    override(l, &p->context.ns, l->opt->ns);
    p->cluster_name = p->context.cluster;
    p->user_name = p->context.user;
    override(l, &p->cluster_name, l->opt->cluster);
    override(l, &p->user_name, l->opt->user);
    return 0;
}

/* A server of one's own has another name and perhaps another authority than the file's. */
static void override_cluster(struct loading *l, struct kube_cluster *c)
{
    const struct spn_config_options *opt = l->opt;
    if (opt->insecure || is_given(opt->certificate_authority)) {
        c->ca_data = c->ca_file = (struct spn_text){ 0 };
        c->insecure = opt->insecure;
    }
    if (is_given(opt->server))
        c->tls_server_name = (struct spn_text){ 0 };
    override(l, &c->server, opt->server);
    override(l, &c->tls_server_name, opt->tls_server_name);
    override(l, &c->ca_file, opt->certificate_authority);
    override(l, &c->proxy_url, opt->proxy_url);
    c->disable_compression |= opt->disable_compression;
    if (!c->server.n)
        override(l, &c->server, l->env->master);
}

static int find_cluster(struct loading *l, const struct kubeconfig *k, struct config_parts *p)
{
    const struct kube_cluster *c = kubeconfig_cluster(k, p->cluster_name);
    if (!c && is_given(l->opt->cluster))
        return spn_err_set(l->err, SPN_NOT_FOUND, "cluster \"%s\" does not exist", l->opt->cluster);
    if (c)
        p->cluster = *c;
    override_cluster(l, &p->cluster);
    return 0;
}

static struct spn_texts copy_texts(struct loading *l, struct spn_texts texts)
{
    struct spn_text *items = arena_array(l->arena, struct spn_text, texts.n);
    for (size_t i = 0; i < texts.n; i++)
        items[i] = text_out(arena_str(l->arena, str_in(texts.items[i])));
    return (struct spn_texts){ items, texts.n };
}

/* "key=value" each; those of one key become its values. */
static void override_extra(struct loading *l, struct spn_impersonation *as)
{
    struct spn_texts pairs = copy_texts(l, l->opt->as_extra);
    struct spn_extra *extra = arena_array(l->arena, struct spn_extra, pairs.n);
    struct spn_text *values = arena_array(l->arena, struct spn_text, pairs.n * pairs.n);
    size_t n = 0;
    for (size_t i = 0; i < pairs.n; i++) {
        struct str value = str_in(pairs.items[i]);
        struct spn_text key = text_out(str_cut(&value, '='));
        size_t at = 0;
        while (at < n && !spn_text_eq(extra[at].key, key))
            at++;
        n += at == n;
        extra[at].key = key;
        extra[at].values.items = &values[at * pairs.n];
        values[at * pairs.n + extra[at].values.n++] = text_out(value);
    }
    as->extra = extra;
    as->n_extra = n;
}

static void override_impersonation(struct loading *l, struct spn_impersonation *as)
{
    override(l, &as->user, l->opt->as);
    override(l, &as->uid, l->opt->as_uid);
    if (l->opt->as_groups.n)
        as->groups = copy_texts(l, l->opt->as_groups);
    if (l->opt->as_extra.n)
        override_extra(l, as);
}

/* A token that the user names comes before a token file and a plugin. */
static void override_user(struct loading *l, struct kube_user *u)
{
    const struct spn_config_options *opt = l->opt;
    if (is_given(opt->token)) {
        u->token_file = u->auth_provider = (struct spn_text){ 0 };
        u->exec = NULL;
    }
    if (is_given(opt->client_certificate))
        u->cert_data = (struct spn_text){ 0 };
    if (is_given(opt->client_key))
        u->key_data = (struct spn_text){ 0 };
    override(l, &u->token, opt->token);
    override(l, &u->cert_file, opt->client_certificate);
    override(l, &u->key_file, opt->client_key);
    override(l, &u->username, opt->username);
    override(l, &u->password, opt->password);
    override_impersonation(l, &u->as);
}

static int find_user(struct loading *l, const struct kubeconfig *k, struct config_parts *p)
{
    const struct kube_user *u = kubeconfig_user(k, p->user_name);
    if (!u && is_given(l->opt->user))
        return spn_err_set(l->err, SPN_NOT_FOUND, "auth info \"%s\" does not exist", l->opt->user);
    if (u)
        p->user = *u;
    override_user(l, &p->user);
    return 0;
}

static int find_parts(struct loading *l, const struct kubeconfig *k, struct config_parts *ret)
{
    *ret = (struct config_parts){ 0 };
    int r = find_context(l, k, ret);
    if (r < 0)
        return r;
    r = find_user(l, k, ret);
    if (r < 0)
        return r;
    return find_cluster(l, k, ret);
}

/* ---- A configuration of them ---- */

bool config_is_secure(struct spn_text server)
{
    return str_starts(str_in(server), STR("https://"));
}

/* With a scheme, without anything behind the path. */
static struct spn_text clean_server(struct arena *a, struct spn_text server)
{
    struct str s = str_in(server);
    bool has_scheme = memmem(s.p, s.n, "://", 3);
    struct str query = s, path = str_cut(&query, '?'), fragment = path;
    path = str_cut(&fragment, '#');
    while (str_ends(path, STR("/")))
        path.n--;
    return text_out(arena_printf(a, "%s" STR_FMT, has_scheme ? "" : "http://", STR_ARG(path)));
}

static void set_cluster(struct spn_config *cfg, const struct kube_cluster *c)
{
    cfg->proxy_url = c->proxy_url;
    cfg->disable_compression = c->disable_compression;
    if (!config_is_secure(cfg->server))
        return;
    cfg->tls_server_name = c->tls_server_name;
    cfg->insecure = c->insecure;
    cfg->ca_data = c->ca_data;
    cfg->ca_file = c->ca_file;
}

static void set_user(struct loading *l, struct spn_config *cfg, const struct config_parts *p)
{
    const struct kube_user *u = &p->user;
    if (u->as.user.n)
        cfg->as = u->as;
    if (!config_is_secure(cfg->server))
        return;
    cfg->token = u->token;
    cfg->token_file = u->token_file;
    if (u->cert_file.n || u->cert_data.n) {
        cfg->cert_file = u->cert_file;
        cfg->cert_data = u->cert_data;
        cfg->key_file = u->key_file;
        cfg->key_data = u->key_data;
    }
    cfg->username = u->username;
    cfg->password = u->password;
    if (!u->exec)
        return;
    struct spn_exec *exec = arena_dup(l->arena, u->exec, sizeof(*exec));
    exec->cluster_config = p->cluster.exec_config;
    cfg->exec = exec;
}

static void set_options(struct loading *l, struct spn_config *cfg)
{
    cfg->qps = l->opt->qps;
    cfg->burst = l->opt->burst;
    cfg->timeout_ms = l->opt->timeout_ms;
    cfg->ns_is_chosen = is_given(l->opt->ns);
    override(l, &cfg->user_agent, l->opt->user_agent);
    override(l, &cfg->ns, l->opt->ns);
}

/* Nobody can mean both. */
static int check_trust(const struct spn_config *cfg, struct loading *l)
{
    if (cfg->insecure && (cfg->ca_data.n || cfg->ca_file.n))
        return spn_err_set(l->err, SPN_INVALID,
                           "specifying a root certificates file with the insecure flag is not "
                           "allowed");
    return 0;
}

/* A token file that is not there is found out now, and not with the first request. */
static int check_token_file(const struct spn_config *cfg, struct loading *l)
{
    autobuf token = { 0 };
    if (cfg->token.n || !cfg->token_file.n)
        return 0;
    return config_read_file(str_cstr(l->arena, str_in(cfg->token_file)), &token, l->err);
}

static int compose(struct loading *l, const struct config_parts *p, struct spn_config *ret)
{
    struct spn_config cfg = { .ns = p->context.ns.n ? p->context.ns : SPN_TEXT("default") };
    cfg.server = clean_server(l->arena, p->cluster.server);
    set_cluster(&cfg, &p->cluster);
    set_user(l, &cfg, p);
    set_options(l, &cfg);
    int r = check_trust(&cfg, l);
    if (r < 0)
        return r;
    r = check_token_file(&cfg, l);
    if (r < 0)
        return r;
    *ret = cfg;
    return 0;
}

/* ---- In a pod ---- */

static struct str account_file(struct loading *l, const char *name)
{
    return arena_printf(l->arena, "%s" ACCOUNT_FOLDER "/%s", l->env->root ? l->env->root : "",
                        name);
}

static bool is_file(struct str path)
{
    struct stat st;
    return stat(path.p, &st) == 0 && !S_ISDIR(st.st_mode);
}

static bool is_in_pod(struct loading *l)
{
    return is_given(l->env->service_host) && is_given(l->env->service_port) &&
           is_file(account_file(l, "token"));
}

static struct spn_text pod_namespace(struct loading *l)
{
    if (is_given(l->env->pod_namespace))
        return copy_of(l, l->env->pod_namespace);
    autobuf text = { 0 };
    int r = config_read_file(account_file(l, "namespace").p, &text, NULL);
    struct str ns = r < 0 ? STR("") : str_trim(buf_str(&text));
    return text_out(arena_str(l->arena, ns.n ? ns : STR("default")));
}

/* Only server, token and authority of the options count here. */
static void compose_in_pod(struct loading *l, struct spn_config *ret)
{
    const struct config_environment *env = l->env;
    bool is_ipv6 = strchr(env->service_host, ':');
    struct str server = arena_printf(l->arena, is_ipv6 ? "https://[%s]:%s" : "https://%s:%s",
                                     env->service_host, env->service_port);
    struct str ca = account_file(l, "ca.crt");
    struct spn_config cfg = { .server = text_out(server), .is_in_cluster = true };
    cfg.token_file = text_out(account_file(l, "token"));
    cfg.ca_file = is_file(ca) ? text_out(ca) : (struct spn_text){ 0 };
    cfg.ns = pod_namespace(l);
    if (is_given(l->opt->server))
        cfg.server = clean_server(l->arena, copy_of(l, l->opt->server));
    if (is_given(l->opt->token)) {
        cfg.token = copy_of(l, l->opt->token);
        cfg.token_file = (struct spn_text){ 0 };
    }
    override(l, &cfg.ca_file, l->opt->certificate_authority);
    override_impersonation(l, &cfg.as);
    set_options(l, &cfg);
    *ret = cfg;
}

/* ---- Loading ---- */

static int choose(struct loading *l, const struct kubeconfig *k, struct spn_config *ret)
{
    struct config_parts parts;
    bool is_empty = false;
    int r = find_parts(l, k, &parts);
    if (r < 0)
        return r;
    r = config_check(&parts, &is_empty, l->err);
    if (r == 0)
        return compose(l, &parts, ret);
    if (!is_empty || !is_in_pod(l))
        return r;
    compose_in_pod(l, ret);
    return 0;
}

/* A pod's namespace counts where the files, which are not of this pod, say none. */
static void set_pod_namespace(struct loading *l, const struct kubeconfig *k, struct spn_config *cfg)
{
    struct spn_text name = k->current_context;
    override(l, &name, l->opt->context);
    const struct kube_context *c = kubeconfig_context(k, name);
    if (!cfg->ns_is_chosen && !cfg->is_in_cluster && !(c && c->ns.n) && is_in_pod(l))
        cfg->ns = pod_namespace(l);
}

static const struct spn_config_options no_options;

int config_load_in(const struct spn_config_options *opt, const struct config_environment *env,
                   struct spn_arena *a, struct spn_config *ret, struct spn_err *err)
{
    struct loading l = { opt ? opt : &no_options, env, arena_in(a), err };
    struct kubeconfig k = { .arena = l.arena };
    int r = add_files(&l, &k);
    if (r < 0)
        return r;
    r = choose(&l, &k, ret);
    if (r < 0)
        return r;
    set_pod_namespace(&l, &k, ret);
    return ret->proxy_url.n ? 0 : config_proxy(env, ret->server, l.arena, &ret->proxy_url, err);
}

/* In capitals or not, as Go and others look for it. */
static const char *either(const char *capitals, const char *small)
{
    const char *value = getenv(capitals);
    return is_given(value) ? value : getenv(small);
}

int spn_config_load(const struct spn_config_options *opt, struct spn_arena *a,
                    struct spn_config *ret, struct spn_err *err)
{
    struct config_environment env = {
        .kubeconfig = getenv("KUBECONFIG"),
        .home = getenv("HOME"),
        .master = getenv("KUBERNETES_MASTER"),
        .service_host = getenv("KUBERNETES_SERVICE_HOST"),
        .service_port = getenv("KUBERNETES_SERVICE_PORT"),
        .pod_namespace = getenv("POD_NAMESPACE"),
        .https_proxy = either("HTTPS_PROXY", "https_proxy"),
        .http_proxy = either("HTTP_PROXY", "http_proxy"),
        .no_proxy = either("NO_PROXY", "no_proxy"),
    };
    return config_load_in(opt, &env, a, ret, err);
}

int spn_config_read(struct spn_text text, const struct spn_config_options *opt, struct spn_arena *a,
                    struct spn_config *ret, struct spn_err *err)
{
    static const struct config_environment nothing;
    struct loading l = { opt ? opt : &no_options, &nothing, arena_in(a), err };
    struct kubeconfig k = { .arena = l.arena };
    int r = kubeconfig_add(&k, text, folder_of(l.arena, "."), err);
    if (r < 0)
        return r;
    return choose(&l, &k, ret);
}

/* It names what is kept, so that whatever a configuration may have one day is left out. */
struct spn_config spn_config_anonymous(const struct spn_config *cfg)
{
    return (struct spn_config){
        .server = cfg->server,
        .tls_server_name = cfg->tls_server_name,
        .insecure = cfg->insecure,
        .ca_data = cfg->ca_data,
        .ca_file = cfg->ca_file,
        .proxy_url = cfg->proxy_url,
        .disable_compression = cfg->disable_compression,
        .ns = cfg->ns,
        .ns_is_chosen = cfg->ns_is_chosen,
        .qps = cfg->qps,
        .burst = cfg->burst,
        .timeout_ms = cfg->timeout_ms,
        .user_agent = cfg->user_agent,
        .protobuf = cfg->protobuf,
    };
}
