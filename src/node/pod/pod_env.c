#include "node/pod/pod_env.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "api/ip.h"
#include "base/base64.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "node/pod/env_file.h"
#include "node/pod/pod_fields.h"
#include "node/pod/pod_place.h"
#include "node/pod/pod_spec.h"
#include "node/pod/sub_path.h"
#include "base/banned.h"

struct env_maker {
    const struct pod_place *p;
    const struct value *container;
    struct pod_env *env;
    struct arena *arena;
    struct err *err;
};

/* ---- The set of variables ---- */

void pod_env_done(struct pod_env *env)
{
    map_done(&env->by_name);
}

void pod_env_set(struct pod_env *env, struct str name, struct str value, bool is_service)
{
    struct env_var *var = map_get(&env->by_name, name);
    if (var) {
        if (is_service && !var->is_service)
            return;
        var->value = value;
        var->is_service = is_service;
        return;
    }
    if (env->n == env->cap) {
        const size_t cap = env->cap ? 2 * env->cap : 32;
        env->items = arena_grow(env->arena, env->items, env->n * sizeof(*env->items),
                                cap * sizeof(*env->items), alignof(struct env_var *));
        env->cap = cap;
    }
    var = arena_new(env->arena, struct env_var);
    *var = (struct env_var){ name, value, is_service };
    env->items[env->n++] = var;
    (void)map_set(&env->by_name, name, var);
}

bool pod_env_lookup(void *arg, struct str name, struct str *ret)
{
    const struct pod_env *env = arg;
    const struct env_var *var = map_get(&env->by_name, name);
    if (!var)
        return false;
    *ret = var->value;
    return true;
}

/* ---- Services ---- */

static int add_services(struct env_maker *m, struct str ns, bool only_own)
{
    struct value list;
    const struct pod_objects *objects = m->p->objects;
    int r = objects->services(objects->arg, ns, m->arena, &list, m->err);
    if (r == -ERR_UNAVAILABLE && pod_is_static(m->p->pod)) {
        err_clear(m->err);
        return 0;
    }
    if (r == -ERR_UNAVAILABLE) {
        err_clear(m->err);
        return err_set(m->err, ERR_UNAVAILABLE,
                       "services have not yet been read at least once, cannot construct envvars");
    }
    if (r < 0)
        return r;
    value_each_item (service, &list)
        if (!only_own ||
            str_eq(value_str(value_dig(service, "metadata", "name")), STR("kubernetes")))
            pod_env_add_service(m->env, service);
    return 0;
}

static int add_all_services(struct env_maker *m)
{
    struct str ns = pod_ns(m->p->pod);
    const struct value *links = value_dig(m->p->pod, "spec", "enableServiceLinks");
    if (!value_is(links, VALUE_BOOL))
        return err_set(m->err, ERR_INVALID,
                       "nil pod.spec.enableServiceLinks encountered, cannot construct envvars");
    int r = add_services(m, STR("default"), !(links->b && str_eq(ns, STR("default"))));
    if (r < 0 || !links->b || str_eq(ns, STR("default")))
        return r;
    return add_services(m, ns, false);
}

/* ---- Config maps and secrets ---- */

static bool is_optional(const struct value *ref)
{
    return value_is_true(value_get(ref, STR("optional")));
}

/* 1: it is not there, and need not be. */
static int get_object(struct env_maker *m, const char *plural, const struct value *ref,
                      struct value *ret)
{
    const struct pod_objects *objects = m->p->objects;
    int r = objects->get(objects->arg, plural, pod_ns(m->p->pod), value_text(ref, "name"), m->arena,
                         ret, m->err);
    if (r != -ERR_NOT_FOUND || !is_optional(ref))
        return r;
    err_clear(m->err);
    return 1;
}

static struct str decoded(struct arena *a, struct str text)
{
    autobuf out = { 0 };
    return base64_decode(&out, text) ? arena_str(a, buf_str(&out)) : STR("");
}

static int add_from(struct env_maker *m, const struct value *from)
{
    struct value object;
    const struct value *map = value_get(from, STR("configMapRef")),
                       *secret = value_get(from, STR("secretRef"));
    struct str prefix = value_text(from, "prefix");
    if (!map && !secret)
        return 0;
    int r = get_object(m, map ? "configmaps" : "secrets", map ? map : secret, &object);
    if (r != 0)
        return r < 0 ? r : 0;
    value_each_field (f, value_get(&object, STR("data"))) {
        struct str name =
            prefix.n ? arena_printf(m->arena, STR_FMT STR_FMT, STR_ARG(prefix), STR_ARG(f->key))
                     : f->key;
        struct str value = value_str(&f->val);
        pod_env_set(m->env, name, map ? value : decoded(m->arena, value), false);
    }
    return 0;
}

/* 1: the variable is left out. */
static int key_value(struct env_maker *m, const struct value *ref, bool is_secret, struct str *ret)
{
    struct value object;
    struct str key = value_text(ref, "key");
    int r = get_object(m, is_secret ? "secrets" : "configmaps", ref, &object);
    if (r != 0)
        return r;
    const struct value *value = value_get(value_get(&object, STR("data")), key);
    if (!value && is_optional(ref))
        return 1;
    if (!value)
        return err_set(m->err, ERR_NOT_FOUND,
                       "couldn't find key " STR_FMT " in %s " STR_FMT "/" STR_FMT, STR_ARG(key),
                       is_secret ? "Secret" : "ConfigMap", STR_ARG(pod_ns(m->p->pod)),
                       STR_ARG(value_text(ref, "name")));
    *ret = is_secret ? decoded(m->arena, value_str(value)) : value_str(value);
    return 0;
}

/* ---- Fields, files ---- */

static struct str join_ips(struct arena *a, const struct str *ips, size_t n)
{
    struct str all = STR("");
    for (size_t i = 0; i < n; i++)
        all = arena_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(all), i ? "," : "", STR_ARG(ips[i]));
    return all;
}

static int field_value(struct env_maker *m, const struct value *ref, struct str *ret)
{
    const struct pod_place *p = m->p;
    struct str path = value_text(ref, "fieldPath"), version = value_text(ref, "apiVersion");
    struct str ips[POD_IPS_MAX];
    const size_t n_ips = pod_ips_sorted(p, ips);
    if (version.n && !str_eq(version, STR("v1")))
        return err_set(m->err, ERR_INVALID, "unsupported pod version: " STR_FMT, STR_ARG(version));
    if (str_eq(path, STR("spec.nodeName")))
        *ret = value_str(value_dig(p->pod, "spec", "nodeName"));
    else if (str_eq(path, STR("spec.serviceAccountName")))
        *ret = value_str(value_dig(p->pod, "spec", "serviceAccountName"));
    else if (str_eq(path, STR("status.hostIP")))
        *ret = join_ips(m->arena, p->node->host_ips, p->node->n_host_ips ? 1 : 0);
    else if (str_eq(path, STR("status.hostIPs")))
        *ret = join_ips(m->arena, p->node->host_ips, p->node->n_host_ips);
    else if (str_eq(path, STR("status.podIP")))
        *ret = join_ips(m->arena, ips, n_ips ? 1 : 0);
    else if (str_eq(path, STR("status.podIPs")))
        *ret = join_ips(m->arena, ips, n_ips);
    else
        return pod_field(m->arena, p->pod, path, ret, m->err);
    return 0;
}

/* 1: the variable is left out. */
static int file_value(struct env_maker *m, const struct value *ref, struct str *ret)
{
    struct str volume = value_text(ref, "volumeName"), path = value_text(ref, "path");
    const struct pod_volume *v = pod_volume_find(m->p, volume);
    autobuf text = { 0 };
    if (!v || !v->path.n)
        return err_set(m->err, ERR_NOT_FOUND,
                       "cannot find the volume " STR_FMT " referenced by FileKeyRef",
                       STR_ARG(go_quote(m->arena, volume)));
    struct err why = ERR_INIT(m->arena);
    autoclose int fd = sub_path_open_inside(m->arena, v->path, path);
    if (fd < 0 || sub_path_read(fd, LIMIT_ENV_FILE_BYTES, &text) < 0 ||
        env_file_get(m->arena, buf_str(&text), value_text(ref, "key"), ret, &why) < 0)
        return err_set(m->err, ERR_INVALID, "couldn't parse env file");
    if (ret->n)
        return 0;
    if (is_optional(ref))
        return 1;
    return err_set(m->err, ERR_NOT_FOUND,
                   "environment variable key " STR_FMT " not found in file " STR_FMT,
                   STR_ARG(go_quote(m->arena, value_text(ref, "key"))),
                   STR_ARG(go_quote(m->arena, path_join(m->arena, v->path, path))));
}

/* 1: the variable is left out. */
static int value_from(struct env_maker *m, const struct value *from, struct str *ret)
{
    const struct value *ref;
    if ((ref = value_get(from, STR("fieldRef"))))
        return field_value(m, ref, ret);
    if ((ref = value_get(from, STR("resourceFieldRef"))))
        return pod_resource_field(m->arena, m->p->pod, m->container, ref, &m->p->node->allocatable,
                                  ret, m->err);
    if ((ref = value_get(from, STR("configMapKeyRef"))))
        return key_value(m, ref, false, ret);
    if ((ref = value_get(from, STR("secretKeyRef"))))
        return key_value(m, ref, true, ret);
    if ((ref = value_get(from, STR("fileKeyRef"))))
        return file_value(m, ref, ret);
    *ret = STR("");
    return 0;
}

static int add_own(struct env_maker *m, const struct value *var)
{
    struct str value = value_text(var, "value");
    const struct value *from = value_get(var, STR("valueFrom"));
    int r = 0;
    if (value.n)
        value = expand(m->arena, value, pod_env_lookup, m->env);
    else if (from)
        r = value_from(m, from, &value);
    if (r == 0)
        pod_env_set(m->env, value_text(var, "name"), value, false);
    return r < 0 ? r : 0;
}

int pod_env_make(const struct pod_place *p, const struct value *container, struct arena *a,
                 struct pod_env *ret, struct err *err)
{
    struct env_maker m = { p, container, ret, a, err };
    *ret = (struct pod_env){ .arena = a };
    int r = add_all_services(&m);
    if (r < 0)
        return r;
    value_each_item (from, value_get(container, STR("envFrom"))) {
        r = add_from(&m, from);
        if (r < 0)
            return r;
    }
    value_each_item (var, value_get(container, STR("env"))) {
        r = add_own(&m, var);
        if (r < 0)
            return r;
    }
    return 0;
}
