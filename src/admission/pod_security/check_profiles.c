/* What the kernel lets a pod do: AppArmor, SELinux, seccomp, and what it may set of the kernel. */
#include "admission/pod_security/checks_internal.h"
#include "api/go/quote.h"
#include "api/keys.h"
#include "api/text_set.h"
#include "api/words.h"
#include "base/banned.h"

/* KEY="VALUE" with Go's quotes. */
static struct str annotation_text(const struct checked *p, struct str key, struct str value)
{
    autobuf text = { 0 };
    buf_printf(&text, STR_FMT "=", STR_ARG(key));
    quote_go(&text, value);
    return arena_str(p->arena, buf_str(&text));
}

static bool is_profile(struct str type)
{
    return str_eq(type, STR("RuntimeDefault")) || str_eq(type, STR("Localhost"));
}

/* ---- AppArmor ---- */

static bool is_allowed_by_annotation(struct str profile)
{
    return !profile.n || str_eq(profile, STR("runtime/default")) ||
           str_starts(profile, STR("localhost/"));
}

static bool sets_app_armor(const struct checked *p, const struct value *of,
                           struct checks__names *types)
{
    const struct value *profile = checks__security(of, STR("appArmorProfile"));
    struct str type = value_text(profile, "type");
    if (!profile || is_profile(type))
        return false;
    checks__add(p, types, type);
    return true;
}

void check_app_armor(const struct checked *p)
{
    struct checks__names bad = { 0 }, values = { 0 }, annotations = { 0 }, setters = { 0 };
    bool is_pod = sets_app_armor(p, p->spec, &values);
    for (size_t i = 0; i < p->n_containers; i++)
        if (sets_app_armor(p, p->containers[i], &values))
            checks__add(p, &bad, value_text(p->containers[i], "name"));
    value_each_field (f, p->annotations)
        if (str_starts(f->key, STR(KEY_BETA_APPARMOR_CONTAINER)) &&
            !is_allowed_by_annotation(value_str(&f->val)))
            checks__add(p, &annotations, annotation_text(p, f->key, value_str(&f->val)));
    checks__sort(&values);
    checks__sort(&annotations);
    for (size_t i = 0; i < annotations.n; i++)
        checks__add(p, &values, annotations.at[i]);
    if (is_pod || bad.n)
        checks__add(p, &setters, checks__setters(p, is_pod, &bad));
    if (annotations.n)
        checks__add(p, &setters, str_of(checks__plural(&annotations, "annotation", "annotations")));
    if (setters.n)
        checks__find(
            p, checks__plural(&values, "forbidden AppArmor profile", "forbidden AppArmor profiles"),
            STR_FMT " must not set AppArmor profile type to " STR_FMT,
            STR_ARG(checks__joined(p, &setters, " and ")), STR_ARG(checks__quoted(p, &values)));
}

/* ---- SELinux ---- */

struct selinux {
    const struct str *types; /* that may be set */
    size_t n;
    struct checks__names bad_types;
    bool sets_user, sets_role;
};

static bool sets_selinux(const struct checked *p, const struct value *of, struct selinux *s)
{
    const struct value *options = checks__security(of, STR("seLinuxOptions"));
    struct str type = value_text(options, "type");
    bool is_bad_type = type.n && !words_have(type, s->types, s->n),
         user = value_text(options, "user").n, role = value_text(options, "role").n;
    if (is_bad_type)
        checks__add(p, &s->bad_types, type);
    s->sets_user |= user;
    s->sets_role |= role;
    return is_bad_type || user || role;
}

static void find_selinux(const struct checked *p, struct selinux *s)
{
    struct checks__names bad = { 0 }, what = { 0 };
    bool is_pod = sets_selinux(p, p->spec, s);
    for (size_t i = 0; i < p->n_containers; i++)
        if (sets_selinux(p, p->containers[i], s))
            checks__add(p, &bad, value_text(p->containers[i], "name"));
    if (!is_pod && !bad.n)
        return;
    checks__sort(&s->bad_types);
    if (s->bad_types.n)
        checks__add(p, &what,
                    arena_printf(p->arena, "%s " STR_FMT,
                                 checks__plural(&s->bad_types, "type", "types"),
                                 STR_ARG(checks__quoted(p, &s->bad_types))));
    if (s->sets_user)
        checks__add(p, &what, STR("user may not be set"));
    if (s->sets_role)
        checks__add(p, &what, STR("role may not be set"));
    checks__find(
        p, "seLinuxOptions", STR_FMT " set forbidden securityContext.seLinuxOptions: " STR_FMT,
        STR_ARG(checks__setters(p, is_pod, &bad)), STR_ARG(checks__joined(p, &what, "; ")));
}

static const struct str selinux_types[] = { STR("container_t"), STR("container_init_t"),
                                            STR("container_kvm_t"), STR("container_engine_t") };
enum { SELINUX_TYPES = 3 }; /* before 1.31 */

void check_selinux(const struct checked *p)
{
    struct selinux s = { .types = selinux_types, .n = SELINUX_TYPES };
    find_selinux(p, &s);
}

void check_selinux_31(const struct checked *p)
{
    struct selinux s = { .types = selinux_types, .n = ARRAY_LEN(selinux_types) };
    find_selinux(p, &s);
}

/* ---- Seccomp ---- */

static bool is_seccomp_annotation(struct str key, const struct text_set *containers)
{
    static const struct str prefix = STR(KEY_ALPHA_SECCOMP_CONTAINER);
    return str_eq(key, STR(KEY_ALPHA_SECCOMP_POD)) ||
           (str_starts(key, prefix) && text_set_has(containers, str_skip(key, prefix.n)));
}

static bool is_seccomp_text(struct str profile)
{
    return str_eq(profile, STR("runtime/default")) || str_eq(profile, STR("docker/default")) ||
           str_starts(profile, STR("localhost/"));
}

void check_seccomp_annotations(const struct checked *p)
{
    struct checks__names bad = { 0 };
    autoset containers;
    text_set_init(&containers);
    for (size_t i = 0; i < p->n_containers; i++)
        (void)text_set_add(&containers, value_text(p->containers[i], "name"), p);
    value_each_field (f, p->annotations)
        if (is_seccomp_annotation(f->key, &containers) && !is_seccomp_text(value_str(&f->val)))
            checks__add(p, &bad, annotation_text(p, f->key, value_str(&f->val)));
    checks__sort(&bad);
    if (bad.n)
        checks__find(p, "seccompProfile", "forbidden %s " STR_FMT,
                     checks__plural(&bad, "annotation", "annotations"),
                     STR_ARG(checks__joined(p, &bad, ", ")));
}

/* With `is_required`, somebody has to say something for each container. */
static void find_seccomp(const struct checked *p, bool is_required)
{
    const struct value *of_pod = checks__security(p->spec, STR("seccompProfile"));
    bool pod_is_bad = of_pod && !is_profile(value_text(of_pod, "type"));
    struct checks__names bad = { 0 }, silent = { 0 }, values = { 0 };
    if (pod_is_bad)
        checks__add(p, &values, value_text(of_pod, "type"));
    for (size_t i = 0; i < p->n_containers; i++) {
        const struct value *profile = checks__security(p->containers[i], STR("seccompProfile"));
        struct str name = value_text(p->containers[i], "name");
        if (profile && !is_profile(value_text(profile, "type"))) {
            checks__add(p, &bad, name);
            checks__add(p, &values, value_text(profile, "type"));
        } else if (!profile && (!of_pod || pod_is_bad)) {
            checks__add(p, &silent, name);
        }
    }
    checks__sort(&values);
    if (values.n)
        checks__find(p, "seccompProfile",
                     STR_FMT " must not set securityContext.seccompProfile.type to " STR_FMT,
                     STR_ARG(checks__setters(p, pod_is_bad, &bad)),
                     STR_ARG(checks__quoted(p, &values)));
    else if (is_required && silent.n)
        checks__find(p, "seccompProfile",
                     "pod or " STR_FMT " must set securityContext.seccompProfile.type to "
                     "\"RuntimeDefault\" or \"Localhost\"",
                     STR_ARG(checks__containers(p, &silent)));
}

void check_seccomp(const struct checked *p)
{
    find_seccomp(p, false);
}

void check_seccomp_required(const struct checked *p)
{
    find_seccomp(p, true);
}

void check_seccomp_required_25(const struct checked *p)
{
    if (!checks__is_windows(p))
        find_seccomp(p, true);
}

/* ---- Settings of the kernel ---- */

/* In the order in which they came to be allowed. */
static const struct str sysctls[] = {
    STR("kernel.shm_rmid_forced"),
    STR("net.ipv4.ip_local_port_range"),
    STR("net.ipv4.tcp_syncookies"),
    STR("net.ipv4.ping_group_range"),
    STR("net.ipv4.ip_unprivileged_port_start"),
    STR("net.ipv4.ip_local_reserved_ports"), /* 1.27 */
    STR("net.ipv4.tcp_keepalive_time"),      /* 1.29 */
    STR("net.ipv4.tcp_fin_timeout"),
    STR("net.ipv4.tcp_keepalive_intvl"),
    STR("net.ipv4.tcp_keepalive_probes"),
    STR("net.ipv4.tcp_rmem"), /* 1.32 */
    STR("net.ipv4.tcp_wmem"),
    STR("net.ipv4.tcp_slow_start_after_idle"), /* 1.37 */
    STR("net.ipv4.tcp_notsent_lowat"),
};
enum { SYSCTLS = 5, SYSCTLS_27 = 6, SYSCTLS_29 = 10, SYSCTLS_32 = 12, SYSCTLS_37 = 14 };

static void find_sysctls(const struct checked *p, size_t n_allowed)
{
    struct checks__names bad = { 0 };
    value_each_item (it, checks__security(p->spec, STR("sysctls")))
        if (!words_have(value_text(it, "name"), sysctls, n_allowed))
            checks__add(p, &bad, value_text(it, "name"));
    if (bad.n)
        checks__find(p, "forbidden sysctls", STR_FMT, STR_ARG(checks__joined(p, &bad, ", ")));
}

void check_sysctls(const struct checked *p)
{
    find_sysctls(p, SYSCTLS);
}

void check_sysctls_27(const struct checked *p)
{
    find_sysctls(p, SYSCTLS_27);
}

void check_sysctls_29(const struct checked *p)
{
    find_sysctls(p, SYSCTLS_29);
}

void check_sysctls_32(const struct checked *p)
{
    find_sysctls(p, SYSCTLS_32);
}

void check_sysctls_37(const struct checked *p)
{
    find_sysctls(p, SYSCTLS_37);
}
