/* static_pods.c - pods from files of a folder, and their mirrors in the API. */
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "api/defaults/defaults.h"
#include "api/typed.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/yaml.h"
#include "client/bridge.h"
#include "net/crypto/digest.h"
#include "node/agent/agent_internal.h"
#include "base/banned.h"

enum { FILE_MAX = 10 << 20, UID_BYTES = 16, CALL_MS = 20000 };

#define HASH   "kubernetes.io/config.hash"
#define MIRROR "kubernetes.io/config.mirror"
#define SOURCE "kubernetes.io/config.source"
#define SEEN   "kubernetes.io/config.seen"

/* ---- One file ---- */

static struct str lower(struct arena *a, struct str s)
{
    char *p = arena_dup(a, s.p, s.n);
    for (size_t i = 0; i < s.n; i++)
        if (p[i] >= 'A' && p[i] <= 'Z')
            p[i] |= 0x20;
    return (struct str){ p, s.n };
}

/* By what the file says, where it is and on which node. */
static struct str uid_of(struct agent *ag, const struct value *pod, const char *path,
                         struct arena *a)
{
    autobuf text = { 0 };
    unsigned char sum[DIGEST_SHA256_BYTES];
    struct str own = pod_uid(pod);
    if (own.n)
        return own;
    json_write(&text, pod);
    buf_printf(&text, "host:" STR_FMT "file:%s", STR_ARG(ag->parts.node->name), path);
    digest_sha256(buf_str(&text), sum);
    autobuf hex = { 0 };
    for (size_t i = 0; i < UID_BYTES; i++)
        buf_printf(&hex, "%02x", sum[i]);
    return arena_str(a, buf_str(&hex));
}

static void tolerate_all(struct arena *a, struct value *spec)
{
    struct value t = value_object();
    value_put_new(a, &t, STR("operator"), value_string(STR("Exists")));
    value_put_new(a, &t, STR("effect"), value_string(STR("NoExecute")));
    struct value *list = value_edit(a, spec, STR("tolerations"));
    if (!value_is(list, VALUE_ARRAY))
        list = value_set(a, spec, STR("tolerations"), value_array());
    value_each_item (it, list)
        if (value_eq(it, &t))
            return;
    value_put_item(a, list, t);
}

static void complete(struct agent *ag, const char *path, struct arena *a, struct value *pod)
{
    struct str node = ag->parts.node->name, uid = uid_of(ag, pod, path, a);
    struct value *meta = value_ensure(a, pod, STR("metadata"));
    struct str name = lower(a, node);
    char now[CLOCK_TEXT_BYTES];
    value_put(a, meta, STR("uid"), value_string(uid));
    value_put(a, meta, STR("name"),
              value_string(arena_printf(a, STR_FMT "-" STR_FMT, STR_ARG(value_text(meta, "name")),
                                        STR_ARG(name))));
    if (!value_text(meta, "namespace").n)
        value_put(a, meta, STR("namespace"), value_string(STR("default")));
    value_drop(a, meta, STR("creationTimestamp"));
    struct value *notes = value_ensure(a, meta, STR("annotations"));
    value_put(a, notes, STR(HASH), value_string(uid));
    value_put(a, notes, STR(SOURCE), value_string(STR("file")));
    value_put(a, notes, STR(SEEN),
              value_string(arena_str(a, clock_format(agent_wall_ns(), true, now))));
    struct value *spec = value_ensure(a, pod, STR("spec"));
    value_put(a, spec, STR("nodeName"), value_string(node));
    tolerate_all(a, spec);
    struct value status = value_object();
    value_put_new(a, &status, STR("phase"), value_string(STR("Pending")));
    value_put(a, pod, STR("status"), status);
}

static int read_pod(struct agent *ag, const char *path, struct arena *a, struct value *ret,
                    struct err *err)
{
    autobuf text = { 0 };
    struct value raw;
    int r = file_read(path, FILE_MAX, &text, err);
    if (r < 0)
        return r;
    r = yaml_read(a, buf_str(&text), NULL, &raw, err);
    if (r < 0)
        return r;
    const struct kind_type *t = kind_find(STR("v1"), STR("Pod"));
    if (!str_eq(value_text(&raw, "kind"), STR("Pod")) || !t)
        return err_set(err, ERR_INVALID, "%s: couldn't parse as pod, please check config file",
                       path);
    r = typed_read(a, t, &raw, NULL, ret, err);
    if (r < 0)
        return r;
    if (!pod_name(ret).n)
        return err_set(err, ERR_INVALID, "invalid pod: name is needed for the pod");
    defaults_apply(a, t, ret);
    complete(ag, path, a, ret);
    return 0;
}

/* ---- The folder ---- */

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_shown(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

/* Whether that very pod is run already. */
static bool is_known(struct agent *ag, struct str uid)
{
    (void)pthread_mutex_lock(&ag->lock);
    const struct agent_pod *p = pods_find(ag, uid);
    bool is = p && p->is_static && !p->is_removed;
    (void)pthread_mutex_unlock(&ag->lock);
    return is;
}

static void read_files(struct agent *ag, struct arena *a, struct map *found)
{
    struct dirent **names = NULL;
    const char *folder = str_cstr(a, ag->opt.manifests);
    int n = scandir(folder, &names, is_shown, by_name);
    for (int i = 0; i < n; i++) {
        struct err err = ERR_INIT(a);
        struct stat st;
        struct value pod;
        const char *path = str_cstr(a, arena_printf(a, "%s/%s", folder, names[i]->d_name));
        free(names[i]);
        if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
            continue;
        if (read_pod(ag, path, a, &pod, &err) < 0) {
            log_warn("a manifest cannot be used", LOG_CSTR("path", path), LOG_ERR(&err));
            continue;
        }
        struct str uid = pod_uid(&pod);
        (void)map_set(found, uid, ag);
        if (!is_known(ag, uid))
            pods_set_static(ag, uid, &pod);
    }
    free(names);
}

static bool is_static_there(struct agent *ag, struct str uid)
{
    (void)pthread_mutex_lock(&ag->lock);
    const struct agent_pod *p = pods_find(ag, uid);
    bool is = p && p->is_static && !p->is_removed;
    (void)pthread_mutex_unlock(&ag->lock);
    return is;
}

void static_pods_read(struct agent *ag)
{
    struct arena a;
    struct map found = { 0 };
    size_t n;
    arena_init(&a);
    if (ag->opt.manifests.n)
        read_files(ag, &a, &found);
    struct str *uids = pods_uids(ag, &a, &n);
    for (size_t i = 0; i < n; i++)
        if (is_static_there(ag, uids[i]) && !map_get(&found, uids[i]))
            pods_set_static(ag, uids[i], NULL);
    map_done(&found);
    (void)pthread_mutex_lock(&ag->lock);
    ag->has_files = true;
    (void)pthread_mutex_unlock(&ag->lock);
    arena_done(&a);
}

/* ---- Mirrors ---- */

static const struct value *node_of(struct agent *ag, struct arena *a)
{
    struct spn_object *o =
        spn_cache_get(spn_informer_cache(ag->node_informer), text_out(ag->parts.node->name));
    const struct value *v = o ? value_in(spn_object_value(o, arena_out(a))) : NULL;
    spn_object_unref(o);
    return v;
}

static struct value owner_of(const struct value *node, struct arena *a)
{
    struct value owner = value_object(), list = value_array();
    value_put_new(a, &owner, STR("apiVersion"), value_string(STR("v1")));
    value_put_new(a, &owner, STR("kind"), value_string(STR("Node")));
    value_put_new(a, &owner, STR("name"), value_string(pod_name(node)));
    value_put_new(a, &owner, STR("uid"), value_string(pod_uid(node)));
    value_put_new(a, &owner, STR("controller"), value_bool(true));
    value_put_item(a, &list, owner);
    return list;
}

static bool create_mirror(struct agent *ag, const struct value *pod, struct arena *a)
{
    const struct value *node = node_of(ag, a);
    if (!node || pod_is_deleting(node))
        return false;
    struct value copy = value_clone(a, pod);
    struct value *meta = value_edit(a, &copy, STR("metadata"));
    struct value *notes = value_ensure(a, meta, STR("annotations"));
    value_put(a, notes, STR(MIRROR), value_string(value_text(notes, HASH)));
    value_put(a, meta, STR("ownerReferences"), owner_of(node, a));
    value_drop(a, meta, STR("uid"));
    value_drop(a, meta, STR("resourceVersion"));
    value_drop(a, &copy, STR("status"));
    struct spn_err err = { 0 };
    const struct spn_call how = { .timeout_ms = CALL_MS };
    struct spn_target at = SPN_AT("", "v1", "pods", "", "");
    at.ns = text_out(pod_ns(pod));
    int r =
        spn_client_create(ag->parts.client, &at, value_out(&copy), &how, arena_out(a), NULL, &err);
    if (r < 0 && r != -SPN_EXISTS)
        log_warn("a mirror pod could not be made", LOG_STR("pod", pod_name(pod)),
                 LOG_CSTR("err", err.message));
    return r == 0;
}

static bool delete_mirror(struct agent *ag, struct str ns, struct str name, struct str uid,
                          struct arena *a)
{
    static const int64_t now = 0;
    struct spn_err err = { 0 };
    const struct spn_call how = { .timeout_ms = CALL_MS };
    const struct spn_delete what = { .grace_seconds = &now, .uid = text_out(uid) };
    struct spn_target at = SPN_AT("", "v1", "pods", "", "");
    at.ns = text_out(ns);
    at.name = text_out(name);
    int r = spn_client_delete(ag->parts.client, &at, &what, &how, arena_out(a), NULL, &err);
    if (r < 0 && r != -SPN_NOT_FOUND)
        log_warn("a mirror pod could not be removed", LOG_STR("pod", name),
                 LOG_CSTR("err", err.message));
    return r == 0;
}

bool mirror_reconcile(struct agent *ag, const struct value *pod, struct arena *a)
{
    (void)pthread_mutex_lock(&ag->lock);
    struct spn_object *o = pods_mirror(ag, pod_ns(pod), pod_name(pod));
    (void)pthread_mutex_unlock(&ag->lock);
    const struct value *mirror = o ? value_in(spn_object_value(o, arena_out(a))) : NULL;
    spn_object_unref(o);
    struct str hash = value_str(value_dig(pod, "metadata", "annotations", HASH));
    struct str mirrored = value_str(value_dig(mirror, "metadata", "annotations", MIRROR));
    if (mirror && !pod_is_deleting(mirror) && str_eq(hash, mirrored))
        return false;
    if (mirror && !delete_mirror(ag, pod_ns(pod), pod_name(pod), pod_uid(mirror), a))
        return false;
    return create_mirror(ag, pod, a);
}

/* Whether another static pod has taken the name. */
static bool is_taken(struct agent *ag, struct str ns, struct str name)
{
    size_t pos = 0;
    struct str uid;
    void *at;
    bool is = false;
    (void)pthread_mutex_lock(&ag->lock);
    while (map_next(&ag->pods, &pos, &uid, &at)) {
        const struct agent_pod *p = at;
        is |= p->is_static && !p->is_removed && p->obj &&
              str_eq(str_in(spn_object_namespace(p->obj)), ns) &&
              str_eq(str_in(spn_object_name(p->obj)), name);
    }
    (void)pthread_mutex_unlock(&ag->lock);
    return is;
}

void mirror_remove(struct agent *ag, struct str ns, struct str name, struct arena *a)
{
    if (is_taken(ag, ns, name))
        return;
    (void)pthread_mutex_lock(&ag->lock);
    struct spn_object *o = pods_mirror(ag, ns, name);
    (void)pthread_mutex_unlock(&ag->lock);
    if (o)
        (void)delete_mirror(ag, ns, name, str_in(spn_object_uid(o)), a);
    spn_object_unref(o);
}
