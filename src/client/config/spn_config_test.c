#include <sampan/config.h>

#include <unistd.h>

#include "base/idiom.h"
#include "client/bridge.h"
#include "client/config/config_internal.h"
#include "client/suite_folder.h"

/* "server=... token=..." of what is there. */
static void say(struct buf *out, const char *name, struct spn_text value)
{
    if (value.n)
        buf_printf(out, "%s=" SPN_FMT " ", name, SPN_ARG(value));
}

static void say_impersonation(struct buf *out, const struct spn_impersonation *as)
{
    say(out, "as", as->user);
    say(out, "uid", as->uid);
    for (size_t i = 0; i < as->groups.n; i++)
        say(out, "group", as->groups.items[i]);
    for (size_t i = 0; i < as->n_extra; i++)
        for (size_t k = 0; k < as->extra[i].values.n; k++)
            buf_printf(out, "extra:" SPN_FMT "=" SPN_FMT " ", SPN_ARG(as->extra[i].key),
                       SPN_ARG(as->extra[i].values.items[k]));
}

static void say_exec(struct buf *out, const struct spn_exec *exec)
{
    if (!exec)
        return;
    say(out, "exec", exec->command);
    for (size_t i = 0; i < exec->args.n; i++)
        say(out, "arg", exec->args.items[i]);
    for (size_t i = 0; i < exec->n_env; i++)
        buf_printf(out, "env:" SPN_FMT "=" SPN_FMT " ", SPN_ARG(exec->env[i].name),
                   SPN_ARG(exec->env[i].value));
    say(out, "mode", exec->interactive_mode);
    if (exec->provide_cluster_info)
        buf_printf(out, "told ");
}

static void describe(struct buf *out, const struct spn_config *cfg)
{
    say(out, "server", cfg->server);
    say(out, "name", cfg->tls_server_name);
    say(out, "ca", cfg->ca_data);
    say(out, "cafile", cfg->ca_file);
    say(out, "cert", cfg->cert_data);
    say(out, "certfile", cfg->cert_file);
    say(out, "key", cfg->key_data);
    say(out, "keyfile", cfg->key_file);
    say(out, "token", cfg->token);
    say(out, "tokenfile", cfg->token_file);
    say(out, "username", cfg->username);
    say(out, "password", cfg->password);
    say(out, "proxy", cfg->proxy_url);
    say_impersonation(out, &cfg->as);
    say_exec(out, cfg->exec);
    say(out, "ns", cfg->ns);
    buf_printf(out, "%s%s%s", cfg->insecure ? "insecure " : "",
               cfg->disable_compression ? "uncompressed " : "", cfg->is_in_cluster ? "pod " : "");
}

/* Each "$D" in `want` is the folder of the test. */
static void assert_said(struct suite_folder *f, struct str got, const char *want)
{
    autobuf expanded = { 0 };
    for (const char *p = want; *p; p++)
        if (p[0] == '$' && p[1] == 'D') {
            buf_str_add(&expanded, str_of(f->path));
            p++;
        } else {
            buf_byte(&expanded, *p);
        }
    if (!str_eq(got, buf_str(&expanded)))
        fail_msg("got  " STR_FMT "\nwant " STR_FMT, STR_ARG(got), STR_ARG(buf_str(&expanded)));
}

static void assert_loads(struct suite_folder *f, const struct spn_config_options *opt,
                         const struct config_environment *env, const char *want)
{
    struct spn_config cfg;
    struct spn_err err;
    autobuf got = { 0 };
    if (config_load_in(opt, env, f->arena, &cfg, &err) < 0)
        buf_printf(&got, "%s", err.message);
    else
        describe(&got, &cfg);
    assert_said(f, buf_str(&got), want);
}

#define CLUSTER_A "clusters: [{name: a, cluster: {server: 'https://a'}}]\n"
#define USER_A    "users: [{name: a, user: {token: ta}}]\n"
#define CONTEXT_A "contexts: [{name: a, context: {cluster: a, user: a}}]\ncurrent-context: a\n"

/* ---- One file ---- */

static const struct {
    const char *text, *want;
} documents[] = {
    { CLUSTER_A USER_A CONTEXT_A, "server=https://a token=ta ns=default " },
    { "apiVersion: v1\nkind: Config\n" CLUSTER_A USER_A
      "contexts: [{name: c, context: {cluster: a, user: a, namespace: shop}}]\n"
      "current-context: c\n",
      "server=https://a token=ta ns=shop " },
    { "{\"clusters\":[{\"name\":\"a\",\"cluster\":{\"server\":\"https://a:6443/path/?x=1#y\"}}],"
      "\"contexts\":[{\"name\":\"a\",\"context\":{\"cluster\":\"a\",\"user\":\"none\"}}],"
      "\"current-context\":\"a\"}",
      "server=https://a:6443/path ns=default " },
    /* Without TLS nothing secret is kept. */
    { "clusters: [{name: a, cluster: {server: 'http://a', insecure-skip-tls-verify: true}}]\n"
      "users: [{name: a, user: {token: ta, as: jane}}]\n" CONTEXT_A,
      "server=http://a as=jane ns=default " },
    { "clusters: [{name: a, cluster: {server: 'a:8080'}}]\n" USER_A CONTEXT_A,
      "server=http://a:8080 ns=default " },
    { "clusters: [{name: a, cluster: {server: 'https://a', tls-server-name: nm,\n"
      "  certificate-authority-data: \"Y2\\nE=\", proxy-url: 'socks5://p:1080',\n"
      "  disable-compression: true}}]\n"
      "users: [{name: a, user: {client-certificate-data: Y2VydA==, client-key-data: a2V5,\n"
      "  as: jane, as-uid: u, as-groups: [g, h], as-user-extra: {k: [v, w], l: [x]}}}]\n" CONTEXT_A,
      "server=https://a name=nm ca=ca cert=cert key=key proxy=socks5://p:1080 as=jane uid=u "
      "group=g group=h extra:k=v extra:k=w extra:l=x ns=default uncompressed " },
    { "clusters: [{name: a, cluster: {server: 'https://a', insecure-skip-tls-verify: true}}]\n"
      "users: [{name: a, user: {username: u, password: p}}]\n" CONTEXT_A,
      "server=https://a username=u password=p ns=default insecure " },
    { CLUSTER_A "users: [{name: a, user: {exec: {apiVersion: client.authentication.k8s.io/v1,\n"
                "  command: bin/plugin, args: [x, z], env: [{name: K, value: v}],\n"
                "  provideClusterInfo: true, interactiveMode: Never}}}]\n" CONTEXT_A,
      "server=https://a exec=$D/bin/plugin arg=x arg=z env:K=v mode=Never told ns=default " },
    { CLUSTER_A "users: [{name: a, user: {exec: {command: plugin,\n"
                "  apiVersion: client.authentication.k8s.io/v1beta1}}}]\n" CONTEXT_A,
      "server=https://a exec=plugin mode=IfAvailable ns=default " },
    { CLUSTER_A "users: null\ncontexts: [{name: a, context: {cluster: a, user: null}}]\n"
                "current-context: a\npreferences: {}\n",
      "server=https://a ns=default " },
    { CLUSTER_A USER_A CONTEXT_A "---\nusers: nonsense\n",
      "server=https://a token=ta ns=default " },

    /* What is wrong. */
    { "", "invalid configuration: no configuration has been provided, try setting "
          "KUBERNETES_MASTER environment variable" },
    { CLUSTER_A USER_A "current-context: b\n",
      "invalid configuration: [context was not found for specified context: b, cluster has no "
      "server defined]" },
    { "clusters: [{name: a, cluster: {tls-server-name: nm}}]\n" USER_A CONTEXT_A,
      "invalid configuration: no server found for cluster \"a\"" },
    { "clusters: [{name: a, cluster: {server: 'https://a', proxy-url: 'ftp://p'}}]\n" CONTEXT_A,
      "invalid configuration: invalid 'proxy-url' \"ftp://p\" for cluster \"a\": unsupported "
      "scheme \"ftp\", must be http, https, or socks5" },
    { "clusters: [{name: a, cluster: {server: 'https://a', proxy-url: 'http://[::1'}}]\n" CONTEXT_A,
      "invalid configuration: invalid 'proxy-url' \"http://[::1\" for cluster \"a\": could not "
      "parse: http://[::1" },
    { "clusters: [{name: a, cluster: {server: 'https://a', insecure-skip-tls-verify: true,\n"
      "  certificate-authority-data: Y2E=}}]\n" CONTEXT_A,
      "specifying a root certificates file with the insecure flag is not allowed" },
    { "clusters: [{name: a, cluster: {server: 'https://a', certificate-authority: "
      "none}}]\n" CONTEXT_A,
      "invalid configuration: unable to read certificate-authority $D/none for a due to open "
      "$D/none: no such file or directory" },
    { CLUSTER_A "users: [{name: a, user: {token: t, username: u}}]\n" CONTEXT_A,
      "invalid configuration: more than one authentication method found for a; found [token "
      "basicAuth], only one is allowed" },
    { CLUSTER_A "users: [{name: a, user: {client-certificate-data: Yw==}}]\n" CONTEXT_A,
      "invalid configuration: client-key-data or client-key must be specified for a to use the "
      "clientCert authentication method." },
    { CLUSTER_A "users: [{name: a, user: {as-groups: [g]}}]\n" CONTEXT_A,
      "invalid configuration: requesting uid, groups or user-extra for a without impersonating a "
      "user" },
    { CLUSTER_A "users: [{name: a, user: {auth-provider: {name: gcp}}}]\n" CONTEXT_A,
      "invalid configuration: the auth-provider \"gcp\" of user \"a\" is not supported: use a "
      "credential plugin (exec)" },
    { CLUSTER_A "users: [{name: a, user: {exec: {env: [{value: v}],\n"
                "  apiVersion: client.authentication.k8s.io/v1}}}]\n" CONTEXT_A,
      "invalid configuration: [command must be specified for a to use exec authentication plugin, "
      "env variable name must be specified for a to use exec authentication plugin, "
      "interactiveMode must be specified for a to use exec authentication plugin]" },
    { CLUSTER_A "users: [{name: a, user: {exec: {command: c, interactiveMode: Sometimes,\n"
                "  apiVersion: client.authentication.k8s.io/v1}}}]\n" CONTEXT_A,
      "invalid configuration: invalid interactiveMode for a: \"Sometimes\"" },
    { CLUSTER_A "users: [{name: a, user: {tokenFile: none}}]\n" CONTEXT_A,
      "open $D/none: No such file or directory" },
    { "clusters: [{name: a, cluster: {certificate-authority-data: '!'}}]\n",
      "error loading config file \"$D/config\": certificate-authority-data of cluster \"a\": "
      "illegal base64 data" },
    { "users: [{name: u, user: {token: 5}}]\n",
      "error loading config file \"$D/config\": token of user \"u\": it must be a string" },
    { "users: [{name: u}, {name: u}]\n",
      "error loading config file \"$D/config\": duplicate name \"u\" in users" },
    { "users: {}\n", "error loading config file \"$D/config\": users must be a list" },
    { "kind: Pod\napiVersion: v1\n", "error loading config file \"$D/config\": no kind \"Pod\" is "
                                     "registered for version \"v1\"" },
    { "just text", "error loading config file \"$D/config\": it is no kubeconfig" },
};

static void one_file(void **state)
{
    struct suite_folder *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(documents); i++) {
        struct spn_config_options opt = { .kubeconfig =
                                              suite_file(f, "config", documents[i].text) };
        assert_loads(f, &opt, &(struct config_environment){ 0 }, documents[i].want);
    }
}

/* ---- Several files ---- */

static void of_each_name_the_first_counts(void **state)
{
    struct suite_folder *f = *state;
    suite_file(f, "x/one",
               CLUSTER_A "users: [{name: a, user: {client-certificate: c, client-key: k}}]\n");
    suite_file(f, "x/c", "");
    suite_file(f, "x/k", "");
    suite_file(f, "two",
               "clusters: [{name: a, cluster: {server: 'https://no',\n"
               "  tls-server-name: bad}}, {name: b, cluster: {server: 'https://b'}}]\n"
               "users: [{name: a, user: {token: bad}}, {name: b, user: {token: tb}}]\n"
               "contexts: [{name: a, context: {cluster: a, user: a}},\n"
               "  {name: b, context: {cluster: b, user: b}}]\ncurrent-context: a\n");
    suite_file(f, "three", "contexts: [{name: a, context: {cluster: bad}}]\ncurrent-context: b\n");
    struct config_environment env = {
        .kubeconfig = spn_arena_printf(f->arena, "%s/none::%s/x/one:%s/two:%s/two:%s/three",
                                       f->path, f->path, f->path, f->path, f->path)
                          .p,
        .home = "/nowhere"
    };
    assert_loads(f, NULL, &env, "server=https://a certfile=$D/x/c keyfile=$D/x/k ns=default ");
    assert_loads(f, &(struct spn_config_options){ .context = "b" }, &env,
                 "server=https://b token=tb ns=default ");
    assert_loads(f, &(struct spn_config_options){ .user = "b", .ns = "n" }, &env,
                 "server=https://a token=tb ns=n ");
    assert_loads(f, &(struct spn_config_options){ .cluster = "b" }, &env,
                 "server=https://b certfile=$D/x/c keyfile=$D/x/k ns=default ");
}

static void what_is_named_must_be_there(void **state)
{
    struct suite_folder *f = *state;
    struct config_environment env = { .kubeconfig =
                                          suite_file(f, "config", CLUSTER_A USER_A CONTEXT_A) };
    assert_loads(f, &(struct spn_config_options){ .context = "x" }, &env,
                 "context \"x\" does not exist");
    assert_loads(f, &(struct spn_config_options){ .cluster = "x" }, &env,
                 "cluster \"x\" does not exist");
    assert_loads(f, &(struct spn_config_options){ .user = "x" }, &env,
                 "auth info \"x\" does not exist");
    assert_loads(f, &(struct spn_config_options){ .kubeconfig = suite_path(f, "x") }, &env,
                 "error loading config file \"$D/x\": open $D/x: No such file or directory");
}

static void the_file_at_home(void **state)
{
    struct suite_folder *f = *state;
    suite_file(f, ".kube/config", CLUSTER_A USER_A CONTEXT_A);
    struct config_environment env = { .home = f->path };
    assert_loads(f, NULL, &env, "server=https://a token=ta ns=default ");
    env.kubeconfig = suite_path(f, "none");
    env.master = "https://master";
    assert_loads(f, NULL, &env, "server=https://master ns=default ");
}

/* ---- Options ---- */

static void options_come_before_files(void **state)
{
    struct suite_folder *f = *state;
    struct config_environment env = {
        .kubeconfig =
            suite_file(f, "config",
                       "clusters: [{name: a, cluster: {server: 'https://a', tls-server-name: nm,\n"
                       "  certificate-authority-data: Y2E=}}]\n"
                       "users: [{name: a, user: {tokenFile: config, as: joe, as-groups: [g],\n"
                       "  client-certificate-data: Yw==, client-key-data: aw==}}]\n" CONTEXT_A)
    };
    static const struct spn_text groups[] = { { "h", 1 } };
    static const struct spn_text extra[] = { { "k=1", 3 }, { "l=2", 3 }, { "k=3=4", 5 } };
    assert_loads(
        f, &(struct spn_config_options){ .token = "t", .insecure = true }, &env,
        "server=https://a name=nm cert=c key=k token=t as=joe group=g ns=default insecure ");
    assert_loads(f, &(struct spn_config_options){ .server = "https://b" }, &env,
                 "server=https://b ca=ca cert=c key=k tokenfile=$D/config as=joe group=g "
                 "ns=default ");
    assert_loads(f,
                 &(struct spn_config_options){ .certificate_authority = env.kubeconfig,
                                               .tls_server_name = "m",
                                               .proxy_url = "http://p",
                                               .client_certificate = env.kubeconfig,
                                               .client_key = env.kubeconfig,
                                               .as = "jane",
                                               .as_uid = "u",
                                               .as_groups = { groups, 1 },
                                               .as_extra = { extra, 3 } },
                 &env,
                 "server=https://a name=m cafile=$D/config certfile=$D/config keyfile=$D/config "
                 "tokenfile=$D/config proxy=http://p as=jane uid=u group=h extra:k=1 extra:k=3=4 "
                 "extra:l=2 ns=default ");
}

static void numbers_go_through(void **state)
{
    struct suite_folder *f = *state;
    struct spn_config_options opt = {
        .ns = "n", .qps = 7.5, .burst = 8, .timeout_ms = 9, .user_agent = "me"
    };
    struct spn_config cfg;
    struct spn_err err;
    assert_int_equal(
        spn_config_read(SPN_TEXT(CLUSTER_A USER_A CONTEXT_A), &opt, f->arena, &cfg, &err), 0);
    assert_true(cfg.qps == 7.5);
    assert_int_equal(cfg.burst, 8);
    assert_int_equal(cfg.timeout_ms, 9);
    assert_text(cfg.user_agent, "me");
    assert_true(cfg.ns_is_chosen);
    assert_int_equal(spn_config_read(SPN_TEXT("a: ["), NULL, f->arena, &cfg, &err), -SPN_MALFORMED);
    assert_int_equal(spn_config_read(SPN_TEXT(""), NULL, f->arena, &cfg, &err), -SPN_INVALID);
}

static void paths_in_a_file_of_this_folder(void **state)
{
    struct suite_folder *f = *state;
    suite_file(f, "config", CLUSTER_A "users: [{name: a, user: {tokenFile: config}}]\n" CONTEXT_A);
    char *before = getcwd(NULL, 0);
    assert_int_equal(chdir(f->path), 0);
    assert_loads(f, &(struct spn_config_options){ .kubeconfig = "config" },
                 &(struct config_environment){ 0 },
                 "server=https://a tokenfile=$D/config ns=default ");
    assert_int_equal(chdir(before), 0);
    free(before);
}

static void a_cluster_tells_its_plugin(void **state)
{
    struct suite_folder *f = *state;
    struct spn_config cfg;
    struct spn_err err;
    assert_int_equal(
        spn_config_read(
            SPN_TEXT("clusters: [{name: a, cluster: {server: 'https://a', extensions: [\n"
                     "  {name: other, extension: bad},\n"
                     "  {name: client.authentication.k8s.io/exec, extension: {x: [1]}}]}}]\n"
                     "users: [{name: a, user: {exec: {command: c,\n"
                     "  apiVersion: client.authentication.k8s.io/v1beta1}}}]\n" CONTEXT_A),
            NULL, f->arena, &cfg, &err),
        0);
    assert_text(spn_value_json(f->arena, cfg.exec->cluster_config), "{\"x\":[1]}");
}

/* ---- In a pod ---- */

#define ACCOUNT "pod/var/run/secrets/kubernetes.io/serviceaccount/"

static void in_a_pod(void **state)
{
    struct suite_folder *f = *state;
    struct config_environment env = { .service_host = "10.0.0.1",
                                      .service_port = "443",
                                      .root = suite_path(f, "pod") };
    static const char empty[] = "invalid configuration: no configuration has been provided, try "
                                "setting KUBERNETES_MASTER environment variable";
    assert_loads(f, NULL, &env, empty);
    suite_file(f, ACCOUNT "token", "t\n");
    assert_loads(f, NULL, &env,
                 "server=https://10.0.0.1:443 tokenfile=$D/" ACCOUNT "token ns=default pod ");
    suite_file(f, ACCOUNT "ca.crt", "ca");
    suite_file(f, ACCOUNT "namespace", " shop\n");
    env.service_host = "fd00::1";
    assert_loads(f, NULL, &env,
                 "server=https://[fd00::1]:443 cafile=$D/" ACCOUNT "ca.crt tokenfile=$D/" ACCOUNT
                 "token ns=shop pod ");
    env.pod_namespace = "other";
    assert_loads(f, &(struct spn_config_options){ .token = "x", .as = "jane" }, &env,
                 "server=https://[fd00::1]:443 cafile=$D/" ACCOUNT
                 "ca.crt token=x as=jane ns=other pod ");
    env.service_port = "";
    assert_loads(f, NULL, &env, empty);
}

static void a_file_comes_before_the_pod(void **state)
{
    struct suite_folder *f = *state;
    suite_file(f, ACCOUNT "token", "t\n");
    suite_file(f, ACCOUNT "namespace", "shop");
    struct config_environment env = {
        .service_host = "h",
        .service_port = "1",
        .root = suite_path(f, "pod"),
        .kubeconfig = suite_file(f, "config", CLUSTER_A USER_A CONTEXT_A),
    };
    assert_loads(f, NULL, &env, "server=https://a token=ta ns=shop ");
    suite_file(f, "config",
               CLUSTER_A USER_A "contexts: [{name: a, context: {cluster: a, namespace: default}}]\n"
                                "current-context: a\n");
    assert_loads(f, NULL, &env, "server=https://a ns=default ");
    suite_file(f, "config", "users: [{name: u, user: {token: 5}}]");
    assert_loads(f, NULL, &env,
                 "error loading config file \"$D/config\": token of user \"u\": it must be a "
                 "string");
}

/* ---- Proxies of the environment ---- */

static void proxies_of_the_environment(void **state)
{
    static const struct {
        const char *server, *proxy, *no_proxy, *want;
    } rows[] = {
        { "https://a.example", "http://p:3128", NULL, "http://p:3128" },
        { "https://a.example", "p:3128", "", "http://p:3128" },
        { "https://a.example", "socks5://p", NULL, "socks5://p" },
        { "https://a.example", "ftp://p", NULL, "ftp://p" },
        { "http://a.example", "p", NULL, "http://h" },
        { "https://localhost:6443", "p", NULL, "" },
        { "https://127.8.0.1:6443", "p", NULL, "" },
        { "https://[::1]", "p", NULL, "" },
        { "https://10.1.2.3", "p", NULL, "http://p" },
        { "https://a.example", "p", "*", "" },
        { "https://A.Example", "p", "b.example, a.EXAMPLE", "" },
        { "https://x.a.example", "p", "a.example", "" },
        { "https://xa.example", "p", "a.example", "http://p" },
        { "https://a.example", "p", ".a.example", "http://p" },
        { "https://x.a.example", "p", ".a.example", "" },
        { "https://x.a.example", "p", "*.a.example", "" },
        { "https://a.example", "p", "*.a.example", "http://p" },
        { "https://a.example:6443/x", "p", "a.example:6443", "" },
        { "https://a.example:6443", "p", "a.example:443", "http://p" },
        { "https://a.example", "p", "a.example:443", "" },
        { "https://10.1.2.3", "p", "10.0.0.0/8", "" },
        { "https://11.1.2.3", "p", "10.0.0.0/8", "http://p" },
        { "https://10.1.2.3", "p", "10.1.2.0/23", "" },
        { "https://10.1.4.3", "p", "10.1.2.0/23", "http://p" },
        { "https://10.1.2.3", "p", "10.1.2.3", "" },
        { "https://10.1.2.3:6443", "p", "10.1.2.3:6443", "" },
        { "https://10.1.2.3", "p", "10.1.2.3:6443", "http://p" },
        { "https://[fd00::1]:6443", "p", "fd00::/8", "" },
        { "https://[fd00::1]:6443", "p", "[fd00::1]:6443", "" },
        { "https://[fd00::1]:6443", "p", "fd00::1", "" },
        { "https://[fd00::1]:6443", "p", "0.0.0.0/0", "http://p" },
        { "https://10.1.2.3", "p", "10.0.0.0/33,,:1,/", "http://p" },
        { "https://a.example", "a b", NULL, "invalid proxy address \"a b\"" },
        { "https://a.example", "", NULL, "" },
    };
    struct suite_folder *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct config_environment env = { .https_proxy = rows[i].proxy,
                                                .http_proxy = "h",
                                                .no_proxy = rows[i].no_proxy };
        struct spn_text got;
        struct spn_err err;
        if (config_proxy(&env, spn_text_of(rows[i].server), arena_in(f->arena), &got, &err) < 0)
            got = spn_text_of(err.message);
        if (!spn_text_eq(got, spn_text_of(rows[i].want)))
            fail_msg("%s by %s but %s: got " SPN_FMT ", want %s", rows[i].server, rows[i].proxy,
                     rows[i].no_proxy ? rows[i].no_proxy : "none", SPN_ARG(got), rows[i].want);
    }
}

static void a_proxy_of_the_file_comes_first(void **state)
{
    struct suite_folder *f = *state;
    struct config_environment env = {
        .https_proxy = "http://env",
        .kubeconfig = suite_file(f, "config", CLUSTER_A USER_A CONTEXT_A),
    };
    assert_loads(f, NULL, &env, "server=https://a token=ta proxy=http://env ns=default ");
    suite_file(
        f, "config",
        "clusters: [{name: a, cluster: {server: 'https://a', proxy-url: 'http://file'}}]\n" USER_A
            CONTEXT_A);
    assert_loads(f, NULL, &env, "server=https://a token=ta proxy=http://file ns=default ");
    assert_loads(f, &(struct spn_config_options){ .proxy_url = "http://flag" }, &env,
                 "server=https://a token=ta proxy=http://flag ns=default ");
}

/* CVE-2019-11243: the anonymous copy of a configuration kept the token of the pod. */
static void an_anonymous_copy_has_no_credentials(void **state)
{
    struct suite_folder *f = *state;
    const struct spn_text group = SPN_TEXT("g");
    const struct spn_exec exec = { .command = SPN_TEXT("plugin") };
    const struct spn_config cfg = {
        .server = SPN_TEXT("https://a"),
        .tls_server_name = SPN_TEXT("nm"),
        .ca_data = SPN_TEXT("ca"),
        .ca_file = SPN_TEXT("ca.crt"),
        .cert_data = SPN_TEXT("cert"),
        .cert_file = SPN_TEXT("cert.crt"),
        .key_data = SPN_TEXT("key"),
        .key_file = SPN_TEXT("key.pem"),
        .token = SPN_TEXT("token"),
        .token_file = SPN_TEXT("token.txt"),
        .username = SPN_TEXT("u"),
        .password = SPN_TEXT("p"),
        .exec = &exec,
        .proxy_url = SPN_TEXT("http://proxy:1"),
        .disable_compression = true,
        .as = { .user = SPN_TEXT("jane"), .uid = SPN_TEXT("1"), .groups = { &group, 1 } },
        .ns = SPN_TEXT("shop"),
        .is_in_cluster = true,
        .qps = 7,
        .burst = 8,
        .timeout_ms = 9,
        .protobuf = true,
    };
    const struct spn_config copy = spn_config_anonymous(&cfg);
    autobuf said = { 0 };
    describe(&said, &copy);
    assert_said(f, buf_str(&said),
                "server=https://a name=nm ca=ca cafile=ca.crt "
                "proxy=http://proxy:1 ns=shop uncompressed ");
    assert_true(copy.qps == 7 && copy.burst == 8 && copy.timeout_ms == 9 && copy.protobuf);
    assert_null(copy.exec);
}

static void too_many_entries(void **state)
{
    struct suite_folder *f = *state;
    struct spn_config cfg;
    struct spn_err err;
    autobuf text = { 0 };
    buf_printf(&text, "users:\n");
    for (int i = 0; i <= KUBECONFIG_ENTRIES; i++)
        buf_printf(&text, "- name: u%d\n", i);
    struct spn_text t = { text.p, text.n };
    assert_int_equal(spn_config_read(t, NULL, f->arena, &cfg, &err), -SPN_MALFORMED);
    assert_string_equal(err.message, "users has more than 10000 entries");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        suite_folder_test(one_file),
        suite_folder_test(of_each_name_the_first_counts),
        suite_folder_test(what_is_named_must_be_there),
        suite_folder_test(the_file_at_home),
        suite_folder_test(options_come_before_files),
        suite_folder_test(numbers_go_through),
        suite_folder_test(paths_in_a_file_of_this_folder),
        suite_folder_test(a_cluster_tells_its_plugin),
        suite_folder_test(in_a_pod),
        suite_folder_test(a_file_comes_before_the_pod),
        suite_folder_test(proxies_of_the_environment),
        suite_folder_test(a_proxy_of_the_file_comes_first),
        suite_folder_test(an_anonymous_copy_has_no_credentials),
        suite_folder_test(too_many_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
