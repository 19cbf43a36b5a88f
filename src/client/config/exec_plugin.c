#include "client/config/exec_plugin.h"

#include <errno.h>
#include <unistd.h>

#include "api/go/gotime.h"
#include "base/base64.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "base/yaml.h"
#include "client/bridge.h"
#include "client/config/process.h"
#include "base/banned.h"

enum { OUTPUT_BYTES = 1 << 20, ALONE_MS = 60 * 1000, INTERACTIVE_MS = 10 * 60 * 1000 };

/* ---- What it is told ---- */

static void put_text(struct arena *a, struct value *obj, struct str key, struct spn_text t)
{
    if (t.n)
        value_put_new(a, obj, key, value_string(str_in(t)));
}

static void put_true(struct arena *a, struct value *obj, struct str key, bool is_true)
{
    if (is_true)
        value_put_new(a, obj, key, value_bool(true));
}

static struct value cluster_value(struct arena *a, const struct spn_config *cfg, struct spn_text ca)
{
    struct value v = value_object();
    autobuf ca_base64 = { 0 };
    base64_encode(&ca_base64, str_in(ca));
    value_put_new(a, &v, STR("server"), value_string(str_in(cfg->server)));
    put_text(a, &v, STR("tls-server-name"), cfg->tls_server_name);
    put_true(a, &v, STR("insecure-skip-tls-verify"), cfg->insecure);
    put_text(a, &v, STR("certificate-authority-data"), text_out(arena_str(a, buf_str(&ca_base64))));
    put_text(a, &v, STR("proxy-url"), cfg->proxy_url);
    put_true(a, &v, STR("disable-compression"), cfg->disable_compression);
    const struct value *config = value_in(cfg->exec->cluster_config);
    value_put_new(a, &v, STR("config"), config ? value_borrow(config) : value_null());
    return v;
}

static struct str exec_info(struct arena *a, const struct spn_config *cfg, struct spn_text ca,
                            bool is_interactive)
{
    struct value spec = value_object(), v = value_object();
    if (cfg->exec->provide_cluster_info)
        value_put_new(a, &spec, STR("cluster"), cluster_value(a, cfg, ca));
    value_put_new(a, &spec, STR("interactive"), value_bool(is_interactive));
    value_put_new(a, &v, STR("kind"), value_string(STR("ExecCredential")));
    value_put_new(a, &v, STR("apiVersion"), value_string(str_in(cfg->exec->api_version)));
    value_put_new(a, &v, STR("spec"), spec);
    autobuf json = { 0 };
    json_write(&json, &v);
    return arena_str(a, buf_str(&json));
}

/* ---- Its arguments and variables ---- */

static const char *const *arguments(struct arena *a, const struct spn_exec *exec)
{
    const char **argv = arena_array(a, const char *, exec->args.n + 2);
    argv[0] = str_cstr(a, str_in(exec->command));
    for (size_t i = 0; i < exec->args.n; i++)
        argv[i + 1] = str_cstr(a, str_in(exec->args.items[i]));
    return argv;
}

struct variables {
    struct arena *arena;
    const char **items;
    size_t n;
};

static struct str variable_name(const char *variable)
{
    struct str value = str_of(variable);
    return str_cut(&value, '=');
}

/* Takes the place of an earlier one of that name. */
static void set_variable(struct variables *all, struct str name, struct str value)
{
    size_t at = 0;
    while (at < all->n && !str_eq(variable_name(all->items[at]), name))
        at++;
    all->n += at == all->n;
    all->items[at] = arena_printf(all->arena, STR_FMT "=" STR_FMT, STR_ARG(name), STR_ARG(value)).p;
}

static const char *const *variables(struct arena *a, const struct spn_exec *exec, struct str info)
{
    size_t n = 0;
    while (environ && environ[n])
        n++;
    struct variables all = { a, arena_array(a, const char *, n + exec->n_env + 2), n };
    for (size_t i = 0; i < n; i++)
        all.items[i] = environ[i];
    for (size_t i = 0; i < exec->n_env; i++)
        set_variable(&all, str_in(exec->env[i].name), str_in(exec->env[i].value));
    set_variable(&all, STR("KUBERNETES_EXEC_INFO"), info);
    return all.items;
}

/* ---- What it says ---- */

static int unauthorized(struct spn_err *err, const char *why)
{
    return spn_err_set(err, SPN_UNAUTHORIZED, "%s", why);
}

/* Some three hundred years before and after 1970 are told apart. */
static int64_t to_ns(struct gotime t)
{
    if (t.sec <= INT64_MIN / NS_PER_SEC)
        return INT64_MIN;
    return t.sec < INT64_MAX / NS_PER_SEC ? t.sec * NS_PER_SEC + t.nanos : INT64_MAX;
}

static int read_expiry(struct arena *a, const struct value *status, int64_t *ret,
                       struct spn_err *err)
{
    struct gotime t;
    struct err why = ERR_INIT(a);
    const struct value *v = value_get(status, STR("expirationTimestamp"));
    *ret = INT64_MAX;
    if (!v || value_is(v, VALUE_NULL))
        return 0;
    if (!value_is(v, VALUE_STRING) || gotime_parse(value_str(v), false, &t, &why) < 0)
        return spn_err_set(err, SPN_UNAUTHORIZED, "decoding stdout: expirationTimestamp: " STR_FMT,
                           STR_ARG(why.msg.n ? why.msg : STR("it must be a string")));
    *ret = to_ns(t);
    return 0;
}

static int read_status(const struct value *status, struct spn_arena *a, struct exec_credential *ret,
                       struct spn_err *err)
{
    if (!value_is(status, VALUE_OBJECT))
        return unauthorized(err, "exec plugin didn't return a status field");
    struct exec_credential c = {
        .token = text_out(value_text(status, "token")),
        .cert = text_out(value_text(status, "clientCertificateData")),
        .key = text_out(value_text(status, "clientKeyData")),
    };
    if (!c.token.n && !c.cert.n && !c.key.n)
        return unauthorized(err, "exec plugin didn't return a token or cert/key pair");
    if (!c.cert.n != !c.key.n)
        return unauthorized(err, "exec plugin returned only certificate or key, not both");
    int r = read_expiry(arena_in(a), status, &c.expires_ns, err);
    if (r < 0)
        return r;
    *ret = c;
    return 0;
}

/* JSON, as a rule; else YAML. */
static int read_document(struct arena *a, struct str text, struct value *ret, struct spn_err *err)
{
    struct err why = ERR_INIT(a);
    if (json_read(a, text, NULL, ret, &why) < 0 && yaml_read(a, text, NULL, ret, &why) < 0)
        return spn_err_set(err, SPN_UNAUTHORIZED, "decoding stdout: " STR_FMT, STR_ARG(why.msg));
    return 0;
}

int exec_plugin_read(const struct spn_exec *exec, struct spn_text output, struct spn_arena *a,
                     struct exec_credential *ret, struct spn_err *err)
{
    struct value v = value_null();
    struct str text = arena_str(arena_in(a), str_in(output)); /* the tree's text lies in it */
    int r = read_document(arena_in(a), text, &v, err);
    if (r < 0)
        return r;
    struct str version = value_text(&v, "apiVersion");
    if (!str_eq(value_text(&v, "kind"), STR("ExecCredential")))
        return unauthorized(err, "decoding stdout: its kind is not ExecCredential");
    if (!str_eq(version, str_in(exec->api_version)))
        return spn_err_set(err, SPN_UNAUTHORIZED,
                           "exec plugin is configured to use API version " SPN_FMT
                           ", plugin returned version " STR_FMT,
                           SPN_ARG(exec->api_version), STR_ARG(version));
    return read_status(value_get(&v, STR("status")), a, ret, err);
}

/* ---- Running ---- */

static int check_version(const struct spn_exec *exec, struct spn_err *err)
{
    if (spn_text_eq(exec->api_version, SPN_TEXT("client.authentication.k8s.io/v1")) ||
        spn_text_eq(exec->api_version, SPN_TEXT("client.authentication.k8s.io/v1beta1")))
        return 0;
    return spn_err_set(err, SPN_UNAUTHORIZED, "exec plugin: invalid apiVersion \"" SPN_FMT "\"",
                       SPN_ARG(exec->api_version));
}

static int find_interactive(const struct spn_exec *exec, bool *ret, struct spn_err *err)
{
    bool is_always = spn_text_eq(exec->interactive_mode, SPN_TEXT("Always"));
    bool is_allowed = is_always || spn_text_eq(exec->interactive_mode, SPN_TEXT("IfAvailable"));
    *ret = is_allowed && isatty(STDIN_FILENO);
    if (is_always && !*ret)
        return unauthorized(err, "exec plugin cannot support interactive mode: "
                                 "standard input is not a terminal");
    return 0;
}

/* Nothing that would change a terminal. */
static struct str printable(struct arena *a, struct str s)
{
    autobuf out = { 0 };
    for (size_t n; s.n; s = str_skip(s, n)) {
        n = utf8_step(s.p, s.n);
        uint32_t code = n ? utf8_decode(s.p, n) : 0xfffd;
        bool is_space = code >= '\t' && code <= '\r';
        if ((code < ' ' && !is_space) || (code >= 0x7f && code < 0xa0) || !n)
            buf_printf(&out, "U+%04X", code);
        else
            buf_add(&out, s.p, n);
        n = n ? n : 1;
    }
    return arena_str(a, buf_str(&out));
}

static int not_started(struct arena *a, const struct spn_exec *exec, int errnum,
                       struct spn_err *err)
{
    const char *why = strerror(errnum);
    if (str_find(str_in(exec->command), '/') >= 0)
        return spn_err_set(err, SPN_UNAUTHORIZED, "exec: fork/exec " SPN_FMT ": %c%s",
                           SPN_ARG(exec->command), why[0] | 0x20, why + 1);
    struct str hint = printable(a, str_in(exec->install_hint));
    return spn_err_set(
        err, SPN_UNAUTHORIZED,
        "exec: executable " SPN_FMT " not found\n\n"
        "It looks like you are trying to use a client-go credential plugin that is not "
        "installed.\n\n"
        "To learn more about this feature, consult the documentation available at:\n"
        "      https://kubernetes.io/docs/reference/access-authn-authz/authentication/"
        "#client-go-credential-plugins%s" STR_FMT,
        SPN_ARG(exec->command), hint.n ? "\n\n" : "", STR_ARG(hint));
}

static int report_end(struct arena *a, const struct spn_exec *exec, enum process_end end, int code,
                      struct spn_err *err)
{
    if (end == PROCESS_NOT_STARTED)
        return not_started(a, exec, code, err);
    if (end == PROCESS_TOO_LONG)
        return spn_err_set(err, SPN_UNAUTHORIZED, "exec: executable " SPN_FMT " took too long",
                           SPN_ARG(exec->command));
    if (end == PROCESS_TOO_MUCH)
        return spn_err_set(err, SPN_UNAUTHORIZED,
                           "exec: executable " SPN_FMT " wrote more than %d bytes",
                           SPN_ARG(exec->command), OUTPUT_BYTES);
    int shown = end == PROCESS_SIGNALLED ? -1 : code; /* as Go has it */
    if (shown)
        return spn_err_set(err, SPN_UNAUTHORIZED,
                           "exec: executable " SPN_FMT " failed with exit code %d",
                           SPN_ARG(exec->command), shown);
    return 0;
}

int exec_plugin_run(const struct spn_config *cfg, struct spn_text ca, struct spn_arena *a,
                    struct exec_credential *ret, struct spn_err *err)
{
    const struct spn_exec *exec = cfg->exec;
    bool is_interactive;
    int r = check_version(exec, err);
    if (r < 0)
        return r;
    r = find_interactive(exec, &is_interactive, err);
    if (r < 0)
        return r;
    struct str info = exec_info(arena_in(a), cfg, ca, is_interactive);
    struct process p = { .argv = arguments(arena_in(a), exec),
                         .envp = variables(arena_in(a), exec, info),
                         .has_terminal = is_interactive,
                         .max_bytes = OUTPUT_BYTES,
                         .max_ms = is_interactive ? INTERACTIVE_MS : ALONE_MS };
    autobuf out = { 0 };
    int code = 0;
    enum process_end end = process_run(&p, &out, &code);
    r = report_end(arena_in(a), exec, end, code, err);
    if (r < 0)
        return r;
    return exec_plugin_read(exec, text_out(buf_str(&out)), a, ret, err);
}
