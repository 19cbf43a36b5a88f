/* Containers of all three sorts: ports, mounts, devices, restart and resize policies. */
#include "api/validate/pod/validate_pod.h"
#include "api/validate/validate_resource_list.h"
#include "base/idiom.h"
#include "base/banned.h"

/* ---- Ports ---- */

static void check_ports(struct field_errors *e, const struct field_path *path,
                        const struct value *ports)
{
    static const struct str protocols[] = { STR("SCTP"), STR("TCP"), STR("UDP") };
    autoset names;
    text_set_init(&names);
    size_t i = 0;
    value_each_item (it, ports) {
        const struct field_path *at = path_item(path, i++);
        struct str name = value_text(it, "name"), protocol = value_text(it, "protocol");
        int64_t port = validate_int(it, "containerPort"), host_port = validate_int(it, "hostPort");
        if (name.n && validate_port_name(e, path_at(at, "name"), name) &&
            !text_set_add(&names, name, it))
            fault_duplicate(e, path_at(at, "name"), name);
        if (port == 0)
            fault_required(e, path_at(at, "containerPort"), "");
        else
            (void)validate_port(e, path_at(at, "containerPort"), port);
        if (host_port)
            (void)validate_port(e, path_at(at, "hostPort"), host_port);
        if (validate_required(e, path_at(at, "protocol"), protocol))
            (void)validate_one_of(e, path_at(at, "protocol"), protocol, WORDS(protocols));
    }
}

/* Collects the host's ports of a container. */
static void check_host_ports(struct field_errors *e, const struct field_path *path,
                             const struct value *container, struct text_set *taken)
{
    size_t i = 0;
    value_each_item (it, value_get(container, STR("ports"))) {
        const struct field_path *at = path_item(path_at(path, "ports"), i++);
        int64_t port = validate_int(it, "hostPort");
        if (!port)
            continue;
        struct str key =
            arena_printf(e->arena, STR_FMT "/" STR_FMT "/%ld", STR_ARG(value_text(it, "protocol")),
                         STR_ARG(value_text(it, "hostIP")), (long)port);
        if (!text_set_add(taken, key, it))
            fault_duplicate(e, path_at(at, "hostPort"), key);
    }
}

/* ---- Mounts and devices ---- */

static void check_propagation(struct field_errors *e, const struct field_path *path,
                              const struct value *mode, const struct value *container)
{
    static const struct str modes[] = { STR("Bidirectional"), STR("HostToContainer"), STR("None") };
    (void)validate_one_of(e, path, value_str(mode), WORDS(modes));
    if (str_eq(value_str(mode), STR("Bidirectional")) &&
        !value_is_true(value_dig(container, "securityContext", "privileged")))
        fault_forbidden(
            e, path, "Bidirectional mount propagation is available only to privileged containers");
}

static void check_recursive(struct field_errors *e, const struct field_path *path,
                            const struct value *mode, const struct value *mount)
{
    static const struct str modes[] = { STR("Disabled"), STR("Enabled"), STR("IfPossible") };
    const struct value *propagation = validate_member(mount, "mountPropagation");
    if (!validate_one_of(e, path, value_str(mode), WORDS(modes)) ||
        str_eq(value_str(mode), modes[0]))
        return;
    if (!value_is_true(value_get(mount, STR("readOnly"))))
        fault_forbidden(e, path, "may only be specified when readOnly is true");
    if (propagation && !str_eq(value_str(propagation), STR("None")))
        fault_forbidden(e, path,
                        "may only be specified when mountPropagation is None or not specified");
}

static void check_mount_options(struct field_errors *e, const struct field_path *path,
                                const struct value *options, const struct value *volume)
{
    static const struct str known[] = { STR("nodev"), STR("noexec"), STR("nosuid") };
    autoset seen;
    text_set_init(&seen);
    size_t i = 0;
    value_each_item (it, options) {
        const struct field_path *at = path_item(path, i++);
        (void)validate_one_of(e, at, value_str(it), WORDS(known));
        if (!text_set_add(&seen, value_str(it), it))
            fault_duplicate(e, at, value_str(it));
    }
    if (validate_member(volume, "image"))
        fault_value(e, path, options, "bindMountOptions may not be used with image volumes");
}

/* What the mounts and the devices of a container take: names, and paths. */
struct attachments {
    struct text_set names, paths;
};

static void attachments_done(struct attachments *a)
{
    text_set_done(&a->names);
    text_set_done(&a->paths);
}

/* Of several with one name upstream remembers the path of the last. */
static void collect(struct attachments *a, const struct value *list, struct str path_name)
{
    text_set_init(&a->names);
    text_set_init(&a->paths);
    value_each_item (it, list) {
        (void)text_set_add(&a->names, value_text(it, "name"), it);
        (void)text_set_add(&a->paths, value_str(value_get(it, path_name)), it);
    }
}

/* Fields without an index in their path are so upstream. */
static void check_mount(struct field_errors *e, const struct field_path *path,
                        const struct field_path *at, const struct value *mount,
                        const struct value *container, const struct pod_scope *scope)
{
    struct str sub = value_text(mount, "subPath"), expr = value_text(mount, "subPathExpr");
    if (sub.n)
        (void)validate_descending_path(e, path_at(path, "subPath"), sub);
    if (expr.n) {
        if (sub.n)
            fault_text(e, path_at(at, "subPathExpr"), expr,
                       "subPathExpr and subPath are mutually exclusive");
        (void)validate_descending_path(e, path_at(path, "subPathExpr"), expr);
    }
    const struct value *propagation = validate_member(mount, "mountPropagation"),
                       *recursive = validate_member(mount, "recursiveReadOnly"),
                       *options = value_get(mount, STR("bindMountOptions"));
    if (propagation)
        check_propagation(e, path_at(path, "mountPropagation"), propagation, container);
    if (recursive)
        check_recursive(e, path_at(path, "recursiveReadOnly"), recursive, mount);
    if (validate__count(options))
        check_mount_options(e, path_at(at, "bindMountOptions"), options,
                            text_set_get(&scope->volumes, value_text(mount, "name")));
}

static void check_mounts(struct field_errors *e, const struct field_path *path,
                         const struct value *container, const struct attachments *devices,
                         const struct pod_scope *scope)
{
    autoset points;
    text_set_init(&points);
    size_t i = 0;
    value_each_item (it, value_get(container, STR("volumeMounts"))) {
        const struct field_path *at = path_item(path, i++);
        const struct field_path *name_path = path_at(at, "name"), *point = path_at(at, "mountPath");
        struct str name = value_text(it, "name"), mount_path = value_text(it, "mountPath");
        (void)validate_required(e, name_path, name);
        if (!text_set_has(&scope->volumes, name))
            fault_not_found(e, name_path, name);
        (void)validate_required(e, point, mount_path);
        if (!text_set_add(&points, mount_path, it))
            fault_text(e, point, mount_path, "must be unique");
        if (text_set_has(&devices->names, name))
            fault_text(e, name_path, name, "must not already exist in volumeDevices");
        if (text_set_has(&devices->paths, mount_path))
            fault_text(e, point, mount_path, "must not already exist as a path in volumeDevices");
        check_mount(e, path, at, it, container, scope);
    }
}

static bool has_backsteps(struct str path)
{
    while (path.n)
        if (str_eq(str_cut(&path, '/'), STR("..")))
            return true;
    return false;
}

static void check_device(struct field_errors *e, const struct field_path *at,
                         const struct value *device, struct attachments *before,
                         const struct attachments *mounts, const struct pod_scope *scope)
{
    const struct field_path *name_path = path_at(at, "name"), *point = path_at(at, "devicePath");
    struct str name = value_text(device, "name"), path = value_text(device, "devicePath");
    const struct value *volume = text_set_get(&scope->volumes, name);
    (void)validate_required(e, name_path, name);
    if (text_set_has(&before->names, name))
        fault_text(e, name_path, name, "must be unique");
    if (volume && !validate_member(volume, "persistentVolumeClaim") &&
        !validate_member(volume, "ephemeral"))
        fault_text(e, name_path, name,
                   "can only use volume source type of PersistentVolumeClaim or Ephemeral for "
                   "block mode");
    if (!volume)
        fault_not_found(e, name_path, name);
    (void)validate_required(e, point, path);
    if (text_set_has(&before->paths, path))
        fault_text(e, point, path, "must be unique");
    if (has_backsteps(path))
        fault_text(e, point, path, "can not contain backsteps ('..')");
    else
        (void)text_set_add(&before->paths, path, device);
    if (text_set_has(&mounts->names, name))
        fault_text(e, name_path, name, "must not already exist in volumeMounts");
    if (text_set_has(&mounts->paths, path))
        fault_text(e, point, path, "must not already exist as a path in volumeMounts");
    if (name.n)
        (void)text_set_add(&before->names, name, device);
}

void validate_volume_mounts(struct field_errors *e, const struct field_path *path,
                            const struct value *container, const struct pod_scope *scope)
{
    const struct value *list = value_get(container, STR("volumeDevices"));
    __attribute__((cleanup(attachments_done))) struct attachments devices, mounts, before;
    collect(&devices, list, STR("devicePath"));
    collect(&mounts, validate__count(list) ? value_get(container, STR("volumeMounts")) : NULL,
            STR("mountPath"));
    collect(&before, NULL, STR(""));
    check_mounts(e, path_at(path, "volumeMounts"), container, &devices, scope);
    size_t i = 0;
    value_each_item (it, list)
        check_device(e, path_item(path_at(path, "volumeDevices"), i++), it, &before, &mounts,
                     scope);
}

/* ---- Policies ---- */

bool validate_pull_policy(struct field_errors *e, const struct field_path *path, struct str policy)
{
    static const struct str policies[] = { STR("Always"), STR("IfNotPresent"), STR("Never") };
    return validate_required(e, path, policy) && validate_one_of(e, path, policy, WORDS(policies));
}

static void check_resize_policy(struct field_errors *e, const struct field_path *path,
                                const struct value *list, struct str restart_policy)
{
    static const struct str resources[] = { STR("cpu"), STR("memory") };
    static const struct str policies[] = { STR("NotRequired"), STR("RestartContainer") };
    autoset seen;
    text_set_init(&seen);
    size_t i = 0;
    value_each_item (it, list) {
        struct str resource = value_text(it, "resourceName"),
                   policy = value_text(it, "restartPolicy");
        if (!text_set_add(&seen, resource, it))
            fault_duplicate(e, path_item(path, i), resource);
        if (validate_required(e, path, resource))
            (void)validate_one_of(e, path, resource, WORDS(resources));
        if (validate_required(e, path, policy))
            (void)validate_one_of(e, path, policy, WORDS(policies));
        if (str_eq(restart_policy, STR("Never")) && !str_eq(policy, policies[0]))
            fault_text(e, path, policy,
                       "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
        i++;
    }
}

static void check_restart_rule(struct field_errors *e, const struct field_path *path,
                               const struct value *rule)
{
    static const struct str actions[] = { STR("Restart"), STR("RestartAllContainers") };
    static const struct str operators[] = { STR("In"), STR("NotIn") };
    const struct value *codes = validate_member(rule, "exitCodes");
    const struct field_path *codes_path = path_at(path, "exitCodes");
    (void)validate_one_of(e, path_at(path, "action"), value_text(rule, "action"), WORDS(actions));
    if (!codes) {
        fault_required(e, codes_path, "must be specified");
        return;
    }
    (void)validate_one_of(e, path_at(codes_path, "operator"), value_text(codes, "operator"),
                          WORDS(operators));
    if (validate_count(codes, "values") > 255)
        fault_too_many(e, path_at(codes_path, "values"), validate_count(codes, "values"), 255);
}

static void check_restart_policy(struct field_errors *e, const struct field_path *path,
                                 const struct value *container)
{
    static const struct str policies[] = { STR("Always"), STR("Never"), STR("OnFailure") };
    const struct value *policy = validate_member(container, "restartPolicy"),
                       *rules = value_get(container, STR("restartPolicyRules"));
    if (!policy && !validate__count(rules))
        return;
    if (!policy)
        fault_required(e, path_at(path, "restartPolicy"),
                       "must specify restartPolicy when restart rules are used");
    else
        (void)validate_one_of(e, path_at(path, "restartPolicy"), value_str(policy),
                              WORDS(policies));
    const struct field_path *rules_path = path_at(path, "restartPolicyRules");
    if (validate__count(rules) > 20)
        fault_too_many(e, rules_path, rules->n, 20);
    size_t i = 0;
    value_each_item (it, rules)
        check_restart_rule(e, path_item(rules_path, i++), it);
}

/* ---- Containers ---- */

static void check_container(struct field_errors *e, const struct field_path *path,
                            const struct value *container, const struct pod_scope *scope)
{
    static const struct str policies[] = { STR("File"), STR("FallbackToLogsOnError") };
    struct str policy = value_text(container, "terminationMessagePolicy");
    (void)validate_required_name(e, path_at(path, "name"), NAME_LABEL,
                                 value_text(container, "name"));
    (void)validate_required(e, path_at(path, "image"), value_text(container, "image"));
    const struct field_path *policy_path = path_at(path, "terminationMessagePolicy");
    if (validate_required(e, policy_path, policy))
        (void)validate_one_of(e, policy_path, policy, WORDS(policies));
    check_ports(e, path_at(path, "ports"), value_get(container, STR("ports")));
    validate_env(e, path_at(path, "env"), value_get(container, STR("env")));
    validate_env_from(e, path_at(path, "envFrom"), value_get(container, STR("envFrom")));
    validate_volume_mounts(e, path, container, scope);
    (void)validate_pull_policy(e, path_at(path, "imagePullPolicy"),
                               value_text(container, "imagePullPolicy"));
    validate_resource_requirements(e, path_at(path, "resources"),
                                   value_get(container, STR("resources")),
                                   value_get(scope->spec, STR("resourceClaims")),
                                   scope->rules->keeps_hugepages ? RESOURCES_ANY_HUGEPAGES : 0);
    check_resize_policy(e, path_at(path, "resizePolicy"), value_get(container, STR("resizePolicy")),
                        scope->restart_policy);
    const struct value *sc = validate_member(container, "securityContext");
    if (sc)
        validate_security_context(e, path_at(path, "securityContext"), sc, scope);
}

void validate_containers(struct field_errors *e, const struct field_path *path,
                         const struct pod_scope *scope)
{
    const struct value *list = value_get(scope->spec, STR("containers"));
    if (!validate__count(list)) {
        fault_required(e, path, "");
        return;
    }
    autoset names, ports;
    text_set_init(&names);
    text_set_init(&ports);
    size_t i = 0;
    value_each_item (it, list) {
        const struct field_path *at = path_item(path, i++);
        check_container(e, at, it, scope);
        if (!text_set_add(&names, value_text(it, "name"), it))
            fault_duplicate(e, path_at(at, "name"), value_text(it, "name"));
        const struct value *lifecycle = validate_member(it, "lifecycle");
        if (lifecycle)
            validate_lifecycle(e, path_at(at, "lifecycle"), lifecycle, scope);
        validate_probes(e, at, it, scope);
        check_restart_policy(e, at, it);
    }
    i = 0;
    value_each_item (it, list)
        check_host_ports(e, path_item(path, i++), it, &ports);
}

/* What only containers that keep running may have. */
static void check_init_handlers(struct field_errors *e, const struct field_path *path,
                                const struct value *container, const struct pod_scope *scope)
{
    static const struct str fields[] = { STR("lifecycle"), STR("livenessProbe"),
                                         STR("readinessProbe"), STR("startupProbe") };
    if (validate_is_sidecar(container)) {
        const struct value *lifecycle = validate_member(container, "lifecycle");
        if (lifecycle)
            validate_lifecycle(e, path_at(path, "lifecycle"), lifecycle, scope);
        validate_probes(e, path, container, scope);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        struct field_path at = field_child(path, fields[i]);
        if (validate__member(container, fields[i]))
            fault_forbidden(e, &at,
                            "may not be set for init containers without restartPolicy=Always");
    }
    if (scope->rules->keeps_init_resize)
        return;
    size_t i = 0;
    value_each_item (it, value_get(container, STR("resizePolicy"))) {
        const struct field_path *at = path_item(path_at(path, "resizePolicy"), i++);
        if (str_eq(value_text(it, "restartPolicy"), STR("RestartContainer")))
            fault_text(e, path_at(at, "restartPolicy"), STR("RestartContainer"),
                       "must not be set to 'RestartContainer' for non-sidecar initContainers");
    }
}

void validate_init_containers(struct field_errors *e, const struct field_path *path,
                              const struct pod_scope *scope)
{
    const struct value *list = value_get(scope->spec, STR("initContainers"));
    if (!validate__count(list))
        return;
    autoset names;
    text_set_init(&names);
    value_each_item (it, value_get(scope->spec, STR("containers")))
        (void)text_set_add(&names, value_text(it, "name"), it);
    size_t i = 0;
    value_each_item (it, list) {
        const struct field_path *at = path_item(path, i++);
        check_container(e, at, it, scope);
        check_restart_policy(e, at, it);
        struct str name = value_text(it, "name");
        if (text_set_has(&names, name))
            fault_duplicate(e, path_at(at, "name"), name);
        else if (name.n)
            (void)text_set_add(&names, name, it);
        autoset ports; /* they run one by one; so upstream says [0] of each */
        text_set_init(&ports);
        check_host_ports(e, path_item(path, 0), it, &ports);
        check_init_handlers(e, at, it, scope);
    }
}

static bool is_zero(const struct value *v)
{
    return !v || v->type == VALUE_NULL || (v->type == VALUE_BOOL && !v->b) ||
           (v->type == VALUE_INT && !v->i) ||
           (v->type != VALUE_BOOL && v->type != VALUE_INT && !v->n);
}

/* Upstream's resources are a struct, in which nothing is set; others may be there and empty. */
static bool is_set(const struct value *container, struct str field)
{
    const struct value *v = value_get(container, field);
    if (value_is(v, VALUE_OBJECT) && !str_eq(field, STR("resources")))
        return true;
    return !is_zero(v);
}

/* Ephemeral containers are for looking around: no part of the pod's work. */
static void check_ephemeral_fields(struct field_errors *e, const struct field_path *path,
                                   const struct value *container)
{
    static const struct str forbidden[] = {
        STR("ports"),          STR("resources"),          STR("resizePolicy"),
        STR("restartPolicy"),  STR("restartPolicyRules"), STR("livenessProbe"),
        STR("readinessProbe"), STR("startupProbe"),       STR("lifecycle"),
    };
    for (size_t i = 0; i < ARRAY_LEN(forbidden); i++) {
        struct field_path at = field_child(path, forbidden[i]);
        if (is_set(container, forbidden[i]))
            fault_forbidden(e, &at, "cannot be set for an Ephemeral Container");
    }
    size_t i = 0;
    value_each_item (it, value_get(container, STR("volumeMounts"))) {
        const struct field_path *at = path_item(path_at(path, "volumeMounts"), i++);
        if (value_text(it, "subPath").n)
            fault_forbidden(e, path_at(at, "subPath"), "cannot be set for an Ephemeral Container");
        if (value_text(it, "subPathExpr").n)
            fault_forbidden(e, path_at(at, "subPathExpr"),
                            "cannot be set for an Ephemeral Container");
    }
}

void validate_ephemeral_containers(struct field_errors *e, const struct field_path *path,
                                   const struct pod_scope *scope)
{
    const struct value *list = value_get(scope->spec, STR("ephemeralContainers"));
    if (!validate__count(list))
        return;
    autoset others, names;
    text_set_init(&others);
    text_set_init(&names);
    for (size_t k = 0; k < 2; k++)
        value_each_item (it, value_get(scope->spec, pod_container_lists[k])) {
            (void)text_set_add(&others, value_text(it, "name"), it);
            (void)text_set_add(&names, value_text(it, "name"), it);
        }
    size_t i = 0;
    value_each_item (it, list) {
        const struct field_path *at = path_item(path, i++);
        struct str target = value_text(it, "targetContainerName");
        check_container(e, at, it, scope);
        validate_image_for_pod(e, at, it);
        if (!text_set_add(&names, value_text(it, "name"), it))
            fault_duplicate(e, path_at(at, "name"), value_text(it, "name"));
        if (target.n && !text_set_has(&others, target))
            fault_not_found(e, path_at(at, "targetContainerName"), target);
        check_ephemeral_fields(e, at, it);
    }
}

void validate_image_for_pod(struct field_errors *e, const struct field_path *path,
                            const struct value *container)
{
    struct str image = value_text(container, "image");
    if (str_trim(image).n != image.n)
        fault_text(e, path_at(path, "image"), image,
                   "must not have leading or trailing whitespace");
}
