#include "server/core/kubeconfig.h"

#include "base/base64.h"
#include "base/file.h"
#include "base/value.h"
#include "base/yaml.h"
#include "base/banned.h"

enum { FILE_MAX = 1 << 20 };

struct reader {
    struct arena *arena;
    struct str dir; /* of the file, with a slash at its end; or empty */
    struct err *err;
};

static int read_file(struct reader *r, const char *path, struct str *ret)
{
    autobuf text = { 0 };
    int e = file_read(path, FILE_MAX, &text, r->err);
    if (e < 0)
        return e;
    *ret = arena_str(r->arena, buf_str(&text));
    return 0;
}

/* KEY-data, which is base64, or else the file that KEY names. */
static int read_part(struct reader *r, const struct value *of, const char *key, struct str *ret)
{
    struct str name = value_str(value_get(of, str_of(key))),
               data = value_str(value_get(of, arena_printf(r->arena, "%s-data", key)));
    autobuf bytes = { 0 };
    if (data.n && !base64_decode(&bytes, data))
        return err_set(r->err, ERR_INVALID, "%s-data is not base64", key);
    if (data.n) {
        *ret = arena_str(r->arena, buf_str(&bytes));
        return 0;
    }
    if (!name.n)
        return 0;
    struct str dir = str_starts(name, STR("/")) ? STR("") : r->dir;
    return read_file(r, arena_printf(r->arena, STR_FMT STR_FMT, STR_ARG(dir), STR_ARG(name)).p,
                     ret);
}

/* The entry of that name, or the first one if no name is given. */
static const struct value *find(const struct value *config, const char *list, struct str name,
                                const char *what)
{
    const struct value *all = value_get(config, str_of(list));
    if (!name.n)
        return value_get(value_at(all, 0), str_of(what));
    value_each_item (it, all)
        if (str_eq(value_text(it, "name"), name))
            return value_get(it, str_of(what));
    return NULL;
}

static int read_token(struct reader *r, const struct value *user, struct str *ret)
{
    struct str token = value_text(user, "token"), name = value_text(user, "username");
    struct str file = value_text(user, "tokenFile");
    int e = file.n ? read_file(r, str_cstr(r->arena, file), &token) : 0;
    if (e < 0)
        return e;
    token = str_trim(token);
    if (token.n) {
        *ret = arena_printf(r->arena, "Bearer " STR_FMT, STR_ARG(token));
    } else if (name.n) {
        autobuf encoded = { 0 };
        base64_encode(&encoded, arena_printf(r->arena, STR_FMT ":" STR_FMT, STR_ARG(name),
                                             STR_ARG(value_text(user, "password"))));
        *ret = arena_printf(r->arena, "Basic " STR_FMT, STR_ARG(buf_str(&encoded)));
    }
    return 0;
}

static int read_user(struct reader *r, const struct value *user, struct kubeconfig *ret)
{
    int e = read_part(r, user, "client-certificate", &ret->cert_pem);
    if (e < 0)
        return e;
    e = read_part(r, user, "client-key", &ret->key_pem);
    return e < 0 ? e : read_token(r, user, &ret->authorization);
}

static int read_config(struct reader *r, const struct value *config, struct kubeconfig *ret)
{
    struct str current = value_text(config, "current-context");
    const struct value *context = find(config, "contexts", current, "context");
    if (current.n && !context)
        return err_set(r->err, ERR_INVALID, "there is no context " STR_FMT, STR_ARG(current));
    const struct value *cluster =
        find(config, "clusters", value_text(context, "cluster"), "cluster");
    ret->server = value_text(cluster, "server");
    ret->server_name = value_text(cluster, "tls-server-name");
    ret->insecure = value_is_true(value_get(cluster, STR("insecure-skip-tls-verify")));
    if (!str_starts(ret->server, STR("https://")) && !str_starts(ret->server, STR("http://")))
        return err_set(r->err, ERR_INVALID, "its cluster has no server");
    int e = read_part(r, cluster, "certificate-authority", &ret->ca_pem);
    return e < 0 ? e
                 : read_user(r, find(config, "users", value_text(context, "user"), "user"), ret);
}

static int read_all(struct reader *r, const char *path, struct kubeconfig *ret)
{
    struct str text;
    struct value config;
    int e = read_file(r, path, &text);
    if (e < 0)
        return e;
    e = yaml_read(r->arena, text, NULL, &config, r->err);
    return e < 0 ? e : read_config(r, &config, ret);
}

int kubeconfig_read(struct arena *a, const char *path, struct kubeconfig *ret, struct err *err)
{
    struct str all = str_of(path);
    struct reader r = { .arena = a, .err = err };
    for (size_t i = 0; i < all.n; i++)
        if (path[i] == '/')
            r.dir = str_take(all, i + 1);
    *ret = (struct kubeconfig){ 0 };
    int e = read_all(&r, path, ret);
    return e < 0 ? err_wrap(err, "%s", path) : 0;
}
