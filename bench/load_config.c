#include "bench/load_config.h"

#include <stdlib.h>

#include "base/base64.h"
#include "base/file.h"
#include "base/idiom.h"
#include "base/yaml.h"

#include "base/banned.h"

enum { FILE_MAX_BYTES = 4 << 20 };

/* ---- URLs ---- */

/* Cuts HOST or [HOST] off the front and leaves ":PORT" or nothing. */
static bool cut_host(struct str *rest, struct str *ret)
{
    if (rest->n && rest->p[0] == '[') {
        *rest = str_skip(*rest, 1);
        *ret = str_cut(rest, ']');
        return rest->p != NULL;
    }
    ptrdiff_t colon = str_find(*rest, ':');
    size_t n = colon < 0 ? rest->n : (size_t)colon;
    *ret = str_take(*rest, n);
    *rest = str_skip(*rest, n);
    return true;
}

static int read_url(struct arena *a, struct str url, struct load_config *c, struct err *err)
{
    struct str scheme = STR("https://"), whole = url;
    if (!str_starts(url, scheme))
        return err_set(err, ERR_BAD_REQUEST, STR_FMT ": only https:// is spoken", STR_ARG(url));
    url = str_skip(url, scheme.n);
    ptrdiff_t slash = str_find(url, '/');
    struct str at = slash < 0 ? url : str_take(url, (size_t)slash), rest = at;
    uint64_t port = 443;
    if (!cut_host(&rest, &c->host) || c->host.n == 0 || (rest.n && rest.p[0] != ':') ||
        (rest.n && (!str_to_u64(str_skip(rest, 1), &port) || port == 0 || port > 65535)))
        return err_set(err, ERR_BAD_REQUEST, STR_FMT ": not https://HOST:PORT", STR_ARG(whole));
    c->host = arena_str(a, c->host);
    c->port = arena_printf(a, "%u", (unsigned)port);
    c->path = slash < 0 ? STR("/") : arena_str(a, str_skip(url, (size_t)slash));
    c->authority = arena_str(a, at);
    c->server_name = c->host;
    return 0;
}

int load_config_url(struct arena *a, struct str url, struct load_config *ret, struct err *err)
{
    struct load_config c = { .insecure = true };
    int r = read_url(a, url, &c, err);
    if (r == 0)
        *ret = c;
    return r;
}

/* ---- The kubeconfig ---- */

/* The entry called `name` of the list `list`, and in it the object `inner`. */
static int find_named(const struct value *config, const char *list, const char *inner,
                      struct str name, const struct value **ret, struct err *err)
{
    value_each_item (it, value_get(config, str_of(list))) {
        if (str_eq(value_str(value_get(it, STR("name"))), name)) {
            *ret = value_get(it, str_of(inner));
            return 0;
        }
    }
    return err_set(err, ERR_NOT_FOUND, "no \"" STR_FMT "\" in %s", STR_ARG(name), list);
}

static int read_named_file(struct arena *a, struct str dir, struct str path, struct str *ret,
                           struct err *err)
{
    autobuf bytes = { 0 };
    const char *full = path.p[0] == '/'
                           ? str_cstr(a, path)
                           : arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(dir), STR_ARG(path)).p;
    int r = file_read(full, FILE_MAX_BYTES, &bytes, err);
    if (r == 0)
        *ret = arena_str(a, buf_str(&bytes));
    return r;
}

/* A credential stands in the config itself, as NAME-data, or in the file that NAME says. */
static int read_material(struct arena *a, struct str dir, const struct value *from,
                         const char *name, struct str *ret, struct err *err)
{
    struct str inline_key = arena_printf(a, "%s-data", name);
    struct str data = value_str(value_get(from, inline_key));
    if (data.n) {
        autobuf bytes = { 0 };
        if (!base64_decode(&bytes, data))
            return err_set(err, ERR_BAD_REQUEST, STR_FMT " is not base64", STR_ARG(inline_key));
        *ret = arena_str(a, buf_str(&bytes));
        return 0;
    }
    struct str path = value_str(value_get(from, str_of(name)));
    return path.n ? read_named_file(a, dir, path, ret, err) : 0;
}

static int read_cluster(struct arena *a, struct str dir, const struct value *cluster,
                        struct load_config *c, struct err *err)
{
    if (value_str(value_get(cluster, STR("proxy-url"))).n)
        return err_set(err, ERR_UNIMPLEMENTED, "proxy-url is not supported");
    int r = read_url(a, value_str(value_get(cluster, STR("server"))), c, err);
    if (r < 0)
        return r;
    if (!str_eq(c->path, STR("/")))
        return err_set(err, ERR_UNIMPLEMENTED, "a server below a path is not supported");
    c->path = (struct str){ 0 };
    struct str name = value_str(value_get(cluster, STR("tls-server-name")));
    if (name.n)
        c->server_name = arena_str(a, name);
    const struct value *insecure = value_get(cluster, STR("insecure-skip-tls-verify"));
    c->insecure = value_is(insecure, VALUE_BOOL) && insecure->b;
    return read_material(a, dir, cluster, "certificate-authority", &c->ca_pem, err);
}

static int read_user(struct arena *a, struct str dir, const struct value *user,
                     struct load_config *c, struct err *err)
{
    static const char *const refused[] = { "exec", "auth-provider", "username" };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (value_get(user, str_of(refused[i])))
            return err_set(err, ERR_UNIMPLEMENTED, "a user with %s is not supported", refused[i]);
    int r = read_material(a, dir, user, "client-certificate", &c->cert_pem, err);
    if (r == 0)
        r = read_material(a, dir, user, "client-key", &c->key_pem, err);
    if (r < 0)
        return r;
    struct str file = value_str(value_get(user, STR("tokenFile")));
    c->token = value_str(value_get(user, STR("token")));
    if (file.n)
        r = read_named_file(a, dir, file, &c->token, err);
    c->token = str_trim(c->token);
    return r;
}

static int read_context(struct arena *a, struct str dir, const struct value *config,
                        struct load_config *c, struct err *err)
{
    const struct value *context = NULL, *cluster = NULL, *user = NULL;
    struct str current = value_str(value_get(config, STR("current-context")));
    int r = find_named(config, "contexts", "context", current, &context, err);
    if (r == 0)
        r = find_named(config, "clusters", "cluster", value_str(value_get(context, STR("cluster"))),
                       &cluster, err);
    if (r == 0)
        r = read_cluster(a, dir, cluster, c, err);
    struct str user_name = value_str(value_get(context, STR("user")));
    if (r < 0 || user_name.n == 0)
        return r;
    r = find_named(config, "users", "user", user_name, &user, err);
    return r == 0 ? read_user(a, dir, user, c, err) : r;
}

static const char *default_path(struct arena *a)
{
    const char *path = getenv("KUBECONFIG"), *home = getenv("HOME");
    if (path && path[0])
        return path;
    return arena_printf(a, "%s/.kube/config", home ? home : "").p;
}

static struct str folder_of(struct str path)
{
    while (path.n && path.p[path.n - 1] != '/')
        path.n--;
    return path.n ? path : STR(".");
}

int load_config_read(struct arena *a, const char *path, struct load_config *ret, struct err *err)
{
    struct load_config c = { 0 };
    struct value config;
    autobuf text = { 0 };
    if (!path)
        path = default_path(a);
    int r = file_read(path, FILE_MAX_BYTES, &text, err);
    if (r == 0)
        r = yaml_read(a, buf_str(&text), NULL, &config, err);
    if (r == 0)
        r = read_context(a, folder_of(str_of(path)), &config, &c, err);
    if (r < 0)
        return err_wrap(err, "kubeconfig %s", path);
    *ret = c;
    return 0;
}
