#include "client/config/kubeconfig.h"

#include "base/base64.h"
#include "base/idiom.h"
#include "base/yaml.h"
#include "client/bridge.h"
#include "base/banned.h"

enum field_type { FIELD_TEXT, FIELD_PATH, FIELD_BOOL, FIELD_BASE64, FIELD_TEXTS };

struct field {
    const char *key;
    enum field_type type;
    size_t offset;
};

/* Where one reads, for messages. */
struct entry {
    struct arena *arena;
    struct str folder;
    const char *what; /* "cluster" */
    struct str name;
    struct spn_err *err;
};

/* ---- Fields ---- */

static int wrong(const struct entry *e, const char *key, const char *why)
{
    return spn_err_set(e->err, SPN_MALFORMED, "%s of %s \"" STR_FMT "\": %s", key, e->what,
                       STR_ARG(e->name), why);
}

static int read_text(const struct entry *e, const char *key, const struct value *v,
                     struct spn_text *ret)
{
    if (!value_is(v, VALUE_STRING))
        return wrong(e, key, "it must be a string");
    *ret = text_out(arena_str(e->arena, value_str(v)));
    return 0;
}

static int read_path(const struct entry *e, const char *key, const struct value *v,
                     struct spn_text *ret)
{
    int r = read_text(e, key, v, ret);
    if (r < 0 || !ret->n || ret->p[0] == '/')
        return r;
    *ret = text_out(arena_printf(e->arena, STR_FMT "/" SPN_FMT, STR_ARG(e->folder), SPN_ARG(*ret)));
    return 0;
}

static int read_bool(const struct entry *e, const char *key, const struct value *v, bool *ret)
{
    if (!value_is(v, VALUE_BOOL))
        return wrong(e, key, "it must be true or false");
    *ret = v->b;
    return 0;
}

/* Line ends inside of it are passed over, as Go does. */
static int read_base64(const struct entry *e, const char *key, const struct value *v,
                       struct spn_text *ret)
{
    if (!value_is(v, VALUE_STRING))
        return wrong(e, key, "it must be a string");
    struct str s = value_str(v);
    autobuf text = { 0 };
    autobuf bytes = { 0 };
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '\n' && s.p[i] != '\r')
            buf_byte(&text, s.p[i]);
    if (!base64_decode(&bytes, buf_str(&text)))
        return wrong(e, key, "illegal base64 data");
    *ret = text_out(arena_str(e->arena, buf_str(&bytes)));
    return 0;
}

static int read_texts(const struct entry *e, const char *key, const struct value *v,
                      struct spn_texts *ret)
{
    if (!value_is(v, VALUE_ARRAY))
        return wrong(e, key, "it must be a list");
    struct spn_text *items = arena_array(e->arena, struct spn_text, v->n);
    size_t n = 0;
    value_each_item (item, v) {
        int r = read_text(e, key, item, &items[n++]);
        if (r < 0)
            return r;
    }
    *ret = (struct spn_texts){ items, n };
    return 0;
}

static int read_field(const struct entry *e, const struct field *f, const struct value *v,
                      void *place)
{
    switch (f->type) {
    case FIELD_TEXT:
        return read_text(e, f->key, v, place);
    case FIELD_PATH:
        return read_path(e, f->key, v, place);
    case FIELD_BOOL:
        return read_bool(e, f->key, v, place);
    case FIELD_BASE64:
        return read_base64(e, f->key, v, place);
    case FIELD_TEXTS:
        return read_texts(e, f->key, v, place);
    }
    return 0;
}

static const struct value *get_some(const struct value *obj, const char *key)
{
    const struct value *v = value_get(obj, str_of(key));
    return value_is(v, VALUE_NULL) ? NULL : v;
}

static int read_fields(const struct entry *e, const struct field *fields, size_t n,
                       const struct value *obj, void *ret)
{
    if (obj && !value_is(obj, VALUE_OBJECT) && !value_is(obj, VALUE_NULL))
        return wrong(e, "the content", "it must be an object");
    for (size_t i = 0; i < n; i++) {
        const struct value *v = get_some(obj, fields[i].key);
        int r = v ? read_field(e, &fields[i], v, (char *)ret + fields[i].offset) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- Clusters and contexts ---- */

#define CLUSTER(key, type, member)                       \
    {                                                    \
        key, type, offsetof(struct kube_cluster, member) \
    }
static const struct field cluster_fields[] = {
    CLUSTER("server", FIELD_TEXT, server),
    CLUSTER("tls-server-name", FIELD_TEXT, tls_server_name),
    CLUSTER("insecure-skip-tls-verify", FIELD_BOOL, insecure),
    CLUSTER("certificate-authority", FIELD_PATH, ca_file),
    CLUSTER("certificate-authority-data", FIELD_BASE64, ca_data),
    CLUSTER("proxy-url", FIELD_TEXT, proxy_url),
    CLUSTER("disable-compression", FIELD_BOOL, disable_compression),
};

#define CONTEXT(key, member)                                   \
    {                                                          \
        key, FIELD_TEXT, offsetof(struct kube_context, member) \
    }
static const struct field context_fields[] = {
    CONTEXT("cluster", cluster),
    CONTEXT("user", user),
    CONTEXT("namespace", ns),
};

static const struct spn_value *find_exec_config(const struct entry *e, const struct value *cluster)
{
    value_each_item (extension, value_get(cluster, STR("extensions"))) {
        if (!str_eq(value_text(extension, "name"), STR("client.authentication.k8s.io/exec")))
            continue;
        const struct value *v = get_some(extension, "extension");
        struct value *copy = arena_new(e->arena, struct value);
        *copy = v ? value_clone(e->arena, v) : value_null();
        return value_out(copy);
    }
    return NULL;
}

static int read_cluster(const struct entry *e, const struct value *v, void *place)
{
    struct kube_cluster *ret = place;
    ret->exec_config = find_exec_config(e, v);
    return read_fields(e, cluster_fields, ARRAY_LEN(cluster_fields), v, ret);
}

static int read_context(const struct entry *e, const struct value *v, void *ret)
{
    return read_fields(e, context_fields, ARRAY_LEN(context_fields), v, ret);
}

/* ---- Users ---- */

#define USER(key, type, member)                       \
    {                                                 \
        key, type, offsetof(struct kube_user, member) \
    }
static const struct field user_fields[] = {
    USER("client-certificate", FIELD_PATH, cert_file),
    USER("client-certificate-data", FIELD_BASE64, cert_data),
    USER("client-key", FIELD_PATH, key_file),
    USER("client-key-data", FIELD_BASE64, key_data),
    USER("token", FIELD_TEXT, token),
    USER("tokenFile", FIELD_PATH, token_file),
    USER("username", FIELD_TEXT, username),
    USER("password", FIELD_TEXT, password),
    USER("as", FIELD_TEXT, as.user),
    USER("as-uid", FIELD_TEXT, as.uid),
    USER("as-groups", FIELD_TEXTS, as.groups),
};

#define EXEC(key, type, member)                      \
    {                                                \
        key, type, offsetof(struct spn_exec, member) \
    }
static const struct field exec_fields[] = {
    EXEC("command", FIELD_TEXT, command),
    EXEC("apiVersion", FIELD_TEXT, api_version),
    EXEC("installHint", FIELD_TEXT, install_hint),
    EXEC("interactiveMode", FIELD_TEXT, interactive_mode),
    EXEC("args", FIELD_TEXTS, args),
    EXEC("provideClusterInfo", FIELD_BOOL, provide_cluster_info),
};

#define PAIR(key, member)                                  \
    {                                                      \
        key, FIELD_TEXT, offsetof(struct spn_pair, member) \
    }
static const struct field pair_fields[] = { PAIR("name", name), PAIR("value", value) };

static int read_extra(const struct entry *e, const struct value *v, struct spn_impersonation *ret)
{
    if (!value_is(v, VALUE_OBJECT))
        return wrong(e, "as-user-extra", "it must be an object");
    struct spn_extra *extra = arena_array(e->arena, struct spn_extra, v->n);
    size_t n = 0;
    value_each_field (f, v) {
        extra[n].key = text_out(arena_str(e->arena, f->key));
        int r = read_texts(e, "as-user-extra", &f->val, &extra[n++].values);
        if (r < 0)
            return r;
    }
    ret->extra = extra;
    ret->n_extra = n;
    return 0;
}

static int read_env(const struct entry *e, const struct value *v, struct spn_exec *ret)
{
    if (!value_is(v, VALUE_ARRAY))
        return wrong(e, "env", "it must be a list");
    struct spn_pair *pairs = arena_array(e->arena, struct spn_pair, v->n);
    size_t n = 0;
    value_each_item (item, v) {
        int r = read_fields(e, pair_fields, ARRAY_LEN(pair_fields), item, &pairs[n++]);
        if (r < 0)
            return r;
    }
    ret->env = pairs;
    ret->n_env = n;
    return 0;
}

/* A command without a slash is looked for in $PATH. */
static int read_command(const struct entry *e, const struct value *v, struct spn_exec *exec)
{
    if (str_find(str_in(exec->command), '/') < 0)
        return 0;
    return read_path(e, "command", value_get(v, STR("command")), &exec->command);
}

static int read_exec(const struct entry *e, const struct value *v, struct spn_exec **ret)
{
    struct spn_exec *exec = arena_new(e->arena, struct spn_exec);
    int r = read_fields(e, exec_fields, ARRAY_LEN(exec_fields), v, exec);
    if (r < 0)
        return r;
    const struct value *env = get_some(v, "env");
    r = env ? read_env(e, env, exec) : 0;
    if (r < 0)
        return r;
    bool is_beta = str_eq(str_in(exec->api_version), STR("client.authentication.k8s.io/v1beta1"));
    if (is_beta && !exec->interactive_mode.n)
        exec->interactive_mode = SPN_TEXT("IfAvailable");
    *ret = exec;
    return read_command(e, v, exec);
}

static int read_user(const struct entry *e, const struct value *v, void *place)
{
    struct kube_user *ret = place;
    int r = read_fields(e, user_fields, ARRAY_LEN(user_fields), v, ret);
    if (r < 0)
        return r;
    const struct value *provider = get_some(v, "auth-provider");
    if (provider)
        ret->auth_provider = text_out(
            arena_printf(e->arena, "\"" STR_FMT "\"", STR_ARG(value_text(provider, "name"))));
    const struct value *extra = get_some(v, "as-user-extra"), *exec = get_some(v, "exec");
    r = extra ? read_extra(e, extra, &ret->as) : 0;
    if (r < 0)
        return r;
    return exec ? read_exec(e, exec, &ret->exec) : 0;
}

/* ---- Lists of entries ---- */

/* Every entry begins with its name. */
struct list_type {
    const char *key, *what;
    size_t size;
    int (*read)(const struct entry *e, const struct value *v, void *ret);
};

static const struct list_type clusters = { "clusters", "cluster", sizeof(struct kube_cluster),
                                           read_cluster };
static const struct list_type users = { "users", "user", sizeof(struct kube_user), read_user };
static const struct list_type contexts = { "contexts", "context", sizeof(struct kube_context),
                                           read_context };

static const void *find_named(const struct list_type *t, struct kube_list list,
                              struct spn_text name)
{
    const char *items = list.items;
    for (size_t i = 0; i < list.n; i++)
        if (spn_text_eq(*(const struct spn_text *)(items + i * t->size), name))
            return items + i * t->size;
    return NULL;
}

static int read_entry(struct entry *e, const struct list_type *t, const struct value *item,
                      void *ret)
{
    const struct value *name = get_some(item, "name");
    e->what = t->what;
    e->name = value_str(name);
    struct spn_text *copy = ret;
    *copy = (struct spn_text){ "", 0 };
    int r = name ? read_text(e, "name", name, copy) : 0;
    if (r < 0)
        return r;
    return t->read(e, get_some(item, t->what), ret);
}

static int read_list(struct entry *e, const struct list_type *t, const struct value *v,
                     struct kube_list *ret)
{
    struct kube_list list = { arena_zalloc(e->arena, v->n, t->size, alignof(max_align_t)), 0 };
    value_each_item (item, v) {
        struct spn_text *entry = (struct spn_text *)((char *)list.items + list.n * t->size);
        int r = read_entry(e, t, item, entry);
        if (r < 0)
            return r;
        if (find_named(t, list, *entry))
            return spn_err_set(e->err, SPN_MALFORMED, "duplicate name \"" SPN_FMT "\" in %s",
                               SPN_ARG(*entry), t->key);
        list.n++;
    }
    *ret = list;
    return 0;
}

/* Appends the entries whose names are not there yet. */
static void merge_list(struct arena *a, const struct list_type *t, struct kube_list *list,
                       struct kube_list more)
{
    char *all = arena_zalloc(a, list->n + more.n, t->size, alignof(max_align_t));
    size_t n = list->n;
    if (n)
        memcpy(all, list->items, n * t->size);
    for (size_t i = 0; i < more.n; i++) {
        const char *entry = (const char *)more.items + i * t->size;
        if (!find_named(t, *list, *(const struct spn_text *)entry))
            memcpy(all + n++ * t->size, entry, t->size);
    }
    *list = (struct kube_list){ all, n };
}

static int add_list(struct entry *e, const struct list_type *t, const struct value *document,
                    struct kube_list *list)
{
    const struct value *v = get_some(document, t->key);
    struct kube_list more = { 0 };
    if (!v)
        return 0;
    if (!value_is(v, VALUE_ARRAY))
        return spn_err_set(e->err, SPN_MALFORMED, "%s must be a list", t->key);
    if (v->n > KUBECONFIG_ENTRIES)
        return spn_err_set(e->err, SPN_MALFORMED, "%s has more than %d entries", t->key,
                           KUBECONFIG_ENTRIES);
    int r = read_list(e, t, v, &more);
    if (r < 0)
        return r;
    merge_list(e->arena, t, list, more);
    return 0;
}

static int check_kind(const struct value *v, struct spn_err *err)
{
    struct str kind = value_text(v, "kind"), version = value_text(v, "apiVersion");
    if ((kind.n && !str_eq(kind, STR("Config"))) || (version.n && !str_eq(version, STR("v1"))))
        return spn_err_set(err, SPN_MALFORMED,
                           "no kind \"" STR_FMT "\" is registered for version \"" STR_FMT "\"",
                           STR_ARG(kind), STR_ARG(version));
    return 0;
}

static int read_document(struct kubeconfig *k, const struct value *v, struct str folder,
                         struct spn_err *err)
{
    struct entry e = { .arena = k->arena, .folder = folder, .what = "the file", .err = err };
    int r = check_kind(v, err);
    if (r < 0)
        return r;
    r = add_list(&e, &clusters, v, &k->clusters);
    if (r < 0)
        return r;
    r = add_list(&e, &users, v, &k->users);
    if (r < 0)
        return r;
    r = add_list(&e, &contexts, v, &k->contexts);
    if (r < 0)
        return r;
    if (!k->current_context.n)
        k->current_context = text_out(arena_str(k->arena, value_text(v, "current-context")));
    return 0;
}

/* What comes behind the first document is not looked at, as kubectl does. */
static int read_first(struct arena *a, struct spn_text text, struct value *ret, struct err *err)
{
    struct yaml_stream *s = yaml_stream_new(a, str_in(text), NULL);
    int r = yaml_stream_next(s, ret, err);
    yaml_stream_free(s);
    return r < 0 ? r : 0;
}

int kubeconfig_add(struct kubeconfig *k, struct spn_text text, struct spn_text folder,
                   struct spn_err *err)
{
    struct value v = value_null();
    struct err why = ERR_INIT(k->arena);
    if (read_first(k->arena, text, &v, &why) < 0)
        return err_out(err, &why, SPN_MALFORMED);
    if (!value_is(&v, VALUE_OBJECT) && !value_is(&v, VALUE_NULL))
        return spn_err_set(err, SPN_MALFORMED, "it is no kubeconfig");
    value_drop_duplicates(k->arena, &v);
    return read_document(k, &v, str_in(folder), err);
}

const struct kube_cluster *kubeconfig_cluster(const struct kubeconfig *k, struct spn_text name)
{
    return find_named(&clusters, k->clusters, name);
}

const struct kube_user *kubeconfig_user(const struct kubeconfig *k, struct spn_text name)
{
    return find_named(&users, k->users, name);
}

const struct kube_context *kubeconfig_context(const struct kubeconfig *k, struct spn_text name)
{
    return find_named(&contexts, k->contexts, name);
}
