/* Security contexts of pods and containers, and what a pod's system forbids. */
#include "api/inner.h"
#include "api/validate/pod/validate_pod.h"
#include "base/banned.h"

/* ---- Profiles ---- */

static void check_seccomp(struct field_errors *e, const struct field_path *path,
                          const struct value *profile)
{
    static const struct str types[] = { STR("Localhost"), STR("RuntimeDefault"),
                                        STR("Unconfined") };
    struct str type = value_text(profile, "type");
    const struct value *local = validate_member(profile, "localhostProfile");
    const struct field_path *local_path = path_at(path, "localhostProfile");
    if (!type.n)
        fault_required(e, path_at(path, "type"), "type is required when seccompProfile is set");
    else
        (void)validate_one_of(e, path_at(path, "type"), type, WORDS(types));
    if (!str_eq(type, types[0])) {
        if (local)
            field_error(e, FIELD_INVALID, local_path,
                        inner_json(e, STR("v1"), STR("SeccompProfile"), profile),
                        "can only be set when seccomp type is Localhost");
    } else if (!local) {
        fault_required(e, local_path, "must be set when seccomp type is Localhost");
    } else {
        (void)validate_descending_path(e, local_path, value_str(local));
    }
}

static void check_local_apparmor(struct field_errors *e, const struct field_path *path,
                                 const struct value *local)
{
    enum { PROFILE_MAX = 4095 }; /* PATH_MAX less its NUL */
    struct str text = value_str(local), trimmed = str_trim(text);
    if (local && trimmed.n != text.n)
        fault_text(e, path, text, "must not be padded with whitespace");
    else if (!trimmed.n)
        fault_required(e, path, "must be set when AppArmor type is Localhost");
    if (text.n > PROFILE_MAX)
        field_too_long(e, path, PROFILE_MAX);
}

static void check_apparmor(struct field_errors *e, const struct field_path *path,
                           const struct value *profile)
{
    static const struct str types[] = { STR("Localhost"), STR("RuntimeDefault"),
                                        STR("Unconfined") };
    struct str type = value_text(profile, "type");
    const struct value *local = validate_member(profile, "localhostProfile");
    if (!type.n)
        fault_required(e, path_at(path, "type"), "type is required when appArmorProfile is set");
    else if (!validate_one_of(e, path_at(path, "type"), type, WORDS(types)))
        return;
    else if (str_eq(type, types[0]))
        check_local_apparmor(e, path_at(path, "localhostProfile"), local);
    else if (local)
        fault_value(e, path_at(path, "localhostProfile"), local,
                    "can only be set when AppArmor type is Localhost");
}

/* ---- Windows ---- */

static bool is_one_char_of(char c, struct str set)
{
    return str_find(set, c) >= 0;
}

static bool is_net_bios(struct str s)
{
    struct str bad = STR("\\/:*?\"<>|");
    if (!s.n || s.n > 15 || s.p[0] == '.')
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (is_one_char_of(s.p[i], bad))
            return false;
    return true;
}

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Labels of letters, digits and inner dashes, of at most 63 each. */
static bool is_dns_domain(struct str s)
{
    do {
        struct str label = str_cut(&s, '.');
        if (!label.n || label.n > 63 || !is_alnum(label.p[0]) || !is_alnum(label.p[label.n - 1]))
            return false;
        for (size_t i = 0; i < label.n; i++)
            if (!is_alnum(label.p[i]) && label.p[i] != '-')
                return false;
    } while (s.p);
    return true;
}

static bool has_only(struct str s, struct str set)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_one_char_of(s.p[i], set))
            return false;
    return s.n > 0;
}

static bool has_any(struct str s, struct str set)
{
    for (size_t i = 0; i < s.n; i++)
        if (is_one_char_of(s.p[i], set))
            return true;
    return false;
}

static bool has_control(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
            return true;
    return false;
}

static void check_windows_user(struct field_errors *e, const struct field_path *path,
                               struct str text)
{
    enum { DOMAIN_MAX = 256, USER_MAX = 104 };
    struct str user = text, domain = STR("");
    if (!text.n) {
        fault_text(e, path, text, "runAsUserName cannot be an empty string");
        return;
    }
    if (has_control(text)) {
        fault_text(e, path, text, "runAsUserName cannot contain control characters");
        return;
    }
    bool has_domain = str_find(text, '\\') >= 0;
    if (has_domain)
        domain = str_cut(&user, '\\');
    if (str_find(user, '\\') >= 0) {
        fault_text(e, path, text, "runAsUserName cannot contain more than one backslash");
        return;
    }
    if (domain.n >= DOMAIN_MAX)
        fault_text(e, path, text, "runAsUserName's Domain length must be under %d characters",
                   DOMAIN_MAX);
    if (has_domain && !is_net_bios(domain) && !is_dns_domain(domain))
        fault_text(e, path, text,
                   "runAsUserName's Domain doesn't match the NetBios nor the DNS format");
    if (!user.n)
        fault_text(e, path, text, "runAsUserName's User cannot be empty");
    else if (user.n > USER_MAX)
        fault_text(e, path, text,
                   "runAsUserName's User length must not be longer than %d characters", USER_MAX);
    if (has_only(user, STR(". ")))
        fault_text(e, path, text, "runAsUserName's User cannot contain only periods or spaces");
    if (has_any(user, STR("\"/\\:;|=,+*?<>@[]")))
        fault_text(e, path, text,
                   "runAsUserName's User cannot contain the following characters: "
                   "\"/\\:;|=,+*?<>@[]");
}

static void check_windows_options(struct field_errors *e, const struct field_path *path,
                                  const struct value *options)
{
    enum { SPEC_MAX_KIB = 64, SPEC_MAX = SPEC_MAX_KIB * 1024 };
    const struct value *name = validate_member(options, "gmsaCredentialSpecName"),
                       *spec = validate_member(options, "gmsaCredentialSpec"),
                       *user = validate_member(options, "runAsUserName");
    if (name)
        (void)validate_name(e, path_at(path, "gmsaCredentialSpecName"), NAME_SUBDOMAIN,
                            value_str(name));
    if (spec && !value_str(spec).n)
        fault_value(e, path_at(path, "gmsaCredentialSpec"), spec,
                    "gmsaCredentialSpec cannot be an empty string");
    else if (value_str(spec).n > SPEC_MAX)
        fault_value(e, path_at(path, "gmsaCredentialSpec"), spec,
                    "gmsaCredentialSpec size must be under %d KiB", SPEC_MAX_KIB);
    if (user)
        check_windows_user(e, path_at(path, "runAsUserName"), value_str(user));
}

static const struct value *host_process_of(const struct value *owner)
{
    return validate_member(value_dig(owner, "securityContext", "windowsOptions"), "hostProcess");
}

void validate_host_process(struct field_errors *e, const struct field_path *path,
                           const struct value *spec)
{
    const struct value *of_pod = host_process_of(spec);
    size_t containers = 0, host_processes = 0;
    for (size_t k = 0; k < POD_CONTAINER_LISTS; k++) {
        struct field_path list = field_child(path, pod_container_lists[k]);
        size_t i = 0;
        value_each_item (it, value_get(spec, pod_container_lists[k])) {
            const struct value *own = host_process_of(it);
            const struct field_path *at = path_item(&list, i++);
            containers++;
            if (own && of_pod && value_is_true(own) != value_is_true(of_pod))
                fault_value(e,
                            path_at(path_at(path_at(at, "securityContext"), "windowsOptions"),
                                    "hostProcess"),
                            own,
                            "pod hostProcess value must be identical if both are specified, was %s",
                            value_is_true(of_pod) ? "true" : "false");
            host_processes += value_is_true(own ? own : of_pod);
        }
    }
    if (!host_processes)
        return;
    if (host_processes != containers)
        fault_text(e, path, STR(""),
                   "If pod contains any hostProcess containers then all containers must be "
                   "HostProcess containers");
    if (!value_is_true(value_get(spec, STR("hostNetwork")))) {
        struct value no = value_bool(false);
        fault_value(e, path_at(path, "hostNetwork"), &no,
                    "hostNetwork must be true if pod contains any hostProcess containers");
    }
}

/* ---- Containers ---- */

static void check_escalation(struct field_errors *e, const struct field_path *path,
                             const struct value *sc, const struct pod_scope *scope)
{
    const struct value *escalation = validate_member(sc, "allowPrivilegeEscalation");
    if (!escalation || value_is_true(escalation))
        return;
    if (value_is_true(value_get(sc, STR("privileged"))))
        field_error(e, FIELD_INVALID, path, inner_json(e, STR("v1"), STR("SecurityContext"), sc),
                    "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
    if (scope->rules->keeps_sys_admin)
        return;
    value_each_item (it, value_dig(sc, "capabilities", "add"))
        if (str_eq(value_str(it), STR("CAP_SYS_ADMIN")))
            field_error(e, FIELD_INVALID, path,
                        inner_json(e, STR("v1"), STR("SecurityContext"), sc),
                        "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` "
                        "CAP_SYS_ADMIN");
}

static void check_optional_id(struct field_errors *e, const struct field_path *path,
                              const struct value *sc, struct str field)
{
    const struct value *id = validate__member(sc, field);
    struct field_path at = field_child(path, field);
    if (id)
        (void)validate_id(e, &at, validate__int(id));
}

void validate_security_context(struct field_errors *e, const struct field_path *path,
                               const struct value *sc, const struct pod_scope *scope)
{
    static const struct str mounts[] = { STR("Default"), STR("Unmasked") };
    const struct value *mount = validate_member(sc, "procMount"),
                       *seccomp = validate_member(sc, "seccompProfile"),
                       *windows = validate_member(sc, "windowsOptions"),
                       *apparmor = validate_member(sc, "appArmorProfile");
    check_optional_id(e, path, sc, STR("runAsUser"));
    check_optional_id(e, path, sc, STR("runAsGroup"));
    if (mount) {
        (void)validate_one_of(e, path_at(path, "procMount"), value_str(mount), WORDS(mounts));
        if (scope->host_users && str_eq(value_str(mount), mounts[1]))
            fault_value(e, path_at(path, "procMount"), mount,
                        "`hostUsers` must be false to use `Unmasked`");
    }
    if (seccomp)
        check_seccomp(e, path_at(path, "seccompProfile"), seccomp);
    check_escalation(e, path, sc, scope);
    if (windows)
        check_windows_options(e, path_at(path, "windowsOptions"), windows);
    if (apparmor)
        check_apparmor(e, path_at(path, "appArmorProfile"), apparmor);
}

/* ---- Pods ---- */

/* Parts of letters, digits and inner dashes and underscores, joined by dots and slashes. */
static bool is_sysctl(struct str s)
{
    char before = '.';
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool separates = c == '.' || c == '/', joins = c == '-' || c == '_';
        bool lower = is_alnum(c) && !(c >= 'A' && c <= 'Z');
        if (separates ? !is_alnum(before) : joins ? before == '.' || before == '/' : !lower)
            return false;
        before = c;
    }
    return is_alnum(before) && s.n <= NAME_SUBDOMAIN_MAX;
}

/* The names of a namespace may be written with slashes; dots and slashes then change places. */
static struct str with_dots(struct str name, char *out, size_t size)
{
    ptrdiff_t dot = str_find(name, '.'), slash = str_find(name, '/');
    if (slash < 0 || (dot >= 0 && dot < slash) || name.n > size)
        return name;
    for (size_t i = 0; i < name.n; i++)
        out[i] = (char)(name.p[i] == '.' ? '/' : name.p[i] == '/' ? '.' : name.p[i]);
    return (struct str){ out, name.n };
}

bool validate_sysctl_is_of_host(const struct value *spec, struct str name, const char **ret_field)
{
    static const struct str of_ipc[] = {
        STR("kernel.sem"),    STR("kernel.shmall"),          STR("kernel.shmmax"),
        STR("kernel.shmmni"), STR("kernel.shm_rmid_forced"), STR("kernel.shm"),
        STR("kernel.msgmax"), STR("kernel.msgmnb"),          STR("kernel.msgmni"),
        STR("kernel.msg"),
    };
    char dotted[NAME_SUBDOMAIN_MAX];
    struct str plain = with_dots(name, dotted, sizeof(dotted));
    if (value_is_true(value_get(spec, STR("hostNetwork"))) && str_starts(plain, STR("net."))) {
        *ret_field = "hostNetwork";
        return true;
    }
    *ret_field = "hostIPC";
    return value_is_true(value_get(spec, STR("hostIPC"))) &&
           (words_have(plain, WORDS(of_ipc)) || str_starts(plain, STR("fs.mqueue.")));
}

static void check_sysctls(struct field_errors *e, const struct field_path *path,
                          const struct value *sysctls, const struct pod_scope *scope)
{
    autoset seen;
    text_set_init(&seen);
    size_t i = 0;
    value_each_item (it, sysctls) {
        const struct field_path *at = path_at(path_item(path, i), "name");
        struct str name = value_text(it, "name");
        const char *field;
        i++;
        if (!name.n)
            fault_required(e, at, "");
        else if (!is_sysctl(name))
            fault_text(e, at, name,
                       "must have at most 253 characters and match regex "
                       "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$");
        else if (text_set_has(&seen, name))
            fault_duplicate(e, at, name);
        if (!scope->rules->keeps_host_sysctls &&
            validate_sysctl_is_of_host(scope->spec, name, &field))
            fault_text(e, at, name, "may not be specified when '%s' is true", field);
        (void)text_set_add(&seen, name, it);
    }
}

static void check_optional_value(struct field_errors *e, const struct field_path *path,
                                 const struct value *sc, struct str field, const struct str *values,
                                 size_t n)
{
    const struct value *v = validate__member(sc, field);
    struct field_path at = field_child(path, field);
    if (v)
        (void)validate_one_of(e, &at, value_str(v), values, n);
}

void validate_pod_security_context(struct field_errors *e, const struct field_path *path,
                                   const struct pod_scope *scope)
{
    static const struct str group_changes[] = { STR("Always"), STR("OnRootMismatch") };
    static const struct str group_policies[] = { STR("Merge"), STR("Strict") };
    static const struct str label_changes[] = { STR("MountOption"), STR("Recursive") };
    const struct value *sc = validate_member(scope->spec, "securityContext");
    if (!sc)
        return;
    check_optional_id(e, path, sc, STR("fsGroup"));
    check_optional_id(e, path, sc, STR("runAsUser"));
    check_optional_id(e, path, sc, STR("runAsGroup"));
    size_t i = 0;
    value_each_item (it, value_get(sc, STR("supplementalGroups")))
        (void)validate_id(e, path_item(path_at(path, "supplementalGroups"), i++),
                          validate__int(it));
    if (validate_count(sc, "sysctls"))
        check_sysctls(e, path_at(path, "sysctls"), value_get(sc, STR("sysctls")), scope);
    check_optional_value(e, path, sc, STR("fsGroupChangePolicy"), WORDS(group_changes));
    const struct value *seccomp = validate_member(sc, "seccompProfile"),
                       *windows = validate_member(sc, "windowsOptions"),
                       *apparmor = validate_member(sc, "appArmorProfile");
    if (seccomp)
        check_seccomp(e, path_at(path, "seccompProfile"), seccomp);
    if (windows)
        check_windows_options(e, path_at(path, "windowsOptions"), windows);
    if (apparmor)
        check_apparmor(e, path_at(path, "appArmorProfile"), apparmor);
    check_optional_value(e, path, sc, STR("supplementalGroupsPolicy"), WORDS(group_policies));
    check_optional_value(e, path, sc, STR("seLinuxChangePolicy"), WORDS(label_changes));
}

/* ---- Systems ---- */

static void forbid(struct field_errors *e, const struct field_path *path, const struct value *owner,
                   const struct str *fields, size_t n, const char *why)
{
    for (size_t i = 0; i < n; i++) {
        const struct value *v = validate__member(owner, fields[i]);
        struct field_path at = field_child(path, fields[i]);
        if (v && (v->type != VALUE_ARRAY || v->n))
            fault_forbidden(e, &at, "%s", why);
    }
}

static void forbid_on_windows(struct field_errors *e, const struct field_path *path,
                              const struct value *spec)
{
    static const struct str of_pod[] = {
        STR("appArmorProfile"),     STR("seLinuxOptions"),
        STR("seccompProfile"),      STR("fsGroup"),
        STR("fsGroupChangePolicy"), STR("sysctls"),
        STR("runAsUser"),           STR("runAsGroup"),
        STR("supplementalGroups"),  STR("supplementalGroupsPolicy"),
        STR("seLinuxChangePolicy"),
    };
    static const struct str of_container[] = {
        STR("appArmorProfile"),
        STR("seLinuxOptions"),
        STR("seccompProfile"),
        STR("capabilities"),
        STR("readOnlyRootFilesystem"),
        STR("privileged"),
        STR("allowPrivilegeEscalation"),
        STR("procMount"),
        STR("runAsUser"),
        STR("runAsGroup"),
    };
    const char *why = "cannot be set for a windows pod";
    forbid(e, path_at(path, "securityContext"), validate_member(spec, "securityContext"),
           WORDS(of_pod), why);
    if (validate_member(spec, "hostUsers"))
        fault_forbidden(e, path_at(path, "hostUsers"), "%s", why);
    if (value_is_true(value_get(spec, STR("hostPID"))))
        fault_forbidden(e, path_at(path, "hostPID"), "%s", why);
    if (value_is_true(value_get(spec, STR("hostIPC"))))
        fault_forbidden(e, path_at(path, "hostIPC"), "%s", why);
    if (validate_member(spec, "shareProcessNamespace"))
        fault_forbidden(e, path_at(path, "shareProcessNamespace"), "%s", why);
    for (size_t k = 0; k < POD_CONTAINER_LISTS; k++) {
        struct field_path list = field_child(path, pod_container_lists[k]);
        size_t i = 0;
        value_each_item (it, value_get(spec, pod_container_lists[k]))
            forbid(e, path_at(path_item(&list, i++), "securityContext"),
                   validate_member(it, "securityContext"), WORDS(of_container), why);
    }
}

static void forbid_on_linux(struct field_errors *e, const struct field_path *path,
                            const struct value *spec)
{
    static const struct str options[] = { STR("windowsOptions") };
    const char *why = "windows options cannot be set for a linux pod";
    forbid(e, path_at(path, "securityContext"), validate_member(spec, "securityContext"),
           WORDS(options), why);
    for (size_t k = 0; k < POD_CONTAINER_LISTS; k++) {
        struct field_path list = field_child(path, pod_container_lists[k]);
        size_t i = 0;
        value_each_item (it, value_get(spec, pod_container_lists[k]))
            forbid(e, path_at(path_item(&list, i++), "securityContext"),
                   validate_member(it, "securityContext"), WORDS(options), why);
    }
}

void validate_pod_os(struct field_errors *e, const struct field_path *path,
                     const struct value *spec)
{
    static const struct str names[] = { STR("linux"), STR("windows") };
    const struct value *os = validate_member(spec, "os");
    if (!os)
        return;
    struct str name = value_text(os, "name");
    if (!validate_required(e, path_at(path_at(path, "os"), "name"), name) ||
        !validate_one_of(e, path_at(path, "os"), name, WORDS(names)))
        return;
    if (str_eq(name, names[0]))
        forbid_on_linux(e, path, spec);
    else
        forbid_on_windows(e, path, spec);
}
