/* What a container is made of: pod_container_config() and what goes with it. */
#include <errno.h>

#include "base/json.h"
#include "node/pod/container_mounts.h"
#include "node/pod/cri_tree.h"
#include "node/pod/mount_point.h"
#include "node/pod/pod_amount.h"
#include "node/pod/pod_config.h"
#include "node/pod/pod_env.h"
#include "node/pod/pod_security.h"
#include "node/pod/pod_spec.h"
#include "base/banned.h"

struct str pod_log_folder(struct arena *a, const struct node_facts *node, const struct value *pod)
{
    return arena_printf(a, STR_FMT "/" STR_FMT "_" STR_FMT "_" STR_FMT, STR_ARG(node->log_dir),
                        STR_ARG(pod_ns(pod)), STR_ARG(pod_name(pod)), STR_ARG(pod_uid(pod)));
}

struct str pod_folder(struct arena *a, const struct node_facts *node, struct str uid)
{
    return arena_printf(a, STR_FMT "/pods/" STR_FMT, STR_ARG(node->root_dir), STR_ARG(uid));
}

struct str pod_container_hash(struct arena *a, const struct value *spec)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    struct str parts[] = { value_text(spec, "image"), STR("\n"), value_text(spec, "name") };
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < parts[i].n; k++)
            hash = (hash ^ (unsigned char)parts[i].p[k]) * 16777619u;
    return arena_printf(a, "%x", hash);
}

struct value pod_container_resources(struct arena *a, const struct node_facts *node,
                                     const struct value *pod, const struct value *container)
{
    return container_resources(a, node, pod, container);
}

/* ---- Names that the agent finds again ---- */

static struct value labels(struct arena *a, const struct value *pod, const struct value *spec)
{
    struct value v = value_object();
    value_put_new(a, &v, STR("io.kubernetes.container.name"),
                  value_string(value_text(spec, "name")));
    value_put_new(a, &v, STR("io.kubernetes.pod.name"), value_string(pod_name(pod)));
    value_put_new(a, &v, STR("io.kubernetes.pod.namespace"), value_string(pod_ns(pod)));
    value_put_new(a, &v, STR("io.kubernetes.pod.uid"), value_string(pod_uid(pod)));
    return v;
}

static void note_int(struct arena *a, struct value *notes, struct str key, const struct value *n)
{
    int64_t i;
    if (value_to_int(n, &i))
        value_put_new(a, notes, key, value_string(arena_printf(a, "%lld", (long long)i)));
}

static void note_json(struct arena *a, struct value *notes, struct str key, const struct value *v)
{
    autobuf text = { 0 };
    if (!v || !v->n)
        return;
    json_write(&text, v);
    value_put_new(a, notes, key, value_string(arena_str(a, buf_str(&text))));
}

static struct value annotations(struct arena *a, const struct value *pod,
                                const struct container_case *c)
{
    struct value v = value_object();
    value_put_new(a, &v, STR("io.kubernetes.container.hash"),
                  value_string(pod_container_hash(a, c->spec)));
    value_put_new(a, &v, STR("io.kubernetes.container.restartCount"),
                  value_string(arena_printf(a, "%u", c->attempt)));
    value_put_new(a, &v, STR("io.kubernetes.container.terminationMessagePath"),
                  value_string(value_text(c->spec, "terminationMessagePath")));
    value_put_new(a, &v, STR("io.kubernetes.container.terminationMessagePolicy"),
                  value_string(value_text(c->spec, "terminationMessagePolicy")));
    note_int(a, &v, STR("io.kubernetes.pod.deletionGracePeriod"),
             value_dig(pod, "metadata", "deletionGracePeriodSeconds"));
    note_int(a, &v, STR("io.kubernetes.pod.terminationGracePeriod"),
             value_dig(pod, "spec", "terminationGracePeriodSeconds"));
    note_json(a, &v, STR("io.kubernetes.container.preStopHandler"),
              value_dig(c->spec, "lifecycle", "preStop"));
    note_json(a, &v, STR("io.kubernetes.container.ports"), value_get(c->spec, STR("ports")));
    return v;
}

/* ---- What it runs ---- */

/* "SIGRTMIN+3" is SIGNAL_SIGRTMINPLUS3 to CRI. */
static struct str stop_signal(struct arena *a, const struct value *spec)
{
    autobuf out = { 0 };
    struct str name = value_str(value_dig(spec, "lifecycle", "stopSignal"));
    if (!name.n)
        return name;
    buf_str_add(&out, STR("SIGNAL_"));
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] == '+')
            buf_str_add(&out, STR("PLUS"));
        else if (name.p[i] == '-')
            buf_str_add(&out, STR("MINUS"));
        else
            buf_byte(&out, name.p[i]);
    }
    return arena_str(a, buf_str(&out));
}

static struct value expanded(struct arena *a, struct pod_env *env, const struct value *list)
{
    struct value v = value_array();
    value_each_item (it, list)
        value_put_item(a, &v, value_string(expand(a, value_str(it), pod_env_lookup, env)));
    return v;
}

static struct value env_list(struct arena *a, const struct pod_env *env)
{
    struct value list = value_array();
    for (size_t i = 0; i < env->n; i++) {
        struct value one = value_object();
        tree_text(a, &one, STR("key"), env->items[i]->name);
        tree_text(a, &one, STR("value"), env->items[i]->value);
        value_put_item(a, &list, one);
    }
    return list;
}

static void put_program(struct arena *a, const struct container_case *c, struct pod_env *env,
                        struct value *v)
{
    struct value metadata = value_object(), image = value_object();
    struct str name = value_text(c->spec, "name");
    tree_text(a, &metadata, STR("name"), name);
    tree_int(a, &metadata, STR("attempt"), c->attempt);
    tree_text(a, &image, STR("image"), c->image);
    tree_text(a, &image, STR("user_specified_image"), value_text(c->spec, "image"));
    value_put_new(a, v, STR("metadata"), metadata);
    value_put_new(a, v, STR("image"), image);
    tree_some(a, v, STR("command"), expanded(a, env, value_get(c->spec, STR("command"))));
    tree_some(a, v, STR("args"), expanded(a, env, value_get(c->spec, STR("args"))));
    tree_text(a, v, STR("working_dir"), value_text(c->spec, "workingDir"));
    tree_some(a, v, STR("envs"), env_list(a, env));
    tree_text(a, v, STR("log_path"), arena_printf(a, STR_FMT "/%u.log", STR_ARG(name), c->attempt));
    tree_true(a, v, STR("stdin"), value_is_true(value_get(c->spec, STR("stdin"))));
    tree_true(a, v, STR("stdin_once"), value_is_true(value_get(c->spec, STR("stdinOnce"))));
    tree_true(a, v, STR("tty"), value_is_true(value_get(c->spec, STR("tty"))));
    tree_text(a, v, STR("stop_signal"), stop_signal(a, c->spec));
}

/* Ids of files are those of the pod's users, where it has its own. */
static void map_mounts(struct arena *a, const struct value *security, struct value *mounts)
{
    const struct value *users = value_dig(security, "namespace_options", "userns_options");
    const struct value *uids = value_get(users, STR("uids")), *gids = value_get(users, STR("gids"));
    for (size_t i = 0; uids && gids && i < mounts->n; i++) {
        struct value *mount = value_edit_at(a, mounts, i);
        value_put_new(a, mount, STR("uidMappings"), value_borrow(uids));
        value_put_new(a, mount, STR("gidMappings"), value_borrow(gids));
    }
}

static int put_linux(const struct pod_place *p, const struct container_case *c, struct arena *a,
                     struct value *mounts, struct value *v, struct err *err)
{
    struct value security, os = value_object();
    int r = container_security(p, c, a, &security, err);
    if (r < 0)
        return r;
    map_mounts(a, &security, mounts);
    value_put_new(a, &os, STR("resources"), container_resources(a, p->node, p->pod, c->spec));
    value_put_new(a, &os, STR("security_context"), security);
    value_put_new(a, v, STR("linux"), os);
    return 0;
}

static int make_folders(const struct pod_place *p, const struct container_case *c, struct arena *a,
                        struct err *err)
{
    struct str name = value_text(c->spec, "name");
    struct str logs = path_join(a, pod_log_folder(a, p->node, p->pod), name);
    if (mount_point_folders(a, pod_folder(a, p->node, pod_uid(p->pod)), 0750) < 0)
        return err_errno(err, errno, "make the folder of pod " STR_FMT,
                         STR_ARG(pod_describe(a, p->pod)));
    if (mount_point_folders(a, logs, 0755) < 0)
        return err_set(err, ERR_IO,
                       "create container log directory for container " STR_FMT
                       " failed: mkdir " STR_FMT ": " STR_FMT,
                       STR_ARG(name), STR_ARG(logs), STR_ARG(go_errno(a, errno)));
    return 0;
}

int pod_container_config(const struct pod_place *p, const struct container_case *c, struct arena *a,
                         struct value *ret, struct err *err)
{
    autoenv env = { 0 };
    struct value v = value_object(), mounts, devices;
    int r = make_folders(p, c, a, err);
    if (r < 0)
        return r;
    r = container_devices(p, c, a, &devices, err);
    if (r < 0)
        return r;
    r = pod_env_make(p, c->spec, a, &env, err);
    if (r < 0)
        return r;
    r = container_mounts(p, c, &env, a, &mounts, err);
    if (r < 0)
        return r;
    r = container_check_root(p, c, a, err);
    if (r < 0)
        return r;
    put_program(a, c, &env, &v);
    r = put_linux(p, c, a, &mounts, &v, err);
    if (r < 0)
        return r;
    tree_some(a, &v, STR("mounts"), mounts);
    tree_some(a, &v, STR("devices"), devices);
    value_put_new(a, &v, STR("labels"), labels(a, p->pod, c->spec));
    value_put_new(a, &v, STR("annotations"), annotations(a, p->pod, c));
    *ret = v;
    return 0;
}
