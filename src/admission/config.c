#include "admission/config.h"

#include <stdlib.h>
#include <string.h>

#include "admission/plugins.h"
#include "api/words.h"
#include "base/file.h"
#include "base/idiom.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/yaml.h"
#include "base/banned.h"

enum { CONFIG_FILE_BYTES = 1 << 20 };

struct admission_config {
    struct arena arena;
    struct admission_options options;
    void *configured[ADMISSION_PLUGINS_MAX];
};

/* Plugins that upstream lets read a file, and why it is not read here. */
static const struct {
    struct str name;
    const char *why;
} unread[] = {
    { STR("ImagePolicyWebhook"), "there is no such webhook here; a ValidatingWebhookConfiguration "
                                 "can refuse images" },
    { STR("MutatingAdmissionWebhook"), "kubeConfigFile is not supported" },
    { STR("ValidatingAdmissionWebhook"), "kubeConfigFile is not supported" },
};

/* ---- Trees ---- */

int admission_config_fields(const struct value *obj, struct str where, const struct str *fields,
                            size_t n, struct err *err)
{
    if (!value_is(obj, VALUE_OBJECT))
        return err_set(err, ERR_INVALID, STR_FMT " must be an object", STR_ARG(where));
    value_each_field (f, obj)
        if (!words_have(f->key, fields, n))
            return err_set(err, ERR_INVALID,
                           "strict decoding error: unknown field \"" STR_FMT "%s" STR_FMT "\"",
                           STR_ARG(where), where.n ? "." : "", STR_ARG(f->key));
    return 0;
}

static int check_type(const struct value *tree, const struct admission_form *form, struct err *err)
{
    struct str kind = value_text(tree, "kind"), version = value_text(tree, "apiVersion");
    autobuf text = { 0 };
    if (str_eq(kind, form->kind) && str_eq(version, form->version))
        return 0;
    if (kind.n && version.n)
        return err_set(err, ERR_INVALID,
                       "no kind \"" STR_FMT "\" is registered for version \"" STR_FMT "\"",
                       STR_ARG(kind), STR_ARG(version));
    json_write(&text, tree);
    return err_set(err, ERR_INVALID, "Object '%s' is missing in '" STR_FMT "'",
                   kind.n ? "apiVersion" : "Kind", STR_ARG(buf_str(&text)));
}

int admission_config_check(const struct value *tree, const struct admission_form *form,
                           struct err *err)
{
    enum { TYPE = 2 };
    int r = check_type(tree, form, err);
    if (r < 0)
        return r;
    struct str *known = arena_array(err->arena, struct str, form->n + TYPE);
    known[0] = STR("apiVersion");
    known[1] = STR("kind");
    for (size_t i = 0; i < form->n; i++)
        known[TYPE + i] = form->fields[i];
    return admission_config_fields(tree, STR(""), known, form->n + TYPE, err);
}

/* ---- Files ---- */

static int read_tree(struct arena *a, const char *path, struct value *ret, struct err *err)
{
    struct str twice = { 0 };
    const struct yaml_options opt = { .ret_duplicate = &twice };
    autobuf bytes = { 0 };
    int r = file_read(path, CONFIG_FILE_BYTES, &bytes, err);
    if (r < 0)
        return r;
    r = yaml_read(a, buf_str(&bytes), &opt, ret, err);
    if (r < 0)
        return err_wrap(err, "%s", path);
    if (twice.n)
        return err_set(err, ERR_INVALID,
                       "%s: strict decoding error: duplicate field \"" STR_FMT "\"", path,
                       STR_ARG(twice));
    return 0;
}

/* A path that a file names is seen from the folder of that file. */
static const char *path_beside(struct arena *a, const char *file, struct str path)
{
    const char *slash = strrchr(file, '/');
    if (str_starts(path, STR("/")) || !slash)
        return str_cstr(a, path);
    struct str dir = { file, (size_t)(slash - file) };
    return str_cstr(a, arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(dir), STR_ARG(path)));
}

/* ---- The list of plugins ---- */

struct named {
    struct str name;
    struct value tree;
};

/* What the file says, one for each plugin that it names. */
struct reading {
    struct arena *arena;
    const char *file;
    struct named *named;
    size_t n;
};

static bool is_plugin(struct str name)
{
    for (size_t i = 0; admission_plugin_at(i); i++)
        if (str_eq(str_of(admission_plugin_at(i)->name), name))
            return true;
    return false;
}

static bool may_read(struct str name)
{
    for (size_t i = 0; admission_plugin_at(i); i++)
        if (admission_plugin_at(i)->configure && str_eq(str_of(admission_plugin_at(i)->name), name))
            return true;
    return false;
}

static int check_name(const struct reading *rd, struct str name, struct err *err)
{
    if (!is_plugin(name))
        return err_set(err, ERR_INVALID, "unknown admission plugin: " STR_FMT, STR_ARG(name));
    for (size_t i = 0; i < rd->n; i++)
        if (str_eq(rd->named[i].name, name))
            return err_set(err, ERR_INVALID, "the admission plugin " STR_FMT " is configured twice",
                           STR_ARG(name));
    for (size_t i = 0; i < ARRAY_LEN(unread); i++)
        if (str_eq(unread[i].name, name))
            return err_set(err, ERR_INVALID, "the admission plugin " STR_FMT ": %s", STR_ARG(name),
                           unread[i].why);
    if (!may_read(name))
        return err_set(err, ERR_INVALID, "the admission plugin " STR_FMT " takes no configuration",
                       STR_ARG(name));
    return 0;
}

static int read_plugin(struct reading *rd, const struct value *item, size_t i, struct err *err)
{
    static const struct str fields[] = { STR("name"), STR("path"), STR("configuration") };
    const struct value *inside = value_get(item, STR("configuration"));
    struct str path = value_text(item, "path");
    struct named *to = &rd->named[rd->n];
    int r = admission_config_fields(item, arena_printf(rd->arena, "plugins[%zu]", i), WORDS(fields),
                                    err);
    if (r < 0)
        return r;
    to->name = value_text(item, "name");
    r = check_name(rd, to->name, err);
    if (r < 0)
        return r;
    bool has_tree = inside && !value_is(inside, VALUE_NULL);
    if (!has_tree && !path.n)
        return 0;
    rd->n++;
    to->tree = has_tree ? value_borrow(inside) : value_null();
    return has_tree ? 0
                    : read_tree(rd->arena, path_beside(rd->arena, rd->file, path), &to->tree, err);
}

/* Before there were AdmissionConfigurations the whole file was PodNodeSelector's. */
static bool is_old(const struct value *doc)
{
    return !value_text(doc, "kind").n && value_get(doc, STR("podNodeSelectorPluginConfig"));
}

static int read_plugins(struct reading *rd, struct err *err)
{
    static const struct str fields[] = { STR("plugins") };
    static const struct admission_form now = { STR("apiserver.config.k8s.io/v1"),
                                               STR("AdmissionConfiguration"), WORDS(fields) },
                                       before = { STR("apiserver.k8s.io/v1alpha1"),
                                                  STR("AdmissionConfiguration"), WORDS(fields) };
    struct value doc;
    int r = read_tree(rd->arena, rd->file, &doc, err);
    if (r < 0)
        return r;
    if (is_old(&doc)) {
        rd->named = arena_new(rd->arena, struct named);
        rd->named[rd->n++] = (struct named){ STR("PodNodeSelector"), doc };
        return 0;
    }
    bool is_before = str_eq(value_text(&doc, "apiVersion"), before.version);
    r = admission_config_check(&doc, is_before ? &before : &now, err);
    if (r < 0)
        return r;
    const struct value *list = value_get(&doc, STR("plugins"));
    rd->named = arena_array(rd->arena, struct named, value_is(list, VALUE_ARRAY) ? list->n + 1 : 1);
    size_t i = 0;
    value_each_item (item, list) {
        r = read_plugin(rd, item, i++, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- All of it ---- */

static int configure(struct admission_config *c, const struct reading *rd, size_t i,
                     struct err *err)
{
    const struct admission_plugin *plugin = admission_plugin_at(i);
    const struct value *tree = NULL;
    for (size_t k = 0; k < rd->n; k++)
        if (str_eq(rd->named[k].name, str_of(plugin->name)))
            tree = &rd->named[k].tree;
    int r = plugin->configure(&c->arena, tree, &c->configured[i], err);
    return r < 0 ? err_wrap(err, "couldn't init admission plugin \"%s\"", plugin->name) : 0;
}

static int load(struct admission_config *c, const struct admission_choice *choice, struct err *err)
{
    struct reading rd = { .arena = &c->arena, .file = c->options.file };
    int r = rd.file ? read_plugins(&rd, err) : 0;
    if (r < 0)
        return err_wrap(err, "failed to read plugin config");
    for (size_t i = 0; admission_plugin_at(i); i++) {
        bool is_told = admission_plugin_at(i)->configure && admission_is_chosen(i, choice);
        r = is_told ? configure(c, &rd, i, err) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

int admission_config_load(const struct admission_options *opt,
                          const struct admission_choice *choice, struct admission_config **ret,
                          struct err *err)
{
    struct admission_config *c = mem_new(struct admission_config);
    arena_init(&c->arena);
    c->options = *opt;
    int r = load(c, choice, err);
    if (r < 0)
        c = admission_config_free(c);
    else
        *ret = c;
    return r;
}

struct admission_config *admission_config_free(struct admission_config *c)
{
    if (!c)
        return NULL;
    for (size_t i = 0; admission_plugin_at(i); i++)
        if (c->configured[i] && admission_plugin_at(i)->unconfigure)
            admission_plugin_at(i)->unconfigure(c->configured[i]);
    arena_done(&c->arena);
    free(c);
    return NULL;
}

void *admission_configured(const struct admission_request *req)
{
    return req->config ? req->config->configured[req->plugin] : NULL;
}

const struct admission_options *admission_options_of(const struct admission_request *req)
{
    return req->config ? &req->config->options : NULL;
}
