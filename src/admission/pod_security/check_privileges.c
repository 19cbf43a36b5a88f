/* What containers may do, and as whom: privileges, capabilities, the proc file system, users. */
#include "admission/pod_security/checks_internal.h"
#include "api/words.h"
#include "base/banned.h"

/* ---- Privileges ---- */

void check_privileged(const struct checked *p)
{
    struct checks__names bad = { 0 };
    for (size_t i = 0; i < p->n_containers; i++)
        if (value_is_true(checks__security(p->containers[i], STR("privileged"))))
            checks__add(p, &bad, value_text(p->containers[i], "name"));
    if (bad.n)
        checks__find(p, "privileged", STR_FMT " must not set securityContext.privileged=true",
                     STR_ARG(checks__containers(p, &bad)));
}

void check_escalation(const struct checked *p)
{
    struct checks__names bad = { 0 };
    for (size_t i = 0; i < p->n_containers; i++) {
        const struct value *said =
            checks__security(p->containers[i], STR("allowPrivilegeEscalation"));
        if (!value_is(said, VALUE_BOOL) || said->b)
            checks__add(p, &bad, value_text(p->containers[i], "name"));
    }
    if (bad.n)
        checks__find(p, "allowPrivilegeEscalation != false",
                     STR_FMT " must set securityContext.allowPrivilegeEscalation=false",
                     STR_ARG(checks__containers(p, &bad)));
}

void check_escalation_25(const struct checked *p)
{
    if (!checks__is_windows(p))
        check_escalation(p);
}

/* ---- Capabilities ---- */

/* Notes which containers add others than those, and what they add. */
static void find_added(const struct checked *p, const struct str *allowed, size_t n,
                       struct checks__names *ret_containers, struct checks__names *ret_added)
{
    for (size_t i = 0; i < p->n_containers; i++) {
        const struct value *capabilities = checks__security(p->containers[i], STR("capabilities"));
        size_t before = ret_added->n;
        value_each_item (it, value_get(capabilities, STR("add")))
            if (!words_have(value_str(it), allowed, n))
                checks__add(p, ret_added, value_str(it));
        if (ret_added->n > before)
            checks__add(p, ret_containers, value_text(p->containers[i], "name"));
    }
    checks__sort(ret_added);
}

static struct str added_text(const struct checked *p, const struct checks__names *containers,
                             const struct checks__names *added)
{
    return arena_printf(
        p->arena, STR_FMT " must not include " STR_FMT " in securityContext.capabilities.add",
        STR_ARG(checks__containers(p, containers)), STR_ARG(checks__quoted(p, added)));
}

void check_capabilities(const struct checked *p)
{
    static const struct str allowed[] = {
        STR("AUDIT_WRITE"), STR("CHOWN"),  STR("DAC_OVERRIDE"),     STR("FOWNER"),  STR("FSETID"),
        STR("KILL"),        STR("MKNOD"),  STR("NET_BIND_SERVICE"), STR("SETFCAP"), STR("SETGID"),
        STR("SETPCAP"),     STR("SETUID"), STR("SYS_CHROOT"),
    };
    struct checks__names bad = { 0 }, added = { 0 };
    find_added(p, WORDS(allowed), &bad, &added);
    if (bad.n)
        checks__find(p, "non-default capabilities", STR_FMT, STR_ARG(added_text(p, &bad, &added)));
}

static bool drops_all(const struct value *container)
{
    const struct value *capabilities = checks__security(container, STR("capabilities"));
    value_each_item (it, value_get(capabilities, STR("drop")))
        if (str_eq(value_str(it), STR("ALL")))
            return true;
    return false;
}

void check_capabilities_required(const struct checked *p)
{
    static const struct str allowed[] = { STR("NET_BIND_SERVICE") };
    struct checks__names keeping = { 0 }, bad = { 0 }, added = { 0 }, details = { 0 };
    for (size_t i = 0; i < p->n_containers; i++)
        if (!drops_all(p->containers[i]))
            checks__add(p, &keeping, value_text(p->containers[i], "name"));
    find_added(p, WORDS(allowed), &bad, &added);
    if (keeping.n)
        checks__add(p, &details,
                    arena_printf(p->arena,
                                 STR_FMT " must set securityContext.capabilities.drop=[\"ALL\"]",
                                 STR_ARG(checks__containers(p, &keeping))));
    if (bad.n)
        checks__add(p, &details, added_text(p, &bad, &added));
    if (details.n)
        checks__find(p, "unrestricted capabilities", STR_FMT,
                     STR_ARG(checks__joined(p, &details, "; ")));
}

void check_capabilities_required_25(const struct checked *p)
{
    if (!checks__is_windows(p))
        check_capabilities_required(p);
}

/* ---- The proc file system ---- */

void check_proc_mount(const struct checked *p)
{
    struct checks__names bad = { 0 }, types = { 0 };
    for (size_t i = 0; i < p->n_containers; i++) {
        const struct value *type = checks__security(p->containers[i], STR("procMount"));
        if (!type || str_eq(value_str(type), STR("Default")))
            continue;
        checks__add(p, &bad, value_text(p->containers[i], "name"));
        checks__add(p, &types, value_str(type));
    }
    checks__sort(&types);
    if (bad.n)
        checks__find(p, "procMount", STR_FMT " must not set securityContext.procMount to " STR_FMT,
                     STR_ARG(checks__containers(p, &bad)), STR_ARG(checks__quoted(p, &types)));
}

void check_proc_mount_35(const struct checked *p)
{
    if (!checks__has_user_namespace(p))
        check_proc_mount(p);
}

/* ---- Users ---- */

static bool is_false(const struct value *v)
{
    return value_is(v, VALUE_BOOL) && !v->b;
}

void check_non_root(const struct checked *p)
{
    const struct value *of_pod = checks__security(p->spec, STR("runAsNonRoot"));
    struct checks__names bad = { 0 }, silent = { 0 };
    for (size_t i = 0; i < p->n_containers; i++) {
        const struct value *said = checks__security(p->containers[i], STR("runAsNonRoot"));
        struct str name = value_text(p->containers[i], "name");
        if (is_false(said))
            checks__add(p, &bad, name);
        else if (!said && !value_is_true(of_pod))
            checks__add(p, &silent, name);
    }
    if (bad.n || is_false(of_pod))
        checks__find(p, "runAsNonRoot != true",
                     STR_FMT " must not set securityContext.runAsNonRoot=false",
                     STR_ARG(checks__setters(p, is_false(of_pod), &bad)));
    else if (silent.n)
        checks__find(p, "runAsNonRoot != true",
                     "pod or " STR_FMT " must set securityContext.runAsNonRoot=true",
                     STR_ARG(checks__containers(p, &silent)));
}

void check_non_root_35(const struct checked *p)
{
    if (!checks__has_user_namespace(p))
        check_non_root(p);
}

static bool is_root(const struct value *of)
{
    int64_t user;
    return value_to_int(checks__security(of, STR("runAsUser")), &user) && user == 0;
}

void check_user(const struct checked *p)
{
    struct checks__names bad = { 0 };
    for (size_t i = 0; i < p->n_containers; i++)
        if (is_root(p->containers[i]))
            checks__add(p, &bad, value_text(p->containers[i], "name"));
    if (bad.n || is_root(p->spec))
        checks__find(p, "runAsUser=0", STR_FMT " must not set runAsUser=0",
                     STR_ARG(checks__setters(p, is_root(p->spec), &bad)));
}

void check_user_35(const struct checked *p)
{
    if (!checks__has_user_namespace(p))
        check_user(p);
}
