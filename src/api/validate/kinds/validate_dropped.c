/* The rules of kinds that upstream has dropped, as of the last release that had them:
 * PodSecurityPolicy, PodPreset and InitializerConfiguration. Some of their paths and words are
 * odd; so they were. */
#include "api/validate/pod/validate_pod.h"
#include "api/validate/validate_webhook.h"
#include "base/banned.h"

/* ---- PodSecurityPolicy: who containers may run as ---- */

static void check_ranges(struct field_errors *e, const struct field_path *path,
                         const struct value *options)
{
    size_t i = 0;
    value_each_item (it, value_get(options, STR("ranges"))) {
        const struct field_path *at = path_item(path_at(path, "ranges"), i++);
        int64_t min = validate_int(it, "min"), max = validate_int(it, "max");
        if (min < 0)
            fault_int(e, path_at(at, "min"), min, "min cannot be negative");
        if (max < 0)
            fault_int(e, path_at(at, "max"), max, "max cannot be negative");
        if (min > max)
            fault_int(e, path_at(at, "min"), min, "min cannot be greater than max");
    }
}

static void check_strategy(struct field_errors *e, const struct field_path *path,
                           const struct value *options, const struct str *rules, size_t n)
{
    (void)validate_one_of(e, path_at(path, "rule"), value_text(options, "rule"), rules, n);
    check_ranges(e, path, options);
}

static void check_run_as_group(struct field_errors *e, const struct field_path *path,
                               const struct value *options)
{
    static const struct str rules[] = { STR("MustRunAs"), STR("RunAsAny"), STR("MayRunAs") };
    const struct value *ranges = value_get(options, STR("ranges"));
    struct str rule = value_text(options, "rule");
    if (!validate_one_of(e, path_at(path, "rule"), rule, WORDS(rules)))
        return;
    bool is_any = str_eq(rule, STR("RunAsAny"));
    if (is_any && validate__count(ranges))
        fault_value(e, path_at(path, "ranges"), ranges, "Ranges must be empty");
    if (!is_any && !validate__count(ranges))
        fault_value(e, path_at(path, "ranges"), ranges, "must provide at least one range");
    if (!is_any)
        check_ranges(e, path, options);
}

static void check_identities(struct field_errors *e, const struct field_path *path,
                             const struct value *spec)
{
    static const struct str of_user[] = { STR("MustRunAs"), STR("MustRunAsNonRoot"),
                                          STR("RunAsAny") };
    static const struct str of_selinux[] = { STR("MustRunAs"), STR("RunAsAny") };
    static const struct str of_groups[] = { STR("MayRunAs"), STR("MustRunAs"), STR("RunAsAny") };
    check_strategy(e, path_at(path, "runAsUser"), validate_member(spec, "runAsUser"),
                   WORDS(of_user));
    if (validate_member(spec, "runAsGroup"))
        check_run_as_group(e, path_at(path, "runAsGroup"), validate_member(spec, "runAsGroup"));
    (void)validate_one_of(e, path_at(path_at(path, "seLinux"), "rule"),
                          value_text(validate_member(spec, "seLinux"), "rule"), WORDS(of_selinux));
    check_strategy(e, path_at(path, "supplementalGroups"),
                   validate_member(spec, "supplementalGroups"), WORDS(of_groups));
    check_strategy(e, path_at(path, "fsGroup"), validate_member(spec, "fsGroup"), WORDS(of_groups));
}

/* ---- PodSecurityPolicy: what they may use ---- */

static void check_volume_types(struct field_errors *e, const struct field_path *path,
                               const struct value *volumes)
{
    static const struct str types[] = {
        STR("*"),
        STR("awsElasticBlockStore"),
        STR("azureDisk"),
        STR("azureFile"),
        STR("cephFS"),
        STR("cinder"),
        STR("configMap"),
        STR("csi"),
        STR("downwardAPI"),
        STR("emptyDir"),
        STR("ephemeral"),
        STR("fc"),
        STR("flexVolume"),
        STR("flocker"),
        STR("gcePersistentDisk"),
        STR("gitRepo"),
        STR("glusterfs"),
        STR("hostPath"),
        STR("iscsi"),
        STR("nfs"),
        STR("persistentVolumeClaim"),
        STR("photonPersistentDisk"),
        STR("portworxVolume"),
        STR("projected"),
        STR("quobyte"),
        STR("rbd"),
        STR("scaleIO"),
        STR("secret"),
        STR("storageos"),
        STR("vsphereVolume"),
    };
    value_each_item (it, volumes)
        (void)validate_one_of(e, path_at(path, "volumes"), value_str(it), WORDS(types));
}

static void check_not_dropped(struct field_errors *e, const struct text_set *dropped,
                              const struct value *spec, struct str field)
{
    const struct field_path path = { .name = field };
    value_each_item (it, value_get(spec, field))
        if (text_set_has(dropped, value_str(it)))
            fault_value(e, &path, it,
                        "capability is listed in " STR_FMT " and requiredDropCapabilities",
                        STR_ARG(field));
}

static void check_capabilities(struct field_errors *e, const struct value *spec)
{
    const struct value *required = value_get(spec, STR("requiredDropCapabilities"));
    autoset dropped;
    text_set_init(&dropped);
    validate_add_texts(&dropped, required);
    if (validate__count(required) &&
        validate_list_has(value_get(spec, STR("allowedCapabilities")), STR("*")))
        fault_value(e, path_root("requiredDropCapabilities"), required,
                    "must be empty when all capabilities are allowed by a wildcard");
    check_not_dropped(e, &dropped, spec, STR("defaultAddCapabilities"));
    check_not_dropped(e, &dropped, spec, STR("allowedCapabilities"));
}

static void check_escalation(struct field_errors *e, const struct field_path *path,
                             const struct value *spec)
{
    const struct value *by_default = validate_member(spec, "defaultAllowPrivilegeEscalation"),
                       *allowed = validate_member(spec, "allowPrivilegeEscalation");
    if (value_is_true(by_default) && !value_is_true(allowed))
        fault_value(e, path_at(path, "defaultAllowPrivilegeEscalation"), by_default,
                    "Cannot set DefaultAllowPrivilegeEscalation to true without also setting "
                    "AllowPrivilegeEscalation to true");
}

static bool has_backsteps(struct str path)
{
    while (path.n)
        if (str_eq(str_cut(&path, '/'), STR("..")))
            return true;
    return false;
}

static void check_host_paths(struct field_errors *e, const struct field_path *path,
                             const struct value *list)
{
    size_t i = 0;
    value_each_item (it, list) {
        const struct field_path *at = path_item(path, i++);
        struct str prefix = value_text(it, "pathPrefix");
        if (!prefix.n) {
            fault_required(e, at, "is required");
            return;
        }
        if (has_backsteps(prefix))
            fault_text(e, at, prefix, "must not contain '..'");
    }
}

static void check_drivers(struct field_errors *e, const struct field_path *path,
                          const struct value *spec)
{
    static const struct str mounts[] = { STR("Default"), STR("Unmasked") };
    const struct field_path *flex =
                                path_at(path_at(path, "allowedFlexVolumes"), "allowedFlexVolumes"),
                            *csi = path_at(path_at(path, "allowedCSIDrivers"), "allowedCSIDriver");
    size_t i = 0;
    value_each_item (it, value_get(spec, STR("allowedProcMountTypes")))
        (void)validate_one_of(e, path_item(path_at(path, "allowedProcMountTypes"), i++),
                              value_str(it), WORDS(mounts));
    check_host_paths(e, path_at(path, "allowedHostPaths"),
                     value_get(spec, STR("allowedHostPaths")));
    i = 0;
    value_each_item (it, value_get(spec, STR("allowedFlexVolumes"))) {
        if (!value_text(it, "driver").n)
            fault_required(e, path_at(path_item(flex, i), "driver"), "must specify a driver");
        i++;
    }
    i = 0;
    value_each_item (it, value_get(spec, STR("allowedCSIDrivers")))
        (void)validate_driver(e, path_at(path_item(csi, i++), "name"), value_text(it, "name"));
}

static void check_runtime_classes(struct field_errors *e, const struct field_path *path,
                                  const struct value *options)
{
    const struct value *allowed = value_get(options, STR("allowedRuntimeClassNames")),
                       *by_default = validate_member(options, "defaultRuntimeClassName");
    const struct field_path *list = path_at(path, "allowedRuntimeClassNames");
    struct str any = STR("*"), chosen = value_str(by_default);
    size_t i = 0;
    autoset seen;
    text_set_init(&seen);
    value_each_item (it, allowed) {
        const struct field_path *at = path_item(list, i++);
        if (!str_eq(value_str(it), any))
            (void)validate_name(e, at, NAME_SUBDOMAIN, value_str(it));
        if (!text_set_add(&seen, value_str(it), it))
            fault_duplicate(e, at, value_str(it));
    }
    if (by_default) {
        (void)validate_name(e, path_at(path, "defaultRuntimeClassName"), NAME_SUBDOMAIN, chosen);
        if (!text_set_has(&seen, chosen) && !text_set_has(&seen, any))
            field_error(e, FIELD_REQUIRED, list, STR(""), "default " STR_FMT " must be allowed",
                        STR_ARG(field_quoted(e, chosen)));
    }
    if (text_set_has(&seen, any) && validate__count(allowed) > 1)
        fault_value(e, list, allowed,
                    "if '*' is present, must not specify other RuntimeClass names");
}

/* ---- PodSecurityPolicy: kernel parameters ---- */

static bool is_low_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Letters, digits, and between them dashes and underscores. */
static bool is_sysctl_part(struct str part)
{
    for (size_t i = 0; i < part.n; i++)
        if (!is_low_alnum(part.p[i]) && part.p[i] != '-' && part.p[i] != '_')
            return false;
    return part.n && is_low_alnum(part.p[0]) && is_low_alnum(part.p[part.n - 1]);
}

/* Parts joined by dots, of which the last may end with a star. */
static bool is_sysctl_pattern(struct str s)
{
    struct str rest = s, last;
    if (s.n > NAME_SUBDOMAIN_MAX)
        return false;
    for (last = str_cut(&rest, '.'); rest.p; last = str_cut(&rest, '.'))
        if (!is_sysctl_part(last))
            return false;
    if (!str_ends(last, STR("*")))
        return is_sysctl_part(last);
    last = str_take(last, last.n - 1);
    for (size_t i = 0; i < last.n; i++)
        if (!is_low_alnum(last.p[i]) && (!i || (last.p[i] != '-' && last.p[i] != '_')))
            return false;
    return true;
}

static void check_sysctl_list(struct field_errors *e, const struct field_path *path,
                              const struct value *list)
{
    bool covers_all = false;
    size_t i = 0;
    value_each_item (it, list) {
        const struct field_path *at = path_item(path, i++);
        struct str text = value_str(it);
        if (!text.n)
            fault_text(e, at, text, "empty sysctl not allowed");
        else if (!is_sysctl_pattern(text))
            fault_text(e, at, text,
                       "must have at most 253 characters and match regex "
                       "([a-z0-9]([-_a-z0-9]*[a-z0-9])?\\.)*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]");
        else
            covers_all = covers_all || text.p[0] == '*';
    }
    if (covers_all && validate__count(list) > 1)
        fault_forbidden(e, path_at(path, "items"),
                        "if '*' is present, must not specify other sysctls");
}

/* What a pattern begins with, and whether it is one. */
static struct str stem_of(struct str pattern, bool *ret_is_pattern)
{
    *ret_is_pattern = str_ends(pattern, STR("*"));
    return str_take(pattern, pattern.n - *ret_is_pattern);
}

static void check_overlap(struct field_errors *e, const struct field_path *allowed_path,
                          const struct field_path *forbidden_path, struct str allowed,
                          struct str forbidden)
{
    bool a, f;
    struct str a_stem = stem_of(allowed, &a), f_stem = stem_of(forbidden, &f);
    bool in_forbidden = f ? str_starts(a_stem, f_stem) : !a && str_eq(allowed, forbidden);
    if (in_forbidden)
        fault_text(e, allowed_path, allowed, "sysctl overlaps with " STR_FMT, STR_ARG(forbidden));
    else if (a && str_starts(f_stem, a_stem))
        fault_text(e, forbidden_path, forbidden, "sysctl overlaps with " STR_FMT, STR_ARG(allowed));
}

static void check_sysctls(struct field_errors *e, const struct field_path *path,
                          const struct value *spec)
{
    enum { PAIRS_MAX = 1 << 20 }; /* longer lists are nobody's honest policy */
    const struct value *allowed = value_get(spec, STR("allowedUnsafeSysctls")),
                       *forbidden = value_get(spec, STR("forbiddenSysctls"));
    const struct field_path *allowed_path = path_at(path, "allowedUnsafeSysctls"),
                            *forbidden_path = path_at(path, "forbiddenSysctls");
    check_sysctl_list(e, allowed_path, allowed);
    check_sysctl_list(e, forbidden_path, forbidden);
    size_t n = validate__count(allowed), m = validate__count(forbidden);
    if (!n || !m || n > PAIRS_MAX / m)
        return;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m; k++)
            check_overlap(e, path_item(allowed_path, i), path_item(forbidden_path, k),
                          value_str(value_at(allowed, i)), value_str(value_at(forbidden, k)));
}

/* ---- PodSecurityPolicy: profiles in annotations ---- */

static void check_profiles(struct field_errors *e, const struct value *obj)
{
    static const struct str default_apparmor =
                                STR("apparmor.security.beta.kubernetes.io/defaultProfileName"),
                            apparmor =
                                STR("apparmor.security.beta.kubernetes.io/allowedProfileNames"),
                            default_seccomp =
                                STR("seccomp.security.alpha.kubernetes.io/defaultProfileName"),
                            seccomp =
                                STR("seccomp.security.alpha.kubernetes.io/allowedProfileNames");
    const struct value *annotations = value_dig(obj, "metadata", "annotations");
    const struct field_path *path = path_at(path_root("metadata"), "annotations");
    struct str one = value_str(validate_map_member(annotations, default_apparmor)),
               all = value_str(validate_map_member(annotations, apparmor)), rest = all;
    if (one.n)
        validate_apparmor_profile(e, path_key(path, default_apparmor), one, one);
    while (rest.n)
        validate_apparmor_profile(e, path_key(path, apparmor), str_cut(&rest, ','), all);
    one = value_str(validate_map_member(annotations, default_seccomp));
    rest = value_str(validate_map_member(annotations, seccomp));
    if (one.n)
        validate_seccomp_profile(e, path_key(path, default_seccomp), one);
    while (rest.n) {
        one = str_cut(&rest, ',');
        if (!str_eq(one, STR("*")))
            validate_seccomp_profile(e, path_key(path, seccomp), one);
    }
}

static void create_security(struct field_errors *e, const struct value *obj)
{
    const struct value *spec = validate_member(obj, "spec"),
                       *runtime = validate_member(spec, "runtimeClass");
    const struct field_path *path = path_root("spec");
    check_profiles(e, obj);
    check_identities(e, path, spec);
    check_volume_types(e, path, value_get(spec, STR("volumes")));
    check_capabilities(e, spec);
    check_escalation(e, path, spec);
    check_drivers(e, path, spec);
    check_sysctls(e, path, spec);
    if (runtime)
        check_runtime_classes(e, path_at(path, "runtimeClass"), runtime);
}

static void update_security(struct field_errors *e, const struct value *obj,
                            const struct value *old_obj)
{
    (void)old_obj;
    create_security(e, obj);
}

/* ---- PodPreset ---- */

static void create_preset(struct field_errors *e, const struct value *obj)
{
    const struct value *spec = validate_member(obj, "spec");
    const struct field_path *path = path_root("spec");
    struct pod_rules rules = validate_pod_rules_of(NULL, NULL);
    struct pod_scope scope = { .rules = &rules, .spec = spec, .host_users = true };
    text_set_init(&scope.volumes);
    (void)validate_label_selector(e, path_at(path, "selector"), validate_member(spec, "selector"),
                                  0);
    if (!validate_count(spec, "env") && !validate_count(spec, "envFrom") &&
        !validate_count(spec, "volumeMounts") && !validate_count(spec, "volumes"))
        fault_required(
            e,
            path_at(path_at(path_at(path_at(path, "volumes"), "env"), "envFrom"), "volumeMounts"),
            "must specify at least one");
    validate_pod_volumes(e, path_at(path, "volumes"), &scope);
    validate_env(e, path_at(path, "env"), value_get(spec, STR("env")));
    validate_env_from(e, path_at(path, "envFrom"), value_get(spec, STR("envFrom")));
    validate_volume_mounts(e, path, spec, &scope);
    text_set_done(&scope.volumes);
}

static void update_preset(struct field_errors *e, const struct value *obj,
                          const struct value *old_obj)
{
    (void)old_obj;
    create_preset(e, obj);
}

/* ---- InitializerConfiguration ---- */

static void create_initializers(struct field_errors *e, const struct value *obj)
{
    const struct field_path *path = path_root("initializers");
    size_t i = 0;
    value_each_item (it, value_get(obj, STR("initializers"))) {
        const struct field_path *at = path_item(path, i++);
        size_t k = 0;
        validate_hook_name(e, path_at(at, "name"), value_text(it, "name"));
        value_each_item (rule, value_get(it, STR("rules")))
            validate_plain_rule(e, path_item(path_at(at, "rules"), k++), rule);
    }
}

static void update_initializers(struct field_errors *e, const struct value *obj,
                                const struct value *old_obj)
{
    (void)old_obj;
    create_initializers(e, obj);
}

const struct validate_rules validate__dropped[] = {
    { STR("policy"), STR("PodSecurityPolicy"), create_security, update_security, NULL, NULL },
    { STR("settings.k8s.io"), STR("PodPreset"), create_preset, update_preset, NULL, NULL },
    { STR("admissionregistration.k8s.io"), STR("InitializerConfiguration"), create_initializers,
      update_initializers, NULL, NULL },
    { .kind = { NULL, 0 } },
};
