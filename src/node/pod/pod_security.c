#include "node/pod/pod_security.h"

#include <unistd.h>

#include "api/keys.h"
#include "node/pod/cri_tree.h"
#include "node/pod/pod_spec.h"
#include "node/pod/user_namespace.h"
#include "base/banned.h"

static const struct str masked_paths[] = {
    STR("/proc/asound"),     STR("/proc/acpi"),        STR("/proc/interrupts"),
    STR("/proc/kcore"),      STR("/proc/keys"),        STR("/proc/latency_stats"),
    STR("/proc/timer_list"), STR("/proc/timer_stats"), STR("/proc/sched_debug"),
    STR("/proc/scsi"),       STR("/sys/firmware"),     STR("/sys/devices/virtual/powercap"),
};
static const struct str readonly_paths[] = {
    STR("/proc/bus"),           STR("/proc/fs"), STR("/proc/irq"), STR("/proc/sys"),
    STR("/proc/sysrq-trigger"),
};

/* ---- The user ---- */

/* The image's user: a number, or a name. One without is root. */
struct image_user {
    bool is_number;
    int64_t uid;
    struct str name;
};

static struct image_user image_user(const struct container_case *c)
{
    struct image_user u = { .is_number = true };
    if (value_to_int(value_get(c->image_status, STR("uid")), &u.uid))
        return u;
    u.name = value_text(c->image_status, "username");
    u.is_number = u.name.n == 0;
    return u;
}

static int root_fault(struct err *err, struct arena *a, const struct pod_place *p,
                      const struct container_case *c, struct str why)
{
    return err_set(err, ERR_INVALID, STR_FMT " (pod: \"" STR_FMT "\", container: " STR_FMT ")",
                   STR_ARG(why), STR_ARG(pod_describe(a, p->pod)),
                   STR_ARG(value_text(c->spec, "name")));
}

int container_check_root(const struct pod_place *p, const struct container_case *c, struct arena *a,
                         struct err *err)
{
    int64_t user;
    if (!value_is_true(pod_security(p->pod, c->spec, STR("runAsNonRoot"))))
        return 0;
    if (value_to_int(pod_security(p->pod, c->spec, STR("runAsUser")), &user))
        return user != 0
                   ? 0
                   : root_fault(err, a, p, c, STR("container's runAsUser breaks non-root policy"));
    const struct image_user image = image_user(c);
    if (!image.is_number)
        return root_fault(err, a, p, c,
                          arena_printf(a,
                                       "container has runAsNonRoot and image has non-numeric user "
                                       "(" STR_FMT "), cannot verify user is non-root",
                                       STR_ARG(image.name)));
    if (image.uid == 0)
        return root_fault(err, a, p, c,
                          STR("container has runAsNonRoot and image will run as root"));
    if (image.uid > 0 && image.uid <= INT32_MAX)
        return 0;
    return root_fault(err, a, p, c,
                      arena_printf(a,
                                   "container has runAsNonRoot and image has an invalid user id "
                                   "(%lld). (Must be 1-(%d)): must be between 0 and %d, inclusive",
                                   (long long)image.uid, INT32_MAX, INT32_MAX));
}

static void put_user(struct arena *a, const struct pod_place *p, const struct container_case *c,
                     struct value *sc)
{
    int64_t id;
    if (value_to_int(pod_security(p->pod, c->spec, STR("runAsUser")), &id)) {
        tree_wrapped(a, sc, STR("run_as_user"), id);
    } else {
        const struct image_user image = image_user(c);
        if (image.is_number)
            tree_wrapped(a, sc, STR("run_as_user"), image.uid);
        tree_text(a, sc, STR("run_as_username"), image.name);
    }
    if (value_to_int(pod_security(p->pod, c->spec, STR("runAsGroup")), &id))
        tree_wrapped(a, sc, STR("run_as_group"), id);
}

static int put_groups(struct arena *a, const struct value *pod, struct value *sc, struct err *err)
{
    int64_t id;
    struct value groups = value_array();
    const struct value *all = value_dig(pod, "spec", "securityContext");
    if (pod_fs_group(pod, &id))
        value_put_item(a, &groups, value_int(id));
    value_each_item (it, value_get(all, STR("supplementalGroups")))
        if (value_to_int(it, &id))
            value_put_item(a, &groups, value_int(id));
    tree_some(a, sc, STR("supplemental_groups"), groups);
    struct str policy = value_text(all, "supplementalGroupsPolicy");
    if (policy.n && !str_eq(policy, STR("Merge")) && !str_eq(policy, STR("Strict")))
        return err_set(err, ERR_INVALID, "unsupported supplementalGroupsPolicy: " STR_FMT,
                       STR_ARG(policy));
    tree_text(a, sc, STR("supplemental_groups_policy"), policy);
    return 0;
}

/* ---- Profiles ---- */

static struct value profile(struct arena *a, struct str type, struct str ref)
{
    struct value v = value_object();
    tree_text(a, &v, STR("profile_type"), type);
    tree_text(a, &v, STR("localhost_ref"), ref);
    return v;
}

static int put_seccomp(struct arena *a, const struct pod_place *p, const struct value *container,
                       struct value *sc, struct err *err)
{
    const struct value *wanted = pod_security(p->pod, container, STR("seccompProfile"));
    struct str type = value_text(wanted, "type"), ref = value_text(wanted, "localhostProfile");
    if (str_eq(type, STR("Localhost")) && !ref.n)
        return err_set(err, ERR_INVALID,
                       "localhostProfile must be set if seccompProfile type is Localhost.");
    if (str_eq(type, STR("Localhost")))
        ref = path_join(a, p->node->seccomp_dir, ref);
    else if (!str_eq(type, STR("RuntimeDefault")))
        type = STR("Unconfined");
    value_put_new(a, sc, STR("seccomp"),
                  profile(a, type, str_eq(type, STR("Localhost")) ? ref : STR("")));
    return 0;
}

/* An old annotation's text as a type and a name. */
static void read_apparmor_note(struct str note, struct str *type, struct str *ref)
{
    *type = STR("");
    if (str_eq(note, STR("runtime/default")))
        *type = STR("RuntimeDefault");
    else if (str_eq(note, STR("unconfined")))
        *type = STR("Unconfined");
    else if (str_starts(note, STR("localhost/"))) {
        *type = STR("Localhost");
        *ref = str_skip(note, STR("localhost/").n);
    }
}

static int put_apparmor(struct arena *a, const struct pod_place *p, const struct value *container,
                        struct value *sc, struct err *err)
{
    const struct value *own = value_dig(container, "securityContext", "appArmorProfile"),
                       *all = value_dig(p->pod, "spec", "securityContext", "appArmorProfile");
    struct str key = arena_printf(a, KEY_BETA_APPARMOR_CONTAINER STR_FMT,
                                  STR_ARG(value_text(container, "name")));
    struct str note = value_str(value_get(value_dig(p->pod, "metadata", "annotations"), key));
    const struct value *wanted = own ? own : all;
    struct str type = value_text(wanted, "type"), ref = value_text(wanted, "localhostProfile");
    if (!own && note.n)
        read_apparmor_note(note, &type, &ref);
    if (!type.n)
        return 0;
    if (str_eq(type, STR("Localhost")) && !ref.n)
        return err_set(err, ERR_INVALID, "missing localhost apparmor profile name");
    if (!str_eq(type, STR("Localhost")) && !str_eq(type, STR("RuntimeDefault")) &&
        !str_eq(type, STR("Unconfined")))
        return err_set(err, ERR_INVALID, "unknown apparmor profile type: " STR_FMT,
                       STR_ARG(go_quote(a, type)));
    value_put_new(a, sc, STR("apparmor"),
                  profile(a, type, str_eq(type, STR("Localhost")) ? ref : STR("")));
    return 0;
}

static void put_selinux(struct arena *a, const struct value *options, struct value *sc)
{
    static const struct str fields[] = { STR("user"), STR("role"), STR("type"), STR("level") };
    struct value v = value_object();
    if (!value_is(options, VALUE_OBJECT))
        return;
    for (size_t i = 0; i < 4; i++)
        tree_text(a, &v, fields[i], value_str(value_get(options, fields[i])));
    value_put_new(a, sc, STR("selinux_options"), v);
}

static void put_capabilities(struct arena *a, const struct value *wanted, struct value *sc)
{
    struct value v = value_object();
    if (!value_is(wanted, VALUE_OBJECT))
        return;
    tree_some(a, &v, STR("add_capabilities"), tree_texts(a, value_get(wanted, STR("add"))));
    tree_some(a, &v, STR("drop_capabilities"), tree_texts(a, value_get(wanted, STR("drop"))));
    value_put_new(a, sc, STR("capabilities"), v);
}

/* ---- /proc ---- */

/* Heat tells on what other containers do. */
static void mask_cpus(struct arena *a, struct value *list)
{
    enum { CPUS_MAX = 8192 };
    const long n = sysconf(_SC_NPROCESSORS_CONF);
    for (long i = 0; i < n && i < CPUS_MAX; i++) {
        struct str path = arena_printf(a, "/sys/devices/system/cpu/cpu%ld/thermal_throttle", i);
        if (access(str_cstr(a, path), F_OK) == 0)
            value_put_item(a, list, value_string(path));
    }
}

static void put_proc(struct arena *a, const struct value *container, struct value *sc)
{
    struct value masked = value_array(), readonly = value_array();
    if (str_eq(value_str(value_dig(container, "securityContext", "procMount")), STR("Unmasked")))
        return;
    for (size_t i = 0; i < sizeof(masked_paths) / sizeof(masked_paths[0]); i++)
        value_put_item(a, &masked, value_string(masked_paths[i]));
    mask_cpus(a, &masked);
    for (size_t i = 0; i < sizeof(readonly_paths) / sizeof(readonly_paths[0]); i++)
        value_put_item(a, &readonly, value_string(readonly_paths[i]));
    value_put_new(a, sc, STR("masked_paths"), masked);
    value_put_new(a, sc, STR("readonly_paths"), readonly);
}

/* ---- Namespaces ---- */

static int put_namespaces(const struct pod_place *p, struct str target, struct arena *a,
                          struct value *sc, struct err *err)
{
    const struct value *spec = pod_spec(p->pod);
    struct value v = value_object(), users;
    const bool is_host_net = value_is_true(value_get(spec, STR("hostNetwork")));
    const bool is_host_ipc = value_is_true(value_get(spec, STR("hostIPC")));
    struct str pid = value_is_true(value_get(spec, STR("hostPID"))) ? STR("NODE")
                     : value_is_true(value_get(spec, STR("shareProcessNamespace")))
                         ? STR("POD")
                         : STR("CONTAINER");
    int r = user_namespace(p, a, &users, err);
    if (r < 0)
        return r;
    if (target.n && str_eq(pid, STR("CONTAINER"))) {
        pid = STR("TARGET");
        tree_text(a, &v, STR("target_id"), target);
    }
    tree_text(a, &v, STR("network"), is_host_net ? STR("NODE") : STR("POD"));
    tree_text(a, &v, STR("pid"), pid);
    tree_text(a, &v, STR("ipc"), is_host_ipc ? STR("NODE") : STR("POD"));
    value_put_new(a, &v, STR("userns_options"), users);
    value_put_new(a, sc, STR("namespace_options"), v);
    return 0;
}

/* ---- All of it ---- */

static void put_flags(struct arena *a, const struct value *own, struct value *sc)
{
    const struct value *escalation = value_get(own, STR("allowPrivilegeEscalation"));
    tree_true(a, sc, STR("privileged"), value_is_true(value_get(own, STR("privileged"))));
    tree_true(a, sc, STR("readonly_rootfs"),
              value_is_true(value_get(own, STR("readOnlyRootFilesystem"))));
    tree_true(a, sc, STR("no_new_privs"), value_is(escalation, VALUE_BOOL) && !escalation->b);
}

int container_security(const struct pod_place *p, const struct container_case *c, struct arena *a,
                       struct value *ret, struct err *err)
{
    const struct value *own = value_get(c->spec, STR("securityContext"));
    struct value sc = value_object();
    put_capabilities(a, value_get(own, STR("capabilities")), &sc);
    put_flags(a, own, &sc);
    put_selinux(a, pod_security(p->pod, c->spec, STR("seLinuxOptions")), &sc);
    put_user(a, p, c, &sc);
    put_proc(a, c->spec, &sc);
    int r = put_groups(a, p->pod, &sc, err);
    if (r < 0)
        return r;
    r = put_seccomp(a, p, c->spec, &sc, err);
    if (r < 0)
        return r;
    r = put_apparmor(a, p, c->spec, &sc, err);
    if (r < 0)
        return r;
    r = put_namespaces(p, c->target_id, a, &sc, err);
    if (r < 0)
        return r;
    *ret = sc;
    return 0;
}

static bool is_not_privileged(void *arg, const struct value *container)
{
    (void)arg;
    return !value_is_true(value_dig(container, "securityContext", "privileged"));
}

int sandbox_security(const struct pod_place *p, struct arena *a, struct value *ret, struct err *err)
{
    int64_t id;
    const struct value *all = value_dig(p->pod, "spec", "securityContext");
    struct value sc = value_object();
    tree_true(a, &sc, STR("privileged"), !pod_each_container(p->pod, is_not_privileged, NULL));
    value_put_new(a, &sc, STR("seccomp"), profile(a, STR("RuntimeDefault"), STR("")));
    if (value_to_int(value_get(all, STR("runAsUser")), &id))
        tree_wrapped(a, &sc, STR("run_as_user"), id);
    if (value_to_int(value_get(all, STR("runAsGroup")), &id))
        tree_wrapped(a, &sc, STR("run_as_group"), id);
    put_selinux(a, value_get(all, STR("seLinuxOptions")), &sc);
    int r = put_groups(a, p->pod, &sc, err);
    if (r < 0)
        return r;
    r = put_namespaces(p, STR(""), a, &sc, err);
    if (r < 0)
        return r;
    *ret = sc;
    return 0;
}
